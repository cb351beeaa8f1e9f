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
//! Patterns with negative nodes (`role.rs`) are eliminated in the same way. There a pivot
//! that vanishes need not mean a redundant row, so it is shifted and not dropped, and
//! refinement takes the shift out again.

use crate::census::Census;
use crate::chain_kernel::TINY;
use crate::matrix::{BlockMatrix, Pattern};
use crate::ordering::later_neighbours;
use crate::role::pivot_scales;
use crate::small::{self, Rule};
use crate::{MAX_BLOCK, PatternError};
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

/// A later neighbour of a step.
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

/// The symbolic and numeric factors.
#[derive(Clone, Debug)]
pub(crate) struct Elimination {
    steps: Vec<Step>,
    links: Vec<Link>,
    targets: Vec<Target>,
    loads: Vec<Load>,
    values: Vec<f64>,
    scratch: Vec<f64>,
    scales: Vec<f64>,
    schur_offset: usize,
    /// Whether the Schur complement is dense, of which only the lower triangle is kept.
    dense: bool,
    shift: f64,
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

    /// The Schur complement: if dense, row by row, lower triangle; if sparse, laid out like
    /// the values of its pattern.
    pub fn schur(&self) -> &[f64] {
        &self.values[self.schur_offset..]
    }

    /// Numbers that the factors hold, without the Schur complement.
    pub fn stored(&self) -> usize {
        self.schur_offset
    }

    /// The size that the pivot of each scalar row is compared with, since `factor`.
    pub fn scales(&self) -> &[f64] {
        &self.scales
    }

    /// Eliminates everything but the closures.
    pub fn factor(&mut self, matrix: &BlockMatrix, tolerance: f64) -> Census {
        self.load(matrix.values());
        pivot_scales(matrix, &mut self.scales);
        let mut census = Census::default();
        for s in 0..self.steps.len() {
            let step = self.steps[s];
            let rule = Rule {
                tolerance,
                sign: step.sign,
                shift: self.shift,
            };
            let found = self.eliminate(&step, rule);
            census.add(step.node, found);
        }
        census
    }

    fn load(&mut self, source: &[f64]) {
        self.values.fill(0.0);
        for load in &self.loads {
            let [rows, columns] = load.shape;
            let block = &source[load.from..load.from + rows * columns];
            for (i, row) in block.chunks_exact(columns).enumerate() {
                let (start, stride) = (load.to.offset, load.to.stride);
                if load.transposed {
                    for (j, value) in row.iter().enumerate() {
                        self.values[start + j * stride + i] = *value;
                    }
                } else {
                    self.values[start + i * stride..start + i * stride + columns]
                        .copy_from_slice(row);
                }
            }
        }
    }

    fn eliminate(&mut self, step: &Step, rule: Rule) -> crate::census::Pivots {
        let n = step.size;
        let scale = &self.scales[step.row..step.row + n];
        let links = &self.links[step.links[0]..step.links[1]];
        let width: usize = links.iter().map(|link| link.size).sum();
        let end = step.offset + n * n + n * width;
        // Everything this node touches lies behind its own factors.
        let (own, later) = self.values.split_at_mut(end);
        let (pivot, blocks) = own[step.offset..].split_at_mut(n * n);
        let found = small::factor(n, pivot, scale, rule);
        let scratch = &mut self.scratch[..blocks.len()];
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
                small::subtract_product(
                    [n, a.size, b.size],
                    g,
                    h,
                    &mut later[target.offset - end..],
                    target.stride,
                );
            }
        }
        found
    }

    /// Forward substitution; the entries of closures become their right-hand side.
    pub fn solve_forward(&self, rhs: &mut [f64]) {
        for step in &self.steps {
            let n = step.size;
            let pivot = &self.values[step.offset..step.offset + n * n];
            let mut z = [0.0; MAX_BLOCK];
            for (target, &value) in z.iter_mut().zip(&rhs[step.row..step.row + n]) {
                *target = flush(value);
            }
            small::solve_lower(n, pivot, &mut z);
            rhs[step.row..step.row + n].copy_from_slice(&z[..n]);
            for link in &self.links[step.links[0]..step.links[1]] {
                let block = &self.values[link.offset..link.offset + n * link.size];
                small::subtract_transposed(n, link.size, block, &z, &mut rhs[link.row..]);
            }
        }
    }

    /// Backward substitution, once the entries of closures are solved.
    pub fn solve_backward(&self, rhs: &mut [f64]) {
        for step in self.steps.iter().rev() {
            let n = step.size;
            let pivot = &self.values[step.offset..step.offset + n * n];
            let mut x = [0.0; MAX_BLOCK];
            x[..n].copy_from_slice(&rhs[step.row..step.row + n]);
            small::scale_by_inverse(n, pivot, &mut x);
            for link in &self.links[step.links[0]..step.links[1]] {
                let block = &self.values[link.offset..link.offset + n * link.size];
                small::subtract_forward(n, link.size, block, &rhs[link.row..], &mut x);
            }
            small::solve_upper(n, pivot, &mut x);
            for (target, &value) in rhs[step.row..].iter_mut().zip(&x[..n]) {
                *target = flush(value);
            }
        }
    }
}

