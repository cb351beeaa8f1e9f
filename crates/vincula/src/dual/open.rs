//! Islands that are closed wait for those that are not.
//!
//! Rows that are not linear take several solves with the same factors. Of many mechanisms most are
//! closed after the first ones, and a net of points is after one: the others go on without them.

use std::ops::Range;

use super::trial::stretches;
use super::{Dual, larger};
use crate::integrate::newton::NewtonBlock;
use crate::math::lanes::place;
use crate::model::Model;

/// The islands that are not closed yet, where they are not all.
#[derive(Debug, Default)]
pub(super) struct Open {
    islands: Vec<u32>,
    /// Their joints, in stretches.
    joints: Vec<Range<usize>>,
    /// Of each island: whether it is one of them; and of each block, whether it has a body of one.
    is_open: Vec<bool>,
    pub blocks: Vec<bool>,
    /// By how much the others are open, m.
    rest: f64,
}

impl Dual {
    /// After `violation`: leaves out what is closed within a tolerance, m, until `return_closed`. Forces
    /// of the rest are zero.
    pub(crate) fn leave_closed(&mut self, tolerance: f64) {
        // A coupling is solved with all that it couples, and a strand is one island.
        if self.islands.len() < 2 || !self.border.is_empty() || self.strand.is_some() {
            return;
        }
        let mut open = self.open.take().unwrap_or_else(|| self.all_open());
        self.find_gaps();
        open.islands.retain(|&island| {
            let gap = self.gaps[island as usize];
            let stays = !(gap <= tolerance);
            if !stays {
                open.is_open[island as usize] = false;
                open.rest = open.rest.max(gap);
            }
            stays
        });
        open.joints.clear();
        open.blocks.fill(false);
        for &index in &open.islands {
            let joints = &self.islands[index as usize].joints;
            open.joints.extend(stretches(joints));
            for body in self.bodies_at(joints) {
                open.blocks[place(body).0] = true;
            }
        }
        for (island, is_open) in self.islands.iter().zip(&open.is_open) {
            if !is_open {
                for &joint in &island.joints {
                    self.lambda[self.offsets[joint]..self.offsets[joint + 1]].fill(0.0);
                }
            }
        }
        self.open = Some(open);
    }

    /// All islands are looked at again.
    pub(crate) fn return_closed(&mut self) {
        if let Some(open) = self.open.take() {
            self.spare = open;
        }
    }

    /// By how much what was left out is open, m.
    pub(crate) fn gap_left_out(&self) -> f64 {
        self.open.as_ref().map_or(0.0, |open| open.rest)
    }

    /// Whether the joint is one of those that are looked at.
    pub(super) fn is_open(&self, joint: usize) -> bool {
        let open = self.open.as_ref();
        open.is_none_or(|open| open.is_open[self.places[joint].0 as usize])
    }

    fn all_open(&mut self) -> Open {
        let mut open = std::mem::take(&mut self.spare);
        open.islands.clear();
        open.islands.extend(0..self.islands.len() as u32);
        open.is_open.clear();
        open.is_open.resize(self.islands.len(), true);
        open.blocks.resize(self.ports.len(), false);
        open.rest = 0.0;
        open
    }

    /// By how much each island is open, m: its constraints, limits that are reached and friction that
    /// holds.
    fn find_gaps(&mut self) {
        self.gaps.clear();
        self.gaps.resize(self.islands.len(), 0.0);
        for (rows, (start, place)) in self
            .joints
            .iter()
            .zip(self.offsets.iter().zip(&self.places))
        {
            let gap = &mut self.gaps[place.0 as usize];
            for value in &self.lambda[*start..start + rows.constraints as usize] {
                *gap = larger(value.abs(), *gap);
            }
        }
        for row in self.axes.iter().filter(|row| row.is_hard()) {
            let island = self.places[row.joint].0 as usize;
            self.gaps[island] = larger(self.lambda[row.row].abs(), self.gaps[island]);
        }
    }

    /// As `violation`, of what is open.
    pub(super) fn violation_of_open(
        &mut self,
        open: &Open,
        (model, work): (&Model, &[NewtonBlock]),
        h: f64,
    ) -> f64 {
        let worst = self.each_of(&open.joints, |joints, range, ports, lambda| {
            joints.violation(range, (model, work), ports, lambda)
        });
        worst.max(self.axis_sides(model, work, h))
    }

    /// Solves the islands that are open.
    pub(super) fn solve_open(&mut self) {
        let Some(open) = &self.open else { return };
        for &island in &open.islands {
            self.islands[island as usize].solve(&mut self.lambda, &self.offsets);
        }
    }
}

#[cfg(test)]
mod tests;
