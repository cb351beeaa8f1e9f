//! How fast eight bodies and their joints move at the new pose, and the projection of their velocity:
//! the second half of an ordinary step.

use super::again::Put;
use super::bodies::{Beside, find_axes_lanes, tell};
use super::pull::{Acting, AtSocket};
use super::shape::{Found, Kind, Socket};
use crate::dual::axles::{ALL, Axes};
use crate::integrate::Scheme;
use crate::integrate::kicks::KickBlock;
use crate::integrate::newton::{NewtonBlock, Pull, invert_lanes, polar_lanes};
use crate::integrate::ordinary::{Motion, Seen, land_lanes, settle_seen, settle_under};
use crate::kernel;
use crate::math::lanes::{LANES, copy, flush, gather, largest, scatter};
use crate::math::small::*;
use crate::model::{MemoryBlock, StateBlock};

kernel! {
    /// The velocity before its projection; as [`meet`]. Nothing when a body is crushed.
    pub(super) fn land<LINE>(beside: &Beside<'_>, kind: &Kind, kick: &KickBlock, scheme: &Scheme, acting: &Acting<'_>, n: &mut NewtonBlock, told: &mut Axes, found: &mut Found) -> Option<f64> = land_all
}

#[inline(always)]
#[allow(clippy::too_many_arguments)]
fn land_all<const LINE: bool>(
    beside: &Beside<'_>,
    kind: &Kind,
    kick: &KickBlock,
    scheme: &Scheme,
    acting: &Acting<'_>,
    n: &mut NewtonBlock,
    told: &mut Axes,
    found: &mut Found,
) -> Option<f64> {
    // As the next state will be, from which it may be taken up again.
    flush(&mut n.a);
    if !land_lanes(&kind.params, kick, scheme, n) {
        return None;
    }
    Some(meet_lanes::<LINE>(
        beside,
        &kind.socket,
        scheme,
        acting,
        n,
        told,
        found,
    ))
}

kernel! {
    /// Tells the bodies the axes of the others at the new pose, and finds how fast their points and
    /// axes move under these forces. Returns the largest velocity that these give a body, m/s.
    pub(super) fn meet<LINE>(beside: &Beside<'_>, socket: &Socket, scheme: &Scheme, acting: &Acting<'_>, n: &NewtonBlock, told: &mut Axes, found: &mut Found) -> f64 = meet_lanes
}

#[inline(always)]
fn meet_lanes<const LINE: bool>(
    beside: &Beside<'_>,
    socket: &Socket,
    scheme: &Scheme,
    acting: &Acting<'_>,
    n: &NewtonBlock,
    told: &mut Axes,
    found: &mut Found,
) -> f64 {
    tell_again_lanes::<LINE>(beside, n, told, found);
    try_out_lanes::<LINE>(acting, socket, told, scheme, n, found)
}

