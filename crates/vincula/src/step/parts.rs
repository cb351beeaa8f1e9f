//! A step that cannot be solved is taken in parts.
//!
//! Where bodies are struck harder than one linearisation can follow, half a step is often easy.
//! So a step that fails is taken in two halves, and a half that fails in two again. If that does
//! not help either, the state is as it was and the first reason is told.

use super::{StepError, StepReport, Workspace, attempt};
use crate::model::{Control, Model, State};

/// Takes the step in at most `parts` equal parts; the state is untouched on an error.
pub(super) fn in_halves(
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
        let part = attempt(model, state, control, work, 0.5 * h).ok();
        let part = part.or_else(|| in_halves(model, state, control, work, 0.5 * h, parts / 2));
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
pub(super) fn may_help(error: &StepError) -> bool {
    match error {
        StepError::BadStep(_) | StepError::Mismatch(_) => false,
        StepError::NotFinite { .. }
        | StepError::Inverted { .. }
        | StepError::Contact { .. }
        | StepError::Dual { .. } => true,
    }
}
