//! The tempered step of eight bodies that one linear solve is enough for.
//!
//! The formulas of `tempered.rs` and `newton.rs`, without what only a second linearisation would
//! ask for: all stays in the frame of the flight, in which the increment P is the way from the
//! prediction, and rates need not go to the world and back. They agree to rounding.
//!
//! [`launch`] is the prediction and the free solve, [`super::newton::press`] the answer to joint
//! forces, [`land`] the velocity before its projection, and [`settle`] the projection and the end.

use super::Scheme;
use super::kicks::KickBlock;
use super::newton::{AtPoints, NewtonBlock, Points, Pull, inverse, polar_lanes};
use super::tempered::{Flown, Turning, Turnings, brake, kicked_after, set_off, settled};
use crate::body::affine::{Affine, Inverse, strain};
use crate::joint::rotation::upright;
use crate::kernel;
use crate::math::lanes::{LANES, Lane, all, flush, gather, scatter};
use crate::math::small::*;
use crate::model::{MemoryBlock, ParamBlock, StateBlock};

kernel! {
    /// Predicts, inverts H̄ and solves without constraint forces. `keeps` leaves also what a second
    /// linearisation needs. False when a body is crushed.
    pub fn launch(params: &ParamBlock, state: &StateBlock, memory: &MemoryBlock, kick: &KickBlock, scheme: &Scheme, keeps: bool, n: &mut NewtonBlock) -> bool = launch_lanes
}

#[inline(always)]
fn launch_lanes(
    params: &ParamBlock,
    state: &StateBlock,
    memory: &MemoryBlock,
    kick: &KickBlock,
    scheme: &Scheme,
    keeps: bool,
    n: &mut NewtonBlock,
) -> bool {
    if !polar_lanes(&state.a, &mut n.rot) {
        return false;
    }
    let turnings = set_off(params, state, memory, kick, scheme, n);
    for lane in 0..LANES {
        let body = params.affine(lane);
        let flown = Flown::new(&body, scheme, state, memory, &turnings, n, lane);
        let (rot, shape) = (flown.rot, flown.shape);
        let (inverse, load) = enter(&body, scheme, &flown, memory, n, lane);
        let p = inverse.solve(&load);
        scatter(&mut n.p, lane, &p);
        scatter(&mut n.a, lane, &mul(&rot, &axpy9(&shape, 1.0, &p)));
        if keeps {
            scatter(&mut n.a_pred, lane, &mul(&rot, &shape));
            scatter(&mut n.w, lane, &mul(&rot, &flown.rate));
            scatter(&mut n.force, lane, &mul(&rot, &flown.load));
        }
    }
    for k in 0..9 {
        n.held[k] = [0.0; LANES];
    }
    for k in 0..3 {
        n.slow[k] = memory.slow[k];
        n.t[k] = n.t_pred[k];
    }
    true
}

/// Keeps what a body has after its flight. Returns H̄⁻¹ and the load of the free motion on A, in the
/// frame of the flight, N m.
#[inline(always)]
fn enter(
    body: &Affine,
    scheme: &Scheme,
    flown: &Flown,
    memory: &MemoryBlock,
    n: &mut NewtonBlock,
    lane: usize,
) -> (Inverse, M3) {
    let mut s = sym(&flown.shape);
    for k in 0..3 {
        s[k] -= 1.0;
    }
    let k: V3 = body.geometric_stiffness(&sym(&gather(&memory.load, lane)));
    let inverse = inverse(body, scheme, &k);
    n.set_inverse(lane, &inverse);
    scatter(&mut n.geometric, lane, &k);
    let momentum = mul_vec(&flown.rot, &gather(&n.momentum, lane));
    scatter(&mut n.momentum, lane, &momentum);
    scatter(&mut n.rot, lane, &flown.rot);
    scatter(&mut n.rate, lane, &flown.rate);
    (inverse, sub9(&flown.load, &full(&body.stress(&s))))
}

/// The first half of [`launch`], after which [`drift_off`] takes what else turns the bodies: leaves
/// the predicted A and, in `force`, the load of the free motion in the frame of the flight. False
/// when a body is crushed.
#[inline(always)]
pub(crate) fn take_off(
    params: &ParamBlock,
    state: &StateBlock,
    memory: &MemoryBlock,
    kick: &KickBlock,
    scheme: &Scheme,
    turnings: &mut Turnings,
    n: &mut NewtonBlock,
) -> bool {
    if !polar_lanes(&state.a, &mut n.rot) {
        return false;
    }
    *turnings = set_off(params, state, memory, kick, scheme, n);
    for lane in 0..LANES {
        let body = params.affine(lane);
        let flown = Flown::new(&body, scheme, state, memory, turnings, n, lane);
        let (_, load) = enter(&body, scheme, &flown, memory, n, lane);
        scatter(&mut n.force, lane, &load);
        scatter(&mut n.a_pred, lane, &mul(&flown.rot, &flown.shape));
    }
    for k in 0..3 {
        n.slow[k] = memory.slow[k];
        n.t[k] = n.t_pred[k];
    }
    true
}

