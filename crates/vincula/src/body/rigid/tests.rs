//! What the integrators promise, against closed forms and against themselves.

use std::f64::consts::FRAC_PI_2;

use glam::{DQuat, DVec3};

use super::*;
use crate::reference::{AsymmetricTop, HeavyTop, PhysicalPendulum, SymmetricTop};

const GRAVITY: f64 = 9.81;

fn no_force(_: &RigidBody, _: f64) -> Wrench {
    Wrench::ZERO
}

fn weight(body: &RigidBody, _: f64) -> Wrench {
    Wrench::weight(body.mass, DVec3::new(0.0, 0.0, -GRAVITY))
}

/// A free body far from symmetric, tumbling and drifting.
fn tumbling() -> RigidBody {
    RigidBody {
        x: DVec3::new(0.3, -0.2, 1.0),
        q: DQuat::from_xyzw(0.1, -0.4, 0.2, 0.8).normalize(),
        v: DVec3::new(1.0, 2.0, -0.5),
        omega: DVec3::new(2.0, -3.0, 1.5),
        ..RigidBody::at_rest(1.7, DVec3::new(0.3, 0.5, 0.7))
    }
}

/// A rod hinged at one end and released level, swinging in the x–z plane.
fn level_rod() -> (RigidBody, Pivot, PhysicalPendulum) {
    let (length, width, mass) = (1.0, 0.1, 2.0);
    let mut body = RigidBody::solid_box(mass / (length * width * width), {
        DVec3::new(length, width, width)
    });
    let pivot = Pivot {
        anchor_body: DVec3::new(-0.5 * length, 0.0, 0.0),
        anchor_world: DVec3::new(0.2, 0.1, 3.0),
    };
    pivot.snap(&mut body);
    let inertia = body.inertia.y + mass * 0.25 * length * length;
    let exact = PhysicalPendulum::new(mass, 0.5 * length, inertia, GRAVITY, FRAC_PI_2).unwrap();
    (body, pivot, exact)
}

/// Angle of the rod from its lowest position.
fn rod_angle(body: &RigidBody) -> f64 {
    let axis = body.q * DVec3::X;
    axis.x.atan2(-axis.z)
}

fn distance(a: &RigidBody, b: &RigidBody) -> f64 {
    let turn = (a.q.inverse() * b.q).xyz().length() * 2.0;
    (a.x - b.x).length() + (a.v - b.v).length() + (a.omega - b.omega).length() + turn
}

/// log₂ of the error ratio of successive halvings, given the error for a number of steps.
fn orders(error: impl Fn(usize) -> f64, steps: [usize; 3]) -> [f64; 2] {
    let errors = steps.map(&error);
    println!("errors {errors:?}");
    [
        (errors[0] / errors[1]).log2(),
        (errors[1] / errors[2]).log2(),
    ]
}

fn run(
    mut body: RigidBody,
    steps: usize,
    time: f64,
    step: impl Fn(&mut RigidBody, f64, f64),
) -> RigidBody {
    let h = time / steps as f64;
    for i in 0..steps {
        step(&mut body, i as f64 * h, h);
    }
    body
}

#[test]
fn runge_kutta_is_of_fourth_order_on_the_free_top() {
    let step = |b: &mut RigidBody, t, h| step_runge_kutta(b, &no_force, t, h).unwrap();
    let truth = run(tumbling(), 40_000, 2.0, step);
    let found = orders(
        |n| distance(&run(tumbling(), n, 2.0, step), &truth),
        [200, 400, 800],
    );
    println!("orders {found:?}");
    assert!(found.iter().all(|&order| order > 3.9 && order < 4.3));
}

