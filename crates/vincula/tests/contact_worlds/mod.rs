//! Small worlds for the tests of contact.
#![allow(dead_code)]

use vincula::contact::{ContactPoint, Contacts, detect};
use vincula::prelude::*;

pub fn sphere(radius: f64) -> Shape {
    Shape::Sphere { radius }
}

pub fn cuboid(half_extents: DVec3) -> Shape {
    Shape::Box { half_extents }
}

/// A body of this shape at a pose, at rest, with no margin.
pub fn placed(shape: Shape, at: DVec3, turned: DQuat) -> (Shape, Pose) {
    let pose = Pose {
        translation: at,
        rotation: turned,
    };
    (shape, pose)
}

/// A model of loose bodies in the order given, each with its own shape as collider, and
/// possibly a ground at z = 0 before them.
pub fn loose(bodies: &[(Shape, Pose)], ground: bool) -> Model {
    let mut builder = ModelBuilder::new();
    builder.gravity(DVec3::ZERO);
    if ground {
        builder.collider(ColliderDef::ground("ground", 0.0).margin(0.005));
    }
    for (index, (shape, pose)) in bodies.iter().enumerate() {
        let name = format!("body {index}");
        let def = BodyDef::new(&name, shape.clone(), 1000.0)
            .at(pose.translation)
            .turned(pose.rotation);
        let body = builder.body(def);
        builder.collider(ColliderDef::new(&name, body, shape.clone()).margin(0.01));
    }
    builder.build().expect("a sound model")
}

/// What detection finds in a model at its initial state.
pub fn found(model: &Model) -> Contacts {
    found_at(model, &model.initial_state(), 0.01)
}

/// What detection finds in a model at a state, for a step of h seconds.
pub fn found_at(model: &Model, state: &State, h: f64) -> Contacts {
    let mut contacts = Contacts::new();
    detect(model, state, &Control::new(model), h, &mut contacts);
    check(model, state, &contacts.points);
    contacts
}

pub fn pair(one: (Shape, Pose), two: (Shape, Pose)) -> Contacts {
    found(&loose(&[one, two], false))
}

pub fn on_ground(shape: Shape, at: DVec3, turned: DQuat) -> Contacts {
    found(&loose(&[placed(shape, at, turned)], true))
}

/// What every contact point promises: a unit normal, ordered colliders, and a gap that is the
/// distance of its anchors along the normal.
pub fn check(model: &Model, state: &State, points: &[ContactPoint]) {
    let carried = |body: Option<BodyId>, anchor: [f64; 3]| match body {
        Some(id) => {
            let a = vincula::math::to_mat(&state.affine_map(id));
            a * DVec3::from_array(anchor) + state.center(id)
        }
        None => DVec3::from_array(anchor),
    };
    for p in points {
        let normal = DVec3::from_array(p.normal);
        assert!((normal.length() - 1.0).abs() < 1e-12);
        assert!(p.collider_a < p.collider_b);
        assert_eq!(model.collider(p.collider_a).carrier.body(), p.a);
        assert_eq!(model.collider(p.collider_b).carrier.body(), p.b);
        let (a, b) = (carried(p.a, p.anchor_a), carried(p.b, p.anchor_b));
        assert!((normal.dot(b - a) - p.gap).abs() < 1e-12);
    }
    for pair in points.chunk_by(|p, q| (p.collider_a, p.collider_b) == (q.collider_a, q.collider_b))
    {
        assert!(pair.windows(2).all(|w| w[0].feature < w[1].feature));
    }
}

pub fn near(got: [f64; 3], wanted: DVec3, tolerance: f64) {
    let error = (DVec3::from_array(got) - wanted).length();
    assert!(
        error < tolerance,
        "{got:?} is not {wanted}: off by {error:e}"
    );
}
