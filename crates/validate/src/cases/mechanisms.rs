//! Mechanisms with loops and redundant joints: energy, straightness, gaps.

use vincula::prelude::*;

use super::case_name;
use crate::motion::Outcome;
use crate::row::Row;
use crate::trace::{trace, trace_probe};

/// Largest gap of a joint, m.
const GAP: f64 = 1e-9;
/// Step for energy and straightness, s.
const STEP: f64 = 0.001;
/// Energy that may come or go in ten seconds, as a share of the largest kinetic energy.
const DRIFT: f64 = 1e-3;
/// How straight the line of Peaucellier's linkage is, m, and for how long, s.
const STRAIGHT: (f64, f64) = (1e-6, 60.0);
/// Step and duration of the tall lift, s.
const LIFTS: [(f64, f64); 2] = [(0.01, 5.0), (0.001, 1.0)];

pub fn measure() -> Outcome<Vec<Row>> {
    let mut rows = Vec::new();
    for name in ["four-bar", "bricard"] {
        rows.extend(energy_of(name)?);
    }
    rows.push(straightness()?);
    for (h, duration) in LIFTS {
        rows.push(lift(h, duration)?);
    }
    Ok(rows)
}

/// Energy and gaps over ten seconds of a linkage that is let go.
fn energy_of(name: &str) -> Outcome<[Row; 2]> {
    let scene = vincula_scenes::build(name, &[])?;
    let trace = trace(&scene, Settings::default(), STEP, 10.0)?;
    let case = case_name(name, Integrator::default(), STEP);
    let drift = trace.strayed() / trace.kinetic();
    Ok([
        Row::error(
            &case,
            "energy over 10 s / largest kinetic energy",
            "conservation",
            drift,
            DRIFT,
        ),
        gap_row(&case, "largest gap over 10 s [m]", trace.gap()),
    ])
}

fn straightness() -> Outcome<Row> {
    let scene = vincula_scenes::build("peaucellier", &[])?;
    let (most, duration) = STRAIGHT;
    let settings = Settings::default();
    let trace = trace_probe(&scene, settings, Some("deviation"), STEP, duration)?;
    Ok(Row::error(
        case_name("peaucellier", Integrator::default(), STEP),
        "drawing point off the line over 60 s [m]",
        "straight line",
        trace.probe(),
        most,
    ))
}

fn lift(h: f64, duration: f64) -> Outcome<Row> {
    let scene = vincula_scenes::build("scissor-lift", &[("segments", "220")])?;
    let trace = trace(&scene, Settings::default(), h, duration)?;
    let case = case_name("scissor lift, 220 segments", Integrator::default(), h);
    let quantity = format!("largest gap over {duration} s [m]");
    Ok(gap_row(&case, &quantity, trace.gap()))
}

/// A gap that should not be.
pub(super) fn gap_row(case: &str, quantity: &str, gap: f64) -> Row {
    Row::error(case, quantity, "closed joints", gap, GAP)
}
