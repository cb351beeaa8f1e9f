//! Bringing bodies onto their joints by least motion.

mod common;

use common::{KINDS, Random, joint_of, run};
use vincula::diagnostics::{coupling_error, worst_gap};
use vincula::joint::JointKind;
use vincula::model::Pose;
use vincula::prelude::*;

/// A rod of unit length along x from `start`.
fn rod(name: &str, start: DVec3) -> BodyDef {
    let half_extents = DVec3::new(0.5, 0.02, 0.02);
    let shape = Shape::Box { half_extents };
    BodyDef::new(name, shape, 1000.0).at(start + DVec3::X * 0.5)
}

/// A ball joint between points of two shape frames, wherever the bodies are.
fn tie(
    name: &str,
    a: impl Into<vincula::model::Endpoint>,
    at: DVec3,
    b: BodyId,
    on: DVec3,
) -> JointDef {
    let frames = [Pose::at(at), Pose::at(on)];
    JointDef::with_frames(name, JointKind::Ball, a, b, frames)
}

#[test]
fn what_holds_already_stays_where_it_is() {
    let model = common::chain(20, true);
    let assembly = model.assemble().unwrap();
    assert_eq!(assembly.iterations, 0);
    assert_eq!(assembly.state, model.initial_state());
}

#[test]
fn a_body_goes_to_its_hook_the_shortest_way() {
    let gap = DVec3::new(2e-5, -3e-5, 5e-5);
    let mut builder = ModelBuilder::new();
    let body = builder.body(rod("rod", DVec3::ZERO));
    builder.joint(tie("hook", World, gap, body, DVec3::X * -0.5));
    let model = builder.build().unwrap();
    let before = model.initial_state();
    let assembly = model.assemble().unwrap();
    assert!(
        assembly.gap < 1e-13 && assembly.before > 1e-5,
        "{assembly:?}"
    );
    // The shortest way is that of a push F at the hook: m Δt = F, I θ = r × F.
    let force = (assembly.state.center(body) - before.center(body)) * model.body(body).mass.mass;
    let turn = assembly.state.pose(&model, body).rotation.to_scaled_axis();
    let inertia = model.body(body).mass.inertia();
    let expected = (DVec3::X * -0.5).cross(force);
    let error = (inertia * turn - expected).length() / expected.length();
    assert!(error < 1e-3, "{error:.1e}");
}

#[test]
fn random_chains_of_every_joint_are_brought_together() {
    for kind in KINDS {
        let mut random = Random::new(5);
        let mut builder = ModelBuilder::new();
        let mut before: Option<BodyId> = None;
        for k in 0..6 {
            let at = DVec3::X * f64::from(k) + random.vector(0.05);
            let turn = DQuat::from_scaled_axis(random.vector(0.1));
            let body = builder.body(rod(&format!("rod {k}"), at).turned(turn));
            let frames = [DVec3::X * 0.5, DVec3::X * -0.5].map(|p| Pose {
                translation: p,
                rotation: DQuat::from_rotation_x(0.4),
            });
            let name = format!("joint {k}");
            let first = Pose {
                translation: DVec3::ZERO,
                ..frames[0]
            };
            builder.joint(match before {
                None => JointDef::with_frames(name, kind, World, body, [first, frames[1]]),
                Some(before) => JointDef::with_frames(name, kind, before, body, frames),
            });
            before = Some(body);
        }
        let model = builder.build().unwrap();
        let assembly = model
            .assemble()
            .unwrap_or_else(|e| panic!("{}: {e}", kind.name()));
        println!(
            "{}: {:.1e} to {:.1e} m in {} iterations",
            kind.name(),
            assembly.before,
            assembly.gap,
            assembly.iterations
        );
        assert!(assembly.before > 1e-3 && assembly.gap < 1e-11 && assembly.moved < 0.5);
        let mut state = assembly.state;
        run(
            &model,
            &mut state,
            &mut Workspace::new(&model, Settings::default()),
            1e-3,
            10,
        );
        assert!(worst_gap(&model, &state).0 < 1e-9);
    }
}

