//! The original affine body: `Ψ = κ ‖AᵀA − I‖²`, implicit Euler by Newton's method on a 12×12
//! Hessian that is assembled and factored at every iteration (He et al. 2026, Eqs. 3 and 7).
//!
//! With columns a_i and c_ij = a_i·a_j − δ_ij: gradient 4κ Σ_j c_ij a_j; Hessian blocks
//! 4κ (Σ_j a_j a_jᵀ + a_i a_iᵀ + c_ii I) on the diagonal and 4κ (c_ij I + a_j a_iᵀ) off it.

use vincula::math::small::*;

use crate::single::{PointForce, SingleBody, SingleError, check_step};

/// Newton iterations at most.
const LIMIT: usize = 30;
/// Increment of an entry of A at which Newton's method stops.
const TOLERANCE: f64 = 1e-9;

/// One implicit Euler step. The stiffness is κ = Vμ/4, which agrees with the shear response
/// of the co-rotated body near the rest shape.
#[inline]
pub fn step_vanilla(
    body: &mut SingleBody,
    law: &impl Fn(&SingleBody) -> PointForce,
    h: f64,
) -> Result<usize, SingleError> {
    check_step(h)?;
    let kappa = 0.25 * body.affine.shear;
    let push = law(body);
    let mut predicted = columns(&axpy9(&body.a(), h, &body.w()), &axpy(&body.t, h, &body.v));
    let mut load = [0.0; 9];
    for i in 0..3 {
        for j in 0..3 {
            load[3 * i + j] = push.force[i] * push.point[j];
        }
    }
    let push = columns(&load, &add(&push.central, &push.force));
    let mass = masses(body);
    for k in 0..12 {
        predicted[k] += h * h * push[k] / mass[k];
    }
    let mut q = columns(&body.a(), &body.t);
    for iteration in 1..=LIMIT {
        let (mut hessian, mut gradient) = elastic(&q, kappa);
        let c = 1.0 / (h * h);
        for k in 0..12 {
            hessian[k][k] += c * mass[k];
            gradient[k] += c * mass[k] * (q[k] - predicted[k]);
        }
        let delta = solve(&mut hessian, &gradient).ok_or(SingleError::NotFinite)?;
        let mut largest = 0.0f64;
        for k in 0..12 {
            q[k] -= delta[k];
            largest = largest.max(delta[k].abs());
        }
        if largest < TOLERANCE {
            return commit(body, &q, h, iteration);
        }
    }
    Err(SingleError::NotConverged(LIMIT))
}

fn commit(
    body: &mut SingleBody,
    q: &[f64; 12],
    h: f64,
    iterations: usize,
) -> Result<usize, SingleError> {
    let mut next = *body;
    for i in 0..3 {
        for k in 0..3 {
            next.q[i][k] = q[3 * k + i];
            next.rate[i][k] = (next.q[i][k] - body.q[i][k]) / h;
        }
        next.t[i] = q[9 + i];
        next.v[i] = (next.t[i] - body.t[i]) / h;
    }
    if !next.is_finite() {
        return Err(SingleError::NotFinite);
    }
    *body = next;
    Ok(iterations)
}

/// q = [a_1, a_2, a_3, t].
fn columns(a: &M3, t: &V3) -> [f64; 12] {
    let mut q = [0.0; 12];
    for k in 0..3 {
        for i in 0..3 {
            q[3 * k + i] = a[3 * i + k];
        }
        q[9 + k] = t[k];
    }
    q
}

fn masses(body: &SingleBody) -> [f64; 12] {
    let s = &body.affine.second;
    let m = body.affine.mass;
    [
        s[0], s[0], s[0], s[1], s[1], s[1], s[2], s[2], s[2], m, m, m,
    ]
}

fn elastic(q: &[f64; 12], kappa: f64) -> ([[f64; 12]; 12], [f64; 12]) {
    let k4 = 4.0 * kappa;
    let column = |i: usize| [q[3 * i], q[3 * i + 1], q[3 * i + 2]];
    let a = [column(0), column(1), column(2)];
    let mut hessian = [[0.0; 12]; 12];
    let mut gradient = [0.0; 12];
    let mut sum = [0.0; 9];
    for column in &a {
        for r in 0..3 {
            for c in 0..3 {
                sum[3 * r + c] += column[r] * column[c];
            }
        }
    }
    for i in 0..3 {
        for j in 0..3 {
            let cij = dot(&a[i], &a[j]) - if i == j { 1.0 } else { 0.0 };
            for r in 0..3 {
                gradient[3 * i + r] += k4 * cij * a[j][r];
                for c in 0..3 {
                    let mut block = if i == j { sum[3 * r + c] } else { 0.0 };
                    block += a[j][r] * a[i][c];
                    if r == c {
                        block += cij;
                    }
                    hessian[3 * i + r][3 * j + c] = k4 * block;
                }
            }
        }
    }
    (hessian, gradient)
}

/// Solves a symmetric system by LDLᵀ in place; `None` when a pivot vanishes.
fn solve(m: &mut [[f64; 12]; 12], b: &[f64; 12]) -> Option<[f64; 12]> {
    let mut x = *b;
    for j in 0..12 {
        let pivot = m[j][j];
        if !(pivot.abs() > f64::MIN_POSITIVE) {
            return None;
        }
        for i in j + 1..12 {
            let l = m[i][j] / pivot;
            for k in j + 1..=i {
                m[i][k] -= l * m[k][j];
            }
            x[i] -= l * x[j];
        }
        for i in j + 1..12 {
            m[i][j] /= pivot;
        }
    }
    for i in (0..12).rev() {
        x[i] /= m[i][i];
        for k in i + 1..12 {
            x[i] -= m[k][i] * x[k];
        }
    }
    Some(x)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hessian_matches_finite_differences_of_the_gradient() {
        let q = [
            1.1, 0.1, -0.2, 0.05, 0.9, 0.3, -0.1, 0.2, 1.05, 0.0, 0.0, 0.0,
        ];
        let (hessian, _) = elastic(&q, 3.0);
        for k in 0..9 {
            let gradient = |delta: f64| {
                let mut moved = q;
                moved[k] += delta;
                elastic(&moved, 3.0).1
            };
            let (up, down) = (gradient(1e-6), gradient(-1e-6));
            for r in 0..12 {
                let slope = (up[r] - down[r]) / 2e-6;
                assert!((slope - hessian[r][k]).abs() < 1e-7, "entry {r} {k}");
            }
        }
    }

    #[test]
    fn the_factorization_solves() {
        let q = [1.0, 0.02, 0.0, 0.0, 1.0, 0.01, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0];
        let (mut m, _) = elastic(&q, 1.0);
        for (k, row) in m.iter_mut().enumerate() {
            row[k] += 2.0;
        }
        let original = m;
        let b = std::array::from_fn(|k| k as f64 - 4.0);
        let x = solve(&mut m, &b).expect("positive definite");
        for r in 0..12 {
            let product: f64 = (0..12).map(|c| original[r][c] * x[c]).sum();
            assert!((product - b[r]).abs() < 1e-10);
        }
    }
}
