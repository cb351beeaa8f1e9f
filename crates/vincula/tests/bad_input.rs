//! Whatever is wrong with the input is named in a typed error; nothing panics.

mod common;

use common::chain;
use vincula::body::mass::{MassError, MassProperties};
use vincula::joint::JointKind;
use vincula::model::{Damping, Drag, ModelError, Wrench};
use vincula::prelude::*;
use vincula::step::StepError;

const BAD: [f64; 4] = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1.0];

fn cube() -> Shape {
    Shape::Box {
        half_extents: DVec3::splat(0.1),
    }
}

fn brick() -> BodyDef {
    BodyDef::new("brick", cube(), 1000.0)
}

/// The message of building a model of one body.
fn refusal(body: BodyDef) -> String {
    let mut builder = ModelBuilder::new();
    builder.body(body);
    builder
        .build()
        .map(|_| ())
        .expect_err("it should be refused")
        .to_string()
}

fn assert_says(message: &str, words: &[&str]) {
    for word in words {
        assert!(message.contains(word), "'{message}' does not say '{word}'");
    }
}

#[test]
fn densities_and_masses() {
    for bad in BAD.into_iter().chain([0.0]) {
        let message = refusal(BodyDef::new("brick", cube(), bad));
        assert_says(&message, &["'brick'", "density"]);
        let message = refusal(brick().mass(bad));
        assert_says(&message, &["'brick'", "mass"]);
    }
}

#[test]
fn sizes() {
    for bad in BAD.into_iter().chain([0.0]) {
        let half_extents = DVec3::new(0.1, bad, 0.1);
        let sized = [
            (Shape::Box { half_extents }, "half_extents.y"),
            (Shape::Sphere { radius: bad }, "radius"),
            (
                Shape::Capsule {
                    radius: 0.1,
                    half_length: bad,
                },
                "half_length",
            ),
            (
                Shape::Cylinder {
                    radius: bad,
                    half_length: 0.1,
                },
                "radius",
            ),
            (
                Shape::Cone {
                    radius: 0.1,
                    half_length: bad,
                },
                "half_length",
            ),
            (
                Shape::Ellipsoid {
                    semi_axes: half_extents,
                },
                "semi_axes.y",
            ),
        ];
        for (shape, field) in sized {
            // A capsule without a straight part is a sphere, which is fine.
            if bad == 0.0 && matches!(shape, Shape::Capsule { .. }) {
                continue;
            }
            assert_says(
                &refusal(BodyDef::new("brick", shape, 1000.0)),
                &["'brick'", field],
            );
        }
    }
}

#[test]
fn inertias() {
    let of = |x, y, z| {
        let tensor = DMat3::from_diagonal(DVec3::new(x, y, z));
        MassProperties::from_inertia(1.0, DVec3::ZERO, tensor, None)
    };
    assert!(matches!(
        of(1.0, 1.0, 3.0),
        Err(MassError::ImpossibleInertia { .. })
    ));
    assert!(matches!(of(1.0, 1.0, 2.0), Err(MassError::Thin { .. })));
    assert!(of(f64::NAN, 1.0, 1.0).is_err());
    assert!(of(-1.0, 1.0, 1.0).is_err());
    assert!(of(0.0, 0.0, 0.0).is_err());
}

/// Mass properties are plain data and can be filled in by hand.
#[test]
fn mass_properties_made_by_hand() {
    let good = MassProperties::from_shape(&cube(), 1000.0).unwrap();
    let wrong = [
        MassProperties { mass: 0.0, ..good },
        MassProperties {
            mass: f64::NAN,
            ..good
        },
        MassProperties {
            volume: -1.0,
            ..good
        },
        MassProperties {
            center: DVec3::NAN,
            ..good
        },
        MassProperties {
            axes: DQuat::from_xyzw(0.0, 0.0, 0.0, 2.0),
            ..good
        },
        MassProperties {
            second_moments: DVec3::new(1.0, 0.0, 1.0),
            ..good
        },
    ];
    for mass in wrong {
        let mut builder = ModelBuilder::new();
        builder.body(BodyDef::with_mass_properties("brick", mass));
        let refused = builder.build().map(|_| ());
        let message = refused
            .expect_err(&format!("{mass:?} should be refused"))
            .to_string();
        assert_says(&message, &["'brick'"]);
    }
}

