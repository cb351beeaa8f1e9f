//! The joints of a rigid system in the dual space, factored once and used many times:
//!
//! ```text
//! W = J M⁻¹ Jᵀ,    W λ = b
//! ```
//!
//! One node of the block matrix is a joint, one edge a body that two joints share, so chains
//! and trees factor in linear time. Rows that repeat others get the multiplier zero.

use std::sync::Arc;

use glam::DMat3;
use vincula::joint::MAX_ROWS;
use vincula_blocks::{BlockMatrix, Factorization, Pattern, direct_solver};

use crate::system::rows::{Linear, Six, dot6};
use crate::system::{MethodError, Refusal, System, apply_inverse_mass};

/// `M⁻¹ Jᵀ` of one joint: its rows for both bodies.
type Weighted = [[Six; MAX_ROWS]; 2];

/// A body that two joints share.
struct Link {
    edge: usize,
    /// Joint and side, of the smaller node and of the larger.
    first: (usize, usize),
    second: (usize, usize),
}

/// The joints of a system, linearised and factored.
pub struct Articulation {
    method: &'static str,
    /// The joints that have rows.
    joints: Vec<usize>,
    ends: Vec<[Option<usize>; 2]>,
    linear: Vec<Linear>,
    weighted: Vec<Weighted>,
    links: Vec<Link>,
    matrix: BlockMatrix,
    solver: Option<Box<dyn Factorization + Send>>,
}

impl Articulation {
    /// Looks at the graph of the joints; `method` signs the errors.
    pub fn new(method: &'static str, system: &System) -> Result<Articulation, Refusal> {
        let joints: Vec<usize> = (0..system.joints.len())
            .filter(|&joint| system.joints[joint].rows() > 0)
            .collect();
        let ends: Vec<_> = joints.iter().map(|&joint| system.ends[joint]).collect();
        let sizes: Vec<usize> = joints.iter().map(|&j| system.joints[j].rows()).collect();
        let shared = shared_bodies(&ends, system.bodies.len());
        let edges: Vec<_> = shared.iter().map(|(a, b)| (a.0, b.0)).collect();
        let refuse = |reason: String| Refusal {
            method,
            reason: MethodError::Solver { method, reason }.to_string(),
            instead: "--method affine",
        };
        let pattern = Pattern::new(&sizes, &edges).map_err(|e| refuse(e.to_string()))?;
        let solver = match joints.len() {
            0 => None,
            _ => Some(direct_solver(&pattern).map_err(|e| refuse(e.to_string()))?),
        };
        Ok(Articulation {
            method,
            linear: vec![Linear::EMPTY; joints.len()],
            weighted: vec![[[[0.0; 6]; MAX_ROWS]; 2]; joints.len()],
            links: links(&pattern, shared),
            matrix: BlockMatrix::zeros(&pattern),
            joints,
            ends,
            solver,
        })
    }

    /// Rows of all joints.
    pub fn rows(&self) -> usize {
        self.pattern().dimension()
    }

    fn pattern(&self) -> &Arc<Pattern> {
        self.matrix.pattern()
    }

    /// Linearises at the present pose.
    pub fn linearize(&mut self, system: &System) {
        for (joint, linear) in self.joints.iter().zip(&mut self.linear) {
            system.linearize(*joint, linear);
        }
    }

    /// Assembles W with the mass at the present pose, and factors it.
    pub fn factor(&mut self, system: &System) -> Result<(), MethodError> {
        self.factor_with(|body, force| {
            let body = &system.bodies[body];
            apply_inverse_mass(body, &DMat3::from_quat(body.q), force)
        })
    }

    /// Assembles `J H⁻¹ Jᵀ` for another symmetric matrix of each body, given by its inverse,
    /// and factors it.
    pub fn factor_with(&mut self, inverse: impl Fn(usize, &Six) -> Six) -> Result<(), MethodError> {
        for node in 0..self.joints.len() {
            for side in 0..2 {
                if let Some(body) = self.ends[node][side] {
                    for row in 0..self.linear[node].rows {
                        let gradient = *self.gradient(node, side, row);
                        self.weighted[node][side][row] = inverse(body, &gradient);
                    }
                }
            }
        }
        self.assemble();
        let Some(solver) = &mut self.solver else {
            return Ok(());
        };
        let told = solver.factor(&self.matrix);
        told.map(|_| ()).map_err(|error| MethodError::Solver {
            method: self.method,
            reason: error.to_string(),
        })
    }

    fn gradient(&self, node: usize, side: usize, row: usize) -> &Six {
        let linear = &self.linear[node];
        &linear.sides[side][row]
    }

