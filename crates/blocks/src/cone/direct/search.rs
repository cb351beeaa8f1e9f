//! Newton's method from a guess that may be far off (`newton.rs`), by steps of the right length.
//!
//! As long as contacts change between apart, sticking and sliding, of a step that part is taken that comes
//! nearest to the law. Once they do not, steps are whole: directions of slip turn then, on the way to
//! which the violation may grow.
//!
//! What is added to the diagonal of Y stays what it is, so that the linear system of a step is that of the
//! last one but for the contacts that have changed.

use super::super::dense::{ConeReport, triple};
use super::super::project;
use super::{Direct, Response};

/// Parts of a step at most that are tried, each half of the last.
const HALVES: usize = 5;
/// Violation below which steps are whole.
const NEAR: f64 = 1e-3;
/// What a part of a step must take of the violation at least, relative to it.
const GAIN: f64 = 0.2;

impl Direct {
    /// Solves to a relative violation with at most so many steps. Ends with the forces that came
    /// nearest. Counts steps as `newton` and products as `sweeps`.
    pub fn search(&mut self, d: &mut dyn Response, tolerance: f64, most: usize) -> ConeReport {
        self.begin(d);
        let mut report = ConeReport {
            residual: self.judge(),
            ..ConeReport::default()
        };
        self.keep_best();
        self.find_pieces();
        let (mut changed, mut left) = (1, report.residual);
        let shift = d.shift();
        while report.residual > tolerance && report.newton < most {
            report.newton += 1;
            let before = std::mem::take(&mut self.lambda);
            self.lambda.clone_from(&before);
            self.before[0] = before;
            let Some(solves) = self.newton_step(d, shift) else {
                break;
            };
            report.sweeps += solves;
            if changed > 0 && left > NEAR {
                self.shorten(d);
            } else {
                self.find_slip(d);
            }
            left = self.judge();
            changed = self.find_pieces();
            if !left.is_finite() {
                break;
            }
            if left < report.residual {
                report.residual = left;
                self.keep_best();
            }
        }
        self.take_best();
        self.let_go();
        report
    }

    /// Takes that part of the last step, of a few, which comes nearest to the law.
    fn shorten(&mut self, d: &mut dyn Response) {
        let answer = &mut self.round.answer;
        answer.clear();
        answer.resize(self.rhs.len(), 0.0);
        d.product(&self.rhs, answer);
        let start = self.distance(0.0);
        let (mut least, mut best, mut part) = (f64::INFINITY, 1.0, 1.0);
        for _ in 0..HALVES {
            let distance = self.distance(part);
            if distance < least {
                (least, best) = (distance, part);
            }
            if distance < (1.0 - GAIN * part) * start {
                break;
            }
            part *= 0.5;
        }
        for (l, (before, step)) in self
            .lambda
            .iter_mut()
            .zip(self.before[0].iter().zip(&self.rhs))
        {
            *l = before + best * step;
        }
        for (u, answer) in self.slip.iter_mut().zip(&self.round.answer) {
            *u += best * answer;
        }
    }

    /// Sum of the squares of the violations after a part of the last step, each times its compliance.
    fn distance(&self, part: f64) -> f64 {
        let mut sum = 0.0;
        for (k, mark) in self.marks.iter().enumerate() {
            let after = |from: &[f64], step: &[f64]| {
                let (a, b) = (triple(from, k), triple(step, k));
                [0, 1, 2].map(|i| a[i] + part * b[i])
            };
            let l = after(&self.before[0], &self.rhs);
            let u = after(&self.slip, &self.round.answer);
            let aim = project(&mark.tried(&l, &u), mark.mu);
            let square: f64 = (0..3).map(|i| (aim[i] - l[i]) * (aim[i] - l[i])).sum();
            sum += mark.compliance * square;
        }
        sum
    }
}
