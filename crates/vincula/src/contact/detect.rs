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
//! the one that matters. Of many points few are kept (`reduce.rs`), and of those about as good the ones
//! that pushed in the last step, which the state remembers.

use std::cmp::Ordering;

use glam::DVec3;

use super::boxes::Axis;
use super::collide::{Form, Narrow, Placed, Touch, stays_apart};
use super::memory::{Memory, Remembered};
use super::placing::{Motion, Placing, Proxy};
use super::plane::{lowest, over, touch_plane};
use super::reduce::{Keep, reduce};
use super::{Collider, ContactPoint, Contacts, Leaf};
use crate::model::{BodyId, ColliderId, Control, Model, State};

/// How far, of its thickness, a pair may turn in a step and still do with four points.
const TURNS: f64 = 0.02;

/// Points of a pair that are all kept.
const FEW: usize = 4;

/// Memory of detection.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    narrow: Narrow,
    at: Placing,
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
    scratch.at.place_leaves(model, state, control, h);
    scratch.find_pairs(model, sleeps);
    for k in 0..scratch.pairs.len() {
        let pair = scratch.pairs[k];
        scratch.touch_pair(model, pair, h, &state.contacts, contacts);
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
    fn find_pairs(&mut self, model: &Model, sleeps: &dyn Fn(BodyId) -> bool) {
        let still = |proxy: &Proxy| !proxy.turns && proxy.motion == DVec3::ZERO;
        let (pairs, bounds) = (&mut self.pairs, &self.at.bounds);
        pairs.clear();
        let mut visit = |i: u32, j: u32| {
            if may_touch(
                model,
                i,
                j,
                sleeps,
                [i, j].map(|k| still(&self.at.proxies[k as usize])),
            ) {
                pairs.push((i, j));
            }
        };
        self.at.others.pairs(&mut visit);
        // Those of a flock meet only others.
        for &i in &self.at.placed[self.at.apart..] {
            let others = &self.at.others;
            others.pairs_of(i, &bounds[i as usize], &mut visit);
        }
        for &i in &self.at.unbounded {
            for &j in &self.at.placed {
                let below = !bounds[j as usize].is_finite();
                let near = || over(&self.at.proxies[i as usize], &bounds[j as usize]);
                if !below
                    && near()
                    && may_touch(
                        model,
                        i.min(j),
                        i.max(j),
                        sleeps,
                        [i.min(j), i.max(j)].map(|k| still(&self.at.proxies[k as usize])),
                    )
                {
                    pairs.push((i.min(j), i.max(j)));
                }
            }
        }
        pairs.sort_unstable();
    }

    fn touch_pair(
        &mut self,
        model: &Model,
        (i, j): (u32, u32),
        h: f64,
        memory: &Memory,
        contacts: &mut Contacts,
    ) {
        let leaves = [i, j].map(|k| &model.collision.leaves[k as usize]);
        let Scratch {
            narrow,
            at,
            touches,
            ..
        } = self;
        let proxies = [i, j].map(|k| &at.proxies[k as usize]);
        let colliders = leaves.map(|leaf| model.collider(leaf.collider));
        if colliders.iter().any(|c| c.sensor) {
            if overlap(narrow, leaves, proxies) {
                contacts.sensed.push(leaves.map(|leaf| leaf.collider));
            }
            return;
        }
        touches.clear();
        let pushed = memory.of_pair(leaves.map(|leaf| leaf.collider));
        narrow.last = match leaves.iter().all(|leaf| leaf.form.is_box()) {
            true => Axis::of_names(pushed.iter().map(|e| e.key.2 ^ sub_pair(leaves))),
            false => None,
        };
        let motions = colliders.map(|c| at.motion(c.carrier));
        find_touches(narrow, leaves, proxies, touches);
        look_ahead(motions, h, touches);
        let thickness = leaves[0].thickness.min(leaves[1].thickness);
        let margin = proxies[0].margin + proxies[1].margin;
        keep_reachable(touches, margin, thickness);
        let turns = proxies[0].turn + proxies[1].turn > TURNS * thickness;
        let held = |body: BodyId| model.collision.jointed[body.index()];
        let jointed = colliders.iter().any(|c| c.carrier.body().is_some_and(held));
        let keep = match (turns, jointed) {
            (true, _) => Keep::Corners,
            (false, false) => Keep::Steady,
            (false, true) => Keep::Few,
        };
        let same = 1e-3 * thickness;
        if touches.len() > FEW {
            let body = colliders[0].carrier.body();
            let place = |at: DVec3| anchor_and_velocity(body, motions[0], at).0;
            mark_known(touches, pushed, sub_pair(leaves), place, same);
        }
        reduce(touches, 0, same, keep);
        let first = contacts.points.len();
        for (k, touch) in touches.iter().enumerate() {
            let number = distinguish(&touches[..k], touch.feature);
            let feature = touch.feature.wrapping_add(number) ^ sub_pair(leaves);
            let touch = Touch { feature, ..*touch };
            contacts
                .points
                .push(contact_point(&touch, leaves, colliders, motions));
        }
        // The sort of all points has little to do where those of a pair are in order.
        contacts.points[first..].sort_unstable_by(by_name);
    }
}

