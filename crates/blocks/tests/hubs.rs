//! Systems with kept bodies give the multipliers that the dense dual system gives.

mod common;

use common::{FREEDOM, Mechanism, Random, parts_agree};
use std::sync::Arc;
use vincula_blocks::{
    BlockMatrix, CholeskyOptions, Condensed, Dense, Factorization, Loops, Pattern, Role, Tree,
};

/// The joints of a mechanism with some bodies kept as two negative nodes of six rows each.
struct Kept {
    matrix: BlockMatrix,
    joint_rows: usize,
}

impl Kept {
    fn new(mechanism: &Mechanism, hubs: &[usize]) -> Self {
        let joints = &mechanism.joints;
        let mut sizes: Vec<usize> = joints.iter().map(|j| j.size).collect();
        let mut roles: Vec<Role> = joints
            .iter()
            .map(
                |j| match j.sides.iter().all(|(body, _)| hubs.contains(body)) {
                    true => Role::Waiting,
                    false => Role::Positive,
                },
            )
            .collect();
        let joint_rows = sizes.iter().sum();
        sizes.extend(vec![6; 2 * hubs.len()]);
        roles.extend(vec![Role::Negative; 2 * hubs.len()]);
        let node = |hub: usize, half: usize| joints.len() + 2 * hub + half;
        let mut edges = Vec::new();
        for body in 0..mechanism.inverse_inertia.len() {
            let at: Vec<usize> = (0..joints.len())
                .filter(|&j| joints[j].sides.iter().any(|(b, _)| *b == body))
                .collect();
            match hubs.iter().position(|&hub| hub == body) {
                Some(hub) => {
                    edges.push((node(hub, 0), node(hub, 1)));
                    edges.extend(
                        at.iter()
                            .flat_map(|&j| [(j, node(hub, 0)), (j, node(hub, 1))]),
                    );
                }
                None => {
                    for (k, &i) in at.iter().enumerate() {
                        edges.extend(at[k + 1..].iter().map(|&j| (i, j)));
                    }
                }
            }
        }
        let pattern = Pattern::with_roles(&sizes, &edges, roles).unwrap();
        let mut kept = Self {
            matrix: BlockMatrix::zeros(&pattern),
            joint_rows,
        };
        kept.fill(mechanism, hubs, &pattern);
        kept
    }

    fn fill(&mut self, mechanism: &Mechanism, hubs: &[usize], pattern: &Arc<Pattern>) {
        let joints = &mechanism.joints;
        let of = |j: usize, body: usize| {
            let side = joints[j].sides.iter().find(|(b, _)| *b == body);
            side.map(|(_, jacobian)| jacobian.as_slice())
        };
        for (body, inverse) in mechanism.inverse_inertia.iter().enumerate() {
            let hub = hubs.iter().position(|&h| h == body);
            let Some(hub) = hub else {
                for i in 0..joints.len() {
                    for j in i..joints.len() {
                        let (Some(a), Some(b)) = (of(i, body), of(j, body)) else {
                            continue;
                        };
                        let block = match i == j {
                            true => self.matrix.diagonal_mut(i),
                            false => {
                                let edge = pattern.edge_index(i, j).unwrap();
                                self.matrix.edge_mut(edge)
                            }
                        };
                        add_product(block, a, inverse, b);
                    }
                }
                continue;
            };
            let first = joints.len() + 2 * hub;
            let inertia = invert(inverse);
            for r in 0..FREEDOM {
                for c in 0..FREEDOM {
                    let value = -inertia[r * FREEDOM + c];
                    match (r / 6, c / 6) {
                        (0, 0) => self.matrix.diagonal_mut(first)[r * 6 + c] = value,
                        (1, 1) => {
                            self.matrix.diagonal_mut(first + 1)[(r - 6) * 6 + c - 6] = value;
                        }
                        (0, 1) => {
                            let edge = pattern.edge_index(first, first + 1).unwrap();
                            self.matrix.edge_mut(edge)[r * 6 + c - 6] = value;
                        }
                        _ => {}
                    }
                }
            }
            for j in 0..joints.len() {
                let Some(jacobian) = of(j, body) else {
                    continue;
                };
                for half in 0..2 {
                    let edge = pattern.edge_index(j, first + half).unwrap();
                    let block = self.matrix.edge_mut(edge);
                    for r in 0..joints[j].size {
                        for c in 0..6 {
                            block[r * 6 + c] = jacobian[r * FREEDOM + 6 * half + c];
                        }
                    }
                }
            }
        }
    }
}

fn add_product(block: &mut [f64], a: &[f64], inverse: &[f64], b: &[f64]) {
    let columns = b.len() / FREEDOM;
    for r in 0..a.len() / FREEDOM {
        for c in 0..columns {
            for k in 0..FREEDOM {
                for l in 0..FREEDOM {
                    block[r * columns + c] +=
                        a[r * FREEDOM + k] * inverse[k * FREEDOM + l] * b[c * FREEDOM + l];
                }
            }
        }
    }
}

/// Gauss–Jordan; the matrix is positive definite.
fn invert(a: &[f64]) -> Vec<f64> {
    let n = FREEDOM;
    let mut left = a.to_vec();
    let mut right = vec![0.0; n * n];
    (0..n).for_each(|k| right[k * n + k] = 1.0);
    for k in 0..n {
        let pivot = 1.0 / left[k * n + k];
        for c in 0..n {
            left[k * n + c] *= pivot;
            right[k * n + c] *= pivot;
        }
        for r in (0..n).filter(|&r| r != k) {
            let factor = left[r * n + k];
            for c in 0..n {
                left[r * n + c] -= factor * left[k * n + c];
                right[r * n + c] -= factor * right[k * n + c];
            }
        }
    }
    right
}