/// Influence that has decayed to nothing must not end in slow subnormal numbers.
#[inline(always)]
fn flush(value: f64) -> f64 {
    if value.abs() < TINY { 0.0 } else { value }
}

/// Lays out the factors.
struct Planner<'a> {
    pattern: &'a Pattern,
    /// Eliminated nodes first, closures last.
    order: Vec<usize>,
    eliminated: usize,
    structure: Vec<Vec<usize>>,
    /// Offset of each step, and of each of its blocks.
    offsets: Vec<usize>,
    block_offsets: Vec<Vec<usize>>,
    schur_offset: usize,
    schur_rows: Vec<usize>,
    schur_width: usize,
    sparse: Option<Arc<Pattern>>,
}

impl<'a> Planner<'a> {
    fn new(pattern: &'a Pattern, order: &[usize], closures: &[usize]) -> Self {
        let all: Vec<usize> = order.iter().chain(closures).copied().collect();
        let structure = later_neighbours(pattern, &all, order.len());
        let mut planner = Self {
            pattern,
            order: all,
            eliminated: order.len(),
            structure,
            offsets: Vec::with_capacity(order.len()),
            block_offsets: Vec::with_capacity(order.len()),
            schur_offset: 0,
            schur_rows: Vec::with_capacity(closures.len()),
            schur_width: closures.iter().map(|&node| pattern.size(node)).sum(),
            sparse: None,
        };
        planner.place();
        planner
    }

    /// Lays the Schur complement out sparsely; returns its pattern.
    fn make_sparse(&mut self) -> Result<Arc<Pattern>, PatternError> {
        let rest = &self.order[self.eliminated..];
        let mut edges: Vec<(usize, usize)> = Vec::new();
        for later in &self.structure {
            let first = later.partition_point(|&q| q < self.eliminated);
            for (k, &a) in later[first..].iter().enumerate() {
                let pairs = later[first + k + 1..].iter();
                edges.extend(pairs.map(|&b| (a - self.eliminated, b - self.eliminated)));
            }
        }
        let mut place = vec![usize::MAX; self.order.len()];
        for (k, &node) in rest.iter().enumerate() {
            place[node] = k;
        }
        let kept = self.pattern.edges().iter();
        let kept = kept.map(|&(i, j)| (place[i], place[j]));
        edges.extend(kept.filter(|&(i, j)| i != usize::MAX && j != usize::MAX));
        let sizes: Vec<usize> = rest.iter().map(|&node| self.pattern.size(node)).collect();
        let roles = rest.iter().map(|&node| self.pattern.role(node)).collect();
        let remainder = Pattern::with_roles(&sizes, &edges, roles)?;
        self.sparse = Some(Arc::clone(&remainder));
        Ok(remainder)
    }

    fn size(&self, position: usize) -> usize {
        self.pattern.size(self.order[position])
    }

    fn place(&mut self) {
        let mut offset = 0;
        for p in 0..self.eliminated {
            let n = self.size(p);
            self.offsets.push(offset);
            offset += n * n;
            let mut blocks = Vec::with_capacity(self.structure[p].len());
            for &q in &self.structure[p] {
                blocks.push(offset);
                offset += n * self.size(q);
            }
            self.block_offsets.push(blocks);
        }
        self.schur_offset = offset;
        let mut row = 0;
        for p in self.eliminated..self.order.len() {
            self.schur_rows.push(row);
            row += self.size(p);
        }
    }

