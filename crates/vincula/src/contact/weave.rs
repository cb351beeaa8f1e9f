//! Contacts between a net and small mechanisms or loose bodies, all at once.
//!
//! `vincula_blocks::cone::woven` says how. The unknowns are those of the net; of every other touched body
//! its displacement and rotation q; and the forces ν of the joints of its mechanism. With the compliance C
//! of bodies that no joint answers for, the violation L w that a force and a torque w cause, and the matrix A of
//! the joints,
//!
//! ```text
//! q = C w − Lᵀ ν,   A ν = L w     gives     ⎡ −C⁻¹      −C⁻¹ Lᵀ    ⎤ ⎡ q ⎤   ⎡ −w ⎤
//!                                           ⎣ −L C⁻¹  A − L C⁻¹ Lᵀ ⎦ ⎣ ν ⎦ = ⎣  0 ⎦
//! ```
//!
//! which is sparse as the mechanism is. A joint is eliminated together with the body that it holds, seen
//! from one body of the mechanism or from the ground. q is scaled to be a force.

mod fill;
mod nodes;

use std::ops::Range;

use vincula_blocks::cone::{ConeReport, Mark, Tie, Woven};

use super::movers::{FIXED, Movers, increment};
use super::rows::{Arm, ContactRow};
use super::sides::Sides;
use crate::dual::{Dual, MOST_TIES};
use crate::integrate::newton::NewtonBlock;
use crate::math::lanes::{gather, place};
use crate::math::small::*;
use nodes::Holding;

/// Violation of the law, relative to the largest force, at which a solve ends.
const TOLERANCE: f64 = 2e-7;
/// Products of numbers at most that a factorization may take.
const MOST_WORK: f64 = 2e8;
/// No node.
const NOTHING: u32 = u32::MAX;

/// Where the unknowns of a mover are.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    /// Of a link of a net: the first node of the net. Else the node of q.
    node: u32,
    is_link: bool,
    /// Units of q: m and rad per N.
    scales: [f64; 2],
    /// C⁻¹ of the rotation, N m/rad.
    inertia: M3,
}

/// A mechanism, or a body, of the problem.
#[derive(Clone, Copy, Debug)]
struct Member {
    unit: u32,
    island: Option<usize>,
    /// The first node of a net; of another mechanism, where its rows start.
    start: usize,
    is_net: bool,
}

/// Memory of the solver.
#[derive(Debug, Default)]
pub(crate) struct Weave {
    problem: Woven,
    /// Contacts in the order of the problem: those of links of nets, then all others.
    sides: Sides,
    others: Vec<u32>,
    members: Vec<Member>,
    places: Vec<Place>,
    /// Of each row of a small mechanism: its node and its place in that.
    rows: Vec<[u32; 2]>,
    /// Joints of the present mechanism, and its bodies that were reached.
    joints: Vec<Holding>,
    reached: Vec<usize>,
    /// Of each contact of a hub: B and how far the point of the hub goes, per force along the frame.
    points: Vec<[V3; 6]>,
    ties: Vec<Tie>,
    block: Vec<f64>,
}

impl Weave {
    /// Makes the problem of all rows. False if it is of another kind.
    pub fn prepare(
        &mut self,
        rows: &[ContactRow],
        movers: &Movers,
        dual: &Dual,
        work: &[NewtonBlock],
    ) -> bool {
        self.problem.clear();
        let is_fixed = |row: &ContactRow| row.a.mover == FIXED || row.b.mover == FIXED;
        let spins = rows.iter().any(|row| row.spins());
        if spins || rows.iter().all(is_fixed) {
            return false;
        }
        let known = self.add_nodes(movers, dual) && self.find_sides(rows);
        if !known || !self.add_links(rows, movers, dual, work) {
            return false;
        }
        self.add_others(rows);
        if self.problem.plan() > MOST_WORK {
            return false;
        }
        for k in 0..self.members.len() {
            self.fill(k, movers, dual);
        }
        true
    }

    /// Takes the slip and the force of each row, which else are those of the last `prepare`.
    pub fn start(&mut self, rows: &[ContactRow], movers: &Movers) {
        let others = self.others.iter().map(|k| &rows[*k as usize]);
        for (k, row) in self.sides.rows(rows).chain(others).enumerate() {
            self.problem.start(k, row.slip(&movers.all), row.lambda);
        }
    }

    /// Solves the problem. `product` writes D times its first argument to the second, in the order of
    /// `order`.
    pub fn solve(&mut self, product: &mut dyn FnMut(&[f64], &mut [f64])) -> ConeReport {
        self.problem.solve(product, TOLERANCE)
    }

