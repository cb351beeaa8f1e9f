//! Newton's method on the step equation of eight bodies at a time.
//!
//! At an iterate A_k with rotation R the increment P (body frame) solves
//! `H̄ P = Rᵀf − Vσ(S_k) − c RᵀD(A_k − A_pred) + J̄ᵀλ`. The part without λ is the free
//! solve; the dual system gives λ; `accept` adds the rest.

mod pull;

use super::Scheme;
use crate::body::affine::{Affine, Inverse, strain};
use crate::kernel;
use crate::math::lanes::{LANES, Lane, all, copy, gather, largest, scatter, worst};
use crate::math::rotation::{FAR_FROM_ROTATION, ORTHONORMAL, exp, higham, newton_schulz};
use crate::math::small::*;
use crate::model::ParamBlock;

pub use pull::{AtPoints, Points, Pull, Twisted, torque_load};

/// The unknowns and the matrices of eight bodies during one step.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct NewtonBlock {
    /// Rotation R at which the step equation is linearised. Set by predict and relinearize.
    pub rot: [Lane; 9],
    /// The iterate A_k.
    pub a: [Lane; 9],
    /// The iterate t_k, m.
    pub t: [Lane; 3],
    /// Predicted A. Set by predict.
    pub a_pred: [Lane; 9],
    /// Predicted t, m.
    pub t_pred: [Lane; 3],
    /// Rate of A: predicted first, final after `set_velocity`, 1/s.
    pub w: [Lane; 9],
    /// Velocity: predicted first, final after `set_velocity`, m/s.
    pub v: [Lane; 3],
    /// Load on A from outside the dual system, world, N m.
    pub force: [Lane; 9],
    /// Turn from the start of the step to the frame `rot`.
    pub q: [Lane; 9],
    /// Load of the constraint forces that was last applied (of the last step at first), body
    /// frame, N m. Its symmetric part is the stress that stiffens rotation: unlike the strain
    /// it holds no squares of the rotation that one linearisation takes for stretch.
    pub held: [Lane; 9],
    /// Rotational stiffness K of the three axes, N m.
    pub geometric: [Lane; 3],
    /// H̄⁻¹: six direct, three cross, six diagonal, one translation.
    pub inverse: [Lane; 16],
    /// Increment of A in this iteration, body frame.
    pub p: [Lane; 9],
    /// Load of the constraint forces on A, body frame, N m.
    pub load: [Lane; 9],
    /// Sum of the constraint forces, world, N.
    pub thrust: [Lane; 3],
    /// Slow angular velocity: of the last steps first, new after `project_end`, world.
    pub slow: [Lane; 3],
    /// Angular momentum of the ballistic motion, world, kg m²/s.
    pub momentum: [Lane; 3],
    /// Rate of the predicted A in the frame of the flight, 1/s; only of `ordinary::launch`.
    pub rate: [Lane; 9],
}

impl NewtonBlock {
    /// All zero; every field is written before it is read.
    pub const ZERO: NewtonBlock = NewtonBlock {
        rot: [[0.0; LANES]; 9],
        a: [[0.0; LANES]; 9],
        t: [[0.0; LANES]; 3],
        a_pred: [[0.0; LANES]; 9],
        t_pred: [[0.0; LANES]; 3],
        w: [[0.0; LANES]; 9],
        v: [[0.0; LANES]; 3],
        force: [[0.0; LANES]; 9],
        q: [[0.0; LANES]; 9],
        held: [[0.0; LANES]; 9],
        geometric: [[0.0; LANES]; 3],
        inverse: [[0.0; LANES]; 16],
        p: [[0.0; LANES]; 9],
        load: [[0.0; LANES]; 9],
        thrust: [[0.0; LANES]; 3],
        slow: [[0.0; LANES]; 3],
        momentum: [[0.0; LANES]; 3],
        rate: [[0.0; LANES]; 9],
    };

    /// H̄⁻¹ of one body.
    #[inline(always)]
    pub fn inverse_of(&self, lane: usize) -> Inverse {
        Inverse::from_numbers(&gather(&self.inverse, lane))
    }

    #[inline(always)]
    pub(super) fn set_inverse(&mut self, lane: usize, h: &Inverse) {
        let (p, q, d) = (&h.direct, &h.cross, &h.diagonal);
        let x = [
            p[0],
            p[1],
            p[2],
            p[3],
            p[4],
            p[5],
            q[0],
            q[1],
            q[2],
            d[0],
            d[1],
            d[2],
            d[3],
            d[4],
            d[5],
            h.translation,
        ];
        scatter(&mut self.inverse, lane, &x);
    }
}

kernel! {
    /// Rotations nearest to eight affine maps; false when one has none.
    pub fn polar_block(a: &[Lane; 9], rot: &mut [Lane; 9]) -> bool = polar_lanes
}

