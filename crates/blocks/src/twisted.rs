//! The elimination of a chain from both ends, wherever its numbers lie.
//!
//! See `tridiagonal.rs` for the recurrence.

use std::ops::Range;

use crate::census::Census;
use crate::chain_kernel::{Block, Column, Step, eliminate, lane, pair, transpose};
use crate::chain_kernel::{
    flush_column, scale_column, solve_lower, solve_upper, subtract_column, subtract_lower, times,
    transposed_times,
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

/// What elimination from both ends carries inwards, from the left and from the right.
#[derive(Clone, Copy)]
pub(crate) struct Inward<const N: usize> {
    pub blocks: Block<N, Pair>,
    pub rows: Column<N, Pair>,
    pub census: Census,
}

impl<const N: usize> Inward<N> {
    /// Nothing yet.
    pub fn start() -> Self {
        Self {
            blocks: [[Pair::splat(0.0); N]; N],
            rows: [Pair::splat(0.0); N],
            census: Census::default(),
        }
    }
}

/// The factors of a chain.
pub(crate) struct Twisted<const N: usize> {
    /// Position `k` in lane 0 and its mirror image in lane 1: the lower triangles of the pivots, and
    /// the couplings.
    pivots: Vec<Pair>,
    couplings: Vec<Block<N, Pair>>,
    /// The one or two nodes in the middle.
    middle: Vec<Step<N, f64>>,
}

impl<const N: usize> Twisted<N> {
    pub fn new(nodes: usize) -> Self {
        let pairs = nodes.saturating_sub(1) / 2;
        Self {
            pivots: vec![Pair::splat(0.0); pairs * triangle(N)],
            couplings: vec![[[Pair::splat(0.0); N]; N]; pairs],
            middle: vec![Step::zero(); nodes - 2 * pairs],
        }
    }

    #[inline(always)]
    fn nodes(&self) -> usize {
        2 * self.couplings.len() + self.middle.len()
    }

    #[inline(always)]
    fn keep(&mut self, k: usize, step: &Step<N, Pair>) {
        self.couplings[k] = step.coupling;
        let pivot = &mut self.pivots[k * triangle(N)..][..triangle(N)];
        for i in 0..N {
            for j in 0..i + 1 {
                pivot[triangle(i) + j] = step.pivot[i][j];
            }
        }
    }

    /// The pivot of a position and its mirror image; zero above the diagonal.
    #[inline(always)]
    fn pivot(&self, k: usize) -> Block<N, Pair> {
        let kept = &self.pivots[k * triangle(N)..][..triangle(N)];
        let mut pivot = [[Pair::splat(0.0); N]; N];
        for i in 0..N {
            for j in 0..i + 1 {
                pivot[i][j] = kept[triangle(i) + j];
            }
        }
        pivot
    }

    /// Eliminates the middle.
    #[inline(always)]
    pub fn factor_middle(
        &mut self,
        source: &impl Source<N>,
        tolerance: f64,
        inward: &mut Inward<N>,
    ) {
        let Inward {
            blocks: carries,
            census,
            ..
        } = inward;
        let (first, count) = (self.couplings.len(), self.middle.len());
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
    pub fn solve_middle(
        &self,
        rows: &mut impl Sides<N>,
        carries: &Column<N, Pair>,
    ) -> Column<N, Pair> {
        let (first, count) = (self.couplings.len(), self.middle.len());
        let mut y = [[0.0; N]; 2];
        let mut carry: Column<N, f64> = std::array::from_fn(|k| carries[k].get(0));
        for m in 0..count {
            y[m] = subtract_column(rows.read(first + m), &carry);
            if m + 1 == count {
                y[m] = subtract_column(y[m], &std::array::from_fn(|k| carries[k].get(1)));
            }
            y[m] = solve_lower(&self.middle[m].pivot, y[m]);
            carry = transposed_times(&self.middle[m].coupling, &y[m]);
        }
        let mut next = [0.0; N];
        for m in (0..count).rev() {
            let Step { pivot, coupling } = &self.middle[m];
            let along = times(coupling, &next);
            y[m] = solve_upper(pivot, subtract_column(scale_column(pivot, y[m]), &along));
            rows.write(first + m, &y[m]);
            next = y[m];
        }
        let last = count.saturating_sub(1);
        std::array::from_fn(|k| Pair::new(y[0][k], y[last][k]))
    }

    /// Number of positions that have a mirror image.
    #[inline(always)]
    pub fn pairs(&self) -> usize {
        self.couplings.len()
    }

    /// Factors some positions and their mirror images, those before them first, and, if `FORWARD`,
    /// takes the right-hand side along while the factors are at hand.
    #[inline(always)]
    pub fn eliminate<const FORWARD: bool>(
        &mut self,
        range: Range<usize>,
        source: &impl Source<N>,
        rows: &mut impl Sides<N>,
        tolerance: f64,
        inward: &mut Inward<N>,
    ) {
        let nodes = self.nodes();
        let Inward {
            blocks: mut carry,
            rows: mut rhs_carry,
            mut census,
        } = *inward;
        for k in range {
            let mirror = nodes - 1 - k;
            let block = pair(&source.diagonal(k), &source.diagonal(mirror));
            let towards_left = transpose(&source.coupling(mirror - 1));
            let coupling = pair(&source.coupling(k), &towards_left);
            let (step, next, found) = eliminate(block, &carry, coupling, tolerance);
            self.keep(k, &step);
            carry = next;
            found.enter(0, k, &mut census);
            found.enter(1, mirror, &mut census);
            if FORWARD {
                rhs_carry = forward(rows, [k, mirror], &step, &rhs_carry);
            }
        }
        *inward = Inward {
            blocks: carry,
            rows: rhs_carry,
            census,
        };
    }

    /// Takes the right-hand side from both ends along some positions and their mirror images.
    #[inline(always)]
    pub fn go_in(
        &self,
        range: Range<usize>,
        rows: &mut impl Sides<N>,
        carry: &mut Column<N, Pair>,
    ) {
        for k in range {
            let step = Step {
                pivot: self.pivot(k),
                coupling: self.couplings[k],
            };
            *carry = forward(rows, [k, self.nodes() - 1 - k], &step, carry);
        }
    }

    /// Substitutes back along some positions and their mirror images, those towards the middle
    /// first; `next` is the solution there.
    #[inline(always)]
    pub fn go_out(
        &self,
        range: Range<usize>,
        rows: &mut impl Sides<N>,
        next: &mut Column<N, Pair>,
    ) {
        let nodes = self.nodes();
        for k in range.rev() {
            let (z, pivot) = (read_pair(rows, k, nodes - 1 - k), self.pivot(k));
            let along = flush_column(times(&self.couplings[k], next));
            *next = solve_upper(&pivot, subtract_column(scale_column(&pivot, z), &along));
            write_pair(rows, k, nodes - 1 - k, next);
        }
    }

    /// Factors all, and takes the right-hand side along if `FORWARD`.
    #[inline(always)]
    pub fn eliminate_all<const FORWARD: bool>(
        &mut self,
        source: &impl Source<N>,
        rows: &mut impl Sides<N>,
        tolerance: f64,
    ) -> Inward<N> {
        let mut inward = Inward::start();
        self.eliminate::<FORWARD>(0..self.pairs(), source, rows, tolerance, &mut inward);
        self.factor_middle(source, tolerance, &mut inward);
        inward
    }

    /// Overwrites a right-hand side by its solution.
    #[inline(always)]
    pub fn solve(&self, rows: &mut impl Sides<N>) {
        let mut carry = [Pair::splat(0.0); N];
        self.go_in(0..self.pairs(), rows, &mut carry);
        let mut next = self.solve_middle(rows, &carry);
        self.go_out(0..self.pairs(), rows, &mut next);
    }

    /// Overwrites six right-hand sides of a single node by their solutions, two at a time; false, and
    /// nothing done, for a longer chain.
    #[inline(always)]
    pub fn solve_single(&self, rhs: &mut [[f64; 6]]) -> bool {
        let ([], [step], Ok(rhs)) = (
            &self.couplings[..],
            &self.middle[..],
            <&mut [[f64; 6]; N]>::try_from(rhs),
        ) else {
            return false;
        };
        let pivot = step.pivot.map(|row| row.map(Pair::splat));
        for k in [0, 2, 4] {
            let y = solve_lower(&pivot, rhs.map(|row| Pair::new(row[k], row[k + 1])));
            let x = solve_upper(&pivot, scale_column(&pivot, y));
            for (row, x) in rhs.iter_mut().zip(&x) {
                (row[k], row[k + 1]) = (x.get(0), x.get(1));
            }
        }
        true
    }

    /// Factors and solves.
    #[inline(always)]
    pub fn factor_solve(
        &mut self,
        source: &impl Source<N>,
        rows: &mut impl Sides<N>,
        tolerance: f64,
    ) -> Census {
        let inward = self.eliminate_all::<true>(source, rows, tolerance);
        let mut next = self.solve_middle(rows, &inward.rows);
        self.go_out(0..self.pairs(), rows, &mut next);
        inward.census
    }
}

/// Entries of a lower triangle of this size.
const fn triangle(n: usize) -> usize {
    n * (n + 1) / 2
}

/// One step of forward substitution at both ends; returns the next carry.
#[inline(always)]
fn forward<const N: usize>(
    rows: &mut impl Sides<N>,
    [p, q]: [usize; 2],
    step: &Step<N, Pair>,
    carry: &Column<N, Pair>,
) -> Column<N, Pair> {
    let z = solve_lower(&step.pivot, subtract_column(read_pair(rows, p, q), carry));
    write_pair(rows, p, q, &z);
    flush_column(transposed_times(&step.coupling, &z))
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
