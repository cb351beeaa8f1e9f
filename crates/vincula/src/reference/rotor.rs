//! Motions with linear damping: a driven rotor, a fall with drag.
//!
//! `y″ = s − γ y′` from `y₀, y₀′` has
//!
//! ```text
//! y′ = y₀′ + (s − γ y₀′) φ₁(t)                φ₁ = (1 − e^{−γt}) / γ
//! y  = y₀ + y₀′ t + (s − γ y₀′) φ₂(t)         φ₂ = (t − φ₁) / γ
//! ```

use glam::DVec3;

use super::{ReferenceError, demand, demand_finite, demand_positive};

/// A rotor about a fixed axis under constant torque and viscous damping, `I ω′ = τ − c ω`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DrivenRotor {
    /// Inertia about the axis (kg m²).
    pub inertia: f64,
    /// Torque τ (N m).
    pub torque: f64,
    /// Damping c (N m s), not negative.
    pub damping: f64,
    /// Angle at time 0 (rad).
    pub angle: f64,
    /// Angular velocity at time 0 (rad/s).
    pub omega: f64,
}

impl DrivenRotor {
    /// Checks that the parameters describe a motion.
    pub fn check(&self) -> Result<(), ReferenceError> {
        demand_positive("the rotor's inertia", self.inertia)?;
        demand_damping("the rotor's damping", self.damping)?;
        demand_finite("the rotor's torque", self.torque)?;
        demand_finite("the rotor's angle", self.angle)?;
        demand_finite("the rotor's angular velocity", self.omega)
    }

    /// Angular velocity (rad/s) at time `t` (s).
    pub fn angular_velocity(&self, t: f64) -> f64 {
        self.omega + self.first_acceleration() * relaxed(self.rate(), t)
    }

    /// Angle (rad) at time `t` (s).
    pub fn angle(&self, t: f64) -> f64 {
        self.angle + self.omega * t + self.first_acceleration() * relaxed_twice(self.rate(), t)
    }

    /// Angular velocity (rad/s) it settles at; infinite without damping.
    pub fn terminal(&self) -> f64 {
        self.torque / self.damping
    }

    fn rate(&self) -> f64 {
        self.damping / self.inertia
    }

    fn first_acceleration(&self) -> f64 {
        (self.torque - self.damping * self.omega) / self.inertia
    }
}

/// A body falling with linear drag, `m v′ = m g − c v`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DraggedFall {
    /// Mass (kg).
    pub mass: f64,
    /// Gravity (m/s²), world frame.
    pub gravity: DVec3,
    /// Drag c (N s/m), not negative.
    pub drag: f64,
    /// Position at time 0 (m).
    pub x: DVec3,
    /// Velocity at time 0 (m/s).
    pub v: DVec3,
}

impl DraggedFall {
    /// Checks that the parameters describe a motion.
    pub fn check(&self) -> Result<(), ReferenceError> {
        demand_positive("the falling mass", self.mass)?;
        demand_damping("the drag", self.drag)?;
        demand_finite("gravity", self.gravity.element_sum())?;
        demand_finite("the falling body's position", self.x.element_sum())?;
        demand_finite("the falling body's velocity", self.v.element_sum())
    }

    /// Velocity (m/s) at time `t` (s).
    pub fn velocity(&self, t: f64) -> DVec3 {
        self.v + self.first_acceleration() * relaxed(self.drag / self.mass, t)
    }

    /// Position (m) at time `t` (s).
    pub fn position(&self, t: f64) -> DVec3 {
        let curve = self.first_acceleration() * relaxed_twice(self.drag / self.mass, t);
        self.x + self.v * t + curve
    }

    /// Velocity (m/s) it settles at; not finite without drag.
    pub fn terminal(&self) -> DVec3 {
        self.mass * self.gravity / self.drag
    }

    fn first_acceleration(&self) -> DVec3 {
        self.gravity - self.v * (self.drag / self.mass)
    }
}

fn demand_damping(quantity: &'static str, value: f64) -> Result<(), ReferenceError> {
    let met = value >= 0.0 && value.is_finite();
    demand(met, quantity, value, "finite and not negative")
}

/// `φ₁ = (1 − e^{−γt}) / γ`, t without damping.
fn relaxed(rate: f64, t: f64) -> f64 {
    if rate == 0.0 {
        return t;
    }
    -(-rate * t).exp_m1() / rate
}

/// `φ₂ = (t − φ₁) / γ`, ½ t² without damping; by its series where the difference cancels.
fn relaxed_twice(rate: f64, t: f64) -> f64 {
    let z = rate * t;
    if z.abs() > 0.5 {
        return (t - relaxed(rate, t)) / rate;
    }
    // t² Σ (−z)ⁿ / (n+2)!
    let (mut term, mut sum) = (0.5, 0.0);
    for n in 0..18 {
        sum += term;
        term *= -z / (n + 3) as f64;
    }
    t * t * sum
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROTOR: DrivenRotor = DrivenRotor {
        inertia: 0.8,
        torque: 3.0,
        damping: 0.5,
        angle: 0.1,
        omega: -2.0,
    };

    #[test]
    fn rotor_obeys_its_equation() {
        let eps = 1e-4;
        for t in [0.05, 0.79, 0.81, 3.0] {
            let slope =
                (ROTOR.angular_velocity(t + eps) - ROTOR.angular_velocity(t - eps)) / (2.0 * eps);
            let balance = ROTOR.torque - ROTOR.damping * ROTOR.angular_velocity(t);
            assert!((ROTOR.inertia * slope - balance).abs() < 1e-7);
            let rate = (ROTOR.angle(t + eps) - ROTOR.angle(t - eps)) / (2.0 * eps);
            assert!((rate - ROTOR.angular_velocity(t)).abs() < 1e-7);
        }
        assert!((ROTOR.angular_velocity(80.0) - ROTOR.terminal()).abs() < 1e-13);
    }

    #[test]
    fn vanishing_damping_is_the_uniform_acceleration() {
        for damping in [0.0, 1e-14] {
            let rotor = DrivenRotor { damping, ..ROTOR };
            let expected = 0.1 - 2.0 * 3.0 + 0.5 * 3.0 / 0.8 * 9.0;
            assert!((rotor.angle(3.0) - expected).abs() < 1e-12);
        }
    }

    #[test]
    fn series_and_closed_form_of_the_second_integral_meet() {
        let below = relaxed_twice(0.5 - 1e-12, 1.0);
        let above = relaxed_twice(0.5 + 1e-12, 1.0);
        assert!((below - above).abs() < 1e-12);
    }

    #[test]
    fn fall_reaches_terminal_velocity() {
        let fall = DraggedFall {
            mass: 2.0,
            gravity: DVec3::new(0.0, 0.0, -9.81),
            drag: 4.0,
            x: DVec3::ZERO,
            v: DVec3::new(1.0, 0.0, 0.0),
        };
        assert!((fall.velocity(20.0) - fall.terminal()).length() < 1e-13);
        assert!((fall.position(20.0).x - 0.5).abs() < 1e-13);
        assert!(DraggedFall { drag: -1.0, ..fall }.check().is_err());
        assert!(
            DraggedFall {
                mass: f64::NAN,
                ..fall
            }
            .check()
            .is_err()
        );
    }
}
