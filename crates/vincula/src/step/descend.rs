//! Keeps Newton's iteration from running away.
//!
//! One linear solve moves A along a straight line, and what was a rotation becomes a stretch
//! at second order. Where that stretch is not negligible the increment is taken as what it
//! means, a rotation and a strain (`newton::retract`). The joints are then open at second
//! order, and the next linear solve closes them. This converges fast where a solution is near.
//!
//! Where it does not, or where it settles on a solution with a higher potential than standing
//! still has (bodies crushed or stretched), the iteration begins again at the start of the step, in affine
//! coordinates. There the end of the step is a minimum of
//! `Φ(q) = ½c |q − q_pred|²_M + Ψ(A) − f:A` on `C(q) = 0`, a plane if all joints are ball
//! joints, and the start lies on it. Springs and dampers add their own potential. The increment of
//! an iteration points downhill, since H̄ is positive definite; it is halved until Φ falls. Rows
//! that are not linear add `Σ |λ C|` (the exact penalty; Nocedal and Wright, Numerical
//! Optimization, 2006, section 18.3). This is slow, but it cannot fail, and its energy is bounded by
//! that of the start.

use super::Workspace;
use crate::integrate::newton::{NewtonBlock, Stiffening};
use crate::integrate::{Scheme, newton};
use crate::math::lanes::LANES;
use crate::model::{Model, State, StateBlock};

/// The iterates that a descent moves.
pub(crate) trait Iterates {
    /// Whether contacts act, which are no part of the potential.
    fn has_contacts(&self) -> bool;
    /// Whether limits, friction or drives with a bound act along coordinates, which are not either.
    fn has_bounds(&self) -> bool;
    /// The potential of the iterate, J.
    fn potential(&mut self) -> f64;
    /// The potential of the iterate, and of standing still, J.
    fn compare_standing(&mut self) -> [f64; 2] {
        self.each(remember);
        let now = self.potential();
        self.stand();
        let standing = self.potential();
        self.each(exchange);
        [now, standing]
    }
    /// The potential of the iterate, and of the last one, J.
    fn compare_last(&mut self) -> [f64; 2] {
        let now = self.potential();
        self.each(exchange);
        let last = self.potential();
        self.each(exchange);
        [now, last]
    }
    /// Moves by the increment, taken as a rotation and a strain.
    fn retract(&mut self);
    /// Goes to where the step starts.
    fn stand(&mut self);
    /// Takes the joint loads of the start.
    fn take_loads(&mut self);
    /// Does something to each iterate and the last one.
    fn each(&mut self, act: impl Fn(&mut NewtonBlock, &mut StateBlock));
}

/// Change of an entry of A in one iteration beyond which it says nothing about a rotation.
const TRUSTED: f64 = 0.5;
/// Iterations of the fast kind.
const FAST: usize = 12;
/// How often an increment is halved before it is given up.
const HALVINGS: usize = 10;
/// The weight of the iterate's stress in the matrix grows up to this.
const MOST_CAUTION: f64 = 64.0;

/// Where the iteration is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Descent {
    /// Linear solves so far.
    solves: usize,
    /// Weight of the iterate's own stress in the matrix; zero in the fast iteration.
    caution: f64,
    /// Whether the fast iteration came to a wrong end.
    is_lost: bool,
}

impl Descent {
    /// Before the first iteration.
    pub(crate) fn new() -> Descent {
        Descent {
            solves: 0,
            caution: 0.0,
            is_lost: false,
        }
    }

    /// The stiffness of stress that the next matrix needs.
    pub(crate) fn stiffening(&self) -> Stiffening {
        match (self.solves, self.is_slow()) {
            (0, _) => Stiffening::Tempered,
            (_, true) => Stiffening::Cautious(self.caution),
            (_, false) => Stiffening::Exact,
        }
    }

    /// Whether the iteration is the slow one.
    pub(crate) fn is_slow(&self) -> bool {
        self.caution > 0.0
    }

    /// Remembers the iterate that is about to be linearised; only the slow iteration goes back
    /// to it.
    pub(crate) fn remember(&self, at: &mut impl Iterates) {
        if self.is_slow() {
            at.each(remember);
        }
    }

    /// The same for one block.
    pub(crate) fn remember_one(&self, n: &mut NewtonBlock, last: &mut StateBlock) {
        if self.is_slow() {
            remember(n, last);
        }
    }

    /// Whether the fast iteration has settled on something worse than standing still: far from
    /// the start there are other solutions, with bodies crushed or stretched. Then the slow
    /// iteration has to look for the right one.
    pub(crate) fn is_astray(&mut self, at: &mut impl Iterates) -> bool {
        let partial = at.has_contacts() || at.has_bounds();
        if self.solves == 0 || self.is_slow() || partial {
            return false;
        }
        let [now, standing] = at.compare_standing();
        self.is_lost = !(now <= standing);
        self.is_lost
    }

    /// Goes on from an iterate that was bent: it is what an advance would have led to.
    pub(crate) fn note_bend(&mut self) {
        self.solves += 1;
    }

