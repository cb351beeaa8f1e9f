//! Bodies as contacts see them: six ways to move, and how far a force moves them.
//!
//! A contact does not strain a body. Its force f at the arm r from the centre acts as f on the
//! centre and as the torque `r × f` on the rotation, the skew load `½[τ]` on A. Within a stage
//! a body without joints answers `δ = f/(c m)` and `θ = Θ τ`, where Θ comes from the same H̄
//! that joints see, `Θ_k = ¼ (p_ij + p_ji − 2 q_ij)` for the axis k of the pair ij. Bodies of
//! one mechanism answer together: a wrench on one moves all, by 6×6 blocks.

mod cluster;
mod levers;

use super::rows::Spin;
use crate::body::affine::Inverse;
use crate::dual::Dual;
use crate::integrate::newton::NewtonBlock;
use crate::math::lanes::{gather, place, scatter};
use crate::math::small::*;
use cluster::{Block, Cluster, alone_block, respond_cluster, times_block};
use levers::Levers;

/// No body: the contact's side does not move, or moves as the user says.
pub(crate) const FIXED: u32 = u32::MAX;
/// No cluster: the body answers alone.
pub(crate) const ALONE: u32 = u32::MAX;

/// Bodies in contact of one mechanism at most that answer together.
const MOST_TOGETHER: usize = 48;
/// The same times the rows of the mechanism: what finding the answers may cost.
const MOST_WORK: usize = 10_000;

/// One body in one stage of a step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mover {
    /// Displacement of the centre since the rows were made, m.
    pub shift: V3,
    /// Rotation since then, world, rad.
    pub turn: V3,
    /// Displacement per force, m/N.
    pub per_force: f64,
    /// Rotation per torque, world, rad/(N m).
    pub per_torque: M3,
    /// The body.
    pub body: u32,
    /// The bodies that answer with it, or ALONE.
    pub cluster: u32,
    /// Whether no joint holds it and its block.
    pub loose: bool,
    /// Force and torque that the body has not been told of yet, N and N m.
    pub untold: [V3; 2],
    /// Shift and turn without these.
    pub base: [V3; 2],
}

impl Mover {
    pub fn new(body: usize, loose: bool, per_force: f64, per_torque: M3) -> Mover {
        Mover {
            shift: [0.0; 3],
            turn: [0.0; 3],
            per_force,
            per_torque,
            body: body as u32,
            cluster: ALONE,
            loose,
            untold: [[0.0; 3]; 2],
            base: [[0.0; 3]; 2],
        }
    }

    /// A body that is part of the dual system.
    pub fn held(body: usize, work: &[NewtonBlock]) -> Mover {
        let (block, lane) = place(body);
        let inverse = work[block].inverse_of(lane);
        let rot: M3 = gather(&work[block].rot, lane);
        let turned = mul_diag(&rot, &rotational(&inverse));
        Mover::new(body, false, inverse.translation, mult(&turned, &rot))
    }
}

/// Movers that answer to each other: those of one mechanism, which are consecutive, or one alone.
#[derive(Clone, Copy, Debug)]
struct Unit {
    first: u32,
    count: u32,
    /// Its island of joints and the rows of it, if joints hold it.
    island: Option<(u32, u32)>,
}

/// All bodies that take part.
#[derive(Debug, Default)]
pub(crate) struct Movers {
    pub all: Vec<Mover>,
    /// Friction of rotation of the rows that have some.
    pub spins: Vec<Spin>,
    clusters: Vec<Cluster>,
    blocks: Vec<Block>,
    units: Vec<Unit>,
    /// The unit of each mover.
    unit_of: Vec<u32>,
    /// What each mover answers to itself, where some mechanism is too large for a cluster.
    own: Vec<Block>,
    levers: Levers,
    rhs: Vec<f64>,
    six: Vec<[f64; 6]>,
}

impl Movers {
    /// Finds the bodies that answer together. Movers of one mechanism must be consecutive.
    pub fn gather_clusters(&mut self, dual: &Dual) {
        self.clusters.clear();
        self.blocks.clear();
        self.units.clear();
        self.unit_of.clear();
        self.own.clear();
        if dual.is_empty() {
            return;
        }
        let mut first = 0;
        while first < self.all.len() {
            let of = |m: &Mover| match m.loose {
                true => None,
                false => dual.island_of(m.body as usize),
            };
            let Some((island, rows)) = of(&self.all[first]) else {
                self.add_unit(first, 1, None);
                first += 1;
                continue;
            };
            let same = |m: &&Mover| of(m).is_some_and(|(i, _)| i == island);
            let count = self.all[first..].iter().take_while(same).count();
            let kept = dual.rows_in(island) as u32;
            self.add_unit(first, count, Some((island as u32, kept)));
            if count <= MOST_TOGETHER && count * rows <= MOST_WORK {
                self.clusters.push(Cluster {
                    first: first as u32,
                    count: count as u32,
                    offset: self.blocks.len() as u32,
                    island: island as u32,
                    rows: kept,
                });
                self.blocks
                    .resize(self.blocks.len() + count * count, [0.0; 36]);
            }
            first += count;
        }
        self.mark_clusters();
    }

