//! Blocks of `J H⁻¹ Jᵀ`: for each body, every pair of the joints at it.

use super::linearize::{SideRows, dot9};
use super::{Dual, Incidence};
use crate::body::affine::Inverse;
use crate::integrate::newton::NewtonBlock;
use crate::math::lanes::{gather, place};
use crate::math::small::*;
use crate::model::Model;

/// What a body contributes with.
struct Response {
    rot: M3,
    inverse: Inverse,
}

impl Dual {
    pub(super) fn assemble(&mut self, model: &Model, work: &[NewtonBlock]) {
        for island in &mut self.islands {
            island.matrix.clear();
        }
        for body in 0..model.bodies.len() {
            let range = self.starts[body]..self.starts[body + 1];
            if range.is_empty() {
                continue;
            }
            let (block, lane) = place(body);
            let response = Response {
                rot: gather(&work[block].rot, lane),
                inverse: work[block].inverse_of(lane),
            };
            let mut edge = self.edge_starts[body];
            for i in range.clone() {
                self.add_diagonal(self.incidences[i], &response);
                for j in i + 1..range.end {
                    self.add_edge(
                        self.incidences[i],
                        self.incidences[j],
                        self.edges[edge],
                        &response,
                    );
                    edge += 1;
                }
            }
        }
    }

    fn add_diagonal(&mut self, incidence: Incidence, response: &Response) {
        let mut block = [0.0; 36];
        let (side, points) = self.side(incidence);
        let n = couple(&mut block, (side, points), (side, points), response);
        let (island, node) = self.location(incidence);
        let target = self.islands[island].matrix.diagonal_mut(node);
        for k in 0..n {
            target[k] += block[k];
        }
    }

    fn add_edge(&mut self, i: Incidence, j: Incidence, edge: u32, response: &Response) {
        let (island, node_i) = self.location(i);
        let (_, node_j) = self.location(j);
        // Edges are stored from the lower to the higher node.
        let (low, high) = if node_i < node_j { (i, j) } else { (j, i) };
        let mut block = [0.0; 36];
        let n = couple(&mut block, self.side(low), self.side(high), response);
        let matrix = &mut self.islands[island].matrix;
        if node_i == node_j {
            // Two ends of one joint at one body are refused by the builder.
            return;
        }
        let target = matrix.edge_mut(edge as usize);
        for k in 0..n {
            target[k] += block[k];
        }
    }

    fn location(&self, incidence: Incidence) -> (usize, usize) {
        self.joints_place(incidence.joint as usize)
    }
}

/// Writes the block `J_i H⁻¹ J_jᵀ` row-major; returns its length.
fn couple(
    block: &mut [f64; 36],
    (si, points_i): (&SideRows, bool),
    (sj, points_j): (&SideRows, bool),
    response: &Response,
) -> usize {
    let first_i = if points_i { 3 } else { 0 };
    let first_j = if points_j { 3 } else { 0 };
    let columns = first_j + sj.count;
    let rows = first_i + si.count;
    let (rot, inverse) = (&response.rot, &response.inverse);
    if points_i && points_j {
        let local = inverse.compliance(&si.point, &sj.point);
        let world = mult(&mul(rot, &local), rot);
        let sign = si.sign * sj.sign;
        for r in 0..3 {
            for c in 0..3 {
                block[r * columns + c] = sign * world[3 * r + c];
            }
        }
    }
    if points_i {
        for (k, row) in sj.general[..sj.count].iter().enumerate() {
            let u = point_response(rot, inverse, &si.point, &row.response, &row.t);
            for r in 0..3 {
                block[r * columns + first_j + k] = si.sign * u[r];
            }
        }
    }
    if points_j {
        for (k, row) in si.general[..si.count].iter().enumerate() {
            let u = point_response(rot, inverse, &sj.point, &row.response, &row.t);
            for c in 0..3 {
                block[(first_i + k) * columns + c] = sj.sign * u[c];
            }
        }
    }
    for (r, row) in si.general[..si.count].iter().enumerate() {
        for (c, column) in sj.general[..sj.count].iter().enumerate() {
            block[(first_i + r) * columns + first_j + c] =
                dot9(&row.a, &column.response) + inverse.translation * dot(&row.t, &column.t);
        }
    }
    rows * columns
}

/// Displacement of a point of the body under a unit force of a row, world.
fn point_response(rot: &M3, inverse: &Inverse, point: &V3, p: &M3, t: &V3) -> V3 {
    axpy(&mul_vec(rot, &mul_vec(p, point)), inverse.translation, t)
}
