//! Passes over stretches of a long chain, one after the other, by one thread.

use std::ops::Range;

use vincula_blocks::{Bridge, Tie, Twin, both};

use super::super::links::put_run;
use super::super::passes::{AHEAD, Ending, Pass, answer, fetch_start, finish, prepare, weigh};
use super::super::record::Slot;
use crate::dual::{AFTER, BEFORE, Dual};
use crate::integrate::newton::NewtonBlock;
use crate::math::ahead::fetch;
use crate::math::lanes::{LANES, Lane, gather, scatter};
use crate::math::small::*;
use crate::model::{MemoryBlock, StateBlock};

/// A stretch that is left out, and what the passes find.
pub(super) struct Stretch {
    pub blocks: Range<usize>,
    /// Forces of the joints at its ends, N.
    held: [V3; 2],
    /// How its ends give way, and where they are without joint forces.
    pub bridge: Bridge,
    /// How far joints are open, m.
    pub open: f64,
    /// Whether nothing was out of the ordinary.
    pub sound: bool,
}

impl Stretch {
    pub fn of(blocks: Range<usize>) -> Stretch {
        Stretch {
            blocks,
            held: [[0.0; 3]; 2],
            bridge: Bridge::default(),
            open: 0.0,
            sound: true,
        }
    }

    /// Notes the forces at the ends, of those of all rows.
    pub fn hold(&mut self, dual: &Dual, forces: &[f64]) {
        self.held = [self.blocks.start, self.blocks.end].map(|block| {
            let row = dual.row_before(block * LANES);
            std::array::from_fn(|k| forces[row + k])
        });
    }
}

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
    pub ties: &'a mut [[Tie; LANES]],
    /// Forces of the joint before every link, N.
    pub forces: &'a mut [V3],
}

/// From which end joints are eliminated.
#[derive(Clone, Copy, PartialEq)]
enum Way {
    Forwards,
    Backwards,
}

impl Way {
    /// The lane of the k-th link of a block.
    #[inline(always)]
    fn lane(self, k: usize) -> usize {
        match self {
            Way::Forwards => k,
            Way::Backwards => LANES - 1 - k,
        }
    }

    /// A link of a block, as it is come to.
    #[inline(always)]
    fn link(self, slot: &Slot, lane: usize) -> Bridge {
        match self {
            Way::Forwards => link(slot, lane),
            Way::Backwards => link(slot, lane).turned(),
        }
    }
}

/// Forces of the nine joints of eight links in a row, N.
type Run = [V3; LANES + 1];

impl<'a> Lot<'a> {
    /// Does the job for every stretch, of which two are done side by side, on two threads if there are so
    /// many.
    pub fn each(
        mut self,
        threads: usize,
        stretches: &mut [Stretch],
        job: &(impl Fn(&mut Lot, &mut [Stretch]) + Sync),
    ) {
        let half = stretches.iter().map(|s| s.blocks.len()).sum::<usize>() / 2;
        let mut before = 0;
        let lower = stretches.iter().take_while(|stretch| {
            before += stretch.blocks.len();
            before <= half
        });
        let at = lower.count();
        if threads < 2 || at == 0 {
            stretches.chunks_mut(2).for_each(|s| job(&mut self, s));
            return;
        }
        let (one, two) = stretches.split_at_mut(at);
        let (mut lower, mut upper) = self.split(two[0].blocks.start);
        both(
            threads,
            || one.chunks_mut(2).for_each(|s| job(&mut lower, s)),
            || two.chunks_mut(2).for_each(|s| job(&mut upper, s)),
        );
    }

    /// What belongs to the blocks before one, and to the others.
    fn split(self, block: usize) -> (Lot<'a>, Lot<'a>) {
        let (at, keeps) = (block - self.first, self.keeps);
        let (newton, newton_b) = self.newton.split_at_mut(at);
        let (next, next_b) = self.next.split_at_mut(at);
        let (memory, memory_b) = self.memory.split_at_mut(at);
        let (geometric, geometric_b) = self.geometric.split_at_mut(at);
        let (restless, restless_b) = self.restless.split_at_mut(at);
        let (ties, ties_b) = self.ties.split_at_mut(at);
        let (forces, forces_b) = self.forces.split_at_mut(at * LANES);
        let before = Lot {
            first: self.first,
            keeps,
            newton,
            next,
            memory,
            geometric,
            restless,
            ties,
            forces,
        };
        let after = Lot {
            first: block,
            keeps,
            newton: newton_b,
            next: next_b,
            memory: memory_b,
            geometric: geometric_b,
            restless: restless_b,
            ties: ties_b,
            forces: forces_b,
        };
        (before, after)
    }

