//! The ways in which small mechanisms move under forces: a pulley only turns.
//!
//! With the compliance W = G Gᵀ of its movers they are the columns of G, found by Cholesky's method
//! with the largest pivot first, which ends where nothing is left.

use super::movers::Movers;
use super::rows::{Arm, ContactRow};
use crate::math::small::*;

/// Compliance of a way to move, over that of the most compliant one, below which it is none.
const RANK: f64 = 1e-12;

/// The ways of some units, and memory to find them.
#[derive(Debug, Default)]
pub(crate) struct Ways {
    /// What each does to the movers of its unit.
    moves: Vec<[V3; 2]>,
    compliance: Vec<f64>,
}

/// Those of one unit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UnitWays {
    pub unit: u32,
    pub count: u32,
    /// Its first mover, the number of them, and where their moves start.
    first: u32,
    movers: u32,
    start: usize,
}

impl Ways {
    pub fn clear(&mut self) {
        self.moves.clear();
    }

    /// Finds the ways of a unit whose movers answer together.
    pub fn add(&mut self, unit: u32, movers: &Movers) -> UnitWays {
        let range = movers.unit(unit);
        let size = 6 * range.len();
        let start = self.moves.len();
        let w = &mut self.compliance;
        w.clear();
        w.resize(size * size, 0.0);
        for column in 0..size {
            let mut wrench = [[0.0; 3]; 2];
            wrench[column % 6 / 3][column % 3] = 1.0;
            for (k, target) in range.clone().enumerate() {
                let source = (range.start + column / 6) as u32;
                let moved = movers.respond(target as u32, source, &wrench[0], &wrench[1]);
                for (i, x) in moved.iter().flatten().enumerate() {
                    w[(6 * k + i) * size + column] = *x;
                }
            }
        }
        let pivots = |w: &[f64]| (0..size).map(|i| w[i * (size + 1)]).fold(0.0, f64::max);
        let least = RANK * pivots(w);
        let mut count = 0;
        while pivots(w) > least {
            let best = (0..size).fold(0, |b, i| match w[i * (size + 1)] > w[b * (size + 1)] {
                true => i,
                false => b,
            });
            let root = w[best * (size + 1)].sqrt();
            let from = self.moves.len();
            self.moves.resize(from + range.len(), [[0.0; 3]; 2]);
            let way = &mut self.moves[from..];
            for i in 0..size {
                way[i / 6][i % 6 / 3][i % 3] = w[i * size + best] / root;
            }
            let of = |i: usize| way[i / 6][i % 6 / 3][i % 3];
            for i in 0..size {
                for j in 0..size {
                    w[i * size + j] -= of(i) * of(j);
                }
                // What is taken is gone, whatever rounding says.
                w[i * size + best] = 0.0;
                w[best * size + i] = 0.0;
            }
            count += 1;
        }
        UnitWays {
            unit,
            count,
            first: range.start as u32,
            movers: range.len() as u32,
            start,
        }
    }

    /// How a way of its unit moves one side of a contact, along the axes of that; with its sign.
    pub fn sway(&self, of: &UnitWays, way: u32, row: &ContactRow, arm: &Arm, sign: f64) -> V3 {
        let at = of.start + (way * of.movers + arm.mover - of.first) as usize;
        let [shift, turn] = &self.moves[at];
        let moved = add(shift, &cross(turn, &arm.arm));
        [0, 1, 2].map(|i| sign * dot(&row.frame[i], &moved))
    }
}
