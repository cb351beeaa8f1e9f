//! Elliptic integrals of the first kind and Jacobi's functions.
//!
//! ```text
//! F(φ) = ∫₀^φ dθ / √(1 − k² sin²θ),   K = F(π/2) = π / (2 agm(1, k′)),   k² + k′² = 1
//! sn(F(φ)) = sin φ,   cn = cos φ,   dn = √(1 − k² sn²)
//! ```
//!
//! The amplitude φ comes from descending Landen steps along the arithmetic-geometric mean
//! (Abramowitz & Stegun 16.4, 17.6), F from Carlson's duplication (DLMF 19.25, 19.36).
//! Motions near a separatrix have `k → 1`, where `k′` carries all the information; a
//! [`Modulus`] therefore keeps both.

use std::f64::consts::{FRAC_PI_2, PI};

use super::{ReferenceError, demand};

/// Halving steps of the mean; it converges quadratically, so this is never reached.
const LEVELS: usize = 32;

/// The modulus `k` of an elliptic function with its complement `k′ = √(1 − k²)`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Modulus {
    k: f64,
    complement: f64,
}

/// Jacobi's functions at one argument.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Jacobi {
    /// Amplitude φ (rad), continuous in the argument.
    pub amplitude: f64,
    /// `sn = sin φ`.
    pub sn: f64,
    /// `cn = cos φ`.
    pub cn: f64,
    /// `dn = √(1 − k² sn²)`.
    pub dn: f64,
}

impl Modulus {
    /// The modulus `k` in [0, 1].
    pub fn new(k: f64) -> Result<Self, ReferenceError> {
        let inside = (0.0..=1.0).contains(&k);
        demand(inside, "the elliptic modulus k", k, "between 0 and 1")?;
        let complement = ((1.0 - k) * (1.0 + k)).sqrt();
        Ok(Self { k, complement })
    }

    /// From `k` and `k′` in any common scale, as `k : k′ = sine : cosine`, both not negative.
    pub fn from_pair(sine: f64, cosine: f64) -> Result<Self, ReferenceError> {
        let length = sine.hypot(cosine);
        let sound = sine >= 0.0 && cosine >= 0.0 && length > 0.0 && length.is_finite();
        let demanded = "the size of two finite numbers not below 0 and not both 0";
        demand(sound, "the elliptic modulus pair", length, demanded)?;
        Ok(Self {
            k: sine / length,
            complement: cosine / length,
        })
    }

    /// The modulus `k`.
    pub fn k(&self) -> f64 {
        self.k
    }

    /// The complementary modulus `k′`.
    pub fn complement(&self) -> f64 {
        self.complement
    }

    /// The complete integral `K(k)`; infinite for `k = 1`.
    pub fn complete(&self) -> f64 {
        if self.complement == 0.0 {
            return f64::INFINITY;
        }
        let (mut a, mut b) = (1.0, self.complement);
        for _ in 0..LEVELS {
            if (a - b).abs() <= 4.0 * f64::EPSILON * a {
                break;
            }
            (a, b) = (0.5 * (a + b), (a * b).sqrt());
        }
        PI / (a + b)
    }

    /// The incomplete integral `F(φ, k)` for any amplitude φ (rad).
    pub fn incomplete(&self, amplitude: f64) -> f64 {
        let half_turns = (amplitude / PI).round();
        let (sin, cos) = (amplitude - half_turns * PI).sin_cos();
        let rest = self.argument(sin, cos);
        if half_turns == 0.0 {
            return rest;
        }
        rest + 2.0 * half_turns * self.complete()
    }

    /// The argument `u` in [−2K, 2K] with the given `sn` and `cn`, in any common scale.
    ///
    /// Near `cn = 0` this is sharper than going through the amplitude, whose distance from
    /// π/2 is all that counts there.
    pub fn argument(&self, sn: f64, cn: f64) -> f64 {
        let length = sn.hypot(cn);
        let (sn, cn) = (sn / length, cn / length);
        let quarter = sn * carlson(cn * cn, self.delta_square(cn), 1.0);
        if cn >= 0.0 {
            return quarter;
        }
        (2.0 * self.complete()).copysign(sn) - quarter
    }

