//! The streamed step against the general one, bit by bit.

use glam::DVec3;

use super::Stream;
use super::grove::Grove;
use super::lines::Lines;
use super::web::Web;
use crate::prelude::*;

/// Two chains, one pinned and one free, with an end mass and an odd number of links.
fn chains(count: usize) -> Model {
    let mut builder = ModelBuilder::new();
    builder.gravity(DVec3::new(0.0, 0.0, -9.81));
    for chain in 0..2 {
        let mut last = None;
        for k in 0..count {
            let tip = DVec3::new(0.2 * k as f64, chain as f64, 0.0);
            let half_extents = DVec3::new(0.1, 0.01, 0.02);
            let density = if k + 1 == count { 2e4 } else { 1000.0 };
            let name = format!("{chain}-{k}");
            let mut body = BodyDef::new(&name, Shape::Box { half_extents }, density);
            body = body.at(tip + DVec3::X * 0.1);
            let body = builder.body(body);
            match (last, chain) {
                (None, 0) => drop(builder.joint(JointDef::ball(name, World, body, tip))),
                (None, _) => {}
                // Joints may be written down in either direction.
                (Some(before), _) if k % 3 == 0 => {
                    builder.joint(JointDef::ball(name, body, before, tip));
                }
                (Some(before), _) => drop(builder.joint(JointDef::ball(name, before, body, tip))),
            }
            last = Some(body);
        }
    }
    builder.build().expect("the chains are sound")
}

/// The state after some steps, and how many of them were streamed.
fn run(model: &Model, stream: Option<Stream>, steps: usize) -> (State, usize) {
    let mut work = Workspace::new(model, Settings::default());
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
    let mut streamed = 0;
    for _ in 0..steps {
        let waiting = work.stream.as_ref().is_some_and(|s| s.rest.is_over());
        step(model, &mut state, &control, &mut work, 2e-3).expect("a sound step");
        let still = work.stream.as_ref().is_some_and(|s| s.rest.is_over());
        streamed += usize::from(waiting && still);
    }
    (state, streamed)
}

#[test]
fn streaming_changes_no_bit_whatever_the_threads_and_the_memory() {
    for count in [1, 2, 9, 40] {
        let model = chains(count);
        let (general, _) = run(&model, None, 60);
        for (threads, keep) in [(1, true), (1, false), (2, true), (2, false)] {
            let (lines, kinds) = Lines::with(&model, threads, keep).expect("these are chains");
            let stream = Stream::of(&model, super::Shape::Lines(Box::new(lines)), kinds);
            let (state, streamed) = run(&model, Some(stream), 60);
            assert!(streamed > 40, "{streamed} of 60 steps of {count} links");
            assert_eq!(state, general, "{count} links, {threads} threads");
        }
    }
}

/// Two trees, one pinned and one free, in which link k hangs from link `parent(k)`.
fn trees(count: usize, parent: impl Fn(usize) -> usize) -> Model {
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
                (0, 0) => drop(builder.joint(JointDef::ball(name, World, body, root))),
                (0, _) => {}
                // Joints may be written down in either direction.
                _ if k % 3 == 0 => {
                    let before = links[parent(k)].0;
                    builder.joint(JointDef::ball(name, body, before, root));
                }
                _ => {
                    let before = links[parent(k)].0;
                    builder.joint(JointDef::ball(name, before, body, root));
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

#[test]
fn streamed_trees_move_as_the_general_step_moves_them() {
    type Parents = fn(usize) -> usize;
    // By generations; a trunk with twigs, so that bodies of a block hang from each other; a bush.
    let shapes: [(&str, Parents); 3] = [
        ("generations", |k| (k - 1) / 2),
        ("trunk", |k| k - 1 - (k - 1) % 2),
        ("bush", |k| (k - 1) / 9),
    ];
    for (name, parent) in shapes {
        let model = trees(31, parent);
        let (general, _) = run(&model, None, 40);
        let of = |keep: bool| {
            let (grove, kinds) = Grove::with(&model, keep).expect("these are trees");
            let stream = Stream::of(&model, super::Shape::Grove(grove), kinds);
            run(&model, Some(stream), 40).0
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
    for nailed in [true, false] {
        let model = net(5, nailed);
        let (general, _) = run(&model, None, 40);
        let of = |threads: usize, keep: bool| {
            let (web, kinds) = Web::with(&model, threads, keep).expect("this is a web");
            let stream = Stream::of(&model, super::Shape::Web(Box::new(web)), kinds);
            run(&model, Some(stream), 40).0
        };
        let state = of(1, true);
        for (threads, keep) in [(1, false), (2, true), (2, false)] {
            assert_eq!(state, of(threads, keep), "{threads} threads, kept {keep}");
        }
        assert_alike(&model, &state, &general, "web");
        assert_ne!(state, general, "it was streamed");
    }
}

/// At steps so long that bodies turn by some hundredths, steps are bent here as they are there.
#[test]
fn bent_steps_of_webs_are_those_of_the_general_step() {
    let model = net(6, true);
    let run = |stream: Option<Stream>| {
        let mut work = Workspace::new(&model, Settings::default());
        work.stream = stream;
        let (mut state, control) = (model.initial_state(), Control::new(&model));
        let mut bent = 0;
        for _ in 0..25 {
            let before = state.clone();
            let report = step(&model, &mut state, &control, &mut work, 0.02).expect("a step");
            assert!(report.residual < 1e-9, "{report:?}");
            // Only a step that was bent ends with so small a last update after so large a turn.
            let turned = |id| {
                state
                    .pose(&model, id)
                    .rotation
                    .angle_between(before.pose(&model, id).rotation)
            };
            let most = model.body_ids().map(turned).fold(0.0, f64::max);
            bent += usize::from(report.iterations == 1 && report.update < 1e-3 && most > 0.03);
        }
        (state, bent)
    };
    let (general, _) = run(None);
    let (web, kinds) = Web::with(&model, 1, true).expect("this is a web");
    let (state, bent) = run(Some(Stream::of(
        &model,
        super::Shape::Web(Box::new(web)),
        kinds,
    )));
    assert!(bent > 3, "{bent} steps were bent");
    for id in model.body_ids() {
        let off = state.center(id).distance(general.center(id));
        // Each measures in its own way how much of a drift is left, and may project once more.
        assert!(off < 1e-4, "body {id:?}: {off:.1e} m");
    }
}

#[test]
fn other_worlds_are_not_streamed() {
    let mut builder = ModelBuilder::new();
    let radius = 0.1;
    let bodies: Vec<_> = (0..4)
        .map(|k| {
            let body = BodyDef::new(format!("{k}"), Shape::Sphere { radius }, 1000.0);
            builder.body(body.at(DVec3::X * k as f64))
        })
        .collect();
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
    assert!(Lines::with(&model, 1, true).is_none());
    assert!(Grove::with(&model, true).is_none());
    assert!(Web::with(&model, 1, true).is_none());
}
