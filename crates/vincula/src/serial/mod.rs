//! Serial mechanisms in lanes: the step of arms and chains of hinges.
//!
//! A serial mechanism is fixed to the world and goes on from body to body by ball, universal and
//! hinge joints along which nothing acts. Joint k holds body k from behind, so that eight joints
//! go with a block of eight bodies: eight that follow each other in one mechanism, or the same
//! joint of eight mechanisms (`crate::apart` lays those side by side). Everything that the joints
//! do is then a kernel over lanes (`joints.rs`), the factors of eight mechanisms too
//! (`vincula_blocks::braid`), and the passes of a step run one behind the other while a block is
//! in the first cache (`passes.rs`):
//!
//! 1. fly; what rows lose by turning, the free motion, and the dual system,
//! 2. solve, answer, measure the gaps; again until they are closed,
//! 3. land; how the joints drift,
//! 4. solve; again while too much of the drift is left; project the velocity and finish.
//!
//! A step of linearised Euler sets out from where it is, and ends after 2.
//!
//! The formulas are those of the general step without what only a second linearisation would ask for
//! (`integrate/ordinary.rs`); the results agree to rounding (tested). Whatever is out of the
//! ordinary (a second linearisation, a weak pivot, a matrix that has to be renewed) is left to the
//! general step, which starts afresh from the untouched state.

mod again;
mod bodies;
mod joints;
mod passes;
mod projection;
mod pull;
mod ring;
mod shape;
mod solver;
#[cfg(test)]
mod tests;
mod velocities;
mod walk;

use crate::dual::SolverChoice;
use crate::integrate::{Integrator, euler, tempered};
use crate::kernel;
use crate::math::lanes::{LANES, each};
use crate::model::{Model, State};
use crate::settings::Settings;
use crate::step::{BENT, CHORD, CLOSED, DRIFT, LEFT, PASSES, SURE, StepReport};
use crate::workspace::Workspace;
use again::Put;
use passes::{Blocks, Joints, Pass};
use projection::{Ask, Drift};
use shape::{Layout, Rows, SIZE, Shape};
use solver::Solver;

/// The memory of the step in lanes, sized once.
pub(crate) struct Serial {
    joints: Box<Joints>,
    /// Whether one solve was enough for the last step. It decides what is kept in the next one, and
    /// has no say in any result.
    calm: bool,
    /// Whether such steps find bodies again rather than keep them.
    finds_again: bool,
    /// Solves for the velocity in the last step, which say when to write the end of the next one.
    solves: usize,
    /// Steps that were made.
    #[cfg(test)]
    taken: usize,
}

const _: () = assert!(
    LONG >= 2 * ring::KEPT,
    "found again, bodies are kept in a ring"
);

/// Blocks of bodies from which on it takes less time to find them again than to keep them: what
/// is kept of them no longer fits into the second cache.
const LONG: usize = 512;

/// How a linear solve ended.
struct Fit {
    /// Largest change of an entry of A.
    update: f64,
    /// Largest gap that is left, m.
    open: f64,
    /// Whether one solve was enough.
    calm: bool,
}

impl Serial {
    /// The step in lanes of a model, if it is a serial mechanism or eight of them.
    pub(crate) fn new(model: &Model, settings: &Settings) -> Option<Serial> {
        let one_solve = [Integrator::Tempered, Integrator::LinearEuler];
        let usual = one_solve.contains(&settings.integrator)
            && settings.solver == SolverChoice::Automatic
            && !settings.sleeping;
        let bare = model.ground.is_none()
            && model.collision.colliders.is_empty()
            && model.collision.frames.is_empty()
            && model.couplings.is_empty();
        if !usual || !bare {
            return None;
        }
        let shape = Shape::find(model)?;
        let solver = Solver::new(&shape);
        // Side by side, bodies are passed over in one piece and none comes next to the middle.
        let long = shape.layout == Layout::InLine && shape.len() >= LONG;
        let mut serial = Serial {
            joints: Box::new(Joints::new(shape, solver)),
            calm: true,
            finds_again: false,
            solves: 1,
            #[cfg(test)]
            taken: 0,
        };
        if long {
            serial.find_again();
        }
        Some(serial)
    }

    /// Makes calm steps find bodies again rather than keep them.
    fn find_again(&mut self) {
        self.finds_again = true;
        let blocks = self.joints.shape.len();
        self.joints.put.resize(blocks, Put::NONE);
    }

