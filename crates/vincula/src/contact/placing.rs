//! Where the leaves of colliders are at the start of a step, and where they may go in it.

use glam::{DMat3, DQuat, DVec3};

use super::bounds::Bounds;
use super::broad::Broad;
use super::plane::over;
use super::{Carrier, Leaf};
use crate::math::lanes::{gather, place};
use crate::math::small::{M3, V3};
use crate::math::{to_mat, to_vec};
use crate::model::{BodyId, Control, Model, Pose, State};

/// How the carrier of a leaf moves in the step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Motion {
    /// Frame of the carrier: principal rotation and centre of a body.
    pub pose: Pose,
    /// Velocity of the origin, m/s, with gravity's share of the step.
    pub velocity: DVec3,
    /// Rate of the map, 1/s.
    pub rate: DMat3,
    /// Angular speed, rad/s.
    pub spin: f64,
}

/// A leaf where it is now.
#[derive(Clone, Copy, Debug)]
pub(super) struct Proxy {
    pub pose: Pose,
    /// Its rotation as a matrix.
    pub axes: DMat3,
    /// Where its middle goes in the step, m.
    pub motion: DVec3,
    /// How far its farthest point moves relative to its middle, m.
    pub turn: f64,
    pub margin: f64,
    /// Whether its carrier turns at all.
    pub turns: bool,
    /// How it is expected to turn in the step, rad. Joints may have another opinion on that, so it
    /// is none for what they hold.
    pub spin: DVec3,
}

/// Where all leaves are that may touch something.
#[derive(Debug, Default)]
pub(super) struct Placing {
    bodies: Vec<Motion>,
    frames: Vec<Motion>,
    /// Of each leaf, if it is one of those that are `placed`.
    pub proxies: Vec<Proxy>,
    pub bounds: Vec<Bounds>,
    pub placed: Vec<u32>,
    /// The body whose motion was found last.
    latest: Option<BodyId>,
    pub unbounded: Vec<u32>,
    /// How many of these do not pass through each other, which come first, and all of them.
    pub apart: usize,
    pub others: Broad,
}

impl Placing {
    /// Places all leaves that may touch something.
    pub fn place_leaves(&mut self, model: &Model, state: &State, control: &Control, h: f64) {
        self.frames.clear();
        self.frames
            .extend(control.frames.iter().map(|frame| Motion {
                pose: frame.pose,
                velocity: frame.twist.linear,
                rate: cross_matrix(frame.twist.angular) * DMat3::from_quat(frame.pose.rotation),
                spin: frame.twist.angular.length(),
            }));
        let (leaves, flock) = (&model.collision.leaves, &model.collision.flock);
        self.bodies.resize(model.bodies.len(), Motion::STILL);
        self.proxies.resize(leaves.len(), Proxy::STILL);
        self.bounds.resize(leaves.len(), Bounds::NOTHING);
        self.latest = None;
        self.unbounded.clear();
        self.placed.clear();
        self.placed.extend_from_slice(&flock.others);
        self.apart = self.placed.len();
        for k in 0..self.apart {
            self.place_leaf(self.placed[k], model, state, h);
        }
        let Placing {
            others,
            bounds,
            proxies,
            placed,
            unbounded,
            ..
        } = self;
        others.file(bounds, placed);
        let near = |bounds: &Bounds| {
            let below = |plane: &u32| over(&proxies[*plane as usize], bounds);
            others.meets_any(bounds) || unbounded.iter().any(below)
        };
        flock.each_near(state.blocks(), model.gravity, h, near, |leaf| {
            placed.push(leaf);
        });
        for k in self.apart..self.placed.len() {
            self.place_leaf(self.placed[k], model, state, h);
        }
    }

