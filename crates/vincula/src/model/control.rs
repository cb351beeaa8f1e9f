//! What acts on the bodies from outside during a step.

use glam::DVec3;

use super::{BodyId, CouplingId, FrameId, FrameMotion, JointId, Model, State};
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

    /// Whether nothing pushes these bodies.
    pub(crate) fn is_zero(&self) -> bool {
        let rows = self.force.iter().chain(&self.torque);
        rows.flatten().all(|x| *x == 0.0)
    }

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
    /// Velocities that couplings ask for, by coupling, rad/s or m/s.
    pub(crate) rates: Vec<f64>,
    /// Factors of the terms of all couplings, in order.
    pub(crate) factors: Vec<f64>,
    /// The model that it is for.
    pub(crate) identity: u64,
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
            rates: model.couplings.iter().map(|c| c.rate()).collect(),
            factors: model
                .couplings
                .iter()
                .flat_map(|c| c.terms())
                .map(|t| t.factor)
                .collect(),
            identity: model.identity,
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

    /// The velocity that a velocity coupling asks for, rad/s or m/s. False for couplings on
    /// position level and for values that are not finite.
    pub fn set_coupling_rate(&mut self, model: &Model, coupling: CouplingId, rate: f64) -> bool {
        let fits = model.coupling(coupling).is_velocity() && rate.is_finite();
        if fits {
            self.rates[coupling.index()] = rate;
        }
        fits
    }

    /// The factor of a term of a velocity coupling: the ratio of a gear that shifts without
    /// steps, say. False for couplings on position level, which a change would make jump,
    /// for terms that there are not, and for factors that are zero or not finite.
    pub fn set_coupling_factor(
        &mut self,
        model: &Model,
        coupling: CouplingId,
        term: usize,
        factor: f64,
    ) -> bool {
        let it = model.coupling(coupling);
        let fits = it.is_velocity() && term < it.terms().len();
        if !(fits && factor.is_finite() && factor != 0.0) {
            return false;
        }
        let before = model.couplings[..coupling.index()].iter();
        let first: usize = before.map(|c| c.terms().len()).sum();
        self.factors[first + term] = factor;
        true
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
