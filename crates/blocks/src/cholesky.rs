//! Sparse supernodal Cholesky `P (T S T + ε) Pᵀ = L D Lᵀ` for general graphs.
//!
//! The rows are scaled to a unit diagonal, `T = diag(S)^(-1/2)`. A pivot below
//! the tolerance is replaced by a huge one, which drops its row as the other
//! solvers do; alternatively a Tikhonov shift `ε` (Tomcin, section 4) is added
//! to the diagonal and [`crate::Refinement`] takes its error out again. The
//! permutation is folded into the list that copies blocks into the scalar
//! matrix, so a refactorization moves every number once.
//!
//! Supernodes are found by faer, and their dense blocks are its kernels' work; the way through
//! the tree of supernodes is ours (`fronts.rs`), because large trees are walked in two halves
//! (`halves.rs`), on two threads if there are. The halves are the same on one thread, so the bits
//! are too.
//!
//! Beside negative nodes (`role.rs`) pivots have signs, the unit diagonal is that of the
//! sizes their pivots are compared with, and a pivot that vanishes is shifted, because
//! dropping its row would not be exact there.
//!
//! `L D Lᵀ` and not `L Lᵀ`: the latter does not store the pivot it replaced
//! (faer 0.24), which ruins the columns behind it.

mod choice;
mod forest;
mod fronts;
mod halves;
mod reach;
mod substitute;
mod supernodes;
mod symbolic;

pub use reach::{Half, Reach};

use crate::census::blame_non_finite;
use crate::error::check_length;
use crate::matrix::{BlockMatrix, Pattern};
use crate::role::pivot_scales;
use crate::threads::both;
use crate::{FactorError, FactorReport, Factorization, PIVOT_TOLERANCE, PatternError, SolveError};
use choice::{Choice, Ways};
use forest::Forest;
use fronts::{Inspection, Job, Numbers, Room};
use halves::TOP;
use std::sync::Arc;
use substitute::Vectors;
use supernodes::Supernodes;
use symbolic::{ScalarMatrix, out_of_memory, prepare};

/// Stands for an infinite pivot: its row becomes zero to working accuracy, and
/// its product with any scaled entry is still far from overflow.
const INFINITE_PIVOT: f64 = 1e60;
/// What a vanishing pivot becomes beside negative nodes.
const SHIFTED_PIVOT: f64 = 1e-8;

/// Numbers in the factors from which on a second thread is worth spawning.
const WORTH: usize = 100_000;

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
    scalar: ScalarMatrix,
    symbolic: Supernodes,
    forest: Forest,
    /// `T`, in permuted order.
    scaling: Vec<f64>,
    /// The sign that each pivot is expected to have, in permuted order.
    signs: Vec<i8>,
    /// What a vanishing pivot becomes.
    replacement: f64,
    factors: Vec<f64>,
    rooms: [Room; TOP + 1],
    vectors: [Vectors; TOP + 1],
    vector: Vec<f64>,
    /// All supernodes, and those that were chosen.
    all: Ways,
    choice: Choice,
    /// Two vectors to test semidefiniteness with.
    probe: [Vec<f64>; 2],
    factored: bool,
    /// Relative size below which a pivot counts as zero.
    pub tolerance: f64,
    /// Threads at most; two halves are the most that is made use of, and small systems are not
    /// divided. Results do not depend on it.
    pub threads: usize,
}

impl Cholesky {
    /// Orders, analyses and allocates.
    pub fn symbolic(
        pattern: &Arc<Pattern>,
        options: &CholeskyOptions,
    ) -> Result<Self, PatternError> {
        let (scalar, symbolic, halves) = prepare(pattern, &options.fill)?;
        let forest = Forest::new(&symbolic, halves);
        let n = pattern.dimension();
        let sign = |&row: &usize| pattern.role(pattern.node_of_row(row)).sign() as i8;
        let signs = scalar.rows.iter().map(sign).collect();
        let room = |part| Room::new(&symbolic, &forest, part).ok_or_else(|| out_of_memory(n));
        let rooms = [room(0)?, room(1)?, room(TOP)?];
        Ok(Self {
            pattern: Arc::clone(pattern),
            shift: options.shift,
            scaling: vec![1.0; n],
            signs,
            replacement: if pattern.is_mixed() {
                SHIFTED_PIVOT
            } else {
                INFINITE_PIVOT
            },
            factors: vec![0.0; symbolic.len_val()],
            rooms,
            vectors: [0, 1, TOP].map(|part| Vectors::new(&symbolic, &forest, part)),
            vector: vec![0.0; n],
            all: Ways::all(&symbolic, &forest),
            choice: Choice::new(&symbolic, &forest, &scalar.rows),
            probe: [vec![0.0; n], vec![0.0; n]],
            scalar,
            symbolic,
            forest,
            factored: false,
            tolerance: PIVOT_TOLERANCE,
            threads: 1,
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
                let below = self.symbolic.rows_below(s).len();
                width * below + width * (width - 1) / 2
            })
            .sum()
    }

    /// Whether the work falls into two halves.
    pub fn is_divided(&self) -> bool {
        self.forest.supernodes[TOP] > 0
    }

