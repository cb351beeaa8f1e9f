//! Long chains and large trees, streamed: the default step for worlds of ball-jointed links.
//!
//! The general step makes a dozen passes over the bodies, each with a kilobyte of unknowns a
//! body. On a world that no longer fits the cache, waiting for memory takes most of the time.
//! Here the kernels of a pass run one after another on one block of eight bodies while it is
//! in the first cache, and little is kept for the next pass:
//!
//! 1. bodies: predict, solve freely, find places and compliances of the joints' points; and
//!    joints, while these are at hand: eliminate, chains from both ends (`lines.rs`, `record.rs`,
//!    `vincula_blocks::Line`), trees from the leaves (`grove.rs`, `boughs.rs`),
//! 2. joints: substitute back,
//! 3. bodies: answer the joint forces, turn the velocity, kick; joints: how they drift apart,
//! 4. joints: substitute,
//! 5. bodies: project the velocity and finish.
//!
//! The arithmetic is that of the general step, kernel by kernel; for chains the results have the
//! same bits, for trees they agree to rounding (tested). Whatever is out of the ordinary (a second
//! linearisation, a weak pivot, a crushed body) is left to the general step, which starts afresh
//! from the untouched state. Small nets are bent here as well (`web/bent.rs`).

mod boughs;
mod elements;
mod grove;
mod kinds;
mod lines;
mod links;
mod mesh;
mod passes;
mod record;
#[cfg(test)]
mod tests;
mod web;

use crate::dual::SolverChoice;
use crate::integrate::{Integrator, tempered};
use crate::math::union::Union;
use crate::model::{MemoryBlock, Model, State, StateBlock};
use crate::settings::{Settings, Workspace};
use crate::step::{Rest, StepReport};
use grove::Grove;
use kinds::Kinds;
use lines::Lines;
use passes::Pass;
use web::Web;

/// Bodies whose unknowns stay in the second cache; beyond, predicting twice is cheaper.
const REMEMBERED: usize = 8192;

/// Bodies of a mechanism, in the mean, below which they are better stepped a few at a time
/// (`crate::apart`): one that is out of the ordinary then does not concern all others.
const SMALL: usize = 64;

/// Force of each joint: of the position solve, and of the velocity solve, N.
type Forces = [Vec<[f64; 3]>; 2];

/// Where the next state is made, by block.
struct Target<'a> {
    next: &'a mut [StateBlock],
    /// What the next step is to remember.
    memory: &'a mut [MemoryBlock],
}

/// What the world is made of.
enum Shape {
    Lines(Box<Lines>),
    Grove(Grove),
    Web(Box<Web>),
}

/// The memory of the streamed step, sized once.
pub(crate) struct Stream {
    shape: Shape,
    /// Constants of the blocks.
    kinds: Kinds,
    forces: Forces,
    /// When the general step is taken at once.
    rest: Rest,
}

impl Stream {
    /// The streamed step of a model, if it is made of such chains or trees.
    pub(crate) fn new(model: &Model, settings: &Settings) -> Option<Stream> {
        let usual = settings.integrator == Integrator::Tempered
            && settings.solver == SolverChoice::Automatic;
        if !usual || model.ground.is_some() || !model.collision.colliders.is_empty() {
            return None;
        }
        if let Some((lines, kinds)) = Lines::find(model, settings.threads) {
            return Some(Stream::of(model, Shape::Lines(Box::new(lines)), kinds));
        }
        if islands(model) * SMALL > model.bodies.len() {
            return None;
        }
        if let Some((grove, kinds)) = Grove::find(model) {
            return Some(Stream::of(model, Shape::Grove(grove), kinds));
        }
        let (web, kinds) = Web::find(model, settings.threads)?;
        Some(Stream::of(model, Shape::Web(Box::new(web)), kinds))
    }

    fn of(model: &Model, shape: Shape, kinds: Kinds) -> Stream {
        Stream {
            shape,
            kinds,
            forces: [0, 1].map(|_| vec![[0.0; 3]; model.joints.len()]),
            rest: Rest::default(),
        }
    }

    /// Threads in use.
    pub(crate) fn threads(&self) -> usize {
        match &self.shape {
            Shape::Lines(lines) => lines.threads,
            Shape::Grove(_) => 1,
            Shape::Web(web) => web.threads,
        }
    }

    /// Makes the step, or leaves everything as it was and returns nothing.
    fn advance(
        &mut self,
        model: &Model,
        state: &mut State,
        work: &mut Workspace,
        h: f64,
    ) -> Option<StepReport> {
        if self.rest.is_on() {
            return None;
        }
        let report = self.try_step(model, state, work, h);
        // Which way a step goes must not depend on the steps before where that can be seen.
        if matches!(self.shape, Shape::Lines(_)) {
            self.rest.note(report.is_some());
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
            kinds: &self.kinds,
            rule: work.settings.iteration(),
        };
        let target = Target {
            next: &mut work.next,
            memory: &mut work.memory,
        };
        let forces = &mut self.forces;
        let [update, residual] = match &mut self.shape {
            Shape::Lines(lines) => lines.advance(&pass, forces, target)?,
            Shape::Grove(grove) => grove.advance(&pass, forces, target)?,
            Shape::Web(web) => web.advance(&pass, forces, target)?,
        };
        self.commit(model, state, work, h);
        Some(StepReport::ordinary(update, residual))
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

/// Mechanisms of a model, single bodies included.
fn islands(model: &Model) -> usize {
    let mut sets = Union::default();
    sets.reset(model.bodies.len());
    for joint in &model.joints {
        if let (Some(a), Some(b)) = (joint.a.endpoint.index(), joint.b.endpoint.index()) {
            sets.join(a as u32, b as u32);
        }
    }
    let heads = sets.heads().iter().enumerate();
    heads
        .filter(|(body, head)| *body == **head as usize)
        .count()
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
