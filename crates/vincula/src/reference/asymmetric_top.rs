//! The torque-free asymmetric top after Euler.
//!
//! Call `c` the extreme axis the spin circles, `a` the other extreme, `b` the intermediate
//! one (Landau & Lifshitz, Mechanics, §37). With `Δij = |Ii − Ij|`,
//!
//! ```text
//! P = Ia Δca ωa² + Ib Δcb ωb²        ωa = A cn u    A² = P / (Ia Δca)
//! Q = Ib Δba ωb² + Ic Δca ωc²        ωb = B sn u    B² = P / (Ib Δcb)
//! S = |L² − 2 T Ib|                  ωc = C dn u    C² = Q / (Ic Δca)
//! u′² = Δcb Q / (Ia Ib Ic)           k² = Δba P / (Δcb Q)    k′² = Δca S / (Δcb Q)
//! ```
//!
//! P and Q are sums that do not cancel and S is the small difference itself, so a handle
//! spun almost exactly about its intermediate axis, `k′ → 0`, keeps its full accuracy.

use glam::{DMat3, DQuat, DVec3};

use super::elliptic::Modulus;
use super::{ReferenceError, demand_finite, demand_positive};

/// A torque-free body with any three moments: its angular velocity in the body frame.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AsymmetricTop {
    inertia: DVec3,
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
            inertia,
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

    /// Orientation, body to world, at time `t` (s), from the orientation `start` at time 0.
    ///
    /// The precession is a quadrature whose cost grows with the angle turned in one period.
    pub fn orientation(&self, start: DQuat, t: f64) -> DQuat {
        let Some(euler) = &self.euler else {
            return start * DQuat::from_scaled_axis(self.omega * t);
        };
        let momentum = (start * (self.inertia * self.omega)).normalize();
        let turned = DQuat::from_axis_angle(momentum, self.precession(euler, t));
        let axis = DVec3::AXES[euler.roles[2]];
        let before = momentum_frame(self.inertia * self.omega, axis);
        let after = momentum_frame(self.inertia * self.omega_body(t), axis);
        let within = DQuat::from_mat3(&(before * after.transpose()));
        (turned * start * within).normalize()
    }

    /// Angle (rad) of axis c about the angular momentum since time 0; whole periods count
    /// alike.
    fn precession(&self, euler: &Euler, t: f64) -> f64 {
        let period = self.period();
        let whole = (t / period).trunc();
        if whole == 0.0 {
            return self.quadrature(euler, t);
        }
        whole * self.quadrature(euler, period) + self.quadrature(euler, t - whole * period)
    }

    /// The integral of [`Self::precession_rate`] by Gauss's rule on short panels.
    fn quadrature(&self, euler: &Euler, t: f64) -> f64 {
        if !t.is_finite() {
            return f64::NAN;
        }
        // A quarter of a radian per panel: Gauss's sixteenth order then reaches rounding.
        let fastest = (self.inertia * self.omega).length() / self.inertia.min_element();
        let panels = (4.0 * fastest * t.abs()).ceil().max(1.0);
        let width = t / panels;
        let mut sum = 0.0;
        for panel in 0..panels as usize {
            let middle = (panel as f64 + 0.5) * width;
            for (node, weight) in GAUSS {
                let reach = 0.5 * width * node;
                let below = self.precession_rate(euler, middle - reach);
                sum += weight * (below + self.precession_rate(euler, middle + reach));
            }
        }
        0.5 * width * sum
    }

    /// `|L| (Ia ωa² + Ib ωb²) / (Ia² ωa² + Ib² ωb²)` at time `t` (s).
    fn precession_rate(&self, euler: &Euler, t: f64) -> f64 {
        let omega = self.omega_body(t);
        let momentum = self.inertia * omega;
        let [a, b, _] = euler.roles;
        let energy = momentum[a] * omega[a] + momentum[b] * omega[b];
        let across = momentum[a] * momentum[a] + momentum[b] * momentum[b];
        momentum.length() * energy / across
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
        // A spin exactly along b is steady too, though it sits on the separatrix.
        if wobble == 0.0 || rate == 0.0 || (a.1 == 0.0 && c.1 == 0.0) {
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

/// Positive nodes and weights of the eight-point Gauss–Legendre rule on [−1, 1].
const GAUSS: [(f64, f64); 4] = [
    (0.183_434_642_495_649_8, 0.362_683_783_378_362),
    (0.525_532_409_916_329, 0.313_706_645_877_887_3),
    (0.796_666_477_413_626_7, 0.222_381_034_453_374_48),
    (0.960_289_856_497_536_3, 0.101_228_536_290_376_26),
];

/// A frame with z along the angular momentum and x towards `axis`, columns in the body.
fn momentum_frame(momentum: DVec3, axis: DVec3) -> DMat3 {
    let z = momentum.normalize();
    let x = (axis - axis.dot(z) * z).normalize();
    DMat3::from_cols(x, z.cross(x), z)
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
    use crate::reference::SymmetricTop;

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
    fn orientation_moves_with_the_angular_velocity() {
        let start = DQuat::from_xyzw(0.1, -0.4, 0.2, 0.8).normalize();
        for omega in [DVec3::new(0.01, 3.0, 0.02), DVec3::new(-2.0, 0.3, 0.4)] {
            let top = AsymmetricTop::new(DVec3::new(1.0, 2.0, 3.5), omega).unwrap();
            assert!(top.orientation(start, 0.0).dot(start).abs() > 1.0 - 1e-15);
            let eps = 1e-4;
            for t in [-1.0, 0.5, 7.0] {
                let there = top.orientation(start, t + eps);
                let rate = (there * top.orientation(start, t - eps).inverse()).xyz() / eps;
                let rate = rate * there.dot(top.orientation(start, t - eps)).signum();
                let expected = top.orientation(start, t) * top.omega_body(t);
                assert!((rate - expected).length() < 1e-6, "{rate} {expected}");
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
    }
}
