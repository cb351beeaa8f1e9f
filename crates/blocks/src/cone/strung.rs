//! Contacts strung along chains: all of them at once, in time linear in their number.
//!
//! A contact at a link of a chain feels the chain only through the two joints of its link:
//!
//! ```text
//! D = S − B A⁻¹ Bᵀ + R
//! ```
//!
//! with S the links alone, block diagonal; A the chain, block tridiagonal; B, three rows a contact
//! and three columns a joint, two blocks a row; and R = V Vᵀ what else moves, such as the pulleys that a
//! belt runs over, with a column of V for each way in which they do. Steps towards Coulomb's law (`direct.rs`) solve `Y δ + Z D δ = r`.
//! With ν = A⁻¹Bᵀδ and w = Vᵀδ as further unknowns contacts are eliminated link by link with
//! N = (Y + Z S)⁻¹, which leaves the chain with other blocks in the same places and the w beside it
//! (`strung/border.rs`),
//!
//! ```text
//! (A − Bᵀ N Z B) ν + Bᵀ N Z V w = Bᵀ N r
//!     − Vᵀ N Z B ν + (1 + Vᵀ N Z V) w = Vᵀ N r,   δ = N (Z B ν − Z V w + r)
//! ```
//!
//! So a step costs little more than one product
//! with D, of which first order methods need hundreds, because a belt answers a common push a thousand
//! times less than that of a single link.

mod border;
mod linear;
mod ride;
mod rows;
mod short;
#[cfg(test)]
mod tests;

use super::Triple;
use super::block::{self, Block};
use super::dense::{ConeReport, triple};
use super::direct::{Direct, Mark, Response};
use super::string::Line;
use crate::vectors::vectorized;
use border::Border;
use ride::Ride;
pub use rows::LANES;
use rows::{Blocks, Lanes, NOTHING, Rows, add, rows, times, times_turned};
use short::Short;

/// Contacts up to which a guess is followed: of thousands some are always far from where they end.
const FOLLOWED: usize = 2_000;

/// What pulleys may answer in other ways than their main one, over what they answer in that, for a ride
/// (`strung/ride.rs`).
const MINOR: f64 = 0.02;

/// A link with its contacts.
#[derive(Clone, Copy, Debug)]
struct Bead {
    /// Its first node of the chain; the second one follows.
    node: usize,
    /// Its contacts, one after the other, and where its part of S starts.
    first: usize,
    count: usize,
    own: usize,
    /// Where the lots of its borders start, how many it has, and where its part of V starts.
    lots: usize,
    sides: usize,
    sways: usize,
}

/// One contact.
#[derive(Clone, Copy, Debug)]
pub struct Knot {
    /// What the forces of the two joints do to the slip, with the sign of B: zero for a joint
    /// that is not there.
    pub reach: [Block; 2],
    /// Coefficient of friction.
    pub mu: f64,
    /// Trace of what the contact answers to itself, about.
    pub compliance: f64,
}

/// A problem, and the memory to solve it, kept for reuse.
#[derive(Clone, Debug, Default)]
pub struct Strung {
    /// The chain.
    pub line: Line,
    beads: Vec<Bead>,
    reaches: Vec<[Rows; 2]>,
    /// S, dense for each bead.
    own: Vec<f64>,
    /// Lots of columns of V that touch each bead, and V, contact by contact.
    lots: Vec<u32>,
    sways: Vec<Rows>,
    law: Direct,
    /// Whether all contacts of a bead are apart.
    idle: Vec<bool>,
    /// The chain alone and with the contacts inside; N of each bead, N Z B of each contact, and N Z V as V.
    alone: Blocks,
    loaded: Blocks,
    solved: Vec<f64>,
    gains: Vec<[Rows; 2]>,
    pulls: Vec<Rows>,
    border: Border,
    /// Whether what else moves mainly does so in one way for each link, and the factors then.
    rides: bool,
    ride: Ride,
    short: Short,
    nodes: Vec<f64>,
    moved: Vec<f64>,
    swaps: Vec<usize>,
    /// Whether the chain is factored.
    factored: bool,
}

impl Strung {
    /// Forgets the contacts; the chain stays.
    pub fn clear(&mut self) {
        self.beads.clear();
        self.reaches.clear();
        self.own.clear();
        self.lots.clear();
        self.sways.clear();
        self.law.clear();
        self.factored = false;
    }

    /// Adds a link between the node and the next one, or at the node only. `borders` are the columns
    /// of V that touch it. Its contacts follow. Columns go in fours: those of one body are best numbered
    /// from a multiple of four on.
    pub fn add_bead(&mut self, node: usize, borders: &[u32]) {
        let lots = self.lots.len();
        for border in borders {
            let lot = border / LANES as u32;
            if !self.lots[lots..].contains(&lot) {
                self.lots.push(lot);
            }
        }
        self.beads.push(Bead {
            node,
            first: self.reaches.len(),
            count: 0,
            own: self.own.len(),
            lots,
            sides: self.lots.len() - lots,
            sways: self.sways.len(),
        });
    }

