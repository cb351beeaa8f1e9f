//! Boxes along the axes of the world.

use glam::DVec3;

/// A box along the axes, m.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Bounds {
    pub low: DVec3,
    pub high: DVec3,
}

impl Bounds {
    pub const EVERYTHING: Bounds = Bounds {
        low: DVec3::NEG_INFINITY,
        high: DVec3::INFINITY,
    };

    pub const NOTHING: Bounds = Bounds {
        low: DVec3::INFINITY,
        high: DVec3::NEG_INFINITY,
    };

    /// The longest edge, m.
    pub fn extent(&self) -> f64 {
        (self.high - self.low).max_element()
    }

    pub fn union(&self, other: &Bounds) -> Bounds {
        Bounds {
            low: self.low.min(other.low),
            high: self.high.max(other.high),
        }
    }

    /// Grown by a distance on every side, and swept along a displacement.
    pub fn swept(&self, motion: DVec3, distance: f64) -> Bounds {
        Bounds {
            low: self.low + motion.min(DVec3::ZERO) - DVec3::splat(distance),
            high: self.high + motion.max(DVec3::ZERO) + DVec3::splat(distance),
        }
    }

    #[inline]
    pub fn meets(&self, other: &Bounds) -> bool {
        self.low.x <= other.high.x
            && other.low.x <= self.high.x
            && self.low.y <= other.high.y
            && other.low.y <= self.high.y
            && self.low.z <= other.high.z
            && other.low.z <= self.high.z
    }

    pub fn is_finite(&self) -> bool {
        self.low.is_finite() && self.high.is_finite()
    }
}