#[test]
fn poses_and_velocities() {
    assert_says(
        &refusal(brick().at(DVec3::new(0.0, f64::NAN, 0.0))),
        &["'brick'", "pose"],
    );
    for rotation in [
        DQuat::from_xyzw(0.0, 0.0, 0.0, 2.0),
        DQuat::from_xyzw(0.0, 0.0, 0.0, 0.0),
        DQuat::from_xyzw(f64::NAN, 0.0, 0.0, 1.0),
    ] {
        assert_says(
            &refusal(brick().turned(rotation)),
            &["'brick'", "quaternion"],
        );
    }
    for bad in &BAD[..3] {
        let message = refusal(brick().moving(DVec3::X * *bad, DVec3::ZERO));
        assert_says(&message, &["'brick'", "velocity"]);
        let message = refusal(brick().moving(DVec3::ZERO, DVec3::Z * *bad));
        assert_says(&message, &["'brick'", "velocity"]);
    }
}

#[test]
fn materials() {
    for bad in BAD.into_iter().chain([0.0]) {
        let message = refusal(brick().material(Material::with_young(bad)));
        assert_says(&message, &["'brick'", "Young"]);
    }
    for bad in BAD.into_iter().chain([0.5, 0.7]) {
        let message = refusal(brick().material(Material {
            young: 1e9,
            poisson: bad,
        }));
        assert_says(&message, &["'brick'", "Poisson"]);
    }
}

#[test]
fn damping_drag_and_gravity() {
    for bad in BAD {
        let rates = Damping {
            linear: bad,
            angular: 0.0,
        };
        assert_says(
            &refusal(brick().damping(rates)),
            &["'brick'", "linear damping"],
        );
        let drag = Drag {
            quadratic: bad,
            ..Drag::default()
        };
        assert_says(&refusal(brick().drag(drag)), &["'brick'", "quadratic drag"]);
    }
    assert_says(
        &refusal(brick().gravity_scale(f64::NAN)),
        &["'brick'", "gravity"],
    );
    let mut builder = ModelBuilder::new();
    builder.gravity(DVec3::NAN);
    assert_says(&builder.build().unwrap_err().to_string(), &["gravity"]);
    let mut builder = ModelBuilder::new();
    builder.wind(vincula::force::wind::Wind::steady(DVec3::NAN));
    assert_says(&builder.build().unwrap_err().to_string(), &["wind"]);
}

/// The message of a joint between two bricks, or between a brick and the world.
fn joint_refusal(make: impl Fn(BodyId, BodyId) -> JointDef) -> String {
    let mut builder = ModelBuilder::new();
    let first = builder.body(brick());
    let second = builder.body(BodyDef::new("other", cube(), 1000.0).at(DVec3::X));
    builder.joint(make(first, second));
    match builder.build() {
        Err(error @ ModelError::Joint { .. }) => error.to_string(),
        other => panic!("a joint error was expected, not {:?}", other.map(|_| ())),
    }
}

#[test]
fn ends_of_joints() {
    let message = joint_refusal(|a, _| JointDef::ball("knee", a, a, DVec3::ZERO));
    assert_says(&message, &["'knee'", "same body"]);
    let message = joint_refusal(|_, _| JointDef::ball("knee", World, World, DVec3::ZERO));
    assert_says(&message, &["'knee'", "the world"]);
    let mut large = ModelBuilder::new();
    let strangers: Vec<BodyId> = (0..9).map(|_| large.body(brick())).collect();
    let message = joint_refusal(|a, _| JointDef::ball("knee", a, strangers[8], DVec3::ZERO));
    assert_says(&message, &["'knee'", "not in this model"]);
}

