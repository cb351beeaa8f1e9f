//! Forces to go back to.

use super::movers::{Mover, Movers};
use super::rows::{ContactRow, Spin};
use crate::math::small::V3;

/// The forces of all rows, and what they moved: where forces ran away, nothing can be moved back by their
/// change.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    forces: Vec<V3>,
    movers: Vec<Mover>,
    spins: Vec<Spin>,
}

impl Kept {
    /// Keeps the forces as they are.
    pub fn keep(&mut self, rows: &[ContactRow], movers: &Movers) {
        self.forces.clear();
        self.forces.extend(rows.iter().map(|row| row.lambda));
        self.movers.clone_from(&movers.all);
        self.spins.clone_from(&movers.spins);
    }

    /// Takes those forces again.
    pub fn take(&self, rows: &mut [ContactRow], movers: &mut Movers) {
        for (row, force) in rows.iter_mut().zip(&self.forces) {
            row.lambda = *force;
        }
        movers.all.clone_from(&self.movers);
        movers.spins.clone_from(&self.spins);
    }
}
