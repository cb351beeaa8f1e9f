//! Block Thomas elimination of a chain, from both ends towards the middle.
//!
//! ```text
//! D̂_1 = D_1,   D̂_{k+1} = D_{k+1} − B_kᵀ D̂_k⁻¹ B_k        (factor)
//! y_{k+1} = b_{k+1} − (D̂_k⁻¹ B_k)ᵀ y_k                    (forward)
//! x_k = D̂_k⁻¹ y_k − D̂_k⁻¹ B_k x_{k+1}                     (backward)
//! ```
//!
//! This is the joint chain of M-ABD, section 5.2. Both ends are eliminated at
//! once ("twisted"): the two recurrences fill each other's waiting times and
//! one SIMD register, at the same number of operations. They meet in one or two
//! middle nodes.

use crate::census::Census;
use crate::chain_kernel::{Block, Column};
use crate::error::check_length;
use crate::matrix::{BlockMatrix, Pattern};
use crate::path::Layout;
use crate::twisted::{Sides, Source, Twisted};
use crate::{
    FactorError, FactorReport, FactorSolveError, Factorization, PIVOT_TOLERANCE, PatternError,
    SolveError, solve_columns,
};
use std::sync::Arc;

/// Linear-time solver for a path, or for several paths one after another.
pub struct Chain {
    pattern: Arc<Pattern>,
    layout: Layout,
    steps: Box<dyn Steps + Send + Sync>,
    factored: bool,
    /// Relative size below which a pivot counts as zero.
    pub tolerance: f64,
}

impl Chain {
    /// Prepares for a pattern whose edges all join neighbours of `order`.
    pub fn symbolic(pattern: &Arc<Pattern>, order: &[usize]) -> Result<Self, PatternError> {
        let layout = path_layout(pattern, order)?;
        let largest = pattern.sizes().iter().copied().max().unwrap_or(1);
        let (nodes, natural) = (order.len(), layout.natural());
        let steps = match largest {
            1 => steps::<1>(nodes, natural),
            2 => steps::<2>(nodes, natural),
            3 => steps::<3>(nodes, natural),
            4 => steps::<4>(nodes, natural),
            5 => steps::<5>(nodes, natural),
            _ => steps::<6>(nodes, natural),
        };
        Ok(Self {
            pattern: Arc::clone(pattern),
            layout,
            steps,
            factored: false,
            tolerance: PIVOT_TOLERANCE,
        })
    }
}

impl Factorization for Chain {
    fn pattern(&self) -> &Arc<Pattern> {
        &self.pattern
    }

    fn factor(&mut self, matrix: &BlockMatrix) -> Result<FactorReport, FactorError> {
        matrix.check_pattern(&self.pattern)?;
        self.factored = false;
        let job = Job {
            layout: &self.layout,
            matrix,
            tolerance: self.tolerance,
        };
        let census = self.steps.factor(&job);
        let report = census.report(matrix, |p| self.layout.node(p))?;
        self.factored = true;
        Ok(report)
    }

    fn solve(&mut self, rhs: &mut [f64]) -> Result<(), SolveError> {
        check_length(self.pattern.dimension(), rhs.len())?;
        if !self.factored {
            return Err(SolveError::NotFactored);
        }
        self.steps.solve(&self.layout, rhs);
        Ok(())
    }

    /// Columns of a chain of one node are solved two at a time.
    fn solve_six(&mut self, rhs: &mut [[f64; 6]], column: &mut Vec<f64>) -> Result<(), SolveError> {
        check_length(self.pattern.dimension(), rhs.len())?;
        if !self.factored {
            return Err(SolveError::NotFactored);
        }
        if self.steps.solve_single(rhs) {
            return Ok(());
        }
        solve_columns(rhs, column, |rhs| self.solve(rhs))
    }

    /// One pass over memory less than `factor` and `solve`, same bits.
    fn factor_solve(
        &mut self,
        matrix: &BlockMatrix,
        rhs: &mut [f64],
    ) -> Result<FactorReport, FactorSolveError> {
        matrix.check_pattern(&self.pattern)?;
        check_length(self.pattern.dimension(), rhs.len())?;
        self.factored = false;
        let job = Job {
            layout: &self.layout,
            matrix,
            tolerance: self.tolerance,
        };
        let census = self.steps.factor_solve(&job, rhs);
        let report = census.report(matrix, |p| self.layout.node(p))?;
        self.factored = true;
        Ok(report)
    }
}

