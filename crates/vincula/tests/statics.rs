//! Reactions of joints, against the statics of beams and arms.

mod common;

use common::run;
use vincula::diagnostics::{reaction, reaction_force};
use vincula::joint::axis::Drive;
use vincula::prelude::*;

const LENGTH: f64 = 0.8;

/// A bar along x from the wall at `at`, held by what `joint` makes.
fn bar(at: DVec3, joint: impl Fn(BodyId) -> JointDef) -> (Model, JointId, f64) {
    let mut builder = ModelBuilder::new();
    let half_extents = DVec3::new(0.5 * LENGTH, 0.03, 0.04);
    let bar = BodyDef::new("bar", Shape::Box { half_extents }, 900.0);
    let bar = builder.body(bar.at(at + DVec3::X * (0.5 * LENGTH)));
    let joint = builder.joint(joint(bar));
    let model = builder.build().unwrap();
    let weight = model.body(bar).mass.mass * 9.81;
    (model, joint, weight)
}

fn assert_holds(model: &Model, joint: JointId, point: DVec3, force: DVec3, torque: DVec3) {
    let mut state = model.initial_state();
    let mut work = Workspace::new(model, Settings::default());
    run(model, &mut state, &mut work, 2e-3, 1000);
    let told = reaction(model, &state, joint);
    println!("{told:?}");
    let size = force.length();
    assert!((told.point - point).length() < 1e-6);
    assert!(
        (told.force - force).length() < 1e-5 * size,
        "{told:?} {force}"
    );
    assert!(
        (told.torque - torque).length() < 1e-5 * size,
        "{told:?} {torque}"
    );
}

#[test]
fn a_cantilever_hangs_on_its_root() {
    let at = DVec3::new(0.3, -0.2, 1.0);
    let (model, joint, weight) = bar(at, |bar| JointDef::fixed("root", World, bar, at));
    let torque = DVec3::Y * (-0.5 * LENGTH * weight);
    assert_holds(&model, joint, at, DVec3::Z * weight, torque);
}

#[test]
fn the_opposite_acts_on_the_first_end() {
    // The same wall joint with its ends exchanged reports what acts on the wall.
    let at = DVec3::new(0.3, -0.2, 1.0);
    let (model, joint, weight) = bar(at, |bar| JointDef::fixed("root", bar, World, at));
    let torque = DVec3::Y * (0.5 * LENGTH * weight);
    assert_holds(&model, joint, at, DVec3::Z * -weight, torque);
}

#[test]
fn a_motor_holds_an_arm() {
    let drive = Drive::Position {
        target: 0.0,
        stiffness: 1e7,
        damping: 1e5,
    };
    let hinge = |bar| JointDef::hinge("motor", World, bar, DVec3::ZERO, DVec3::Y);
    let (model, joint, weight) = bar(DVec3::ZERO, |bar| hinge(bar).drive(0, drive, f64::INFINITY));
    let torque = DVec3::Y * (-0.5 * LENGTH * weight);
    assert_holds(&model, joint, DVec3::ZERO, DVec3::Z * weight, torque);
}

#[test]
fn a_rail_carries_weight_and_moment() {
    // A prismatic joint across gravity has no point rows; its reaction is the same.
    let (model, joint, weight) = bar(DVec3::ZERO, |bar| {
        JointDef::prismatic("rail", World, bar, DVec3::ZERO, DVec3::X)
    });
    let mut state = model.initial_state();
    let mut work = Workspace::new(&model, Settings::default());
    run(&model, &mut state, &mut work, 2e-3, 1000);
    assert!(reaction_force(&model, &state, joint).is_none());
    let torque = DVec3::Y * (-0.5 * LENGTH * weight);
    assert_holds(&model, joint, DVec3::ZERO, DVec3::Z * weight, torque);
}

#[test]
fn a_bar_on_two_feet_shares_its_weight() {
    let mut builder = ModelBuilder::new();
    let half_extents = DVec3::new(0.5, 0.05, 0.05);
    let bar = builder.body(BodyDef::new("bar", Shape::Box { half_extents }, 900.0));
    let near = builder.joint(JointDef::ball("near", World, bar, DVec3::X * -0.5));
    let far = JointDef::new(
        "far",
        vincula::joint::JointKind::PointOnPlane,
        World,
        bar,
        DVec3::X * 0.25,
        DVec3::Z,
    );
    let far = builder.joint(far);
    let model = builder.build().unwrap();
    let mut state = model.initial_state();
    let mut work = Workspace::new(&model, Settings::default());
    run(&model, &mut state, &mut work, 2e-3, 500);
    let weight = model.body(bar).mass.mass * 9.81;
    let [near, far] = [near, far].map(|joint| reaction(&model, &state, joint));
    assert!((near.force.z / weight - 1.0 / 3.0).abs() < 1e-5, "{near:?}");
    assert!((far.force.z / weight - 2.0 / 3.0).abs() < 1e-5, "{far:?}");
    assert!(far.torque.length() < 1e-6 * weight && near.torque.length() < 1e-6 * weight);
}
