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

impl Remembered {
    /// Its colliders.
    fn pair(&self) -> (ColliderId, ColliderId) {
        (self.key.0, self.key.1)
    }
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

    /// What pushed between two colliders.
    pub fn of_pair(&self, [a, b]: [ColliderId; 2]) -> &[Remembered] {
        let start = self.entries.partition_point(|e| e.pair() < (a, b));
        &self.entries[start..][..self.count(start, (a, b))]
    }

    /// How many entries from one on are those of a pair.
    fn count(&self, start: usize, pair: (ColliderId, ColliderId)) -> usize {
        let rest = self.entries[start..].iter();
        rest.take_while(|e| e.pair() == pair).count()
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
            while self.entries.get(next).is_some_and(|e| e.pair() < name) {
                next += 1;
            }
            let count = self.count(next, name);
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
        // Half the way across the contact at most, unless there is only one.
        let reach = match pair.len() == 1 && entries.len() == 1 {
            true => f64::INFINITY,
            false => pair.iter().fold(0.0, |m: f64, p| {
                m.max(0.25 * apart(&p.anchor_a, &pair[0].anchor_a))
            }),
        };
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

#[cfg(test)]
mod tests {
    use super::*;

    fn point(feature: u64, x: f64) -> ContactPoint {
        ContactPoint {
            a: None,
            b: None,
            collider_a: ColliderId::new(1),
            collider_b: ColliderId::new(2),
            anchor_a: [x, 0.0, 0.0],
            anchor_b: [x, 0.0, 0.0],
            normal: [0.0, 0.0, 1.0],
            gap: 0.0,
            surface_velocity: [0.0; 3],
            round_a: 0.0,
            round_b: 0.0,
            feature,
            friction: 0.0,
            restitution: 0.0,
            rolling: 0.0,
            torsional: 0.0,
            compliance: 0.0,
        }
    }

    fn memory(points: &[ContactPoint]) -> Memory {
        let remembered = |p: &ContactPoint| Remembered {
            key: key_of(p),
            anchor: p.anchor_a,
            first: [[1.0; 3]; 2],
            total: [[1.0; 3]; 2],
        };
        Memory {
            entries: points.iter().map(remembered).collect(),
            restless: Vec::new(),
        }
    }

    fn matched(past: &[ContactPoint], now: &[ContactPoint]) -> Vec<Option<u32>> {
        let mut found = Vec::new();
        memory(past).matches(now, &mut found);
        found
    }

    #[test]
    fn a_point_continues_that_of_its_name_or_the_one_in_its_place() {
        let past = [point(3, 0.0), point(5, 1.0), point(9, 2.0)];
        let now = [point(3, 0.1), point(6, 1.1), point(8, 2.2)];
        assert_eq!(matched(&past, &now), [Some(0), Some(1), Some(2)]);
        // Half the way across at most.
        let now = [point(3, 0.1), point(6, 0.2)];
        assert_eq!(matched(&past, &now), [Some(0), None]);
    }

    #[test]
    fn an_only_point_continues_an_only_one() {
        assert_eq!(matched(&[point(3, 0.0)], &[point(4, 0.5)]), [Some(0)]);
        assert_eq!(matched(&[], &[point(4, 0.5)]), [None]);
    }

    #[test]
    fn the_points_of_a_pair_are_found() {
        let past = memory(&[point(3, 0.0), point(5, 1.0)]);
        assert_eq!(
            past.of_pair([ColliderId::new(1), ColliderId::new(2)]).len(),
            2
        );
        assert!(
            past.of_pair([ColliderId::new(1), ColliderId::new(3)])
                .is_empty()
        );
        assert!(
            past.of_pair([ColliderId::new(0), ColliderId::new(2)])
                .is_empty()
        );
    }
}
