//! A body between two vertices of a web, as a stiffness, eight bodies at a time.
//!
//! With the compliances W₀, W₁ and M of its two points, forces F that take the points from where
//! they would be, p, to where the vertices are, X, are
//!
//! ```text
//! F = K (p − X),   K = [[W₀, M], [Mᵀ, W₁]]⁻¹
//! ```
//!
//! and the points are where joints want them when the forces at every vertex cancel. A body that is
//! held at one point only has `K = W₀⁻¹`.

use super::record::Slot;
use crate::dual::ports::Points;
use crate::kernel;
use crate::math::lanes::{LANES, Lane, gather, scatter};
use crate::math::small::*;

/// Eight bodies.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(super) struct Element {
    /// The blocks of K, N/m.
    own: [[Lane; 6]; 2],
    mutual: [Lane; 9],
    /// Where the points would be, then how far from their vertices, m.
    pub places: Points,
    /// Forces at the points, N.
    pub forces: Points,
}

impl Element {
    pub const ZERO: Element = Element {
        own: [[[0.0; LANES]; 6]; 2],
        mutual: [[0.0; LANES]; 9],
        places: [[[0.0; LANES]; 3]; 2],
        forces: [[[0.0; LANES]; 3]; 2],
    };

    /// The stiffness of a point.
    #[inline(always)]
    pub fn own(&self, lane: usize, port: usize) -> S3 {
        gather(&self.own[port], lane)
    }

    /// The stiffness between the first point and the second.
    #[inline(always)]
    pub fn mutual(&self, lane: usize) -> M3 {
        gather(&self.mutual, lane)
    }

    /// K x.
    #[inline(always)]
    fn times(&self, lane: usize, x: &[V3; 2]) -> [V3; 2] {
        let mutual: M3 = gather(&self.mutual, lane);
        let [first, second] = [0, 1].map(|port| full(&gather(&self.own[port], lane)));
        [
            add(&mul_vec(&first, &x[0]), &mul_vec(&mutual, &x[1])),
            add(&tmul_vec(&mutual, &x[0]), &mul_vec(&second, &x[1])),
        ]
    }
}

kernel! {
    /// Finds the stiffness, and takes the places. `both` is one for a body with two points.
    pub(super) fn stiffen(slot: &Slot, both: &Lane, element: &mut Element) = stiffen_all
}

#[inline(always)]
fn stiffen_all(slot: &Slot, both: &Lane, element: &mut Element) {
    for lane in 0..LANES {
        let [first, second]: [S3; 2] = [0, 1].map(|port| gather(&slot.compliances.own[port], lane));
        let mutual: M3 = gather(&slot.compliances.mutual, lane);
        let (alone, _) = invert_sym(&first);
        let across = mul(&full(&alone), &mutual);
        let bent = sym(&tmul(&mutual, &across));
        // Without a second point, anything that has an inverse.
        let alone_there = [1.0, 1.0, 1.0, 0.0, 0.0, 0.0].map(|k| k * (1.0 - both[lane]));
        let rest: S3 = std::array::from_fn(|k| (second[k] - bent[k]) * both[lane] + alone_there[k]);
        let other = invert_sym(&rest).0.map(|k| k * both[lane]);
        let between = mul(&across, &full(&other)).map(|k| -k);
        let more = sym(&mult(&between, &across));
        scatter(
            &mut element.own[0],
            lane,
            &std::array::from_fn(|k| alone[k] - more[k]),
        );
        scatter(&mut element.own[1], lane, &other);
        scatter(&mut element.mutual, lane, &between);
    }
    element.places = slot.place;
}

kernel! {
    /// Forces that take the points to where their vertices are counted from.
    pub(super) fn pull(from: &Points, element: &mut Element) = pull_all
}

#[inline(always)]
fn pull_all(from: &Points, element: &mut Element) {
    for lane in 0..LANES {
        let off = [0, 1].map(|port| {
            sub(
                &gather(&element.places[port], lane),
                &gather(&from[port], lane),
            )
        });
        let forces = element.times(lane, &off);
        for port in 0..2 {
            scatter(&mut element.forces[port], lane, &forces[port]);
        }
    }
}

kernel! {
    /// Takes from the forces what the vertices give way.
    pub(super) fn relax(moved: &Points, element: &mut Element) = relax_all
}

#[inline(always)]
fn relax_all(moved: &Points, element: &mut Element) {
    for lane in 0..LANES {
        let x = [0, 1].map(|port| gather(&moved[port], lane));
        let less = element.times(lane, &x);
        for port in 0..2 {
            let force = sub(&gather(&element.forces[port], lane), &less[port]);
            scatter(&mut element.forces[port], lane, &force);
        }
    }
}
