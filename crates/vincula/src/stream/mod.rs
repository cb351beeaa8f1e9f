//! Long chains, streamed: the default step for worlds of ball-jointed links in line.
//!
//! The general step makes a dozen passes over the bodies, each with a kilobyte of unknowns a
//! body. On a chain that no longer fits the cache, waiting for memory takes most of the time.
//! Here the kernels of a pass run one after another on one block of eight bodies while it is
//! in the first cache, and little is kept for the next pass:
//!
//! 1. bodies: predict, solve freely, find places and compliances of the joints' points; and
//!    joints, a few blocks later: eliminate from both ends (`record.rs`, `vincula_blocks::Line`),
//! 2. joints: substitute back,
//! 3. bodies: answer the joint forces, turn the velocity, kick; joints: how they drift apart,
//! 4. joints: substitute,
//! 5. bodies: project the velocity and finish.
//!
//! The arithmetic is that of the general step, kernel by kernel, so the results have the same
//! bits (tested). Whatever is out of the ordinary (a second linearisation, a weak pivot, a
//! crushed body) is left to the general step, which starts afresh from the untouched state.

mod links;
mod passes;
mod record;
#[cfg(test)]
mod tests;

use std::ops::Range;

use vincula_blocks::Line;

use crate::dual::SolverChoice;
use crate::integrate::newton::NewtonBlock;
use crate::integrate::{Integrator, tempered};
use crate::math::lanes::{LANES, Lane};
use crate::model::{Model, State};
use crate::settings::{Settings, Workspace};
use crate::step::StepReport;
use links::Links;
use passes::{Blocks, Pass, answer_all, finish_all, in_halves, prepare_all};
use record::{Slot, Source, Window};

/// Steps that the general step takes over, at most, after some that were out of the ordinary.
const REST: u32 = 4;
/// Bodies a thread is worth.
const WORTH_A_THREAD: usize = 8192;
/// Bodies whose unknowns stay in the second cache; beyond, predicting twice is cheaper.
const REMEMBERED: usize = 8192;

/// The memory of the streamed step, sized once.
pub(crate) struct Stream {
    links: Links,
    /// Each chain: its joints and its factors.
    chains: Vec<(Range<usize>, Line)>,
    threads: usize,
    /// The unknowns and their points; empty where predicting twice is cheaper than keeping them.
    newton: Vec<NewtonBlock>,
    slots: Vec<Slot>,
    /// For either end of a chain.
    windows: [Window; 2],
    /// Rotational stiffness of the bodies, N m; only where nothing is kept.
    geometric: Vec<[Lane; 3]>,
    /// Force of each joint: of the position solve, and of the velocity solve, N.
    forces: [Vec<[f64; 3]>; 2],
    /// Steps in a row that were out of the ordinary.
    failed: u32,
    /// Steps that the general step still takes over.
    resting: u32,
}

impl Stream {
    /// The streamed step of a model, if it is made of such chains.
    pub(crate) fn new(model: &Model, settings: &Settings) -> Option<Stream> {
        let usual = settings.integrator == Integrator::Tempered
            && settings.solver == SolverChoice::Automatic;
        if !usual || model.ground.is_some() || !model.collision.colliders.is_empty() {
            return None;
        }
        let most = model.bodies.len() / WORTH_A_THREAD;
        let threads = settings.threads.min(most).clamp(1, 2);
        Stream::with(model, threads, model.bodies.len() <= REMEMBERED)
    }

    fn with(model: &Model, threads: usize, keep: bool) -> Option<Stream> {
        let links = Links::find(model)?;
        let blocks = model.params.len();
        let joints = model.joints.len();
        let chains = links.chains();
        if !chains.iter().all(|chain| links.fits(chain)) {
            return None;
        }
        let alone = chains.len() == 1;
        let kept = if keep { blocks } else { 0 };
        Some(Stream {
            chains: chains
                .into_iter()
                .map(|chain| (chain.clone(), Line::new(chain.len(), alone && threads > 1)))
                .collect(),
            links,
            threads,
            newton: vec![NewtonBlock::ZERO; kept],
            slots: vec![Slot::ZERO; kept],
            windows: [Window::new(), Window::new()],
            geometric: vec![[[0.0; LANES]; 3]; blocks],
            forces: [vec![[0.0; 3]; joints], vec![[0.0; 3]; joints]],
            failed: 0,
            resting: 0,
        })
    }

    /// Threads in use.
    pub(crate) fn threads(&self) -> usize {
        self.threads
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
            self.resting = self.failed.min(REST);
            self.failed += 1;
        } else {
            self.failed = 0;
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
            state,
            kicks: &work.kicks,
            links: &self.links,
            rule: work.settings.iteration(),
        };
        let [first, second] = &mut self.forces;
        let mut blocks = Blocks {
            first: 0,
            newton: &mut self.newton,
            slots: &mut self.slots,
            geometric: &mut self.geometric,
            next: &mut work.next,
            memory: &mut work.memory,
            drifts: second,
        };
        let run = |blocks: Blocks, run: &(dyn Fn(Blocks) -> Option<[f64; 2]> + Sync)| {
            in_halves(self.threads, blocks, &self.links, run)
        };
        let kept = !blocks.newton.is_empty();
        if kept {
            run(blocks.again(), &|at| prepare_all(&pass, at))?;
        }
        self.windows.iter_mut().for_each(Window::clear);
        for (chain, line) in &mut self.chains {
            let (pass, first, forces) = (&pass, chain.start, &mut first[chain.clone()]);
            let safe = if kept {
                let slots = &*blocks.slots;
                line.factor_solve(&mut [0, 1].map(|_| Source { pass, slots, first }), forces)
            } else {
                let windows = self.windows.each_mut();
                let sources = windows.map(|slots| Source { pass, slots, first });
                line.factor_solve(&mut { sources }, forces)
            };
            if !safe {
                return None;
            }
        }
        let found = run(blocks.again(), &|at| answer_all(&pass, first, at))?;
        let [update, residual] = found;
        for (chain, line) in &self.chains {
            line.solve(&mut blocks.drifts[chain.clone()]);
        }
        let second = std::mem::take(&mut blocks.drifts);
        run(blocks, &|at| finish_all(&pass, second, at))?;
        self.commit(model, state, work, h);
        Some(StepReport {
            iterations: 1,
            converged: true,
            residual,
            update,
            contacts: 0,
            sweeps: 0,
            contact_residual: 0.0,
            penetration: 0.0,
            parts: 1,
        })
    }

    /// Everything is sound: the new state replaces the old one.
    fn commit(&mut self, model: &Model, state: &mut State, work: &mut Workspace, h: f64) {
        std::mem::swap(&mut state.memory, &mut work.memory);
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
