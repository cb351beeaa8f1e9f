//! Blocks of three by three whose rows fill a vector, and vectors of four beside each other.
//!
//! A row of three with a zero behind it is multiplied and added in one instruction, as the four borders of
//! a lot are. Entries are found in the same order as those of `block.rs`, so that both have the same bits.

use super::super::Triple;
use super::super::block::{Block, inverse};
use super::super::string::Line;

/// Borders that are eliminated together, and a number for each.
pub const LANES: usize = 4;
pub(super) type Lanes = [f64; LANES];

/// Three rows: of a block, or how the borders of a lot move a contact along each of its axes.
pub(super) type Rows = [Lanes; 3];

pub(super) const NOTHING: Rows = [[0.0; LANES]; 3];

/// A block with zeros behind its rows.
#[inline(always)]
pub(super) fn rows(a: &Block) -> Rows {
    [
        [a[0], a[1], a[2], 0.0],
        [a[3], a[4], a[5], 0.0],
        [a[6], a[7], a[8], 0.0],
    ]
}

/// The inverse of a block, if there is one.
#[inline(always)]
pub(super) fn inverse_of(a: &Rows) -> Option<Rows> {
    inverse(&std::array::from_fn(|e| a[e / 3][e % 3])).map(|found| rows(&found))
}

/// A row times a block.
#[inline(always)]
pub(super) fn row_times([p, q, r]: &Triple, b: &Rows) -> Lanes {
    std::array::from_fn(|lane| p * b[0][lane] + q * b[1][lane] + r * b[2][lane])
}

/// a b.
#[inline(always)]
pub(super) fn product(a: &Rows, b: &Rows) -> Rows {
    a.map(|[p, q, r, _]| row_times(&[p, q, r], b))
}

/// to += a b.
#[inline(always)]
pub(super) fn add_product(to: &mut Rows, a: &Rows, b: &Rows) {
    for (to, [p, q, r, _]) in to.iter_mut().zip(a) {
        add(to, &row_times(&[*p, *q, *r], b));
    }
}

/// to += sign aᵀ b, as many rows as there are.
#[inline(always)]
pub(super) fn add_turned<const ROWS: usize>(to: &mut [Lanes; ROWS], sign: f64, a: &Rows, b: &Rows) {
    for (i, to) in to.iter_mut().enumerate() {
        add(to, &row_times(&a.map(|row| sign * row[i]), b));
    }
}

/// aᵀ, of the first three columns of a.
#[inline(always)]
pub(super) fn turned<const ROWS: usize>(a: &[Lanes; ROWS]) -> Rows {
    let mut to = NOTHING;
    for (i, row) in a.iter().enumerate() {
        for (to, x) in to.iter_mut().zip(row) {
            to[i] = *x;
        }
    }
    to
}

/// a += b.
#[inline(always)]
pub(super) fn add(a: &mut Lanes, b: &Lanes) {
    for lane in 0..LANES {
        a[lane] += b[lane];
    }
}

/// a −= b.
#[inline(always)]
pub(super) fn take(a: &mut Lanes, b: &Lanes) {
    for lane in 0..LANES {
        a[lane] -= b[lane];
    }
}

/// a v.
#[inline(always)]
pub(super) fn times(a: &Rows, v: &Triple) -> Triple {
    a.map(|[p, q, r, _]| p * v[0] + q * v[1] + r * v[2])
}

/// aᵀ v.
#[inline(always)]
pub(super) fn times_turned(a: &Rows, v: &Triple) -> Lanes {
    row_times(v, a)
}

/// The first three.
#[inline(always)]
pub(super) fn first_three([x, y, z, _]: &Lanes) -> Triple {
    [*x, *y, *z]
}

/// A of each node with itself, with the next one, and of the next one with it.
#[derive(Clone, Debug, Default)]
pub(super) struct Blocks {
    pub diagonal: Vec<Rows>,
    pub upper: Vec<Rows>,
    pub lower: Vec<Rows>,
}

impl Blocks {
    /// Takes those of a chain.
    pub fn read(&mut self, line: &Line) {
        let from = [&line.diagonal, &line.upper, &line.lower];
        let to = [&mut self.diagonal, &mut self.upper, &mut self.lower];
        for (to, from) in to.into_iter().zip(from) {
            to.clear();
            to.extend(from.iter().map(rows));
        }
    }

    /// Forgets all nodes.
    pub fn clear(&mut self) {
        self.diagonal.clear();
        self.upper.clear();
        self.lower.clear();
    }

    /// Becomes like others.
    pub fn copy(&mut self, other: &Blocks) {
        self.diagonal.clone_from(&other.diagonal);
        self.upper.clone_from(&other.upper);
        self.lower.clone_from(&other.lower);
    }

    /// Number of nodes.
    pub fn len(&self) -> usize {
        self.diagonal.len()
    }
}
