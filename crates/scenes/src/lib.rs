//! The gallery: every scene once, used by tests, benches, examples, the program and Python.
//!
//! A scene is a model, a step length, a duration and probes: numbers worth watching, with
//! the curve that physics expects of them where one is known. Its parameters are declared
//! with kind, default, range and unit, and are set by name.
//!
//! ```
//! use vincula::prelude::*;
//! use vincula_scenes::View;
//!
//! let scene = vincula_scenes::build("pendulum", &[("length", "2")])?;
//! let mut state = scene.state.clone();
//! let mut work = Workspace::new(&scene.model, Settings::default());
//! let control = Control::new(&scene.model);
//! for _ in 0..scene.steps() {
//!     step(&scene.model, &mut state, &control, &mut work, scene.h)?;
//! }
//! let view = View { model: &scene.model, state: &state, pivot_force: None };
//! let angle = &scene.probes[0];
//! let error = angle.measure(&view) - angle.reference(state.time).unwrap();
//! assert!(error.abs() < 0.05);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod error;
mod gallery;
mod nearest;
mod param;
mod scene;
mod scenes;
mod values;

pub use error::SceneError;
pub use gallery::{Entry, build, find, gallery};
pub use nearest::nearest;
pub use param::{Kind, Param};
pub use scene::{Probe, Scene, Timing, View};
pub use values::{Value, Values};
