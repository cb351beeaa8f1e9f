//! The exponential map of rotations and its derivative.
//!
//! ```text
//! exp([φ]) = 1 + sin θ/θ [φ] + (1 − cos θ)/θ² [φ]²          θ = |φ|
//! exp([φ + δ]) ≈ exp([φ]) exp([S δ])
//! S = 1 − (1 − cos θ)/θ² [φ] + (θ − sin θ)/θ³ [φ]²
//! ```

use glam::{DMat3, DQuat, DVec3};

/// The rotation `exp([φ])` and what its derivatives need, from one sine and cosine.
pub(super) struct Turn {
    phi: DVec3,
    /// The rotation as a quaternion.
    pub q: DQuat,
    matrix: DMat3,
    /// `sin θ / θ`.
    sine: f64,
    /// `(1 − cos θ) / θ²`.
    versine: f64,
}

impl Turn {
    #[inline]
    pub fn new(phi: DVec3) -> Self {
        let half = 0.5 * phi.length();
        let (sin, cos) = half.sin_cos();
        let sinc = if half > 1e-5 {
            sin / half
        } else {
            1.0 - half * half / 6.0
        };
        let axis = 0.5 * sinc * phi;
        let q = DQuat::from_xyzw(axis.x, axis.y, axis.z, cos);
        Self {
            phi,
            q,
            matrix: DMat3::from_quat(q),
            sine: sinc * cos,
            versine: 0.5 * sinc * sinc,
        }
    }

    /// `exp(−[φ]) u`.
    #[inline]
    pub fn back(&self, u: DVec3) -> DVec3 {
        self.matrix.mul_transpose_vec3(u)
    }

    /// `(exp(h [w]) − 1) a / h` without the cancellation, where φ = h w.
    #[inline]
    pub fn chord(&self, w: DVec3, a: DVec3, h: f64) -> DVec3 {
        let tangent = w.cross(a);
        self.sine * tangent + (self.versine * h) * w.cross(tangent)
    }

    /// The right Jacobian `S`.
    #[inline]
    pub fn right(&self) -> DMat3 {
        let square = self.phi.length_squared();
        let third = if square > 1e-4 {
            (1.0 - self.sine) / square
        } else {
            1.0 / 6.0 - square / 120.0
        };
        let hat = cross(self.phi);
        DMat3::IDENTITY - hat * self.versine + (hat * hat) * third
    }
}

/// `[u]`, the matrix of `u ×`.
#[inline]
pub(super) fn cross(u: DVec3) -> DMat3 {
    DMat3::from_cols(
        DVec3::new(0.0, u.z, -u.y),
        DVec3::new(-u.z, 0.0, u.x),
        DVec3::new(u.y, -u.x, 0.0),
    )
}
