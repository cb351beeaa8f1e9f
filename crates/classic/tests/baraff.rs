//! What Baraff's method promises.

mod oracle;

use oracle::{Numbers, dense_accelerations, random_tree};
use vincula::joint::JointKind;
use vincula::prelude::*;
use vincula_classic::baraff::{Baraff, Gear, Hold};
use vincula_classic::system::forces::{gather_forces, gyroscopic};
use vincula_classic::system::rows::{Six, pack, unpack};
use vincula_classic::system::{Method, MethodError, System};

fn forces(model: &Model, system: &System) -> Vec<Six> {
    let mut out = vec![[0.0; 6]; system.bodies.len()];
    gather_forces(model, system, &Control::new(model), &mut out);
    for (force, body) in out.iter_mut().zip(&system.bodies) {
        let [f, torque] = unpack(force);
        *force = pack(f, torque + gyroscopic(body));
    }
    out
}

fn compare_with_dense(model: &Model) {
    let state = model.initial_state();
    let mut baraff = Baraff::new(model, &state).expect("it can run");
    let exact = dense_accelerations(baraff.system(), &forces(model, baraff.system()));
    let found = baraff
        .accelerations(model, &Control::new(model))
        .expect("accelerations");
    let size = exact.iter().flatten().fold(0.0, |m: f64, x| m.max(x.abs()));
    for (x, y) in found.iter().flatten().zip(exact.iter().flatten()) {
        assert!((x - y).abs() < 1e-10 * size, "{x} {y} of {size}");
    }
}

#[test]
fn accelerations_of_random_trees_are_those_of_the_dense_matrix() {
    let mut numbers = Numbers(11);
    for bodies in [2, 3, 8, 20] {
        for grounded in [false, true] {
            compare_with_dense(&random_tree(bodies, 0, grounded, &mut numbers));
        }
    }
}

#[test]
fn accelerations_with_loops_are_those_of_the_dense_matrix() {
    let mut numbers = Numbers(5);
    for bodies in [6, 12, 20] {
        compare_with_dense(&random_tree(bodies, 2, true, &mut numbers));
    }
}

/// A pendulum of rods on balls or hinges.
fn rods(count: usize, kind: JointKind) -> Model {
    let mut builder = ModelBuilder::new();
    let shape = Shape::Box {
        half_extents: DVec3::new(0.5, 0.05, 0.05),
    };
    let mut last = None;
    for index in 0..count {
        let x = index as f64;
        let rod = builder.body(
            BodyDef::new(format!("rod{index}"), shape.clone(), 1000.0).at(DVec3::X * (x + 0.5)),
        );
        let point = DVec3::X * x;
        let name = format!("j{index}");
        builder.joint(match last {
            None => JointDef::new(name, kind, World, rod, point, DVec3::Y),
            Some(last) => JointDef::new(name, kind, last, rod, point, DVec3::Y),
        });
        last = Some(rod);
    }
    builder.build().expect("rods")
}

fn run(baraff: &mut Baraff, model: &Model, h: f64, duration: f64) {
    let control = Control::new(model);
    for _ in 0..(duration / h).round() as usize {
        baraff.step(model, &control, h).expect("a step");
    }
}

#[test]
fn a_chain_keeps_its_joints_and_its_energy_to_second_order() {
    let model = rods(3, JointKind::Ball);
    let state = model.initial_state();
    let lost = |h: f64| {
        let mut baraff = Baraff::new(&model, &state).expect("it can run");
        let start = baraff.system().energy(&model).total();
        run(&mut baraff, &model, h, 0.5);
        assert!(baraff.system().worst_violation().0 < 1e-9);
        assert!(baraff.system().worst_rate() < 1e-9);
        let energy = baraff.system().energy(&model);
        (energy.total() - start).abs() / energy.kinetic
    };
    let (coarse, fine) = (lost(4e-3), lost(1e-3));
    assert!(coarse < 1e-2, "{coarse}");
    assert!(fine < coarse / 8.0, "{coarse} {fine}");
}

