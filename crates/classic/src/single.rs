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

/// Three rows of four, the last column zero, so that the columns of A move together.
pub type Rows = [[f64; 4]; 3];

/// A single affine body: x = A x̄ + t in its principal frame.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, align(32))]
pub struct SingleBody {
    /// The affine map A, and a column of zeros.
    pub q: Rows,
    /// Its rate, 1/s.
    pub rate: Rows,
    /// Centre of mass, m.
    pub t: V3,
    /// Velocity of the centre of mass, m/s.
    pub v: V3,
    /// Mass, second moments, stiffness.
    pub affine: Affine,
}

/// A with a column of zeros.
#[inline(always)]
pub(crate) fn pad(a: &M3) -> Rows {
    [
        [a[0], a[1], a[2], 0.0],
        [a[3], a[4], a[5], 0.0],
        [a[6], a[7], a[8], 0.0],
    ]
}

/// The first three columns.
#[inline(always)]
fn square(q: &Rows) -> M3 {
    [
        q[0][0], q[0][1], q[0][2], q[1][0], q[1][1], q[1][2], q[2][0], q[2][1], q[2][2],
    ]
}

impl SingleBody {
    /// A body at a pose of its principal frame with a velocity.
    pub fn new(affine: Affine, pose: Pose, twist: Twist) -> SingleBody {
        let a = from_quat(pose.rotation);
        let w = mul(&skew_matrix(&twist.angular.to_array()), &a);
        SingleBody {
            q: pad(&a),
            rate: pad(&w),
            t: pose.translation.to_array(),
            v: twist.linear.to_array(),
            affine,
        }
    }

    /// The affine map, row-major.
    #[inline(always)]
    pub fn a(&self) -> M3 {
        square(&self.q)
    }

    /// Rate of A, 1/s.
    #[inline(always)]
    pub fn w(&self) -> M3 {
        square(&self.rate)
    }

    /// Pose of the principal frame; the identity rotation when A has none.
    pub fn pose(&self) -> Pose {
        let rotation = polar(&self.a()).unwrap_or(IDENTITY);
        Pose {
            translation: to_vec(&self.t),
            rotation: DQuat::from_mat3(&to_mat(&rotation)),
        }
    }

    /// Velocity of the centre and angular velocity.
    #[inline]
    pub fn twist(&self) -> Twist {
        // For a map close to a rotation ω = ½ Σ a_k × ȧ_k (Eq. 43).
        let (a, w) = (self.a(), self.w());
        let mut angular = [0.0; 3];
        for k in 0..3 {
            let column = [a[k], a[3 + k], a[6 + k]];
            let rate = [w[k], w[3 + k], w[6 + k]];
            angular = add(&angular, &scale(&cross(&column, &rate), 0.5));
        }
        Twist {
            linear: to_vec(&self.v),
            angular: to_vec(&angular),
        }
    }

    /// Kinetic energy, J.
    pub fn kinetic_energy(&self) -> f64 {
        self.affine.kinetic_energy(&self.w(), &self.v)
    }

    /// Angular momentum about the centre, kg m²/s.
    pub fn angular_momentum(&self) -> DVec3 {
        // ∫ρ (A x̄) × (Ȧ x̄) = 2 axial(Ȧ D Aᵀ).
        let moment = mult(&mul_diag(&self.w(), &self.affine.second), &self.a());
        to_vec(&scale(&axial(&moment), 2.0))
    }

    /// Position of a material point ȳ, m.
    #[inline(always)]
    pub fn point(&self, body: &V3) -> V3 {
        add(&self.t, &mul_vec(&self.a(), body))
    }

    /// Velocity of a material point ȳ, m/s: affine motion needs no angular velocity.
    #[inline(always)]
    pub fn point_velocity(&self, body: &V3) -> V3 {
        add(&self.v, &mul_vec(&self.w(), body))
    }

    #[inline(always)]
    pub(crate) fn is_finite(&self) -> bool {
        let mut sum = [0.0; 4];
        for row in &self.rate {
            for k in 0..4 {
                sum[k] += row[k];
            }
        }
        let speed = self.v[0] + self.v[1] + self.v[2];
        ((sum[0] + sum[1]) + (sum[2] + speed)).is_finite()
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
