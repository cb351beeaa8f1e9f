//! Which solver serves which island, and why.

use std::fmt;
use std::str::FromStr;

/// How solvers are chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum SolverChoice {
    /// From the shape of the joint graph.
    #[default]
    Automatic,
    /// Sparse Cholesky everywhere.
    Cholesky,
    /// Dense everywhere: slow, the oracle of the tests.
    Dense,
    /// Block Gauss–Seidel everywhere, started from the forces of the last step and swept
    /// until the residual is 1e-9 of the largest violation, or 2000 rounds at most. The
    /// violation that is left is in the report of the step.
    GaussSeidel,
}

impl SolverChoice {
    /// Every choice.
    pub const ALL: [SolverChoice; 4] = [
        SolverChoice::Automatic,
        SolverChoice::Cholesky,
        SolverChoice::Dense,
        SolverChoice::GaussSeidel,
    ];

    /// The name used on the command line and in files.
    pub fn name(self) -> &'static str {
        match self {
            SolverChoice::Automatic => "automatic",
            SolverChoice::Cholesky => "cholesky",
            SolverChoice::Dense => "dense",
            SolverChoice::GaussSeidel => "gauss-seidel",
        }
    }
}

impl FromStr for SolverChoice {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        SolverChoice::ALL
            .into_iter()
            .find(|choice| choice.name() == name)
            .ok_or_else(|| {
                let known: Vec<_> = SolverChoice::ALL.iter().map(|c| c.name()).collect();
                format!(
                    "there is no solver '{name}'; choose one of {}",
                    known.join(", ")
                )
            })
    }
}

/// The plan of one island.
#[derive(Clone, Debug, PartialEq)]
pub struct IslandPlan {
    /// Name of the solver.
    pub solver: &'static str,
    /// Why it was chosen.
    pub why: &'static str,
    /// Bodies that the joints of the island touch.
    pub bodies: usize,
    /// Joints.
    pub joints: usize,
    /// Bodies that are unknowns themselves, because many joints meet at them.
    pub hubs: usize,
    /// Scalar unknowns, those of hubs included.
    pub unknowns: usize,
    /// Estimated floating-point operations of one factorization; not a number when unknown.
    pub factor_flops: f64,
    /// Estimated numbers in the factors; not a number when unknown.
    pub stored: f64,
}

impl fmt::Display for IslandPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = |n: usize, one: &str, many: &str| {
            if n == 1 {
                format!("1 {one}")
            } else {
                format!("{n} {many}")
            }
        };
        write!(
            f,
            "{}: {}, {}, ",
            self.solver,
            plural(self.bodies, "body", "bodies"),
            plural(self.joints, "joint", "joints"),
        )?;
        if self.hubs > 0 {
            write!(f, "{}, ", plural(self.hubs, "hub", "hubs"))?;
        }
        write!(f, "{} unknowns", self.unknowns)?;
        if self.factor_flops.is_finite() && self.stored.is_finite() {
            let (flops, stored) = (self.factor_flops, self.stored);
            write!(
                f,
                ", {flops:.1e} flops, {stored:.1e} numbers in the factors"
            )?;
        }
        write!(f, " ({})", self.why)
    }
}
