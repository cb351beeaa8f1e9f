//! What contacts did in a step, and what the next one starts from.

use super::*;

impl Stage {
    /// What a contact did, in its frame.
    pub fn outcome(&self, index: usize) -> Option<Outcome> {
        let link = self.links.get(index)?;
        let slip = |k: u32| {
            let (row, sprung) = (&self.rows[k as usize], &self.sprung[k as usize]);
            sub(&add(&row.slip(&self.movers.all), sprung), &row.given())
        };
        Some(Outcome {
            total: self.total(link),
            slip: link.second.map(slip),
            at: link.at,
            arms: link.arms,
        })
    }

    /// Whether a contact pushes in one of the stages.
    pub fn acts(&self, index: usize) -> bool {
        let Some(link) = self.links.get(index) else {
            return false;
        };
        let second = link.second.map(|k| k as usize);
        let at_end = second.map_or(0.0, |k| self.rows[k].lambda[0] + self.struck[k][0]);
        at_end > 0.0 || link.first[0][0] > 0.0
    }

    /// Force and torque of both stages, in the frame.
    fn total(&self, link: &Link) -> [V3; 2] {
        let Some(k) = link.second.map(|k| k as usize) else {
            return link.first;
        };
        let row = &self.rows[k];
        [
            add(&row.lambda, &self.struck[k]),
            torque_of(row, &self.movers),
        ]
    }

    /// Adds up the contact forces on each island of joints: what they had in the last step too,
    /// and all of them, N.
    pub fn add_lasting(
        &self,
        points: &[ContactPoint],
        memory: &Memory,
        dual: &Dual,
        sums: &mut [[f64; 2]],
    ) {
        for (index, point) in points.iter().enumerate() {
            let Some(link) = self.links.get(index) else {
                continue;
            };
            let size = |f: &V3| dot(f, f).sqrt();
            let force = size(&self.total(link)[0]);
            let most = force.max(size(&link.first[0]));
            let before =
                self.known[index].map_or(0.0, |k| size(&memory.entries[k as usize].total[0]));
            for body in [point.a, point.b].into_iter().flatten() {
                if let Some(island) = dual.island_at(body.index()) {
                    sums[island][0] += force.min(before);
                    sums[island][1] += most;
                }
            }
        }
    }

    /// Writes what the next step starts from.
    pub fn remember(&self, points: &[ContactPoint], memory: &mut Memory) {
        memory.entries.clear();
        for (point, link) in points.iter().zip(&self.links) {
            let (first, total) = (link.first, self.total(link));
            if total[0][0] <= 0.0 && first[0][0] <= 0.0 {
                continue;
            }
            let frame = frame_of(&point.normal);
            let world = |f: [V3; 2]| f.map(|f| along(&frame, &f));
            memory.entries.push(Remembered {
                key: key_of(point),
                anchor: point.anchor_a,
                first: world(first),
                total: world(total),
            });
        }
    }
}

/// Forces and torques of a contact, in its frame.
pub(crate) struct Outcome {
    pub total: [V3; 2],
    /// h times the velocity of the slip at the end, m, where it touches.
    pub slip: Option<V3>,
    /// Where it was at the start, and from the centres to there, m.
    pub at: V3,
    pub arms: [V3; 2],
}
