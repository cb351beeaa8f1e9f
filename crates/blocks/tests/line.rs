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

/// The solutions for two right-hand sides, the second by the factors of the first.
fn solve(matrix: &BlockMatrix, split: bool) -> [Vec<[f64; 3]>; 2] {
    let nodes = matrix.pattern().nodes();
    let mut line = Line::new(nodes, split);
    let mut first = vec![[f64::NAN; 3]; nodes];
    assert!(line.factor_solve(&mut numbers(matrix), &mut first));
    let mut second: Vec<[f64; 3]> = (0..nodes)
        .map(|node| std::array::from_fn(|i| 3.0 * right(3 * node + i)))
        .collect();
    line.solve(&mut second);
    [first, second]
}

#[test]
fn a_line_solves_what_a_chain_solves_with_the_same_bits_on_one_thread_and_on_two() {
    for nodes in [1, 2, 3, 4, 5, 8, 33, 100, 600] {
        let matrix = chain(nodes);
        let order: Vec<usize> = (0..nodes).collect();
        let mut oracle = Chain::symbolic(matrix.pattern(), &order).expect("a path");
        oracle.factor(&matrix).expect("positive definite");
        let found = solve(&matrix, false);
        assert_eq!(found, solve(&matrix, true), "{nodes} nodes");
        for (found, scale) in found.iter().zip([1.0, 3.0]) {
            let mut expected: Vec<f64> = (0..3 * nodes).map(|k| scale * right(k)).collect();
            oracle.solve(&mut expected).expect("factored");
            for (x, y) in found.as_flattened().iter().zip(&expected) {
                assert!((x - y).abs() < 1e-13 * scale, "{nodes} nodes: {x} and {y}");
            }
        }
    }
}

/// Light bodies between heavy ones: answers of neighbours differ by a million, and nodes are nearly
/// singular after elimination.
#[test]
fn a_line_keeps_its_digits_where_bodies_differ_by_a_million() {
    let nodes = 200;
    let mut matrix = chain(nodes);
    let weight = |k: usize| [1.0, 1e-3, 1e3][k % 3];
    for k in 0..nodes {
        // Of the two bodies that it joins.
        let sum = weight(k) + weight(k + 1);
        let d = [
            sum,
            0.05 * weight(k),
            0.0,
            0.05 * weight(k),
            sum,
            0.0,
            0.0,
            0.0,
            sum,
        ];
        matrix.diagonal_mut(k).copy_from_slice(&d);
    }
    for k in 0..nodes - 1 {
        let between = [0.9, 0.1, 0.0, -0.1, 0.9, 0.2, 0.0, -0.2, 0.9];
        matrix
            .edge_mut(k)
            .copy_from_slice(&between.map(|x| -x * weight(k + 1)));
    }
    let [found, _] = solve(&matrix, false);
    let mut product = vec![0.0; 3 * nodes];
    matrix
        .multiply(found.as_flattened(), &mut product)
        .expect("sizes agree");
    for (k, x) in product.iter().enumerate() {
        let size = 1e3
            * found
                .as_flattened()
                .iter()
                .fold(1.0, |m: f64, x| m.max(x.abs()));
        assert!(
            (x - right(k)).abs() < 1e-13 * size,
            "row {k}: {x} and {}",
            right(k)
        );
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
