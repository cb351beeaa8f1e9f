//! A dry arch of wedge-shaped stones between r and r + d, which stands by friction alone.
//!
//! A half circle stands if d/r is large enough for a line of thrust inside the stones (about
//! 0.11 for thin ones); without its keystone it falls.

use glam::{DQuat, DVec3};
use vincula::prelude::*;

use super::site::{self, Site};
use crate::error::SceneError;
use crate::gallery::Entry;
use crate::param::Param;
use crate::scene::{Probe, Scene};
use crate::values::Values;

pub(super) const ENTRY: Entry = Entry {
    name: "arch",
    summary: "A dry stone arch stands by friction, and falls without its keystone",
    figure: "",
    params: &[
        Param::step(0.01),
        Param::duration(10.0),
        Param::int("half", 5, (1, 50), "stones on each side of the keystone"),
        Param::bool("keystone", true, "whether the keystone is there"),
        Param::float("radius", 1.0, (0.01, 100.0), "m", "inner radius"),
        Param::float(
            "thickness",
            0.4,
            (1e-3, 100.0),
            "m",
            "thickness of the ring",
        ),
        Param::float("depth", 0.6, (1e-3, 100.0), "m", "depth of the vault"),
        site::friction(0.8),
        site::density(2400.0),
        Param::gravity(),
        Param::young(),
    ],
    make,
};

/// The stone between two angles, about a point in its middle: its corners and that point.
fn stone(from: f64, to: f64, values: &Values) -> (Vec<DVec3>, DVec3) {
    let (inner, depth) = (values.float("radius"), values.float("depth"));
    let outer = inner + values.float("thickness");
    let on = |angle: f64, radius: f64| radius * DVec3::new(angle.cos(), 0.0, angle.sin());
    let middle = on(0.5 * (from + to), 0.5 * (inner + outer));
    let mut corners = Vec::with_capacity(8);
    for angle in [from, to] {
        for radius in [inner, outer] {
            for y in [-0.5 * depth, 0.5 * depth] {
                corners.push(on(angle, radius) + DVec3::Y * y - middle);
            }
        }
    }
    (corners, middle)
}

fn make(values: &Values) -> Result<Scene, SceneError> {
    let half = values.int("half");
    let count = 2 * half + 1;
    let wedge = std::f64::consts::PI / count as f64;
    let mut site = Site::new(values);
    site.ground();
    let mut highest = None;
    for k in 0..count {
        let (from, to) = (wedge * k as f64, wedge * (k + 1) as f64);
        let (points, at) = stone(from, to, values);
        if k == half && !values.bool("keystone") {
            continue;
        }
        let shape = Shape::ConvexHull { points };
        let id = site.solid(format!("stone-{k}"), shape, at, DQuat::IDENTITY);
        if k <= half {
            highest = Some(id);
        }
    }
    let scene = site.scene(ENTRY.name, values)?;
    let Some(highest) = highest else {
        return Ok(scene);
    };
    Ok(scene.probe(Probe::new(
        "crown-height",
        "height of the highest stone",
        "m",
        move |view| view.state.center(highest).z,
    )))
}
