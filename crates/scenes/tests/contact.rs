//! What the scenes of contact promise before anything moves: their counts, that nothing
//! overlaps, and that what rests on something is seen to.

use vincula::contact::{Contacts, detect};
use vincula::diagnostics::{energy, worst_gap};
use vincula::joint::JointKind;
use vincula::prelude::*;
use vincula_scenes::{Kind, Scene, build, find, gallery};

/// What detection finds at the start.
fn found(scene: &Scene) -> Contacts {
    let mut contacts = Contacts::new();
    let control = Control::new(&scene.model);
    detect(&scene.model, &scene.state, &control, scene.h, &mut contacts);
    contacts
}

#[test]
fn nothing_overlaps_at_the_start() {
    for entry in gallery() {
        let scene = entry.build(&[], 0).expect("a sound scene");
        let depth = found(&scene).penetration();
        assert!(depth < 1e-9, "{}: {depth} m deep", entry.name);
    }
}

#[test]
fn a_stack_touches_with_four_points_at_each_face() {
    let scene = build("stack", &[("n", "7")]).expect("a sound scene");
    let contacts = found(&scene);
    assert_eq!(contacts.points.len(), 4 * 7);
    assert!(contacts.pairs().all(|pair| pair.len() == 4));
    let top = scene.model.bodies().last().expect("seven cubes");
    assert!((top.mass.mass / scene.model.bodies()[0].mass.mass - 1000.0).abs() < 1e-9);
}

#[test]
fn the_stones_of_an_arch_touch_face_to_face() {
    let scene = build("arch", &[]).expect("a sound scene");
    let contacts = found(&scene);
    // Eleven stones have ten joints between them and two on the ground.
    assert_eq!(contacts.pairs().count(), 12);
    assert!(contacts.pairs().all(|pair| pair.len() == 4));
    let open = build("arch", &[("keystone", "false")]).expect("a sound scene");
    assert_eq!(open.model.bodies().len(), 10);
    assert_eq!(found(&open).pairs().count(), 10);
}

#[test]
fn bricks_rest_on_two_bricks_below() {
    let scene = build("wall", &[("rows", "2"), ("columns", "3")]).expect("a sound scene");
    let contacts = found(&scene);
    // Three on the ground; above, the shifted course rests on 1, 2 and 2; four side by side.
    assert_eq!(contacts.pairs().count(), 3 + 5 + 4);
}

#[test]
fn the_balls_of_a_cradle_touch_their_neighbours() {
    let scene = build("newton-cradle", &[]).expect("a sound scene");
    let contacts = found(&scene);
    assert_eq!(contacts.points.len(), 3, "the lifted ball is away");
    assert!(
        contacts
            .points
            .iter()
            .all(|p| p.gap.abs() < 1e-12 && p.restitution == 1.0)
    );
}

#[test]
fn the_crowded_scenes_have_the_counts_of_the_literature() {
    let ragdolls = build("ragdolls", &[]).expect("a sound scene");
    assert_eq!(ragdolls.model.bodies().len(), 27 * 11 + 1160);
    let falling = build("falling-joints", &[]).expect("a sound scene");
    assert_eq!(falling.model.bodies().len(), 1440);
    for kind in [
        JointKind::Ball,
        JointKind::Universal,
        JointKind::Hinge,
        JointKind::Prismatic,
    ] {
        let joints = falling.model.joints().iter();
        assert_eq!(joints.filter(|joint| joint.kind == kind).count(), 180);
    }
    let net = build("net-on-cylinder", &[]).expect("a sound scene");
    assert_eq!(net.model.bodies().len(), 280);
    let pulley = build("pulley", &[]).expect("a sound scene");
    assert_eq!(pulley.model.bodies().len(), 1500 + 3 + 1);
}

#[test]
fn a_chain_lies_on_its_pulleys_and_a_pile_starts_free() {
    let pulley = build("pulley", &[]).expect("a sound scene");
    let contacts = found(&pulley);
    // Half a turn of 0.4 m takes about 32 links of 0.04 m on each of three pulleys.
    let touching = contacts.pairs().count();
    assert!((90..110).contains(&touching), "{touching}");
    for of in ["boxes", "spheres", "capsules", "mixed"] {
        let pile = build("pile", &[("n", "100"), ("of", of)]).expect("a sound scene");
        assert_eq!(pile.model.colliders().len(), 105);
        assert_eq!(found(&pile).penetration(), 0.0, "{of}");
    }
}

type Settled = &'static [(&'static str, &'static str)];

