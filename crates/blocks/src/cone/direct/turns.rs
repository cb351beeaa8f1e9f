//! Turns between one linear solve with all contacts and the cones, for heaps of bodies.
//!
//! Where thousands of contacts lean on each other, forces have to travel far before the last corner
//! has let go that must, and a step of Newton's method takes them no farther than to the next few
//! that do. Turns go on without knowing who touches: with a part s of what a contact answers to
//! itself, R = s W,
//!
//! ```text
//! z = Π(t),   (D + R) λ = R (2 z − t) − b − μ|u_t| n,   t ← t + a (λ − z)
//! ```
//!
//! with the projection Π onto the cone, and `u + μ|u_t| n = R (2 z − t − λ)` (Douglas and Rachford
//! 1956; for contacts Tasora et al. 2021). Where t stays, z meets the law. D + R is the same in all
//! turns, so that a turn takes a twentieth of the time of a step. A small s takes forces far, a large
//! one settles those that are near, so that both are taken by turns.
//!
//! Where contacts jam, t drifts along a way on which D answers nothing, by as much in every turn, until
//! one of them lets go. Then the way gets shorter from turn to turn, and steps settle the rest sooner than
//! turns would.

use super::super::block::IDENTITY;
use super::super::dense::{ConeReport, triple};
use super::super::project;
use super::{Direct, Response};

/// Turns between two looks at the violation.
const LOOK: usize = 10;
/// a: the way that a turn goes, beyond one.
const BEYOND: f64 = 1.7;
/// Part of the longest way between two looks below which t does not drift any more.
const SETTLED: f64 = 0.3;
/// No refinement of a linear solve: its error is that of a turn.
const ROUGH: f64 = 1.0;

/// Memory of the turns.
#[derive(Clone, Debug, Default)]
pub(super) struct Turns {
    /// t, and μ|u_t| of each contact.
    tried: Vec<f64>,
    lifts: Vec<f64>,
    forces: Vec<f64>,
    /// t at the last look, and the longest way between two.
    seen: Vec<f64>,
    longest: f64,
}

impl Turns {
    /// Looks how far t has come; says whether it is still on a long way.
    fn drifts(&mut self) -> bool {
        let square = |(now, before): (&f64, &f64)| (now - before) * (now - before);
        let way: f64 = self.tried.iter().zip(&self.seen).map(square).sum();
        self.longest = self.longest.max(way);
        self.seen.clone_from(&self.tried);
        way > SETTLED * SETTLED * self.longest
    }
}

impl Direct {
    /// Takes at most so many turns with one s, and ends where these lead: what comes next may find the law
    /// from there though others on the way were nearer. Counts turns as `sweeps`.
    pub fn turn_with(
        &mut self,
        d: &mut dyn Response,
        tolerance: f64,
        (softness, most): (f64, usize),
    ) -> ConeReport {
        self.begin(d);
        let mut report = ConeReport {
            residual: self.judge(),
            ..ConeReport::default()
        };
        self.keep_best();
        if report.residual > tolerance && most > 0 {
            self.turn(d, softness, most, tolerance, &mut report);
        }
        if report.residual <= tolerance || !self.judge().is_finite() {
            self.take_best();
        }
        self.let_go();
        self.stay(d);
        report.residual = self.judge();
        report
    }

    /// Lets what is solved next start from the present forces.
    pub fn stay(&mut self, d: &mut dyn Response) {
        self.find_slip(d);
        self.free.clone_from(&self.slip);
    }

    /// Takes so many turns with one s.
    fn turn(
        &mut self,
        d: &mut dyn Response,
        softness: f64,
        most: usize,
        tolerance: f64,
        report: &mut ConeReport,
    ) {
        self.softs.clear();
        let own = |compliance: f64| IDENTITY.map(|x| softness * compliance * x);
        self.softs
            .extend(self.marks.iter().map(|m| own(m.compliance)));
        self.slopes.clear();
        self.slopes.resize(self.marks.len(), IDENTITY);
        if !d.prepare(&self.softs, &self.slopes) {
            return;
        }
        let mut turns = std::mem::take(&mut self.turns);
        self.enter_turns(softness, &mut turns);
        for count in 1..=most {
            report.sweeps += 1;
            self.aim_turn(softness, &mut turns);
            if d.respond(&self.slopes, &mut turns.forces, ROUGH).is_none() {
                break;
            }
            self.end_turn(softness, &mut turns);
            if count % LOOK != 0 && count < most {
                continue;
            }
            for (k, mark) in self.marks.iter().enumerate() {
                let l = project(&triple(&turns.tried, k), mark.mu);
                self.lambda[3 * k..3 * k + 3].copy_from_slice(&l);
            }
            self.find_slip(d);
            let left = self.judge();
            if left < report.residual {
                report.residual = left;
                self.keep_best();
            }
            if !(left > tolerance) || !turns.drifts() {
                break;
            }
        }
        self.turns = turns;
    }

    /// t and μ|u_t| of the present forces.
    fn enter_turns(&self, softness: f64, turns: &mut Turns) {
        turns.tried.clear();
        turns.lifts.clear();
        turns.longest = 0.0;
        for (k, mark) in self.marks.iter().enumerate() {
            let (l, u) = (triple(&self.lambda, k), triple(&self.slip, k));
            let rate = 1.0 / (softness * mark.compliance);
            let lift = mark.mu * (u[1] * u[1] + u[2] * u[2]).sqrt();
            turns.tried.extend([
                l[0] - rate * (u[0] + lift),
                l[1] - rate * u[1],
                l[2] - rate * u[2],
            ]);
            turns.lifts.push(lift);
        }
        turns.seen.clone_from(&turns.tried);
    }

    /// What the forces of a turn are solved from.
    fn aim_turn(&self, softness: f64, turns: &mut Turns) {
        turns.forces.clear();
        for (k, mark) in self.marks.iter().enumerate() {
            let (t, b) = (triple(&turns.tried, k), triple(&self.free, k));
            let (z, own) = (project(&t, mark.mu), softness * mark.compliance);
            turns.forces.extend([
                own * (2.0 * z[0] - t[0]) - b[0] - turns.lifts[k],
                own * (2.0 * z[1] - t[1]) - b[1],
                own * (2.0 * z[2] - t[2]) - b[2],
            ]);
        }
    }

    /// t and μ|u_t| after the forces of a turn.
    fn end_turn(&self, softness: f64, turns: &mut Turns) {
        for (k, mark) in self.marks.iter().enumerate() {
            let (l, t) = (triple(&turns.forces, k), triple(&turns.tried, k));
            let (z, own) = (project(&t, mark.mu), softness * mark.compliance);
            let slip = |i: usize| own * (2.0 * z[i] - t[i] - l[i]);
            turns.lifts[k] = mark.mu * (slip(1) * slip(1) + slip(2) * slip(2)).sqrt();
            for i in 0..3 {
                turns.tried[3 * k + i] += BEYOND * (l[i] - z[i]);
            }
        }
    }
}
