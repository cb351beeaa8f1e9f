//! Takes what groups gained out of their relative motion, or gives back what is lent.
//!
//! With mass m, centre c and momentum p of a group, and about its centre the second moments
//! Σ = Σ A S Aᵀ + m r rᵀ and the angular momentum L = Σ 2 axial(Ȧ S Aᵀ) + m r × v,
//!
//! ```text
//! v_r = p/m + Ω × r,   (tr Σ − Σ) Ω = L,   K(v_r) = ½ p²/m + ½ L·Ω
//! ```

use super::Passive;
use super::groups::{Gain, Gainer, Groups};
use crate::contact::stage::is_crowd;
use crate::math::lanes::{gather, place, scatter};
use crate::math::small::*;
use crate::model::{Model, ParamBlock, StateBlock};
use crate::workspace::Workspace;

/// A body of a group that gained: where it is and how it moves.
struct Motion {
    mass: f64,
    second: V3,
    t: V3,
    a: M3,
    v: V3,
    w: M3,
}

impl Motion {
    fn of(params: &[ParamBlock], blocks: &[StateBlock], body: usize) -> Motion {
        let (block, lane) = place(body);
        let (params, from) = (&params[block], &blocks[block]);
        Motion {
            mass: params.mass[lane],
            second: gather(&params.second, lane),
            t: gather(&from.t, lane),
            a: gather(&from.a, lane),
            v: gather(&from.v, lane),
            w: gather(&from.w, lane),
        }
    }

    /// Kinetic energy of another motion of it, J.
    fn kinetic(&self, v: &V3, w: &M3) -> f64 {
        let turning: V3 =
            [0, 1, 2].map(|k: usize| w[k] * w[k] + w[3 + k] * w[3 + k] + w[6 + k] * w[6 + k]);
        0.5 * (self.mass * dot(v, v) + dot(&self.second, &turning))
    }
}

/// Part of the relative kinetic energy that a step is given back at most: what has all but come to rest
/// is not set going again.
const GIVEN: f64 = 0.1;

/// Slows the groups that gained, and gives back to those that lost.
pub(super) fn settle(model: &Model, work: &mut Workspace) {
    let Passive {
        fabric,
        groups,
        lent,
        left,
    } = &mut work.passive;
    let next = &mut work.next;
    if groups.gainers.iter().any(|gainer| !gainer.tied) {
        let (all, params) = (&fabric.mechanism, &model.params);
        for_each(groups, all, |body, group| {
            group.add_mass(&Motion::of(params, next, body))
        });
        groups.gainers.iter_mut().for_each(Gainer::find_center);
        for_each(groups, all, |body, group| {
            group.add_spin(&Motion::of(params, next, body))
        });
    }
    groups.gainers.iter_mut().for_each(Gainer::find_factor);
    for_each(groups, &fabric.mechanism, |body, group| {
        let taken = group.slow(&Motion::of(&model.params, next, body), next, body);
        group.taken += taken;
        lent[body] = match group.gain.rise > 0.0 {
            true => lent[body] + taken,
            false => lent[body] * group.kept,
        };
    });
    // Shorter steps for one that flies beside a crowd would cost more than they are worth.
    let crowd = is_crowd(work.contacts.points.len());
    let looked_at = groups.gainers.iter().filter(|g| g.pushed || !crowd);
    *left = looked_at.map(Gainer::left).fold(0.0, f64::max);
}

/// Visits the bodies of groups whose motion is to change.
fn for_each(groups: &mut Groups, mechanism: &[u32], mut visit: impl FnMut(usize, &mut Gainer)) {
    for (body, mechanism) in mechanism.iter().enumerate() {
        if let Some(index) = groups.gainer_index(*mechanism) {
            visit(body, &mut groups.gainers[index]);
        }
    }
}

impl Gainer {
    /// What was gained and could not be taken, as a part of the energy of motion and of what gravity does over
    /// the size of the bodies.
    fn left(&self) -> f64 {
        let left = self.gain.rise - self.taken;
        match left > self.gain.noise {
            true => left / (self.gain.kinetic + self.gain.lift),
            false => 0.0,
        }
    }