#[test]
fn axes_and_points_of_joints() {
    let at = DVec3::ZERO;
    let message = joint_refusal(|a, b| JointDef::hinge("knee", a, b, at, DVec3::ZERO));
    assert_says(&message, &["'knee'", "axis"]);
    let message = joint_refusal(|a, b| JointDef::hinge("knee", a, b, at, DVec3::NAN));
    assert_says(&message, &["'knee'", "axis"]);
    let message = joint_refusal(|a, b| JointDef::ball("knee", a, b, DVec3::NAN));
    assert_says(&message, &["'knee'", "point"]);
    let skew = [DVec3::X, DVec3::new(1.0, 1.0, 0.0)];
    let message = joint_refusal(|a, b| JointDef::universal("knee", a, b, at, skew));
    assert_says(&message, &["'knee'", "perpendicular", "45"]);
    for second in [DVec3::ZERO, DVec3::NAN] {
        let message =
            joint_refusal(|a, b| JointDef::universal("knee", a, b, at, [DVec3::X, second]));
        assert_says(&message, &["'knee'", "axis"]);
    }
}

#[test]
fn distances_and_frames_of_joints() {
    let message = joint_refusal(|a, b| JointDef::distance("knee", a, b, [DVec3::X, DVec3::X]));
    assert_says(&message, &["'knee'", "distance"]);
    for bad in BAD.into_iter().chain([0.0]) {
        let frames = [Pose::IDENTITY; 2];
        let kind = JointKind::Distance(bad);
        let message = joint_refusal(|a, b| JointDef::with_frames("knee", kind, a, b, frames));
        assert_says(&message, &["'knee'", "distance"]);
    }
    let long = Pose {
        rotation: DQuat::from_xyzw(0.0, 0.0, 0.0, 1.1),
        ..Pose::IDENTITY
    };
    for wrong in [long, Pose::at(DVec3::NAN)] {
        let frames = [Pose::IDENTITY, wrong];
        let message =
            joint_refusal(|a, b| JointDef::with_frames("knee", JointKind::Ball, a, b, frames));
        assert_says(&message, &["'knee'", "frames"]);
    }
}

#[test]
fn names_are_unique() {
    let mut builder = ModelBuilder::new();
    builder.body(brick());
    builder.body(brick());
    assert_says(
        &builder.build().unwrap_err().to_string(),
        &["body", "'brick'", "twice"],
    );
    let mut builder = ModelBuilder::new();
    let body = builder.body(brick());
    builder.joint(JointDef::ball("knee", World, body, DVec3::ZERO));
    builder.joint(JointDef::ball("knee", World, body, DVec3::X));
    assert_says(
        &builder.build().unwrap_err().to_string(),
        &["joint", "'knee'", "twice"],
    );
}

#[test]
fn step_lengths() {
    let model = chain(2, false);
    let mut state = model.initial_state();
    let before = state.clone();
    let mut work = Workspace::new(&model, Settings::default());
    let control = Control::new(&model);
    for h in BAD.into_iter().chain([0.0, -0.0]) {
        let error = step(&model, &mut state, &control, &mut work, h).unwrap_err();
        assert!(matches!(error, StepError::BadStep(_)), "{error}");
        assert_says(&error.to_string(), &["step length"]);
        assert_eq!(state, before);
    }
}

#[test]
fn absurd_step_lengths_leave_a_finite_state_or_none() {
    for h in [1e-300, 1e-160, 1e-30, 1e3, 1e30, 1e160, 1e300] {
        for integrator in Integrator::ALL {
            let model = chain(3, true);
            let mut state = model.initial_state();
            let before = state.clone();
            let mut work = Workspace::new(&model, Settings::with_integrator(integrator));
            match step(&model, &mut state, &Control::new(&model), &mut work, h) {
                Ok(_) => assert!(
                    common::numbers(&state).all(f64::is_finite),
                    "{h} {integrator}"
                ),
                Err(_) => assert_eq!(state, before, "{h} {integrator}"),
            }
        }
    }
}

