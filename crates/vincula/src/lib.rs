//! Multibody dynamics with almost rigid affine bodies and exact joints.
//!
//! Bodies have twelve coordinates `x = A x̄ + t` and a stiffness that keeps A close to a
//! rotation. Joints are exact constraints, solved in the dual space. SI units,
//! right-handed, z up, f64; quaternions are stated as (w, x, y, z).
//!
//! ```
//! use vincula::prelude::*;
//!
//! // A rod of one metre hangs from the world by one end and is let go from horizontal.
//! let mut builder = ModelBuilder::new();
//! let rod = builder.body(
//!     BodyDef::new("rod", Shape::Box { half_extents: DVec3::new(0.5, 0.05, 0.05) }, 1000.0)
//!         .at(DVec3::new(0.5, 0.0, 0.0)),
//! );
//! builder.joint(JointDef::ball("pivot", World, rod, DVec3::ZERO));
//! let model = builder.build()?;
//! let mut state = model.initial_state();
//! let mut work = Workspace::new(&model, Settings::default());
//! let control = Control::new(&model);
//! for _ in 0..100 {
//!     step(&model, &mut state, &control, &mut work, 0.01)?;
//! }
//! assert!(state.pose(&model, rod).translation.z < 0.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod apart;
pub mod body;
pub mod contact;
pub mod diagnostics;
pub mod dual;
pub mod force;
pub mod integrate;
pub mod joint;
pub mod math;
pub mod model;
pub mod reference;
mod serial;
mod settings;
pub mod step;
mod stream;
mod workspace;

/// What most programs need.
pub mod prelude {
    pub use crate::body::{mass::MassProperties, material::Material, shape::Shape};
    pub use crate::contact::{ColliderDef, ColliderShape, Surface};
    pub use crate::integrate::Integrator;
    pub use crate::joint::{CouplingDef, JointDef};
    pub use crate::model::{
        BodyDef, BodyId, ColliderId, Control, CouplingId, FrameId, FrameMotion, JointId, Model,
        ModelBuilder, Pose, State, Twist, World,
    };
    pub use crate::step::{Settings, StepReport, Workspace, step};
    pub use glam::{DMat3, DQuat, DVec3};
}
