//! Ragdolls fall on a net that is held at its corners (He et al. 2026, Fig. 19).
//!
//! A ragdoll has eleven links: pelvis, chest, head, and two for each limb. Hips, shoulders,
//! waist and neck are universal joints with springs, elbows and knees hinges with limits and
//! springs. The net of 20 × 20 nodes has 1,160 links.
//!
//! The paper calls a net with a modulus of 1e6 stiff, without its units. With 1000 kg/m³ and
//! pascals it is not: 1.9 t of dolls hang on eight links at the corners, 2 MPa each at rest, which
//! would stretch them to three times their length. So the net has the gallery's modulus.

use glam::{DQuat, DVec3};
use vincula::joint::axis::Spring;
use vincula::prelude::*;

use super::linkage::along;
use super::loose_net::{NetParts, net};
use super::site::{self, Site};
use super::tree::Random;
use crate::error::SceneError;
use crate::gallery::Entry;
use crate::param::Param;
use crate::scene::{Probe, Scene};
use crate::values::Values;

pub(super) const ENTRY: Entry = Entry {
    name: "ragdolls",
    summary: "Ragdolls of eleven links fall on a net held at its corners",
    figure: "M-ABD Fig. 19",
    params: &[
        Param::step(0.005),
        Param::duration(20.0),
        Param::int("n", 27, (1, 125), "number of ragdolls"),
        Param::int("nodes", 20, (2, 50), "nodes along a side of the net"),
        Param::float(
            "spacing",
            0.35,
            (0.01, 10.0),
            "m",
            "distance of neighbouring nodes",
        ),
        Param::float("width", 0.05, (1e-3, 1.0), "m", "width of a rod of the net"),
        site::friction(0.5),
        site::density(1000.0),
        Param::gravity(),
        Param::young(),
    ],
    make,
};