/// The second half: solves with this `torque` on a body too, in the frame of the flight, N m.
#[inline(always)]
pub(crate) fn drift_off(
    params: &ParamBlock,
    scheme: &Scheme,
    turnings: &Turnings,
    torque: &V3,
    n: &mut NewtonBlock,
    lane: usize,
) {
    let body = params.affine(lane);
    let turning = Turning::of(&gather(turnings, lane));
    let load = turning.load(&body, scheme, torque);
    let p = n
        .inverse_of(lane)
        .solve(&axpy9(&gather(&n.force, lane), 1.0, &load));
    let a: M3 = gather(&n.a_pred, lane);
    let moved = mul(&gather(&n.rot, lane), &p);
    scatter(&mut n.p, lane, &p);
    scatter(&mut n.a, lane, &axpy9(&a, 1.0, &moved));
}

kernel! {
    /// Adds to what [`launch`] found what torques on the bodies, world, N m, lose by turning: those of
    /// the `start` keep what they pull at as it was, those of the prediction are taken off, and both
    /// are tempered like the loads of the joints.
    pub fn lean(params: &ParamBlock, past: &StateBlock, memory: &MemoryBlock, scheme: &Scheme, torques: [&[Lane; 3]; 2], n: &mut NewtonBlock) = lean_lanes
}

#[inline(always)]
fn lean_lanes(
    params: &ParamBlock,
    past: &StateBlock,
    memory: &MemoryBlock,
    scheme: &Scheme,
    [start, predicted]: [&[Lane; 3]; 2],
    n: &mut NewtonBlock,
) {
    for lane in 0..LANES {
        let body = params.affine(lane);
        let rot: M3 = gather(&n.rot, lane);
        let (p, a): (M3, M3) = (gather(&n.p, lane), gather(&n.a, lane));
        let turning = Turning::new(&body, scheme, &gather(&memory.load, lane));
        let pull = |torque: &V3, map: &M3| axial(&tmul(&rot, &mul(&skew_matrix(torque), map)));
        let was = pull(&gather(start, lane), &upright(&gather(&past.a, lane)));
        let map = upright(&sub9(&a, &mul(&rot, &p)));
        let torque = sub(&was, &pull(&gather(predicted, lane), &map));
        let load = turning.load(&body, scheme, &torque);
        let more = n.inverse_of(lane).solve(&load);
        let force: M3 = gather(&n.force, lane);
        scatter(&mut n.force, lane, &axpy9(&force, 1.0, &mul(&rot, &load)));
        scatter(&mut n.p, lane, &axpy9(&p, 1.0, &more));
        scatter(&mut n.a, lane, &axpy9(&a, 1.0, &mul(&rot, &more)));
    }
}

kernel! {
    /// Takes the rate of the predicted A to the world, for the kernels of a step that was bent.
    pub fn look_up(n: &mut NewtonBlock) = look_up_lanes
}

#[inline(always)]
fn look_up_lanes(n: &mut NewtonBlock) {
    for lane in 0..LANES {
        let rate = mul(&gather(&n.rot, lane), &gather(&n.rate, lane));
        scatter(&mut n.w, lane, &rate);
    }
}

kernel! {
    /// The velocity before its projection, the rate in the frame of the new pose. False when a
    /// body is crushed.
    pub fn land(params: &ParamBlock, kick: &KickBlock, scheme: &Scheme, n: &mut NewtonBlock) -> bool = land_lanes
}

#[inline(always)]
pub(crate) fn land_lanes(
    params: &ParamBlock,
    kick: &KickBlock,
    scheme: &Scheme,
    n: &mut NewtonBlock,
) -> bool {
    let before = n.rot;
    if !polar_lanes(&n.a, &mut n.rot) {
        return false;
    }
    let (h, per_h) = (scheme.h, scheme.gamma);
    for lane in 0..LANES {
        let body = params.affine(lane);
        let rot: M3 = gather(&n.rot, lane);
        let p: M3 = gather(&n.p, lane);
        let gained = mul_vec(&gather(&before, lane), &body.angular_momentum(&p));
        let momentum = axpy(&gather(&n.momentum, lane), per_h, &gained);
        // Half a kick.
        let torque: V3 = gather(&kick.torque, lane);
        let mut l = tmul_vec(&rot, &axpy(&momentum, 0.5 * h, &torque));
        for k in 0..3 {
            l[k] *= kick.angular_decay[k][lane];
        }
        let rate = axpy9(&gather(&n.rate, lane), per_h, &p);
        let spin = body.angular_velocity(&body.angular_momentum(&rate));
        let strain_rate = sub9(&rate, &skew_matrix(&spin));
        let omega = body.angular_velocity(&l);
        let rate = axpy9(&strain_rate, 1.0, &skew_matrix(&omega));
        let (t, t_pred): (V3, V3) = (gather(&n.t, lane), gather(&n.t_pred, lane));
        let v = axpy(&gather(&n.v, lane), per_h, &sub(&t, &t_pred));
        scatter(&mut n.v, lane, &kicked_after(&v, kick, lane, h));
        // The damping of stiff rotation and of strain.
        let mut s = strain(&rot, &gather(&n.a, lane));
        let ds = sym(&strain_rate);
        for k in 0..6 {
            s[k] += h * ds[k];
        }
        let slow = tmul_vec(&rot, &gather(&n.slow, lane));
        let brake = brake(&body, scheme, &gather(&n.geometric, lane), &omega, &slow);
        let f = sub9(&skew_matrix(&brake), &full(&body.stress(&s)));
        let p = n.inverse_of(lane).solve(&f);
        scatter(&mut n.w, lane, &axpy9(&rate, per_h, &p));
    }
    true
}