    /// The rows in the order of the problem.
    pub fn order(&self) -> impl Iterator<Item = u32> + '_ {
        self.sides.order().chain(self.others.iter().copied())
    }

    /// The rows in the order of the problem, with their forces.
    pub fn answer(&self) -> impl Iterator<Item = (u32, V3)> + '_ {
        let triples = self.problem.lambda().as_chunks().0;
        self.order().zip(triples.iter().copied())
    }

    /// Finds the side of each contact that is on a net, if one is. False if both are.
    fn find_sides(&mut self, rows: &[ContactRow]) -> bool {
        self.sides.clear();
        self.others.clear();
        for (index, row) in (0u32..).zip(rows) {
            let [a, b] = [&row.a, &row.b]
                .map(|arm| arm.mover != FIXED && self.places[arm.mover as usize].is_link);
            match (a, b) {
                (true, true) => return false,
                (false, false) => self.others.push(index),
                (_, second) => self.sides.add(index, row, second),
            }
        }
        self.sides.sort();
        true
    }

    fn add_links(
        &mut self,
        rows: &[ContactRow],
        movers: &Movers,
        dual: &Dual,
        work: &[NewtonBlock],
    ) -> bool {
        let mut first = 0;
        while let Some(bead) = self.sides.bead(first) {
            first = bead.end;
            if !self.add_link(bead, rows, movers, dual, work) {
                return false;
            }
        }
        true
    }

    /// Adds the link of a net with its contacts.
    fn add_link(
        &mut self,
        range: Range<usize>,
        rows: &[ContactRow],
        movers: &Movers,
        dual: &Dual,
        work: &[NewtonBlock],
    ) -> bool {
        let index = self.sides.mover(range.start) as usize;
        let mover = &movers.all[index];
        let body = mover.body as usize;
        let mut nodes = [0; MOST_TIES];
        let Some(count) = dual.ties_of(body, &mut nodes) else {
            return false;
        };
        self.ties.clear();
        for node in &nodes[..count] {
            self.ties.push(Tie {
                node: self.places[index].node + node,
                columns: 3,
            });
        }
        for k in range.clone() {
            let (_, arm, _) = self.sides.other(k, rows);
            self.tie_to(arm);
        }
        self.problem.add_bead(&self.ties);
        let (block, lane) = place(body);
        let rot: M3 = gather(&work[block].rot, lane);
        let inverse = work[block].inverse_of(lane);
        self.points.clear();
        for k in range.clone() {
            let (row, arm, sign) = self.sides.mine(k, rows);
            let reach = self.problem.add_contact(mark(row));
            let width = reach.len() / 3;
            let mut points = [[0.0; 3]; 6];
            let lever = arm.lever(&row.frame);
            for i in 0..3 {
                let shift = scale(&row.frame[i], sign * mover.per_force);
                let p = increment(&inverse, &rot, &scale(&lever[i], sign));
                let mut at = [[0.0; 3]; MOST_TIES];
                if let Some(point) = dual.reach_ties(work, body, &p, &shift, &mut at) {
                    (points[i], points[3 + i]) = (at[0], point);
                }
                reach[i * width..][..3 * count].copy_from_slice(at[..count].as_flattened());
            }
            self.points.push(points);
            let (_, other, sign) = self.sides.other(k, rows);
            let ties = self.ties.iter();
            reach_body(&self.places, ties, row, other, sign, reach);
        }
        let (sides, own) = (&self.sides, self.problem.own_mut());
        sides.fill_alone(mover, range, rows, &self.points, own);
        true
    }

    /// Ties the present bead to the body of an arm, if it is not yet.
    fn tie_to(&mut self, arm: &Arm) {
        if arm.mover == FIXED {
            return;
        }
        let node = self.places[arm.mover as usize].node;
        if self.ties.iter().all(|tie| tie.node != node) {
            self.ties.push(Tie { node, columns: 6 });
        }
    }

    /// Adds the contacts that are not on a net.
    fn add_others(&mut self, rows: &[ContactRow]) {
        for k in 0..self.others.len() {
            let row = &rows[self.others[k] as usize];
            self.ties.clear();
            self.tie_to(&row.a);
            self.tie_to(&row.b);
            self.problem.add_bead(&self.ties);
            let reach = self.problem.add_contact(mark(row));
            for (arm, sign) in [(&row.a, -1.0), (&row.b, 1.0)] {
                reach_body(&self.places, self.ties.iter(), row, arm, sign, reach);
            }
            let [n, t] = row.soft;
            let own = self.problem.own_mut();
            (own[0], own[4], own[8]) = (n, t, t);
        }
    }
}

/// What a contact is beside its response.
fn mark(row: &ContactRow) -> Mark {
    Mark {
        mu: row.mu,
        compliance: row.w[0] + row.w[4] + row.w[8],
    }
}

/// Writes how far q of the body of an arm takes a contact, with the sign of B.
fn reach_body<'a>(
    places: &[Place],
    ties: impl Iterator<Item = &'a Tie>,
    row: &ContactRow,
    arm: &Arm,
    sign: f64,
    reach: &mut [f64],
) {
    if arm.mover == FIXED {
        return;
    }
    let place = &places[arm.mover as usize];
    let (width, mut column) = (reach.len() / 3, 0);
    for tie in ties {
        if tie.node == place.node {
            break;
        }
        column += tie.columns as usize;
    }
    let lever = arm.lever(&row.frame);
    for i in 0..3 {
        let line = &mut reach[i * width + column..][..6];
        for k in 0..3 {
            line[k] = -sign * place.scales[0] * row.frame[i][k];
            line[3 + k] = -sign * place.scales[1] * lever[i][k];
        }
    }
}
