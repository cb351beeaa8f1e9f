//! Gears, racks, screws and velocity couplings, against closed forms.

mod common;

use std::f64::consts::TAU;

use common::{run, total_energy};
use vincula::diagnostics::{coupling_effort, coupling_error, momentum, worst_gap};
use vincula::joint::axis::Drive;
use vincula::joint::{Coordinate, JointKind};
use vincula::model::Wrench;
use vincula::prelude::*;

/// Velocities are projected until a step of 2 ms is off by less than 1e-11 m, or 1e-7 rad/s at
/// the radius of gyration of these wheels, 0.07 m.
const RATE: f64 = 1e-7;

fn wheel(name: &str, radius: f64) -> BodyDef {
    let half_length = 0.02;
    let shape = Shape::Cylinder {
        radius,
        half_length,
    };
    BodyDef::new(name, shape, 2000.0)
}

/// Two wheels on hinges of the world about z, geared.
fn gears(ratio: f64) -> (Model, [BodyId; 2], CouplingId) {
    let mut builder = ModelBuilder::new();
    builder.gravity(DVec3::ZERO);
    let small = builder.body(wheel("small", 0.1));
    let large = builder.body(wheel("large", 0.2).at(DVec3::X * 0.3));
    let first = builder.joint(JointDef::hinge(
        "small",
        World,
        small,
        DVec3::ZERO,
        DVec3::Z,
    ));
    let second = JointDef::hinge("large", World, large, DVec3::X * 0.3, DVec3::Z);
    let second = builder.joint(second);
    let gear = builder.coupling(CouplingDef::gear("gear", first, second, ratio));
    (builder.build().unwrap(), [small, large], gear)
}

fn spin(model: &Model, state: &mut State, body: BodyId, angular: DVec3) {
    let linear = state.twist(model, body).linear;
    state.set_twist(model, body, Twist { linear, angular });
}

fn inertia(model: &Model, body: BodyId) -> f64 {
    model.body(body).mass.inertia().z
}

#[test]
fn a_torque_on_one_gear_turns_both() {
    for integrator in Integrator::ALL {
        let ratio = -0.5;
        let (model, [small, large], gear) = gears(ratio);
        let mut state = model.initial_state();
        let mut work = Workspace::new(&model, Settings::with_integrator(integrator));
        let mut control = Control::new(&model);
        let torque = 0.7;
        control.add_torque(small, DVec3::Z * torque);
        for _ in 0..100 {
            let report = step(&model, &mut state, &control, &mut work, 1e-3).unwrap();
            assert!(report.residual < 1e-10, "{integrator}: {report:?}");
        }
        let load = inertia(&model, small) + ratio * ratio * inertia(&model, large);
        let expected = torque / load * 0.1;
        let rate = state.twist(&model, small).angular.z;
        // Implicit Euler brakes what turns.
        let tolerance = if integrator.order() == 1 { 1e-4 } else { 1e-6 };
        assert!(
            (rate / expected - 1.0).abs() < tolerance,
            "{integrator}: {rate} {expected}"
        );
        // What turns the large wheel comes through the gear alone.
        let passed = coupling_effort(&model, &state, gear, 1).unwrap();
        let needed = inertia(&model, large) * ratio * torque / load;
        assert!(
            (passed / needed - 1.0).abs() < 1e-4,
            "{integrator}: {passed} {needed}"
        );
    }
}

#[test]
fn gears_stay_in_mesh_over_many_turns() {
    let (model, [small, large], gear) = gears(-0.5);
    let mut state = model.initial_state();
    spin(&model, &mut state, small, DVec3::Z * 60.0);
    spin(&model, &mut state, large, DVec3::Z * -30.0);
    let start = total_energy(&model, &state);
    let mut work = Workspace::new(&model, Settings::default());
    run(&model, &mut state, &mut work, 5e-3, 8000);
    let joint = model.find_joint("small").unwrap();
    let turns = state.coordinate(&model, joint, 0).unwrap() / TAU;
    let error = coupling_error(&model, &state, gear);
    let energy = total_energy(&model, &state) / start - 1.0;
    println!("{turns:.0} turns, error {error:.1e} rad, energy {energy:.1e}");
    assert!(turns > 380.0 && error.abs() < 1e-9 && energy.abs() < 1e-8);
}

