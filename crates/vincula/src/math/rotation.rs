//! Rotations: the exponential map and the polar decomposition.
//!
//! exp(θ̂) = I + (sin θ/θ) θ̂ + ((1 − cos θ)/θ²) θ̂², and R(A) = A (AᵀA)^(−1/2)
//! (He et al. 2026, Eq. 9) by Newton–Schulz `X ← X (3I − XᵀX)/2` near a rotation
//! and by Higham's `X ← (X + X⁻ᵀ)/2` far from one.
//!
//! Sine and cosine are polynomials after a reduction by multiples of π, because a
//! library call inside a lane loop would stop it from vectorising, and because the
//! same bits must come out on every processor.

use super::small::*;

/// Adding and subtracting this rounds to the nearest integer without a library call.
const ROUND: f64 = 6_755_399_441_055_744.0;

/// π in two pieces, so that the reduction keeps its digits.
const PI_HIGH: f64 = std::f64::consts::PI;
const PI_LOW: f64 = 1.224_646_799_147_353_2e-16;

/// Below this angle the series around zero replaces the quotients.
const SMALL_ANGLE_SQUARED: f64 = 1e-4;

/// (sin θ / θ, (1 − cos θ)/θ²) from θ².
#[inline(always)]
pub fn rodrigues(theta_squared: f64) -> (f64, f64) {
    let theta = theta_squared.sqrt();
    let turns = (theta * std::f64::consts::FRAC_1_PI + ROUND) - ROUND;
    let x = (theta - turns * PI_HIGH) - turns * PI_LOW;
    // (−1)^turns without integer conversion: 1 − 2·(turns mod 2).
    let half = turns * 0.5;
    let odd = (half - ((half + ROUND) - ROUND)).abs() * 2.0;
    let sign = 1.0 - 2.0 * odd;
    let x2 = x * x;
    let sine = sign * x * sine_series(x2);
    // 1 − cos θ = 1 − sign·cos x, with cos x = 1 − x² versine.
    let versine = (1.0 - sign) + sign * x2 * versine_series(x2);
    let safe = theta_squared.max(SMALL_ANGLE_SQUARED);
    let small = theta_squared < SMALL_ANGLE_SQUARED;
    let t2 = theta_squared;
    let a_small = 1.0 - t2 * (1.0 / 6.0 - t2 * (1.0 / 120.0 - t2 * (1.0 / 5040.0)));
    let b_small = 0.5 - t2 * (1.0 / 24.0 - t2 * (1.0 / 720.0 - t2 * (1.0 / 40320.0)));
    let a = if small { a_small } else { sine / safe.sqrt() };
    let b = if small { b_small } else { versine / safe };
    (a, b)
}

/// sin x / x for |x| ≤ π/2, from x², to one unit in the last place.
#[inline(always)]
fn sine_series(x2: f64) -> f64 {
    let mut s = 1.0;
    for k in (1..12).rev() {
        let n = 2 * k;
        s = 1.0 - x2 * s * (1.0 / ((n * (n + 1)) as f64));
    }
    s
}

/// (1 − cos x)/x² for |x| ≤ π/2, from x².
#[inline(always)]
fn versine_series(x2: f64) -> f64 {
    let mut s = 1.0;
    for k in (1..12).rev() {
        let n = 2 * k + 1;
        s = 1.0 - x2 * s * (1.0 / ((n * (n + 1)) as f64));
    }
    0.5 * s
}

/// Squared angle below which the short series is exact to rounding.
pub const SHORT_SERIES: f64 = 0.25;

/// The same for θ² below [`SHORT_SERIES`]: no root, no division.
#[inline(always)]
pub fn rodrigues_short(theta_squared: f64) -> (f64, f64) {
    (
        estrin(&SINE, theta_squared),
        estrin(&VERSINE, theta_squared),
    )
}

/// (−1)^k/(2k+1)!: sin θ/θ in powers of θ².
const SINE: [f64; 8] = [
    1.0,
    -1.0 / 6.0,
    1.0 / 120.0,
    -1.0 / 5040.0,
    1.0 / 362_880.0,
    -1.0 / 39_916_800.0,
    1.0 / 6_227_020_800.0,
    -1.0 / 1_307_674_368_000.0,
];

/// (−1)^k/(2k+2)!: (1 − cos θ)/θ² in powers of θ².
const VERSINE: [f64; 8] = [
    1.0 / 2.0,
    -1.0 / 24.0,
    1.0 / 720.0,
    -1.0 / 40_320.0,
    1.0 / 3_628_800.0,
    -1.0 / 479_001_600.0,
    1.0 / 87_178_291_200.0,
    -1.0 / 20_922_789_888_000.0,
];

/// A polynomial of degree seven in pairs, which waits for half as many results as Horner.
#[inline(always)]
fn estrin(c: &[f64; 8], t: f64) -> f64 {
    let t2 = t * t;
    let low = (c[0] + c[1] * t) + (c[2] + c[3] * t) * t2;
    let high = (c[4] + c[5] * t) + (c[6] + c[7] * t) * t2;
    low + high * (t2 * t2)
}

/// exp of `w ×` as a matrix; `SHORT` promises θ² < [`SHORT_SERIES`].
#[inline(always)]
pub fn exp<const SHORT: bool>(w: &V3) -> M3 {
    let t = dot(w, w);
    let (a, b) = if SHORT {
        rodrigues_short(t)
    } else {
        rodrigues(t)
    };
    let [x, y, z] = *w;
    let (bx, by, bz) = (b * x, b * y, b * z);
    let (ax, ay, az) = (a * x, a * y, a * z);
    [
        1.0 - by * y - bz * z,
        bx * y - az,
        bx * z + ay,
        bx * y + az,
        1.0 - bx * x - bz * z,
        by * z - ax,
        bx * z - ay,
        by * z + ax,
        1.0 - bx * x - by * y,
    ]
}

