//! Mixed problems: some unknowns have no sign and equations instead of inequalities.
//!
//! ```text
//! 0 = A x + B z + a          x free
//! w = C x + D z + b          z ≥ 0,  w ≥ 0,  zᵀ w = 0
//! ```
//!
//! Elimination of x leaves `M = D − C A⁻¹ B` and `q = b − C A⁻¹ a` (Cline and Pai 2003, after
//! Eq. 5). A may be singular where equations repeat each other: full pivoting finds the
//! independent ones, the unknowns without a pivot are zero, and what the repeated equations
//! disagree by is reported.

use super::{Lcp, LcpError, check};

/// Pivots below this, beside the largest entry of A, count as zero.
const RANK: f64 = 1e-11;

/// A mixed problem: the first unknowns are free and their rows are equations.
#[derive(Clone, Debug, PartialEq)]
pub struct MixedLcp {
    free: usize,
    matrix: Vec<f64>,
    vector: Vec<f64>,
}

/// A mixed problem without its free unknowns.
#[derive(Clone, Debug, PartialEq)]
pub struct Reduction {
    /// What remains to be solved.
    pub lcp: Lcp,
    /// Independent equations.
    pub rank: usize,
    /// Most that a dependent equation is violated by, whatever z is.
    pub inconsistency: f64,
    /// For each free unknown: its value at z = 0, then its negative dependence on z.
    response: Vec<f64>,
}

impl MixedLcp {
    /// A problem of a matrix, row-major, a vector, and the number of free unknowns.
    pub fn new(free: usize, matrix: Vec<f64>, vector: Vec<f64>) -> Result<MixedLcp, LcpError> {
        check(&matrix, &vector)?;
        if free > vector.len() {
            return Err(LcpError::TooManyFree {
                free,
                rows: vector.len(),
            });
        }
        Ok(MixedLcp {
            free,
            matrix,
            vector,
        })
    }

    /// Eliminates the free unknowns.
    pub fn reduce(&self) -> Result<Reduction, LcpError> {
        let mut work = Elimination::new(self);
        work.run();
        work.check_rest()?;
        let response = work.response();
        let (lcp, inconsistency) = (self.schur(&response), work.inconsistency());
        Ok(Reduction {
            lcp,
            rank: work.pivots.len(),
            inconsistency,
            response,
        })
    }

    /// `D − C A⁻¹ B` and `b − C A⁻¹ a`.
    fn schur(&self, response: &[f64]) -> Lcp {
        let (m, size) = (self.free, self.vector.len());
        let (n, width) = (size - m, size - m + 1);
        let mut lcp = Lcp {
            matrix: Vec::with_capacity(n * n),
            vector: Vec::with_capacity(n),
        };
        for i in m..size {
            let row = &self.matrix[i * size..(i + 1) * size];
            let with = |k: usize| -> f64 {
                let known = response.chunks_exact(width).map(|x| x[k]);
                row[..m].iter().zip(known).map(|(c, x)| c * x).sum()
            };
            lcp.vector.push(self.vector[i] + with(0));
            for j in 0..n {
                lcp.matrix.push(row[m + j] - with(1 + j));
            }
        }
        lcp
    }
}

impl Reduction {
    /// The free unknowns that belong to z.
    pub fn free_unknowns(&self, z: &[f64]) -> Vec<f64> {
        self.response
            .chunks_exact(z.len() + 1)
            .map(|x| x[0] - x[1..].iter().zip(z).map(|(b, z)| b * z).sum::<f64>())
            .collect()
    }
}

/// Gauss–Jordan elimination of `A | a | B` with full pivoting.
struct Elimination {
    free: usize,
    width: usize,
    rows: Vec<f64>,
    /// Row and column of each pivot.
    pivots: Vec<(usize, usize)>,
    /// Largest entry of A, and of a and B in each row, at the start.
    size: f64,
    sizes: Vec<f64>,
}

impl Elimination {
    fn new(problem: &MixedLcp) -> Elimination {
        let (m, size) = (problem.free, problem.vector.len());
        let mut rows = Vec::with_capacity(m * (size + 1));
        let mut sizes = Vec::with_capacity(m);
        let mut largest = 0.0_f64;
        for i in 0..m {
            let row = &problem.matrix[i * size..(i + 1) * size];
            rows.extend_from_slice(&row[..m]);
            rows.push(problem.vector[i]);
            rows.extend_from_slice(&row[m..]);
            largest = row[..m].iter().fold(largest, |most, x| most.max(x.abs()));
            sizes.push(row[m..].iter().fold(0.0, |most: f64, x| most.max(x.abs())));
        }
        Elimination {
            free: m,
            width: size + 1,
            rows,
            pivots: Vec::with_capacity(m),
            size: largest,
            sizes,
        }
    }

    fn run(&mut self) {
        while let Some((row, column)) = self.next_pivot() {
            let (before, rest) = self.rows.split_at_mut(row * self.width);
            let (own, after) = rest.split_at_mut(self.width);
            let scale = 1.0 / own[column];
            own.iter_mut().for_each(|x| *x *= scale);
            for other in before
                .chunks_exact_mut(self.width)
                .chain(after.chunks_exact_mut(self.width))
            {
                let factor = other[column];
                for (x, p) in other.iter_mut().zip(own.iter()) {
                    *x -= factor * p;
                }
            }
            self.pivots.push((row, column));
        }
    }

    /// The largest entry of A in the rows that have no pivot yet, unless it is as good as zero.
    fn next_pivot(&self) -> Option<(usize, usize)> {
        let mut best = (RANK * self.size, None);
        for row in self.rest() {
            for column in 0..self.free {
                let entry = self.rows[row * self.width + column].abs();
                if entry > best.0 {
                    best = (entry, Some((row, column)));
                }
            }
        }
        best.1
    }

    fn rest(&self) -> impl Iterator<Item = usize> {
        (0..self.free).filter(|row| self.pivots.iter().all(|(used, _)| used != row))
    }

    /// Rows without a pivot must not tie z.
    fn check_rest(&self) -> Result<(), LcpError> {
        let largest = self.sizes.iter().fold(self.size, |most, x| most.max(*x));
        for row in self.rest() {
            let start = row * self.width + self.free + 1;
            let coupling = &self.rows[start..(row + 1) * self.width];
            // What is left of a coupling is rounding unless it is well above it.
            if coupling.iter().any(|x| x.abs() > 1e-8 * largest) {
                return Err(LcpError::NotEliminable { row });
            }
        }
        Ok(())
    }

    fn inconsistency(&self) -> f64 {
        self.rest().fold(0.0, |most: f64, row| {
            most.max(self.rows[row * self.width + self.free].abs())
        })
    }

    /// `x = −A⁻¹ a − A⁻¹ B z`, zero for unknowns without a pivot.
    fn response(&self) -> Vec<f64> {
        let width = self.width - self.free;
        let mut response = vec![0.0; self.free * width];
        for &(row, column) in &self.pivots {
            let from = &self.rows[row * self.width + self.free..(row + 1) * self.width];
            let to = &mut response[column * width..(column + 1) * width];
            to.copy_from_slice(from);
            to[0] = -to[0];
        }
        response
    }
}
