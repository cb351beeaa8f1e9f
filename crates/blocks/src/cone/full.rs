//! A matrix D that is written down, for the linear systems of `direct.rs`.

use super::block::Block;
use super::direct::Response;

/// A matrix written down, and room for the factors of another of its size.
pub(super) struct Full<'a> {
    pub matrix: &'a [f64],
    pub lu: &'a mut Vec<f64>,
    pub pivots: &'a mut Vec<usize>,
}

impl Response for Full<'_> {
    fn product(&mut self, x: &[f64], y: &mut [f64]) {
        for (y, row) in y.iter_mut().zip(self.matrix.chunks_exact(x.len())) {
            *y = row.iter().zip(x).map(|(d, x)| d * x).sum();
        }
    }

    fn prepare(&mut self, softs: &[Block], slopes: &[Block]) -> bool {
        let n = 3 * softs.len();
        self.lu.clear();
        self.lu.resize(n * n, 0.0);
        for (k, (y, z)) in softs.iter().zip(slopes).enumerate() {
            for r in 0..3 {
                let row = &mut self.lu[(3 * k + r) * n..][..n];
                for q in 0..3 {
                    let slope = z[3 * r + q];
                    if slope != 0.0 {
                        let d = &self.matrix[(3 * k + q) * n..][..n];
                        for (x, d) in row.iter_mut().zip(d) {
                            *x += slope * d;
                        }
                    }
                    row[3 * k + q] += y[3 * r + q];
                }
            }
        }
        factor(self.lu, self.pivots, n)
    }

    fn respond(&mut self, _: &[Block], r: &mut [f64], _: f64) -> Option<usize> {
        substitute(self.lu, self.pivots, r);
        r.iter().all(|x| x.is_finite()).then_some(0)
    }
}

/// L U with partial pivoting, in place; false when a pivot vanishes.
fn factor(a: &mut [f64], pivots: &mut Vec<usize>, n: usize) -> bool {
    pivots.clear();
    for k in 0..n {
        let size = |i: usize| a[i * n + k].abs();
        let best = (k..n).fold(k, |b, i| if size(i) > size(b) { i } else { b });
        if !(a[best * n + k].abs() > 0.0) {
            return false;
        }
        pivots.push(best);
        let (above, below) = a.split_at_mut((k + 1) * n);
        let pivot = &mut above[k * n..];
        if best != k {
            pivot.swap_with_slice(&mut below[(best - k - 1) * n..][..n]);
        }
        for row in below.chunks_exact_mut(n) {
            let part = row[k] / pivot[k];
            row[k] = part;
            if part != 0.0 {
                for (x, p) in row[k + 1..].iter_mut().zip(&pivot[k + 1..]) {
                    *x -= part * p;
                }
            }
        }
    }
    true
}

/// Overwrites b by the solution.
fn substitute(lu: &[f64], pivots: &[usize], b: &mut [f64]) {
    let n = b.len();
    for (k, &best) in pivots.iter().enumerate() {
        b.swap(k, best);
    }
    for k in 0..n {
        let sum: f64 = lu[k * n..k * n + k]
            .iter()
            .zip(&*b)
            .map(|(l, x)| l * x)
            .sum();
        b[k] -= sum;
    }
    for k in (0..n).rev() {
        let row = &lu[k * n..(k + 1) * n];
        let after = row[k + 1..].iter().zip(&b[k + 1..]);
        let sum: f64 = after.map(|(u, x)| u * x).sum();
        b[k] = (b[k] - sum) / row[k];
    }
}
