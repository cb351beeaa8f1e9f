//! Auxiliary constraints as rows: points and centroids that are held, limits, contacts.

use glam::DVec3;
use vincula::body::rigid::RigidBody;
use vincula::joint::axis::{Axis, AxisKind};
use vincula::model::BodyId;

use super::anticipation::{RowList, Sense};
use super::primary::Purpose;
use crate::contact::Contact;
use crate::system::forces::{coordinate, coordinate_at};
use crate::system::rows::{Place, Velocity, pack};
use crate::system::{System, drift, place_of};

/// A limit acts when its coordinate is this near, rad or m.
const NEAR: f64 = 1e-9;

/// Surfaces touch at this distance, m, and part at this speed, m/s.
const TOUCHING: f64 = 1e-7;

/// A constraint on one body or on many: auxiliary by nature.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Hold {
    /// A point of a body, in its principal frame, m, stays at a place of the world, m.
    Point {
        /// The body.
        body: BodyId,
        /// The point.
        point_body: DVec3,
        /// The place.
        target: DVec3,
    },
    /// The centre of mass of everything stays on a plane: normal · x = offset, m.
    Centroid {
        /// Unit normal of the plane.
        normal: DVec3,
        /// Its distance from the origin.
        offset: f64,
    },
}

/// Two points that may touch during the step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Touch {
    ends: [Option<usize>; 2],
    /// The point of each surface, in the principal frame of its body or in the world, m.
    anchors: [DVec3; 2],
    /// From the first to the second.
    normal: DVec3,
    /// Velocity of moved surfaces along the normal, m/s.
    moved: f64,
}

impl Touch {
    pub fn new(contact: &Contact, system: &System) -> Touch {
        let anchor = |side: usize| {
            let place = system.place(contact.ends[side]);
            place.r.mul_transpose_vec3(contact.points[side] - place.x)
        };
        Touch {
            ends: contact.ends,
            anchors: [anchor(0), anchor(1)],
            normal: contact.normal,
            moved: contact.normal.dot(contact.surface_velocity),
        }
    }
}

/// Rows that hold points or the centroid.
pub(super) fn push_hold(
    system: &System,
    hold: &Hold,
    purpose: Purpose,
    source: usize,
    list: &mut RowList,
) {
    match hold {
        Hold::Point {
            body,
            point_body,
            target,
        } => {
            let index = body.index();
            let it = &system.bodies[index];
            let lever = it.q * *point_body;
            let c = match purpose {
                Purpose::Dynamics => it.omega.cross(it.omega.cross(lever)),
                Purpose::Impulse => it.v + it.omega.cross(lever),
                Purpose::Position => it.x + lever - *target,
            };
            for k in 0..3 {
                list.push(Sense::Equal, c[k], source);
                list.term(index, pack(DVec3::AXES[k], lever.cross(DVec3::AXES[k])));
            }
        }
        Hold::Centroid { normal, offset } => {
            let mass: f64 = system.bodies.iter().map(|body| body.mass).sum();
            let mean = |f: fn(&RigidBody) -> DVec3| {
                let sum: DVec3 = system.bodies.iter().map(|b| b.mass * f(b)).sum();
                sum.dot(*normal) / mass
            };
            let c = match purpose {
                Purpose::Dynamics => 0.0,
                Purpose::Impulse => mean(|b| b.v),
                Purpose::Position => mean(|b| b.x) - offset,
            };
            list.push(Sense::Equal, c, source);
            for (index, body) in system.bodies.iter().enumerate() {
                list.term(index, pack(*normal * (body.mass / mass), DVec3::ZERO));
            }
        }
    }
}

/// Limits of one free coordinate: rows for those that are reached.
pub(super) fn push_limits(
    system: &System,
    joint: usize,
    axis: &Axis,
    purpose: Purpose,
    list: &mut RowList,
) {
    let [lower, upper] = axis.law.limits;
    if !(lower.is_finite() || upper.is_finite()) {
        return;
    }
    let it = coordinate(system, joint, axis.kind);
    for (sign, room) in [(1.0, it.value - lower), (-1.0, upper - it.value)] {
        let rate = sign * it.rate;
        let resting = room <= NEAR && rate <= NEAR;
        let c = match purpose {
            Purpose::Dynamics if resting => sign * coordinate_bias(system, joint, axis.kind),
            Purpose::Impulse if room <= NEAR => rate,
            Purpose::Position if room <= 0.0 => room,
            _ => continue,
        };
        list.push(Sense::NotNegative, c, joint);
        for (body, gradient) in system.ends[joint].into_iter().zip(it.gradients) {
            if let Some(body) = body {
                list.term(body, gradient.map(|x| sign * x));
            }
        }
    }
}

/// A contact without friction, if the points touch.
pub(super) fn push_touch(
    system: &System,
    touch: &Touch,
    purpose: Purpose,
    source: usize,
    list: &mut RowList,
) {
    let places = touch.ends.map(|body| system.place(body));
    let rates = touch.ends.map(|body| system.velocity(body));
    let levers = [0, 1].map(|side| places[side].r * touch.anchors[side]);
    let n = touch.normal;
    let apart = places[1].x + levers[1] - places[0].x - levers[0];
    let point_rate = |side: usize| rates[side].v + rates[side].omega.cross(levers[side]);
    let rate = n.dot(point_rate(1) - point_rate(0)) + touch.moved;
    let turn = |side: usize| {
        rates[side]
            .omega
            .cross(rates[side].omega.cross(levers[side]))
    };
    let gap = n.dot(apart);
    let c = match purpose {
        Purpose::Dynamics if gap <= TOUCHING && rate <= TOUCHING => n.dot(turn(1) - turn(0)),
        Purpose::Impulse if gap <= TOUCHING => rate,
        Purpose::Position if gap < 0.0 => gap,
        _ => return,
    };
    list.push(Sense::NotNegative, c, source);
    for (side, sign) in [(0, -1.0), (1, 1.0)] {
        if let Some(body) = touch.ends[side] {
            list.term(body, pack(sign * n, sign * levers[side].cross(n)));
        }
    }
}

/// The bias of a free coordinate: how its rate changes along an unaccelerated motion.
fn coordinate_bias(system: &System, joint: usize, kind: AxisKind) -> f64 {
    let t = 1e-6;
    let rates = system.ends[joint].map(|body| system.velocity(body));
    let rate = |t: f64| {
        let places = system.ends[joint].map(|body| {
            body.map_or(Place::WORLD, |body| {
                let mut moved = system.bodies[body];
                let Velocity { v, omega } = system.velocity(Some(body));
                drift(&mut moved, v, omega, t);
                place_of(&moved)
            })
        });
        coordinate_at(&system.joints[joint], kind, places, rates).rate
    };
    (rate(t) - rate(-t)) / (2.0 * t)
}
