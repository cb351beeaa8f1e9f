//! What one pass over a block of eight bodies leaves for the next.

use crate::dual::ports::{NO_POINTS, Points, PortBlock};
use crate::math::lanes::{LANES, Lane};

/// What the passes of a step leave of a block of eight bodies, beside the pose and the velocity,
/// which wait in the next state.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(super) struct Slot {
    /// The points of the joints.
    pub ports: PortBlock,
    /// Their velocities, m/s.
    pub rates: Points,
    /// Rotational stiffness of the bodies, N m.
    pub geometric: [Lane; 3],
}

impl Slot {
    pub const ZERO: Slot = Slot {
        ports: PortBlock::NONE,
        rates: NO_POINTS,
        geometric: [[0.0; LANES]; 3],
    };
}
