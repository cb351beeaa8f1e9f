//! Solvers that work in parts agree with those that do not, and give the same bits for any number
//! of threads.

mod common;

use common::*;
use std::sync::Arc;
use vincula_blocks::ordering::path_order;
use vincula_blocks::*;

#[test]
fn any_number_of_parts_gives_the_solution() {
    for seed in 0..40 {
        let mut random = Random::new(seed);
        let bodies = 1 + random.below(70);
        let mut mechanism = Mechanism::new(&mut random, bodies, &chain_pairs(bodies));
        if seed % 2 == 0 {
            mechanism.shuffle(&mut random);
        }
        let matrix = mechanism.assemble();
        let order = path_order(matrix.pattern()).unwrap();
        let (b, x) = consistent_rhs(&mut random, &matrix);
        for parts in [0, 1, 2, 3, 4, 7, 16] {
            let mut chain = PartitionedChain::symbolic(matrix.pattern(), &order, parts).unwrap();
            let found = solution(&mut chain, &matrix, &b);
            let gap = difference(&found, &x);
            assert!(
                gap < 1e-9,
                "seed {seed}, {bodies} bodies, {parts} parts: {gap:e}"
            );
        }
    }
}

#[test]
fn the_bits_do_not_depend_on_threads() {
    let mut random = Random::new(77);
    let bodies = 300;
    let mechanism = Mechanism::new(&mut random, bodies, &chain_pairs(bodies));
    let matrix = mechanism.assemble();
    let order = path_order(matrix.pattern()).unwrap();
    let (b, _) = consistent_rhs(&mut random, &matrix);
    let mut chain = PartitionedChain::symbolic(matrix.pattern(), &order, 8).unwrap();
    let expected = solution(&mut chain, &matrix, &b);
    for threads in [2, 3, 4, 8, 32] {
        chain.threads = threads;
        let found = solution(&mut chain, &matrix, &b);
        let same = found
            .iter()
            .zip(&expected)
            .all(|(a, b)| a.to_bits() == b.to_bits());
        assert!(same, "{threads} threads");
    }
}

#[test]
fn redundant_rows_are_dropped_in_any_part() {
    let mut random = Random::new(9);
    let bodies = 40;
    let mut mechanism = Mechanism::new(&mut random, bodies, &chain_pairs(bodies));
    // A joint with two equal rows is redundant in itself.
    for joint in mechanism.joints.iter_mut().filter(|joint| joint.size >= 2) {
        for (_, jacobian) in &mut joint.sides {
            jacobian.copy_within(..FREEDOM, FREEDOM);
        }
    }
    let doubled = mechanism
        .joints
        .iter()
        .filter(|joint| joint.size >= 2)
        .count();
    let matrix = mechanism.assemble();
    let order = path_order(matrix.pattern()).unwrap();
    let (b, _) = consistent_rhs(&mut random, &matrix);
    for parts in [1, 3, 6] {
        let mut chain = PartitionedChain::symbolic(matrix.pattern(), &order, parts).unwrap();
        assert_eq!(chain.factor(&matrix).unwrap().dropped, doubled);
        let found = solution(&mut chain, &matrix, &b);
        assert!(residual(&matrix, &found, &b) < 1e-10);
    }
}

/// A square grid of positive nodes of three rows each.
fn grid(count: usize, seed: u64) -> BlockMatrix {
    let mut edges = Vec::new();
    for i in 0..count {
        for j in 0..count - 1 {
            edges.push((i * count + j, i * count + j + 1));
            edges.push((j * count + i, (j + 1) * count + i));
        }
    }
    let pattern = Pattern::new(&vec![3; count * count], &edges).unwrap();
    let mut matrix = BlockMatrix::zeros(&pattern);
    let mut random = Random::new(seed);
    for edge in 0..pattern.edges().len() {
        matrix.edge_mut(edge).fill_with(|| random.signed());
    }
    for node in 0..pattern.nodes() {
        let block = matrix.diagonal_mut(node);
        (0..3).for_each(|k| block[4 * k] = 13.0 + random.signed());
    }
    matrix
}

