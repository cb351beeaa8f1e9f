//! One affine body on its own, as the single-body experiments of He et al. 2026 use it.

use glam::{DQuat, DVec3};
use thiserror::Error;
use vincula::body::affine::Affine;
use vincula::math::rotation::polar;
use vincula::math::small::*;
use vincula::math::{from_quat, to_mat, to_vec};
use vincula::model::{Pose, Twist};

/// What acts on a single body: a force through its centre and one at a material point.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PointForce {
    /// Force through the centre of mass, world, N.
    pub central: V3,
    /// Force at the point, world, N.
    pub force: V3,
    /// The point in the body, m.
    pub point: V3,
}

/// Why a single body could not be advanced; it is left as it was.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
pub enum SingleError {
    /// The step length is unusable.
    #[error("the step length is {0} s; it must be positive and finite")]
    BadStep(f64),
    /// The motion stopped being finite.
    #[error("the affine body's motion is not finite any more; use a smaller step")]
    NotFinite,
    /// Newton's method did not settle.
    #[error("Newton's method did not converge in {0} iterations; use a smaller step")]
    NotConverged(usize),
}

/// A single affine body: x = A x̄ + t in its principal frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SingleBody {
    /// Mass, second moments, stiffness.
    pub affine: Affine,
    /// The affine map, row-major.
    pub a: M3,
    /// Centre of mass, m.
    pub t: V3,
    /// Rate of A, 1/s.
    pub w: M3,
    /// Velocity of the centre of mass, m/s.
    pub v: V3,
}

impl SingleBody {
    /// A body at a pose of its principal frame with a velocity.
    pub fn new(affine: Affine, pose: Pose, twist: Twist) -> SingleBody {
        let a = from_quat(pose.rotation);
        SingleBody {
            affine,
            a,
            t: pose.translation.to_array(),
            w: mul(&skew_matrix(&twist.angular.to_array()), &a),
            v: twist.linear.to_array(),
        }
    }

    /// Pose of the principal frame; the identity rotation when A has none.
    pub fn pose(&self) -> Pose {
        let rotation = polar(&self.a).unwrap_or(IDENTITY);
        Pose {
            translation: to_vec(&self.t),
            rotation: DQuat::from_mat3(&to_mat(&rotation)),
        }
    }

    /// Velocity of the centre and angular velocity.
    #[inline]
    pub fn twist(&self) -> Twist {
        // For a map close to a rotation ω = ½ Σ a_k × ȧ_k (Eq. 43).
        let mut angular = [0.0; 3];
        for k in 0..3 {
            let column = [self.a[k], self.a[3 + k], self.a[6 + k]];
            let rate = [self.w[k], self.w[3 + k], self.w[6 + k]];
            angular = add(&angular, &scale(&cross(&column, &rate), 0.5));
        }
        Twist {
            linear: to_vec(&self.v),
            angular: to_vec(&angular),
        }
    }

    /// Kinetic energy, J.
    pub fn kinetic_energy(&self) -> f64 {
        self.affine.kinetic_energy(&self.w, &self.v)
    }

    /// Angular momentum about the centre, kg m²/s.
    pub fn angular_momentum(&self) -> DVec3 {
        // ∫ρ (A x̄) × (Ȧ x̄) = 2 axial(Ȧ D Aᵀ).
        let moment = mult(&mul_diag(&self.w, &self.affine.second), &self.a);
        to_vec(&scale(&axial(&moment), 2.0))
    }

    /// Position of a material point ȳ, m.
    #[inline(always)]
    pub fn point(&self, body: &V3) -> V3 {
        add(&self.t, &mul_vec(&self.a, body))
    }

    /// Velocity of a material point ȳ, m/s: affine motion needs no angular velocity.
    #[inline(always)]
    pub fn point_velocity(&self, body: &V3) -> V3 {
        add(&self.v, &mul_vec(&self.w, body))
    }

    #[inline]
    pub(crate) fn is_finite(&self) -> bool {
        // Three short sums instead of one long chain of additions.
        let mut sum = self.v;
        for k in 0..9 {
            sum[k % 3] += self.w[k];
        }
        (sum[0] + sum[1] + sum[2]).is_finite()
    }
}

#[inline]
pub(crate) fn check_step(h: f64) -> Result<(), SingleError> {
    if h > 0.0 && h.is_finite() {
        Ok(())
    } else {
        Err(SingleError::BadStep(h))
    }
}
