//! Semi-implicit Euler, the explicit step of most engines.
//!
//! ```text
//! v₁ = v₀ + h f/m                       x₁ = x₀ + h v₁
//! w₁ = w₀ + h I⁻¹(Rᵀτ − w₀ × I w₀)      q₁ = normalise(q₀ + ½ h (0, R w₁) ⊗ q₀)
//! ```
//!
//! First order. Forces that depend on position alone keep their energy bounded; the
//! explicit gyroscopic term of a fast asymmetric spin does not.

use glam::{DMat3, DVec3};

use super::pivot::Pivoted;
use super::{
    Pivot, RigidBody, RigidError, Wrench, check_step, commit, quaternion_rate, renormalise,
};

/// Advances a free body from time `t` (s) by `h` (s).
#[inline]
pub fn step_symplectic<F>(body: &mut RigidBody, law: &F, t: f64, h: f64) -> Result<(), RigidError>
where
    F: Fn(&RigidBody, f64) -> Wrench,
{
    check_step(body, h)?;
    let wrench = law(body, t);
    let rotation = DMat3::from_quat(body.q);
    let spin = rotation.mul_transpose_vec3(body.omega);
    let torque = rotation.mul_transpose_vec3(wrench.torque);
    // h I⁻¹ first: the divisions need not wait for the rest.
    let gain = h / body.inertia;
    let omega = rotation * (spin + gain * (torque - spin.cross(body.inertia * spin)));

    let v = body.v + (h / body.mass) * wrench.force;
    let next = RigidBody {
        x: body.x + h * v,
        q: renormalise(body.q + quaternion_rate(body.q, h * omega)),
        v,
        omega,
        ..*body
    };
    commit(body, next, h)
}

/// Advances a body on a pivot from time `t` (s) by `h` (s) and returns the pivot's mean
/// force on the body over the step (N, world).
///
/// The centre follows from the orientation, so the held point is exact in position and
/// velocity; `x` and `v` of the old state enter only the mean force.
#[inline]
pub fn step_symplectic_pivoted<F>(
    body: &mut RigidBody,
    pivot: &Pivot,
    law: &F,
    t: f64,
    h: f64,
) -> Result<DVec3, RigidError>
where
    F: Fn(&RigidBody, f64) -> Wrench,
{
    check_step(body, h)?;
    pivot.check()?;
    let old = *body;
    let pivoted = Pivoted::new(&old, pivot);
    let rotation = DMat3::from_quat(old.q);
    let placed = pivoted.place(old.q, &rotation, old.omega);
    let wrench = law(&placed, t);
    let spin = rotation.mul_transpose_vec3(old.omega);
    let torque = rotation.mul_transpose_vec3(pivoted.torque(&placed, &wrench));

    let omega = rotation * (spin + h * pivoted.spin_rate(spin, torque));
    let q = renormalise(old.q + quaternion_rate(old.q, h * omega));
    let next = pivoted.place(q, &DMat3::from_quat(q), omega);
    commit(body, next, h)?;
    Ok(old.mass * (next.v - placed.v) / h - wrench.force)
}
