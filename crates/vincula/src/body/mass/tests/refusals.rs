//! Every error, its culprit and its words.

use super::*;

fn shape_message(shape: Shape) -> String {
    let result = MassProperties::from_shape(&shape, 1000.0);
    result.unwrap_err().to_string()
}

fn inertia_message(columns: [f64; 9]) -> String {
    let tensor = DMat3::from_cols_array(&columns);
    let result = MassProperties::from_inertia(1.0, DVec3::ZERO, tensor, None);
    result.unwrap_err().to_string()
}

fn diagonal(x: f64, y: f64, z: f64) -> [f64; 9] {
    [x, 0.0, 0.0, 0.0, y, 0.0, 0.0, 0.0, z]
}

fn cube_mesh() -> TriMesh {
    mesh_of(&cuboid(DVec3::ONE), 0)
}

#[test]
fn sizes_must_be_positive_and_finite() {
    let half = DVec3::new(1.0, 0.0, 1.0);
    assert_eq!(
        shape_message(cuboid(half)),
        "half_extents.y = 0, but it must be greater than zero"
    );
    assert_eq!(
        shape_message(Shape::Sphere { radius: f64::NAN }),
        "radius = NaN is not finite"
    );
    let semi_axes = DVec3::new(1.0, 1.0, f64::INFINITY);
    assert_eq!(
        shape_message(Shape::Ellipsoid { semi_axes }),
        "semi_axes.z = inf is not finite"
    );
    let (radius, half_length) = (1.0, -2.0);
    let expected = "half_length = -2, but it must be greater than zero";
    for shape in [
        Shape::Capsule {
            radius,
            half_length,
        },
        Shape::Cylinder {
            radius,
            half_length,
        },
        Shape::Cone {
            radius,
            half_length,
        },
    ] {
        assert_eq!(shape_message(shape), expected);
    }
}

#[test]
fn densities_and_masses_must_be_positive_and_finite() {
    let cube = cuboid(DVec3::ONE);
    for density in [0.0, -1.0, f64::NAN] {
        let error = MassProperties::from_shape(&cube, density).unwrap_err();
        assert!(error.to_string().starts_with("density = "), "{error}");
    }
    let p = properties_of(&cube);
    for mass in [0.0, -1.0, f64::INFINITY] {
        assert!(p.with_mass(mass).is_err());
        let error = MassProperties::from_inertia(mass, DVec3::ZERO, DMat3::IDENTITY, None);
        assert!(error.unwrap_err().to_string().starts_with("mass = "));
    }
    let volume = MassProperties::from_inertia(1.0, DVec3::ZERO, DMat3::IDENTITY, Some(0.0));
    assert!(volume.unwrap_err().to_string().starts_with("volume = 0"));
    let center = MassProperties::from_inertia(1.0, DVec3::Y / 0.0, DMat3::IDENTITY, None);
    assert!(
        center
            .unwrap_err()
            .to_string()
            .starts_with("center.x = NaN")
    );
}

#[test]
fn sizes_beyond_the_range_of_numbers_are_refused() {
    let huge = shape_message(Shape::Sphere { radius: 1e200 });
    assert!(huge.contains("is not finite"), "{huge}");
    let tiny = shape_message(Shape::Sphere { radius: 1e-200 });
    assert!(tiny.contains("must be greater than zero"), "{tiny}");
}

#[test]
fn a_hole_names_its_edge() {
    let mut mesh = cube_mesh();
    mesh.triangles.remove(0);
    assert_eq!(
        shape_message(Shape::Mesh(mesh)),
        "the mesh is not closed: edge 0–4, from [-1, -1, -1] to [-1, -1, 1], lacks a second \
         triangle; close the hole, or merge duplicate vertices with `TriMesh::weld`"
    );
}

#[test]
fn a_reversed_triangle_names_its_edge() {
    let mut mesh = cube_mesh();
    mesh.triangles[0].swap(1, 2);
    let message = shape_message(Shape::Mesh(mesh));
    assert!(
        message.starts_with("inconsistent winding: the triangles at edge 0–4,"),
        "{message}"
    );
}

