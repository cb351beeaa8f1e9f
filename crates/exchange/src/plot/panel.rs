//! One panel: grid, curves, axes and labels inside a frame.

use super::axis::{Axis, Extent, is_shown};
use super::canvas::{Canvas, FAINT_INK, INK, Pen, Point};
use super::decimate::{Reduced, reduce_curve, reduce_markers};
use super::font::{fit_text, text_width};
use super::label::{Align, Look};
use super::legend::{LINE_HEIGHT, Legend};
use super::{Plot, Series, Style};
use crate::error::ExchangeError;

pub(super) const LINE_WIDTH: f64 = 1.7;
const MARKER_RADIUS: f64 = 2.4;
const DASH: (f64, f64) = (7.0, 4.0);
const DOT: (f64, f64) = (1.8, 2.8);
const GRID: Pen = Pen {
    color: [228, 228, 228],
    width: 0.8,
};
const FINE_GRID: Pen = Pen {
    color: [242, 242, 242],
    width: 0.6,
};
const SPINE: Pen = Pen {
    color: [70, 70, 70],
    width: 1.0,
};
const TITLE: Look = Look {
    size: 13.0,
    bold: true,
    color: INK,
};
const LABEL: Look = Look {
    size: 12.0,
    bold: false,
    color: INK,
};
const TICK: Look = Look {
    size: 11.0,
    bold: false,
    color: FAINT_INK,
};
const TICK_LENGTH: f64 = 4.0;
const PAD: f64 = 6.0;

/// A rectangle (logical pixels), y downwards.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    pub left: f64,
    pub top: f64,
    pub right: f64,
    pub bottom: f64,
}

/// What a panel shares with its neighbours so that their parts align.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shared {
    /// Room for the vertical axis and its label, as wide as the column needs.
    pub left_room: f64,
    /// Whether a panel of the row has a note above its vertical axis.
    pub note: bool,
}

/// A panel with its axes and the room it needs around them.
pub(super) struct Panel<'a> {
    plot: &'a Plot,
    x_axis: Axis,
    y_axis: Axis,
}

