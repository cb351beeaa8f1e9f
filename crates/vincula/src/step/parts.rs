//! A step that cannot be solved is taken in parts, and so is one that is known to be too long.
//!
//! Where bodies are struck harder than one linearisation can follow, half a step is often easy.
//! So a step that fails is taken in two halves, and a half that fails in two again. If that does
//! not help either, the state is as it was and the first reason is told.

use super::{StepError, StepReport, Workspace, attempt, go_back};
use crate::contact::stage::Care;
use crate::model::{Control, Model, State};

/// Change of an entry of A in the last linearisation beyond which a step that did not settle is
/// not believed.
const ASTRAY: f64 = 0.05;
/// Violation of Coulomb's law, relative to the largest force, beyond which it is not either, where
/// contacts of a large mechanism are solved all at once and are no crowd.
const LAWLESS: f64 = 1e-6;
/// Overlap beyond which neither is, as a part of half the thickness of the thinnest body: 1 % of it.
const DEEP: f64 = 0.02;
/// Overlap that many contacts are not moved out of, measured so.
const SHALLOW: f64 = 0.005;

/// Times as many parts that a step is taken in before it is refused.
const LAST_RESORT: usize = 8;

/// What was done, or the step in halves where that failed or is not to be believed.
pub(super) fn or_in_halves(
    done: Result<StepReport, StepError>,
    model: &Model,
    state: &mut State,
    control: &Control,
    work: &mut Workspace,
    h: f64,
    most: usize,
) -> Result<StepReport, StepError> {
    match done {
        Ok(report) if most > 1 && work.keeps_past && is_astray(&report, work) => {
            go_back(state, work);
            match in_halves(model, state, control, work, h, most) {
                Some(report) => Ok(report),
                None => attempt(model, state, control, work, h),
            }
        }
        Err(error) if most > 1 && may_help(&error) => {
            let mut halve = |parts| in_halves(model, state, control, work, h, parts);
            halve(most)
                .or_else(|| halve(LAST_RESORT * most))
                .ok_or(error)
        }
        done => done,
    }
}

fn is_astray(report: &StepReport, work: &Workspace) -> bool {
    if work.passive.failed() {
        return true;
    }
    if !work.stage.holds_any() {
        return false;
    }
    let large = work.stage.care() != Care::Exact;
    let lost = !report.converged && report.update > ASTRAY && large;
    // Among thousands of contacts a step in halves would take minutes for little.
    let some = work.stage.care() == Care::Good;
    let lawless = report.contact_residual > LAWLESS && some && work.stage.is_direct();
    let deep = is_too_deep(report.penetration.max(work.late.penetration()), work);
    lost || lawless || deep || !work.is_enough(|| report.contact_residual)
}

/// Whether contacts end deeper than is borne. What was inside at the start is on its way out.
pub(super) fn is_too_deep(depth: f64, work: &Workspace) -> bool {
    depth > borne(work)
}

/// The overlap that is borne at the end of a step, m.
pub(super) fn borne(work: &Workspace) -> f64 {
    (DEEP * work.thinnest).max(work.inside)
}

/// The overlap that many contacts are not moved out of, m.
pub(super) fn shallow(work: &Workspace) -> f64 {
    SHALLOW * work.thinnest
}

/// Takes the step in equal parts; the state is untouched on an error.
pub(super) fn in_equal(
    model: &Model,
    state: &mut State,
    control: &Control,
    work: &mut Workspace,
    h: f64,
    parts: usize,
) -> Result<StepReport, StepError> {
    let room = work.whole.take();
    let mut before = room.unwrap_or_else(|| Box::new(state.clone()));
    work.copy_state(state, &mut before);
    let part = h / parts as f64;
    // Few parts may each be halved more often than many.
    let most = (2 * work.settings.part_limit / parts).max(2);
    let mut whole: Option<Result<StepReport, StepError>> = None;
    for _ in 0..parts {
        let done = attempt(model, state, control, work, part);
        let done = or_in_halves(done, model, state, control, work, part, most);
        whole = Some(match (whole, done) {
            (Some(Ok(first)), Ok(next)) => Ok(first.then(&next)),
            (_, done) => done,
        });
        if let Some(Err(_)) = whole {
            std::mem::swap(state, &mut before);
            break;
        }
    }
    let whole = whole.unwrap_or(Err(StepError::BadStep(h)));
    if whole.is_ok() {
        // Parts do not always add up to the last bit.
        state.time = before.time + h;
    }
    work.whole = Some(before);
    whole
}

