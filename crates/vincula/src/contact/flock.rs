//! Leaves that pass through each other, such as the links of a chain: most of them are far from
//! whatever they could meet, and are left out of detection a block of bodies at a time.
//!
//! A flock is the largest set of leaves on bodies with the same groups that do not meet these groups.
//! For each block of eight bodies the box around the spheres of its leaves is swept by the motion of
//! the step. It holds the exact boxes of all these leaves, so that where it meets none of the others,
//! none of them does.

use glam::DVec3;

use super::bounds::Bounds;
use super::{Collider, Groups, Leaf};
use crate::kernel;
use crate::math::ahead::fetch;
use crate::math::dispatch::{Level, detected};
use crate::math::lanes::{LANES, Lane, largest, place};
use crate::model::StateBlock;

/// Leaves from which on a flock is worth being looked at on its own.
const WORTH: usize = 64;

/// How many blocks ahead memory is asked for: looking at one takes no time.
const AHEAD: usize = 4;

/// Leaves of the flock on the bodies of one block.
#[derive(Clone, Debug)]
struct Herd {
    block: u32,
    /// Whether each lane has any.
    lanes: [bool; LANES],
    /// Where they are among the leaves of the flock.
    leaves: [u32; 2],
    /// From the centre of a body to the farthest point of its leaves with their margin, m, at most.
    reach: f64,
    /// Largest factor of gravity.
    gravity: f64,
}

/// Which leaves make the flock, and which are the others.
#[derive(Clone, Debug, Default)]
pub(crate) struct Flock {
    herds: Vec<Herd>,
    leaves: Vec<u32>,
    /// All other leaves, ascending.
    pub others: Vec<u32>,
}

impl Flock {
    /// Finds the flock, if there is one. `gravity` gives the factor of gravity of a body.
    pub fn new(colliders: &[Collider], leaves: &[Leaf], gravity: impl Fn(usize) -> f64) -> Flock {
        let collider = |leaf: &Leaf| &colliders[leaf.collider.index()];
        let body = |leaf: &Leaf| {
            let carrier = collider(leaf).carrier.body();
            carrier.filter(|_| leaf.radius.is_finite())
        };
        let mut kinds: Vec<(Groups, usize)> = Vec::new();
        for leaf in leaves.iter().filter(|leaf| body(leaf).is_some()) {
            let groups = collider(leaf).groups;
            match kinds.iter_mut().find(|kind| kind.0 == groups) {
                Some(kind) => kind.1 += 1,
                None => kinds.push((groups, 1)),
            }
        }
        let apart = kinds.iter().filter(|kind| !kind.0.meets(kind.0));
        let chosen = apart.max_by_key(|kind| kind.1);
        let chosen = chosen.filter(|kind| kind.1 >= WORTH).map(|kind| kind.0);
        let mut flock = Flock::default();
        let mut members = Vec::new();
        for (index, leaf) in leaves.iter().enumerate() {
            match body(leaf).filter(|_| Some(collider(leaf).groups) == chosen) {
                Some(body) => members.push((body.index(), index as u32)),
                None => flock.others.push(index as u32),
            }
        }
        members.sort_unstable();
        for (body, index) in members {
            let leaf = &leaves[index as usize];
            let (block, lane) = place(body);
            let at = flock.leaves.len() as u32;
            if flock.herds.last().is_none_or(|h| h.block != block as u32) {
                flock.herds.push(Herd {
                    block: block as u32,
                    lanes: [false; LANES],
                    leaves: [at; 2],
                    reach: 0.0,
                    gravity: 0.0,
                });
            }
            flock.leaves.push(index);
            if let Some(herd) = flock.herds.last_mut() {
                let reach = leaf.center.length() + leaf.radius + collider(leaf).margin;
                herd.lanes[lane] = true;
                herd.leaves[1] = at + 1;
                herd.reach = herd.reach.max(reach);
                herd.gravity = herd.gravity.max(gravity(body).abs());
            }
        }
        flock
    }

    /// Calls `visit` with the leaves of each block of bodies whose box in a step of h seconds is
    /// `near`.
    pub fn each_near(
        &self,
        blocks: &[StateBlock],
        gravity: DVec3,
        h: f64,
        near: impl Fn(&Bounds) -> bool,
        mut visit: impl FnMut(u32),
    ) {
        let level = detected();
        for herd in &self.herds {
            fetch(blocks, herd.block as usize + AHEAD, [0, 1]);
            if near(&herd.bounds(level, &blocks[herd.block as usize], gravity, h)) {
                let [first, end] = herd.leaves;
                self.leaves[first as usize..end as usize]
                    .iter()
                    .for_each(|leaf| visit(*leaf));
            }
        }
    }
}

