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
//! A step of linearised Euler ends with the pose, in 3.
//!
//! The formulas are those of the general step without what only a second linearisation would ask for
//! (`integrate/ordinary.rs`); the results agree to rounding (tested). A step that one linear solve is
//! not enough for is made again with all unknowns kept (`far.rs`). Whatever else is out of the ordinary (a weak
//! pivot, a crushed body, an iteration that does not end) is left to the general step, which starts
//! afresh from the untouched state.

mod boughs;
mod coils;
mod elements;
mod far;
mod grove;
mod hung;
mod kinds;
mod limbs;
mod lines;
mod links;
mod mesh;
mod passes;
mod record;
mod room;
pub(crate) mod runs;
mod sprung;
#[cfg(test)]
mod tests;
mod web;

use std::sync::atomic::AtomicUsize;

use vincula_blocks::both;

use crate::dual::SolverChoice;
use crate::integrate::{Integrator, euler, tempered};
use crate::math::lanes::{LANES, Lane};
use crate::model::{Control, Model, State};
use crate::settings::Settings;
use crate::step::StepReport;
use crate::workspace::Workspace;
use far::Far;
use grove::Grove;
use kinds::Kinds;
use lines::Lines;
use passes::Pass;
use record::Slot;
use room::Room;
use sprung::Sprung;
use web::Web;

/// Bodies up to which unknowns are kept from one pass to the next; beyond, predicting again is
/// cheaper than reading them. Without a projection they are read once only.
const REMEMBERED: usize = 8192;
const REMEMBERED_ONCE: usize = 1024;

/// Bodies of a mechanism, in the mean, below which they are better stepped a few at a time
/// (`crate::apart`): one that is out of the ordinary then does not concern all others.
const SMALL: usize = 64;

/// Force of each joint, followed by that of its springs: of the position solve, and of the velocity
/// solve, N.
type Forces<'a> = [&'a mut [[f64; 3]]; 2];

/// What the world is made of.
enum Shape {
    Lines(Box<Lines>),
    Grove(Grove),
    Web(Box<Web>),
    Sprung(Box<Sprung>),
}

impl Shape {
    /// The shape of a model, if it is made of such chains, trees or nets, and the constants of its
    /// blocks.
    fn find(model: &Model, threads: usize) -> Option<(Shape, Kinds)> {
        if let Some((lines, kinds)) = Lines::find(model, threads) {
            return Some((Shape::Lines(Box::new(lines)), kinds));
        }
        if model.mechanisms() * SMALL > model.bodies.len() {
            return None;
        }
        if let Some((grove, kinds)) = Grove::find(model) {
            return Some((Shape::Grove(grove), kinds));
        }
        if let Some((sprung, kinds)) = Sprung::find(model) {
            return Some((Shape::Sprung(Box::new(sprung)), kinds));
        }
        let (web, kinds) = Web::find(model, threads)?;
        Some((Shape::Web(Box::new(web)), kinds))
    }
}

/// The memory of the streamed step, sized once.
pub(crate) struct Stream {
    shape: Shape,
    /// Constants of the blocks.
    kinds: Kinds,
    /// [`Forces`], three numbers a joint, and three more for its springs.
    forces: [Vec<f64>; 2],
    /// Room for one more of each, N.
    more: Vec<[f64; 3]>,
    /// Whether unknowns are kept from one pass to the next even in an ordinary step.
    keeps: bool,
    /// Points of blocks that are kept; sized when they are needed first.
    slots: Vec<Slot>,
    /// Rotational stiffness of blocks that are not, N m.
    geometric: Vec<[Lane; 3]>,
    /// Whether the last step was out of the ordinary. The next one then is not tried as one that is
    /// not: it has the same bits either way.
    was_far: bool,
    /// Steps that were made.
    #[cfg(test)]
    taken: usize,
}

impl Stream {
    /// The streamed step of a model, if it is made of such chains or trees.
    pub(crate) fn new(model: &Model, settings: &Settings) -> Option<Stream> {
        let one_solve = [Integrator::Tempered, Integrator::LinearEuler];
        let usual = settings.solver == SolverChoice::Automatic;
        if !usual
            || !one_solve.contains(&settings.integrator)
            || model.ground.is_some()
            || !model.collision.colliders.is_empty()
        {
            return None;
        }
        let (shape, kinds) = Shape::find(model, settings.threads)?;
        let mut stream = Stream::of(model, shape, kinds);
        if !settings.integrator.projects() {
            stream.keeps = model.bodies.len() <= REMEMBERED_ONCE;
        }
        Some(stream)
    }

    fn of(model: &Model, shape: Shape, kinds: Kinds) -> Stream {
        Stream {
            shape,
            kinds,
            forces: [0, 1].map(|_| vec![0.0; model.dual_rows()]),
            more: vec![[0.0; 3]; model.dual_rows() / 3],
            keeps: model.bodies.len() <= REMEMBERED,
            slots: Vec::new(),
            geometric: vec![[[0.0; LANES]; 3]; model.params.len()],
            was_far: false,
            #[cfg(test)]
            taken: 0,
        }
    }

