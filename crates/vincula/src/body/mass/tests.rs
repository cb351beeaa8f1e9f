//! Closed forms against meshes, meshes against each other, and what is refused.

use approx::assert_relative_eq;
use glam::{DMat3, DQuat, DVec3, EulerRot};

use super::*;
use crate::body::shape::{Part, ShapeError, TriMesh};
use crate::body::tessellate::tessellate;

mod properties;
mod refusals;

const HALF: DVec3 = DVec3::new(0.3, 0.5, 0.2);
const RADIUS: f64 = 0.3;
const HALF_LENGTH: f64 = 0.7;

fn cuboid(half_extents: DVec3) -> Shape {
    Shape::Box { half_extents }
}

fn mesh_of(shape: &Shape, segments: usize) -> TriMesh {
    tessellate(shape, segments).unwrap()
}

fn turn(angles: [f64; 3]) -> DQuat {
    DQuat::from_euler(EulerRot::XYZ, angles[0], angles[1], angles[2])
}

fn properties_of(shape: &Shape) -> MassProperties {
    MassProperties::from_shape(shape, 700.0).unwrap()
}

/// Largest difference of all properties, each relative to its own scale.
fn difference(a: &MassProperties, b: &MassProperties) -> f64 {
    let size = (a.second_moments.max_element() / a.mass).sqrt();
    let tensors = a.inertia_tensor() - b.inertia_tensor();
    let entries = tensors.to_cols_array().map(f64::abs);
    let largest = entries.into_iter().fold(0.0, f64::max);
    [
        (a.mass - b.mass).abs() / a.mass,
        (a.volume - b.volume).abs() / a.volume,
        (a.center - b.center).length() / size,
        largest / a.inertia().max_element(),
    ]
    .into_iter()
    .fold(0.0, f64::max)
}

/// Mass, first and second moments about the origin, in one row.
fn row(p: &MassProperties) -> [f64; 7] {
    let s = p.second_moment_matrix() + moments::outer(p.center) * p.mass;
    let c = p.center * p.mass;
    [p.mass, c.x, c.y, c.z, s.x_axis.x, s.y_axis.y, s.z_axis.z]
}

#[test]
fn closed_forms_are_the_limits_of_their_tessellations() {
    let round = [
        Shape::Sphere { radius: RADIUS },
        Shape::Ellipsoid { semi_axes: HALF },
        Shape::Capsule {
            radius: RADIUS,
            half_length: HALF_LENGTH,
        },
        Shape::Cylinder {
            radius: RADIUS,
            half_length: HALF_LENGTH,
        },
        Shape::Cone {
            radius: RADIUS,
            half_length: HALF_LENGTH,
        },
    ];
    for shape in round {
        let inscribed = |n| row(&properties_of(&Shape::Mesh(mesh_of(&shape, n))));
        let rows = [inscribed(64), inscribed(128), inscribed(256)];
        let exact = row(&properties_of(&shape));
        for i in 0..7 {
            let limit = extrapolate(rows.map(|row| row[i]));
            let scale = if (1..4).contains(&i) { 0 } else { i };
            let error = (limit - exact[i]).abs() / exact[scale];
            assert!(error < 1e-8, "{shape:?}: quantity {i} off by {error:e}");
        }
    }
}

/// The limit of a series whose error is even in 1/n, from n, 2n and 4n (Romberg).
fn extrapolate([coarse, middle, fine]: [f64; 3]) -> f64 {
    let once = |a: f64, b: f64| (4.0 * b - a) / 3.0;
    (16.0 * once(middle, fine) - once(coarse, middle)) / 15.0
}

