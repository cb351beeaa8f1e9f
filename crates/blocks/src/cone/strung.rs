//! Contacts strung along chains: all of them at once, in time linear in their number.
//!
//! A contact at a link of a chain feels the chain only through the two joints of its link:
//!
//! ```text
//! D = S − B A⁻¹ Bᵀ + R
//! ```
//!
//! with S the links alone, block diagonal; A the chain, block tridiagonal; B, three rows a contact
//! and three columns a joint, two blocks a row; and R what else moves, such as the pulleys that a
//! belt runs over, of low rank. Steps towards Coulomb's law, whether through the inside of the cones
//! (`strung/inner.rs`) or of Newton's method on the law itself (`strung/polish.rs`), solve
//!
//! ```text
//! Y δ + Z D δ = r
//! ```
//!
//! with blocks Y and Z of three by three. With ν = A⁻¹Bᵀδ as a second unknown contacts are eliminated
//! link by link with N = (Y + Z S)⁻¹, which leaves the chain with other blocks in the same places,
//!
//! ```text
//! (A − Bᵀ N Z B) ν = Bᵀ N r,   δ = N (Z B ν + r)
//! ```
//!
//! and R is brought in by GMRES (`strung/linear.rs`). So a step costs little more than one product
//! with D, of which first order methods need hundreds, because a belt answers a common push a thousand
//! times less than that of a single link. The inner way comes near the law from anywhere in about ten
//! steps, but then meets it slowly; Newton's method wanders far from it and meets it in two or three.

mod inner;
mod linear;
mod polish;
#[cfg(test)]
mod tests;

use super::block::{Block, times, times_transposed};
use super::dense::{ConeReport, triple};
use super::interior::{Pair, Scaling};
use super::krylov::Krylov;
use super::string::Line;
use super::{Triple, violation};

/// Steps through the inside at most.
const STEPS: usize = 50;
/// Part of a step with which nothing is gained.
const STUCK: f64 = 1e-3;
/// Violation below which Newton's method is tried, and what of it must be left before it is tried
/// again.
const NEAR: f64 = 3e-3;
const NEARER: f64 = 0.1;

/// A link with its contacts.
#[derive(Clone, Copy, Debug)]
struct Bead {
    /// Its first node of the chain; the second one follows.
    node: usize,
    /// Its contacts, one after the other, and where its part of S starts.
    first: usize,
    count: usize,
    own: usize,
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
    knots: Vec<Knot>,
    /// S, dense for each bead.
    own: Vec<f64>,
    /// Slip without λ.
    free: Vec<f64>,
    lambda: Vec<f64>,
    slip: Vec<f64>,
    best: Vec<f64>,
    best_slip: Vec<f64>,
    before: [Vec<f64>; 2],
    /// Of each contact: the pair, its scaling, and the step that is tried.
    pairs: Vec<Pair>,
    scalings: Vec<Scaling>,
    tried: Vec<Pair>,
    /// Y, Z and r of each contact.
    softs: Vec<Block>,
    slopes: Vec<Block>,
    rhs: Vec<f64>,
    /// The chain with the contacts inside; N of each bead, and N Z B of each contact.
    loaded: Line,
    solved: Vec<f64>,
    gains: Vec<[Block; 2]>,
    nodes: Vec<f64>,
    moved: Vec<f64>,
    scratch: Vec<f64>,
    krylov: Krylov,
}

impl Strung {
    /// Forgets the contacts; the chain stays.
    pub fn clear(&mut self) {
        self.beads.clear();
        self.knots.clear();
        self.own.clear();
        self.lambda.clear();
        self.free.clear();
    }

    /// Adds a link between the node and the next one, or at the node only. Its contacts follow.
    pub fn add_bead(&mut self, node: usize) {
        self.beads.push(Bead {
            node,
            first: self.knots.len(),
            count: 0,
            own: self.own.len(),
        });
    }

    /// Adds a contact to the last link.
    pub fn add_knot(&mut self, knot: Knot) {
        if let Some(bead) = self.beads.last_mut() {
            bead.count += 1;
            self.own.resize(bead.own + 9 * bead.count * bead.count, 0.0);
            self.lambda.extend([0.0; 3]);
            self.free.extend([0.0; 3]);
            self.knots.push(knot);
        }
    }

    /// Part of S of the last link, row-major, of order three times its contacts.
    pub fn own_mut(&mut self) -> &mut [f64] {
        let start = self.beads.last().map_or(0, |bead| bead.own);
        &mut self.own[start..]
    }

    /// The first guess of a contact, and the slip that all guesses together cause.
    pub fn start(&mut self, contact: usize, slip: Triple, lambda: Triple) {
        self.free[3 * contact..3 * contact + 3].copy_from_slice(&slip);
        self.lambda[3 * contact..3 * contact + 3].copy_from_slice(&lambda);
    }

    /// The answer, three numbers a contact.
    pub fn lambda(&self) -> &[f64] {
        &self.lambda
    }

