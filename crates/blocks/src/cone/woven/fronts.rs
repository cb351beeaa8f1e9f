//! A sparse system of nodes of several rows that need not be symmetric, by fronts.
//!
//! Nodes that are eliminated together form a *front*, a dense matrix of their rows p and of the later
//! rows r that they are coupled with,
//!
//! ```text
//! ⎡ A_pp  A_pr ⎤   A_pp = P L U,   V = L⁻¹ Pᵀ A_pr,   G = A_rp U⁻¹
//! ⎣ A_rp   0   ⎦   left over for the front of the first of r:   − G V
//! ```
//!
//! Pivots are exchanged within a front only. Blocks of *touched* nodes change from one factorization to
//! the next; fronts to which no touched node leads are factored once.

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};

use super::order::{Group, groups};

/// Products of numbers from which on those of matrices are left to faer.
const LARGE: usize = 10_000;

/// A front: its rows, and where its numbers are.
#[derive(Clone, Copy, Debug, Default)]
struct Front {
    /// Rows that are eliminated, and later ones; where they start among the indices.
    pivots: usize,
    rest: usize,
    rows: usize,
    /// Where A_pp A_pr, A_rp and the part that is left over start.
    top: usize,
    left: usize,
    over: usize,
    /// The front that takes what is left over, and where the places of its rows there start.
    parent: usize,
    map: usize,
    /// Whether a touched node leads to it.
    met: bool,
}

/// No front.
const NONE: usize = usize::MAX;

/// Where the block of two nodes is: its first number, and the distance of its rows.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Spot {
    at: usize,
    stride: usize,
    left: bool,
}

/// The system.
#[derive(Clone, Debug, Default)]
pub(super) struct Fronts {
    widths: Vec<u32>,
    couplings: Vec<[u32; 2]>,
    /// First row of each node, and the front that eliminates it, with the place of its rows there.
    first: Vec<usize>,
    home: Vec<(usize, usize)>,
    fronts: Vec<Front>,
    /// Rows of each front, those that are eliminated first.
    rows: Vec<u32>,
    /// Places of the later rows of each front in its parent.
    map: Vec<u32>,
    /// The system, its factors, and what fronts leave over.
    plain: [Vec<f64>; 2],
    loaded: [Vec<f64>; 2],
    over: Vec<f64>,
    swaps: Vec<u32>,
    part: Vec<f64>,
    /// Products of numbers that a factorization takes.
    work: f64,
}

impl Fronts {
    /// Number of rows.
    pub fn len(&self) -> usize {
        let last = self.first.last().zip(self.widths.last());
        last.map_or(0, |(first, width)| first + *width as usize)
    }

    /// First row of a node.
    pub fn row(&self, node: u32) -> usize {
        self.first[node as usize]
    }

    /// Plans for nodes with so many rows and couplings, unless it did so the last time; sets all
    /// numbers to zero. Returns the products of numbers that a factorization takes.
    pub fn plan(&mut self, widths: &[u32], couplings: &[[u32; 2]]) -> f64 {
        if self.widths != widths || self.couplings != couplings {
            self.widths.clear();
            self.widths.extend_from_slice(widths);
            self.couplings.clear();
            self.couplings.extend_from_slice(couplings);
            self.arrange(&groups(widths, couplings));
        }
        self.plain.iter_mut().for_each(|values| values.fill(0.0));
        self.work
    }

