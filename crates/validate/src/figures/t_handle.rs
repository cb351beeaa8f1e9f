//! Fig. 8: spin of the T-handle along its intermediate axis, and the energy it loses.

use vincula::diagnostics::energy;
use vincula::prelude::Integrator;
use vincula_exchange::Figure;
use vincula_scenes::{Probe, Scene, View};

use super::Drawn;
use super::compare::Panel;
use crate::motion::{Method, Outcome, Run, record};

const STEPS: [f64; 4] = [0.02, 0.01, 0.005, 0.001];
const DURATION: f64 = 30.0;

pub fn draw() -> Outcome<Drawn> {
    let scene = vincula_scenes::build("t-handle", &[])?;
    let truth = record(&scene, "omega", Run::reference(DURATION, 0.1))?;
    let scene = with_kinetic_loss(scene);
    let mut figure = Figure::new("T-handle flipping about its intermediate axis (Fig. 8)");
    let methods: [Method; 3] = [
        Integrator::Tempered.into(),
        Integrator::LinearEuler.into(),
        Method::RigidImplicit,
    ];
    for method in methods {
        let panel = |probe, label, truth| {
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
        let reference = Some(("Runge–Kutta", truth.as_slice()));
        figure = figure.row(vec![
            panel("omega", "ω, intermediate axis [rad/s]", reference)?,
            panel("kinetic-loss", "fraction of kinetic energy lost", None)?,
        ]);
    }
    Ok(figure.into())
}

/// Rigid bodies have kinetic energy only, so that alone can be compared: the linear step
/// stretches a turning body, which stores energy that no rigid body has.
fn with_kinetic_loss(scene: Scene) -> Scene {
    let start = energy(&scene.model, &scene.state).kinetic;
    let loss = move |view: &View| 1.0 - energy(view.model, view.state).kinetic / start;
    scene.probe(Probe::new(
        "kinetic-loss",
        "fraction of kinetic energy lost",
        "",
        loss,
    ))
}
