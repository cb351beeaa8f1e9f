//! Substitution with the factors of one right-hand side.
//!
//! A supernode's columns below its triangle share their rows, so what they take from the rows
//! above is summed in contiguous memory first, and each row is looked up once for all columns.
//!
//! Both halves of the tree have a vector of their own: their rows, and behind these what they
//! give to the rows of the top, or later what these are. So neither sees the other.

use super::Cholesky;
use super::choice::Ways;
use super::forest::Forest;
use super::fronts::shape;
use super::halves::TOP;
use super::supernodes::Supernodes;
use crate::threads::both;
use crate::vectors::with_vectors;

/// The vectors of one part.
#[derive(Clone, Debug, Default)]
pub(super) struct Vectors {
    /// Own rows, then those of the top.
    x: Vec<f64>,
    /// Room for the rows below the longest supernode.
    sums: Vec<f64>,
}

impl Vectors {
    /// For one part of a forest.
    pub fn new(symbolic: &Supernodes, forest: &Forest, part: usize) -> Vectors {
        let own = forest.rows[part + 1] - forest.rows[part];
        let top = forest.rows[TOP + 1] - forest.rows[TOP];
        let lengths = forest.supernodes[part]..forest.supernodes[part + 1];
        let longest = lengths.map(|s| shape(symbolic, s)[1]).max().unwrap_or(0);
        Vectors {
            x: vec![0.0; if part == TOP { own } else { own + top }],
            sums: vec![0.0; longest],
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
        with_vectors(|| self.go_forward(part, ways, vectors));
    }

    #[inline(always)]
    fn go_forward(&self, part: usize, ways: &Ways, vectors: &mut Vectors) {
        let Vectors { x, sums } = vectors;
        let first = self.forest.rows[part];
        for s in ways.of(part) {
            let [width, below] = shape(&self.symbolic, s);
            let begin = self.symbolic.supernode_begin()[s] - first;
            let sums = &mut sums[..below];
            sums.fill(0.0);
            let own = &mut x[begin..begin + width];
            for (k, column) in self.columns(s).enumerate() {
                let (done, later) = own.split_at_mut(k + 1);
                let x = done[k];
                for (target, l) in later.iter_mut().zip(&column[k + 1..width]) {
                    *target -= l * x;
                }
            }
            add_columns(self.factors_of(s), width, own, sums);
            for (&row, sum) in self.forest.local_rows(s).iter().zip(sums) {
                x[row as usize] -= *sum;
            }
        }
    }

    /// `x ← L⁻ᵀ D⁻¹ x` for the columns of one part.
    fn backward(&self, part: usize, ways: &Ways, vectors: &mut Vectors) {
        with_vectors(|| self.go_backward(part, ways, vectors));
    }

    #[inline(always)]
    fn go_backward(&self, part: usize, ways: &Ways, vectors: &mut Vectors) {
        let Vectors { x, sums } = vectors;
        let first = self.forest.rows[part];
        for s in ways.of(part).rev() {
            let [width, below] = shape(&self.symbolic, s);
            let begin = self.symbolic.supernode_begin()[s] - first;
            let above = &mut sums[..below];
            for (value, &row) in above.iter_mut().zip(self.forest.local_rows(s)) {
                *value = x[row as usize];
            }
            let own = &mut x[begin..begin + width];
            for (k, column) in self.columns(s).enumerate().rev() {
                let (done, later) = own.split_at_mut(k + 1);
                let (triangle, below) = column.split_at(width);
                let known = dot(&triangle[k + 1..], later) + dot(below, above);
                done[k] = done[k] / triangle[k] - known;
            }
        }
    }

    /// The columns of a supernode, one after the other.
    #[inline(always)]
    fn columns(&self, s: usize) -> std::slice::ChunksExact<'_, f64> {
        let [width, below] = shape(&self.symbolic, s);
        self.factors_of(s).chunks_exact(width + below)
    }

    #[inline(always)]
    fn factors_of(&self, s: usize) -> &[f64] {
        let [width, below] = shape(&self.symbolic, s);
        let first = self.symbolic.col_ptr_for_val()[s];
        &self.factors[first..first + width * (width + below)]
    }
}

/// Adds the rows below the triangle of some columns, each times its x, to the sums: three columns at
/// a time, in the order that one after the other would have.
#[inline(always)]
fn add_columns(columns: &[f64], width: usize, x: &[f64], sums: &mut [f64]) {
    let height = width + sums.len();
    let mut threes = x.chunks_exact(3);
    let mut blocks = columns.chunks_exact(3 * height);
    for (x, block) in threes.by_ref().zip(blocks.by_ref()) {
        let (a, rest) = block.split_at(height);
        let (b, c) = rest.split_at(height);
        add_three([&a[width..], &b[width..], &c[width..]], x, sums);
    }
    let left = blocks.remainder().chunks_exact(height);
    for (x, column) in threes.remainder().iter().zip(left) {
        for (sum, l) in sums.iter_mut().zip(&column[width..]) {
            *sum += l * x;
        }
    }
}

/// Adds three columns, each times its x: four rows at a time, because columns are short.
#[inline(always)]
fn add_three([a, b, c]: [&[f64]; 3], x: &[f64], sums: &mut [f64]) {
    let add = |sum: f64, [a, b, c]: [f64; 3]| ((sum + a * x[0]) + b * x[1]) + c * x[2];
    let fours = [a, b, c].map(|column| column.chunks_exact(4));
    let [left_a, left_b, left_c] = fours.clone().map(|four| four.remainder());
    let [fours_a, fours_b, fours_c] = fours;
    let mut targets = sums.chunks_exact_mut(4);
    for (((sums, a), b), c) in targets.by_ref().zip(fours_a).zip(fours_b).zip(fours_c) {
        for k in 0..4 {
            sums[k] = add(sums[k], [a[k], b[k], c[k]]);
        }
    }
    let left = left_a.iter().zip(left_b).zip(left_c);
    for (sum, ((a, b), c)) in targets.into_remainder().iter_mut().zip(left) {
        *sum = add(*sum, [*a, *b, *c]);
    }
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
