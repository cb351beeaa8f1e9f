//! A cube that flies and spins freely (He et al. 2026, Fig. 7).
//!
//! Nothing acts on it, so momentum, angular momentum and energy are constant.

use glam::DVec3;
use vincula::diagnostics::{energy, spin};
use vincula::prelude::*;

use crate::error::SceneError;
use crate::gallery::Entry;
use crate::param::Param;
use crate::scene::{Probe, Scene};
use crate::values::Values;

pub(super) const ENTRY: Entry = Entry {
    name: "spinning-box",
    summary: "A free cube flies and spins: momentum, spin and energy stay",
    figure: "M-ABD Fig. 7",
    params: &[
        Param::step(0.01),
        Param::duration(10.0),
        Param::float("edge", 0.1, (1e-4, 1e3), "m", "edge of the cube"),
        Param::float("density", 1000.0, (1e-3, 1e6), "kg/m³", "density"),
        Param::float("speed", 1.0, (0.0, 1e6), "m/s", "speed along x"),
        Param::float(
            "spin",
            10.0,
            (0.0, 1e5),
            "rad/s",
            "spin about y (the paper's 100 kg m²/s would be 60,000 rad/s, faster than any solid survives)",
        ),
        Param::young(),
    ],
    make,
};

fn make(values: &Values) -> Result<Scene, SceneError> {
    let (edge, density) = (values.float("edge"), values.float("density"));
    let (speed, rate) = (values.float("speed"), values.float("spin"));

    let mut builder = ModelBuilder::new();
    builder.gravity(DVec3::ZERO);
    let cube = builder.body(
        BodyDef::new(
            "cube",
            Shape::Box {
                half_extents: DVec3::splat(0.5 * edge),
            },
            density,
        )
        .material(Material::with_young(values.float("young")))
        .moving(DVec3::X * speed, DVec3::Y * rate),
    );
    let model = builder.build()?;

    let mass = model.body(cube).mass;
    let momentum = mass.mass * speed;
    let angular = mass.inertia().y * rate;
    let kinetic = 0.5 * (mass.mass * speed * speed + angular * rate);
    let scene = Scene::new(
        ENTRY.name,
        model,
        values.float("h"),
        values.float("duration"),
    );
    Ok(scene
        .probe(
            Probe::new(
                "linear-momentum",
                "momentum along x",
                "kg m/s",
                move |view| mass.mass * view.state.twist(view.model, cube).linear.x,
            )
            .against(move |_| momentum),
        )
        .probe(
            Probe::new(
                "angular-momentum",
                "angular momentum about y",
                "kg m²/s",
                move |view| spin(view.model, view.state, cube).y,
            )
            .against(move |_| angular),
        )
        .probe(
            Probe::new("kinetic-energy", "kinetic energy", "J", |view| {
                energy(view.model, view.state).kinetic
            })
            .against(move |_| kinetic),
        ))
}
