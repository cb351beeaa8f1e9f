//! The world that is simulated: `Model` (immutable), `State`, `Control`.

mod assemble;
mod builder;
mod collision;
mod control;
mod error;
mod identity;
mod ids;
mod rigid;
mod state;
mod subset;

pub use assemble::{Assembly, AssemblyError};
pub use builder::{BodyDef, Damping, Drag, ModelBuilder};
pub use collision::{Frame, FrameMotion};
pub use control::{Control, Wrench};
pub use error::ModelError;
pub use ids::{BodyId, ColliderId, CouplingId, Endpoint, FrameId, JointId, World};
pub use state::{History, MemoryBlock, State, StateBlock};
pub(crate) use state::{carried_by, pose_by};

use glam::{DQuat, DVec3};

pub(crate) use collision::Collision;

use crate::body::affine::Affine;
use crate::body::mass::MassProperties;
use crate::body::material::Material;
use crate::body::shape::Shape;
use crate::force::ground::PenaltyGround;
use crate::force::wind::Wind;
use crate::joint::{Coupling, Joint};
use crate::math::lanes::{LANES, Lane, gather, place, scatter};
use crate::math::union::Union;

/// Position and orientation: of a body, those of its shape frame in the world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pose {
    /// Position, m.
    pub translation: DVec3,
    /// Orientation, unit quaternion.
    pub rotation: DQuat,
}

impl Pose {
    /// At the origin, not turned.
    pub const IDENTITY: Pose = Pose {
        translation: DVec3::ZERO,
        rotation: DQuat::IDENTITY,
    };

    /// A pure translation.
    pub fn at(translation: DVec3) -> Self {
        Pose {
            translation,
            rotation: DQuat::IDENTITY,
        }
    }

    /// A point given in this frame, in the frame this pose is given in.
    pub fn point(&self, local: DVec3) -> DVec3 {
        self.translation + self.rotation * local
    }

    /// The pose that this pose makes of `local`.
    pub fn compose(&self, local: &Pose) -> Pose {
        Pose {
            translation: self.point(local.translation),
            rotation: (self.rotation * local.rotation).normalize(),
        }
    }

    /// The inverse transformation.
    pub fn inverse(&self) -> Pose {
        let rotation = self.rotation.inverse();
        Pose {
            translation: -(rotation * self.translation),
            rotation,
        }
    }

    /// Whether every number is finite.
    pub fn is_finite(&self) -> bool {
        self.translation.is_finite() && self.rotation.is_finite()
    }
}

/// Velocity of a body: of its centre of mass and of its rotation, both in the world.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Twist {
    /// Velocity of the centre of mass, m/s.
    pub linear: DVec3,
    /// Angular velocity, rad/s.
    pub angular: DVec3,
}

/// What is known of one body before the simulation starts.
#[derive(Clone, Debug)]
pub struct Body {
    /// Name, unique in the model.
    pub name: String,
    /// Shape, if it has one to be drawn.
    pub shape: Option<Shape>,
    /// Mass properties in the shape frame.
    pub mass: MassProperties,
    /// Elastic material.
    pub material: Material,
    /// Linear and angular damping.
    pub damping: Damping,
    /// Drag against the wind.
    pub drag: Drag,
    /// Fraction of gravity that acts on the body.
    pub gravity_scale: f64,
    /// Pose of the shape frame at time zero.
    pub initial_pose: Pose,
    /// Velocity at time zero.
    pub initial_twist: Twist,
}

impl Body {
    /// The principal frame at the centre of mass, in the shape frame.
    pub fn principal(&self) -> Pose {
        Pose {
            translation: self.mass.center,
            rotation: self.mass.axes,
        }
    }
}

/// Constants of eight bodies, as the kernels read them.
#[derive(Clone, Debug, PartialEq)]
#[repr(C, align(64))]
pub struct ParamBlock {
    /// Mass, kg.
    pub mass: Lane,
    /// Second moments, kg m².
    pub second: [Lane; 3],
    /// V μ, N m.
    pub shear: Lane,
    /// V λ, N m.
    pub bulk: Lane,
    /// Reciprocals of the principal moments of inertia, 1/(kg m²).
    pub inverse_inertia: [Lane; 3],
}

impl ParamBlock {
    /// Lanes without a body hold a unit body, so that no kernel divides by zero.
    const EMPTY: ParamBlock = ParamBlock {
        mass: [1.0; LANES],
        second: [[1.0; LANES]; 3],
        shear: [1.0; LANES],
        bulk: [1.0; LANES],
        inverse_inertia: [[0.5; LANES]; 3],
    };

    /// The body of one lane.
    #[inline(always)]
    pub fn affine(&self, lane: usize) -> Affine {
        Affine {
            mass: self.mass[lane],
            second: gather(&self.second, lane),
            shear: self.shear[lane],
            bulk: self.bulk[lane],
            inverse_inertia: gather(&self.inverse_inertia, lane),
        }
    }

    fn set(&mut self, lane: usize, body: &Affine) {
        self.mass[lane] = body.mass;
        scatter(&mut self.second, lane, &body.second);
        self.shear[lane] = body.shear;
        self.bulk[lane] = body.bulk;
        scatter(&mut self.inverse_inertia, lane, &body.inverse_inertia);
    }
}

