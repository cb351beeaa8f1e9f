//! One time step, top to bottom.

mod commit;
mod contact;
mod descend;
mod error;
mod flight;
mod predict;
mod shock;
mod solve;
mod velocity;

pub use crate::settings::{Settings, Workspace};
pub use error::StepError;

use crate::math::dispatch::Level;
use crate::model::{Control, Model, State};
use crate::stream;
use commit::commit;
pub(crate) use commit::is_sound;
use contact::find_contacts;
use predict::{advance_free_bodies, predict_free_motion};
use solve::solve_step;
use velocity::find_velocity;

/// What a step did.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepReport {
    /// Newton iterations.
    pub iterations: usize,
    /// Whether the last iteration changed less than the tolerance.
    pub converged: bool,
    /// Largest constraint violation at the end of the step, m.
    pub residual: f64,
    /// Largest change of an entry of A in the last iteration.
    pub update: f64,
    /// Points of contact that were considered, those not yet touching included.
    pub contacts: usize,
    /// Sweeps over the contacts, or iterations of another solver, in both stages.
    pub sweeps: usize,
    /// Largest violation of Coulomb's law, relative to the largest contact force.
    pub contact_residual: f64,
    /// How deep the worst contact is at the end of the step, m.
    pub penetration: f64,
}

/// Advances the state by h seconds.
///
/// On an error the state is untouched.
pub fn step(
    model: &Model,
    state: &mut State,
    control: &Control,
    work: &mut Workspace,
    h: f64,
) -> Result<StepReport, StepError> {
    check(model, state, control, work, h)?;
    work.gather_forces(model, state, control, h);
    if let Some(report) = stream::advance(model, state, work, h) {
        return Ok(report);
    }
    work.dual.start_axes(model, state, control);
    work.dual.start_forces(&state.held);
    find_contacts(model, state, control, work, h);
    advance_free_bodies(model, state, work, h);
    let scheme = predict_free_motion(model, state, work, h)?;
    let mut report = solve_step(model, state, work, &scheme)?;
    work.keep_multipliers();
    find_velocity(model, state, control, work, &scheme, &mut report)?;
    report.residual = work.dual.violation(model, &work.newton, h);
    commit(model, state, work, h)?;
    Ok(report)
}

fn check(
    model: &Model,
    state: &State,
    control: &Control,
    work: &Workspace,
    h: f64,
) -> Result<(), StepError> {
    if !(h > 0.0 && h.is_finite()) {
        return Err(StepError::BadStep(h));
    }
    let given = [
        ("state", state.identity),
        ("control", control.identity),
        ("workspace", work.identity),
    ];
    match given.iter().find(|(_, id)| *id != model.identity) {
        Some((what, _)) => Err(StepError::Mismatch(what)),
        None => Ok(()),
    }
}

/// The vector instructions in use, for reports.
pub fn level_in_use(work: &Workspace) -> Level {
    work.level
}
