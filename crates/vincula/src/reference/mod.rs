//! Motions known in closed form, or integrated so tightly that they serve as truth.
//!
//! Validation compares the engine with these. Only [`heavy_top_reference`] integrates, with
//! the Runge–Kutta step of the [rigid body](crate::body::rigid).
//!
//! | motion | type |
//! |---|---|
//! | physical pendulum | [`PhysicalPendulum`] |
//! | torque-free symmetric top | [`SymmetricTop`] |
//! | torque-free asymmetric top (T-handle) | [`AsymmetricTop`] |
//! | heavy top on a pivot | [`HeavyTop`], [`heavy_top_reference`] |
//! | driven, damped rotor | [`DrivenRotor`] |
//! | fall with linear drag | [`DraggedFall`] |
//!
//! ```
//! use vincula::reference::PhysicalPendulum;
//!
//! // A rod of 1 m and 2 kg, released level: its period is 18 % above that of small swings.
//! let rod = PhysicalPendulum::new(2.0, 0.5, 2.0 / 3.0, 9.81, std::f64::consts::FRAC_PI_2)?;
//! let small = std::f64::consts::TAU * (2.0_f64 / (3.0 * 9.81)).sqrt();
//! assert!((rod.period() / small - 1.18034).abs() < 1e-5);
//! # Ok::<(), vincula::reference::ReferenceError>(())
//! ```

mod asymmetric_top;
pub mod elliptic;
mod heavy_top;
mod pendulum;
mod rotor;
mod symmetric_top;

pub use asymmetric_top::AsymmetricTop;
pub use heavy_top::{HeavyTop, TopSample, heavy_top_reference};
pub use pendulum::PhysicalPendulum;
pub use rotor::{DraggedFall, DrivenRotor};
pub use symmetric_top::SymmetricTop;

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
