//! A scene of one free body by the single affine bodies of the literature.

use glam::DVec3;
use vincula::math::{small, to_vec};
use vincula::model::{Damping, Drag, Wrench};
use vincula::prelude::*;
use vincula_classic::corotated::Corotated;
use vincula_classic::single::{PointForce, SingleBody};
use vincula_classic::vanilla_abd::step_vanilla;
use vincula_scenes::{Scene, View};

use crate::args::Method;
use crate::engine::Advance;
use crate::fault::Fault;

/// One affine body without joints.
pub struct SingleEngine {
    body: SingleBody,
    matrix: Corotated,
    id: BodyId,
    method: Method,
    time: f64,
    /// The same motion as the engine's state; set by `view`.
    state: State,
}

impl SingleEngine {
    /// Takes the only body of a scene, if it has only one and no joint.
    pub fn new(scene: &Scene, method: Method) -> Result<SingleEngine, Fault> {
        let refuse = |why: &str| {
            Fault::Request(format!(
                "--method {} takes one body without joints; scene '{}' {why}: run it with \
                 --method affine",
                method.name(),
                scene.name
            ))
        };
        let model = &scene.model;
        let (Some(id), 1) = (model.body_ids().next(), model.bodies().len()) else {
            return Err(refuse(&format!("has {} bodies", model.bodies().len())));
        };
        if let Some(joint) = model.joints().first() {
            return Err(refuse(&format!("has the joint '{}'", joint.name)));
        }
        let body = model.body(id);
        let plain = body.damping == Damping::default() && body.drag == Drag::default();
        if !plain || scene.is_driven() {
            return Err(refuse("has damping, drag or a drive"));
        }
        if !model.colliders().is_empty() {
            return Err(refuse("has contacts"));
        }
        let body = start(scene, id);
        let matrix =
            Corotated::new(&body, scene.h).map_err(|error| Fault::Request(error.to_string()))?;
        Ok(SingleEngine {
            body,
            matrix,
            id,
            method,
            time: 0.0,
            state: scene.state.clone(),
        })
    }

    /// Back to the initial state.
    pub fn reset(&mut self, scene: &Scene) {
        self.body = start(scene, self.id);
        self.state = scene.state.clone();
        self.time = 0.0;
    }

    /// One step of the method.
    pub fn advance(&mut self, scene: &Scene) -> Result<Advance, String> {
        let law = |body: &SingleBody| force(scene, self.id, body);
        let body = &mut self.body;
        let done = match self.method {
            Method::VanillaAbd => step_vanilla(body, &law, scene.h),
            Method::CorotatedNormalised => self.matrix.step_normalised(body, &law).map(|()| 1),
            _ => self.matrix.step_polar(body, &law).map(|()| 1),
        };
        let iterations = done.map_err(|error| format!("{error} (at t = {} s)", self.time))?;
        self.time += scene.h;
        Ok(Advance {
            iterations,
            converged: true,
            residual: 0.0,
            ..Advance::default()
        })
    }

    /// The motion as the engine's state.
    pub fn view<'a>(&'a mut self, scene: &'a Scene) -> View<'a> {
        let model = &scene.model;
        let pose = shape_pose(scene, self.id, &self.body);
        self.state.set_pose(model, self.id, pose);
        self.state.set_twist(model, self.id, self.body.twist());
        self.state.time = self.time;
        View {
            model,
            state: &self.state,
            pivot_force: None,
        }
    }

    /// Name of the time integrator.
    pub fn integrator(&self) -> &'static str {
        match self.method {
            Method::VanillaAbd => "implicit-euler",
            _ => "linear-euler",
        }
    }
}

/// The body of a scene at its start.
fn start(scene: &Scene, id: BodyId) -> SingleBody {
    let body = scene.model.body(id);
    let pose = scene
        .state
        .pose(&scene.model, id)
        .compose(&body.principal());
    SingleBody::new(
        scene.model.affine(id),
        pose,
        scene.state.twist(&scene.model, id),
    )
}

fn shape_pose(scene: &Scene, id: BodyId, body: &SingleBody) -> Pose {
    body.pose()
        .compose(&scene.model.body(id).principal().inverse())
}

/// Weight, and the floor's force where it acts.
fn force(scene: &Scene, id: BodyId, body: &SingleBody) -> PointForce {
    let model = &scene.model;
    let def = model.body(id);
    let weight = model.gravity() * (def.mass.mass * def.gravity_scale);
    let mut push = Wrench::ZERO;
    if let (Some(ground), Some(shape)) = (model.ground(), &def.shape) {
        let pose = shape_pose(scene, id, body);
        push = ground.wrench(shape, &pose, to_vec(&body.t), &body.twist());
    }
    // The point at which the force has the torque: f × τ / f².
    let arm = push.force.cross(push.torque) / push.force.length_squared().max(f64::MIN_POSITIVE);
    let arm: DVec3 = if arm.is_finite() { arm } else { DVec3::ZERO };
    PointForce {
        central: weight.to_array(),
        force: push.force.to_array(),
        point: small::tmul_vec(&body.a(), &arm.to_array()),
    }
}
