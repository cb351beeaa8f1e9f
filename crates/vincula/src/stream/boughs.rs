//! Trees of ball joints, eliminated from the leaves to the root, eight bodies at a time.
//!
//! A body hangs by its first point from the second point of its parent. With μ the force of that
//! joint on the body, F what all its children do to it together, and W₀, W₁, M the compliances of
//! its two points,
//!
//! ```text
//! u₀ = −W₀ μ − M F,    x = u₁ = −W₁ F − Mᵀ μ
//! ```
//!
//! A child c whose points would be at p_c, and that answers with S_c, is pulled by
//! `μ_c = S_c⁻¹ (p_c + r_c − p − x)`, p being where the second point would be. Their sum is f − K x,
//! and with it gone the body is again one that answers its own joint, with
//!
//! ```text
//! S = W₀ − M K E,   r = Eᵀ f,   E = N Mᵀ,   G = N W₁,   N = (1 + W₁ K)⁻¹
//! ```
//!
//! From the root downwards, with X = p + x of the parent,
//!
//! ```text
//! μ = S⁻¹ (p₀ + r − X),   x = G f − E μ,   F = K x − f
//! ```
//!
//! However many children a body has, it costs the same, and each child adds to K and f.

use super::record::Slot;
use crate::dual::ports::Points;
use crate::kernel;
use crate::math::lanes::{LANES, Lane, gather, scatter};
use crate::math::small::*;

/// Part of its compliance alone that a body must keep with what hangs from it: beyond, the
/// elimination would lose its digits.
const SAFE: f64 = 1e-11;

/// The elimination of eight bodies.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(super) struct Bough {
    /// K, N/m, and f, N. While children still add to them, f counts from the origin.
    stiffness: [Lane; 6],
    pull: [Lane; 3],
    /// S⁻¹, N/m; zero for a body that hangs from nothing.
    hold: [Lane; 6],
    /// E, and G in m/N.
    reach: [Lane; 9],
    give: [Lane; 6],
    /// S⁻¹ (p₀ + r), N.
    push: [Lane; 3],
    /// Where the second point would be, p, then where it is, X, m.
    tip: [Lane; 3],
}

impl Bough {
    pub const ZERO: Bough = Bough {
        stiffness: [[0.0; LANES]; 6],
        pull: [[0.0; LANES]; 3],
        hold: [[0.0; LANES]; 6],
        reach: [[0.0; LANES]; 9],
        give: [[0.0; LANES]; 6],
        push: [[0.0; LANES]; 3],
        tip: [[0.0; LANES]; 3],
    };

    /// No children yet.
    pub fn clear(&mut self) {
        self.stiffness = Bough::ZERO.stiffness;
        self.pull = Bough::ZERO.pull;
    }

    /// The same for another right-hand side: K stays.
    pub fn clear_pull(&mut self) {
        self.pull = Bough::ZERO.pull;
    }

    /// What the body of a lane adds to K and f of its parent.
    #[inline(always)]
    pub fn share(&self, lane: usize) -> (S3, V3) {
        (gather(&self.hold, lane), gather(&self.push, lane))
    }

    /// Takes what a child adds.
    #[inline(always)]
    pub fn hang(&mut self, lane: usize, stiffness: &S3, pull: &V3) {
        for (to, k) in self.stiffness.iter_mut().zip(stiffness) {
            to[lane] += k;
        }
        self.tug(lane, pull);
    }

    /// Takes what a child adds to f.
    #[inline(always)]
    pub fn tug(&mut self, lane: usize, pull: &V3) {
        for (to, f) in self.pull.iter_mut().zip(pull) {
            to[lane] += f;
        }
    }

    /// Where the second point of a body is, m.
    #[inline(always)]
    pub fn tip(&self, lane: usize) -> V3 {
        gather(&self.tip, lane)
    }

