//! Contacts within a step: found at its start, held apart in both of its stages.

use super::parts::{is_too_deep, shallow};
use super::sleep;
use super::solve::{bend_held, close, is_little};
use super::travel::measure_thickness;
use super::turns::{self, Course, agrees, contracts, is_accurate};
use super::yielding::{give_way, give_way_at_end};
use super::{StepReport, Workspace};
use crate::contact::stage::{Care, Scene, Stage, is_crowd};
use crate::contact::{ContactSolver, movers};
use crate::dual::{Dual, DualFault};
use crate::integrate::{Scheme, loose, tempered};
use crate::math::lanes::{LANES, gather, place, scatter};
use crate::math::small::*;
use crate::model::{BodyId, Control, Model, State};

/// Times at most that gaps are corrected for the curved path of rotating bodies, and in crowds.
const BENDS: [usize; 2] = [2, 1];
/// The same where an accuracy is asked for.
const ACCURATE_BENDS: usize = 8;
/// What the curved path may add to a gap before it is corrected for, m, and the same in crowds.
const BENT: [f64; 2] = [1e-8, 1e-5];

/// Finds contacts, and which blocks of bodies they touch.
pub(super) fn find_contacts(
    model: &Model,
    state: &mut State,
    control: &Control,
    work: &mut Workspace,
    h: f64,
) {
    if model.colliders().is_empty() {
        return;
    }
    sleep::detect_and_wake(model, state, control, work, h);
    work.inside = work.contacts.penetration();
    work.stage.start_afresh();
    mark_touched(work);
}

/// Marks the blocks of bodies that contacts touch, for a new step.
pub(super) fn mark_touched(work: &mut Workspace) {
    work.stage.reset();
    work.touched.fill(false);
    let points = work.contacts.points.iter();
    let bodies = points.flat_map(|point| [point.a, point.b]).flatten();
    for body in bodies.clone() {
        work.touched[place(body.index()).0] = true;
    }
    work.dual.note_touched(bodies.map(BodyId::index));
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
pub(super) fn stage_of<'a>(
    model: &'a Model,
    state: &'a State,
    work: &'a mut Workspace,
    scheme: &Scheme,
) -> (&'a mut Stage, &'a mut Dual, Scene<'a>) {
    let scene = Scene {
        model,
        points: &work.contacts.points,
        memory: &state.contacts,
        inside: work.inside,
        start: &state.blocks,
        work: &work.newton,
        loose: &work.loose,
        projects: work.settings.integrator.projects(),
        couples: work.settings.contact_solver != ContactSolver::GaussSeidel,
        chooses: work.settings.contact_solver == ContactSolver::Automatic,
        softness: work.settings.contact_solver.softness(),
        h: scheme.h,
        c: scheme.c,
    };
    (&mut work.stage, &mut work.dual, scene)
}

/// Where the first stage ends.
pub(super) struct Held {
    /// By how much joints and contacts still disagree, m.
    pub wrong: f64,
    /// How far joints are open, m, where they were closed again.
    pub violation: Option<f64>,
}