/// Takes the step in at most `parts` equal parts; the state is untouched on an error.
fn in_halves(
    model: &Model,
    state: &mut State,
    control: &Control,
    work: &mut Workspace,
    h: f64,
    parts: usize,
) -> Option<StepReport> {
    if parts < 2 {
        return None;
    }
    let before = state.clone();
    let mut whole: Option<StepReport> = None;
    for _ in 0..2 {
        // What is not to be believed is made again while it can be.
        let start = (parts > 3).then(|| state.clone());
        let part = attempt(model, state, control, work, 0.5 * h).ok();
        let part = match (part, start) {
            (Some(report), Some(start)) if is_astray(&report, work) => {
                let end = std::mem::replace(state, start);
                let halves = in_halves(model, state, control, work, 0.5 * h, parts / 2);
                if halves.is_none() {
                    *state = end;
                }
                halves.or(Some(report))
            }
            (None, _) => in_halves(model, state, control, work, 0.5 * h, parts / 2),
            (part, _) => part,
        };
        let Some(part) = part else {
            *state = before;
            return None;
        };
        whole = Some(whole.map_or(part, |first| first.then(&part)));
    }
    // Halves do not always add up to the last bit.
    state.time = before.time + h;
    whole
}

impl StepReport {
    /// The report of two steps, one after the other.
    fn then(&self, next: &StepReport) -> StepReport {
        StepReport {
            iterations: self.iterations + next.iterations,
            converged: self.converged && next.converged,
            residual: next.residual,
            update: next.update,
            contacts: next.contacts,
            sweeps: self.sweeps + next.sweeps,
            contact_residual: self.contact_residual.max(next.contact_residual),
            penetration: self.penetration.max(next.penetration),
            parts: self.parts + next.parts,
        }
    }
}

/// Whether a shorter step may help.
fn may_help(error: &StepError) -> bool {
    match error {
        StepError::BadStep(_) | StepError::Mismatch(_) => false,
        StepError::NotFinite { .. }
        | StepError::Inverted { .. }
        | StepError::Contact { .. }
        | StepError::Open { .. }
        | StepError::Dual { .. } => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prelude::*;

    #[test]
    fn two_halves_are_two_steps() {
        let mut builder = ModelBuilder::new();
        let half_extents = DVec3::new(0.5, 0.05, 0.05);
        let rod = BodyDef::new("rod", Shape::Box { half_extents }, 1000.0).at(DVec3::X * 0.5);
        let rod = builder.body(rod);
        builder.joint(JointDef::ball("pivot", World, rod, DVec3::ZERO));
        let model = builder.build().unwrap();
        let control = Control::new(&model);
        let (mut halved, mut twice) = (model.initial_state(), model.initial_state());
        let mut work = Workspace::new(&model, Settings::default());
        let h = 0.02;
        let report = in_halves(&model, &mut halved, &control, &mut work, h, 2).unwrap();
        assert_eq!((report.parts, report.iterations), (2, 2));
        for _ in 0..2 {
            attempt(&model, &mut twice, &control, &mut work, 0.5 * h).unwrap();
        }
        assert_eq!(halved.center(rod), twice.center(rod));
        assert_eq!(halved.time, h);
        let refused = in_halves(&model, &mut halved, &control, &mut work, h, 1);
        assert!(refused.is_none());
        assert_eq!(halved.time, h);
    }
}
