//! Forces of the last step, by contact: where the next one starts; and links that were restless.
//!
//! It is part of the state, so that a copy of a state goes the same way as the original.

use super::ContactPoint;
use crate::math::small::{V3, dot, sub};
use crate::model::ColliderId;

/// Names a contact from step to step: its colliders and the feature.
pub(crate) type Key = (ColliderId, ColliderId, u64);

pub(crate) fn key_of(point: &ContactPoint) -> Key {
    (point.collider_a, point.collider_b, point.feature)
}

/// A contact of the last step. Forces are in the world, so that a turned frame does not matter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Remembered {
    pub key: Key,
    /// Where it was on the first collider's body, or in the world, m.
    pub anchor: V3,
    /// Force and torque of the first stage, N and N m.
    pub first: [V3; 2],
    /// The total of both stages.
    pub total: [V3; 2],
}

/// What a step with contacts leaves to the next one.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Memory {
    /// The contacts, in the order of their keys.
    pub entries: Vec<Remembered>,
    /// Blocks of links far from contacts that one linear solve was not enough for, and in how many more
    /// steps they are to be seen from the start (`stream/runs.rs`).
    pub restless: Vec<(u32, u32)>,
}

impl Memory {
    /// Becomes a copy of another one, in the memory that it has.
    pub fn copy_from(&mut self, other: &Memory) {
        self.entries.clone_from(&other.entries);
        self.restless.clone_from(&other.restless);
    }

    /// Writes for each point which entry it continues: that of the same name, else the nearest
    /// one of the pair that no point has taken yet. Both are in the same order, so one walk
    /// through both finds them all.
    pub fn matches(&self, points: &[ContactPoint], found: &mut Vec<Option<u32>>) {
        found.clear();
        let mut next = 0;
        let same_pair = |p: &ContactPoint, q: &ContactPoint| {
            (p.collider_a, p.collider_b) == (q.collider_a, q.collider_b)
        };
        for pair in points.chunk_by(same_pair) {
            let name = (pair[0].collider_a, pair[0].collider_b);
            let of = |e: &Remembered| (e.key.0, e.key.1);
            while self.entries.get(next).is_some_and(|e| of(e) < name) {
                next += 1;
            }
            let count = self.entries[next..]
                .iter()
                .take_while(|e| of(e) == name)
                .count();
            let first = found.len();
            self.match_names(pair, next..next + count, found);
            self.match_places(pair, next..next + count, &mut found[first..]);
            next += count;
        }
    }

    fn match_names(
        &self,
        pair: &[ContactPoint],
        entries: std::ops::Range<usize>,
        found: &mut Vec<Option<u32>>,
    ) {
        let mut next = entries.start;
        for point in pair {
            let key = key_of(point);
            while next < entries.end && self.entries[next].key < key {
                next += 1;
            }
            let same = next < entries.end && self.entries[next].key == key;
            found.push(same.then_some(next as u32));
            next += usize::from(same);
        }
    }

    fn match_places(
        &self,
        pair: &[ContactPoint],
        entries: std::ops::Range<usize>,
        found: &mut [Option<u32>],
    ) {
        let apart = |p: &V3, q: &V3| {
            let d = sub(p, q);
            dot(&d, &d)
        };
        // Half the way across the contact at most.
        let reach = pair.iter().fold(0.0, |m: f64, p| {
            m.max(0.25 * apart(&p.anchor_a, &pair[0].anchor_a))
        });
        for (k, point) in pair.iter().enumerate() {
            if found[k].is_some() {
                continue;
            }
            let mut best = (None, reach);
            for index in entries.clone() {
                let away = apart(&self.entries[index].anchor, &point.anchor_a);
                if away <= best.1 && !found.contains(&Some(index as u32)) {
                    best = (Some(index as u32), away);
                }
            }
            found[k] = best.0;
        }
    }
}
