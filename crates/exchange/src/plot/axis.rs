//! From values to fractions of an axis.
//!
//! u = (t(v) − t(low)) / (t(high) − t(low)) with t the identity or log₁₀.

use super::ticks::{self, Ticks};

/// Larger magnitudes cannot be subtracted safely and count as infinite.
const LARGEST: f64 = 1e300;
/// Ranges narrower than this share of their magnitude are rounding, not data.
const NARROWEST: f64 = 1e-13;

/// The extent of all values that can be shown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Extent {
    low: f64,
    high: f64,
}

/// One axis with its ticks.
#[derive(Clone, Debug)]
pub(super) struct Axis {
    log: bool,
    low: f64,
    high: f64,
    pub ticks: Ticks,
}

/// Whether a value has a place on an axis.
pub(super) fn is_shown(value: f64, log: bool) -> bool {
    value.abs() <= LARGEST && (!log || value >= 1.0 / LARGEST)
}

impl Extent {
    /// The smallest extent that holds all the values, which must all have a place.
    pub fn of(values: impl Iterator<Item = f64>) -> Option<Extent> {
        values.fold(None, |extent, value| {
            let (low, high) = extent.map_or((value, value), |e: Extent| (e.low, e.high));
            Some(Extent {
                low: low.min(value),
                high: high.max(value),
            })
        })
    }
}

impl Axis {
    /// An axis around `extent` with a share `margin` of it free on both sides and at
    /// most about `count` ticks.
    pub fn new(extent: Option<Extent>, log: bool, margin: f64, count: usize) -> Axis {
        let (low, high) = match (extent, log) {
            (None, false) => (0.0, 1.0),
            (None, true) => (0.1, 10.0),
            (Some(extent), false) => widen_linear(extent, margin),
            (Some(extent), true) => widen_logarithmic(extent, margin),
        };
        let ticks = if log {
            ticks::logarithmic(low, high, count)
        } else {
            ticks::linear(low, high, count)
        };
        Axis {
            log,
            low,
            high,
            ticks,
        }
    }

    /// Where a value lies, from 0 at the low end to 1 at the high end.
    pub fn fraction(&self, value: f64) -> f64 {
        if self.log {
            let (low, high) = (self.low.log10(), self.high.log10());
            (value.log10() - low) / (high - low)
        } else {
            (value - self.low) / (self.high - self.low)
        }
    }
}

fn widen_linear(Extent { low, high }: Extent, margin: f64) -> (f64, f64) {
    let magnitude = low.abs().max(high.abs());
    let span = high - low;
    if span > NARROWEST * magnitude && span > 1.0 / LARGEST {
        return (low - margin * span, high + margin * span);
    }
    let middle = 0.5 * low + 0.5 * high;
    let half = if magnitude > 10.0 / LARGEST {
        0.1 * magnitude
    } else {
        1.0
    };
    (middle - half, middle + half)
}

fn widen_logarithmic(Extent { low, high }: Extent, margin: f64) -> (f64, f64) {
    let (from, to) = (low.log10(), high.log10());
    if to - from > 1e-9 {
        let free = margin * (to - from);
        return (10f64.powf(from - free), 10f64.powf(to + free));
    }
    (low / 4.0, high * 4.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_map_to_zero_and_one() {
        let extent = Extent::of([3.0, -1.0, 2.0].into_iter());
        let axis = Axis::new(extent, false, 0.0, 5);
        assert_eq!((axis.fraction(-1.0), axis.fraction(3.0)), (0.0, 1.0));
        let axis = Axis::new(Extent::of([1e-3, 1e3].into_iter()), true, 0.0, 5);
        assert!((axis.fraction(1.0) - 0.5).abs() < 1e-12);
    }

    #[test]
    fn constants_sit_in_the_middle() {
        for value in [0.0, 5.0, -1e-12, 1e299, 1e-305] {
            let axis = Axis::new(Extent::of([value].into_iter()), false, 0.05, 5);
            assert!((axis.fraction(value) - 0.5).abs() < 1e-9, "{value}");
            assert!(!axis.ticks.major.is_empty(), "{value}");
        }
        let axis = Axis::new(Extent::of([7.0].into_iter()), true, 0.05, 5);
        assert!((axis.fraction(7.0) - 0.5).abs() < 1e-9);
    }
}
