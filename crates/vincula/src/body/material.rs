//! Linear elastic material of an almost rigid body.

use super::affine::Affine;
use super::mass::MassProperties;

/// Stiffness of a body: co-rotated linear elasticity (He et al. 2026, Eq. 15).
///
/// The body deforms by one uniform strain. The default, E = 1 GPa and ν = 0.3, is that
/// of a hard plastic: joints feel rigid, and redundant constraints stay solvable.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Material {
    /// Young's modulus E, Pa.
    pub young: f64,
    /// Poisson's ratio ν, from 0 to just below 0.5.
    pub poisson: f64,
}

impl Default for Material {
    fn default() -> Self {
        Material {
            young: 1e9,
            poisson: 0.3,
        }
    }
}

impl Material {
    /// A material of the given Young's modulus, Pa, with ν = 0.3.
    pub fn with_young(young: f64) -> Self {
        Material {
            young,
            ..Material::default()
        }
    }

    /// Lamé's μ, the shear modulus, Pa.
    pub fn shear_modulus(&self) -> f64 {
        self.young / (2.0 * (1.0 + self.poisson))
    }

    /// Lamé's λ, Pa.
    pub fn lame_lambda(&self) -> f64 {
        self.young * self.poisson / ((1.0 + self.poisson) * (1.0 - 2.0 * self.poisson))
    }

    /// What is wrong with the material, if anything.
    pub fn fault(&self) -> Option<String> {
        if !(self.young > 0.0 && self.young.is_finite()) {
            return Some(format!(
                "Young's modulus is {} Pa; it must be positive and finite",
                self.young
            ));
        }
        if !(0.0..0.5).contains(&self.poisson) {
            return Some(format!(
                "Poisson's ratio is {}; it must lie in [0, 0.5)",
                self.poisson
            ));
        }
        None
    }

    /// The mechanics of a body of these mass properties made of this material.
    pub fn affine(&self, mass: &MassProperties) -> Affine {
        let shear = mass.volume * self.shear_modulus();
        let bulk = mass.volume * self.lame_lambda();
        Affine::new(mass.mass, mass.second_moments.to_array(), shear, bulk)
    }
}
