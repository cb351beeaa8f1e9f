//! How contacts hang on the unknowns of a net: an island all of whose unknowns are points.
//!
//! A force f at a body moves its joints by `B f`, and the joints answer with `−Bᵀ A⁻¹ B f`. Of a hub the
//! point itself is an unknown. There the body moves as if its point were held, `S − W_cp W⁻¹ W_pc` with
//! the compliance W of the point, and by `W_cp W⁻¹ u` with the point. So it hangs on one unknown, in
//! the units of `hubs.rs`.

use vincula_blocks::cone::Mesh;
use vincula_blocks::{BlockMatrix, Pattern, Role};

use super::Dual;
use super::hubs::Basis;
use super::reach::reach_side;
use crate::integrate::newton::NewtonBlock;
use crate::math::lanes::{gather, place};
use crate::math::small::*;

/// Unknowns at most that a body of a net hangs on.
pub(crate) const MOST_TIES: usize = 4;
/// Unknowns at most of a net: the work to factor one grows much faster than that of a product.
const MOST_UNKNOWNS: usize = 2_000;

impl Dual {
    /// The system of an island, without its values, if it is a net and not too large.
    pub(crate) fn mesh(&self, island: usize) -> Option<Mesh> {
        let points = |hub: &super::hubs::Hub| hub.basis == Basis::Points(1);
        let mut hubs = self.hubs.iter().flatten();
        let all = hubs.all(|hub| hub.island as usize != island || points(hub));
        let pattern = self.islands[island].matrix.pattern();
        let small = pattern.nodes() <= MOST_UNKNOWNS;
        (all && small).then(|| Mesh::new(pattern))?
    }

    /// The unknowns of an island, if it is a net with knots, exact factors, and not too large.
    pub(crate) fn net_pattern(&self, island: usize) -> Option<&Pattern> {
        let pattern = self.islands[island].matrix.pattern();
        let fits = |node| pattern.size(node) == 3 && pattern.role(node) != Role::Waiting;
        let points = |hub: &super::hubs::Hub| hub.basis == Basis::Points(1);
        let hubs = self.hubs.iter().flatten();
        let mut here = hubs.filter(|hub| hub.island as usize == island).peekable();
        let knots = here.peek().is_some() && here.all(points);
        let small = pattern.nodes() <= MOST_UNKNOWNS;
        let regular = self.islands[island].is_regular();
        (small && regular && knots && (0..pattern.nodes()).all(fits)).then_some(pattern)
    }

    /// The unknowns of an island, if all are forces of joints, with exact factors.
    pub(crate) fn plain_pattern(&self, island: usize) -> Option<&Pattern> {
        let of = &self.islands[island];
        let pattern = of.matrix.pattern();
        (pattern.nodes() == of.joints.len() && of.is_regular()).then_some(pattern)
    }

    /// The matrix of an island.
    pub(crate) fn matrix_of(&self, island: usize) -> &BlockMatrix {
        &self.islands[island].matrix
    }

    /// The joints of an island, as its nodes, and the bodies that each holds.
    pub(crate) fn joints_of(
        &self,
        island: usize,
    ) -> impl Iterator<Item = (usize, [Option<usize>; 2])> + '_ {
        let joints = self.islands[island].joints.iter().enumerate();
        joints.map(|(node, joint)| {
            let rows = &self.joints[*joint];
            (node, [rows.a.body(), rows.b.body()])
        })
    }

    /// Takes the values of an island. False if some of its rows are redundant, or nearly.
    pub(crate) fn read_mesh(&self, island: usize, mesh: &mut Mesh) -> bool {
        mesh.read(&self.islands[island].matrix);
        self.islands[island].is_regular()
    }

    /// Writes the unknowns that a body hangs on, as nodes of its island, and returns how many these
    /// are; or nothing if they are too many.
    pub(crate) fn ties_of(&self, body: usize, ties: &mut [u32; MOST_TIES]) -> Option<usize> {
        if let Some(hub) = self.hubs[body] {
            ties[0] = hub.node;
            return Some(1);
        }
        let at_body = &self.incidences[self.starts[body]..self.starts[body + 1]];
        for (k, at) in at_body.iter().enumerate() {
            *ties.get_mut(k)? = self.joints_place(at.joint as usize).1 as u32;
        }
        Some(at_body.len())
    }

    /// `B` for an increment P of A and a displacement of a body, one row for each of its unknowns; and
    /// for a hub the displacement of its point.
    pub(crate) fn reach_ties(
        &self,
        work: &[NewtonBlock],
        body: usize,
        p: &M3,
        shift: &V3,
        reach: &mut [V3; MOST_TIES],
    ) -> Option<V3> {
        let (block, lane) = place(body);
        let rot: M3 = gather(&work[block].rot, lane);
        let at_body = &self.incidences[self.starts[body]..self.starts[body + 1]];
        let count = if self.hubs[body].is_some() {
            1
        } else {
            MOST_TIES
        };
        for (out, at) in reach[..count].iter_mut().zip(at_body) {
            let (side, points) = self.side(*at);
            *out = [0.0; 3];
            reach_side(side, points, side.rows(&self.general), &rot, p, shift, out);
        }
        let hub = self.hubs[body]?;
        let sign = self.side(at_body[0]).0.sign;
        let moved = scale(&reach[0], sign);
        // The matrix holds −τ² W⁻¹.
        let matrix = self.islands[hub.island as usize]
            .matrix
            .diagonal(hub.node as usize);
        let stiffness: M3 = std::array::from_fn(|e| matrix[e]);
        let per_tau = 1.0 / work[block].inverse[15][lane];
        reach[0] = scale(&mul_vec(&stiffness, &moved), -per_tau);
        Some(scale(&moved, per_tau))
    }
}
