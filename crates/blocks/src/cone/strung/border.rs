//! The factors of a chain with what moves on the other side of its contacts.
//!
//! A pulley is touched by links that follow each other, so that it is coupled to a stretch of the chain.
//! Going along the chain, node after node is eliminated, and each of the ways in which the others
//! move, a border, right after the last node that it is coupled to. In between it is coupled to the next
//! node only, and to the other borders of that stretch.

use super::super::block::{Block, dot, inverse, product, times, times_transposed};
use super::super::dense::triple;
use super::{Bead, Line};
use crate::cone::Triple;

/// Borders at most that are coupled to one node.
const MOST: usize = 32;

/// A border that is coupled to a node: A of the node with it, and A of it with the node times the
/// inverse of the pivot.
#[derive(Clone, Copy, Debug)]
struct Tie {
    border: u32,
    column: Triple,
    row: Triple,
}

/// The end of a border.
#[derive(Clone, Copy, Debug)]
struct End {
    border: u32,
    /// One over its pivot.
    inverse: f64,
    /// A of the next node with it, times that, and of it with the next node.
    column: Triple,
    row: Triple,
    /// Where the other borders that are there are among `others`.
    others: [usize; 2],
}

/// A border that is not eliminated yet, at a node.
#[derive(Clone, Copy, Debug, Default)]
struct Open {
    border: u32,
    /// A of the node and the next one with it, and of it with them.
    columns: [Triple; 2],
    rows: [Triple; 2],
    /// A of it with the others that are open, by place.
    with: [f64; MOST],
}

/// Borders along a chain, and the factors.
#[derive(Clone, Debug, Default)]
pub(super) struct Border {
    /// First and last node of each.
    spans: Vec<[u32; 2]>,
    open: Vec<Open>,
    /// Of each node: its ties and the borders that end there.
    ties: Vec<Tie>,
    ends: Vec<End>,
    starts: Vec<[usize; 2]>,
    /// Border, its A with the one that ends over the pivot, and A of that with it.
    others: Vec<(u32, f64, f64)>,
    /// Inverse of each pivot, and what of a node's row is taken from the next.
    inverse: Vec<Block>,
    gain: Vec<Block>,
    /// Unknowns of the borders.
    values: Vec<f64>,
}

/// What contacts add to the borders: of each contact and border of a bead how the border moves the
/// contact, v, and N Z v; and of each contact N Z B.
pub(super) struct Pulls<'a> {
    pub borders: &'a [u32],
    pub reaches: &'a [[Block; 2]],
    pub sways: &'a [Triple],
    pub pulls: &'a [Triple],
    pub gains: &'a [[Block; 2]],
}

impl Border {
    /// Finds which nodes each of `count` borders is coupled to.
    pub fn plan(&mut self, count: usize, nodes: usize, beads: &[Bead], borders: &[u32]) {
        self.spans.clear();
        self.spans.resize(count, [u32::MAX, 0]);
        self.values.clear();
        self.values.resize(count, 0.0);
        for bead in beads {
            for &border in &borders[bead.borders..bead.borders + bead.sides] {
                let [first, last] = &mut self.spans[border as usize];
                *first = (*first).min(bead.node as u32);
                *last = (*last).max((bead.node + 1).min(nodes - 1) as u32);
            }
        }
    }

    /// Eliminates all nodes and borders. False if a pivot vanishes, or too many borders are there at
    /// once.
    pub fn factor(&mut self, line: &Line, beads: &[Bead], pulls: &Pulls<'_>) -> bool {
        self.inverse.clear();
        self.gain.clear();
        self.ties.clear();
        self.ends.clear();
        self.starts.clear();
        self.others.clear();
        self.open.clear();
        let (mut carried, mut next) = ([0.0; 9], 0);
        for node in 0..line.len() {
            self.starts.push([self.ties.len(), self.ends.len()]);
            while next < beads.len() && beads[next].node == node {
                if !self.take(&beads[next], pulls) {
                    return false;
                }
                next += 1;
            }
            let own = std::array::from_fn(|e| line.diagonal[node][e] - carried[e]);
            let Some(pivot) = inverse(&own) else {
                return false;
            };
            let gain = product(&line.lower[node], &pivot);
            carried = product(&gain, &line.upper[node]);
            self.eliminate_node(&pivot, &gain, &line.upper[node]);
            self.inverse.push(pivot);
            self.gain.push(gain);
            let mut place = 0;
            while place < self.open.len() {
                if self.spans[self.open[place].border as usize][1] > node as u32 {
                    place += 1;
                } else if !self.end(place, &mut carried) {
                    return false;
                }
            }
            for open in &mut self.open {
                open.columns = [open.columns[1], [0.0; 3]];
                open.rows = [open.rows[1], [0.0; 3]];
            }
        }
        self.starts.push([self.ties.len(), self.ends.len()]);
        true
    }

