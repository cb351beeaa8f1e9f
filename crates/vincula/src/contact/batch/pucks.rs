//! Bodies as batches see them.

use crate::contact::movers::Mover;
use crate::kernel;
use crate::math::small::*;

/// Six numbers, filled up to as many as a vector holds.
const WIDE: usize = 8;

/// Displacement, m, and rotation, rad, filled up with what means nothing.
pub(in crate::contact) type Moved = [f64; WIDE];

/// A body: how it has moved, and how it answers. The first of them stands for what does not move.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(64))]
pub(in crate::contact) struct Puck {
    pub moved: Moved,
    /// Displacement per force, m/N.
    pub(super) per_force: f64,
    /// Rotation per torque, upper triangle, rad/(N m).
    pub(super) per_torque: [f64; 6],
}

impl Puck {
    pub fn new(mover: &Mover) -> Puck {
        let [xx, xy, xz, _, yy, yz, _, _, zz] = mover.per_torque;
        Puck {
            moved: widen(&mover.shift, &mover.turn),
            per_force: mover.per_force,
            per_torque: [xx, xy, xz, yy, yz, zz],
        }
    }

    /// What it has moved by since.
    pub fn gain(&self, start: &Moved) -> Moved {
        std::array::from_fn(|k| self.moved[k] - start[k])
    }

    /// How far a motion takes the body, m, with its rotation at the radius of gyration.
    pub fn size_of(&self, [x, y, z, a, b, c, ..]: &Moved) -> f64 {
        let [xx, _, _, yy, _, zz] = self.per_torque;
        let square = 3.0 * self.per_force / (xx + yy + zz);
        ((x * x + y * y + z * z) + square * (a * a + b * b + c * c)).sqrt()
    }
}

/// Shift and turn as a puck has them.
pub(in crate::contact) fn widen([x, y, z]: &V3, [a, b, c]: &V3) -> Moved {
    [*x, *y, *z, *a, *b, *c, 0.0, 0.0]
}

kernel! {
    /// All pucks go on by `beta` along the conjugate direction, which then takes what the last pass
    /// moved them by since `starts`; these become where they start the next one.
    pub(in crate::contact) fn run_on(pucks: &mut [Puck], starts: &mut [Moved], ways: &mut [Moved], beta: f64)
        = run_on_all
}

#[inline(always)]
fn run_on_all(pucks: &mut [Puck], starts: &mut [Moved], ways: &mut [Moved], beta: f64) {
    for ((puck, start), way) in pucks.iter_mut().zip(starts).zip(ways) {
        for k in 0..WIDE {
            let step = beta * way[k];
            way[k] = step + (puck.moved[k] - start[k]);
            puck.moved[k] += step;
            start[k] = puck.moved[k];
        }
    }
}
