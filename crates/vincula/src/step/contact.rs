//! Contacts within a step: found at its start, held apart in both of its stages.

use super::solve::correct;
use super::{StepReport, Workspace};
use crate::contact::movers;
use crate::contact::stage::{Scene, Stage};
use crate::contact::sweep;
use crate::dual::{Dual, DualFault};
use crate::integrate::newton::NewtonBlock;
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
        loose[index] = touched[index] && !jointed[index] && loose::land(*level, &mut newton[index]);
        !loose[index]
    });
}

/// The stage, the joints, and what the stage looks at.
fn stage_of<'a>(
    model: &'a Model,
    state: &'a State,
    work: &'a mut Workspace,
    scheme: &Scheme,
) -> (&'a mut Stage, &'a mut Dual, Scene<'a>) {
    let scene = Scene {
        model,
        points: &work.contacts.points,
        memory: &state.contacts,
        start: &state.blocks,
        work: &work.newton,
        loose: &work.loose,
        projects: work.settings.integrator.projects(),
        softness: work.settings.contact_solver.softness(),
        h: scheme.h,
        c: scheme.c,
    };
    (&mut work.stage, &mut work.dual, scene)
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
    let (stage, dual, scene) = stage_of(model, state, work, scheme);
    if report.iterations == 1 {
        stage.begin(&scene, dual);
    }
    stage.first(&scene, dual);
    note(work, |n, lane| (gather(&n.p, lane), gather(&n.t, lane)));
    let (tolerance, rule) = (work.settings.contact_tolerance, work.settings.iteration());
    for _ in 0..TURNS {
        report.sweeps += work.stage.solve(&work.settings);
        for mover in work.stage.movers.all.iter_mut().filter(|m| !m.loose) {
            let untold = std::mem::take(&mut mover.untold);
            movers::displace(&mut work.newton, mover.body as usize, &untold);
        }
        if !coupled(work) {
            break;
        }
        correct(model, work, scheme.h, rule.residual, false)?;
        let off = read(work, 1.0, |n, lane| {
            (gather(&n.p, lane), gather(&n.t, lane))
        });
        if off <= tolerance {
            break;
        }
    }
    let Stage { rows, movers, .. } = &work.stage;
    report.contact_residual = sweep::residual(rows, movers);
    report.penetration = work.stage.end_first();
    Ok(())
}

/// Whether joints hold a body in contact.
fn coupled(work: &Workspace) -> bool {
    !work.dual.is_empty() && work.stage.movers.all.iter().any(|m| !m.loose)
}

/// Keeps the matrix and the vector of every held body, to see later what became of them.
fn note(work: &mut Workspace, of: impl Fn(&NewtonBlock, usize) -> (M3, V3)) {
    work.noted.clear();
    for mover in work.stage.movers.all.iter().filter(|m| !m.loose) {
        let (block, lane) = place(mover.body as usize);
        work.noted.push(of(&work.newton[block], lane));
    }
}

/// Tells the movers how far their bodies have come, h times their rates or their poses.
/// Returns by how much the movers were wrong, m.
fn read(work: &mut Workspace, h: f64, of: impl Fn(&NewtonBlock, usize) -> (M3, V3)) -> f64 {
    let mut largest = 0.0f64;
    let held = work.stage.movers.all.iter_mut().filter(|m| !m.loose);
    for (mover, (p, t)) in held.zip(&work.noted) {
        let (block, lane) = place(mover.body as usize);
        let n = &work.newton[block];
        let now = of(n, lane);
        let shift = scale(&sub(&now.1, t), h);
        let grown = scale(&axial(&sub9(&now.0, p)), h);
        let turn = mul_vec(&gather(&n.rot, lane), &grown);
        let wrong = [sub(&shift, &mover.shift), sub(&turn, &mover.turn)];
        largest = wrong.iter().flatten().fold(largest, |m, x| m.max(x.abs()));
        (mover.shift, mover.turn) = (shift, turn);
    }
    largest
}

/// Loose bodies go to where the first stage put them, and get their second half kick.
pub(super) fn turn_loose(model: &Model, work: &mut Workspace, scheme: &Scheme) {
    for mover in work.stage.movers.all.iter().filter(|m| m.loose) {
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
    let (stage, _, scene) = stage_of(model, state, work, scheme);
    stage.second(&scene);
    note(work, |n, lane| (gather(&n.w, lane), gather(&n.v, lane)));
    let (tolerance, h) = (work.settings.contact_tolerance, scheme.h);
    for _ in 0..TURNS {
        report.sweeps += work.stage.solve(&work.settings);
        for mover in work.stage.movers.all.iter_mut().filter(|m| !m.loose) {
            let untold = std::mem::take(&mut mover.untold);
            movers::hasten(&mut work.newton, mover.body as usize, h, &untold);
        }
        if !coupled(work) {
            break;
        }
        project_joints(work, scheme);
        let off = read(work, h, |n, lane| (gather(&n.w, lane), gather(&n.v, lane)));
        if off <= tolerance {
            break;
        }
    }
    let Stage { rows, movers, .. } = &work.stage;
    let left = sweep::residual(rows, movers);
    report.contact_residual = report.contact_residual.max(left);
    finish_loose(work, h);
}

/// One more projection onto what the joints allow.
fn project_joints(work: &mut Workspace, scheme: &Scheme) {
    work.dual.drift(&work.newton, &work.active, scheme.h);
    work.dual.solve();
    work.apply_dual(false);
    for &index in &work.active {
        tempered::project_add(work.level, false, scheme, &mut work.newton[index]);
    }
}

fn finish_loose(work: &mut Workspace, h: f64) {
    for mover in work.stage.movers.all.iter().filter(|m| m.loose) {
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
