//! Steps that are out of the ordinary: some bodies turn so far that one linear solve would stretch
//! them. Then all unknowns are kept, and Newton's iteration is that of the general step.
//!
//! A first increment that is not too large is bent: taken as a rotation and a strain, after which
//! the same factors close the joints again, and the velocity is projected until little of its drift
//! is left. Where that does not settle, bodies are linearised again (`step/descend.rs`).

use std::sync::atomic::Ordering;

use super::Forces;
use super::passes::{self, Pass, bend, press, strain, weigh};
use super::record::Slot;
use super::room::Room;
use crate::dual::larger;
use crate::dual::ports;
use crate::integrate::newton::{self, NewtonBlock};
use crate::integrate::tempered;
use crate::math::lanes::Lane;
use crate::math::small::add;
use crate::model::StateBlock;
use crate::step::{BENT, CLOSED, DRIFT, Descent, Iterates, LEFT, PASSES, StepReport};

/// The joints of a world, solved for points that are all at hand.
pub(super) trait Ties {
    fn threads(&self) -> usize;

    /// Starts a step whose free motion is known.
    fn start(&mut self, _: &Pass, _newton: &mut [NewtonBlock], _: &mut [Slot]) {}

    /// Joint forces that close the joints at the places of the slots, and what they are at the
    /// points of the slots, N. Points of the world are where they are times `world`. `fresh` says
    /// that compliances have changed. Nothing if the factors are not safe.
    /// How bodies are turned, and how fast they turn, is in `newton`.
    fn solve(
        &mut self,
        pass: &Pass,
        newton: &[NewtonBlock],
        slots: &mut [Slot],
        fresh: bool,
        world: f64,
        forces: &mut [[f64; 3]],
    ) -> Option<()>;

    /// How far joints are open at the places of the slots, m.
    fn open(&mut self, slots: &[Slot], world: f64) -> f64;

    /// Torques of the joints on a block, world, N m, where they have any.
    fn torques(&self, _block: usize) -> Option<&[Lane; 3]> {
        None
    }

    /// The potential of the joints where bodies have these affine maps, J.
    fn potential<'a>(&self, _: &Pass, _maps: impl Fn(usize) -> &'a [Lane; 9]) -> f64 {
        0.0
    }
}

/// A step, and what it needs.
pub(super) struct Far<'a, T> {
    pass: &'a Pass<'a>,
    ties: &'a mut T,
    room: Room<'a>,
    /// Room for one more force a joint, N.
    more: &'a mut [[f64; 3]],
    /// Whether the last increment is still to be taken as a rotation and a strain.
    retracts: bool,
}

/// Where Newton's iteration ended.
struct End {
    iterations: usize,
    update: f64,
    is_bent: bool,
}

