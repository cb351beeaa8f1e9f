//! Redundant, singular and broken systems: answers or typed errors, never NaN.

mod common;

use common::*;
use vincula_blocks::ordering::path_order;
use vincula_blocks::*;

/// Every solver that accepts the pattern.
fn solvers(matrix: &BlockMatrix) -> Vec<(&'static str, Box<dyn Factorization>)> {
    let pattern = matrix.pattern();
    let mut list: Vec<(&'static str, Box<dyn Factorization>)> = vec![
        ("dense", Box::new(Dense::symbolic(pattern))),
        (
            "cholesky",
            Box::new(Cholesky::symbolic(pattern, &CholeskyOptions::default()).unwrap()),
        ),
    ];
    if let Ok(loops) = Loops::symbolic(pattern, 30) {
        list.push(("loops", Box::new(loops)));
    }
    if let Ok(tree) = Tree::symbolic(pattern) {
        list.push(("tree", Box::new(tree)));
    }
    if let Some(order) = path_order(pattern) {
        list.push(("chain", Box::new(Chain::symbolic(pattern, &order).unwrap())));
    }
    list
}

/// Solves a consistent system with every solver, checking residual and rank.
fn check(matrix: &BlockMatrix, random: &mut Random, seed: u64) {
    let (b, _) = consistent_rhs(random, matrix);
    let mut oracle = Dense::symbolic(matrix.pattern());
    oracle.factor(matrix).unwrap();
    let redundant = matrix.pattern().dimension() - oracle.rank();
    for (name, mut solver) in solvers(matrix) {
        let report = solver.factor(matrix).unwrap();
        let mut x = b.clone();
        solver.solve(&mut x).unwrap();
        let error = residual(matrix, &x, &b);
        assert!(
            error < 1e-9,
            "{name}, seed {seed}: residual {error:e}, {report:?}"
        );
        assert_eq!(report.dropped, redundant, "{name}, seed {seed}: {report:?}");
        // Multipliers of redundant rows must not run away.
        assert!(largest(&x) < 1e6, "{name}, seed {seed}: {:e}", largest(&x));
    }
}

#[test]
fn repeated_joints_are_dropped_without_residual() {
    for seed in 0..40 {
        let mut random = Random::new(seed);
        let bodies = 2 + random.below(12);
        let mut mechanism = Mechanism::new(&mut random, bodies, &chain_pairs(bodies));
        for _ in 0..1 + seed % 3 {
            let joint = random.below(bodies);
            mechanism.repeat_joint(&mut random, joint);
        }
        mechanism.shuffle(&mut random);
        check(&mechanism.assemble(), &mut random, seed);
    }
}

#[test]
fn overdetermined_loops_keep_their_residual() {
    // A ring held together by more rows than it has freedom.
    for seed in 0..40 {
        let mut random = Random::new(100 + seed);
        let bodies = 3 + random.below(8);
        let mut pairs: Vec<_> = (0..bodies).map(|k| (k, Some((k + 1) % bodies))).collect();
        pairs.extend((0..bodies).map(|k| (k, Some((k + 1) % bodies))));
        pairs.push((0, None));
        let mechanism = Mechanism::new(&mut random, bodies, &pairs);
        check(&mechanism.assemble(), &mut random, seed);
    }
}

/// Nearly rigid affine bodies: half of the freedom is a billion times stiffer,
/// and a ring of them is overdetermined but for that elasticity.
#[test]
fn stiff_bodies_keep_their_weak_pivots() {
    for seed in 0..30 {
        let mut random = Random::new(300 + seed);
        let bodies = 4 + random.below(6);
        let mut pairs: Vec<_> = (0..bodies).map(|k| (k, Some((k + 1) % bodies))).collect();
        pairs.extend((0..bodies).step_by(3).map(|k| (k, None)));
        let mut mechanism = Mechanism::new(&mut random, bodies, &pairs);
        for inverse in &mut mechanism.inverse_inertia {
            for (k, entry) in inverse.iter_mut().enumerate() {
                let stiff = |k: usize| if k < FREEDOM / 2 { 1.0 } else { 3e-5 };
                *entry *= stiff(k / FREEDOM) * stiff(k % FREEDOM);
            }
        }
        let matrix = mechanism.assemble();
        let (b, _) = consistent_rhs(&mut random, &matrix);
        for (name, mut solver) in solvers(&matrix) {
            let report = solver.factor(&matrix).unwrap();
            let mut x = b.clone();
            let mut refinement = Refinement::new(b.len());
            refinement.solve(&mut *solver, &matrix, &mut x).unwrap();
            let error = residual(&matrix, &x, &b);
            assert!(error < 1e-11, "{name}, seed {seed}: {error:e}, {report:?}");
        }
    }
}

