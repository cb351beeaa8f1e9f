//! Time integrators of the affine body, one file each.
//!
//! All of them pose the same equation for the end of a step,
//! `c M (q⁺ − q_pred) = Jᵀλ + f − ∂Ψ/∂q(q⁺)`, `C(q⁺) = 0`, and differ in `c`, in the
//! predicted pose, and in how the velocity follows: `q̇⁺ = q̇_pred + γ (q⁺ − q_pred)`.
//! `newton.rs` solves the equation.

pub mod bdf2;
pub mod euler;
mod flight;
pub mod free;
pub mod kicks;
pub mod loose;
pub mod newton;
pub(crate) mod ordinary;
pub mod tempered;

use std::fmt;
use std::str::FromStr;

use crate::math::small::{V3, reciprocals};

/// Which integrator advances the bodies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Integrator {
    /// RATTLE on rotation and strain, tempered to implicit Euler where tension is stiff.
    /// Second order, and robust. The default.
    #[default]
    Tempered,
    /// The same scheme iterated to plain RATTLE. The most accurate; stiff tension needs
    /// small steps. Steps in which something touches a body that joints hold are tempered.
    Rattle,
    /// Implicit Euler, one linearisation at the last state (the paper's step), with as much of the
    /// stiffness of tension as keeps it stable. First order, and the fastest.
    LinearEuler,
    /// Implicit Euler to convergence. Very dissipative.
    ImplicitEuler,
    /// The second-order backward difference formula to convergence.
    Bdf2,
}

impl Integrator {
    /// Every integrator.
    pub const ALL: [Integrator; 5] = [
        Integrator::Tempered,
        Integrator::Rattle,
        Integrator::LinearEuler,
        Integrator::ImplicitEuler,
        Integrator::Bdf2,
    ];

    /// The name used on the command line and in files.
    pub fn name(self) -> &'static str {
        match self {
            Integrator::Tempered => "tempered",
            Integrator::Rattle => "rattle",
            Integrator::LinearEuler => "linear-euler",
            Integrator::ImplicitEuler => "implicit-euler",
            Integrator::Bdf2 => "bdf2",
        }
    }

    /// Order of convergence.
    pub fn order(self) -> u32 {
        match self {
            Integrator::LinearEuler | Integrator::ImplicitEuler => 1,
            _ => 2,
        }
    }

    /// Whether a step ends with a projection of the velocity.
    pub fn projects(self) -> bool {
        matches!(self, Integrator::Tempered | Integrator::Rattle)
    }
}

impl fmt::Display for Integrator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Integrator {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Integrator::ALL
            .into_iter()
            .find(|i| i.name() == name)
            .ok_or_else(|| {
                let known: Vec<_> = Integrator::ALL.iter().map(|i| i.name()).collect();
                format!(
                    "there is no integrator '{name}'; choose one of {}",
                    known.join(", ")
                )
            })
    }
}

/// The coefficients of a scheme for one step.
#[derive(Clone, Copy, Debug)]
pub struct Scheme {
    /// Step length, s.
    pub h: f64,
    /// Inertia per mass in the step equation, 1/s².
    pub c: f64,
    /// Velocity per displacement from the prediction, 1/s.
    pub gamma: f64,
    /// How the rotational stiffness of stress enters.
    pub tempering: Tempering,
}

/// How much of implicit Euler a rotation takes, from r = (hΩ)²/4 with Ω² = K/I.
///
/// φ = floor + blend r²/(1 + r²). With slow rotations under load r² vanishes like h⁴ and the
/// scheme is RATTLE; with fast ones φ tends to 1 and it is implicit Euler. Numbers instead
/// of cases, so that a loop over lanes has no branches.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tempering {
    floor: f64,
    blend: f64,
    /// Of the stiffness that is treated implicitly: without φ, and per φ.
    implicit: [f64; 2],
}

/// Reciprocal of the r at which the slow part of a rotation is tempered by half.
const SPARED_BELOW: f64 = 0.1;

/// r² of three axes.
#[inline(always)]
fn squares(h: f64, k: &V3, i: &V3) -> V3 {
    [0, 1, 2].map(|axis| {
        let r = (0.25 * h * h * k[axis] * i[axis]).min(1e6);
        r * r
    })
}

impl Tempering {
    /// φ = 0, no implicit stiffness.
    pub const OFF: Tempering = Tempering {
        floor: 0.0,
        blend: 0.0,
        implicit: [0.0; 2],
    };
    /// φ from r.
    pub const SMOOTH: Tempering = Tempering {
        floor: 0.0,
        blend: 1.0,
        implicit: [0.5; 2],
    };
    /// φ from r, and as much of the stiffness: a step that is explicit across tension where that
    /// is stable.
    pub const GENTLE: Tempering = Tempering {
        floor: 0.0,
        blend: 1.0,
        implicit: [0.0, 1.0],
    };
    /// φ = 1.
    pub const FULL: Tempering = Tempering {
        floor: 1.0,
        blend: 0.0,
        implicit: [0.5; 2],
    };

    /// φ of the axes of rotational stiffness `k` and reciprocal inertia `i`.
    #[inline(always)]
    pub fn phi(&self, h: f64, k: &V3, i: &V3) -> V3 {
        let square = squares(h, k, i);
        let part = reciprocals(&square.map(|r2| 1.0 + r2));
        [0, 1, 2].map(|axis| self.floor + self.blend * square[axis] * part[axis])
    }

    /// φ, and how much of the slow part of a rotation is spared the tempering: all of it until
    /// the step is several times too long for the axis.
    #[inline(always)]
    pub fn phi_and_spared(&self, h: f64, k: &V3, i: &V3) -> [V3; 2] {
        let square = squares(h, k, i);
        let tempered = square.map(|r2| 1.0 + r2);
        let late = square.map(|r2| 1.0 + r2 * (SPARED_BELOW * SPARED_BELOW));
        let both = reciprocals(&[0, 1, 2].map(|axis| tempered[axis] * late[axis]));
        let phi = |axis: usize| self.floor + self.blend * square[axis] * (late[axis] * both[axis]);
        [
            [phi(0), phi(1), phi(2)],
            [0, 1, 2].map(|axis| tempered[axis] * both[axis]),
        ]
    }

    /// Fraction of the stiffness that is treated implicitly.
    #[inline(always)]
    pub fn implicit_fraction(&self, phi: f64) -> f64 {
        self.implicit[0] + self.implicit[1] * phi
    }
}
