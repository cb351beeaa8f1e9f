//! Numbers for tests that are the same in every run.

use glam::DVec3;

/// A linear congruential generator (Knuth's MMIX).
pub(crate) struct Numbers(pub u64);

impl Numbers {
    /// A number from 0 to 1.
    pub fn unit(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A number from −1 to 1.
    pub fn next(&mut self) -> f64 {
        2.0 * self.unit() - 1.0
    }

    /// Three numbers from −1 to 1.
    pub fn vector(&mut self) -> DVec3 {
        DVec3::new(self.next(), self.next(), self.next())
    }
}
