//! Newton's cradle: balls in a row on threads; the one that is lifted hands its momentum to
//! the one at the other end.
//!
//! Each ball hangs on two threads, joints that keep their length, so that it swings in one
//! plane. A ball lifted by θ on a radius L arrives with the speed √(2 g L (1 − cos θ)).

use glam::{DQuat, DVec3};
use vincula::prelude::*;

use super::site::{self, Site};
use crate::error::SceneError;
use crate::gallery::Entry;
use crate::param::Param;
use crate::scene::{Probe, Scene};
use crate::values::Values;

pub(super) const ENTRY: Entry = Entry {
    name: "newton-cradle",
    summary: "The lifted ball of a cradle hands its momentum to the last one",
    figure: "",
    params: &[
        Param::step(0.001),
        Param::duration(4.0),
        Param::int("n", 5, (2, 100), "number of balls"),
        Param::int("lifted", 1, (1, 99), "number of balls that are lifted"),
        Param::float("angle", 30.0, (0.1, 80.0), "°", "how far they are lifted"),
        Param::float("radius", 0.05, (1e-3, 1.0), "m", "radius of a ball"),
        Param::float("length", 0.5, (1e-2, 10.0), "m", "height of the threads"),
        Param::float(
            "restitution",
            1.0,
            (0.0, 1.0),
            "",
            "coefficient of restitution",
        ),
        site::friction(0.0),
        site::density(7800.0),
        Param::gravity(),
        Param::young(),
    ],
    make,
};

fn make(values: &Values) -> Result<Scene, SceneError> {
    let (count, lifted) = (values.int("n"), values.int("lifted"));
    let (radius, length) = (values.float("radius"), values.float("length"));
    let swing = DQuat::from_rotation_y(values.float("angle").to_radians());
    let mut site = Site::new(values);
    site.surface = site.surface.bouncing(values.float("restitution"));
    let mut balls = Vec::with_capacity(count);
    for k in 0..count {
        let hang = DVec3::X * (2.0 * radius * k as f64);
        let turned = if k < lifted { swing } else { DQuat::IDENTITY };
        let at = hang + turned * (DVec3::NEG_Z * length);
        let shape = Shape::Sphere { radius };
        let ball = site.solid(format!("ball-{k}"), shape, at, turned);
        for (side, y) in [("left", -0.5 * length), ("right", 0.5 * length)] {
            let name = format!("thread-{k}-{side}");
            let ends = [hang + DVec3::Y * y, at];
            site.builder
                .joint(JointDef::distance(name, World, ball, ends));
        }
        balls.push(ball);
    }
    let last = balls[count - 1];
    Ok(site
        .scene(ENTRY.name, values)?
        .probe(Probe::new(
            "momentum",
            "momentum along the row",
            "kg m/s",
            |view| {
                let ids = view.model.body_ids();
                ids.map(|id| {
                    view.model.body(id).mass.mass * view.state.twist(view.model, id).linear.x
                })
                .sum()
            },
        ))
        .probe(Probe::new(
            "last-speed",
            "speed of the last ball",
            "m/s",
            move |view| view.state.twist(view.model, last).linear.x,
        )))
}
