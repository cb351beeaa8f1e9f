//! Long chains, streamed: the default step for worlds of ball-jointed links in line.
//!
//! The general step makes a dozen passes over the bodies, each with a kilobyte of unknowns a
//! body. On a chain that no longer fits the cache, waiting for memory takes most of the time.
//! Here the kernels of a pass run one after another on one block of eight bodies while it is
//! in the first cache, and only what a later pass needs is kept (`record.rs`):
//!
//! 1. bodies: predict, solve freely, find places and compliances of the joints' points,
//! 2. joints: eliminate from both ends, substitute back (`vincula_blocks::Line`),
//! 3. bodies: answer the joint forces, turn the velocity, kick, find the points' velocities,
//! 4. joints: substitute,
//! 5. bodies: project the velocity and finish.
//!
//! The arithmetic is that of the general step, kernel by kernel, so the results have the same
//! bits (tested). Whatever is out of the ordinary (a second linearisation, a weak pivot, a
//! crushed body) is left to the general step, which starts afresh from the untouched state.

mod links;
mod record;

use vincula_blocks::Line;

use crate::dual::SolverChoice;
use crate::dual::ports::{self, PortBlock};
use crate::integrate::newton::{self, NewtonBlock};
use crate::integrate::tempered::{self, KickBlock};
use crate::integrate::{Integrator, Scheme};
use crate::math::dispatch::Level;
use crate::model::{Model, State, StateBlock};
use crate::settings::{Settings, Workspace};
use crate::step::{StepReport, is_sound};
use links::{Links, Nodes, worst_gap};
use record::Record;

/// Steps that the general step takes over after one that was out of the ordinary.
const REST: u32 = 4;
/// Bodies a thread is worth.
const WORTH_A_THREAD: usize = 8192;

/// The memory of the streamed step, sized once.
pub(crate) struct Stream {
    links: Links,
    line: Line,
    threads: usize,
    records: Vec<Record>,
    /// Velocities of the points of each block.
    rates: Vec<ports::Points>,
    /// Force of each joint: of the position solve, and of the velocity solve, N.
    forces: [Vec<[f64; 3]>; 2],
    resting: u32,
}

/// What one pass over the bodies needs to know.
struct Pass<'a> {
    level: Level,
    scheme: Scheme,
    model: &'a Model,
    state: &'a State,
    kicks: &'a [KickBlock],
    links: &'a Links,
}

impl Pass<'_> {
    fn kick(&self, block: usize) -> &KickBlock {
        &self.kicks[block.min(self.kicks.len() - 1)]
    }
}

impl Stream {
    /// The streamed step of a model, if it is made of such chains.
    pub(crate) fn new(model: &Model, settings: &Settings) -> Option<Stream> {
        let usual = settings.integrator == Integrator::Tempered
            && settings.solver == SolverChoice::Automatic;
        if !usual || model.ground.is_some() {
            return None;
        }
        let links = Links::find(model)?;
        let blocks = model.params.len();
        let joints = model.joints.len();
        let threads = 1usize.min(model.bodies.len() / WORTH_A_THREAD).max(1);
        Some(Stream {
            links,
            line: Line::new(joints, threads > 1),
            threads,
            records: vec![Record::ZERO; blocks],
            rates: vec![ports::NO_POINTS; blocks],
            forces: [vec![[0.0; 3]; joints], vec![[0.0; 3]; joints]],
            resting: 0,
        })
    }

    /// Makes the step, or leaves everything as it was and returns nothing.
    fn advance(
        &mut self,
        model: &Model,
        state: &mut State,
        work: &mut Workspace,
        h: f64,
    ) -> Option<StepReport> {
        if self.resting > 0 {
            self.resting -= 1;
            return None;
        }
        let report = self.try_step(model, state, work, h);
        if report.is_none() {
            self.resting = REST;
        }
        report
    }

    fn try_step(
        &mut self,
        model: &Model,
        state: &mut State,
        work: &mut Workspace,
        h: f64,
    ) -> Option<StepReport> {
        let pass = Pass {
            level: work.level,
            scheme: tempered::scheme(h, work.settings.tempering()),
            model,
            state,
            kicks: &work.kicks,
            links: &self.links,
        };
        let (threads, points) = (self.threads, &mut work.dual.ports);
        let ready = each_block(
            threads,
            (&mut self.records, &mut *points, &mut self.rates),
            |block, n, record, ports, _| prepare(&pass, block, n, record, ports),
        )?;
        debug_assert_eq!(ready, 0.0);

        let [first, second] = &mut self.forces;
        let nodes = Nodes::new(&self.links, points);
        nodes.write_gaps(first);
        if !self.line.factor_solve(&nodes, first) {
            return None;
        }

        let next = &mut work.next;
        let update = each_block(
            threads,
            (&mut self.records, &mut *points, &mut self.rates),
            |block, n, record, ports, rates| answer(&pass, block, first, n, record, ports, rates),
        )?;
        if !(update <= work.settings.iteration().update) {
            return None;
        }

        self.links.write_drifts(&self.rates, h, second);
        self.line.solve(second);
        let residual = worst_gap(&Nodes::new(&self.links, points));

        each_block(
            threads,
            (&mut self.records, &mut *points, next),
            |block, n, record, ports, next| finish(&pass, block, second, n, record, ports, next),
        )?;
        self.commit(model, state, work, h);
        Some(StepReport {
            iterations: 1,
            converged: true,
            residual,
            update,
        })
    }

