//! Islands whose joints follow each other one by one, each of three rows: chains of ball joints.

use super::Dual;
use super::reach::reach_side;
use crate::integrate::newton::NewtonBlock;
use crate::math::lanes::{gather, place};
use crate::math::small::*;

/// The joints of an island in the order of the chain.
#[derive(Clone, Debug, Default)]
pub(crate) struct Path {
    /// The node at each position, and the position of each node.
    nodes: Vec<u32>,
    positions: Vec<u32>,
    /// The edge of the matrix from each position to the next one, and whether it leads there.
    edges: Vec<(u32, bool)>,
}

impl Path {
    /// The node at a position.
    pub fn node(&self, position: usize) -> usize {
        self.nodes[position] as usize
    }

    /// Number of joints.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }
}

impl Dual {
    /// Whether no body of an island carries more than two of its joints and they close no loop.
    pub(crate) fn is_line(&self, island: usize) -> bool {
        let pattern = self.islands[island].matrix.pattern();
        pattern.edges().len() + 1 == pattern.nodes()
    }

    /// Whether this is what `path` says of an island.
    pub(crate) fn is_path(&self, island: usize, path: Option<&Path>) -> bool {
        let nodes = self.islands[island].matrix.pattern().nodes();
        path.is_none_or(|path| path.len() == nodes)
    }

    /// The order of an island's joints, if they make a chain with two ends and have three rows
    /// each.
    pub(crate) fn path(&self, island: usize) -> Option<Path> {
        let pattern = self.islands[island].matrix.pattern();
        let nodes = pattern.nodes();
        if nodes != self.islands[island].joints.len() || !self.is_line(island) {
            return None;
        }
        let fits = |node: usize| pattern.size(node) == 3 && pattern.neighbours(node).len() <= 2;
        if !(0..nodes).all(fits) {
            return None;
        }
        // Connected, without a loop and without a branch: from one end to the other.
        let mut at = (0..nodes).find(|&node| pattern.neighbours(node).len() < 2)?;
        let mut path = Path {
            nodes: Vec::with_capacity(nodes),
            positions: vec![0; nodes],
            edges: Vec::with_capacity(nodes),
        };
        let mut before = None;
        loop {
            path.positions[at] = path.nodes.len() as u32;
            path.nodes.push(at as u32);
            let mut next = pattern.neighbours(at).iter();
            let next = next.find(|(node, _)| Some(*node) != before);
            before = Some(at);
            match next {
                // Edges are stored from the lower to the higher node.
                Some((node, edge)) => {
                    path.edges.push((*edge as u32, at < *node));
                    at = *node;
                }
                None => return (path.len() == nodes).then_some(path),
            }
        }
    }

    /// A of the joint at a position with itself and with the next one.
    #[inline]
    pub(crate) fn path_blocks(&self, island: usize, path: &Path, position: usize) -> (M3, M3) {
        let matrix = &self.islands[island].matrix;
        let node = path.nodes[position] as usize;
        let block = |values: &[f64]| -> M3 { std::array::from_fn(|k| values[k]) };
        let own = block(matrix.diagonal(node));
        let Some(&(edge, along)) = path.edges.get(position) else {
            return (own, [0.0; 9]);
        };
        let edge = block(matrix.edge(edge as usize));
        (own, if along { edge } else { transpose(&edge) })
    }

    /// Positions of the joints at a body, in the order of `reach_at`.
    pub(crate) fn positions_at<'a>(
        &'a self,
        path: &'a Path,
        body: usize,
    ) -> impl Iterator<Item = u32> + 'a {
        let at_body = &self.incidences[self.starts[body]..self.starts[body + 1]];
        let node = |joint: u32| self.joints_place(joint as usize).1;
        at_body.iter().map(move |at| path.positions[node(at.joint)])
    }

    /// `J δ` at the first two joints of a body, as `add_reach`.
    pub(crate) fn reach_at(
        &self,
        work: &[NewtonBlock],
        body: usize,
        p: &M3,
        shift: &V3,
    ) -> [V3; 2] {
        let (block, lane) = place(body);
        let rot: M3 = gather(&work[block].rot, lane);
        let mut reach = [[0.0; 3]; 2];
        let at_body = &self.incidences[self.starts[body]..self.starts[body + 1]];
        for (out, at) in reach.iter_mut().zip(at_body) {
            let (side, points) = self.side(*at);
            reach_side(side, points, side.rows(&self.general), &rot, p, shift, out);
        }
        reach
    }
}
