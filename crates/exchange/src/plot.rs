//! Line plots as SVG and PNG.
//!
//! A [`Figure`] stacks rows of panels; each [`Plot`] is one panel with its own axes and
//! a legend above them, where it covers no data. Plotters draws the SVG and resvg
//! turns it into PNG with letters from an embedded font, so that a machine without
//! fonts gives the same picture. Colours are those of Okabe and Ito (2008), which remain distinct to
//! colour-blind readers, without their yellow, which is lost on white, and with grey
//! for black, which text and axes use.

mod axis;
mod canvas;
mod coverage;
mod decimate;
mod font;
mod label;
mod layout;
mod legend;
mod panel;
mod raster;
mod ticks;

use std::path::Path;

use crate::error::ExchangeError;
use crate::staging::write_atomic;
use label::Letters;

/// Blue, vermilion, green, purple, orange, sky blue, grey.
const PALETTE: [[u8; 3]; 7] = [
    [0, 114, 178],
    [213, 94, 0],
    [0, 158, 115],
    [204, 121, 167],
    [230, 159, 0],
    [86, 180, 233],
    [90, 90, 90],
];

/// How a series is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Style {
    /// A continuous line.
    #[default]
    Solid,
    /// A line of dashes.
    Dashed,
    /// A line of dots.
    Dotted,
    /// A disc at each point and no line.
    Markers,
}

/// One curve.
#[derive(Clone, Debug, Default)]
pub struct Series {
    /// Its entry in the legend; empty for none.
    pub name: String,
    /// Points in drawing order. A point that is not finite, or not positive on a
    /// logarithmic axis, interrupts the line.
    pub points: Vec<(f64, f64)>,
    /// How it is drawn.
    pub style: Style,
    /// Red, green and blue; chosen from the palette by position when None.
    pub color: Option<[u8; 3]>,
}

impl Series {
    /// A solid line in an automatic colour.
    pub fn new(name: impl Into<String>, points: impl Into<Vec<(f64, f64)>>) -> Series {
        Series {
            name: name.into(),
            points: points.into(),
            ..Series::default()
        }
    }

    /// The same series in another style.
    pub fn style(mut self, style: Style) -> Series {
        self.style = style;
        self
    }

    fn color_at(&self, index: usize) -> [u8; 3] {
        let color = PALETTE[index % PALETTE.len()];
        let mix = |toward: u8, share: f64| {
            color.map(|part| (f64::from(part) * (1.0 - share) + f64::from(toward) * share) as u8)
        };
        // After one round through the palette a darker one, then a lighter one.
        self.color.unwrap_or(match (index / PALETTE.len()) % 3 {
            0 => color,
            1 => mix(0, 0.45),
            _ => mix(255, 0.5),
        })
    }
}

/// One panel: curves over a common pair of axes.
#[derive(Clone, Debug, Default)]
pub struct Plot {
    /// Heading of the panel; empty for none.
    pub title: String,
    /// Label of the horizontal axis with its unit, such as `time [s]`.
    pub x_label: String,
    /// Label of the vertical axis with its unit, such as `energy [J]`.
    pub y_label: String,
    /// The curves.
    pub series: Vec<Series>,
    /// Whether the horizontal axis is logarithmic.
    pub x_log: bool,
    /// Whether the vertical axis is logarithmic.
    pub y_log: bool,
}

/// Panels in rows under a common heading.
#[derive(Clone, Debug, Default)]
pub struct Figure {
    /// Heading of the figure; empty for none.
    pub title: String,
    /// Rows from top to bottom, each from left to right.
    pub rows: Vec<Vec<Plot>>,
}

impl Figure {
    /// A figure without panels yet.
    pub fn new(title: impl Into<String>) -> Figure {
        Figure {
            title: title.into(),
            rows: Vec::new(),
        }
    }

    /// Adds one panel below the others.
    pub fn panel(mut self, plot: Plot) -> Figure {
        self.rows.push(vec![plot]);
        self
    }

    /// Adds a row of panels below the others.
    pub fn row(mut self, plots: Vec<Plot>) -> Figure {
        self.rows.push(plots);
        self
    }

    /// The figure as SVG text.
    pub fn to_svg(&self) -> Result<String, ExchangeError> {
        layout::draw_figure(self, Letters::Text)
    }

    /// Writes the figure as SVG, atomically.
    pub fn write_svg(&self, path: impl AsRef<Path>) -> Result<(), ExchangeError> {
        write_atomic(path, self.to_svg()?.as_bytes())
    }

    /// Writes the figure as PNG of the given width (pixels), atomically. The height
    /// follows from the panels; 1,600 is crisp on paper.
    pub fn write_png(&self, path: impl AsRef<Path>, width: u32) -> Result<(), ExchangeError> {
        let svg = layout::draw_figure(self, Letters::Outlines)?;
        write_atomic(path, &raster::rasterise(&svg, width)?)
    }
}

impl From<Plot> for Figure {
    fn from(plot: Plot) -> Figure {
        Figure::default().panel(plot)
    }
}