impl Herd {
    /// The box of all its leaves in the step.
    fn bounds(&self, level: Level, block: &StateBlock, gravity: DVec3, h: f64) -> Bounds {
        let mut ends = [[0.0; 2]; 3];
        let fastest = enclose(level, block, &self.lanes, h, &mut ends);
        let (low, high) = (ends.map(|end| end[0]), ends.map(|end| end[1]));
        let fall = h * h * self.gravity * gravity.length();
        // A hair for rounding.
        let grown = (1.0 + 1e-9) * (self.reach * (1.0 + 2.0 * h * fastest.sqrt()) + fall);
        Bounds {
            low: DVec3::from_array(low) - DVec3::splat(grown),
            high: DVec3::from_array(high) + DVec3::splat(grown),
        }
    }
}

kernel! {
    /// Where the centres of some bodies of a block are in a step of h seconds: the least and the largest
    /// coordinate, m. Returns the largest square of a bound of how their maps change, 1/s².
    fn enclose(block: &StateBlock, lanes: &[bool; LANES], h: f64, ends: &mut [[f64; 2]; 3]) -> f64 = enclose_lanes
}

#[inline(always)]
fn enclose_lanes(
    block: &StateBlock,
    lanes: &[bool; LANES],
    h: f64,
    ends: &mut [[f64; 2]; 3],
) -> f64 {
    // How a map of this rate moves a point is bounded by its Frobenius norm.
    let mut squares: Lane = [0.0; LANES];
    for row in &block.w {
        for (sum, x) in squares.iter_mut().zip(row) {
            *sum += x * x;
        }
    }
    // Of a lane without a leaf nothing is seen.
    let present = |x: f64, lane: usize, other: f64| if lanes[lane] { x } else { other };
    let squares = std::array::from_fn(|lane| present(squares[lane], lane, 0.0));
    for (k, ends) in ends.iter_mut().enumerate() {
        let (mut low, mut high) = ([0.0; LANES], [0.0; LANES]);
        for lane in 0..LANES {
            let from = block.t[k][lane];
            let to = from + h * block.v[k][lane];
            let (least, most) = if from < to { (from, to) } else { (to, from) };
            low[lane] = present(least, lane, f64::INFINITY);
            high[lane] = present(most, lane, f64::NEG_INFINITY);
        }
        *ends = [-largest(&low.map(|x| -x)), largest(&high)];
    }
    largest(&squares)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contact::{Contacts, detect};
    use crate::math::numbers::Numbers;
    use crate::prelude::*;

    /// Links that meet boxes and a floor but not each other, all of one group or of many.
    fn world(groups: usize) -> Model {
        let (mut builder, mut numbers) = (ModelBuilder::new(), Numbers(11));
        for k in 0..310 {
            let link = k % 31 != 0;
            let shape = match link {
                true => Shape::Capsule {
                    radius: 0.02,
                    half_length: 0.05,
                },
                false => Shape::Box {
                    half_extents: DVec3::splat(0.2),
                },
            };
            let at = 1.5 * numbers.vector();
            let name = format!("body-{k}");
            let body = builder.body(BodyDef::new(&name, shape.clone(), 1000.0).at(at));
            let member = if link { 2 << (k % groups) } else { 1 };
            let mask = if link { 1 } else { !1 };
            builder.collider(ColliderDef::new(name, body, shape).groups(member, mask));
        }
        let normal = DVec3::Z;
        let floor = ColliderDef::new("floor", World, ColliderShape::HalfSpace { normal })
            .at(DVec3::NEG_Z)
            .groups(1, !1);
        builder.collider(floor);
        builder.build().unwrap()
    }

    #[test]
    fn nothing_that_touches_is_left_out() {
        let (one, many) = (world(1), world(16));
        assert_eq!(one.collision.flock.leaves.len(), 300);
        assert!(many.collision.flock.leaves.is_empty());
        let mut numbers = Numbers(3);
        let mut states = [one.initial_state(), many.initial_state()];
        for block in 0..states[0].blocks.len() {
            let mut fast = || std::array::from_fn(|_| 3.0 * numbers.vector().x);
            let (v, w) = ([fast(), fast(), fast()], std::array::from_fn(|_| fast()));
            for state in &mut states {
                (state.blocks[block].v, state.blocks[block].w) = (v, w);
            }
        }
        for h in [1e-4, 1e-2, 0.05] {
            let found = [&one, &many].map(|model| {
                let mut contacts = Contacts::new();
                let state = &states[usize::from(std::ptr::eq(model, &many))];
                detect(model, state, &Control::new(model), h, &mut contacts);
                contacts.points
            });
            assert!(found[0].len() > 10 && found[0] == found[1]);
        }
    }
}