impl<'a, T: Ties + Sync> Far<'a, T> {
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
            retracts: false,
        }
    }

    /// Makes the step, from the start. Nothing if it fails. Says also whether it was out of the
    /// ordinary.
    pub fn advance(mut self, [first, second]: &mut Forces) -> Option<(StepReport, bool)> {
        let end = self.find_pose(first)?;
        let open = self.ties.open(self.room.slots, 1.0);
        if !(open <= CLOSED * self.pass.rule.residual) {
            return None;
        }
        if self.pass.projects {
            self.find_velocity(&end, second)?;
        } else {
            self.end()?;
        }
        let mut report = StepReport::ordinary(end.update, open);
        report.iterations = end.iterations;
        Some((report, end.is_bent || end.iterations > 1))
    }

    /// Newton's iteration.
    fn find_pose(&mut self, forces: &mut [[f64; 3]]) -> Option<End> {
        let (pass, threads) = (self.pass, self.ties.threads());
        let rule = &pass.rule;
        self.room.each(threads, |at| {
            passes::prepare(pass, at.block, true, at.n, at.slot)?;
            Some([0.0; 2])
        })?;
        self.ties.start(pass, self.room.newton, self.room.slots);
        let mut descent = Descent::new();
        for iterations in 1..=rule.limit {
            self.solve(true, 1.0, forces)?;
            let slow = descent.is_slow();
            let (mut update, mut settled) = self.press(slow, false);
            let is_bent = pass.projects && iterations == 1 && !settled && update <= BENT;
            if is_bent {
                self.room.each(threads, |at| {
                    bend(pass, at.block, at.turn, at.n, at.slot);
                    Some([0.0; 2])
                });
                self.solve_more(false, 1.0)?;
                add_to(forces, self.more);
                (update, settled) = self.press(slow, true);
            }
            if settled && !descent.is_astray(self) {
                return Some(End {
                    iterations,
                    update,
                    is_bent,
                });
            }
            if is_bent {
                descent.note_bend();
            } else {
                descent.advance(self, update);
            }
            self.linearize_again(&descent)?;
        }
        None
    }

    /// Solves for joint forces.
    fn solve(&mut self, fresh: bool, world: f64, forces: &mut [[f64; 3]]) -> Option<()> {
        let Room { newton, slots, .. } = &mut self.room;
        self.ties
            .solve(self.pass, newton, slots, fresh, world, forces)
    }

    /// The same for those that are added to others.
    fn solve_more(&mut self, fresh: bool, world: f64) -> Option<()> {
        let Room { newton, slots, .. } = &mut self.room;
        self.ties
            .solve(self.pass, newton, slots, fresh, world, self.more)
    }

    /// Puts the forces at the points on the bodies, and finds the places. Returns the largest
    /// change of an entry of A, and whether no body that matters is stretched; in the `slow`
    /// iteration, which knows of the stretch, whether it is small.
    fn press(&mut self, slow: bool, is_bent: bool) -> (f64, bool) {
        let (pass, threads) = (self.pass, self.ties.threads());
        pass.spared.store(0, Ordering::Relaxed);
        let ties = &*self.ties;
        let found = self.room.each(threads, |at| {
            let update = press(pass, at.block, at.n, at.slot, ties.torques(at.block));
            ports::find_places(pass.level, at.n, pass.points(at.block), &mut at.slot.place);
            let turn = if is_bent { at.turn } else { &newton::STRAIGHT };
            let settled = match slow {
                true => update <= larger(pass.rule.rotation, pass.rule.update),
                false => pass.allows(strain(pass, at.block, update, turn, at.n)),
            };
            Some([update, f64::from(u8::from(!settled))])
        });
        let [update, unsettled] = found.unwrap_or([f64::INFINITY, 1.0]);
        (update, unsettled == 0.0)
    }

    /// Prepares the next linear solve, in one pass over memory.
    fn linearize_again(&mut self, descent: &Descent) -> Option<()> {
        let (pass, threads) = (self.pass, self.ties.threads());
        let (level, stiffening) = (pass.level, descent.stiffening());
        let retracts = std::mem::take(&mut self.retracts);
        self.room.each(threads, |at| {
            if retracts {
                newton::retract(level, at.n);
            }
            if !newton::relinearize(level, at.n) {
                return None;
            }
            descent.remember_one(at.n, at.ending.next);
            let params = pass.params(at.block);
            newton::free_solve(level, params, &pass.scheme, stiffening, at.n);
            weigh(pass, at.block, at.n, at.slot);
            ports::find_places(level, at.n, pass.points(at.block), &mut at.slot.place);
            Some([0.0; 2])
        })?;
        Some(())
    }

    /// The velocity that the joints allow, and the end of the step.
    fn find_velocity(&mut self, end: &End, forces: &mut [[f64; 3]]) -> Option<()> {
        let (pass, threads) = (self.pass, self.ties.threads());
        let far = end.iterations > 1;
        let sprung = self.ties.torques(0).is_some();
        if !far && !end.is_bent && !sprung {
            return self.find_ordinary_velocity(forces);
        }
        // What one solve with old factors leaves of the law of a stiff spring is a large force.
        let anew = far || sprung;
        self.room.each(threads, |at| {
            passes::turn(pass, at.block, far, at.n)?;
            if anew {
                weigh(pass, at.block, at.n, at.slot);
            }
            find_drifts(pass, at.block, at.n, at.slot);
            Some([0.0; 2])
        })?;
        // The factors of a step that was only bent are somewhat old: one solve leaves a drift.
        let repeats = !anew;
        let (mut fresh, mut renewed) = (anew, anew);
        let (mut enough, mut before) = (0.0, f64::INFINITY);
        for turn in 0..PASSES {
            if repeats {
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
                        weigh(pass, at.block, at.n, at.slot);
                        Some([0.0; 2])
                    });
                }
                before = left;
            }
            let first = turn == 0;
            let fresh = std::mem::take(&mut fresh);
            if first {
                self.solve(fresh, 0.0, forces)?;
            } else {
                self.solve_more(fresh, 0.0)?;
                add_to(forces, self.more);
            }
            let ties = &*self.ties;
            self.room.each(threads, |at| {
                ports::put_loads(pass.level, pass.points(at.block), &at.slot.force, at.n);
                if let Some(torques) = ties.torques(at.block) {
                    ports::put_torques(pass.level, torques, at.n);
                }
                tempered::project_add(pass.level, first, &pass.scheme, at.n);
                if repeats {
                    find_drifts(pass, at.block, at.n, at.slot);
                } else {
                    passes::end(pass, at.block, at.n, at.ending)?;
                }
                Some([0.0; 2])
            })?;
            if !repeats {
                return Some(());
            }
        }
        self.end()
    }

    /// Writes the next state.
    fn end(&mut self) -> Option<()> {
        let (pass, threads) = (self.pass, self.ties.threads());
        self.room.each(threads, |at| {
            passes::end(pass, at.block, at.n, at.ending)?;
            Some([0.0; 2])
        })?;
        Some(())
    }

    /// The velocity where the step turned out to be an ordinary one, with the bits of one.
    fn find_ordinary_velocity(&mut self, forces: &mut [[f64; 3]]) -> Option<()> {
        let (pass, threads) = (self.pass, self.ties.threads());
        self.room.each(threads, |at| {
            passes::land(pass, at.block, at.n)?;
            find_drifts(pass, at.block, at.n, at.slot);
            Some([0.0; 2])
        })?;
        self.solve(false, 0.0, forces)?;
        self.room.each(threads, |at| {
            passes::finish(pass, at.block, true, at.n, at.slot, at.ending)?;
            Some([0.0; 2])
        })?;
        Some(())
    }
}

