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
use crate::chain_kernel::{Block, Column, Step, eliminate, lane, pair, transpose};
use crate::chain_kernel::{
    flush_column, solve_pivot, subtract_column, subtract_lower, times, transposed_times,
};
use crate::error::check_length;
use crate::lanes::{Lane, Pair};
use crate::matrix::{BlockMatrix, Pattern};
use crate::path::Layout;
use crate::{
    FactorError, FactorReport, FactorSolveError, Factorization, PIVOT_TOLERANCE, PatternError,
    SolveError,
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
    if natural {
        Box::new(Twisted::<N, true>::new(nodes))
    } else {
        Box::new(Twisted::<N, false>::new(nodes))
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
    fn factor_solve(&mut self, job: &Job<'_>, rhs: &mut [f64]) -> Census;
}

/// What a factorization reads.
#[derive(Clone, Copy)]
struct Job<'a> {
    layout: &'a Layout,
    matrix: &'a BlockMatrix,
    tolerance: f64,
}

struct Twisted<const N: usize, const NATURAL: bool> {
    /// Position `k` in lane 0 and its mirror image in lane 1.
    pairs: Vec<Step<N, Pair>>,
    /// The one or two nodes in the middle.
    middle: Vec<Step<N, f64>>,
}

impl<const N: usize, const NATURAL: bool> Twisted<N, NATURAL> {
    fn new(nodes: usize) -> Self {
        let pairs = nodes.saturating_sub(1) / 2;
        Self {
            pairs: vec![Step::zero(); pairs],
            middle: vec![Step::zero(); nodes - 2 * pairs],
        }
    }

    /// Eliminates the middle. `carries` come from the left and from the right.
    fn factor_middle(&mut self, job: &Job<'_>, carries: &Block<N, Pair>, census: &mut Census) {
        let Job {
            layout,
            matrix,
            tolerance,
        } = *job;
        let (first, count) = (self.pairs.len(), self.middle.len());
        let mut carry = lane(carries, 0);
        for m in 0..count {
            let p = first + m;
            let last = m + 1 == count;
            let block: Block<N, f64> = layout.diagonal::<N, NATURAL>(matrix, p);
            if last {
                // Both neighbours push on the last node; add what they carry.
                let from_right = lane(carries, 1);
                let mut sum = from_right;
                subtract_lower(&mut sum, &negated(&carry));
                carry = sum;
            }
            let coupling = if last {
                [[0.0; N]; N]
            } else {
                layout.coupling::<N, NATURAL>(matrix, p)
            };
            let (step, next, found) = eliminate(block, &carry, coupling, tolerance);
            self.middle[m] = step;
            carry = next;
            found.enter(0, p, census);
        }
    }

    /// Solves for the middle, given `[left, right]` carries; returns the
    /// solutions next to the left half and next to the right half.
    fn solve_middle(
        &self,
        layout: &Layout,
        rhs: &mut [f64],
        carries: &Column<N, Pair>,
    ) -> Column<N, Pair> {
        let (first, count) = (self.pairs.len(), self.middle.len());
        let mut y = [[0.0; N]; 2];
        let mut carry: Column<N, f64> = std::array::from_fn(|k| carries[k].get(0));
        for m in 0..count {
            y[m] = subtract_column(layout.read::<N, NATURAL>(rhs, first + m), &carry);
            if m + 1 == count {
                y[m] = subtract_column(y[m], &std::array::from_fn(|k| carries[k].get(1)));
            }
            carry = transposed_times(&self.middle[m].coupling, &y[m]);
        }
        let mut next = [0.0; N];
        for m in (0..count).rev() {
            let along = times(&self.middle[m].coupling, &next);
            y[m] = subtract_column(solve_pivot(&self.middle[m].pivot, y[m]), &along);
            layout.write::<N, NATURAL>(rhs, first + m, &y[m]);
            next = y[m];
        }
        let last = count.saturating_sub(1);
        std::array::from_fn(|k| Pair::new(y[0][k], y[last][k]))
    }
}

impl<const N: usize, const NATURAL: bool> Twisted<N, NATURAL> {
    /// Factors and, if `FORWARD`, takes the right-hand side along while the
    /// factors are at hand. Returns what the right-hand side carries into the middle.
    #[inline(always)]
    fn eliminate<const FORWARD: bool>(
        &mut self,
        job: &Job<'_>,
        rhs: &mut [f64],
    ) -> (Census, Column<N, Pair>) {
        let Job {
            layout,
            matrix,
            tolerance,
        } = *job;
        let mut census = Census::default();
        let nodes = layout.len();
        let mut carry = [[Pair::splat(0.0); N]; N];
        let mut rhs_carry = [Pair::splat(0.0); N];
        for (k, target) in self.pairs.iter_mut().enumerate() {
            let mirror = nodes - 1 - k;
            let block = pair(
                &layout.diagonal::<N, NATURAL>(matrix, k),
                &layout.diagonal::<N, NATURAL>(matrix, mirror),
            );
            let towards_left = transpose(&layout.coupling::<N, NATURAL>(matrix, mirror - 1));
            let coupling = pair(&layout.coupling::<N, NATURAL>(matrix, k), &towards_left);
            let (step, next, found) = eliminate(block, &carry, coupling, tolerance);
            *target = step;
            carry = next;
            found.enter(0, k, &mut census);
            found.enter(1, mirror, &mut census);
            if FORWARD {
                rhs_carry = forward::<N, NATURAL>(layout, rhs, [k, mirror], &step, &rhs_carry);
            }
        }
        self.factor_middle(job, &carry, &mut census);
        (census, rhs_carry)
    }

    /// Solves for the middle and substitutes backward.
    fn finish(&self, layout: &Layout, rhs: &mut [f64], carry: &Column<N, Pair>) {
        let nodes = layout.len();
        let mut next = self.solve_middle(layout, rhs, carry);
        for (k, step) in self.pairs.iter().enumerate().rev() {
            let y = read_pair::<N, NATURAL>(layout, rhs, k, nodes - 1 - k);
            let along = flush_column(times(&step.coupling, &next));
            next = subtract_column(solve_pivot(&step.pivot, y), &along);
            write_pair::<N, NATURAL>(layout, rhs, k, nodes - 1 - k, &next);
        }
    }
}

/// One step of forward substitution at both ends; returns the next carry.
#[inline(always)]
fn forward<const N: usize, const NATURAL: bool>(
    layout: &Layout,
    rhs: &mut [f64],
    [p, q]: [usize; 2],
    step: &Step<N, Pair>,
    carry: &Column<N, Pair>,
) -> Column<N, Pair> {
    let y = subtract_column(read_pair::<N, NATURAL>(layout, rhs, p, q), carry);
    write_pair::<N, NATURAL>(layout, rhs, p, q, &y);
    flush_column(transposed_times(&step.coupling, &y))
}

impl<const N: usize, const NATURAL: bool> Steps for Twisted<N, NATURAL> {
    fn factor(&mut self, job: &Job<'_>) -> Census {
        self.eliminate::<false>(job, &mut []).0
    }

    fn solve(&self, layout: &Layout, rhs: &mut [f64]) {
        let mut carry = [Pair::splat(0.0); N];
        for (k, step) in self.pairs.iter().enumerate() {
            carry = forward::<N, NATURAL>(layout, rhs, [k, layout.len() - 1 - k], step, &carry);
        }
        self.finish(layout, rhs, &carry);
    }

    fn factor_solve(&mut self, job: &Job<'_>, rhs: &mut [f64]) -> Census {
        let (census, carry) = self.eliminate::<true>(job, rhs);
        self.finish(job.layout, rhs, &carry);
        census
    }
}

fn negated<const N: usize>(a: &Block<N, f64>) -> Block<N, f64> {
    std::array::from_fn(|i| std::array::from_fn(|j| -a[i][j]))
}

#[inline(always)]
fn read_pair<const N: usize, const NATURAL: bool>(
    layout: &Layout,
    rhs: &[f64],
    p: usize,
    q: usize,
) -> Column<N, Pair> {
    let (a, b): (Column<N, f64>, Column<N, f64>) = (
        layout.read::<N, NATURAL>(rhs, p),
        layout.read::<N, NATURAL>(rhs, q),
    );
    std::array::from_fn(|k| Pair::new(a[k], b[k]))
}

#[inline(always)]
fn write_pair<const N: usize, const NATURAL: bool>(
    layout: &Layout,
    rhs: &mut [f64],
    p: usize,
    q: usize,
    x: &Column<N, Pair>,
) {
    layout.write::<N, NATURAL>(rhs, p, &std::array::from_fn(|k| x[k].get(0)));
    layout.write::<N, NATURAL>(rhs, q, &std::array::from_fn(|k| x[k].get(1)));
}
