//! Chains of ball joints between bodies that follow each other, and the numbers of their dual
//! systems.
//!
//! A joint ties the second point of a lower body to the first point of the next one. The first and
//! the last joint of a chain may tie a point of the world instead of the lower or the upper body.
//! Here a joint opens from the upper body to the lower one, however it was written down.

use std::ops::Range;

use super::kinds::Kinds;
use super::record::Slot;
use crate::dual::larger;
use crate::dual::ports::{NO_POINTS, PORTS, Points};
use crate::joint::JointKind;
use crate::kernel;
use crate::math::dispatch::Level;
use crate::math::lanes::{LANES, Lane, gather, place, scatter, worst};
use crate::math::small::*;
use crate::model::Model;

/// No joint.
const NONE: u32 = u32::MAX;
/// Most bodies.
const MOST: usize = 1 << 30;
/// The port of a body that its joint with the body before, or the one after, holds.
const BEFORE: usize = 0;
const AFTER: usize = 1;

/// Joints that follow each other.
#[derive(Clone, Debug)]
pub(super) struct Chain {
    pub joints: Range<usize>,
    /// The upper body of the first joint, whether or not there is one.
    pub upper: usize,
    /// Points of the world, m: instead of the first lower and the last upper body.
    worlds: [Option<V3>; 2],
}

impl Chain {
    /// The lower body of its joint number `k`.
    #[inline(always)]
    fn lower(&self, k: usize) -> Option<usize> {
        (k > 0 || self.worlds[0].is_none()).then(|| self.upper + k - 1)
    }

    /// The upper body of its joint number `k`.
    #[inline(always)]
    fn upper(&self, k: usize) -> Option<usize> {
        (k + 1 < self.joints.len() || self.worlds[1].is_none()).then(|| self.upper + k)
    }

    /// The blocks of the bodies of some of its joints.
    #[inline(always)]
    pub fn blocks_of(&self, joints: &Range<usize>) -> Range<usize> {
        let last = joints.end - 1;
        let first = self.lower(joints.start).unwrap_or(self.upper);
        let end = self.upper(last).unwrap_or((self.upper + last).max(1) - 1);
        first / LANES..end / LANES + 1
    }

    /// How far its joint number `k` is open, m. Points of the world are where they are times
    /// `world`.
    #[inline(always)]
    pub fn gap<'a>(&self, k: usize, world: f64, slot: impl Fn(usize) -> &'a Slot) -> V3 {
        let at = |body: Option<usize>, port: usize, point: &Option<V3>| match body {
            Some(body) => {
                let (block, lane) = place(body);
                gather(&slot(block).place[port], lane)
            }
            None => scale(&point.unwrap_or_default(), world),
        };
        let lower = at(self.lower(k), AFTER, &self.worlds[0]);
        sub(&lower, &at(self.upper(k), BEFORE, &self.worlds[1]))
    }

    /// h times the rate at which its joint number `k` opens, m.
    #[inline(always)]
    fn drift<'a>(&self, k: usize, h: f64, slot: impl Fn(usize) -> &'a Slot) -> V3 {
        let mut drift = [0.0; 3];
        let ends = [(self.lower(k), AFTER, h), (self.upper(k), BEFORE, -h)];
        for (body, port, h) in ends {
            if let Some((block, lane)) = body.map(place) {
                drift = axpy(&drift, h, &gather(&slot(block).rates[port], lane));
            }
        }
        drift
    }

    /// Diagonal block of its joint number `k` in the dual system, m/N; the lower triangle.
    #[inline(always)]
    pub fn diagonal<'a>(&self, k: usize, slot: impl Fn(usize) -> &'a Slot) -> [[f64; 3]; 3] {
        let mut sum = [0.0; 6];
        for (body, port) in [(self.lower(k), AFTER), (self.upper(k), BEFORE)] {
            if let Some((block, lane)) = body.map(place) {
                let own: S3 = gather(&slot(block).compliances.own[port], lane);
                for k in 0..6 {
                    sum[k] += own[k];
                }
            }
        }
        let [xx, yy, zz, xy, xz, yz] = sum;
        [[xx, 0.0, 0.0], [xy, yy, 0.0], [xz, yz, zz]]
    }

    /// The block between its joint number `k` and the next one, m/N.
    #[inline(always)]
    pub fn coupling<'a>(&self, k: usize, slot: impl Fn(usize) -> &'a Slot) -> [[f64; 3]; 3] {
        if k + 1 == self.joints.len() {
            return [[0.0; 3]; 3];
        }
        let (block, lane) = place(self.upper + k);
        // The joint before pushes its upper body back.
        let m: M3 = gather(&slot(block).compliances.mutual, lane);
        [
            [-m[0], -m[1], -m[2]],
            [-m[3], -m[4], -m[5]],
            [-m[6], -m[7], -m[8]],
        ]
    }
}

