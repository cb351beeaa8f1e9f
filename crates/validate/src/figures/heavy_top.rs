//! Fig. 9: precession and nutation of the heavy top.

use vincula::prelude::Integrator;
use vincula_exchange::Figure;

use super::Drawn;
use super::compare::Panel;
use crate::motion::{Method, Outcome, Run, record};

const STEPS: [f64; 4] = [0.02, 0.01, 0.005, 0.001];
const DURATION: f64 = 5.0;

pub fn draw() -> Outcome<Drawn> {
    let scene = vincula_scenes::build("heavy-top", &[])?;
    let reference = Run::reference(DURATION, 0.02);
    let rates = record(&scene, "precession", reference)?;
    let angles = record(&scene, "nutation", reference)?;
    let mut figure = Figure::new("Heavy top at 10 rad/s, leaning 5° (Fig. 9)");
    let methods: [Method; 3] = [
        Integrator::Tempered.into(),
        Integrator::LinearEuler.into(),
        Method::RigidImplicit,
    ];
    for method in methods {
        let panel = |probe, label, truth: &[(f64, f64)]| {
            let truth = Some(("Runge–Kutta", truth));
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
            panel("precession", "precession [rad/s]", &rates)?,
            panel("nutation", "nutation [°]", &angles)?,
        ]);
    }
    Ok(figure.into())
}
