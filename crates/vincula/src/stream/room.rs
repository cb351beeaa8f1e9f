//! Where passes read and write, by block of eight bodies.

use std::ops::Range;

use vincula_blocks::both;

use super::passes::{AHEAD, Ending, Pass, fetch_start};
use super::record::Slot;
use crate::dual::larger;
use crate::integrate::newton::NewtonBlock;
use crate::math::ahead::fetch;
use crate::math::lanes::Lane;
use crate::model::{MemoryBlock, StateBlock};

/// Some blocks that follow each other.
pub(super) struct Room<'a> {
    /// The first of them.
    pub first: usize,
    /// The unknowns and their points; empty where predicting twice is cheaper than keeping them.
    pub newton: &'a mut [NewtonBlock],
    pub slots: &'a mut [Slot],
    /// What bodies were bent by, rad.
    pub turns: &'a mut [[Lane; 3]],
    /// Rotational stiffness of the bodies, N m; only where nothing is kept.
    pub geometric: &'a mut [[Lane; 3]],
    /// The next state.
    pub next: &'a mut [StateBlock],
    /// What the next step is to remember.
    pub memory: &'a mut [MemoryBlock],
}

/// One block that is kept.
pub(super) struct At<'a> {
    pub block: usize,
    pub n: &'a mut NewtonBlock,
    pub slot: &'a mut Slot,
    pub turn: &'a mut [Lane; 3],
    pub ending: Ending<'a>,
}

impl<'a> Room<'a> {
    /// Whether unknowns are kept from one pass to the next.
    pub fn is_kept(&self) -> bool {
        !self.newton.is_empty()
    }

    pub fn range(&self) -> Range<usize> {
        self.first..self.first + self.next.len()
    }

    /// The same for a shorter time.
    pub fn again(&mut self) -> Room<'_> {
        Room {
            first: self.first,
            newton: self.newton,
            slots: self.slots,
            turns: self.turns,
            geometric: self.geometric,
            next: self.next,
            memory: self.memory,
        }
    }

    /// Asks for a third of what the second pass over the block a little after the one at `k` reads
    /// and writes.
    #[inline(always)]
    pub fn fetch_ahead(&self, pass: &Pass, k: usize, third: usize) {
        fetch_start(pass, self.first + k + AHEAD, third);
        self.fetch_ending(k + AHEAD, third);
    }

    /// Asks for all that the last pass writes there.
    #[inline(always)]
    pub fn fetch_last(&self, k: usize) {
        (0..3).for_each(|third| self.fetch_ending(k + AHEAD, third));
    }

    /// Asks for a third of what passes over the block at `k` write.
    #[inline(always)]
    fn fetch_ending(&self, k: usize, third: usize) {
        fetch(self.next, k, [third, 3]);
        fetch(self.memory, k, [third, 3]);
    }

    /// What passes over the block at `k` write.
    pub fn ending(&mut self, k: usize) -> Ending<'_> {
        Ending {
            geometric: &mut self.geometric[k],
            next: &mut self.next[k],
            memory: &mut self.memory[k],
        }
    }

    /// The blocks before and from `half` on.
    pub fn split(self, half: usize) -> (Room<'a>, Room<'a>) {
        let kept = half.min(self.newton.len());
        let (newton, newton2) = self.newton.split_at_mut(kept);
        let (slots, slots2) = self.slots.split_at_mut(kept);
        let (turns, turns2) = self.turns.split_at_mut(half);
        let (geometric, geometric2) = self.geometric.split_at_mut(half);
        let (next, next2) = self.next.split_at_mut(half);
        let (memory, memory2) = self.memory.split_at_mut(half);
        let one = Room {
            first: self.first,
            newton,
            slots,
            turns,
            geometric,
            next,
            memory,
        };
        let two = Room {
            first: self.first + half,
            newton: newton2,
            slots: slots2,
            turns: turns2,
            geometric: geometric2,
            next: next2,
            memory: memory2,
        };
        (one, two)
    }

    /// Runs a pass over all blocks, which are kept, in two halves on two threads. Returns the
    /// largest of what it returns, or nothing if it returns nothing for one.
    pub fn each(
        &mut self,
        threads: usize,
        run: impl Fn(At) -> Option<[f64; 2]> + Sync,
    ) -> Option<[f64; 2]> {
        in_halves(threads, self.again(), Room::halve, |room| room.walk(&run))
    }

    fn halve(self) -> (Room<'a>, Room<'a>) {
        let half = self.next.len() / 2;
        self.split(half)
    }

    fn walk(self, run: impl Fn(At) -> Option<[f64; 2]>) -> Option<[f64; 2]> {
        let mut most = [0.0; 2];
        for (k, (n, slot)) in self.newton.iter_mut().zip(self.slots).enumerate() {
            let found = run(At {
                block: self.first + k,
                n,
                slot,
                turn: &mut self.turns[k],
                ending: Ending {
                    geometric: &mut self.geometric[k],
                    next: &mut self.next[k],
                    memory: &mut self.memory[k],
                },
            })?;
            most = [0, 1].map(|k| larger(found[k], most[k]));
        }
        Some(most)
    }
}

/// Runs something on a whole, or on its halves on two threads. Returns the largest of what they
/// return, or nothing if one returns nothing.
pub(super) fn in_halves<T: Send>(
    threads: usize,
    whole: T,
    split: impl Fn(T) -> (T, T),
    run: impl Fn(T) -> Option<[f64; 2]> + Sync,
) -> Option<[f64; 2]> {
    if threads < 2 {
        return run(whole);
    }
    let (one, two) = split(whole);
    let (one, two) = both(threads, || run(one), || run(two));
    let (one, two) = (one?, two?);
    Some([0, 1].map(|k| larger(one[k], two[k])))
}
