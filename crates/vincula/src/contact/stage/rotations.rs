//! The rotations that contacts see.

use crate::contact::movers::Mover;
use crate::integrate::newton::polar_block;
use crate::math::dispatch::detected;
use crate::math::lanes::{LANES, Lane, gather, place};
use crate::math::rotation::polar;
use crate::math::small::M3;

/// Rotations of eight bodies at a time, for movers that come one after the other: those of one block
/// mostly follow each other.
pub(super) struct Rotations {
    /// The block that is at hand, if each of its bodies has one.
    block: Option<usize>,
    all: [Lane; 9],
}

impl Rotations {
    pub fn new() -> Rotations {
        Rotations {
            block: None,
            all: [[0.0; LANES]; 9],
        }
    }

    /// The rotation of a body whose map is one of those that `maps` has of its block.
    pub fn of<'a>(&mut self, mover: &Mover, maps: impl FnOnce(usize) -> &'a [Lane; 9]) -> M3 {
        let (block, lane) = place(mover.body as usize);
        if mover.loose {
            return gather(maps(block), lane);
        }
        if self.block == Some(block) {
            return gather(&self.all, lane);
        }
        let maps = maps(block);
        let found = polar_block(detected(), maps, &mut self.all);
        self.block = found.then_some(block);
        if found {
            return gather(&self.all, lane);
        }
        // A map without a rotation is refused where the step ends.
        let map = gather(maps, lane);
        polar(&map).unwrap_or(map)
    }
}
