//! The two stages of a step in which contacts act.
//!
//! First stage, with the pose: with the displacements from the start of the step,
//!
//! ```text
//! gap⁺ ≥ 0,   λ₁ ∈ K,   friction against the sliding distance of the step
//! ```
//!
//! Second stage, with the velocity at the end: the total x = λ₁ + λ₂ is in K, and friction acts
//! against the velocity of the slip. So λ₂ may take back what λ₁ gave in excess, as when
//! it moved bodies out of each other, but the two together never pull.
//!
//! A body that is found inside another is moved out at no more than [`PUSH_SPEED`], and keeps
//! nothing of that speed.

use super::memory::{Memory, Remembered, key_of};
use super::movers::{FIXED, Mover};
use super::rows::{ContactRow, frame_of};
use super::ContactPoint;
use crate::integrate::newton::NewtonBlock;
use crate::math::lanes::{gather, place};
use crate::math::small::*;
use crate::model::{Model, StateBlock};

/// Speed at which bodies that start inside each other are moved apart, m/s.
pub const PUSH_SPEED: f64 = 1.0;
/// Gap below which two bodies touch at the end of a step, m.
const TOUCHING: f64 = 1e-6;

/// One side of a contact during a step.
#[derive(Clone, Copy, Debug)]
struct Side {
    mover: u32,
    /// The material point, and the centre of curvature there, in the body, m.
    point: V3,
    center: V3,
    /// From the centre of curvature to the surface, along n, m.
    radius: f64,
}

/// A contact during a step.
#[derive(Clone, Copy, Debug)]
struct Link {
    sides: [Side; 2],
    /// Force of the first stage, in the frame, N.
    first: V3,
    first_torque: V3,
    /// Its row in the second stage, if it touches at the end.
    second: Option<u32>,
    /// Gap at which the first stage aims, m; negative when moving out takes several steps.
    aim: f64,
}

/// Contacts of a step: who takes part, and the rows of the present stage.
#[derive(Debug, Default)]
pub(crate) struct Stage {
    pub movers: Vec<Mover>,
    pub rows: Vec<ContactRow>,
    links: Vec<Link>,
    /// The mover of each body, or FIXED.
    mover_of: Vec<u32>,
    /// The contact of the last step that each continues.
    known: Vec<Option<u32>>,
}

/// Where the pieces of a stage come from.
pub(crate) struct Scene<'a> {
    pub model: &'a Model,
    pub points: &'a [ContactPoint],
    pub memory: &'a Memory,
    /// The start of the step.
    pub start: &'a [StateBlock],
    /// The iterate.
    pub work: &'a [NewtonBlock],
    /// Whether a block takes the short path of bodies without joints.
    pub loose: &'a [bool],
    pub h: f64,
    /// Inertia per mass, 1/s².
    pub c: f64,
}

impl Stage {
    /// Room for a model.
    pub fn new(bodies: usize) -> Stage {
        Stage {
            mover_of: vec![FIXED; bodies],
            ..Stage::default()
        }
    }

    /// Finds the bodies that take part and where they are touched.
    pub fn begin(&mut self, scene: &Scene<'_>) {
        for mover in &self.movers {
            self.mover_of[mover.body as usize] = FIXED;
        }
        self.movers.clear();
        self.links.clear();
        scene.memory.matches(scene.points, &mut self.known);
        for point in scene.points {
            let sides = [(point.a, point.anchor_a, -1.0), (point.b, point.anchor_b, 1.0)];
            let radii = [point.round_a, point.round_b];
            let mut found = [Side {
                mover: FIXED,
                point: [0.0; 3],
                center: [0.0; 3],
                radius: 0.0,
            }; 2];
            for (k, (body, anchor, sign)) in sides.into_iter().enumerate() {
                let Some(body) = body else { continue };
                let body = body.index();
                let a: M3 = start_of(scene.start, body).0;
                let inward = scale(&tmul_vec(&a, &point.normal), sign * radii[k]);
                found[k] = Side {
                    mover: self.mover(scene, body),
                    point: anchor,
                    center: add(&anchor, &inward),
                    radius: -sign * radii[k],
                };
            }
            self.links.push(Link {
                sides: found,
                first: [0.0; 3],
                first_torque: [0.0; 3],
                second: None,
                aim: (point.gap + PUSH_SPEED * scene.h).min(0.0),
            });
        }
    }

