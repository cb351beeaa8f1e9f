//! Vectors of three and row-major 3×3 matrices as plain arrays.
//!
//! Symmetric matrices are six numbers in the order xx, yy, zz, xy, xz, yz.

/// A vector of three.
pub type V3 = [f64; 3];
/// A 3×3 matrix, row-major.
pub type M3 = [f64; 9];
/// A symmetric 3×3 matrix: xx, yy, zz, xy, xz, yz.
pub type S3 = [f64; 6];

/// The identity matrix.
pub const IDENTITY: M3 = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];

/// a + b.
#[inline(always)]
pub fn add(a: &V3, b: &V3) -> V3 {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

/// a − b.
#[inline(always)]
pub fn sub(a: &V3, b: &V3) -> V3 {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

/// a · k.
#[inline(always)]
pub fn scale(a: &V3, k: f64) -> V3 {
    [a[0] * k, a[1] * k, a[2] * k]
}

/// a + k b.
#[inline(always)]
pub fn axpy(a: &V3, k: f64, b: &V3) -> V3 {
    [a[0] + k * b[0], a[1] + k * b[1], a[2] + k * b[2]]
}

/// Reciprocals of three numbers with one division: divisions are slow.
#[inline(always)]
pub fn reciprocals(x: &V3) -> V3 {
    let first = x[0] * x[1];
    let all = 1.0 / (first * x[2]);
    let rest = all * x[2];
    [rest * x[1], rest * x[0], all * first]
}

/// Entry by entry.
#[inline(always)]
pub fn times(a: &V3, b: &V3) -> V3 {
    [a[0] * b[0], a[1] * b[1], a[2] * b[2]]
}

/// Dot product.
#[inline(always)]
pub fn dot(a: &V3, b: &V3) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// Cross product.
#[inline(always)]
pub fn cross(a: &V3, b: &V3) -> V3 {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}

/// A x.
#[inline(always)]
pub fn mul_vec(a: &M3, x: &V3) -> V3 {
    [
        a[0] * x[0] + a[1] * x[1] + a[2] * x[2],
        a[3] * x[0] + a[4] * x[1] + a[5] * x[2],
        a[6] * x[0] + a[7] * x[1] + a[8] * x[2],
    ]
}

/// Aᵀ x.
#[inline(always)]
pub fn tmul_vec(a: &M3, x: &V3) -> V3 {
    [
        a[0] * x[0] + a[3] * x[1] + a[6] * x[2],
        a[1] * x[0] + a[4] * x[1] + a[7] * x[2],
        a[2] * x[0] + a[5] * x[1] + a[8] * x[2],
    ]
}

/// A B.
#[inline(always)]
pub fn mul(a: &M3, b: &M3) -> M3 {
    let mut c = [0.0; 9];
    for i in 0..3 {
        for j in 0..3 {
            c[3 * i + j] = a[3 * i] * b[j] + a[3 * i + 1] * b[3 + j] + a[3 * i + 2] * b[6 + j];
        }
    }
    c
}

/// Aᵀ B.
#[inline(always)]
pub fn tmul(a: &M3, b: &M3) -> M3 {
    let mut c = [0.0; 9];
    for i in 0..3 {
        for j in 0..3 {
            c[3 * i + j] = a[i] * b[j] + a[3 + i] * b[3 + j] + a[6 + i] * b[6 + j];
        }
    }
    c
}

/// A Bᵀ.
#[inline(always)]
pub fn mult(a: &M3, b: &M3) -> M3 {
    let mut c = [0.0; 9];
    for i in 0..3 {
        for j in 0..3 {
            c[3 * i + j] =
                a[3 * i] * b[3 * j] + a[3 * i + 1] * b[3 * j + 1] + a[3 * i + 2] * b[3 * j + 2];
        }
    }
    c
}

/// Aᵀ.
#[inline(always)]
pub fn transpose(a: &M3) -> M3 {
    [a[0], a[3], a[6], a[1], a[4], a[7], a[2], a[5], a[8]]
}

/// Aᵀ A, symmetric.
#[inline(always)]
pub fn gram(a: &M3) -> S3 {
    let column = |i: usize, j: usize| a[i] * a[j] + a[3 + i] * a[3 + j] + a[6 + i] * a[6 + j];
    [
        column(0, 0),
        column(1, 1),
        column(2, 2),
        column(0, 1),
        column(0, 2),
        column(1, 2),
    ]
}

/// A S for symmetric S.
#[inline(always)]
pub fn mul_sym(a: &M3, s: &S3) -> M3 {
    mul(a, &full(s))
}

/// The nine entries of a symmetric matrix.
#[inline(always)]
pub fn full(s: &S3) -> M3 {
    [s[0], s[3], s[4], s[3], s[1], s[5], s[4], s[5], s[2]]
}

/// The symmetric part of A.
#[inline(always)]
pub fn sym(a: &M3) -> S3 {
    [
        a[0],
        a[4],
        a[8],
        0.5 * (a[1] + a[3]),
        0.5 * (a[2] + a[6]),
        0.5 * (a[5] + a[7]),
    ]
}

/// The axial vector of the skew part of A: `skew_matrix(axial(A)) = (A − Aᵀ)/2`.
#[inline(always)]
pub fn axial(a: &M3) -> V3 {
    [
        0.5 * (a[7] - a[5]),
        0.5 * (a[2] - a[6]),
        0.5 * (a[3] - a[1]),
    ]
}

/// The matrix of `w ×`.
#[inline(always)]
pub fn skew_matrix(w: &V3) -> M3 {
    [0.0, -w[2], w[1], w[2], 0.0, -w[0], -w[1], w[0], 0.0]
}

/// A times the matrix of `w ×`: row i is the cross product of row i of A and w.
#[inline(always)]
pub fn mul_skew(a: &M3, w: &V3) -> M3 {
    let row = |i: usize| cross(&[a[3 * i], a[3 * i + 1], a[3 * i + 2]], w);
    let (x, y, z) = (row(0), row(1), row(2));
    [x[0], x[1], x[2], y[0], y[1], y[2], z[0], z[1], z[2]]
}

/// `x ⊗ y`.
#[inline(always)]
pub fn outer(x: &V3, y: &V3) -> M3 {
    [
        x[0] * y[0],
        x[0] * y[1],
        x[0] * y[2],
        x[1] * y[0],
        x[1] * y[1],
        x[1] * y[2],
        x[2] * y[0],
        x[2] * y[1],
        x[2] * y[2],
    ]
}

/// A · k.
#[inline(always)]
pub fn scale9(a: &M3, k: f64) -> M3 {
    let mut b = [0.0; 9];
    for i in 0..9 {
        b[i] = a[i] * k;
    }
    b
}

/// A + k B.
#[inline(always)]
pub fn axpy9(a: &M3, k: f64, b: &M3) -> M3 {
    let mut c = [0.0; 9];
    for i in 0..9 {
        c[i] = a[i] + k * b[i];
    }
    c
}

/// A − B.
#[inline(always)]
pub fn sub9(a: &M3, b: &M3) -> M3 {
    axpy9(a, -1.0, b)
}

/// `a` with `first` added to the first entry of the diagonal, and `others` to the others.
#[inline(always)]
pub fn plus_diagonal(a: &M3, first: f64, others: f64) -> M3 {
    let mut r = *a;
    (r[0], r[4], r[8]) = (r[0] + first, r[4] + others, r[8] + others);
    r
}

/// A diag(d): column j scaled by d_j.
#[inline(always)]
pub fn mul_diag(a: &M3, d: &V3) -> M3 {
    let mut c = [0.0; 9];
    for i in 0..3 {
        for j in 0..3 {
            c[3 * i + j] = a[3 * i + j] * d[j];
        }
    }
    c
}

/// Determinant.
#[inline(always)]
pub fn det(a: &M3) -> f64 {
    a[0] * (a[4] * a[8] - a[5] * a[7]) - a[1] * (a[3] * a[8] - a[5] * a[6])
        + a[2] * (a[3] * a[7] - a[4] * a[6])
}

/// The cofactor matrix: A⁻ᵀ det A.
#[inline(always)]
pub fn cofactor(a: &M3) -> M3 {
    [
        a[4] * a[8] - a[5] * a[7],
        a[5] * a[6] - a[3] * a[8],
        a[3] * a[7] - a[4] * a[6],
        a[2] * a[7] - a[1] * a[8],
        a[0] * a[8] - a[2] * a[6],
        a[1] * a[6] - a[0] * a[7],
        a[1] * a[5] - a[2] * a[4],
        a[2] * a[3] - a[0] * a[5],
        a[0] * a[4] - a[1] * a[3],
    ]
}

/// The inverse of a symmetric matrix, and its determinant.
#[inline(always)]
pub fn invert_sym(s: &S3) -> (S3, f64) {
    let [xx, yy, zz, xy, xz, yz] = *s;
    let first = [yy * zz - yz * yz, xz * yz - xy * zz, xy * yz - xz * yy];
    let rest = [xx * zz - xz * xz, xx * yy - xy * xy, xy * xz - xx * yz];
    let det = xx * first[0] + xy * first[1] + xz * first[2];
    let d = 1.0 / det;
    let adjugate = [first[0], rest[0], rest[1], first[1], first[2], rest[2]];
    (adjugate.map(|c| c * d), det)
}

/// The inverse of a matrix whose determinant is not zero.
#[inline(always)]
pub fn inverse(a: &M3) -> M3 {
    let c = cofactor(a);
    let per_det = 1.0 / (a[0] * c[0] + a[1] * c[1] + a[2] * c[2]);
    transpose(&c).map(|x| x * per_det)
}

/// The largest magnitude among the entries.
#[inline(always)]
pub fn max_abs(a: &M3) -> f64 {
    let mut m = 0.0f64;
    for x in a {
        m = m.max(x.abs());
    }
    m
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_product_with_a_skew_matrix_needs_no_matrix() {
        let a = [0.3, -1.0, 2.0, 0.7, 0.1, -0.4, 5.0, 0.2, 1.1];
        let w = [0.5, -0.25, 2.0];
        let expected = mul(&a, &skew_matrix(&w));
        assert!(max_abs(&sub9(&mul_skew(&a, &w), &expected)) < 1e-15);
    }
}
