//! The binary chunk and the views and accessors that describe it (glTF 3.6).

use serde_json::{Value, json};

const FLOAT: u32 = 5126;
const UNSIGNED_INT: u32 = 5125;

/// What a buffer view holds, which viewers use to upload it to the right place.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Target {
    Vertices,
    Indices,
    Keys,
}

/// Everything written so far.
#[derive(Default)]
pub(super) struct BinaryBuffer {
    pub bytes: Vec<u8>,
    pub views: Vec<Value>,
    pub accessors: Vec<Value>,
}

impl BinaryBuffer {
    /// Appends vectors of N floats and returns the index of their accessor. With
    /// `bounds` it states minimum and maximum, as positions and key times must.
    pub fn push_floats<const N: usize>(
        &mut self,
        values: &[[f32; N]],
        target: Target,
        bounds: bool,
    ) -> usize {
        let start = self.bytes.len();
        let flat = values.as_flattened();
        self.bytes
            .extend(flat.iter().flat_map(|value| value.to_le_bytes()));
        let kind = ["SCALAR", "VEC2", "VEC3", "VEC4"][N - 1];
        let index = self.describe(start, target, FLOAT, kind, values.len());
        if bounds {
            let extreme = |pick: fn(f32, f32) -> f32| -> Vec<f32> {
                (0..N)
                    .map(|axis| values.iter().map(|v| v[axis]).reduce(pick).unwrap_or(0.0))
                    .collect()
            };
            self.accessors[index]["min"] = json!(extreme(f32::min));
            self.accessors[index]["max"] = json!(extreme(f32::max));
        }
        index
    }

    /// Appends triangle indices and returns the index of their accessor.
    pub fn push_indices(&mut self, triangles: &[[u32; 3]]) -> usize {
        let start = self.bytes.len();
        let flat = triangles.as_flattened();
        self.bytes
            .extend(flat.iter().flat_map(|index| index.to_le_bytes()));
        self.describe(start, Target::Indices, UNSIGNED_INT, "SCALAR", flat.len())
    }

    fn describe(
        &mut self,
        start: usize,
        target: Target,
        component: u32,
        kind: &str,
        count: usize,
    ) -> usize {
        let mut view = json!({
            "buffer": 0, "byteOffset": start, "byteLength": self.bytes.len() - start,
        });
        match target {
            Target::Vertices => view["target"] = 34962.into(),
            Target::Indices => view["target"] = 34963.into(),
            Target::Keys => {}
        }
        self.views.push(view);
        self.accessors.push(json!({
            "bufferView": self.views.len() - 1, "componentType": component,
            "count": count, "type": kind,
        }));
        self.accessors.len() - 1
    }
}