    fn mover(&mut self, scene: &Scene<'_>, body: usize) -> u32 {
        if self.mover_of[body] == FIXED {
            self.mover_of[body] = self.movers.len() as u32;
            let loose = scene.loose[place(body).0];
            self.movers.push(Mover::new(body, loose, 0.0, [0.0; 9]));
        }
        self.mover_of[body]
    }

    /// How far forces move the bodies at the present iterate.
    fn weigh(&mut self, scene: &Scene<'_>) {
        for mover in &mut self.movers {
            let (block, lane) = place(mover.body as usize);
            *mover = if mover.loose {
                let params = &scene.model.params[block];
                let rot: M3 = gather(&scene.work[block].rot, lane);
                let inverse: V3 = gather(&params.inverse_inertia, lane);
                let turned = mul_diag(&rot, &scale(&inverse, 1.0 / scene.c));
                let per_force = 1.0 / (scene.c * params.mass[lane]);
                Mover::new(mover.body as usize, true, per_force, mult(&turned, &rot))
            } else {
                Mover::held(mover.body as usize, scene.work)
            };
        }
    }

    /// Rows of the first stage at the present iterate, with the forces remembered.
    pub fn first(&mut self, scene: &Scene<'_>) {
        self.weigh(scene);
        self.rows.clear();
        for (index, point) in scene.points.iter().enumerate() {
            let link = &self.links[index];
            let frame = frame_of(&point.normal);
            let mut free = carried(&frame, point, scene.h);
            free[0] += point.gap - link.aim;
            let mut turned = [0.0; 3];
            let mut arms = [[0.0; 3]; 2];
            for (k, side) in link.sides.iter().enumerate() {
                let sign = [-1.0, 1.0][k];
                let moved = match side.mover {
                    FIXED => continue,
                    m => {
                        let body = self.movers[m as usize].body as usize;
                        let (a0, t0) = start_of(scene.start, body);
                        let (a1, t1) = iterate_of(scene.work, body);
                        arms[k] = mul_vec(&a0, &side.point);
                        let grown = sub9(&a1, &a0);
                        let shift = sub(&t1, &t0);
                        turned = axpy(&turned, sign, &axial(&mult(&grown, &a0)));
                        let center = add(&mul_vec(&grown, &side.center), &shift);
                        let point = add(&mul_vec(&grown, &side.point), &shift);
                        [dot(&frame[0], &center), dot(&frame[1], &point), dot(&frame[2], &point)]
                    }
                };
                free = axpy(&free, sign, &moved);
            }
            let mut row = ContactRow::new(frame, link.sides.map(|s| s.mover), arms, &self.movers);
            row.free = free;
            row.mu = point.friction;
            row.soften(point.compliance);
            if point.torsional > 0.0 || point.rolling > 0.0 {
                let about = frame.map(|axis| dot(&axis, &turned));
                row.resist(point.torsional, point.rolling, about, &self.movers);
            }
            self.rows.push(row);
        }
        for (row, known) in self.rows.iter_mut().zip(&self.known) {
            if let Some(k) = known {
                row.start_from(&mut self.movers, &scene.memory.entries[*k as usize].first);
            }
        }
    }

    /// Keeps the forces of the first stage. Returns how deep the worst contact ends, m.
    pub fn end_first(&mut self) -> f64 {
        let mut deepest = 0.0f64;
        for (link, row) in self.links.iter_mut().zip(&self.rows) {
            link.first = row.lambda;
            link.first_torque = row.spin.map_or([0.0; 3], |s| s.torque);
            let gap = row.slip(&self.movers)[0] - row.soft * row.lambda[0] + link.aim;
            deepest = deepest.max(-gap);
            link.second = (row.lambda[0] > 0.0 || gap <= TOUCHING).then_some(0);
        }
        deepest
    }

