//! Steps that are out of the ordinary: some bodies turn so far that one linear solve would stretch
//! them. Then all unknowns are kept, and Newton's iteration is that of the general step.
//!
//! A first increment that is not too large is bent: taken as a rotation and a strain, after which
//! the same factors close the joints again, and the velocity is projected until little of its drift
//! is left. Where that does not settle, bodies are linearised again. What runs away is left to the
//! general step, which looks for a minimum along the way (`step/descend.rs`).

use super::Forces;
use super::passes::{self, Pass, bend, is_settled, press};
use super::record::Slot;
use super::room::Room;
use crate::dual::larger;
use crate::dual::ports;
use crate::integrate::newton::{self, Stiffening};
use crate::integrate::tempered;
use crate::math::small::add;
use crate::step::{BENT, CLOSED, DRIFT, FAST, LEFT, PASSES, StepReport, TRUSTED};

/// The joints of a world, solved for points that are all at hand.
pub(super) trait Ties {
    fn threads(&self) -> usize;

    /// Joint forces that close the joints at the places of the slots, and what they are at the
    /// points of the slots, N. Points of the world are where they are times `world`. `fresh` says
    /// that compliances have changed. Nothing if the factors are not safe.
    fn solve(
        &mut self,
        pass: &Pass,
        slots: &mut [Slot],
        fresh: bool,
        world: f64,
        forces: &mut [[f64; 3]],
    ) -> Option<()>;

    /// How far joints are open at the places of the slots, m.
    fn open(&mut self, slots: &[Slot], world: f64) -> f64;
}

/// A step, and what it needs.
pub(super) struct Far<'a, T> {
    pass: &'a Pass<'a>,
    ties: &'a mut T,
    room: Room<'a>,
    /// Room for one more force a joint, N.
    more: &'a mut [[f64; 3]],
}

/// Where Newton's iteration ended.
struct End {
    iterations: usize,
    update: f64,
    is_bent: bool,
}

