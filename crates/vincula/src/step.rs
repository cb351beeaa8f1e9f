//! One time step, top to bottom.

use thiserror::Error;

use crate::dual::DualFault;
use crate::integrate::newton::{self, NewtonBlock};
use crate::integrate::tempered::{self, KickBlock};
use crate::integrate::{Integrator, Scheme, bdf2, euler};
use crate::math::dispatch::Level;
use crate::math::lanes::{LANES, gather, place};
use crate::model::{Control, History, Model, State};

pub use crate::settings::{Settings, Workspace};

/// What a step did.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepReport {
    /// Newton iterations.
    pub iterations: usize,
    /// Whether the last iteration changed less than the tolerance.
    pub converged: bool,
    /// Largest constraint violation at the end of the step, m.
    pub residual: f64,
    /// Largest change of an entry of A in the last iteration.
    pub update: f64,
}

/// Why a step could not be made. The state is as it was before.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StepError {
    /// The step length is not a positive, finite number.
    #[error("the step length is {0} s; it must be positive and finite")]
    BadStep(f64),
    /// A state or a model of another size was given.
    #[error("the state, the control and the workspace belong to different models")]
    Mismatch,
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

/// Advances the state by h seconds.
///
/// On an error the state is untouched.
pub fn step(
    model: &Model,
    state: &mut State,
    control: &Control,
    work: &mut Workspace,
    h: f64,
) -> Result<StepReport, StepError> {
    check(model, state, control, work, h)?;
    work.gather_forces(model, state, control, h);
    let scheme = predict_free_motion(model, state, work, h)?;
    let mut report = solve_step(model, work, &scheme, state.time)?;
    work.keep_multipliers();
    if work.settings.integrator.projects() {
        turn_velocity(model, work, &scheme, state.time)?;
        work.gather_forces_again(model, state.time + h, control, h);
        project_velocity(model, work, &scheme);
    } else {
        for n in &mut work.newton {
            newton::set_velocity(work.level, &scheme, n);
        }
    }
    report.residual = work.dual.violation(model, &work.newton);
    commit(model, state, work, h)?;
    Ok(report)
}

fn check(
    model: &Model,
    state: &State,
    control: &Control,
    work: &Workspace,
    h: f64,
) -> Result<(), StepError> {
    if !(h > 0.0 && h.is_finite()) {
        return Err(StepError::BadStep(h));
    }
    let blocks = model.params.len();
    let sizes = [state.blocks.len(), control.blocks.len(), work.newton.len()];
    let rows = work.dual.lambda.len();
    if sizes.iter().any(|n| *n != blocks) || rows != model.rows() || state.multipliers.len() != rows {
        return Err(StepError::Mismatch);
    }
    Ok(())
}

/// Where every body would go without constraints.
fn predict_free_motion(
    model: &Model,
    state: &State,
    work: &mut Workspace,
    h: f64,
) -> Result<Scheme, StepError> {
    let history = state.history.as_ref().filter(|past| (past.h - h).abs() <= 1e-12 * h);
    let scheme = match (work.settings.integrator, history) {
        (Integrator::Tempered | Integrator::Rattle, _) => {
            tempered::scheme(h, work.settings.tempering())
        }
        (Integrator::Bdf2, Some(_)) => bdf2::scheme(h),
        (integrator, _) => euler::scheme(h, integrator == Integrator::LinearEuler),
    };
    for index in 0..work.newton.len() {
        let (params, past, n) = (&model.params[index], &state.blocks[index], &mut work.newton[index]);
        let kick: &KickBlock = &work.kicks[index.min(work.kicks.len() - 1)];
        if !newton::polar_block(work.level, &past.a, &mut n.rot) {
            return Err(inverted(model, index, &past.a, state.time));
        }
        match (work.settings.integrator, history) {
            (Integrator::Tempered | Integrator::Rattle, _) => {
                tempered::predict(work.level, params, past, kick, &scheme, n);
            }
            (Integrator::Bdf2, Some(before)) => {
                bdf2::predict(work.level, params, past, &before.blocks[index], kick, &scheme, n);
                let a = n.a;
                if !newton::polar_block(work.level, &a, &mut n.rot) {
                    return Err(inverted(model, index, &a, state.time));
                }
            }
            _ => euler::predict(work.level, params, past, kick, &scheme, n),
        }
    }
    Ok(scheme)
}