    /// Jacobi's functions at `u`.
    pub fn jacobi(&self, u: f64) -> Jacobi {
        if self.complement == 0.0 {
            return hyperbolic(u);
        }
        let half_period = 2.0 * self.complete();
        let half_turns = (u / half_period).round();
        let inner = self.amplitude(u - half_turns * half_period);
        let (sin, cos) = inner.sin_cos();
        let sign = if half_turns % 2.0 == 0.0 { 1.0 } else { -1.0 };
        Jacobi {
            amplitude: inner + half_turns * PI,
            sn: sign * sin,
            cn: sign * cos,
            dn: self.delta_square(cos).sqrt(),
        }
    }

    /// `1 − k² sin²φ = k′² + k² cos²φ`, the second form without cancellation.
    fn delta_square(&self, cos: f64) -> f64 {
        (self.complement * self.complement) + (self.k * cos) * (self.k * cos)
    }

    /// Amplitude of `u` in [−K, K]: down the mean with `φ = 2ⁿ aₙ u`, back up by
    /// `sin(2 φₙ₋₁ − φₙ) = (cₙ/aₙ) sin φₙ`.
    fn amplitude(&self, u: f64) -> f64 {
        let mut ratios = [0.0; LEVELS];
        let (mut a, mut b) = (1.0, self.complement);
        let mut levels = 0;
        let mut power = 1.0;
        while levels < LEVELS && (a - b).abs() > f64::EPSILON * a {
            let c = 0.5 * (a - b);
            (a, b) = (0.5 * (a + b), (a * b).sqrt());
            ratios[levels] = c / a;
            levels += 1;
            power *= 2.0;
        }
        let mut phi = power * a * u;
        for ratio in ratios[..levels].iter().rev() {
            phi = 0.5 * (phi + (ratio * phi.sin()).clamp(-1.0, 1.0).asin());
        }
        phi.clamp(-FRAC_PI_2, FRAC_PI_2)
    }
}

/// The limit `k = 1`: `sn = tanh`, `cn = dn = sech`.
fn hyperbolic(u: f64) -> Jacobi {
    let sech = 1.0 / u.cosh();
    Jacobi {
        amplitude: u.sinh().atan(),
        sn: u.tanh(),
        cn: sech,
        dn: sech,
    }
}

