//! A ball bounces: each impact turns the speed v into e v.
//!
//! From a height H above the ground it hits after √(2H/g) at the speed √(2gH), and each
//! flight lasts e times as long as the one before.

use glam::{DQuat, DVec3};
use vincula::prelude::*;

use super::site::{self, Site};
use crate::error::SceneError;
use crate::gallery::Entry;
use crate::param::Param;
use crate::scene::{Probe, Scene};
use crate::values::Values;

pub(super) const ENTRY: Entry = Entry {
    name: "bounce",
    summary: "A ball bounces on the ground, each time to e² of its height",
    figure: "",
    params: &[
        Param::step(0.01),
        Param::duration(3.0),
        Param::float("height", 1.0, (1e-3, 1e3), "m", "height of the drop"),
        Param::float(
            "restitution",
            0.8,
            (0.0, 1.0),
            "",
            "coefficient of restitution",
        ),
        Param::float("radius", 0.1, (1e-3, 10.0), "m", "radius"),
        site::friction(0.5),
        site::density(1000.0),
        Param::gravity(),
        Param::young(),
    ],
    make,
};

fn make(values: &Values) -> Result<Scene, SceneError> {
    let (height, radius) = (values.float("height"), values.float("radius"));
    let (restitution, gravity) = (values.float("restitution"), values.float("gravity"));
    let mut site = Site::new(values);
    site.surface = site.surface.bouncing(restitution);
    site.ground();
    let at = DVec3::Z * (height + radius);
    let ball = site.solid("ball", Shape::Sphere { radius }, at, DQuat::IDENTITY);
    Ok(site.scene(ENTRY.name, values)?.probe(
        Probe::new("height", "height over the ground", "m", move |view| {
            view.state.center(ball).z - radius
        })
        .against(move |t| flight(height, restitution, gravity, t)),
    ))
}

/// Height at time t, s.
fn flight(height: f64, restitution: f64, gravity: f64, t: f64) -> f64 {
    let fall = (2.0 * height / gravity).sqrt();
    if t < fall {
        return height - 0.5 * gravity * t * t;
    }
    let (mut since, mut speed) = (t - fall, restitution * gravity * fall);
    // Flights shorter than a microsecond are rest.
    while speed > 1e-6 * gravity {
        let lasts = 2.0 * speed / gravity;
        if since < lasts {
            return speed * since - 0.5 * gravity * since * since;
        }
        since -= lasts;
        speed *= restitution;
        if restitution == 1.0 {
            since %= lasts;
        }
    }
    0.0
}
