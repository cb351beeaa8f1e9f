//! The summary for people.

use std::fmt::Write;

use vincula_scenes::Entry;

use crate::report::Report;

/// The summary of a run as aligned lines.
pub fn summary(entry: &Entry, report: &Report, written: Option<String>) -> String {
    let mut lines = overview(report);
    for probe in &report.probes {
        let error = probe.max_error.map_or_else(String::new, |error| {
            format!(", within {} of the reference", measure(error, probe.unit))
        });
        lines.push((
            probe.name,
            format!("{} at the end{error}", measure(probe.end, probe.unit)),
        ));
    }
    lines.extend(
        report
            .warnings
            .iter()
            .map(|warning| ("warning", warning.clone())),
    );
    lines.extend(written.map(|written| ("written", written)));
    let figure = if entry.figure.is_empty() {
        String::new()
    } else {
        format!(" ({})", entry.figure)
    };
    let mut text = format!("{}{figure}: {}\n", entry.name, entry.summary);
    let width = lines.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    for (name, value) in lines {
        let _ = writeln!(text, "  {name:<width$}  {value}");
    }
    text
}

fn overview(report: &Report) -> Vec<(&'static str, String)> {
    let (time, energy) = (report.ms_per_step, &report.energy);
    let model = [
        count(report.bodies, "body", "bodies"),
        count(report.joints, "joint", "joints"),
        count(report.rows, "row", "rows"),
    ];
    let speed = format!(
        "{} median, {} at the 95th percentile; {} × real time",
        span(time.median * 1e-3),
        span(time.p95 * 1e-3),
        short(report.real_time_factor)
    );
    let energies = format!(
        "{} J at the start, {} J at the end, {} J gained at most",
        short(energy.start),
        short(energy.end),
        short(energy.max_gain)
    );
    let steps = count(report.steps, "step", "steps");
    let threads = count(report.threads as usize, "thread", "threads");
    vec![
        (
            "simulated",
            format!("{} in {steps} of {}", span(report.time), span(report.h)),
        ),
        ("model", model.join(", ")),
        (
            "method",
            [report.method, report.integrator, report.level, &threads].join(", "),
        ),
        ("plan", report.plan.clone()),
        ("step", speed),
        (
            "iterations",
            format!("{:.2} a step", report.iterations_mean),
        ),
        (
            "residual",
            format!("{} at most", length(report.residual_max)),
        ),
        ("energy", energies),
    ]
}

fn count(number: usize, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

fn measure(value: f64, unit: &str) -> String {
    let gap = if unit.is_empty() || unit == "°" {
        ""
    } else {
        " "
    };
    format!("{}{gap}{unit}", short(value))
}

/// Four digits, with an exponent only for very large and very small numbers.
fn short(value: f64) -> String {
    let size = value.abs();
    if !value.is_finite() || size == 0.0 {
        return value.to_string();
    }
    if !(1e-3..1e6).contains(&size) {
        return format!("{value:.3e}");
    }
    let digits = (3 - size.log10().floor() as i32).max(0) as usize;
    format!("{value:.digits$}")
}

/// A duration, s, in the unit that suits it.
fn span(seconds: f64) -> String {
    scaled(
        seconds,
        &[(1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")],
    )
}

/// A length, m, in the unit that suits it.
fn length(metres: f64) -> String {
    scaled(
        metres,
        &[(1.0, "m"), (1e-3, "mm"), (1e-6, "µm"), (1e-9, "nm")],
    )
}

fn scaled(value: f64, units: &[(f64, &str)]) -> String {
    let fits = |(size, _): &&(f64, &str)| value.abs() >= 0.9999 * size;
    match units.iter().find(fits) {
        Some((size, unit)) => {
            let number = short(value / size);
            let number = if number.contains('.') && !number.contains('e') {
                number
                    .trim_end_matches('0')
                    .trim_end_matches('.')
                    .to_owned()
            } else {
                number
            };
            format!("{number} {unit}")
        }
        None => format!("{} {}", short(value), units[0].1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!(short(1234.5678), "1235");
        assert_eq!(short(0.0123456), "0.01235");
        assert_eq!(short(1.5e-9), "1.500e-9");
        assert_eq!(span(0.01), "10 ms");
        assert_eq!(span(5.0), "5 s");
        assert_eq!(span(8.7e-7), "870 ns");
        assert_eq!(length(0.0), "0 m");
    }
}
