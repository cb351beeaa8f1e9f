//! The heavy top on a fixed point: closed form for a symmetric top, tight RK4 for any.
//!
//! Released at tilt θ₀ with pure spin ω₃ about its axis (a cusp), a symmetric top with
//! `J` across and `I₃` along the axis moves, with `c = cos θ`, `a = I₃ ω₃ / J` and
//! `β = 2 m g d / J`, as (Goldstein, Classical Mechanics, §5.7)
//!
//! ```text
//! c′² = (c₀ − c) (β (1 − c²) − a² (c₀ − c)) = β (c − c₋)(c₀ − c)(c₊ − c)
//! c(t) = c₋ + (c₀ − c₋) cd²(½ √(β (c₊ − c₋)) t)        k² = (c₀ − c₋)/(c₊ − c₋)
//! ψ′ = a (c₀ − c) / (1 − c²)                           precession rate
//! (c₀ − c₋)(c₊ − c₀) = sin²θ₀
//! ```

use glam::{DQuat, DVec3};

use super::elliptic::Modulus;
use super::{ReferenceError, demand, demand_finite, demand_positive};
use crate::body::rigid::{Pivot, RigidBody, Wrench, step_runge_kutta_pivoted};

/// A top held at a point of its axis, body z, at the world origin; gravity along −z.
///
/// At time 0 the axis leans by `tilt` from +z towards +x and the top only spins about it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HeavyTop {
    /// Mass (kg).
    pub mass: f64,
    /// Principal moments about the centre of mass (kg m²); body z is the axis.
    pub inertia: DVec3,
    /// From the held point up the axis to the centre of mass (m).
    pub distance: f64,
    /// Gravity (m/s²), downwards.
    pub gravity: f64,
    /// Angle of the axis from the vertical at time 0 (rad), in (0, π).
    pub tilt: f64,
    /// Spin about the axis at time 0 (rad/s).
    pub spin: f64,
}

/// The attitude of a top at one time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TopSample {
    /// Time (s).
    pub t: f64,
    /// Angle of the axis from the vertical (rad).
    pub nutation: f64,
    /// Rate of the axis about the vertical (rad/s).
    pub precession_rate: f64,
}

impl TopSample {
    /// Reads nutation and precession off a body whose axis is body z. The rate is NaN while
    /// the axis is exactly vertical, where the azimuth means nothing.
    pub fn of(body: &RigidBody, t: f64) -> Self {
        let axis = body.q * DVec3::Z;
        let slope = body.omega.cross(axis);
        let across = axis.x * axis.x + axis.y * axis.y;
        Self {
            t,
            nutation: across.sqrt().atan2(axis.z),
            precession_rate: (axis.x * slope.y - axis.y * slope.x) / across,
        }
    }
}

impl HeavyTop {
    /// Checks that the parameters describe a top.
    pub fn check(&self) -> Result<(), ReferenceError> {
        demand_positive("the top's mass", self.mass)?;
        for moment in self.inertia.to_array() {
            demand_positive("a principal moment of the top", moment)?;
        }
        demand_positive("the top's distance from pivot to centre", self.distance)?;
        demand_positive("gravity", self.gravity)?;
        demand_finite("the top's spin", self.spin)?;
        let inside = self.tilt > 0.0 && self.tilt < std::f64::consts::PI;
        demand(inside, "the top's tilt", self.tilt, "in (0, π) rad")
    }

    /// The body at time 0.
    pub fn body(&self) -> RigidBody {
        let q = DQuat::from_rotation_y(self.tilt);
        let mut body = RigidBody::at_rest(self.mass, self.inertia);
        body.q = q;
        body.omega = q * DVec3::new(0.0, 0.0, self.spin);
        self.pivot().snap(&mut body);
        body
    }

    /// The held point.
    pub fn pivot(&self) -> Pivot {
        Pivot {
            anchor_body: DVec3::new(0.0, 0.0, -self.distance),
            anchor_world: DVec3::ZERO,
        }
    }

    /// The top's weight as a force law.
    pub fn weight(&self) -> Wrench {
        Wrench::weight(self.mass, DVec3::new(0.0, 0.0, -self.gravity))
    }

