//! The legend: samples and names in lines above the axes, where they cover no data.

use super::canvas::{Canvas, INK, Pen, Point};
use super::font::{fit_text, text_width};
use super::label::{Align, Look};
use super::panel::{LINE_WIDTH, draw_sample};
use super::{Plot, Style};
use crate::error::ExchangeError;

pub(super) const LINE_HEIGHT: f64 = 18.0;
const SAMPLE: f64 = 24.0;
const GAP: f64 = 6.0;
const BETWEEN: f64 = 18.0;
/// Beyond these a legend explains nothing; the rest is counted.
const MAX_ENTRIES: usize = 24;
const LOOK: Look = Look {
    size: 11.5,
    bold: false,
    color: INK,
};

struct Entry {
    name: String,
    size: f64,
    /// From the left end of the legend.
    x: f64,
    line: usize,
    /// Colour and style; None for the count of those left out.
    sample: Option<([u8; 3], Style)>,
}

/// A legend laid out within a width.
pub(super) struct Legend {
    entries: Vec<Entry>,
    pub lines: usize,
    /// Of the widest line (logical pixels).
    pub width: f64,
}

impl Legend {
    pub fn new(plot: &Plot, width: f64) -> Legend {
        let mut legend = Legend {
            entries: Vec::new(),
            lines: 0,
            width: 0.0,
        };
        let mut x = 0.0;
        let named = plot
            .series
            .iter()
            .enumerate()
            .filter(|(_, s)| !s.name.is_empty());
        let total = named.clone().count();
        for (index, series) in named.take(MAX_ENTRIES) {
            let sample = Some((series.color_at(index), series.style));
            legend.push(&series.name, sample, width, &mut x);
        }
        if total > MAX_ENTRIES {
            let rest = format!("and {} more", total - MAX_ENTRIES);
            legend.push(&rest, None, width, &mut x);
        }
        legend
    }

    fn push(&mut self, name: &str, sample: Option<([u8; 3], Style)>, width: f64, x: &mut f64) {
        let lead = if sample.is_some() { SAMPLE + GAP } else { 0.0 };
        let (name, size) = fit_text(name, LOOK.size, false, width - lead);
        let length = lead + text_width(&name, size, false);
        if self.lines == 0 || *x + length > width {
            (*x, self.lines) = (0.0, self.lines + 1);
        }
        self.entries.push(Entry {
            name,
            size,
            x: *x,
            line: self.lines - 1,
            sample,
        });
        self.width = self.width.max(*x + length);
        *x += length + BETWEEN;
    }

    /// Draws the legend with its top left corner at `corner`.
    pub fn draw(&self, canvas: &Canvas, corner: Point) -> Result<(), ExchangeError> {
        for entry in &self.entries {
            let x = corner.0 + entry.x;
            let y = corner.1 + LINE_HEIGHT * (entry.line as f64 + 0.5);
            let look = Look {
                size: entry.size,
                ..LOOK
            };
            let Some((color, style)) = entry.sample else {
                canvas.text(&entry.name, (x, y), look, Align::Left);
                continue;
            };
            let pen = Pen {
                color,
                width: LINE_WIDTH,
            };
            draw_sample(canvas, (x, y), (x + SAMPLE, y), pen, style)?;
            canvas.text(&entry.name, (x + SAMPLE + GAP, y), look, Align::Left);
        }
        Ok(())
    }
}
