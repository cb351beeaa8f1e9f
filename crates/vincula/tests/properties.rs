//! What must hold for any shape, material, spin, step and mechanism, on random ones.
//!
//! The seed is fixed, so that a failure is a change of the engine and not of luck.

mod common;

use common::{KINDS, joint_of, numbers, six_momenta, total_energy};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use vincula::diagnostics::{energy, worst_gap};
use vincula::prelude::*;

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        failure_persistence: None,
        max_shrink_iters: 300,
        rng_seed: RngSeed::Fixed(20_260_101),
        ..ProptestConfig::default()
    }
}

/// 10 to a random power.
fn decades(low: f64, high: f64) -> impl Strategy<Value = f64> {
    (low..high).prop_map(|x: f64| 10f64.powf(x))
}

fn size() -> impl Strategy<Value = f64> {
    0.02..0.5f64
}

fn shapes() -> impl Strategy<Value = Shape> {
    let three = || (size(), size(), size()).prop_map(|(x, y, z)| DVec3::new(x, y, z));
    prop_oneof![
        three().prop_map(|half_extents| Shape::Box { half_extents }),
        size().prop_map(|radius| Shape::Sphere { radius }),
        (size(), size()).prop_map(|(radius, half_length)| Shape::Capsule {
            radius,
            half_length
        }),
        (size(), size()).prop_map(|(radius, half_length)| Shape::Cylinder {
            radius,
            half_length
        }),
        (size(), size()).prop_map(|(radius, half_length)| Shape::Cone {
            radius,
            half_length
        }),
        three().prop_map(|semi_axes| Shape::Ellipsoid { semi_axes }),
    ]
}

/// A vector of length up to `most`.
fn vector(most: f64) -> impl Strategy<Value = DVec3> {
    let entry = || -1.0..1.0f64;
    (entry(), entry(), entry(), 0.0..most).prop_map(|(x, y, z, length)| {
        DVec3::new(x, y, z).try_normalize().unwrap_or(DVec3::X) * length
    })
}

fn rotation() -> impl Strategy<Value = DQuat> {
    vector(3.0).prop_map(DQuat::from_scaled_axis)
}

/// 1e-4 to 1/30 s.
fn step_length() -> impl Strategy<Value = f64> {
    decades(-4.0, -1.4772)
}

proptest! {
    #![proptest_config(config(3000))]

    #[test]
    fn a_free_body_keeps_momenta_and_gains_no_energy(
        shape in shapes(),
        density in decades(1.0, 4.3),
        young in decades(6.0, 11.0),
        turn in rotation(),
        v in vector(10.0),
        spin in vector(100.0),
        h in step_length(),
    ) {
        let mut builder = ModelBuilder::new();
        builder.gravity(DVec3::ZERO);
        let body = BodyDef::new("body", shape, density).material(Material::with_young(young));
        builder.body(body.turned(turn).moving(v, spin));
        let model = builder.build().unwrap();
        let mut state = model.initial_state();
        let mut work = Workspace::new(&model, Settings::default());
        let control = Control::new(&model);
        let (start, before) = (total_energy(&model, &state), six_momenta(&model, &state));
        for _ in 0..100 {
            step(&model, &mut state, &control, &mut work, h).unwrap();
            prop_assert!(numbers(&state).all(f64::is_finite));
            let gained = total_energy(&model, &state) - start;
            prop_assert!(gained <= 1e-9 * start, "gained {gained:.2e} of {start:.2e}");
        }
        let after = six_momenta(&model, &state);
        // Rounding of x × p grows with the way x that the body went.
        let way = (state.center(model.body_ids().next().unwrap()).length() + 1.0) * before[0].length();
        prop_assert!((after[0] - before[0]).length() <= 1e-10 * before[0].length());
        let (error, scale) = ((after[1] - before[1]).length(), before[1].length() + way);
        prop_assert!(error <= 1e-10 * scale, "angular momentum {error:.2e} of {scale:.2e}");
    }
}

proptest! {
    #![proptest_config(config(2000))]

    /// Bodies on a pivot, as stiff as strains of one percent under their spin ask for.
    #[test]
    fn a_pivoted_body_holds_and_gains_no_energy(
        shape in shapes(),
        density in decades(2.0, 4.0),
        stiffness in decades(2.0, 6.0),
        turn in rotation(),
        arm in vector(0.5),
        spin in vector(100.0),
        h in step_length(),
    ) {
        let young = (stiffness * density * (spin.length() * 0.5 + 3.0).powi(2)).clamp(1e6, 1e13);
        let mut builder = ModelBuilder::new();
        let body = BodyDef::new("body", shape, density).material(Material::with_young(young));
        let body = builder.body(body.turned(turn).at(arm));
        builder.joint(JointDef::ball("pivot", World, body, DVec3::ZERO));
        let model = builder.build().unwrap();
        let mut state = model.initial_state();
        let center = state.center(body);
        state.set_twist(&model, body, Twist { linear: spin.cross(center), angular: spin });
        let mut work = Workspace::new(&model, Settings::default());
        let control = Control::new(&model);
        let start = total_energy(&model, &state);
        let mass = &model.body(body).mass;
        let weight = mass.mass * 9.81 * center.length();
        // Spin and the frequency of small swings, whichever is faster.
        let swing = weight / mass.inertia().min_element().min(mass.mass * center.length_squared() + mass.inertia().min_element());
        let (mut kinetic, mut fastest) = (energy(&model, &state).kinetic + weight, swing.sqrt());
        let mut elastic = 0.0f64;
        for _ in 0..100 {
            step(&model, &mut state, &control, &mut work, h).unwrap();
            prop_assert!(numbers(&state).all(f64::is_finite));
            let gap = worst_gap(&model, &state).0;
            prop_assert!(gap <= 1e-9, "gap {gap:.2e} m");
            kinetic = kinetic.max(energy(&model, &state).kinetic);
            fastest = fastest.max(state.twist(&model, body).angular.length());
            let gained = (total_energy(&model, &state) - start) / kinetic;
            // Elastic vibration, which the step damps, may be off by its own energy.
            elastic = elastic.max(energy(&model, &state).elastic);
            let bound = (2.0 * h * fastest).powi(2).max(1e-9) + 2.0 * elastic / kinetic;
            prop_assert!(gained <= bound, "gained {gained:.2e}, bound {bound:.2e}, hω {:.2}", h * fastest);
        }
    }
}

