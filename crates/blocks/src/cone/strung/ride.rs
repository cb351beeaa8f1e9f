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
    LANES, Lanes, Rows, add, add_turned, first_three, inverse_of, row_times, take, times_turned,
    turned,
};
use super::short::Short;
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

/// No pulley.
const NONE: u32 = u32::MAX;

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

/// The factors of a chain, shortened, and the pulleys, and memory to solve with them.
#[derive(Clone, Debug, Default)]
pub(super) struct Ride {
    /// The pulley that the link at each node of the chain runs over, if it does.
    pulleys: Vec<u32>,
    /// The pulley whose stretch ends at each node that is held.
    ends_at: Vec<u32>,
    nodes: Vec<Node>,
    ends: Vec<End>,
    /// Unknowns of each node of the chain and its pulley, with room for one node behind the last; and how
    /// far each pulley moves.
    values: Vec<Lanes>,
    turns: Vec<f64>,
}

impl Ride {
    /// Finds which pulleys a chain of so many nodes runs over, given the last node of each lot. False if two
    /// of them share a node.
    pub fn plan(&mut self, nodes: usize, beads: &[Bead], lots: &[u32], last: &[u32]) -> bool {
        self.pulleys.clear();
        self.pulleys.resize(nodes, NONE);
        self.values.resize(nodes + 1, [0.0; LANES]);
        self.turns.resize(last.len(), 0.0);
        let mut present: Option<u32> = None;
        for bead in beads.iter().filter(|bead| bead.sides > 0) {
            let lot = lots[bead.lots];
            let shared = present.is_some_and(|p| p != lot && last[p as usize] >= bead.node as u32);
            if bead.sides > 1 || shared {
                return false;
            }
            present = Some(lot);
            self.pulleys[bead.node] = lot;
        }
        true
    }

    /// Finds where stretches end among the nodes that are held.
    fn find_ends(&mut self, short: &Short, beads: &[Bead]) {
        self.ends_at.clear();
        self.ends_at.resize(short.nodes.len(), NONE);
        let (mut place, mut present) = (0, None);
        for (_, bead) in (0..).zip(beads).filter(|(k, _)| short.holds(*k)) {
            let lot = self.pulleys[bead.node];
            if lot == NONE {
                continue;
            }
            if let Some((before, last)) = present.filter(|(before, _)| *before != lot) {
                self.ends_at[last] = before;
            }
            // Behind the last node of the chain there is none.
            let next = |n: &u32| *n as usize <= bead.node + 1;
            while short.nodes.get(place + 1).is_some_and(next) {
                place += 1;
            }
            present = Some((lot, place));
        }
        if let Some((lot, last)) = present {
            self.ends_at[last] = lot;
        }
    }
}

impl Strung {
    /// Makes `(Y + Z D) δ = r` ready to be solved. False if it is singular.
    #[inline(always)]
    pub(super) fn load_ride(&mut self, softs: &[Block], slopes: &[Block]) -> bool {
        for bead in 0..self.beads.len() {
            match self.find_gains(bead, softs, slopes) {
                Some(true) => self.short.hold(bead),
                Some(false) => {}
                None => return false,
            }
        }
        self.factor_ride()
    }

