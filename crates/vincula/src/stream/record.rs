//! What is known of the points of a block of eight bodies while a pass is near it.

use std::ops::Range;

use vincula_blocks::LineSource;

use super::passes::{Pass, prepare};
use crate::dual::ports::{NO_POINTS, Points, PortBlock};
use crate::integrate::newton::NewtonBlock;

/// The points of a block of eight bodies.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(super) struct Slot {
    pub ports: PortBlock,
    /// Velocities of the points, m/s.
    pub rates: Points,
}

impl Slot {
    pub const ZERO: Slot = Slot {
        ports: PortBlock::NONE,
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
    n: NewtonBlock,
}

impl Window {
    pub fn new() -> Window {
        Window {
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

/// The dual system of a chain, made on the way.
pub(super) struct Ahead<'a> {
    pub pass: &'a Pass<'a>,
    pub window: &'a mut Window,
    /// Its first joint.
    pub first: usize,
}

impl Ahead<'_> {
    #[inline(always)]
    fn slot(&self, block: usize) -> &Slot {
        &self.window.slots[block % WINDOW]
    }
}

impl LineSource for Ahead<'_> {
    fn look(&mut self, nodes: Range<usize>) -> bool {
        let joints = self.first + nodes.start..self.first + nodes.end;
        let Window { slots, blocks, n } = &mut *self.window;
        self.pass.links.blocks_of(&joints).all(|block| {
            let at = block % WINDOW;
            if blocks[at] == block {
                return true;
            }
            blocks[at] = block;
            prepare(self.pass, block, n, &mut slots[at]).is_some()
        })
    }

    #[inline(always)]
    fn diagonal(&self, node: usize) -> [[f64; 3]; 3] {
        let links = self.pass.links;
        links.diagonal(self.first + node, |block| self.slot(block))
    }

    #[inline(always)]
    fn coupling(&self, node: usize) -> [[f64; 3]; 3] {
        let links = self.pass.links;
        links.coupling(self.first + node, |block| self.slot(block))
    }

    #[inline(always)]
    fn right(&self, node: usize) -> [f64; 3] {
        let links = self.pass.links;
        links.gap(self.first + node, |block| self.slot(block))
    }
}

/// The same, where all blocks are made already.
pub(super) struct Made<'a> {
    pub pass: &'a Pass<'a>,
    pub slots: &'a [Slot],
    pub first: usize,
}

impl LineSource for Made<'_> {
    fn look(&mut self, _: Range<usize>) -> bool {
        true
    }

    #[inline(always)]
    fn diagonal(&self, node: usize) -> [[f64; 3]; 3] {
        let links = self.pass.links;
        links.diagonal(self.first + node, |block| &self.slots[block])
    }

    #[inline(always)]
    fn coupling(&self, node: usize) -> [[f64; 3]; 3] {
        let links = self.pass.links;
        links.coupling(self.first + node, |block| &self.slots[block])
    }

    #[inline(always)]
    fn right(&self, node: usize) -> [f64; 3] {
        let links = self.pass.links;
        links.gap(self.first + node, |block| &self.slots[block])
    }
}
