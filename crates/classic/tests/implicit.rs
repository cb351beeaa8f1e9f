//! What the implicit baselines promise: the step of the single pivoted body, joints to the
//! tolerance, and springs that become joints as they stiffen.

#[allow(dead_code)]
mod common;

use common::chain;
use glam::DVec3;
use vincula::body::rigid::{Pivot, RigidBody, Wrench, step_implicit_pivoted};
use vincula::prelude::*;
use vincula_classic::penalty::{Penalty, PenaltySettings};
use vincula_classic::rigid_implicit::{RigidImplicit, RigidImplicitSettings};
use vincula_classic::system::Method;

fn exact(model: &Model) -> RigidImplicit {
    let settings = RigidImplicitSettings::default();
    RigidImplicit::new(model, &model.initial_state(), settings).expect("a method")
}

fn run(method: &mut dyn Method, model: &Model, steps: usize, h: f64) -> f64 {
    let control = Control::new(model);
    let mut worst = 0.0_f64;
    for _ in 0..steps {
        let report = method.step(model, &control, h).expect("a step");
        assert!(report.converged);
        worst = worst.max(report.residual);
    }
    worst
}

#[test]
fn one_link_makes_the_implicit_step_of_the_pivoted_body() {
    let model = chain(1, 9.81);
    let mut method = exact(&model);
    let mut body: RigidBody = method.system().bodies[0];
    let pivot = Pivot {
        anchor_body: DVec3::from_array(model.joints()[0].b.point),
        anchor_world: DVec3::ZERO,
    };
    let weight = Wrench::weight(body.mass, model.gravity());
    let law = |_: &RigidBody, _: f64| weight;
    let h = 0.01;
    for k in 0..100 {
        run(&mut method, &model, 1, h);
        step_implicit_pivoted(&mut body, &pivot, &law, h * k as f64, h).expect("a step");
        let ours = &method.system().bodies[0];
        assert!((ours.x - body.x).length() < 1e-8, "step {k}");
        assert!((ours.omega - body.omega).length() < 1e-6, "step {k}");
    }
}

#[test]
fn the_joints_of_a_chain_hold_to_the_tolerance_at_any_step() {
    for h in [1e-3, 0.01, 1.0 / 30.0] {
        let model = chain(6, 9.81);
        let mut method = exact(&model);
        let worst = run(&mut method, &model, 100, h);
        assert!(worst < 1e-10, "{h}: {worst:e}");
    }
}

#[test]
fn links_that_turn_far_in_a_step_converge() {
    let model = chain(6, 9.81);
    let mut state = model.initial_state();
    let spin = DVec3::new(1.0, 18.0, -2.0);
    for id in model.body_ids() {
        let linear = spin.cross(state.center(id));
        state.set_twist(
            &model,
            id,
            Twist {
                linear,
                angular: spin,
            },
        );
    }
    let settings = RigidImplicitSettings::default();
    let mut method = RigidImplicit::new(&model, &state, settings).expect("a method");
    let control = Control::new(&model);
    let h = 1.0 / 30.0;
    let (mut fastest, mut solves) = (0.0_f64, 0);
    for step in 0..20 {
        let report = method.step(&model, &control, h).expect("a step");
        assert!(report.converged, "{step}: {report:?}");
        solves += report.iterations;
        let rates = method.system().bodies.iter().map(|b| h * b.omega.length());
        fastest = rates.fold(fastest, f64::max);
    }
    assert!(fastest > 0.5, "{fastest} rad");
    assert!(solves < 20 * 20, "{solves} iterations");
}

#[test]
fn springs_become_joints_as_they_stiffen() {
    let model = chain(6, 9.81);
    let mut reference = exact(&model);
    run(&mut reference, &model, 200, 1e-3);
    let end = reference.system().bodies[5].x;
    let mut errors = Vec::new();
    for stiffness in [1e4, 1e5, 1e6] {
        let settings = PenaltySettings {
            stiffness,
            ..PenaltySettings::default()
        };
        let mut method = Penalty::new(&model, &model.initial_state(), settings).expect("springs");
        let gap = run(&mut method, &model, 200, 1e-3);
        errors.push((gap, (method.system().bodies[5].x - end).length()));
    }
    println!("{errors:?}");
    for pair in errors.windows(2) {
        let gain = (pair[0].0 / pair[1].0, pair[0].1 / pair[1].1);
        assert!((8.0..12.0).contains(&gain.0), "{errors:?}");
        assert!((7.0..13.0).contains(&gain.1), "{errors:?}");
    }
}

#[test]
fn a_useless_stiffness_is_refused() {
    let model = chain(1, 9.81);
    let settings = PenaltySettings {
        stiffness: -1.0,
        ..PenaltySettings::default()
    };
    let refusal = Penalty::new(&model, &model.initial_state(), settings).err();
    assert!(refusal.is_some_and(|r| r.to_string().contains("-1 N/m")));
}
