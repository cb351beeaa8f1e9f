//! Contacts on a net: all of them at once.
//!
//! A contact at a link of a net feels the net only through the unknowns at its link, as on a chain
//! (`strung.rs`):
//!
//! ```text
//! D = S − B A⁻¹ Bᵀ
//! ```
//!
//! with S the links alone, block diagonal; A the net, sparse; and B with a block for each unknown at
//! the link. These are coupled with each other in A already. So contacts are eliminated link by link
//! with N = (Y + Z S)⁻¹, which leaves the net with other blocks in the same places (`mesh.rs`),
//!
//! ```text
//! (A − Bᵀ N Z B) ν = Bᵀ N r,   δ = N (Z B ν + r)
//! ```

mod linear;
#[cfg(test)]
mod tests;

use super::Triple;
use super::block::{Block, times, times_transposed};
use super::dense::{ConeReport, triple};
use super::direct::{Direct, Mark, Response};
use super::mesh::Mesh;

/// A link with its contacts.
#[derive(Clone, Copy, Debug)]
struct Bead {
    /// Its contacts, one after the other, and where its part of S starts.
    first: usize,
    count: usize,
    own: usize,
    /// Where its ties start, how many it has, and where its part of B starts.
    ties: usize,
    sides: usize,
    reaches: usize,
    /// Where the couplings of its ties start.
    pairs: usize,
    /// Where those of its contacts start that push, and how many these are.
    pushing: usize,
    active: usize,
}

/// A problem, and the memory to solve it, kept for reuse.
#[derive(Clone, Debug)]
pub struct Netted {
    /// The net.
    pub mesh: Mesh,
    beads: Vec<Bead>,
    /// Places of the nodes that each bead is tied to, and the coupling of each with every later one.
    ties: Vec<u32>,
    pairs: Vec<(u32, bool)>,
    /// B, contact by contact.
    reaches: Vec<Block>,
    /// S, dense for each bead.
    own: Vec<f64>,
    law: Direct,
    /// Contacts that push, counted in their bead, and Y⁻¹ of those that are apart; N of each bead for
    /// the former, and N Z B as B.
    pushing: Vec<u32>,
    alone: Vec<Block>,
    solved: Vec<f64>,
    gains: Vec<Block>,
    nodes: Vec<f64>,
    moved: Vec<f64>,
    swaps: Vec<usize>,
    /// Whether the net is factored.
    factored: bool,
}

impl Netted {
    /// A net without contacts.
    pub fn new(mesh: Mesh) -> Netted {
        Netted {
            nodes: vec![0.0; 3 * mesh.len()],
            mesh,
            beads: Vec::new(),
            ties: Vec::new(),
            pairs: Vec::new(),
            reaches: Vec::new(),
            own: Vec::new(),
            law: Direct::default(),
            pushing: Vec::new(),
            alone: Vec::new(),
            solved: Vec::new(),
            gains: Vec::new(),
            moved: Vec::new(),
            swaps: Vec::new(),
            factored: false,
        }
    }

    /// Forgets the contacts; the net stays.
    pub fn clear(&mut self) {
        self.beads.clear();
        self.ties.clear();
        self.pairs.clear();
        self.reaches.clear();
        self.own.clear();
        self.law.clear();
        self.factored = false;
    }

    /// Adds a link that is tied to some nodes. Its contacts follow. False if the nodes are not coupled.
    pub fn add_bead(&mut self, nodes: &[u32]) -> bool {
        self.beads.push(Bead {
            first: self.law.marks().len(),
            count: 0,
            own: self.own.len(),
            ties: self.ties.len(),
            sides: nodes.len(),
            reaches: self.reaches.len(),
            pairs: self.pairs.len(),
            pushing: 0,
            active: 0,
        });
        for (k, &node) in nodes.iter().enumerate() {
            let place = self.mesh.place(node as usize);
            self.ties.push(place);
            for &other in &nodes[k + 1..] {
                let other = self.mesh.place(other as usize);
                let Some(coupling) = self.mesh.coupling(place, other) else {
                    return false;
                };
                self.pairs.push(coupling);
            }
        }
        true
    }

