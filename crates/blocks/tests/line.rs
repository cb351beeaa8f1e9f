//! The streamed chain against the chain that reads a matrix.

mod common;

use std::ops::Range;

use vincula_blocks::{BlockMatrix, Chain, Factorization, Line, LineSource, Pattern};

/// The numbers of a matrix, and the nodes that it was asked to look at.
struct Numbers<'a>(&'a BlockMatrix, Range<usize>);

fn numbers(matrix: &BlockMatrix) -> [Numbers<'_>; 2] {
    [Numbers(matrix, 0..0), Numbers(matrix, 0..0)]
}

fn right(k: usize) -> f64 {
    (k as f64 * 0.37).sin()
}

fn square(values: &[f64]) -> [[f64; 3]; 3] {
    std::array::from_fn(|i| std::array::from_fn(|j| values[3 * i + j]))
}

impl LineSource for Numbers<'_> {
    fn look(&mut self, nodes: Range<usize>) -> bool {
        self.1 = nodes;
        true
    }

    fn diagonal(&self, node: usize) -> [[f64; 3]; 3] {
        assert!(self.1.contains(&node));
        square(self.0.diagonal(node))
    }

    fn coupling(&self, node: usize) -> [[f64; 3]; 3] {
        // That of the last node leads to the next one, that before the first one to it.
        assert!(self.1.contains(&node) || node + 1 == self.1.start);
        square(self.0.edge(node))
    }

    fn right(&self, node: usize) -> [f64; 3] {
        assert!(self.1.contains(&node));
        std::array::from_fn(|i| right(3 * node + i))
    }
}

/// A diagonally dominant chain with entries from a small generator.
fn chain(nodes: usize) -> BlockMatrix {
    let sizes = vec![3; nodes];
    let edges: Vec<_> = (1..nodes).map(|k| (k - 1, k)).collect();
    let pattern = Pattern::new(&sizes, &edges).expect("a path is a valid pattern");
    let mut matrix = BlockMatrix::zeros(&pattern);
    let mut seed = 7u64;
    let mut next = || {
        seed = seed
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (seed >> 11) as f64 / (1u64 << 53) as f64 - 0.5
    };
    for k in 0..nodes {
        let x: [f64; 6] = std::array::from_fn(|_| next());
        let d = [
            4.0 + x[0],
            x[1],
            x[2],
            x[1],
            4.0 + x[3],
            x[4],
            x[2],
            x[4],
            4.0 + x[5],
        ];
        matrix.diagonal_mut(k).copy_from_slice(&d);
    }
    for k in 0..nodes.saturating_sub(1) {
        for value in matrix.edge_mut(k) {
            *value = next();
        }
    }
    matrix
}

#[test]
fn a_line_has_the_bits_of_a_chain_on_one_thread_and_on_two() {
    for nodes in [1, 2, 3, 4, 5, 8, 33, 100, 600] {
        let matrix = chain(nodes);
        let order: Vec<usize> = (0..nodes).collect();
        let mut oracle = Chain::symbolic(matrix.pattern(), &order).expect("a path");
        oracle.factor(&matrix).expect("positive definite");
        for split in [false, true] {
            let mut line = Line::new(nodes, split);
            let mut found = vec![[f64::NAN; 3]; nodes];
            for scale in [1.0, 3.0] {
                let mut expected: Vec<f64> = (0..3 * nodes).map(|k| scale * right(k)).collect();
                oracle.solve(&mut expected).expect("factored");
                if scale == 1.0 {
                    assert!(line.factor_solve(&mut numbers(&matrix), &mut found));
                } else {
                    for (node, entry) in found.iter_mut().enumerate() {
                        *entry = std::array::from_fn(|i| 3.0 * right(3 * node + i));
                    }
                    line.solve(&mut found);
                }
                assert_eq!(
                    found.as_flattened(),
                    expected,
                    "{nodes} nodes, split {split}"
                );
            }
        }
    }
}

#[test]
fn a_line_says_when_a_pivot_vanishes_or_is_not_a_number() {
    let mut matrix = chain(9);
    matrix.diagonal_mut(4).fill(0.0);
    let right = vec![[1.0; 3]; 9];
    assert!(!Line::new(9, false).factor_solve(&mut numbers(&matrix), &mut right.clone()));
    matrix.diagonal_mut(4).fill(f64::NAN);
    assert!(!Line::new(9, true).factor_solve(&mut numbers(&matrix), &mut right.clone()));
}
