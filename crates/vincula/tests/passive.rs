//! The end of a step is kept from having more energy than its start, and nothing else is changed by it.
//!
//! Every world is stepped with [`Settings::passive`] and without.

mod common;
mod contact_worlds;

use common::Random;
use contact_worlds::{cuboid, sphere};
use glam::DVec2;
use vincula::contact::HeightField;
use vincula::diagnostics::{energy, momentum};
use vincula::joint::axis::Drive;
use vincula::prelude::*;

const H: f64 = 0.01;

fn settings(passive: bool) -> Settings {
    Settings {
        passive,
        ..Settings::default()
    }
}

/// States of a world after each step, with a control that stays.
fn course(model: &Model, control: &Control, passive: bool, steps: usize) -> Vec<State> {
    let mut state = model.initial_state();
    let mut work = Workspace::new(model, settings(passive));
    let one = |_| {
        step(model, &mut state, control, &mut work, H).unwrap();
        state.clone()
    };
    (0..steps).map(one).collect()
}

/// A pair on a hinge and a box that meet in free space, spinning.
fn collision(seed: u64) -> Model {
    let mut random = Random::new(seed);
    let mut builder = ModelBuilder::new();
    builder.gravity(DVec3::ZERO);
    let surface = Surface::with_friction(0.4);
    let mut body = |name: &str, at: DVec3, v: DVec3| {
        let shape = cuboid(DVec3::new(0.1, 0.06, 0.05));
        let def = BodyDef::new(name, shape, 1000.0).at(at);
        builder.body(def.moving(v, random.vector(5.0)).colliding(surface))
    };
    let arm = body("arm", DVec3::ZERO, DVec3::X);
    let hand = body("hand", DVec3::new(-0.25, 0.0, 0.0), DVec3::X);
    body("box", DVec3::new(0.3, 0.03, 0.02), -DVec3::X);
    let hinge = DVec3::new(-0.125, 0.0, 0.0);
    builder.joint(JointDef::hinge("hinge", arm, hand, hinge, DVec3::Y));
    builder.build().unwrap()
}

/// By how much momentum differs with and without, for as long as one world of two is the other's
/// copy before each step; and in how many steps it was not the same step.
fn momentum_changed(model: &Model) -> (f64, usize) {
    let control = Control::new(model);
    let mut works = [true, false].map(|passive| Workspace::new(model, settings(passive)));
    let mut state = model.initial_state();
    let (mut most, mut acted) = (0.0f64, 0);
    for _ in 0..50 {
        let mut free = state.clone();
        step(model, &mut state, &control, &mut works[0], H).unwrap();
        step(model, &mut free, &control, &mut works[1], H).unwrap();
        let [with, without] = [&state, &free].map(|state| momentum(model, state));
        let off = (with.linear - without.linear).length();
        most = most.max(off + (with.angular - without.angular).length());
        let energies = [&state, &free].map(|state| energy(model, state).total());
        acted += usize::from((energies[1] - energies[0]).abs() > 1e-12 * energies[1]);
    }
    (most, acted)
}

#[test]
fn momentum_of_what_floats_is_kept() {
    let mut acted = 0;
    for seed in 0..100 {
        let (changed, steps) = momentum_changed(&collision(seed));
        // Of strained bodies it is measured on the rotation nearest to A, and kept on A.
        assert!(changed < 1e-10, "world {seed}: {changed:e}");
        acted += steps;
    }
    assert!(acted > 0);
}

/// Two worlds of a box that falls on its corner: one where it rebounds, one where a motor turns a
/// wheel on it.
fn fed() -> [Model; 2] {
    [0.3, 0.0].map(|restitution| {
        let mut builder = ModelBuilder::new();
        builder.collider(ColliderDef::ground("ground", 0.0).surface(BOUND));
        let turn = DQuat::from_scaled_axis(DVec3::new(0.5, 0.3, 0.0));
        let def = BodyDef::new("box", cuboid(DVec3::new(0.1, 0.2, 0.1)), 1000.0);
        let def = def.at(DVec3::Z * 0.3).turned(turn);
        let body = builder.body(def.colliding(BOUND.bouncing(restitution)));
        if restitution == 0.0 {
            let at = DVec3::new(0.0, 0.0, 0.6);
            let wheel = builder.body(BodyDef::new("wheel", sphere(0.05), 1000.0).at(at));
            let motor = Drive::Velocity {
                target: 5.0,
                damping: 0.1,
            };
            let hinge = JointDef::hinge("motor", body, wheel, at, DVec3::X);
            builder.joint(hinge.drive(0, motor, 1.0));
        }
        builder.build().unwrap()
    })
}

const BOUND: Surface = Surface {
    friction: 0.7,
    restitution: 0.0,
    rolling: 0.0,
    torsional: 0.0,
    compliance: 0.0,
};

#[test]
fn what_something_feeds_is_left_alone() {
    for model in fed() {
        let control = Control::new(&model);
        let [with, without] = [true, false].map(|passive| course(&model, &control, passive, 200));
        assert_eq!(with, without);
    }
}

#[test]
fn what_the_user_pushes_is_left_alone() {
    let model = rocker();
    let mut control = Control::new(&model);
    let [with, without] = [true, false].map(|passive| course(&model, &control, passive, 50));
    assert_ne!(with, without);
    let force = DVec3::X * 1e-3;
    let body = model.find_body("tumbler").unwrap();
    control.add_force_at(&model.initial_state(), body, force, DVec3::ZERO);
    let [with, without] = [true, false].map(|passive| course(&model, &control, passive, 50));
    assert_eq!(with, without);
}

