//! The end of a step: the new state replaces the old one if it is sound.

use super::error::{body_name, not_finite};
use super::shock::forget_limits;
use super::sleep;
use super::{StepError, Workspace};
use crate::integrate::Integrator;
use crate::math::lanes::LANES;
use crate::model::{History, Model, State, StateBlock};

/// Writes the new state, if it is sound.
pub(super) fn commit(
    model: &Model,
    state: &mut State,
    work: &mut Workspace,
    h: f64,
) -> Result<(), StepError> {
    for &index in &work.active {
        let (n, next) = (&work.newton[index], &mut work.next[index]);
        next.a = n.a;
        next.t = n.t;
        next.w = n.w;
        next.v = n.v;
    }
    let loose = (0..work.loose.len()).filter(|i| work.loose[*i]);
    let moved = work.active.iter().copied().chain(loose);
    if let Some(index) = moved.into_iter().find(|i| !is_sound(&work.next[*i])) {
        return Err(not_finite(model, index, &work.next[index], state.time));
    }
    sleep::hold_still(state, work);
    if let Some(error) = runaway(model, state, work, h) {
        return Err(error);
    }
    for &index in &work.active {
        state.memory[index].load = work.newton[index].held;
        state.memory[index].slow = work.newton[index].slow;
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
    state.multipliers.copy_from_slice(&work.multipliers);
    // After this `multipliers` is free to hold the forces of the last step.
    work.multipliers.copy_from_slice(&state.held);
    state.held.copy_from_slice(&work.total);
    forget_limits(model, state, work);
    sleep::remember(model, state, work);
    sleep::fall_asleep(model, state, work, h);
    state.measure_coordinates(model);
    work.last_h = h;
    state.time += h;
    Ok(())
}

/// Factor by which the largest speed of a world with contacts cannot honestly grow in a step.
const JUMP: f64 = 1e4;

/// Contacts that could not be resolved show as a body far faster than anything before.
fn runaway(model: &Model, state: &State, work: &Workspace, h: f64) -> Option<StepError> {
    if work.contacts.points.is_empty() {
        return None;
    }
    let before = state.blocks.iter().flat_map(speeds).fold(0.0, f64::max);
    let most = JUMP * (before + 1.0 + model.gravity.length() * h);
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
pub(crate) fn is_sound(block: &StateBlock) -> bool {
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
