//! Contacts on bodies that joints hold: levers that jam, blows on linkages, what a blow leaves
//! behind.

mod common;
mod contact_worlds;

use contact_worlds::{cuboid, sphere};
use vincula::diagnostics::{energy, worst_gap};
use vincula::prelude::*;
use vincula::step::StepError;

const STEEL: f64 = 2e11;

/// A beam on a hinge at the origin, level along +x or lifted by an angle, rad; a block of 7.5 t
/// hangs at its end, 3 m out, and a fixed stop is under it from 0.2 m to 0.3 m.
fn lever(lifted: f64, friction: f64) -> (Model, [BodyId; 2]) {
    let mut builder = ModelBuilder::new();
    let surface = Surface::with_friction(friction);
    let stop = cuboid(DVec3::new(0.05, 0.2, 0.1));
    let stop = ColliderDef::new("stop", World, stop).at(DVec3::new(0.25, 0.0, -0.15));
    builder.collider(stop.surface(surface));
    let turned = DQuat::from_rotation_y(-lifted);
    let out = turned * DVec3::X;
    let shape = cuboid(DVec3::new(1.5, 0.05, 0.05));
    let beam = BodyDef::new("beam", shape.clone(), 1000.0)
        .mass(50.0)
        .material(Material::with_young(STEEL))
        .at(1.5 * out)
        .turned(turned);
    let beam = builder.body(beam);
    builder.collider(ColliderDef::new("beam", beam, shape).surface(surface));
    let block = BodyDef::new("block", cuboid(DVec3::splat(0.7)), 1000.0)
        .mass(7500.0)
        .material(Material::with_young(STEEL))
        .at(3.0 * out - 0.7 * DVec3::Z);
    let block = builder.body(block);
    builder.joint(JointDef::hinge("pivot", World, beam, DVec3::ZERO, DVec3::Y));
    builder.joint(JointDef::hinge("hook", beam, block, 3.0 * out, DVec3::Y));
    (builder.build().unwrap(), [beam, block])
}

#[test]
fn a_lever_presses_on_its_stop_with_the_force_of_statics() {
    let (model, [beam, _]) = lever(0.0, 0.0);
    let expected = 9.81 * (7500.0 * 3.0 + 50.0 * 1.5) / 0.3;
    for h in [0.002, 0.02, 0.25] {
        let mut state = model.initial_state();
        let mut work = Workspace::new(&model, Settings::default());
        let control = Control::new(&model);
        // It swings on the beam's stiffness at first; the mean over a while is what counts.
        let steps = (2.0f64 / h) as usize;
        let mut force = 0.0;
        for k in 0..2 * steps {
            let report = step(&model, &mut state, &control, &mut work, h).unwrap();
            assert!(report.penetration < 1e-6, "h {h}: {:e}", report.penetration);
            if k >= steps {
                let push: f64 = work.contact_readings().map(|c| c.impulse / h).sum();
                force += push / steps as f64;
            }
        }
        let off = force / expected - 1.0;
        println!("h {h}: {force:.1} N of {expected:.1} N");
        assert!(off.abs() < 2e-3, "h {h}: {force} instead of {expected}");
        let spin = state.twist(&model, beam).angular;
        assert!(spin.x.abs().max(spin.z.abs()) < 1e-4, "h {h}: {spin}");
    }
}

#[test]
fn a_lever_that_falls_on_its_stop_does_not_explode() {
    for friction in [0.0, 0.4] {
        let (model, [beam, _]) = lever(0.5, friction);
        // What one linearisation takes for strain in steel is no energy that moves anything.
        let mechanical = |state: &State| {
            let e = energy(&model, state);
            e.kinetic + e.potential
        };
        let start = mechanical(&model.initial_state());
        for h in [0.002, 0.01, 0.02, 0.05, 0.1, 0.25] {
            let mut state = model.initial_state();
            let mut work = Workspace::new(&model, Settings::default());
            let control = Control::new(&model);
            let (mut gained, mut deepest, mut twist) = (f64::NEG_INFINITY, 0.0f64, 0.0f64);
            for _ in 0..(4.0f64 / h) as usize {
                let report = step(&model, &mut state, &control, &mut work, h).unwrap();
                gained = gained.max(mechanical(&state) - start);
                deepest = deepest.max(report.penetration);
                // Only the axis of the hinge is free.
                let spin = state.twist(&model, beam).angular;
                twist = twist.max(spin.x.abs()).max(spin.z.abs());
                let (gap, _) = worst_gap(&model, &state);
                assert!(gap < 1e-8, "h {h}: joint gap {gap:e}");
            }
            println!("h {h}: gained {gained:e}, deepest {deepest:e}, twist {twist:e}");
            assert!(
                gained < 1e-3 * start.abs(),
                "h {h}: gained {gained} of {start}"
            );
            assert!(deepest < 1e-5, "h {h}: {deepest:e} m deep");
            assert!(
                twist < 1e-3,
                "h {h}: turns across its hinge, {twist:e} rad/s"
            );
        }
    }
}

