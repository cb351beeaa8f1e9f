//! Stretches of a long chain that no contact touches, streamed: a step with contacts sees only their
//! ends (`dual/strand.rs`), and their links are passed over three times.
//!
//! 1. Forwards: predict, solve freely, and eliminate the joints.
//! 2. Backwards, with the forces at the ends known: substitute, move the links, turn and kick their
//!    velocities, and eliminate the joints once more, at the new pose.
//! 3. Forwards, with the forces of the second stage at the ends: substitute, project and finish.
//!
//! A step without a second stage ends with the second pass.
//!
//! The kernels are those of an ordinary step of a chain. Blocks of which one linear solve turns out not
//! to be enough are seen by the step, and it is made again. Stretches are cut into pairs as long as each
//! other, whose links wait for each other half as much side by side, and threads share them.

mod lot;

use std::ops::Range;
use std::sync::atomic::AtomicUsize;

use vincula_blocks::Tie;

use super::REMEMBERED;
use super::kinds::Kinds;
use super::passes::Pass;
use crate::contact::memory::Memory;
use crate::dual::Dual;
use crate::integrate::{Integrator, euler, tempered};
use crate::math::lanes::{LANES, Lane};
use crate::model::{Model, State};
use crate::settings::Settings;
use crate::workspace::Workspace;
use lot::{Lot, Stretch};

/// Blocks of links that are worth to be left out together.
const LEAST: usize = 4;
/// Blocks of a stretch at most.
const MOST: usize = 4096;
/// Steps that see links from the start once these were restless.
const SEEN: u32 = 8;
/// Attempts at a step at most that leave links out.
const ATTEMPTS: usize = 4;

/// The memory of the passes over such links, sized once.
pub(crate) struct Runs {
    kinds: Kinds,
    /// Blocks of links that have a joint at either end.
    whole: Range<usize>,
    /// What is left out.
    stretches: Vec<Stretch>,
    /// Blocks of which one linear solve was not enough in this step.
    restless: Vec<bool>,
    /// The joint before or after every link, once it is eliminated.
    ties: Vec<[Tie; LANES]>,
    /// Rotational stiffness of blocks, N m.
    geometric: Vec<[Lane; 3]>,
    /// Whether unknowns are kept from one pass to the next.
    keeps: bool,
    /// Whether the velocity is one that joints allow.
    projects: bool,
}

impl Runs {
    /// Room for the long chain of a model, if it has one and may touch something.
    pub(crate) fn new(model: &Model, dual: &Dual, settings: &Settings) -> Option<Runs> {
        let links = dual.strand_links()?;
        let projects = match settings.integrator {
            Integrator::Tempered => true,
            Integrator::LinearEuler => false,
            _ => return None,
        };
        if model.ground.is_some() || model.collision.colliders.is_empty() {
            return None;
        }
        let blocks = model.params.len();
        let points: Vec<_> = (0..blocks).map(|block| *dual.points_of(block)).collect();
        Some(Runs {
            kinds: Kinds::find(model, &points),
            whole: links.start.div_ceil(LANES)..links.end / LANES,
            stretches: Vec::new(),
            restless: vec![false; blocks],
            ties: vec![[Tie::default(); LANES]; blocks],
            geometric: vec![[[0.0; LANES]; 3]; blocks],
            keeps: model.bodies.len() <= REMEMBERED,
            projects,
        })
    }

    /// A new step, after one that left this.
    pub(crate) fn reset(&mut self, memory: &Memory) {
        self.restless.fill(false);
        for (block, _) in &memory.restless {
            self.restless[*block as usize] = true;
        }
    }

