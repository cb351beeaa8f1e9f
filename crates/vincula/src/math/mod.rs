//! Small dense mathematics on plain arrays: rotations, polar decomposition, lanes.
//!
//! Everything here is written once, as scalar code on `[f64; 3]` and `[f64; 9]`
//! (row-major), and marked `#[inline(always)]`, so that a loop over the eight lanes
//! of a block vectorises as a whole. No function of this module knows a `Model`.

pub mod ahead;
pub(crate) mod alike;
pub mod angle;
pub mod dispatch;
pub mod lanes;
#[cfg(test)]
pub(crate) mod numbers;
pub mod rotation;
pub mod small;
pub(crate) mod union;

use glam::{DMat3, DQuat, DVec3};

use small::{M3, V3};

/// A row-major array from glam's column-major matrix.
pub fn from_mat(m: DMat3) -> M3 {
    m.transpose().to_cols_array()
}

/// glam's matrix from a row-major array.
pub fn to_mat(m: &M3) -> DMat3 {
    DMat3::from_cols_array(m).transpose()
}

/// glam's vector from an array.
pub fn to_vec(v: &V3) -> DVec3 {
    DVec3::from_array(*v)
}

/// The rotation matrix of a quaternion, row-major.
pub fn from_quat(q: DQuat) -> M3 {
    from_mat(DMat3::from_quat(q))
}