    fn add_unit(&mut self, first: usize, count: usize, island: Option<(u32, u32)>) {
        let index = self.units.len() as u32;
        self.unit_of.extend(std::iter::repeat_n(index, count));
        self.units.push(Unit {
            first: first as u32,
            count: count as u32,
            island,
        });
    }

    /// Number of units.
    pub fn units(&self) -> usize {
        self.units.len()
    }

    /// The unit of a mover.
    pub fn unit_of(&self, mover: u32) -> u32 {
        self.unit_of[mover as usize]
    }

    /// The island of a unit whose bodies joints hold and that has no blocks.
    pub fn chain_of(&self, unit: u32) -> Option<usize> {
        let unit = &self.units[unit as usize];
        let alone = self.all[unit.first as usize].cluster == ALONE;
        unit.island
            .filter(|_| alone)
            .map(|(island, _)| island as usize)
    }

    /// The island of a unit whose bodies joints hold.
    pub fn island_of(&self, unit: u32) -> Option<usize> {
        let island = self.units[unit as usize].island;
        island.map(|(island, _)| island as usize)
    }

    /// The movers of a unit.
    pub fn unit(&self, unit: u32) -> std::ops::Range<usize> {
        let unit = &self.units[unit as usize];
        unit.first as usize..(unit.first + unit.count) as usize
    }

    /// The movers that answer together with one.
    pub fn together_with(&self, mover: u32) -> std::ops::Range<usize> {
        match self.all[mover as usize].cluster {
            ALONE => mover as usize..mover as usize + 1,
            _ => self.unit(self.unit_of(mover)),
        }
    }

    /// Tells every mover its cluster.
    pub fn mark_clusters(&mut self) {
        for (index, cluster) in self.clusters.iter().enumerate() {
            let range = cluster.first as usize..(cluster.first + cluster.count) as usize;
            for mover in &mut self.all[range] {
                mover.cluster = index as u32;
            }
        }
    }

    /// Finds how the bodies of each mechanism answer, by a solve of six columns a body; and how those
    /// of mechanisms that are too large hang on their joints.
    pub fn weigh_clusters(&mut self, dual: &mut Dual, work: &[NewtonBlock]) {
        self.levers.find(&self.all, dual, work);
        self.choose_rows(dual);
        for index in 0..self.clusters.len() {
            self.weigh_cluster(index, dual);
        }
    }

    /// Finds anew how mechanisms answer whose coordinates have changed what they do, and where the
    /// forces put their bodies that these have not been told of yet.
    pub fn weigh_altered(&mut self, dual: &mut Dual) {
        for index in 0..self.clusters.len() {
            let cluster = self.clusters[index];
            if !dual.is_altered(cluster.island as usize) {
                continue;
            }
            self.weigh_cluster(index, dual);
            let range = cluster.first as usize..(cluster.first + cluster.count) as usize;
            for mover in &mut self.all[range.clone()] {
                [mover.shift, mover.turn] = mover.base;
            }
            for source in range {
                let [force, torque] = std::mem::take(&mut self.all[source].untold);
                self.push_held(source as u32, &force, &torque);
            }
        }
    }

    /// Whether coordinates of its mechanism have changed what they do.
    pub fn is_altered(&self, mover: u32, dual: &Dual) -> bool {
        let cluster = self.clusters.get(self.all[mover as usize].cluster as usize);
        cluster.is_some_and(|cluster| dual.is_altered(cluster.island as usize))
    }

    fn weigh_cluster(&mut self, index: usize, dual: &mut Dual) {
        let cluster = &self.clusters[index];
        let (first, count) = (cluster.first as usize, cluster.count as usize);
        for source in 0..count {
            self.six.clear();
            self.six.resize(cluster.rows as usize, [0.0; 6]);
            for lever in self.levers.of(first + source) {
                self.six[lever.row as usize] = lever.by;
            }
            dual.answer_six(cluster.island as usize, &mut self.six);
            for target in 0..count {
                let at = cluster.offset as usize + target * count + source;
                self.blocks[at] = match target == source {
                    true => alone_block(&self.all[first + source]),
                    false => [0.0; 36],
                };
                let block = &mut self.blocks[at];
                self.levers.pull_six(first + target, &self.six, block);
            }
        }
    }

