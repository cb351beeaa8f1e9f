//! Half a solve for right-hand sides with few entries: `y = D^(-1/2) L⁻¹ b`.
//!
//! `b_iᵀ S⁻¹ b_j = y_iᵀ y_j`, so rows appended to a factored system (Tomcin's
//! appendix C: contacts) need only forward substitutions, and these stay on the way from the
//! entries of b to the root of the elimination tree (Gilbert's reach).

use super::Cholesky;
use crate::SolveError;

/// `D^(-1/2) L⁻¹ b` of N columns where it is not zero: supernodes in ascending order and
/// their values.
#[derive(Clone, Debug, Default)]
pub struct Half<const N: usize> {
    supernodes: Vec<usize>,
    starts: Vec<usize>,
    values: Vec<[f64; N]>,
}

/// Memory for half solves of N columns with one [`Cholesky`].
#[derive(Clone, Debug)]
pub struct Reach<const N: usize> {
    /// The permuted place of each row.
    position: Vec<usize>,
    /// The supernode of each permuted row.
    supernode: Vec<usize>,
    marked: Vec<bool>,
    vector: Vec<[f64; N]>,
    /// What the columns of a supernode take from the rows above, for each right-hand side.
    sums: [Vec<f64>; N],
}

impl<const N: usize> Reach<N> {
    /// For the order of elimination of this solver.
    pub fn new(cholesky: &Cholesky) -> Reach<N> {
        let n = cholesky.scalar.rows.len();
        let mut position = vec![0; n];
        for (place, &row) in cholesky.scalar.rows.iter().enumerate() {
            position[row] = place;
        }
        let symbolic = &cholesky.symbolic;
        let lengths = (0..symbolic.n_supernodes()).map(|s| symbolic.rows_below(s).len());
        let longest = lengths.max().unwrap_or(0);
        let mut supernode = vec![0; n];
        for s in 0..symbolic.n_supernodes() {
            supernode[symbolic.supernode_begin()[s]..symbolic.supernode_end()[s]].fill(s);
        }
        Reach {
            position,
            supernode,
            marked: vec![false; symbolic.n_supernodes()],
            vector: vec![[0.0; N]; n],
            sums: std::array::from_fn(|_| vec![0.0; longest]),
        }
    }
}

impl Cholesky {
    /// `D^(-1/2) L⁻¹ b` for N right-hand sides given by their entries (row, values).
    pub fn solve_half<const N: usize>(
        &self,
        entries: &[(usize, [f64; N])],
        reach: &mut Reach<N>,
        out: &mut Half<N>,
    ) -> Result<(), SolveError> {
        if !self.factored {
            return Err(SolveError::NotFactored);
        }
        out.supernodes.clear();
        out.starts.clear();
        out.values.clear();
        for (row, values) in entries {
            let place = reach.position[*row];
            for (target, value) in reach.vector[place].iter_mut().zip(values) {
                *target += value * self.scaling[place];
            }
            self.mark_way(reach.supernode[place], reach, out);
        }
        out.supernodes.sort_unstable();
        for index in 0..out.supernodes.len() {
            let s = out.supernodes[index];
            reach.marked[s] = false;
            out.starts.push(out.values.len());
            let Reach { vector, sums, .. } = reach;
            self.eliminate_supernode(s, vector, sums, &mut out.values);
        }
        Ok(())
    }

    fn mark_way<const N: usize>(&self, from: usize, reach: &mut Reach<N>, out: &mut Half<N>) {
        let mut next = Some(from);
        while let Some(s) = next.filter(|&s| !reach.marked[s]) {
            reach.marked[s] = true;
            out.supernodes.push(s);
            let rows = self.symbolic.rows_below(s);
            next = rows.first().map(|&row| reach.supernode[row]);
        }
    }

    /// Moves the values of one supernode to `out`, and what they leave to the rows above.
    fn eliminate_supernode<const N: usize>(
        &self,
        s: usize,
        vector: &mut [[f64; N]],
        sums: &mut [Vec<f64>; N],
        out: &mut Vec<[f64; N]>,
    ) {
        let begin = self.symbolic.supernode_begin()[s];
        let width = self.symbolic.supernode_end()[s] - begin;
        let rows = self.symbolic.rows_below(s);
        let height = width + rows.len();
        let first = self.symbolic.col_ptr_for_val()[s];
        sums.iter_mut().for_each(|sum| sum[..rows.len()].fill(0.0));
        for k in 0..width {
            let column = &self.factors[first + k * height..first + (k + 1) * height];
            let x = std::mem::replace(&mut vector[begin + k], [0.0; N]);
            let root = 1.0 / column[k].sqrt();
            out.push(x.map(|x| x * root));
            for i in k + 1..width {
                subtract(&mut vector[begin + i], column[i], &x);
            }
            for (sum, x) in sums.iter_mut().zip(x) {
                for (sum, l) in sum.iter_mut().zip(&column[width..]) {
                    *sum += l * x;
                }
            }
        }
        for (place, &row) in rows.iter().enumerate() {
            for (target, sum) in vector[row].iter_mut().zip(sums.iter()) {
                *target -= sum[place];
            }
        }
    }

