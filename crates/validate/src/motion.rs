//! Running a scene by any method, affine or rigid, through the same eyes.
//!
//! A rigid body is advanced by itself and its pose is written into the state of the scene, so
//! that a probe reads all methods alike.

use std::error::Error;

use vincula::body::rigid::{
    self, Pivot, RigidBody, step_implicit, step_implicit_pivoted, step_runge_kutta,
    step_runge_kutta_pivoted,
};
use vincula::model::{Pose, Twist};
use vincula::prelude::*;
use vincula_scenes::{Probe, Scene, View};

/// What a chore returns: the errors of all layers go to the terminal as they are.
pub type Outcome<T> = Result<T, Box<dyn Error>>;

/// How a scene is advanced.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Method {
    /// The engine's own step.
    Affine(Integrator),
    /// Implicit Euler on six coordinates.
    RigidImplicit,
    /// Fourth-order Runge–Kutta on six coordinates.
    RungeKutta,
}

impl Method {
    /// The name for tables and legends.
    pub fn name(self) -> &'static str {
        match self {
            Method::Affine(integrator) => integrator.name(),
            Method::RigidImplicit => "implicit rigid",
            Method::RungeKutta => "Runge–Kutta",
        }
    }
}

impl From<Integrator> for Method {
    fn from(integrator: Integrator) -> Method {
        Method::Affine(integrator)
    }
}

/// A method with its step length and how long it runs.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    /// The method.
    pub method: Method,
    /// Step length, s.
    pub h: f64,
    /// Time to simulate, s.
    pub duration: f64,
    /// Only every so many steps are looked at.
    pub every: usize,
}

impl Run {
    /// A run in which every step is looked at.
    pub fn new(method: impl Into<Method>, h: f64, duration: f64) -> Run {
        Run {
            method: method.into(),
            h,
            duration,
            every: 1,
        }
    }

    /// The converged rigid motion, looked at every `interval` seconds.
    pub fn reference(duration: f64, interval: f64) -> Run {
        let h = 1e-5;
        let every = (interval / h).round().max(1.0) as usize;
        Run {
            method: Method::RungeKutta,
            h,
            duration,
            every,
        }
    }

    /// The same run, looked at about `points` times: a picture needs no more.
    pub fn thinned(mut self, points: usize) -> Run {
        self.every = (self.steps() / points).max(1);
        self
    }

    fn steps(&self) -> usize {
        (self.duration / self.h).round().max(1.0) as usize
    }
}

/// Advances the scene from its start and shows the states to `watch`, the first included.
pub fn watch(scene: &Scene, run: Run, watch: impl FnMut(&View)) -> Outcome<()> {
    match run.method {
        Method::Affine(integrator) => watch_affine(scene, run, integrator, watch),
        _ => watch_rigid(scene, run, watch),
    }
}

fn watch_affine(
    scene: &Scene,
    run: Run,
    integrator: Integrator,
    mut watch: impl FnMut(&View),
) -> Outcome<()> {
    let model = &scene.model;
    let mut state = scene.state.clone();
    let mut control = Control::new(model);
    let mut work = Workspace::new(model, Settings::with_integrator(integrator));
    watch(&View {
        model,
        state: &state,
        pivot_force: None,
    });
    for index in 1..=run.steps() {
        scene.control(&state, &mut control);
        step(model, &mut state, &control, &mut work, run.h)?;
        if index % run.every == 0 {
            watch(&View {
                model,
                state: &state,
                pivot_force: None,
            });
        }
    }
    Ok(())
}

fn watch_rigid(scene: &Scene, run: Run, mut watch: impl FnMut(&View)) -> Outcome<()> {
    let model = &scene.model;
    let mut state = scene.state.clone();
    let id = model.body_ids().next().ok_or("the scene has no body")?;
    let mut body = rigid_body(model, &state, id);
    let pivot = pivot_of(model, &body);
    watch(&View {
        model,
        state: &state,
        pivot_force: None,
    });
    for index in 1..=run.steps() {
        let t = (index - 1) as f64 * run.h;
        let force = advance(
            &mut body,
            pivot.as_ref(),
            model.gravity(),
            run.method,
            t,
            run.h,
        )?;
        if index % run.every == 0 {
            place(&mut state, model, id, &body);
            state.time = index as f64 * run.h;
            watch(&View {
                model,
                state: &state,
                pivot_force: force,
            });
        }
    }
    Ok(())
}

fn advance(
    body: &mut RigidBody,
    pivot: Option<&Pivot>,
    gravity: DVec3,
    method: Method,
    t: f64,
    h: f64,
) -> Outcome<Option<DVec3>> {
    let weight = rigid::Wrench::weight(body.mass, gravity);
    let law = |_: &RigidBody, _: f64| weight;
    let Some(pivot) = pivot else {
        match method {
            Method::RigidImplicit => step_implicit(body, &law, t, h)?,
            _ => step_runge_kutta(body, &law, t, h)?,
        }
        return Ok(None);
    };
    let force = match method {
        Method::RigidImplicit => step_implicit_pivoted(body, pivot, &law, t, h)?,
        _ => step_runge_kutta_pivoted(body, pivot, &law, t, h)?,
    };
    Ok(Some(force))
}