    /// Tells the joints of mechanisms without blocks which of their bodies take part.
    fn choose_rows(&self, dual: &mut Dual) {
        for unit in &self.units {
            let movers = &self.all[unit.first as usize..(unit.first + unit.count) as usize];
            if let (Some((island, _)), ALONE) = (unit.island, movers[0].cluster) {
                dual.choose(island as usize, movers.iter().map(|m| m.body as usize));
            }
        }
    }

    /// Whether forces act on bodies that joints hold that these have not been told of.
    pub fn have_news(&self) -> bool {
        let mut held = self.all.iter().filter(|mover| !mover.loose);
        held.any(|mover| mover.untold != [[0.0; 3]; 2])
    }

    /// Whether every body that joints hold answers with its mechanism, by blocks.
    pub fn answer_together(&self) -> bool {
        let mut held = self.units.iter().filter(|unit| unit.island.is_some());
        held.all(|unit| self.all[unit.first as usize].cluster != ALONE)
    }

    /// Whether joints hold any of the bodies.
    pub fn hold_mechanisms(&self) -> bool {
        self.units.iter().any(|unit| unit.island.is_some())
    }

    /// Forgets what `weigh_own` found.
    pub fn forget_own(&mut self) {
        self.own.clear();
    }

    /// Whether `weigh_own` was asked.
    pub fn knows_own(&self) -> bool {
        !self.own.is_empty()
    }

    /// What every held body answers to itself when only its own joints do, for those of large
    /// mechanisms.
    pub fn weigh_own(&mut self, dual: &Dual, work: &[NewtonBlock]) {
        self.own.clear();
        for mover in &self.all {
            let plain = alone_block(mover);
            let known = mover.loose || mover.cluster != ALONE;
            let block = match known {
                true => plain,
                false => dual.answer_of(work, mover.body as usize, &plain),
            };
            self.own.push(block);
        }
    }

    /// How the movers of a unit move under a wrench on each, the joints inside. `answer` overwrites the
    /// rows of an island, which are zero but at the joints of its movers, by the forces there.
    pub fn respond_unit(
        &mut self,
        unit: u32,
        answer: impl FnOnce(usize, &mut [f64]),
        wrench: &[[V3; 2]],
        motion: &mut [[V3; 2]],
    ) {
        let range = self.unit(unit);
        if wrench[range.clone()].iter().all(|w| *w == [[0.0; 3]; 2]) {
            motion[range].fill([[0.0; 3]; 2]);
            return;
        }
        if let Some(cluster) = self.clusters.get(self.all[range.start].cluster as usize) {
            respond_cluster(cluster, &self.blocks, wrench, motion);
            return;
        }
        for index in range.clone() {
            let (mover, [force, torque]) = (&self.all[index], &wrench[index]);
            motion[index] = [
                scale(force, mover.per_force),
                mul_vec(&mover.per_torque, torque),
            ];
        }
        let Some((island, rows)) = self.units[unit as usize].island else {
            return;
        };
        self.rhs.clear();
        self.rhs.resize(rows as usize, 0.0);
        for index in range.clone() {
            if wrench[index] != [[0.0; 3]; 2] {
                self.levers.push(index, &wrench[index], &mut self.rhs);
            }
        }
        answer(island as usize, &mut self.rhs);
        for index in range {
            self.levers.pull(index, &self.rhs, &mut motion[index]);
        }
    }

    /// Whether at most one other mover answers with this one, and no joints that are asked in another
    /// way.
    pub fn is_paired(&self, mover: u32) -> bool {
        let this = &self.all[mover as usize];
        let cluster = self.clusters.get(this.cluster as usize);
        cluster.map_or(this.loose, |cluster| cluster.count <= 2)
    }

    /// The mover that answers with one that is paired, if there is one.
    pub fn partner(&self, mover: u32) -> Option<u32> {
        let cluster = self.clusters.get(self.all[mover as usize].cluster as usize);
        let cluster = cluster.filter(|cluster| cluster.count == 2)?;
        Some(2 * cluster.first + 1 - mover)
    }

    /// Whether two sides of a contact are one mover, or answer to each other.
    pub fn answer_alike(&self, a: u32, b: u32) -> bool {
        a != FIXED && b != FIXED && self.related(a, b)
    }

    /// Displacement and rotation of the target per wrench on the source, which must be related.
    pub fn block(&self, target: u32, source: u32) -> Block {
        let mover = &self.all[source as usize];
        match self.clusters.get(mover.cluster as usize) {
            Some(cluster) => self.blocks[cluster.at(target, source)],
            None => alone_block(mover),
        }
    }

    /// Whether two movers answer to each other.
    pub fn related(&self, a: u32, b: u32) -> bool {
        let (x, y) = (&self.all[a as usize], &self.all[b as usize]);
        a == b || (x.cluster != ALONE && x.cluster == y.cluster)
    }

