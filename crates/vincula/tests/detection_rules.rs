//! Who meets whom, and what is refused when a model is built.

mod contact_worlds;

use contact_worlds::*;
use vincula::body::shape::{Part, ShapeError, TriMesh};
use vincula::contact::{ColliderError, HeightField, TerrainError};
use vincula::model::ModelError;
use vincula::prelude::*;

/// Two overlapping spheres with the given groups and masks.
fn grouped(groups: [[u32; 2]; 2]) -> usize {
    let mut builder = ModelBuilder::new();
    for (k, [member, mask]) in groups.into_iter().enumerate() {
        let name = format!("ball {k}");
        let at = DVec3::X * k as f64;
        let body = builder.body(BodyDef::new(&name, sphere(0.6), 1000.0).at(at));
        builder.collider(ColliderDef::new(&name, body, sphere(0.6)).groups(member, mask));
    }
    found(&builder.build().expect("a sound model")).points.len()
}

#[test]
fn groups_meet_when_each_mask_holds_the_other() {
    assert_eq!(grouped([[1, 1], [1, 1]]), 1);
    assert_eq!(grouped([[1, 2], [2, 1]]), 1);
    assert_eq!(grouped([[1, 2], [2, 2]]), 0, "one-sided is not enough");
    assert_eq!(grouped([[1, 1], [2, 2]]), 0);
    assert_eq!(grouped([[5, 4], [4, 6]]), 1);
}

/// Three overlapping spheres in a row, neighbours jointed; the number of points after the
/// rules that `say` adds.
fn jointed(say: impl FnOnce(&mut ModelBuilder, [BodyId; 3])) -> usize {
    let mut builder = ModelBuilder::new();
    let balls = [0, 1, 2].map(|k| {
        let at = DVec3::X * 0.5 * f64::from(k);
        let def = BodyDef::new(format!("ball {k}"), sphere(0.6), 1000.0).at(at);
        builder.body(def.colliding(Surface::default()))
    });
    for k in 0..2 {
        let at = DVec3::X * (0.25 + 0.5 * k as f64);
        builder.joint(JointDef::ball(
            format!("joint {k}"),
            balls[k],
            balls[k + 1],
            at,
        ));
    }
    say(&mut builder, balls);
    found(&builder.build().expect("a sound model")).points.len()
}

#[test]
fn jointed_neighbours_ignore_each_other_unless_told_otherwise() {
    assert_eq!(jointed(|_, _| ()), 1, "only the first and the last");
    let with_neighbours = jointed(|builder, [a, b, _]| {
        builder.collide(b, a);
    });
    assert_eq!(with_neighbours, 2);
    let without_ends = jointed(|builder, [a, _, c]| {
        builder.ignore(a, c);
    });
    assert_eq!(without_ends, 0);
    let last_counts = jointed(|builder, [a, _, c]| {
        builder.ignore(a, c).collide(a, c);
    });
    assert_eq!(last_counts, 1);
}

#[test]
fn colliders_of_one_body_and_of_the_world_do_not_meet() {
    let mut builder = ModelBuilder::new();
    let body = builder.body(BodyDef::new("body", sphere(0.5), 1000.0));
    let frame = builder.frame("frame", Pose::IDENTITY);
    for name in ["one", "two"] {
        builder.collider(ColliderDef::new(name, body, sphere(0.5)).groups(1, 1));
    }
    for name in ["wall", "floor"] {
        builder.collider(ColliderDef::new(name, World, sphere(0.5)).groups(2, 2));
    }
    builder.collider(ColliderDef::new("moved", frame, sphere(0.5)).groups(2, 2));
    assert_eq!(found(&builder.build().expect("a sound model")).points, []);
}

#[test]
fn a_sensor_reports_overlap_and_makes_no_contact() {
    let sensed = |height: f64| {
        let mut builder = ModelBuilder::new();
        let zone = cuboid(DVec3::splat(0.5));
        let zone = builder.collider(ColliderDef::new("zone", World, zone).sensor());
        let sea = ColliderDef::ground("sea", -1.0).sensor();
        let sea = builder.collider(sea);
        let at = DVec3::Z * height;
        let def = BodyDef::new("ball", sphere(0.2), 1000.0).at(at);
        builder.body(def.colliding(Surface::default()));
        let model = builder.build().expect("a sound model");
        let ball = model.find_collider("ball").expect("named after its body");
        let found = found(&model);
        assert_eq!(found.points, []);
        (found.sensed, [zone, ball], [sea, ball])
    };
    let (none, ..) = sensed(0.71);
    assert!(none.is_empty());
    let (one, in_zone, _) = sensed(0.69);
    assert_eq!(one, [in_zone]);
    let (one, _, in_sea) = sensed(-0.81);
    assert_eq!(one, [in_sea]);
}

#[test]
fn surfaces_are_combined_in_the_points() {
    let mut builder = ModelBuilder::new();
    let ice = Surface::with_friction(0.1).bouncing(0.3);
    builder.collider(ColliderDef::ground("ground", 0.0).surface(ice));
    let rubber = Surface {
        friction: 0.9,
        restitution: 0.8,
        rolling: 0.01,
        torsional: 0.02,
        compliance: 1e-6,
    };
    let ball = BodyDef::new("ball", sphere(0.2), 1000.0).at(DVec3::Z * 0.2);
    builder.body(ball.colliding(rubber));
    let found = found(&builder.build().expect("a sound model"));
    let point = &found.points[0];
    assert!((point.friction - 0.3).abs() < 1e-15);
    assert_eq!((point.restitution, point.rolling), (0.8, 0.01));
    assert_eq!((point.torsional, point.compliance), (0.02, 1e-6));
}

