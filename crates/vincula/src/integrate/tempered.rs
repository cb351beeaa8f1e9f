//! RATTLE on rotation and strain, tempered to implicit Euler where tension is stiff.
//!
//! A step of length h, with `D = diag(s)` and body-frame rates `B = RᵀȦ`:
//!
//! 1. Half a kick of the outside forces; angular momentum `L̄` is taken out of B.
//! 2. Ballistic rotation `R̂ = R Q`, `Q = exp(h ω̃)`, `ω̃ = I⁻¹ (L̄ + L̄⁺)/2`, `L̄⁺ = QᵀL̄`:
//!    it keeps the angular momentum in space and the energy, at any spin.
//! 3. The step equation with `c = 2/h²` about the ballistic pose. The joint forces of the
//!    last step act with the lever arms of the **start** of the step, their change with
//!    those of the end. For a load F in the frame of the start, τ = 2 axial(F), the
//!    difference is the torque `Qᵀτ − 2 axial(QᵀF)`. Leaving it out (φ = 1) is implicit
//!    Euler, which loses energy at first order; keeping it is RATTLE, which does not, but
//!    which is unstable when tension turns a body faster than the step resolves. φ is
//!    chosen per axis and step (`Tempering`), and spares the slow part of the rotation
//!    (its mean over a few steps), so that a taut chain swings on while its links do not
//!    rattle.
//! 4. Half a kick, and a projection of the velocity with the same matrix; the joint load
//!    that it takes is the one the next step starts with.
//!
//! `docs/src/theory/tempered.md` derives it and shows the order and the energy.

use super::{Scheme, Tempering};
use crate::body::affine::{Affine, strain};
use crate::kernel;
use crate::math::lanes::{LANES, Lane, flush, gather, largest, scatter};
use crate::math::rotation::log;
use crate::math::small::*;
use crate::model::{MemoryBlock, ParamBlock, StateBlock};

use super::flight::fly;
use super::kicks::KickBlock;
use super::newton::{NewtonBlock, polar_lanes};

/// Coefficients of a tempered step.
pub fn scheme(h: f64, tempering: Tempering) -> Scheme {
    Scheme {
        h,
        c: 2.0 / (h * h),
        gamma: 1.0 / h,
        tempering,
    }
}

kernel! {
    /// Steps 1 and 2, and the load of step 3. `n.rot` holds the rotation of the state.
    pub fn predict(params: &ParamBlock, state: &StateBlock, memory: &MemoryBlock, kick: &KickBlock, scheme: &Scheme, n: &mut NewtonBlock) = predict_lanes
}

#[inline(always)]
fn predict_lanes(
    params: &ParamBlock,
    state: &StateBlock,
    memory: &MemoryBlock,
    kick: &KickBlock,
    scheme: &Scheme,
    n: &mut NewtonBlock,
) {
    let turnings = set_off(params, state, memory, kick, scheme, n);
    for lane in 0..LANES {
        let body = params.affine(lane);
        let flown = Flown::new(&body, scheme, state, memory, &turnings, n, lane);
        let rot = flown.rot;
        let a = mul(&rot, &flown.shape);
        let momentum = mul_vec(&rot, &gather(&n.momentum, lane));
        scatter(&mut n.momentum, lane, &momentum);
        scatter(&mut n.rot, lane, &rot);
        scatter(&mut n.w, lane, &mul(&rot, &flown.rate));
        scatter(&mut n.a, lane, &a);
        scatter(&mut n.a_pred, lane, &a);
        scatter(&mut n.force, lane, &mul(&rot, &flown.load));
    }
    n.held = memory.load;
    n.slow = memory.slow;
}

/// How the joint load of the last step turns eight bodies, axis by axis.
pub(crate) type Turnings = [Lane; 9];

