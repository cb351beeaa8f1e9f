//! He et al., Fig. 12: a net of 10 × 10 nodes falls at thirty steps a second, by the engine and
//! by two rigid baselines.

use vincula::prelude::*;
use vincula_exchange::{Figure, Plot, Series, Style};
use vincula_scenes::Scene;

use super::Drawn;
use super::heavy_chain::{drawn_gap, level, widened};
use crate::motion::Outcome;
use crate::trace::{Sample, Trace, repeat, trace_classic, trace_probe};

/// Step, and time shown, s.
const STEP: f64 = 1.0 / 30.0;
const DURATION: f64 = 10.0;
/// What is promised: largest gap, m.
const GAP: f64 = 1e-9;
/// What was wanted besides: time of a step, ms, and iterations.
const WANTED: (f64, f64) = (0.5, 1.0);
/// Baselines in six coordinates a body.
const BASELINES: [&str; 2] = ["rigid-implicit", "penalty"];
/// Colours of the engine and of the baselines.
const COLORS: [[u8; 3]; 3] = [[0, 114, 178], [213, 94, 0], [0, 158, 115]];
/// How often each run is timed.
const REPETITIONS: usize = 3;
/// What the paper says of a step on its machine, an AMD 9950X3D, ms: of its own method (an
/// upper bound), and of VQ (Maloisel et al. 2025).
const PUBLISHED: [(&str, f64); 2] = [
    ("published: M-ABD, < 1 ms", 1.0),
    ("published: VQ, 27 ms", 27.0),
];

/// A method by name, its colour, and what it did.
type Traced = (&'static str, [u8; 3], Trace);

fn run(scene: &Scene) -> Outcome<Vec<Traced>> {
    let probe = Some("corner-height");
    let settings = Settings::default();
    let ours = repeat(REPETITIONS, || {
        trace_probe(scene, settings, probe, STEP, DURATION)
    })?;
    let mut traces = vec![("tempered (default)", COLORS[0], ours)];
    for (method, color) in BASELINES.into_iter().zip(COLORS.into_iter().skip(1)) {
        let run = || trace_classic(scene, method, probe, STEP, DURATION);
        match repeat(REPETITIONS, run) {
            Ok(trace) => traces.push((method, color, trace)),
            Err(refusal) => println!("  {method}: {refusal}"),
        }
    }
    Ok(traces)
}

fn tell((name, _, trace): &Traced) {
    let most = |of: fn(&Sample) -> f64| {
        trace
            .samples
            .iter()
            .map(of)
            .fold(f64::NEG_INFINITY, f64::max)
    };
    println!(
        "  {name:<18}: gap {:.1e} m, energy at most {:+.1e} J, {:.2} iterations, {:.2} ms a step",
        most(|sample| sample.gap),
        most(|sample| sample.energy.total()) - trace.start.energy.total(),
        trace.iterations(),
        trace.median_millis()
    );
    if let Some(reason) = &trace.stopped {
        let steps = trace.samples.len();
        println!("  {name:<18}: ends after {steps} steps: {reason}");
    }
}

fn panel(
    y_label: &str,
    traces: &[Traced],
    curve: impl Fn(&Trace) -> Vec<(f64, f64)>,
    y_log: bool,
) -> Plot {
    let each = |(name, color, trace): &Traced| Series {
        color: Some(*color),
        ..Series::new(*name, curve(trace))
    };
    Plot {
        x_label: "time [s]".to_owned(),
        y_label: y_label.to_owned(),
        series: traces.iter().map(each).collect(),
        y_log,
        ..Plot::default()
    }
}

fn times(traces: &[Traced]) -> Plot {
    let millis = |trace: &Trace| trace.step_curve(|sample| sample.millis);
    let mut plot = panel("time of a step [ms]", traces, millis, true);
    for ((name, value), style) in PUBLISHED.into_iter().zip([Style::Dotted, Style::Dashed]) {
        plot.series.push(level(name, value, DURATION).style(style));
    }
    plot
}

pub fn draw() -> Outcome<Drawn> {
    let scene = vincula_scenes::build("net", &[])?;
    let traces = run(&scene)?;
    traces.iter().for_each(tell);
    let ours = &traces[0].2;
    println!(
        "  wanted: {} ms and {} iteration a step",
        WANTED.0, WANTED.1
    );
    // The exact baseline is to be one; springs give way.
    let exact = traces.iter().filter(|(name, ..)| *name != "penalty");
    let closed = exact.clone().count() == 2 && exact.map(|it| it.2.gap()).all(|gap| gap <= GAP);
    let holds = closed && ours.gained() <= 0.0;
    let heights = |trace: &Trace| trace.curve(|sample| sample.probe);
    let counts = |trace: &Trace| trace.step_curve(|sample| sample.iterations as f64);
    let mut gap = panel(
        "largest gap [m]",
        &traces,
        |trace| trace.step_curve(drawn_gap),
        true,
    );
    gap.series.push(level("promised", GAP, DURATION));
    let mut iterations = panel("iterations", &traces, counts, true);
    iterations.series.insert(0, widened(1.0, DURATION));
    let figure = Figure::new("Net of 10 × 10 nodes, h = 1/30 s (He et al. 2026, Fig. 12)")
        .row(vec![
            panel("height of the corner [m]", &traces, heights, false),
            gap,
        ])
        .row(vec![iterations, times(&traces)]);
    Ok(Drawn::new(figure, holds))
}
