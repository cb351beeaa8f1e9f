//! Torque-free tops: the symmetric one with its orientation, the asymmetric one after Euler.
//!
//! **Symmetric**, axis `e` along body z, `L = I₁ ω + (I₃ − I₁) ω₃ e`:
//!
//! ```text
//! q(t) = rotation(L, |L|/I₁ t) · q₀ · rotation(z, (1 − I₃/I₁) ω₃ t)
//! ```
//!
//! **Asymmetric**: call `c` the extreme axis the spin circles, `a` the other extreme, `b`
//! the intermediate one (Landau & Lifshitz, Mechanics, §37). With `Δij = |Ii − Ij|`,
//!
//! ```text
//! P = Ia Δca ωa² + Ib Δcb ωb²        ωa = A cn u    A² = P / (Ia Δca)
//! Q = Ib Δba ωb² + Ic Δca ωc²        ωb = B sn u    B² = P / (Ib Δcb)
//! S = |L² − 2 T Ib|                  ωc = C dn u    C² = Q / (Ic Δca)
//! u′² = Δcb Q / (Ia Ib Ic)           k² = Δba P / (Δcb Q)    k′² = Δca S / (Δcb Q)
//! ```
//!
//! P, Q and S are sums that do not cancel, so a handle spun almost exactly about its
//! intermediate axis, `k′ → 0`, keeps its full accuracy.

use glam::{DQuat, DVec3};

use super::elliptic::Modulus;
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

/// A torque-free body with any three moments: its angular velocity in the body frame.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AsymmetricTop {
    omega: DVec3,
    /// `None` for a steady rotation.
    euler: Option<Euler>,
}

/// Euler's solution: which axis plays which role, and the numbers of the file header.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Euler {
    roles: [usize; 3],
    amplitudes: [f64; 3],
    modulus: Modulus,
    rate: f64,
    phase: f64,
}

impl AsymmetricTop {
    /// Principal moments (kg m²) and angular velocity in the body frame (rad/s) at time 0.
    pub fn new(inertia: DVec3, omega_body: DVec3) -> Result<Self, ReferenceError> {
        for moment in inertia.to_array() {
            demand_positive("a principal moment of the top", moment)?;
        }
        for rate in omega_body.to_array() {
            demand_finite("a rate of the top's angular velocity", rate)?;
        }
        Ok(Self {
            omega: omega_body,
            euler: Euler::new(inertia, omega_body)?,
        })
    }

    /// Angular velocity (rad/s), body frame, at time `t` (s).
    pub fn omega_body(&self, t: f64) -> DVec3 {
        let Some(euler) = &self.euler else {
            return self.omega;
        };
        let at = euler.modulus.jacobi(euler.phase + euler.rate * t);
        let mut omega = [0.0; 3];
        for (i, wave) in [at.cn, at.sn, at.dn].into_iter().enumerate() {
            omega[euler.roles[i]] = euler.amplitudes[i] * wave;
        }
        DVec3::from_array(omega)
    }

    /// Period of the angular velocity in the body frame (s); infinite for a steady rotation
    /// and on the separatrix.
    pub fn period(&self) -> f64 {
        match &self.euler {
            Some(euler) => 4.0 * euler.modulus.complete() / euler.rate,
            None => f64::INFINITY,
        }
    }

    /// Time between two flips of the intermediate axis (s), half the period.
    pub fn flip_interval(&self) -> f64 {
        0.5 * self.period()
    }
}

