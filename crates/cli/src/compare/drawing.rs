//! A comparison as a figure: joint error, energy, overlap and time spent, over time.

use vincula_exchange::{Figure, Plot, Series, Style};
use vincula_scenes::Scene;

use super::race::{Look, Track};

/// Below this a logarithm shows rounding only, m.
const FLOOR: f64 = 1e-17;
/// Overlaps below this are none, m.
const TOUCHING: f64 = 1e-7;
/// A method that breaks down is drawn up to this many times the energy that the others reach.
const BREAKDOWN: f64 = 2.0;

/// The figure of all methods that ran.
pub(super) fn figure(scene: &Scene, tracks: &[Track]) -> Figure {
    let title = format!(
        "{}: the methods side by side, h = {} s",
        scene.name, scene.h
    );
    let mut figure = Figure::new(title);
    if !scene.model.joints().is_empty() {
        let gap = panel(tracks, "joint error [m]", |look| floor(look.gap));
        figure = figure.panel(Plot { y_log: true, ..gap });
    }
    let most = BREAKDOWN * largest_change(tracks);
    figure = figure.panel(panel(tracks, "change of energy [J]", |look| {
        if look.energy.abs() <= most {
            look.energy
        } else {
            f64::NAN
        }
    }));
    if tracks
        .iter()
        .any(|track| track.most(|look| look.overlap) > 0.0)
    {
        let overlap = panel(tracks, "overlap [m]", |look| look.overlap.max(TOUCHING));
        figure = figure.panel(Plot {
            y_log: true,
            ..overlap
        });
    }
    let spent = panel(tracks, "time spent [s]", |look| look.spent);
    figure.panel(Plot {
        y_log: true,
        ..spent
    })
}

/// The largest change of energy of the methods that came to the end, J; of all if none did.
fn largest_change(tracks: &[Track]) -> f64 {
    let largest = |finished: bool| {
        let tracks = tracks
            .iter()
            .filter(|track| !finished || track.trouble.is_none());
        tracks.fold(0.0, |most: f64, track| {
            most.max(track.most(|look| look.energy.abs()))
        })
    };
    if tracks.iter().any(|t| t.ran() && t.trouble.is_none()) {
        largest(true)
    } else {
        largest(false)
    }
}

fn floor(value: f64) -> f64 {
    if value > FLOOR { value } else { f64::NAN }
}

/// Affine bodies are drawn with solid lines, the literature's methods with dashes.
fn panel(tracks: &[Track], label: &str, of: impl Fn(&Look) -> f64) -> Plot {
    let affine = vincula::integrate::Integrator::ALL.map(|integrator| integrator.name());
    let series = tracks
        .iter()
        .filter(|track| track.ran())
        .map(|track| {
            let points: Vec<_> = track
                .looks
                .iter()
                .map(|look| (look.time, of(look)))
                .collect();
            let style = if affine.contains(&track.name) {
                Style::Solid
            } else {
                Style::Dashed
            };
            let name = match track.trouble {
                None => track.name.to_owned(),
                Some(_) => format!("{} (stopped)", track.name),
            };
            Series::new(name, points).style(style)
        })
        .collect();
    Plot {
        x_label: "time [s]".to_owned(),
        y_label: label.to_owned(),
        series,
        ..Plot::default()
    }
}
