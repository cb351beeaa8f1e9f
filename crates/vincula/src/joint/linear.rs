//! The linear form of hinges and universal joints (He et al. 2026, sections 4.3 and 4.4).
//!
//! A hinge is two ball joints on its axis: six rows, all linear in the affine coordinates,
//! one of which only the stiffness of the bodies resists. A universal joint is two such
//! hinges square to each other on a small virtual body, the cross. Nothing needs a second
//! solve, at the price of more and redundant rows; the compact form is the default.

use glam::{DMat3, DQuat, DVec3};

use super::{JointDef, JointKind, characteristic_length, check_ends};
use crate::body::shape::Shape;
use crate::model::{Body, BodyDef, BodyId, Endpoint, ModelError, Pose};

/// Which rows a hinge or a universal joint is made of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum JointForm {
    /// As few rows as a rigid joint has: 5 for a hinge, 4 for a universal joint.
    #[default]
    Compact,
    /// Linear rows: 6 for a hinge; 12 and a virtual body for a universal joint.
    Linear,
}

/// Mass of the cross over that of the lighter body.
const CROSS_MASS: f64 = 1e-3;
/// Half the edge of the cross over the length of the joint.
const CROSS_SIZE: f64 = 0.3;

/// Replaces universal joints in linear form: the first hinge takes the place of the joint,
/// the second hinges and the crosses come after all others.
pub(crate) fn expand(
    defs: Vec<JointDef>,
    bodies: &mut Vec<Body>,
) -> Result<Vec<JointDef>, ModelError> {
    let mut joints = Vec::with_capacity(defs.len());
    let mut seconds = Vec::new();
    for def in defs {
        if def.form == JointForm::Linear && def.kind == JointKind::Universal {
            let (cross, first, second) = split(&def, bodies)?;
            bodies.push(cross);
            joints.push(first);
            seconds.push(second);
        } else {
            joints.push(def);
        }
    }
    joints.append(&mut seconds);
    Ok(joints)
}

fn split(def: &JointDef, bodies: &[Body]) -> Result<(Body, JointDef, JointDef), ModelError> {
    let wrong = |reason: String| ModelError::Joint {
        joint: def.name.clone(),
        reason,
    };
    check_ends(def, bodies).map_err(wrong)?;
    if def.has_laws() {
        return Err(wrong(
            "a universal joint in linear form has no room for laws; use the compact form".into(),
        ));
    }
    let [frame_a, frame_b] = def.frames(bodies).map_err(wrong)?;
    let place = |end: Endpoint, frame: &Pose| match end.index() {
        Some(i) => bodies[i].initial_pose.compose(frame),
        None => *frame,
    };
    let (at_a, at_b) = (place(def.a, &frame_a), place(def.b, &frame_b));
    let z = at_a.rotation * DVec3::Z;
    let x = at_b.rotation * DVec3::X;
    let x = (x - z * z.dot(x))
        .try_normalize()
        .ok_or_else(|| wrong("its two axes are parallel; they must be perpendicular".into()))?;
    let turn = DQuat::from_mat3(&DMat3::from_cols(x, z.cross(x), z)).normalize();
    let cross = cross_body(def, bodies, at_a.translation, turn)?;
    let id = BodyId::new(bodies.len());
    let mut first = JointDef::with_frames(
        def.name.clone(),
        JointKind::Hinge,
        def.a,
        id,
        [frame_a, Pose::IDENTITY],
    );
    // The axis of the second hinge is x.
    let sideways = Pose {
        translation: DVec3::ZERO,
        rotation: DQuat::from_rotation_y(std::f64::consts::FRAC_PI_2),
    };
    let mut second = JointDef::with_frames(
        format!("{}/second", def.name),
        JointKind::Hinge,
        id,
        def.b,
        [sideways, frame_b.compose(&sideways)],
    );
    first.form = JointForm::Linear;
    second.form = JointForm::Linear;
    Ok((cross, first, second))
}

/// The virtual body: light, without weight, moving with the first end.
fn cross_body(def: &JointDef, bodies: &[Body], at: DVec3, turn: DQuat) -> Result<Body, ModelError> {
    let half_extents = DVec3::splat(CROSS_SIZE * characteristic_length(def, bodies));
    let ends = [def.a, def.b].into_iter().filter_map(Endpoint::index);
    let lighter = ends
        .map(|i| bodies[i].mass.mass)
        .fold(f64::INFINITY, f64::min);
    let (linear, angular) = match def.a.index().map(|i| &bodies[i]) {
        Some(body) => {
            let twist = body.initial_twist;
            let arm = at - body.initial_pose.point(body.mass.center);
            (twist.linear + twist.angular.cross(arm), twist.angular)
        }
        None => (DVec3::ZERO, DVec3::ZERO),
    };
    BodyDef::new(
        format!("{}/cross", def.name),
        Shape::Box { half_extents },
        1000.0,
    )
    .mass(CROSS_MASS * lighter)
    .gravity_scale(0.0)
    .at(at)
    .turned(turn)
    .moving(linear, angular)
    .build()
}
