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
//! belt runs over, of low rank. Steps towards Coulomb's law (`direct.rs`) solve `Y δ + Z D δ = r`.
//! With ν = A⁻¹Bᵀδ as a second unknown contacts are eliminated link by link with N = (Y + Z S)⁻¹,
//! which leaves the chain with other blocks in the same places,
//!
//! ```text
//! (A − Bᵀ N Z B) ν = Bᵀ N r,   δ = N (Z B ν + r)
//! ```
//!
//! and R is brought in by GMRES (`strung/linear.rs`). So a step costs little more than one product
//! with D, of which first order methods need hundreds, because a belt answers a common push a thousand
//! times less than that of a single link.

mod linear;
#[cfg(test)]
mod tests;

use super::Triple;
use super::block::{Block, times, times_transposed};
use super::dense::{ConeReport, triple};
use super::direct::{Direct, Mark, Response};
use super::krylov::Krylov;
use super::string::Line;

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
    reaches: Vec<[Block; 2]>,
    /// S, dense for each bead.
    own: Vec<f64>,
    law: Direct,
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
        self.reaches.clear();
        self.own.clear();
        self.law.clear();
    }

    /// Adds a link between the node and the next one, or at the node only. Its contacts follow.
    pub fn add_bead(&mut self, node: usize) {
        self.beads.push(Bead {
            node,
            first: self.reaches.len(),
            count: 0,
            own: self.own.len(),
        });
    }

    /// Adds a contact to the last link.
    pub fn add_knot(&mut self, knot: Knot) {
        if let Some(bead) = self.beads.last_mut() {
            bead.count += 1;
            self.own.resize(bead.own + 9 * bead.count * bead.count, 0.0);
            self.reaches.push(knot.reach);
            let Knot { mu, compliance, .. } = knot;
            self.law.add(Mark { mu, compliance });
        }
    }

    /// Part of S of the last link, row-major, of order three times its contacts.
    pub fn own_mut(&mut self) -> &mut [f64] {
        let start = self.beads.last().map_or(0, |bead| bead.own);
        &mut self.own[start..]
    }

    /// The first guess of a contact, and the slip that all guesses together cause.
    pub fn start(&mut self, contact: usize, slip: Triple, lambda: Triple) {
        self.law.start(contact, slip, lambda);
    }

    /// The answer, three numbers a contact.
    pub fn lambda(&self) -> &[f64] {
        self.law.lambda()
    }

    /// Solves to a relative violation. `rest` writes R times its first argument to the second.
    /// Counts steps as `newton` and products with R as `sweeps`.
    pub fn solve(
        &mut self,
        rest: &mut dyn FnMut(&[f64], &mut [f64]),
        tolerance: f64,
    ) -> ConeReport {
        self.moved.clear();
        self.moved.resize(3 * self.reaches.len(), 0.0);
        self.nodes.clear();
        self.nodes.resize(3 * (self.line.len() + 1), 0.0);
        if !self.line.factor() {
            return ConeReport {
                residual: f64::INFINITY,
                ..ConeReport::default()
            };
        }
        let mut law = std::mem::take(&mut self.law);
        let report = law.solve(&mut Whole { chain: self, rest }, tolerance);
        self.law = law;
        report
    }

    /// Adds (S − B A⁻¹ Bᵀ) x to y.
    fn add_product(&mut self, x: &[f64], y: &mut [f64]) {
        self.nodes.fill(0.0);
        for bead in &self.beads {
            for k in bead.first..bead.first + bead.count {
                add_to_nodes(&mut self.nodes, bead.node, &self.reaches[k], &triple(x, k));
            }
        }
        self.line.solve(&mut self.nodes[..3 * self.line.len()]);
        for bead in &self.beads {
            let size = 3 * bead.count;
            let here = &x[3 * bead.first..][..size];
            for k in 0..bead.count {
                let reach = &self.reaches[bead.first + k];
                let answer = at_nodes(&self.nodes, bead.node, reach);
                for i in 0..3 {
                    let own = &self.own[bead.own + (3 * k + i) * size..][..size];
                    let alone: f64 = own.iter().zip(here).map(|(s, l)| s * l).sum();
                    y[3 * (bead.first + k) + i] += alone - answer[i];
                }
            }
        }
    }
}

/// The chain with what else moves.
struct Whole<'a> {
    chain: &'a mut Strung,
    rest: &'a mut dyn FnMut(&[f64], &mut [f64]),
}

impl Response for Whole<'_> {
    fn product(&mut self, x: &[f64], y: &mut [f64]) {
        (self.rest)(x, y);
        self.chain.add_product(x, y);
    }

    fn prepare(&mut self, softs: &[Block], slopes: &[Block]) -> bool {
        self.chain.prepare(softs, slopes)
    }

    fn near(&self) -> f64 {
        1e-6
    }

    fn respond(&mut self, slopes: &[Block], r: &mut [f64], tolerance: f64) -> Option<usize> {
        self.chain.solve_linear(slopes, r, self.rest, tolerance)
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
