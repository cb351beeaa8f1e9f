//! What is known before any number: the order of the nodes, the scalar matrix, the supernodes.

use super::Fill;
use super::halves::divide;
use super::supernodes::Supernodes;
use crate::PatternError;
use crate::dissection::{minimum_degree, nested_dissection};
use crate::matrix::Pattern;
use crate::ordering::estimate_order;
use crate::role::Role;
use crate::tridiagonal::positions;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::sparse::SymbolicSparseColMat;
use faer::sparse::linalg::SymbolicSupernodalParams;
use faer::sparse::linalg::cholesky::{simplicial, supernodal};

/// An entry of the scalar matrix.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    /// Its place among the block values.
    pub source: u32,
    /// Its permuted row.
    pub row: u32,
    /// Its place in the column of its supernode.
    pub place: u32,
}

/// The permuted lower triangle, by columns, diagonal entries first.
#[derive(Clone, Debug)]
pub(super) struct ScalarMatrix {
    starts: Vec<usize>,
    entries: Vec<Entry>,
    /// The scalar row of each permuted row.
    pub rows: Vec<usize>,
}

impl ScalarMatrix {
    /// For an order of the nodes; the supernodes are still to come.
    pub fn new(pattern: &Pattern, order: &[usize]) -> Result<Self, PatternError> {
        let position = positions(pattern.nodes(), order)?;
        let mut first = vec![0; pattern.nodes()];
        let mut rows = Vec::with_capacity(pattern.dimension());
        for &node in order {
            first[node] = rows.len();
            rows.extend(pattern.row(node)..pattern.row(node) + pattern.size(node));
        }
        let mut scalar = Self {
            starts: vec![0],
            entries: Vec::new(),
            rows,
        };
        for &node in order {
            let mut later: Vec<(usize, usize)> = pattern
                .neighbours(node)
                .iter()
                .copied()
                .filter(|&(other, _)| position[other] > position[node])
                .collect();
            later.sort_unstable_by_key(|&(other, _)| position[other]);
            for k in 0..pattern.size(node) {
                scalar.add_column(pattern, &first, node, k, &later);
            }
        }
        Ok(scalar)
    }

    fn add_column(
        &mut self,
        pattern: &Pattern,
        first: &[usize],
        node: usize,
        k: usize,
        later: &[(usize, usize)],
    ) {
        let n = pattern.size(node);
        for i in k..n {
            self.push(first[node] + i, pattern.diagonal_offset(node) + i * n + k);
        }
        for &(other, edge) in later {
            let (offset, m) = (pattern.edge_offset(edge), pattern.size(other));
            for i in 0..m {
                // The block has the rows of the lower node, whichever comes first here.
                let place = if other < node { i * n + k } else { k * m + i };
                self.push(first[other] + i, offset + place);
            }
        }
        self.starts.push(self.entries.len());
    }

    fn push(&mut self, row: usize, source: usize) {
        self.entries.push(Entry {
            source: source as u32,
            row: row as u32,
            place: 0,
        });
    }

    /// The entries of a permuted column, the diagonal one first.
    #[inline]
    pub fn column(&self, column: usize) -> &[Entry] {
        &self.entries[self.starts[column]..self.starts[column + 1]]
    }

    /// Finds where every entry lies among the columns of its supernode.
    pub fn place(&mut self, supernodes: &Supernodes) {
        for s in 0..supernodes.n_supernodes() {
            let (begin, end) = (
                supernodes.supernode_begin()[s],
                supernodes.supernode_end()[s],
            );
            let rows = supernodes.rows_below(s);
            for entry in &mut self.entries[self.starts[begin]..self.starts[end]] {
                let row = entry.row as usize;
                entry.place = if row < end {
                    (row - begin) as u32
                } else {
                    let below = rows.partition_point(|&other| other < row);
                    (end - begin + below) as u32
                };
            }
        }
    }
}

/// An order of the nodes, the scalar matrix in that order, its supernodes, and how many rows of
/// it are those of the first and of the second half.
pub(super) fn prepare(
    pattern: &Pattern,
    fill: &Fill,
) -> Result<(ScalarMatrix, Supernodes, [usize; 2]), PatternError> {
    let order = match fill {
        Fill::Automatic => cheaper_order(pattern),
        Fill::MinimumDegree => minimum_degree(pattern),
        Fill::NestedDissection => nested_dissection(pattern),
        Fill::Given(order) => order.clone(),
    };
    let order = waiting_last(pattern, order);
    let mut scalar = ScalarMatrix::new(pattern, &order)?;
    let mut supernodes = analyse(pattern, &scalar)?;
    let mut rows = [0; 2];
    if let Some((order, halves)) = divide(pattern, &order, &supernodes) {
        scalar = ScalarMatrix::new(pattern, &order)?;
        (supernodes, rows) = (analyse(pattern, &scalar)?, halves);
    }
    scalar.place(&supernodes);
    Ok((scalar, supernodes, rows))
}

fn cheaper_order(pattern: &Pattern) -> Vec<usize> {
    let work = |order: &[usize]| estimate_order("cholesky", pattern, order).factor_flops;
    let (degree, dissection) = (minimum_degree(pattern), nested_dissection(pattern));
    if work(&dissection) < work(&degree) {
        dissection
    } else {
        degree
    }
}

/// Puts the nodes last that have no block of their own before others are eliminated.
fn waiting_last(pattern: &Pattern, order: Vec<usize>) -> Vec<usize> {
    let waits = |node: &usize| *node < pattern.nodes() && pattern.role(*node) == Role::Waiting;
    let (waiting, mut order): (Vec<usize>, Vec<usize>) = order.into_iter().partition(waits);
    order.extend(waiting);
    order
}

/// Supernodes of up to so many columns are joined if no more than this share of their entries is
/// then zero.
const RELAX: [(usize, f64); 3] = [(4, 1.0), (16, 0.8), (48, 0.1)];

/// Symbolic factorization without any further permutation.
fn analyse(pattern: &Pattern, scalar: &ScalarMatrix) -> Result<Supernodes, PatternError> {
    let n = pattern.dimension();
    let entries = scalar.entries.len();
    let indices = scalar.entries.iter().map(|entry| entry.row as usize);
    let starts = scalar.starts.clone();
    let lower = SymbolicSparseColMat::new_checked(n, n, starts, None, indices.collect());
    let upper = lower
        .as_ref()
        .transpose()
        .to_col_major()
        .map_err(|_| out_of_memory(n))?;
    let request = simplicial::prefactorize_symbolic_cholesky_scratch::<usize>(n, entries)
        .or(supernodal::factorize_supernodal_symbolic_cholesky_scratch::<usize>(n));
    let mut memory = MemBuffer::try_new(request).map_err(|_| out_of_memory(n))?;
    let stack = MemStack::new(&mut memory);
    let (mut parents, mut counts) = (vec![0_isize; n], vec![0_usize; n]);
    let tree = simplicial::prefactorize_symbolic_cholesky(
        &mut parents,
        &mut counts,
        upper.as_ref(),
        stack,
    );
    let found = supernodal::factorize_supernodal_symbolic_cholesky(
        upper.as_ref(),
        tree,
        &counts,
        stack,
        SymbolicSupernodalParams {
            relax: Some(&RELAX),
        },
    )
    .map_err(|error| PatternError::Symbolic {
        rows: n,
        reason: error.to_string(),
    })?;
    Ok(Supernodes::new(&found, &parents))
}

pub(super) fn out_of_memory(rows: usize) -> PatternError {
    PatternError::Symbolic {
        rows,
        reason: "not enough memory".to_string(),
    }
}
