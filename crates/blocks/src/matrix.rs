//! The matrix `S`: diagonal blocks `S_ii` and one block `S_ij` per edge `i < j`.
//!
//! All numbers lie in one vector: first the diagonal blocks in node order, then
//! the edge blocks in the lexicographic order of their nodes, every block row
//! by row. `S_ji` is `S_ijᵀ` and is never stored.

use crate::error::{FactorError, PatternError, SolveError, check_length};
use crate::role::Role;
use std::sync::Arc;

/// The largest block: a joint takes away at most six degrees of freedom.
pub const MAX_BLOCK: usize = 6;

/// The sparsity of a [`BlockMatrix`]: block sizes, edges and where blocks lie.
///
/// Methods that take a node or an edge by number treat it like a slice index:
/// one that does not exist is a programming error and panics.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    sizes: Vec<usize>,
    rows: Vec<usize>,
    edges: Vec<(usize, usize)>,
    diagonal_offsets: Vec<usize>,
    edge_offsets: Vec<usize>,
    adjacency_starts: Vec<usize>,
    adjacency: Vec<(usize, usize)>,
    /// Empty if all nodes are positive.
    roles: Vec<Role>,
}

impl Pattern {
    /// Builds a pattern from the number of rows of each node and the coupled
    /// pairs, in any order and direction; repeated pairs are merged.
    pub fn new(sizes: &[usize], edges: &[(usize, usize)]) -> Result<Arc<Self>, PatternError> {
        Self::with_roles(sizes, edges, Vec::new())
    }

    /// The same with a role for each node; no roles at all means that every node is
    /// positive.
    pub fn with_roles(
        sizes: &[usize],
        edges: &[(usize, usize)],
        roles: Vec<Role>,
    ) -> Result<Arc<Self>, PatternError> {
        if !roles.is_empty() && roles.len() != sizes.len() {
            return Err(PatternError::Roles {
                nodes: sizes.len(),
                roles: roles.len(),
            });
        }
        check_sizes(sizes)?;
        let edges = merge_edges(sizes.len(), edges)?;
        let rows = running_sum(0, sizes.iter().copied());
        let diagonal_offsets = running_sum(0, sizes.iter().map(|n| n * n));
        let first_edge = diagonal_offsets[sizes.len()];
        let edge_offsets = running_sum(first_edge, edges.iter().map(|&(i, j)| sizes[i] * sizes[j]));
        let (adjacency_starts, adjacency) = adjacency(sizes.len(), &edges);
        Ok(Arc::new(Self {
            sizes: sizes.to_vec(),
            rows,
            edges,
            diagonal_offsets,
            edge_offsets,
            adjacency_starts,
            adjacency,
            roles,
        }))
    }

    /// Number of nodes (block rows).
    pub fn nodes(&self) -> usize {
        self.sizes.len()
    }

    /// Number of scalar rows.
    pub fn dimension(&self) -> usize {
        self.rows[self.sizes.len()]
    }

    /// Rows of one node.
    pub fn size(&self, node: usize) -> usize {
        self.sizes[node]
    }

    /// Rows of every node.
    pub fn sizes(&self) -> &[usize] {
        &self.sizes
    }

    /// The role of one node.
    pub fn role(&self, node: usize) -> Role {
        self.roles.get(node).copied().unwrap_or_default()
    }

    /// Whether some pivots are negative, so that the matrix is not semidefinite.
    pub fn is_mixed(&self) -> bool {
        self.roles.contains(&Role::Negative)
    }

    /// First scalar row of a node.
    pub fn row(&self, node: usize) -> usize {
        self.rows[node]
    }

    /// The coupled pairs `(i, j)`, `i < j`, in lexicographic order.
    pub fn edges(&self) -> &[(usize, usize)] {
        &self.edges
    }

    /// The neighbours of a node with the edge that leads there, by ascending node.
    pub fn neighbours(&self, node: usize) -> &[(usize, usize)] {
        &self.adjacency[self.adjacency_starts[node]..self.adjacency_starts[node + 1]]
    }

    /// The edge between two nodes, in either direction.
    pub fn edge_index(&self, i: usize, j: usize) -> Option<usize> {
        let neighbours = (i < self.nodes()).then(|| self.neighbours(i))?;
        let place = neighbours
            .binary_search_by_key(&j, |&(node, _)| node)
            .ok()?;
        Some(neighbours[place].1)
    }

    /// Where the diagonal block of `node` starts among the values.
    pub fn diagonal_offset(&self, node: usize) -> usize {
        self.diagonal_offsets[node]
    }

    /// Where the block of `edge` starts among the values.
    pub fn edge_offset(&self, edge: usize) -> usize {
        self.edge_offsets[edge]
    }

