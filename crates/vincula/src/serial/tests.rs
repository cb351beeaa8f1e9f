//! The step in lanes against the general one, and its variants against each other, bit by bit.

use std::ops::Range;

use glam::DVec3;

use super::{LONG, Serial};
use crate::math::dispatch::Level;
use crate::model::Endpoint;
use crate::prelude::*;

/// Mechanisms of some links that start at the world, body k of each after the other. Joints are
/// hinges about axes that turn, or of all kinds by turns.
fn mechanisms(beside: usize, links: usize, mixed: bool) -> Model {
    let kinds: Vec<usize> = (0..beside).collect();
    mechanisms_of(&kinds, links, mixed)
}

/// The same of some kinds.
fn mechanisms_of(kinds: &[usize], links: usize, mixed: bool) -> Model {
    let mut builder = ModelBuilder::new();
    builder.gravity(DVec3::new(0.0, 0.0, -9.81));
    let mut last = vec![None; kinds.len()];
    for k in 0..links {
        for (lane, (kind, last)) in kinds.iter().zip(&mut last).enumerate() {
            let tip = DVec3::new(0.2 * k as f64, 3.0 * *kind as f64, 0.0);
            let half_extents = DVec3::new(0.1, 0.02 + 0.002 * *kind as f64, 0.03);
            let name = format!("{lane}-{k}");
            let body = BodyDef::new(&name, Shape::Box { half_extents }, 1000.0);
            let body = builder.body(body.at(tip + DVec3::X * 0.1));
            let before = last.map_or(Endpoint::World, Endpoint::Body);
            let axis = DVec3::new(0.0, (0.7 * k as f64).cos(), (0.7 * k as f64).sin());
            builder.joint(match (mixed, k % 3) {
                (true, 1) => JointDef::ball(name, before, body, tip),
                (true, 2) => JointDef::universal(name, before, body, tip, [DVec3::Y, DVec3::Z]),
                _ => JointDef::hinge(name, before, body, tip, axis),
            });
            *last = Some(body);
        }
    }
    builder.build().expect("the mechanisms are sound")
}

/// The state after some steps, the reports, and how many steps were made in lanes.
fn run(
    model: &Model,
    in_lanes: bool,
    (integrator, level): (Integrator, Level),
    (h, spin): (f64, f64),
) -> (State, Vec<StepReport>, usize) {
    let settings = Settings {
        level,
        ..Settings::with_integrator(integrator)
    };
    let mut work = Workspace::whole(model, settings);
    if !in_lanes {
        work.serial = None;
    }
    let mut control = Control::new(model);
    let mut state = model.initial_state();
    let first: Vec<_> = model.body_ids().collect();
    control.add_torque(first[0], DVec3::new(0.0, spin, 0.0));
    let mut reports = Vec::new();
    for _ in 0..60 {
        reports.push(step(model, &mut state, &control, &mut work, h).expect("a sound step"));
    }
    let made = work.serial.map_or(0, |serial| serial.taken);
    (state, reports, made)
}

/// What is the same of two states to rounding, for a motion that is not chaotic.
fn assert_alike(model: &Model, state: &State, general: &State) {
    for id in model.body_ids() {
        let off = state.center(id).distance(general.center(id));
        assert!(off < 1e-9, "body {id:?}: {off:.1e} m");
    }
    let size = |most: f64, force: &f64| most.max(force.abs());
    let most = general.multipliers.iter().fold(0.0, size);
    for (ours, theirs) in state.multipliers.iter().zip(&general.multipliers) {
        assert!((ours - theirs).abs() < 1e-6 * most, "{ours} N, {theirs} N");
    }
}

/// Both ways of stepping give the same motion, and all vector instructions the same bits; so many
/// steps are made in lanes.
fn compare(model: &Model, how: (f64, f64), expected: Range<usize>) {
    compare_with(Integrator::Tempered, model, how, expected.clone());
    compare_with(Integrator::LinearEuler, model, how, expected);
}

fn compare_with(integrator: Integrator, model: &Model, how: (f64, f64), expected: Range<usize>) {
    let (general, reports, _) = run(model, false, (integrator, Level::Baseline), how);
    let (baseline, ..) = run(model, true, (integrator, Level::Baseline), how);
    for level in Level::ALL.into_iter().filter(|level| level.available()) {
        let (state, own, made) = run(model, true, (integrator, level), how);
        assert!(expected.contains(&made), "{made} of 60 steps in lanes");
        assert!(state == baseline, "states differ at {}", level.name());
        let linearised = |reports: &[StepReport]| -> Vec<_> {
            reports.iter().map(|report| report.iterations).collect()
        };
        assert_eq!(linearised(&own), linearised(&reports));
    }
    assert_alike(model, &baseline, &general);
}

#[test]
fn one_mechanism_moves_as_the_general_step_moves_it() {
    for links in [1, 2, 7, 8, 9, 40] {
        for mixed in [false, true] {
            compare(&mechanisms(1, links, mixed), (1e-3, 0.0), 58..61);
        }
    }
}

/// Joints are eliminated some at a time, from both ends; the ends of these stretches, of blocks and of
/// halves fall together in many ways.
#[test]
fn so_does_a_long_one() {
    for links in [123, 128, 129, 130, 137, 144, 260, 321, 400] {
        compare(&mechanisms(1, links, links % 2 == 0), (1e-3, 0.0), 58..61);
    }
}

