//! Limits and dry friction of joints together with contacts, against statics.

mod common;
mod contact_worlds;

use contact_worlds::{cuboid, sphere};
use vincula::diagnostics::{reaction, worst_gap};
use vincula::prelude::*;

const G: f64 = 9.81;
/// Stiff enough that its sag does not show in the levers.
const STEEL: f64 = 2e11;

/// A bar of 1 m and 3 kg along +x on a hinge about y at the origin.
fn bar(builder: &mut ModelBuilder) -> BodyId {
    let shape = cuboid(DVec3::new(0.5, 0.03, 0.03));
    let def = BodyDef::new("bar", shape.clone(), 1000.0)
        .mass(3.0)
        .material(Material::with_young(STEEL))
        .at(DVec3::X * 0.5);
    let bar = builder.body(def);
    builder.collider(ColliderDef::new("bar", bar, shape).surface(Surface::with_friction(0.3)));
    bar
}

/// Runs to rest; returns the state, the mean contact force on a body over the last quarter, N, and
/// its torque about the origin, N m.
fn rest(model: &Model, body: BodyId, h: f64, duration: f64) -> (State, DVec3, DVec3) {
    let mut state = model.initial_state();
    let mut work = Workspace::new(model, Settings::default());
    let control = Control::new(model);
    let steps = (duration / h).round() as usize;
    let (mut sum, mut torque, mut count) = (DVec3::ZERO, DVec3::ZERO, 0.0);
    for k in 0..steps {
        let report = step(model, &mut state, &control, &mut work, h).unwrap();
        assert!(report.penetration < 1e-6, "{:e}", report.penetration);
        if 4 * k >= 3 * steps {
            let push = work.contact_impulse(body);
            sum += push.force / h;
            torque += (push.torque + state.center(body).cross(push.force)) / h;
            count += 1.0;
        }
    }
    let (gap, _) = worst_gap(model, &state);
    assert!(gap < 1e-9, "joint gap {gap:e}");
    (state, sum / count, torque / count)
}

/// The limit of the hinge carries bar and ball, the contact only the ball.
#[test]
fn a_limit_carries_what_lies_on_its_lever() {
    let mut builder = ModelBuilder::new();
    let bar = bar(&mut builder);
    let hinge = JointDef::hinge("hinge", World, bar, DVec3::ZERO, DVec3::Y);
    // It falls by turning about +y, and may not.
    let hinge = builder.joint(hinge.limits(0, -1.0, 0.0));
    let (radius, out) = (0.05, 0.8);
    let ball = BodyDef::new("ball", sphere(radius), 1000.0)
        .mass(2.0)
        .at(DVec3::new(out, 0.0, 0.03 + radius));
    // A ball on a level bar stays by rolling friction.
    let surface = Surface {
        rolling: 0.01,
        ..Surface::with_friction(0.5)
    };
    let ball = builder.body(ball.colliding(surface));
    let model = builder.build().unwrap();
    for h in [0.002, 0.01] {
        let (state, push, _) = rest(&model, ball, h, 1.0);
        assert!((push.z / (2.0 * G) - 1.0).abs() < 1e-4, "h {h}: {push}");
        let torque = reaction(&model, &state, hinge).torque;
        let expected = -(3.0 * 0.5 + 2.0 * out) * G;
        let off = torque.y / expected - 1.0;
        assert!(off.abs() < 1e-3, "h {h}: {torque} instead of {expected}");
        let angle = state.coordinate(&model, hinge, 0).unwrap();
        assert!(angle.abs() < 1e-7, "h {h}: {angle:e} rad");
    }
}

