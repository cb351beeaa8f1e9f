//! Which points of which bodies meet at a vertex of a web, and which joints tie them there.

use std::sync::Arc;

use vincula_blocks::Pattern;

use super::kinds::Kinds;
use crate::dual::ports::{NO_POINTS, PORTS};
use crate::joint::JointKind;
use crate::math::lanes::{LANES, Lane, gather, place, scatter};
use crate::math::small::*;
use crate::math::union::Union;
use crate::model::Model;

/// No vertex, or no point.
pub(super) const NONE: u32 = u32::MAX;

/// The vertices of eight bodies.
#[derive(Clone, Debug)]
pub(super) struct Corners {
    /// The vertex of each point, or NONE.
    pub vertex: [[u32; LANES]; PORTS],
    /// One for a body with two points, or zero.
    pub both: Lane,
}

/// How the force of a joint follows from those at the points that it ties: it is what acts at
/// `leaf`, a point that no joint ties any more but this one, times `sign`, and goes on to `toward`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tie {
    pub joint: u32,
    pub leaf: u32,
    pub toward: u32,
    pub sign: f64,
}

/// Bodies held at one or two points, and the vertices where points meet. Points are numbered twice
/// their body and one more for the second.
#[derive(Clone, Debug)]
pub(super) struct Mesh {
    pub corners: Vec<Corners>,
    /// The vertices that move come first: their points, one after the other, and where they start.
    pub points: Vec<u32>,
    pub starts: Vec<usize>,
    /// Where the others are, m.
    pub nails: Vec<V3>,
    pub pattern: Arc<Pattern>,
    /// The bodies of each edge, with the way it runs, and where they start.
    pub bodies: Vec<(u32, bool)>,
    pub edge_starts: Vec<usize>,
    pub ties: Vec<Tie>,
}

/// A body and its second point for the number of a point.
pub(super) fn body_and_port(point: u32) -> (usize, usize) {
    ((point >> 1) as usize, (point & 1) as usize)
}

impl Mesh {
    /// The mesh of a model in which every joint is a plain ball joint, every body is held at one or
    /// two points, and no joint at a vertex is redundant; and the constants of its blocks.
    pub fn find(model: &Model) -> Option<(Mesh, Kinds)> {
        let rows = 3 * model.joints.len();
        let plain = model.dual_rows() == rows && model.rows() == rows;
        if model.joints.is_empty() || !plain || model.bodies.len() >= NONE as usize / 2 {
            return None;
        }
        let blocks = model.params.len();
        let mut local = vec![NO_POINTS; blocks];
        let mut count = vec![0usize; model.bodies.len()];
        // The points that each joint ties; NONE is the world.
        let mut ends = Vec::with_capacity(model.joints.len());
        for joint in &model.joints {
            if joint.kind != JointKind::Ball {
                return None;
            }
            let mut point_of = |side: &crate::joint::Side| -> Option<u32> {
                let Some(body) = side.endpoint.index() else {
                    return Some(NONE);
                };
                let (block, lane) = place(body);
                let known =
                    (0..count[body]).find(|&k| gather(&local[block][k], lane) == side.point);
                let port = match known {
                    Some(port) => port,
                    None if count[body] == PORTS => return None,
                    None => {
                        scatter(&mut local[block][count[body]], lane, &side.point);
                        count[body] += 1;
                        count[body] - 1
                    }
                };
                Some((2 * body + port) as u32)
            };
            ends.push([point_of(&joint.a)?, point_of(&joint.b)?]);
        }
        let held = |bodies: &[usize]| bodies.iter().all(|count| *count > 0);
        if !held(&count) {
            return None;
        }
        let mesh = Mesh::of(model, &ends, &count)?;
        Some((mesh, Kinds::find(model, &local)))
    }