/// A link: name, its two ends in the doll's frame, m, and its radius.
type Bone = (&'static str, [DVec3; 2], f64);

/// A joint: the links, where it is, and whether it is a hinge.
type Tie = (usize, usize, DVec3, bool);

fn bones() -> ([Bone; 11], [Tie; 10]) {
    let p = DVec3::new;
    let (waist, neck) = (p(0.0, 0.0, 1.05), p(0.0, 0.0, 1.5));
    let limb = |y: f64, z: f64| p(0.0, y, z);
    let bones = [
        ("pelvis", [limb(-0.1, 0.95), limb(0.1, 0.95)], 0.1),
        ("chest", [p(0.0, 0.0, 1.2), p(0.0, 0.0, 1.35)], 0.15),
        ("head", [p(0.0, 0.0, 1.62), p(0.0, 0.0, 1.68)], 0.1),
        ("left-upper-arm", [limb(0.25, 1.42), limb(0.5, 1.42)], 0.05),
        ("left-lower-arm", [limb(0.58, 1.42), limb(0.82, 1.42)], 0.04),
        (
            "right-upper-arm",
            [limb(-0.25, 1.42), limb(-0.5, 1.42)],
            0.05,
        ),
        (
            "right-lower-arm",
            [limb(-0.58, 1.42), limb(-0.82, 1.42)],
            0.04,
        ),
        ("left-thigh", [limb(0.1, 0.82), limb(0.1, 0.52)], 0.07),
        ("left-shin", [limb(0.1, 0.42), limb(0.1, 0.1)], 0.06),
        ("right-thigh", [limb(-0.1, 0.82), limb(-0.1, 0.52)], 0.07),
        ("right-shin", [limb(-0.1, 0.42), limb(-0.1, 0.1)], 0.06),
    ];
    let ties = [
        (0, 1, waist, false),
        (1, 2, neck, false),
        (1, 3, limb(0.2, 1.42), false),
        (3, 4, limb(0.54, 1.42), true),
        (1, 5, limb(-0.2, 1.42), false),
        (5, 6, limb(-0.54, 1.42), true),
        (0, 7, limb(0.1, 0.9), false),
        (7, 8, limb(0.1, 0.47), true),
        (0, 9, limb(-0.1, 0.9), false),
        (9, 10, limb(-0.1, 0.47), true),
    ];
    (bones, ties)
}

/// Adds a doll whose frame is at `pose`.
fn doll(site: &mut Site, number: usize, pose: &Pose) {
    let (bones, ties) = bones();
    let links = bones.map(|(name, ends, radius)| {
        let [a, b] = ends.map(|end| pose.point(end));
        let shape = Shape::Capsule {
            radius,
            half_length: 0.5 * a.distance(b),
        };
        // A capsule lies along its z axis, `along` turns x.
        let turned = along(b - a) * DQuat::from_rotation_y(std::f64::consts::FRAC_PI_2);
        site.solid(
            format!("doll-{number}-{name}"),
            shape,
            0.5 * (a + b),
            turned,
        )
    });
    let spring = Spring {
        stiffness: 5.0,
        damping: 0.5,
        rest: 0.0,
    };
    for (k, (one, two, at, hinge)) in ties.into_iter().enumerate() {
        let name = format!("doll-{number}-joint-{k}");
        let (a, b, at) = (links[one], links[two], pose.point(at));
        let axes = [pose.rotation * DVec3::Z, pose.rotation * DVec3::X];
        let joint = if hinge {
            let bend = if at_arm(k) {
                axes[0]
            } else {
                pose.rotation * DVec3::Y
            };
            JointDef::hinge(name, a, b, at, bend).limits(0, -2.2, 2.2)
        } else {
            JointDef::universal(name, a, b, at, axes).spring(1, spring)
        };
        site.builder.joint(joint.spring(0, spring));
    }
    // Thighs hang side by side from the pelvis, and arms from the chest.
    site.builder.ignore(links[7], links[9]);
}

/// Whether a hinge is an elbow; it bends about z, a knee about y.
fn at_arm(joint: usize) -> bool {
    joint < 6
}

fn make(values: &Values) -> Result<Scene, SceneError> {
    let (count, nodes) = (values.int("n"), values.int("nodes"));
    let (length, width) = (values.float("spacing"), values.float("width"));
    let mut site = Site::new(values);
    let parts = NetParts {
        rows: nodes,
        columns: nodes,
        length,
        width,
    };
    let net = net(&mut site, &parts, DVec3::ZERO);
    let last = nodes - 1;
    for (k, [row, column]) in [[0, 0], [0, last], [last, 0], [last, last]]
        .into_iter()
        .enumerate()
    {
        let half = 0.5 * length * last as f64;
        let at = |index: usize| if index == 0 { -half } else { half };
        let at = DVec3::new(at(row), at(column), 0.0);
        let node = net[row * nodes + column];
        let pin = JointDef::ball(format!("pin-{k}"), World, node, at);
        site.builder.joint(pin);
    }
    let wide = ((count as f64).cbrt().ceil() as usize).max(1);
    let mut random = Random(values.seed());
    for k in 0..count {
        let middle = 0.5 * (wide as f64 - 1.0);
        let cell = DVec3::new(
            (k % wide) as f64 - middle,
            (k / wide % wide) as f64 - middle,
            (k / wide / wide) as f64,
        );
        let turned = DQuat::from_rotation_z(std::f64::consts::TAU * random.uniform());
        let pose = Pose {
            translation: cell * DVec3::new(1.8, 1.8, 2.0) + DVec3::Z * 0.5,
            rotation: turned,
        };
        doll(&mut site, k, &pose);
    }
    let middle = net[nodes / 2 * nodes + nodes / 2];
    Ok(site.scene(ENTRY.name, values)?.probe(Probe::new(
        "sag",
        "height of the middle of the net",
        "m",
        move |view| view.state.center(middle).z,
    )))
}
