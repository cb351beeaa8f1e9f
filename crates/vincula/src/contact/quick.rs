//! Contacts between bodies without joints, packed for sweeps over thousands of them.
//!
//! The same step as in `sweep.rs`, on what it needs and nothing else: the frame, the arms, the
//! block W with its inverse, and the force. Bodies answer by their own mass and inertia, so a
//! contact touches two bodies and no matrix.

use vincula_blocks::cone::solve_block_near;

use super::movers::{FIXED, Mover};
use super::rows::{ContactRow, along};
use super::sweep::Trail;
use crate::math::small::*;

/// A contact of loose bodies.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub(crate) struct Quick {
    /// n, t₁, t₂.
    frame: [V3; 3],
    /// From the centres to the contact, m.
    arms: [V3; 2],
    /// Which movers, or FIXED.
    at: [u32; 2],
    /// Slip without the contact forces of this stage, m.
    free: V3,
    /// Force along the frame, N.
    lambda: V3,
    mu: f64,
    soft: f64,
    /// Upper triangle of W⁻¹: xx, xy, xz, yy, yz, zz.
    inverse: [f64; 6],
    /// Compliance, row-major, m/N.
    w: M3,
    /// Its row.
    row: u32,
    trail: Trail,
}

impl Quick {
    /// Packs a row, unless joints hold one of its bodies or it has friction of rotation.
    pub fn pack(row: &ContactRow, index: usize) -> Option<Quick> {
        if !row.a.loose || !row.b.loose || row.spin.is_some() {
            return None;
        }
        Some(Quick {
            frame: row.frame,
            arms: row.arms,
            at: [row.a.mover, row.b.mover],
            free: row.free,
            lambda: row.lambda,
            mu: row.mu,
            soft: row.soft,
            inverse: inverse(&row.w),
            w: row.w,
            row: index as u32,
            trail: Trail::new(&row.lambda),
        })
    }

    /// Square of the change of the force since the last sweep, J.
    pub fn changed(&self) -> f64 {
        let g = sub(&self.lambda, &self.trail.start);
        self.w[0] * dot(&g, &g)
    }

    /// Goes on beyond the force of the last sweep.
    pub fn run_on(&mut self, movers: &mut [Mover], beta: f64) {
        let step = self.trail.next(&self.lambda, beta);
        if step != [0.0; 3] {
            self.lambda = add(&self.lambda, &step);
            self.push(movers, &step);
        }
        self.trail.start = self.lambda;
    }

    /// Gives the force back.
    pub fn unpack(&self, rows: &mut [ContactRow]) {
        rows[self.row as usize].lambda = self.lambda;
    }

    #[inline(always)]
    fn slip(&self, movers: &[Mover]) -> V3 {
        let mut d = [0.0; 3];
        if self.at[1] != FIXED {
            let m = &movers[self.at[1] as usize];
            d = add(&m.shift, &cross(&m.turn, &self.arms[1]));
        }
        if self.at[0] != FIXED {
            let m = &movers[self.at[0] as usize];
            d = sub(&sub(&d, &m.shift), &cross(&m.turn, &self.arms[0]));
        }
        [
            self.free[0] + dot(&self.frame[0], &d) + self.soft * self.lambda[0],
            self.free[1] + dot(&self.frame[1], &d),
            self.free[2] + dot(&self.frame[2], &d),
        ]
    }

    #[inline(always)]
    fn push(&self, movers: &mut [Mover], change: &V3) {
        let force = along(&self.frame, change);
        for (side, sign) in [(1, 1.0), (0, -1.0)] {
            if self.at[side] != FIXED {
                let m = &mut movers[self.at[side] as usize];
                m.shift = axpy(&m.shift, sign * m.per_force, &force);
                let turn = mul_vec(&m.per_torque, &cross(&self.arms[side], &force));
                m.turn = axpy(&m.turn, sign, &turn);
            }
        }
    }

    /// The force that makes the slip vanish.
    #[inline(always)]
    fn stuck(&self, u: &V3) -> V3 {
        let [xx, xy, xz, yy, yz, zz] = self.inverse;
        [
            self.lambda[0] - (xx * u[0] + xy * u[1] + xz * u[2]),
            self.lambda[1] - (xy * u[0] + yy * u[1] + yz * u[2]),
            self.lambda[2] - (xz * u[0] + yz * u[1] + zz * u[2]),
        ]
    }
}

