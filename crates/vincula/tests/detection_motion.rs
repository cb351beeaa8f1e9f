//! Detection promises that nothing tunnels, that only motion relative to each other counts,
//! and the same bits every time.

mod contact_worlds;

use contact_worlds::*;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use vincula::contact::{ContactPoint, Contacts, detect};
use vincula::prelude::*;

/// A bullet of 1 cm at 100 m/s, 0.3 m before a plate of 1 cm, coming in at an angle.
fn bullet(shape: Shape, angle: f64, plate: ColliderShape) -> Model {
    let mut builder = ModelBuilder::new();
    builder.collider(ColliderDef::new("plate", World, plate));
    let toward = DVec3::new(angle.sin(), 0.0, -angle.cos());
    builder.body(
        BodyDef::new("bullet", shape, 8000.0)
            .at(-0.3 * toward)
            .moving(100.0 * toward, DVec3::ZERO)
            .colliding(Surface::default()),
    );
    builder.build().expect("a sound model")
}

fn plates() -> [(&'static str, ColliderShape); 3] {
    let solid = cuboid(DVec3::new(2.0, 2.0, 0.005));
    let corners = [(-2.0, -2.0), (2.0, -2.0), (2.0, 2.0), (-2.0, 2.0)];
    let sheet = vincula::body::shape::TriMesh {
        vertices: corners.map(|(x, y)| DVec3::new(x, y, 0.005)).to_vec(),
        triangles: vec![[0, 1, 2], [0, 2, 3]],
    };
    [
        ("box", solid.into()),
        ("sheet", ColliderShape::Sheet(sheet)),
        ("ground", ColliderShape::GROUND),
    ]
}

#[test]
fn a_bullet_meets_a_thin_plate_far_ahead() {
    let h = 0.01;
    for (what, plate) in plates() {
        for angle in [0.0, 0.4, 1.0] {
            for shape in [sphere(0.005), cuboid(DVec3::splat(0.005))] {
                let model = bullet(shape, angle, plate.clone());
                let state = model.initial_state();
                let found = found_at(&model, &state, h);
                assert!(!found.points.is_empty(), "{what} at {angle}");
                for point in &found.points {
                    near(point.normal, DVec3::Z, 1e-6);
                    let face = if what == "ground" { 0.0 } else { 0.005 };
                    let bottom = state.center(model.find_body("bullet").unwrap()).z - 0.005;
                    let error = point.gap - (bottom - face);
                    assert!(error.abs() < 1e-9, "{what} at {angle}: off by {error:e}");
                    // Without a push the next step would end far on the other side.
                    let ahead = point.gap - h * 100.0 * angle.cos();
                    assert!(ahead < -0.1);
                }
            }
        }
    }
}

/// Two spheres of 1 cm that fly at each other at 100 m/s each, one aside by `offset`.
fn duel(offset: f64) -> Contacts {
    let mut builder = ModelBuilder::new();
    builder.gravity(DVec3::ZERO);
    for (name, x, y) in [("left", -0.5, 0.0), ("right", 0.5, offset)] {
        builder.body(
            BodyDef::new(name, sphere(0.005), 8000.0)
                .at(DVec3::new(x, y, 0.0))
                .moving(DVec3::X * -x * 200.0, DVec3::ZERO)
                .colliding(Surface::default()),
        );
    }
    found(&builder.build().expect("a sound model"))
}

#[test]
fn bullets_that_hit_each_other_meet_and_those_that_pass_do_not() {
    let hit = duel(0.006);
    assert_eq!(hit.points.len(), 1);
    // At the impact the centres are 0.01 m apart, 0.006 of it across.
    near(hit.points[0].normal, DVec3::new(0.8, 0.6, 0.0), 0.02);
    assert_eq!(duel(0.05).points.len(), 0);
}

#[test]
fn a_frame_moved_by_the_user_carries_its_velocity() {
    let mut builder = ModelBuilder::new();
    let belt = builder.frame("belt", Pose::IDENTITY);
    let slab = cuboid(DVec3::new(2.0, 1.0, 0.1));
    builder.collider(ColliderDef::new("belt", belt, slab).at(DVec3::Z * -0.1));
    let load = builder.body(
        BodyDef::new("load", cuboid(DVec3::splat(0.2)), 500.0)
            .at(DVec3::new(0.5, 0.0, 0.2))
            .colliding(Surface::default()),
    );
    let model = builder.build().expect("a sound model");
    let mut control = Control::new(&model);
    let turning = FrameMotion {
        pose: Pose::IDENTITY,
        twist: Twist {
            linear: DVec3::X * 1.5,
            angular: DVec3::Z * 2.0,
        },
    };
    assert!(control.move_frame(belt, turning));
    let mut contacts = Contacts::new();
    let state = model.initial_state();
    detect(&model, &state, &control, 0.01, &mut contacts);
    check(&model, &state, &contacts.points);
    assert_eq!(contacts.points.len(), 4);
    for point in &contacts.points {
        assert_eq!((point.a, point.b), (None, Some(load)));
        let place = DVec3::from_array(point.anchor_a);
        let belt_velocity = DVec3::X * 1.5 + 2.0 * DVec3::Z.cross(place);
        near(point.surface_velocity, -belt_velocity, 1e-12);
    }
    // A frame that runs into a body at high speed is seen ahead, too.
    let ram = FrameMotion {
        pose: Pose::at(DVec3::new(0.0, 0.0, -3.0)),
        twist: Twist {
            linear: DVec3::Z * 400.0,
            angular: DVec3::ZERO,
        },
    };
    assert!(control.move_frame(belt, ram));
    detect(&model, &state, &control, 0.01, &mut contacts);
    assert!(!contacts.points.is_empty());
    assert!(contacts.points.iter().all(|p| (p.gap - 3.0).abs() < 1e-6));
    let nowhere = FrameMotion {
        pose: Pose::at(DVec3::NAN),
        ..ram
    };
    assert!(!control.move_frame(belt, nowhere));
    assert_eq!(control.frame(belt), ram);
}

/// Shapes of every kind, about half a metre large.
fn shape_of_kind(kind: usize) -> Shape {
    let (radius, half_length) = (0.25, 0.4);
    match kind {
        0 => sphere(0.4),
        1 => cuboid(DVec3::new(0.4, 0.3, 0.5)),
        2 => Shape::Capsule {
            radius,
            half_length,
        },
        3 => Shape::Cylinder {
            radius,
            half_length,
        },
        4 => Shape::Cone {
            radius,
            half_length,
        },
        _ => Shape::ConvexHull {
            points: vec![
                DVec3::new(0.5, 0.0, -0.2),
                DVec3::new(-0.4, 0.4, -0.2),
                DVec3::new(-0.3, -0.5, -0.3),
                DVec3::new(0.1, 0.0, 0.5),
            ],
        },
    }
}

fn rotation() -> impl Strategy<Value = DQuat> {
    prop::array::uniform4(-1.0..1.0f64)
        .prop_filter("a direction", |q| {
            q.iter().map(|x| x * x).sum::<f64>() > 0.01
        })
        .prop_map(|[x, y, z, w]| DQuat::from_xyzw(x, y, z, w).normalize())
}

fn vector(size: f64) -> impl Strategy<Value = DVec3> {
    prop::array::uniform3(-size..size).prop_map(DVec3::from_array)
}

/// The deepest gap and its normal.
fn deepest(points: &[ContactPoint]) -> Option<(f64, DVec3)> {
    let deepest = points.iter().min_by(|p, q| p.gap.total_cmp(&q.gap))?;
    Some((deepest.gap, DVec3::from_array(deepest.normal)))
}

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        failure_persistence: None,
        // The search for the distance, a reference only, stops short of it once in some
        // thousand pairs; the same pairs every time.
        rng_seed: RngSeed::Fixed(20_260_101),
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config(300))]

    /// The same pair seen from elsewhere has the same gap, and the normal turns with it.
    #[test]
    fn detection_does_not_depend_on_where_and_how_the_world_stands(
        kinds in prop::array::uniform2(0..6usize),
        turns in prop::array::uniform2(rotation()),
        offset in vector(1.0),
        moved in vector(5.0),
        turned in rotation(),
    ) {
        let bodies = |frame: Pose| {
            let [one, two] = [(0, DVec3::ZERO), (1, offset)].map(|(k, at)| {
                let pose = frame.compose(&Pose { translation: at, rotation: turns[k] });
                (shape_of_kind(kinds[k]), pose)
            });
            pair(one, two)
        };
        let frame = Pose { translation: moved, rotation: turned };
        let (here, there) = (bodies(Pose::IDENTITY), bodies(frame));
        let (here, there) = (deepest(&here.points), deepest(&there.points));
        // Near the edge of what is reported, one may see it and the other not.
        if let (Some((gap, normal)), Some((moved_gap, moved_normal))) = (here, there) {
            let close = 1e-5 + 1e-3 * gap.abs();
            prop_assert!((gap - moved_gap).abs() < close, "{gap} and {moved_gap}");
            if gap.abs() > 1e-3 {
                prop_assert!((turned * normal - moved_normal).length() < 2e-2,
                    "{} and {moved_normal}", turned * normal);
            }
        } else {
            let seen = here.or(there);
            prop_assert!(seen.is_none_or(|(gap, _)| gap > 0.02 - 1e-5), "{seen:?}");
        }
    }

    /// Exchanging the two bodies exchanges the sides and reverses the normal.
    #[test]
    fn detection_is_the_same_from_both_sides(
        kinds in prop::array::uniform2(0..6usize),
        turns in prop::array::uniform2(rotation()),
        offset in vector(1.0),
    ) {
        let one = placed(shape_of_kind(kinds[0]), DVec3::ZERO, turns[0]);
        let two = placed(shape_of_kind(kinds[1]), offset, turns[1]);
        let (forth, back) = (pair(one.clone(), two.clone()), pair(two, one));
        if let (Some((gap, normal)), Some((other_gap, other_normal))) =
            (deepest(&forth.points), deepest(&back.points))
        {
            let close = 1e-5 + 1e-3 * gap.abs();
            prop_assert!((gap - other_gap).abs() < close, "{gap} and {other_gap}");
            if gap.abs() > 1e-3 {
                prop_assert!((normal + other_normal).length() < 2e-2);
            }
        }
    }
}