/// Steps 1 and 2: the velocity, the angular momentum and the turn Q after the flight, the rate of
/// strain in `p`; how the load of the joints acts.
#[inline(always)]
pub(super) fn set_off(
    params: &ParamBlock,
    state: &StateBlock,
    memory: &MemoryBlock,
    kick: &KickBlock,
    scheme: &Scheme,
    n: &mut NewtonBlock,
) -> Turnings {
    let h = scheme.h;
    let mut turnings = [[0.0; LANES]; 9];
    for lane in 0..LANES {
        let body = params.affine(lane);
        let rot: M3 = gather(&n.rot, lane);
        let rate = tmul(&rot, &gather(&state.w, lane));
        let momentum = body.angular_momentum(&rate);
        // What is left of the rate without the rotation is the rate of strain.
        let spin = skew_matrix(&body.angular_velocity(&momentum));
        scatter(&mut n.p, lane, &sub9(&rate, &spin));
        let torque = tmul_vec(&rot, &gather(&kick.torque, lane));
        let held: M3 = gather(&memory.load, lane);
        let turning = Turning::new(&body, scheme, &held);
        scatter(&mut turnings, lane, &turning.numbers());
        let joints = turning.kick(&body, scheme, &scale(&axial(&held), 2.0));
        let mut l = [0.0; 3];
        for k in 0..3 {
            l[k] = momentum[k] * kick.angular_decay[k][lane] + 0.5 * h * (torque[k] + joints[k]);
        }
        scatter(&mut n.momentum, lane, &l);
        let v = kicked_velocity(&gather(&state.v, lane), kick, lane, h);
        scatter(&mut n.v, lane, &v);
        let t = axpy(&gather(&state.t, lane), h, &v);
        scatter(&mut n.t_pred, lane, &t);
    }
    fly(params, h, &mut n.momentum, &mut n.q);
    turnings
}

/// A body after its flight.
pub(super) struct Flown {
    /// Its rotation.
    pub rot: M3,
    /// `RᵀA` of the prediction.
    pub shape: M3,
    /// Its rate of A, in the frame `rot`, 1/s.
    pub rate: M3,
    /// The load of step 3 on A, in the frame `rot`, N m.
    pub load: M3,
}

impl Flown {
    /// From what `set_off` left.
    #[inline(always)]
    pub fn new(
        body: &Affine,
        scheme: &Scheme,
        state: &StateBlock,
        memory: &MemoryBlock,
        turnings: &Turnings,
        n: &NewtonBlock,
        lane: usize,
    ) -> Flown {
        let start: M3 = gather(&n.rot, lane);
        let s = strain(&start, &gather(&state.a, lane));
        let strain_rate: M3 = gather(&n.p, lane);
        let q: M3 = gather(&n.q, lane);
        let rot = mul(&start, &q);
        let omega = body.angular_velocity(&gather(&n.momentum, lane));
        let mut shape = axpy9(&full(&s), scheme.h, &strain_rate);
        for k in [0, 4, 8] {
            shape[k] += 1.0;
        }
        let slow = tmul_vec(&rot, &gather(&memory.slow, lane));
        let held: M3 = gather(&memory.load, lane);
        let turning = Turning::of(&gather(turnings, lane));
        Flown {
            rot,
            shape,
            rate: axpy9(&strain_rate, 1.0, &skew_matrix(&omega)),
            load: start_frame_load(&turning, body, scheme, &held, &q, &slow),
        }
    }
}

/// The velocity after half a kick at the start of a step, m/s.
#[inline(always)]
pub(super) fn kicked_velocity(v: &V3, kick: &KickBlock, lane: usize, h: f64) -> V3 {
    let wind: V3 = gather(&kick.wind, lane);
    let slowed = axpy(&wind, kick.linear_decay[lane], &sub(v, &wind));
    axpy(&slowed, 0.5 * h, &gather(&kick.acceleration, lane))
}

/// The same for the half kick at the end of a step.
#[inline(always)]
pub(super) fn kicked_after(v: &V3, kick: &KickBlock, lane: usize, h: f64) -> V3 {
    let v = axpy(v, 0.5 * h, &gather(&kick.acceleration, lane));
    let wind: V3 = gather(&kick.wind, lane);
    axpy(&wind, kick.linear_decay[lane], &sub(&v, &wind))
}

/// How a load of the joints turns a body in step 3, axis by axis.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Turning {
    /// αK, the stiffness in the matrix, N m.
    implicit: V3,
    /// Angle per torque of what acts before the flight, `(1 − φ)/(c I + α K)`, 1/(N m).
    response: V3,
    /// Part of φ from which the slow part of the rotation is spared.
    spared: V3,
}

