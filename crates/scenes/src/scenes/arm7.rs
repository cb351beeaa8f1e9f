//! An arm of seven hinges with the lengths and masses of a collaborative robot of about
//! 18 kg and 0.85 m of reach, its brakes released. Many of them can stand side by side, each
//! a mechanism of its own.

use glam::{DQuat, DVec3};
use vincula::prelude::*;

use super::linkage::Linkage;
use crate::error::SceneError;
use crate::gallery::Entry;
use crate::param::Param;
use crate::scene::{Probe, Scene};
use crate::values::Values;

pub(super) const ENTRY: Entry = Entry {
    name: "arm7",
    summary: "A robot arm of seven hinges falls with its brakes released",
    figure: "",
    params: &[
        Param::step(0.001),
        Param::duration(5.0),
        Param::float(
            "payload",
            0.0,
            (0.0, 100.0),
            "kg",
            "mass added to the flange",
        ),
        Param::int("copies", 1, (1, 10_000), "arms, side by side"),
        Param::gravity(),
        Param::young(),
    ],
    make,
};

/// One link with the hinge that carries it.
struct Link {
    /// From the previous hinge to this one, in the previous link's frame, m.
    offset: DVec3,
    /// Axis of the hinge, in the frame of the link.
    axis: DVec3,
    /// Angle of the hinge at the start, rad.
    angle: f64,
    /// Mass, kg.
    mass: f64,
    /// Centre and half extents of the housing, in the frame of the link, m.
    center: DVec3,
    half: DVec3,
}

const fn v(x: f64, y: f64, z: f64) -> DVec3 {
    DVec3::new(x, y, z)
}

const LINKS: [Link; 7] = [
    Link {
        offset: v(0.0, 0.0, 0.14),
        axis: DVec3::Z,
        angle: 0.3,
        mass: 4.0,
        center: v(0.0, -0.02, 0.12),
        half: v(0.055, 0.06, 0.11),
    },
    Link {
        offset: v(0.0, 0.0, 0.193),
        axis: DVec3::Y,
        angle: 0.5,
        mass: 3.6,
        center: v(0.0, 0.02, 0.09),
        half: v(0.055, 0.06, 0.12),
    },
    Link {
        offset: v(0.0, 0.0, 0.19),
        axis: DVec3::Z,
        angle: -0.4,
        mass: 3.2,
        center: v(0.03, 0.01, 0.08),
        half: v(0.07, 0.055, 0.09),
    },
    Link {
        offset: v(0.0825, 0.0, 0.126),
        axis: DVec3::NEG_Y,
        angle: 1.2,
        mass: 3.0,
        center: v(-0.04, 0.02, 0.06),
        half: v(0.07, 0.05, 0.09),
    },
    Link {
        offset: v(-0.0825, 0.0, 0.16),
        axis: DVec3::Z,
        angle: 0.6,
        mass: 2.2,
        center: v(0.0, 0.03, 0.12),
        half: v(0.045, 0.05, 0.13),
    },
    Link {
        offset: v(0.0, 0.0, 0.224),
        axis: DVec3::NEG_Y,
        angle: 0.9,
        mass: 1.5,
        center: v(0.05, 0.0, 0.01),
        half: v(0.07, 0.045, 0.045),
    },
    Link {
        offset: v(0.088, 0.0, 0.0),
        axis: DVec3::NEG_Z,
        angle: 0.2,
        mass: 0.7,
        center: v(0.01, 0.0, -0.08),
        half: v(0.04, 0.04, 0.035),
    },
];

/// Distance of neighbours, m: twice the reach and more.
const SPACING: f64 = 2.0;

/// Where an arm stands when `copies` of them fill a square, row by row.
fn place(index: usize, copies: usize) -> DVec3 {
    let columns = (copies as f64).sqrt().ceil() as usize;
    let (row, column) = (index / columns, index % columns);
    SPACING * v(row as f64, column as f64, 0.0)
}

/// Adds an arm that stands at `base`; its flange.
fn add_arm(arms: &mut Linkage, base: DVec3, prefix: &str, payload: f64) -> BodyId {
    let mut frame = Pose::IDENTITY;
    let mut last = None;
    for (index, link) in LINKS.iter().enumerate() {
        frame = frame.compose(&Pose {
            translation: link.offset,
            rotation: DQuat::from_axis_angle(link.axis, link.angle),
        });
        let added = if index == 6 { payload } else { 0.0 };
        let shape = Shape::Box {
            half_extents: link.half,
        };
        let body = arms.add(
            BodyDef::new(format!("{prefix}link-{}", index + 1), shape, 1000.0)
                .mass(link.mass + added)
                .at(base + frame.point(link.center))
                .turned(frame.rotation),
        );
        let (name, at) = (
            format!("{prefix}hinge-{}", index + 1),
            base + frame.translation,
        );
        let axis = frame.rotation * link.axis;
        arms.join(match last {
            None => JointDef::hinge(name, World, body, at, axis),
            Some(before) => JointDef::hinge(name, before, body, at, axis),
        });
        last = Some(body);
    }
    last.expect("an arm has links")
}

fn make(values: &Values) -> Result<Scene, SceneError> {
    let (copies, payload) = (values.int("copies"), values.float("payload"));
    let mut arms = Linkage::new(values, 1000.0);
    let flange = add_arm(&mut arms, DVec3::ZERO, "", payload);
    for index in 1..copies {
        let prefix = format!("arm-{}-", index + 1);
        add_arm(&mut arms, place(index, copies), &prefix, payload);
    }
    let scene = arms.scene(ENTRY.name, values)?;
    Ok(scene.probe(Probe::new(
        "flange-height",
        "height of the first arm's flange",
        "m",
        move |view| view.state.center(flange).z,
    )))
}
