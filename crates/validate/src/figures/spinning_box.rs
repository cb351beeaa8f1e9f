//! Fig. 7: momenta of a cube that flies and spins.

use vincula::prelude::Integrator;
use vincula_exchange::{Figure, Plot, Series, Style};
use vincula_scenes::Scene;

use super::Drawn;
use super::compare::{DARK, GRID, step_name};
use crate::motion::{Method, Outcome, Run, record};
use crate::page::color;

const DURATION: f64 = 10.0;
/// These curves are smooth and few.
const POINTS: usize = 100;
pub fn draw() -> Outcome<Drawn> {
    let scene = vincula_scenes::build("spinning-box", &[])?;
    let angular = |h| {
        let title = format!("angular momentum, {}", step_name(h));
        panel(&scene, "angular-momentum", h, &title, "L about y [kg m²/s]")
    };
    let momentum = "momentum, 10 ms";
    let energy = "kinetic energy, 10 ms";
    let figure = Figure::new("Spinning box, 1 m/s and 10 rad/s (Fig. 7)")
        .row(vec![
            panel(
                &scene,
                "linear-momentum",
                0.01,
                momentum,
                "p along x [kg m/s]",
            )?,
            panel(&scene, "kinetic-energy", 0.01, energy, "kinetic energy [J]")?,
        ])
        .row(vec![angular(0.02)?, angular(0.01)?])
        .row(vec![angular(0.005)?, angular(0.001)?]);
    Ok(figure.into())
}

fn panel(scene: &Scene, probe: &str, h: f64, title: &str, label: &str) -> Outcome<Plot> {
    let mut series = Vec::new();
    for integrator in Integrator::ALL {
        let points = record(
            scene,
            probe,
            Run::new(integrator, h, DURATION).thinned(POINTS),
        )?;
        let color = Some(color(integrator));
        series.push(Series {
            color,
            ..Series::new(integrator.name(), points)
        });
    }
    let rigid = record(
        scene,
        probe,
        Run::new(Method::RigidImplicit, h, DURATION).thinned(POINTS),
    )?;
    let rigid = Series::new(Method::RigidImplicit.name(), rigid).style(Style::Dashed);
    series.push(Series {
        color: Some(DARK),
        ..rigid
    });
    // The axis starts at zero, so that rounding does not look like motion.
    let zero = Series::new("", vec![(0.0, 0.0), (DURATION, 0.0)]);
    series.push(Series {
        color: Some(GRID),
        ..zero
    });
    Ok(Plot {
        title: title.to_owned(),
        x_label: "time [s]".to_owned(),
        y_label: label.to_owned(),
        series,
        ..Plot::default()
    })
}
