//! Rows whose force turns with the bodies.
//!
//! A ball joint's force keeps its direction in the world during a step; what `tempered.rs`
//! corrects is its lever arm. The gradient of every other row turns: for the force λ that the
//! row had at the start, RATTLE applies `J(start)ᵀλ`, the linear solve about the predicted
//! pose `J(predicted)ᵀλ`. The difference is an outside load. With it the forces on the two
//! bodies of a joint are opposite, so that angular momentum is kept, and the step is of second
//! order.

use super::Dual;
use super::linearize::carried;
use crate::integrate::Scheme;
use crate::integrate::newton::NewtonBlock;
use crate::joint::rows::Gradient;
use crate::math::lanes::{gather, place, scatter};
use crate::math::small::*;
use crate::model::{Model, State};

impl Dual {
    /// Adds to every body what its rows lose by turning from the start of the step to the
    /// iterate, for the given forces of all rows, N.
    pub(crate) fn add_turning_loads(
        &mut self,
        model: &Model,
        state: &State,
        scheme: &Scheme,
        forces: &[f64],
        work: &mut [NewtonBlock],
    ) {
        self.turn_border(
            model,
            state,
            forces,
            work,
            |body, force, before, after, work| {
                add_load(Some(body), -force, before, after, scheme, model, work);
            },
        );
        if self.general.is_empty() {
            return;
        }
        for (index, joint) in model.joints.iter().enumerate() {
            let rows = &self.joints[index];
            let first = if rows.points { 3 } else { 0 };
            let lambda = &forces[self.offsets[index] + first..self.offsets[index + 1]];
            if lambda.iter().all(|l| *l == 0.0) {
                continue;
            }
            let start = (state.carried(&joint.a), state.carried(&joint.b));
            let now = carried(joint, work);
            for (k, l) in lambda.iter().enumerate() {
                let before = joint.linearize(first + k, &start.0, &start.1);
                let after = joint.linearize(first + k, &now.0, &now.1);
                add_load(
                    joint.a.endpoint.index(),
                    -l,
                    &before.a,
                    &after.a,
                    scheme,
                    model,
                    work,
                );
                add_load(
                    joint.b.endpoint.index(),
                    -l,
                    &before.b,
                    &after.b,
                    scheme,
                    model,
                    work,
                );
            }
        }
    }
}

/// Adds k (before − after): to the load on A, and to the predicted motion of the centre.
fn add_load(
    body: Option<usize>,
    k: f64,
    before: &Gradient,
    after: &Gradient,
    scheme: &Scheme,
    model: &Model,
    work: &mut [NewtonBlock],
) {
    let Some(body) = body else { return };
    let (block, lane) = place(body);
    let n = &mut work[block];
    let affine = model.params[block].affine(lane);
    let rot: M3 = gather(&n.rot, lane);
    // Only the torque matters, tempered like that of the lever arms.
    let mut torque = scale(&axial(&tmul(&rot, &sub9(&before.a, &after.a))), k);
    let stiffness = affine.geometric_stiffness(&sym(&gather(&n.held, lane)));
    let inertia = affine.inertia();
    for axis in 0..3 {
        torque[axis] *= 1.0
            - scheme
                .tempering
                .phi(scheme.h, stiffness[axis], inertia[axis]);
    }
    let force: M3 = gather(&n.force, lane);
    let load = axpy9(&force, 1.0, &mul(&rot, &skew_matrix(&torque)));
    scatter(&mut n.force, lane, &load);
    let push = scale(&sub(&before.t, &after.t), k);
    // c = 2/h²: half a kick over the whole step.
    let moved = scale(&push, 1.0 / (scheme.c * affine.mass));
    let t: V3 = gather(&n.t_pred, lane);
    scatter(&mut n.t_pred, lane, &add(&t, &moved));
    let v: V3 = gather(&n.v, lane);
    scatter(&mut n.v, lane, &axpy(&v, scheme.gamma, &moved));
}
