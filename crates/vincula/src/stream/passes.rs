//! What a pass does to one block of bodies.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::kinds::Kinds;
use super::record::Slot;
use crate::dual::ports::{self, Points};
use crate::integrate::Scheme;
use crate::integrate::kicks::Kicks;
use crate::integrate::newton::{self, NewtonBlock, Stiffening};
use crate::integrate::tempered;
use crate::integrate::{euler, ordinary};
use crate::kernel;
use crate::math::ahead::fetch;
use crate::math::dispatch::Level;
use crate::math::lanes::Lane;
use crate::model::{MemoryBlock, ParamBlock, State, StateBlock};
use crate::settings::{Rule, Strain};
use crate::step::write_down;

/// What a pass over the bodies needs to know.
pub(super) struct Pass<'a> {
    pub level: Level,
    pub scheme: Scheme,
    pub state: &'a State,
    pub kicks: &'a Kicks,
    pub kinds: &'a Kinds,
    pub rule: Rule,
    /// Blocks that the rule has spared so far.
    pub spared: AtomicUsize,
    /// Whether the velocity is one that joints allow. Without that a step ends with the pose.
    pub projects: bool,
}

impl Pass<'_> {
    pub fn params(&self, block: usize) -> &ParamBlock {
        &self.kinds.of(block).params
    }

    /// Where joints hold the bodies, m.
    pub fn points(&self, block: usize) -> &Points {
        &self.kinds.of(block).points
    }

    /// Whether a block may be strained so.
    pub fn allows(&self, strain: Strain) -> bool {
        match strain {
            Strain::None => true,
            // However threads come here, one is refused if there are too many.
            Strain::Little => self.spared.fetch_add(1, Ordering::Relaxed) < self.rule.spared,
            Strain::Much => false,
        }
    }
}

/// How many blocks ahead of a pass memory is asked for.
pub(super) const AHEAD: usize = 4;

/// Asks for a third of what is known of a block at the start of a step.
#[inline(always)]
pub(super) fn fetch_start(pass: &Pass, block: usize, third: usize) {
    fetch(&pass.state.blocks, block, [third, 3]);
    fetch(&pass.state.memory, block, [third, 3]);
}

/// Where the bodies go without joints, with all that is asked for if the step is `far`; nothing if
/// one is crushed.
fn launch(pass: &Pass, block: usize, far: bool, n: &mut NewtonBlock) -> Option<()> {
    let (params, past) = (pass.params(block), &pass.state.blocks[block]);
    let (kick, memory) = (pass.kicks.of(block), &pass.state.memory[block]);
    let (level, scheme) = (pass.level, &pass.scheme);
    let sound = match (pass.projects, far) {
        (true, _) => ordinary::launch(level, params, past, memory, kick, scheme, far, n),
        (false, false) => euler::launch(level, params, past, memory, kick, scheme, n),
        (false, true) => {
            let sound = newton::polar_block(level, &past.a, &mut n.rot);
            euler::predict(level, params, past, memory, kick, scheme, n);
            newton::free_solve(level, params, scheme, Stiffening::Tempered, n);
            sound
        }
    };
    sound.then_some(())
}

/// First pass: everything that the joints want to know of a block, for an ordinary step or one
/// that may be `far`.
pub(super) fn prepare(
    pass: &Pass,
    block: usize,
    far: bool,
    n: &mut NewtonBlock,
    slot: &mut Slot,
) -> Option<()> {
    launch(pass, block, far, n)?;
    weigh(pass, block, n, slot);
    ports::find_places(pass.level, n, pass.points(block), &mut slot.place);
    Some(())
}

/// Finds how the points of a block give way.
pub(super) fn weigh(pass: &Pass, block: usize, n: &NewtonBlock, slot: &mut Slot) {
    ports::find_compliances(pass.level, n, pass.points(block), &mut slot.compliances);
}

/// Second pass: the answer to the joint forces in the slot, and the velocity before its
/// projection; or the end of a step without one. Without an `ending` only the points are found.
/// Returns the largest change of an entry of A, and nothing if one linear solve is not enough.
pub(super) fn answer(
    pass: &Pass,
    block: usize,
    kept: bool,
    n: &mut NewtonBlock,
    slot: &mut Slot,
    ending: Option<Ending>,
) -> Option<f64> {
    if !kept {
        launch(pass, block, false, n)?;
    }
    if !pass.projects {
        return arrive(pass, block, n, slot, ending);
    }
    let update = press(pass, block, n, slot, None);
    let strain = strain(pass, block, update, &newton::STRAIGHT, n);
    if ending.is_some() && !pass.allows(strain) {
        return None;
    }
    land(pass, block, n)?;
    let points = pass.points(block);
    ports::find_velocities(pass.level, n, points, &mut slot.rates);
    ports::find_places(pass.level, n, points, &mut slot.place);
    if let Some(ending) = ending.filter(|_| !kept) {
        *ending.geometric = n.geometric;
        note(pass.level, n, ending.next);
    }
    Some(update)
}