/// A carrier that turns about z, and two geared wheels on it.
fn planetary() -> (Model, CouplingId) {
    let mut builder = ModelBuilder::new();
    builder.gravity(DVec3::ZERO);
    let half_extents = DVec3::new(0.3, 0.05, 0.02);
    let carrier = builder.body(BodyDef::new("carrier", Shape::Box { half_extents }, 1000.0));
    builder.joint(JointDef::hinge(
        "axle",
        World,
        carrier,
        DVec3::ZERO,
        DVec3::Z,
    ));
    let mut hinges = Vec::new();
    for (name, x) in [("left", -0.2), ("right", 0.2)] {
        let at = DVec3::new(x, 0.0, 0.05);
        let body = builder.body(wheel(name, 0.1).at(at));
        hinges.push(builder.joint(JointDef::hinge(name, carrier, body, at, DVec3::Z)));
    }
    let gear = builder.coupling(CouplingDef::gear("gear", hinges[0], hinges[1], -1.5));
    (builder.build().unwrap(), gear)
}

/// Relative change of energy and angular momentum in four seconds, and the error of the mesh.
fn planetary_drift(integrator: Integrator, h: f64) -> [f64; 3] {
    let (model, gear) = planetary();
    let mut state = model.initial_state();
    // Wheels at 5 and -7.5 rad/s relative to a carrier at 2 rad/s.
    for (body, angular) in model.body_ids().zip([2.0, 7.0, -5.5]) {
        let linear = DVec3::Z.cross(state.center(body)) * 2.0;
        let angular = DVec3::Z * angular;
        state.set_twist(&model, body, Twist { linear, angular });
    }
    let (energy, turning) = (
        total_energy(&model, &state),
        momentum(&model, &state).angular.z,
    );
    let mut work = Workspace::new(&model, Settings::with_integrator(integrator));
    run(&model, &mut state, &mut work, h, (4.0 / h).round() as usize);
    assert!(worst_gap(&model, &state).0 < 1e-9);
    let lost = total_energy(&model, &state) / energy - 1.0;
    let drift = momentum(&model, &state).angular.z / turning - 1.0;
    [lost, drift, coupling_error(&model, &state, gear)].map(f64::abs)
}

#[test]
fn gears_on_a_moving_carrier_keep_energy_and_angular_momentum() {
    for integrator in [Integrator::Tempered, Integrator::Rattle] {
        let [coarse, fine] = [4e-3, 1e-3].map(|h| planetary_drift(integrator, h));
        println!("{integrator}: energy, momentum, mesh {coarse:?} {fine:?}");
        assert!(fine[0] < 5e-6 && fine[1] < 5e-6 && fine[2] < 1e-9);
        for k in 0..2 {
            // Below ρv²/E = 1e-6 what counts is that the bodies start without the strain of
            // their rotation, whatever the step.
            assert!(
                fine[k] < 0.1 * coarse[k] || fine[k] < 1e-6,
                "not of second order"
            );
        }
    }
}

