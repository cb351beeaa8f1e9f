//! The plots of a run: energy, momentum and each probe against its reference.

use vincula_exchange::{Figure, Plot, Series, Style};
use vincula_scenes::{Probe, Scene};

use crate::recording::Recording;

/// The sum of energies stands apart from its parts: dark grey.
const TOTAL: [u8; 3] = [60, 60, 60];

/// Every figure with the stem of its file name.
pub fn figures(scene: &Scene, recording: &Recording) -> Vec<(String, Figure)> {
    let mut figures = vec![
        ("energy".to_owned(), energy(scene, recording)),
        ("momentum".to_owned(), momentum(scene, recording)),
    ];
    for (index, probe) in scene.probes.iter().enumerate() {
        figures.push((
            probe.name.to_owned(),
            against(scene, recording, probe, index),
        ));
    }
    figures
}

/// A panel over time.
fn panel(y_label: impl Into<String>, series: Vec<Series>) -> Plot {
    Plot {
        x_label: "time [s]".to_owned(),
        y_label: y_label.into(),
        series,
        ..Plot::default()
    }
}

fn over_time(recording: &Recording, name: &str, value: impl Fn(usize) -> f64) -> Series {
    let points: Vec<(f64, f64)> = recording
        .time
        .iter()
        .enumerate()
        .map(|(index, t)| (*t, value(index)))
        .collect();
    Series::new(name, points)
}

fn title(scene: &Scene, what: &str) -> String {
    format!("{}: {what}", scene.name)
}

fn energy(scene: &Scene, recording: &Recording) -> Figure {
    let e = &recording.energies;
    let total = |index: usize| e[index].iter().sum::<f64>();
    let parts = vec![
        over_time(recording, "kinetic", |i| e[i][0]),
        over_time(recording, "potential", |i| e[i][1]),
        over_time(recording, "elastic", |i| e[i][2]),
        Series {
            color: Some(TOTAL),
            ..over_time(recording, "total", total)
        },
    ];
    let start = total(0);
    let change = over_time(recording, "", |i| total(i) - start);
    Figure::new(title(scene, "energy"))
        .panel(panel("energy [J]", parts))
        .panel(panel("change of the total [J]", vec![change]))
}

fn momentum(scene: &Scene, recording: &Recording) -> Figure {
    let m = &recording.momenta;
    let axes = |first: usize| {
        let axis = |(part, name)| over_time(recording, name, move |i| m[i][first + part]);
        ["x", "y", "z"]
            .into_iter()
            .enumerate()
            .map(axis)
            .collect::<Vec<_>>()
    };
    Figure::new(title(scene, "momentum"))
        .panel(panel("momentum [kg m/s]", axes(0)))
        .panel(panel("angular momentum [kg m²/s]", axes(3)))
}

fn against(scene: &Scene, recording: &Recording, probe: &Probe, index: usize) -> Figure {
    let name = probe.name.replace('-', " ");
    let bracket = |text: &str| {
        if probe.unit.is_empty() {
            text.to_owned()
        } else {
            format!("{text} [{}]", probe.unit)
        }
    };
    let meant = |t: &f64| probe.time_meant(*t, scene.h);
    let times: Vec<f64> = recording.time.iter().map(meant).collect();
    let values = &recording.probes[index];
    let curve = |of: &dyn Fn(usize) -> f64| -> Vec<(f64, f64)> {
        times.iter().enumerate().map(|(i, t)| (*t, of(i))).collect()
    };
    let mut series = vec![Series::new("simulated", curve(&|i| values[i]))];
    let figure = Figure::new(title(scene, probe.label));
    if !probe.has_reference() {
        series[0].name.clear();
        return figure.panel(panel(bracket(&name), series));
    }
    let exact = |i: usize| probe.reference(times[i]).unwrap_or(f64::NAN);
    series.push(Series::new("reference", curve(&exact)).style(Style::Dashed));
    let error = Series::new("", curve(&|i| values[i] - exact(i)));
    figure
        .panel(panel(bracket(&name), series))
        .panel(panel(bracket("simulated − reference"), vec![error]))
}
