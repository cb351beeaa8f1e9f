//! What acts on bodies during half a step, beside joints and contacts.

use glam::DVec3;

use crate::math::lanes::{LANES, Lane};

/// What acts on eight bodies in a half kick.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct KickBlock {
    /// Acceleration, gravity included, m/s².
    pub acceleration: [Lane; 3],
    /// Torque, world, N m.
    pub torque: [Lane; 3],
    /// Factor by which half a step damps the velocity relative to the wind.
    pub linear_decay: Lane,
    /// Factor by which half a step damps the rotation about each principal axis.
    pub angular_decay: [Lane; 3],
    /// Velocity of the air, m/s.
    pub wind: [Lane; 3],
}

impl KickBlock {
    /// Nothing acts.
    pub const NONE: KickBlock = KickBlock {
        acceleration: [[0.0; LANES]; 3],
        torque: [[0.0; LANES]; 3],
        linear_decay: [1.0; LANES],
        angular_decay: [[1.0; LANES]; 3],
        wind: [[0.0; LANES]; 3],
    };
}

/// What acts on all blocks of bodies. Most of a large world knows nothing but gravity, and shares what
/// is said of that.
#[derive(Clone, Debug)]
pub(crate) struct Kicks {
    /// First what all others share.
    blocks: Vec<KickBlock>,
    /// Which of these acts on a block of bodies.
    places: Vec<u32>,
}

impl Kicks {
    /// For so many blocks of bodies on which nothing acts.
    pub fn none(blocks: usize) -> Kicks {
        Kicks {
            blocks: vec![KickBlock::NONE],
            places: vec![0; blocks],
        }
    }

    /// What acts on a block.
    #[inline(always)]
    pub fn of(&self, block: usize) -> &KickBlock {
        &self.blocks[self.places[block] as usize]
    }

    /// Gravity acts on all bodies, m/s², and nothing else.
    pub fn reset(&mut self, gravity: DVec3) {
        self.places.fill(0);
        self.blocks.truncate(1);
        self.blocks[0].acceleration = gravity.to_array().map(|g| [g; LANES]);
    }

    /// What acts on a block, to be changed for this block alone.
    pub fn own(&mut self, block: usize) -> &mut KickBlock {
        if self.places[block] == 0 {
            self.places[block] = self.blocks.len() as u32;
            self.blocks.push(self.blocks[0].clone());
        }
        &mut self.blocks[self.places[block] as usize]
    }
}
