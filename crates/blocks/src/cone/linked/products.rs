//! Products of small square blocks, a few columns at a time in the registers of this processor.

use pulp::Simd;

use super::factor::Columns;

/// Columns at a time, and registers of each at most.
const TOGETHER: usize = 3;
const REGISTERS: usize = 3;

/// c −= a b.
#[inline(always)]
pub(super) fn subtract<S: Simd, const N: usize>(
    simd: S,
    c: &mut Columns<N>,
    a: &Columns<N>,
    b: &Columns<N>,
) {
    if !N.is_multiple_of(S::F64_LANES) {
        subtract_plainly(c, a, b);
        return;
    }
    let whole = N / S::F64_LANES;
    for first in (0..whole).step_by(REGISTERS) {
        match whole - first {
            1 => subtract_rows::<S, N, 1>(simd, c, a, b, first),
            2 => subtract_rows::<S, N, 2>(simd, c, a, b, first),
            _ => subtract_rows::<S, N, REGISTERS>(simd, c, a, b, first),
        }
    }
}

/// The same where columns do not fill registers.
#[inline(always)]
fn subtract_plainly<const N: usize>(c: &mut Columns<N>, a: &Columns<N>, b: &Columns<N>) {
    for j in 0..N {
        let mut sums = c[j];
        for k in 0..N {
            let x = b[j][k];
            for i in 0..N {
                sums[i] -= a[k][i] * x;
            }
        }
        c[j] = sums;
    }
}

/// The rows of R registers from one on.
#[inline(always)]
fn subtract_rows<S: Simd, const N: usize, const R: usize>(
    simd: S,
    c: &mut Columns<N>,
    a: &Columns<N>,
    b: &Columns<N>,
    first: usize,
) {
    let (c, b) = (c.as_chunks_mut::<TOGETHER>().0, b.as_chunks::<TOGETHER>().0);
    for (c, b) in c.iter_mut().zip(b) {
        let mut sums = [[simd.splat_f64s(0.0); R]; TOGETHER];
        for q in 0..TOGETHER {
            let column = S::as_simd_f64s(&c[q]).0;
            sums[q].copy_from_slice(&column[first..first + R]);
        }
        for k in 0..N {
            let column = S::as_simd_f64s(&a[k]).0;
            for q in 0..TOGETHER {
                let x = simd.splat_f64s(b[q][k]);
                for r in 0..R {
                    let part = simd.mul_f64s(column[first + r], x);
                    sums[q][r] = simd.sub_f64s(sums[q][r], part);
                }
            }
        }
        for q in 0..TOGETHER {
            let column = S::as_mut_simd_f64s(&mut c[q]).0;
            column[first..first + R].copy_from_slice(&sums[q]);
        }
    }
}
