//! A T-shaped handle spun about its intermediate axis in zero gravity (He et al. 2026,
//! Fig. 8): it flips over and back for ever.
//!
//! The grip lies along y and the stem along x, so that I_y < I_x < I_z when the grip is
//! the longer. Euler's solution gives the angular velocity in the body.

use glam::{DQuat, DVec3};
use vincula::body::shape::Part;
use vincula::diagnostics::energy;
use vincula::prelude::*;
use vincula::reference::AsymmetricTop;

use crate::error::SceneError;
use crate::gallery::Entry;
use crate::param::Param;
use crate::scene::{Probe, Scene, View};
use crate::values::Values;

pub(super) const ENTRY: Entry = Entry {
    name: "t-handle",
    summary: "A T-handle spun about its intermediate axis flips over and back",
    figure: "M-ABD Fig. 8",
    params: &[
        Param::step(0.01),
        Param::duration(30.0),
        Param::float(
            "spin",
            3.0,
            (1e-3, 1e4),
            "rad/s",
            "spin about the intermediate axis",
        ),
        Param::float(
            "perturbation",
            0.001,
            (1e-9, 1.0),
            "",
            "spin about each other axis, as a fraction of the spin",
        ),
        Param::float(
            "density",
            2700.0,
            (1e-3, 1e6),
            "kg/m³",
            "density (aluminium)",
        ),
        Param::young(),
    ],
    make,
};

/// Radius of grip and stem, m.
const RADIUS: f64 = 0.01;
/// Half the length of the grip, m.
const GRIP: f64 = 0.06;
/// Half the length of the stem, m.
const STEM: f64 = 0.03;

fn handle() -> Shape {
    let rod = |half_length| Shape::Cylinder {
        radius: RADIUS,
        half_length,
    };
    let quarter = std::f64::consts::FRAC_PI_2;
    Shape::Compound(vec![
        Part::new(rod(GRIP)).rotated(DQuat::from_rotation_x(quarter)),
        // The stem begins at the surface of the grip: overlapping matter would count twice.
        Part::new(rod(STEM))
            .rotated(DQuat::from_rotation_y(quarter))
            .at(DVec3::X * (RADIUS + STEM)),
    ])
}

/// The axis of the moment between the least and the greatest.
fn intermediate(inertia: DVec3) -> usize {
    let mut order = [0, 1, 2];
    order.sort_by(|a, b| inertia[*a].total_cmp(&inertia[*b]));
    order[1]
}

fn make(values: &Values) -> Result<Scene, SceneError> {
    let rate = values.float("spin");
    let shape = handle();
    let mass = MassProperties::from_shape(&shape, values.float("density")).map_err(|source| {
        vincula::model::ModelError::Mass {
            body: "handle".into(),
            source,
        }
    })?;
    let axis = intermediate(mass.inertia());
    let mut omega = DVec3::splat(values.float("perturbation") * rate);
    omega[axis] = rate;

    let mut builder = ModelBuilder::new();
    builder.gravity(DVec3::ZERO);
    let body = builder.body(
        BodyDef::new("handle", shape, values.float("density"))
            .material(Material::with_young(values.float("young")))
            .at(-mass.center)
            .moving(DVec3::ZERO, mass.axes * omega),
    );
    let model = builder.build()?;

    let exact = AsymmetricTop::new(mass.inertia(), omega)?;
    let start = energy(&model, &model.initial_state()).total();
    let in_body = move |view: &View| {
        let world = view.state.pose(view.model, body).rotation * mass.axes;
        world.inverse() * view.state.twist(view.model, body).angular
    };
    let scene = Scene::new(
        ENTRY.name,
        model,
        values.float("h"),
        values.float("duration"),
    );
    Ok(scene
        .probe(
            Probe::new(
                "omega",
                "angular velocity along the intermediate axis",
                "rad/s",
                move |view| in_body(view)[axis],
            )
            .against(move |t| exact.omega_body(t)[axis]),
        )
        .probe(Probe::new(
            "energy-loss",
            "fraction of the energy lost",
            "",
            move |view| 1.0 - energy(view.model, view.state).total() / start,
        )))
}
