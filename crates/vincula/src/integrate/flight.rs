//! Ballistic rotation of eight bodies: `R Q` with `Q = exp(h ω̃)`, `ω̃ = I⁻¹ (L̄ + L̄⁺)/2` and
//! `L̄⁺ = QᵀL̄`.
//!
//! It keeps the angular momentum in space to rounding and the energy as far as the fixed point in
//! L̄⁺ is found. A step that turns a body too far for that is flown in parts.

use crate::math::lanes::{LANES, Lane, all, gather, largest, scatter};
use crate::math::rotation::{exp, turn_back};
use crate::math::small::*;
use crate::model::ParamBlock;

/// Wobble of a flight that the fixed point still contracts quickly. No such flight turns by more
/// than half a radian, where the short series of the rotation is exact to rounding.
const STEADY: f64 = 0.25;
/// Angle of a flight, rad, at which each iteration leaves a quarter of the error.
const QUARTER: f64 = 0.5;
/// More flights than this are not made; the spin is then far beyond the step.
const MOST: f64 = 64.0;

/// How hard a flight is for the fixed point, squared: the largest `h |L̄| (1/I_min − 1/I_max)`, or
/// the angle of the step in units in which [`QUARTER`] is [`STEADY`]. A body that is almost a
/// ball wobbles little, but each iteration still contracts by half the angle only.
#[inline(always)]
pub(super) fn wobbles(params: &ParamBlock, h: f64, momentum: &[Lane; 3]) -> Lane {
    let mut wobbles = [0.0; LANES];
    for lane in 0..LANES {
        let i: V3 = gather(&params.inverse_inertia, lane);
        let l: V3 = gather(momentum, lane);
        let most = i[0].max(i[1]).max(i[2]);
        let spread = h * (most - i[0].min(i[1]).min(i[2])).max(most * (STEADY / QUARTER));
        wobbles[lane] = dot(&l, &l) * spread * spread;
    }
    wobbles
}

/// Whether one flight is enough for all eight; not so where one is not a number.
#[inline(always)]
pub(super) fn is_steady(wobbles: &Lane) -> bool {
    all(wobbles, |w| w <= STEADY * STEADY)
}

/// Ballistic rotation: writes Q and the angular momentum after it, both in the body.
#[inline(always)]
pub(super) fn fly(params: &ParamBlock, h: f64, momentum: &mut [Lane; 3], q: &mut [Lane; 9]) {
    let wobbles = wobbles(params, h, momentum);
    let inverse = &params.inverse_inertia;
    if is_steady(&wobbles) {
        return glide::<true, true>(inverse, h, 1.0, &wobbles, momentum, q);
    }
    let flights = (largest(&wobbles).sqrt() / STEADY).ceil().clamp(1.0, MOST);
    for (k, q) in q.iter_mut().enumerate() {
        *q = [IDENTITY[k]; LANES];
    }
    let share = 1.0 / flights;
    let wobbles = wobbles.map(|w| w * share * share);
    let steady = flights < MOST;
    for _ in 0..flights as usize {
        // Errors of several flights add up.
        let (h, strict) = (h * share, share * share);
        if steady {
            glide::<false, true>(inverse, h, strict, &wobbles, momentum, q);
        } else {
            glide::<false, false>(inverse, h, strict, &wobbles, momentum, q);
        }
    }
}

/// Relative change of L̄ at which the fixed point stops, for a wobble of one: the next iteration
/// would leave the square of a quarter of the wobble of it, which then is below 3e-13.
const FLOWN: f64 = 4.8e-12;
/// Squared wobble below which the change need not be larger.
const CALM: f64 = 1e-5;

/// One flight: turns the angular momentum, and `q` after what it held, or from nothing in the
/// `FIRST`. `STEADY_ALL` promises that all eight are steady; the limit is `strict` times as large.
#[inline(always)]
pub(super) fn glide<const FIRST: bool, const STEADY_ALL: bool>(
    inverse: &[Lane; 3],
    h: f64,
    strict: f64,
    wobbles: &Lane,
    momentum: &mut [Lane; 3],
    q: &mut [Lane; 9],
) {
    let start = *momentum;
    let limit = (FLOWN * strict) * (FLOWN * strict);
    // (L̄ + L̄⁺)/2 to second order by Euler's equations, L̄˙ = L̄ × ω.
    for lane in 0..LANES {
        let inv: V3 = gather(inverse, lane);
        let l: V3 = gather(&start, lane);
        let omega = times(&l, &inv);
        let first = cross(&l, &omega);
        let second = add(&cross(&first, &omega), &cross(&l, &times(&first, &inv)));
        let end = axpy(&axpy(&l, h, &first), 0.5 * h * h, &second);
        scatter(momentum, lane, &end);
    }
    for _ in 0..20 {
        let mut change = [0.0; LANES];
        for lane in 0..LANES {
            let inv: V3 = gather(inverse, lane);
            let l: V3 = gather(&start, lane);
            let end: V3 = gather(momentum, lane);
            let w = scale(&times(&add(&l, &end), &inv), 0.5 * h);
            let after = turn_back::<STEADY_ALL>(&w, &l);
            // One term of Newton's method: the turn changes by half of what L̄⁺ changes by.
            let d = sub(&after, &end);
            let newton = cross(&after, &times(&d, &inv));
            let wobble = wobbles[lane].max(CALM);
            change[lane] = dot(&d, &d) * (wobble * wobble) - limit * dot(&l, &l);
            scatter(momentum, lane, &axpy(&after, 0.5 * h, &newton));
        }
        if all(&change, |c| c <= 0.0) {
            break;
        }
    }
    for lane in 0..LANES {
        let l: V3 = gather(&start, lane);
        let end: V3 = gather(momentum, lane);
        let w = scale(&times(&add(&l, &end), &gather(inverse, lane)), 0.5 * h);
        let turn = exp::<STEADY_ALL>(&w);
        // With the same turn the momentum in space is kept to rounding, converged or not.
        scatter(momentum, lane, &tmul_vec(&turn, &l));
        let turn = if FIRST {
            turn
        } else {
            mul(&gather(q, lane), &turn)
        };
        scatter(q, lane, &turn);
    }
}
