//! Which solver serves which island, and why.

use std::fmt;

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
            "{}: {}, {}, {} unknowns ({})",
            self.solver,
            plural(self.bodies, "body", "bodies"),
            plural(self.joints, "joint", "joints"),
            self.unknowns,
            self.why
        )
    }
}
