//! Newton's method from a guess (`newton.rs`), for contacts that lean on each other.
//!
//! Where a belt sticks to a pulley, many forces do nearly the same, and what is far from the law in
//! a few contacts moves all of them far. A part of the diagonal added to Y keeps each step near the
//! last one, so that the pieces settle in which contacts are: apart, sticking or sliding. As they do
//! it falls, and the steps become those of Newton's method. Where they do not, it grows again.

use super::look::Piece;
use super::{Direct, Response};

/// Steps in a row at most in which no fewer contacts change their piece.
const PATIENCE: usize = 3;
/// What is added to the diagonal of Y at first, relative: a part of the violation, and at most.
const PART: f64 = 0.1;
const MOST: f64 = 1e-3;
/// What is kept of it when half as many contacts change their piece as in the last step, and by how
/// much it grows when patience ends.
const KEPT: f64 = 0.2;
const GROWTH: f64 = 100.0;

impl Direct {
    /// Takes at most so many steps from where contacts were looked at, with a violation, to one within the
    /// tolerance or as it was. Returns what is left, and counts steps and products.
    pub(super) fn follow_guess(
        &mut self,
        residual: f64,
        d: &mut dyn Response,
        tolerance: f64,
        most: usize,
        [steps, products]: [&mut usize; 2],
    ) -> f64 {
        self.before[0].clone_from(&self.lambda);
        self.before[1].clone_from(&self.slip);
        let mut shift = (PART * residual).clamp(d.shift(), MOST);
        self.find_pieces();
        let (mut last, mut least, mut patience) = (usize::MAX, usize::MAX, PATIENCE);
        for _ in 0..most {
            *steps += 1;
            let Some(more) = self.newton_step(d, shift) else {
                break;
            };
            *products += more;
            self.move_slip(d);
            let mut left = self.judge();
            if left <= tolerance {
                // Without what rounding left on the way.
                self.find_slip(d);
                left = self.judge();
            }
            if left <= tolerance {
                return left;
            }
            if !left.is_finite() {
                break;
            }
            let changed = self.find_pieces();
            patience = if changed < least {
                PATIENCE
            } else {
                patience - 1
            };
            least = least.min(changed);
            shift *= match changed {
                _ if patience == 0 => GROWTH,
                0 => KEPT * KEPT,
                some if some <= last / 2 => KEPT,
                _ => 1.0,
            };
            shift = shift.clamp(d.shift(), MOST);
            if patience == 0 {
                (least, patience) = (usize::MAX, PATIENCE);
            }
            last = changed;
        }
        self.lambda.clone_from(&self.before[0]);
        self.slip.clone_from(&self.before[1]);
        residual
    }

    /// Finds what each contact does as last seen; returns how many do something else than before.
    pub(super) fn find_pieces(&mut self) -> usize {
        self.pieces.resize(self.marks.len(), Piece::Apart);
        let mut changed = 0;
        for (look, piece) in self.looks.iter().zip(&mut self.pieces) {
            changed += usize::from(std::mem::replace(piece, look.piece) != look.piece);
        }
        changed
    }
}