    /// Adds mass, mass times place and momentum.
    fn add_mass(&mut self, body: &Motion) {
        self.mass += body.mass;
        self.center = axpy(&self.center, body.mass, &body.t);
        self.velocity = axpy(&self.velocity, body.mass, &body.v);
    }

    fn find_center(&mut self) {
        self.center = scale(&self.center, 1.0 / self.mass);
        self.velocity = scale(&self.velocity, 1.0 / self.mass);
    }

    /// Adds second moments and angular momentum about the centre.
    fn add_spin(&mut self, body: &Motion) {
        let arm = sub(&body.t, &self.center);
        let spread = mul_diag(&body.a, &body.second);
        let own = mult(&spread, &body.a);
        let about = axpy9(&own, body.mass, &outer(&arm, &arm));
        for (sum, x) in self.second.iter_mut().zip(sym(&about)) {
            *sum += x;
        }
        let turning = scale(&axial(&mult(&body.w, &spread)), 2.0);
        let moving = cross(&arm, &sub(&body.v, &self.velocity));
        self.spin = add(&self.spin, &axpy(&turning, body.mass, &moving));
    }

    /// Finds the motion of the whole, and s.
    fn find_factor(&mut self) {
        let mut whole = 0.0;
        if self.tied {
            (self.velocity, self.omega) = ([0.0; 3], [0.0; 3]);
        } else {
            let [xx, yy, zz, xy, xz, yz] = self.second;
            let (inverse, _) = invert_sym(&[yy + zz, xx + zz, xx + yy, -xy, -xz, -yz]);
            self.omega = mul_vec(&full(&inverse), &self.spin);
            whole = self.mass * dot(&self.velocity, &self.velocity);
            whole += dot(&self.spin, &self.omega);
        }
        let Gain { rise, lent, .. } = self.gain;
        let relative = self.gain.kinetic - 0.5 * whole;
        let returned = lent.min(-rise).max(0.0);
        let given = returned.min(GIVEN * relative) - rise.max(0.0);
        let squared = 1.0 + given / relative;
        self.kept = if lent > 0.0 {
            1.0 - returned / lent
        } else {
            0.0
        };
        // It may be that nothing moves relative to the whole, or not enough.
        let fits = relative > 0.0 && squared > 0.0;
        self.factor = if fits { squared.sqrt() } else { 0.0 };
    }

