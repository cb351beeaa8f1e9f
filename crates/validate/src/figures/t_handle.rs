//! Fig. 8: spin of the T-handle along its intermediate axis, and the energy it loses.

use vincula::prelude::Integrator;
use vincula_exchange::Figure;

use super::Drawn;
use super::compare::Panel;
use crate::motion::{Method, Outcome, Run, record};

const STEPS: [f64; 4] = [0.02, 0.01, 0.005, 0.001];
const DURATION: f64 = 30.0;

pub fn draw() -> Outcome<Drawn> {
    let scene = vincula_scenes::build("t-handle", &[])?;
    let truth = record(&scene, "omega", Run::reference(DURATION, 0.01))?;
    let mut figure = Figure::new("T-handle flipping about its intermediate axis (Fig. 8)");
    let methods: [Method; 3] = [
        Integrator::Tempered.into(),
        Integrator::LinearEuler.into(),
        Method::RigidImplicit,
    ];
    for method in methods {
        let panel = |probe, label, truth| Panel {
            scene: &scene,
            probe,
            method,
            steps: &STEPS,
            duration: DURATION,
            truth,
            label,
        };
        figure = figure.row(vec![
            panel(
                "omega",
                "ω, intermediate axis [rad/s]",
                Some(("reference", truth.as_slice())),
            )
            .plot()?,
            panel("energy-loss", "fraction of energy lost", None).plot()?,
        ]);
    }
    Ok(figure.into())
}
