//! Contacts between nets, small mechanisms and loose bodies: all of them at once.
//!
//! A contact at a link of a net feels the net through the unknowns ν at its link (`netted.rs`), and the
//! motion q of what touches it there, which is an unknown itself:
//!
//! ```text
//! u = S λ − B x,   M x = Bᵀ λ
//! ```
//!
//! with x the unknowns ν of the net, q of bodies, and the forces of joints between these; S what links
//! of the net do alone, a dense block for each; and M sparse and symmetric. A contact of two bodies of
//! which none is a link has no S. In a step towards Coulomb's law, `Y δ + Z D δ = r`, contacts are
//! eliminated link by link with N = (Y + Z S)⁻¹,
//!
//! ```text
//! (M − Bᵀ N Z B) x = Bᵀ N r,   δ = N (Z B x + r),   D δ = S δ − B x
//! ```
//!
//! The factors of this (`woven/fronts.rs`) cost as much as ten solves with them or more, and few contacts
//! change between apart, sticking and sliding from one step to the next. So the next steps are solved with
//! the same factors, as a preconditioner (`woven/krylov.rs`). It is exact but for the contacts that have
//! changed, and D δ comes with it at no cost.
//!
//! Where contacts jam, steps go round in circles between them. Then turns with one factor
//! (`direct/turns.rs`) come near enough to the law for the next steps to meet it.

mod fronts;
mod krylov;
mod linear;
mod order;
#[cfg(test)]
mod tests;

use super::Triple;
use super::block::Block;
use super::dense::ConeReport;
use super::direct::{Direct, Mark, Response};
use fronts::{Fronts, Spot};
use krylov::Krylov;

/// Steps at most.
const STEPS: usize = 20;
/// s and turns at most of each round where steps lead nowhere (`direct/turns.rs`), and the violation with
/// which none is made, in units of what is tolerated.
const ROUNDS: [(f64, usize); 5] = [
    (0.02, 100),
    (0.01, 200),
    (0.05, 200),
    (0.01, 400),
    (0.003, 400),
];
const ENOUGH: f64 = 2.0;
/// What is added to the diagonal of Y: links with several contacts share forces in many ways, and less
/// would let these wander.
const SHIFT: f64 = 3e-5;
/// Contacts at most that may have changed since the factors were made for these to be tried.
const FEW: usize = 30;

/// Contacts that share a link of a net, or one of two bodies.
#[derive(Clone, Copy, Debug)]
struct Bead {
    /// Its contacts, one after the other, and where its part of S starts.
    first: usize,
    count: usize,
    own: usize,
    /// Where its ties start, how many it has, and their columns together.
    ties: usize,
    sides: usize,
    width: usize,
    /// Where its part of B starts, and the places of blocks of its ties.
    reaches: usize,
    spots: usize,
    /// Where those of its contacts start that push, and how many these are; and where N starts.
    pushing: usize,
    active: usize,
    solved: usize,
}

/// Columns of a node that a bead is tied to: its first ones.
#[derive(Clone, Copy, Debug)]
pub struct Tie {
    /// The node.
    pub node: u32,
    /// How many.
    pub columns: u32,
}

/// A problem, and the memory to solve it, kept for reuse.
#[derive(Clone, Debug, Default)]
pub struct Woven {
    widths: Vec<u32>,
    couplings: Vec<[u32; 2]>,
    fronts: Fronts,
    beads: Vec<Bead>,
    ties: Vec<Tie>,
    spots: Vec<Spot>,
    /// B, contact by contact, three rows each.
    reaches: Vec<f64>,
    /// S, dense for each bead.
    own: Vec<f64>,
    law: Direct,
    /// Y and Z of the present step, and of the one that is factored.
    softs: Vec<Block>,
    old: [Vec<Block>; 2],
    /// Contacts that push, counted in their bead; N of each bead for these, and N Z B as B.
    pushing: Vec<u32>,
    alone: Vec<Block>,
    solved: Vec<f64>,
    gains: Vec<f64>,
    nodes: Vec<f64>,
    moved: Vec<f64>,
    pulled: Vec<f64>,
    swaps: Vec<usize>,
    krylov: Krylov,
    state: Ready,
}

/// What is ready.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Ready {
    #[default]
    Nothing,
    /// What contacts do not change is factored.
    Met,
    /// All is factored, for the step before or this one.
    Before,
    Now,
}

