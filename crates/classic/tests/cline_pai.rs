//! What Cline and Pai's method promises: drift as published and its remedies, contacts with
//! friction against closed forms, the same answer as the whole mixed problem.

mod common;

use common::{Plane, chain};
use glam::{DMat3, DQuat, DVec3};
use vincula::prelude::*;
use vincula_classic::articulation::Articulation;
use vincula_classic::cline_pai::{ClinePai, ClinePaiSettings, Stabilization};
use vincula_classic::contact::{Contact, Detect, NoContacts};
use vincula_classic::lcp::{Lemke, MixedLcp, Outcome};
use vincula_classic::push::Pushes;
use vincula_classic::system::rows::{Linear, Six, dot6, pack};
use vincula_classic::system::{Method, System};

fn method(model: &Model, stabilization: Stabilization, detector: Box<dyn Detect>) -> ClinePai {
    let settings = ClinePaiSettings {
        stabilization,
        ..ClinePaiSettings::default()
    };
    ClinePai::new(model, &model.initial_state(), settings, detector).expect("a method")
}

fn ground(friction: f64, tilt: f64) -> Box<Plane> {
    Box::new(Plane {
        normal: DVec3::new(-tilt.sin(), 0.0, tilt.cos()),
        friction,
        reach: 0.01,
    })
}

/// The paper does not give gravity. At 9.81 m/s² a chain of 0.6 m swings once in its 0.6 s,
/// while its Fig. 3 shows several steps; at this one all of its numbers come out.
const GRAVITY: f64 = 65.0;

/// 600 steps of 1 ms of the six-link chain.
struct Swing {
    /// Largest violation of a joint, m.
    worst: f64,
    /// Mean bend of the velocity of the last link from step to step, m/s: what makes a chain
    /// jiggle.
    jitter: f64,
}

fn swing(stabilization: Stabilization) -> Swing {
    let model = chain(6, GRAVITY);
    let control = Control::new(&model);
    let mut method = method(&model, stabilization, Box::new(NoContacts));
    let (mut worst, mut velocities) = (0.0_f64, Vec::new());
    for _ in 0..600 {
        let report = method.step(&model, &control, 1e-3).expect("a step");
        worst = worst.max(report.residual);
        velocities.push(method.system().bodies[5].v);
    }
    let bends = velocities
        .windows(3)
        .map(|v| (v[2] - 2.0 * v[1] + v[0]).length());
    let jitter = bends.sum::<f64>() / 600.0;
    Swing { worst, jitter }
}

#[test]
fn joints_of_the_six_link_chain_drift_as_published() {
    let plain = swing(Stabilization::None);
    let baumgarte = [50.0, 200.0, 2000.0].map(|a| swing(Stabilization::Baumgarte(a)));
    let post = swing(Stabilization::Post);
    for (name, swing) in [
        ("none", &plain),
        ("Baumgarte 50", &baumgarte[0]),
        ("Baumgarte 200", &baumgarte[1]),
        ("Baumgarte 2000", &baumgarte[2]),
        ("post", &post),
    ] {
        let (worst, jitter) = (swing.worst * 1e3, swing.jitter);
        println!("{name}: {worst:.4} mm, jitter {jitter:.3e} m/s");
    }
    assert!((0.015..0.025).contains(&plain.worst), "around 20 mm");
    assert!((3e-3..6e-3).contains(&baumgarte[0].worst), "around 5 mm");
    assert!((1e-3..3e-3).contains(&baumgarte[1].worst), "below 3 mm");
    assert!(
        baumgarte[2].jitter > 2.0 * baumgarte[1].jitter,
        "it jiggles"
    );
    assert!(post.jitter < 1.5 * baumgarte[0].jitter, "it does not");
    assert!(post.worst <= 1e-5, "0.01 mm");
}

fn block(tilt: f64, speed: DVec3) -> Model {
    let mut builder = ModelBuilder::new();
    let half_extents = DVec3::new(0.2, 0.1, 0.05);
    let turn = DQuat::from_rotation_y(-tilt);
    builder.body(
        BodyDef::new("block", Shape::Box { half_extents }, 500.0)
            .turned(turn)
            .at(turn * (DVec3::Z * 0.05))
            .moving(speed, DVec3::ZERO),
    );
    builder.build().expect("a block")
}