    /// The block of positions `a ≤ b`: rows of `a` unless both are closures.
    fn target(&self, a: usize, b: usize) -> Target {
        if let (Some(sparse), true) = (&self.sparse, a >= self.eliminated) {
            let (i, j) = (a - self.eliminated, b - self.eliminated);
            let offset = match sparse.edge_index(i, j) {
                Some(edge) => sparse.edge_offset(edge),
                None => sparse.diagonal_offset(i),
            };
            return Target {
                offset: self.schur_offset + offset,
                stride: self.size(b),
            };
        }
        if a >= self.eliminated {
            let (row, column) = (
                self.schur_rows[b - self.eliminated],
                self.schur_rows[a - self.eliminated],
            );
            let offset = self.schur_offset + row * self.schur_width + column;
            return Target {
                offset,
                stride: self.schur_width,
            };
        }
        if a == b {
            return Target {
                offset: self.offsets[a],
                stride: self.size(a),
            };
        }
        let place = self.structure[a].partition_point(|&q| q < b);
        Target {
            offset: self.block_offsets[a][place],
            stride: self.size(b),
        }
    }

    fn plan(self) -> Elimination {
        let schur = match &self.sparse {
            Some(sparse) => sparse.values(),
            None => self.schur_width * self.schur_width,
        };
        let mut plan = Elimination {
            steps: Vec::with_capacity(self.eliminated),
            links: Vec::new(),
            targets: Vec::new(),
            loads: self.loads(),
            values: vec![0.0; self.schur_offset + schur],
            scratch: Vec::new(),
            scales: vec![0.0; self.pattern.dimension()],
            schur_offset: self.schur_offset,
            dense: self.sparse.is_none(),
            shift: if self.pattern.is_mixed() { SHIFT } else { 0.0 },
        };
        let mut widest = 0;
        for p in 0..self.eliminated {
            let (first_link, first_update) = (plan.links.len(), plan.targets.len());
            for (place, &q) in self.structure[p].iter().enumerate() {
                let node = self.order[q];
                plan.links.push(Link {
                    size: self.pattern.size(node),
                    row: self.pattern.row(node),
                    offset: self.block_offsets[p][place],
                    closure: q >= self.eliminated,
                });
                plan.targets.extend(
                    self.structure[p][place..]
                        .iter()
                        .map(|&r| self.target(q, r)),
                );
            }
            let node = self.order[p];
            let width: usize = plan.links[first_link..].iter().map(|link| link.size).sum();
            widest = widest.max(width * self.pattern.size(node));
            plan.steps.push(Step {
                node,
                size: self.pattern.size(node),
                row: self.pattern.row(node),
                offset: self.offsets[p],
                sign: self.pattern.role(node).sign(),
                links: [first_link, plan.links.len()],
                first_update,
            });
        }
        plan.scratch = vec![0.0; widest];
        plan
    }

    fn loads(&self) -> Vec<Load> {
        let mut position = vec![0; self.order.len()];
        for (p, &node) in self.order.iter().enumerate() {
            position[node] = p;
        }
        let diagonal = (0..self.pattern.nodes()).map(|node| {
            let n = self.pattern.size(node);
            let to = self.target(position[node], position[node]);
            Load {
                from: self.pattern.diagonal_offset(node),
                shape: [n, n],
                to,
                transposed: false,
            }
        });
        let edges = self
            .pattern
            .edges()
            .iter()
            .enumerate()
            .map(|(edge, &(i, j))| {
                let (a, b) = (position[i].min(position[j]), position[i].max(position[j]));
                let dense = a >= self.eliminated && self.sparse.is_none();
                let rows = if dense { b } else { a };
                Load {
                    from: self.pattern.edge_offset(edge),
                    shape: [self.pattern.size(i), self.pattern.size(j)],
                    to: self.target(a, b),
                    transposed: rows != position[i],
                }
            });
        diagonal.chain(edges).collect()
    }
}
