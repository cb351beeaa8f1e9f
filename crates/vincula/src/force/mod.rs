//! Forces from outside: wrenches, wind and drag, and a compliant ground.

pub mod ground;
pub mod wind;

use glam::DVec3;

/// A force and a torque on a body, world frame.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Wrench {
    /// Force (N), acting at the centre of mass.
    pub force: DVec3,
    /// Torque (N m) about the centre of mass.
    pub torque: DVec3,
}

impl Wrench {
    /// No force, no torque.
    pub const ZERO: Self = Self {
        force: DVec3::ZERO,
        torque: DVec3::ZERO,
    };

    /// The weight of a body of `mass` (kg) in the field `gravity` (m/s²).
    #[inline]
    pub fn weight(mass: f64, gravity: DVec3) -> Self {
        Self {
            force: mass * gravity,
            torque: DVec3::ZERO,
        }
    }
}