    /// First pass over one or two stretches.
    pub fn begin(&mut self, pass: &Pass, stretches: &mut [Stretch]) {
        let (mut once, mut hands) = (NewtonBlock::ZERO, [Hand::EMPTY; 2]);
        for k in 0..longest(stretches) {
            for (hand, stretch) in hands.iter_mut().zip(&mut *stretches) {
                let block = stretch.blocks.start + k;
                hand.at = (stretch.sound && block < stretch.blocks.end).then(|| block - self.first);
                let Some(at) = hand.at else { continue };
                fetch_start(pass, block + AHEAD, 0);
                let (n, _) = self.block(at, &mut once);
                if prepare(pass, block, false, n, &mut hand.slot).is_none() {
                    hand.at = None;
                    self.restless[at] = true;
                    stretch.sound = false;
                }
                fetch_start(pass, block + AHEAD, 1);
                fetch_start(pass, block + AHEAD, 2);
                fetch(self.ties, at + AHEAD, [0, 1]);
            }
            self.tie(Way::Forwards, &mut hands, stretches);
        }
        for (hand, stretch) in hands.iter().zip(stretches) {
            stretch.bridge = hand.whole.unwrap_or_default();
        }
    }

    /// Second pass over one or two stretches.
    pub fn answer(&mut self, pass: &Pass, stretches: &mut [Stretch]) {
        let (mut once, mut hands) = (NewtonBlock::ZERO, [Hand::EMPTY; 2]);
        for (hand, stretch) in hands.iter_mut().zip(&*stretches) {
            hand.force = stretch.held[1];
        }
        for k in 1..=longest(stretches) {
            for (hand, stretch) in hands.iter_mut().zip(&mut *stretches) {
                hand.at = None;
                if k <= stretch.blocks.len() {
                    self.answer_block(pass, stretch.blocks.end - k, hand, stretch, &mut once);
                }
            }
            self.tie(Way::Backwards, &mut hands, stretches);
        }
        for (hand, stretch) in hands.iter().zip(stretches) {
            stretch.bridge = hand.whole.unwrap_or_default().turned();
        }
    }

    /// Moves the links of a block and finds how they drift; at hand are then those that can be tied.
    fn answer_block(
        &mut self,
        pass: &Pass,
        block: usize,
        hand: &mut Hand,
        stretch: &mut Stretch,
        once: &mut NewtonBlock,
    ) {
        let (at, keeps) = (block - self.first, self.keeps);
        let is_first = block == stretch.blocks.start;
        let (ahead, at_ahead) = (block.wrapping_sub(AHEAD), at.wrapping_sub(AHEAD));
        fetch_start(pass, ahead, 0);
        fetch(self.ties, at_ahead, [0, 1]);
        let run = substitute_back(&self.ties[at], &stretch.held[0], &hand.force, is_first);
        hand.force = run[0];
        let slot = &mut hand.slot;
        self.put_forces(pass, at, &run, slot);
        let (n, ending) = self.block(at, once);
        let done = answer(pass, block, keeps, n, slot, Some(ending)).is_some();
        fetch_start(pass, ahead, 1);
        if done {
            stretch.open = stretch.open.max(gaps(slot, hand.start));
            hand.start = Some(gather(&slot.place[BEFORE], 0));
            if pass.projects {
                weigh(pass, block, n, slot);
                slot.place = slot.drifts(pass.scheme.h);
            }
            fetch_start(pass, ahead, 2);
            // Once some links have to be seen, the ends do not matter any more.
            hand.at = (pass.projects && stretch.sound).then_some(at);
        } else {
            self.restless[at] = true;
            (stretch.sound, hand.start) = (false, None);
        }
        fetch(self.next, at_ahead, [0, 1]);
    }

    /// Ties the blocks at hand to what is there of their stretches.
    fn tie(&mut self, way: Way, hands: &mut [Hand; 2], stretches: &mut [Stretch]) {
        let mut tied = [true; 2];
        let [one, two] = &mut *hands;
        if let [Some(a), Some(b)] = [one.at, two.at]
            && let [Some(first), Some(second)] = [&mut one.whole, &mut two.whole]
            && let Ok(ties) = self.ties.get_disjoint_mut([a, b])
        {
            tied = eliminate_two([first, second], way, [&one.slot, &two.slot], ties);
        } else {
            for (hand, tied) in hands.iter_mut().zip(&mut tied) {
                if let Some(at) = hand.at {
                    *tied = eliminate(&mut hand.whole, way, &hand.slot, &mut self.ties[at]);
                }
            }
        }
        for ((hand, stretch), tied) in hands.iter_mut().zip(stretches).zip(tied) {
            if let Some(at) = hand.at.filter(|_| !tied) {
                self.restless[at] = true;
                (stretch.sound, hand.start) = (false, None);
            }
        }
    }

    /// Last pass over one or two stretches.
    pub fn finish(&mut self, pass: &Pass, stretches: &mut [Stretch], kept: Option<f64>) {
        for stretch in stretches {
            self.finish_one(pass, stretch, kept);
        }
    }

