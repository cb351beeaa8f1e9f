//! Laws along the coordinates of ball and planar joints, against closed forms.

mod common;

use common::{run, total_energy};
use vincula::joint::JointKind;
use vincula::joint::axis::{LimitMethod, Spring};
use vincula::model::Endpoint;
use vincula::prelude::*;

const SWING: usize = 3;
const TWIST: usize = 4;

/// Dampers of any strength slow a falling tree down and never drive it, in one linearisation.
#[test]
fn dampers_alone_never_add_energy() {
    type Join = fn(String, Endpoint, BodyId, DVec3) -> JointDef;
    let kinds: [Join; 2] = [
        |name, above, body, at| JointDef::hinge(name, above, body, at, DVec3::Y),
        |name, above, body, at| JointDef::ball(name, above, body, at),
    ];
    for (kind, joint) in kinds.into_iter().enumerate() {
        for damping in [1.0, 1e3, 1e9] {
            let mut builder = ModelBuilder::new();
            let half_extents = DVec3::new(0.1, 0.015, 0.015);
            let mut tips = vec![(Endpoint::World, DVec3::ZERO)];
            for k in 0..60 {
                let (above, at) = tips[usize::div_ceil(k, 2)];
                let turn = DQuat::from_rotation_z(2.4 * k as f64);
                let turn = turn * DQuat::from_rotation_y(0.5 * (k as f64).sin());
                let shape = Shape::Box { half_extents };
                let link = BodyDef::new(format!("link {k}"), shape, 1000.0);
                let link = link.at(at + turn * DVec3::X * 0.1).turned(turn);
                let body = builder.body(link);
                let spring = Spring {
                    damping,
                    ..Spring::default()
                };
                let def = joint(format!("joint {k}"), above, body, at);
                builder.joint(match kind {
                    0 => def.spring(0, spring),
                    _ => def.rotation_spring(spring),
                });
                tips.push((body.into(), at + turn * DVec3::X * 0.2));
            }
            let model = builder.build().unwrap();
            let mut state = model.initial_state();
            let (control, start) = (Control::new(&model), total_energy(&model, &state));
            let mut work = Workspace::new(&model, Settings::default());
            let (mut before, mut linearisations) = (start, 0);
            for _ in 0..100 {
                let report = step(&model, &mut state, &control, &mut work, 0.01).unwrap();
                linearisations += report.iterations;
                let now = total_energy(&model, &state);
                let slack = 1e-6 * start.abs().max(1.0);
                assert!(
                    now <= before + slack,
                    "{damping}: from {before} J to {now} J"
                );
                before = now;
            }
            assert!(before < start, "{damping}: nothing was lost");
            assert!(
                linearisations < 110,
                "{damping}: {linearisations} in 100 steps"
            );
        }
    }
}

/// A sphere held at its centre by a ball joint, no gravity.
fn globe(joint: impl Fn(JointDef) -> JointDef) -> (Model, BodyId, JointId, f64) {
    let mut builder = ModelBuilder::new();
    builder.gravity(DVec3::ZERO);
    let body = BodyDef::new("globe", Shape::Sphere { radius: 0.2 }, 1000.0);
    let body = builder.body(body);
    let ball = JointDef::ball("ball", World, body, DVec3::ZERO);
    let id = builder.joint(joint(ball));
    let model = builder.build().unwrap();
    let inertia = model.body(body).mass.inertia().z;
    (model, body, id, inertia)
}

fn spinning(model: &Model, body: BodyId, angular: DVec3) -> State {
    let mut state = model.initial_state();
    let linear = DVec3::ZERO;
    state.set_twist(model, body, Twist { linear, angular });
    state
}

