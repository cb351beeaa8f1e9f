//! Block-sparse symmetric systems `S λ = b` on a graph.
//!
//! A node of the graph is a block row of one to six scalar rows; an edge is a
//! dense block that couples two nodes. `S` is symmetric and positive
//! (semi)definite, or quasi-definite if some nodes are displacements ([`Role`]).
//! The sparsity is fixed by a [`Pattern`]; the numbers live in a
//! [`BlockMatrix`]. Every solver speaks the same three verbs: `symbolic` looks
//! at the pattern once and allocates, [`Factorization::factor`] reads new
//! numbers, [`Factorization::solve`] overwrites a right-hand side by its
//! solution. Neither of the last two allocates (spawning threads excepted, and what faer's
//! kernels set up on a new one).
//!
//! | pattern | solver | cost |
//! |---|---|---|
//! | path | [`Chain`], [`PartitionedChain`] | linear |
//! | eight paths of one length, or one along lanes | [`braid`] | linear |
//! | tree, or cliques joined like a tree | [`Tree`] | linear, no fill |
//! | the same plus a few loops | [`Loops`] | linear times closures |
//! | any | [`Cholesky`] | sparse, supernodal |
//! | any, with hubs as nodes | [`Condensed`] | linear in the links, sparse in the hubs |
//! | any, roughly and warm | [`GaussSeidel`] | per sweep |
//! | small | [`Dense`] | cubic, the oracle of the tests |
//!
//! Redundant rows are no error: a pivot that has vanished beside the diagonal
//! entry it started from is dropped, its multiplier becomes zero, and the
//! [`FactorReport`] says so. For a consistent right-hand side this is an exact
//! solution of the semidefinite system.
//!
//! ```
//! use vincula_blocks::{BlockMatrix, Factorization, Pattern, direct_solver};
//!
//! // Two nodes of one row each, coupled: [[2, -1], [-1, 2]].
//! let pattern = Pattern::new(&[1, 1], &[(0, 1)])?;
//! let mut matrix = BlockMatrix::zeros(&pattern);
//! matrix.diagonal_mut(0)[0] = 2.0;
//! matrix.diagonal_mut(1)[0] = 2.0;
//! matrix.edge_mut(0)[0] = -1.0;
//!
//! let mut solver = direct_solver(&pattern)?;
//! solver.factor(&matrix)?;
//! let mut x = [1.0, 1.0];
//! solver.solve(&mut x)?;
//! assert_eq!(x, [1.0, 1.0]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

pub mod braid;
pub mod bridge;
mod census;
mod chain_kernel;
pub mod choice;
pub mod cholesky;
pub mod condensed;
pub mod condition;
pub mod cone;
pub mod dense;
pub mod dissection;
mod elimination;
pub mod error;
mod front;
pub mod gauss_seidel;
mod lanes;
pub mod line;
pub mod loops;
pub mod matrix;
pub mod ordering;
pub mod partitioned;
mod path;
mod pivoted;
pub mod refinement;
pub mod role;
mod small;
mod threads;
pub mod tree;
pub mod tridiagonal;
mod twisted;
mod vectors;

pub use bridge::{Bridge, Tie, Twin};
pub use choice::direct_solver;
pub use cholesky::{Cholesky, CholeskyOptions, Fill, Half, Reach, Shift};
pub use condensed::Condensed;
pub use condition::{Redundancy, redundancy};
pub use dense::Dense;
pub use error::{FactorError, FactorSolveError, PatternError, SolveError};
pub use gauss_seidel::{GaussSeidel, SweepReport};
pub use line::{Line, LineSource};
pub use loops::Loops;
pub use matrix::{BlockMatrix, MAX_BLOCK, Pattern};
pub use ordering::{Plan, Shape, plan};
pub use partitioned::PartitionedChain;
pub use refinement::{Refinement, SolveReport};
pub use role::Role;
pub use threads::both;
pub use tree::Tree;
pub use tridiagonal::Chain;

use std::sync::Arc;

/// Pivots below this fraction of the diagonal entry they started from count as
/// zero. Rounding leaves about 1e-15 where a row is redundant, and honest
/// mechanisms have been seen down to 1e-9.
pub const PIVOT_TOLERANCE: f64 = 1e-12;

/// What a factorization found out about the matrix.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FactorReport {
    /// Number of scalar rows whose pivot vanished; their multipliers are zero.
    pub dropped: usize,
    /// The node of the first dropped row, if any and if known.
    pub first_dropped: Option<usize>,
    /// The smallest kept pivot relative to its own diagonal entry, in `(0, 1]`.
    /// One means no row leans on another; 1e-10 means nearly redundant.
    pub weakest_pivot: f64,
    /// The node of that pivot, if known.
    pub weakest_node: Option<usize>,
    /// What was added to the diagonal, relative to the reference of the chosen
    /// [`Shift`]; zero for the solvers that never shift.
    pub shift: f64,
}

/// The verbs that all direct solvers share.
pub trait Factorization {
    /// The pattern this solver was made for.
    fn pattern(&self) -> &Arc<Pattern>;

    /// Reads the numbers of `matrix`, which must have this solver's pattern.
    fn factor(&mut self, matrix: &BlockMatrix) -> Result<FactorReport, FactorError>;

    /// Overwrites `rhs` (one entry per scalar row) by the solution.
    fn solve(&mut self, rhs: &mut [f64]) -> Result<(), SolveError>;

    /// Chooses nodes for [`Factorization::solve_chosen`].
    fn choose(&mut self, _nodes: &[usize]) {}

    /// As `solve`, for a right-hand side that is zero but at the chosen nodes; only there the
    /// solution is right. It may take much less.
    fn solve_chosen(&mut self, rhs: &mut [f64]) -> Result<(), SolveError> {
        self.solve(rhs)
    }

    /// As `solve` for six right-hand sides, one column each. Each comes out as it would alone.
    /// `column` is room for one of them.
    fn solve_six(&mut self, rhs: &mut [[f64; 6]], column: &mut Vec<f64>) -> Result<(), SolveError> {
        solve_columns(rhs, column, |rhs| self.solve(rhs))
    }

    /// Both at once, for a matrix that serves one right-hand side. If this
    /// fails, `rhs` holds nothing of use.
    fn factor_solve(
        &mut self,
        matrix: &BlockMatrix,
        rhs: &mut [f64],
    ) -> Result<FactorReport, FactorSolveError> {
        let report = self.factor(matrix)?;
        self.solve(rhs)?;
        Ok(report)
    }
}

/// Solves for six right-hand sides one after the other.
fn solve_columns(
    rhs: &mut [[f64; 6]],
    column: &mut Vec<f64>,
    mut solve: impl FnMut(&mut [f64]) -> Result<(), SolveError>,
) -> Result<(), SolveError> {
    column.resize(rhs.len(), 0.0);
    for k in 0..6 {
        column
            .iter_mut()
            .zip(&*rhs)
            .for_each(|(x, row)| *x = row[k]);
        solve(column)?;
        rhs.iter_mut()
            .zip(&*column)
            .for_each(|(row, x)| row[k] = *x);
    }
    Ok(())
}