#[test]
fn a_rack_falls_as_fast_as_its_pinion_lets_it() {
    let mut builder = ModelBuilder::new();
    let pinion = builder.body(wheel("pinion", 0.1));
    let half_extents = DVec3::new(0.02, 0.02, 0.5);
    let bar = BodyDef::new("bar", Shape::Box { half_extents }, 1000.0).at(DVec3::X * 0.12);
    let bar = builder.body(bar);
    let hinge = builder.joint(JointDef::hinge(
        "axle",
        World,
        pinion,
        DVec3::ZERO,
        DVec3::Z,
    ));
    let rail = JointDef::prismatic("rail", World, bar, DVec3::X * 0.12, DVec3::Z);
    let rail = builder.joint(rail);
    let rack = builder.coupling(CouplingDef::rack("rack", hinge, rail, 0.1));
    let model = builder.build().unwrap();
    let mut state = model.initial_state();
    let mut work = Workspace::new(&model, Settings::default());
    run(&model, &mut state, &mut work, 1e-3, 500);
    let mass = model.body(bar).mass.mass;
    let expected = -9.81 * mass / (mass + inertia(&model, pinion) / 0.01) * 0.5;
    let speed = state.coordinate_rate(&model, rail, 0).unwrap();
    assert!((speed / expected - 1.0).abs() < 1e-6, "{speed} {expected}");
    assert!(coupling_error(&model, &state, rack).abs() < 1e-10);
}

#[test]
fn a_nut_turns_down_its_screw() {
    let mut builder = ModelBuilder::new();
    let nut = builder.body(wheel("nut", 0.05));
    let lead = 0.02;
    let screw = JointDef::screw("screw", World, nut, DVec3::ZERO, DVec3::Z, lead);
    let joint = builder.joint(screw);
    let model = builder.build().unwrap();
    let thread = model.find_coupling("screw").unwrap();
    let mut state = model.initial_state();
    let mut work = Workspace::new(&model, Settings::default());
    run(&model, &mut state, &mut work, 1e-3, 3000);
    let mass = model.body(nut).mass.mass;
    let turning = inertia(&model, nut) * (TAU / lead).powi(2);
    let expected = -9.81 * mass / (mass + turning) * 3.0;
    let speed = state.coordinate_rate(&model, joint, 1).unwrap();
    let turns = state.coordinate(&model, joint, 0).unwrap() / TAU;
    println!("{turns:.1} turns, {speed} m/s, expected {expected}");
    assert!((speed / expected - 1.0).abs() < 1e-5, "{speed} {expected}");
    assert!(coupling_error(&model, &state, thread).abs() < 1e-9);
}

#[test]
fn a_differential_shares_the_turn_of_its_cage() {
    let mut builder = ModelBuilder::new();
    builder.gravity(DVec3::ZERO);
    let mut hinges: Vec<Coordinate> = Vec::new();
    for (k, name) in ["cage", "left", "right"].into_iter().enumerate() {
        let at = DVec3::X * (0.5 * k as f64);
        let body = builder.body(wheel(name, 0.1).at(at));
        hinges.push(
            builder
                .joint(JointDef::hinge(name, World, body, at, DVec3::Z))
                .into(),
        );
    }
    let terms = [(hinges[0], 2.0), (hinges[1], -1.0), (hinges[2], -1.0)];
    let cage = builder.coupling(CouplingDef::sum("differential", &terms));
    let model = builder.build().unwrap();
    let mut state = model.initial_state();
    let mut work = Workspace::new(&model, Settings::default());
    let mut control = Control::new(&model);
    let bodies: Vec<BodyId> = model.body_ids().collect();
    control.add_torque(bodies[0], DVec3::Z);
    // The left wheel is held by a counter torque, so that the right one runs ahead.
    control.add_torque(bodies[1], DVec3::Z * -0.2);
    for _ in 0..500 {
        step(&model, &mut state, &control, &mut work, 2e-3).unwrap();
    }
    let rate = |k: usize| state.twist(&model, bodies[k]).angular.z;
    assert!(rate(2) > rate(1) + 1.0);
    let turning = |k: usize| state.coordinate_rate(&model, hinges[k].joint, 0).unwrap();
    assert!((2.0 * turning(0) - turning(1) - turning(2)).abs() < RATE);
    assert!(coupling_error(&model, &state, cage).abs() < 1e-10);
    // Lagrange: I (2 a_cage) gives α = (T − 2μ)/I, (−0.2 + μ)/I, μ/I with 2α₀ = α₁ + α₂.
    let mu = (2.0 + 0.2) / 6.0;
    let expected = (1.0 - 2.0 * mu) / inertia(&model, bodies[0]);
    assert!(
        (rate(0) / expected - 1.0).abs() < 1e-6,
        "{} {expected}",
        rate(0)
    );
}

