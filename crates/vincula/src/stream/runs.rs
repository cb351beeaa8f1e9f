//! Stretches of a long chain that no contact touches, streamed: a step with contacts sees only their
//! ends (`dual/strand.rs`), and their links are passed over three times.
//!
//! 1. Predict, solve freely, and eliminate the joints from one end to the other.
//! 2. With the forces at the ends known, substitute back, move the links, turn and kick their
//!    velocities, and eliminate the joints once more, at the new pose.
//! 3. With the forces of the second stage at the ends, substitute back, project and finish.
//!
//! The kernels are those of an ordinary step of a chain. Blocks of which one linear solve turns out not
//! to be enough are seen by the step, and it is made again.

use std::ops::Range;

use vincula_blocks::{Bridge, Tie};

use super::REMEMBERED;
use super::kinds::Kinds;
use super::links::put_run;
use super::passes::{Ending, Pass, answer, finish, prepare, weigh};
use super::record::Slot;
use crate::dual::{AFTER, BEFORE, Dual};
use crate::integrate::newton::NewtonBlock;
use crate::integrate::{Integrator, tempered};
use crate::math::lanes::{LANES, Lane, gather, scatter};
use crate::math::small::*;
use crate::model::{MemoryBlock, Model, State};
use crate::settings::Settings;
use crate::workspace::Workspace;

/// Blocks of links that are worth to be left out together.
const LEAST: usize = 4;
/// Attempts at a step at most that leave links out.
const ATTEMPTS: usize = 4;

/// The memory of the passes over such links, sized once.
pub(crate) struct Runs {
    kinds: Kinds,
    /// Blocks of links that have a joint at either end.
    whole: Range<usize>,
    /// Stretches of blocks that are left out.
    stretches: Vec<Range<usize>>,
    /// Blocks of which one linear solve was not enough in this step.
    restless: Vec<bool>,
    /// The joint before every link, once it is eliminated.
    ties: Vec<Tie>,
    /// Rotational stiffness of blocks, N m.
    geometric: Vec<[Lane; 3]>,
    /// Whether unknowns are kept from one pass to the next, and room for those that are not.
    keeps: bool,
    n: Box<NewtonBlock>,
    slot: Box<Slot>,
}

impl Runs {
    /// Room for the long chain of a model, if it has one and may touch something.
    pub(crate) fn new(model: &Model, dual: &Dual, settings: &Settings) -> Option<Runs> {
        let links = dual.strand_links()?;
        let usual = settings.integrator == Integrator::Tempered && model.ground.is_none();
        if !usual || model.collision.colliders.is_empty() {
            return None;
        }
        let blocks = model.params.len();
        let points: Vec<_> = (0..blocks).map(|block| *dual.points_of(block)).collect();
        Some(Runs {
            kinds: Kinds::find(model, &points),
            whole: links.start.div_ceil(LANES)..links.end / LANES,
            stretches: Vec::new(),
            restless: vec![false; blocks],
            ties: vec![Tie::default(); blocks * LANES],
            geometric: vec![[[0.0; LANES]; 3]; blocks],
            keeps: model.bodies.len() <= REMEMBERED,
            n: Box::new(NewtonBlock::ZERO),
            slot: Box::new(Slot::ZERO),
        })
    }

    /// A new step.
    pub(crate) fn reset(&mut self) {
        self.restless.fill(false);
    }

    /// Blocks that are left out.
    pub(crate) fn blocks(&self) -> impl Iterator<Item = usize> + '_ {
        self.stretches.iter().cloned().flatten()
    }

    /// Chooses what to leave out: blocks that nothing touches, nor their neighbours.
    fn choose(&mut self, touched: &[bool], quiet: &mut [bool]) {
        self.stretches.clear();
        quiet.fill(false);
        let busy =
            |block: usize| !self.whole.contains(&block) || touched[block] || self.restless[block];
        let mut first = self.whole.start;
        for block in self.whole.start..=self.whole.end {
            let near = [block.wrapping_sub(1), block, block + 1];
            let ends = block == self.whole.end || near.into_iter().any(busy);
            if !ends {
                continue;
            }
            if block - first.min(block) >= LEAST {
                self.stretches.push(first..block);
                quiet[first..block].fill(true);
            }
            first = block + 1;
        }
    }
}