/// The rotation vector of a rotation by less than half a turn, rad: the inverse of [`exp`].
#[inline(always)]
pub fn log(q: &M3) -> V3 {
    let s = axial(q);
    let (sin, cos) = (dot(&s, &s).sqrt(), 0.5 * (q[0] + q[4] + q[8] - 1.0));
    // At half a turn the matrix has no axial part, and no direction to tell.
    let factor = if sin > 1e-9 {
        sin.atan2(cos) / sin
    } else {
        1.0
    };
    scale(&s, factor)
}

/// exp(−ŵ) x: the vector x turned back by w.
#[inline(always)]
pub fn turn_back<const SHORT: bool>(w: &V3, x: &V3) -> V3 {
    let t = dot(w, w);
    let (a, b) = if SHORT {
        rodrigues_short(t)
    } else {
        rodrigues(t)
    };
    let wx = cross(w, x);
    let wwx = cross(w, &wx);
    [
        x[0] - a * wx[0] + b * wwx[0],
        x[1] - a * wx[1] + b * wwx[1],
        x[2] - a * wx[2] + b * wwx[2],
    ]
}

/// One Newton–Schulz step, and how far X was from a rotation (max |XᵀX − I|).
#[inline(always)]
pub fn newton_schulz(x: &M3) -> (M3, f64) {
    let g = gram(x);
    let diagonal = (g[0] - 1.0)
        .abs()
        .max((g[1] - 1.0).abs())
        .max((g[2] - 1.0).abs());
    let error = diagonal.max(g[3].abs()).max(g[4].abs()).max(g[5].abs());
    let s = [
        1.5 - 0.5 * g[0],
        1.5 - 0.5 * g[1],
        1.5 - 0.5 * g[2],
        -0.5 * g[3],
        -0.5 * g[4],
        -0.5 * g[5],
    ];
    (mul_sym(x, &s), error)
}

/// One step of Higham's iteration.
#[inline(always)]
pub fn higham(x: &M3) -> M3 {
    let c = cofactor(x);
    let d = 0.5 / det(x);
    let mut y = [0.0; 9];
    for i in 0..9 {
        y[i] = 0.5 * x[i] + d * c[i];
    }
    y
}

/// Strain beyond which Newton–Schulz is not trusted to converge.
pub const FAR_FROM_ROTATION: f64 = 0.2;
/// How close to orthonormal a rotation is made.
pub const ORTHONORMAL: f64 = 4e-16;

/// The rotation nearest to A, or `None` when A is singular, inverted or not finite.
pub fn polar(a: &M3) -> Option<M3> {
    if !(det(a) > 0.0) {
        return None;
    }
    let mut x = *a;
    for _ in 0..60 {
        let (y, error) = newton_schulz(&x);
        if !error.is_finite() {
            return None;
        }
        if error <= ORTHONORMAL {
            return Some(x);
        }
        x = if error > FAR_FROM_ROTATION {
            higham(&x)
        } else {
            y
        };
        if error < 1e-8 {
            return Some(x);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::{DMat3, DVec3};

    #[test]
    fn rodrigues_matches_the_library_at_every_scale() {
        for k in -40..60 {
            let theta = 10f64.powf(k as f64 / 20.0);
            let (a, b) = rodrigues(theta * theta);
            let a_true = theta.sin() / theta;
            let b_true = 2.0 * (0.5 * theta).sin().powi(2) / (theta * theta);
            assert!(
                (a - a_true).abs() < 4e-16 + 1e-15 * a_true.abs(),
                "sin at {theta}: {a} {a_true}"
            );
            assert!(
                (b - b_true).abs() < 4e-16 + 1e-15 * b_true.abs(),
                "cos at {theta}: {b} {b_true}"
            );
        }
    }

    #[test]
    fn the_short_series_agrees_where_it_is_used() {
        for k in 0..=100 {
            let t = SHORT_SERIES * k as f64 / 100.0;
            let ((a, b), (c, d)) = (rodrigues_short(t), rodrigues(t));
            assert!(
                (a - c).abs() < 5e-16 && (b - d).abs() < 5e-16,
                "theta squared {t}"
            );
        }
    }

    #[test]
    fn exp_is_a_rotation_and_turn_back_is_its_transpose() {
        let w = [0.3, -2.0, 11.0];
        let r = exp::<false>(&w);
        let axis = DVec3::from(w);
        let expected = DMat3::from_axis_angle(axis.normalize(), axis.length());
        assert!(max_abs(&sub9(&r, &crate::math::from_mat(expected))) < 1e-14);
        let x = [1.0, 2.0, 3.0];
        let back = turn_back::<false>(&w, &x);
        let direct = tmul_vec(&r, &x);
        assert!(sub(&back, &direct).iter().all(|d| d.abs() < 1e-14));
    }

    #[test]
    fn polar_recovers_the_rotation_under_strain() {
        let r = exp::<false>(&[0.4, 1.0, -0.7]);
        for strain in [0.0, 1e-9, 1e-3, 0.3, 3.0] {
            let s = [
                1.0 + strain,
                1.0,
                1.0 + 0.5 * strain,
                0.1 * strain,
                0.0,
                0.2 * strain,
            ];
            let a = mul_sym(&r, &s);
            let found = polar(&a).expect("a stretched rotation has a polar factor");
            assert!(max_abs(&sub9(&found, &r)) < 1e-14, "strain {strain}");
        }
        assert!(polar(&[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, -1.0]).is_none());
        assert!(polar(&[f64::NAN; 9]).is_none());
    }
}