impl Euler {
    fn new(inertia: DVec3, omega: DVec3) -> Result<Option<Self>, ReferenceError> {
        let roles = choose_roles(inertia, omega);
        let [a, b, c] = roles.map(|i| (inertia[i], omega[i]));
        let apart = |i: (f64, f64), j: (f64, f64)| (i.0 - j.0).abs();
        let wobble = a.0 * apart(c, a) * a.1 * a.1 + b.0 * apart(c, b) * b.1 * b.1;
        let spin = b.0 * apart(b, a) * b.1 * b.1 + c.0 * apart(c, a) * c.1 * c.1;
        let rate = (apart(c, b) * spin / (a.0 * b.0 * c.0)).sqrt();
        if wobble == 0.0 || rate == 0.0 {
            return Ok(None);
        }
        let excess = (c.0 * apart(c, b) * c.1 * c.1 - a.0 * apart(b, a) * a.1 * a.1).max(0.0);
        let modulus =
            Modulus::from_pair((apart(b, a) * wobble).sqrt(), (apart(c, a) * excess).sqrt())?;
        // Euler's equations turn one way round the cyclic order of the axes.
        let sense = parity(roles) * (c.0 - a.0).signum();
        let side = if c.1 < 0.0 { -1.0 } else { 1.0 };
        let amplitudes = [
            (wobble / (a.0 * apart(c, a))).sqrt(),
            sense * side * (wobble / (b.0 * apart(c, b))).sqrt(),
            side * (spin / (c.0 * apart(c, a))).sqrt(),
        ];
        Ok(Some(Self {
            roles,
            amplitudes,
            modulus,
            rate,
            phase: modulus.argument(b.1 / amplitudes[1], a.1 / amplitudes[0]),
        }))
    }
}

/// The axes `[a, b, c]`: c is the greatest moment if `L² > 2 T Ib`, the least otherwise.
fn choose_roles(inertia: DVec3, omega: DVec3) -> [usize; 3] {
    let mut order = [0, 1, 2];
    order.sort_by(|&i, &j| inertia[i].total_cmp(&inertia[j]));
    let [least, middle, most] = order;
    let pull = |i: usize| inertia[i] * (inertia[i] - inertia[middle]).abs() * omega[i] * omega[i];
    if pull(most) >= pull(least) && inertia[most] > inertia[middle] {
        return [least, middle, most];
    }
    [most, middle, least]
}

/// +1 for a cyclic order of the axes, −1 otherwise.
fn parity(roles: [usize; 3]) -> f64 {
    if (roles[0] + 1) % 3 == roles[1] {
        1.0
    } else {
        -1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn asymmetric_rates_obey_eulers_equations() {
        let moments = [1.0, 2.0, 3.5];
        let starts = [
            DVec3::new(0.01, 3.0, -0.02),
            DVec3::new(2.0, -0.3, 0.4),
            DVec3::new(-0.2, 0.7, -3.0),
        ];
        for order in [[0, 1, 2], [1, 2, 0], [1, 0, 2], [2, 1, 0]] {
            let inertia = DVec3::from_array(order.map(|i| moments[i]));
            for start in starts {
                let top = AsymmetricTop::new(inertia, start).unwrap();
                assert!((top.omega_body(0.0) - start).length() < 1e-13);
                for i in 0..40 {
                    let (t, eps) = (0.37 * i as f64, 1e-4);
                    let w = top.omega_body(t);
                    let slope = (top.omega_body(t + eps) - top.omega_body(t - eps)) / (2.0 * eps);
                    let balance = inertia * slope + w.cross(inertia * w);
                    assert!(balance.length() < 3e-6, "{order:?} {start} {t} {balance}");
                }
            }
        }
    }

    #[test]
    fn degenerate_tops_are_steady_or_symmetric() {
        let w = DVec3::new(0.3, -0.4, 2.0);
        let ball = AsymmetricTop::new(DVec3::splat(2.0), w).unwrap();
        assert_eq!(ball.omega_body(3.0), w);
        for moments in [DVec3::new(1.0, 1.0, 1.7), DVec3::new(1.7, 1.7, 1.0)] {
            let any = AsymmetricTop::new(moments, w).unwrap();
            let symmetric = SymmetricTop::new(moments.x, moments.z, DQuat::IDENTITY, w).unwrap();
            for t in [0.0, 0.4, 1.9, 7.0] {
                let error = (any.omega_body(t) - symmetric.omega_body(t)).length();
                assert!(error < 1e-13, "{moments} {t} {error:e}");
            }
        }
        let steady = AsymmetricTop::new(DVec3::new(1.0, 2.0, 3.0), DVec3::Y).unwrap();
        assert!((steady.omega_body(5.0) - DVec3::Y).length() < 1e-12);
    }

    #[test]
    fn bad_input_is_refused() {
        assert!(AsymmetricTop::new(DVec3::new(1.0, -2.0, 3.0), DVec3::X).is_err());
        assert!(AsymmetricTop::new(DVec3::ONE, DVec3::NAN).is_err());
        assert!(SymmetricTop::new(1.0, f64::NAN, DQuat::IDENTITY, DVec3::X).is_err());
    }
}