    /// Adds a contact to the last link.
    pub fn add_knot(&mut self, knot: Knot) {
        if let Some(bead) = self.beads.last_mut() {
            bead.count += 1;
            self.own.resize(bead.own + 9 * bead.count * bead.count, 0.0);
            self.sways
                .resize(bead.sways + bead.sides * bead.count, NOTHING);
            self.reaches.push(knot.reach.map(|reach| rows(&reach)));
            let Knot { mu, compliance, .. } = knot;
            self.law.add(Mark { mu, compliance });
        }
    }

    /// Part of S of the last link, row-major, of order three times its contacts.
    pub fn own_mut(&mut self) -> &mut [f64] {
        let start = self.beads.last().map_or(0, |bead| bead.own);
        &mut self.own[start..]
    }

    /// Part of V of the last contact: how one of the borders of its link moves it.
    pub fn set_sway(&mut self, border: u32, moved: &Triple) {
        let Some(bead) = self.beads.last() else {
            return;
        };
        let (lot, lane) = (border / LANES as u32, border as usize % LANES);
        let start = self.sways.len() - bead.sides;
        for (sway, own) in self.sways[start..].iter_mut().zip(&self.lots[bead.lots..]) {
            if *own == lot {
                for (axis, x) in sway.iter_mut().zip(moved) {
                    axis[lane] = *x;
                }
            }
        }
    }

    /// The first guess of a contact, and the slip that all guesses together cause.
    pub fn start(&mut self, contact: usize, slip: Triple, lambda: Triple) {
        self.law.start(contact, slip, lambda);
    }

    /// The answer, three numbers a contact.
    pub fn lambda(&self) -> &[f64] {
        self.law.lambda()
    }

    /// Solves to a relative violation. Counts steps as `newton`.
    pub fn solve(&mut self, tolerance: f64) -> ConeReport {
        if !self.is_ready() {
            return ConeReport {
                residual: f64::INFINITY,
                ..ConeReport::default()
            };
        }
        // What pushes may let go.
        for (k, bead) in self.beads.iter().enumerate() {
            let forces = &self.law.lambda()[3 * bead.first..3 * (bead.first + bead.count)];
            if forces.iter().any(|x| *x != 0.0) {
                self.short.hold(k);
            }
        }
        let mut law = std::mem::take(&mut self.law);
        let mut report = law.solve(self, tolerance);
        if self.rides && report.residual > tolerance {
            // Perhaps for what the ride leaves out.
            self.rides = false;
            law.start_again(self);
            report.follow(&law.solve(self, tolerance));
        }
        self.law = law;
        report
    }

    /// Overwrites three numbers a node by those that the chain alone answers with, A⁻¹ of them. False if
    /// it is singular.
    pub fn respond_line(&mut self, nodes: &mut [f64]) -> bool {
        if !self.is_ready() {
            return false;
        }
        self.line.solve(nodes);
        true
    }

    /// Makes everything ready that is the same in every step, once. False if the chain is singular.
    fn is_ready(&mut self) -> bool {
        self.factored = self.factored || self.make_ready();
        self.factored
    }

    /// Orders the links, factors the chain. False if it is singular.
    fn make_ready(&mut self) -> bool {
        self.moved.clear();
        self.moved.resize(3 * self.reaches.len(), 0.0);
        self.nodes.clear();
        self.nodes.resize(3 * (self.line.len() + 1), 0.0);
        self.beads
            .sort_unstable_by_key(|bead| (bead.node, bead.first));
        self.short.clear(self.beads.len());
        let count = self.lots.iter().map(|lot| *lot as usize + 1).max();
        self.border
            .plan(count.unwrap_or(0), self.line.len(), &self.beads, &self.lots);
        self.alone.read(&self.line);
        self.rides = self.may_ride();
        if self.rides {
            self.mount();
        }
        self.line.factor()
    }

    /// Whether each link is touched by one pulley at most that mainly moves in one way.
    fn may_ride(&mut self) -> bool {
        let mut compliance = [0.0; LANES];
        for sway in self.sways.as_flattened() {
            for (sum, s) in compliance.iter_mut().zip(sway) {
                *sum += s * s;
            }
        }
        let others: f64 = compliance[1..].iter().sum();
        let last = self.border.last_nodes();
        let nodes = self.line.len();
        let apart = self.ride.plan(nodes, &self.beads, &self.lots, last);
        apart && others <= MINOR * compliance[0]
    }

    /// Puts the column of the pulley behind those of the first joint.
    fn mount(&mut self) {
        for bead in self.beads.iter().filter(|bead| bead.sides > 0) {
            let contacts = bead.first..bead.first + bead.count;
            for ([reach, _], sway) in self.reaches[contacts]
                .iter_mut()
                .zip(&self.sways[bead.sways..])
            {
                for (row, sway) in reach.iter_mut().zip(sway) {
                    row[3] = sway[0];
                }
            }
        }
    }

