//! Eight pieces of a chain side by side: where they are, and what eliminating their joints makes of them.

use std::cmp::Ordering;
use std::ops::Range;

use vincula_blocks::{Bridge, Tie};

use super::super::record::Slot;
use crate::dual::{AFTER, BEFORE, Dual};
use crate::kernel;
use crate::math::dispatch::Level;
use crate::math::lanes::{LANES, Lane, gather, scatter};
use crate::math::small::*;

/// Eight bridges.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
struct BridgeBlock {
    own: [[Lane; 6]; 2],
    mutual: [Lane; 9],
    places: [[Lane; 3]; 2],
}

impl BridgeBlock {
    const NONE: BridgeBlock = BridgeBlock {
        own: [[[0.0; LANES]; 6]; 2],
        mutual: [[0.0; LANES]; 9],
        places: [[[0.0; LANES]; 3]; 2],
    };

    #[inline(always)]
    fn get(&self, lane: usize) -> Bridge {
        Bridge {
            own: [gather(&self.own[0], lane), gather(&self.own[1], lane)],
            mutual: gather(&self.mutual, lane),
            places: [gather(&self.places[0], lane), gather(&self.places[1], lane)],
        }
    }

    #[inline(always)]
    fn set(&mut self, lane: usize, bridge: &Bridge) {
        for end in 0..2 {
            scatter(&mut self.own[end], lane, &bridge.own[end]);
            scatter(&mut self.places[end], lane, &bridge.places[end]);
        }
        scatter(&mut self.mutual, lane, &bridge.mutual);
    }
}

/// One joint of each of eight pieces, once it is eliminated.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(super) struct TieBlock {
    alone: [Lane; 3],
    first: [Lane; 9],
    last: [Lane; 9],
}

impl TieBlock {
    pub const NONE: TieBlock = TieBlock {
        alone: [[0.0; LANES]; 3],
        first: [[0.0; LANES]; 9],
        last: [[0.0; LANES]; 9],
    };

    #[inline(always)]
    fn set(&mut self, lane: usize, tie: &Tie) {
        scatter(&mut self.alone, lane, &tie.alone);
        scatter(&mut self.first, lane, &tie.first);
        scatter(&mut self.last, lane, &tie.last);
    }
}

/// From which end joints are eliminated.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Way {
    Forwards,
    Backwards,
}

/// Forces of the nine joints of eight links in a row, of each piece, N.
pub(super) type Run = [[Lane; 3]; LANES + 1];

/// Eight pieces that follow each other, the first ones longer by a block if need be.
pub(super) struct Team {
    pub blocks: Range<usize>,
    /// Where its ties are.
    at: usize,
    /// Forces of the joints at the ends of the pieces, N.
    starts: [Lane; 3],
    ends: [Lane; 3],
    whole: BridgeBlock,
    /// How far joints are open, m.
    pub open: f64,
    /// Whether nothing was out of the ordinary.
    pub sound: bool,
}

impl Team {
    /// Pieces of a stretch of blocks, whose ties start at `at`.
    pub fn new(blocks: Range<usize>, at: usize) -> Team {
        Team {
            blocks,
            at,
            starts: [[0.0; LANES]; 3],
            ends: [[0.0; LANES]; 3],
            whole: BridgeBlock::NONE,
            open: 0.0,
            sound: true,
        }
    }

    /// Ties of all teams of so many blocks at most, with `least` blocks each at least.
    pub fn most_ties(blocks: usize, least: usize) -> usize {
        blocks + (LANES - 1) * (blocks / least)
    }

    /// Where its ties are: one for each link of the longest piece.
    pub fn ties(&self) -> Range<usize> {
        self.at..self.at + LANES * self.steps()
    }

    /// Blocks of the longest piece.
    pub fn steps(&self) -> usize {
        self.blocks.len().div_ceil(LANES)
    }

    /// How many pieces have a block of this number.
    pub fn active(&self, step: usize) -> usize {
        let (short, longer) = (self.blocks.len() / LANES, self.blocks.len() % LANES);
        match step.cmp(&short) {
            Ordering::Less => LANES,
            Ordering::Equal => longer,
            Ordering::Greater => 0,
        }
    }

    /// The blocks of a piece.
    pub fn piece(&self, piece: usize) -> Range<usize> {
        let (short, longer) = (self.blocks.len() / LANES, self.blocks.len() % LANES);
        let start = self.blocks.start + piece * short + piece.min(longer);
        start..start + short + usize::from(piece < longer)
    }

    pub fn pieces(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        (0..LANES).map(|piece| self.piece(piece))
    }