/// Two wheels that turn in a frame; the frame hangs on a ball.
fn wheels() -> (Model, [BodyId; 2]) {
    let mut builder = ModelBuilder::new();
    let shape = |x, y, z| Shape::Box {
        half_extents: DVec3::new(x, y, z),
    };
    let frame = builder.body(BodyDef::new("frame", shape(0.5, 0.1, 0.05), 900.0));
    let wheel = |name: &str, x: f64| {
        BodyDef::new(name, shape(0.2, 0.05, 0.1), 900.0).at(DVec3::new(x, 0.2, 0.0))
    };
    let one = builder.body(wheel("one", -0.4).moving(DVec3::ZERO, DVec3::Y * 3.0));
    let two = builder.body(wheel("two", 0.4));
    builder.joint(JointDef::ball(
        "hang",
        World,
        frame,
        DVec3::new(0.1, 0.0, 0.5),
    ));
    for (name, body, x) in [("first", one, -0.4), ("second", two, 0.4)] {
        let point = DVec3::new(x, 0.2, 0.0);
        builder.joint(JointDef::hinge(name, frame, body, point, DVec3::Y));
    }
    (builder.build().expect("wheels"), [one, two])
}

#[test]
fn a_gear_ratio_is_held_to_rounding_as_primary_or_auxiliary_constraint() {
    let (model, bodies) = wheels();
    // The principal axes of these boxes are the axes of their shapes.
    let gear = Gear {
        bodies,
        axes_body: [DVec3::Y; 2],
        ratio: -2.0,
    };
    let state = model.initial_state();
    let mut baraff = Baraff::with(&model, &state, vec![gear], Vec::new()).expect("it can run");
    assert_eq!(baraff.forest().auxiliary(), [3], "the gear closes a loop");
    baraff.project_velocities(&model).expect("an impulse");
    for _ in 0..500 {
        baraff
            .step(&model, &Control::new(&model), 2e-3)
            .expect("a step");
        assert!(baraff.gear_error() < 1e-9, "{}", baraff.gear_error());
    }
    assert!(baraff.system().bodies[1].omega.length() > 0.1, "it turns");

    let mut builder = ModelBuilder::new();
    builder.gravity(DVec3::ZERO);
    let shape = Shape::Box {
        half_extents: DVec3::new(0.3, 0.2, 0.1),
    };
    let spin = DVec3::new(1.0, 2.0, 0.5);
    let a = builder.body(BodyDef::new("a", shape.clone(), 500.0).moving(DVec3::ZERO, spin));
    let b = builder.body(BodyDef::new("b", shape, 500.0).at(DVec3::X));
    let model = builder.build().expect("two bodies");
    let gear = Gear {
        bodies: [a, b],
        ..gear
    };
    let state = model.initial_state();
    let mut baraff = Baraff::with(&model, &state, vec![gear], Vec::new()).expect("it can run");
    assert!(baraff.forest().auxiliary().is_empty());
    baraff.project_velocities(&model).expect("an impulse");
    run(&mut baraff, &model, 1e-3, 1.0);
    assert!(baraff.gear_error() < 1e-9, "{}", baraff.gear_error());
    assert!(baraff.system().bodies[1].omega.length() > 0.1, "it drives");
}

#[test]
fn a_limit_stops_a_pendulum_and_lets_it_rest_there() {
    let mut builder = ModelBuilder::new();
    let shape = Shape::Box {
        half_extents: DVec3::new(0.5, 0.05, 0.05),
    };
    let rod = builder.body(BodyDef::new("rod", shape, 1000.0).at(DVec3::X * 0.5));
    let hinge = JointDef::hinge("pin", World, rod, DVec3::ZERO, DVec3::Y);
    let pin = builder.joint(hinge.limits(0, -1.0, 0.6));
    let model = builder.build().expect("a pendulum");
    let mut state = model.initial_state();
    let mut baraff = Baraff::new(&model, &state).expect("it can run");
    for step in 0..1500 {
        baraff
            .step(&model, &Control::new(&model), 1e-3)
            .expect("a step");
        baraff.system().write_state(&model, &mut state);
        let angle = state.coordinate(&model, pin, 0).expect("an angle");
        assert!(angle < 0.6 + 1e-8, "step {step}: {angle}");
    }
    let angle = state.coordinate(&model, pin, 0).expect("an angle");
    assert!((angle - 0.6).abs() < 1e-8, "{angle}");
    assert!(baraff.system().bodies[0].omega.length() < 1e-8);
}

