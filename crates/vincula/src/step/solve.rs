//! The middle of a step: Newton's iteration with the dual system inside.

use super::contact::hold_apart;
use super::error::{diverged, dual_fault, inverted};
use super::{StepError, StepReport, Workspace};
use crate::dual::{DualFault, ROUNDS};
use crate::integrate::newton::{self, NewtonBlock};
use crate::integrate::{Integrator, Scheme, tempered};
use crate::model::{Model, State};

/// Newton's iteration on the step equation with the dual system inside.
pub(super) fn solve_step(
    model: &Model,
    state: &State,
    work: &mut Workspace,
    scheme: &Scheme,
) -> Result<StepReport, StepError> {
    let time = state.time;
    let rule = work.settings.iteration();
    let mut report = StepReport {
        iterations: 0,
        converged: false,
        residual: 0.0,
        update: 0.0,
        contacts: work.contacts.points.len(),
        sweeps: 0,
        contact_residual: 0.0,
        penetration: 0.0,
    };
    let projects = work.settings.integrator.projects();
    let mut agreeing = 0;
    loop {
        report.iterations += 1;
        let caution = caution(report.iterations);
        // Where nothing stood in its way, the first free solve came with the prediction.
        if report.iterations > 1 || !work.solves_ahead() {
            for &index in &work.active {
                let n = &mut work.newton[index];
                newton::free_solve(work.level, &model.params[index], scheme, caution, n);
                work.dual.prepare(index, n);
            }
        }
        work.dual
            .factor(model, &work.newton, scheme, projects)
            .map_err(|fault| dual_fault(model, fault, time))?;
        let mut wrong = 0.0;
        report.update = correct(model, work, scheme.h, rule.residual, true)
            .and_then(|update| {
                let Some(off) = hold_apart(model, state, work, scheme, &mut report)? else {
                    return Ok(update);
                };
                wrong = off;
                Ok(largest_update(work))
            })
            .map_err(|fault| dual_fault(model, fault, time))?;
        report.converged = report.update <= rule.update;
        // Contacts and joints agree best where the step is linearised.
        if report.converged && wrong > DISAGREEMENT && agreeing < AGREEING {
            (agreeing, report.converged) = (agreeing + 1, false);
        }
        if report.converged || report.iterations >= rule.limit {
            return Ok(report);
        }
        if !report.update.is_finite() {
            return Err(diverged(model, work, time));
        }
        for &index in &work.active {
            let n = &mut work.newton[index];
            if !newton::relinearize(work.level, n) {
                let a = n.a;
                return Err(inverted(model, index, &a, time));
            }
            if work.settings.integrator == Integrator::Rattle {
                tempered::refresh_load(work.level, &model.params[index], scheme, n);
                [n.t_pred, n.v] = n.base;
            }
        }
        if work.settings.integrator == Integrator::Rattle {
            let forces = &work.total;
            work.dual
                .add_turning_loads(model, state, scheme, forces, &mut work.newton);
        }
    }
}

/// Disagreement of contacts and joints, m, beyond which a step is linearised again, and how
/// often.
const DISAGREEMENT: f64 = 1e-9;
const AGREEING: usize = 6;

/// How much an iteration holds back: not at all at first, more when many were not enough.
fn caution(iteration: usize) -> f64 {
    match iteration {
        0 | 1 => 0.0,
        2..=8 => 1.0,
        9..=16 => 4.0,
        17..=30 => 16.0,
        _ => 64.0,
    }
}

/// Solves for the constraint forces and moves the bodies; rows that are not linear get a few
/// more solves with the same factor. `fresh` says that no forces act yet, and that places are
/// known. Returns the largest change of an entry of A.
pub(super) fn correct(
    model: &Model,
    work: &mut Workspace,
    h: f64,
    tolerance: f64,
    fresh: bool,
) -> Result<f64, DualFault> {
    if !fresh {
        for &index in &work.active {
            work.dual.find_places(index, &work.newton[index]);
        }
    }
    let mut previous = f64::INFINITY;
    for pass in 0.. {
        let violation = work.dual.violation(model, &work.newton, h);
        let first = pass == 0;
        let stuck = pass > 1 && !(violation < 0.5 * previous);
        if !first && (violation <= tolerance || stuck) {
            return Ok(largest_update(work));
        }
        previous = violation;
        work.dual.solve();
        if first {
            settle_axes(model, work, h)?;
        }
        work.apply_dual(first && fresh);
        let mut update = 0.0f64;
        let again = !work.dual.is_empty() && !work.linear;
        for &index in &work.active {
            let n = &mut work.newton[index];
            work.dual.put_loads(index, n);
            let u = newton::accept(work.level, n);
            if again {
                work.dual.find_places(index, n);
            }
            update = if u > update || u.is_nan() { u } else { update };
        }
        if !again {
            return Ok(update);
        }
    }
    unreachable!("the violation cannot halve for ever")
}

/// Solves again while limits, friction and drives change what they do.
fn settle_axes(model: &Model, work: &mut Workspace, h: f64) -> Result<(), DualFault> {
    for _ in 0..ROUNDS {
        if !work.dual.decide_axes(h)? {
            break;
        }
        work.dual.violation(model, &work.newton, h);
        work.dual.solve();
    }
    Ok(())
}

/// Largest change of an entry of A in this iteration.
fn largest_update(work: &Workspace) -> f64 {
    let blocks = work.active.iter().map(|i| largest(&work.newton[*i]));
    blocks.fold(0.0, |m, x| if x > m || x.is_nan() { x } else { m })
}

fn largest(n: &NewtonBlock) -> f64 {
    n.p.iter().flatten().fold(0.0, |m: f64, x| {
        if x.abs() > m || x.is_nan() {
            x.abs()
        } else {
            m
        }
    })
}
