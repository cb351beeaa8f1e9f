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

mod planner;

use crate::census::{Census, Pivots};
use crate::chain_kernel::TINY;
use crate::matrix::{BlockMatrix, Pattern};
use crate::role::pivot_scales;
use crate::small::{self, Rule};
use crate::threads::both;
use crate::{MAX_BLOCK, PatternError};
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
        let (plan, steps) = (&self.plan, 0..self.plan.steps.len());
        plan.forward::<false>(&self.values, steps, rhs, 0, &mut []);
    }

    /// Backward substitution, once the entries of closures are solved.
    pub fn solve_backward(&self, rhs: &mut [f64]) {
        let (plan, steps) = (&self.plan, 0..self.plan.steps.len());
        plan.backward::<false>(&self.values, steps, rhs, 0, &[]);
    }

    /// Forward substitution with a sparse remainder, whose scalar rows are `rows` and whose
    /// right-hand side goes to `rest`.
    pub fn condense(&mut self, rhs: &mut [f64], rows: &[usize], rest: &mut [f64], threads: usize) {
        let (plan, values, cut) = (&self.plan, &self.values, self.cut);
        let [gift_a, gift_b] = &mut self.gifts;
        let middle = cut.row.min(rhs.len());
        let (a, b) = rhs.split_at_mut(middle);
        let run = |steps, rhs: &mut [f64], start, gift: &mut Vec<f64>| {
            gift.fill(0.0);
            plan.forward::<true>(values, steps, rhs, start, gift);
        };
        both(
            threads,
            || run(0..cut.step, a, 0, gift_a),
            || run(cut.step..plan.steps.len(), b, middle, gift_b),
        );
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
        let middle = cut.row.min(rhs.len());
        let (a, b) = rhs.split_at_mut(middle);
        both(
            threads,
            || plan.backward::<true>(values, 0..cut.step, a, 0, rest),
            || plan.backward::<true>(values, cut.step..plan.steps.len(), b, middle, rest),
        );
    }
}

impl Plan {
    /// Finds the ranges that no load covers.
    fn find_holes(&mut self) {
        let inside = |load: &&Load| load.to.offset < self.schur_offset;
        let mut covered: Vec<[usize; 2]> = self
            .loads
            .iter()
            .filter(inside)
            .map(|load| {
                [
                    load.to.offset,
                    load.to.offset + load.shape[0] * load.shape[1],
                ]
            })
            .collect();
        covered.sort_unstable();
        covered.push([self.schur_offset; 2]);
        let mut end = 0;
        for [start, next] in covered {
            if start > end {
                self.holes.push([end, start]);
            }
            end = end.max(next);
        }
    }

    /// Copies the numbers of one half; those of the Schur complement are with the first.
    fn load(&self, half: &mut Half<'_>, source: &[f64], first: bool) {
        let end = half.start + half.factors.len();
        let place = |limit: usize| self.loads.partition_point(|load| load.to.offset < limit);
        // A hole may lie across the cut.
        for [from, to] in &self.holes {
            let (from, to) = ((*from).max(half.start), (*to).min(end));
            if from < to {
                half.factors[from - half.start..to - half.start].fill(0.0);
            }
        }
        for load in &self.loads[place(half.start)..place(end)] {
            load.copy(source, half.factors, half.start);
        }
        half.schur.fill(0.0);
        if first {
            for load in &self.loads[place(self.schur_offset)..] {
                load.copy(source, half.schur, self.schur_offset);
            }
        }
    }

    fn factor(&self, half: &mut Half<'_>, tolerance: f64) -> Census {
        let mut census = Census::default();
        for step in &self.steps[half.steps.clone()] {
            let rule = Rule {
                tolerance,
                sign: step.sign,
                shift: self.shift,
            };
            let found = self.eliminate(step, rule, half);
            census.add(step.node, found);
        }
        census
    }

