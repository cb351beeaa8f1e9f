//! What acts along the free coordinates of joints, against closed forms.

use vincula::diagnostics::energy;
use vincula::joint::axis::{Drive, Spring};
use vincula::prelude::*;

const DENSITY: f64 = 1000.0;

/// A flywheel on a hinge along z, no gravity. Its inertia about the axis is the second value.
fn wheel(joint: impl Fn(JointDef) -> JointDef) -> (Model, BodyId, JointId, f64) {
    let mut builder = ModelBuilder::new();
    builder.gravity(DVec3::ZERO);
    let shape = Shape::Cylinder {
        radius: 0.2,
        half_length: 0.05,
    };
    let body = builder.body(BodyDef::new("wheel", shape, DENSITY));
    let hinge = JointDef::hinge("hinge", World, body, DVec3::ZERO, DVec3::Z);
    let id = builder.joint(joint(hinge));
    let model = builder.build().expect("a sound model");
    let inertia = model.body(body).mass.inertia().z;
    (model, body, id, inertia)
}

/// A cube on a rail along x, no gravity; its mass is the last value.
fn slider(joint: impl Fn(JointDef) -> JointDef) -> (Model, BodyId, JointId, f64) {
    let mut builder = ModelBuilder::new();
    builder.gravity(DVec3::ZERO);
    let shape = Shape::Box {
        half_extents: DVec3::splat(0.1),
    };
    let body = builder.body(BodyDef::new("cube", shape, DENSITY));
    let rail = JointDef::prismatic("rail", World, body, DVec3::ZERO, DVec3::X);
    let id = builder.joint(joint(rail));
    let model = builder.build().expect("a sound model");
    let mass = model.body(body).mass.mass;
    (model, body, id, mass)
}

struct Run {
    model: Model,
    state: State,
    work: Workspace,
    control: Control,
}

impl Run {
    fn new(model: Model) -> Run {
        let state = model.initial_state();
        let work = Workspace::new(&model, Settings::default());
        let control = Control::new(&model);
        Run {
            model,
            state,
            work,
            control,
        }
    }

    fn spin(&mut self, body: BodyId, angular: DVec3) {
        let linear = DVec3::ZERO;
        self.state
            .set_twist(&self.model, body, Twist { linear, angular });
    }

    fn go(&mut self, h: f64, steps: usize) {
        for _ in 0..steps {
            step(
                &self.model,
                &mut self.state,
                &self.control,
                &mut self.work,
                h,
            )
            .expect("a step");
        }
    }

    fn at(&self, joint: JointId) -> f64 {
        self.state
            .coordinate(&self.model, joint, 0)
            .expect("a coordinate")
    }

    fn rate(&self, joint: JointId) -> f64 {
        self.state
            .coordinate_rate(&self.model, joint, 0)
            .expect("a coordinate")
    }
}

#[test]
fn a_torsion_spring_swings_with_its_period_and_keeps_its_energy() {
    let mut errors = Vec::new();
    for h in [0.02, 0.01, 0.005] {
        let spring = Spring {
            stiffness: 40.0,
            damping: 0.0,
            rest: 0.0,
        };
        let (model, body, joint, inertia) = wheel(|def| def.spring(0, spring));
        let omega = (spring.stiffness / inertia).sqrt();
        let mut run = Run::new(model);
        run.spin(body, DVec3::Z * 3.0);
        let before = energy(&run.model, &run.state).total();
        let steps = (2.0_f64 / h).round() as usize;
        run.go(h, steps);
        let expected = 3.0 / omega * (omega * 2.0).sin();
        errors.push((run.at(joint) - expected).abs());
        let drift = (energy(&run.model, &run.state).total() - before) / before;
        assert!(
            drift.abs() < 2e-2 && drift < 1e-3,
            "energy changed by {drift} at h = {h}"
        );
    }
    assert!(errors[2] < 5e-3, "angle off by {errors:?}");
    let order = (errors[0] / errors[2]).log2() / 2.0;
    assert!(order > 1.7, "order {order}, errors {errors:?}");
}

#[test]
fn a_damper_stops_a_wheel_exponentially() {
    let spring = Spring {
        stiffness: 0.0,
        damping: 1.5,
        rest: 0.0,
    };
    let (model, body, joint, inertia) = wheel(|def| def.spring(0, spring));
    let mut run = Run::new(model);
    run.spin(body, DVec3::Z * 5.0);
    run.go(0.002, 100);
    let expected = 5.0 * (-spring.damping / inertia * 0.2_f64).exp();
    assert!(
        (run.rate(joint) - expected).abs() < 1e-3 * 5.0,
        "{} {expected}",
        run.rate(joint)
    );
}

#[test]
fn a_spring_of_any_stiffness_is_stable_and_comes_to_rest() {
    for stiffness in [1e3, 1e6, 1e9, 1e12] {
        let spring = Spring {
            stiffness,
            damping: 0.0,
            rest: 0.3,
        };
        let (model, body, joint, _) = wheel(|def| def.spring(0, spring));
        let mut run = Run::new(model);
        run.spin(body, DVec3::Z * 2.0);
        run.go(0.01, 300);
        assert!(
            run.state
                .coordinate(&run.model, joint, 0)
                .expect("one")
                .is_finite()
        );
        if stiffness >= 1e9 {
            let (x, v) = (run.at(joint), run.rate(joint));
            assert!(
                (x - 0.3).abs() < 1e-6 && v.abs() < 1e-4,
                "k = {stiffness}: {x} rad, {v} rad/s"
            );
        }
    }
}

