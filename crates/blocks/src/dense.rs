//! The oracle: `S` as one dense matrix, factored with pivoting.
//!
//! It knows nothing of the graph and so checks everything that does. It also
//! serves islands of a few joints.

use crate::census::blame_non_finite;
use crate::error::check_length;
use crate::matrix::{BlockMatrix, Pattern};
use crate::pivoted::{Pivoted, RankReport};
use crate::{FactorError, FactorReport, Factorization, PIVOT_TOLERANCE, SolveError};
use std::sync::Arc;

/// Dense solver with pivoting and a rank decision.
pub struct Dense {
    pattern: Arc<Pattern>,
    pivoted: Pivoted,
    diagonal: Vec<f64>,
    factored: bool,
    /// Relative size below which a pivot counts as zero.
    pub tolerance: f64,
}

impl Dense {
    /// Makes room for the whole matrix.
    pub fn symbolic(pattern: &Arc<Pattern>) -> Self {
        Self {
            pattern: Arc::clone(pattern),
            pivoted: Pivoted::new(pattern.dimension()),
            diagonal: vec![0.0; pattern.dimension()],
            factored: false,
            tolerance: PIVOT_TOLERANCE,
        }
    }

    /// Number of independent rows of the last matrix.
    pub fn rank(&self) -> usize {
        self.pivoted.rank()
    }

    /// The redundant scalar rows of the last matrix.
    pub fn redundant_rows(&self) -> &[usize] {
        &self.pivoted.order()[self.pivoted.rank()..]
    }
}

impl Factorization for Dense {
    fn pattern(&self) -> &Arc<Pattern> {
        &self.pattern
    }

    fn factor(&mut self, matrix: &BlockMatrix) -> Result<FactorReport, FactorError> {
        matrix.check_pattern(&self.pattern)?;
        self.factored = false;
        matrix.copy_dense(self.pivoted.entries_mut());
        for node in 0..self.pattern.nodes() {
            let (n, row) = (self.pattern.size(node), self.pattern.row(node));
            for k in 0..n {
                self.diagonal[row + k] = matrix.diagonal(node)[k * n + k];
            }
        }
        let found = self.pivoted.factor(&self.diagonal, self.tolerance);
        let report = rank_report(&found, self.diagonal.len(), matrix, |row| {
            self.pattern.node_of_row(row)
        })?;
        self.factored = true;
        let first = self
            .redundant_rows()
            .iter()
            .map(|&row| self.pattern.node_of_row(row))
            .min();
        Ok(FactorReport {
            first_dropped: first,
            ..report
        })
    }

    fn solve(&mut self, rhs: &mut [f64]) -> Result<(), SolveError> {
        check_length(self.pattern.dimension(), rhs.len())?;
        if !self.factored {
            return Err(SolveError::NotFactored);
        }
        self.pivoted.solve(rhs);
        Ok(())
    }
}

/// Turns a rank report into a factor report or an error.
pub(crate) fn rank_report(
    found: &RankReport,
    rows: usize,
    matrix: &BlockMatrix,
    node_of: impl Fn(usize) -> usize,
) -> Result<FactorReport, FactorError> {
    if !found.finite {
        return Err(blame_non_finite(matrix));
    }
    if let Some(row) = found.negative {
        return Err(FactorError::Indefinite { node: node_of(row) });
    }
    Ok(FactorReport {
        dropped: rows - found.rank,
        first_dropped: None,
        weakest_pivot: found.weakest,
        weakest_node: found.weakest_row.map(node_of),
        shift: 0.0,
    })
}
