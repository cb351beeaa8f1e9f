//! A disc on a hinge, driven by a constant torque against drag: `I ω′ = τ − c ω`.

use glam::DVec3;
use vincula::model::Drag;
use vincula::prelude::*;
use vincula::reference::DrivenRotor;

use crate::error::SceneError;
use crate::gallery::Entry;
use crate::param::Param;
use crate::scene::{Probe, Scene};
use crate::values::Values;

pub(super) const ENTRY: Entry = Entry {
    name: "rotor",
    summary: "A disc on a hinge runs up under a torque against drag",
    figure: "",
    params: &[
        Param::step(0.01),
        Param::duration(10.0),
        Param::float("radius", 0.2, (1e-3, 10.0), "m", "radius of the disc"),
        Param::float(
            "thickness",
            0.05,
            (1e-3, 10.0),
            "m",
            "thickness of the disc",
        ),
        Param::float("density", 1000.0, (1e-3, 1e6), "kg/m³", "density"),
        Param::float("torque", 1.0, (-1e6, 1e6), "N m", "torque about the axis"),
        Param::float(
            "drag",
            0.05,
            (0.0, 1e6),
            "N m s",
            "drag torque per angular velocity",
        ),
        Param::float(
            "spin",
            0.0,
            (-1e4, 1e4),
            "rad/s",
            "angular velocity at the start",
        ),
        Param::young(),
    ],
    make,
};

fn make(values: &Values) -> Result<Scene, SceneError> {
    let (torque, drag, spin) = (
        values.float("torque"),
        values.float("drag"),
        values.float("spin"),
    );
    let radius = values.float("radius");
    let shape = Shape::Cylinder {
        radius,
        half_length: 0.5 * values.float("thickness"),
    };

    let mut builder = ModelBuilder::new();
    let disc = builder.body(
        BodyDef::new("disc", shape, values.float("density"))
            .material(Material::with_young(values.float("young")))
            .drag(Drag {
                angular: drag,
                ..Drag::default()
            })
            .moving(DVec3::ZERO, DVec3::Z * spin),
    );
    builder.joint(JointDef::hinge("axle", World, disc, DVec3::ZERO, DVec3::Z));
    let model = builder.build()?;

    let inertia = model.body(disc).mass.inertia().z;
    let exact = DrivenRotor {
        inertia,
        torque,
        damping: drag,
        angle: 0.0,
        omega: spin,
    };
    exact.check()?;
    let scene = Scene::new(
        ENTRY.name,
        model,
        values.float("h"),
        values.float("duration"),
    );
    Ok(scene
        .driven(move |_, _, control| control.add_torque(disc, DVec3::Z * torque))
        .probe(
            Probe::new("omega", "angular velocity", "rad/s", move |view| {
                view.state.twist(view.model, disc).angular.z
            })
            .against(move |t| exact.angular_velocity(t)),
        ))
}