    /// Makes the step, or leaves everything as it was and returns nothing. Which of the two must not
    /// depend on the steps before, or bits would depend on when a state was copied.
    fn advance(
        &mut self,
        model: &Model,
        state: &mut State,
        work: &mut Workspace,
        h: f64,
    ) -> Option<StepReport> {
        let projects = work.settings.integrator.projects();
        let pass = Pass {
            level: work.level,
            scheme: match projects {
                true => tempered::scheme(h, work.settings.tempering()),
                false => euler::scheme(h, true),
            },
            projects,
            rule: work.settings.iteration(),
            state,
            kicks: &work.kicks,
        };
        let mut blocks = Blocks {
            newton: &mut work.newton,
            bent: &mut work.bent,
            next: &mut work.next,
            memory: &mut work.memory,
        };
        // A step that projects no velocity ends with the answer, kept or not.
        let worth = self.finds_again || !projects;
        let at_once = match self.calm && worth {
            true => self.make_at_once(&pass, &mut blocks)?,
            false => None,
        };
        self.calm = false;
        let fit = match at_once {
            Some(fit) => fit,
            None => self.make(&pass, &mut blocks)?,
        };
        self.calm = fit.calm;
        self.commit(model, state, work, h, projects);
        Some(StepReport::ordinary(fit.update, fit.open))
    }

    /// The passes of a step; nothing if it is not an ordinary one.
    fn make(&mut self, pass: &Pass, blocks: &mut Blocks) -> Option<Fit> {
        self.joints.finds_again = false;
        self.joints.prepare(pass, blocks)?;
        let mut fit = self.close(pass, blocks, None)?;
        let mut bent = false;
        if !self.is_settled(pass, blocks, &fit, bent) {
            if !(fit.update > pass.rule.update && fit.update <= BENT) {
                return None;
            }
            let open = self.joints.bend(pass, blocks);
            fit = self.close(pass, blocks, Some(open))?;
            bent = true;
            if !self.is_settled(pass, blocks, &fit, bent) {
                return None;
            }
            fit.calm = false;
        }
        if pass.projects {
            let sure = fit.update <= SURE && !bent;
            let drift = self.joints.land(pass, blocks, bent)?;
            self.find_velocity(pass, blocks, sure, drift)?;
        } else {
            self.joints.end(pass, blocks)?;
        }
        Some(fit)
    }

    /// The passes of a step that one solve is enough for (`again.rs`); no fit if it was not.
    fn make_at_once(&mut self, pass: &Pass, blocks: &mut Blocks) -> Option<Option<Fit>> {
        let (joints, rule) = (&mut self.joints, &pass.rule);
        joints.finds_again = self.finds_again;
        joints.prepare(pass, blocks)?;
        let Some(outcome) = joints.answer_again(pass, blocks) else {
            return Some(None);
        };
        let (update, open) = (outcome.update, outcome.open);
        let turned = update <= rule.rotation && outcome.stretch <= rule.stretch;
        if !(update <= CHORD && open <= rule.residual && (update <= rule.update || turned)) {
            return Some(None);
        }
        if pass.projects {
            joints.substitute(pass.level);
            self.find_velocity(pass, blocks, update <= SURE, outcome.drift)?;
        }
        Some(Some(Fit {
            update,
            open,
            calm: true,
        }))
    }

    /// Solves for the joint forces and moves the bodies until the joints are closed. `bent` is how
    /// far they are open after a bend, m.
    fn close(&mut self, pass: &Pass, blocks: &mut Blocks, bent: Option<f64>) -> Option<Fit> {
        let joints = &mut self.joints;
        let fresh = bent.is_none();
        let mut open = bent.unwrap_or(f64::INFINITY);
        let mut previous = f64::INFINITY;
        let (mut update, mut rounds) = (0.0, 0);
        for round in 0.. {
            let stuck = round > 1 && !(open < 0.5 * previous);
            if round > 0 && (open <= pass.rule.residual || stuck) {
                break;
            }
            previous = open;
            let first = fresh && round == 0;
            [update, open] = joints.answer(pass, blocks, first);
            if first && !(update <= CHORD) {
                return None;
            }
            rounds += 1;
        }
        Some(Fit {
            update,
            open,
            calm: rounds == 1,
        })
    }