    /// The same, where the contacts of links were eliminated.
    #[inline(always)]
    fn factor_ride(&mut self) -> bool {
        let Strung {
            alone,
            beads,
            idle,
            reaches,
            gains,
            short,
            ride,
            ..
        } = self;
        match short.make(alone, beads) {
            Some(true) => ride.find_ends(short, beads),
            Some(false) => {}
            None => return false,
        }
        ride.nodes.clear();
        ride.ends.clear();
        let (mut own, mut passed) = (ALONE, 0);
        for (k, node) in short.nodes.iter().enumerate() {
            let mut next = [[0.0; LANES]; LANES];
            let (mut upper, mut lower) = (short.blocks.upper[k], short.blocks.lower[k]);
            for (own, alone) in own.iter_mut().zip(&short.blocks.diagonal[k]) {
                add(own, alone);
            }
            while let Some(bead) = beads.get(passed).filter(|b| b.node <= *node as usize) {
                passed += 1;
                if idle[passed - 1] {
                    continue;
                }
                let contacts = bead.first..bead.first + bead.count;
                for ([a, b], [p, q]) in reaches[contacts.clone()].iter().zip(&gains[contacts]) {
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
            let gain = left.map(|row| row_times(&first_three(&row), &pivot));
            for (next, gain) in next.iter_mut().zip(&gain) {
                take(next, &row_times(&first_three(gain), &upper));
            }
            // The pulley is the same one at the next node.
            next[3][3] += own[3][3];
            ride.nodes.push(Node {
                inverse: turned(&pivot),
                gain: turned(&gain),
                next: upper,
            });
            if ride.ends_at[k] != NONE && !ride.end(&mut next) {
                return false;
            }
            own = next;
        }
        true
    }

    /// Overwrites r by δ of the system that was loaded.
    #[inline(always)]
    pub(super) fn solve_ride(&mut self, r: &mut [f64]) {
        self.step_alone(r);
        for (k, bead) in self.beads.iter().enumerate() {
            let here = &r[3 * bead.first..3 * (bead.first + bead.count)];
            if !self.short.holds(k) && here.iter().any(|y| *y != 0.0) {
                self.short.hold(k);
            }
        }
        if !self.short.is_made() && !self.factor_ride() {
            r.fill(f64::NAN);
            return;
        }
        let Strung {
            beads,
            idle,
            reaches,
            gains,
            short,
            ride,
            ..
        } = self;
        ride.values.fill([0.0; LANES]);
        for bead in &*beads {
            for k in bead.first..bead.first + bead.count {
                let y = triple(r, k);
                if y == [0.0; 3] {
                    continue;
                }
                let [a, b] = &reaches[k];
                add(&mut ride.values[bead.node], &times_turned(a, &y));
                add(&mut ride.values[bead.node + 1], &times_turned(b, &y));
            }
        }
        ride.solve(short);
        for (bead, _) in beads.iter().zip(idle).filter(|(_, idle)| !**idle) {
            for k in bead.first..bead.first + bead.count {
                let more = ride.at(bead.node, &gains[k]);
                for i in 0..3 {
                    r[3 * k + i] += more[i];
                }
            }
        }
    }

    /// Writes S x − [B V] ν to y, with ν as the last solve left it, and what pulleys do in other ways.
    #[inline(always)]
    pub(super) fn read_ride(&mut self, x: &[f64], y: &mut [f64]) {
        let others = self.border.values();
        others.fill([0.0; LANES]);
        for bead in self.beads.iter().filter(|bead| bead.sides > 0) {
            let other = &mut others[self.lots[bead.lots] as usize];
            for k in 0..bead.count {
                let here = triple(x, bead.first + k);
                if here != [0.0; 3] {
                    add_moved(other, &self.sways[bead.sways + k], &here);
                }
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

    /// Overwrites right-hand sides of the nodes that are held by the solution, at all nodes.
    #[inline(always)]
    fn solve(&mut self, short: &Short) {
        let (values, mut passed) = (&mut self.values, 0);
        let beyond = self.pulleys.len();
        let nodes = || short.nodes.iter().map(|n| *n as usize);
        for (k, (at, next)) in nodes().zip(nodes().skip(1).chain([beyond])).enumerate() {
            let here = values[at];
            let taken = times_turned(&self.nodes[k].gain, &first_three(&here));
            let pulley = here[3] - taken[3];
            let next = &mut values[next];
            for i in 0..3 {
                next[i] -= taken[i];
            }
            if self.ends_at[k] != NONE {
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
        let mut next = [0.0; LANES];
        self.turns.fill(0.0);
        for (k, at) in nodes().enumerate().rev() {
            let lot = self.ends_at[k];
            if lot != NONE {
                passed -= 1;
                let end = &self.ends[passed];
                let seen = end.row[0] * next[0] + end.row[1] * next[1] + end.row[2] * next[2];
                next[3] = end.inverse * (end.value - seen);
                self.turns[lot as usize] = next[3];
            }
            let (factors, mut left) = (&self.nodes[k], values[at]);
            for (left, row) in left.iter_mut().zip(&factors.next) {
                *left -= row[0] * next[0] + row[1] * next[1] + row[2] * next[2] + row[3] * next[3];
            }
            let mut here = times_turned(&factors.inverse, &first_three(&left));
            here[3] = next[3];
            values[at] = here;
            next = here;
        }
        short.follow(values);
        let ridden = values.iter_mut().zip(&self.pulleys);
        for (value, lot) in ridden.filter(|(_, lot)| **lot != NONE) {
            value[3] = self.turns[*lot as usize];
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
