//! Contacts within a step: found at its start, held apart in both of its stages.

use super::solve::correct;
use super::{StepReport, Workspace};
use crate::contact::movers::{self, Mover};
use crate::contact::stage::{Scene, Stage};
use crate::contact::sweep;
use crate::dual::DualFault;
use crate::integrate::{Scheme, loose, tempered};
use crate::math::lanes::{gather, place, scatter};
use crate::math::small::*;
use crate::model::{Control, Model, State};

/// Turns between contacts and joints at most.
const TURNS: usize = 50;

/// Finds contacts, and which blocks of bodies they touch.
pub(super) fn find_contacts(
    model: &Model,
    state: &State,
    control: &Control,
    work: &mut Workspace,
    h: f64,
) {
    if model.colliders().is_empty() {
        return;
    }
    crate::contact::detect(model, state, control, h, &mut work.contacts);
    work.touched.fill(false);
    for point in &work.contacts.points {
        for body in [point.a, point.b].into_iter().flatten() {
            work.touched[place(body.index()).0] = true;
        }
    }
}

/// Blocks without joints and strain need no Newton's method: they leave `work.active`.
pub(super) fn set_loose_apart(work: &mut Workspace) {
    work.loose.fill(false);
    if work.contacts.points.is_empty() || !work.settings.integrator.projects() {
        return;
    }
    let Workspace {
        active,
        newton,
        loose,
        touched,
        jointed,
        level,
        ..
    } = work;
    active.retain(|&index| {
        loose[index] =
            touched[index] && !jointed[index] && loose::land(*level, &mut newton[index]);
        !loose[index]
    });
}

/// The stage and what it looks at.
fn stage_of<'a>(
    model: &'a Model,
    state: &'a State,
    work: &'a mut Workspace,
    scheme: &Scheme,
) -> (&'a mut Stage, Scene<'a>) {
    let scene = Scene {
        model,
        points: &work.contacts.points,
        memory: &state.contacts,
        start: &state.blocks,
        work: &work.newton,
        loose: &work.loose,
        h: scheme.h,
        c: scheme.c,
    };
    (&mut work.stage, scene)
}

/// First stage: no gap is negative at the end of the step.
pub(super) fn hold_apart(
    model: &Model,
    state: &State,
    work: &mut Workspace,
    scheme: &Scheme,
    report: &mut StepReport,
) -> Result<(), DualFault> {
    if work.contacts.points.is_empty() {
        return Ok(());
    }
    let (stage, scene) = stage_of(model, state, work, scheme);
    if report.iterations == 1 {
        stage.begin(&scene);
    }
    stage.first(&scene);
    let (tolerance, rule) = (work.settings.contact_tolerance, work.settings.iteration());
    for _ in 0..TURNS {
        let Stage { rows, movers, .. } = &mut work.stage;
        report.sweeps += sweep::solve(rows, movers, tolerance, work.settings.sweep_limit);
        for mover in movers.iter_mut().filter(|m| !m.loose) {
            let [shift, turn] = mover.news();
            movers::displace(&mut work.newton, mover.body as usize, &shift, &turn);
        }
        if work.dual.is_empty() || work.stage.movers.iter().all(|m| m.loose) {
            break;
        }
        note_places(work);
        correct(model, work, scheme.h, rule.residual, false)?;
        if read_places(work) <= tolerance {
            break;
        }
    }
    report.contact_residual = sweep::residual(&work.stage.rows, &work.stage.movers);
    report.penetration = work.stage.end_first();
    Ok(())
}

/// Keeps where held bodies are, to see what the joints do to them.
fn note_places(work: &mut Workspace) {
    work.noted.clear();
    for mover in work.stage.movers.iter().filter(|m| !m.loose) {
        let (block, lane) = place(mover.body as usize);
        let n = &work.newton[block];
        work.noted.push((gather(&n.p, lane), gather(&n.t, lane)));
    }
}

/// Tells the movers what the joints did; returns the largest displacement, m.
fn read_places(work: &mut Workspace) -> f64 {
    let mut largest = 0.0f64;
    let held = work.stage.movers.iter_mut().filter(|m| !m.loose);
    for (mover, (p, t)) in held.zip(&work.noted) {
        let (block, lane) = place(mover.body as usize);
        let n = &work.newton[block];
        let shift = sub(&gather(&n.t, lane), t);
        let grown = axial(&sub9(&gather(&n.p, lane), p));
        let turn = mul_vec(&gather(&n.rot, lane), &grown);
        largest = largest.max(carry(mover, &shift, &turn));
    }
    largest
}