fn steps<const N: usize>(nodes: usize, natural: bool) -> Box<dyn Steps + Send + Sync> {
    let twisted = Twisted::<N>::new(nodes);
    if natural {
        Box::new(InMatrix::<N, true>(twisted))
    } else {
        Box::new(InMatrix::<N, false>(twisted))
    }
}

/// Checks that `order` is a path through the whole pattern.
pub(crate) fn path_layout(pattern: &Pattern, order: &[usize]) -> Result<Layout, PatternError> {
    let position = positions(pattern.nodes(), order)?;
    for &(from, to) in pattern.edges() {
        if position[from].abs_diff(position[to]) != 1 {
            return Err(PatternError::NotAPath { from, to });
        }
    }
    Ok(Layout::new(pattern, order.to_vec()))
}

/// The inverse of a permutation of `count` nodes.
pub(crate) fn positions(count: usize, order: &[usize]) -> Result<Vec<usize>, PatternError> {
    let mut position = vec![usize::MAX; count];
    for (place, &node) in order.iter().enumerate() {
        if node >= count || position[node] != usize::MAX {
            return Err(PatternError::NotAPermutation { node, count });
        }
        position[node] = place;
    }
    match position.iter().position(|&place| place == usize::MAX) {
        Some(node) => Err(PatternError::NotAPermutation { node, count }),
        None => Ok(position),
    }
}

/// The part of [`Chain`] that is compiled once per block size.
trait Steps {
    fn factor(&mut self, job: &Job<'_>) -> Census;
    fn solve(&self, layout: &Layout, rhs: &mut [f64]);
    /// Six right-hand sides of a chain of one node; false, and nothing done, for others.
    fn solve_single(&self, rhs: &mut [[f64; 6]]) -> bool;
    fn factor_solve(&mut self, job: &Job<'_>, rhs: &mut [f64]) -> Census;
}

/// What a factorization reads.
#[derive(Clone, Copy)]
struct Job<'a> {
    layout: &'a Layout,
    matrix: &'a BlockMatrix,
    tolerance: f64,
}

/// The factors of a chain whose numbers are in a matrix.
struct InMatrix<const N: usize, const NATURAL: bool>(Twisted<N>);

impl<const N: usize, const NATURAL: bool> Steps for InMatrix<N, NATURAL> {
    fn factor(&mut self, job: &Job<'_>) -> Census {
        let mut rows = Right::<NATURAL>(job.layout, &mut []);
        let source = Left::<NATURAL>(job);
        self.0
            .eliminate_all::<false>(&source, &mut rows, job.tolerance)
            .census
    }

    fn solve(&self, layout: &Layout, rhs: &mut [f64]) {
        self.0.solve(&mut Right::<NATURAL>(layout, rhs));
    }

    fn solve_single(&self, rhs: &mut [[f64; 6]]) -> bool {
        self.0.solve_single(rhs)
    }

    fn factor_solve(&mut self, job: &Job<'_>, rhs: &mut [f64]) -> Census {
        let mut rows = Right::<NATURAL>(job.layout, rhs);
        self.0
            .factor_solve(&Left::<NATURAL>(job), &mut rows, job.tolerance)
    }
}

/// Blocks in a matrix.
struct Left<'a, const NATURAL: bool>(&'a Job<'a>);

impl<const N: usize, const NATURAL: bool> Source<N> for Left<'_, NATURAL> {
    #[inline(always)]
    fn diagonal(&self, p: usize) -> Block<N, f64> {
        self.0.layout.diagonal::<N, NATURAL>(self.0.matrix, p)
    }

    #[inline(always)]
    fn coupling(&self, p: usize) -> Block<N, f64> {
        self.0.layout.coupling::<N, NATURAL>(self.0.matrix, p)
    }
}

/// The right-hand side of a matrix.
struct Right<'a, const NATURAL: bool>(&'a Layout, &'a mut [f64]);

impl<const N: usize, const NATURAL: bool> Sides<N> for Right<'_, NATURAL> {
    #[inline(always)]
    fn read(&self, p: usize) -> Column<N, f64> {
        self.0.read::<N, NATURAL>(self.1, p)
    }

    #[inline(always)]
    fn write(&mut self, p: usize, x: &Column<N, f64>) {
        self.0.write::<N, NATURAL>(self.1, p, x);
    }
}