/// A lever comes down on an obstacle; dry friction in its hinge carries a part of the weight.
#[test]
fn dry_friction_takes_its_part_of_the_weight_on_an_obstacle() {
    let (arm, dry) = (0.7, 4.0);
    let mut builder = ModelBuilder::new();
    let bar = bar(&mut builder);
    let hinge = JointDef::hinge("hinge", World, bar, DVec3::ZERO, DVec3::Y);
    let hinge = builder.joint(hinge.friction(0, dry));
    let post = ColliderDef::new("post", World, sphere(0.05));
    // A little below, so that the lever is moving when it arrives.
    builder.collider(post.at(DVec3::new(arm, 0.0, -0.08 - 0.02)));
    let model = builder.build().unwrap();
    for h in [0.002, 0.01] {
        let (state, push, about_hinge) = rest(&model, bar, h, 2.0);
        let torque = reaction(&model, &state, hinge).torque;
        assert!(torque.y.abs() <= dry * (1.0 + 1e-6), "h {h}: {torque}");
        // About y at the hinge: weight, contact and friction balance.
        let weight = (state.center(bar) - DVec3::ZERO)
            .cross(DVec3::NEG_Z * 3.0 * G)
            .y;
        let left = weight + about_hinge.y + torque.y;
        println!("h {h}: push {push}, torque {about_hinge}, friction {torque}");
        assert!(
            left.abs() < 1e-4 * weight,
            "h {h}: {left} N m left of {weight}"
        );
        assert!(
            about_hinge.y < -0.5 * weight,
            "h {h}: it does not lie on the post"
        );
        let spin = state.twist(&model, bar).angular.length();
        assert!(spin < 1e-6, "h {h}: turns at {spin:e} rad/s");
    }
}

/// A pusher moves a slider with dry friction: it feels that friction, no more and no less.
#[test]
fn a_pusher_feels_the_dry_friction_of_a_slider() {
    let dry = 7.0;
    let mut builder = ModelBuilder::new();
    builder.gravity(DVec3::ZERO);
    let ram = builder.frame("ram", Pose::IDENTITY);
    builder.collider(ColliderDef::new("ram", ram, cuboid(DVec3::splat(0.1))));
    let shape = cuboid(DVec3::splat(0.1));
    let slider = BodyDef::new("slider", shape, 1000.0)
        .mass(2.0)
        .at(DVec3::X * 0.21);
    let slider = builder.body(slider.colliding(Surface::with_friction(0.5)));
    let rail = JointDef::prismatic("rail", World, slider, DVec3::X * 0.21, DVec3::X);
    builder.joint(rail.friction(0, dry));
    let model = builder.build().unwrap();
    let h = 0.01;
    let mut state = model.initial_state();
    let mut control = Control::new(&model);
    let twist = Twist {
        linear: DVec3::X * 0.1,
        angular: DVec3::ZERO,
    };
    let pose = Pose::IDENTITY;
    assert!(control.move_frame(ram, FrameMotion { pose, twist }));
    let mut work = Workspace::new(&model, Settings::default());
    let mut force = DVec3::ZERO;
    for k in 0..100 {
        step(&model, &mut state, &control, &mut work, h).unwrap();
        control.advance_frames(h);
        if k >= 50 {
            force += work.contact_impulse(slider).force / (50.0 * h);
        }
    }
    let speed = state.twist(&model, slider).linear.x;
    assert!((speed - 0.1).abs() < 1e-6, "{speed} m/s");
    assert!((force.x / dry - 1.0).abs() < 1e-3, "{force}");
}

/// Pushed against its limit, a slider passes the push on to the world, not to the other side.
#[test]
fn a_limit_stops_what_is_pushed_into_it() {
    let mut builder = ModelBuilder::new();
    let shape = cuboid(DVec3::splat(0.1));
    builder.gravity(-G * DVec3::X);
    let stop = BodyDef::new("stop", shape.clone(), 1000.0).mass(1.0);
    let stop = builder.body(stop.colliding(Surface::with_friction(0.5)));
    let rail = JointDef::prismatic("rail", World, stop, DVec3::ZERO, DVec3::X);
    let rail = builder.joint(rail.limits(0, 0.0, 1.0));
    let load = BodyDef::new("load", shape, 1000.0)
        .mass(500.0)
        .at(DVec3::X * 0.2);
    let load = builder.body(load.colliding(Surface::with_friction(0.5)));
    let model = builder.build().unwrap();
    for h in [0.002, 0.02] {
        let (state, push, _) = rest(&model, load, h, 1.0);
        assert!((push.x / (500.0 * G) - 1.0).abs() < 1e-4, "h {h}: {push}");
        let told = reaction(&model, &state, rail).force;
        assert!((told.x / (501.0 * G) - 1.0).abs() < 1e-4, "h {h}: {told}");
        assert!(state.center(load).x > 0.2 - 1e-6);
    }
}

