//! Tomcin et al., Fig. 5(c): time to factor and solve for a hub with many legs, whole, split
//! into parts, and by Baraff's indefinite matrix.

use std::time::Instant;

use vincula::prelude::*;
use vincula_classic::baraff::Baraff;
use vincula_classic::tomcin::{Tomcin, TomcinSettings};
use vincula_exchange::{Figure, Plot, Series};
use vincula_scenes::Scene;

use super::Drawn;
use crate::motion::Outcome;

const LEGS: [usize; 8] = [8, 16, 32, 64, 128, 256, 512, 1024];
/// Beyond this the whole hub takes too long to wait for.
const MOST_WHOLE: usize = 1024;

fn spider(legs: usize) -> Outcome<Scene> {
    let text = legs.to_string();
    let settings = [("legs", text.as_str()), ("joint", "ball")];
    Ok(vincula_scenes::build("spider", &settings)?)
}

fn shortest(runs: usize, mut once: impl FnMut() -> Outcome<()>) -> Outcome<f64> {
    let mut best = f64::INFINITY;
    for _ in 0..runs {
        let start = Instant::now();
        once()?;
        best = best.min(start.elapsed().as_secs_f64());
    }
    Ok(1e3 * best)
}

/// Time to assemble, factor and solve once, ms.
fn positive(scene: &Scene, splitting: bool) -> Outcome<f64> {
    let settings = TomcinSettings {
        splitting,
        ..TomcinSettings::default()
    };
    let mut method = Tomcin::new(&scene.model, &scene.state, settings)?;
    shortest(7, || {
        method.system_mut();
        Ok(method.project_velocities()?)
    })
}

fn indefinite(scene: &Scene) -> Outcome<f64> {
    let mut method = Baraff::new(&scene.model, &scene.state)?;
    let control = Control::new(&scene.model);
    shortest(7, || {
        method.system_mut();
        method.accelerations(&scene.model, &control)?;
        Ok(())
    })
}

/// Exponent of growth over the last doubling.
fn growth(line: &[(f64, f64)]) -> f64 {
    let [.., a, b] = line else { return f64::NAN };
    (b.1 / a.1).ln() / (b.0 / a.0).ln()
}

pub fn draw() -> Outcome<Drawn> {
    let (mut whole, mut split, mut other) = (Vec::new(), Vec::new(), Vec::new());
    for legs in LEGS {
        let scene = spider(legs)?;
        let rows = scene.model.rows() as f64;
        if legs <= MOST_WHOLE {
            whole.push((rows, positive(&scene, false)?));
        }
        split.push((rows, positive(&scene, true)?));
        other.push((rows, indefinite(&scene)?));
    }
    for (name, line) in [("whole", &whole), ("split", &split), ("indefinite", &other)] {
        for (rows, time) in line {
            println!("{name}: {rows} rows, {time:.3} ms");
        }
        println!("{name} grows with the power {:.2} at the end", growth(line));
    }
    let holds = growth(&split) < 1.3 && growth(&whole) > 2.0;
    let plot = Plot {
        x_label: "rows of the joints".to_owned(),
        y_label: "time to assemble, factor and solve [ms]".to_owned(),
        series: vec![
            Series::new("positive definite, whole", whole),
            Series::new("positive definite, split", split),
            Series::new("indefinite (Baraff)", other),
        ],
        x_log: true,
        y_log: true,
        ..Plot::default()
    };
    let figure = Figure::new("A hub with many legs (Tomcin et al., Fig. 5(c))").row(vec![plot]);
    Ok(Drawn::new(figure, holds))
}
