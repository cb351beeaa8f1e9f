//! Contacts and limits of a rigid system as rows that may push and not pull.
//!
//! ```text
//! C = n · (x_b − x_a) ≥ 0,    Ċ = n · (v_b + ω_b × r_b − v_a − ω_a × r_a)
//! ```
//!
//! Friction has the same rows with tangents in the place of the normal n. A limit of a joint's
//! coordinate is such a row too, without friction.

use glam::DVec3;
use vincula::model::{Control, Model};

use crate::system::System;
use crate::system::forces::coordinate;
use crate::system::rows::{Six, dot6, pack};

/// One point where two bodies touch, or a body and the world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contact {
    /// The two bodies; `None` is the world.
    pub ends: [Option<usize>; 2],
    /// The point on the surface of each, world, m.
    pub points: [DVec3; 2],
    /// Unit normal from the first to the second, world.
    pub normal: DVec3,
    /// n · (x_b − x_a), m; negative when they overlap.
    pub gap: f64,
    /// Coefficient of friction.
    pub friction: f64,
    /// Velocity of sides that are no bodies, b's minus a's, m/s.
    pub surface_velocity: DVec3,
}

/// A row for two bodies: `rate = J_a u_a + J_b u_b + offset`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairRow {
    /// The two bodies; `None` is the world.
    pub ends: [Option<usize>; 2],
    /// The gradients.
    pub gradients: [Six; 2],
    /// Rate when the bodies rest.
    pub offset: f64,
}

impl PairRow {
    /// The row's rate for these velocities.
    pub fn rate(&self, velocity: &[Six]) -> f64 {
        let part = |side: usize| {
            self.ends[side].map_or(0.0, |b| dot6(&self.gradients[side], &velocity[b]))
        };
        part(0) + part(1) + self.offset
    }
}

impl Contact {
    /// The relative velocity of the two points along a direction, as a row.
    pub fn row(&self, system: &System, direction: DVec3) -> PairRow {
        let lever = |side: usize| self.points[side] - system.place(self.ends[side]).x;
        let gradient = |side: usize| pack(direction, lever(side).cross(direction));
        PairRow {
            ends: self.ends,
            gradients: [gradient(0).map(|x| -x), gradient(1)],
            offset: direction.dot(self.surface_velocity),
        }
    }

    /// Relative velocity of the two points in the tangent plane, m/s, for these velocities of
    /// the bodies.
    pub fn slip(&self, system: &System, velocity: &[Six]) -> DVec3 {
        let along = |k: usize| self.row(system, DVec3::AXES[k]).rate(velocity);
        let relative = DVec3::new(along(0), along(1), along(2));
        relative - self.normal * self.normal.dot(relative)
    }
}

/// What finds contacts.
pub trait Detect: Send {
    /// Replaces `out` by the points where bodies touch or may touch within `h` seconds.
    fn detect(
        &mut self,
        model: &Model,
        system: &System,
        control: &Control,
        h: f64,
        out: &mut Vec<Contact>,
    );
}

/// Nothing touches.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoContacts;

impl Detect for NoContacts {
    fn detect(&mut self, _: &Model, _: &System, _: &Control, _: f64, out: &mut Vec<Contact>) {
        out.clear();
    }
}

/// A limit of a free coordinate: how far it is, and its row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limit {
    /// Distance to the limit, m or rad; negative beyond it.
    pub gap: f64,
    /// The rate of that distance.
    pub row: PairRow,
}

/// Replaces `out` by the limits that a model's joints have and that are nearer than `reach`.
pub fn find_limits(system: &System, reach: f64, out: &mut Vec<Limit>) {
    out.clear();
    for (index, joint) in system.joints.iter().enumerate() {
        for axis in &joint.axes {
            let [lower, upper] = axis.law.limits;
            if !(lower.is_finite() || upper.is_finite()) {
                continue;
            }
            let at = coordinate(system, index, axis.kind);
            for (gap, sign) in [(at.value - lower, 1.0), (upper - at.value, -1.0)] {
                if gap < reach {
                    let row = PairRow {
                        ends: system.ends[index],
                        gradients: at.gradients.map(|g| g.map(|x| sign * x)),
                        offset: 0.0,
                    };
                    out.push(Limit { gap, row });
                }
            }
        }
    }
}
