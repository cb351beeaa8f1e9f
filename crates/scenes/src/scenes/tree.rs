//! A tree of rods on ball joints, hung by its root: link `i` hangs at the tip of link
//! `(i − 1) / branching`, in a direction drawn from the seed.

use glam::DVec3;
use vincula::prelude::*;

use super::linkage::Linkage;
use crate::error::SceneError;
use crate::gallery::Entry;
use crate::param::Param;
use crate::scene::{Probe, Scene};
use crate::values::Values;

pub(super) const ENTRY: Entry = Entry {
    name: "tree",
    summary: "A random tree of rods on ball joints falls from its root",
    figure: "",
    params: &[
        Param::step(0.01),
        Param::duration(5.0),
        Param::int(
            "links",
            100,
            (1, 1_000_000),
            "number of links; their joints are free, without springs",
        ),
        Param::int("branching", 2, (1, 1000), "links at the tip of a link"),
        Param::float("length", 0.2, (1e-3, 10.0), "m", "length of a link"),
        Param::float(
            "width",
            0.03,
            (1e-4, 10.0),
            "m",
            "edge of its square cross-section",
        ),
        Param::float("density", 1000.0, (1e-3, 1e6), "kg/m³", "density"),
        Param::gravity(),
        Param::young(),
    ],
    make,
};

/// Random numbers by the splitmix64 sequence (Steele et al. 2014).
pub(super) struct Random(pub u64);

impl Random {
    /// Uniform in [0, 1).
    pub fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A direction outwards: mostly level, at any bearing.
    pub fn direction(&mut self) -> DVec3 {
        let bearing = std::f64::consts::TAU * self.uniform();
        let rise = self.uniform() - 0.5;
        let level = (1.0 - rise * rise).sqrt();
        DVec3::new(level * bearing.cos(), level * bearing.sin(), rise)
    }
}

fn make(values: &Values) -> Result<Scene, SceneError> {
    let (links, branching) = (values.int("links"), values.int("branching"));
    let (length, width) = (values.float("length"), values.float("width"));
    let mut random = Random(values.seed());
    let mut tree = Linkage::new(values, values.float("density"));
    let mut tips: Vec<(BodyId, DVec3)> = Vec::with_capacity(links);
    for index in 0..links {
        let parent = (index > 0).then(|| tips[(index - 1) / branching]);
        let root = parent.map_or(DVec3::ZERO, |(_, tip)| tip);
        let tip = root + random.direction() * length;
        let body = tree.rod(format!("link-{index}"), [root, tip], width);
        let joint = format!("joint-{index}");
        tree.join(match parent {
            None => JointDef::ball(joint, World, body, root),
            Some((before, _)) => JointDef::ball(joint, before, body, root),
        });
        tips.push((body, tip));
    }
    let last = tips[links - 1].0;
    Ok(tree.scene(ENTRY.name, values)?.probe(Probe::new(
        "last-height",
        "height of the last link",
        "m",
        move |view| view.state.center(last).z,
    )))
}
