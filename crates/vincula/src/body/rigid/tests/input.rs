//! Bad input and laws without a solution are named, never a panic.

use glam::{DQuat, DVec3};

use proptest::prelude::*;

use super::*;

fn any_vector() -> impl Strategy<Value = DVec3> {
    // Mostly ordinary numbers, now and then anything a double can hold.
    let number = prop_oneof![8 => -10.0..10.0_f64, 1 => any::<f64>()];
    [number.clone(), number.clone(), number].prop_map(DVec3::from_array)
}

proptest! {
    #[test]
    fn no_step_ever_hands_over_nonsense(
        (x, v, omega, inertia) in (any_vector(), any_vector(), any_vector(), any_vector()),
        (axis, anchor) in (any_vector(), any_vector()),
        (mass, h, stiffness) in (-1.0..10.0_f64, -1e-3..0.1_f64, -1e3..1e6_f64),
    ) {
        let q = DQuat::from_scaled_axis(axis);
        let body = RigidBody { mass, inertia: inertia.abs(), x, q, v, omega };
        let pivot = Pivot { anchor_body: anchor, anchor_world: x };
        let law = move |b: &RigidBody, _: f64| Wrench {
            force: -stiffness * b.x,
            torque: -stiffness * b.q.xyz() - b.omega,
        };
        // `every_step` checks that a step which fails leaves the body alone.
        for result in every_step(body, &pivot, &law, h) {
            prop_assert!(result.is_err() || (body.check().is_ok() && h > 0.0));
        }
    }
}

#[test]
fn bad_input_is_named() {
    let nan_law = |_: &RigidBody, _: f64| Wrench {
        force: DVec3::NAN,
        torque: DVec3::ZERO,
    };
    let (_, pivot, _) = level_rod();
    let sound = tumbling();
    let broken = [
        (
            RigidBody {
                mass: -1.0,
                ..sound
            },
            "mass",
        ),
        (
            RigidBody {
                mass: f64::NAN,
                ..sound
            },
            "mass",
        ),
        (
            RigidBody {
                inertia: DVec3::new(1.0, 0.0, 1.0),
                ..sound
            },
            "moment of inertia",
        ),
        (
            RigidBody {
                x: DVec3::NAN,
                ..sound
            },
            "position",
        ),
        (
            RigidBody {
                q: DQuat::from_xyzw(0.0, 0.0, 0.0, 2.0),
                ..sound
            },
            "orientation",
        ),
        (
            RigidBody {
                v: DVec3::INFINITY,
                ..sound
            },
            "velocity",
        ),
        (
            RigidBody {
                omega: DVec3::NAN,
                ..sound
            },
            "angular velocity",
        ),
    ];
    for (body, word) in broken {
        for result in every_step(body, &pivot, &no_force, 0.01) {
            let message = result.unwrap_err().to_string();
            assert!(message.contains(word), "{message}");
        }
    }
    for result in every_step(sound, &pivot, &nan_law, 0.01) {
        assert!(
            matches!(
                result,
                Err(RigidError::NotFinite { .. } | RigidError::Diverged { .. })
            ),
            "{result:?}"
        );
    }
    for h in [0.0, -0.1, f64::NAN, f64::INFINITY] {
        for result in every_step(sound, &pivot, &no_force, h) {
            assert!(matches!(result, Err(RigidError::BadStep { .. })));
        }
    }
    let nowhere = Pivot {
        anchor_world: DVec3::NAN,
        ..pivot
    };
    for result in every_step(sound, &nowhere, &no_force, 0.01)
        .into_iter()
        .skip(3)
    {
        assert_eq!(
            result,
            Err(RigidError::NotFinite {
                quantity: "pivot anchor"
            })
        );
    }
}

/// The three free steps and the three on a pivot, each on a fresh copy that must stay as it
/// was when the step fails.
fn every_step(
    body: RigidBody,
    pivot: &Pivot,
    law: &dyn Fn(&RigidBody, f64) -> Wrench,
    h: f64,
) -> [Result<(), RigidError>; 6] {
    let law = &|b: &RigidBody, t: f64| law(b, t);
    let mut copies = [body; 6];
    let [a, b, c, d, e, f] = &mut copies;
    let results = [
        step_symplectic(a, law, 0.0, h),
        step_implicit(b, law, 0.0, h),
        step_runge_kutta(c, law, 0.0, h),
        step_symplectic_pivoted(d, pivot, law, 0.0, h).map(drop),
        step_implicit_pivoted(e, pivot, law, 0.0, h).map(drop),
        step_runge_kutta_pivoted(f, pivot, law, 0.0, h).map(drop),
    ];
    for (copy, result) in copies.iter().zip(&results) {
        let same =
            copy.x.x.to_bits() == body.x.x.to_bits() && copy.v.x.to_bits() == body.v.x.to_bits();
        assert!(
            if result.is_ok() {
                copy.check().is_ok()
            } else {
                same
            },
            "{copy:?} {result:?}"
        );
    }
    results
}

#[test]
fn a_law_without_solution_is_reported() {
    // The sign of the force answers the sign of the velocity: no end state balances.
    let law = |body: &RigidBody, _: f64| Wrench {
        force: DVec3::X * if body.v.x > 0.0 { -1e3 } else { 1e3 },
        torque: DVec3::ZERO,
    };
    let mut body = tumbling();
    let result = step_implicit(&mut body, &law, 0.0, 0.1);
    assert!(
        matches!(result, Err(RigidError::NotConverged { .. })),
        "{result:?}"
    );
    assert_eq!(body, tumbling());
}
