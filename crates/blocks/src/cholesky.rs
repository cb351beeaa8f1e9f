//! Sparse supernodal Cholesky `P (T S T + ε) Pᵀ = L D Lᵀ` for general graphs (faer).
//!
//! The rows are scaled to a unit diagonal, `T = diag(S)^(-1/2)`. A pivot below
//! the tolerance is replaced by a huge one, which drops its row as the other
//! solvers do; alternatively a Tikhonov shift `ε` (Tomcin, section 4) is added
//! to the diagonal and [`crate::Refinement`] takes its error out again. The
//! permutation is folded into the list that copies blocks into the scalar
//! matrix, so a refactorization moves every number once.
//!
//! Beside negative nodes (`role.rs`) pivots have signs, the unit diagonal is that of the
//! sizes their pivots are compared with, and a pivot that vanishes is shifted, because
//! dropping its row would not be exact there.
//!
//! `L D Lᵀ` and not `L Lᵀ`: the latter does not store the pivot it replaced
//! (faer 0.24), which ruins the columns behind it.

mod reach;
mod substitute;

pub use reach::{Half, Reach};

use crate::census::blame_non_finite;
use crate::dissection::{minimum_degree, nested_dissection};
use crate::error::check_length;
use crate::matrix::{BlockMatrix, Pattern};
use crate::ordering::estimate_order;
use crate::role::{Role, pivot_scales};
use crate::tridiagonal::positions;
use crate::{FactorError, FactorReport, Factorization, PIVOT_TOLERANCE, PatternError, SolveError};
use faer::Par;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::ldlt::factor::{LdltError, LdltRegularization};
use faer::sparse::linalg::cholesky::{simplicial, supernodal};
use faer::sparse::{SparseColMatRef, SymbolicSparseColMat};
use std::sync::Arc;

/// Stands for an infinite pivot: its row becomes zero to working accuracy, and
/// its product with any scaled entry is still far from overflow.
const INFINITE_PIVOT: f64 = 1e60;
/// What a vanishing pivot becomes beside negative nodes.
const SHIFTED_PIVOT: f64 = 1e-8;

/// The order of elimination.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Fill {
    /// Whichever of the next two promises less work.
    #[default]
    Automatic,
    /// Approximate minimum degree: good for most mechanisms.
    MinimumDegree,
    /// Nested dissection: for large nets and grids.
    NestedDissection,
    /// An order of the nodes given by the caller.
    Given(Vec<usize>),
}

/// What is added to the diagonal before factoring.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Shift {
    /// Nothing; vanishing pivots are dropped.
    #[default]
    None,
    /// This fraction of each diagonal entry: the same for light and heavy bodies.
    Diagonal(f64),
    /// This fraction of `‖S‖₁` on every row, as Tomcin does.
    Norm(f64),
}

/// How a [`Cholesky`] works.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CholeskyOptions {
    /// The order of elimination.
    pub fill: Fill,
    /// The regularization.
    pub shift: Shift,
}

/// Sparse direct solver for any pattern.
pub struct Cholesky {
    pattern: Arc<Pattern>,
    shift: Shift,
    /// The scalar matrix, permuted, lower triangle by columns.
    lower: SymbolicSparseColMat<usize>,
    /// For each of its entries, the place among the block values.
    sources: Vec<usize>,
    /// The scalar row of each permuted row, and where its diagonal entry lies.
    rows: Vec<usize>,
    entries: Vec<f64>,
    /// `T`, in permuted order.
    scaling: Vec<f64>,
    /// The sign that each pivot is expected to have, in permuted order.
    signs: Vec<i8>,
    /// What a vanishing pivot becomes.
    replacement: f64,
    symbolic: supernodal::SymbolicSupernodalCholesky<usize>,
    factors: Vec<f64>,
    vector: Vec<f64>,
    /// Room for the rows below the widest supernode.
    sums: Vec<f64>,
    /// Two vectors to test semidefiniteness with.
    probe: [Vec<f64>; 2],
    memory: MemBuffer,
    factored: bool,
    /// Relative size below which a pivot counts as zero.
    pub tolerance: f64,
}

