//! The torque-free symmetric top.
//!
//! With the axis `e` along body z, `L = I₁ ω + (I₃ − I₁) ω₃ e`, so the top turns about the
//! fixed L at the rate |L|/I₁ while it slips about its own axis:
//!
//! ```text
//! q(t) = rotation(L, |L|/I₁ t) · q₀ · rotation(z, (1 − I₃/I₁) ω₃ t)
//! ```

use glam::{DQuat, DVec3};

use super::{ReferenceError, demand_finite, demand_positive};

/// A torque-free body with equal moments about body x and y.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SymmetricTop {
    orientation: DQuat,
    momentum_axis: DVec3,
    precession: f64,
    slip: f64,
    transverse: f64,
    axial: f64,
    omega_body: DVec3,
}

impl SymmetricTop {
    /// Moments `transverse` (body x and y) and `axial` (body z, kg m²), orientation body to
    /// world and angular velocity `omega` (rad/s, world) at time 0.
    pub fn new(
        transverse: f64,
        axial: f64,
        orientation: DQuat,
        omega: DVec3,
    ) -> Result<Self, ReferenceError> {
        demand_positive("the top's transverse moment", transverse)?;
        demand_positive("the top's axial moment", axial)?;
        demand_positive("the length of the top's orientation", orientation.length())?;
        demand_finite("the top's angular velocity", omega.element_sum())?;
        let orientation = orientation.normalize();
        let omega_body = orientation.inverse() * omega;
        let moments = DVec3::new(transverse, transverse, axial);
        let momentum = orientation * (moments * omega_body);
        Ok(Self {
            orientation,
            momentum_axis: momentum.normalize_or(DVec3::Z),
            precession: momentum.length() / transverse,
            slip: (1.0 - axial / transverse) * omega_body.z,
            transverse,
            axial,
            omega_body,
        })
    }

    /// Rate (rad/s) at which the axis circles the angular momentum.
    pub fn precession_rate(&self) -> f64 {
        self.precession
    }

    /// Orientation, body to world, at time `t` (s).
    pub fn orientation(&self, t: f64) -> DQuat {
        let about_momentum = DQuat::from_axis_angle(self.momentum_axis, self.precession * t);
        about_momentum * self.orientation * DQuat::from_rotation_z(self.slip * t)
    }

    /// Angular velocity (rad/s), body frame, at time `t` (s).
    pub fn omega_body(&self, t: f64) -> DVec3 {
        DQuat::from_rotation_z(-self.slip * t) * self.omega_body
    }

    /// Angular velocity (rad/s), world frame, at time `t` (s).
    pub fn omega(&self, t: f64) -> DVec3 {
        self.orientation(t) * self.omega_body(t)
    }

    /// Angular momentum (kg m²/s), world frame, constant.
    pub fn angular_momentum(&self) -> DVec3 {
        let moments = DVec3::new(self.transverse, self.transverse, self.axial);
        self.orientation * (moments * self.omega_body)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orientation_moves_with_the_angular_velocity() {
        let start = DQuat::from_xyzw(0.1, -0.4, 0.2, 0.8).normalize();
        let top = SymmetricTop::new(0.4, 0.7, start, DVec3::new(2.0, -3.0, 1.5)).unwrap();
        let eps = 1e-5;
        for t in [0.0, 0.3, 4.0] {
            let turn = top.orientation(t + eps) * top.orientation(t - eps).inverse();
            let rate = turn.xyz() / eps;
            assert!((rate - top.omega(t)).length() < 1e-8);
        }
    }

    #[test]
    fn bad_input_is_refused() {
        assert!(SymmetricTop::new(1.0, f64::NAN, DQuat::IDENTITY, DVec3::X).is_err());
        let nothing = DQuat::from_xyzw(0.0, 0.0, 0.0, 0.0);
        assert!(SymmetricTop::new(1.0, 2.0, nothing, DVec3::X).is_err());
    }
}
