//! Hubs: bodies whose displacement is an unknown of the dual system.
//!
//! A body with k joints couples each with every other, k(k+1)/2 blocks. Kept as an unknown
//! u it is coupled with each of them once (`vincula_blocks::role`):
//!
//! ```text
//! S λ + J u = C      Jᵀ λ − H u = 0
//! ```
//!
//! Where all joints hold the body at one or two points, the displacements of these points
//! are enough, with the stiffness `W⁻¹` that the points feel; three or six unknowns. Any
//! other hub takes all twelve coordinates, as two nodes of six, in the body frame:
//! `P_xx P_yy P_zz t` and the three pairs of shears, between which H̄ has no entries.
//!
//! u is scaled to be a force, `u = τ y` with `τ² = τ₀/H_kk` and `τ₀ = 1/(c m)`: then every
//! entry of the system is a compliance, m/N.

use super::Dual;
use super::linearize::{SideRows, dot9};
use super::ports::NO_PORT;
use crate::body::affine::Inverse;
use crate::integrate::newton::NewtonBlock;
use crate::math::lanes::{gather, place};
use crate::math::small::*;

/// The coordinates of a hub that are unknowns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Basis {
    /// Displacements of its first one or two ports.
    Points(usize),
    /// All twelve coordinates.
    Whole,
}

impl Basis {
    /// Rows of each of its nodes.
    pub fn sizes(self) -> &'static [usize] {
        match self {
            Basis::Points(1) => &[3],
            Basis::Points(_) => &[6],
            Basis::Whole => &[6, 6],
        }
    }

    /// Joints from which on a hub is cheaper than coupling them with each other, by the
    /// products that the elimination of a tree needs.
    pub fn least_joints(self) -> usize {
        match self {
            Basis::Points(1) => 3,
            Basis::Points(_) => 5,
            Basis::Whole => 9,
        }
    }
}

/// A body that is kept, and the place of its nodes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hub {
    pub island: u32,
    /// Its first node.
    pub node: u32,
    pub basis: Basis,
}

/// The coordinates of the two nodes of a whole body, as entries of P and t.
const ENTRIES: [[usize; 6]; 2] = [[0, 4, 8, 9, 10, 11], [1, 3, 2, 6, 5, 7]];

impl Dual {
    /// The coordinates that a body would keep as a hub, if it has joints enough.
    pub(super) fn hub_basis(&self, body: usize) -> Option<Basis> {
        let at_body = &self.incidences[self.starts[body]..self.starts[body + 1]];
        let points = at_body
            .iter()
            .map(|&at| {
                let side = self.side(at).0;
                let simple = side.count == 0 && at.port != NO_PORT;
                simple.then_some(at.port as usize + 1)
            })
            .try_fold(0, |most, ports| ports.map(|n: usize| n.max(most)));
        let basis = points.map_or(Basis::Whole, Basis::Points);
        (at_body.len() >= basis.least_joints()).then_some(basis)
    }

    /// Writes the blocks of a hub.
    pub(super) fn add_hub(&mut self, body: usize, hub: Hub, work: &[NewtonBlock]) {
        let (block, lane) = place(body);
        let inverse = work[block].inverse_of(lane);
        match hub.basis {
            Basis::Points(count) => self.add_points(body, hub, count, inverse.translation),
            Basis::Whole => {
                let rot: M3 = gather(&work[block].rot, lane);
                self.add_whole(body, hub, &rot, &inverse);
            }
        }
    }