impl Woven {
    /// Forgets everything.
    pub fn clear(&mut self) {
        self.widths.clear();
        self.couplings.clear();
        self.beads.clear();
        self.ties.clear();
        self.reaches.clear();
        self.own.clear();
        self.law.clear();
        self.state = Ready::Nothing;
    }

    /// Adds a node with so many rows.
    pub fn add_node(&mut self, rows: usize) -> u32 {
        self.widths.push(rows as u32);
        self.widths.len() as u32 - 1
    }

    /// Says that two nodes are coupled in M.
    pub fn couple(&mut self, a: u32, b: u32) {
        self.couplings.push([a, b]);
    }

    /// Adds a link, or a pair of bodies, that is tied to some nodes. Its contacts follow.
    pub fn add_bead(&mut self, ties: &[Tie]) {
        self.beads.push(Bead {
            first: self.law.marks().len(),
            count: 0,
            own: self.own.len(),
            ties: self.ties.len(),
            sides: ties.len(),
            width: ties.iter().map(|tie| tie.columns as usize).sum(),
            reaches: self.reaches.len(),
            spots: 0,
            pushing: 0,
            active: 0,
            solved: 0,
        });
        self.ties.extend_from_slice(ties);
        for (k, a) in ties.iter().enumerate() {
            let others = ties[k + 1..].iter();
            self.couplings.extend(others.map(|b| [a.node, b.node]));
        }
    }

    /// Adds a contact to the last bead, and returns its three rows of B, one after the other, with a
    /// number for each column of each tie.
    pub fn add_contact(&mut self, mark: Mark) -> &mut [f64] {
        let start = self.reaches.len();
        if let Some(bead) = self.beads.last_mut() {
            bead.count += 1;
            self.own.resize(bead.own + 9 * bead.count * bead.count, 0.0);
            self.reaches.resize(start + 3 * bead.width, 0.0);
            self.law.add(mark);
        }
        &mut self.reaches[start..]
    }

    /// Part of S of the last bead, row-major, of order three times its contacts.
    pub fn own_mut(&mut self) -> &mut [f64] {
        let start = self.beads.last().map_or(0, |bead| bead.own);
        &mut self.own[start..]
    }

    /// Plans the elimination of all nodes, sets M to zero. Returns the products of numbers that a
    /// factorization takes.
    pub fn plan(&mut self) -> f64 {
        let work = self.fronts.plan(&self.widths, &self.couplings);
        self.spots.clear();
        for bead in &mut self.beads {
            bead.spots = self.spots.len();
            let ties = &self.ties[bead.ties..][..bead.sides];
            for a in ties {
                let with = ties.iter().map(|b| self.fronts.spot(a.node, b.node));
                self.spots.extend(with);
            }
        }
        self.nodes.clear();
        self.nodes.resize(self.fronts.len(), 0.0);
        work
    }

