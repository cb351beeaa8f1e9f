//! Newton's method on the velocities at the end of an implicit step.
//!
//! The inertial part of the residual has an exact derivative, which the caller inverts.
//! The force law is a black box: for weights and weak forces ignoring its derivative
//! still contracts fast. Where it does not, the whole Jacobian is taken by differences.

use super::RigidError;

/// Newton stops when an update is this small relative to the velocities.
const TOLERANCE: f64 = 1e-12;
const ITERATIONS: usize = 60;
const HALVINGS: usize = 12;

/// Solves `residual(y) = 0` from `start`.
///
/// `evaluate(y)` gives the residual, a velocity, and whatever `correct(residual, inner)`
/// needs to solve with the inertial Jacobian.
#[inline]
pub(super) fn solve<const N: usize, T>(
    start: [f64; N],
    h: f64,
    evaluate: impl Fn(&[f64; N]) -> ([f64; N], T),
    correct: impl Fn(&[f64; N], &T) -> [f64; N],
) -> Result<T, RigidError> {
    let mut y = start;
    let (mut residual, mut inner) = evaluate(&y);
    if !norm(&residual).is_finite() {
        let quantity = "force or torque";
        return Err(RigidError::NotFinite { quantity });
    }
    let mut by_differences = false;
    let mut update = f64::INFINITY;
    let mut iterations = 0;
    while iterations < ITERATIONS {
        // Inertia and stiff forces only make the Jacobian larger than one, so a residual this
        // small promises an even smaller update.
        if relative(&residual, &y) <= 0.1 * TOLERANCE {
            return Ok(inner);
        }
        iterations += 1;
        let step = if by_differences {
            solve_dense(differences(&y, &residual, &evaluate), residual)
        } else {
            correct(&residual, &inner)
        };
        update = relative(&step, &y);
        if update <= TOLERANCE {
            return Ok(inner);
        }
        // Only the full Jacobian promises descent, so only its steps are worth halving.
        let halvings = if by_differences { HALVINGS } else { 0 };
        let Some(next) = search(&y, &step, norm(&residual), halvings, &evaluate) else {
            if by_differences {
                break;
            }
            by_differences = true;
            continue;
        };
        // Slower than a factor of ten: the force law matters, so take its derivative along.
        by_differences |= norm(&next.1) > 0.1 * norm(&residual);
        (y, residual, inner) = next;
    }
    Err(RigidError::NotConverged {
        iterations,
        update,
        h,
    })
}

/// Halves the step until the residual shrinks.
#[inline]
fn search<const N: usize, T>(
    y: &[f64; N],
    step: &[f64; N],
    size: f64,
    halvings: usize,
    evaluate: &impl Fn(&[f64; N]) -> ([f64; N], T),
) -> Option<([f64; N], [f64; N], T)> {
    let mut factor = 1.0;
    for _ in 0..=halvings {
        let next = std::array::from_fn(|i| y[i] - factor * step[i]);
        let (residual, inner) = evaluate(&next);
        if norm(&residual) < size {
            return Some((next, residual, inner));
        }
        factor *= 0.5;
    }
    None
}

/// Jacobian by forward differences, rows of the residual first.
fn differences<const N: usize, T>(
    y: &[f64; N],
    residual: &[f64; N],
    evaluate: &impl Fn(&[f64; N]) -> ([f64; N], T),
) -> [[f64; N]; N] {
    let mut jacobian = [[0.0; N]; N];
    let delta = 1e-7 * norm(y).max(1.0);
    for column in 0..N {
        let mut moved = *y;
        moved[column] += delta;
        let (there, _) = evaluate(&moved);
        for row in 0..N {
            jacobian[row][column] = (there[row] - residual[row]) / delta;
        }
    }
    jacobian
}

/// Gaussian elimination with row pivoting; a singular matrix yields non-finite numbers.
pub(super) fn solve_dense<const N: usize>(mut a: [[f64; N]; N], mut b: [f64; N]) -> [f64; N] {
    for k in 0..N {
        let pivot = (k..N).fold(k, |best, i| {
            if a[i][k].abs() > a[best][k].abs() {
                i
            } else {
                best
            }
        });
        a.swap(k, pivot);
        b.swap(k, pivot);
        let top = a[k];
        for i in k + 1..N {
            let factor = a[i][k] / top[k];
            for j in k..N {
                a[i][j] -= factor * top[j];
            }
            b[i] -= factor * b[k];
        }
    }
    for k in (0..N).rev() {
        let known: f64 = (k + 1..N).map(|j| a[k][j] * b[j]).sum();
        b[k] = (b[k] - known) / a[k][k];
    }
    b
}

/// Size of `step` against `y`, linear plus angular velocity; one unit (m/s or rad/s) is the
/// least that counts.
#[inline]
fn relative<const N: usize>(step: &[f64; N], y: &[f64; N]) -> f64 {
    let size = |part: &[f64]| part.iter().map(|value| value * value).sum::<f64>().sqrt();
    let pairs = step.chunks_exact(3).zip(y.chunks_exact(3));
    pairs.map(|(step, y)| size(step) / size(y).max(1.0)).sum()
}

#[inline]
fn norm<const N: usize>(y: &[f64; N]) -> f64 {
    y.iter().map(|value| value * value).sum::<f64>().sqrt()
}
