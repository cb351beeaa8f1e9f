//! Lines, discs and text on SVG, in logical pixels.
//!
//! Plotters counts in whole pixels, which would make smooth curves jagged. The canvas
//! therefore draws ten times as large and lets the SVG view box scale it back.

use std::cell::RefCell;

use plotters::coord::Shift;
use plotters::prelude::*;

use super::label::{Align, Label, Letters, Look};
use crate::error::ExchangeError;

const SCALE: f64 = 10.0;
/// More dashes than this in one series would bloat the file; then they grow longer.
const MAX_DASHES: f64 = 1200.0;

pub(super) const INK: [u8; 3] = [38, 38, 38];
pub(super) const FAINT_INK: [u8; 3] = [96, 96, 96];

pub(super) type Point = (f64, f64);

/// A line's look: colour and width (logical pixels).
#[derive(Clone, Copy)]
pub(super) struct Pen {
    pub color: [u8; 3],
    pub width: f64,
}

impl Pen {
    fn style(self) -> ShapeStyle {
        let [red, green, blue] = self.color;
        ShapeStyle {
            color: RGBColor(red, green, blue).to_rgba(),
            filled: false,
            stroke_width: (self.width * SCALE).round() as u32,
        }
    }
}

pub(super) struct Canvas<'a> {
    area: DrawingArea<SVGBackend<'a>, Shift>,
    /// Our own: the backend's text would be measured and anchored differently.
    labels: RefCell<Vec<Label>>,
}

/// Draws a picture of the given size (logical pixels) and returns it as SVG.
pub(super) fn draw_svg(
    (width, height): Point,
    letters: Letters,
    draw: impl FnOnce(&Canvas) -> Result<(), ExchangeError>,
) -> Result<String, ExchangeError> {
    let mut svg = String::new();
    let size = ((width * SCALE) as u32, (height * SCALE) as u32);
    let area = SVGBackend::with_string(&mut svg, size).into_drawing_area();
    let canvas = Canvas {
        area,
        labels: RefCell::default(),
    };
    canvas.done(canvas.area.fill(&WHITE))?;
    draw(&canvas)?;
    canvas.done(canvas.area.present())?;
    let labels = canvas.labels.take();
    drop(canvas);
    let elements = labels.iter().map(|label| label.element(letters, SCALE));
    let body = svg.trim_end().trim_end_matches("</svg>").to_owned();
    // Line joins are inherited from the root; pointed ones would spike on noise.
    let large = format!("<svg width=\"{}\" height=\"{}\" ", size.0, size.1);
    let small =
        format!("<svg width=\"{width:.0}\" height=\"{height:.0}\" stroke-linejoin=\"round\" ");
    let body = body
        .replacen(&large, &small, 1)
        .replace(" opacity=\"1\"", "");
    Ok(body + &elements.collect::<String>() + "</svg>\n")
}

fn device((x, y): Point) -> (i32, i32) {
    // Casts saturate, and NaN becomes zero: no coordinate can panic here.
    ((x * SCALE).round() as i32, (y * SCALE).round() as i32)
}

impl Canvas<'_> {
    fn done<E: std::error::Error + Send + Sync>(
        &self,
        result: Result<(), DrawingAreaErrorKind<E>>,
    ) -> Result<(), ExchangeError> {
        result.map_err(|error| ExchangeError::Drawing(error.to_string()))
    }

    pub fn line(&self, points: &[Point], pen: Pen) -> Result<(), ExchangeError> {
        let path: Vec<(i32, i32)> = points.iter().copied().map(device).collect();
        self.done(self.area.draw(&PathElement::new(path, pen.style())))
    }

    /// A line of dashes `on` long with gaps of `off` (logical pixels).
    pub fn dashes(
        &self,
        points: &[Point],
        pen: Pen,
        (on, off): (f64, f64),
    ) -> Result<(), ExchangeError> {
        let lengths = points
            .windows(2)
            .map(|pair| (pair[1].0 - pair[0].0).hypot(pair[1].1 - pair[0].1));
        let growth = (lengths.sum::<f64>() / (on + off) / MAX_DASHES).max(1.0);
        for dash in split_dashes(points, on * growth, off * growth) {
            self.line(&dash, pen)?;
        }
        Ok(())
    }

    pub fn disc(&self, center: Point, radius: f64, color: [u8; 3]) -> Result<(), ExchangeError> {
        let [red, green, blue] = color;
        let style = RGBColor(red, green, blue).filled();
        let size = (radius * SCALE).round() as i32;
        self.done(self.area.draw(&Circle::new(device(center), size, style)))
    }

    /// A text, which is drawn on top of everything else.
    pub fn text(&self, text: &str, at: Point, look: Look, align: Align) {
        if !text.trim().is_empty() {
            let text = text.to_owned();
            let label = Label {
                text,
                at,
                look,
                align,
            };
            self.labels.borrow_mut().push(label);
        }
    }
}

/// Cuts a polyline into pieces of length `on`, leaving out `off` between them.
fn split_dashes(points: &[Point], on: f64, off: f64) -> Vec<Vec<Point>> {
    let mut dashes = Vec::new();
    let mut current = points.first().map(|&start| vec![start]).unwrap_or_default();
    let (mut drawing, mut left) = (true, on);
    for pair in points.windows(2) {
        let (mut from, to) = (pair[0], pair[1]);
        let mut length = (to.0 - from.0).hypot(to.1 - from.1);
        while length > left {
            let part = left / length;
            from = (
                from.0 + part * (to.0 - from.0),
                from.1 + part * (to.1 - from.1),
            );
            length -= left;
            current.push(from);
            if drawing {
                dashes.push(std::mem::take(&mut current));
            }
            current = vec![from];
            drawing = !drawing;
            left = if drawing { on } else { off };
        }
        left -= length;
        current.push(to);
    }
    if drawing && current.len() > 1 {
        dashes.push(current);
    }
    dashes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dashes_cover_their_share_of_the_line() {
        let points: Vec<Point> = (0..=100).map(|k| (k as f64, 0.0)).collect();
        let dashes = split_dashes(&points, 6.0, 4.0);
        assert_eq!(dashes.len(), 10);
        for (index, dash) in dashes.iter().enumerate() {
            assert!((dash[0].0 - 10.0 * index as f64).abs() < 1e-9);
            assert!((dash[dash.len() - 1].0 - dash[0].0 - 6.0).abs() < 1e-9);
        }
        assert!(split_dashes(&[], 1.0, 1.0).is_empty());
        assert!(split_dashes(&[(1.0, 1.0); 3], 1.0, 1.0).len() <= 1);
    }
}
