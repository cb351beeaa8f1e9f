//! Contacts that all feel each other: `u = D λ + b` with a full matrix D.
//!
//! Newton's method (`newton.rs`) is enough where the first guess knows who sticks, slides and is apart.
//! It might wander from a bad one; then the way leads through the inside of the cones (`direct.rs`).
//! Where that ends early as well, block Gauss–Seidel (`local.rs` for each block) and Newton's method take
//! turns.
//!
//! Contacts that lean on each other make D singular: four corners carry a box in many ways, and
//! if they are not in one plane to the last digit in none exactly. So each round solves
//! `u = D λ + b + ε S (λ − λ₀)` with the blocks' own compliances S and the λ₀ it started from
//! (the proximal point method). When λ settles, the added term is gone.

use super::direct::{Direct, Mark};
use super::full::Full;
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

impl ConeReport {
    /// Takes in what a solve came to that went on from there.
    pub(super) fn follow(&mut self, last: &ConeReport) {
        self.sweeps += last.sweeps;
        self.newton += last.newton;
        self.residual = last.residual;
    }
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
    center: Vec<f64>,
    own: Vec<f64>,
    pub(super) scratch: super::newton::Scratch,
    law: Direct,
    lu: Vec<f64>,
    pivots: Vec<usize>,
}

/// Sweeps between two attempts of Newton's method.
const SWEEPS: usize = 8;
/// Rounds in which λ may still change by its own leaning on the last one.
const ROUNDS: usize = 16;
/// Rounds in a row that may fail to halve the violation.
const PATIENCE: usize = 3;
/// Compliance that the first round adds, as a fraction of the block's own. A round that
/// succeeds lets the next one add a tenth of it, one that fails thirty times as much.
const SHIFT: f64 = 1e-4;

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

    /// Solves to a relative violation, with at most `limit` sweeps in each round.
    pub fn solve(&mut self, tolerance: f64, limit: usize) -> ConeReport {
        let mut report = ConeReport::default();
        self.find_slip();
        report.residual = self.residual();
        if report.residual > tolerance {
            report.newton += self.newton(tolerance);
            report.residual = self.residual();
        }
        if report.residual > tolerance {
            let found = self.seek(tolerance);
            report.newton += found.newton;
            self.find_slip();
            report.residual = self.residual();
        }
        let (mut shift, mut best, mut patience) = (SHIFT, report.residual, PATIENCE);
        for _ in 0..ROUNDS {
            if report.residual <= tolerance || patience == 0 {
                break;
            }
            self.lean(shift, 1.0);
            let enough = (0.02 * report.residual).max(0.1 * tolerance);
            let eased = self.solve_eased(enough, limit, &mut report);
            self.lean(shift, -1.0);
            self.find_slip();
            report.residual = self.residual();
            shift *= if eased { 0.1 } else { 30.0 };
            shift = shift.clamp(1e-8, 1.0);
            if report.residual < 0.5 * best {
                (best, patience) = (report.residual, PATIENCE);
            } else {
                patience -= 1;
            }
        }
        report
    }

    /// Goes to the law from afar (`direct.rs`), if that helps.
    fn seek(&mut self, tolerance: f64) -> ConeReport {
        let mut law = std::mem::take(&mut self.law);
        law.clear();
        for k in 0..self.blocks {
            law.add(Mark {
                mu: self.mu[k],
                compliance: self.compliance(k),
            });
            law.start(k, triple(&self.slip, k), triple(&self.lambda, k));
        }
        let before = self.residual();
        let mut full = Full {
            matrix: &self.matrix,
            lu: &mut self.lu,
            pivots: &mut self.pivots,
        };
        let found = law.solve(&mut full, tolerance);
        if found.residual < before {
            self.lambda.copy_from_slice(law.lambda());
        }
        self.law = law;
        found
    }

    /// Adds `shift` times its own compliance to every row, centred at the present λ, or takes
    /// it away again.
    fn lean(&mut self, shift: f64, sign: f64) {
        let rows = 3 * self.blocks;
        if sign > 0.0 {
            self.center.clear();
            self.center.extend_from_slice(&self.lambda);
            self.own.clear();
            for k in 0..self.blocks {
                self.own.push(self.compliance(k) / 3.0);
            }
        }
        for i in 0..rows {
            let added = sign * shift * self.own[i / 3];
            self.matrix[i * (rows + 1)] += added;
            self.free[i] -= added * self.center[i];
        }
        self.find_slip();
    }

    fn solve_eased(&mut self, tolerance: f64, limit: usize, report: &mut ConeReport) -> bool {
        let mut sweeps = 0;
        loop {
            report.newton += self.newton(tolerance);
            if self.residual() <= tolerance {
                return true;
            }
            if sweeps >= limit {
                return false;
            }
            for k in 0..SWEEPS {
                self.sweep(k % 2 == 1);
            }
            sweeps += SWEEPS;
            report.sweeps += SWEEPS;
            self.find_slip();
        }
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
