//! A comparison as a figure: joint error, energy, overlap and time spent, over time.

use vincula_exchange::{Figure, Plot, Series, Style};
use vincula_scenes::Scene;

use super::race::{Look, Track};

/// Below this a logarithm shows rounding only, m.
const FLOOR: f64 = 1e-17;

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
    figure = figure.panel(panel(tracks, "change of energy [J]", |look| look.energy));
    if tracks
        .iter()
        .any(|track| track.most(|look| look.overlap) > 0.0)
    {
        let overlap = panel(tracks, "overlap [m]", |look| floor(look.overlap));
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
            Series::new(track.name, points).style(style)
        })
        .collect();
    Plot {
        x_label: "time [s]".to_owned(),
        y_label: label.to_owned(),
        series,
        ..Plot::default()
    }
}
