//! The system matrix `A = J M⁻¹ Jᵀ` of a mechanism, its Tikhonov shift and its factors.
//!
//! Tomcin, Sibbing and Kobbelt, sections 4 to 6: a node for each joint, an edge where two
//! joints share a body, `α = ε_T ‖A‖₁` on the diagonal, approximate minimum degree.

use std::sync::Arc;

use glam::DMat3;
use vincula_blocks::{
    BlockMatrix, Cholesky, CholeskyOptions, Factorization, Fill, Pattern, Reach, Shift,
};

use crate::system::rows::{Linear, Six, dot6, pack, unpack};
use crate::system::{System, place_of};

/// Two joints, `first` < `second` in number, that share a body: which sides meet there.
#[derive(Clone, Copy, Debug)]
struct Coupling {
    edge: usize,
    joints: [usize; 2],
    sides: [usize; 2],
}

/// The matrix, assembled and factored at one pose.
pub struct SystemMatrix {
    pattern: Arc<Pattern>,
    couplings: Vec<Coupling>,
    matrix: BlockMatrix,
    /// The sparse factors.
    pub cholesky: Cholesky,
    /// Memory for forward substitutions of contacts.
    pub reach: Reach<3>,
    /// Joints at the pose of the factors.
    pub linear: Vec<Linear>,
    /// `M⁻¹ Jᵀ` of each joint, by side and row.
    response: Vec<[[Six; 6]; 2]>,
    /// The joints of each body, with the side it has in them.
    around: Vec<Vec<(usize, usize)>>,
    /// Inverse inertia of each body in the world, 1/(kg m²).
    pub inverse_inertia: Vec<DMat3>,
}

impl SystemMatrix {
    /// Orders and analyses; `epsilon` is ε_T. `None` when there are no joints, and the reason
    /// when the analysis fails.
    pub fn new(system: &System, epsilon: f64) -> Result<Option<SystemMatrix>, String> {
        if system.joints.is_empty() {
            return Ok(None);
        }
        let sizes: Vec<usize> = system.joints.iter().map(|joint| joint.rows()).collect();
        let around = joints_of_bodies(system);
        let meetings = meetings(&around);
        let pairs: Vec<(usize, usize)> = meetings
            .iter()
            .map(|(joints, _)| (joints[0], joints[1]))
            .collect();
        let pattern = Pattern::new(&sizes, &pairs).map_err(|error| error.to_string())?;
        let edge = |joints: &[usize; 2]| pattern.edge_index(joints[0], joints[1]);
        let couplings = meetings
            .iter()
            .filter_map(|(joints, sides)| {
                Some(Coupling {
                    edge: edge(joints)?,
                    joints: *joints,
                    sides: *sides,
                })
            })
            .collect();
        let options = CholeskyOptions {
            fill: Fill::MinimumDegree,
            shift: Shift::Norm(epsilon),
        };
        let mut cholesky =
            Cholesky::symbolic(&pattern, &options).map_err(|error| error.to_string())?;
        // The shift alone is to keep the pivots positive, as in the paper.
        cholesky.tolerance = 0.0;
        Ok(Some(SystemMatrix {
            matrix: BlockMatrix::zeros(&pattern),
            reach: Reach::new(&cholesky),
            cholesky,
            couplings,
            pattern,
            around,
            linear: vec![Linear::EMPTY; system.joints.len()],
            response: vec![[[[0.0; 6]; 6]; 2]; system.joints.len()],
            inverse_inertia: vec![DMat3::IDENTITY; system.bodies.len()],
        }))
    }

    /// The joints of a body, with the side it has in them.
    pub fn joints_of(&self, body: usize) -> &[(usize, usize)] {
        &self.around[body]
    }

    /// The pattern: a node for each joint.
    pub fn pattern(&self) -> &Arc<Pattern> {
        &self.pattern
    }

    /// The assembled matrix, without the shift.
    pub fn matrix(&self) -> &BlockMatrix {
        &self.matrix
    }

    /// Entries below the diagonal: of A, and what the factors add to them.
    pub fn fill_in(&self) -> [usize; 2] {
        let sizes = self.pattern.sizes();
        let own: usize = sizes.iter().map(|n| n * (n - 1) / 2).sum();
        let edges = self.pattern.edges().iter();
        let coupled: usize = edges.map(|&(i, j)| sizes[i] * sizes[j]).sum();
        let filled = self.cholesky.entries_below();
        [own + coupled, filled.saturating_sub(own + coupled)]
    }

