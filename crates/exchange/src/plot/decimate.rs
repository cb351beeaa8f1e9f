//! Fewer points that look the same.
//!
//! Of the points that follow each other within one pixel column only the first, the
//! lowest, the highest and the last can be told apart, so a million samples of a signal
//! become at most four per column. Curves that retrace themselves (phase portraits) do
//! not gain by that; there a segment between two pixels is drawn once. When even that
//! leaves too many, the curve has become an area and is drawn as the cells it covers.

use std::collections::HashSet;

use super::canvas::Point;
use super::coverage::Coverage;

/// A curve with more points than this is reduced further.
const PLENTY: usize = 20_000;
/// More markers than this hide each other.
const PLENTY_OF_MARKERS: usize = 4000;

/// Width of a column at first (logical pixels).
const FINE: f64 = 0.25;

type Cell = (i32, i32);

/// What is left of a curve.
pub(super) enum Reduced {
    /// Polylines; those of a single point are to be drawn as dots.
    Lines(Vec<Vec<Point>>),
    /// An area, when lines would be too many.
    Area(Coverage),
}

/// Reduces a curve, which is interrupted where a point is missing.
pub(super) fn reduce_curve(points: impl Iterator<Item = Option<Point>>) -> Reduced {
    let fine = reduce_columns(points, FINE);
    // Fine columns keep steep arcs round; whole pixels suffice where they pay, that is
    // for signals that go up and down within a pixel.
    let coarse = reduce_columns(rejoined(&fine), 1.0);
    let paying = 3 * cost(&coarse) < cost(&fine) && cost(&fine) > PLENTY / 4;
    let lines = if paying { coarse } else { fine };
    if cost(&lines) <= PLENTY {
        return Reduced::Lines(lines);
    }
    let fewer = without_repeats(&lines);
    if cost(&fewer) <= PLENTY {
        return Reduced::Lines(fewer);
    }
    Reduced::Area(Coverage::of(&fewer))
}

/// Lines as one sequence with a missing point after each.
fn rejoined(lines: &[Vec<Point>]) -> impl Iterator<Item = Option<Point>> {
    let each = |line: &Vec<Point>| line.clone().into_iter().map(Some).chain([None]);
    lines.iter().flat_map(each)
}

/// The size in a file, about; each line has some overhead.
fn cost(lines: &[Vec<Point>]) -> usize {
    lines.iter().map(|line| line.len() + 5).sum()
}

/// Splits a curve where a point is missing and reduces every piece column by column.
fn reduce_columns(points: impl Iterator<Item = Option<Point>>, width: f64) -> Vec<Vec<Point>> {
    let mut lines = Vec::new();
    let mut line = Vec::new();
    let mut column = Column {
        width,
        ..Column::default()
    };
    for point in points {
        match point {
            Some(point) => column.push(point, &mut line),
            None => {
                column.flush(&mut line);
                lines.push(std::mem::take(&mut line));
            }
        }
    }
    column.flush(&mut line);
    lines.push(line);
    lines.retain(|line| !line.is_empty());
    lines
}

/// Keeps one marker per cell, with cells as large as it takes.
pub(super) fn reduce_markers(points: Vec<Point>) -> Vec<Point> {
    let mut kept = points;
    let mut size = 0.5;
    while kept.len() > PLENTY_OF_MARKERS {
        let mut seen = HashSet::new();
        kept.retain(|&point| seen.insert(cell(point, size)));
        size *= 2.0;
    }
    kept
}

fn cell((x, y): Point, size: f64) -> Cell {
    ((x / size).floor() as i32, (y / size).floor() as i32)
}

/// The points of a pixel column that matter, each with its place in the sequence.
#[derive(Default)]
struct Column {
    width: f64,
    count: usize,
    first: (usize, Point),
    lowest: (usize, Point),
    highest: (usize, Point),
    last: (usize, Point),
}

impl Column {
    fn index(&self, point: Point) -> f64 {
        (point.0 / self.width).floor()
    }

    fn push(&mut self, point: Point, line: &mut Vec<Point>) {
        if self.count > 0 && self.index(point) != self.index(self.first.1) {
            self.flush(line);
        }
        let entry = (self.count, point);
        if self.count == 0 {
            (self.first, self.lowest, self.highest) = (entry, entry, entry);
        }
        if point.1 < self.lowest.1.1 {
            self.lowest = entry;
        }
        if point.1 > self.highest.1.1 {
            self.highest = entry;
        }
        self.last = entry;
        self.count += 1;
    }

