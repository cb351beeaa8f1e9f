//! Animations as binary glTF 2.0 (`.glb`), which Blender and web viewers play.
//!
//! Source: Khronos, glTF 2.0 specification, sections 3.6 (buffers and accessors),
//! 3.7.2 (meshes), 3.11 (animations) and 4.4 (GLB). glTF is y up and we are z up, so
//! one root node turns the world by −90° about x: (x, y, z) ↦ (x, z, −y).
//! All numbers are little-endian f32 or u32, which keeps every accessor aligned.

mod buffer;
mod shading;
mod tracks;

use std::io::Write;
use std::path::Path;

use serde_json::{Value, json};

use crate::error::ExchangeError;
use crate::staging::StagedFile;
use buffer::BinaryBuffer;

const MAGIC: u32 = 0x4654_6C67;
const CHUNK_JSON: u32 = 0x4E4F_534A;
const CHUNK_BINARY: u32 = 0x004E_4942;

/// How light falls over the triangles of a mesh.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shading {
    /// One normal per triangle: boxes, gears, anything with edges.
    #[default]
    Flat,
    /// One normal per vertex, averaged by area: spheres, terrain, anything round.
    Smooth,
}

/// A shape, which any number of nodes may show.
#[derive(Clone, Debug, Default)]
pub struct MeshData {
    /// Shown in the outliner of a viewer.
    pub name: String,
    /// Vertices in the body's frame (m).
    pub positions: Vec<[f32; 3]>,
    /// Vertex indices, counter-clockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
    /// Linear red, green, blue and opacity, each from 0 to 1.
    pub color: [f32; 4],
    /// Flat or smooth normals.
    pub shading: Shading,
}

/// One moving thing: a mesh and where it is at each of the animation's times.
#[derive(Clone, Debug, Default)]
pub struct NodeTrack {
    /// Shown in the outliner of a viewer.
    pub name: String,
    /// Index into [`Animation::meshes`].
    pub mesh: usize,
    /// Origin of the body in the world, z up (m), one per time.
    pub translations: Vec<[f64; 3]>,
    /// Orientation as a quaternion (w, x, y, z), one per time; normalised on writing.
    pub rotations_wxyz: Vec<[f64; 4]>,
}

/// Shapes and how they move.
#[derive(Clone, Debug, Default)]
pub struct Animation {
    /// The shapes.
    pub meshes: Vec<MeshData>,
    /// The things that move.
    pub nodes: Vec<NodeTrack>,
    /// Strictly increasing key times (s). A single time gives a still scene.
    pub times: Vec<f64>,
}

impl Animation {
    /// Writes the animation to `path`, atomically.
    ///
    /// The file's clock starts at the first time. Keys that single precision cannot
    /// tell apart are left out, and a body that never moves carries no keys.
    pub fn write_glb(&self, path: impl AsRef<Path>) -> Result<(), ExchangeError> {
        let path = path.as_ref();
        let (document, binary) = self.assemble(path)?;
        let mut text = serde_json::to_vec(&document)?;
        text.resize(text.len().next_multiple_of(4), b' ');
        let chunk = |bytes: usize| if bytes > 0 { 8 + bytes } else { 0 };
        let total = 12 + chunk(text.len()) + chunk(binary.len());
        let total = u32::try_from(total).map_err(|_| too_large(path))?;
        let mut file = StagedFile::create(path)?;
        write_container(&mut file, total, &text, &binary)
            .map_err(ExchangeError::io("write", path))?;
        file.commit()
    }

    fn assemble(&self, path: &Path) -> Result<(Value, Vec<u8>), ExchangeError> {
        let mut buffer = BinaryBuffer::default();
        let meshes = self
            .meshes
            .iter()
            .enumerate()
            .map(|(index, mesh)| shading::describe_mesh(mesh, index, &mut buffer))
            .collect::<Result<Vec<_>, _>>()?;
        let tracks = tracks::describe_tracks(self, &mut buffer)?;
        if buffer.bytes.len() > u32::MAX as usize {
            return Err(too_large(path));
        }
        let mut document = json!({
            "asset": { "version": "2.0", "generator": "Vincula" },
            "scene": 0,
            "scenes": [{ "nodes": [0] }],
            "nodes": tracks.nodes,
        });
        if !meshes.is_empty() {
            document["meshes"] = meshes.into();
            document["materials"] = self.meshes.iter().map(describe_material).collect();
            document["buffers"] = json!([{ "byteLength": buffer.bytes.len() }]);
            document["bufferViews"] = buffer.views.into();
            document["accessors"] = buffer.accessors.into();
        }
        if let Some(animation) = tracks.animation {
            document["animations"] = json!([animation]);
        }
        Ok((document, buffer.bytes))
    }
}

/// A matt, slightly glossy surface; see-through colours need blending switched on.
fn describe_material(mesh: &MeshData) -> Value {
    let mut material = json!({
        "name": mesh.name,
        "pbrMetallicRoughness": {
            "baseColorFactor": mesh.color,
            "metallicFactor": 0.0,
            "roughnessFactor": 0.6,
        },
    });
    if mesh.color[3] < 1.0 {
        material["alphaMode"] = "BLEND".into();
    }
    material
}

fn write_container(
    file: &mut impl Write,
    total: u32,
    text: &[u8],
    binary: &[u8],
) -> std::io::Result<()> {
    for word in [MAGIC, 2, total, text.len() as u32, CHUNK_JSON] {
        file.write_all(&word.to_le_bytes())?;
    }
    file.write_all(text)?;
    if binary.is_empty() {
        return Ok(()); // A chunk that no buffer refers to would be an error.
    }
    for word in [binary.len() as u32, CHUNK_BINARY] {
        file.write_all(&word.to_le_bytes())?;
    }
    file.write_all(binary)
}

fn too_large(path: &Path) -> ExchangeError {
    ExchangeError::TooLarge {
        what: format!("`{}`", path.display()),
        limit: "4 GiB in all",
    }
}
