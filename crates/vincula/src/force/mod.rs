//! Forces from outside: wind and drag, and a compliant ground.

pub mod ground;
pub mod wind;
