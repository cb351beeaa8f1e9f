//! The passes over blocks of bodies and joints, each while the blocks next to it are at hand.

use super::bodies::{self, Acting};
use super::joints::Response;
use super::shape::{NO_ROWS, Rows, Shape};
use super::solver::Solver;
use crate::dual::axles::ROWS;
use crate::dual::larger;
use crate::integrate::kicks::Kicks;
use crate::integrate::newton::{self, NewtonBlock};
use crate::integrate::tempered;
use crate::integrate::{Scheme, ordinary};
use crate::math::dispatch::Level;
use crate::math::lanes::{LANES, Lane};
use crate::model::{MemoryBlock, ParamBlock, State, StateBlock};
use crate::settings::Rule;

/// What a pass reads.
pub(super) struct Pass<'a> {
    pub level: Level,
    pub scheme: Scheme,
    pub rule: Rule,
    pub params: &'a [ParamBlock],
    pub state: &'a State,
    pub kicks: &'a Kicks,
}

/// What passes write, by block of bodies.
pub(super) struct Blocks<'a> {
    pub newton: &'a mut [NewtonBlock],
    pub bent: &'a mut [[Lane; 3]],
    pub next: &'a mut [StateBlock],
    pub memory: &'a mut [MemoryBlock],
}

/// Points, rows and forces of all joints.
pub(super) struct Joints {
    pub shape: Shape,
    pub solver: Solver,
    /// Forces of the square rows at the end of the last step, times lengths, N m.
    held: Vec<[Lane; ROWS]>,
    /// How the bodies of two blocks that follow each other give way.
    responses: [Response; 2],
    /// Right-hand side of the next solve, then its solution.
    pub rows: Vec<Rows>,
    /// Forces of the position solve and of the velocity solve, N.
    pub totals: [Vec<Rows>; 2],
}

/// The world does not give way.
static NO_RESPONSE: Response = Response::NONE;

impl Joints {
    pub fn new(shape: Shape, solver: Solver) -> Joints {
        let blocks = shape.eights.len();
        Joints {
            held: vec![[[0.0; LANES]; ROWS]; blocks + 1],
            responses: [Response::NONE, Response::NONE],
            rows: vec![NO_ROWS; blocks],
            totals: [vec![NO_ROWS; blocks], vec![NO_ROWS; blocks]],
            shape,
            solver,
        }
    }

    /// Number of blocks.
    pub fn len(&self) -> usize {
        self.shape.eights.len()
    }

    /// Reads the forces of the square rows of eight joints.
    fn read_held(&mut self, held: &[f64], block: usize) {
        let (eight, force) = (&self.shape.eights[block], &mut self.held[block]);
        for lane in 0..eight.used {
            let (start, count) = eight.rows[lane];
            let rows = &held[start as usize..start as usize + count as usize];
            for k in 0..ROWS {
                let held = rows.get(3 + k).copied().unwrap_or(0.0);
                force[k][lane] = eight.length[lane] * held;
            }
        }
    }

    /// Where the bodies fly; nothing if one is crushed.
    pub fn predict(&mut self, pass: &Pass, blocks: &mut Blocks, block: usize) -> Option<()> {
        let (level, params, scheme) = (pass.level, &pass.params[block], &pass.scheme);
        let (past, memory) = (&pass.state.blocks[block], &pass.state.memory[block]);
        self.read_held(&pass.state.held, block);
        let (n, slot) = (&mut blocks.newton[block], &mut self.shape.slots[block + 1]);
        let kick = pass.kicks.of(block);
        bodies::fly(level, params, past, memory, kick, scheme, n, slot).then_some(())
    }

    /// What rows lose by turning, the motion without joints, and the dual system of a block.
    pub fn assemble(&mut self, pass: &Pass, blocks: &mut Blocks, block: usize) {
        let (level, params, scheme) = (pass.level, &pass.params[block], &pass.scheme);
        let n = &mut blocks.newton[block];
        let held = [&self.held[block], &self.held[block + 1]];
        let [even, odd] = &mut self.responses;
        let (last, own) = match block % 2 {
            0 => (odd, even),
            _ => (even, odd),
        };
        let (beside, slot) = self.shape.around(block);
        bodies::move_freely(level, &beside, params, scheme, held, n, slot, own);
        let last = if block == 0 { &NO_RESPONSE } else { &*last };
        let Shape {
            layout,
            eights,
            slots,
            ..
        } = &self.shape;
        let (last, own) = ((&slots[block], last), (&slots[block + 1], &*own));
        let (node, rows) = (&mut self.solver.nodes[block], &mut self.rows[block]);
        bodies::assemble(level, *layout, last, own, &eights[block], node, rows);
    }

