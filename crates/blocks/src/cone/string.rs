//! A block tridiagonal system that need not be symmetric, and how a long one becomes a short one.
//!
//! A chain that is touched at a few of its nodes is condensed to these: what lies between two of
//! them is eliminated and leaves a block on each and one between them,
//!
//! ```text
//! A_tt ← A_tt − A_tu A_uu⁻¹ A_ut
//! ```
//!
//! which again couples neighbours only.

use super::block::{Block, difference, inverse, minus, product, times, transposed};
use super::dense::triple;

/// Blocks of a chain, and the factors of it once it was factored.
#[derive(Clone, Debug, Default)]
pub struct Line {
    /// A of each node with itself, with the next one, and of the next one with it.
    pub diagonal: Vec<Block>,
    /// See `diagonal`.
    pub upper: Vec<Block>,
    /// See `diagonal`.
    pub lower: Vec<Block>,
    /// Inverse of each pivot, and what of a node's row is taken from the next.
    inverse: Vec<Block>,
    gain: Vec<Block>,
}

impl Line {
    /// Forgets all nodes.
    pub fn clear(&mut self) {
        self.diagonal.clear();
        self.upper.clear();
        self.lower.clear();
    }

    /// Number of nodes.
    pub fn len(&self) -> usize {
        self.diagonal.len()
    }

    /// Whether there is no node.
    pub fn is_empty(&self) -> bool {
        self.diagonal.is_empty()
    }

    /// Appends the part of a chain of `nodes` nodes that is left when all but the `touched` ones,
    /// ascending, are eliminated. `block` gives A of a node with itself and, if it is not the
    /// last, with the next. The chain must be symmetric; it is not coupled to what was there
    /// before. False if a pivot vanishes.
    pub fn condense(
        &mut self,
        nodes: usize,
        touched: &[u32],
        block: impl Fn(usize) -> (Block, Block),
    ) -> bool {
        let (Some(&first), Some(&last)) = (touched.first(), touched.last()) else {
            return true;
        };
        // What lies before the first one.
        let mut carried = [0.0; 9];
        for node in 0..first as usize {
            let (own, next) = block(node);
            let Some(pivot) = inverse(&difference(&own, &carried)) else {
                return false;
            };
            carried = product(&product(&transposed(&next), &pivot), &next);
        }
        for (k, &at) in touched.iter().enumerate() {
            let (mut own, mut between) = block(at as usize);
            own = difference(&own, &carried);
            carried = [0.0; 9];
            let Some(&end) = touched.get(k + 1) else {
                own = match self.beyond(nodes, last as usize, &own, &block) {
                    Some(own) => own,
                    None => return false,
                };
                between = [0.0; 9];
                self.push(own, between);
                break;
            };
            for node in at as usize + 1..end as usize {
                let (inner, next) = block(node);
                let Some(pivot) = inverse(&difference(&inner, &carried)) else {
                    return false;
                };
                let through = product(&between, &pivot);
                own = difference(&own, &product(&through, &transposed(&between)));
                carried = product(&product(&transposed(&next), &pivot), &next);
                between = product(&through, &next).map(|x| -x);
            }
            self.push(own, between);
        }
        true
    }

    /// The block of the last touched node without what lies behind it.
    fn beyond(
        &self,
        nodes: usize,
        last: usize,
        own: &Block,
        block: &impl Fn(usize) -> (Block, Block),
    ) -> Option<Block> {
        let mut carried = [0.0; 9];
        for node in (last + 1..nodes).rev() {
            let (inner, _) = block(node);
            let pivot = inverse(&difference(&inner, &carried))?;
            let (_, to) = block(node - 1);
            carried = product(&product(&to, &pivot), &transposed(&to));
        }
        Some(difference(own, &carried))
    }

    fn push(&mut self, own: Block, next: Block) {
        self.diagonal.push(own);
        self.upper.push(next);
        self.lower.push(transposed(&next));
    }

