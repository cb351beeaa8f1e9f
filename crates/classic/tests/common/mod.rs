//! What several tests need: boxes over a plane, and a chain.

use glam::DVec3;
use vincula::body::shape::Shape;
use vincula::prelude::*;
use vincula_classic::contact::{Contact, Detect};
use vincula_classic::system::System;
use vincula_classic::system::forces::shape_pose;

/// Corners of boxes over a plane of the world.
pub struct Plane {
    /// Unit normal, out of the ground.
    pub normal: DVec3,
    /// Coefficient of friction.
    pub friction: f64,
    /// Corners closer than this are reported, m.
    pub reach: f64,
}

impl Detect for Plane {
    fn detect(
        &mut self,
        model: &Model,
        system: &System,
        _: &Control,
        _: f64,
        out: &mut Vec<Contact>,
    ) {
        out.clear();
        for (index, (def, body)) in model.bodies().iter().zip(&system.bodies).enumerate() {
            let Some(Shape::Box { half_extents }) = def.shape else {
                continue;
            };
            let pose = shape_pose(def, body);
            for corner in 0..8 {
                let sign = |bit: usize| if corner >> bit & 1 == 1 { 1.0 } else { -1.0 };
                let local = half_extents * DVec3::new(sign(0), sign(1), sign(2));
                let point = pose.point(local);
                let gap = self.normal.dot(point);
                if gap < self.reach {
                    out.push(Contact {
                        ends: [None, Some(index)],
                        points: [point - self.normal * gap, point],
                        normal: self.normal,
                        gap,
                        friction: self.friction,
                        surface_velocity: DVec3::ZERO,
                    });
                }
            }
        }
    }
}

/// Links of 100 mm on ball joints along x, pinned at the origin, under this gravity, m/s².
#[allow(dead_code, reason = "not every test has a chain")]
pub fn chain(links: usize, gravity: f64) -> Model {
    let mut builder = ModelBuilder::new();
    builder.gravity(DVec3::Z * -gravity);
    let shape = Shape::Box {
        half_extents: DVec3::new(0.05, 0.01, 0.01),
    };
    let mut last = None;
    for k in 0..links {
        let start = DVec3::X * (0.1 * k as f64);
        let body = builder.body(
            BodyDef::new(format!("link-{k}"), shape.clone(), 1000.0).at(start + DVec3::X * 0.05),
        );
        let name = format!("joint-{k}");
        builder.joint(match last {
            None => JointDef::ball(name, World, body, start),
            Some(before) => JointDef::ball(name, before, body, start),
        });
        last = Some(body);
    }
    builder.build().expect("a chain")
}
