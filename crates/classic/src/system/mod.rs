//! The rigid system that the classic methods share.
//!
//! Bodies have six coordinates, a position and a unit quaternion, and obey
//!
//! ```text
//! M u̇ = f + Jᵀ λ,    M = diag(m 1, R I Rᵀ),    u = (v, ω)
//! ```
//!
//! with the gyroscopic torque −ω × (R I Rᵀ ω) counted among the forces f. The constraints
//! are the joints of a [`Model`]; their rows are in `rows.rs`, forces in `forces.rs`, and
//! what a method promises in `method.rs`.

pub mod forces;
pub mod method;
pub mod rows;

use glam::{DMat3, DQuat, DVec3};
use vincula::body::rigid::RigidBody;
use vincula::diagnostics::{Energy, Momentum};
use vincula::joint::{Joint, MAX_ROWS};
use vincula::model::{BodyId, Endpoint, Model, Pose, State, Twist};

pub use method::{Method, MethodError, MethodReport, Refusal};
use rows::{Linear, Place, Six, Velocity, biases, linearize, pack, unpack, violations};

/// Rigid bodies and joints between them.
#[derive(Clone, Debug)]
pub struct System {
    /// The bodies of the model, in its order; a method may add parts of its own behind.
    pub bodies: Vec<RigidBody>,
    /// The joints of the model, in its order; a method may add its own behind, and may move
    /// an end from a body to a part of it (see [`System::ends`]).
    pub joints: Vec<Joint>,
    /// The two bodies of each joint; `None` is the world.
    pub ends: Vec<[Option<usize>; 2]>,
    /// Time, s.
    pub time: f64,
    /// Bodies of the model.
    model_bodies: usize,
    /// Joints of the model with springs or drives.
    acting: Vec<usize>,
}

impl System {
    /// The bodies and joints of a model at a state; strain of affine bodies is left out.
    pub fn new(model: &Model, state: &State) -> System {
        let bodies = model
            .body_ids()
            .map(|id| rigid_body(model, state, id))
            .collect::<Vec<_>>();
        let index = |end: Endpoint| end.index();
        let acts = |joint: &Joint| joint.axes.iter().any(|axis| !axis.law.is_idle());
        let joints = model.joints().iter().enumerate();
        let acting = joints.filter(|(_, joint)| acts(joint)).map(|(k, _)| k);
        System {
            model_bodies: bodies.len(),
            acting: acting.collect(),
            bodies,
            ends: model
                .joints()
                .iter()
                .map(|joint| [index(joint.a.endpoint), index(joint.b.endpoint)])
                .collect(),
            joints: model.joints().to_vec(),
            time: state.time,
        }
    }

    /// Takes the motion of a state, as at the start. Parts that a method added are not
    /// touched.
    pub fn read_state(&mut self, model: &Model, state: &State) {
        for id in model.body_ids() {
            self.bodies[id.index()] = rigid_body(model, state, id);
        }
        self.time = state.time;
    }

    /// Writes the motion to a state of the engine, so that probes and records can look at it.
    pub fn write_state(&self, model: &Model, state: &mut State) {
        for (id, body) in model.body_ids().zip(&self.bodies) {
            let rotation = (body.q * model.body(id).mass.axes.inverse()).normalize();
            let translation = body.x - rotation * model.body(id).mass.center;
            let pose = Pose {
                translation,
                rotation,
            };
            state.set_pose(model, id, pose);
            let twist = Twist {
                linear: body.v,
                angular: body.omega,
            };
            state.set_twist(model, id, twist);
        }
        state.time = self.time;
        state.measure_coordinates(model);
    }

    /// The joints along whose free coordinates something acts.
    pub fn acting(&self) -> &[usize] {
        &self.acting
    }

    /// Number of bodies that the model has.
    pub fn model_bodies(&self) -> usize {
        self.model_bodies
    }

    /// Rows of all joints.
    pub fn rows(&self) -> usize {
        self.joints.iter().map(Joint::rows).sum()
    }

    /// Where a body, or the world, is.
    #[inline]
    pub fn place(&self, body: Option<usize>) -> Place {
        body.map_or(Place::WORLD, |index| place_of(&self.bodies[index]))
    }

    /// How a body, or the world, moves.
    #[inline]
    pub fn velocity(&self, body: Option<usize>) -> Velocity {
        body.map_or(Velocity::default(), |index| Velocity {
            v: self.bodies[index].v,
            omega: self.bodies[index].omega,
        })
    }

    /// Violations and Jacobian of a joint.
    #[inline]
    pub fn linearize(&self, joint: usize, out: &mut Linear) {
        let [a, b] = self.ends[joint];
        linearize(&self.joints[joint], &self.place(a), &self.place(b), out);
    }

    /// The biases J̇ v of a joint, m/s².
    #[inline]
    pub fn biases(&self, joint: usize) -> [f64; MAX_ROWS] {
        let [a, b] = self.ends[joint];
        let mut out = [0.0; MAX_ROWS];
        let places = [&self.place(a), &self.place(b)];
        let rates = [&self.velocity(a), &self.velocity(b)];
        biases(&self.joints[joint], places, rates, &mut out);
        out
    }

    /// Violations of a joint, m.
    pub fn violations(&self, joint: usize) -> [f64; MAX_ROWS] {
        let [a, b] = self.ends[joint];
        let mut out = [0.0; MAX_ROWS];
        let joint = &self.joints[joint];
        violations(joint, &self.place(a), &self.place(b), &mut out);
        out
    }

    /// Largest violation of any row, m, and its joint.
    pub fn worst_violation(&self) -> (f64, Option<usize>) {
        let mut worst = (0.0, None);
        for joint in 0..self.joints.len() {
            for value in self.violations(joint) {
                if value.abs() > worst.0 || value.is_nan() {
                    worst = (value.abs(), Some(joint));
                }
            }
        }
        worst
    }