impl Cholesky {
    /// Orders, analyses and allocates.
    pub fn symbolic(
        pattern: &Arc<Pattern>,
        options: &CholeskyOptions,
    ) -> Result<Self, PatternError> {
        let order = match &options.fill {
            Fill::Automatic => cheaper_order(pattern),
            Fill::MinimumDegree => minimum_degree(pattern),
            Fill::NestedDissection => nested_dissection(pattern),
            Fill::Given(order) => order.clone(),
        };
        let order = waiting_last(pattern, order);
        let scalar = ScalarMatrix::new(pattern, &order)?;
        let symbolic = analyse(pattern, scalar.starts.clone(), &scalar.indices)?;
        let n = pattern.dimension();
        let sign = |&row: &usize| pattern.role(pattern.node_of_row(row)).sign() as i8;
        let signs = scalar.rows.iter().map(sign).collect();
        let factor_memory = supernodal::factorize_supernodal_numeric_ldlt_scratch::<usize, f64>(
            &symbolic,
            Par::Seq,
            Default::default(),
        );
        let memory = MemBuffer::try_new(factor_memory).map_err(|_| out_of_memory(n))?;
        Ok(Self {
            pattern: Arc::clone(pattern),
            shift: options.shift,
            entries: vec![0.0; scalar.indices.len()],
            lower: SymbolicSparseColMat::new_checked(n, n, scalar.starts, None, scalar.indices),
            sources: scalar.sources,
            rows: scalar.rows,
            scaling: vec![1.0; n],
            signs,
            replacement: if pattern.is_mixed() {
                SHIFTED_PIVOT
            } else {
                INFINITE_PIVOT
            },
            factors: vec![0.0; symbolic.len_val()],
            sums: vec![0.0; longest_pattern(&symbolic)],
            symbolic,
            vector: vec![0.0; n],
            probe: [vec![0.0; n], vec![0.0; n]],
            memory,
            factored: false,
            tolerance: PIVOT_TOLERANCE,
        })
    }

    /// Numbers that the factors hold, padding of supernodes included.
    pub fn stored(&self) -> usize {
        self.factors.len()
    }

    /// Entries of L below its diagonal, padding of supernodes included.
    pub fn entries_below(&self) -> usize {
        (0..self.symbolic.n_supernodes())
            .map(|s| {
                let width = self.symbolic.supernode_end()[s] - self.symbolic.supernode_begin()[s];
                let below = self.symbolic.supernode(s).pattern().len();
                width * below + width * (width - 1) / 2
            })
            .sum()
    }

    /// Copies and scales the values. Returns the shift that was added.
    fn load(&mut self, matrix: &BlockMatrix) -> f64 {
        let values = matrix.values();
        let starts = self.lower.col_ptr();
        pivot_scales(matrix, &mut self.vector);
        for (scale, &row) in self.scaling.iter_mut().zip(&self.rows) {
            let size = self.vector[row];
            *scale = if size > 0.0 { 1.0 / size.sqrt() } else { 0.0 };
        }
        for column in 0..self.scaling.len() {
            let range = starts[column]..starts[column + 1];
            let scale = self.scaling[column];
            let targets = self.entries[range.clone()]
                .iter_mut()
                .zip(&self.sources[range.clone()]);
            for ((target, &source), &row) in targets.zip(&self.lower.row_idx()[range]) {
                *target = values[source] * scale * self.scaling[row];
            }
        }
        self.add_shift(matrix)
    }

    /// The first permuted row whose diagonal entry has the wrong sign.
    fn wrong_diagonal(&self, matrix: &BlockMatrix) -> Option<usize> {
        let starts = self.lower.col_ptr();
        let wrong =
            |&k: &usize| f64::from(self.signs[k]) * matrix.values()[self.sources[starts[k]]] < 0.0;
        (0..self.scaling.len()).find(wrong)
    }

