//! Detection promises the points, normals and gaps of pairs known in closed form.

mod contact_worlds;

use contact_worlds::*;
use vincula::prelude::*;

#[test]
fn two_spheres_touch_at_one_point_between_their_centres() {
    let centers = [DVec3::new(0.1, 0.2, 0.3), DVec3::new(0.7, 1.0, 0.3)];
    let found = pair(
        placed(sphere(0.6), centers[0], DQuat::IDENTITY),
        placed(sphere(0.39), centers[1], DQuat::IDENTITY),
    );
    let [point] = &found.points[..] else {
        panic!("one point, not {}", found.points.len());
    };
    let normal = (centers[1] - centers[0]).normalize();
    near(point.normal, normal, 1e-14);
    assert!((point.gap - 0.01).abs() < 1e-14, "gap {}", point.gap);
    near(point.anchor_a, 0.6 * normal, 1e-14);
    near(point.anchor_b, -0.39 * normal, 1e-14);
    assert_eq!((point.round_a, point.round_b), (0.6, 0.39));
}

#[test]
fn a_box_stands_on_the_ground_on_its_four_lower_corners() {
    let half = DVec3::new(0.5, 0.4, 0.3);
    let found = on_ground(cuboid(half), DVec3::Z * 0.2995, DQuat::IDENTITY);
    assert_eq!(found.points.len(), 4);
    for point in &found.points {
        near(point.normal, DVec3::Z, 1e-14);
        assert!((point.gap + 0.0005).abs() < 1e-14);
        let corner = DVec3::from_array(point.anchor_b);
        assert!((corner.abs() - half).length() < 1e-14 && corner.z < 0.0);
        assert_eq!(point.anchor_a[2], 0.0);
    }
}

#[test]
fn a_small_box_on_a_large_one_touches_with_the_corners_of_its_face() {
    let found = pair(
        placed(
            cuboid(DVec3::new(2.0, 2.0, 0.5)),
            DVec3::ZERO,
            DQuat::IDENTITY,
        ),
        placed(
            cuboid(DVec3::new(0.3, 0.2, 0.1)),
            DVec3::new(0.4, -0.7, 0.601),
            DQuat::from_rotation_z(0.3),
        ),
    );
    assert_eq!(found.points.len(), 4);
    for point in &found.points {
        near(point.normal, DVec3::Z, 1e-12);
        assert!((point.gap - 0.001).abs() < 1e-12);
        let corner = DVec3::from_array(point.anchor_b).abs();
        assert!((corner - DVec3::new(0.3, 0.2, 0.1)).length() < 1e-12);
    }
}

#[test]
fn faces_that_overlap_in_part_touch_at_the_corners_of_the_overlap() {
    let half = DVec3::splat(0.5);
    let found = pair(
        placed(cuboid(half), DVec3::ZERO, DQuat::IDENTITY),
        placed(cuboid(half), DVec3::new(0.6, 0.2, 0.999), DQuat::IDENTITY),
    );
    let mut corners: Vec<_> = found
        .points
        .iter()
        .map(|p| (p.anchor_a[0], p.anchor_a[1]))
        .collect();
    corners.sort_by(|p, q| p.0.total_cmp(&q.0).then(p.1.total_cmp(&q.1)));
    let expected = [(0.1, -0.3), (0.1, 0.5), (0.5, -0.3), (0.5, 0.5)];
    assert_eq!(corners.len(), 4);
    for (got, wanted) in corners.iter().zip(expected) {
        assert!((got.0 - wanted.0).abs() < 1e-12 && (got.1 - wanted.1).abs() < 1e-12);
    }
    assert!(found.points.iter().all(|p| (p.gap + 0.001).abs() < 1e-12));
}

#[test]
fn crossed_edges_touch_at_one_point() {
    let half = DVec3::splat(0.5);
    let quarter = std::f64::consts::FRAC_PI_4;
    let height = 2f64.sqrt() + 0.002;
    let found = pair(
        placed(cuboid(half), DVec3::ZERO, DQuat::from_rotation_x(quarter)),
        placed(
            cuboid(half),
            DVec3::new(0.1, 0.05, height),
            DQuat::from_rotation_y(quarter),
        ),
    );
    let [point] = &found.points[..] else {
        panic!("one point, not {}", found.points.len());
    };
    near(point.normal, DVec3::Z, 1e-12);
    assert!((point.gap - 0.002).abs() < 1e-12);
    // The lower edge runs along x, the upper one along y: they cross at (0.1, 0).
    let low = DQuat::from_rotation_x(quarter) * DVec3::from_array(point.anchor_a);
    assert!(
        (low - DVec3::new(0.1, 0.0, 0.5f64.sqrt())).length() < 1e-12,
        "{low}"
    );
}