/// First stage: no gap is negative at the end of the step. Returns nothing if there are no contacts.
/// `is_open` says whether the step is going to be linearised again from where it is, with joints open
/// by so much, m.
pub(super) fn hold_apart(
    model: &Model,
    state: &State,
    work: &mut Workspace,
    scheme: &Scheme,
    report: &mut StepReport,
    is_open: impl Fn(&Workspace, f64) -> bool,
) -> Result<Option<Held>, DualFault> {
    if work.contacts.points.is_empty() {
        return Ok(None);
    }
    measure_thickness(model, work);
    let begins = report.iterations == 1 || !work.stage.has_begun();
    let shallow = if begins { shallow(work) } else { 0.0 };
    let (stage, dual, scene) = stage_of(model, state, work, scheme);
    if begins {
        stage.begin(&scene, dual, shallow);
    }
    stage.first(&scene, dual);
    let rule = work.settings.iteration();
    let (mut wrong, mut violation) = (0.0, None);
    let exact = work.stage.care() == Care::Exact;
    let (mut turn, mut changed, mut course) = (0, false, Course::default());
    loop {
        report.sweeps += work.solve_contacts(turn > 0 && !changed);
        let crowd = usize::from(is_crowd(work.contacts.points.len()));
        let accurate = work.accuracy().is_some();
        let bends = if accurate {
            ACCURATE_BENDS
        } else {
            BENDS[crowd]
        };
        for _ in 0..bends {
            if work.stage.bend() <= BENT[crowd] && (is_accurate(work) || coupled(work)) {
                break;
            }
            report.sweeps += work.solve_contacts(true);
        }
        while goes_in(model, work) && work.stage.insist(&work.settings) {
            for _ in 0..ACCURATE_BENDS {
                report.sweeps += work.solve_contacts(true);
                if work.stage.bend() <= BENT[crowd] {
                    break;
                }
            }
        }
        if turn == 0 && coupled(work) && work.dual.holds_axes() {
            report.sweeps += give_way(model, state, work, scheme)?;
        }
        if let Some(left) = violation.filter(|_| !changed && !work.stage.movers.have_news()) {
            // The law is met where the joints have moved everything to.
            wrong = left;
            break;
        }
        tell_places(work);
        if !coupled(work) {
            break;
        }
        work.dual.forget_altered();
        find_places(work, turn > 0 || !work.linear);
        let closed = close(model, work, scheme, &rule, false)?;
        let mut left = match work.linear {
            true => work.dual.violation(model, &work.newton, scheme.h),
            false => closed.violation,
        };
        // What that opens is closed by the next turn, which there is anyway.
        if turn == 0 && may_bend(work) && is_open(work, left) {
            left = bend_held(model, work, scheme, &rule)?;
        }
        changed = work.dual.has_altered();
        let (stage, dual, scene) = stage_of(model, state, work, scheme);
        let off = stage.settle(&scene);
        if changed {
            stage.weigh_again(&scene, dual);
        }
        let better = turn == 0 || contracts(wrong, off);
        wrong = off.max(left);
        violation = Some(left);
        turn += 1;
        if agrees(work, off) {
            // What the law is met with is no disagreement.
            wrong = left;
            break;
        }
        let most = turns::most(work, changed);
        // Where the step is linearised again anyway, the small change can wait for that.
        let waits = || !exact && is_open(work, left);
        course.note(off);
        let helps = better || changed || (!course.is_stuck() && !is_accurate(work));
        let swings = accurate && course.swings();
        if turn >= most || !helps || swings || waits() {
            break;
        }
    }
    (report.penetration, report.contact_residual) = work.stage.end_first();
    // Where joints and contacts only take turns, another linearisation would not help.
    let together = work.stage.movers.answer_together() || work.stage.care() != Care::Exact;
    let wrong = if together { wrong } else { 0.0 };
    Ok(Some(Held { wrong, violation }))
}

/// Whether loose bodies would be left too deep in each other.
fn goes_in(model: &Model, work: &mut Workspace) -> bool {
    measure_thickness(model, work);
    !coupled(work) && is_too_deep(work.stage.depth(), work)
}

impl Workspace {
    /// Solves the contacts of the present stage; returns the iterations.
    pub(super) fn solve_contacts(&mut self, again: bool) -> usize {
        let (settings, dual) = (&self.settings, &mut self.dual);
        self.stage.solve(settings, dual, &self.newton, again)
    }
}

/// Whether bodies turned so little that they may be bent rather than linearised again: those of large
/// chains whose contacts are solved all at once.
fn may_bend(work: &Workspace) -> bool {
    work.stage.is_strung() && is_little(work)
}

/// Tells the bodies that joints hold what contacts do to their places.
pub(super) fn tell_places(work: &mut Workspace) {
    for mover in work.stage.movers.all.iter_mut().filter(|m| !m.loose) {
        let untold = std::mem::take(&mut mover.untold);
        movers::displace(&mut work.newton, mover.body as usize, &untold);
    }
}

/// The same for their rates.
pub(super) fn tell_rates(work: &mut Workspace, h: f64) {
    for mover in work.stage.movers.all.iter_mut().filter(|m| !m.loose) {
        let untold = std::mem::take(&mut mover.untold);
        movers::hasten(&mut work.newton, mover.body as usize, h, &untold);
    }
}

/// Places of all bodies, or of those in contact where the others have not moved since.
fn find_places(work: &mut Workspace, touched: bool) {
    if !touched {
        work.for_each_block(|around, at| around.joints.find_places(at.n, at.ports));
        return;
    }
    for &index in work.active.iter().filter(|i| work.touched[**i]) {
        work.dual.find_places(index, &work.newton[index]);
    }
}

/// Whether joints hold a body in contact.
fn coupled(work: &Workspace) -> bool {
    !work.dual.is_empty() && work.stage.movers.all.iter().any(|m| !m.loose)
}

/// Keeps the rates of every held body, to see later what became of them.
pub(super) fn note(work: &mut Workspace) {
    work.noted.clear();
    for mover in work.stage.movers.all.iter().filter(|m| !m.loose) {
        let (block, lane) = place(mover.body as usize);
        let n = &work.newton[block];
        work.noted.push((gather(&n.w, lane), gather(&n.v, lane)));
    }
}