    /// Eliminates block by block. False if a pivot vanishes.
    pub fn factor(&mut self) -> bool {
        self.inverse.clear();
        self.gain.clear();
        let mut carried = [0.0; 9];
        for node in 0..self.diagonal.len() {
            let Some(pivot) = inverse(&difference(&self.diagonal[node], &carried)) else {
                return false;
            };
            let gain = product(&self.lower[node], &pivot);
            carried = product(&gain, &self.upper[node]);
            self.inverse.push(pivot);
            self.gain.push(gain);
        }
        true
    }

    /// Solves for one right-hand side with the factors.
    pub fn solve(&self, x: &mut [f64]) {
        let count = self.inverse.len();
        for node in 1..count {
            let taken = times(&self.gain[node - 1], &triple(x, node - 1));
            let left = minus(&triple(x, node), &taken);
            x[3 * node..3 * node + 3].copy_from_slice(&left);
        }
        for node in (0..count).rev() {
            let mut left = triple(x, node);
            if node + 1 < count {
                left = minus(&left, &times(&self.upper[node], &triple(x, node + 1)));
            }
            let found = times(&self.inverse[node], &left);
            x[3 * node..3 * node + 3].copy_from_slice(&found);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::random;
    use super::*;

    /// A positive definite chain as it is, and as a dense matrix.
    fn chain(nodes: usize, seed: &mut u64) -> (Vec<(Block, Block)>, Vec<f64>) {
        let rows = 3 * nodes;
        let mut dense = vec![0.0; rows * rows];
        for node in 0..nodes {
            // Each link adds G Gᵀ to two neighbours.
            let span = if node + 1 < nodes { 6 } else { 3 };
            let g: Vec<f64> = (0..span * 7).map(|_| random(seed)).collect();
            for i in 0..span {
                for j in 0..span {
                    let sum: f64 = (0..7).map(|k| g[7 * i + k] * g[7 * j + k]).sum();
                    dense[(3 * node + i) * rows + 3 * node + j] += sum;
                }
            }
        }
        let at = |i: usize, j: usize| -> Block {
            std::array::from_fn(|e| match 3 * j + e % 3 < rows {
                true => dense[(3 * i + e / 3) * rows + 3 * j + e % 3],
                false => 0.0,
            })
        };
        let blocks = (0..nodes).map(|k| (at(k, k), at(k, k + 1))).collect();
        (blocks, dense)
    }

    #[test]
    fn a_condensed_chain_answers_as_the_long_one() {
        let mut seed = 3;
        for (nodes, touched) in [
            (1, vec![0]),
            (9, vec![0, 8]),
            (12, vec![3, 4, 8]),
            (20, vec![7]),
        ] {
            let (blocks, mut dense) = chain(nodes, &mut seed);
            let mut line = Line::default();
            assert!(line.condense(nodes, &touched, |k| blocks[k]) && line.factor());
            let mut short: Vec<f64> = (0..3 * touched.len()).map(|_| random(&mut seed)).collect();
            let mut long = vec![0.0; 3 * nodes];
            for (k, &at) in touched.iter().enumerate() {
                long[3 * at as usize..][..3].copy_from_slice(&short[3 * k..3 * k + 3]);
            }
            line.solve(&mut short);
            assert!(super::super::newton::solve_dense(
                &mut dense,
                &mut long,
                3 * nodes
            ));
            for (k, &at) in touched.iter().enumerate() {
                for i in 0..3 {
                    let off = (short[3 * k + i] - long[3 * at as usize + i]).abs();
                    assert!(off < 1e-8 * (1.0 + short[3 * k + i].abs()), "{off:e}");
                }
            }
        }
    }

    #[test]
    fn a_chain_without_a_pivot_is_refused() {
        let mut line = Line::default();
        assert!(!line.condense(3, &[2], |_| ([0.0; 9], [0.0; 9])));
        line.clear();
        assert!(line.condense(1, &[0], |_| ([0.0; 9], [0.0; 9])));
        assert!(!line.factor());
    }
}
