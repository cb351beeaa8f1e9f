//! Free boxes keep their angular momentum and energy, slow and fast.

use vincula::diagnostics::{energy, spin};
use vincula::prelude::*;
use vincula_scenes::Scene;

use super::case_name;
use crate::motion::{Outcome, Run, largest, watch};
use crate::row::Row;

const STEP: f64 = 0.01;
const DURATION: f64 = 10.0;

/// Integrator, spin (rad/s) and largest relative errors of angular momentum and energy.
const PROMISES: [(Integrator, f64, f64, f64); 4] = [
    (Integrator::Tempered, 10.0, 1e-2, 1e-2),
    (Integrator::Rattle, 10.0, 1e-6, 1e-3),
    (Integrator::Tempered, 100.0, 1e-2, 1e-2),
    (Integrator::Rattle, 100.0, 1e-2, 1e-2),
];

/// A box that spins about a direction that is no principal axis, so that it tumbles.
fn tumbling(half_extents: DVec3, rate: f64) -> Outcome<Scene> {
    let mut builder = ModelBuilder::new();
    builder.gravity(DVec3::ZERO);
    let omega = DVec3::new(2.0, 3.0, 6.0) / 7.0 * rate;
    builder.body(BodyDef::new("box", Shape::Box { half_extents }, 1000.0).moving(DVec3::X, omega));
    Ok(Scene::new("box", builder.build()?, STEP, DURATION))
}

pub fn measure() -> Outcome<Vec<Row>> {
    let boxes = [
        ("cube", DVec3::splat(0.05)),
        ("brick", DVec3::new(0.05, 0.03, 0.02)),
    ];
    let mut rows = Vec::new();
    for (integrator, rate, momentum_promise, energy_promise) in PROMISES {
        for (name, half_extents) in boxes {
            let scene = tumbling(half_extents, rate)?;
            let (momentum, lost) = drift(&scene, integrator)?;
            let case = case_name(&format!("free {name}, {rate} rad/s"), integrator, STEP);
            let quantity = "angular momentum over 10 s, relative";
            rows.push(Row::error(
                &case,
                quantity,
                "conservation",
                momentum,
                momentum_promise,
            ));
            let quantity = "energy over 10 s, relative";
            rows.push(Row::error(
                &case,
                quantity,
                "conservation",
                lost,
                energy_promise,
            ));
        }
    }
    Ok(rows)
}

/// Largest relative changes of angular momentum and energy.
fn drift(scene: &Scene, integrator: Integrator) -> Outcome<(f64, f64)> {
    let id = scene.model.body_ids().next().ok_or("no body")?;
    let (mut spins, mut energies) = (Vec::new(), Vec::new());
    watch(scene, Run::new(integrator, STEP, DURATION), |view| {
        spins.push(spin(view.model, view.state, id));
        energies.push(energy(view.model, view.state).total());
    })?;
    let momentum = largest(
        spins
            .iter()
            .map(|l| (*l - spins[0]).length() / spins[0].length()),
    );
    let lost = largest(energies.iter().map(|e| e / energies[0] - 1.0));
    Ok((momentum, lost))
}
