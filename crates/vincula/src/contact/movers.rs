//! Bodies as contacts see them: six ways to move, and how far a force moves them.
//!
//! A contact does not strain a body. Its force f at the arm r from the centre acts as f on the
//! centre and as the torque `r × f` on the rotation, the skew load `½[τ]` on A. Within a stage
//! the body answers `δ = f/(c m)` and `θ = Θ τ`, where Θ comes from the same H̄ that the joints
//! see, `Θ_k = ¼ (p_ij + p_ji − 2 q_ij)` for the axis k of the pair ij.

use crate::body::affine::Inverse;
use crate::integrate::newton::NewtonBlock;
use crate::math::lanes::{gather, place, scatter};
use crate::math::small::*;

/// No body: the contact's side does not move, or moves as the user says.
pub(crate) const FIXED: u32 = u32::MAX;

/// One body in one stage of a step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mover {
    /// Displacement of the centre since the rows were made, m.
    pub shift: V3,
    /// Rotation since then, world, rad.
    pub turn: V3,
    /// Displacement per force, m/N.
    pub per_force: f64,
    /// Rotation per torque, world, rad/(N m).
    pub per_torque: M3,
    /// The body.
    pub body: u32,
    /// Whether no joint holds it and its block.
    pub loose: bool,
    /// Displacement and rotation that the body has been told of already.
    pub told: [V3; 2],
}

impl Mover {
    pub fn new(body: usize, loose: bool, per_force: f64, per_torque: M3) -> Mover {
        Mover {
            shift: [0.0; 3],
            turn: [0.0; 3],
            per_force,
            per_torque,
            body: body as u32,
            loose,
            told: [[0.0; 3]; 2],
        }
    }

    /// A body that is part of the dual system.
    pub fn held(body: usize, work: &[NewtonBlock]) -> Mover {
        let (block, lane) = place(body);
        let inverse = work[block].inverse_of(lane);
        let rot: M3 = gather(&work[block].rot, lane);
        let turned = mul_diag(&rot, &rotational(&inverse));
        Mover::new(body, false, inverse.translation, mult(&turned, &rot))
    }

    /// Forgets what happened: the rows are made anew.
    pub fn reset(&mut self) {
        self.shift = [0.0; 3];
        self.turn = [0.0; 3];
        self.told = [[0.0; 3]; 2];
    }

    /// What the body has not been told of yet, and marks it as told.
    pub fn news(&mut self) -> [V3; 2] {
        let news = [
            sub(&self.shift, &self.told[0]),
            sub(&self.turn, &self.told[1]),
        ];
        self.told = [self.shift, self.turn];
        news
    }
}

/// Rotation per torque about the principal axes, rad/(N m).
#[inline(always)]
pub(crate) fn rotational(inverse: &Inverse) -> V3 {
    let (p, q) = (&inverse.direct, &inverse.cross);
    [
        0.25 * (p[4] + p[5] - 2.0 * q[2]),
        0.25 * (p[2] + p[3] - 2.0 * q[1]),
        0.25 * (p[0] + p[1] - 2.0 * q[0]),
    ]
}

/// The increment P of A, body frame, that comes with a rotation by contact torques, world.
#[inline(always)]
pub(crate) fn increment(inverse: &Inverse, rot: &M3, turn: &V3) -> M3 {
    let (theta, per_torque) = (tmul_vec(rot, turn), rotational(inverse));
    let mut half = [0.0; 3];
    for k in 0..3 {
        half[k] = 0.5 * theta[k] / per_torque[k];
    }
    inverse.solve(&skew_matrix(&half))
}

/// Moves the iterate of a body that is part of the dual system.
pub(crate) fn displace(work: &mut [NewtonBlock], body: usize, shift: &V3, turn: &V3) {
    let (block, lane) = place(body);
    let n = &mut work[block];
    let rot: M3 = gather(&n.rot, lane);
    let p = increment(&n.inverse_of(lane), &rot, turn);
    let total = axpy9(&gather(&n.p, lane), 1.0, &p);
    scatter(&mut n.p, lane, &total);
    let a: M3 = gather(&n.a, lane);
    scatter(&mut n.a, lane, &axpy9(&a, 1.0, &mul(&rot, &p)));
    let t: V3 = gather(&n.t, lane);
    scatter(&mut n.t, lane, &add(&t, shift));
}

/// Changes the rate of such a body, which is in the body frame, by a displacement per h.
pub(crate) fn hasten(work: &mut [NewtonBlock], body: usize, h: f64, shift: &V3, turn: &V3) {
    let (block, lane) = place(body);
    let n = &mut work[block];
    let rot: M3 = gather(&n.rot, lane);
    let p = increment(&n.inverse_of(lane), &rot, turn);
    let rate: M3 = gather(&n.w, lane);
    scatter(&mut n.w, lane, &axpy9(&rate, 1.0 / h, &p));
    let v: V3 = gather(&n.v, lane);
    scatter(&mut n.v, lane, &axpy(&v, 1.0 / h, shift));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::body::affine::Affine;

    #[test]
    fn a_torque_turns_a_stiff_body_like_a_rigid_one() {
        let body = Affine::new(2.0, [0.3, 0.05, 0.01], 4e8, 2.5e8);
        let c = 2e4;
        let inverse = Inverse::new(&body, c, &[0.0; 3]);
        let found = rotational(&inverse);
        for (k, inertia) in body.inertia().into_iter().enumerate() {
            let relative = found[k] * c * inertia - 1.0;
            assert!(relative.abs() < 1e-4, "axis {k}: {relative}");
        }
    }

    #[test]
    fn the_increment_turns_by_what_it_was_asked_for() {
        let body = Affine::new(2.0, [0.3, 0.05, 0.01], 4e3, 2.5e3);
        let inverse = Inverse::new(&body, 1e4, &[3.0, 0.0, 70.0]);
        let turn = [0.01, -0.02, 0.005];
        let p = increment(&inverse, &IDENTITY, &turn);
        let error = sub(&axial(&p), &turn);
        assert!(error.iter().all(|e| e.abs() < 1e-16));
    }
}
