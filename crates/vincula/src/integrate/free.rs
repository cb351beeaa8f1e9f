//! The tempered step of eight unstrained bodies that no joint holds: kick, flight, kick.
//!
//! Without joints and strain the step of `tempered.rs` is the ballistic rotation alone, and
//! needs neither Newton's method nor its memory.

use super::flight::{glide, is_round, is_steady, spin, wobbles};
use super::kicks::KickBlock;
use super::tempered::kicked_velocity;
use crate::kernel;
use crate::math::lanes::{LANES, Lane, gather, scatter, sum};
use crate::math::rotation::newton_schulz;
use crate::math::small::*;
use crate::model::{ParamBlock, StateBlock};

/// Strain, and strain per step, below which a body counts as unstrained.
const UNSTRAINED: f64 = 1e-13;

kernel! {
    /// Advances eight bodies by h (`plain`: no torque and no damping acts); false, with `next` unusable, when one is strained, turns
    /// faster than one substep resolves, or is not finite.
    pub fn advance(params: &ParamBlock, past: &StateBlock, kick: &KickBlock, plain: bool, h: f64, next: &mut StateBlock) -> bool = advance_lanes
}

#[inline(always)]
fn advance_lanes(
    params: &ParamBlock,
    past: &StateBlock,
    kick: &KickBlock,
    plain: bool,
    h: f64,
    next: &mut StateBlock,
) -> bool {
    if plain {
        advance_with::<true>(params, past, kick, h, next)
    } else {
        advance_with::<false>(params, past, kick, h, next)
    }
}

/// `PLAIN` promises that no torque and no damping acts on the bodies.
#[inline(always)]
fn advance_with<const PLAIN: bool>(
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
        let torque = local_torque::<PLAIN>(&r, kick, lane);
        // A rate that is all rotation has no symmetric part.
        let [xx, yy, zz, xy, xz, yz] = sym(&rate);
        let straining = (xx.abs() + yy.abs() + zz.abs()) + (xy.abs() + xz.abs() + yz.abs());
        off[lane] = error.max(h * straining);
        for k in 0..3 {
            momentum[k][lane] = if PLAIN {
                l[k]
            } else {
                l[k] * kick.angular_decay[k][lane] + 0.5 * h * torque[k]
            };
        }
        scatter(&mut rot, lane, &r);
    }
    // Not a number is not below anything either.
    if !(sum(&off) < UNSTRAINED) {
        return false;
    }
    let inverse = &params.inverse_inertia;
    if is_round(params) {
        spin::<false>(inverse, h, &mut momentum, &mut rot);
    } else {
        let wobbles = wobbles(params, h, &momentum);
        if !is_steady(&wobbles) {
            return false;
        }
        glide::<false, true>(inverse, h, 1.0, &wobbles, &mut momentum, &mut rot);
    }
    // 0·x is zero for finite x only.
    let mut unsound: Lane = [0.0; LANES];
    for lane in 0..LANES {
        let body = params.affine(lane);
        let r: M3 = gather(&rot, lane);
        let torque = local_torque::<PLAIN>(&r, kick, lane);
        let mut l = [0.0; 3];
        for k in 0..3 {
            l[k] = if PLAIN {
                momentum[k][lane]
            } else {
                (momentum[k][lane] + 0.5 * h * torque[k]) * kick.angular_decay[k][lane]
            };
        }
        let omega = body.angular_velocity(&l);
        let w = mul_skew(&r, &omega);
        scatter(&mut next.a, lane, &r);
        scatter(&mut next.w, lane, &w);
        let acceleration: V3 = gather(&kick.acceleration, lane);
        let v = if PLAIN {
            axpy(&gather(&past.v, lane), 0.5 * h, &acceleration)
        } else {
            kicked_velocity(&gather(&past.v, lane), kick, lane, h)
        };
        let t = axpy(&gather(&past.t, lane), h, &v);
        scatter(&mut next.t, lane, &t);
        let mut v = axpy(&v, 0.5 * h, &acceleration);
        if !PLAIN {
            let wind: V3 = gather(&kick.wind, lane);
            v = axpy(&wind, kick.linear_decay[lane], &sub(&v, &wind));
        }
        scatter(&mut next.v, lane, &v);
        // The rotation is sound, or it would count as strained.
        let rates = l[0] + l[1] + l[2];
        let places = t[0] + t[1] + t[2];
        unsound[lane] = 0.0 * ((v[0] + v[1] + v[2]) + rates + places);
    }
    sum(&unsound) == 0.0
}

/// The torque in the frame R, if there is one.
#[inline(always)]
fn local_torque<const PLAIN: bool>(r: &M3, kick: &KickBlock, lane: usize) -> V3 {
    if PLAIN {
        [0.0; 3]
    } else {
        tmul_vec(r, &gather(&kick.torque, lane))
    }
}
