//! A contact as rows: normal and two tangents, and how its two bodies answer.
//!
//! With the frame (n, t₁, t₂), n from the first body to the second, and the arms r from the
//! centres to the contact, the slip is
//!
//! ```text
//! u = b + F (δ_b + θ_b × r_b − δ_a − θ_a × r_a),   F = (n, t₁, t₂)ᵀ
//! ```
//!
//! In the first stage u is the gap and the sliding distance at the end of the step, in the
//! second h times the velocity. Both stages have the same compliance
//! `W = F (1/(c m) + [r]ᵀ Θ [r]) Fᵀ`, summed over the bodies.

use super::movers::{FIXED, Mover, Movers};
use crate::kernel;
use crate::math::dispatch::detected;
use crate::math::small::*;

/// Fraction of its bodies' own compliance that a contact of bodies with joints has at least.
const EASE: f64 = 1e-11;

/// No friction of rotation.
const NO_SPIN: u32 = u32::MAX;

/// One side of a contact.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arm {
    /// Which mover, or [`FIXED`].
    pub mover: u32,
    /// From the centre of the body to the contact, m.
    pub arm: V3,
    /// Whether the body is loose: no joint answers with it.
    pub loose: bool,
}

impl Arm {
    const NONE: Arm = Arm {
        mover: FIXED,
        arm: [0.0; 3],
        loose: true,
    };

    fn new(mover: u32, movers: &Movers, arm: V3) -> Arm {
        if mover == FIXED {
            return Arm::NONE;
        }
        Arm {
            mover,
            arm,
            loose: movers.all[mover as usize].loose,
        }
    }
}

impl Arm {
    /// `r × F_k` for each row.
    #[inline(always)]
    pub fn lever(&self, frame: &[V3; 3]) -> [V3; 3] {
        frame.map(|axis| cross(&self.arm, &axis))
    }
}

/// Rolling and torsional friction: a torque about n, and one about t₁ and t₂.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spin {
    /// Torque per normal force, m.
    pub torsional: f64,
    /// The same for rolling, m.
    pub rolling: f64,
    /// Relative rotation without the torques, rad.
    pub free: V3,
    /// Torque about n, t₁, t₂, N m.
    pub torque: V3,
    /// Rotation per torque about n, and the larger one across, rad/(N m).
    pub compliance: [f64; 2],
}

/// A contact in one stage.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ContactRow {
    /// n, t₁, t₂.
    pub frame: [V3; 3],
    pub a: Arm,
    pub b: Arm,
    /// Compliance, row-major, m/N.
    pub w: M3,
    /// Slip without the contact forces of this stage, m.
    pub free: V3,
    /// Force along the frame, N.
    pub lambda: V3,
    /// Coefficient of friction.
    pub mu: f64,
    /// Compliance of the contact itself along n, and across, m/N.
    pub soft: [f64; 2],
    /// Which of the [`Spin`]s of the movers it has, or NO_SPIN: hardly any has one, and there are many
    /// passes over rows.
    pub(super) spin: u32,
    /// Whether it would hardly move in this step if it did not push.
    pub standing: bool,
}

impl ContactRow {
    /// Rows between two movers at the arms `ra`, `rb`.
    #[cfg(test)]
    pub fn new(frame: [V3; 3], at: [u32; 2], arms: [V3; 2], movers: &Movers) -> ContactRow {
        let mut row = ContactRow::bare(frame, at, arms, movers);
        row.weigh(movers);
        row
    }

    /// Rows between two movers at the arms `ra`, `rb`, before their compliance is found.
    #[inline(always)]
    pub fn bare(frame: [V3; 3], at: [u32; 2], arms: [V3; 2], movers: &Movers) -> ContactRow {
        ContactRow {
            frame,
            a: Arm::new(at[0], movers, arms[0]),
            b: Arm::new(at[1], movers, arms[1]),
            w: [0.0; 9],
            free: [0.0; 3],
            lambda: [0.0; 3],
            mu: 0.0,
            soft: [0.0; 2],
            spin: NO_SPIN,
            standing: false,
        }
    }

    /// Whether it has rolling or torsional friction.
    #[inline(always)]
    pub fn spins(&self) -> bool {
        self.spin != NO_SPIN
    }

