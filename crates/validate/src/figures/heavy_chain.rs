//! He et al., Fig. 11: a folded chain drops a last link a thousand times as heavy as the others.
//!
//! The paper shows pictures; here are the curves behind them: the height of the end, the energy,
//! the largest gap of a joint and the iterations of a step, at three step lengths.

use vincula::prelude::*;
use vincula_exchange::{Figure, Plot, Series, Style};

use super::Drawn;
use super::compare::{DARK, GRID, SHADES};
use crate::motion::Outcome;
use crate::trace::{Sample, Trace, trace_probe};

/// Time shown, s.
const DURATION: f64 = 20.0;
/// Step lengths, s, longest first, how they are written and drawn.
const STEPS: [(f64, &str, [u8; 3]); 3] = [
    (1.0 / 30.0, "h = 1/30 s", SHADES[0]),
    (0.01, "h = 10 ms", SHADES[2]),
    (0.001, "h = 1 ms", SHADES[3]),
];
/// What is promised: largest gap, m, and iterations of a step, mean.
const GAP: f64 = 1e-9;
const ITERATIONS: f64 = 2.0;
/// Gaps below this are drawn here, m: zero has no place on a logarithmic axis.
const SMALLEST: f64 = 1e-17;
/// Spell over which iterations are averaged and gaps are searched, s.
const SPELL: f64 = 0.2;

fn panel(
    y_label: &str,
    traces: &[Trace],
    curve: impl Fn(&Trace) -> Vec<(f64, f64)>,
    y_log: bool,
) -> Plot {
    let each = |(trace, step): (&Trace, &(f64, &str, [u8; 3]))| Series {
        color: Some(step.2),
        ..Series::new(step.1, curve(trace))
    };
    Plot {
        x_label: "time [s]".to_owned(),
        y_label: y_label.to_owned(),
        series: traces.iter().zip(&STEPS).map(each).collect(),
        y_log,
        ..Plot::default()
    }
}

/// A level that was promised, across the whole width.
pub(super) fn level(name: &str, value: f64, duration: f64) -> Series {
    let line = vec![(0.0, value), (duration, value)];
    Series {
        color: Some(DARK),
        ..Series::new(name, line).style(Style::Dotted)
    }
}

/// The same as part of the grid, for an axis that should reach from zero to the end.
pub(super) fn widened(value: f64, duration: f64) -> Series {
    Series {
        color: Some(GRID),
        ..level("", value, duration).style(Style::Solid)
    }
}

/// The gap of a step as it can be drawn, m.
pub(super) fn drawn_gap(sample: &Sample) -> f64 {
    sample.gap.max(SMALLEST)
}

fn keeps_promises(trace: &Trace) -> bool {
    trace.gap() <= GAP && trace.gained() <= 0.0 && trace.iterations() <= ITERATIONS
}

pub fn draw() -> Outcome<Drawn> {
    let scene = vincula_scenes::build("heavy-chain", &[])?;
    let (mut traces, mut holds) = (Vec::new(), true);
    for (h, name, _) in STEPS {
        let settings = Settings::default();
        let trace = trace_probe(&scene, settings, Some("end-height"), h, DURATION)?;
        println!(
            "  {name:<10}: gap {:.1e} m, energy gained {:.1e} J, {:.2} iterations, {:.3} ms a step",
            trace.gap(),
            trace.gained(),
            trace.iterations(),
            trace.median_millis()
        );
        holds &= keeps_promises(&trace);
        traces.push(trace);
    }
    let heights = |trace: &Trace| trace.curve(|sample| sample.probe);
    let energies = |trace: &Trace| trace.curve(|sample| 1e-3 * sample.energy.total());
    let gaps = |trace: &Trace| trace.most_curve(SPELL, drawn_gap);
    let counts = |trace: &Trace| trace.mean_curve(SPELL, |sample| sample.iterations as f64);
    let mut gap = panel("largest gap [m]", &traces, gaps, true);
    gap.series.push(level("promised", GAP, DURATION));
    let label = format!("iterations, mean over {SPELL} s");
    let mut iterations = panel(&label, &traces, counts, false);
    iterations.series.insert(0, widened(1.0, DURATION));
    let figure = Figure::new("Chain with a heavy end (He et al. 2026, Fig. 11)")
        .row(vec![
            panel("height of the end [m]", &traces, heights, false),
            panel("energy [kJ]", &traces, energies, false),
        ])
        .row(vec![gap, iterations]);
    Ok(Drawn::new(figure, holds))
}