    /// Moves the bodies by the forces that were solved for, and measures the gaps that are left.
    /// Returns the largest change of an entry of A, and the largest gap, m.
    pub fn answer(&mut self, pass: &Pass, blocks: &mut Blocks) -> [f64; 2] {
        let (level, layout) = (pass.level, self.shape.layout);
        let (mut update, mut open) = (0.0, 0.0);
        for (block, n) in blocks.newton.iter_mut().enumerate() {
            let acting = Acting::on(layout, &self.rows, block);
            let change = bodies::press(level, &acting, n, &mut self.shape.slots[block + 1]);
            update = larger(change, update);
            open = larger(self.find_gaps(level, block), open);
        }
        [update, open]
    }

    /// Right-hand side of a block of joints: how far they are open; returns the largest, m.
    fn find_gaps(&mut self, level: Level, block: usize) -> f64 {
        let ([last, own], eight) = self.shape.joints(block);
        let layout = self.shape.layout;
        bodies::find_gaps(level, layout, last, own, eight, &mut self.rows[block])
    }

    /// Takes the increments as rotations and strains; returns the largest gap that this opens, m.
    pub fn bend(&mut self, pass: &Pass, blocks: &mut Blocks) -> f64 {
        let mut open = 0.0;
        for (block, n) in blocks.newton.iter_mut().enumerate() {
            newton::bend(pass.level, &mut blocks.bent[block], n);
            bodies::locate(pass.level, n, &mut self.shape.slots[block + 1]);
            open = larger(self.find_gaps(pass.level, block), open);
        }
        open
    }

    /// The velocity before its projection, and how the joints drift: the most of it in a step, m.
    /// Nothing if a body is crushed.
    pub fn land(&mut self, pass: &Pass, blocks: &mut Blocks, bent: bool) -> Option<f64> {
        let (level, scheme) = (pass.level, &pass.scheme);
        let mut drift = 0.0;
        for (block, n) in blocks.newton.iter_mut().enumerate() {
            let (params, kick) = (&pass.params[block], pass.kicks.of(block));
            let (beside, slot) = self.shape.around(block);
            let sound = if bent {
                ordinary::look_up(level, n);
                let sound = tempered::turn_velocity(level, params, scheme, false, n);
                tempered::project_free(level, params, kick, scheme, n);
                bodies::meet(level, &beside, n, slot);
                sound
            } else {
                bodies::land(level, &beside, params, kick, scheme, n, slot)
            };
            if !sound {
                return None;
            }
            drift = larger(self.find_drifts(pass, block), drift);
        }
        Some(drift)
    }

    fn find_drifts(&mut self, pass: &Pass, block: usize) -> f64 {
        let ([last, own], eight) = self.shape.joints(block);
        let (level, layout, h) = (pass.level, self.shape.layout, pass.scheme.h);
        bodies::find_drifts(level, layout, last, own, eight, h, &mut self.rows[block])
    }

    /// How much the joints drift in a step under all forces of the velocity solve, m.
    pub fn try_out(&mut self, pass: &Pass, blocks: &Blocks) -> f64 {
        let (level, layout) = (pass.level, self.shape.layout);
        let mut drift = 0.0;
        for (block, n) in blocks.newton.iter().enumerate() {
            let acting = Acting::on(layout, &self.totals[1], block);
            let slot = &mut self.shape.slots[block + 1];
            bodies::try_out(level, &acting, &pass.scheme, n, slot);
            drift = larger(self.find_drifts(pass, block), drift);
        }
        drift
    }

    /// Writes the end of the step, with the velocity under all forces of its solve; nothing if it
    /// is not finite.
    pub fn settle(&mut self, pass: &Pass, blocks: &mut Blocks) -> Option<()> {
        let (level, layout, scheme) = (pass.level, self.shape.layout, &pass.scheme);
        for (block, n) in blocks.newton.iter().enumerate() {
            let acting = Acting::on(layout, &self.totals[1], block);
            let (params, slot) = (&pass.params[block], &self.shape.slots[block + 1]);
            let (state, memory) = (&mut blocks.next[block], &mut blocks.memory[block]);
            if !bodies::settle(level, &acting, params, scheme, n, slot, state, memory) {
                return None;
            }
        }
        Some(())
    }

    /// Keeps the forces that were solved for: the first ones, or in addition.
    pub fn keep_forces(&mut self, which: usize, first: bool) {
        let total = &mut self.totals[which];
        if first {
            total.copy_from_slice(&self.rows);
            return;
        }
        let more = self.rows.as_flattened().as_flattened();
        for (total, more) in total
            .as_flattened_mut()
            .as_flattened_mut()
            .iter_mut()
            .zip(more)
        {
            *total += more;
        }
    }
}

impl Pass<'_> {
    /// Whether the last increments stretch no body by more than what is allowed.
    pub fn keeps_shape(&self, blocks: &Blocks, bent: bool) -> bool {
        blocks.newton.iter().enumerate().all(|(block, n)| {
            let turn = if bent {
                &blocks.bent[block]
            } else {
                &newton::STRAIGHT
            };
            let (level, params) = (self.level, &self.params[block]);
            let stretch = newton::stretch(level, params, &self.scheme, turn, &n.rate, n);
            stretch <= self.rule.stretch
        })
    }
}
