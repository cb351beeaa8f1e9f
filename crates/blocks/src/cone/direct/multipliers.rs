//! The method of multipliers: the law of Coulomb for contacts that jam and lean on each other.
//!
//! Every round solves a softer law: a contact gives way by a part s of what it answers to itself,
//! against the force λ₀ that the round starts from,
//!
//! ```text
//! λ = Π(λ₀ − (u + μ|u_t| n)/(s W)),   u = D λ + b
//! ```
//!
//! with the projection Π onto the cone. Forces that do nearly the same are told apart by λ₀, so
//! that Newton's method finds λ in a few steps, and where λ₀ does not move any more the law itself
//! holds, whatever s is. Forces along which D is singular move by 1/s of what a sweep would move
//! them by. The harder the contacts, the fewer rounds, but the fewer of them succeed: s falls where
//! a round was quick and grows where it failed. Where soft ones fail too, μ|u_t| stays what it was
//! for a round. What is left is the condition of a minimum, which steps of the right length always
//! come nearer to (Hestenes 1969; for cones Acary et al. 2011).

use super::super::block::IDENTITY;
use super::super::dense::{ConeReport, triple};
use super::super::newton::{slope, slope_of_slip};
use super::super::project;
use super::{Direct, Response};
use crate::cone::Triple;

/// s: at first, at least, and at most.
const SOFTNESS: [f64; 3] = [2e-2, 1e-5, 1.0];
/// What s is multiplied by after a round of few steps, and after one that failed.
const HARDER: f64 = 0.3;
const SOFTER: f64 = 6.0;
const FEW: usize = 4;
/// s from which on a round that failed is tried with μ|u_t| as it was.
const SOFT: f64 = 1e-2;
/// Steps of a round at most: of any, and with μ|u_t| as it was.
const STEPS: [usize; 2] = [8, 20];
/// What may be wrong at the end of a round, relative to how far it moved a force, and to what is
/// tolerated of the largest one.
const WRONG: f64 = 0.01;
/// Residual of a linear solve, relative.
const LINEAR: f64 = 1e-8;
/// Times at most that a step is halved, and halves of the search for a minimum.
const HALVES: [usize; 2] = [4, 12];
/// What a step must leave at most of the slope along it to have found a minimum.
const FLAT: f64 = 0.1;
/// A round that failed and leaves more than so many times the least violation is forgotten.
const WORSE: f64 = 2.0;

/// What becomes of μ|u_t| in a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lift {
    Follows,
    Stays,
}

/// A round of the method, and memory for it.
#[derive(Clone, Debug, Default)]
pub(super) struct Round {
    /// λ₀, and μ|u_t| with it.
    center: Vec<f64>,
    lift: Vec<f64>,
    /// D δ of a step δ.
    pub answer: Vec<f64>,
    softness: f64,
}

/// How far forces are from the softer law.
#[derive(Clone, Copy, Debug, Default)]
struct Off {
    /// The largest distance, the way from λ₀, and the largest force.
    worst: f64,
    way: f64,
    largest: f64,
    /// Sum of the squares, each times its compliance.
    square: f64,
}

impl Direct {
    /// Solves to a relative violation with at most so many steps. Ends with the forces that came
    /// nearest. Counts steps as `newton`.
    pub fn settle(&mut self, d: &mut dyn Response, tolerance: f64, most: usize) -> ConeReport {
        self.begin(d);
        let mut report = ConeReport {
            residual: self.judge(),
            ..ConeReport::default()
        };
        self.keep_best();
        self.round.softness = SOFTNESS[0];
        while report.residual > tolerance && report.newton < most {
            let before = report.newton;
            let lift = self.solve_round(d, tolerance, &mut report.newton);
            // A round without a step would be made for ever.
            report.newton = report.newton.max(before + 1);
            let Some(lift) = lift else {
                continue;
            };
            let left = self.judge();
            let lost = lift == Lift::Stays && !(left <= WORSE * report.residual);
            if left < report.residual {
                report.residual = left;
                self.keep_best();
            } else if lost || !left.is_finite() {
                self.take_best();
            }
            if lift == Lift::Follows && report.newton - before <= FEW {
                self.round.softness = (HARDER * self.round.softness).max(SOFTNESS[1]);
            }
        }
        self.take_best();
        self.let_go();
        report
    }