    fn eliminate(&self, step: &Step, rule: Rule, half: &mut Half<'_>) -> Pivots {
        let n = step.size;
        let scale = &half.scales[step.row - half.row..step.row - half.row + n];
        let links = &self.links[step.links[0]..step.links[1]];
        let width: usize = links.iter().map(|link| link.size).sum();
        let end = step.offset + n * n + n * width;
        // Everything this node touches lies behind its own factors.
        let (own, later) = half.factors.split_at_mut(end - half.start);
        let (pivot, blocks) = own[step.offset - half.start..].split_at_mut(n * n);
        let found = small::factor(n, pivot, scale, rule);
        let scratch = &mut half.scratch[..blocks.len()];
        for (target, &value) in scratch.iter_mut().zip(&*blocks) {
            *target = flush(value);
        }
        let base = step.offset + n * n;
        for link in links {
            let range = link.offset - base..link.offset - base + n * link.size;
            small::solve_lower_block(n, link.size, pivot, &mut scratch[range.clone()]);
            small::scale_block(
                n,
                link.size,
                pivot,
                &scratch[range.clone()],
                &mut blocks[range],
            );
        }
        let mut targets = self.targets[step.first_update..].iter();
        for (i, first) in links.iter().enumerate() {
            for (second, target) in links[i..].iter().zip(&mut targets) {
                // The dense remainder keeps its lower triangle: rows of the later node.
                let (a, b) = if first.closure && self.dense {
                    (second, first)
                } else {
                    (first, second)
                };
                let g = &scratch[a.offset - base..];
                let h = &blocks[b.offset - base..];
                let block = match target.offset.checked_sub(self.schur_offset) {
                    Some(place) => &mut half.schur[place..],
                    None => &mut later[target.offset - end..],
                };
                small::subtract_product([n, a.size, b.size], g, h, block, target.stride);
            }
        }
        found
    }

    /// Forward substitution of some steps. The rows of `rhs` begin with `start`; what closures
    /// get goes to `rest` if they are `APART`.
    fn forward<const APART: bool>(
        &self,
        values: &[f64],
        steps: Range<usize>,
        rhs: &mut [f64],
        start: usize,
        rest: &mut [f64],
    ) {
        for step in &self.steps[steps] {
            let (n, row) = (step.size, step.row - start);
            let pivot = &values[step.offset..step.offset + n * n];
            let mut z = [0.0; MAX_BLOCK];
            for (target, &value) in z.iter_mut().zip(&rhs[row..row + n]) {
                *target = flush(value);
            }
            small::solve_lower(n, pivot, &mut z);
            rhs[row..row + n].copy_from_slice(&z[..n]);
            for link in &self.links[step.links[0]..step.links[1]] {
                let block = &values[link.offset..link.offset + n * link.size];
                let target = if APART && link.closure {
                    &mut rest[link.row..]
                } else {
                    &mut rhs[link.row - start..]
                };
                small::subtract_transposed(n, link.size, block, &z, target);
            }
        }
    }

    /// Backward substitution of some steps; see `forward`.
    fn backward<const APART: bool>(
        &self,
        values: &[f64],
        steps: Range<usize>,
        rhs: &mut [f64],
        start: usize,
        rest: &[f64],
    ) {
        for step in self.steps[steps].iter().rev() {
            let (n, row) = (step.size, step.row - start);
            let pivot = &values[step.offset..step.offset + n * n];
            let mut x = [0.0; MAX_BLOCK];
            x[..n].copy_from_slice(&rhs[row..row + n]);
            small::scale_by_inverse(n, pivot, &mut x);
            for link in &self.links[step.links[0]..step.links[1]] {
                let block = &values[link.offset..link.offset + n * link.size];
                let known = if APART && link.closure {
                    &rest[link.row..]
                } else {
                    &rhs[link.row - start..]
                };
                small::subtract_forward(n, link.size, block, known, &mut x);
            }
            small::solve_upper(n, pivot, &mut x);
            for (target, &value) in rhs[row..].iter_mut().zip(&x[..n]) {
                *target = flush(value);
            }
        }
    }
}

impl Load {
    /// Copies the block to where it goes, among numbers that begin with `start`.
    fn copy(&self, source: &[f64], values: &mut [f64], start: usize) {
        let [rows, columns] = self.shape;
        let block = &source[self.from..self.from + rows * columns];
        let (first, stride) = (self.to.offset - start, self.to.stride);
        if self.transposed {
            for (i, row) in block.chunks_exact(columns).enumerate() {
                for (j, value) in row.iter().enumerate() {
                    values[first + j * stride + i] = *value;
                }
            }
        } else if stride == columns {
            values[first..first + block.len()].copy_from_slice(block);
        } else {
            for (i, row) in block.chunks_exact(columns).enumerate() {
                let place = first + i * stride;
                values[place..place + columns].copy_from_slice(row);
            }
        }
    }
}

/// Influence that has decayed to nothing must not end in slow subnormal numbers.
#[inline(always)]
fn flush(value: f64) -> f64 {
    if value.abs() < TINY { 0.0 } else { value }
}
