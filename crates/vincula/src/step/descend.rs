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
//! joints, and the start lies on it. The increment of an iteration points downhill, since H̄ is
//! positive definite; it is halved until Φ falls. Rows that are not linear add `Σ |λ C|` (the
//! exact penalty; Nocedal and Wright, Numerical Optimization, 2006, section 18.3). This is
//! slow, but it cannot fail, and its energy is bounded by that of the start.

use super::Workspace;
use crate::integrate::newton::Stiffening;
use crate::integrate::{Scheme, newton};
use crate::math::lanes::LANES;
use crate::model::{Model, State};

/// Change of an entry of A in one iteration beyond which it says nothing about a rotation.
pub(crate) const TRUSTED: f64 = 0.5;
/// Iterations of the fast kind.
pub(crate) const FAST: usize = 12;
/// How often an increment is halved before it is given up.
const HALVINGS: usize = 10;
/// The weight of the iterate's stress in the matrix grows up to this.
const MOST_CAUTION: f64 = 64.0;

/// Where the iteration is. The last iterate is in `work.next`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Descent {
    /// Linear solves so far.
    solves: usize,
    /// Weight of the iterate's own stress in the matrix; zero in the fast iteration.
    caution: f64,
    /// Whether the fast iteration came to a wrong end.
    is_lost: bool,
}

impl Descent {
    /// Before the first iteration.
    pub(super) fn new() -> Descent {
        Descent {
            solves: 0,
            caution: 0.0,
            is_lost: false,
        }
    }

    /// The stiffness of stress that the next matrix needs.
    pub(super) fn stiffening(&self) -> Stiffening {
        match (self.solves, self.is_slow()) {
            (0, _) => Stiffening::Tempered,
            (_, true) => Stiffening::Cautious(self.caution),
            (_, false) => Stiffening::Exact,
        }
    }

    /// Whether the iteration is the slow one.
    pub(super) fn is_slow(&self) -> bool {
        self.caution > 0.0
    }

    /// Remembers the iterate that is about to be linearised; only the slow iteration goes back
    /// to it.
    pub(super) fn remember(&self, work: &mut Workspace) {
        if !self.is_slow() {
            return;
        }
        for &index in &work.active {
            let (n, last) = (&work.newton[index], &mut work.next[index]);
            last.a = n.a;
            last.t = n.t;
        }
    }

    /// Whether the fast iteration has settled on something worse than standing still: far from
    /// the start there are other solutions, with bodies crushed or stretched. Then the slow
    /// iteration has to look for the right one.
    pub(super) fn is_astray(
        &mut self,
        model: &Model,
        state: &State,
        work: &mut Workspace,
        scheme: &Scheme,
    ) -> bool {
        let partial = !work.contacts.points.is_empty() || work.dual.has_axes();
        if self.solves == 0 || self.is_slow() || partial {
            return false;
        }
        let now = potential(model, work, scheme);
        for &index in &work.active {
            let (n, last) = (&work.newton[index], &mut work.next[index]);
            (last.a, last.t) = (n.a, n.t);
            let (n, start) = (&mut work.newton[index], &state.blocks[index]);
            (n.a, n.t) = (start.a, start.t);
        }
        let standing = potential(model, work, scheme);
        exchange(work);
        self.is_lost = !(now <= standing);
        self.is_lost
    }

    /// Goes on from an iterate that was bent: it is what an advance would have led to.
    pub(super) fn note_bend(&mut self) {
        self.solves += 1;
    }

    /// Moves from the last iterate by as much of the increment as can be trusted, after a
    /// linear solve that changed an entry of A by `update`.
    pub(super) fn advance(
        &mut self,
        model: &Model,
        state: &State,
        work: &mut Workspace,
        scheme: &Scheme,
        update: f64,
    ) {
        self.solves += 1;
        let trusted = update <= TRUSTED && self.solves < FAST && !self.is_lost;
        if !work.contacts.points.is_empty() {
            // Contacts are no part of the potential, and start from the pose of the flight.
            self.caution = MOST_CAUTION.min((self.solves as f64 / 8.0).exp2().floor());
            return;
        }
        if self.is_slow() && work.dual.has_axes() {
            // Nor are springs, drives and limits.
            self.caution = MOST_CAUTION.min((self.solves as f64 / 8.0).exp2().floor());
            return;
        }
        if self.is_slow() {
            if find_lower(model, work, scheme, update) < 1.0 {
                self.caution = (2.0 * self.caution).min(MOST_CAUTION);
            }
            return;
        }
        if trusted {
            retract(work);
        } else {
            self.caution = 1.0;
            restart(state, work);
        }
    }
}

/// The start of the step, where the joints are closed.
fn restart(state: &State, work: &mut Workspace) {
    for &index in &work.active {
        let (n, past) = (&mut work.newton[index], &state.blocks[index]);
        n.a = past.a;
        n.t = past.t;
        n.held = state.memory[index].load;
    }
}

fn retract(work: &mut Workspace) {
    for &index in &work.active {
        newton::retract(work.level, &mut work.newton[index]);
    }
}

/// Halves the increment until the potential falls. Returns the fraction that is kept.
fn find_lower(model: &Model, work: &mut Workspace, scheme: &Scheme, update: f64) -> f64 {
    if !update.is_finite() {
        draw_back(work, 0.0);
        return 0.0;
    }
    exchange(work);
    let before = potential(model, work, scheme);
    exchange(work);
    let mut kept = (TRUSTED / update).min(1.0);
    if kept < 1.0 {
        draw_back(work, kept);
    }
    for _ in 0..HALVINGS {
        if potential(model, work, scheme) <= before {
            return kept;
        }
        kept *= 0.5;
        draw_back(work, 0.5);
    }
    draw_back(work, 0.0);
    0.0
}

/// Swaps the iterate and the last one.
fn exchange(work: &mut Workspace) {
    for &index in &work.active {
        let (n, last) = (&mut work.newton[index], &mut work.next[index]);
        std::mem::swap(&mut n.a, &mut last.a);
        std::mem::swap(&mut n.t, &mut last.t);
    }
}

/// Leaves this fraction of the way from the last iterate.
fn draw_back(work: &mut Workspace, fraction: f64) {
    for &index in &work.active {
        let (n, last) = (&mut work.newton[index], &work.next[index]);
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
            continue;
        }
        let pairs = n.a.iter_mut().zip(&last.a);
        for (now, before) in pairs.chain(n.t.iter_mut().zip(&last.t)) {
            for lane in 0..LANES {
                now[lane] = before[lane] + fraction * (now[lane] - before[lane]);
            }
        }
    }
}

fn potential(model: &Model, work: &mut Workspace, scheme: &Scheme) -> f64 {
    let bodies: f64 = work
        .active
        .iter()
        .map(|&index| {
            let n = &work.newton[index];
            newton::potential(work.level, &model.params[index], scheme, n)
        })
        .sum();
    if work.linear {
        return bodies;
    }
    for &index in &work.active {
        work.dual.find_places(index, &work.newton[index]);
    }
    work.dual.violation(model, &work.newton, scheme.h);
    bodies + work.dual.penalty(&work.total)
}
