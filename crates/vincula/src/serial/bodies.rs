//! Eight bodies at a time, with what the joints before and after them ask and tell: the kernels of
//! an ordinary step (`crate::integrate::ordinary`) with square rows beside the points.

use vincula_blocks::braid::BraidNode;

use super::joints::{self, Response, after, before};
use super::pull::{Acting, AtSocket};
use super::shape::{Eight, Found, Kind, Rows, SIZE, Socket};
use crate::dual::axles::{ALL, Axes, NO_AXES, ROWS, respond_to};
use crate::dual::ports::{find_compliances_lanes, find_places_lanes};
use crate::integrate::kicks::KickBlock;
use crate::integrate::newton::{NewtonBlock, press_under};
use crate::integrate::ordinary::{drift_off, take_off};
use crate::integrate::{Scheme, euler};
use crate::kernel;
use crate::math::lanes::{LANES, Lane, gather, scatter};
use crate::math::small::*;
use crate::model::{MemoryBlock, StateBlock};

/// What is beside a block: what was found of the blocks before and after it, the lengths of its
/// joints and the next ones, m, and what the forces of their square rows were at the end of the
/// last step, times lengths, N m.
pub(super) struct Beside<'a> {
    /// Whether bodies fly first, and turn under what joints held them by.
    pub flies: bool,
    pub last: &'a Found,
    pub next: &'a Found,
    pub lengths: [&'a Lane; 2],
    pub held: [&'a [Lane; ROWS]; 2],
}

kernel! {
    /// Where the bodies fly, and how far that turns their axes. False when one is crushed.
    pub(super) fn fly(kind: &Kind, state: &StateBlock, memory: &MemoryBlock, kick: &KickBlock, scheme: &Scheme, n: &mut NewtonBlock, found: &mut Found) -> bool = fly_lanes
}

#[inline(always)]
fn fly_lanes(
    kind: &Kind,
    state: &StateBlock,
    memory: &MemoryBlock,
    kick: &KickBlock,
    scheme: &Scheme,
    n: &mut NewtonBlock,
    found: &mut Found,
) -> bool {
    let turnings = &mut found.turnings;
    if !take_off(&kind.params, state, memory, kick, scheme, turnings, n) {
        return false;
    }
    for lane in 0..LANES {
        let (was, is): (M3, M3) = (gather(&state.a, lane), gather(&n.a_pred, lane));
        for k in 0..ALL {
            let own: V3 = gather(&kind.socket.own[k], lane);
            let (was, is) = (mul_vec(&was, &own), mul_vec(&is, &own));
            scatter(&mut found.flown[k], lane, &is);
            scatter(&mut found.lost[k], lane, &sub(&was, &is));
        }
    }
    true
}

kernel! {
    /// Where the bodies go without joints, linearised where they are, and how their axes lie there.
    /// False when one is crushed.
    pub(super) fn set_out(kind: &Kind, state: &StateBlock, memory: &MemoryBlock, kick: &KickBlock, scheme: &Scheme, n: &mut NewtonBlock, found: &mut Found) -> bool = set_out_lanes
}

#[inline(always)]
fn set_out_lanes(
    kind: &Kind,
    state: &StateBlock,
    memory: &MemoryBlock,
    kick: &KickBlock,
    scheme: &Scheme,
    n: &mut NewtonBlock,
    found: &mut Found,
) -> bool {
    if !euler::launch_lanes(&kind.params, state, memory, kick, scheme, n) {
        return false;
    }
    for lane in 0..LANES {
        let a: M3 = gather(&state.a, lane);
        for k in 0..ALL {
            let own: V3 = gather(&kind.socket.own[k], lane);
            scatter(&mut found.flown[k], lane, &mul_vec(&a, &own));
        }
    }
    true
}

/// A vector of the other body of each row.
#[inline(always)]
fn others<const LINE: bool>(last: &Axes, own: &Axes, next: &Axes) -> Axes {
    let mut other = NO_AXES;
    for k in 0..ROWS {
        for i in 0..3 {
            other[k][i] = before::<LINE>(&last[ROWS + k][i], &own[ROWS + k][i]);
            other[ROWS + k][i] = after::<LINE>(&own[k][i], &next[k][i]);
        }
    }
    other
}

/// ℓ times the axes of the other bodies, in the frame of the rotation.
#[inline(always)]
pub(super) fn tell<const LINE: bool>(
    last: &Axes,
    own: &Axes,
    next: &Axes,
    [length, next_length]: [&Lane; 2],
    rot: &[Lane; 9],
    told: &mut Axes,
) {
    let other = others::<LINE>(last, own, next);
    let lengths = [*length, after::<LINE>(length, next_length)];
    for lane in 0..LANES {
        let rot: M3 = gather(rot, lane);
        for k in 0..ALL {
            let axis = tmul_vec(&rot, &gather(&other[k], lane));
            scatter(&mut told[k], lane, &scale(&axis, lengths[k / ROWS][lane]));
        }
    }
}

kernel! {
    /// What rows lose by turning, the motion without joints, and how the bodies give way to them.
    pub(super) fn move_freely<LINE>(beside: &Beside<'_>, kind: &Kind, scheme: &Scheme, n: &mut NewtonBlock, told: &mut Axes, found: &mut Found, response: &mut Response) = move_freely_lanes
}

#[inline(always)]
fn move_freely_lanes<const LINE: bool>(
    beside: &Beside<'_>,
    kind: &Kind,
    scheme: &Scheme,
    n: &mut NewtonBlock,
    told: &mut Axes,
    found: &mut Found,
    response: &mut Response,
) {
    move_again_lanes::<LINE>(beside, kind, scheme, n, told, found);
    let socket = &kind.socket;
    let Socket { points, own } = socket;
    locate_lanes(socket, n, found);
    find_compliances_lanes(n, points, &mut response.compliances);
    let Response {
        points: at_points,
        among,
        ..
    } = response;
    respond_to(n, points, own, told, at_points, among);
}

/// The motion without joints, and what rows lose by turning.
#[inline(always)]
fn drift_in<const LINE: bool>(
    beside: &Beside<'_>,
    kind: &Kind,
    scheme: &Scheme,
    n: &mut NewtonBlock,
    found: &Found,
) {
    let Beside { last, next, .. } = beside;
    let [held, next_held] = beside.held;
    let other = others::<LINE>(&last.lost, &found.lost, &next.lost);
    let mut force = [[0.0; LANES]; ALL];
    for k in 0..ROWS {
        force[k] = held[k];
        force[ROWS + k] = after::<LINE>(&held[k], &next_held[k]);
    }
    for lane in 0..LANES {
        let rot: M3 = gather(&n.rot, lane);
        let mut lost = [0.0; 3];
        for k in 0..ALL {
            let turned = scale(&gather(&other[k], lane), -force[k][lane]);
            let local = tmul_vec(&rot, &turned);
            // Twice the axial vector of `local ⊗ own`.
            lost = add(&lost, &cross(&gather(&kind.socket.own[k], lane), &local));
        }
        drift_off(&kind.params, scheme, &found.turnings, &lost, n, lane);
    }
}

kernel! {
    /// The motion without joints once more, and what the bodies are told.
    pub(super) fn move_again<LINE>(beside: &Beside<'_>, kind: &Kind, scheme: &Scheme, n: &mut NewtonBlock, told: &mut Axes, found: &Found) = move_again_lanes
}

#[inline(always)]
fn move_again_lanes<const LINE: bool>(
    beside: &Beside<'_>,
    kind: &Kind,
    scheme: &Scheme,
    n: &mut NewtonBlock,
    told: &mut Axes,
    found: &Found,
) {
    if beside.flies {
        drift_in::<LINE>(beside, kind, scheme, n, found);
    }
    let Beside {
        last,
        next,
        lengths,
        ..
    } = beside;
    let (last, own, next) = (&last.flown, &found.flown, &next.flown);
    tell::<LINE>(last, own, next, *lengths, &n.rot, told);
}

kernel! {
    /// The blocks of eight joints in the dual system, and how far they are open, m.
    pub(super) fn assemble<LINE>(last: (&Found, &Response), own: (&Found, &Response), eight: &Eight, node: &mut BraidNode<SIZE>, rows: &mut Rows) = assemble_lanes
}

#[inline(always)]
fn assemble_lanes<const LINE: bool>(
    last: (&Found, &Response),
    own: (&Found, &Response),
    eight: &Eight,
    node: &mut BraidNode<SIZE>,
    rows: &mut Rows,
) {
    joints::assemble::<LINE>(last.1, own.1, eight, node);
    joints::find_gaps_lanes::<LINE>(last.0, own.0, eight, rows);
}

kernel! {
    /// Moves the bodies by the forces of the joints before and after them, and finds where their
    /// points and axes are. Returns the largest change of an entry of A.
    pub(super) fn press<LINE>(acting: &Acting<'_>, socket: &Socket, told: &Axes, n: &mut NewtonBlock, found: &mut Found) -> f64 = press_lanes
}

#[inline(always)]
fn press_lanes<const LINE: bool>(
    acting: &Acting<'_>,
    socket: &Socket,
    told: &Axes,
    n: &mut NewtonBlock,
    found: &mut Found,
) -> f64 {
    let pull = AtSocket::new::<LINE>(acting, socket, told);
    let update = press_under::<false>(n, &pull);
    locate_lanes(socket, n, found);
    update
}

kernel! {
    /// Finds where the points and axes of bodies are.
    pub(super) fn locate(socket: &Socket, n: &NewtonBlock, found: &mut Found) = locate_lanes
}

#[inline(always)]
fn locate_lanes(socket: &Socket, n: &NewtonBlock, found: &mut Found) {
    find_places_lanes(n, &socket.points, &mut found.place);
    find_axes_lanes(socket, n, found);
}

kernel! {
    /// Finds where the axes of bodies are.
    pub(super) fn find_axes(socket: &Socket, n: &NewtonBlock, found: &mut Found) = find_axes_lanes
}

#[inline(always)]
pub(super) fn find_axes_lanes(socket: &Socket, n: &NewtonBlock, found: &mut Found) {
    for lane in 0..LANES {
        let a: M3 = gather(&n.a, lane);
        for k in 0..ALL {
            let own: V3 = gather(&socket.own[k], lane);
            scatter(&mut found.world[k], lane, &mul_vec(&a, &own));
        }
    }
}

kernel! {
    /// Writes the end of a step that projects no velocity. False if a body is not finite.
    pub(super) fn end<LINE>(acting: &Acting<'_>, socket: &Socket, told: &Axes, scheme: &Scheme, past: (&StateBlock, &MemoryBlock), n: &NewtonBlock, next: (&mut StateBlock, &mut MemoryBlock)) -> bool = end_lanes
}

#[inline(always)]
fn end_lanes<const LINE: bool>(
    acting: &Acting<'_>,
    socket: &Socket,
    told: &Axes,
    scheme: &Scheme,
    (state, past): (&StateBlock, &MemoryBlock),
    n: &NewtonBlock,
    (next, memory): (&mut StateBlock, &mut MemoryBlock),
) -> bool {
    let pull = AtSocket::new::<LINE>(acting, socket, told);
    euler::end_under(scheme, &pull, state, past, n, next, memory)
}

kernel! {
    /// Moves the bodies as [`press`] does, and writes the end of the step as [`end`] does. Returns the
    /// largest change of an entry of A, not a number if a body is not finite.
    pub(super) fn press_and_end<LINE>(acting: &Acting<'_>, socket: &Socket, told: &Axes, scheme: &Scheme, past: (&StateBlock, &MemoryBlock), n: &mut NewtonBlock, next: (&mut StateBlock, &mut MemoryBlock), found: &mut Found) -> f64 = press_and_end_lanes
}

#[inline(always)]
#[allow(clippy::too_many_arguments)]
fn press_and_end_lanes<const LINE: bool>(
    acting: &Acting<'_>,
    socket: &Socket,
    told: &Axes,
    scheme: &Scheme,
    (state, past): (&StateBlock, &MemoryBlock),
    n: &mut NewtonBlock,
    (next, memory): (&mut StateBlock, &mut MemoryBlock),
    found: &mut Found,
) -> f64 {
    let pull = AtSocket::new::<LINE>(acting, socket, told);
    let update = euler::arrive_under(scheme, &pull, state, past, n, next, memory);
    locate_lanes(socket, n, found);
    update
}