/// The joints at the ports of eight bodies.
#[derive(Clone, Debug)]
struct AtPorts {
    joint: [[u32; LANES]; PORTS],
    /// The first of nine joints at the ports in a row, if they are.
    run: u32,
    /// Whether eight joints in a row tie these bodies and the one before to each other, and no
    /// other joint is this block's.
    joined: bool,
}

/// Chains of ball joints.
pub(super) struct Links {
    pub chains: Vec<Chain>,
    /// Joints that were written down from the upper body to the lower one.
    flipped: Vec<u32>,
    at_ports: Vec<AtPorts>,
    /// The first joint of which this block is the higher one, and its chain; and the end.
    joints: Vec<[u32; 2]>,
}

impl Links {
    /// The links of a model in which every joint is a plain ball joint between bodies that follow
    /// each other, every block of bodies is held, and joints are numbered like the bodies; and the
    /// constants of its blocks.
    pub fn find(model: &Model) -> Option<(Links, Kinds)> {
        let rows = 3 * model.joints.len();
        let plain = model.dual_rows() == rows && model.rows() == rows;
        if model.joints.is_empty() || !plain || model.bodies.len() >= MOST {
            return None;
        }
        let mut found = Finding {
            chains: Vec::new(),
            flipped: Vec::new(),
            at_ports: vec![[[NONE; LANES]; PORTS]; model.params.len()],
            points: vec![NO_POINTS; model.params.len()],
        };
        for index in 0..model.joints.len() {
            found.add(model, index)?;
        }
        let held = |ports: &[[u32; LANES]; PORTS]| ports.as_flattened().iter().any(|j| *j != NONE);
        if !found.at_ports.iter().all(held) {
            return None;
        }
        let mut links = Links {
            chains: found.chains,
            flipped: found.flipped,
            at_ports: found.at_ports.into_iter().map(AtPorts::new).collect(),
            joints: Vec::new(),
        };
        links.find_joints(model.params.len())?;
        if !links.chains.iter().all(|chain| links.is_whole(chain)) {
            return None;
        }
        for block in 1..links.at_ports.len() {
            let before = links.at_ports[block - 1].joint[AFTER][LANES - 1];
            let eight = links.joints_of(block).len() == LANES;
            let at = &mut links.at_ports[block];
            at.joined = eight && at.run != NONE && at.run == before;
        }
        Some((links, Kinds::find(model, &found.points)))
    }

    /// Whether no other chain holds the bodies of this one.
    fn is_whole(&self, chain: &Chain) -> bool {
        let is_free = |body: usize, port: usize| {
            let (block, lane) = place(body);
            self.at_ports[block].joint[port][lane] == NONE
        };
        let last = chain.joints.len() - 1;
        chain.lower(0).is_none_or(|body| is_free(body, BEFORE))
            && chain.upper(last).is_none_or(|body| is_free(body, AFTER))
    }

    /// Finds which joints belong to which block; nothing if they are not in order.
    fn find_joints(&mut self, blocks: usize) -> Option<()> {
        for (number, chain) in self.chains.iter().enumerate() {
            for joint in chain.joints.clone() {
                let k = joint - chain.joints.start;
                let highest = chain.blocks_of(&(k..k + 1)).end - 1;
                if highest + 1 < self.joints.len() {
                    return None;
                }
                let first = [joint as u32, number as u32];
                self.joints.resize(highest + 1, first);
            }
        }
        let last = self.chains.last()?;
        let end = [last.joints.end as u32, self.chains.len() as u32];
        self.joints.resize(blocks + 1, end);
        Some(())
    }

