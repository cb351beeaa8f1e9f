//! A chain over pulleys lifts a heavy anchor and drops it (He et al. 2026, Figs. 1 and 15).
//!
//! The chain runs up from the anchor over a pulley, down, under the next one, up again and so
//! on, in vertical runs of height H between half circles of radius R:
//!
//! ```text
//! links · length = p (H + π R)
//! ```
//!
//! for p pulleys, half a run being at each end. A force pulls the far end for a while.

use glam::{DQuat, DVec3};
use vincula::prelude::*;

use super::linkage::along;
use super::site::{self, Site};
use crate::error::SceneError;
use crate::gallery::Entry;
use crate::param::Param;
use crate::scene::{Probe, Scene};
use crate::values::Values;

pub(super) const ENTRY: Entry = Entry {
    name: "pulley",
    summary: "A chain over pulleys lifts a heavy anchor and drops it",
    figure: "M-ABD Fig. 15",
    params: &[
        Param::step(0.01),
        Param::duration(6.0),
        Param::int("links", 1500, (100, 2_000_000), "links of the chain"),
        Param::int(
            "pulleys",
            3,
            (1, 9999),
            "pulleys; even numbers count one more",
        ),
        Param::float("length", 0.04, (1e-3, 1.0), "m", "length of a link"),
        Param::float("radius", 0.4, (0.05, 10.0), "m", "radius of a pulley"),
        Param::float("anchor", 500.0, (1e-3, 1e9), "kg", "mass of the anchor"),
        Param::float(
            "pull",
            1.5,
            (0.0, 100.0),
            "",
            "pull to the weight of the anchor",
        ),
        Param::float("lift", 1.5, (0.0, 1e3), "s", "how long it is pulled"),
        site::friction(0.2),
        site::density(7800.0),
        Param::gravity(),
        Param::young(),
    ],
    make,
};

/// The way of the chain through the pulleys.
struct Way {
    pulleys: usize,
    radius: f64,
    height: f64,
}

impl Way {
    /// The axle of a pulley; even ones are above, odd ones below.
    fn axle(&self, k: usize) -> DVec3 {
        let up = if k.is_multiple_of(2) {
            self.height
        } else {
            0.0
        };
        DVec3::new(2.0 * self.radius * k as f64, 0.0, up)
    }

    /// The point after a length s of the way, m.
    fn point(&self, s: f64) -> DVec3 {
        let first = 0.5 * self.height;
        if s < first {
            return DVec3::new(-self.radius, 0.0, first + s);
        }
        let arc = std::f64::consts::PI * self.radius;
        let turn = arc + self.height;
        let k = (((s - first) / turn) as usize).min(self.pulleys - 1);
        let rest = s - first - turn * k as f64;
        let (axle, side) = (self.axle(k), if k.is_multiple_of(2) { 1.0 } else { -1.0 });
        if rest < arc {
            let (sin, cos) = (rest / self.radius).sin_cos();
            axle + self.radius * DVec3::new(-cos, 0.0, side * sin)
        } else {
            axle + DVec3::new(self.radius, 0.0, -side * (rest - arc))
        }
    }

    /// The length s where the next joint is, a link of `length` after the one at s.
    fn next(&self, s: f64, length: f64) -> f64 {
        let from = self.point(s);
        // A chord is at least 2/π of its arc.
        let (mut low, mut high) = (s + length, s + 1.6 * length);
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if self.point(middle).distance(from) < length {
                low = middle;
            } else {
                high = middle;
            }
        }
        high
    }
}

/// Parts of the machine do not collide within a group: links with links, pulleys with pulleys.
const CHAIN: u32 = 1;
const PULLEY: u32 = 2;

fn part(site: &mut Site, def: BodyDef, name: String, shape: Shape, group: u32) -> BodyId {
    let body = site.bare(def);
    let collider = ColliderDef::new(name, body, shape).surface(site.surface);
    site.builder.collider(collider.groups(group, !group));
    body
}

fn add_pulleys(site: &mut Site, way: &Way, radius: f64) {
    let lying = DQuat::from_rotation_x(std::f64::consts::FRAC_PI_2);
    for k in 0..way.pulleys {
        let (name, axle) = (format!("pulley-{k}"), way.axle(k));
        let shape = Shape::Cylinder {
            radius,
            half_length: 0.25 * radius,
        };
        let def = BodyDef::new(&name, shape.clone(), site.density)
            .at(axle)
            .turned(lying);
        let pulley = part(site, def, name, shape, PULLEY);
        let hinge = JointDef::hinge(format!("axle-{k}"), World, pulley, axle, DVec3::Y);
        site.builder.joint(hinge);
    }
}

fn add_anchor(site: &mut Site, values: &Values, at: DVec3) -> BodyId {
    let mass = values.float("anchor");
    let edge = (mass / site.density).cbrt();
    let shape = site::cube(edge);
    let def = BodyDef::new("anchor", shape.clone(), site.density)
        .mass(mass)
        .at(at + DVec3::NEG_Z * (0.5 * edge));
    part(site, def, "anchor".into(), shape, CHAIN)
}

/// Adds the links and returns the last one.
fn add_chain(site: &mut Site, values: &Values, way: &Way, anchor: BodyId) -> BodyId {
    let length = values.float("length");
    let radius = 0.25 * length;
    let (mut s, mut last) = (0.0, anchor);
    for k in 0..values.int("links") {
        let next = way.next(s, length);
        let (a, b) = (way.point(s), way.point(next));
        let shape = Shape::Capsule {
            radius,
            half_length: 0.5 * length - radius,
        };
        // A capsule lies along its z axis, `along` turns x.
        let turned = along(b - a) * DQuat::from_rotation_y(std::f64::consts::FRAC_PI_2);
        let name = format!("link-{k}");
        let def = BodyDef::new(&name, shape.clone(), site.density)
            .at(0.5 * (a + b))
            .turned(turned);
        let link = part(site, def, name, shape, CHAIN);
        let joint = JointDef::ball(format!("joint-{k}"), last, link, a);
        site.builder.joint(joint);
        (s, last) = (next, link);
    }
    last
}

fn make(values: &Values) -> Result<Scene, SceneError> {
    let length = values.float("length");
    let (pulleys, radius) = (values.int("pulleys") | 1, values.float("radius"));
    // The middle of a link is nearer to the axle than its ends.
    let outer = (radius + 0.25 * length).hypot(0.5 * length) + 1e-3 * length;
    let per_pulley = values.int("links") as f64 * length / pulleys as f64;
    let way = Way {
        pulleys,
        radius: outer,
        height: (per_pulley - std::f64::consts::PI * outer).max(2.5 * outer),
    };
    let mut site = Site::new(values);
    add_pulleys(&mut site, &way, radius);
    let anchor = add_anchor(&mut site, values, way.point(0.0));
    let end = add_chain(&mut site, values, &way, anchor);
    let pull = values.float("pull") * values.float("anchor") * values.float("gravity");
    let lift = values.float("lift");
    Ok(site
        .scene(ENTRY.name, values)?
        .driven(move |_, state, control| {
            if state.time < lift {
                control.add_force_at(state, end, DVec3::NEG_Z * pull, state.center(end));
            }
        })
        .probe(Probe::new(
            "anchor-height",
            "height of the anchor",
            "m",
            move |view| view.state.center(anchor).z,
        )))
}
