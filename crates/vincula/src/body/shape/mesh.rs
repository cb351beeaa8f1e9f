//! Triangle meshes as boundaries of solids.
//!
//! The signed volume of a closed mesh is the sum over its triangles (a, b, c)
//! of the signed tetrahedra with a common apex o (divergence theorem):
//!
//! ```text
//! V = Σ (a−o) · (b−o) × (c−o) / 6
//! ```
//!
//! It does not depend on o exactly if each edge is run along as often in one
//! direction as in the other, which is what [`TriMesh::check_closed`] asks.

use std::collections::BTreeMap;

use glam::{DQuat, DVec3};

use super::{ShapeError, all_finite};

/// A volume below this fraction of the bounding diagonal cubed is rounding.
const SMALLEST_VOLUME: f64 = 1e-15;

/// A triangle mesh; seen from outside, each triangle runs counter-clockwise.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TriMesh {
    /// Vertex positions (m).
    pub vertices: Vec<DVec3>,
    /// Indices of each triangle's vertices, counter-clockwise from outside.
    pub triangles: Vec<[u32; 3]>,
}

impl TriMesh {
    /// Refuses empty meshes, coordinates that are not finite and indices out
    /// of range.
    pub fn check(&self) -> Result<(), ShapeError> {
        if self.triangles.is_empty() {
            return Err(ShapeError::EmptyMesh);
        }
        all_finite("vertices", &self.vertices)?;
        let vertices = self.vertices.len();
        for (triangle, corners) in self.triangles.iter().enumerate() {
            if let Some(&index) = corners.iter().find(|&&i| i as usize >= vertices) {
                return Err(ShapeError::IndexOutOfRange {
                    triangle,
                    index,
                    vertices,
                });
            }
        }
        Ok(())
    }

    /// Refuses what [`check`](Self::check) refuses, and meshes that do not
    /// bound a solid: with holes, of inconsistent winding, inside out or flat.
    ///
    /// Several closed surfaces in one mesh are welcome, and so are cavities
    /// (closed surfaces that face inward within an outer one). Surfaces that
    /// cross themselves or each other are not noticed: where they overlap,
    /// matter counts twice.
    pub fn check_closed(&self) -> Result<(), ShapeError> {
        self.check()?;
        self.check_edges()?;
        let volume = self.signed_volume(self.midpoint());
        if volume.abs() <= SMALLEST_VOLUME * self.diagonal().powi(3) {
            return Err(ShapeError::NoVolume { volume });
        }
        if volume < 0.0 {
            return Err(ShapeError::Inverted { volume });
        }
        Ok(())
    }

    fn check_edges(&self) -> Result<(), ShapeError> {
        for ((from, to), (forward, backward)) in self.edge_uses() {
            let (start, end) = (self.vertices[from as usize], self.vertices[to as usize]);
            if (forward + backward) % 2 == 1 {
                return Err(ShapeError::NotClosed {
                    from,
                    to,
                    start,
                    end,
                });
            }
            if forward != backward {
                return Err(ShapeError::InconsistentWinding {
                    from,
                    to,
                    start,
                    end,
                });
            }
        }
        Ok(())
    }

    /// How often each edge, lower index first, is run along forward and backward.
    fn edge_uses(&self) -> BTreeMap<(u32, u32), (u32, u32)> {
        let mut uses = BTreeMap::new();
        for &[a, b, c] in &self.triangles {
            for (from, to) in [(a, b), (b, c), (c, a)] {
                let (forward, backward) = uses
                    .entry((from.min(to), from.max(to)))
                    .or_insert((0u32, 0u32));
                // A triangle that repeats a vertex has no area; its loop a–a
                // counts on both sides so that it opens no hole.
                *forward += u32::from(from <= to);
                *backward += u32::from(from >= to);
            }
        }
        uses
    }

    /// The three corners of each triangle relative to `origin` (m).
    ///
    /// Callers have run [`check`](Self::check): indices are in range.
    pub(crate) fn corners(&self, origin: DVec3) -> impl Iterator<Item = [DVec3; 3]> + '_ {
        let place = move |index: u32| self.vertices[index as usize] - origin;
        self.triangles.iter().map(move |corners| corners.map(place))
    }

    /// Sum of the signed tetrahedra with apex `apex` (m³).
    fn signed_volume(&self, apex: DVec3) -> f64 {
        let six_volumes = self.corners(apex).map(|[a, b, c]| a.dot(b.cross(c)));
        six_volumes.sum::<f64>() / 6.0
    }

    fn bounds(&self) -> (DVec3, DVec3) {
        let none = (DVec3::INFINITY, DVec3::NEG_INFINITY);
        let grow = |(low, high): (DVec3, DVec3), &v: &DVec3| (low.min(v), high.max(v));
        self.vertices.iter().fold(none, grow)
    }

    /// Middle of the bounding box: a reference point that keeps the integrals
    /// free of cancellation when the mesh lies far from the origin.
    pub(crate) fn midpoint(&self) -> DVec3 {
        let (low, high) = self.bounds();
        0.5 * low + 0.5 * high
    }

    fn diagonal(&self) -> f64 {
        let (low, high) = self.bounds();
        (high - low).length()
    }

    /// The mesh with every triangle reversed: turns it inside out.
    pub fn flipped(mut self) -> Self {
        for triangle in &mut self.triangles {
            triangle.swap(1, 2);
        }
        self
    }

    /// The mesh with vertices in the same place merged into one and triangles
    /// that thereby lose their area removed.
    ///
    /// Files that store three vertices per triangle (STL) are open along every
    /// edge before this. Indices out of range are left as they are.
    pub fn weld(&self) -> Self {
        let mut welded = Self::default();
        let mut places = BTreeMap::new();
        let renumbered: Vec<u32> = self
            .vertices
            .iter()
            .map(|&vertex| {
                // Adding zero turns −0 into +0, which has other bits.
                let key = (vertex + DVec3::ZERO).to_array().map(f64::to_bits);
                *places.entry(key).or_insert_with(|| {
                    welded.vertices.push(vertex);
                    welded.vertices.len() as u32 - 1
                })
            })
            .collect();
        let renumber = |index: u32| renumbered.get(index as usize).copied().unwrap_or(index);
        let triangles = self.triangles.iter().map(|corners| corners.map(renumber));
        welded.triangles = triangles
            .filter(|[a, b, c]| a != b && b != c && c != a)
            .collect();
        welded
    }

    /// The mesh turned by `rotation`, then moved by `translation` (m).
    pub fn placed(mut self, translation: DVec3, rotation: DQuat) -> Self {
        for vertex in &mut self.vertices {
            *vertex = rotation * *vertex + translation;
        }
        self
    }

    /// Appends the vertices and triangles of `other`.
    pub fn append(&mut self, other: Self) {
        let offset = self.vertices.len() as u32;
        self.vertices.extend(other.vertices);
        let shifted = other
            .triangles
            .iter()
            .map(|t| t.map(|i| i.saturating_add(offset)));
        self.triangles.extend(shifted);
    }
}
