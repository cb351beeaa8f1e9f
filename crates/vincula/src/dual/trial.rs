//! Trials: what limits and friction would do under the forces of contacts.
//!
//! They ask only mechanisms with coordinates along which something acts. Of a crowd most have none,
//! and are left as they were.

use std::ops::Range;

use super::{Dual, SideRows};
use crate::integrate::newton::NewtonBlock;
use crate::math::lanes::place;
use crate::model::Model;

/// The islands with such coordinates, where there are others.
#[derive(Debug, Default)]
pub(super) struct Asked {
    islands: Vec<u32>,
    /// Their joints, in stretches.
    joints: Vec<Range<usize>>,
    /// Whether no joint of the others has rows that are measured for all at once.
    plain: bool,
    /// Of each body: whether it is one of theirs; and of each block, whether it has one.
    bodies: Vec<bool>,
    blocks: Vec<bool>,
}

impl Dual {
    /// The islands that a trial asks; none if it has to ask all.
    pub(super) fn find_asked(&self) -> Option<Asked> {
        // A coupling is solved with all that it couples, and a strand is one island.
        if !self.border.is_empty() || self.strand.is_some() {
            return None;
        }
        let mut asked = Asked {
            bodies: vec![false; self.starts.len() - 1],
            blocks: vec![false; self.ports.len()],
            ..Asked::default()
        };
        let islands = self.axes.iter().map(|row| self.places[row.joint].0);
        asked.islands.extend(islands);
        asked.islands.sort_unstable();
        asked.islands.dedup();
        if asked.islands.len() == self.islands.len() {
            return None;
        }
        let islands = asked.islands.iter().map(|&i| &self.islands[i as usize]);
        let mut joints: Vec<usize> = islands.flat_map(|i| &i.joints).copied().collect();
        joints.sort_unstable();
        asked.joints.extend(stretches(&joints));
        let squares = |joint: &usize| self.joints[*joint].squares.1 > 0;
        let (theirs, all) = (joints.iter(), 0..self.joints.len());
        asked.plain = theirs.filter(|j| squares(j)).count() == all.filter(squares).count();
        for body in self.bodies_at(&joints) {
            asked.bodies[body] = true;
            asked.blocks[place(body).0] = true;
        }
        Some(asked)
    }

    /// The bodies that some joints hold, as often as they do.
    pub(super) fn bodies_at(&self, joints: &[usize]) -> impl Iterator<Item = usize> {
        let rows = joints.iter().map(|&joint| &self.joints[joint]);
        rows.flat_map(|rows| [&rows.a, &rows.b])
            .filter_map(SideRows::body)
    }

    /// Whether a trial looks at places and velocities of a block of bodies.
    pub(crate) fn is_asked(&self, block: usize) -> bool {
        let asked = self.asked.as_ref();
        asked.is_none_or(|asked| asked.blocks[block])
    }

    /// Whether a trial looks at a body.
    pub(crate) fn is_asked_of(&self, body: usize) -> bool {
        let asked = self.asked.as_ref();
        asked.is_none_or(|asked| asked.bodies[body])
    }

    /// As `violation` and `solve`, for a trial.
    pub(crate) fn try_places(&mut self, model: &Model, work: &[NewtonBlock], h: f64) {
        let Some(asked) = self.asked.take() else {
            self.violation(model, work, h);
            self.solve();
            return;
        };
        self.measure_asked(&asked, model, work);
        self.axis_sides(model, work, h);
        self.solve_asked(asked);
    }

    /// As `violation` and `solve`, where these came before and only coordinates have changed what they
    /// do since. What mechanisms without coordinates answered stays.
    pub(crate) fn solve_again(&mut self, model: &Model, work: &[NewtonBlock], h: f64) {
        let Some(asked) = self.asked.take_if(|asked| asked.plain) else {
            self.violation(model, work, h);
            self.solve();
            return;
        };
        self.measure_asked(&asked, model, work);
        self.law_sides(h);
        self.solve_asked(asked);
    }

    /// The violation of the rows of joints that are asked.
    fn measure_asked(&mut self, asked: &Asked, model: &Model, work: &[NewtonBlock]) {
        self.squares.measure(self.level, work, &mut self.lambda);
        self.axles.measure(&self.ports, &mut self.lambda);
        self.each_of(&asked.joints, |joints, range, ports, lambda| {
            joints.violation(range, (model, work), ports, lambda)
        });
    }

    /// As `drift` and `solve`, for a trial.
    pub(crate) fn try_rates(&mut self, work: &[NewtonBlock], h: f64) {
        let Some(asked) = self.asked.take() else {
            self.drift(work, h);
            self.solve();
            return;
        };
        self.each_of(&asked.joints, |joints, range, ports, lambda| {
            joints.drift(range, (work, h), ports, lambda)
        });
        self.rate_sides(h);
        self.solve_asked(asked);
    }

    fn solve_asked(&mut self, asked: Asked) {
        for &island in &asked.islands {
            self.islands[island as usize].solve(&mut self.lambda, &self.offsets);
        }
        self.asked = Some(asked);
    }
}

/// Joints, ascending, as stretches of those that follow each other.
pub(super) fn stretches(joints: &[usize]) -> impl Iterator<Item = Range<usize>> {
    let stretches = joints.chunk_by(|a, b| a + 1 == *b);
    stretches.map(|stretch| stretch[0]..stretch[0] + stretch.len())
}

#[cfg(test)]
pub(super) mod tests;