    /// Adds what the contacts of a bead do to its borders.
    fn take(&mut self, bead: &Bead, pulls: &Pulls<'_>) -> bool {
        let gains = &pulls.gains[bead.first..bead.first + bead.count];
        if gains.iter().all(|gain| *gain == [[0.0; 9]; 2]) {
            return true;
        }
        let sides = &pulls.borders[bead.borders..bead.borders + bead.sides];
        for (side, &border) in sides.iter().enumerate() {
            let Some(place) = self.place_of(border) else {
                return false;
            };
            for k in 0..bead.count {
                let at = bead.sways + k * bead.sides;
                let (sway, pull) = (&pulls.sways[at + side], &pulls.pulls[at + side]);
                let (reach, gain) = (&pulls.reaches[bead.first + k], &pulls.gains[bead.first + k]);
                for n in 0..2 {
                    let open = &mut self.open[place];
                    let more = times_transposed(&reach[n], pull);
                    let less = times_transposed(&gain[n], sway);
                    for i in 0..3 {
                        open.columns[n][i] += more[i];
                        open.rows[n][i] -= less[i];
                    }
                }
                for (other, &with) in sides.iter().enumerate() {
                    let Some(column) = self.place_of(with) else {
                        return false;
                    };
                    self.open[place].with[column] += dot(sway, &pulls.pulls[at + other]);
                }
            }
        }
        true
    }

    /// Where a border is among those that are open, as the last one if it was not.
    fn place_of(&mut self, border: u32) -> Option<usize> {
        if let Some(place) = self.open.iter().position(|open| open.border == border) {
            return Some(place);
        }
        if self.open.len() == MOST {
            return None;
        }
        let place = self.open.len();
        let mut open = Open {
            border,
            ..Open::default()
        };
        // It moves by itself.
        open.with[place] = 1.0;
        self.open.push(open);
        Some(place)
    }

    fn eliminate_node(&mut self, pivot: &Block, gain: &Block, upper: &Block) {
        let first = self.ties.len();
        for open in &mut self.open {
            let row = times_transposed(pivot, &open.rows[0]);
            let column = open.columns[0];
            let (down, right) = (times(gain, &column), times_transposed(upper, &row));
            for i in 0..3 {
                open.columns[1][i] -= down[i];
                open.rows[1][i] -= right[i];
            }
            self.ties.push(Tie {
                border: open.border,
                column,
                row,
            });
        }
        let ties = &self.ties[first..];
        for (open, one) in self.open.iter_mut().zip(ties) {
            for (with, other) in open.with.iter_mut().zip(ties) {
                *with -= dot(&one.row, &other.column);
            }
        }
    }

    /// Eliminates the border at a place; the last one takes that.
    fn end(&mut self, place: usize, carried: &mut Block) -> bool {
        let ended = self.open[place];
        let per_pivot = 1.0 / ended.with[place];
        if !per_pivot.is_finite() {
            return false;
        }
        let column = ended.columns[1].map(|x| x * per_pivot);
        let (from, count) = (self.others.len(), self.open.len());
        for (k, open) in self
            .open
            .iter_mut()
            .enumerate()
            .filter(|(k, _)| *k != place)
        {
            let part = open.with[place] * per_pivot;
            for (with, taken) in open.with.iter_mut().zip(&ended.with).take(count) {
                *with -= part * taken;
            }
            for i in 0..3 {
                open.rows[1][i] -= part * ended.rows[1][i];
                open.columns[1][i] -= column[i] * ended.with[k];
            }
            self.others.push((open.border, part, ended.with[k]));
        }
        for i in 0..3 {
            for j in 0..3 {
                carried[3 * i + j] += column[i] * ended.rows[1][j];
            }
        }
        self.ends.push(End {
            border: ended.border,
            inverse: per_pivot,
            column,
            row: ended.rows[1],
            others: [from, self.others.len()],
        });
        self.open.swap_remove(place);
        for open in &mut self.open {
            open.with[place] = open.with[count - 1];
            open.with[count - 1] = 0.0;
        }
        true
    }

    /// The right-hand sides of the borders, before `solve`, and how far they move, after it.
    pub fn values(&mut self) -> &mut [f64] {
        &mut self.values
    }

    /// Overwrites the right-hand sides of nodes, with room for one behind the last, and borders by the
    /// solution.
    pub fn solve(&mut self, line: &Line, x: &mut [f64]) {
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
                values[tie.border as usize] -= dot(&tie.row, &here);
            }
            let mut next = times(&gain[node], &here);
            for end in &ends[end..end_end] {
                let value = values[end.border as usize];
                for (border, part, _) in &others[end.others[0]..end.others[1]] {
                    values[*border as usize] -= part * value;
                }
                for i in 0..3 {
                    next[i] += end.column[i] * value;
                }
            }
            for i in 0..3 {
                x[3 * node + 3 + i] -= next[i];
            }
        }
        x[3 * count..3 * count + 3].fill(0.0);
        for node in (0..count).rev() {
            let ([tie, end], [tie_end, end_end]) = (starts[node], starts[node + 1]);
            let next = triple(x, node + 1);
            for end in ends[end..end_end].iter().rev() {
                let mut value = values[end.border as usize] - dot(&end.row, &next);
                for (border, _, with) in &others[end.others[0]..end.others[1]] {
                    value -= with * values[*border as usize];
                }
                values[end.border as usize] = value * end.inverse;
            }
            let mut left = times(&line.upper[node], &next);
            for tie in &ties[tie..tie_end] {
                let value = values[tie.border as usize];
                for i in 0..3 {
                    left[i] += tie.column[i] * value;
                }
            }
            let here = std::array::from_fn(|i| x[3 * node + i] - left[i]);
            let found = times(&inverse[node], &here);
            x[3 * node..3 * node + 3].copy_from_slice(&found);
        }
    }
}
