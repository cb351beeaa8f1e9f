//! A chain cut into a fixed number of parts, for several threads.
//!
//! Between neighbouring parts one node is set aside as a separator. Inside a
//! part the nodes are eliminated one after another; an inner part drags along
//! the fill to the separator on its left, the spike `F`:
//!
//! ```text
//! [G_B G_F] = L⁻¹ [B Fᵀ]     carry' = G_Bᵀ Δ⁻¹ G_B     F' = −G_Fᵀ Δ⁻¹ G_B
//! left separator ← left separator − G_Fᵀ Δ⁻¹ G_F
//! ```
//!
//! The first part is eliminated rightwards and the last one leftwards, so these
//! two have no spike. What remains is a short block-tridiagonal system of the
//! separators (substructuring; the SPIKE method of Polizzi and Sameh). The cuts
//! depend on the number of parts only and the threads merely share the parts
//! out, so that the bits of the result do not depend on the number of threads.

use crate::census::Census;
use crate::chain_kernel::*;
use crate::error::check_length;
use crate::matrix::{BlockMatrix, Pattern};
use crate::path::Layout;
use crate::tridiagonal::path_layout;
use crate::{FactorError, FactorReport, Factorization, PIVOT_TOLERANCE, PatternError, SolveError};
use std::ops::Range;
use std::sync::Arc;

/// Shorter parts are not worth a thread.
const SHORTEST_PART: usize = 4;

/// Solver for long paths that spreads over threads.
pub struct PartitionedChain {
    pattern: Arc<Pattern>,
    layout: Layout,
    steps: Box<dyn Steps + Send + Sync>,
    factored: bool,
    /// Threads to use, at least one. More than one makes each call spawn them.
    pub threads: usize,
    /// Relative size below which a pivot counts as zero.
    pub tolerance: f64,
}

impl PartitionedChain {
    /// Prepares for a pattern whose edges all join neighbours of `order`, cut
    /// into `parts` parts (fewer if the chain is short).
    pub fn symbolic(
        pattern: &Arc<Pattern>,
        order: &[usize],
        parts: usize,
    ) -> Result<Self, PatternError> {
        let layout = path_layout(pattern, order)?;
        let largest = pattern.sizes().iter().copied().max().unwrap_or(1);
        let (nodes, natural) = (order.len(), layout.natural());
        let steps = match largest {
            1 => steps::<1>(nodes, parts, natural),
            2 => steps::<2>(nodes, parts, natural),
            3 => steps::<3>(nodes, parts, natural),
            4 => steps::<4>(nodes, parts, natural),
            5 => steps::<5>(nodes, parts, natural),
            _ => steps::<6>(nodes, parts, natural),
        };
        Ok(Self {
            pattern: Arc::clone(pattern),
            layout,
            steps,
            factored: false,
            threads: 1,
            tolerance: PIVOT_TOLERANCE,
        })
    }
}

impl Factorization for PartitionedChain {
    fn pattern(&self) -> &Arc<Pattern> {
        &self.pattern
    }

    fn factor(&mut self, matrix: &BlockMatrix) -> Result<FactorReport, FactorError> {
        matrix.check_pattern(&self.pattern)?;
        self.factored = false;
        let context = Context {
            layout: &self.layout,
            matrix,
            tolerance: self.tolerance,
        };
        let census = self.steps.factor(&context, self.threads);
        let report = census.report(matrix, |p| self.layout.node(p))?;
        self.factored = true;
        Ok(report)
    }

    fn solve(&mut self, rhs: &mut [f64]) -> Result<(), SolveError> {
        check_length(self.pattern.dimension(), rhs.len())?;
        if !self.factored {
            return Err(SolveError::NotFactored);
        }
        self.steps.solve(&self.layout, rhs, self.threads);
        Ok(())
    }
}

fn steps<const N: usize>(
    nodes: usize,
    parts: usize,
    natural: bool,
) -> Box<dyn Steps + Send + Sync> {
    if natural {
        Box::new(Parts::<N, true>::new(nodes, parts))
    } else {
        Box::new(Parts::<N, false>::new(nodes, parts))
    }
}

/// What every part reads while it is factored.
#[derive(Clone, Copy)]
struct Context<'a> {
    layout: &'a Layout,
    matrix: &'a BlockMatrix,
    tolerance: f64,
}