    /// Changes by how much the velocity of a body differs from that of the whole. Returns what that took
    /// from the energy of the difference, J.
    fn slow(&self, body: &Motion, blocks: &mut [StateBlock], index: usize) -> f64 {
        let arm = sub(&body.t, &self.center);
        let v = add(&self.velocity, &cross(&self.omega, &arm));
        let w = mul(&skew_matrix(&self.omega), &body.a);
        let (own, turning) = (sub(&body.v, &v), sub9(&body.w, &w));
        let (block, lane) = place(index);
        let to = &mut blocks[block];
        scatter(&mut to.v, lane, &axpy(&v, self.factor, &own));
        scatter(&mut to.w, lane, &axpy9(&w, self.factor, &turning));
        (1.0 - self.factor * self.factor) * body.kinetic(&own, &turning)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two bodies that are strained and move anyhow.
    fn bodies() -> [Motion; 2] {
        [1.0, -0.7].map(|k: f64| Motion {
            mass: 2.0 + k,
            second: [0.1, 0.2 + 0.05 * k, 0.3],
            t: [1.0 + k, -k, 0.4 * k],
            a: [1.0, 0.01 * k, 0.0, 0.02, 0.98, 0.1 * k, 0.0, -0.1 * k, 1.01],
            v: [0.3 * k, 1.0, -k],
            w: [0.1, -2.0 * k, 0.5, 2.0, 0.0, 0.3 * k, -0.4, k, 0.2],
        })
    }

    fn kinetic(body: &Motion) -> f64 {
        body.kinetic(&body.v, &body.w)
    }

    /// Momentum, and angular momentum about the origin.
    fn momenta(bodies: &[Motion; 2]) -> [V3; 2] {
        let mut sums = [[0.0; 3]; 2];
        for body in bodies {
            let p = scale(&body.v, body.mass);
            let spread = mul_diag(&body.a, &body.second);
            let own = scale(&axial(&mult(&body.w, &spread)), 2.0);
            sums[0] = add(&sums[0], &p);
            sums[1] = add(&sums[1], &add(&own, &cross(&body.t, &p)));
        }
        sums
    }

    /// The bodies after a group of them has lost a part of its kinetic energy.
    fn slowed(tied: bool, part: f64) -> ([Motion; 2], Gainer) {
        let bodies = bodies();
        let sum: f64 = bodies.iter().map(kinetic).sum();
        let mut group = Gainer {
            tied,
            ..Gainer::default()
        };
        (group.gain.kinetic, group.gain.rise) = (sum, part * sum);
        bodies.iter().for_each(|body| group.add_mass(body));
        group.find_center();
        bodies.iter().for_each(|body| group.add_spin(body));
        group.find_factor();
        let mut block = StateBlock::REST;
        let moved = bodies.map(|body| {
            group.slow(&body, std::slice::from_mut(&mut block), 3);
            let (v, w) = (gather(&block.v, 3), gather(&block.w, 3));
            Motion { v, w, ..body }
        });
        (moved, group)
    }

    #[test]
    fn exactly_the_gain_is_taken_out() {
        for tied in [true, false] {
            let before: f64 = bodies().iter().map(kinetic).sum();
            let (after, group) = slowed(tied, 0.1);
            let taken = before - after.iter().map(kinetic).sum::<f64>();
            assert!((taken - group.gain.rise).abs() < 1e-14 * before, "{taken}");
        }
    }

    #[test]
    fn what_is_lent_is_given_back_as_far_as_energy_falls() {
        let with = |lent: f64, fall: f64| {
            let mut group = Gainer {
                tied: true,
                ..Gainer::default()
            };
            (group.gain.kinetic, group.gain.rise, group.gain.lent) = (2.0, -fall, lent);
            group.find_factor();
            [2.0 * (group.factor * group.factor - 1.0), lent * group.kept]
        };
        let cases = [
            (with(0.01, 0.004), [0.004, 0.006]),
            (with(0.01, 0.5), [0.01, 0.0]),
            // Never so much that it would set going what is about to rest.
            (with(1.0, 0.5), [0.2, 0.5]),
        ];
        for (found, expected) in cases {
            let off = (found[0] - expected[0]).abs() + (found[1] - expected[1]).abs();
            assert!(off < 1e-14, "{found:?} {expected:?}");
        }
    }

    #[test]
    fn momentum_is_kept_even_where_all_that_can_be_taken_is() {
        for part in [0.1, 1.0] {
            let (before, (after, _)) = (momenta(&bodies()), slowed(false, part));
            for (p, q) in before.iter().zip(momenta(&after)) {
                let off = sub(p, &q);
                assert!(dot(&off, &off).sqrt() < 1e-14, "{off:?}");
            }
        }
    }

    #[test]
    fn relative_rates_change_by_one_factor() {
        let place = [0.7, 0.1, 0.2];
        // Of the points of both bodies that are at one place.
        let relative = |bodies: &[Motion; 2]| {
            let rate = |body: &Motion| {
                let point = mul_vec(&inverse(&body.a), &sub(&place, &body.t));
                add(&body.v, &mul_vec(&body.w, &point))
            };
            sub(&rate(&bodies[1]), &rate(&bodies[0]))
        };
        for tied in [true, false] {
            let (after, group) = slowed(tied, 0.1);
            let off = axpy(&relative(&after), -group.factor, &relative(&bodies()));
            assert!(
                group.factor < 1.0 && dot(&off, &off).sqrt() < 1e-14,
                "{off:?}"
            );
        }
    }
}