/// The only pivot of these scenes holds the origin of the world.
fn pivot_of(model: &Model, body: &RigidBody) -> Option<Pivot> {
    model.joints().first()?;
    let anchor_body = body.q.inverse() * (DVec3::ZERO - body.x);
    Some(Pivot {
        anchor_body,
        anchor_world: DVec3::ZERO,
    })
}

/// A body of a state as a rigid one, in its principal frame.
pub fn rigid_body(model: &Model, state: &State, id: BodyId) -> RigidBody {
    let mass = &model.body(id).mass;
    let twist = state.twist(model, id);
    RigidBody {
        mass: mass.mass,
        inertia: mass.inertia(),
        x: state.center(id),
        q: principal_orientation(model, state, id),
        v: twist.linear,
        omega: twist.angular,
    }
}

/// Orientation of the principal frame of a body.
pub fn principal_orientation(model: &Model, state: &State, id: BodyId) -> DQuat {
    (state.pose(model, id).rotation * model.body(id).mass.axes).normalize()
}

fn place(state: &mut State, model: &Model, id: BodyId, body: &RigidBody) {
    let mass = &model.body(id).mass;
    let rotation = (body.q * mass.axes.inverse()).normalize();
    let translation = body.x - rotation * mass.center;
    state.set_pose(
        model,
        id,
        Pose {
            translation,
            rotation,
        },
    );
    state.set_twist(
        model,
        id,
        Twist {
            linear: body.v,
            angular: body.omega,
        },
    );
}

/// Angle between two orientations, rad, sharp down to rounding.
pub fn angle_between(a: DQuat, b: DQuat) -> f64 {
    let d = a.inverse() * b;
    2.0 * d.xyz().length().atan2(d.w.abs())
}

/// The probe of this name.
pub fn find_probe<'a>(scene: &'a Scene, name: &str) -> Outcome<&'a Probe> {
    let found = scene.probes.iter().find(|p| p.name == name);
    found.ok_or_else(|| format!("scene '{}' has no probe '{name}'", scene.name).into())
}

/// A probe's value over time; a step mean stands at the middle of its step.
pub fn record(scene: &Scene, probe: &str, run: Run) -> Outcome<Vec<(f64, f64)>> {
    let probe = find_probe(scene, probe)?;
    let mut points = Vec::new();
    watch(scene, run, |view| {
        let t = probe.time_meant(view.state.time, run.h);
        points.push((t, probe.measure(view)));
    })?;
    Ok(points)
}

/// Largest distance of a probe from its reference.
pub fn largest_error(scene: &Scene, run: Run, name: &str) -> Outcome<f64> {
    let probe = find_probe(scene, name)?;
    let points = record(scene, name, run)?;
    let errors = points
        .iter()
        .map(|(t, y)| y - probe.reference(*t).unwrap_or(f64::NAN));
    // Before the first step nobody knows a force.
    Ok(largest(errors.skip(1)))
}

/// Orientations over time of the first body.
pub fn orientations(scene: &Scene, run: Run) -> Outcome<Vec<(f64, DQuat)>> {
    let id = scene
        .model
        .body_ids()
        .next()
        .ok_or("the scene has no body")?;
    let mut points = Vec::new();
    watch(scene, run, |view| {
        points.push((
            view.state.time,
            principal_orientation(view.model, view.state, id),
        ));
    })?;
    Ok(points)
}

/// The largest of some sizes; NaN if any is.
pub fn largest(values: impl IntoIterator<Item = f64>) -> f64 {
    values.into_iter().map(f64::abs).fold(0.0, |most, value| {
        if value.is_nan() || value > most {
            value
        } else {
            most
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rigid_and_affine_runs_are_read_alike() {
        let scene = vincula_scenes::build("heavy-top", &[]).unwrap();
        let rigid = record(&scene, "nutation", Run::new(Method::RungeKutta, 1e-4, 0.1)).unwrap();
        let affine = record(&scene, "nutation", Run::new(Integrator::Rattle, 1e-4, 0.1)).unwrap();
        assert_eq!(rigid.len(), affine.len());
        let error = largest(rigid.iter().zip(&affine).map(|(a, b)| a.1 - b.1));
        assert!(error < 1e-4, "{error} degrees");
    }

    #[test]
    fn angles_are_sharp_near_zero() {
        let turned = DQuat::from_rotation_x(1e-12);
        assert!((angle_between(DQuat::IDENTITY, -turned) - 1e-12).abs() < 1e-20);
        assert!(largest([0.1, f64::NAN, 0.2]).is_nan());
    }
}