impl<'a> Panel<'a> {
    /// Chooses axes for a frame of about the given size.
    pub fn new(plot: &'a Plot, (width, height): Point) -> Panel<'a> {
        // Signals over time fill the width; markers and closed curves need some air.
        let airy =
            |s: &Series| s.style == Style::Markers || !s.points.is_sorted_by(|a, b| a.0 <= b.0);
        let x_margin = if plot.series.iter().any(airy) {
            0.03
        } else {
            0.0
        };
        let shown = || {
            plot.series
                .iter()
                .flat_map(|s| s.points.iter())
                .filter(|p| plot.shows(p))
        };
        let x_extent = Extent::of(shown().map(|point| point.0));
        let y_extent = Extent::of(shown().map(|point| point.1));
        let (x_count, y_count) = ((width / 80.0) as usize, (height / 36.0) as usize);
        Panel {
            plot,
            x_axis: Axis::new(x_extent, plot.x_log, x_margin, x_count.max(2)),
            y_axis: Axis::new(y_extent, plot.y_log, 0.06, y_count.max(2)),
        }
    }

    /// Room for the vertical axis and its label.
    pub fn left_room(&self) -> f64 {
        let labels = self.y_axis.ticks.major.iter();
        let widest = labels.map(|tick| text_width(&tick.label, TICK.size, false));
        let label = if self.plot.y_label.is_empty() {
            0.0
        } else {
            LABEL.size + PAD + 4.0
        };
        widest.fold(10.0, f64::max) + TICK_LENGTH + PAD + label
    }

    /// Room for the horizontal axis and its label.
    pub fn bottom_room(&self) -> f64 {
        let bare = self.plot.x_label.is_empty() && self.x_axis.ticks.note.is_empty();
        let label = if bare { 0.0 } else { LABEL.size + PAD };
        TICK_LENGTH + PAD + TICK.size + label
    }

    /// Whether the vertical axis has a note above it.
    pub fn has_note(&self) -> bool {
        !self.y_axis.ticks.note.is_empty()
    }

    /// Room for title, legend and, if asked for, a note, given the frame's width.
    pub fn top_room(&self, width: f64, note: bool) -> f64 {
        let legend = Legend::new(self.plot, width);
        let beside = self.legend_fits_beside_title(&legend, width);
        let title = if self.plot.title.is_empty() {
            0.0
        } else {
            20.0
        };
        let lines = if beside { 0 } else { legend.lines };
        let note = if note { 15.0 } else { 0.0 };
        title + LINE_HEIGHT * lines as f64 + note + PAD
    }

    fn legend_fits_beside_title(&self, legend: &Legend, width: f64) -> bool {
        let title = text_width(&self.plot.title, TITLE.size, true);
        !self.plot.title.is_empty() && legend.lines == 1 && title + 30.0 + legend.width <= width
    }

    /// Draws the panel with its axes on `frame`; labels go outside it.
    pub fn draw(&self, canvas: &Canvas, frame: Frame, shared: Shared) -> Result<(), ExchangeError> {
        self.draw_heading(canvas, frame, shared.note)?;
        self.draw_grid(canvas, frame)?;
        for (index, series) in self.plot.series.iter().enumerate() {
            self.draw_series(canvas, frame, series, series.color_at(index))?;
        }
        if !self
            .plot
            .series
            .iter()
            .any(|s| s.points.iter().any(|p| self.plot.shows(p)))
        {
            let middle = (
                0.5 * (frame.left + frame.right),
                0.5 * (frame.top + frame.bottom),
            );
            canvas.text("no data", middle, TICK, Align::Center);
        }
        self.draw_spines(canvas, frame)?;
        self.draw_labels(canvas, frame, shared.left_room);
        Ok(())
    }

    fn draw_heading(&self, canvas: &Canvas, frame: Frame, note: bool) -> Result<(), ExchangeError> {
        let width = frame.right - frame.left;
        let top = frame.top - self.top_room(width, note);
        let legend = Legend::new(self.plot, width);
        let (title, size) = fit_text(&self.plot.title, TITLE.size, true, width);
        let at = (frame.left, top + 0.5 * LINE_HEIGHT);
        canvas.text(&title, at, Look { size, ..TITLE }, Align::Left);
        let corner = if self.legend_fits_beside_title(&legend, width) {
            (frame.right - legend.width, top)
        } else if self.plot.title.is_empty() {
            (frame.left, top)
        } else {
            (frame.left, top + 20.0)
        };
        legend.draw(canvas, corner)
    }

    fn draw_grid(&self, canvas: &Canvas, frame: Frame) -> Result<(), ExchangeError> {
        let vertical = |x: f64| [(x, frame.top), (x, frame.bottom)];
        let horizontal = |y: f64| [(frame.left, y), (frame.right, y)];
        for &value in &self.x_axis.ticks.minor {
            canvas.line(&vertical(self.place_x(frame, value)), FINE_GRID)?;
        }
        for &value in &self.y_axis.ticks.minor {
            canvas.line(&horizontal(self.place_y(frame, value)), FINE_GRID)?;
        }
        for tick in &self.x_axis.ticks.major {
            canvas.line(&vertical(self.place_x(frame, tick.value)), GRID)?;
        }
        for tick in &self.y_axis.ticks.major {
            canvas.line(&horizontal(self.place_y(frame, tick.value)), GRID)?;
        }
        Ok(())
    }

    fn draw_series(
        &self,
        canvas: &Canvas,
        frame: Frame,
        series: &Series,
        color: [u8; 3],
    ) -> Result<(), ExchangeError> {
        let places = series.points.iter().map(|point| {
            self.plot
                .shows(point)
                .then(|| (self.place_x(frame, point.0), self.place_y(frame, point.1)))
        });
        let pen = Pen {
            color,
            width: LINE_WIDTH,
        };
        if series.style == Style::Markers {
            return reduce_markers(places.flatten().collect())
                .into_iter()
                .try_for_each(|place| canvas.disc(place, MARKER_RADIUS, color));
        }
        match reduce_curve(places) {
            Reduced::Lines(lines) => lines
                .iter()
                .try_for_each(|line| draw_line(canvas, line, pen, series.style)),
            Reduced::Area(area) => {
                let width = area.thickness;
                let pen = Pen { color, width };
                area.runs.iter().try_for_each(|run| canvas.line(run, pen))
            }
        }
    }

    fn draw_spines(&self, canvas: &Canvas, frame: Frame) -> Result<(), ExchangeError> {
        let Frame {
            left,
            top,
            right,
            bottom,
        } = frame;
        canvas.line(&[(left, top), (left, bottom), (right, bottom)], SPINE)?;
        for tick in &self.x_axis.ticks.major {
            let x = self.place_x(frame, tick.value);
            canvas.line(&[(x, bottom), (x, bottom + TICK_LENGTH)], SPINE)?;
            let at = (x, bottom + TICK_LENGTH + PAD + 2.0);
            canvas.text(&tick.label, at, TICK, Align::Center);
        }
        for tick in &self.y_axis.ticks.major {
            let y = self.place_y(frame, tick.value);
            canvas.line(&[(left - TICK_LENGTH, y), (left, y)], SPINE)?;
            canvas.text(
                &tick.label,
                (left - TICK_LENGTH - 3.0, y),
                TICK,
                Align::Right,
            );
        }
        Ok(())
    }

    fn draw_labels(&self, canvas: &Canvas, frame: Frame, left_room: f64) {
        let Frame {
            left,
            top,
            right,
            bottom,
        } = frame;
        let below = bottom + self.bottom_room() - 0.5 * LABEL.size;
        let (x_note, y_note) = (&self.x_axis.ticks.note, &self.y_axis.ticks.note);
        let note_width = text_width(x_note, TICK.size, false);
        let room = right - left - 2.0 * note_width;
        let (label, size) = fit_text(&self.plot.x_label, LABEL.size, false, room);
        let center = 0.5 * (left + right);
        canvas.text(
            &label,
            (center, below),
            Look { size, ..LABEL },
            Align::Center,
        );
        canvas.text(x_note, (right, below), TICK, Align::Right);
        canvas.text(y_note, (left, top - 8.0), TICK, Align::Left);
        // The label may overhang a low panel a little; the margins around allow it.
        let (label, size) = fit_text(&self.plot.y_label, LABEL.size, false, bottom - top + 30.0);
        let at = (left - left_room + 0.5 * LABEL.size, 0.5 * (top + bottom));
        canvas.text(&label, at, Look { size, ..LABEL }, Align::Upwards);
    }

    fn place_x(&self, frame: Frame, value: f64) -> f64 {
        frame.left + self.x_axis.fraction(value) * (frame.right - frame.left)
    }

    fn place_y(&self, frame: Frame, value: f64) -> f64 {
        frame.bottom - self.y_axis.fraction(value) * (frame.bottom - frame.top)
    }
}

impl Plot {
    /// Whether a point has a place on both axes.
    fn shows(&self, &(x, y): &(f64, f64)) -> bool {
        is_shown(x, self.x_log) && is_shown(y, self.y_log)
    }
}

fn draw_line(canvas: &Canvas, line: &[Point], pen: Pen, style: Style) -> Result<(), ExchangeError> {
    match (line, style) {
        ([lonely], _) => canvas.disc(*lonely, pen.width, pen.color),
        (_, Style::Dashed) => canvas.dashes(line, pen, DASH),
        (_, Style::Dotted) => canvas.dashes(line, pen, DOT),
        _ => canvas.line(line, pen),
    }
}

/// A short piece of a series for the legend.
pub(super) fn draw_sample(
    canvas: &Canvas,
    from: Point,
    to: Point,
    pen: Pen,
    style: Style,
) -> Result<(), ExchangeError> {
    if style == Style::Markers {
        let middle = (0.5 * (from.0 + to.0), from.1);
        return canvas.disc(middle, MARKER_RADIUS + 0.4, pen.color);
    }
    draw_line(canvas, &[from, to], pen, style)
}
