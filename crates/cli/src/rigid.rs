//! A scene of one body, free or on a pivot, by the rigid baselines.
//!
//! The baseline moves six coordinates; after each step the affine state is set from them
//! where somebody looks, so that probes and records need not know the difference.

use std::cell::Cell;

use glam::{DQuat, DVec3};
use vincula::body::rigid::{
    Pivot, RigidBody, RigidError, Wrench, pivot_reaction, step_implicit, step_implicit_pivoted,
    step_runge_kutta, step_runge_kutta_pivoted, step_symplectic, step_symplectic_pivoted,
};
use vincula::body::shape::Shape;
use vincula::joint::JointKind;
use vincula::model::{Damping, Drag};
use vincula::prelude::*;
use vincula_scenes::{Scene, View};

use crate::args::Method;
use crate::engine::Advance;
use crate::fault::Fault;

/// One rigid body.
pub struct RigidEngine {
    body: RigidBody,
    id: BodyId,
    pivot: Option<Pivot>,
    /// Mean force of the pivot over the last step, N.
    force: Option<DVec3>,
    /// Force of the pivot at the end of the last step, N, where the method knows it.
    force_now: DVec3,
    method: Method,
    time: f64,
    /// The same motion as the engine's state; set by `view`.
    state: State,
}

impl RigidEngine {
    /// Takes the only body of a scene, if it has only one and at most a ball joint to the
    /// world.
    pub fn new(scene: &Scene, method: Method) -> Result<RigidEngine, Fault> {
        let refuse = |why: &str| {
            Fault::Request(format!(
                "--method {} takes one body, free or on a pivot to the world; scene '{}' {why}: \
                 run it with --method affine",
                method.name(),
                scene.name
            ))
        };
        let model = &scene.model;
        let (Some(id), 1) = (model.body_ids().next(), model.bodies().len()) else {
            return Err(refuse(&format!("has {} bodies", model.bodies().len())));
        };
        let pivot = match model.joints() {
            [] => None,
            [joint] if joint.kind == JointKind::Ball => {
                let world_first = joint.a.endpoint.index().is_none();
                let (world, body) = if world_first {
                    (joint.a, joint.b)
                } else {
                    (joint.b, joint.a)
                };
                Some(Pivot {
                    anchor_body: DVec3::from_array(body.point),
                    anchor_world: DVec3::from_array(world.point),
                })
            }
            [joint] => return Err(refuse(&format!("has a {} joint", joint.kind.name()))),
            joints => return Err(refuse(&format!("has {} joints", joints.len()))),
        };
        let body = model.body(id);
        let plain = body.damping == Damping::default() && body.drag == Drag::default();
        if !plain || scene.is_driven() {
            return Err(refuse("has damping, drag or a drive"));
        }
        if !model.colliders().is_empty() {
            return Err(refuse("has contacts"));
        }
        let mut engine = RigidEngine {
            body: RigidBody::at_rest(body.mass.mass, body.mass.inertia()),
            id,
            pivot,
            force: None,
            force_now: DVec3::ZERO,
            method,
            time: 0.0,
            state: scene.state.clone(),
        };
        engine.reset(scene);
        Ok(engine)
    }

    /// Back to the initial state.
    pub fn reset(&mut self, scene: &Scene) {
        self.state = scene.state.clone();
        let twist = self.state.twist(&scene.model, self.id);
        let pose = self.state.pose(&scene.model, self.id);
        self.body.x = self.state.center(self.id);
        self.body.q = (pose.rotation * scene.model.body(self.id).mass.axes).normalize();
        self.body.v = twist.linear;
        self.body.omega = twist.angular;
        self.time = 0.0;
        self.force = None;
        self.force_now = self.pivot.map_or(DVec3::ZERO, |pivot| {
            let wrench = ForceLaw::new(scene, self.id).wrench(&self.body);
            pivot_reaction(&self.body, &pivot, &wrench).unwrap_or(DVec3::NAN)
        });
    }

