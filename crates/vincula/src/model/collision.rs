//! The part of a model that collides: colliders, moved frames, and who ignores whom.

use glam::{DQuat, DVec3};

use super::{Body, BodyId, ColliderId, Endpoint, FrameId, Model, ModelError, Pose, Twist};
use crate::contact::{Carrier, Collider, ColliderDef, Flock, Leaf};
use crate::joint::Joint;

/// A frame that the user moves.
#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    /// Name, unique among the frames.
    pub name: String,
    /// Where it is at time zero.
    pub initial_pose: Pose,
}

impl Frame {
    pub(crate) fn at_rest(&self) -> FrameMotion {
        FrameMotion {
            pose: self.initial_pose,
            twist: Twist::default(),
        }
    }
}

/// Where a moved frame is at the start of a step, and its velocity during it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FrameMotion {
    /// Pose at the start of the step.
    pub pose: Pose,
    /// Velocity of the frame's origin, m/s, and angular velocity, rad/s, both in the world.
    pub twist: Twist,
}

impl FrameMotion {
    pub(crate) fn is_usable(&self) -> bool {
        self.pose.is_finite()
            && (self.pose.rotation.length() - 1.0).abs() < 1e-6
            && self.twist.linear.is_finite()
            && self.twist.angular.is_finite()
    }

    /// Velocity of a point of the world that moves with the frame, m/s.
    pub fn velocity_at(&self, point: DVec3) -> DVec3 {
        self.twist.linear + self.twist.angular.cross(point - self.pose.translation)
    }

    pub(crate) fn advance(&mut self, h: f64) {
        self.pose.translation += h * self.twist.linear;
        let turn = DQuat::from_scaled_axis(h * self.twist.angular);
        self.pose.rotation = (turn * self.pose.rotation).normalize();
    }
}

/// What the builder collects of it.
#[derive(Clone, Debug, Default)]
pub(super) struct CollisionDef {
    pub colliders: Vec<ColliderDef>,
    pub frames: Vec<(String, Pose)>,
    /// Two bodies, and whether they collide whatever the joints say.
    pub rules: Vec<(BodyId, BodyId, bool)>,
}

/// Colliders, moved frames, and who ignores whom.
#[derive(Clone, Debug, Default)]
pub(crate) struct Collision {
    pub colliders: Vec<Collider>,
    pub frames: Vec<Frame>,
    /// The pieces that colliders are made of, in the order of the colliders.
    pub leaves: Vec<Leaf>,
    /// Which of them do not meet each other.
    pub flock: Flock,
    /// Bodies of higher number that a body passes through, body after body, sorted.
    pub(super) ignored: Vec<BodyId>,
    /// Where those of each body start.
    pub(super) ignored_starts: Vec<u32>,
    /// Of each body, whether a joint holds it.
    pub jointed: Vec<bool>,
}

impl Collision {
    pub(super) fn build(
        def: CollisionDef,
        bodies: &[Body],
        joints: &[Joint],
    ) -> Result<Collision, ModelError> {
        let pairs = ignored_pairs(&def, joints);
        let frames = def.frames.into_iter().map(build_frame);
        let frames = frames.collect::<Result<Vec<_>, _>>()?;
        let mut collision = Collision {
            frames,
            ignored_starts: starts(&pairs, bodies.len()),
            ignored: pairs.into_iter().map(|(_, b)| b).collect(),
            jointed: jointed(bodies.len(), joints),
            ..Collision::default()
        };
        for collider in def.colliders {
            let name = collider.name.clone();
            collision
                .add(collider, bodies)
                .map_err(|source| ModelError::Collider {
                    collider: name,
                    source,
                })?;
        }
        collision.flock = Flock::new(&collision.colliders, &collision.leaves, |body| {
            bodies[body].gravity_scale
        });
        Ok(collision)
    }

