//! The three passes over the bodies, block by block.

use super::links::Links;
use super::record::Slot;
use crate::dual::ports;
use crate::integrate::Scheme;
use crate::integrate::newton::{self, NewtonBlock, Stiffening};
use crate::integrate::tempered::{self, KickBlock};
use crate::math::dispatch::Level;
use crate::model::{MemoryBlock, Model, State, StateBlock};
use crate::settings::Rule;
use crate::step::is_sound;

/// What a pass over the bodies needs to know.
pub(super) struct Pass<'a> {
    pub level: Level,
    pub scheme: Scheme,
    pub model: &'a Model,
    pub state: &'a State,
    pub kicks: &'a [KickBlock],
    pub links: &'a Links,
    pub rule: Rule,
}

impl Pass<'_> {
    fn kick(&self, block: usize) -> &KickBlock {
        &self.kicks[block.min(self.kicks.len() - 1)]
    }
}

/// Where the bodies go without joints; nothing if one is crushed.
pub(super) fn predict(pass: &Pass, block: usize, n: &mut NewtonBlock) -> Option<()> {
    let (params, past) = (&pass.model.params[block], &pass.state.blocks[block]);
    let (level, scheme, kick) = (pass.level, &pass.scheme, pass.kick(block));
    if !newton::polar_block(level, &past.a, &mut n.rot) {
        return None;
    }
    let memory = &pass.state.memory[block];
    tempered::predict(level, params, past, memory, kick, scheme, n);
    newton::free_solve(level, params, scheme, Stiffening::Tempered, n);
    Some(())
}

/// What the passes know of a block of eight bodies.
pub(super) struct Blocks<'a> {
    pub slots: &'a mut [Slot],
    /// The unknowns; empty where predicting twice is cheaper than keeping them.
    pub newton: &'a mut [NewtonBlock],
    /// The next state.
    pub next: &'a mut [StateBlock],
    /// What the next step is to remember.
    pub memory: &'a mut [MemoryBlock],
}

impl<'a> Blocks<'a> {
    /// The same for a shorter time.
    pub fn again(&mut self) -> Blocks<'_> {
        Blocks {
            slots: self.slots,
            newton: self.newton,
            next: self.next,
            memory: self.memory,
        }
    }

    fn split(self) -> (Blocks<'a>, Blocks<'a>) {
        let half = self.slots.len() / 2;
        let (slots, slots2) = self.slots.split_at_mut(half);
        let (newton, newton2) = self.newton.split_at_mut(half.min(self.newton.len()));
        let (next, next2) = self.next.split_at_mut(half);
        let (memory, memory2) = self.memory.split_at_mut(half);
        let first = Blocks {
            slots,
            newton,
            next,
            memory,
        };
        let second = Blocks {
            slots: slots2,
            newton: newton2,
            next: next2,
            memory: memory2,
        };
        (first, second)
    }
}

/// One of them.
pub(super) struct At<'a> {
    /// Which block it is.
    pub index: usize,
    pub slot: &'a mut Slot,
    pub n: &'a mut NewtonBlock,
    /// Whether `n` is still what the last pass left.
    pub kept: bool,
    next: &'a mut StateBlock,
    memory: &'a mut MemoryBlock,
}

/// First pass: everything that the joints want to know of a block.
pub(super) fn prepare(pass: &Pass, at: At) -> Option<f64> {
    predict(pass, at.index, at.n)?;
    ports::find_compliances(pass.level, at.n, &mut at.slot.ports);
    ports::find_places(pass.level, at.n, &mut at.slot.ports);
    Some(0.0)
}

/// Second pass: the answer to the joint forces, and the velocity before its projection.
/// Returns the largest change of an entry of A, and nothing if one linear solve is not enough.
pub(super) fn answer(pass: &Pass, forces: &[[f64; 3]], at: At) -> Option<f64> {
    let (params, level, scheme) = (&pass.model.params[at.index], pass.level, &pass.scheme);
    let At { n, slot, next, .. } = at;
    if !at.kept {
        predict(pass, at.index, n)?;
    }
    pass.links
        .put_forces(at.index, forces, &mut slot.ports.force);
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
    tempered::project_free(level, params, pass.kick(at.index), scheme, n);
    ports::find_velocities(level, n, &mut slot.ports);
    slot.rates = slot.ports.place;
    ports::find_places(level, n, &mut slot.ports);
    if !at.kept {
        slot.geometric = n.geometric;
        write_down(n, next);
    }
    Some(update)
}

/// Third pass: the velocity that the joints allow, and what the next step remembers.
pub(super) fn finish(pass: &Pass, forces: &[[f64; 3]], at: At) -> Option<f64> {
    let (params, level, scheme) = (&pass.model.params[at.index], pass.level, &pass.scheme);
    let At { n, slot, next, .. } = at;
    if !at.kept {
        // The rotation and the inverse follow from the rest.
        (n.a, n.t, n.w, n.v) = (next.a, next.t, next.w, next.v);
        n.geometric = slot.geometric;
        n.slow = pass.state.memory[at.index].slow;
        if !newton::polar_block(level, &next.a, &mut n.rot) {
            return None;
        }
        newton::invert(level, params, scheme, n);
    }
    pass.links
        .put_forces(at.index, forces, &mut slot.ports.force);
    ports::put_loads(level, &slot.ports, n);
    tempered::project_add(level, true, scheme, n);
    tempered::project_end(level, params, scheme, n);
    at.memory.load = n.held;
    at.memory.slow = n.slow;
    write_down(n, next);
    is_sound(next).then_some(0.0)
}

/// Writes a pose and a velocity to where the next state is made.
fn write_down(n: &NewtonBlock, next: &mut StateBlock) {
    next.t = n.t;
    next.a = n.a;
    next.v = n.v;
    next.w = n.w;
}

/// Runs a pass over all blocks, on one or two threads; blocks do not see each other. Returns
/// the largest of what the blocks return, or nothing as soon as one returns nothing.
pub(super) fn each_block(
    threads: usize,
    blocks: Blocks,
    work: impl Fn(At) -> Option<f64> + Sync,
) -> Option<f64> {
    let run = |start: usize, blocks: Blocks| {
        // One for all blocks, so that it stays in the first cache.
        let mut local = NewtonBlock::ZERO;
        let mut worst = 0.0f64;
        let kept = !blocks.newton.is_empty();
        let ends = blocks.next.iter_mut().zip(blocks.memory);
        for (k, (slot, (next, memory))) in blocks.slots.iter_mut().zip(ends).enumerate() {
            let found = work(At {
                index: start + k,
                slot,
                n: blocks.newton.get_mut(k).unwrap_or(&mut local),
                kept,
                next,
                memory,
            })?;
            worst = if found > worst || found.is_nan() {
                found
            } else {
                worst
            };
        }
        Some(worst)
    };
    if threads < 2 {
        return run(0, blocks);
    }
    let half = blocks.slots.len() / 2;
    let (first, second) = blocks.split();
    let (first, second) = std::thread::scope(|scope| {
        let second = scope.spawn(|| run(half, second));
        let first = run(0, first);
        (first, second.join().expect("a pass does not panic"))
    });
    Some(first?.max(second?))
}