/// The error of a static collider of this shape, which must name the collider.
fn refused(shape: impl Into<ColliderShape>) -> ColliderError {
    let mut builder = ModelBuilder::new();
    builder.collider(ColliderDef::new("culprit", World, shape));
    match builder.build() {
        Err(ModelError::Collider { collider, source }) => {
            assert_eq!(collider, "culprit");
            source
        }
        other => panic!("refused as a collider, not {:?}", other.map(|_| ())),
    }
}

fn tetrahedron() -> TriMesh {
    TriMesh {
        vertices: vec![DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z],
        triangles: vec![[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]],
    }
}

#[test]
fn impossible_shapes_are_refused_by_name() {
    use ColliderError::Shape as Bad;
    let with = |change: fn(&mut TriMesh)| {
        let mut mesh = tetrahedron();
        change(&mut mesh);
        refused(Shape::Mesh(mesh))
    };
    assert!(matches!(
        with(|m| m.vertices[3].z = f64::NAN),
        Bad(ShapeError::NotFinite { field, .. }) if field == "vertices[3].z"
    ));
    assert!(matches!(
        refused(Shape::Mesh(tetrahedron().flipped())),
        Bad(ShapeError::Inverted { .. })
    ));
    assert!(matches!(
        with(|m| m.triangles.clear()),
        Bad(ShapeError::EmptyMesh)
    ));
    assert!(matches!(
        with(|m| m.triangles[2][0] = 9),
        Bad(ShapeError::IndexOutOfRange { index: 9, .. })
    ));
    assert!(matches!(
        with(|m| m.vertices[3] = DVec3::new(0.2, 0.2, 0.0)),
        Bad(ShapeError::NoVolume { .. })
    ));
    assert!(matches!(
        refused(Shape::ConvexHull { points: vec![] }),
        Bad(ShapeError::TooFewPoints { count: 0 })
    ));
    let flat = (0..8).map(|k| DVec3::new(f64::from(k), f64::from(k * k), 0.0));
    assert!(matches!(
        refused(Shape::ConvexHull {
            points: flat.collect()
        }),
        Bad(ShapeError::FlatHull { .. })
    ));
    assert!(matches!(
        refused(sphere(0.0)),
        Bad(ShapeError::NotPositive { field, .. }) if field == "radius"
    ));
    assert!(matches!(
        refused(Shape::Compound(vec![Part::new(sphere(-1.0))])),
        Bad(ShapeError::InPart { index: 0, .. })
    ));
    let oval = Shape::Ellipsoid {
        semi_axes: DVec3::ONE,
    };
    assert_eq!(refused(oval), ColliderError::Ellipsoid);
    let normal = DVec3::ZERO;
    assert_eq!(
        refused(ColliderShape::HalfSpace { normal }),
        ColliderError::Normal { normal }
    );
}

#[test]
fn impossible_sheets_and_terrain_are_refused_by_name() {
    let sheet = |triangles: Vec<[u32; 3]>| {
        let vertices = vec![DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::ONE, 2.0 * DVec3::X];
        refused(ColliderShape::Sheet(TriMesh {
            vertices,
            triangles,
        }))
    };
    assert!(matches!(
        sheet(vec![[0, 1, 2], [0, 1, 4]]),
        ColliderError::FlatTriangle { triangle: 1, .. }
    ));
    assert!(matches!(
        sheet(vec![[0, 1, 2], [1, 2, 3]]),
        ColliderError::Winding {
            first: 0,
            second: 1
        }
    ));
    let mut field = HeightField::sample(glam::DVec2::ONE, 4, 4, |_, _| 0.0);
    field.heights[7] = f64::INFINITY;
    assert!(matches!(
        refused(field),
        ColliderError::Terrain(TerrainError::Height {
            row: 1,
            column: 3,
            ..
        })
    ));
}

#[test]
fn impossible_numbers_and_carriers_are_refused_by_name() {
    let build = |change: fn(ColliderDef) -> ColliderDef| {
        let mut builder = ModelBuilder::new();
        builder.collider(change(ColliderDef::new("culprit", World, sphere(1.0))));
        builder
            .build()
            .map(|_| ())
            .map_err(|error| error.to_string())
    };
    let message = |change| build(change).expect_err("refused");
    assert_eq!(build(|c| c), Ok(()));
    for (error, words) in [
        (message(|c| c.margin(-1.0)), "margin is -1"),
        (message(|c| c.at(DVec3::NAN)), "pose"),
        (
            message(|c| c.turned(DQuat::from_xyzw(0.0, 0.0, 0.0, 2.0))),
            "unit length",
        ),
        (
            message(|c| c.surface(Surface::with_friction(f64::NAN))),
            "friction is NaN",
        ),
        (
            message(|c| c.surface(Surface::default().bouncing(2.0))),
            "restitution is 2",
        ),
    ] {
        assert!(
            error.contains("'culprit'") && error.contains(words),
            "{error}"
        );
    }
    let mut other = ModelBuilder::new();
    let stranger = other.body(BodyDef::new("stranger", sphere(1.0), 1.0));
    let mut builder = ModelBuilder::new();
    builder.collider(ColliderDef::new("culprit", stranger, sphere(1.0)));
    assert!(matches!(
        builder.build(),
        Err(ModelError::Collider {
            source: ColliderError::Carrier,
            ..
        })
    ));
    let mut builder = ModelBuilder::new();
    builder.collider(ColliderDef::ground("twice", 0.0));
    builder.collider(ColliderDef::ground("twice", 1.0));
    assert!(matches!(
        builder.build(),
        Err(ModelError::DuplicateName {
            kind: "collider",
            ..
        })
    ));
}
