//! Constraint anticipation: the k×k system of the auxiliary multipliers.
//!
//! ```text
//! a = (K^T M̂⁻¹ K) μ + (K^T w₀ + c)
//! ```
//!
//! where M̂⁻¹ k is the response to a force k with the primary constraints in place, that is
//! the part for the bodies of H⁻¹ (k, 0) (Baraff 1996, section 8 and Eq. 12). Column by
//! column it takes one `sparsesolve` each. Since the forces are workless (K = J_aᵀ) and
//! H = L S Lᵀ, the entries are also
//!
//! ```text
//! a_ij = (L⁻¹ k_i)ᵀ S (L⁻¹ k_j)
//! ```
//!
//! so half a solve each is enough (the symmetric saving), and L⁻¹ k differs from zero only
//! between the bodies of a row and the root. Both ways are here; whichever promises fewer
//! operations is taken.

use super::factors::{Factors, Half, MOST, Sides, product};
use super::forest::Forest;
use crate::lcp::lemke::{Lemke, Outcome};
use crate::lcp::mixed::MixedLcp;
use crate::system::MethodError;
use crate::system::rows::{Six, dot6};

/// Pivots below this fraction of their diagonal entry mean that a row depends on others.
const DEPENDENT: f64 = 1e-10;
/// Dependent rows may disagree by this fraction of the largest right-hand side.
const DISAGREEMENT: f64 = 1e-3;

/// What a row asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sense {
    /// a = 0.
    Equal,
    /// a ≥ 0, μ ≥ 0, a μ = 0.
    NotNegative,
}

/// An auxiliary row.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// What it asks for.
    pub sense: Sense,
    /// c, and after [`RowList::respond`] `K^T w₀ + c`.
    pub target: f64,
    /// Where it comes from, for messages.
    pub source: usize,
    start: usize,
    end: usize,
}

/// Auxiliary rows with the bodies they act on.
#[derive(Clone, Debug, Default)]
pub struct RowList {
    rows: Vec<Row>,
    terms: Vec<(usize, Six)>,
}

impl RowList {
    /// Forgets all rows.
    pub fn clear(&mut self) {
        self.rows.clear();
        self.terms.clear();
    }

    /// Number of rows.
    #[allow(clippy::len_without_is_empty, reason = "nobody asks")]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// The rows.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// Begins a row.
    pub fn push(&mut self, sense: Sense, target: f64, source: usize) {
        let start = self.terms.len();
        self.rows.push(Row {
            sense,
            target,
            source,
            start,
            end: start,
        });
    }

    /// Adds a body to the last row.
    pub fn term(&mut self, body: usize, gradient: Six) {
        self.terms.push((body, gradient));
        if let Some(row) = self.rows.last_mut() {
            row.end = self.terms.len();
        }
    }

    fn terms(&self, row: usize) -> &[(usize, Six)] {
        &self.terms[self.rows[row].start..self.rows[row].end]
    }

    /// Adds `K^T w₀` to the targets.
    pub fn respond(&mut self, motion: &[Six]) {
        for row in &mut self.rows {
            let terms = &self.terms[row.start..row.end];
            let sum: f64 = terms.iter().map(|(body, g)| dot6(g, &motion[*body])).sum();
            row.target += sum;
        }
    }

    /// Adds K μ to the forces.
    pub fn add_forces(&self, multipliers: &[f64], forces: &mut [Six]) {
        for (row, mu) in multipliers.iter().enumerate() {
            for (body, gradient) in self.terms(row) {
                for k in 0..6 {
                    forces[*body][k] += mu * gradient[k];
                }
            }
        }
    }
}

/// How the matrix of the auxiliary rows is made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Way {
    /// Whichever promises fewer operations.
    #[default]
    Cheaper,
    /// A whole solve for each column (section 8.2).
    Columns,
    /// Half a solve for each, and products along the ways to the root.
    Symmetric,
}

/// Memory and answer of the anticipation.
#[derive(Clone, Debug, Default)]
pub struct Anticipation {
    /// How the matrix is made.
    pub way: Way,
    /// μ of each row.
    pub multipliers: Vec<f64>,
    /// `K^T M̂⁻¹ K`, row-major.
    pub matrix: Vec<f64>,
    factor: Vec<f64>,
    order: Vec<usize>,
    column: Vec<f64>,
    pull: Pull,
    motion: Vec<Six>,
    paths: Paths,
}

/// Forces on some bodies, and constraints that ask for nothing: a column of K.
#[derive(Clone, Debug, Default)]
struct Pull {
    forces: Vec<Six>,
}

impl Sides for Pull {
    fn force(&self, body: usize) -> Six {
        self.forces[body]
    }

    fn target(&self, _constraint: usize, out: &mut [f64; MOST]) {
        out.fill(0.0);
    }
}

/// `L⁻¹ k` of each row along its way to the root.
#[derive(Clone, Debug, Default)]
struct Paths {
    starts: Vec<usize>,
    /// Limbs, children first.
    limbs: Vec<usize>,
    halves: Vec<Half>,
    /// For each limb, its place in the path in work.
    slots: Vec<usize>,
}