#[test]
fn known_values_of_primitives() {
    let ball = MassProperties::from_shape(&Shape::Sphere { radius: 2.0 }, 3.0).unwrap();
    let mass = 3.0 * 32.0 / 3.0 * std::f64::consts::PI;
    assert_relative_eq!(ball.mass, mass, max_relative = 1e-15);
    assert_relative_eq!(ball.inertia().x, 0.4 * mass * 4.0, max_relative = 1e-15);

    // Solid cone about its centre: 3/80 m (4r² + H²) across, 3/10 m r² along.
    let cone = properties_of(&Shape::Cone {
        radius: 2.0,
        half_length: 1.5,
    });
    let across = 3.0 / 80.0 * cone.mass * (4.0 * 4.0 + 9.0);
    assert_relative_eq!(cone.inertia().x, across, max_relative = 1e-15);
    assert_relative_eq!(
        cone.inertia().z,
        0.3 * cone.mass * 4.0,
        max_relative = 1e-15
    );
    assert_eq!(cone.center, DVec3::new(0.0, 0.0, -0.75));

    // Solid cylinder: m (3r² + L²)/12 across, m r²/2 along.
    let cylinder = properties_of(&Shape::Cylinder {
        radius: 2.0,
        half_length: 1.5,
    });
    let across = cylinder.mass * (3.0 * 4.0 + 9.0) / 12.0;
    assert_relative_eq!(cylinder.inertia().y, across, max_relative = 1e-15);
    assert_relative_eq!(
        cylinder.inertia().z,
        2.0 * cylinder.mass,
        max_relative = 1e-15
    );
}

#[test]
fn a_vanishing_cylinder_turns_a_capsule_into_a_ball() {
    let capsule = properties_of(&Shape::Capsule {
        radius: RADIUS,
        half_length: 1e-15,
    });
    let ball = properties_of(&Shape::Sphere { radius: RADIUS });
    assert!(difference(&capsule, &ball) < 1e-13);
}

#[test]
fn a_unit_tetrahedron_has_its_textbook_moments() {
    let tetrahedron = TriMesh {
        vertices: vec![DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z],
        triangles: vec![[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]],
    };
    let p = MassProperties::from_shape(&Shape::Mesh(tetrahedron), 6.0).unwrap();
    assert_relative_eq!(p.mass, 1.0, max_relative = 1e-15);
    assert!((p.center - DVec3::splat(0.25)).length() < 1e-15);
    // ∫x² = 1/60 and ∫xy = 1/120 per volume element of density 1.
    let about_origin = p.second_moment_matrix() + moments::outer(p.center);
    assert_relative_eq!(about_origin.x_axis.x, 0.1, max_relative = 1e-14);
    assert_relative_eq!(about_origin.x_axis.y, 0.05, max_relative = 1e-14);
}

#[test]
fn a_box_keeps_its_frame() {
    for half in [HALF, DVec3::new(0.2, 0.2, 0.2), DVec3::new(0.9, 0.1, 0.9)] {
        let exact = properties_of(&cuboid(half));
        let mesh = properties_of(&Shape::Mesh(mesh_of(&cuboid(half), 0)));
        for p in [&exact, &mesh] {
            assert_eq!(p.axes, DQuat::IDENTITY);
            let expected = half * half / 3.0 * p.mass;
            assert!((p.second_moments - expected).abs().max_element() < 1e-12);
        }
        assert!(difference(&exact, &mesh) < 1e-14);
    }
}

#[test]
fn a_mesh_far_from_the_origin_loses_only_the_digits_of_its_coordinates() {
    let away = DVec3::new(1000.0, -2000.0, 500.0);
    let near = properties_of(&cuboid(HALF)).placed(away, DQuat::IDENTITY);
    let moved = mesh_of(&cuboid(HALF), 0).placed(away, DQuat::IDENTITY);
    let error = difference(&near, &properties_of(&Shape::Mesh(moved)));
    assert!(error < 5e-12, "{error:e}");
}

#[test]
fn the_hull_of_a_box_and_points_within_is_the_box() {
    let mut points = mesh_of(&cuboid(HALF), 0).vertices;
    points.extend([DVec3::ZERO, HALF * 0.5, HALF * DVec3::X, HALF * 0.999]);
    let hull = properties_of(&Shape::ConvexHull { points });
    assert!(difference(&properties_of(&cuboid(HALF)), &hull) < 1e-14);
}

#[test]
fn two_half_boxes_make_a_box() {
    let half = cuboid(HALF * DVec3::new(0.5, 1.0, 1.0));
    let offset = DVec3::X * 0.5 * HALF.x;
    // The second half is turned upside down, which a box does not notice.
    let left = Part::new(half.clone()).at(-offset);
    let right = Part::new(half)
        .at(offset)
        .rotated(DQuat::from_rotation_x(std::f64::consts::PI));
    let whole = properties_of(&Shape::Compound(vec![left, right]));
    assert!(difference(&properties_of(&cuboid(HALF)), &whole) < 1e-14);
}

