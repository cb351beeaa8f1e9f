//! Plain RATTLE: the flight is repeated with the forces that closed the joints.
//!
//! The load that acts before the flight is a guess at first, that of the last step. What the
//! solve adds to it acts after the flight. Repeated until nothing changes, all of it acts
//! before, along the gradients of the start: this is RATTLE.

use super::error::inverted;
use super::{StepError, Workspace};
use crate::integrate::{Scheme, newton, tempered};
use crate::model::{Model, State};

/// Largest difference of an entry of A from the last time, whose poses are in `work.next`
/// and become those of this time; infinite at `first`.
pub(super) fn note_change(work: &mut Workspace, first: bool) -> f64 {
    let mut change = if first { f64::INFINITY } else { 0.0f64 };
    for &index in &work.active {
        let (now, before) = (&work.newton[index].a, &mut work.next[index].a);
        for (x, y) in now.iter().flatten().zip(before.iter().flatten()) {
            let d = (x - y).abs();
            change = if d > change || d.is_nan() { d } else { change };
        }
        *before = *now;
    }
    change
}

/// Flies again, with the forces that the joints had in the last solve.
pub(super) fn repeat_flight(
    model: &Model,
    state: &State,
    work: &mut Workspace,
    scheme: &Scheme,
) -> Result<(), StepError> {
    work.dual
        .loads_at(model, state, &work.total, &mut work.loads);
    for &index in &work.active {
        let (params, past) = (&model.params[index], &state.blocks[index]);
        let kick = work.kicks.of(index);
        let n = &mut work.newton[index];
        if !newton::polar_block(work.level, &past.a, &mut n.rot) {
            return Err(inverted(model, index, &past.a, state.time));
        }
        let load = &work.loads[index];
        tempered::predict(work.level, params, past, load, kick, scheme, n);
        n.t = n.t_pred;
    }
    work.dual
        .add_turning_loads(model, state, scheme, &work.total, &mut work.newton);
    Ok(())
}
