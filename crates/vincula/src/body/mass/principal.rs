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

/// An off-diagonal entry of the input below this fraction of √(a_pp·a_qq) is
/// rounding: if it were kept, noise would turn the axes of a cube by 45°.
const NOISE: f64 = 1e-14;

/// The same fraction at which the iteration leaves an entry alone.
const CONVERGED: f64 = 1e-18;

/// Convergence is quadratic; four or five sweeps are usual.
const MAX_SWEEPS: usize = 32;

const PAIRS: [(usize, usize); 3] = [(0, 1), (0, 2), (1, 2)];

/// Rotation from the principal frame, and the eigenvalues along its axes.
///
/// Of all right-handed frames along the eigenvectors, the one with the largest
/// trace is chosen: the smallest turn away from the given axes.
pub(super) fn principal_frame(matrix: DMat3) -> (DQuat, DVec3) {
    let mut a = matrix.to_cols_array_2d();
    let mut vectors = DMat3::IDENTITY.to_cols_array_2d();
    for (p, q) in PAIRS {
        if is_small(&a, p, q, NOISE) {
            (a[p][q], a[q][p]) = (0.0, 0.0);
        }
    }
    for _ in 0..MAX_SWEEPS {
        let turned = PAIRS.map(|(p, q)| eliminate(&mut a, &mut vectors, p, q));
        if turned == [false; 3] {
            break;
        }
    }
    nearest_order(vectors.map(DVec3::from_array), [a[0][0], a[1][1], a[2][2]])
}

fn is_small(a: &[[f64; 3]; 3], p: usize, q: usize, fraction: f64) -> bool {
    a[p][q].abs() <= fraction * (a[p][p] * a[q][q]).abs().sqrt()
}

/// Rotates in the plane of p and q until a_pq = 0; false if it is already.
fn eliminate(a: &mut [[f64; 3]; 3], vectors: &mut [[f64; 3]; 3], p: usize, q: usize) -> bool {
    let entry = a[p][q];
    if is_small(a, p, q, CONVERGED) || !entry.is_finite() {
        return false;
    }
    let theta = (a[q][q] - a[p][p]) / (2.0 * entry);
    // Square roots are rounded alike on every platform; `hypot` is not.
    let tangent = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
    let cosine = 1.0 / (tangent * tangent + 1.0).sqrt();
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

#[cfg(test)]
mod tests {
    use super::super::moments::turned;
    use super::*;
    use proptest::prelude::*;

    fn largest(matrix: DMat3) -> f64 {
        let entries = matrix.to_cols_array().map(f64::abs);
        entries.into_iter().fold(0.0, f64::max)
    }

    #[test]
    fn a_diagonal_matrix_keeps_its_order_and_its_bits() {
        for values in [[3.0, 1.0, 2.0], [1.0, 1.0, 1.0], [0.1, 0.2, 0.2], [0.0; 3]] {
            let values = DVec3::from_array(values);
            let (axes, found) = principal_frame(DMat3::from_diagonal(values));
            assert_eq!((axes, found), (DQuat::IDENTITY, values));
        }
    }

    #[test]
    fn noise_does_not_turn_a_cube() {
        let noise =
            DMat3::from_cols_array(&[1.0, 1e-16, -2e-16, 1e-16, 1.0, 3e-16, -2e-16, 3e-16, 1.0]);
        assert_eq!(principal_frame(noise), (DQuat::IDENTITY, DVec3::ONE));
    }

    #[test]
    fn a_needle_keeps_the_digits_of_its_thin_directions() {
        // Turned about its length: only the thin directions mix.
        let values = DVec3::new(1.0, 2e-10, 1e-10);
        let tilted = turned(DMat3::from_diagonal(values), DQuat::from_rotation_x(0.3));
        let (_, found) = principal_frame(tilted);
        assert!(((found - values) / values).abs().max_element() < 1e-14);
    }

    proptest! {
        #[test]
        fn the_frame_restores_the_matrix(m in prop::array::uniform6(-1.0..1.0f64)) {
            let columns = [m[0], m[1], m[2], m[1], m[3], m[4], m[2], m[4], m[5]];
            let matrix = DMat3::from_cols_array(&columns);
            let (axes, values) = principal_frame(matrix);
            let restored = turned(DMat3::from_diagonal(values), axes);
            let error = largest(restored - matrix);
            prop_assert!(error < 5e-15, "{:e}", error);
        }
    }
}
