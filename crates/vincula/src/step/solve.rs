//! The middle of a step: Newton's iteration with the dual system inside.

use super::contact::hold_apart;
use super::descend::{All, Descent};
use super::error::{diverged, dual_fault, inverted};
use super::flight::{note_change, repeat_flight};
use super::{StepError, StepReport, Workspace};
use crate::dual::{DualFault, ROUNDS};
use crate::integrate::newton::{self, NewtonBlock};
use crate::integrate::{Integrator, Scheme};
use crate::math::lanes::LANES;
use crate::model::{Model, State};
use crate::settings::{Rule, Strain};

/// What one linearisation achieved.
pub(super) struct Fit {
    /// Largest change of an entry of A.
    update: f64,
    /// Largest violation that is left, m.
    pub violation: f64,
    /// Largest stretch of the bodies (`newton::stretch`), where it was found on the way.
    stretch: Option<f64>,
}

/// Newton's iteration on the step equation with the dual system inside.
pub(super) fn solve_step(
    model: &Model,
    state: &State,
    work: &mut Workspace,
    scheme: &Scheme,
) -> Result<StepReport, StepError> {
    let time = state.time;
    let mut rule = work.rule();
    if !work.contacts.points.is_empty() && work.settings.integrator == Integrator::Tempered {
        // A contact that opens and closes by turns would keep all others waiting.
        rule.limit = rule.limit.min(TOUCHING_LIMIT);
    }
    let mut report = StepReport {
        iterations: 0,
        converged: false,
        residual: 0.0,
        update: 0.0,
        contacts: work.contacts.points.len(),
        sweeps: 0,
        contact_residual: 0.0,
        penetration: 0.0,
        parts: 1,
    };
    let projects = work.settings.integrator.projects();
    let flies_again = work.settings.integrator == Integrator::Rattle;
    let mut descent = Descent::new();
    let (mut agreeing, mut unlawful) = (0, f64::INFINITY);
    work.measured = None;
    loop {
        report.iterations += 1;
        if !flies_again {
            descent.remember(&mut All::of(model, state, work, scheme));
        }
        // Where nothing stood in its way, the first free solve came with the prediction.
        if report.iterations > 1 || !work.solves_ahead() {
            let stiffening = descent.stiffening();
            work.for_each_block(|around, at| {
                let params = &model.params[at.index];
                newton::free_solve(around.level, params, scheme, stiffening, at.n);
                around.joints.prepare(at.n, at.ports);
            });
        }
        work.dual
            .factor(model, &work.newton, scheme, projects)
            .map_err(|fault| dual_fault(model, fault, time))?;
        let mut wrong = 0.0;
        work.was_bent = false;
        let mut fit = close(model, work, scheme, &rule, true)
            .map_err(|fault| dual_fault(model, fault, time))?;
        work.was_bent = report.iterations == 1 && bends(model, work, scheme, &rule, &fit);
        if work.was_bent {
            fit =
                bend(model, work, scheme, &rule).map_err(|fault| dual_fault(model, fault, time))?;
        }
        // Joints that are far from closed say nothing yet of how contacts move them.
        let open = !flies_again && !(fit.violation <= OPEN) && report.iterations < rule.limit / 2;
        let held = if open {
            None
        } else {
            let (slow, iteration, stretch) = (descent.is_slow(), report.iterations, fit.stretch);
            let is_open = |work: &Workspace, violation: f64| {
                let kind = work.stage.care() as usize;
                let fit = Fit {
                    update: largest_update(&work.active, &work.newton),
                    violation,
                    stretch: stretch.filter(|_| !work.was_bent),
                };
                let settled = is_settled(model, work, scheme, &rule, &fit, slow);
                let last = work.stage.is_spent() || iteration >= rule.limit.min(LIMITS[kind]);
                !settled && !last
            };
            hold_apart(model, state, work, scheme, &mut report, is_open)
                .map_err(|fault| dual_fault(model, fault, time))?
        };
        // With contacts joints are measured where they are closed.
        let closed = held.as_ref().and_then(|held| held.violation);
        if let Some(held) = held {
            wrong = held.wrong;
            fit.stretch = fit.stretch.filter(|_| !work.was_bent);
            fit.update = largest_update(&work.active, &work.newton);
            fit.violation = match held.violation {
                Some(violation) => violation,
                None => work.dual.violation(model, &work.newton, scheme.h),
            };
        }
        report.update = fit.update;
        report.converged = if flies_again {
            report.update = note_change(work, report.iterations == 1);
            report.update <= rule.update
        } else {
            is_settled(model, work, scheme, &rule, &fit, descent.is_slow())
                && !descent.is_astray(&mut All::of(model, state, work, scheme))
        };
        // Contacts and joints agree best where the step is linearised.
        let kind = work.stage.care() as usize;
        if report.converged && wrong > DISAGREEMENT[kind] && agreeing < AGREEING[kind] {
            (agreeing, report.converged) = (agreeing + 1, false);
        }
        // Far from the law, where turns between the two lead no farther, new gradients do.
        let leads = report.iterations < TRIED || report.contact_residual <= 0.5 * unlawful;
        let lawless =
            !work.is_enough(|| report.contact_residual) && leads && report.iterations < RENEWED;
        unlawful = report.contact_residual;
        report.converged &= !lawless;
        let limit = match work.stage.is_spent() && !lawless {
            true => report.iterations,
            false if lawless => rule.limit,
            false => rule.limit.min(LIMITS[kind]),
        };
        if report.converged || report.iterations >= limit {
            // With contacts the last solve has closed the joints, and turning would open them.
            if !report.converged && !flies_again && work.contacts.points.is_empty() {
                let all = &mut All::of(model, state, work, scheme);
                descent.advance(all, report.update);
            }
            if report.converged && !work.linear && work.moves_only_joints(model) {
                work.measured = Some(fit.violation);
            } else if model.couplings.is_empty() && !work.dual.has_axes() {
                work.measured = closed;
            }
            let gave_up = !report.converged && work.settings.integrator == Integrator::Tempered;
            if gave_up && fit.violation > GAPING {
                return Err(gaping(model, work, scheme.h, time));
            }
            return finish(model, work, report, time);
        }
        if flies_again {
            repeat_flight(model, state, work, scheme)?;
        } else {
            if work.was_bent {
                descent.note_bend();
            } else {
                let all = &mut All::of(model, state, work, scheme);
                descent.advance(all, report.update);
            }
            relinearize(model, work, time)?;
        }
    }
}