    /// `b_aᵀ S⁻¹ b_b` for the columns of two half solves.
    pub fn half_product<const N: usize>(&self, a: &Half<N>, b: &Half<N>) -> [[f64; N]; N] {
        let (mut i, mut j, mut sum) = (0, 0, [[0.0; N]; N]);
        while i < a.supernodes.len() && j < b.supernodes.len() {
            match a.supernodes[i].cmp(&b.supernodes[j]) {
                std::cmp::Ordering::Less => i += 1,
                std::cmp::Ordering::Greater => j += 1,
                std::cmp::Ordering::Equal => {
                    let s = a.supernodes[i];
                    let width =
                        self.symbolic.supernode_end()[s] - self.symbolic.supernode_begin()[s];
                    let first = &a.values[a.starts[i]..a.starts[i] + width];
                    let second = &b.values[b.starts[j]..b.starts[j] + width];
                    for (x, y) in first.iter().zip(second) {
                        for (line, x) in sum.iter_mut().zip(x) {
                            line.iter_mut()
                                .zip(y)
                                .for_each(|(total, y)| *total += x * y);
                        }
                    }
                    (i, j) = (i + 1, j + 1);
                }
            }
        }
        sum
    }
}

#[inline]
fn subtract<const N: usize>(target: &mut [f64; N], l: f64, x: &[f64; N]) {
    for (target, x) in target.iter_mut().zip(x) {
        *target -= l * x;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BlockMatrix, CholeskyOptions, Factorization, Pattern};

    #[test]
    fn half_products_are_entries_of_the_inverse() {
        let n = 12;
        let mut edges: Vec<(usize, usize)> = (1..n).map(|i| (i / 2, i)).collect();
        edges.extend([(3, 9), (5, 11), (2, 8)]);
        edges.retain(|(a, b)| a != b);
        let pattern = Pattern::new(&[3; 12], &edges).expect("a pattern");
        let mut matrix = BlockMatrix::zeros(&pattern);
        for edge in 0..pattern.edges().len() {
            let block = matrix.edge_mut(edge);
            (0..9).for_each(|k| block[k] = 0.3 * ((edge * 9 + k) as f64).sin());
        }
        for node in 0..n {
            let block = matrix.diagonal_mut(node);
            (0..3).for_each(|k| block[4 * k] = 5.0 + (node + k) as f64);
        }
        let mut cholesky =
            Cholesky::symbolic(&pattern, &CholeskyOptions::default()).expect("an analysis");
        cholesky.factor(&matrix).expect("factors");
        let mut reach = Reach::new(&cholesky);
        let rows = 3 * n;
        // Two columns each: a single entry, and two entries far apart.
        let columns = |row: usize| {
            [
                (row, [2.0, 0.0]),
                ((7 * row + 1) % rows, [-1.0, 0.5]),
                ((5 * row + 2) % rows, [0.0, 1.5]),
            ]
        };
        let halves: Vec<Half<2>> = (0..rows)
            .map(|row| {
                let mut half = Half::default();
                cholesky
                    .solve_half(&columns(row), &mut reach, &mut half)
                    .expect("half a solve");
                half
            })
            .collect();
        for i in 0..rows {
            for column in 0..2 {
                let mut x = vec![0.0; rows];
                for (row, values) in columns(i) {
                    x[row] += values[column];
                }
                cholesky.solve(&mut x).expect("a solve");
                for j in 0..rows {
                    let found = cholesky.half_product(&halves[i], &halves[j])[column];
                    for other in 0..2 {
                        let entries = columns(j);
                        let exact: f64 = entries.iter().map(|(r, v)| v[other] * x[*r]).sum();
                        assert!((exact - found[other]).abs() < 1e-14, "{i} {j}");
                    }
                }
            }
        }
    }
}
