//! Implicit Euler: linearised once at the last state (the paper's step, Eq. 16), or to
//! convergence.
//!
//! `M (q⁺ − q − h q̇)/h² = f + Jᵀλ − ∂Ψ/∂q(q⁺)`, `q̇⁺ = (q⁺ − q)/h`: c = 1/h², γ = 1/h.
//!
//! [`launch`] and [`arrive`] are a step that is linearised once, in the frame of its start.

use super::kicks::KickBlock;
use super::newton::{AtPoints, NewtonBlock, Points, Pull, inverse, polar_lanes};
use super::ordinary::square;
use super::{Scheme, Tempering};
use crate::body::affine::strain;
use crate::kernel;
use crate::math::lanes::{LANES, all, flush, gather, scatter, worst};
use crate::math::small::*;
use crate::model::{MemoryBlock, ParamBlock, StateBlock};

/// Coefficients of an implicit Euler step. A single linearisation takes in only as much of the
/// stiffness of tension as keeps it stable: all of it would brake the motion.
pub fn scheme(h: f64, single: bool) -> Scheme {
    let tempering = if single {
        Tempering::GENTLE
    } else {
        Tempering::FULL
    };
    Scheme {
        h,
        c: 1.0 / (h * h),
        gamma: 1.0 / h,
        tempering,
    }
}

kernel! {
    /// Prediction by the last velocity; the iterate starts at the last pose.
    /// `n.rot` holds the rotation of the state.
    pub fn predict(params: &ParamBlock, state: &StateBlock, memory: &MemoryBlock, kick: &KickBlock, scheme: &Scheme, n: &mut NewtonBlock) = predict_lanes
}

#[inline(always)]
fn predict_lanes(
    params: &ParamBlock,
    state: &StateBlock,
    memory: &MemoryBlock,
    kick: &KickBlock,
    scheme: &Scheme,
    n: &mut NewtonBlock,
) {
    let h = scheme.h;
    for lane in 0..LANES {
        let body = params.affine(lane);
        let rot: M3 = gather(&n.rot, lane);
        let a: M3 = gather(&state.a, lane);
        let (rate, v) = outside(&body.inverse_inertia, &rot, state, kick, lane, h);
        let w = mul(&rot, &rate);
        scatter(&mut n.w, lane, &w);
        scatter(&mut n.v, lane, &v);
        scatter(&mut n.a, lane, &a);
        scatter(&mut n.a_pred, lane, &axpy9(&a, h, &w));
        scatter(&mut n.t_pred, lane, &axpy(&gather(&state.t, lane), h, &v));
        scatter(&mut n.force, lane, &[0.0; 9]);
        let held: M3 = gather(&memory.load, lane);
        scatter(&mut n.held, lane, &held);
        scatter(&mut n.q, lane, &IDENTITY);
        let slow: V3 = gather(&memory.slow, lane);
        scatter(&mut n.slow, lane, &slow);
    }
}

kernel! {
    /// Inverts H̄ at the last pose and solves without constraint forces. False when a body is
    /// crushed.
    pub fn launch(params: &ParamBlock, state: &StateBlock, memory: &MemoryBlock, kick: &KickBlock, scheme: &Scheme, n: &mut NewtonBlock) -> bool = launch_lanes
}

#[inline(always)]
pub(crate) fn launch_lanes(
    params: &ParamBlock,
    state: &StateBlock,
    memory: &MemoryBlock,
    kick: &KickBlock,
    scheme: &Scheme,
    n: &mut NewtonBlock,
) -> bool {
    if !polar_lanes(&state.a, &mut n.rot) {
        return false;
    }
    let h = scheme.h;
    for lane in 0..LANES {
        let body = params.affine(lane);
        let rot: M3 = gather(&n.rot, lane);
        let a: M3 = gather(&state.a, lane);
        let (rate, v) = outside(&body.inverse_inertia, &rot, state, kick, lane, h);
        let k: V3 = body.geometric_stiffness(&sym(&gather(&memory.load, lane)));
        let inverse = inverse(&body, scheme, &k);
        let inertial = mul_diag(&rate, &scale(&body.second, h * scheme.c));
        let elastic = full(&body.stress(&strain(&rot, &a)));
        let p = inverse.solve(&sub9(&inertial, &elastic));
        n.set_inverse(lane, &inverse);
        scatter(&mut n.p, lane, &p);
        scatter(&mut n.a, lane, &axpy9(&a, 1.0, &mul(&rot, &p)));
        scatter(&mut n.t, lane, &axpy(&gather(&state.t, lane), h, &v));
        scatter(&mut n.v, lane, &v);
    }
    true
}

kernel! {
    /// Adds the response to the joint forces, and writes the next state and what the next step
    /// remembers. Returns the largest increment of A, not a number if a body is not finite.
    pub fn arrive(scheme: &Scheme, points: &Points, forces: &Points, state: &StateBlock, past: &MemoryBlock, n: &mut NewtonBlock, next: &mut StateBlock, memory: &mut MemoryBlock) -> f64 = arrive_lanes
}