    /// How the target moves under a unit wrench on the source, which must be related.
    #[inline(always)]
    pub fn respond(&self, target: u32, source: u32, force: &V3, torque: &V3) -> [V3; 2] {
        let mover = &self.all[source as usize];
        if mover.cluster == ALONE {
            if let Some(block) = self.own.get(source as usize) {
                return times_block(block, force, torque);
            }
            return [
                scale(force, mover.per_force),
                mul_vec(&mover.per_torque, torque),
            ];
        }
        let cluster = &self.clusters[mover.cluster as usize];
        times_block(&self.blocks[cluster.at(target, source)], force, torque)
    }

    /// Notes a wrench that a body will have to be told of.
    pub fn note(&mut self, source: u32, force: &V3, torque: &V3) {
        let [f, t] = &mut self.all[source as usize].untold;
        (*f, *t) = (add(f, force), add(t, torque));
    }

    /// Moves everything that answers to a wrench on a mover that joints may hold.
    pub fn push_held(&mut self, source: u32, force: &V3, torque: &V3) {
        self.note(source, force, torque);
        let mover = &mut self.all[source as usize];
        if mover.cluster == ALONE && !self.own.is_empty() {
            // Whoever looks at a large mechanism asks all of it first.
            let [shift, turn] = times_block(&self.own[source as usize], force, torque);
            mover.shift = add(&mover.shift, &shift);
            mover.turn = add(&mover.turn, &turn);
            return;
        }
        if mover.cluster == ALONE {
            mover.shift = axpy(&mover.shift, mover.per_force, force);
            mover.turn = add(&mover.turn, &mul_vec(&mover.per_torque, torque));
            return;
        }
        let cluster = self.clusters[self.all[source as usize].cluster as usize];
        let column = (source - cluster.first) as usize;
        let count = cluster.count as usize;
        for row in 0..count {
            let block = &self.blocks[cluster.offset as usize + row * count + column];
            let [shift, turn] = times_block(block, force, torque);
            let mover = &mut self.all[cluster.first as usize + row];
            mover.shift = add(&mover.shift, &shift);
            mover.turn = add(&mover.turn, &turn);
        }
    }

    /// Something that movers of one mechanism share, and no two others do.
    pub fn root(&self, mover: u32) -> u32 {
        match self.all[mover as usize].cluster {
            ALONE => mover,
            cluster => self.clusters[cluster as usize].first,
        }
    }
}

/// Rotation per torque about the principal axes, rad/(N m).
#[inline(always)]
pub(crate) fn rotational(inverse: &Inverse) -> V3 {
    let (p, q) = (&inverse.direct, &inverse.cross);
    [
        0.25 * (p[4] + p[5] - 2.0 * q[2]),
        0.25 * (p[2] + p[3] - 2.0 * q[1]),
        0.25 * (p[0] + p[1] - 2.0 * q[0]),
    ]
}

/// The increment P of A, body frame, under a torque, world.
#[inline(always)]
pub(crate) fn increment(inverse: &Inverse, rot: &M3, torque: &V3) -> M3 {
    inverse.solve(&skew_matrix(&scale(&tmul_vec(rot, torque), 0.5)))
}

/// Moves the iterate of a body that is part of the dual system by a force and a torque.
pub(crate) fn displace(work: &mut [NewtonBlock], body: usize, [force, torque]: &[V3; 2]) {
    let (block, lane) = place(body);
    let n = &mut work[block];
    let rot: M3 = gather(&n.rot, lane);
    let inverse = n.inverse_of(lane);
    let p = increment(&inverse, &rot, torque);
    let total = axpy9(&gather(&n.p, lane), 1.0, &p);
    scatter(&mut n.p, lane, &total);
    let a: M3 = gather(&n.a, lane);
    scatter(&mut n.a, lane, &axpy9(&a, 1.0, &mul(&rot, &p)));
    let t: V3 = gather(&n.t, lane);
    scatter(&mut n.t, lane, &axpy(&t, inverse.translation, force));
}

/// Changes the rate of such a body, which is in the body frame, by the same per h.
pub(crate) fn hasten(work: &mut [NewtonBlock], body: usize, h: f64, [force, torque]: &[V3; 2]) {
    let (block, lane) = place(body);
    let n = &mut work[block];
    let rot: M3 = gather(&n.rot, lane);
    let inverse = n.inverse_of(lane);
    let p = increment(&inverse, &rot, torque);
    let rate: M3 = gather(&n.w, lane);
    scatter(&mut n.w, lane, &axpy9(&rate, 1.0 / h, &p));
    let v: V3 = gather(&n.v, lane);
    scatter(&mut n.v, lane, &axpy(&v, inverse.translation / h, force));
}

#[cfg(test)]
mod tests;
