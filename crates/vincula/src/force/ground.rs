//! A compliant ground plane, z = height, as a penalty force.
//!
//! f_n = max(0, k d − c ḋ) at each candidate point that is a depth d below the plane, and
//! Coulomb friction regularised at a slip speed: |f_t| = μ f_n min(1, |u|/u₀). It stands in
//! for contact constraints where a simple smooth force law is wanted.

use glam::{DMat3, DQuat, DVec3};

use crate::body::shape::Shape;
use crate::model::{ModelError, Pose, Twist, Wrench};

/// A compliant horizontal plane.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PenaltyGround {
    /// Height of the plane, m.
    pub height: f64,
    /// Stiffness at each touching point, N/m.
    pub stiffness: f64,
    /// Damping at each touching point, N s/m.
    pub damping: f64,
    /// Coefficient of friction.
    pub friction: f64,
    /// Slip speed at which friction is fully developed, m/s.
    pub slip: f64,
}

impl PenaltyGround {
    pub(crate) fn check(&self) -> Result<(), ModelError> {
        let wrong = |reason: &str| {
            Err(ModelError::World {
                what: "ground",
                reason: reason.to_owned(),
            })
        };
        if !self.height.is_finite() {
            return wrong("the height must be finite");
        }
        if !(self.stiffness > 0.0 && self.stiffness.is_finite()) {
            return wrong("the stiffness must be positive and finite");
        }
        if !(self.damping >= 0.0 && self.friction >= 0.0 && self.slip > 0.0) {
            return wrong(
                "damping and friction must not be negative, the slip speed must be positive",
            );
        }
        Ok(())
    }

    /// Force on a body of this shape and pose, about its centre of mass.
    pub fn wrench(&self, shape: &Shape, pose: &Pose, center: DVec3, twist: &Twist) -> Wrench {
        let mut total = Wrench::default();
        for_each_low_point(shape, pose, &mut |point| {
            let depth = self.height - point.z;
            if depth <= 0.0 {
                return;
            }
            let arm = point - center;
            let velocity = twist.linear + twist.angular.cross(arm);
            let normal = (self.stiffness * depth - self.damping * velocity.z).max(0.0);
            let slip = DVec3::new(velocity.x, velocity.y, 0.0);
            let friction = -slip * (self.friction * normal / slip.length().max(self.slip));
            let force = friction + DVec3::Z * normal;
            total.force += force;
            total.torque += arm.cross(force);
        });
        total
    }

    /// Energy stored in the ground under a body, J.
    pub fn energy(&self, shape: &Shape, pose: &Pose) -> f64 {
        let mut energy = 0.0;
        for_each_low_point(shape, pose, &mut |point| {
            let depth = (self.height - point.z).max(0.0);
            energy += 0.5 * self.stiffness * depth * depth;
        });
        energy
    }
}

/// Visits the points of a shape that can touch a horizontal plane first.
fn for_each_low_point(shape: &Shape, pose: &Pose, visit: &mut dyn FnMut(DVec3)) {
    match shape {
        Shape::Sphere { radius } => visit(pose.translation - DVec3::Z * *radius),
        Shape::Capsule {
            radius,
            half_length,
        } => {
            for end in [-half_length, *half_length] {
                visit(pose.point(DVec3::Z * end) - DVec3::Z * *radius);
            }
        }
        Shape::Cylinder {
            radius,
            half_length,
        } => {
            let rim = lowest_rim_direction(pose.rotation);
            for end in [-half_length, *half_length] {
                visit(pose.point(DVec3::Z * end + rim * *radius));
            }
        }
        Shape::Cone {
            radius,
            half_length,
        } => {
            visit(pose.point(DVec3::Z * *half_length));
            let rim = lowest_rim_direction(pose.rotation);
            visit(pose.point(rim * *radius - DVec3::Z * *half_length));
        }
        Shape::Ellipsoid { semi_axes } => {
            let down = pose.rotation.inverse() * DVec3::NEG_Z;
            let scaled = *semi_axes * down;
            let length = scaled.length().max(f64::MIN_POSITIVE);
            visit(pose.point(*semi_axes * scaled / length));
        }
        Shape::Box { half_extents } => {
            for corner in 0..8 {
                let sign = |bit: u32| if corner >> bit & 1 == 0 { -1.0 } else { 1.0 };
                visit(pose.point(*half_extents * DVec3::new(sign(0), sign(1), sign(2))));
            }
        }
        Shape::ConvexHull { points } => points.iter().for_each(|p| visit(pose.point(*p))),
        Shape::Mesh(mesh) => mesh.vertices.iter().for_each(|p| visit(pose.point(*p))),
        Shape::Compound(parts) => {
            for part in parts {
                let local = Pose {
                    translation: part.translation,
                    rotation: part.rotation,
                };
                for_each_low_point(&part.shape, &pose.compose(&local), visit);
            }
        }
    }
}

/// The direction in the xy plane of a body that points most downwards in the world.
fn lowest_rim_direction(rotation: DQuat) -> DVec3 {
    let r = DMat3::from_quat(rotation);
    let down = DVec3::new(-r.x_axis.z, -r.y_axis.z, 0.0);
    down.try_normalize().unwrap_or(DVec3::X)
}