    /// Its rolling and torsional friction, if it has some.
    pub fn spin<'a>(&self, movers: &'a Movers) -> Option<&'a Spin> {
        movers.spins.get(self.spin as usize)
    }

    /// The same to change it.
    pub fn spin_mut<'a>(&self, movers: &'a mut Movers) -> Option<&'a mut Spin> {
        movers.spins.get_mut(self.spin as usize)
    }

    /// Whether no joint holds a body of it.
    #[inline(always)]
    pub fn is_loose(&self) -> bool {
        self.a.loose && self.b.loose
    }

    /// Finds the compliance for what the movers answer now.
    pub fn weigh(&mut self, movers: &Movers) {
        weigh_row(detected(), self, movers);
    }

    /// The same for a new row of a stage: with a compliance of its own, m/N, a fraction of that of its
    /// bodies more along n, and what joints leave it at least.
    pub fn weigh_new(&mut self, movers: &Movers, soft: f64, softness: f64) {
        weigh_new_row(detected(), self, movers, soft, softness);
    }

    #[inline(always)]
    fn find_compliance(&mut self, movers: &Movers) {
        self.w = if self.is_loose() {
            self.own(movers)
        } else if movers.answer_alike(self.a.mover, self.b.mover) {
            self.coupling(self, movers)
        } else {
            self.apart(movers)
        };
        let [n, t] = self.soft;
        self.w = plus_diagonal(&self.w, n, t);
    }

    /// Slip per unit of its own force when no joint answers, row-major, m/N.
    #[inline(always)]
    fn own(&self, movers: &Movers) -> M3 {
        let mut w = [0.0; 9];
        for arm in [&self.a, &self.b] {
            if arm.mover == FIXED {
                continue;
            }
            // The frame is orthonormal.
            let body = &movers.all[arm.mover as usize];
            let lever = arm.lever(&self.frame);
            for j in 0..3 {
                w[4 * j] += body.per_force;
                let swing = mul_vec(&body.per_torque, &lever[j]);
                for i in 0..3 {
                    w[3 * i + j] += dot(&lever[i], &swing);
                }
            }
        }
        w
    }

    /// The same with joints, where its two bodies do not answer to each other.
    #[inline(always)]
    fn apart(&self, movers: &Movers) -> M3 {
        let mut w = [0.0; 9];
        for arm in [&self.a, &self.b] {
            if arm.mover == FIXED {
                continue;
            }
            let lever = arm.lever(&self.frame);
            let pushes: [[f64; 6]; 3] = std::array::from_fn(|j| {
                let ([a, b, c], [d, e, f]) = (self.frame[j], lever[j]);
                [a, b, c, d, e, f]
            });
            let answers = movers.answers(arm.mover, &pushes);
            for (i, push) in pushes.iter().enumerate() {
                for (j, moved) in answers.iter().enumerate().take(i + 1) {
                    let sum: f64 = push.iter().zip(moved).map(|(p, m)| p * m).sum();
                    w[3 * i + j] += sum;
                }
            }
        }
        for (i, j) in [(1, 0), (2, 0), (2, 1)] {
            w[3 * j + i] = w[3 * i + j];
        }
        w
    }

    /// Slip here per unit of force there, row-major, m/N.
    pub fn coupling(&self, other: &ContactRow, movers: &Movers) -> M3 {
        let mut w = [0.0; 9];
        for (arm, sign) in [(&self.a, -1.0), (&self.b, 1.0)] {
            for (source, from) in [(&other.a, -1.0), (&other.b, 1.0)] {
                let fixed = arm.mover == FIXED || source.mover == FIXED;
                if fixed || !movers.related(arm.mover, source.mover) {
                    continue;
                }
                let (lever, there) = (arm.lever(&self.frame), source.lever(&other.frame));
                for j in 0..3 {
                    let (force, torque) = (&other.frame[j], &there[j]);
                    let [shift, turn] = movers.respond(arm.mover, source.mover, force, torque);
                    for i in 0..3 {
                        let moved = dot(&self.frame[i], &shift) + dot(&lever[i], &turn);
                        w[3 * i + j] += sign * from * moved;
                    }
                }
            }
        }
        w
    }

    /// Adds a compliance of the contact itself along n, and across, m/N.
    #[inline(always)]
    pub fn soften(&mut self, [n, t]: [f64; 2]) {
        self.soft = [self.soft[0] + n, self.soft[1] + t];
        self.w = plus_diagonal(&self.w, n, t);
    }

    /// Adds a trace of what the bodies would give way by without joints, so that a contact whose
    /// normal joints block, as that of a welded body, still has a finite force.
    #[inline(always)]
    fn ease(&mut self, movers: &Movers) {
        let alone: f64 = [&self.a, &self.b]
            .into_iter()
            .filter(|arm| !arm.loose)
            .map(|arm| {
                let body = &movers.all[arm.mover as usize];
                let lever = cross(&arm.arm, &self.frame[0]);
                let swing = mul_vec(&body.per_torque, &lever);
                body.per_force + dot(&lever, &swing)
            })
            .sum();
        if alone > 0.0 {
            self.soften([EASE * alone, 0.0]);
        }
    }

    /// Displacement of the second side against the first by what the movers did, in the frame.
    #[inline(always)]
    pub fn relative(&self, movers: &[Mover]) -> V3 {
        let mut d = [0.0; 3];
        for (arm, sign) in [(&self.b, 1.0), (&self.a, -1.0)] {
            if arm.mover != FIXED {
                let m = &movers[arm.mover as usize];
                d = axpy(&d, sign, &add(&m.shift, &cross(&m.turn, &arm.arm)));
            }
        }
        self.frame.map(|axis| dot(&axis, &d))
    }

    /// The slip as it is now, m.
    #[inline(always)]
    pub fn slip(&self, movers: &[Mover]) -> V3 {
        add(&add(&self.free, &self.relative(movers)), &self.given())
    }

    /// By how much the contact itself gives way, in the frame, m.
    #[inline(always)]
    pub fn given(&self) -> V3 {
        let ([n, t], l) = (self.soft, &self.lambda);
        [n * l[0], t * l[1], t * l[2]]
    }

    /// Moves the bodies by a change of the force.
    #[inline(always)]
    pub fn push(&self, movers: &mut Movers, change: &V3) {
        let force = along(&self.frame, change);
        for (arm, sign) in [(&self.b, 1.0), (&self.a, -1.0)] {
            if arm.mover == FIXED {
                continue;
            }
            if !arm.loose {
                let pushed = scale(&force, sign);
                movers.push_held(arm.mover, &pushed, &cross(&arm.arm, &pushed));
                continue;
            }
            let m = &mut movers.all[arm.mover as usize];
            m.shift = axpy(&m.shift, sign * m.per_force, &force);
            let turn = mul_vec(&m.per_torque, &cross(&arm.arm, &force));
            m.turn = axpy(&m.turn, sign, &turn);
        }
    }

    /// Takes another force, and moves the bodies by the change.
    pub fn take(&mut self, movers: &mut Movers, next: V3) {
        let change = sub(&next, &self.lambda);
        self.lambda = next;
        self.push(movers, &change);
    }

    /// Relative rotation of the second body against the first, in the frame, rad.
    pub fn relative_turn(&self, movers: &[Mover]) -> V3 {
        let turn = |arm: &Arm| match arm.mover {
            FIXED => [0.0; 3],
            m => movers[m as usize].turn,
        };
        let d = sub(&turn(&self.b), &turn(&self.a));
        self.frame.map(|axis| dot(&axis, &d))
    }

    /// Turns the bodies by a change of the torque.
    pub fn twist(&self, movers: &mut Movers, change: &V3) {
        let torque = along(&self.frame, change);
        for (arm, sign) in [(&self.b, 1.0), (&self.a, -1.0)] {
            if arm.mover != FIXED {
                movers.push_held(arm.mover, &[0.0; 3], &scale(&torque, sign));
            }
        }
    }

    /// Goes to the force and torque (world) of a contact of the last step, as far as the cone
    /// allows.
    pub fn start_from(&mut self, movers: &mut Movers, known: &[V3; 2]) {
        let force = self.frame.map(|axis| dot(&axis, &known[0]));
        let next = vincula_blocks::cone::project(&force, self.mu);
        let change = sub(&next, &self.lambda);
        self.lambda = next;
        self.push(movers, &change);
        if let Some(spin) = self.spin_mut(movers) {
            let torque = self.frame.map(|axis| dot(&axis, &known[1]));
            let change = sub(&torque, &spin.torque);
            spin.torque = torque;
            self.twist(movers, &change);
        }
    }

    /// Adds a compliance beside which nothing else counts, so that the normal force is what that says.
    /// Returns it, m/N.
    pub fn hold_normal(&mut self) -> f64 {
        let soft = 1e9 * self.w[0];
        self.soften([soft, 0.0]);
        soft
    }

    /// Makes room for rolling and torsional friction.
    pub fn resist(&mut self, torsional: f64, rolling: f64, free: V3, movers: &mut Movers) {
        let mut total = [0.0; 9];
        for arm in [&self.a, &self.b] {
            if arm.mover != FIXED {
                total = axpy9(&total, 1.0, &movers.all[arm.mover as usize].per_torque);
            }
        }
        let about = |x: &V3| dot(x, &mul_vec(&total, x));
        let [n, x, y] = &self.frame;
        let compliance = [about(n), about(x) + about(y)];
        self.spin = movers.spins.len() as u32;
        movers.spins.push(Spin {
            torsional,
            rolling,
            free,
            torque: [0.0; 3],
            compliance,
        });
    }
}

