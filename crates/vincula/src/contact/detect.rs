//! Detection, top to bottom: place the pieces, find close pairs, find their points.
//!
//! A pair is looked at when the boxes swept by the motion of the step overlap. Its points are
//! kept up to the distance
//!
//! ```text
//! reach = margins + |d_b − d_a| + h (|ω_a| r_a + |ω_b| r_b),   d = h v + h² g
//! ```
//!
//! that the motion can close within the step. A pair that moves farther than it is thick is
//! cast along its motion, and its points are those of the pose of impact: the normal there is
//! the one that matters.

use std::cmp::Ordering;

use glam::{DMat3, DQuat, DVec3};

use super::bounds::Bounds;
use super::broad::Broad;
use super::collide::{Form, Narrow, Placed, Touch};
use super::reduce::{Keep, reduce};
use super::{Carrier, Collider, ContactPoint, Contacts, Leaf};
use crate::math::lanes::{gather, place};
use crate::math::small::{M3, V3};
use crate::math::{to_mat, to_vec};
use crate::model::{BodyId, ColliderId, Control, Model, Pose, State};

/// How far, of its thickness, a pair may turn in a step and still do with four points.
const TURNS: f64 = 0.02;

/// How the carrier of a leaf moves in the step.
#[derive(Clone, Copy, Debug)]
struct Motion {
    /// Frame of the carrier: principal rotation and centre of a body.
    pose: Pose,
    /// Velocity of the origin, m/s, with gravity's share of the step.
    velocity: DVec3,
    /// Rate of the map, 1/s.
    rate: DMat3,
    /// Angular speed, rad/s.
    spin: f64,
}

/// A leaf where it is now.
#[derive(Clone, Copy, Debug)]
struct Proxy {
    pose: Pose,
    /// Its rotation as a matrix.
    axes: DMat3,
    /// Where its middle goes in the step, m.
    motion: DVec3,
    /// How far its farthest point moves relative to its middle, m.
    turn: f64,
    margin: f64,
    /// Whether its carrier turns at all.
    turns: bool,
    /// How it is expected to turn in the step, rad. Joints may have another opinion on that, so it
    /// is none for what they hold.
    spin: DVec3,
}

/// Memory of detection.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    narrow: Narrow,
    broad: Broad,
    bodies: Vec<Motion>,
    frames: Vec<Motion>,
    /// Of each leaf, if it is one of those that are `placed`.
    proxies: Vec<Proxy>,
    bounds: Vec<Bounds>,
    placed: Vec<u32>,
    /// The body whose motion was found last.
    latest: Option<BodyId>,
    unbounded: Vec<u32>,
    /// What leaves that pass through each other may meet.
    others: Broad,
    pairs: Vec<(u32, u32)>,
    touches: Vec<Touch>,
}

/// Finds the points where colliders touch, or may touch before a step of h seconds ends.
pub fn detect(model: &Model, state: &State, control: &Control, h: f64, contacts: &mut Contacts) {
    detect_but(model, state, control, h, &|_| false, contacts);
}

/// The same without pairs of which neither moves: sleeping bodies, and what is no body.
pub(crate) fn detect_but(
    model: &Model,
    state: &State,
    control: &Control,
    h: f64,
    sleeps: &dyn Fn(BodyId) -> bool,
    contacts: &mut Contacts,
) {
    contacts.points.clear();
    contacts.sensed.clear();
    if model.collision.leaves.is_empty() {
        return;
    }
    let mut scratch = std::mem::take(&mut contacts.scratch);
    scratch.place_leaves(model, state, control, h);
    scratch.find_pairs(model, sleeps);
    for k in 0..scratch.pairs.len() {
        let pair = scratch.pairs[k];
        scratch.touch_pair(model, pair, h, contacts);
    }
    contacts.scratch = scratch;
    // A stable sort would need memory; the gap decides between points of the same name.
    contacts.points.sort_unstable_by(by_name);
    contacts.sensed.sort_unstable();
    contacts.sensed.dedup();
}

/// The order of points: by pair, then by feature.
fn by_name(p: &ContactPoint, q: &ContactPoint) -> Ordering {
    let key = |c: &ContactPoint| (c.collider_a, c.collider_b, c.feature);
    key(p).cmp(&key(q)).then(p.gap.total_cmp(&q.gap))
}

