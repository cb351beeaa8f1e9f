//! First stage: poses that do not overlap.

use super::*;
use crate::math::rotation::log;

impl Stage {
    /// Rows of the first stage at the present iterate. Forces start as those remembered, or, in
    /// a later iteration of the same step, as those of the last one.
    pub fn first(&mut self, scene: &Scene<'_>, dual: &mut Dual) {
        let again = std::mem::replace(&mut self.progress, Progress::Made) == Progress::Made;
        if again {
            for (link, row) in self.links.iter_mut().zip(&self.rows) {
                link.first = [row.lambda, torque_of(row, &self.movers)];
            }
        }
        self.weigh(scene);
        self.weigh_mechanisms(scene, dual);
        self.find_turns(scene);
        self.paths.clear();
        for (k, mover) in self.movers.all.iter().enumerate() {
            let [a0, a1] = &self.turns[k];
            let t0 = start_of(scene.start, mover.body as usize);
            self.paths.push((sub9(a1, a0), sub(&self.centers[k], &t0)));
        }
        self.rows.clear();
        self.movers.spins.clear();
        self.sweeper.forget();
        self.coupled.begin(true);
        for (index, point) in scene.points.iter().enumerate() {
            self.links[index].bent = [0.0; 2];
            let link = &self.links[index];
            let frame = frame_of(&point.normal);
            let mut free = carried(&frame, point, scene.h);
            free[0] += point.gap - link.aim;
            for (side, sign) in link.sides.iter().zip([-1.0, 1.0]) {
                if side.mover == FIXED {
                    continue;
                }
                let (grown, shift) = &self.paths[side.mover as usize];
                let center = add(&mul_vec(grown, &side.center), shift);
                // A round surface rolls over the arc rθ, where a point of it moves by a chord.
                let point = match side.radius == 0.0 {
                    true => center,
                    false => {
                        let lever = scale(&frame[0], side.radius);
                        add(&center, &cross(&self.rotation(side.mover), &lever))
                    }
                };
                let moved = [
                    dot(&frame[0], &center),
                    dot(&frame[1], &point),
                    dot(&frame[2], &point),
                ];
                free = axpy(&free, sign, &moved);
            }
            let at = link.sides.map(|s| s.mover);
            let spins = point.torsional > 0.0 || point.rolling > 0.0;
            let turned = if spins { self.turned(&at) } else { [0.0; 3] };
            let new = ContactRow::bare(frame, at, link.arms, &self.movers);
            let row = self.rows.push_mut(new);
            row.free = free;
            row.mu = point.friction;
            row.weigh_new(&self.movers, point.compliance, scene.softness);
            if spins {
                let about = frame.map(|axis| dot(&axis, &turned));
                row.resist(point.torsional, point.rolling, about, &mut self.movers);
            }
            row.standing = stands(scene, row);
            let known = self.known[index].map(|k| scene.memory.entries[k as usize].first);
            if let Some([force, _]) = known.filter(|_| point.compliance > 0.0) {
                // Across, what sticks gives way by what the force has grown by.
                for k in 1..3 {
                    row.free[k] -= point.compliance * dot(&frame[k], &force);
                }
            }
            let last = match again {
                true => Some(link.first.map(|f| along(&row.frame, &f))),
                false => self.starts.of(index),
            };
            if let Some(last) = last {
                row.start_from(&mut self.movers, &last);
            }
        }
    }

    /// The rotation vector of a mover since the start, rad.
    fn rotation(&self, mover: u32) -> V3 {
        let [from, to] = &self.turns[mover as usize];
        log(&mult(to, from))
    }

    /// By how much the second of two movers has turned against the first since the start, rad.
    fn turned(&self, at: &[u32; 2]) -> V3 {
        let of = |m: u32| match m {
            FIXED => [0.0; 3],
            m => axial(&mult(&self.paths[m as usize].0, &self.turns[m as usize][0])),
        };
        sub(&of(at[1]), &of(at[0]))
    }

    /// Puts into the gaps of loose bodies what the rows leave out: a rotation θ moves a point by
    /// `(exp θ − 1) r`, not by `θ × r`. Returns the largest change, m.
    pub fn bend(&mut self) -> f64 {
        if !self.movers.all.iter().any(|mover| mover.loose) {
            return 0.0;
        }
        self.bends.clear();
        self.bends.extend(
            self.movers
                .all
                .iter()
                .zip(&self.turns)
                .map(|(mover, turns)| match mover.loose {
                    true => mul(&sub9(&exp::<false>(&mover.turn), &IDENTITY), &turns[1]),
                    false => [0.0; 9],
                }),
        );
        self.bend_gaps(true)
    }

    /// How deep the worst contact is now, m.
    pub fn depth(&self) -> f64 {
        let depth = |(link, row): (&Link, &ContactRow)| {
            row.given()[0] - row.slip(&self.movers.all)[0] - link.aim
        };
        let all = self.links.iter().zip(&self.rows).map(depth);
        all.fold(0.0, f64::max)
    }

    /// Keeps the forces of the first stage. Returns how deep the worst contact ends, m, and how far
    /// contacts are from Coulomb's law.
    pub fn end_first(&mut self) -> (f64, f64) {
        let (mut deepest, mut left) = (0.0f64, Violation::default());
        for (link, row) in self.links.iter_mut().zip(&self.rows) {
            link.first = [row.lambda, torque_of(row, &self.movers)];
            let slip = row.slip(&self.movers.all);
            left.add(row, &slip);
            let gap = slip[0] - row.given()[0] + link.aim;
            deepest = deepest.max(-gap);
            link.touches = row.lambda[0] > 0.0 || gap <= TOUCHING;
        }
        (deepest, left.relative())
    }
}
