//! Block elimination in a given order, with a dense or a sparse remainder.
//!
//! ```text
//! for node i in order, with later neighbours a, b, …:
//!     D̂_i = L Δ Lᵀ,   G_a = L⁻¹ B_ia,   H_a = Δ⁻¹ G_a,   S_ab ← S_ab − G_aᵀ H_b
//! forward   z_i = L⁻¹ y_i,   y_a ← y_a − H_aᵀ z_i
//! backward  x_i = L⁻ᵀ (Δ⁻¹ z_i − Σ H_a x_a)
//! ```
//!
//! The nodes at the end of the order, the closures, are not eliminated one by
//! one: what remains for them is the dense Schur complement
//! `D − C A⁻¹ Cᵀ` (M-ABD, equation 58), which sits behind the factors. `Tree`
//! uses this file without closures, `Loops` with. `Condensed` leaves so many nodes that
//! the Schur complement is kept sparse, laid out like the values of a `BlockMatrix`.
//!
//! There the steps fall into two halves where that is possible. Each subtracts from a Schur
//! complement of its own, and the two are added; that is so on one thread and on two.
//!
//! Patterns with negative nodes (`role.rs`) are eliminated in the same way. There a pivot
//! that vanishes need not mean a redundant row, so it is shifted and not dropped, and
//! refinement takes the shift out again.

mod choice;
mod columns;
mod planner;
mod steps;

use crate::PatternError;
use crate::census::Census;
use crate::matrix::{BlockMatrix, Pattern};
use crate::role::pivot_scales;
use crate::threads::both;
use choice::Choice;
use planner::Planner;
use std::ops::Range;
use std::sync::Arc;

/// What a vanishing pivot becomes beside negative nodes, relative to its scale: far above
/// rounding, and small enough for refinement to gain eight digits a round.
const SHIFT: f64 = 1e-8;

/// One eliminated node.
#[derive(Clone, Copy, Debug)]
struct Step {
    node: usize,
    size: usize,
    row: usize,
    offset: usize,
    sign: f64,
    links: [usize; 2],
    first_update: usize,
}

/// A later neighbour of a step. The row of a closure is counted among the rows of the closures if
/// the Schur complement is sparse.
#[derive(Clone, Copy, Debug)]
struct Link {
    size: usize,
    row: usize,
    offset: usize,
    closure: bool,
}

/// Where a product of two links is subtracted.
#[derive(Clone, Copy, Debug)]
struct Target {
    offset: usize,
    stride: usize,
}

/// A block of the matrix and where it goes.
#[derive(Clone, Copy, Debug)]
struct Load {
    from: usize,
    shape: [usize; 2],
    to: Target,
    transposed: bool,
}

/// Where the steps fall into halves: the first step, number, scalar row and node of the second.
#[derive(Clone, Copy, Debug)]
struct Cut {
    step: usize,
    value: usize,
    row: usize,
    node: usize,
}

impl Cut {
    /// Everything is in the first half.
    fn nowhere(steps: usize, values: usize) -> Cut {
        Cut {
            step: steps,
            value: values,
            row: usize::MAX,
            node: usize::MAX,
        }
    }
}

/// What does not change.
#[derive(Clone, Debug)]
struct Plan {
    steps: Vec<Step>,
    links: Vec<Link>,
    targets: Vec<Target>,
    /// In the order of their targets.
    loads: Vec<Load>,
    /// Ranges of the factors that nothing is loaded to, ascending.
    holes: Vec<[usize; 2]>,
    schur_offset: usize,
    /// Whether the Schur complement is dense, of which only the lower triangle is kept.
    dense: bool,
    shift: f64,
}

/// The symbolic and numeric factors.
#[derive(Clone, Debug)]
pub(crate) struct Elimination {
    plan: Plan,
    cut: Cut,
    /// Factors, then the Schur complement.
    values: Vec<f64>,
    /// What the second half subtracts from the Schur complement.
    second: Vec<f64>,
    scratch: [Vec<f64>; 2],
    scales: Vec<f64>,
    /// What each half subtracts from the right-hand side of the closures, if these are sparse.
    gifts: [Vec<f64>; 2],
    choice: Choice,
}

/// One half at work: its factors, from a place on, and its Schur complement.
struct Half<'a> {
    steps: Range<usize>,
    start: usize,
    factors: &'a mut [f64],
    schur: &'a mut [f64],
    scratch: &'a mut [f64],
    /// Sizes to compare pivots with, from the row of this on.
    scales: &'a mut [f64],
    row: usize,
    /// The nodes of these rows.
    nodes: Range<usize>,
}

impl Elimination {
    /// Plans the elimination of `order`, leaving the nodes of `closures`. The
    /// two together name every node once.
    pub fn symbolic(pattern: &Pattern, order: &[usize], closures: &[usize]) -> Self {
        Planner::new(pattern, order, closures).plan()
    }

    /// The same with a sparse Schur complement. Returns its pattern too, whose nodes are
    /// those of `rest` in their order.
    pub fn condensing(
        pattern: &Pattern,
        order: &[usize],
        rest: &[usize],
    ) -> Result<(Self, Arc<Pattern>), PatternError> {
        let mut planner = Planner::new(pattern, order, rest);
        let remainder = planner.make_sparse()?;
        Ok((planner.plan(), remainder))
    }

    /// The Schur complement: row by row, lower triangle, if it is dense.
    pub fn schur(&self) -> &[f64] {
        &self.values[self.plan.schur_offset..]
    }

