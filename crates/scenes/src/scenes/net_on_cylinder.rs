//! A net falls on a cylinder and drapes over it (He et al. 2026, Fig. 13).
//!
//! Its rods meet inside its nodes, so that parts of the net do not collide with each other,
//! only with the cylinder.

use glam::{DQuat, DVec3};
use vincula::prelude::*;

use super::loose_net::{NetParts, net};
use super::site::{self, Site};
use crate::error::SceneError;
use crate::gallery::Entry;
use crate::param::Param;
use crate::scene::{Probe, Scene};
use crate::values::Values;

pub(super) const ENTRY: Entry = Entry {
    name: "net-on-cylinder",
    summary: "A net of rods and nodes falls on a cylinder and drapes over it",
    figure: "M-ABD Fig. 13",
    params: &[
        Param::step(1.0 / 30.0),
        Param::duration(20.0),
        Param::int("rows", 10, (2, 200), "rows of nodes"),
        Param::int("columns", 10, (2, 200), "columns of nodes"),
        Param::float("length", 0.5, (1e-2, 10.0), "m", "distance of neighbours"),
        Param::float("width", 0.05, (1e-4, 1.0), "m", "width of a rod"),
        Param::float("radius", 1.0, (1e-2, 100.0), "m", "radius of the cylinder"),
        site::friction(0.5),
        site::density(1000.0),
        Param::gravity(),
        Param::young(),
    ],
    make,
};

fn make(values: &Values) -> Result<Scene, SceneError> {
    let (rows, columns) = (values.int("rows"), values.int("columns"));
    let (length, width) = (values.float("length"), values.float("width"));
    let radius = values.float("radius");
    let mut site = Site::new(values);
    let wide = length * columns as f64;
    let cylinder = Shape::Cylinder {
        radius,
        half_length: wide,
    };
    // The axis of the shape is z; it is laid along y.
    let lying = DQuat::from_rotation_x(std::f64::consts::FRAC_PI_2);
    site.fixed(
        "cylinder",
        cylinder,
        DVec3::Z * (-radius - 2.0 * width),
        lying,
    );
    let parts = NetParts {
        rows,
        columns,
        length,
        width,
    };
    let nodes = net(&mut site, &parts, DVec3::ZERO);
    let corner = nodes[nodes.len() - 1];
    Ok(site.scene(ENTRY.name, values)?.probe(Probe::new(
        "corner-height",
        "height of a corner",
        "m",
        move |view| view.state.center(corner).z,
    )))
}
