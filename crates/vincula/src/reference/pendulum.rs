//! The physical pendulum released from rest, and the force in its pivot.
//!
//! With the angle φ from the lowest position, `I φ″ = −m g d sin φ` and release at φ₀:
//!
//! ```text
//! φ = 2 asin(k sn(K − ω₀ t)) = 2 asin(k cd(ω₀ t))      k = sin(φ₀/2),  ω₀² = m g d / I
//! φ′ = −2 k k′ ω₀ sd(ω₀ t)                              period 4 K / ω₀
//! ```
//!
//! Eq. 60 of the co-rotated affine body paper is the case φ₀ = π/2, with its angle counted
//! from the release downwards: θ = π/2 − φ.

use super::elliptic::{Jacobi, Modulus};
use super::{ReferenceError, demand, demand_positive};

/// A rigid pendulum about a fixed axis, released from rest at time 0.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PhysicalPendulum {
    mass: f64,
    distance: f64,
    gravity: f64,
    amplitude: f64,
    frequency: f64,
    modulus: Modulus,
}

impl PhysicalPendulum {
    /// A pendulum of `mass` (kg) whose centre is at `distance` (m) from the pivot, with
    /// `inertia` about the pivot (kg m²), under `gravity` (m/s²), released at `amplitude`
    /// (rad, from the lowest position, in [0, π)).
    pub fn new(
        mass: f64,
        distance: f64,
        inertia: f64,
        gravity: f64,
        amplitude: f64,
    ) -> Result<Self, ReferenceError> {
        demand_positive("the pendulum's mass", mass)?;
        demand_positive("the pendulum's distance from pivot to centre", distance)?;
        demand_positive("the pendulum's inertia about the pivot", inertia)?;
        demand_positive("gravity", gravity)?;
        let inside = (0.0..std::f64::consts::PI).contains(&amplitude);
        demand(inside, "the release angle", amplitude, "in [0, π) rad")?;
        let (sin, cos) = (0.5 * amplitude).sin_cos();
        Ok(Self {
            mass,
            distance,
            gravity,
            amplitude,
            frequency: (mass * gravity * distance / inertia).sqrt(),
            modulus: Modulus::from_pair(sin, cos)?,
        })
    }

    /// Angle (rad) from the lowest position at time `t` (s).
    pub fn angle(&self, t: f64) -> f64 {
        let at = self.jacobi(t);
        2.0 * (self.modulus.k() * at.cn / at.dn).clamp(-1.0, 1.0).asin()
    }

    /// Angle (rad) turned since the release, positive while falling: Eq. 60's θ.
    pub fn angle_fallen(&self, t: f64) -> f64 {
        self.amplitude - self.angle(t)
    }

    /// Rate of [`Self::angle`] (rad/s).
    pub fn angular_velocity(&self, t: f64) -> f64 {
        let at = self.jacobi(t);
        let slope = 2.0 * self.modulus.k() * self.modulus.complement();
        -slope * self.frequency * at.sn / at.dn
    }

    /// Rate of [`Self::angular_velocity`] (rad/s²).
    pub fn angular_acceleration(&self, t: f64) -> f64 {
        -self.frequency * self.frequency * self.angle(t).sin()
    }

    /// Time of a full swing (s).
    pub fn period(&self) -> f64 {
        4.0 * self.modulus.complete() / self.frequency
    }

    /// Force of the pivot on the body (N): from the centre towards the pivot, and across in
    /// the direction of growing angle.
    pub fn reaction(&self, t: f64) -> (f64, f64) {
        let (sin, cos) = self.angle(t).sin_cos();
        let rate = self.angular_velocity(t);
        let along = self.mass * (self.gravity * cos + self.distance * rate * rate);
        let across =
            self.mass * (self.gravity * sin + self.distance * self.angular_acceleration(t));
        (along, across)
    }

    /// Magnitude of the force in the pivot (N).
    pub fn reaction_magnitude(&self, t: f64) -> f64 {
        let (along, across) = self.reaction(t);
        along.hypot(across)
    }

    fn jacobi(&self, t: f64) -> Jacobi {
        self.modulus.jacobi(self.frequency * t)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::{FRAC_PI_2, PI};

    #[test]
    fn release_and_small_swings() {
        let pendulum = PhysicalPendulum::new(2.0, 0.5, 0.7, 9.81, 1e-4).unwrap();
        let frequency = (2.0 * 9.81 * 0.5 / 0.7_f64).sqrt();
        assert!((pendulum.period() * frequency / (2.0 * PI) - 1.0).abs() < 1e-8);
        assert!((pendulum.angle(0.0) - 1e-4).abs() < 1e-18);
        assert_eq!(pendulum.angular_velocity(0.0), 0.0);
    }

    #[test]
    fn equation_60_of_the_paper() {
        let pendulum = PhysicalPendulum::new(1.0, 0.5, 1.0 / 3.0, 9.81, FRAC_PI_2).unwrap();
        let modulus = Modulus::new((0.25 * PI).sin()).unwrap();
        let linear = (9.81 * 0.5 * 3.0_f64).sqrt();
        for t in [0.0, 0.1, 0.77, 2.3, 5.0] {
            let sn = modulus.jacobi(modulus.complete() - linear * t).sn;
            let paper = FRAC_PI_2 - 2.0 * (modulus.k() * sn).asin();
            assert!((pendulum.angle_fallen(t) - paper).abs() < 1e-13);
        }
    }

    #[test]
    fn energy_is_constant_up_to_near_inversion() {
        for amplitude in [0.3, FRAC_PI_2, 3.0, PI - 1e-6] {
            let (mass, distance, inertia, gravity) = (1.5, 0.4, 0.3, 9.81);
            let pendulum =
                PhysicalPendulum::new(mass, distance, inertia, gravity, amplitude).unwrap();
            let energy = |t| {
                let rate = pendulum.angular_velocity(t);
                0.5 * inertia * rate * rate - mass * gravity * distance * pendulum.angle(t).cos()
            };
            for i in 0..200 {
                let t = 0.01 * i as f64 * pendulum.period();
                assert!((energy(t) - energy(0.0)).abs() < 1e-13 * mass * gravity * distance * 10.0);
            }
        }
    }

    #[test]
    fn bad_input_is_refused() {
        assert!(PhysicalPendulum::new(f64::NAN, 1.0, 1.0, 9.81, 1.0).is_err());
        assert!(PhysicalPendulum::new(1.0, 1.0, 1.0, 9.81, PI).is_err());
    }
}
