//! Implicit Euler: linearised once at the last state (the paper's step, Eq. 16), or to
//! convergence.
//!
//! `M (q⁺ − q − h q̇)/h² = f + Jᵀλ − ∂Ψ/∂q(q⁺)`, `q̇⁺ = (q⁺ − q)/h`: c = 1/h², γ = 1/h.

use super::tempered::KickBlock;
use super::{Scheme, Tempering};
use crate::kernel;
use crate::math::lanes::{LANES, gather, scatter};
use crate::math::small::*;
use crate::model::{MemoryBlock, ParamBlock, StateBlock};

use super::newton::NewtonBlock;

/// Coefficients of an implicit Euler step. A single linearisation leaves out the stiffness
/// of stress: the squares of the rotation that it takes for strain would brake the motion.
pub fn scheme(h: f64, single: bool) -> Scheme {
    let tempering = if single {
        Tempering::OFF
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
        let (w, v) = outside(&body.second, &rot, state, kick, lane, h);
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

/// The velocity after the outside forces of a whole step: decay, then kick.
#[inline(always)]
pub(super) fn outside(
    second: &V3,
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
    let inertia = [
        second[1] + second[2],
        second[0] + second[2],
        second[0] + second[1],
    ];
    let alpha = [
        h * torque[0] / inertia[0],
        h * torque[1] / inertia[1],
        h * torque[2] / inertia[2],
    ];
    let w = mul(rot, &axpy9(&rate, 1.0, &skew_matrix(&alpha)));
    let wind: V3 = gather(&kick.wind, lane);
    let decay = kick.linear_decay[lane] * kick.linear_decay[lane];
    let v: V3 = gather(&state.v, lane);
    let slowed = axpy(&wind, decay, &sub(&v, &wind));
    (w, axpy(&slowed, h, &gather(&kick.acceleration, lane)))
}
