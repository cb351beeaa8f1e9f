//! The streamed step against the general one, and against itself bit by bit.

mod springs;

use glam::DVec3;

use super::grove::Grove;
use super::kinds::Kinds;
use super::lines::Lines;
use super::web::Web;
use super::{Shape as Kind, Stream};
use crate::joint::axis::Spring;
use crate::prelude::*;

/// Three chains with an end mass: one pinned, one free, and one in zigzag pinned at both ends.
fn chains(count: usize) -> Model {
    let mut builder = ModelBuilder::new();
    builder.gravity(DVec3::new(0.0, 0.0, -9.81));
    for chain in 0..3 {
        let mut last = None;
        let mut tip = DVec3::Y * chain as f64;
        for k in 0..count {
            let half_extents = DVec3::new(0.1, 0.01, 0.02);
            let density = if k + 1 == count { 2e4 } else { 1000.0 };
            let name = format!("{chain}-{k}");
            let bend = if k % 2 == 0 { 0.9 } else { -0.9 };
            let turn = DQuat::from_rotation_y(if chain == 2 { bend } else { 0.0 });
            let reach = turn * DVec3::X * 0.1;
            let body = BodyDef::new(&name, Shape::Box { half_extents }, density);
            let body = builder.body(body.at(tip + reach).turned(turn));
            match (last, chain) {
                (None, 1) => {}
                (None, _) => drop(builder.joint(JointDef::ball(name, World, body, tip))),
                // Joints may be written down in either direction.
                (Some(before), _) if k % 3 == 0 => {
                    builder.joint(JointDef::ball(name, body, before, tip));
                }
                (Some(before), _) => drop(builder.joint(JointDef::ball(name, before, body, tip))),
            }
            tip += 2.0 * reach;
            last = Some(body);
        }
        if let (2, Some(last)) = (chain, last) {
            builder.joint(JointDef::ball("nail", World, last, tip));
        }
    }
    builder.build().expect("the chains are sound")
}

fn lines(model: &Model, threads: usize) -> (Kind, Kinds) {
    let (lines, kinds) = Lines::with(model, threads).expect("these are chains");
    (Kind::Lines(Box::new(lines)), kinds)
}

fn grove(model: &Model, _threads: usize) -> (Kind, Kinds) {
    let (grove, kinds) = Grove::with(model).expect("these are trees");
    (Kind::Grove(grove), kinds)
}

fn web(model: &Model, threads: usize) -> (Kind, Kinds) {
    let (web, kinds) = Web::with(model, threads).expect("this is a web");
    (Kind::Web(Box::new(web)), kinds)
}

/// The streamed step of a model of this shape.
fn stream(model: &Model, (shape, kinds): (Kind, Kinds), keeps: bool) -> Option<Stream> {
    let mut stream = Stream::of(model, shape, kinds);
    stream.keeps = keeps;
    Some(stream)
}

/// The integrators whose steps are streamed.
const STREAMED: [Integrator; 2] = [Integrator::Tempered, Integrator::LinearEuler];

/// The state after some steps, and how many of them were streamed.
fn run(
    model: &Model,
    integrator: Integrator,
    stream: Option<Stream>,
    steps: usize,
) -> (State, usize) {
    let mut work = Workspace::new(model, Settings::with_integrator(integrator));
    work.stream = stream;
    let control = Control::new(model);
    let mut state = model.initial_state();
    let ids: Vec<_> = model.body_ids().collect();
    for (k, id) in ids.into_iter().enumerate() {
        let linear = DVec3::new(0.0, 0.0, 0.3 * (k as f64).sin());
        let twist = Twist {
            linear,
            angular: DVec3::ZERO,
        };
        state.set_twist(model, id, twist);
    }
    for _ in 0..steps {
        step(model, &mut state, &control, &mut work, 2e-3).expect("a sound step");
    }
    (state, work.stream.map_or(0, |stream| stream.taken))
}

