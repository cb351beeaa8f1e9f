//! What a user says of the things that collide: a shape on a carrier, with a surface.

use glam::{DQuat, DVec3};
use thiserror::Error;

use super::Surface;
use super::terrain::{HeightField, TerrainError};
use crate::body::shape::{Shape, ShapeError, TriMesh};
use crate::model::{BodyId, FrameId, Pose, World};

/// The region that a collider keeps others out of, in the collider's frame.
#[derive(Clone, Debug, PartialEq)]
pub enum ColliderShape {
    /// A solid. Ellipsoids are not supported; meshes must be closed.
    Solid(Shape),
    /// Everything below the plane through the origin with this outward normal.
    HalfSpace {
        /// Outward normal, of any length but zero.
        normal: DVec3,
    },
    /// An open sheet of triangles that pushes to the side they wind counter-clockwise on.
    Sheet(TriMesh),
    /// Terrain over a rectangle.
    HeightField(HeightField),
}

impl From<Shape> for ColliderShape {
    fn from(shape: Shape) -> Self {
        ColliderShape::Solid(shape)
    }
}

impl From<HeightField> for ColliderShape {
    fn from(field: HeightField) -> Self {
        ColliderShape::HeightField(field)
    }
}

impl ColliderShape {
    /// The half-space below a horizontal plane.
    pub const GROUND: ColliderShape = ColliderShape::HalfSpace { normal: DVec3::Z };
}

/// What moves a collider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carrier {
    /// Nothing: it stands still in the world.
    World,
    /// A dynamic body, which contacts push.
    Body(BodyId),
    /// A frame that the user moves through `Control`; contacts do not push it.
    Frame(FrameId),
}

impl From<World> for Carrier {
    fn from(_: World) -> Self {
        Carrier::World
    }
}

impl From<BodyId> for Carrier {
    fn from(id: BodyId) -> Self {
        Carrier::Body(id)
    }
}

impl From<FrameId> for Carrier {
    fn from(id: FrameId) -> Self {
        Carrier::Frame(id)
    }
}

impl Carrier {
    /// The body, if it is one.
    pub fn body(self) -> Option<BodyId> {
        match self {
            Carrier::Body(id) => Some(id),
            _ => None,
        }
    }
}

/// Which colliders meet: two do when each one's mask holds a group of the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Groups {
    /// The groups it belongs to, one per bit.
    pub member: u32,
    /// The groups it meets, one per bit.
    pub mask: u32,
}

impl Groups {
    /// In every group, meeting every group.
    pub const ALL: Groups = Groups {
        member: u32::MAX,
        mask: u32::MAX,
    };

    /// Whether two colliders meet.
    pub fn meets(self, other: Groups) -> bool {
        self.member & other.mask != 0 && other.member & self.mask != 0
    }
}

/// A collider to be added to a model.
#[derive(Clone, Debug)]
pub struct ColliderDef {
    pub(crate) name: String,
    pub(crate) carrier: Carrier,
    pub(crate) shape: ColliderShape,
    pub(crate) pose: Pose,
    pub(crate) surface: Surface,
    pub(crate) groups: Groups,
    pub(crate) margin: Option<f64>,
    pub(crate) sensor: bool,
}

impl ColliderDef {
    /// A collider at the origin of its carrier: of a body's shape frame, of a moved frame, or
    /// of the world.
    pub fn new(
        name: impl Into<String>,
        carrier: impl Into<Carrier>,
        shape: impl Into<ColliderShape>,
    ) -> Self {
        ColliderDef {
            name: name.into(),
            carrier: carrier.into(),
            shape: shape.into(),
            pose: Pose::IDENTITY,
            surface: Surface::default(),
            groups: Groups::ALL,
            margin: None,
            sensor: false,
        }
    }

    /// A static horizontal ground at a height, m.
    pub fn ground(name: impl Into<String>, height: f64) -> Self {
        ColliderDef::new(name, World, ColliderShape::GROUND).at(DVec3::Z * height)
    }

    /// Position in the carrier's frame, m.
    pub fn at(mut self, translation: DVec3) -> Self {
        self.pose.translation = translation;
        self
    }

    /// Orientation in the carrier's frame.
    pub fn turned(mut self, rotation: DQuat) -> Self {
        self.pose.rotation = rotation;
        self
    }

    /// How its surface rubs and bounces.
    pub fn surface(mut self, surface: Surface) -> Self {
        self.surface = surface;
        self
    }

    /// The groups it belongs to and those it meets, one per bit.
    pub fn groups(mut self, member: u32, mask: u32) -> Self {
        self.groups = Groups { member, mask };
        self
    }

    /// Distance at which contacts are reported even between things at rest, m; those of both
    /// sides add. By default one percent of a body's thickness, and nothing for the rest.
    pub fn margin(mut self, margin: f64) -> Self {
        self.margin = Some(margin);
        self
    }

    /// Only reports what it overlaps, and pushes nothing.
    pub fn sensor(mut self) -> Self {
        self.sensor = true;
        self
    }
}

/// A collider of a model.
#[derive(Clone, Debug, PartialEq)]
pub struct Collider {
    /// Name, unique among the colliders of the model.
    pub name: String,
    /// What moves it.
    pub carrier: Carrier,
    /// Its region, in its own frame.
    pub shape: ColliderShape,
    /// Its frame in that of the carrier.
    pub pose: Pose,
    /// How its surface rubs and bounces.
    pub surface: Surface,
    /// Which others it meets.
    pub groups: Groups,
    /// Distance at which contacts are reported between things at rest, m.
    pub margin: f64,
    /// Whether it only reports.
    pub sensor: bool,
}