    /// Number of stored values.
    pub fn values(&self) -> usize {
        self.edge_offsets[self.edges.len()]
    }

    /// The pattern of some nodes alone, renumbered in the order given.
    pub fn restrict(&self, nodes: &[usize]) -> Result<Arc<Self>, PatternError> {
        let count = self.nodes();
        let mut place = vec![usize::MAX; count];
        for (k, &node) in nodes.iter().enumerate() {
            if node >= count || place[node] != usize::MAX {
                return Err(PatternError::NotAPermutation { node, count });
            }
            place[node] = k;
        }
        let sizes: Vec<usize> = nodes.iter().map(|&node| self.sizes[node]).collect();
        let mut edges = Vec::new();
        for &node in nodes {
            let inside = self
                .neighbours(node)
                .iter()
                .filter(|&&(other, _)| other > node);
            edges.extend(
                inside
                    .map(|&(other, _)| (place[node], place[other]))
                    .filter(|e| e.1 != usize::MAX),
            );
        }
        let roles = match self.roles.as_slice() {
            [] => Vec::new(),
            roles => nodes.iter().map(|&node| roles[node]).collect(),
        };
        Self::with_roles(&sizes, &edges, roles)
    }

    /// The node that owns a scalar row.
    pub fn node_of_row(&self, row: usize) -> usize {
        self.rows
            .partition_point(|&first| first <= row)
            .saturating_sub(1)
    }
}

fn check_sizes(sizes: &[usize]) -> Result<(), PatternError> {
    let wrong = sizes.iter().position(|&n| n == 0 || n > MAX_BLOCK);
    match wrong {
        Some(node) => Err(PatternError::BlockSize {
            node,
            size: sizes[node],
        }),
        None => Ok(()),
    }
}

fn merge_edges(
    count: usize,
    edges: &[(usize, usize)],
) -> Result<Vec<(usize, usize)>, PatternError> {
    let mut merged = Vec::with_capacity(edges.len());
    for (edge, &(i, j)) in edges.iter().enumerate() {
        if i == j {
            return Err(PatternError::SelfEdge { edge, node: i });
        }
        if i.max(j) >= count {
            return Err(PatternError::UnknownNode {
                edge,
                node: i.max(j),
                count,
            });
        }
        merged.push((i.min(j), i.max(j)));
    }
    merged.sort_unstable();
    merged.dedup();
    Ok(merged)
}

fn running_sum(start: usize, lengths: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut sum = start;
    let ends = lengths.map(|length| {
        sum += length;
        sum
    });
    std::iter::once(start).chain(ends).collect()
}

fn adjacency(count: usize, edges: &[(usize, usize)]) -> (Vec<usize>, Vec<(usize, usize)>) {
    let mut degrees = vec![0; count];
    for &(i, j) in edges {
        degrees[i] += 1;
        degrees[j] += 1;
    }
    let starts = running_sum(0, degrees.into_iter());
    let mut next = starts.clone();
    let mut list = vec![(0, 0); 2 * edges.len()];
    // Lower neighbours first, then higher ones: each list comes out ascending
    // because the edges are in lexicographic order.
    for (edge, &(i, j)) in edges.iter().enumerate() {
        list[next[j]] = (i, edge);
        next[j] += 1;
    }
    for (edge, &(i, j)) in edges.iter().enumerate() {
        list[next[i]] = (j, edge);
        next[i] += 1;
    }
    (starts, list)
}

/// A symmetric block-sparse matrix.
#[derive(Clone, Debug, PartialEq)]
pub struct BlockMatrix {
    pattern: Arc<Pattern>,
    values: Vec<f64>,
}

impl BlockMatrix {
    /// The zero matrix of a pattern.
    pub fn zeros(pattern: &Arc<Pattern>) -> Self {
        Self {
            pattern: Arc::clone(pattern),
            values: vec![0.0; pattern.values()],
        }
    }

    /// The pattern.
    pub fn pattern(&self) -> &Arc<Pattern> {
        &self.pattern
    }

    /// All values, in the order described at the top of this file.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// All values, to be written by an assembler that knows the offsets.
    pub fn values_mut(&mut self) -> &mut [f64] {
        &mut self.values
    }

    /// Sets every value to zero.
    pub fn clear(&mut self) {
        self.values.fill(0.0);
    }

    /// The block `S_ii`, row by row. Solvers read its lower triangle only.
    pub fn diagonal(&self, node: usize) -> &[f64] {
        let start = self.pattern.diagonal_offsets[node];
        &self.values[start..self.pattern.diagonal_offsets[node + 1]]
    }

    /// The block `S_ii` for writing.
    pub fn diagonal_mut(&mut self, node: usize) -> &mut [f64] {
        let start = self.pattern.diagonal_offsets[node];
        &mut self.values[start..self.pattern.diagonal_offsets[node + 1]]
    }

