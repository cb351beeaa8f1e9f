//! Random mechanisms with loops, laws and couplings, struck at random: a step gives finite
//! numbers, or an error that names somebody and a state that is as it was.

mod common;

use common::{KINDS, Random, joint_of, numbers};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use vincula::joint::axis::{Drive, LimitMethod, Spring};
use vincula::model::Wrench;
use vincula::prelude::*;

fn law(random: &mut Random, def: JointDef, axis: usize) -> JointDef {
    let size = 10f64.powf(random.between(-3.0, 9.0));
    let effort = 10f64.powf(random.between(-1.0, 6.0));
    match random.below(7) {
        0 => def.limits(axis, -random.between(0.0, 1.0), random.between(0.0, 1.0)),
        1 => def
            .limits(axis, -0.1, 0.1)
            .limit_method(axis, LimitMethod::Clamp { stiffness: size }),
        2 => def.spring(
            axis,
            Spring {
                stiffness: size,
                damping: random.between(0.0, size),
                rest: random.between(-1.0, 1.0),
            },
        ),
        3 => def.friction(axis, effort),
        4 => def.drive(
            axis,
            Drive::Position {
                target: random.between(-2.0, 2.0),
                stiffness: size,
                damping: random.between(0.0, size),
            },
            effort,
        ),
        5 => def.drive(
            axis,
            Drive::Velocity {
                target: random.between(-20.0, 20.0),
                damping: size,
            },
            effort,
        ),
        _ => def.drive(axis, Drive::Effort(random.between(-effort, effort)), effort),
    }
}

/// A tree of boxes with random joints and laws, some closures, and some couplings.
fn mechanism(seed: u64) -> Model {
    let mut random = Random::new(seed);
    let mut builder = ModelBuilder::new();
    let bodies = 2 + random.below(8);
    let mut placed: Vec<(BodyId, DVec3)> = Vec::new();
    let mut free = Vec::new();
    for k in 0..bodies {
        let parent = (k > 0).then(|| placed[random.below(k)]);
        let point = parent.map_or(DVec3::ZERO, |(_, center)| center) + random.vector(0.2);
        let center = point + random.vector(0.2);
        let half_extents = DVec3::new(0.1, 0.05, 0.15);
        let mass = 10f64.powf(random.between(-3.0, 3.0));
        let def = BodyDef::new(format!("body {k}"), Shape::Box { half_extents }, 1000.0);
        let turn = DQuat::from_scaled_axis(random.vector(3.0));
        let body = builder.body(def.mass(mass).at(center).turned(turn));
        let kind = KINDS[random.below(KINDS.len())];
        let (name, axis) = (format!("joint {k}"), random.direction());
        let mut joint = match parent {
            Some((parent, _)) => joint_of(&name, kind, parent, body, point, axis),
            None => joint_of(&name, kind, World, body, point, axis),
        };
        let axes = kind.axes().len();
        if axes > 0 && random.below(2) == 0 {
            let at = random.below(axes);
            joint = law(&mut random, joint, at);
        }
        let ball = kind == vincula::joint::JointKind::Ball;
        let id = builder.joint(joint);
        if axes > 0 && !ball {
            free.push((id, random.below(axes)));
        }
        placed.push((body, center));
    }
    for k in 0..random.below(3) {
        let (one, other) = (random.below(bodies), random.below(bodies));
        if one != other {
            let kind = KINDS[random.below(KINDS.len())];
            let name = format!("closure {k}");
            let (a, b) = (placed[one], placed[other]);
            let middle = 0.5 * (a.1 + b.1);
            builder.joint(joint_of(&name, kind, a.0, b.0, middle, random.direction()));
        }
    }
    for k in 0..random.below(3) {
        let name = format!("coupling {k}");
        if free.len() >= 2 {
            let driver = random.below(free.len());
            let driven = (driver + 1 + random.below(free.len() - 1)) % free.len();
            let ratio = random.between(0.1, 3.0);
            let (driver, driven) = (free[driver], free[driven]);
            builder.coupling(match random.below(2) {
                0 => CouplingDef::gear(name, driver, driven, ratio),
                _ => {
                    let terms = [(driver.into(), ratio), (driven.into(), -1.0)];
                    CouplingDef::rates(name, &terms, random.between(-1.0, 1.0))
                }
            });
        } else {
            let (body, at) = placed[random.below(bodies)];
            builder.coupling(CouplingDef::skate(
                name,
                World,
                body,
                at,
                random.direction(),
            ));
        }
    }
    builder.build().unwrap()
}

fn text(state: &State) -> String {
    format!("{state:?}")
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 1200,
        failure_persistence: None,
        max_shrink_iters: 100,
        rng_seed: RngSeed::Fixed(20_260_715),
        ..ProptestConfig::default()
    })]

    #[test]
    fn no_number_that_is_none_leaves_a_step(
        seed in any::<u64>(),
        integrator in 0..Integrator::ALL.len(),
        violence in -2.0..6.0f64,
        h in -4.0..-1.4772f64,
    ) {
        let model = mechanism(seed);
        let mut random = Random::new(seed ^ 0x5eed);
        let mut state = model.initial_state();
        let settings = Settings::with_integrator(Integrator::ALL[integrator]);
        let mut work = Workspace::new(&model, settings);
        let (h, violence) = (10f64.powf(h), 10f64.powf(violence));
        for _ in 0..10 {
            // An impulse on a random body: a force that lasts for one step.
            let mut control = Control::new(&model);
            let body = model.body_ids().nth(random.below(model.bodies().len())).unwrap();
            let (force, torque) = (random.vector(violence / h), random.vector(0.1 * violence / h));
            control.add(body, Wrench { force, torque });
            let before = text(&state);
            match step(&model, &mut state, &control, &mut work, h) {
                Ok(report) => {
                    prop_assert!(numbers(&state).all(f64::is_finite), "not finite");
                    let after = text(&state);
                    prop_assert!(!after.contains("NaN") && !after.contains("inf"));
                    prop_assert!(!report.residual.is_nan());
                }
                Err(error) => {
                    prop_assert!(error.to_string().contains('\''), "{error} names nobody");
                    prop_assert_eq!(&text(&state), &before);
                }
            }
        }
    }
}