fn overlap(narrow: &Narrow, leaves: [&Leaf; 2], proxies: [&Proxy; 2]) -> bool {
    let placed = [0, 1].map(|s| Placed {
        form: &leaves[s].form,
        pose: proxies[s].pose,
        axes: &proxies[s].axes,
        turn: proxies[s].spin,
    });
    match (placed[0].form, placed[1].form) {
        (Form::HalfSpace, _) => lowest(placed[0].pose, placed[1]) <= 0.0,
        (_, Form::HalfSpace) => lowest(placed[1].pose, placed[0]) <= 0.0,
        _ => narrow.overlap(placed[0], placed[1]),
    }
}

/// The points of a pair within reach, at the start of the step.
fn find_touches(
    narrow: &mut Narrow,
    leaves: [&Leaf; 2],
    proxies: [&Proxy; 2],
    touches: &mut Vec<Touch>,
) {
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
            touch_plane(placed[0].pose, placed[1], reach, false, touches);
        }
        (_, Form::HalfSpace) => {
            touch_plane(placed[1].pose, placed[0], reach, true, touches);
        }
        _ => {
            let thickness = leaves[0].thickness.min(leaves[1].thickness);
            let distance = margin.max(1e-3 * thickness);
            let [one, two] = placed;
            let apart = narrow.touch(one, two, reach, touches);
            let moves = |part: f64| motion.length() > part * thickness;
            // What moves far may be at other points when it gets there, unless it is there.
            let ahead = match touches.is_empty() {
                true => moves(0.5) || (!apart && moves(0.005)),
                false => moves(0.5) && touches.iter().all(|t| t.gap > 0.5 * distance),
            };
            if ahead {
                touch_ahead(narrow, placed, motion, [distance, reach], touches);
            }
        }
    }
}

/// The points of a pair at the pose of impact, or those at the start, which are known, if there is none.
fn touch_ahead(
    narrow: &mut Narrow,
    [one, two]: [Placed; 2],
    motion: DVec3,
    [distance, reach]: [f64; 2],
    touches: &mut Vec<Touch>,
) {
    let near = 0.5 * distance;
    let between = |touch: &Touch| stays_apart([&one, &two], touch.normal, motion, near);
    if touches.iter().any(between) {
        return;
    }
    let Some(time) = narrow.cast(one, two, motion, near) else {
        return;
    };
    touches.clear();
    let shift = time * motion;
    let mut there = two;
    there.pose.translation += shift;
    // What follows the first point in the rest of the step counts too.
    let rest = distance.max(reach - shift.length());
    narrow.touch(one, there, rest, touches);
    for touch in touches.iter_mut() {
        touch.second -= shift;
        touch.gap = touch.normal.dot(touch.second - touch.first);
    }
    // They are apart now. What lies behind a plane beside the edge of its face, and comes out
    // on the way, is not inside.
    touches.retain(|touch| touch.gap >= 0.0);
    if touches.is_empty() {
        narrow.touch(one, two, reach, touches);
    }
}

