//! Solves with the factors of another step, as a preconditioner (GMRES, Saad and Schultz 1986).
//!
//! With Y and Z of the present step, and Y₀ and Z₀ of the one that is factored,
//!
//! ```text
//! (Y + Z D)(Y₀ + Z₀ D)⁻¹ = 1 + [(Y − Y₀) + (Z − Z₀) D] (Y₀ + Z₀ D)⁻¹
//! ```
//!
//! differs from one in the rows of contacts that have changed, so that a few iterations are enough.

use super::super::block::{Block, times};
use super::super::dense::triple;
use super::Woven;

/// Iterations at most, and the residual at which they end, relative.
const MOST: usize = 16;
const ENOUGH: f64 = 1e-3;

/// Memory of the method.
#[derive(Clone, Debug, Default)]
pub(super) struct Krylov {
    /// Orthonormal directions, and the steps δ that the factors make of them, one after the other.
    basis: Vec<f64>,
    steps: Vec<f64>,
    /// Columns of R, the rotations that made them, and the right-hand side turned by these.
    columns: Vec<f64>,
    turns: Vec<[f64; 2]>,
    rest: Vec<f64>,
    answer: Vec<f64>,
}

impl Woven {
    /// Overwrites r by δ. Returns the iterations, and whether δ was found; r is as it was if not.
    pub(super) fn iterate(&mut self, slopes: &[Block], r: &mut [f64]) -> (usize, bool) {
        let mut k = std::mem::take(&mut self.krylov);
        let found = self.iterate_with(&mut k, slopes, r);
        self.krylov = k;
        found
    }

    fn iterate_with(&mut self, k: &mut Krylov, slopes: &[Block], r: &mut [f64]) -> (usize, bool) {
        let n = r.len();
        let size = length(r);
        if size == 0.0 {
            return (0, true);
        }
        for list in [&mut k.basis, &mut k.steps, &mut k.columns, &mut k.rest] {
            list.clear();
        }
        k.turns.clear();
        k.answer.clear();
        k.answer.resize(n, 0.0);
        k.basis.extend(r.iter().map(|x| x / size));
        k.rest.push(size);
        for round in 0..MOST {
            k.steps.extend_from_slice(&k.basis[round * n..]);
            let step = &mut k.steps[round * n..];
            self.solve_linear(step);
            self.answer(step, &mut k.answer);
            for (c, (y, z)) in self.softs.iter().zip(slopes).enumerate() {
                let (a, b) = (times(y, &triple(step, c)), times(z, &triple(&k.answer, c)));
                for i in 0..3 {
                    k.answer[3 * c + i] = a[i] + b[i];
                }
            }
            k.add_column(round, n);
            let left = k.rest[round + 1].abs();
            if !left.is_finite() {
                return (round + 1, false);
            }
            if left <= ENOUGH * size {
                k.write(round + 1, r);
                return (round + 1, true);
            }
        }
        (MOST, false)
    }
}

impl Krylov {
    /// Makes the answer orthogonal to the directions so far: the next one, and a column of R.
    fn add_column(&mut self, round: usize, n: usize) {
        let start = self.columns.len();
        for v in self.basis.chunks_exact(n) {
            let part: f64 = v.iter().zip(&self.answer).map(|(v, a)| v * a).sum();
            for (a, v) in self.answer.iter_mut().zip(v) {
                *a -= part * v;
            }
            self.columns.push(part);
        }
        let size = length(&self.answer);
        let per_size = if size > 0.0 { 1.0 / size } else { 0.0 };
        self.basis.extend(self.answer.iter().map(|a| a * per_size));
        let column = &mut self.columns[start..];
        for (k, [c, s]) in self.turns.iter().enumerate() {
            let (a, b) = (column[k], column[k + 1]);
            (column[k], column[k + 1]) = (c * a + s * b, c * b - s * a);
        }
        let a = column[round];
        let whole = (a * a + size * size).sqrt();
        let [c, s] = if whole > 0.0 {
            [a / whole, size / whole]
        } else {
            [1.0, 0.0]
        };
        column[round] = whole;
        self.turns.push([c, s]);
        let rest = self.rest[round];
        self.rest[round] = c * rest;
        self.rest.push(-s * rest);
    }

    /// Writes the best combination of so many steps.
    fn write(&mut self, count: usize, r: &mut [f64]) {
        let n = r.len();
        r.fill(0.0);
        for j in (0..count).rev() {
            let at = |column: usize, row: usize| self.columns[column * (column + 1) / 2 + row];
            let taken: f64 = (j + 1..count).map(|l| at(l, j) * self.rest[l]).sum();
            let part = (self.rest[j] - taken) / at(j, j);
            self.rest[j] = part;
            for (r, step) in r.iter_mut().zip(&self.steps[j * n..]) {
                *r += part * step;
            }
        }
    }
}

fn length(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}
