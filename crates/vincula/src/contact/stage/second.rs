//! Second stage: velocities that neither enter nor gain.

use super::*;

impl Stage {
    /// Rows of the second stage, for rates in the body frame; λ starts as what the first stage
    /// has given, and the bodies already have it.
    pub fn second(&mut self, scene: &Scene<'_>, dual: &mut Dual) {
        self.weigh(scene);
        if self.touches_joints() {
            self.weigh_mechanisms(scene, dual);
        }
        self.find_turns(scene);
        self.rows.clear();
        self.stops.clear();
        self.movers.spins.clear();
        self.sweeper.forget();
        self.coupled.begin(false);
        self.approaches.clear();
        self.struck.clear();
        self.sprung.clear();
        let mut touching = scene.points.iter().zip(&self.links);
        let bounces = touching.any(|(point, link)| link.touches && point.restitution > 0.0);
        for (index, point) in scene.points.iter().enumerate() {
            let link = &self.links[index];
            if !link.touches {
                self.links[index].second = None;
                continue;
            }
            let frame = frame_of(&point.normal);
            let Rates { arms, free, turned } = self.rates(scene, point, link, &frame);
            let (at, first) = (link.sides.map(|s| s.mover), link.first);
            let known = self.known[index].map(|k| &scene.memory.entries[k as usize]);
            let expected = match bounces {
                true => None,
                false => self.expected(scene, index, &frame),
            };
            self.links[index].second = Some(self.rows.len() as u32);
            let new = ContactRow::bare(frame, at, arms, &self.movers);
            let row = self.rows.push_mut(new);
            row.lambda = first[0];
            row.free = free;
            row.mu = point.friction;
            row.weigh_new(&self.movers, 0.0, 0.0);
            let sprung = match point.compliance > 0.0 || scene.softness > 0.0 {
                true => spring(
                    row,
                    point,
                    scene,
                    &first[0],
                    known.map(|known| known.total[0]),
                ),
                false => [0.0; 3],
            };
            row.free = sub(&row.free, &sprung);
            self.sprung.push(sprung);
            if point.torsional > 0.0 || point.rolling > 0.0 {
                let about = frame.map(|axis| dot(&axis, &turned));
                row.resist(point.torsional, point.rolling, about, &mut self.movers);
                if let Some(spin) = row.spin_mut(&mut self.movers) {
                    spin.torque = first[1];
                }
            }
            row.standing = stands(scene, row);
            if bounces {
                self.approaches.push(approach(scene, point));
            }
            if let Some(total) = expected {
                row.start_from(&mut self.movers, &total);
            }
        }
        self.struck.resize(self.rows.len(), [0.0; 3]);
        if !bounces || self.strike(scene.h) {
            return;
        }
        for index in 0..self.links.len() {
            let Some(k) = self.links[index].second.map(|k| k as usize) else {
                continue;
            };
            if let Some(total) = self.expected(scene, index, &self.rows[k].frame) {
                self.rows[k].start_from(&mut self.movers, &total);
            }
        }
    }

    /// The force and torque of both stages that a known contact starts from, world: those of the
    /// last step, with what the first stage gave more than then.
    fn expected(&self, scene: &Scene<'_>, index: usize, frame: &[V3; 3]) -> Option<[V3; 2]> {
        let last = &scene.memory.entries[self.known[index]? as usize];
        let first = &self.links[index].first;
        let more = |k: usize| sub(&along(frame, &first[k]), &last.first[k]);
        Some([0, 1].map(|k| add(&last.total[k], &more(k))))
    }

    /// How a contact moves without contact forces of this stage.
    pub(super) fn rates(
        &self,
        scene: &Scene<'_>,
        point: &ContactPoint,
        link: &Link,
        frame: &[V3; 3],
    ) -> Rates {
        let (mut free, mut turned) = (carried(frame, point, scene.h), [0.0; 3]);
        let mut arms = [[0.0; 3]; 2];
        for (k, side) in link.sides.iter().enumerate() {
            if side.mover == FIXED {
                continue;
            }
            let sign = [-1.0, 1.0][k];
            let body = self.movers.all[side.mover as usize].body as usize;
            let turn = &self.turns[side.mover as usize][1];
            let reach = scale(&point.normal, side.radius);
            arms[k] = add(&mul_vec(turn, &side.center), &reach);
            let (v, omega) = motion_of(scene, body);
            turned = axpy(&turned, sign * scene.h, &omega);
            let u = add(&v, &cross(&omega, &arms[k]));
            free = axpy(&free, sign, &frame.map(|axis| scene.h * dot(&axis, &u)));
        }
        Rates { arms, free, turned }
    }

