//! The three passes over the bodies, block by block.

use std::ops::Range;

use vincula_blocks::both;

use super::links::Links;
use super::record::Slot;
use crate::dual::{larger, ports};
use crate::integrate::Scheme;
use crate::integrate::newton::{self, NewtonBlock, Stiffening};
use crate::integrate::tempered::{self, KickBlock};
use crate::math::dispatch::Level;
use crate::math::lanes::Lane;
use crate::model::{MemoryBlock, ParamBlock, State, StateBlock};
use crate::settings::Rule;
use crate::step::is_sound;

/// What a pass over the bodies needs to know.
pub(super) struct Pass<'a> {
    pub level: Level,
    pub scheme: Scheme,
    pub state: &'a State,
    pub kicks: &'a [KickBlock],
    pub links: &'a Links,
    pub rule: Rule,
}

impl Pass<'_> {
    fn kick(&self, block: usize) -> &KickBlock {
        &self.kicks[block.min(self.kicks.len() - 1)]
    }

    fn params(&self, block: usize) -> &ParamBlock {
        &self.links.kind(block).params
    }
}

/// What the passes write, by block.
pub(super) struct Blocks<'a> {
    /// The first of them.
    pub first: usize,
    /// The unknowns and their points; empty where predicting twice is cheaper than keeping them.
    pub newton: &'a mut [NewtonBlock],
    pub slots: &'a mut [Slot],
    /// Rotational stiffness of the bodies, N m.
    pub geometric: &'a mut [[Lane; 3]],
    /// The next state.
    pub next: &'a mut [StateBlock],
    /// What the next step is to remember.
    pub memory: &'a mut [MemoryBlock],
    /// By joint: how they drift apart in a step, m.
    pub drifts: &'a mut [[f64; 3]],
}

impl<'a> Blocks<'a> {
    /// The same for a shorter time.
    pub fn again(&mut self) -> Blocks<'_> {
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
pub(super) fn in_halves(
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

/// Where the bodies go without joints; nothing if one is crushed.
fn predict(pass: &Pass, block: usize, n: &mut NewtonBlock) -> Option<()> {
    let (params, past) = (pass.params(block), &pass.state.blocks[block]);
    let (level, scheme, kick) = (pass.level, &pass.scheme, pass.kick(block));
    if !newton::polar_block(level, &past.a, &mut n.rot) {
        return None;
    }
    let memory = &pass.state.memory[block];
    tempered::predict(level, params, past, memory, kick, scheme, n);
    newton::free_solve(level, params, scheme, Stiffening::Tempered, n);
    Some(())
}

/// First pass: everything that the joints want to know of a block.
pub(super) fn prepare(
    pass: &Pass,
    block: usize,
    n: &mut NewtonBlock,
    slot: &mut Slot,
) -> Option<()> {
    predict(pass, block, n)?;
    slot.ports.point = pass.links.kind(block).points;
    ports::find_compliances(pass.level, n, &mut slot.ports);
    ports::find_places(pass.level, n, &mut slot.ports);
    Some(())
}

/// The same for all blocks, where they are kept.
pub(super) fn prepare_all(pass: &Pass, blocks: Blocks) -> Option<[f64; 2]> {
    let kept = blocks.newton.iter_mut().zip(blocks.slots);
    for (k, (n, slot)) in kept.enumerate() {
        prepare(pass, blocks.first + k, n, slot)?;
    }
    Some([0.0; 2])
}

/// Second pass: the answer to the joint forces, and the velocity before its projection. Returns
/// the largest change of an entry of A, and nothing if one linear solve is not enough.
fn answer(
    pass: &Pass,
    block: usize,
    forces: &[[f64; 3]],
    kept: bool,
    n: &mut NewtonBlock,
    slot: &mut Slot,
) -> Option<f64> {
    let (params, level, scheme) = (pass.params(block), pass.level, &pass.scheme);
    if !kept {
        predict(pass, block, n)?;
    }
    slot.ports.point = pass.links.kind(block).points;
    pass.links.put_forces(block, forces, &mut slot.ports.force);
    ports::put_loads(level, &slot.ports, n);
    let update = newton::accept(level, n);
    let rule = &pass.rule;
    let turned = || {
        update <= rule.rotation
            && newton::stretch(level, params, scheme, &newton::STRAIGHT, n) <= rule.stretch
    };
    if !(update <= rule.update || turned()) {
        return None;
    }
    if !tempered::turn_velocity(level, params, scheme, false, n) {
        return None;
    }
    tempered::project_free(level, params, pass.kick(block), scheme, n);
    ports::find_velocities(level, n, &mut slot.ports);
    slot.rates = slot.ports.place;
    ports::find_places(level, n, &mut slot.ports);
    Some(update)
}

/// The same for all blocks, and how their joints drift apart. Returns the largest change of an
/// entry of A and how far joints are open, m.
pub(super) fn answer_all(pass: &Pass, forces: &[[f64; 3]], blocks: Blocks) -> Option<[f64; 2]> {
    let links = pass.links;
    let kept = !blocks.newton.is_empty();
    let mut local = NewtonBlock::ZERO;
    // Of the block at hand and of the one before.
    let mut slots = [Slot::ZERO, Slot::ZERO];
    let range = blocks.range();
    let start = links.joints_of(range.start).start;
    if range.start > 0 {
        let before = range.start - 1;
        answer(
            pass,
            before,
            forces,
            false,
            &mut local,
            &mut slots[before % 2],
        )?;
    }
    let (mut update, mut open) = (0.0, 0.0);
    for block in range.clone() {
        let k = block - range.start;
        let n = blocks.newton.get_mut(k).unwrap_or(&mut local);
        let change = answer(pass, block, forces, kept, n, &mut slots[block % 2])?;
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

/// Third pass: the velocity that the joints allow, and what the next step remembers.
pub(super) fn finish_all(pass: &Pass, forces: &[[f64; 3]], blocks: Blocks) -> Option<[f64; 2]> {
    let (level, scheme) = (pass.level, &pass.scheme);
    let kept = !blocks.newton.is_empty();
    let mut local = NewtonBlock::ZERO;
    let mut slot = Slot::ZERO;
    for block in blocks.range() {
        let k = block - blocks.first;
        let (params, next) = (pass.params(block), &mut blocks.next[k]);
        let n = blocks.newton.get_mut(k).unwrap_or(&mut local);
        if !kept {
            // The rotation and the inverse follow from the rest.
            (n.a, n.t, n.w, n.v) = (next.a, next.t, next.w, next.v);
            n.geometric = blocks.geometric[k];
            n.slow = pass.state.memory[block].slow;
            if !newton::polar_block(level, &next.a, &mut n.rot) {
                return None;
            }
            newton::invert(level, params, scheme, n);
        }
        slot.ports.point = pass.links.kind(block).points;
        pass.links.put_forces(block, forces, &mut slot.ports.force);
        ports::put_loads(level, &slot.ports, n);
        tempered::project_add(level, true, scheme, n);
        tempered::project_end(level, params, scheme, n);
        let memory = &mut blocks.memory[k];
        memory.load = n.held;
        memory.slow = n.slow;
        write_down(n, next);
        if !is_sound(next) {
            return None;
        }
    }
    Some([0.0; 2])
}

/// Writes a pose and a velocity to where the next state is made.
fn write_down(n: &NewtonBlock, next: &mut StateBlock) {
    next.t = n.t;
    next.a = n.a;
    next.v = n.v;
    next.w = n.w;
}