    /// Threads that are worth it.
    pub fn threads_used(&self) -> usize {
        if self.is_divided() && self.factors.len() >= WORTH {
            self.threads.clamp(1, 2)
        } else {
            1
        }
    }

    /// Finds `T`.
    fn scale(&mut self, matrix: &BlockMatrix) {
        pivot_scales(matrix, 0..self.pattern.nodes(), &mut self.vector);
        for (scale, &row) in self.scaling.iter_mut().zip(&self.scalar.rows) {
            let size = self.vector[row];
            *scale = if size > 0.0 { 1.0 / size.sqrt() } else { 0.0 };
        }
    }

    /// The first permuted row whose diagonal entry has the wrong sign.
    fn wrong_diagonal(&self, matrix: &BlockMatrix) -> Option<usize> {
        let wrong = |&k: &usize| {
            let entry = matrix.values()[self.scalar.column(k)[0].source as usize];
            f64::from(self.signs[k]) * entry < 0.0
        };
        (0..self.scaling.len()).find(wrong)
    }

    /// What is added to the diagonal: a number, and one that is scaled like the rows.
    fn shifts(&mut self, matrix: &BlockMatrix) -> [f64; 2] {
        match self.shift {
            Shift::None => [0.0, 0.0],
            Shift::Diagonal(fraction) => [fraction, 0.0],
            Shift::Norm(fraction) => {
                let norm = matrix.norm_one(&mut self.vector).unwrap_or(0.0);
                [0.0, fraction * norm]
            }
        }
    }

    /// Factors both halves, then the top.
    fn run(&mut self, matrix: &BlockMatrix) -> Inspection {
        let shift = self.shifts(matrix);
        let threads = self.threads_used();
        let job = Job {
            symbolic: &self.symbolic,
            forest: &self.forest,
            scalar: &self.scalar,
            numbers: Numbers {
                values: matrix.values(),
                scaling: &self.scaling,
                signs: &self.signs,
                shift,
                tolerance: self.tolerance,
                replacement: self.replacement,
            },
        };
        let [a, b, top] = &mut self.rooms;
        let (halves, last) = self.factors.split_at_mut(self.forest.factors[TOP]);
        let (first, second) = halves.split_at_mut(self.forest.factors[1]);
        both(
            threads,
            || job.factor_part(0, first, a, None),
            || job.factor_part(1, second, b, None),
        );
        let mut found = a.found;
        found.merge(&b.found);
        if found.broken_row.is_none() {
            job.factor_part(TOP, last, top, Some([a, b]));
            found.merge(&top.found);
        }
        found
    }

    /// Whether dropping rows was right: if `S` is semidefinite, a right-hand
    /// side `S v` is still met exactly. A negative pivot would spoil it.
    fn is_consistent(&mut self, matrix: &BlockMatrix) -> bool {
        let [mut b, mut x] = std::mem::take(&mut self.probe);
        for (k, (&row, scale)) in self.scalar.rows.iter().zip(&self.scaling).enumerate() {
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
        self.pattern.node_of_row(self.scalar.rows[permuted_row])
    }
}

impl Factorization for Cholesky {
    fn pattern(&self) -> &Arc<Pattern> {
        &self.pattern
    }

    fn factor(&mut self, matrix: &BlockMatrix) -> Result<FactorReport, FactorError> {
        matrix.check_pattern(&self.pattern)?;
        self.factored = false;
        self.scale(matrix);
        if let Some(row) = self.wrong_diagonal(matrix) {
            return Err(FactorError::Indefinite {
                node: self.node_of(row),
            });
        }
        let found = self.run(matrix);
        if !found.sum.is_finite() {
            return Err(blame_non_finite(matrix));
        }
        if let Some(row) = found.broken_row {
            return Err(FactorError::Indefinite {
                node: self.node_of(row),
            });
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
            dropped: found.dropped,
            first_dropped,
            weakest_pivot: found.weakest,
            weakest_node: found.weakest_row.map(|row| self.node_of(row)),
            shift: match self.shift {
                Shift::None => 0.0,
                Shift::Diagonal(fraction) | Shift::Norm(fraction) => fraction,
            },
        })
    }

    fn solve(&mut self, rhs: &mut [f64]) -> Result<(), SolveError> {
        check_length(self.pattern.dimension(), rhs.len())?;
        if !self.factored {
            return Err(SolveError::NotFactored);
        }
        self.substitute(rhs, false, self.threads_used());
        Ok(())
    }

    fn choose(&mut self, nodes: &[usize]) {
        let pattern = Arc::clone(&self.pattern);
        let rows = |&node: &usize| pattern.row(node)..pattern.row(node) + pattern.size(node);
        self.choose_rows(nodes.iter().flat_map(rows));
    }

    fn solve_chosen(&mut self, rhs: &mut [f64]) -> Result<(), SolveError> {
        check_length(self.pattern.dimension(), rhs.len())?;
        if !self.factored {
            return Err(SolveError::NotFactored);
        }
        let threads = match self.choice.ways.stored >= WORTH {
            true => self.threads_used(),
            false => 1,
        };
        self.substitute(rhs, true, threads);
        Ok(())
    }
}