#[test]
fn a_dragged_hand_arrives_and_the_figure_stays_whole() {
    // A straight arm could not give way towards its shoulder, so this one sags first.
    let model = rods(50, JointKind::Ball);
    let mut state = model.initial_state();
    let mut falling = Baraff::new(&model, &state).expect("it can run");
    run(&mut falling, &model, 2e-3, 0.5);
    falling.system().write_state(&model, &mut state);
    let start = falling.system().bodies[49].point(DVec3::X * 0.5);
    let hand = model.body_ids().last().expect("rods");
    let hold = Hold::Point {
        body: hand,
        point_body: DVec3::X * 0.5,
        target: start,
    };
    let mut baraff = Baraff::with(&model, &state, Vec::new(), vec![hold]).expect("it can run");
    let mut target = start;
    for _ in 0..40 {
        target += DVec3::new(-0.4, 0.1, 0.25);
        baraff.holds_mut()[0] = Hold::Point {
            body: hand,
            point_body: DVec3::X * 0.5,
            target,
        };
        let left = baraff.manipulate(&model).expect("a drag");
        assert!(left < 1e-9, "{left}");
    }
    let tip = baraff.system().bodies[49].point(DVec3::X * 0.5);
    assert!((tip - target).length() < 1e-9);
    assert!(baraff.system().worst_violation().0 < 1e-9);
}

#[test]
fn the_centroid_of_a_chain_slides_down_its_plane() {
    let model = rods(4, JointKind::Ball);
    let state = model.initial_state();
    // On a horizontal plane the hold would carry the weight of every rod, and nothing move.
    let normal = DVec3::new(0.0, 0.6, 0.8);
    let hold = Hold::Centroid {
        normal,
        offset: 0.0,
    };
    let mut baraff = Baraff::with(&model, &state, Vec::new(), vec![hold]).expect("it can run");
    run(&mut baraff, &model, 1e-3, 0.3);
    let bodies = &baraff.system().bodies;
    let height: f64 = bodies.iter().map(|b| b.x.dot(normal)).sum::<f64>() / 4.0;
    assert!(height.abs() < 1e-9, "{height}");
    assert!(bodies[3].x.z.abs() > 0.01, "the chain moves");
}

#[test]
fn rods_that_do_not_fit_are_refused_by_name_with_a_method_that_can() {
    let mut builder = ModelBuilder::new();
    let shape = Shape::Box {
        half_extents: DVec3::new(0.5, 0.05, 0.05),
    };
    let rod = builder.body(BodyDef::new("rod", shape, 1000.0));
    let frame = |x: f64| Pose {
        translation: DVec3::X * x,
        ..Pose::IDENTITY
    };
    for (name, x) in [("left", -0.5), ("right", 0.6)] {
        let body = if x < 0.0 { x } else { 0.5 };
        let frames = [frame(x), frame(body)];
        builder.joint(JointDef::with_frames(
            name,
            JointKind::Ball,
            World,
            rod,
            frames,
        ));
    }
    let model = builder
        .build()
        .expect("a rod between two pins too far apart");
    let mut baraff = Baraff::new(&model, &model.initial_state()).expect("it can run");
    let error = baraff
        .step(&model, &Control::new(&model), 1e-3)
        .expect_err("the rod is too short");
    assert!(matches!(error, MethodError::Conflict { .. }), "{error}");
    let text = error.to_string();
    assert!(
        text.contains("'right'") && text.contains("affine"),
        "{text}"
    );
    assert_eq!(baraff.system().time, 0.0);
}
