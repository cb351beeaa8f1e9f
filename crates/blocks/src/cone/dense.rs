//! Contacts that all feel each other: `u = D λ + b` with a full matrix D.
//!
//! Block Gauss–Seidel (`local.rs` for each block) makes the first guess of who sticks, slides
//! and is apart, Newton's method (`newton.rs`) finishes. Gauss–Seidel alone would need sweeps in
//! proportion to the largest ratio of masses; Newton alone might wander from a bad guess. When
//! Newton's method does not reduce the violation, sweeps go on from where they were.

use super::{Triple, solve_block, violation};

/// What a solve came to.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ConeReport {
    /// Sweeps over the blocks.
    pub sweeps: usize,
    /// Newton steps taken.
    pub newton: usize,
    /// Largest violation of Coulomb's law over the largest λ.
    pub residual: f64,
}

/// Blocks of three with Coulomb's law, coupled by a dense matrix; memory is kept for reuse.
#[derive(Clone, Debug, Default)]
pub struct Delassus {
    blocks: usize,
    /// D, row-major, of order three times the blocks.
    pub matrix: Vec<f64>,
    /// Slip without λ.
    pub free: Vec<f64>,
    /// Coefficients of friction.
    pub mu: Vec<f64>,
    /// The unknown; its value on entry is the first guess.
    pub lambda: Vec<f64>,
    pub(super) slip: Vec<f64>,
    pub(super) scratch: super::newton::Scratch,
}

/// Sweeps between two attempts of Newton's method.
const SWEEPS: usize = 8;

impl Delassus {
    /// Makes room for a number of blocks, all zero.
    pub fn reset(&mut self, blocks: usize) {
        self.blocks = blocks;
        let rows = 3 * blocks;
        for (vector, length) in [
            (&mut self.matrix, rows * rows),
            (&mut self.free, rows),
            (&mut self.mu, blocks),
            (&mut self.lambda, rows),
            (&mut self.slip, rows),
        ] {
            vector.clear();
            vector.resize(length, 0.0);
        }
    }

    /// Number of blocks.
    pub fn blocks(&self) -> usize {
        self.blocks
    }

    /// Solves to a relative violation, with at most `limit` sweeps.
    pub fn solve(&mut self, tolerance: f64, limit: usize) -> ConeReport {
        let mut report = ConeReport::default();
        self.find_slip();
        report.residual = self.residual();
        while report.residual > tolerance && report.sweeps < limit {
            let taken = self.newton(tolerance);
            report.newton += taken;
            report.residual = self.residual();
            if report.residual <= tolerance {
                break;
            }
            for k in 0..SWEEPS {
                self.sweep(k % 2 == 1);
            }
            report.sweeps += SWEEPS;
            self.find_slip();
            report.residual = self.residual();
        }
        report
    }

    /// Slip of a block.
    pub fn slip(&self, block: usize) -> Triple {
        triple(&self.slip, block)
    }

    /// Largest violation of the law, relative to the largest λ.
    pub fn residual(&self) -> f64 {
        let (mut worst, mut largest) = (0.0f64, 0.0f64);
        for k in 0..self.blocks {
            let lambda = triple(&self.lambda, k);
            let w = self.compliance(k);
            let off = violation(&lambda, &triple(&self.slip, k), self.mu[k], w);
            worst = if off > worst || off.is_nan() {
                off
            } else {
                worst
            };
            largest = lambda.iter().fold(largest, |m, x| m.max(x.abs()));
        }
        if worst == 0.0 {
            0.0
        } else {
            worst / largest.max(worst)
        }
    }

    /// Trace of the block's own matrix.
    pub(super) fn compliance(&self, k: usize) -> f64 {
        let rows = 3 * self.blocks;
        (0..3).map(|i| self.matrix[(3 * k + i) * (rows + 1)]).sum()
    }

    /// u = D λ + b.
    pub(super) fn find_slip(&mut self) {
        let rows = 3 * self.blocks;
        for (i, row) in self.matrix.chunks_exact(rows.max(1)).enumerate() {
            let sum: f64 = row.iter().zip(&self.lambda).map(|(d, l)| d * l).sum();
            self.slip[i] = self.free[i] + sum;
        }
    }

    fn sweep(&mut self, reverse: bool) {
        let (count, rows) = (self.blocks, 3 * self.blocks);
        for step in 0..count {
            let k = if reverse { count - 1 - step } else { step };
            let mut w = [0.0; 9];
            for i in 0..3 {
                let row = &self.matrix[(3 * k + i) * rows + 3 * k..][..3];
                w[3 * i..3 * i + 3].copy_from_slice(row);
            }
            let old = triple(&self.lambda, k);
            let mut b = triple(&self.slip, k);
            for i in 0..3 {
                b[i] -= w[3 * i] * old[0] + w[3 * i + 1] * old[1] + w[3 * i + 2] * old[2];
            }
            let new = solve_block(&w, &b, self.mu[k]);
            for j in 0..3 {
                let change = new[j] - old[j];
                if change != 0.0 {
                    // D is symmetric: its column is its row.
                    let row = &self.matrix[(3 * k + j) * rows..][..rows];
                    for (u, d) in self.slip.iter_mut().zip(row) {
                        *u += change * d;
                    }
                    self.lambda[3 * k + j] = new[j];
                }
            }
        }
    }
}

pub(super) fn triple(values: &[f64], k: usize) -> Triple {
    [values[3 * k], values[3 * k + 1], values[3 * k + 2]]
}
