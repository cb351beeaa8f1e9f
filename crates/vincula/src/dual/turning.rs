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
use crate::integrate::tempered::Turning;
use crate::joint::rows::Gradient;
use crate::math::lanes::{LANES, gather, place, scatter};
use crate::math::rotation::polar;
use crate::math::small::*;
use crate::model::{MemoryBlock, Model, State};

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
                let mut turned = Gradient::ZERO;
                turned.add_difference(-force, before, after);
                add_load(body, &turned, scheme, model, work);
            },
        );
        if self.general.is_empty() {
            return;
        }
        self.turn_squares(model, state, scheme, forces, work);
        for index in self.turning.iter().map(|&joint| joint as usize) {
            let (rows, joint) = (&self.joints[index], &model.joints[index]);
            let first = if rows.points { 3 } else { 0 };
            let lambda = &forces[self.offsets[index] + first..self.offsets[index + 1]];
            let mut others = lambda.iter().enumerate();
            if others.all(|(k, l)| *l == 0.0 || rows.is_square(k)) {
                continue;
            }
            let start = (state.carried(&joint.a), state.carried(&joint.b));
            let now = carried(joint, work);
            let mut turned = [Gradient::ZERO; 2];
            for (k, l) in lambda.iter().enumerate() {
                if rows.is_square(k) {
                    continue;
                }
                let before = joint.linearize(first + k, &start.0, &start.1);
                let after = joint.linearize(first + k, &now.0, &now.1);
                turned[0].add_difference(-l, &before.a, &after.a);
                turned[1].add_difference(-l, &before.b, &after.b);
            }
            for (side, turned) in [&joint.a, &joint.b].into_iter().zip(&turned) {
                if let Some(body) = side.endpoint.index() {
                    add_load(body, turned, scheme, model, work);
                }
            }
        }
    }
}

impl Dual {
    /// Loads on A that the forces of all rows, N, put on the bodies at a state, body frame.
    pub(crate) fn loads_at(
        &mut self,
        model: &Model,
        state: &State,
        forces: &[f64],
        memory: &mut [MemoryBlock],
    ) {
        for block in memory.iter_mut() {
            block.load = [[0.0; LANES]; 9];
        }
        for (index, joint) in model.joints.iter().enumerate() {
            let (a, b) = (state.carried(&joint.a), state.carried(&joint.b));
            let lambda = &forces[self.offsets[index]..self.offsets[index + 1]];
            for (k, l) in lambda.iter().enumerate() {
                let row = joint.linearize(k, &a, &b);
                for (side, gradient) in [(&joint.a, &row.a), (&joint.b, &row.b)] {
                    if let Some(body) = side.endpoint.index() {
                        load_body(state, body, *l, gradient, memory);
                    }
                }
            }
        }
        self.border_at(model, state, forces, |body, force, gradient| {
            load_body(state, body, force, gradient, memory);
        });
    }
}

/// Adds the load on A of a force along a gradient, body frame of the state.
fn load_body(
    state: &State,
    body: usize,
    force: f64,
    gradient: &Gradient,
    memory: &mut [MemoryBlock],
) {
    let (block, lane) = place(body);
    let map: M3 = gather(&state.blocks[block].a, lane);
    let rot = polar(&map).unwrap_or(map);
    let load: M3 = gather(&memory[block].load, lane);
    let load = axpy9(&load, -force, &tmul(&rot, &gradient.a));
    scatter(&mut memory[block].load, lane, &load);
}

/// Adds what rows lose by turning: to the load on A, and to the predicted motion of the centre.
fn add_load(
    body: usize,
    turned: &Gradient,
    scheme: &Scheme,
    model: &Model,
    work: &mut [NewtonBlock],
) {
    let (block, lane) = place(body);
    let n = &mut work[block];
    let affine = model.params[block].affine(lane);
    let rot: M3 = gather(&n.rot, lane);
    // Only the torque matters, tempered like that of the lever arms.
    let torque = scale(&axial(&tmul(&rot, &turned.a)), 2.0);
    let turning = Turning::new(&affine, scheme, &gather(&n.held, lane));
    let load = turning.load(&affine, scheme, &torque);
    let force: M3 = gather(&n.force, lane);
    scatter(&mut n.force, lane, &axpy9(&force, 1.0, &mul(&rot, &load)));
    // c = 2/h²: half a kick over the whole step.
    let moved = scale(&turned.t, 1.0 / (scheme.c * affine.mass));
    let t: V3 = gather(&n.t_pred, lane);
    scatter(&mut n.t_pred, lane, &add(&t, &moved));
    let v: V3 = gather(&n.v, lane);
    scatter(&mut n.v, lane, &axpy(&v, scheme.gamma, &moved));
}
