//! One probe by one method at several steps, with the truth behind it.

use vincula_exchange::{Plot, Series, Style};
use vincula_scenes::Scene;

use crate::motion::{Method, Outcome, Run, record};

/// Colour of the truth.
pub const DARK: [u8; 3] = [40, 40, 40];
/// Colour of lines that only widen an axis.
pub const GRID: [u8; 3] = [228, 228, 228];
/// From long steps to short ones: warm to cold.
pub const SHADES: [[u8; 3]; 4] = [[213, 94, 0], [230, 159, 0], [0, 158, 115], [0, 114, 178]];

/// Points of a curve: enough for its shape, few enough for a small file.
pub const POINTS: usize = 250;

/// What a panel shows.
pub struct Panel<'a> {
    /// The scene.
    pub scene: &'a Scene,
    /// The probe.
    pub probe: &'a str,
    /// The method.
    pub method: Method,
    /// Steps, s, longest first.
    pub steps: &'a [f64],
    /// Time shown, s.
    pub duration: f64,
    /// The truth, by whatever means.
    pub truth: Option<(&'a str, &'a [(f64, f64)])>,
    /// Label of the vertical axis.
    pub label: &'a str,
}

impl Panel<'_> {
    /// Runs everything and draws it.
    pub fn plot(&self) -> Outcome<Plot> {
        let mut series = Vec::new();
        for (index, h) in self.steps.iter().enumerate() {
            let run = Run::new(self.method, *h, self.duration).thinned(POINTS);
            let points = record(self.scene, self.probe, run)?;
            let color = Some(SHADES[index % SHADES.len()]);
            series.push(Series {
                color,
                ..Series::new(step_name(*h), points)
            });
        }
        if let Some((name, points)) = self.truth {
            let line = Series::new(name, points.to_vec()).style(Style::Dashed);
            series.push(Series {
                color: Some(DARK),
                ..line
            });
        }
        Ok(Plot {
            title: method_title(self.method),
            x_label: "time [s]".to_owned(),
            y_label: self.label.to_owned(),
            series,
            ..Plot::default()
        })
    }
}

/// A step for a legend.
pub fn step_name(h: f64) -> String {
    format!("{} ms", (h * 1e6).round() / 1e3)
}

/// What a method is, for the heading of a panel.
pub fn method_title(method: Method) -> String {
    use vincula::prelude::Integrator;
    match method {
        Method::Affine(Integrator::Tempered) => "tempered (default)".to_owned(),
        Method::Affine(Integrator::LinearEuler) => "linear-euler (the paper's)".to_owned(),
        other => other.name().to_owned(),
    }
}
