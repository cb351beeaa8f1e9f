//! Which mechanisms are stepped together.

use std::collections::BTreeMap;

use crate::math::lanes::LANES;
use crate::math::union::Union;
use crate::model::{Endpoint, Model};

/// Bodies of a group of mechanisms that are not alike, at least: their unknowns stay in the
/// second cache.
const GROUP: usize = 256;

/// Bodies and joints of a group.
pub(super) struct Members {
    pub bodies: Vec<u32>,
    pub joints: Vec<u32>,
    /// How many equal mechanisms lie side by side; one if they are not alike.
    pub beside: usize,
}

/// A connected set of bodies and its joints, both ascending.
#[derive(Default)]
struct Mechanism {
    bodies: Vec<u32>,
    joints: Vec<u32>,
}

/// What tells kinds of mechanisms apart: how many bodies they have, and of each joint its kind,
/// its rows and its bodies, numbered within the mechanism.
type Likeness = (usize, Vec<(&'static str, usize, [Option<u32>; 2])>);

/// Deals the mechanisms of a model into groups; nothing if there is one group only.
pub(super) fn deal(model: &Model) -> Option<Vec<Members>> {
    if model.bodies.len() <= GROUP {
        return None;
    }
    let mut kinds: BTreeMap<Likeness, Vec<Mechanism>> = BTreeMap::new();
    for mechanism in mechanisms(model) {
        let alike = kinds.entry(likeness(model, &mechanism)).or_default();
        alike.push(mechanism);
    }
    let mut groups = Vec::new();
    let mut mixed = Mechanism::default();
    for alike in kinds.values() {
        let full = if alike[0].joints.len() > 1 {
            alike.len() / LANES * LANES
        } else {
            0
        };
        groups.extend(alike[..full].chunks(LANES).map(side_by_side));
        for mechanism in &alike[full..] {
            mixed.bodies.extend(&mechanism.bodies);
            mixed.joints.extend(&mechanism.joints);
            if mixed.bodies.len() >= GROUP {
                groups.push(mixed.take());
            }
        }
    }
    if !mixed.bodies.is_empty() {
        groups.push(mixed.take());
    }
    (groups.len() > 1).then_some(groups)
}

impl Mechanism {
    fn take(&mut self) -> Members {
        let taken = std::mem::take(self);
        Members {
            bodies: taken.bodies,
            joints: taken.joints,
            beside: 1,
        }
    }
}

/// The first bodies of all, then the second ones, and joints likewise.
fn side_by_side(mechanisms: &[Mechanism]) -> Members {
    let [bodies, joints] = [mechanisms[0].bodies.len(), mechanisms[0].joints.len()];
    Members {
        bodies: (0..bodies)
            .flat_map(|k| mechanisms.iter().map(move |m| m.bodies[k]))
            .collect(),
        joints: (0..joints)
            .flat_map(|k| mechanisms.iter().map(move |m| m.joints[k]))
            .collect(),
        beside: mechanisms.len(),
    }
}

fn ends(model: &Model, joint: usize) -> [Endpoint; 2] {
    [
        model.joints[joint].a.endpoint,
        model.joints[joint].b.endpoint,
    ]
}

/// Connected sets of bodies, in the order of their first bodies.
fn mechanisms(model: &Model) -> Vec<Mechanism> {
    let mut sets = Union::default();
    sets.reset(model.bodies.len());
    for joint in 0..model.joints.len() {
        if let [Some(a), Some(b)] = ends(model, joint).map(|end| end.index()) {
            sets.join(a as u32, b as u32);
        }
    }
    let mut found: Vec<Mechanism> = Vec::new();
    let mut number = vec![u32::MAX; model.bodies.len()];
    for body in 0..model.bodies.len() as u32 {
        let first = sets.head(body) as usize;
        if number[first] == u32::MAX {
            number[first] = found.len() as u32;
            found.push(Mechanism::default());
        }
        found[number[first] as usize].bodies.push(body);
    }
    for joint in 0..model.joints.len() {
        let body = ends(model, joint).iter().find_map(|end| end.index());
        let body = body.expect("a joint has at least one body") as u32;
        let first = sets.head(body) as usize;
        found[number[first] as usize].joints.push(joint as u32);
    }
    found
}

fn likeness(model: &Model, mechanism: &Mechanism) -> Likeness {
    let place = |body: usize| {
        let found = mechanism.bodies.binary_search(&(body as u32));
        found.expect("a body of the mechanism") as u32
    };
    let joints = mechanism.joints.iter().map(|&joint| {
        let it = &model.joints[joint as usize];
        let ends = ends(model, joint as usize).map(|end| end.index().map(place));
        (it.kind.name(), it.dual_rows(), ends)
    });
    (mechanism.bodies.len(), joints.collect())
}
