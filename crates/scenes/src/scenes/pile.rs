//! Many solids fall into a bin and come to rest on each other.

use glam::{DQuat, DVec3};
use vincula::diagnostics::energy;
use vincula::prelude::*;

use super::site::{self, Site, cube};
use super::tree::Random;
use crate::error::SceneError;
use crate::gallery::Entry;
use crate::param::Param;
use crate::scene::{Probe, Scene};
use crate::values::Values;

pub(super) const ENTRY: Entry = Entry {
    name: "pile",
    summary: "Boxes, balls and capsules fall into a bin and settle",
    figure: "",
    params: &[
        Param::step(0.01),
        Param::duration(5.0),
        Param::int("n", 1000, (1, 1_000_000), "number of solids"),
        Param::choice(
            "of",
            &["boxes", "spheres", "capsules", "mixed"],
            "what falls",
        ),
        Param::float(
            "edge",
            0.2,
            (1e-3, 10.0),
            "m",
            "edge of a box, diameter of a ball",
        ),
        Param::bool("walls", true, "whether walls keep them together"),
        site::friction(0.5),
        site::compliance(1e-7),
        site::density(1000.0),
        Param::gravity(),
        Param::young(),
    ],
    make,
};

/// The shape of the k-th solid, none of them larger than `edge` across a side.
fn shape(of: &str, k: usize, edge: f64) -> Shape {
    let kinds = ["boxes", "spheres", "capsules"];
    let kind = if of == "mixed" { kinds[k % 3] } else { of };
    match kind {
        "spheres" => Shape::Sphere { radius: 0.5 * edge },
        "capsules" => Shape::Capsule {
            radius: 0.3 * edge,
            half_length: 0.3 * edge,
        },
        _ => cube(edge),
    }
}

fn make(values: &Values) -> Result<Scene, SceneError> {
    let (count, edge) = (values.int("n"), values.float("edge"));
    let of = values.choice("of");
    // A bin about as wide as the pile will be high; apart enough to turn freely at first.
    let wide = ((count as f64).cbrt().ceil() as usize).max(1);
    let apart = 1.8 * edge;
    let half = 0.5 * apart * wide as f64;
    let mut site = Site::new(values);
    site.yields(values);
    site.ground();
    if values.bool("walls") {
        for (name, normal) in [
            ("left", DVec3::X),
            ("right", DVec3::NEG_X),
            ("front", DVec3::Y),
            ("back", DVec3::NEG_Y),
        ] {
            site.wall(name, -half * normal, normal);
        }
    }
    let mut random = Random(values.seed());
    for k in 0..count {
        let cell = DVec3::new(
            (k % wide) as f64 + 0.5,
            (k / wide % wide) as f64 + 0.5,
            (k / wide / wide) as f64 + 0.5,
        );
        let at = apart * cell - DVec3::new(half, half, 0.0);
        let turned = DQuat::from_scaled_axis(random.direction());
        let shape = shape(of, k, edge);
        site.solid(format!("solid-{k}"), shape, at, turned);
    }
    let scene = site.scene(ENTRY.name, values)?;
    Ok(scene
        .probe(Probe::new("kinetic", "kinetic energy", "J", |view| {
            energy(view.model, view.state).kinetic
        }))
        .probe(Probe::new("height", "mean height", "m", |view| {
            let ids = view.model.body_ids();
            let count = ids.len() as f64;
            ids.map(|id| view.state.center(id).z).sum::<f64>() / count
        })))
}