    fn flush(&mut self, line: &mut Vec<Point>) {
        if self.count > 0 {
            let mut kept = [self.first, self.lowest, self.highest, self.last];
            kept.sort_by_key(|entry| entry.0);
            line.push(kept[0].1);
            for pair in kept.windows(2) {
                if pair[1].0 != pair[0].0 {
                    line.push(pair[1].1);
                }
            }
        }
        self.count = 0;
    }
}

/// Leaves out segments between half pixels that were joined before.
fn without_repeats(lines: &[Vec<Point>]) -> Vec<Vec<Point>> {
    let mut seen = HashSet::new();
    lines
        .iter()
        .flat_map(|line| unseen_parts(line, 0.5, &mut seen))
        .collect()
}

fn unseen_parts(line: &[Point], size: f64, seen: &mut HashSet<(Cell, Cell)>) -> Vec<Vec<Point>> {
    let mut parts = Vec::new();
    let mut part: Vec<Point> = Vec::new();
    if let [only] = line {
        let at = cell(*only, size);
        return if seen.insert((at, at)) {
            vec![vec![*only]]
        } else {
            parts
        };
    }
    // Steps within a cell are joined to the next step out of it, not dropped.
    let mut from = line[0];
    for (index, &to) in line.iter().enumerate().skip(1) {
        let (a, b) = (cell(from, size), cell(to, size));
        if a == b && index + 1 < line.len() {
            continue;
        }
        if seen.insert((a.min(b), a.max(b))) {
            if part.is_empty() {
                part.push(from);
            }
            part.push(to);
        } else if !part.is_empty() {
            parts.push(std::mem::take(&mut part));
        }
        from = to;
    }
    if !part.is_empty() {
        parts.push(part);
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noise(count: usize) -> impl Iterator<Item = Point> {
        (0..count).map(move |k| {
            let x = 700.0 * k as f64 / count as f64;
            (x, 150.0 + 100.0 * (k as f64 * 12.9898).sin())
        })
    }

    fn lines(points: impl Iterator<Item = Option<Point>>) -> Vec<Vec<Point>> {
        match reduce_curve(points) {
            Reduced::Lines(lines) => lines,
            Reduced::Area(_) => panic!("became an area"),
        }
    }

    #[test]
    fn a_million_points_become_four_per_column() {
        let lines = lines(noise(1_000_000).map(Some));
        assert_eq!(lines.len(), 1);
        assert!(lines[0].len() <= 2800, "{}", lines[0].len());
        let extreme = |points: &[Point]| points.iter().fold(0.0, |top: f64, p| top.max(p.1));
        let all: Vec<Point> = noise(1_000_000).collect();
        assert_eq!(extreme(&lines[0]), extreme(&all));
        assert_eq!((lines[0][0], lines[0].last()), (all[0], all.last()));
    }

    #[test]
    fn few_points_stay_as_they_are() {
        let points: Vec<Point> = (0..50).map(|k| (10.0 * k as f64, (k * k) as f64)).collect();
        assert_eq!(lines(points.iter().copied().map(Some)), [points]);
    }

    #[test]
    fn missing_points_break_the_line() {
        let points = [
            Some((0.0, 0.0)),
            Some((5.0, 1.0)),
            None,
            None,
            Some((9.0, 2.0)),
        ];
        let found = lines(points.into_iter());
        assert_eq!(found, [vec![(0.0, 0.0), (5.0, 1.0)], vec![(9.0, 2.0)]]);
        assert!(lines(std::iter::empty()).is_empty());
    }

    #[test]
    fn a_retraced_orbit_is_drawn_about_once() {
        let orbit = (0..1_000_000).map(|k| {
            let angle = (k % 1000) as f64 * std::f64::consts::TAU / 1000.0;
            Some((300.0 + 200.0 * angle.cos(), 150.0 + 100.0 * angle.sin()))
        });
        assert!(cost(&lines(orbit)) < 2000);
    }

    #[test]
    fn gaps_everywhere_do_not_bloat() {
        let gappy = noise(1_000_000)
            .enumerate()
            .map(|(k, p)| (k % 3 > 0).then_some(p));
        let Reduced::Area(area) = reduce_curve(gappy) else {
            panic!("stayed lines");
        };
        assert!(area.runs.len() < 10_000, "{}", area.runs.len());
        assert!(reduce_markers(noise(1_000_000).collect()).len() <= PLENTY_OF_MARKERS);
    }
}
