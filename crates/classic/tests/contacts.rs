//! Cline and Pai's method with the contacts that the engine finds.

use glam::{DQuat, DVec3};
use vincula::contact::{ColliderDef, Contacts, Surface, detect};
use vincula::prelude::*;
use vincula_classic::catalog::{self, CATALOG};
use vincula_classic::system::Method;

/// Deepest overlap now, m.
fn overlap(model: &Model, method: &dyn Method) -> f64 {
    let mut state = model.initial_state();
    method.system().write_state(model, &mut state);
    let mut contacts = Contacts::new();
    detect(model, &state, &Control::new(model), 0.0, &mut contacts);
    contacts.penetration()
}

fn boxes(count: usize, tilt: f64, lift: f64) -> Model {
    let mut builder = ModelBuilder::new();
    let surface = Surface::with_friction(0.5);
    builder.collider(ColliderDef::ground("ground", 0.0).surface(surface));
    let half_extents = DVec3::new(0.15, 0.12, 0.1);
    for k in 0..count {
        let height = 0.1 + 0.2 * k as f64 + lift;
        builder.body(
            BodyDef::new(format!("box-{k}"), Shape::Box { half_extents }, 500.0)
                .colliding(surface)
                .turned(DQuat::from_rotation_y(tilt))
                .at(DVec3::Z * height),
        );
    }
    builder.build().expect("boxes")
}

#[test]
fn a_stack_of_three_boxes_stands_still() {
    let model = boxes(3, 0.0, 0.0);
    let control = Control::new(&model);
    let entry = catalog::find("cline-pai").expect("in the catalogue");
    let mut method = entry.make(&model, &model.initial_state()).expect("boxes");
    for _ in 0..200 {
        method.step(&model, &control, 0.005).expect("a step");
    }
    assert!(overlap(&model, &*method) < 1e-6);
    for (k, body) in method.system().bodies.iter().enumerate() {
        let place = DVec3::Z * (0.1 + 0.2 * k as f64);
        assert!(body.x.distance(place) < 1e-4, "{k}: {}", body.x);
        assert!(body.v.length() < 1e-6, "{k}: {}", body.v);
    }
}

#[test]
fn a_tumbling_box_comes_to_rest_on_a_face_without_overlap() {
    let model = boxes(1, 0.5, 0.3);
    let control = Control::new(&model);
    let entry = catalog::find("cline-pai").expect("in the catalogue");
    let mut method = entry.make(&model, &model.initial_state()).expect("a box");
    let mut worst = 0.0_f64;
    for _ in 0..800 {
        method.step(&model, &control, 0.0025).expect("a step");
        worst = worst.max(overlap(&model, &*method));
    }
    let body = &method.system().bodies[0];
    assert!(worst < 1e-5, "{worst}");
    assert!(body.v.length() + body.omega.length() < 1e-6, "it rests");
    assert!((body.x.z - 0.1).abs() < 1e-4 || (body.x.z - 0.15).abs() < 1e-4);
}

#[test]
fn methods_without_contacts_name_one_that_has_them() {
    let model = boxes(1, 0.0, 0.0);
    let state = model.initial_state();
    for entry in CATALOG {
        match entry.make(&model, &state) {
            Ok(_) => assert!(
                entry.name.starts_with("cline-pai") || entry.name == "tomcin",
                "{}",
                entry.name
            ),
            Err(refusal) => assert!(refusal.to_string().contains("cline-pai"), "{refusal}"),
        }
    }
}