    fn add_shift(&mut self, matrix: &BlockMatrix) -> f64 {
        let starts = self.lower.col_ptr();
        match self.shift {
            Shift::None => 0.0,
            Shift::Diagonal(fraction) => {
                for (&start, &sign) in starts.iter().zip(&self.signs) {
                    self.entries[start] += f64::from(sign) * fraction;
                }
                fraction
            }
            Shift::Norm(fraction) => {
                let norm = matrix.norm_one(&mut self.vector).unwrap_or(0.0);
                for ((&start, scale), &sign) in starts.iter().zip(&self.scaling).zip(&self.signs) {
                    self.entries[start] += f64::from(sign) * fraction * norm * scale * scale;
                }
                fraction
            }
        }
    }

    fn run(&mut self) -> Result<usize, usize> {
        let lower = SparseColMatRef::new(self.lower.as_ref(), &self.entries);
        let regularization = LdltRegularization {
            dynamic_regularization_signs: Some(&self.signs),
            dynamic_regularization_delta: self.replacement,
            dynamic_regularization_epsilon: self.tolerance,
        };
        let stack = MemStack::new(&mut self.memory);
        let (symbolic, options) = (&self.symbolic, Default::default());
        let outcome = supernodal::factorize_supernodal_numeric_ldlt(
            &mut self.factors,
            lower,
            regularization,
            symbolic,
            Par::Seq,
            stack,
            options,
        );
        match outcome {
            Ok(info) => Ok(info.dynamic_regularization_count),
            Err(LdltError::ZeroPivot { index }) => Err(index),
        }
    }

    /// The weakest pivot and its permuted row; also the first dropped row and
    /// whether everything is finite.
    fn inspect(&self) -> Inspection {
        let mut found = Inspection {
            weakest: 1.0,
            weakest_row: None,
            dropped_row: None,
            finite: true,
        };
        for s in 0..self.symbolic.n_supernodes() {
            let (start, end) = (
                self.symbolic.supernode_begin()[s],
                self.symbolic.supernode_end()[s],
            );
            let height = end - start + self.symbolic.supernode(s).pattern().len();
            let first = self.symbolic.col_ptr_for_val()[s];
            for k in 0..end - start {
                let pivot = self.factors[first + k * height + k].abs();
                found.finite &= pivot.is_finite();
                if pivot == self.replacement {
                    found.dropped_row.get_or_insert(start + k);
                } else if pivot < found.weakest {
                    found.weakest = pivot;
                    found.weakest_row = Some(start + k);
                }
            }
        }
        found
    }

    /// Whether dropping rows was right: if `S` is semidefinite, a right-hand
    /// side `S v` is still met exactly. A negative pivot would spoil it.
    fn is_consistent(&mut self, matrix: &BlockMatrix) -> bool {
        let [mut b, mut x] = std::mem::take(&mut self.probe);
        for (k, (&row, scale)) in self.rows.iter().zip(&self.scaling).enumerate() {
            x[row] = if k % 2 == 0 { *scale } else { -0.7 * scale };
        }
        let mut probe = || -> Result<f64, SolveError> {
            matrix.multiply(&x, &mut b)?;
            x.copy_from_slice(&b);
            self.solve(&mut x)?;
            matrix.residual(&x, &b, &mut self.vector)?;
            let size = |v: &[f64]| v.iter().fold(0.0, |m, x| f64::max(m, x.abs()));
            Ok(size(&self.vector) - 1e-5 * size(&b))
        };
        let excess = probe();
        self.probe = [b, x];
        excess.is_ok_and(|excess| excess <= 0.0)
    }

    fn node_of(&self, permuted_row: usize) -> usize {
        self.pattern.node_of_row(self.rows[permuted_row])
    }
}

struct Inspection {
    weakest: f64,
    weakest_row: Option<usize>,
    dropped_row: Option<usize>,
    finite: bool,
}

impl Factorization for Cholesky {
    fn pattern(&self) -> &Arc<Pattern> {
        &self.pattern
    }

