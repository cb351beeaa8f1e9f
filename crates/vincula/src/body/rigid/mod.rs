//! The classic rigid body with six coordinates, the yardstick for affine bodies.
//!
//! Newton and Euler, world frame, about the centre of mass:
//!
//! ```text
//! m v' = f          x' = v
//! L'   = τ          q' = ½ (0, ω) ⊗ q          L = R diag(I) Rᵀ ω
//! ```
//!
//! Three integrators advance a body under a force law `Fn(&RigidBody, t) -> Wrench`:
//! [`step_symplectic`] (the explicit step of game engines), [`step_implicit`]
//! (converged implicit Euler) and [`step_runge_kutta`] (fourth order). Each has a
//! `_pivoted` sibling that holds one point of the body in the world and returns the
//! force the pivot exerts. No step allocates; a step that fails leaves the body as it was.
//!
//! ```
//! use glam::DVec3;
//! use vincula::body::rigid::{Pivot, RigidBody, Wrench, step_runge_kutta_pivoted};
//!
//! let mut rod = RigidBody::solid_box(7800.0, DVec3::new(1.0, 0.05, 0.05));
//! let pivot = Pivot { anchor_body: DVec3::new(-0.5, 0.0, 0.0), anchor_world: DVec3::ZERO };
//! pivot.snap(&mut rod);
//! let weight = Wrench::weight(rod.mass, DVec3::new(0.0, 0.0, -9.81));
//! let law = |_: &RigidBody, _: f64| weight;
//!
//! let energy = |rod: &RigidBody| rod.kinetic_energy() - weight.force.dot(rod.x);
//! let before = energy(&rod);
//! for step in 0..1000 {
//!     let t = 1e-3 * step as f64;
//!     let _reaction = step_runge_kutta_pivoted(&mut rod, &pivot, &law, t, 1e-3)?;
//! }
//! assert!((energy(&rod) - before).abs() < 1e-8);
//! assert!(pivot.gap(&rod).length() < 1e-15);
//! # Ok::<(), vincula::body::rigid::RigidError>(())
//! ```

mod implicit;
mod newton;
mod pivot;
mod runge_kutta;
mod symplectic;
#[cfg(test)]
mod tests;
mod turn;

pub use implicit::{step_implicit, step_implicit_pivoted};
pub use pivot::{Pivot, pivot_reaction};
pub use runge_kutta::{step_runge_kutta, step_runge_kutta_pivoted};
pub use symplectic::{step_symplectic, step_symplectic_pivoted};

pub use crate::force::Wrench;
use glam::{DMat3, DQuat, DVec3};
use thiserror::Error;

/// A rigid body whose body frame sits at the centre of mass along the principal axes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RigidBody {
    /// Mass (kg).
    pub mass: f64,
    /// Principal moments of inertia about the centre of mass (kg m²), body frame.
    pub inertia: DVec3,
    /// Centre of mass (m), world frame.
    pub x: DVec3,
    /// Orientation, body to world, a unit quaternion.
    pub q: DQuat,
    /// Velocity of the centre of mass (m/s), world frame.
    pub v: DVec3,
    /// Angular velocity (rad/s), world frame.
    pub omega: DVec3,
}

