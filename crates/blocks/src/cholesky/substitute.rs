//! Substitution with the factors of one right-hand side.
//!
//! A supernode's columns share their rows, which are brought to contiguous memory first: each is
//! looked up once for all columns. Columns go by threes, and all that a three does to later rows is one
//! loop, whether these are its own or below.
//!
//! Both halves of the tree have a vector of their own: their rows, and behind these what they
//! give to the rows of the top, or later what these are. So neither sees the other.

use std::slice::ChunksExact;

use super::Cholesky;
use super::choice::Ways;
use super::forest::Forest;
use super::fronts::shape;
use super::halves::TOP;
use super::supernodes::Supernodes;
use crate::threads::both;
use crate::vectors::vectorized;

/// The vectors of one part.
#[derive(Clone, Debug, Default)]
pub(super) struct Vectors {
    /// Own rows, then those of the top.
    x: Vec<f64>,
    /// Room for the rows of the longest supernode.
    front: Vec<f64>,
}

impl Vectors {
    /// For one part of a forest.
    pub fn new(symbolic: &Supernodes, forest: &Forest, part: usize) -> Vectors {
        let own = forest.rows[part + 1] - forest.rows[part];
        let top = forest.rows[TOP + 1] - forest.rows[TOP];
        let lengths = forest.supernodes[part]..forest.supernodes[part + 1];
        let height = |s| shape(symbolic, s).iter().sum();
        let longest = lengths.map(height).max().unwrap_or(0);
        Vectors {
            x: vec![0.0; if part == TOP { own } else { own + top }],
            front: vec![0.0; longest],
        }
    }
}

impl Cholesky {
    /// Overwrites the right-hand side by the solution; that of chosen rows if it is theirs.
    pub(super) fn substitute(&mut self, rhs: &mut [f64], chosen: bool, threads: usize) {
        let [mut a, mut b, mut top] = std::mem::take(&mut self.vectors);
        let ways = match chosen {
            true => &self.choice.ways,
            false => &self.all,
        };
        let given = &*rhs;
        both(
            threads,
            || self.go_up(0, ways, given, &mut a),
            || self.go_up(1, ways, given, &mut b),
        );
        self.read(TOP, given, &mut top.x);
        let count = top.x.len();
        for half in [&a.x, &b.x] {
            let gifts = &half[half.len() - count..];
            top.x.iter_mut().zip(gifts).for_each(|(x, gift)| *x += gift);
        }
        self.forward(TOP, ways, &mut top);
        self.backward(TOP, ways, &mut top);
        let known = &top.x[..];
        both(
            threads,
            || self.come_down(0, ways, known, &mut a),
            || self.come_down(1, ways, known, &mut b),
        );
        for (part, x) in [&a.x, &b.x, &top.x].into_iter().enumerate() {
            let range = self.forest.rows[part]..self.forest.rows[part + 1];
            let rows = self.scalar.rows[range.clone()]
                .iter()
                .zip(&self.scaling[range]);
            for (value, (&row, scale)) in x.iter().zip(rows) {
                rhs[row] = value * scale;
            }
        }
        self.vectors = [a, b, top];
    }

    /// The rows of a part, scaled.
    fn read(&self, part: usize, rhs: &[f64], x: &mut [f64]) {
        let range = self.forest.rows[part]..self.forest.rows[part + 1];
        let rows = self.scalar.rows[range.clone()]
            .iter()
            .zip(&self.scaling[range]);
        for (target, (&row, scale)) in x.iter_mut().zip(rows) {
            *target = rhs[row] * scale;
        }
    }

    fn go_up(&self, part: usize, ways: &Ways, rhs: &[f64], vectors: &mut Vectors) {
        let own = self.forest.rows[part + 1] - self.forest.rows[part];
        vectors.x[own..].fill(0.0);
        self.read(part, rhs, &mut vectors.x);
        self.forward(part, ways, vectors);
    }

