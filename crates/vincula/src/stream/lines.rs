//! Chains: the passes over their bodies, and what is kept from one to the next.

use std::ops::Range;

use vincula_blocks::{Line, both};

use super::kinds::Kinds;
use super::links::Links;
use super::passes::{Ending, Pass, answer, finish, prepare, write_down};
use super::record::{Slot, Source, Window};
use super::{Forces, REMEMBERED, Target};
use crate::dual::larger;
use crate::integrate::newton::NewtonBlock;
use crate::math::lanes::{LANES, Lane};
use crate::model::{MemoryBlock, Model, StateBlock};

/// Bodies a thread is worth.
const WORTH_A_THREAD: usize = 8192;

/// Chains of ball joints, and the memory of their step.
pub(super) struct Lines {
    links: Links,
    /// Each chain: its joints and its factors.
    chains: Vec<(Range<usize>, Line)>,
    pub threads: usize,
    /// The unknowns and their points; empty where predicting twice is cheaper than keeping them.
    newton: Vec<NewtonBlock>,
    slots: Vec<Slot>,
    /// For either end of a chain.
    windows: [Window; 2],
    /// Rotational stiffness of the bodies, N m; only where nothing is kept.
    geometric: Vec<[Lane; 3]>,
}

impl Lines {
    /// The chains of a model, if it is made of such.
    pub fn find(model: &Model, threads: usize) -> Option<(Lines, Kinds)> {
        let most = model.bodies.len() / WORTH_A_THREAD;
        let threads = threads.min(most).clamp(1, 2);
        Lines::with(model, threads, model.bodies.len() <= REMEMBERED)
    }

    /// The same on so many threads.
    pub fn with(model: &Model, threads: usize, keep: bool) -> Option<(Lines, Kinds)> {
        let (links, kinds) = Links::find(model)?;
        let blocks = model.params.len();
        let chains = links.chains();
        if !chains.iter().all(|chain| links.fits(chain)) {
            return None;
        }
        let alone = chains.len() == 1;
        let kept = if keep { blocks } else { 0 };
        let lines = Lines {
            chains: chains
                .into_iter()
                .map(|chain| (chain.clone(), Line::new(chain.len(), alone && threads > 1)))
                .collect(),
            links,
            threads,
            newton: vec![NewtonBlock::ZERO; kept],
            slots: vec![Slot::ZERO; kept],
            windows: [Window::new(), Window::new()],
            geometric: vec![[[0.0; LANES]; 3]; blocks],
        };
        Some((lines, kinds))
    }

    /// The next state and the joint forces. Returns the largest change of an entry of A and how far
    /// joints are open, m; nothing if the step is out of the ordinary.
    pub fn advance(
        &mut self,
        pass: &Pass,
        [first, second]: &mut Forces,
        target: Target,
    ) -> Option<[f64; 2]> {
        let links = &self.links;
        let mut blocks = Blocks {
            first: 0,
            newton: &mut self.newton,
            slots: &mut self.slots,
            geometric: &mut self.geometric,
            next: target.next,
            memory: target.memory,
            drifts: second,
        };
        let run = |blocks: Blocks, run: &(dyn Fn(Blocks) -> Option<[f64; 2]> + Sync)| {
            in_halves(self.threads, blocks, links, run)
        };
        let kept = !blocks.newton.is_empty();
        if kept {
            run(blocks.again(), &|at| prepare_all(pass, at))?;
        }
        self.windows.iter_mut().for_each(Window::clear);
        for (chain, line) in &mut self.chains {
            let forces = &mut first[chain.clone()];
            let first = chain.start;
            let safe = if kept {
                let slots = &*blocks.slots;
                let source = || Source {
                    pass,
                    links,
                    slots,
                    first,
                };
                line.factor_solve(&mut [source(), source()], forces)
            } else {
                let sources = self.windows.each_mut().map(|slots| Source {
                    pass,
                    links,
                    slots,
                    first,
                });
                line.factor_solve(&mut { sources }, forces)
            };
            if !safe {
                return None;
            }
        }
        let found = run(blocks.again(), &|at| answer_all(pass, links, first, at))?;
        for (chain, line) in &self.chains {
            line.solve(&mut blocks.drifts[chain.clone()]);
        }
        let second = std::mem::take(&mut blocks.drifts);
        run(blocks, &|at| finish_all(pass, links, second, at))?;
        Some(found)
    }
}

/// What the passes write, by block.
struct Blocks<'a> {
    /// The first of them.
    first: usize,
    /// The unknowns and their points; empty where predicting twice is cheaper than keeping them.
    newton: &'a mut [NewtonBlock],
    slots: &'a mut [Slot],
    /// Rotational stiffness of the bodies, N m.
    geometric: &'a mut [[Lane; 3]],
    /// The next state.
    next: &'a mut [StateBlock],
    /// What the next step is to remember.
    memory: &'a mut [MemoryBlock],
    /// By joint: how they drift apart in a step, m.
    drifts: &'a mut [[f64; 3]],
}

