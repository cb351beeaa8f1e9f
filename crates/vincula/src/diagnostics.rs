//! What a state amounts to: energies, momenta, gaps.

use glam::DVec3;

use crate::joint::Joint;
use crate::math::small::*;
use crate::math::to_vec;
use crate::model::{BodyId, JointId, Model, State};

/// Energies of a state, J.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Energy {
    /// Kinetic energy.
    pub kinetic: f64,
    /// Energy in gravity (zero at the origin), in the ground and in springs of joints.
    pub potential: f64,
    /// Energy of strain.
    pub elastic: f64,
}

impl Energy {
    /// The sum.
    pub fn total(&self) -> f64 {
        self.kinetic + self.potential + self.elastic
    }
}

/// Linear momentum, kg m/s, and angular momentum about the origin, kg m²/s.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Momentum {
    /// Linear momentum, kg m/s.
    pub linear: DVec3,
    /// Angular momentum about the origin of the world, kg m²/s.
    pub angular: DVec3,
}

/// Energies of all bodies.
pub fn energy(model: &Model, state: &State) -> Energy {
    let mut total = Energy::default();
    for id in model.body_ids() {
        let body = model.body(id);
        let affine = model.affine(id);
        let (_, rate, v) = state.rates(id);
        total.kinetic += affine.kinetic_energy(&rate, &v);
        total.elastic += affine.elastic_energy(&state.strain(id));
        let height = model.gravity().dot(state.center(id)) * body.gravity_scale;
        total.potential -= affine.mass * height;
        if let (Some(ground), Some(shape)) = (model.ground(), &body.shape) {
            total.potential += ground.energy(shape, &state.pose(model, id));
        }
    }
    for (joint, start) in model.joints().iter().zip(&model.axis_starts) {
        for (k, axis) in joint.axes.iter().enumerate() {
            let stretch = state.coordinates[start + k] - axis.law.spring.rest;
            total.potential += 0.5 * axis.law.spring.stiffness * stretch * stretch;
        }
    }
    total
}

/// Angular momentum of one body about its centre of mass, world, kg m²/s.
pub fn spin(model: &Model, state: &State, body: BodyId) -> DVec3 {
    let (rotation, rate, _) = state.rates(body);
    to_vec(&mul_vec(
        &rotation,
        &model.affine(body).angular_momentum(&rate),
    ))
}

/// Momentum of all bodies.
pub fn momentum(model: &Model, state: &State) -> Momentum {
    let mut total = Momentum::default();
    for id in model.body_ids() {
        let p = state.twist(model, id).linear * model.affine(id).mass;
        total.linear += p;
        total.angular += state.center(id).cross(p) + spin(model, state, id);
    }
    total
}

/// Largest violation of the rows of a joint, m.
pub fn joint_gap(model: &Model, state: &State, joint: JointId) -> f64 {
    let joint = model.joint(joint);
    joint.gap(&state.carried(&joint.a), &state.carried(&joint.b))
}

/// Largest violation among all joints, m, and the joint that has it.
pub fn worst_gap(model: &Model, state: &State) -> (f64, Option<JointId>) {
    let mut worst = (0.0, None);
    for id in model.joint_ids() {
        let gap = joint_gap(model, state, id);
        if gap > worst.0 || gap.is_nan() {
            worst = (gap, Some(id));
        }
    }
    worst
}

/// Force that a joint with a point (ball, hinge, universal, fixed) exerts on its second
/// body, mean over the last step, world, N. `None` for joints without a point.
pub fn reaction_force(model: &Model, state: &State, joint: JointId) -> Option<DVec3> {
    use crate::joint::rows::RowKind;
    let offset: usize = model.joints()[..joint.index()]
        .iter()
        .map(Joint::dual_rows)
        .sum();
    let kinds = model.joint(joint).row_kinds();
    if !matches!(kinds.first(), Some(RowKind::Point(0))) {
        return None;
    }
    let l = &state.multipliers[offset..offset + 3];
    // C = p_a − p_b and the force is −Jᵀλ: on the second body it is +λ.
    Some(DVec3::new(l[0], l[1], l[2]))
}
