//! Random mechanisms: bodies with random inverse inertia, joints with random
//! Jacobians, and the matrix `S = J H⁻¹ Jᵀ` that couples the joints.

#![allow(dead_code)] // Each test file uses its own part of this module.

use std::sync::Arc;
use vincula_blocks::{BlockMatrix, Factorization, Pattern};

/// Degrees of freedom of a test body.
pub const FREEDOM: usize = 12;

/// Marsaglia's xorshift: enough randomness for tests, the same everywhere.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// Uniform in `[-1, 1)`.
    pub fn signed(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    pub fn below(&mut self, bound: usize) -> usize {
        ((self.next() >> 33) as usize) % bound
    }
}

/// A joint: two bodies (or one and the ground) and a Jacobian for each.
#[derive(Clone)]
pub struct Joint {
    pub size: usize,
    pub sides: Vec<(usize, Vec<f64>)>,
}

pub struct Mechanism {
    /// Inverse inertia of each body, `FREEDOM²` numbers.
    pub inverse_inertia: Vec<Vec<f64>>,
    pub joints: Vec<Joint>,
}

impl Mechanism {
    /// Joints of random size between the given bodies; masses between 1e-3 and 1e3.
    pub fn new(random: &mut Random, bodies: usize, pairs: &[(usize, Option<usize>)]) -> Self {
        let inverse_inertia = (0..bodies).map(|_| inverse_inertia(random)).collect();
        let joints = pairs.iter().map(|&(a, b)| joint(random, a, b)).collect();
        Self {
            inverse_inertia,
            joints,
        }
    }

    /// Appends a copy of a joint with its rows mixed: fully redundant.
    pub fn repeat_joint(&mut self, random: &mut Random, joint: usize) {
        let source = self.joints[joint].clone();
        let n = source.size;
        let mix: Vec<f64> = (0..n * n)
            .map(|k| random.signed() + if k % (n + 1) == 0 { 2.0 } else { 0.0 })
            .collect();
        let sides = source.sides.iter().map(|(body, jacobian)| {
            let mut mixed = vec![0.0; n * FREEDOM];
            for i in 0..n {
                for k in 0..n {
                    for c in 0..FREEDOM {
                        mixed[i * FREEDOM + c] += mix[i * n + k] * jacobian[k * FREEDOM + c];
                    }
                }
            }
            (*body, mixed)
        });
        let sides = sides.collect();
        self.joints.push(Joint { size: n, sides });
    }

    /// Renumbers the joints at random.
    pub fn shuffle(&mut self, random: &mut Random) {
        for k in (1..self.joints.len()).rev() {
            self.joints.swap(k, random.below(k + 1));
        }
    }

    pub fn pattern(&self) -> Arc<Pattern> {
        let sizes: Vec<usize> = self.joints.iter().map(|joint| joint.size).collect();
        let mut at_body = vec![Vec::new(); self.inverse_inertia.len()];
        for (k, joint) in self.joints.iter().enumerate() {
            for (body, _) in &joint.sides {
                at_body[*body].push(k);
            }
        }
        let mut edges = Vec::new();
        for joints in &at_body {
            for (place, &i) in joints.iter().enumerate() {
                edges.extend(joints[place + 1..].iter().map(|&j| (i, j)));
            }
        }
        Pattern::new(&sizes, &edges).unwrap()
    }

    /// `S = J H⁻¹ Jᵀ`.
    pub fn assemble(&self) -> BlockMatrix {
        let pattern = self.pattern();
        let mut matrix = BlockMatrix::zeros(&pattern);
        for i in 0..self.joints.len() {
            let block = self.block(i, i);
            matrix.diagonal_mut(i).copy_from_slice(&block);
        }
        for (edge, &(i, j)) in pattern.edges().iter().enumerate() {
            let block = self.block(i, j);
            matrix.edge_mut(edge).copy_from_slice(&block);
        }
        matrix
    }

    fn block(&self, i: usize, j: usize) -> Vec<f64> {
        let (a, b) = (&self.joints[i], &self.joints[j]);
        let mut block = vec![0.0; a.size * b.size];
        for (body, left) in &a.sides {
            for (_, right) in b.sides.iter().filter(|side| side.0 == *body) {
                let inverse = &self.inverse_inertia[*body];
                for r in 0..a.size {
                    for c in 0..b.size {
                        let mut sum = 0.0;
                        for k in 0..FREEDOM {
                            for l in 0..FREEDOM {
                                sum += left[r * FREEDOM + k]
                                    * inverse[k * FREEDOM + l]
                                    * right[c * FREEDOM + l];
                            }
                        }
                        block[r * b.size + c] += sum;
                    }
                }
            }
        }
        block
    }
}

