//! Passes over teams of pieces of a long chain, one after the other, by one thread.

use vincula_blocks::both;

use super::super::links::put_run;
use super::super::passes::{Ending, Pass, answer, finish, prepare, weigh};
use super::super::record::Slot;
use super::team::{Run, Team, TieBlock, Way};
use crate::dual::{AFTER, BEFORE};
use crate::integrate::newton::NewtonBlock;
use crate::math::lanes::{LANES, Lane, gather, scatter};
use crate::math::small::*;
use crate::model::{MemoryBlock, StateBlock};

/// What passes read and write, by block from the first one on.
pub(super) struct Lot<'a> {
    pub first: usize,
    /// Whether unknowns are kept from one pass to the next.
    pub keeps: bool,
    pub newton: &'a mut [NewtonBlock],
    pub next: &'a mut [StateBlock],
    pub memory: &'a mut [MemoryBlock],
    pub geometric: &'a mut [[Lane; 3]],
    pub restless: &'a mut [bool],
    /// Ties of all teams from this one on.
    pub first_tie: usize,
    pub ties: &'a mut [TieBlock],
    /// Forces of the joint before every link, N.
    pub forces: &'a mut [V3],
}

/// Room for one block of each piece.
struct Room {
    n: NewtonBlock,
    slots: [Slot; LANES],
    run: Run,
}

impl Room {
    const NEW: Room = Room {
        n: NewtonBlock::ZERO,
        slots: [Slot::ZERO; LANES],
        run: [[[0.0; LANES]; 3]; LANES + 1],
    };
}

impl<'a> Lot<'a> {
    /// Does the job for every team, on two threads if there are so many.
    pub fn each(
        mut self,
        threads: usize,
        teams: &mut [Team],
        job: &(impl Fn(&mut Lot, &mut Team) + Sync),
    ) {
        let half = teams.iter().map(|team| team.blocks.len()).sum::<usize>() / 2;
        let mut before = 0;
        let lower = teams.iter().take_while(|team| {
            before += team.blocks.len();
            before <= half
        });
        let at = lower.count();
        if threads < 2 || at == 0 {
            teams.iter_mut().for_each(|team| job(&mut self, team));
            return;
        }
        let (one, two) = teams.split_at_mut(at);
        let (mut lower, mut upper) = self.split(&two[0]);
        both(
            threads,
            || one.iter_mut().for_each(|team| job(&mut lower, team)),
            || two.iter_mut().for_each(|team| job(&mut upper, team)),
        );
    }

    /// What belongs to the teams before one, and to the others.
    fn split(self, team: &Team) -> (Lot<'a>, Lot<'a>) {
        let at = team.blocks.start - self.first;
        let (newton, newton_b) = self.newton.split_at_mut(at);
        let (next, next_b) = self.next.split_at_mut(at);
        let (memory, memory_b) = self.memory.split_at_mut(at);
        let (geometric, geometric_b) = self.geometric.split_at_mut(at);
        let (restless, restless_b) = self.restless.split_at_mut(at);
        let (ties, ties_b) = self.ties.split_at_mut(team.ties().start - self.first_tie);
        let (forces, forces_b) = self.forces.split_at_mut(at * LANES);
        let keeps = self.keeps;
        let before = Lot {
            first: self.first,
            keeps,
            newton,
            next,
            memory,
            geometric,
            restless,
            first_tie: self.first_tie,
            ties,
            forces,
        };
        let after = Lot {
            first: team.blocks.start,
            keeps,
            newton: newton_b,
            next: next_b,
            memory: memory_b,
            geometric: geometric_b,
            restless: restless_b,
            first_tie: team.ties().start,
            ties: ties_b,
            forces: forces_b,
        };
        (before, after)
    }

    /// First pass over a team.
    pub fn begin(&mut self, pass: &Pass, team: &mut Team) {
        let mut room = Room::NEW;
        for step in 0..team.steps() {
            for piece in 0..team.active(step) {
                let block = team.piece(piece).start + step;
                let at = block - self.first;
                let n = unknowns(self.keeps, &mut self.newton[at], &mut room.n);
                if prepare(pass, block, false, n, &mut room.slots[piece]).is_none() {
                    self.note_restless(team, block);
                }
            }
            if team.sound {
                self.eliminate(pass, Way::Forwards, team, step, &room.slots);
            }
            if !team.sound {
                break;
            }
        }
    }

