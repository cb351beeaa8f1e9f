//! Why a step can fail, and the names of the culprits.

use thiserror::Error;

use super::Workspace;
use super::commit::is_sound;
use crate::dual::DualFault;
use crate::math::lanes::{LANES, gather};
use crate::model::{Model, StateBlock};

/// Why a step could not be made. The state is as it was before.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StepError {
    /// The step length is not a positive, finite number.
    #[error("the step length is {0} s; it must be positive and finite")]
    BadStep(f64),
    /// The state, the control or the workspace was made for another model.
    #[error("the {0} is one of another model; make it from the model that is stepped")]
    Mismatch(&'static str),
    /// A body's motion is not finite any more.
    #[error(
        "body '{body}' would get a non-finite motion at t = {time} s; use a smaller step or check \
         the forces on it"
    )]
    NotFinite {
        /// Name of the body.
        body: String,
        /// Time at the start of the step, s.
        time: f64,
    },
    /// A body was crushed flat or turned inside out.
    #[error(
        "body '{body}' is crushed flat or turned inside out at t = {time} s; use a smaller step or \
         a stiffer material"
    )]
    Inverted {
        /// Name of the body.
        body: String,
        /// Time at the start of the step, s.
        time: f64,
    },
    /// Contacts could not be resolved: a body would be thrown off.
    #[error(
        "the contacts around body '{body}' could not be resolved at t = {time} s: it would be \
         thrown off at {speed:.3e} m/s; use a smaller step"
    )]
    Contact {
        /// Name of the body.
        body: String,
        /// Speed it would get, m/s.
        speed: f64,
        /// Time at the start of the step, s.
        time: f64,
    },
    /// A joint could not be closed.
    #[error(
        "joint '{joint}' stays open by {gap:.1e} m at t = {time} s, with what pushes against it; use \
         a smaller step"
    )]
    Open {
        /// Name of the joint.
        joint: String,
        /// How far it is open, m.
        gap: f64,
        /// Time at the start of the step, s.
        time: f64,
    },
    /// The dual system could not be factored.
    #[error("the joints around '{joint}' could not be solved at t = {time} s: {reason}")]
    Dual {
        /// Name of a joint of the island.
        joint: String,
        /// Time at the start of the step, s.
        time: f64,
        /// What the solver said.
        reason: String,
    },
}

pub(super) fn dual_fault(model: &Model, fault: DualFault, time: f64) -> StepError {
    StepError::Dual {
        joint: model.joints[fault.joint].name.clone(),
        time,
        reason: fault.source.to_string(),
    }
}

/// Names the first body whose iterate is not finite.
pub(super) fn diverged(model: &Model, work: &Workspace, time: f64) -> StepError {
    let block_of = |index: usize| {
        let n = &work.newton[index];
        StateBlock {
            a: n.a,
            t: n.t,
            w: n.w,
            v: n.v,
        }
    };
    let bad = work
        .active
        .iter()
        .copied()
        .find(|&index| !is_sound(&block_of(index)))
        .unwrap_or(0);
    not_finite(model, bad, &block_of(bad), time)
}

pub(super) fn not_finite(model: &Model, block: usize, next: &StateBlock, time: f64) -> StepError {
    let finite = |lane: usize| {
        let a: [f64; 9] = gather(&next.a, lane);
        let w: [f64; 9] = gather(&next.w, lane);
        let t: [f64; 3] = gather(&next.t, lane);
        let v: [f64; 3] = gather(&next.v, lane);
        a.iter()
            .chain(&w)
            .chain(&t)
            .chain(&v)
            .all(|x| x.is_finite())
    };
    let lane = (0..LANES).find(|&lane| !finite(lane)).unwrap_or(0);
    StepError::NotFinite {
        body: body_name(model, block, lane),
        time,
    }
}

pub(super) fn body_name(model: &Model, block: usize, lane: usize) -> String {
    model
        .bodies
        .get(block * LANES + lane)
        .map_or_else(String::new, |b| b.name.clone())
}

pub(super) fn inverted(model: &Model, block: usize, a: &[[f64; LANES]; 9], time: f64) -> StepError {
    let lane = (0..LANES)
        .find(|&lane| crate::math::rotation::polar(&gather(a, lane)).is_none())
        .unwrap_or(0);
    StepError::Inverted {
        body: body_name(model, block, lane),
        time,
    }
}
