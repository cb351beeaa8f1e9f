//! He et al., Fig. 14: the time of a step against the number of links, for nets of 10 × 10 to
//! 100 × 100 nodes.

use vincula::prelude::*;
use vincula_exchange::{Figure, Plot, Series, Style};

use super::Drawn;
use crate::motion::Outcome;
use crate::trace::{Trace, repeat, trace};

/// Nodes along an edge.
const EDGES: [usize; 6] = [10, 20, 30, 50, 70, 100];
/// Step and time simulated, s.
const STEP: f64 = 0.01;
const DURATION: f64 = 1.0;
/// How often each net is timed.
const REPETITIONS: usize = 3;
/// Largest gap that is allowed, m.
const GAP: f64 = 1e-9;
/// Numbers of others, by links and time of a step in ms. Of the paper for its machine, an AMD
/// 9950X3D: section 6.2, an upper bound, and Table 1.
const PUBLISHED: [(f64, f64); 2] = [(280.0, 1.0), (29_800.0, 84.0)];
/// Rapier on a machine like those the engine is measured on, its joints up to 18 cm apart.
const RAPIER: [(f64, f64); 1] = [(29_800.0, 87.0)];

/// A net and what it took: number of links, and the run.
fn run(edge: usize) -> Outcome<(f64, Trace)> {
    let text = edge.to_string();
    let scene = vincula_scenes::build("net", &[("rows", &text), ("columns", &text)])?;
    let run = || trace(&scene, Settings::default(), STEP, DURATION);
    let trace = repeat(REPETITIONS, run)?;
    let links = scene.model.bodies().len();
    println!(
        "  {edge:>3} × {edge:<3} {links:>6} links: {:8.3} ms a step, {:.2} iterations, gap {:.1e} m",
        trace.median_millis(),
        trace.iterations(),
        trace.gap()
    );
    Ok((links as f64, trace))
}

/// Line and marks of one colour.
fn marked(name: &str, points: Vec<(f64, f64)>, color: [u8; 3]) -> [Series; 2] {
    let color = Some(color);
    [
        Series {
            color,
            ..Series::new(name, points.clone())
        },
        Series {
            color,
            ..Series::new("", points).style(Style::Markers)
        },
    ]
}

/// What was measured: the median step, and the fastest.
fn both(median: Vec<(f64, f64)>, best: Vec<(f64, f64)>) -> Vec<Series> {
    let mut series = marked("measured, median", median, [0, 114, 178]).to_vec();
    series.extend(marked("measured, fastest", best, [86, 180, 233]));
    series
}

fn cited(name: &str, points: Vec<(f64, f64)>, color: [u8; 3]) -> Series {
    Series {
        color: Some(color),
        ..Series::new(name, points).style(Style::Markers)
    }
}

/// Milliseconds of a net as microseconds of one of its links.
fn each_link(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let share = |(links, millis): &(f64, f64)| (*links, 1e3 * millis / links);
    points.iter().map(share).collect()
}

pub fn draw() -> Outcome<Drawn> {
    let mut runs = Vec::new();
    for edge in EDGES {
        runs.push(run(edge)?);
    }
    let holds = runs.iter().all(|(_, trace)| trace.gap() <= GAP);
    let over = |of: fn(&Trace) -> f64| -> Vec<(f64, f64)> {
        let point = |(links, trace): &(f64, Trace)| (*links, of(trace));
        runs.iter().map(point).collect()
    };
    let (median, best) = (over(Trace::median_millis), over(Trace::best_millis));
    let mut links = both(each_link(&median), each_link(&best));
    links.push(cited(
        "published: M-ABD",
        each_link(&PUBLISHED),
        [213, 94, 0],
    ));
    links.push(cited(
        "Rapier, gaps of 18 cm",
        each_link(&RAPIER),
        [40, 40, 40],
    ));
    // On the logarithmic axis Rapier's dot would lie on the paper's.
    let mut steps = both(median, best);
    steps.push(cited("published: M-ABD", PUBLISHED.to_vec(), [213, 94, 0]));
    let panel = |y_label: &str, series, y_log| Plot {
        x_label: "links".to_owned(),
        y_label: y_label.to_owned(),
        series,
        x_log: true,
        y_log,
        ..Plot::default()
    };
    let title = "Nets of growing size, h = 10 ms, one thread (He et al. 2026, Fig. 14)";
    let figure = Figure::new(title).row(vec![
        panel("time of a step [ms]", steps, true),
        panel("time of a step for each link [µs]", links, false),
    ]);
    Ok(Drawn::new(figure, holds))
}
