//! Linear complementarity problems.
//!
//! ```text
//! w = M z + q,   z ≥ 0,   w ≥ 0,   zᵀ w = 0
//! ```
//!
//! Source: Cottle, Pang and Stone, *The Linear Complementarity Problem*; Cline and Pai 2003,
//! Eq. 6. [`lemke`] solves them by pivoting, [`mixed`] first removes unknowns without sign.

mod dense;
pub mod lemke;
pub mod mixed;

pub use lemke::{Lemke, Outcome};
pub use mixed::{MixedLcp, Reduction};

use thiserror::Error;

/// Why a problem cannot be stated or reduced.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum LcpError {
    /// The matrix is not square or does not fit the vector.
    #[error("the matrix has {entries} entries and the vector {rows}; it must have {rows}²")]
    Shape {
        /// Entries of the matrix.
        entries: usize,
        /// Entries of the vector.
        rows: usize,
    },
    /// An entry is not finite.
    #[error("row {row} of the complementarity problem has an entry that is not finite")]
    NotFinite {
        /// The row.
        row: usize,
    },
    /// There are more free unknowns than rows.
    #[error("{free} of {rows} unknowns are said to be free; there are not so many")]
    TooManyFree {
        /// Free unknowns asked for.
        free: usize,
        /// All unknowns.
        rows: usize,
    },
    /// An equation does not determine a free unknown but ties the others.
    #[error(
        "equation {row} of the mixed problem determines no free unknown yet involves those \
         with a sign; state it as two inequalities"
    )]
    NotEliminable {
        /// The equation.
        row: usize,
    },
}

/// A linear complementarity problem: `w = M z + q`, both not negative, one of each pair zero.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lcp {
    matrix: Vec<f64>,
    vector: Vec<f64>,
}

impl Lcp {
    /// A problem of a matrix, row-major, and a vector.
    pub fn new(matrix: Vec<f64>, vector: Vec<f64>) -> Result<Lcp, LcpError> {
        check(&matrix, &vector)?;
        Ok(Lcp { matrix, vector })
    }

    /// Number of pairs.
    pub fn size(&self) -> usize {
        self.vector.len()
    }

    /// M, row-major.
    pub fn matrix(&self) -> &[f64] {
        &self.matrix
    }

    /// q.
    pub fn vector(&self) -> &[f64] {
        &self.vector
    }

    /// One entry of `w = M z + q`.
    pub fn slack(&self, z: &[f64], row: usize) -> f64 {
        let n = self.size();
        let entries = &self.matrix[row * n..(row + 1) * n];
        let sum: f64 = entries.iter().zip(z).map(|(m, z)| m * z).sum();
        sum + self.vector[row]
    }

    /// How far z is from a solution: the largest |min(z_i, w_i)|, zero for a solution.
    pub fn residual(&self, z: &[f64]) -> f64 {
        (0..self.size()).fold(0.0, |worst: f64, row| {
            worst.max(z[row].min(self.slack(z, row)).abs())
        })
    }
}

/// Square, of the right size, finite.
fn check(matrix: &[f64], vector: &[f64]) -> Result<(), LcpError> {
    let rows = vector.len();
    if matrix.len() != rows * rows {
        return Err(LcpError::Shape {
            entries: matrix.len(),
            rows,
        });
    }
    let finite = |row: usize| {
        let entries = &matrix[row * rows..(row + 1) * rows];
        vector[row].is_finite() && entries.iter().all(|x| x.is_finite())
    };
    match (0..rows).find(|&row| !finite(row)) {
        Some(row) => Err(LcpError::NotFinite { row }),
        None => Ok(()),
    }
}
