//! A chain over pulleys that each move in one way only, such as a turn about an axle.
//!
//! How far such a pulley moves, w, takes the place behind the three of each node of its stretch: with V the
//! column of a contact and −w the unknown, chain and pulley are one matrix
//!
//! ```text
//! ⎡ A   0 ⎤ − [B V]ᵀ N Z [B V]
//! ⎣ 0  −1 ⎦
//! ```
//!
//! and a contact takes from it what it takes from the chain. So rows of four instead of three, which a
//! vector has anyway, eliminate both; right after the last node of its stretch the pulley goes too.
//!
//! An axle that gives a little lets a pulley move in other ways too. As long as those are far stiffer they are
//! left out of the linear system and put into the slip that its steps cause: the law is met with them, after
//! hardly more steps.

use super::super::block::Block;
use super::super::dense::triple;
use super::rows::{
    LANES, Lanes, Rows, add, add_turned, inverse_of, row_times, take, times_turned, turned,
};
use super::{Bead, Strung, add_moved, put_answer, take_moved};

/// Rows of a node and of the pulley, to the node and the pulley.
type Four = [Lanes; LANES];

/// No contacts yet, and the pulley by itself.
const ALONE: Four = [
    [0.0; LANES],
    [0.0; LANES],
    [0.0; LANES],
    [0.0, 0.0, 0.0, -1.0],
];

/// The factors of a node.
#[derive(Clone, Copy, Debug, Default)]
struct Node {
    /// The inverse of its pivot, column by column.
    inverse: Rows,
    /// What is taken of it from the next node and the pulley, column by column.
    gain: Rows,
    /// A of it with the next node and the pulley.
    next: Rows,
}

/// The factors of a pulley, after the last node of its stretch.
#[derive(Clone, Copy, Debug)]
struct End {
    inverse: f64,
    /// A of the next node with it, times that, and of it with the next node.
    column: Lanes,
    row: Lanes,
    value: f64,
}

/// The factors of a chain and the pulleys, and memory to solve with them.
#[derive(Clone, Debug, Default)]
pub(super) struct Ride {
    /// Whether a stretch ends at a node.
    ends_at: Vec<bool>,
    nodes: Vec<Node>,
    ends: Vec<End>,
    /// Unknowns of each node and its pulley, with room for one node behind the last.
    values: Vec<Lanes>,
}

impl Ride {
    /// Finds where stretches end, given the last node of each lot. False if two of them share a node.
    pub fn plan(&mut self, beads: &[Bead], lots: &[u32], last: &[u32]) -> bool {
        self.ends_at.clear();
        let mut present: Option<u32> = None;
        for bead in beads.iter().filter(|bead| bead.sides > 0) {
            let lot = lots[bead.lots];
            let shared = present.is_some_and(|p| p != lot && last[p as usize] >= bead.node as u32);
            if bead.sides > 1 || shared {
                return false;
            }
            present = Some(lot);
            let end = last[lot as usize] as usize;
            let known = self.ends_at.len();
            self.ends_at.resize(known.max(end + 1), false);
            self.ends_at[end] = true;
        }
        true
    }

    /// Makes room for a chain of so many nodes.
    fn resize(&mut self, nodes: usize) {
        self.ends_at.resize(nodes, false);
        self.nodes.resize(nodes, Node::default());
        self.values.resize(nodes + 1, [0.0; LANES]);
    }
}

impl Strung {
    /// Makes `(Y + Z D) δ = r` ready to be solved. False if it is singular.
    #[inline(always)]
    pub(super) fn load_ride(&mut self, softs: &[Block], slopes: &[Block]) -> bool {
        let mut ride = std::mem::take(&mut self.ride);
        let sound = self.factor_ride(&mut ride, softs, slopes);
        self.ride = ride;
        sound
    }

    #[inline(always)]
    fn factor_ride(&mut self, ride: &mut Ride, softs: &[Block], slopes: &[Block]) -> bool {
        ride.resize(self.alone.len());
        ride.ends.clear();
        let (mut own, mut bead) = (ALONE, 0);
        for node in 0..self.alone.len() {
            let mut next = [[0.0; LANES]; LANES];
            let (mut upper, mut lower) = (self.alone.upper[node], self.alone.lower[node]);
            for (own, alone) in own.iter_mut().zip(&self.alone.diagonal[node]) {
                add(own, alone);
            }
            while self.beads.get(bead).is_some_and(|bead| bead.node == node) {
                let Some(pushes) = self.find_gains(bead, softs, slopes) else {
                    return false;
                };
                let Bead { first, count, .. } = self.beads[bead];
                bead += 1;
                if !pushes {
                    continue;
                }
                let (reaches, gains) = (&self.reaches[first..], &self.gains[first..]);
                for ([a, b], [p, q]) in reaches.iter().zip(gains).take(count) {
                    add_turned(&mut own, -1.0, a, p);
                    add_turned(&mut lower, -1.0, b, p);
                    let [u0, u1, u2] = upper;
                    let [n0, n1, n2, n3] = next;
                    let mut right = [u0, u1, u2, n3];
                    add_turned(&mut right, -1.0, a, q);
                    let mut below = [n0, n1, n2];
                    add_turned(&mut below, -1.0, b, q);
                    upper = [right[0], right[1], right[2]];
                    next = [below[0], below[1], below[2], right[3]];
                }
            }
            let Some(pivot) = inverse_of(&[own[0], own[1], own[2]]) else {
                return false;
            };
            for i in 0..3 {
                upper[i][3] = own[i][3];
                next[i][3] += std::mem::take(&mut lower[i][3]);
            }
            let left = [lower[0], lower[1], lower[2], own[3]];
            let gain = left.map(|[p, q, r, _]| row_times(&[p, q, r], &pivot));
            for (next, gain) in next.iter_mut().zip(&gain) {
                take(next, &row_times(&[gain[0], gain[1], gain[2]], &upper));
            }
            // The pulley is the same one at the next node.
            next[3][3] += own[3][3];
            ride.nodes[node] = Node {
                inverse: turned(&pivot),
                gain: turned(&gain),
                next: upper,
            };
            if ride.ends_at[node] && !ride.end(&mut next) {
                return false;
            }
            own = next;
        }
        true
    }

