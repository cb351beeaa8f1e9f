//! Affine bodies and the classic methods: their motions approach each other as h → 0.
//!
//! The measure is the largest distance of a body's centre at the end from where a fine run of
//! the default integrator has it. The bodies are very stiff, so that strain does not tell the
//! affine ones apart.

use glam::DVec3;
use vincula::prelude::*;
use vincula_classic::catalog::{self, Entry};
use vincula_exchange::{Figure, Plot, Series, Style};
use vincula_scenes::Scene;

use super::Drawn;
use crate::motion::Outcome;

/// Step lengths, s, longest first.
const STEPS: [f64; 6] = [0.008, 0.004, 0.002, 0.001, 0.0005, 0.00025];
/// Step of the run that the others are compared with, s.
const FINE: f64 = 0.000_031_25;
/// Distance that strain, springs and the fine run leave, m.
const CLOSE: f64 = 5e-5;
/// Factor by which three halvings of the step shrink the distance.
const GAIN: f64 = 6.0;
/// Affine integrators shown.
const AFFINE: [Integrator; 2] = [Integrator::Tempered, Integrator::LinearEuler];

/// Keys and values of a scene.
type Setting = (&'static str, &'static str);

/// A scene, its settings and the time shown, s.
const SCENES: [(&str, &[Setting], f64); 3] = [
    ("pendulum", &[("young", "1e10")], 0.8),
    ("four-bar", &[("young", "1e10")], 0.8),
    (
        "six-link-chain",
        &[("young", "1e10"), ("gravity", "9.81")],
        0.32,
    ),
];

fn centers(model: &Model, state: &State) -> Vec<DVec3> {
    model.body_ids().map(|id| state.center(id)).collect()
}

fn affine(scene: &Scene, integrator: Integrator, h: f64, time: f64) -> Outcome<Vec<DVec3>> {
    let model = &scene.model;
    let (mut state, control) = (scene.state.clone(), Control::new(model));
    let mut work = Workspace::new(model, Settings::with_integrator(integrator));
    for _ in 0..(time / h).round() as usize {
        step(model, &mut state, &control, &mut work, h)?;
    }
    Ok(centers(model, &state))
}

fn classic(scene: &Scene, entry: &Entry, h: f64, time: f64) -> Outcome<Vec<DVec3>> {
    let model = &scene.model;
    let mut method = entry.make(model, &scene.state)?;
    let control = Control::new(model);
    for _ in 0..(time / h).round() as usize {
        method.step(model, &control, h)?;
    }
    let mut state = scene.state.clone();
    method.system().write_state(model, &mut state);
    Ok(centers(model, &state))
}

fn distance(a: &[DVec3], b: &[DVec3]) -> f64 {
    let pairs = a.iter().zip(b);
    pairs.fold(0.0, |most: f64, (a, b)| most.max(a.distance(*b)))
}

/// Distance from the truth at every step length; none where the method breaks down.
fn approach(truth: &[DVec3], run: impl Fn(f64) -> Outcome<Vec<DVec3>>) -> Vec<(f64, f64)> {
    STEPS
        .iter()
        .map(|&h| (h, run(h).map_or(f64::NAN, |end| distance(truth, &end))))
        .collect()
}

/// Whether every time that the step is halved the distance shrinks, and over the last three
/// halvings by a factor of six (a method of first order gives eight in the end), unless it is
/// already what strain, springs and the fine run itself leave. Steps at which a method breaks
/// down count as far away.
fn approaches(points: &[(f64, f64)]) -> bool {
    let close = |distance: f64| distance < CLOSE;
    let closer = |pair: &[(f64, f64)]| pair[1].1 < pair[0].1 || close(pair[1].1);
    let [.., (_, before), _, _, (_, last)] = points else {
        return false;
    };
    points.windows(2).all(closer) && (*last < before / GAIN || close(*last))
}

fn draw_scene(name: &str, settings: &[(&str, &str)], time: f64) -> Outcome<(Plot, bool)> {
    let scene = vincula_scenes::build(name, settings)?;
    let truth = affine(&scene, Integrator::Tempered, FINE, time)?;
    let (mut series, mut holds) = (Vec::new(), true);
    for integrator in AFFINE {
        let points = approach(&truth, |h| affine(&scene, integrator, h, time));
        holds &= tell(name, integrator.name(), &points);
        series.push(Series::new(integrator.name(), points));
    }
    for entry in catalog::CATALOG {
        if entry.make(&scene.model, &scene.state).is_err() {
            println!("  {name:<15} {:<20} cannot run it", entry.name);
            continue;
        }
        let points = approach(&truth, |h| classic(&scene, entry, h, time));
        holds &= tell(name, entry.name, &points);
        series.push(Series::new(entry.name, points).style(Style::Dashed));
    }
    let plot = Plot {
        title: format!("{name}, after {time} s"),
        x_label: "step [s]".to_owned(),
        y_label: "distance [m]".to_owned(),
        series,
        x_log: true,
        y_log: true,
    };
    Ok((plot, holds))
}

fn tell(scene: &str, method: &str, points: &[(f64, f64)]) -> bool {
    let errors: Vec<String> = points.iter().map(|(_, e)| format!("{e:.1e}")).collect();
    println!("  {scene:<15} {method:<20} {}", errors.join("  "));
    approaches(points)
}

pub fn draw() -> Outcome<Drawn> {
    let mut figure = Figure::new("All methods approach one motion as the step shrinks");
    let mut holds = true;
    for (name, settings, time) in SCENES {
        let (plot, good) = draw_scene(name, settings, time)?;
        holds &= good;
        figure = figure.panel(plot);
    }
    Ok(Drawn::new(figure, holds))
}