/// A four-bar linkage in a plane, whose hinges are redundant, falls on its two feet.
fn linkage() -> Model {
    let mut builder = ModelBuilder::new();
    builder.collider(ColliderDef::ground("ground", 0.0));
    let mut bar = |name: &str, from: DVec3, to: DVec3| {
        let along = to - from;
        let shape = cuboid(DVec3::new(0.5 * along.length(), 0.01, 0.01));
        let turned = DQuat::from_rotation_arc(DVec3::X, along.normalize());
        let def = BodyDef::new(name, shape, 600.0)
            .material(Material::with_young(1e11))
            .at(0.5 * (from + to))
            .turned(turned);
        builder.body(def)
    };
    let (a, b) = (DVec3::new(-0.3, 0.0, 0.9), DVec3::new(0.3, 0.0, 0.9));
    let (c, d) = (DVec3::new(-0.2, 0.0, 0.5), DVec3::new(0.35, 0.0, 0.5));
    let top = bar("top", a, b);
    let left = bar("left", a, DVec3::new(-0.1, 0.0, 0.1));
    let right = bar("right", b, DVec3::new(0.4, 0.0, 0.1));
    let cross = bar("cross", c, d);
    for (name, one, two, at) in [
        ("a", top, left, a),
        ("b", top, right, b),
        ("c", left, cross, c),
        ("d", right, cross, d),
    ] {
        builder.joint(JointDef::hinge(name, one, two, at, DVec3::Y));
    }
    for (name, body, foot) in [("l", left, -0.1), ("r", right, 0.4)] {
        let collider = ColliderDef::new(name, body, sphere(0.03));
        // In the frame of the bar: its far end.
        let end = (DVec3::new(foot, 0.0, 0.1) - if name == "l" { a } else { b }).length();
        builder.collider(collider.at(DVec3::X * 0.5 * end));
    }
    builder.build().unwrap()
}

#[test]
fn a_blow_on_a_linkage_acts_once() {
    let model = linkage();
    for h in [0.005, 0.02] {
        let mut state = model.initial_state();
        let mut work = Workspace::new(&model, Settings::default());
        let control = Control::new(&model);
        let start = energy(&model, &state).total();
        let mut last = start;
        // Until it has folded up.
        for k in 0..(0.6f64 / h) as usize {
            step(&model, &mut state, &control, &mut work, h).unwrap();
            let now = energy(&model, &state).total();
            assert!(
                now < last + 2e-3 * start,
                "h {h}, step {k}: gained {} of {start}",
                now - last
            );
            last = now;
            let (gap, _) = worst_gap(&model, &state);
            assert!(gap < 1e-7, "h {h}: joint gap {gap:e}");
        }
        assert!(last < 0.99 * start, "it fell and lost nothing");
    }
}

#[test]
fn a_body_thrown_off_beyond_reason_is_refused_and_named() {
    let mut builder = ModelBuilder::new();
    builder.gravity(DVec3::ZERO);
    let ram = builder.frame("ram", Pose::IDENTITY);
    let wall = cuboid(DVec3::new(0.1, 1.0, 1.0));
    builder.collider(ColliderDef::new("ram", ram, wall));
    let at = DVec3::X * 0.2;
    let ball = builder.body(BodyDef::new("ball", sphere(0.1), 1000.0).at(at));
    builder.collider(ColliderDef::new("ball", ball, sphere(0.1)));
    let model = builder.build().unwrap();
    let run = |speed: f64| {
        let mut state = model.initial_state();
        let mut control = Control::new(&model);
        let twist = Twist {
            linear: DVec3::X * speed,
            angular: DVec3::ZERO,
        };
        let pose = Pose::IDENTITY;
        assert!(control.move_frame(ram, FrameMotion { pose, twist }));
        let mut work = Workspace::new(&model, Settings::default());
        let made = step(&model, &mut state, &control, &mut work, 1e-3);
        (made, state)
    };
    let (made, state) = run(1e3);
    assert!(made.is_ok());
    assert!((state.twist(&model, ball).linear.x - 1e3).abs() < 1.0);
    let (made, state) = run(1e6);
    match made {
        Err(StepError::Contact { body, speed, .. }) => {
            assert_eq!(body, "ball");
            assert!(speed > 1e5, "{speed}");
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(state, model.initial_state());
}
