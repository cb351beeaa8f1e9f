//! What forces and torques on bodies do to the rows of their joints, and the other way round.
//!
//! A force and a torque w on a body that is free violate the rows of its joints by `L w`, and
//! forces λ of the rows move the body by `−Lᵀ λ`, in displacement and rotation.

use super::{Block, Mover, Movers};
use crate::dual::Dual;
use crate::integrate::newton::NewtonBlock;
use crate::kernel;
use crate::math::dispatch::detected;
use crate::math::small::V3;

/// A row of L: its number among those of the island, and the violation per force and torque.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lever {
    pub row: u32,
    pub by: [f64; 6],
}

/// L of every mover that joints hold.
#[derive(Debug, Default)]
pub(super) struct Levers {
    rows: Vec<Lever>,
    starts: Vec<u32>,
}

impl Levers {
    /// Finds L of all movers at the present iterate.
    pub fn find(&mut self, movers: &[Mover], dual: &Dual, work: &[NewtonBlock]) {
        self.rows.clear();
        self.starts.clear();
        self.starts.push(0);
        for mover in movers {
            if !mover.loose {
                dual.for_each_lever(work, mover.body as usize, |row, by| {
                    self.rows.push(Lever {
                        row: row as u32,
                        by,
                    });
                });
            }
            self.starts.push(self.rows.len() as u32);
        }
    }

    /// Rows of one mover.
    pub fn of(&self, mover: usize) -> &[Lever] {
        &self.rows[self.starts[mover] as usize..self.starts[mover + 1] as usize]
    }

    /// Adds `L w` of one mover to the rows of its island.
    pub fn push(&self, mover: usize, [f, t]: &[V3; 2], rows: &mut [f64]) {
        for Lever { row, by } in self.of(mover) {
            rows[*row as usize] += (by[0] * f[0] + by[1] * f[1] + by[2] * f[2])
                + (by[3] * t[0] + by[4] * t[1] + by[5] * t[2]);
        }
    }

    /// Adds `−Lᵀ λ` to the motion of one mover.
    pub fn pull(&self, mover: usize, forces: &[f64], [shift, turn]: &mut [V3; 2]) {
        for Lever { row, by } in self.of(mover) {
            let force = forces[*row as usize];
            for k in 0..3 {
                shift[k] -= by[k] * force;
                turn[k] -= by[3 + k] * force;
            }
        }
    }

    /// Adds `−Lᵀ X` of one mover to a block, for the forces X per force and torque somewhere.
    pub fn pull_six(&self, mover: usize, forces: &[[f64; 6]], block: &mut Block) {
        pull_six(detected(), self.of(mover), forces, block);
    }
}

kernel! {
    fn pull_six(levers: &[Lever], forces: &[[f64; 6]], block: &mut Block) = pull_all_six
}

#[inline(always)]
fn pull_all_six(levers: &[Lever], forces: &[[f64; 6]], block: &mut Block) {
    for Lever { row, by } in levers {
        let forces = &forces[*row as usize];
        for (column, force) in block.chunks_exact_mut(6).zip(forces) {
            for (entry, by) in column.iter_mut().zip(by) {
                *entry -= by * force;
            }
        }
    }
}

impl Movers {
    /// By how much a unit force (first three) or torque on a mover violates each row of its joints,
    /// numbered as in its island, if no joint answers.
    pub fn levers_of(&self, mover: usize) -> impl Iterator<Item = (usize, &[f64; 6])> {
        let levers = self.levers.of(mover).iter();
        levers.map(|lever| (lever.row as usize, &lever.by))
    }
}
