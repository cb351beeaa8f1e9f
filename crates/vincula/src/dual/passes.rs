//! Passes over joints and over the points of bodies, and how they are split in two halves.
//!
//! A pass over joints reads bodies and writes the rows of each joint; a pass over bodies reads
//! rows and writes its own block. So contiguous halves of either know nothing of each other, and
//! a pass gives the same bits on one thread and on two.

use std::ops::Range;

use vincula_blocks::both;

use super::linearize::{GeneralRow, JointRows, SideRows, carried, dot9};
use super::ports::{self, NO_POINTS, NO_PORT, PortBlock};
use super::{Dual, Hold, Incidence, axles};
use crate::integrate::newton::NewtonBlock;
use crate::math::dispatch::Level;
use crate::math::lanes::{LANES, gather, place};
use crate::math::small::*;
use crate::model::Model;

/// Joints from which on a second thread is worth spawning for a pass.
const WORTH: usize = 4096;

/// What passes read of the dual system.
#[derive(Clone, Copy)]
pub(crate) struct Joints<'a> {
    level: Level,
    /// Whether there is nothing to solve.
    empty: bool,
    joints: &'a [JointRows],
    offsets: &'a [usize],
    general: &'a [GeneralRow],
    incidences: &'a [Incidence],
    starts: &'a [usize],
    holds: &'a [Hold],
    lambda: &'a [f64],
    /// Of each block: whether joints that are looked at hold a body of it, if these are not all.
    open: Option<&'a [bool]>,
}