/// Leaves out of the next attempt at a step what no contact touches, after so many.
pub(crate) fn leave_out(work: &mut Workspace, attempts: usize) {
    let Some(runs) = &mut work.runs else { return };
    // Where links move violently all over the chain, every attempt would find some more.
    if work.contacts.points.is_empty() || attempts >= ATTEMPTS {
        runs.stretches.clear();
        work.quiet.fill(false);
    } else {
        runs.choose(&work.touched, &mut work.quiet);
    }
    let bodies = |blocks: &Range<usize>| blocks.start * LANES..blocks.end * LANES;
    work.dual.leave_out(runs.stretches.iter().map(bodies));
}

/// What the passes need to know.
fn pass_of<'a>(
    state: &'a State,
    work: &Workspace,
    kicks: &'a [tempered::KickBlock],
    kinds: &'a Kinds,
    h: f64,
) -> Pass<'a> {
    Pass {
        level: work.level,
        scheme: tempered::scheme(h, work.settings.tempering()),
        state,
        kicks,
        kinds,
        rule: work.settings.iteration(),
        projects: true,
    }
}

/// First pass: how the ends give way, and where they are without joint forces. False if some links are
/// out of the ordinary.
pub(crate) fn begin(state: &State, work: &mut Workspace, h: f64) -> bool {
    let Some(mut runs) = work.runs.take() else {
        return true;
    };
    let kicks = std::mem::take(&mut work.kicks);
    let pass = pass_of(state, work, &kicks, &runs.kinds, h);
    let mut sound = true;
    for (index, stretch) in runs.stretches.iter().enumerate() {
        let (once, slot) = (&mut *runs.n, &mut *runs.slot);
        let mut whole = None;
        for block in stretch.clone() {
            let n = unknowns(runs.keeps, &mut work.newton[block], once);
            let done = prepare(&pass, block, false, n, slot)
                .and_then(|_| append(&mut whole, block, slot, &mut runs.ties));
            if done.is_none() {
                runs.restless[block] = true;
                sound = false;
                break;
            }
        }
        if let Some(bridge) = &whole {
            work.dual.set_span(index, bridge, 1.0);
        }
    }
    work.kicks = kicks;
    work.runs = Some(runs);
    sound
}

/// Second pass: the links move under the joint forces of the first stage, which are written down. False
/// if one linear solve is not enough for some. Else returns how far joints are open, m.
pub(crate) fn answer_first(state: &State, work: &mut Workspace, h: f64) -> Option<f64> {
    let Some(mut runs) = work.runs.take() else {
        return Some(0.0);
    };
    let kicks = std::mem::take(&mut work.kicks);
    let (mut sound, mut open) = (true, 0.0f64);
    let pass = pass_of(state, work, &kicks, &runs.kinds, h);
    for (index, stretch) in runs.stretches.iter().enumerate() {
        substitute(&work.dual, stretch, &runs.ties, &mut work.total);
        let (once, slot) = (&mut *runs.n, &mut *runs.slot);
        let mut whole = None;
        let mut end: Option<V3> = None;
        for block in stretch.clone() {
            put_forces(&pass, &work.dual, block, &work.total, slot);
            let n = unknowns(runs.keeps, &mut work.newton[block], once);
            let ending = Ending {
                geometric: &mut runs.geometric[block],
                next: &mut work.next[block],
                memory: &mut work.memory[block],
            };
            let done = answer(&pass, block, runs.keeps, n, slot, Some(ending)).and_then(|_| {
                open = open.max(gaps(slot, &mut end));
                weigh(&pass, block, n, slot);
                slot.place = slot.drifts(h);
                append(&mut whole, block, slot, &mut runs.ties)
            });
            if done.is_none() {
                runs.restless[block] = true;
                // The others may be told at once; ties are of no use any more.
                whole = None;
                end = None;
                sound = false;
            }
        }
        if let Some(bridge) = &whole {
            work.dual.set_span(index, bridge, 1.0 / h);
        }
    }
    work.kicks = kicks;
    work.runs = Some(runs);
    sound.then_some(open)
}

