//! What can be wrong with a shape, and what to do about it.

use glam::DVec3;
use thiserror::Error;

/// Why a shape does not describe a solid.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum ShapeError {
    /// A size, coordinate or factor is NaN or infinite.
    #[error("{field} = {value} is not finite")]
    NotFinite {
        /// Name of the field, such as `half_extents.y` or `vertices[3].x`.
        field: String,
        /// What it holds.
        value: f64,
    },
    /// A size or factor is zero or negative.
    #[error("{field} = {value}, but it must be greater than zero")]
    NotPositive {
        /// Name of the field.
        field: String,
        /// What it holds.
        value: f64,
    },
    /// A part's rotation is not a unit quaternion.
    #[error("rotation has length {length}: normalise the quaternion")]
    NotUnitRotation {
        /// Its Euclidean length.
        length: f64,
    },
    /// A mesh has no triangles.
    #[error("the mesh has no triangles")]
    EmptyMesh,
    /// A triangle names a vertex that does not exist.
    #[error(
        "triangle {triangle} uses vertex {index}, but the mesh has {vertices} vertices \
         (counted from 0)"
    )]
    IndexOutOfRange {
        /// Which triangle.
        triangle: usize,
        /// The vertex it names.
        index: u32,
        /// How many vertices there are.
        vertices: usize,
    },
    /// An edge borders a hole.
    #[error(
        "the mesh is not closed: edge {from}–{to}, from {start} to {end}, lacks a second \
         triangle; close the hole, or merge duplicate vertices with `TriMesh::weld`"
    )]
    NotClosed {
        /// First vertex of the edge.
        from: u32,
        /// Second vertex of the edge.
        to: u32,
        /// Where the first vertex is (m).
        start: DVec3,
        /// Where the second vertex is (m).
        end: DVec3,
    },
    /// Two neighbouring triangles wind in opposite senses.
    #[error(
        "inconsistent winding: the triangles at edge {from}–{to}, from {start} to {end}, \
         run along it in the same direction; reverse one of them"
    )]
    InconsistentWinding {
        /// First vertex of the edge.
        from: u32,
        /// Second vertex of the edge.
        to: u32,
        /// Where the first vertex is (m).
        start: DVec3,
        /// Where the second vertex is (m).
        end: DVec3,
    },
    /// All triangles face inward.
    #[error(
        "the mesh is inside out: its signed volume is {volume} m³; \
         flip the triangles with `TriMesh::flipped`"
    )]
    Inverted {
        /// The negative volume (m³).
        volume: f64,
    },
    /// The mesh is closed, yet encloses nothing.
    #[error("the mesh encloses no volume ({volume} m³ is rounding): it is flat or folded")]
    NoVolume {
        /// The volume found (m³).
        volume: f64,
    },
    /// A hull needs at least four points.
    #[error("a convex hull needs at least 4 points, not {count}")]
    TooFewPoints {
        /// How many were given.
        count: usize,
    },
    /// All points of a hull lie in one plane, on one line or in one place.
    #[error(
        "the hull's {count} points lie {extent} within {thickness} m over a size of {size} m: \
         give it thickness or use another shape"
    )]
    FlatHull {
        /// How many points were given.
        count: usize,
        /// What they lie in: "in one plane", "on one line" or "in one place".
        extent: &'static str,
        /// The largest distance from that plane, line or place (m).
        thickness: f64,
        /// The largest extent of the points (m).
        size: f64,
    },
    /// A compound has no parts.
    #[error("the compound has no parts")]
    EmptyCompound,
    /// Something is wrong inside a compound.
    #[error("part {index}: {source}")]
    InPart {
        /// Which part, counted from 0.
        index: usize,
        /// What is wrong with it.
        #[source]
        source: Box<ShapeError>,
    },
}

impl ShapeError {
    /// The same error, reported from within part `index` of a compound.
    pub(crate) fn in_part(self, index: usize) -> Self {
        Self::InPart {
            index,
            source: Box::new(self),
        }
    }
}
