//! Random forests against a dense solution of the same matrix.

use super::*;

/// A small generator of numbers between −1 and 1, the same on every machine.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    fn below(&mut self, n: usize) -> usize {
        (((self.next() + 1.0) * 0.5 * n as f64) as usize).min(n - 1)
    }
}

/// Gaussian elimination with row pivoting.
fn solve_dense(mut a: Vec<Vec<f64>>, mut b: Vec<f64>) -> Vec<f64> {
    let n = b.len();
    for k in 0..n {
        let best = (k..n).max_by(|&i, &j| a[i][k].abs().total_cmp(&a[j][k].abs()));
        let best = best.expect("rows");
        a.swap(k, best);
        b.swap(k, best);
        for i in k + 1..n {
            let f = a[i][k] / a[k][k];
            for j in k..n {
                a[i][j] -= f * a[k][j];
            }
            b[i] -= f * b[k];
        }
    }
    for k in (0..n).rev() {
        let known: f64 = (k + 1..n).map(|j| a[k][j] * b[j]).sum();
        b[k] = (b[k] - known) / a[k][k];
    }
    b
}

fn random_edges(bodies: usize, numbers: &mut Numbers) -> Vec<Edge> {
    let mut edges = Vec::new();
    for body in 1..bodies {
        // Some bodies begin a tree of their own.
        if numbers.next() > 0.8 {
            continue;
        }
        let other = numbers.below(body);
        let mut ends = [Some(other), Some(body)];
        if numbers.next() > 0.0 {
            ends.reverse();
        }
        let rows = 1 + numbers.below(6);
        edges.push(Edge { ends, rows });
    }
    edges.push(Edge {
        ends: [None, Some(numbers.below(bodies))],
        rows: 1 + numbers.below(5),
    });
    edges
}

/// Fills the matrix and returns it dense too.
fn fill(forest: &mut Forest, numbers: &mut Numbers) -> Vec<Vec<f64>> {
    let n = forest.rows();
    let mut dense = vec![vec![0.0; n]; n];
    for index in 0..forest.nodes().len() {
        let node = forest.nodes()[index];
        let parent = node.parent.map(|p| forest.nodes()[p]);
        let (d, b) = forest.blocks_mut(index);
        if matches!(node.kind, NodeKind::Body(_)) {
            for i in 0..6 {
                d[i * 6 + i] = 2.0 + numbers.next();
            }
        }
        b.iter_mut().for_each(|x| *x = 0.5 * numbers.next());
        // Rows of joints are far from dependent; purely random ones come close to it.
        let width = parent.map_or(0, |p| p.size);
        (0..node.size.min(width)).for_each(|i| b[i * width + i] += 2.0);
        for i in 0..node.size {
            for j in 0..node.size {
                dense[node.row + i][node.row + j] = d[i * node.size + j];
            }
            if let Some(p) = parent {
                for j in 0..p.size {
                    dense[node.row + i][p.row + j] = b[i * p.size + j];
                    dense[p.row + j][node.row + i] = b[i * p.size + j];
                }
            }
        }
    }
    dense
}

#[test]
fn random_forests_are_solved_as_a_dense_elimination_does() {
    let mut numbers = Numbers(7);
    for bodies in [1, 2, 5, 12, 25] {
        for _ in 0..4 {
            let edges = random_edges(bodies, &mut numbers);
            let mut forest = Forest::new(bodies, &edges);
            assert!(forest.auxiliary().is_empty());
            let dense = fill(&mut forest, &mut numbers);
            let b: Vec<f64> = (0..forest.rows()).map(|_| numbers.next()).collect();
            forest.factor().expect("random Jacobians have full rank");
            let mut x = b.clone();
            forest.solve(&mut x);
            let exact = solve_dense(dense, b);
            let size = exact.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
            for (x, y) in x.iter().zip(&exact) {
                assert!((x - y).abs() < 1e-10 * size, "{bodies} bodies: {x} {y}");
            }
        }
    }
}

#[test]
fn loops_and_second_holds_are_left_over_and_parents_come_first() {
    let edge = |a, b| Edge {
        ends: [a, b],
        rows: 3,
    };
    let edges = [
        edge(None, Some(0)),
        edge(Some(0), Some(1)),
        edge(Some(2), Some(1)),
        edge(Some(2), Some(0)),
        edge(Some(2), None),
        edge(Some(3), Some(4)),
    ];
    let forest = Forest::new(5, &edges);
    assert_eq!(forest.auxiliary(), [3, 4]);
    assert_eq!(forest.nodes().len(), 5 + 4);
    assert_eq!(forest.rows(), 5 * 6 + 4 * 3);
    for (index, node) in forest.nodes().iter().enumerate() {
        assert!(node.parent.is_none_or(|parent| parent < index));
    }
}

#[test]
fn rows_that_repeat_are_reported_with_their_constraint() {
    let edges = [Edge {
        ends: [Some(0), Some(1)],
        rows: 2,
    }];
    let mut forest = Forest::new(2, &edges);
    for index in 0..forest.nodes().len() {
        let node = forest.nodes()[index];
        let (d, b) = forest.blocks_mut(index);
        if matches!(node.kind, NodeKind::Body(_)) {
            (0..6).for_each(|i| d[i * 7] = 1.0);
        }
        b.fill(1.0);
    }
    assert_eq!(forest.factor(), Err(NodeKind::Constraint(0)));
}