    fn finish_one(&mut self, pass: &Pass, stretch: &mut Stretch, kept: Option<f64>) {
        let (mut once, mut slot) = (NewtonBlock::ZERO, Slot::ZERO);
        let ([mut first, last], keeps) = (stretch.held, self.keeps);
        for block in stretch.blocks.clone() {
            let at = block - self.first;
            let is_last = block + 1 == stretch.blocks.end;
            fetch(self.ties, at + AHEAD, [0, 1]);
            let run = substitute_on(&self.ties[at], &last, &first, is_last);
            first = run[LANES];
            self.put_forces(pass, at, &run, &mut slot);
            fetch(self.next, at + AHEAD, [0, 1]);
            let (n, ending) = self.block(at, &mut once);
            stretch.sound &= finish(pass, block, keeps, n, &slot, ending).is_some();
            fetch(self.memory, at + AHEAD, [0, 1]);
            if let Some(kept) = kept {
                forget(kept, &pass.state.memory[block], &mut self.memory[at]);
            }
        }
    }

    /// The unknowns of a block, its own where they are kept, and what passes leave of it.
    fn block<'b>(
        &'b mut self,
        at: usize,
        shared: &'b mut NewtonBlock,
    ) -> (&'b mut NewtonBlock, Ending<'b>) {
        let ending = Ending {
            geometric: &mut self.geometric[at],
            next: &mut self.next[at],
            memory: &mut self.memory[at],
        };
        match self.keeps {
            true => (&mut self.newton[at], ending),
            false => (shared, ending),
        }
    }

    /// Writes down the forces of the joints of a block, and puts them at its points.
    fn put_forces(&mut self, pass: &Pass, at: usize, run: &Run, slot: &mut Slot) {
        self.forces[at * LANES..][..LANES].copy_from_slice(&run[..LANES]);
        put_run(pass.level, run, &mut slot.force);
    }
}

/// Blocks of the longest stretch.
fn longest(stretches: &[Stretch]) -> usize {
    stretches.iter().map(|s| s.blocks.len()).max().unwrap_or(0)
}

/// What a pass has at hand of a stretch.
struct Hand {
    /// The block that is to be tied, if there is one, and its links.
    at: Option<usize>,
    slot: Slot,
    /// What is tied already.
    whole: Option<Bridge>,
    /// Force of the joint that was solved for last, N.
    force: V3,
    /// Where the last block starts, m.
    start: Option<V3>,
}

impl Hand {
    const EMPTY: Hand = Hand {
        at: None,
        slot: Slot::ZERO,
        whole: None,
        force: [0.0; 3],
        start: None,
    };
}

/// Ties the links of two blocks, each to those that are there. False for one that failed.
fn eliminate_two(
    [one, two]: [&mut Bridge; 2],
    way: Way,
    slots: [&Slot; 2],
    [ties, others]: [&mut [Tie; LANES]; 2],
) -> [bool; 2] {
    let mut twin = Twin::new([one, two]);
    let mut sound = [true; 2];
    for k in 0..LANES {
        let lane = way.lane(k);
        let next = [way.link(slots[0], lane), way.link(slots[1], lane)];
        let tied = [&mut ties[lane], &mut others[lane]];
        let safe = twin.extend([&next[0], &next[1]], tied);
        sound = [sound[0] & safe[0], sound[1] & safe[1]];
    }
    twin.part([one, two]);
    sound
}

/// Ties the links of a block to those that are there. False if that failed.
fn eliminate(whole: &mut Option<Bridge>, way: Way, slot: &Slot, ties: &mut [Tie; LANES]) -> bool {
    let mut sound = true;
    for k in 0..LANES {
        let lane = way.lane(k);
        let next = way.link(slot, lane);
        match whole {
            Some(whole) => {
                let (tie, safe) = whole.extend(&next);
                ties[lane] = tie;
                sound &= safe;
            }
            None => *whole = Some(next),
        }
    }
    sound
}

/// A link of a block.
#[inline(always)]
fn link(slot: &Slot, lane: usize) -> Bridge {
    let w = &slot.compliances;
    Bridge {
        own: [BEFORE, AFTER].map(|port| gather(&w.own[port], lane)),
        mutual: gather(&w.mutual, lane),
        places: [BEFORE, AFTER].map(|port| gather(&slot.place[port], lane)),
    }
}

/// The forces of the joints of a block after a pass forwards, from the one behind it, N; `first` is that
/// at the start of the stretch, where a block may be.
#[inline(always)]
fn substitute_back(ties: &[Tie; LANES], first: &V3, behind: &V3, is_first: bool) -> Run {
    let mut run = [[0.0; 3]; LANES + 1];
    run[LANES] = *behind;
    for k in (0..LANES).rev() {
        run[k] = match is_first && k == 0 {
            true => *first,
            false => ties[k].force(first, &scale(&run[k + 1], -1.0)),
        };
    }
    run
}

/// The same after a pass backwards, from the one before it; `last` is that at the end of the stretch. Seen
/// from there joints pull the other way.
#[inline(always)]
fn substitute_on(ties: &[Tie; LANES], last: &V3, before: &V3, is_last: bool) -> Run {
    let mut run = [[0.0; 3]; LANES + 1];
    run[0] = *before;
    for k in 0..LANES {
        run[k + 1] = match is_last && k + 1 == LANES {
            true => *last,
            false => scale(&ties[k].force(&scale(last, -1.0), &run[k]), -1.0),
        };
    }
    run
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
