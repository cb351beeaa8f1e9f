//! One number, or a pair of numbers in one SIMD register.
//!
//! The chain kernels are written once over [`Lane`]. A pair does in each half
//! exactly what a single number would do, so results do not depend on which is
//! used.

/// Arithmetic on one or two independent numbers.
pub(crate) trait Lane: Copy + Send + Sync {
    /// The same number in every lane.
    fn splat(value: f64) -> Self;
    /// The number in lane `w`.
    fn get(self, w: usize) -> f64;
    fn add(self, other: Self) -> Self;
    fn subtract(self, other: Self) -> Self;
    fn multiply(self, other: Self) -> Self;
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
    fn add(self, other: Self) -> Self {
        self + other
    }

    #[inline(always)]
    fn subtract(self, other: Self) -> Self {
        self - other
    }

    #[inline(always)]
    fn multiply(self, other: Self) -> Self {
        self * other
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

/// Two numbers.
#[derive(Clone, Copy)]
pub(crate) struct Pair([f64; 2]);

impl Pair {
    /// Packs two numbers.
    #[inline(always)]
    pub fn new(a: f64, b: f64) -> Self {
        Self([a, b])
    }

    #[inline(always)]
    fn zip(self, other: Self, work: impl Fn(f64, f64) -> f64) -> Self {
        Self([work(self.0[0], other.0[0]), work(self.0[1], other.0[1])])
    }
}

impl Lane for Pair {
    fn splat(value: f64) -> Self {
        Self([value; 2])
    }

    fn get(self, w: usize) -> f64 {
        self.0[w]
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self.zip(other, Lane::add)
    }

    #[inline(always)]
    fn subtract(self, other: Self) -> Self {
        self.zip(other, Lane::subtract)
    }

    #[inline(always)]
    fn multiply(self, other: Self) -> Self {
        self.zip(other, Lane::multiply)
    }

    #[inline(always)]
    fn minimum(self, other: Self) -> Self {
        self.zip(other, Lane::minimum)
    }

    #[inline(always)]
    fn maximum(self, other: Self) -> Self {
        self.zip(other, Lane::maximum)
    }

    #[inline(always)]
    fn reciprocal_above(self, threshold: Self) -> Self {
        self.zip(threshold, Lane::reciprocal_above)
    }

    #[inline(always)]
    fn flush(self, limit: f64) -> Self {
        Self(self.0.map(|value| value.flush(limit)))
    }
}
