//! What the integrators promise, against closed forms and against themselves.

mod euler;
mod input;
mod runge_kutta;

use std::f64::consts::FRAC_PI_2;

use glam::{DQuat, DVec3};

use super::*;
use crate::reference::PhysicalPendulum;

const GRAVITY: f64 = 9.81;

fn no_force(_: &RigidBody, _: f64) -> Wrench {
    Wrench::ZERO
}

fn weight(body: &RigidBody, _: f64) -> Wrench {
    Wrench::weight(body.mass, DVec3::new(0.0, 0.0, -GRAVITY))
}

/// A free body far from symmetric, tumbling and drifting.
fn tumbling() -> RigidBody {
    RigidBody {
        x: DVec3::new(0.3, -0.2, 1.0),
        q: DQuat::from_xyzw(0.1, -0.4, 0.2, 0.8).normalize(),
        v: DVec3::new(1.0, 2.0, -0.5),
        omega: DVec3::new(2.0, -3.0, 1.5),
        ..RigidBody::at_rest(1.7, DVec3::new(0.3, 0.5, 0.7))
    }
}

/// A rod hinged at one end and released level, swinging in the x–z plane.
fn level_rod() -> (RigidBody, Pivot, PhysicalPendulum) {
    let (length, width, mass) = (1.0, 0.1, 2.0);
    let mut body = RigidBody::solid_box(mass / (length * width * width), {
        DVec3::new(length, width, width)
    });
    let pivot = Pivot {
        anchor_body: DVec3::new(-0.5 * length, 0.0, 0.0),
        anchor_world: DVec3::new(0.2, 0.1, 3.0),
    };
    pivot.snap(&mut body);
    let inertia = body.inertia.y + mass * 0.25 * length * length;
    let exact = PhysicalPendulum::new(mass, 0.5 * length, inertia, GRAVITY, FRAC_PI_2).unwrap();
    (body, pivot, exact)
}

/// Angle of the rod from its lowest position.
fn rod_angle(body: &RigidBody) -> f64 {
    let axis = body.q * DVec3::X;
    axis.x.atan2(-axis.z)
}

fn distance(a: &RigidBody, b: &RigidBody) -> f64 {
    let turn = (a.q.inverse() * b.q).xyz().length() * 2.0;
    (a.x - b.x).length() + (a.v - b.v).length() + (a.omega - b.omega).length() + turn
}

/// log₂ of the error ratio of successive halvings, given the error for a number of steps.
fn orders(error: impl Fn(usize) -> f64, steps: [usize; 3]) -> [f64; 2] {
    let errors = steps.map(&error);
    println!("errors {errors:?}");
    [
        (errors[0] / errors[1]).log2(),
        (errors[1] / errors[2]).log2(),
    ]
}

fn run(
    mut body: RigidBody,
    steps: usize,
    time: f64,
    step: impl Fn(&mut RigidBody, f64, f64),
) -> RigidBody {
    let h = time / steps as f64;
    for i in 0..steps {
        step(&mut body, i as f64 * h, h);
    }
    body
}
