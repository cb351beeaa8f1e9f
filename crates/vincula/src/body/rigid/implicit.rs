//! Implicit Euler, solved to convergence.
//!
//! The rotation over the step is `exp(h ω₁)`, whose axis is ω₁, so the spin in the body
//! frame is `w = R₀ᵀ ω₁ = R₁ᵀ ω₁`. With `E = exp(−h [w])` and `ℓ = I w₀ + h R₀ᵀ τ₁`,
//! everything in the frame of the old orientation, the step reads
//!
//! ```text
//! v₁ − v₀ − h f₁/m = 0
//! I w − E ℓ = 0                            free
//! I w − E ℓ − a × E b(w) = 0               held at the body point a
//! ```
//!
//! On a pivot the position constraint `x₀ + h v₁ + R₁ a = p` gives
//! `v₁ = g/h − d(w)`, `g = p − x₀ − R₀ a`, `h d = (exp(h [w]) − 1) a`, and the momentum
//! balance gives the three multipliers: `b = R₀ᵀ h λ = m R₀ᵀ (v₁ − v₀) − h R₀ᵀ f₁`. They are
//! thus eliminated exactly and three unknowns remain.
//!
//! Derivatives, with the right Jacobian `S` of the exponential map at h w:
//! `∂(E ℓ) = h [E ℓ] S` for constant ℓ, and `E ∂b = m [a] S`.

use glam::{DMat3, DQuat, DVec3};

use super::newton::solve;
use super::{Pivot, RigidBody, RigidError, Wrench, check_step, commit, unit};

/// Advances a free body from time `t` (s) by `h` (s); the law is evaluated at `t + h`.
pub fn step_implicit<F>(body: &mut RigidBody, law: &F, t: f64, h: f64) -> Result<(), RigidError>
where
    F: Fn(&RigidBody, f64) -> Wrench,
{
    check_step(body, h)?;
    let old = *body;
    let rotation = DMat3::from_quat(old.q);
    let spin = rotation.mul_transpose_vec3(old.omega);
    let evaluate = |y: &[f64; 6]| {
        let (v, w) = (first(y), DVec3::new(y[3], y[4], y[5]));
        let turn = Turn::new(h * w);
        let next = RigidBody {
            x: old.x + h * v,
            q: old.q * turn.q,
            v,
            omega: rotation * w,
            ..old
        };
        let wrench = law(&next, t + h);
        let torque = rotation.mul_transpose_vec3(wrench.torque);
        let carried = turn.back(old.inertia * spin + h * torque);
        let linear = v - old.v - (h / old.mass) * wrench.force;
        // Rows in rad/s, so that both halves of the residual are velocities.
        let angular = w - carried / old.inertia;
        (join(linear, angular), (next, turn, carried))
    };
    let correct = |residual: &[f64; 6], (_, turn, carried): &(RigidBody, Turn, DVec3)| {
        let angular = DVec3::new(residual[3], residual[4], residual[5]);
        let jacobian = DMat3::from_diagonal(old.inertia) - h * (cross(*carried) * turn.right());
        join(
            first(residual),
            jacobian.inverse() * (old.inertia * angular),
        )
    };
    let (mut next, ..) = solve(join(old.v, spin), h, evaluate, correct)?;
    next.q = unit(next.q);
    commit(body, next, h)
}

/// Advances a body on a pivot from time `t` (s) by `h` (s) and returns the pivot's force
/// on the body (N, world), constant over the step; the law is evaluated at `t + h`.
///
/// An initial gap is closed within the step, with the velocity that takes.
pub fn step_implicit_pivoted<F>(
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
    let arm = pivot.anchor_body;
    let rotation = DMat3::from_quat(old.q);
    let spin = rotation.mul_transpose_vec3(old.omega);
    let closing = rotation.mul_transpose_vec3(-pivot.gap(&old)) / h;
    let v_old = rotation.mul_transpose_vec3(old.v);
    let evaluate = |y: &[f64; 3]| {
        let w = first(y);
        let turn = Turn::new(h * w);
        let q = old.q * turn.q;
        let v = closing - turn.chord(w, arm, h);
        let next = RigidBody {
            x: pivot.anchor_world - q * arm,
            q,
            v: rotation * v,
            omega: rotation * w,
            ..old
        };
        let wrench = law(&next, t + h);
        let torque = rotation.mul_transpose_vec3(wrench.torque);
        let force = rotation.mul_transpose_vec3(wrench.force);
        let impulse = old.mass * (v - v_old) - h * force;
        let carried = turn.back(old.inertia * spin + h * torque);
        let pulled = turn.back(impulse);
        let residual = old.inertia * w - carried - arm.cross(pulled);
        let held = Held {
            next,
            turn,
            carried,
            pulled,
            impulse,
        };
        ((residual / old.inertia).to_array(), held)
    };
    let correct = |residual: &[f64; 3], held: &Held| {
        let jacobian = held.jacobian(&old, arm, h);
        (jacobian.inverse() * (old.inertia * first(residual))).to_array()
    };
    let held = solve(spin.to_array(), h, evaluate, correct)?;
    let mut next = held.next;
    next.q = unit(next.q);
    next.x = pivot.anchor_world - next.q * arm;
    commit(body, next, h)?;
    Ok(rotation * held.impulse / h)
}

/// An iterate of the step on a pivot.
struct Held {
    next: RigidBody,
    turn: Turn,
    /// `E ℓ`, angular momentum (kg m²/s) seen from the new orientation.
    carried: DVec3,
    /// `E b`, the pivot's impulse (N s) seen from the new orientation.
    pulled: DVec3,
    /// `b`, the same seen from the old orientation.
    impulse: DVec3,
}

impl Held {
    /// `I − (h [E ℓ] + [a] (h [E b] + m [a])) S`.
    fn jacobian(&self, old: &RigidBody, arm: DVec3, h: f64) -> DMat3 {
        let pull = cross(self.pulled) * h + cross(arm) * old.mass;
        let moved = cross(self.carried) * h + cross(arm) * pull;
        DMat3::from_diagonal(old.inertia) - moved * self.turn.right()
    }
}

/// The rotation `exp([φ])` and what its derivatives need, from one sine and cosine.
struct Turn {
    phi: DVec3,
    q: DQuat,
    matrix: DMat3,
    /// `sin θ / θ`, θ = |φ|.
    sine: f64,
    /// `(1 − cos θ) / θ²`.
    versine: f64,
}

impl Turn {
    fn new(phi: DVec3) -> Self {
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
    fn back(&self, u: DVec3) -> DVec3 {
        self.matrix.mul_transpose_vec3(u)
    }

    /// `(exp(h [w]) − 1) a / h` without the cancellation, φ = h w.
    fn chord(&self, w: DVec3, a: DVec3, h: f64) -> DVec3 {
        let tangent = w.cross(a);
        self.sine * tangent + (self.versine * h) * w.cross(tangent)
    }

    /// `S = 1 − (1 − cos θ)/θ² [φ] + (θ − sin θ)/θ³ [φ]²`.
    fn right(&self) -> DMat3 {
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
fn cross(u: DVec3) -> DMat3 {
    DMat3::from_cols(
        DVec3::new(0.0, u.z, -u.y),
        DVec3::new(-u.z, 0.0, u.x),
        DVec3::new(u.y, -u.x, 0.0),
    )
}

fn first<const N: usize>(y: &[f64; N]) -> DVec3 {
    DVec3::new(y[0], y[1], y[2])
}

fn join(a: DVec3, b: DVec3) -> [f64; 6] {
    [a.x, a.y, a.z, b.x, b.y, b.z]
}