#[test]
fn rates_follow_a_ratio_that_changes_while_they_run() {
    let mut builder = ModelBuilder::new();
    builder.gravity(DVec3::ZERO);
    let motor = builder.body(wheel("motor", 0.1));
    let driven = builder.body(wheel("driven", 0.1).at(DVec3::X));
    let drive = Drive::Velocity {
        target: 10.0,
        damping: 100.0,
    };
    let first = JointDef::hinge("motor", World, motor, DVec3::ZERO, DVec3::Z);
    let first = builder.joint(first.drive(0, drive, f64::INFINITY));
    let second = builder.joint(JointDef::hinge("driven", World, driven, DVec3::X, DVec3::Z));
    let terms = [(first.into(), -1.0), (second.into(), 1.0)];
    let belt = builder.coupling(CouplingDef::rates("belt", &terms, 0.5));
    let model = builder.build().unwrap();
    let mut state = model.initial_state();
    let mut work = Workspace::new(&model, Settings::default());
    let mut control = Control::new(&model);
    for k in 0..400 {
        let ratio = 1.0 + 0.005 * f64::from(k);
        assert!(control.set_coupling_factor(&model, belt, 0, -ratio));
        step(&model, &mut state, &control, &mut work, 2e-3).unwrap();
        // Bodies are elastic: it is the frames of the joints that the coupling ties.
        let rates = [first, second].map(|j| state.coordinate_rate(&model, j, 0).unwrap());
        let error = rates[1] - ratio * rates[0] - 0.5;
        assert!(error.abs() < RATE, "step {k}: {error:.1e} rad/s");
    }
    assert!((state.twist(&model, driven).angular.z - 30.4).abs() < 0.5);
    assert!(control.set_coupling_rate(&model, belt, -1.0));
    step(&model, &mut state, &control, &mut work, 2e-3).unwrap();
    let rates = [first, second].map(|j| state.coordinate_rate(&model, j, 0).unwrap());
    assert!((rates[1] - 2.995 * rates[0] + 1.0).abs() < RATE);
    assert!(!control.set_coupling_rate(&model, belt, f64::NAN));
}

/// Chaplygin's sleigh: a blade at a distance a behind the centre of mass. Its speed along
/// the blade is v = V tanh(m a V t/(I + m a²) + artanh(v₀/V)).
fn sleigh_error(h: f64) -> [f64; 3] {
    let mut builder = ModelBuilder::new();
    builder.gravity(DVec3::ZERO);
    let half_extents = DVec3::new(0.4, 0.2, 0.05);
    let body = builder.body(BodyDef::new("sleigh", Shape::Box { half_extents }, 100.0));
    builder.joint(JointDef::new(
        "ice",
        JointKind::Planar,
        World,
        body,
        DVec3::ZERO,
        DVec3::Z,
    ));
    let blade = DVec3::X * -0.3;
    let skate = builder.coupling(CouplingDef::skate("blade", World, body, blade, DVec3::Y));
    let model = builder.build().unwrap();
    let mut state = model.initial_state();
    let (v0, turn) = (-0.5, 1.2);
    // The blade moves along x only: its velocity across is v_y − 0.3 ω = 0.
    let linear = DVec3::new(v0, 0.3 * turn, 0.0);
    let angular = DVec3::Z * turn;
    state.set_twist(&model, body, Twist { linear, angular });
    let mass = model.body(body).mass.mass;
    let about_blade = inertia(&model, body) + mass * 0.09;
    let top = (v0 * v0 + about_blade / mass * turn * turn).sqrt();
    let start = total_energy(&model, &state);
    let mut work = Workspace::new(&model, Settings::default());
    run(&model, &mut state, &mut work, h, (2.0 / h).round() as usize);
    let twist = state.twist(&model, body);
    let pose = state.pose(&model, body);
    let forwards = pose.rotation * DVec3::X;
    let speed = twist.linear.dot(forwards);
    let expected = top * (mass * 0.3 * top / about_blade * 2.0 + f64::atanh(v0 / top)).tanh();
    let slip = coupling_error(&model, &state, skate);
    [
        speed - expected,
        total_energy(&model, &state) / start - 1.0,
        slip,
    ]
}

