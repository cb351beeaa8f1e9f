//! Signs of pivots: systems in which some unknowns are displacements.
//!
//! Where many joints meet at a body, eliminating the body couples all of them with each
//! other. Keeping its displacement `u` as an unknown instead gives
//!
//! ```text
//! [ S    J ] [λ]   [C]
//! [ Jᵀ  −H ] [u] = [0]
//! ```
//!
//! which is quasi-definite (Vanderbei 1995): in any order the pivots of `λ` are positive
//! and those of `u` negative. A joint whose bodies are all kept has no block of its own in
//! `S`; it has to wait until one of its bodies is eliminated.

use crate::matrix::{BlockMatrix, Pattern};

/// What kind of unknowns a node holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Role {
    /// Multipliers: positive pivots.
    #[default]
    Positive,
    /// Multipliers whose own block is zero: positive pivots once a neighbouring group of
    /// negative nodes has been eliminated.
    Waiting,
    /// Displacements: negative pivots. Neighbouring negative nodes are one group.
    Negative,
}

impl Role {
    /// The sign of the pivots.
    pub fn sign(self) -> f64 {
        match self {
            Role::Negative => -1.0,
            _ => 1.0,
        }
    }
}

/// Writes, for each scalar row, the size that its pivot is compared with: the diagonal
/// entry, and for multipliers also `J H⁻¹ Jᵀ` of the kept bodies, with the diagonal of H.
pub(crate) fn pivot_scales(matrix: &BlockMatrix, scales: &mut [f64]) {
    let pattern = matrix.pattern();
    for node in 0..pattern.nodes() {
        let (n, row) = (pattern.size(node), pattern.row(node));
        let block = matrix.diagonal(node);
        for k in 0..n {
            scales[row + k] = block[k * n + k].abs();
        }
    }
    for node in 0..pattern.nodes() {
        if pattern.role(node) == Role::Negative {
            add_responses(matrix, pattern, node, scales);
        }
    }
}

fn add_responses(matrix: &BlockMatrix, pattern: &Pattern, node: usize, scales: &mut [f64]) {
    let (n, own) = (pattern.size(node), pattern.row(node));
    for &(other, edge) in pattern.neighbours(node) {
        if pattern.role(other) == Role::Negative {
            continue;
        }
        let (m, row) = (pattern.size(other), pattern.row(other));
        let block = matrix.edge(edge);
        for k in 0..m {
            for c in 0..n {
                let j = if other < node {
                    block[k * n + c]
                } else {
                    block[c * m + k]
                };
                let stiffness = scales[own + c];
                if stiffness > 0.0 {
                    scales[row + k] += j * j / stiffness;
                }
            }
        }
    }
}
