//! A chain of 3×3 blocks whose numbers are made on the fly.
//!
//! Block Thomas from both ends towards the middle, as in [`crate::Chain`], for chains so long that
//! writing the matrix down and reading it back would cost more than the arithmetic. Whoever owns the
//! numbers answers for them through [`LineSource`], for some nodes at a time, so that they may be
//! made while they are asked for; only the factors are kept. Nodes are inverted by their minors
//! (`line/minors.rs`). With two threads each takes one end: the two recurrences know nothing of each
//! other until they meet, so the bits are those of one thread.

mod minors;

use std::ops::Range;

use crate::chain_kernel::{Block, Column, lane, pair, transpose};
use crate::chain_kernel::{flush_column, subtract_column, subtract_lower, times, transposed_times};
use crate::lanes::{Lane, Pair};
use minors::{Found, Step, eliminate};

/// Answers for the numbers of a chain. Reading must be cheap: diagonals are asked for once,
/// couplings once or twice.
pub trait LineSource: Send {
    /// Makes ready for these nodes: no others are asked for until the next call. False if that
    /// cannot be done.
    fn look(&mut self, nodes: Range<usize>) -> bool;
    /// Diagonal block of a node, row-major; only the lower triangle is read.
    fn diagonal(&self, node: usize) -> [[f64; 3]; 3];
    /// Block between a node (rows) and the next one (columns).
    fn coupling(&self, node: usize) -> [[f64; 3]; 3];
    /// Right-hand side of a node; asked for once.
    fn right(&self, node: usize) -> [f64; 3];
}

/// The factors of a chain of 3×3 blocks.
pub struct Line {
    nodes: usize,
    /// Position `k` in lane 0 and its mirror image in lane 1, for one thread.
    pairs: Vec<Step<Pair>>,
    /// The same for two threads: the left end, and the right end mirrored.
    halves: [Vec<Step<f64>>; 2],
    middle: Vec<Step<f64>>,
}

/// What an end carries into the middle: of the matrix and of the right-hand side.
type Carry = (Block<3, f64>, Column<3, f64>);

impl Line {
    /// Nodes at most that a source is asked to look at together.
    pub const WINDOW: usize = 128;

    /// Room for a chain of this many nodes. With `split` two threads share the work.
    pub fn new(nodes: usize, split: bool) -> Line {
        let half = nodes.saturating_sub(1) / 2;
        let [one, two] = if split { [0, half] } else { [half, 0] };
        Line {
            nodes,
            pairs: vec![Step::zero(); one],
            halves: [vec![Step::zero(); two], vec![Step::zero(); two]],
            middle: vec![Step::zero(); nodes - 2 * half],
        }
    }

    fn half(&self) -> usize {
        self.nodes.saturating_sub(1) / 2
    }

    /// Factors and solves, one entry of `rhs` a node; one source answers for each end. False if
    /// the matrix is not safely positive definite, or a source could not look: the solution is
    /// then of no use.
    pub fn factor_solve<S: LineSource>(
        &mut self,
        sources: &mut [S; 2],
        rhs: &mut [[f64; 3]],
    ) -> bool {
        assert_eq!(rhs.len(), self.nodes, "one right-hand side a node");
        if self.nodes == 0 {
            return true;
        }
        let ends = if self.halves[0].is_empty() {
            self.eliminate_pairs(sources, rhs)
        } else {
            self.eliminate_halves(sources, rhs)
        };
        let Some((left, right)) = ends else {
            return false;
        };
        let (source, first) = (&mut sources[0], self.half());
        if !source.look(first..first + self.middle.len()) {
            return false;
        }
        if !self.factor_middle(source, &left.0, &right.0) {
            return false;
        }
        for node in first..first + self.middle.len() {
            rhs[node] = source.right(node);
        }
        self.solve_middle(rhs, &left.1, &right.1);
        self.substitute_back(rhs);
        true
    }

