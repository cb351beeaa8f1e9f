//! Half a solve for right-hand sides with few entries: `y = L⁻¹ b` and products `y_iᵀ D⁻¹ y_j`.
//!
//! `b_iᵀ S⁻¹ b_j = (L⁻¹ b_i)ᵀ D⁻¹ (L⁻¹ b_j)`, so rows appended to a factored system (Tomcin's
//! appendix C: contacts) need only forward substitutions, and these stay on the way from the
//! entries of b to the root of the elimination tree (Gilbert's reach).

use super::Cholesky;
use crate::SolveError;

/// `L⁻¹ b` where it is not zero: supernodes in ascending order and their values.
#[derive(Clone, Debug, Default)]
pub struct Half {
    supernodes: Vec<usize>,
    starts: Vec<usize>,
    values: Vec<f64>,
}

/// Memory for half solves with one [`Cholesky`].
#[derive(Clone, Debug)]
pub struct Reach {
    /// The permuted place of each row.
    position: Vec<usize>,
    /// The supernode of each permuted row.
    supernode: Vec<usize>,
    marked: Vec<bool>,
    vector: Vec<f64>,
}

impl Reach {
    /// For the order of elimination of this solver.
    pub fn new(cholesky: &Cholesky) -> Reach {
        let n = cholesky.rows.len();
        let mut position = vec![0; n];
        for (place, &row) in cholesky.rows.iter().enumerate() {
            position[row] = place;
        }
        let symbolic = &cholesky.symbolic;
        let mut supernode = vec![0; n];
        for s in 0..symbolic.n_supernodes() {
            supernode[symbolic.supernode_begin()[s]..symbolic.supernode_end()[s]].fill(s);
        }
        Reach {
            position,
            supernode,
            marked: vec![false; symbolic.n_supernodes()],
            vector: vec![0.0; n],
        }
    }
}

impl Cholesky {
    /// `L⁻¹ b` for a right-hand side given by its entries (row, value).
    pub fn solve_half(
        &self,
        entries: &[(usize, f64)],
        reach: &mut Reach,
        out: &mut Half,
    ) -> Result<(), SolveError> {
        if !self.factored {
            return Err(SolveError::NotFactored);
        }
        out.supernodes.clear();
        out.starts.clear();
        out.values.clear();
        for &(row, value) in entries {
            let place = reach.position[row];
            reach.vector[place] += value * self.scaling[place];
            self.mark_way(reach.supernode[place], reach, out);
        }
        out.supernodes.sort_unstable();
        for index in 0..out.supernodes.len() {
            let s = out.supernodes[index];
            reach.marked[s] = false;
            out.starts.push(out.values.len());
            self.eliminate_supernode(s, &mut reach.vector);
            let (begin, end) = (
                self.symbolic.supernode_begin()[s],
                self.symbolic.supernode_end()[s],
            );
            out.values.extend_from_slice(&reach.vector[begin..end]);
            reach.vector[begin..end].fill(0.0);
        }
        Ok(())
    }

    fn mark_way(&self, from: usize, reach: &mut Reach, out: &mut Half) {
        let mut next = Some(from);
        while let Some(s) = next.filter(|&s| !reach.marked[s]) {
            reach.marked[s] = true;
            out.supernodes.push(s);
            let rows = self.symbolic.supernode(s).pattern();
            next = rows.first().map(|&row| reach.supernode[row]);
        }
    }

    fn eliminate_supernode(&self, s: usize, vector: &mut [f64]) {
        let begin = self.symbolic.supernode_begin()[s];
        let width = self.symbolic.supernode_end()[s] - begin;
        let rows = self.symbolic.supernode(s).pattern();
        let height = width + rows.len();
        let first = self.symbolic.col_ptr_for_val()[s];
        for k in 0..width {
            let column = &self.factors[first + k * height..first + (k + 1) * height];
            let x = vector[begin + k];
            if x == 0.0 {
                continue;
            }
            for i in k + 1..width {
                vector[begin + i] -= column[i] * x;
            }
            for (&row, l) in rows.iter().zip(&column[width..]) {
                vector[row] -= l * x;
            }
        }
    }

    /// `y_aᵀ D⁻¹ y_b`.
    pub fn half_product(&self, a: &Half, b: &Half) -> f64 {
        let (mut i, mut j, mut sum) = (0, 0, 0.0);
        while i < a.supernodes.len() && j < b.supernodes.len() {
            match a.supernodes[i].cmp(&b.supernodes[j]) {
                std::cmp::Ordering::Less => i += 1,
                std::cmp::Ordering::Greater => j += 1,
                std::cmp::Ordering::Equal => {
                    let s = a.supernodes[i];
                    let begin = self.symbolic.supernode_begin()[s];
                    let width = self.symbolic.supernode_end()[s] - begin;
                    let height = width + self.symbolic.supernode(s).pattern().len();
                    let first = self.symbolic.col_ptr_for_val()[s];
                    for k in 0..width {
                        let pivot = self.factors[first + k * height + k];
                        sum += a.values[a.starts[i] + k] * b.values[b.starts[j] + k] / pivot;
                    }
                    (i, j) = (i + 1, j + 1);
                }
            }
        }
        sum
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
        let halves: Vec<Half> = (0..rows)
            .map(|row| {
                let mut half = Half::default();
                let entries = [(row, 2.0), ((7 * row + 1) % rows, -1.0)];
                cholesky
                    .solve_half(&entries, &mut reach, &mut half)
                    .expect("half a solve");
                half
            })
            .collect();
        for i in 0..rows {
            let mut x = vec![0.0; rows];
            x[i] += 2.0;
            x[(7 * i + 1) % rows] -= 1.0;
            cholesky.solve(&mut x).expect("a solve");
            for j in 0..rows {
                let exact = 2.0 * x[j] - x[(7 * j + 1) % rows];
                let found = cholesky.half_product(&halves[i], &halves[j]);
                assert!((exact - found).abs() < 1e-14, "{i} {j}: {exact} {found}");
            }
        }
    }
}
