//! A rod on a pivot, released at rest (He et al. 2026, Fig. 10 and Eq. 60).
//!
//! The rod swings in the xz plane. Its angle φ from the lowest position obeys
//! `I φ″ = −m g d sin φ`, solved by Jacobi's elliptic functions.

use glam::{DQuat, DVec3};
use vincula::prelude::*;
use vincula::reference::PhysicalPendulum;

use crate::error::SceneError;
use crate::gallery::Entry;
use crate::param::Param;
use crate::scene::{Probe, Scene};
use crate::values::Values;

pub(super) const ENTRY: Entry = Entry {
    name: "pendulum",
    summary: "A rod on a pivot swings down from level, against the elliptic solution",
    figure: "M-ABD Fig. 10",
    params: &[
        Param::step(0.01),
        Param::duration(5.0),
        Param::float("length", 1.0, (1e-3, 1e3), "m", "length of the rod"),
        Param::float(
            "width",
            0.1,
            (1e-4, 1e3),
            "m",
            "edge of its square cross-section",
        ),
        Param::float("mass", 10.0, (1e-6, 1e9), "kg", "mass of the rod"),
        Param::float(
            "angle",
            90.0,
            (0.01, 179.0),
            "°",
            "release angle from hanging",
        ),
        Param::gravity(),
        Param::young(),
    ],
    make,
};

fn make(values: &Values) -> Result<Scene, SceneError> {
    let (length, width) = (values.float("length"), values.float("width"));
    let (mass, gravity) = (values.float("mass"), values.float("gravity"));
    let amplitude = values.float("angle").to_radians();

    let mut builder = ModelBuilder::new();
    builder.gravity(DVec3::new(0.0, 0.0, -gravity));
    // At φ the rod points along (sin φ, 0, −cos φ): x turned about y by π/2 − φ.
    let lift = DQuat::from_rotation_y(std::f64::consts::FRAC_PI_2 - amplitude);
    let half_extents = 0.5 * DVec3::new(length, width, width);
    let rod = builder.body(
        BodyDef::new("rod", Shape::Box { half_extents }, 1000.0)
            .mass(mass)
            .material(Material::with_young(values.float("young")))
            .turned(lift)
            .at(lift * DVec3::X * (0.5 * length)),
    );
    let pivot = builder.joint(JointDef::ball("pivot", World, rod, DVec3::ZERO));
    let model = builder.build()?;

    let distance = 0.5 * length;
    let inertia = model.body(rod).mass.inertia().y + mass * distance * distance;
    let exact = PhysicalPendulum::new(mass, distance, inertia, gravity, amplitude)?;
    let scene = Scene::new(
        ENTRY.name,
        model,
        values.float("h"),
        values.float("duration"),
    );
    Ok(scene
        .probe(
            Probe::new("angle", "angle from hanging", "rad", move |view| {
                let center = view.state.center(rod);
                center.x.atan2(-center.z)
            })
            .against(move |t| exact.angle(t)),
        )
        .probe(
            Probe::new("reaction", "force in the pivot", "N", move |view| {
                view.reaction(pivot).length()
            })
            .step_mean()
            .against(move |t| exact.reaction_magnitude(t)),
        ))
}