#[test]
fn a_lying_capsule_rests_on_both_ends_and_parallel_ones_touch_along_a_line() {
    let capsule = || Shape::Capsule {
        radius: 0.1,
        half_length: 0.4,
    };
    let lying = DQuat::from_rotation_y(std::f64::consts::FRAC_PI_2);
    let found = on_ground(capsule(), DVec3::new(0.0, 0.0, 0.1), lying);
    assert_eq!(found.points.len(), 2);
    for point in &found.points {
        assert!(point.gap.abs() < 1e-12);
        assert!((point.anchor_a[0].abs() - 0.4).abs() < 1e-12);
        assert_eq!(point.round_b, 0.1);
    }
    let found = pair(
        placed(capsule(), DVec3::ZERO, lying),
        placed(capsule(), DVec3::new(0.1, 0.0, 0.201), lying),
    );
    assert_eq!(found.points.len(), 2, "{:?}", found.points);
    for point in &found.points {
        near(point.normal, DVec3::Z, 1e-9);
        assert!((point.gap - 0.001).abs() < 1e-9);
    }
    let span = (found.points[0].anchor_a[2] - found.points[1].anchor_a[2]).abs();
    assert!(
        (span - 0.7).abs() < 1e-9,
        "the common length is 0.7, not {span}"
    );
}

#[test]
fn crossed_capsules_touch_across_both_axes() {
    let capsule = || Shape::Capsule {
        radius: 0.1,
        half_length: 0.4,
    };
    let quarter = std::f64::consts::FRAC_PI_2;
    let found = pair(
        placed(capsule(), DVec3::ZERO, DQuat::from_rotation_y(quarter)),
        placed(
            capsule(),
            DVec3::new(0.1, 0.2, -0.19),
            DQuat::from_rotation_x(quarter),
        ),
    );
    let [point] = &found.points[..] else {
        panic!("one point, not {}", found.points.len());
    };
    near(point.normal, -DVec3::Z, 1e-12);
    assert!((point.gap + 0.01).abs() < 1e-12);
}

#[test]
fn a_cylinder_stands_on_four_points_and_lies_on_two() {
    let cylinder = || Shape::Cylinder {
        radius: 0.3,
        half_length: 0.5,
    };
    let standing = on_ground(cylinder(), DVec3::Z * 0.5, DQuat::from_rotation_z(0.4));
    assert_eq!(standing.points.len(), 4);
    for point in &standing.points {
        let [x, y, z] = point.anchor_b;
        assert!(point.gap.abs() < 1e-12 && (z + 0.5).abs() < 1e-12);
        assert!((x.hypot(y) - 0.3).abs() < 1e-12);
    }
    let quarter = std::f64::consts::FRAC_PI_2;
    let lying = on_ground(cylinder(), DVec3::Z * 0.3, DQuat::from_rotation_y(quarter));
    assert_eq!(lying.points.len(), 2);
    for point in &lying.points {
        assert!(point.gap.abs() < 1e-12);
        assert!((point.anchor_b[2].abs() - 0.5).abs() < 1e-12);
        assert_eq!(point.round_b, 0.3);
    }
    let tilted = on_ground(cylinder(), DVec3::Z * 0.72, DQuat::from_rotation_y(1.0));
    let low = 0.72 - 0.5 * 1f64.cos() - 0.3 * 1f64.sin();
    assert!(tilted.points.is_empty() == (low > 0.015), "lowest {low}");
}

#[test]
fn a_cylinder_on_a_box_stands_and_lies_as_on_the_ground() {
    let floor = || {
        placed(
            cuboid(DVec3::new(2.0, 2.0, 0.5)),
            DVec3::Z * -0.5,
            DQuat::IDENTITY,
        )
    };
    let cylinder = || Shape::Cylinder {
        radius: 0.3,
        half_length: 0.5,
    };
    for gap in [0.002, -0.002] {
        let at = DVec3::Z * (0.5 + gap);
        let standing = pair(floor(), placed(cylinder(), at, DQuat::IDENTITY));
        assert!(
            standing.points.len() >= 3,
            "gap {gap}: {}",
            standing.points.len()
        );
        let mut sum = DVec3::ZERO;
        for point in &standing.points {
            near(point.normal, DVec3::Z, 1e-6);
            assert!((point.gap - gap).abs() < 1e-6, "{} is not {gap}", point.gap);
            sum += DVec3::from_array(point.anchor_b);
        }
        assert!(
            sum.truncate().length() < 0.3,
            "the centre is over the points"
        );
        let quarter = std::f64::consts::FRAC_PI_2;
        let at = DVec3::Z * (0.3 + gap);
        let lying = pair(
            floor(),
            placed(cylinder(), at, DQuat::from_rotation_y(quarter)),
        );
        assert!(lying.points.len() >= 2, "gap {gap}: {:?}", lying.points);
        let ends = lying.points.iter().map(|p| p.anchor_b[2]);
        let (low, high) = ends.fold((0.0f64, 0.0f64), |(l, h), z| (l.min(z), h.max(z)));
        assert!(low < -0.49 && high > 0.49, "from {low} to {high}");
        for point in &lying.points {
            near(point.normal, DVec3::Z, 1e-5);
            assert!((point.gap - gap).abs() < 1e-5, "{} is not {gap}", point.gap);
        }
    }
}

