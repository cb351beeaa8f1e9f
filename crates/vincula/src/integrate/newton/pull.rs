//! What joints do to eight bodies: forces at points, and torques.

use crate::math::lanes::{Lane, gather};
use crate::math::small::*;

/// Points of eight bodies, or forces at them: two of each.
pub type Points = [[Lane; 3]; 2];

/// What the joints of eight bodies do to them. A closure would not always be inlined, and a call
/// keeps a loop over lanes from becoming vector code.
pub trait Pull {
    /// The load on A of a body, in the frame `rot`, N m, and the sum of the forces on it, world, N.
    fn on(&self, rot: &M3, lane: usize) -> (M3, V3);
}

/// Joints that pull with forces at points.
pub struct AtPoints<'a> {
    /// The points in the bodies, m.
    pub points: &'a Points,
    /// The forces of the joints, world, N; the bodies answer with the opposite.
    pub forces: &'a Points,
}

impl Pull for AtPoints<'_> {
    #[inline(always)]
    fn on(&self, rot: &M3, lane: usize) -> (M3, V3) {
        let AtPoints { points, forces } = self;
        let [one, two] = [0, 1].map(|k| gather(&forces[k], lane));
        let [x, y]: [V3; 2] = [0, 1].map(|k| gather(&points[k], lane));
        let thrust = [0, 1, 2].map(|k: usize| -one[k] - two[k]);
        let one = scale(&tmul_vec(rot, &one), -1.0);
        let two = tmul_vec(rot, &two);
        let mut load = [0.0; 9];
        for i in 0..3 {
            for j in 0..3 {
                load[3 * i + j] = one[i] * x[j] - two[i] * y[j];
            }
        }
        (load, thrust)
    }
}

/// The same where joints turn the bodies too.
pub struct Twisted<'a> {
    /// The forces at points.
    pub forces: AtPoints<'a>,
    /// The torques of the joints, world, N m; the bodies answer with the opposite.
    pub torques: &'a [Lane; 3],
}

impl Pull for Twisted<'_> {
    #[inline(always)]
    fn on(&self, rot: &M3, lane: usize) -> (M3, V3) {
        let (load, thrust) = self.forces.on(rot, lane);
        (
            axpy9(&load, 1.0, &torque_load(rot, self.torques, lane)),
            thrust,
        )
    }
}

/// The load on A with which a body answers a torque of the joints, in the frame `rot`, N m.
#[inline(always)]
pub fn torque_load(rot: &M3, torques: &[Lane; 3], lane: usize) -> M3 {
    let local = tmul_vec(rot, &gather(torques, lane));
    skew_matrix(&scale(&local, -0.5))
}