impl Turning {
    /// For the load F on A at the start of the step, body frame.
    #[inline(always)]
    pub(crate) fn new(body: &Affine, scheme: &Scheme, held: &M3) -> Turning {
        let k = body.geometric_stiffness(&sym(held));
        let (load, inertia) = (body.load_stiffness(held), body.inertia());
        let Scheme {
            h, c, tempering, ..
        } = scheme;
        let [phi, spared] = tempering.phi_and_spared(*h, &load, &body.inverse_inertia);
        let (mut implicit, mut stiff) = ([0.0; 3], [0.0; 3]);
        for axis in 0..3 {
            implicit[axis] = tempering.implicit_fraction(phi[axis]) * k[axis];
            stiff[axis] = c * inertia[axis] + implicit[axis];
        }
        let mut response = reciprocals(&stiff);
        for axis in 0..3 {
            response[axis] *= 1.0 - phi[axis];
        }
        Turning {
            implicit,
            response,
            spared: times(&phi, &spared),
        }
    }

    /// As nine numbers.
    #[inline(always)]
    fn numbers(&self) -> [f64; 9] {
        let [a, b, c] = [self.implicit, self.response, self.spared];
        [a[0], a[1], a[2], b[0], b[1], b[2], c[0], c[1], c[2]]
    }

    /// From nine numbers.
    #[inline(always)]
    pub(super) fn of(x: &[f64; 9]) -> Turning {
        Turning {
            implicit: [x[0], x[1], x[2]],
            response: [x[3], x[4], x[5]],
            spared: [x[6], x[7], x[8]],
        }
    }

    /// The torque on the rigid body that turns it by the same angle during the flight.
    #[inline(always)]
    fn kick(&self, body: &Affine, scheme: &Scheme, torque: &V3) -> V3 {
        let angle = times(&self.response, torque);
        scale(&times(&body.inertia(), &angle), scheme.c)
    }

    /// The load on A that the matrix answers with a rotation, and no strain, for this torque:
    /// `c [θ] D + ½ [αKθ]`.
    #[inline(always)]
    pub(crate) fn load(&self, body: &Affine, scheme: &Scheme, torque: &V3) -> M3 {
        let angle = times(&self.response, torque);
        let inertial = mul_diag(&skew_matrix(&angle), &scale(&body.second, scheme.c));
        axpy9(&inertial, 0.5, &skew_matrix(&times(&self.implicit, &angle)))
    }
}

/// What step 3 must not count again since it acted before the flight, as a load on A, body
/// frame: the torque `−(1−φ) 2 axial(QᵀF)`, F being the load in the frame of the start.
#[inline(always)]
fn start_frame_load(
    turning: &Turning,
    body: &Affine,
    scheme: &Scheme,
    held: &M3,
    q: &M3,
    slow: &V3,
) -> M3 {
    let torque = scale(&axial(&tmul(q, held)), -2.0);
    let load = turning.load(body, scheme, &torque);
    // Lever arms of the start for the slow part of the turn, which is never tempered.
    let turn = scale(slow, scheme.h);
    let steady = sub(
        &axial(&mul(&skew_matrix(&turn), held)),
        &cross(&turn, &axial(held)),
    );
    let spared = times(&steady, &turning.spared);
    axpy9(&load, 1.0, &skew_matrix(&spared))
}

kernel! {
    /// Velocity in the middle of the step, in the frame of the new pose; the rate stays in
    /// the body frame until `project_end`. False when a body is crushed.
    ///
    /// Angular momentum is carried in the world: A has moved since the flight, and the same
    /// rate Ȧ about another A would be another angular momentum, at first order in h.
    ///
    /// Not so after a large turn away from the flight (`far`): the torques that turned the
    /// body were square to what it then had become, and the momentum of the flight, held in
    /// the world, would set a slender body spinning about its length. The angular velocity of
    /// the flight then turns with the body, and what the body turned by is added.
    pub fn turn_velocity(params: &ParamBlock, scheme: &Scheme, far: bool, n: &mut NewtonBlock) -> bool = turn_velocity_lanes
}

