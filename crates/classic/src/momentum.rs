//! The balance of momentum over a step of implicit Euler, for rigid bodies in maximal
//! coordinates.
//!
//! ```text
//! x⁺ = x + h v⁺,   q⁺ = exp(h ω⁺) q
//! r_v = m (v⁺ − v) − h f
//! r_ω = R⁺ I R⁺ᵀ ω⁺ − R I Rᵀ ω − h τ
//! ```
//!
//! No gyroscopic torque appears, for angular momentum itself is balanced.

use vincula::body::rigid::RigidBody;

/// Most that an iteration may turn a body, rad: beyond, the linear model of a joint says little.
const MOST_TURN: f64 = 0.4;

use crate::system::drift;
use crate::system::rows::{Six, pack, unpack};

/// The body at the end of a step with this velocity.
pub(crate) fn arrive(start: &RigidBody, velocity: &Six, h: f64) -> RigidBody {
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
