//! The velocity at the end of a step.

use super::commit::write_down;
use super::contact::{find_lasting, forget_blows, stop_approach, turn_loose};
use super::error::{dual_fault, inverted};
use super::halves::{Around, At};
use super::{StepError, StepReport, Workspace};
use crate::dual::DualFault;
use crate::integrate::{Integrator, Scheme, newton, tempered};
use crate::model::{Control, Model, State};
use crate::stream::runs;

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
            work.for_each_block(|around, at| project_free(model, scheme, around, at));
        }
        return project_velocity(model, state, work, scheme, report)
            .map_err(|fault| dual_fault(model, fault, time));
    }
    work.for_each_block(|around, at| {
        newton::set_velocity(around.level, scheme, at.n);
        around.joints.find_places(at.n, at.ports);
    });
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
    let pushed = work.pushed_at_end();
    work.each_block(|around, at| {
        let params = &model.params[at.index];
        if !tempered::turn_velocity(around.level, params, scheme, far, at.n) {
            return Err(inverted(model, at.index, &at.n.a, time));
        }
        if !pushed {
            project_free(model, scheme, around, at);
        }
        Ok([0.0; 2])
    })?;
    Ok(())
}

/// Step 4 of a tempered step without joints, for one block.
fn project_free(model: &Model, scheme: &Scheme, around: &Around<'_>, at: At<'_>) {
    let (params, kick) = (&model.params[at.index], around.kicks.of(at.index));
    tempered::project_free(around.level, params, kick, scheme, at.n);
    around.joints.find_velocities(at.n, at.ports);
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
    let renew = touched || report.iterations > 1 || work.dual.is_short();
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
    let measured = work.measured.is_some();
    let ends = sure && work.contacts.points.is_empty() && !work.was_bent;
    let mut tolerance = slack * work.settings.residual_tolerance;
    let mut previous = f64::INFINITY;
    let ahead = lenient && !work.linear;
    if ahead {
        let given = expect_forces(work, scheme)?;
        tolerance = tolerance.max(LEFT * scheme.h * given);
    }
    for pass in 0..PASSES {
        let drift = work.dual.drift(&work.newton, scheme.h);
        if pass == 0 && lenient && !ahead {
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
            work.dual.try_rates(&work.newton, scheme.h);
        }
        let first = pass == 0 && !ahead;
        work.apply_dual(first);
        let found = work.each_block(|around, at| {
            let (level, n) = (around.level, at.n);
            around.joints.put_loads(at.index, n, at.ports);
            tempered::project_add(level, first, scheme, n);
            if !ends {
                around.joints.find_velocities(n, at.ports);
                return Ok::<_, DualFault>([0.0; 2]);
            }
            tempered::project_end(level, &model.params[at.index], scheme, n);
            if !measured {
                around.joints.find_places(n, at.ports);
            }
            Ok([write_down(level, n, at.next, at.memory), 0.0])
        });
        work.is_sound &= found?[0] == 0.0;
        work.is_written = ends;
        if ends || (work.linear && !work.was_bent) {
            break;
        }
    }
    stop_approach(model, state, work, scheme, report)?;
    let kept = match touched {
        true => find_lasting(state, work),
        false => None,
    };
    work.is_sound &= runs::finish_second(state, work, scheme.h, kept);
    work.average_multipliers();
    if touched {
        forget_blows(state, work);
    }
    if !ends {
        work.for_each_block(|around, at| {
            tempered::project_end(around.level, &model.params[at.index], scheme, at.n);
            if !measured {
                around.joints.find_places(at.n, at.ports);
            }
        });
    }
    Ok(())
}

/// Lets the forces of the position solve act on the velocity too. Those of the velocity differ from
/// them by what changes within a step, and only that is left to be solved for: with the matrix of
/// the start, one solve is then enough. Returns the largest velocity that they give a body, m/s.
fn expect_forces(work: &mut Workspace, scheme: &Scheme) -> Result<f64, DualFault> {
    work.dual.lambda.copy_from_slice(&work.total);
    work.apply_dual(true);
    let found = work.each_block(|around, at| {
        let n = at.n;
        around.joints.put_loads(at.index, n, at.ports);
        let given = tempered::given(around.level, scheme, n);
        tempered::project_add(around.level, true, scheme, n);
        around.joints.find_velocities(n, at.ports);
        Ok([given, 0.0])
    });
    Ok(found?[0])
}

/// The matrix of the pose at the end.
fn renew_rates(model: &Model, work: &mut Workspace, scheme: &Scheme) -> Result<(), DualFault> {
    work.for_each_block(|around, at| around.joints.find_compliances(at.n, at.ports));
    work.dual.renew_rates(model, &work.newton, scheme.h)
}

/// How much farther than the residual joints may drift apart within a step: the next one closes
/// them anyway.
pub(crate) const DRIFT: f64 = 100.0;
/// The same where a rate must be right by itself.
const NO_DRIFT: f64 = 1.0;
/// What may be left of a drift where rows are constraints only: the next step closes them. One solve
/// with the matrix of the start leaves about the angle of the step, so this is of second order.
pub(crate) const LEFT: f64 = 0.1;
/// Change of an entry of A in a step up to which one solve is known to leave less: it leaves about
/// a hundred times this part in long chains of hinges, and less in all else that was tried.
pub(crate) const SURE: f64 = 3e-4;
/// Solves at most for a velocity that nonlinear joints allow.
pub(crate) const PASSES: usize = 8;