#[inline(always)]
pub(crate) fn polar_lanes(a: &[Lane; 9], rot: &mut [Lane; 9]) -> bool {
    copy(a, rot);
    for _ in 0..60 {
        let mut error = [0.0; LANES];
        let mut next = [[0.0; LANES]; 9];
        for lane in 0..LANES {
            let (y, e) = newton_schulz(&gather(rot, lane));
            scatter(&mut next, lane, &y);
            error[lane] = e;
        }
        if all(&error, |e| e <= ORTHONORMAL) {
            return true;
        }
        // Not a number is not below anything either.
        if all(&error, |e| e <= FAR_FROM_ROTATION) {
            copy(&next, rot);
            if all(&error, |e| e < 1e-8) {
                return true;
            }
            continue;
        }
        for lane in 0..LANES {
            let x: M3 = gather(rot, lane);
            if !error[lane].is_finite() || !(det(&x) > 0.0) {
                return false;
            }
            scatter(rot, lane, &higham(&x));
        }
    }
    false
}

/// Which stiffness of stress the matrix has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Stiffening {
    /// That of the joint load of the last step, tempered: the first linearisation. It is part
    /// of the scheme.
    Tempered,
    /// That of the iterate's stress, tension or compression. It has no say in the result, but
    /// is what makes a further linearisation converge.
    Exact,
    /// That of the joint load and this many times the tension of the iterate's stress: it
    /// holds back iterates that stretch.
    Cautious(f64),
}

kernel! {
    /// Inverts H̄ at the iterate and solves without constraint forces.
    pub fn free_solve(params: &ParamBlock, scheme: &Scheme, stiffening: Stiffening, n: &mut NewtonBlock) = free_solve_lanes
}

#[inline(always)]
fn free_solve_lanes(
    params: &ParamBlock,
    scheme: &Scheme,
    stiffening: Stiffening,
    n: &mut NewtonBlock,
) {
    let caution = match stiffening {
        Stiffening::Cautious(caution) => caution,
        _ => 0.0,
    };
    for lane in 0..LANES {
        let body = params.affine(lane);
        let rot: M3 = gather(&n.rot, lane);
        let a: M3 = gather(&n.a, lane);
        let s = strain(&rot, &a);
        let stress = body.stress(&s);
        let mut k: V3 = body.geometric_stiffness(&sym(&gather(&n.held, lane)));
        let stretched = body.geometric_stiffness(&stress);
        for axis in 0..3 {
            k[axis] = k[axis].max(caution * stretched[axis]);
        }
        let inverse = if stiffening == Stiffening::Exact {
            Inverse::new(&body, scheme.c, &body.bounded_stiffness(scheme.c, &stress))
        } else {
            inverse(&body, scheme, &k)
        };
        let deviation = tmul(&rot, &sub9(&a, &gather(&n.a_pred, lane)));
        let inertial = mul_diag(&deviation, &scale(&body.second, scheme.c));
        let elastic = full(&stress);
        let outside = tmul(&rot, &gather(&n.force, lane));
        let p = inverse.solve(&sub9(&sub9(&outside, &elastic), &inertial));
        n.set_inverse(lane, &inverse);
        scatter(&mut n.geometric, lane, &k);
        scatter(&mut n.held, lane, &[0.0; 9]);
        scatter(&mut n.p, lane, &p);
        scatter(&mut n.a, lane, &axpy9(&a, 1.0, &mul(&rot, &p)));
        let t: V3 = gather(&n.t_pred, lane);
        scatter(&mut n.t, lane, &t);
    }
}

/// H̄⁻¹ of a body whose axes have the rotational stiffness k.
#[inline(always)]
pub(super) fn inverse(body: &Affine, scheme: &Scheme, k: &V3) -> Inverse {
    let tempering = &scheme.tempering;
    let phi = tempering.phi(scheme.h, k, &body.inverse_inertia);
    let mut implicit = [0.0; 3];
    for axis in 0..3 {
        implicit[axis] = tempering.implicit_fraction(phi[axis]) * k[axis];
    }
    Inverse::new(body, scheme.c, &implicit)
}

kernel! {
    /// Inverts H̄ again, from the rotational stiffness that the free solve found.
    pub fn invert(params: &ParamBlock, scheme: &Scheme, n: &mut NewtonBlock) = invert_lanes
}

#[inline(always)]
pub(crate) fn invert_lanes(params: &ParamBlock, scheme: &Scheme, n: &mut NewtonBlock) {
    for lane in 0..LANES {
        let k: V3 = gather(&n.geometric, lane);
        let inverse = inverse(&params.affine(lane), scheme, &k);
        n.set_inverse(lane, &inverse);
    }
}

