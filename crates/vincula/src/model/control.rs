//! What acts on the bodies from outside during a step.

use glam::DVec3;

use super::{BodyId, JointId, Model, State};
pub use crate::force::Wrench;
use crate::joint::axis::Drive;
use crate::math::lanes::{LANES, Lane, gather, place, scatter};

/// Wrenches on eight bodies.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(crate) struct WrenchBlock {
    pub force: [Lane; 3],
    pub torque: [Lane; 3],
}

impl WrenchBlock {
    pub(crate) const ZERO: WrenchBlock = WrenchBlock {
        force: [[0.0; LANES]; 3],
        torque: [[0.0; LANES]; 3],
    };

    pub(crate) fn add(&mut self, lane: usize, wrench: Wrench) {
        let force = DVec3::from_array(gather(&self.force, lane)) + wrench.force;
        let torque = DVec3::from_array(gather(&self.torque, lane)) + wrench.torque;
        scatter(&mut self.force, lane, &force.to_array());
        scatter(&mut self.torque, lane, &torque.to_array());
    }
}

/// External wrenches, constant during a step. They stay until `clear`.
#[derive(Clone, Debug)]
pub struct Control {
    pub(crate) blocks: Vec<WrenchBlock>,
    pub(crate) active: bool,
    /// Drives that replace those of the model, by free coordinate.
    pub(crate) drives: Vec<Option<Drive>>,
}

impl Control {
    /// Nothing acts.
    pub fn new(model: &Model) -> Control {
        Control {
            blocks: vec![WrenchBlock::ZERO; model.params.len()],
            active: false,
            drives: vec![None; model.coordinates()],
        }
    }

    /// Removes every wrench.
    pub fn clear(&mut self) {
        self.blocks.fill(WrenchBlock::ZERO);
        self.active = false;
    }

    /// Replaces the drive of a free coordinate of a joint; its effort stays. The coordinate
    /// must have been built with a law (a drive, a spring, friction or limits). False when
    /// the joint has no such coordinate, or none with a law.
    pub fn set_drive(&mut self, model: &Model, joint: JointId, axis: usize, drive: Drive) -> bool {
        match model.joint(joint).axes.get(axis) {
            Some(it) if !it.law.is_idle() => {
                self.drives[model.axis_starts[joint.index()] + axis] = Some(drive);
                true
            }
            _ => false,
        }
    }

    /// Adds a wrench to a body.
    pub fn add(&mut self, body: BodyId, wrench: Wrench) {
        let (block, lane) = place(body.index());
        self.blocks[block].add(lane, wrench);
        self.active = true;
    }

    /// Adds a force, N, at a point of the world, m.
    pub fn add_force_at(&mut self, state: &State, body: BodyId, force: DVec3, point: DVec3) {
        let torque = (point - state.center(body)).cross(force);
        self.add(body, Wrench { force, torque });
    }

    /// Adds a torque, N m.
    pub fn add_torque(&mut self, body: BodyId, torque: DVec3) {
        self.add(
            body,
            Wrench {
                force: DVec3::ZERO,
                torque,
            },
        );
    }

    /// The wrench on a body.
    pub fn wrench(&self, body: BodyId) -> Wrench {
        let (block, lane) = place(body.index());
        let b = &self.blocks[block];
        Wrench {
            force: DVec3::from_array(gather(&b.force, lane)),
            torque: DVec3::from_array(gather(&b.torque, lane)),
        }
    }
}
