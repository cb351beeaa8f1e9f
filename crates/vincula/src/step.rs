//! One time step, top to bottom.

use thiserror::Error;

use crate::dual::{DualFault, ROUNDS};
use crate::integrate::newton::{self, NewtonBlock};
use crate::integrate::tempered::{self, KickBlock};
use crate::integrate::{Integrator, Scheme, bdf2, euler, free};
use crate::math::dispatch::Level;
use crate::math::lanes::{LANES, gather};
use crate::model::{Control, History, Model, State, StateBlock};

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
    work.dual.start_axes(model, state, control);
    advance_free_bodies(model, state, work, h);
    let scheme = predict_free_motion(model, state, work, h)?;
    if work.settings.integrator.projects() {
        let forces = &state.held;
        for &index in &work.active {
            let n = &mut work.newton[index];
            n.base = [n.t_pred, n.v];
            n.t = n.t_pred;
        }
        work.dual
            .add_turning_loads(model, state, &scheme, forces, &mut work.newton);
    }
    let mut report = solve_step(model, state, work, &scheme)?;
    work.keep_multipliers();
    if work.settings.integrator.projects() {
        turn_velocity(model, work, &scheme, state.time)?;
        work.gather_forces_again(model, state.time + h, control, h);
        project_velocity(model, work, &scheme)
            .map_err(|fault| dual_fault(model, fault, state.time))?;
    } else {
        for &index in &work.active {
            newton::set_velocity(work.level, &scheme, &mut work.newton[index]);
        }
    }
    report.residual = work.dual.violation(model, &work.newton, &work.active, h);
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
    if sizes.iter().any(|n| *n != blocks)
        || rows != model.dual_rows()
        || state.multipliers.len() != rows
    {
        return Err(StepError::Mismatch);
    }
    Ok(())
}

/// Bodies that nothing holds take a short cut; the blocks left over are `work.active`.
fn advance_free_bodies(model: &Model, state: &State, work: &mut Workspace, h: f64) {
    let short_cut = work.settings.integrator.projects() && model.ground.is_none();
    let plain = work.is_plain();
    work.active.clear();
    for (index, past) in state.blocks.iter().enumerate() {
        let kick: &KickBlock = &work.kicks[index.min(work.kicks.len() - 1)];
        let next = &mut work.next[index];
        let done = short_cut
            && !work.jointed[index]
            && free::advance(work.level, &model.params[index], past, kick, plain, h, next);
        if !done {
            work.active.push(index);
        }
    }
}

/// Where every body would go without constraints.
fn predict_free_motion(
    model: &Model,
    state: &State,
    work: &mut Workspace,
    h: f64,
) -> Result<Scheme, StepError> {
    let history = state
        .history
        .as_ref()
        .filter(|past| (past.h - h).abs() <= 1e-12 * h);
    let scheme = match (work.settings.integrator, history) {
        (Integrator::Tempered | Integrator::Rattle, _) => {
            tempered::scheme(h, work.settings.tempering())
        }
        (Integrator::Bdf2, Some(_)) => bdf2::scheme(h),
        (integrator, _) => euler::scheme(h, integrator == Integrator::LinearEuler),
    };
    for &index in &work.active {
        let (params, past, n) = (
            &model.params[index],
            &state.blocks[index],
            &mut work.newton[index],
        );
        let memory = &state.memory[index];
        let kick: &KickBlock = &work.kicks[index.min(work.kicks.len() - 1)];
        if !newton::polar_block(work.level, &past.a, &mut n.rot) {
            return Err(inverted(model, index, &past.a, state.time));
        }
        match (work.settings.integrator, history) {
            (Integrator::Tempered | Integrator::Rattle, _) => {
                tempered::predict(work.level, params, past, memory, kick, &scheme, n);
            }
            (Integrator::Bdf2, Some(before)) => {
                bdf2::predict(
                    work.level,
                    params,
                    past,
                    memory,
                    &before.blocks[index],
                    kick,
                    &scheme,
                    n,
                );
                let a = n.a;
                if !newton::polar_block(work.level, &a, &mut n.rot) {
                    return Err(inverted(model, index, &a, state.time));
                }
            }
            _ => euler::predict(work.level, params, past, memory, kick, &scheme, n),
        }
    }
    Ok(scheme)
}

