//! A torque-free symmetric top: its axis circles the angular momentum at a steady rate.

use vincula::diagnostics::spin;
use vincula::prelude::*;
use vincula::reference::SymmetricTop;
use vincula_scenes::Scene;

use super::{BEST, case_name};
use crate::motion::{Outcome, Run, angle_between, largest, orientations, rigid_body, watch};
use crate::row::Row;

const DURATION: f64 = 10.0;
/// Step (s) and largest error of the orientation (rad).
const PROMISES: [(f64, f64); 2] = [(0.01, 0.01), (0.001, 1e-4)];

/// A disc thrown with a wobble.
fn disc(h: f64) -> Outcome<Scene> {
    let mut builder = ModelBuilder::new();
    builder.gravity(DVec3::ZERO);
    let shape = Shape::Cylinder {
        radius: 0.15,
        half_length: 0.02,
    };
    builder
        .body(BodyDef::new("disc", shape, 1000.0).moving(DVec3::ZERO, DVec3::new(2.0, 0.0, 6.0)));
    Ok(Scene::new("disc", builder.build()?, h, DURATION))
}

pub fn measure() -> Outcome<Vec<Row>> {
    let mut rows = Vec::new();
    for (h, tolerance) in PROMISES {
        let scene = disc(h)?;
        let id = scene.model.body_ids().next().ok_or("no body")?;
        let start = rigid_body(&scene.model, &scene.state, id);
        let exact = SymmetricTop::new(start.inertia.x, start.inertia.z, start.q, start.omega)?;
        for integrator in BEST {
            let case = case_name("symmetric top", integrator, h);
            let run = Run::new(integrator, h, DURATION);
            let turns = orientations(&scene, run)?;
            let error = largest(
                turns
                    .iter()
                    .map(|(t, q)| angle_between(*q, exact.orientation(*t))),
            );
            rows.push(Row::error(
                &case,
                "orientation over 10 s [rad]",
                "closed form",
                error,
                tolerance,
            ));
            let momentum = exact.angular_momentum();
            let mut drift = Vec::new();
            watch(&scene, run, |view| {
                drift.push((spin(view.model, view.state, id) - momentum).length());
            })?;
            let error = largest(drift) / momentum.length();
            rows.push(Row::error(
                &case,
                "angular momentum, relative",
                "conservation",
                error,
                1e-9,
            ));
        }
    }
    Ok(rows)
}
