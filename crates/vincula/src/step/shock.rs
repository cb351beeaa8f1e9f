//! What running into a limit leaves behind.
//!
//! The default step begins with the joint forces of the end of the last one, since forces
//! change little in a step. Those of an impact last no longer than it does. Where a coordinate
//! has run into its limit the mechanism forgets its forces, and the next step is one of implicit
//! Euler. Blows of contacts are forgotten by `contact.rs`.

use super::Workspace;
use crate::math::lanes::{place, scatter};
use crate::model::{Model, State};

/// Clears the forces of the mechanisms that ran into a limit. The state has the joint forces of
/// this step already; `work.multipliers` are those of the last one.
pub(super) fn forget_limits(model: &Model, state: &mut State, work: &mut Workspace) {
    work.struck.fill(false);
    let struck = &mut work.struck;
    if !work
        .dual
        .struck_limits(&work.multipliers, &work.total, struck)
    {
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
