//! A sparse matrix of blocks of six by six with a symmetric pattern, and its factors L U.
//!
//! Nodes are eliminated in the order of their degree, the smallest first, ties by number. No pivots
//! are exchanged between blocks: with bodies that have inertia, and contacts that only push, the
//! blocks on the diagonal stay regular.

use super::Six;

/// No node, and the rank of one that is not eliminated yet.
const NOTHING: u32 = u32::MAX;

/// Six by six numbers, row-major.
type Wide = [f64; 36];

/// The factors, and the memory to find them, kept for reuse.
#[derive(Clone, Debug, Default)]
pub(super) struct Factor {
    /// The node of each rank in the order of elimination, and the rank of each node.
    order: Vec<u32>,
    rank: Vec<u32>,
    /// Of each rank: the later ranks that it touches, ascending, from `starts[rank]` on.
    starts: Vec<usize>,
    later: Vec<u32>,
    diagonal: Vec<Wide>,
    /// The blocks (later, rank) and (rank, later).
    lower: Vec<Wide>,
    upper: Vec<Wide>,
    /// Neighbours of each node that are not eliminated yet, ascending.
    around: Vec<Vec<u32>>,
    joined: Vec<u32>,
    turned: Vec<Six>,
}

impl Factor {
    /// Finds an order and where blocks are going to be. Returns the products of blocks that factors
    /// take.
    pub fn plan(&mut self, nodes: usize, pairs: impl Iterator<Item = [u32; 2]>) -> usize {
        if self.around.len() < nodes {
            self.around.resize(nodes, Vec::new());
        }
        self.around.iter_mut().for_each(Vec::clear);
        for [a, b] in pairs.filter(|[a, b]| a != b) {
            self.around[a as usize].push(b);
            self.around[b as usize].push(a);
        }
        for list in &mut self.around[..nodes] {
            list.sort_unstable();
            list.dedup();
        }
        self.order.clear();
        self.rank.clear();
        self.rank.resize(nodes, NOTHING);
        self.starts.clear();
        self.later.clear();
        for step in 0..nodes {
            let left = (0..nodes).filter(|n| self.rank[*n] == NOTHING);
            let Some(node) = left.min_by_key(|n| self.around[*n].len()) else {
                break;
            };
            self.rank[node] = step as u32;
            self.order.push(node as u32);
            self.starts.push(self.later.len());
            self.later.extend_from_slice(&self.around[node]);
            self.eliminate(node as u32);
        }
        self.starts.push(self.later.len());
        for step in 0..nodes {
            let here = &mut self.later[self.starts[step]..self.starts[step + 1]];
            here.iter_mut().for_each(|n| *n = self.rank[*n as usize]);
            here.sort_unstable();
        }
        let counts = self.starts.windows(2).map(|s| s[1] - s[0]);
        counts.map(|count| count * (count + 1)).sum()
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
            blocks.resize(size, [0.0; 36]);
        }
    }

    /// Adds to the block of two nodes, which must be planned.
    #[inline(always)]
    pub fn add(&mut self, row: u32, column: u32, block: &Wide) {
        let (i, j) = (self.rank[row as usize], self.rank[column as usize]);
        let target = if i == j {
            &mut self.diagonal[i as usize]
        } else if i > j {
            let slot = self.slot(j, i);
            &mut self.lower[slot]
        } else {
            let slot = self.slot(i, j);
            &mut self.upper[slot]
        };
        for (t, b) in target.iter_mut().zip(block) {
            *t += b;
        }
    }

    #[inline(always)]
    fn slot(&self, rank: u32, later: u32) -> usize {
        let start = self.starts[rank as usize];
        let here = &self.later[start..self.starts[rank as usize + 1]];
        start + here.partition_point(|r| *r < later)
    }

    /// Factors. False if a block on the diagonal is singular.
    #[inline(always)]
    pub fn run(&mut self) -> bool {
        for k in 0..self.order.len() {
            let Some(own) = pivoted_inverse::<6, 36>(&self.diagonal[k]) else {
                return false;
            };
            self.diagonal[k] = own;
            let range = self.starts[k]..self.starts[k + 1];
            for slot in range.clone() {
                self.lower[slot] = multiply(&self.lower[slot], &own);
            }
            for s in range.clone() {
                let i = self.later[s] as usize;
                subtract(&mut self.diagonal[i], &self.lower[s], &self.upper[s]);
                // The others are all among what i touches, in the same order.
                let mut at = self.starts[i];
                for t in s + 1..range.end {
                    let j = self.later[t];
                    while self.later[at] != j {
                        at += 1;
                    }
                    let (l, u) = (self.lower[s], self.upper[t]);
                    subtract(&mut self.upper[at], &l, &u);
                    let (l, u) = (self.lower[t], self.upper[s]);
                    subtract(&mut self.lower[at], &l, &u);
                }
            }
        }
        true
    }

    /// Overwrites the right-hand sides of all nodes by the solution.
    #[inline(always)]
    pub fn solve(&mut self, x: &mut [Six]) {
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
            turned[k] = [0.0; 6];
            take(&mut turned[k], &diagonal[k], &here.map(|v| -v));
            x[order[k] as usize] = turned[k];
        }
    }
}

/// a b.
#[inline(always)]
fn multiply(a: &Wide, b: &Wide) -> Wide {
    let mut out = [0.0; 36];
    for i in 0..6 {
        for k in 0..6 {
            let x = a[6 * i + k];
            for j in 0..6 {
                out[6 * i + j] += x * b[6 * k + j];
            }
        }
    }
    out
}

/// c −= a b.
#[inline(always)]
fn subtract(c: &mut Wide, a: &Wide, b: &Wide) {
    for i in 0..6 {
        for k in 0..6 {
            let x = a[6 * i + k];
            for j in 0..6 {
                c[6 * i + j] -= x * b[6 * k + j];
            }
        }
    }
}

/// y −= a x.
#[inline(always)]
fn take(y: &mut Six, a: &Wide, x: &Six) {
    for (y, row) in y.iter_mut().zip(a.chunks_exact(6)) {
        *y -= row.iter().zip(x).map(|(a, x)| a * x).sum::<f64>();
    }
}

/// The inverse of a matrix of N by N by Gauss–Jordan with partial pivoting.
#[inline(always)]
pub(super) fn pivoted_inverse<const N: usize, const ENTRIES: usize>(
    a: &[f64; ENTRIES],
) -> Option<[f64; ENTRIES]> {
    let mut a = *a;
    let mut out: [f64; ENTRIES] = std::array::from_fn(|e| if e % (N + 1) == 0 { 1.0 } else { 0.0 });
    for k in 0..N {
        let size = |i: usize| a[N * i + k].abs();
        let best = (k..N).fold(k, |b, i| if size(i) > size(b) { i } else { b });
        let per_pivot = 1.0 / a[N * best + k];
        if !per_pivot.is_finite() {
            return None;
        }
        for j in 0..N {
            a.swap(N * k + j, N * best + j);
            out.swap(N * k + j, N * best + j);
        }
        for j in 0..N {
            a[N * k + j] *= per_pivot;
            out[N * k + j] *= per_pivot;
        }
        for i in (0..N).filter(|i| *i != k) {
            let factor = a[N * i + k];
            for j in 0..N {
                a[N * i + j] -= factor * a[N * k + j];
                out[N * i + j] -= factor * out[N * k + j];
            }
        }
    }
    Some(out)
}