#[test]
fn runge_kutta_is_of_fourth_order_on_the_heavy_top() {
    let top = HeavyTop {
        mass: 1.3,
        inertia: DVec3::new(0.02, 0.022, 0.03),
        distance: 0.12,
        gravity: GRAVITY,
        tilt: 0.4,
        spin: 60.0,
    };
    let pivot = top.pivot();
    let step = |b: &mut RigidBody, t, h| {
        step_runge_kutta_pivoted(b, &pivot, &weight, t, h).unwrap();
    };
    let truth = run(top.body(), 20_000, 1.0, step);
    let found = orders(
        |n| distance(&run(top.body(), n, 1.0, step), &truth),
        [500, 1000, 2000],
    );
    println!("orders {found:?}");
    assert!(found.iter().all(|&order| order > 3.9 && order < 4.3));
}

#[test]
fn runge_kutta_keeps_energy_and_momentum_of_the_free_top() {
    let start = tumbling();
    let step = |b: &mut RigidBody, t, h| step_runge_kutta(b, &no_force, t, h).unwrap();
    let end = run(start, 10_000, 10.0, step);
    let energy = (end.kinetic_energy() / start.kinetic_energy() - 1.0).abs();
    let spin = (end.angular_momentum_origin() - start.angular_momentum_origin()).length();
    let own = (end.angular_momentum_centre() - start.angular_momentum_centre()).length();
    println!("energy {energy:e} angular momentum {spin:e}, about the centre {own:e}");
    assert!(energy < 1e-12);
    assert!(spin < 1e-11 && own < 1e-12);
    assert_eq!(end.linear_momentum(), start.linear_momentum());
}

#[test]
fn runge_kutta_meets_the_symmetric_top() {
    let mut body = tumbling();
    body.inertia = DVec3::new(0.4, 0.4, 0.7);
    let exact = SymmetricTop::new(0.4, 0.7, body.q, body.omega).unwrap();
    let step = |b: &mut RigidBody, t, h| step_runge_kutta(b, &no_force, t, h).unwrap();
    let end = run(body, 10_000, 5.0, step);
    let turn = 2.0 * (end.q.inverse() * exact.orientation(5.0)).xyz().length();
    let rate = (end.omega - exact.omega(5.0)).length();
    println!("turn {turn:e} rate {rate:e}");
    assert!(turn < 1e-9 && rate < 1e-9);
    let momentum = (end.angular_momentum_centre() - exact.angular_momentum()).length();
    assert!(momentum < 1e-11);
}

#[test]
fn runge_kutta_meets_eulers_solution_through_the_flips() {
    // A handle spun at 3 rad/s about its intermediate axis, slightly off.
    // Close to the separatrix even rounding grows by the inverse square of the offset.
    let spins = [
        (DVec3::new(1e-3, 3.0, 0.0), 1e-6),
        (DVec3::new(0.05, 3.0, 0.0), 5e-9),
        (DVec3::new(0.0, 3.0, 0.05), 5e-9),
        (DVec3::new(0.4, -0.2, 3.0), 1e-9),
        (DVec3::new(-3.0, 0.3, 0.2), 1e-9),
    ];
    for (spin, bound) in spins {
        let mut body = RigidBody::at_rest(1.0, DVec3::new(0.2, 0.3, 0.45));
        body.omega = spin;
        let exact = AsymmetricTop::new(body.inertia, spin).unwrap();
        let mut error = 0.0_f64;
        for i in 0..40_000 {
            let t = 5e-4 * i as f64;
            step_runge_kutta(&mut body, &no_force, t, 5e-4).unwrap();
            error = error.max((body.omega_body() - exact.omega_body(t + 5e-4)).length());
        }
        println!("spin {spin} error {error:e} flip {}", exact.flip_interval());
        assert!(error < bound);
    }
}

#[test]
fn the_handle_flips_when_eulers_solution_says() {
    let mut body = RigidBody::at_rest(1.0, DVec3::new(0.2, 0.3, 0.45));
    body.omega = DVec3::new(0.05, 3.0, 0.0);
    let exact = AsymmetricTop::new(body.inertia, body.omega).unwrap();
    let mut crossings = Vec::new();
    let h = 1e-3;
    for i in 0..40_000 {
        let before = body.omega_body().y;
        step_runge_kutta(&mut body, &no_force, 0.0, h).unwrap();
        let after = body.omega_body().y;
        if before * after < 0.0 {
            crossings.push(h * (i as f64 + before / (before - after)));
        }
    }
    assert!(crossings.len() > 3);
    for pair in crossings.windows(2) {
        assert!((pair[1] - pair[0] - exact.flip_interval()).abs() < 1e-5);
    }
}