#[test]
fn redundant_joints_are_named() {
    let mut random = Random::new(1);
    let mut mechanism = Mechanism::new(&mut random, 6, &chain_pairs(6));
    mechanism.repeat_joint(&mut random, 2);
    let matrix = mechanism.assemble();
    let size = mechanism.joints[2].size;
    let found = redundancy(&matrix, 1e-11).unwrap();
    assert_eq!(found.rank + size, found.dimension);
    let named: Vec<usize> = found.nodes.iter().map(|dependent| dependent.node).collect();
    assert!(
        named.iter().all(|&node| node == 2 || node == 6),
        "{found:?}"
    );
    for dependent in &found.nodes {
        assert!(
            dependent
                .depends_on
                .iter()
                .all(|&node| node == 2 || node == 6),
            "{found:?}"
        );
    }
}

#[test]
fn empty_and_zero_matrices_are_harmless() {
    let empty = BlockMatrix::zeros(&Pattern::new(&[], &[]).unwrap());
    let zero = BlockMatrix::zeros(&Pattern::new(&[3, 2, 3], &[(0, 1), (1, 2)]).unwrap());
    for matrix in [empty, zero] {
        for (name, mut solver) in solvers(&matrix) {
            let report = solver.factor(&matrix).unwrap();
            assert_eq!(report.dropped, matrix.pattern().dimension(), "{name}");
            let mut x = vec![0.0; matrix.pattern().dimension()];
            solver.solve(&mut x).unwrap();
            assert!(x.iter().all(|&x| x == 0.0), "{name}");
        }
    }
}

#[test]
fn broken_numbers_name_their_node() {
    let mut random = Random::new(2);
    let good = Mechanism::new(&mut random, 9, &chain_pairs(9)).assemble();
    for broken in [f64::NAN, f64::INFINITY] {
        let mut matrix = good.clone();
        matrix.diagonal_mut(4)[0] = broken;
        for (name, mut solver) in solvers(&matrix) {
            assert_eq!(
                solver.factor(&matrix),
                Err(FactorError::NonFinite { node: 4 }),
                "{name}"
            );
            assert_eq!(
                solver.solve(&mut vec![0.0; good.pattern().dimension()]),
                Err(SolveError::NotFactored)
            );
        }
        let mut matrix = good.clone();
        matrix.edge_mut(5)[0] = broken;
        for (name, mut solver) in solvers(&matrix) {
            assert_eq!(
                solver.factor(&matrix),
                Err(FactorError::NonFinite { node: 5 }),
                "{name}"
            );
        }
    }
}

#[test]
fn indefinite_matrices_are_refused() {
    let mut random = Random::new(4);
    let mut matrix = Mechanism::new(&mut random, 7, &chain_pairs(7)).assemble();
    let n = matrix.pattern().size(3);
    matrix.diagonal_mut(3)[n * n - 1] *= -1.0;
    for (name, mut solver) in solvers(&matrix) {
        assert!(
            matches!(solver.factor(&matrix), Err(FactorError::Indefinite { .. })),
            "{name}"
        );
    }
}

#[test]
fn wrong_shapes_are_typed_errors() {
    let ring = Pattern::new(&[3; 5], &[(0, 1), (1, 2), (2, 3), (3, 4), (4, 0)]).unwrap();
    assert_eq!(
        Tree::symbolic(&ring).err(),
        Some(PatternError::NotFillFree { node: 0 })
    );
    assert_eq!(
        Loops::symbolic(&ring, 0).err(),
        Some(PatternError::TooManyClosures { limit: 0 })
    );
    let order: Vec<usize> = (0..5).collect();
    assert_eq!(
        Chain::symbolic(&ring, &order).err(),
        Some(PatternError::NotAPath { from: 0, to: 4 })
    );
    let twice = Chain::symbolic(&ring, &[0, 1, 1, 2, 3]).err();
    assert_eq!(
        twice,
        Some(PatternError::NotAPermutation { node: 1, count: 5 })
    );
    let mut dense = Dense::symbolic(&ring);
    let other = BlockMatrix::zeros(&Pattern::new(&[3; 5], &[]).unwrap());
    assert_eq!(dense.factor(&other), Err(FactorError::PatternMismatch));
    dense.factor(&BlockMatrix::zeros(&ring)).unwrap();
    assert_eq!(
        dense.solve(&mut [0.0; 4]),
        Err(SolveError::Length {
            expected: 15,
            found: 4
        })
    );
}