#[test]
fn a_sleigh_on_a_blade_turns_round_as_chaplygin_says() {
    let coarse = sleigh_error(4e-3);
    let fine = sleigh_error(1e-3);
    println!("speed, energy, slip: {coarse:?} {fine:?}");
    assert!(fine[0].abs() < 1e-4 && fine[1].abs() < 1e-4 && fine[2].abs() < 1e-9);
    assert!(
        fine[0].abs() < 0.12 * coarse[0].abs(),
        "not of second order"
    );
}

fn ball(at: DVec3) -> BodyDef {
    BodyDef::new("ball", Shape::Sphere { radius: 0.1 }, 1000.0).at(at)
}

#[test]
fn a_ball_rolls_down_an_incline() {
    let slope = 0.4_f64;
    let normal = DVec3::new(slope.sin(), 0.0, slope.cos());
    let mut builder = ModelBuilder::new();
    let body = builder.body(ball(normal * 0.1));
    let center = normal * 0.1;
    builder.joint(JointDef::new(
        "plane",
        JointKind::PointOnPlane,
        World,
        body,
        center,
        normal,
    ));
    let roll = CouplingDef::roll("roll", World, body, center, normal, 0.1);
    let roll = builder.coupling(roll);
    let model = builder.build().unwrap();
    for integrator in [Integrator::Tempered, Integrator::Rattle, Integrator::Bdf2] {
        let mut state = model.initial_state();
        let mut work = Workspace::new(&model, Settings::with_integrator(integrator));
        run(&model, &mut state, &mut work, 2e-3, 500);
        let along = DVec3::new(slope.cos(), 0.0, -slope.sin());
        let twist = state.twist(&model, body);
        let speed = twist.linear.dot(along);
        let expected = 5.0 / 7.0 * 9.81 * slope.sin();
        println!("{integrator}: {speed} {expected}, {:?}", twist.angular);
        let tolerance = if integrator == Integrator::Bdf2 {
            5e-3
        } else {
            // A twelfth of the square of the angle of a step, 0.055 rad at the end.
            2.5e-4
        };
        assert!((speed / expected - 1.0).abs() < tolerance);
        assert!((twist.angular.y * 0.1 / speed - 1.0).abs() < tolerance);
        if integrator.projects() {
            assert!(coupling_error(&model, &state, roll).abs() < 1e-9);
        }
    }
}

