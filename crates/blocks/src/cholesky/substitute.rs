//! Substitution with the factors of one right-hand side.
//!
//! A supernode's columns below its triangle share their rows, so what they take from the rows
//! above is summed in contiguous memory first, and each row is looked up once for all columns.

use super::Cholesky;

impl Cholesky {
    /// Overwrites the permuted vector by `(L D Lᵀ)⁻¹` times it.
    pub(super) fn substitute(&mut self) {
        let supernodes = self.symbolic.n_supernodes();
        for s in 0..supernodes {
            self.substitute_forward(s);
        }
        for s in (0..supernodes).rev() {
            self.substitute_backward(s);
        }
    }

    /// `x ← L⁻¹ x` for the columns of one supernode.
    fn substitute_forward(&mut self, s: usize) {
        let symbolic = &self.symbolic;
        let (begin, end) = (symbolic.supernode_begin()[s], symbolic.supernode_end()[s]);
        let supernode = symbolic.supernode(s);
        let rows = supernode.pattern();
        let (width, height) = (end - begin, end - begin + rows.len());
        let first = symbolic.col_ptr_for_val()[s];
        let columns = self.factors[first..first + width * height].chunks_exact(height);
        let sums = &mut self.sums[..rows.len()];
        sums.fill(0.0);
        for (k, column) in columns.enumerate() {
            let (done, later) = self.vector[begin..end].split_at_mut(k + 1);
            let x = done[k];
            let (triangle, below) = column.split_at(width);
            for (target, l) in later.iter_mut().zip(&triangle[k + 1..]) {
                *target -= l * x;
            }
            for (sum, l) in sums.iter_mut().zip(below) {
                *sum += l * x;
            }
        }
        for (&row, sum) in rows.iter().zip(sums) {
            self.vector[row] -= *sum;
        }
    }

    /// `x ← L⁻ᵀ D⁻¹ x` for the columns of one supernode.
    fn substitute_backward(&mut self, s: usize) {
        let symbolic = &self.symbolic;
        let (begin, end) = (symbolic.supernode_begin()[s], symbolic.supernode_end()[s]);
        let supernode = symbolic.supernode(s);
        let rows = supernode.pattern();
        let (width, height) = (end - begin, end - begin + rows.len());
        let first = symbolic.col_ptr_for_val()[s];
        let columns = self.factors[first..first + width * height].chunks_exact(height);
        let above = &mut self.sums[..rows.len()];
        for (value, &row) in above.iter_mut().zip(rows) {
            *value = self.vector[row];
        }
        for (k, column) in columns.enumerate().rev() {
            let (done, later) = self.vector[begin..end].split_at_mut(k + 1);
            let (triangle, below) = column.split_at(width);
            let known = dot(&triangle[k + 1..], later) + dot(below, above);
            done[k] = done[k] / triangle[k] - known;
        }
    }
}

/// The product of two vectors, in four sums that do not wait for each other.
#[inline]
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