#[test]
fn the_upper_half_of_a_cone_is_a_similar_cone() {
    let cone = |radius, half_length| Shape::Cone {
        radius,
        half_length,
    };
    let whole = row(&properties_of(&cone(0.4, 0.6)));
    let tip = properties_of(&cone(0.2, 0.3)).placed(DVec3::Z * 0.3, DQuat::IDENTITY);
    let tip = row(&tip);
    assert_relative_eq!(tip[0], whole[0] / 8.0, max_relative = 1e-15);
    // Similar about the apex at z = 0.6: second moments scale by 2⁵.
    let about_apex = |r: [f64; 7]| r[6] - 1.2 * r[3] + 0.36 * r[0];
    assert_relative_eq!(
        about_apex(tip),
        about_apex(whole) / 32.0,
        max_relative = 1e-13
    );
}

#[test]
fn relative_density_scales_a_part() {
    let ball = Shape::Sphere { radius: RADIUS };
    let part = Part::new(ball.clone()).with_relative_density(2.5);
    let dense = properties_of(&Shape::Compound(vec![part]));
    let expected = MassProperties::from_shape(&ball, 1750.0).unwrap();
    assert!(difference(&dense, &expected) < 1e-15);
}

#[test]
fn combining_bodies_equals_the_compound() {
    let (ball, block) = (Shape::Sphere { radius: RADIUS }, cuboid(HALF));
    let (place, rotation) = (DVec3::new(1.0, -0.4, 0.2), turn([0.3, 0.8, -2.0]));
    let bodies = [
        properties_of(&ball),
        properties_of(&block).placed(place, rotation),
    ];
    let parts = vec![
        Part::new(ball),
        Part::new(block).at(place).rotated(rotation),
    ];
    let compound = properties_of(&Shape::Compound(parts));
    let combined = MassProperties::combine(&bodies).unwrap();
    assert!(difference(&compound, &combined) < 1e-14);
    assert_eq!(MassProperties::combine(&[]), Err(MassError::NoBodies));
}

#[test]
fn the_tensor_about_a_point_follows_steiner() {
    let rod = properties_of(&cuboid(DVec3::new(0.01, 0.01, 1.0)));
    let end = rod.inertia_tensor_about(DVec3::Z);
    assert_relative_eq!(
        end.x_axis.x,
        rod.inertia().x + rod.mass,
        max_relative = 1e-14
    );
    assert_relative_eq!(end.z_axis.z, rod.inertia().z, max_relative = 1e-14);
}

#[test]
fn with_mass_scales_and_keeps_the_form() {
    let p = properties_of(&cuboid(HALF));
    let heavy = p.with_mass(3.0 * p.mass).unwrap();
    assert_relative_eq!(heavy.density(), 2100.0, max_relative = 1e-14);
    let ratio = heavy.inertia() / p.inertia();
    assert!((ratio - DVec3::splat(3.0)).abs().max_element() < 1e-14);
    assert_eq!(
        (heavy.volume, heavy.center, heavy.axes),
        (p.volume, p.center, p.axes)
    );
}

#[test]
fn a_floor_thickens_plates_and_rods_and_forgives_rounding() {
    let floored = |x, y, z| {
        let tensor = DMat3::from_diagonal(DVec3::new(x, y, z));
        MassProperties::from_inertia_with_floor(2.0, DVec3::ZERO, tensor, None, 1e-4).unwrap()
    };
    assert_eq!(
        floored(1.0, 1.0, 2.0).second_moments,
        DVec3::new(1.0, 1.0, 1e-4)
    );
    assert_eq!(
        floored(1.0, 1.0, 0.0).second_moments,
        DVec3::new(1e-4, 1e-4, 1.0)
    );
    assert_relative_eq!(floored(1.0, 1.0, 2.0001).second_moments.z, 1.00005e-4);
    assert_eq!(floored(1.0, 1.0, 2.0).volume, 0.002);
}