#[inline(always)]
#[allow(clippy::too_many_arguments)]
fn arrive_lanes(
    scheme: &Scheme,
    points: &Points,
    forces: &Points,
    state: &StateBlock,
    past: &MemoryBlock,
    n: &mut NewtonBlock,
    next: &mut StateBlock,
    memory: &mut MemoryBlock,
) -> f64 {
    let pull = AtPoints { points, forces };
    arrive_under(scheme, &pull, state, past, n, next, memory)
}

/// The same for any joints.
#[inline(always)]
pub(crate) fn arrive_under(
    scheme: &Scheme,
    pull: &impl Pull,
    state: &StateBlock,
    past: &MemoryBlock,
    n: &mut NewtonBlock,
    next: &mut StateBlock,
    memory: &mut MemoryBlock,
) -> f64 {
    let mut updates = [0.0; LANES];
    for lane in 0..LANES {
        let rot: M3 = gather(&n.rot, lane);
        let inverse = n.inverse_of(lane);
        let (load, thrust) = pull.on(&rot, lane);
        let p = inverse.solve(&load);
        let a = axpy9(&gather(&n.a, lane), 1.0, &mul(&rot, &p));
        let t = axpy(&gather(&n.t, lane), inverse.translation, &thrust);
        updates[lane] = max_abs(&axpy9(&gather(&n.p, lane), 1.0, &p));
        scatter(&mut n.a, lane, &a);
        scatter(&mut n.t, lane, &t);
        updates[lane] += end_lane(scheme, state, n, lane, (&load, &thrust), next, memory);
    }
    end_block(past, next, memory);
    worst(&updates)
}

/// Writes the next state, and what the next step remembers, of bodies that joints have moved; `pull`
/// is all that these do. False if a body is not finite.
#[inline(always)]
pub(crate) fn end_under(
    scheme: &Scheme,
    pull: &impl Pull,
    state: &StateBlock,
    past: &MemoryBlock,
    n: &NewtonBlock,
    next: &mut StateBlock,
    memory: &mut MemoryBlock,
) -> bool {
    let mut unsound = [0.0; LANES];
    for lane in 0..LANES {
        let (load, thrust) = pull.on(&gather(&n.rot, lane), lane);
        unsound[lane] = end_lane(scheme, state, n, lane, (&load, &thrust), next, memory);
    }
    end_block(past, next, memory);
    all(&unsound, |x| x == 0.0)
}

/// The end of one body under this load and thrust of its joints; zero if it is finite.
#[inline(always)]
fn end_lane(
    scheme: &Scheme,
    state: &StateBlock,
    n: &NewtonBlock,
    lane: usize,
    (load, thrust): (&M3, &V3),
    next: &mut StateBlock,
    memory: &mut MemoryBlock,
) -> f64 {
    let per_h = scheme.gamma;
    let (a, t): (M3, V3) = (gather(&n.a, lane), gather(&n.t, lane));
    let translation = n.inverse_of(lane).translation;
    let v = axpy(&gather(&n.v, lane), per_h * translation, thrust);
    let w = sub9(&a, &gather(&state.a, lane)).map(|x| per_h * x);
    scatter(&mut next.a, lane, &a);
    scatter(&mut next.t, lane, &t);
    scatter(&mut next.w, lane, &w);
    scatter(&mut next.v, lane, &v);
    scatter(&mut memory.load, lane, load);
    // 0·x is zero for finite x only.
    0.0 * (square(&a) + square(&w) + dot(&t, &t) + dot(&v, &v))
}

#[inline(always)]
fn end_block(past: &MemoryBlock, next: &mut StateBlock, memory: &mut MemoryBlock) {
    memory.slow = past.slow;
    flush(&mut next.a);
    flush(&mut next.w);
    flush(&mut next.v);
    flush(&mut memory.load);
}

/// The rate of A, in the frame `rot`, and the velocity after the outside forces of a whole step:
/// decay, then kick.
#[inline(always)]
pub(super) fn outside(
    inverse_inertia: &V3,
    rot: &M3,
    state: &StateBlock,
    kick: &KickBlock,
    lane: usize,
    h: f64,
) -> (M3, V3) {
    let mut rate = tmul(rot, &gather(&state.w, lane));
    // Decay per axis acts on the rates A_ij, A_ji of the pair normal to that axis.
    for (axis, i, j) in [(0, 1, 2), (1, 0, 2), (2, 0, 1)] {
        let decay = kick.angular_decay[axis][lane] * kick.angular_decay[axis][lane];
        rate[3 * i + j] *= decay;
        rate[3 * j + i] *= decay;
    }
    let torque = tmul_vec(rot, &gather(&kick.torque, lane));
    let alpha = times(&scale(&torque, h), inverse_inertia);
    let rate = axpy9(&rate, 1.0, &skew_matrix(&alpha));
    let wind: V3 = gather(&kick.wind, lane);
    let decay = kick.linear_decay[lane] * kick.linear_decay[lane];
    let v: V3 = gather(&state.v, lane);
    let slowed = axpy(&wind, decay, &sub(&v, &wind));
    (rate, axpy(&slowed, h, &gather(&kick.acceleration, lane)))
}
