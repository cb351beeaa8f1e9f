//! Putting a model together.

use std::collections::HashSet;

use glam::{DQuat, DVec3};

use super::collision::{Collision, CollisionDef};
use super::identity::identity;
use super::{
    Body, BodyId, ColliderId, CouplingId, FrameId, JointId, Model, ModelError, ParamBlock, Pose,
    Twist, free_joints,
};
use crate::body::mass::{MassError, MassProperties};
use crate::body::material::Material;
use crate::body::shape::Shape;
use crate::contact::{ColliderDef, Surface};
use crate::force::ground::PenaltyGround;
use crate::force::wind::Wind;
use crate::joint::{Coupling, CouplingDef, Joint, JointDef, expand};
use crate::math::lanes::{LANES, place};

/// Exponential decay of velocity.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Damping {
    /// Decay rate of the linear velocity, 1/s.
    pub linear: f64,
    /// Decay rate of the angular velocity, 1/s.
    pub angular: f64,
}

/// Resistance of the air, relative to the wind.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Drag {
    /// Force per velocity, N s/m.
    pub linear: f64,
    /// Force per velocity squared, N s²/m².
    pub quadratic: f64,
    /// Torque per angular velocity, N m s.
    pub angular: f64,
}

/// A body to be added to a model.
#[derive(Clone, Debug)]
pub struct BodyDef {
    name: String,
    shape: Option<Shape>,
    mass: Result<MassProperties, MassError>,
    material: Material,
    damping: Damping,
    drag: Drag,
    gravity_scale: f64,
    pose: Pose,
    twist: Twist,
    surface: Option<Surface>,
}

impl BodyDef {
    /// A solid of uniform density, kg/m³.
    pub fn new(name: impl Into<String>, shape: Shape, density: f64) -> Self {
        let mass = MassProperties::from_shape(&shape, density);
        BodyDef {
            shape: Some(shape),
            ..BodyDef::blank(name, mass)
        }
    }

    /// A body of given mass properties, with no shape.
    pub fn with_mass_properties(name: impl Into<String>, mass: MassProperties) -> Self {
        BodyDef::blank(name, Ok(mass))
    }

    fn blank(name: impl Into<String>, mass: Result<MassProperties, MassError>) -> Self {
        BodyDef {
            name: name.into(),
            shape: None,
            mass,
            material: Material::default(),
            damping: Damping::default(),
            drag: Drag::default(),
            gravity_scale: 1.0,
            pose: Pose::IDENTITY,
            twist: Twist::default(),
            surface: None,
        }
    }

    /// Lets the body collide with its own shape; the collider has the body's name.
    pub fn colliding(mut self, surface: Surface) -> Self {
        self.surface = Some(surface);
        self
    }

    /// Rescales to a total mass, kg.
    pub fn mass(mut self, mass: f64) -> Self {
        self.mass = self.mass.and_then(|m| m.with_mass(mass));
        self
    }

    /// The shape to be drawn.
    pub fn shape(mut self, shape: Shape) -> Self {
        self.shape = Some(shape);
        self
    }

    /// The elastic material.
    pub fn material(mut self, material: Material) -> Self {
        self.material = material;
        self
    }

    /// Exponential damping.
    pub fn damping(mut self, damping: Damping) -> Self {
        self.damping = damping;
        self
    }

    /// Drag against the wind.
    pub fn drag(mut self, drag: Drag) -> Self {
        self.drag = drag;
        self
    }

    /// Fraction of gravity that acts.
    pub fn gravity_scale(mut self, scale: f64) -> Self {
        self.gravity_scale = scale;
        self
    }

    /// Initial position of the shape frame, m.
    pub fn at(mut self, translation: DVec3) -> Self {
        self.pose.translation = translation;
        self
    }

    /// Initial orientation of the shape frame.
    pub fn turned(mut self, rotation: DQuat) -> Self {
        self.pose.rotation = rotation;
        self
    }

