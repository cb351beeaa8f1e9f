//! Contacts that each have one side on a mechanism, in the order of its bodies.

use std::ops::Range;

use vincula_blocks::cone::Block;

use super::movers::Mover;
use super::rows::{Arm, ContactRow};
use crate::math::small::*;

/// Rows in the order of a problem, with the mover on the mechanism and whether it is side b.
#[derive(Debug, Default)]
pub(super) struct Sides(Vec<(u32, u32, bool)>);

impl Sides {
    /// Forgets all rows.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Adds a row; `second` says that side b is the one on the mechanism.
    pub fn add(&mut self, index: u32, row: &ContactRow, second: bool) {
        let mover = if second { row.b.mover } else { row.a.mover };
        self.0.push((index, mover, second));
    }

    /// Puts the rows of one mover one after the other.
    pub fn sort(&mut self) {
        self.0.sort_unstable_by_key(|o| (o.1, o.0));
    }

    /// The rows of the mover to which the one at `first` belongs, from there on, if there is one.
    pub fn bead(&self, first: usize) -> Option<Range<usize>> {
        let mover = self.0.get(first)?.1;
        let same = self.0[first..].iter().take_while(|o| o.1 == mover);
        Some(first..first + same.count())
    }

    /// The mover of a row.
    pub fn mover(&self, k: usize) -> u32 {
        self.0[k].1
    }

    /// A row with its arm on the mechanism.
    pub fn mine<'a>(&self, k: usize, rows: &'a [ContactRow]) -> Mine<'a> {
        let (index, _, second) = self.0[k];
        side(&rows[index as usize], second)
    }

    /// The same with the other arm.
    pub fn other<'a>(&self, k: usize, rows: &'a [ContactRow]) -> Mine<'a> {
        let (index, _, second) = self.0[k];
        side(&rows[index as usize], !second)
    }

    /// Writes what some rows of a mover do to each other alone. `points` says of each, for a hub, how the
    /// row moves with the point of the hub and how that moves under the row: the point is held.
    pub fn fill_alone(
        &self,
        mover: &Mover,
        range: Range<usize>,
        rows: &[ContactRow],
        points: &[[V3; 6]],
        own: &mut [f64],
    ) {
        let size = 3 * range.len();
        for (r, k) in range.clone().enumerate() {
            for (c, l) in range.clone().enumerate() {
                let s = alone(mover, self.mine(k, rows), self.mine(l, rows), k == l);
                let (to, from) = (&points[r], &points[c]);
                for i in 0..3 {
                    for j in 0..3 {
                        own[(3 * r + i) * size + 3 * c + j] =
                            s[3 * i + j] - dot(&to[i], &from[3 + j]);
                    }
                }
            }
        }
    }

    /// The rows.
    pub fn rows<'a>(&self, rows: &'a [ContactRow]) -> impl Iterator<Item = &'a ContactRow> {
        self.0.iter().map(|o| &rows[o.0 as usize])
    }

    /// The rows as they are numbered elsewhere.
    pub fn order(&self) -> impl Iterator<Item = u32> + '_ {
        self.0.iter().map(|o| o.0)
    }

    /// The rows as they are numbered elsewhere, with three numbers of each.
    pub fn with(&self, numbers: &[f64]) -> impl Iterator<Item = (u32, V3)> {
        let triples = numbers.as_chunks().0;
        self.0.iter().zip(triples).map(|(o, l)| (o.0, *l))
    }
}

/// A row, one of its arms, and the sign of that.
pub(super) type Mine<'a> = (&'a ContactRow, &'a Arm, f64);

fn side(row: &ContactRow, second: bool) -> Mine<'_> {
    match second {
        true => (row, &row.b, 1.0),
        false => (row, &row.a, -1.0),
    }
}

/// What a force of one contact of a body does to the slip of another, or the same, if no joint answers.
pub(super) fn alone(mover: &Mover, to: Mine<'_>, from: Mine<'_>, same: bool) -> Block {
    let ((to, arm, sign), (from, source, other)) = (to, from);
    let (lever, there) = (arm.lever(&to.frame), source.lever(&from.frame));
    let mut s = [0.0; 9];
    for j in 0..3 {
        let swing = mul_vec(&mover.per_torque, &there[j]);
        for i in 0..3 {
            let moved =
                mover.per_force * dot(&to.frame[i], &from.frame[j]) + dot(&lever[i], &swing);
            s[3 * i + j] = sign * other * moved;
        }
    }
    if same {
        s = plus_diagonal(&s, to.soft[0], to.soft[1]);
    }
    s
}