#[test]
fn streamed_chains_move_as_the_general_step_moves_them() {
    let counts = [1, 2, 8, 9, 40];
    for (count, integrator) in counts.into_iter().flat_map(|c| STREAMED.map(|i| (c, i))) {
        let model = chains(count);
        let (general, _) = run(&model, integrator, None, 60);
        let of = |threads: usize, keep: bool| {
            let streamed = stream(&model, lines(&model, threads), keep);
            run(&model, integrator, streamed, 60)
        };
        let (state, streamed) = of(1, true);
        assert_eq!(streamed, 60, "steps of {count} links, {integrator}");
        for (threads, keep) in [(1, false), (2, true), (2, false)] {
            let other = of(threads, keep).0;
            assert_eq!(
                state, other,
                "{count} links, {integrator}, {threads} threads, kept {keep}"
            );
        }
        assert_alike(&model, &state, &general, integrator.name());
    }
}

/// Far down a chain that begins to swing, motion is nothing, not something subnormal: that would
/// make a step several times slower.
#[test]
fn what_decays_along_a_chain_ends_at_zero() {
    let model = chains(300);
    let mut work = Workspace::new(&model, Settings::default());
    let (mut state, control) = (model.initial_state(), Control::new(&model));
    for _ in 0..40 {
        step(&model, &mut state, &control, &mut work, 0.01).expect("a sound step");
        for (block, memory) in state.blocks.iter().zip(&state.memory) {
            let motion = block.a.iter().chain(&block.w).chain(&block.v);
            let numbers = motion.chain(&memory.load).chain(&memory.slow).flatten();
            for x in numbers {
                assert!(*x == 0.0 || x.abs() >= 1e-60, "{x:e} at t = {}", state.time);
            }
        }
    }
    let forces = state.held.iter().filter(|force| **force != 0.0);
    assert!(forces.clone().count() > 100, "they do not all vanish");
    assert!(forces.clone().all(|force| force.abs() > 1e-120));
}

/// Two trees, one pinned and one free, in which link k hangs from link `parent(k)`.
fn trees(count: usize, parent: impl Fn(usize) -> usize) -> Model {
    sprung_trees(count, parent, [0.0; 3])
}

/// The same with springs of this stiffness, damping and rest in the joints, not alike along all axes.
fn sprung_trees(count: usize, parent: impl Fn(usize) -> usize, spring: [f64; 3]) -> Model {
    let sprung = |def: JointDef| {
        (0..3).fold(def, |def, axis| {
            let [stiffness, damping, rest] = spring.map(|x| x * (1.0 + axis as f64));
            let spring = Spring {
                stiffness,
                damping,
                rest,
            };
            def.spring(axis, spring)
        })
    };
    let mut builder = ModelBuilder::new();
    builder.gravity(DVec3::new(0.0, 0.0, -9.81));
    for tree in 0..2 {
        let mut links: Vec<(BodyId, DVec3)> = Vec::new();
        for k in 0..count {
            let root = match k {
                0 => DVec3::Y * tree as f64,
                _ => links[parent(k)].1,
            };
            let turn = DQuat::from_rotation_z(1.3 * k as f64) * DQuat::from_rotation_y(0.4);
            let half_extents = DVec3::new(0.1, 0.01, 0.02);
            let density = if k % 7 == 3 { 5e4 } else { 1000.0 };
            let name = format!("{tree}-{k}");
            let body = BodyDef::new(&name, Shape::Box { half_extents }, density)
                .at(root + turn * (DVec3::X * 0.1))
                .turned(turn);
            let body = builder.body(body);
            match (k, tree) {
                (0, 0) => drop(builder.joint(sprung(JointDef::ball(name, World, body, root)))),
                (0, _) => {}
                // Joints may be written down in either direction.
                _ if k % 3 == 0 => {
                    let before = links[parent(k)].0;
                    builder.joint(sprung(JointDef::ball(name, body, before, root)));
                }
                _ => {
                    let before = links[parent(k)].0;
                    builder.joint(sprung(JointDef::ball(name, before, body, root)));
                }
            }
            links.push((body, root + turn * (DVec3::X * 0.2)));
        }
    }
    builder.build().expect("the trees are sound")
}