    /// Largest rate Ċ of any row, m/s.
    pub fn worst_rate(&self) -> f64 {
        let mut linear = Linear::EMPTY;
        let mut worst = 0.0f64;
        for joint in 0..self.joints.len() {
            self.linearize(joint, &mut linear);
            let [a, b] = self.ends[joint].map(|body| self.velocity(body));
            for row in 0..linear.rows {
                worst = worst.max(linear.rate(row, &a, &b).abs());
            }
        }
        worst
    }

    /// Kinetic energy and energy in gravity; springs and ground are the engine's to count.
    pub fn energy(&self, model: &Model) -> Energy {
        let mut total = Energy::default();
        for (body, def) in self.bodies.iter().zip(model.bodies()) {
            total.kinetic += body.kinetic_energy();
            let weight = body.mass * def.gravity_scale;
            total.potential -= weight * model.gravity().dot(body.x);
        }
        total
    }

    /// Momentum of all bodies, and angular momentum about the origin.
    pub fn momentum(&self) -> Momentum {
        let mut total = Momentum::default();
        for body in &self.bodies {
            total.linear += body.linear_momentum();
            total.angular += body.angular_momentum_origin();
        }
        total
    }

    /// An error that names the first body whose motion is not finite.
    pub fn check_finite(&self, model: &Model) -> Result<(), MethodError> {
        match self.not_finite() {
            None => Ok(()),
            Some(body) => Err(MethodError::NotFinite {
                body: model.bodies()[body.min(model.bodies().len() - 1)]
                    .name
                    .clone(),
            }),
        }
    }

    /// The first body whose motion is not finite.
    pub fn not_finite(&self) -> Option<usize> {
        self.bodies.iter().position(|b| {
            let sum = b.x + b.v + b.omega;
            !(sum.element_sum() + b.q.length_squared()).is_finite()
        })
    }
}

/// Where a body is.
#[inline]
pub fn place_of(body: &RigidBody) -> Place {
    Place {
        x: body.x,
        r: DMat3::from_quat(body.q),
    }
}

/// `M⁻¹ f` for a body with this rotation.
#[inline]
pub fn apply_inverse_mass(body: &RigidBody, r: &DMat3, force: &Six) -> Six {
    let [f, torque] = unpack(force);
    let angular = *r * (r.mul_transpose_vec3(torque) / body.inertia);
    pack(f / body.mass, angular)
}

/// Turns a body by ω t and moves it by v t.
#[inline]
pub fn drift(body: &mut RigidBody, v: DVec3, omega: DVec3, t: f64) {
    body.x += v * t;
    body.q = (DQuat::from_scaled_axis(omega * t) * body.q).normalize();
}

fn rigid_body(model: &Model, state: &State, id: BodyId) -> RigidBody {
    let mass = &model.body(id).mass;
    let pose = state.pose(model, id);
    let twist = state.twist(model, id);
    RigidBody {
        mass: mass.mass,
        inertia: mass.inertia(),
        x: state.center(id),
        q: (pose.rotation * mass.axes).normalize(),
        v: twist.linear,
        omega: twist.angular,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vincula::prelude::*;

    fn chain() -> Model {
        let mut builder = ModelBuilder::new();
        let shape = Shape::Box {
            half_extents: DVec3::new(0.5, 0.1, 0.2),
        };
        let a = builder.body(
            BodyDef::new("a", shape.clone(), 500.0)
                .at(DVec3::X * 0.5)
                .moving(DVec3::Y, DVec3::new(1.0, 2.0, 3.0)),
        );
        let b = builder.body(BodyDef::new("b", shape, 500.0).at(DVec3::X * 1.5));
        builder.joint(JointDef::hinge("first", World, a, DVec3::ZERO, DVec3::Z));
        builder.joint(JointDef::ball("second", a, b, DVec3::X));
        builder.build().expect("a chain")
    }

    #[test]
    fn a_state_goes_in_and_comes_out_again() {
        let model = chain();
        let state = model.initial_state();
        let system = System::new(&model, &state);
        let mut back = State::at_rest(&model);
        system.write_state(&model, &mut back);
        for id in model.body_ids() {
            let (p, q) = (state.pose(&model, id), back.pose(&model, id));
            assert!((p.translation - q.translation).length() < 1e-14);
            assert!(p.rotation.dot(q.rotation).abs() > 1.0 - 1e-14);
            let (s, t) = (state.twist(&model, id), back.twist(&model, id));
            assert!((s.linear - t.linear).length() < 1e-14);
            assert!((s.angular - t.angular).length() < 1e-13);
        }
    }

    #[test]
    fn energy_and_momentum_agree_with_the_engine() {
        let model = chain();
        let state = model.initial_state();
        let system = System::new(&model, &state);
        let (ours, theirs) = (
            system.energy(&model),
            vincula::diagnostics::energy(&model, &state),
        );
        assert!((ours.total() - theirs.total()).abs() < 1e-10 * theirs.total().abs());
        let theirs = vincula::diagnostics::momentum(&model, &state);
        assert!((system.momentum().angular - theirs.angular).length() < 1e-10);
        assert!((system.momentum().linear - theirs.linear).length() < 1e-10);
    }

    #[test]
    fn joints_hold_at_the_start_and_rates_see_the_motion() {
        let model = chain();
        let system = System::new(&model, &model.initial_state());
        assert!(system.worst_violation().0 < 1e-15);
        assert!(system.worst_rate() > 0.1, "the chain starts torn");
        assert_eq!(system.rows(), 8);
    }
}