/// Why a rigid body could not be advanced.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
pub enum RigidError {
    /// A number is NaN or infinite.
    #[error(
        "the {quantity} of the rigid body is NaN or infinite; check the initial state and the force law"
    )]
    NotFinite {
        /// Which quantity.
        quantity: &'static str,
    },
    /// A mass or a moment of inertia is zero or negative.
    #[error("the {quantity} of the rigid body is {value}; it must be positive")]
    NotPositive {
        /// Which quantity.
        quantity: &'static str,
        /// Its value (SI).
        value: f64,
    },
    /// The orientation is not a unit quaternion.
    #[error("the orientation of the rigid body has length {length}; normalise the quaternion")]
    NotUnit {
        /// Length of the quaternion.
        length: f64,
    },
    /// The time step is not a positive finite number.
    #[error("the time step is {h} s; it must be positive and finite")]
    BadStep {
        /// The time step (s).
        h: f64,
    },
    /// The state after the step is NaN or infinite.
    #[error(
        "a step of {h} s led to NaN or infinity; check that the force law returns finite \
         numbers, or take a shorter time step"
    )]
    Diverged {
        /// The time step (s).
        h: f64,
    },
    /// Newton's method did not reach its tolerance.
    #[error(
        "the implicit step of {h} s stopped after {iterations} Newton iterations with a relative \
         velocity update of {update:e}; take a shorter time step or a smoother force law"
    )]
    NotConverged {
        /// Iterations done.
        iterations: usize,
        /// Size of the last Newton update relative to the velocities.
        update: f64,
        /// The time step (s).
        h: f64,
    },
}

impl RigidBody {
    /// A body at rest at the origin, principal axes along the world's.
    pub fn at_rest(mass: f64, inertia: DVec3) -> Self {
        Self {
            mass,
            inertia,
            x: DVec3::ZERO,
            q: DQuat::IDENTITY,
            v: DVec3::ZERO,
            omega: DVec3::ZERO,
        }
    }

    /// A solid box of the given `density` (kg/m³) and edge lengths (m), at rest at the origin.
    pub fn solid_box(density: f64, edges: DVec3) -> Self {
        let mass = density * edges.x * edges.y * edges.z;
        let square = edges * edges;
        let inertia = mass / 12.0 * (DVec3::splat(square.element_sum()) - square);
        Self::at_rest(mass, inertia)
    }

    /// World position (m) of a point given in the body frame (m).
    #[inline]
    pub fn point(&self, body_point: DVec3) -> DVec3 {
        self.x + self.q * body_point
    }

    /// World velocity (m/s) of a point given in the body frame (m).
    #[inline]
    pub fn point_velocity(&self, body_point: DVec3) -> DVec3 {
        self.v + self.omega.cross(self.q * body_point)
    }

    /// Angular velocity (rad/s) in the body frame.
    #[inline]
    pub fn omega_body(&self) -> DVec3 {
        DMat3::from_quat(self.q).mul_transpose_vec3(self.omega)
    }

    /// Inertia about the centre of mass (kg m²), world frame.
    #[inline]
    pub fn inertia_world(&self) -> DMat3 {
        let rotation = DMat3::from_quat(self.q);
        rotation * DMat3::from_diagonal(self.inertia) * rotation.transpose()
    }

    /// Kinetic energy (J).
    #[inline]
    pub fn kinetic_energy(&self) -> f64 {
        let spin = self.omega_body();
        0.5 * (self.mass * self.v.length_squared() + spin.dot(self.inertia * spin))
    }

    /// Linear momentum (kg m/s).
    #[inline]
    pub fn linear_momentum(&self) -> DVec3 {
        self.mass * self.v
    }

    /// Angular momentum about the centre of mass (kg m²/s), world frame.
    #[inline]
    pub fn angular_momentum_centre(&self) -> DVec3 {
        let rotation = DMat3::from_quat(self.q);
        rotation * (self.inertia * rotation.mul_transpose_vec3(self.omega))
    }

    /// Angular momentum about the world origin (kg m²/s).
    #[inline]
    pub fn angular_momentum_origin(&self) -> DVec3 {
        self.angular_momentum_centre() + self.x.cross(self.linear_momentum())
    }

    /// Checks mass, inertia, orientation and that every number is finite.
    #[inline]
    pub fn check(&self) -> Result<(), RigidError> {
        if self.is_sound() {
            return Ok(());
        }
        Err(self.diagnose())
    }

    /// One test without many branches; NaN anywhere makes it false.
    #[inline]
    fn is_sound(&self) -> bool {
        let unit = (self.q.length_squared() - 1.0).abs() < 1e-6;
        self.mass > 0.0 && self.inertia.min_element() > 0.0 && unit && self.is_finite()
    }