    fn add(
        &mut self,
        def: ColliderDef,
        bodies: &[Body],
    ) -> Result<(), crate::contact::ColliderError> {
        def.check(bodies.len(), self.frames.len())?;
        let id = ColliderId::new(self.colliders.len());
        // Bodies move by their principal frames, and so do the leaves on them.
        let carried = match def.carrier {
            Carrier::Body(body) => bodies[body.index()].principal().inverse(),
            _ => Pose::IDENTITY,
        };
        let first = self.leaves.len();
        Leaf::build_all(
            id,
            &def.shape,
            &carried.compose(&def.pose),
            &mut self.leaves,
        )?;
        let size = self.leaves[first..]
            .iter()
            .map(|leaf| leaf.thickness)
            .filter(|size| size.is_finite())
            .fold(f64::INFINITY, f64::min);
        // What stands still needs none: the body it meets brings one.
        let bounded = def.carrier.body().is_some() && size.is_finite();
        let default_margin = if bounded { 0.01 * size } else { 0.0 };
        self.colliders.push(Collider {
            margin: def.margin.unwrap_or(default_margin),
            name: def.name,
            carrier: def.carrier,
            shape: def.shape,
            pose: def.pose,
            surface: def.surface,
            groups: def.groups,
            sensor: def.sensor,
        });
        Ok(())
    }

    /// Whether two bodies pass through each other.
    pub fn ignores(&self, a: BodyId, b: BodyId) -> bool {
        let first = a.min(b).index();
        let (from, to) = (self.ignored_starts[first], self.ignored_starts[first + 1]);
        self.ignored[from as usize..to as usize]
            .binary_search(&a.max(b))
            .is_ok()
    }
}

fn jointed(bodies: usize, joints: &[Joint]) -> Vec<bool> {
    let mut found = vec![false; bodies];
    for end in joints.iter().flat_map(|j| [j.a.endpoint, j.b.endpoint]) {
        if let Some(body) = end.index() {
            found[body] = true;
        }
    }
    found
}

fn build_frame((name, pose): (String, Pose)) -> Result<Frame, ModelError> {
    let initial_pose = pose;
    let frame = Frame { name, initial_pose };
    if frame.at_rest().is_usable() {
        return Ok(frame);
    }
    Err(ModelError::Frame {
        frame: frame.name,
        reason: "its pose must be finite, with a quaternion of unit length".into(),
    })
}

/// Jointed neighbours, except where a rule says otherwise; the last rule on a pair counts.
fn ignored_pairs(def: &CollisionDef, joints: &[Joint]) -> Vec<(BodyId, BodyId)> {
    let mut rules: Vec<(BodyId, BodyId, bool)> = joints
        .iter()
        .filter_map(|joint| match (joint.a.endpoint, joint.b.endpoint) {
            (Endpoint::Body(a), Endpoint::Body(b)) => Some((a, b, false)),
            _ => None,
        })
        .chain(def.rules.iter().copied())
        .map(|(a, b, collide)| (a.min(b), a.max(b), collide))
        .collect();
    // A stable sort keeps the order of the rules on one pair.
    rules.sort_by_key(|&(a, b, _)| (a, b));
    rules
        .chunk_by(|p, q| (p.0, p.1) == (q.0, q.1))
        .filter_map(|same| match same.last() {
            Some(&(a, b, false)) => Some((a, b)),
            _ => None,
        })
        .collect()
}

/// Where the pairs of each body start, and where the last ones end.
fn starts(pairs: &[(BodyId, BodyId)], bodies: usize) -> Vec<u32> {
    let before = |body: usize| pairs.partition_point(|pair| pair.0.index() < body) as u32;
    (0..=bodies).map(before).collect()
}

impl Model {
    /// The colliders, in the order they were added.
    pub fn colliders(&self) -> &[Collider] {
        &self.collision.colliders
    }

    /// One collider.
    pub fn collider(&self, id: ColliderId) -> &Collider {
        &self.collision.colliders[id.index()]
    }

    /// The ids of all colliders.
    pub fn collider_ids(&self) -> impl ExactSizeIterator<Item = ColliderId> + use<> {
        (0..self.collision.colliders.len()).map(ColliderId::new)
    }

    /// The collider of this name.
    pub fn find_collider(&self, name: &str) -> Option<ColliderId> {
        let mut all = self.collision.colliders.iter();
        all.position(|c| c.name == name).map(ColliderId::new)
    }

    /// The frames that the user moves, in the order they were added.
    pub fn frames(&self) -> &[Frame] {
        &self.collision.frames
    }

    /// The moved frame of this name.
    pub fn find_frame(&self, name: &str) -> Option<FrameId> {
        let mut all = self.collision.frames.iter();
        all.position(|f| f.name == name).map(FrameId::new)
    }
}
