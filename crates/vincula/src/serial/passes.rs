//! The passes over blocks of bodies and joints, each while the blocks next to it are at hand.

use super::again::Put;
use super::bodies::{self, Beside};
use super::joints::{self, Response};
use super::pull::Acting;
use super::ring::Ring;
use super::shape::{Found, NO_ROWS, Rows, SIZE, Shape};
use super::solver::{Solver, Way};
use super::walk::Visit;
use crate::dual::axles::{Axes, NO_AXES, ROWS};
use crate::dual::larger;
use crate::integrate::Scheme;
use crate::integrate::kicks::Kicks;
use crate::integrate::newton::{self, NewtonBlock};
use crate::math::ahead::fetch;
use crate::math::dispatch::Level;
use crate::math::lanes::{LANES, Lane};
use crate::model::{MemoryBlock, State, StateBlock};
use crate::settings::Rule;

/// What a pass reads.
pub(super) struct Pass<'a> {
    pub level: Level,
    pub scheme: Scheme,
    /// Whether bodies fly first, and their velocity is projected at the end.
    pub projects: bool,
    pub rule: Rule,
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
    /// What is found of the bodies.
    pub ring: Ring,
    /// Whether every pass finds bodies again (`again.rs`), so that only those at hand are kept.
    pub finds_again: bool,
    /// What is put down of them until then.
    pub put: Vec<Put>,
    /// ℓ times the axes of the other bodies, in the frame of the rotation, m.
    pub told: Vec<Axes>,
    /// Forces of the square rows at the end of the last step, times lengths, N m.
    pub held: Vec<[Lane; ROWS]>,
    /// How the bodies of two blocks that follow each other give way, in either half.
    responses: [Response; 4],
    /// Right-hand side of the next solve, then its solution.
    pub rows: Vec<Rows>,
    /// Forces of the position solve and of the velocity solve, N.
    pub totals: [Vec<Rows>; 2],
}

/// A block and what is beside it.
#[inline(always)]
pub(super) fn beside<'a>(
    pass: &Pass,
    shape: &'a Shape,
    ring: &'a mut Ring,
    held: &'a [[Lane; ROWS]],
    block: usize,
) -> (Beside<'a>, &'a mut Found) {
    let (own, [last, next]) = ring.around(block);
    let beside = Beside {
        flies: pass.projects,
        last: last.unwrap_or(&shape.world),
        next: next.unwrap_or(&NOTHING_FOUND),
        lengths: shape.lengths(block),
        held: [&held[block], &held[block + 1]],
    };
    (beside, own)
}

/// What was found of the bodies at both ends of a block of joints.
pub(super) fn ends<'a>(shape: &'a Shape, ring: &'a Ring, block: usize) -> [&'a Found; 2] {
    let last = match block {
        0 => &shape.world,
        _ => ring.of(block - 1),
    };
    [last, ring.of(block)]
}

/// How many blocks ahead memory is asked for.
const AHEAD: usize = 3;

/// What is after the last block.
static NOTHING_FOUND: Found = Found::NONE;

/// The world does not give way.
static NO_RESPONSE: Response = Response::NONE;

impl Joints {
    pub fn new(shape: Shape, solver: Solver) -> Joints {
        let blocks = shape.len();
        Joints {
            ring: Ring::new(blocks, solver.split),
            finds_again: false,
            put: Vec::new(),
            told: vec![NO_AXES; blocks],
            held: vec![[[0.0; LANES]; ROWS]; blocks + 1],
            responses: [const { Response::NONE }; 4],
            rows: vec![NO_ROWS; blocks],
            totals: [vec![NO_ROWS; blocks], vec![NO_ROWS; blocks]],
            shape,
            solver,
        }
    }

    /// Where a block of bodies, and the axes that they were told, are while they are of interest.
    pub fn slot(&self, block: usize) -> usize {
        if self.finds_again {
            self.ring.place(block)
        } else {
            block
        }
    }

    /// Reads the forces of the square rows of eight joints.
    fn read_held(&mut self, held: &[f64], block: usize) {
        let (eight, force) = (&self.shape.kind(block).eight, &mut self.held[block]);
        let held = &held[self.shape.firsts[block][0] as usize..];
        if eight.is_full {
            let held: &[[f64; SIZE]] = held[..SIZE * LANES].as_chunks().0;
            for k in 0..ROWS {
                for lane in 0..LANES {
                    force[k][lane] = eight.length[lane] * held[lane][3 + k];
                }
            }
            return;
        }
        for lane in 0..eight.used {
            let (start, count) = eight.rows[lane];
            let rows = &held[start as usize..start as usize + count as usize];
            for k in 0..ROWS {
                let held = rows.get(3 + k).copied().unwrap_or(0.0);
                force[k][lane] = eight.length[lane] * held;
            }
        }
    }

