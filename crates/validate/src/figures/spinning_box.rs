//! Fig. 7: momenta of a cube that flies and spins.

use vincula::prelude::Integrator;
use vincula_exchange::{Figure, Plot, Series, Style};
use vincula_scenes::Scene;

use super::Drawn;
use super::compare::{DARK, step_name};
use crate::motion::{Method, Outcome, Run, record};
use crate::page::color;

const DURATION: f64 = 10.0;
const STEPS: [f64; 3] = [0.02, 0.01, 0.001];

pub fn draw() -> Outcome<Drawn> {
    let scene = vincula_scenes::build("spinning-box", &[])?;
    let mut figure = Figure::new("Spinning box, 1 m/s and 10 rad/s (Fig. 7)");
    for h in STEPS {
        let at = step_name(h);
        figure = figure.row(vec![
            panel(
                &scene,
                "linear-momentum",
                h,
                &format!("{at}: momentum"),
                "p along x [kg m/s]",
            )?,
            panel(
                &scene,
                "angular-momentum",
                h,
                &format!("{at}: angular momentum"),
                "L about y [kg m²/s]",
            )?,
        ]);
    }
    Ok(figure.into())
}

fn panel(scene: &Scene, probe: &str, h: f64, title: &str, label: &str) -> Outcome<Plot> {
    let mut series = Vec::new();
    for integrator in Integrator::ALL {
        let points = record(scene, probe, Run::new(integrator, h, DURATION))?;
        let color = Some(color(integrator));
        series.push(Series {
            color,
            ..Series::new(integrator.name(), points)
        });
    }
    let rigid = record(scene, probe, Run::new(Method::RigidImplicit, h, DURATION))?;
    let rigid = Series::new(Method::RigidImplicit.name(), rigid).style(Style::Dashed);
    series.push(Series {
        color: Some(DARK),
        ..rigid
    });
    // The axis starts at zero, so that rounding does not look like motion.
    series.push(Series::new("", vec![(0.0, 0.0)]));
    Ok(Plot {
        title: title.to_owned(),
        x_label: "time [s]".to_owned(),
        y_label: label.to_owned(),
        series,
        ..Plot::default()
    })
}
