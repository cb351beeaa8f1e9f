//! Newton's method on Coulomb's law, all blocks at once.
//!
//! The law is a zero of `F(λ) = λ − Π(λ − ρ ũ)` with the projection Π onto the cone and
//! `ũ = u + μ|u_t| e_n`. F is not smooth where a block changes its state, but a derivative of
//! the piece it is in serves: with P = ∂Π and E = ∂ũ/∂u,
//!
//! ```text
//! (1 − P) δ + ρ P E D δ = −F
//! ```
//!
//! (semismooth Newton, Alart and Curnier 1991). Blocks with P = 0 are apart and drop out.
//! Rows that lean on each other, such as four corners of a rigid box, make D singular, and a bad
//! guess of the states makes steps too long. A multiple of each diagonal entry bounds the step;
//! it shrinks while steps help and grows when one does not (Levenberg and Marquardt).

use super::dense::{Delassus, triple};
use super::{Triple, project};

/// Newton steps of one attempt.
const STEPS: usize = 20;
/// Fraction of the block's compliance that is added to the diagonal: at first, at least and at most.
const SHIFT: [f64; 3] = [1e-6, 1e-10, 1.0];

/// Memory of Newton's method.
#[derive(Clone, Debug, Default)]
pub(super) struct Scratch {
    matrix: Vec<f64>,
    rhs: Vec<f64>,
    before: Vec<f64>,
    active: Vec<usize>,
    slopes: Vec<[f64; 9]>,
}

