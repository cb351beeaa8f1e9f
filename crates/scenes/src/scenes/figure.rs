//! A figure of fifty bodies to be dragged by the hand: spine, head, arms with fingers, legs
//! with toes.
//!
//! Shoulders, hips, wrists and the spine are ball joints; elbows, knees and fingers are
//! hinges. The left foot is pinned to the ground by a ball joint, so there is no loop.

use glam::DVec3;
use vincula::prelude::*;

use super::linkage::Linkage;
use crate::error::SceneError;
use crate::gallery::Entry;
use crate::param::Param;
use crate::scene::{Probe, Scene};
use crate::values::Values;

pub(super) const ENTRY: Entry = Entry {
    name: "figure",
    summary: "A figure of fifty bodies, pinned at one foot, goes down",
    figure: "",
    params: &[
        Param::step(0.002),
        Param::duration(1.0),
        Param::float("density", 1000.0, (1e-3, 1e6), "kg/m³", "density"),
        Param::gravity(),
        Param::young(),
    ],
    make,
};

struct Limbs {
    linkage: Linkage,
}

impl Limbs {
    /// A bone from one point to another, on a ball joint, or on a hinge about an axis.
    fn bone(
        &mut self,
        name: &str,
        parent: BodyId,
        ends: [DVec3; 2],
        width: f64,
        axis: Option<DVec3>,
    ) -> BodyId {
        let bone = self.linkage.rod(name, ends, width);
        let joint = format!("{name}-joint");
        self.linkage.join(match axis {
            None => JointDef::ball(joint, parent, bone, ends[0]),
            Some(axis) => JointDef::hinge(joint, parent, bone, ends[0], axis),
        });
        bone
    }

    fn arm(&mut self, side: f64, chest: BodyId, shoulder: DVec3) -> BodyId {
        let tag = if side < 0.0 { "right" } else { "left" };
        let out = DVec3::Y * side;
        let root = shoulder - out * 0.15;
        // Slightly bent, as nobody stands with straight elbows.
        let elbow = shoulder + out * 0.26 + DVec3::new(0.05, 0.0, -0.08);
        let wrist = elbow + out * 0.2 + DVec3::new(0.14, 0.0, 0.02);
        let palm_end = wrist + out * 0.08 + DVec3::X * 0.03;
        let name = |part: &str| format!("{tag}-{part}");
        let clavicle = self.bone(&name("clavicle"), chest, [root, shoulder], 0.04, None);
        let upper = self.bone(&name("upper-arm"), clavicle, [shoulder, elbow], 0.07, None);
        let fore = self.bone(
            &name("forearm"),
            upper,
            [elbow, wrist],
            0.055,
            Some(DVec3::Z),
        );
        let palm = self.bone(&name("palm"), fore, [wrist, palm_end], 0.05, None);
        for finger in 0..5 {
            let at = palm_end + DVec3::new(0.015 * (finger as f64 - 2.0), 0.0, 0.0);
            let middle = at + out * 0.04;
            let first = name(&format!("finger-{finger}"));
            let base = self.bone(&first, palm, [at, middle], 0.013, Some(DVec3::X));
            let tip = [middle, middle + out * 0.035];
            self.bone(&format!("{first}-tip"), base, tip, 0.011, Some(DVec3::X));
        }
        palm
    }

    fn leg(&mut self, side: f64, pelvis: BodyId, hip: DVec3) -> BodyId {
        let tag = if side < 0.0 { "right" } else { "left" };
        let knee = hip + DVec3::new(0.05, 0.0, -0.43);
        let ankle = knee + DVec3::new(-0.04, 0.0, -0.41);
        let ball = ankle + DVec3::new(0.15, 0.0, -0.05);
        let name = |part: &str| format!("{tag}-{part}");
        let thigh = self.bone(&name("thigh"), pelvis, [hip, knee], 0.1, None);
        let shank = self.bone(&name("shank"), thigh, [knee, ankle], 0.08, Some(DVec3::Y));
        let foot = self.bone(&name("foot"), shank, [ankle, ball], 0.06, None);
        for toe in 0..3 {
            let at = ball + DVec3::Y * (0.025 * (toe as f64 - 1.0));
            let ends = [at, at + DVec3::X * 0.05];
            self.bone(
                &name(&format!("toe-{toe}")),
                foot,
                ends,
                0.02,
                Some(DVec3::Y),
            );
        }
        foot
    }
}

fn make(values: &Values) -> Result<Scene, SceneError> {
    let mut limbs = Limbs {
        linkage: Linkage::new(values, values.float("density")),
    };
    let hip = DVec3::Z * 0.95;
    let pelvis = limbs
        .linkage
        .rod("pelvis", [hip - DVec3::Y * 0.1, hip + DVec3::Y * 0.1], 0.12);
    let (mut below, mut at) = (pelvis, hip);
    for bone in 0..7 {
        let end = at + DVec3::new(0.01 * (bone as f64 - 3.0), 0.0, 0.07);
        below = limbs.bone(&format!("spine-{bone}"), below, [at, end], 0.09, None);
        at = end;
    }
    let neck_end = at + DVec3::Z * 0.08;
    let neck = limbs.bone("neck", below, [at, neck_end], 0.06, None);
    limbs.bone(
        "head",
        neck,
        [neck_end, neck_end + DVec3::Z * 0.2],
        0.15,
        None,
    );
    let mut hand = below;
    for side in [-1.0, 1.0] {
        hand = limbs.arm(side, below, at + DVec3::Y * (0.18 * side));
        let foot = limbs.leg(side, pelvis, hip + DVec3::Y * (0.1 * side));
        if side > 0.0 {
            let ground = hip + DVec3::new(0.01, 0.1, -0.84);
            limbs
                .linkage
                .join(JointDef::ball("ground", World, foot, ground));
        }
    }
    Ok(limbs.linkage.scene(ENTRY.name, values)?.probe(Probe::new(
        "hand-height",
        "height of the left hand",
        "m",
        move |view| view.state.center(hand).z,
    )))
}
