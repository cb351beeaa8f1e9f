//! Block Gauss–Seidel as the solver of an island, started warm.
//!
//! ```text
//! x ← x₀;  along each direction, for each joint i:  x_i ← x_i + S_ii⁻¹ (b − S x)_i
//! ```
//!
//! (M-ABD, section 5.5.) The directions are the order of the joints and the order of a
//! breadth-first search, each forth and back: along a chain the first carries a force from
//! end to end in one sweep, across a net the second does. The first guess x₀ is the force
//! that the joints had at the start of the step, or nothing if that is nearer.

use std::sync::Arc;

use vincula_blocks::{BlockMatrix, FactorError, FactorReport, GaussSeidel, Pattern};

/// Residual to reach, relative to the largest violation.
pub const RESIDUAL: f64 = 1e-9;
/// Rounds through all directions at most.
pub const ROUNDS: usize = 2000;

/// Sweeps over one island.
pub(super) struct Sweeps {
    solver: GaussSeidel,
    guess: Vec<f64>,
    side: Vec<f64>,
}

impl Sweeps {
    pub fn new(pattern: &Arc<Pattern>) -> Sweeps {
        let forth: Vec<usize> = (0..pattern.nodes()).collect();
        let wide = breadth_first(pattern);
        let back = |order: &[usize]| order.iter().rev().copied().collect::<Vec<usize>>();
        let directions = [forth.clone(), back(&forth), wide.clone(), back(&wide)];
        let solver = GaussSeidel::symbolic(pattern, &directions)
            .expect("both orders visit every node of the pattern");
        Sweeps {
            solver,
            guess: vec![0.0; pattern.dimension()],
            side: vec![0.0; pattern.dimension()],
        }
    }

    /// Sets the first guess, N.
    pub fn start(&mut self, guess: impl Iterator<Item = f64>) {
        self.guess.iter_mut().zip(guess).for_each(|(x, g)| *x = g);
    }

    pub fn factor(&mut self, matrix: &BlockMatrix) -> Result<FactorReport, FactorError> {
        self.solver.factor(matrix)
    }

    /// Overwrites the right-hand side by the solution, which is the next first guess.
    pub fn solve(&mut self, matrix: &BlockMatrix, rhs: &mut [f64]) {
        // Lengths agree by construction: nothing here can fail.
        let known = matrix.residual(&self.guess, rhs, &mut self.side);
        debug_assert!(known.is_ok());
        // Corrections of what is nearly solved are small, and so is their best guess.
        if !(largest(&self.side) < largest(rhs)) {
            self.guess.fill(0.0);
        }
        self.side.copy_from_slice(rhs);
        let solved = self
            .solver
            .solve(matrix, &self.side, &mut self.guess, RESIDUAL, ROUNDS);
        debug_assert!(solved.is_ok());
        rhs.copy_from_slice(&self.guess);
    }
}

fn breadth_first(pattern: &Pattern) -> Vec<usize> {
    let mut seen = vec![false; pattern.nodes()];
    let mut order = Vec::with_capacity(pattern.nodes());
    for seed in 0..pattern.nodes() {
        if seen[seed] {
            continue;
        }
        seen[seed] = true;
        let mut next = order.len();
        order.push(seed);
        while next < order.len() {
            for &(other, _) in pattern.neighbours(order[next]) {
                if !seen[other] {
                    seen[other] = true;
                    order.push(other);
                }
            }
            next += 1;
        }
    }
    order
}

fn largest(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |m, x| f64::max(m, x.abs()))
}
