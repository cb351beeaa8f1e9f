//! Square rows done in blocks of bodies move mechanisms as their gradients do.
//!
//! A world with a collider keeps gradients, since contacts read them; one without does not need to.

mod common;

use common::{Random, joint_of, link, run};
use vincula::joint::JointKind;
use vincula::prelude::*;

const KINDS: [JointKind; 5] = [
    JointKind::Hinge,
    JointKind::Universal,
    JointKind::Ball,
    JointKind::Hinge,
    JointKind::Fixed,
];

/// A tree of links on random joints of the first kinds, each at one of the last `back` links;
/// masses over two decades. The ground is far below.
fn tree(seed: u64, links: usize, back: usize, kinds: &[JointKind], ground: bool) -> Model {
    let mut random = Random::new(seed);
    let mut builder = ModelBuilder::new();
    let mut ends: Vec<(BodyId, DVec3)> = Vec::new();
    for k in 0..links {
        let parent = (k > 0).then(|| k - 1 - random.below(back.min(k)));
        let start = parent.map_or(DVec3::ZERO, |p| ends[p].1);
        let along = random.direction();
        let body = link(format!("link {k}"))
            .mass(10f64.powf(random.between(-1.0, 1.0)))
            .at(start + 0.05 * along)
            .turned(DQuat::from_rotation_arc(DVec3::X, along));
        let body = builder.body(body);
        let (name, kind) = (format!("joint {k}"), kinds[random.below(kinds.len())]);
        let axis = random.direction();
        builder.joint(match parent {
            None => joint_of(&name, kind, World, body, start, axis),
            Some(p) => joint_of(&name, kind, ends[p].0, body, start, axis),
        });
        ends.push((body, start + 0.1 * along));
    }
    if ground {
        builder.collider(ColliderDef::ground("ground", -1e3));
    }
    builder.build().unwrap()
}

/// Where bodies are after some steps of 5 ms.
fn end(model: &Model, integrator: Integrator, steps: usize) -> Vec<f64> {
    let settings = Settings::with_integrator(integrator);
    let mut state = model.initial_state();
    let mut random = Random::new(3);
    for body in model.body_ids() {
        let (linear, angular) = (random.vector(0.1), random.vector(1.0));
        state.set_twist(model, body, Twist { linear, angular });
    }
    let mut work = Workspace::new(model, settings);
    run(model, &mut state, &mut work, 5e-3, steps);
    let of = |id| {
        let center = state.center(id).to_array();
        center.into_iter().chain(state.principal_rotation(id))
    };
    model.body_ids().flat_map(of).collect()
}

/// Largest distance of the motion with gradients from the one without, m, and how far it is from
/// the motion of other links.
fn compare(seed: u64, back: usize, kinds: &[JointKind], integrator: Integrator) -> (f64, f64) {
    let apart = |one: &[f64], other: &[f64]| {
        let pairs = one.iter().zip(other);
        pairs.map(|(x, y)| (x - y).abs()).fold(0.0, f64::max)
    };
    let of = |seed, ground| end(&tree(seed, 20, back, kinds, ground), integrator, 20);
    let found = of(seed, false);
    (
        apart(&found, &of(seed, true)),
        apart(&found, &of(seed + 100, true)),
    )
}

#[test]
fn chains_move_alike() {
    for seed in 0..8 {
        for integrator in [Integrator::Tempered, Integrator::Rattle] {
            let (off, other) = compare(seed, 1, &KINDS[..4], integrator);
            assert!(
                off < 1e-9 && other > 1e-3,
                "{integrator}: {off:e} {other:e}"
            );
        }
    }
}

#[test]
fn trees_with_other_joints_move_alike() {
    for seed in 0..12 {
        let (off, other) = compare(seed, 4, &KINDS, Integrator::Tempered);
        assert!(off < 1e-9 && other > 1e-3, "{off:e} {other:e}");
    }
}