kernel! {
    /// Adds the response to the constraint forces; returns the largest increment of A in
    /// this iteration.
    pub fn accept(n: &mut NewtonBlock) -> f64 = accept_lanes
}

#[inline(always)]
fn accept_lanes(n: &mut NewtonBlock) -> f64 {
    let mut updates = [0.0; LANES];
    for lane in 0..LANES {
        let (load, thrust) = (gather(&n.load, lane), gather(&n.thrust, lane));
        updates[lane] = accept_one(n, lane, &load, &thrust);
        hold(n, lane, &load);
        scatter(&mut n.load, lane, &[0.0; 9]);
        scatter(&mut n.thrust, lane, &[0.0; 3]);
    }
    worst(&updates)
}

/// Adds the response of one body; returns the largest increment of A in this iteration.
#[inline(always)]
fn accept_one(n: &mut NewtonBlock, lane: usize, load: &M3, thrust: &V3) -> f64 {
    let inverse = n.inverse_of(lane);
    let p = inverse.solve(load);
    let total = axpy9(&gather(&n.p, lane), 1.0, &p);
    scatter(&mut n.p, lane, &total);
    let rot: M3 = gather(&n.rot, lane);
    let a: M3 = gather(&n.a, lane);
    scatter(&mut n.a, lane, &axpy9(&a, 1.0, &mul(&rot, &p)));
    let t: V3 = gather(&n.t, lane);
    scatter(&mut n.t, lane, &axpy(&t, inverse.translation, thrust));
    max_abs(&total)
}

/// Keeps the load of the constraint forces. Rows that are not linear take several solves: their
/// loads add up.
#[inline(always)]
fn hold(n: &mut NewtonBlock, lane: usize, load: &M3) {
    let held: M3 = gather(&n.held, lane);
    scatter(&mut n.held, lane, &axpy9(&held, 1.0, load));
}

kernel! {
    /// Puts forces at the points, and adds the response to them as [`accept`] does.
    pub fn press(points: &Points, forces: &Points, n: &mut NewtonBlock) -> f64 = press_lanes
}

#[inline(always)]
fn press_lanes(points: &Points, forces: &Points, n: &mut NewtonBlock) -> f64 {
    press_under::<true>(n, &AtPoints { points, forces })
}

kernel! {
    /// The same as [`press`] where joints turn the bodies too.
    pub fn press_turning(points: &Points, forces: &Points, torques: &[Lane; 3], n: &mut NewtonBlock) -> f64 = press_turning_lanes
}

#[inline(always)]
fn press_turning_lanes(
    points: &Points,
    forces: &Points,
    torques: &[Lane; 3],
    n: &mut NewtonBlock,
) -> f64 {
    let forces = AtPoints { points, forces };
    press_under::<true>(n, &Twisted { forces, torques })
}

/// The same for any joints. Only a second linearisation asks for the load that is kept.
#[inline(always)]
pub(crate) fn press_under<const KEPT: bool>(n: &mut NewtonBlock, pull: &impl Pull) -> f64 {
    let mut updates = [0.0; LANES];
    for lane in 0..LANES {
        let (load, thrust) = pull.on(&gather(&n.rot, lane), lane);
        updates[lane] = accept_one(n, lane, &load, &thrust);
        if KEPT {
            hold(n, lane, &load);
        }
    }
    worst(&updates)
}

kernel! {
    /// Moves from the last iterate by the increment taken as a rotation and a strain:
    /// `A = R exp(w) (1 + S + sym P)` with w the axial vector of P.
    pub fn retract(n: &mut NewtonBlock) = retract_lanes
}

#[inline(always)]
fn retract_lanes(n: &mut NewtonBlock) {
    for lane in 0..LANES {
        let rot: M3 = gather(&n.rot, lane);
        let p: M3 = gather(&n.p, lane);
        // The strain of the last iterate and the symmetric part of the increment.
        let mut shape = full(&strain(&rot, &gather(&n.a, lane)));
        for k in [0, 4, 8] {
            shape[k] += 1.0;
        }
        let turn = exp::<false>(&axial(&p));
        scatter(&mut n.a, lane, &mul(&rot, &mul(&turn, &shape)));
    }
}

kernel! {
    /// Retracts, and moves the rotation of the increment from P to `turn`: what comes next is
    /// a second increment in the same frame.
    pub fn bend(turn: &mut [Lane; 3], n: &mut NewtonBlock) = bend_lanes
}

#[inline(always)]
fn bend_lanes(turn: &mut [Lane; 3], n: &mut NewtonBlock) {
    retract_lanes(n);
    for lane in 0..LANES {
        let p: M3 = gather(&n.p, lane);
        scatter(turn, lane, &axial(&p));
    }
    n.p = NewtonBlock::ZERO.p;
}

