//! The same bits: run after run, after a copy, at every level of vector instructions, and
//! from one revision to the next.
//!
//! A golden hash changes when any bit of a motion does. When that is intended, run
//! `cargo test -p vincula --test determinism golden` and copy the hashes that it prints into
//! `GOLDEN`, and say in the commit why the motion changed.

mod common;

use common::{ball_net, ball_tree, chain, free_boxes, hash, hinge_tree, link, run, sprung_tree};
use vincula::joint::axis::Spring;
use vincula::math::dispatch::Level;
use vincula::prelude::*;

/// Whether a scene is one for the integrator: plain RATTLE is not for stiff tension, and large
/// trees have a way of their own with the default only.
fn suits(name: &str, integrator: Integrator) -> bool {
    match name {
        "heavy chain" => integrator != Integrator::Rattle,
        "ball tree" | "sprung tree" => integrator == Integrator::Tempered,
        _ => true,
    }
}

/// Scene, integrator, hash after 50 steps of 5 ms.
const GOLDEN: [(&str, Integrator, u64); 8] = [
    ("ball tree", Integrator::Tempered, 0xf9b98a3ba2f0d1d4),
    ("free boxes", Integrator::Tempered, 0xbfffe7d2dafe23ca),
    ("heavy chain", Integrator::Tempered, 0xcbfa3b46c5d0ac38),
    ("hinge tree", Integrator::Tempered, 0xf9f5504d7e5b75cc),
    ("hinge tree", Integrator::Rattle, 0xc366d233700839c8),
    ("sprung tree", Integrator::Tempered, 0xfd783c09bf72ccdb),
    ("pendulum", Integrator::LinearEuler, 0x4c05ef8056096dfd),
    ("pendulum", Integrator::Bdf2, 0xe9714e17690f9363),
];

/// Twenty links with a thousandfold mass at the end.
fn heavy_chain() -> Model {
    let mut builder = ModelBuilder::new();
    let mut before = None;
    for k in 0..20 {
        let start = DVec3::X * (0.1 * f64::from(k));
        let mass = if k == 19 { 40.0 } else { 0.04 };
        let def = link(format!("link {k}"))
            .mass(mass)
            .at(start + DVec3::X * 0.05);
        let body = builder.body(def);
        let name = format!("joint {k}");
        builder.joint(match before {
            None => JointDef::ball(name, World, body, start),
            Some(before) => JointDef::ball(name, before, body, start),
        });
        before = Some(body);
    }
    builder.build().unwrap()
}

fn scene(name: &str) -> Model {
    match name {
        "free boxes" => free_boxes(20),
        "heavy chain" => heavy_chain(),
        "ball tree" => ball_tree(300),
        "sprung tree" => sprung_tree(
            100,
            Spring {
                stiffness: 2.0,
                damping: 0.01,
                rest: 0.0,
            },
        ),
        "hinge tree" => hinge_tree(15),
        "net" => ball_net(3),
        _ => chain(1, false),
    }
}

/// A net of rods and nodes that is large enough for every pass to be split.
fn large_net() -> Model {
    let count = 40;
    let mut builder = ModelBuilder::new();
    let at = |row: usize, column: usize| DVec3::new(0.1 * column as f64, 0.1 * row as f64, 0.0);
    let mut nodes = Vec::new();
    for row in 0..count {
        for column in 0..count {
            let name = format!("node {row} {column}");
            let shape = Shape::Sphere { radius: 0.02 };
            let def = BodyDef::new(name, shape, 1000.0).at(at(row, column));
            nodes.push(builder.body(def));
        }
    }
    for row in 0..count {
        for column in 0..count {
            for (down, right) in [(0, 1), (1, 0)] {
                let to = [row + down, column + right];
                if to[0] == count || to[1] == count {
                    continue;
                }
                let name = format!("rod {row} {column} {down}");
                let turn = DQuat::from_rotation_z(down as f64 * std::f64::consts::FRAC_PI_2);
                let middle = 0.5 * (at(row, column) + at(to[0], to[1]));
                let rod = builder.body(link(name.clone()).at(middle).turned(turn));
                for [row, column] in [[row, column], to] {
                    let joint = format!("{name} at {row} {column}");
                    let node = nodes[row * count + column];
                    builder.joint(JointDef::ball(joint, node, rod, at(row, column)));
                }
            }
        }
    }
    for column in [0, count / 2, count - 1] {
        let name = format!("nail {column}");
        builder.joint(JointDef::ball(name, World, nodes[column], at(0, column)));
    }
    builder.build().unwrap()
}