#[test]
fn a_sliding_block_loses_speed_at_mu_g() {
    let direction = DVec3::new(0.6, 0.8, 0.0);
    let model = block(0.0, direction * 2.0);
    let control = Control::new(&model);
    let mut method = method(&model, Stabilization::Post, ground(0.3, 0.0));
    let h = 1e-3;
    for _ in 0..400 {
        method.step(&model, &control, h).expect("a step");
    }
    let body = &method.system().bodies[0];
    let exact = direction * (2.0 - 0.3 * 9.81 * 0.4);
    assert!((body.v - exact).length() < 1e-9, "{}", body.v);
    assert!((body.x.z - 0.05).abs() < 1e-9);
    for _ in 0..600 {
        method.step(&model, &control, h).expect("a step");
    }
    assert!(
        method.system().bodies[0].v.length() < 1e-10,
        "it has come to rest"
    );
}

#[test]
fn a_block_sticks_below_the_friction_angle_and_slides_above() {
    let friction = 0.5_f64;
    let limit = friction.atan();
    for (tilt, sticks) in [(limit - 1e-3, true), (limit + 1e-3, false)] {
        let model = block(tilt, DVec3::ZERO);
        let control = Control::new(&model);
        let mut method = method(&model, Stabilization::Post, ground(friction, tilt));
        for _ in 0..200 {
            method.step(&model, &control, 1e-3).expect("a step");
        }
        let speed = method.system().bodies[0].v.length();
        let slides = 9.81 * (tilt.sin() - friction * tilt.cos()) * 0.2;
        let exact = if sticks { 0.0 } else { slides };
        assert!((speed - exact).abs() < 1e-8, "{tilt}: {speed} {exact}");
    }
}

#[test]
fn overlap_stays_without_stabilization_and_vanishes_with_it() {
    let overlap = |stabilization| {
        let mut model = ModelBuilder::new();
        let half_extents = DVec3::splat(0.1);
        model.body(
            BodyDef::new("cube", Shape::Box { half_extents }, 500.0)
                .turned(DQuat::from_rotation_y(0.3))
                .at(DVec3::Z * 0.4)
                .moving(DVec3::X, DVec3::Y * 3.0),
        );
        let model = model.build().expect("a cube");
        let control = Control::new(&model);
        let mut method = method(&model, stabilization, ground(0.4, 0.0));
        let (mut detector, mut found) = (ground(0.4, 0.0), Vec::new());
        let mut worst = 0.0_f64;
        for _ in 0..1000 {
            method.step(&model, &control, 2e-3).expect("a step");
            detector.detect(&model, method.system(), &control, 0.0, &mut found);
            worst = found.iter().fold(worst, |w, c| w.max(-c.gap));
        }
        worst
    };
    let [none, post] = [Stabilization::None, Stabilization::Post].map(overlap);
    println!("overlap {none:.3e} m, with post-stabilization {post:.3e} m");
    assert!(none > 1e-3, "{none}");
    assert!(post < 1e-5, "{post}");
}

/// A jointed box over the ground: a chain of two links whose end hits it.
fn leaning() -> Model {
    let mut builder = ModelBuilder::new();
    let half_extents = DVec3::new(0.25, 0.03, 0.03);
    let shape = Shape::Box { half_extents };
    let turn = DQuat::from_rotation_y(0.4);
    let hook = DVec3::new(0.0, 0.0, 0.38);
    let elbow = hook + turn * (DVec3::X * 0.5);
    let a = builder.body(
        BodyDef::new("upper", shape.clone(), 700.0)
            .turned(turn)
            .at(hook + turn * (DVec3::X * 0.25)),
    );
    let b = builder.body(
        BodyDef::new("lower", shape, 700.0)
            .turned(turn)
            .at(elbow + turn * (DVec3::X * 0.25))
            .moving(DVec3::new(0.3, 0.2, -1.0), DVec3::new(0.1, 2.0, 0.3)),
    );
    builder.joint(JointDef::hinge("hook", World, a, hook, DVec3::Y));
    builder.joint(JointDef::ball("elbow", a, b, elbow));
    builder.build().expect("two links")
}