kernel! {
    /// Prepares the next iteration: the rotation of the iterate, and what turns with it.
    pub fn relinearize(n: &mut NewtonBlock) -> bool = relinearize_lanes
}

#[inline(always)]
fn relinearize_lanes(n: &mut NewtonBlock) -> bool {
    let (a, before) = (n.a, n.rot);
    if !polar_lanes(&a, &mut n.rot) {
        return false;
    }
    // Q is the turn from the start of the step to the frame of the iterate.
    for lane in 0..LANES {
        let turn = tmul(&gather(&before, lane), &gather(&n.rot, lane));
        let q: M3 = gather(&n.q, lane);
        scatter(&mut n.q, lane, &mul(&q, &turn));
        let held: M3 = gather(&n.held, lane);
        scatter(&mut n.held, lane, &tmul(&turn, &held));
    }
    true
}

kernel! {
    /// The potential that the step equation is the gradient of, at the iterate, J:
    /// `½c |q − q_pred|²_M + Ψ(A) − f:(A − A_pred)`; infinite where a body is inside out.
    pub fn potential(params: &ParamBlock, scheme: &Scheme, n: &NewtonBlock) -> f64 = potential_lanes
}

#[inline(always)]
fn potential_lanes(params: &ParamBlock, scheme: &Scheme, n: &NewtonBlock) -> f64 {
    let mut rot = [[0.0; LANES]; 9];
    if !polar_lanes(&n.a, &mut rot) {
        return f64::INFINITY;
    }
    let mut total = 0.0;
    for lane in 0..LANES {
        let body = params.affine(lane);
        let a: M3 = gather(&n.a, lane);
        let moved = sub9(&a, &gather(&n.a_pred, lane));
        let shift = sub(&gather(&n.t, lane), &gather(&n.t_pred, lane));
        let elastic = body.elastic_energy(&strain(&gather(&rot, lane), &a));
        let inertial = scheme.c * body.kinetic_energy(&moved, &shift);
        let mut work = 0.0;
        for k in 0..9 {
            work += n.force[k][lane] * moved[k];
        }
        total += inertial + elastic - work;
    }
    total
}

kernel! {
    /// How much stretch the last increment causes that its linearisation does not know of:
    /// the elastic energy of the strain `½ WᵀW + sym(TᵀW)` of its skew part W after a bend by T
    /// over the inertial energy `½c |W + T|²_M`, or over a hundredth of the predicted kinetic
    /// energy, that of the `rate` of A in any frame, where that is more; the largest of the eight
    /// bodies.
    pub fn stretch(params: &ParamBlock, scheme: &Scheme, turn: &[Lane; 3], rate: &[Lane; 9], n: &NewtonBlock) -> f64 = stretch_lanes
}

/// No bend.
pub const STRAIGHT: [Lane; 3] = [[0.0; LANES]; 3];

/// Part of the kinetic energy of a body below which no stretch matters.
const NEGLIGIBLE: f64 = 0.01;

#[inline(always)]
fn stretch_lanes(
    params: &ParamBlock,
    scheme: &Scheme,
    turn: &[Lane; 3],
    rate: &[Lane; 9],
    n: &NewtonBlock,
) -> f64 {
    let mut ratios = [0.0; LANES];
    for lane in 0..LANES {
        let body = params.affine(lane);
        let w = skew_matrix(&axial(&gather(&n.p, lane)));
        let turn = skew_matrix(&gather(turn, lane));
        let strain = sym(&tmul(&axpy9(&turn, 0.5, &w), &w));
        let inertial = scheme.c * body.kinetic_energy(&axpy9(&turn, 1.0, &w), &[0.0; 3]);
        let kinetic = body.kinetic_energy(&gather(rate, lane), &gather(&n.v, lane));
        let known = inertial.max(NEGLIGIBLE * kinetic);
        ratios[lane] = body.elastic_energy(&strain) / known.max(f64::MIN_POSITIVE);
    }
    // A ratio that is not a number is passed over.
    largest(&ratios).max(0.0)
}

kernel! {
    /// Velocity at the end of the step: `q̇⁺ = q̇_pred + γ (q⁺ − q_pred)`.
    pub fn set_velocity(scheme: &Scheme, n: &mut NewtonBlock) = set_velocity_lanes
}

#[inline(always)]
fn set_velocity_lanes(scheme: &Scheme, n: &mut NewtonBlock) {
    for k in 0..9 {
        for lane in 0..LANES {
            n.w[k][lane] += scheme.gamma * (n.a[k][lane] - n.a_pred[k][lane]);
        }
    }
    for k in 0..3 {
        for lane in 0..LANES {
            n.v[k][lane] += scheme.gamma * (n.t[k][lane] - n.t_pred[k][lane]);
        }
    }
}

#[cfg(test)]
mod tests;
