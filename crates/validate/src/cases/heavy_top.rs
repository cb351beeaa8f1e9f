//! The heavy top of the gallery against Runge–Kutta at 10 µs, which is itself held against
//! the closed form.

use vincula::prelude::*;
use vincula_scenes::{Scene, View};

use super::{BEST, case_name};
use crate::motion::{Outcome, Run, largest, largest_error, principal_orientation, watch};
use crate::row::Row;

const DURATION: f64 = 5.0;
/// Step (s) and largest errors: direction of the axis (rad), nutation (°), precession (rad).
const PROMISES: [(f64, f64, f64, f64); 2] = [(0.01, 0.02, 0.1, 0.03), (0.001, 2e-4, 1e-3, 3e-4)];

/// Direction of the top's axis over time.
fn axes(scene: &Scene, run: Run) -> Outcome<Vec<DVec3>> {
    let id = scene.model.body_ids().next().ok_or("no body")?;
    let mut axes = Vec::new();
    watch(scene, run, |view: &View| {
        axes.push(principal_orientation(view.model, view.state, id) * DVec3::Z);
    })?;
    Ok(axes)
}

/// Lean from the vertical, °, at its greatest.
fn greatest_lean(axes: &[DVec3]) -> f64 {
    largest(axes.iter().map(|a| a.x.hypot(a.y).atan2(a.z).to_degrees()))
}

/// Angle about the vertical swept in all, rad.
fn precession(axes: &[DVec3]) -> f64 {
    let turn = |a: &DVec3, b: &DVec3| (a.x * b.y - a.y * b.x).atan2(a.x * b.x + a.y * b.y);
    axes.windows(2).map(|pair| turn(&pair[0], &pair[1])).sum()
}

pub fn measure() -> Outcome<Vec<Row>> {
    let scene = vincula_scenes::build("heavy-top", &[])?;
    let mut rows = vec![check_reference(&scene)?];
    for (h, direction, lean, sweep) in PROMISES {
        let truth = axes(&scene, Run::reference(DURATION, h))?;
        for integrator in BEST {
            let case = case_name("heavy top", integrator, h);
            let found = axes(&scene, Run::new(integrator, h, DURATION))?;
            let error = largest(truth.iter().zip(&found).map(|(a, b)| a.angle_between(*b)));
            rows.push(Row::error(
                &case,
                "axis over 5 s [rad]",
                "Runge–Kutta 10 µs",
                error,
                direction,
            ));
            let (a, b) = (greatest_lean(&truth), greatest_lean(&found));
            rows.push(Row::value(&case, "greatest nutation [°]", a, b, lean));
            let (a, b) = (precession(&truth), precession(&found));
            rows.push(Row::value(&case, "precession in 5 s [rad]", a, b, sweep));
        }
    }
    Ok(rows)
}

/// Two truths, one of them closed, must agree.
fn check_reference(scene: &Scene) -> Outcome<Row> {
    let error = largest_error(scene, Run::reference(DURATION, 0.01), "nutation")?;
    let case = "heavy top, Runge–Kutta, 10 µs";
    Ok(Row::error(case, "nutation [°]", "closed form", error, 1e-7))
}