/// The farthest a shape at a pose reaches along a direction, m.
fn support(shape: &Shape, pose: &Pose, direction: DVec3) -> f64 {
    let d = pose.rotation.inverse() * direction;
    let across = d.truncate().length();
    let own = match shape {
        Shape::Sphere { radius } => *radius,
        Shape::Box { half_extents } => half_extents.dot(d.abs()),
        Shape::Capsule {
            radius,
            half_length,
        } => radius + half_length * d.z.abs(),
        Shape::Cylinder {
            radius,
            half_length,
        } => radius * across + half_length * d.z.abs(),
        Shape::Cone {
            radius,
            half_length,
        } => f64::max(half_length * d.z, radius * across - half_length * d.z),
        Shape::ConvexHull { points } => points
            .iter()
            .map(|p| p.dot(d))
            .fold(f64::NEG_INFINITY, f64::max),
        _ => unreachable!("not among the kinds"),
    };
    own + direction.dot(pose.translation)
}

/// How far two shapes are apart along a direction; the largest over all of them is their
/// distance, or minus the depth of their overlap.
fn apart(one: &(Shape, Pose), two: &(Shape, Pose), direction: DVec3) -> f64 {
    -support(&one.0, &one.1, direction) - support(&two.0, &two.1, -direction)
}

