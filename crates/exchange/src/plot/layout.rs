//! Where panels go: equal columns, rows as high as their legends need, and vertical
//! axes aligned within each column.

use super::canvas::{Canvas, INK, Point, draw_svg};
use super::font::fit_text;
use super::label::{Align, Letters, Look};
use super::panel::{Frame, Panel, Shared};
use super::{Figure, Plot};
use crate::error::ExchangeError;

const MARGIN: f64 = 18.0;
const TITLE_ROOM: f64 = 34.0;
const ROW_GAP: f64 = 20.0;
const COLUMN_GAP: f64 = 26.0;
/// Half of the last tick's label hangs over the right end of an axis.
const RIGHT_ROOM: f64 = 12.0;
const TITLE: Look = Look {
    size: 16.5,
    bold: true,
    color: INK,
};

struct Placed<'a> {
    panel: Panel<'a>,
    frame: Frame,
    shared: Shared,
}

/// Draws the whole figure as SVG.
pub(super) fn draw_figure(figure: &Figure, letters: Letters) -> Result<String, ExchangeError> {
    let columns = figure.rows.iter().map(Vec::len).max().unwrap_or(1).max(1);
    let width = [800.0f64, 1060.0, 1320.0][columns.min(3) - 1].max(400.0 * columns as f64);
    let height = [330.0, 240.0, 200.0][figure.rows.len().clamp(1, 3) - 1];
    let (placed, bottom) = place(figure, columns, (width, height));
    draw_svg((width, bottom + MARGIN), letters, |canvas| {
        draw_title(canvas, &figure.title, width);
        placed
            .iter()
            .try_for_each(|item| item.panel.draw(canvas, item.frame, item.shared))
    })
}

fn draw_title(canvas: &Canvas, title: &str, width: f64) {
    let (text, size) = fit_text(title, TITLE.size, true, width - 2.0 * MARGIN);
    let at = (MARGIN, MARGIN + 0.5 * TITLE.size);
    canvas.text(&text, at, Look { size, ..TITLE }, Align::Left);
}

/// Frames for all panels, and where the last one ends.
fn place(figure: &Figure, columns: usize, (width, height): Point) -> (Vec<Placed<'_>>, f64) {
    let column_width = (width - 2.0 * MARGIN - COLUMN_GAP * (columns - 1) as f64) / columns as f64;
    let rows: Vec<Vec<Panel>> = figure
        .rows
        .iter()
        .map(|row| panels(row, (column_width, height)))
        .collect();
    let left_rooms: Vec<f64> = (0..columns)
        .map(|column| {
            let panels = rows.iter().filter_map(|row| row.get(column));
            panels.map(Panel::left_room).fold(0.0, f64::max)
        })
        .collect();
    let mut placed = Vec::new();
    let mut y = MARGIN
        + if figure.title.is_empty() {
            0.0
        } else {
            TITLE_ROOM
        };
    for (index, row) in rows.into_iter().enumerate() {
        y += if index > 0 { ROW_GAP } else { 0.0 };
        y = place_row(row, &left_rooms, (column_width, height), y, &mut placed);
    }
    (placed, y)
}

fn panels(row: &[Plot], size: Point) -> Vec<Panel<'_>> {
    row.iter().map(|plot| Panel::new(plot, size)).collect()
}

/// Places one row with its top at `y` and returns its bottom.
fn place_row<'a>(
    row: Vec<Panel<'a>>,
    left_rooms: &[f64],
    (column_width, height): Point,
    y: f64,
    placed: &mut Vec<Placed<'a>>,
) -> f64 {
    let note = row.iter().any(Panel::has_note);
    let inner = |column: usize| column_width - left_rooms[column] - RIGHT_ROOM;
    let top_rooms = row
        .iter()
        .enumerate()
        .map(|(c, panel)| panel.top_room(inner(c), note));
    let top = y + top_rooms.fold(0.0, f64::max);
    let bottom = top + height;
    let below = row.iter().map(Panel::bottom_room).fold(0.0, f64::max);
    for (column, panel) in row.into_iter().enumerate() {
        let start = MARGIN + (column_width + COLUMN_GAP) * column as f64;
        let left = start + left_rooms[column];
        let right = left + inner(column);
        let frame = Frame {
            left,
            top,
            right,
            bottom,
        };
        let left_room = left_rooms[column];
        let shared = Shared { left_room, note };
        placed.push(Placed {
            panel,
            frame,
            shared,
        });
    }
    bottom + below
}
