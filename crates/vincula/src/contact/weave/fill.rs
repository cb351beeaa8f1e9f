//! The matrix of a net, of bodies and of the joints between these.

use super::{Member, Place, Weave};
use crate::contact::movers::{Mover, Movers};
use crate::dual::Dual;
use crate::math::small::*;

impl Weave {
    /// Writes the matrix of a unit.
    pub(super) fn fill(&mut self, member: usize, movers: &Movers, dual: &Dual) {
        let Member {
            unit,
            island,
            start,
            is_net,
        } = self.members[member];
        if !is_net {
            for mover in movers.unit(unit) {
                self.fill_body(mover, &movers.all[mover], start, movers);
            }
        }
        let Some(island) = island else {
            return;
        };
        let (problem, rows) = (&mut self.problem, &self.rows);
        let matrix = dual.matrix_of(island);
        let pattern = matrix.pattern();
        let at = |node: usize| match is_net {
            true => [(start + node) as u32, 0],
            false => rows[start + pattern.row(node)],
        };
        for node in 0..pattern.nodes() {
            let ([place, offset], size) = (at(node), pattern.size(node));
            let values = matrix.diagonal(node);
            // Of a diagonal block the lower triangle counts.
            let whole = |e: usize| {
                let (i, j) = (e / size, e % size);
                values[size * i.max(j) + i.min(j)]
            };
            self.block.clear();
            self.block.extend((0..size * size).map(whole));
            let offset = offset as usize;
            problem.add([place; 2], [offset; 2], size, &self.block);
        }
        for (edge, &(low, high)) in pattern.edges().iter().enumerate() {
            let ([a, i], [b, j]) = (at(low), at(high));
            let (values, width) = (matrix.edge(edge), pattern.size(high));
            let (i, j) = (i as usize, j as usize);
            problem.add([a, b], [i, j], width, values);
            let (rows, transposed) = (pattern.size(low), &mut self.block);
            transposed.clear();
            transposed.extend((0..width * rows).map(|e| values[e % rows * width + e / rows]));
            problem.add([b, a], [j, i], rows, transposed);
        }
    }

    /// Writes C⁻¹ of a body, and what it does to the rows of its joints.
    fn fill_body(&mut self, mover: usize, body: &Mover, start: usize, movers: &Movers) {
        let Place {
            node,
            scales: [s, t],
            inertia,
            ..
        } = self.places[mover];
        let mut own = [0.0; 36];
        for i in 0..3 {
            own[7 * i] = -s * s / body.per_force;
            for j in 0..3 {
                own[6 * (3 + i) + 3 + j] = -t * t * inertia[3 * i + j];
            }
        }
        self.problem.add([node; 2], [0, 0], 6, &own);
        let pulled = |by: &[f64; 6]| -> [f64; 6] {
            let turned = mul_vec(&inertia, &[by[3], by[4], by[5]]);
            let push = 1.0 / body.per_force;
            [
                by[0] * push,
                by[1] * push,
                by[2] * push,
                turned[0],
                turned[1],
                turned[2],
            ]
        };
        for (row, by) in movers.levers_of(mover) {
            let pull = pulled(by);
            let [place, offset] = self.rows[start + row];
            let scaled: [f64; 6] = std::array::from_fn(|k| -pull[k] * if k < 3 { s } else { t });
            self.problem
                .add([node, place], [0, offset as usize], 1, &scaled);
            self.problem
                .add([place, node], [offset as usize, 0], 6, &scaled);
            for (other, there) in movers.levers_of(mover) {
                let [target, at] = self.rows[start + other];
                let taken: f64 = pull.iter().zip(there).map(|(a, b)| a * b).sum();
                let entry = [offset as usize, at as usize];
                self.problem.add([place, target], entry, 1, &[-taken]);
            }
        }
    }
}