/// The gaps to be expected at the end of the step.
fn look_ahead(motions: [&Motion; 2], h: f64, touches: &mut [Touch]) {
    for touch in touches.iter_mut() {
        let first = motions[0].velocity_at(touch.first);
        let second = motions[1].velocity_at(touch.second);
        touch.ahead = touch.gap + h * touch.normal.dot(second - first);
    }
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

/// Drops points that will still be far when the deepest one is well inside.
fn keep_reachable(touches: &mut Vec<Touch>, margin: f64, thickness: f64) {
    let deepest = touches.iter().fold(f64::INFINITY, |g, t| g.min(t.ahead));
    let limit = margin.max(deepest + 0.5 * thickness);
    touches.retain(|touch| touch.ahead <= limit);
}

/// Marks the points that pushed in the last step: those of the same name, and where none has it the nearest
/// one that is closer than `same`, m. `place` says where a point is on the first body.
fn mark_known(
    touches: &mut [Touch],
    pushed: &[Remembered],
    parts: u64,
    place: impl Fn(DVec3) -> DVec3,
    same: f64,
) {
    for past in pushed {
        let named = touches.iter().position(|t| t.feature ^ parts == past.key.2);
        let away = |touch: &Touch| place(touch.first).distance(past.anchor.into());
        let near = || {
            let all = touches.iter().map(away).enumerate();
            let nearest = all.min_by(|p, q| p.1.total_cmp(&q.1));
            nearest.filter(|(_, away)| *away <= same).map(|(k, _)| k)
        };
        if let Some(k) = named.or_else(near) {
            touches[k].known = true;
        }
    }
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
    motions: [&Motion; 2],
) -> ContactPoint {
    let bodies = colliders.map(|c| c.carrier.body());
    let first = anchor_and_velocity(bodies[0], motions[0], touch.first);
    let second = anchor_and_velocity(bodies[1], motions[1], touch.second);
    let round = [
        roundness(leaves[0], motions[0], touch.normal),
        roundness(leaves[1], motions[1], -touch.normal),
    ];
    let surface = colliders[0].surface.combined(&colliders[1].surface);
    let ids: [ColliderId; 2] = leaves.map(|leaf| leaf.collider);
    ContactPoint {
        a: bodies[0],
        b: bodies[1],
        collider_a: ids[0],
        collider_b: ids[1],
        anchor_a: first.0.to_array(),
        anchor_b: second.0.to_array(),
        normal: touch.normal.to_array(),
        gap: touch.gap,
        surface_velocity: (second.1 - first.1).to_array(),
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

/// Where a point is on a body; or where it is, and how fast it is carried.
#[inline(always)]
fn anchor_and_velocity(body: Option<BodyId>, motion: &Motion, point: DVec3) -> (DVec3, DVec3) {
    match body {
        Some(_) => (motion.material(point), DVec3::ZERO),
        None => (point, motion.velocity_at(point)),
    }
}

/// Radius of curvature of a leaf where its outward normal is `outward`, m.
#[inline(always)]
fn roundness(leaf: &Leaf, motion: &Motion, outward: DVec3) -> f64 {
    if !leaf.form.is_round() {
        return 0.0;
    }
    let turn = motion.pose.rotation * leaf.pose.rotation;
    leaf.form.roundness(turn.inverse() * outward)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn touch(feature: u64, x: f64) -> Touch {
        Touch {
            first: DVec3::X * x,
            second: DVec3::X * x,
            normal: DVec3::Z,
            gap: 0.0,
            ahead: 0.0,
            feature,
            known: false,
        }
    }

    fn pushed(feature: u64, x: f64) -> Remembered {
        Remembered {
            key: (ColliderId::new(0), ColliderId::new(1), feature),
            anchor: [x, 0.0, 0.0],
            first: [[1.0; 3]; 2],
            total: [[1.0; 3]; 2],
        }
    }

    #[test]
    fn a_point_is_known_by_its_name_and_else_by_its_place() {
        let mut touches = [touch(1, 0.0), touch(2, 0.01), touch(3, 1.0), touch(4, 2.0)];
        // The first is named, though the second is nearer; the others have lost their names.
        let past = [pushed(1, 0.01), pushed(8, 1.05), pushed(9, 2.5)];
        mark_known(&mut touches, &past, 0, |at| at, 0.1);
        assert_eq!(touches.map(|t| t.known), [true, false, true, false]);
    }
}
