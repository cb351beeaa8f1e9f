//! Every solver of the dual system gives the motion that the dense oracle gives.

mod common;

use common::{Random, ball_net, chain, hinge_tree, joint_of, run};
use vincula::dual::SolverChoice;
use vincula::joint::JointKind;
use vincula::joint::axis::Spring;
use vincula::prelude::*;

const STEPS: usize = 50;

/// Centre and rotation of every body after 50 steps of 2 ms.
fn end(model: &Model, solver: SolverChoice) -> Vec<f64> {
    end_after(model, solver, STEPS)
}

/// The same after some steps.
fn end_after(model: &Model, solver: SolverChoice, steps: usize) -> Vec<f64> {
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
        steps,
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
    assert_agree_after(model, what, expected, STEPS);
}

fn assert_agree_after(model: &Model, what: &str, expected: &str, steps: usize) {
    let plan = Workspace::new(model, Settings::default());
    assert_eq!(
        plan.dual().plans().next().unwrap().solver,
        expected,
        "{what}"
    );
    let oracle = end_after(model, SolverChoice::Dense, steps);
    assert!(oracle.iter().all(|x| x.is_finite()), "{what}");
    let choices = [SolverChoice::Automatic, SolverChoice::Cholesky];
    let apart = choices.map(|solver| difference(&oracle, &end_after(model, solver, steps)));
    let [first, second] = apart;
    println!("{what}: {choices:?} differ from dense by {first:.1e} and {second:.1e}");
    assert!(first <= 1e-9, "{what}: {first:.3e} and {second:.3e}");
    assert!(second <= 1e-9, "{what}: {second:.3e}");
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

/// What is special about the legs of a spider.
#[derive(Clone, Copy, PartialEq)]
enum Foot {
    Free,
    /// Free, with springs of this stiffness in the hinges, N m/rad.
    Sprung(f64),
    /// Hinged to the world.
    Held,
}

/// A hub with legs of two rods each; masses from 1/10^decades to 10^decades.
fn spider(seed: u64, legs: usize, kinds: &[JointKind], decades: f64, foot: Foot) -> Model {
    let mut random = Random::new(seed);
    let mut builder = ModelBuilder::new();
    let half_extents = DVec3::new(0.2, 0.2, 0.05);
    let hub = builder.body(BodyDef::new("hub", Shape::Box { half_extents }, 500.0));
    builder.joint(JointDef::ball("thread", World, hub, DVec3::Z * 0.1));
    for leg in 0..legs {
        let bearing = std::f64::consts::TAU * leg as f64 / legs as f64;
        let out = DVec3::new(bearing.cos(), bearing.sin(), 0.0);
        let axis = DVec3::Z.cross(out);
        let mut from = (hub, 0.2 * out);
        for part in 0..2 {
            let along = out + DVec3::Z * random.between(-0.5, 0.5);
            let along = along.normalize();
            let rod = common::link(format!("rod {leg} {part}"))
                .mass(10f64.powf(random.between(-decades, decades)))
                .at(from.1 + 0.05 * along)
                .turned(DQuat::from_rotation_arc(DVec3::X, along));
            let rod = builder.body(rod);
            let kind = kinds[random.below(kinds.len())];
            let mut joint = joint_of(
                &format!("joint {leg} {part}"),
                kind,
                from.0,
                rod,
                from.1,
                axis,
            );
            if let (Foot::Sprung(stiffness), JointKind::Hinge) = (foot, kind) {
                joint = joint.spring(
                    0,
                    Spring {
                        stiffness,
                        ..Spring::default()
                    },
                );
            }
            builder.joint(joint);
            from = (rod, from.1 + 0.1 * along);
        }
        if foot == Foot::Held {
            builder.joint(JointDef::hinge(
                format!("foot {leg}"),
                World,
                from.0,
                from.1,
                axis,
            ));
        }
    }
    builder.build().unwrap()
}

/// Small balls, joined by rods to a grid, held at two corners.
fn node_net(seed: u64, cells: usize, decades: f64) -> Model {
    let mut random = Random::new(seed);
    let mut builder = ModelBuilder::new();
    let at = |row: usize, column: usize| DVec3::new(0.1 * column as f64, 0.1 * row as f64, 0.0);
    let mut nodes = Vec::new();
    for row in 0..=cells {
        for column in 0..=cells {
            let ball = BodyDef::new(
                format!("node {row} {column}"),
                Shape::Sphere { radius: 0.01 },
                1.0,
            );
            let mass = 10f64.powf(random.between(-decades, decades));
            nodes.push(builder.body(ball.mass(mass).at(at(row, column))));
        }
    }
    let node = |row: usize, column: usize| nodes[row * (cells + 1) + column];
    for (k, column) in [0, cells].into_iter().enumerate() {
        builder.joint(JointDef::ball(
            format!("pin {k}"),
            World,
            node(0, column),
            at(0, column),
        ));
    }
    for row in 0..=cells {
        for column in 0..=cells {
            for (down, right) in [(0, 1), (1, 0)] {
                let (to_row, to_column) = (row + down, column + right);
                if to_row > cells || to_column > cells {
                    continue;
                }
                let (from, to) = (at(row, column), at(to_row, to_column));
                let turn = DQuat::from_rotation_arc(DVec3::X, (to - from).normalize());
                let rod = common::link(format!("rod {row} {column} {down}")).at(0.5 * (from + to));
                let mass = 10f64.powf(random.between(-decades, decades));
                let rod = builder.body(rod.mass(mass).turned(turn));
                let name = format!("joint {row} {column} {down}");
                builder.joint(JointDef::ball(
                    format!("{name} from"),
                    node(row, column),
                    rod,
                    from,
                ));
                let other = node(to_row, to_column);
                builder.joint(JointDef::ball(format!("{name} to"), other, rod, to));
            }
        }
    }
    builder.build().unwrap()
}

fn hubs_of(model: &Model) -> usize {
    let work = Workspace::new(model, Settings::default());
    work.dual().plans().map(|plan| plan.hubs).sum()
}

#[test]
fn hubs_agree() {
    let hinges = [JointKind::Hinge];
    let mixed = [
        JointKind::Ball,
        JointKind::Hinge,
        JointKind::Universal,
        JointKind::Fixed,
    ];
    for seed in 30..33 {
        let model = spider(seed, 12, &mixed, 3.0, Foot::Free);
        assert_eq!(hubs_of(&model), 1);
        // Over six decades of mass some of these motions magnify rounding a millionfold in
        // fifty steps, with every solver.
        assert_agree_after(&model, "spider", "tree", 5);
        let model = spider(seed, 12, &hinges, 2.0, Foot::Sprung(3.0));
        assert_agree(&model, "spider with springs", "tree");
        let model = random_tree(seed, 40, 10, 0);
        assert!(hubs_of(&model) >= 3);
        assert_agree(&model, "bushy tree", "tree");
    }
}

#[test]
fn hubs_with_legs_on_the_ground_agree() {
    // With the hub held fast the parallel hinges of a leg are redundant; without, they are
    // not: pivots vanish that must not be dropped.
    for seed in 40..43 {
        let model = spider(seed, 10, &[JointKind::Hinge], 1.0, Foot::Held);
        assert_eq!(hubs_of(&model), 1);
        assert_agree(&model, "closed spider", "tree");
    }
}

#[test]
fn nets_of_nodes_agree() {
    // Lighter rods between heavier nodes, in a larger net, are crushed by the velocities
    // that do not fit, whatever solves for the joint forces.
    for (cells, decades) in [(5, 3.0), (7, 1.0)] {
        let model = node_net(50 + cells as u64, cells, decades);
        assert!(hubs_of(&model) > cells * cells / 2);
        assert_agree(&model, "net of nodes", "net");
    }
}

#[test]
fn gauss_seidel_comes_near() {
    for (model, what) in [(ball_net(3), "net"), (chain(8, false), "chain")] {
        let oracle = end(&model, SolverChoice::Dense);
        let d = difference(&oracle, &end(&model, SolverChoice::GaussSeidel));
        println!("{what}: Gauss-Seidel differs from dense by {d:.1e}");
        assert!(
            d <= 1e-6,
            "{what}: Gauss-Seidel differs from dense by {d:.3e}"
        );
    }
}
