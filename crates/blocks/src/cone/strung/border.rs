//! The factors of a chain with what moves on the other side of its contacts.
//!
//! A pulley is touched by links that follow each other, so that it is coupled to a stretch of the chain.
//! Going along the chain, node after node is eliminated, and each of the ways in which the others
//! move, a border, right after the last node that it is coupled to. In between it is coupled to the next
//! node only, and to the other borders of that stretch. Borders go in lots of four, in lanes: those of one
//! pulley are one.

use super::super::block::invert;
use super::super::dense::triple;
use super::rows::{
    Blocks, LANES, Lanes, NOTHING, Rows, add, add_turned, inverse_of, product, row_times, take,
    times,
};
use super::{Bead, add_moved, take_moved};

/// Lots at most that are coupled to one node.
const MOST: usize = 8;

/// A of the borders of a lot with those of another, row by row.
type Square = [Lanes; LANES];

/// A lot that is coupled to a node: A of the node with it, and A of it with the node times the inverse of
/// the pivot.
#[derive(Clone, Copy, Debug)]
struct Tie {
    lot: u32,
    column: Rows,
    row: Rows,
}

/// The end of a lot.
#[derive(Clone, Copy, Debug)]
struct End {
    lot: u32,
    /// The inverse of its pivot.
    inverse: Square,
    /// A of the next node with it, times that, and of it with the next node.
    column: Rows,
    row: Rows,
    /// Where the other lots that are there are among `others`.
    others: [usize; 2],
}

/// A lot that is not eliminated yet, at a node.
#[derive(Clone, Copy, Debug, Default)]
struct Open {
    lot: u32,
    /// A of the node and the next one with it, and of it with them.
    columns: [Rows; 2],
    rows: [Rows; 2],
    /// A of it with the others that are open, by place.
    with: [Square; MOST],
}

/// Borders along a chain, and the factors.
#[derive(Clone, Debug, Default)]
pub(super) struct Border {
    /// Last node of each lot.
    ends_at: Vec<u32>,
    open: Vec<Open>,
    /// Of each node: its ties and the lots that end there.
    ties: Vec<Tie>,
    ends: Vec<End>,
    starts: Vec<[usize; 2]>,
    /// Lot, its A with the one that ends times the inverse of the pivot, and A of that with it.
    others: Vec<(u32, Square, Square)>,
    /// Inverse of each pivot, and what of a node's row is taken from the next.
    inverse: Vec<Rows>,
    gain: Vec<Rows>,
    /// Unknowns of the borders.
    values: Vec<Lanes>,
    swaps: Vec<usize>,
}

/// What contacts add to the borders: whether those of a bead add nothing; of each contact and lot of a
/// bead how the borders move the contact, v, and N Z v; and of each contact N Z B.
pub(super) struct Pulls<'a> {
    pub idle: &'a [bool],
    pub lots: &'a [u32],
    pub reaches: &'a [[Rows; 2]],
    pub sways: &'a [Rows],
    pub pulls: &'a [Rows],
    pub gains: &'a [[Rows; 2]],
}

impl Border {
    /// Finds which nodes each of `count` lots is coupled to.
    pub fn plan(&mut self, count: usize, nodes: usize, beads: &[Bead], lots: &[u32]) {
        self.ends_at.clear();
        self.ends_at.resize(count, 0);
        self.values.clear();
        self.values.resize(count, [0.0; LANES]);
        for bead in beads {
            for &lot in &lots[bead.lots..bead.lots + bead.sides] {
                let last = &mut self.ends_at[lot as usize];
                *last = (*last).max((bead.node + 1).min(nodes - 1) as u32);
            }
        }
    }

