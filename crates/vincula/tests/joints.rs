//! What every kind of joint promises: it holds, keeps momentum and energy, and lets go of
//! what it should.

mod common;

use common::{KINDS, Random, joint_of, run, six_momenta, total_energy};
use vincula::diagnostics::{joint_gap, reaction_force, worst_gap};
use vincula::joint::JointKind;
use vincula::prelude::*;

/// Where the joint between the two bodies is, and its axis: mostly level, so that what
/// slides along it slides under gravity without falling freely.
const POINT: DVec3 = DVec3::new(0.25, 0.15, -0.25);
const AXIS: DVec3 = DVec3::new(0.8, 0.5, 0.33);

/// Two boxes with a joint between them; the first may hang from the origin by a ball joint.
fn pair(kind: JointKind, hung: bool) -> Model {
    let mut builder = ModelBuilder::new();
    if !hung {
        builder.gravity(DVec3::ZERO);
    }
    let shape = |x, y, z| Shape::Box {
        half_extents: DVec3::new(x, y, z),
    };
    let turn = DQuat::from_axis_angle(DVec3::new(0.6, 0.0, 0.8), 0.7);
    let first = BodyDef::new("first", shape(0.05, 0.1, 0.2), 800.0);
    let first = builder.body(first.at(DVec3::new(0.2, 0.0, -0.1)));
    let second = BodyDef::new("second", shape(0.1, 0.15, 0.06), 600.0).turned(turn);
    let second = builder.body(second.at(DVec3::new(0.3, 0.3, -0.4)));
    builder.joint(joint_of("between", kind, first, second, POINT, AXIS));
    if hung {
        builder.joint(JointDef::ball("hook", World, first, DVec3::ZERO));
    }
    builder.build().unwrap()
}

#[test]
fn joints_hold_under_gravity() {
    for kind in KINDS {
        for integrator in [Integrator::Tempered, Integrator::Rattle] {
            let model = pair(kind, true);
            let mut state = model.initial_state();
            let mut work = Workspace::new(&model, Settings::with_integrator(integrator));
            let mut worst = 0.0f64;
            for _ in 0..400 {
                run(&model, &mut state, &mut work, 5e-3, 1);
                worst = worst.max(worst_gap(&model, &state).0);
            }
            println!("{} {integrator}: gap {worst:.1e} m", kind.name());
            assert!(
                worst <= 1e-9,
                "{} {integrator}: gap {worst:.2e} m",
                kind.name()
            );
        }
    }
}

/// Relative error of the momenta after a second of flight. The pair starts as one rigid
/// body in rotation or, `struck`, with velocities that the joint does not allow.
fn momentum_error(kind: JointKind, settings: Settings, struck: bool, h: f64) -> [f64; 2] {
    let mut random = Random::new(3);
    let model = pair(kind, false);
    let mut state = model.initial_state();
    let (drift, spin) = (random.vector(1.0), random.vector(3.0));
    for body in model.body_ids() {
        let rigid = drift + spin.cross(state.center(body));
        let twist = if struck {
            Twist {
                linear: random.vector(1.0),
                angular: random.vector(3.0),
            }
        } else {
            Twist {
                linear: rigid,
                angular: spin,
            }
        };
        state.set_twist(&model, body, twist);
    }
    let start = six_momenta(&model, &state);
    let mut work = Workspace::new(&model, settings);
    run(&model, &mut state, &mut work, h, (1.0 / h).round() as usize);
    let end = six_momenta(&model, &state);
    let scale = start[0].length() + start[1].length();
    [0, 1].map(|k| (end[k] - start[k]).length() / scale)
}

#[test]
fn floating_pairs_keep_their_linear_momentum() {
    for kind in KINDS {
        for integrator in Integrator::ALL {
            for struck in [false, true] {
                let settings = Settings::with_integrator(integrator);
                let error = momentum_error(kind, settings, struck, 5e-3)[0];
                let what = format!("{} {integrator} {struck}: {error:.1e}", kind.name());
                println!("{what}");
                assert!(error <= 1e-10, "{what}");
            }
        }
    }
}

