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

use glam::{DMat3, DVec3};

use super::newton::solve;
use super::turn::{Turn, cross};
use super::{Pivot, RigidBody, RigidError, Wrench, check_step, commit, unit};

/// Advances a free body from time `t` (s) by `h` (s); the law is evaluated at `t + h`.
pub fn step_implicit<F>(body: &mut RigidBody, law: &F, t: f64, h: f64) -> Result<(), RigidError>
where
    F: Fn(&RigidBody, f64) -> Wrench,
{
    check_step(body, h)?;
    let step = Step::new(body, t, h);
    let solved = solve(
        join(body.v, step.guess()),
        h,
        |y| step.free(y, law),
        |residual, at| step.correct_free(residual, at),
    )?;
    let mut next = solved.next;
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
    let step = Step::new(body, t, h);
    let closing = step.rotation.mul_transpose_vec3(-pivot.gap(body)) / h;
    let solved = solve(
        step.spin.to_array(),
        h,
        |y| step.held(y, pivot, closing, law),
        |residual, at| step.correct_held(residual, at, pivot.anchor_body),
    )?;
    let mut next = solved.next;
    next.q = unit(next.q);
    next.x = pivot.anchor_world - next.q * pivot.anchor_body;
    commit(body, next, h)?;
    Ok(step.rotation * solved.impulse / h)
}

/// What a step starts from.
struct Step {
    old: RigidBody,
    /// R₀.
    rotation: DMat3,
    /// `w₀ = R₀ᵀ ω₀` (rad/s).
    spin: DVec3,
    h: f64,
    /// Time at the end of the step (s).
    end: f64,
}

/// One iterate: the state it stands for and what the Jacobian needs of it.
struct Iterate {
    next: RigidBody,
    turn: Turn,
    /// `E ℓ`, angular momentum (kg m²/s) seen from the new orientation.
    carried: DVec3,
    /// `b`, the pivot's impulse (N s) seen from the old orientation.
    impulse: DVec3,
    /// `E b`, the same seen from the new orientation.
    pulled: DVec3,
}

impl Step {
    #[inline]
    fn new(body: &RigidBody, t: f64, h: f64) -> Self {
        let rotation = DMat3::from_quat(body.q);
        Self {
            old: *body,
            rotation,
            spin: rotation.mul_transpose_vec3(body.omega),
            h,
            end: t + h,
        }
    }

    /// Where Newton starts for a free body: the explicit gyroscopic change, unless the step is
    /// so long that it says nothing. It saves an iteration in three.
    #[inline]
    fn guess(&self) -> DVec3 {
        let torque = self.spin.cross(self.old.inertia * self.spin);
        let change = self.h * torque / self.old.inertia;
        if change.length_squared() > 0.01 * self.spin.length_squared() {
            return self.spin;
        }
        self.spin - change
    }

    /// Residual of the free step at `y = (v₁, w)`, all six rows velocities.
    #[inline]
    fn free<F>(&self, y: &[f64; 6], law: &F) -> ([f64; 6], Iterate)
    where
        F: Fn(&RigidBody, f64) -> Wrench,
    {
        let (v, w) = split(y);
        let turn = Turn::new(self.h * w);
        let next = RigidBody {
            x: self.old.x + self.h * v,
            q: self.old.q * turn.q,
            v,
            omega: self.rotation * w,
            ..self.old
        };
        let wrench = law(&next, self.end);
        let carried = self.carry(&turn, wrench.torque);
        let linear = v - self.old.v - (self.h / self.old.mass) * wrench.force;
        let angular = w - carried / self.old.inertia;
        let iterate = Iterate {
            next,
            turn,
            carried,
            impulse: DVec3::ZERO,
            pulled: DVec3::ZERO,
        };
        (join(linear, angular), iterate)
    }

    /// Residual of the step on a pivot at `y = w`, scaled to rad/s; `closing` is the velocity
    /// (m/s, old orientation) that closes the initial gap.
    #[inline]
    fn held<F>(&self, y: &[f64; 3], pivot: &Pivot, closing: DVec3, law: &F) -> ([f64; 3], Iterate)
    where
        F: Fn(&RigidBody, f64) -> Wrench,
    {
        let (w, arm) = (DVec3::from_array(*y), pivot.anchor_body);
        let turn = Turn::new(self.h * w);
        let q = self.old.q * turn.q;
        let v = self.rotation * (closing - turn.chord(w, arm, self.h));
        let next = RigidBody {
            x: pivot.anchor_world - q * arm,
            q,
            v,
            omega: self.rotation * w,
            ..self.old
        };
        let wrench = law(&next, self.end);
        let carried = self.carry(&turn, wrench.torque);
        let gained = self.old.mass * (v - self.old.v) - self.h * wrench.force;
        let impulse = self.rotation.mul_transpose_vec3(gained);
        let pulled = turn.back(impulse);
        let residual = self.old.inertia * w - carried - arm.cross(pulled);
        let iterate = Iterate {
            next,
            turn,
            carried,
            impulse,
            pulled,
        };
        ((residual / self.old.inertia).to_array(), iterate)
    }

