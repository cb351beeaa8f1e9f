//! Contacts against closed forms: standing, sliding, sticking, rolling, bouncing.

mod contact_worlds;

use contact_worlds::{cuboid, sphere};
use vincula::contact::Surface;
use vincula::prelude::*;

const G: f64 = 9.81;

/// A body on a half-space that is tilted by an angle about y, so that x points downhill; the
/// world is turned instead of the ramp, which comes to the same.
fn on_ramp(shape: Shape, height: f64, angle: f64, surface: Surface) -> (Model, BodyId) {
    let mut builder = ModelBuilder::new();
    builder.gravity(DVec3::new(G * angle.sin(), 0.0, -G * angle.cos()));
    builder.collider(ColliderDef::ground("ramp", 0.0).surface(surface));
    let body = builder.body(BodyDef::new("body", shape.clone(), 1000.0).at(DVec3::Z * height));
    builder.collider(ColliderDef::new("body", body, shape).surface(surface));
    (builder.build().unwrap(), body)
}

fn run(model: &Model, state: &mut State, h: f64, duration: f64) -> f64 {
    let mut work = Workspace::new(model, Settings::default());
    let control = Control::new(model);
    let mut deepest = 0.0f64;
    for _ in 0..(duration / h).round() as usize {
        let report = step(model, state, &control, &mut work, h).unwrap();
        deepest = deepest.max(report.penetration);
    }
    deepest
}

fn half_box() -> Shape {
    cuboid(DVec3::new(0.1, 0.08, 0.05))
}

#[test]
fn a_box_stands_still_on_the_ground() {
    let (model, body) = on_ramp(half_box(), 0.05, 0.0, Surface::default());
    let mut state = model.initial_state();
    let deepest = run(&model, &mut state, 0.01, 5.0);
    let off = state.center(body) - DVec3::Z * 0.05;
    assert!(off.length() < 1e-9, "{off}");
    assert!(deepest < 1e-9, "{deepest:e}");
    assert!(state.twist(&model, body).linear.length() < 1e-8);
}

#[test]
fn a_box_slides_down_a_ramp_as_coulomb_says() {
    for (angle, mu) in [(0.5, 0.3), (0.8, 0.5), (0.3, 0.0)] {
        let surface = Surface::with_friction(mu);
        let (model, body) = on_ramp(half_box(), 0.05, angle, surface);
        let mut state = model.initial_state();
        run(&model, &mut state, 0.01, 1.0);
        let expected = G * (angle.sin() - mu * angle.cos());
        let speed = state.twist(&model, body).linear.x;
        let distance = state.center(body).x;
        assert!((speed / expected - 1.0).abs() < 1e-3, "{speed} {expected}");
        assert!(
            (distance / (0.5 * expected) - 1.0).abs() < 1e-3,
            "{distance}"
        );
    }
}

#[test]
fn a_box_sticks_up_to_the_friction_angle_and_not_beyond() {
    let mu = 0.5f64;
    let degree = std::f64::consts::PI / 180.0;
    for (offset, sticks) in [(-0.1, true), (0.1, false)] {
        let angle = mu.atan() + offset * degree;
        let (model, body) = on_ramp(half_box(), 0.05, angle, Surface::with_friction(mu));
        let mut state = model.initial_state();
        run(&model, &mut state, 0.01, 10.0);
        let moved = state.center(body).x;
        let free = 0.5 * G * (angle.sin() - mu * angle.cos()) * 100.0;
        if sticks {
            assert!(moved.abs() < 1e-8, "creeps by {moved:e}");
        } else {
            assert!((moved / free - 1.0).abs() < 1e-2, "{moved} {free}");
        }
    }
}

#[test]
fn a_ball_rolls_down_a_ramp_without_slipping() {
    let (radius, angle) = (0.1, 0.4);
    let (model, body) = on_ramp(sphere(radius), radius, angle, Surface::with_friction(0.6));
    let mut state = model.initial_state();
    let deepest = run(&model, &mut state, 0.01, 1.0);
    let expected = G * angle.sin() / 1.4;
    let twist = state.twist(&model, body);
    assert!((twist.linear.x / expected - 1.0).abs() < 1e-3, "{twist:?}");
    assert!((twist.angular.y * radius / twist.linear.x - 1.0).abs() < 1e-6);
    assert!((state.center(body).x / (0.5 * expected) - 1.0).abs() < 2e-3);
    assert!((state.center(body).z - radius).abs() < 1e-6 && deepest < 1e-6);
}

