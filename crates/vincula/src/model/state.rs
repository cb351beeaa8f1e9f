//! Where everything is and how it moves: plain data, cloneable.

use glam::{DQuat, DVec3};
use vincula_blocks::both;

use super::{BodyId, Endpoint, JointId, Model, Pose, Twist};
use crate::body::affine::strain;
use crate::contact::memory::Memory;
use crate::dual::unwrap;
use crate::joint::axis::{Axis, AxisKind};
use crate::joint::rows::{Carried, Gradient};
use crate::joint::{Joint, JointKind, Side, rotation};
use crate::math::lanes::{LANES, Lane, gather, place, scatter};
use crate::math::rotation::polar;
use crate::math::small::*;
use crate::math::{from_quat, to_mat, to_vec};

/// The motion of eight bodies, in their principal frames.
#[derive(Clone, Debug, PartialEq)]
#[repr(C, align(64))]
pub struct StateBlock {
    /// Centre of mass, m.
    pub t: [Lane; 3],
    /// The affine map A, row-major.
    pub a: [Lane; 9],
    /// Velocity of the centre of mass, m/s.
    pub v: [Lane; 3],
    /// Rate of A, 1/s.
    pub w: [Lane; 9],
}

impl StateBlock {
    /// Eight bodies at the origin, at rest.
    pub const REST: StateBlock = {
        let mut a = [[0.0; LANES]; 9];
        a[0] = [1.0; LANES];
        a[4] = [1.0; LANES];
        a[8] = [1.0; LANES];
        StateBlock {
            t: [[0.0; LANES]; 3],
            a,
            v: [[0.0; LANES]; 3],
            w: [[0.0; LANES]; 9],
        }
    };
}

/// What a step of eight jointed bodies keeps for the next one.
#[derive(Clone, Debug, PartialEq)]
#[repr(C, align(64))]
pub struct MemoryBlock {
    /// Load of the joint forces on A at the end of the last step, body frame, N m. The next
    /// step starts from it.
    pub load: [Lane; 9],
    /// Angular velocity averaged over the last few steps, world, rad/s.
    pub slow: [Lane; 3],
}

impl MemoryBlock {
    /// Nothing to remember.
    pub const NONE: MemoryBlock = MemoryBlock {
        load: [[0.0; LANES]; 9],
        slow: [[0.0; LANES]; 3],
    };
}

/// The step before the last, which BDF2 needs.
#[derive(Clone, Debug, PartialEq)]
pub struct History {
    /// Length of the last step, s.
    pub h: f64,
    /// The state one step ago.
    pub blocks: Vec<StateBlock>,
}

/// The state of a model at one time.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    /// Time, s.
    pub time: f64,
    pub(crate) blocks: Vec<StateBlock>,
    /// What the last step left for the next, by block.
    pub(crate) memory: Vec<MemoryBlock>,
    /// Force of each constraint row in the last step, N.
    pub(crate) multipliers: Vec<f64>,
    /// Force of each row at the end of the last step, N: the next step starts from it.
    pub(crate) held: Vec<f64>,
    /// Free coordinates of the joints, angles unwrapped, rad or m.
    pub(crate) coordinates: Vec<f64>,
    pub(crate) history: Option<History>,
    /// The model that it is a state of.
    pub(crate) identity: u64,
    /// Contact forces of the last step: the next one starts from them.
    pub(crate) contacts: Memory,
    /// Of each body, how long it has been quiet, s; infinite while it sleeps.
    pub(crate) quiet: Vec<f64>,
    /// Of each body, what was taken from its motion where bodies in contact gained energy and has not been
    /// given back, J; nothing where nothing collides.
    pub(crate) lent: Vec<f64>,
    /// Of each sleeping body, a number that those which fell asleep with it share.
    pub(crate) nest: Vec<u32>,
}

impl State {
    /// Every body at the origin, at rest.
    pub fn at_rest(model: &Model) -> State {
        State {
            time: 0.0,
            blocks: vec![StateBlock::REST; model.params.len()],
            memory: vec![MemoryBlock::NONE; model.params.len()],
            multipliers: vec![0.0; model.dual_rows()],
            held: vec![0.0; model.dual_rows()],
            coordinates: vec![0.0; model.coordinates()],
            history: None,
            identity: model.identity,
            contacts: Memory::default(),
            quiet: vec![0.0; model.bodies.len()],
            lent: vec![0.0; model.lenders()],
            nest: vec![0; model.bodies.len()],
        }
    }