/// Crank, coupler and rocker of a four-bar, drawn in a row on the floor and joined by their
/// ends: nothing fits at first.
fn four_bar(base: f64) -> Model {
    let mut builder = ModelBuilder::new();
    let names = ["crank", "coupler", "rocker"];
    let bars = names.map(|name| builder.body(rod(name, DVec3::new(0.2, 0.0, 0.1))));
    let hinge = |at: DVec3| Pose {
        translation: at,
        rotation: DQuat::from_rotation_x(-std::f64::consts::FRAC_PI_2),
    };
    let (near, far) = (hinge(DVec3::X * -0.5), hinge(DVec3::X * 0.5));
    let kind = JointKind::Hinge;
    builder.joint(JointDef::with_frames(
        "pivot",
        kind,
        World,
        bars[0],
        [hinge(DVec3::ZERO), near],
    ));
    builder.joint(JointDef::with_frames(
        "elbow",
        kind,
        bars[0],
        bars[1],
        [far, near],
    ));
    builder.joint(JointDef::with_frames(
        "knee",
        kind,
        bars[1],
        bars[2],
        [far, near],
    ));
    let end = hinge(DVec3::X * base);
    builder.joint(JointDef::with_frames(
        "foot",
        kind,
        World,
        bars[2],
        [end, far],
    ));
    builder.build().unwrap()
}

#[test]
fn a_loop_with_redundant_joints_closes_from_far_away() {
    let model = four_bar(1.5);
    let assembly = model.assemble().unwrap();
    println!(
        "{} iterations, gap {:.1e}",
        assembly.iterations, assembly.gap
    );
    assert!(assembly.before > 0.5 && assembly.gap < 1e-11);
}

#[test]
fn an_impossible_loop_names_its_joints_and_what_is_missing() {
    let model = four_bar(5.0);
    let error = model.assemble().unwrap_err();
    let sum: f64 = error.open.iter().map(|(_, gap)| gap).sum();
    println!("{error}");
    // Three bars of a metre reach three of the five metres.
    assert!((sum - 2.0).abs() < 1e-3, "{sum}");
    let text = error.to_string();
    for name in ["pivot", "elbow", "knee", "foot"] {
        assert!(text.contains(name), "{text}");
    }
    assert!(text.contains("no pose meets all joints"));
}

#[test]
fn couplings_and_limits_are_met_too() {
    let mut builder = ModelBuilder::new();
    let mut hinges = Vec::new();
    for (k, name) in ["left", "right"].into_iter().enumerate() {
        let at = DVec3::Y * k as f64;
        let body = builder.body(rod(name, at));
        hinges.push(JointDef::hinge(name, World, body, at, DVec3::Y));
    }
    let right = hinges.pop().unwrap().limits(0, 0.3, 1.0);
    let left = builder.joint(hinges.pop().unwrap());
    let right = builder.joint(right);
    let gear = CouplingDef::gear("gear", left, right, -1.0).constant(0.1);
    let gear = builder.coupling(gear);
    let model = builder.build().unwrap();
    let assembly = model.assemble().unwrap();
    let state = &assembly.state;
    assert!(coupling_error(&model, state, gear).abs() < 1e-12);
    let [left, right] = [left, right].map(|j| state.coordinate(&model, j, 0).unwrap());
    assert!((right - 0.3).abs() < 1e-9, "{right}");
    assert!((left - 0.1 + 0.3).abs() < 1e-9, "{left}");
}

#[test]
fn joints_of_a_kind_that_fit_leave_other_bodies_alone() {
    let mut builder = ModelBuilder::new();
    let first = builder.body(rod("first", DVec3::ZERO));
    let other = builder.body(rod("other", DVec3::Z));
    builder.joint(tie("open", World, DVec3::Y * 0.01, first, DVec3::X * -0.5));
    builder.joint(joint_of(
        "fits",
        JointKind::Hinge,
        World,
        other,
        DVec3::Z,
        DVec3::Y,
    ));
    let model = builder.build().unwrap();
    let assembly = model.assemble().unwrap();
    assert_eq!(
        assembly.state.pose(&model, other),
        model.initial_state().pose(&model, other)
    );
    assert!(assembly.moved > 1e-3);
}