    /// Second pass over a team.
    pub fn answer(&mut self, pass: &Pass, team: &mut Team) {
        let mut room = Room::NEW;
        let mut starts = [None; LANES];
        for step in (0..team.steps()).rev() {
            team.substitute_back(pass.level, step, self.ties_of(team), &mut room.run);
            for piece in 0..team.active(step) {
                let block = team.piece(piece).start + step;
                let (at, slot) = (block - self.first, &mut room.slots[piece]);
                self.put_forces(pass, block, piece, &room.run, slot);
                let n = unknowns(self.keeps, &mut self.newton[at], &mut room.n);
                let ending = Ending {
                    geometric: &mut self.geometric[at],
                    next: &mut self.next[at],
                    memory: &mut self.memory[at],
                };
                if answer(pass, block, self.keeps, n, slot, Some(ending)).is_some() {
                    team.open = team.open.max(gaps(slot, starts[piece]));
                    starts[piece] = Some(gather(&slot.place[BEFORE], 0));
                    weigh(pass, block, n, slot);
                    slot.place = slot.drifts(pass.scheme.h);
                } else {
                    // The others may be told at once.
                    starts[piece] = None;
                    self.note_restless(team, block);
                }
            }
            if team.sound {
                self.eliminate(pass, Way::Backwards, team, step, &room.slots);
            }
        }
        team.turn();
    }

    /// Last pass over a team.
    pub fn finish(&mut self, pass: &Pass, team: &mut Team, kept: Option<f64>) {
        let mut room = Room::NEW;
        for step in 0..team.steps() {
            team.substitute_on(pass.level, step, self.ties_of(team), &mut room.run);
            for piece in 0..team.active(step) {
                let block = team.piece(piece).start + step;
                let (at, slot) = (block - self.first, &mut room.slots[piece]);
                self.put_forces(pass, block, piece, &room.run, slot);
                let n = unknowns(self.keeps, &mut self.newton[at], &mut room.n);
                let ending = Ending {
                    geometric: &mut self.geometric[at],
                    next: &mut self.next[at],
                    memory: &mut self.memory[at],
                };
                team.sound &= finish(pass, block, self.keeps, n, slot, ending).is_some();
                if let Some(kept) = kept {
                    forget(kept, &pass.state.memory[block], &mut self.memory[at]);
                }
            }
        }
    }

    fn ties_of(&self, team: &Team) -> &[TieBlock] {
        let ties = team.ties();
        &self.ties[ties.start - self.first_tie..ties.end - self.first_tie]
    }

    /// Ties the links of a block of each piece to those that are there.
    fn eliminate(
        &mut self,
        pass: &Pass,
        way: Way,
        team: &mut Team,
        step: usize,
        slots: &[Slot; LANES],
    ) {
        let ties = team.ties();
        let ties = &mut self.ties[ties.start - self.first_tie..ties.end - self.first_tie];
        if !team.eliminate(pass.level, way, step, slots, ties) {
            for piece in 0..team.active(step) {
                self.note_restless(team, team.piece(piece).start + step);
            }
        }
    }

    /// The step has to see a block.
    fn note_restless(&mut self, team: &mut Team, block: usize) {
        self.restless[block - self.first] = true;
        team.sound = false;
    }

    /// Writes down the forces of the joints of a block of one piece, and puts them at its points.
    fn put_forces(&mut self, pass: &Pass, block: usize, piece: usize, run: &Run, slot: &mut Slot) {
        let forces: [V3; LANES + 1] = std::array::from_fn(|k| gather(&run[k], piece));
        let at = (block - self.first) * LANES;
        self.forces[at..at + LANES].copy_from_slice(&forces[..LANES]);
        put_run(pass.level, &forces, &mut slot.force);
    }
}

/// The unknowns of a block: its own where they are kept, else those that all share.
fn unknowns<'a>(
    keeps: bool,
    own: &'a mut NewtonBlock,
    shared: &'a mut NewtonBlock,
) -> &'a mut NewtonBlock {
    if keeps { own } else { shared }
}

/// How far joints are open between the links of a block and the one after, which starts at `start`, m.
fn gaps(slot: &Slot, start: Option<V3>) -> f64 {
    let mut open = 0.0f64;
    for lane in 0..LANES {
        let end: V3 = gather(&slot.place[AFTER], lane);
        let next = match lane + 1 < LANES {
            true => Some(gather(&slot.place[BEFORE], lane + 1)),
            false => start,
        };
        if let Some(next) = next {
            open = sub(&end, &next).iter().fold(open, |m, x| m.max(x.abs()));
        }
    }
    open
}

/// Takes from the loads of a block what the next step may not expect, as `step::contact` does.
fn forget(kept: f64, before: &MemoryBlock, now: &mut MemoryBlock) {
    for lane in 0..LANES {
        let (last, past): (M3, M3) = (gather(&now.load, lane), gather(&before.load, lane));
        let held = axpy9(&past, kept, &sub9(&last, &past));
        scatter(&mut now.load, lane, &full(&sym(&held)));
    }
}
