//! A crank, a coupler and a rocker on four hinges, let go at rest.
//!
//! With the default lengths the crank turns all the way (Grashof: the shortest and the
//! longest bar together are shorter than the other two), so no pose is singular. Lengths
//! that cannot meet leave a gap at the hinge between coupler and rocker, which
//! `vincula check four-bar` reports.

use std::f64::consts::FRAC_PI_2;

use glam::{DQuat, DVec3};
use vincula::joint::JointKind;
use vincula::prelude::*;

use super::linkage::Linkage;
use crate::error::SceneError;
use crate::gallery::Entry;
use crate::param::Param;
use crate::scene::{Probe, Scene};
use crate::values::Values;

pub(super) const ENTRY: Entry = Entry {
    name: "four-bar",
    summary: "A crank, a coupler and a rocker on four hinges swing",
    figure: "",
    params: &[
        Param::step(0.001),
        Param::duration(10.0),
        Param::float("base", 1.0, (0.01, 100.0), "m", "distance of the pivots"),
        Param::float("crank", 0.4, (0.01, 100.0), "m", "length of the crank"),
        Param::float("coupler", 1.0, (0.01, 100.0), "m", "length of the coupler"),
        Param::float("rocker", 0.8, (0.01, 100.0), "m", "length of the rocker"),
        Param::float(
            "angle",
            60.0,
            (-360.0, 360.0),
            "°",
            "angle of the crank above level at the start",
        ),
        Param::float("density", 1000.0, (1e-3, 1e6), "kg/m³", "density"),
        Param::gravity(),
        Param::young(),
    ],
    make,
};

/// Edge of the square section of the bars, m.
const WIDTH: f64 = 0.05;

/// Where two circles of these centres and radii meet, above the line from the first to
/// the second: the end of each radius. Circles that do not meet are left apart.
fn meet(from: DVec3, coupler: f64, to: DVec3, rocker: f64) -> [DVec3; 2] {
    let span = to - from;
    let distance = span.length();
    let along = span / distance;
    let foot = (distance * distance + coupler * coupler - rocker * rocker) / (2.0 * distance);
    let rise = coupler * coupler - foot * foot;
    if rise >= 0.0 {
        let across = DVec3::new(-along.z, 0.0, along.x);
        let point = from + along * foot + across * rise.sqrt();
        return [point, point];
    }
    let towards = if distance > coupler + rocker {
        -1.0
    } else {
        1.0
    };
    let outwards = if foot >= 0.0 { 1.0 } else { -1.0 };
    [
        from + along * (outwards * coupler),
        to + along * (outwards * towards * rocker),
    ]
}

/// A hinge about y at x = `at` of each bar, whether they meet there or not.
fn hinge(name: &str, a: (BodyId, f64), b: (BodyId, f64)) -> JointDef {
    let frame = |x: f64| Pose {
        translation: DVec3::X * x,
        rotation: DQuat::from_rotation_x(-FRAC_PI_2),
    };
    let frames = [frame(a.1), frame(b.1)];
    JointDef::with_frames(name, JointKind::Hinge, a.0, b.0, frames)
}

fn make(values: &Values) -> Result<Scene, SceneError> {
    let length = |key: &str| values.float(key);
    let angle = values.float("angle").to_radians();
    let (start, end) = (DVec3::ZERO, DVec3::X * length("base"));
    let elbow = DVec3::new(angle.cos(), 0.0, angle.sin()) * length("crank");
    let [near, far] = meet(elbow, length("coupler"), end, length("rocker"));
    let mut bars = Linkage::new(values, values.float("density"));
    let crank = bars.rod("crank", [start, elbow], WIDTH);
    let coupler = bars.rod("coupler", [elbow, near], WIDTH);
    let rocker = bars.rod("rocker", [end, far], WIDTH);
    bars.join(JointDef::hinge(
        "pivot-crank",
        World,
        crank,
        start,
        DVec3::Y,
    ));
    bars.join(JointDef::hinge("elbow", crank, coupler, elbow, DVec3::Y));
    let half = |key: &str| 0.5 * length(key);
    let tip = |bar, key: &str| (bar, half(key));
    bars.join(hinge(
        "knee",
        tip(coupler, "coupler"),
        tip(rocker, "rocker"),
    ));
    bars.join(JointDef::hinge(
        "pivot-rocker",
        World,
        rocker,
        end,
        DVec3::Y,
    ));
    Ok(bars.scene(ENTRY.name, values)?.probe(Probe::new(
        "crank",
        "angle of the crank above level",
        "rad",
        move |view| {
            let center = view.state.center(crank);
            center.z.atan2(center.x)
        },
    )))
}
