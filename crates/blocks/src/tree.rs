//! Exact elimination from the leaves to the root, without fill.
//!
//! Joints that share a body are all coupled, so a branching mechanism is not a
//! tree of joints but a tree of cliques. Such a graph still has a perfect
//! elimination order: a joint whose remaining neighbours are all coupled with
//! each other can go without making new couplings. This is the joint tree of
//! M-ABD, section 5.3, seen from the multipliers; it takes linear time as long
//! as no body carries very many joints.

use crate::elimination::Elimination;
use crate::error::check_length;
use crate::matrix::{BlockMatrix, Pattern};
use crate::ordering::{MAX_CLIQUE, simplicial_order};
use crate::{FactorError, FactorReport, Factorization, PIVOT_TOLERANCE, PatternError, SolveError};
use std::sync::Arc;

/// Linear-time solver for forests and for trees of cliques.
pub struct Tree {
    pattern: Arc<Pattern>,
    elimination: Elimination,
    factored: bool,
    /// Relative size below which a pivot counts as zero.
    pub tolerance: f64,
}

impl Tree {
    /// Finds an elimination order without fill, or names a node on a loop.
    pub fn symbolic(pattern: &Arc<Pattern>) -> Result<Self, PatternError> {
        let found = simplicial_order(pattern, 0, MAX_CLIQUE);
        match found.closures.first() {
            Some(&node) => Err(PatternError::NotFillFree { node }),
            None => Ok(Self {
                pattern: Arc::clone(pattern),
                elimination: Elimination::symbolic(pattern, &found.order, &[]),
                factored: false,
                tolerance: PIVOT_TOLERANCE,
            }),
        }
    }

    /// Numbers that the factors hold.
    pub fn stored(&self) -> usize {
        self.elimination.stored()
    }
}

impl Factorization for Tree {
    fn pattern(&self) -> &Arc<Pattern> {
        &self.pattern
    }

    fn factor(&mut self, matrix: &BlockMatrix) -> Result<FactorReport, FactorError> {
        matrix.check_pattern(&self.pattern)?;
        self.factored = false;
        let report = self
            .elimination
            .factor(matrix, self.tolerance, 1)
            .report(matrix, |node| node)?;
        self.factored = true;
        Ok(report)
    }

    fn solve(&mut self, rhs: &mut [f64]) -> Result<(), SolveError> {
        check_length(self.pattern.dimension(), rhs.len())?;
        if !self.factored {
            return Err(SolveError::NotFactored);
        }
        self.elimination.solve_forward(rhs);
        self.elimination.solve_backward(rhs);
        Ok(())
    }

    fn solve_six(&mut self, rhs: &mut [[f64; 6]], _: &mut Vec<f64>) -> Result<(), SolveError> {
        check_length(self.pattern.dimension(), rhs.len())?;
        if !self.factored {
            return Err(SolveError::NotFactored);
        }
        self.elimination.solve_columns(rhs);
        Ok(())
    }
}
