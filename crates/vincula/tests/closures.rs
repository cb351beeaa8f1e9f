//! A joint that closes a loop is a joint like any other: laws work there, and it does not
//! matter which joint of the loop it is.

mod common;

use common::run;
use vincula::diagnostics::worst_gap;
use vincula::joint::JointKind;
use vincula::joint::axis::{Drive, Spring};
use vincula::prelude::*;

/// Names, in the order in which the loop goes round.
const NAMES: [&str; 4] = ["pivot", "elbow", "knee", "foot"];

/// A crank of 0.4 m, a coupler of 1 m and a rocker of 0.8 m on pivots 1 m apart, the crank
/// driven at 2 rad/s with at most 40 N m. Joints are declared in the given order, so that
/// the last one closes the loop; laws stay with the joint of their name.
fn four_bar(order: [usize; 4], law: impl Fn(usize, JointDef) -> JointDef) -> Model {
    let mut builder = ModelBuilder::new();
    let angle = 1.0_f64;
    let elbow = DVec3::new(angle.cos(), 0.0, angle.sin()) * 0.4;
    let end = DVec3::X;
    let span = end - elbow;
    let foot = (span.length_squared() + 1.0 - 0.64) / (2.0 * span.length());
    let along = span.normalize();
    let across = DVec3::new(-along.z, 0.0, along.x);
    let knee = elbow + along * foot + across * (1.0 - foot * foot).sqrt();
    let mut bar = |name: &str, from: DVec3, to: DVec3| {
        let half_extents = DVec3::new(0.5 * from.distance(to), 0.02, 0.03);
        let turn = f64::atan2(-(to - from).z, (to - from).x);
        let def = BodyDef::new(name, Shape::Box { half_extents }, 1000.0);
        let def = def
            .at(0.5 * (from + to))
            .turned(DQuat::from_rotation_y(turn));
        builder.body(def)
    };
    let crank = bar("crank", DVec3::ZERO, elbow);
    let coupler = bar("coupler", elbow, knee);
    let rocker = bar("rocker", end, knee);
    let drive = Drive::Velocity {
        target: -2.0,
        damping: 200.0,
    };
    let make = |k: usize| {
        let (name, kind) = (NAMES[k], JointKind::Hinge);
        let axis = DVec3::Y;
        let def = match k {
            0 => JointDef::new(name, kind, World, crank, DVec3::ZERO, axis).drive(0, drive, 40.0),
            1 => JointDef::new(name, kind, crank, coupler, elbow, axis),
            2 => JointDef::new(name, kind, coupler, rocker, knee, axis),
            _ => JointDef::new(name, kind, World, rocker, end, axis),
        };
        law(k, def)
    };
    for k in order {
        builder.joint(make(k));
    }
    builder.build().unwrap()
}

/// Every order in which another joint closes the loop.
const ORDERS: [[usize; 4]; 4] = [[0, 1, 2, 3], [1, 2, 3, 0], [3, 0, 1, 2], [2, 0, 3, 1]];

/// Centres of the bars every tenth step of two seconds, and the extremes of a coordinate.
fn trajectory(model: &Model, watched: &str, h: f64) -> (Vec<DVec3>, [f64; 2]) {
    let joint = model.find_joint(watched).unwrap();
    let mut state = model.initial_state();
    let mut work = Workspace::new(model, Settings::default());
    let (mut places, mut range) = (Vec::new(), [f64::MAX, f64::MIN]);
    for _ in 0..(0.2 / h).round() as usize {
        for _ in 0..10 {
            run(model, &mut state, &mut work, h, 1);
            let x = state.coordinate(model, joint, 0).unwrap();
            range = [range[0].min(x), range[1].max(x)];
        }
        places.extend(model.body_ids().map(|b| state.center(b)));
    }
    assert!(worst_gap(model, &state).0 < 1e-9);
    (places, range)
}

fn difference(one: &[DVec3], other: &[DVec3]) -> f64 {
    let apart = one.iter().zip(other).map(|(a, b)| a.distance(*b));
    apart.fold(0.0, f64::max)
}

#[test]
fn a_limit_on_the_closing_joint_is_respected() {
    let h = 1e-3;
    let free = four_bar(ORDERS[3], |_, def| def);
    for (k, name) in NAMES.into_iter().enumerate().skip(1) {
        let (_, [least, most]) = trajectory(&free, name, h);
        // Stops short of where the joint would go.
        let limits = [0.6 * least - 0.01, 0.6 * most + 0.01];
        let limited = |joint: usize, def: JointDef| {
            if joint == k {
                def.limits(0, limits[0], limits[1])
            } else {
                def
            }
        };
        let mut order = [0, 1, 2, 3];
        order.swap(k, 3);
        let model = four_bar(order, limited);
        assert_eq!(model.joints().last().unwrap().name, name);
        let (_, range) = trajectory(&model, name, h);
        println!("{name}: free {least:.3} to {most:.3}, limits {limits:.3?}, went {range:.6?}");
        assert!(range[0] >= limits[0] - 1e-9 && range[1] <= limits[1] + 1e-9);
        assert!(
            range[0] <= limits[0] + 1e-6 || range[1] >= limits[1] - 1e-6,
            "never reached"
        );
    }
}

#[test]
fn which_joint_closes_the_loop_does_not_matter() {
    let laws = |k: usize, def: JointDef| match k {
        2 => def.limits(0, -0.4, 0.35),
        1 => def.spring(
            0,
            Spring {
                stiffness: 3.0,
                damping: 0.1,
                rest: 0.0,
            },
        ),
        3 => def.friction(0, 0.5),
        _ => def,
    };
    let first = trajectory(&four_bar(ORDERS[0], laws), "knee", 1e-3);
    println!("knee from {:.4} to {:.4}", first.1[0], first.1[1]);
    for order in &ORDERS[1..] {
        let other = trajectory(&four_bar(*order, laws), "knee", 1e-3);
        let d = difference(&first.0, &other.0);
        println!("{order:?}: {d:.1e} m");
        assert!(d <= 1e-6, "{order:?}: {d:.2e} m");
    }
}
