//! Why the program gives up, and with which exit code.

use std::process::ExitCode;

use thiserror::Error;
use vincula::body::shape::ShapeError;
use vincula::model::ModelError;
use vincula_exchange::ExchangeError;
use vincula_scenes::SceneError;

use crate::interrupt;

/// What went wrong.
#[derive(Debug, Error)]
pub enum Fault {
    /// The request cannot be met.
    #[error("{0}")]
    Request(String),
    /// The scene cannot be built.
    #[error(transparent)]
    Scene(#[from] SceneError),
    /// A shape cannot be drawn.
    #[error("cannot draw a body: {0}")]
    Shape(#[from] ShapeError),
    /// The output cannot be written.
    #[error(transparent)]
    Output(#[from] ExchangeError),
    /// Joints of a scene contradict each other.
    #[error("{0}")]
    Conflict(String),
    /// Somebody ended a run.
    #[error("{0}; what is told is of these")]
    Interrupted(String),
    /// The simulation broke down.
    #[error("the simulation stopped: {0}")]
    Simulation(String),
}

impl From<ModelError> for Fault {
    fn from(error: ModelError) -> Fault {
        Fault::Scene(error.into())
    }
}

impl Fault {
    /// 1 for a simulation that failed and for joints in conflict, 130 for one that was interrupted,
    /// 2 for a request that cannot be met.
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Fault::Simulation(_) | Fault::Conflict(_) => ExitCode::from(1),
            Fault::Interrupted(..) => ExitCode::from(interrupt::CODE),
            _ => ExitCode::from(2),
        }
    }
}
