//! What the method of Tomcin et al. promises.

mod oracle;

use oracle::{Numbers, dense_projection, random_tree};
use vincula::contact::{ColliderDef, Surface};
use vincula::joint::JointKind;
use vincula::prelude::*;
use vincula_classic::system::Method;
use vincula_classic::tomcin::{Tomcin, TomcinSettings};

fn tomcin(model: &Model, settings: TomcinSettings) -> Tomcin {
    Tomcin::new(model, &model.initial_state(), settings).expect("it can run")
}

fn run(method: &mut Tomcin, model: &Model, h: f64, steps: usize) {
    let control = Control::new(model);
    for _ in 0..steps {
        method.step(model, &control, h).expect("a step");
    }
}

#[test]
fn the_velocity_correction_of_random_trees_is_that_of_the_dense_matrix() {
    let mut numbers = Numbers(3);
    for bodies in [2, 5, 12, 20] {
        let model = random_tree(bodies, bodies / 10, true, &mut numbers);
        let settings = TomcinSettings {
            regularization: 1e-16,
            ..TomcinSettings::default()
        };
        let mut method = tomcin(&model, settings);
        let exact = dense_projection(method.system());
        let before = method.system().bodies.clone();
        method.project_velocities().expect("a projection");
        let size = exact.iter().flatten().fold(0.0, |m: f64, x| m.max(x.abs()));
        for ((old, new), w) in before.iter().zip(&method.system().bodies).zip(&exact) {
            let [dv, domega] = [new.v - old.v, new.omega - old.omega];
            for k in 0..3 {
                assert!((dv[k] - w[k]).abs() < 1e-10 * size);
                assert!((domega[k] - w[3 + k]).abs() < 1e-10 * size);
            }
        }
    }
}

/// A closed chain of four rods on hinges in a plane, hung from two points: its loop has three
/// redundant rows.
fn four_bar() -> Model {
    let mut builder = ModelBuilder::new();
    let points = [
        DVec3::ZERO,
        DVec3::new(0.2, 0.0, -0.5),
        DVec3::new(0.9, 0.0, -0.6),
        DVec3::new(1.0, 0.0, 0.0),
    ];
    let rods: Vec<BodyId> = (0..3)
        .map(|k| {
            let span = points[k + 1] - points[k];
            let half_extents = DVec3::new(0.5 * span.length(), 0.03, 0.03);
            builder.body(
                BodyDef::new(format!("rod{k}"), Shape::Box { half_extents }, 1000.0)
                    .at(0.5 * (points[k] + points[k + 1]))
                    .turned(DQuat::from_rotation_y((-span.z).atan2(span.x))),
            )
        })
        .collect();
    for k in 0..4 {
        let name = format!("pin{k}");
        builder.joint(match k {
            0 => JointDef::hinge(name, World, rods[0], points[0], DVec3::Y),
            3 => JointDef::hinge(name, rods[2], World, points[3], DVec3::Y),
            _ => JointDef::hinge(name, rods[k - 1], rods[k], points[k], DVec3::Y),
        });
    }
    builder.build().expect("a four-bar")
}

#[test]
fn redundant_rows_are_held_and_energy_is_kept_to_second_order() {
    let model = four_bar();
    let drift = |h: f64| {
        let mut method = tomcin(&model, TomcinSettings::default());
        let start = method.system().energy(&model).total();
        let control = Control::new(&model);
        let mut most = 0.0f64;
        let mut kinetic = 0.0f64;
        for _ in 0..(2.0 / h) as usize {
            let report = method.step(&model, &control, h).expect("a step");
            assert!(report.residual < 1e-9, "{}", report.residual);
            assert!(report.iterations < 10, "{}", report.iterations);
            let energy = method.system().energy(&model);
            most = most.max((energy.total() - start).abs());
            kinetic = kinetic.max(energy.kinetic);
        }
        most / kinetic
    };
    let (coarse, fine) = (drift(8e-3), drift(2e-3));
    assert!(coarse < 0.02, "{coarse}");
    assert!(fine < coarse / 8.0, "{coarse} {fine}");
}

/// A hub with many arms on hinges, spinning freely.
fn hub(arms: usize) -> Model {
    let mut builder = ModelBuilder::new();
    let shape = Shape::Cylinder {
        radius: 0.5,
        half_length: 0.1,
    };
    let spin = DVec3::new(0.3, 0.2, 2.0);
    let hub = builder.body(BodyDef::new("hub", shape, 900.0).moving(DVec3::X, spin));
    for arm in 0..arms {
        let bearing = std::f64::consts::TAU * arm as f64 / arms as f64;
        let out = DVec3::new(bearing.cos(), bearing.sin(), 0.0);
        let half_extents = DVec3::new(0.2, 0.02, 0.03);
        let shape = Shape::Box { half_extents };
        let place = out * 0.7;
        let rod = builder.body(
            BodyDef::new(format!("arm{arm}"), shape, 900.0)
                .at(place)
                .turned(DQuat::from_rotation_z(bearing))
                .moving(DVec3::X + spin.cross(place), spin),
        );
        let axis = DVec3::Z.cross(out);
        builder.joint(JointDef::hinge(
            format!("hip{arm}"),
            hub,
            rod,
            out * 0.5,
            axis,
        ));
    }
    builder.build().expect("a hub")
}