    /// Takes impacts if there are any: without the forces of the first stage, then with the
    /// impulses of the impacts. True when there were.
    fn strike(&mut self, h: f64) -> bool {
        for row in &mut self.rows {
            let back = scale(&row.lambda, -1.0);
            row.lambda = [0.0; 3];
            row.push(&mut self.movers, &back);
        }
        let Stage {
            rows,
            approaches,
            movers,
            hits,
            struck,
            ..
        } = self;
        if impact::any(rows, approaches, movers, h) {
            impact::take(rows, approaches, movers, h, hits);
            for (row, struck) in rows.iter_mut().zip(struck) {
                *struck = std::mem::take(&mut row.lambda);
            }
            return true;
        }
        for link in &self.links {
            if let Some(k) = link.second {
                let row = &mut self.rows[k as usize];
                row.lambda = link.first[0];
                row.push(&mut self.movers, &link.first[0]);
            }
        }
        false
    }
}

/// Lets the row of a contact that gives way by itself do so; returns what the slip has in it of that without
/// the force, m. A spring that a step resolves pushes in the second half as it did in the first. A stiffer
/// one would throw bodies back that way: it gives way by what its force has grown by since the last step,
/// as every one does across. Half of it, since the total of both stages is twice the force.
fn spring(
    row: &mut ContactRow,
    point: &ContactPoint,
    scene: &Scene<'_>,
    first: &V3,
    last: Option<V3>,
) -> V3 {
    let soft = 0.5 * point.compliance;
    let resolved = scene.softness > 0.0 || point.compliance >= RESOLVED * row.w[0];
    let last = last.map_or([0.0; 3], |f| row.frame.map(|axis| dot(&axis, &f)));
    let mut sprung = scale(&last, soft);
    if resolved {
        sprung[0] = row.hold_normal() * (2.0 * first[0]);
        row.soften([0.0, soft]);
    } else {
        row.soften([soft; 2]);
    }
    sprung
}

/// How a contact moves in the second stage.
pub(super) struct Rates {
    /// From the centres to the contact, m.
    arms: [V3; 2],
    /// h times the velocity of the slip, m, and of the rotation, rad.
    pub free: V3,
    turned: V3,
}

/// How a contact closes in at the start of the step.
fn approach(scene: &Scene<'_>, point: &ContactPoint) -> Approach {
    Approach {
        restitution: point.restitution,
        start: scene.h * dot(&point.normal, &relative(point, scene.start)),
        gap: point.gap,
    }
}

/// Velocity of the second side of a contact against the first, m/s.
pub(crate) fn relative(point: &ContactPoint, start: &[StateBlock]) -> V3 {
    let mut velocity = point.surface_velocity;
    for (body, anchor, sign) in [
        (point.a, point.anchor_a, -1.0),
        (point.b, point.anchor_b, 1.0),
    ] {
        let Some(body) = body else { continue };
        let (block, lane) = place(body.index());
        let start = &start[block];
        let w: M3 = gather(&start.w, lane);
        let u = add(&gather(&start.v, lane), &mul_vec(&w, &anchor));
        velocity = axpy(&velocity, sign, &u);
    }
    velocity
}

/// Velocity of the centre and angular velocity, world, of a rate in the body frame: the one that
/// the torque of a contact, a skew load, does work on.
fn motion_of(scene: &Scene<'_>, body: usize) -> (V3, V3) {
    let (block, lane) = place(body);
    let n = &scene.work[block];
    let omega = axial(&gather(&n.w, lane));
    (gather(&n.v, lane), mul_vec(&gather(&n.rot, lane), &omega))
}
