//! Nanoseconds per node of every solver on this machine:
//! `cargo run --release -p vincula-blocks --example speed`.

use std::sync::Arc;
use std::time::Instant;
use vincula_blocks::*;

fn main() {
    println!("chain, one thread (ns per node)");
    for size in [3, 5] {
        for nodes in [1_000, 10_000, 1_000_000] {
            let (pattern, order) = chain(nodes, size);
            let mut solver = Chain::symbolic(&pattern, &order).expect("a chain is a path");
            report(
                &format!("{size}×{size}, {nodes} nodes"),
                &mut solver,
                &laplacian(&pattern),
            );
        }
    }
    println!("chain in 8 parts (ns per node)");
    for nodes in [10_000, 1_000_000] {
        for threads in [1, 2] {
            let (pattern, order) = chain(nodes, 3);
            let mut solver =
                PartitionedChain::symbolic(&pattern, &order, 8).expect("a chain is a path");
            solver.threads = threads;
            report(
                &format!("3×3, {nodes} nodes, {threads} threads"),
                &mut solver,
                &laplacian(&pattern),
            );
        }
    }
    println!("tree (ns per node)");
    for nodes in [1_000, 30_000] {
        let pattern = binary_tree(nodes);
        let mut solver = Tree::symbolic(&pattern).expect("a tree has no loop");
        report(
            &format!("3×3, {nodes} nodes"),
            &mut solver,
            &laplacian(&pattern),
        );
    }
    println!("ring (ns per node)");
    let (pattern, _) = ring(10_000, 3);
    let mut solver = Loops::symbolic(&pattern, 4).expect("a ring is one loop");
    report("3×3, 10000 nodes", &mut solver, &laplacian(&pattern));
    println!("grid of 100 × 100 nodes, 3×3 blocks");
    let pattern = grid(100, 3);
    for fill in [Fill::MinimumDegree, Fill::NestedDissection] {
        let options = CholeskyOptions {
            fill: fill.clone(),
            ..Default::default()
        };
        let start = Instant::now();
        let mut solver = Cholesky::symbolic(&pattern, &options).expect("memory suffices");
        let symbolic = start.elapsed().as_secs_f64() * 1e3;
        println!(
            "{fill:?}: symbolic {symbolic:.1} ms, {:.2e} numbers",
            solver.stored() as f64
        );
        report("cholesky", &mut solver, &laplacian(&pattern));
    }
}

/// Times factorization and solution and checks the answer.
fn report(name: &str, solver: &mut dyn Factorization, matrix: &BlockMatrix) {
    let rows = matrix.pattern().dimension();
    let expected: Vec<f64> = (0..rows).map(|k| (k as f64).sin()).collect();
    let mut b = vec![0.0; rows];
    matrix.multiply(&expected, &mut b).expect("lengths agree");
    let mut x = b.clone();
    let factor = best_time(|| {
        solver.factor(matrix).expect("the matrix is definite");
    });
    let solve = best_time(|| {
        x.copy_from_slice(&b);
        solver.solve(&mut x).expect("lengths agree");
    });
    let both = best_time(|| {
        x.copy_from_slice(&b);
        solver
            .factor_solve(matrix, &mut x)
            .expect("the matrix is definite");
    });
    let error = x
        .iter()
        .zip(&expected)
        .fold(0.0, |m, (a, b)| f64::max(m, (a - b).abs()));
    let nodes = matrix.pattern().nodes() as f64;
    println!(
        "    {name:<34} factor {:7.1}  solve {:6.1}  at once {:7.1} ns   ({:.2} ms, error {error:.0e})",
        1e9 * factor / nodes,
        1e9 * solve / nodes,
        1e9 * both / nodes,
        1e3 * both,
    );
    assert!(error < 1e-6, "{name}");
}

/// The shortest of several runs, in seconds.
fn best_time(mut work: impl FnMut()) -> f64 {
    let start = Instant::now();
    let mut best = f64::INFINITY;
    let mut runs = 0;
    while runs < 3 || (start.elapsed().as_secs_f64() < 0.5 && runs < 2_000) {
        let run = Instant::now();
        work();
        best = best.min(run.elapsed().as_secs_f64());
        runs += 1;
    }
    best
}

fn chain(nodes: usize, size: usize) -> (Arc<Pattern>, Vec<usize>) {
    let edges: Vec<_> = (1..nodes).map(|k| (k - 1, k)).collect();
    (pattern(&vec![size; nodes], &edges), (0..nodes).collect())
}

fn ring(nodes: usize, size: usize) -> (Arc<Pattern>, Vec<usize>) {
    let edges: Vec<_> = (0..nodes).map(|k| (k, (k + 1) % nodes)).collect();
    (pattern(&vec![size; nodes], &edges), (0..nodes).collect())
}

/// Joints of a binary tree of bodies: siblings and parent form triangles.
fn binary_tree(nodes: usize) -> Arc<Pattern> {
    let mut edges: Vec<_> = (1..nodes).map(|k| (k, (k - 1) / 2)).collect();
    edges.extend((1..nodes - 1).step_by(2).map(|k| (k, k + 1)));
    pattern(&vec![3; nodes], &edges)
}

fn grid(side: usize, size: usize) -> Arc<Pattern> {
    let mut edges = Vec::new();
    for i in 0..side {
        for j in 0..side - 1 {
            edges.push((i * side + j, i * side + j + 1));
            edges.push((j * side + i, (j + 1) * side + i));
        }
    }
    pattern(&vec![size; side * side], &edges)
}

fn pattern(sizes: &[usize], edges: &[(usize, usize)]) -> Arc<Pattern> {
    Pattern::new(sizes, edges).expect("the edges are well formed")
}

/// Dense blocks on the edges and a diagonal that dominates them a little.
fn laplacian(pattern: &Arc<Pattern>) -> BlockMatrix {
    let mut matrix = BlockMatrix::zeros(pattern);
    for (edge, &(i, j)) in pattern.edges().iter().enumerate() {
        let (n, m) = (pattern.size(i), pattern.size(j));
        for r in 0..n {
            for c in 0..m {
                let wave = 0.1 * ((3 * edge + 5 * r + 7 * c) as f64).sin();
                let value = if r == c { -1.0 } else { wave };
                matrix.edge_mut(edge)[r * m + c] = value;
                matrix.diagonal_mut(i)[r * n + r] += value.abs();
                matrix.diagonal_mut(j)[c * m + c] += value.abs();
            }
        }
    }
    for node in 0..pattern.nodes() {
        let n = pattern.size(node);
        for r in 0..n {
            matrix.diagonal_mut(node)[r * n + r] += 0.1;
        }
    }
    matrix
}
