//! The passes over blocks of bodies and joints, each while the blocks next to it are at hand.

use super::joints;
use super::shape::{NO_ROWS, Rows, Shape, Slot};
use super::solver::Solver;
use crate::dual::axles::{self, Axes, AxleBlock, NO_AXES, ROWS};
use crate::dual::{larger, ports, squares};
use crate::integrate::Scheme;
use crate::integrate::newton::{self, NewtonBlock, Stiffening};
use crate::integrate::tempered::{self, KickBlock};
use crate::math::dispatch::Level;
use crate::math::lanes::{LANES, Lane};
use crate::model::{MemoryBlock, ParamBlock, State, StateBlock};
use crate::settings::Rule;
use crate::step::write_down;

/// What a pass reads.
pub(super) struct Pass<'a> {
    pub level: Level,
    pub scheme: Scheme,
    pub rule: Rule,
    pub params: &'a [ParamBlock],
    pub state: &'a State,
    pub kicks: &'a [KickBlock],
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
    /// How far the axes of each block turn before the joints act; the world first.
    lost: Vec<Axes>,
    /// Forces of the square rows at the end of the last step, times lengths, N m.
    held: Vec<[Lane; ROWS]>,
    /// Right-hand side of the next solve, then its solution.
    pub rows: Vec<Rows>,
    /// Forces of the position solve and of the velocity solve, N.
    pub totals: [Vec<Rows>; 2],
}

const ONES: Lane = [1.0; LANES];