    fn add_points(&mut self, body: usize, hub: Hub, count: usize, tau: f64) {
        let (block, lane) = place(body);
        let ports = &self.ports[block];
        let matrix = &mut self.islands[hub.island as usize].matrix;
        let target = matrix.diagonal_mut(hub.node as usize);
        let own: [M3; 2] = std::array::from_fn(|k| full(&gather(&ports.compliances.own[k], lane)));
        if count == 1 {
            write_stiffness::<3>(own[0], tau, target);
        } else {
            let mutual: M3 = gather(&ports.compliances.mutual, lane);
            let mut w = [0.0; 36];
            for r in 0..3 {
                for c in 0..3 {
                    w[6 * r + c] = own[0][3 * r + c];
                    w[6 * (r + 3) + c + 3] = own[1][3 * r + c];
                    w[6 * r + c + 3] = mutual[3 * r + c];
                    w[6 * (r + 3) + c] = mutual[3 * c + r];
                }
            }
            write_stiffness::<6>(w, tau, target);
        }
        let width = 3 * count;
        let first = self.edge_starts[body];
        for (k, i) in (self.starts[body]..self.starts[body + 1]).enumerate() {
            let at = self.incidences[i];
            let sign = if at.first { tau } else { -tau };
            let block = self.islands[hub.island as usize]
                .matrix
                .edge_mut(self.edges[first + k] as usize);
            for r in 0..3 {
                block[r * width + 3 * at.port as usize + r] = sign;
            }
        }
    }

    fn add_whole(&mut self, body: usize, hub: Hub, rot: &M3, inverse: &Inverse) {
        let stiffness = stiffness_blocks(inverse);
        let scale = stiffness
            .map(|block| std::array::from_fn(|k| (inverse.translation / block[7 * k]).sqrt()));
        for half in 0..2 {
            let matrix = &mut self.islands[hub.island as usize].matrix;
            let target = matrix.diagonal_mut(hub.node as usize + half);
            for r in 0..6 {
                for c in 0..6 {
                    let value = scale[half][r] * stiffness[half][6 * r + c] * scale[half][c];
                    target[6 * r + c] = -value;
                }
            }
        }
        for (k, i) in (self.starts[body]..self.starts[body + 1]).enumerate() {
            let edge = self.edge_starts[body] + 2 * k;
            let edges = [self.edges[edge], self.edges[edge + 1]];
            self.add_ends(i, hub.island as usize, edges, rot, &scale);
        }
    }

    /// Writes τ J of one joint at a whole body.
    fn add_ends(
        &mut self,
        incidence: usize,
        island: usize,
        edges: [u32; 2],
        rot: &M3,
        scale: &[[f64; 6]; 2],
    ) {
        let (side, points) = self.side(self.incidences[incidence]);
        let (side, first) = (*side, if points { 3 } else { 0 });
        for (half, &edge) in edges.iter().enumerate() {
            let block = self.islands[island].matrix.edge_mut(edge as usize);
            let mut write = |row: usize, gradient: &[f64; 12]| {
                for c in 0..6 {
                    block[6 * row + c] = scale[half][c] * gradient[ENTRIES[half][c]];
                }
            };
            for r in 0..first {
                write(r, &point_gradient(&side, rot, r));
            }
            for (k, row) in side.rows(&self.general).iter().enumerate() {
                let mut gradient = [0.0; 12];
                gradient[..9].copy_from_slice(&row.a);
                gradient[9..].copy_from_slice(&row.t);
                write(first + k, &gradient);
            }
        }
    }

    /// Compliance that the hubs of a joint give to one of its general rows, m/N.
    pub(super) fn hub_compliance(&self, joint: usize, row: usize, work: &[NewtonBlock]) -> f64 {
        let rows = &self.joints[joint];
        let k = row - if rows.points { 3 } else { 0 };
        let mut sum = 0.0;
        for side in [&rows.a, &rows.b] {
            let Some(body) = side.body() else { continue };
            if self.hubs[body].is_some() {
                let (block, lane) = place(body);
                let row = &side.rows(&self.general)[k];
                let translation = work[block].inverse[15][lane];
                sum += dot9(&row.a, &row.response) + translation * dot(&row.t, &row.t);
            }
        }
        sum
    }
}

/// The gradient of a coordinate of the point: nine entries for P and three for t.
fn point_gradient(side: &SideRows, rot: &M3, axis: usize) -> [f64; 12] {
    let mut gradient = [0.0; 12];
    for i in 0..3 {
        for j in 0..3 {
            gradient[3 * i + j] = side.sign * rot[3 * axis + i] * side.point[j];
        }
    }
    gradient[9 + axis] = side.sign;
    gradient
}

