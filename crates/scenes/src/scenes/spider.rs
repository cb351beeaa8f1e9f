//! A hub that hangs from the world with many legs of two links each: one body with as many
//! joints as there are legs.

use std::f64::consts::TAU;

use glam::DVec3;
use vincula::joint::JointKind;
use vincula::prelude::*;

use super::linkage::Linkage;
use crate::error::SceneError;
use crate::gallery::Entry;
use crate::param::Param;
use crate::scene::{Probe, Scene};
use crate::values::Values;

pub(super) const ENTRY: Entry = Entry {
    name: "spider",
    summary: "A hub on a thread drops its legs, two links each",
    figure: "",
    params: &[
        Param::step(0.005),
        Param::duration(5.0),
        Param::int("legs", 8, (1, 4000), "number of legs"),
        Param::choice("joint", &["hinge", "ball"], "joints of hips and knees"),
        Param::float("radius", 0.2, (1e-2, 100.0), "m", "radius of the hub"),
        Param::float("thigh", 0.3, (1e-2, 10.0), "m", "length of the upper links"),
        Param::float("shank", 0.4, (1e-2, 10.0), "m", "length of the lower links"),
        Param::float("density", 1000.0, (1e-3, 1e6), "kg/m³", "density"),
        Param::gravity(),
        Param::young(),
    ],
    make,
};

/// Half the thickness of the hub and edge of the square section of the links, m.
const HUB: f64 = 0.05;
const WIDTH: f64 = 0.03;

fn make(values: &Values) -> Result<Scene, SceneError> {
    let legs = values.int("legs");
    let kind = match values.choice("joint") {
        "ball" => JointKind::Ball,
        _ => JointKind::Hinge,
    };
    let density = values.float("density");
    let mut spider = Linkage::new(values, density);
    let shape = Shape::Cylinder {
        radius: values.float("radius"),
        half_length: HUB,
    };
    let hub = spider.add(BodyDef::new("hub", shape, density));
    spider.join(JointDef::ball("thread", World, hub, DVec3::Z * (2.0 * HUB)));
    let mut foot = hub;
    for leg in 0..legs {
        let bearing = TAU * leg as f64 / legs as f64;
        let out = DVec3::new(bearing.cos(), bearing.sin(), 0.0);
        // The thighs rise a little, each by its own angle, so that the fall is not symmetric.
        let rise = 0.3 + 0.2 * (1.7 * leg as f64).sin();
        let hip = out * values.float("radius");
        let thigh_along = out * rise.cos() + DVec3::Z * rise.sin();
        let knee = hip + thigh_along * values.float("thigh");
        let toe = knee + out * values.float("shank");
        let thigh = spider.rod(format!("thigh-{leg}"), [hip, knee], WIDTH);
        let shank = spider.rod(format!("shank-{leg}"), [knee, toe], WIDTH);
        let axis = DVec3::Z.cross(out);
        spider.join(JointDef::new(
            format!("hip-{leg}"),
            kind,
            hub,
            thigh,
            hip,
            axis,
        ));
        spider.join(JointDef::new(
            format!("knee-{leg}"),
            kind,
            thigh,
            shank,
            knee,
            axis,
        ));
        foot = shank;
    }
    Ok(spider.scene(ENTRY.name, values)?.probe(Probe::new(
        "shank-height",
        "height of the last shank",
        "m",
        move |view| view.state.center(foot).z,
    )))
}