/// Its sparse factorization uses whatever instructions the processor has, so that the hash is not
/// the same on every machine; on one of them it is, whatever the threads.
#[test]
fn a_large_net_has_the_same_bits_on_any_number_of_threads() {
    let model = large_net();
    let of = |threads: usize| {
        let settings = Settings {
            threads,
            ..Settings::default()
        };
        let mut work = Workspace::new(&model, settings);
        let used = work.threads();
        let mut state = model.initial_state();
        run(&model, &mut state, &mut work, 5e-3, 6);
        (hash(&state), used)
    };
    let (expected, used) = of(1);
    assert_eq!(used, 1);
    for threads in [2, 3, 8] {
        assert_eq!(of(threads), (expected, 2), "{threads} threads");
    }
    assert_ne!(expected, hash(&model.initial_state()));
}

fn end(model: &Model, settings: Settings) -> State {
    let mut state = model.initial_state();
    run(
        model,
        &mut state,
        &mut Workspace::new(model, settings),
        5e-3,
        50,
    );
    state
}

const SCENES: [&str; 7] = [
    "ball tree",
    "sprung tree",
    "free boxes",
    "heavy chain",
    "hinge tree",
    "net",
    "pendulum",
];

#[test]
fn runs_repeat() {
    for name in SCENES {
        for integrator in Integrator::ALL.into_iter().filter(|i| suits(name, *i)) {
            let settings = Settings::with_integrator(integrator);
            let model = scene(name);
            let one = end(&model, settings);
            let other = end(&scene(name), settings);
            assert_eq!(hash(&one), hash(&other), "{name} {integrator}");
            assert_ne!(hash(&one), hash(&model.initial_state()), "{name} moves");
        }
    }
}

#[test]
fn a_copy_in_a_fresh_workspace_goes_the_same_way() {
    for name in SCENES {
        for integrator in Integrator::ALL.into_iter().filter(|i| suits(name, *i)) {
            let settings = Settings::with_integrator(integrator);
            let model = scene(name);
            let mut state = model.initial_state();
            let mut work = Workspace::new(&model, settings);
            run(&model, &mut state, &mut work, 5e-3, 20);
            let mut copy = state.clone();
            run(&model, &mut state, &mut work, 5e-3, 30);
            run(
                &model,
                &mut copy,
                &mut Workspace::new(&model, settings),
                5e-3,
                30,
            );
            assert_eq!(hash(&state), hash(&copy), "{name} {integrator}");
        }
    }
}

#[test]
fn every_level_gives_the_same_bits() {
    let levels: Vec<Level> = Level::ALL.into_iter().filter(|l| l.available()).collect();
    for name in SCENES {
        let model = scene(name);
        for integrator in Integrator::ALL.into_iter().filter(|i| suits(name, *i)) {
            let of = |level| {
                hash(&end(
                    &model,
                    Settings {
                        level,
                        ..Settings::with_integrator(integrator)
                    },
                ))
            };
            for &level in &levels {
                assert_eq!(
                    of(level),
                    of(Level::Baseline),
                    "{name} {integrator} {}",
                    level.name()
                );
            }
        }
    }
}

#[test]
fn golden_hashes_hold() {
    let mut changed = false;
    for (name, integrator, expected) in GOLDEN {
        let found = hash(&end(&scene(name), Settings::with_integrator(integrator)));
        println!("(\"{name}\", Integrator::{integrator:?}, 0x{found:016x}),");
        changed |= found != expected;
    }
    assert!(
        !changed,
        "the motion changed; the hashes above are the new ones"
    );
}
