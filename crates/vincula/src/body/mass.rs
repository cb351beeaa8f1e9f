//! Mass, centre and second moments of a body.
//!
//! An affine body moves as x = c + A X̄, so its inertia is the second-moment
//! matrix S = ∫ρ X̄ X̄ᵀ dV about the centre of mass. In the principal frame
//! S = diag(s), and the rigid-body moments follow from it and back:
//!
//! ```text
//! I = tr(S)·1 − S        I_x = s_y + s_z, …
//! S = tr(I)/2·1 − I      s_x = (I_y + I_z − I_x)/2, …
//! ```
//!
//! s_x ≥ 0 is the triangle inequality I_y + I_z ≥ I_x. The affine body divides
//! by each s, so a body must have extent in all three directions: flat plates
//! and thin rods are refused unless the caller grants a floor.

mod error;
mod moments;
mod principal;

pub use error::MassError;

use glam::{DMat3, DQuat, DVec3};

use super::shape::{Shape, ShapeError};
use moments::Moments;
use principal::principal_frame;

/// Second moments at or below this fraction of the largest one are refused: a
/// plate 1 m wide must be thicker than 1 µm.
pub const THINNEST: f64 = 1e-12;

/// Density assumed where only mass and inertia are known (kg/m³): water.
pub const DEFAULT_DENSITY: f64 = 1000.0;

/// Relative difference of mirrored entries at which a tensor is asymmetric.
const SYMMETRY_TOLERANCE: f64 = 1e-9;

/// How a body's matter is distributed, up to second order.
///
/// ```
/// use glam::DVec3;
/// use vincula::body::{mass::MassProperties, shape::Shape};
///
/// let brick = Shape::Box { half_extents: DVec3::new(0.10, 0.05, 0.03) };
/// let mass = MassProperties::from_shape(&brick, 2000.0)?;
/// assert!((mass.mass - 2.4).abs() < 1e-12);
/// assert_eq!(mass.center, DVec3::ZERO);
/// // I_z = m (l² + w²) / 12 with edge lengths l and w
/// let expected = 2.4 * (0.2_f64.powi(2) + 0.1_f64.powi(2)) / 12.0;
/// assert!((mass.inertia().z - expected).abs() < 1e-15);
///
/// // The same brick, weighed.
/// let weighed = mass.with_mass(2.5)?;
/// assert!((weighed.density() - 2.5 / 0.0012).abs() < 1e-9);
///
/// // An inertia that no body can have is refused by name.
/// let wrong = glam::DMat3::from_diagonal(DVec3::new(0.1, 0.1, 0.5));
/// let error = MassProperties::from_inertia(1.0, DVec3::ZERO, wrong, None).unwrap_err();
/// assert!(error.to_string().starts_with("I_x + I_y = 0.2 < I_z = 0.5"));
/// # Ok::<(), vincula::body::mass::MassError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MassProperties {
    /// Mass (kg).
    pub mass: f64,
    /// Volume (m³).
    pub volume: f64,
    /// Centre of mass in the shape frame (m).
    pub center: DVec3,
    /// Rotation from the principal frame to the shape frame: of the 24
    /// right-handed frames along the principal axes, the one nearest to the
    /// shape frame (the identity if the shape's axes are principal).
    pub axes: DQuat,
    /// s_j = ∫ρ x̄_j² dV about the centre, along the principal axes (kg m²).
    pub second_moments: DVec3,
}

impl MassProperties {
    /// Exact properties of a shape of uniform `density` (kg/m³).
    ///
    /// Round shapes use closed forms, hulls and meshes the divergence theorem,
    /// compounds the parallel-axis theorem; a part's own density is the
    /// product of `density` and its relative density.
    pub fn from_shape(shape: &Shape, density: f64) -> Result<Self, MassError> {
        positive("density", density)?;
        shape.check()?;
        Self::from_moments(&Moments::of_shape(shape, density)?)
    }

    /// Properties of a body known by `mass` (kg), `center` (m) and `inertia`,
    /// its tensor about the centre in the axes of the shape frame (kg m²).
    ///
    /// Without a `volume` (m³) it is taken as if the body were as dense as
    /// water ([`DEFAULT_DENSITY`]). A thin rod or flat plate, whose second
    /// moment vanishes along some axis, is refused:
    /// see [`from_inertia_with_floor`](Self::from_inertia_with_floor).
    pub fn from_inertia(
        mass: f64,
        center: DVec3,
        inertia: DMat3,
        volume: Option<f64>,
    ) -> Result<Self, MassError> {
        let moments = Moments::of_inertia(mass, center, inertia, volume)?;
        Self::from_moments(&moments)
    }

    /// As [`from_inertia`](Self::from_inertia), but raises each second moment
    /// to at least `floor` times the largest one. This thickens rods and
    /// plates, and forgives a triangle inequality that fails by no more than
    /// the floor, as rounded numbers from files do.
    ///
    /// A floor of 10⁻⁴ gives a plate a thickness of a hundredth of its width
    /// and changes its moments of inertia by 10⁻⁴. The floor must lie between
    /// [`THINNEST`] and 1.
    pub fn from_inertia_with_floor(
        mass: f64,
        center: DVec3,
        inertia: DMat3,
        volume: Option<f64>,
        floor: f64,
    ) -> Result<Self, MassError> {
        if !(THINNEST..=1.0).contains(&floor) {
            return Err(MassError::FloorOutOfRange { floor });
        }
        let moments = Moments::of_inertia(mass, center, inertia, volume)?;
        let (axes, second_moments) = principal_frame(moments.second);
        let largest = refuse_impossible(second_moments, floor)?;
        let raised = second_moments.max(DVec3::splat(floor * largest));
        Self::assemble(&moments, axes, raised)
    }

