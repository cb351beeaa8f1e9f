//! What the scenes of contact promise before anything moves: their counts, that nothing
//! overlaps, and that what rests on something is seen to.

use vincula::contact::{Contacts, detect};
use vincula::joint::JointKind;
use vincula::prelude::*;
use vincula_scenes::{Scene, build, gallery};

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
