//! Forces of the last step, by contact: where the next one starts.
//!
//! It is part of the state, so that a copy of a state goes the same way as the original.

use super::ContactPoint;
use crate::math::small::V3;
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
    /// Force and torque of the first stage, N and N m.
    pub first: [V3; 2],
    /// The total of both stages.
    pub total: [V3; 2],
}

/// The contacts of the last step, in the order of their keys.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Memory {
    pub entries: Vec<Remembered>,
}

impl Memory {
    /// Writes for each point which entry it continues. Both are in the same order, so one
    /// walk through both finds them all.
    pub fn matches(&self, points: &[ContactPoint], found: &mut Vec<Option<u32>>) {
        found.clear();
        let mut next = 0;
        for point in points {
            let key = key_of(point);
            while self.entries.get(next).is_some_and(|e| e.key < key) {
                next += 1;
            }
            let same = self.entries.get(next).is_some_and(|e| e.key == key);
            found.push(same.then_some(next as u32));
        }
    }
}