/// The largest of `apart`, by a search over the sphere that closes in.
fn farthest_apart(one: &(Shape, Pose), two: &(Shape, Pose)) -> f64 {
    let mut best = (f64::NEG_INFINITY, DVec3::Z);
    let count = 2000;
    for k in 0..count {
        let z = 1.0 - (2.0 * f64::from(k) + 1.0) / f64::from(count);
        let turn = 2.399963 * f64::from(k);
        let level = (1.0 - z * z).sqrt();
        let direction = DVec3::new(level * turn.cos(), level * turn.sin(), z);
        let value = apart(one, two, direction);
        if value > best.0 {
            best = (value, direction);
        }
    }
    let mut width = 0.1;
    while width > 1e-7 {
        let (x, y) = best.1.any_orthonormal_pair();
        let before = best.0;
        for k in 0..60 {
            let (sin, cos) = (f64::from(k) * 0.10472).sin_cos();
            let direction = (best.1 + width * (cos * x + sin * y)).normalize();
            let value = apart(one, two, direction);
            if value > best.0 {
                best = (value, direction);
            }
        }
        if best.0 == before {
            width *= 0.7;
        }
    }
    best.0
}

proptest! {
    #![proptest_config(config(300))]

    /// The deepest gap is the distance, found by a search over all directions. Where shapes
    /// overlap there may be a direction in which they overlap less, yet not by very much.
    #[test]
    fn gaps_are_distances_and_depths(
        kinds in prop::array::uniform2(0..6usize),
        turns in prop::array::uniform2(rotation()),
        direction in vector(1.0),
        gap in -0.03..0.01f64,
    ) {
        let direction = direction.try_normalize().unwrap_or(DVec3::X);
        let one = placed(shape_of_kind(kinds[0]), DVec3::ZERO, turns[0]);
        let mut two = placed(shape_of_kind(kinds[1]), DVec3::ZERO, turns[1]);
        // Along this direction they are `gap` apart; the true distance is not smaller.
        two.1.translation = direction * (gap - apart(&one, &two, direction));
        let exact = farthest_apart(&one, &two);
        let found = pair(one.clone(), two.clone());
        let Some((depth, normal)) = deepest(&found.points) else {
            // The search may stop a little short of the distance.
            prop_assert!(exact > 0.02 - 5e-4, "nothing found at {exact}");
            return Ok(());
        };
        let along = apart(&one, &two, normal);
        prop_assert!((depth - along).abs() < 2e-3, "{depth} found, {along} along it, {exact}");
        let worse = 4e-3 + 1.5 * f64::max(0.0, -exact);
        prop_assert!(along > exact - worse, "{along} along the normal, {exact} at best");
    }
}

