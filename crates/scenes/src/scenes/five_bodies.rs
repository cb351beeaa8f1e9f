//! Five rectangles thrown into a room, where they pile up (Cline and Pai 2003, Fig. 10).

use super::flatland::{Room, overlap_probe};
use crate::error::SceneError;
use crate::gallery::Entry;
use crate::param::Param;
use crate::scene::{Probe, Scene};
use crate::values::Values;

pub(super) const ENTRY: Entry = Entry {
    name: "five-bodies",
    summary: "Five rectangles fall into a room and come to rest on each other",
    figure: "Cline and Pai Fig. 10",
    params: &[
        Param::step(0.005),
        Param::duration(3.0),
        Param::float("friction", 0.4, (0.0, 10.0), "", "coefficient of friction"),
        Param::gravity(),
        Param::young(),
    ],
    make,
};

/// Half extents, m; place x, z and angle; velocity x, z and spin.
const BODIES: [([f64; 2], [f64; 3], [f64; 3]); 5] = [
    ([0.20, 0.08], [-0.25, 0.30, 0.2], [0.5, 0.0, 1.0]),
    ([0.12, 0.12], [0.25, 0.35, 0.6], [-0.5, 0.0, -2.0]),
    ([0.25, 0.05], [0.00, 0.70, -0.3], [0.3, -1.0, 0.5]),
    ([0.10, 0.15], [-0.20, 1.05, 0.9], [0.8, 0.0, 3.0]),
    ([0.15, 0.07], [0.22, 1.15, -0.8], [-0.6, 0.5, -1.0]),
];

fn make(values: &Values) -> Result<Scene, SceneError> {
    let mut room = Room::new(values, 1.2, 1.6);
    let mut last = None;
    for (index, (half, at, motion)) in BODIES.into_iter().enumerate() {
        last = Some(room.rectangle(&format!("body-{index}"), half, at, motion));
    }
    let scene = Scene::new(
        ENTRY.name,
        room.builder.build()?,
        values.float("h"),
        values.float("duration"),
    );
    let Some(last) = last else { return Ok(scene) };
    Ok(scene.probe(overlap_probe()).probe(Probe::new(
        "height",
        "height of the last rectangle",
        "m",
        move |view| view.state.center(last).z,
    )))
}
