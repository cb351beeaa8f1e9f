//! The tempered step of eight unstrained bodies that no joint holds: kick, flight, kick.
//!
//! Without joints and strain the step of `tempered.rs` is the ballistic rotation alone, and
//! needs neither Newton's method nor its memory.

use super::tempered::{FLOWN, KickBlock, STEADY, fly_lanes, kicked_velocity, wobble_lanes};
use crate::kernel;
use crate::math::lanes::{LANES, Lane, gather, scatter};
use crate::math::rotation::newton_schulz;
use crate::math::small::*;
use crate::model::{ParamBlock, StateBlock};

/// Strain, and strain per step, below which a body counts as unstrained.
const UNSTRAINED: f64 = 1e-13;

kernel! {
    /// Advances eight bodies by h; false, with `next` unusable, when one is strained, turns
    /// faster than one substep resolves, or is not finite.
    pub fn advance(params: &ParamBlock, past: &StateBlock, kick: &KickBlock, h: f64, next: &mut StateBlock) -> bool = advance_lanes
}

#[inline(always)]
fn advance_lanes(
    params: &ParamBlock,
    past: &StateBlock,
    kick: &KickBlock,
    h: f64,
    next: &mut StateBlock,
) -> bool {
    let mut momentum = [[0.0; LANES]; 3];
    let mut rot = [[0.0; LANES]; 9];
    let mut off: Lane = [0.0; LANES];
    for lane in 0..LANES {
        let body = params.affine(lane);
        let (r, error) = newton_schulz(&gather(&past.a, lane));
        let rate = tmul(&r, &gather(&past.w, lane));
        let l = body.angular_momentum(&rate);
        let spin = skew_matrix(&body.angular_velocity(&l));
        let torque = tmul_vec(&r, &gather(&kick.torque, lane));
        off[lane] = error.max(h * max_abs(&sub9(&rate, &spin)));
        for k in 0..3 {
            momentum[k][lane] = l[k] * kick.angular_decay[k][lane] + 0.5 * h * torque[k];
        }
        scatter(&mut rot, lane, &r);
    }
    let wobble = wobble_lanes(params, h, &momentum);
    if !(off.iter().fold(0.0, |m: f64, x| m.max(*x)) < UNSTRAINED && wobble < STEADY) {
        return false;
    }
    let mut q = [[0.0; LANES]; 9];
    for k in [0, 4, 8] {
        q[k] = [1.0; LANES];
    }
    fly_lanes(params, h, FLOWN, &mut momentum, &mut q);
    // 0·x is zero for finite x only.
    let mut unsound: Lane = [0.0; LANES];
    for lane in 0..LANES {
        let body = params.affine(lane);
        let r = mul(&gather(&rot, lane), &gather(&q, lane));
        let torque = tmul_vec(&r, &gather(&kick.torque, lane));
        let mut l = [0.0; 3];
        for k in 0..3 {
            l[k] = (momentum[k][lane] + 0.5 * h * torque[k]) * kick.angular_decay[k][lane];
        }
        let omega = body.angular_velocity(&l);
        let w = mul(&r, &skew_matrix(&omega));
        scatter(&mut next.slow, lane, &mul_vec(&r, &omega));
        scatter(&mut next.a, lane, &r);
        scatter(&mut next.w, lane, &w);
        let v = kicked_velocity(&gather(&past.v, lane), kick, lane, h);
        scatter(&mut next.t, lane, &axpy(&gather(&past.t, lane), h, &v));
        let wind: V3 = gather(&kick.wind, lane);
        let v = axpy(&v, 0.5 * h, &gather(&kick.acceleration, lane));
        let v = axpy(&wind, kick.linear_decay[lane], &sub(&v, &wind));
        scatter(&mut next.v, lane, &v);
        scatter(&mut next.load, lane, &[0.0; 9]);
        // A non-finite rotation or momentum shows in the rate.
        let rates = (w[0] + w[4] + w[8]) + (w[1] + w[2] + w[3]) + (w[5] + w[6] + w[7]);
        let places = next.t[0][lane] + next.t[1][lane] + next.t[2][lane];
        unsound[lane] = 0.0 * ((v[0] + v[1] + v[2]) + rates + places);
    }
    unsound == [0.0; LANES]
}