    /// Adds a contact to the last link. `reaches` says what the unknown of each node does to the slip,
    /// with the sign of B.
    pub fn add_contact(&mut self, mark: Mark, reaches: &[Block]) {
        if let Some(bead) = self.beads.last_mut() {
            bead.count += 1;
            self.own.resize(bead.own + 9 * bead.count * bead.count, 0.0);
            self.reaches.extend_from_slice(&reaches[..bead.sides]);
            self.law.add(mark);
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

    /// Solves to a relative violation. Counts steps as `newton`.
    pub fn solve(&mut self, tolerance: f64) -> ConeReport {
        if !self.factored && !self.mesh.meet(self.ties.iter().copied()) {
            return ConeReport {
                residual: f64::INFINITY,
                ..ConeReport::default()
            };
        }
        self.factored = true;
        let mut law = std::mem::take(&mut self.law);
        let report = law.solve(self, tolerance);
        self.law = law;
        report
    }

    /// Writes (S − B A⁻¹ Bᵀ) x to y.
    fn multiply(&mut self, x: &[f64], y: &mut [f64]) {
        self.mesh.clear(&mut self.nodes);
        for bead in &self.beads {
            let ties = &self.ties[bead.ties..][..bead.sides];
            for k in 0..bead.count {
                let reaches = &self.reaches[bead.reaches + k * bead.sides..];
                add_to_nodes(&mut self.nodes, ties, reaches, &triple(x, bead.first + k));
            }
        }
        self.mesh.solve(false, &mut self.nodes);
        for bead in &self.beads {
            let size = 3 * bead.count;
            let here = &x[3 * bead.first..][..size];
            let ties = &self.ties[bead.ties..][..bead.sides];
            for k in 0..bead.count {
                let reaches = &self.reaches[bead.reaches + k * bead.sides..];
                let answer = at_nodes(&self.nodes, ties, reaches);
                for i in 0..3 {
                    let own = &self.own[bead.own + (3 * k + i) * size..][..size];
                    let alone: f64 = own.iter().zip(here).map(|(s, l)| s * l).sum();
                    y[3 * (bead.first + k) + i] = alone - answer[i];
                }
            }
        }
    }
}

impl Response for Netted {
    fn product(&mut self, x: &[f64], y: &mut [f64]) {
        self.multiply(x, y);
    }

    fn prepare(&mut self, softs: &[Block], slopes: &[Block]) -> bool {
        self.load(softs, slopes)
    }

    /// Links with several contacts share forces in many ways: less would let these wander.
    fn shift(&self) -> f64 {
        3e-6
    }

    fn near(&self) -> f64 {
        1e-5
    }

    fn trusts_guess(&self) -> bool {
        true
    }

    fn respond(&mut self, slopes: &[Block], r: &mut [f64], _: f64) -> Option<usize> {
        self.solve_linear(slopes, r);
        r.iter().all(|x| x.is_finite()).then_some(0)
    }
}

/// Adds Bᵀ λ of a contact to the nodes.
#[inline(always)]
fn add_to_nodes(nodes: &mut [f64], ties: &[u32], reaches: &[Block], lambda: &Triple) {
    for (place, reach) in ties.iter().zip(reaches) {
        let part = times_transposed(reach, lambda);
        for (x, part) in nodes[3 * *place as usize..].iter_mut().zip(part) {
            *x += part;
        }
    }
}

/// B ν of a contact.
#[inline(always)]
fn at_nodes(nodes: &[f64], ties: &[u32], reaches: &[Block]) -> Triple {
    let mut sum = [0.0; 3];
    for (place, reach) in ties.iter().zip(reaches) {
        let part = times(reach, &triple(nodes, *place as usize));
        for (sum, part) in sum.iter_mut().zip(part) {
            *sum += part;
        }
    }
    sum
}
