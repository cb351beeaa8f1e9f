//! Chains: the passes over their bodies, and what is kept from one to the next.

use vincula_blocks::Line;

use super::Forces;
use super::far::Ties;
use super::kinds::Kinds;
use super::links::Links;
use super::passes::{Pass, answer, finish, prepare};
use super::record::{Slot, Source, Window};
use super::room::{Room, in_halves};
use crate::dual::larger;
use crate::integrate::newton::NewtonBlock;
use crate::model::Model;

/// Bodies a thread is worth.
const WORTH_A_THREAD: usize = 8192;

/// Chains of ball joints, and the memory of their step.
pub(super) struct Lines {
    links: Links,
    /// The factors of each chain.
    factors: Vec<Line>,
    pub threads: usize,
    /// For either end of a chain.
    windows: [Window; 2],
}

impl Lines {
    /// The chains of a model, if it is made of such.
    pub fn find(model: &Model, threads: usize) -> Option<(Lines, Kinds)> {
        let most = model.bodies.len() / WORTH_A_THREAD;
        let threads = threads.min(most).clamp(1, 2);
        Lines::with(model, threads)
    }

    /// The same on so many threads.
    pub fn with(model: &Model, threads: usize) -> Option<(Lines, Kinds)> {
        let (links, kinds) = Links::find(model)?;
        let split = links.chains.len() == 1 && threads > 1;
        let factors = links.chains.iter();
        let lines = Lines {
            factors: factors
                .map(|chain| Line::new(chain.joints.len(), split))
                .collect(),
            links,
            threads,
            windows: [false, true].map(Window::new),
        };
        Some((lines, kinds))
    }

    /// The next state and the joint forces. Returns the largest change of an entry of A and how far
    /// joints are open, m; nothing if the step is out of the ordinary.
    pub fn advance(
        &mut self,
        pass: &Pass,
        [first, second]: &mut Forces,
        room: Room,
    ) -> Option<[f64; 2]> {
        let links = &self.links;
        let mut blocks = Blocks {
            room,
            drifts: second,
        };
        let run = |blocks: Blocks, run: &(dyn Fn(Blocks) -> Option<[f64; 2]> + Sync)| {
            in_halves(self.threads, blocks, |at| at.split(links), run)
        };
        let kept = blocks.room.is_kept();
        if kept {
            run(blocks.again(), &|at| prepare_all(pass, at.room))?;
        }
        self.windows.iter_mut().for_each(Window::clear);
        for (chain, line) in links.chains.iter().zip(&mut self.factors) {
            let forces = &mut first[chain.joints.clone()];
            let safe = if kept {
                let slots = &*blocks.room.slots;
                let source = || Source {
                    pass,
                    chain,
                    slots,
                    world: 1.0,
                };
                line.factor_solve(&mut [source(), source()], forces)
            } else {
                let sources = self.windows.each_mut().map(|slots| Source {
                    pass,
                    chain,
                    slots,
                    world: 1.0,
                });
                line.factor_solve(&mut { sources }, forces)
            };
            if !safe {
                return None;
            }
        }
        let found = run(blocks.again(), &|at| answer_all(pass, links, first, at))?;
        if !pass.projects {
            return Some(found);
        }
        for (chain, line) in links.chains.iter().zip(&self.factors) {
            line.solve(&mut blocks.drifts[chain.joints.clone()]);
        }
        let second = std::mem::take(&mut blocks.drifts);
        run(blocks, &|at| finish_all(pass, links, second, at.room))?;
        Some(found)
    }
}

impl Lines {
    /// Gives forces the directions in which the joints were written down.
    pub fn turn_back(&self, forces: &mut Forces<'_>) {
        for forces in forces {
            self.links.turn_back(forces);
        }
    }
}

impl Ties for Lines {
    fn threads(&self) -> usize {
        self.threads
    }

    fn solve(
        &mut self,
        pass: &Pass,
        _: &[NewtonBlock],
        slots: &mut [Slot],
        fresh: bool,
        world: f64,
        forces: &mut [[f64; 3]],
    ) -> Option<()> {
        let links = &self.links;
        for (chain, line) in links.chains.iter().zip(&mut self.factors) {
            let forces = &mut forces[chain.joints.clone()];
            let slots = &*slots;
            if fresh {
                let source = || Source {
                    pass,
                    chain,
                    slots,
                    world,
                };
                if !line.factor_solve(&mut [source(), source()], forces) {
                    return None;
                }
                continue;
            }
            for (k, force) in forces.iter_mut().enumerate() {
                *force = chain.gap(k, world, |block| &slots[block]);
            }
            line.solve(forces);
        }
        for (block, slot) in slots.iter_mut().enumerate() {
            links.put_forces(pass.level, block, forces, &mut slot.force);
        }
        Some(())
    }

