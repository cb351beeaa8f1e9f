//! The end of a step: the new state replaces the old one if it is sound.

use super::error::{body_name, not_finite};
use super::passive::keep_passive;
use super::shock::forget_limits;
use super::sleep;
use super::{StepError, Workspace};
use crate::integrate::Integrator;
use crate::integrate::newton::NewtonBlock;
use crate::kernel;
use crate::math::lanes::{LANES, Lane};
use crate::model::{Control, History, MemoryBlock, Model, State, StateBlock};

/// Writes the new state, if it is sound.
pub(super) fn commit(
    model: &Model,
    state: &mut State,
    control: &Control,
    work: &mut Workspace,
    h: f64,
) -> Result<(), StepError> {
    if !work.is_written {
        let found = work.each_block(|around, at| {
            Ok::<_, StepError>([write_down(around.level, at.n, at.next, at.memory), 0.0])
        });
        work.is_sound &= found?[0] == 0.0;
    }
    let mut loose = (0..work.loose.len()).filter(|i| work.loose[*i]);
    if !work.is_sound || loose.any(|i| !is_sound(&work.next[i])) {
        return Err(unsound(model, state, work));
    }
    sleep::hold_still(state, work);
    if let Some(error) = runaway(model, state, work, h) {
        return Err(error);
    }
    let lends = keep_passive(model, state, control, work);
    let mut past = work.past.take_if(|_| work.keeps_past);
    if let Some(past) = &mut past {
        note_start(past, state, work.settings.sleeping);
    }
    if lends {
        std::mem::swap(&mut state.lent, work.passive.lent());
    }
    let quiet = || work.runs.iter().flat_map(|runs| runs.blocks());
    if work.active.len() + quiet().count() < state.memory.len() {
        if let Some(past) = &mut past {
            past.memory.clone_from(&state.memory);
        }
        for index in work.active.iter().copied().chain(quiet()) {
            state.memory[index].clone_from(&work.memory[index]);
        }
    } else {
        std::mem::swap(&mut state.memory, &mut work.memory);
        if let Some(past) = &mut past {
            std::mem::swap(&mut past.memory, &mut work.memory);
        }
    }
    std::mem::swap(&mut state.blocks, &mut work.next);
    if work.settings.integrator == Integrator::Bdf2 {
        // After the swap the workspace holds the state before the step.
        let past = state.history.get_or_insert_with(|| History {
            h,
            blocks: work.next.clone(),
        });
        past.h = h;
        past.blocks.clone_from_slice(&work.next);
    }
    std::mem::swap(&mut state.multipliers, &mut work.multipliers);
    if let Some(past) = &mut past {
        std::mem::swap(&mut past.multipliers, &mut work.multipliers);
        match work.settings.sleeping {
            // Blocks that rest are not written anew.
            true => past.blocks.clone_from(&work.next),
            false => std::mem::swap(&mut past.blocks, &mut work.next),
        }
    }
    // Now `multipliers` is free to hold the forces of the last step.
    std::mem::swap(&mut state.held, &mut work.multipliers);
    state.held.copy_from_slice(&work.total);
    forget_limits(model, state, work);
    if let Some(mut past) = past {
        std::mem::swap(&mut past.held, &mut work.multipliers);
        work.past = Some(past);
    }
    sleep::remember(model, state, work);
    if let Some(runs) = &mut work.runs {
        runs.remember(&mut state.contacts);
    }
    sleep::fall_asleep(model, state, work, h);
    state.measure_coordinates(model);
    work.last_h = h;
    state.time += h;
    Ok(())
}

/// Notes what of the start of a step does not just change places with what takes its place.
fn note_start(past: &mut State, state: &mut State, sleeping: bool) {
    past.time = state.time;
    past.coordinates.clone_from(&state.coordinates);
    past.history.clone_from(&state.history);
    past.lent.clone_from(&state.lent);
    past.contacts.restless.clone_from(&state.contacts.restless);
    if sleeping {
        past.contacts.entries.clone_from(&state.contacts.entries);
        past.quiet.clone_from(&state.quiet);
        past.nest.clone_from(&state.nest);
    } else {
        // All are awake, and forces are remembered anew without looking at those of the last step.
        std::mem::swap(&mut past.contacts.entries, &mut state.contacts.entries);
    }
}

