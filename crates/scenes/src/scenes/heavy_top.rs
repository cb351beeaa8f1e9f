//! A spinning disc on a pin that stands on its tip (He et al. 2026, Fig. 9): it precesses
//! about the vertical and nods.
//!
//! The disc is wide and sits low, so that ten turns of a radian a second already hold it
//! up: `(I₃ ω₃)² > 4 J m g d`. The closed form is Goldstein's (Classical Mechanics, §5.7).

use glam::{DQuat, DVec3};
use vincula::body::shape::Part;
use vincula::prelude::*;
use vincula::reference::HeavyTop;

use crate::error::SceneError;
use crate::gallery::Entry;
use crate::param::Param;
use crate::scene::{Probe, Scene, View};
use crate::values::Values;

pub(super) const ENTRY: Entry = Entry {
    name: "heavy-top",
    summary: "A top on its tip precesses and nods, against the closed form",
    figure: "M-ABD Fig. 9",
    params: &[
        Param::step(0.01),
        Param::duration(10.0),
        Param::float(
            "spin",
            10.0,
            (-1e4, 1e4),
            "rad/s",
            "spin about the axis of the top",
        ),
        Param::float(
            "tilt",
            5.0,
            (0.01, 179.0),
            "°",
            "lean from the vertical at the start",
        ),
        Param::float("radius", 0.3, (0.02, 10.0), "m", "radius of the disc"),
        Param::float(
            "height",
            0.1,
            (0.03, 10.0),
            "m",
            "height of the disc above the tip",
        ),
        Param::float("density", 1000.0, (1e-3, 1e6), "kg/m³", "density"),
        Param::gravity(),
        Param::young(),
    ],
    make,
};

/// Half the thickness of the disc, m.
const DISC: f64 = 0.02;
/// Radius of the pin, m.
const PIN: f64 = 0.01;

/// The top with its tip at the origin and its axis along z.
fn top(radius: f64, height: f64) -> Shape {
    let half_pin = 0.5 * (height - DISC);
    let pin = Shape::Cylinder {
        radius: PIN,
        half_length: half_pin,
    };
    let disc = Shape::Cylinder {
        radius,
        half_length: DISC,
    };
    Shape::Compound(vec![
        Part::new(pin).at(DVec3::Z * half_pin),
        Part::new(disc).at(DVec3::Z * height),
    ])
}

/// Lean of the axis from the vertical, rad.
fn nutation(view: &View, body: BodyId) -> f64 {
    let axis = view.state.pose(view.model, body).rotation * DVec3::Z;
    axis.x.hypot(axis.y).atan2(axis.z)
}

/// Rate of the axis about the vertical, rad/s.
fn precession(view: &View, body: BodyId) -> f64 {
    let axis = view.state.pose(view.model, body).rotation * DVec3::Z;
    let slope = view.state.twist(view.model, body).angular.cross(axis);
    (axis.x * slope.y - axis.y * slope.x) / (axis.x * axis.x + axis.y * axis.y)
}

fn make(values: &Values) -> Result<Scene, SceneError> {
    let (spin, tilt) = (values.float("spin"), values.float("tilt").to_radians());
    let gravity = values.float("gravity");
    let lean = DQuat::from_rotation_y(tilt);

    let shape = top(values.float("radius"), values.float("height"));
    let mut builder = ModelBuilder::new();
    builder.gravity(DVec3::new(0.0, 0.0, -gravity));
    let body = builder.body(
        BodyDef::new("top", shape, values.float("density"))
            .material(Material::with_young(values.float("young")))
            .turned(lean)
            .moving(DVec3::ZERO, lean * DVec3::Z * spin),
    );
    builder.joint(JointDef::ball("tip", World, body, DVec3::ZERO));
    let model = builder.build()?;

    let mass = model.body(body).mass;
    let exact = HeavyTop {
        mass: mass.mass,
        inertia: mass.inertia(),
        distance: mass.center.z,
        gravity,
        tilt,
        spin,
    };
    exact.sample(0.0)?;
    let scene = Scene::new(
        ENTRY.name,
        model,
        values.float("h"),
        values.float("duration"),
    );
    let degrees = move |t| {
        exact
            .sample(t)
            .map_or(f64::NAN, |s| s.nutation.to_degrees())
    };
    let rate = move |t| exact.sample(t).map_or(f64::NAN, |s| s.precession_rate);
    Ok(scene
        .probe(
            Probe::new("nutation", "lean from the vertical", "°", move |view| {
                nutation(view, body).to_degrees()
            })
            .against(degrees),
        )
        .probe(
            Probe::new("precession", "precession rate", "rad/s", move |view| {
                precession(view, body)
            })
            .against(rate),
        ))
}
