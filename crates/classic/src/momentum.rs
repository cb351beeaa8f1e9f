//! The balance of momentum over a step of implicit Euler, for rigid bodies in maximal
//! coordinates.
//!
//! ```text
//! x⁺ = x + h v⁺,   q⁺ = exp(h ω⁺) q
//! r_v = m (v⁺ − v) − h f
//! r_ω = R⁺ I R⁺ᵀ ω⁺ − R I Rᵀ ω − h τ
//! ```
//!
//! No gyroscopic torque appears, for angular momentum itself is balanced. Both methods that use
//! it, `rigid_implicit.rs` and `penalty.rs`, iterate; what they share of a step is here.

use glam::{DMat3, DVec3};
use vincula::body::rigid::RigidBody;
use vincula::model::{Control, Model};

use crate::system::method::{check_conflict_since, check_step};
use crate::system::rows::{Six, pack, unpack};
use crate::system::{MethodError, MethodReport, System, drift};

/// Most that an iteration may turn a body, rad: beyond, the linear model of a joint says little.
const MOST_TURN: f64 = 0.4;

/// A method that finds the end of a step by iteration.
pub(crate) trait Implicit {
    /// The system, and the memory for its bodies at the start of the step.
    fn parts(&mut self) -> (&mut System, &mut Vec<RigidBody>);

    /// Iterates; the number of iterations and whether they converged.
    fn iterate(
        &mut self,
        model: &Model,
        control: &Control,
        h: f64,
    ) -> Result<(usize, bool), MethodError>;

    /// Whether joints are to be closed at the end of a step; springs give way.
    fn closes(&self) -> bool;

    /// Forgets guesses from the past.
    fn forget(&mut self) {}
}

/// One step of such a method; on failure the system stays as it was.
pub(crate) fn step(
    method: &mut impl Implicit,
    model: &Model,
    control: &Control,
    h: f64,
) -> Result<MethodReport, MethodError> {
    check_step(h)?;
    let (system, start) = method.parts();
    start.clone_from(&system.bodies);
    let done = method.iterate(model, control, h);
    let closes = method.closes();
    let (system, start) = method.parts();
    let done = done.and_then(|found| system.check_finite(model).map(|()| found));
    let done = match done {
        Ok((_, false)) if closes => check_conflict_since(system, start).and(done),
        _ => done,
    };
    match done {
        Ok((iterations, converged)) => {
            system.time += h;
            Ok(MethodReport {
                iterations,
                converged,
                residual: system.worst_violation().0,
            })
        }
        Err(error) => {
            system.bodies.clone_from(start);
            method.forget();
            Err(error)
        }
    }
}

/// Puts all bodies where they are at the end of a step with these velocities.
pub(crate) fn arrive_all(system: &mut System, start: &[RigidBody], velocity: &[Six], h: f64) {
    for ((body, start), velocity) in system.bodies.iter_mut().zip(start).zip(velocity) {
        *body = arrive(start, velocity, h);
    }
}

/// The body at the end of a step with this velocity.
fn arrive(start: &RigidBody, velocity: &Six, h: f64) -> RigidBody {
    let [v, omega] = unpack(velocity);
    let mut body = *start;
    (body.v, body.omega) = (v, omega);
    drift(&mut body, v, omega, h);
    body
}

/// Momentum gained beyond what the force gives, N s and N m s.
pub(crate) fn imbalance(start: &RigidBody, end: &RigidBody, force: &Six, h: f64) -> Six {
    let [f, torque] = unpack(force);
    let linear = start.mass * (end.v - start.v) - h * f;
    let gained = end.angular_momentum_centre() - start.angular_momentum_centre();
    pack(linear, gained - h * torque)
}

/// The share of a correction of velocities that turns no body too far.
pub(crate) fn damping(changes: impl Iterator<Item = Six>, h: f64) -> f64 {
    let turn = changes
        .map(|change| h * unpack(&change)[1].length())
        .fold(0.0, f64::max);
    if turn > MOST_TURN {
        MOST_TURN / turn
    } else {
        1.0
    }
}

/// Adds a share of a change, whose angular part is a turn of the body at the end of the step
/// divided by h, to a velocity.
pub(crate) fn change_velocity(velocity: &mut Six, change: &Six, share: f64, h: f64) {
    let [v, omega] = unpack(velocity);
    let [dv, turn] = unpack(change);
    let rate = turn_rate(h * omega) * turn;
    *velocity = pack(v + share * dv, omega + share * rate);
}

/// The matrix that makes a change of ω⁺ from a small turn of the body at the end, δθ/h: the
/// inverse of the left Jacobian of the exponential at φ = h ω⁺.
pub(crate) fn turn_rate(phi: DVec3) -> DMat3 {
    let (square, cross) = (phi.length_squared(), skew(phi));
    let half = 0.5 * square.sqrt();
    // (1 − x cot x)/4x² with x = |φ|/2, and its series.
    let k = if half < 1e-2 {
        (1.0 + square / 60.0) / 12.0
    } else {
        (1.0 - half / half.tan()) / square
    };
    DMat3::IDENTITY - cross * 0.5 + cross * cross * k
}

/// `[v]`, with `[v] x = v × x`.
pub(crate) fn skew(v: DVec3) -> DMat3 {
    DMat3::from_cols(
        DVec3::new(0.0, v.z, -v.y),
        DVec3::new(-v.z, 0.0, v.x),
        DVec3::new(v.y, -v.x, 0.0),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::DQuat;

    #[test]
    fn a_change_of_velocity_turns_the_arriving_body_by_what_was_asked() {
        let start = RigidBody {
            mass: 1.0,
            inertia: DVec3::ONE,
            x: DVec3::ZERO,
            q: DQuat::from_rotation_x(0.3),
            v: DVec3::ZERO,
            omega: DVec3::ZERO,
        };
        let (h, turn) = (0.1, DVec3::new(2.0, -1.0, 3.0) * 1e-6);
        for omega in [DVec3::new(9.0, -4.0, 7.0), DVec3::new(0.01, 0.02, 0.0)] {
            let before = pack(DVec3::X, omega);
            let mut after = before;
            change_velocity(&mut after, &pack(DVec3::ZERO, turn / h), 1.0, h);
            let [a, b] = [before, after].map(|u| arrive(&start, &u, h).q);
            let found = (b * a.inverse()).to_scaled_axis();
            assert!((found - turn).length() < 1e-10, "{found} {turn}");
        }
    }
}
