//! Limits of joints that are solved together with contacts (`stops.rs`).

use super::*;
use crate::dual::DualFault;

impl Stage {
    /// Lets no limit be solved together with contacts.
    pub fn drop_stops(&mut self, dual: &mut Dual) {
        self.stops.clear();
        dual.hold_limits();
    }

    /// Has limits take part that have changed what they do since they were last asked for. Joints let go of
    /// them. Says whether some answer in another way now.
    pub fn take_stops(&mut self, scene: &Scene<'_>, dual: &mut Dual) -> Result<bool, DualFault> {
        let mut contested = std::mem::take(&mut self.contested);
        dual.take_contested(&mut contested);
        if contested.is_empty() || scene.projects || !self.movers.answer_together() {
            return Ok(false);
        }
        for &axis in &contested {
            let bodies = dual.sides_of(scene.model, axis);
            let movers = bodies.map(|body| body.map_or(FIXED, |body| self.mover_of[body]));
            let absent = |(body, mover): (Option<usize>, u32)| body.is_some() && mover == FIXED;
            if bodies.into_iter().zip(movers).any(absent) {
                continue;
            }
            let Some(upper) = dual.release(scene.model, scene.work, axis) else {
                continue;
            };
            self.stops.push(Stop {
                axis,
                upper,
                movers,
                by: [[[0.0; 3]; 2]; 2],
                free: 0.0,
                compliance: 0.0,
                lambda: 0.0,
            });
        }
        self.contested = contested;
        dual.renew_released(scene.h)
    }

    /// Finds the gaps of limits where the bodies are now.
    pub fn measure_stops(&mut self, scene: &Scene<'_>, dual: &Dual) {
        for stop in &mut self.stops {
            let (gap, by) = dual.gap_of(scene.model, scene.work, stop.axis, stop.upper);
            stop.by = by;
            stop.free = gap - stop.opened(&self.movers);
            stop.weigh(&self.movers);
        }
    }

    /// Tells joints what their limits pushed with; `forces` are those of all rows of the step, N.
    pub fn end_stops(&self, dual: &mut Dual, forces: &mut [f64]) {
        for stop in self.stops.iter().filter(|stop| stop.lambda > 0.0) {
            dual.end_stop(stop.axis, stop.upper, stop.lambda, forces);
        }
    }
}
