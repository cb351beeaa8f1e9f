//! Bricard's mechanism, problem A04 of the IFToMM library of computational benchmark
//! problems: five rods and the ground along six edges of a unit cube, joined by six hinges
//! at the corners, each square to the two edges that meet there.
//!
//! Counting says it cannot move (30 rows for 30 freedoms), yet one row is redundant and it
//! does. The benchmark has gravity along −y; here z is up: its (x, y, z) is (x, z, −y).

use glam::DVec3;
use vincula::prelude::*;

use super::linkage::Linkage;
use crate::error::SceneError;
use crate::gallery::Entry;
use crate::param::Param;
use crate::scene::{Probe, Scene};
use crate::values::Values;

pub(super) const ENTRY: Entry = Entry {
    name: "bricard",
    summary: "Five rods on six hinges that should not move, and do",
    figure: "IFToMM A04",
    params: &[
        Param::step(0.001),
        Param::duration(10.0),
        Param::float("length", 1.0, (0.2, 100.0), "m", "length of a rod"),
        Param::float("mass", 1.0, (1e-6, 1e6), "kg", "mass of a rod"),
        Param::gravity(),
        Param::young(),
    ],
    make,
};

/// Edge of the square section, m.
const WIDTH: f64 = 0.1;

/// The corners in order, in rod lengths; the ground closes the ring from last to first.
const CORNERS: [DVec3; 6] = [
    DVec3::new(0.0, 0.0, 0.0),
    DVec3::new(1.0, 0.0, 0.0),
    DVec3::new(1.0, 0.0, -1.0),
    DVec3::new(1.0, -1.0, -1.0),
    DVec3::new(0.0, -1.0, -1.0),
    DVec3::new(0.0, -1.0, 0.0),
];

fn make(values: &Values) -> Result<Scene, SceneError> {
    let length = values.float("length");
    let corner = |k: usize| CORNERS[k % 6] * length;
    let density = values.float("mass") / (length * WIDTH * WIDTH);
    let mut ring = Linkage::new(values, density);
    let rods: Vec<BodyId> = (0..5)
        .map(|k| ring.rod(format!("rod-{}", k + 1), [corner(k), corner(k + 1)], WIDTH))
        .collect();
    for k in 0..6 {
        let name = format!("hinge-{}", k + 1);
        let (into, out) = (corner(k) - corner(k + 5), corner(k + 1) - corner(k));
        let (at, axis) = (corner(k), into.cross(out));
        ring.join(match k {
            0 => JointDef::hinge(name, World, rods[0], at, axis),
            5 => JointDef::hinge(name, rods[4], World, at, axis),
            _ => JointDef::hinge(name, rods[k - 1], rods[k], at, axis),
        });
    }
    // The benchmark watches the joint of the third and fourth rod.
    let third = rods[2];
    let watched = move |view: &crate::scene::View| {
        let pose = view.state.pose(view.model, third);
        pose.point(DVec3::X * (0.5 * length))
    };
    Ok(ring
        .scene(ENTRY.name, values)?
        .probe(Probe::new("x", "x of the fourth corner", "m", move |v| {
            watched(v).x
        }))
        .probe(Probe::new("y", "y of the fourth corner", "m", move |v| {
            watched(v).y
        }))
        .probe(Probe::new("z", "z of the fourth corner", "m", move |v| {
            watched(v).z
        })))
}