#[test]
fn a_rotation_spring_swings_about_any_axis_with_its_period() {
    let axis = DVec3::new(0.48, 0.6, -0.64);
    let mut errors = Vec::new();
    for h in [0.01, 0.005] {
        let spring = Spring {
            stiffness: 30.0,
            ..Spring::default()
        };
        let (model, body, joint, inertia) = globe(|def| def.rotation_spring(spring));
        let omega = (spring.stiffness / inertia).sqrt();
        let mut state = spinning(&model, body, axis * 8.0);
        let before = total_energy(&model, &state);
        let mut work = Workspace::new(&model, Settings::default());
        run(&model, &mut state, &mut work, h, (1.0 / h).round() as usize);
        let angle = 8.0 / omega * omega.sin();
        let read = [0, 1, 2].map(|k| state.coordinate(&model, joint, k).unwrap());
        let error = (DVec3::from_array(read) - axis * angle).length();
        let drift = total_energy(&model, &state) / before - 1.0;
        println!("h = {h}: off by {error:.1e} rad of {angle:.3}, energy {drift:.1e}");
        assert!(drift.abs() < 2e-2 && drift < 1e-3);
        errors.push(error);
    }
    assert!(
        errors[1] < 2e-3 && errors[1] < 0.35 * errors[0],
        "{errors:?}"
    );
}

#[test]
fn a_stiff_damped_rotation_spring_holds_an_arm_up() {
    let mut builder = ModelBuilder::new();
    let half_extents = DVec3::new(0.3, 0.03, 0.03);
    let arm = BodyDef::new("arm", Shape::Box { half_extents }, 1000.0);
    let arm = builder.body(arm.at(DVec3::X * 0.3));
    let spring = Spring {
        stiffness: 2000.0,
        damping: 50.0,
        rest: 0.0,
    };
    let ball = JointDef::ball("shoulder", World, arm, DVec3::ZERO).rotation_spring(spring);
    let joint = builder.joint(ball);
    let model = builder.build().unwrap();
    let mut state = model.initial_state();
    let mut work = Workspace::new(&model, Settings::default());
    run(&model, &mut state, &mut work, 5e-3, 1000);
    // k φ = m g (L/2) cos φ about y.
    let weight = model.body(arm).mass.mass * 9.81 * 0.3;
    let sag = state.coordinate(&model, joint, 1).unwrap();
    let expected = weight * sag.cos() / spring.stiffness;
    assert!((sag - expected).abs() < 1e-6, "{sag} {expected}");
}

/// Light rods on stiff springs, in zigzag, carry a heavy mass out to the side: most load on them is
/// across their length, and the torques of forces and springs cancel.
#[test]
fn light_links_on_springs_carry_a_heavy_load_across_them() {
    let (links, length) = (12, 0.2);
    let mut builder = ModelBuilder::new();
    builder.gravity(DVec3::new(0.0, 0.0, -9.81));
    let spring = Spring {
        stiffness: 1e5,
        ..Spring::default()
    };
    let (mut last, mut tip) = (None, DVec3::ZERO);
    for k in 0..links {
        let half_extents = DVec3::new(0.5 * length, 0.015, 0.015);
        let density = if k + 1 == links { 2e6 } else { 1000.0 };
        let turn = DQuat::from_rotation_z(1.1 * (2.0 * k as f64).sin())
            * DQuat::from_rotation_y(0.9 * (3.0 * k as f64).cos());
        let reach = turn * DVec3::X * length;
        let body = BodyDef::new(format!("{k}"), Shape::Box { half_extents }, density)
            .material(Material::with_young(1e11))
            .at(tip + 0.5 * reach)
            .turned(turn);
        let body = builder.body(body);
        let joint = match last {
            None => JointDef::ball(format!("{k}"), World, body, tip),
            Some(before) => JointDef::ball(format!("{k}"), before, body, tip),
        };
        builder.joint(joint.rotation_spring(spring));
        (last, tip) = (Some(body), tip + reach);
    }
    let model = builder.build().expect("a bent beam of links");
    let mut work = Workspace::new(&model, Settings::default());
    let (mut state, control) = (model.initial_state(), Control::new(&model));
    let start = total_energy(&model, &state);
    let (mut iterations, mut most) = (0, f64::NEG_INFINITY);
    for _ in 0..300 {
        let report = step(&model, &mut state, &control, &mut work, 0.01).expect("a step");
        iterations += report.iterations;
        most = most.max(total_energy(&model, &state) - start);
    }
    println!("{iterations} iterations, energy gained {most:.2e} J");
    assert!(iterations <= 330, "{iterations} iterations of 300 steps");
    assert!(most < 1e-3, "{most:.2e} J");
}