    /// Writes the Schur complement, laid out like the values of its pattern, if it is sparse.
    pub fn read_schur(&self, threads: usize, target: &mut [f64]) {
        let schur = self.schur();
        if self.second.is_empty() {
            target.copy_from_slice(schur);
            return;
        }
        let middle = target.len() / 2;
        let (a, b) = target.split_at_mut(middle);
        let add = |target: &mut [f64], range: Range<usize>| {
            let sources = schur[range.clone()].iter().zip(&self.second[range]);
            for (target, (a, b)) in target.iter_mut().zip(sources) {
                *target = a + b;
            }
        };
        let end = schur.len();
        both(threads, || add(a, 0..middle), || add(b, middle..end));
    }

    /// Whether there are two halves.
    pub fn is_divided(&self) -> bool {
        self.cut.step < self.plan.steps.len()
    }

    /// Numbers that the factors hold, without the Schur complement.
    pub fn stored(&self) -> usize {
        self.plan.schur_offset
    }

    /// The size that the pivot of each scalar row is compared with, since `factor`.
    pub fn scales(&self) -> &[f64] {
        &self.scales
    }

    /// Eliminates everything but the closures.
    pub fn factor(&mut self, matrix: &BlockMatrix, tolerance: f64, threads: usize) -> Census {
        let (plan, cut) = (&self.plan, self.cut);
        let nodes = matrix.pattern().nodes();
        let (factors, schur) = self.values.split_at_mut(plan.schur_offset);
        let (a, b) = factors.split_at_mut(cut.value);
        let rows = cut.row.min(self.scales.len());
        let (scales_a, scales_b) = self.scales.split_at_mut(rows);
        let [scratch_a, scratch_b] = &mut self.scratch;
        let middle = cut.node.min(nodes);
        let first = Half {
            steps: 0..cut.step,
            start: 0,
            factors: a,
            schur,
            scratch: scratch_a,
            scales: scales_a,
            row: 0,
            nodes: 0..middle,
        };
        let second = Half {
            steps: cut.step..plan.steps.len(),
            start: cut.value,
            factors: b,
            schur: &mut self.second,
            scratch: scratch_b,
            scales: scales_b,
            row: rows,
            nodes: middle..nodes,
        };
        let run = |mut half: Half<'_>, first: bool| {
            plan.load(&mut half, matrix.values(), first);
            pivot_scales(matrix, half.nodes.clone(), half.scales);
            plan.factor(&mut half, tolerance)
        };
        let (mut census, other) = both(threads, || run(first, true), || run(second, false));
        census.merge(other);
        census
    }

    /// Forward substitution; the entries of closures become their right-hand side.
    pub fn solve_forward(&self, rhs: &mut [f64]) {
        let plan = &self.plan;
        plan.forward::<false>(&self.values, plan.steps.iter(), rhs, 0, &mut []);
    }

    /// Backward substitution, once the entries of closures are solved.
    pub fn solve_backward(&self, rhs: &mut [f64]) {
        let plan = &self.plan;
        plan.backward::<false>(&self.values, plan.steps.iter(), rhs, 0, &[]);
    }

    /// Forward substitution with a sparse remainder, whose scalar rows are `rows` and whose
    /// right-hand side goes to `rest`.
    pub fn condense(&mut self, rhs: &mut [f64], rows: &[usize], rest: &mut [f64], threads: usize) {
        let (plan, values, cut) = (&self.plan, &self.values, self.cut);
        let [gift_a, gift_b] = &mut self.gifts;
        let (a, b) = plan.steps.split_at(cut.step);
        let (first, second) = rhs.split_at_mut(cut.row.min(rhs.len()));
        let middle = first.len();
        both(
            threads,
            || plan.give(values, a.iter(), first, 0, gift_a),
            || plan.give(values, b.iter(), second, middle, gift_b),
        );
        self.add_gifts(rhs, rows, rest);
    }

    /// Adds what both halves give to the right-hand side of the remainder.
    fn add_gifts(&self, rhs: &[f64], rows: &[usize], rest: &mut [f64]) {
        let gifts = self.gifts[0].iter().zip(&self.gifts[1]);
        for ((target, &row), (a, b)) in rest.iter_mut().zip(rows).zip(gifts) {
            *target = rhs[row] + (a + b);
        }
    }

    /// Backward substitution, once the remainder is solved.
    pub fn expand(&self, rhs: &mut [f64], rows: &[usize], rest: &[f64], threads: usize) {
        let (plan, values, cut) = (&self.plan, &self.values, self.cut);
        for (value, &row) in rest.iter().zip(rows) {
            rhs[row] = *value;
        }
        let (a, b) = plan.steps.split_at(cut.step);
        let (first, second) = rhs.split_at_mut(cut.row.min(rhs.len()));
        let middle = first.len();
        both(
            threads,
            || plan.backward::<true>(values, a.iter(), first, 0, rest),
            || plan.backward::<true>(values, b.iter(), second, middle, rest),
        );
    }
}

impl Plan {
    /// Forward substitution of some steps, and what these give to the closures.
    fn give<'a>(
        &self,
        values: &[f64],
        steps: impl Iterator<Item = &'a Step>,
        rhs: &mut [f64],
        start: usize,
        gift: &mut [f64],
    ) {
        gift.fill(0.0);
        self.forward::<true>(values, steps, rhs, start, gift);
    }
}