/// A heap of bodies of every kind in a small space, moving about.
fn heap(count: usize) -> Model {
    let mut builder = ModelBuilder::new();
    builder.collider(ColliderDef::ground("ground", -1.0));
    for k in 0..count {
        let t = k as f64;
        let at = 1.2 * DVec3::new((1.3 * t).sin(), (2.1 * t).cos(), (0.7 * t).sin());
        builder.body(
            BodyDef::new(format!("body {k}"), shape_of_kind(k % 6), 1000.0)
                .at(at)
                .turned(DQuat::from_scaled_axis(DVec3::new(t, 0.3 * t, 1.0)))
                .moving(-at, DVec3::new(0.0, t.sin(), t.cos()))
                .colliding(Surface::default()),
        );
    }
    builder.build().expect("a sound model")
}

#[test]
fn the_same_world_gives_the_same_bits_whatever_was_detected_before() {
    let (model, other) = (heap(40), heap(23));
    let fresh = found(&model);
    assert!(fresh.points.len() > 100, "only {}", fresh.points.len());
    let mut reused = Contacts::new();
    for world in [&other, &model] {
        let state = world.initial_state();
        detect(world, &state, &Control::new(world), 0.01, &mut reused);
    }
    assert_eq!(fresh.points, reused.points);
}

#[test]
fn points_keep_their_names_while_a_body_slides() {
    let mut builder = ModelBuilder::new();
    builder.collider(ColliderDef::new(
        "floor",
        World,
        cuboid(DVec3::new(3.0, 3.0, 0.5)),
    ));
    let body = builder.body(
        BodyDef::new("slider", cuboid(DVec3::splat(0.2)), 500.0)
            .at(DVec3::Z * 0.7)
            .colliding(Surface::default()),
    );
    let model = builder.build().expect("a sound model");
    let mut state = model.initial_state();
    let names = |state: &State| -> Vec<u64> {
        found_at(&model, state, 0.01)
            .points
            .iter()
            .map(|p| p.feature)
            .collect()
    };
    let first = names(&state);
    assert_eq!(first.len(), 4);
    for k in 1..50 {
        let t = f64::from(k) * 0.02;
        let pose = Pose {
            translation: DVec3::new(t, 0.3 * t, 0.7 - 1e-4 * t.sin()),
            rotation: DQuat::from_rotation_z(0.5 * t),
        };
        state.set_pose(&model, body, pose);
        assert_eq!(names(&state), first, "after {k} moves");
    }
}

/// A box that comes over a ridge lies behind the plane of the other side before, but it is not inside of
/// anything.
#[test]
fn what_is_apart_is_not_found_inside_of_what_lies_ahead() {
    let field = vincula::contact::HeightField::sample(glam::DVec2::splat(1.0), 5, 5, |x, y| {
        0.5 * (x * x + y * y)
    });
    let mut builder = ModelBuilder::new();
    builder.gravity(DVec3::ZERO);
    builder.collider(ColliderDef::new("bowl", World, field));
    let solid = BodyDef::new("box", cuboid(DVec3::new(0.09, 0.04, 0.04)), 1000.0);
    let body = builder.body(solid.colliding(Surface::default()));
    let model = builder.build().expect("a sound model");
    let mut seed = 1u64;
    let mut draw = || {
        seed = seed
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (seed >> 33) as f64 / (1u64 << 30) as f64 - 1.0
    };
    let mut apart = 0;
    for _ in 0..20_000 {
        let mut state = model.initial_state();
        let (x, y) = (0.3 * draw(), 0.3 * draw());
        let translation = DVec3::new(x, y, 0.5 * (x * x + y * y) + 0.06 + 0.03 * draw());
        let turned = DVec3::new(draw(), draw(), draw());
        let rotation = DQuat::from_scaled_axis(3.0 * turned);
        state.set_pose(
            &model,
            body,
            Pose {
                translation,
                rotation,
            },
        );
        let speed = 2.0 * draw().abs();
        let linear = speed * DVec3::new(draw(), draw(), draw());
        let angular = 3.0 * DVec3::new(draw(), draw(), draw());
        state.set_twist(&model, body, Twist { linear, angular });
        if found_at(&model, &state, 1e-9).penetration() > 0.0 {
            continue;
        }
        let found = found_at(&model, &state, 0.01);
        apart += usize::from(!found.points.is_empty());
        let depth = found.penetration();
        assert!(depth < 1e-9, "{depth} m deep after {apart}");
    }
    // Else it would say little.
    assert!(apart > 500, "{apart}");
}
