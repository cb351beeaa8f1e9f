//! Inputs that a method cannot take: errors that say which method can, and loops and repeated
//! joints that every method can.

use vincula::joint::{Coordinate, CouplingDef, JointKind};
use vincula::model::Endpoint;
use vincula::prelude::*;
use vincula_classic::catalog::CATALOG;
use vincula_classic::system::{Method, MethodError};

fn rod(name: &str, half: f64) -> BodyDef {
    let half_extents = DVec3::new(half, 0.05, 0.05);
    BodyDef::new(name, Shape::Box { half_extents }, 1000.0)
}

/// A rod of a metre on two pins that are this far apart, m.
fn rod_between_pins(apart: f64) -> Model {
    let mut builder = ModelBuilder::new();
    let body = builder.body(rod("rod", 0.5));
    let frame = |x: f64| Pose {
        translation: DVec3::X * x,
        ..Pose::IDENTITY
    };
    for (name, sign) in [("left", -0.5), ("right", 0.5)] {
        let frames = [frame(sign * apart), frame(sign)];
        let def = JointDef::with_frames(name, JointKind::Ball, World, body, frames);
        builder.joint(def);
    }
    builder.build().expect("a rod between two pins")
}

/// Methods that close joints to their tolerance; springs and velocities give way.
const CLOSING: [&str; 4] = ["baraff", "tomcin", "cline-pai", "rigid-implicit"];

fn first_error(method: &mut dyn Method, model: &Model) -> Option<(MethodError, f64)> {
    let control = Control::new(model);
    for _ in 0..10 {
        let time = method.system().time;
        if let Err(error) = method.step(model, &control, 1e-3) {
            assert_eq!(method.system().time, time, "a refused step left its time");
            return Some((error, time));
        }
    }
    None
}

#[test]
fn joints_that_conflict_are_refused_by_name_with_a_method_that_can() {
    let model = rod_between_pins(1.1);
    for entry in CATALOG.iter().filter(|it| CLOSING.contains(&it.name)) {
        let mut method = entry.make(&model, &model.initial_state()).expect("it can");
        let (error, _) = first_error(method.as_mut(), &model).expect("the rod is too short");
        assert!(matches!(error, MethodError::Conflict { .. }), "{error}");
        let text = error.to_string();
        let named = text.contains("'left'") || text.contains("'right'");
        assert!(named && text.contains("--method affine"), "{text}");
    }
}

#[test]
fn joints_that_are_merely_open_are_closed() {
    let mut builder = ModelBuilder::new();
    let body = builder.body(rod("rod", 0.5));
    let frame = |x: f64| Pose {
        translation: DVec3::X * x,
        ..Pose::IDENTITY
    };
    let frames = [frame(0.6), frame(0.5)];
    let def = JointDef::with_frames("pin", JointKind::Ball, World, body, frames);
    builder.joint(def);
    let model = builder.build().expect("a rod beside its pin");
    for entry in CATALOG.iter().filter(|it| CLOSING.contains(&it.name)) {
        let mut method = entry.make(&model, &model.initial_state()).expect("it can");
        assert_eq!(first_error(method.as_mut(), &model), None, "{}", entry.name);
        let left = method.system().worst_violation().0;
        assert!(left < 1e-8, "{}: {left}", entry.name);
    }
}

/// A parallelogram of hinges, one of them there twice: a loop, and nine rows too many.
fn parallelogram() -> Model {
    let mut builder = ModelBuilder::new();
    let upright = |name: &str, x: f64| {
        let turn = DQuat::from_rotation_y(-std::f64::consts::FRAC_PI_2);
        rod(name, 0.5).at(DVec3::new(x, 0.0, -0.5)).turned(turn)
    };
    let left = builder.body(upright("left", 0.0));
    let right = builder.body(upright("right", 1.0));
    let bar = builder.body(rod("bar", 0.5).at(DVec3::new(0.5, 0.0, -1.0)));
    let mut hinge = |name: &str, a: Endpoint, b: BodyId, at: DVec3| {
        builder.joint(JointDef::hinge(name, a, b, at, DVec3::Y));
    };
    hinge("a", World.into(), left, DVec3::ZERO);
    hinge("b", World.into(), right, DVec3::X);
    hinge("c", left.into(), bar, DVec3::NEG_Z);
    hinge("d", right.into(), bar, DVec3::new(1.0, 0.0, -1.0));
    hinge("d again", right.into(), bar, DVec3::new(1.0, 0.0, -1.0));
    builder.build().expect("a parallelogram")
}

#[test]
fn loops_and_joints_that_repeat_others_are_taken_by_every_method() {
    let model = parallelogram();
    let mut state = model.initial_state();
    for id in model.body_ids() {
        let twist = Twist {
            linear: DVec3::X * 0.1,
            angular: DVec3::ZERO,
        };
        state.set_twist(&model, id, twist);
    }
    for entry in CATALOG {
        let mut method = entry.make(&model, &state).expect("it can");
        let error = first_error(method.as_mut(), &model);
        assert!(error.is_none(), "{}: {error:?}", entry.name);
        let left = method.system().worst_violation().0;
        assert!(left < 1e-3, "{}: {left}", entry.name);
    }
}

#[test]
fn couplings_are_refused_with_a_method_that_knows_them() {
    let mut builder = ModelBuilder::new();
    let wheels = [0.0, 1.0].map(|x| {
        let name = format!("wheel at {x}");
        let body = builder.body(rod(&name, 0.2).at(DVec3::X * x));
        let at = DVec3::X * x;
        builder.joint(JointDef::hinge(name, World, body, at, DVec3::Y))
    });
    let terms = wheels.map(|joint| (Coordinate::from(joint), 1.0));
    builder.coupling(CouplingDef::sum("gear", &terms));
    let model = builder.build().expect("two wheels");
    for entry in CATALOG {
        let refusal = entry.make(&model, &model.initial_state()).err();
        let text = refusal.map(|it| it.to_string()).unwrap_or_default();
        assert!(text.contains("'gear'"), "{}: {text}", entry.name);
        assert!(text.contains("--method affine"), "{}: {text}", entry.name);
    }
}
