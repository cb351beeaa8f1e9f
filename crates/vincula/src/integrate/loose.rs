//! The tempered step of unstrained bodies that no joint holds but contacts touch.
//!
//! Like `free.rs`, kick, flight and kick, with contact impulses after the flight and at the
//! end. The first ones turn the body by the rotation θ that they give within the step,
//! `R⁺ = exp(θ) R̂`, and its angular momentum by `I θ/h`; nothing is strained, so nothing needs
//! Newton's method.

use super::Scheme;
use super::kicks::KickBlock;
use super::newton::NewtonBlock;
use crate::kernel;
use crate::math::lanes::{LANES, gather, largest, scatter};
use crate::math::rotation::{exp, newton_schulz};
use crate::math::small::*;
use crate::model::{ParamBlock, StateBlock};

/// Strain at the end of the flight below which a body counts as unstrained.
const UNSTRAINED: f64 = 1e-12;

kernel! {
    /// After `tempered::predict`: starts the iterate at the end of the flight. False when a
    /// body is strained, and needs Newton's method.
    pub fn land(n: &mut NewtonBlock) -> bool = land_lanes
}

#[inline(always)]
fn land_lanes(n: &mut NewtonBlock) -> bool {
    n.t = n.t_pred;
    let mut off = [0.0; LANES];
    for k in 0..9 {
        for lane in 0..LANES {
            off[lane] += (n.a[k][lane] - n.rot[k][lane]).abs();
        }
    }
    for k in 0..3 {
        n.p[k] = [0.0; LANES];
    }
    // Not a number is not below anything.
    off.iter().all(|x| *x < UNSTRAINED) && largest(&off) < UNSTRAINED
}

kernel! {
    /// From the displacement (in `n.t`) and the rotation (first three of `n.p`, world) that
    /// contacts gave in the first stage to the velocity after the second half kick. The rate is
    /// left in the body frame.
    pub fn turn(params: &ParamBlock, kick: &KickBlock, scheme: &Scheme, n: &mut NewtonBlock) = turn_lanes
}

#[inline(always)]
fn turn_lanes(params: &ParamBlock, kick: &KickBlock, scheme: &Scheme, n: &mut NewtonBlock) {
    let h = scheme.h;
    for lane in 0..LANES {
        let body = params.affine(lane);
        let rot: M3 = gather(&n.rot, lane);
        let theta = [n.p[0][lane], n.p[1][lane], n.p[2][lane]];
        let local = tmul_vec(&rot, &theta);
        let inertia = body.inertia();
        let gained = [
            local[0] * inertia[0] / h,
            local[1] * inertia[1] / h,
            local[2] * inertia[2] / h,
        ];
        let momentum = add(&gather(&n.momentum, lane), &mul_vec(&rot, &gained));
        let (rot, _) = newton_schulz(&mul(&exp::<false>(&theta), &rot));
        let torque = tmul_vec(&rot, &gather(&kick.torque, lane));
        let mut l = tmul_vec(&rot, &momentum);
        for k in 0..3 {
            l[k] = (l[k] + 0.5 * h * torque[k]) * kick.angular_decay[k][lane];
        }
        let rate = skew_matrix(&body.angular_velocity(&l));
        let moved = sub(&gather(&n.t, lane), &gather(&n.t_pred, lane));
        let v = axpy(&gather(&n.v, lane), 1.0 / h, &moved);
        let v = axpy(&v, 0.5 * h, &gather(&kick.acceleration, lane));
        let wind: V3 = gather(&kick.wind, lane);
        let v = axpy(&wind, kick.linear_decay[lane], &sub(&v, &wind));
        scatter(&mut n.v, lane, &v);
        scatter(&mut n.w, lane, &rate);
        scatter(&mut n.rot, lane, &rot);
        scatter(&mut n.a, lane, &rot);
    }
    for k in 0..3 {
        n.p[k] = [0.0; LANES];
    }
}

kernel! {
    /// Adds the velocity (m/s) in `n.thrust` and the angular velocity (world) in the first
    /// three of `n.p`, and writes the new state.
    pub fn finish(n: &mut NewtonBlock, next: &mut StateBlock) = finish_lanes
}

#[inline(always)]
fn finish_lanes(n: &mut NewtonBlock, next: &mut StateBlock) {
    for lane in 0..LANES {
        let rot: M3 = gather(&n.rot, lane);
        let omega = tmul_vec(&rot, &[n.p[0][lane], n.p[1][lane], n.p[2][lane]]);
        let rate: M3 = gather(&n.w, lane);
        let spin = add(&axial(&rate), &omega);
        scatter(&mut next.w, lane, &mul_skew(&rot, &spin));
        let v: V3 = gather(&n.v, lane);
        scatter(&mut next.v, lane, &add(&v, &gather(&n.thrust, lane)));
        scatter(&mut n.thrust, lane, &[0.0; 3]);
    }
    next.a = n.rot;
    next.t = n.t;
}
