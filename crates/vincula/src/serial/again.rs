//! A step that one solve is enough for, along a mechanism that is too long for the caches: passes
//! find again what the ones before knew of the bodies, and only the state, factors and right-hand
//! sides go through memory, half as much. The operations are those of `passes.rs`, and so are the
//! bits.
//!
//! 1. from the ends to the middle: the motion without joints and the dual system, as ever;
//! 2. back to the ends: the motion without joints again, the answer, and the landing, which is put
//!    down;
//! 3. to the middle: the drift;
//! 4. back to the ends: what was put down is taken up, projected and finished, and what is left of the
//!    drift measured.

use super::bodies;
use super::passes::{Blocks, Joints, Pass, beside};
use super::projection::Drift;
use super::pull::Acting;
use super::velocities;
use super::walk::Visit;
use crate::dual::larger;
use crate::integrate::newton;
use crate::math::ahead::fetch;
use crate::math::lanes::{LANES, Lane};

/// What is put down of eight bodies that have landed, beside the pose, which is that of the next
/// state: the rate of A in the frame of the pose, 1/s, the velocity, m/s, and the rotational
/// stiffness, N m.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(super) struct Put {
    pub w: [Lane; 9],
    pub v: [Lane; 3],
    pub geometric: [Lane; 3],
}

impl Put {
    /// Nothing yet.
    pub const NONE: Put = Put {
        w: [[0.0; LANES]; 9],
        v: [[0.0; LANES]; 3],
        geometric: [[0.0; LANES]; 3],
    };
}

/// Blocks that a pass from the middle has come to: from the first one, below the second.
pub(super) struct Span {
    from: usize,
    to: usize,
}

impl Span {
    /// None so far, but next to this one.
    pub fn at(block: usize) -> Span {
        Span {
            from: block,
            to: block,
        }
    }

    /// Takes in a block.
    fn enter(&mut self, block: usize) {
        self.from = self.from.min(block);
        self.to = self.to.max(block + 1);
    }

    /// Takes in a block and those beside it, and visits the new ones; false as soon as a visit is.
    fn reach_around(
        &mut self,
        block: usize,
        count: usize,
        mut visit: impl FnMut(usize) -> bool,
    ) -> bool {
        while self.from > block.saturating_sub(1) {
            self.from -= 1;
            if !visit(self.from) {
                return false;
            }
        }
        while self.to < (block + 2).min(count) {
            self.to += 1;
            if !visit(self.to - 1) {
                return false;
            }
        }
        true
    }
}

/// What the first solve led to.
#[derive(Default)]
pub(super) struct Outcome {
    /// Largest change of an entry of A, and the most that it stretches a body.
    pub update: f64,
    pub stretch: f64,
    /// Largest gap that is left, m.
    pub open: f64,
    pub drift: Drift,
}

impl Joints {
    /// Solves, moves the bodies by the forces, and measures the gaps that are left; lands the
    /// bodies, or ends the step where no velocity is projected. Nothing if a body is crushed or
    /// not finite.
    pub fn answer_again(&mut self, pass: &Pass, blocks: &mut Blocks) -> Option<Outcome> {
        let (level, count, split) = (pass.level, self.solver.count, self.solver.split);
        let [mut flown, mut pressed, mut landed] = [split; 3].map(Span::at);
        let mut outcome = Outcome::default();
        let sound = self.outwards(level, |joints, visit| match visit {
            Visit::Bodies(block) => {
                joints.fetch_again(pass, blocks, block, 0);
                if joints.finds_again {
                    let fly = |block| joints.predict(pass, blocks, block);
                    if !flown.reach_around(block, count, fly) {
                        return false;
                    }
                }
                joints.fetch_again(pass, blocks, block, 1);
                joints.press_again(pass, blocks, block, &mut outcome);
                pressed.enter(block);
                !pass.projects
                    || joints.land_behind(
                        pass,
                        blocks,
                        &pressed,
                        &mut landed,
                        false,
                        &mut outcome.drift,
                    )
            }
            Visit::Joints(block) => {
                joints.fetch_again(pass, blocks, block, 2);
                outcome.open = larger(joints.measure_gaps(level, block), outcome.open);
                true
            }
        });
        let sound = sound
            && (!pass.projects
                || self.land_behind(
                    pass,
                    blocks,
                    &pressed,
                    &mut landed,
                    true,
                    &mut outcome.drift,
                ));
        if !pass.projects {
            // Nothing else is solved for.
            std::mem::swap(&mut self.rows, &mut self.totals[0]);
        }
        sound.then_some(outcome)
    }

    /// Asks for a third of what the answer needs a little later than a block.
    fn fetch_again(&self, pass: &Pass, blocks: &Blocks, block: usize, third: usize) {
        let later = self.later(block, false);
        if self.finds_again {
            self.fetch(pass, later, third);
        }
        fetch(blocks.next, later, [third, 3]);
        match pass.projects {
            true => fetch(&self.put, later, [third, 3]),
            false => fetch(blocks.memory, later, [third, 3]),
        }
    }

