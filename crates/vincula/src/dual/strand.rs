//! A long chain of which a step may leave out what nothing touches.
//!
//! Stretches of links that no contact touches are known to the rest of the chain by their two ends
//! (`vincula_blocks::bridge`): each takes the place of one long link, a span. What is left is a chain
//! again, with the joints of the other links for nodes, and everything that asks for joint forces,
//! contacts above all, sees a short island instead of a long one. `crate::stream::runs` makes the spans
//! and finds what becomes of the links in them.

use std::ops::Range;

use vincula_blocks::{BlockMatrix, Bridge, Chain, Pattern};

use super::choose::Solver;
use super::island::Island;
use super::ports::Points;
use super::{Dual, Hold};
use crate::math::lanes::{gather, place, scatter};
use crate::math::small::*;

/// The ports at which the joints before and after hold a link of a chain.
pub(crate) const BEFORE: usize = 0;
pub(crate) const AFTER: usize = 1;

/// A stretch of links.
#[derive(Clone, Debug)]
struct Span {
    bodies: Range<usize>,
    bridge: Bridge,
    /// What places of its ends are in units of those of the bridge.
    unit: f64,
}

/// A chain of ball joints whose bodies and joints have consecutive numbers.
pub(crate) struct Strand {
    island: usize,
    joints: Range<usize>,
    /// The lower body of the first joint.
    first: usize,
    /// The island that is not in use: the short one, or the whole one while that is.
    other: Option<Island>,
    spans: Vec<Span>,
    /// Joints of the model that are looked at, while the chain is short.
    live: Vec<Range<usize>>,
    is_short: bool,
}

impl Strand {
    /// The joint before a body.
    fn joint_before(&self, body: usize) -> usize {
        self.joints.start + body - self.first - 1
    }
}

impl Dual {
    /// The first long chain of the model, where rows are constraints and nothing else.
    pub(super) fn find_strand(&self) -> Option<Strand> {
        if !self.axes.is_empty() || !self.border.is_empty() {
            return None;
        }
        (0..self.islands.len()).find_map(|island| self.strand_of(island))
    }

    fn strand_of(&self, island: usize) -> Option<Strand> {
        let found = &self.islands[island];
        found.net.as_ref()?;
        let (&start, &last) = (found.joints.first()?, found.joints.last()?);
        let joints = start..last + 1;
        let pattern = found.matrix.pattern();
        if joints.len() != found.joints.len() || pattern.nodes() != joints.len() {
            return None;
        }
        let first = self.joints[start].a.body()?;
        let follows = |joint: usize| {
            let (rows, lower) = (&self.joints[joint], first + joint - start);
            let ends = [rows.a.body(), rows.b.body()] == [Some(lower), Some(lower + 1)];
            let ports =
                rows.b.port as usize == BEFORE && (joint == start || rows.a.port as usize == AFTER);
            rows.points && ends && ports && self.holds[lower + 1] == Hold::Points
        };
        joints.clone().all(follows).then_some(Strand {
            island,
            first,
            joints,
            other: None,
            spans: Vec::new(),
            live: Vec::new(),
            is_short: false,
        })
    }

    /// The links of the strand that have a joint at either end.
    pub(crate) fn strand_links(&self) -> Option<Range<usize>> {
        let strand = self.strand.as_ref()?;
        Some(strand.first + 1..strand.first + strand.joints.len())
    }

    /// The island of the strand.
    pub(crate) fn strand_island(&self) -> Option<usize> {
        self.strand.as_ref().map(|strand| strand.island)
    }

    /// The first row of the joint before a link of the strand.
    pub(crate) fn row_before(&self, body: usize) -> usize {
        let joint = self.strand.as_ref().map(|strand| strand.joint_before(body));
        joint.map_or(0, |joint| self.offsets[joint])
    }

    /// Where joints hold the bodies of a block, m.
    pub(crate) fn points_of(&self, block: usize) -> &Points {
        &self.ports[block].point
    }

    /// Whether stretches of the strand are left out.
    pub(crate) fn is_short(&self) -> bool {
        self.strand.as_ref().is_some_and(|strand| strand.is_short)
    }

    /// Leaves out these stretches of links of the strand, of two links at least each and with a joint
    /// between them; all links are back without any.
    pub(crate) fn leave_out(&mut self, stretches: impl Iterator<Item = Range<usize>>) {
        let Some(mut strand) = self.strand.take() else {
            return;
        };
        self.bring_back(&mut strand);
        strand.spans.clear();
        strand.spans.extend(stretches.map(|bodies| Span {
            bodies,
            bridge: Bridge::default(),
            unit: 1.0,
        }));
        if !strand.spans.is_empty() {
            self.shorten(&mut strand);
        }
        self.strand = Some(strand);
    }

    /// Puts the whole chain back.
    fn bring_back(&mut self, strand: &mut Strand) {
        if !std::mem::take(&mut strand.is_short) {
            return;
        }
        let island = &mut self.islands[strand.island];
        for &joint in &island.joints {
            self.places[joint].1 = (joint - strand.joints.start) as u32;
        }
        if let Some(whole) = strand.other.take() {
            strand.other = Some(std::mem::replace(island, whole));
        }
    }