    /// Tells the next step which links are likely to be restless again.
    pub(crate) fn remember(&mut self, memory: &mut Memory) {
        let known = memory.restless.len();
        for (block, steps) in &mut memory.restless {
            *steps -= 1;
            self.restless[*block as usize] = false;
        }
        let found = (0..).zip(&self.restless).filter(|(_, is)| **is);
        memory
            .restless
            .extend(found.map(|(block, _)| (block, SEEN)));
        // The step may have to be made again.
        for (block, _) in &memory.restless[..known] {
            self.restless[*block as usize] = true;
        }
        memory.restless.retain(|(_, steps)| *steps > 0);
    }

    /// Blocks that are left out.
    pub(crate) fn blocks(&self) -> impl Iterator<Item = usize> + '_ {
        self.stretches.iter().flat_map(|s| s.blocks.clone())
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
            if block == self.whole.end || near.into_iter().any(busy) {
                if block >= first + LEAST {
                    self.stretches.extend(pieces(first..block));
                    quiet[first..block].fill(true);
                }
                first = block + 1;
            }
        }
    }

    /// Makes a pass over all that is left out. Threads share the work.
    fn pass(
        &mut self,
        state: &State,
        work: &mut Workspace,
        h: f64,
        job: impl Fn(&Pass, &mut Lot, &mut [Stretch]) + Sync,
    ) {
        let Some(first) = self.stretches.first().map(|s| s.blocks.start) else {
            return;
        };
        let threads = work.block_threads(self.blocks().count());
        for stretch in &mut self.stretches {
            stretch.hold(&work.dual, &work.total);
        }
        let pass = Pass {
            level: work.level,
            scheme: match self.projects {
                true => tempered::scheme(h, work.settings.tempering()),
                false => euler::scheme(h, true),
            },
            state,
            kicks: &work.kicks,
            kinds: &self.kinds,
            rule: work.settings.iteration().of_running(),
            spared: AtomicUsize::new(0),
            projects: self.projects,
        };
        let (forces, _) = work.total[work.dual.row_before(first * LANES)..].as_chunks_mut();
        let lot = Lot {
            first,
            keeps: self.keeps,
            newton: &mut work.newton[first..],
            next: &mut work.next[first..],
            memory: &mut work.memory[first..],
            geometric: &mut self.geometric[first..],
            restless: &mut self.restless[first..],
            ties: &mut self.ties[first..],
            forces,
        };
        lot.each(threads, &mut self.stretches, &|lot, stretches| {
            job(&pass, lot, stretches)
        });
    }

    /// Tells the rest of the chain how the ends give way and where they are, in units of `unit`.
    fn tell(&self, dual: &mut Dual, unit: f64) {
        dual.set_spans(self.stretches.iter().map(|s| s.bridge), unit);
    }

    /// Whether nothing was out of the ordinary.
    fn is_sound(&self) -> bool {
        self.stretches.iter().all(|stretch| stretch.sound)
    }
}

/// Cuts blocks into stretches, in pairs as long as each other.
fn pieces(blocks: Range<usize>) -> impl Iterator<Item = Stretch> {
    let (start, length) = (blocks.start, blocks.len());
    let count = 2 * length.div_ceil(2 * MOST);
    let cut = move |k: usize| start + length * k / count;
    (0..count).map(move |k| Stretch::of(cut(k)..cut(k + 1)))
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
    let bodies = |s: &Stretch| s.blocks.start * LANES..s.blocks.end * LANES;
    work.dual.leave_out(runs.stretches.iter().map(bodies));
}

/// First pass: how the ends give way, and where they are without joint forces. False if some links are
/// out of the ordinary.
pub(crate) fn begin(state: &State, work: &mut Workspace, h: f64) -> bool {
    let Some(mut runs) = work.runs.take() else {
        return true;
    };
    runs.pass(state, work, h, |pass, lot, s| lot.begin(pass, s));
    runs.tell(&mut work.dual, 1.0);
    let sound = runs.is_sound();
    work.runs = Some(runs);
    sound
}

