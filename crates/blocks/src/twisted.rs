//! The elimination of a chain from both ends, wherever its numbers lie.
//!
//! See `tridiagonal.rs` for the recurrence.

use crate::census::Census;
use crate::chain_kernel::{Block, Column, Step, eliminate, lane, pair, transpose};
use crate::chain_kernel::{
    flush_column, solve_pivot, subtract_column, subtract_lower, times, transposed_times,
};
use crate::lanes::{Lane, Pair};

/// The blocks of a chain.
pub(crate) trait Source<const N: usize> {
    /// The diagonal block of a position.
    fn diagonal(&self, p: usize) -> Block<N, f64>;
    /// The block between `p` and `p + 1`: rows of `p`, columns of `p + 1`.
    fn coupling(&self, p: usize) -> Block<N, f64>;
}

/// Right-hand sides, then solutions.
pub(crate) trait Sides<const N: usize> {
    fn read(&self, p: usize) -> Column<N, f64>;
    fn write(&mut self, p: usize, x: &Column<N, f64>);
}

/// The factors of a chain.
pub(crate) struct Twisted<const N: usize> {
    /// Position `k` in lane 0 and its mirror image in lane 1.
    pairs: Vec<Step<N, Pair>>,
    /// The one or two nodes in the middle.
    middle: Vec<Step<N, f64>>,
}

impl<const N: usize> Twisted<N> {
    pub fn new(nodes: usize) -> Self {
        let pairs = nodes.saturating_sub(1) / 2;
        Self {
            pairs: vec![Step::zero(); pairs],
            middle: vec![Step::zero(); nodes - 2 * pairs],
        }
    }

    #[inline(always)]
    fn nodes(&self) -> usize {
        2 * self.pairs.len() + self.middle.len()
    }

    /// Eliminates the middle. `carries` come from the left and from the right.
    #[inline(always)]
    fn factor_middle(
        &mut self,
        source: &impl Source<N>,
        tolerance: f64,
        carries: &Block<N, Pair>,
        census: &mut Census,
    ) {
        let (first, count) = (self.pairs.len(), self.middle.len());
        let mut carry = lane(carries, 0);
        for m in 0..count {
            let p = first + m;
            let last = m + 1 == count;
            let block = source.diagonal(p);
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
                source.coupling(p)
            };
            let (step, next, found) = eliminate(block, &carry, coupling, tolerance);
            self.middle[m] = step;
            carry = next;
            found.enter(0, p, census);
        }
    }

    /// Solves for the middle, given `[left, right]` carries; returns the
    /// solutions next to the left half and next to the right half.
    #[inline(always)]
    fn solve_middle(&self, rows: &mut impl Sides<N>, carries: &Column<N, Pair>) -> Column<N, Pair> {
        let (first, count) = (self.pairs.len(), self.middle.len());
        let mut y = [[0.0; N]; 2];
        let mut carry: Column<N, f64> = std::array::from_fn(|k| carries[k].get(0));
        for m in 0..count {
            y[m] = subtract_column(rows.read(first + m), &carry);
            if m + 1 == count {
                y[m] = subtract_column(y[m], &std::array::from_fn(|k| carries[k].get(1)));
            }
            carry = transposed_times(&self.middle[m].coupling, &y[m]);
        }
        let mut next = [0.0; N];
        for m in (0..count).rev() {
            let along = times(&self.middle[m].coupling, &next);
            y[m] = subtract_column(solve_pivot(&self.middle[m].pivot, y[m]), &along);
            rows.write(first + m, &y[m]);
            next = y[m];
        }
        let last = count.saturating_sub(1);
        std::array::from_fn(|k| Pair::new(y[0][k], y[last][k]))
    }

    /// Factors and, if `FORWARD`, takes the right-hand side along while the
    /// factors are at hand. Returns what the right-hand side carries into the middle.
    #[inline(always)]
    pub fn eliminate<const FORWARD: bool>(
        &mut self,
        source: &impl Source<N>,
        rows: &mut impl Sides<N>,
        tolerance: f64,
    ) -> (Census, Column<N, Pair>) {
        let mut census = Census::default();
        let nodes = self.nodes();
        let mut carry = [[Pair::splat(0.0); N]; N];
        let mut rhs_carry = [Pair::splat(0.0); N];
        for (k, target) in self.pairs.iter_mut().enumerate() {
            let mirror = nodes - 1 - k;
            let block = pair(&source.diagonal(k), &source.diagonal(mirror));
            let towards_left = transpose(&source.coupling(mirror - 1));
            let coupling = pair(&source.coupling(k), &towards_left);
            let (step, next, found) = eliminate(block, &carry, coupling, tolerance);
            *target = step;
            carry = next;
            found.enter(0, k, &mut census);
            found.enter(1, mirror, &mut census);
            if FORWARD {
                rhs_carry = forward(rows, [k, mirror], &step, &rhs_carry);
            }
        }
        self.factor_middle(source, tolerance, &carry, &mut census);
        (census, rhs_carry)
    }

    /// Solves for the middle and substitutes backward.
    #[inline(always)]
    fn finish(&self, rows: &mut impl Sides<N>, carry: &Column<N, Pair>) {
        let nodes = self.nodes();
        let mut next = self.solve_middle(rows, carry);
        for (k, step) in self.pairs.iter().enumerate().rev() {
            let y = read_pair(rows, k, nodes - 1 - k);
            let along = flush_column(times(&step.coupling, &next));
            next = subtract_column(solve_pivot(&step.pivot, y), &along);
            write_pair(rows, k, nodes - 1 - k, &next);
        }
    }

    /// Overwrites a right-hand side by its solution.
    #[inline(always)]
    pub fn solve(&self, rows: &mut impl Sides<N>) {
        let mut carry = [Pair::splat(0.0); N];
        for (k, step) in self.pairs.iter().enumerate() {
            carry = forward(rows, [k, self.nodes() - 1 - k], step, &carry);
        }
        self.finish(rows, &carry);
    }

    /// Factors and solves.
    #[inline(always)]
    pub fn factor_solve(
        &mut self,
        source: &impl Source<N>,
        rows: &mut impl Sides<N>,
        tolerance: f64,
    ) -> Census {
        let (census, carry) = self.eliminate::<true>(source, rows, tolerance);
        self.finish(rows, &carry);
        census
    }
}

/// One step of forward substitution at both ends; returns the next carry.
#[inline(always)]
fn forward<const N: usize>(
    rows: &mut impl Sides<N>,
    [p, q]: [usize; 2],
    step: &Step<N, Pair>,
    carry: &Column<N, Pair>,
) -> Column<N, Pair> {
    let y = subtract_column(read_pair(rows, p, q), carry);
    write_pair(rows, p, q, &y);
    flush_column(transposed_times(&step.coupling, &y))
}

#[inline(always)]
fn negated<const N: usize>(a: &Block<N, f64>) -> Block<N, f64> {
    std::array::from_fn(|i| std::array::from_fn(|j| -a[i][j]))
}

#[inline(always)]
fn read_pair<const N: usize>(rows: &impl Sides<N>, p: usize, q: usize) -> Column<N, Pair> {
    let (a, b) = (rows.read(p), rows.read(q));
    std::array::from_fn(|k| Pair::new(a[k], b[k]))
}

#[inline(always)]
fn write_pair<const N: usize>(rows: &mut impl Sides<N>, p: usize, q: usize, x: &Column<N, Pair>) {
    rows.write(p, &std::array::from_fn(|k| x[k].get(0)));
    rows.write(q, &std::array::from_fn(|k| x[k].get(1)));
}
