//! Contacts and limits of a rigid system as rows that may push and not pull.
//!
//! ```text
//! C = n · (x_b − x_a) ≥ 0,    Ċ = n · (v_b + ω_b × r_b − v_a − ω_a × r_a)
//! ```
//!
//! Friction has the same rows with tangents in the place of the normal n. A limit of a joint's
//! coordinate is such a row too, without friction.

use glam::DVec3;
use vincula::contact::{ContactPoint, Contacts, detect};
use vincula::model::{BodyId, Control, Model, State};

use crate::system::forces::coordinate;
use crate::system::rows::{Six, dot6, pack};
use crate::system::{Refusal, System};

/// One point where two bodies touch, or a body and the world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contact {
    /// The two bodies; `None` is the world.
    pub ends: [Option<usize>; 2],
    /// The point on the surface of each, world, m.
    pub points: [DVec3; 2],
    /// Unit normal from the first to the second, world.
    pub normal: DVec3,
    /// n · (x_b − x_a), m; negative when they overlap.
    pub gap: f64,
    /// Coefficient of friction.
    pub friction: f64,
    /// Velocity of sides that are no bodies, b's minus a's, m/s.
    pub surface_velocity: DVec3,
}

/// A row for two bodies: `rate = J_a u_a + J_b u_b + offset`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairRow {
    /// The two bodies; `None` is the world.
    pub ends: [Option<usize>; 2],
    /// The gradients.
    pub gradients: [Six; 2],
    /// Rate when the bodies rest.
    pub offset: f64,
}

impl PairRow {
    /// The row's rate for these velocities.
    pub fn rate(&self, velocity: &[Six]) -> f64 {
        let part = |side: usize| {
            self.ends[side].map_or(0.0, |b| dot6(&self.gradients[side], &velocity[b]))
        };
        part(0) + part(1) + self.offset
    }
}

impl Contact {
    /// The relative velocity of the two points along a direction, as a row.
    pub fn row(&self, system: &System, direction: DVec3) -> PairRow {
        let lever = |side: usize| self.points[side] - system.place(self.ends[side]).x;
        let gradient = |side: usize| pack(direction, lever(side).cross(direction));
        PairRow {
            ends: self.ends,
            gradients: [gradient(0).map(|x| -x), gradient(1)],
            offset: direction.dot(self.surface_velocity),
        }
    }

    /// Relative velocity of the two points in the tangent plane, m/s, for these velocities of
    /// the bodies.
    pub fn slip(&self, system: &System, velocity: &[Six]) -> DVec3 {
        let along = |k: usize| self.row(system, DVec3::AXES[k]).rate(velocity);
        let relative = DVec3::new(along(0), along(1), along(2));
        relative - self.normal * self.normal.dot(relative)
    }
}

/// What finds contacts.
pub trait Detect {
    /// Replaces `out` by the points where bodies touch or may touch within `h` seconds.
    fn detect(
        &mut self,
        model: &Model,
        system: &System,
        control: &Control,
        h: f64,
        out: &mut Vec<Contact>,
    );
}

/// Nothing touches.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoContacts;

impl Detect for NoContacts {
    fn detect(&mut self, _: &Model, _: &System, _: &Control, _: f64, out: &mut Vec<Contact>) {
        out.clear();
    }
}

/// The contacts that the engine finds between the colliders of the model.
pub struct EngineContacts {
    /// The motion as the engine's state.
    state: State,
    found: Contacts,
}

impl EngineContacts {
    /// Nothing found yet.
    pub fn new(model: &Model) -> EngineContacts {
        EngineContacts {
            state: State::at_rest(model),
            found: Contacts::new(),
        }
    }
}

impl Detect for EngineContacts {
    fn detect(
        &mut self,
        model: &Model,
        system: &System,
        control: &Control,
        h: f64,
        out: &mut Vec<Contact>,
    ) {
        out.clear();
        if model.colliders().is_empty() {
            return;
        }
        system.write_state(model, &mut self.state);
        detect(model, &self.state, control, h, &mut self.found);
        out.extend(self.found.points.iter().map(|point| seen(system, point)));
    }
}

/// A contact point of the engine on rigid bodies.
fn seen(system: &System, point: &ContactPoint) -> Contact {
    let ends = [point.a, point.b].map(|body| body.map(BodyId::index));
    let at = |side: usize, anchor: [f64; 3]| {
        let place = system.place(ends[side]);
        place.x + place.r * DVec3::from_array(anchor)
    };
    Contact {
        ends,
        points: [at(0, point.anchor_a), at(1, point.anchor_b)],
        normal: DVec3::from_array(point.normal),
        gap: point.gap,
        friction: point.friction,
        surface_velocity: DVec3::from_array(point.surface_velocity),
    }
}