#[test]
fn a_split_body_moves_as_the_whole_one() {
    let model = hub(24);
    let whole = TomcinSettings {
        splitting: false,
        tolerance: 1e-11,
        ..TomcinSettings::default()
    };
    let split = TomcinSettings {
        splitting: true,
        ..whole
    };
    let (mut one, mut many) = (tomcin(&model, whole), tomcin(&model, split));
    assert!(one.parts().is_empty());
    assert_eq!(many.parts()[0].others.len(), 9, "120 rows, 12 to a part");
    let mass = |method: &Tomcin| method.system().momentum().linear.length();
    assert!((mass(&one) - mass(&many)).abs() < 1e-9 * mass(&one));
    run(&mut one, &model, 2e-3, 200);
    run(&mut many, &model, 2e-3, 200);
    for (a, b) in one.system().bodies.iter().zip(&many.system().bodies) {
        assert!((a.x - b.x).length() < 1e-6, "{} {}", a.x, b.x);
    }
    assert!(many.system().worst_violation().0 < 1e-9);
}

/// A box on a ground that is tilted by turning gravity.
fn block_on_slope(angle: f64, friction: f64) -> Model {
    let mut builder = ModelBuilder::new();
    builder.gravity(9.81 * DVec3::new(angle.sin(), 0.0, -angle.cos()));
    let surface = Surface::with_friction(friction);
    let half_extents = DVec3::new(0.2, 0.2, 0.1);
    builder.body(
        BodyDef::new("block", Shape::Box { half_extents }, 1000.0)
            .at(DVec3::Z * 0.1)
            .colliding(surface),
    );
    builder.collider(ColliderDef::ground("ground", 0.0).surface(surface));
    builder.build().expect("a block")
}

#[test]
fn a_block_slides_as_coulomb_says_or_stays() {
    let angle: f64 = 0.4;
    for friction in [0.2, 0.6] {
        let model = block_on_slope(angle, friction);
        let mut method = tomcin(&model, TomcinSettings::default());
        run(&mut method, &model, 5e-3, 200);
        let block = &method.system().bodies[0];
        let pull = 9.81 * (angle.sin() - friction * angle.cos()).max(0.0);
        let exact = 0.5 * pull;
        assert!(
            (block.x.x - exact).abs() < 0.02 * exact + 1e-4,
            "{} {exact}",
            block.x.x
        );
        assert!((block.x.z - 0.1).abs() < 1e-4, "{}", block.x.z);
        assert!(
            block.omega.length() < 1e-3,
            "it does not tumble: {}",
            block.omega
        );
    }
}

#[test]
fn a_ball_bounces_to_the_square_of_its_restitution_and_then_rests() {
    let mut builder = ModelBuilder::new();
    let surface = Surface::with_friction(0.3).bouncing(0.6);
    builder.body(
        BodyDef::new("ball", Shape::Sphere { radius: 0.1 }, 1000.0)
            .at(DVec3::Z * 1.1)
            .colliding(surface),
    );
    builder.collider(ColliderDef::ground("ground", 0.0).surface(surface));
    let model = builder.build().expect("a ball");
    let mut method = tomcin(&model, TomcinSettings::default());
    let control = Control::new(&model);
    let (mut bounced, mut top) = (false, 0.0f64);
    for _ in 0..800 {
        method.step(&model, &control, 1e-3).expect("a step");
        let ball = &method.system().bodies[0];
        bounced |= ball.v.z > 0.0;
        if bounced {
            top = top.max(ball.x.z - 0.1);
        }
    }
    assert!((top - 0.36).abs() < 0.01, "{top}");
    run(&mut method, &model, 1e-3, 4000);
    let ball = &method.system().bodies[0];
    assert!(
        (ball.x.z - 0.1).abs() < 1e-4 && ball.v.length() < 1e-2,
        "{ball:?}"
    );
}

#[test]
fn a_heavy_block_on_a_light_rod_rests_on_the_ground_at_large_steps() {
    // Their Fig. 1(d): the rod weighs 50 kg, the block 7.5 t.
    let mut builder = ModelBuilder::new();
    let rod = Shape::Box {
        half_extents: DVec3::new(1.5, 0.05, 0.05),
    };
    let surface = Surface::with_friction(0.5);
    let rod = builder.body(
        BodyDef::new("rod", rod, 1000.0)
            .mass(50.0)
            .at(DVec3::new(1.5, 0.0, 0.3))
            .colliding(surface),
    );
    let block = Shape::Box {
        half_extents: DVec3::splat(0.5),
    };
    let block = builder.body(
        BodyDef::new("block", block, 1000.0)
            .mass(7500.0)
            .at(DVec3::new(3.0, 0.0, 1.5)),
    );
    builder.joint(JointDef::new(
        "pin",
        JointKind::Hinge,
        World,
        rod,
        DVec3::new(0.0, 0.0, 0.3),
        DVec3::Y,
    ));
    builder.joint(JointDef::fixed(
        "seat",
        rod,
        block,
        DVec3::new(3.0, 0.0, 0.3),
    ));
    builder.collider(ColliderDef::ground("ground", 0.0).surface(surface));
    let model = builder.build().expect("a rod and a block");
    let mut method = tomcin(&model, TomcinSettings::default());
    for _ in 0..100 {
        let report = method
            .step(&model, &Control::new(&model), 0.02)
            .expect("a step");
        assert!(report.residual < 1e-6, "{}", report.residual);
    }
    let rod = &method.system().bodies[0];
    let low = rod.point(DVec3::new(1.5, 0.0, -0.05)).z;
    assert!(low.abs() < 2e-3, "the end rests on the ground: {low}");
    assert!(method.system().bodies[1].v.length() < 1e-2);
}
