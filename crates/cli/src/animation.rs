//! The animation of a run: one mesh per distinct shape, one track per body.

use glam::{DQuat, DVec3};
use vincula::body::shape::{Shape, ShapeError, TriMesh};
use vincula::body::tessellate::tessellate;
use vincula::contact::{Carrier, Collider, ColliderShape};
use vincula::model::{Body, Pose};
use vincula_exchange::{Animation, MeshData, NodeTrack, Shading};
use vincula_scenes::Scene;

use crate::recording::Recording;

/// Frames a second at most.
const FRAME_RATE: f64 = 60.0;
/// Keys of all bodies at most: about 60 MB.
const KEYS: usize = 2_000_000;
/// Edges around a circle.
const SEGMENTS: usize = 48;
/// Colours of shapes in turn, linear.
const COLORS: [[f32; 4]; 5] = [
    [0.05, 0.28, 0.55, 1.0],
    [0.70, 0.18, 0.02, 1.0],
    [0.02, 0.40, 0.22, 1.0],
    [0.60, 0.36, 0.02, 1.0],
    [0.45, 0.16, 0.35, 1.0],
];
const FLOOR: [f32; 4] = [0.5, 0.5, 0.5, 1.0];
const WALL: [f32; 4] = [0.5, 0.5, 0.5, 0.15];

/// Shapes and tracks of a recorded run.
pub fn animation(scene: &Scene, recording: &Recording) -> Result<Animation, ShapeError> {
    let bodies = scene.model.bodies();
    let frames = pick_frames(&recording.time, bodies.len());
    let mut shapes: Vec<Shape> = Vec::new();
    let mut result = Animation {
        times: frames.iter().map(|frame| recording.time[*frame]).collect(),
        ..Animation::default()
    };
    for (index, body) in bodies.iter().enumerate() {
        let shape = shape_of(body);
        let mesh = match shapes.iter().rposition(|known| *known == shape) {
            Some(mesh) => mesh,
            None => {
                let color = COLORS[shapes.len() % COLORS.len()];
                result.meshes.push(mesh_of(&body.name, &shape, color)?);
                shapes.push(shape);
                shapes.len() - 1
            }
        };
        result.nodes.push(track(
            recording,
            &frames,
            index,
            bodies.len(),
            &body.name,
            mesh,
        ));
    }
    if let Some(ground) = scene.model.ground() {
        add_floor(&mut result, recording, ground.height)?;
    }
    add_fixed(&mut result, scene, recording)?;
    Ok(result)
}

/// The colliders that stand still in the world.
fn add_fixed(
    result: &mut Animation,
    scene: &Scene,
    recording: &Recording,
) -> Result<(), ShapeError> {
    let fixed = scene.model.colliders().iter();
    for collider in fixed.filter(|collider| collider.carrier == Carrier::World) {
        let (mesh, pose) = match &collider.shape {
            ColliderShape::Solid(shape) => (mesh_of(&collider.name, shape, FLOOR)?, collider.pose),
            ColliderShape::HalfSpace { normal } => {
                plane(&collider.name, collider, *normal, recording)?
            }
            ColliderShape::Sheet(sheet) => (sheet_of(&collider.name, sheet), collider.pose),
            ColliderShape::HeightField(field) => {
                (sheet_of(&collider.name, &field.mesh()), collider.pose)
            }
        };
        result.meshes.push(mesh);
        let q = pose.rotation;
        result.nodes.push(NodeTrack {
            name: collider.name.clone(),
            mesh: result.meshes.len() - 1,
            translations: vec![pose.translation.to_array(); result.times.len()],
            rotations_wxyz: vec![[q.w, q.x, q.y, q.z]; result.times.len()],
        });
    }
    Ok(())
}

/// A slab under a plane, about where the bodies are, and wide enough for them.
fn plane(
    name: &str,
    collider: &Collider,
    normal: DVec3,
    recording: &Recording,
) -> Result<(MeshData, Pose), ShapeError> {
    let (low, high) = extent(recording);
    let normal = collider.pose.rotation * normal.normalize();
    let middle = 0.5 * (low + high);
    let above = normal.dot(middle - collider.pose.translation);
    let wide = 0.5 * (high - low).length() + 0.5;
    let thickness = 0.01;
    let shape = Shape::Box {
        half_extents: DVec3::new(wide, wide, thickness),
    };
    let pose = Pose {
        translation: middle - (above + thickness) * normal,
        rotation: DQuat::from_rotation_arc(DVec3::Z, normal),
    };
    // Walls would hide what is behind them.
    let upright = normal.z.abs() < 0.5;
    let mesh = mesh_of(name, &shape, if upright { WALL } else { FLOOR })?;
    Ok((mesh, pose))
}

