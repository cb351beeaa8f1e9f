//! One Newton step of the co-rotated affine body (He et al. 2026, Eq. 16 and Alg. 1).
//!
//! `H̄ diag₄(Rᵀ) δq = diag₄(Rᵀ) f`, with the constant, split H̄ of
//! [`vincula::body::affine`]. R comes from the polar decomposition, or is replaced by A with
//! every turned column brought back to its length (Eq. 17). The columns of A lie side by side,
//! so that each operation of Alg. 1 is one on vectors. H̄ is the same in every direction for
//! t, whose column needs no turning.

use std::array::from_fn;

use vincula::body::affine::{Inverse, strain};
use vincula::math::rotation::polar;
use vincula::math::small::*;
use wide::f64x4;

use crate::four::Four;
use crate::single::{PointForce, Rows, SingleBody, SingleError, check_step, pad};

/// The constant matrix of a body for one step length.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(32))]
pub struct Corotated {
    /// Response of each entry of A off its diagonal to its own load.
    own: Rows,
    /// Response of A_ij to a load on A_ji; ones on the diagonal, whose response is known.
    across: Rows,
    /// Inertia of the columns of A per step, kg m²/s.
    inertia: [f64; 4],
    /// Vμ for the columns of A.
    shear: [f64; 4],
    inverse: Inverse,
    bulk: f64,
    per_h: f64,
    h: f64,
    h_per_mass: f64,
    /// Whether the processor has AVX2 and FMA.
    fused: bool,
}

impl Corotated {
    /// Inverts H̄ once.
    pub fn new(body: &SingleBody, h: f64) -> Result<Corotated, SingleError> {
        check_step(h)?;
        let inverse = Inverse::new(&body.affine, 1.0 / (h * h), &[0.0; 3]);
        let (p, q) = (&inverse.direct, &inverse.cross);
        let s = &body.affine.second;
        let mu = body.affine.shear;
        Ok(Corotated {
            own: [
                [0.0, p[0], p[2], 0.0],
                [p[1], 0.0, p[4], 0.0],
                [p[3], p[5], 0.0, 0.0],
            ],
            across: [
                [1.0, q[0], q[1], 0.0],
                [q[0], 1.0, q[2], 0.0],
                [q[1], q[2], 1.0, 0.0],
            ],
            inertia: [s[0] / h, s[1] / h, s[2] / h, 0.0],
            h,
            h_per_mass: h / body.affine.mass,
            shear: [mu, mu, mu, 0.0],
            bulk: body.affine.bulk,
            per_h: 1.0 / h,
            fused: fused(),
            inverse,
        })
    }

    /// One step with the rotation of the polar decomposition.
    #[inline]
    pub fn step_polar(
        &self,
        body: &mut SingleBody,
        law: &impl Fn(&SingleBody) -> PointForce,
    ) -> Result<(), SingleError> {
        let a = body.a();
        let rot = polar(&a).ok_or(SingleError::NotFinite)?;
        let push = law(body);
        let [sx, sy, sz, _] = self.inertia;
        let inertial = tmul(&rot, &mul_diag(&body.w(), &[sx, sy, sz]));
        let load = outer(&tmul_vec(&rot, &push.force), &push.point);
        let stress = full(&body.affine.stress(&strain(&rot, &a)));
        let balance = sub9(&axpy9(&inertial, 1.0, &load), &stress);
        let delta = mul(&rot, &self.inverse.solve(&balance));
        if move_by(self, &push, body, &pad(&delta).map(f64x4::from)) {
            Ok(())
        } else {
            Err(SingleError::NotFinite)
        }
    }

    /// One step without polar decomposition.
    #[inline]
    pub fn step_normalised(
        &self,
        body: &mut SingleBody,
        law: &impl Fn(&SingleBody) -> PointForce,
    ) -> Result<(), SingleError> {
        let push = law(body);
        if advance(self, &push, body) {
            Ok(())
        } else {
            Err(SingleError::NotFinite)
        }
    }
}

