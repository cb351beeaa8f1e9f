//! Energy that grows where nothing feeds it is taken out again.
//!
//! Contacts and joints do no work, but a step of finite length lets the energy of what they hold
//! grow a little: moving out of an overlap lifts what lies above, arms turn within a step, a blow is
//! followed by few linearisations. In a world where something may touch, let δ be what the energy of a
//! *group*, bodies that hang together by contacts that push and by joints, has gained in the step,
//!
//! ```text
//! E = Σ ½ m |v|² + ½ tr(Ȧ S Ȧᵀ) − m g·t + strain + springs along joints + penalty ground
//! ```
//!
//! and v_r the rigid motion of the whole group that has its momentum and angular momentum, zero where
//! something that stands still holds it. The two parts of the velocity are orthogonal in the metric of
//! the mass, so that
//!
//! ```text
//! v⁺ = v_r + s (v − v_r),   Ȧ⁺ = [Ω]A + s (Ȧ − [Ω]A),   s² = max(0, 1 − δ / K(v − v_r))
//! ```
//!
//! takes out δ. It keeps momentum, the rates that joints and contacts allow, and the direction of
//! every slip. Loose bodies in flight, which keep their energy by themselves, and what something feeds are
//! left alone.
//!
//! A blow on jointed bodies may leave more strain than there is motion to take it from. Then shorter steps
//! follow the blow (`parts.rs`).
//!
//! The error of a step goes up and down, and would be a brake if only its way up were taken out. So what
//! is taken is lent: where a later step loses energy, as much of it is given back, by s > 1. No
//! step ends with more energy than it starts with, and no course has less than it would have had but for
//! what is still lent. What is lost for good counts as given back.

mod fabric;
mod groups;
mod rise;
mod slow;

use super::Workspace;
use crate::model::{BodyId, Control, Model, State};
use fabric::Fabric;
use groups::Groups;

/// What is left at most of a gain, relative to how the group moves, before the step is made again in parts.
const LEFT: f64 = 1e-4;

/// Who hangs together, and what became of its energy in the last step.
#[derive(Debug, Default)]
pub(crate) struct Passive {
    fabric: Fabric,
    groups: Groups,
    /// What is lent at the end of the step, by body, J.
    lent: Vec<f64>,
    /// What a group gained at most that could not be taken from it, relative to how it moves.
    left: f64,
}

impl Passive {
    /// Room for a model; none where nothing collides.
    pub fn new(model: &Model) -> Passive {
        if model.collision.colliders.is_empty() {
            return Passive::default();
        }
        Passive {
            fabric: Fabric::new(model),
            groups: Groups::new(model.lenders()),
            lent: vec![0.0; model.lenders()],
            left: 0.0,
        }
    }

    /// Whether a group gained in the last step what could not be taken from its motion, so that shorter steps
    /// are worth their time.
    pub fn failed(&self) -> bool {
        self.left > LEFT
    }

    /// What is lent at the end of the step, by body, J.
    pub fn lent(&mut self) -> &mut Vec<f64> {
        &mut self.lent
    }

    /// By what velocities relative to that of the whole group of a body were multiplied at last.
    pub fn factor(&self, body: BodyId) -> f64 {
        let mechanism = self.fabric.mechanism.get(body.index());
        let gainer = mechanism.and_then(|m| self.groups.gainer_of(*m));
        gainer.map_or(1.0, |gainer| gainer.factor)
    }
}

/// Takes out of the end of the step, which is about to replace the start, what groups of touching
/// bodies have gained, or gives back what was taken. Returns whether what is lent has changed.
pub(super) fn keep_passive(
    model: &Model,
    state: &State,
    control: &Control,
    work: &mut Workspace,
) -> bool {
    work.passive.groups.forget();
    work.passive.left = 0.0;
    // With other integrators a rotation strains, which is no gain. Of long chains that are streamed
    // past, not every link is looked at.
    let settings = &work.settings;
    if !settings.passive || !settings.integrator.projects() || work.runs.is_some() {
        return false;
    }
    if !groups::find(model, control, work) {
        return false;
    }
    rise::measure(model, state, work);
    let Passive { groups, lent, .. } = &mut work.passive;
    if groups.gainers.is_empty() {
        return false;
    }
    lent.clone_from(&state.lent);
    slow::settle(model, work);
    true
}