#[test]
fn runge_kutta_meets_the_pendulum_and_its_reaction() {
    let (mut body, pivot, exact) = level_rod();
    let (mut angle, mut rate, mut force, mut gap) = (0.0_f64, 0.0_f64, 0.0_f64, 0.0_f64);
    for i in 0..5000 {
        let t = 1e-3 * i as f64;
        let reaction = step_runge_kutta_pivoted(&mut body, &pivot, &weight, t, 1e-3).unwrap();
        let now = t + 1e-3;
        angle = angle.max((rod_angle(&body) - exact.angle(now)).abs());
        rate = rate.max((-body.omega.y - exact.angular_velocity(now)).abs());
        force = force.max((reaction.length() - exact.reaction_magnitude(now)).abs());
        gap = gap.max(pivot.gap(&body).length());
    }
    println!("angle {angle:e} rate {rate:e} force {force:e} gap {gap:e}");
    assert!(angle < 1e-9 && rate < 1e-9 && force < 1e-7);
    assert!(gap < 1e-14);
}

#[test]
fn euler_steps_are_of_first_order_on_the_pendulum() {
    let (body, pivot, exact) = level_rod();
    let explicit = |b: &mut RigidBody, t, h| {
        step_symplectic_pivoted(b, &pivot, &weight, t, h).unwrap();
    };
    let implicit = |b: &mut RigidBody, t, h| {
        step_implicit_pivoted(b, &pivot, &weight, t, h).unwrap();
    };
    let steps = [2000, 4000, 8000];
    let miss = |end: RigidBody| (rod_angle(&end) - exact.angle(1.0)).abs();
    let first = orders(|n| miss(run(body, n, 1.0, explicit)), steps);
    let second = orders(|n| miss(run(body, n, 1.0, implicit)), steps);
    println!("symplectic {first:?} implicit {second:?}");
    for order in first.into_iter().chain(second) {
        assert!((order - 1.0).abs() < 0.1);
    }
}

#[test]
fn euler_reactions_converge_and_gaps_stay_closed() {
    let (start, pivot, exact) = level_rod();
    type Step = fn(&mut RigidBody, &Pivot, f64, f64) -> DVec3;
    let explicit: Step = |b, p, t, h| step_symplectic_pivoted(b, p, &weight, t, h).unwrap();
    let implicit: Step = |b, p, t, h| step_implicit_pivoted(b, p, &weight, t, h).unwrap();
    for step in [explicit, implicit] {
        let worst = |h: f64| {
            let mut body = start;
            let mut worst = 0.0_f64;
            for i in 0..(1.5 / h).round() as usize {
                let t = h * i as f64;
                let force = step(&mut body, &pivot, t, h);
                worst = worst.max((force.length() - exact.reaction_magnitude(t + h)).abs());
                assert!(pivot.gap(&body).length() < 1e-14);
            }
            worst
        };
        let (coarse, fine) = (worst(1e-3), worst(1e-4));
        println!("reaction error {coarse:e} {fine:e} N");
        assert!(fine < 0.15 * coarse && fine < 0.2);
    }
}

#[test]
fn symplectic_pendulum_keeps_its_energy_bounded_and_implicit_loses_it() {
    let (start, pivot, _) = level_rod();
    let energy = |b: &RigidBody| b.kinetic_energy() + b.mass * GRAVITY * (b.x.z - 3.0);
    let (mut explicit, mut implicit) = (start, start);
    let (mut span, fall) = (0.0_f64, start.mass * GRAVITY * 0.5);
    for i in 0..2000 {
        let t = 0.01 * i as f64;
        step_symplectic_pivoted(&mut explicit, &pivot, &weight, t, 0.01).unwrap();
        span = span.max(energy(&explicit).abs() / fall);
        if i < 500 {
            step_implicit_pivoted(&mut implicit, &pivot, &weight, t, 0.01).unwrap();
        }
    }
    let lost = -energy(&implicit) / fall;
    println!("symplectic span {span} implicit lost in 5 s {lost}");
    assert!(span < 0.1);
    assert!(lost > 0.4 && lost < 0.9);
}