/// Linearisations at most of a step with contacts, and by how much care it gets: the last
/// ones of a step that does not settle change little, and parts help more.
const TOUCHING_LIMIT: usize = 30;
const LIMITS: [usize; 3] = [usize::MAX, 6, 4];
/// Gap of a joint, m, up to which contacts are looked at.
const OPEN: f64 = 1e-3;
/// Disagreement of contacts and joints, m, beyond which a step is linearised again: of those that
/// are solved exactly, of those of large mechanisms, and of crowds. And how often.
const DISAGREEMENT: [f64; 3] = [1e-9, 1e-5, 1e-4];
const AGREEING: [usize; 3] = [6, 3, 1];

/// Linearisations at most for contacts to meet the law to an accuracy, and those after which each must
/// halve what is left.
const RENEWED: usize = 6;
const TRIED: usize = 3;

/// Gap of a joint, m, with which no step ends.
const GAPING: f64 = 1e-6;

/// Names the joint that is open the most.
fn gaping(model: &Model, work: &mut Workspace, h: f64, time: f64) -> StepError {
    work.dual.violation(model, &work.newton, h);
    let (joint, gap) = work.dual.most_open();
    StepError::Open {
        joint: model.joints[joint].name.clone(),
        gap,
        time,
    }
}

/// The last iterate is the end of the step if it is finite.
fn finish(
    model: &Model,
    work: &Workspace,
    report: StepReport,
    time: f64,
) -> Result<StepReport, StepError> {
    if report.update.is_finite() {
        Ok(report)
    } else {
        Err(diverged(model, work, time))
    }
}

