//! What acts on the bodies from outside during a step.

use glam::DVec3;

use super::{BodyId, FrameId, FrameMotion, JointId, Model, State};
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
    /// Where the moved frames are and how they move.
    pub(crate) frames: Vec<FrameMotion>,
}

impl Control {
    /// Nothing acts.
    pub fn new(model: &Model) -> Control {
        Control {
            blocks: vec![WrenchBlock::ZERO; model.params.len()],
            active: false,
            drives: vec![None; model.coordinates()],
            frames: model.frames().iter().map(|f| f.at_rest()).collect(),
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

    /// Says where a frame is at the start of the next step and how it moves during it. False
    /// when a number is not finite or the model has no such frame; nothing changes then.
    pub fn move_frame(&mut self, frame: FrameId, motion: FrameMotion) -> bool {
        match self.frames.get_mut(frame.index()) {
            Some(place) if motion.is_usable() => {
                *place = motion;
                true
            }
            _ => false,
        }
    }

    /// Where a frame is and how it moves.
    pub fn frame(&self, frame: FrameId) -> FrameMotion {
        self.frames[frame.index()]
    }

    /// Lets every frame run on with its velocity for h seconds.
    pub fn advance_frames(&mut self, h: f64) {
        self.frames.iter_mut().for_each(|frame| frame.advance(h));
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
