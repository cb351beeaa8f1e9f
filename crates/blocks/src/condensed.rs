//! Elimination of what is simple, sparse factorization of the rest.
//!
//! ```text
//! [A  Cᵀ] [x_A]   [b_A]        Σ = D − C A⁻¹ Cᵀ        Σ x_D = b_D − C A⁻¹ b_A
//! [C  D ] [x_D] = [b_D]        x_A = A⁻¹ (b_A − Cᵀ x_D)
//! ```
//!
//! `A` holds the nodes of paths (`front.rs`), and its factors are small blocks in the order
//! of elimination. `Σ` goes to the supernodal factorization. For a net of rods whose nodes
//! are negative, `−Σ` is the stiffness of the net as its nodes feel it: three rows a node,
//! and a third of the couplings that the joints have.

use crate::dissection::minimum_degree;
use crate::elimination::Elimination;
use crate::error::check_length;
use crate::front::split_front;
use crate::matrix::{BlockMatrix, Pattern};
use crate::ordering::estimate_order;
use crate::{
    Cholesky, CholeskyOptions, FactorError, FactorReport, Factorization, PIVOT_TOLERANCE,
    PatternError, SolveError,
};
use std::sync::Arc;

/// Numbers in the factors from which on a second thread is worth spawning.
const WORTH: usize = 100_000;

/// Direct solver for graphs with many paths.
pub struct Condensed {
    pattern: Arc<Pattern>,
    elimination: Elimination,
    /// The nodes that are left.
    rest: Vec<usize>,
    /// Their scalar rows.
    rows: Vec<usize>,
    reduced: BlockMatrix,
    solver: Cholesky,
    vector: Vec<f64>,
    /// Rows of the rest that the chosen nodes lead to.
    chosen: Vec<usize>,
    factor_flops: f64,
    factored: bool,
    /// Relative size below which a pivot counts as zero.
    pub tolerance: f64,
    /// Threads at most; results do not depend on it.
    pub threads: usize,
}

impl Condensed {
    /// Splits the pattern, analyses both parts and allocates.
    pub fn symbolic(
        pattern: &Arc<Pattern>,
        options: &CholeskyOptions,
    ) -> Result<Self, PatternError> {
        let (front, rest) = split_front(pattern);
        let (elimination, remainder) = Elimination::condensing(pattern, &front, &rest)?;
        let rows: Vec<usize> = rest
            .iter()
            .flat_map(|&node| pattern.row(node)..pattern.row(node) + pattern.size(node))
            .collect();
        Ok(Self {
            pattern: Arc::clone(pattern),
            elimination,
            reduced: BlockMatrix::zeros(&remainder),
            solver: Cholesky::symbolic(&remainder, options)?,
            vector: vec![0.0; rows.len()],
            chosen: Vec::new(),
            factor_flops: estimate(pattern, &front, &remainder),
            rest,
            rows,
            factored: false,
            tolerance: PIVOT_TOLERANCE,
            threads: 1,
        })
    }

    /// Scalar rows that the sparse factorization sees.
    pub fn remaining_rows(&self) -> usize {
        self.rows.len()
    }

    /// Estimated multiplications and additions of one factorization.
    pub fn factor_flops(&self) -> f64 {
        self.factor_flops
    }

    /// Whether what is simple falls into two halves.
    pub fn is_divided(&self) -> bool {
        self.elimination.is_divided()
    }

    /// Numbers that the factors hold.
    pub fn stored(&self) -> usize {
        self.elimination.stored() + self.solver.stored()
    }
}

fn estimate(pattern: &Pattern, front: &[usize], remainder: &Pattern) -> f64 {
    let rest = estimate_order("net", remainder, &minimum_degree(remainder));
    // A node of the front has no more than two neighbours of about its own size.
    let steps = front
        .iter()
        .map(|&node| (pattern.size(node) as f64).powi(3));
    rest.factor_flops
        + steps
            .map(|cube| (1.0 / 3.0 + 2.0 + 4.0) * cube)
            .sum::<f64>()
}

impl Factorization for Condensed {
    fn pattern(&self) -> &Arc<Pattern> {
        &self.pattern
    }

    fn factor(&mut self, matrix: &BlockMatrix) -> Result<FactorReport, FactorError> {
        matrix.check_pattern(&self.pattern)?;
        self.factored = false;
        let front = self
            .elimination
            .factor(matrix, self.tolerance, self.front_threads())
            .report(matrix, |node| node)?;
        self.elimination
            .read_schur(self.front_threads(), self.reduced.values_mut());
        self.solver.threads = self.threads;
        let rest = self
            .solver
            .factor(&self.reduced)
            .map_err(|error| self.rename(error))?;
        self.factored = true;
        let node = |k: usize| self.rest[k];
        let weakest = if rest.weakest_pivot < front.weakest_pivot {
            (rest.weakest_pivot, rest.weakest_node.map(node))
        } else {
            (front.weakest_pivot, front.weakest_node)
        };
        Ok(FactorReport {
            dropped: front.dropped + rest.dropped,
            first_dropped: front.first_dropped.or(rest.first_dropped.map(node)),
            weakest_pivot: weakest.0,
            weakest_node: weakest.1,
            shift: rest.shift,
        })
    }

    fn solve(&mut self, rhs: &mut [f64]) -> Result<(), SolveError> {
        check_length(self.pattern.dimension(), rhs.len())?;
        if !self.factored {
            return Err(SolveError::NotFactored);
        }
        let threads = self.front_threads();
        self.elimination
            .condense(rhs, &self.rows, &mut self.vector, threads);
        self.solver.solve(&mut self.vector)?;
        self.elimination
            .expand(rhs, &self.rows, &self.vector, threads);
        Ok(())
    }

    fn choose(&mut self, nodes: &[usize]) {
        let Self {
            pattern,
            elimination,
            rows,
            chosen,
            ..
        } = self;
        chosen.clear();
        elimination.choose(nodes.iter().map(|&node| pattern.row(node)), chosen);
        for &node in nodes {
            if let Ok(row) = rows.binary_search(&pattern.row(node)) {
                chosen.extend(row..row + pattern.size(node));
            }
        }
        self.solver.choose_rows(self.chosen.iter().copied());
    }

    fn solve_chosen(&mut self, rhs: &mut [f64]) -> Result<(), SolveError> {
        check_length(self.pattern.dimension(), rhs.len())?;
        if !self.factored {
            return Err(SolveError::NotFactored);
        }
        let threads = match self.elimination.stored_chosen() >= WORTH {
            true => self.front_threads(),
            false => 1,
        };
        self.elimination
            .condense_chosen(rhs, &self.rows, &mut self.vector, threads);
        self.solver.solve_chosen(&mut self.vector)?;
        self.elimination
            .expand_chosen(rhs, &self.rows, &self.vector, threads);
        Ok(())
    }
}

impl Condensed {
    /// Threads that are worth it for what comes before the sparse factorization.
    fn front_threads(&self) -> usize {
        let large = self.elimination.stored() >= WORTH;
        if large && self.elimination.is_divided() {
            self.threads
        } else {
            1
        }
    }

    /// Names a node of the whole instead of one of the rest.
    fn rename(&self, error: FactorError) -> FactorError {
        match error {
            FactorError::Indefinite { node } => FactorError::Indefinite {
                node: self.rest[node],
            },
            FactorError::NonFinite { node } => FactorError::NonFinite {
                node: self.rest[node],
            },
            other => other,
        }
    }
}
