//! GMRES (Saad and Schultz 1986) for `x + K x = b` where K has a low rank, or nearly so.
//!
//! The method needs one product more than K has eigenvalues that matter, whatever the size.

/// Memory of the method, kept for reuse.
#[derive(Clone, Debug, Default)]
pub(super) struct Krylov {
    basis: Vec<Vec<f64>>,
    /// Columns of the triangular factor, the turns that made it, and the right-hand side.
    columns: Vec<Vec<f64>>,
    turns: Vec<[f64; 2]>,
    rhs: Vec<f64>,
}

impl Krylov {
    /// Overwrites b by x, to a relative residual, with at most `limit` products. `apply` adds
    /// nothing: it writes K times its first argument to the second. Returns the products.
    pub fn solve(
        &mut self,
        b: &mut [f64],
        apply: &mut dyn FnMut(&[f64], &mut [f64]),
        tolerance: f64,
        limit: usize,
    ) -> usize {
        let norm = length(b);
        if !(norm > 0.0) {
            return 0;
        }
        self.rhs.clear();
        self.rhs.push(norm);
        self.turns.clear();
        self.vector(0, b.len());
        for (v, b) in self.basis[0].iter_mut().zip(b.iter()) {
            *v = b / norm;
        }
        let mut size = 0;
        while size < limit && self.rhs[size].abs() > tolerance * norm {
            self.extend(size, b.len(), apply);
            size += 1;
        }
        // Back through the triangle.
        for k in (0..size).rev() {
            let mut sum = self.rhs[k];
            for j in k + 1..size {
                sum -= self.columns[j][k] * self.rhs[j];
            }
            let pivot = self.columns[k][k];
            self.rhs[k] = if pivot == 0.0 { 0.0 } else { sum / pivot };
        }
        b.fill(0.0);
        for k in 0..size {
            for (x, v) in b.iter_mut().zip(&self.basis[k]) {
                *x += self.rhs[k] * v;
            }
        }
        size
    }

    fn vector(&mut self, index: usize, rows: usize) {
        if self.basis.len() == index {
            self.basis.push(Vec::new());
            self.columns.push(Vec::new());
        }
        self.basis[index].clear();
        self.basis[index].resize(rows, 0.0);
    }

    /// One more direction.
    fn extend(&mut self, size: usize, rows: usize, apply: &mut dyn FnMut(&[f64], &mut [f64])) {
        self.vector(size + 1, rows);
        let (known, rest) = self.basis.split_at_mut(size + 1);
        let next = &mut rest[0];
        apply(&known[size], next);
        for (y, v) in next.iter_mut().zip(&known[size]) {
            *y += v;
        }
        let column = &mut self.columns[size];
        column.clear();
        for v in known.iter() {
            let along: f64 = next.iter().zip(v).map(|(a, b)| a * b).sum();
            for (y, v) in next.iter_mut().zip(v) {
                *y -= along * v;
            }
            column.push(along);
        }
        let left = length(next);
        if left > 0.0 {
            next.iter_mut().for_each(|y| *y /= left);
        }
        for (k, [c, s]) in self.turns.iter().enumerate() {
            let (a, b) = (column[k], column[k + 1]);
            (column[k], column[k + 1]) = (c * a + s * b, c * b - s * a);
        }
        let own = column[size];
        let both = (own * own + left * left).sqrt();
        let [c, s] = match both > 0.0 {
            true => [own / both, left / both],
            false => [1.0, 0.0],
        };
        column[size] = both;
        self.turns.push([c, s]);
        let before = self.rhs[size];
        self.rhs[size] = c * before;
        self.rhs.push(-s * before);
    }
}

fn length(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::super::tests::random;
    use super::*;

    #[test]
    fn a_rank_of_two_needs_three_products() {
        let (mut seed, n) = (9, 40);
        let mut draw = |n: usize| -> Vec<f64> { (0..n).map(|_| random(&mut seed)).collect() };
        let (left, right, x) = (draw(2 * n), draw(2 * n), draw(n));
        let apply = |v: &[f64], y: &mut [f64]| {
            y.fill(0.0);
            for r in 0..2 {
                let along: f64 = (0..n).map(|i| right[r * n + i] * v[i]).sum();
                for i in 0..n {
                    y[i] += left[r * n + i] * along;
                }
            }
        };
        let mut b = vec![0.0; n];
        apply(&x, &mut b);
        for i in 0..n {
            b[i] += x[i];
        }
        let mut krylov = Krylov::default();
        for _ in 0..2 {
            let mut found = b.clone();
            let products = krylov.solve(&mut found, &mut { apply }, 1e-12, 30);
            assert!(products <= 3, "{products}");
            for i in 0..n {
                assert!((found[i] - x[i]).abs() < 1e-9);
            }
        }
        assert_eq!(krylov.solve(&mut vec![0.0; n], &mut { apply }, 1e-12, 9), 0);
    }
}
