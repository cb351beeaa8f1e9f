//! What can be wrong with a model.

use thiserror::Error;

use crate::body::mass::MassError;
use crate::contact::ColliderError;

/// Why a model cannot be built.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ModelError {
    /// The mass or the shape of a body is impossible.
    #[error("body '{body}': {source}")]
    Mass {
        /// Name of the body.
        body: String,
        /// What is wrong.
        source: MassError,
    },
    /// A number or a setting of a body is unusable.
    #[error("body '{body}': {reason}")]
    Body {
        /// Name of the body.
        body: String,
        /// What is wrong and what to do.
        reason: String,
    },
    /// A joint is unusable.
    #[error("joint '{joint}': {reason}")]
    Joint {
        /// Name of the joint.
        joint: String,
        /// What is wrong and what to do.
        reason: String,
    },
    /// A moved frame is unusable.
    #[error("frame '{frame}': {reason}")]
    Frame {
        /// Name of the frame.
        frame: String,
        /// What is wrong and what to do.
        reason: String,
    },
    /// A collider is unusable.
    #[error("collider '{collider}': {source}")]
    Collider {
        /// Name of the collider.
        collider: String,
        /// What is wrong.
        source: ColliderError,
    },
    /// Two things of one kind have the same name.
    #[error("the {kind} name '{name}' is used twice; names must be unique")]
    DuplicateName {
        /// "body", "joint", "frame" or "collider".
        kind: &'static str,
        /// The name.
        name: String,
    },
    /// A field of the world is unusable.
    #[error("{what}: {reason}")]
    World {
        /// Which field.
        what: &'static str,
        /// What is wrong.
        reason: String,
    },
}