/// Chains of hinges that swing in planes.
fn chains(beside: usize, links: usize) -> Model {
    let mut builder = ModelBuilder::new();
    builder.gravity(DVec3::new(0.0, 0.0, -9.81));
    let mut last = vec![Endpoint::World; beside];
    for k in 0..links {
        for (lane, last) in last.iter_mut().enumerate() {
            let half_extents = DVec3::new(0.1, 0.02, 0.02 + 0.01 * (k % 3) as f64);
            let tip = DVec3::new(0.2 * k as f64, lane as f64, 0.0);
            let name = format!("{lane}-{k}");
            let body = BodyDef::new(&name, Shape::Box { half_extents }, 1000.0);
            let body = builder.body(body.at(tip + DVec3::X * 0.1));
            builder.joint(JointDef::hinge(name, *last, body, tip, DVec3::Y));
            *last = Endpoint::Body(body);
        }
    }
    builder.build().expect("chains")
}

/// A chain of hinges that swings in a plane, after some steps, in which bodies were found again or
/// kept; how many of the steps found them again, and solves for a velocity at most. Steps write the
/// end with the first velocity that they solve for, or only try that out, by turns.
fn swing(links: usize, finds_again: bool, integrator: Integrator, h: f64) -> (State, [usize; 2]) {
    let model = chains(1, links);
    let mut work = Workspace::whole(&model, Settings::with_integrator(integrator));
    let (control, mut state) = (Control::new(&model), model.initial_state());
    let (mut again, mut solves) = (0, 0);
    for k in 0..100 {
        let serial = work.serial.as_mut().expect("a serial mechanism");
        if finds_again {
            serial.find_again();
        }
        serial.calm = finds_again;
        serial.solves = 1 + usize::from(finds_again) * (k % 2);
        step(&model, &mut state, &control, &mut work, h).expect("a sound step");
        let serial = work.serial.as_ref().expect("still one");
        again += usize::from(serial.joints.finds_again);
        solves = solves.max(serial.solves);
    }
    (state, [again, solves])
}

#[test]
fn bodies_that_are_found_again_are_the_ones_that_were_kept() {
    for integrator in [Integrator::Tempered, Integrator::LinearEuler] {
        for links in [512, 515, 520, 577, 640, 1003] {
            let (kept, [none, _]) = swing(links, false, integrator, 1e-3);
            let (again, [most, _]) = swing(links, true, integrator, 1e-3);
            assert!(kept == again, "{links} links");
            assert_eq!([none, most], [0, 100], "{links} links");
        }
        // Large steps ask for more than one solve, and are made with what was kept.
        let (kept, _) = swing(600, false, integrator, 0.02);
        let (again, [some, _]) = swing(600, true, integrator, 0.02);
        assert!(kept == again);
        let linear = integrator == Integrator::LinearEuler;
        assert!(linear || some < 100, "{some} steps");
    }
}

/// Solved for from nothing, the velocity would need two solves: with the factors of the start, one
/// leaves a tenth of the drift and more.
#[test]
fn the_forces_of_the_pose_leave_one_solve_to_the_velocity() {
    for h in [5e-3, 1e-2] {
        let (_, [_, solves]) = swing(600, false, Integrator::Tempered, h);
        assert_eq!(solves, 1, "{h} s");
    }
}

#[test]
fn so_do_eight_side_by_side() {
    for links in [2, 3, 7, 10] {
        for mixed in [false, true] {
            compare(&mechanisms(8, links, mixed), (1e-3, 0.0), 58..61);
        }
    }
}

/// Whatever they find again, if there are many of them.
#[test]
fn eight_long_ones_move_as_if_all_were_kept() {
    let model = chains(8, LONG + 3);
    let end = |keeps: bool| {
        let mut work = Workspace::whole(&model, Settings::default());
        let (control, mut state) = (Control::new(&model), model.initial_state());
        for _ in 0..20 {
            work.serial.as_mut().expect("serial mechanisms").calm &= !keeps;
            step(&model, &mut state, &control, &mut work, 1e-3).expect("a sound step");
        }
        state
    };
    assert!(end(false) == end(true));
}

#[test]
fn and_those_that_are_bent_or_left_to_the_general_step() {
    for beside in [1, 8] {
        compare(&mechanisms(beside, 7, false), (5e-3, 2.0), 20..61);
        compare(&mechanisms(beside, 7, true), (2e-2, 5.0), 0..30);
    }
}

/// Lanes share how often a rotation is refined, so that rounding depends on who is in a block.
#[test]
fn eight_side_by_side_move_as_one_alone() {
    for (kind, mixed) in [(0, false), (3, true)] {
        let of = |count: usize| {
            let model = mechanisms_of(&vec![kind; count], 9, mixed);
            let (state, _, made) = run(
                &model,
                true,
                (Integrator::Tempered, Level::Baseline),
                (1e-3, 0.0),
            );
            assert_eq!(made, 60);
            state
        };
        let (alone, all) = (of(1), of(8));
        for body in 0..72 {
            let [one, first, same] = [body / 8, body / 8 * 8, body].map(BodyId::new);
            assert_eq!(all.center(first), all.center(same), "body {body}");
            let off = alone.center(one).distance(all.center(same));
            assert!(off < 1e-12, "body {body} is off by {off:.1e} m");
        }
    }
}

#[test]
fn other_worlds_are_left_alone() {
    let settings = Settings::default();
    let serial = |model: &Model| Serial::new(model, &settings).is_some();
    assert!(serial(&mechanisms(1, 5, true)));
    assert!(serial(&mechanisms(8, 5, true)));
    assert!(!serial(&mechanisms(7, 5, true)));
    // A spring along a hinge is one more row.
    let mut builder = ModelBuilder::new();
    let half_extents = DVec3::splat(0.1);
    let body = builder.body(BodyDef::new("body", Shape::Box { half_extents }, 1000.0));
    let hinge = JointDef::hinge("hinge", World, body, DVec3::ZERO, DVec3::Y);
    builder.joint(hinge.friction(0, 0.1));
    assert!(!serial(&builder.build().expect("a pendulum")));
}
