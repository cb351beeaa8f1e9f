//! What one pass over a block of eight bodies leaves for the next.

use crate::dual::ports::{NO_POINTS, Points, PortBlock};
use crate::integrate::newton::NewtonBlock;
use crate::math::lanes::{LANES, Lane};

/// What the passes of a step leave of a block of eight bodies.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(super) struct Slot {
    /// The points of the joints.
    pub ports: PortBlock,
    /// Their velocities, m/s.
    pub rates: Points,
    /// The pose at the end of the step.
    a: [Lane; 9],
    t: [Lane; 3],
    rot: [Lane; 9],
    w: [Lane; 9],
    v: [Lane; 3],
    geometric: [Lane; 3],
}

impl Slot {
    pub const ZERO: Slot = Slot {
        ports: PortBlock::NONE,
        rates: NO_POINTS,
        a: [[0.0; LANES]; 9],
        t: [[0.0; LANES]; 3],
        rot: [[0.0; LANES]; 9],
        w: [[0.0; LANES]; 9],
        v: [[0.0; LANES]; 3],
        geometric: [[0.0; LANES]; 3],
    };

    /// After the velocity was turned and kicked.
    pub fn keep(&mut self, n: &NewtonBlock) {
        self.a = n.a;
        self.t = n.t;
        self.rot = n.rot;
        self.w = n.w;
        self.v = n.v;
        self.geometric = n.geometric;
    }

    /// What the projection of the velocity needs; the inverse follows from the rest.
    pub fn recall(&self, n: &mut NewtonBlock) {
        n.a = self.a;
        n.t = self.t;
        n.rot = self.rot;
        n.w = self.w;
        n.v = self.v;
        n.geometric = self.geometric;
    }
}