    fn open(&mut self, slots: &[Slot], world: f64) -> f64 {
        let mut most = 0.0;
        for chain in &self.links.chains {
            for k in 0..chain.joints.len() {
                for gap in chain.gap(k, world, |block| &slots[block]) {
                    most = larger(gap.abs(), most);
                }
            }
        }
        most
    }
}

/// What the passes write, by block.
struct Blocks<'a> {
    room: Room<'a>,
    /// By joint: how they drift apart in a step, m.
    drifts: &'a mut [[f64; 3]],
}

impl<'a> Blocks<'a> {
    /// The same for a shorter time.
    fn again(&mut self) -> Blocks<'_> {
        Blocks {
            room: self.room.again(),
            drifts: self.drifts,
        }
    }

    fn split(self, links: &Links) -> (Blocks<'a>, Blocks<'a>) {
        let half = self.room.next.len() / 2;
        let joint = links.joints_of(half).start.min(self.drifts.len());
        let (drifts, drifts2) = self.drifts.split_at_mut(joint);
        let (room, room2) = self.room.split(half);
        let second = Blocks {
            room: room2,
            drifts: drifts2,
        };
        (Blocks { room, drifts }, second)
    }
}

/// First pass over all blocks, where they are kept.
fn prepare_all(pass: &Pass, room: Room) -> Option<[f64; 2]> {
    let kept = room.newton.iter_mut().zip(room.slots);
    for (k, (n, slot)) in kept.enumerate() {
        prepare(pass, room.first + k, false, n, slot)?;
    }
    Some([0.0; 2])
}

/// Second pass over all blocks, and how their joints drift apart. Returns the largest change of an
/// entry of A and how far joints are open, m.
fn answer_all(pass: &Pass, links: &Links, forces: &[[f64; 3]], blocks: Blocks) -> Option<[f64; 2]> {
    let Blocks { mut room, drifts } = blocks;
    let kept = room.is_kept();
    let mut local = NewtonBlock::ZERO;
    let unknowns = std::mem::take(&mut room.newton);
    // Of the block at hand and of the one before.
    let mut slots = [Slot::ZERO, Slot::ZERO];
    let range = room.range();
    let start = links.joints_of(range.start).start;
    if range.start > 0 {
        let before = range.start - 1;
        let slot = &mut slots[before % 2];
        links.put_forces(pass.level, before, forces, &mut slot.force);
        answer(pass, before, false, &mut local, slot, None)?;
    }
    let (mut update, mut open) = (0.0, 0.0);
    for block in range.clone() {
        let k = block - range.start;
        room.fetch_ahead(pass, k, 0);
        let n = unknowns.get_mut(k).unwrap_or(&mut local);
        let slot = &mut slots[block % 2];
        links.put_forces(pass.level, block, forces, &mut slot.force);
        let ending = Some(room.ending(k));
        update = larger(answer(pass, block, kept, n, slot, ending)?, update);
        room.fetch_ahead(pass, k, 1);
        let near = [&slots[(block + 1) % 2], &slots[block % 2]];
        open = larger(links.open(pass.level, block, near), open);
        if pass.projects {
            let drifts = &mut drifts[links.joints_of(block).start - start..];
            links.find_drifts(pass.level, block, pass.scheme.h, near, drifts);
        }
        room.fetch_ahead(pass, k, 2);
    }
    Some([update, open])
}

/// Third pass over all blocks.
fn finish_all(pass: &Pass, links: &Links, forces: &[[f64; 3]], mut room: Room) -> Option<[f64; 2]> {
    let kept = room.is_kept();
    let mut local = NewtonBlock::ZERO;
    let mut slot = Slot::ZERO;
    let unknowns = std::mem::take(&mut room.newton);
    for block in room.range() {
        let k = block - room.first;
        let n = unknowns.get_mut(k).unwrap_or(&mut local);
        room.fetch_last(k);
        links.put_forces(pass.level, block, forces, &mut slot.force);
        finish(pass, block, kept, n, &slot, room.ending(k))?;
    }
    Some([0.0; 2])
}