#[test]
fn a_limit_stops_the_coordinate_and_lets_it_go_again() {
    let (model, body, joint, _) = wheel(|def| def.limits(0, -0.5, 0.25));
    let mut run = Run::new(model);
    run.spin(body, DVec3::Z * 2.0);
    let mut farthest = f64::MIN;
    for _ in 0..100 {
        run.go(0.01, 1);
        farthest = farthest.max(run.at(joint));
    }
    assert!(farthest <= 0.25 + 1e-9, "went to {farthest}");
    let (x, v) = (run.at(joint), run.rate(joint));
    // The wheel is elastic: what the blow stored as shear turns it back a little.
    assert!(
        (x - 0.25).abs() < 1e-3 && v.abs() < 1e-3,
        "at {x} rad, {v} rad/s"
    );
    run.spin(body, DVec3::Z * -2.0);
    run.go(0.01, 10);
    assert!(run.at(joint) < 0.1, "the limit holds on: {}", run.at(joint));
}

#[test]
fn dry_friction_holds_below_its_force_and_yields_above() {
    let (model, body, joint, mass) = slider(|def| def.friction(0, 30.0));
    let mut run = Run::new(model);
    run.control.add(
        body,
        vincula::model::Wrench {
            force: DVec3::X * 29.0,
            torque: DVec3::ZERO,
        },
    );
    run.go(0.01, 200);
    assert!(run.at(joint).abs() < 1e-12, "crept by {}", run.at(joint));
    run.control.clear();
    run.control.add(
        body,
        vincula::model::Wrench {
            force: DVec3::X * 50.0,
            torque: DVec3::ZERO,
        },
    );
    run.go(0.01, 100);
    let expected = 20.0 / mass;
    assert!(
        (run.rate(joint) - expected).abs() < 0.01 * expected,
        "{} {expected}",
        run.rate(joint)
    );
    run.control.clear();
    run.go(0.01, 200);
    assert!(
        run.rate(joint).abs() < 1e-9,
        "friction has not stopped it: {}",
        run.rate(joint)
    );
}

#[test]
fn a_servo_saturates_at_its_effort_and_then_holds_its_target() {
    let drive = Drive::Position {
        target: 0.4,
        stiffness: 2e4,
        damping: 400.0,
    };
    let (model, _, joint, mass) = slider(|def| def.drive(0, drive, 20.0));
    let mut run = Run::new(model);
    run.go(0.005, 20);
    let expected = 20.0 / mass * 0.1;
    assert!(
        (run.rate(joint) - expected).abs() < 0.01 * expected,
        "{} {expected}",
        run.rate(joint)
    );
    run.go(0.005, 2000);
    assert!((run.at(joint) - 0.4).abs() < 1e-6, "at {}", run.at(joint));
}

#[test]
fn a_velocity_servo_keeps_its_speed_and_angles_count_turns() {
    let drive = Drive::Velocity {
        target: 4.0,
        damping: 50.0,
    };
    let (model, _, joint, _) = wheel(|def| def.drive(0, drive, f64::INFINITY));
    let mut run = Run::new(model);
    run.go(0.01, 1000);
    assert!((run.rate(joint) - 4.0).abs() < 1e-6, "{}", run.rate(joint));
    assert!(
        run.at(joint) > 39.0,
        "ten seconds at 4 rad/s are more than six turns: {}",
        run.at(joint)
    );
    let other = Drive::Velocity {
        target: -1.0,
        damping: 50.0,
    };
    assert!(run.control.set_drive(&run.model, joint, 0, other));
    run.go(0.01, 200);
    assert!((run.rate(joint) + 1.0).abs() < 1e-6);
}

#[test]
fn impossible_laws_are_refused_by_name() {
    let refuse = |joint: fn(JointDef) -> JointDef, told: &str| {
        let mut builder = ModelBuilder::new();
        let shape = Shape::Sphere { radius: 0.1 };
        let body = builder.body(BodyDef::new("ball", shape, DENSITY));
        builder.joint(joint(JointDef::hinge(
            "elbow",
            World,
            body,
            DVec3::ZERO,
            DVec3::Z,
        )));
        let text = builder.build().expect_err("must be refused").to_string();
        assert!(text.contains("elbow") && text.contains(told), "{text}");
    };
    refuse(|j| j.limits(0, 1.0, -1.0), "lower limit");
    refuse(|j| j.limits(1, -1.0, 1.0), "no number 1");
    refuse(|j| j.friction(0, f64::NAN), "friction");
    let gain = Drive::Position {
        target: 0.0,
        stiffness: f64::NAN,
        damping: 0.0,
    };
    let mut builder = ModelBuilder::new();
    let body = builder.body(BodyDef::new("ball", Shape::Sphere { radius: 0.1 }, DENSITY));
    let hinge = JointDef::hinge("elbow", World, body, DVec3::ZERO, DVec3::Z);
    builder.joint(hinge.drive(0, gain, 1.0));
    assert!(
        builder
            .build()
            .expect_err("a NaN gain")
            .to_string()
            .contains("drive stiffness")
    );
}
