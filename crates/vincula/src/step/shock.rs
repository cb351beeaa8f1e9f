//! What an impact leaves behind.
//!
//! The default step begins with the joint forces of the end of the last one, since forces
//! change little in a step. Those of an impact last no longer than it does. Where a contact or
//! a limit has begun to push, or pushes much harder than before, the mechanism forgets its
//! forces, and the next step is one of implicit Euler.

use super::Workspace;
use crate::math::lanes::{place, scatter};
use crate::model::{Model, State};

/// Growth of a contact force within a step that is an impact.
const IMPACT: f64 = 2.0;

/// Clears the forces of the mechanisms that were struck. The state remembers the contacts of
/// the last step still, and the joint forces of this one already; `work.multipliers` are the
/// joint forces of the last step.
pub(super) fn forget_shocks(model: &Model, state: &mut State, work: &mut Workspace) {
    work.struck.fill(false);
    let limits = work
        .dual
        .struck_limits(&work.multipliers, &work.total, &mut work.struck);
    if !(mark_contacts(state, work) | limits) {
        return;
    }
    for (index, joint) in model.joints.iter().enumerate() {
        if !work.struck[work.dual.island_of_joint(index)] {
            continue;
        }
        let rows = work.dual.rows_of(index);
        state.held[rows].fill(0.0);
        for body in [joint.a.endpoint, joint.b.endpoint] {
            if let Some(body) = body.index() {
                let (block, lane) = place(body);
                scatter(&mut state.memory[block].load, lane, &[0.0; 9]);
            }
        }
    }
}

/// Marks the mechanisms that a contact struck; true if there is one.
fn mark_contacts(state: &State, work: &mut Workspace) -> bool {
    let mut any = false;
    for (index, point) in work.contacts.points.iter().enumerate() {
        let Some(force) = work.stage.force_and_before(index, &state.contacts) else {
            continue;
        };
        let [now, before] = force;
        if !(now > IMPACT * before) {
            continue;
        }
        for body in [point.a, point.b].into_iter().flatten() {
            if let Some(island) = work.dual.island_of_body(body.index()) {
                work.struck[island] = true;
                any = true;
            }
        }
    }
    any
}