    /// Everything is sound: the new state replaces the old one.
    fn commit(&mut self, model: &Model, state: &mut State, work: &mut Workspace, h: f64) {
        for (memory, record) in state.memory.iter_mut().zip(&self.records) {
            memory.load = record.held;
            memory.slow = record.slow;
        }
        std::mem::swap(&mut state.blocks, &mut work.next);
        let [first, second] = [0, 1].map(|k| self.forces[k].as_flattened());
        for (mean, (a, b)) in state.multipliers.iter_mut().zip(first.iter().zip(second)) {
            *mean = 0.5 * (*a + *b);
        }
        state.held.copy_from_slice(second);
        state.measure_coordinates(model);
        state.time += h;
    }
}

/// Makes the streamed step if the world is one for it and the step an ordinary one.
pub(crate) fn advance(
    model: &Model,
    state: &mut State,
    work: &mut Workspace,
    h: f64,
) -> Option<StepReport> {
    // Taken out for the time being, since it needs the rest of the workspace.
    let mut stream = work.stream.take()?;
    let report = stream.advance(model, state, work, h);
    work.stream = Some(stream);
    report
}

/// First pass: everything that the joints want to know of a block.
fn prepare(
    pass: &Pass,
    block: usize,
    n: &mut NewtonBlock,
    record: &mut Record,
    ports: &mut PortBlock,
) -> Option<f64> {
    let (params, past) = (&pass.model.params[block], &pass.state.blocks[block]);
    let (level, scheme) = (pass.level, &pass.scheme);
    if !newton::polar_block(level, &past.a, &mut n.rot) {
        return None;
    }
    let memory = &pass.state.memory[block];
    tempered::predict(
        level,
        params,
        past,
        memory,
        pass.kick(block),
        scheme,
        &mut n,
    );
    newton::free_solve(level, params, scheme, 0.0, n);
    ports::find_compliances(level, n, ports);
    ports::find_places(level, n, ports);
    record.keep_prediction(n);
    Some(0.0)
}

/// Second pass: the answer to the joint forces, and the velocity before its projection.
fn answer(
    pass: &Pass,
    block: usize,
    forces: &[[f64; 3]],
    n: &mut NewtonBlock,
    record: &mut Record,
    ports: &mut PortBlock,
    rates: &mut ports::Points,
) -> Option<f64> {
    let (params, level, scheme) = (&pass.model.params[block], pass.level, &pass.scheme);
    record.recall_prediction(n);
    pass.links.put_forces(block, forces, ports);
    ports::put_loads(level, ports, n);
    let update = newton::accept(level, n);
    if !tempered::turn_velocity(level, params, scheme, n) {
        return None;
    }
    tempered::project_free(level, params, pass.kick(block), scheme, n);
    ports::find_velocities(level, n, ports);
    *rates = ports.place;
    ports::find_places(level, n, ports);
    record.keep_motion(n);
    Some(update)
}

/// Third pass: the velocity that the joints allow.
fn finish(
    pass: &Pass,
    block: usize,
    forces: &[[f64; 3]],
    n: &mut NewtonBlock,
    record: &mut Record,
    ports: &mut PortBlock,
    next: &mut StateBlock,
) -> Option<f64> {
    let (params, level, scheme) = (&pass.model.params[block], pass.level, &pass.scheme);
    record.recall_motion(n);
    pass.links.put_forces(block, forces, ports);
    ports::put_loads(level, ports, n);
    tempered::project_add(level, true, scheme, n);
    tempered::project_end(level, params, n);
    record.held = n.held;
    record.slow = n.slow;
    *next = StateBlock {
        t: record.t,
        a: record.a,
        v: n.v,
        w: n.w,
    };
    is_sound(next).then_some(0.0)
}

/// Runs a pass over all blocks, on up to two threads; blocks do not see each other. Returns
/// the largest of what the blocks return, or nothing as soon as one returns nothing.
fn each_block<A: Send, B: Send, C: Send>(
    threads: usize,
    (a, b, c): (&mut [A], &mut [B], &mut [C]),
    work: impl Fn(usize, &mut NewtonBlock, &mut A, &mut B, &mut C) -> Option<f64> + Sync,
) -> Option<f64> {
    let run = |start: usize, a: &mut [A], b: &mut [B], c: &mut [C]| {
        let mut worst = 0.0f64;
        // One for all blocks, so that it stays in the first cache.
        let mut n = NewtonBlock::ZERO;
        for (k, ((a, b), c)) in a.iter_mut().zip(b).zip(c).enumerate() {
            let found = work(start + k, &mut n, a, b, c)?;
            worst = if found > worst || found.is_nan() {
                found
            } else {
                worst
            };
        }
        Some(worst)
    };
    if threads < 2 {
        return run(0, a, b, c);
    }
    let half = a.len() / 2;
    let (a, a2) = a.split_at_mut(half);
    let (b, b2) = b.split_at_mut(half);
    let (c, c2) = c.split_at_mut(half);
    let (first, second) = std::thread::scope(|scope| {
        let second = scope.spawn(|| run(half, a2, b2, c2));
        let first = run(0, a, b, c);
        (first, second.join().expect("a pass does not panic"))
    });
    Some(first?.max(second?))
}