/// A ram comes from below and lifts a lever off the limit that it lies on.
#[test]
fn a_ram_lifts_a_lever_off_its_limit() {
    let mut builder = ModelBuilder::new();
    let bar = bar(&mut builder);
    let hinge = JointDef::hinge("hinge", World, bar, DVec3::ZERO, DVec3::Y);
    let hinge = builder.joint(hinge.limits(0, -1.0, 0.0));
    let start = Pose {
        translation: DVec3::new(0.8, 0.0, -0.1),
        rotation: DQuat::IDENTITY,
    };
    let ram = builder.frame("ram", start);
    builder.collider(ColliderDef::new("ram", ram, sphere(0.05)));
    let model = builder.build().unwrap();
    let (h, speed) = (0.01, 0.1);
    let mut state = model.initial_state();
    let mut control = Control::new(&model);
    let twist = Twist {
        linear: DVec3::Z * speed,
        angular: DVec3::ZERO,
    };
    assert!(control.move_frame(ram, FrameMotion { pose: start, twist }));
    let mut work = Workspace::new(&model, Settings::default());
    for k in 0..100 {
        let report = step(&model, &mut state, &control, &mut work, h).unwrap();
        control.advance_frames(h);
        assert!(
            report.penetration < 1e-6,
            "step {k}: {:e}",
            report.penetration
        );
        let push = work.contact_impulse(bar).force.length() / h;
        // Twice its weight would lift it at once; a blow takes its speed in one step.
        assert!(push < 100.0, "step {k}: {push} N");
    }
    let angle = state.coordinate(&model, hinge, 0).unwrap();
    // The ram has gone 0.08 m up after 0.02 m without touching, 0.8 m out.
    assert!((angle + 0.08f64.atan2(0.8)).abs() < 3e-3, "{angle} rad");
}

/// The limit of a slider carries its upper half for as long as a contact carries the lower one, and
/// lets go when something lifts the upper half.
#[test]
fn a_limit_that_a_contact_pushes_lasts_until_it_would_pull() {
    let mut builder = ModelBuilder::new();
    builder.collider(ColliderDef::ground("ground", 0.0));
    let shape = cuboid(DVec3::splat(0.1));
    let [foot, head] = [("foot", 3.0, 0.1), ("head", 2.0, 0.3)].map(|(name, mass, z)| {
        let def = BodyDef::new(name, shape.clone(), 1000.0).mass(mass);
        builder.body(def.at(DVec3::Z * z).colliding(Surface::with_friction(0.5)))
    });
    let slider = JointDef::prismatic("slider", foot, head, DVec3::Z * 0.2, DVec3::Z);
    let slider = builder.joint(slider.limits(0, 0.0, 1.0));
    let model = builder.build().unwrap();
    let h = 0.01;
    let mut state = model.initial_state();
    let mut work = Workspace::new(&model, Settings::default());
    let mut control = Control::new(&model);
    let mut run = |state: &mut State, control: &Control, steps: usize| {
        for k in 0..steps {
            let report = step(&model, state, control, &mut work, h).unwrap();
            assert!(report.penetration < 1e-6, "{:e}", report.penetration);
            assert!(report.contact_residual < 1e-6, "step {k}");
        }
        state.coordinate(&model, slider, 0).unwrap()
    };
    let out = run(&mut state, &control, 50);
    assert!(out.abs() < 1e-9, "{out:e} m");
    let told = reaction(&model, &state, slider).force.z.abs();
    assert!((told / (2.0 * G) - 1.0).abs() < 1e-4, "{told} N");
    let lift = 30.0;
    let at = state.center(head);
    control.add_force_at(&state, head, DVec3::Z * lift, at);
    let out = run(&mut state, &control, 20);
    let expected = 0.5 * (lift / 2.0 - G) * 0.2 * 0.2;
    assert!((out / expected - 1.0).abs() < 0.01, "{out} m");
    assert!(state.center(foot).z < 0.1 + 1e-6);
    control.clear();
    let out = run(&mut state, &control, 100);
    assert!(out.abs() < 1e-9, "{out:e} m");
}
