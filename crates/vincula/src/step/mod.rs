//! One time step, top to bottom.

mod commit;
mod contact;
mod descend;
mod error;
mod flight;
mod halves;
mod late;
mod parts;
pub(crate) mod passive;
mod predict;
mod shock;
pub(crate) mod sleep;
mod solve;
mod travel;
mod turns;
mod velocity;
mod yielding;

pub use crate::settings::Settings;
pub use crate::workspace::Workspace;
pub use error::StepError;

use crate::contact::stage::Care;
use crate::integrate::Integrator;
use crate::math::dispatch::Level;
use crate::model::{Control, Model, State};
use crate::stream::runs;
use crate::{serial, stream};
use commit::commit;
pub(crate) use commit::write_down;
use contact::find_contacts;
pub(crate) use descend::{Descent, Iterates};
use predict::{advance_free_bodies, predict_free_motion};
use solve::solve_step;
pub(crate) use solve::{BENT, CHORD, CLOSED};
use travel::parts_wanted;
use velocity::find_velocity;
pub(crate) use velocity::{DRIFT, LEFT, PASSES, SURE};

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
    /// Parts that the step was taken in: one, unless it could not be solved as a whole.
    pub parts: usize,
}

/// Advances the state by h seconds.
///
/// A step that cannot be solved is taken in parts ([`Settings::part_limit`]). Contact
/// readings are then those of the last part.
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
    if let Some(apart) = &mut work.apart {
        return apart.step(model, state, control, h);
    }
    step_together(model, state, control, work, h)
}

/// Makes the step of all bodies together; as a whole, or in parts where that fails.
pub(crate) fn step_together(
    model: &Model,
    state: &mut State,
    control: &Control,
    work: &mut Workspace,
    h: f64,
) -> Result<StepReport, StepError> {
    work.stage.forgive();
    if let Some(report) = prepare(model, state, control, work, h) {
        return Ok(report);
    }
    // Frames that the user moves are where they are told to be only at the start of a step.
    let most = match control.frames.is_empty() {
        true => work.settings.part_limit,
        false => 1,
    };
    let count = parts_wanted(model, state, work, h, most);
    if count > 1 {
        return parts::in_equal(model, state, control, work, h, count);
    }
    let done = carry_out(model, state, control, work, h);
    parts::or_in_halves(done, model, state, control, work, h, most)
}

impl StepReport {
    /// Of a step that one linear solve was enough for, without contacts.
    pub(crate) fn ordinary(update: f64, residual: f64) -> StepReport {
        StepReport {
            iterations: 1,
            converged: true,
            residual,
            update,
            contacts: 0,
            sweeps: 0,
            contact_residual: 0.0,
            penetration: 0.0,
            parts: 1,
        }
    }
}

/// Makes the step as a whole.
fn attempt(
    model: &Model,
    state: &mut State,
    control: &Control,
    work: &mut Workspace,
    h: f64,
) -> Result<StepReport, StepError> {
    match prepare(model, state, control, work, h) {
        Some(report) => Ok(report),
        None => carry_out(model, state, control, work, h),
    }
}

/// Gathers forces and finds contacts. Chains are done already.
fn prepare(
    model: &Model,
    state: &mut State,
    control: &Control,
    work: &mut Workspace,
    h: f64,
) -> Option<StepReport> {
    work.keeps_past = false;
    work.gather_forces(model, state, control, h);
    if let Some(report) = stream::advance(model, state, control, work, h) {
        return Some(report);
    }
    if let Some(report) = serial::advance(model, state, work, h) {
        return Some(report);
    }
    if let Some(runs) = &mut work.runs {
        runs.reset(&state.contacts);
    }
    sleep::wake_pushed(model, state, control, work);
    find_contacts(model, state, control, work, h);
    None
}

/// Makes a step that is prepared, and again with the contacts that are seen only at its end. Where it
/// started is then in `work.past`, if it may have to be made once more.
fn carry_out(
    model: &Model,
    state: &mut State,
    control: &Control,
    work: &mut Workspace,
    h: f64,
) -> Result<StepReport, StepError> {
    work.late.points.clear();
    work.keeps_past = late::may_repeat(model, state, work, h);
    let mut report = advance(model, state, control, work, h)?;
    if !work.keeps_past {
        return Ok(report);
    }
    let looks = look_back(work, |past, work| {
        late::repeats(model, [past, state], work, h)
    });
    for look in 0..looks {
        let missed = look_back(work, |past, work| {
            late::find_missed(model, past, state, control, work, h)
        });
        if !missed {
            break;
        }
        go_back(state, work);
        work.gather_forces(model, state, control, h);
        report = advance(model, state, control, work, h)?;
        if look + 1 == looks {
            look_back(work, |past, work| {
                late::look(model, [past, state], control, work, h);
            });
        }
    }
    if looks > 0 && work.stage.care() != Care::Exact {
        report.penetration = report.penetration.max(work.late.penetration());
    }
    Ok(report)
}

/// Looks at where the step started, which is kept.
fn look_back<T: Default>(
    work: &mut Workspace,
    look: impl FnOnce(&State, &mut Workspace) -> T,
) -> T {
    let past = work.past.take();
    let seen = past.as_ref().map(|past| look(past, work));
    work.past = past;
    seen.unwrap_or_default()
}

/// Returns to where the step started, which is kept.
fn go_back(state: &mut State, work: &mut Workspace) {
    if let Some(past) = &mut work.past {
        std::mem::swap(state, past);
    }
}

/// Makes the step with the contacts that are known. A blow pulls at joints so hard that no step of
/// RATTLE resolves how the bodies turn under it: such steps are tempered.
fn advance(
    model: &Model,
    state: &mut State,
    control: &Control,
    work: &mut Workspace,
    h: f64,
) -> Result<StepReport, StepError> {
    let integrator = work.settings.integrator;
    if integrator == Integrator::Rattle && touches_joints(work) {
        work.settings.integrator = Integrator::Tempered;
    }
    let report = advance_as_set(model, state, control, work, h);
    work.settings.integrator = integrator;
    report
}

/// Whether contacts touch bodies that are beside jointed ones.
fn touches_joints(work: &Workspace) -> bool {
    !work.contacts.points.is_empty()
        && work
            .touched
            .iter()
            .zip(&work.jointed)
            .any(|(t, j)| *t && *j)
}

/// The same with the integrator that is set.
fn advance_as_set(
    model: &Model,
    state: &mut State,
    control: &Control,
    work: &mut Workspace,
    h: f64,
) -> Result<StepReport, StepError> {
    let mut attempts = 0;
    let (scheme, mut report, open) = loop {
        work.dual.start_axes(model, state, control);
        work.dual.start_forces(&state.held);
        (work.is_written, work.is_sound) = (false, true);
        runs::leave_out(work, attempts);
        attempts += 1;
        if !runs::begin(state, work, h) {
            continue;
        }
        advance_free_bodies(model, state, work, h);
        let scheme = predict_free_motion(model, state, work, h)?;
        let report = solve_step(model, state, work, &scheme)?;
        // Links that turn out to need more than one linear solve are seen by the next attempt.
        if let Some(open) = runs::answer_first(state, work, h) {
            break (scheme, report, open);
        }
        work.stage.keep_forces(&work.contacts.points);
        work.stage.reset();
    };
    work.keep_multipliers();
    find_velocity(model, state, control, work, &scheme, &mut report)?;
    report.residual = match work.measured {
        // The velocity moves nothing.
        Some(violation) => violation,
        None => work.dual.violation(model, &work.newton, h),
    };
    report.residual = report.residual.max(open);
    commit(model, state, control, work, h)?;
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