/// Whether one more linearisation would change nothing that matters: rows are closed, and
/// the stretch that a linear rotation causes holds little energy.
fn is_settled(
    model: &Model,
    work: &Workspace,
    scheme: &Scheme,
    rule: &Rule,
    fit: &Fit,
    slow: bool,
) -> bool {
    if !(fit.violation <= CLOSED * rule.residual) {
        // Where nothing moves any more, what contacts and limits disagree on stays.
        return !work.contacts.points.is_empty() && fit.update <= STILL;
    }
    let most = match work.stage.is_strung() {
        true => rule.running,
        false => rule.update,
    };
    if fit.update <= most {
        return true;
    }
    let stretch = |&index: &usize| stretch_of(model, work, scheme, index);
    let stretches = || match fit.stretch {
        Some(most) => most > rule.stretch,
        None => !work.active.iter().map(stretch).all(|x| x <= rule.stretch),
    };
    if slow {
        return fit.update <= rule.rotation;
    }
    (fit.update <= rule.rotation && !stretches()) || spares(model, work, scheme, rule)
}

/// Whether no more blocks are strained than a mechanism of this size can bear.
fn spares(model: &Model, work: &Workspace, scheme: &Scheme, rule: &Rule) -> bool {
    if rule.spared == 0 || !work.contacts.points.is_empty() {
        return false;
    }
    let mut spared = 0;
    work.active.iter().all(|&index| {
        let update = largest_update(std::slice::from_ref(&index), &work.newton);
        let stretch = || stretch_of(model, work, scheme, index);
        let strain = rule.judge(update, stretch);
        spared += usize::from(strain == Strain::Little);
        strain != Strain::Much && spared <= rule.spared
    })
}

/// How much the last increment stretches a block of bodies.
fn stretch_of(model: &Model, work: &Workspace, scheme: &Scheme, index: usize) -> f64 {
    let turn = if work.was_bent {
        &work.bent[index]
    } else {
        &newton::STRAIGHT
    };
    let (params, n) = (&model.params[index], &work.newton[index]);
    newton::stretch(work.level, params, scheme, turn, &n.w, n)
}

/// Whether it is worth to bend what a linear solve moved along a straight line: it stretches
/// bodies, but not so far that the same gradients would not close the joints again.
fn bends(model: &Model, work: &Workspace, scheme: &Scheme, rule: &Rule, fit: &Fit) -> bool {
    work.settings.integrator == Integrator::Tempered
        && work.contacts.points.is_empty()
        && fit.update > rule.update
        && fit.update <= BENT
        && !is_settled(model, work, scheme, rule, fit, false)
}

/// Takes the increment as what it means, a rotation and a strain, and closes the joints, which
/// that opens at second order, with the factors at hand. What stretch is left is of third order.
fn bend(
    model: &Model,
    work: &mut Workspace,
    scheme: &Scheme,
    rule: &Rule,
) -> Result<Fit, DualFault> {
    work.for_each_block(|around, at| {
        newton::bend(around.level, at.bent, at.n);
        around.joints.find_places(at.n, at.ports);
    });
    close(model, work, scheme, rule, false)
}

/// The same where contacts push. Returns how far joints are open, m.
pub(super) fn bend_held(
    model: &Model,
    work: &mut Workspace,
    scheme: &Scheme,
    rule: &Rule,
) -> Result<f64, DualFault> {
    work.was_bent = true;
    let fit = bend(model, work, scheme, rule)?;
    Ok(match work.linear {
        true => work.dual.violation(model, &work.newton, scheme.h),
        false => fit.violation,
    })
}

/// Whether the last increment is so small that the step may be bent.
pub(super) fn is_little(work: &Workspace) -> bool {
    work.settings.integrator == Integrator::Tempered
        && largest_update(&work.active, &work.newton) <= BENT_HELD
}

/// Change of an entry of A up to which a step is bent rather than linearised again.
pub(crate) const BENT: f64 = 0.1;

/// The same where contacts push.
const BENT_HELD: f64 = 0.2;

/// Change of an entry of A that is none.
const STILL: f64 = 1e-7;

/// Corrections with an old factor end somewhat above the residual that they aim at.
pub(crate) const CLOSED: f64 = 10.0;

