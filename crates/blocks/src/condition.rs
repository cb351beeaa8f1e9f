//! Which rows depend on which: naming redundant joints.
//!
//! With `S = J H⁻¹ Jᵀ`, a row of `J` that is a combination of others leaves no
//! pivot. If `R` are the rows kept and `r` is redundant, its combination is
//! `c = S_RR⁻¹ S_Rr`, since `J_r = cᵀ J_R`: the nodes with a share in `c` form
//! the closed, overdetermined part of the mechanism.

use crate::dense::rank_report;
use crate::matrix::BlockMatrix;
use crate::pivoted::Pivoted;
use crate::{FactorError, MAX_BLOCK};

/// Rows of one node that depend on other nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DependentNode {
    /// The node.
    pub node: usize,
    /// Which of its rows (0 to 5).
    pub rows: Vec<usize>,
    /// The other nodes that these rows are combinations of, ascending.
    pub depends_on: Vec<usize>,
}

/// The rank of a matrix and what is redundant in it.
#[derive(Clone, Debug, PartialEq)]
pub struct Redundancy {
    /// Number of independent rows.
    pub rank: usize,
    /// Number of rows.
    pub dimension: usize,
    /// The smallest kept pivot after scaling the diagonal to one; its inverse
    /// is a lower bound for the condition number of the scaled matrix.
    pub weakest_pivot: f64,
    /// Redundant rows by node, ascending. Which member of a redundant set is
    /// named is a matter of choice: at equal pivots, the later node.
    pub nodes: Vec<DependentNode>,
}

/// Finds the redundant rows of a matrix of up to a few thousand rows (the cost
/// is cubic). Pivots below `tolerance` after scaling count as zero.
pub fn redundancy(matrix: &BlockMatrix, tolerance: f64) -> Result<Redundancy, FactorError> {
    let pattern = matrix.pattern();
    let dimension = pattern.dimension();
    let dense = matrix.to_dense();
    let reference: Vec<f64> = (0..dimension).map(|k| dense[k * dimension + k]).collect();
    let mut pivoted = Pivoted::new(dimension);
    pivoted.entries_mut().copy_from_slice(&dense);
    let found = pivoted.factor(&reference, tolerance);
    rank_report(&found, dimension, matrix, |row| pattern.node_of_row(row))?;
    let mut redundant = pivoted.order()[found.rank..].to_vec();
    redundant.sort_unstable();
    let mut nodes: Vec<DependentNode> = Vec::new();
    for row in redundant {
        let mut combination: Vec<f64> =
            (0..dimension).map(|k| dense[k * dimension + row]).collect();
        pivoted.solve(&mut combination);
        add_row(matrix, &reference, row, &combination, &mut nodes);
    }
    Ok(Redundancy {
        rank: found.rank,
        dimension,
        weakest_pivot: found.weakest,
        nodes,
    })
}

fn add_row(
    matrix: &BlockMatrix,
    reference: &[f64],
    row: usize,
    combination: &[f64],
    nodes: &mut Vec<DependentNode>,
) {
    let pattern = matrix.pattern();
    let node = pattern.node_of_row(row);
    if nodes.last().is_none_or(|last| last.node != node) {
        nodes.push(DependentNode {
            node,
            rows: Vec::with_capacity(MAX_BLOCK),
            depends_on: Vec::new(),
        });
    }
    let Some(entry) = nodes.last_mut() else {
        return;
    };
    entry.rows.push(row - pattern.row(node));
    // A share counts if, in scaled rows, it is visible beside one.
    let share = |k: usize| {
        combination[k].abs() * (reference[k] / reference[row].max(f64::MIN_POSITIVE)).sqrt()
    };
    let others = (0..combination.len())
        .filter(|&k| share(k) > 1e-6)
        .map(|k| pattern.node_of_row(k));
    entry
        .depends_on
        .extend(others.filter(|&other| other != node));
    entry.depends_on.sort_unstable();
    entry.depends_on.dedup();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Pattern;

    #[test]
    fn a_doubled_row_is_named_with_its_twin() {
        // Three nodes of two rows; the second row of node 2 repeats the first of node 0.
        let pattern = Pattern::new(&[2, 2, 2], &[(0, 1), (0, 2), (1, 2)]).unwrap();
        let jacobian: [[f64; 6]; 6] = [
            [1.0, 2.0, 0.0, 0.0, 1.0, 0.0],
            [0.0, 1.0, 1.0, 0.0, 0.0, 0.0],
            [3.0, 0.0, 0.0, 1.0, 0.0, 0.0],
            [0.0, 0.0, 1.0, 0.0, 2.0, 1.0],
            [0.0, 1.0, 0.0, 5.0, 0.0, 0.0],
            [1.0, 2.0, 0.0, 0.0, 1.0, 0.0],
        ];
        let entry =
            |i: usize, j: usize| -> f64 { (0..6).map(|k| jacobian[i][k] * jacobian[j][k]).sum() };
        let mut matrix = BlockMatrix::zeros(&pattern);
        for node in 0..3 {
            for k in 0..4 {
                matrix.diagonal_mut(node)[k] = entry(2 * node + k / 2, 2 * node + k % 2);
            }
        }
        for (edge, &(i, j)) in pattern.edges().iter().enumerate() {
            for k in 0..4 {
                matrix.edge_mut(edge)[k] = entry(2 * i + k / 2, 2 * j + k % 2);
            }
        }
        let found = redundancy(&matrix, 1e-12).unwrap();
        assert_eq!((found.rank, found.dimension), (5, 6));
        let expected = DependentNode {
            node: 2,
            rows: vec![1],
            depends_on: vec![0],
        };
        assert_eq!(found.nodes, vec![expected]);
    }
}