/// What is compiled once per block size.
trait Steps {
    fn factor(&mut self, context: &Context<'_>, threads: usize) -> Census;
    fn solve(&mut self, layout: &Layout, rhs: &mut [f64], threads: usize);
}

const fn zero_block<const N: usize>() -> Block<N, f64> {
    [[0.0; N]; N]
}

/// One part: its positions, its factors, and what it does to its separators.
struct Part<const N: usize, const NATURAL: bool> {
    positions: Range<usize>,
    kind: Kind,
    steps: Vec<Step<N, f64>>,
    /// `Δ⁻¹ G_F` of each node; empty without a spike.
    spikes: Vec<Block<N, f64>>,
    /// To be subtracted from the separators on the left and on the right.
    to_left: Block<N, f64>,
    to_right: Block<N, f64>,
    /// The new coupling: rows of the left separator, columns of the right one.
    across: Block<N, f64>,
    census: Census,
    /// The right-hand side, then the solution, in the order of elimination.
    column: Vec<Column<N, f64>>,
    column_to_left: Column<N, f64>,
    column_to_right: Column<N, f64>,
    /// The solutions of the separators.
    left: Column<N, f64>,
    right: Column<N, f64>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Eliminated rightwards; nothing lies to the left.
    First,
    /// Eliminated rightwards, dragging a spike.
    Inner,
    /// Eliminated leftwards; nothing lies to the right.
    Last,
}

impl<const N: usize, const NATURAL: bool> Part<N, NATURAL> {
    fn new(positions: Range<usize>, kind: Kind) -> Self {
        let count = positions.len();
        Self {
            positions,
            kind,
            steps: vec![Step::zero(); count],
            spikes: vec![zero_block(); if kind == Kind::Inner { count } else { 0 }],
            to_left: zero_block(),
            to_right: zero_block(),
            across: zero_block(),
            census: Census::default(),
            column: vec![[0.0; N]; count],
            column_to_left: [0.0; N],
            column_to_right: [0.0; N],
            left: [0.0; N],
            right: [0.0; N],
        }
    }

    /// The position that is eliminated as number `k`.
    fn position(&self, k: usize) -> usize {
        match self.kind {
            Kind::Last => self.positions.end - 1 - k,
            _ => self.positions.start + k,
        }
    }

    fn factor(&mut self, context: &Context<'_>) {
        self.census = Census::default();
        match self.kind {
            Kind::Inner => self.factor_inner(context),
            _ => self.factor_outer(context),
        }
    }

    fn factor_outer(&mut self, context: &Context<'_>) {
        let Context {
            layout,
            matrix,
            tolerance,
        } = *context;
        let mut carry = zero_block();
        for k in 0..self.steps.len() {
            let p = self.position(k);
            let coupling = match self.kind {
                Kind::Last if p == 0 => zero_block(),
                Kind::Last => transpose(&layout.coupling::<N, NATURAL>(matrix, p - 1)),
                _ if p + 1 == layout.len() => zero_block(),
                _ => layout.coupling::<N, NATURAL>(matrix, p),
            };
            let (step, next, found) = eliminate(
                layout.diagonal::<N, NATURAL>(matrix, p),
                &carry,
                coupling,
                tolerance,
            );
            self.steps[k] = step;
            carry = next;
            found.enter(0, p, &mut self.census);
        }
        match self.kind {
            Kind::Last => self.to_left = carry,
            _ => self.to_right = carry,
        }
    }

    fn factor_inner(&mut self, context: &Context<'_>) {
        let Context {
            layout,
            matrix,
            tolerance,
        } = *context;
        let mut carry = zero_block();
        self.to_left = zero_block();
        // `spike` is Fᵀ: rows of the node, columns of the left separator.
        let mut spike = transpose(&layout.coupling::<N, NATURAL>(matrix, self.positions.start - 1));
        for k in 0..self.steps.len() {
            let p = self.position(k);
            let mut block = layout.diagonal::<N, NATURAL>(matrix, p);
            let scale = diagonal(&block);
            subtract_lower(&mut block, &carry);
            let found = factor(&mut block, &scale, tolerance);
            let towards = solve_lower_block(&block, layout.coupling::<N, NATURAL>(matrix, p));
            let back = solve_lower_block(&block, spike);
            let (scaled, scaled_back) = (scale_block(&block, towards), scale_block(&block, back));
            carry = inner_product::<N, f64, false>(&towards, &scaled);
            let left = inner_product::<N, f64, false>(&back, &scaled_back);
            add_lower(&mut self.to_left, &left);
            spike =
                negated(&inner_product::<N, f64, true>(&towards, &scaled_back)).map(flush_column);
            self.steps[k] = Step {
                pivot: block,
                coupling: scaled,
            };
            self.spikes[k] = scaled_back;
            found.enter(0, p, &mut self.census);
        }
        self.to_right = carry;
        self.across = transpose(&spike);
    }

    fn solve_forward(&mut self, layout: &Layout, rhs: &[f64]) {
        let mut carry = [0.0; N];
        self.column_to_left = [0.0; N];
        for k in 0..self.steps.len() {
            let y = subtract_column(layout.read::<N, NATURAL>(rhs, self.position(k)), &carry);
            let z = solve_lower(&self.steps[k].pivot, y);
            self.column[k] = z;
            carry = flush_column(transposed_times(&self.steps[k].coupling, &z));
            if let Some(spike) = self.spikes.get(k) {
                let left = transposed_times(spike, &z);
                for i in 0..N {
                    self.column_to_left[i] += left[i];
                }
            }
        }
        match self.kind {
            Kind::Last => self.column_to_left = carry,
            _ => self.column_to_right = carry,
        }
    }