/// A rod that hangs from a ball joint, its cone about the vertical.
fn hanging(joint: impl Fn(JointDef) -> JointDef) -> (Model, BodyId, JointId) {
    let mut builder = ModelBuilder::new();
    let half_extents = DVec3::new(0.02, 0.02, 0.25);
    let rod = BodyDef::new("rod", Shape::Box { half_extents }, 1000.0);
    let rod = builder.body(rod.at(DVec3::NEG_Z * 0.25));
    let ball = JointDef::ball("hook", World, rod, DVec3::ZERO);
    let joint = builder.joint(joint(ball));
    (builder.build().unwrap(), rod, joint)
}

#[test]
fn a_cone_keeps_a_pendulum_inside() {
    let limit = 0.5;
    for method in [
        LimitMethod::Complementarity,
        LimitMethod::Clamp { stiffness: 100.0 },
    ] {
        let cone = |def: JointDef| def.cone(limit).limit_method(SWING, method);
        let (model, rod, joint) = hanging(cone);
        let mut state = model.initial_state();
        // It starts to swing and to go round at once: the way along the cone is not straight.
        let angular = DVec3::new(6.0, 1.5, 0.0);
        let linear = angular.cross(state.center(rod));
        state.set_twist(&model, rod, Twist { linear, angular });
        let mut work = Workspace::new(&model, Settings::default());
        let (mut widest, mut touched) = (0.0f64, 0);
        let start = total_energy(&model, &state);
        for _ in 0..600 {
            run(&model, &mut state, &mut work, 5e-3, 1);
            let swing = state.coordinate(&model, joint, SWING).unwrap();
            widest = widest.max(swing);
            touched += usize::from(swing > limit - 1e-6);
            assert!(total_energy(&model, &state) < start + 1e-3 * start.abs());
        }
        println!("{method:?}: widest {widest}, {touched} steps at the cone");
        assert!(widest <= limit + 1e-8 && touched > 0, "{widest}");
    }
}

#[test]
fn a_twist_limit_stops_a_spin_and_counts_turns() {
    let (model, body, joint, _) = globe(|def| def.twist_limits(-0.1, 8.0));
    let mut state = spinning(&model, body, DVec3::Z * 5.0);
    let mut work = Workspace::new(&model, Settings::default());
    run(&model, &mut state, &mut work, 0.01, 100);
    let twist = state.coordinate(&model, joint, TWIST).unwrap();
    assert!((twist - 5.0).abs() < 1e-6, "free until the limit: {twist}");
    run(&model, &mut state, &mut work, 0.01, 200);
    let twist = state.coordinate(&model, joint, TWIST).unwrap();
    assert!((twist - 8.0).abs() < 1e-3, "a turn and more: {twist}");
    assert!(state.twist(&model, body).angular.length() < 1e-2);
}

#[test]
fn coordinates_of_a_ball_joint_without_laws_can_be_read() {
    let (model, rod, joint) = hanging(|def| def);
    let mut state = model.initial_state();
    let tilt = DQuat::from_rotation_x(0.3);
    let pose = vincula::model::Pose {
        translation: tilt * (DVec3::NEG_Z * 0.25),
        rotation: tilt,
    };
    state.set_pose(&model, rod, pose);
    let angular = DVec3::X * 2.0;
    let linear = angular.cross(pose.translation);
    state.set_twist(&model, rod, Twist { linear, angular });
    assert!((state.coordinate(&model, joint, SWING).unwrap() - 0.3).abs() < 1e-12);
    assert!((state.coordinate_rate(&model, joint, SWING).unwrap() - 2.0).abs() < 1e-12);
    assert!((state.coordinate(&model, joint, 0).unwrap() - 0.3).abs() < 1e-12);
    assert_eq!(state.coordinate(&model, joint, 5), None);
}

