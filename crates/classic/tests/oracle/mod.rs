//! Models at random, and the dense solution that every sparse one is compared with.
#![allow(dead_code, reason = "each test uses some of it")]

use vincula::joint::JointKind;
use vincula::prelude::*;
use vincula_classic::system::System;
use vincula_classic::system::rows::{Linear, Six};

/// Numbers between −1 and 1, the same on every machine.
pub struct Numbers(pub u64);

impl Numbers {
    pub fn next(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    pub fn below(&mut self, n: usize) -> usize {
        (((self.next() + 1.0) * 0.5 * n as f64) as usize).min(n - 1)
    }

    pub fn vector(&mut self) -> DVec3 {
        DVec3::new(self.next(), self.next(), self.next())
    }
}

const KINDS: [JointKind; 8] = [
    JointKind::Ball,
    JointKind::Hinge,
    JointKind::Universal,
    JointKind::Prismatic,
    JointKind::Fixed,
    JointKind::Cylindrical,
    JointKind::Planar,
    JointKind::PointOnLine,
];

/// A tree of boxes with joints of all kinds, moving at random, and some closed loops.
pub fn random_tree(bodies: usize, loops: usize, grounded: bool, numbers: &mut Numbers) -> Model {
    let mut builder = ModelBuilder::new();
    let mut ids = Vec::new();
    let mut places = Vec::new();
    for index in 0..bodies {
        let half_extents = DVec3::splat(0.2) + 0.1 * numbers.vector();
        let near = match index {
            0 => DVec3::ZERO,
            _ => places[numbers.below(index)],
        };
        let place = near + 0.7 * numbers.vector();
        let turn = DQuat::from_scaled_axis(numbers.vector());
        ids.push(
            builder.body(
                BodyDef::new(format!("b{index}"), Shape::Box { half_extents }, 800.0)
                    .at(place)
                    .turned(turn)
                    .moving(numbers.vector(), 2.0 * numbers.vector()),
            ),
        );
        places.push(place);
    }
    let mut join = |numbers: &mut Numbers, name: String, a: usize, b: usize, kind| {
        let point = 0.5 * (places[a] + places[b]) + 0.1 * numbers.vector();
        let axis = numbers.vector();
        builder.joint(JointDef::new(name, kind, ids[a], ids[b], point, axis));
    };
    for index in 1..bodies {
        let other = numbers.below(index);
        let kind = KINDS[numbers.below(KINDS.len())];
        join(numbers, format!("j{index}"), other, index, kind);
    }
    for index in 0..loops {
        let a = numbers.below(bodies - 1);
        join(
            numbers,
            format!("loop{index}"),
            a,
            bodies - 1,
            JointKind::PointOnLine,
        );
    }
    if grounded {
        builder.joint(JointDef::universal(
            "ground",
            World,
            ids[bodies / 2],
            places[bodies / 2],
            [DVec3::X, DVec3::Y],
        ));
    }
    builder.build().expect("a random tree")
}

/// Accelerations under forces, by elimination with row exchanges in the whole matrix.
pub fn dense_accelerations(system: &System, forces: &[Six]) -> Vec<Six> {
    dense_motion(system, forces, |joint, _| system.biases(joint))
}

/// The change of velocity by the least impulse after which no joint opens.
pub fn dense_projection(system: &System) -> Vec<Six> {
    let none = vec![[0.0; 6]; system.bodies.len()];
    dense_motion(system, &none, |joint, linear| {
        let [a, b] = system.ends[joint].map(|body| system.velocity(body));
        std::array::from_fn(|row| linear.rate(row, &a, &b))
    })
}

/// `M w = f + Jᵀ λ`, `J w + c = 0`, for w.
fn dense_motion(
    system: &System,
    forces: &[Six],
    target: impl Fn(usize, &Linear) -> [f64; 6],
) -> Vec<Six> {
    let (n, m) = (6 * system.bodies.len(), system.rows());
    let mut a = vec![vec![0.0; n + m]; n + m];
    let mut b = vec![0.0; n + m];
    for (index, body) in system.bodies.iter().enumerate() {
        let inertia = body.inertia_world();
        for i in 0..3 {
            a[6 * index + i][6 * index + i] = body.mass;
            for j in 0..3 {
                a[6 * index + 3 + i][6 * index + 3 + j] = inertia.col(j)[i];
            }
        }
        b[6 * index..6 * index + 6].copy_from_slice(&forces[index]);
    }
    let (mut row, mut linear) = (n, Linear::EMPTY);
    for joint in 0..system.joints.len() {
        system.linearize(joint, &mut linear);
        let c = target(joint, &linear);
        for r in 0..linear.rows {
            for (body, side) in system.ends[joint].into_iter().zip(&linear.sides) {
                let Some(body) = body else { continue };
                for k in 0..6 {
                    a[row][6 * body + k] -= side[r][k];
                    a[6 * body + k][row] -= side[r][k];
                }
            }
            b[row] = c[r];
            row += 1;
        }
    }
    let x = solve_dense(a, b);
    (0..system.bodies.len())
        .map(|body| std::array::from_fn(|k| x[6 * body + k]))
        .collect()
}

/// Gaussian elimination with row exchanges.
pub fn solve_dense(mut a: Vec<Vec<f64>>, mut b: Vec<f64>) -> Vec<f64> {
    let n = b.len();
    for k in 0..n {
        let best = (k..n).max_by(|&i, &j| a[i][k].abs().total_cmp(&a[j][k].abs()));
        let best = best.expect("rows");
        a.swap(k, best);
        b.swap(k, best);
        let pivot = a[k].clone();
        for i in k + 1..n {
            let f = a[i][k] / pivot[k];
            if f != 0.0 {
                for j in k..n {
                    a[i][j] -= f * pivot[j];
                }
                b[i] -= f * b[k];
            }
        }
    }
    for k in (0..n).rev() {
        let known: f64 = (k + 1..n).map(|j| a[k][j] * b[j]).sum();
        b[k] = (b[k] - known) / a[k][k];
    }
    b
}