/// A tumbler: a plate low in a ball that rolls to and fro.
fn rocker() -> Model {
    let mut builder = ModelBuilder::new();
    builder.collider(ColliderDef::ground("ground", 0.0).surface(BOUND));
    let plate = cuboid(DVec3::new(0.05, 0.05, 0.02));
    let def = BodyDef::new("tumbler", plate, 1000.0).at(DVec3::Z * 0.04);
    let body = builder.body(def.moving(DVec3::X * 0.16, DVec3::Y * 4.0));
    let round = ColliderDef::new("round", body, sphere(0.1)).at(DVec3::Z * 0.06);
    builder.collider(round.surface(BOUND));
    builder.build().unwrap()
}

/// A pendulum of two rods on a heavy stand.
fn stand() -> Model {
    let mut builder = ModelBuilder::new();
    builder.collider(ColliderDef::ground("ground", 0.0).surface(BOUND));
    let shape = cuboid(DVec3::new(0.5, 0.5, 0.1));
    let base = BodyDef::new("stand", shape, 4000.0).at(DVec3::Z * 0.1);
    let base = builder.body(base.colliding(BOUND));
    let rod = |name: &str, x: f64| {
        let shape = cuboid(DVec3::new(0.2, 0.02, 0.02));
        BodyDef::new(name, shape, 1000.0).at(DVec3::new(x, 0.0, 1.2))
    };
    let [one, two] = [("one", 0.2), ("two", 0.6)].map(|(name, x)| builder.body(rod(name, x)));
    let at = |x: f64| DVec3::new(x, 0.0, 1.2);
    builder.joint(JointDef::hinge("upper", base, one, at(0.0), DVec3::Y));
    builder.joint(JointDef::hinge("lower", one, two, at(0.4), DVec3::Y));
    builder.build().unwrap()
}

/// A box that slides or rocks, in a lane without friction or on a rough ground.
fn cuboid_on(rough: bool) -> Model {
    let surface = if rough {
        BOUND
    } else {
        Surface::with_friction(0.0)
    };
    let mut builder = ModelBuilder::new();
    builder.collider(ColliderDef::ground("ground", 0.0).surface(surface));
    for (name, sign) in [("left", 1.0), ("right", -1.0)]
        .into_iter()
        .filter(|_| !rough)
    {
        let turn = DQuat::from_rotation_arc(DVec3::Z, DVec3::Y * sign);
        let wall = ColliderDef::new(name, World, ColliderShape::GROUND).turned(turn);
        builder.collider(wall.at(DVec3::Y * (-0.1 * sign)).surface(surface));
    }
    let (height, angle) = if rough { (0.3f64, 0.15f64) } else { (0.1, 0.0) };
    let shape = cuboid(DVec3::new(0.1, 0.1, height));
    let center = 0.1 * angle.sin() + height * angle.cos();
    let def = BodyDef::new("box", shape, 1000.0).at(DVec3::Z * center);
    let def = def.turned(DQuat::from_rotation_y(angle));
    let speed = if rough { 0.0 } else { 1.0 };
    builder.body(def.moving(DVec3::X * speed, DVec3::ZERO).colliding(surface));
    builder.build().unwrap()
}

/// A ball that rolls in a bowl made of facets, or on a plane.
fn ball(bowl: bool) -> Model {
    let mut builder = ModelBuilder::new();
    let def = BodyDef::new("ball", sphere(0.1), 1000.0).colliding(BOUND);
    if bowl {
        let field = HeightField::sample(DVec2::splat(4.0), 129, 129, |x, y| 0.25 * (x * x + y * y));
        builder.collider(ColliderDef::new("bowl", World, field).surface(BOUND));
        let at = DVec3::new(1.0, 0.0, 0.37);
        builder.body(def.at(at).moving(DVec3::Y, DVec3::ZERO));
    } else {
        builder.collider(ColliderDef::ground("ground", 0.0).surface(BOUND));
        builder.body(def.at(DVec3::Z * 0.1).moving(DVec3::X, DVec3::Y * 10.0));
    }
    builder.build().unwrap()
}

/// How much energy is lost with and without, J, and what it is that of motion at most.
fn lost(model: &Model, seconds: f64) -> ([f64; 2], f64) {
    let control = Control::new(model);
    let of = |state: &State| energy(model, state);
    let start = of(&model.initial_state()).total();
    let steps = (seconds / H).round() as usize;
    let courses = [true, false].map(|passive| course(model, &control, passive, steps));
    let most = courses[1].iter().map(|state| of(state).kinetic);
    let most = most.fold(0.0, f64::max);
    (
        courses.map(|states| start - of(&states[steps - 1]).total()),
        most,
    )
}

#[test]
fn what_moves_on_is_hardly_braked() {
    // What may be lost more than without, as a part of the energy of motion.
    let worlds = [
        ("a ball on a plane", ball(false), 10.0, 1e-12),
        ("a box in a lane", cuboid_on(false), 10.0, 1e-9),
        ("a tumbler", rocker(), 20.0, 0.006),
        ("a double pendulum on a stand", stand(), 20.0, 0.06),
        ("a rocking box", cuboid_on(true), 1.0, 0.01),
        ("a ball in a bowl", ball(true), 20.0, 0.01),
    ];
    for (name, model, seconds, part) in worlds {
        let ([with, without], most) = lost(&model, seconds);
        println!("{name}: {with:e} with, {without:e} without, of {most:e}");
        assert!(
            with - without < part * most,
            "{name}: {with:e} {without:e} of {most:e}"
        );
    }
}
