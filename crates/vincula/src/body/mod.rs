//! What a single body is: shape, mass, motion.

pub mod mass;
pub mod shape;
pub mod tessellate;
