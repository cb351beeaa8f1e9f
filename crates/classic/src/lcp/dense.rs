//! `A x = b` for a small dense matrix: Gaussian elimination with row pivoting.

/// Pivots below this, beside the largest entry of their column, count as zero.
const SINGULAR: f64 = 1e-13;

/// Overwrites `b` by the solution and `a` (row-major) by its factors; false when the matrix
/// is singular.
pub(super) fn solve_in_place(a: &mut [f64], b: &mut [f64]) -> bool {
    let n = b.len();
    let largest = a.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
    for k in 0..n {
        let pivot = (k..n).fold(k, |best, i| {
            if a[i * n + k].abs() > a[best * n + k].abs() {
                i
            } else {
                best
            }
        });
        if !(a[pivot * n + k].abs() > SINGULAR * largest) {
            return false;
        }
        if pivot != k {
            for j in 0..n {
                a.swap(k * n + j, pivot * n + j);
            }
            b.swap(k, pivot);
        }
        for i in k + 1..n {
            let factor = a[i * n + k] / a[k * n + k];
            if factor != 0.0 {
                for j in k..n {
                    a[i * n + j] -= factor * a[k * n + j];
                }
                b[i] -= factor * b[k];
            }
        }
    }
    for k in (0..n).rev() {
        let known: f64 = (k + 1..n).map(|j| a[k * n + j] * b[j]).sum();
        b[k] = (b[k] - known) / a[k * n + k];
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_matrix_that_needs_a_row_exchange_is_solved() {
        let mut a = [0.0, 2.0, 1.0, 1.0, 1.0, 0.0, 3.0, 0.0, 1.0];
        let mut b = [7.0, 3.0, 6.0];
        assert!(solve_in_place(&mut a, &mut b));
        for (x, exact) in b.iter().zip([1.0, 2.0, 3.0]) {
            assert!((x - exact).abs() < 1e-14);
        }
    }

    #[test]
    fn dependent_rows_are_refused() {
        let (mut a, mut b) = ([1.0, 2.0, 2.0, 4.0], [1.0, 2.0]);
        assert!(!solve_in_place(&mut a, &mut b));
    }
}