#[test]
fn a_mesh_inside_out_asks_to_be_flipped() {
    let flipped = cube_mesh().flipped();
    assert_eq!(
        shape_message(Shape::Mesh(flipped.clone())),
        "the mesh is inside out: its signed volume is -8 m³; \
         flip the triangles with `TriMesh::flipped`"
    );
    assert_eq!(flipped.flipped(), cube_mesh());
}

#[test]
fn an_index_out_of_range_names_its_triangle() {
    let mut mesh = cube_mesh();
    mesh.triangles[7][1] = 8;
    assert_eq!(
        shape_message(Shape::Mesh(mesh)),
        "triangle 7 uses vertex 8, but the mesh has 8 vertices (counted from 0)"
    );
}

#[test]
fn a_vertex_that_is_not_finite_is_named() {
    let mut mesh = cube_mesh();
    mesh.vertices[3].x = f64::NAN;
    assert_eq!(
        shape_message(Shape::Mesh(mesh)),
        "vertices[3].x = NaN is not finite"
    );
}

#[test]
fn meshes_without_triangles_or_volume_are_refused() {
    assert_eq!(
        shape_message(Shape::Mesh(TriMesh::default())),
        "the mesh has no triangles"
    );
    let folded = TriMesh {
        vertices: vec![DVec3::ZERO, DVec3::X, DVec3::Y],
        triangles: vec![[0, 1, 2], [0, 2, 1]],
    };
    let message = shape_message(Shape::Mesh(folded));
    assert!(
        message.starts_with("the mesh encloses no volume"),
        "{message}"
    );
}

#[test]
fn separate_vertices_are_open_until_welded() {
    let cube = cube_mesh();
    let vertices: Vec<DVec3> = cube.corners(DVec3::ZERO).flatten().collect();
    let triangles = (0..12).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect();
    let soup = TriMesh {
        vertices,
        triangles,
    };
    assert!(matches!(
        soup.check_closed(),
        Err(ShapeError::NotClosed { .. })
    ));
    let welded = soup.weld();
    assert_eq!(welded.vertices.len(), 8);
    let error = difference(
        &properties_of(&Shape::Mesh(welded)),
        &properties_of(&cuboid(DVec3::ONE)),
    );
    assert!(error < 1e-14);
}

#[test]
fn cavities_and_triangles_without_area_are_welcome() {
    let mut hollow = cube_mesh();
    hollow.append(mesh_of(&cuboid(DVec3::splat(0.5)), 0).flipped());
    hollow.triangles.extend([[0, 0, 1], [2, 2, 2]]);
    let p = properties_of(&Shape::Mesh(hollow));
    assert_relative_eq!(p.volume, 7.0, max_relative = 1e-14);
    let second = 700.0 * (8.0 - 0.25) / 3.0;
    assert_relative_eq!(p.second_moments.x, second, max_relative = 1e-14);
}

#[test]
fn hulls_need_four_points_in_space() {
    let few = Shape::ConvexHull {
        points: vec![DVec3::X],
    };
    assert_eq!(
        shape_message(few),
        "a convex hull needs at least 4 points, not 1"
    );
    let square = [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::ONE - DVec3::Z];
    let flat = shape_message(Shape::ConvexHull {
        points: square.to_vec(),
    });
    assert_eq!(
        flat,
        "the hull's 4 points lie in one plane within 0 m over a size of 1 m: \
         give it thickness or use another shape"
    );
}

#[test]
fn compounds_name_the_part_that_is_wrong() {
    assert_eq!(
        shape_message(Shape::Compound(vec![])),
        "the compound has no parts"
    );
    let cube = || Part::new(cuboid(DVec3::ONE));
    let wrong = [
        (
            cube().rotated(DQuat::from_xyzw(0.0, 0.0, 0.0, 2.0)),
            "part 1: rotation has length 2: normalise the quaternion",
        ),
        (
            cube().with_relative_density(0.0),
            "part 1: relative_density = 0, but it must be greater than zero",
        ),
        (
            cube().at(DVec3::new(0.0, f64::NAN, 0.0)),
            "part 1: translation.y = NaN is not finite",
        ),
        (
            Part::new(Shape::Mesh(cube_mesh().flipped())),
            "part 1: the mesh is inside out: its signed volume is -8 m³; \
             flip the triangles with `TriMesh::flipped`",
        ),
    ];
    for (part, expected) in wrong {
        assert_eq!(shape_message(Shape::Compound(vec![cube(), part])), expected);
    }
}

