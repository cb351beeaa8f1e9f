//! Trees: the passes over their bodies.

use super::Forces;
use super::boughs::{self, Bough};
use super::far::Ties;
use super::hung::{Hung, Parent};
use super::kinds::Kinds;
use super::passes::{AHEAD, Pass, answer, fetch_start, finish, prepare};
use super::record::Slot;
use super::room::Room;
use crate::dual::larger;
use crate::dual::ports::{NO_POINTS, Points};
use crate::integrate::newton::NewtonBlock;
use crate::math::ahead::fetch;
use crate::math::lanes::{LANES, Lane, gather, place, scatter};
use crate::math::small::*;
use crate::model::Model;
use crate::step::CLOSED;

/// Bodies from which on trees are streamed.
const LEAST: usize = 256;
/// Trees of ball joints in which parents come before their children, and the memory of their step.
pub(super) struct Grove {
    hung: Vec<Hung>,
    boughs: Vec<Bough>,
    /// Whether no bough has children yet.
    clear: bool,
    /// By how much the points would move apart in a step, m, and where the second ones are, m.
    drifts: Vec<Points>,
    tips: Vec<[Lane; 3]>,
}

impl Grove {
    /// The trees of a model in which every joint is a plain ball joint.
    pub fn find(model: &Model) -> Option<(Grove, Kinds)> {
        if model.bodies.len() < LEAST {
            return None;
        }
        Grove::with(model)
    }

    /// The same for trees of any size.
    pub fn with(model: &Model) -> Option<(Grove, Kinds)> {
        let rows = 3 * model.joints.len();
        let plain = model.dual_rows() == rows && model.rows() == rows;
        if !plain {
            return None;
        }
        let (hung, points) = Hung::find(model, |_| true)?;
        let grove = Grove {
            boughs: vec![Bough::ZERO; hung.len()],
            clear: true,
            drifts: vec![NO_POINTS; hung.len()],
            tips: vec![[[0.0; LANES]; 3]; hung.len()],
            hung,
        };
        Some((grove, Kinds::find(model, &points)))
    }

    /// The next state and the joint forces. Returns the largest change of an entry of A and how far
    /// joints are open, m; nothing if the step is out of the ordinary.
    pub fn advance(
        &mut self,
        pass: &Pass,
        forces: &mut Forces,
        mut room: Room,
    ) -> Option<[f64; 2]> {
        self.clear_boughs();
        self.predict(pass, &mut room)?;
        let found = self.answer(pass, forces[0], room.again())?;
        if !(found[1] <= CLOSED * pass.rule.residual) {
            return None;
        }
        if !pass.projects {
            // What is left in the boughs is the next step's to clear.
            return Some(found);
        }
        let drifts = std::mem::take(&mut self.drifts);
        self.gather_up(pass, |block| &drifts[block]);
        self.drifts = drifts;
        self.finish(pass, forces[1], room)?;
        self.clear = true;
        Some(found)
    }

    /// No bough has children.
    fn clear_boughs(&mut self) {
        if !std::mem::replace(&mut self.clear, false) {
            self.boughs.iter_mut().for_each(Bough::clear);
        }
    }

    /// From the leaves: predicts bodies and eliminates them.
    fn predict(&mut self, pass: &Pass, room: &mut Room) -> Option<()> {
        let kept = room.is_kept();
        let (mut local, mut slot) = (NewtonBlock::ZERO, Slot::ZERO);
        for block in (0..self.hung.len()).rev() {
            let (n, slot) = match kept {
                true => (&mut room.newton[block], &mut room.slots[block]),
                false => (&mut local, &mut slot),
            };
            (0..2).for_each(|third| fetch_start(pass, block.wrapping_sub(AHEAD), third));
            prepare(pass, block, false, n, slot)?;
            fetch_start(pass, block.wrapping_sub(AHEAD), 2);
            fetch(&self.boughs, block.wrapping_sub(AHEAD), [0, 1]);
            self.eliminate(pass, block, slot)?;
        }
        Some(())
    }

    /// Eliminates the bodies of a block, after those that hang from them.
    fn eliminate(&mut self, pass: &Pass, block: usize, slot: &Slot) -> Option<()> {
        let hung = &self.hung[block];
        let mut safe = true;
        if !hung.nested {
            safe = boughs::eliminate(pass.level, &mut self.boughs[block], slot, &hung.hangs);
        }
        for lane in (0..LANES).rev() {
            if hung.nested {
                let bough = &mut self.boughs[block];
                safe &= bough.eliminate(lane, slot, hung.hangs[lane]);
            }
            if let Parent::Body(body) = hung.parents[lane] {
                let (stiffness, pull) = self.boughs[block].share(lane);
                let (above, at) = place(body as usize);
                self.boughs[above].hang(at, &stiffness, &pull);
            }
        }
        safe.then_some(())
    }