fn inverse_inertia(random: &mut Random) -> Vec<f64> {
    let mass = 10f64.powf(3.0 * random.signed());
    let mut matrix = vec![0.0; FREEDOM * FREEDOM];
    for _ in 0..2 * FREEDOM {
        let v: Vec<f64> = (0..FREEDOM).map(|_| random.signed()).collect();
        for i in 0..FREEDOM {
            for j in 0..FREEDOM {
                matrix[i * FREEDOM + j] += v[i] * v[j] / mass;
            }
        }
    }
    matrix
}

fn joint(random: &mut Random, a: usize, b: Option<usize>) -> Joint {
    let size = 1 + random.below(6);
    let sides = std::iter::once(a).chain(b).map(|body| {
        let jacobian = (0..size * FREEDOM).map(|_| random.signed()).collect();
        (body, jacobian)
    });
    let sides = sides.collect();
    Joint { size, sides }
}

/// Bodies in a row, the first one held by the ground.
pub fn chain_pairs(bodies: usize) -> Vec<(usize, Option<usize>)> {
    let links = (1..bodies).map(|k| (k - 1, Some(k)));
    std::iter::once((0, None)).chain(links).collect()
}

/// Every body hangs on a random earlier one.
pub fn tree_pairs(random: &mut Random, bodies: usize) -> Vec<(usize, Option<usize>)> {
    let mut pairs = vec![(0, None)];
    // A body carries at most four joints, so that its freedom is not used up.
    let mut carried = vec![1; bodies];
    for body in 1..bodies {
        let mut parent = random.below(body);
        while carried[parent] >= 4 {
            parent = (parent + 1) % body;
        }
        carried[parent] += 1;
        carried[body] = 1;
        pairs.push((parent, Some(body)));
    }
    pairs
}

/// A right-hand side `S x` with random `x`, and that `x`.
pub fn consistent_rhs(random: &mut Random, matrix: &BlockMatrix) -> (Vec<f64>, Vec<f64>) {
    let x: Vec<f64> = (0..matrix.pattern().dimension())
        .map(|_| random.signed())
        .collect();
    let mut b = vec![0.0; x.len()];
    matrix.multiply(&x, &mut b).unwrap();
    (b, x)
}

pub fn largest(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |largest, x| f64::max(largest, x.abs()))
}

/// `max |b − S x| / max |b|`.
pub fn residual(matrix: &BlockMatrix, x: &[f64], b: &[f64]) -> f64 {
    let mut r = vec![0.0; b.len()];
    matrix.residual(x, b, &mut r).unwrap();
    largest(&r) / largest(b)
}

/// `max |x − y| / max |y|`.
pub fn difference(x: &[f64], y: &[f64]) -> f64 {
    let gap = x
        .iter()
        .zip(y)
        .fold(0.0, |gap: f64, (x, y)| gap.max((x - y).abs()));
    gap / largest(y)
}

/// Factors, solves, and returns the solution.
pub fn solution(solver: &mut dyn Factorization, matrix: &BlockMatrix, b: &[f64]) -> Vec<f64> {
    solver.factor(matrix).unwrap();
    let mut x = b.to_vec();
    solver.solve(&mut x).unwrap();
    assert!(x.iter().all(|x| x.is_finite()));
    let mut again = b.to_vec();
    solver.factor_solve(matrix, &mut again).unwrap();
    assert_eq!(x, again, "factor and solve at once give other bits");
    x
}

/// Solves for six columns, and for a few nodes, give what one solve after the other gives.
pub fn parts_agree(solver: &mut dyn Factorization) {
    let pattern = Arc::clone(solver.pattern());
    let rows = pattern.dimension();
    let random = &mut Random::new(rows as u64);
    let mut six: Vec<[f64; 6]> = (0..rows)
        .map(|_| std::array::from_fn(|_| random.signed()))
        .collect();
    let columns: [Vec<f64>; 6] = std::array::from_fn(|k| six.iter().map(|row| row[k]).collect());
    solver.solve_six(&mut six, &mut Vec::new()).unwrap();
    for (k, mut column) in columns.into_iter().enumerate() {
        solver.solve(&mut column).unwrap();
        assert!(six.iter().zip(&column).all(|(row, x)| row[k] == *x));
    }
    for _ in 0..3 {
        let chosen: Vec<usize> = (0..3).map(|_| random.below(pattern.nodes())).collect();
        let range = |node: usize| pattern.row(node)..pattern.row(node) + pattern.size(node);
        let mut part = vec![0.0; rows];
        for row in chosen.iter().flat_map(|&node| range(node)) {
            part[row] = random.signed();
        }
        let mut whole = part.clone();
        solver.solve(&mut whole).unwrap();
        solver.choose(&chosen);
        solver.solve_chosen(&mut part).unwrap();
        for row in chosen.iter().flat_map(|&node| range(node)) {
            assert_eq!(part[row], whole[row]);
        }
    }
}
