//! Tomcin et al., section 7: a walking machine with fifty legs is dropped with more and more
//! mass on its frame; time and joint errors should not care.

use vincula::prelude::*;
use vincula_classic::system::Method;
use vincula_classic::tomcin::{Tomcin, TomcinSettings};
use vincula_exchange::{Figure, Plot, Series, Style};

use super::Drawn;
use crate::clock::Stopwatch;
use crate::motion::Outcome;

const LOADS: [f64; 4] = [0.0, 5.0, 10.0, 20.0];
const LEGS: &str = "50";
/// Most that a joint may be off, m.
const PROMISED: f64 = 1e-6;
/// Most processor time for a run, s, and most that it may grow with the load.
const MOST_TIME: f64 = 2.0;
const FLAT: f64 = 1.25;
/// Runs of each load; loads take turns, and the shortest run counts.
const ROUNDS: usize = 5;

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
    let watch = Stopwatch::start();
    for _ in 0..scene.steps() {
        let report = method.step(&scene.model, &control, scene.h)?;
        out.error = out.error.max(report.residual);
        out.depth = out.depth.max(method.penetration());
        let system = method.system();
        out.heights
            .push((system.time, system.bodies[frame.index()].x.z));
    }
    out.time = watch.seconds();
    Ok(out)
}

pub fn draw() -> Outcome<Drawn> {
    let mut runs = Vec::new();
    for load in LOADS {
        runs.push(drop(load)?);
    }
    for _ in 1..ROUNDS {
        for (run, load) in runs.iter_mut().zip(LOADS) {
            run.time = run.time.min(drop(load)?.time);
        }
    }
    let (mut times, mut heights, mut holds) = (Vec::new(), Vec::new(), true);
    for (it, load) in runs.into_iter().zip(LOADS) {
        println!(
            "load {load}: {:.2} s of processor time, joint error {:.1e} m, overlap {:.1e} m",
            it.time, it.error, it.depth
        );
        holds &= it.error < PROMISED && it.time < MOST_TIME;
        times.push((load, it.time));
        heights.push(Series::new(format!("load {load}"), it.heights));
    }
    let all = || times.iter().map(|(_, time)| *time);
    let spread = all().fold(0.0, f64::max) / all().fold(f64::INFINITY, f64::min);
    println!("longest over shortest: {spread:.2} (promised: {FLAT})");
    holds &= spread < FLAT;
    let floor = Series {
        color: Some(super::compare::GRID),
        ..Series::new("", vec![(0.0, 0.0), (LOADS[3], 0.0)])
    };
    let figure = Figure::new("Strandbeest with 50 legs, dropped, h = 20 ms").row(vec![
        Plot {
            x_label: "time [s]".to_owned(),
            y_label: "height of the frame [m]".to_owned(),
            series: heights,
            ..Plot::default()
        },
        Plot {
            x_label: "mass added to the frame, in masses of the machine".to_owned(),
            y_label: "processor time for 5 s [s]".to_owned(),
            series: vec![
                floor,
                Series::new("", times.clone()),
                Series::new("", times).style(Style::Markers),
            ],
            ..Plot::default()
        },
    ]);
    Ok(Drawn::new(figure, holds))
}
