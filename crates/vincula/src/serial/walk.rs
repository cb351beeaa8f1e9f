//! In which order passes come to bodies and joints: from both ends to the middle, or back, with the
//! solution of the dual system before or behind them.

use super::passes::Joints;
use super::solver::Way;
use crate::math::dispatch::Level;

/// What a pass comes to: the bodies of a block, and its joints as soon as the bodies at both of
/// their ends have been visited.
pub(super) enum Visit {
    Bodies(usize),
    Joints(usize),
}

impl Joints {
    /// Visits all bodies and joints from the ends to the middle, and goes on with the solution
    /// behind; false as soon as a visit is.
    pub fn inwards(
        &mut self,
        level: Level,
        way: Way,
        mut visit: impl FnMut(&mut Joints, Visit) -> bool,
    ) -> bool {
        let (count, split) = (self.solver.count, self.solver.split);
        // Bodies below the first one, and from the second on, have been visited.
        let [mut left, mut right] = [0, count];
        let mut met = split == count;
        for stretch in self.solver.stretches() {
            let [below, from] = self.solver.needs(&stretch);
            while left < below {
                if !visit(self, Visit::Bodies(left)) || !visit(self, Visit::Joints(left)) {
                    return false;
                }
                left += 1;
            }
            // Joints are between their bodies and the ones before.
            while right > split && right >= from {
                right -= 1;
                let joints = right + 1;
                if !visit(self, Visit::Bodies(right))
                    || (joints < count && !visit(self, Visit::Joints(joints)))
                {
                    return false;
                }
            }
            if !met && left == split && right == split {
                met = true;
                if !visit(self, Visit::Joints(split)) {
                    return false;
                }
            }
            self.solver.go_in(level, way, stretch, &mut self.rows);
        }
        true
    }

    /// Goes from the middle to the ends with the solution, and visits bodies and joints behind.
    pub fn outwards(
        &mut self,
        level: Level,
        mut visit: impl FnMut(&mut Joints, Visit) -> bool,
    ) -> bool {
        let (count, split) = (self.solver.count, self.solver.split);
        let [mut left, mut right] = [split, split];
        self.solver.turn(level, &mut self.rows);
        for stretch in self.solver.stretches().rev() {
            self.solver.go_out(level, stretch.clone(), &mut self.rows);
            while left > 0 && self.solver.knows(&stretch, left - 1) {
                left -= 1;
                if !visit(self, Visit::Bodies(left))
                    || (left + 1 < split && !visit(self, Visit::Joints(left + 1)))
                    || (left == 0 && !visit(self, Visit::Joints(0)))
                {
                    return false;
                }
            }
            while left < split && right < count && self.solver.knows(&stretch, right) {
                if !visit(self, Visit::Bodies(right)) || !visit(self, Visit::Joints(right)) {
                    return false;
                }
                right += 1;
            }
        }
        true
    }

    /// Takes the right-hand side to the middle where no visit did.
    pub fn substitute(&mut self, level: Level) {
        for stretch in self.solver.stretches() {
            self.solver
                .go_in(level, Way::Substitute, stretch, &mut self.rows);
        }
    }

    /// Finds something of a block and of those beside it, where it was not yet: `found` are the
    /// blocks below the first number and from the second on. False as soon as one is.
    pub fn around(
        &mut self,
        block: usize,
        found: &mut [usize; 2],
        mut find: impl FnMut(&mut Joints, usize) -> bool,
    ) -> bool {
        let [left, right] = found;
        if block < self.solver.split {
            while *left < *right && *left <= block + 1 {
                if !find(self, *left) {
                    return false;
                }
                *left += 1;
            }
        } else {
            while *left < *right && *right >= block {
                *right -= 1;
                if !find(self, *right) {
                    return false;
                }
            }
        }
        true
    }
}