    /// The block `S_ij` of an edge `(i, j)`, `i < j`: rows of `i`, columns of `j`.
    pub fn edge(&self, edge: usize) -> &[f64] {
        let start = self.pattern.edge_offsets[edge];
        &self.values[start..self.pattern.edge_offsets[edge + 1]]
    }

    /// The block `S_ij` for writing.
    pub fn edge_mut(&mut self, edge: usize) -> &mut [f64] {
        let start = self.pattern.edge_offsets[edge];
        &mut self.values[start..self.pattern.edge_offsets[edge + 1]]
    }

    /// The edge between two nodes, in either direction.
    pub fn edge_index(&self, i: usize, j: usize) -> Option<usize> {
        self.pattern.edge_index(i, j)
    }

    /// `y = S x`.
    pub fn multiply(&self, x: &[f64], y: &mut [f64]) -> Result<(), SolveError> {
        check_length(self.pattern.dimension(), x.len())?;
        check_length(self.pattern.dimension(), y.len())?;
        for node in 0..self.pattern.nodes() {
            let (n, row) = (self.pattern.sizes[node], self.pattern.rows[node]);
            let block = self.diagonal(node).chunks_exact(n);
            for (target, entries) in y[row..row + n].iter_mut().zip(block) {
                *target = dot(entries, &x[row..row + n]);
            }
        }
        for edge in 0..self.pattern.edges.len() {
            self.multiply_edge(edge, x, y);
        }
        Ok(())
    }

    fn multiply_edge(&self, edge: usize, x: &[f64], y: &mut [f64]) {
        let (i, j) = self.pattern.edges[edge];
        let (row, column) = (self.pattern.rows[i], self.pattern.rows[j]);
        let m = self.pattern.sizes[j];
        for (k, entries) in self.edge(edge).chunks_exact(m).enumerate() {
            y[row + k] += dot(entries, &x[column..column + m]);
            let x_k = x[row + k];
            for (target, entry) in y[column..column + m].iter_mut().zip(entries) {
                *target += entry * x_k;
            }
        }
    }

    /// `y = b − S x`, the residual of a solution.
    pub fn residual(&self, x: &[f64], b: &[f64], y: &mut [f64]) -> Result<(), SolveError> {
        check_length(self.pattern.dimension(), b.len())?;
        self.multiply(x, y)?;
        for (target, b) in y.iter_mut().zip(b) {
            *target = b - *target;
        }
        Ok(())
    }

    /// All of `S`, row by row.
    pub fn to_dense(&self) -> Vec<f64> {
        let mut dense = vec![0.0; self.pattern.dimension().pow(2)];
        self.copy_dense(&mut dense);
        dense
    }

    /// Writes all of `S` into `dense`, which has `dimension²` entries.
    pub(crate) fn copy_dense(&self, dense: &mut [f64]) {
        let pattern = &*self.pattern;
        let width = pattern.dimension();
        dense.fill(0.0);
        for node in 0..pattern.nodes() {
            let (n, row) = (pattern.sizes[node], pattern.rows[node]);
            for (k, value) in self.diagonal(node).iter().enumerate() {
                dense[(row + k / n) * width + row + k % n] = *value;
            }
        }
        for (edge, &(i, j)) in pattern.edges.iter().enumerate() {
            let (m, row, column) = (pattern.sizes[j], pattern.rows[i], pattern.rows[j]);
            for (k, value) in self.edge(edge).iter().enumerate() {
                dense[(row + k / m) * width + column + k % m] = *value;
                dense[(column + k % m) * width + row + k / m] = *value;
            }
        }
    }

    /// The diagonal entry of each scalar row.
    pub fn copy_diagonal(&self, target: &mut [f64]) -> Result<(), SolveError> {
        check_length(self.pattern.dimension(), target.len())?;
        for node in 0..self.pattern.nodes() {
            let (n, row) = (self.pattern.sizes[node], self.pattern.rows[node]);
            let block = self.diagonal(node);
            for k in 0..n {
                target[row + k] = block[k * n + k];
            }
        }
        Ok(())
    }

    /// `‖S‖₁`, the largest absolute row sum, which for a symmetric matrix is
    /// also the largest column sum. `sums` is scratch, one entry per row.
    pub fn norm_one(&self, sums: &mut [f64]) -> Result<f64, SolveError> {
        check_length(self.pattern.dimension(), sums.len())?;
        let pattern = &*self.pattern;
        for node in 0..pattern.nodes() {
            let (n, row) = (pattern.sizes[node], pattern.rows[node]);
            for (sum, entries) in sums[row..row + n]
                .iter_mut()
                .zip(self.diagonal(node).chunks_exact(n))
            {
                *sum = entries.iter().map(|value| value.abs()).sum();
            }
        }
        for (edge, &(i, j)) in pattern.edges.iter().enumerate() {
            let (m, row, column) = (pattern.sizes[j], pattern.rows[i], pattern.rows[j]);
            for (k, value) in self.edge(edge).iter().enumerate() {
                sums[row + k / m] += value.abs();
                sums[column + k % m] += value.abs();
            }
        }
        Ok(sums
            .iter()
            .fold(0.0, |largest, &sum| f64::max(largest, sum)))
    }