    /// Rows of the second stage, for rates in the body frame; λ starts as what the first stage
    /// has given, and the bodies already have it.
    pub fn second(&mut self, scene: &Scene<'_>) {
        self.weigh(scene);
        self.rows.clear();
        for (index, point) in scene.points.iter().enumerate() {
            let link = &mut self.links[index];
            if link.second.is_none() {
                continue;
            }
            link.second = Some(self.rows.len() as u32);
            let link = self.links[index];
            let frame = frame_of(&point.normal);
            let (mut free, mut turned) = (carried(&frame, point, scene.h), [0.0; 3]);
            let mut arms = [[0.0; 3]; 2];
            for (k, side) in link.sides.iter().enumerate() {
                let sign = [-1.0, 1.0][k];
                let moved = match side.mover {
                    FIXED => continue,
                    m => {
                        let body = self.movers[m as usize].body as usize;
                        let (a1, _) = iterate_of(scene.work, body);
                        let reach = scale(&point.normal, side.radius);
                        arms[k] = add(&mul_vec(&a1, &side.center), &reach);
                        let (v, omega) = motion_of(scene, body);
                        turned = axpy(&turned, sign * scene.h, &omega);
                        let u = add(&v, &cross(&omega, &arms[k]));
                        frame.map(|axis| scene.h * dot(&axis, &u))
                    }
                };
                free = axpy(&free, sign, &moved);
            }
            let mut row = ContactRow::new(frame, link.sides.map(|s| s.mover), arms, &self.movers);
            row.lambda = link.first;
            row.free = free;
            row.mu = point.friction;
            if point.compliance > 0.0 {
                // A spring pushes in the second half as it did in the first.
                row.hold_normal(2.0 * link.first[0]);
            }
            if point.torsional > 0.0 || point.rolling > 0.0 {
                let about = frame.map(|axis| dot(&axis, &turned));
                row.resist(point.torsional, point.rolling, about, &self.movers);
                if let Some(spin) = &mut row.spin {
                    spin.torque = link.first_torque;
                }
            }
            self.rows.push(row);
        }
        for (link, known) in self.links.iter().zip(&self.known) {
            if let (Some(k), Some(known)) = (link.second, known) {
                let total = &scene.memory.entries[*known as usize].total;
                self.rows[k as usize].start_from(&mut self.movers, total);
            }
        }
    }

    /// What a contact did, in its frame.
    pub fn outcome(&self, index: usize) -> Outcome {
        let link = &self.links[index];
        let row = link.second.map(|k| &self.rows[k as usize]);
        let torque = |r: &ContactRow| r.spin.map_or([0.0; 3], |s| s.torque);
        Outcome {
            first: [link.first, link.first_torque],
            total: row.map_or([link.first, link.first_torque], |r| [r.lambda, torque(r)]),
            slip: row.map(|r| r.slip(&self.movers)),
        }
    }

    /// Writes what the next step starts from.
    pub fn remember(&self, points: &[ContactPoint], memory: &mut Memory) {
        memory.entries.clear();
        for (index, point) in points.iter().enumerate() {
            let done = self.outcome(index);
            if done.total[0][0] <= 0.0 && done.first[0][0] <= 0.0 {
                continue;
            }
            let frame = frame_of(&point.normal);
            let world = |f: [V3; 2]| f.map(|f| to_world(&frame, &f));
            memory.entries.push(Remembered {
                key: key_of(point),
                first: world(done.first),
                total: world(done.total),
            });
        }
    }
}

/// Forces and torques of a contact, in its frame.
pub(crate) struct Outcome {
    pub first: [V3; 2],
    pub total: [V3; 2],
    /// h times the velocity of the slip at the end, m, where it touches.
    pub slip: Option<V3>,
}

/// A vector in the world from its components along a frame.
pub(crate) fn to_world(frame: &[V3; 3], x: &V3) -> V3 {
    let sum = scale(&frame[0], x[0]);
    axpy(&axpy(&sum, x[1], &frame[1]), x[2], &frame[2])
}

/// Displacement of the sides that are not bodies, b's minus a's, in the frame, m.
fn carried(frame: &[V3; 3], point: &ContactPoint, h: f64) -> V3 {
    frame.map(|axis| h * dot(&axis, &point.surface_velocity))
}

fn start_of(blocks: &[StateBlock], body: usize) -> (M3, V3) {
    let (block, lane) = place(body);
    (gather(&blocks[block].a, lane), gather(&blocks[block].t, lane))
}

fn iterate_of(work: &[NewtonBlock], body: usize) -> (M3, V3) {
    let (block, lane) = place(body);
    (gather(&work[block].a, lane), gather(&work[block].t, lane))
}

/// Velocity of the centre and angular velocity, world, of a rate in the body frame.
fn motion_of(scene: &Scene<'_>, body: usize) -> (V3, V3) {
    let (block, lane) = place(body);
    let n = &scene.work[block];
    let affine = scene.model.params[block].affine(lane);
    let rate: M3 = gather(&n.w, lane);
    let omega = affine.angular_velocity(&affine.angular_momentum(&rate));
    (gather(&n.v, lane), mul_vec(&gather(&n.rot, lane), &omega))
}