/// Alg. 1 after the law, with the widest registers there are.
#[inline(always)]
#[allow(unsafe_code)]
fn advance(matrix: &Corotated, push: &PointForce, body: &mut SingleBody) -> bool {
    #[cfg(target_arch = "x86_64")]
    if matrix.fused {
        #[target_feature(enable = "avx2,fma")]
        fn wide(matrix: &Corotated, push: &PointForce, body: &mut SingleBody) -> bool {
            advance_with::<crate::four::Avx>(matrix, push, body)
        }
        // SAFETY: `fused` says that the processor has AVX2 and FMA.
        return unsafe { wide(matrix, push, body) };
    }
    advance_with::<f64x4>(matrix, push, body)
}

/// Moves the body by the increment of Alg. 1; false, and the body as it was, when that is not
/// finite.
#[inline(always)]
fn advance_with<F: Four>(matrix: &Corotated, push: &PointForce, body: &mut SingleBody) -> bool {
    let delta = increment::<F>(matrix, body, push);
    move_by(matrix, push, body, &delta)
}

#[inline(always)]
fn move_by<F: Four>(
    matrix: &Corotated,
    push: &PointForce,
    body: &mut SingleBody,
    delta: &[F; 3],
) -> bool {
    let v = axpy(&body.v, matrix.h_per_mass, &add(&push.central, &push.force));
    let sum = (delta[0] + delta[1] + delta[2]).store();
    if !((sum[0] + sum[1]) + sum[2] + (v[0] + v[1] + v[2])).is_finite() {
        return false;
    }
    let per_h = F::splat(matrix.per_h);
    for i in 0..3 {
        body.q[i] = (F::load(&body.q[i]) + delta[i]).store();
        body.rate[i] = (delta[i] * per_h).store();
    }
    body.t = axpy(&body.t, matrix.h, &v);
    body.v = v;
    true
}

/// Alg. 1: the increment of A.
#[inline(always)]
fn increment<F: Four>(matrix: &Corotated, body: &SingleBody, push: &PointForce) -> [F; 3] {
    let a = &body.q;
    let inertia = F::load(&matrix.inertia);
    let force: [F; 3] = from_fn(|i| F::load(&body.rate[i]) * inertia);
    let turned = keep_lengths(&force, &turn_back(a, &force));
    // Load of the force at its point, and stress: AᵀA = 1 + 2S to first order.
    let gram = turn_back(a, &from_fn(|i| F::load(&a[i])));
    let square = |k: usize| a[0][k] * a[0][k] + a[1][k] * a[1][k] + a[2][k] * a[2][k];
    let pressure = 0.5 * matrix.bulk * ((square(0) + square(1) + square(2)) - 3.0);
    let excess = matrix.shear[0] - pressure;
    let [y0, y1, y2] = push.point;
    let point = F::load(&[y0, y1, y2, 0.0]);
    let shear = F::load(&matrix.shear);
    let rests: Rows = [
        [excess, 0.0, 0.0, 0.0],
        [0.0, excess, 0.0, 0.0],
        [0.0, 0.0, excess, 0.0],
    ];
    // Everything that does not wait for the law first.
    let known: [F; 3] = from_fn(|i| turned[i] + F::load(&rests[i]) - shear * gram[i]);
    let balance: [F; 3] = from_fn(|i| {
        let f = a[0][i] * push.force[0] + a[1][i] * push.force[1] + a[2][i] * push.force[2];
        F::splat(f).times_plus(point, known[i])
    });
    let p = solve(matrix, &balance);
    keep_lengths(&p, &turn(a, &p))
}

/// `Aᵀ f` for the columns.
#[inline(always)]
fn turn_back<F: Four>(a: &Rows, f: &[F; 3]) -> [F; 3] {
    from_fn(|i| {
        let sum = F::splat(a[1][i]).times_plus(f[1], F::splat(a[0][i]) * f[0]);
        F::splat(a[2][i]).times_plus(f[2], sum)
    })
}

/// `A p` for the columns.
#[inline(always)]
fn turn<F: Four>(a: &Rows, p: &[F; 3]) -> [F; 3] {
    from_fn(|i| {
        let sum = F::splat(a[i][1]).times_plus(p[1], F::splat(a[i][0]) * p[0]);
        F::splat(a[i][2]).times_plus(p[2], sum)
    })
}

