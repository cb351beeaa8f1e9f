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
        let count = factor(w, range.len(), &mut self.moves);
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

/// Appends G, column by column, of the compliance W of some movers, which is lost. Returns how many columns
/// there are.
fn factor(w: &mut [f64], movers: usize, moves: &mut Vec<[V3; 2]>) -> u32 {
    let size = 6 * movers;
    let pivots = |w: &[f64]| (0..size).map(|i| w[i * (size + 1)]).fold(0.0, f64::max);
    let least = RANK * pivots(w);
    let mut count = 0;
    while pivots(w) > least {
        let best = (0..size).fold(0, |b, i| match w[i * (size + 1)] > w[b * (size + 1)] {
            true => i,
            false => b,
        });
        let root = w[best * (size + 1)].sqrt();
        let from = moves.len();
        moves.resize(from + movers, [[0.0; 3]; 2]);
        let way = &mut moves[from..];
        for i in 0..size {
            way[i / 6][i % 6 / 3][i % 3] = w[i * size + best] / root;
        }
        let of = |i: usize| way[i / 6][i % 6 / 3][i % 3];
        for i in 0..size {
            for j in 0..size {
                w[i * size + j] -= of(i) * of(j);
            }
        }
        // What is taken is gone, whatever rounding says.
        for i in 0..size {
            w[i * size + best] = 0.0;
            w[best * size + i] = 0.0;
        }
        count += 1;
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_add_up_to_the_compliance() {
        let mut seed = 5u64;
        let mut random = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 11) as f64 / (1u64 << 53) as f64 - 0.5
        };
        for (movers, rank) in [(1, 6), (1, 1), (2, 7), (2, 12), (4, 9)] {
            let size = 6 * movers;
            let g: Vec<f64> = (0..size * rank).map(|_| random()).collect();
            let w: Vec<f64> = (0..size * size)
                .map(|e| {
                    let (i, j) = (e / size, e % size);
                    (0..rank).map(|k| g[i * rank + k] * g[j * rank + k]).sum()
                })
                .collect();
            let mut moves = Vec::new();
            let count = factor(&mut w.clone(), movers, &mut moves);
            assert_eq!(count as usize, rank, "{movers} movers");
            for (e, expected) in w.iter().enumerate() {
                let of = |way: &[[V3; 2]], i: usize| way[i / 6][i % 6 / 3][i % 3];
                let ways = moves.chunks_exact(movers);
                let sum: f64 = ways.map(|w| of(w, e / size) * of(w, e % size)).sum();
                assert!((sum - expected).abs() < 1e-12, "{movers} movers, entry {e}");
            }
        }
    }
}