    fn arrange(&mut self, groups: &[Group]) {
        self.first.clear();
        let mut row = 0;
        for width in &self.widths {
            self.first.push(row);
            row += *width as usize;
        }
        self.home.clear();
        self.home.resize(self.widths.len(), (0, 0));
        self.fronts.clear();
        self.rows.clear();
        self.work = 0.0;
        let (mut top, mut left, mut over) = (0, 0, 0);
        for (index, group) in groups.iter().enumerate() {
            let mut front = Front {
                rows: self.rows.len(),
                top,
                left,
                over,
                parent: group.parent.unwrap_or(NONE),
                ..Front::default()
            };
            for (k, &node) in group.nodes.iter().chain(&group.later).enumerate() {
                let (first, width) = (self.first[node as usize], self.widths[node as usize]);
                if k < group.nodes.len() {
                    self.home[node as usize] = (index, front.pivots);
                    front.pivots += width as usize;
                } else {
                    front.rest += width as usize;
                }
                self.rows.extend(first as u32..first as u32 + width);
            }
            let (p, r) = (front.pivots, front.rest);
            (top, left, over) = (top + p * (p + r), left + p * r, over + r * r);
            self.work += (p * (p + r) * (p + r)) as f64;
            self.fronts.push(front);
        }
        self.map_rows();
        self.plain = [vec![0.0; top], vec![0.0; left]];
        self.loaded = self.plain.clone();
        self.over = vec![0.0; over];
        self.swaps = vec![0; self.rows.len()];
    }

    /// Finds the places of the later rows of each front in its parent.
    fn map_rows(&mut self) {
        self.map.clear();
        let mut place = vec![0u32; self.len()];
        for index in 0..self.fronts.len() {
            let front = self.fronts[index];
            self.fronts[index].map = self.map.len();
            let Some(parent) = self.fronts.get(front.parent) else {
                continue;
            };
            let theirs = &self.rows[parent.rows..][..parent.pivots + parent.rest];
            for (at, row) in theirs.iter().enumerate() {
                place[*row as usize] = at as u32;
            }
            let mine = &self.rows[front.rows + front.pivots..][..front.rest];
            self.map.extend(mine.iter().map(|row| place[*row as usize]));
        }
    }

    /// Where the block of two coupled nodes is.
    pub fn spot(&self, row: u32, column: u32) -> Spot {
        let ((i, a), (j, b)) = (self.home[row as usize], self.home[column as usize]);
        let front = &self.fronts[i.min(j)];
        let (p, width) = (front.pivots, front.pivots + front.rest);
        let later = |node: u32| {
            let rows = &self.rows[front.rows..][..width];
            let first = self.first[node as usize] as u32;
            rows.iter().position(|r| *r == first).unwrap_or(0)
        };
        if i <= j {
            let column = if i == j { b } else { later(column) };
            return Spot {
                at: front.top + a * width + column,
                stride: width,
                left: false,
            };
        }
        Spot {
            at: front.left + (later(row) - p) * p + b,
            stride: p,
            left: true,
        }
    }

    /// Adds a number to the system, so far from the start of a block.
    pub fn add(&mut self, spot: Spot, row: usize, column: usize, value: f64) {
        self.plain[usize::from(spot.left)][spot.at + row * spot.stride + column] += value;
    }

    /// Starts to load what touched nodes lead to.
    pub fn unload(&mut self) {
        for front in self.fronts.iter().filter(|front| front.met) {
            let (p, r) = (front.pivots, front.rest);
            for (part, range) in [
                (0, front.top..front.top + p * (p + r)),
                (1, front.left..front.left + p * r),
            ] {
                self.loaded[part][range.clone()].copy_from_slice(&self.plain[part][range]);
            }
        }
    }

    /// Subtracts leftᵀ right of two rows of three from a block that is loaded.
    #[inline(always)]
    pub fn load(&mut self, spot: Spot, left: [&[f64]; 3], right: [&[f64]; 3]) {
        let values = &mut self.loaded[usize::from(spot.left)];
        for i in 0..left[0].len() {
            let row = &mut values[spot.at + i * spot.stride..][..right[0].len()];
            for (j, x) in row.iter_mut().enumerate() {
                *x -=
                    left[0][i] * right[0][j] + left[1][i] * right[1][j] + left[2][i] * right[2][j];
            }
        }
    }

