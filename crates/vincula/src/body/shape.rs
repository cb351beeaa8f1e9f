//! Solid shapes: the region a body fills, in its own frame, in metres.
//!
//! Shapes of revolution have the z axis as their axis; `half_length` is half
//! of the straight part along it, so that the frame's origin lies mid-height.

mod error;
mod hull;
mod mesh;

pub use error::ShapeError;
pub use hull::convex_hull;
pub use mesh::TriMesh;

use glam::{DQuat, DVec3};

/// How far a part's rotation may stray from unit length before it is refused.
/// Quaternions read from text files carry six or seven digits.
const UNIT_TOLERANCE: f64 = 1e-5;

/// A solid region of space, in metres in the shape's own frame.
#[derive(Debug, Clone, PartialEq)]
pub enum Shape {
    /// A cuboid centred at the origin, edges along the axes.
    Box {
        /// Half of each edge length (m).
        half_extents: DVec3,
    },
    /// A ball centred at the origin.
    Sphere {
        /// Radius (m).
        radius: f64,
    },
    /// A cylinder along z with a hemisphere on each end.
    Capsule {
        /// Radius of cylinder and hemispheres (m).
        radius: f64,
        /// Half the length of the cylindrical part (m).
        half_length: f64,
    },
    /// A circular cylinder along z.
    Cylinder {
        /// Radius (m).
        radius: f64,
        /// Half the height (m).
        half_length: f64,
    },
    /// A circular cone along z: base at −`half_length`, apex at +`half_length`.
    Cone {
        /// Radius of the base (m).
        radius: f64,
        /// Half the height (m).
        half_length: f64,
    },
    /// An ellipsoid centred at the origin.
    Ellipsoid {
        /// Semi-axes along x, y and z (m).
        semi_axes: DVec3,
    },
    /// The convex hull of a set of points, in any order, interior ones allowed.
    ConvexHull {
        /// The points (m).
        points: Vec<DVec3>,
    },
    /// The region inside a triangle mesh.
    Mesh(TriMesh),
    /// Several placed shapes; where parts overlap, their matter counts twice.
    Compound(Vec<Part>),
}

/// One placed shape of a [`Shape::Compound`].
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// Origin of the part's frame in the compound's frame (m).
    pub translation: DVec3,
    /// Rotation that takes the part's frame to the compound's frame.
    pub rotation: DQuat,
    /// The region, in the part's frame.
    pub shape: Shape,
    /// Density relative to the compound's; `None` means 1.
    pub relative_density: Option<f64>,
}

impl Part {
    /// A part at the compound's origin, unrotated, of the compound's density.
    pub fn new(shape: Shape) -> Self {
        Self {
            translation: DVec3::ZERO,
            rotation: DQuat::IDENTITY,
            shape,
            relative_density: None,
        }
    }

    /// The same part with its origin at `translation` (m).
    pub fn at(self, translation: DVec3) -> Self {
        Self {
            translation,
            ..self
        }
    }

    /// The same part turned by `rotation`.
    pub fn rotated(self, rotation: DQuat) -> Self {
        Self { rotation, ..self }
    }

    /// The same part, `factor` times as dense as the compound.
    pub fn with_relative_density(self, factor: f64) -> Self {
        Self {
            relative_density: Some(factor),
            ..self
        }
    }

    fn check(&self) -> Result<(), ShapeError> {
        finite("translation", self.translation)?;
        let length = self.rotation.length();
        if !length.is_finite() || (length - 1.0).abs() > UNIT_TOLERANCE {
            return Err(ShapeError::NotUnitRotation { length });
        }
        if let Some(factor) = self.relative_density {
            positive("relative_density", factor)?;
        }
        self.shape.check()
    }
}

impl Shape {
    /// Refuses sizes that are not finite or not positive, mesh indices that
    /// point nowhere, and compounds without parts.
    ///
    /// Whether a mesh is closed is asked only where it matters, by
    /// [`TriMesh::check_closed`]: an open mesh can still be drawn.
    pub fn check(&self) -> Result<(), ShapeError> {
        match self {
            Self::Box { half_extents } => all_positive("half_extents", *half_extents),
            Self::Sphere { radius } => positive("radius", *radius),
            Self::Capsule {
                radius,
                half_length,
            }
            | Self::Cylinder {
                radius,
                half_length,
            }
            | Self::Cone {
                radius,
                half_length,
            } => positive("radius", *radius).and(positive("half_length", *half_length)),
            Self::Ellipsoid { semi_axes } => all_positive("semi_axes", *semi_axes),
            Self::ConvexHull { points } => all_finite("points", points),
            Self::Mesh(mesh) => mesh.check(),
            Self::Compound(parts) => check_parts(parts),
        }
    }
}

fn check_parts(parts: &[Part]) -> Result<(), ShapeError> {
    if parts.is_empty() {
        return Err(ShapeError::EmptyCompound);
    }
    for (index, part) in parts.iter().enumerate() {
        part.check().map_err(|error| error.in_part(index))?;
    }
    Ok(())
}

const AXIS_NAMES: [char; 3] = ['x', 'y', 'z'];

fn finite(field: &str, vector: DVec3) -> Result<(), ShapeError> {
    for (axis, value) in AXIS_NAMES.iter().zip(vector.to_array()) {
        if !value.is_finite() {
            return Err(ShapeError::NotFinite {
                field: format!("{field}.{axis}"),
                value,
            });
        }
    }
    Ok(())
}

fn all_finite(field: &str, vectors: &[DVec3]) -> Result<(), ShapeError> {
    // The name is only spelled out for the culprit: meshes have many vertices.
    match vectors.iter().position(|vector| !vector.is_finite()) {
        Some(index) => finite(&format!("{field}[{index}]"), vectors[index]),
        None => Ok(()),
    }
}

fn positive(field: &str, value: f64) -> Result<(), ShapeError> {
    let field = || field.to_string();
    if !value.is_finite() {
        return Err(ShapeError::NotFinite {
            field: field(),
            value,
        });
    }
    if value <= 0.0 {
        return Err(ShapeError::NotPositive {
            field: field(),
            value,
        });
    }
    Ok(())
}

fn all_positive(field: &str, vector: DVec3) -> Result<(), ShapeError> {
    for (axis, value) in AXIS_NAMES.iter().zip(vector.to_array()) {
        positive(&format!("{field}.{axis}"), value)?;
    }
    Ok(())
}
