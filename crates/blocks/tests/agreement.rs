//! Every solver gives the answer of the dense oracle, on random mechanisms.

mod common;

use common::*;
use vincula_blocks::ordering::path_order;
use vincula_blocks::*;

/// Fails unless the solver agrees with the oracle on a definite matrix.
fn agrees(name: &str, solver: &mut dyn Factorization, matrix: &BlockMatrix, random: &mut Random) {
    let b: Vec<f64> = (0..matrix.pattern().dimension())
        .map(|_| random.signed())
        .collect();
    let expected = solution(&mut Dense::symbolic(matrix.pattern()), matrix, &b);
    let found = solution(solver, matrix, &b);
    let gap = difference(&found, &expected);
    assert!(gap < 1e-9, "{name}: {gap:e} beside the oracle");
    common::parts_agree(solver);
}

#[test]
fn the_oracle_recovers_a_known_solution() {
    for seed in 0..30 {
        let mut random = Random::new(seed);
        let bodies = 2 + random.below(15);
        let pairs = tree_pairs(&mut random, bodies);
        let matrix = Mechanism::new(&mut random, bodies, &pairs).assemble();
        let (b, x) = consistent_rhs(&mut random, &matrix);
        let found = solution(&mut Dense::symbolic(matrix.pattern()), &matrix, &b);
        assert!(difference(&found, &x) < 1e-9);
    }
}

#[test]
fn chains_of_all_lengths_and_orders() {
    for seed in 0..80 {
        let mut random = Random::new(seed);
        let bodies = 1 + (seed as usize) % 23;
        let mut mechanism = Mechanism::new(&mut random, bodies, &chain_pairs(bodies));
        if seed % 3 == 0 {
            mechanism.shuffle(&mut random);
        }
        let matrix = mechanism.assemble();
        let order = path_order(matrix.pattern()).unwrap();
        let mut chain = Chain::symbolic(matrix.pattern(), &order).unwrap();
        agrees("chain", &mut chain, &matrix, &mut random);
        let mut tree = Tree::symbolic(matrix.pattern()).unwrap();
        agrees("tree on a chain", &mut tree, &matrix, &mut random);
    }
}

#[test]
fn uniform_chains_of_every_block_size() {
    for size in 1..=MAX_BLOCK {
        let mut random = Random::new(size as u64);
        let mut mechanism = Mechanism::new(&mut random, 14, &chain_pairs(14));
        for joint in &mut mechanism.joints {
            joint.size = size;
            for (_, jacobian) in &mut joint.sides {
                jacobian.resize(size * FREEDOM, 0.0);
                jacobian
                    .iter_mut()
                    .for_each(|entry| *entry = random.signed());
            }
        }
        let matrix = mechanism.assemble();
        let order: Vec<usize> = (0..14).collect();
        let mut chain = Chain::symbolic(matrix.pattern(), &order).unwrap();
        agrees("uniform chain", &mut chain, &matrix, &mut random);
    }
}

#[test]
fn several_chains_in_one_matrix() {
    let mut random = Random::new(5);
    let mut pairs = chain_pairs(6);
    pairs.extend(
        chain_pairs(5)
            .iter()
            .map(|&(a, b)| (a + 6, b.map(|b| b + 6))),
    );
    let mut mechanism = Mechanism::new(&mut random, 11, &pairs);
    mechanism.shuffle(&mut random);
    let matrix = mechanism.assemble();
    let order = path_order(matrix.pattern()).unwrap();
    agrees(
        "two chains",
        &mut Chain::symbolic(matrix.pattern(), &order).unwrap(),
        &matrix,
        &mut random,
    );
}

#[test]
fn trees() {
    for seed in 0..60 {
        let mut random = Random::new(seed);
        let bodies = 2 + random.below(40);
        let pairs = tree_pairs(&mut random, bodies);
        let mut mechanism = Mechanism::new(&mut random, bodies, &pairs);
        mechanism.shuffle(&mut random);
        let matrix = mechanism.assemble();
        agrees(
            "tree",
            &mut Tree::symbolic(matrix.pattern()).unwrap(),
            &matrix,
            &mut random,
        );
        agrees(
            "loops on a tree",
            &mut Loops::symbolic(matrix.pattern(), 0).unwrap(),
            &matrix,
            &mut random,
        );
    }
}

#[test]
fn loops_and_sparse_cholesky() {
    for seed in 0..60 {
        let mut random = Random::new(seed);
        let bodies = 12 + random.below(30);
        let mut pairs = chain_pairs(bodies);
        for _ in 0..1 + seed % 4 {
            let (a, b) = (random.below(bodies), random.below(bodies));
            if a != b {
                pairs.push((a, Some(b)));
            }
        }
        let mut mechanism = Mechanism::new(&mut random, bodies, &pairs);
        // Small joints leave enough freedom for the extra ones.
        mechanism
            .joints
            .iter_mut()
            .for_each(|joint| shrink(joint, 3));
        mechanism.shuffle(&mut random);
        let matrix = mechanism.assemble();
        agrees(
            "loops",
            &mut Loops::symbolic(matrix.pattern(), 20).unwrap(),
            &matrix,
            &mut random,
        );
        for fill in [Fill::MinimumDegree, Fill::NestedDissection] {
            let options = CholeskyOptions {
                fill,
                ..Default::default()
            };
            let mut cholesky = Cholesky::symbolic(matrix.pattern(), &options).unwrap();
            agrees("cholesky", &mut cholesky, &matrix, &mut random);
        }
    }
}

fn shrink(joint: &mut Joint, size: usize) {
    joint.size = joint.size.min(size);
    for (_, jacobian) in &mut joint.sides {
        jacobian.truncate(joint.size * FREEDOM);
    }
}

