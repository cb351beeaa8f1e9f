//! The fourth-order step against closed forms.

use glam::{DQuat, DVec3};

use super::*;
use crate::reference::{AsymmetricTop, HeavyTop, SymmetricTop};

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
        let turned = exact.orientation(DQuat::IDENTITY, 20.0);
        let off = 2.0 * (body.q.inverse() * turned).xyz().length();
        println!("spin {spin} orientation {off:e}");
        assert!(off < bound);
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