kernel! {
    /// Tells the bodies the axes of the others at the new pose once more.
    pub(super) fn tell_again<LINE>(beside: &Beside<'_>, n: &NewtonBlock, told: &mut Axes, found: &Found) = tell_again_lanes
}

#[inline(always)]
fn tell_again_lanes<const LINE: bool>(
    beside: &Beside<'_>,
    n: &NewtonBlock,
    told: &mut Axes,
    found: &Found,
) {
    let Beside {
        last,
        next,
        lengths,
        ..
    } = beside;
    let (last, own, next) = (&last.world, &found.world, &next.world);
    tell::<LINE>(last, own, next, *lengths, &n.rot, told);
}

kernel! {
    /// Puts down bodies that have landed.
    pub(super) fn put_down(n: &NewtonBlock, put: &mut Put, next: &mut StateBlock) = put_down_lanes
}

#[inline(always)]
fn put_down_lanes(n: &NewtonBlock, put: &mut Put, next: &mut StateBlock) {
    copy(&n.w, &mut put.w);
    copy(&n.v, &mut put.v);
    copy(&n.geometric, &mut put.geometric);
    copy(&n.a, &mut next.a);
    copy(&n.t, &mut next.t);
}

kernel! {
    /// Takes up bodies that were put down. False if one is crushed.
    pub(super) fn take_up(kind: &Kind, scheme: &Scheme, put: &Put, next: &StateBlock, past: &MemoryBlock, n: &mut NewtonBlock, found: &mut Found) -> bool = take_up_lanes
}

#[inline(always)]
fn take_up_lanes(
    kind: &Kind,
    scheme: &Scheme,
    put: &Put,
    next: &StateBlock,
    past: &MemoryBlock,
    n: &mut NewtonBlock,
    found: &mut Found,
) -> bool {
    copy(&put.w, &mut n.w);
    copy(&put.v, &mut n.v);
    copy(&put.geometric, &mut n.geometric);
    copy(&next.a, &mut n.a);
    copy(&next.t, &mut n.t);
    copy(&past.slow, &mut n.slow);
    invert_lanes(&kind.params, scheme, n);
    find_axes_lanes(&kind.socket, n, found);
    polar_lanes(&n.a, &mut n.rot)
}

kernel! {
    /// How fast the points and axes of bodies would move under the forces of the joints before and
    /// after them. Returns the largest velocity that these give a body, m/s.
    pub(super) fn try_out<LINE>(acting: &Acting<'_>, socket: &Socket, told: &Axes, scheme: &Scheme, n: &NewtonBlock, found: &mut Found) -> f64 = try_out_lanes
}

#[inline(always)]
fn try_out_lanes<const LINE: bool>(
    acting: &Acting<'_>,
    socket: &Socket,
    told: &Axes,
    scheme: &Scheme,
    n: &NewtonBlock,
    found: &mut Found,
) -> f64 {
    let pull = AtSocket::new::<LINE>(acting, socket, told);
    let per_h = scheme.gamma;
    let mut given = [0.0; LANES];
    for lane in 0..LANES {
        let rot: M3 = gather(&n.rot, lane);
        let inverse = n.inverse_of(lane);
        let (load, thrust) = pull.on(&rot, lane);
        let rate = axpy9(&gather(&n.w, lane), per_h, &inverse.solve(&load));
        let gain = per_h * inverse.translation;
        let v = axpy(&gather(&n.v, lane), gain, &thrust);
        given[lane] = gain * thrust[0].abs().max(thrust[1].abs()).max(thrust[2].abs());
        let mut watch = Watch {
            socket,
            told,
            found,
        };
        watch.see(&Motion { rot, rate, v }, lane);
    }
    largest(&given)
}

/// Finds how fast points and axes move, and the rows with them.
struct Watch<'a> {
    socket: &'a Socket,
    told: &'a Axes,
    found: &'a mut Found,
}

impl Seen for Watch<'_> {
    #[inline(always)]
    fn see(&mut self, motion: &Motion, lane: usize) {
        let Motion { rot, rate, v } = motion;
        for (point, velocity) in self.socket.points.iter().zip(&mut self.found.velocity) {
            let local = mul_vec(rate, &gather(point, lane));
            scatter(velocity, lane, &add(&mul_vec(rot, &local), v));
        }
        for k in 0..ALL {
            let moving = mul_vec(rate, &gather(&self.socket.own[k], lane));
            self.found.rate[k][lane] = dot(&gather(&self.told[k], lane), &moving);
        }
    }
}

kernel! {
    /// Writes the end of the step as [`settle`] does, and finds how fast points and axes move as
    /// [`try_out`] does.
    pub(super) fn settle_and_try<LINE>(acting: &Acting<'_>, kind: &Kind, told: &Axes, scheme: &Scheme, n: &NewtonBlock, next: (&mut StateBlock, &mut MemoryBlock), found: &mut Found) -> bool = settle_and_try_lanes
}

#[inline(always)]
fn settle_and_try_lanes<const LINE: bool>(
    acting: &Acting<'_>,
    kind: &Kind,
    told: &Axes,
    scheme: &Scheme,
    n: &NewtonBlock,
    (state, memory): (&mut StateBlock, &mut MemoryBlock),
    found: &mut Found,
) -> bool {
    let Kind { params, socket, .. } = kind;
    let pull = AtSocket::new::<LINE>(acting, socket, told);
    let mut watch = Watch {
        socket,
        told,
        found,
    };
    settle_seen(params, scheme, &pull, n, state, memory, &mut watch)
}

kernel! {
    /// Adds the response to the forces of the joints before and after the bodies to their velocity,
    /// and writes the end of the step. False if a body is not finite.
    pub(super) fn settle<LINE>(acting: &Acting<'_>, kind: &Kind, told: &Axes, scheme: &Scheme, n: &NewtonBlock, next: (&mut StateBlock, &mut MemoryBlock)) -> bool = settle_lanes
}

#[inline(always)]
fn settle_lanes<const LINE: bool>(
    acting: &Acting<'_>,
    kind: &Kind,
    told: &Axes,
    scheme: &Scheme,
    n: &NewtonBlock,
    (state, memory): (&mut StateBlock, &mut MemoryBlock),
) -> bool {
    let pull = AtSocket::new::<LINE>(acting, &kind.socket, told);
    settle_under(&kind.params, scheme, &pull, n, state, memory)
}