    fn come_down(&self, part: usize, ways: &Ways, known: &[f64], vectors: &mut Vectors) {
        let own = self.forest.rows[part + 1] - self.forest.rows[part];
        vectors.x[own..].copy_from_slice(known);
        self.backward(part, ways, vectors);
    }

    /// `x ← L⁻¹ x` for the columns of one part.
    fn forward(&self, part: usize, ways: &Ways, vectors: &mut Vectors) {
        forward(self, part, ways, vectors);
    }

    #[inline(always)]
    fn go_forward(&self, part: usize, ways: &Ways, vectors: &mut Vectors) {
        let Vectors { x, front } = vectors;
        let first = self.forest.rows[part];
        for s in ways.of(part) {
            let [width, below] = shape(&self.symbolic, s);
            let begin = self.symbolic.supernode_begin()[s] - first;
            let height = width + below;
            let front = &mut front[..height];
            let own = &mut x[begin..begin + width];
            front[..width].copy_from_slice(own);
            front[width..].fill(0.0);
            let (threes, left) = self.columns(s);
            for (k, block) in (0..).step_by(3).zip(threes) {
                let [a, b, c] = three(block, height);
                let p = front[k];
                let q = front[k + 1] - a[k + 1] * p;
                let r = (front[k + 2] - a[k + 2] * p) - b[k + 2] * q;
                (front[k + 1], front[k + 2]) = (q, r);
                let later = k + 3..;
                let columns = [a, b, c].map(|column| &column[later.clone()]);
                take_three(columns, [p, q, r], &mut front[later]);
            }
            for (k, column) in (width / 3 * 3..width).zip(left) {
                let (done, later) = front.split_at_mut(k + 1);
                for (target, l) in later.iter_mut().zip(&column[k + 1..]) {
                    *target -= l * done[k];
                }
            }
            own.copy_from_slice(&front[..width]);
            for (&row, gift) in self.forest.local_rows(s).iter().zip(&front[width..]) {
                x[row as usize] += gift;
            }
        }
    }

    /// `x ← L⁻ᵀ D⁻¹ x` for the columns of one part.
    fn backward(&self, part: usize, ways: &Ways, vectors: &mut Vectors) {
        backward(self, part, ways, vectors);
    }

    #[inline(always)]
    fn go_backward(&self, part: usize, ways: &Ways, vectors: &mut Vectors) {
        let Vectors { x, front } = vectors;
        let first = self.forest.rows[part];
        for s in ways.of(part).rev() {
            let [width, below] = shape(&self.symbolic, s);
            let begin = self.symbolic.supernode_begin()[s] - first;
            let height = width + below;
            let front = &mut front[..height];
            for (value, &row) in front[width..].iter_mut().zip(self.forest.local_rows(s)) {
                *value = x[row as usize];
            }
            let own = &mut x[begin..begin + width];
            front[..width].copy_from_slice(own);
            let (threes, left) = self.columns(s);
            for (k, column) in (width / 3 * 3..width).zip(left).rev() {
                let known = dot(&column[k + 1..], &front[k + 1..]);
                front[k] = front[k] / column[k] - known;
            }
            for (k, block) in threes.enumerate().rev() {
                let (k, [a, b, c]) = (3 * k, three(block, height));
                let later = k + 3..;
                let columns = [a, b, c].map(|column| &column[later.clone()]);
                let known = dot_three(columns, &front[later]);
                let r = front[k + 2] / c[k + 2] - known[2];
                let q = front[k + 1] / b[k + 1] - (known[1] + b[k + 2] * r);
                let p = front[k] / a[k] - ((known[0] + a[k + 1] * q) + a[k + 2] * r);
                front[k..k + 3].copy_from_slice(&[p, q, r]);
            }
            own.copy_from_slice(&front[..width]);
        }
    }

