//! Angles by plain arithmetic: no branch, no call, so that a loop over lanes vectorises and the
//! bits are the same on every machine.

use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, PI, TAU};

/// tan(π/8).
const TAN_EIGHTH: f64 = 0.414_213_562_373_095_03;

/// `(atan(t)/t − 1)/t²` as a polynomial in t², for |t| up to tan(π/8), by interpolation at
/// Chebyshev's points; off by 3e-17.
const SERIES: [f64; 11] = [
    -0.333_333_333_333_333_3,
    0.199_999_999_999_954_9,
    -0.142_857_142_846_601_4,
    0.111_111_110_147_415_62,
    -0.090_909_045_572_142_67,
    0.076_921_827_052_463_2,
    -0.066_645_046_100_326_48,
    0.058_580_895_386_102_03,
    -0.050_851_391_487_066_376,
    0.039_222_688_823_476_32,
    -0.019_165_906_506_304_3,
];

/// The angle of the vector (x, y) to the first axis, from −π to π rad, to a few units of the last
/// place; zero for the zero vector.
#[inline(always)]
pub fn atan2(y: f64, x: f64) -> f64 {
    let (up, along) = (y.abs(), x.abs());
    let is_steep = up > along;
    let low = if is_steep { along } else { up };
    let high = if is_steep { up } else { along };
    // Of an angle beyond π/8 the difference to π/4 is taken.
    let is_wide = low > TAN_EIGHTH * high;
    let numerator = if is_wide { low - high } else { low };
    let denominator = if is_wide { low + high } else { high };
    let t = numerator / if denominator == 0.0 { 1.0 } else { denominator };
    let z = t * t;
    let mut sum = SERIES[10];
    for k in (0..10).rev() {
        sum = sum * z + SERIES[k];
    }
    let small = t + t * (z * sum);
    let angle = if is_wide { FRAC_PI_4 + small } else { small };
    let angle = if is_steep { FRAC_PI_2 - angle } else { angle };
    let angle = if x < 0.0 { PI - angle } else { angle };
    if y < 0.0 { -angle } else { angle }
}

/// Adding and subtracting this leaves the nearest whole number.
const WHOLE: f64 = 6_755_399_441_055_744.0;

/// The angle that differs from `value` by whole turns and is nearest to `near`, rad.
#[inline(always)]
pub fn unwrap(value: f64, near: f64) -> f64 {
    let turns = ((value - near) / TAU + WHOLE) - WHOLE;
    value - turns * TAU
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn angles_are_those_of_the_standard_library() {
        for k in -4000..=4000 {
            let angle = f64::from(k) * (PI / 4000.0);
            for size in [1e-200, 1.0, 3.7e150] {
                let (y, x) = (size * angle.sin(), size * angle.cos());
                let off = (atan2(y, x) - f64::atan2(y, x)).abs();
                assert!(off <= 4.5e-16, "{angle}: off by {off}");
            }
        }
        for (y, x) in [(0.0, 1.0), (1.0, 0.0), (-1.0, 0.0), (0.0, -1.0), (0.0, 0.0)] {
            assert_eq!(atan2(y, x), f64::atan2(y, x));
        }
        assert!(atan2(f64::NAN, 1.0).is_nan() && atan2(1.0, f64::NAN).is_nan());
    }

    #[test]
    fn whole_turns_are_taken_away() {
        for turns in [-1000.0, -1.0, 0.0, 3.0, 4321.0] {
            let near = 0.3 + turns * TAU;
            let off = unwrap(-2.8, near) - (-2.8 + turns * TAU);
            assert!(off.abs() < 1e-11, "{turns}: {off}");
        }
    }
}
