//! Sleep: what lies still is left alone, and wakes when it must.

mod common;
mod contact_worlds;

use contact_worlds::{cuboid, sphere};
use vincula::contact::{Contacts, detect};
use vincula::diagnostics::energy;
use vincula::prelude::*;

const H: f64 = 0.01;

fn settings() -> Settings {
    Settings {
        sleeping: true,
        ..Settings::default()
    }
}

/// Three columns of three boxes that touch, one box far away, and a ball high above or beside.
fn world(ball: DVec3, velocity: DVec3) -> (Model, Vec<BodyId>, BodyId) {
    let mut builder = ModelBuilder::new();
    builder.collider(ColliderDef::ground("ground", 0.0));
    let mut boxes = Vec::new();
    for k in 0..10 {
        let at = match k {
            9 => DVec3::new(5.0, 0.0, 0.05),
            _ => DVec3::new(0.1 * (k % 3) as f64, 0.0, 0.05 + 0.1 * (k / 3) as f64),
        };
        let def = BodyDef::new(format!("box {k}"), cuboid(DVec3::splat(0.05)), 1000.0);
        boxes.push(builder.body(def.at(at).colliding(Surface::with_friction(0.5))));
    }
    let def = BodyDef::new("ball", sphere(0.05), 2000.0);
    let def = def.at(ball).moving(velocity, DVec3::ZERO);
    let ball = builder.body(def.colliding(Surface::with_friction(0.5)));
    (builder.build().unwrap(), boxes, ball)
}

fn run(model: &Model, state: &mut State, work: &mut Workspace, duration: f64) -> usize {
    let control = Control::new(model);
    let mut contacts = 0;
    for _ in 0..(duration / H).round() as usize {
        contacts = step(model, state, &control, work, H).unwrap().contacts;
    }
    contacts
}

/// A ball that rolls along far away keeps the world in motion.
fn asleep() -> (Model, Vec<BodyId>, BodyId, State, Workspace) {
    let (model, boxes, ball) = world(DVec3::new(0.0, 20.0, 0.05), DVec3::Y);
    let mut state = model.initial_state();
    let mut work = Workspace::new(&model, settings());
    run(&model, &mut state, &mut work, 1.0);
    for body in &boxes {
        assert!(state.sleeps(*body));
    }
    assert!(!state.sleeps(ball));
    (model, boxes, ball, state, work)
}

#[test]
fn what_lies_still_falls_asleep_and_is_not_looked_at() {
    let (model, boxes, _, mut state, mut work) = asleep();
    let before = state.clone();
    let contacts = run(&model, &mut state, &mut work, 1.0);
    // The ball on the ground.
    assert_eq!(contacts, 1);
    for body in boxes {
        assert_eq!(state.center(body), before.center(body));
        assert_eq!(state.affine_map(body), before.affine_map(body));
        assert_eq!(state.twist(&model, body), Twist::default());
    }
}

#[test]
fn nobody_sleeps_unless_asked_to() {
    let (model, boxes, _) = world(DVec3::new(0.0, 20.0, 0.05), DVec3::Y);
    let mut state = model.initial_state();
    let mut work = Workspace::new(&model, Settings::default());
    let contacts = run(&model, &mut state, &mut work, 1.0);
    assert!(contacts > 30 && !boxes.iter().any(|b| state.sleeps(*b)));
    // And sleepers wake up where sleep is not wanted.
    let (model, boxes, _, mut state, _) = asleep();
    let mut work = Workspace::new(&model, Settings::default());
    assert!(run(&model, &mut state, &mut work, H) > 30);
    assert!(!boxes.iter().any(|b| state.sleeps(*b)));
}

#[test]
fn a_bullet_wakes_those_that_lie_together_and_no_others() {
    let (model, boxes, ball, mut state, mut work) = asleep();
    state.set_pose(
        &model,
        ball,
        Pose {
            translation: DVec3::new(-0.5, 0.0, 0.15),
            rotation: DQuat::IDENTITY,
        },
    );
    let twist = Twist {
        linear: DVec3::X * 20.0,
        angular: DVec3::ZERO,
    };
    state.set_twist(&model, ball, twist);
    let start = energy(&model, &state).total();
    run(&model, &mut state, &mut work, 0.1);
    assert!(boxes[..9].iter().all(|b| !state.sleeps(*b)));
    assert!(state.sleeps(boxes[9]));
    let fastest = boxes[..9]
        .iter()
        .map(|b| state.twist(&model, *b).linear.length());
    assert!(fastest.fold(0.0, f64::max) > 0.5);
    assert!(energy(&model, &state).total() < start);
    // Nothing went through.
    let mut contacts = Contacts::new();
    detect(&model, &state, &Control::new(&model), 0.0, &mut contacts);
    assert!(contacts.penetration() < 0.005, "{}", contacts.penetration());
}

