//! Ports: the first two points at which joints hold a body, eight bodies at a time. Joints
//! that meet at a point share its port.
//!
//! Most bodies of large worlds are links with a point at either end. Their places,
//! velocities, compliances `R W̄ Rᵀ` and loads are computed by kernels over whole blocks;
//! what is left for a joint is to add and subtract.

use std::cmp::Ordering;

use super::axles::AxleBlock;
use crate::integrate::newton::{AtPoints, NewtonBlock, Pull, torque_load};
use crate::kernel;
use crate::math::lanes::{LANES, Lane, all, gather, scatter};
use crate::math::small::*;

/// Ports of a body.
pub(crate) const PORTS: usize = 2;
/// The port of a joint end that has none.
pub(super) const NO_PORT: u8 = u8::MAX;

/// A vector at each port of eight bodies.
pub(crate) type Points = [[Lane; 3]; PORTS];
/// Zero everywhere.
pub(crate) const NO_POINTS: Points = [[[0.0; LANES]; 3]; PORTS];

/// How the points of eight bodies give way.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(crate) struct Compliances {
    /// Compliance of each point, world, m/N: xx, yy, zz, xy, xz, yz.
    pub own: [[Lane; 6]; PORTS],
    /// Displacement of the first point under a force at the second, world, m/N.
    pub mutual: [Lane; 9],
}

impl Compliances {
    pub(crate) const NONE: Compliances = Compliances {
        own: [[[0.0; LANES]; 6]; PORTS],
        mutual: [[0.0; LANES]; 9],
    };
}

/// Points, and what the kernels find at them, for eight bodies.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(crate) struct PortBlock {
    /// Points in the body, m.
    pub point: [[Lane; 3]; PORTS],
    /// Place (m) or velocity (m/s) of the points, world.
    pub place: [[Lane; 3]; PORTS],
    pub compliances: Compliances,
    /// `Jᵀλ` at the points, world, N; zero but for the time from `load` to `Joints::put_loads`.
    pub force: [[Lane; 3]; PORTS],
    /// Square rows that go with the points.
    pub axles: Option<Box<AxleBlock>>,
}

impl PortBlock {
    pub(crate) const NONE: PortBlock = PortBlock {
        point: [[[0.0; LANES]; 3]; PORTS],
        place: [[[0.0; LANES]; 3]; PORTS],
        compliances: Compliances::NONE,
        force: [[[0.0; LANES]; 3]; PORTS],
        axles: None,
    };

    /// Displacement of one port of a body under a force at another, world, m/N.
    #[inline(always)]
    pub(super) fn between(&self, one: u8, other: u8, lane: usize) -> M3 {
        match one.cmp(&other) {
            Ordering::Equal => full(&gather(&self.compliances.own[one as usize], lane)),
            Ordering::Less => gather(&self.compliances.mutual, lane),
            Ordering::Greater => transpose(&gather(&self.compliances.mutual, lane)),
        }
    }
}

kernel! {
    /// Places of the points.
    pub(crate) fn find_places(n: &NewtonBlock, points: &Points, places: &mut Points) = find_places_lanes
}

#[inline(always)]
pub(crate) fn find_places_lanes(n: &NewtonBlock, points: &Points, places: &mut Points) {
    for lane in 0..LANES {
        let a: M3 = gather(&n.a, lane);
        let t: V3 = gather(&n.t, lane);
        for k in 0..PORTS {
            let p = add(&mul_vec(&a, &gather(&points[k], lane)), &t);
            scatter(&mut places[k], lane, &p);
        }
    }
}

kernel! {
    /// Velocities of the points, for rates in the body frame.
    pub(crate) fn find_velocities(n: &NewtonBlock, points: &Points, velocities: &mut Points) = find_velocities_lanes
}

#[inline(always)]
pub(crate) fn find_velocities_lanes(n: &NewtonBlock, points: &Points, velocities: &mut Points) {
    for lane in 0..LANES {
        let rot: M3 = gather(&n.rot, lane);
        let rate: M3 = gather(&n.w, lane);
        let v: V3 = gather(&n.v, lane);
        for k in 0..PORTS {
            let local = mul_vec(&rate, &gather(&points[k], lane));
            let u = add(&mul_vec(&rot, &local), &v);
            scatter(&mut velocities[k], lane, &u);
        }
    }
}

kernel! {
    /// Compliances at the points.
    pub(crate) fn find_compliances(n: &NewtonBlock, points: &Points, w: &mut Compliances) = find_compliances_lanes
}