/// `H̄⁻¹ f` for A.
#[inline(always)]
fn solve<F: Four>(matrix: &Corotated, f: &[F; 3]) -> [F; 3] {
    let d = &matrix.inverse.diagonal;
    let [f0, f1, f2] = f.map(F::store);
    let diagonal = [
        d[0] * f0[0] + d[3] * f1[1] + d[4] * f2[2],
        d[3] * f0[0] + d[1] * f1[1] + d[5] * f2[2],
        d[4] * f0[0] + d[5] * f1[1] + d[2] * f2[2],
    ];
    let across: Rows = [
        [diagonal[0], f1[0], f2[0], 0.0],
        [f0[1], diagonal[1], f2[1], 0.0],
        [f0[2], f1[2], diagonal[2], 0.0],
    ];
    from_fn(|i| {
        let own = F::load(&matrix.own[i]) * f[i];
        F::load(&matrix.across[i]).times_plus(F::load(&across[i]), own)
    })
}

/// The columns of `turned` with the lengths of the columns of `original` (Eq. 17).
///
/// The squared lengths differ by a ratio 1 + ε with ε of the size of the strain, so the
/// square root of its inverse is 1 − ε/2 + 3ε²/8 to rounding.
#[inline(always)]
fn keep_lengths<F: Four>(original: &[F; 3], turned: &[F; 3]) -> [F; 3] {
    let square = |m: &[F; 3]| m[2].times_plus(m[2], m[1].times_plus(m[1], m[0] * m[0]));
    let (before, after) = (square(original), square(turned));
    // A vanishing column stays: the tiny term only keeps 0/0 away. The division need not wait
    // for the turned columns.
    let per_before = F::splat(1.0) / (before + F::splat(f64::MIN_POSITIVE));
    let excess = (after - before) * per_before;
    let second = excess * excess * F::splat(0.375);
    let factor = excess.times_plus(F::splat(-0.5), F::splat(1.0)) + second;
    from_fn(|i| turned[i] * factor)
}

#[cfg(target_arch = "x86_64")]
fn fused() -> bool {
    is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma")
}

#[cfg(not(target_arch = "x86_64"))]
fn fused() -> bool {
    false
}

#[inline(always)]
fn outer(x: &V3, y: &V3) -> M3 {
    let mut m = [0.0; 9];
    for i in 0..3 {
        for j in 0..3 {
            m[3 * i + j] = x[i] * y[j];
        }
    }
    m
}

#[cfg(test)]
mod tests {
    use super::*;
    use vincula::body::mass::MassProperties;
    use vincula::body::material::Material;
    use vincula::body::shape::Shape;
    use vincula::model::{Pose, Twist};
    use vincula::prelude::{DQuat, DVec3};

    #[test]
    fn both_steps_agree_while_the_strain_is_small() {
        let shape = Shape::Box {
            half_extents: DVec3::new(0.1, 0.2, 0.3),
        };
        let mass = MassProperties::from_shape(&shape, 1000.0).expect("a sound box");
        let pose = Pose {
            translation: DVec3::ONE,
            rotation: DQuat::from_rotation_x(0.4),
        };
        let twist = Twist {
            linear: DVec3::X,
            angular: DVec3::new(0.3, -0.2, 0.5),
        };
        let law = |body: &SingleBody| PointForce {
            central: [0.0, 0.0, -9.81 * body.affine.mass],
            force: [3.0, 2.0, 1.0],
            point: [0.1, -0.1, 0.2],
        };
        let mut bodies = [SingleBody::new(Material::default().affine(&mass), pose, twist); 2];
        let matrix = Corotated::new(&bodies[0], 1e-3).expect("a step");
        for _ in 0..200 {
            matrix.step_polar(&mut bodies[0], &law).expect("polar");
            matrix
                .step_normalised(&mut bodies[1], &law)
                .expect("normalised");
        }
        for i in 0..3 {
            for k in 0..3 {
                let gap = (bodies[0].q[i][k] - bodies[1].q[i][k]).abs();
                assert!(gap < 1e-6, "entry {i} {k} differs by {gap}");
            }
        }
        assert!((bodies[0].t[2] - 1.0).abs() > 0.1, "it has fallen");
    }
}