    /// Solves with the factors at hand.
    pub fn solve(&self, rhs: &mut [[f64; 3]]) {
        assert_eq!(rhs.len(), self.nodes, "one right-hand side a node");
        if self.nodes == 0 {
            return;
        }
        let last = self.nodes - 1;
        let (left, right) = if self.halves[0].is_empty() {
            let mut carry = [Pair::splat(0.0); 3];
            for (k, step) in self.pairs.iter().enumerate() {
                let right = [rhs[k], rhs[last - k]];
                carry = forward_pair(right, rhs, [k, last - k], step, &carry);
            }
            (carry.map(|c| c.get(0)), carry.map(|c| c.get(1)))
        } else {
            let (a, b) = split(rhs, self.half());
            let [left, right] = &self.halves;
            std::thread::scope(|scope| {
                let right = scope.spawn(|| forward_half(right, b, true));
                let left = forward_half(left, a, false);
                (left, right.join().expect("substitution does not panic"))
            })
        };
        self.solve_middle(rhs, &left, &right);
        self.substitute_back(rhs);
    }

    fn eliminate_pairs<S: LineSource>(
        &mut self,
        sources: &mut [S; 2],
        rhs: &mut [[f64; 3]],
    ) -> Option<(Carry, Carry)> {
        let mut found = Found::nothing();
        let mut carry = [[Pair::splat(0.0); 3]; 3];
        let mut rhs_carry = [Pair::splat(0.0); 3];
        let (nodes, [left, right]) = (self.nodes, sources);
        for (window, targets) in self.pairs.chunks_mut(Line::WINDOW).enumerate() {
            let first = window * Line::WINDOW;
            let end = first + targets.len();
            if !left.look(first..end) || !right.look(nodes - end..nodes - first) {
                return None;
            }
            for (k, target) in (first..end).zip(targets) {
                let mirror = nodes - 1 - k;
                let block = pair(&left.diagonal(k), &right.diagonal(mirror));
                let back = transpose(&right.coupling(mirror - 1));
                let coupling = pair(&left.coupling(k), &back);
                let (step, next) = eliminate(block, &carry, coupling, &mut found);
                carry = next;
                let sides = [left.right(k), right.right(mirror)];
                rhs_carry = forward_pair(sides, rhs, [k, mirror], &step, &rhs_carry);
                *target = step;
            }
        }
        let [left, right] = [0, 1].map(|w| (lane(&carry, w), rhs_carry.map(|c| c.get(w))));
        found.is_safe(2).then_some((left, right))
    }

    fn eliminate_halves<S: LineSource>(
        &mut self,
        sources: &mut [S; 2],
        rhs: &mut [[f64; 3]],
    ) -> Option<(Carry, Carry)> {
        let (nodes, half) = (self.nodes, self.half());
        let [left, right] = &mut self.halves;
        let [one, two] = sources;
        let (a, b) = split(rhs, half);
        std::thread::scope(|scope| {
            let right = scope.spawn(move || eliminate_half(right, b, Some(nodes - 1), two));
            let left = eliminate_half(left, a, None, one);
            let right = right.join().expect("elimination does not panic");
            Some((left?, right?))
        })
    }

    fn factor_middle(
        &mut self,
        source: &impl LineSource,
        left: &Block<3, f64>,
        right: &Block<3, f64>,
    ) -> bool {
        let mut found = Found::nothing();
        let (first, count) = (self.half(), self.middle.len());
        let mut carry = *left;
        for m in 0..count {
            let last = m + 1 == count;
            let mut coupling = [[0.0; 3]; 3];
            if last {
                let mut sum = *right;
                subtract_lower(&mut sum, &carry.map(|row| row.map(|x| -x)));
                carry = sum;
            } else {
                coupling = source.coupling(first + m);
            }
            let block = source.diagonal(first + m);
            let (step, next) = eliminate(block, &carry, coupling, &mut found);
            self.middle[m] = step;
            carry = next;
        }
        found.is_safe(1)
    }

    fn solve_middle(&self, rhs: &mut [[f64; 3]], left: &Column<3, f64>, right: &Column<3, f64>) {
        let (first, count) = (self.half(), self.middle.len());
        let mut carry = *left;
        for m in 0..count {
            let mut y = subtract_column(rhs[first + m], &carry);
            if m + 1 == count {
                y = subtract_column(y, right);
            }
            carry = transposed_times(&self.middle[m].coupling, &y);
            rhs[first + m] = y;
        }
        let mut next = [0.0; 3];
        for m in (0..count).rev() {
            let along = times(&self.middle[m].coupling, &next);
            next = subtract_column(self.middle[m].answer(&rhs[first + m]), &along);
            rhs[first + m] = next;
        }
    }