impl<'a, T: Ties> Far<'a, T> {
    pub fn new(
        pass: &'a Pass<'a>,
        ties: &'a mut T,
        room: Room<'a>,
        more: &'a mut [[f64; 3]],
    ) -> Far<'a, T> {
        Far {
            pass,
            ties,
            room,
            more,
        }
    }

    /// Makes the step, from the start. Nothing if it runs away. Says also whether it was out of the
    /// ordinary.
    pub fn advance(mut self, [first, second]: &mut Forces) -> Option<(StepReport, bool)> {
        let end = self.find_pose(first)?;
        let open = self.ties.open(self.room.slots, 1.0);
        if !(open <= CLOSED * self.pass.rule.residual) {
            return None;
        }
        self.find_velocity(&end, second)?;
        let mut report = StepReport::ordinary(end.update, open);
        report.iterations = end.iterations;
        Some((report, end.is_bent || end.iterations > 1))
    }

    /// Newton's iteration.
    fn find_pose(&mut self, forces: &mut [[f64; 3]]) -> Option<End> {
        let (pass, threads) = (self.pass, self.ties.threads());
        let rule = &pass.rule;
        self.room.each(threads, |at| {
            passes::prepare(pass, at.block, at.n, at.slot)?;
            Some([0.0; 2])
        })?;
        for iterations in 1..=rule.limit {
            self.ties.solve(pass, self.room.slots, true, 1.0, forces)?;
            let (mut update, mut settled) = self.press(false);
            let is_bent = iterations == 1 && !settled && update <= BENT;
            if is_bent {
                self.room.each(threads, |at| {
                    bend(pass, at.turn, at.n, at.slot);
                    Some([0.0; 2])
                });
                self.ties
                    .solve(pass, self.room.slots, false, 1.0, self.more)?;
                add_to(forces, self.more);
                (update, settled) = self.press(true);
            }
            if settled && iterations > 1 && self.is_astray() {
                return None;
            }
            if settled {
                return Some(End {
                    iterations,
                    update,
                    is_bent,
                });
            }
            let trusted = update <= TRUSTED && iterations < FAST;
            if !(is_bent || trusted) {
                return None;
            }
            self.linearize_again(is_bent)?;
        }
        None
    }

    /// Puts the forces at the points on the bodies, and finds the places. Returns the largest change of an entry of A,
    /// and whether no body that matters is stretched.
    fn press(&mut self, is_bent: bool) -> (f64, bool) {
        let (pass, threads) = (self.pass, self.ties.threads());
        let found = self.room.each(threads, |at| {
            let update = press(pass, at.block, at.n, at.slot);
            ports::find_places(pass.level, at.n, &mut at.slot.ports);
            let turn = if is_bent { at.turn } else { &newton::STRAIGHT };
            let settled = is_settled(pass, at.block, update, turn, at.n);
            Some([update, f64::from(u8::from(!settled))])
        });
        let [update, unsettled] = found.unwrap_or([f64::INFINITY, 1.0]);
        (update, unsettled == 0.0)
    }

    /// Goes on from the increment, taken as a rotation and a strain.
    fn linearize_again(&mut self, is_bent: bool) -> Option<()> {
        let (pass, threads) = (self.pass, self.ties.threads());
        self.room.each(threads, |at| {
            let (level, n) = (pass.level, at.n);
            if !is_bent {
                newton::retract(level, n);
            }
            if !newton::relinearize(level, n) {
                return None;
            }
            let params = pass.params(at.block);
            newton::free_solve(level, params, &pass.scheme, Stiffening::Exact, n);
            ports::find_compliances(level, n, &mut at.slot.ports);
            ports::find_places(level, n, &mut at.slot.ports);
            Some([0.0; 2])
        })?;
        Some(())
    }

    /// Whether the potential is higher than if all stood still.
    fn is_astray(&mut self) -> bool {
        let pass = self.pass;
        let [mut now, mut standing] = [0.0; 2];
        for (block, n) in self.room.newton.iter_mut().enumerate() {
            let params = pass.params(block);
            now += newton::potential(pass.level, params, &pass.scheme, n);
            let there = (n.a, n.t);
            let start = &pass.state.blocks[block];
            (n.a, n.t) = (start.a, start.t);
            standing += newton::potential(pass.level, params, &pass.scheme, n);
            (n.a, n.t) = there;
        }
        !(now <= standing)
    }

    /// The velocity that the joints allow, and the end of the step.
    fn find_velocity(&mut self, end: &End, forces: &mut [[f64; 3]]) -> Option<()> {
        let (pass, threads) = (self.pass, self.ties.threads());
        let far = end.iterations > 1;
        self.room.each(threads, |at| {
            passes::turn(pass, at.block, far, at.n)?;
            if far {
                ports::find_compliances(pass.level, at.n, &mut at.slot.ports);
            }
            find_drifts(pass, at.n, at.slot);
            Some([0.0; 2])
        })?;
        let (mut fresh, mut renewed) = (far, far);
        let (mut enough, mut before) = (0.0, f64::INFINITY);
        for turn in 0..PASSES {
            if end.is_bent && !far {
                let left = self.ties.open(self.room.slots, 0.0);
                if turn == 0 {
                    enough = larger(LEFT * left, DRIFT * pass.rule.residual);
                } else if left <= enough {
                    break;
                } else if !(left < 0.5 * before) {
                    if std::mem::replace(&mut renewed, true) {
                        break;
                    }
                    // What the old matrix did too much lies in what the new one projects away.
                    fresh = true;
                    self.room.each(threads, |at| {
                        ports::find_compliances(pass.level, at.n, &mut at.slot.ports);
                        Some([0.0; 2])
                    });
                }
                before = left;
            }
            let first = turn == 0;
            let sum = if first { &mut *forces } else { &mut *self.more };
            self.ties
                .solve(pass, self.room.slots, std::mem::take(&mut fresh), 0.0, sum)?;
            if !first {
                add_to(forces, self.more);
            }
            let ends = far || !end.is_bent;
            self.room.each(threads, |at| {
                ports::put_loads(pass.level, &at.slot.ports, at.n);
                tempered::project_add(pass.level, first, &pass.scheme, at.n);
                if ends {
                    passes::end(pass, at.block, at.n, at.ending)?;
                } else {
                    find_drifts(pass, at.n, at.slot);
                }
                Some([0.0; 2])
            })?;
            if ends {
                return Some(());
            }
        }
        self.room.each(threads, |at| {
            passes::end(pass, at.block, at.n, at.ending)?;
            Some([0.0; 2])
        })?;
        Some(())
    }
}

/// How far the points would move in a step, to where places are, m.
fn find_drifts(pass: &Pass, n: &newton::NewtonBlock, slot: &mut Slot) {
    ports::find_velocities(pass.level, n, &mut slot.ports);
    let places = slot.ports.place.as_flattened_mut().as_flattened_mut();
    places.iter_mut().for_each(|v| *v *= pass.scheme.h);
}

/// Adds forces.
fn add_to(sum: &mut [[f64; 3]], more: &[[f64; 3]]) {
    for (sum, more) in sum.iter_mut().zip(more) {
        *sum = add(sum, more);
    }
}