    /// Initial velocity of the centre of mass, m/s, and angular velocity, rad/s, both in the world.
    pub fn moving(mut self, linear: DVec3, angular: DVec3) -> Self {
        self.twist = Twist { linear, angular };
        self
    }

    pub(crate) fn build(self) -> Result<Body, ModelError> {
        let name = self.name;
        let wrong = |reason: String| ModelError::Body {
            body: name.clone(),
            reason,
        };
        let mass = match self.mass.and_then(|mass| mass.check().map(|()| mass)) {
            Ok(mass) => mass,
            Err(source) => return Err(ModelError::Mass { body: name, source }),
        };
        if let Some(reason) = self.material.fault() {
            return Err(wrong(reason));
        }
        if !self.pose.is_finite() || (self.pose.rotation.length() - 1.0).abs() > 1e-6 {
            return Err(wrong(
                "the pose must be finite and its quaternion of unit length".into(),
            ));
        }
        if !(self.twist.linear.is_finite() && self.twist.angular.is_finite()) {
            return Err(wrong("the initial velocity must be finite".into()));
        }
        let rates = [
            ("linear damping", self.damping.linear),
            ("angular damping", self.damping.angular),
            ("linear drag", self.drag.linear),
            ("quadratic drag", self.drag.quadratic),
            ("angular drag", self.drag.angular),
        ];
        if let Some((what, value)) = rates.iter().find(|(_, x)| !(*x >= 0.0 && x.is_finite())) {
            return Err(wrong(format!(
                "{what} is {value}; it must be finite and not negative"
            )));
        }
        if self.surface.is_some() && self.shape.is_none() {
            return Err(wrong("it has no shape to collide with; give it one".into()));
        }
        if !self.gravity_scale.is_finite() {
            return Err(wrong("the gravity scale must be finite".into()));
        }
        Ok(Body {
            shape: self.shape,
            mass,
            material: self.material,
            damping: self.damping,
            drag: self.drag,
            gravity_scale: self.gravity_scale,
            initial_pose: Pose {
                rotation: self.pose.rotation.normalize(),
                ..self.pose
            },
            initial_twist: self.twist,
            name,
        })
    }
}

/// Collects bodies and joints; `build` checks everything at once.
#[derive(Clone, Debug)]
pub struct ModelBuilder {
    bodies: Vec<BodyDef>,
    joints: Vec<JointDef>,
    couplings: Vec<CouplingDef>,
    gravity: DVec3,
    wind: Wind,
    ground: Option<PenaltyGround>,
    collision: CollisionDef,
}

impl Default for ModelBuilder {
    fn default() -> Self {
        ModelBuilder::new()
    }
}

impl ModelBuilder {
    /// An empty world with gravity of 9.81 m/s² downwards and no wind.
    pub fn new() -> Self {
        ModelBuilder {
            bodies: Vec::new(),
            joints: Vec::new(),
            couplings: Vec::new(),
            gravity: DVec3::new(0.0, 0.0, -9.81),
            wind: Wind::default(),
            ground: None,
            collision: CollisionDef::default(),
        }
    }

    /// Gravity, m/s².
    pub fn gravity(&mut self, gravity: DVec3) -> &mut Self {
        self.gravity = gravity;
        self
    }

    /// The wind that drag acts against.
    pub fn wind(&mut self, wind: Wind) -> &mut Self {
        self.wind = wind;
        self
    }

    /// A compliant ground plane.
    pub fn ground(&mut self, ground: PenaltyGround) -> &mut Self {
        self.ground = Some(ground);
        self
    }

    /// Adds a body.
    pub fn body(&mut self, body: BodyDef) -> BodyId {
        let id = BodyId::new(self.bodies.len());
        if let (Some(surface), Some(shape)) = (body.surface, &body.shape) {
            self.collider(ColliderDef::new(&body.name, id, shape.clone()).surface(surface));
        }
        self.bodies.push(body);
        id
    }

    /// Adds a collider.
    pub fn collider(&mut self, collider: ColliderDef) -> ColliderId {
        self.collision.colliders.push(collider);
        ColliderId::new(self.collision.colliders.len() - 1)
    }