/// Second pass: the links move under the joint forces of the first stage, which are written down; where
/// there is no second one, that is the end of the step. Returns how far joints are open, m, unless one
/// linear solve is not enough for some links.
pub(crate) fn answer_first(state: &State, work: &mut Workspace, h: f64) -> Option<f64> {
    let Some(mut runs) = work.runs.take() else {
        return Some(0.0);
    };
    runs.pass(state, work, h, |pass, lot, s| lot.answer(pass, s));
    if runs.projects {
        runs.tell(&mut work.dual, 1.0 / h);
    }
    let sound = runs.is_sound();
    let open = runs.stretches.iter().fold(0.0, |m, s| s.open.max(m));
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
    runs.pass(state, work, h, |pass, lot, s| lot.finish(pass, s, kept));
    let sound = runs.is_sound();
    work.runs = Some(runs);
    sound
}

#[cfg(test)]
mod tests {
    use super::SEEN;
    use crate::math::lanes::Lane;
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
        // Links near contacts are linearised twice in all steps, the others only where they are seen.
        assert!(farthest_apart(Integrator::Tempered) < 1e-5);
        // All are linearised once.
        assert!(farthest_apart(Integrator::LinearEuler) < 1e-9);
    }

    /// How far links end from where they would without any left out, m.
    fn farthest_apart(integrator: Integrator) -> f64 {
        let model = chain_over_a_ball(1200);
        let control = Control::new(&model);
        let (mut some, mut all) = (model.initial_state(), model.initial_state());
        let settings = Settings::with_integrator(integrator);
        let mut work = Workspace::new(&model, settings);
        let mut plain = Workspace::new(&model, settings);
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
        model.body_ids().map(apart).fold(0.0, f64::max)
    }

    #[test]
    fn threads_share_what_is_left_out_and_change_no_bit() {
        let model = chain_over_a_ball(9001);
        for integrator in [Integrator::Tempered, Integrator::LinearEuler] {
            let ends = [1, 2, 3].map(|threads| ends_with(&model, integrator, threads));
            assert!(ends[0] == ends[1] && ends[1] == ends[2]);
        }
    }

    /// Where a chain ends after some steps on so many threads.
    fn ends_with(
        model: &Model,
        integrator: Integrator,
        threads: usize,
    ) -> Vec<([Lane; 3], [Lane; 9])> {
        let settings = Settings {
            threads,
            ..Settings::with_integrator(integrator)
        };
        let control = Control::new(model);
        let (mut state, mut work) = (model.initial_state(), Workspace::new(model, settings));
        let mut shared = 0;
        for _ in 0..8 {
            step(model, &mut state, &control, &mut work, 0.005).unwrap();
            let stretches = work.runs.as_ref().map_or(0, |runs| runs.stretches.len());
            shared += usize::from(stretches > 1);
        }
        assert!(shared > 2, "{shared}");
        state.blocks.iter().map(|b| (b.t, b.a)).collect()
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

    #[test]
    fn restless_links_are_part_of_the_state() {
        let model = chain_over_a_ball(1200);
        let (mut state, mut control) = (model.initial_state(), Control::new(&model));
        let mut work = Workspace::new(&model, Settings::default());
        let shaken: Vec<_> = model.body_ids().skip(160).take(8).collect();
        let mut numbers = crate::math::numbers::Numbers(7);
        let mut remembered = 0;
        for k in 0..20 {
            control.clear();
            if (8..11).contains(&k) {
                for body in &shaken {
                    control.add_torque(*body, 0.5 * numbers.vector());
                }
            }
            let mut copy = state.clone();
            let mut fresh = Workspace::new(&model, Settings::default());
            step(&model, &mut state, &control, &mut work, 0.005).unwrap();
            step(&model, &mut copy, &control, &mut fresh, 0.005).unwrap();
            assert!(state == copy, "step {k}");
            if k > 11 && k < 11 + SEEN as usize {
                remembered += state.contacts.restless.len();
            }
        }
        assert!(remembered > 0);
    }
}
