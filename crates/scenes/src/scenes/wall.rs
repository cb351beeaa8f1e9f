//! A wall of bricks in running bond, dry, which a ball may hit.

use glam::{DQuat, DVec3};
use vincula::prelude::*;

use super::site::{self, Site};
use crate::error::SceneError;
use crate::gallery::Entry;
use crate::param::Param;
use crate::scene::{Probe, Scene};
use crate::values::Values;

pub(super) const ENTRY: Entry = Entry {
    name: "wall",
    summary: "A dry wall of bricks stands, or is hit by a ball",
    figure: "",
    params: &[
        Param::step(0.01),
        Param::duration(10.0),
        Param::int("rows", 10, (1, 500), "courses of bricks"),
        Param::int("columns", 10, (1, 500), "bricks in a course"),
        Param::float("length", 0.24, (1e-3, 10.0), "m", "length of a brick"),
        Param::float(
            "speed",
            0.0,
            (0.0, 1e3),
            "m/s",
            "speed of a ball; 0 for none",
        ),
        site::friction(0.6),
        site::density(1800.0),
        Param::gravity(),
        Param::young(),
    ],
    make,
};

fn make(values: &Values) -> Result<Scene, SceneError> {
    let (rows, columns) = (values.int("rows"), values.int("columns"));
    let length = values.float("length");
    // The proportions of a common brick: 240 by 115 by 71 mm.
    let size = length * DVec3::new(1.0, 0.48, 0.3);
    let mut site = Site::new(values);
    site.ground();
    let mut top = None;
    for row in 0..rows {
        let shift = 0.25 * length * if row % 2 == 0 { 1.0 } else { -1.0 };
        for column in 0..columns {
            let x = length * (column as f64 - 0.5 * (columns as f64 - 1.0)) + shift;
            let at = DVec3::new(x, 0.0, size.z * (row as f64 + 0.5));
            let shape = Shape::Box {
                half_extents: 0.5 * size,
            };
            top = Some(site.solid(format!("brick-{row}-{column}"), shape, at, DQuat::IDENTITY));
        }
    }
    let speed = values.float("speed");
    if speed > 0.0 {
        let radius = 0.5 * length;
        let middle = (0.5 * size.z * rows as f64).max(radius);
        let ball = BodyDef::new("ball", Shape::Sphere { radius }, 7800.0)
            .at(DVec3::new(0.0, -2.0, middle))
            .moving(DVec3::Y * speed, DVec3::ZERO);
        site.add(ball);
    }
    let scene = site.scene(ENTRY.name, values)?;
    let Some(top) = top else { return Ok(scene) };
    Ok(scene.probe(Probe::new(
        "top-height",
        "height of the last brick",
        "m",
        move |view| view.state.center(top).z,
    )))
}