/// ∂Π at y: the derivative of the projection onto |λ_t| ≤ μ λ_n.
pub(super) fn slope(y: &Triple, mu: f64) -> [f64; 9] {
    let [a, x, z] = *y;
    let t = (x * x + z * z).sqrt();
    if mu * t <= -a {
        return [0.0; 9];
    }
    if mu == 0.0 {
        return [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
    }
    if t <= mu * a {
        return [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
    }
    let e = [x / t, z / t];
    let k = 1.0 / (1.0 + mu * mu);
    let shrink = mu * (a + mu * t) * k / t;
    let along = mu * mu * k - shrink;
    [
        k,
        mu * k * e[0],
        mu * k * e[1],
        mu * k * e[0],
        along * e[0] * e[0] + shrink,
        along * e[0] * e[1],
        mu * k * e[1],
        along * e[0] * e[1],
        along * e[1] * e[1] + shrink,
    ]
}

/// ρ P E of a block with slip u.
pub(super) fn slope_of_slip(u: &Triple, mu: f64, p: &[f64; 9], rate: f64) -> [f64; 9] {
    let sliding = (u[1] * u[1] + u[2] * u[2]).sqrt();
    let mut pe = p.map(|x| rate * x);
    if sliding > 0.0 {
        let lift = [mu * u[1] / sliding, mu * u[2] / sliding];
        for r in 0..3 {
            pe[3 * r + 1] += rate * p[3 * r] * lift[0];
            pe[3 * r + 2] += rate * p[3 * r] * lift[1];
        }
    }
    pe
}

impl Delassus {
    /// Takes Newton steps while they help; returns how many. The slip is up to date before and
    /// after.
    pub(super) fn newton(&mut self, tolerance: f64) -> usize {
        let mut merit = self.merit();
        let mut shift = SHIFT[0];
        for step in 0..STEPS {
            let mut scratch = std::mem::take(&mut self.scratch);
            scratch.before.clear();
            scratch.before.extend_from_slice(&self.lambda);
            let solved = self.newton_step(&mut scratch, shift);
            self.scratch = scratch;
            self.find_slip();
            let next = if solved { self.merit() } else { f64::NAN };
            // Not a number is no improvement.
            if next < merit {
                merit = next;
                shift = (0.1 * shift).max(SHIFT[1]);
                if self.residual() <= tolerance {
                    return step + 1;
                }
                continue;
            }
            self.lambda.copy_from_slice(&self.scratch.before);
            self.find_slip();
            shift *= 10.0;
            if shift > SHIFT[2] {
                return step;
            }
        }
        STEPS
    }

    /// Sum of the squares of the violations.
    fn merit(&self) -> f64 {
        (0..self.blocks())
            .map(|k| {
                let (l, u) = (triple(&self.lambda, k), triple(&self.slip, k));
                super::violation(&l, &u, self.mu[k], self.compliance(k)).powi(2)
            })
            .sum()
    }

    fn newton_step(&mut self, s: &mut Scratch, shift: f64) -> bool {
        let rows = 3 * self.blocks();
        s.active.clear();
        s.slopes.clear();
        s.rhs.clear();
        for k in 0..self.blocks() {
            let (lambda, mu) = (triple(&self.lambda, k), self.mu[k]);
            let rate = 1.0 / self.compliance(k);
            let u = triple(&self.slip, k);
            let sliding = (u[1] * u[1] + u[2] * u[2]).sqrt();
            let y = [
                lambda[0] - rate * (u[0] + mu * sliding),
                lambda[1] - rate * u[1],
                lambda[2] - rate * u[2],
            ];
            let aim = project(&y, mu);
            let p = slope(&y, mu);
            if p == [0.0; 9] {
                self.lambda[3 * k..3 * k + 3].fill(0.0);
                continue;
            }
            s.active.push(k);
            s.slopes.push(p);
            s.rhs.extend((0..3).map(|i| aim[i] - lambda[i]));
        }
        let n = 3 * s.active.len();
        s.matrix.clear();
        s.matrix.resize(n * n, 0.0);
        for (i, &k) in s.active.iter().enumerate() {
            let rate = 1.0 / self.compliance(k);
            let pe = slope_of_slip(&triple(&self.slip, k), self.mu[k], &s.slopes[i], rate);
            for (j, &l) in s.active.iter().enumerate() {
                for r in 0..3 {
                    for c in 0..3 {
                        let column = 3 * l + c;
                        let mut sum = 0.0;
                        for q in 0..3 {
                            sum += pe[3 * r + q] * self.matrix[(3 * k + q) * rows + column];
                        }
                        s.matrix[(3 * i + r) * n + 3 * j + c] = sum;
                    }
                }
            }
            for r in 0..3 {
                for c in 0..3 {
                    let own = if r == c { 1.0 + shift } else { 0.0 };
                    s.matrix[(3 * i + r) * n + 3 * i + c] += own - s.slopes[i][3 * r + c];
                }
            }
        }
        // What blocks that are now apart had given is missing from the slip of the others.
        self.account_for_dropped(s);
        if !solve_dense(&mut s.matrix, &mut s.rhs, n) {
            return false;
        }
        for (i, &k) in s.active.iter().enumerate() {
            for r in 0..3 {
                self.lambda[3 * k + r] += s.rhs[3 * i + r];
            }
        }
        true
    }

    fn account_for_dropped(&self, s: &mut Scratch) {
        let rows = 3 * self.blocks();
        for (i, &k) in s.active.iter().enumerate() {
            let rate = 1.0 / self.compliance(k);
            let pe = slope_of_slip(&triple(&self.slip, k), self.mu[k], &s.slopes[i], rate);
            let mut missing = [0.0; 3];
            for q in 0..3 {
                let row = &self.matrix[(3 * k + q) * rows..][..rows];
                for (column, d) in row.iter().enumerate() {
                    // Zero for the blocks that stay.
                    missing[q] += d * (self.lambda[column] - s.before[column]);
                }
            }
            for r in 0..3 {
                for q in 0..3 {
                    s.rhs[3 * i + r] -= pe[3 * r + q] * missing[q];
                }
            }
        }
    }
}

/// Gaussian elimination with partial pivoting; false when a pivot vanishes.
pub(super) fn solve_dense(a: &mut [f64], b: &mut [f64], n: usize) -> bool {
    for k in 0..n {
        let mut best = k;
        for i in k + 1..n {
            if a[i * n + k].abs() > a[best * n + k].abs() {
                best = i;
            }
        }
        if !(a[best * n + k].abs() > 0.0) {
            return false;
        }
        if best != k {
            for j in 0..n {
                a.swap(k * n + j, best * n + j);
            }
            b.swap(k, best);
        }
        let (above, below) = a.split_at_mut((k + 1) * n);
        let pivot = &above[k * n..];
        for (i, row) in below.chunks_exact_mut(n).enumerate() {
            let factor = row[k] / pivot[k];
            if factor != 0.0 {
                for (x, p) in row[k + 1..].iter_mut().zip(&pivot[k + 1..]) {
                    *x -= factor * p;
                }
                b[k + 1 + i] -= factor * b[k];
            }
        }
    }
    for k in (0..n).rev() {
        let row = &a[k * n..(k + 1) * n];
        let sum: f64 = row[k + 1..]
            .iter()
            .zip(&b[k + 1..])
            .map(|(x, y)| x * y)
            .sum();
        b[k] = (b[k] - sum) / row[k];
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slope_is_the_derivative_of_the_projection() {
        let mu = 0.6;
        for y in [
            [1.0, 0.2, 0.1],
            [0.3, 0.9, -0.5],
            [-0.2, 0.7, 0.4],
            [-1.0, 0.1, 0.2],
        ] {
            let p = slope(&y, mu);
            for c in 0..3 {
                let (mut up, mut down) = (y, y);
                up[c] += 1e-6;
                down[c] -= 1e-6;
                let (a, b) = (project(&up, mu), project(&down, mu));
                for r in 0..3 {
                    let difference = (a[r] - b[r]) / 2e-6;
                    assert!((difference - p[3 * r + c]).abs() < 1e-8, "{y:?} {r} {c}");
                }
            }
        }
    }
}
