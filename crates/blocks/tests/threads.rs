//! The partitioned chain agrees with the plain one, and gives the same bits for
//! any number of threads.

mod common;

use common::*;
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