    /// Properties of several bodies joined into one, all given in one frame.
    pub fn combine(bodies: &[Self]) -> Result<Self, MassError> {
        let moments = Moments::sum(bodies.iter().map(Self::moments)).ok_or(MassError::NoBodies)?;
        Self::from_moments(&moments)
    }

    fn from_moments(moments: &Moments) -> Result<Self, MassError> {
        let (axes, second_moments) = principal_frame(moments.second);
        let largest = refuse_impossible(second_moments, THINNEST)?;
        let minimum = THINNEST * largest;
        for (axis, moment) in error::AXIS_NAMES.into_iter().zip(second_moments.to_array()) {
            if moment <= minimum {
                return Err(MassError::Thin {
                    axis,
                    moment,
                    minimum,
                });
            }
        }
        Self::assemble(moments, axes, second_moments)
    }

    fn assemble(moments: &Moments, axes: DQuat, second_moments: DVec3) -> Result<Self, MassError> {
        positive("mass", moments.mass)?;
        positive("volume", moments.volume)?;
        Ok(Self {
            mass: moments.mass,
            volume: moments.volume,
            center: moments.center,
            axes,
            second_moments,
        })
    }

    /// Refuses numbers that no body has: the fields are public and can be filled in by hand.
    pub(crate) fn check(&self) -> Result<(), MassError> {
        positive("mass", self.mass)?;
        positive("volume", self.volume)?;
        for (axis, moment) in error::AXIS_NAMES
            .into_iter()
            .zip(self.second_moments.to_array())
        {
            positive(&format!("second moment along {axis}"), moment)?;
        }
        if !self.center.is_finite() {
            let (field, value) = ("center".to_string(), self.center.element_sum());
            return Err(MassError::NotFinite { field, value });
        }
        let length = self.axes.length();
        if !((length - 1.0).abs() <= 1e-6) {
            return Err(ShapeError::NotUnitRotation { length }.into());
        }
        Ok(())
    }

    fn moments(&self) -> Moments {
        Moments {
            mass: self.mass,
            volume: self.volume,
            center: self.center,
            second: self.second_moment_matrix(),
        }
    }

    /// The same body scaled in density to weigh `mass` (kg).
    pub fn with_mass(self, mass: f64) -> Result<Self, MassError> {
        positive("mass", mass)?;
        let scaled = Self {
            mass,
            second_moments: self.second_moments * (mass / self.mass),
            ..self
        };
        positive("second moment", scaled.second_moments.min_element())?;
        positive("second moment", scaled.second_moments.max_element())?;
        Ok(scaled)
    }

    /// The same body described in another frame, in which the shape frame lies
    /// at `translation` (m), turned by the unit quaternion `rotation`.
    ///
    /// The principal axes keep their order: they are not renamed to the ones
    /// nearest to the new frame.
    pub fn placed(self, translation: DVec3, rotation: DQuat) -> Self {
        Self {
            center: rotation * self.center + translation,
            axes: rotation * self.axes,
            ..self
        }
    }

    /// Mean density (kg/m³).
    pub fn density(&self) -> f64 {
        self.mass / self.volume
    }

    /// Principal moments of inertia I_x = s_y + s_z, … about the centre (kg m²).
    pub fn inertia(&self) -> DVec3 {
        let s = self.second_moments;
        DVec3::new(s.y + s.z, s.z + s.x, s.x + s.y)
    }

    /// Inertia tensor about the centre, in the axes of the shape frame (kg m²).
    pub fn inertia_tensor(&self) -> DMat3 {
        moments::turned(DMat3::from_diagonal(self.inertia()), self.axes)
    }

    /// Inertia tensor about `point` (m), both in the shape frame (kg m²).
    pub fn inertia_tensor_about(&self, point: DVec3) -> DMat3 {
        let arm = self.center - point;
        let steiner = DMat3::from_diagonal(DVec3::splat(arm.length_squared()));
        self.inertia_tensor() + (steiner - moments::outer(arm)) * self.mass
    }

    /// S = ∫ρ (x−c)(x−c)ᵀ dV in the axes of the shape frame (kg m²).
    pub fn second_moment_matrix(&self) -> DMat3 {
        moments::turned(DMat3::from_diagonal(self.second_moments), self.axes)
    }
}

/// Refuses negative moments and triangle inequalities that fail by more than
/// `slack` times the largest second moment, which is returned.
fn refuse_impossible(second_moments: DVec3, slack: f64) -> Result<f64, MassError> {
    let s = second_moments.to_array();
    let largest = second_moments.max_element();
    for axis in 0..3 {
        let (next, last) = ((axis + 1) % 3, (axis + 2) % 3);
        let moment = s[next] + s[last];
        let field = || format!("principal moment of inertia I_{}", error::AXIS_NAMES[axis]);
        if !moment.is_finite() {
            let (field, value) = (field(), moment);
            return Err(MassError::NotFinite { field, value });
        }
        if largest <= 0.0 || moment < -2.0 * slack * largest {
            let (field, value) = (field(), moment);
            return Err(MassError::NotPositive { field, value });
        }
    }
    for axis in 0..3 {
        if s[axis] < -slack * largest {
            return Err(MassError::impossible(axis, second_moments));
        }
    }
    Ok(largest)
}

fn positive(field: &str, value: f64) -> Result<(), MassError> {
    let field = || field.to_string();
    if !value.is_finite() {
        let field = field();
        return Err(MassError::NotFinite { field, value });
    }
    if value <= 0.0 {
        let field = field();
        return Err(MassError::NotPositive { field, value });
    }
    Ok(())
}

#[cfg(test)]
mod tests;