    fn of(model: &Model, ends: &[[u32; 2]], count: &[usize]) -> Option<Mesh> {
        let slots = 2 * count.len();
        let mut sets = Union::default();
        sets.reset(slots);
        for [a, b] in ends {
            if *a != NONE && *b != NONE {
                // A joint between points that already meet is redundant.
                if sets.head(*a) == sets.head(*b) {
                    return None;
                }
                sets.join(*a, *b);
            }
        }
        let heads = sets.heads().to_vec();
        let mut nail_of = vec![None; slots];
        for (joint, [a, b]) in model.joints.iter().zip(ends) {
            let (point, at) = match (*a, *b) {
                (NONE, b) => (b, joint.a.point),
                (a, NONE) => (a, joint.b.point),
                _ => continue,
            };
            if nail_of[heads[point as usize] as usize]
                .replace(at)
                .is_some()
            {
                return None;
            }
        }
        let exists = |point: usize| point % 2 < count[point / 2];
        // Vertices in the order of their first points, those that move before the others.
        let mut vertex_of = vec![NONE; slots];
        let mut next = 0;
        let mut nails = Vec::new();
        for nailed in [false, true] {
            for point in (0..slots).filter(|p| exists(*p)) {
                let head = heads[point] as usize;
                if nail_of[head].is_some() == nailed && vertex_of[head] == NONE {
                    vertex_of[head] = next;
                    next += 1;
                    nails.extend(nail_of[head]);
                }
            }
        }
        let free = next as usize - nails.len();
        let vertex = |point: usize| vertex_of[heads[point] as usize] as usize;
        let mut points: Vec<u32> = (0..slots as u32)
            .filter(|p| exists(*p as usize) && vertex(*p as usize) < free)
            .collect();
        points.sort_unstable_by_key(|p| (vertex(*p as usize), *p));
        let mut starts = vec![0; free + 1];
        for point in &points {
            starts[vertex(*point as usize) + 1] += 1;
        }
        (0..free).for_each(|v| starts[v + 1] += starts[v]);
        let mut edges = Vec::new();
        for body in 0..count.len() {
            if count[body] == 2 {
                let [a, b] = [vertex(2 * body), vertex(2 * body + 1)];
                if a == b {
                    return None;
                }
                if a < free && b < free {
                    edges.push((a.min(b), a.max(b), body as u32, a > b));
                }
            }
        }
        let pairs: Vec<_> = edges.iter().map(|e| (e.0, e.1)).collect();
        let pattern = Pattern::new(&vec![3; free], &pairs).ok()?;
        edges.sort_unstable();
        let mut edge_starts = vec![0];
        for (k, edge) in edges.iter().enumerate() {
            let last = edges
                .get(k + 1)
                .is_none_or(|e| (e.0, e.1) != (edge.0, edge.1));
            if last {
                edge_starts.push(k + 1);
            }
        }
        let corners = (0..count.len().div_ceil(LANES)).map(|block| {
            let mut corners = Corners {
                vertex: [[NONE; LANES]; PORTS],
                both: [0.0; LANES],
            };
            for lane in 0..LANES.min(count.len() - block * LANES) {
                let body = block * LANES + lane;
                for port in 0..count[body] {
                    corners.vertex[port][lane] = vertex(2 * body + port) as u32;
                }
                corners.both[lane] = if count[body] == 2 { 1.0 } else { 0.0 };
            }
            corners
        });
        Some(Mesh {
            corners: corners.collect(),
            points,
            starts,
            nails,
            pattern,
            bodies: edges.iter().map(|e| (e.2, e.3)).collect(),
            edge_starts,
            ties: ties(ends, slots),
        })
    }

    /// Vertices that move.
    pub fn free(&self) -> usize {
        self.starts.len() - 1
    }
}

/// The joints in an order in which each is the last one at one of its points.
fn ties(ends: &[[u32; 2]], slots: usize) -> Vec<Tie> {
    let mut left = vec![0u32; slots];
    let mut sum = vec![0u32; slots];
    for (joint, pair) in ends.iter().enumerate() {
        for point in pair.iter().filter(|p| **p != NONE) {
            left[*point as usize] += 1;
            // The joints that are left at a point, folded: with one left, that is the one.
            sum[*point as usize] ^= joint as u32;
        }
    }
    let mut open: Vec<u32> = (0..slots as u32)
        .filter(|p| left[*p as usize] == 1)
        .collect();
    open.reverse();
    let mut ties = Vec::with_capacity(ends.len());
    while let Some(leaf) = open.pop() {
        if left[leaf as usize] != 1 {
            continue;
        }
        let joint = sum[leaf as usize];
        let [a, b] = ends[joint as usize];
        let (toward, sign) = if a == leaf { (b, 1.0) } else { (a, -1.0) };
        ties.push(Tie {
            joint,
            leaf,
            toward,
            sign,
        });
        left[leaf as usize] = 0;
        if toward != NONE {
            left[toward as usize] -= 1;
            sum[toward as usize] ^= joint;
            if left[toward as usize] == 1 {
                open.push(toward);
            }
        }
    }
    ties
}