kernel! {
    fn weigh_row(row: &mut ContactRow, movers: &Movers) = ContactRow::find_compliance
}

kernel! {
    fn weigh_new_row(row: &mut ContactRow, movers: &Movers, soft: f64, softness: f64) = find_new_compliance
}

#[inline(always)]
fn find_new_compliance(row: &mut ContactRow, movers: &Movers, soft: f64, softness: f64) {
    row.find_compliance(movers);
    row.soften([soft + softness * row.w[0], soft]);
    row.ease(movers);
}

/// x₁ f₁ + x₂ f₂ + x₃ f₃.
#[inline(always)]
pub(crate) fn along(f: &[V3; 3], x: &V3) -> V3 {
    axpy(&axpy(&scale(&f[0], x[0]), x[1], &f[1]), x[2], &f[2])
}

/// Two directions that make a right-handed frame with n; the same for the same n.
pub(crate) fn frame_of(n: &V3) -> [V3; 3] {
    // Duff et al. 2017: no branch but the sign, accurate everywhere.
    let sign = if n[2] < 0.0 { -1.0 } else { 1.0 };
    let a = -1.0 / (sign + n[2]);
    let b = n[0] * n[1] * a;
    [
        *n,
        [1.0 + sign * n[0] * n[0] * a, sign * b, -sign * n[0]],
        [b, sign + n[1] * n[1] * a, -n[1]],
    ]
}

#[cfg(test)]
mod tests;
