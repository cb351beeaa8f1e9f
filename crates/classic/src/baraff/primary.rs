//! The primary constraints: joints and gears as rows, and the three right-hand sides.

use glam::{DMat3, DQuat, DVec3};
use vincula::math::ahead::fetch_all;
use vincula::model::BodyId;

use super::factors::{Entries, MOST, Sides};
use super::forest::Limb;
use crate::system::System;
use crate::system::rows::{Held, Linear, Six, dot6, pack};
use std::slice::from_ref;

/// A ratio of angular speeds, ω_a·u_a = ratio · ω_b·u_b: a nonholonomic constraint with one
/// row. The axes turn with their bodies, so its bias vanishes: ω·(ω × u) = 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gear {
    /// The two bodies.
    pub bodies: [BodyId; 2],
    /// An axis on each, in its principal frame.
    pub axes_body: [DVec3; 2],
    /// Turns of the first for one turn of the second.
    pub ratio: f64,
}

/// What a solve is for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// Second order: w is an acceleration.
    Dynamics,
    /// w is a change of velocity.
    Impulse,
    /// First order: w is a displacement.
    Position,
}

impl Gear {
    /// The row for both bodies.
    pub(super) fn row(&self, system: &System) -> [Six; 2] {
        let turned = |k: usize| {
            let q: DQuat = system.bodies[self.bodies[k].index()].q;
            q * self.axes_body[k]
        };
        [
            pack(DVec3::ZERO, turned(0)),
            pack(DVec3::ZERO, -self.ratio * turned(1)),
        ]
    }

    /// ω_a·u_a − ratio ω_b·u_b, rad/s.
    pub(super) fn rate(&self, system: &System) -> f64 {
        let [a, b] = self.bodies.map(|id| system.velocity(Some(id.index())));
        let row = self.row(system);
        dot6(&row[0], &a.six()) + dot6(&row[1], &b.six())
    }
}

/// The matrix of joints and gears at the present pose, with a right-hand side. Gears are
/// numbered after the joints.
pub(super) struct Primary<'a> {
    pub system: &'a System,
    pub gears: &'a [Gear],
    pub forces: &'a [Six],
    pub purpose: Purpose,
}

impl Primary<'_> {
    /// The bodies of a constraint.
    pub fn ends(&self, constraint: usize) -> [Option<usize>; 2] {
        match constraint.checked_sub(self.system.joints.len()) {
            None => self.system.ends[constraint],
            Some(gear) => self.gears[gear].bodies.map(|body| Some(body.index())),
        }
    }

    /// The rows of a constraint.
    pub fn linearize(&self, constraint: usize, out: &mut Linear) {
        match constraint.checked_sub(self.system.joints.len()) {
            None => self.system.linearize(constraint, out),
            Some(gear) => {
                let [a, b] = self.gears[gear].row(self.system);
                (out.rows, out.sides[0][0], out.sides[1][0]) = (1, a, b);
            }
        }
    }

    /// c of a joint: what [`Primary::purpose`] wants to vanish.
    #[inline(always)]
    fn joint_target(&self, ends: [Option<usize>; 2], held: &Held, out: &mut [f64; MOST]) {
        let (a, b) = (self.system.velocity(ends[0]), self.system.velocity(ends[1]));
        match self.purpose {
            Purpose::Position => held.violations(out),
            Purpose::Dynamics => held.biases([&a, &b], out),
            Purpose::Impulse => held.rates([&a, &b], out),
        }
    }

    fn gear_target(&self, gear: &Gear) -> f64 {
        match self.purpose {
            Purpose::Dynamics | Purpose::Position => 0.0,
            Purpose::Impulse => gear.rate(self.system),
        }
    }
}

impl Sides for Primary<'_> {
    #[inline(always)]
    fn force(&self, body: usize) -> Six {
        self.forces[body]
    }

    #[inline(always)]
    fn target(&self, constraint: usize, out: &mut [f64; MOST]) {
        if let Some(gear) = constraint.checked_sub(self.system.joints.len()) {
            out[0] = self.gear_target(&self.gears[gear]);
            return;
        }
        let ends = self.system.ends[constraint];
        let (a, b) = (self.system.place(ends[0]), self.system.place(ends[1]));
        let held = Held::new(&self.system.joints[constraint], [&a, &b]);
        self.joint_target(ends, &held, out);
    }
}

impl Entries for Primary<'_> {
    #[inline(always)]
    fn fetch(&self, limb: &Limb) {
        fetch_all(from_ref(&self.system.bodies[limb.body()]));
        if let Some(joint) = limb.constraint().and_then(|k| self.system.joints.get(k)) {
            fetch_all(from_ref(joint));
        }
    }

    #[inline(always)]
    fn mass(&self, body: usize, out: &mut [Six; 6]) {
        let body = &self.system.bodies[body];
        let inertia: DMat3 = body.inertia_world();
        for i in 0..3 {
            out[i][i] = body.mass;
            for j in 0..=i {
                out[3 + i][3 + j] = inertia.col(j)[i];
            }
        }
    }

    #[inline(always)]
    fn rows(&self, constraint: usize, out: &mut [[Six; MOST]; 2], target: &mut [f64; MOST]) {
        if let Some(gear) = constraint.checked_sub(self.system.joints.len()) {
            let gear = &self.gears[gear];
            [out[0][0], out[1][0]] = gear.row(self.system);
            target[0] = self.gear_target(gear);
            return;
        }
        let ends = self.system.ends[constraint];
        let (a, b) = (self.system.place(ends[0]), self.system.place(ends[1]));
        let held = Held::new(&self.system.joints[constraint], [&a, &b]);
        held.jacobian(out);
        self.joint_target(ends, &held, target);
    }
}