#[inline(always)]
pub(crate) fn find_compliances_lanes(n: &NewtonBlock, points: &Points, w: &mut Compliances) {
    let mut off = [0.0; LANES];
    for lane in 0..LANES {
        let [a, b]: [V3; 2] = [0, 1].map(|k| gather(&points[k], lane));
        let [x, y, z] = [0, 1, 2].map(|k| a[k].abs() + b[k].abs());
        off[lane] = (x * y + x * z + y * z) - STRAIGHT * (x * x + y * y + z * z);
    }
    if all(&off, |off| off <= 0.0) {
        find_straight_compliances(n, points, w);
    } else {
        find_any_compliances(n, points, w);
    }
}

/// How far points may be from a principal axis, relative to their distance: by nothing but rounding.
const STRAIGHT: f64 = 1e-15;

/// For points on one principal axis of each body. Then `W̄ = diag(w)`, and with the columns r of R
/// `R W̄ Rᵀ = w₂ + (w₀ − w₂) r₀r₀ᵀ + (w₁ − w₂) r₁r₁ᵀ`.
#[inline(always)]
fn find_straight_compliances(n: &NewtonBlock, points: &Points, w: &mut Compliances) {
    for lane in 0..LANES {
        let r: M3 = gather(&n.rot, lane);
        let square = |i: usize| {
            let [x, y, z] = [r[i], r[3 + i], r[6 + i]];
            [x * x, y * y, z * z, x * y, x * z, y * z]
        };
        let (one, two) = (square(0), square(1));
        let inverse = n.inverse_of(lane);
        let turned = |a: &V3, b: &V3| {
            let w = inverse.straight_compliance(a, b);
            let (u, v) = (w[0] - w[2], w[1] - w[2]);
            let mut s: S3 = [0.0; 6];
            for k in 0..6 {
                s[k] = u * one[k] + v * two[k];
            }
            [s[0] + w[2], s[1] + w[2], s[2] + w[2], s[3], s[4], s[5]]
        };
        let [a, b]: [V3; 2] = [0, 1].map(|k| gather(&points[k], lane));
        scatter(&mut w.own[0], lane, &turned(&a, &a));
        scatter(&mut w.own[1], lane, &turned(&b, &b));
        scatter(&mut w.mutual, lane, &full(&turned(&a, &b)));
    }
}

#[inline(always)]
fn find_any_compliances(n: &NewtonBlock, points: &Points, w: &mut Compliances) {
    for lane in 0..LANES {
        let rot: M3 = gather(&n.rot, lane);
        let inverse = n.inverse_of(lane);
        let first: V3 = gather(&points[0], lane);
        let second: V3 = gather(&points[1], lane);
        let turn = |local: &M3| mult(&mul(&rot, local), &rot);
        let own = |w: &M3| [w[0], w[4], w[8], w[1], w[2], w[5]];
        let w0 = turn(&inverse.compliance(&first, &first));
        let w1 = turn(&inverse.compliance(&second, &second));
        let w01 = turn(&inverse.compliance(&first, &second));
        scatter(&mut w.own[0], lane, &own(&w0));
        scatter(&mut w.own[1], lane, &own(&w1));
        scatter(&mut w.mutual, lane, &w01);
    }
}

kernel! {
    /// Puts the forces at the points on the bodies.
    pub(crate) fn put_loads(points: &Points, forces: &Points, n: &mut NewtonBlock) = put_loads_lanes
}

#[inline(always)]
fn put_loads_lanes(points: &Points, forces: &Points, n: &mut NewtonBlock) {
    for lane in 0..LANES {
        let rot: M3 = gather(&n.rot, lane);
        let (load, thrust) = AtPoints { points, forces }.on(&rot, lane);
        let before: M3 = gather(&n.load, lane);
        scatter(&mut n.load, lane, &axpy9(&before, 1.0, &load));
        let before: V3 = gather(&n.thrust, lane);
        scatter(&mut n.thrust, lane, &add(&before, &thrust));
    }
}

kernel! {
    /// Puts torques of joints on the bodies, world, N m.
    pub(crate) fn put_torques(torques: &[Lane; 3], n: &mut NewtonBlock) = put_torques_lanes
}

#[inline(always)]
fn put_torques_lanes(torques: &[Lane; 3], n: &mut NewtonBlock) {
    for lane in 0..LANES {
        let load = torque_load(&gather(&n.rot, lane), torques, lane);
        let before: M3 = gather(&n.load, lane);
        scatter(&mut n.load, lane, &axpy9(&before, 1.0, &load));
    }
}