impl Scratch {
    /// Places all leaves that may touch something.
    fn place_leaves(&mut self, model: &Model, state: &State, control: &Control, h: f64) {
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
        for k in 0..self.placed.len() {
            self.place_leaf(self.placed[k], model, state, h);
        }
        let Scratch {
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
        for k in flock.others.len()..self.placed.len() {
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
        let mut proxy = place_leaf(leaf, &motion, collider.margin, h);
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

    fn motion(&self, carrier: Carrier) -> Motion {
        match carrier {
            Carrier::World => Motion::STILL,
            Carrier::Body(id) => self.bodies[id.index()],
            Carrier::Frame(id) => self.frames[id.index()],
        }
    }

    fn find_pairs(&mut self, model: &Model, sleeps: &dyn Fn(BodyId) -> bool) {
        let still = |proxy: &Proxy| !proxy.turns && proxy.motion == DVec3::ZERO;
        let (pairs, bounds) = (&mut self.pairs, &self.bounds);
        pairs.clear();
        self.broad.pairs(bounds, &self.placed, |i, j| {
            if may_touch(
                model,
                i,
                j,
                sleeps,
                [i, j].map(|k| still(&self.proxies[k as usize])),
            ) {
                pairs.push((i, j));
            }
        });
        for &i in &self.unbounded {
            for &j in &self.placed {
                let below = !bounds[j as usize].is_finite();
                let near = || over(&self.proxies[i as usize], &bounds[j as usize]);
                if !below
                    && near()
                    && may_touch(
                        model,
                        i.min(j),
                        i.max(j),
                        sleeps,
                        [i.min(j), i.max(j)].map(|k| still(&self.proxies[k as usize])),
                    )
                {
                    pairs.push((i.min(j), i.max(j)));
                }
            }
        }
        pairs.sort_unstable();
    }

    fn touch_pair(&mut self, model: &Model, (i, j): (u32, u32), h: f64, contacts: &mut Contacts) {
        let leaves = [i, j].map(|k| &model.collision.leaves[k as usize]);
        let proxies = [i, j].map(|k| self.proxies[k as usize]);
        let colliders = leaves.map(|leaf| model.collider(leaf.collider));
        if colliders.iter().any(|c| c.sensor) {
            if self.overlap(leaves, &proxies) {
                contacts.sensed.push(leaves.map(|leaf| leaf.collider));
            }
            return;
        }
        self.touches.clear();
        let motions = colliders.map(|c| self.motion(c.carrier));
        self.find_touches(leaves, &proxies);
        self.look_ahead(&motions, h);
        let thickness = leaves[0].thickness.min(leaves[1].thickness);
        let margin = proxies[0].margin + proxies[1].margin;
        keep_reachable(&mut self.touches, margin, thickness);
        let turns = proxies[0].turn + proxies[1].turn > TURNS * thickness;
        let keep = if turns { Keep::Corners } else { Keep::Few };
        reduce(&mut self.touches, 0, 1e-3 * thickness, keep);
        let first = contacts.points.len();
        for k in 0..self.touches.len() {
            let touch = self.touches[k];
            let number = distinguish(&self.touches[..k], touch.feature);
            let feature = touch.feature.wrapping_add(number) ^ sub_pair(leaves);
            let touch = Touch { feature, ..touch };
            contacts
                .points
                .push(contact_point(&touch, leaves, colliders, &motions));
        }
        // The sort of all points has little to do where those of a pair are in order.
        contacts.points[first..].sort_unstable_by(by_name);
    }

    fn overlap(&self, leaves: [&Leaf; 2], proxies: &[Proxy; 2]) -> bool {
        let placed = [0, 1].map(|s| Placed {
            form: &leaves[s].form,
            pose: proxies[s].pose,
            axes: &proxies[s].axes,
            turn: proxies[s].spin,
        });
        match (placed[0].form, placed[1].form) {
            (Form::HalfSpace, _) => lowest(placed[0].pose, placed[1]) <= 0.0,
            (_, Form::HalfSpace) => lowest(placed[1].pose, placed[0]) <= 0.0,
            _ => self.narrow.overlap(placed[0], placed[1]),
        }
    }

    /// The points of a pair within reach, at the start of the step.
    fn find_touches(&mut self, leaves: [&Leaf; 2], proxies: &[Proxy; 2]) {
        let placed = [0, 1].map(|s| Placed {
            form: &leaves[s].form,
            pose: proxies[s].pose,
            axes: &proxies[s].axes,
            turn: proxies[s].spin,
        });
        let motion = proxies[1].motion - proxies[0].motion;
        let margin = proxies[0].margin + proxies[1].margin;
        let reach = margin + motion.length() + proxies[0].turn + proxies[1].turn;
        match (placed[0].form, placed[1].form) {
            (Form::HalfSpace, _) => {
                touch_plane(placed[0].pose, placed[1], reach, false, &mut self.touches);
            }
            (_, Form::HalfSpace) => {
                touch_plane(placed[1].pose, placed[0], reach, true, &mut self.touches);
            }
            _ => {
                let thickness = leaves[0].thickness.min(leaves[1].thickness);
                let mut apart = false;
                if motion.length() <= 0.5 * thickness {
                    let [one, two] = placed;
                    apart = self.narrow.touch(one, two, reach, &mut self.touches);
                }
                if !apart && self.touches.is_empty() && motion.length() > 0.005 * thickness {
                    self.touch_ahead(placed, motion, margin.max(1e-3 * thickness), reach);
                }
            }
        }
    }

    /// The points of a pair at the pose of impact, or at the start when they already touch.
    fn touch_ahead(&mut self, [one, two]: [Placed; 2], motion: DVec3, distance: f64, reach: f64) {
        let Some(time) = self.narrow.cast(one, two, motion, 0.5 * distance) else {
            self.narrow.touch(one, two, reach, &mut self.touches);
            return;
        };
        let shift = time * motion;
        let mut there = two;
        there.pose.translation += shift;
        // What follows the first point in the rest of the step counts too.
        let rest = distance.max(reach - shift.length());
        self.narrow.touch(one, there, rest, &mut self.touches);
        for touch in &mut self.touches {
            touch.second -= shift;
            touch.gap = touch.normal.dot(touch.second - touch.first);
        }
        // They are apart now. What lies behind a plane beside the edge of its face, and comes out
        // on the way, is not inside.
        self.touches.retain(|touch| touch.gap >= 0.0);
        if self.touches.is_empty() {
            self.narrow.touch(one, two, reach, &mut self.touches);
        }
    }

    /// The gaps to be expected at the end of the step.
    fn look_ahead(&mut self, motions: &[Motion; 2], h: f64) {
        for touch in &mut self.touches {
            let points = [touch.first, touch.second];
            let velocity = [0, 1].map(|s| motions[s].velocity_at(points[s]));
            touch.ahead = touch.gap + h * touch.normal.dot(velocity[1] - velocity[0]);
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
    fn material(&self, point: DVec3) -> DVec3 {
        self.pose.rotation.inverse() * (point - self.pose.translation)
    }

    /// Angular velocity, rad/s: the skew part of the rate.
    fn angular(&self) -> DVec3 {
        let w = self.rate * DMat3::from_quat(self.pose.rotation).transpose();
        0.5 * DVec3::new(
            w.y_axis.z - w.z_axis.y,
            w.z_axis.x - w.x_axis.z,
            w.x_axis.y - w.y_axis.x,
        )
    }

    fn velocity_at(&self, point: DVec3) -> DVec3 {
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

/// Whether the colliders of two leaves meet at all.
fn may_touch(
    model: &Model,
    i: u32,
    j: u32,
    sleeps: &dyn Fn(BodyId) -> bool,
    still: [bool; 2],
) -> bool {
    let leaves = [i, j].map(|k| &model.collision.leaves[k as usize]);
    let [a, b] = leaves.map(|leaf| model.collider(leaf.collider));
    if a.carrier == b.carrier || !a.groups.meets(b.groups) {
        return false;
    }
    // What is no body sleeps while it stands still.
    let asleep = |c: &Collider, still: bool| c.carrier.body().map_or(still, sleeps);
    if asleep(a, still[0]) && asleep(b, still[1]) {
        return false;
    }
    match (a.carrier.body(), b.carrier.body()) {
        (None, None) => false,
        (Some(one), Some(two)) => !model.collision.ignores(one, two),
        _ => true,
    }
}

/// Whether a box reaches below a plane, or the plane may reach it in the step.
fn over(plane: &Proxy, bounds: &Bounds) -> bool {
    let up = plane.pose.rotation * DVec3::Z;
    let middle = 0.5 * (bounds.low + bounds.high);
    let reach = (0.5 * (bounds.high - bounds.low)).dot(up.abs());
    let far = up.dot(middle - plane.pose.translation);
    // A plane that turns may come from anywhere.
    plane.turns || far <= reach + plane.margin + plane.motion.length()
}

/// Height of the lowest point of a form over a plane, m.
fn lowest(plane: Pose, other: Placed) -> f64 {
    let up = plane.rotation * DVec3::Z;
    let mut low = f64::INFINITY;
    let own_up = other.pose.rotation.inverse() * up;
    other.form.low_points(own_up, DVec3::ZERO, &mut |point, _| {
        low = low.min(up.dot(other.pose.point(point) - plane.translation));
    });
    low
}

/// The points of a form over a half-space.
fn touch_plane(plane: Pose, other: Placed, reach: f64, flipped: bool, out: &mut Vec<Touch>) {
    let up = plane.rotation * DVec3::Z;
    let own_up = other.pose.rotation.inverse() * up;
    let own_turn = other.pose.rotation.inverse() * other.turn;
    other
        .form
        .low_points(own_up, own_turn, &mut |point, number| {
            let above = other.pose.point(point);
            let gap = up.dot(above - plane.translation);
            if gap > reach {
                return;
            }
            let below = above - gap * up;
            let (first, second, normal) = if flipped {
                (above, below, -up)
            } else {
                (below, above, up)
            };
            out.push(Touch {
                first,
                second,
                normal,
                gap,
                ahead: gap,
                feature: u64::from(number),
            });
        });
}

/// Drops points that will still be far when the deepest one is well inside.
fn keep_reachable(touches: &mut Vec<Touch>, margin: f64, thickness: f64) {
    let deepest = touches.iter().fold(f64::INFINITY, |g, t| g.min(t.ahead));
    let limit = margin.max(deepest + 0.5 * thickness);
    touches.retain(|touch| touch.ahead <= limit);
}

/// How many earlier points of the pair have the same number.
fn distinguish(earlier: &[Touch], feature: u64) -> u64 {
    earlier.iter().filter(|t| t.feature == feature).count() as u64
}

/// Tells pairs of leaves of the same two colliders apart; zero for simple colliders.
fn sub_pair(leaves: [&Leaf; 2]) -> u64 {
    (u64::from(leaves[0].part) << 8 ^ u64::from(leaves[1].part)) << 48
}

fn contact_point(
    touch: &Touch,
    leaves: [&Leaf; 2],
    colliders: [&Collider; 2],
    motions: &[Motion; 2],
) -> ContactPoint {
    let bodies = colliders.map(|c| c.carrier.body());
    let points = [touch.first, touch.second];
    let anchors = [0, 1].map(|s| match bodies[s] {
        Some(_) => motions[s].material(points[s]),
        None => points[s],
    });
    let moved = [0, 1].map(|s| match bodies[s] {
        Some(_) => DVec3::ZERO,
        None => motions[s].velocity_at(points[s]),
    });
    let round = [(0, 1.0), (1, -1.0)].map(|(s, sign): (usize, f64)| {
        let turn = motions[s].pose.rotation * leaves[s].pose.rotation;
        leaves[s]
            .form
            .roundness(turn.inverse() * (sign * touch.normal))
    });
    let surface = colliders[0].surface.combined(&colliders[1].surface);
    let ids: [ColliderId; 2] = leaves.map(|leaf| leaf.collider);
    ContactPoint {
        a: bodies[0],
        b: bodies[1],
        collider_a: ids[0],
        collider_b: ids[1],
        anchor_a: anchors[0].to_array(),
        anchor_b: anchors[1].to_array(),
        normal: touch.normal.to_array(),
        gap: touch.gap,
        surface_velocity: (moved[1] - moved[0]).to_array(),
        round_a: round[0],
        round_b: round[1],
        feature: touch.feature,
        friction: surface.friction,
        restitution: surface.restitution,
        rolling: surface.rolling,
        torsional: surface.torsional,
        compliance: surface.compliance,
    }
}