kernel! {
    /// Adds the response to the joint forces to the velocity, and writes the next state and what
    /// the next step remembers. False if a body is not finite.
    pub fn settle(params: &ParamBlock, scheme: &Scheme, points: &Points, forces: &Points, n: &NewtonBlock, next: &mut StateBlock, memory: &mut MemoryBlock) -> bool = settle_lanes
}

#[inline(always)]
fn settle_lanes(
    params: &ParamBlock,
    scheme: &Scheme,
    points: &Points,
    forces: &Points,
    n: &NewtonBlock,
    next: &mut StateBlock,
    memory: &mut MemoryBlock,
) -> bool {
    let pull = AtPoints { points, forces };
    settle_under(params, scheme, &pull, n, next, memory)
}

/// The same for any joints.
#[inline(always)]
pub(crate) fn settle_under(
    params: &ParamBlock,
    scheme: &Scheme,
    pull: &impl Pull,
    n: &NewtonBlock,
    next: &mut StateBlock,
    memory: &mut MemoryBlock,
) -> bool {
    settle_seen(params, scheme, pull, n, next, memory, &mut Unseen)
}

/// How a body moves: its frame, the rate of A in it, 1/s, and the velocity, m/s.
pub(crate) struct Motion {
    pub rot: M3,
    pub rate: M3,
    pub v: V3,
}

/// Who looks at how bodies move.
pub(crate) trait Seen {
    fn see(&mut self, motion: &Motion, lane: usize);
}

/// Nobody.
struct Unseen;

impl Seen for Unseen {
    #[inline(always)]
    fn see(&mut self, _: &Motion, _: usize) {}
}

/// The same, and shows how every body moves.
#[inline(always)]
pub(crate) fn settle_seen(
    params: &ParamBlock,
    scheme: &Scheme,
    pull: &impl Pull,
    n: &NewtonBlock,
    next: &mut StateBlock,
    memory: &mut MemoryBlock,
    seen: &mut impl Seen,
) -> bool {
    let per_h = scheme.gamma;
    // 0·x is zero for finite x only.
    let mut unsound = [0.0; LANES];
    for lane in 0..LANES {
        let body = params.affine(lane);
        let rot: M3 = gather(&n.rot, lane);
        let inverse = n.inverse_of(lane);
        let (load, thrust) = pull.on(&rot, lane);
        let rate = axpy9(&gather(&n.w, lane), per_h, &inverse.solve(&load));
        let v = axpy(&gather(&n.v, lane), per_h * inverse.translation, &thrust);
        let omega = body.angular_velocity(&body.angular_momentum(&rate));
        let slow = settled(&gather(&n.slow, lane), &mul_vec(&rot, &omega), scheme.h);
        let w = mul(&rot, &rate);
        let (a, t): (M3, V3) = (gather(&n.a, lane), gather(&n.t, lane));
        unsound[lane] = 0.0 * (square(&a) + square(&w) + dot(&t, &t) + dot(&v, &v));
        scatter(&mut next.a, lane, &a);
        scatter(&mut next.t, lane, &t);
        scatter(&mut next.w, lane, &w);
        scatter(&mut next.v, lane, &v);
        scatter(&mut memory.load, lane, &load);
        scatter(&mut memory.slow, lane, &slow);
        seen.see(&Motion { rot, rate, v }, lane);
    }
    flush(&mut next.a);
    flush(&mut next.w);
    flush(&mut next.v);
    flush(&mut memory.load);
    flush(&mut memory.slow);
    all(&unsound, |x| x == 0.0)
}

/// The sum of the squares of the entries.
#[inline(always)]
pub(super) fn square(a: &M3) -> f64 {
    let row = |k: usize| a[k] * a[k] + a[k + 1] * a[k + 1] + a[k + 2] * a[k + 2];
    row(0) + row(3) + row(6)
}