/// Refuses models with colliders, for methods without contacts.
pub fn refuse_colliders(method: &'static str, model: &Model) -> Result<(), Refusal> {
    match model.colliders().first() {
        None => Ok(()),
        Some(collider) => Err(Refusal {
            method,
            reason: format!("'{}' collides, and it knows no contacts", collider.name),
            instead: "--method cline-pai or affine",
        }),
    }
}

/// A limit of a free coordinate: how far it is, and its row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limit {
    /// Distance to the limit, m or rad; negative beyond it.
    pub gap: f64,
    /// The rate of that distance.
    pub row: PairRow,
}

/// Replaces `out` by the limits that a model's joints have and that are nearer than `reach`.
pub fn find_limits(system: &System, reach: f64, out: &mut Vec<Limit>) {
    out.clear();
    for (index, joint) in system.joints.iter().enumerate() {
        for axis in &joint.axes {
            let [lower, upper] = axis.law.limits;
            if !(lower.is_finite() || upper.is_finite()) {
                continue;
            }
            let at = coordinate(system, index, axis.kind);
            for (gap, sign) in [(at.value - lower, 1.0), (upper - at.value, -1.0)] {
                if gap < reach {
                    let row = PairRow {
                        ends: system.ends[index],
                        gradients: at.gradients.map(|g| g.map(|x| sign * x)),
                        offset: 0.0,
                    };
                    out.push(Limit { gap, row });
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::DQuat;
    use vincula::body::rigid::RigidBody;
    use vincula::prelude::*;

    use crate::system::drift;

    /// Two bodies in motion and a contact between points fixed to them.
    fn pair() -> (System, Contact) {
        let mut builder = ModelBuilder::new();
        let shape = Shape::Box {
            half_extents: DVec3::new(0.5, 0.2, 0.1),
        };
        builder.body(
            BodyDef::new("a", shape.clone(), 1000.0)
                .moving(DVec3::new(0.3, -0.7, 0.4), DVec3::new(0.9, -0.4, 1.3)),
        );
        builder.body(
            BodyDef::new("b", shape, 700.0)
                .turned(DQuat::from_rotation_x(0.8))
                .at(DVec3::new(0.9, 0.3, -0.4))
                .moving(DVec3::new(-0.2, 0.5, 0.6), DVec3::new(-0.6, 1.1, 0.7)),
        );
        let model = builder.build().expect("two bodies");
        let system = System::new(&model, &model.initial_state());
        let contact = Contact {
            ends: [Some(0), Some(1)],
            points: [DVec3::new(0.4, 0.1, -0.1), DVec3::new(0.45, 0.2, -0.2)],
            normal: DVec3::new(0.3, 0.8, -0.5).normalize(),
            gap: 0.0,
            friction: 0.5,
            surface_velocity: DVec3::ZERO,
        };
        (system, contact)
    }

    #[test]
    fn a_row_is_the_rate_of_the_distance_of_two_material_points() {
        let (system, contact) = pair();
        let velocity: Vec<Six> = system.bodies.iter().map(|b| pack(b.v, b.omega)).collect();
        for direction in [contact.normal, DVec3::X, DVec3::new(0.2, -0.9, 0.1)] {
            let at = |t: f64| {
                let point = |side: usize| {
                    let mut body: RigidBody = system.bodies[side];
                    let local = body.q.inverse() * (contact.points[side] - body.x);
                    let (v, omega) = (body.v, body.omega);
                    drift(&mut body, v, omega, t);
                    body.x + body.q * local
                };
                direction.dot(point(1) - point(0))
            };
            let t = 1e-5;
            let slope = (at(t) - at(-t)) / (2.0 * t);
            let exact = contact.row(&system, direction).rate(&velocity);
            assert!((slope - exact).abs() < 1e-9, "{slope} {exact}");
        }
    }

    #[test]
    fn slip_lies_in_the_tangent_plane() {
        let (system, contact) = pair();
        let velocity: Vec<Six> = system.bodies.iter().map(|b| pack(b.v, b.omega)).collect();
        let slip = contact.slip(&system, &velocity);
        assert!(slip.length() > 0.1 && slip.dot(contact.normal).abs() < 1e-14);
    }
}