impl Joints<'_> {
    /// Whether joints that are looked at may move the bodies of a block.
    pub fn may_move(&self, block: usize) -> bool {
        self.open.is_none_or(|open| open[block])
    }

    /// What the joints need to know of a block of bodies after its free solve: places and
    /// compliances of the points, while the block is at hand.
    pub fn prepare(&self, n: &NewtonBlock, ports: &mut PortBlock) {
        self.find_compliances(n, ports);
        if !self.empty {
            ports::find_places(self.level, n, &ports.point, &mut ports.place);
            if let Some(axles) = &mut ports.axles {
                axles::find_before(self.level, n, axles);
            }
        }
    }

    /// Compliances of the points of a block of bodies that has turned since its free solve.
    pub fn find_compliances(&self, n: &NewtonBlock, ports: &mut PortBlock) {
        if !self.empty {
            ports::find_compliances(self.level, n, &ports.point, &mut ports.compliances);
        }
    }

    /// Places of the points of a block of bodies that has moved.
    pub fn find_places(&self, n: &NewtonBlock, ports: &mut PortBlock) {
        if !self.empty {
            ports::find_places(self.level, n, &ports.point, &mut ports.place);
            if let Some(axles) = &mut ports.axles {
                axles::find_world(self.level, n, axles);
            }
        }
    }

    /// Velocities of the points of a block of bodies, for rates in the body frame.
    pub fn find_velocities(&self, n: &NewtonBlock, ports: &mut PortBlock) {
        if !self.empty {
            ports::find_velocities(self.level, n, &ports.point, &mut ports.place);
            if let Some(axles) = &mut ports.axles {
                axles::find_rates(self.level, n, axles);
            }
        }
    }

    /// Puts the forces at points on a block of bodies, after `Dual::load`.
    pub fn put_loads(&self, block: usize, n: &mut NewtonBlock, ports: &mut PortBlock) {
        if self.empty {
            return;
        }
        let bodies = block * LANES..(block * LANES + LANES).min(self.holds.len());
        for (lane, body) in bodies.enumerate() {
            if self.holds[body] == Hold::Otherwise {
                continue;
            }
            for at in &self.incidences[self.starts[body]..self.starts[body + 1]] {
                let row = self.offsets[at.joint as usize];
                let target = &mut ports.force[at.port as usize];
                for (target, force) in target.iter_mut().zip(&self.lambda[row..row + 3]) {
                    target[lane] += if at.first { *force } else { -force };
                }
                if let Some(axles) = &mut ports.axles {
                    let rest = &self.lambda[row + 3..self.offsets[at.joint as usize + 1]];
                    axles.set_forces(at.port as usize, lane, rest);
                }
            }
        }
        ports::put_loads(self.level, &ports.point, &ports.force, n);
        ports.force = NO_POINTS;
        if let Some(axles) = &ports.axles {
            axles::put_loads(self.level, axles, n);
        }
    }

    /// Writes the violation of the rows of some joints; returns the largest, m.
    pub(super) fn violation(
        &self,
        range: Range<usize>,
        (model, work): (&Model, &[NewtonBlock]),
        ports: &[PortBlock],
        lambda: &mut [f64],
    ) -> f64 {
        let start = self.offsets[range.start];
        let mut worst = 0.0f64;
        for index in range {
            let rows = &self.joints[index];
            let out = &mut lambda[self.offsets[index] - start..self.offsets[index + 1] - start];
            let ported = rows.points && rows.a.ported() && rows.b.ported();
            if ported {
                let gap = sub(&place_of(&rows.a, ports), &place_of(&rows.b, ports));
                out[..3].copy_from_slice(&gap);
            }
            let first = if ported { 3 } else { 0 };
            let done = first + rows.squares.1 as usize;
            if rows.constraints as usize > done {
                let skipped = if rows.points { 3 } else { 0 };
                let joint = &model.joints[index];
                let (a, b) = carried(joint, work);
                for (row, kind) in joint.row_kinds().iter().enumerate().skip(first) {
                    if row >= skipped && rows.is_square(row - skipped) {
                        continue;
                    }
                    out[row] = kind.value(&a, &b, joint.length);
                }
            }
            for value in &out[..rows.constraints as usize] {
                worst = larger(value.abs(), worst);
            }
        }
        worst
    }

    /// Writes h times the rate of the rows of some joints; returns the largest, m.
    pub(super) fn drift(
        &self,
        range: Range<usize>,
        (work, h): (&[NewtonBlock], f64),
        ports: &[PortBlock],
        lambda: &mut [f64],
    ) -> f64 {
        let start = self.offsets[range.start];
        let mut worst = 0.0f64;
        for index in range {
            let rows = &self.joints[index];
            let out = &mut lambda[self.offsets[index] - start..self.offsets[index + 1] - start];
            out.fill(0.0);
            for side in [&rows.a, &rows.b] {
                let Some(body) = side.body() else { continue };
                let (block, lane) = place(body);
                let n = &work[block];
                if rows.points {
                    let u = if side.port != NO_PORT {
                        gather(&ports[block].place[side.port as usize], lane)
                    } else {
                        let (rot, rate) = (gather(&n.rot, lane), gather(&n.w, lane));
                        side.point_velocity(&rot, &rate, &gather(&n.v, lane))
                    };
                    for k in 0..3 {
                        out[k] += h * side.sign * u[k];
                    }
                }
                if side.axle {
                    let axles = ports[block].axles.as_ref().expect("a side with axles");
                    for k in 0..side.count as usize {
                        out[3 + k] += h * axles.rate(side.port as usize, k, lane);
                    }
                } else if side.count > 0 {
                    let rate: M3 = gather(&n.w, lane);
                    let v: V3 = gather(&n.v, lane);
                    let first = if rows.points { 3 } else { 0 };
                    for (k, row) in side.rows(self.general).iter().enumerate() {
                        out[first + k] += h * (dot9(&row.a, &rate) + dot(&row.t, &v));
                    }
                }
            }
            for value in &out[..rows.constraints as usize] {
                worst = worst.max(value.abs());
            }
        }
        worst
    }
}

/// Place or velocity of a ported end; the world's point is where it is, at rest.
#[inline(always)]
fn place_of(side: &SideRows, ports: &[PortBlock]) -> V3 {
    match side.body() {
        None => side.point,
        Some(body) => {
            let (block, lane) = place(body);
            gather(&ports[block].place[side.port as usize], lane)
        }
    }
}

/// The larger of two numbers; one that is none wins.
#[inline(always)]
pub(crate) fn larger(a: f64, b: f64) -> f64 {
    if a > b || a.is_nan() { a } else { b }
}

