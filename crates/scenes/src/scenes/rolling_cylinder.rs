//! A cylinder on a rough floor (He et al. 2026, Fig. 2): it starts sliding and ends rolling.
//!
//! Coulomb friction brakes it by μ g and spins it up until `v = r ω`:
//!
//! ```text
//! v = v₀ − μ g t,  r ω = 2 μ g t      until t = v₀ / (3 μ g), then v = ⅔ v₀
//! ```
//!
//! The floor is a stiff spring with friction that grows with slip up to a small speed, so
//! the last of the slip decays instead of stopping at once.

use glam::{DQuat, DVec3};
use vincula::force::ground::PenaltyGround;
use vincula::prelude::*;

use crate::error::SceneError;
use crate::gallery::Entry;
use crate::param::Param;
use crate::scene::{Probe, Scene};
use crate::values::Values;

pub(super) const ENTRY: Entry = Entry {
    name: "rolling-cylinder",
    summary: "A cylinder slides on a rough floor until it rolls at two thirds of its speed",
    figure: "M-ABD Fig. 2",
    params: &[
        // The floor is an explicit force: longer steps than this would make it bounce.
        Param::float("h", 0.001, (1e-7, 0.02), "s", "time step"),
        Param::duration(1.0),
        Param::float("radius", 0.1, (1e-3, 10.0), "m", "radius"),
        Param::float("length", 0.3, (1e-3, 10.0), "m", "length"),
        Param::float("density", 1000.0, (1e-3, 1e6), "kg/m³", "density"),
        Param::float("speed", 1.0, (0.0, 1e3), "m/s", "speed at the start"),
        Param::choice("start", &["sliding", "rolling"], "how it starts"),
        Param::float("friction", 0.3, (0.0, 10.0), "", "coefficient of friction"),
        Param::float(
            "slip",
            0.0,
            (0.0, 10.0),
            "m/s",
            "slip at which friction is full; 0 fits it to h",
        ),
        Param::float(
            "sink",
            0.0,
            (0.0, 0.01),
            "m",
            "how far it sinks in at rest; 0 fits it to h",
        ),
        Param::gravity(),
        Param::young(),
    ],
    make,
};

/// What the user chose, or what an explicit step can follow: the floor answers within four
/// steps, and a step of full friction does not overshoot.
fn given(chosen: f64, fitted: f64) -> f64 {
    if chosen > 0.0 { chosen } else { fitted }
}

fn make(values: &Values) -> Result<Scene, SceneError> {
    let (radius, speed) = (values.float("radius"), values.float("speed"));
    let (friction, gravity) = (values.float("friction"), values.float("gravity"));
    let (h, rolling) = (values.float("h"), values.choice("start") == "rolling");
    let sink = given(values.float("sink"), (4.0 * gravity * h * h).max(0.0005));
    let slip = given(
        values.float("slip"),
        (3.0 * friction * gravity * h).max(0.01),
    );

    let half_length = 0.5 * values.float("length");
    let shape = Shape::Cylinder {
        radius,
        half_length,
    };
    let spin = if rolling { speed / radius } else { 0.0 };
    let body = BodyDef::new("cylinder", shape.clone(), values.float("density"))
        .material(Material::with_young(values.float("young")))
        // The axis of the shape is z; lying, it points along −y and the roll is about +y.
        .turned(DQuat::from_rotation_x(std::f64::consts::FRAC_PI_2))
        .at(DVec3::Z * (radius - sink))
        .moving(DVec3::X * speed, DVec3::Y * spin);
    let mass = MassProperties::from_shape(&shape, values.float("density"))
        .map_err(|source| vincula::model::ModelError::Mass {
            body: "cylinder".into(),
            source,
        })?
        .mass;

    // Two points carry the weight: k = m g / (2 · sink), damped at a fifth of critical.
    let stiffness = 0.5 * mass * gravity / sink;
    let damping = 0.2 * (2.0 * stiffness * mass).sqrt();
    let mut builder = ModelBuilder::new();
    builder.gravity(DVec3::new(0.0, 0.0, -gravity));
    builder.ground(PenaltyGround {
        height: 0.0,
        stiffness,
        damping,
        friction,
        slip,
    });
    let cylinder = builder.body(body);
    let model = builder.build()?;

    let brake = friction * gravity;
    let slide = move |t: f64| {
        if rolling {
            0.0
        } else {
            (speed - 3.0 * brake * t).max(0.0)
        }
    };
    let scene = Scene::new(
        ENTRY.name,
        model,
        values.float("h"),
        values.float("duration"),
    );
    Ok(scene
        .probe(
            Probe::new("speed", "speed", "m/s", move |view| {
                view.state.twist(view.model, cylinder).linear.x
            })
            .against(move |t| {
                if rolling {
                    speed
                } else {
                    (speed * 2.0 + slide(t)) / 3.0
                }
            }),
        )
        .probe(
            Probe::new("slip", "slip at the floor", "m/s", move |view| {
                let twist = view.state.twist(view.model, cylinder);
                twist.linear.x - radius * twist.angular.y
            })
            .against(slide),
        ))
}