    /// Overwrites r by δ of the system that was loaded.
    #[inline(always)]
    pub(super) fn solve_ride(&mut self, r: &mut [f64]) {
        let mut ride = std::mem::take(&mut self.ride);
        ride.values.fill([0.0; LANES]);
        self.step_alone(r);
        for bead in &self.beads {
            for k in bead.first..bead.first + bead.count {
                let y = triple(r, k);
                if y == [0.0; 3] {
                    continue;
                }
                let [a, b] = &self.reaches[k];
                add(&mut ride.values[bead.node], &times_turned(a, &y));
                add(&mut ride.values[bead.node + 1], &times_turned(b, &y));
            }
        }
        ride.solve();
        let beads = self.beads.iter().zip(&self.idle);
        for (bead, _) in beads.filter(|(_, idle)| !**idle) {
            for k in bead.first..bead.first + bead.count {
                let more = ride.at(bead.node, &self.gains[k]);
                for i in 0..3 {
                    r[3 * k + i] += more[i];
                }
            }
        }
        self.ride = ride;
    }

    /// Writes S x − [B V] ν to y, with ν as the last solve left it, and what pulleys do in other ways.
    #[inline(always)]
    pub(super) fn read_ride(&mut self, x: &[f64], y: &mut [f64]) {
        let others = self.border.values();
        others.fill([0.0; LANES]);
        for bead in self.beads.iter().filter(|bead| bead.sides > 0) {
            let other = &mut others[self.lots[bead.lots] as usize];
            for k in 0..bead.count {
                add_moved(
                    other,
                    &self.sways[bead.sways + k],
                    &triple(x, bead.first + k),
                );
            }
        }
        for other in others.iter_mut() {
            other[0] = 0.0;
        }
        for bead in &self.beads {
            let size = 3 * bead.count;
            let here = &x[3 * bead.first..][..size];
            for k in 0..bead.count {
                let mut answer = self.ride.at(bead.node, &self.reaches[bead.first + k]);
                if bead.sides > 0 {
                    let other = &others[self.lots[bead.lots] as usize];
                    take_moved(&mut answer, &self.sways[bead.sways + k], other);
                }
                put_answer(y, bead, k, &self.own, here, &answer);
            }
        }
    }
}

impl Ride {
    /// Eliminates the pulley whose stretch ends; the next node may be of the stretch of another.
    #[inline(always)]
    fn end(&mut self, next: &mut Four) -> bool {
        let inverse = 1.0 / next[3][3];
        if !inverse.is_finite() {
            return false;
        }
        let column: Lanes = std::array::from_fn(|i| inverse * next[i][3]);
        let row = next[3];
        for i in 0..3 {
            for (x, r) in next[i].iter_mut().zip(&row) {
                *x -= column[i] * r;
            }
            next[i][3] = 0.0;
        }
        next[3] = ALONE[3];
        self.ends.push(End {
            inverse,
            column,
            row,
            value: 0.0,
        });
        true
    }

    /// Overwrites right-hand sides by the solution.
    #[inline(always)]
    fn solve(&mut self) {
        let (values, mut passed) = (&mut self.values, 0);
        for (node, factors) in self.nodes.iter().enumerate() {
            let here = values[node];
            let taken = times_turned(&factors.gain, &[here[0], here[1], here[2]]);
            let pulley = here[3] - taken[3];
            let next = &mut values[node + 1];
            for i in 0..3 {
                next[i] -= taken[i];
            }
            if self.ends_at[node] {
                let end = &mut self.ends[passed];
                end.value = pulley;
                for i in 0..3 {
                    next[i] -= end.column[i] * pulley;
                }
                passed += 1;
            } else {
                next[3] += pulley;
            }
        }
        let count = self.nodes.len();
        values[count] = [0.0; LANES];
        let mut next = [0.0; LANES];
        for (node, factors) in self.nodes.iter().enumerate().rev() {
            if self.ends_at[node] {
                passed -= 1;
                let end = &self.ends[passed];
                let seen = end.row[0] * next[0] + end.row[1] * next[1] + end.row[2] * next[2];
                next[3] = end.inverse * (end.value - seen);
            }
            let mut left = values[node];
            for (left, row) in left.iter_mut().zip(&factors.next) {
                *left -= row[0] * next[0] + row[1] * next[1] + row[2] * next[2] + row[3] * next[3];
            }
            let mut here = times_turned(&factors.inverse, &[left[0], left[1], left[2]]);
            here[3] = next[3];
            values[node] = here;
            next = here;
        }
    }

    /// What a contact of the link at a node sees of it, the next one and the pulley.
    #[inline(always)]
    fn at(&self, node: usize, [a, b]: &[Rows; 2]) -> [f64; 3] {
        let (here, next) = (&self.values[node], &self.values[node + 1]);
        std::array::from_fn(|i| {
            let own = a[i][0] * here[0] + a[i][1] * here[1] + a[i][2] * here[2] + a[i][3] * here[3];
            own + (b[i][0] * next[0] + b[i][1] * next[1] + b[i][2] * next[2])
        })
    }
}