    /// Least and greatest angle (rad) from the vertical, for equal moments about x and y.
    pub fn nutation_range(&self) -> Result<(f64, f64), ReferenceError> {
        let cusp = Cusp::new(self)?;
        Ok((self.tilt, cusp.lowest.clamp(-1.0, 1.0).acos()))
    }

    /// Time from one upper turning point to the next (s), for equal moments about x and y.
    pub fn nutation_period(&self) -> Result<f64, ReferenceError> {
        let cusp = Cusp::new(self)?;
        Ok(2.0 * cusp.modulus.complete() / cusp.rate)
    }

    /// Attitude at time `t` (s) in closed form, for equal moments about x and y.
    pub fn sample(&self, t: f64) -> Result<TopSample, ReferenceError> {
        let cusp = Cusp::new(self)?;
        let at = cusp.modulus.jacobi(cusp.rate * t);
        // 1 − cd² = k′² sd², free of cancellation near the cusp.
        let dip = cusp.modulus.complement() * at.sn / at.dn;
        let fallen = (cusp.start - cusp.lowest) * dip * dip;
        let height = cusp.start - fallen;
        Ok(TopSample {
            t,
            nutation: height.clamp(-1.0, 1.0).acos(),
            precession_rate: cusp.turn * fallen / (1.0 - height * height),
        })
    }

    /// The two rates (rad/s, slow then fast) of a precession without nutation at the top's
    /// tilt and spin, from `J Ω² cos θ − I₃ ω₃ Ω + m g d = 0`, for equal moments about x and
    /// y; `None` where the spin is too slow. At θ = π/2 only the slow one is finite.
    pub fn steady_precession(&self) -> Result<Option<(f64, f64)>, ReferenceError> {
        let across = self.across()?;
        let momentum = self.inertia.z * self.spin;
        let weight = self.mass * self.gravity * self.distance;
        let discriminant = momentum * momentum - 4.0 * across * self.tilt.cos() * weight;
        if discriminant < 0.0 {
            return Ok(None);
        }
        let sum = momentum + discriminant.sqrt().copysign(momentum);
        Ok(Some((
            2.0 * weight / sum,
            sum / (2.0 * across * self.tilt.cos()),
        )))
    }

    /// Moment across the axis about the held point, if it is the same in every direction.
    fn across(&self) -> Result<f64, ReferenceError> {
        self.check()?;
        let difference = self.inertia.x - self.inertia.y;
        let same = difference.abs() <= 1e-12 * self.inertia.x;
        let quantity = "the difference of the top's moments about x and y";
        demand(same, quantity, difference, "0 for the closed form")?;
        Ok(self.inertia.x + self.mass * self.distance * self.distance)
    }
}

/// The numbers of the closed form.
struct Cusp {
    start: f64,
    lowest: f64,
    turn: f64,
    rate: f64,
    modulus: Modulus,
}

impl Cusp {
    fn new(top: &HeavyTop) -> Result<Self, ReferenceError> {
        let across = top.across()?;
        let start = top.tilt.cos();
        let turn = top.inertia.z * top.spin / across;
        let beta = 2.0 * top.mass * top.gravity * top.distance / across;
        // Roots of β (1 − c²) = a² (c₀ − c), with s = a²/(2β): c = s ∓ √(s² − 2 s c₀ + 1).
        let s = turn * turn / (2.0 * beta);
        let root = (s * s - 2.0 * s * start + 1.0).sqrt();
        // Falls of a fast top are tiny, so c₀ − c₋ is not left to a difference.
        let rise = s + root - start;
        let fall = top.tilt.sin().powi(2) / rise;
        Ok(Self {
            start,
            lowest: start - fall,
            turn,
            rate: 0.5 * (beta * (fall + rise)).sqrt(),
            modulus: Modulus::from_pair(fall.sqrt(), rise.sqrt())?,
        })
    }
}