    pub(super) fn keep_best(&mut self) {
        self.best.clone_from(&self.lambda);
        self.best_slip.clone_from(&self.slip);
    }

    pub(super) fn take_best(&mut self) {
        self.lambda.clone_from(&self.best);
        self.slip.clone_from(&self.best_slip);
    }

    /// Makes a round. Nothing if it failed and forces are as they were; the next one is softer then.
    fn solve_round(
        &mut self,
        d: &mut dyn Response,
        tolerance: f64,
        steps: &mut usize,
    ) -> Option<Lift> {
        let round = &mut self.round;
        round.center.clone_from(&self.lambda);
        round.lift.clear();
        for (k, mark) in self.marks.iter().enumerate() {
            round.lift.push(lift_of(mark.mu, &triple(&self.slip, k)));
        }
        let mut lift = Lift::Follows;
        if !self.descend(d, lift, tolerance, steps) {
            self.lambda.clone_from(&self.round.center);
            self.find_slip(d);
            let soft = self.round.softness >= SOFT;
            self.round.softness = (SOFTER * self.round.softness).min(SOFTNESS[2]);
            if !soft {
                return None;
            }
            lift = Lift::Stays;
            self.descend(d, lift, tolerance, steps);
        }
        for k in 0..self.marks.len() {
            let (_, aim) = self.aim(k, &triple(&self.slip, k), lift);
            self.lambda[3 * k..3 * k + 3].copy_from_slice(&aim);
        }
        self.find_slip(d);
        Some(lift)
    }

    /// Takes steps of Newton's method towards the softer law; says whether they found it.
    fn descend(
        &mut self,
        d: &mut dyn Response,
        lift: Lift,
        tolerance: f64,
        steps: &mut usize,
    ) -> bool {
        let most = STEPS[usize::from(lift == Lift::Stays)];
        for step in 0..=most {
            let off = self.linearise(lift);
            if off.worst <= WRONG * off.way.max(tolerance * off.largest) {
                return true;
            }
            if step == most {
                break;
            }
            *steps += 1;
            let mut delta = std::mem::take(&mut self.rhs);
            let solved = d.prepare(&self.softs, &self.slopes)
                && d.respond(&self.slopes, &mut delta, LINEAR).is_some();
            let answer = &mut self.round.answer;
            answer.clear();
            answer.resize(delta.len(), 0.0);
            d.product(&delta, answer);
            self.rhs = delta;
            let part = match lift {
                _ if !solved => None,
                Lift::Follows => self.part_that_helps(off.square),
                Lift::Stays => Some(self.part_to_minimum()),
            };
            let Some(part) = part else {
                break;
            };
            for (l, e) in self.lambda.iter_mut().zip(&self.rhs) {
                *l += part * e;
            }
            for (u, e) in self.slip.iter_mut().zip(&self.round.answer) {
                *u += part * e;
            }
        }
        false
    }

