//! What a single body is: shape, mass, motion.

pub mod rigid;
