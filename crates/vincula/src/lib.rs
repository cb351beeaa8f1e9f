//! Multibody dynamics with almost rigid affine bodies and exact joints.

pub mod body;
pub mod reference;
