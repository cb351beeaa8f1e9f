//! The classical fourth-order Runge–Kutta step.
//!
//! The rotational state is the angular momentum in the world, not ω: `L' = τ`, so a
//! torque-free body keeps L to the last bit of the conversion whatever the step. On a
//! pivot, L is taken about the pivot and the translation is not a state at all.

use std::ops::{Add, Mul};

use glam::{DMat3, DQuat, DVec3};

use super::pivot::Pivoted;
use super::{Pivot, RigidBody, RigidError, Wrench, check_step, commit, quaternion_rate, unit};

/// Advances a free body from time `t` (s) by `h` (s).
#[inline]
pub fn step_runge_kutta<F>(body: &mut RigidBody, law: &F, t: f64, h: f64) -> Result<(), RigidError>
where
    F: Fn(&RigidBody, f64) -> Wrench,
{
    check_step(body, h)?;
    let old = *body;
    let start = Free {
        x: old.x,
        q: old.q,
        v: old.v,
        momentum: old.angular_momentum_centre(),
    };
    let end = advance(start, t, h, |state, t| {
        let at = state.body(state.q.normalize(), &old);
        let wrench = law(&at, t);
        Free {
            x: at.v,
            q: quaternion_rate(state.q, at.omega),
            v: wrench.force / old.mass,
            momentum: wrench.torque,
        }
    });
    commit(body, end.body(unit(end.q), &old), h)
}

/// Advances a body on a pivot from time `t` (s) by `h` (s) and returns the pivot's force
/// on the body (N, world) at the end of the step.
///
/// The centre follows from the orientation, so the held point is exact and `x`, `v` of the
/// old state are not read.
#[inline]
pub fn step_runge_kutta_pivoted<F>(
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
    let spin = rotation.mul_transpose_vec3(old.omega);
    let start = Turning {
        q: old.q,
        momentum: rotation * (pivoted.inertia * spin),
    };
    let end = advance(start, t, h, |state, t| {
        let at = state.body(state.q.normalize(), &pivoted);
        Turning {
            q: quaternion_rate(state.q, at.omega),
            momentum: pivoted.torque(&at, &law(&at, t)),
        }
    });
    let next = end.body(unit(end.q), &pivoted);
    let reaction = pivoted.reaction(&next, &law(&next, t + h));
    if !reaction.is_finite() {
        return Err(RigidError::Diverged { h });
    }
    commit(body, next, h)?;
    Ok(reaction)
}

/// `y₁ = y₀ + h/6 (k₁ + 2 k₂ + 2 k₃ + k₄)`.
#[inline]
fn advance<S, R>(start: S, t: f64, h: f64, rate: R) -> S
where
    S: Copy + Add<Output = S> + Mul<f64, Output = S>,
    R: Fn(&S, f64) -> S,
{
    let k1 = rate(&start, t);
    let k2 = rate(&(start + k1 * (0.5 * h)), t + 0.5 * h);
    let k3 = rate(&(start + k2 * (0.5 * h)), t + 0.5 * h);
    let k4 = rate(&(start + k3 * h), t + h);
    start + (k1 + (k2 + k3) * 2.0 + k4) * (h / 6.0)
}

/// State of a free body: position, orientation, velocity, angular momentum.
#[derive(Clone, Copy)]
struct Free {
    x: DVec3,
    q: DQuat,
    v: DVec3,
    momentum: DVec3,
}

impl Free {
    /// The body in this state; `q` is the state's quaternion brought back to unit length.
    #[inline]
    fn body(&self, q: DQuat, old: &RigidBody) -> RigidBody {
        let rotation = DMat3::from_quat(q);
        let omega = rotation * (rotation.mul_transpose_vec3(self.momentum) / old.inertia);
        RigidBody {
            x: self.x,
            q,
            v: self.v,
            omega,
            ..*old
        }
    }
}

impl Add for Free {
    type Output = Self;
    #[inline]
    fn add(self, other: Self) -> Self {
        Self {
            x: self.x + other.x,
            q: self.q + other.q,
            v: self.v + other.v,
            momentum: self.momentum + other.momentum,
        }
    }
}

impl Mul<f64> for Free {
    type Output = Self;
    #[inline]
    fn mul(self, factor: f64) -> Self {
        Self {
            x: self.x * factor,
            q: self.q * factor,
            v: self.v * factor,
            momentum: self.momentum * factor,
        }
    }
}

/// State of a body on a pivot: orientation and angular momentum about the pivot.
#[derive(Clone, Copy)]
struct Turning {
    q: DQuat,
    momentum: DVec3,
}

impl Turning {
    /// The body in this state; `q` is the state's quaternion brought back to unit length.
    #[inline]
    fn body(&self, q: DQuat, pivoted: &Pivoted<'_>) -> RigidBody {
        let rotation = DMat3::from_quat(q);
        let spin = pivoted.inverse * rotation.mul_transpose_vec3(self.momentum);
        pivoted.place(q, &rotation, rotation * spin)
    }
}

impl Add for Turning {
    type Output = Self;
    #[inline]
    fn add(self, other: Self) -> Self {
        Self {
            q: self.q + other.q,
            momentum: self.momentum + other.momentum,
        }
    }
}

impl Mul<f64> for Turning {
    type Output = Self;
    #[inline]
    fn mul(self, factor: f64) -> Self {
        Self {
            q: self.q * factor,
            momentum: self.momentum * factor,
        }
    }
}
