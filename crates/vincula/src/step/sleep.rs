//! Sleep: what lies still is left alone until something touches it.
//!
//! A body is quiet while `|v| + |ω| r` is below a speed, with r its radius of gyration. Bodies with
//! points of contact are an island, and one whose bodies have all been quiet for a while falls
//! asleep: its velocities become zero, pairs of sleeping bodies are not looked at, and the forces
//! between them are kept for when they wake. A point of contact with something that moves, a wrench,
//! a new pose or velocity wakes all that fell asleep together, so that what lost its support falls.
//!
//! Mechanisms do not sleep, nor does what lies on one, or on a frame that moves.

use super::Workspace;
use crate::contact::detect_but;
use crate::contact::memory::Remembered;
use crate::math::lanes::{LANES, gather, place, scatter};
use crate::math::small::*;
use crate::math::union::Union;
use crate::model::{BodyId, Control, Model, State, StateBlock};

/// Speed below which a body is quiet, m/s, and for how long until it sleeps, s.
const QUIET_SPEED: f64 = 0.02;
const QUIET_TIME: f64 = 0.5;

/// Memory of falling asleep.
#[derive(Debug, Default)]
pub(crate) struct Sleep {
    /// Bodies by island.
    islands: Union,
    /// Whether the island of a head may not sleep.
    restless: Vec<bool>,
    /// Blocks of eight bodies that all sleep.
    resting: Vec<bool>,
    kept: Vec<Remembered>,
}

impl Sleep {
    /// Whether a block has nothing to do.
    pub fn rests(&self, block: usize) -> bool {
        self.resting.get(block).copied().unwrap_or(false)
    }
}

/// Wakes what the user pushes, and everything where sleep is not wanted.
pub(super) fn wake_pushed(
    model: &Model,
    state: &mut State,
    control: &Control,
    work: &mut Workspace,
) {
    work.sleep.resting.clear();
    if !work.settings.sleeping {
        state.quiet.fill(0.0);
        return;
    }
    for id in model.body_ids().filter(|_| control.active) {
        let wrench = control.wrench(id);
        if wrench.force != glam::DVec3::ZERO || wrench.torque != glam::DVec3::ZERO {
            state.wake(id);
        }
    }
}

/// Finds contacts; those of a sleeping body with anything that moves wake it, and then its own
/// are to be found as well.
pub(super) fn detect_and_wake(
    model: &Model,
    state: &mut State,
    control: &Control,
    work: &mut Workspace,
    h: f64,
) {
    loop {
        let quiet = &state.quiet;
        let sleeps = |body: BodyId| quiet[body.index()] == f64::INFINITY;
        detect_but(model, state, control, h, &sleeps, &mut work.contacts);
        let mut woken = false;
        for point in &work.contacts.points {
            for body in [point.a, point.b].into_iter().flatten() {
                woken |= state.sleeps(body);
                state.wake(body);
            }
        }
        if !woken {
            break;
        }
    }
    if work.settings.sleeping {
        let blocks = state.blocks.len();
        work.sleep.resting.resize(blocks, false);
        for (block, rests) in work.sleep.resting.iter_mut().enumerate() {
            let mut own = state.quiet[LANES * block..].iter().take(LANES);
            *rests = own.all(|quiet| *quiet == f64::INFINITY);
        }
    }
}

/// What sleeps stays where it is, whatever the rest of its block does.
pub(super) fn hold_still(state: &State, work: &mut Workspace) {
    if !work.settings.sleeping {
        return;
    }
    for (body, quiet) in state.quiet.iter().enumerate() {
        let (block, lane) = place(body);
        if *quiet == f64::INFINITY && !work.sleep.rests(block) {
            let (past, next) = (&state.blocks[block], &mut work.next[block]);
            let (t, a): (V3, M3) = (gather(&past.t, lane), gather(&past.a, lane));
            scatter(&mut next.t, lane, &t);
            scatter(&mut next.a, lane, &a);
            stop(next, lane);
        }
    }
}

