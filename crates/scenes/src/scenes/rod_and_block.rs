//! A light rod between a fixed body and a heavy block (Tomcin et al. 2014, Fig. 1d).
//!
//! The rod of 50 kg hangs by a hinge from a fixed post and holds a block of 7.5 t by another
//! hinge. When it swings back, the post stops the rod near its hinge, with the whole weight
//! of the block on the long arm of the lever.

use glam::{DQuat, DVec3};
use vincula::prelude::*;

use super::site::{self, Site};
use crate::error::SceneError;
use crate::gallery::Entry;
use crate::param::Param;
use crate::scene::{Probe, Scene};
use crate::values::Values;

pub(super) const ENTRY: Entry = Entry {
    name: "rod-and-block",
    summary: "A rod of 50 kg that holds a block of 7.5 t swings against a post",
    figure: "Tomcin Fig. 1d",
    params: &[
        Param::float("h", 0.02, (1e-7, 0.5), "s", "time step"),
        Param::duration(20.0),
        Param::float("rod_mass", 50.0, (1e-3, 1e6), "kg", "mass of the rod"),
        Param::float("block_mass", 7500.0, (1e-3, 1e9), "kg", "mass of the block"),
        Param::float("length", 3.0, (0.1, 100.0), "m", "length of the rod"),
        Param::float("angle", 60.0, (0.0, 80.0), "°", "how far it is lifted"),
        site::friction(0.4),
        site::density(2500.0),
        Param::gravity(),
        Param::float(
            "young",
            2e11,
            (1e3, 1e15),
            "Pa",
            "Young's modulus of the bodies",
        ),
    ],
    make,
};

fn make(values: &Values) -> Result<Scene, SceneError> {
    let length = values.float("length");
    let edge = (values.float("block_mass") / values.float("density")).cbrt();
    // Lifted towards +x; hanging straight down, the rod leans on the post at −x.
    let turned = DQuat::from_rotation_y(-values.float("angle").to_radians());
    let down = turned * DVec3::NEG_Z;
    let mut site = Site::new(values);
    let half_width = 0.05;
    let post = 0.2 * length;
    let middle = DVec3::new(-half_width - post, 0.0, -0.5 * post);
    let shape = Shape::Box {
        half_extents: DVec3::new(post, post, 0.5 * post),
    };
    site.fixed("post", shape, middle, DQuat::IDENTITY);
    let rod = Shape::Box {
        half_extents: DVec3::new(half_width, half_width, 0.5 * length),
    };
    let rod = BodyDef::new("rod", rod, site.density)
        .mass(values.float("rod_mass"))
        .at(0.5 * length * down)
        .turned(turned);
    let rod = site.add(rod);
    let block = BodyDef::new("block", site::cube(edge), site.density)
        .mass(values.float("block_mass"))
        .at((length + 0.5 * edge) * down)
        .turned(turned);
    let block = site.add(block);
    let builder = &mut site.builder;
    builder.joint(JointDef::hinge("pivot", World, rod, DVec3::ZERO, DVec3::Y));
    builder.joint(JointDef::hinge("hook", rod, block, length * down, DVec3::Y));
    Ok(site.scene(ENTRY.name, values)?.probe(Probe::new(
        "block-x",
        "way of the block from under the hinge",
        "m",
        move |view| view.state.center(block).x,
    )))
}
