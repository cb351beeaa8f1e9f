//! Kernels on dense blocks of up to six rows, for patterns of mixed sizes.
//!
//! A pivot block is factored as `A = L D Lᵀ` with unit lower `L`. In place of
//! the block we keep `L` below the diagonal and `1/d_k` on it. A pivot that has
//! vanished beside the entry it started from gets `1/d_k = 0`: for a positive
//! semidefinite matrix the rest of its column is zero as well, so dropping it
//! is exact, and nothing is ever divided by zero.
//!
//! Sizes are run-time numbers, but 3 and 5 (ball joint and hinge) are passed as
//! constants to inlined bodies, so that the compiler unrolls those.

use crate::MAX_BLOCK;
use crate::census::Pivots;

/// Negative pivots beyond this fraction are no rounding errors.
pub(crate) const NEGATIVE: f64 = 1e-6;

macro_rules! by_size {
    ($n:expr, $body:ident($($argument:expr),*)) => {
        match $n {
            3 => $body(3, $($argument),*),
            5 => $body(5, $($argument),*),
            n => $body(n, $($argument),*),
        }
    };
}

/// How pivots are judged.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rule {
    /// Fraction of its scale below which a pivot counts as zero.
    pub tolerance: f64,
    /// The sign that pivots have.
    pub sign: f64,
    /// A pivot that counts as zero becomes this fraction of its scale; if zero, its row is
    /// dropped instead.
    pub shift: f64,
}

impl Rule {
    /// For semidefinite matrices: rows whose pivot vanishes are dropped.
    pub fn dropping(tolerance: f64) -> Self {
        Self {
            tolerance,
            sign: 1.0,
            shift: 0.0,
        }
    }
}

/// Factors the lower triangle of the `n × n` block `a` in place. `scale` holds
/// the sizes, not negative, that the pivots are compared with.
pub(crate) fn factor(n: usize, a: &mut [f64], scale: &[f64], rule: Rule) -> Pivots {
    by_size!(n, factor_body(a, scale, rule))
}

#[inline(always)]
fn factor_body(n: usize, a: &mut [f64], scale: &[f64], rule: Rule) -> Pivots {
    let (a, scale) = (&mut a[..n * n], &scale[..n]);
    let mut found = Pivots::default();
    for k in 0..n {
        let pivot = a[k * n + k];
        let inverse = admit(pivot, scale[k], rule, &mut found);
        a[k * n + k] = inverse;
        let mut column = [0.0; MAX_BLOCK];
        for i in k + 1..n {
            column[i] = a[i * n + k];
            a[i * n + k] *= inverse;
        }
        for i in k + 1..n {
            for j in k + 1..=i {
                a[i * n + j] -= a[i * n + k] * column[j];
            }
        }
    }
    found
}

/// `1/pivot`, or what stands for it if the pivot does not count, with the books kept.
#[inline(always)]
pub(crate) fn admit(pivot: f64, scale: f64, rule: Rule, found: &mut Pivots) -> f64 {
    let size = rule.sign * pivot;
    found.sum += pivot;
    if size > rule.tolerance * scale {
        let inverse = 1.0 / pivot;
        found.steepest = f64::max(found.steepest, rule.sign * scale * inverse);
        return inverse;
    }
    found.dropped += 1;
    found.negative |= size < -NEGATIVE * scale.abs();
    let shifted = rule.sign * rule.shift * scale;
    if shifted != 0.0 { 1.0 / shifted } else { 0.0 }
}

/// `x ← L⁻¹ x`.
#[inline]
pub(crate) fn solve_lower(n: usize, factor: &[f64], x: &mut [f64]) {
    by_size!(n, solve_lower_body(factor, x))
}

#[inline(always)]
fn solve_lower_body(n: usize, factor: &[f64], x: &mut [f64]) {
    let (factor, x) = (&factor[..n * n], &mut x[..n]);
    for i in 1..n {
        for k in 0..i {
            x[i] -= factor[i * n + k] * x[k];
        }
    }
}

/// `x ← L⁻ᵀ x`.
#[inline]
pub(crate) fn solve_upper(n: usize, factor: &[f64], x: &mut [f64]) {
    by_size!(n, solve_upper_body(factor, x))
}

#[inline(always)]
fn solve_upper_body(n: usize, factor: &[f64], x: &mut [f64]) {
    let (factor, x) = (&factor[..n * n], &mut x[..n]);
    for i in (0..n).rev() {
        for k in i + 1..n {
            x[i] -= factor[k * n + i] * x[k];
        }
    }
}

/// `x ← D⁻¹ x`.
#[inline(always)]
pub(crate) fn scale_by_inverse(n: usize, factor: &[f64], x: &mut [f64]) {
    for (k, x) in x[..n].iter_mut().enumerate() {
        *x *= factor[k * n + k];
    }
}

/// `x ← A⁻¹ x` from the factors of `A`.
pub(crate) fn solve(n: usize, factor: &[f64], x: &mut [f64]) {
    solve_lower(n, factor, x);
    scale_by_inverse(n, factor, x);
    solve_upper(n, factor, x);
}

/// `B ← L⁻¹ B` for an `n × m` block.
pub(crate) fn solve_lower_block(n: usize, m: usize, factor: &[f64], b: &mut [f64]) {
    match (n, m) {
        (3, 3) => solve_lower_block_body(3, 3, factor, b),
        (5, 5) => solve_lower_block_body(5, 5, factor, b),
        _ => solve_lower_block_body(n, m, factor, b),
    }
}