/// The whole mixed problem of Eq. 8 in velocities, joint impulses, and impulses of contacts.
fn whole_problem(
    system: &System,
    contacts: &[(Contact, [DVec3; 2])],
    free: &[Six],
) -> (MixedLcp, usize) {
    let dofs = 6 * system.bodies.len();
    let mut rows: Vec<Vec<f64>> = Vec::new();
    let mut spread = |ends: [Option<usize>; 2], parts: [Six; 2]| {
        let mut row = vec![0.0; dofs];
        for (end, part) in ends.into_iter().zip(parts) {
            if let Some(b) = end {
                (0..6).for_each(|k| row[6 * b + k] += part[k]);
            }
        }
        rows.push(row);
    };
    let mut linear = Linear::EMPTY;
    for joint in 0..system.joints.len() {
        system.linearize(joint, &mut linear);
        for r in 0..linear.rows {
            spread(system.ends[joint], linear.sides.map(|side| side[r]));
        }
    }
    let joints = system.rows();
    for (contact, _) in contacts {
        let row = contact.row(system, contact.normal);
        spread(row.ends, row.gradients);
    }
    for (contact, tangents) in contacts {
        for tangent in tangents.iter().flat_map(|&t| [t, -t]) {
            let row = contact.row(system, tangent);
            spread(row.ends, row.gradients);
        }
    }
    let impulses = rows.len();
    let size = dofs + impulses + contacts.len();
    let mut matrix = vec![0.0; size * size];
    let mut vector = vec![0.0; size];
    for (b, body) in system.bodies.iter().enumerate() {
        let r = DMat3::from_quat(body.q);
        let inertia = r * DMat3::from_diagonal(body.inertia) * r.transpose();
        for i in 0..3 {
            matrix[(6 * b + i) * size + 6 * b + i] = body.mass;
            for j in 0..3 {
                matrix[(6 * b + 3 + i) * size + 6 * b + 3 + j] = inertia.col(j)[i];
            }
        }
        for i in 0..6 {
            let row = &matrix[(6 * b + i) * size + 6 * b..][..6];
            vector[6 * b + i] = -dot6(&std::array::from_fn(|k| row[k]), &free[b]);
        }
    }
    for (r, row) in rows.iter().enumerate() {
        for (k, &x) in row.iter().enumerate() {
            matrix[k * size + dofs + r] = -x;
            matrix[(dofs + r) * size + k] = x;
        }
    }
    for (c, (contact, _)) in contacts.iter().enumerate() {
        let (slip, normal) = (dofs + impulses + c, dofs + joints + c);
        matrix[slip * size + normal] = contact.friction;
        for d in 0..4 {
            let tangent = dofs + joints + contacts.len() + 4 * c + d;
            matrix[slip * size + tangent] = -1.0;
            matrix[tangent * size + slip] = 1.0;
        }
    }
    (MixedLcp::new(dofs + joints, matrix, vector).unwrap(), dofs)
}

#[test]
fn joints_and_contacts_agree_with_the_whole_mixed_problem() {
    let model = leaning();
    let system = System::new(&model, &model.initial_state());
    let mut found = Vec::new();
    let mut plane = Plane {
        normal: DVec3::Z,
        friction: 0.5,
        reach: 0.05,
    };
    plane.detect(&model, &system, &Control::new(&model), 0.0, &mut found);
    assert!(found.len() >= 2, "the lower link is near the ground");
    let contacts: Vec<_> = found
        .into_iter()
        .map(|c| (c, [DVec3::X, DVec3::Y]))
        .collect();
    let free: Vec<Six> = system.bodies.iter().map(|b| pack(b.v, b.omega)).collect();

    let (whole, dofs) = whole_problem(&system, &contacts, &free);
    let reduction = whole.reduce().expect("independent joints");
    let mut lemke = Lemke::new();
    assert!(matches!(
        lemke.solve(&reduction.lcp),
        Outcome::Solved { .. }
    ));
    let expected = reduction.free_unknowns(lemke.solution());

    let mut joints = Articulation::new("test", &system).unwrap();
    joints.linearize(&system);
    joints.factor(&system).unwrap();
    let mut velocity = free;
    let mut lambda = vec![0.0; joints.rows()];
    joints
        .project(&mut velocity, &vec![0.0; joints.rows()], &mut lambda)
        .unwrap();
    let mut pushes = Pushes::default();
    pushes.clear(4);
    for (contact, tangents) in &contacts {
        pushes.add(contact.row(&system, contact.normal), 0.0);
        let rows = tangents.iter().map(|&t| contact.row(&system, t));
        pushes.add_friction(contact.friction, rows);
    }
    pushes
        .solve("test", &system, &mut joints, &mut velocity)
        .unwrap();
    assert!(pushes.impulses().iter().any(|&p| p > 0.01), "it hits");
    for (k, exact) in expected[..dofs].iter().enumerate() {
        let ours = velocity[k / 6][k % 6];
        assert!((ours - exact).abs() < 1e-9, "{k}: {ours} {exact}");
    }
}