/// Iterated to convergence the forces of a ball joint act at one point, so that angular
/// momentum is kept to the tolerance of the iteration.
#[test]
fn floating_ball_joints_keep_their_angular_momentum() {
    let settings = Settings::with_integrator(Integrator::Rattle);
    let error = momentum_error(JointKind::Ball, settings, false, 5e-3)[1];
    assert!(error <= 1e-9, "{error:.2e}");
}

/// One linearisation, and rows that turn with both bodies, leave an error of the angular
/// momentum that falls with the square of the step.
#[test]
fn floating_pairs_lose_little_angular_momentum() {
    for kind in KINDS {
        for integrator in [Integrator::Tempered, Integrator::Rattle] {
            let of = |h| momentum_error(kind, Settings::with_integrator(integrator), false, h)[1];
            let (coarse, fine) = (of(4e-3), of(1e-3));
            let what = format!("{} {integrator}: {coarse:.1e} {fine:.1e}", kind.name());
            println!("{what}");
            assert!(
                coarse < 1e-5 && (fine < 0.1 * coarse || fine < 1e-9),
                "{what}"
            );
        }
    }
}

/// What a run of one second does to the energy: largest gain and largest change over the
/// largest kinetic energy, and the fastest rotation, rad/s.
struct Balance {
    gain: f64,
    change: f64,
    fastest: f64,
}

fn balance(kind: JointKind, integrator: Integrator, h: f64) -> Balance {
    let model = pair(kind, true);
    let mut state = model.initial_state();
    let mut work = Workspace::new(&model, Settings::with_integrator(integrator));
    let start = total_energy(&model, &state);
    let mut b = Balance {
        gain: 0.0,
        change: 0.0,
        fastest: 0.0,
    };
    let mut kinetic = 0.0f64;
    for _ in 0..(1.0 / h).round() as usize {
        run(&model, &mut state, &mut work, h, 1);
        let gained = total_energy(&model, &state) - start;
        b.gain = b.gain.max(gained);
        b.change = b.change.max(gained.abs());
        kinetic = kinetic.max(vincula::diagnostics::energy(&model, &state).kinetic);
        for body in model.body_ids() {
            b.fastest = b.fastest.max(state.twist(&model, body).angular.length());
        }
    }
    b.gain /= kinetic;
    b.change /= kinetic;
    b
}

/// A symmetric second-order method keeps a neighbouring energy H + h² H₂, with H₂ of the
/// size of ω² times the kinetic energy: H itself swings by (hω)² of it and no more.
#[test]
fn no_energy_is_gained_beyond_the_swing_of_a_second_order_method() {
    for kind in KINDS {
        for integrator in [Integrator::Tempered, Integrator::Rattle] {
            let h = 5e-3;
            let b = balance(kind, integrator, h);
            let bound = (h * b.fastest).powi(2).max(1e-9);
            println!(
                "{} {integrator}: gain {:.1e}, bound {bound:.1e}",
                kind.name(),
                b.gain
            );
            assert!(
                b.gain <= bound,
                "{} {integrator}: {:.2e} {bound:.2e}",
                kind.name(),
                b.gain
            );
        }
    }
}

/// The energy error falls with the square of the step for every kind of joint.
#[test]
fn the_energy_error_of_rattle_falls_with_the_square_of_the_step() {
    for kind in KINDS {
        let coarse = balance(kind, Integrator::Rattle, 4e-3).change;
        let fine = balance(kind, Integrator::Rattle, 1e-3).change;
        assert!(
            fine <= coarse / 10.0,
            "{}: {coarse:.2e} {fine:.2e}",
            kind.name()
        );
    }
}

