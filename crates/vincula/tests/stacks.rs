//! Contacts that lean on each other: stacks, mechanisms on the ground, random heaps.

mod common;
mod contact_worlds;

use common::Random;
use contact_worlds::{cuboid, sphere};
use vincula::contact::ContactSolver;
use vincula::diagnostics::energy;
use vincula::prelude::*;

struct Ran {
    state: State,
    deepest: f64,
    residual: f64,
    gap: f64,
    gained: f64,
}

fn run(model: &Model, settings: Settings, h: f64, duration: f64) -> Ran {
    let mut state = model.initial_state();
    let mut work = Workspace::new(model, settings);
    let control = Control::new(model);
    let (mut deepest, mut residual, mut gap, mut gained) = (0.0f64, 0.0f64, 0.0f64, 0.0f64);
    let mut lowest = energy(model, &state).total();
    for _ in 0..(duration / h).round() as usize {
        let report = step(model, &mut state, &control, &mut work, h).unwrap();
        deepest = deepest.max(report.penetration);
        residual = residual.max(report.contact_residual);
        gap = gap.max(report.residual);
        let now = energy(model, &state).total();
        gained = gained.max(now - lowest);
        lowest = lowest.min(now);
    }
    Ran {
        state,
        deepest,
        residual,
        gap,
        gained,
    }
}

/// n boxes of 0.1 m on top of each other; the last one weighs `ratio` times the others.
fn stack(n: usize, ratio: f64) -> Model {
    let mut builder = ModelBuilder::new();
    builder.collider(ColliderDef::ground("ground", 0.0));
    for k in 0..n {
        let shape = cuboid(DVec3::splat(0.05));
        let name = format!("box {k}");
        let density = if k + 1 == n { 1000.0 * ratio } else { 1000.0 };
        let at = DVec3::Z * (0.05 + 0.1 * k as f64);
        let body = builder.body(BodyDef::new(&name, shape.clone(), density).at(at));
        builder.collider(ColliderDef::new(&name, body, shape));
    }
    builder.build().unwrap()
}

fn assert_stands(model: &Model, h: f64, duration: f64) {
    let begin = std::time::Instant::now();
    let ran = run(model, Settings::default(), h, duration);
    let (deepest, state) = (ran.deepest, ran.state);
    let steps = duration / h;
    let each = 1e3 * begin.elapsed().as_secs_f64() / steps;
    let start = model.initial_state();
    let drift = model
        .body_ids()
        .map(|id| (state.center(id) - start.center(id)).length())
        .fold(0.0, f64::max);
    println!(
        "penetration {deepest:e} m, drift {drift:e} m, residual {:e}, {each:.3} ms a step",
        ran.residual
    );
    assert!(deepest <= 1e-5 && drift <= 1e-4, "{deepest:e} {drift:e}");
}

#[test]
fn ten_boxes_with_a_thousandfold_one_on_top_stand() {
    assert_stands(&stack(10, 1000.0), 0.01, 2.0);
}

#[test]
fn thirty_equal_boxes_stand() {
    assert_stands(&stack(30, 1.0), 0.01, 2.0);
}

/// A chain of links dropped on the ground, sideways.
fn dropped_chain(links: usize) -> Model {
    let mut builder = ModelBuilder::new();
    builder.collider(ColliderDef::ground("ground", 0.0));
    let shape = cuboid(DVec3::new(0.05, 0.01, 0.01));
    let mut before = None;
    for k in 0..links {
        let name = format!("link {k}");
        let start = DVec3::new(0.1 * k as f64, 0.0, 0.3);
        let at = start + DVec3::X * 0.05;
        let body = builder.body(BodyDef::new(&name, shape.clone(), 1000.0).at(at));
        builder.collider(ColliderDef::new(&name, body, shape.clone()));
        if let Some(before) = before {
            builder.joint(JointDef::ball(format!("joint {k}"), before, body, start));
        }
        before = Some(body);
    }
    builder.build().unwrap()
}

#[test]
fn a_chain_falls_on_the_ground_with_closed_joints() {
    let ran = run(&dropped_chain(8), Settings::default(), 0.01, 0.4);
    println!(
        "{:e} {:e} {:e} {:e}",
        ran.gap, ran.deepest, ran.residual, ran.gained
    );
    assert!(ran.gap < 1e-9, "joint gap {:e}", ran.gap);
    assert!(ran.deepest < 1e-6, "penetration {:e}", ran.deepest);
    assert!(ran.gained < 1e-6, "energy gained {:e}", ran.gained);
}