    /// Becomes a copy of another state of the same model, in the memory that it has, on up to two
    /// threads.
    pub(crate) fn copy_from(&mut self, other: &State, threads: usize) {
        let State {
            time,
            blocks,
            memory,
            multipliers,
            held,
            coordinates,
            history,
            identity,
            contacts,
            quiet,
            lent,
            nest,
        } = other;
        (self.time, self.identity) = (*time, *identity);
        // About half of the memory each.
        let motion = || self.blocks.clone_from(blocks);
        let rest = || {
            self.memory.clone_from(memory);
            self.multipliers.clone_from(multipliers);
            self.held.clone_from(held);
            self.coordinates.clone_from(coordinates);
            self.history.clone_from(history);
            self.contacts.copy_from(contacts);
            self.quiet.clone_from(quiet);
            self.lent.clone_from(lent);
            self.nest.clone_from(nest);
        };
        both(threads, motion, rest);
    }

    /// The blocks of eight bodies.
    pub fn blocks(&self) -> &[StateBlock] {
        &self.blocks
    }

    /// A free coordinate of a joint (0 is its first), rad or m; angles count whole turns.
    /// `None` when the joint has no such coordinate.
    pub fn coordinate(&self, model: &Model, joint: JointId, axis: usize) -> Option<f64> {
        let it = model.joint(joint);
        if axis < it.axes.len() {
            return Some(self.coordinates[model.axis_starts[joint.index()] + axis]);
        }
        // Nobody keeps track of the coordinates of a ball joint without laws.
        let kind = it.kind.axes().get(axis)?;
        Some(kind.value(&self.carried(&it.a), &self.carried(&it.b)))
    }

    /// Velocity of a free coordinate of a joint, rad/s or m/s.
    pub fn coordinate_rate(&self, model: &Model, joint: JointId, axis: usize) -> Option<f64> {
        let joint = model.joint(joint);
        let kind = joint.kind.axes().get(axis)?;
        let row = kind.linearize(&self.carried(&joint.a), &self.carried(&joint.b));
        Some(self.rate_along(&joint.a, &row.a) + self.rate_along(&joint.b, &row.b))
    }

    /// What the motion of one end adds to the rate of a row of this gradient.
    pub(crate) fn rate_along(&self, side: &Side, gradient: &Gradient) -> f64 {
        let Some(body) = side.endpoint.index() else {
            return 0.0;
        };
        let (block, lane) = place(body);
        let w: M3 = gather(&self.blocks[block].w, lane);
        let v: V3 = gather(&self.blocks[block].v, lane);
        gradient.a.iter().zip(&w).map(|(g, w)| g * w).sum::<f64>() + dot(&gradient.t, &v)
    }

    /// The frame of one end of a joint.
    pub(crate) fn carried(&self, side: &Side) -> Carried {
        carried_by(&self.blocks, side)
    }

    /// The map that carries the axes of a side.
    fn map_of(&self, side: &Side) -> M3 {
        match side.endpoint {
            Endpoint::World => IDENTITY,
            Endpoint::Body(id) => self.affine_map(id),
        }
    }

    /// Reads the free coordinates off the poses; angles stay near what they were.
    pub fn measure_coordinates(&mut self, model: &Model) {
        if self.coordinates.is_empty() {
            return;
        }
        for index in model.free_joints.iter().map(|&joint| joint as usize) {
            let (joint, start) = (&model.joints[index], model.axis_starts[index]);
            if let [Axis { kind, .. }] = joint.axes[..]
                && kind == AxisKind::Angle
            {
                // Most joints are hinges.
                let ends = [&joint.a, &joint.b].map(|side| self.map_of(side));
                let angle = AxisKind::Angle.turn(&ends, [&joint.a.axes, &joint.b.axes]);
                let place = &mut self.coordinates[start];
                *place = unwrap(kind, angle, *place);
                continue;
            }
            let (a, b) = (self.carried(&joint.a), self.carried(&joint.b));
            // The rotation vector is found once for all that is read off it.
            let ball = (joint.kind == JointKind::Ball).then(|| rotation::of_ball(&a, &b));
            for (k, axis) in joint.axes.iter().enumerate() {
                let value = match &ball {
                    Some(values) => values[k],
                    None => axis.kind.value(&a, &b),
                };
                let place = &mut self.coordinates[start + k];
                *place = unwrap(axis.kind, value, *place);
            }
        }
    }

    /// What the last step left for the next, by block of eight bodies.
    pub fn memory(&self) -> &[MemoryBlock] {
        &self.memory
    }

    /// Forgets the past: the next step starts afresh, as after an impact.
    pub fn restart(&mut self) {
        self.history = None;
    }

    /// Whether a body sleeps ([`Settings::sleeping`](crate::settings::Settings::sleeping)).
    pub fn sleeps(&self, body: BodyId) -> bool {
        self.quiet[body.index()] == f64::INFINITY
    }

