//! A tree with a few loops: eliminate the tree, solve the closures densely.
//!
//! ```text
//! [A  Cᵀ] [x_A]   [b_A]        Σ = D − C A⁻¹ Cᵀ,   Σ x_D = b_D − C A⁻¹ b_A
//! [C  D ] [x_D] = [b_D]        x_A = A⁻¹ (b_A − Cᵀ x_D)
//! ```
//!
//! (M-ABD, section 5.4, equation 58.) A planar four-bar closed by a spatial hinge
//! makes `Σ` singular. It is factored with pivoting against the diagonal of
//! `S` itself: a closure row whose pivot has shrunk to rounding size is
//! redundant, gets a zero multiplier, and leaves no drift because the other
//! rows already satisfy it.

use crate::dense::rank_report;
use crate::elimination::Elimination;
use crate::error::check_length;
use crate::matrix::{BlockMatrix, Pattern};
use crate::ordering::{MAX_CLIQUE, simplicial_order};
use crate::pivoted::Pivoted;
use crate::{FactorError, FactorReport, Factorization, PIVOT_TOLERANCE, PatternError, SolveError};
use std::sync::Arc;

/// Solver for a pattern that is a tree of cliques but for a few closure nodes.
pub struct Loops {
    pattern: Arc<Pattern>,
    elimination: Elimination,
    closures: Vec<usize>,
    /// The scalar rows of the closures.
    rows: Vec<usize>,
    schur: Pivoted,
    reference: Vec<f64>,
    vector: Vec<f64>,
    factored: bool,
    /// Relative size below which a pivot counts as zero.
    pub tolerance: f64,
}

impl Loops {
    /// Finds closure nodes, at most `limit`, that open all loops.
    pub fn symbolic(pattern: &Arc<Pattern>, limit: usize) -> Result<Self, PatternError> {
        let found = simplicial_order(pattern, limit, MAX_CLIQUE);
        if found.closures.len() > limit {
            return Err(PatternError::TooManyClosures { limit });
        }
        Ok(Self::with_order(pattern, &found.order, found.closures))
    }

    fn with_order(pattern: &Arc<Pattern>, order: &[usize], closures: Vec<usize>) -> Self {
        let rows: Vec<usize> = closures
            .iter()
            .flat_map(|&node| pattern.row(node)..pattern.row(node) + pattern.size(node))
            .collect();
        Self {
            pattern: Arc::clone(pattern),
            elimination: Elimination::symbolic(pattern, order, &closures),
            closures,
            schur: Pivoted::new(rows.len()),
            reference: vec![0.0; rows.len()],
            vector: vec![0.0; rows.len()],
            rows,
            factored: false,
            tolerance: PIVOT_TOLERANCE,
        }
    }

    /// The nodes that are solved last, by the dense Schur complement.
    pub fn closures(&self) -> &[usize] {
        &self.closures
    }

    fn factor_schur(&mut self, matrix: &BlockMatrix) -> Result<FactorReport, FactorError> {
        let scales = self.elimination.scales();
        for (target, &row) in self.reference.iter_mut().zip(&self.rows) {
            *target = scales[row];
        }
        self.schur
            .entries_mut()
            .copy_from_slice(self.elimination.schur());
        let found = self.schur.factor(&self.reference, self.tolerance);
        let node_of = |k: usize| self.pattern.node_of_row(self.rows[k]);
        let report = rank_report(&found, self.rows.len(), matrix, node_of)?;
        let redundant = &self.schur.order()[self.schur.rank()..];
        let first = redundant.iter().map(|&k| node_of(k)).min();
        Ok(FactorReport {
            first_dropped: first,
            ..report
        })
    }
}

impl Factorization for Loops {
    fn pattern(&self) -> &Arc<Pattern> {
        &self.pattern
    }

    fn factor(&mut self, matrix: &BlockMatrix) -> Result<FactorReport, FactorError> {
        matrix.check_pattern(&self.pattern)?;
        self.factored = false;
        let tree = self
            .elimination
            .factor(matrix, self.tolerance, 1)
            .report(matrix, |node| node)?;
        let schur = self.factor_schur(matrix)?;
        self.factored = true;
        let weakest = if schur.weakest_pivot < tree.weakest_pivot {
            schur
        } else {
            tree
        };
        Ok(FactorReport {
            dropped: tree.dropped + schur.dropped,
            first_dropped: tree.first_dropped.or(schur.first_dropped),
            ..weakest
        })
    }

    fn solve(&mut self, rhs: &mut [f64]) -> Result<(), SolveError> {
        check_length(self.pattern.dimension(), rhs.len())?;
        if !self.factored {
            return Err(SolveError::NotFactored);
        }
        self.elimination.solve_forward(rhs);
        for (target, &row) in self.vector.iter_mut().zip(&self.rows) {
            *target = rhs[row];
        }
        self.schur.solve(&mut self.vector);
        for (value, &row) in self.vector.iter().zip(&self.rows) {
            rhs[row] = *value;
        }
        self.elimination.solve_backward(rhs);
        Ok(())
    }
}
