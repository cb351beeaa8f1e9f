//! Motions whose truth is known, one file each.

mod conservation;
mod free_flight;
mod heavy_top;
mod mechanisms;
mod pendulum;
mod rotor;
mod symmetric_top;
mod t_handle;
mod violent;

use vincula::prelude::Integrator;

use crate::motion::Outcome;
use crate::row::Row;

/// The default integrator and the most accurate one.
const BEST: [Integrator; 2] = [Integrator::Tempered, Integrator::Rattle];

/// Every row of the table.
pub fn measure_all() -> Outcome<Vec<Row>> {
    let cases = [
        free_flight::measure,
        pendulum::measure,
        heavy_top::measure,
        t_handle::measure,
        symmetric_top::measure,
        rotor::measure,
        conservation::measure,
        mechanisms::measure,
        violent::measure,
    ];
    let mut rows = Vec::new();
    for case in cases {
        rows.extend(case()?);
    }
    Ok(rows)
}

/// The name of a case with its integrator and step (s).
fn case_name(motion: &str, integrator: Integrator, h: f64) -> String {
    let millis = (h * 1e6).round() / 1e3;
    format!("{motion}, {integrator}, {millis} ms")
}