    fn assemble(&mut self) {
        self.matrix.clear();
        for node in 0..self.joints.len() {
            let n = self.linear[node].rows;
            for side in (0..2).filter(|&side| self.ends[node][side].is_some()) {
                for k in 0..n * n {
                    let entry = dot6(
                        &self.weighted[node][side][k / n],
                        self.gradient(node, side, k % n),
                    );
                    self.matrix.diagonal_mut(node)[k] += entry;
                }
            }
        }
        for index in 0..self.links.len() {
            let Link {
                edge,
                first: (a, side_a),
                second: (b, side_b),
            } = self.links[index];
            let (rows, columns) = (self.linear[a].rows, self.linear[b].rows);
            for k in 0..rows * columns {
                let entry = dot6(
                    &self.weighted[a][side_a][k / columns],
                    self.gradient(b, side_b, k % columns),
                );
                self.matrix.edge_mut(edge)[k] += entry;
            }
        }
    }

    /// The violations C, m.
    pub fn violations(&self, out: &mut [f64]) {
        for (node, linear) in self.linear.iter().enumerate() {
            let start = self.pattern().row(node);
            out[start..start + linear.rows].copy_from_slice(&linear.value[..linear.rows]);
        }
    }

    /// `out += J v`.
    pub fn add_rates(&self, velocity: &[Six], out: &mut [f64]) {
        for (node, linear) in self.linear.iter().enumerate() {
            let start = self.pattern().row(node);
            for side in 0..2 {
                if let Some(body) = self.ends[node][side] {
                    for row in 0..linear.rows {
                        out[start + row] += dot6(self.gradient(node, side, row), &velocity[body]);
                    }
                }
            }
        }
    }

    /// `velocity += k M⁻¹ Jᵀ λ`.
    pub fn push(&self, lambda: &[f64], k: f64, velocity: &mut [Six]) {
        for (node, linear) in self.linear.iter().enumerate() {
            let start = self.pattern().row(node);
            for side in 0..2 {
                if let Some(body) = self.ends[node][side] {
                    for row in 0..linear.rows {
                        let weight = k * lambda[start + row];
                        add_scaled(&mut velocity[body], weight, &self.weighted[node][side][row]);
                    }
                }
            }
        }
    }

    /// `force += Jᵀ λ`.
    pub fn add_forces(&self, lambda: &[f64], force: &mut [Six]) {
        for (node, linear) in self.linear.iter().enumerate() {
            let start = self.pattern().row(node);
            for side in 0..2 {
                if let Some(body) = self.ends[node][side] {
                    for row in 0..linear.rows {
                        let gradient = self.gradient(node, side, row);
                        add_scaled(&mut force[body], lambda[start + row], gradient);
                    }
                }
            }
        }
    }

    /// Overwrites b by `W⁻¹ b`.
    pub fn solve(&mut self, b: &mut [f64]) -> Result<(), MethodError> {
        let Some(solver) = &mut self.solver else {
            return Ok(());
        };
        solver.solve(b).map_err(|error| MethodError::Solver {
            method: self.method,
            reason: error.to_string(),
        })
    }

    /// Overwrites a velocity by the nearest one (in the metric of the mass) whose rates are
    /// `−offset`; the joints' impulses are left in `lambda`.
    pub fn project(
        &mut self,
        velocity: &mut [Six],
        offset: &[f64],
        lambda: &mut [f64],
    ) -> Result<(), MethodError> {
        lambda.copy_from_slice(offset);
        self.add_rates(velocity, lambda);
        self.solve(lambda)?;
        lambda.iter_mut().for_each(|x| *x = -*x);
        self.push(lambda, 1.0, velocity);
        Ok(())
    }
}

/// `to += k from`.
#[inline]
pub(crate) fn add_scaled(to: &mut Six, k: f64, from: &Six) {
    for i in 0..6 {
        to[i] += k * from[i];
    }
}

/// Joint and side.
type Seat = (usize, usize);

/// Pairs of joints with a common body, the smaller node first.
fn shared_bodies(ends: &[[Option<usize>; 2]], bodies: usize) -> Vec<(Seat, Seat)> {
    let mut seats = vec![Vec::new(); bodies];
    for (node, sides) in ends.iter().enumerate() {
        for (side, body) in sides.iter().enumerate() {
            if let Some(body) = body {
                seats[*body].push((node, side));
            }
        }
    }
    let mut shared = Vec::new();
    for around in &seats {
        for (k, &first) in around.iter().enumerate() {
            shared.extend(around[k + 1..].iter().map(|&second| (first, second)));
        }
    }
    shared
}

fn links(pattern: &Pattern, shared: Vec<(Seat, Seat)>) -> Vec<Link> {
    let link = |(first, second): (Seat, Seat)| {
        let edge = pattern.edge_index(first.0, second.0)?;
        Some(Link {
            edge,
            first,
            second,
        })
    };
    shared.into_iter().filter_map(link).collect()
}
