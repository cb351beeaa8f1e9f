//! Limits of joints as rows beside those of contacts.
//!
//! A limit that a contact pushes a body against is as one-sided as the contact, and each decides on the
//! other: turns between the two may go on for ever. So where an accuracy is asked for, a limit whose
//! state changed while contacts push is let go by the joints, and takes part in the problem of the
//! contacts: with the gap g of its coordinate as a length, and the force λ along the gradient of g on
//! both bodies,
//!
//! ```text
//! 0 ≤ λ ⟂ g ≥ 0
//! ```

use vincula_blocks::cone::violation;

use super::movers::{FIXED, Movers};
use crate::math::small::*;

/// A limit of a coordinate that contacts are solved together with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stop {
    /// The row of the coordinate among all that something acts along, and which limit.
    pub axis: usize,
    pub upper: bool,
    /// The movers of its two sides, or FIXED; and force and torque on each of a unit force.
    pub movers: [u32; 2],
    pub by: [[V3; 2]; 2],
    /// Gap where the movers have not moved, m.
    pub free: f64,
    /// What it answers to itself, m/N.
    pub compliance: f64,
    /// Force, N.
    pub lambda: f64,
}

impl Stop {
    /// The sides that move, with force and torque of a unit force.
    pub fn sides(&self) -> impl Iterator<Item = (u32, &[V3; 2])> {
        let sides = self.movers.into_iter().zip(&self.by);
        sides.filter(|(mover, _)| *mover != FIXED)
    }

    /// A mover of it.
    pub fn mover(&self) -> u32 {
        self.movers[0].min(self.movers[1])
    }

    /// By how much the movers have opened it, m.
    pub fn opened(&self, movers: &Movers) -> f64 {
        let moved = self.sides().map(|(mover, [force, torque])| {
            let mover = &movers.all[mover as usize];
            dot(force, &mover.shift) + dot(torque, &mover.turn)
        });
        moved.sum()
    }

    /// The gap as it is now, m.
    pub fn gap(&self, movers: &Movers) -> f64 {
        self.free + self.opened(movers)
    }

    /// Finds its compliance for what the movers answer now.
    pub fn weigh(&mut self, movers: &Movers) {
        let mut sum = 0.0;
        for (to, [along, about]) in self.sides() {
            for (from, [force, torque]) in self.sides() {
                if movers.related(to, from) {
                    let [shift, turn] = movers.respond(to, from, force, torque);
                    sum += dot(along, &shift) + dot(about, &turn);
                }
            }
        }
        self.compliance = sum;
    }

    /// Takes another force, and moves the bodies by the change.
    pub fn take(&mut self, movers: &mut Movers, next: f64) {
        let change = next - std::mem::replace(&mut self.lambda, next);
        for (mover, [force, torque]) in self.sides() {
            movers.push_held(mover, &scale(force, change), &scale(torque, change));
        }
    }

    /// How far it is from the law, N.
    pub fn violation(&self, movers: &Movers) -> f64 {
        let (force, gap) = ([self.lambda, 0.0, 0.0], [self.gap(movers), 0.0, 0.0]);
        violation(&force, &gap, 0.0, self.compliance)
    }
}