#[test]
fn a_state_of_another_model() {
    let (model, other) = (chain(3, false), chain(20, false));
    let mut work = Workspace::new(&model, Settings::default());
    let control = Control::new(&model);
    let error = step(
        &model,
        &mut other.initial_state(),
        &control,
        &mut work,
        0.01,
    )
    .unwrap_err();
    assert!(matches!(error, StepError::Mismatch("state")));
    assert_says(&error.to_string(), &["state", "another model"]);
    let mut state = model.initial_state();
    let foreign = Control::new(&other);
    assert!(step(&model, &mut state, &foreign, &mut work, 0.01).is_err());
    let mut foreign = Workspace::new(&other, Settings::default());
    assert!(step(&model, &mut state, &control, &mut foreign, 0.01).is_err());
    assert_eq!(state, model.initial_state());
}

/// Two models of equal size are still two models.
#[test]
fn a_state_of_another_model_of_the_same_size() {
    let (model, other) = (chain(3, false), chain(3, true));
    let same = chain(3, false);
    assert_eq!(model.identity(), same.identity());
    assert_ne!(model.identity(), other.identity());
    let mut work = Workspace::new(&model, Settings::default());
    let control = Control::new(&model);
    let twin = step(&model, &mut same.initial_state(), &control, &mut work, 0.01);
    assert!(twin.is_ok());
    let pendulum = |length: f64| {
        let mut builder = ModelBuilder::new();
        let body = builder.body(brick());
        builder.joint(JointDef::ball("hook", World, body, DVec3::Z * length));
        builder.build().unwrap()
    };
    let (model, other) = (pendulum(1.0), pendulum(1.0 + 1e-15));
    let mut work = Workspace::new(&model, Settings::default());
    let control = Control::new(&model);
    let mut state = other.initial_state();
    let error = step(&model, &mut state, &control, &mut work, 0.01).unwrap_err();
    assert!(matches!(error, StepError::Mismatch("state")), "{error}");
    let mut state = model.initial_state();
    let strange = Control::new(&other);
    let error = step(&model, &mut state, &strange, &mut work, 0.01).unwrap_err();
    assert!(matches!(error, StepError::Mismatch("control")), "{error}");
}

#[test]
fn forces_that_are_not_numbers() {
    for model in [chain(2, false), common::free_boxes(3)] {
        let body = model.body_ids().nth(1).unwrap();
        for bad in &BAD[..3] {
            for integrator in Integrator::ALL {
                let mut control = Control::new(&model);
                control.add(
                    body,
                    Wrench {
                        force: DVec3::X * *bad,
                        torque: DVec3::ZERO,
                    },
                );
                let mut work = Workspace::new(&model, Settings::with_integrator(integrator));
                let mut state = model.initial_state();
                let error = step(&model, &mut state, &control, &mut work, 0.01).unwrap_err();
                assert_says(&error.to_string(), &["'"]);
                assert_eq!(state, model.initial_state());
            }
        }
    }
}

#[test]
fn velocities_that_are_not_numbers() {
    let model = chain(3, false);
    let body = model.body_ids().nth(1).unwrap();
    let mut state = model.initial_state();
    state.set_twist(
        &model,
        body,
        Twist {
            linear: DVec3::NAN,
            angular: DVec3::ZERO,
        },
    );
    let mut work = Workspace::new(&model, Settings::default());
    let error = step(&model, &mut state, &Control::new(&model), &mut work, 0.01).unwrap_err();
    assert_says(&error.to_string(), &["body 'link"]);
}

/// A step that failed leaves nothing behind in the workspace either.
#[test]
fn a_workspace_recovers_from_a_failed_step() {
    for integrator in Integrator::ALL {
        let model = chain(3, true);
        let settings = Settings::with_integrator(integrator);
        let mut work = Workspace::new(&model, settings);
        let control = Control::new(&model);
        let mut broken = model.initial_state();
        let twist = Twist {
            linear: DVec3::X * 1e200,
            angular: DVec3::Y * 1e250,
        };
        broken.set_twist(&model, model.body_ids().next().unwrap(), twist);
        let _ = step(&model, &mut broken, &control, &mut work, 0.01);
        let mut state = model.initial_state();
        common::run(&model, &mut state, &mut work, 0.01, 3);
        let mut fresh = model.initial_state();
        common::run(
            &model,
            &mut fresh,
            &mut Workspace::new(&model, settings),
            0.01,
            3,
        );
        assert_eq!(state, fresh, "{integrator}");
    }
}
