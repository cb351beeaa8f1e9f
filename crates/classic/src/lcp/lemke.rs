//! Lemke's algorithm with the lexicographic ratio test.
//!
//! ```text
//! w = M z + q + d z₀,   d > 0
//! ```
//!
//! A large z₀ makes everything feasible. It is brought in, the most negative row leaves, and
//! from then on the complement of what left last enters, so that at most one pair has both
//! members out of the basis. The walk ends when z₀ leaves: a solution. Or nothing can leave:
//! a ray, which for a copositive-plus matrix proves that no z ≥ 0 has w ≥ 0.
//!
//! Ties are broken lexicographically: the ratio test compares `(q̄ᵢ, B⁻¹ rows)/āᵢ` entry by
//! entry, which cannot tie, so the walk never returns to a basis. The columns of w carry B⁻¹
//! along, for they began as the identity.
//!
//! Source: Cottle, Pang and Stone, sections 4.4 and 4.9. Rows and columns are first scaled by
//! powers of two. The rows' scale only changes d, the columns' only the unit of z, so what is
//! known of a class of matrices stays true.

use super::Lcp;
use super::dense::solve_in_place;

/// Entries below this, in the scaled tableau, cannot be pivots.
const PIVOT: f64 = 1e-11;
/// Ratios closer than this tie.
const TIE: f64 = 1e-12;
/// Rounds of scaling.
const ROUNDS: usize = 4;

/// How a walk ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Outcome {
    /// A solution, in [`Lemke::solution`].
    Solved {
        /// Pivots taken.
        pivots: usize,
        /// Largest |min(zᵢ, wᵢ)| of the scaled problem, whose q has entries of at most one.
        residual: f64,
    },
    /// A ray, in [`Lemke::ray`]: the walk can go on for ever and found no solution.
    Ray {
        /// Pivots taken.
        pivots: usize,
    },
    /// The walk was stopped.
    PivotLimit {
        /// Pivots taken.
        pivots: usize,
    },
}

/// Memory of the algorithm, and its last answer.
#[derive(Clone, Debug, Default)]
pub struct Lemke {
    /// Most pivots of a walk; None means fifty for each pair, and a hundred.
    pub limit: Option<usize>,
    /// Rows of `q̄ | w columns | z columns | z₀ column`.
    tableau: Vec<f64>,
    /// The column that is basic in each row.
    basis: Vec<usize>,
    row_scale: Vec<f64>,
    column_scale: Vec<f64>,
    scaled: Lcp,
    answer: Vec<f64>,
    trial: Vec<f64>,
    block: Vec<f64>,
    ray: Vec<f64>,
}

impl Lemke {
    /// Nothing held yet; memory grows with the problems it is given.
    pub fn new() -> Lemke {
        Lemke::default()
    }

    /// z of the last problem solved, in the problem's own units.
    pub fn solution(&self) -> &[f64] {
        &self.answer
    }

    /// The direction of z on the last ray, in the problem's own units.
    pub fn ray(&self) -> &[f64] {
        &self.ray
    }

    /// Solves a problem. Allocates nothing for a size that it has seen.
    pub fn solve(&mut self, problem: &Lcp) -> Outcome {
        let n = problem.size();
        let height = self.scale(problem);
        self.answer.clear();
        self.answer.resize(n, 0.0);
        if problem.vector().iter().all(|&q| q >= 0.0) {
            return Outcome::Solved {
                pivots: 0,
                residual: 0.0,
            };
        }
        self.fill();
        let outcome = self.walk();
        if let Outcome::Solved { pivots, .. } = outcome {
            self.read_answer();
            let residual = self.polish();
            for (z, scale) in self.answer.iter_mut().zip(&self.column_scale) {
                *z *= scale * height;
            }
            return Outcome::Solved { pivots, residual };
        }
        outcome
    }