/// What is the same of two states to rounding, for a motion that is not chaotic.
fn assert_alike(model: &Model, state: &State, general: &State, name: &str) {
    for id in model.body_ids() {
        let off = state.center(id).distance(general.center(id));
        assert!(off < 1e-9, "{name}, body {id:?}: {off:.1e} m");
    }
    let most = general
        .multipliers
        .iter()
        .fold(0.0, |m: f64, l| m.max(l.abs()));
    for (ours, theirs) in state.multipliers.iter().zip(&general.multipliers) {
        assert!((ours - theirs).abs() < 1e-6 * most, "{name}");
    }
}

type Parents = fn(usize) -> usize;
/// By generations; a trunk with twigs, so that bodies of a block hang from each other; a bush.
const SHAPES: [(&str, Parents); 3] = [
    ("generations", |k| (k - 1) / 2),
    ("trunk", |k| k - 1 - (k - 1) % 2),
    ("bush", |k| (k - 1) / 9),
];

#[test]
fn streamed_trees_move_as_the_general_step_moves_them() {
    for ((name, parent), integrator) in SHAPES.into_iter().flat_map(|s| STREAMED.map(|i| (s, i))) {
        let model = trees(31, parent);
        let (general, _) = run(&model, integrator, None, 40);
        let of = |keep: bool| {
            let streamed = stream(&model, grove(&model, 1), keep);
            run(&model, integrator, streamed, 40).0
        };
        let state = of(true);
        assert_eq!(state, of(false), "{name}: keeping changes no bit");
        assert_alike(&model, &state, &general, name);
        assert_ne!(state, general, "{name} was streamed");
    }
}

/// A net of rods that meet at points, at a corner in a small body, with a tail; nailed at two
/// corners or free.
fn net(count: usize, nailed: bool) -> Model {
    let mut builder = ModelBuilder::new();
    builder.gravity(DVec3::new(0.0, 0.0, -9.81));
    let at = |row: usize, column: usize| DVec3::new(0.2 * column as f64, 0.2 * row as f64, 0.0);
    let mut ends: Vec<(BodyId, [usize; 2])> = Vec::new();
    let half_extents = DVec3::new(0.1, 0.01, 0.02);
    for row in 0..count {
        for column in 0..count {
            for (down, right) in [(0, 1), (1, 0)] {
                let to = [row + down, column + right];
                if to[0] == count || to[1] == count {
                    continue;
                }
                let density = if (row + column) % 5 == 4 { 3e4 } else { 1000.0 };
                let shape = Shape::Box { half_extents };
                let turn = DQuat::from_rotation_z(down as f64 * std::f64::consts::FRAC_PI_2);
                let body = BodyDef::new(format!("{row} {column} {down}"), shape, density)
                    .at(0.5 * (at(row, column) + at(to[0], to[1])))
                    .turned(turn);
                let body = builder.body(body);
                ends.push((body, [row, column]));
                ends.push((body, to));
            }
        }
    }
    let knot = BodyDef::new("knot", Shape::Sphere { radius: 0.03 }, 1000.0);
    let knot = builder.body(knot.at(at(count - 1, count - 1)));
    ends.push((knot, [count - 1, count - 1]));
    let shape = Shape::Box { half_extents };
    let tail = BodyDef::new("tail", shape, 1000.0).at(at(0, count - 1) + DVec3::X * 0.1);
    let tail = builder.body(tail);
    ends.push((tail, [0, count - 1]));
    // Joints tie each end to the one before it at the same place, and the first to the world.
    for (k, (body, [row, column])) in ends.iter().enumerate() {
        let before = ends[..k].iter().rev().find(|end| end.1 == [*row, *column]);
        let (name, place) = (format!("joint {k}"), at(*row, *column));
        match before {
            Some((other, _)) if k % 3 == 0 => {
                builder.joint(JointDef::ball(name, *body, *other, place));
            }
            Some((other, _)) => drop(builder.joint(JointDef::ball(name, *other, *body, place))),
            None if nailed && *row == 0 && *column % 3 == 0 => {
                builder.joint(JointDef::ball(name, World, *body, place));
            }
            None => {}
        }
    }
    builder.build().expect("the net is sound")
}

