//! Which solver serves the contacts.

use std::fmt;
use std::str::FromStr;

/// How contacts are solved. All see the same rows and obey the same law.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ContactSolver {
    /// Gauss–Seidel first; small groups that it does not finish soon by anticipation. Large
    /// mechanisms, and many contacts of mechanisms, by products with their factors.
    #[default]
    Automatic,
    /// The contacts of a group as one dense problem, with the joints behind them inside;
    /// Newton's method.
    Anticipation,
    /// The same problem by operator splitting.
    Splitting,
    /// Block Gauss–Seidel with the motion of the bodies; each contact feels its mechanism.
    GaussSeidel,
    /// Every contact an implicit spring, a hundredth as soft as its bodies are inert.
    Penalty,
}

impl ContactSolver {
    /// Every solver.
    pub const ALL: [ContactSolver; 5] = [
        ContactSolver::Automatic,
        ContactSolver::Anticipation,
        ContactSolver::Splitting,
        ContactSolver::GaussSeidel,
        ContactSolver::Penalty,
    ];

    /// The name used on the command line and in files.
    pub fn name(self) -> &'static str {
        match self {
            ContactSolver::Automatic => "automatic",
            ContactSolver::Anticipation => "anticipation",
            ContactSolver::Splitting => "splitting",
            ContactSolver::GaussSeidel => "gauss-seidel",
            ContactSolver::Penalty => "penalty",
        }
    }

    /// Compliance of every contact, as a fraction of that of its bodies.
    pub(crate) fn softness(self) -> f64 {
        match self {
            ContactSolver::Penalty => 0.01,
            _ => 0.0,
        }
    }
}

impl fmt::Display for ContactSolver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for ContactSolver {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let known = ContactSolver::ALL;
        known.into_iter().find(|s| s.name() == name).ok_or_else(|| {
            let names: Vec<_> = known.iter().map(|s| s.name()).collect();
            format!(
                "there is no contact solver '{name}'; choose one of {}",
                names.join(", ")
            )
        })
    }
}