/// H̄ of the two nodes, row-major.
fn stiffness_blocks(inverse: &Inverse) -> [[f64; 36]; 2] {
    let mut blocks = [[0.0; 36]; 2];
    let diagonal = invert3(full(&inverse.diagonal));
    for r in 0..3 {
        for c in 0..3 {
            blocks[0][6 * r + c] = diagonal[3 * r + c];
        }
        blocks[0][7 * (r + 3)] = 1.0 / inverse.translation;
        let (p, q) = (&inverse.direct[2 * r..2 * r + 2], inverse.cross[r]);
        let d = 1.0 / (p[0] * p[1] - q * q);
        let at = 7 * (2 * r);
        blocks[1][at] = p[1] * d;
        blocks[1][at + 1] = -q * d;
        blocks[1][at + 6] = -q * d;
        blocks[1][at + 7] = p[0] * d;
    }
    blocks
}

/// Writes −τ² W⁻¹.
pub(super) fn write_stiffness<const N: usize>(w: impl AsRef<[f64]>, tau: f64, target: &mut [f64]) {
    let w = w.as_ref();
    let mut l = [[0.0; N]; N];
    for r in 0..N {
        l[r].copy_from_slice(&w[N * r..N * (r + 1)]);
    }
    let inverse = invert_rows(l);
    for r in 0..N {
        for c in 0..N {
            target[N * r + c] = -tau * tau * inverse[r][c];
        }
    }
}

fn invert3(a: M3) -> M3 {
    let rows = invert_rows::<3>(std::array::from_fn(|r| {
        [a[3 * r], a[3 * r + 1], a[3 * r + 2]]
    }));
    std::array::from_fn(|k| rows[k / 3][k % 3])
}

/// Inverse of a positive definite matrix, in place by Gauss and Jordan.
fn invert_rows<const N: usize>(mut a: [[f64; N]; N]) -> [[f64; N]; N] {
    for k in 0..N {
        let pivot = 1.0 / a[k][k];
        a[k][k] = 1.0;
        for c in 0..N {
            a[k][c] *= pivot;
        }
        for r in 0..N {
            if r == k {
                continue;
            }
            let factor = a[r][k];
            a[r][k] = 0.0;
            for c in 0..N {
                a[r][c] -= factor * a[k][c];
            }
        }
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::body::affine::Affine;

    #[test]
    fn the_blocks_of_a_whole_body_invert_its_response() {
        let body = Affine::new(2.0, [0.3, 0.05, 0.01], 40.0, 25.0);
        let inverse = Inverse::new(&body, 1e4, &[3.0, 0.0, 700.0]);
        let blocks = stiffness_blocks(&inverse);
        let load: [f64; 9] = std::array::from_fn(|k| (1.3 * k as f64).sin());
        let moved = inverse.solve(&load);
        for half in 0..2 {
            for r in 0..6 {
                let entry = ENTRIES[half][r];
                if entry >= 9 {
                    continue;
                }
                let product: f64 = (0..6)
                    .filter(|&c| ENTRIES[half][c] < 9)
                    .map(|c| blocks[half][6 * r + c] * moved[ENTRIES[half][c]])
                    .sum();
                assert!((product - load[entry]).abs() < 1e-10, "entry {entry}");
            }
        }
    }

    #[test]
    fn inverses_of_six_rows_invert() {
        let a: [[f64; 6]; 6] = std::array::from_fn(|r| {
            std::array::from_fn(|c| if r == c { 7.0 } else { ((r * c) as f64).cos() })
        });
        let inverse = invert_rows(a);
        for r in 0..6 {
            for c in 0..6 {
                let product: f64 = (0..6).map(|k| a[r][k] * inverse[k][c]).sum();
                assert!((product - f64::from(u8::from(r == c))).abs() < 1e-14);
            }
        }
    }
}