/// Why a shape cannot collide.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum ColliderError {
    /// The shape is impossible.
    #[error(transparent)]
    Shape(#[from] ShapeError),
    /// The height field is impossible.
    #[error(transparent)]
    Terrain(#[from] TerrainError),
    /// Detection has no such shape.
    #[error("ellipsoids do not collide: use a convex hull of points on it")]
    Ellipsoid,
    /// The geometry is too degenerate to collide with.
    #[error(
        "detection cannot use this shape: its faces are too thin; merge close vertices or use a \
         simpler shape"
    )]
    Unsupported,
    /// A triangle has no area, hence no normal.
    #[error(
        "triangle {triangle} has no area (its corners are {corners:?}): remove it, or merge \
         vertices with `TriMesh::weld`"
    )]
    FlatTriangle {
        /// Which triangle.
        triangle: usize,
        /// Its vertices.
        corners: [u32; 3],
    },
    /// Two triangles of a sheet face opposite sides.
    #[error(
        "triangles {first} and {second} run along their common edge in the same direction, so \
         that one faces up and one down: reverse one of them"
    )]
    Winding {
        /// One triangle.
        first: usize,
        /// The other.
        second: usize,
    },
    /// The normal of a half-space has no direction.
    #[error("the normal {normal} has no direction: give a finite vector that is not zero")]
    Normal {
        /// What was given.
        normal: DVec3,
    },
    /// The carrier is not in the model.
    #[error("its carrier is not in this model: add the body or frame to the same builder")]
    Carrier,
    /// Its pose is unusable.
    #[error("its pose must be finite, with a quaternion of unit length")]
    Pose,
    /// A number is unusable.
    #[error("{what} is {value}: {wanted}")]
    Number {
        /// Which one.
        what: &'static str,
        /// What it is.
        value: f64,
        /// What it must be.
        wanted: &'static str,
    },
}

impl ColliderDef {
    /// Everything that can be said without building the geometry.
    pub(crate) fn check(&self, bodies: usize, frames: usize) -> Result<(), ColliderError> {
        let known = match self.carrier {
            Carrier::World => true,
            Carrier::Body(id) => id.index() < bodies,
            Carrier::Frame(id) => id.index() < frames,
        };
        if !known {
            return Err(ColliderError::Carrier);
        }
        if !self.pose.is_finite() || (self.pose.rotation.length() - 1.0).abs() > 1e-6 {
            return Err(ColliderError::Pose);
        }
        if let Some((what, value, wanted)) = self.surface.fault() {
            return Err(ColliderError::Number {
                what,
                value,
                wanted,
            });
        }
        match self.margin {
            Some(margin) if !(margin >= 0.0 && margin.is_finite()) => Err(ColliderError::Number {
                what: "margin",
                value: margin,
                wanted: "it must be finite and not negative",
            }),
            _ => check_shape(&self.shape),
        }
    }
}

fn check_shape(shape: &ColliderShape) -> Result<(), ColliderError> {
    match shape {
        ColliderShape::Solid(solid) => {
            solid.check()?;
            check_solid(solid)
        }
        ColliderShape::HalfSpace { normal } => match normal.try_normalize() {
            Some(_) => Ok(()),
            None => Err(ColliderError::Normal { normal: *normal }),
        },
        ColliderShape::Sheet(mesh) => {
            mesh.check()?;
            check_triangles(mesh)?;
            check_winding(mesh)
        }
        ColliderShape::HeightField(field) => Ok(field.check()?),
    }
}

fn check_solid(solid: &Shape) -> Result<(), ColliderError> {
    match solid {
        Shape::Ellipsoid { .. } => Err(ColliderError::Ellipsoid),
        Shape::Mesh(mesh) => {
            mesh.check_closed()?;
            check_triangles(mesh)
        }
        Shape::ConvexHull { points } => {
            crate::body::shape::convex_hull(points)?;
            Ok(())
        }
        Shape::Compound(parts) => parts.iter().try_for_each(|part| check_solid(&part.shape)),
        _ => Ok(()),
    }
}

/// Refuses triangles that are flat to rounding: their height over the longest edge vanishes.
fn check_triangles(mesh: &TriMesh) -> Result<(), ColliderError> {
    for (triangle, corners) in mesh.triangles.iter().enumerate() {
        let [a, b, c] = corners.map(|i| mesh.vertices[i as usize]);
        let longest = (b - a).length_squared().max((c - b).length_squared());
        let longest = longest.max((a - c).length_squared());
        if !((b - a).cross(c - a).length() > 1e-12 * longest) {
            return Err(ColliderError::FlatTriangle {
                triangle,
                corners: *corners,
            });
        }
    }
    Ok(())
}

/// Refuses neighbours that face opposite sides.
fn check_winding(mesh: &TriMesh) -> Result<(), ColliderError> {
    let mut seen = std::collections::BTreeMap::new();
    for (second, &[a, b, c]) in mesh.triangles.iter().enumerate() {
        for edge in [(a, b), (b, c), (c, a)] {
            if let Some(first) = seen.insert(edge, second) {
                return Err(ColliderError::Winding { first, second });
            }
        }
    }
    Ok(())
}
