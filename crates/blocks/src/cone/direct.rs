//! Coulomb's law by few steps that each solve a linear system with all contacts.
//!
//! Steps towards the law, whether through the inside of the cones (`direct/inner.rs`) or of Newton's
//! method on the law itself (`direct/polish.rs`), solve
//!
//! ```text
//! Y δ + Z D δ = r
//! ```
//!
//! with blocks Y and Z of three by three. How that is done depends on what D is made of, and is left
//! to a [`Response`]: a chain (`strung.rs`), a net (`netted.rs`), bodies (`linked.rs`), a net with
//! bodies on it (`woven.rs`) or a full matrix (`dense.rs`). The inner way comes near the law from
//! anywhere in about ten steps, but then meets it slowly; Newton's method wanders far from it and meets
//! it in two or three. From a good guess it mostly finds the law by itself (`direct/guess.rs`), or where
//! its steps are shortened (`direct/search.rs`). Where contacts jam, rounds of softer laws lead there
//! (`direct/multipliers.rs`), and in heaps many turns with one system (`direct/turns.rs`).

mod guess;
mod inner;
mod look;
mod multipliers;
mod polish;
mod search;
mod turns;

use super::Triple;
use super::block::Block;
use super::dense::{ConeReport, triple};
use super::interior::{Pair, Scaling};
use look::{Look, Piece};
use multipliers::Round;
use turns::Turns;

/// Steps through the inside at most.
const STEPS: usize = 50;
/// Part of a step with which nothing is gained.
const STUCK: f64 = 1e-3;
/// Steps in a row that may fail to halve the violation where it is below what rounding may leave.
const PATIENCE: usize = 5;
const ROUNDED: f64 = 1e-7;
/// Violation below which Newton's method is tried in any case where the inner way ends before the law.
const LAST: f64 = 3e-3;
/// How far inside the cones steps start at least, in units of the mean force: as far as the guess is
/// wrong, or this; and where that led nowhere.
const INSIDE: f64 = 1e-4;
const FARTHER: f64 = 0.3;
/// Violation with which nothing is started again.
const ENOUGH: f64 = 1e-6;
/// Steps of Newton's method at most from a guess: from the first one, and from where the inner way leads.
const GUESSED: [usize; 2] = [24, 8];
/// What must be left of a violation at which Newton's method failed before it is tried again.
const NEARER: f64 = 0.1;

/// What D does, and how systems with it are solved.
pub trait Response {
    /// Writes D x to y.
    fn product(&mut self, x: &[f64], y: &mut [f64]);

    /// Makes `(Y + Z D) δ = r` ready to be solved, with Y (`softs`) and Z (`slopes`) of each
    /// contact. False if it is singular.
    fn prepare(&mut self, softs: &[Block], slopes: &[Block]) -> bool;

    /// What Newton's method adds to the diagonal of Y, relative: contacts that lean on each other
    /// share a force in many ways.
    fn shift(&self) -> f64 {
        1e-9
    }

    /// Violation below which Newton's method is tried: where the answer to a common push is small
    /// against that to a single one, forces are still far off at a small violation.
    fn near(&self) -> f64 {
        3e-3
    }

    /// Whether Newton's method starts from the first guess before anything else is tried.
    fn trusts_guess(&self) -> bool {
        false
    }

    /// Overwrites r by δ, to a relative residual, or as well as one solve does it if that is one.
    /// Returns the products that it took, or nothing if δ
    /// is not finite. The slopes are those of the last `prepare`.
    fn respond(&mut self, slopes: &[Block], r: &mut [f64], tolerance: f64) -> Option<usize>;

    /// Writes D δ to y, of the δ that the last `respond` found. Some know it to rounding without a product.
    fn answer(&mut self, delta: &[f64], y: &mut [f64]) {
        self.product(delta, y);
    }
}

/// What is known of one contact beside D.
#[derive(Clone, Copy, Debug)]
pub struct Mark {
    /// Coefficient of friction.
    pub mu: f64,
    /// Trace of what the contact answers to itself, about.
    pub compliance: f64,
}

/// Contacts on their way to the law, and the memory for that, kept for reuse.
#[derive(Clone, Debug, Default)]
pub struct Direct {
    marks: Vec<Mark>,
    /// Slip without λ.
    free: Vec<f64>,
    lambda: Vec<f64>,
    slip: Vec<f64>,
    best: Vec<f64>,
    best_slip: Vec<f64>,
    before: [Vec<f64>; 2],
    /// Of each contact: what was last seen of it, and what it did before.
    looks: Vec<Look>,
    pieces: Vec<Piece>,
    round: Round,
    turns: Turns,
    /// Of each contact: the pair, its scaling, what a step aims at, and the step that is tried.
    pairs: Vec<Pair>,
    scalings: Vec<Scaling>,
    aims: Vec<Triple>,
    tried: Vec<Pair>,
    /// Y, Z and r of each contact.
    softs: Vec<Block>,
    slopes: Vec<Block>,
    rhs: Vec<f64>,
}

impl Direct {
    /// Forgets all contacts.
    pub fn clear(&mut self) {
        self.marks.clear();
        self.lambda.clear();
        self.free.clear();
    }

    /// Adds a contact.
    pub fn add(&mut self, mark: Mark) {
        self.marks.push(mark);
        self.lambda.extend([0.0; 3]);
        self.free.extend([0.0; 3]);
    }