/// Tells the movers h times the rates of their bodies since they were noted. Returns by how much
/// the movers were wrong, m.
fn read(work: &mut Workspace, h: f64) -> f64 {
    let mut largest = 0.0f64;
    let held = work.stage.movers.all.iter_mut().filter(|m| !m.loose);
    for (mover, (p, t)) in held.zip(&work.noted) {
        let (block, lane) = place(mover.body as usize);
        let n = &work.newton[block];
        let shift = scale(&sub(&gather(&n.v, lane), t), h);
        let grown = scale(&axial(&sub9(&gather(&n.w, lane), p)), h);
        let turn = mul_vec(&gather(&n.rot, lane), &grown);
        let wrong = [sub(&shift, &mover.shift), sub(&turn, &mover.turn)];
        largest = wrong.iter().flatten().fold(largest, |m, x| m.max(x.abs()));
        (mover.shift, mover.turn) = (shift, turn);
        mover.base = [shift, turn];
    }
    largest
}

/// Loose bodies go to where the first stage put them, and get their second half kick.
pub(super) fn turn_loose(model: &Model, work: &mut Workspace, scheme: &Scheme) {
    if work.contacts.points.is_empty() {
        return;
    }
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
        let kick = work.kicks.of(index);
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
) -> Result<(), DualFault> {
    if work.contacts.points.is_empty() {
        return Ok(());
    }
    let (stage, dual, scene) = stage_of(model, state, work, scheme);
    stage.second(&scene, dual);
    note(work);
    let h = scheme.h;
    let (mut wrong, mut astray, mut turn) = (f64::INFINITY, 0, 0);
    while turn < turns::most(work, false) {
        report.sweeps += work.solve_contacts(turn > 0);
        if turn == 0 && coupled(work) && work.dual.holds_axes() {
            report.sweeps += give_way_at_end(model, state, work, scheme)?;
        }
        if turn > 0 && !work.stage.movers.have_news() {
            break;
        }
        tell_rates(work, h);
        if !coupled(work) {
            break;
        }
        project_joints(work, scheme, turn == 0 && !work.dual.holds_axes());
        let off = read(work, h);
        turn += 1;
        // More turns than usual are taken only while they help.
        astray += usize::from(!(off < wrong));
        let more = astray <= turns::ASTRAY && !is_accurate(work);
        let helps = turn < turns::usual(work) || off < wrong || more;
        wrong = off;
        if agrees(work, off) || !helps {
            break;
        }
    }
    let left = work.stage.residual();
    report.contact_residual = report.contact_residual.max(left);
    finish_loose(work, h);
    Ok(())
}

/// The joint forces of this step are what the next one expects. Those against a contact that
/// pushed in the last step too are rightly among them; those against a blow, or a contact that
/// lets go, would act a second time. So what a mechanism in contact expects changes by the part
/// of its contact forces that lasted, and is what it was for the rest. The torque of joint forces
/// would turn a body before the contact can hold it, so that only their stress is kept.
pub(super) fn forget_blows(state: &State, work: &mut Workspace) {
    let lasting = &work.lasting;
    for &index in &work.active {
        let (n, past) = (&mut work.newton[index], &state.memory[index]);
        for lane in 0..LANES {
            let island = work.dual.island_at(LANES * index + lane);
            let Some(kept) = island.and_then(|island| part(lasting[island])) else {
                continue;
            };
            let (now, before): (M3, M3) = (gather(&n.held, lane), gather(&past.load, lane));
            let held = axpy9(&before, kept, &sub9(&now, &before));
            scatter(&mut n.held, lane, &full(&sym(&held)));
        }
    }
    work.dual.for_each_row(|island, row| {
        if let Some(kept) = part(lasting[island]) {
            let before = state.held[row];
            work.total[row] = before + kept * (work.total[row] - before);
        }
    });
}

/// Finds which part of contact forces lasted; returns it for the chain of which parts are left out.
pub(super) fn find_lasting(state: &State, work: &mut Workspace) -> Option<f64> {
    work.lasting.clear();
    work.lasting.resize(work.dual.islands(), [0.0; 2]);
    work.stage.add_lasting(
        &work.contacts.points,
        &state.contacts,
        &work.dual,
        &mut work.lasting,
    );
    part(work.lasting[work.dual.strand_island()?])
}

/// The part of contact forces that lasted, if there were any.
fn part([lasting, all]: [f64; 2]) -> Option<f64> {
    (all > 0.0).then(|| lasting / all)
}

/// One more projection onto what the joints allow. `touched` says that rates were found of all
/// bodies, and only those in contact have changed theirs since.
pub(super) fn project_joints(work: &mut Workspace, scheme: &Scheme, touched: bool) {
    for &index in work.active.iter().filter(|i| !touched || work.touched[**i]) {
        work.dual.find_velocities(index, &work.newton[index]);
    }
    work.dual.drift(&work.newton, scheme.h);
    work.dual.solve();
    work.apply_dual(false);
    work.for_each_block(|around, at| {
        around.joints.put_loads(at.index, at.n, at.ports);
        tempered::project_add(around.level, false, scheme, at.n);
    });
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
