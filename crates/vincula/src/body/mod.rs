//! What a single body is: shape, mass, material, mechanics.

pub mod affine;
pub mod mass;
pub mod material;
pub mod rigid;
pub mod shape;
pub mod tessellate;
