//! Worlds of many mechanisms that share nothing, stepped a few mechanisms at a time.
//!
//! A step passes over all bodies a dozen times. Done for the whole world at once, a thousand
//! arms leave the cache between one pass and the next; and where one mechanism needs another
//! linearisation, all get it. Here the mechanisms are dealt into groups that fit the cache
//! (`groups.rs`), each a small world of its own, and a group makes its whole step before the
//! next one starts. Groups know nothing of each other, so threads share them out without a
//! change of bits, and a step that fails is taken in parts by its group alone.
//!
//! Mechanisms that are alike are laid side by side, eight to a group: body k of each is a lane of
//! one block, so that the kernels see the same kind of body in all lanes. Groups that differ in
//! nothing but their place share constants and memory (`kind.rs`).

mod group;
mod groups;
mod kind;
#[cfg(test)]
mod tests;

use crate::integrate::Integrator;
use crate::model::{Control, Model, State};
use crate::settings::Settings;
use crate::step::{StepError, StepReport};
use group::{Engine, Group, Piece, row_starts, span};
use kind::Kinds;

/// Bodies a thread is worth.
const WORTH_A_THREAD: usize = 1024;

/// The groups of a world, by the thread that steps them.
pub(crate) struct Apart {
    shares: Vec<Share>,
    /// The next state, where each share owns a piece of it, one after the other.
    next: Option<Box<State>>,
}

/// The groups of a thread, and its engines for the kinds of groups.
struct Share {
    groups: Vec<Group>,
    engines: Vec<Option<Engine>>,
    /// Its first block of bodies, row and coordinate.
    starts: [usize; 3],
}

impl Apart {
    /// The groups of a model, if it falls into more than one.
    pub(crate) fn new(model: &Model, settings: &Settings) -> Option<Apart> {
        let together = !model.collision.colliders.is_empty()
            || !model.collision.frames.is_empty()
            || !model.couplings.is_empty()
            || settings.sleeping
            // What it remembers of the step before is not dealt.
            || settings.integrator == Integrator::Bdf2;
        if together {
            return None;
        }
        let dealt = groups::deal(model)?;
        let starts = row_starts(model);
        let most = model.bodies.len() / WORTH_A_THREAD;
        let threads = settings.threads.min(most).min(dealt.len()).max(1);
        let share = dealt.len().div_ceil(threads);
        let mut kinds = Kinds::default();
        let mut groups: Vec<Group> = Vec::with_capacity(dealt.len());
        for members in dealt {
            let entry = kinds.enter(model, &members);
            let kind = &kinds.models[entry.0];
            groups.push(Group::new(model, &starts, members, entry, kind));
        }
        let mut shares: Vec<Share> = Vec::with_capacity(threads);
        let (mut ends, mut in_line) = ([0; 3], true);
        while !groups.is_empty() {
            let rest = groups.split_off(share.min(groups.len()));
            let mut engines: Vec<Option<Engine>> = kinds.models.iter().map(|_| None).collect();
            for group in &groups {
                let new = || Engine::new(&kinds.models[group.kind], *settings);
                engines[group.kind].get_or_insert_with(new);
            }
            let extents: Vec<_> = groups.iter().map(Group::extent).collect();
            let extent = [0, 1, 2].map(|k| span(extents.iter().map(|e| e[k].clone())));
            let starts = [0, 1, 2].map(|k| match extent[k].is_empty() {
                true => ends[k],
                false => extent[k].start,
            });
            // All of it, if there is one share only.
            in_line &= threads == 1 || (0..3).all(|k| starts[k] >= ends[k]);
            ends = [0, 1, 2].map(|k| extent[k].end.max(ends[k]));
            shares.push(Share {
                groups,
                engines,
                starts,
            });
            groups = rest;
        }
        let next = in_line.then(|| Box::new(State::at_rest(model)));
        if next.is_none() {
            let groups = shares.iter_mut().flat_map(|share| &mut share.groups);
            groups.for_each(|group| group.keep_motion(&kinds.models[group.kind]));
        }
        Some(Apart { shares, next })
    }

    /// Threads in use.
    pub(crate) fn threads(&self) -> usize {
        self.shares.len()
    }

    /// Advances every group by h seconds. On an error, that of the first group which has one,
    /// the state is untouched.
    pub(crate) fn step(
        &mut self,
        model: &Model,
        state: &mut State,
        control: &Control,
        h: f64,
    ) -> Result<StepReport, StepError> {
        let now: &State = state;
        let mut rest = self.next.as_deref_mut().map(Piece::all);
        let report = std::thread::scope(|scope| {
            let (own, others) = self.shares.split_first_mut().expect("there are groups");
            let mut started = Vec::with_capacity(others.len());
            for share in others.iter_mut().rev() {
                // The last share takes the end of what is left.
                let mut piece = None;
                if let Some(all) = rest.take() {
                    let (before, after) = all.split_at(share.starts);
                    (rest, piece) = (Some(before), Some(after));
                }
                let run = move || share.step(model, now, control, h, piece.as_mut());
                started.push(scope.spawn(run));
            }
            let mut report = own.step(model, now, control, h, rest.as_mut());
            for other in started.into_iter().rev() {
                let next = other.join().expect("a step does not panic");
                report = report.and_then(|r| next.map(|n| r.beside(&n)));
            }
            report
        })?;
        self.commit(state);
        state.time += h;
        Ok(report)
    }

    /// No group has failed: the next state replaces the old one, or what the groups have kept is
    /// written to it.
    fn commit(&mut self, state: &mut State) {
        if let Some(next) = &mut self.next {
            std::mem::swap(&mut state.blocks, &mut next.blocks);
            std::mem::swap(&mut state.memory, &mut next.memory);
            std::mem::swap(&mut state.held, &mut next.held);
            std::mem::swap(&mut state.multipliers, &mut next.multipliers);
            std::mem::swap(&mut state.coordinates, &mut next.coordinates);
            return;
        }
        let mut all = Piece::all(state);
        let groups = self.shares.iter().flat_map(|share| &share.groups);
        groups.for_each(|group| group.write_back(&mut all));
    }
}

impl Share {
    fn step(
        &mut self,
        model: &Model,
        state: &State,
        control: &Control,
        h: f64,
        mut next: Option<&mut Piece<'_>>,
    ) -> Result<StepReport, StepError> {
        let mut whole: Option<StepReport> = None;
        for group in &mut self.groups {
            let engine = self.engines[group.kind].as_mut();
            let engine = engine.expect("an engine for every kind in use");
            let report = group.step(engine, (model, state), control, h, next.as_deref_mut())?;
            whole = Some(whole.map_or(report, |so_far| so_far.beside(&report)));
        }
        Ok(whole.expect("every thread has a group"))
    }
}

impl StepReport {
    /// The report of two worlds that were stepped beside each other.
    fn beside(&self, other: &StepReport) -> StepReport {
        StepReport {
            iterations: self.iterations.max(other.iterations),
            converged: self.converged && other.converged,
            residual: self.residual.max(other.residual),
            update: self.update.max(other.update),
            contacts: self.contacts + other.contacts,
            sweeps: self.sweeps.max(other.sweeps),
            contact_residual: self.contact_residual.max(other.contact_residual),
            penetration: self.penetration.max(other.penetration),
            parts: self.parts.max(other.parts),
        }
    }
}