#[test]
fn streamed_webs_move_as_the_general_step_moves_them() {
    for (nailed, integrator) in [true, false]
        .into_iter()
        .flat_map(|n| STREAMED.map(|i| (n, i)))
    {
        let model = net(5, nailed);
        let (general, _) = run(&model, integrator, None, 40);
        let of = |threads: usize, keep: bool| {
            let streamed = stream(&model, web(&model, threads), keep);
            run(&model, integrator, streamed, 40).0
        };
        let state = of(1, true);
        for (threads, keep) in [(1, false), (2, true), (2, false)] {
            assert_eq!(state, of(threads, keep), "{threads} threads, kept {keep}");
        }
        assert_alike(&model, &state, &general, "web");
        assert_ne!(state, general, "it was streamed");
    }
}

/// How steps went that were so long that bodies turn by some hundredths.
struct Outcome {
    state: State,
    /// Linearisations of each step.
    iterations: Vec<usize>,
    /// Steps that were streamed, and those of them that were out of the ordinary.
    taken: usize,
    far: usize,
}

/// How far steps are made: by whom, how long they are, how many blocks are spared, and whether
/// `always` as if each step followed one that was out of the ordinary.
#[derive(Clone, Copy)]
struct Manner {
    integrator: Integrator,
    h: f64,
    spared: usize,
    always: bool,
}

fn run_far(model: &Model, stream: Option<Stream>, manner: Manner) -> Outcome {
    let Manner { h, always, .. } = manner;
    let mut work = Workspace::new(model, Settings::with_integrator(manner.integrator));
    work.stream = stream;
    work.spared = manner.spared;
    let (mut state, control) = (model.initial_state(), Control::new(model));
    let (mut iterations, mut far) = (Vec::new(), 0);
    for _ in 0..25 {
        if let Some(stream) = &mut work.stream {
            stream.was_far |= always;
        }
        let report = step(model, &mut state, &control, &mut work, h).expect("a step");
        assert!(report.residual < 1e-9, "{report:?}");
        iterations.push(report.iterations);
        far += usize::from(work.stream.as_ref().is_some_and(|stream| stream.was_far));
    }
    Outcome {
        state,
        iterations,
        taken: work.stream.map_or(0, |stream| stream.taken),
        far,
    }
}

/// Steps that are bent or linearised again are those of the general step, however they came about.
#[test]
fn far_steps_are_those_of_the_general_step() {
    type Case = (
        &'static str,
        Model,
        f64,
        fn(&Model, usize) -> (Kind, Kinds),
        f64,
    );
    let tree = |parent: fn(usize) -> usize| trees(31, parent);
    let cases: [Case; 4] = [
        ("chains", chains(40), 0.02, lines, 1e-9),
        ("trees", tree(|k| (k - 1) / 2), 0.02, grove, 1e-7),
        ("trunk", tree(|k| k - 1 - (k - 1) % 2), 0.01, grove, 1e-9),
        // How much of a drift is left is measured otherwise, and it may be projected once more.
        ("net", net(6, true), 0.02, web, 1e-4),
    ];
    let all = cases
        .iter()
        .flat_map(|case| STREAMED.map(|integrator| (case, integrator)));
    for ((name, model, h, shape, within), integrator) in all {
        let projects = integrator.projects();
        let plain = Manner {
            integrator,
            // Euler turns bodies farther at once.
            h: if projects { *h } else { 2.0 * h },
            spared: 0,
            always: false,
        };
        let general = run_far(model, None, plain);
        let of = |keeps: bool, always: bool, threads: usize| {
            let stream = stream(model, shape(model, threads), keeps);
            run_far(model, stream, Manner { always, ..plain })
        };
        let ours = of(true, false, 1);
        let far = match projects {
            true => ours.far,
            false => ours.iterations.iter().filter(|n| **n > 1).count(),
        };
        assert!(far > 3, "{name}, {integrator}: {far} steps were far");
        assert!(
            ours.taken > 15,
            "{name}, {integrator}: {} steps were streamed",
            ours.taken
        );
        assert_eq!(ours.iterations, general.iterations, "{name}, {integrator}");
        for (keeps, always, threads) in [(false, false, 1), (true, true, 1), (false, false, 2)] {
            let other = of(keeps, always && projects, threads);
            assert_eq!(
                ours.state, other.state,
                "{name}, {integrator}, {keeps}, {always}, {threads}"
            );
        }
        for id in model.body_ids() {
            let off = ours.state.center(id).distance(general.state.center(id));
            assert!(
                off <= *within,
                "{name}, {integrator}, body {id:?}: {off:.1e} m"
            );
        }
    }
}

