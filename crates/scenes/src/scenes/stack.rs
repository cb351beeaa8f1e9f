//! A stack of cubes, the topmost heavier than the rest.
//!
//! At a high ratio of masses the forces at the bottom must pass through light cubes: solvers
//! that go from contact to contact let the stack collapse.

use glam::{DQuat, DVec3};

use super::site::{self, Site, cube};
use crate::error::SceneError;
use crate::gallery::Entry;
use crate::param::Param;
use crate::scene::{Probe, Scene};
use crate::values::Values;

pub(super) const ENTRY: Entry = Entry {
    name: "stack",
    summary: "A stack of cubes stands under the weight of a heavy one on top",
    figure: "",
    params: &[
        Param::step(0.01),
        Param::duration(60.0),
        Param::int("n", 10, (1, 1000), "number of cubes"),
        Param::float(
            "mass_ratio",
            1000.0,
            (1e-4, 1e6),
            "",
            "mass of the top to the others",
        ),
        Param::float("edge", 1.0, (1e-3, 100.0), "m", "edge of a cube"),
        site::friction(0.5),
        site::density(1000.0),
        Param::gravity(),
        Param::young(),
    ],
    make,
};

fn make(values: &Values) -> Result<Scene, SceneError> {
    let (count, edge) = (values.int("n"), values.float("edge"));
    let mut site = Site::new(values);
    site.ground();
    let density = site.density;
    let mut top = None;
    for k in 0..count {
        if k + 1 == count {
            site.density = density * values.float("mass_ratio");
        }
        let at = DVec3::Z * edge * (k as f64 + 0.5);
        top = Some(site.solid(format!("cube-{k}"), cube(edge), at, DQuat::IDENTITY));
    }
    let scene = site.scene(ENTRY.name, values)?;
    let Some(top) = top else { return Ok(scene) };
    let height = edge * (count as f64 - 0.5);
    Ok(scene
        .probe(
            Probe::new("top-height", "height of the top", "m", move |view| {
                view.state.center(top).z
            })
            .against(move |_| height),
        )
        .probe(
            Probe::new("top-drift", "drift of the top", "m", move |view| {
                view.state.center(top).truncate().length()
            })
            .against(|_| 0.0),
        ))
}
