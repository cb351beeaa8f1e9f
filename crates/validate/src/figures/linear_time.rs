//! Baraff 1996: time for each constraint against their number, and the price of auxiliary
//! constraints.

use std::time::Instant;

use vincula::joint::JointKind;
use vincula::prelude::*;
use vincula_classic::baraff::anticipation::Way;
use vincula_classic::baraff::{Baraff, Hold};
use vincula_exchange::{Figure, Plot, Series, Style};

use super::Drawn;
use crate::motion::Outcome;

const COUNTS: [usize; 7] = [100, 300, 1_000, 3_000, 10_000, 30_000, 100_000];
/// Most that the time for a constraint may vary between these counts.
const SPREAD: f64 = 1.3;
/// Constraints of the chain that auxiliary ones are added to.
const CHAIN: usize = 1_000;
const HOLDS: [usize; 5] = [1, 2, 4, 8, 16];

/// Shortest of some times, s, of computing all accelerations with new factors.
fn time(baraff: &mut Baraff, model: &Model) -> Outcome<f64> {
    let control = Control::new(model);
    let runs = (400_000 / model.joints().len()).clamp(7, 1000);
    let mut best = f64::INFINITY;
    for _ in 0..runs {
        baraff.system_mut();
        let start = Instant::now();
        baraff.accelerations(model, &control)?;
        best = best.min(start.elapsed().as_secs_f64());
    }
    Ok(best)
}

/// Time for one constraint of a branching structure, µs.
fn primary(count: usize) -> Outcome<f64> {
    let text = count.to_string();
    let scene = vincula_scenes::build("baraff-structure", &[("constraints", &text)])?;
    let mut baraff = Baraff::new(&scene.model, &scene.state)?;
    Ok(1e6 * time(&mut baraff, &scene.model)? / count as f64)
}

/// Time of a chain with this many points of links held in the world, ms.
fn auxiliary(holds: usize, way: Way) -> Outcome<f64> {
    let text = CHAIN.to_string();
    let scene = vincula_scenes::build("chain", &[("links", &text)])?;
    assert!(matches!(scene.model.joints()[0].kind, JointKind::Ball));
    let held = (1..=holds).filter_map(|k| scene.model.body_ids().nth(k * CHAIN / holds - 1));
    let list = held
        .map(|body| Hold::Point {
            body,
            point_body: DVec3::ZERO,
            target: scene.state.center(body),
        })
        .collect();
    let mut baraff = Baraff::with(&scene.model, &scene.state, Vec::new(), list)?;
    baraff.set_way(way);
    Ok(1e3 * time(&mut baraff, &scene.model)?)
}

pub fn draw() -> Outcome<Drawn> {
    let mut points = Vec::new();
    for count in COUNTS {
        let each = primary(count)?;
        println!("{count:>7} constraints: {each:.3} µs each");
        points.push((count as f64, each));
    }
    let times = || points.iter().map(|(_, each)| *each);
    let spread = times().fold(0.0, f64::max) / times().fold(f64::INFINITY, f64::min);
    println!("largest over smallest: {spread:.2} (promised: {SPREAD})");
    let mut ways = Vec::new();
    for (way, name) in [
        (Way::Columns, "by columns"),
        (Way::Symmetric, "symmetric saving"),
    ] {
        let mut line = Vec::new();
        for holds in HOLDS {
            let taken = auxiliary(holds, way)?;
            println!("{:>3} auxiliary rows, {name}: {taken:.3} ms", 3 * holds);
            line.push((3.0 * holds as f64, taken));
        }
        ways.push(Series::new(name, line));
    }
    let figure = Figure::new("Linear time with multipliers (Baraff 1996)").row(vec![
        Plot {
            title: "branching structure of ball joints".to_owned(),
            x_label: "constraints".to_owned(),
            y_label: "time for each [µs]".to_owned(),
            series: vec![
                Series::new("linearise, factor, solve", points.clone()),
                Series::new("", points).style(Style::Markers),
            ],
            x_log: true,
            ..Plot::default()
        },
        Plot {
            title: format!("chain of {CHAIN} ball joints"),
            x_label: "auxiliary rows k".to_owned(),
            y_label: "time [ms]".to_owned(),
            series: ways,
            ..Plot::default()
        },
    ]);
    let holds = spread <= SPREAD;
    Ok(Drawn { figure, holds })
}