    /// Adds a frame that the user moves through `Control`, at its initial pose.
    pub fn frame(&mut self, name: impl Into<String>, pose: Pose) -> FrameId {
        self.collision.frames.push((name.into(), pose));
        FrameId::new(self.collision.frames.len() - 1)
    }

    /// Lets two bodies collide although a joint ties them together.
    pub fn collide(&mut self, a: BodyId, b: BodyId) -> &mut Self {
        self.collision.rules.push((a, b, true));
        self
    }

    /// Lets two bodies pass through each other.
    pub fn ignore(&mut self, a: BodyId, b: BodyId) -> &mut Self {
        self.collision.rules.push((a, b, false));
        self
    }

    /// Adds a joint.
    pub fn joint(&mut self, joint: JointDef) -> JointId {
        let id = JointId::new(self.joints.len());
        if let Some((name, lead)) = joint.thread() {
            self.couplings.push(CouplingDef::screw(name, id, lead));
        }
        self.joints.push(joint);
        id
    }

    /// Adds a coupling between joints, or between the velocities of bodies.
    pub fn coupling(&mut self, coupling: CouplingDef) -> CouplingId {
        self.couplings.push(coupling);
        CouplingId::new(self.couplings.len() - 1)
    }

    /// Checks everything and makes the model.
    pub fn build(self) -> Result<Model, ModelError> {
        if !self.gravity.is_finite() {
            return Err(ModelError::World {
                what: "gravity",
                reason: "it must be finite".into(),
            });
        }
        self.wind.check()?;
        if let Some(ground) = &self.ground {
            ground.check()?;
        }
        let mut bodies = self
            .bodies
            .into_iter()
            .map(BodyDef::build)
            .collect::<Result<Vec<_>, _>>()?;
        let joints = expand(self.joints, &mut bodies)?;
        unique("body", bodies.iter().map(|b| b.name.as_str()))?;
        let joints = joints
            .into_iter()
            .map(|def| Joint::build(def, &bodies))
            .collect::<Result<Vec<_>, _>>()?;
        unique("joint", joints.iter().map(|j| j.name.as_str()))?;
        let measured: Vec<bool> = self.couplings.iter().map(Coupling::measures).collect();
        let couplings = self
            .couplings
            .into_iter()
            .map(|def| Coupling::build(def, &joints, &bodies))
            .collect::<Result<Vec<_>, _>>()?;
        unique("coupling", couplings.iter().map(|c| c.name.as_str()))?;
        let mut params = vec![ParamBlock::EMPTY; bodies.len().div_ceil(LANES)];
        for (index, body) in bodies.iter().enumerate() {
            let (block, lane) = place(index);
            params[block].set(lane, &body.material.affine(&body.mass));
        }
        let axis_starts = joints
            .iter()
            .scan(0, |next, joint: &Joint| {
                let start = *next;
                *next += joint.axes.len();
                Some(start)
            })
            .collect();
        let collision = Collision::build(self.collision, &bodies, &joints)?;
        unique("frame", collision.frames.iter().map(|f| f.name.as_str()))?;
        unique(
            "collider",
            collision.colliders.iter().map(|c| c.name.as_str()),
        )?;
        let mut model = Model {
            collision,
            bodies,
            couplings,
            identity: 0,
            axis_starts,
            free_joints: free_joints(&joints),
            joints,
            params,
            gravity: self.gravity,
            wind: self.wind,
            ground: self.ground,
        };
        model.measure_couplings(&measured);
        model.identity = identity(&model);
        Ok(model)
    }
}

fn unique<'a>(kind: &'static str, names: impl Iterator<Item = &'a str>) -> Result<(), ModelError> {
    let mut seen = HashSet::new();
    for name in names {
        if !seen.insert(name) {
            return Err(ModelError::DuplicateName {
                kind,
                name: name.to_owned(),
            });
        }
    }
    Ok(())
}
