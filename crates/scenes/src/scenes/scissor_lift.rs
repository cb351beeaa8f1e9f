//! A scissor lift: crossed bars on hinges, one foot pinned, the other on a straight rail.
//!
//! Each segment has two bars with a hinge where they cross; segments share the hinges at
//! their ends. Planar, so in space most hinges are redundant. Let go, it sinks:
//! a lift of n segments falls about n times slower than a bar.

use glam::DVec3;
use vincula::joint::JointKind;
use vincula::prelude::*;

use super::linkage::{Linkage, with_rates};
use crate::error::SceneError;
use crate::gallery::Entry;
use crate::param::Param;
use crate::scene::{Probe, Scene};
use crate::values::Values;

pub(super) const ENTRY: Entry = Entry {
    name: "scissor-lift",
    summary: "A scissor lift on hinges sinks under its own weight",
    figure: "",
    params: &[
        Param::step(0.001),
        Param::duration(1.0),
        Param::int("segments", 10, (1, 10_000), "pairs of crossed bars"),
        Param::float("length", 1.0, (1e-2, 10.0), "m", "length of a bar"),
        Param::float(
            "width",
            0.05,
            (1e-4, 1.0),
            "m",
            "edge of its square cross-section",
        ),
        Param::float(
            "angle",
            50.0,
            (1.0, 89.0),
            "°",
            "angle of the bars from level at the start",
        ),
        Param::float(
            "rate",
            0.0,
            (-100.0, 100.0),
            "rad/s",
            "rate of that angle at the start",
        ),
        Param::float("density", 1000.0, (1e-3, 1e6), "kg/m³", "density"),
        Param::gravity(),
        Param::young(),
    ],
    make,
};

fn make(values: &Values) -> Result<Scene, SceneError> {
    let (segments, length) = (values.int("segments"), values.float("length"));
    let (angle, rate) = (values.float("angle").to_radians(), values.float("rate"));
    // Width and height of one segment are all there is to know of the pose.
    let size = |angle: f64| [DVec3::new(angle.cos(), 0.0, angle.sin()) * length];
    let ([size], [growth]) = with_rates(size, angle, rate);
    let pin = |side: f64, level: usize| DVec3::new(side * size.x, 0.0, level as f64 * size.z);
    let slip = |side: f64, level: usize| DVec3::new(side * growth.x, 0.0, level as f64 * growth.z);
    let mut lift = Linkage::new(values, values.float("density"));
    let mut below: Option<[BodyId; 2]> = None;
    for level in 0..segments {
        // The first bar rises to the right, the second to the left.
        let bars = [(0.0, "right"), (1.0, "left")].map(|(side, towards)| {
            let ends = [pin(side, level), pin(1.0 - side, level + 1)];
            let rates = [slip(side, level), slip(1.0 - side, level + 1)];
            let name = format!("bar-{level}-{towards}");
            lift.moving_rod(name, ends, rates, values.float("width"))
        });
        let middle = 0.5 * (pin(0.0, level) + pin(1.0, level + 1));
        let hinge = |name: String, a, b, at| JointDef::hinge(name, a, b, at, DVec3::Y);
        lift.join(hinge(format!("cross-{level}"), bars[0], bars[1], middle));
        match below {
            None => {
                let (left, right) = (pin(0.0, 0), pin(1.0, 0));
                lift.join(JointDef::hinge("foot", World, bars[0], left, DVec3::Y));
                let rail = JointKind::PointOnLine;
                lift.join(JointDef::new("rail", rail, World, bars[1], right, DVec3::X));
            }
            // What rose to the right carries what starts on the right.
            Some([right, left]) => {
                let (l, r) = (pin(0.0, level), pin(1.0, level));
                lift.join(hinge(format!("left-{level}"), left, bars[0], l));
                lift.join(hinge(format!("right-{level}"), right, bars[1], r));
            }
        }
        below = Some(bars);
    }
    let scene = lift.scene(ENTRY.name, values)?;
    let Some([top, _]) = below else {
        return Ok(scene);
    };
    let half = 0.5 * length;
    Ok(scene.probe(Probe::new(
        "height",
        "height of the top",
        "m",
        move |view| view.state.pose(view.model, top).point(DVec3::X * half).z,
    )))
}
