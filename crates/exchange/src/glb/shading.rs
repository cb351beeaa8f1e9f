//! Meshes with normals.
//!
//! The cross product (b − a) × (c − a) is normal to a triangle and as long as twice its
//! area. Flat shading gives each triangle its own three vertices with that direction;
//! smooth shading sums it over the triangles around a vertex, which weights by area.

use serde_json::{Value, json};

use super::buffer::{BinaryBuffer, Target};
use super::{MeshData, Shading};
use crate::error::ExchangeError;

type Triple = [f32; 3];
type Corners = [u32; 3];

/// Writes a mesh into the buffer and returns its glTF description. The material has
/// the index of the mesh.
pub(super) fn describe_mesh(
    mesh: &MeshData,
    index: usize,
    buffer: &mut BinaryBuffer,
) -> Result<Value, ExchangeError> {
    check_mesh(mesh)?;
    let (positions, normals, triangles) = match mesh.shading {
        Shading::Flat => flat(mesh),
        Shading::Smooth => smooth(mesh),
    };
    let position = buffer.push_floats(&positions, Target::Vertices, true);
    let normal = buffer.push_floats(&normals, Target::Vertices, false);
    let indices = buffer.push_indices(&triangles);
    Ok(json!({
        "name": mesh.name,
        "primitives": [{
            "attributes": { "POSITION": position, "NORMAL": normal },
            "indices": indices,
            "material": index,
        }],
    }))
}

fn check_mesh(mesh: &MeshData) -> Result<(), ExchangeError> {
    let bad = |problem: String| Err(ExchangeError::data("mesh", &mesh.name, problem));
    let count = mesh.positions.len();
    if mesh.triangles.is_empty() {
        return bad("has no triangles: leave it out or give it a shape".into());
    }
    if let Some(row) = mesh
        .positions
        .iter()
        .position(|p| !p.iter().all(|x| x.is_finite()))
    {
        return bad(format!("vertex {row} is not finite"));
    }
    let outside = |triangle: &Corners| triangle.iter().any(|&i| i as usize >= count);
    if let Some(row) = mesh.triangles.iter().position(outside) {
        return bad(format!(
            "triangle {row} uses a vertex beyond the {count} given"
        ));
    }
    if !mesh.color.iter().all(|part| (0.0..=1.0).contains(part)) {
        return bad(format!("colour {:?} has parts outside 0 to 1", mesh.color));
    }
    Ok(())
}

fn flat(mesh: &MeshData) -> (Vec<Triple>, Vec<Triple>, Vec<Corners>) {
    let mut positions = Vec::with_capacity(3 * mesh.triangles.len());
    let mut normals = Vec::with_capacity(3 * mesh.triangles.len());
    for triangle in &mesh.triangles {
        let corners = corners(mesh, triangle);
        positions.extend(corners);
        normals.extend([unit(doubled_area(corners)); 3]);
    }
    let triangles = (0..mesh.triangles.len() as u32)
        .map(|index| [3 * index, 3 * index + 1, 3 * index + 2])
        .collect();
    (positions, normals, triangles)
}

fn smooth(mesh: &MeshData) -> (Vec<Triple>, Vec<Triple>, Vec<Corners>) {
    let mut sums = vec![[0.0f64; 3]; mesh.positions.len()];
    for triangle in &mesh.triangles {
        let area = doubled_area(corners(mesh, triangle));
        for &vertex in triangle {
            for axis in 0..3 {
                sums[vertex as usize][axis] += area[axis];
            }
        }
    }
    let normals = sums.into_iter().map(unit).collect();
    (mesh.positions.clone(), normals, mesh.triangles.clone())
}

fn corners(mesh: &MeshData, triangle: &Corners) -> [Triple; 3] {
    triangle.map(|index| mesh.positions[index as usize])
}

fn doubled_area([a, b, c]: [Triple; 3]) -> [f64; 3] {
    let difference = |p: Triple, axis: usize| f64::from(p[axis]) - f64::from(a[axis]);
    let u: [f64; 3] = std::array::from_fn(|axis| difference(b, axis));
    let v: [f64; 3] = std::array::from_fn(|axis| difference(c, axis));
    [
        u[1] * v[2] - u[2] * v[1],
        u[2] * v[0] - u[0] * v[2],
        u[0] * v[1] - u[1] * v[0],
    ]
}

/// Normals must have length one, even where a degenerate triangle has none: then up.
fn unit(vector: [f64; 3]) -> Triple {
    let length = vector.iter().map(|x| x * x).sum::<f64>().sqrt();
    if length > 0.0 && length.is_finite() {
        vector.map(|x| (x / length) as f32)
    } else {
        [0.0, 0.0, 1.0]
    }
}