/// On a turntable at Ω a rolling ball goes in circles at 2/7 Ω.
#[test]
fn a_ball_on_a_turntable_goes_in_circles() {
    let mut builder = ModelBuilder::new();
    let shape = Shape::Cylinder {
        radius: 2.0,
        half_length: 0.05,
    };
    let table = builder.body(BodyDef::new("table", shape, 1e5).at(DVec3::Z * -0.05));
    builder.joint(JointDef::hinge("axle", World, table, DVec3::ZERO, DVec3::Z));
    let center = DVec3::new(0.5, 0.0, 0.1);
    let body = builder.body(ball(center));
    builder.joint(JointDef::new(
        "top",
        JointKind::PointOnPlane,
        table,
        body,
        center,
        DVec3::Z,
    ));
    let roll = CouplingDef::roll("roll", table, body, center, DVec3::Z, 0.1);
    let roll = builder.coupling(roll);
    let model = builder.build().unwrap();
    let mut state = model.initial_state();
    let speed = 3.5;
    spin(&model, &mut state, table, DVec3::Z * speed);
    // At rest in the world, the ball rolls on the spot: ω r e = table velocity at its foot.
    spin(&model, &mut state, body, DVec3::X * (speed * 0.5 / 0.1));
    let linear = DVec3::new(0.3, 0.0, 0.0);
    let angular = state.twist(&model, body).angular + DVec3::Y * 3.0;
    state.set_twist(&model, body, Twist { linear, angular });
    let mut work = Workspace::new(&model, Settings::default());
    let orbit = TAU / (2.0 / 7.0 * speed);
    run(&model, &mut state, &mut work, orbit / 8000.0, 4000);
    // After half an orbit the velocity has turned round.
    let half = state.twist(&model, body).linear;
    println!("{half:?}");
    assert!((half + linear).length() < 2e-3 * linear.length());
    run(&model, &mut state, &mut work, orbit / 8000.0, 4000);
    let twist = state.twist(&model, body);
    let back = state.center(body) - center;
    println!("{twist:?}, {back:?}");
    assert!((twist.linear - linear).length() < 2e-3 * linear.length());
    assert!(back.length() < 2e-3);
    assert!(coupling_error(&model, &state, roll).abs() < 1e-9);
    assert!(worst_gap(&model, &state).0 < 1e-9);
}

#[test]
fn a_gear_in_a_loop_and_couplings_of_one_group_agree_with_each_other() {
    // Three wheels in a row, geared pairwise, and once more from the first to the third: the
    // last says nothing new and must not disturb the others.
    let mut builder = ModelBuilder::new();
    builder.gravity(DVec3::ZERO);
    let mut hinges = Vec::new();
    let mut bodies = Vec::new();
    for k in 0..3 {
        let at = DVec3::X * (0.3 * f64::from(k));
        let body = builder.body(wheel(&format!("wheel {k}"), 0.1).at(at));
        bodies.push(body);
        let name = format!("hinge {k}");
        hinges.push(builder.joint(JointDef::hinge(name, World, body, at, DVec3::Z)));
    }
    builder.coupling(CouplingDef::gear("one", hinges[0], hinges[1], -1.0));
    builder.coupling(CouplingDef::gear("two", hinges[1], hinges[2], -2.0));
    builder.coupling(CouplingDef::gear("again", hinges[0], hinges[2], 2.0));
    let model = builder.build().unwrap();
    let mut state = model.initial_state();
    let mut work = Workspace::new(&model, Settings::default());
    let mut control = Control::new(&model);
    control.add_torque(bodies[0], DVec3::Z);
    for _ in 0..200 {
        step(&model, &mut state, &control, &mut work, 2e-3).unwrap();
    }
    let expected = 0.4 / (6.0 * inertia(&model, bodies[0]));
    let rate = state.twist(&model, bodies[0]).angular.z;
    assert!((rate / expected - 1.0).abs() < 1e-6, "{rate} {expected}");
    for id in model.coupling_ids() {
        assert!(coupling_error(&model, &state, id).abs() < 1e-9);
    }
}

