//! The velocity at the end of a step.

use super::contact::{forget_blows, stop_approach, turn_loose};
use super::error::{dual_fault, inverted};
use super::{StepError, StepReport, Workspace};
use crate::dual::DualFault;
use crate::integrate::{Integrator, Scheme, newton, tempered};
use crate::model::{Control, Model, State};

/// The velocity that follows from the new pose; the default and RATTLE make it one that the
/// joints allow.
pub(super) fn find_velocity(
    model: &Model,
    state: &State,
    control: &Control,
    work: &mut Workspace,
    scheme: &Scheme,
    report: &mut StepReport,
) -> Result<(), StepError> {
    let far = report.iterations > 1 && work.settings.integrator == Integrator::Tempered;
    let (time, h) = (state.time, scheme.h);
    if work.settings.integrator.projects() {
        turn_velocity(model, work, scheme, far, time)?;
        turn_loose(model, work, scheme);
        if work.pushed_at_end() {
            work.gather_forces_again(model, time + h, control, h);
            for k in 0..work.active.len() {
                project_free(model, work, scheme, work.active[k]);
            }
        }
        return project_velocity(model, state, work, scheme, report)
            .map_err(|fault| dual_fault(model, fault, time));
    }
    for &index in &work.active {
        let n = &mut work.newton[index];
        newton::set_velocity(work.level, scheme, n);
        work.dual.find_places(index, n);
    }
    Ok(())
}

/// Velocity in the middle of a tempered step, and the rest of the free motion unless forces
/// are still to be gathered.
fn turn_velocity(
    model: &Model,
    work: &mut Workspace,
    scheme: &Scheme,
    far: bool,
    time: f64,
) -> Result<(), StepError> {
    for k in 0..work.active.len() {
        let index = work.active[k];
        let n = &mut work.newton[index];
        if !tempered::turn_velocity(work.level, &model.params[index], scheme, far, n) {
            let a = n.a;
            return Err(inverted(model, index, &a, time));
        }
        if !work.pushed_at_end() {
            project_free(model, work, scheme, index);
        }
    }
    Ok(())
}

/// Step 4 of a tempered step without joints, for one block.
fn project_free(model: &Model, work: &mut Workspace, scheme: &Scheme, index: usize) {
    let kick = &work.kicks[index.min(work.kicks.len() - 1)];
    let n = &mut work.newton[index];
    tempered::project_free(work.level, &model.params[index], kick, scheme, n);
    work.dual.find_velocities(index, n);
}

/// Second half of a tempered step: velocities that the joints allow.
fn project_velocity(
    model: &Model,
    state: &State,
    work: &mut Workspace,
    scheme: &Scheme,
    report: &mut StepReport,
) -> Result<(), DualFault> {
    // Forces of contacts are large against what a mechanism lets them move: they need the
    // matrix of the pose at the end, where without them that of the start is as good. After
    // more than one iteration it is not: where light bodies hang between heavy ones, a small
    // turn changes the forces much.
    let touched = !work.contacts.points.is_empty() && work.stage.touches_joints();
    let renew = touched || report.iterations > 1;
    work.dual
        .start_rates(model, &work.newton, scheme.h, !renew)?;
    if renew {
        renew_rates(model, work, scheme)?;
    }
    let mut renewed = renew;
    // A coupling of velocities has nothing but its rate to be held by, and a contact turns a small
    // error of a rate into a large force.
    let bare = model.couplings.is_empty() && work.contacts.points.is_empty();
    let slack = if bare { DRIFT } else { NO_DRIFT };
    // Nor have the laws of friction and drives anything else.
    let usual = work.settings.integrator == Integrator::Tempered;
    let lenient = work.linear || (usual && work.moves_only_joints(model));
    // With nothing left to do afterwards, the end comes while a block is at hand. The factors of a
    // step that was bent are somewhat old, and one solve leaves a drift that the next step would
    // have to bend for; nor are rows closed by one solve after bodies turned far from the flight.
    let sure = work.linear || (lenient && !renew && report.update <= SURE);
    let ends = sure && work.contacts.points.is_empty() && !work.was_bent;
    let mut tolerance = slack * work.settings.residual_tolerance;
    let mut previous = f64::INFINITY;
    for pass in 0..PASSES {
        let drift = work.dual.drift(&work.newton, scheme.h);
        if pass == 0 && lenient {
            tolerance = tolerance.max(LEFT * drift);
        }
        if pass > 0 && drift <= tolerance {
            break;
        }
        if pass > 0 && !(drift < 0.5 * previous) {
            if renewed {
                break;
            }
            // What the old matrix did too much lies in what the new one projects away.
            renew_rates(model, work, scheme)?;
            renewed = true;
        }
        previous = drift;
        work.dual.solve();
        while pass == 0 && work.dual.release_limits(scheme.h)? {
            work.dual.drift(&work.newton, scheme.h);
            work.dual.solve();
        }
        work.apply_dual(pass == 0);
        for k in 0..work.active.len() {
            let index = work.active[k];
            let n = &mut work.newton[index];
            work.dual.put_loads(index, n);
            tempered::project_add(work.level, pass == 0, scheme, n);
            if ends {
                tempered::project_end(work.level, &model.params[index], scheme, n);
                if work.measured.is_none() {
                    work.dual.find_places(index, n);
                }
                work.write_down(index);
            } else {
                work.dual.find_velocities(index, n);
            }
        }
        work.is_written = ends;
        if ends || (work.linear && !work.was_bent) {
            break;
        }
    }
    stop_approach(model, state, work, scheme, report)?;
    work.average_multipliers();
    if touched {
        forget_blows(state, work);
    }
    if !ends {
        for &index in &work.active {
            let n = &mut work.newton[index];
            tempered::project_end(work.level, &model.params[index], scheme, n);
            if work.measured.is_none() {
                work.dual.find_places(index, n);
            }
        }
    }
    Ok(())
}

/// The matrix of the pose at the end.
fn renew_rates(model: &Model, work: &mut Workspace, scheme: &Scheme) -> Result<(), DualFault> {
    for &index in &work.active {
        work.dual.find_compliances(index, &work.newton[index]);
    }
    work.dual.renew_rates(model, &work.newton, scheme.h)
}

/// How much farther than the residual joints may drift apart within a step: the next one closes
/// them anyway.
const DRIFT: f64 = 100.0;
/// The same where a rate must be right by itself.
const NO_DRIFT: f64 = 1.0;
/// What may be left of a drift where rows are constraints only: the next step closes them. One solve
/// with the matrix of the start leaves about the angle of the step, so this is of second order.
const LEFT: f64 = 0.1;
/// Change of an entry of A in a step up to which one solve is known to leave less: it leaves about
/// a hundred times this part in long chains of hinges, and less in all else that was tried.
const SURE: f64 = 3e-4;
/// Solves at most for a velocity that nonlinear joints allow.
const PASSES: usize = 8;
