//! Ballistic rotation of eight bodies: `R Q` with `Q = exp(h ω̃)`, `ω̃ = I⁻¹ (L̄ + L̄⁺)/2` and
//! `L̄⁺ = QᵀL̄`.
//!
//! It keeps the angular momentum in space to rounding and the energy as far as the fixed point in
//! L̄⁺ is found. A step that turns a body too far for that is flown in parts.
//!
//! Bodies with two equal moments of inertia, rods and cubes and balls, need neither. With 1/I the
//! inverse of those two, their angular velocity `L̄/I + d` is that of L̄, which stands still in
//! space, and a spin d about the third axis, which does not change: `Q = exp(h L̄/I) exp(h d)` is
//! the exact motion, at any spin.

use crate::math::lanes::{LANES, Lane, all, gather, largest, scatter};
use crate::math::rotation::{SHORT_SERIES, exp, turn_back};
use crate::math::small::*;
use crate::model::ParamBlock;

/// Wobble of a flight that the fixed point still contracts quickly. No such flight turns by more
/// than half a radian, where the short series of the rotation is exact to rounding.
const STEADY: f64 = 0.25;
/// Angle of a flight, rad, at which each iteration leaves a quarter of the error.
const QUARTER: f64 = 0.5;
/// More flights than this are not made; the spin is then far beyond the step.
const MOST: f64 = 64.0;

/// Relative difference of moments of inertia that count as equal.
const EQUAL: f64 = 1e-13;

/// The inverse moment of inertia that two of three have in common, if two have.
#[inline(always)]
fn common(inverse: &V3) -> f64 {
    let [a, b, c] = *inverse;
    a.min(b).max(a.max(b).min(c))
}

/// Whether each of the eight has two equal moments of inertia.
#[inline(always)]
pub(super) fn is_round(params: &ParamBlock) -> bool {
    let mut apart = [0.0; LANES];
    for lane in 0..LANES {
        let inverse: V3 = gather(&params.inverse_inertia, lane);
        let middle = common(&inverse);
        let least = inverse[0].min(inverse[1]).min(inverse[2]);
        let most = inverse[0].max(inverse[1]).max(inverse[2]);
        apart[lane] = (most - middle).min(middle - least) - EQUAL * most;
    }
    all(&apart, |apart| apart <= 0.0)
}

/// The flight of such bodies: turns the angular momentum, and `q` after what it held, or from
/// nothing in the `FIRST`.
#[inline(always)]
pub(super) fn spin<const FIRST: bool>(
    inverse: &[Lane; 3],
    h: f64,
    momentum: &mut [Lane; 3],
    q: &mut [Lane; 9],
) {
    let mut angles = [0.0; LANES];
    for lane in 0..LANES {
        let [turn, spin] = turn_and_spin(&gather(inverse, lane), h, &gather(momentum, lane));
        angles[lane] = dot(&turn, &turn).max(dot(&spin, &spin));
    }
    if all(&angles, |angle| angle < SHORT_SERIES) {
        spin_by::<FIRST, true>(inverse, h, momentum, q);
    } else {
        spin_by::<FIRST, false>(inverse, h, momentum, q);
    }
}

/// h L̄/I and h d, rad.
#[inline(always)]
fn turn_and_spin(inverse: &V3, h: f64, l: &V3) -> [V3; 2] {
    let common = common(inverse);
    let more = inverse.map(|inverse| inverse - common);
    [scale(l, h * common), scale(&times(l, &more), h)]
}