/// The same with the last row of every seventh node made a copy of its first, and how many there
/// are: these rows are redundant.
fn with_copies(matrix: &BlockMatrix) -> (BlockMatrix, usize) {
    let pattern = Arc::clone(matrix.pattern());
    let rows = pattern.dimension();
    let mut source: Vec<usize> = (0..rows).collect();
    let mut copies = 0;
    for node in (0..pattern.nodes()).step_by(7) {
        source[3 * node + 2] = 3 * node;
        copies += 1;
    }
    let dense = matrix.to_dense();
    let entry = |i: usize, j: usize| dense[source[i] * rows + source[j]];
    let mut copied = BlockMatrix::zeros(&pattern);
    for node in 0..pattern.nodes() {
        let block = copied.diagonal_mut(node);
        for k in 0..9 {
            block[k] = entry(3 * node + k / 3, 3 * node + k % 3);
        }
    }
    for (edge, &(a, b)) in pattern.edges().iter().enumerate() {
        let block = copied.edge_mut(edge);
        for k in 0..9 {
            block[k] = entry(3 * a + k / 3, 3 * b + k % 3);
        }
    }
    (copied, copies)
}

#[test]
fn divided_trees_agree_with_the_dense_oracle() {
    let count = 16;
    let matrix = grid(count, 3);
    let (copied, copies) = with_copies(&matrix);
    for (matrix, dropped) in [(matrix, 0), (copied, copies)] {
        let mut random = Random::new(4);
        let (b, _) = consistent_rhs(&mut random, &matrix);
        let mut oracle = Dense::symbolic(matrix.pattern());
        let expected = solution(&mut oracle, &matrix, &b);
        for fill in [Fill::NestedDissection, Fill::MinimumDegree] {
            let options = CholeskyOptions {
                fill: fill.clone(),
                ..Default::default()
            };
            let mut cholesky = Cholesky::symbolic(matrix.pattern(), &options).unwrap();
            assert!(cholesky.is_divided(), "{fill:?}");
            assert_eq!(cholesky.factor(&matrix).unwrap().dropped, dropped);
            let found = solution(&mut cholesky, &matrix, &b);
            assert!(residual(&matrix, &found, &b) < 1e-12, "{fill:?}");
            if dropped == 0 {
                assert!(difference(&found, &expected) < 1e-10, "{fill:?}");
            }
        }
    }
}

#[test]
fn a_large_tree_has_the_same_bits_on_any_number_of_threads() {
    let matrix = grid(45, 8);
    let mut random = Random::new(5);
    let (b, x) = consistent_rhs(&mut random, &matrix);
    let mut cholesky = Cholesky::symbolic(matrix.pattern(), &Default::default()).unwrap();
    let expected = solution(&mut cholesky, &matrix, &b);
    assert!(difference(&expected, &x) < 1e-10);
    for threads in [2, 3, 8] {
        cholesky.threads = threads;
        assert!(cholesky.threads_used() == 2, "large enough");
        let report = cholesky.factor(&matrix).unwrap();
        let found = solution(&mut cholesky, &matrix, &b);
        assert_eq!(report.dropped, 0);
        let same = |(a, b): (&f64, &f64)| a.to_bits() == b.to_bits();
        assert!(found.iter().zip(&expected).all(same), "{threads} threads");
    }
}

#[test]
fn broken_numbers_in_either_half_are_named() {
    let count = 30;
    for node in [0, count * count / 2, count * count - 1] {
        for threads in [1, 2] {
            let mut matrix = grid(count, 9);
            let mut cholesky = Cholesky::symbolic(matrix.pattern(), &Default::default()).unwrap();
            cholesky.threads = threads;
            matrix.diagonal_mut(node)[0] = f64::NAN;
            let error = cholesky.factor(&matrix).unwrap_err();
            assert_eq!(error, FactorError::NonFinite { node });
            matrix.diagonal_mut(node)[0] = -13.0;
            let error = cholesky.factor(&matrix).unwrap_err();
            assert_eq!(error, FactorError::Indefinite { node });
        }
    }
}