kernel! {
    /// Writes the end of the step of one block of bodies to where it can be committed. Returns zero
    /// if it is sound.
    pub(crate) fn write_down(n: &NewtonBlock, next: &mut StateBlock, memory: &mut MemoryBlock) -> f64 = write_down_lanes
}

#[inline(always)]
fn write_down_lanes(n: &NewtonBlock, next: &mut StateBlock, memory: &mut MemoryBlock) -> f64 {
    let mut sums = [[0.0; LANES]; 2];
    write_rows(&n.a, &mut next.a, &mut sums[0]);
    write_rows(&n.w, &mut next.w, &mut sums[1]);
    write_rows(&n.t, &mut next.t, &mut sums[0]);
    write_rows(&n.v, &mut next.v, &mut sums[1]);
    for (to, from) in memory.load.iter_mut().zip(&n.held) {
        *to = *from;
    }
    for (to, from) in memory.slow.iter_mut().zip(&n.slow) {
        *to = *from;
    }
    let sound = |lane: usize| sums[0][lane] + sums[1][lane] == 0.0;
    if (0..LANES).all(sound) { 0.0 } else { 1.0 }
}

/// Copies rows, and adds zero times their squares: zero for finite squares only.
#[inline(always)]
fn write_rows<const N: usize>(from: &[Lane; N], to: &mut [Lane; N], sum: &mut Lane) {
    for (to, from) in to.iter_mut().zip(from) {
        *to = *from;
        for lane in 0..LANES {
            sum[lane] += 0.0 * (from[lane] * from[lane]);
        }
    }
}

/// Names a body that is not finite.
fn unsound(model: &Model, state: &State, work: &Workspace) -> StepError {
    let loose = (0..work.loose.len()).filter(|i| work.loose[*i]);
    let mut moved = work.active.iter().copied().chain(loose);
    let index = moved.find(|i| !is_sound(&work.next[*i])).unwrap_or(0);
    not_finite(model, index, &work.next[index], state.time)
}

/// Factor by which the largest speed of a world with contacts cannot honestly grow in a step.
const JUMP: f64 = 1e4;

/// Contacts that could not be resolved show as a body far faster than anything before.
fn runaway(model: &Model, state: &State, work: &Workspace, h: f64) -> Option<StepError> {
    if work.contacts.points.is_empty() {
        return None;
    }
    let little = 1.0 + model.gravity.length() * h;
    let fastest = |blocks: &[StateBlock]| blocks.iter().flat_map(speeds).fold(0.0, f64::max);
    // Which is as good as always.
    if fastest(&work.next) <= JUMP * little {
        return None;
    }
    let most = JUMP * (fastest(&state.blocks) + little);
    for (block, next) in work.next.iter().enumerate() {
        for (lane, speed) in speeds(next).into_iter().enumerate() {
            if speed > most {
                return Some(StepError::Contact {
                    body: body_name(model, block, lane),
                    speed,
                    time: state.time,
                });
            }
        }
    }
    None
}

/// Speeds of the centres of eight bodies, m/s.
fn speeds(block: &StateBlock) -> [f64; LANES] {
    let [x, y, z] = &block.v;
    std::array::from_fn(|lane| (x[lane] * x[lane] + y[lane] * y[lane] + z[lane] * z[lane]).sqrt())
}

/// Whether every number of a block and its square, of which energies are made, is finite: 0·x is
/// zero for finite x only.
pub(super) fn is_sound(block: &StateBlock) -> bool {
    let mut sum = [0.0; LANES];
    for row in block
        .a
        .iter()
        .chain(&block.w)
        .chain(&block.t)
        .chain(&block.v)
    {
        for lane in 0..LANES {
            sum[lane] += 0.0 * (row[lane] * row[lane]);
        }
    }
    sum == [0.0; LANES]
}
