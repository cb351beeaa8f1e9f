//! A branching structure of rods on ball joints, as in Baraff 1996, Fig. 3: 127 constraints of
//! three rows each, without a loop.
//!
//! Rod k hangs on the end of rod (k − 1)/2, so every rod carries two more; the first one hangs
//! from the world. Branches leave in directions a golden angle apart.

use glam::DVec3;
use vincula::prelude::*;

use super::linkage::Linkage;
use crate::error::SceneError;
use crate::gallery::Entry;
use crate::param::Param;
use crate::scene::{Probe, Scene};
use crate::values::Values;

pub(super) const ENTRY: Entry = Entry {
    name: "baraff-structure",
    summary: "A structure of rods that branches at every ball joint swings down",
    figure: "Baraff Fig. 3",
    params: &[
        Param::step(0.002),
        Param::duration(2.0),
        Param::int(
            "constraints",
            127,
            (1, 1_000_000),
            "ball joints, one for each rod",
        ),
        Param::float("length", 0.3, (1e-2, 10.0), "m", "length of a rod"),
        Param::float(
            "width",
            0.04,
            (1e-4, 1.0),
            "m",
            "edge of its square section",
        ),
        Param::float("density", 1000.0, (1e-3, 1e6), "kg/m³", "density"),
        Param::gravity(),
        Param::young(),
    ],
    make,
};

/// Angle between the bearings of rods that follow each other, rad.
const GOLDEN: f64 = 2.399_963_229_728_653;

fn make(values: &Values) -> Result<Scene, SceneError> {
    let (count, length) = (values.int("constraints"), values.float("length"));
    let mut structure = Linkage::new(values, values.float("density"));
    let mut ends: Vec<(BodyId, DVec3)> = Vec::with_capacity(count);
    for index in 0..count {
        let bearing = GOLDEN * index as f64;
        let slope = 0.3 * (1.3 * index as f64).sin();
        let along = DVec3::new(
            bearing.cos() * slope.cos(),
            bearing.sin() * slope.cos(),
            slope.sin(),
        );
        let parent = index.checked_sub(1).map(|k| ends[k / 2]);
        let start = parent.map_or(DVec3::ZERO, |(_, end)| end);
        let end = start + along * length;
        let rod = structure.rod(format!("rod-{index}"), [start, end], values.float("width"));
        let name = format!("ball-{index}");
        structure.join(match parent {
            None => JointDef::ball(name, World, rod, start),
            Some((parent, _)) => JointDef::ball(name, parent, rod, start),
        });
        ends.push((rod, end));
    }
    let last = ends[count - 1].0;
    Ok(structure.scene(ENTRY.name, values)?.probe(Probe::new(
        "tip-height",
        "height of the last rod",
        "m",
        move |view| view.state.center(last).z,
    )))
}
