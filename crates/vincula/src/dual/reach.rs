//! How a mechanism answers when something outside the joints moves one of its bodies.
//!
//! A body displaced by δ violates its rows by `J δ`; the joints answer with `λ = A⁻¹ J δ`, and
//! every body of the island moves by `−H⁻¹Jᵀλ` (the anticipation of Baraff 1996, section 8, in
//! affine coordinates). Contacts use it to feel the whole mechanism behind a body.

use super::Dual;
use super::linearize::dot9;
use crate::integrate::newton::NewtonBlock;
use crate::math::lanes::{gather, place};
use crate::math::small::*;

impl Dual {
    /// The island of the joints at a body, and its number of rows.
    pub(crate) fn island_of(&self, body: usize) -> Option<(usize, usize)> {
        let end = *self.starts.get(body + 1)?;
        let incidence = self.incidences[self.starts[body]..end].first()?;
        let (island, _) = self.joints_place(incidence.joint as usize);
        Some((island, self.islands[island].plan.unknowns))
    }

    /// Calls `visit` with the island and the number of every row of every joint.
    pub(crate) fn for_each_row(&self, mut visit: impl FnMut(usize, usize)) {
        for joint in 0..self.joints.len() {
            let (island, _) = self.joints_place(joint);
            for row in self.offsets[joint]..self.offsets[joint + 1] {
                visit(island, row);
            }
        }
    }

    /// Adds `J δ` of a body that moves by `shift` (world, m) and whose A grows by `R p` to the
    /// rows of its island.
    pub(crate) fn add_reach(
        &self,
        work: &[NewtonBlock],
        body: usize,
        p: &M3,
        shift: &V3,
        rows: &mut [f64],
    ) {
        let (block, lane) = place(body);
        let rot: M3 = gather(&work[block].rot, lane);
        for &incidence in &self.incidences[self.starts[body]..self.starts[body + 1]] {
            let (island, node) = self.joints_place(incidence.joint as usize);
            let mut row = self.islands[island].matrix.pattern().row(node);
            let (side, points) = self.side(incidence);
            if points {
                let moved = add(shift, &mul_vec(&rot, &mul_vec(p, &side.point)));
                for k in 0..3 {
                    rows[row + k] += side.sign * moved[k];
                }
                row += 3;
            }
            for (k, general) in side.rows(&self.general).iter().enumerate() {
                rows[row + k] += dot9(&general.a, p) + dot(&general.t, shift);
            }
        }
    }

    /// Overwrites the rows of an island by the forces that answer them, N.
    pub(crate) fn answer(&mut self, island: usize, rows: &mut [f64]) {
        self.islands[island].answer(rows);
    }

    /// Displacement of the centre and increment P of A (body frame) of a body under the forces
    /// of its island's rows.
    pub(crate) fn reached(&self, work: &[NewtonBlock], body: usize, forces: &[f64]) -> (V3, M3) {
        let (block, lane) = place(body);
        let rot: M3 = gather(&work[block].rot, lane);
        let (mut thrust, mut load) = ([0.0; 3], [0.0; 9]);
        for &incidence in &self.incidences[self.starts[body]..self.starts[body + 1]] {
            let (island, node) = self.joints_place(incidence.joint as usize);
            let mut row = self.islands[island].matrix.pattern().row(node);
            let (side, points) = self.side(incidence);
            if points {
                let force = scale(&[forces[row], forces[row + 1], forces[row + 2]], -side.sign);
                thrust = add(&thrust, &force);
                load = axpy9(&load, 1.0, &side.point_load(&rot, &force));
                row += 3;
            }
            for (k, general) in side.rows(&self.general).iter().enumerate() {
                load = axpy9(&load, -forces[row + k], &general.a);
                thrust = axpy(&thrust, -forces[row + k], &general.t);
            }
        }
        let inverse = work[block].inverse_of(lane);
        (scale(&thrust, inverse.translation), inverse.solve(&load))
    }
}
