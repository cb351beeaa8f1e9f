//! Tomcin et al., section 7: a walking machine with fifty legs is dropped with more and more
//! mass on its frame; time and joint errors should not care.

use std::time::Instant;

use vincula::prelude::*;
use vincula_classic::system::Method;
use vincula_classic::tomcin::{Tomcin, TomcinSettings};
use vincula_exchange::{Figure, Plot, Series};

use super::Drawn;
use crate::motion::Outcome;

const LOADS: [f64; 4] = [0.0, 5.0, 10.0, 20.0];
const LEGS: &str = "50";
/// Most that a joint may be off, m, and most time for the run, s.
const PROMISED: f64 = 1e-6;

struct Drop {
    time: f64,
    error: f64,
    depth: f64,
    heights: Vec<(f64, f64)>,
}

fn drop(load: f64) -> Outcome<Drop> {
    let text = load.to_string();
    let settings = [("legs", LEGS), ("load", text.as_str())];
    let scene = vincula_scenes::build("strandbeest", &settings)?;
    let frame = scene.model.find_body("frame").ok_or("no frame")?;
    let mut method = Tomcin::new(&scene.model, &scene.state, TomcinSettings::default())?;
    let control = Control::new(&scene.model);
    let mut out = Drop {
        time: 0.0,
        error: 0.0,
        depth: 0.0,
        heights: Vec::new(),
    };
    for _ in 0..scene.steps() {
        let start = Instant::now();
        let report = method.step(&scene.model, &control, scene.h)?;
        out.time += start.elapsed().as_secs_f64();
        out.error = out.error.max(report.residual);
        out.depth = out.depth.max(method.penetration());
        let system = method.system();
        out.heights
            .push((system.time, system.bodies[frame.index()].x.z));
    }
    Ok(out)
}

pub fn draw() -> Outcome<Drawn> {
    let (mut times, mut heights, mut holds) = (Vec::new(), Vec::new(), true);
    for load in LOADS {
        let it = drop(load)?;
        println!(
            "load {load}: {:.2} s, joint error {:.1e} m, overlap {:.1e} m",
            it.time, it.error, it.depth
        );
        holds &= it.error < PROMISED;
        times.push((load, it.time));
        heights.push(Series::new(format!("load {load}"), it.heights));
    }
    let figure = Figure::new("Strandbeest with 50 legs, dropped, h = 20 ms").row(vec![
        Plot {
            x_label: "time [s]".to_owned(),
            y_label: "height of the frame [m]".to_owned(),
            series: heights,
            ..Plot::default()
        },
        Plot {
            x_label: "mass added to the frame, in masses of the machine".to_owned(),
            y_label: "time for 5 s [s]".to_owned(),
            series: vec![Series::new("", times)],
            ..Plot::default()
        },
    ]);
    Ok(Drawn { figure, holds })
}