    /// The first node with a number that is not finite in its own block or in
    /// an edge block that starts at it.
    pub fn first_non_finite(&self) -> Option<usize> {
        let place = self.values.iter().position(|value| !value.is_finite())?;
        let pattern = &*self.pattern;
        if place < pattern.edge_offsets[0] {
            return Some(
                pattern
                    .diagonal_offsets
                    .partition_point(|&start| start <= place)
                    - 1,
            );
        }
        let edge = pattern
            .edge_offsets
            .partition_point(|&start| start <= place)
            - 1;
        Some(pattern.edges[edge].0)
    }

    /// Fails unless this matrix has the pattern of a solver.
    pub(crate) fn check_pattern(&self, pattern: &Arc<Pattern>) -> Result<(), FactorError> {
        let same = Arc::ptr_eq(&self.pattern, pattern) || self.pattern == *pattern;
        if same {
            Ok(())
        } else {
            Err(FactorError::PatternMismatch)
        }
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn small() -> BlockMatrix {
        let pattern = Pattern::new(&[2, 1, 3], &[(2, 0), (0, 1), (0, 2)]).unwrap();
        let mut matrix = BlockMatrix::zeros(&pattern);
        for (k, value) in matrix.values_mut().iter_mut().enumerate() {
            *value = 1.0 + k as f64;
        }
        // Diagonal blocks must be symmetric.
        matrix
            .diagonal_mut(0)
            .copy_from_slice(&[4.0, 1.0, 1.0, 5.0]);
        matrix
            .diagonal_mut(2)
            .copy_from_slice(&[9.0, 1.0, 2.0, 1.0, 8.0, 3.0, 2.0, 3.0, 7.0]);
        matrix
    }

    #[test]
    fn edges_are_merged_and_found_both_ways() {
        let matrix = small();
        assert_eq!(matrix.pattern().edges(), &[(0, 1), (0, 2)]);
        assert_eq!(matrix.edge_index(2, 0), Some(1));
        assert_eq!(matrix.edge_index(1, 2), None);
        assert_eq!(matrix.edge_index(9, 2), None);
        assert_eq!(matrix.pattern().node_of_row(2), 1);
        assert_eq!(matrix.pattern().node_of_row(3), 2);
    }

    #[test]
    fn bad_patterns_name_the_culprit() {
        assert_eq!(
            Pattern::new(&[3, 7], &[]),
            Err(PatternError::BlockSize { node: 1, size: 7 })
        );
        assert_eq!(
            Pattern::new(&[0], &[]),
            Err(PatternError::BlockSize { node: 0, size: 0 })
        );
        assert_eq!(
            Pattern::new(&[3, 3], &[(0, 1), (1, 1)]),
            Err(PatternError::SelfEdge { edge: 1, node: 1 })
        );
        let unknown = Err(PatternError::UnknownNode {
            edge: 0,
            node: 5,
            count: 2,
        });
        assert_eq!(Pattern::new(&[3, 3], &[(5, 1)]), unknown);
    }

    #[test]
    fn multiply_and_norm_agree_with_dense() {
        let matrix = small();
        let n = matrix.pattern().dimension();
        let dense = matrix.to_dense();
        let x: Vec<f64> = (0..n).map(|k| 1.0 - 0.3 * k as f64).collect();
        let mut y = vec![0.0; n];
        matrix.multiply(&x, &mut y).unwrap();
        let mut largest = 0.0;
        for i in 0..n {
            let row = &dense[i * n..(i + 1) * n];
            assert!((dot(row, &x) - y[i]).abs() < 1e-12);
            largest = f64::max(largest, row.iter().map(|v| v.abs()).sum());
        }
        assert_eq!(matrix.norm_one(&mut y).unwrap(), largest);
    }

    #[test]
    fn a_broken_number_is_found() {
        let mut matrix = small();
        assert_eq!(matrix.first_non_finite(), None);
        matrix.edge_mut(1)[2] = f64::NAN;
        assert_eq!(matrix.first_non_finite(), Some(0));
        matrix.diagonal_mut(1)[0] = f64::INFINITY;
        assert_eq!(matrix.first_non_finite(), Some(1));
    }
}