#[test]
fn a_sliding_ball_ends_up_rolling_with_five_sevenths_of_its_speed() {
    let (radius, mu, speed) = (0.1, 0.2, 3.0);
    let (model, body) = on_ramp(sphere(radius), radius, 0.0, Surface::with_friction(mu));
    let mut state = model.initial_state();
    let slide = Twist {
        linear: DVec3::X * speed,
        angular: DVec3::ZERO,
    };
    state.set_twist(&model, body, slide);
    // It slips until t = 2 v/(7 μ g).
    let until = 2.0 * speed / (7.0 * mu * G);
    run(&model, &mut state, 0.005, 0.8 * until);
    let twist = state.twist(&model, body);
    let steps = (0.8 * until / 0.005).round() * 0.005;
    assert!((twist.linear.x / (speed - mu * G * steps) - 1.0).abs() < 1e-3);
    assert!(twist.angular.y * radius < 0.95 * twist.linear.x);
    run(&model, &mut state, 0.005, until);
    let twist = state.twist(&model, body);
    assert!(
        (twist.linear.x / (5.0 / 7.0 * speed) - 1.0).abs() < 1e-3,
        "{twist:?}"
    );
    assert!((twist.angular.y * radius / twist.linear.x - 1.0).abs() < 1e-6);
}

#[test]
fn torsional_friction_stops_a_spinning_ball() {
    let (radius, torsional, spin) = (0.1, 0.002, 10.0);
    let surface = Surface {
        torsional,
        ..Surface::default()
    };
    let (model, body) = on_ramp(sphere(radius), radius, 0.0, surface);
    let mut state = model.initial_state();
    let turn = Twist {
        linear: DVec3::ZERO,
        angular: DVec3::Z * spin,
    };
    state.set_twist(&model, body, turn);
    // The torque is the lever arm times the weight; the inertia 2/5 m r².
    let slowing = torsional * G / (0.4 * radius * radius);
    run(&model, &mut state, 0.01, 1.0);
    let left = state.twist(&model, body).angular.z;
    assert!((left / (spin - slowing) - 1.0).abs() < 1e-3, "{left}");
    run(&model, &mut state, 0.01, 1.2 * (spin / slowing - 1.0));
    assert!(state.twist(&model, body).angular.length() < 1e-9);
}

#[test]
fn rolling_friction_slows_a_rolling_ball() {
    let (radius, rolling, speed) = (0.1, 0.002, 1.0);
    let surface = Surface {
        rolling,
        ..Surface::default()
    };
    let (model, body) = on_ramp(sphere(radius), radius, 0.0, surface);
    let mut state = model.initial_state();
    let roll = Twist {
        linear: DVec3::X * speed,
        angular: DVec3::Y * (speed / radius),
    };
    state.set_twist(&model, body, roll);
    run(&model, &mut state, 0.01, 1.0);
    // The torque against rolling acts on the inertia about the contact, 7/5 m r².
    let slowing = rolling * G / (1.4 * radius);
    let left = state.twist(&model, body).linear.x;
    assert!((left / (speed - slowing) - 1.0).abs() < 1e-3, "{left}");
}

#[test]
fn a_ball_bounces_to_the_square_of_its_restitution() {
    for (h, restitution) in [(0.01, 0.5), (0.01, 0.8), (0.002, 0.9), (0.01, 1.0)] {
        let surface = Surface::default().bouncing(restitution);
        let (model, body) = on_ramp(sphere(0.1), 1.1, 0.0, surface);
        let mut state = model.initial_state();
        let mut work = Workspace::new(&model, Settings::default());
        let control = Control::new(&model);
        let mut tops = Vec::new();
        let mut rising = false;
        for _ in 0..(3.0 / h) as usize {
            step(&model, &mut state, &control, &mut work, h).unwrap();
            let up = state.twist(&model, body).linear.z > 0.0;
            if rising && !up {
                let v = state.twist(&model, body).linear.z;
                tops.push(state.center(body).z - 0.1 + v * v / (2.0 * G));
            }
            rising = up;
        }
        for (k, top) in tops.iter().take(3).enumerate() {
            let expected = restitution.powi(2 * (k as i32 + 1));
            assert!(
                (top / expected - 1.0).abs() < 1e-2,
                "h {h} e {restitution}: {tops:?}"
            );
        }
        assert!(tops.len() >= 2);
    }
}