#[test]
fn painlevé_rod_has_a_solution_where_forces_have_none() {
    // Painlevé's paradox needs μ > 4/3; at 60° it is worst near the slope of the rod.
    let (friction, angle, half) = (2.0, 60_f64.to_radians(), 0.5);
    let mut builder = ModelBuilder::new();
    let shape = Shape::Box {
        half_extents: DVec3::new(half, 1e-3, 1e-3),
    };
    let turn = DQuat::from_rotation_y(-angle);
    let axis = turn * DVec3::X;
    builder.body(
        BodyDef::new("rod", shape, 1000.0)
            .mass(1.0)
            .turned(turn)
            .at(axis * half),
    );
    let mut model = builder.build().expect("a rod");
    let state = model.initial_state();
    let system = System::new(&model, &state);
    let tip = Contact {
        ends: [None, Some(0)],
        points: [DVec3::ZERO; 2],
        normal: DVec3::Z,
        gap: 0.0,
        friction,
        surface_velocity: DVec3::ZERO,
    };
    // Response of the tip to forces there: the paradox is a negative one to N with sliding.
    let response = |row: DVec3, force: DVec3| {
        let body = &system.bodies[0];
        let r = DMat3::from_quat(body.q);
        let by = tip.row(&system, force).gradients[1];
        let push = vincula_classic::system::apply_inverse_mass(body, &r, &by);
        dot6(&tip.row(&system, row).gradients[1], &push)
    };
    let normal = response(DVec3::Z, DVec3::Z);
    let along = response(DVec3::Z, DVec3::X);
    let slip = if along > 0.0 { DVec3::X } else { -DVec3::X };
    let sliding = normal - friction * along.abs();
    assert!(
        sliding < -0.1,
        "no force N ≥ 0 keeps the tip from accelerating downwards: {sliding}"
    );

    struct Tip(Contact);
    impl Detect for Tip {
        fn detect(&mut self, _: &Model, _: &System, _: &Control, _: f64, out: &mut Vec<Contact>) {
            out.clear();
            out.push(self.0);
        }
    }
    let mut builder = ModelBuilder::new();
    builder.body(
        BodyDef::with_mass_properties("rod", model.bodies()[0].mass)
            .turned(turn)
            .at(axis * half)
            .moving(slip * 1.0, DVec3::ZERO),
    );
    model = builder.build().expect("a rod that slides");
    let mut method = method(&model, Stabilization::None, Box::new(Tip(tip)));
    method
        .step(&model, &Control::new(&model), 1e-3)
        .expect("a solution");
    let body = &method.system().bodies[0];
    let velocity = [pack(body.v, body.omega)];
    let rate = |d: DVec3| tip.row(&system, d).rate(&velocity);
    assert!(rate(DVec3::Z) > -1e-10, "the tip does not enter the ground");
    assert!(
        rate(DVec3::X).abs() < 1e-10,
        "the impulse stops the tip: it jams"
    );
}

#[test]
fn a_limit_stops_a_joint_without_drift() {
    let mut builder = ModelBuilder::new();
    let shape = Shape::Box {
        half_extents: DVec3::new(0.25, 0.02, 0.02),
    };
    let rod = builder.body(BodyDef::new("rod", shape, 1000.0).at(DVec3::X * 0.25));
    builder.joint(JointDef::hinge("pivot", World, rod, DVec3::ZERO, DVec3::Y).limits(0, -1.0, 0.5));
    let model = builder.build().expect("a rod");
    let control = Control::new(&model);
    let mut method = method(&model, Stabilization::Post, Box::new(NoContacts));
    for _ in 0..1000 {
        method.step(&model, &control, 1e-3).expect("a step");
    }
    let body = &method.system().bodies[0];
    let angle = (-body.x.z).atan2(body.x.x);
    assert!((angle - 0.5).abs() < 1e-5, "{angle}");
    assert!(body.omega.length() < 1e-9);
}

#[test]
fn a_step_that_fails_leaves_everything_as_it_was() {
    let model = chain(2, 9.81);
    let mut method = method(&model, Stabilization::Post, Box::new(NoContacts));
    let mut control = Control::new(&model);
    let body = model.find_body("link-1").expect("a link");
    control.add_torque(body, DVec3::splat(f64::INFINITY));
    let before = method.system().bodies.clone();
    let error = method.step(&model, &control, 1e-3).unwrap_err();
    assert!(!error.to_string().is_empty());
    assert_eq!(method.system().bodies, before);
    assert!(method.step(&model, &Control::new(&model), 0.0).is_err());
    assert!(method.step(&model, &Control::new(&model), 1e-3).is_ok());
}