impl<T: Ties + Sync> Iterates for Far<'_, T> {
    fn has_contacts(&self) -> bool {
        false
    }

    fn has_bounds(&self) -> bool {
        false
    }

    fn potential(&mut self) -> f64 {
        let newton = &*self.room.newton;
        let blocks = newton.iter().enumerate();
        let bodies: f64 = blocks
            .map(|(block, n)| potential(self.pass, block, n))
            .sum();
        bodies + self.ties.potential(self.pass, |block| &newton[block].a)
    }

    fn compare_standing(&mut self) -> [f64; 2] {
        compare(
            self.pass,
            self.ties,
            self.room.newton,
            &self.pass.state.blocks,
        )
    }

    fn compare_last(&mut self) -> [f64; 2] {
        compare(self.pass, self.ties, self.room.newton, self.room.next)
    }

    /// Left to the next linear solve.
    fn retract(&mut self) {
        self.retracts = true;
    }

    fn stand(&mut self) {
        for (n, start) in self.room.newton.iter_mut().zip(&self.pass.state.blocks) {
            (n.a, n.t) = (start.a, start.t);
        }
    }

    fn take_loads(&mut self) {
        for (n, memory) in self.room.newton.iter_mut().zip(&self.pass.state.memory) {
            n.held = memory.load;
        }
    }

    fn each(&mut self, act: impl Fn(&mut NewtonBlock, &mut StateBlock)) {
        for (n, last) in self.room.newton.iter_mut().zip(&mut *self.room.next) {
            act(n, last);
        }
    }
}

/// The potential of a block, J.
fn potential(pass: &Pass, block: usize, n: &NewtonBlock) -> f64 {
    newton::potential(pass.level, pass.params(block), &pass.scheme, n)
}

/// The potential of the iterates, and of other poses, J, in one pass over memory.
fn compare(
    pass: &Pass,
    ties: &impl Ties,
    newton: &mut [NewtonBlock],
    others: &[StateBlock],
) -> [f64; 2] {
    let (mut now, mut then) = (0.0, 0.0);
    for (block, (n, other)) in newton.iter_mut().zip(others).enumerate() {
        now += potential(pass, block, n);
        let pose = (n.a, n.t);
        (n.a, n.t) = (other.a, other.t);
        then += potential(pass, block, n);
        (n.a, n.t) = pose;
    }
    now += ties.potential(pass, |block| &newton[block].a);
    then += ties.potential(pass, |block| &others[block].a);
    [now, then]
}

/// How far the points would move in a step, to where places are, m.
fn find_drifts(pass: &Pass, block: usize, n: &NewtonBlock, slot: &mut Slot) {
    ports::find_velocities(pass.level, n, pass.points(block), &mut slot.place);
    let places = slot.place.as_flattened_mut().as_flattened_mut();
    places.iter_mut().for_each(|v| *v *= pass.scheme.h);
}

/// Adds forces.
fn add_to(sum: &mut [[f64; 3]], more: &[[f64; 3]]) {
    for (sum, more) in sum.iter_mut().zip(more) {
        *sum = add(sum, more);
    }
}