    /// Eliminates one body; false if that is not safe. `hangs` is one if it has a parent, or zero.
    #[inline(always)]
    pub fn eliminate(&mut self, lane: usize, slot: &Slot, hangs: f64) -> bool {
        let own: [S3; 2] = [0, 1].map(|port| gather(&slot.compliances.own[port], lane));
        let [base, tip]: [V3; 2] = [0, 1].map(|port| gather(&slot.place[port], lane));
        let mutual: M3 = gather(&slot.compliances.mutual, lane);
        let k = full(&gather(&self.stiffness, lane));
        let mut loaded = mul(&full(&own[1]), &k);
        for e in [0, 4, 8] {
            loaded[e] += 1.0;
        }
        let n = inverse(&loaded);
        let reach = mult(&n, &mutual);
        let give = sym(&mul(&n, &full(&own[1])));
        let lost = sym(&mul(&mul(&mutual, &k), &reach));
        let s: S3 = std::array::from_fn(|e| own[0][e] - lost[e]);
        let (hold, safe) = rest(&s, &own[0]);
        let hold = hold.map(|e| e * hangs);
        let pull = sub(&gather(&self.pull, lane), &mul_vec(&k, &tip));
        let push = mul_vec(&full(&hold), &add(&base, &tmul_vec(&reach, &pull)));
        scatter(&mut self.pull, lane, &pull);
        scatter(&mut self.hold, lane, &hold);
        scatter(&mut self.reach, lane, &reach);
        scatter(&mut self.give, lane, &give);
        scatter(&mut self.push, lane, &push);
        scatter(&mut self.tip, lane, &tip);
        safe
    }

    /// The same for another right-hand side: where the points of a body would be, m.
    #[inline(always)]
    pub fn gather_up(&mut self, lane: usize, places: &Points) {
        let [base, tip]: [V3; 2] = [0, 1].map(|port| gather(&places[port], lane));
        let k = full(&gather(&self.stiffness, lane));
        let hold = full(&gather(&self.hold, lane));
        let pull = sub(&gather(&self.pull, lane), &mul_vec(&k, &tip));
        let below = tmul_vec(&gather(&self.reach, lane), &pull);
        scatter(&mut self.pull, lane, &pull);
        scatter(&mut self.push, lane, &mul_vec(&hold, &add(&base, &below)));
        scatter(&mut self.tip, lane, &tip);
    }

    /// The forces at both points of a body, N, from where the point is that it hangs from.
    #[inline(always)]
    pub fn descend(&mut self, lane: usize, from: &V3, forces: &mut Points) {
        let hold = full(&gather(&self.hold, lane));
        let mu = sub(&gather(&self.push, lane), &mul_vec(&hold, from));
        let pull: V3 = gather(&self.pull, lane);
        let free = mul_vec(&full(&gather(&self.give, lane)), &pull);
        let x = sub(&free, &mul_vec(&gather(&self.reach, lane), &mu));
        let k = full(&gather(&self.stiffness, lane));
        scatter(&mut forces[0], lane, &mu);
        scatter(&mut forces[1], lane, &sub(&mul_vec(&k, &x), &pull));
        let tip = add(&gather(&self.tip, lane), &x);
        scatter(&mut self.tip, lane, &tip);
    }
}

/// The inverse of what is left of a compliance, and whether enough is left.
#[inline(always)]
fn rest(s: &S3, whole: &S3) -> (S3, bool) {
    let (inverse, det) = invert_sym(s);
    let kept = (s[0] > SAFE * whole[0]) & (s[1] > SAFE * whole[1]) & (s[2] > SAFE * whole[2]);
    (inverse, kept & (det > SAFE * (s[0] * s[1] * s[2])))
}

kernel! {
    /// Eliminates eight bodies of which none hangs from another; false if that is not safe.
    pub(super) fn eliminate(bough: &mut Bough, slot: &Slot, hangs: &Lane) -> bool = eliminate_all
}

#[inline(always)]
fn eliminate_all(bough: &mut Bough, slot: &Slot, hangs: &Lane) -> bool {
    let mut safe = true;
    for lane in 0..LANES {
        safe &= bough.eliminate(lane, slot, hangs[lane]);
    }
    safe
}

kernel! {
    /// The same for another right-hand side.
    pub(super) fn gather_up(bough: &mut Bough, places: &Points) = gather_up_all
}

#[inline(always)]
fn gather_up_all(bough: &mut Bough, places: &Points) {
    for lane in 0..LANES {
        bough.gather_up(lane, places);
    }
}

kernel! {
    /// The forces at the points of eight bodies of which none hangs from another.
    pub(super) fn descend(bough: &mut Bough, from: &[Lane; 3], forces: &mut Points) = descend_all
}

#[inline(always)]
fn descend_all(bough: &mut Bough, from: &[Lane; 3], forces: &mut Points) {
    for lane in 0..LANES {
        bough.descend(lane, &gather(from, lane), forces);
    }
}
