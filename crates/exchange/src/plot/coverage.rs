//! The area that a tangle of lines covers, as runs of cells.
//!
//! A line is sampled finer than the cells it crosses; neighbouring covered cells of a
//! row join into one horizontal run. Dense curves fill their area, so runs are few
//! exactly where lines are many.

use super::canvas::Point;
use super::panel::LINE_WIDTH;

/// More runs than this call for larger cells.
const PLENTY: usize = 12_000;

/// Horizontal runs that together cover the curve.
pub(super) struct Coverage {
    /// Ends of each run (logical pixels).
    pub runs: Vec<[Point; 2]>,
    /// How thick to draw a run: as a line, and more than a cell, so that no seams show.
    pub thickness: f64,
}

impl Coverage {
    pub fn of(lines: &[Vec<Point>]) -> Coverage {
        let mut size = 0.5;
        loop {
            let runs = covered_cells(lines, size).runs();
            if runs.len() <= PLENTY || size > 8.0 {
                let thickness = LINE_WIDTH.max(1.2 * size);
                return Coverage { runs, thickness };
            }
            size *= 2.0;
        }
    }
}

/// A grid over the bounding box of the lines, true where they pass.
struct Cells {
    origin: Point,
    size: f64,
    columns: usize,
    covered: Vec<bool>,
}

impl Cells {
    fn around(lines: &[Vec<Point>], size: f64) -> Cells {
        let (mut low, mut high) = ((f64::MAX, f64::MAX), (f64::MIN, f64::MIN));
        for &(x, y) in lines.iter().flatten() {
            low = (low.0.min(x), low.1.min(y));
            high = (high.0.max(x), high.1.max(y));
        }
        let extent = |from: f64, to: f64| ((to - from) / size).max(0.0) as usize + 1;
        let (columns, rows) = (extent(low.0, high.0), extent(low.1, high.1));
        Cells {
            origin: low,
            size,
            columns,
            covered: vec![false; columns * rows],
        }
    }

    fn cover(&mut self, (x, y): Point) {
        let index = |from: f64, to: f64| ((to - from) / self.size).max(0.0) as usize;
        let column = index(self.origin.0, x).min(self.columns - 1);
        let cell = index(self.origin.1, y) * self.columns + column;
        if let Some(covered) = self.covered.get_mut(cell) {
            *covered = true;
        }
    }

    /// Covered stretches of each row, as wide as lines would make them.
    fn runs(&self) -> Vec<[Point; 2]> {
        let grow = (0.5 * (LINE_WIDTH - self.size)).max(0.0);
        let mut runs: Vec<[Point; 2]> = Vec::new();
        for (row, cells) in self.covered.chunks(self.columns).enumerate() {
            let y = self.origin.1 + (row as f64 + 0.5) * self.size;
            let x = |column: usize| self.origin.0 + column as f64 * self.size;
            let mut column = 0;
            for run in cells.chunk_by(|left, right| left == right) {
                let (from, to) = (x(column) - grow, x(column + run.len()) + grow);
                column += run.len();
                match runs.last_mut() {
                    _ if !run[0] => {}
                    Some([_, end]) if end.1 == y && end.0 >= from => end.0 = to,
                    _ => runs.push([(from, y), (to, y)]),
                }
            }
        }
        runs
    }
}

fn covered_cells(lines: &[Vec<Point>], size: f64) -> Cells {
    let mut cells = Cells::around(lines, size);
    for line in lines {
        line.first()
            .into_iter()
            .for_each(|&start| cells.cover(start));
        for pair in line.windows(2) {
            let (dx, dy) = (pair[1].0 - pair[0].0, pair[1].1 - pair[0].1);
            let samples = (dx.hypot(dy) / (0.7 * size)).ceil().max(1.0) as usize;
            for sample in 1..=samples {
                let part = sample as f64 / samples as f64;
                cells.cover((pair[0].0 + part * dx, pair[0].1 + part * dy));
            }
        }
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hatched_square_becomes_its_rows() {
        let hatching: Vec<Vec<Point>> = (0..401)
            .map(|k| vec![(0.25 * k as f64, 0.0), (0.25 * k as f64, 100.0)])
            .collect();
        let coverage = Coverage::of(&hatching);
        assert_eq!(coverage.runs.len(), 201);
        let covers = |[from, to]: &[Point; 2]| from.0 < 0.0 && to.0 > 100.0;
        assert!(coverage.runs.iter().all(covers));
        assert!(coverage.runs.iter().all(|[from, to]| to.0 - from.0 < 102.0));
    }
}
