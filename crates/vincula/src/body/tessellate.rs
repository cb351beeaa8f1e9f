//! Triangles for drawing (and for checking integrals): every shape as a mesh.
//!
//! Round shapes are surfaces of revolution: a profile of points (ρ, z) with
//! ascending direction of travel from the lower pole to the upper, swept about
//! z. Vertices lie on the true surface, so a mesh is inscribed and its volume
//! errs by O(1/segments²).

use std::f64::consts::{FRAC_PI_2, PI, TAU};

use glam::DVec3;

use super::shape::{Part, Shape, ShapeError, TriMesh, convex_hull};

/// A mesh of the shape's surface with outward winding, `segments` edges around
/// a full circle (fewer than 3 are taken as 3); vertices are shared, so solids
/// give closed meshes. Compounds are merged part by part.
///
/// ```
/// use vincula::body::{shape::Shape, tessellate::tessellate};
///
/// let ball = Shape::Sphere { radius: 0.5 };
/// let mesh = tessellate(&ball, 32)?;
/// assert!(mesh.check_closed().is_ok());
/// assert!(mesh.vertices.iter().all(|v| (v.length() - 0.5).abs() < 1e-15));
/// # Ok::<(), vincula::body::shape::ShapeError>(())
/// ```
pub fn tessellate(shape: &Shape, segments: usize) -> Result<TriMesh, ShapeError> {
    shape.check()?;
    let segments = segments.max(3);
    Ok(match shape {
        Shape::Box { half_extents } => cuboid(*half_extents),
        Shape::Sphere { radius } => ellipsoid(DVec3::splat(*radius), segments),
        Shape::Ellipsoid { semi_axes } => ellipsoid(*semi_axes, segments),
        Shape::Capsule {
            radius,
            half_length,
        } => capsule(*radius, *half_length, segments),
        Shape::Cylinder {
            radius: r,
            half_length: h,
        } => revolve(&[(0.0, -h), (*r, -h), (*r, *h), (0.0, *h)], segments),
        Shape::Cone {
            radius: r,
            half_length: h,
        } => revolve(&[(0.0, -h), (*r, -h), (0.0, *h)], segments),
        Shape::ConvexHull { points } => convex_hull(points)?,
        Shape::Mesh(mesh) => mesh.clone(),
        Shape::Compound(parts) => compound(parts, segments)?,
    })
}

fn cuboid(half_extents: DVec3) -> TriMesh {
    // Vertex i lies on the positive side of axis k where bit k of i is set.
    let sign = |index: u32, axis: u32| if index >> axis & 1 == 1 { 1.0 } else { -1.0 };
    let corner = |i| half_extents * DVec3::new(sign(i, 0), sign(i, 1), sign(i, 2));
    let faces = [
        [0, 4, 6, 2],
        [1, 3, 7, 5],
        [0, 1, 5, 4],
        [2, 6, 7, 3],
        [0, 2, 3, 1],
        [4, 5, 7, 6],
    ];
    let halves = |[a, b, c, d]: [u32; 4]| [[a, b, c], [a, c, d]];
    TriMesh {
        vertices: (0..8).map(corner).collect(),
        triangles: faces.into_iter().flat_map(halves).collect(),
    }
}

fn ellipsoid(semi_axes: DVec3, segments: usize) -> TriMesh {
    let arc = arc(-FRAC_PI_2, PI, segments.div_ceil(2));
    let mut mesh = revolve(&arc, segments);
    for vertex in &mut mesh.vertices {
        *vertex *= semi_axes;
    }
    mesh
}

fn capsule(radius: f64, half_length: f64, segments: usize) -> TriMesh {
    let quarter = segments.div_ceil(4);
    let lift = |z: f64| move |(ring, height): (f64, f64)| (radius * ring, radius * height + z);
    let lower = arc(-FRAC_PI_2, FRAC_PI_2, quarter)
        .into_iter()
        .map(lift(-half_length));
    let upper = arc(0.0, FRAC_PI_2, quarter)
        .into_iter()
        .map(lift(half_length));
    revolve(&lower.chain(upper).collect::<Vec<_>>(), segments)
}

/// Points (cos φ, sin φ) of a unit arc from `start` over `sweep`, ends included.
fn arc(start: f64, sweep: f64, steps: usize) -> Vec<(f64, f64)> {
    let angle = |step: usize| start + sweep * step as f64 / steps as f64;
    (0..=steps)
        .map(|step| (angle(step).cos(), angle(step).sin()))
        .collect()
}