    /// The joints whose bodies are all known as soon as this block is, in the order of blocks.
    #[inline(always)]
    pub fn joints_of(&self, block: usize) -> Range<usize> {
        self.joints[block][0] as usize..self.joints[block + 1][0] as usize
    }

    /// Puts the joint forces at the points of a block.
    #[inline(always)]
    pub fn put_forces(
        &self,
        level: Level,
        block: usize,
        forces: &[[f64; 3]],
        at_points: &mut Points,
    ) {
        let at = &self.at_ports[block];
        let run = at.run as usize;
        if let Some(forces) = forces.get(run..).and_then(|f| f.first_chunk()) {
            return put_run(level, forces, at_points);
        }
        for (port, sign) in [(BEFORE, -1.0), (AFTER, 1.0)] {
            for lane in 0..LANES {
                let joint = at.joint[port][lane] as usize;
                let force = forces.get(joint).copied().unwrap_or([0.0; 3]);
                scatter(&mut at_points[port], lane, &scale(&force, sign));
            }
        }
    }

    /// The joints of a block: their chains, and their numbers there.
    #[inline(always)]
    fn chained(&self, block: usize) -> impl Iterator<Item = (&Chain, usize)> {
        let mut number = self.joints[block][1] as usize;
        self.joints_of(block).map(move |joint| {
            while self.chains[number].joints.end <= joint {
                number += 1;
            }
            let chain = &self.chains[number];
            (chain, joint - chain.joints.start)
        })
    }

    /// How far the joints of a block are open, m, given its slot and the one before.
    #[inline(always)]
    pub fn open(&self, level: Level, block: usize, [before, here]: [&Slot; 2]) -> f64 {
        if self.at_ports[block].joined {
            return run_open(level, before, here);
        }
        let slot = |wanted: usize| if wanted == block { here } else { before };
        let mut open = 0.0;
        for (chain, k) in self.chained(block) {
            for gap in chain.gap(k, 1.0, slot) {
                open = larger(gap.abs(), open);
            }
        }
        open
    }

    /// How they drift apart in a step of h, m.
    #[inline(always)]
    pub fn find_drifts(
        &self,
        level: Level,
        block: usize,
        h: f64,
        [before, here]: [&Slot; 2],
        drifts: &mut [[f64; 3]],
    ) {
        if self.at_ports[block].joined
            && let Some(run) = drifts.first_chunk_mut()
        {
            return find_run(level, h, before, here, run);
        }
        let slot = |wanted: usize| if wanted == block { here } else { before };
        for ((chain, k), drift) in self.chained(block).zip(drifts) {
            *drift = chain.drift(k, h, slot);
        }
    }

    /// Gives forces the directions in which the joints were written down.
    pub fn turn_back(&self, forces: &mut [[f64; 3]]) {
        for joint in &self.flipped {
            let force = &mut forces[*joint as usize];
            *force = force.map(|f| -f);
        }
    }
}

kernel! {
    /// Puts the forces of nine joints in a row at the points of the bodies between them.
    pub(super) fn put_run(forces: &[[f64; 3]; LANES + 1], at_points: &mut Points) = put_run_lanes
}

#[inline(always)]
fn put_run_lanes(forces: &[[f64; 3]; LANES + 1], at_points: &mut Points) {
    for lane in 0..LANES {
        for k in 0..3 {
            at_points[BEFORE][k][lane] = -forces[lane][k];
            at_points[AFTER][k][lane] = forces[lane + 1][k];
        }
    }
}

kernel! {
    /// How far eight joints in a row are open, m.
    fn run_open(before: &Slot, here: &Slot) -> f64 = run_open_lanes
}