    /// Eliminates all nodes and borders. False if a pivot vanishes, or too many lots are there at
    /// once.
    #[inline(always)]
    pub fn factor(&mut self, line: &Blocks, beads: &[Bead], pulls: &Pulls<'_>) -> bool {
        self.inverse.clear();
        self.gain.clear();
        self.ties.clear();
        self.ends.clear();
        self.starts.clear();
        self.others.clear();
        self.open.clear();
        let (mut carried, mut next) = (NOTHING, 0);
        for node in 0..line.len() {
            self.starts.push([self.ties.len(), self.ends.len()]);
            while next < beads.len() && beads[next].node == node {
                if !pulls.idle[next] && !self.take(&beads[next], pulls) {
                    return false;
                }
                next += 1;
            }
            let mut own = line.diagonal[node];
            for (own, carried) in own.iter_mut().zip(&carried) {
                take(own, carried);
            }
            let Some(pivot) = inverse_of(&own) else {
                return false;
            };
            let gain = product(&line.lower[node], &pivot);
            carried = product(&gain, &line.upper[node]);
            self.eliminate_node(&pivot, &gain, &line.upper[node]);
            self.inverse.push(pivot);
            self.gain.push(gain);
            let mut place = 0;
            while place < self.open.len() {
                if self.ends_at[self.open[place].lot as usize] > node as u32 {
                    place += 1;
                } else if !self.end(place, &mut carried) {
                    return false;
                }
            }
            for open in &mut self.open {
                open.columns = [open.columns[1], NOTHING];
                open.rows = [open.rows[1], NOTHING];
            }
        }
        self.starts.push([self.ties.len(), self.ends.len()]);
        true
    }

    /// Adds what the contacts of a bead do to its borders.
    #[inline(always)]
    fn take(&mut self, bead: &Bead, pulls: &Pulls<'_>) -> bool {
        let sides = &pulls.lots[bead.lots..bead.lots + bead.sides];
        for (side, &lot) in sides.iter().enumerate() {
            let Some(place) = self.place_of(lot) else {
                return false;
            };
            for k in 0..bead.count {
                let at = bead.sways + k * bead.sides;
                let (sway, pull) = (&pulls.sways[at + side], &pulls.pulls[at + side]);
                let (reach, gain) = (&pulls.reaches[bead.first + k], &pulls.gains[bead.first + k]);
                for n in 0..2 {
                    let open = &mut self.open[place];
                    add_turned(&mut open.columns[n], 1.0, &reach[n], pull);
                    add_turned(&mut open.rows[n], -1.0, &gain[n], sway);
                }
                for (other, &with) in sides.iter().enumerate() {
                    let Some(column) = self.place_of(with) else {
                        return false;
                    };
                    let with = &mut self.open[place].with[column];
                    add_square(with, 1.0, sway, &pulls.pulls[at + other]);
                }
            }
        }
        true
    }

    /// Where a lot is among those that are open, as the last one if it was not.
    #[inline(always)]
    fn place_of(&mut self, lot: u32) -> Option<usize> {
        if let Some(place) = self.open.iter().position(|open| open.lot == lot) {
            return Some(place);
        }
        if self.open.len() == MOST {
            return None;
        }
        let place = self.open.len();
        let mut open = Open {
            lot,
            ..Open::default()
        };
        // They move by themselves.
        for lane in 0..LANES {
            open.with[place][lane][lane] = 1.0;
        }
        self.open.push(open);
        Some(place)
    }

    #[inline(always)]
    fn eliminate_node(&mut self, pivot: &Rows, gain: &Rows, upper: &Rows) {
        let first = self.ties.len();
        for open in &mut self.open {
            let (mut row, column) = (NOTHING, open.columns[0]);
            add_turned(&mut row, 1.0, pivot, &open.rows[0]);
            for (to, taken) in open.columns[1].iter_mut().zip(&product(gain, &column)) {
                take(to, taken);
            }
            add_turned(&mut open.rows[1], -1.0, upper, &row);
            self.ties.push(Tie {
                lot: open.lot,
                column,
                row,
            });
        }
        let ties = &self.ties[first..];
        for (open, one) in self.open.iter_mut().zip(ties) {
            for (with, other) in open.with.iter_mut().zip(ties) {
                add_square(with, -1.0, &one.row, &other.column);
            }
        }
    }

