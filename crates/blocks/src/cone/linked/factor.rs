//! A sparse matrix of square blocks with a symmetric pattern, and its factors L U.
//!
//! Nodes are eliminated in the order of their degree, the smallest first, ties by number. No pivots
//! are exchanged between blocks: with bodies that have inertia, and contacts that only push, the
//! blocks on the diagonal stay regular. Where the matrix is symmetric, U is what Lᵀ was before its
//! columns were divided, and half of the products are enough.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use pulp::{Arch, Simd, WithSimd};

use super::products::subtract;

/// No node, and the rank of one that is not eliminated yet.
const NOTHING: u32 = u32::MAX;

/// A block, column by column.
pub(super) type Columns<const N: usize> = [[f64; N]; N];

/// Factors with the vectors of this processor, what is symmetric or not.
struct Run<'a, const N: usize>(&'a mut Factor<N>, bool);

impl<const N: usize> WithSimd for Run<'_, N> {
    type Output = bool;
    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> bool {
        match self.1 {
            true => self.0.run_with::<S, true>(simd),
            false => self.0.run_with::<S, false>(simd),
        }
    }
}

/// The factors of blocks of N by N, and the memory to find them, kept for reuse.
#[derive(Clone, Debug, Default)]
pub(super) struct Factor<const N: usize> {
    /// The node of each rank in the order of elimination, and the rank of each node.
    order: Vec<u32>,
    rank: Vec<u32>,
    /// Of each rank: the later ranks that it touches, ascending, from `starts[rank]` on.
    starts: Vec<usize>,
    later: Vec<u32>,
    diagonal: Vec<Columns<N>>,
    /// The blocks (later, rank) and (rank, later).
    lower: Vec<Columns<N>>,
    upper: Vec<Columns<N>>,
    /// Neighbours of each node that are not eliminated yet, ascending.
    around: Vec<Vec<u32>>,
    joined: Vec<u32>,
    /// Degrees of nodes, past ones among them, the smallest on top.
    queue: BinaryHeap<Reverse<(usize, u32)>>,
    /// The pairs that the present plan is for, each once, and what its factors cost.
    pairs: Vec<[u32; 2]>,
    wanted: Vec<[u32; 2]>,
    cost: usize,
    turned: Vec<[f64; N]>,
}

impl<const N: usize> Factor<N> {
    /// Finds an order and where blocks are going to be, unless those of the last plan do. Returns the
    /// products of blocks that factors take.
    pub fn plan(&mut self, nodes: usize, pairs: impl Iterator<Item = [u32; 2]>) -> usize {
        self.wanted.clear();
        let all = pairs.map(|[a, b]| [a.min(b), a.max(b)]);
        self.wanted.extend(all.filter(|[a, b]| a != b));
        self.wanted.sort_unstable();
        self.wanted.dedup();
        if self.order.len() == nodes && self.wanted == self.pairs {
            return self.cost;
        }
        std::mem::swap(&mut self.pairs, &mut self.wanted);
        self.gather_neighbours(nodes);
        self.eliminate_all(nodes);
        let counts = self.starts.windows(2).map(|s| s[1] - s[0]);
        self.cost = counts.map(|count| count * (count + 1)).sum();
        self.cost
    }

    fn gather_neighbours(&mut self, nodes: usize) {
        if self.around.len() < nodes {
            self.around.resize(nodes, Vec::new());
        }
        self.around.iter_mut().for_each(Vec::clear);
        for [a, b] in &self.pairs {
            self.around[*a as usize].push(*b);
            self.around[*b as usize].push(*a);
        }
        for list in &mut self.around[..nodes] {
            list.sort_unstable();
        }
    }

    /// Finds the order, and which later ranks each rank touches.
    fn eliminate_all(&mut self, nodes: usize) {
        self.order.clear();
        self.rank.clear();
        self.rank.resize(nodes, NOTHING);
        self.starts.clear();
        self.later.clear();
        self.queue.clear();
        let degrees = self.around[..nodes].iter().map(Vec::len);
        self.queue.extend(degrees.zip(0..).map(Reverse));
        while let Some(Reverse((degree, node))) = self.queue.pop() {
            let at = node as usize;
            if self.rank[at] != NOTHING || degree != self.around[at].len() {
                continue;
            }
            self.rank[at] = self.order.len() as u32;
            self.order.push(node);
            self.starts.push(self.later.len());
            self.later.extend_from_slice(&self.around[at]);
            self.eliminate(node);
            for other in &self.around[at] {
                let degree = self.around[*other as usize].len();
                self.queue.push(Reverse((degree, *other)));
            }
        }
        self.starts.push(self.later.len());
        for step in 0..nodes {
            let here = &mut self.later[self.starts[step]..self.starts[step + 1]];
            here.iter_mut().for_each(|n| *n = self.rank[*n as usize]);
            here.sort_unstable();
        }
    }

    /// Joins the neighbours of a node.
    fn eliminate(&mut self, node: u32) {
        let mine = std::mem::take(&mut self.around[node as usize]);
        for &other in &mine {
            let theirs = &mut self.around[other as usize];
            self.joined.clear();
            let (mut i, mut j) = (0, 0);
            while i < mine.len() || j < theirs.len() {
                let (a, b) = (mine.get(i).copied(), theirs.get(j).copied());
                let next = a.unwrap_or(NOTHING).min(b.unwrap_or(NOTHING));
                i += usize::from(a == Some(next));
                j += usize::from(b == Some(next));
                if next != other && next != node {
                    self.joined.push(next);
                }
            }
            std::mem::swap(theirs, &mut self.joined);
        }
        self.around[node as usize] = mine;
    }