impl<'a> Blocks<'a> {
    /// The same for a shorter time.
    fn again(&mut self) -> Blocks<'_> {
        Blocks {
            first: self.first,
            newton: self.newton,
            slots: self.slots,
            geometric: self.geometric,
            next: self.next,
            memory: self.memory,
            drifts: self.drifts,
        }
    }

    fn split(self, half: usize, joint: usize) -> (Blocks<'a>, Blocks<'a>) {
        let kept = half.min(self.newton.len());
        let (newton, newton2) = self.newton.split_at_mut(kept);
        let (slots, slots2) = self.slots.split_at_mut(kept);
        let (geometric, geometric2) = self.geometric.split_at_mut(half);
        let (next, next2) = self.next.split_at_mut(half);
        let (memory, memory2) = self.memory.split_at_mut(half);
        let (drifts, drifts2) = self.drifts.split_at_mut(joint.min(self.drifts.len()));
        let first = Blocks {
            first: 0,
            newton,
            slots,
            geometric,
            next,
            memory,
            drifts,
        };
        let second = Blocks {
            first: half,
            newton: newton2,
            slots: slots2,
            geometric: geometric2,
            next: next2,
            memory: memory2,
            drifts: drifts2,
        };
        (first, second)
    }

    fn range(&self) -> Range<usize> {
        self.first..self.first + self.next.len()
    }
}

/// Runs a pass over all blocks, on one or two threads. Returns the largest of what the parts
/// return, or nothing if one returns nothing.
fn in_halves(
    threads: usize,
    blocks: Blocks,
    links: &Links,
    run: impl Fn(Blocks) -> Option<[f64; 2]> + Sync,
) -> Option<[f64; 2]> {
    if threads < 2 {
        return run(blocks);
    }
    let half = blocks.next.len() / 2;
    let (first, second) = blocks.split(half, links.joints_of(half).start);
    let (first, second) = both(threads, || run(first), || run(second));
    let (first, second) = (first?, second?);
    Some([0, 1].map(|k| larger(first[k], second[k])))
}

/// First pass over all blocks, where they are kept.
fn prepare_all(pass: &Pass, blocks: Blocks) -> Option<[f64; 2]> {
    let kept = blocks.newton.iter_mut().zip(blocks.slots);
    for (k, (n, slot)) in kept.enumerate() {
        prepare(pass, blocks.first + k, n, slot)?;
    }
    Some([0.0; 2])
}

/// Second pass over all blocks, and how their joints drift apart. Returns the largest change of an
/// entry of A and how far joints are open, m.
fn answer_all(pass: &Pass, links: &Links, forces: &[[f64; 3]], blocks: Blocks) -> Option<[f64; 2]> {
    let kept = !blocks.newton.is_empty();
    let mut local = NewtonBlock::ZERO;
    // Of the block at hand and of the one before.
    let mut slots = [Slot::ZERO, Slot::ZERO];
    let range = blocks.range();
    let start = links.joints_of(range.start).start;
    if range.start > 0 {
        let before = range.start - 1;
        let slot = &mut slots[before % 2];
        links.put_forces(before, forces, &mut slot.ports.force);
        answer(pass, before, false, &mut local, slot)?;
    }
    let (mut update, mut open) = (0.0, 0.0);
    for block in range.clone() {
        let k = block - range.start;
        let n = blocks.newton.get_mut(k).unwrap_or(&mut local);
        let slot = &mut slots[block % 2];
        links.put_forces(block, forces, &mut slot.ports.force);
        let change = answer(pass, block, kept, n, slot)?;
        update = larger(change, update);
        if !kept {
            blocks.geometric[k] = n.geometric;
            write_down(n, &mut blocks.next[k]);
        }
        for joint in links.joints_of(block) {
            let slot = |block: usize| &slots[block % 2];
            blocks.drifts[joint - start] = links.drift(joint, pass.scheme.h, slot);
            for gap in links.gap(joint, slot) {
                open = larger(gap.abs(), open);
            }
        }
    }
    Some([update, open])
}

/// Third pass over all blocks.
fn finish_all(pass: &Pass, links: &Links, forces: &[[f64; 3]], blocks: Blocks) -> Option<[f64; 2]> {
    let kept = !blocks.newton.is_empty();
    let mut local = NewtonBlock::ZERO;
    let mut slot = Slot::ZERO;
    for block in blocks.range() {
        let k = block - blocks.first;
        let n = blocks.newton.get_mut(k).unwrap_or(&mut local);
        links.put_forces(block, forces, &mut slot.ports.force);
        let ending = Ending {
            geometric: &blocks.geometric[k],
            next: &mut blocks.next[k],
            memory: &mut blocks.memory[k],
        };
        finish(pass, block, kept, n, &mut slot, ending)?;
    }
    Some([0.0; 2])
}
