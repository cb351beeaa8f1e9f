//! What is stepped: free boxes, and chains of links on ball joints.

use vincula::prelude::*;

use crate::motion::Outcome;

/// Boxes that nothing holds.
pub const FREE: &str = "free boxes";
/// Links that hang from the world in a row.
pub const CHAIN: &str = "chain of ball joints";

/// Every load with its number of bodies.
pub const LOADS: [(&str, usize); 5] = [
    (FREE, 1),
    (FREE, 1000),
    (FREE, 1_000_000),
    (CHAIN, 1000),
    (CHAIN, 10_000),
];

/// The model of a load.
pub fn build(name: &str, bodies: usize) -> Outcome<Model> {
    if name == CHAIN {
        chain(bodies)
    } else {
        free(bodies)
    }
}

fn free(bodies: usize) -> Outcome<Model> {
    let mut builder = ModelBuilder::new();
    let half_extents = DVec3::new(0.05, 0.03, 0.02);
    for index in 0..bodies {
        let (sin, cos) = (index as f64).sin_cos();
        builder.body(
            BodyDef::new(format!("box {index}"), Shape::Box { half_extents }, 1000.0)
                .at(DVec3::X * index as f64)
                .moving(DVec3::new(0.1, 0.2, sin), DVec3::new(cos, 1.0, sin) * 2.0),
        );
    }
    Ok(builder.build()?)
}

fn chain(bodies: usize) -> Outcome<Model> {
    let length = 0.1;
    let half_extents = DVec3::new(0.5 * length, 0.01, 0.01);
    let mut builder = ModelBuilder::new();
    let mut last: Option<BodyId> = None;
    for index in 0..bodies {
        let start = DVec3::X * (index as f64 * length);
        let link = builder.body(
            BodyDef::new(format!("link {index}"), Shape::Box { half_extents }, 1000.0)
                .at(start + DVec3::X * (0.5 * length)),
        );
        let name = format!("joint {index}");
        builder.joint(match last {
            None => JointDef::ball(name, World, link, start),
            Some(before) => JointDef::ball(name, before, link, start),
        });
        last = Some(link);
    }
    Ok(builder.build()?)
}