    /// Threads in use.
    pub(crate) fn threads(&self) -> usize {
        match &self.shape {
            Shape::Lines(lines) => lines.threads,
            Shape::Grove(_) | Shape::Sprung(_) => 1,
            Shape::Web(web) => web.threads,
        }
    }

    /// Makes the step, or leaves everything as it was and returns nothing.
    fn advance(
        &mut self,
        model: &Model,
        state: &mut State,
        control: &Control,
        work: &mut Workspace,
        h: f64,
    ) -> Option<StepReport> {
        if let Shape::Sprung(sprung) = &mut self.shape
            && !sprung.start(model, state, control)
        {
            return None;
        }
        let projects = work.settings.integrator.projects();
        let ordinary = match self.was_far {
            true => None,
            false => self.try_step(state, work, h, false),
        };
        let report = match ordinary {
            None => self.try_step(state, work, h, true)?,
            Some(report) => report,
        };
        self.commit(model, state, work, h, projects);
        Some(report)
    }

    /// Finds the next state: as that of an ordinary step, or with Newton's iteration.
    fn try_step(
        &mut self,
        state: &State,
        work: &mut Workspace,
        h: f64,
        far: bool,
    ) -> Option<StepReport> {
        let projects = work.settings.integrator.projects();
        let pass = Pass {
            level: work.level,
            scheme: match projects {
                true => tempered::scheme(h, work.settings.tempering()),
                false => euler::scheme(h, true),
            },
            state,
            kicks: &work.kicks,
            kinds: &self.kinds,
            rule: work.rule(),
            spared: AtomicUsize::new(0),
            projects,
        };
        let kept = if far || self.keeps {
            work.newton.len()
        } else {
            0
        };
        if kept > 0 && self.slots.is_empty() {
            self.slots.resize(kept, Slot::ZERO);
        }
        let room = Room {
            first: 0,
            newton: &mut work.newton[..kept],
            slots: &mut self.slots[..kept],
            turns: &mut work.bent,
            geometric: &mut self.geometric,
            next: &mut work.next,
            memory: &mut work.memory,
        };
        let (forces, more) = (&mut by_joint(&mut self.forces), &mut self.more);
        if far {
            self.was_far = projects;
            let (report, was_far) = match &mut self.shape {
                Shape::Lines(lines) => Far::new(&pass, &mut **lines, room, more).advance(forces)?,
                Shape::Grove(grove) => Far::new(&pass, grove, room, more).advance(forces)?,
                Shape::Web(web) => Far::new(&pass, &mut **web, room, more).advance(forces)?,
                Shape::Sprung(sprung) => {
                    Far::new(&pass, &mut **sprung, room, more).advance(forces)?
                }
            };
            // Without a projection an ordinary step is cheap to try, and has other bits than this one.
            self.was_far = was_far && projects;
            return Some(report);
        }
        let [update, residual] = match &mut self.shape {
            Shape::Lines(lines) => lines.advance(&pass, forces, room)?,
            Shape::Grove(grove) => grove.advance(&pass, forces, room)?,
            Shape::Web(web) => web.advance(&pass, forces, room)?,
            Shape::Sprung(_) => return None,
        };
        Some(StepReport::ordinary(update, residual))
    }

    /// Everything is sound: the new state replaces the old one.
    fn commit(
        &mut self,
        model: &Model,
        state: &mut State,
        work: &mut Workspace,
        h: f64,
        projects: bool,
    ) {
        std::mem::swap(&mut state.memory, &mut work.memory);
        std::mem::swap(&mut state.blocks, &mut work.next);
        let threads = self.threads();
        if let Shape::Lines(lines) = &self.shape {
            lines.turn_back(&mut by_joint(&mut self.forces));
        }
        let [first, second] = &mut self.forces;
        if projects {
            average(threads, first, second);
        } else {
            second.copy_from_slice(first);
        }
        std::mem::swap(&mut state.multipliers, first);
        std::mem::swap(&mut state.held, second);
        state.measure_coordinates(model);
        state.time += h;
        #[cfg(test)]
        {
            self.taken += 1;
        }
    }
}

/// Forces by joint.
fn by_joint([first, second]: &mut [Vec<f64>; 2]) -> Forces<'_> {
    [first, second].map(|forces| forces.as_chunks_mut().0)
}

/// Makes the first forces the mean of both.
fn average(threads: usize, first: &mut [f64], second: &[f64]) {
    let half = first.len() / 2;
    let run = |first: &mut [f64], second: &[f64]| {
        for (mean, last) in first.iter_mut().zip(second) {
            *mean = 0.5 * (*mean + *last);
        }
    };
    let (one, two) = first.split_at_mut(half);
    let rest = &second[half..];
    both(threads, || run(one, second), || run(two, rest));
}

/// Makes the streamed step if the world is one for it and the step an ordinary one.
pub(crate) fn advance(
    model: &Model,
    state: &mut State,
    control: &Control,
    work: &mut Workspace,
    h: f64,
) -> Option<StepReport> {
    // Taken out for the time being, since it needs the rest of the workspace.
    let mut stream = work.stream.take()?;
    let report = stream.advance(model, state, control, work, h);
    work.stream = Some(stream);
    report
}
