//! A thrown, spinning brick: `x = x₀ + v₀ t + ½ g t²`, `p = p₀ + m g t`.

use vincula::diagnostics::momentum;
use vincula::prelude::*;
use vincula_scenes::Scene;

use super::{BEST, case_name};
use crate::motion::{Outcome, Run, largest, watch};
use crate::row::Row;

const SPEED: DVec3 = DVec3::new(3.0, -1.0, 8.0);
const STEP: f64 = 0.01;
const DURATION: f64 = 2.0;

fn brick() -> Outcome<Scene> {
    let mut builder = ModelBuilder::new();
    let half_extents = DVec3::new(0.1, 0.05, 0.03);
    builder.body(
        BodyDef::new("brick", Shape::Box { half_extents }, 1000.0)
            .moving(SPEED, DVec3::new(1.0, 5.0, -2.0)),
    );
    Ok(Scene::new("brick", builder.build()?, STEP, DURATION))
}

pub fn measure() -> Outcome<Vec<Row>> {
    let scene = brick()?;
    let model = &scene.model;
    let (id, gravity) = (model.body_ids().next().ok_or("no body")?, model.gravity());
    let mass = model.body(id).mass.mass;
    let mut rows = Vec::new();
    for integrator in Integrator::ALL {
        let (mut path, mut push) = (Vec::new(), Vec::new());
        watch(&scene, Run::new(integrator, STEP, DURATION), |view| {
            let t = view.state.time;
            let place = SPEED * t + 0.5 * gravity * t * t;
            path.push((view.state.center(id) - place).length());
            let exact = mass * (SPEED + gravity * t);
            push.push((momentum(view.model, view.state).linear - exact).length());
        })?;
        let case = case_name("free flight", integrator, STEP);
        // Backward differences are not exact on a parabola; only these two are.
        if BEST.contains(&integrator) {
            rows.push(Row::error(
                &case,
                "position [m]",
                "parabola",
                largest(path),
                1e-11,
            ));
        }
        let scale = mass * SPEED.length();
        let error = largest(push) / scale;
        rows.push(Row::error(
            &case,
            "momentum, relative",
            "p₀ + m g t",
            error,
            1e-11,
        ));
    }
    Ok(rows)
}
