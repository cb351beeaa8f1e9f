//! Dense `P A Pᵀ = L D Lᵀ` with diagonal pivoting, for semidefinite matrices.
//!
//! Rows are first scaled by a reference diagonal, `A_ij / √(s_i s_j)`, so that a
//! heavy body does not hide a light one. Elimination stops when the largest
//! remaining pivot is below the tolerance: what is left is redundant to that
//! accuracy and its unknowns are set to zero. For a consistent right-hand side
//! the result is an exact (basic) solution. See Higham, *Accuracy and Stability
//! of Numerical Algorithms*, section 10.3.

use crate::small::NEGATIVE;

/// A dense symmetric matrix, its factors and its rank.
#[derive(Clone, Debug)]
pub struct Pivoted {
    dimension: usize,
    entries: Vec<f64>,
    order: Vec<usize>,
    scaling: Vec<f64>,
    rank: usize,
    work: Vec<f64>,
}

/// What pivoting found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RankReport {
    /// Number of independent rows.
    pub rank: usize,
    /// The smallest kept pivot relative to its reference diagonal.
    pub weakest: f64,
    /// The row of that pivot.
    pub weakest_row: Option<usize>,
    /// A row with a clearly negative pivot, if any.
    pub negative: Option<usize>,
    /// All pivots were finite.
    pub finite: bool,
}

impl Pivoted {
    /// Room for a matrix of the given dimension.
    pub fn new(dimension: usize) -> Self {
        Self {
            dimension,
            entries: vec![0.0; dimension * dimension],
            order: (0..dimension).collect(),
            scaling: vec![1.0; dimension],
            rank: 0,
            work: vec![0.0; dimension],
        }
    }

    /// The entries, row by row, to be filled before [`Pivoted::factor`]; only
    /// the lower triangle is read.
    pub fn entries_mut(&mut self) -> &mut [f64] {
        &mut self.entries
    }

    /// Number of independent rows of the last factorization.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// Rows in the order of elimination; those from [`Pivoted::rank`] on are redundant.
    pub fn order(&self) -> &[usize] {
        &self.order
    }

    /// Factors the entries in place. `reference` is the diagonal that pivots
    /// are measured against.
    pub fn factor(&mut self, reference: &[f64], tolerance: f64) -> RankReport {
        self.equilibrate(reference);
        let mut report = RankReport {
            rank: 0,
            weakest: 1.0,
            weakest_row: None,
            negative: None,
            finite: true,
        };
        for k in 0..self.dimension {
            let p = self.largest_pivot(k);
            let pivot = self.at(p, p);
            if !pivot.is_finite() {
                report.finite = false;
                break;
            }
            if pivot <= tolerance {
                break;
            }
            self.swap(k, p);
            self.eliminate(k);
            if pivot <= report.weakest {
                report.weakest = pivot;
                report.weakest_row = Some(self.order[k]);
            }
            report.rank = k + 1;
        }
        self.rank = report.rank;
        let rest = self.rank..self.dimension;
        report.negative = rest
            .clone()
            .find(|&k| self.at(k, k) < -NEGATIVE)
            .map(|k| self.order[k])
            .or_else(|| reference.iter().position(|&s| s < 0.0));
        report.finite &= rest.into_iter().all(|k| self.at(k, k).is_finite());
        report
    }

    fn at(&self, i: usize, j: usize) -> f64 {
        self.entries[i * self.dimension + j]
    }

    fn equilibrate(&mut self, reference: &[f64]) {
        for k in 0..self.dimension {
            self.order[k] = k;
            let s = reference[k];
            self.scaling[k] = if s > 0.0 { 1.0 / s.sqrt() } else { 0.0 };
        }
        for (i, row) in self
            .entries
            .chunks_exact_mut(self.dimension.max(1))
            .enumerate()
        {
            for j in 0..=i {
                row[j] *= self.scaling[i] * self.scaling[j];
            }
        }
    }

    /// The largest remaining pivot. A lead of rounding size is no reason to
    /// leave the given order, so ties go to the first row.
    fn largest_pivot(&self, from: usize) -> usize {
        let mut best = from;
        for k in from..self.dimension {
            let candidate = self.at(k, k);
            if candidate > self.at(best, best) * (1.0 + 1e-10) || candidate.is_nan() {
                best = k;
            }
        }
        best
    }

    /// Swaps rows and columns `k < p` of the lower triangle.
    fn swap(&mut self, k: usize, p: usize) {
        if k == p {
            return;
        }
        let n = self.dimension;
        self.order.swap(k, p);
        for j in 0..k {
            self.entries.swap(k * n + j, p * n + j);
        }
        for i in k + 1..p {
            self.entries.swap(i * n + k, p * n + i);
        }
        for i in p + 1..n {
            self.entries.swap(i * n + k, i * n + p);
        }
        self.entries.swap(k * n + k, p * n + p);
    }

    fn eliminate(&mut self, k: usize) {
        let n = self.dimension;
        let inverse = 1.0 / self.at(k, k);
        self.entries[k * n + k] = inverse;
        for i in k + 1..n {
            self.work[i] = self.at(i, k);
        }
        for i in k + 1..n {
            let l = self.work[i] * inverse;
            let row = &mut self.entries[i * n..=i * n + i];
            row[k] = l;
            for (target, column) in row[k + 1..].iter_mut().zip(&self.work[k + 1..=i]) {
                *target -= l * column;
            }
        }
    }

    /// Overwrites `x` by a solution. Lengths must agree with the dimension.
    pub fn solve(&mut self, x: &mut [f64]) {
        let (n, rank) = (self.dimension, self.rank);
        for k in 0..rank {
            let i = self.order[k];
            self.work[k] = x[i] * self.scaling[i];
        }
        for i in 1..rank {
            let row = &self.entries[i * n..i * n + i];
            let sum: f64 = row.iter().zip(&self.work).map(|(l, y)| l * y).sum();
            self.work[i] -= sum;
        }
        for k in 0..rank {
            self.work[k] *= self.entries[k * n + k];
        }
        for i in (0..rank).rev() {
            let y = self.work[i];
            for k in 0..i {
                self.work[k] -= self.entries[i * n + k] * y;
            }
        }
        x.fill(0.0);
        for k in 0..rank {
            let i = self.order[k];
            x[i] = self.work[k] * self.scaling[i];
        }
    }
}
