//! Forces on rigid bodies: weight, wrenches from outside, damping, drag, the penalty ground,
//! and springs and drives of joints. All are taken at the start of a step.
//!
//! The gyroscopic torque −ω × (R I Rᵀ ω) is separate: methods that integrate angular momentum
//! have no need of it.

use std::slice::from_ref;

use glam::DVec3;
use vincula::body::rigid::RigidBody;
use vincula::joint::Joint;
use vincula::joint::axis::{AxisKind, AxisLaw, Drive};
use vincula::math::ahead::fetch_all;
use vincula::model::{Body, BodyId, Control, Model, Pose, Twist, Wrench};

use super::System;
use super::rows::{Place, Six, Velocity, dot6, pack, rigid_gradient};

/// Bodies whose data are asked for before their turn.
const AHEAD: usize = 8;

/// Forces on all bodies, N and N m, about their centres of mass.
pub fn gather_forces(model: &Model, system: &System, control: &Control, out: &mut [Six]) {
    gather(model, system, control, out, |_| DVec3::ZERO);
}

/// The same with the gyroscopic torques.
pub fn gather_forces_of_spin(model: &Model, system: &System, control: &Control, out: &mut [Six]) {
    gather(model, system, control, out, gyroscopic);
}

#[inline(always)]
fn gather(
    model: &Model,
    system: &System,
    control: &Control,
    out: &mut [Six],
    torque: impl Fn(&RigidBody) -> DVec3,
) {
    for (id, force) in model.body_ids().zip(out.iter_mut()) {
        if let Some(soon) = model.bodies().get(id.index() + AHEAD) {
            fetch_all(from_ref(&soon.damping));
            fetch_all(from_ref(&soon.gravity_scale));
            fetch_all(from_ref(&system.bodies[id.index() + AHEAD]));
        }
        let total = body_wrench(model, system, control, id);
        let more = torque(&system.bodies[id.index()]);
        *force = pack(total.force, total.torque + more);
    }
    for &index in system.acting() {
        add_axis_forces(system, index, out);
    }
}

/// Weight, what is applied from outside, resistance and the penalty ground.
#[inline(always)]
fn body_wrench(model: &Model, system: &System, control: &Control, id: BodyId) -> Wrench {
    let (def, body) = (model.body(id), &system.bodies[id.index()]);
    let mut total = Wrench::weight(body.mass * def.gravity_scale, model.gravity());
    add(&mut total, control.wrench(id));
    add(&mut total, resistance(model, def, body, system.time));
    if let (Some(ground), Some(shape)) = (model.ground(), &def.shape) {
        let twist = Twist {
            linear: body.v,
            angular: body.omega,
        };
        let pose = shape_pose(def, body);
        add(&mut total, ground.wrench(shape, &pose, body.x, &twist));
    }
    total
}

/// The torque that keeps angular momentum: −ω × (R I Rᵀ ω), N m.
pub fn gyroscopic(body: &RigidBody) -> DVec3 {
    -body.omega.cross(body.angular_momentum_centre())
}

/// Pose of the shape frame of a rigid body.
pub fn shape_pose(def: &Body, body: &RigidBody) -> Pose {
    let rotation = (body.q * def.mass.axes.inverse()).normalize();
    Pose {
        translation: body.x - rotation * def.mass.center,
        rotation,
    }
}

fn add(total: &mut Wrench, more: Wrench) {
    total.force += more.force;
    total.torque += more.torque;
}

/// Damping and drag.
fn resistance(model: &Model, def: &Body, body: &RigidBody, time: f64) -> Wrench {
    let wind = model.wind().velocity(body.x, time);
    let slip = body.v - wind;
    let drag = def.drag.linear + def.drag.quadratic * slip.length();
    Wrench {
        force: -slip * drag - body.v * (def.damping.linear * body.mass),
        torque: -body.omega * def.drag.angular
            - body.angular_momentum_centre() * def.damping.angular,
    }
}

/// Springs, dampers and drives along the free coordinates of a joint.
fn add_axis_forces(system: &System, index: usize, out: &mut [Six]) {
    let joint = &system.joints[index];
    for axis in &joint.axes {
        if axis.law.is_idle() {
            continue;
        }
        let coordinate = coordinate(system, index, axis.kind);
        let resisting = resisting_force(&axis.law, coordinate.value, coordinate.rate);
        for (body, gradient) in system.ends[index].into_iter().zip(coordinate.gradients) {
            if let Some(body) = body {
                for k in 0..6 {
                    out[body][k] -= gradient[k] * resisting;
                }
            }
        }
    }
}

/// A free coordinate of a joint with its rate and gradients.
#[derive(Clone, Copy, Debug)]
pub struct Coordinate {
    /// rad (between −π and π) or m.
    pub value: f64,
    /// rad/s or m/s.
    pub rate: f64,
    /// Per velocity of the two bodies.
    pub gradients: [Six; 2],
}

/// Measures a free coordinate of a joint.
pub fn coordinate(system: &System, index: usize, kind: AxisKind) -> Coordinate {
    let ends = system.ends[index];
    let places = ends.map(|body| system.place(body));
    let rates = ends.map(|body| system.velocity(body));
    coordinate_at(&system.joints[index], kind, places, rates)
}

/// The same for bodies at these places with these velocities.
pub fn coordinate_at(
    joint: &Joint,
    kind: AxisKind,
    places: [Place; 2],
    rates: [Velocity; 2],
) -> Coordinate {
    let carried = |side, place: &Place| {
        let a = place.r.transpose().to_cols_array();
        Joint::carried(side, &a, &place.x.to_array())
    };
    let row = kind.linearize(
        &carried(&joint.a, &places[0]),
        &carried(&joint.b, &places[1]),
    );
    let gradients = [
        rigid_gradient(&row.a, &places[0].r),
        rigid_gradient(&row.b, &places[1].r),
    ];
    let rate = dot6(&gradients[0], &rates[0].six()) + dot6(&gradients[1], &rates[1].six());
    Coordinate {
        value: row.value,
        rate,
        gradients,
    }
}

/// What resists a coordinate x that changes at a rate v: λ = k (x − x₀) + d v and the drive.
fn resisting_force(law: &AxisLaw, x: f64, v: f64) -> f64 {
    let spring = law.spring.stiffness * (x - law.spring.rest) + law.spring.damping * v;
    let drive = match law.drive {
        Drive::None => 0.0,
        Drive::Position {
            target,
            stiffness,
            damping,
        } => stiffness * (x - target) + damping * v,
        Drive::Velocity { target, damping } => damping * (v - target),
        Drive::Effort(effort) => -effort,
    };
    spring + drive.clamp(-law.effort, law.effort)
}