    /// Factors all that touched nodes do not lead to. False if a pivot vanishes.
    pub fn meet(&mut self, touched: impl Iterator<Item = u32>) -> bool {
        self.fronts.iter_mut().for_each(|front| front.met = false);
        for node in touched {
            self.fronts[self.home[node as usize].0].met = true;
        }
        for index in 0..self.fronts.len() {
            let Front { met, parent, .. } = self.fronts[index];
            if met && parent != NONE {
                self.fronts[parent].met = true;
            }
        }
        let [top, left] = &mut self.loaded;
        top.copy_from_slice(&self.plain[0]);
        left.copy_from_slice(&self.plain[1]);
        self.factor(false)
    }

    /// Factors what is loaded. False if a pivot vanishes.
    pub fn factor_loaded(&mut self) -> bool {
        self.factor(true)
    }

    fn factor(&mut self, met: bool) -> bool {
        // What fronts take from each other is added to those that come later.
        for index in 0..self.fronts.len() {
            let front = self.fronts[index];
            if front.met == met {
                self.over[front.over..][..front.rest * front.rest].fill(0.0);
            }
        }
        for index in 0..self.fronts.len() {
            let front = self.fronts[index];
            if front.met == met && !self.eliminate(&front) {
                return false;
            }
            // What is factored once was taken by its parent already, unless that is factored again.
            let taken = self
                .fronts
                .get(front.parent)
                .is_some_and(|parent| parent.met == met);
            if taken {
                self.pass_on(index);
            }
        }
        true
    }

    /// Factors one front.
    fn eliminate(&mut self, front: &Front) -> bool {
        let (p, r) = (front.pivots, front.rest);
        let width = p + r;
        let [top, left] = &mut self.loaded;
        let (top, left) = (
            &mut top[front.top..][..p * width],
            &mut left[front.left..][..p * r],
        );
        let swaps = &mut self.swaps[front.rows..][..p];
        for k in 0..p {
            let size = |i: usize| top[i * width + k].abs();
            let best = (k..p).fold(k, |b, i| if size(i) > size(b) { i } else { b });
            let inverse = 1.0 / top[best * width + k];
            if !inverse.is_finite() {
                return false;
            }
            swaps[k] = best as u32;
            let (above, below) = top.split_at_mut((k + 1) * width);
            let pivot = &mut above[k * width..];
            if best != k {
                pivot.swap_with_slice(&mut below[(best - k - 1) * width..][..width]);
            }
            for row in below.chunks_exact_mut(width) {
                let part = row[k] * inverse;
                row[k] = part;
                take(&mut row[k + 1..], part, &pivot[k + 1..]);
            }
            pivot[k] = inverse;
        }
        for row in left.chunks_exact_mut(p) {
            for k in 0..p {
                let part = row[k] * top[k * width + k];
                row[k] = part;
                take(
                    &mut row[k + 1..],
                    part,
                    &top[k * width + k + 1..][..p - k - 1],
                );
            }
        }
        let over = &mut self.over[front.over..][..r * r];
        subtract_product(over, left, top, [p, r]);
        true
    }

    /// Adds what a front leaves over to its parent.
    fn pass_on(&mut self, index: usize) {
        let (front, parent) = (self.fronts[index], self.fronts[self.fronts[index].parent]);
        let (p, r) = (parent.pivots, parent.rest);
        let map = &self.map[front.map..][..front.rest];
        let split = map.partition_point(|at| (*at as usize) < p);
        // What lies in one piece here and there.
        let [top, left] = &mut self.loaded;
        let (mine, theirs) =
            self.over[front.over..parent.over + r * r].split_at_mut(parent.over - front.over);
        for (i, &row) in map.iter().enumerate() {
            let (row, line) = (row as usize, &mine[i * front.rest..][..front.rest]);
            if row < p {
                spread(
                    &mut top[parent.top + row * (p + r)..][..p + r],
                    0,
                    map,
                    line,
                );
            } else {
                spread(
                    &mut left[parent.left + (row - p) * p..][..p],
                    0,
                    &map[..split],
                    line,
                );
                let target = &mut theirs[(row - p) * r..][..r];
                spread(target, p, &map[split..], &line[split..]);
            }
        }
    }

