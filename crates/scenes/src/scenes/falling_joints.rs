//! Jointed pairs fall into a bowl (He et al. 2026, Fig. 20): as many on ball joints as on
//! universal joints, hinges and prismatic joints.

use glam::{DQuat, DVec2, DVec3};
use vincula::contact::HeightField;
use vincula::prelude::*;

use super::site::{self, Site};
use super::tree::Random;
use crate::error::SceneError;
use crate::gallery::Entry;
use crate::param::Param;
use crate::scene::Scene;
use crate::values::Values;

pub(super) const ENTRY: Entry = Entry {
    name: "falling-joints",
    summary: "Pairs on ball, universal, hinge and prismatic joints fall into a bowl",
    figure: "M-ABD Fig. 20",
    params: &[
        Param::step(0.01),
        Param::duration(20.0),
        Param::int(
            "each",
            180,
            (1, 100_000),
            "pairs of each of the four joints",
        ),
        Param::float(
            "size",
            0.2,
            (1e-3, 10.0),
            "m",
            "length of one half of a pair",
        ),
        site::friction(0.3),
        site::compliance(1e-8),
        site::density(1000.0),
        Param::gravity(),
        Param::young(),
    ],
    make,
};

fn joint(kind: usize, name: String, ends: [BodyId; 2], at: DVec3, turned: DQuat) -> JointDef {
    let [a, b] = ends;
    let axes = [turned * DVec3::Y, turned * DVec3::Z];
    match kind {
        0 => JointDef::ball(name, a, b, at),
        1 => JointDef::universal(name, a, b, at, axes),
        2 => JointDef::hinge(name, a, b, at, axes[0]),
        _ => JointDef::prismatic(name, a, b, at, turned * DVec3::X),
    }
}

fn make(values: &Values) -> Result<Scene, SceneError> {
    let (each, size) = (values.int("each"), values.float("size"));
    let count = 4 * each;
    // The pairs start in layers over a bowl wide enough for them.
    let wide = ((count as f64 / 5.0).sqrt().ceil() as usize).max(2);
    let apart = 2.6 * size;
    let half = 0.5 * apart * wide as f64;
    let mut site = Site::new(values);
    site.yields(values);
    // z = r²/(2R) reaches as high as it is wide, so that nothing gets out.
    let bowl = 2.0 * half + 4.0 * size;
    let depth = |x: f64, y: f64| (x * x + y * y) / bowl;
    let field = HeightField::sample(DVec2::splat(2.0 * bowl), 65, 65, depth);
    site.fixed("bowl", field, DVec3::ZERO, DQuat::IDENTITY);
    let mut random = Random(values.seed());
    let piece = Shape::Box {
        half_extents: 0.5 * size * DVec3::new(0.9, 0.4, 0.4),
    };
    for k in 0..count {
        let cell = DVec3::new((k % wide) as f64 + 0.5, (k / wide % wide) as f64 + 0.5, 0.0);
        let layer = (k / wide / wide) as f64;
        let at = apart * cell - DVec3::new(half, half, 0.0);
        let floor = depth(half, half);
        let at = at + DVec3::Z * (floor + apart * (layer + 1.0));
        let turned = DQuat::from_scaled_axis(random.direction());
        let side = turned * DVec3::X * (0.5 * size);
        let ends = [("first", -1.0), ("second", 1.0)].map(|(half, sign)| {
            let name = format!("pair-{k}-{half}");
            site.solid(name, piece.clone(), at + sign * side, turned)
        });
        let def = joint(k % 4, format!("joint-{k}"), ends, at, turned);
        // A slider without stops would come apart into two lone boxes.
        let def = if k % 4 == 3 {
            def.limits(0, -0.3 * size, 0.3 * size)
        } else {
            def
        };
        site.builder.joint(def);
    }
    site.scene(ENTRY.name, values)
}