/// A few blocks that are strained somewhat more than others may be do not make a step a far one, the
/// same ones in the streamed step and in the general one.
#[test]
fn spared_blocks_are_those_of_the_general_step() {
    let model = trees(31, |k| (k - 1) / 2);
    let of = |spared: usize, streamed: bool, keeps: bool| {
        let manner = Manner {
            integrator: Integrator::Tempered,
            h: 0.01,
            spared,
            always: false,
        };
        let stream = if streamed {
            stream(&model, grove(&model, 1), keeps)
        } else {
            None
        };
        run_far(&model, stream, manner)
    };
    let [strict, spared] = [0, 3].map(|spared| of(spared, true, true));
    let general = of(3, false, false);
    assert_ne!(strict.state, spared.state, "some were spared");
    assert_eq!(spared.iterations, general.iterations);
    assert_eq!(spared.state, of(3, true, false).state);
    for id in model.body_ids() {
        let off = spared.state.center(id).distance(general.state.center(id));
        assert!(off <= 1e-7, "body {id:?}: {off:.1e} m");
    }
}

/// Balls along x, a metre apart.
fn four_balls(builder: &mut ModelBuilder) -> [BodyId; 4] {
    let radius = 0.1;
    [0, 1, 2, 3].map(|k: u8| {
        let body = BodyDef::new(format!("{k}"), Shape::Sphere { radius }, 1000.0);
        builder.body(body.at(DVec3::X * f64::from(k)))
    })
}

#[test]
fn other_worlds_are_not_streamed() {
    let mut builder = ModelBuilder::new();
    let bodies = four_balls(&mut builder);
    // A body held at three points is a hub, not a link.
    for (k, other) in [(0, 1), (1, 2), (2, 0), (0, 3)] {
        let at = DVec3::X * 0.5 * (k + other) as f64;
        builder.joint(JointDef::ball(
            format!("j{k}{other}"),
            bodies[k],
            bodies[other],
            at,
        ));
    }
    let model = builder.build().expect("a ring with a tail");
    assert!(Lines::with(&model, 1).is_none());
    assert!(Grove::with(&model).is_none());
    assert!(Web::with(&model, 1).is_none());
}

/// Joints that are not numbered like the bodies do not fall into chains of their own.
#[test]
fn a_chain_out_of_order_is_not_taken_for_two() {
    let build = |order: [usize; 4]| {
        let mut builder = ModelBuilder::new();
        let bodies = four_balls(&mut builder);
        for k in order {
            let (name, at) = (format!("j{k}"), DVec3::X * (k as f64 - 0.5));
            builder.joint(match k {
                0 => JointDef::ball(name, World, bodies[0], at),
                k => JointDef::ball(name, bodies[k - 1], bodies[k], at),
            });
        }
        builder.build().expect("a chain")
    };
    assert!(Lines::with(&build([0, 1, 2, 3]), 1).is_some());
    for order in [[0, 1, 3, 2], [1, 0, 2, 3], [3, 2, 1, 0], [0, 2, 1, 3]] {
        assert!(Lines::with(&build(order), 1).is_none(), "{order:?}");
    }
}
