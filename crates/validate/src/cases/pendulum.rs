//! The physical pendulum against its elliptic solution (He et al. 2026, Eq. 60).
//!
//! Energy is judged three ways: what is missing at the end, what the mean over the last swing
//! lacks against the first, and how far it strays in between. A second-order method strays
//! within each swing without losing anything.

use vincula::diagnostics::energy;
use vincula::prelude::*;
use vincula_scenes::Scene;

use super::case_name;
use crate::motion::{Outcome, Run, largest, largest_error, watch};
use crate::row::Row;

const STEP: f64 = 0.01;
const DURATION: f64 = 5.0;
/// A whole swing from level, s, near enough for a mean.
const SWING: f64 = 1.93;

/// What an integrator promises: largest error of the angle (rad), loss and straying of the
/// energy (shares of m g d) and error of the force in the pivot (share of the weight).
struct Promise {
    integrator: Integrator,
    angle: f64,
    loss: f64,
    straying: f64,
    force: f64,
}

const PROMISES: [Promise; 2] = [
    Promise {
        integrator: Integrator::Tempered,
        angle: 0.05,
        loss: 5e-3,
        straying: 5e-3,
        force: 0.02,
    },
    Promise {
        integrator: Integrator::Rattle,
        angle: 5e-3,
        loss: 1e-4,
        straying: 1e-3,
        force: 0.02,
    },
];

pub fn measure() -> Outcome<Vec<Row>> {
    let mut rows = Vec::new();
    for promise in PROMISES {
        rows.extend(measure_one(&promise)?);
    }
    Ok(rows)
}

fn measure_one(promise: &Promise) -> Outcome<Vec<Row>> {
    let scene = vincula_scenes::build("pendulum", &[])?;
    let run = Run::new(promise.integrator, STEP, DURATION);
    let id = scene.model.body_ids().next().ok_or("no body")?;
    let weight = scene.model.body(id).mass.mass * scene.model.gravity().length();
    let swing = weight * scene.state.center(id).length();
    let (end, means, straying) = energy_losses(&scene, run, swing)?;
    let angle = largest_error(&scene, run, "angle")?;
    let force = largest_error(&scene, run, "reaction")? / weight;

    let case = case_name("pendulum", promise.integrator, STEP);
    let error = |quantity: &str, truth, measured, tolerance| {
        Row::error(&case, quantity, truth, measured, tolerance)
    };
    let energy = "conservation";
    Ok(vec![
        error(
            "angle over 5 s [rad]",
            "elliptic (Eq. 60)",
            angle,
            promise.angle,
        ),
        error("energy lost at 5 s / m g d", energy, end, promise.loss),
        error(
            "energy lost, first to last swing / m g d",
            energy,
            means,
            promise.loss,
        ),
        error(
            "energy straying / m g d",
            energy,
            straying,
            promise.straying,
        ),
        error("pivot force / weight", "elliptic", force, promise.force),
    ])
}

/// Loss at the end, loss between the means over the first and the last swing, and largest
/// straying, as shares of `swing` (J).
fn energy_losses(scene: &Scene, run: Run, swing: f64) -> Outcome<(f64, f64, f64)> {
    let mut totals = Vec::new();
    watch(scene, run, |view| {
        totals.push(energy(view.model, view.state).total())
    })?;
    let count = (SWING / run.h).round() as usize;
    let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
    let (first, last) = (totals[0], totals[totals.len() - 1]);
    let means = mean(&totals[..count]) - mean(&totals[totals.len() - count..]);
    let straying = largest(totals.iter().map(|e| e - first));
    Ok(((first - last) / swing, means / swing, straying / swing))
}