    /// Puts the short chain in its place.
    fn shorten(&mut self, strand: &mut Strand) {
        strand.live.clear();
        let mut from = 0;
        for span in &strand.spans {
            // The joints at the ends of a span are looked at.
            let first = strand.joint_before(span.bodies.start);
            strand.live.push(from..first + 1);
            from = strand.joint_before(span.bodies.end);
        }
        strand.live.push(from..self.joints.len());
        let own = &strand.joints;
        let inside = |range: &Range<usize>| range.start.max(own.start)..range.end.min(own.end);
        let nodes: usize = strand.live.iter().map(|range| inside(range).len()).sum();
        let fits = |island: &Island| island.matrix.pattern().nodes() == nodes;
        let mut short = match strand.other.take().filter(fits) {
            Some(short) => short,
            None => match self.short_island(strand.island, nodes) {
                Some(short) => short,
                None => return strand.spans.clear(),
            },
        };
        short.joints.clear();
        short.joints.extend(strand.live.iter().flat_map(inside));
        for (node, &joint) in short.joints.iter().enumerate() {
            self.places[joint].1 = node as u32;
        }
        let island = &mut self.islands[strand.island];
        strand.other = Some(std::mem::replace(island, short));
        strand.is_short = true;
    }

    /// An island like this one with fewer joints.
    fn short_island(&self, island: usize, nodes: usize) -> Option<Island> {
        let edges: Vec<(usize, usize)> = (1..nodes).map(|k| (k - 1, k)).collect();
        let pattern = Pattern::new(&vec![3; nodes], &edges).ok()?;
        let order: Vec<usize> = (0..nodes).collect();
        let solver = Solver::direct(Chain::symbolic(&pattern, &order).ok()?);
        let plan = self.islands[island].plan.clone();
        let matrix = BlockMatrix::zeros(&pattern);
        Some(Island::new(Vec::new(), matrix, solver, plan))
    }

    /// Says how the ends of all spans give way, and where they are or how fast they move without joint
    /// forces, in units of which those of the bridges are `unit`.
    pub(crate) fn set_spans(&mut self, bridges: impl Iterator<Item = Bridge>, unit: f64) {
        let Some(strand) = &mut self.strand else {
            return;
        };
        for (span, bridge) in strand.spans.iter_mut().zip(bridges) {
            (span.bridge, span.unit) = (bridge, unit);
            for (body, port) in span.ends() {
                let (block, lane) = place(body);
                let own = &bridge.own[port];
                scatter(&mut self.ports[block].compliances.own[port], lane, own);
            }
        }
        self.rest_spans();
    }

    /// Puts the ends of all spans where they are without joint forces.
    pub(super) fn rest_spans(&mut self) {
        self.move_spans(|_| [[0.0; 3]; 2]);
    }

    /// Puts the ends of all spans where these forces of all rows put them, N.
    pub(crate) fn load_spans(&mut self, forces: &[f64]) {
        self.move_spans(|rows| rows.map(|row| std::array::from_fn(|k| forces[row + k])));
    }

    fn move_spans(&mut self, forces: impl Fn([usize; 2]) -> [V3; 2]) {
        let Some(strand) = self.strand.as_ref().filter(|strand| strand.is_short) else {
            return;
        };
        for span in &strand.spans {
            let rows = [span.bodies.start, span.bodies.end]
                .map(|body| self.offsets[strand.joint_before(body)]);
            let [first, second] = forces(rows);
            let places = span.bridge.places_under([&first, &scale(&second, -1.0)]);
            for ((body, port), at) in span.ends().into_iter().zip(&places) {
                let (block, lane) = place(body);
                let target = &mut self.ports[block].place[port];
                scatter(target, lane, &scale(at, span.unit));
            }
        }
    }

    /// Assembles the short chain: of a joint with itself what gives way at both sides, and with the
    /// next one what the link or the span between them does.
    pub(super) fn assemble_strand(&mut self) {
        let Some(strand) = self.strand.as_ref().filter(|strand| strand.is_short) else {
            return;
        };
        let island = &mut self.islands[strand.island];
        let mut spans = strand.spans.iter();
        for node in 0..island.joints.len() {
            let rows = &self.joints[island.joints[node]];
            let own = island.matrix.diagonal_mut(node);
            for side in [&rows.a, &rows.b] {
                if let Some((block, lane)) = side.body().map(place) {
                    let w: S3 =
                        gather(&self.ports[block].compliances.own[side.port as usize], lane);
                    own.iter_mut().zip(&full(&w)).for_each(|(t, x)| *t += x);
                }
            }
            let Some(&next) = island.joints.get(node + 1) else {
                break;
            };
            let mutual: M3 = if next == island.joints[node] + 1 {
                let (block, lane) = place(rows.b.body().unwrap_or(0));
                gather(&self.ports[block].compliances.mutual, lane)
            } else {
                spans.next().map_or([0.0; 9], |span| span.bridge.mutual)
            };
            let edge = island.matrix.edge_mut(node);
            edge.iter_mut().zip(&mutual).for_each(|(t, x)| *t = -x);
        }
    }

    /// The joints that are looked at, taken out until `return_live`, if they are not all.
    pub(super) fn live_joints(&mut self) -> Option<Vec<Range<usize>>> {
        let strand = self.strand.as_mut().filter(|strand| strand.is_short)?;
        Some(std::mem::take(&mut strand.live))
    }

    pub(super) fn return_live(&mut self, live: Vec<Range<usize>>) {
        if let Some(strand) = &mut self.strand {
            strand.live = live;
        }
    }
}

impl Span {
    /// The bodies at its ends, and the ports that are the ends.
    fn ends(&self) -> [(usize, usize); 2] {
        [(self.bodies.start, BEFORE), (self.bodies.end - 1, AFTER)]
    }
}
