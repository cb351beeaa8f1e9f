//! A closed chain of rods on ball joints, an upright polygon, hung by one or two of its
//! corners.

use std::f64::consts::{FRAC_PI_2, TAU};

use glam::DVec3;
use vincula::prelude::*;

use super::linkage::Linkage;
use crate::error::SceneError;
use crate::gallery::Entry;
use crate::param::Param;
use crate::scene::{Probe, Scene};
use crate::values::Values;

pub(super) const ENTRY: Entry = Entry {
    name: "ring",
    summary: "A ring of rods on ball joints collapses below the pins that hold it",
    figure: "",
    params: &[
        Param::step(0.01),
        Param::duration(5.0),
        Param::int("links", 24, (3, 1_000_000), "number of links"),
        Param::int("pins", 1, (1, 2), "corners held: the top one, or two above"),
        Param::float("length", 0.1, (1e-3, 10.0), "m", "length of a link"),
        Param::float(
            "width",
            0.02,
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

fn make(values: &Values) -> Result<Scene, SceneError> {
    let (links, length) = (values.int("links"), values.float("length"));
    let step = TAU / links as f64;
    let radius = 0.5 * length / (0.5 * step).sin();
    let corner = |k: usize| {
        let angle = FRAC_PI_2 + step * (k % links) as f64;
        DVec3::new(radius * angle.cos(), 0.0, radius * angle.sin())
    };
    let mut ring = Linkage::new(values, values.float("density"));
    let rods: Vec<BodyId> = (0..links)
        .map(|k| {
            let ends = [corner(k), corner(k + 1)];
            ring.rod(format!("link-{k}"), ends, values.float("width"))
        })
        .collect();
    for k in 0..links {
        let (rod, next) = (rods[k], rods[(k + 1) % links]);
        let name = format!("joint-{k}");
        ring.join(JointDef::ball(name, rod, next, corner(k + 1)));
    }
    // Two pins sit an eighth of the ring to the left and to the right of the top.
    let eighth = (links / 8).max(1);
    let held = match values.int("pins") {
        1 => vec![0],
        _ => vec![eighth, links - eighth],
    };
    for (pin, k) in held.into_iter().enumerate() {
        let name = format!("pin-{pin}");
        ring.join(JointDef::ball(name, World, rods[k], corner(k)));
    }
    let lowest = rods[links / 2];
    Ok(ring.scene(ENTRY.name, values)?.probe(Probe::new(
        "low-height",
        "height of the link opposite the top",
        "m",
        move |view| view.state.center(lowest).z,
    )))
}
