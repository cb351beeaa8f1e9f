//! Algebra on row-major blocks of three by three.

use super::Triple;

/// Three by three numbers, row-major.
pub type Block = [f64; 9];

/// Ones on the diagonal.
pub(super) const IDENTITY: Block = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];

/// a b.
#[inline(always)]
pub(super) fn product(a: &Block, b: &Block) -> Block {
    std::array::from_fn(|e| {
        let (i, j) = (e / 3, e % 3);
        a[3 * i] * b[j] + a[3 * i + 1] * b[3 + j] + a[3 * i + 2] * b[6 + j]
    })
}

/// aᵀ.
#[inline(always)]
pub(super) fn transposed(a: &Block) -> Block {
    std::array::from_fn(|e| a[3 * (e % 3) + e / 3])
}

/// a − b.
#[inline(always)]
pub(super) fn difference(a: &Block, b: &Block) -> Block {
    std::array::from_fn(|e| a[e] - b[e])
}

/// a v.
#[inline(always)]
pub(super) fn times(a: &Block, v: &Triple) -> Triple {
    std::array::from_fn(|i| a[3 * i] * v[0] + a[3 * i + 1] * v[1] + a[3 * i + 2] * v[2])
}

/// aᵀ v.
#[inline(always)]
pub(super) fn times_transposed(a: &Block, v: &Triple) -> Triple {
    std::array::from_fn(|i| a[i] * v[0] + a[3 + i] * v[1] + a[6 + i] * v[2])
}

/// a − b.
#[inline(always)]
pub(super) fn minus(a: &Triple, b: &Triple) -> Triple {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

/// a·b.
#[inline(always)]
pub(super) fn dot(a: &Triple, b: &Triple) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// The inverse, if there is one.
#[inline(always)]
pub(super) fn inverse(a: &Block) -> Option<Block> {
    let minor = |i: usize, j: usize| {
        let (r, s) = ((i + 1) % 3, (i + 2) % 3);
        let (c, d) = ((j + 1) % 3, (j + 2) % 3);
        a[3 * r + c] * a[3 * s + d] - a[3 * r + d] * a[3 * s + c]
    };
    let top = [minor(0, 0), minor(0, 1), minor(0, 2)];
    let det = a[0] * top[0] + a[1] * top[1] + a[2] * top[2];
    let k = 1.0 / det;
    if !k.is_finite() {
        return None;
    }
    Some([
        k * top[0],
        k * minor(1, 0),
        k * minor(2, 0),
        k * top[1],
        k * minor(1, 1),
        k * minor(2, 1),
        k * top[2],
        k * minor(1, 2),
        k * minor(2, 2),
    ])
}

/// a −= reachᵀ gain.
#[inline(always)]
pub(super) fn subtract(a: &mut Block, reach: &Block, gain: &Block) {
    for i in 0..3 {
        for j in 0..3 {
            let sum = reach[i] * gain[j] + reach[3 + i] * gain[3 + j] + reach[6 + i] * gain[6 + j];
            a[3 * i + j] -= sum;
        }
    }
}

/// The inverse of a matrix of any order, by Gauss and Jordan with partial pivoting of it beside the
/// identity. False if there is none.
pub(super) fn invert(a: &mut [f64], n: usize, out: &mut [f64]) -> bool {
    let width = 2 * n;
    if n == 3 {
        let block: Block = std::array::from_fn(|e| a[(e / 3) * width + e % 3]);
        let Some(found) = inverse(&block) else {
            return false;
        };
        out.copy_from_slice(&found);
        return true;
    }
    for k in 0..n {
        let size = |i: usize| a[i * width + k].abs();
        let best = (k..n).fold(k, |b, i| if size(i) > size(b) { i } else { b });
        let per_pivot = 1.0 / a[best * width + k];
        if !per_pivot.is_finite() {
            return false;
        }
        if best != k {
            for j in 0..width {
                a.swap(k * width + j, best * width + j);
            }
        }
        for j in 0..width {
            a[k * width + j] *= per_pivot;
        }
        for i in (0..n).filter(|i| *i != k) {
            let factor = a[i * width + k];
            if factor != 0.0 {
                for j in k..width {
                    a[i * width + j] -= factor * a[k * width + j];
                }
            }
        }
    }
    for (out, row) in out.chunks_exact_mut(n).zip(a.chunks_exact(width)) {
        out.copy_from_slice(&row[n..]);
    }
    true
}