/// Carlson's `R_F(x, y, z) = ½ ∫₀^∞ dt / √((t+x)(t+y)(t+z))` by duplication.
fn carlson(mut x: f64, mut y: f64, mut z: f64) -> f64 {
    for _ in 0..64 {
        let mean = (x + y + z) / 3.0;
        let spread = (x - mean).abs().max((y - mean).abs()).max((z - mean).abs());
        // The series below errs by the sixth power of the spread.
        if spread < 1e-3 * mean {
            break;
        }
        let (sx, sy, sz) = (x.sqrt(), y.sqrt(), z.sqrt());
        let lambda = sx * sy + sy * sz + sz * sx;
        (x, y, z) = (
            0.25 * (x + lambda),
            0.25 * (y + lambda),
            0.25 * (z + lambda),
        );
    }
    let mean = (x + y + z) / 3.0;
    let (dx, dy) = (1.0 - x / mean, 1.0 - y / mean);
    let dz = -(dx + dy);
    let second = dx * dy - dz * dz;
    let third = dx * dy * dz;
    let series =
        1.0 - second / 10.0 + third / 14.0 + second * second / 24.0 - 3.0 * second * third / 44.0;
    series / mean.sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `sn′ = cn dn`, `cn′ = −sn dn`, `dn′ = −k² sn cn` by RK4 from u = 0.
    fn by_integration(k: f64, u: f64, steps: usize) -> [f64; 3] {
        let rate = |y: [f64; 3]| [y[1] * y[2], -y[0] * y[2], -k * k * y[0] * y[1]];
        let along = |y: [f64; 3], k: [f64; 3], s: f64| std::array::from_fn(|i| y[i] + s * k[i]);
        let h = u / steps as f64;
        let mut y = [0.0, 1.0, 1.0];
        for _ in 0..steps {
            let k1 = rate(y);
            let k2 = rate(along(y, k1, 0.5 * h));
            let k3 = rate(along(y, k2, 0.5 * h));
            let k4 = rate(along(y, k3, h));
            y = std::array::from_fn(|i| y[i] + h / 6.0 * (k1[i] + 2.0 * (k2[i] + k3[i]) + k4[i]));
        }
        y
    }

    #[test]
    fn complete_integral_matches_known_values() {
        // K(0) = π/2 and K(1/√2) = Γ(1/4)² / (4 √π), DLMF 19.6.
        let gamma_quarter = 3.625_609_908_221_908_f64;
        let lemniscate = gamma_quarter * gamma_quarter / (4.0 * PI.sqrt());
        let half = Modulus::from_pair(1.0, 1.0).unwrap().complete();
        assert!((Modulus::new(0.0).unwrap().complete() - FRAC_PI_2).abs() < 1e-15);
        assert!((half - lemniscate).abs() < 1e-14);
        // Near the separatrix K → ln(4/k′).
        let near = Modulus::from_pair(1.0, 1e-9).unwrap().complete();
        assert!((near - (4.0e9_f64).ln()).abs() < 1e-13);
        assert_eq!(Modulus::new(1.0).unwrap().complete(), f64::INFINITY);
    }

    #[test]
    fn jacobi_functions_solve_their_differential_equation() {
        for k in [0.0, 0.3, 0.8, 0.95, 0.999] {
            let modulus = Modulus::new(k).unwrap();
            for u in [0.5, -1.7, 4.0, 9.3] {
                let found = modulus.jacobi(u);
                let truth = by_integration(k, u, 20_000);
                let error = (found.sn - truth[0])
                    .abs()
                    .max((found.cn - truth[1]).abs())
                    .max((found.dn - truth[2]).abs());
                assert!(error < 1e-12, "k {k} u {u} error {error:e}");
            }
        }
    }

    #[test]
    fn incomplete_integral_inverts_the_amplitude() {
        for (sine, cosine) in [(0.1, 0.99), (0.8, 0.6), (1.0, 1e-3), (1.0, 1e-7)] {
            let modulus = Modulus::from_pair(sine, cosine).unwrap();
            let complete = modulus.complete();
            assert!((modulus.argument(1.0, 0.0) / complete - 1.0).abs() < 1e-14);
            for part in [-3.3, -0.9, 0.2, 0.5, 0.7, 2.4] {
                let u = part * complete;
                let back = modulus.incomplete(modulus.jacobi(u).amplitude);
                // The amplitude is flat in u where dn is small, so the inverse is steep there.
                let steep = 1.0 / modulus.jacobi(u).dn;
                let error = (back - u).abs() / steep;
                assert!(
                    error < 1e-14 * (1.0 + u.abs()) * 8.0,
                    "{sine} {cosine} {part} {error:e}"
                );
            }
        }
    }

    #[test]
    fn quarter_period_and_limits() {
        let modulus = Modulus::new(0.8).unwrap();
        let quarter = modulus.jacobi(modulus.complete());
        assert!((quarter.sn - 1.0).abs() < 1e-15 && quarter.cn.abs() < 1e-15);
        assert!((quarter.dn - 0.6).abs() < 1e-15);
        let limit = Modulus::new(1.0).unwrap().jacobi(2.0);
        assert!((limit.sn - 2.0_f64.tanh()).abs() < 1e-15);
        let near = Modulus::from_pair(1.0, 1e-9).unwrap().jacobi(2.0);
        assert!((near.sn - limit.sn).abs() < 1e-14 && (near.dn - limit.dn).abs() < 1e-14);
    }

    #[test]
    fn bad_moduli_are_refused() {
        for k in [-0.1, 1.1, f64::NAN] {
            assert!(Modulus::new(k).is_err());
        }
        assert!(Modulus::from_pair(0.0, 0.0).is_err());
        assert!(Modulus::from_pair(f64::NAN, 1.0).is_err());
    }
}