    /// The motion without joints, and the dual system, which is factored; nothing if a body is
    /// crushed or a pivot came near to vanishing.
    pub fn prepare(&mut self, pass: &Pass, blocks: &mut Blocks) -> Option<()> {
        // Blocks that fly: those below the first one, and from the second on.
        let mut flown = [0, self.solver.count];
        let sound = self.inwards(pass.level, Way::Eliminate, |joints, visit| match visit {
            Visit::Bodies(block) => {
                let later = joints.later(block, true);
                joints.fetch(pass, later, 0);
                // A block needs to know where those beside it fly.
                let sound = joints.around(block, &mut flown, |joints, block| {
                    joints.predict(pass, blocks, block)
                });
                joints.fetch(pass, later, 1);
                if sound {
                    joints.move_freely(pass, blocks, block);
                }
                sound
            }
            Visit::Joints(block) => {
                joints.fetch(pass, joints.later(block, true), 2);
                joints.assemble(pass, block);
                true
            }
        });
        (sound && self.solver.finish(pass.level)).then_some(())
    }

    /// The block that a pass to the middle, or back, comes to a little later.
    pub fn later(&self, block: usize, inwards: bool) -> usize {
        match (block < self.solver.split) == inwards {
            true => block + AHEAD,
            false => block.wrapping_sub(AHEAD),
        }
    }

    /// Asks for a third of the state of a block.
    pub fn fetch(&self, pass: &Pass, block: usize, third: usize) {
        fetch(&pass.state.blocks, block, [third, 3]);
        fetch(&pass.state.memory, block, [third, 3]);
    }

    /// Where the bodies fly; false if one is crushed.
    pub fn predict(&mut self, pass: &Pass, blocks: &mut Blocks, block: usize) -> bool {
        let (level, scheme) = (pass.level, &pass.scheme);
        let (past, memory) = (&pass.state.blocks[block], &pass.state.memory[block]);
        if pass.projects {
            self.read_held(&pass.state.held, block);
        }
        let slot = self.slot(block);
        let (n, found) = (&mut blocks.newton[slot], self.ring.of_mut(block));
        let (kind, kick) = (self.shape.kind(block), pass.kicks.of(block));
        match pass.projects {
            true => bodies::fly(level, kind, past, memory, kick, scheme, n, found),
            false => bodies::set_out(level, kind, past, memory, kick, scheme, n, found),
        }
    }

    /// Where the response of a block is while it is of interest.
    fn response(&self, block: usize) -> usize {
        2 * usize::from(block >= self.solver.split) + block % 2
    }

    /// What rows lose by turning, the motion without joints, and how the bodies give way to them.
    fn move_freely(&mut self, pass: &Pass, blocks: &mut Blocks, block: usize) {
        let (level, line, scheme) = (pass.level, self.shape.in_line(), &pass.scheme);
        let slot = self.slot(block);
        let n = &mut blocks.newton[slot];
        let response = self.response(block);
        let response = &mut self.responses[response];
        let (beside, found) = beside(pass, &self.shape, &mut self.ring, &self.held, block);
        let (kind, told) = (self.shape.kind(block), &mut self.told[slot]);
        bodies::move_freely(level, line, &beside, kind, scheme, n, told, found, response);
    }

    /// The dual system of a block of joints.
    fn assemble(&mut self, pass: &Pass, block: usize) {
        let own = &self.responses[self.response(block)];
        let last = match block {
            0 => &NO_RESPONSE,
            _ => &self.responses[self.response(block - 1)],
        };
        let [found_last, found] = ends(&self.shape, &self.ring, block);
        let (last, own) = ((found_last, last), (found, own));
        let (line, eight) = (self.shape.in_line(), &self.shape.kind(block).eight);
        let (node, rows) = (self.solver.node(block), &mut self.rows[block]);
        bodies::assemble(pass.level, line, last, own, eight, node, rows);
    }