    /// The columns of a supernode: by threes, and those that are left.
    #[inline(always)]
    fn columns(&self, s: usize) -> (ChunksExact<'_, f64>, ChunksExact<'_, f64>) {
        let [width, below] = shape(&self.symbolic, s);
        let height = width + below;
        let (threes, left) = self.factors_of(s).split_at(width / 3 * 3 * height);
        (threes.chunks_exact(3 * height), left.chunks_exact(height))
    }

    #[inline(always)]
    fn factors_of(&self, s: usize) -> &[f64] {
        let [width, below] = shape(&self.symbolic, s);
        let first = self.symbolic.col_ptr_for_val()[s];
        &self.factors[first..first + width * (width + below)]
    }
}

vectorized! {
    fn forward(factors: &Cholesky, part: usize, ways: &Ways, vectors: &mut Vectors) = Cholesky::go_forward
}

vectorized! {
    fn backward(factors: &Cholesky, part: usize, ways: &Ways, vectors: &mut Vectors) = Cholesky::go_backward
}

/// Three columns, one after the other.
#[inline(always)]
fn three(block: &[f64], height: usize) -> [&[f64]; 3] {
    let (a, rest) = block.split_at(height);
    let (b, c) = rest.split_at(height);
    [a, b, c]
}

/// Takes three columns, each times its x, from the targets: four rows at a time, because columns are
/// short.
#[inline(always)]
fn take_three([a, b, c]: [&[f64]; 3], x: [f64; 3], targets: &mut [f64]) {
    let take = |value: f64, [a, b, c]: [f64; 3]| ((value - a * x[0]) - b * x[1]) - c * x[2];
    let fours = [a, b, c].map(|column| column.chunks_exact(4));
    let [left_a, left_b, left_c] = fours.clone().map(|four| four.remainder());
    let [fours_a, fours_b, fours_c] = fours;
    let mut targets = targets.chunks_exact_mut(4);
    for (((values, a), b), c) in targets.by_ref().zip(fours_a).zip(fours_b).zip(fours_c) {
        for k in 0..4 {
            values[k] = take(values[k], [a[k], b[k], c[k]]);
        }
    }
    let left = left_a.iter().zip(left_b).zip(left_c);
    for (value, ((a, b), c)) in targets.into_remainder().iter_mut().zip(left) {
        *value = take(*value, [*a, *b, *c]);
    }
}

/// The product of three vectors with one, as [`dot`] has them.
#[inline(always)]
fn dot_three([a, b, c]: [&[f64]; 3], x: &[f64]) -> [f64; 3] {
    let mut sums = [[0.0; 4]; 3];
    let fours = x.chunks_exact(4);
    let start = x.len() - fours.remainder().len();
    let columns = [a, b, c].map(|column| column.chunks_exact(4));
    let [fours_a, fours_b, fours_c] = columns;
    for (((x, a), b), c) in fours.zip(fours_a).zip(fours_b).zip(fours_c) {
        for k in 0..4 {
            sums[0][k] += a[k] * x[k];
            sums[1][k] += b[k] * x[k];
            sums[2][k] += c[k] * x[k];
        }
    }
    let mut tails = [0.0; 3];
    for (((x, a), b), c) in (x[start..].iter().zip(&a[start..]))
        .zip(&b[start..])
        .zip(&c[start..])
    {
        tails = [tails[0] + a * x, tails[1] + b * x, tails[2] + c * x];
    }
    [0, 1, 2].map(|i| {
        let s = &sums[i];
        (s[0] + s[1]) + (s[2] + s[3]) + tails[i]
    })
}

/// The product of two vectors, in four sums that do not wait for each other.
#[inline(always)]
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; 4];
    let (fours_a, fours_b) = (a.chunks_exact(4), b.chunks_exact(4));
    let rest = fours_a.remainder().iter().zip(fours_b.remainder());
    let tail: f64 = rest.map(|(x, y)| x * y).sum();
    for (x, y) in fours_a.zip(fours_b) {
        for k in 0..4 {
            sums[k] += x[k] * y[k];
        }
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + tail
}
