//! Motions known in closed form, or integrated so tightly that they serve as truth.
//!
//! Validation compares the engine with these; nothing here depends on the engine.
//!
//! | motion | type |
//! |---|---|
//! | physical pendulum | [`PhysicalPendulum`] |
//! | torque-free symmetric top | [`SymmetricTop`] |
//! | torque-free asymmetric top (T-handle) | [`AsymmetricTop`] |
//! | heavy top on a pivot | [`HeavyTop`], [`heavy_top_reference`] |
//! | driven, damped rotor | [`DrivenRotor`] |
//! | fall with linear drag | [`DraggedFall`] |

pub mod elliptic;
mod heavy_top;
mod pendulum;
mod rotor;
mod top;

pub use heavy_top::{HeavyTop, TopSample, heavy_top_reference};
pub use pendulum::PhysicalPendulum;
pub use rotor::{DraggedFall, DrivenRotor};
pub use top::{AsymmetricTop, SymmetricTop};

use crate::body::rigid::RigidError;
use thiserror::Error;

/// Why a reference motion could not be set up.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
pub enum ReferenceError {
    /// A parameter lies outside the range where the solution holds.
    #[error("{quantity} is {value}; it must be {demand}")]
    OutOfRange {
        /// Which parameter.
        quantity: &'static str,
        /// Its value (SI).
        value: f64,
        /// What is allowed.
        demand: &'static str,
    },
    /// The numerical reference failed.
    #[error(transparent)]
    Rigid(#[from] RigidError),
}

/// `Ok` if `value` is positive and finite.
fn demand_positive(quantity: &'static str, value: f64) -> Result<(), ReferenceError> {
    demand(
        value > 0.0 && value.is_finite(),
        quantity,
        value,
        "positive and finite",
    )
}

/// `Ok` if `value` is finite.
fn demand_finite(quantity: &'static str, value: f64) -> Result<(), ReferenceError> {
    demand(value.is_finite(), quantity, value, "finite")
}

fn demand(
    met: bool,
    quantity: &'static str,
    value: f64,
    demand: &'static str,
) -> Result<(), ReferenceError> {
    if met {
        return Ok(());
    }
    Err(ReferenceError::OutOfRange {
        quantity,
        value,
        demand,
    })
}