/// Newton's iteration on the step equation with the dual system inside.
fn solve_step(
    model: &Model,
    work: &mut Workspace,
    scheme: &Scheme,
    time: f64,
) -> Result<StepReport, StepError> {
    let rule = work.settings.iteration();
    let mut report = StepReport { iterations: 0, converged: false, residual: 0.0, update: 0.0 };
    loop {
        report.iterations += 1;
        for (params, n) in model.params.iter().zip(&mut work.newton) {
            newton::free_solve(work.level, params, scheme, caution(report.iterations), n);
        }
        work.dual.factor(model, &work.newton).map_err(|fault| dual_fault(model, fault, time))?;
        report.update = correct(model, work, rule.residual);
        report.converged = report.update <= rule.update;
        if report.converged || report.iterations >= rule.limit {
            return Ok(report);
        }
        if !report.update.is_finite() {
            return Err(not_finite(model, work, time));
        }
        for (index, params) in model.params.iter().enumerate() {
            let n = &mut work.newton[index];
            if !newton::relinearize(work.level, n) {
                let a = n.a;
                return Err(inverted(model, index, &a, time));
            }
            if work.settings.integrator == Integrator::Rattle {
                tempered::refresh_load(work.level, params, scheme, n);
            }
        }
    }
}

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
/// more solves with the same factor. Returns the largest change of an entry of A.
fn correct(model: &Model, work: &mut Workspace, tolerance: f64) -> f64 {
    let mut previous = f64::INFINITY;
    loop {
        let violation = work.dual.violation(model, &work.newton);
        let first = previous == f64::INFINITY;
        if !first && (violation <= tolerance || violation > 0.5 * previous) {
            return work.newton.iter().fold(0.0, |m, n| m.max(largest(n)));
        }
        previous = violation;
        work.solve_dual(model, first);
        let mut update = 0.0f64;
        for n in &mut work.newton {
            let u = newton::accept(work.level, n);
            update = if u > update || u.is_nan() { u } else { update };
        }
        if work.dual.is_empty() || work.linear {
            return update;
        }
    }
}

fn largest(n: &NewtonBlock) -> f64 {
    n.p.iter().flatten().fold(0.0, |m: f64, x| if x.abs() > m || x.is_nan() { x.abs() } else { m })
}

/// Velocity in the middle of a tempered step.
fn turn_velocity(
    model: &Model,
    work: &mut Workspace,
    scheme: &Scheme,
    time: f64,
) -> Result<(), StepError> {
    for (index, params) in model.params.iter().enumerate() {
        let n = &mut work.newton[index];
        if !tempered::turn_velocity(work.level, params, scheme, n) {
            let a = n.a;
            return Err(inverted(model, index, &a, time));
        }
    }
    Ok(())
}

/// Second half of a tempered step: velocities that the joints allow.
fn project_velocity(model: &Model, work: &mut Workspace, scheme: &Scheme) {
    for (index, n) in work.newton.iter_mut().enumerate() {
        let kick = &work.kicks[index.min(work.kicks.len() - 1)];
        tempered::project_free(work.level, &model.params[index], kick, scheme, n);
    }
    work.dual.drift(model, &work.newton, scheme.h);
    work.dual.solve();
    work.dual.load(model, &mut work.newton);
    work.average_multipliers();
    for n in &mut work.newton {
        tempered::project_accept(work.level, scheme, n);
    }
}

/// Writes the new state, if it is sound.
fn commit(model: &Model, state: &mut State, work: &mut Workspace, h: f64) -> Result<(), StepError> {
    for n in &work.newton {
        let sum = n.a.iter().chain(&n.w).chain(&n.t).chain(&n.v).flatten().fold(0.0, |s, x| s + x * 0.0);
        if sum != 0.0 {
            return Err(not_finite(model, work, state.time));
        }
    }
    if work.settings.integrator == Integrator::Bdf2 {
        let past = state.history.get_or_insert_with(|| History { h, blocks: state.blocks.clone() });
        past.h = h;
        past.blocks.clone_from_slice(&state.blocks);
    }
    for (block, n) in state.blocks.iter_mut().zip(&work.newton) {
        block.a = n.a;
        block.t = n.t;
        block.w = n.w;
        block.v = n.v;
        block.load = n.held;
    }
    state.multipliers.copy_from_slice(&work.multipliers);
    state.time += h;
    Ok(())
}

fn dual_fault(model: &Model, fault: DualFault, time: f64) -> StepError {
    StepError::Dual {
        joint: model.joints[fault.joint].name.clone(),
        time,
        reason: fault.source.to_string(),
    }
}

fn not_finite(model: &Model, work: &Workspace, time: f64) -> StepError {
    let bad = (0..model.bodies.len()).find(|&body| {
        let (block, lane) = place(body);
        let n = &work.newton[block];
        let a: [f64; 9] = gather(&n.a, lane);
        let w: [f64; 9] = gather(&n.w, lane);
        let t: [f64; 3] = gather(&n.t, lane);
        let v: [f64; 3] = gather(&n.v, lane);
        !a.iter().chain(&w).chain(&t).chain(&v).all(|x| x.is_finite())
    });
    let body = model.bodies.get(bad.unwrap_or(0)).map_or_else(String::new, |b| b.name.clone());
    StepError::NotFinite { body, time }
}

fn inverted(model: &Model, block: usize, a: &[[f64; LANES]; 9], time: f64) -> StepError {
    let lane = (0..LANES)
        .find(|&lane| crate::math::rotation::polar(&gather(a, lane)).is_none())
        .unwrap_or(0);
    let body = model.bodies.get(block * LANES + lane).map_or_else(String::new, |b| b.name.clone());
    StepError::Inverted { body, time }
}

/// The vector instructions in use, for reports.
pub fn level_in_use(work: &Workspace) -> Level {
    work.level
}
