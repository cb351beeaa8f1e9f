//! What can be wrong with a request for a scene.

use thiserror::Error;
use vincula::model::ModelError;
use vincula::reference::ReferenceError;

/// Why a scene could not be built.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SceneError {
    /// No scene has this name.
    #[error("there is no scene '{name}'{}", hint(.nearest))]
    UnknownScene {
        /// The name asked for.
        name: String,
        /// The name most like it, if one is close.
        nearest: Option<&'static str>,
    },
    /// The scene has no parameter of this name.
    #[error(
        "scene '{scene}' has no parameter '{key}'{}; it has {known}", hint(.nearest)
    )]
    UnknownKey {
        /// The scene.
        scene: &'static str,
        /// The key asked for.
        key: String,
        /// The key most like it, if one is close.
        nearest: Option<&'static str>,
        /// All keys of the scene.
        known: String,
    },
    /// The text of a value is not of the kind the parameter takes.
    #[error("parameter '{key}' takes {wanted}, not '{value}'")]
    WrongKind {
        /// The parameter.
        key: &'static str,
        /// The value given.
        value: String,
        /// What it takes.
        wanted: String,
    },
    /// A number is NaN or infinite.
    #[error("parameter '{key}' is {value}; it must be a finite number")]
    NotFinite {
        /// The parameter.
        key: &'static str,
        /// The value given.
        value: String,
    },
    /// A number is outside its range.
    #[error("parameter '{key}' is {value}{}; it must lie between {least} and {most}{}", space(.unit), space(.unit))]
    OutOfRange {
        /// The parameter.
        key: &'static str,
        /// The value given.
        value: String,
        /// Least value allowed.
        least: f64,
        /// Greatest value allowed.
        most: f64,
        /// Unit of all three.
        unit: &'static str,
    },
    /// The engine refuses the model.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The reference motion of the scene does not exist for these parameters.
    #[error("no reference motion: {0}")]
    Reference(#[from] ReferenceError),
}

fn hint(nearest: &Option<&'static str>) -> String {
    nearest.map_or_else(String::new, |name| format!(" (did you mean '{name}'?)"))
}

fn space(unit: &str) -> String {
    if unit.is_empty() {
        String::new()
    } else {
        format!(" {unit}")
    }
}