    /// Eliminates the lot at a place; the last one takes that.
    fn end(&mut self, place: usize, carried: &mut Rows) -> bool {
        let ended = self.open[place];
        let mut inverse = ended.with[place];
        if !invert(inverse.as_flattened_mut(), LANES, &mut self.swaps) {
            return false;
        }
        let column = ended.columns[1].map(|row| times_square(&row, &inverse));
        let (from, count) = (self.others.len(), self.open.len());
        for (k, open) in self
            .open
            .iter_mut()
            .enumerate()
            .filter(|(k, _)| *k != place)
        {
            let part = open.with[place].map(|row| times_square(&row, &inverse));
            for (with, taken) in open.with.iter_mut().zip(&ended.with).take(count) {
                for (with, part) in with.iter_mut().zip(&part) {
                    take(with, &times_square(part, taken));
                }
            }
            for i in 0..3 {
                for (lane, part) in part.iter().enumerate() {
                    open.rows[1][i][lane] -= dot(part, &ended.rows[1][i]);
                }
                take(
                    &mut open.columns[1][i],
                    &times_square(&column[i], &ended.with[k]),
                );
            }
            self.others.push((open.lot, part, ended.with[k]));
        }
        for i in 0..3 {
            for j in 0..3 {
                carried[i][j] += dot(&column[i], &ended.rows[1][j]);
            }
        }
        self.ends.push(End {
            lot: ended.lot,
            inverse,
            column,
            row: ended.rows[1],
            others: [from, self.others.len()],
        });
        self.open.swap_remove(place);
        for open in &mut self.open {
            open.with[place] = open.with[count - 1];
            open.with[count - 1] = Square::default();
        }
        true
    }

    /// The last node that each lot is coupled to.
    pub fn last_nodes(&self) -> &[u32] {
        &self.ends_at
    }

    /// The right-hand sides of the borders, before `solve`, and how far they move, after it.
    pub fn values(&mut self) -> &mut [Lanes] {
        &mut self.values
    }

    /// Overwrites the right-hand sides of nodes, with room for one behind the last, and borders by the
    /// solution.
    #[inline(always)]
    pub fn solve(&mut self, line: &Blocks, x: &mut [f64]) {
        let Border {
            ties,
            ends,
            starts,
            others,
            inverse,
            gain,
            values,
            ..
        } = self;
        let count = inverse.len();
        x[3 * count..3 * count + 3].fill(0.0);
        for node in 0..count {
            let ([tie, end], [tie_end, end_end]) = (starts[node], starts[node + 1]);
            let here = triple(x, node);
            for tie in &ties[tie..tie_end] {
                add_moved(&mut values[tie.lot as usize], &tie.row, &here.map(|x| -x));
            }
            let mut next = times(&gain[node], &here).map(|x| -x);
            for end in &ends[end..end_end] {
                let value = values[end.lot as usize];
                for (lot, part, _) in &others[end.others[0]..end.others[1]] {
                    take(
                        &mut values[*lot as usize],
                        &part.map(|row| dot(&row, &value)),
                    );
                }
                take_moved(&mut next, &end.column, &value);
            }
            for i in 0..3 {
                x[3 * node + 3 + i] += next[i];
            }
        }
        x[3 * count..3 * count + 3].fill(0.0);
        for node in (0..count).rev() {
            let ([tie, end], [tie_end, end_end]) = (starts[node], starts[node + 1]);
            let next = triple(x, node + 1);
            for end in ends[end..end_end].iter().rev() {
                let mut value = values[end.lot as usize];
                add_moved(&mut value, &end.row, &next.map(|x| -x));
                for (lot, _, with) in &others[end.others[0]..end.others[1]] {
                    take(
                        &mut value,
                        &with.map(|row| dot(&row, &values[*lot as usize])),
                    );
                }
                values[end.lot as usize] = end.inverse.map(|row| dot(&row, &value));
            }
            let mut here = triple(x, node);
            let pushed = times(&line.upper[node], &next);
            for i in 0..3 {
                here[i] -= pushed[i];
            }
            for tie in &ties[tie..tie_end] {
                take_moved(&mut here, &tie.column, &values[tie.lot as usize]);
            }
            let found = times(&inverse[node], &here);
            x[3 * node..3 * node + 3].copy_from_slice(&found);
        }
    }
}

/// a·b.
#[inline(always)]
fn dot(a: &Lanes, b: &Lanes) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3]
}

/// A row times a square.
#[inline(always)]
fn times_square(row: &Lanes, square: &Square) -> Lanes {
    std::array::from_fn(|lane| {
        row[0] * square[0][lane]
            + row[1] * square[1][lane]
            + row[2] * square[2][lane]
            + row[3] * square[3][lane]
    })
}

/// to += sign aᵀ b of all pairs of lanes.
#[inline(always)]
fn add_square(to: &mut Square, sign: f64, a: &Rows, b: &Rows) {
    for (lane, to) in to.iter_mut().enumerate() {
        add(to, &row_times(&a.map(|row| sign * row[lane]), b));
    }
}