    fn solve_backward(&mut self) {
        let mut next = if self.kind == Kind::Last {
            self.left
        } else {
            self.right
        };
        for k in (0..self.steps.len()).rev() {
            let Step { pivot, coupling } = &self.steps[k];
            let along = flush_column(times(coupling, &next));
            next = subtract_column(scale_column(pivot, self.column[k]), &along);
            if let Some(spike) = self.spikes.get(k) {
                next = subtract_column(next, &times(spike, &self.left));
            }
            next = solve_upper(pivot, next);
            self.column[k] = next;
        }
    }
}

fn add_lower<const N: usize>(a: &mut Block<N, f64>, b: &Block<N, f64>) {
    for i in 0..N {
        for j in 0..=i {
            a[i][j] += b[i][j];
        }
    }
}

fn negated<const N: usize>(a: &Block<N, f64>) -> Block<N, f64> {
    std::array::from_fn(|i| std::array::from_fn(|j| -a[i][j]))
}

struct Parts<const N: usize, const NATURAL: bool> {
    parts: Vec<Part<N, NATURAL>>,
    /// The factors of the separators, from left to right.
    separators: Vec<Step<N, f64>>,
    column: Vec<Column<N, f64>>,
}

impl<const N: usize, const NATURAL: bool> Parts<N, NATURAL> {
    fn new(nodes: usize, wanted: usize) -> Self {
        let count = wanted.clamp(1, (nodes / (SHORTEST_PART + 1)).max(1));
        // Separator number s sits in front of part s.
        let cut = |s: usize| s * (nodes + 1) / count;
        let parts = (0..count).map(|s| {
            let kind = match s {
                0 => Kind::First,
                s if s + 1 == count => Kind::Last,
                _ => Kind::Inner,
            };
            Part::new(cut(s)..cut(s + 1) - 1, kind)
        });
        let parts = parts.collect();
        Self {
            parts,
            separators: vec![Step::zero(); count - 1],
            column: vec![[0.0; N]; count - 1],
        }
    }

    /// The position of the separator in front of part `s + 1`.
    fn separator(&self, s: usize) -> usize {
        self.parts[s].positions.end
    }

    /// Runs `work` on all parts, shared out among threads.
    fn for_each(&mut self, threads: usize, work: impl Fn(&mut Part<N, NATURAL>) + Sync) {
        let threads = threads.clamp(1, self.parts.len());
        if threads == 1 {
            return self.parts.iter_mut().for_each(work);
        }
        let share = self.parts.len().div_ceil(threads);
        let work = &work;
        std::thread::scope(|scope| {
            let mut shares = self.parts.chunks_mut(share);
            // The calling thread takes the first share itself.
            let own = shares.next();
            for share in shares {
                scope.spawn(move || share.iter_mut().for_each(work));
            }
            own.into_iter().flatten().for_each(work);
        });
    }

    fn factor_separators(&mut self, context: &Context<'_>) -> Census {
        let mut census = Census::default();
        let mut carry = zero_block();
        for s in 0..self.separators.len() {
            let p = self.separator(s);
            let block = context.layout.diagonal::<N, NATURAL>(context.matrix, p);
            add_lower(&mut carry, &self.parts[s].to_right);
            add_lower(&mut carry, &self.parts[s + 1].to_left);
            let coupling = self.parts[s + 1].across;
            let (step, next, found) = eliminate(block, &carry, coupling, context.tolerance);
            self.separators[s] = step;
            carry = next;
            found.enter(0, p, &mut census);
        }
        census
    }

    fn solve_separators(&mut self, layout: &Layout, rhs: &mut [f64]) {
        let mut carry = [0.0; N];
        for s in 0..self.separators.len() {
            let mut y = subtract_column(layout.read::<N, NATURAL>(rhs, self.separator(s)), &carry);
            y = subtract_column(y, &self.parts[s].column_to_right);
            y = subtract_column(y, &self.parts[s + 1].column_to_left);
            let Step { pivot, coupling } = &self.separators[s];
            self.column[s] = solve_lower(pivot, y);
            carry = transposed_times(coupling, &self.column[s]);
        }
        let mut next = [0.0; N];
        for s in (0..self.separators.len()).rev() {
            let Step { pivot, coupling } = &self.separators[s];
            let along = times(coupling, &next);
            next = solve_upper(
                pivot,
                subtract_column(scale_column(pivot, self.column[s]), &along),
            );
            layout.write::<N, NATURAL>(rhs, self.separator(s), &next);
            self.parts[s].right = next;
            self.parts[s + 1].left = next;
        }
    }
}

impl<const N: usize, const NATURAL: bool> Steps for Parts<N, NATURAL> {
    fn factor(&mut self, context: &Context<'_>, threads: usize) -> Census {
        self.for_each(threads, |part| part.factor(context));
        let mut census = Census::default();
        for part in &self.parts {
            census.merge(part.census);
        }
        census.merge(self.factor_separators(context));
        census
    }

    fn solve(&mut self, layout: &Layout, rhs: &mut [f64], threads: usize) {
        let source = &*rhs;
        self.for_each(threads, |part| part.solve_forward(layout, source));
        self.solve_separators(layout, rhs);
        self.for_each(threads, Part::solve_backward);
        for part in &self.parts {
            for (k, x) in part.column.iter().enumerate() {
                layout.write::<N, NATURAL>(rhs, part.position(k), x);
            }
        }
    }
}