/// What the second body does relative to the first in a second: the angle it turns by, rad,
/// and the way its end of the joint goes, m.
fn relative_motion(kind: JointKind) -> (f64, f64) {
    let model = pair(kind, true);
    let ids: Vec<BodyId> = model.body_ids().collect();
    let mut state = model.initial_state();
    let start = ids
        .iter()
        .map(|id| state.pose(&model, *id))
        .collect::<Vec<_>>();
    let mark = start[1].inverse().point(POINT);
    run(
        &model,
        &mut state,
        &mut Workspace::new(&model, Settings::default()),
        5e-3,
        200,
    );
    let end = ids
        .iter()
        .map(|id| state.pose(&model, *id))
        .collect::<Vec<_>>();
    let turn = |p: &[Pose]| p[0].rotation.inverse() * p[1].rotation;
    let place = |p: &[Pose]| p[0].inverse().point(p[1].point(mark));
    (
        turn(&start).angle_between(turn(&end)),
        place(&start).distance(place(&end)),
    )
}

#[test]
fn what_a_joint_leaves_free_moves_and_what_it_holds_does_not() {
    // Bodies are elastic: what is held moves by strain, at E = 1 GPa less than this.
    let still = 1e-4;
    for kind in KINDS {
        let (turned, slid) = relative_motion(kind);
        println!(
            "{}: turned {turned:.2e} rad, slid {slid:.2e} m",
            kind.name()
        );
        let turns = !matches!(kind, JointKind::Fixed | JointKind::Prismatic);
        let slides = !matches!(
            kind,
            JointKind::Fixed | JointKind::Ball | JointKind::Hinge | JointKind::Universal
        );
        assert_eq!(turned > 0.1, turns, "{}: turned {turned}", kind.name());
        assert!(turns || turned < still, "{}: turned {turned}", kind.name());
        assert_eq!(slid > 0.02, slides, "{}: slid {slid}", kind.name());
        assert!(slides || slid < still, "{}: slid {slid}", kind.name());
    }
}

/// A box that hangs still below its joint.
fn hanging(kind: JointKind, world_first: bool) -> (Model, JointId) {
    let mut builder = ModelBuilder::new();
    let half_extents = DVec3::new(0.1, 0.1, 0.2);
    let body = BodyDef::new("bob", Shape::Box { half_extents }, 900.0).at(DVec3::NEG_Z * 0.2);
    let body = builder.body(body);
    let joint = if world_first {
        joint_of("hook", kind, World, body, DVec3::ZERO, DVec3::X)
    } else {
        joint_of("hook", kind, body, World, DVec3::ZERO, DVec3::X)
    };
    let joint = builder.joint(joint);
    (builder.build().unwrap(), joint)
}

#[test]
fn the_reaction_of_a_hanging_body_is_its_weight() {
    for kind in [
        JointKind::Ball,
        JointKind::Hinge,
        JointKind::Universal,
        JointKind::Fixed,
    ] {
        for world_first in [true, false] {
            for integrator in Integrator::ALL {
                let (model, joint) = hanging(kind, world_first);
                let mut state = model.initial_state();
                let mut work = Workspace::new(&model, Settings::with_integrator(integrator));
                run(&model, &mut state, &mut work, 5e-3, 200);
                let weight = model.bodies()[0].mass.mass * 9.81;
                let expected = DVec3::Z * if world_first { weight } else { -weight };
                let force = reaction_force(&model, &state, joint).unwrap();
                let error = force.distance(expected) / weight;
                let what = format!("{} {integrator} {world_first}: {error:.2e}", kind.name());
                assert!(error < 1e-8, "{what}");
                assert!(joint_gap(&model, &state, joint) < 1e-9, "{what}");
            }
        }
    }
}

/// A hinge between the bodies turns about its own axis only.
#[test]
fn a_hinge_turns_about_its_axis() {
    let model = pair(JointKind::Hinge, true);
    let ids: Vec<BodyId> = model.body_ids().collect();
    let mut state = model.initial_state();
    let in_body = |state: &State, id: BodyId, v: DVec3| state.pose(&model, id).rotation * v;
    let local: Vec<DVec3> = ids
        .iter()
        .map(|id| state.pose(&model, *id).rotation.inverse() * AXIS.normalize())
        .collect();
    run(
        &model,
        &mut state,
        &mut Workspace::new(&model, Settings::default()),
        5e-3,
        200,
    );
    let apart = in_body(&state, ids[0], local[0]).angle_between(in_body(&state, ids[1], local[1]));
    assert!(apart < 1e-5, "the axes are {apart:.2e} rad apart");
}