/// Newton's iteration on the step equation with the dual system inside.
fn solve_step(
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
    };
    let projects = work.settings.integrator.projects();
    loop {
        report.iterations += 1;
        let caution = caution(report.iterations);
        for &index in &work.active {
            newton::free_solve(
                work.level,
                &model.params[index],
                scheme,
                caution,
                &mut work.newton[index],
            );
        }
        work.dual
            .factor(model, &work.newton, &work.active, scheme, projects)
            .map_err(|fault| dual_fault(model, fault, time))?;
        report.update = correct(model, work, scheme.h, rule.residual)
            .map_err(|fault| dual_fault(model, fault, time))?;
        report.converged = report.update <= rule.update;
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
fn correct(model: &Model, work: &mut Workspace, h: f64, tolerance: f64) -> Result<f64, DualFault> {
    let mut previous = f64::INFINITY;
    for pass in 0.. {
        let violation = work.dual.violation(model, &work.newton, &work.active, h);
        let first = pass == 0;
        let stuck = pass > 1 && !(violation < 0.5 * previous);
        if !first && (violation <= tolerance || stuck) {
            let blocks = work.active.iter().map(|i| largest(&work.newton[*i]));
            return Ok(blocks.fold(0.0, |m, x| if x > m || x.is_nan() { x } else { m }));
        }
        previous = violation;
        work.dual.solve();
        if first {
            settle_axes(model, work, h)?;
        }
        work.apply_dual(first);
        let mut update = 0.0f64;
        for &index in &work.active {
            let u = newton::accept(work.level, &mut work.newton[index]);
            update = if u > update || u.is_nan() { u } else { update };
        }
        if work.dual.is_empty() || work.linear {
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
        work.dual.violation(model, &work.newton, &work.active, h);
        work.dual.solve();
    }
    Ok(())
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

/// Velocity in the middle of a tempered step.
fn turn_velocity(
    model: &Model,
    work: &mut Workspace,
    scheme: &Scheme,
    time: f64,
) -> Result<(), StepError> {
    for &index in &work.active {
        let n = &mut work.newton[index];
        if !tempered::turn_velocity(work.level, &model.params[index], scheme, n) {
            let a = n.a;
            return Err(inverted(model, index, &a, time));
        }
    }
    Ok(())
}

/// Second half of a tempered step: velocities that the joints allow.
fn project_velocity(model: &Model, work: &mut Workspace, scheme: &Scheme) -> Result<(), DualFault> {
    work.dual.start_rates(model, &work.newton, scheme.h)?;
    for &index in &work.active {
        let kick = &work.kicks[index.min(work.kicks.len() - 1)];
        let n = &mut work.newton[index];
        tempered::project_free(work.level, &model.params[index], kick, scheme, n);
    }
    let mut previous = f64::INFINITY;
    for pass in 0..PASSES {
        let drift = work.dual.drift(&work.newton, &work.active, scheme.h);
        if pass > 0 && !(drift < 0.1 * previous && drift > work.settings.residual_tolerance) {
            break;
        }
        previous = drift;
        work.dual.solve();
        while pass == 0 && work.dual.release_limits(scheme.h)? {
            work.dual.drift(&work.newton, &work.active, scheme.h);
            work.dual.solve();
        }
        work.apply_dual(pass == 0);
        for &index in &work.active {
            let n = &mut work.newton[index];
            tempered::project_add(work.level, pass == 0, scheme, n);
        }
        if work.linear {
            break;
        }
    }
    work.average_multipliers();
    for &index in &work.active {
        let n = &mut work.newton[index];
        tempered::project_end(work.level, &model.params[index], n);
    }
    Ok(())
}

/// Solves at most for a velocity that nonlinear joints allow.
const PASSES: usize = 4;

/// Writes the new state, if it is sound.
fn commit(model: &Model, state: &mut State, work: &mut Workspace, h: f64) -> Result<(), StepError> {
    for &index in &work.active {
        let (n, next) = (&work.newton[index], &mut work.next[index]);
        next.a = n.a;
        next.t = n.t;
        next.w = n.w;
        next.v = n.v;
    }
    if let Some(&index) = work
        .active
        .iter()
        .find(|&&index| !is_sound(&work.next[index]))
    {
        return Err(not_finite(model, index, &work.next[index], state.time));
    }
    for &index in &work.active {
        state.memory[index].load = work.newton[index].held;
        state.memory[index].slow = work.newton[index].slow;
    }
    std::mem::swap(&mut state.blocks, &mut work.next);
    if work.settings.integrator == Integrator::Bdf2 {
        // After the swap the workspace holds the state before the step.
        let past = state.history.get_or_insert_with(|| History {
            h,
            blocks: work.next.clone(),
        });
        past.h = h;
        past.blocks.clone_from_slice(&work.next);
    }
    state.multipliers.copy_from_slice(&work.multipliers);
    state.held.copy_from_slice(&work.total);
    state.measure_coordinates(model);
    state.time += h;
    Ok(())
}

/// Whether every number of a block is finite: 0·x is zero for finite x only.
fn is_sound(block: &StateBlock) -> bool {
    let mut sum = [0.0; LANES];
    for row in block
        .a
        .iter()
        .chain(&block.w)
        .chain(&block.t)
        .chain(&block.v)
    {
        for lane in 0..LANES {
            sum[lane] += 0.0 * row[lane];
        }
    }
    sum == [0.0; LANES]
}

fn dual_fault(model: &Model, fault: DualFault, time: f64) -> StepError {
    StepError::Dual {
        joint: model.joints[fault.joint].name.clone(),
        time,
        reason: fault.source.to_string(),
    }
}

/// Names the first body whose iterate is not finite.
fn diverged(model: &Model, work: &Workspace, time: f64) -> StepError {
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

fn not_finite(model: &Model, block: usize, next: &StateBlock, time: f64) -> StepError {
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

fn body_name(model: &Model, block: usize, lane: usize) -> String {
    model
        .bodies
        .get(block * LANES + lane)
        .map_or_else(String::new, |b| b.name.clone())
}

fn inverted(model: &Model, block: usize, a: &[[f64; LANES]; 9], time: f64) -> StepError {
    let lane = (0..LANES)
        .find(|&lane| crate::math::rotation::polar(&gather(a, lane)).is_none())
        .unwrap_or(0);
    StepError::Inverted {
        body: body_name(model, block, lane),
        time,
    }
}

/// The vector instructions in use, for reports.
pub fn level_in_use(work: &Workspace) -> Level {
    work.level
}
