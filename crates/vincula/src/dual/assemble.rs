//! Blocks of `J H⁻¹ Jᵀ`: for each body, every pair of the joints at it.

use super::linearize::{SideRows, dot9};
use super::ports::NO_PORT;
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
            let response =
                Response { rot: gather(&work[block].rot, lane), inverse: work[block].inverse_of(lane) };
            let mut edge = self.edge_starts[body];
            for i in range.clone() {
                self.add_diagonal(self.incidences[i], body, &response);
                for j in i + 1..range.end {
                    let pair = [self.incidences[i], self.incidences[j]];
                    self.add_edge(pair, self.edges[edge], body, &response);
                    edge += 1;
                }
            }
        }
    }

    fn add_diagonal(&mut self, incidence: Incidence, body: usize, response: &Response) {
        let (island, node) = self.location(incidence);
        let (block, lane) = place(body);
        let (side, points) = self.side(incidence);
        let mut values = [0.0; 36];
        let n = if points && incidence.port != NO_PORT {
            let own: S3 = gather(&self.ports[block].own[incidence.port as usize], lane);
            let known = full(&own);
            couple(&mut values, (side, points), (side, points), response, Some(&known))
        } else {
            couple(&mut values, (side, points), (side, points), response, None)
        };
        add_to(self.islands[island].matrix.diagonal_mut(node), &values[..n]);
    }

    fn add_edge(&mut self, pair: [Incidence; 2], edge: u32, body: usize, response: &Response) {
        let (island, node_i) = self.location(pair[0]);
        let (_, node_j) = self.location(pair[1]);
        // Edges are stored from the lower to the higher node.
        let [low, high] = if node_i < node_j { pair } else { [pair[1], pair[0]] };
        let mut values = [0.0; 36];
        let n = if low.port != NO_PORT && high.port != NO_PORT {
            let (block, lane) = place(body);
            let mutual: M3 = gather(&self.ports[block].mutual, lane);
            let sign = self.side(low).0.sign * self.side(high).0.sign;
            let known = if low.port < high.port { mutual } else { transpose(&mutual) };
            let known = known.map(|x| sign * x);
            couple(&mut values, self.side(low), self.side(high), response, Some(&known))
        } else {
            couple(&mut values, self.side(low), self.side(high), response, None)
        };
        add_to(self.islands[island].matrix.edge_mut(edge as usize), &values[..n]);
    }

    fn location(&self, incidence: Incidence) -> (usize, usize) {
        self.joints_place(incidence.joint as usize)
    }
}

#[inline(always)]
fn add_to(target: &mut [f64], values: &[f64]) {
    for (t, v) in target.iter_mut().zip(values) {
        *t += v;
    }
}

/// Writes the block `J_i H⁻¹ J_jᵀ` row-major; returns its length. The part of two points
/// may be known already.
#[inline]
fn couple(
    block: &mut [f64; 36],
    (si, points_i): (&SideRows, bool),
    (sj, points_j): (&SideRows, bool),
    response: &Response,
    known: Option<&M3>,
) -> usize {
    let first_i = if points_i { 3 } else { 0 };
    let first_j = if points_j { 3 } else { 0 };
    let columns = first_j + sj.count;
    let rows = first_i + si.count;
    let (rot, inverse) = (&response.rot, &response.inverse);
    if points_i && points_j {
        let world = known.copied().unwrap_or_else(|| {
            let local = inverse.compliance(&si.point, &sj.point);
            let sign = si.sign * sj.sign;
            mult(&mul(rot, &local), rot).map(|x| sign * x)
        });
        for r in 0..3 {
            for c in 0..3 {
                block[r * columns + c] = world[3 * r + c];
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