/// The same for a step that projects no velocity.
fn arrive(
    pass: &Pass,
    block: usize,
    n: &mut NewtonBlock,
    slot: &mut Slot,
    ending: Option<Ending>,
) -> Option<f64> {
    let (level, scheme, points) = (pass.level, &pass.scheme, pass.points(block));
    let update = match ending {
        Some(Ending { next, memory, .. }) => {
            let (state, past) = (&pass.state.blocks[block], &pass.state.memory[block]);
            euler::arrive(
                level,
                scheme,
                points,
                &slot.force,
                state,
                past,
                n,
                next,
                memory,
            )
        }
        None => press(pass, block, n, slot, None),
    };
    ports::find_places(level, n, points, &mut slot.place);
    (update <= pass.rule.update).then_some(update)
}

/// Puts the forces of the slot, and torques, on the bodies. Returns the largest change of an entry of A.
pub(super) fn press(
    pass: &Pass,
    block: usize,
    n: &mut NewtonBlock,
    slot: &Slot,
    torques: Option<&[Lane; 3]>,
) -> f64 {
    let (points, forces) = (pass.points(block), &slot.force);
    match torques {
        None => newton::press(pass.level, points, forces, n),
        Some(torques) => newton::press_turning(pass.level, points, forces, torques, n),
    }
}

/// How the last increment, after a bend by `turn`, strains a block.
pub(super) fn strain(
    pass: &Pass,
    block: usize,
    update: f64,
    turn: &[Lane; 3],
    n: &NewtonBlock,
) -> Strain {
    let params = pass.params(block);
    pass.rule.judge(update, || {
        newton::stretch(pass.level, params, &pass.scheme, turn, &n.rate, n)
    })
}

/// Takes the increment as a rotation and a strain, which goes to `turn`, and finds the places.
pub(super) fn bend(
    pass: &Pass,
    block: usize,
    turn: &mut [Lane; 3],
    n: &mut NewtonBlock,
    slot: &mut Slot,
) {
    newton::bend(pass.level, turn, n);
    ports::find_places(pass.level, n, pass.points(block), &mut slot.place);
}

/// The velocity of an ordinary step before its projection. Nothing if a body is crushed.
pub(super) fn land(pass: &Pass, block: usize, n: &mut NewtonBlock) -> Option<()> {
    let (params, kick) = (pass.params(block), pass.kicks.of(block));
    ordinary::land(pass.level, params, kick, &pass.scheme, n).then_some(())
}

/// The velocity of another step before its projection; `far` says that bodies were linearised more than once.
/// Nothing if a body is crushed.
pub(super) fn turn(pass: &Pass, block: usize, far: bool, n: &mut NewtonBlock) -> Option<()> {
    let (params, level, scheme) = (pass.params(block), pass.level, &pass.scheme);
    if !tempered::turn_velocity(level, params, scheme, far, n) {
        return None;
    }
    tempered::project_free(level, params, pass.kicks.of(block), scheme, n);
    Some(())
}

/// What passes over a block leave for the last one, and what that writes.
pub(super) struct Ending<'a> {
    /// Rotational stiffness, N m.
    pub geometric: &'a mut [Lane; 3],
    /// The next state: pose and velocity so far, where the unknowns were not kept.
    pub next: &'a mut StateBlock,
    /// What the next step is to remember.
    pub memory: &'a mut MemoryBlock,
}

/// Third pass over a block of an ordinary step: the velocity that the joint forces in the slot
/// allow, and what the next step remembers. Nothing if a body is crushed or not finite.
pub(super) fn finish(
    pass: &Pass,
    block: usize,
    kept: bool,
    n: &mut NewtonBlock,
    slot: &Slot,
    ending: Ending,
) -> Option<()> {
    let (params, level, scheme) = (pass.params(block), pass.level, &pass.scheme);
    if !kept {
        // The rotation and the inverse follow from the rest.
        let next = &ending.next;
        (n.a, n.t, n.w, n.v) = (next.a, next.t, next.w, next.v);
        n.geometric = *ending.geometric;
        n.slow = pass.state.memory[block].slow;
        if !newton::polar_block(level, &next.a, &mut n.rot) {
            return None;
        }
        newton::invert(level, params, scheme, n);
    }
    let (points, forces) = (pass.points(block), &slot.force);
    let Ending { next, memory, .. } = ending;
    ordinary::settle(level, params, scheme, points, forces, n, next, memory).then_some(())
}

/// Writes the next state, with the velocity that was projected or the one that follows from the
/// pose, and what the next step remembers. Nothing if a body is not finite.
pub(super) fn end(pass: &Pass, block: usize, n: &mut NewtonBlock, ending: Ending) -> Option<()> {
    if pass.projects {
        tempered::project_end(pass.level, pass.params(block), &pass.scheme, n);
    } else {
        newton::set_velocity(pass.level, &pass.scheme, n);
    }
    (write_down(pass.level, n, ending.next, ending.memory) == 0.0).then_some(())
}

kernel! {
    /// Writes a pose and a velocity to where the next state is made.
    fn note(n: &NewtonBlock, next: &mut StateBlock) = note_lanes
}

#[inline(always)]
fn note_lanes(n: &NewtonBlock, next: &mut StateBlock) {
    let rows = n.t.iter().chain(&n.a).chain(&n.v).chain(&n.w);
    let targets = next.t.iter_mut().chain(&mut next.a);
    for (to, from) in targets.chain(&mut next.v).chain(&mut next.w).zip(rows) {
        *to = *from;
    }
}
