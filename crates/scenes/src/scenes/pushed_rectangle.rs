//! A rectangle in a room, chased by a pointer that repels it (Cline and Pai 2003, Figs. 8
//! and 9): impacts, rest, sliding and rolling over its corners.
//!
//! In the paper a person moves the pointer; here it runs along a closed curve, so that the
//! motion can be repeated. It pushes with `F r²/(r² + d²)` along the line from it to the centre,
//! and a little beside the centre.

use glam::DVec3;

use super::flatland::{Room, overlap_probe};
use crate::error::SceneError;
use crate::gallery::Entry;
use crate::param::Param;
use crate::scene::{Probe, Scene};
use crate::values::Values;

pub(super) const ENTRY: Entry = Entry {
    name: "pushed-rectangle",
    summary: "A rectangle in a room is pushed around by a moving pointer",
    figure: "Cline and Pai Figs. 8 and 9",
    params: &[
        Param::step(0.005),
        Param::duration(10.0),
        Param::float("push", 80.0, (0.0, 1e4), "N", "push at no distance"),
        Param::float("friction", 0.4, (0.0, 10.0), "", "coefficient of friction"),
        Param::gravity(),
        Param::young(),
    ],
    make,
};

/// Distance at which the push is half, m.
const REACH: f64 = 0.4;
/// How far from the centre the push acts, m.
const OFFSET: f64 = 0.03;

/// Where the pointer is at a time, m.
fn pointer(t: f64) -> DVec3 {
    DVec3::new(
        0.8 * (1.1 * t).sin(),
        0.0,
        0.25 + 0.25 * (1.7 * t + 0.5).sin(),
    )
}

fn make(values: &Values) -> Result<Scene, SceneError> {
    let mut room = Room::new(values, 2.0, 1.5);
    let body = room.rectangle("rectangle", [0.2, 0.1], [0.3, 0.6, 0.4], [0.0, 0.0, 0.0]);
    let push = values.float("push");
    let scene = Scene::new(
        ENTRY.name,
        room.builder.build()?,
        values.float("h"),
        values.float("duration"),
    );
    Ok(scene
        .driven(move |_, state, control| {
            let center = state.center(body);
            let away = center - pointer(state.time);
            let strength = push * REACH * REACH / (REACH * REACH + away.length_squared());
            let force = away.normalize_or_zero() * strength;
            let beside = DVec3::Y.cross(away).normalize_or_zero() * OFFSET;
            control.add_force_at(state, body, force, center + beside);
        })
        .probe(overlap_probe())
        .probe(Probe::new(
            "height",
            "height of the centre",
            "m",
            move |view| view.state.center(body).z,
        )))
}
