//! What Coulomb's law says of one contact with its force and slip.

use super::Mark;
use crate::cone::{Triple, project};

/// What a contact does after a step against ũ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::cone) enum Piece {
    Apart,
    Sticks,
    Slides,
}

/// What the law says of a contact.
#[derive(Clone, Copy, Debug)]
pub(in crate::cone) struct Look {
    /// λ after a step against ũ, before the cone and after it.
    pub tried: Triple,
    pub aim: Triple,
    pub piece: Piece,
}

impl Look {
    /// How far the contact is from the law, in the unit of λ.
    #[inline(always)]
    pub fn violation(&self, l: &Triple) -> f64 {
        let d = [0, 1, 2].map(|i| self.aim[i] - l[i]);
        (d[0] * d[0] + d[1] * d[1] + d[2] * d[2]).sqrt()
    }
}

impl Mark {
    #[inline(always)]
    pub(in crate::cone) fn look(&self, l: &Triple, u: &Triple) -> Look {
        if *l == [0.0; 3] && u[0] >= 0.0 {
            // Nothing pushes and nothing approaches.
            return Look {
                tried: [0.0; 3],
                aim: [0.0; 3],
                piece: Piece::Apart,
            };
        }
        let tried = self.tried(l, u);
        let [n, x, y] = tried;
        let t = (x * x + y * y).sqrt();
        let piece = if self.mu * t <= -n {
            Piece::Apart
        } else if t <= self.mu * n {
            Piece::Sticks
        } else {
            Piece::Slides
        };
        let aim = match piece {
            Piece::Apart => [0.0; 3],
            Piece::Sticks => tried,
            Piece::Slides => project(&tried, self.mu),
        };
        Look { tried, aim, piece }
    }

    /// λ after a step against ũ, before the cone.
    #[inline(always)]
    pub(super) fn tried(&self, l: &Triple, u: &Triple) -> Triple {
        let rate = 1.0 / self.compliance;
        let sliding = (u[1] * u[1] + u[2] * u[2]).sqrt();
        [
            l[0] - rate * (u[0] + self.mu * sliding),
            l[1] - rate * u[1],
            l[2] - rate * u[2],
        ]
    }
}
