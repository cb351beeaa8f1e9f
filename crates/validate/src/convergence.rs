//! Order of convergence and work against precision, for every integrator.
//!
//! The error of a run is the largest angle between its orientation and the true one over the
//! whole trajectory: errors at one instant may cancel, the largest cannot. The order is the
//! slope of log error over log h by least squares. The bodies are stiff enough for their
//! strain to stay below every error, since the truth is rigid.

use std::time::Instant;

use vincula::prelude::*;
use vincula_scenes::Scene;

use crate::motion::{Method, Outcome, Run, angle_between, largest, orientations};
use crate::row::{align, number};

/// Unit of all steps: that of the reference, s.
const GRAIN: f64 = 1e-5;
/// Steps in grains, coarse to fine.
const STEPS: [usize; 8] = [1600, 800, 400, 200, 100, 50, 25, 10];
/// Young's modulus, Pa.
const YOUNG: &str = "1e13";

/// One integrator on one motion.
pub struct Study {
    /// The motion.
    pub motion: &'static str,
    /// The integrator.
    pub integrator: Integrator,
    /// All runs, coarse to fine.
    pub points: Vec<Point>,
    /// Slope of error over step in the asymptotic range.
    pub order: f64,
}

/// One run.
#[derive(Clone, Copy)]
pub struct Point {
    /// Step, s.
    pub h: f64,
    /// Largest error of the orientation, rad.
    pub error: f64,
    /// Wall time per simulated second, s.
    pub work: f64,
}

impl Study {
    /// The least slope that counts as the method's order.
    pub fn demanded(&self) -> f64 {
        if self.integrator.order() == 1 {
            0.95
        } else {
            1.9
        }
    }

    /// Whether the order is what the method promises.
    pub fn passes(&self) -> bool {
        self.order >= self.demanded()
    }

    /// The cells of the study as text.
    pub fn cells(&self) -> Vec<String> {
        let at = |h: f64| {
            let point = self.points.iter().find(|p| (p.h - h).abs() < 1e-9);
            point.map_or_else(|| "–".to_owned(), |p| number(p.error))
        };
        let verdict = if self.passes() { "yes" } else { "NO" };
        vec![
            self.motion.to_owned(),
            self.integrator.name().to_owned(),
            at(8e-3),
            at(1e-3),
            at(2.5e-4),
            format!("{:.3}", self.order),
            format!("{:.2}", self.demanded()),
            verdict.to_owned(),
        ]
    }
}

/// Headings of the cells.
pub const HEADINGS: [&str; 8] = [
    "motion",
    "integrator",
    "error, 8 ms",
    "error, 1 ms",
    "error, 0.25 ms",
    "order",
    "at least",
    "pass",
];

/// The studies for a terminal.
pub fn text_table(studies: &[Study]) -> String {
    align(
        &HEADINGS,
        &studies.iter().map(Study::cells).collect::<Vec<_>>(),
    )
}

/// Every integrator on the pendulum and on the heavy top.
pub fn study_all(quick: bool) -> Outcome<Vec<Study>> {
    let mut studies = Vec::new();
    for (motion, duration) in [("pendulum", 0.8), ("heavy-top", 0.48)] {
        let scene = vincula_scenes::build(motion, &[("young", YOUNG)])?;
        let truth = orientations(&scene, Run::reference(duration, GRAIN))?;
        for integrator in Integrator::ALL {
            studies.push(study(&scene, motion, integrator, duration, &truth, quick)?);
        }
    }
    Ok(studies)
}

fn study(
    scene: &Scene,
    motion: &'static str,
    integrator: Integrator,
    duration: f64,
    truth: &[(f64, DQuat)],
    quick: bool,
) -> Outcome<Study> {
    let repetitions = if quick { 1 } else { 11 };
    let mut points = Vec::new();
    for grains in STEPS {
        let run = Run::new(Method::Affine(integrator), grains as f64 * GRAIN, duration);
        let mut work = f64::INFINITY;
        let mut found = Vec::new();
        for _ in 0..repetitions {
            let start = Instant::now();
            found = orientations(scene, run)?;
            work = work.min(start.elapsed().as_secs_f64() / duration);
        }
        let errors = found
            .iter()
            .enumerate()
            .map(|(k, (_, q))| angle_between(*q, truth[k * grains].1));
        points.push(Point {
            h: run.h,
            error: largest(errors),
            work,
        });
    }
    let order = slope(points.iter().filter(|p| asymptotic(integrator, p.h)));
    Ok(Study {
        motion,
        integrator,
        points,
        order,
    })
}

/// Steps small enough for the leading term of the error to rule, and large enough for it to
/// stand above strain and rounding.
fn asymptotic(integrator: Integrator, h: f64) -> bool {
    if integrator.order() == 1 {
        h < 0.6e-3
    } else {
        (0.4e-3..5e-3).contains(&h)
    }
}

/// Least-squares slope of log error over log h.
fn slope<'a>(points: impl Iterator<Item = &'a Point>) -> f64 {
    let logs: Vec<(f64, f64)> = points.map(|p| (p.h.ln(), p.error.ln())).collect();
    let n = logs.len() as f64;
    let (x, y) = logs
        .iter()
        .fold((0.0, 0.0), |sum, p| (sum.0 + p.0 / n, sum.1 + p.1 / n));
    let over: f64 = logs.iter().map(|p| (p.0 - x) * (p.1 - y)).sum();
    let under: f64 = logs.iter().map(|p| (p.0 - x) * (p.0 - x)).sum();
    over / under
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slope_of_a_power_is_its_exponent() {
        let point = |h: f64| Point {
            h,
            error: 3.0 * h.powi(2),
            work: 1.0,
        };
        let points = [point(0.1), point(0.05), point(0.01)];
        assert!((slope(points.iter()) - 2.0).abs() < 1e-12);
    }
}
