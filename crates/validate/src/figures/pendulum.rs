//! Fig. 10: angle of the pendulum and force in its pivot.

use vincula::prelude::Integrator;
use vincula_exchange::Figure;
use vincula_scenes::Scene;

use super::Drawn;
use super::compare::Panel;
use crate::motion::{Method, Outcome, find_probe};

const STEPS: [f64; 4] = [0.02, 0.01, 0.005, 0.001];
const DURATION: f64 = 5.0;

/// The elliptic solution of a probe.
fn exact(scene: &Scene, probe: &str) -> Outcome<Vec<(f64, f64)>> {
    let probe = find_probe(scene, probe)?;
    let at = |k: i32| 0.005 * f64::from(k);
    Ok((0..=1000)
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
    Ok(figure.into())
}