impl Dual {
    /// What passes read, and the points of all blocks.
    pub(crate) fn split(&mut self) -> (Joints<'_>, &mut [PortBlock]) {
        let joints = Joints {
            level: self.level,
            empty: self.is_empty(),
            joints: &self.joints,
            offsets: &self.offsets,
            general: &self.general,
            incidences: &self.incidences,
            starts: &self.starts,
            holds: &self.holds,
            lambda: &self.lambda,
            open: self.open.as_ref().map(|open| &open.blocks[..]),
        };
        (joints, &mut self.ports)
    }

    /// Runs a pass over contiguous halves of the joints; returns the largest of what it returns.
    fn each_joint(
        &mut self,
        pass: impl Fn(&Joints<'_>, Range<usize>, &[PortBlock], &mut [f64]) -> f64 + Sync,
    ) -> f64 {
        if let Some(live) = self.live_joints() {
            return self.each_live_joint(live, pass);
        }
        let count = self.joints.len();
        let (threads, middle) = match count >= WORTH {
            true => (self.threads, count / 2),
            false => (1, count),
        };
        let mut lambda = std::mem::take(&mut self.lambda);
        let row = self.offsets[middle];
        let end = self.offsets[count];
        let (joints, ports) = self.split();
        let (first, second) = lambda[..end].split_at_mut(row);
        let ports = &*ports;
        let (a, b) = both(
            threads,
            || pass(&joints, 0..middle, ports, first),
            || pass(&joints, middle..count, ports, second),
        );
        self.lambda = lambda;
        larger(a, b)
    }

    /// The same over those that are looked at, which are given back.
    fn each_live_joint(
        &mut self,
        live: Vec<Range<usize>>,
        pass: impl Fn(&Joints<'_>, Range<usize>, &[PortBlock], &mut [f64]) -> f64,
    ) -> f64 {
        let worst = self.each_of(&live, pass);
        self.return_live(live);
        worst
    }

    /// The same over some stretches of them.
    pub(super) fn each_of(
        &mut self,
        stretches: &[Range<usize>],
        pass: impl Fn(&Joints<'_>, Range<usize>, &[PortBlock], &mut [f64]) -> f64,
    ) -> f64 {
        let mut lambda = std::mem::take(&mut self.lambda);
        let (joints, ports) = self.split();
        let mut worst = 0.0;
        for range in stretches {
            let rows = joints.offsets[range.start]..joints.offsets[range.end];
            let found = pass(&joints, range.clone(), ports, &mut lambda[rows]);
            worst = larger(found, worst);
        }
        self.lambda = lambda;
        worst
    }

    /// Right-hand side: the violation C of every row at the iterate, whose places are known.
    /// Returns the largest, m.
    pub(crate) fn violation(&mut self, model: &Model, work: &[NewtonBlock], h: f64) -> f64 {
        if self.is_empty() {
            return 0.0;
        }
        self.squares.measure(self.level, work, &mut self.lambda);
        self.axles.measure(&self.ports, &mut self.lambda);
        if let Some(open) = self.open.take() {
            let worst = self.violation_of_open(&open, (model, work), h);
            self.open = Some(open);
            return worst;
        }
        let worst = self.each_joint(|joints, range, ports, lambda| {
            joints.violation(range, (model, work), ports, lambda)
        });
        let bordered = self.border_sides(model, work, h);
        worst.max(self.axis_sides(model, work, h)).max(bordered)
    }

    /// Right-hand side: h times the rate of every row, after `find_velocities`. Rates are in
    /// the body frame. Returns the largest of the constraints, m.
    pub(crate) fn drift(&mut self, work: &[NewtonBlock], h: f64) -> f64 {
        let worst = self.each_joint(|joints, range, ports, lambda| {
            joints.drift(range, (work, h), ports, lambda)
        });
        let bordered = self.border_rates(work, h);
        worst.max(self.rate_sides(h)).max(bordered)
    }

    /// See [`Joints::find_places`].
    pub(crate) fn find_places(&mut self, block: usize, n: &NewtonBlock) {
        let (joints, ports) = self.split();
        joints.find_places(n, &mut ports[block]);
    }

    /// See [`Joints::find_velocities`].
    pub(crate) fn find_velocities(&mut self, block: usize, n: &NewtonBlock) {
        let (joints, ports) = self.split();
        joints.find_velocities(n, &mut ports[block]);
    }
}