/// Why there are no multipliers.
#[derive(Clone, Copy, Debug)]
pub enum Fault {
    /// Dependent rows that disagree.
    Disagree {
        /// The row.
        row: usize,
        /// By how much.
        by: f64,
    },
    /// No multipliers satisfy the inequalities.
    Infeasible {
        /// A row with a sign.
        row: usize,
    },
}

/// A fault with its row.
pub struct FaultAt(Fault, Row);

impl FaultAt {
    /// The error, once somebody can name the row.
    pub fn name(self, method: &'static str, name: impl Fn(&Row) -> String) -> MethodError {
        let culprit = name(&self.1);
        match self.0 {
            Fault::Disagree { by, .. } => MethodError::Conflict {
                culprit,
                detail: format!("dependent rows disagree by {by:.3e}"),
                instead: "--method affine, whose bodies can give way",
            },
            Fault::Infeasible { .. } => MethodError::Solver {
                method,
                reason: format!("no forces satisfy the limits at '{culprit}'; use --method affine"),
            },
        }
    }
}

impl Anticipation {
    /// Finds μ for rows whose targets hold `K^T w₀ + c`. Returns the number of solves.
    pub fn solve(&mut self, factors: &mut Factors, list: &RowList) -> Result<usize, FaultAt> {
        let k = list.len();
        self.matrix.clear();
        self.matrix.resize(k * k, 0.0);
        self.paths.find(factors.forest(), list);
        // Multiplications, for constraints of three rows.
        let halves = self.paths.limbs.len() * (64 + 6 * k);
        let columns = k * factors.forest().limbs().len() * 128;
        match self.way {
            Way::Columns => self.fill_columns(factors, list),
            Way::Cheaper if halves > columns => self.fill_columns(factors, list),
            Way::Symmetric | Way::Cheaper => self.fill_symmetric(factors, list),
        }
        self.multipliers.clear();
        self.multipliers.resize(k, 0.0);
        let signed = list
            .rows()
            .iter()
            .any(|row| row.sense == Sense::NotNegative);
        let solved = if signed {
            self.solve_mixed(list)
        } else {
            self.solve_equalities(list)
        };
        solved.map_err(|fault| {
            let (Fault::Disagree { row, .. } | Fault::Infeasible { row }) = fault;
            FaultAt(fault, list.rows()[row])
        })?;
        Ok(k)
    }

    fn fill_columns(&mut self, factors: &mut Factors, list: &RowList) {
        let (k, bodies) = (list.len(), factors.forest().limbs().len());
        self.pull.forces.clear();
        self.pull.forces.resize(bodies, [0.0; 6]);
        self.motion.resize(bodies, [0.0; 6]);
        for j in 0..k {
            for (body, gradient) in list.terms(j) {
                add(&mut self.pull.forces[*body], gradient);
            }
            factors.load(&self.pull);
            factors.finish(&mut self.motion);
            for i in 0..k {
                let terms = list.terms(i).iter();
                self.matrix[i * k + j] = terms
                    .map(|(body, gradient)| dot6(gradient, &self.motion[*body]))
                    .sum();
            }
            for (body, _) in list.terms(j) {
                self.pull.forces[*body] = [0.0; 6];
            }
        }
    }

    fn fill_symmetric(&mut self, factors: &Factors, list: &RowList) {
        self.paths.solve(factors, list);
        let k = list.len();
        for i in 0..k {
            for j in 0..=i {
                let entry = self.paths.product(i, j);
                self.matrix[i * k + j] = entry;
                self.matrix[j * k + i] = entry;
            }
        }
    }

    /// Cholesky with diagonal pivoting; rows that depend on others get no force and must
    /// agree with them.
    fn solve_equalities(&mut self, list: &RowList) -> Result<(), Fault> {
        let k = list.len();
        self.factor.clone_from(&self.matrix);
        self.order.clear();
        self.order.extend(0..k);
        self.column.clear();
        self.column.extend((0..k).map(|i| self.matrix[i * k + i]));
        let rank = pivoted_cholesky(&mut self.factor, &mut self.order, &self.column);
        let (l, order) = (&self.factor, &self.order);
        let x = &mut self.column;
        for i in 0..rank {
            let known: f64 = (0..i).map(|j| l[order[i] * k + order[j]] * x[j]).sum();
            x[i] = (-list.rows()[order[i]].target - known) / l[order[i] * k + order[i]];
        }
        for i in (0..rank).rev() {
            let known: f64 = (i + 1..rank)
                .map(|j| l[order[j] * k + order[i]] * x[j])
                .sum();
            x[i] = (x[i] - known) / l[order[i] * k + order[i]];
            self.multipliers[order[i]] = x[i];
        }
        self.check_dependent(list, rank)
    }

