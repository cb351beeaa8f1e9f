//! A tube of octahedra: rings of twelve, each joined at its vertices to its two neighbours in
//! the ring and to those in the rings above and below. Many loops, one inside the other.
//!
//! Tomcin et al. (Figs. 1(c) and 6(d)) build their tube of a more intricate octahedral cell
//! that the paper does not specify. This one has the same shape of graph, a mesh rolled up,
//! with universal joints around and ball joints along the tube, 84 rows in a ring.

use std::f64::consts::TAU;

use glam::DVec3;
use vincula::prelude::*;

use super::linkage::Linkage;
use crate::error::SceneError;
use crate::gallery::Entry;
use crate::param::Param;
use crate::scene::{Probe, Scene};
use crate::values::Values;

pub(super) const ENTRY: Entry = Entry {
    name: "octahedron-tube",
    summary: "A tube of octahedra, joined at their corners, bends under its weight",
    figure: "Tomcin Fig. 6(d)",
    params: &[
        Param::step(0.005),
        Param::duration(1.0),
        Param::int("rings", 8, (1, 1000), "rings of octahedra"),
        Param::int("around", 12, (3, 100), "octahedra in a ring"),
        Param::float("radius", 1.0, (1e-1, 100.0), "m", "radius of the tube"),
        Param::float("density", 500.0, (1e-3, 1e6), "kg/m³", "density"),
        Param::gravity(),
        Param::young(),
    ],
    make,
};

fn make(values: &Values) -> Result<Scene, SceneError> {
    let (rings, around) = (values.int("rings"), values.int("around"));
    let radius = values.float("radius");
    let pitch = TAU * radius / around as f64;
    let mut tube = Linkage::new(values, values.float("density"));
    // The tube lies along y and is held at its first ring.
    let at = |turn: f64, along: f64| {
        let angle = TAU * turn / around as f64;
        DVec3::new(radius * angle.cos(), along * pitch, radius * angle.sin())
    };
    let mut cells = Vec::with_capacity(rings * around);
    for ring in 0..rings {
        for cell in 0..around {
            let (turn, along) = (cell as f64, ring as f64);
            let center = at(turn, along);
            let out = DVec3::new(center.x, 0.0, center.z).normalize();
            let corners = [
                at(turn - 0.5, along),
                at(turn + 0.5, along),
                at(turn, along - 0.5),
                at(turn, along + 0.5),
                center + out * (0.3 * pitch),
                center - out * (0.3 * pitch),
            ];
            let points = corners.map(|corner| corner - center).to_vec();
            let shape = Shape::ConvexHull { points };
            let name = format!("cell-{ring}-{cell}");
            cells.push(tube.add(BodyDef::new(name, shape, values.float("density")).at(center)));
        }
    }
    for ring in 0..rings {
        for cell in 0..around {
            let here = cells[ring * around + cell];
            let next = cells[ring * around + (cell + 1) % around];
            let meet = at(cell as f64 + 0.5, ring as f64);
            let out = DVec3::new(meet.x, 0.0, meet.z).normalize();
            let name = format!("around-{ring}-{cell}");
            tube.join(JointDef::universal(name, here, next, meet, [DVec3::Y, out]));
            let name = format!("along-{ring}-{cell}");
            let meet = at(cell as f64, ring as f64 - 0.5);
            tube.join(match ring.checked_sub(1) {
                None => JointDef::ball(name, World, here, meet),
                Some(last) => JointDef::ball(name, cells[last * around + cell], here, meet),
            });
        }
    }
    let end = cells[rings * around - 1];
    Ok(tube.scene(ENTRY.name, values)?.probe(Probe::new(
        "end-height",
        "height of a cell at the free end",
        "m",
        move |view| view.state.center(end).z,
    )))
}
