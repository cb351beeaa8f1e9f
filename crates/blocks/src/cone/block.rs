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

/// Overwrites a matrix of any order by its inverse, by Gauss and Jordan with partial pivoting. False if
/// there is none. `swaps` is scratch.
#[inline(always)]
pub(super) fn invert(a: &mut [f64], n: usize, swaps: &mut Vec<usize>) -> bool {
    // The compiler unrolls what is of a known size.
    match n {
        3 => {
            let found = inverse(&std::array::from_fn(|e| a[e]));
            found.iter().for_each(|found| a.copy_from_slice(found));
            found.is_some()
        }
        6 => invert_any(&mut a[..36], 6, swaps),
        _ => invert_any(a, n, swaps),
    }
}

#[inline(always)]
fn invert_any(a: &mut [f64], n: usize, swaps: &mut Vec<usize>) -> bool {
    swaps.clear();
    for k in 0..n {
        let size = |i: usize| a[i * n + k].abs();
        let best = (k..n).fold(k, |b, i| if size(i) > size(b) { i } else { b });
        let per_pivot = 1.0 / a[best * n + k];
        if !per_pivot.is_finite() {
            return false;
        }
        swaps.push(best);
        if best != k {
            let (above, below) = a.split_at_mut(best * n);
            above[k * n..(k + 1) * n].swap_with_slice(&mut below[..n]);
        }
        // The column of the pivot makes room for that of the inverse.
        let (above, rest) = a.split_at_mut(k * n);
        let (pivot, below) = rest.split_at_mut(n);
        pivot[k] = 1.0;
        pivot.iter_mut().for_each(|x| *x *= per_pivot);
        let others = above.chunks_exact_mut(n).chain(below.chunks_exact_mut(n));
        for row in others {
            let factor = std::mem::take(&mut row[k]);
            if factor != 0.0 {
                for (x, p) in row.iter_mut().zip(&*pivot) {
                    *x -= factor * p;
                }
            }
        }
    }
    for (k, &best) in swaps.iter().enumerate().rev() {
        if best != k {
            a.chunks_exact_mut(n).for_each(|row| row.swap(k, best));
        }
    }
    true
}