    fn check_dependent(&self, list: &RowList, rank: usize) -> Result<(), Fault> {
        let k = list.len();
        let size = |most: f64, row: &Row| most.max(row.target.abs());
        let largest = list.rows().iter().fold(0.0, size);
        for &row in &self.order[rank..] {
            let response = &self.matrix[row * k..row * k + k];
            let sum: f64 = response
                .iter()
                .zip(&self.multipliers)
                .map(|(a, m)| a * m)
                .sum();
            let by = (sum + list.rows()[row].target).abs();
            // Violations of rounding disagree as they like.
            if by > DISAGREEMENT * largest && by > 1e-7 {
                return Err(Fault::Disagree { row, by });
            }
        }
        Ok(())
    }

    /// Equalities and complementarity together, by Lemke's algorithm.
    fn solve_mixed(&mut self, list: &RowList) -> Result<(), Fault> {
        let k = list.len();
        let rows = list.rows();
        self.order.clear();
        let of = |sense: Sense| move |&row: &usize| rows[row].sense == sense;
        self.order.extend((0..k).filter(of(Sense::Equal)));
        let free = self.order.len();
        self.order.extend((0..k).filter(of(Sense::NotNegative)));
        let order = &self.order;
        let matrix = (0..k * k).map(|e| self.matrix[order[e / k] * k + order[e % k]]);
        let vector = order.iter().map(|&row| rows[row].target).collect();
        let fault = Fault::Infeasible { row: order[free] };
        let problem = MixedLcp::new(free, matrix.collect(), vector).map_err(|_| fault)?;
        let reduced = problem.reduce().map_err(|_| fault)?;
        let mut lemke = Lemke::new();
        let Outcome::Solved { .. } = lemke.solve(&reduced.lcp) else {
            return Err(fault);
        };
        let z = lemke.solution();
        let free_unknowns = reduced.free_unknowns(z);
        for (&row, mu) in order.iter().zip(free_unknowns.iter().chain(z)) {
            self.multipliers[row] = *mu;
        }
        Ok(())
    }
}

impl Paths {
    /// The ways from the bodies of each row to their roots.
    fn find(&mut self, forest: &Forest, list: &RowList) {
        self.starts.clear();
        self.limbs.clear();
        self.slots.clear();
        self.slots.resize(forest.limbs().len(), usize::MAX);
        for row in 0..list.len() {
            let start = self.limbs.len();
            self.starts.push(start);
            for (body, _) in list.terms(row) {
                let mut next = Some(forest.limb_of(*body));
                while let Some(limb) = next.filter(|&n| self.slots[n] != row) {
                    self.slots[limb] = row;
                    self.limbs.push(limb);
                    next = forest.limbs()[limb].parent();
                }
            }
            self.limbs[start..].sort_unstable_by(|a, b| b.cmp(a));
        }
        self.starts.push(self.limbs.len());
    }

    fn solve(&mut self, factors: &Factors, list: &RowList) {
        self.halves.clear();
        self.halves.resize(self.limbs.len(), [0.0; 6 + MOST]);
        for row in 0..list.len() {
            let range = self.starts[row]..self.starts[row + 1];
            let path = &self.limbs[range.clone()];
            for (k, &limb) in path.iter().enumerate() {
                self.slots[limb] = k;
            }
            let halves = &mut self.halves[range];
            for (body, gradient) in list.terms(row) {
                let place = &mut halves[self.slots[factors.forest().limb_of(*body)]];
                (0..6).for_each(|k| place[k] += gradient[k]);
            }
            factors.solve_up(path, halves, &self.slots);
        }
    }

    /// `y_iᵀ S y_j` over the limbs that both ways share.
    fn product(&self, i: usize, j: usize) -> f64 {
        let (mut a, mut b) = (self.starts[i], self.starts[j]);
        let mut sum = 0.0;
        while a < self.starts[i + 1] && b < self.starts[j + 1] {
            match self.limbs[a].cmp(&self.limbs[b]) {
                std::cmp::Ordering::Greater => a += 1,
                std::cmp::Ordering::Less => b += 1,
                std::cmp::Ordering::Equal => {
                    sum += product(&self.halves[a], &self.halves[b]);
                    (a, b) = (a + 1, b + 1);
                }
            }
        }
        sum
    }
}

fn add(to: &mut Six, from: &Six) {
    (0..6).for_each(|k| to[k] += from[k]);
}

/// Lower triangle of `P A Pᵀ = L Lᵀ`, stored under the original numbers; returns the rank.
fn pivoted_cholesky(a: &mut [f64], order: &mut [usize], diagonal: &[f64]) -> usize {
    let n = order.len();
    for k in 0..n {
        let ratio = |i: usize| a[i * n + i] / diagonal[i].max(f64::MIN_POSITIVE);
        let best = (k..n).fold(k, |best, i| {
            if ratio(order[i]) > ratio(order[best]) {
                i
            } else {
                best
            }
        });
        if !(ratio(order[best]) > DEPENDENT) {
            return k;
        }
        order.swap(k, best);
        let p = order[k];
        let root = a[p * n + p].sqrt();
        a[p * n + p] = root;
        for i in k + 1..n {
            a[order[i] * n + p] /= root;
        }
        for i in k + 1..n {
            for j in k + 1..n {
                let (r, c) = (order[i], order[j]);
                a[r * n + c] -= a[r * n + p] * a[c * n + p];
            }
        }
    }
    n
}