#[test]
fn a_push_and_a_lost_support_wake() {
    // A force on the lowest box of the middle column.
    let (model, boxes, _, mut state, mut work) = asleep();
    let mut control = Control::new(&model);
    control.add_torque(boxes[1], DVec3::Z * 1e-3);
    step(&model, &mut state, &control, &mut work, H).unwrap();
    assert!(boxes[..9].iter().all(|b| !state.sleeps(*b)));
    assert!(state.sleeps(boxes[9]));
    // It goes back to sleep.
    run(&model, &mut state, &mut work, 1.0);
    assert!(boxes.iter().all(|b| state.sleeps(*b)));
    // The lowest box of a column is taken away: the others fall.
    let away = Pose {
        translation: DVec3::new(0.0, 3.0, 0.05),
        rotation: DQuat::IDENTITY,
    };
    let height = state.center(boxes[3]).z;
    state.set_pose(&model, boxes[0], away);
    run(&model, &mut state, &mut work, 0.3);
    assert!(state.center(boxes[3]).z < height - 0.05);
}

#[test]
fn a_moving_floor_keeps_awake_and_wakes() {
    let mut builder = ModelBuilder::new();
    let belt = builder.frame("belt", Pose::IDENTITY);
    let plate = cuboid(DVec3::new(5.0, 1.0, 0.1));
    let plate = ColliderDef::new("belt", belt, plate).at(DVec3::Z * -0.1);
    builder.collider(plate.surface(Surface::with_friction(0.5)));
    let def = BodyDef::new("box", cuboid(DVec3::splat(0.05)), 1000.0).at(DVec3::Z * 0.05);
    let body = builder.body(def.colliding(Surface::with_friction(0.5)));
    let model = builder.build().unwrap();
    let mut state = model.initial_state();
    let mut work = Workspace::new(&model, settings());
    run(&model, &mut state, &mut work, 1.0);
    assert!(state.sleeps(body));
    let mut control = Control::new(&model);
    let twist = Twist {
        linear: DVec3::X * 0.005,
        angular: DVec3::ZERO,
    };
    let pose = Pose::IDENTITY;
    assert!(control.move_frame(belt, FrameMotion { pose, twist }));
    for _ in 0..200 {
        step(&model, &mut state, &control, &mut work, H).unwrap();
        control.advance_frames(H);
        assert!(!state.sleeps(body));
    }
    assert!(
        (state.center(body).x - 0.01).abs() < 1e-3,
        "{}",
        state.center(body)
    );
}

#[test]
fn sleepers_wake_as_they_lay() {
    // Awake all the time, and asleep in between: forces are remembered, so nothing jumps.
    let (model, boxes, _, mut state, mut work) = asleep();
    let before: Vec<DVec3> = boxes.iter().map(|b| state.center(*b)).collect();
    state.wake(boxes[0]);
    run(&model, &mut state, &mut work, 0.3);
    for (body, at) in boxes.iter().zip(before) {
        assert!((state.center(*body) - at).length() < 1e-6);
    }
}

#[test]
fn runs_with_sleep_repeat_and_copies_go_the_same_way() {
    let one = asleep();
    let two = asleep();
    for body in &one.1 {
        assert_eq!(one.3.center(*body), two.3.center(*body));
    }
    let (model, _, ball, mut state, mut work) = one;
    let hit = |state: &mut State| {
        let at = DVec3::new(0.1, 0.02, 1.0);
        let pose = Pose {
            translation: at,
            rotation: DQuat::IDENTITY,
        };
        state.set_pose(&model, ball, pose);
    };
    let mut copy = state.clone();
    hit(&mut state);
    hit(&mut copy);
    run(&model, &mut state, &mut work, 1.5);
    run(
        &model,
        &mut copy,
        &mut Workspace::new(&model, settings()),
        1.5,
    );
    assert!(state == copy);
}

#[test]
fn falling_asleep_gains_no_energy() {
    let (model, _, _) = world(DVec3::new(0.13, 0.01, 0.8), DVec3::ZERO);
    let mut state = model.initial_state();
    let mut work = Workspace::new(&model, settings());
    let control = Control::new(&model);
    let mut lowest = energy(&model, &state).total();
    let start = lowest;
    for _ in 0..300 {
        step(&model, &mut state, &control, &mut work, H).unwrap();
        let now = energy(&model, &state).total();
        assert!(now < lowest + 1e-6 * start, "{} J", now - lowest);
        lowest = lowest.min(now);
    }
}