    /// One step of the baseline.
    pub fn advance(&mut self, scene: &Scene) -> Result<Advance, String> {
        let evaluations = Cell::new(0);
        let law = ForceLaw::new(scene, self.id);
        let law = |body: &RigidBody, _: f64| {
            evaluations.set(evaluations.get() + 1);
            law.wrench(body)
        };
        let (t, h) = (self.time, scene.h);
        let told = |error: RigidError| format!("{error} (at t = {t} s)");
        let body = &mut self.body;
        match &self.pivot {
            None => match self.method {
                Method::RigidSymplectic => step_symplectic(body, &law, t, h),
                Method::RigidImplicit => step_implicit(body, &law, t, h),
                _ => step_runge_kutta(body, &law, t, h),
            }
            .map_err(told)?,
            Some(pivot) => {
                let force = match self.method {
                    Method::RigidSymplectic => step_symplectic_pivoted(body, pivot, &law, t, h),
                    Method::RigidImplicit => step_implicit_pivoted(body, pivot, &law, t, h),
                    _ => step_runge_kutta_pivoted(body, pivot, &law, t, h),
                };
                let force = force.map_err(told)?;
                // Runge–Kutta tells the force at the end of the step, the others its mean.
                let instant = self.method == Method::RigidRk4;
                self.force = Some(if instant {
                    0.5 * (self.force_now + force)
                } else {
                    force
                });
                self.force_now = force;
            }
        }
        self.time += h;
        let residual = self
            .pivot
            .map_or(0.0, |pivot| pivot.gap(&self.body).length());
        Ok(Advance {
            iterations: evaluations.get(),
            converged: true,
            residual,
            ..Advance::default()
        })
    }

    /// The motion as the engine's state.
    pub fn view<'a>(&'a mut self, scene: &'a Scene) -> View<'a> {
        let model = &scene.model;
        let pose = shape_pose(
            &self.body,
            model.body(self.id).mass.center,
            model.body(self.id).mass.axes,
        );
        self.state.set_pose(model, self.id, pose);
        self.state.set_twist(
            model,
            self.id,
            Twist {
                linear: self.body.v,
                angular: self.body.omega,
            },
        );
        self.state.time = self.time;
        View {
            model,
            state: &self.state,
            pivot_force: self.force,
        }
    }

    /// Name of the time integrator.
    pub fn integrator(&self) -> &'static str {
        match self.method {
            Method::RigidSymplectic => "symplectic-euler",
            Method::RigidImplicit => "implicit-euler",
            _ => "runge-kutta-4",
        }
    }

    /// How the pivot is held.
    pub fn plan(&self) -> &'static str {
        match self.pivot {
            None => "no joints to solve",
            Some(_) => "the pivot is eliminated: three coordinates",
        }
    }
}

/// Pose of the shape frame of a rigid body whose mass has this centre and these axes.
fn shape_pose(body: &RigidBody, center: DVec3, axes: DQuat) -> Pose {
    let rotation = (body.q * axes.inverse()).normalize();
    Pose {
        translation: body.x - rotation * center,
        rotation,
    }
}

/// Weight and floor.
struct ForceLaw<'a> {
    weight: Wrench,
    scene: &'a Scene,
    shape: Option<&'a Shape>,
    center: DVec3,
    axes: DQuat,
}

impl<'a> ForceLaw<'a> {
    #[inline]
    fn new(scene: &'a Scene, id: BodyId) -> ForceLaw<'a> {
        let body = scene.model.body(id);
        ForceLaw {
            weight: Wrench::weight(body.mass.mass * body.gravity_scale, scene.model.gravity()),
            scene,
            shape: scene.model.ground().and(body.shape.as_ref()),
            center: body.mass.center,
            axes: body.mass.axes,
        }
    }

    #[inline]
    fn wrench(&self, body: &RigidBody) -> Wrench {
        let mut total = self.weight;
        if let (Some(ground), Some(shape)) = (self.scene.model.ground(), self.shape) {
            let pose = shape_pose(body, self.center, self.axes);
            let twist = Twist {
                linear: body.v,
                angular: body.omega,
            };
            let push = ground.wrench(shape, &pose, body.x, &twist);
            total.force += push.force;
            total.torque += push.torque;
        }
        total
    }
}
