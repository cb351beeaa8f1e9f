//! The passes of the velocity: landing, the drift of the joints, and its projection.

use super::again::Span;
use super::bodies;
use super::joints;
use super::passes::{Blocks, Joints, Pass, add_rows, beside, ends};
use super::pull::Acting;
use super::solver::Way;
use super::velocities;
use super::walk::Visit;
use crate::dual::larger;
use crate::integrate::{ordinary, tempered};
use crate::math::dispatch::Level;

/// How joints drift before the velocity is solved for.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Drift {
    /// The most in a step, m.
    pub most: f64,
    /// The largest velocity that the forces of the pose give a body, if they act, m/s.
    pub given: f64,
}

/// What a solve for the velocity is asked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ask {
    /// Whether it is the first one; its right-hand side is in the middle already.
    pub first: bool,
    /// How much the joints then drift.
    pub drift: bool,
    /// The end of the step.
    pub end: bool,
}

impl Joints {
    /// The velocity before its projection, and how the joints drift; nothing if a body is crushed.
    pub fn land(&mut self, pass: &Pass, blocks: &mut Blocks, bent: bool) -> Option<Drift> {
        let mut drift = Drift::default();
        let count = self.solver.count;
        let mut known = if self.ring.keeps_all() {
            [count; 2]
        } else {
            [0, count]
        };
        let sound = self.inwards(pass.level, Way::Substitute, |joints, visit| match visit {
            Visit::Bodies(block) => {
                // A block needs to know where the axes beside it are, which may be forgotten.
                joints.around(block, &mut known, |joints, block| {
                    let socket = &joints.shape.kind(block).socket;
                    let (n, found) = (&blocks.newton[block], joints.ring.of_mut(block));
                    bodies::find_axes(pass.level, socket, n, found);
                    true
                });
                joints.land_block(pass, blocks, block, bent, &mut drift)
            }
            Visit::Joints(block) => {
                drift.most = larger(joints.find_drifts(pass, block), drift.most);
                true
            }
        });
        sound.then_some(drift)
    }

    pub fn land_block(
        &mut self,
        pass: &Pass,
        blocks: &mut Blocks,
        block: usize,
        bent: bool,
        drift: &mut Drift,
    ) -> bool {
        let (level, line, scheme) = (pass.level, self.shape.in_line(), &pass.scheme);
        let (kind, kick) = (self.shape.kind(block), pass.kicks.of(block));
        let slot = self.slot(block);
        let (beside, found) = beside(pass, &self.shape, &mut self.ring, &self.held, block);
        let (n, told) = (&mut blocks.newton[slot], &mut self.told[slot]);
        let acting = Acting::on(&self.totals[0], block);
        let given = if bent {
            let params = &kind.params;
            ordinary::look_up(level, n);
            let sound = tempered::turn_velocity(level, params, scheme, false, n);
            tempered::project_free(level, params, kick, scheme, n);
            let given = velocities::meet(
                level,
                line,
                &beside,
                &kind.socket,
                scheme,
                &acting,
                n,
                told,
                found,
            );
            sound.then_some(given)
        } else {
            velocities::land(
                level, line, &beside, kind, kick, scheme, &acting, n, told, found,
            )
        };
        drift.given = larger(given.unwrap_or(0.0), drift.given);
        given.is_some()
    }

    /// Right-hand side of a block of joints: how they drift in a step; returns the largest, m.
    pub fn find_drifts(&mut self, pass: &Pass, block: usize) -> f64 {
        let [last, own] = ends(&self.shape, &self.ring, block);
        let (level, line, h) = (pass.level, self.shape.in_line(), pass.scheme.h);
        let eight = &self.shape.kind(block).eight;
        joints::find_drifts(level, line, last, own, eight, h, &mut self.rows[block])
    }

    /// Solves for the velocity, and finds how much the joints then drift in a step under all forces,
    /// m, or writes the end of the step, as it is asked. Nothing if that is not finite.
    pub fn project(&mut self, pass: &Pass, blocks: &mut Blocks, ask: Ask) -> Option<f64> {
        let mut drift = 0.0;
        let mut taken = Span::at(self.solver.split);
        let sound = self.go_on(pass.level, ask.first, |joints, visit| match visit {
            Visit::Bodies(block) => {
                joints.fetch_put(pass, blocks, block, 0);
                joints.take_up(pass, blocks, &mut taken, block);
                joints.fetch_put(pass, blocks, block, 1);
                joints.project_block(pass, blocks, ask, block)
            }
            Visit::Joints(block) if ask.drift => {
                drift = larger(joints.find_drifts(pass, block), drift);
                true
            }
            Visit::Joints(_) => true,
        });
        sound.then_some(drift)
    }

    fn project_block(&mut self, pass: &Pass, blocks: &mut Blocks, ask: Ask, block: usize) -> bool {
        let (level, line) = (pass.level, self.shape.in_line());
        let (scheme, slot) = (&pass.scheme, self.slot(block));
        let acting = Acting::on(&self.totals[1], block);
        let (kind, told) = (self.shape.kind(block), &self.told[slot]);
        let (n, found) = (&blocks.newton[slot], self.ring.of_mut(block));
        let next = (&mut blocks.next[block], &mut blocks.memory[block]);
        match (ask.drift, ask.end) {
            (true, true) => {
                velocities::settle_and_try(level, line, &acting, kind, told, scheme, n, next, found)
            }
            (false, _) => velocities::settle(level, line, &acting, kind, told, scheme, n, next),
            (true, false) => {
                velocities::try_out(level, line, &acting, &kind.socket, told, scheme, n, found);
                true
            }
        }
    }

    /// Solves for more forces of the velocity, and visits what acts under all of them.
    fn go_on(
        &mut self,
        level: Level,
        first: bool,
        mut visit: impl FnMut(&mut Joints, Visit) -> bool,
    ) -> bool {
        if !first {
            self.substitute(level);
        }
        let (count, split) = (self.solver.count, self.solver.split);
        self.outwards(level, |joints, what| {
            if let Visit::Bodies(block) = what {
                // Bodies feel the joints after them too, and from the middle on these come later.
                let own = block < split;
                if own {
                    joints.keep_more(block, first);
                }
                if (block + 1 == split || !own) && block + 1 < count {
                    joints.keep_more(block + 1, first);
                }
            }
            visit(joints, what)
        })
    }

    /// Writes the end of the step under the forces at hand; nothing if it is not finite.
    pub fn settle_as_it_is(&mut self, pass: &Pass, blocks: &mut Blocks) -> Option<()> {
        let mut all = 0..self.solver.count;
        let mut taken = Span::at(0);
        let ask = Ask {
            first: false,
            drift: false,
            end: true,
        };
        all.all(|block| {
            self.take_up(pass, blocks, &mut taken, block);
            self.project_block(pass, blocks, ask, block)
        })
        .then_some(())
    }

    /// Keeps the forces of a block that the velocity was solved for: in addition to those at hand,
    /// which are those of the pose at `first`.
    fn keep_more(&mut self, block: usize, first: bool) {
        let [pose, velocity] = &mut self.totals;
        if first {
            velocity[block] = pose[block];
        }
        add_rows(&mut velocity[block], &self.rows[block]);
    }
}