    /// `E ℓ = E (I w₀ + h R₀ᵀ τ)`.
    #[inline]
    fn carry(&self, turn: &Turn, torque: DVec3) -> DVec3 {
        let gained = self.h * self.rotation.mul_transpose_vec3(torque);
        turn.back(self.old.inertia * self.spin + gained)
    }

    /// `I − h [E ℓ] S`.
    #[inline]
    fn jacobian_free(&self, at: &Iterate) -> DMat3 {
        let moved = self.h * cross(at.carried);
        DMat3::from_diagonal(self.old.inertia) - moved * at.turn.right()
    }

    /// `I − (h [E ℓ] + [a] (h [E b] + m [a])) S`.
    #[inline]
    fn jacobian_held(&self, at: &Iterate, arm: DVec3) -> DMat3 {
        let pull = cross(at.pulled) * self.h + cross(arm) * self.old.mass;
        let moved = cross(at.carried) * self.h + cross(arm) * pull;
        DMat3::from_diagonal(self.old.inertia) - moved * at.turn.right()
    }

    #[inline]
    fn correct_free(&self, residual: &[f64; 6], at: &Iterate) -> [f64; 6] {
        let (linear, angular) = split(residual);
        let inverse = self.jacobian_free(at).inverse();
        join(linear, inverse * (self.old.inertia * angular))
    }

    #[inline]
    fn correct_held(&self, residual: &[f64; 3], at: &Iterate, arm: DVec3) -> [f64; 3] {
        let inverse = self.jacobian_held(at, arm).inverse();
        (inverse * (self.old.inertia * DVec3::from_array(*residual))).to_array()
    }
}

#[inline]
fn split(y: &[f64; 6]) -> (DVec3, DVec3) {
    (DVec3::new(y[0], y[1], y[2]), DVec3::new(y[3], y[4], y[5]))
}

#[inline]
fn join(a: DVec3, b: DVec3) -> [f64; 6] {
    [a.x, a.y, a.z, b.x, b.y, b.z]
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::DQuat;

    fn step() -> Step {
        let body = RigidBody {
            q: DQuat::from_xyzw(0.1, -0.4, 0.2, 0.8).normalize(),
            v: DVec3::new(1.0, 2.0, -0.5),
            omega: DVec3::new(2.0, -3.0, 1.5),
            ..RigidBody::at_rest(1.7, DVec3::new(0.3, 0.5, 0.7))
        };
        Step::new(&body, 0.0, 0.1)
    }

    /// Constant in the world, so that the inertial Jacobian is the whole one.
    fn law(_: &RigidBody, _: f64) -> Wrench {
        Wrench {
            force: DVec3::new(3.0, -1.0, -9.0),
            torque: DVec3::new(0.5, 0.3, -0.2),
        }
    }

    /// Largest difference between `jacobian` and central differences of `residual`, a
    /// momentum over the moments `inertia`.
    fn mismatch(
        jacobian: DMat3,
        inertia: DVec3,
        w: DVec3,
        residual: impl Fn(DVec3) -> DVec3,
    ) -> f64 {
        let eps = 1e-5;
        let mut worst = 0.0_f64;
        for column in 0..3 {
            let delta = eps * DVec3::AXES[column];
            let slope = (residual(w + delta) - residual(w - delta)) / (2.0 * eps);
            worst = worst.max((inertia * slope - jacobian.col(column)).length());
        }
        worst
    }

    #[test]
    fn free_jacobian_matches_differences() {
        let step = step();
        for w in [
            DVec3::new(2.1, -2.7, 1.2),
            DVec3::splat(1e-3),
            DVec3::splat(12.0),
        ] {
            let (_, at) = step.free(&join(DVec3::ONE, w), &law);
            let residual = |w| split(&step.free(&join(DVec3::ONE, w), &law).0).1;
            let error = mismatch(step.jacobian_free(&at), step.old.inertia, w, residual);
            assert!(error < 1e-8, "{w} {error:e}");
        }
    }

    #[test]
    fn held_jacobian_matches_differences() {
        let step = step();
        let pivot = Pivot {
            anchor_body: DVec3::new(0.2, -0.3, 0.4),
            anchor_world: DVec3::ZERO,
        };
        let closing = DVec3::new(0.1, 0.2, -0.3);
        for w in [
            DVec3::new(2.1, -2.7, 1.2),
            DVec3::splat(1e-3),
            DVec3::splat(12.0),
        ] {
            let (_, at) = step.held(&w.to_array(), &pivot, closing, &law);
            let residual =
                |w: DVec3| DVec3::from_array(step.held(&w.to_array(), &pivot, closing, &law).0);
            let jacobian = step.jacobian_held(&at, pivot.anchor_body);
            let error = mismatch(jacobian, step.old.inertia, w, residual);
            assert!(error < 1e-8, "{w} {error:e}");
        }
    }
}
