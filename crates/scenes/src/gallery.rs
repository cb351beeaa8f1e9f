//! The list of scenes and how to get one.

use crate::error::SceneError;
use crate::nearest::nearest;
use crate::param::Param;
use crate::scene::Scene;
use crate::scenes;
use crate::values::Values;

/// One scene of the gallery.
pub struct Entry {
    /// Its name.
    pub name: &'static str,
    /// One line on what happens.
    pub summary: &'static str,
    /// The published figure it reproduces; empty for none.
    pub figure: &'static str,
    /// Its parameters.
    pub params: &'static [Param],
    /// Makes the scene of checked values.
    pub make: fn(&Values) -> Result<Scene, SceneError>,
}

impl Entry {
    /// Builds the scene from settings `(key, value)` and a seed of random numbers.
    pub fn build(&self, settings: &[(&str, &str)], seed: u64) -> Result<Scene, SceneError> {
        let values = Values::parse(self.name, self.params, settings, seed)?;
        (self.make)(&values)
    }
}

/// Every scene.
pub fn gallery() -> &'static [Entry] {
    scenes::ALL
}

/// The scene of this name.
pub fn find(name: &str) -> Result<&'static Entry, SceneError> {
    gallery()
        .iter()
        .find(|entry| entry.name == name)
        .ok_or_else(|| SceneError::UnknownScene {
            name: name.to_owned(),
            nearest: nearest(name, gallery().iter().map(|entry| entry.name)),
        })
}

/// Builds a scene by name from settings `(key, value)`, with seed 0.
///
/// ```
/// let scene = vincula_scenes::build("pendulum", &[("h", "0.005")])?;
/// assert_eq!((scene.model.bodies().len(), scene.h), (1, 0.005));
///
/// let error = vincula_scenes::build("pendulum", &[("lenght", "2")]).err().unwrap();
/// assert!(error.to_string().contains("did you mean 'length'?"));
/// # Ok::<(), vincula_scenes::SceneError>(())
/// ```
pub fn build(name: &str, settings: &[(&str, &str)]) -> Result<Scene, SceneError> {
    find(name)?.build(settings, 0)
}