    /// Sets all blocks to zero.
    pub fn reset(&mut self) {
        let sizes = [self.order.len(), self.later.len(), self.later.len()];
        let all = [&mut self.diagonal, &mut self.lower, &mut self.upper];
        for (blocks, size) in all.into_iter().zip(sizes) {
            blocks.clear();
            blocks.resize(size, [[0.0; N]; N]);
        }
    }

    /// The block of two nodes, which must be planned.
    #[inline(always)]
    pub fn block(&mut self, row: u32, column: u32) -> &mut Columns<N> {
        let (i, j) = (self.rank[row as usize], self.rank[column as usize]);
        if i == j {
            &mut self.diagonal[i as usize]
        } else if i > j {
            let slot = self.slot(j, i);
            &mut self.lower[slot]
        } else {
            let slot = self.slot(i, j);
            &mut self.upper[slot]
        }
    }

    #[inline(always)]
    fn slot(&self, rank: u32, later: u32) -> usize {
        let start = self.starts[rank as usize];
        let here = &self.later[start..self.starts[rank as usize + 1]];
        start + here.partition_point(|r| *r < later)
    }

    /// Factors; what is symmetric but for rounding in half of the products. False if a block on the diagonal
    /// is singular.
    pub fn run(&mut self, symmetric: bool) -> bool {
        Arch::new().dispatch(Run(self, symmetric))
    }

    #[inline(always)]
    fn run_with<S: Simd, const SYMMETRIC: bool>(&mut self, simd: S) -> bool {
        for k in 0..self.order.len() {
            let Some(own) = pivoted_inverse(&self.diagonal[k]) else {
                return false;
            };
            self.diagonal[k] = own;
            let mut negative = own;
            negative.iter_mut().flatten().for_each(|x| *x = -*x);
            let (first, end) = (self.starts[k], self.starts[k + 1]);
            let (lower, lower_ahead) = self.lower.split_at_mut(end);
            let (upper, upper_ahead) = self.upper.split_at_mut(end);
            for (block, over) in lower[first..].iter_mut().zip(&mut upper[first..]) {
                if SYMMETRIC {
                    *over = transposed(block);
                }
                let mut product = [[0.0; N]; N];
                subtract(simd, &mut product, block, &negative);
                *block = product;
            }
            for s in first..end {
                let i = self.later[s] as usize;
                subtract(simd, &mut self.diagonal[i], &lower[s], &upper[s]);
                // The others are all among what i touches, in the same order.
                let mut at = self.starts[i];
                for t in s + 1..end {
                    let j = self.later[t];
                    while self.later[at] != j {
                        at += 1;
                    }
                    if !SYMMETRIC {
                        subtract(simd, &mut upper_ahead[at - end], &lower[s], &upper[t]);
                    }
                    subtract(simd, &mut lower_ahead[at - end], &lower[t], &upper[s]);
                }
            }
        }
        true
    }

    /// Overwrites the right-hand sides of all nodes by the solution.
    #[inline(always)]
    pub fn solve(&mut self, x: &mut [[f64; N]]) {
        let Factor {
            order,
            starts,
            later,
            diagonal,
            lower,
            upper,
            turned,
            ..
        } = self;
        turned.clear();
        turned.extend(order.iter().map(|node| x[*node as usize]));
        for k in 0..order.len() {
            let here = turned[k];
            for slot in starts[k]..starts[k + 1] {
                take(&mut turned[later[slot] as usize], &lower[slot], &here);
            }
        }
        for k in (0..order.len()).rev() {
            let mut here = turned[k];
            for slot in starts[k]..starts[k + 1] {
                take(&mut here, &upper[slot], &turned[later[slot] as usize]);
            }
            turned[k] = [0.0; N];
            take(&mut turned[k], &diagonal[k], &here.map(|v| -v));
            x[order[k] as usize] = turned[k];
        }
    }
}

#[inline(always)]
fn transposed<const N: usize>(a: &Columns<N>) -> Columns<N> {
    std::array::from_fn(|i| std::array::from_fn(|j| a[j][i]))
}

/// y −= a x.
#[inline(always)]
fn take<const N: usize>(y: &mut [f64; N], a: &Columns<N>, x: &[f64; N]) {
    for (column, x) in a.iter().zip(x) {
        for (y, a) in y.iter_mut().zip(column) {
            *y -= a * x;
        }
    }
}

/// The inverse of a matrix by Gauss–Jordan with partial pivoting; of columns as of rows.
#[inline(always)]
pub(super) fn pivoted_inverse<const N: usize>(a: &Columns<N>) -> Option<Columns<N>> {
    let mut a = *a;
    let mut out = [[0.0; N]; N];
    for (k, row) in out.iter_mut().enumerate() {
        row[k] = 1.0;
    }
    for k in 0..N {
        let best = (k..N).fold(k, |b, i| match a[i][k].abs() > a[b][k].abs() {
            true => i,
            false => b,
        });
        let per_pivot = 1.0 / a[best][k];
        if !per_pivot.is_finite() {
            return None;
        }
        a.swap(k, best);
        out.swap(k, best);
        for j in 0..N {
            a[k][j] *= per_pivot;
            out[k][j] *= per_pivot;
        }
        let (pivot, found) = (a[k], out[k]);
        for i in (0..N).filter(|i| *i != k) {
            let factor = a[i][k];
            for j in 0..N {
                a[i][j] -= factor * pivot[j];
                out[i][j] -= factor * found[j];
            }
        }
    }
    Some(out)
}
