//! What can be wrong with a mass distribution, and what to do about it.

use glam::DVec3;
use thiserror::Error;

use crate::body::shape::ShapeError;

pub(super) const AXIS_NAMES: [char; 3] = ['x', 'y', 'z'];

/// Why a body cannot have the mass properties asked for.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum MassError {
    /// The shape is not a solid.
    #[error(transparent)]
    Shape(#[from] ShapeError),
    /// A quantity is NaN or infinite.
    #[error("{field} = {value} is not finite")]
    NotFinite {
        /// Name of the quantity, such as `mass` or `inertia[0][1]`.
        field: String,
        /// What it holds.
        value: f64,
    },
    /// A quantity is zero or negative.
    #[error("{field} = {value}, but it must be greater than zero")]
    NotPositive {
        /// Name of the quantity.
        field: String,
        /// What it holds.
        value: f64,
    },
    /// The inertia tensor is not symmetric.
    #[error(
        "the inertia tensor is not symmetric: entry ({row}, {column}) is {upper}, \
         but ({column}, {row}) is {lower}, counted from 0"
    )]
    Asymmetric {
        /// Row of the entry above the diagonal.
        row: usize,
        /// Column of the entry above the diagonal.
        column: usize,
        /// That entry (kg m²).
        upper: f64,
        /// Its mirror image (kg m²).
        lower: f64,
    },
    /// One principal moment exceeds the sum of the others.
    #[error(
        "I_{first} + I_{second} = {sum} < I_{third} = {moment}: no mass distribution has this \
         inertia (principal axes, kg m²)"
    )]
    ImpossibleInertia {
        /// Name of the first principal axis of the sum.
        first: char,
        /// Name of the second principal axis of the sum.
        second: char,
        /// Name of the axis whose moment is too large.
        third: char,
        /// Sum of the two smaller moments (kg m²).
        sum: f64,
        /// The moment that exceeds it (kg m²).
        moment: f64,
    },
    /// The body has no extent along some axis.
    #[error(
        "the body is too thin along its principal axis {axis}: its second moment {moment} kg m² \
         must exceed {minimum:e} kg m²; make it thicker, or use \
         `MassProperties::from_inertia_with_floor`"
    )]
    Thin {
        /// Name of the principal axis.
        axis: char,
        /// Second moment along it (kg m²).
        moment: f64,
        /// What it must exceed (kg m²).
        minimum: f64,
    },
    /// The floor under the second moments makes no sense.
    #[error("floor = {floor}, but it must lie between 1e-12 and 1")]
    FloorOutOfRange {
        /// The floor given.
        floor: f64,
    },
    /// Nothing to combine.
    #[error("there are no bodies to combine")]
    NoBodies,
}

impl MassError {
    /// The triangle inequality that a negative second moment along `third` breaks.
    pub(super) fn impossible(third: usize, second_moments: DVec3) -> Self {
        let s = second_moments.to_array();
        let (a, b) = ((third + 1) % 3, (third + 2) % 3);
        let (first, second) = (a.min(b), a.max(b));
        Self::ImpossibleInertia {
            first: AXIS_NAMES[first],
            second: AXIS_NAMES[second],
            third: AXIS_NAMES[third],
            sum: without_noise(s[a] + s[b] + 2.0 * s[third]),
            moment: without_noise(s[a] + s[b]),
        }
    }
}

/// Twelve significant digits, so that a message shows 0.2 where the user wrote
/// 0.2 and the way to the second moments and back made 0.2000…04 of it.
fn without_noise(value: f64) -> f64 {
    format!("{value:.11e}").parse().unwrap_or(value)
}