    /// Writes (S − B A⁻¹ Bᵀ + V Vᵀ) x to y.
    fn multiply(&mut self, x: &[f64], y: &mut [f64]) {
        self.nodes.fill(0.0);
        let moved = self.border.values();
        moved.fill([0.0; LANES]);
        for bead in &self.beads {
            for (side, lot) in self.lots[bead.lots..][..bead.sides].iter().enumerate() {
                for k in 0..bead.count {
                    let sway = &self.sways[bead.sways + k * bead.sides + side];
                    add_moved(&mut moved[*lot as usize], sway, &triple(x, bead.first + k));
                }
            }
            for k in bead.first..bead.first + bead.count {
                add_to_nodes(&mut self.nodes, bead.node, &self.reaches[k], &triple(x, k));
            }
        }
        self.line.solve(&mut self.nodes[..3 * self.line.len()]);
        read(self, x, y);
    }

    /// Writes S x − B ν + V w to y, with ν and w as they are.
    #[inline(always)]
    fn read(&mut self, x: &[f64], y: &mut [f64]) {
        let moved = self.border.values();
        for bead in &self.beads {
            let size = 3 * bead.count;
            let here = &x[3 * bead.first..][..size];
            for k in 0..bead.count {
                let reach = &self.reaches[bead.first + k];
                let mut answer = at_nodes(&self.nodes, bead.node, reach);
                for (side, lot) in self.lots[bead.lots..][..bead.sides].iter().enumerate() {
                    let sway = &self.sways[bead.sways + k * bead.sides + side];
                    take_moved(&mut answer, sway, &moved[*lot as usize]);
                }
                put_answer(y, bead, k, &self.own, here, &answer);
            }
        }
    }
}

vectorized! {
    fn load(strung: &mut Strung, softs: &[Block], slopes: &[Block]) -> bool = Strung::load
}

vectorized! {
    fn solve_linear(strung: &mut Strung, r: &mut [f64]) = Strung::solve_linear
}

vectorized! {
    fn read(strung: &mut Strung, x: &[f64], y: &mut [f64]) = Strung::read
}

vectorized! {
    fn read_ride(strung: &mut Strung, x: &[f64], y: &mut [f64]) = Strung::read_ride
}

impl Response for Strung {
    fn product(&mut self, x: &[f64], y: &mut [f64]) {
        self.multiply(x, y);
    }

    fn prepare(&mut self, softs: &[Block], slopes: &[Block]) -> bool {
        load(self, softs, slopes)
    }

    fn near(&self) -> f64 {
        match self.trusts_guess() {
            true => 1e-5,
            false => 1e-6,
        }
    }

    fn trusts_guess(&self) -> bool {
        self.reaches.len() <= FOLLOWED
    }

    fn respond(&mut self, _: &[Block], r: &mut [f64], _: f64) -> Option<usize> {
        solve_linear(self, r);
        r.iter().all(|x| x.is_finite()).then_some(0)
    }

    /// S δ − B ν + V w: a solve leaves ν and w.
    fn answer(&mut self, delta: &[f64], y: &mut [f64]) {
        match self.rides {
            true => read_ride(self, delta, y),
            false => read(self, delta, y),
        }
    }
}

/// Adds Vᵀ λ of a contact to what its borders do.
#[inline(always)]
fn add_moved(moved: &mut Lanes, sway: &Rows, lambda: &Triple) {
    add(moved, &times_turned(sway, lambda));
}

/// Takes V w of a contact from its answer.
#[inline(always)]
fn take_moved(answer: &mut Triple, sway: &Rows, moved: &Lanes) {
    for i in 0..3 {
        let s = &sway[i];
        answer[i] -= s[0] * moved[0] + s[1] * moved[1] + s[2] * moved[2] + s[3] * moved[3];
    }
}

/// Adds Bᵀ λ of a contact to the nodes; there is room for one behind the last.
#[inline(always)]
fn add_to_nodes(nodes: &mut [f64], node: usize, reach: &[Rows; 2], lambda: &Triple) {
    for (k, reach) in reach.iter().enumerate() {
        let part = times_turned(reach, lambda);
        for i in 0..3 {
            nodes[3 * (node + k) + i] += part[i];
        }
    }
}

/// Writes S x of a contact of a link less what the chain and the borders answer.
#[inline(always)]
fn put_answer(y: &mut [f64], bead: &Bead, k: usize, own: &[f64], here: &[f64], answer: &Triple) {
    let own = &own[bead.own + 3 * k * here.len()..][..3 * here.len()];
    // Most links have one contact.
    let alone = match (here, own.first_chunk()) {
        (&[a, b, c], Some(own)) => block::times(own, &[a, b, c]),
        _ => std::array::from_fn(|i| {
            let row = &own[i * here.len()..][..here.len()];
            row.iter().zip(here).map(|(s, x)| s * x).sum()
        }),
    };
    for i in 0..3 {
        y[3 * (bead.first + k) + i] = alone[i] - answer[i];
    }
}

/// B ν of a contact.
#[inline(always)]
fn at_nodes(nodes: &[f64], node: usize, reach: &[Rows; 2]) -> Triple {
    let [a, b] = [0, 1].map(|k| times(&reach[k], &triple(nodes, node + k)));
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}