    /// Overwrites a right-hand side, which is zero but at touched nodes, by the solution with what is
    /// loaded, right only where touched nodes lead to.
    pub fn solve(&mut self, x: &mut [f64]) {
        let Fronts {
            fronts,
            rows,
            loaded: [top, left],
            swaps,
            part,
            ..
        } = self;
        for front in fronts.iter().filter(|front| front.met) {
            let (p, r) = (front.pivots, front.rest);
            let rows = &rows[front.rows..][..p + r];
            let top = &top[front.top..][..p * (p + r)];
            part.clear();
            part.extend(rows[..p].iter().map(|row| x[*row as usize]));
            for (k, swap) in swaps[front.rows..][..p].iter().enumerate() {
                part.swap(k, *swap as usize);
            }
            for k in 1..p {
                part[k] -= dot(&top[k * (p + r)..][..k], part);
            }
            for (row, line) in rows[p..].iter().zip(left[front.left..].chunks_exact(p)) {
                x[*row as usize] -= dot(line, part);
            }
            for (row, y) in rows[..p].iter().zip(&*part) {
                x[*row as usize] = *y;
            }
        }
        for front in fronts.iter().rev().filter(|front| front.met) {
            let (p, r) = (front.pivots, front.rest);
            let rows = &rows[front.rows..][..p + r];
            let top = &top[front.top..][..p * (p + r)];
            part.clear();
            part.extend(rows.iter().map(|row| x[*row as usize]));
            for k in (0..p).rev() {
                let line = &top[k * (p + r)..][..p + r];
                let rest = dot(&line[k + 1..], &part[k + 1..]);
                part[k] = (part[k] - rest) * line[k];
                x[rows[k] as usize] = part[k];
            }
        }
    }
}

/// y −= a x.
#[inline(always)]
fn take(y: &mut [f64], a: f64, x: &[f64]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y -= a * x;
    }
}

/// The sum of the products, of four at a time.
#[inline(always)]
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; 4];
    let (a4, b4) = (a.as_chunks::<4>(), b[..a.len()].as_chunks::<4>());
    for (x, y) in a4.0.iter().zip(b4.0) {
        for k in 0..4 {
            sums[k] += x[k] * y[k];
        }
    }
    let rest: f64 = a4.1.iter().zip(b4.1).map(|(x, y)| x * y).sum();
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
}

/// over −= G V, for G of r by p and V the last r columns of p rows.
fn subtract_product(over: &mut [f64], gains: &[f64], top: &[f64], [p, r]: [usize; 2]) {
    if r == 0 {
        return;
    }
    let width = p + r;
    if p * r * r > LARGE {
        let gains = MatRef::from_row_major_slice(gains, r, p);
        let later = MatRef::from_row_major_slice(top, p, width).subcols(p, r);
        let over = MatMut::from_row_major_slice_mut(over, r, r);
        matmul(over, Accum::Add, gains, later, -1.0, Par::Seq);
        return;
    }
    let whole = p / 4 * 4;
    for (line, gain) in over.chunks_exact_mut(r).zip(gains.chunks_exact(p)) {
        for k in (0..whole).step_by(4) {
            let rows: [&[f64]; 4] = std::array::from_fn(|i| &top[(k + i) * width + p..][..r]);
            let g = &gain[k..k + 4];
            for j in 0..r {
                line[j] -= (g[0] * rows[0][j] + g[1] * rows[1][j])
                    + (g[2] * rows[2][j] + g[3] * rows[3][j]);
            }
        }
        for k in whole..p {
            take(line, gain[k], &top[k * width + p..][..r]);
        }
    }
}

/// Adds numbers to their places, less an offset.
#[inline(always)]
fn spread(target: &mut [f64], offset: usize, map: &[u32], line: &[f64]) {
    for (at, x) in map.iter().zip(line) {
        target[*at as usize - offset] += x;
    }
}