/// Small versions of the scenes of contact: settings, and the smallest width of a body, m.
const SMALL: [(&str, Settled, f64); 12] = [
    ("ramp", &[], 0.2),
    ("bounce", &[], 0.2),
    ("newton-cradle", &[], 0.1),
    ("stack", &[("n", "4"), ("mass_ratio", "10")], 1.0),
    ("wall", &[("rows", "3"), ("columns", "3")], 0.072),
    ("arch", &[], 0.4),
    ("pile", &[("n", "27"), ("of", "mixed")], 0.12),
    ("rod-and-block", &[], 0.1),
    ("net-on-cylinder", &[("rows", "4"), ("columns", "4")], 0.05),
    ("ragdolls", &[("n", "1"), ("nodes", "6")], 0.05),
    ("falling-joints", &[("each", "3")], 0.08),
    ("pulley", &[("links", "200"), ("pulleys", "1")], 0.02),
];

/// A third of a second of a scene: the largest gap of a joint, the deepest overlap, and the gain of
/// energy, all measured after each step.
fn run(scene: &Scene) -> (f64, f64, f64) {
    let mut state = scene.state.clone();
    let mut work = Workspace::new(&scene.model, Settings::with_integrator(scene.integrator));
    let mut control = Control::new(&scene.model);
    let start = energy(&scene.model, &state).total();
    let (mut gap, mut depth, mut gain) = (0.0f64, 0.0f64, 0.0f64);
    let mut contacts = Contacts::new();
    for _ in 0..(0.33 / scene.h) as usize {
        scene.control(&state, &mut control);
        step(&scene.model, &mut state, &control, &mut work, scene.h)
            .unwrap_or_else(|error| panic!("{}: {error}", scene.name));
        gap = gap.max(worst_gap(&scene.model, &state).0);
        detect(&scene.model, &state, &control, 0.0, &mut contacts);
        depth = depth.max(contacts.penetration());
        gain = gain.max(energy(&scene.model, &state).total() - start);
    }
    (gap, depth, gain)
}

#[test]
fn scenes_of_contact_keep_their_joints_and_bodies_apart() {
    for (name, settings, width) in SMALL {
        let scene = build(name, settings).expect("a sound scene");
        let (gap, depth, gain) = run(&scene);
        let mass: f64 = scene.model.bodies().iter().map(|body| body.mass.mass).sum();
        // What falling by a millimetre would release.
        let little = 1e-3 * mass * 9.81;
        println!(
            "{name}: gap {gap:.1e}, depth {depth:.1e}, gain {:.1e} of a mm",
            gain / little
        );
        assert!(gap < 1e-6, "{name}: a gap of {gap} m");
        // A normal is that of the start of the step: what turns or rolls off in the step sinks
        // in by second order, 5 % at most here, where rods of a net tip over a cylinder.
        assert!(depth < 0.06 * width, "{name}: {depth} m deep");
        assert!(scene.is_driven() || gain < little, "{name}: gains {gain} J");
    }
}

#[test]
fn extreme_values_build_and_are_looked_at() {
    for (name, settings, _) in SMALL {
        let entry = find(name).expect("in the gallery");
        for param in entry.params {
            let values = match param.kind {
                Kind::Float { least, most, .. } => vec![least.to_string(), most.to_string()],
                Kind::Int { least, most, .. } => {
                    vec![least.to_string(), most.min(60).to_string()]
                }
                Kind::Bool { .. } => vec!["true".into(), "false".into()],
                Kind::Choice { words, .. } => words.iter().map(|w| w.to_string()).collect(),
            };
            for text in values {
                let mut settings: Vec<(&str, &str)> = settings.to_vec();
                settings.retain(|(key, _)| *key != param.key);
                settings.push((param.key, &text));
                if let Ok(scene) = entry.build(&settings, 0) {
                    let depth = found(&scene).penetration();
                    assert!(depth.is_finite(), "{name} {}={text}", param.key);
                }
            }
        }
    }
}

/// Where contacts are few, or stand, nothing is left of the law to be violated.
#[test]
fn few_contacts_and_standing_walls_obey_the_law() {
    type Case = (&'static str, &'static [(&'static str, &'static str)], usize);
    let cases: [Case; 5] = [
        ("wall", &[], 40),
        ("rod-and-block", &[("h", "0.002")], 760),
        ("rod-and-block", &[("h", "0.25")], 80),
        ("five-bodies", &[], 300),
        ("newton-cradle", &[], 300),
    ];
    for (name, set, steps) in cases {
        let scene = build(name, set).expect("a sound scene");
        let mut state = scene.state.clone();
        let mut work = Workspace::new(&scene.model, Settings::default());
        let mut control = Control::new(&scene.model);
        let (mut worst, mut touched) = (0.0f64, 0);
        for _ in 0..steps {
            scene.control(&state, &mut control);
            let report = step(&scene.model, &mut state, &control, &mut work, scene.h)
                .expect("a step that can be made");
            worst = worst.max(report.contact_residual);
            touched += report.contacts;
        }
        assert!(touched > 50, "{name}: {touched} points");
        assert!(worst <= 1e-6, "{name} {set:?}: {worst:e}");
    }
}
