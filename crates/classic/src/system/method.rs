//! What every classic method promises.

use thiserror::Error;
use vincula::body::rigid::RigidBody;
use vincula::model::{Control, Model, State};

use super::System;

/// Why a method will not take a model, and which method will.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{method} cannot run this model: {reason}; use {instead}")]
pub struct Refusal {
    /// The method that refuses.
    pub method: &'static str,
    /// What stands in the way, by name.
    pub reason: String,
    /// Methods that can, as they are called on the command line.
    pub instead: &'static str,
}

/// Why a step could not be made. The system is as it was before.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum MethodError {
    /// The step length is not a positive, finite number.
    #[error("the step length is {0} s; it must be positive and finite")]
    BadStep(f64),
    /// A motion is not finite any more.
    #[error("body '{body}' would get a non-finite motion; use a smaller step or check the forces")]
    NotFinite {
        /// Name of the body.
        body: String,
    },
    /// Constraints that say the same thing twice, for a method that cannot take it.
    #[error("the rows of '{culprit}' depend on others, which {method} cannot take; use {instead}")]
    Singular {
        /// The method.
        method: &'static str,
        /// Joint or other constraint where it was noticed.
        culprit: String,
        /// Methods that can.
        instead: &'static str,
    },
    /// Constraints that cannot hold together.
    #[error("the constraints do not hold together at '{culprit}': {detail}; use {instead}")]
    Conflict {
        /// Joint or other constraint where it was noticed.
        culprit: String,
        /// By how much.
        detail: String,
        /// Methods that can.
        instead: &'static str,
    },
    /// A solver inside gave up.
    #[error("{method}: {reason}")]
    Solver {
        /// The method.
        method: &'static str,
        /// What it said.
        reason: String,
    },
}

/// What one step did.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MethodReport {
    /// Iterations, or solves with the factored matrix.
    pub iterations: usize,
    /// Whether the step reached its tolerance.
    pub converged: bool,
    /// Largest violation of a joint at the end of the step, m.
    pub residual: f64,
}

/// A method that advances a rigid system.
pub trait Method {
    /// The name on the command line.
    fn name(&self) -> &'static str;

    /// Advances by `h` seconds under the wrenches of `control`. On failure the system stays
    /// as it was.
    fn step(
        &mut self,
        model: &Model,
        control: &Control,
        h: f64,
    ) -> Result<MethodReport, MethodError>;

    /// Where everything is.
    fn system(&self) -> &System;

    /// Takes up another state of the same model and forgets the past.
    fn reset(&mut self, model: &Model, state: &State);

    /// How the constraints are solved, in words.
    fn plan(&self) -> String;
}

/// Refuses step lengths that mean nothing.
pub fn check_step(h: f64) -> Result<(), MethodError> {
    if h > 0.0 && h.is_finite() {
        Ok(())
    } else {
        Err(MethodError::BadStep(h))
    }
}

/// A violation that a method which closes joints should not leave, m.
const OPEN: f64 = 1e-5;
/// The part of it that may stay before the joints count as conflicting.
const STAYS: f64 = 0.5;

/// Tells joints that do not fit together from joints that are not closed yet: an error if a
/// joint of the system, which a method has tried to close, is about as far open as one was
/// `before`, m.
pub fn check_conflict(system: &System, before: f64) -> Result<(), MethodError> {
    match system.worst_violation() {
        (after, Some(joint)) if after > OPEN && before > OPEN && after > STAYS * before => {
            Err(MethodError::Conflict {
                culprit: system.joints[joint].name.clone(),
                detail: format!("it stays open by {after:.3e} m"),
                instead: "--method affine, whose bodies can give way",
            })
        }
        _ => Ok(()),
    }
}

/// The same where the system was at these bodies before.
pub fn check_conflict_since(
    system: &mut System,
    before: &mut [RigidBody],
) -> Result<(), MethodError> {
    system.bodies.swap_with_slice(before);
    let violation = system.worst_violation().0;
    system.bodies.swap_with_slice(before);
    check_conflict(system, violation)
}

/// Refuses what no classic method knows: dry friction along free coordinates, and couplings of
/// several coordinates.
pub fn refuse_foreign(method: &'static str, model: &Model) -> Result<(), Refusal> {
    if let Some(coupling) = model.couplings().first() {
        return Err(Refusal {
            method,
            reason: format!("'{}' couples coordinates of joints", coupling.name),
            instead: "--method affine",
        });
    }
    let with_friction =
        |joint: &&vincula::joint::Joint| joint.axes.iter().any(|axis| axis.law.friction > 0.0);
    match model.joints().iter().find(with_friction) {
        None => Ok(()),
        Some(joint) => Err(Refusal {
            method,
            reason: format!("joint '{}' has dry friction", joint.name),
            instead: "--method affine",
        }),
    }
}

/// Refuses limits of free coordinates, for methods without unilateral constraints.
pub fn refuse_limits(method: &'static str, model: &Model) -> Result<(), Refusal> {
    let limited = |joint: &&vincula::joint::Joint| {
        let limit = |x: &f64| x.is_finite();
        joint
            .axes
            .iter()
            .any(|axis| axis.law.limits.iter().any(limit))
    };
    match model.joints().iter().find(limited) {
        None => Ok(()),
        Some(joint) => Err(Refusal {
            method,
            reason: format!("joint '{}' has limits", joint.name),
            instead: "--method baraff or affine",
        }),
    }
}