/// One pass over all contacts; returns the largest change of a force times its compliance, m.
pub(crate) fn sweep(contacts: &mut [Quick], movers: &mut [Mover], reverse: bool) -> f64 {
    let mut moved = 0.0f64;
    let count = contacts.len();
    for k in 0..count {
        let contact = &mut contacts[if reverse { count - 1 - k } else { k }];
        let u = contact.slip(movers);
        // Apart and without force: nothing to do, as for most of what is only near.
        if u[0] >= 0.0 && contact.lambda == [0.0; 3] {
            continue;
        }
        let stuck = contact.stuck(&u);
        let (mu, pull) = (contact.mu, stuck[1] * stuck[1] + stuck[2] * stuck[2]);
        let next = if stuck[0] >= 0.0 && pull <= mu * mu * stuck[0] * stuck[0] {
            stuck
        } else {
            let b = sub(&u, &mul_vec(&contact.w, &contact.lambda));
            let [_, x, y] = contact.lambda;
            let ratio = ((u[1] * u[1] + u[2] * u[2]) / (x * x + y * y)).sqrt();
            solve_block_near(&contact.w, &b, mu, ratio)
        };
        let change = sub(&next, &contact.lambda);
        if change != [0.0; 3] {
            contact.lambda = next;
            contact.push(movers, &change);
            let size = change[0].abs().max(change[1].abs()).max(change[2].abs());
            moved = moved.max(size * contact.w[0]);
        }
    }
    moved
}

/// Inverse of a symmetric positive definite matrix; of its diagonal where it has none.
fn inverse(w: &M3) -> [f64; 6] {
    let c = cofactor(w);
    let det = w[0] * c[0] + w[1] * c[1] + w[2] * c[2];
    let scale = 1.0 / det;
    let found = [c[0], c[1], c[2], c[4], c[5], c[8]].map(|x| x * scale);
    if det > 0.0 && found.iter().all(|x| x.is_finite()) {
        return found;
    }
    let positive = |x: f64| if x > 0.0 { 1.0 / x } else { 0.0 };
    [
        positive(w[0]),
        0.0,
        0.0,
        positive(w[4]),
        0.0,
        positive(w[8]),
    ]
}

#[cfg(test)]
mod tests {
    use super::super::movers::Movers;
    use super::super::rows::frame_of;
    use super::super::sweep;
    use super::*;

    /// Three bodies in a row on a wall, pressed together with some sliding.
    fn world() -> (Movers, Vec<ContactRow>) {
        let tensor = |k: f64| [2.0 * k, 0.1, 0.0, 0.1, k, 0.2, 0.0, 0.2, 3.0 * k];
        let mut movers = Movers::default();
        movers.all = (0..3)
            .map(|k| Mover::new(k, true, 0.5 + 0.2 * k as f64, tensor(1.0 + k as f64)))
            .collect();
        let mut rows = Vec::new();
        for k in 0..3u32 {
            for side in [-0.3, 0.4] {
                let n = [0.36, 0.48, -0.8];
                let arms = [[0.3, side, 0.5], [-0.7, side, 0.2]];
                let first = if k == 0 { FIXED } else { k - 1 };
                let mut row = ContactRow::new(frame_of(&n), [first, k], arms, &movers);
                row.free = [-0.1 - side, 0.3 * side, 0.5 - side];
                row.mu = 0.4;
                rows.push(row);
            }
        }
        (movers, rows)
    }

    #[test]
    fn packed_sweeps_do_what_plain_ones_do() {
        let (mut movers, mut rows) = world();
        let (mut other, mut packed_rows) = world();
        let mut packed: Vec<Quick> = packed_rows
            .iter()
            .enumerate()
            .map(|(k, row)| Quick::pack(row, k).unwrap())
            .collect();
        for k in 0..30 {
            let one = sweep::sweep(&mut rows, &mut movers, k % 2 == 1);
            let two = sweep(&mut packed, &mut other.all, k % 2 == 1);
            assert!((one - two).abs() < 1e-9, "sweep {k}: {one} {two}");
        }
        packed
            .iter()
            .for_each(|quick| quick.unpack(&mut packed_rows));
        assert!(rows.iter().any(|row| row.lambda[0] > 0.0));
        for (one, two) in rows.iter().zip(&packed_rows) {
            for i in 0..3 {
                let off = one.lambda[i] - two.lambda[i];
                assert!(off.abs() < 1e-9, "{:?} {:?}", one.lambda, two.lambda);
            }
        }
    }
}
