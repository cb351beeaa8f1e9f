//! One number, or a pair of numbers in one SIMD register.
//!
//! The chain kernels are written once over [`Lane`]. A pair does in each half
//! exactly what a single number would do, so results do not depend on which is
//! used. The pair is an explicit SIMD type (two numbers fit the baseline of every
//! 64-bit processor): left to itself the compiler packs columns of a block instead
//! of lanes, and shuffling takes a third of the time.

use std::ops::{Add, Mul, Sub};

use wide::f64x2;

/// Arithmetic on one or two independent numbers.
pub(crate) trait Lane:
    Copy + Send + Sync + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self>
{
    /// The same number in every lane.
    fn splat(value: f64) -> Self;
    /// The number in lane `w`.
    fn get(self, w: usize) -> f64;
    fn minimum(self, other: Self) -> Self;
    fn maximum(self, other: Self) -> Self;
    /// `1/self` where `self > threshold`, zero elsewhere (also for NaN).
    fn reciprocal_above(self, threshold: Self) -> Self;
    /// Zero where the magnitude is below `limit`.
    fn flush(self, limit: f64) -> Self;
}

impl Lane for f64 {
    #[inline(always)]
    fn splat(value: f64) -> Self {
        value
    }

    #[inline(always)]
    fn get(self, _: usize) -> f64 {
        self
    }

    #[inline(always)]
    fn minimum(self, other: Self) -> Self {
        if self < other { self } else { other }
    }

    #[inline(always)]
    fn maximum(self, other: Self) -> Self {
        if self > other { self } else { other }
    }

    #[inline(always)]
    fn reciprocal_above(self, threshold: Self) -> Self {
        if self > threshold { 1.0 / self } else { 0.0 }
    }

    #[inline(always)]
    fn flush(self, limit: f64) -> Self {
        if self.abs() < limit { 0.0 } else { self }
    }
}

/// Two numbers, packed.
#[derive(Clone, Copy)]
pub(crate) struct Pair(f64x2);

impl Pair {
    /// Packs two numbers.
    #[inline(always)]
    pub fn new(a: f64, b: f64) -> Self {
        Self(f64x2::new([a, b]))
    }
}

impl Add for Pair {
    type Output = Self;

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl Sub for Pair {
    type Output = Self;

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}

impl Mul for Pair {
    type Output = Self;

    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        Self(self.0 * other.0)
    }
}

impl Lane for Pair {
    #[inline(always)]
    fn splat(value: f64) -> Self {
        Self(f64x2::splat(value))
    }

    #[inline(always)]
    fn get(self, w: usize) -> f64 {
        self.0.to_array()[w]
    }

    #[inline(always)]
    fn minimum(self, other: Self) -> Self {
        Self(self.0.simd_lt(other.0).select(self.0, other.0))
    }

    #[inline(always)]
    fn maximum(self, other: Self) -> Self {
        Self(self.0.simd_gt(other.0).select(self.0, other.0))
    }

    #[inline(always)]
    fn reciprocal_above(self, threshold: Self) -> Self {
        let keep = self.0.simd_gt(threshold.0);
        Self(keep & (f64x2::ONE / self.0))
    }

    #[inline(always)]
    fn flush(self, limit: f64) -> Self {
        // What is not a number stays.
        let tiny = self.0.abs().simd_lt(f64x2::splat(limit));
        Self(!tiny & self.0)
    }
}