#[inline(always)]
fn solve_lower_block_body(n: usize, m: usize, factor: &[f64], b: &mut [f64]) {
    let (factor, b) = (&factor[..n * n], &mut b[..n * m]);
    for i in 1..n {
        for k in 0..i {
            let l = factor[i * n + k];
            for c in 0..m {
                b[i * m + c] -= l * b[k * m + c];
            }
        }
    }
}

/// `H = D⁻¹ G` for `n × m` blocks.
pub(crate) fn scale_block(n: usize, m: usize, factor: &[f64], g: &[f64], h: &mut [f64]) {
    for k in 0..n {
        let inverse = factor[k * n + k];
        for (h, g) in h[k * m..(k + 1) * m].iter_mut().zip(&g[k * m..(k + 1) * m]) {
            *h = inverse * g;
        }
    }
}

/// `T ← T − Gᵀ H` for `G: n × a`, `H: n × b` and an `a × b` block `T` whose rows
/// are `stride` apart.
pub(crate) fn subtract_product(
    shape: [usize; 3],
    g: &[f64],
    h: &[f64],
    target: &mut [f64],
    stride: usize,
) {
    match shape {
        [3, 3, 3] => subtract_product_body([3, 3, 3], g, h, target, stride),
        [5, 5, 5] => subtract_product_body([5, 5, 5], g, h, target, stride),
        _ => subtract_product_body(shape, g, h, target, stride),
    }
}

#[inline(always)]
fn subtract_product_body(
    [n, a, b]: [usize; 3],
    g: &[f64],
    h: &[f64],
    target: &mut [f64],
    stride: usize,
) {
    let (g, h) = (&g[..n * a], &h[..n * b]);
    for i in 0..a {
        let row = &mut target[i * stride..i * stride + b];
        for k in 0..n {
            let factor = g[k * a + i];
            for (target, h) in row.iter_mut().zip(&h[k * b..(k + 1) * b]) {
                *target -= factor * h;
            }
        }
    }
}

/// `y ← y − Bᵀ x` for an `n × m` block `B`.
#[inline]
pub(crate) fn subtract_transposed(n: usize, m: usize, b: &[f64], x: &[f64], y: &mut [f64]) {
    match (n, m) {
        (3, 3) => subtract_transposed_body(3, 3, b, x, y),
        (5, 5) => subtract_transposed_body(5, 5, b, x, y),
        _ => subtract_transposed_body(n, m, b, x, y),
    }
}

#[inline(always)]
fn subtract_transposed_body(n: usize, m: usize, b: &[f64], x: &[f64], y: &mut [f64]) {
    let (b, x, y) = (&b[..n * m], &x[..n], &mut y[..m]);
    for k in 0..n {
        let factor = x[k];
        for (y, b) in y.iter_mut().zip(&b[k * m..(k + 1) * m]) {
            *y -= b * factor;
        }
    }
}

/// `y ← y − B x` for an `n × m` block `B`.
#[inline]
pub(crate) fn subtract_forward(n: usize, m: usize, b: &[f64], x: &[f64], y: &mut [f64]) {
    match (n, m) {
        (3, 3) => subtract_forward_body(3, 3, b, x, y),
        (5, 5) => subtract_forward_body(5, 5, b, x, y),
        _ => subtract_forward_body(n, m, b, x, y),
    }
}

#[inline(always)]
fn subtract_forward_body(n: usize, m: usize, b: &[f64], x: &[f64], y: &mut [f64]) {
    let (b, x, y) = (&b[..n * m], &x[..m], &mut y[..n]);
    for k in 0..n {
        let row = &b[k * m..(k + 1) * m];
        y[k] -= row.iter().zip(x).map(|(b, x)| b * x).sum::<f64>();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `A = Σ v vᵀ` over `rank` vectors: semidefinite if `rank < n`.
    fn gram(n: usize, rank: usize) -> Vec<f64> {
        let mut a = vec![0.0; n * n];
        for r in 0..rank {
            let v: Vec<f64> = (0..n)
                .map(|k| (1.7 * (r * r + 1) as f64 * (k + 2) as f64).sin())
                .collect();
            for i in 0..n {
                for j in 0..n {
                    a[i * n + j] += v[i] * v[j];
                }
            }
        }
        a
    }

    #[test]
    fn solves_every_size_and_rank() {
        for n in 1..=MAX_BLOCK {
            for rank in 1..=n {
                let a = gram(n, rank);
                let x: Vec<f64> = (0..n).map(|k| k as f64 - 1.5).collect();
                let product = |x: &[f64]| -> Vec<f64> {
                    (0..n)
                        .map(|i| (0..n).map(|j| a[i * n + j] * x[j]).sum())
                        .collect()
                };
                let b = product(&x);
                let scale: Vec<f64> = (0..n).map(|k| a[k * n + k]).collect();
                let mut factors = a.clone();
                let pivots = factor(n, &mut factors, &scale, Rule::dropping(1e-12));
                assert_eq!(pivots.dropped, n - rank, "size {n} rank {rank}");
                let mut solution = b.clone();
                solve(n, &factors, &mut solution);
                for (b, again) in b.iter().zip(product(&solution)) {
                    assert!((b - again).abs() < 1e-9, "size {n} rank {rank}");
                }
            }
        }
    }

    #[test]
    fn zero_and_negative_blocks_stay_finite() {
        let mut zero = vec![0.0; 9];
        assert_eq!(
            factor(3, &mut zero, &[0.0; 3], Rule::dropping(1e-12)).dropped,
            3
        );
        let mut negative = vec![-1.0];
        assert!(factor(1, &mut negative, &[1.0], Rule::dropping(1e-12)).negative);
    }
}