impl Joints {
    pub fn new(shape: Shape, solver: Solver) -> Joints {
        let blocks = shape.eights.len();
        Joints {
            lost: vec![NO_AXES; blocks + 1],
            held: vec![[[0.0; LANES]; ROWS]; blocks + 1],
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

    /// The slots of a block and of its neighbours.
    fn around(&mut self, block: usize) -> (&Slot, &mut Slot, Option<&Slot>) {
        let (last, rest) = self.shape.slots.split_at_mut(block + 1);
        let (own, next) = rest.split_first_mut().expect("a block has a slot");
        (&last[block], own, next.first())
    }

    /// Lengths of the joints of a block and of the next one.
    fn lengths(&self, block: usize) -> [Lane; 2] {
        let length = |k: usize| self.shape.eights.get(k).map_or([0.0; LANES], |e| e.length);
        [length(block), length(block + 1)]
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
        let (level, n) = (pass.level, &mut blocks.newton[block]);
        let (past, memory) = (&pass.state.blocks[block], &pass.state.memory[block]);
        if !newton::polar_block(level, &past.a, &mut n.rot) {
            return None;
        }
        let params = &pass.params[block];
        tempered::predict(
            level,
            params,
            past,
            memory,
            pass.kick(block),
            &pass.scheme,
            n,
        );
        let own = &self.shape.slots[block + 1].axles.own;
        joints::find_lost(level, own, &past.a, &n.a, &mut self.lost[block + 1]);
        self.read_held(&pass.state.held, block);
        Some(())
    }

    /// What rows lose by turning, and the motion without joints.
    pub fn move_freely(&mut self, pass: &Pass, blocks: &mut Blocks, block: usize) {
        let (level, n, params) = (pass.level, &mut blocks.newton[block], &pass.params[block]);
        let layout = self.shape.layout;
        let slot = &mut self.shape.slots[block + 1];
        let next = self.lost.get(block + 2).unwrap_or(&NO_AXES);
        let lost = [&self.lost[block], &self.lost[block + 1], next];
        joints::exchange(level, layout, lost, [&ONES, &ONES], &mut slot.axles.other);
        let force = joints::port_forces(layout, &self.held[block], &self.held[block + 1]);
        let mut torque = [[0.0; LANES]; 3];
        let AxleBlock { own, other, .. } = &self.shape.slots[block + 1].axles;
        joints::find_torques(level, own, other, &force, &n.rot, &mut torque);
        squares::add_loads(level, params, &pass.scheme, &torque, n);
        newton::free_solve(level, params, &pass.scheme, Stiffening::Tempered, n);
        let slot = &mut self.shape.slots[block + 1];
        ports::find_compliances(level, n, &slot.ports.point, &mut slot.ports.compliances);
        ports::find_places(level, n, &slot.ports.point, &mut slot.ports.place);
        axles::find_before(level, n, &mut slot.axles);
    }

    /// The dual system of a block of joints and their gaps; returns the largest, m.
    pub fn assemble(&mut self, pass: &Pass, blocks: &Blocks, block: usize) -> f64 {
        let (level, layout) = (pass.level, self.shape.layout);
        let [length, next_length] = self.lengths(block);
        let (last, own, next) = self.around(block);
        let next = next.map_or(&NO_AXES, |next| &next.axles.moving);
        let AxleBlock { moving, other, .. } = &mut own.axles;
        let from = [&last.axles.moving, &*moving, next];
        joints::exchange(level, layout, from, [&length, &next_length], other);
        let n = &blocks.newton[block];
        axles::find_responses(level, n, &own.ports.point, &mut own.axles);
        let slots = &self.shape.slots;
        let (last, own, eight) = (&slots[block], &slots[block + 1], &self.shape.eights[block]);
        let node = &mut self.solver.nodes[block];
        joints::assemble(level, layout, last, own, eight, node);
        self.find_gaps(level, block)
    }

    /// Right-hand side of a block of joints: how far they are open; returns the largest, m.
    pub fn find_gaps(&mut self, level: Level, block: usize) -> f64 {
        let Shape {
            layout,
            eights,
            slots,
            ..
        } = &self.shape;
        let (last, own, eight) = (&slots[block], &slots[block + 1], &eights[block]);
        joints::find_gaps(level, *layout, last, own, eight, &mut self.rows[block])
    }

    /// Puts the forces that were solved for on a block of bodies.
    fn put_loads(&mut self, level: Level, block: usize, n: &mut NewtonBlock) {
        let layout = self.shape.layout;
        let slot = &mut self.shape.slots[block + 1];
        let next = self.rows.get(block + 1).unwrap_or(&NO_ROWS);
        joints::put_forces(level, layout, &self.rows[block], next, slot);
        ports::put_loads(level, &slot.ports.point, &slot.ports.force, n);
        axles::put_loads(level, &slot.axles, n);
    }

    /// Moves the bodies by the forces that were solved for, and measures the gaps that are left.
    /// Returns the largest change of an entry of A, and the largest gap, m.
    pub fn answer(&mut self, pass: &Pass, blocks: &mut Blocks) -> [f64; 2] {
        let (mut update, mut open) = (0.0, 0.0);
        for block in 0..self.len() {
            let n = &mut blocks.newton[block];
            self.put_loads(pass.level, block, n);
            update = larger(newton::accept(pass.level, n), update);
            open = larger(self.locate(pass.level, block, n), open);
        }
        [update, open]
    }

    /// Finds where the points and axes of a block are, and the gaps of its joints.
    fn locate(&mut self, level: Level, block: usize, n: &NewtonBlock) -> f64 {
        let slot = &mut self.shape.slots[block + 1];
        ports::find_places(level, n, &slot.ports.point, &mut slot.ports.place);
        axles::find_world(level, n, &mut slot.axles);
        self.find_gaps(level, block)
    }

    /// Takes the increments as rotations and strains; returns the largest gap that this opens, m.
    pub fn bend(&mut self, pass: &Pass, blocks: &mut Blocks) -> f64 {
        let mut open = 0.0;
        for block in 0..self.len() {
            let n = &mut blocks.newton[block];
            newton::bend(pass.level, &mut blocks.bent[block], n);
            open = larger(self.locate(pass.level, block, n), open);
        }
        open
    }

    /// The velocity before its projection; nothing if a body is crushed.
    pub fn turn_velocity(&mut self, pass: &Pass, n: &mut NewtonBlock, block: usize) -> Option<()> {
        let (level, params, scheme) = (pass.level, &pass.params[block], &pass.scheme);
        if !tempered::turn_velocity(level, params, scheme, false, n) {
            return None;
        }
        tempered::project_free(level, params, pass.kick(block), scheme, n);
        self.find_rates(level, n, block);
        Some(())
    }

    fn find_rates(&mut self, level: Level, n: &NewtonBlock, block: usize) {
        let slot = &mut self.shape.slots[block + 1];
        ports::find_velocities(level, n, &slot.ports.point, &mut slot.ports.place);
        axles::find_rates(level, n, &mut slot.axles);
    }

    /// Tells a block of bodies the axes of their neighbours at the new pose, and finds how the
    /// joints drift; returns the most of it in a step, m.
    pub fn start_drift(&mut self, pass: &Pass, block: usize) -> f64 {
        let (level, layout) = (pass.level, self.shape.layout);
        let [length, next_length] = self.lengths(block);
        let (last, own, next) = self.around(block);
        let next = next.map_or(&NO_AXES, |next| &next.axles.world);
        let AxleBlock { world, other, .. } = &mut own.axles;
        let from = [&last.axles.world, &*world, next];
        joints::exchange(level, layout, from, [&length, &next_length], other);
        self.find_drifts(pass, block)
    }

    fn find_drifts(&mut self, pass: &Pass, block: usize) -> f64 {
        let Shape {
            layout,
            eights,
            slots,
            ..
        } = &self.shape;
        let (last, own, eight) = (&slots[block], &slots[block + 1], &eights[block]);
        let (level, h) = (pass.level, pass.scheme.h);
        joints::find_drifts(level, *layout, last, own, eight, h, &mut self.rows[block])
    }

    /// Adds the answer to the forces that were solved for to the velocity. Writes the end of the
    /// step, if this is it, or finds what drift is left, m; nothing if the end is not finite.
    pub fn project(
        &mut self,
        pass: &Pass,
        blocks: &mut Blocks,
        (first, ends): (bool, bool),
    ) -> Option<f64> {
        let mut drift = 0.0;
        for block in 0..self.len() {
            let n = &mut blocks.newton[block];
            self.put_loads(pass.level, block, n);
            tempered::project_add(pass.level, first, &pass.scheme, n);
            if ends {
                blocks.end(pass, block)?;
            } else {
                self.find_rates(pass.level, n, block);
                drift = larger(self.find_drifts(pass, block), drift);
            }
        }
        Some(drift)
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
    fn kick(&self, block: usize) -> &KickBlock {
        &self.kicks[block.min(self.kicks.len() - 1)]
    }

    /// Whether the last increments stretch no body by more than what is allowed.
    pub fn keeps_shape(&self, blocks: &Blocks, bent: bool) -> bool {
        blocks.newton.iter().enumerate().all(|(block, n)| {
            let turn = if bent {
                &blocks.bent[block]
            } else {
                &newton::STRAIGHT
            };
            let (level, params) = (self.level, &self.params[block]);
            let stretch = newton::stretch(level, params, &self.scheme, turn, &n.w, n);
            stretch <= self.rule.stretch
        })
    }
}

impl Blocks<'_> {
    /// Writes the end of the step of a block; nothing if it is not finite.
    pub fn end(&mut self, pass: &Pass, block: usize) -> Option<()> {
        let n = &mut self.newton[block];
        tempered::project_end(pass.level, &pass.params[block], &pass.scheme, n);
        let wrong = write_down(
            pass.level,
            n,
            &mut self.next[block],
            &mut self.memory[block],
        );
        (wrong == 0.0).then_some(())
    }
}