    /// Wakes a body and all that fell asleep with it.
    pub fn wake(&mut self, body: BodyId) {
        if !self.sleeps(body) {
            return;
        }
        let nest = self.nest[body.index()];
        for (quiet, own) in self.quiet.iter_mut().zip(&self.nest) {
            if *quiet == f64::INFINITY && *own == nest {
                *quiet = 0.0;
            }
        }
    }

    /// Centre of mass of a body, m.
    pub fn center(&self, body: BodyId) -> DVec3 {
        let (block, lane) = place(body.index());
        DVec3::from_array(gather(&self.blocks[block].t, lane))
    }

    /// The affine map A of a body (principal frame to world), row-major.
    pub fn affine_map(&self, body: BodyId) -> M3 {
        let (block, lane) = place(body.index());
        gather(&self.blocks[block].a, lane)
    }

    /// Rotation of the principal frame of a body, row-major.
    pub fn principal_rotation(&self, body: BodyId) -> M3 {
        polar(&self.affine_map(body)).unwrap_or(IDENTITY)
    }

    /// Strain of a body in its principal frame: xx, yy, zz, xy, xz, yz.
    pub fn strain(&self, body: BodyId) -> S3 {
        strain(&self.principal_rotation(body), &self.affine_map(body))
    }

    /// The body-frame rate `RᵀȦ` and the velocity of the centre.
    pub(crate) fn rates(&self, body: BodyId) -> (M3, M3, V3) {
        let (block, lane) = place(body.index());
        let rotation = self.principal_rotation(body);
        let w: M3 = gather(&self.blocks[block].w, lane);
        (
            rotation,
            tmul(&rotation, &w),
            gather(&self.blocks[block].v, lane),
        )
    }

    /// Pose of the shape frame of a body.
    pub fn pose(&self, model: &Model, body: BodyId) -> Pose {
        pose_by(model, &self.blocks, body)
    }

    /// Velocity of the centre of mass and angular velocity of a body.
    pub fn twist(&self, model: &Model, body: BodyId) -> Twist {
        let (rotation, rate, v) = self.rates(body);
        let affine = model.affine(body);
        let angular = affine.angular_velocity(&affine.angular_momentum(&rate));
        Twist {
            linear: to_vec(&v),
            angular: to_vec(&mul_vec(&rotation, &angular)),
        }
    }

    /// Puts a body at a pose of its shape frame, unstrained; its velocity turns with it.
    pub fn set_pose(&mut self, model: &Model, body: BodyId, pose: Pose) {
        self.wake(body);
        let twist = self.twist(model, body);
        let principal = pose.compose(&model.body(body).principal());
        let (block, lane) = place(body.index());
        let b = &mut self.blocks[block];
        scatter(&mut b.t, lane, &principal.translation.to_array());
        scatter(&mut b.a, lane, &from_quat(principal.rotation));
        scatter(&mut self.memory[block].load, lane, &[0.0; 9]);
        self.history = None;
        self.set_twist(model, body, twist);
    }

    /// Sets the velocity of the centre of mass and the angular velocity of a body.
    pub fn set_twist(&mut self, model: &Model, body: BodyId, twist: Twist) {
        debug_assert!(body.index() < model.bodies.len());
        self.wake(body);
        let rotation = self.principal_rotation(body);
        let (block, lane) = place(body.index());
        let b = &mut self.blocks[block];
        scatter(&mut b.v, lane, &twist.linear.to_array());
        scatter(
            &mut b.w,
            lane,
            &mul(&skew_matrix(&twist.angular.to_array()), &rotation),
        );
        let slow = &mut self.memory[block].slow;
        scatter(slow, lane, &twist.angular.to_array());
        if let Some(lent) = self.lent.get_mut(body.index()) {
            *lent = 0.0;
        }
        self.history = None;
    }
}

/// The frame of one end of a joint, with bodies where blocks have them.
pub(crate) fn carried_by(blocks: &[StateBlock], side: &Side) -> Carried {
    let Some(body) = side.endpoint.index() else {
        return Joint::carried(side, &IDENTITY, &[0.0; 3]);
    };
    let (block, lane) = place(body);
    let at = &blocks[block];
    Joint::carried(side, &gather(&at.a, lane), &gather(&at.t, lane))
}

/// Pose of the shape frame of a body in one of the blocks.
pub(crate) fn pose_by(model: &Model, blocks: &[StateBlock], body: BodyId) -> Pose {
    let (block, lane) = place(body.index());
    let rotation = polar(&gather(&blocks[block].a, lane)).unwrap_or(IDENTITY);
    let principal = Pose {
        translation: DVec3::from_array(gather(&blocks[block].t, lane)),
        rotation: DQuat::from_mat3(&to_mat(&rotation)),
    };
    principal.compose(&model.body(body).principal().inverse())
}