#[test]
fn free_steps_agree_with_runge_kutta_to_first_order() {
    let truth = run(tumbling(), 4000, 1.0, |b, t, h| {
        step_runge_kutta(b, &weight, t, h).unwrap();
    });
    let explicit = |b: &mut RigidBody, t, h| step_symplectic(b, &weight, t, h).unwrap();
    let implicit = |b: &mut RigidBody, t, h| step_implicit(b, &weight, t, h).unwrap();
    let steps = [4000, 8000, 16_000];
    let first = orders(
        |n| distance(&run(tumbling(), n, 1.0, explicit), &truth),
        steps,
    );
    let second = orders(
        |n| distance(&run(tumbling(), n, 1.0, implicit), &truth),
        steps,
    );
    println!("symplectic {first:?} implicit {second:?}");
    for order in first.into_iter().chain(second) {
        assert!((order - 1.0).abs() < 0.1);
    }
}

#[test]
fn implicit_step_balances_momentum() {
    let start = tumbling();
    let mut body = start;
    step_implicit(&mut body, &no_force, 0.0, 0.05).unwrap();
    // R₁ I R₁ᵀ ω₁ = L₀ to the tolerance of Newton.
    let spin = body.angular_momentum_centre() - start.angular_momentum_centre();
    assert!(spin.length() < 1e-12, "{spin}");
    assert!(body.kinetic_energy() < start.kinetic_energy());
}

#[test]
fn implicit_step_balances_momentum_on_a_pivot_in_space() {
    let pivot = Pivot {
        anchor_body: DVec3::new(0.2, -0.3, 0.4),
        anchor_world: DVec3::new(1.0, 0.0, 2.0),
    };
    let mut start = tumbling();
    pivot.snap(&mut start);
    let (mut body, h) = (start, 0.02);
    let reaction = step_implicit_pivoted(&mut body, &pivot, &weight, 0.0, h).unwrap();
    let impulse = h * (reaction + weight(&body, h).force);
    assert!((body.linear_momentum() - start.linear_momentum() - impulse).length() < 1e-12);
    let arm = body.q * pivot.anchor_body;
    let gained = body.angular_momentum_centre() - start.angular_momentum_centre();
    let error = (gained - arm.cross(h * reaction)).length();
    assert!(error < 1e-11, "{error:e}");
    assert!((body.x - start.x - h * body.v).length() < 1e-14);
    assert!(pivot.gap(&body).length() < 1e-15);
}

#[test]
fn implicit_step_survives_stiff_forces() {
    // A spring and a torsion spring a hundred thousand times stiffer than the step resolves.
    let law = |body: &RigidBody, _: f64| Wrench {
        force: -1e9 * body.x,
        torque: -1e8 * body.q.xyz() * body.q.w.signum(),
    };
    let mut body = tumbling();
    for i in 0..20 {
        step_implicit(&mut body, &law, 0.01 * i as f64, 0.01).unwrap();
    }
    assert!(body.x.length() < 1e-6 && body.q.xyz().length() < 1e-6);

    let (mut rod, pivot, _) = level_rod();
    let damper = |body: &RigidBody, t: f64| Wrench {
        torque: -1e6 * body.omega,
        ..weight(body, t)
    };
    for i in 0..20 {
        step_implicit_pivoted(&mut rod, &pivot, &damper, 0.01 * i as f64, 0.01).unwrap();
    }
    assert!(rod.omega.length() < 1e-4);
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
        assert!(result.is_ok() || same);
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
