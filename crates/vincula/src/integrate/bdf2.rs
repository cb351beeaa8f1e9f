//! The second-order backward difference formula.
//!
//! With v⁺ = (3q⁺ − 4q + q⁻)/2h on both levels, the step equation has c = 9/(4h²),
//! q_pred = (4q − q⁻)/3 + (2h/9)(4q̇ − q̇⁻) + (4h²/9) M⁻¹f and γ = 3/(2h). A step without
//! history (the first, after an impact, after a change of h) is one of implicit Euler.

use super::euler::outside;
use super::kicks::KickBlock;
use super::newton::NewtonBlock;
use super::{Scheme, Tempering};
use crate::kernel;
use crate::math::lanes::{LANES, gather, scatter};
use crate::math::small::*;
use crate::model::{MemoryBlock, ParamBlock, StateBlock};

/// Coefficients of a BDF2 step.
pub fn scheme(h: f64) -> Scheme {
    Scheme {
        h,
        c: 2.25 / (h * h),
        gamma: 1.5 / h,
        tempering: Tempering::FULL,
    }
}

kernel! {
    /// Prediction from the last two states; the iterate starts there. `n.rot` holds the
    /// rotation of the state and is set anew by the caller.
    pub fn predict(params: &ParamBlock, state: &StateBlock, memory: &MemoryBlock, before: &StateBlock, kick: &KickBlock, scheme: &Scheme, n: &mut NewtonBlock) = predict_lanes
}

#[inline(always)]
fn predict_lanes(
    params: &ParamBlock,
    state: &StateBlock,
    memory: &MemoryBlock,
    before: &StateBlock,
    kick: &KickBlock,
    scheme: &Scheme,
    n: &mut NewtonBlock,
) {
    let h = scheme.h;
    for lane in 0..LANES {
        let body = params.affine(lane);
        let rot: M3 = gather(&n.rot, lane);
        let a: M3 = gather(&state.a, lane);
        let old: M3 = gather(&before.a, lane);
        // The outside forces as a change of velocity over h, to be scaled by 4/9 h.
        let (rate, v1) = outside(&body.inverse_inertia, &rot, state, kick, lane, h);
        let w1 = mul(&rot, &rate);
        let w0: M3 = gather(&state.w, lane);
        let w_old: M3 = gather(&before.w, lane);
        let mut a_pred = [0.0; 9];
        let mut w_pred = [0.0; 9];
        for k in 0..9 {
            a_pred[k] = (4.0 * a[k] - old[k]) / 3.0
                + (2.0 * h / 9.0) * (4.0 * w0[k] - w_old[k])
                + (4.0 * h / 9.0) * (w1[k] - w0[k]);
            w_pred[k] = (3.0 * a_pred[k] - 4.0 * a[k] + old[k]) / (2.0 * h);
        }
        let t: V3 = gather(&state.t, lane);
        let t_old: V3 = gather(&before.t, lane);
        let v0: V3 = gather(&state.v, lane);
        let v_old: V3 = gather(&before.v, lane);
        let mut t_pred = [0.0; 3];
        let mut v_pred = [0.0; 3];
        for k in 0..3 {
            t_pred[k] = (4.0 * t[k] - t_old[k]) / 3.0
                + (2.0 * h / 9.0) * (4.0 * v0[k] - v_old[k])
                + (4.0 * h / 9.0) * (v1[k] - v0[k]);
            v_pred[k] = (3.0 * t_pred[k] - 4.0 * t[k] + t_old[k]) / (2.0 * h);
        }
        scatter(&mut n.a, lane, &a_pred);
        scatter(&mut n.a_pred, lane, &a_pred);
        scatter(&mut n.t_pred, lane, &t_pred);
        scatter(&mut n.w, lane, &w_pred);
        scatter(&mut n.v, lane, &v_pred);
        scatter(&mut n.force, lane, &[0.0; 9]);
        let held: M3 = gather(&memory.load, lane);
        scatter(&mut n.held, lane, &held);
        scatter(&mut n.q, lane, &IDENTITY);
        let slow: V3 = gather(&memory.slow, lane);
        scatter(&mut n.slow, lane, &slow);
    }
}