/// Sweeps a profile about z. Its first and last points become the poles.
fn revolve(profile: &[(f64, f64)], segments: usize) -> TriMesh {
    let rings = &profile[1..profile.len() - 1];
    let pole = |&(_, z): &(f64, f64)| DVec3::new(0.0, 0.0, z);
    let mut vertices: Vec<DVec3> = profile.first().map(pole).into_iter().collect();
    for &(radius, z) in rings {
        vertices.extend((0..segments).map(|step| {
            let angle = TAU * step as f64 / segments as f64;
            DVec3::new(radius * angle.cos(), radius * angle.sin(), z)
        }));
    }
    vertices.extend(profile.last().map(pole));
    TriMesh {
        triangles: sweep_triangles(rings.len(), segments),
        vertices,
    }
}

fn sweep_triangles(rings: usize, segments: usize) -> Vec<[u32; 3]> {
    let at = |ring: usize, step: usize| (1 + ring * segments + step % segments) as u32;
    let (lower_pole, upper_pole) = (0, at(rings, 0));
    let mut triangles = Vec::new();
    for step in 0..segments {
        triangles.push([lower_pole, at(0, step + 1), at(0, step)]);
        for ring in 1..rings {
            let (a, b) = (at(ring - 1, step), at(ring - 1, step + 1));
            let (c, d) = (at(ring, step + 1), at(ring, step));
            triangles.extend([[a, b, c], [a, c, d]]);
        }
        triangles.push([at(rings - 1, step), at(rings - 1, step + 1), upper_pole]);
    }
    triangles
}

fn compound(parts: &[Part], segments: usize) -> Result<TriMesh, ShapeError> {
    let mut merged = TriMesh::default();
    for (index, part) in parts.iter().enumerate() {
        let mesh = tessellate(&part.shape, segments).map_err(|error| error.in_part(index))?;
        merged.append(mesh.placed(part.translation, part.rotation.normalize()));
    }
    Ok(merged)
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::DQuat;

    fn every_solid() -> Vec<Shape> {
        let (radius, half_length) = (0.3, 0.8);
        let cuboid = Shape::Box {
            half_extents: DVec3::new(1.0, 2.0, 3.0),
        };
        let placed = Part::new(cuboid.clone())
            .at(DVec3::X * 9.0)
            .rotated(DQuat::from_rotation_y(0.4));
        let points = tessellate(&cuboid, 0).unwrap().vertices;
        vec![
            Shape::Sphere { radius },
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
            Shape::Ellipsoid {
                semi_axes: DVec3::new(1.0, 0.2, 3.0),
            },
            Shape::ConvexHull { points },
            Shape::Compound(vec![Part::new(cuboid.clone()), placed]),
            cuboid,
        ]
    }

    #[test]
    fn every_solid_gives_a_closed_mesh_that_faces_outward() {
        for shape in every_solid() {
            for segments in [0, 3, 4, 7, 32] {
                let mesh = tessellate(&shape, segments).unwrap();
                mesh.check_closed()
                    .unwrap_or_else(|error| panic!("{shape:?} at {segments}: {error}"));
            }
        }
    }

    #[test]
    fn each_triangle_of_a_convex_shape_faces_away_from_the_origin() {
        for shape in every_solid() {
            let mesh = tessellate(&shape, 16).unwrap();
            let outward = |[a, b, c]: [DVec3; 3]| (b - a).cross(c - a).dot(a) > 0.0;
            let convex = !matches!(shape, Shape::Compound(_));
            assert!(
                !convex || mesh.corners(DVec3::ZERO).all(outward),
                "{shape:?}"
            );
        }
    }

    #[test]
    fn a_wrong_part_is_named() {
        let wrong = Part::new(Shape::Sphere { radius: -1.0 });
        let inner = Shape::Compound(vec![wrong]);
        let cube = Shape::Box {
            half_extents: DVec3::ONE,
        };
        let shape = Shape::Compound(vec![Part::new(cube), Part::new(inner)]);
        let message = tessellate(&shape, 8).unwrap_err().to_string();
        assert_eq!(
            message,
            "part 1: part 0: radius = -1, but it must be greater than zero"
        );
    }

    #[test]
    fn an_open_mesh_can_be_drawn() {
        let sheet = TriMesh {
            vertices: vec![DVec3::ZERO, DVec3::X, DVec3::Y],
            triangles: vec![[0, 1, 2]],
        };
        assert_eq!(tessellate(&Shape::Mesh(sheet.clone()), 8), Ok(sheet));
    }
}