fn carry(mover: &mut Mover, shift: &V3, turn: &V3) -> f64 {
    mover.shift = add(&mover.shift, shift);
    mover.turn = add(&mover.turn, turn);
    mover.told = [mover.shift, mover.turn];
    shift.iter().chain(turn).fold(0.0, |m, x| m.max(x.abs()))
}

/// Loose bodies go to where the first stage put them, and get their second half kick.
pub(super) fn turn_loose(model: &Model, work: &mut Workspace, scheme: &Scheme) {
    for mover in work.stage.movers.iter().filter(|m| m.loose) {
        let (block, lane) = place(mover.body as usize);
        let n = &mut work.newton[block];
        let t: V3 = gather(&n.t, lane);
        scatter(&mut n.t, lane, &add(&t, &mover.shift));
        for k in 0..3 {
            n.p[k][lane] = mover.turn[k];
        }
    }
    for index in (0..work.loose.len()).filter(|i| work.loose[*i]) {
        let kick = &work.kicks[index.min(work.kicks.len() - 1)];
        let n = &mut work.newton[index];
        loose::turn(work.level, &model.params[index], kick, scheme, n);
    }
}

/// Second stage: velocities that neither enter nor gain.
pub(super) fn stop_approach(
    model: &Model,
    state: &State,
    work: &mut Workspace,
    scheme: &Scheme,
    report: &mut StepReport,
) {
    if work.contacts.points.is_empty() {
        return;
    }
    let (stage, scene) = stage_of(model, state, work, scheme);
    stage.second(&scene);
    let (tolerance, h) = (work.settings.contact_tolerance, scheme.h);
    for _ in 0..TURNS {
        let Stage { rows, movers, .. } = &mut work.stage;
        report.sweeps += sweep::solve(rows, movers, tolerance, work.settings.sweep_limit);
        for mover in movers.iter_mut().filter(|m| !m.loose) {
            let [shift, turn] = mover.news();
            movers::hasten(&mut work.newton, mover.body as usize, h, &shift, &turn);
        }
        if work.dual.is_empty() || work.stage.movers.iter().all(|m| m.loose) {
            break;
        }
        if project_joints(work, scheme) <= tolerance {
            break;
        }
    }
    let left = sweep::residual(&work.stage.rows, &work.stage.movers);
    report.contact_residual = report.contact_residual.max(left);
    finish_loose(work, h);
}

/// One more projection onto what the joints allow; returns the largest displacement per step
/// that it gave to a body in contact, m.
fn project_joints(work: &mut Workspace, scheme: &Scheme) -> f64 {
    work.noted.clear();
    for mover in work.stage.movers.iter().filter(|m| !m.loose) {
        let (block, lane) = place(mover.body as usize);
        let n = &work.newton[block];
        work.noted.push((gather(&n.w, lane), gather(&n.v, lane)));
    }
    work.dual.drift(&work.newton, &work.active, scheme.h);
    work.dual.solve();
    work.apply_dual(false);
    for &index in &work.active {
        tempered::project_add(work.level, false, scheme, &mut work.newton[index]);
    }
    let mut largest = 0.0f64;
    let held = work.stage.movers.iter_mut().filter(|m| !m.loose);
    for (mover, (rate, v)) in held.zip(&work.noted) {
        let (block, lane) = place(mover.body as usize);
        let n = &work.newton[block];
        let shift = scale(&sub(&gather(&n.v, lane), v), scheme.h);
        let grown = scale(&axial(&sub9(&gather(&n.w, lane), rate)), scheme.h);
        let turn = mul_vec(&gather(&n.rot, lane), &grown);
        largest = largest.max(carry(mover, &shift, &turn));
    }
    largest
}

fn finish_loose(work: &mut Workspace, h: f64) {
    for mover in work.stage.movers.iter().filter(|m| m.loose) {
        let (block, lane) = place(mover.body as usize);
        let n = &mut work.newton[block];
        scatter(&mut n.thrust, lane, &scale(&mover.shift, 1.0 / h));
        for k in 0..3 {
            n.p[k][lane] = mover.turn[k] / h;
        }
    }
    for index in (0..work.loose.len()).filter(|i| work.loose[*i]) {
        loose::finish(work.level, &mut work.newton[index], &mut work.next[index]);
    }
}
