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
use std::ops::Range;

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

/// Writes, for each scalar row of some nodes, the size that its pivot is compared with: the
/// diagonal entry, and for multipliers also `J H⁻¹ Jᵀ` of the kept bodies, with the diagonal of H.
pub(crate) fn pivot_scales(matrix: &BlockMatrix, nodes: Range<usize>, scales: &mut [f64]) {
    let pattern = matrix.pattern();
    let mixed = pattern.is_mixed();
    let mut rest = scales;
    for node in nodes {
        let n = pattern.size(node);
        let (own, later) = rest.split_at_mut(n);
        rest = later;
        let block = matrix.diagonal(node);
        for (k, scale) in own.iter_mut().enumerate() {
            *scale = block[k * n + k].abs();
        }
        if mixed && pattern.role(node) != Role::Negative {
            add_responses(matrix, pattern, node, own);
        }
    }
}

fn add_responses(matrix: &BlockMatrix, pattern: &Pattern, node: usize, scales: &mut [f64]) {
    let m = scales.len();
    for &(other, edge) in pattern.neighbours(node) {
        if pattern.role(other) != Role::Negative {
            continue;
        }
        let n = pattern.size(other);
        let (block, diagonal) = (matrix.edge(edge), matrix.diagonal(other));
        for c in 0..n {
            let stiffness = diagonal[c * n + c].abs();
            for (k, scale) in scales.iter_mut().enumerate() {
                let j = if node < other {
                    block[k * n + c]
                } else {
                    block[c * m + k]
                };
                // Joints hold points: most of these are zero, and divisions are slow.
                if j != 0.0 && stiffness > 0.0 {
                    *scale += j * j / stiffness;
                }
            }
        }
    }
}
