//! The three passes over the bodies, block by block.

use super::links::Links;
use super::record::{Prediction, Slot};
use crate::dual::ports::{self, PortBlock};
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

/// First pass: everything that the joints want to know of a block.
pub(super) fn prepare(
    pass: &Pass,
    block: usize,
    n: &mut NewtonBlock,
    ports: &mut PortBlock,
) -> Option<()> {
    predict(pass, block, n)?;
    ports::find_compliances(pass.level, n, ports);
    ports::find_places(pass.level, n, ports);
    Some(())
}

/// Second pass, after `predict`: the answer to the joint forces, and the velocity before its
/// projection. Returns the largest change of an entry of A, and nothing if one linear solve is
/// not enough.
pub(super) fn answer(
    pass: &Pass,
    block: usize,
    forces: &[[f64; 3]],
    n: &mut NewtonBlock,
    slot: &mut Slot,
) -> Option<f64> {
    let (params, level, scheme) = (&pass.model.params[block], pass.level, &pass.scheme);
    pass.links.put_forces(block, forces, &mut slot.ports.force);
    ports::put_loads(level, &slot.ports, n);
    let update = newton::accept(level, n);
    let rule = &pass.rule;
    let turned =
        update <= rule.rotation && newton::stretch(level, params, scheme, n) <= rule.stretch;
    if !(update <= rule.update || turned) {
        return None;
    }
    if !tempered::turn_velocity(level, params, scheme, false, n) {
        return None;
    }
    tempered::project_free(level, params, pass.kick(block), scheme, n);
    ports::find_velocities(level, n, &mut slot.ports);
    slot.rates = slot.ports.place;
    ports::find_places(level, n, &mut slot.ports);
    slot.keep(n);
    Some(update)
}

/// Third pass: the velocity that the joints allow, and what the next step remembers.
fn finish(
    pass: &Pass,
    block: usize,
    forces: &[[f64; 3]],
    n: &mut NewtonBlock,
    slot: &mut Slot,
    next: &mut StateBlock,
    memory: &mut MemoryBlock,
) -> Option<f64> {
    let (params, level, scheme) = (&pass.model.params[block], pass.level, &pass.scheme);
    slot.recall(n);
    n.slow = pass.state.memory[block].slow;
    newton::invert(level, params, scheme, n);
    pass.links.put_forces(block, forces, &mut slot.ports.force);
    ports::put_loads(level, &slot.ports, n);
    tempered::project_add(level, true, scheme, n);
    tempered::project_end(level, params, scheme, n);
    *memory = MemoryBlock {
        load: n.held,
        slow: n.slow,
    };
    *next = StateBlock {
        t: slot.t,
        a: slot.a,
        v: n.v,
        w: n.w,
    };
    is_sound(next).then_some(0.0)
}

/// The third pass over all blocks.
pub(super) fn finish_blocks(
    pass: &Pass,
    threads: usize,
    slots: &mut [Slot],
    forces: &[[f64; 3]],
    (next, memory): (&mut [StateBlock], &mut [MemoryBlock]),
) -> Option<f64> {
    each_block(
        threads,
        (slots, next, memory),
        |block, n, slot, next, memory| finish(pass, block, forces, n, slot, next?, memory?),
    )
}

/// The first two passes over all blocks; predictions are there if they are kept.
pub(super) fn each_slot(
    threads: usize,
    slots: &mut [Slot],
    predictions: &mut [Prediction],
    work: impl Fn(usize, &mut NewtonBlock, &mut Slot, Option<&mut Prediction>) -> Option<f64> + Sync,
) -> Option<f64> {
    let nothing: &mut [()] = &mut [];
    each_block(
        threads,
        (slots, predictions, nothing),
        |block, n, slot, kept, _| work(block, n, slot, kept),
    )
}

/// Runs a pass over all blocks, on one or two threads; blocks do not see each other. The last
/// two slices may be empty. Returns the largest of what the blocks return, or nothing as soon
/// as one returns nothing.
fn each_block<A: Send, B: Send, C: Send>(
    threads: usize,
    (a, b, c): (&mut [A], &mut [B], &mut [C]),
    work: impl Fn(usize, &mut NewtonBlock, &mut A, Option<&mut B>, Option<&mut C>) -> Option<f64> + Sync,
) -> Option<f64> {
    let run = |start: usize, a: &mut [A], b: &mut [B], c: &mut [C]| {
        // One for all blocks, so that it stays in the first cache.
        let mut n = NewtonBlock::ZERO;
        let mut worst = 0.0f64;
        for (k, a) in a.iter_mut().enumerate() {
            let found = work(start + k, &mut n, a, b.get_mut(k), c.get_mut(k))?;
            worst = if found > worst || found.is_nan() {
                found
            } else {
                worst
            };
        }
        Some(worst)
    };
    if threads < 2 {
        return run(0, a, b, c);
    }
    let half = a.len() / 2;
    let (a, a2) = a.split_at_mut(half);
    let (b, b2) = b.split_at_mut(half.min(b.len()));
    let (c, c2) = c.split_at_mut(half.min(c.len()));
    let (first, second) = std::thread::scope(|scope| {
        let second = scope.spawn(|| run(half, a2, b2, c2));
        let first = run(0, a, b, c);
        (first, second.join().expect("a pass does not panic"))
    });
    Some(first?.max(second?))
}