#[test]
fn an_impossible_inertia_names_the_inequality() {
    let tail = ": no mass distribution has this inertia (principal axes, kg m²)";
    for (tensor, expected) in [
        (diagonal(0.1, 0.1, 0.5), "I_x + I_y = 0.2 < I_z = 0.5"),
        (diagonal(0.5, 0.1, 0.1), "I_y + I_z = 0.2 < I_x = 0.5"),
        (diagonal(0.1, 0.7, 0.2), "I_x + I_z = 0.3 < I_y = 0.7"),
    ] {
        assert_eq!(inertia_message(tensor), format!("{expected}{tail}"));
    }
}

#[test]
fn inertias_must_be_positive_finite_and_symmetric() {
    assert_eq!(
        inertia_message(diagonal(1.0, -1.0, 1.0)),
        "principal moment of inertia I_y = -1, but it must be greater than zero"
    );
    assert!(inertia_message(diagonal(0.0, 0.0, 0.0)).contains("I_x = 0, but"));
    let mut skewed = diagonal(1.0, 1.0, 1.0);
    skewed[3] = 0.25;
    assert_eq!(
        inertia_message(skewed),
        "the inertia tensor is not symmetric: entry (0, 1) is 0.25, but (1, 0) is 0, \
         counted from 0"
    );
    skewed[3] = f64::NAN;
    assert_eq!(inertia_message(skewed), "inertia[0][1] = NaN is not finite");
}

#[test]
fn plates_and_rods_without_thickness_are_refused() {
    assert_eq!(
        inertia_message(diagonal(1.0, 1.0, 2.0)),
        "the body is too thin along its principal axis z: its second moment 0 kg m² must \
         exceed 1e-12 kg m²; make it thicker, or use \
         `MassProperties::from_inertia_with_floor`"
    );
    assert!(inertia_message(diagonal(1.0, 1.0, 0.0)).contains("principal axis x"));
    let foil = shape_message(cuboid(DVec3::new(1.0, 1.0, 1e-7)));
    assert!(foil.contains("principal axis z"), "{foil}");
    assert!(MassProperties::from_shape(&cuboid(DVec3::new(1.0, 1.0, 2e-6)), 1.0).is_ok());
}

#[test]
fn a_tilted_plate_is_thin_rather_than_impossible() {
    for step in 0..100 {
        let angle = 0.1 * f64::from(step);
        let tilt = turn([angle, 0.7 * angle, -1.3 * angle]);
        let plate = DMat3::from_diagonal(DVec3::new(0.7, 0.4, 1.1));
        let tensor = moments::turned(plate, tilt);
        let strict = MassProperties::from_inertia(1.0, DVec3::ZERO, tensor, None);
        assert!(matches!(strict, Err(MassError::Thin { .. })), "{strict:?}");
        let floored = MassProperties::from_inertia_with_floor(1.0, DVec3::ZERO, tensor, None, 1e-6);
        let change = floored.unwrap().inertia_tensor() - tensor;
        let largest = change.to_cols_array().map(f64::abs);
        assert!(largest.into_iter().fold(0.0, f64::max) < 1e-6);
    }
}

#[test]
fn a_floor_out_of_range_is_refused() {
    for floor in [0.0, 2.0, f64::NAN] {
        let tensor = DMat3::IDENTITY;
        let result = MassProperties::from_inertia_with_floor(1.0, DVec3::ZERO, tensor, None, floor);
        assert!(matches!(result, Err(MassError::FloorOutOfRange { .. })));
    }
}