/// Last pass: the velocity under the joint forces of the second stage, which are written down, and the
/// end of the step. `kept` is the part of the change of joint loads that the next step may expect.
/// False if a link is not finite.
pub(crate) fn finish_second(
    state: &State,
    work: &mut Workspace,
    h: f64,
    kept: Option<f64>,
) -> bool {
    let Some(mut runs) = work.runs.take() else {
        return true;
    };
    let kicks = std::mem::take(&mut work.kicks);
    let mut sound = true;
    let pass = pass_of(state, work, &kicks, &runs.kinds, h);
    for stretch in &runs.stretches {
        substitute(&work.dual, stretch, &runs.ties, &mut work.total);
        let (once, slot) = (&mut *runs.n, &mut *runs.slot);
        for block in stretch.clone() {
            put_forces(&pass, &work.dual, block, &work.total, slot);
            let n = unknowns(runs.keeps, &mut work.newton[block], once);
            let ending = Ending {
                geometric: &mut runs.geometric[block],
                next: &mut work.next[block],
                memory: &mut work.memory[block],
            };
            sound &= finish(&pass, block, runs.keeps, n, slot, ending).is_some();
            if let Some(kept) = kept {
                forget(kept, &state.memory[block], &mut work.memory[block]);
            }
        }
    }
    work.kicks = kicks;
    work.runs = Some(runs);
    sound
}

/// The unknowns of a block: its own where they are kept, else those that all share.
fn unknowns<'a>(
    keeps: bool,
    own: &'a mut NewtonBlock,
    shared: &'a mut NewtonBlock,
) -> &'a mut NewtonBlock {
    if keeps { own } else { shared }
}

/// Ties the links of a block to those before.
#[inline(always)]
fn append(whole: &mut Option<Bridge>, block: usize, slot: &Slot, ties: &mut [Tie]) -> Option<()> {
    let w = &slot.compliances;
    for lane in 0..LANES {
        let next = Bridge {
            own: [BEFORE, AFTER].map(|port| full(&gather(&w.own[port], lane))),
            mutual: gather(&w.mutual, lane),
            places: [BEFORE, AFTER].map(|port| gather(&slot.place[port], lane)),
        };
        match whole {
            Some(whole) => ties[LANES * block + lane] = whole.extend(&next)?,
            None => *whole = Some(next),
        }
    }
    Some(())
}

/// Finds the forces of the joints inside a stretch from those at its ends.
fn substitute(dual: &Dual, stretch: &Range<usize>, ties: &[Tie], forces: &mut [f64]) {
    let bodies = stretch.start * LANES..stretch.end * LANES;
    let row = dual.row_before(bodies.start);
    let rows = &mut forces[row..row + 3 * bodies.len() + 3];
    let (rows, _) = rows.as_chunks_mut::<3>();
    let first = rows[0];
    let mut last = scale(&rows[bodies.len()], -1.0);
    for k in (1..bodies.len()).rev() {
        rows[k] = ties[bodies.start + k].force(&first, &last);
        last = scale(&rows[k], -1.0);
    }
}

/// Puts the joint forces at the points of a block.
fn put_forces(pass: &Pass, dual: &Dual, block: usize, forces: &[f64], slot: &mut Slot) {
    let row = dual.row_before(block * LANES);
    let (forces, _) = forces[row..].as_chunks::<3>();
    if let Some(forces) = forces.first_chunk() {
        put_run(pass.level, forces, &mut slot.force);
    }
}

