//! The T-handle's flips against Runge–Kutta at 10 µs, which is itself held against Euler's
//! solution.

use vincula::prelude::*;

use super::case_name;
use crate::motion::{Outcome, Run, find_probe, largest, record};
use crate::row::Row;

const DURATION: f64 = 30.0;

/// Largest error of the reference, rad/s. Every flip magnifies what is left of the spin about
/// the other axes a thousandfold, and with it the rounding of the start.
const REFERENCE_ERROR: f64 = 3e-5;

/// Integrator, step (s), largest error of a flip's time (s) and of the energy.
const PROMISES: [(Integrator, f64, f64, f64); 4] = [
    (Integrator::Tempered, 0.01, 0.01, 1e-8),
    (Integrator::Rattle, 0.01, 0.01, 1e-8),
    (Integrator::Tempered, 0.001, 1e-4, 1e-8),
    (Integrator::Rattle, 0.001, 1e-4, 1e-8),
];

/// Times at which the spin along the intermediate axis changes its sign, s.
pub fn flips(points: &[(f64, f64)]) -> Vec<f64> {
    let crosses = |pair: &&[(f64, f64)]| pair[0].1 * pair[1].1 < 0.0;
    let time = |pair: &[(f64, f64)]| {
        let ((a, x), (b, y)) = (pair[0], pair[1]);
        a + (b - a) * x / (x - y)
    };
    points.windows(2).filter(crosses).map(time).collect()
}

pub fn measure() -> Outcome<Vec<Row>> {
    let scene = vincula_scenes::build("t-handle", &[])?;
    let reference = record(&scene, "omega", Run::reference(DURATION, 0.001))?;
    let truth = flips(&reference);
    let euler = find_probe(&scene, "omega")?;
    let errors = reference
        .iter()
        .map(|(t, y)| y - euler.reference(*t).unwrap_or(f64::NAN));
    let name = "T-handle, Runge–Kutta, 10 µs";
    let mut rows = vec![Row::error(
        name,
        "ω along the middle axis [rad/s]",
        "Euler's solution",
        largest(errors),
        REFERENCE_ERROR,
    )];
    for (integrator, h, late, lost) in PROMISES {
        let case = case_name("T-handle", integrator, h);
        let run = Run::new(integrator, h, DURATION);
        let found = flips(&record(&scene, "omega", run)?);
        let (a, b) = (truth.len() as f64, found.len() as f64);
        rows.push(Row::value(&case, "flips in 30 s", a, b, 0.0));
        let error = largest(truth.iter().zip(&found).map(|(a, b)| a - b));
        rows.push(Row::error(
            &case,
            "times of the flips [s]",
            "Runge–Kutta 10 µs",
            error,
            late,
        ));
        let loss = largest(record(&scene, "energy-loss", run)?.iter().map(|p| p.1));
        rows.push(Row::error(
            &case,
            "energy, relative",
            "conservation",
            loss,
            lost,
        ));
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flips_are_found_between_samples() {
        let wave = [(0.0, 1.0), (1.0, -1.0), (2.0, -1.0), (3.0, 3.0)];
        assert_eq!(flips(&wave), vec![0.5, 2.25]);
    }
}