/// Bodies, joints and fields. Never changes while stepping.
#[derive(Clone, Debug)]
pub struct Model {
    pub(crate) bodies: Vec<Body>,
    pub(crate) joints: Vec<Joint>,
    pub(crate) couplings: Vec<Coupling>,
    /// Tells this model from others.
    pub(crate) identity: u64,
    pub(crate) params: Vec<ParamBlock>,
    /// First free coordinate of each joint among all of them.
    pub(crate) axis_starts: Vec<usize>,
    /// Joints that have free coordinates.
    pub(crate) free_joints: Vec<u32>,
    pub(crate) gravity: DVec3,
    pub(crate) wind: Wind,
    pub(crate) ground: Option<PenaltyGround>,
    pub(crate) collision: Collision,
}

/// Which joints have free coordinates.
fn free_joints(joints: &[Joint]) -> Vec<u32> {
    let free = (0u32..).zip(joints).filter(|(_, j)| !j.axes.is_empty());
    free.map(|(index, _)| index).collect()
}

impl Model {
    /// The bodies, in the order they were added.
    pub fn bodies(&self) -> &[Body] {
        &self.bodies
    }

    /// The joints, in the order they were added.
    pub fn joints(&self) -> &[Joint] {
        &self.joints
    }

    /// The couplings, in the order they were added.
    pub fn couplings(&self) -> &[Coupling] {
        &self.couplings
    }

    /// A number that tells models apart: equal for models that were built the same way. A
    /// step refuses the state, control or workspace of a model with another one.
    pub fn identity(&self) -> u64 {
        self.identity
    }

    /// Gravity, m/s².
    pub fn gravity(&self) -> DVec3 {
        self.gravity
    }

    /// The wind that drag acts against.
    pub fn wind(&self) -> &Wind {
        &self.wind
    }

    /// The penalty ground, if there is one.
    pub fn ground(&self) -> Option<&PenaltyGround> {
        self.ground.as_ref()
    }

    /// Constraint rows of all joints.
    pub fn rows(&self) -> usize {
        self.joints.iter().map(Joint::rows).sum()
    }

    /// Rows of the dual system: constraints, coordinates along which something acts, and
    /// couplings.
    pub fn dual_rows(&self) -> usize {
        let joints: usize = self.joints.iter().map(Joint::dual_rows).sum();
        joints + self.coupling_rows()
    }

    /// Mechanisms, single bodies included: what joints hold together.
    pub(crate) fn mechanisms(&self) -> usize {
        let mut sets = Union::default();
        sets.reset(self.bodies.len());
        for joint in &self.joints {
            if let (Some(a), Some(b)) = (joint.a.endpoint.index(), joint.b.endpoint.index()) {
                sets.join(a as u32, b as u32);
            }
        }
        let heads = sets.heads().iter().enumerate();
        heads
            .filter(|(body, head)| *body == **head as usize)
            .count()
    }

    /// Bodies whose energy is watched where they touch: all, if anything collides.
    pub(crate) fn lenders(&self) -> usize {
        match self.collision.colliders.is_empty() {
            true => 0,
            false => self.bodies.len(),
        }
    }

    /// Rows of all couplings.
    pub fn coupling_rows(&self) -> usize {
        self.couplings.iter().map(Coupling::rows).sum()
    }

    /// Free coordinates of all joints.
    pub fn coordinates(&self) -> usize {
        self.joints.iter().map(|joint| joint.axes.len()).sum()
    }

    /// One body.
    pub fn body(&self, id: BodyId) -> &Body {
        &self.bodies[id.index()]
    }

    /// One joint.
    pub fn joint(&self, id: JointId) -> &Joint {
        &self.joints[id.index()]
    }

    /// The ids of all bodies.
    pub fn body_ids(&self) -> impl ExactSizeIterator<Item = BodyId> + use<> {
        (0..self.bodies.len()).map(BodyId::new)
    }

    /// The ids of all joints.
    pub fn joint_ids(&self) -> impl ExactSizeIterator<Item = JointId> + use<> {
        (0..self.joints.len()).map(JointId::new)
    }

    /// The body of this name.
    pub fn find_body(&self, name: &str) -> Option<BodyId> {
        self.bodies
            .iter()
            .position(|b| b.name == name)
            .map(BodyId::new)
    }

    /// The joint of this name.
    pub fn find_joint(&self, name: &str) -> Option<JointId> {
        self.joints
            .iter()
            .position(|j| j.name == name)
            .map(JointId::new)
    }

    /// One coupling.
    pub fn coupling(&self, id: CouplingId) -> &Coupling {
        &self.couplings[id.index()]
    }

    /// The ids of all couplings.
    pub fn coupling_ids(&self) -> impl ExactSizeIterator<Item = CouplingId> + use<> {
        (0..self.couplings.len()).map(CouplingId::new)
    }

    /// The coupling of this name.
    pub fn find_coupling(&self, name: &str) -> Option<CouplingId> {
        self.couplings
            .iter()
            .position(|c| c.name == name)
            .map(CouplingId::new)
    }

    /// The mechanics of one body.
    pub fn affine(&self, id: BodyId) -> Affine {
        let (block, lane) = place(id.index());
        self.params[block].affine(lane)
    }

    /// Every body at its initial pose and velocity, at time zero.
    pub fn initial_state(&self) -> State {
        let mut state = State::at_rest(self);
        for id in self.body_ids() {
            let body = self.body(id);
            state.set_pose(self, id, body.initial_pose);
            state.set_twist(self, id, body.initial_twist);
        }
        state.measure_coordinates(self);
        state
    }
}
