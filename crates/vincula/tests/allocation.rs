//! No step allocates once the first few are made.
//!
//! The count is kept per thread, since tests run side by side.
// A global allocator cannot be written without `unsafe`; this one hands on to the system's.
#![allow(unsafe_code)]

mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use common::{ball_net, chain, free_boxes, hinge_tree, sprung_tree};
use vincula::contact::ContactSolver;
use vincula::joint::axis::Spring;
use vincula::model::{Damping, Drag};
use vincula::prelude::*;

struct Counting;

thread_local! {
    static COUNT: Cell<usize> = const { Cell::new(0) };
}

fn count() {
    // A thread that is being torn down has no counter any more; nothing is measured there.
    let _ = COUNT.try_with(|c| c.set(c.get() + 1));
}

// SAFETY: every request is passed to the system allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count();
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        unsafe { System.realloc(pointer, layout, size) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Allocations in 20 steps after 4 for warming up (the first step of BDF2 makes its history).
fn allocations(model: &Model, control: &Control, integrator: Integrator) -> usize {
    let mut state = model.initial_state();
    let mut work = Workspace::new(model, Settings::with_integrator(integrator));
    for _ in 0..4 {
        step(model, &mut state, control, &mut work, 1e-3).unwrap();
    }
    let before = COUNT.get();
    for _ in 0..20 {
        step(model, &mut state, control, &mut work, 1e-3).unwrap();
    }
    COUNT.get() - before
}

fn assert_quiet(model: &Model) {
    for integrator in Integrator::ALL {
        let count = allocations(model, &Control::new(model), integrator);
        assert_eq!(count, 0, "{integrator}");
    }
}

#[test]
fn the_counter_counts() {
    let before = COUNT.get();
    drop(std::hint::black_box(vec![1u8; 100]));
    assert_eq!(COUNT.get() - before, 1);
}

#[test]
fn free_bodies_do_not_allocate() {
    assert_quiet(&free_boxes(100));
}

#[test]
fn a_pendulum_does_not_allocate() {
    assert_quiet(&chain(1, false));
}

#[test]
fn a_ball_chain_does_not_allocate() {
    assert_quiet(&chain(100, false));
}

#[test]
fn a_hinge_chain_does_not_allocate() {
    assert_quiet(&chain(100, true));
}

#[test]
fn trees_and_nets_do_not_allocate() {
    assert_quiet(&hinge_tree(31));
    assert_quiet(&ball_net(4));
    let spring = Spring {
        stiffness: 2.0,
        ..Spring::default()
    };
    assert_quiet(&sprung_tree(100, spring));
}

#[test]
fn couplings_do_not_allocate() {
    let mut builder = ModelBuilder::new();
    let mut hinges = Vec::new();
    for k in 0..6 {
        let at = DVec3::X * f64::from(k);
        let shape = Shape::Sphere { radius: 0.1 };
        let body = builder.body(BodyDef::new(format!("ball {k}"), shape, 500.0).at(at));
        let limited = JointDef::hinge(format!("hinge {k}"), World, body, at + DVec3::Y, DVec3::Z);
        hinges.push(builder.joint(limited.limits(0, -1.0, 1e-4)));
        builder.coupling(CouplingDef::skate(
            format!("{k}"),
            World,
            body,
            at,
            DVec3::Y,
        ));
    }
    for k in [1, 2, 4, 5] {
        let gear = CouplingDef::gear(format!("gear {k}"), hinges[k - 1], hinges[k], -1.0);
        builder.coupling(gear);
    }
    assert_quiet(&builder.build().unwrap());
}

#[test]
fn forces_from_outside_do_not_allocate() {
    let mut builder = ModelBuilder::new();
    let shape = Shape::Sphere { radius: 0.1 };
    let rates = Damping {
        linear: 0.1,
        angular: 0.2,
    };
    let drag = Drag {
        linear: 0.1,
        quadratic: 0.2,
        angular: 0.01,
    };
    let ball = BodyDef::new("ball", shape, 500.0).damping(rates).drag(drag);
    let ball = builder.body(ball);
    let model = builder.build().unwrap();
    let mut control = Control::new(&model);
    control.add_torque(ball, DVec3::X);
    for integrator in Integrator::ALL {
        assert_eq!(allocations(&model, &control, integrator), 0, "{integrator}");
    }
}

#[test]
fn the_ground_does_not_allocate() {
    use vincula::force::ground::PenaltyGround;
    let mut builder = ModelBuilder::new();
    let (stiffness, damping) = (1e4, 10.0);
    builder.ground(PenaltyGround {
        height: 0.0,
        stiffness,
        damping,
        friction: 0.5,
        slip: 1e-3,
    });
    let shape = Shape::Cylinder {
        radius: 0.1,
        half_length: 0.2,
    };
    builder.body(BodyDef::new("cylinder", shape, 500.0).at(DVec3::Z * 0.2));
    assert_quiet(&builder.build().unwrap());
}

#[test]
fn detection_allocates_nothing_the_second_time() {
    use vincula::contact::{Contacts, HeightField, detect};
    let mut builder = ModelBuilder::new();
    let field = HeightField::sample(glam::DVec2::splat(6.0), 13, 13, |x, y| 0.1 * x * y);
    builder.collider(ColliderDef::new("floor", World, field));
    builder.collider(ColliderDef::ground("ground", -1.0));
    let (radius, half_length) = (0.25, 0.3);
    let shapes = [
        Shape::Sphere { radius },
        Shape::Box {
            half_extents: DVec3::splat(0.3),
        },
        Shape::Capsule {
            radius,
            half_length,
        },
        Shape::Cylinder {
            radius,
            half_length,
        },
        Shape::Cone {
            radius,
            half_length,
        },
        Shape::ConvexHull {
            points: vec![DVec3::ZERO, 0.6 * DVec3::X, 0.6 * DVec3::Y, 0.6 * DVec3::Z],
        },
    ];
    for k in 0..60 {
        let t = k as f64;
        let at = 0.9 * DVec3::new((1.3 * t).sin(), (2.1 * t).cos(), (0.7 * t).sin());
        let body = BodyDef::new(format!("body {k}"), shapes[k % 6].clone(), 1000.0)
            .at(at)
            .moving(0.1 * at, DVec3::new(1.0, t.sin(), t.cos()));
        builder.body(body.colliding(Surface::default()));
    }
    let model = builder.build().unwrap();
    let (state, control) = (model.initial_state(), Control::new(&model));
    let mut contacts = Contacts::new();
    detect(&model, &state, &control, 0.01, &mut contacts);
    assert!(
        contacts.points.len() > 300,
        "only {}",
        contacts.points.len()
    );
    let before = COUNT.get();
    detect(&model, &state, &control, 0.01, &mut contacts);
    assert_eq!(COUNT.get() - before, 0);
}

/// Allocations in 50 steps of a world with contacts that has come to rest.
fn settled_allocations(model: &Model, solver: ContactSolver, h: f64) -> usize {
    let settings = Settings {
        contact_solver: solver,
        ..Settings::default()
    };
    let (mut state, control) = (model.initial_state(), Control::new(model));
    let mut work = Workspace::new(model, settings);
    for _ in 0..150 {
        step(model, &mut state, &control, &mut work, h).unwrap();
    }
    let before = COUNT.get();
    for _ in 0..50 {
        let report = step(model, &mut state, &control, &mut work, h).unwrap();
        assert!(report.contacts > 0);
    }
    COUNT.get() - before
}

/// Boxes in five columns of two, and a hinged lever that lies on the first.
fn touching() -> Model {
    let mut builder = ModelBuilder::new();
    builder.collider(ColliderDef::ground("ground", 0.0));
    let half_extents = DVec3::splat(0.05);
    for k in 0..10 {
        let at = DVec3::new(0.12 * f64::from(k % 5), 0.0, 0.05 + 0.1 * f64::from(k / 5));
        let cube = BodyDef::new(format!("box {k}"), Shape::Box { half_extents }, 1000.0);
        builder.body(cube.at(at).colliding(Surface::with_friction(0.5)));
    }
    let half_extents = DVec3::new(0.2, 0.02, 0.02);
    let lever = BodyDef::new("lever", Shape::Box { half_extents }, 1000.0);
    let at = DVec3::new(-0.2, 0.0, 0.22);
    let lever = builder.body(lever.at(at).colliding(Surface::with_friction(0.5)));
    let hinge = JointDef::hinge("hinge", World, lever, at - DVec3::X * 0.2, DVec3::Y);
    builder.joint(hinge.limits(0, -1.0, 1.0).friction(0, 0.01));
    builder.build().unwrap()
}

#[test]
fn contacts_at_rest_do_not_allocate() {
    let model = touching();
    for solver in ContactSolver::ALL {
        let count = settled_allocations(&model, solver, 0.01);
        assert_eq!(count, 0, "{solver}");
    }
}
