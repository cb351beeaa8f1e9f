//! A ball pivot to the world, in the coordinates that cannot violate it.
//!
//! With one point held, only the rotation is free. For the lever ℓ from pivot to centre
//! and `J = diag(I) + m (|ℓ|² 1 − ℓ ℓᵀ)`, the inertia about the pivot, both in the body
//! frame, the motion and the reaction λ on the body are
//!
//! ```text
//! J w' = Rᵀ(τ + r × f) − w × J w        r = R ℓ,  w = Rᵀ ω
//! m (ω' × r + ω × (ω × r)) = f + λ
//! ```

use glam::{DMat3, DQuat, DVec3};

use super::{RigidBody, RigidError, Wrench};

/// A point of the body held at a point of the world; the body turns freely about it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pivot {
    /// The held point (m), body frame.
    pub anchor_body: DVec3,
    /// Where it is held (m), world frame.
    pub anchor_world: DVec3,
}

impl Pivot {
    /// How far the held point is from its place (m), world frame.
    #[inline]
    pub fn gap(&self, body: &RigidBody) -> DVec3 {
        body.point(self.anchor_body) - self.anchor_world
    }

    /// Moves the centre so that the held point is in place, and matches its velocity.
    #[inline]
    pub fn snap(&self, body: &mut RigidBody) {
        let lever = body.q * -self.anchor_body;
        body.x = self.anchor_world + lever;
        body.v = body.omega.cross(lever);
    }

    #[inline]
    pub(super) fn check(&self) -> Result<(), RigidError> {
        if self.anchor_body.is_finite() && self.anchor_world.is_finite() {
            return Ok(());
        }
        let quantity = "pivot anchor";
        Err(RigidError::NotFinite { quantity })
    }
}

/// The body as seen from its pivot: what stays constant while it turns.
pub(super) struct Pivoted<'a> {
    body: &'a RigidBody,
    anchor: DVec3,
    /// From pivot to centre (m), body frame.
    lever: DVec3,
    /// Inertia about the pivot (kg m²), body frame.
    pub inertia: DMat3,
    /// Its inverse.
    pub inverse: DMat3,
}

impl<'a> Pivoted<'a> {
    #[inline]
    pub fn new(body: &'a RigidBody, pivot: &Pivot) -> Self {
        let lever = -pivot.anchor_body;
        let inertia = DMat3::from_diagonal(body.inertia) + body.mass * lever_square(lever);
        Self {
            body,
            anchor: pivot.anchor_world,
            lever,
            inertia,
            inverse: inertia.inverse(),
        }
    }

    /// The body at orientation `q` turning with `omega` (world, rad/s) about its pivot;
    /// `rotation` is the matrix of `q`.
    #[inline]
    pub fn place(&self, q: DQuat, rotation: &DMat3, omega: DVec3) -> RigidBody {
        let lever = *rotation * self.lever;
        RigidBody {
            x: self.anchor + lever,
            q,
            v: omega.cross(lever),
            omega,
            ..*self.body
        }
    }

    /// Torque about the pivot (N m), world frame, of a wrench at the centre of `placed`.
    #[inline]
    pub fn torque(&self, placed: &RigidBody, wrench: &Wrench) -> DVec3 {
        wrench.torque + (placed.x - self.anchor).cross(wrench.force)
    }

    /// `w' = J⁻¹(Rᵀ τ − w × J w)`: angular acceleration (rad/s²), body frame.
    #[inline]
    pub fn spin_rate(&self, spin: DVec3, torque_body: DVec3) -> DVec3 {
        self.inverse * (torque_body - spin.cross(self.inertia * spin))
    }

    /// Force of the pivot on the placed body (N), world frame.
    #[inline]
    pub fn reaction(&self, placed: &RigidBody, wrench: &Wrench) -> DVec3 {
        let rotation = DMat3::from_quat(placed.q);
        let spin = rotation.mul_transpose_vec3(placed.omega);
        let torque = rotation.mul_transpose_vec3(self.torque(placed, wrench));
        let rate = self.spin_rate(spin, torque);
        let acceleration = rate.cross(self.lever) + spin.cross(spin.cross(self.lever));
        self.body.mass * (rotation * acceleration) - wrench.force
    }
}

/// The force of the pivot on the body (N, world frame) at this very state under `wrench`.
///
/// Only the orientation and the angular velocity are read; the centre is where the pivot
/// puts it.
pub fn pivot_reaction(
    body: &RigidBody,
    pivot: &Pivot,
    wrench: &Wrench,
) -> Result<DVec3, RigidError> {
    body.check()?;
    pivot.check()?;
    let pivoted = Pivoted::new(body, pivot);
    let placed = pivoted.place(body.q, &DMat3::from_quat(body.q), body.omega);
    Ok(pivoted.reaction(&placed, wrench))
}

/// `|ℓ|² 1 − ℓ ℓᵀ`, the inertia of a unit mass at ℓ.
#[inline]
fn lever_square(lever: DVec3) -> DMat3 {
    let outer = DMat3::from_cols(lever * lever.x, lever * lever.y, lever * lever.z);
    DMat3::from_diagonal(DVec3::splat(lever.length_squared())) - outer
}