    /// Solves to a relative violation. `rest` writes R times its first argument to the second.
    /// Counts steps as `newton` and products with R as `sweeps`.
    pub fn solve(
        &mut self,
        rest: &mut dyn FnMut(&[f64], &mut [f64]),
        tolerance: f64,
    ) -> ConeReport {
        let mut report = ConeReport {
            residual: f64::INFINITY,
            ..ConeReport::default()
        };
        if !self.begin(rest) {
            return report;
        }
        report.residual = self.judge();
        self.best.clone_from(&self.lambda);
        self.best_slip.clone_from(&self.slip);
        let (mut best, mut near) = (report.residual, NEAR);
        let mut entered = false;
        for _ in 0..STEPS {
            if report.residual <= near && report.residual > tolerance {
                near = NEARER * report.residual;
                let count = [&mut report.newton, &mut report.sweeps];
                report.residual = self.polish(report.residual, rest, tolerance, count);
            }
            if report.residual < best {
                best = report.residual;
                self.best.clone_from(&self.lambda);
                self.best_slip.clone_from(&self.slip);
            }
            if report.residual <= tolerance {
                break;
            }
            if !std::mem::replace(&mut entered, true) {
                self.enter(report.residual);
                self.find_slip(rest);
            }
            report.newton += 1;
            let reached = self.advance(rest, &mut report.sweeps);
            self.find_slip(rest);
            report.residual = self.judge();
            if !reached.is_some_and(|part| part >= STUCK) {
                break;
            }
        }
        report.residual = best;
        self.lambda.clone_from(&self.best);
        self.slip.clone_from(&self.best_slip);
        self.let_go();
        report
    }

    /// Makes room, factors the chain, and finds the slip without λ from that of the first guess.
    fn begin(&mut self, rest: &mut dyn FnMut(&[f64], &mut [f64])) -> bool {
        let rows = self.lambda.len();
        for vector in [&mut self.slip, &mut self.moved] {
            vector.clear();
            vector.resize(rows, 0.0);
        }
        self.nodes.clear();
        self.nodes.resize(3 * (self.line.len() + 1), 0.0);
        if !self.line.factor() {
            return false;
        }
        // So far `free` is the whole slip.
        self.find_slip(rest);
        for (b, u) in self.free.iter_mut().zip(&mut self.slip) {
            let whole = *b;
            *b -= *u - whole;
            *u = whole;
        }
        true
    }

    /// u = D λ + b.
    fn find_slip(&mut self, rest: &mut dyn FnMut(&[f64], &mut [f64])) {
        rest(&self.lambda, &mut self.slip);
        self.nodes.fill(0.0);
        for bead in &self.beads {
            for k in bead.first..bead.first + bead.count {
                let l = triple(&self.lambda, k);
                add_to_nodes(&mut self.nodes, bead.node, &self.knots[k].reach, &l);
            }
        }
        self.line.solve(&mut self.nodes[..3 * self.line.len()]);
        for bead in &self.beads {
            let size = 3 * bead.count;
            let lambda = &self.lambda[3 * bead.first..][..size];
            for k in 0..bead.count {
                let knot = &self.knots[bead.first + k];
                let answer = at_nodes(&self.nodes, bead.node, &knot.reach);
                for i in 0..3 {
                    let own = &self.own[bead.own + (3 * k + i) * size..][..size];
                    let alone: f64 = own.iter().zip(lambda).map(|(s, l)| s * l).sum();
                    let row = 3 * (bead.first + k) + i;
                    self.slip[row] += self.free[row] + alone - answer[i];
                }
            }
        }
    }

    /// Largest violation of the law, relative to the largest λ.
    fn judge(&self) -> f64 {
        let (mut worst, mut largest) = (0.0f64, 0.0f64);
        for (k, knot) in self.knots.iter().enumerate() {
            let (l, u) = (triple(&self.lambda, k), triple(&self.slip, k));
            let off = violation(&l, &u, knot.mu, knot.compliance);
            if !(off <= worst) {
                worst = off;
            }
            largest = l.iter().fold(largest, |m, x| m.max(x.abs()));
        }
        match worst == 0.0 {
            true => 0.0,
            false => worst / largest.max(worst),
        }
    }
}

/// Adds Bᵀ λ of a contact to the nodes; there is room for one behind the last.
#[inline(always)]
fn add_to_nodes(nodes: &mut [f64], node: usize, reach: &[Block; 2], lambda: &Triple) {
    for (k, reach) in reach.iter().enumerate() {
        let part = times_transposed(reach, lambda);
        for i in 0..3 {
            nodes[3 * (node + k) + i] += part[i];
        }
    }
}

/// B ν of a contact.
#[inline(always)]
fn at_nodes(nodes: &[f64], node: usize, reach: &[Block; 2]) -> Triple {
    let [a, b] = [0, 1].map(|k| times(&reach[k], &triple(nodes, node + k)));
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}
