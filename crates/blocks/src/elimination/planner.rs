//! Where everything of an elimination lies.

use super::choice::Choice;
use super::{Cut, Elimination, Link, Load, Plan, SHIFT, Step, Target};
use crate::PatternError;
use crate::matrix::Pattern;
use crate::ordering::later_neighbours;
use std::sync::Arc;

/// Lays out the factors.
pub(super) struct Planner<'a> {
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
    pub fn new(pattern: &'a Pattern, order: &[usize], closures: &[usize]) -> Self {
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
    pub fn make_sparse(&mut self) -> Result<Arc<Pattern>, PatternError> {
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

    pub fn plan(self) -> Elimination {
        let schur = match &self.sparse {
            Some(sparse) => sparse.values(),
            None => self.schur_width * self.schur_width,
        };
        let mut plan = Plan {
            steps: Vec::with_capacity(self.eliminated),
            links: Vec::new(),
            targets: Vec::new(),
            loads: self.loads(),
            holes: Vec::new(),
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
                    row: match q.checked_sub(self.eliminated) {
                        Some(k) if self.sparse.is_some() => self.schur_rows[k],
                        _ => self.pattern.row(node),
                    },
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
        plan.find_holes();
        let cut = match self.sparse {
            Some(_) => self
                .cut()
                .unwrap_or(Cut::nowhere(self.eliminated, self.schur_offset)),
            None => Cut::nowhere(self.eliminated, self.schur_offset),
        };
        plan.loads.sort_by_key(|load| load.to.offset);
        let second = if cut.step < self.eliminated { schur } else { 0 };
        let rest = if self.sparse.is_some() {
            self.schur_width
        } else {
            0
        };
        Elimination {
            values: vec![0.0; self.schur_offset + schur],
            second: vec![0.0; second],
            scratch: [vec![0.0; widest], vec![0.0; widest]],
            scales: vec![0.0; self.pattern.dimension()],
            gifts: [vec![0.0; rest], vec![0.0; rest]],
            choice: Choice::default(),
            plan,
            cut,
        }
    }

    /// The place nearest to the middle at which the steps fall into two halves that share nothing
    /// but what is left over, neither in the factors nor in the rows of a vector.
    fn cut(&self) -> Option<Cut> {
        let count = self.eliminated;
        let node = |p: usize| self.order[p];
        let row = |p: usize| self.pattern.row(node(p));
        let mut least = vec![usize::MAX; count + 1];
        for p in (0..count).rev() {
            least[p] = least[p + 1].min(row(p));
        }
        let (mut reach, mut end) = (0, 0);
        let mut best: Option<Cut> = None;
        for p in 0..count.saturating_sub(1) {
            let inside = self.structure[p].iter().filter(|&&q| q < count);
            reach = inside.fold(reach, |most, &q| most.max(q));
            end = end.max(row(p) + self.size(p));
            let step = p + 1;
            let away = |step: usize| step.abs_diff(count / 2);
            if reach <= p && end <= least[step] && best.is_none_or(|b| away(step) < away(b.step)) {
                best = Some(Cut {
                    step,
                    value: self.offsets[step],
                    row: least[step],
                    node: self.pattern.node_of_row(least[step]),
                });
            }
        }
        best.filter(|cut| cut.step >= count / 3 && count - cut.step >= count / 3)
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
