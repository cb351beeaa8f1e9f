//! A scene by one of the classic multibody methods.
//!
//! The method moves a rigid system; the affine state is set from it where somebody looks, so
//! that probes and records need not know the difference.

use vincula::prelude::*;
use vincula_classic::catalog;
use vincula_classic::system::Method as Classic;
use vincula_scenes::{Scene, View};

use crate::args::Method;
use crate::engine::Advance;
use crate::fault::Fault;

/// A scene in motion by a classic method.
pub struct ClassicEngine {
    method: Box<dyn Classic>,
    control: Control,
    /// The same motion as the engine's state; set by `view`.
    state: State,
}

impl ClassicEngine {
    /// Prepares a scene at its initial state.
    pub fn new(scene: &Scene, method: Method) -> Result<ClassicEngine, Fault> {
        let entry = catalog::find(method.name())
            .ok_or_else(|| Fault::Request(format!("--method {} takes no joints", method.name())))?;
        let made = entry.make(&scene.model, &scene.state);
        Ok(ClassicEngine {
            method: made
                .map_err(|refusal| Fault::Request(format!("scene '{}': {refusal}", scene.name)))?,
            control: Control::new(&scene.model),
            state: scene.state.clone(),
        })
    }

    /// One step.
    pub fn advance(&mut self, scene: &Scene) -> Result<Advance, String> {
        if scene.is_driven() {
            self.method
                .system()
                .write_state(&scene.model, &mut self.state);
            scene.control(&self.state, &mut self.control);
        }
        let report = self
            .method
            .step(&scene.model, &self.control, scene.h)
            .map_err(|error| {
                let time = self.method.system().time;
                format!("{error} (at t = {time} s)")
            })?;
        Ok(Advance {
            iterations: report.iterations,
            converged: report.converged,
            residual: report.residual,
            ..Advance::default()
        })
    }

    /// Back to the initial state.
    pub fn reset(&mut self, scene: &Scene) {
        self.method.reset(&scene.model, &scene.state);
    }

    /// The motion as the engine's state.
    pub fn view<'a>(&'a mut self, scene: &'a Scene) -> View<'a> {
        let system = self.method.system();
        system.write_state(&scene.model, &mut self.state);
        View {
            model: &scene.model,
            state: &self.state,
            pivot_force: Some(DVec3::NAN),
        }
    }

    /// How the joints are solved.
    pub fn plan(&self) -> String {
        self.method.plan()
    }
}