#[test]
fn a_cone_rests_on_its_base_or_on_its_side() {
    let cone = || Shape::Cone {
        radius: 0.3,
        half_length: 0.4,
    };
    // The centre of mass of a cone is a quarter of its height over the base, and the shape's
    // frame is at mid-height.
    let standing = on_ground(cone(), DVec3::Z * 0.4, DQuat::IDENTITY);
    assert_eq!(standing.points.len(), 4);
    // On its side, apex and rim touch: the side leans atan(0.3 / 0.8) against the axis.
    let lean = std::f64::consts::FRAC_PI_2 + (0.3f64 / 0.8).atan();
    let turned = DQuat::from_rotation_y(lean);
    let apex = (turned * DVec3::Z * 0.4).z;
    let lying = on_ground(cone(), DVec3::Z * -apex, turned);
    assert_eq!(lying.points.len(), 2, "{:?}", lying.points);
    assert!(lying.points.iter().all(|p| p.gap.abs() < 1e-12));
}

#[test]
fn a_hull_stands_on_the_corners_of_its_face() {
    let points = vec![
        DVec3::new(1.0, 0.0, 0.0),
        DVec3::new(-0.5, 0.8, 0.0),
        DVec3::new(-0.5, -0.8, 0.0),
        DVec3::new(0.0, 0.0, 1.2),
        DVec3::new(0.0, 0.0, 0.3),
    ];
    let found = on_ground(Shape::ConvexHull { points }, DVec3::ZERO, DQuat::IDENTITY);
    assert_eq!(found.points.len(), 3);
    assert!(found.points.iter().all(|p| p.gap.abs() < 1e-12));
}

/// A static floor of triangles, `cells` by `cells` over 4 m by 4 m, and one body.
fn on_sheet(cells: usize, slope: f64, shape: Shape, at: DVec3, turned: DQuat) -> (Model, f64) {
    let size = glam::DVec2::splat(4.0);
    let field = vincula::contact::HeightField::sample(size, cells + 1, cells + 1, |x, _| slope * x);
    let mut builder = ModelBuilder::new();
    builder.gravity(DVec3::ZERO);
    builder.collider(ColliderDef::new("floor", World, field).margin(0.005));
    let body = builder.body(
        BodyDef::new("body", shape.clone(), 1000.0)
            .at(at)
            .turned(turned),
    );
    builder.collider(ColliderDef::new("body", body, shape).margin(0.005));
    (builder.build().expect("a sound model"), slope.atan())
}

#[test]
fn a_sphere_on_a_height_field_feels_the_plane_and_not_its_triangles() {
    for slope in [0.0, 0.3] {
        // Over the middle of a triangle, over an edge, over a corner.
        for x in [0.13, 0.25, 0.0, 0.5] {
            let angle = f64::atan(slope);
            let up = DVec3::new(-angle.sin(), 0.0, angle.cos());
            let at = DVec3::new(x, 0.1, slope * x) + 0.201 * up;
            let (model, _) = on_sheet(8, slope, sphere(0.2), at, DQuat::IDENTITY);
            let found = found(&model);
            assert!(!found.points.is_empty(), "slope {slope}, x {x}");
            for point in &found.points {
                near(point.normal, up, 1e-9);
                assert!((point.gap - 0.001).abs() < 1e-9, "gap {}", point.gap);
            }
            assert_eq!(found.points.len(), 1, "slope {slope}, x {x}");
        }
    }
}

#[test]
fn a_box_on_a_height_field_touches_with_its_corners() {
    let half = DVec3::new(0.7, 0.6, 0.2);
    let turned = DQuat::from_rotation_z(0.2);
    for gap in [0.001, -0.001] {
        let at = DVec3::new(0.07, 0.03, 0.2 + gap);
        let (model, _) = on_sheet(16, 0.0, cuboid(half), at, turned);
        let found = found(&model);
        for point in &found.points {
            near(point.normal, DVec3::Z, 1e-9);
            assert!((point.gap - gap).abs() < 1e-9, "gap {}", point.gap);
        }
        assert_eq!(found.points.len(), 4);
        for point in &found.points {
            let corner = DVec3::from_array(point.anchor_b).abs();
            assert!((corner - half).length() < 1e-9, "{corner}");
        }
    }
}

#[test]
fn a_compound_touches_with_each_part() {
    let part = |x: f64| vincula::body::shape::Part::new(sphere(0.2)).at(DVec3::X * x);
    let dumbbell = Shape::Compound(vec![part(-0.5), part(0.7)]);
    let found = on_ground(dumbbell, DVec3::Z * 0.199, DQuat::IDENTITY);
    assert_eq!(found.points.len(), 2);
    let mut across: Vec<_> = found.points.iter().map(|p| p.anchor_a[0]).collect();
    across.sort_by(f64::total_cmp);
    assert!((across[0] + 0.5).abs() < 1e-12 && (across[1] - 0.7).abs() < 1e-12);
    assert!(found.points.iter().all(|p| (p.gap + 0.001).abs() < 1e-12));
}