    /// From the leaves, for another right-hand side: where points would be, m.
    fn gather_up<'a>(&mut self, pass: &Pass, places: impl Fn(usize) -> &'a Points) {
        for block in (0..self.hung.len()).rev() {
            fetch(&self.boughs, block.wrapping_sub(AHEAD), [0, 1]);
            let (hung, drifts) = (&self.hung[block], places(block));
            if !hung.nested {
                boughs::gather_up(pass.level, &mut self.boughs[block], drifts);
            }
            for lane in (0..LANES).rev() {
                if hung.nested {
                    self.boughs[block].gather_up(lane, drifts);
                }
                if let Parent::Body(body) = hung.parents[lane] {
                    let (_, pull) = self.boughs[block].share(lane);
                    let (above, at) = place(body as usize);
                    self.boughs[above].tug(at, &pull);
                }
            }
        }
    }

    /// The forces at the points of a block, and those of the joints that its bodies hang by. World
    /// points move by `still`: not at all if that is zero.
    fn descend(
        &mut self,
        pass: &Pass,
        block: usize,
        still: f64,
        joints: &mut [[f64; 3]],
        forces: &mut Points,
    ) {
        let hung = &self.hung[block];
        let from = |boughs: &[Bough], lane: usize| match hung.parents[lane] {
            Parent::Nothing => [0.0; 3],
            Parent::World(point) => scale(&point, still),
            Parent::Body(body) => {
                let (above, at) = place(body as usize);
                boughs[above].tip(at)
            }
        };
        if hung.nested {
            for lane in 0..LANES {
                let from = from(&self.boughs, lane);
                self.boughs[block].descend(lane, &from, forces);
            }
        } else {
            let mut above = [[0.0; LANES]; 3];
            for lane in 0..LANES {
                scatter(&mut above, lane, &from(&self.boughs, lane));
            }
            boughs::descend(pass.level, &mut self.boughs[block], &above, forces);
        }
        for lane in 0..LANES {
            if let Some(force) = joints.get_mut(hung.joints[lane] as usize) {
                *force = scale(&gather(&forces[0], lane), hung.signs[lane]);
            }
        }
    }

    /// From the roots: what the joint forces do to the bodies.
    fn answer(&mut self, pass: &Pass, forces: &mut [[f64; 3]], mut room: Room) -> Option<[f64; 2]> {
        let kept = room.is_kept();
        let (mut local, mut slot) = (NewtonBlock::ZERO, Slot::ZERO);
        let unknowns = std::mem::take(&mut room.newton);
        let (mut update, mut open) = (0.0, 0.0);
        for block in 0..self.hung.len() {
            self.descend(pass, block, 1.0, forces, &mut slot.force);
            self.boughs[block].clear_pull();
            fetch(&self.boughs, block + AHEAD, [0, 1]);
            room.fetch_ahead(pass, block, 0);
            let n = unknowns.get_mut(block).unwrap_or(&mut local);
            let ending = Some(room.ending(block));
            update = larger(answer(pass, block, kept, n, &mut slot, ending)?, update);
            room.fetch_ahead(pass, block, 1);
            self.drifts[block] = slot.drifts(pass.scheme.h);
            self.tips[block] = slot.place[1];
            let tip = |above: usize| &self.tips[above];
            open = larger(self.hung[block].open(&slot.place[0], 1.0, tip), open);
            room.fetch_ahead(pass, block, 2);
        }
        Some([update, open])
    }

    /// From the roots: the velocities that the joints allow.
    fn finish(&mut self, pass: &Pass, forces: &mut [[f64; 3]], mut room: Room) -> Option<()> {
        let kept = room.is_kept();
        let (mut local, mut slot) = (NewtonBlock::ZERO, Slot::ZERO);
        let unknowns = std::mem::take(&mut room.newton);
        for block in 0..self.hung.len() {
            self.descend(pass, block, 0.0, forces, &mut slot.force);
            self.boughs[block].clear();
            fetch(&self.boughs, block + AHEAD, [0, 1]);
            let n = unknowns.get_mut(block).unwrap_or(&mut local);
            room.fetch_last(block);
            finish(pass, block, kept, n, &slot, room.ending(block))?;
        }
        Some(())
    }
}

impl Ties for Grove {
    fn threads(&self) -> usize {
        1
    }

    fn solve(
        &mut self,
        pass: &Pass,
        _: &[NewtonBlock],
        slots: &mut [Slot],
        fresh: bool,
        world: f64,
        forces: &mut [[f64; 3]],
    ) -> Option<()> {
        if fresh {
            self.clear_boughs();
            for (block, slot) in slots.iter().enumerate().rev() {
                self.eliminate(pass, block, slot)?;
            }
        } else {
            self.gather_up(pass, |block| &slots[block].place);
        }
        for (block, slot) in slots.iter_mut().enumerate() {
            self.descend(pass, block, world, forces, &mut slot.force);
            self.boughs[block].clear_pull();
        }
        Some(())
    }

    fn open(&mut self, slots: &[Slot], world: f64) -> f64 {
        Hung::most_open(&self.hung, slots, world)
    }
}