#[test]
fn a_push_on_a_free_body_with_a_blade_only() {
    // No joint at all: the blade alone holds the body back.
    let mut builder = ModelBuilder::new();
    builder.gravity(DVec3::ZERO);
    let body = builder.body(ball(DVec3::ZERO));
    builder.coupling(CouplingDef::skate(
        "blade",
        World,
        body,
        DVec3::ZERO,
        DVec3::Y,
    ));
    let model = builder.build().unwrap();
    let mut state = model.initial_state();
    let mut work = Workspace::new(&model, Settings::default());
    let mut control = Control::new(&model);
    let force = DVec3::new(1.0, 5.0, 0.0);
    control.add(
        body,
        Wrench {
            force,
            torque: DVec3::ZERO,
        },
    );
    for _ in 0..100 {
        step(&model, &mut state, &control, &mut work, 0.01).unwrap();
    }
    let v = state.twist(&model, body).linear;
    let expected = 1.0 / model.body(body).mass.mass;
    assert!(
        (v.x / expected - 1.0).abs() < 1e-9 && v.y.abs() < 1e-10,
        "{v}"
    );
}

#[test]
fn impossible_couplings_are_refused_by_name() {
    let refuse = |couple: &dyn Fn([JointId; 2]) -> CouplingDef, told: &str| {
        let mut builder = ModelBuilder::new();
        let body = builder.body(wheel("wheel", 0.1));
        let hinge = JointDef::hinge("axle", World, body, DVec3::ZERO, DVec3::Z);
        let hinge = builder.joint(hinge);
        let other = builder.body(wheel("other", 0.1).at(DVec3::X));
        let fixed = builder.joint(JointDef::fixed("weld", World, other, DVec3::X));
        builder.coupling(couple([hinge, fixed]));
        let text = builder.build().expect_err("must be refused").to_string();
        assert!(text.contains("'train'") && text.contains(told), "{text}");
    };
    refuse(&|[h, _]| CouplingDef::gear("train", h, h, 2.0), "twice");
    refuse(
        &|[h, f]| CouplingDef::gear("train", h, f, 2.0),
        "'weld' has 0 free",
    );
    refuse(
        &|[h, _]| CouplingDef::gear("train", h, (h, 1), 2.0),
        "no number 1",
    );
    refuse(
        &|[h, _]| CouplingDef::sum("train", &[(h.into(), f64::NAN)]),
        "factor",
    );
    refuse(
        &|[h, _]| CouplingDef::sum("train", &[(h.into(), 0.0)]),
        "factor",
    );
    refuse(&|_| CouplingDef::sum("train", &[]), "nothing");
    let many = |h: JointId| CouplingDef::sum("train", &[(h.into(), 1.0)]);
    refuse(&|[h, _]| many(h).constant(f64::INFINITY), "constant");
    refuse(
        &|[h, _]| CouplingDef::rates("train", &[(h.into(), 1.0)], f64::NAN),
        "rate",
    );
    let mut strange = ModelBuilder::new();
    let strangers: Vec<JointId> = (0..4)
        .map(|k| strange.joint(JointDef::fixed(format!("{k}"), World, World, DVec3::ZERO)))
        .collect();
    refuse(&|_| many(strangers[3]), "not in this model");
    refuse(
        &|_| CouplingDef::skate("train", World, World, DVec3::ZERO, DVec3::X),
        "both ends",
    );
    let mut builder = ModelBuilder::new();
    let body = builder.body(ball(DVec3::ZERO));
    let skate = CouplingDef::skate("blade", World, body, DVec3::ZERO, DVec3::ZERO);
    builder.coupling(skate);
    assert!(builder.build().unwrap_err().to_string().contains("axis"));
    for radius in [0.0, -1.0, f64::NAN] {
        let mut builder = ModelBuilder::new();
        let body = builder.body(ball(DVec3::ZERO));
        let roll = CouplingDef::roll("roll", World, body, DVec3::ZERO, DVec3::Z, radius);
        builder.coupling(roll);
        assert!(builder.build().unwrap_err().to_string().contains("radius"));
    }
    let mut builder = ModelBuilder::new();
    let body = builder.body(wheel("nut", 0.1));
    let screw = JointDef::screw("screw", World, body, DVec3::ZERO, DVec3::Z, f64::NAN);
    builder.joint(screw);
    assert!(builder.build().unwrap_err().to_string().contains("'screw'"));
}