    /// What the pieces have become, from first to last.
    pub fn bridges(&self) -> impl Iterator<Item = Bridge> + '_ {
        (0..LANES).map(|piece| self.whole.get(piece))
    }

    /// Notes the forces at the ends of the pieces, of those of all rows.
    pub fn hold(&mut self, dual: &Dual, forces: &[f64]) {
        for piece in 0..LANES {
            let Range { start, end } = self.piece(piece);
            for (held, block) in [(&mut self.starts, start), (&mut self.ends, end)] {
                let row = dual.row_before(block * LANES);
                let force: V3 = std::array::from_fn(|k| forces[row + k]);
                scatter(held, piece, &force);
            }
        }
    }

    /// Pieces that begin with this block in a pass.
    fn fresh(&self, way: Way, step: usize) -> Range<usize> {
        match way {
            Way::Forwards if step == 0 => 0..LANES,
            Way::Forwards => 0..0,
            Way::Backwards => self.active(step + 1)..self.active(step),
        }
    }

    /// Ties the links of a block of each piece to those that are there. False if that failed.
    pub fn eliminate(
        &mut self,
        level: Level,
        way: Way,
        step: usize,
        slots: &[Slot; LANES],
        ties: &mut [TieBlock],
    ) -> bool {
        let (active, fresh) = (self.active(step), self.fresh(way, step));
        let mut next = BridgeBlock::NONE;
        let mut faults = 0.0;
        for k in 0..LANES {
            let lane = match way {
                Way::Forwards => k,
                Way::Backwards => LANES - 1 - k,
            };
            for (piece, slot) in slots[..active].iter().enumerate() {
                next.set(piece, &link(slot, lane, way));
            }
            let tie = &mut ties[LANES * step + lane];
            if active == LANES && (k > 0 || fresh.is_empty()) {
                faults += extend(level, &mut self.whole, &next, tie);
                continue;
            }
            for piece in 0..active {
                let mut whole = self.whole.get(piece);
                if k == 0 && fresh.contains(&piece) {
                    whole = next.get(piece);
                } else {
                    let (found, safe) = whole.extend(&next.get(piece));
                    tie.set(piece, &found);
                    faults += f64::from(u8::from(!safe));
                }
                self.whole.set(piece, &whole);
            }
        }
        faults == 0.0
    }

    /// After a pass backwards the bridges are seen from their last ends.
    pub fn turn(&mut self) {
        for piece in 0..LANES {
            let turned = self.whole.get(piece).turned();
            self.whole.set(piece, &turned);
        }
    }

    /// The forces of a block of each piece after a pass forwards; `run` holds those of the block behind,
    /// N.
    pub fn substitute_back(&self, level: Level, step: usize, ties: &[TieBlock], run: &mut Run) {
        let fresh = self.fresh(Way::Backwards, step);
        run[LANES] = run[0];
        fresh.for_each(|piece| scatter(&mut run[LANES], piece, &gather(&self.ends, piece)));
        for k in (0..LANES).rev() {
            let behind = opposite(&run[k + 1]);
            carry(
                level,
                &ties[LANES * step + k],
                &self.starts,
                &behind,
                &mut run[k],
            );
        }
        if step == 0 {
            run[0] = self.starts;
        }
    }

    /// The same after a pass backwards, from the block before; seen from the last end, joints pull the
    /// other way.
    pub fn substitute_on(&self, level: Level, step: usize, ties: &[TieBlock], run: &mut Run) {
        run[0] = if step == 0 { self.starts } else { run[LANES] };
        let ends = opposite(&self.ends);
        for k in 0..LANES {
            let mut force = [[0.0; LANES]; 3];
            carry(level, &ties[LANES * step + k], &ends, &run[k], &mut force);
            run[k + 1] = opposite(&force);
        }
        let last = self.fresh(Way::Backwards, step);
        last.for_each(|piece| scatter(&mut run[LANES], piece, &gather(&self.ends, piece)));
    }
}

/// A link of a block, seen from where a pass comes from.
#[inline(always)]
fn link(slot: &Slot, lane: usize, way: Way) -> Bridge {
    let w = &slot.compliances;
    let link = Bridge {
        own: [BEFORE, AFTER].map(|port| gather(&w.own[port], lane)),
        mutual: gather(&w.mutual, lane),
        places: [BEFORE, AFTER].map(|port| gather(&slot.place[port], lane)),
    };
    match way {
        Way::Forwards => link,
        Way::Backwards => link.turned(),
    }
}

kernel! {
    /// Ties eight links to eight bridges. Returns zero if that succeeded.
    fn extend(whole: &mut BridgeBlock, next: &BridgeBlock, ties: &mut TieBlock) -> f64 = extend_lanes
}

#[inline(always)]
fn extend_lanes(whole: &mut BridgeBlock, next: &BridgeBlock, ties: &mut TieBlock) -> f64 {
    let mut faults = [0.0; LANES];
    for lane in 0..LANES {
        let mut bridge = whole.get(lane);
        let (tie, safe) = bridge.extend(&next.get(lane));
        whole.set(lane, &bridge);
        ties.set(lane, &tie);
        faults[lane] = if safe { 0.0 } else { 1.0 };
    }
    faults.iter().sum()
}

kernel! {
    /// What eight ties carry under forces at the first ends and behind them, N.
    fn carry(ties: &TieBlock, first: &[Lane; 3], last: &[Lane; 3], forces: &mut [Lane; 3]) = carry_lanes
}

#[inline(always)]
fn carry_lanes(ties: &TieBlock, first: &[Lane; 3], last: &[Lane; 3], forces: &mut [Lane; 3]) {
    for lane in 0..LANES {
        let tie = Tie {
            alone: gather(&ties.alone, lane),
            first: gather(&ties.first, lane),
            last: gather(&ties.last, lane),
        };
        let force = tie.force(&gather(first, lane), &gather(last, lane));
        scatter(forces, lane, &force);
    }
}

fn opposite(forces: &[Lane; 3]) -> [Lane; 3] {
    forces.map(|row| row.map(|x| -x))
}
