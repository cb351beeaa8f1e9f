//! Friction and limits of joints that give way to a contact.
//!
//! What friction in a joint can hold, and which limit is reached, is decided before contacts push.
//! A coordinate that is held is rigid, and a contact against it finds no end to its force. So the
//! forces of the contacts are tried out on the joints: where friction would have to hold more than
//! it can, or a limit would have to pull, the coordinate is let go, and contacts start over with a
//! mechanism that answers without it.

use super::Workspace;
use super::contact::{note, project_joints, stage_of};
use crate::contact::movers::{self, Mover, Movers};
use crate::dual::{Dual, DualFault};
use crate::integrate::Scheme;
use crate::math::lanes::{gather, place, scatter};
use crate::model::{Model, State};

/// Trials at most in a stage, by how much care contacts get: a trial is a solve of all of them.
const TRIALS: [usize; 3] = [8, 8, 1];

/// First stage, with contacts solved and bodies not told yet. Ends likewise; returns the sweeps
/// that it took.
pub(super) fn give_way(
    model: &Model,
    state: &State,
    work: &mut Workspace,
    scheme: &Scheme,
) -> Result<usize, DualFault> {
    let mut sweeps = 0;
    for _ in 0..TRIALS[work.stage.care() as usize] {
        work.dual.forget_altered();
        keep_places(work);
        try_places(work);
        find_places(work);
        work.dual.try_places(model, &work.newton, scheme.h);
        let changed = work.dual.decide_axes(scheme.h, false)?;
        put_places_back(work);
        if !changed {
            break;
        }
        let (stage, dual, scene) = stage_of(model, state, work, scheme);
        stage.first_altered(&scene, dual);
        sweeps += work.solve_contacts(false);
    }
    Ok(sweeps)
}

/// Second stage, likewise: with the rates noted at its start.
pub(super) fn give_way_at_end(
    model: &Model,
    state: &State,
    work: &mut Workspace,
    scheme: &Scheme,
) -> Result<usize, DualFault> {
    let mut sweeps = 0;
    for trial in 0..TRIALS[work.stage.care() as usize] {
        work.dual.forget_altered();
        try_rates(work, scheme.h);
        // Something that gave way has changed the rates of all.
        let all = trial > 0;
        find_velocities(work, all);
        work.dual.try_rates(&work.newton, scheme.h);
        let changed = work.dual.yield_rates(scheme.h)?;
        put_rates_back(work, all);
        if !changed {
            break;
        }
        // Friction goes to its bound before contacts look again.
        project_joints(work, scheme, false);
        let (stage, dual, scene) = stage_of(model, state, work, scheme);
        stage.second_altered(&scene, dual);
        note(work);
        sweeps += work.solve_contacts(false);
    }
    Ok(sweeps)
}

/// Bodies in contact that a trial looks at.
fn asked<'a>(movers: &'a Movers, dual: &'a Dual) -> impl Iterator<Item = &'a Mover> {
    let asked = move |m: &&Mover| !m.loose && dual.is_asked_of(m.body as usize);
    movers.all.iter().filter(asked)
}

/// Keeps the iterate of bodies that a trial moves.
fn keep_places(work: &mut Workspace) {
    work.kept.clear();
    work.kept_places.clear();
    for mover in asked(&work.stage.movers, &work.dual) {
        let (block, lane) = place(mover.body as usize);
        let n = &work.newton[block];
        work.kept.push([gather(&n.a, lane), gather(&n.p, lane)]);
        work.kept_places.push(gather(&n.t, lane));
    }
}

/// Bodies go where the contacts push them, but are not told.
fn try_places(work: &mut Workspace) {
    for mover in asked(&work.stage.movers, &work.dual) {
        movers::displace(&mut work.newton, mover.body as usize, &mover.untold);
    }
}

/// The same with rates.
fn try_rates(work: &mut Workspace, h: f64) {
    for mover in asked(&work.stage.movers, &work.dual) {
        movers::hasten(&mut work.newton, mover.body as usize, h, &mover.untold);
    }
}

fn put_places_back(work: &mut Workspace) {
    let asked = asked(&work.stage.movers, &work.dual);
    for ((mover, [a, p]), t) in asked.zip(&work.kept).zip(&work.kept_places) {
        let (block, lane) = place(mover.body as usize);
        let n = &mut work.newton[block];
        scatter(&mut n.a, lane, a);
        scatter(&mut n.p, lane, p);
        scatter(&mut n.t, lane, t);
    }
    find_places(work);
}

fn put_rates_back(work: &mut Workspace, all: bool) {
    let held = work.stage.movers.all.iter().filter(|m| !m.loose);
    for (mover, (w, v)) in held.zip(&work.noted) {
        if !work.dual.is_asked_of(mover.body as usize) {
            continue;
        }
        let (block, lane) = place(mover.body as usize);
        let n = &mut work.newton[block];
        scatter(&mut n.w, lane, w);
        scatter(&mut n.v, lane, v);
    }
    find_velocities(work, all);
}

/// Places of the bodies that a trial asks.
fn find_places(work: &mut Workspace) {
    for &index in &work.active {
        if work.dual.is_asked(index) {
            work.dual.find_places(index, &work.newton[index]);
        }
    }
}

/// Velocities of these bodies, or of all.
fn find_velocities(work: &mut Workspace, all: bool) {
    for &index in &work.active {
        if all || work.dual.is_asked(index) {
            work.dual.find_velocities(index, &work.newton[index]);
        }
    }
}