    /// Linearises, assembles and factors at the present pose.
    pub fn factor(&mut self, system: &System) -> Result<(), String> {
        for (inverse, body) in self.inverse_inertia.iter_mut().zip(&system.bodies) {
            let r = place_of(body).r;
            *inverse = r * DMat3::from_diagonal(1.0 / body.inertia) * r.transpose();
        }
        for joint in 0..system.joints.len() {
            system.linearize(joint, &mut self.linear[joint]);
            self.respond(system, joint);
        }
        self.assemble(system);
        self.cholesky
            .factor(&self.matrix)
            .map(|_| ())
            .map_err(|error| error.to_string())
    }

    /// `M⁻¹` times a force on a body.
    #[inline]
    pub fn inverse_mass(&self, system: &System, body: usize, force: &Six) -> Six {
        let [f, torque] = unpack(force);
        let angular = self.inverse_inertia[body] * torque;
        pack(f / system.bodies[body].mass, angular)
    }

    fn respond(&mut self, system: &System, joint: usize) {
        let linear = &self.linear[joint];
        for (side, rows) in linear.sides.iter().enumerate() {
            if let Some(body) = system.ends[joint][side] {
                for row in 0..linear.rows {
                    self.response[joint][side][row] = self.inverse_mass(system, body, &rows[row]);
                }
            }
        }
    }

    fn assemble(&mut self, system: &System) {
        self.matrix.clear();
        for (joint, linear) in self.linear.iter().enumerate() {
            let n = linear.rows;
            let block = self.matrix.diagonal_mut(joint);
            for side in 0..2 {
                if system.ends[joint][side].is_some() {
                    let rows = rows_of(linear, side);
                    add_block(rows, &self.response[joint][side], n, n, block);
                }
            }
        }
        for it in &self.couplings {
            let [i, j] = it.joints;
            let rows = rows_of(&self.linear[i], it.sides[0]);
            let (n, m) = (self.linear[i].rows, self.linear[j].rows);
            let response = &self.response[j][it.sides[1]];
            add_block(rows, response, n, m, self.matrix.edge_mut(it.edge));
        }
    }

    /// Adds `M⁻¹ Jᵀ p` to velocities (v, ω).
    pub fn apply(&self, system: &System, p: &[f64], velocities: &mut [Six]) {
        for (joint, linear) in self.linear.iter().enumerate() {
            let first = self.pattern.row(joint);
            for side in 0..2 {
                let Some(body) = system.ends[joint][side] else {
                    continue;
                };
                let velocity = &mut velocities[body];
                for row in 0..linear.rows {
                    let response = &self.response[joint][side][row];
                    for k in 0..6 {
                        velocity[k] += p[first + row] * response[k];
                    }
                }
            }
        }
    }

    /// `J u`.
    pub fn rates(&self, system: &System, velocities: &[Six], out: &mut [f64]) {
        for (joint, linear) in self.linear.iter().enumerate() {
            let first = self.pattern.row(joint);
            for row in 0..linear.rows {
                let side = |side: usize| {
                    let body = system.ends[joint][side];
                    body.map_or(0.0, |b| dot6(&rows_of(linear, side)[row], &velocities[b]))
                };
                out[first + row] = side(0) + side(1);
            }
        }
    }
}

/// The rows of one side.
pub fn rows_of(linear: &Linear, side: usize) -> &[Six; 6] {
    &linear.sides[side]
}

#[inline]
fn add_block(rows: &[Six; 6], response: &[Six; 6], n: usize, m: usize, block: &mut [f64]) {
    for i in 0..n {
        for j in 0..m {
            block[i * m + j] += dot6(&rows[i], &response[j]);
        }
    }
}

/// The joints of each body, with the side it has in them.
fn joints_of_bodies(system: &System) -> Vec<Vec<(usize, usize)>> {
    let mut around = vec![Vec::new(); system.bodies.len()];
    for (joint, ends) in system.ends.iter().enumerate() {
        for (side, body) in ends.iter().enumerate() {
            if let Some(body) = body {
                around[*body].push((joint, side));
            }
        }
    }
    around
}

/// Pairs of joints that share a body, lower number first, with the sides that meet.
fn meetings(around: &[Vec<(usize, usize)>]) -> Vec<([usize; 2], [usize; 2])> {
    let mut found = Vec::new();
    for list in around {
        for (k, &(second, side)) in list.iter().enumerate() {
            for &(first, other) in &list[..k] {
                found.push(([first, second], [other, side]));
            }
        }
    }
    found
}
