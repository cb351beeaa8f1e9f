//! First-order use: displacements instead of accelerations.
//!
//! The same solve with violations on the right-hand side moves bodies, not their velocities, by
//! the least displacement in the metric of M that satisfies all constraints to first order. A
//! step uses it to put the pose back on the constraints, and somebody who drags a figure by the
//! hand uses nothing else.

use glam::DQuat;
use vincula::model::Model;

use super::Baraff;
use super::anticipation::Sense;
use super::primary::Purpose;
use crate::system::MethodError;
use crate::system::rows::unpack;

/// Violation at which the pose counts as on the constraints, m.
pub(super) const POSITION_TOLERANCE: f64 = 1e-10;
/// Most corrections of the pose where somebody drags the bodies about, further than a step does.
const DRAG_CORRECTIONS: usize = 60;

impl Baraff {
    /// First-order manipulation: moves the bodies, without inertia of motion, by the least
    /// displacement (in the metric of M) that brings every hold and joint to its place.
    /// Returns the largest violation left, m.
    pub fn manipulate(&mut self, model: &Model) -> Result<f64, MethodError> {
        self.before.clone_from(&self.system.bodies);
        let outcome = self.put_back(model, DRAG_CORRECTIONS);
        self.restore_if_failed(outcome)
    }

    /// Brings the pose back to the constraints by modified Newton: while the violations shrink
    /// well, the factors of the first pose serve again.
    pub(super) fn put_back(&mut self, model: &Model, most: usize) -> Result<f64, MethodError> {
        let mut last = 0.0;
        for _ in 0..most {
            let worst = self.position_error();
            if !(worst > POSITION_TOLERANCE) {
                return Ok(worst);
            }
            if worst > 0.1 * last {
                self.factor();
            }
            last = worst;
            self.forces.fill([0.0; 6]);
            self.solve(model, Purpose::Position)?;
            for (body, w) in self.system.bodies.iter_mut().zip(&self.motion) {
                let [shift, turn] = unpack(w);
                body.x += shift;
                body.q = (DQuat::from_scaled_axis(turn) * body.q).normalize();
            }
            self.fresh = false;
        }
        Ok(self.position_error())
    }

    /// Largest violation of joints, holds and limits, m or rad.
    fn position_error(&mut self) -> f64 {
        let mut worst = self.system.worst_violation().0;
        let mut list = std::mem::take(&mut self.auxiliary);
        list.clear();
        self.push_holds_and_limits(Purpose::Position, &mut list);
        for row in list.rows() {
            let miss = match row.sense {
                Sense::Equal => row.target.abs(),
                Sense::NotNegative => -row.target,
            };
            worst = worst.max(miss);
        }
        self.auxiliary = list;
        worst
    }
}