/// Solves with hubs and without; the multipliers must be the same.
fn agrees(solver: &mut dyn Factorization, kept: &Kept, dual: &BlockMatrix, random: &mut Random) {
    let mut oracle = Dense::symbolic(dual.pattern());
    oracle.factor(dual).unwrap();
    let report = solver.factor(&kept.matrix).unwrap();
    assert_eq!(report.dropped, 0);
    let b: Vec<f64> = (0..kept.joint_rows).map(|_| random.signed()).collect();
    let mut expected = b.clone();
    oracle.solve(&mut expected).unwrap();
    let mut found = b;
    found.resize(kept.matrix.pattern().dimension(), 0.0);
    solver.solve(&mut found).unwrap();
    let size = expected.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
    for (x, y) in expected.iter().zip(&found) {
        assert!((x - y).abs() <= 1e-9 * size, "{x} and {y}");
    }
    parts_agree(solver);
}

#[test]
fn a_tree_of_hubs_is_eliminated_without_closures() {
    for seed in 0..5 {
        let mut random = Random::new(seed);
        // Every body but the leaves has four children and is kept.
        let mut pairs = vec![(0, None)];
        pairs.extend((1..21).map(|k| (k, Some((k - 1) / 4))));
        let mechanism = Mechanism::new(&mut random, 21, &pairs);
        let kept = Kept::new(&mechanism, &[0, 1, 2, 3, 4]);
        let mut tree = Tree::symbolic(kept.matrix.pattern()).unwrap();
        agrees(&mut tree, &kept, &mechanism.assemble(), &mut random);
    }
}

#[test]
fn a_hub_with_hundreds_of_legs_stores_a_constant_amount_a_leg() {
    let mut random = Random::new(7);
    let stored = |legs: usize| {
        let sizes = [vec![5; 2 * legs], vec![6, 6]].concat();
        let hub = 2 * legs;
        let mut edges = vec![(hub, hub + 1)];
        for leg in 0..legs {
            edges.extend([(leg, hub), (leg, hub + 1), (leg, legs + leg)]);
        }
        let mut roles = vec![Role::Positive; 2 * legs];
        roles.extend([Role::Negative; 2]);
        let pattern = Pattern::with_roles(&sizes, &edges, roles).unwrap();
        Tree::symbolic(&pattern).unwrap().stored()
    };
    assert_eq!(stored(400) - stored(200), 200 * (stored(2) - stored(1)));
    let pairs: Vec<_> = std::iter::once((0, None))
        .chain((1..81_usize).map(|k| (k, Some(k.saturating_sub(40)))))
        .collect();
    let mechanism = Mechanism::new(&mut random, 81, &pairs);
    let kept = Kept::new(&mechanism, &[0]);
    let mut tree = Tree::symbolic(kept.matrix.pattern()).unwrap();
    agrees(&mut tree, &kept, &mechanism.assemble(), &mut random);
}

#[test]
fn loops_through_hubs_are_closed_by_joints() {
    for seed in 20..24 {
        let mut random = Random::new(seed);
        // Two hubs, joined by three paths of two joints, each with two legs.
        let mut pairs = vec![(0, None)];
        pairs.extend([2, 3, 4].iter().flat_map(|&k| [(0, Some(k)), (1, Some(k))]));
        pairs.extend([(5, Some(0)), (6, Some(0)), (7, Some(1)), (8, Some(1))]);
        let mechanism = Mechanism::new(&mut random, 9, &pairs);
        let kept = Kept::new(&mechanism, &[0, 1]);
        let mut loops = Loops::symbolic(kept.matrix.pattern(), 6).unwrap();
        agrees(&mut loops, &kept, &mechanism.assemble(), &mut random);
    }
}

#[test]
fn nets_condense_to_their_nodes() {
    for seed in 30..33 {
        let mut random = Random::new(seed);
        let (rows, columns) = (4, 5);
        let node = |r: usize, c: usize| r * columns + c;
        let mut pairs = vec![(0, None), (columns - 1, None)];
        let mut bodies = rows * columns;
        for r in 0..rows {
            for c in 0..columns {
                let right = (c + 1 < columns).then(|| node(r, c + 1));
                let below = (r + 1 < rows).then(|| node(r + 1, c));
                for other in [right, below].into_iter().flatten() {
                    pairs.extend([(node(r, c), Some(bodies)), (other, Some(bodies))]);
                    bodies += 1;
                }
            }
        }
        let mut mechanism = Mechanism::new(&mut random, bodies, &pairs);
        // Rods are held at both ends: at most six rows an end are independent of twelve.
        mechanism
            .joints
            .iter_mut()
            .for_each(|joint| shrink(joint, 3));
        let hubs: Vec<usize> = (0..rows * columns).collect();
        let kept = Kept::new(&mechanism, &hubs);
        let options = CholeskyOptions::default();
        let mut net = Condensed::symbolic(kept.matrix.pattern(), &options).unwrap();
        assert!(net.remaining_rows() <= 12 * hubs.len() + 6);
        assert!(net.is_divided());
        agrees(&mut net, &kept, &mechanism.assemble(), &mut random);
    }
}

fn shrink(joint: &mut common::Joint, size: usize) {
    if joint.size > size {
        joint.size = size;
        for (_, jacobian) in &mut joint.sides {
            jacobian.truncate(size * FREEDOM);
        }
    }
}