/// How far joints are open between the links of a block and the one before, which ended at `end`, m.
fn gaps(slot: &Slot, end: &mut Option<V3>) -> f64 {
    let mut open = 0.0f64;
    for lane in 0..LANES {
        let start: V3 = gather(&slot.place[BEFORE], lane);
        if let Some(end) = end {
            open = sub(end, &start).iter().fold(open, |m, x| m.max(x.abs()));
        }
        *end = Some(gather(&slot.place[AFTER], lane));
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

#[cfg(test)]
mod tests {
    use crate::prelude::*;
    use crate::step::{Workspace, step};

    /// A level chain over a ball that holds it in the middle.
    fn chain_over_a_ball(links: usize) -> Model {
        let mut builder = ModelBuilder::new();
        let length = 0.04;
        let shape = Shape::Capsule {
            radius: 0.25 * length,
            half_length: 0.25 * length,
        };
        let lying = DQuat::from_rotation_y(std::f64::consts::FRAC_PI_2);
        let mut last = None;
        for k in 0..links {
            let x = (k as f64 - 0.5 * links as f64) * length;
            let name = format!("link-{k}");
            let at = DVec3::X * (x + 0.5 * length);
            let def = BodyDef::new(&name, shape.clone(), 7800.0)
                .at(at)
                .turned(lying);
            let link = builder.body(def);
            let collider = ColliderDef::new(&name, link, shape.clone());
            builder.collider(collider.groups(1, !1));
            if let Some(last) = last {
                let joint = JointDef::ball(format!("joint-{k}"), last, link, DVec3::X * x);
                builder.joint(joint);
            }
            last = Some(link);
        }
        let ball = ColliderDef::new(
            "ball",
            World,
            ColliderShape::Solid(Shape::Sphere { radius: 1.0 }),
        );
        builder.collider(ball.at(DVec3::NEG_Z * 1.012).groups(2, !2));
        builder.build().unwrap()
    }

    #[test]
    fn links_that_nothing_touches_may_be_left_out() {
        let model = chain_over_a_ball(1200);
        let control = Control::new(&model);
        let (mut some, mut all) = (model.initial_state(), model.initial_state());
        let mut work = Workspace::new(&model, Settings::default());
        let mut plain = Workspace::new(&model, Settings::default());
        plain.runs = None;
        let (mut left_out, mut touching) = (0, 0);
        for _ in 0..30 {
            let report = step(&model, &mut some, &control, &mut work, 0.005).unwrap();
            step(&model, &mut all, &control, &mut plain, 0.005).unwrap();
            left_out += work.runs.as_ref().map_or(0, |runs| runs.blocks().count());
            touching += report.contacts;
            assert!(report.residual < 1e-9 && report.contact_residual < 1e-6);
            assert!(!plain.dual.is_short());
        }
        assert!(touching > 100 && left_out > 1000);
        let apart = |body| some.center(body).distance(all.center(body));
        let farthest = model.body_ids().map(apart).fold(0.0, f64::max);
        // Links near contacts are linearised twice in all steps, the others only where they are seen.
        assert!(farthest < 1e-5, "{farthest}");
    }

    #[test]
    fn a_chain_that_is_shaken_is_seen_as_a_whole() {
        let model = chain_over_a_ball(1200);
        let (mut state, mut control) = (model.initial_state(), Control::new(&model));
        let mut work = Workspace::new(&model, Settings::default());
        let mut numbers = crate::math::numbers::Numbers(4);
        let (mut most, mut least) = (0, usize::MAX);
        for k in 0..12 {
            if k == 8 {
                for body in model.body_ids() {
                    control.add_torque(body, 0.5 * numbers.vector());
                }
            }
            let report = step(&model, &mut state, &control, &mut work, 0.005).unwrap();
            assert!(report.residual < 1e-6, "{:e}", report.residual);
            if report.contacts > 0 {
                let left_out = work.runs.as_ref().map_or(0, |runs| runs.blocks().count());
                (most, least) = (most.max(left_out), least.min(left_out));
            }
        }
        assert!(most > 100 && least == 0, "{most} {least}");
    }
}