    /// Writes Y, Z and r of a step of Newton's method.
    fn linearise(&mut self, lift: Lift) -> Off {
        self.softs.clear();
        self.softs.resize(self.marks.len(), IDENTITY);
        self.slopes.clear();
        let mut rest = std::mem::take(&mut self.rhs);
        rest.clear();
        let mut off = Off::default();
        for (k, mark) in self.marks.iter().enumerate() {
            let (l, u) = (triple(&self.lambda, k), triple(&self.slip, k));
            let (tried, aim) = self.aim(k, &u, lift);
            let (p, rate) = (slope(&tried, mark.mu), self.rate(k));
            self.slopes.push(match lift {
                Lift::Follows => slope_of_slip(&u, mark.mu, &p, rate),
                Lift::Stays => p.map(|x| rate * x),
            });
            let center = triple(&self.round.center, k);
            for i in 0..3 {
                let left = aim[i] - l[i];
                rest.push(left);
                off.worst = off.worst.max(left.abs());
                off.way = off.way.max((aim[i] - center[i]).abs());
                off.largest = off.largest.max(aim[i].abs());
                off.square += mark.compliance * left * left;
            }
        }
        self.rhs = rest;
        off
    }

    /// 1/(s W) of a contact.
    fn rate(&self, contact: usize) -> f64 {
        1.0 / (self.round.softness * self.marks[contact].compliance)
    }

    /// What the softer law says of a contact with this slip: λ before and after the cone.
    fn aim(&self, contact: usize, u: &Triple, lift: Lift) -> (Triple, Triple) {
        let (mark, l) = (&self.marks[contact], triple(&self.round.center, contact));
        let raised = match lift {
            Lift::Follows => lift_of(mark.mu, u),
            Lift::Stays => self.round.lift[contact],
        };
        let rate = self.rate(contact);
        let tried = [
            l[0] - rate * (u[0] + raised),
            l[1] - rate * u[1],
            l[2] - rate * u[2],
        ];
        (tried, project(&tried, mark.mu))
    }

    /// λ of a contact less what the softer law says, and D δ of it, after a part of the step.
    fn left_after(&self, contact: usize, part: f64, lift: Lift) -> (Triple, Triple) {
        let at = |v: &[f64]| triple(v, contact);
        let (l, step) = (at(&self.lambda), at(&self.rhs));
        let (u, answer) = (at(&self.slip), at(&self.round.answer));
        let u = [0, 1, 2].map(|i| u[i] + part * answer[i]);
        let (_, aim) = self.aim(contact, &u, lift);
        ([0, 1, 2].map(|i| l[i] + part * step[i] - aim[i]), answer)
    }

    /// The part of a step that comes nearest to the softer law, of a few; if any comes nearer.
    fn part_that_helps(&self, start: f64) -> Option<f64> {
        let (mut least, mut best, mut part) = (start, None, 1.0);
        for _ in 0..HALVES[0] {
            let mut square = 0.0;
            for (k, mark) in self.marks.iter().enumerate() {
                let (left, _) = self.left_after(k, part, Lift::Follows);
                square += mark.compliance * left.iter().map(|x| x * x).sum::<f64>();
            }
            if square < least {
                (least, best) = (square, Some(part));
            }
            if square < (1.0 - 0.2 * part) * start {
                break;
            }
            part *= 0.5;
        }
        best
    }

    /// The part of a step after which what is minimised hardly changes along it.
    fn part_to_minimum(&self) -> f64 {
        let slope_after = |part: f64| -> f64 {
            let slope = |k: usize| {
                let (left, answer) = self.left_after(k, part, Lift::Stays);
                left[0] * answer[0] + left[1] * answer[1] + left[2] * answer[2]
            };
            (0..self.marks.len()).map(slope).sum()
        };
        let flat = FLAT * slope_after(0.0).abs();
        if slope_after(1.0) <= flat {
            return 1.0;
        }
        let (mut low, mut high, mut part) = (0.0, 1.0, 0.5);
        for _ in 0..HALVES[1] {
            let slope = slope_after(part);
            if slope.abs() <= flat {
                break;
            }
            if slope > 0.0 {
                high = part;
            } else {
                low = part;
            }
            part = 0.5 * (low + high);
        }
        part
    }
}

/// μ|u_t|.
fn lift_of(mu: f64, u: &Triple) -> f64 {
    mu * (u[1] * u[1] + u[2] * u[2]).sqrt()
}
