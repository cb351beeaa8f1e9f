//! A block or a ball on a slope with Coulomb friction.
//!
//! A block stays where it is if tan θ ≤ μ, else it slides; a ball rolls without slipping if
//! tan θ ≤ 7μ/2, else it slips:
//!
//! ```text
//! block: a = g (sin θ − μ cos θ)      ball: a = 5/7 g sin θ,  or as the block
//! ```

use glam::{DQuat, DVec3};
use vincula::prelude::*;

use super::site::{self, Site};
use crate::error::SceneError;
use crate::gallery::Entry;
use crate::param::Param;
use crate::scene::{Probe, Scene};
use crate::values::Values;

pub(super) const ENTRY: Entry = Entry {
    name: "ramp",
    summary: "A block slides, or a ball rolls, down a slope with friction",
    figure: "",
    params: &[
        Param::step(0.01),
        Param::duration(2.0),
        Param::float("angle", 30.0, (0.0, 80.0), "°", "slope"),
        Param::choice("shape", &["block", "ball"], "what moves"),
        Param::float(
            "size",
            0.2,
            (1e-3, 10.0),
            "m",
            "edge of the block, diameter of the ball",
        ),
        site::friction(0.3),
        site::density(1000.0),
        Param::gravity(),
        Param::young(),
    ],
    make,
};

fn make(values: &Values) -> Result<Scene, SceneError> {
    let (angle, size) = (values.float("angle").to_radians(), values.float("size"));
    let ball = values.choice("shape") == "ball";
    // The slope falls along x: its frame is turned about y.
    let turned = DQuat::from_rotation_y(angle);
    let (downhill, normal) = (turned * DVec3::X, turned * DVec3::Z);
    let mut site = Site::new(values);
    site.wall("slope", DVec3::ZERO, normal);
    let shape = if ball {
        Shape::Sphere { radius: 0.5 * size }
    } else {
        Shape::Box {
            half_extents: 0.5 * size * DVec3::new(2.0, 1.5, 1.0),
        }
    };
    let start = 0.5 * size * normal;
    let body = site.solid("body", shape, start, turned);
    let rate = acceleration(
        values.float("gravity"),
        angle,
        values.float("friction"),
        ball,
    );
    Ok(site
        .scene(ENTRY.name, values)?
        .probe(
            Probe::new("distance", "way down the slope", "m", move |view| {
                (view.state.center(body) - start).dot(downhill)
            })
            .against(move |t| 0.5 * rate * t * t),
        )
        .probe(
            Probe::new("speed", "speed down the slope", "m/s", move |view| {
                view.state.twist(view.model, body).linear.dot(downhill)
            })
            .against(move |t| rate * t),
        ))
}

/// Acceleration down the slope, m/s².
fn acceleration(gravity: f64, angle: f64, friction: f64, ball: bool) -> f64 {
    let sliding = gravity * (angle.sin() - friction * angle.cos());
    if !ball {
        sliding.max(0.0)
    } else if angle.tan() <= 3.5 * friction {
        5.0 / 7.0 * gravity * angle.sin()
    } else {
        sliding
    }
}