#[inline(always)]
fn turn_velocity_lanes(
    params: &ParamBlock,
    scheme: &Scheme,
    far: bool,
    n: &mut NewtonBlock,
) -> bool {
    let (a, before) = (n.a, n.rot);
    if !polar_lanes(&a, &mut n.rot) {
        return false;
    }
    let per_h = scheme.gamma;
    for lane in 0..LANES {
        let body = params.affine(lane);
        let old: M3 = gather(&before, lane);
        let rot: M3 = gather(&n.rot, lane);
        let deviation = tmul(&old, &sub9(&gather(&n.a, lane), &gather(&n.a_pred, lane)));
        let gained = mul_vec(&old, &body.angular_momentum(&deviation));
        let momentum = tmul_vec(&rot, &axpy(&gather(&n.momentum, lane), per_h, &gained));
        let rate = axpy9(&tmul(&old, &gather(&n.w, lane)), per_h, &deviation);
        let old_spin = body.angular_velocity(&body.angular_momentum(&rate));
        let strain_rate = sub9(&rate, &skew_matrix(&old_spin));
        let spin = body.angular_velocity(&momentum);
        scatter(
            &mut n.w,
            lane,
            &axpy9(&strain_rate, 1.0, &skew_matrix(&spin)),
        );
        for k in 0..3 {
            n.v[k][lane] += per_h * (n.t[k][lane] - n.t_pred[k][lane]);
        }
    }
    !far || turn_far(params, per_h, n)
}

/// Replaces the angular velocity by that of the flight, turned with the body, and the turn
/// away from the flight. Rare, and with an arc tangent nothing for vectors.
#[inline(never)]
fn turn_far(params: &ParamBlock, per_h: f64, n: &mut NewtonBlock) -> bool {
    let mut flown = n.a_pred;
    if !polar_lanes(&n.a_pred, &mut flown) {
        return false;
    }
    for lane in 0..LANES {
        let body = params.affine(lane);
        let (flown, rot): (M3, M3) = (gather(&flown, lane), gather(&n.rot, lane));
        let turn = log(&tmul(&flown, &rot));
        let momentum = tmul_vec(&flown, &gather(&n.momentum, lane));
        let spin = axpy(&body.angular_velocity(&momentum), per_h, &turn);
        let rate: M3 = gather(&n.w, lane);
        let now = body.angular_velocity(&body.angular_momentum(&rate));
        scatter(
            &mut n.w,
            lane,
            &axpy9(&rate, 1.0, &skew_matrix(&sub(&spin, &now))),
        );
    }
    true
}

kernel! {
    /// Step 4 without constraint forces: half a kick, then the damping of stiff rotation and
    /// of strain.
    pub fn project_free(params: &ParamBlock, kick: &KickBlock, scheme: &Scheme, n: &mut NewtonBlock) = project_free_lanes
}

#[inline(always)]
fn project_free_lanes(params: &ParamBlock, kick: &KickBlock, scheme: &Scheme, n: &mut NewtonBlock) {
    let h = scheme.h;
    for lane in 0..LANES {
        let body = params.affine(lane);
        let rot: M3 = gather(&n.rot, lane);
        let rate: M3 = gather(&n.w, lane);
        let momentum = body.angular_momentum(&rate);
        let omega = body.angular_velocity(&momentum);
        let strain_rate = sub9(&rate, &skew_matrix(&omega));
        let torque = tmul_vec(&rot, &gather(&kick.torque, lane));
        let mut l = [0.0; 3];
        for k in 0..3 {
            l[k] = (momentum[k] + 0.5 * h * torque[k]) * kick.angular_decay[k][lane];
        }
        let omega = body.angular_velocity(&l);
        let rate = axpy9(&strain_rate, 1.0, &skew_matrix(&omega));
        let v = kicked_after(&gather(&n.v, lane), kick, lane, h);
        scatter(&mut n.v, lane, &v);

        let mut s = strain(&rot, &gather(&n.a, lane));
        let ds = sym(&strain_rate);
        for k in 0..6 {
            s[k] += h * ds[k];
        }
        let stiffness: V3 = gather(&n.geometric, lane);
        let slow = tmul_vec(&rot, &gather(&n.slow, lane));
        let brake = brake(&body, scheme, &stiffness, &omega, &slow);
        let f = sub9(&skew_matrix(&brake), &full(&body.stress(&s)));
        let p = n.inverse_of(lane).solve(&f);
        scatter(&mut n.w, lane, &axpy9(&rate, 1.0 / h, &p));
    }
}