    fn factor(&mut self, matrix: &BlockMatrix) -> Result<FactorReport, FactorError> {
        matrix.check_pattern(&self.pattern)?;
        self.factored = false;
        let shift = self.load(matrix);
        if let Some(row) = self.wrong_diagonal(matrix) {
            return Err(FactorError::Indefinite {
                node: self.node_of(row),
            });
        }
        if !self.entries.iter().sum::<f64>().is_finite() {
            return Err(blame_non_finite(matrix));
        }
        let dropped = self.run().map_err(|row| FactorError::Indefinite {
            node: self.node_of(row),
        })?;
        let found = self.inspect();
        if !found.finite {
            return Err(FactorError::Overflow);
        }
        self.factored = true;
        let first_dropped = found.dropped_row.map(|row| self.node_of(row));
        if let Some(node) = first_dropped
            && !self.pattern.is_mixed()
            && !self.is_consistent(matrix)
        {
            self.factored = false;
            return Err(FactorError::Indefinite { node });
        }
        Ok(FactorReport {
            dropped,
            first_dropped,
            weakest_pivot: found.weakest,
            weakest_node: found.weakest_row.map(|row| self.node_of(row)),
            shift,
        })
    }

    fn solve(&mut self, rhs: &mut [f64]) -> Result<(), SolveError> {
        check_length(self.pattern.dimension(), rhs.len())?;
        if !self.factored {
            return Err(SolveError::NotFactored);
        }
        for ((target, &row), scale) in self.vector.iter_mut().zip(&self.rows).zip(&self.scaling) {
            *target = rhs[row] * scale;
        }
        self.substitute();
        for ((value, &row), scale) in self.vector.iter().zip(&self.rows).zip(&self.scaling) {
            rhs[row] = value * scale;
        }
        Ok(())
    }
}

/// The permuted lower triangle, by columns, diagonal entries first.
struct ScalarMatrix {
    starts: Vec<usize>,
    indices: Vec<usize>,
    sources: Vec<usize>,
    rows: Vec<usize>,
}

impl ScalarMatrix {
    fn new(pattern: &Pattern, order: &[usize]) -> Result<Self, PatternError> {
        let position = positions(pattern.nodes(), order)?;
        let mut first = vec![0; pattern.nodes()];
        let mut rows = Vec::with_capacity(pattern.dimension());
        for &node in order {
            first[node] = rows.len();
            rows.extend(pattern.row(node)..pattern.row(node) + pattern.size(node));
        }
        let mut scalar = Self {
            starts: vec![0],
            indices: Vec::new(),
            sources: Vec::new(),
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
            self.indices.push(first[node] + i);
            self.sources.push(pattern.diagonal_offset(node) + i * n + k);
        }
        for &(other, edge) in later {
            let (offset, m) = (pattern.edge_offset(edge), pattern.size(other));
            for i in 0..m {
                self.indices.push(first[other] + i);
                // The block has the rows of the lower node, whichever comes first here.
                let place = if other < node { i * n + k } else { k * m + i };
                self.sources.push(offset + place);
            }
        }
        self.starts.push(self.indices.len());
    }
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

/// Symbolic factorization without any further permutation.
fn analyse(
    pattern: &Pattern,
    starts: Vec<usize>,
    indices: &[usize],
) -> Result<supernodal::SymbolicSupernodalCholesky<usize>, PatternError> {
    let n = pattern.dimension();
    let entries = indices.len();
    let lower = SymbolicSparseColMat::new_checked(n, n, starts, None, indices.to_vec());
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
    supernodal::factorize_supernodal_symbolic_cholesky(
        upper.as_ref(),
        tree,
        &counts,
        stack,
        Default::default(),
    )
    .map_err(|error| PatternError::Symbolic {
        rows: n,
        reason: error.to_string(),
    })
}

/// Most rows below the triangle of a supernode.
fn longest_pattern(symbolic: &supernodal::SymbolicSupernodalCholesky<usize>) -> usize {
    let lengths = (0..symbolic.n_supernodes()).map(|s| symbolic.supernode(s).pattern().len());
    lengths.max().unwrap_or(0)
}

fn out_of_memory(rows: usize) -> PatternError {
    PatternError::Symbolic {
        rows,
        reason: "not enough memory".to_string(),
    }
}
