//! Multi-directional block Gauss–Seidel.
//!
//! ```text
//! for each direction, for each node i along it:   x_i ← x_i + S_ii⁻¹ (b_i − Σ_j S_ij x_j)
//! ```
//!
//! (M-ABD, section 5.5.) A direction is an order of nodes, normally a chain
//! through the graph; sweeping along chains carries information from end to end
//! in one sweep, and sweeping several directions in turn carries it everywhere.
//! For semidefinite matrices the sweeps still converge if `b` is consistent.

use crate::census::Census;
use crate::error::check_length;
use crate::matrix::{BlockMatrix, Pattern};
use crate::{
    FactorError, FactorReport, MAX_BLOCK, PIVOT_TOLERANCE, PatternError, SolveError, small,
};
use std::sync::Arc;

/// How far the sweeps came.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SweepReport {
    /// Rounds through all directions.
    pub rounds: usize,
    /// `max |b − S x| / max |b|` at the end.
    pub residual: f64,
    /// Whether the tolerance was reached.
    pub converged: bool,
}

/// Iterative solver that keeps factors of the diagonal blocks only.
#[derive(Clone, Debug)]
pub struct GaussSeidel {
    pattern: Arc<Pattern>,
    directions: Vec<Vec<usize>>,
    diagonals: Vec<f64>,
    residual: Vec<f64>,
    factored: bool,
}

impl GaussSeidel {
    /// Prepares sweeps along the given orders. A direction need not visit all
    /// nodes, but all together must. Without any, nodes are swept up and down.
    pub fn symbolic(
        pattern: &Arc<Pattern>,
        directions: &[Vec<usize>],
    ) -> Result<Self, PatternError> {
        let count = pattern.nodes();
        let directions = match directions {
            [] => vec![(0..count).collect(), (0..count).rev().collect()],
            given => given.to_vec(),
        };
        let mut visited = vec![false; count];
        for &node in directions.iter().flatten() {
            *visited
                .get_mut(node)
                .ok_or(PatternError::NotAPermutation { node, count })? = true;
        }
        if let Some(node) = visited.iter().position(|seen| !seen) {
            return Err(PatternError::NotAPermutation { node, count });
        }
        Ok(Self {
            pattern: Arc::clone(pattern),
            directions,
            diagonals: vec![0.0; pattern.sizes().iter().map(|n| n * n).sum()],
            residual: vec![0.0; pattern.dimension()],
            factored: false,
        })
    }

    /// Factors the diagonal blocks.
    pub fn factor(&mut self, matrix: &BlockMatrix) -> Result<FactorReport, FactorError> {
        matrix.check_pattern(&self.pattern)?;
        self.factored = false;
        let mut census = Census::default();
        let length = self.diagonals.len();
        self.diagonals.copy_from_slice(&matrix.values()[..length]);
        for node in 0..self.pattern.nodes() {
            let (n, offset) = (self.pattern.size(node), self.pattern.diagonal_offset(node));
            let block = &mut self.diagonals[offset..offset + n * n];
            let mut scale = [0.0; MAX_BLOCK];
            for k in 0..n {
                scale[k] = block[k * n + k];
            }
            census.add(
                node,
                small::factor(n, block, &scale, small::Rule::dropping(PIVOT_TOLERANCE)),
            );
        }
        let report = census.report(matrix, |node| node)?;
        self.factored = true;
        Ok(report)
    }

    /// Improves `x`, a warm start, by at most `limit` rounds until the relative
    /// residual of `S x = b` is below `tolerance`.
    pub fn solve(
        &mut self,
        matrix: &BlockMatrix,
        b: &[f64],
        x: &mut [f64],
        tolerance: f64,
        limit: usize,
    ) -> Result<SweepReport, SolveError> {
        if !self.factored {
            return Err(SolveError::NotFactored);
        }
        let size = largest(b);
        let mut report = self.measure(matrix, b, x, size, tolerance)?;
        while !report.converged && report.rounds < limit {
            for direction in 0..self.directions.len() {
                self.sweep(matrix, b, x, direction);
            }
            let rounds = report.rounds + 1;
            report = SweepReport {
                rounds,
                ..self.measure(matrix, b, x, size, tolerance)?
            };
        }
        Ok(report)
    }

    fn measure(
        &mut self,
        matrix: &BlockMatrix,
        b: &[f64],
        x: &[f64],
        size: f64,
        tolerance: f64,
    ) -> Result<SweepReport, SolveError> {
        check_length(self.pattern.dimension(), x.len())?;
        matrix.residual(x, b, &mut self.residual)?;
        let error = largest(&self.residual);
        let residual = if size > 0.0 { error / size } else { error };
        Ok(SweepReport {
            rounds: 0,
            residual,
            converged: residual <= tolerance,
        })
    }

    fn sweep(&self, matrix: &BlockMatrix, b: &[f64], x: &mut [f64], direction: usize) {
        for &node in &self.directions[direction] {
            self.relax(matrix, b, x, node);
        }
    }

    /// Solves the equations of one node for its own unknowns.
    fn relax(&self, matrix: &BlockMatrix, b: &[f64], x: &mut [f64], node: usize) {
        let pattern = &*self.pattern;
        let (n, row) = (pattern.size(node), pattern.row(node));
        let mut r = [0.0; MAX_BLOCK];
        r[..n].copy_from_slice(&b[row..row + n]);
        for &(other, edge) in pattern.neighbours(node) {
            let (m, column) = (pattern.size(other), pattern.row(other));
            let y = &x[column..column + m];
            if node < other {
                small::subtract_forward(n, m, matrix.edge(edge), y, &mut r);
            } else {
                small::subtract_transposed(m, n, matrix.edge(edge), y, &mut r);
            }
        }
        let offset = pattern.diagonal_offset(node);
        small::solve(n, &self.diagonals[offset..offset + n * n], &mut r);
        x[row..row + n].copy_from_slice(&r[..n]);
    }
}

fn largest(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |largest, x| f64::max(largest, x.abs()))
}
