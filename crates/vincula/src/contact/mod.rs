//! Contact: where bodies touch or are about to, as points that a solver can hold apart.
//!
//! Each point carries two material points and a normal, so that its gap
//!
//! ```text
//! C = n · (x_b − x_a),   x = A X + t
//! ```
//!
//! is linear in the affine coordinates. `detect` finds them at the pose at the start of a
//! step, far enough ahead that C ≥ 0 at its end keeps bodies from passing through each other.

#[cfg(test)]
mod agreement;
mod batch;
mod bounds;
mod boxes;
mod broad;
mod choice;
mod collide;
mod collider;
mod colours;
mod coupled;
mod detect;
mod exact;
mod flock;
mod impact;
mod kept;
mod leaf;
mod linking;
pub(crate) mod memory;
pub(crate) mod movers;
mod nets;
mod placing;
mod plane;
mod readout;
mod reduce;
mod round;
pub(crate) mod rows;
mod sides;
pub(crate) mod stage;
mod strings;
mod surface;
pub(crate) mod sweep;
mod terrain;
mod ways;
mod weave;

pub use choice::ContactSolver;
pub use collider::{Carrier, Collider, ColliderDef, ColliderError, ColliderShape, Groups};
pub use detect::detect;
pub(crate) use detect::detect_but;
pub use readout::ContactReading;
pub use surface::Surface;
pub use terrain::{HeightField, TerrainError};

pub(crate) use flock::Flock;
pub(crate) use leaf::Leaf;

use crate::model::{BodyId, ColliderId};
use detect::Scratch;

/// One point where two colliders touch or may touch before the step ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactPoint {
    /// Body of the first collider; `None` when it is static or moved by the user.
    pub a: Option<BodyId>,
    /// Body of the second collider; `None` when it is static or moved by the user.
    pub b: Option<BodyId>,
    /// The first collider, of the smaller number.
    pub collider_a: ColliderId,
    /// The second collider.
    pub collider_b: ColliderId,
    /// Point of the first surface, m: in the principal frame of body `a`, or in the world at
    /// the start of the step when there is none.
    pub anchor_a: [f64; 3],
    /// Point of the second surface, m, likewise.
    pub anchor_b: [f64; 3],
    /// Unit normal in the world, from the first to the second.
    pub normal: [f64; 3],
    /// n · (x_b − x_a) at the start of the step, m; negative when they overlap.
    pub gap: f64,
    /// Velocity of the sides that are not bodies, b's minus a's, m/s: of the frames that the
    /// user moves, at the anchors.
    pub surface_velocity: [f64; 3],
    /// Radius of curvature of the first surface, m; zero where it is flat or sharp. The point
    /// `anchor_a − round_a n` then stays on the body's core while it rolls.
    pub round_a: f64,
    /// Radius of curvature of the second surface, m; its core is at `anchor_b + round_b n`.
    pub round_b: f64,
    /// Names the point within its pair of colliders, the same from step to step.
    pub feature: u64,
    /// Combined coefficient of friction.
    pub friction: f64,
    /// Combined coefficient of restitution.
    pub restitution: f64,
    /// Combined lever arm of rolling friction, m.
    pub rolling: f64,
    /// Combined lever arm of torsional friction, m.
    pub torsional: f64,
    /// Combined compliance, m/N.
    pub compliance: f64,
}

/// What detection found, and the memory it works in, which grows only when the set does.
#[derive(Debug, Default)]
pub struct Contacts {
    /// The points, ordered by collider pair, then by feature.
    pub points: Vec<ContactPoint>,
    /// Pairs with a sensor that overlap, in order.
    pub sensed: Vec<[ColliderId; 2]>,
    scratch: Scratch,
}

impl Contacts {
    /// Nothing found yet.
    pub fn new() -> Self {
        Contacts::default()
    }

    /// The points of each pair of colliders, in order.
    pub fn pairs(&self) -> impl Iterator<Item = &[ContactPoint]> {
        self.points
            .chunk_by(|p, q| (p.collider_a, p.collider_b) == (q.collider_a, q.collider_b))
    }

    /// The deepest overlap, m; zero when nothing overlaps.
    pub fn penetration(&self) -> f64 {
        self.points
            .iter()
            .fold(0.0, |deepest, p| deepest.max(-p.gap))
    }
}
