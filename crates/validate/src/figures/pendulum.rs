//! Fig. 10: angle of the pendulum and force in its pivot.

use vincula::prelude::Integrator;
use vincula_exchange::{Figure, Plot};
use vincula_scenes::Scene;

use super::Drawn;
use super::compare::Panel;
use crate::motion::{Method, Outcome, find_probe};

const STEPS: [f64; 4] = [0.02, 0.01, 0.005, 0.001];
const DURATION: f64 = 5.0;

/// The elliptic solution of a probe.
fn exact(scene: &Scene, probe: &str) -> Outcome<Vec<(f64, f64)>> {
    let probe = find_probe(scene, probe)?;
    let at = |k: i32| 0.02 * f64::from(k);
    Ok((0..=250)
        .map(|k| (at(k), probe.reference(at(k)).unwrap_or(f64::NAN)))
        .collect())
}

pub fn draw() -> Outcome<Drawn> {
    let scene = vincula_scenes::build("pendulum", &[])?;
    let angles = exact(&scene, "angle")?;
    let forces = exact(&scene, "reaction")?;
    let mut figure = Figure::new("Physical pendulum released level (Fig. 10)");
    let methods: [Method; 3] = [
        Integrator::Tempered.into(),
        Integrator::LinearEuler.into(),
        Method::RigidImplicit,
    ];
    for method in methods {
        let panel = |probe, label, truth: &[(f64, f64)]| {
            let truth = Some(("elliptic", truth));
            let (scene, steps) = (&scene, &STEPS[..]);
            Panel {
                scene,
                probe,
                method,
                steps,
                duration: DURATION,
                truth,
                label,
            }
            .plot()
        };
        figure = figure.row(vec![
            panel("angle", "angle from hanging [rad]", &angles)?,
            panel("reaction", "force in the pivot [N]", &forces)?,
        ]);
    }
    figure = figure.row(vec![
        error_panel(&scene, Integrator::Tempered)?,
        error_panel(&scene, Integrator::LinearEuler)?,
    ]);
    Ok(figure.into())
}

/// Distance of the angle from the elliptic solution, which the curves above hide.
fn error_panel(scene: &Scene, integrator: Integrator) -> Outcome<Plot> {
    let (probe, label) = ("angle", "error of the angle [rad]");
    let (method, steps) = (integrator.into(), &STEPS[..]);
    let panel = Panel {
        scene,
        probe,
        method,
        steps,
        duration: DURATION,
        truth: None,
        label,
    };
    let mut plot = panel.plot()?;
    let exact = find_probe(scene, probe)?;
    for point in plot.series.iter_mut().flat_map(|series| &mut series.points) {
        // Below rounding a logarithm only shows noise.
        let error = (point.1 - exact.reference(point.0).unwrap_or(f64::NAN)).abs();
        point.1 = if error > 1e-9 { error } else { f64::NAN };
    }
    plot.y_log = true;
    Ok(plot)
}
