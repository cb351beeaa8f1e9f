//! Volume, mass, centre and second-moment matrix of shapes.
//!
//! Per unit mass, with r the radius and h the half-length:
//!
//! ```text
//! box        a²/3 per axis                  ellipsoid  a²/5 per axis
//! cylinder   r²/4, r²/4, h²/3               cone       3r²/20, 3r²/20, 3h²/20 about z = −h/2
//! hemisphere r²/5 per axis about its disc, centre 3r/8 above it
//! ```
//!
//! A tetrahedron with corners 0, a, b, c and d = a·(b×c), g = a+b+c has
//!
//! ```text
//! V = d/6,   ∫x = d g/24,   ∫xxᵀ = d (aaᵀ + bbᵀ + ccᵀ + ggᵀ)/120
//! ```
//!
//! and a closed mesh is the signed sum of those over its triangles.

use std::f64::consts::PI;

use glam::{DMat3, DQuat, DVec3};

use super::{DEFAULT_DENSITY, MassError, SYMMETRY_TOLERANCE, positive};
use crate::body::shape::{Part, Shape, ShapeError, TriMesh, convex_hull};

/// The sums that add up over parts of a body.
#[derive(Debug, Clone, Copy)]
pub(super) struct Moments {
    /// Mass (kg).
    pub mass: f64,
    /// Volume (m³).
    pub volume: f64,
    /// Centre of mass (m).
    pub center: DVec3,
    /// ∫ρ (x−c)(x−c)ᵀ dV (kg m²).
    pub second: DMat3,
}

impl Moments {
    /// Moments of a shape that has passed [`Shape::check`].
    pub fn of_shape(shape: &Shape, density: f64) -> Result<Self, ShapeError> {
        Ok(match shape {
            Shape::Box { half_extents: a } => {
                Self::centred(8.0 * a.element_product(), *a * *a / 3.0, density)
            }
            Shape::Sphere { radius } => ellipsoid(DVec3::splat(*radius), density),
            Shape::Ellipsoid { semi_axes } => ellipsoid(*semi_axes, density),
            Shape::Capsule {
                radius,
                half_length,
            } => capsule(*radius, *half_length, density),
            Shape::Cylinder {
                radius: r,
                half_length: h,
            } => {
                let per_mass = DVec3::new(r * r / 4.0, r * r / 4.0, h * h / 3.0);
                Self::centred(2.0 * PI * r * r * h, per_mass, density)
            }
            Shape::Cone {
                radius: r,
                half_length: h,
            } => {
                let per_mass = DVec3::new(r * r, r * r, h * h) * 0.15;
                let cone = Self::centred(2.0 * PI * r * r * h / 3.0, per_mass, density);
                let center = DVec3::new(0.0, 0.0, -0.5 * h);
                Self { center, ..cone }
            }
            Shape::ConvexHull { points } => of_mesh(&convex_hull(points)?, density)?,
            Shape::Mesh(mesh) => of_mesh(mesh, density)?,
            Shape::Compound(parts) => of_parts(parts, density)?,
        })
    }

    /// Moments that a checked mass and inertia tensor stand for.
    pub fn of_inertia(
        mass: f64,
        center: DVec3,
        inertia: DMat3,
        volume: Option<f64>,
    ) -> Result<Self, MassError> {
        positive("mass", mass)?;
        let volume = volume.unwrap_or(mass / DEFAULT_DENSITY);
        positive("volume", volume)?;
        finite_center(center)?;
        let inertia = symmetric(inertia)?;
        let half_trace = 0.5 * (inertia.x_axis.x + inertia.y_axis.y + inertia.z_axis.z);
        Ok(Self {
            mass,
            volume,
            center,
            second: DMat3::from_diagonal(DVec3::splat(half_trace)) - inertia,
        })
    }

    fn centred(volume: f64, second_per_mass: DVec3, density: f64) -> Self {
        let mass = density * volume;
        Self {
            mass,
            volume,
            center: DVec3::ZERO,
            second: DMat3::from_diagonal(second_per_mass * mass),
        }
    }

    fn placed(self, translation: DVec3, rotation: DQuat) -> Self {
        Self {
            center: rotation * self.center + translation,
            second: turned(self.second, rotation),
            ..self
        }
    }

