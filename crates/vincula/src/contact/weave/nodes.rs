//! The unknowns of a net, of bodies and of the joints between these.

use super::{Member, NOTHING, Place, Weave};
use crate::contact::movers::{Mover, Movers};
use crate::dual::Dual;
use crate::math::small::*;

/// A joint, the bodies that it holds, and that of these which it is eliminated with.
#[derive(Clone, Copy, Debug)]
pub(super) struct Holding {
    node: usize,
    bodies: [Option<usize>; 2],
    child: Option<usize>,
}

impl Weave {
    /// Adds the unknowns of all units. False if there is no net, or a mechanism of another kind.
    pub(super) fn add_nodes(&mut self, movers: &Movers, dual: &Dual) -> bool {
        self.members.clear();
        self.rows.clear();
        self.places.clear();
        self.places.resize(movers.all.len(), Place::default());
        let mut nets = 0;
        for unit in 0..movers.units() as u32 {
            let island = movers.island_of(unit);
            let is_net = movers.chain_of(unit).is_some();
            let mut member = Member {
                unit,
                island,
                start: self.rows.len(),
                is_net,
            };
            let added = match island {
                Some(_) if dual.is_short() => false,
                Some(island) if is_net => {
                    nets += 1;
                    self.add_net(&mut member, island, movers, dual)
                }
                Some(island) => self.add_mechanism(&member, island, movers, dual),
                None => movers
                    .unit(unit)
                    .all(|k| self.add_body(k, &movers.all[k], 0)),
            };
            self.members.push(member);
            if !added {
                return false;
            }
        }
        nets > 0
    }

    fn add_net(
        &mut self,
        member: &mut Member,
        island: usize,
        movers: &Movers,
        dual: &Dual,
    ) -> bool {
        let Some(pattern) = dual.net_pattern(island) else {
            return false;
        };
        let mut first = NOTHING;
        for _ in 0..pattern.nodes() {
            first = first.min(self.problem.add_node(3));
        }
        for &(a, b) in pattern.edges() {
            self.problem.couple(first + a as u32, first + b as u32);
        }
        for place in &mut self.places[movers.unit(member.unit)] {
            place.node = first;
            place.is_link = true;
        }
        member.start = first as usize;
        true
    }

    /// Adds q of a body, and room for the rows of a joint.
    fn add_body(&mut self, mover: usize, body: &Mover, rows: usize) -> bool {
        let (inertia, determinant) = inverted(&body.per_torque);
        let turn = (body.per_torque[0] + body.per_torque[4] + body.per_torque[8]) / 3.0;
        self.places[mover] = Place {
            node: self.problem.add_node(6 + rows),
            is_link: false,
            scales: [body.per_force, (body.per_force * turn).sqrt()],
            inertia,
        };
        determinant > 0.0 && inertia.iter().all(|x| x.is_finite())
    }

    fn add_mechanism(
        &mut self,
        member: &Member,
        island: usize,
        movers: &Movers,
        dual: &Dual,
    ) -> bool {
        let Some(pattern) = dual.plain_pattern(island) else {
            return false;
        };
        let range = movers.unit(member.unit);
        let root = movers.all[range.start].body as usize;
        if !self.find_children(island, root, dual) {
            return false;
        }
        let start = self.rows.len();
        self.rows.resize(start + pattern.dimension(), [NOTHING; 2]);
        for mover in range.clone() {
            let body = movers.all[mover].body as usize;
            let joint = self.joints.iter().find(|j| j.child == Some(body));
            let joint = joint.map(|j| j.node);
            let rows = joint.map_or(0, |node| pattern.size(node));
            if !self.add_body(mover, &movers.all[mover], rows) {
                return false;
            }
            if let Some(node) = joint {
                self.place_rows(start + pattern.row(node), rows, self.places[mover].node, 6);
            }
        }
        for k in 0..self.joints.len() {
            let node = self.joints[k].node;
            if self.rows[start + pattern.row(node)][0] == NOTHING {
                let own = self.problem.add_node(pattern.size(node));
                self.place_rows(start + pattern.row(node), pattern.size(node), own, 0);
            }
        }
        let node_of = |node: usize| self.rows[start + pattern.row(node)][0];
        for &(a, b) in pattern.edges() {
            self.problem.couple(node_of(a), node_of(b));
        }
        for mover in range {
            for (row, _) in movers.levers_of(mover) {
                let joint = self.rows[start + row][0];
                self.problem.couple(self.places[mover].node, joint);
            }
        }
        true
    }

    fn place_rows(&mut self, first: usize, count: usize, node: u32, offset: u32) {
        for (k, row) in self.rows[first..first + count].iter_mut().enumerate() {
            *row = [node, offset + k as u32];
        }
    }

    /// Finds the body that each joint of an island holds, seen from the ground or from a body. False if
    /// joints form a loop.
    fn find_children(&mut self, island: usize, root: usize, dual: &Dual) -> bool {
        self.joints.clear();
        let holding = |(node, bodies)| Holding {
            node,
            bodies,
            child: None,
        };
        self.joints.extend(dual.joints_of(island).map(holding));
        self.reached.clear();
        if self
            .joints
            .iter()
            .all(|j| j.bodies.iter().all(Option::is_some))
        {
            self.reached.push(root);
        }
        let mut left = self.joints.len();
        while left > 0 {
            let before = left;
            for joint in self.joints.iter_mut().filter(|j| j.child.is_none()) {
                let known = |b: &Option<usize>| b.is_none_or(|b| self.reached.contains(&b));
                let [a, b] = &joint.bodies;
                joint.child = match (known(a), known(b)) {
                    (true, true) => return false,
                    (true, false) => *b,
                    (false, true) => *a,
                    (false, false) => continue,
                };
                self.reached.extend(joint.child);
                left -= 1;
            }
            if left == before {
                return false;
            }
        }
        true
    }
}

/// The inverse of a symmetric matrix, and its determinant.
fn inverted(m: &M3) -> (M3, f64) {
    let minor = |i: usize, j: usize| {
        let (r, s) = ((i + 1) % 3, (i + 2) % 3);
        let (c, d) = ((j + 1) % 3, (j + 2) % 3);
        m[3 * r + c] * m[3 * s + d] - m[3 * r + d] * m[3 * s + c]
    };
    let determinant = m[0] * minor(0, 0) + m[1] * minor(0, 1) + m[2] * minor(0, 2);
    (
        std::array::from_fn(|e| minor(e % 3, e / 3) / determinant),
        determinant,
    )
}
