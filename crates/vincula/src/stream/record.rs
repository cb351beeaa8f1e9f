//! What is known of the points of a block of eight bodies while a pass is near it.

use std::ops::Range;

use vincula_blocks::{Line, LineSource};

use super::links::Chain;
use super::passes::{Pass, prepare};
use crate::dual::ports::{Compliances, NO_POINTS, Points};
use crate::integrate::newton::NewtonBlock;
use crate::math::ahead::fetch;
use crate::math::lanes::{LANES, place};

/// The points of a block of eight bodies.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(super) struct Slot {
    /// Places of the points, m, or how far they drift in a step.
    pub place: Points,
    pub compliances: Compliances,
    /// Forces at the points, N.
    pub force: Points,
    /// Velocities of the points, m/s.
    pub rates: Points,
}

impl Slot {
    /// How far the points move in a step at these rates, m.
    #[inline(always)]
    pub fn drifts(&self, h: f64) -> Points {
        self.rates
            .map(|rates| rates.map(|rate| rate.map(|v| h * v)))
    }

    pub const ZERO: Slot = Slot {
        place: NO_POINTS,
        compliances: Compliances::NONE,
        force: NO_POINTS,
        rates: NO_POINTS,
    };
}

/// Blocks in a window, a power of two: those of the joints that are looked at together.
pub(super) const WINDOW: usize = 32;
/// No block.
const NONE: usize = usize::MAX;

/// Slots of blocks that follow each other, made when they are looked at.
pub(super) struct Window {
    slots: Vec<Slot>,
    /// Which block each is of.
    blocks: [usize; WINDOW],
    /// From which body to the one that will be looked at next.
    ahead: isize,
    n: NewtonBlock,
}

impl Window {
    /// A window that moves on to higher blocks, or to lower ones.
    pub fn new(backwards: bool) -> Window {
        let ahead = Line::WINDOW as isize;
        Window {
            ahead: if backwards { -ahead } else { ahead },
            slots: vec![Slot::ZERO; WINDOW],
            blocks: [NONE; WINDOW],
            n: NewtonBlock::ZERO,
        }
    }

    /// Another step.
    pub fn clear(&mut self) {
        self.blocks = [NONE; WINDOW];
    }
}

/// Where the slots of blocks are.
pub(super) trait Slots: Send {
    /// Makes sure of some blocks in a row; false if one is crushed.
    fn look(&mut self, pass: &Pass, blocks: Range<usize>) -> bool;
    /// The slot of one of them.
    fn slot(&self, block: usize) -> &Slot;
    /// A body is done with: time to ask for another.
    fn pass_by(&self, pass: &Pass, body: usize);
}

impl Slots for &mut Window {
    fn look(&mut self, pass: &Pass, mut wanted: Range<usize>) -> bool {
        let Window {
            slots, blocks, n, ..
        } = &mut **self;
        wanted.all(|block| {
            let at = block % WINDOW;
            if blocks[at] == block {
                return true;
            }
            blocks[at] = block;
            prepare(pass, block, false, n, &mut slots[at]).is_some()
        })
    }

    #[inline(always)]
    fn slot(&self, block: usize) -> &Slot {
        &self.slots[block % WINDOW]
    }

    #[inline(always)]
    fn pass_by(&self, pass: &Pass, body: usize) {
        let (block, lane) = place(body.wrapping_add_signed(self.ahead));
        fetch(&pass.state.blocks, block, [lane, LANES]);
        fetch(&pass.state.memory, block, [lane, LANES]);
    }
}

/// All blocks, made before.
impl Slots for &[Slot] {
    fn look(&mut self, _: &Pass, _: Range<usize>) -> bool {
        true
    }

    #[inline(always)]
    fn slot(&self, block: usize) -> &Slot {
        &self[block]
    }

    fn pass_by(&self, _: &Pass, _: usize) {}
}

/// The dual system of a chain.
pub(super) struct Source<'a, S> {
    pub pass: &'a Pass<'a>,
    pub chain: &'a Chain,
    pub slots: S,
    /// Points of the world are where they are times this.
    pub world: f64,
}

impl<S: Slots> LineSource for Source<'_, S> {
    fn look(&mut self, nodes: Range<usize>) -> bool {
        self.slots.look(self.pass, self.chain.blocks_of(&nodes))
    }

    #[inline(always)]
    fn diagonal(&self, node: usize) -> [[f64; 3]; 3] {
        self.chain.diagonal(node, |block| self.slots.slot(block))
    }

    #[inline(always)]
    fn coupling(&self, node: usize) -> [[f64; 3]; 3] {
        self.chain.coupling(node, |block| self.slots.slot(block))
    }

    #[inline(always)]
    fn right(&self, node: usize) -> [f64; 3] {
        let slot = |block| self.slots.slot(block);
        self.slots.pass_by(self.pass, self.chain.upper + node);
        self.chain.gap(node, self.world, slot)
    }
}
