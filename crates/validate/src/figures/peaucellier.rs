//! Tomcin et al., Fig. 3(c): iterations of the joint correction and condition of the matrix
//! for several shifts, on a linkage with nine redundant rows.

use vincula::prelude::*;
use vincula_classic::system::Method;
use vincula_classic::tomcin::{Tomcin, TomcinSettings};
use vincula_exchange::{Figure, Plot, Series};

use super::Drawn;
use crate::motion::Outcome;

const SHIFTS: [f64; 6] = [1e-6, 1e-8, 1e-10, 1e-12, 1e-14, 1e-16];
const H: f64 = 0.03;
const STEPS: usize = 200;
/// Rows that only repeat others.
const REDUNDANT: usize = 9;

/// One run: (time, iterations) and, if asked for, (time, condition).
type Curve = Vec<(f64, f64)>;

fn run(shift: f64, with_condition: bool) -> Outcome<(Curve, Curve, f64)> {
    let scene = vincula_scenes::build("peaucellier", &[("speed", "1.1")])?;
    let settings = TomcinSettings {
        regularization: shift,
        iterations: 500,
        ..TomcinSettings::default()
    };
    let mut method = Tomcin::new(&scene.model, &scene.state, settings)?;
    let control = Control::new(&scene.model);
    let (mut iterations, mut conditions, mut worst) = (Vec::new(), Vec::new(), 0.0f64);
    for _ in 0..STEPS {
        let report = method.step(&scene.model, &control, H)?;
        let time = method.system().time;
        worst = worst.max(report.residual);
        iterations.push((time, report.iterations as f64));
        if let (true, Some(matrix)) = (with_condition, method.matrix()) {
            let dense = matrix.matrix().to_dense();
            conditions.push((time, condition(dense, matrix.pattern().dimension())));
        }
    }
    Ok((iterations, conditions, worst))
}

/// Largest eigenvalue over the smallest that does not vanish.
fn condition(mut a: Vec<f64>, n: usize) -> f64 {
    // Jacobi's rotations: slow, and accurate for small eigenvalues.
    for _ in 0..12 {
        for p in 0..n {
            for q in p + 1..n {
                rotate(&mut a, n, p, q);
            }
        }
    }
    let mut values: Vec<f64> = (0..n).map(|k| a[k * n + k].abs()).collect();
    values.sort_by(f64::total_cmp);
    values[n - 1] / values[REDUNDANT]
}

fn rotate(a: &mut [f64], n: usize, p: usize, q: usize) {
    let off = a[p * n + q];
    if off == 0.0 {
        return;
    }
    let theta = (a[q * n + q] - a[p * n + p]) / (2.0 * off);
    let t = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
    let c = 1.0 / (t * t + 1.0).sqrt();
    let s = t * c;
    for k in 0..n {
        let (x, y) = (a[k * n + p], a[k * n + q]);
        (a[k * n + p], a[k * n + q]) = (c * x - s * y, s * x + c * y);
    }
    for k in 0..n {
        let (x, y) = (a[p * n + k], a[q * n + k]);
        (a[p * n + k], a[q * n + k]) = (c * x - s * y, s * x + c * y);
    }
}

pub fn draw() -> Outcome<Drawn> {
    let (mut series, mut conditions, mut holds) = (Vec::new(), Vec::new(), true);
    for shift in SHIFTS {
        let (iterations, condition, worst) = run(shift, shift == SHIFTS[2])?;
        let most = iterations
            .iter()
            .map(|(_, count)| *count)
            .fold(0.0, f64::max);
        println!("shift {shift:.0e}: at most {most} iterations, violation below {worst:.1e} m");
        holds &= worst < 1e-9;
        series.push(Series::new(format!("ε_T = {shift:.0e}"), iterations));
        if !condition.is_empty() {
            conditions = condition;
        }
    }
    let panel = |y_label: &str, series, y_log| Plot {
        x_label: "time [s]".to_owned(),
        y_label: y_label.to_owned(),
        series,
        y_log,
        ..Plot::default()
    };
    let figure =
        Figure::new("Linkage of Peaucellier, h = 30 ms (Tomcin et al., Fig. 3(c))").row(vec![
            panel("iterations of a step", series, true),
            panel(
                "condition λ_max/λ_min",
                vec![Series::new("", conditions)],
                true,
            ),
        ]);
    Ok(Drawn { figure, holds })
}