    /// The contacts.
    pub fn marks(&self) -> &[Mark] {
        &self.marks
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

    /// Makes the answer the first guess of another solve.
    pub(super) fn start_again(&mut self, d: &mut dyn Response) {
        self.find_slip(d);
        self.free.clone_from(&self.slip);
    }

    /// Solves to a relative violation. Counts steps as `newton` and products as `sweeps`.
    pub fn solve(&mut self, d: &mut dyn Response, tolerance: f64) -> ConeReport {
        self.begin(d);
        let mut report = ConeReport {
            residual: self.judge(),
            ..ConeReport::default()
        };
        if d.trusts_guess() && report.residual > tolerance {
            let count = [&mut report.newton, &mut report.sweeps];
            report.residual = self.follow_guess(report.residual, d, tolerance, GUESSED[0], count);
        }
        // So near the boundary a guess may be at the wrong part of it: then once more from far inside.
        let near = d.near().min(INSIDE);
        let again = (near < INSIDE).then_some(FARTHER);
        for depth in std::iter::once(near).chain(again) {
            if report.residual <= tolerance {
                break;
            }
            self.approach(d, tolerance, depth, &mut report);
            if report.residual <= tolerance.max(ENOUGH) {
                break;
            }
        }
        self.let_go();
        report
    }

    /// Comes as near to the law as steps lead that start at least so far inside the cones.
    fn approach(
        &mut self,
        d: &mut dyn Response,
        tolerance: f64,
        depth: f64,
        report: &mut ConeReport,
    ) {
        self.best.clone_from(&self.lambda);
        self.best_slip.clone_from(&self.slip);
        let (mut best, mut near) = (report.residual, d.near());
        let (mut entered, mut aim, mut patience) = (false, 0.5 * best, PATIENCE);
        for _ in 0..STEPS {
            if report.residual <= near && report.residual > tolerance {
                near = NEARER * report.residual;
                let count = [&mut report.newton, &mut report.sweeps];
                report.residual = self.meet(report.residual, d, tolerance, count);
            }
            if report.residual < best {
                best = report.residual;
                self.best.clone_from(&self.lambda);
                self.best_slip.clone_from(&self.slip);
            }
            patience = if best <= aim { PATIENCE } else { patience - 1 };
            aim = aim.min(0.5 * best);
            if report.residual <= tolerance || (patience == 0 && best <= ROUNDED) {
                break;
            }
            patience = patience.max(1);
            if !std::mem::replace(&mut entered, true) {
                self.enter(report.residual.max(depth));
                self.find_slip(d);
            }
            report.newton += 1;
            let reached = self.advance(d, &mut report.sweeps);
            self.find_slip(d);
            report.residual = self.judge();
            if !reached.is_some_and(|part| part >= STUCK) {
                break;
            }
        }
        self.lambda.clone_from(&self.best);
        self.slip.clone_from(&self.best_slip);
        if best > tolerance.max(ROUNDED) && best <= LAST {
            let count = [&mut report.newton, &mut report.sweeps];
            best = self.meet(best, d, tolerance, count);
        }
        report.residual = best;
    }

    /// Meets the law by Newton's method from where it is nearly met. Returns what is left.
    fn meet(
        &mut self,
        residual: f64,
        d: &mut dyn Response,
        tolerance: f64,
        count: [&mut usize; 2],
    ) -> f64 {
        self.judge();
        match d.trusts_guess() {
            true => self.follow_guess(residual, d, tolerance, GUESSED[1], count),
            false => self.polish(residual, d, tolerance, count),
        }
    }

    /// Finds the slip without λ from that of the first guess.
    fn begin(&mut self, d: &mut dyn Response) {
        self.slip.clear();
        self.slip.resize(self.lambda.len(), 0.0);
        d.product(&self.lambda, &mut self.slip);
        // So far `free` is the whole slip.
        for (b, u) in self.free.iter_mut().zip(&mut self.slip) {
            let whole = *b;
            *b -= *u;
            *u = whole;
        }
    }

    /// u = D λ + b.
    fn find_slip(&mut self, d: &mut dyn Response) {
        d.product(&self.lambda, &mut self.slip);
        for (u, b) in self.slip.iter_mut().zip(&self.free) {
            *u += b;
        }
    }

    /// u after the last step: it grows by D δ.
    fn move_slip(&mut self, d: &mut dyn Response) {
        let answer = &mut self.round.answer;
        answer.clear();
        answer.resize(self.rhs.len(), 0.0);
        d.answer(&self.rhs, answer);
        for (u, more) in self.slip.iter_mut().zip(answer) {
            *u += *more;
        }
    }

    /// Looks at every contact. Returns the largest violation of the law, relative to the largest λ.
    fn judge(&mut self) -> f64 {
        let (mut worst, mut largest) = (0.0f64, 0.0f64);
        self.looks.clear();
        for (k, mark) in self.marks.iter().enumerate() {
            let (l, u) = (triple(&self.lambda, k), triple(&self.slip, k));
            let look = mark.look(&l, &u);
            let off = look.violation(&l);
            if !(off <= worst) {
                worst = off;
            }
            largest = l.iter().fold(largest, |m, x| m.max(x.abs()));
            self.looks.push(look);
        }
        match worst == 0.0 {
            true => 0.0,
            false => worst / largest.max(worst),
        }
    }
}