    /// Whether one more linearisation would change nothing that matters.
    fn is_settled(&self, pass: &Pass, blocks: &Blocks, fit: &Fit, bent: bool) -> bool {
        let rule = &pass.rule;
        let turned = || fit.update <= rule.rotation && self.joints.keeps_shape(pass, blocks, bent);
        fit.open <= CLOSED * rule.residual && (fit.update <= rule.update || turned())
    }

    /// The velocity that the joints allow, which drift by so much in a step, m; `sure` if one solve is
    /// known to be enough.
    fn find_velocity(
        &mut self,
        pass: &Pass,
        blocks: &mut Blocks,
        sure: bool,
        drift: Drift,
    ) -> Option<()> {
        let joints = &mut self.joints;
        let tolerance = (DRIFT * pass.rule.residual).max(LEFT * pass.scheme.h * drift.given);
        let (mut drift, mut previous) = (drift.most, f64::INFINITY);
        let mut ended = false;
        let mut solves = 0;
        for round in 0..PASSES {
            if round > 0 && drift <= tolerance {
                break;
            }
            if round > 0 && !(drift < 0.5 * previous) {
                // The matrix has to be renewed.
                return None;
            }
            previous = drift;
            solves += 1;
            // As many solves as for the last step are likely to be enough.
            ended = sure || solves >= self.solves;
            let ask = Ask {
                first: round == 0,
                drift: !sure,
                end: ended,
            };
            drift = joints.project(pass, blocks, ask)?;
            if sure {
                break;
            }
        }
        self.solves = solves;
        match ended {
            true => Some(()),
            false => joints.settle_as_it_is(pass, blocks),
        }
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
        let [first, second] = &self.joints.totals;
        let second = if projects { second } else { first };
        for (block, (first, second)) in first.iter().zip(second).enumerate() {
            let shape = &self.joints.shape;
            let (eight, start) = (&shape.kind(block).eight, shape.firsts[block][0] as usize);
            let (held, mean) = (&mut state.held[start..], &mut state.multipliers[start..]);
            // Most joints are hinges, and a loop of known length is none.
            if eight.is_full
                && let (Some(held), Some(mean)) = (held.first_chunk_mut(), mean.first_chunk_mut())
            {
                write_all(work.level, first, second, held, mean);
                continue;
            }
            for lane in 0..eight.used {
                let (start, count) = (eight.rows[lane].0 as usize, eight.rows[lane].1 as usize);
                let held = &mut held[start..start + count];
                let mean = &mut mean[start..start + count];
                write_forces([first, second], lane, held, mean);
            }
        }
        match self.joints.shape.hinges {
            true => self.joints.shape.measure_angles(work.level, state),
            false => state.measure_coordinates(model),
        }
        work.last_h = h;
        state.time += h;
        #[cfg(test)]
        {
            self.taken += 1;
        }
    }
}

/// Writes the forces of a joint: those of the velocity solve, and the mean of both solves, N.
#[inline(always)]
fn write_forces([first, second]: [&Rows; 2], lane: usize, held: &mut [f64], mean: &mut [f64]) {
    for (k, (held, mean)) in held.iter_mut().zip(mean).enumerate() {
        *held = second[k][lane];
        *mean = 0.5 * (first[k][lane] + second[k][lane]);
    }
}

kernel! {
    /// The same for eight hinges.
    fn write_all(first: &Rows, second: &Rows, held: &mut [f64; SIZE * LANES], mean: &mut [f64; SIZE * LANES]) = write_all_lanes
}

#[inline(always)]
fn write_all_lanes(
    first: &Rows,
    second: &Rows,
    held: &mut [f64; SIZE * LANES],
    mean: &mut [f64; SIZE * LANES],
) {
    let mut means = *second;
    for k in 0..SIZE {
        means[k] = each(|lane| 0.5 * (first[k][lane] + second[k][lane]));
    }
    *held = std::array::from_fn(|i| second[i % SIZE][i / SIZE]);
    *mean = std::array::from_fn(|i| means[i % SIZE][i / SIZE]);
}

/// Makes the step in lanes if the world is one for it and the step an ordinary one.
pub(crate) fn advance(
    model: &Model,
    state: &mut State,
    work: &mut Workspace,
    h: f64,
) -> Option<StepReport> {
    // Taken out for the time being, since it needs the rest of the workspace.
    let mut serial = work.serial.take()?;
    let report = serial.advance(model, state, work, h);
    work.serial = Some(serial);
    report
}