    /// Scales rows, columns and the vector, whose height is returned.
    fn scale(&mut self, problem: &Lcp) -> f64 {
        let n = problem.size();
        self.scaled.clone_from(problem);
        self.row_scale.clear();
        self.row_scale.resize(n, 1.0);
        self.column_scale.clear();
        self.column_scale.resize(n, 1.0);
        for _ in 0..ROUNDS {
            for i in 0..n {
                let row = &mut self.scaled.matrix[i * n..(i + 1) * n];
                let factor = power_of_two(row.iter().fold(0.0, |most, x| x.abs().max(most)));
                row.iter_mut().for_each(|x| *x *= factor);
                self.row_scale[i] *= factor;
                self.scaled.vector[i] *= factor;
            }
            for j in 0..n {
                let column = (0..n).map(|i| self.scaled.matrix[i * n + j].abs());
                let factor = power_of_two(column.fold(0.0, f64::max));
                (0..n).for_each(|i| self.scaled.matrix[i * n + j] *= factor);
                self.column_scale[j] *= factor;
            }
        }
        let vector = &mut self.scaled.vector;
        let height = vector.iter().fold(0.0, |most: f64, q| q.abs().max(most));
        if height > 0.0 {
            vector.iter_mut().for_each(|q| *q /= height);
        }
        height
    }

    fn width(&self) -> usize {
        2 * self.basis.len() + 2
    }

    /// `w − M z − d z₀ = q` with d of ones and w basic.
    fn fill(&mut self) {
        let n = self.scaled.size();
        self.basis.clear();
        self.basis.extend(1..=n);
        let width = self.width();
        self.tableau.clear();
        self.tableau.resize(n * width, 0.0);
        for (i, row) in self.tableau.chunks_exact_mut(width).enumerate() {
            row[0] = self.scaled.vector[i];
            row[1 + i] = 1.0;
            for j in 0..n {
                row[1 + n + j] = -self.scaled.matrix[i * n + j];
            }
            row[1 + 2 * n] = -1.0;
        }
    }

    fn walk(&mut self) -> Outcome {
        let n = self.basis.len();
        let artificial = 1 + 2 * n;
        let limit = self.limit.unwrap_or(50 * n + 100);
        let mut row = self.most_negative();
        let mut entering = artificial;
        for pivots in 1..=limit {
            let left = self.basis[row];
            self.pivot(row, entering);
            if left == artificial {
                return Outcome::Solved {
                    pivots,
                    residual: f64::NAN,
                };
            }
            entering = complement(left, n);
            match self.leaving(entering) {
                Some(next) => row = next,
                None => {
                    self.read_ray(entering);
                    return Outcome::Ray { pivots };
                }
            }
        }
        Outcome::PivotLimit { pivots: limit }
    }

    /// The row that keeps all others lexicographically positive when z₀ enters: the last one
    /// of those with the least q.
    fn most_negative(&self) -> usize {
        let q = &self.scaled.vector;
        (1..q.len()).fold(0, |best, i| if q[i] <= q[best] { i } else { best })
    }

    /// The row that leaves for a column: the lexicographically least ratio, and z₀ whenever
    /// it is among the least, for that ends the walk. None when no entry is positive.
    fn leaving(&self, column: usize) -> Option<usize> {
        let width = self.width();
        let artificial = width - 1;
        let mut best: Option<usize> = None;
        for i in 0..self.basis.len() {
            if self.tableau[i * width + column] <= PIVOT {
                continue;
            }
            let Some(current) = best else {
                best = Some(i);
                continue;
            };
            let order = self.compare(i, current, column, 0);
            let wins = match order {
                Some(smaller) => smaller,
                None if self.basis[current] == artificial => false,
                None if self.basis[i] == artificial => true,
                None => (1..=self.basis.len())
                    .find_map(|k| self.compare(i, current, column, k))
                    .unwrap_or(false),
            };
            if wins {
                best = Some(i);
            }
        }
        best
    }

