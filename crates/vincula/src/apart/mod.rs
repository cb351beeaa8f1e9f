//! Worlds of many mechanisms that share nothing, stepped a few mechanisms at a time.
//!
//! A step passes over all bodies a dozen times. Done for the whole world at once, a thousand
//! arms leave the cache between one pass and the next; and where one mechanism needs another
//! linearisation, all get it. Here the mechanisms are dealt into groups that fit the cache
//! (`groups.rs`), each a small world of its own, and a group makes its whole step before the
//! next one starts. Groups know nothing of each other, so threads share them out without a
//! change of bits, and a step that fails is taken in parts by its group alone.
//!
//! Equal mechanisms are laid side by side, eight to a group: body k of each is a lane of one
//! block, so that the kernels see the same kind of body in all lanes.

mod group;
mod groups;
#[cfg(test)]
mod tests;

use crate::model::{Control, Model, State};
use crate::settings::Settings;
use crate::step::{StepError, StepReport};
use group::{Group, row_starts};

/// Bodies a thread is worth.
const WORTH_A_THREAD: usize = 1024;

/// The groups of a world.
pub(crate) struct Apart {
    groups: Vec<Group>,
    threads: usize,
}

impl Apart {
    /// The groups of a model, if it falls into more than one.
    pub(crate) fn new(model: &Model, settings: &Settings) -> Option<Apart> {
        let together = !model.collision.colliders.is_empty()
            || !model.collision.frames.is_empty()
            || !model.couplings.is_empty()
            || !settings.integrator.projects();
        if together {
            return None;
        }
        let dealt = groups::deal(model)?;
        let starts = row_starts(model);
        let most = model.bodies.len() / WORTH_A_THREAD;
        Some(Apart {
            threads: settings.threads.min(most).min(dealt.len()).max(1),
            groups: dealt
                .iter()
                .map(|members| Group::new(model, &starts, members, *settings))
                .collect(),
        })
    }

    /// Threads in use.
    pub(crate) fn threads(&self) -> usize {
        self.threads
    }

    /// Advances every group by h seconds. On an error, that of the first group which has one,
    /// the state is untouched.
    pub(crate) fn step(
        &mut self,
        state: &mut State,
        control: &Control,
        h: f64,
    ) -> Result<StepReport, StepError> {
        let now: &State = state;
        let run = |groups: &mut [Group]| -> Result<StepReport, StepError> {
            let mut whole: Option<StepReport> = None;
            for group in groups {
                let report = group.step(now, control, h)?;
                whole = Some(whole.map_or(report, |so_far| so_far.beside(&report)));
            }
            Ok(whole.expect("every thread has a group"))
        };
        let share = self.groups.len().div_ceil(self.threads);
        let report = if self.threads < 2 {
            run(&mut self.groups)?
        } else {
            std::thread::scope(|scope| {
                let mut shares = self.groups.chunks_mut(share);
                let own = shares.next().expect("there are groups");
                let others: Vec<_> = shares.map(|groups| scope.spawn(|| run(groups))).collect();
                let mut report = run(own);
                for other in others {
                    let next = other.join().expect("a step does not panic");
                    report = report.and_then(|r| next.map(|n| r.beside(&n)));
                }
                report
            })?
        };
        for group in &self.groups {
            group.write_back(state);
        }
        state.time += h;
        Ok(report)
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
