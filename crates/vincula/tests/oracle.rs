//! Every solver of the dual system gives the motion that the dense oracle gives.

mod common;

use common::{Random, ball_net, chain, hinge_tree, joint_of, run};
use vincula::dual::SolverChoice;
use vincula::joint::JointKind;
use vincula::prelude::*;

const STEPS: usize = 50;

/// Centre and rotation of every body after 50 steps of 2 ms.
fn end(model: &Model, solver: SolverChoice) -> Vec<f64> {
    let settings = Settings {
        solver,
        ..Settings::default()
    };
    let mut state = model.initial_state();
    // Velocities that the joints do not allow make every row work in the first step.
    let mut random = Random::new(1);
    for body in model.body_ids() {
        let (linear, angular) = (random.vector(0.1), random.vector(0.5));
        state.set_twist(model, body, Twist { linear, angular });
    }
    run(
        model,
        &mut state,
        &mut Workspace::new(model, settings),
        2e-3,
        STEPS,
    );
    let of = |id| {
        let center = state.center(id).to_array();
        center.into_iter().chain(state.principal_rotation(id))
    };
    model.body_ids().flat_map(of).collect()
}

/// Largest distance of the ends of two runs.
fn difference(one: &[f64], other: &[f64]) -> f64 {
    let apart = |(a, b): (&f64, &f64)| if a == b { 0.0 } else { (a - b).abs() };
    one.iter()
        .zip(other)
        .map(apart)
        .fold(0.0, |m, d| if d > m || d.is_nan() { d } else { m })
}

fn assert_agree(model: &Model, what: &str, expected: &str) {
    let plan = Workspace::new(model, Settings::default());
    assert_eq!(
        plan.dual().plans().next().unwrap().solver,
        expected,
        "{what}"
    );
    let oracle = end(model, SolverChoice::Dense);
    assert!(oracle.iter().all(|x| x.is_finite()), "{what}");
    for solver in [SolverChoice::Automatic, SolverChoice::Cholesky] {
        let d = difference(&oracle, &end(model, solver));
        println!("{what}: {solver:?} differs from dense by {d:.1e}");
        assert!(
            d <= 1e-9,
            "{what}: {solver:?} differs from dense by {d:.3e}"
        );
    }
}

/// A random tree of rods; with `closures`, pairs of its leaves are tied back to the world.
fn random_tree(seed: u64, bodies: usize, branching: usize, closures: usize) -> Model {
    let mut random = Random::new(seed);
    let mut builder = ModelBuilder::new();
    let mut ends: Vec<(BodyId, DVec3)> = Vec::new();
    for k in 0..bodies {
        let parent = (k > 0).then(|| (k - 1) / branching);
        let start = parent.map_or(DVec3::ZERO, |p| ends[p].1);
        let along = random.direction();
        let rod = common::link(format!("rod {k}"))
            .mass(10f64.powf(random.between(-2.0, 2.0)))
            .at(start + 0.05 * along)
            .turned(DQuat::from_rotation_arc(DVec3::X, along));
        let rod = builder.body(rod);
        let kinds = [JointKind::Ball, JointKind::Hinge, JointKind::Universal];
        let kind = kinds[random.below(3)];
        let (name, axis) = (format!("joint {k}"), random.direction());
        builder.joint(match parent {
            None => joint_of(&name, kind, World, rod, start, axis),
            Some(p) => joint_of(&name, kind, ends[p].0, rod, start, axis),
        });
        ends.push((rod, start + 0.1 * along));
    }
    for (k, (rod, end)) in ends.iter().rev().take(closures).enumerate() {
        let far = *end + 0.3 * random.direction();
        builder.joint(JointDef::distance(
            format!("tie {k}"),
            World,
            *rod,
            [far, *end],
        ));
    }
    builder.build().unwrap()
}

#[test]
fn chains_agree() {
    assert_agree(&chain(30, false), "ball chain", "chain");
    assert_agree(&chain(20, true), "hinge chain", "chain");
    for seed in 0..3 {
        assert_agree(&random_tree(seed, 12, 1, 0), "random chain", "chain");
    }
}

#[test]
fn trees_agree() {
    // A body with one parent and one child is a path of joints; a joint graph is a tree
    // only if no body holds three joints, so that branching makes cliques: small loops.
    for seed in 10..13 {
        let model = random_tree(seed, 13, 2, 0);
        let work = Workspace::new(&model, Settings::default());
        let solver = work.dual().plans().next().unwrap().solver;
        assert_agree(&model, "random tree", solver);
    }
    let model = hinge_tree(15);
    let work = Workspace::new(&model, Settings::default());
    let solver = work.dual().plans().next().unwrap().solver;
    assert_agree(&model, "hinge tree", solver);
}

#[test]
fn loops_agree() {
    for seed in 20..24 {
        let model = random_tree(seed, 10, 1, 2);
        let work = Workspace::new(&model, Settings::default());
        let solver = work.dual().plans().next().unwrap().solver;
        assert_agree(&model, "random loops", solver);
    }
}

#[test]
fn nets_agree() {
    for cells in [2, 4] {
        let model = ball_net(cells);
        let work = Workspace::new(&model, Settings::default());
        let solver = work.dual().plans().next().unwrap().solver;
        assert_agree(&model, "net", solver);
    }
}