#[test]
fn nets() {
    let n = 7;
    let mut pairs = vec![(0, None)];
    for i in 0..n {
        for j in 0..n - 1 {
            pairs.push((i * n + j, Some(i * n + j + 1)));
            pairs.push((j * n + i, Some((j + 1) * n + i)));
        }
    }
    let mut random = Random::new(11);
    let mut mechanism = Mechanism::new(&mut random, n * n, &pairs);
    mechanism
        .joints
        .iter_mut()
        .for_each(|joint| shrink(joint, 3));
    let matrix = mechanism.assemble();
    for fill in [
        Fill::MinimumDegree,
        Fill::NestedDissection,
        Fill::Given((0..pairs.len()).rev().collect()),
    ] {
        let options = CholeskyOptions {
            fill,
            ..Default::default()
        };
        let mut cholesky = Cholesky::symbolic(matrix.pattern(), &options).unwrap();
        agrees("cholesky", &mut cholesky, &matrix, &mut random);
    }
}

#[test]
fn a_shift_is_taken_out_by_refinement() {
    let mut random = Random::new(3);
    let mut mechanism = Mechanism::new(&mut random, 30, &chain_pairs(30));
    for joint in 0..10 {
        mechanism.repeat_joint(&mut random, joint);
    }
    let matrix = mechanism.assemble();
    let (b, _) = consistent_rhs(&mut random, &matrix);
    for shift in [Shift::Diagonal(1e-9), Shift::Norm(1e-12)] {
        let options = CholeskyOptions {
            shift,
            ..Default::default()
        };
        let mut cholesky = Cholesky::symbolic(matrix.pattern(), &options).unwrap();
        let report = cholesky.factor(&matrix).unwrap();
        assert!(report.shift > 0.0);
        let mut x = b.clone();
        let report = Refinement::new(b.len())
            .solve(&mut cholesky, &matrix, &mut x)
            .unwrap();
        assert!(report.residual < 1e-10, "{shift:?} {report:?}");
        assert!(residual(&matrix, &x, &b) < 1e-10);
    }
}

#[test]
fn gauss_seidel_converges_and_starts_warm() {
    let mut random = Random::new(8);
    let mechanism = Mechanism::new(&mut random, 20, &chain_pairs(20));
    let matrix = mechanism.assemble();
    let (b, x) = consistent_rhs(&mut random, &matrix);
    let forward: Vec<usize> = (0..20).collect();
    let backward: Vec<usize> = (0..20).rev().collect();
    let mut sweeps = GaussSeidel::symbolic(matrix.pattern(), &[forward, backward]).unwrap();
    sweeps.factor(&matrix).unwrap();
    let mut found = vec![0.0; b.len()];
    let cold = sweeps
        .solve(&matrix, &b, &mut found, 1e-10, 10_000)
        .unwrap();
    assert!(cold.converged, "{cold:?}");
    assert!(difference(&found, &x) < 1e-6);
    found[3] += 1e-6;
    let warm = sweeps
        .solve(&matrix, &b, &mut found, 1e-10, 10_000)
        .unwrap();
    assert!(
        warm.converged && warm.rounds < cold.rounds,
        "{warm:?} {cold:?}"
    );
}

#[test]
fn the_chosen_solver_is_right_for_mixed_islands() {
    let mut random = Random::new(21);
    let mut pairs = chain_pairs(6);
    pairs.extend((0..7).map(|k| (6 + k, Some(6 + (k + 1) % 7))));
    let mut mechanism = Mechanism::new(&mut random, 13, &pairs);
    mechanism
        .joints
        .iter_mut()
        .for_each(|joint| shrink(joint, 3));
    mechanism.shuffle(&mut random);
    let matrix = mechanism.assemble();
    let plan = plan(matrix.pattern());
    assert_eq!(plan.components.len(), 2, "{plan}");
    let mut solver = direct_solver(matrix.pattern()).unwrap();
    agrees("mixed islands", &mut *solver, &matrix, &mut random);
}

/// A hanging chain of point masses: `S` is a second difference, whose condition
/// number grows with the square of the length.
#[test]
fn long_chains_keep_their_residual() {
    let nodes = 50_000;
    let edges: Vec<_> = (1..nodes).map(|k| (k - 1, k)).collect();
    let pattern = Pattern::new(&vec![3; nodes], &edges).unwrap();
    let mut matrix = BlockMatrix::zeros(&pattern);
    for node in 0..nodes {
        // The last mass is a thousand times heavier.
        let end = if node + 1 == nodes { 1.001 } else { 2.0 };
        (0..3).for_each(|k| matrix.diagonal_mut(node)[4 * k] = end);
    }
    for edge in 0..edges.len() {
        (0..3).for_each(|k| matrix.edge_mut(edge)[4 * k] = -1.0);
    }
    let mut random = Random::new(1);
    let b: Vec<f64> = (0..3 * nodes).map(|_| random.signed()).collect();
    let order: Vec<usize> = (0..nodes).collect();
    let mut solvers: Vec<Box<dyn Factorization>> = vec![
        Box::new(Chain::symbolic(&pattern, &order).unwrap()),
        Box::new(PartitionedChain::symbolic(&pattern, &order, 16).unwrap()),
        Box::new(Tree::symbolic(&pattern).unwrap()),
    ];
    for solver in &mut solvers {
        let report = solver.factor(&matrix).unwrap();
        assert_eq!(report.dropped, 0, "{report:?}");
        let mut x = b.clone();
        let report = Refinement::new(b.len())
            .solve(&mut **solver, &matrix, &mut x)
            .unwrap();
        // Backward stability: the residual is measured against S and x, not b.
        assert!(
            residual(&matrix, &x, &b) < 1e-14 * largest(&x),
            "{report:?}"
        );
    }
}