    /// Moments of all matter together (parallel-axis theorem); none for none.
    pub fn sum(parts: impl Iterator<Item = Self> + Clone) -> Option<Self> {
        let mass: f64 = parts.clone().map(|part| part.mass).sum();
        let first: DVec3 = parts.clone().map(|part| part.center * part.mass).sum();
        let center = first / mass;
        let about_center = |part: Self| part.second + outer(part.center - center) * part.mass;
        let second = parts
            .clone()
            .map(about_center)
            .reduce(|left, right| left + right)?;
        let volume = parts.map(|part| part.volume).sum();
        Some(Self {
            mass,
            volume,
            center,
            second,
        })
    }
}

fn ellipsoid(semi_axes: DVec3, density: f64) -> Moments {
    let volume = 4.0 / 3.0 * PI * semi_axes.element_product();
    Moments::centred(volume, semi_axes * semi_axes / 5.0, density)
}

fn capsule(r: f64, h: f64, density: f64) -> Moments {
    let straight = 2.0 * PI * r * r * h;
    let caps = 4.0 / 3.0 * PI * r * r * r;
    let across = straight * r * r / 4.0 + caps * r * r / 5.0;
    // Mean of (h + z)² over a hemisphere: h² + 2h·3r/8 + r²/5.
    let along = straight * h * h / 3.0 + caps * (h * h + 0.75 * h * r + r * r / 5.0);
    let volume = straight + caps;
    let per_mass = DVec3::new(across, across, along) / volume;
    Moments::centred(volume, per_mass, density)
}

fn of_mesh(mesh: &TriMesh, density: f64) -> Result<Moments, ShapeError> {
    mesh.check_closed()?;
    let origin = mesh.midpoint();
    let (mut six_volumes, mut first) = (0.0, DVec3::ZERO);
    for [a, b, c] in mesh.corners(origin) {
        let d = a.dot(b.cross(c));
        six_volumes += d;
        first += (a + b + c) * d;
    }
    let center = origin + first / (4.0 * six_volumes);
    // A second pass about the centre avoids subtracting two large numbers.
    let mut second = DMat3::ZERO;
    for [a, b, c] in mesh.corners(center) {
        let d = a.dot(b.cross(c));
        second += (outer(a) + outer(b) + outer(c) + outer(a + b + c)) * (d / 120.0);
    }
    let volume = six_volumes / 6.0;
    Ok(Moments {
        mass: density * volume,
        volume,
        center,
        second: second * density,
    })
}

fn of_parts(parts: &[Part], density: f64) -> Result<Moments, ShapeError> {
    let place = |(index, part): (usize, &Part)| {
        let density = density * part.relative_density.unwrap_or(1.0);
        let moments = Moments::of_shape(&part.shape, density);
        let moments = moments.map_err(|error| error.in_part(index))?;
        Ok(moments.placed(part.translation, part.rotation.normalize()))
    };
    let placed: Vec<Moments> = parts
        .iter()
        .enumerate()
        .map(place)
        .collect::<Result<_, ShapeError>>()?;
    Moments::sum(placed.into_iter()).ok_or(ShapeError::EmptyCompound)
}

/// v vᵀ.
pub(super) fn outer(v: DVec3) -> DMat3 {
    DMat3::from_cols(v * v.x, v * v.y, v * v.z)
}

/// R M Rᵀ.
pub(super) fn turned(matrix: DMat3, rotation: DQuat) -> DMat3 {
    let rotation = DMat3::from_quat(rotation);
    rotation * matrix * rotation.transpose()
}

fn finite_center(center: DVec3) -> Result<(), MassError> {
    for (axis, value) in super::error::AXIS_NAMES.iter().zip(center.to_array()) {
        if !value.is_finite() {
            let field = format!("center.{axis}");
            return Err(MassError::NotFinite { field, value });
        }
    }
    Ok(())
}

/// The tensor with mirrored entries averaged, refused if they disagree.
fn symmetric(inertia: DMat3) -> Result<DMat3, MassError> {
    let columns = inertia.to_cols_array_2d();
    for (row, column) in (0..9).map(|i| (i / 3, i % 3)) {
        let value = columns[column][row];
        if !value.is_finite() {
            let field = format!("inertia[{row}][{column}]");
            return Err(MassError::NotFinite { field, value });
        }
    }
    let largest = inertia
        .to_cols_array()
        .into_iter()
        .fold(0.0, |a: f64, b| a.max(b.abs()));
    for (row, column) in [(0, 1), (0, 2), (1, 2)] {
        let (upper, lower) = (columns[column][row], columns[row][column]);
        if (upper - lower).abs() > SYMMETRY_TOLERANCE * largest {
            return Err(MassError::Asymmetric {
                row,
                column,
                upper,
                lower,
            });
        }
    }
    Ok((inertia + inertia.transpose()) * 0.5)
}
