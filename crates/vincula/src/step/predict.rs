//! The start of a step: where every body would go without constraints.

use super::contact::set_loose_apart;
use super::error::inverted;
use super::{StepError, Workspace};
use crate::integrate::newton::{self, Stiffening};
use crate::integrate::tempered;
use crate::integrate::{Integrator, Scheme, bdf2, euler, free};
use crate::model::{Model, State};

/// Bodies that nothing holds take a short cut; the blocks left over are `work.active`.
pub(super) fn advance_free_bodies(model: &Model, state: &State, work: &mut Workspace, h: f64) {
    let short_cut = work.settings.integrator.projects() && model.ground.is_none();
    let plain = work.is_plain();
    work.active.clear();
    for (index, past) in state.blocks.iter().enumerate() {
        let kick = work.kicks.of(index);
        let next = &mut work.next[index];
        if work.quiet[index] {
            continue;
        }
        if work.sleep.rests(index) {
            next.clone_from(past);
            continue;
        }
        let done = short_cut
            && !work.jointed[index]
            && !work.touched[index]
            && free::advance(work.level, &model.params[index], past, kick, plain, h, next);
        if !done {
            work.active.push(index);
        }
    }
}

/// Where every body would go without constraints. Forces of rows that turn act with the
/// direction they had at the start of the step. Without such rows the first free solve is
/// made too.
pub(super) fn predict_free_motion(
    model: &Model,
    state: &State,
    work: &mut Workspace,
    h: f64,
) -> Result<Scheme, StepError> {
    let history = state
        .history
        .as_ref()
        .filter(|past| (past.h - h).abs() <= 1e-12 * h);
    let scheme = match (work.settings.integrator, history) {
        (Integrator::Tempered | Integrator::Rattle, _) => {
            tempered::scheme(h, work.settings.tempering())
        }
        (Integrator::Bdf2, Some(_)) => bdf2::scheme(h),
        (integrator, _) => euler::scheme(h, integrator == Integrator::LinearEuler),
    };
    let ahead = work.solves_ahead();
    let integrator = work.settings.integrator;
    work.each_block(|around, at| {
        let (level, index, n) = (around.level, at.index, at.n);
        let (params, past) = (&model.params[index], &state.blocks[index]);
        let (memory, kick) = (&state.memory[index], around.kicks.of(index));
        if !newton::polar_block(level, &past.a, &mut n.rot) {
            return Err(inverted(model, index, &past.a, state.time));
        }
        match (integrator, history) {
            (Integrator::Tempered | Integrator::Rattle, _) => {
                tempered::predict(level, params, past, memory, kick, &scheme, n);
            }
            (Integrator::Bdf2, Some(before)) => {
                let before = &before.blocks[index];
                bdf2::predict(level, params, past, memory, before, kick, &scheme, n);
                let a = n.a;
                if !newton::polar_block(level, &a, &mut n.rot) {
                    return Err(inverted(model, index, &a, state.time));
                }
            }
            _ => euler::predict(level, params, past, memory, kick, &scheme, n),
        }
        if integrator.projects() {
            n.t = n.t_pred;
        }
        // Whatever needs no other body is done while the block is at hand: going through
        // memory once more costs as much as the work itself.
        if ahead {
            newton::free_solve(level, params, &scheme, Stiffening::Tempered, n);
            around.joints.prepare(n, at.ports);
        }
        Ok([0.0; 2])
    })?;
    set_loose_apart(work);
    if work.settings.integrator.projects() {
        let forces = &state.held;
        work.dual
            .add_turning_loads(model, state, &scheme, forces, &mut work.newton);
    }
    Ok(scheme)
}
