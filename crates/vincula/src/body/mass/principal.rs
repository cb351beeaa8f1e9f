//! Principal axes of a symmetric 3×3 matrix by Jacobi's rotations.
//!
//! Each rotation makes one off-diagonal entry a_pq vanish:
//!
//! ```text
//! θ = (a_qq − a_pp) / 2a_pq,   t = sign θ / (|θ| + √(θ²+1)) = tan φ
//! ```
//!
//! The smaller root t turns by at most 45°, so nearly diagonal matrices keep
//! their order, and a diagonal one is returned as it is.

use glam::{DMat3, DQuat, DVec3};

/// An off-diagonal entry below this fraction of √(a_pp·a_qq) is rounding:
/// without it, noise would turn the axes of a cube by 45°.
const NEGLIGIBLE: f64 = 1e-14;

/// Convergence is quadratic; four or five sweeps are usual.
const MAX_SWEEPS: usize = 32;

/// Rotation from the principal frame, and the eigenvalues along its axes.
///
/// Of all right-handed frames along the eigenvectors, the one with the largest
/// trace is chosen: the smallest turn away from the given axes.
pub(super) fn principal_frame(matrix: DMat3) -> (DQuat, DVec3) {
    let mut a = matrix.to_cols_array_2d();
    let mut vectors = DMat3::IDENTITY.to_cols_array_2d();
    for _ in 0..MAX_SWEEPS {
        let pairs = [(0, 1), (0, 2), (1, 2)];
        let turned = pairs.map(|(p, q)| eliminate(&mut a, &mut vectors, p, q));
        if turned == [false; 3] {
            break;
        }
    }
    nearest_order(vectors.map(DVec3::from_array), [a[0][0], a[1][1], a[2][2]])
}

/// Rotates in the plane of p and q until a_pq = 0; false if it is already.
fn eliminate(a: &mut [[f64; 3]; 3], vectors: &mut [[f64; 3]; 3], p: usize, q: usize) -> bool {
    let entry = a[p][q];
    if entry.abs() <= NEGLIGIBLE * (a[p][p] * a[q][q]).abs().sqrt() || !entry.is_finite() {
        return false;
    }
    let theta = (a[q][q] - a[p][p]) / (2.0 * entry);
    let tangent = theta.signum() / (theta.abs() + theta.hypot(1.0));
    let cosine = 1.0 / tangent.hypot(1.0);
    let sine = tangent * cosine;
    let mix = |x: f64, y: f64| (cosine * x - sine * y, sine * x + cosine * y);

    a[p][p] -= tangent * entry;
    a[q][q] += tangent * entry;
    (a[p][q], a[q][p]) = (0.0, 0.0);
    let other = 3 - p - q;
    let (with_p, with_q) = mix(a[other][p], a[other][q]);
    (a[other][p], a[p][other]) = (with_p, with_p);
    (a[other][q], a[q][other]) = (with_q, with_q);
    for row in 0..3 {
        (vectors[p][row], vectors[q][row]) = mix(vectors[p][row], vectors[q][row]);
    }
    true
}

fn nearest_order(vectors: [DVec3; 3], values: [f64; 3]) -> (DQuat, DVec3) {
    let orders = [
        [0, 1, 2],
        [1, 2, 0],
        [2, 0, 1],
        [0, 2, 1],
        [2, 1, 0],
        [1, 0, 2],
    ];
    let mut best = (
        f64::NEG_INFINITY,
        DMat3::IDENTITY,
        DVec3::from_array(values),
    );
    for order in orders {
        let frame = right_handed(order.map(|i| vectors[i]));
        let trace = frame.x_axis.x + frame.y_axis.y + frame.z_axis.z;
        if trace > best.0 {
            best = (trace, frame, DVec3::from_array(order.map(|i| values[i])));
        }
    }
    (DQuat::from_mat3(&best.1).normalize(), best.2)
}

/// Signs the columns for the largest trace that a right-handed frame allows.
fn right_handed(columns: [DVec3; 3]) -> DMat3 {
    let mut signed = columns;
    for axis in 0..3 {
        if signed[axis][axis] < 0.0 {
            signed[axis] = -signed[axis];
        }
    }
    if signed[0].cross(signed[1]).dot(signed[2]) < 0.0 {
        let mut weakest = 0;
        for axis in 1..3 {
            if signed[axis][axis] < signed[weakest][weakest] {
                weakest = axis;
            }
        }
        signed[weakest] = -signed[weakest];
    }
    DMat3::from_cols(signed[0], signed[1], signed[2])
}
