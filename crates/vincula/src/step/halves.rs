//! Passes over blocks of bodies, on one thread or on two.

use super::Workspace;
use crate::dual::ports::PortBlock;
use crate::dual::{Joints, larger};
use crate::integrate::kicks::Kicks;
use crate::integrate::newton::NewtonBlock;
use crate::math::dispatch::Level;
use crate::math::lanes::Lane;
use crate::model::{MemoryBlock, State, StateBlock};
use vincula_blocks::both;

/// Blocks from which on a second thread is worth spawning for a pass.
const WORTH: usize = 512;

/// The block of bodies that a pass is at.
pub(super) struct At<'a> {
    pub index: usize,
    pub n: &'a mut NewtonBlock,
    pub ports: &'a mut PortBlock,
    pub next: &'a mut StateBlock,
    pub memory: &'a mut MemoryBlock,
    pub bent: &'a mut [Lane; 3],
}

/// What every block may read.
#[derive(Clone, Copy)]
pub(super) struct Around<'a> {
    pub level: Level,
    pub joints: Joints<'a>,
    pub kicks: &'a Kicks,
    pub was_bent: bool,
}

/// Everything of the blocks from a place on.
struct Blocks<'a> {
    first: usize,
    newton: &'a mut [NewtonBlock],
    ports: &'a mut [PortBlock],
    next: &'a mut [StateBlock],
    memory: &'a mut [MemoryBlock],
    bent: &'a mut [[Lane; 3]],
}

impl<'a> Blocks<'a> {
    fn split(self, index: usize) -> (Blocks<'a>, Blocks<'a>) {
        let at = index - self.first;
        let (newton, newton_b) = self.newton.split_at_mut(at);
        let (ports, ports_b) = self.ports.split_at_mut(at);
        let (next, next_b) = self.next.split_at_mut(at);
        let (memory, memory_b) = self.memory.split_at_mut(at);
        let (bent, bent_b) = self.bent.split_at_mut(at);
        let before = Blocks {
            first: self.first,
            newton,
            ports,
            next,
            memory,
            bent,
        };
        let after = Blocks {
            first: index,
            newton: newton_b,
            ports: ports_b,
            next: next_b,
            memory: memory_b,
            bent: bent_b,
        };
        (before, after)
    }

    /// Makes the pass over some of these blocks.
    fn run<E>(
        self,
        active: &[usize],
        pass: impl Fn(At<'_>) -> Result<[f64; 2], E>,
    ) -> Result<[f64; 2], E> {
        let mut most = [0.0; 2];
        for &index in active {
            let k = index - self.first;
            let found = pass(At {
                index,
                n: &mut self.newton[k],
                ports: &mut self.ports[k],
                next: &mut self.next[k],
                memory: &mut self.memory[k],
                bent: &mut self.bent[k],
            })?;
            most = [larger(found[0], most[0]), larger(found[1], most[1])];
        }
        Ok(most)
    }
}

impl Workspace {
    /// Threads that passes over bodies use.
    pub(crate) fn block_threads(&self, blocks: usize) -> usize {
        let threads = self.settings.threads.clamp(1, 2);
        if blocks >= WORTH { threads } else { 1 }
    }

    /// Makes a state a copy of another one of the same model, on as many threads.
    pub(super) fn copy_state(&self, from: &State, to: &mut State) {
        to.copy_from(from, self.block_threads(from.blocks.len()));
    }

    /// Makes a pass over the blocks that need Newton's method; they do not see each other. Returns
    /// the largest of what the blocks return, or the error of the first block that has one.
    pub(super) fn each_block<E: Send>(
        &mut self,
        pass: impl Fn(&Around<'_>, At<'_>) -> Result<[f64; 2], E> + Sync,
    ) -> Result<[f64; 2], E> {
        let threads = self.block_threads(self.active.len());
        let (joints, ports) = self.dual.split();
        let around = Around {
            level: self.level,
            joints,
            kicks: &self.kicks,
            was_bent: self.was_bent,
        };
        let blocks = Blocks {
            first: 0,
            newton: &mut self.newton,
            ports,
            next: &mut self.next,
            memory: &mut self.memory,
            bent: &mut self.bent,
        };
        let pass = |at: At<'_>| pass(&around, at);
        if threads < 2 {
            return blocks.run(&self.active, pass);
        }
        let (a, b) = self.active.split_at(self.active.len() / 2);
        let (first, second) = blocks.split(b[0]);
        let (a, b) = both(threads, || first.run(a, pass), || second.run(b, pass));
        let (a, b) = (a?, b?);
        Ok([larger(b[0], a[0]), larger(b[1], a[1])])
    }

    /// The same for a pass that finds nothing and cannot fail.
    pub(super) fn for_each_block(&mut self, pass: impl Fn(&Around<'_>, At<'_>) + Sync) {
        let done = self.each_block(|around, at| {
            pass(around, at);
            Ok::<_, std::convert::Infallible>([0.0; 2])
        });
        match done {
            Ok(_) => {}
            Err(never) => match never {},
        }
    }
}
