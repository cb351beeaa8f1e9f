//! What a state amounts to: energies, momenta, gaps.

use glam::DVec3;

use crate::body::affine::strain;
use crate::joint::rows::{Gradient, RowKind};
use crate::joint::{Joint, Rule};
use crate::math::small::*;
use crate::math::to_vec;
use crate::model::{BodyId, CouplingId, JointId, Model, State};

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
        let own = body_energy(model, state, id);
        total.kinetic += own.kinetic;
        total.potential += own.potential;
        total.elastic += own.elastic;
    }
    for (joint, start) in model.joints().iter().zip(&model.axis_starts) {
        for (k, axis) in joint.axes.iter().enumerate() {
            let stretch = state.coordinates[start + k] - axis.law.spring.rest;
            total.potential += 0.5 * axis.law.spring.stiffness * stretch * stretch;
        }
    }
    total
}

/// Energies of one body; springs of joints belong to none.
pub fn body_energy(model: &Model, state: &State, id: BodyId) -> Energy {
    let (body, affine) = (model.body(id), model.affine(id));
    let (rotation, rate, v) = state.rates(id);
    let height = model.gravity().dot(state.center(id)) * body.gravity_scale;
    let mut potential = -(affine.mass * height);
    if let (Some(ground), Some(shape)) = (model.ground(), &body.shape) {
        potential += ground.energy(shape, &state.pose(model, id));
    }
    Energy {
        kinetic: affine.kinetic_energy(&rate, &v),
        potential,
        elastic: affine.elastic_energy(&strain(&rotation, &state.affine_map(id))),
    }
}

/// Angular momentum of one body about its centre of mass, world, kg m²/s.
pub fn spin(model: &Model, state: &State, body: BodyId) -> DVec3 {
    let (rotation, rate, _) = state.rates(body);
    spin_of(model, body, &rotation, &rate)
}

fn spin_of(model: &Model, body: BodyId, rotation: &M3, rate: &M3) -> DVec3 {
    let own = model.affine(body).angular_momentum(rate);
    to_vec(&mul_vec(rotation, &own))
}

/// Momentum of all bodies.
pub fn momentum(model: &Model, state: &State) -> Momentum {
    let mut total = Momentum::default();
    for id in model.body_ids() {
        let (rotation, rate, v) = state.rates(id);
        let p = to_vec(&v) * model.affine(id).mass;
        total.linear += p;
        total.angular += state.center(id).cross(p) + spin_of(model, id, &rotation, &rate);
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
    let offset = first_row(model, joint);
    let kinds = model.joint(joint).row_kinds();
    if !matches!(kinds.first(), Some(RowKind::Point(0))) {
        return None;
    }
    let l = &state.multipliers[offset..offset + 3];
    // C = p_a − p_b and the force is −Jᵀλ: on the second body it is +λ.
    Some(DVec3::new(l[0], l[1], l[2]))
}

/// First row of a joint among the rows of the dual system.
fn first_row(model: &Model, joint: JointId) -> usize {
    let before = &model.joints()[..joint.index()];
    before.iter().map(Joint::dual_rows).sum()
}

/// What a joint exerts on its second end, world, mean over the last step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Reaction {
    /// Where the joint holds the second end, m.
    pub point: DVec3,
    /// Force on the second end, N.
    pub force: DVec3,
    /// Torque on the second end about the point, N m.
    pub torque: DVec3,
}

/// Force and torque that a joint exerts on its second end: its constraints, and what acts
/// along its free coordinates. On the first end acts the opposite, at the same place.
pub fn reaction(model: &Model, state: &State, joint: JointId) -> Reaction {
    let offset = first_row(model, joint);
    let joint = model.joint(joint);
    let (a, b) = (state.carried(&joint.a), state.carried(&joint.b));
    let mut load = Gradient::ZERO;
    for row in 0..joint.dual_rows() {
        let lambda = state.multipliers[offset + row];
        load.add(&joint.linearize(row, &a, &b).scaled(-lambda).b);
    }
    let (affine, center) = match joint.b.endpoint.index().map(BodyId::new) {
        Some(body) => (state.affine_map(body), state.center(body)),
        None => (IDENTITY, DVec3::ZERO),
    };
    // F : [ω]A = ω · τ for every ω.
    let n = mult(&load.a, &affine);
    let about_center = DVec3::new(n[7] - n[5], n[2] - n[6], n[3] - n[1]);
    let (point, force) = (to_vec(&b.point), to_vec(&load.t));
    Reaction {
        point,
        force,
        torque: about_center - (point - center).cross(force),
    }
}

/// By how much a coupling is missed: Σ k x − c, rad or m, on position level; on velocity
/// level Σ k ẋ − c, rad/s or m/s, or the largest slip, m/s, for the rates of the model.
pub fn coupling_error(model: &Model, state: &State, coupling: CouplingId) -> f64 {
    let it = model.coupling(coupling);
    let value = |k: usize| {
        let c = it.terms()[k].coordinate;
        let read = if it.is_velocity() {
            state.coordinate_rate(model, c.joint, c.axis)
        } else {
            state.coordinate(model, c.joint, c.axis)
        };
        it.terms()[k].factor * read.unwrap_or(f64::NAN)
    };
    match it.rule {
        Rule::Sum { constant, .. } => (0..it.terms().len()).map(value).sum::<f64>() - constant,
        Rule::Rates { rate, .. } => (0..it.terms().len()).map(value).sum::<f64>() - rate,
        Rule::Skate { .. } | Rule::Roll { .. } => (0..it.rows())
            .map(|part| {
                let mut rate = -it.rate();
                let at = |side: &_| state.carried(side);
                it.linearize(model.joints(), &[], part, at, |side, gradient| {
                    rate += state.rate_along(side, gradient);
                });
                rate.abs()
            })
            .fold(0.0, f64::max),
    }
}

/// Force or torque that a coupling exerts along the coordinate of one of its terms, forwards,
/// N or N m, mean over the last step. `None` when it has no such term.
pub fn coupling_effort(
    model: &Model,
    state: &State,
    coupling: CouplingId,
    term: usize,
) -> Option<f64> {
    let it = model.coupling(coupling);
    let factor = it.terms().get(term)?.factor;
    let joints: usize = model.joints().iter().map(Joint::dual_rows).sum();
    let before = &model.couplings()[..coupling.index()];
    let row = joints + before.iter().map(|c| c.rows()).sum::<usize>();
    Some(-it.length * factor * state.multipliers[row])
}