/// Integrates a top of any moments with RK4 steps of `h` (s) for `steps` steps, and samples
/// the start and every `every`-th step. A step of 1e-4 s or less gives truth for validation.
pub fn heavy_top_reference(
    top: &HeavyTop,
    h: f64,
    steps: usize,
    every: usize,
) -> Result<Vec<TopSample>, ReferenceError> {
    top.check()?;
    let (mut body, pivot, weight) = (top.body(), top.pivot(), top.weight());
    let every = every.max(1);
    let mut samples = vec![TopSample::of(&body, 0.0)];
    for step in 1..=steps {
        let t = (step - 1) as f64 * h;
        step_runge_kutta_pivoted(&mut body, &pivot, &|_: &RigidBody, _| weight, t, h)?;
        if step % every == 0 {
            samples.push(TopSample::of(&body, step as f64 * h));
        }
    }
    Ok(samples)
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) const TOP: HeavyTop = HeavyTop {
        mass: 1.3,
        inertia: DVec3::new(0.02, 0.02, 0.03),
        distance: 0.12,
        gravity: 9.81,
        tilt: 0.4,
        spin: 60.0,
    };

    #[test]
    fn integration_meets_the_closed_form() {
        for (tilt, spin) in [(0.4, 60.0), (5.0_f64.to_radians(), 10.0), (1.2, -20.0)] {
            let top = HeavyTop { tilt, spin, ..TOP };
            let samples = heavy_top_reference(&top, 1e-4, 20_000, 100).unwrap();
            assert_eq!(samples.len(), 201);
            let (mut angle, mut rate) = (0.0_f64, 0.0_f64);
            for sample in &samples {
                let exact = top.sample(sample.t).unwrap();
                angle = angle.max((sample.nutation - exact.nutation).abs());
                rate = rate.max((sample.precession_rate - exact.precession_rate).abs());
            }
            println!("tilt {tilt} spin {spin}: angle {angle:e} rate {rate:e}");
            assert!(angle < 1e-9 && rate < 2e-8);
        }
    }

    #[test]
    fn range_and_period_bound_the_samples() {
        let (least, most) = TOP.nutation_range().unwrap();
        let half = TOP.sample(0.5 * TOP.nutation_period().unwrap()).unwrap();
        assert!((half.nutation - most).abs() < 1e-12);
        assert!(least < most);
        // A fast top dips by about 2 m g d J sin θ / (I₃ ω₃)².
        let fast = HeavyTop { spin: 3e4, ..TOP };
        let (least, most) = fast.nutation_range().unwrap();
        let across = 0.02 + 1.3 * 0.12 * 0.12;
        let dip = 2.0 * 1.3 * 9.81 * 0.12 * across * 0.4_f64.sin() / (0.03_f64 * 3e4).powi(2);
        assert!(((most - least) / dip - 1.0).abs() < 1e-5);
    }

    #[test]
    fn steady_precession_does_not_nutate() {
        let (slow, fast) = TOP.steady_precession().unwrap().unwrap();
        for rate in [slow, fast] {
            let mut body = TOP.body();
            // Spin about the axis stays ω₃ when the precession is added along the vertical.
            let axis = body.q * DVec3::Z;
            body.omega = DVec3::Z * rate + axis * (TOP.spin - rate * axis.z);
            TOP.pivot().snap(&mut body);
            for i in 0..5000 {
                let weight = TOP.weight();
                let law = |_: &RigidBody, _| weight;
                step_runge_kutta_pivoted(&mut body, &TOP.pivot(), &law, 1e-4 * i as f64, 1e-4)
                    .unwrap();
            }
            let sample = TopSample::of(&body, 0.5);
            assert!((sample.nutation - TOP.tilt).abs() < 1e-10);
            assert!((sample.precession_rate - rate).abs() < 1e-8);
        }
        assert_eq!(
            HeavyTop { spin: 1.0, ..TOP }.steady_precession().unwrap(),
            None
        );
    }

    #[test]
    fn bad_input_is_refused() {
        assert!(HeavyTop { tilt: 0.0, ..TOP }.check().is_err());
        assert!(
            HeavyTop {
                spin: f64::NAN,
                ..TOP
            }
            .sample(0.0)
            .is_err()
        );
        let skew = HeavyTop {
            inertia: DVec3::new(0.02, 0.021, 0.03),
            ..TOP
        };
        assert!(skew.sample(0.0).is_err());
        assert!(heavy_top_reference(&TOP, f64::NAN, 3, 1).is_err());
        assert_eq!(heavy_top_reference(&TOP, 1e-3, 3, 0).unwrap().len(), 4);
    }
}
