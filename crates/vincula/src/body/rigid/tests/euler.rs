//! The two Euler steps: order, energy, balance, stiff forces.

use glam::DVec3;

use super::*;
use crate::reference::HeavyTop;

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
fn euler_steps_are_of_first_order_on_the_heavy_top() {
    let top = HeavyTop {
        mass: 1.3,
        inertia: DVec3::new(0.02, 0.022, 0.03),
        distance: 0.12,
        gravity: GRAVITY,
        tilt: 0.4,
        spin: 20.0,
    };
    let pivot = top.pivot();
    let explicit = |b: &mut RigidBody, t, h| {
        step_symplectic_pivoted(b, &pivot, &weight, t, h).unwrap();
    };
    let implicit = |b: &mut RigidBody, t, h| {
        step_implicit_pivoted(b, &pivot, &weight, t, h).unwrap();
    };
    let truth = run(top.body(), 5000, 0.5, |b, t, h| {
        step_runge_kutta_pivoted(b, &pivot, &weight, t, h).unwrap();
    });
    let steps = [20_000, 40_000, 80_000];
    let first = orders(
        |n| distance(&run(top.body(), n, 0.5, explicit), &truth),
        steps,
    );
    let second = orders(
        |n| distance(&run(top.body(), n, 0.5, implicit), &truth),
        steps,
    );
    println!("symplectic {first:?} implicit {second:?}");
    for order in first.into_iter().chain(second) {
        assert!((order - 1.0).abs() < 0.1);
    }
}