fn relinearize(model: &Model, work: &mut Workspace, time: f64) -> Result<(), StepError> {
    work.each_block(|around, at| match newton::relinearize(around.level, at.n) {
        true => Ok([0.0; 2]),
        false => Err(inverted(model, at.index, &at.n.a, time)),
    })?;
    Ok(())
}

/// Solves for the constraint forces and moves the bodies, whose places are known; rows that are not
/// linear get a few more solves with the same factor. `fresh` says that no forces act yet. Places are
/// known at the end too, but of a fresh solve of linear rows. Returns the largest change of an entry
/// of A.
pub(super) fn close(
    model: &Model,
    work: &mut Workspace,
    scheme: &Scheme,
    rule: &Rule,
    fresh: bool,
) -> Result<Fit, DualFault> {
    let fit = close_in_passes(model, work, scheme, rule, fresh);
    work.dual.return_closed();
    fit
}

fn close_in_passes(
    model: &Model,
    work: &mut Workspace,
    scheme: &Scheme,
    rule: &Rule,
    fresh: bool,
) -> Result<Fit, DualFault> {
    let h = scheme.h;
    let mut previous = f64::INFINITY;
    for pass in 0.. {
        let violation = work.dual.violation(model, &work.newton, h);
        let first = pass == 0;
        let stuck = pass > 1 && !(violation < 0.5 * previous);
        if !first && (violation <= rule.residual || stuck) {
            return Ok(Fit {
                update: largest_update(&work.active, &work.newton),
                violation: violation.max(work.dual.gap_left_out()),
                stretch: None,
            });
        }
        previous = violation;
        if !first {
            work.dual.leave_closed(rule.residual);
        }
        work.dual.solve();
        if first {
            settle_axes(model, work, h, fresh)?;
        }
        work.apply_dual(first && fresh);
        let again = !work.dual.is_empty() && !work.linear;
        let found = work.each_block(|around, at| {
            if !around.joints.may_move(at.index) {
                return Ok([0.0; 2]);
            }
            let n = at.n;
            around.joints.put_loads(at.index, n, at.ports);
            let u = newton::accept(around.level, n);
            if again || !fresh {
                around.joints.find_places(n, at.ports);
            }
            // While the block is at hand; one that hardly moves does not stretch.
            let stretch = if !again && u > rule.update {
                let turn = if around.was_bent {
                    at.bent
                } else {
                    &newton::STRAIGHT
                };
                let params = &model.params[at.index];
                newton::stretch(around.level, params, scheme, turn, &n.w, n)
            } else {
                0.0
            };
            Ok::<_, DualFault>([u, stretch])
        });
        let [update, stretch] = found?;
        if !again {
            return Ok(Fit {
                update,
                violation: 0.0,
                stretch: Some(stretch),
            });
        }
        if first && fresh && !(update <= CHORD) {
            // The old gradients say nothing so far away.
            let violation = work.dual.violation(model, &work.newton, h);
            return Ok(Fit {
                update,
                violation,
                stretch: None,
            });
        }
    }
    unreachable!("the violation cannot halve for ever")
}

/// Change of an entry of A up to which nonlinear rows are corrected with the same gradients.
pub(crate) const CHORD: f64 = 0.1;

/// Solves again while limits, friction and drives change what they do; `early` says that contacts do
/// not push yet.
fn settle_axes(model: &Model, work: &mut Workspace, h: f64, early: bool) -> Result<(), DualFault> {
    for _ in 0..ROUNDS {
        if !work.dual.decide_axes(h, early)? {
            break;
        }
        work.dual.solve_again(model, &work.newton, h);
    }
    Ok(())
}

/// Largest change of an entry of A in this iteration.
fn largest_update(blocks: &[usize], newton: &[NewtonBlock]) -> f64 {
    let more = |x: f64, m: f64| if x > m || x.is_nan() { x } else { m };
    let mut largest = [0.0; LANES];
    for &index in blocks {
        for entry in &newton[index].p {
            for (m, x) in largest.iter_mut().zip(entry) {
                *m = more(x.abs(), *m);
            }
        }
    }
    largest.iter().fold(0.0, |m, x| more(*x, m))
}