#[inline(always)]
fn spin_by<const FIRST: bool, const SHORT: bool>(
    inverse: &[Lane; 3],
    h: f64,
    momentum: &mut [Lane; 3],
    q: &mut [Lane; 9],
) {
    for lane in 0..LANES {
        let l: V3 = gather(momentum, lane);
        let [turn, spin] = turn_and_spin(&gather(inverse, lane), h, &l);
        let flown = mul(&exp::<SHORT>(&turn), &exp::<SHORT>(&spin));
        scatter(momentum, lane, &tmul_vec(&flown, &l));
        let flown = if FIRST {
            flown
        } else {
            mul(&gather(q, lane), &flown)
        };
        scatter(q, lane, &flown);
    }
}

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
    if is_round(params) {
        return spin::<true>(&params.inverse_inertia, h, momentum, q);
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prelude::*;
    use glam::{DMat3, DVec3};

    /// Eight boxes with these edges, m.
    fn boxes(edges: [DVec3; LANES]) -> ParamBlock {
        let mut builder = ModelBuilder::new();
        for (k, edges) in edges.into_iter().enumerate() {
            let half_extents = 0.5 * edges;
            let shape = Shape::Box { half_extents };
            builder.body(BodyDef::new(format!("{k}"), shape, 1000.0));
        }
        builder.build().expect("eight boxes").params[0].clone()
    }

    /// Round about each axis, thick or thin, and a cube.
    fn round() -> ParamBlock {
        let edges = [
            [0.5, 0.1, 0.1],
            [0.1, 0.5, 0.1],
            [0.1, 0.1, 0.5],
            [0.05, 0.2, 0.2],
            [0.2, 0.05, 0.2],
            [0.2, 0.2, 0.05],
            [0.2, 0.2, 0.2],
            [1.0, 0.03, 0.03],
        ];
        boxes(edges.map(DVec3::from))
    }

    /// Flies for h in `parts`; the turn and the angular momentum in the body at its end.
    fn flown(params: &ParamBlock, h: f64, parts: usize, spins: [V3; LANES]) -> [(M3, V3); LANES] {
        let (mut momentum, mut q) = ([[0.0; LANES]; 3], [[0.0; LANES]; 9]);
        for (lane, spin) in spins.iter().enumerate() {
            let inverse: V3 = gather(&params.inverse_inertia, lane);
            let l = [0, 1, 2].map(|k| spin[k] / inverse[k]);
            scatter(&mut momentum, lane, &l);
            scatter(&mut q, lane, &IDENTITY);
        }
        for _ in 0..parts {
            spin::<false>(
                &params.inverse_inertia,
                h / parts as f64,
                &mut momentum,
                &mut q,
            );
        }
        std::array::from_fn(|lane| (gather(&q, lane), gather(&momentum, lane)))
    }

    #[test]
    fn round_bodies_are_told_from_others() {
        assert!(is_round(&round()));
        let edges = DVec3::new(0.5, 0.1, 0.1 + 1e-9);
        assert!(!is_round(&boxes([edges; LANES])));
    }

    /// The exact motion is a group: twice as far is as far twice. Momentum and energy stay, and the
    /// body turns by its angular velocity.
    #[test]
    fn round_bodies_fly_exactly_at_any_spin() {
        let params = round();
        for speed in [0.1, 3.0, 500.0] {
            let spins = std::array::from_fn(|k| {
                let x = k as f64 + 1.0;
                scale(&[x.sin(), (2.0 * x).cos(), (3.0 * x).sin()], speed)
            });
            let start = flown(&params, 0.0, 1, spins);
            let ends = [1, 2, 64].map(|parts| flown(&params, 0.01, parts, spins));
            for lane in 0..LANES {
                let inverse: V3 = gather(&params.inverse_inertia, lane);
                let energy = |l: &V3| 0.5 * dot(l, &times(l, &inverse));
                let l = start[lane].1;
                let size = dot(&l, &l).sqrt();
                for end in &ends {
                    let (turn, after) = &end[lane];
                    assert!(max_abs(&sub9(turn, &ends[0][lane].0)) < 1e-12, "{speed}");
                    let error = sub(&mul_vec(turn, after), &l);
                    assert!(dot(&error, &error).sqrt() < 1e-12 * size, "{speed}");
                    let gained = energy(after) - energy(&l);
                    assert!(gained.abs() < 1e-12 * energy(&l), "{speed}");
                }
                let (turn, _) = flown(&params, 1e-6 / speed, 1, spins)[lane];
                let by = DMat3::from_cols_array(&turn).transpose();
                let (axis, angle) = glam::DQuat::from_mat3(&by).to_axis_angle();
                let rate = DVec3::from(spins[lane]) * (1e-6 / speed);
                assert!((axis * angle - rate).length() < 1e-11, "{speed}");
            }
        }
    }

    /// What other bodies do, one that is almost round does almost exactly.
    #[test]
    fn the_fixed_point_comes_close_to_the_exact_flight() {
        let params = round();
        let spins = [[2.0, -1.0, 3.0]; LANES];
        let exact = flown(&params, 0.01, 1, spins);
        let (mut momentum, mut q) = ([[0.0; LANES]; 3], [[0.0; LANES]; 9]);
        for lane in 0..LANES {
            let inverse: V3 = gather(&params.inverse_inertia, lane);
            let l = [0, 1, 2].map(|k| spins[lane][k] / inverse[k]);
            scatter(&mut momentum, lane, &l);
        }
        let wobbles = wobbles(&params, 0.01, &momentum);
        let inverse = &params.inverse_inertia;
        glide::<true, true>(inverse, 0.01, 1.0, &wobbles, &mut momentum, &mut q);
        for lane in 0..LANES {
            // An error of third order in the angle.
            let off = max_abs(&sub9(&gather(&q, lane), &exact[lane].0));
            assert!(off < 1e-5, "{off:.1e}");
        }
    }
}
