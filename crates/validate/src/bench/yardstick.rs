//! What the machine at hand takes for work whose time on the machine of the wanted times is known.
//!
//! A sparse Cholesky of a grid of 100 × 100 nodes with three rows each, by faer alone (supernodal,
//! minimum degree, one thread): 25 ms to factor numbers anew and 4 ms to solve on a quiet machine of
//! the kind that the wanted times were measured on.

use std::time::Instant;

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::sparse::linalg::SupernodalThreshold;
use faer::sparse::linalg::cholesky::{
    CholeskySymbolicParams, SymbolicCholesky, SymmetricOrdering, factorize_symbolic_cholesky,
};
use faer::sparse::{SparseColMat, Triplet};
use faer::{Conj, Mat, Par, Side};

use crate::Outcome;

/// Nodes along an edge of the grid.
const NODES: usize = 100;
/// Rows of a node.
const ROWS: usize = 3;
/// Time to factor and to solve on the machine of the wanted times, ms.
const KNOWN: [f64; 2] = [25.0, 4.0];

/// The work, to be done between steps that are timed.
pub struct Yardstick {
    matrix: SparseColMat<usize, f64>,
    symbolic: SymbolicCholesky<usize>,
    memory: MemBuffer,
    factors: Vec<f64>,
    /// Times to factor and to solve so far, ms.
    times: [Vec<f64>; 2],
}

impl Yardstick {
    /// Finds an order for the grid.
    pub fn new() -> Outcome<Yardstick> {
        let size = ROWS * NODES * NODES;
        let matrix = SparseColMat::try_new_from_triplets(size, size, &entries())
            .map_err(|fault| format!("the grid of the yardstick: {fault:?}"))?;
        let params = CholeskySymbolicParams {
            supernodal_flop_ratio_threshold: SupernodalThreshold::FORCE_SUPERNODAL,
            ..Default::default()
        };
        let symbolic = factorize_symbolic_cholesky(
            matrix.symbolic(),
            Side::Lower,
            SymmetricOrdering::Amd,
            params,
        )
        .map_err(|fault| format!("the order of the yardstick: {fault:?}"))?;
        let scratch = symbolic
            .factorize_numeric_llt_scratch::<f64>(Par::Seq, Default::default())
            .or(symbolic.solve_in_place_scratch::<f64>(1, Par::Seq));
        Ok(Yardstick {
            memory: MemBuffer::new(scratch),
            factors: vec![0.0; symbolic.len_val()],
            matrix,
            symbolic,
            times: [const { Vec::new() }; 2],
        })
    }

    /// Does the work once.
    pub fn lay(&mut self) -> Outcome<()> {
        let start = Instant::now();
        let llt = self
            .symbolic
            .factorize_numeric_llt(
                &mut self.factors,
                self.matrix.as_ref(),
                Side::Lower,
                Default::default(),
                Par::Seq,
                MemStack::new(&mut self.memory),
                Default::default(),
            )
            .map_err(|fault| format!("the factors of the yardstick: {fault:?}"))?;
        self.times[0].push(start.elapsed().as_secs_f64() * 1e3);
        let mut vector = Mat::from_fn(ROWS * NODES * NODES, 1, |row, _| row as f64 * 1e-3);
        let start = Instant::now();
        llt.solve_in_place_with_conj(
            Conj::No,
            vector.as_mut(),
            Par::Seq,
            MemStack::new(&mut self.memory),
        );
        self.times[1].push(start.elapsed().as_secs_f64() * 1e3);
        Ok(())
    }

    /// How many times the known ones the times since the last call were, at their medians: the mean of
    /// factoring, which is arithmetic, and of solving, which is memory. Not a number if there were none.
    pub fn slowness(&mut self) -> f64 {
        let times = std::mem::take(&mut self.times);
        let [factor, solve] = times.map(super::median);
        0.5 * (factor / KNOWN[0] + solve / KNOWN[1])
    }
}

/// The lower triangle of a matrix that is surely positive definite.
fn entries() -> Vec<Triplet<usize, usize, f64>> {
    let mut entries = Vec::new();
    for node in 0..NODES * NODES {
        let (right, below) = (node + 1, node + NODES);
        for row in 0..ROWS {
            for column in 0..=row {
                let value = if row == column { 5.0 } else { 0.1 };
                entries.push(Triplet::new(ROWS * node + row, ROWS * node + column, value));
            }
        }
        let joined = [
            (right % NODES != 0).then_some(right),
            (below < NODES * NODES).then_some(below),
        ];
        for other in joined.into_iter().flatten() {
            for row in 0..ROWS {
                for column in 0..ROWS {
                    let value = if row == column { -1.0 } else { 0.05 };
                    entries.push(Triplet::new(
                        ROWS * other + row,
                        ROWS * node + column,
                        value,
                    ));
                }
            }
        }
    }
    entries
}
