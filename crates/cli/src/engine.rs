//! What advances a scene by one step: affine bodies or a method of the literature.

use vincula::prelude::*;
use vincula::step::level_in_use;
use vincula_scenes::{Scene, View};

use crate::args::Method;
use crate::fault::Fault;
use crate::rigid::RigidEngine;
use crate::single::SingleEngine;

/// What one step did.
#[derive(Clone, Copy, Debug)]
pub struct Advance {
    /// Newton iterations; for rigid bodies, evaluations of the force.
    pub iterations: usize,
    /// Whether the step reached its tolerance.
    pub converged: bool,
    /// Largest violation of a joint, m.
    pub residual: f64,
}

/// A scene in motion.
#[allow(clippy::large_enum_variant, reason = "there is one of it in a run")]
pub enum Engine {
    /// The engine's own step.
    Affine(AffineEngine),
    /// One rigid body.
    Rigid(RigidEngine),
    /// One affine body of the literature.
    Single(Box<SingleEngine>),
}

/// Affine bodies with exact joints.
pub struct AffineEngine {
    state: State,
    control: Control,
    work: Workspace,
}

impl Engine {
    /// Prepares a scene at its initial state.
    pub fn new(
        scene: &Scene,
        method: Method,
        integrator: Option<Integrator>,
        threads: usize,
    ) -> Result<Engine, Fault> {
        if method != Method::Affine {
            if integrator.is_some() {
                return Err(Fault::Request(format!(
                    "--integrator belongs to --method affine; {} has its own",
                    method.name()
                )));
            }
            return Ok(match method {
                Method::Corotated | Method::CorotatedNormalised | Method::VanillaAbd => {
                    Engine::Single(Box::new(SingleEngine::new(scene, method)?))
                }
                _ => Engine::Rigid(RigidEngine::new(scene, method)?),
            });
        }
        let settings = Settings {
            threads,
            ..Settings::with_integrator(integrator.unwrap_or(scene.integrator))
        };
        Ok(Engine::Affine(AffineEngine {
            state: scene.state.clone(),
            control: Control::new(&scene.model),
            work: Workspace::new(&scene.model, settings),
        }))
    }

    /// Advances by the scene's step; the state stays as it was on failure.
    #[inline]
    pub fn advance(&mut self, scene: &Scene) -> Result<Advance, String> {
        match self {
            Engine::Affine(engine) => engine.advance(scene),
            Engine::Rigid(engine) => engine.advance(scene),
            Engine::Single(engine) => engine.advance(scene),
        }
    }

    /// Back to the initial state.
    pub fn reset(&mut self, scene: &Scene) {
        match self {
            Engine::Affine(engine) => engine.state = scene.state.clone(),
            Engine::Rigid(engine) => engine.reset(scene),
            Engine::Single(engine) => engine.reset(scene),
        }
    }

    /// The present state, for probes and records.
    pub fn view<'a>(&'a mut self, scene: &'a Scene) -> View<'a> {
        match self {
            Engine::Affine(engine) => View {
                model: &scene.model,
                state: &engine.state,
                pivot_force: None,
            },
            Engine::Rigid(engine) => engine.view(scene),
            Engine::Single(engine) => engine.view(scene),
        }
    }

    /// Name of the time integrator.
    pub fn integrator(&self) -> &'static str {
        match self {
            Engine::Affine(engine) => engine.work.settings().integrator.name(),
            Engine::Rigid(engine) => engine.integrator(),
            Engine::Single(engine) => engine.integrator(),
        }
    }

    /// Vector instructions in use.
    pub fn level(&self) -> &'static str {
        match self {
            Engine::Affine(engine) => level_in_use(&engine.work).name(),
            Engine::Rigid(_) | Engine::Single(_) => "baseline",
        }
    }

    /// Threads in use.
    pub fn threads(&self) -> usize {
        match self {
            Engine::Affine(engine) => engine.work.threads(),
            Engine::Rigid(_) | Engine::Single(_) => 1,
        }
    }

    /// What solves the joints.
    pub fn plan(&self) -> String {
        match self {
            Engine::Affine(engine) => describe_plan(&engine.work),
            Engine::Rigid(engine) => engine.plan().to_owned(),
            Engine::Single(_) => "no joints to solve".to_owned(),
        }
    }
}

impl AffineEngine {
    fn advance(&mut self, scene: &Scene) -> Result<Advance, String> {
        scene.control(&self.state, &mut self.control);
        let report = step(
            &scene.model,
            &mut self.state,
            &self.control,
            &mut self.work,
            scene.h,
        )
        .map_err(|error| error.to_string())?;
        Ok(Advance {
            iterations: report.iterations,
            converged: report.converged,
            residual: report.residual,
        })
    }
}

/// The plans of all islands; equal ones are counted rather than repeated.
pub fn describe_plan(work: &Workspace) -> String {
    let mut told: Vec<(String, usize)> = Vec::new();
    for plan in work.dual().plans() {
        let text = plan.to_string();
        match told.iter_mut().find(|(known, _)| *known == text) {
            Some((_, count)) => *count += 1,
            None => told.push((text, 1)),
        }
    }
    if told.is_empty() {
        return "no joints to solve".to_owned();
    }
    let lines: Vec<String> = told
        .into_iter()
        .map(|(text, count)| {
            if count == 1 {
                text
            } else {
                format!("{count} × {text}")
            }
        })
        .collect();
    lines.join("; ")
}