    fn substitute_back(&self, rhs: &mut [[f64; 3]]) {
        let (half, last) = (self.half(), self.nodes - 1);
        let (from_left, from_right) = (rhs[half], rhs[last - half]);
        if self.halves[0].is_empty() {
            let mut next: Column<3, Pair> =
                std::array::from_fn(|i| Pair::new(from_left[i], from_right[i]));
            for (k, step) in self.pairs.iter().enumerate().rev() {
                let y: Column<3, Pair> =
                    std::array::from_fn(|i| Pair::new(rhs[k][i], rhs[last - k][i]));
                let along = flush_column(times(&step.coupling, &next));
                next = subtract_column(step.answer(&y), &along);
                rhs[k] = next.map(|x| x.get(0));
                rhs[last - k] = next.map(|x| x.get(1));
            }
        } else {
            let (a, b) = split(rhs, half);
            std::thread::scope(|scope| {
                scope.spawn(|| back_half(&self.halves[1], b, true, from_right));
                back_half(&self.halves[0], a, false, from_left);
            });
        }
    }
}

/// The first and the last `half` entries.
fn split(rhs: &mut [[f64; 3]], half: usize) -> (&mut [[f64; 3]], &mut [[f64; 3]]) {
    let (a, rest) = rhs.split_at_mut(half);
    let start = rest.len() - half;
    (a, &mut rest[start..])
}

/// Position of step k in its half; the right one is walked backwards.
#[inline(always)]
fn at(k: usize, count: usize, mirrored: bool) -> usize {
    if mirrored { count - 1 - k } else { k }
}

/// Eliminates one half; the right one is walked backwards from the `last` node.
fn eliminate_half(
    steps: &mut [Step<f64>],
    rhs: &mut [[f64; 3]],
    last: Option<usize>,
    source: &mut impl LineSource,
) -> Option<Carry> {
    let mut found = Found::nothing();
    let (mut carry, mut rhs_carry) = ([[0.0; 3]; 3], [0.0; 3]);
    let count = steps.len();
    for (window, targets) in steps.chunks_mut(Line::WINDOW).enumerate() {
        let first = window * Line::WINDOW;
        let end = first + targets.len();
        let nodes = match last {
            None => first..end,
            Some(last) => last + 1 - end..last + 1 - first,
        };
        if !source.look(nodes) {
            return None;
        }
        for (k, target) in (first..end).zip(targets) {
            let node = last.map_or(k, |last| last - k);
            let coupling = match last {
                None => source.coupling(node),
                Some(_) => transpose(&source.coupling(node - 1)),
            };
            let block = source.diagonal(node);
            let (step, next) = eliminate(block, &carry, coupling, &mut found);
            carry = next;
            let entry = &mut rhs[at(k, count, last.is_some())];
            *entry = subtract_column(source.right(node), &rhs_carry);
            rhs_carry = flush_column(transposed_times(&step.coupling, entry));
            *target = step;
        }
    }
    found.is_safe(1).then_some((carry, rhs_carry))
}

fn forward_half(steps: &[Step<f64>], rhs: &mut [[f64; 3]], mirrored: bool) -> Column<3, f64> {
    let mut carry = [0.0; 3];
    for (k, step) in steps.iter().enumerate() {
        let entry = &mut rhs[at(k, steps.len(), mirrored)];
        *entry = subtract_column(*entry, &carry);
        carry = flush_column(transposed_times(&step.coupling, entry));
    }
    carry
}

fn back_half(steps: &[Step<f64>], rhs: &mut [[f64; 3]], mirrored: bool, mut next: Column<3, f64>) {
    for (k, step) in steps.iter().enumerate().rev() {
        let entry = &mut rhs[at(k, steps.len(), mirrored)];
        let along = flush_column(times(&step.coupling, &next));
        next = subtract_column(step.answer(entry), &along);
        *entry = next;
    }
}

#[inline(always)]
fn forward_pair(
    right: [Column<3, f64>; 2],
    rhs: &mut [[f64; 3]],
    [k, mirror]: [usize; 2],
    step: &Step<Pair>,
    carry: &Column<3, Pair>,
) -> Column<3, Pair> {
    let read: Column<3, Pair> = std::array::from_fn(|i| Pair::new(right[0][i], right[1][i]));
    let y = subtract_column(read, carry);
    rhs[k] = y.map(|x| x.get(0));
    rhs[mirror] = y.map(|x| x.get(1));
    flush_column(transposed_times(&step.coupling, &y))
}