fn stop(block: &mut StateBlock, lane: usize) {
    scatter(&mut block.v, lane, &[0.0; 3]);
    scatter(&mut block.w, lane, &[0.0; 9]);
}

/// Writes the contact forces that the next step starts from, with those between sleeping bodies.
pub(super) fn remember(model: &Model, state: &mut State, work: &mut Workspace) {
    let Workspace {
        sleep,
        stage,
        contacts,
        settings,
        ..
    } = work;
    sleep.kept.clear();
    if settings.sleeping {
        let quiet = &state.quiet;
        let asleep = |collider| {
            let body = model.collider(collider).carrier.body();
            body.is_none_or(|b: BodyId| quiet[b.index()] == f64::INFINITY)
        };
        let entries = state.contacts.entries.iter().copied();
        sleep
            .kept
            .extend(entries.filter(|e| asleep(e.key.0) && asleep(e.key.1)));
    }
    stage.remember(&contacts.points, &mut state.contacts);
    if !sleep.kept.is_empty() {
        state.contacts.entries.extend_from_slice(&sleep.kept);
        state.contacts.entries.sort_unstable_by_key(|e| e.key);
    }
}

/// Counts how long bodies have been quiet and puts islands to sleep.
pub(super) fn fall_asleep(model: &Model, state: &mut State, work: &mut Workspace, h: f64) {
    if !work.settings.sleeping {
        return;
    }
    for body in 0..state.quiet.len() {
        if state.quiet[body] < f64::INFINITY {
            let loose = !model.collision.jointed[body];
            let still = loose && speed(model, state, body) < QUIET_SPEED;
            state.quiet[body] = if still { state.quiet[body] + h } else { 0.0 };
        }
    }
    find_islands(state, work);
    for body in 0..state.quiet.len() {
        let head = work.sleep.islands.head(body as u32);
        if state.quiet[body] < f64::INFINITY && !work.sleep.restless[head as usize] {
            state.quiet[body] = f64::INFINITY;
            state.nest[body] = head;
            if let Some(lent) = state.lent.get_mut(body) {
                *lent = 0.0;
            }
            let (block, lane) = place(body);
            stop(&mut state.blocks[block], lane);
        }
    }
}

/// Bodies that are in contact, or so close that one would wake the other, and which of these islands may not sleep.
fn find_islands(state: &State, work: &mut Workspace) {
    let count = state.quiet.len();
    let Workspace {
        sleep, contacts, ..
    } = work;
    sleep.islands.reset(count);
    sleep.restless.clear();
    sleep.restless.resize(count, false);
    for point in &contacts.points {
        if let (Some(a), Some(b)) = (point.a, point.b) {
            sleep.islands.join(a.index() as u32, b.index() as u32);
        }
        let carried = point.surface_velocity != [0.0; 3];
        for body in [point.a, point.b].into_iter().flatten() {
            sleep.restless[body.index()] |= carried;
        }
    }
    for body in 0..count {
        let own = sleep.restless[body] || state.quiet[body] < QUIET_TIME;
        let head = sleep.islands.head(body as u32) as usize;
        sleep.restless[head] |= own;
    }
}

/// `|v| + |ω| r`, m/s.
fn speed(model: &Model, state: &State, body: usize) -> f64 {
    let (block, lane) = place(body);
    let (v, w): (V3, M3) = (
        gather(&state.blocks[block].v, lane),
        gather(&state.blocks[block].w, lane),
    );
    let affine = model.affine(BodyId::new(body));
    let gyration = affine.inertia().into_iter().fold(0.0, f64::max) / affine.mass;
    // A rotation at the rate ω has the Frobenius norm √2 |ω|.
    let spin = (0.5 * w.iter().map(|x| x * x).sum::<f64>()).sqrt();
    dot(&v, &v).sqrt() + spin * gyration.sqrt()
}