    /// Solves, moves the bodies by the forces, and measures the gaps that are left. The
    /// right-hand side is in the middle already if these are the `first` ones. Returns the largest
    /// change of an entry of A, and the largest gap, m.
    pub fn answer(&mut self, pass: &Pass, blocks: &mut Blocks, first: bool) -> [f64; 2] {
        let level = pass.level;
        let (mut update, mut open) = (0.0, 0.0);
        if !first {
            self.substitute(level);
        }
        self.outwards(level, |joints, visit| {
            match visit {
                Visit::Bodies(block) => {
                    joints.keep_forces(block, first);
                    update = larger(joints.press(level, blocks, block), update);
                }
                Visit::Joints(block) => open = larger(joints.find_gaps(level, block), open),
            }
            true
        });
        [update, open]
    }

    /// Moves the bodies by the forces that were solved for; returns the largest change of an entry
    /// of A.
    pub fn press(&mut self, level: Level, blocks: &mut Blocks, block: usize) -> f64 {
        let slot = self.slot(block);
        let (line, acting) = (self.shape.in_line(), Acting::on(&self.rows, block));
        let (socket, told) = (&self.shape.kind(block).socket, &self.told[slot]);
        let (n, found) = (&mut blocks.newton[slot], self.ring.of_mut(block));
        bodies::press(level, line, &acting, socket, told, n, found)
    }

    /// Right-hand side of a block of joints: how far they are open; returns the largest, m.
    pub fn find_gaps(&mut self, level: Level, block: usize) -> f64 {
        let [last, own] = ends(&self.shape, &self.ring, block);
        let (line, eight) = (self.shape.in_line(), &self.shape.kind(block).eight);
        joints::find_gaps(level, line, last, own, eight, &mut self.rows[block])
    }

    /// How far a block of joints is open, at most, m.
    pub fn measure_gaps(&self, level: Level, block: usize) -> f64 {
        let [last, own] = ends(&self.shape, &self.ring, block);
        let (line, eight) = (self.shape.in_line(), &self.shape.kind(block).eight);
        joints::find_gaps(level, line, last, own, eight, &mut { NO_ROWS })
    }

    /// Takes the increments as rotations and strains; returns the largest gap that this opens, m.
    pub fn bend(&mut self, pass: &Pass, blocks: &mut Blocks) -> f64 {
        let mut open = 0.0;
        for (block, n) in blocks.newton.iter_mut().enumerate() {
            newton::bend(pass.level, &mut blocks.bent[block], n);
            let socket = &self.shape.kind(block).socket;
            bodies::locate(pass.level, socket, n, self.ring.of_mut(block));
            open = larger(self.find_gaps(pass.level, block), open);
        }
        open
    }

    /// Writes the end of a step that projects no velocity; nothing if it is not finite.
    pub fn end(&self, pass: &Pass, blocks: &mut Blocks) -> Option<()> {
        let (level, line, scheme) = (pass.level, self.shape.in_line(), &pass.scheme);
        let mut all = 0..self.solver.count;
        let sound = all.all(|block| {
            let acting = Acting::on(&self.totals[0], block);
            let (socket, told) = (&self.shape.kind(block).socket, &self.told[block]);
            let past = (&pass.state.blocks[block], &pass.state.memory[block]);
            let next = (&mut blocks.next[block], &mut blocks.memory[block]);
            let n = &blocks.newton[block];
            bodies::end(level, line, &acting, socket, told, scheme, past, n, next)
        });
        sound.then_some(())
    }

    /// Keeps the forces of a block that the pose was solved for: the first ones, or in addition.
    pub fn keep_forces(&mut self, block: usize, first: bool) {
        let (total, rows) = (&mut self.totals[0][block], &self.rows[block]);
        if first {
            *total = *rows;
            return;
        }
        add_rows(total, rows);
    }

    /// Whether the last increments stretch no body by more than what is allowed.
    pub fn keeps_shape(&self, pass: &Pass, blocks: &Blocks, bent: bool) -> bool {
        blocks.newton.iter().enumerate().all(|(block, n)| {
            let turn = if bent {
                &blocks.bent[block]
            } else {
                &newton::STRAIGHT
            };
            let (level, params) = (pass.level, &self.shape.kind(block).params);
            let stretch = newton::stretch(level, params, &pass.scheme, turn, &n.rate, n);
            stretch <= pass.rule.stretch
        })
    }
}

/// Adds forces to others.
pub(super) fn add_rows(total: &mut Rows, more: &Rows) {
    for (total, more) in total.as_flattened_mut().iter_mut().zip(more.as_flattened()) {
        *total += more;
    }
}