#[test]
fn a_planar_joint_has_springs_along_both_axes() {
    let mut builder = ModelBuilder::new();
    builder.gravity(DVec3::ZERO);
    let half_extents = DVec3::splat(0.1);
    let body = builder.body(BodyDef::new("puck", Shape::Box { half_extents }, 1000.0));
    let spring = |stiffness| Spring {
        stiffness,
        ..Spring::default()
    };
    let table = JointDef::new(
        "table",
        JointKind::Planar,
        World,
        body,
        DVec3::ZERO,
        DVec3::Z,
    );
    let joint = builder.joint(table.spring(0, spring(200.0)).spring(1, spring(800.0)));
    let model = builder.build().unwrap();
    let mut state = model.initial_state();
    let (linear, angular) = (DVec3::new(1.0, 1.0, 0.0), DVec3::ZERO);
    state.set_twist(&model, body, Twist { linear, angular });
    let start = [0, 1].map(|k| state.coordinate_rate(&model, joint, k).unwrap());
    let mut work = Workspace::new(&model, Settings::default());
    run(&model, &mut state, &mut work, 1e-3, 700);
    let mass = model.body(body).mass.mass;
    for (k, stiffness) in [(0, 200.0), (1, 800.0)] {
        let omega = f64::sqrt(stiffness / mass);
        let expected = start[k] / omega * (omega * 0.7).sin();
        let read = state.coordinate(&model, joint, k).unwrap();
        assert!((read - expected).abs() < 1e-4, "{k}: {read} {expected}");
    }
}

#[test]
fn a_pendulum_rests_on_a_clamped_limit_as_on_a_complementary_one() {
    let rest = |method| {
        let mut builder = ModelBuilder::new();
        let half_extents = DVec3::new(0.3, 0.03, 0.03);
        let arm = BodyDef::new("arm", Shape::Box { half_extents }, 1000.0);
        let arm = builder.body(arm.at(DVec3::X * 0.3));
        let hinge = JointDef::hinge("elbow", World, arm, DVec3::ZERO, DVec3::Y);
        let hinge = hinge.limits(0, -1.0, 0.4).limit_method(0, method);
        let joint = builder.joint(hinge);
        let model = builder.build().unwrap();
        let mut state = model.initial_state();
        let mut work = Workspace::new(&model, Settings::default());
        let mut widest = 0.0f64;
        for _ in 0..400 {
            run(&model, &mut state, &mut work, 5e-3, 1);
            widest = widest.max(state.coordinate(&model, joint, 0).unwrap());
        }
        (widest, state.coordinate(&model, joint, 0).unwrap())
    };
    for method in [
        LimitMethod::Complementarity,
        LimitMethod::Clamp { stiffness: 500.0 },
    ] {
        let (widest, end) = rest(method);
        println!("{method:?}: widest {widest}, at rest {end}");
        assert!(widest <= 0.4 + 1e-9 && (end - 0.4).abs() < 1e-3);
    }
}

#[test]
fn too_many_laws_and_laws_of_other_joints_are_refused_by_name() {
    let refuse = |joint: &dyn Fn(JointDef) -> JointDef, told: &str| {
        let mut builder = ModelBuilder::new();
        let body = BodyDef::new("globe", Shape::Sphere { radius: 0.2 }, 1000.0);
        let body = builder.body(body);
        let ball = JointDef::ball("shoulder", World, body, DVec3::ZERO);
        builder.joint(joint(ball));
        let text = builder.build().expect_err("must be refused").to_string();
        assert!(text.contains("'shoulder'") && text.contains(told), "{text}");
    };
    let spring = Spring {
        stiffness: 1.0,
        ..Spring::default()
    };
    refuse(&|j| j.rotation_spring(spring).cone(0.5), "room for 3");
    refuse(&|j| j.cone(f64::NAN), "limit");
    refuse(&|j| j.twist_limits(1.0, -1.0), "lower limit");
    let clamp = LimitMethod::Clamp {
        stiffness: f64::NAN,
    };
    refuse(
        &|j| j.cone(0.5).limit_method(SWING, clamp),
        "limit stiffness",
    );
    let mut builder = ModelBuilder::new();
    let body = BodyDef::new("globe", Shape::Sphere { radius: 0.2 }, 1000.0);
    let body = builder.body(body);
    builder.joint(JointDef::hinge("axle", World, body, DVec3::ZERO, DVec3::Z).cone(1.0));
    let text = builder.build().unwrap_err().to_string();
    assert!(
        text.contains("'axle'") && text.contains("no number 3"),
        "{text}"
    );
}