/// The torque that damps the fast part of stiff rotation, N m.
#[inline(always)]
pub(super) fn brake(body: &Affine, scheme: &Scheme, stiffness: &V3, omega: &V3, slow: &V3) -> V3 {
    let h = scheme.h;
    let [phi, spared] = scheme
        .tempering
        .phi_and_spared(h, stiffness, &body.inverse_inertia);
    let mut brake = [0.0; 3];
    for axis in 0..3 {
        let fast = omega[axis] - spared[axis] * slow[axis];
        brake[axis] = -0.5 * phi[axis] * stiffness[axis] * h * fast;
    }
    brake
}

kernel! {
    /// Step 4, the constraint forces (the `first`, or more of them): adds their response to
    /// the velocity and keeps their load.
    pub fn project_add(first: bool, scheme: &Scheme, n: &mut NewtonBlock) = project_add_lanes
}

#[inline(always)]
fn project_add_lanes(first: bool, scheme: &Scheme, n: &mut NewtonBlock) {
    let per_h = 1.0 / scheme.h;
    let kept = if first { 0.0 } else { 1.0 };
    for lane in 0..LANES {
        let inverse = n.inverse_of(lane);
        let load: M3 = gather(&n.load, lane);
        let rate: M3 = gather(&n.w, lane);
        scatter(&mut n.w, lane, &axpy9(&rate, per_h, &inverse.solve(&load)));
        let thrust: V3 = gather(&n.thrust, lane);
        let v: V3 = gather(&n.v, lane);
        scatter(
            &mut n.v,
            lane,
            &axpy(&v, per_h * inverse.translation, &thrust),
        );
        let before: M3 = gather(&n.held, lane);
        scatter(&mut n.held, lane, &axpy9(&load, kept, &before));
        scatter(&mut n.load, lane, &[0.0; 9]);
        scatter(&mut n.thrust, lane, &[0.0; 3]);
    }
}

kernel! {
    /// The largest velocity that [`project_add`] would give a body, m/s.
    pub fn given(scheme: &Scheme, n: &NewtonBlock) -> f64 = given_lanes
}

#[inline(always)]
fn given_lanes(scheme: &Scheme, n: &NewtonBlock) -> f64 {
    let mut given = [0.0; LANES];
    for lane in 0..LANES {
        let thrust: V3 = gather(&n.thrust, lane);
        let most = thrust[0].abs().max(thrust[1].abs()).max(thrust[2].abs());
        given[lane] = n.inverse_of(lane).translation / scheme.h * most;
    }
    largest(&given)
}

kernel! {
    /// Ends step 4: the rate goes back to the world, the slow rotation is brought up to date.
    pub fn project_end(params: &ParamBlock, scheme: &Scheme, n: &mut NewtonBlock) = project_end_lanes
}

#[inline(always)]
fn project_end_lanes(params: &ParamBlock, scheme: &Scheme, n: &mut NewtonBlock) {
    for lane in 0..LANES {
        let body = params.affine(lane);
        let rot: M3 = gather(&n.rot, lane);
        let rate: M3 = gather(&n.w, lane);
        scatter(&mut n.w, lane, &mul(&rot, &rate));
        let omega = body.angular_velocity(&body.angular_momentum(&rate));
        let omega = mul_vec(&rot, &omega);
        let slow = settled(&gather(&n.slow, lane), &omega, scheme.h);
        scatter(&mut n.slow, lane, &slow);
    }
    flush(&mut n.a);
    flush(&mut n.w);
    flush(&mut n.v);
    flush(&mut n.held);
    flush(&mut n.slow);
}

/// The slow angular velocity after a step that ends with `omega`, rad/s.
#[inline(always)]
pub(super) fn settled(slow: &V3, omega: &V3, h: f64) -> V3 {
    let slow = axpy(slow, FORGET, &sub(omega, slow));
    // What turns far within a step is not slow.
    let turn = dot(&slow, &slow) * h * h / (SLOW * SLOW);
    scale(&slow, 1.0 / (1.0 + turn * turn))
}

/// How much of the slow angular velocity a step forgets.
const FORGET: f64 = 0.25;
/// Angle of a step, rad, beyond which a rotation is not remembered as slow.
const SLOW: f64 = 0.25;