    /// Moves from the last iterate by as much of the increment as can be trusted, after a
    /// linear solve that changed an entry of A by `update`.
    pub(crate) fn advance(&mut self, at: &mut impl Iterates, update: f64) {
        self.solves += 1;
        let trusted = update <= TRUSTED && self.solves < FAST && !self.is_lost;
        // Contacts are no part of the potential, and start from the pose of the flight; nor are
        // limits and friction.
        if at.has_contacts() || (self.is_slow() && at.has_bounds()) {
            self.caution = MOST_CAUTION.min((self.solves as f64 / 8.0).exp2().floor());
            return;
        }
        if self.is_slow() {
            if find_lower(at, update) < 1.0 {
                self.caution = (2.0 * self.caution).min(MOST_CAUTION);
            }
            return;
        }
        if trusted {
            at.retract();
        } else {
            // The start of the step, where the joints are closed.
            self.caution = 1.0;
            at.stand();
            at.take_loads();
        }
    }
}

/// Halves the increment until the potential falls. Returns the fraction that is kept.
fn find_lower(at: &mut impl Iterates, update: f64) -> f64 {
    if !update.is_finite() {
        at.each(|n, last| draw_back(n, last, 0.0));
        return 0.0;
    }
    let mut kept = (TRUSTED / update).min(1.0);
    if kept < 1.0 {
        at.each(|n, last| draw_back(n, last, kept));
    }
    let [mut now, before] = at.compare_last();
    for _ in 0..HALVINGS {
        if now <= before {
            return kept;
        }
        kept *= 0.5;
        at.each(|n, last| draw_back(n, last, 0.5));
        now = at.potential();
    }
    at.each(|n, last| draw_back(n, last, 0.0));
    0.0
}

fn remember(n: &mut NewtonBlock, last: &mut StateBlock) {
    last.a = n.a;
    last.t = n.t;
}

/// Swaps the iterate and the last one.
fn exchange(n: &mut NewtonBlock, last: &mut StateBlock) {
    std::mem::swap(&mut n.a, &mut last.a);
    std::mem::swap(&mut n.t, &mut last.t);
}

/// Leaves this fraction of the way from the last iterate.
fn draw_back(n: &mut NewtonBlock, last: &StateBlock, fraction: f64) {
    for load in n.held.iter_mut().flatten() {
        *load = if fraction > 0.0 {
            fraction * *load
        } else {
            0.0
        };
    }
    if fraction == 0.0 {
        n.a = last.a;
        n.t = last.t;
        return;
    }
    let pairs = n.a.iter_mut().zip(&last.a);
    for (now, before) in pairs.chain(n.t.iter_mut().zip(&last.t)) {
        for lane in 0..LANES {
            now[lane] = before[lane] + fraction * (now[lane] - before[lane]);
        }
    }
}

/// The iterates of a step of all bodies; the last ones are in `work.next`.
pub(super) struct All<'a> {
    model: &'a Model,
    state: &'a State,
    work: &'a mut Workspace,
    scheme: &'a Scheme,
}

impl<'a> All<'a> {
    pub(super) fn of(
        model: &'a Model,
        state: &'a State,
        work: &'a mut Workspace,
        scheme: &'a Scheme,
    ) -> All<'a> {
        All {
            model,
            state,
            work,
            scheme,
        }
    }
}

impl Iterates for All<'_> {
    fn has_contacts(&self) -> bool {
        !self.work.contacts.points.is_empty()
    }

    fn has_bounds(&self) -> bool {
        !self.work.dual.has_potential()
    }

    fn potential(&mut self) -> f64 {
        let (model, work) = (self.model, &mut *self.work);
        let of = |index: &usize| {
            let (params, n) = (&model.params[*index], &work.newton[*index]);
            newton::potential(work.level, params, self.scheme, n)
        };
        let bodies: f64 = work.active.iter().map(of).sum();
        if work.linear {
            return bodies;
        }
        for &index in &work.active {
            work.dual.find_places(index, &work.newton[index]);
        }
        let h = self.scheme.h;
        work.dual.violation(model, &work.newton, h);
        let springs = work.dual.potential(model, &work.newton, h);
        bodies + springs + work.dual.penalty(&work.total)
    }

    fn retract(&mut self) {
        let level = self.work.level;
        self.each(|n, _| newton::retract(level, n));
    }

    fn stand(&mut self) {
        for &index in &self.work.active {
            let (n, start) = (&mut self.work.newton[index], &self.state.blocks[index]);
            (n.a, n.t) = (start.a, start.t);
        }
    }

    fn take_loads(&mut self) {
        for &index in &self.work.active {
            self.work.newton[index].held = self.state.memory[index].load;
        }
    }

    fn each(&mut self, act: impl Fn(&mut NewtonBlock, &mut StateBlock)) {
        let work = &mut *self.work;
        for &index in &work.active {
            act(&mut work.newton[index], &mut work.next[index]);
        }
    }
}