    /// Whether row i has the smaller ratio of `entry` to `column`; None for a tie.
    fn compare(&self, i: usize, j: usize, column: usize, entry: usize) -> Option<bool> {
        let width = self.width();
        let ratio = |r: usize| self.tableau[r * width + entry] / self.tableau[r * width + column];
        let (a, b) = (ratio(i), ratio(j));
        if (a - b).abs() <= TIE * (1.0 + a.abs().max(b.abs())) {
            return None;
        }
        Some(a < b)
    }

    /// Makes `column` basic in `row`.
    fn pivot(&mut self, row: usize, column: usize) {
        let width = self.width();
        let (before, rest) = self.tableau.split_at_mut(row * width);
        let (own, after) = rest.split_at_mut(width);
        let scale = 1.0 / own[column];
        own.iter_mut().for_each(|x| *x *= scale);
        own[column] = 1.0;
        for other in before
            .chunks_exact_mut(width)
            .chain(after.chunks_exact_mut(width))
        {
            let factor = other[column];
            if factor != 0.0 {
                for (x, p) in other.iter_mut().zip(own.iter()) {
                    *x -= factor * p;
                }
                other[column] = 0.0;
            }
        }
        self.basis[row] = column;
    }

    fn read_answer(&mut self) {
        let (n, width) = (self.basis.len(), self.width());
        for (row, &column) in self.basis.iter().enumerate() {
            if let Some(z) = index_of_z(column, n) {
                self.answer[z] = self.tableau[row * width].max(0.0);
            }
        }
    }

    fn read_ray(&mut self, entering: usize) {
        let (n, width) = (self.basis.len(), self.width());
        self.ray.clear();
        self.ray.resize(n, 0.0);
        for (row, &column) in self.basis.iter().enumerate() {
            if let Some(z) = index_of_z(column, n) {
                self.ray[z] = -self.tableau[row * width + entering].min(0.0);
            }
        }
        if let Some(z) = index_of_z(entering, n) {
            self.ray[z] = 1.0;
        }
        for (z, scale) in self.ray.iter_mut().zip(&self.column_scale) {
            *z *= scale;
        }
    }

    /// Solves for the basic z once more from the problem itself, because pivots accumulate
    /// rounding; keeps the better and returns its residual.
    fn polish(&mut self) -> f64 {
        let n = self.basis.len();
        let rough = self.scaled.residual(&self.answer);
        self.block.clear();
        self.trial.clear();
        let basic = |k: &usize| self.answer[*k] > 0.0;
        for i in (0..n).filter(basic) {
            let row = &self.scaled.matrix[i * n..(i + 1) * n];
            self.block.extend((0..n).filter(basic).map(|j| row[j]));
            self.trial.push(-self.scaled.vector[i]);
        }
        if !solve_in_place(&mut self.block, &mut self.trial) {
            return rough;
        }
        // The block is not needed any more and holds the full vector.
        self.block.clear();
        let mut next = self.trial.iter();
        for &z in &self.answer {
            let fine = if z > 0.0 { next.next() } else { None };
            self.block.push(fine.map_or(0.0, |x| x.max(0.0)));
        }
        let fine = self.scaled.residual(&self.block);
        if fine < rough {
            self.answer.copy_from_slice(&self.block);
            return fine;
        }
        rough
    }
}

/// The reciprocal of a size as a power of two; one for a row of zeros.
fn power_of_two(size: f64) -> f64 {
    if size > 0.0 {
        (-size.log2().round()).clamp(-500.0, 500.0).exp2()
    } else {
        1.0
    }
}

/// w for z and z for w, as columns.
fn complement(column: usize, n: usize) -> usize {
    if column <= n { column + n } else { column - n }
}

fn index_of_z(column: usize, n: usize) -> Option<usize> {
    (n + 1..=2 * n).contains(&column).then(|| column - n - 1)
}