    #[inline]
    fn is_finite(&self) -> bool {
        let sum = self.x + self.v + self.omega + self.inertia;
        (sum.element_sum() + self.q.w + self.mass).is_finite()
    }

    #[cold]
    fn diagnose(&self) -> RigidError {
        let finite = [
            ("mass", self.mass.is_finite()),
            ("inertia", self.inertia.is_finite()),
            ("position", self.x.is_finite()),
            ("orientation", self.q.is_finite()),
            ("velocity", self.v.is_finite()),
            ("angular velocity", self.omega.is_finite()),
        ];
        if let Some((quantity, _)) = finite.into_iter().find(|(_, finite)| !finite) {
            return RigidError::NotFinite { quantity };
        }
        if self.mass <= 0.0 {
            return RigidError::NotPositive {
                quantity: "mass",
                value: self.mass,
            };
        }
        let least = self.inertia.min_element();
        if least <= 0.0 {
            return RigidError::NotPositive {
                quantity: "least moment of inertia",
                value: least,
            };
        }
        let length = self.q.length();
        if (length * length - 1.0).abs() < 1e-6 {
            // Every number is finite but their sum is not: a velocity near the largest f64.
            let quantity = "sum of position and velocities";
            return RigidError::NotFinite { quantity };
        }
        RigidError::NotUnit { length }
    }
}

/// Checks what every integrator needs before a step.
#[inline]
fn check_step(body: &RigidBody, h: f64) -> Result<(), RigidError> {
    if !(h > 0.0 && h.is_finite()) {
        return Err(RigidError::BadStep { h });
    }
    body.check()
}

/// Hands over the new state if it is sound, keeps the old one otherwise.
#[inline]
fn commit(body: &mut RigidBody, next: RigidBody, h: f64) -> Result<(), RigidError> {
    if !next.is_sound() {
        return Err(RigidError::Diverged { h });
    }
    *body = next;
    Ok(())
}

/// `q' = ½ (0, ω) ⊗ q` for the world angular velocity ω (rad/s).
#[inline]
fn quaternion_rate(q: DQuat, omega: DVec3) -> DQuat {
    DQuat::from_xyzw(0.5 * omega.x, 0.5 * omega.y, 0.5 * omega.z, 0.0) * q
}

/// Normalises a quaternion that one explicit step has stretched by a little: a series
/// instead of the root and the division, which would wait for each other.
#[inline]
fn renormalise(q: DQuat) -> DQuat {
    let stretch = q.length_squared() - 1.0;
    if stretch.abs() > 1e-4 {
        return q.normalize();
    }
    // (1 + e)^(−1/2) to 3e-17
    q * (1.0 - stretch * (0.5 - stretch * (0.375 - stretch * 0.3125)))
}

/// Normalises to better than the last bit.
///
/// The rounding of a plain normalisation is biased, and angular momentum picks the bias up
/// at every step: 1e-11 in ten thousand steps, enough to shift the flips of a T-handle.
/// With the residue known exactly the remaining rounding averages out (1e-13).
#[inline]
fn unit(q: DQuat) -> DQuat {
    let q = q.normalize();
    q + q * (0.5 * norm_residue(q))
}

/// `1 − |q|²` of an almost unit quaternion, without rounding of order one.
///
/// Each component is split into a multiple of 2⁻²⁶, whose square fits 53 bits, and a rest:
/// `c² = hi² + (hi + c) lo`.
#[inline]
fn norm_residue(q: DQuat) -> f64 {
    // Near this number doubles are 2⁻²⁶ apart, so adding it rounds to that grid.
    const GRID: f64 = 1.5 * (1_u64 << 26) as f64;
    let (mut coarse, mut fine) = (1.0, 0.0);
    for c in q.to_array() {
        let hi = (c + GRID) - GRID;
        coarse -= hi * hi;
        fine += (hi + c) * (c - hi);
    }
    coarse - fine
}