    fn place_leaf(&mut self, index: u32, model: &Model, state: &State, h: f64) {
        let leaf = &model.collision.leaves[index as usize];
        let collider = model.collider(leaf.collider);
        let body = collider.carrier.body();
        // The pieces of a collider follow each other.
        if let Some(body) = body.filter(|_| self.latest != body) {
            self.latest = Some(body);
            let gravity = model.gravity * model.body(body).gravity_scale;
            self.bodies[body.index()] = body_motion(state, body.index(), gravity, h);
        }
        let motion = self.motion(collider.carrier);
        let held = |body: BodyId| model.collision.jointed[body.index()];
        let mut proxy = place_leaf(leaf, motion, collider.margin, h);
        if body.is_none_or(|body| !held(body)) {
            proxy.spin = h * motion.angular();
        }
        let bounds = leaf.form.bounds(&proxy.pose);
        if !bounds.is_finite() {
            self.unbounded.push(index);
        }
        self.bounds[index as usize] = bounds.swept(proxy.motion, proxy.margin + proxy.turn);
        self.proxies[index as usize] = proxy;
    }

    /// How a carrier moves.
    pub fn motion(&self, carrier: Carrier) -> &Motion {
        match carrier {
            Carrier::World => &Motion::STILL,
            Carrier::Body(id) => &self.bodies[id.index()],
            Carrier::Frame(id) => &self.frames[id.index()],
        }
    }
}

impl Proxy {
    const STILL: Proxy = Proxy {
        pose: Pose::IDENTITY,
        axes: DMat3::IDENTITY,
        motion: DVec3::ZERO,
        turn: 0.0,
        margin: 0.0,
        turns: false,
        spin: DVec3::ZERO,
    };
}

impl Motion {
    const STILL: Motion = Motion {
        pose: Pose::IDENTITY,
        velocity: DVec3::ZERO,
        rate: DMat3::ZERO,
        spin: 0.0,
    };

    /// The material point that the rotation carries to a point of the world.
    pub fn material(&self, point: DVec3) -> DVec3 {
        self.pose.rotation.inverse() * (point - self.pose.translation)
    }

    /// Angular velocity, rad/s: the skew part of the rate.
    pub fn angular(&self) -> DVec3 {
        let w = self.rate * DMat3::from_quat(self.pose.rotation).transpose();
        0.5 * DVec3::new(
            w.y_axis.z - w.z_axis.y,
            w.z_axis.x - w.x_axis.z,
            w.x_axis.y - w.y_axis.x,
        )
    }

    /// Velocity of what is at a point of the world, m/s.
    pub fn velocity_at(&self, point: DVec3) -> DVec3 {
        self.velocity + self.rate * self.material(point)
    }
}

fn body_motion(state: &State, body: usize, gravity: DVec3, h: f64) -> Motion {
    let (block, lane) = place(body);
    let b = &state.blocks()[block];
    let a: M3 = gather(&b.a, lane);
    let w: M3 = gather(&b.w, lane);
    let (v, t): (V3, V3) = (gather(&b.v, lane), gather(&b.t, lane));
    let rotation = crate::math::rotation::polar(&a).unwrap_or(crate::math::small::IDENTITY);
    // A rotation at the rate ω has the Frobenius norm √2 |ω|.
    let norm = w.iter().map(|x| x * x).sum::<f64>();
    Motion {
        pose: Pose {
            translation: to_vec(&t),
            rotation: DQuat::from_mat3(&to_mat(&rotation)).normalize(),
        },
        velocity: to_vec(&v) + h * gravity,
        rate: to_mat(&w),
        spin: (0.5 * norm).sqrt(),
    }
}

fn place_leaf(leaf: &Leaf, motion: &Motion, margin: f64, h: f64) -> Proxy {
    let bounded = leaf.radius.is_finite();
    let pose = motion.pose.compose(&leaf.pose);
    Proxy {
        pose,
        axes: DMat3::from_quat(pose.rotation),
        motion: h * (motion.velocity + motion.rate * leaf.center),
        turn: if bounded {
            h * motion.spin * leaf.radius
        } else {
            0.0
        },
        margin,
        turns: motion.spin > 0.0,
        spin: DVec3::ZERO,
    }
}

fn cross_matrix(w: DVec3) -> DMat3 {
    DMat3::from_cols(
        DVec3::new(0.0, w.z, -w.y),
        DVec3::new(-w.z, 0.0, w.x),
        DVec3::new(w.y, -w.x, 0.0),
    )
}