#[inline(always)]
fn run_open_lanes(before: &Slot, here: &Slot) -> f64 {
    let mut open = [0.0; LANES];
    for k in 0..3 {
        let place = shifted(&before.place[AFTER][k], &here.place[AFTER][k]);
        for lane in 0..LANES {
            let gap = (place[lane] - here.place[BEFORE][k][lane]).abs();
            open[lane] = larger(gap, open[lane]);
        }
    }
    worst(&open)
}

kernel! {
    /// How they drift apart in a step of h, m.
    fn find_run(h: f64, before: &Slot, here: &Slot, drifts: &mut [[f64; 3]; LANES]) = find_run_lanes
}

#[inline(always)]
fn find_run_lanes(h: f64, before: &Slot, here: &Slot, drifts: &mut [[f64; 3]; LANES]) {
    let mut opening = [[0.0; LANES]; 3];
    for k in 0..3 {
        let rate = shifted(&before.rates[AFTER][k], &here.rates[AFTER][k]);
        for lane in 0..LANES {
            opening[k][lane] = h * rate[lane] - h * here.rates[BEFORE][k][lane];
        }
    }
    for lane in 0..LANES {
        for k in 0..3 {
            drifts[lane][k] = opening[k][lane];
        }
    }
}

/// The numbers of the bodies before those of a block.
#[inline(always)]
fn shifted(before: &Lane, here: &Lane) -> Lane {
    let mut lanes = [before[LANES - 1]; LANES];
    lanes[1..].copy_from_slice(&here[..LANES - 1]);
    lanes
}

/// Links while they are looked for.
struct Finding {
    chains: Vec<Chain>,
    flipped: Vec<u32>,
    at_ports: Vec<[[u32; LANES]; PORTS]>,
    points: Vec<Points>,
}

impl Finding {
    /// Adds a joint; nothing if it does not fit the chains.
    fn add(&mut self, model: &Model, index: usize) -> Option<()> {
        let joint = &model.joints[index];
        if joint.kind != JointKind::Ball {
            return None;
        }
        let (a, b) = (&joint.a, &joint.b);
        // The upper body of the joint before, where a chain may go on.
        let tip = self.chains.last().and_then(|c| c.upper(c.joints.len() - 1));
        let (lower, upper, flipped) = match (a.endpoint.index(), b.endpoint.index()) {
            (Some(one), Some(two)) if one + 1 == two => (a, b, false),
            (Some(one), Some(two)) if two + 1 == one => (b, a, true),
            (None, Some(body)) if tip == Some(body) => (b, a, true),
            (None, Some(_)) => (a, b, false),
            (Some(body), None) if tip == Some(body) => (a, b, false),
            (Some(_), None) => (b, a, true),
            _ => return None,
        };
        for (side, port) in [(lower, AFTER), (upper, BEFORE)] {
            if let Some((block, lane)) = side.endpoint.index().map(place) {
                let at = &mut self.at_ports[block][port][lane];
                if std::mem::replace(at, index as u32) != NONE {
                    return None;
                }
                scatter(&mut self.points[block][port], lane, &side.point);
            }
        }
        if flipped {
            self.flipped.push(index as u32);
        }
        let world = |side: Option<usize>, point: V3| side.is_none().then_some(point);
        let [low, high] = [lower, upper].map(|side| side.endpoint.index());
        match self.chains.last_mut() {
            Some(chain) if low.is_some() && low == tip => {
                chain.joints.end += 1;
                chain.worlds[1] = world(high, upper.point);
            }
            _ => self.chains.push(Chain {
                joints: index..index + 1,
                upper: high?,
                worlds: [world(low, lower.point), world(high, upper.point)],
            }),
        }
        Some(())
    }
}

impl AtPorts {
    fn new(joint: [[u32; LANES]; PORTS]) -> AtPorts {
        let run = joint[BEFORE][0];
        let in_a_row = |lane: usize| {
            let wanted = run.wrapping_add(lane as u32);
            joint[BEFORE][lane] == wanted && joint[AFTER][lane] == wanted.wrapping_add(1)
        };
        let whole = run != NONE && (0..LANES).all(in_a_row);
        AtPorts {
            joint,
            run: if whole { run } else { NONE },
            joined: false,
        }
    }
}
