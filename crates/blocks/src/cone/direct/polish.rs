//! Steps of Newton's method on the law as an equation (`newton.rs`), where it is nearly met.

use super::super::block::IDENTITY;
use super::super::dense::triple;
use super::super::newton::{slope, slope_of_slip};
use super::super::project;
use super::look::Piece;
use super::{Direct, Response};

/// Steps at most, and what one must leave of the violation at most for another to be made.
const STEPS: usize = 8;
const GAIN: f64 = 0.5;
/// Residual of a linear solve, relative.
const LINEAR: f64 = 1e-6;

impl Direct {
    /// Takes steps while they help, from a violation to one within the tolerance or as it was.
    /// Returns what is left, and counts steps and products.
    pub(super) fn polish(
        &mut self,
        residual: f64,
        d: &mut dyn Response,
        tolerance: f64,
        [steps, products]: [&mut usize; 2],
    ) -> f64 {
        self.before[0].clone_from(&self.lambda);
        self.before[1].clone_from(&self.slip);
        let (mut left, shift) = (residual, d.shift());
        for _ in 0..STEPS {
            *steps += 1;
            let Some(more) = self.newton_step(d, shift) else {
                break;
            };
            *products += more;
            self.find_slip(d);
            let next = self.judge();
            if next <= tolerance {
                return next;
            }
            // Not a number is no gain.
            if !(next <= GAIN * left) {
                break;
            }
            left = next;
        }
        self.lambda.clone_from(&self.before[0]);
        self.slip.clone_from(&self.before[1]);
        residual
    }

    /// Contacts that are apart have no force, not even a trace.
    pub(super) fn let_go(&mut self) {
        for (k, mark) in self.marks.iter().enumerate() {
            let (l, u) = (triple(&self.lambda, k), triple(&self.slip, k));
            if u[0] > 0.0 && project(&mark.tried(&l, &u), mark.mu) == [0.0; 3] {
                self.lambda[3 * k..3 * k + 3].fill(0.0);
            }
        }
    }

    /// One step from where contacts were last looked at, with a part of the diagonal added to Y.
    pub(super) fn newton_step(&mut self, d: &mut dyn Response, shift: f64) -> Option<usize> {
        self.slopes.clear();
        self.softs.clear();
        let mut delta = std::mem::take(&mut self.rhs);
        delta.clear();
        for (k, mark) in self.marks.iter().enumerate() {
            let (l, look) = (triple(&self.lambda, k), &self.looks[k]);
            delta.extend([0, 1, 2].map(|i| look.aim[i] - l[i]));
            // What is apart becomes so at once.
            if look.piece == Piece::Apart {
                self.slopes.push([0.0; 9]);
                self.softs.push(IDENTITY);
                continue;
            }
            let p = slope(&look.tried, mark.mu);
            let u = triple(&self.slip, k);
            self.slopes
                .push(slope_of_slip(&u, mark.mu, &p, 1.0 / mark.compliance));
            self.softs
                .push(std::array::from_fn(|e| (1.0 + shift) * IDENTITY[e] - p[e]));
        }
        let solved = match d.prepare(&self.softs, &self.slopes) {
            true => d.respond(&self.slopes, &mut delta, LINEAR),
            false => None,
        };
        if solved.is_some() {
            for (l, d) in self.lambda.iter_mut().zip(&delta) {
                *l += d;
            }
        }
        self.rhs = delta;
        solved
    }
}
