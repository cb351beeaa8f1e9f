//! One Newton step of the co-rotated affine body (He et al. 2026, Eq. 16 and Alg. 1).
//!
//! `H̄ diag₄(Rᵀ) δq = diag₄(Rᵀ) f`, with the constant, split H̄ of
//! [`vincula::body::affine`]. R comes from the polar decomposition, or is replaced by A with
//! every turned vector brought back to its length (Eq. 17).

use vincula::body::affine::{Inverse, strain};
use vincula::math::rotation::polar;
use vincula::math::small::*;

use crate::single::{PointForce, SingleBody, SingleError, check_step};

/// The constant matrix of a body for one step length.
#[derive(Clone, Copy, Debug)]
pub struct Corotated {
    h: f64,
    per_h: f64,
    h_per_mass: f64,
    inertia_per_h: V3,
    inverse: Inverse,
}

impl Corotated {
    /// Inverts H̄ once.
    pub fn new(body: &SingleBody, h: f64) -> Result<Corotated, SingleError> {
        check_step(h)?;
        Ok(Corotated {
            h,
            per_h: 1.0 / h,
            h_per_mass: h / body.affine.mass,
            inertia_per_h: scale(&body.affine.second, 1.0 / h),
            inverse: Inverse::new(&body.affine, 1.0 / (h * h), &[0.0; 3]),
        })
    }

    /// One step with the rotation of the polar decomposition.
    #[inline]
    pub fn step_polar(
        &self,
        body: &mut SingleBody,
        law: &impl Fn(&SingleBody) -> PointForce,
    ) -> Result<(), SingleError> {
        let rot = polar(&body.a).ok_or(SingleError::NotFinite)?;
        let push = law(body);
        let inertial = tmul(&rot, &self.inertial(body));
        let load = outer(&tmul_vec(&rot, &push.force), &push.point);
        let stress = full(&body.affine.stress(&strain(&rot, &body.a)));
        let delta = mul(
            &rot,
            &self.inverse.solve(&balance(&inertial, &load, &stress)),
        );
        self.advance(body, &delta, &push)
    }

    /// One step without polar decomposition.
    #[inline]
    pub fn step_normalised(
        &self,
        body: &mut SingleBody,
        law: &impl Fn(&SingleBody) -> PointForce,
    ) -> Result<(), SingleError> {
        let push = law(body);
        let inertial = self.inertial(body);
        let turned = keep_lengths(&inertial, &tmul(&body.a, &inertial));
        let load = outer(&tmul_vec(&body.a, &push.force), &push.point);
        // AᵀA = I + 2S to first order: Green's strain needs no rotation.
        let g = gram(&body.a);
        let s = [
            0.5 * g[0] - 0.5,
            0.5 * g[1] - 0.5,
            0.5 * g[2] - 0.5,
            0.5 * g[3],
            0.5 * g[4],
            0.5 * g[5],
        ];
        let stress = full(&body.affine.stress(&s));
        let p = self.inverse.solve(&balance(&turned, &load, &stress));
        let delta = keep_lengths(&p, &mul(&body.a, &p));
        self.advance(body, &delta, &push)
    }

    /// Inertial force on A, world: `D Ȧ/h`.
    #[inline(always)]
    fn inertial(&self, body: &SingleBody) -> M3 {
        mul_diag(&body.w, &self.inertia_per_h)
    }

    #[inline(always)]
    fn advance(
        &self,
        body: &mut SingleBody,
        delta: &M3,
        push: &PointForce,
    ) -> Result<(), SingleError> {
        let mut next = *body;
        next.a = axpy9(&body.a, 1.0, delta);
        next.w = delta.map(|d| d * self.per_h);
        next.v = axpy(&body.v, self.h_per_mass, &add(&push.central, &push.force));
        next.t = axpy(&body.t, self.h, &next.v);
        if !next.is_finite() {
            return Err(SingleError::NotFinite);
        }
        *body = next;
        Ok(())
    }
}

#[inline(always)]
fn balance(inertial: &M3, load: &M3, stress: &M3) -> M3 {
    let mut f = [0.0; 9];
    for k in 0..9 {
        f[k] = inertial[k] + load[k] - stress[k];
    }
    f
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

/// The columns of `turned` with the lengths of the columns of `original` (Eq. 17).
///
/// The squared lengths differ by a ratio 1 + ε with ε of the size of the strain, so the
/// square root of its inverse is 1 − ε/2 + 3ε²/8 to rounding.
#[inline(always)]
fn keep_lengths(original: &M3, turned: &M3) -> M3 {
    let mut factor = [0.0; 3];
    for k in 0..3 {
        let square = |m: &M3| m[k] * m[k] + m[3 + k] * m[3 + k] + m[6 + k] * m[6 + k];
        let (before, after) = (square(original), square(turned));
        // A vanishing column stays: the tiny term only keeps 0/0 away.
        let excess = (after - before) / (before + f64::MIN_POSITIVE);
        factor[k] = 1.0 - excess * (0.5 - 0.375 * excess);
    }
    mul_diag(turned, &factor)
}