    /// Adds numbers, row-major, to the block of two nodes of M, from a row and a column of it on.
    pub fn add(
        &mut self,
        nodes: [u32; 2],
        [row, column]: [usize; 2],
        columns: usize,
        block: &[f64],
    ) {
        let spot = self.fronts.spot(nodes[0], nodes[1]);
        for (i, line) in block.chunks_exact(columns).enumerate() {
            for (j, value) in line.iter().enumerate() {
                self.fronts.add(spot, row + i, column + j, *value);
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

    /// Solves to a relative violation. `product` writes D times its first argument to the second. Counts
    /// steps and turns as `newton`, and solves with factors as `sweeps`.
    pub fn solve(
        &mut self,
        product: &mut dyn FnMut(&[f64], &mut [f64]),
        tolerance: f64,
    ) -> ConeReport {
        let mut report = self.search(product, tolerance);
        for round in ROUNDS {
            if report.residual <= ENOUGH * tolerance || !report.residual.is_finite() {
                break;
            }
            report.follow(&self.take_turns(product, tolerance, round));
            report.follow(&self.search(product, tolerance));
        }
        report
    }

    /// Takes steps of Newton's method. What is solved next starts from where they lead.
    fn search(
        &mut self,
        product: &mut dyn FnMut(&[f64], &mut [f64]),
        tolerance: f64,
    ) -> ConeReport {
        self.with(product, false, |law, woven| {
            let report = law.search(woven, tolerance, STEPS);
            law.stay(woven);
            report
        })
    }

    /// Takes at most so many turns with one s. What is solved next starts from where they lead.
    fn take_turns(
        &mut self,
        product: &mut dyn FnMut(&[f64], &mut [f64]),
        tolerance: f64,
        round: (f64, usize),
    ) -> ConeReport {
        self.with(product, true, |law, woven| {
            law.turn_with(woven, tolerance, round)
        })
    }

    /// Solves with the law in hand.
    fn with(
        &mut self,
        product: &mut dyn FnMut(&[f64], &mut [f64]),
        anew: bool,
        solve: impl FnOnce(&mut Direct, &mut Bound<'_>) -> ConeReport,
    ) -> ConeReport {
        if self.state == Ready::Nothing {
            let touched = self.ties.iter().map(|tie| tie.node);
            if !self.fronts.meet(touched) {
                return ConeReport {
                    residual: f64::INFINITY,
                    ..ConeReport::default()
                };
            }
            self.state = Ready::Met;
        }
        let mut law = std::mem::take(&mut self.law);
        let mut woven = Bound {
            problem: self,
            product,
            anew,
        };
        let report = solve(&mut law, &mut woven);
        self.law = law;
        report
    }

    /// Contacts that do not do what they did in the step that is factored.
    fn changed(&self, slopes: &[Block]) -> usize {
        let differs = |(a, b): (&Block, &Block)| {
            let off: f64 = a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum();
            let size: f64 = a.iter().chain(b).map(|x| x * x).sum();
            off > 0.1 * size
        };
        slopes
            .iter()
            .zip(&self.old[1])
            .filter(|pair| differs(*pair))
            .count()
    }

    /// Makes the present step the one that is factored.
    fn refactor(&mut self, slopes: &[Block]) -> bool {
        let softs = std::mem::take(&mut self.softs);
        let factored = self.load(&softs, slopes);
        self.old[0].clone_from(&softs);
        self.old[1].clear();
        self.old[1].extend_from_slice(slopes);
        self.softs = softs;
        self.state = if factored { Ready::Now } else { Ready::Met };
        factored
    }
}

/// A problem with its products.
struct Bound<'a> {
    problem: &'a mut Woven,
    product: &'a mut dyn FnMut(&[f64], &mut [f64]),
    /// Whether every system is factored.
    anew: bool,
}

impl Response for Bound<'_> {
    fn product(&mut self, x: &[f64], y: &mut [f64]) {
        (self.product)(x, y);
    }

    fn prepare(&mut self, softs: &[Block], slopes: &[Block]) -> bool {
        let problem = &mut *self.problem;
        problem.softs.clear();
        problem.softs.extend_from_slice(softs);
        if !self.anew && matches!(problem.state, Ready::Before | Ready::Now) {
            problem.state = Ready::Before;
            return true;
        }
        problem.refactor(slopes)
    }

    fn shift(&self) -> f64 {
        SHIFT
    }

    fn respond(&mut self, slopes: &[Block], r: &mut [f64], _: f64) -> Option<usize> {
        let problem = &mut *self.problem;
        let (mut solves, mut solved) = (1, false);
        if problem.state == Ready::Before && problem.changed(slopes) <= FEW {
            let (count, found) = problem.iterate(slopes, r);
            (solves, solved) = (solves + count, found);
        }
        if !solved {
            if problem.state == Ready::Before && !problem.refactor(slopes) {
                return None;
            }
            problem.solve_linear(r);
        }
        r.iter().all(|x| x.is_finite()).then_some(solves)
    }
}

/// Adds Bᵀ λ of a contact to the nodes.
#[inline(always)]
fn add_to_nodes(nodes: &mut [f64], fronts: &Fronts, ties: &[Tie], reach: &[f64], lambda: &Triple) {
    let width = reach.len() / 3;
    let mut column = 0;
    for tie in ties {
        let (at, count) = (fronts.row(tie.node), tie.columns as usize);
        for (k, x) in nodes[at..at + count].iter_mut().enumerate() {
            let c = column + k;
            *x += reach[c] * lambda[0]
                + reach[width + c] * lambda[1]
                + reach[2 * width + c] * lambda[2];
        }
        column += count;
    }
}

/// B x of a contact.
#[inline(always)]
fn at_nodes(nodes: &[f64], fronts: &Fronts, ties: &[Tie], reach: &[f64]) -> Triple {
    let width = reach.len() / 3;
    let (mut sum, mut column) = ([0.0; 3], 0);
    for tie in ties {
        let (at, count) = (fronts.row(tie.node), tie.columns as usize);
        for (i, sum) in sum.iter_mut().enumerate() {
            let row = &reach[i * width + column..][..count];
            *sum += row
                .iter()
                .zip(&nodes[at..])
                .map(|(b, x)| b * x)
                .sum::<f64>();
        }
        column += count;
    }
    sum
}