fn sheet_of(name: &str, sheet: &TriMesh) -> MeshData {
    MeshData {
        name: name.to_owned(),
        positions: sheet
            .vertices
            .iter()
            .map(|v| v.as_vec3().to_array())
            .collect(),
        triangles: sheet.triangles.clone(),
        color: FLOOR,
        shading: Shading::Smooth,
    }
}

/// The box around all centres at all times.
fn extent(recording: &Recording) -> (DVec3, DVec3) {
    let nothing = (DVec3::INFINITY, DVec3::NEG_INFINITY);
    let places = recording.positions.chunks_exact(3);
    places.fold(nothing, |(low, high), at| {
        let point = DVec3::new(at[0], at[1], at[2]);
        (low.min(point), high.max(point))
    })
}

/// Samples at most 60 times a second, and few enough for all bodies.
fn pick_frames(time: &[f64], bodies: usize) -> Vec<usize> {
    let mut frames = Vec::new();
    let most = (KEYS / bodies.max(1)).max(2);
    let span = time.last().unwrap_or(&0.0) - time.first().unwrap_or(&0.0);
    let gap = (1.0 / FRAME_RATE).max(span / most as f64);
    let mut due = f64::NEG_INFINITY;
    for (index, t) in time.iter().enumerate() {
        // A sample a rounding error early is taken; waiting for the next would halve the rate.
        if *t >= due - 1e-9 {
            frames.push(index);
            due = if due.is_finite() {
                (due + gap).max(t + 0.5 * gap)
            } else {
                t + gap
            };
        }
    }
    if let Some(last) = time
        .len()
        .checked_sub(1)
        .filter(|last| frames.last() != Some(last))
    {
        frames.push(last);
    }
    frames
}

/// The shape of a body, or the ellipsoid of its second moments.
fn shape_of(body: &Body) -> Shape {
    body.shape.clone().unwrap_or_else(|| {
        let s = body.mass.second_moments * (5.0 / body.mass.mass);
        Shape::Ellipsoid {
            semi_axes: DVec3::new(s.x.sqrt(), s.y.sqrt(), s.z.sqrt()),
        }
    })
}

fn mesh_of(name: &str, shape: &Shape, color: [f32; 4]) -> Result<MeshData, ShapeError> {
    let mesh = tessellate(shape, SEGMENTS)?;
    let round = matches!(
        shape,
        Shape::Sphere { .. } | Shape::Ellipsoid { .. } | Shape::Capsule { .. }
    );
    Ok(MeshData {
        name: name.to_owned(),
        positions: mesh
            .vertices
            .iter()
            .map(|v| v.as_vec3().to_array())
            .collect(),
        triangles: mesh.triangles.clone(),
        color,
        shading: if round {
            Shading::Smooth
        } else {
            Shading::Flat
        },
    })
}

fn track(
    recording: &Recording,
    frames: &[usize],
    body: usize,
    bodies: usize,
    name: &str,
    mesh: usize,
) -> NodeTrack {
    let three = |frame: &usize| {
        let at = 3 * (frame * bodies + body);
        [0, 1, 2].map(|k| recording.positions[at + k])
    };
    let four = |frame: &usize| {
        let at = 4 * (frame * bodies + body);
        [0, 1, 2, 3].map(|k| recording.quaternions[at + k])
    };
    NodeTrack {
        name: name.to_owned(),
        mesh,
        translations: frames.iter().map(three).collect(),
        rotations_wxyz: frames.iter().map(four).collect(),
    }
}

/// A slab under everything that moved, with a margin.
fn add_floor(result: &mut Animation, recording: &Recording, height: f64) -> Result<(), ShapeError> {
    let (low, high) = extent(recording);
    let middle = 0.5 * (low + high);
    let half = 0.5 * (high - low) + 0.5;
    let thickness = 0.01;
    let shape = Shape::Box {
        half_extents: DVec3::new(half.x, half.y, thickness),
    };
    result.meshes.push(mesh_of("floor", &shape, FLOOR)?);
    let place = [middle.x, middle.y, height - thickness];
    result.nodes.push(NodeTrack {
        name: "floor".to_owned(),
        mesh: result.meshes.len() - 1,
        translations: vec![place; result.times.len()],
        rotations_wxyz: vec![[1.0, 0.0, 0.0, 0.0]; result.times.len()],
    });
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_thinned_to_sixty_a_second() {
        let time: Vec<f64> = (0..=1000).map(|i| f64::from(i) * 1e-3).collect();
        let frames = pick_frames(&time, 1);
        assert!((60..=62).contains(&frames.len()), "{}", frames.len());
        assert_eq!((frames[0], frames.last()), (0, Some(&1000)));
        let slow: Vec<f64> = (0..=10).map(|i| f64::from(i) / 30.0).collect();
        assert_eq!(pick_frames(&slow, 1).len(), 11);
        assert!(pick_frames(&time, KEYS / 10).len() <= 12);
    }
}
