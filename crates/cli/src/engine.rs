//! What advances a scene by one step: affine bodies or a method of the literature.

use vincula::contact::ContactSolver;
use vincula::dual::{IslandPlan, SolverChoice};
use vincula::prelude::*;
use vincula::step::level_in_use;
use vincula_scenes::{Scene, View};

use crate::args::Method;
use crate::classic::ClassicEngine;
use crate::fault::Fault;
use crate::rigid::RigidEngine;
use crate::single::SingleEngine;

/// What one step did.
#[derive(Clone, Copy, Debug, Default)]
pub struct Advance {
    /// Newton iterations; for rigid bodies, evaluations of the force.
    pub iterations: usize,
    /// Whether the step reached its tolerance.
    pub converged: bool,
    /// Largest violation of a joint, m.
    pub residual: f64,
    /// Points of contact.
    pub contacts: usize,
    /// Depth of the worst contact, m.
    pub penetration: f64,
    /// Largest violation of Coulomb's law, relative to the largest contact force.
    pub contact_residual: f64,
    /// Whether the step was taken in parts.
    pub parted: bool,
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
    /// A multibody method of the literature.
    Classic(Box<ClassicEngine>),
}

/// How contacts are to be solved.
#[derive(Clone, Copy, Debug, Default)]
pub struct ContactWishes {
    pub solver: ContactSolver,
    /// Violation of Coulomb's law that steps are solved to, relative to the largest force.
    pub accuracy: Option<f64>,
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
        solver: Option<SolverChoice>,
        contact: ContactWishes,
        threads: usize,
        sleeping: bool,
    ) -> Result<Engine, Fault> {
        if method != Method::Affine {
            if integrator.is_some() {
                return Err(Fault::Request(format!(
                    "--integrator belongs to --method affine; {} has its own",
                    method.name()
                )));
            }
            if solver.is_some() {
                return Err(Fault::Request(format!(
                    "--solver belongs to --method affine; {} has its own",
                    method.name()
                )));
            }
            if contact.accuracy.is_some() {
                return Err(Fault::Request(format!(
                    "--contact-accuracy belongs to --method affine; {} has its own",
                    method.name()
                )));
            }
            return Ok(match method {
                Method::Corotated | Method::CorotatedNormalised | Method::VanillaAbd => {
                    Engine::Single(Box::new(SingleEngine::new(scene, method)?))
                }
                Method::RigidSymplectic | Method::RigidRk4 => {
                    Engine::Rigid(RigidEngine::new(scene, method)?)
                }
                // One body alone has a step of its own, which also tells the pivot's force.
                Method::RigidImplicit if RigidEngine::new(scene, method).is_ok() => {
                    Engine::Rigid(RigidEngine::new(scene, method)?)
                }
                _ => Engine::Classic(Box::new(ClassicEngine::new(scene, method)?)),
            });
        }
        let settings = Settings {
            solver: solver.unwrap_or_default(),
            contact_solver: contact.solver,
            contact_accuracy: contact.accuracy,
            threads,
            sleeping,
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
            Engine::Classic(engine) => engine.advance(scene),
        }
    }

    /// Back to the initial state.
    pub fn reset(&mut self, scene: &Scene) {
        match self {
            Engine::Affine(engine) => engine.state = scene.state.clone(),
            Engine::Rigid(engine) => engine.reset(scene),
            Engine::Single(engine) => engine.reset(scene),
            Engine::Classic(engine) => engine.reset(scene),
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
            Engine::Classic(engine) => engine.view(scene),
        }
    }

    /// Name of the time integrator.
    pub fn integrator(&self) -> &'static str {
        match self {
            Engine::Affine(engine) => engine.work.settings().integrator.name(),
            Engine::Rigid(engine) => engine.integrator(),
            Engine::Single(engine) => engine.integrator(),
            Engine::Classic(_) => "its own",
        }
    }

    /// Vector instructions in use.
    pub fn level(&self) -> &'static str {
        match self {
            Engine::Affine(engine) => level_in_use(&engine.work).name(),
            Engine::Rigid(_) | Engine::Single(_) | Engine::Classic(_) => "baseline",
        }
    }

    /// Threads in use.
    pub fn threads(&self) -> usize {
        match self {
            Engine::Affine(engine) => engine.work.threads(),
            Engine::Rigid(_) | Engine::Single(_) | Engine::Classic(_) => 1,
        }
    }

    /// What solves the joints.
    pub fn plan(&self) -> String {
        match self {
            Engine::Affine(engine) => {
                let joints = describe_plan(&engine.work);
                match engine.work.contact_plan() {
                    Some(contacts) => format!("{joints}; {contacts}"),
                    None => joints,
                }
            }
            Engine::Rigid(engine) => engine.plan().to_owned(),
            Engine::Single(_) => "no joints to solve".to_owned(),
            Engine::Classic(engine) => engine.plan(),
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
            contacts: report.contacts,
            penetration: report.penetration,
            contact_residual: report.contact_residual,
            parted: report.parts > 1,
        })
    }
}

/// The plans of all islands; equal ones are counted rather than repeated.
pub fn kinds_of_islands(work: &Workspace) -> Vec<(IslandPlan, usize)> {
    let mut found: Vec<(IslandPlan, usize)> = Vec::new();
    for plan in work.dual().plans() {
        // By what is told of them, since an unknown cost is equal to no other.
        let same = |(known, _): &&mut (IslandPlan, usize)| known.to_string() == plan.to_string();
        match found.iter_mut().find(same) {
            Some((_, count)) => *count += 1,
            None => found.push((plan.clone(), 1)),
        }
    }
    found
}

/// The same in words.
pub fn describe_plan(work: &Workspace) -> String {
    let kinds = kinds_of_islands(work);
    if kinds.is_empty() {
        return "no joints to solve".to_owned();
    }
    let lines = kinds.iter().map(|(plan, count)| match count {
        1 => plan.to_string(),
        _ => format!("{count} × {plan}"),
    });
    lines.collect::<Vec<String>>().join("; ")
}