    /// The same where bodies are taken up again.
    pub fn fetch_put(&self, pass: &Pass, blocks: &Blocks, block: usize, half: usize) {
        let later = self.later(block, false);
        fetch(&self.put, later, [half, 2]);
        fetch(blocks.next, later, [half, 2]);
        fetch(blocks.memory, later, [half, 2]);
        fetch(&pass.state.memory, later, [half, 2]);
    }

    /// The motion of a block without joints, and then with them.
    fn press_again(
        &mut self,
        pass: &Pass,
        blocks: &mut Blocks,
        block: usize,
        outcome: &mut Outcome,
    ) {
        let (level, line) = (pass.level, self.shape.in_line());
        let (scheme, slot) = (&pass.scheme, self.slot(block));
        if self.finds_again {
            let (beside, found) = beside(pass, &self.shape, &mut self.ring, &self.held, block);
            let (kind, told) = (self.shape.kind(block), &mut self.told[slot]);
            let n = &mut blocks.newton[slot];
            bodies::move_again(level, line, &beside, kind, scheme, n, told, found);
        }
        if !pass.projects {
            let acting = Acting::on(&self.rows, block);
            let (socket, told) = (&self.shape.kind(block).socket, &self.told[slot]);
            let past = (&pass.state.blocks[block], &pass.state.memory[block]);
            let next = (&mut blocks.next[block], &mut blocks.memory[block]);
            let (n, found) = (&mut blocks.newton[slot], self.ring.of_mut(block));
            let update = bodies::press_and_end(
                level, line, &acting, socket, told, scheme, past, n, next, found,
            );
            outcome.update = larger(update, outcome.update);
            return;
        }
        self.keep_forces(block, true);
        outcome.update = larger(self.press(level, blocks, block), outcome.update);
        let (n, params) = (&blocks.newton[slot], &self.shape.kind(block).params);
        let stretch = newton::stretch(level, params, scheme, &newton::STRAIGHT, &n.rate, n);
        outcome.stretch = outcome.stretch.max(stretch);
    }

    /// Lands the blocks between others that were pressed, and finds how the joints between them
    /// drift; those at the ends are the `last` ones.
    fn land_behind(
        &mut self,
        pass: &Pass,
        blocks: &mut Blocks,
        pressed: &Span,
        landed: &mut Span,
        last: bool,
        drift: &mut Drift,
    ) -> bool {
        let count = self.solver.count;
        let ready = |block: usize| {
            let before = block > pressed.from || (last && block == 0);
            before && (block + 1 < pressed.to || (last && block + 1 == count))
        };
        while landed.from > 0 && ready(landed.from - 1) {
            landed.from -= 1;
            let block = landed.from;
            if !self.land_and_put_down(pass, blocks, block, drift) {
                return false;
            }
            if block + 1 < landed.to {
                drift.most = larger(self.find_drifts(pass, block + 1), drift.most);
            }
            if block == 0 {
                drift.most = larger(self.find_drifts(pass, 0), drift.most);
            }
        }
        while landed.to < count && ready(landed.to) {
            let block = landed.to;
            landed.to += 1;
            if !self.land_and_put_down(pass, blocks, block, drift) {
                return false;
            }
            drift.most = larger(self.find_drifts(pass, block), drift.most);
        }
        true
    }

    fn land_and_put_down(
        &mut self,
        pass: &Pass,
        blocks: &mut Blocks,
        block: usize,
        drift: &mut Drift,
    ) -> bool {
        let sound = self.land_block(pass, blocks, block, false, drift);
        let n = &blocks.newton[self.slot(block)];
        velocities::put_down(pass.level, n, &mut self.put[block], &mut blocks.next[block]);
        sound
    }

    /// Finds a block of bodies again that was put down, if it was.
    pub fn take_up(&mut self, pass: &Pass, blocks: &mut Blocks, taken: &mut Span, block: usize) {
        if !self.finds_again {
            return;
        }
        let (level, slot) = (pass.level, self.slot(block));
        taken.reach_around(block, self.solver.count, |block| {
            let slot = self.slot(block);
            let (n, found) = (&mut blocks.newton[slot], self.ring.of_mut(block));
            let (next, past) = (&blocks.next[block], &pass.state.memory[block]);
            let (kind, put) = (self.shape.kind(block), &self.put[block]);
            // It was sound before.
            velocities::take_up(level, kind, &pass.scheme, put, next, past, n, found)
        });
        let (beside, found) = beside(pass, &self.shape, &mut self.ring, &self.held, block);
        let (n, told) = (&blocks.newton[slot], &mut self.told[slot]);
        velocities::tell_again(level, self.shape.in_line(), &beside, n, told, found);
    }
}