/// A plank hinged to the world at one end, whose other end lies on a block ten thousand times
/// lighter than the load on the plank.
#[test]
fn a_hinged_plank_rests_on_a_light_block() {
    let mut builder = ModelBuilder::new();
    builder.collider(ColliderDef::ground("ground", 0.0));
    let plank = cuboid(DVec3::new(0.5, 0.05, 0.02));
    let at = DVec3::new(0.5, 0.0, 0.12);
    let board = builder.body(
        BodyDef::new("plank", plank.clone(), 1000.0)
            .mass(1000.0)
            .at(at),
    );
    builder.collider(ColliderDef::new("plank", board, plank));
    let hinge = DVec3::new(0.0, 0.0, 0.12);
    builder.joint(JointDef::hinge("hinge", World, board, hinge, DVec3::Y));
    let block = cuboid(DVec3::splat(0.05));
    let at = DVec3::new(0.9, 0.0, 0.05);
    let body = builder.body(
        BodyDef::new("block", block.clone(), 1000.0)
            .mass(0.1)
            .at(at),
    );
    builder.collider(ColliderDef::new("block", body, block));
    let model = builder.build().unwrap();
    let h = 0.002;
    let ran = run(&model, Settings::default(), h, 50.0 * h);
    let drift = (ran.state.center(body) - at).length();
    println!(
        "gap {:e}, penetration {:e}, drift {drift:e}",
        ran.gap, ran.deepest
    );
    assert!(ran.gap < 1e-9, "joint gap {:e}", ran.gap);
    // A thousandth of the block.
    assert!(
        ran.deepest < 1e-4 && drift < 1e-4,
        "{:e} {drift:e}",
        ran.deepest
    );
}

#[test]
fn every_solver_lets_a_small_heap_fall_the_same_way() {
    let mut builder = ModelBuilder::new();
    builder.collider(ColliderDef::ground("ground", 0.0));
    for k in 0..3 {
        let name = format!("body {k}");
        let shape = sphere(0.05);
        let at = DVec3::new(
            0.02 * k as f64,
            0.01 * (k * k) as f64,
            0.05 + 0.11 * k as f64,
        );
        let body = builder.body(BodyDef::new(&name, shape.clone(), 1000.0).at(at));
        builder.collider(ColliderDef::new(&name, body, shape));
    }
    let model = builder.build().unwrap();
    let end = |solver| {
        let settings = Settings {
            contact_solver: solver,
            sweep_limit: 2000,
            ..Settings::default()
        };
        let ran = run(&model, settings, 0.005, 0.5);
        assert!(ran.residual < 1e-6, "{solver}: {:e}", ran.residual);
        ran.state
    };
    let expected = end(ContactSolver::GaussSeidel);
    for solver in [
        ContactSolver::Automatic,
        ContactSolver::Anticipation,
        ContactSolver::Splitting,
    ] {
        let state = end(solver);
        for id in model.body_ids() {
            let off = (state.center(id) - expected.center(id)).length();
            assert!(off < 1e-5, "{solver}: {off:e}");
        }
    }
}

/// Boxes and balls thrown together: no energy without restitution.
#[test]
fn random_heaps_gain_no_energy() {
    for seed in 0..12 {
        let mut random = Random::new(seed);
        let mut builder = ModelBuilder::new();
        let surface = Surface::with_friction(random.between(0.0, 1.0));
        builder.collider(ColliderDef::ground("ground", 0.0).surface(surface));
        for k in 0..6 {
            let name = format!("body {k}");
            let shape = if random.below(2) == 0 {
                sphere(random.between(0.03, 0.08))
            } else {
                cuboid(DVec3::splat(0.06) + random.vector(0.03))
            };
            let at = DVec3::new(0.0, 0.0, 0.2 + 0.2 * k as f64) + random.vector(0.05);
            let def = BodyDef::new(&name, shape.clone(), random.between(200.0, 4000.0))
                .at(at)
                .moving(random.vector(1.0), random.vector(5.0));
            let body = builder.body(def);
            builder.collider(ColliderDef::new(&name, body, shape).surface(surface));
        }
        let model = builder.build().unwrap();
        let ran = run(&model, Settings::default(), 0.01, 3.0);
        let start = energy(&model, &model.initial_state()).total();
        println!(
            "seed {seed}: gained {:e} of {start:.1}, deepest {:e}, residual {:e}",
            ran.gained, ran.deepest, ran.residual
        );
        assert!(ran.gained < 1e-4 * start, "seed {seed}: {:e}", ran.gained);
    }
}
