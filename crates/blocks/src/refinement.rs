//! Iterative refinement on the true residual: `r = b − S x`, `x ← x + M⁻¹ r`.
//!
//! `M` is whatever a solver has factored: `S` itself, or `S` with a Tikhonov
//! shift. The shift (Tomcin, section 4) makes singular systems solvable, and a
//! few rounds of refinement take its error out again, so that constraints do
//! not drift.

use crate::error::check_length;
use crate::{BlockMatrix, Factorization, SolveError};

/// How a refined solution came out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SolveReport {
    /// Rounds of refinement after the first solution.
    pub refinements: usize,
    /// `max |r_k| / max |b_k|` at the end.
    pub residual: f64,
    /// Whether the tolerance was reached.
    pub converged: bool,
}

/// Buffers for refinement, sized once.
#[derive(Clone, Debug)]
pub struct Refinement {
    best: Vec<f64>,
    trial: Vec<f64>,
    residual: Vec<f64>,
    /// Relative residual to reach.
    pub tolerance: f64,
    /// Rounds at most.
    pub limit: usize,
}

impl Refinement {
    /// Room for vectors of the given dimension; residual 1e-12, ten rounds.
    pub fn new(dimension: usize) -> Self {
        Self {
            best: vec![0.0; dimension],
            trial: vec![0.0; dimension],
            residual: vec![0.0; dimension],
            tolerance: 1e-12,
            limit: 10,
        }
    }

    /// Overwrites `rhs` by the refined solution of `matrix`, which `solver` has
    /// factored. Stops early when a round no longer halves the residual.
    pub fn solve<F: Factorization + ?Sized>(
        &mut self,
        solver: &mut F,
        matrix: &BlockMatrix,
        rhs: &mut [f64],
    ) -> Result<SolveReport, SolveError> {
        check_length(self.best.len(), rhs.len())?;
        let size = largest(rhs);
        self.trial.copy_from_slice(rhs);
        solver.solve(&mut self.trial)?;
        matrix.residual(&self.trial, rhs, &mut self.residual)?;
        let mut error = largest(&self.residual);
        self.best.copy_from_slice(&self.trial);
        let mut refinements = 0;
        while error > self.tolerance * size && refinements < self.limit {
            solver.solve(&mut self.residual)?;
            for (trial, (best, correction)) in self
                .trial
                .iter_mut()
                .zip(self.best.iter().zip(&self.residual))
            {
                *trial = best + correction;
            }
            matrix.residual(&self.trial, rhs, &mut self.residual)?;
            let new = largest(&self.residual);
            refinements += 1;
            let progress = new < 0.5 * error;
            if new < error {
                self.best.copy_from_slice(&self.trial);
                error = new;
            }
            if !progress {
                break;
            }
        }
        rhs.copy_from_slice(&self.best);
        let residual = if size > 0.0 { error / size } else { 0.0 };
        Ok(SolveReport {
            refinements,
            residual,
            converged: error <= self.tolerance * size,
        })
    }
}

fn largest(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |largest, x| f64::max(largest, x.abs()))
}
