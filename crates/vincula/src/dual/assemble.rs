//! Blocks of `J H⁻¹ Jᵀ`: for each body that is no hub, every pair of the joints at it.

use super::linearize::{GeneralRow, SideRows, dot9};
use super::ports::NO_PORT;
use super::{Dual, Hold, Incidence};
use crate::body::affine::Inverse;
use crate::integrate::newton::NewtonBlock;
use crate::math::lanes::{gather, place};
use crate::math::small::*;

/// What a body contributes with.
pub(super) struct Response {
    pub rot: M3,
    pub inverse: Inverse,
}

/// One of the two joints of a block: its end at the body and its rows.
#[derive(Clone, Copy)]
pub(super) struct End<'a> {
    side: &'a SideRows,
    points: bool,
    general: &'a [GeneralRow],
}

impl End<'_> {
    fn first(&self) -> usize {
        if self.points { 3 } else { 0 }
    }
}

impl Dual {
    pub(super) fn assemble(&mut self, work: &[NewtonBlock]) {
        self.assemble_nets(work);
        let others = self
            .islands
            .iter_mut()
            .filter(|island| island.net.is_none());
        others.for_each(|island| island.matrix.clear());
        self.assemble_strand();
        for k in 0..self.unnetted.len() {
            let body = self.unnetted[k] as usize;
            let range = self.starts[body]..self.starts[body + 1];
            if let Some(hub) = self.hubs[body] {
                self.add_hub(body, hub, work);
                continue;
            }
            match self.holds[body] {
                Hold::Points => {
                    self.add_link(body);
                    continue;
                }
                Hold::Axles => {
                    self.add_axle(body);
                    continue;
                }
                Hold::Otherwise => {}
            }
            let (block, lane) = place(body);
            let response = Response {
                rot: gather(&work[block].rot, lane),
                inverse: work[block].inverse_of(lane),
            };
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

    /// A body that joints hold at one or two points only: everything is known already.
    fn add_link(&mut self, body: usize) {
        let (block, lane) = place(body);
        let ports = &self.ports[block];
        let at_body = &self.incidences[self.starts[body]..self.starts[body + 1]];
        let mut edge = self.edge_starts[body];
        for (k, i) in at_body.iter().enumerate() {
            let (island, node_i) = self.joints_place(i.joint as usize);
            let matrix = &mut self.islands[island].matrix;
            let own = ports.between(i.port, i.port, lane);
            add_to(matrix.diagonal_mut(node_i), &own);
            for j in &at_body[k + 1..] {
                let sign = if i.first == j.first { 1.0 } else { -1.0 };
                // Edges run from the lower to the higher node.
                let ordered = node_i < self.places[j.joint as usize].1 as usize;
                let (low, high) = if ordered { (i, j) } else { (j, i) };
                let mutual = ports.between(low.port, high.port, lane);
                let target = matrix.edge_mut(self.edges[edge] as usize);
                add_to(target, &mutual.map(|x| sign * x));
                edge += 1;
            }
        }
    }

    fn add_diagonal(&mut self, incidence: Incidence, body: usize, response: &Response) {
        let (island, node) = self.location(incidence);
        let (block, lane) = place(body);
        let end = self.end(incidence);
        let mut values = [0.0; 36];
        let n = if incidence.port != NO_PORT {
            let own: S3 = gather(
                &self.ports[block].compliances.own[incidence.port as usize],
                lane,
            );
            couple(&mut values, end, end, response, Some(&full(&own)))
        } else {
            couple(&mut values, end, end, response, None)
        };
        add_to(self.islands[island].matrix.diagonal_mut(node), &values[..n]);
    }

    fn add_edge(&mut self, pair: [Incidence; 2], edge: u32, body: usize, response: &Response) {
        let (island, node_i) = self.location(pair[0]);
        let (_, node_j) = self.location(pair[1]);
        // Edges are stored from the lower to the higher node.
        let [low, high] = if node_i < node_j {
            pair
        } else {
            [pair[1], pair[0]]
        };
        let mut values = [0.0; 36];
        let n = if low.port != NO_PORT && high.port != NO_PORT {
            let (block, lane) = place(body);
            let sign = self.end(low).side.sign * self.end(high).side.sign;
            let known = self.ports[block].between(low.port, high.port, lane);
            let known = known.map(|x| sign * x);
            couple(
                &mut values,
                self.end(low),
                self.end(high),
                response,
                Some(&known),
            )
        } else {
            couple(&mut values, self.end(low), self.end(high), response, None)
        };
        add_to(
            self.islands[island].matrix.edge_mut(edge as usize),
            &values[..n],
        );
    }

    pub(super) fn end(&self, incidence: Incidence) -> End<'_> {
        let (side, points) = self.side(incidence);
        End {
            side,
            points,
            general: side.rows(&self.general),
        }
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
pub(super) fn couple(
    block: &mut [f64; 36],
    i: End<'_>,
    j: End<'_>,
    response: &Response,
    known: Option<&M3>,
) -> usize {
    let (first_i, first_j) = (i.first(), j.first());
    let rows = first_i + i.general.len();
    let columns = first_j + j.general.len();
    let (rot, inverse) = (&response.rot, &response.inverse);
    if i.points && j.points {
        let world = known.copied().unwrap_or_else(|| {
            let local = inverse.compliance(&i.side.point, &j.side.point);
            let sign = i.side.sign * j.side.sign;
            mult(&mul(rot, &local), rot).map(|x| sign * x)
        });
        for r in 0..3 {
            for c in 0..3 {
                block[r * columns + c] = world[3 * r + c];
            }
        }
    }
    if i.points {
        for (k, row) in j.general.iter().enumerate() {
            let u = point_response(rot, inverse, &i.side.point, row);
            for r in 0..3 {
                block[r * columns + first_j + k] = i.side.sign * u[r];
            }
        }
    }
    if std::ptr::eq(i.side, j.side) {
        // A block of the diagonal is symmetric.
        for k in first_i..rows {
            for c in 0..first_j {
                block[k * columns + c] = block[c * columns + k];
            }
        }
    } else if j.points {
        for (k, row) in i.general.iter().enumerate() {
            let u = point_response(rot, inverse, &j.side.point, row);
            for c in 0..3 {
                block[(first_i + k) * columns + c] = j.side.sign * u[c];
            }
        }
    }
    for (r, row) in i.general.iter().enumerate() {
        for (c, column) in j.general.iter().enumerate() {
            block[(first_i + r) * columns + first_j + c] =
                dot9(&row.a, &column.response) + inverse.translation * dot(&row.t, &column.t);
        }
    }
    rows * columns
}

/// Displacement of a point of the body under a unit force of a row, world.
pub(super) fn point_response(rot: &M3, inverse: &Inverse, point: &V3, row: &GeneralRow) -> V3 {
    axpy(
        &mul_vec(rot, &mul_vec(&row.response, point)),
        inverse.translation,
        &row.t,
    )
}