/// A body of a random mechanism: parent, joint, mass, place of the joint and of the body.
#[derive(Clone, Debug)]
struct Limb {
    parent: usize,
    kind: usize,
    mass: f64,
    joint: DVec3,
    axis: DVec3,
    center: DVec3,
    turn: DQuat,
}

fn limbs() -> impl Strategy<Value = Vec<Limb>> {
    let limb = (
        0..12usize,
        0..KINDS.len(),
        decades(-3.0, 3.0),
        vector(0.3),
        vector(1.0),
        vector(0.3),
        rotation(),
    );
    let limb = limb.prop_map(|(parent, kind, mass, joint, axis, center, turn)| {
        let axis = if axis.length() > 1e-3 { axis } else { DVec3::Z };
        Limb {
            parent,
            kind,
            mass,
            joint,
            axis,
            center,
            turn,
        }
    });
    proptest::collection::vec(limb, 2..=12)
}

fn mechanism(limbs: &[Limb], to_world: bool) -> Model {
    let mut builder = ModelBuilder::new();
    let mut bodies: Vec<(BodyId, DVec3)> = Vec::new();
    for (k, limb) in limbs.iter().enumerate() {
        let parent = (k > 0).then(|| bodies[limb.parent % k]);
        let point = parent.map_or(DVec3::ZERO, |(_, center)| center) + limb.joint;
        let half_extents = DVec3::new(0.1, 0.05, 0.15);
        let def = BodyDef::new(format!("body {k}"), Shape::Box { half_extents }, 1000.0);
        let def = def
            .mass(limb.mass)
            .at(point + limb.center)
            .turned(limb.turn);
        let body = builder.body(def);
        let (name, kind) = (format!("joint {k}"), KINDS[limb.kind]);
        match parent {
            Some((parent, _)) => {
                builder.joint(joint_of(&name, kind, parent, body, point, limb.axis));
            }
            None if to_world => {
                builder.joint(joint_of(&name, kind, World, body, point, limb.axis));
            }
            None => {}
        }
        bodies.push((body, point + limb.center));
    }
    builder.build().unwrap()
}

/// Everything that a state holds, to the last bit (`Debug` prints floats so that they read
/// back the same).
fn text(state: &State) -> String {
    format!("{state:?}")
}

proptest! {
    #![proptest_config(config(1500))]

    /// A step succeeds with finite numbers, or fails with an error and changes nothing.
    #[test]
    fn no_number_that_is_none_leaves_a_step(
        limbs in limbs(),
        to_world in any::<bool>(),
        integrator in 0..Integrator::ALL.len(),
        struck in 0..12usize,
        violence in decades(-1.0, 12.0),
        absurd in prop_oneof![9 => Just(1.0), 1 => decades(0.0, 300.0)],
        blow in vector(1.0),
        by_force in any::<bool>(),
        h in step_length(),
    ) {
        let model = mechanism(&limbs, to_world);
        let mut state = model.initial_state();
        let mut control = Control::new(&model);
        let body = model.body_ids().nth(struck % limbs.len()).unwrap();
        let blow = blow * violence * absurd;
        if by_force {
            let torque = blow.any_orthogonal_vector();
            control.add(body, vincula::model::Wrench { force: blow, torque });
        } else {
            let twist = Twist { linear: blow, angular: DVec3::new(blow.z, blow.x, blow.y) };
            state.set_twist(&model, body, twist);
        }
        let settings = Settings::with_integrator(Integrator::ALL[integrator]);
        let mut work = Workspace::new(&model, settings);
        for _ in 0..8 {
            let before = text(&state);
            match step(&model, &mut state, &control, &mut work, h) {
                Ok(report) => {
                    prop_assert!(numbers(&state).all(f64::is_finite), "not finite");
                    prop_assert!(!text(&state).contains("NaN") && !text(&state).contains("inf"));
                    prop_assert!(!report.residual.is_nan());
                }
                Err(error) => {
                    prop_assert!(!error.to_string().is_empty());
                    prop_assert_eq!(&text(&state), &before);
                }
            }
            control.clear();
        }
    }
}