#[test]
fn five_balls_in_a_row_pass_the_blow_on() {
    let mut builder = ModelBuilder::new();
    builder.gravity(DVec3::ZERO);
    let surface = Surface::with_friction(0.0).bouncing(1.0);
    let mut bodies = Vec::new();
    for k in 0..5 {
        let name = format!("ball {k}");
        let x = 0.1 * k as f64 - if k == 0 { 0.03 } else { 0.0 };
        let body = builder.body(BodyDef::new(&name, sphere(0.05), 1000.0).at(DVec3::X * x));
        builder.collider(ColliderDef::new(&name, body, sphere(0.05)).surface(surface));
        bodies.push(body);
    }
    let model = builder.build().unwrap();
    let mut state = model.initial_state();
    let shot = Twist {
        linear: DVec3::X,
        angular: DVec3::ZERO,
    };
    state.set_twist(&model, bodies[0], shot);
    run(&model, &mut state, 0.005, 0.1);
    for (k, body) in bodies.iter().enumerate() {
        let expected = if k == 4 { 1.0 } else { 0.0 };
        let speed = state.twist(&model, *body).linear.x;
        assert!((speed - expected).abs() < 0.02, "ball {k}: {speed}");
    }
}

#[test]
fn a_bullet_does_not_pass_through_a_plate() {
    for h in [0.01, 0.003] {
        let mut builder = ModelBuilder::new();
        builder.gravity(DVec3::ZERO);
        let plate = cuboid(DVec3::new(0.2, 0.2, 0.005));
        let wall = builder.body(BodyDef::new("plate", plate.clone(), 7800.0));
        builder.collider(ColliderDef::new("plate", wall, plate));
        let bullet = BodyDef::new("bullet", sphere(0.005), 7800.0)
            .at(DVec3::Z * 0.733)
            .moving(DVec3::Z * -100.0, DVec3::ZERO);
        let bullet = builder.body(bullet);
        builder.collider(ColliderDef::new("bullet", bullet, sphere(0.005)));
        let model = builder.build().unwrap();
        let mut state = model.initial_state();
        run(&model, &mut state, h, 0.1);
        let above = state.center(bullet).z - state.center(wall).z;
        assert!(above > 0.0099, "{above}");
    }
}

#[test]
fn a_body_that_starts_inside_another_is_moved_out_slowly() {
    let (model, body) = on_ramp(half_box(), 0.02, 0.0, Surface::default());
    let mut state = model.initial_state();
    let mut work = Workspace::new(&model, Settings::default());
    let control = Control::new(&model);
    let mut fastest = 0.0f64;
    let first = step(&model, &mut state, &control, &mut work, 0.01).unwrap();
    assert!(first.penetration > 0.01, "{first:?}");
    for _ in 0..100 {
        step(&model, &mut state, &control, &mut work, 0.01).unwrap();
        fastest = fastest.max(state.twist(&model, body).linear.length());
    }
    assert!(fastest < 0.2, "{fastest}");
    assert!((state.center(body).z - 0.05).abs() < 1e-6);
}

#[test]
fn the_readout_carries_the_weight() {
    let (model, body) = on_ramp(half_box(), 0.05, 0.2, Surface::default());
    let mut state = model.initial_state();
    let mut work = Workspace::new(&model, Settings::default());
    let control = Control::new(&model);
    for _ in 0..50 {
        step(&model, &mut state, &control, &mut work, 0.01).unwrap();
    }
    let weight = model.body(body).mass.mass * G * 0.01;
    let got = work.contact_impulse(body);
    assert!((got.force.z - weight * 0.2f64.cos()).abs() < 1e-6 * weight);
    assert!((got.force.x + weight * 0.2f64.sin()).abs() < 1e-6 * weight);
    assert!(got.torque.length() < 1e-6 * weight);
    assert!(work.contact_readings().all(|c| c.slip.length() < 1e-9));
    assert!(work.contact_readings().count() >= 3);
}
