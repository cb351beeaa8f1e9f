//! Nets: large islands of bodies held at points and of hubs at a point, whose blocks are all three
//! by three.
//!
//! Every block of their matrix is that of one body, or of two for a joint between others. So
//! blocks can be written in the order in which they lie in memory, in two halves that know nothing
//! of each other, and without clearing the matrix first.

use std::cmp::Ordering;

use vincula_blocks::both;

use super::hubs::{Basis, write_stiffness};
use super::ports::PortBlock;
use super::{Dual, Hold};
use crate::integrate::newton::NewtonBlock;
use crate::math::lanes::{gather, place};
use crate::math::small::*;

/// Joints from which on an island is assembled like this.
const WORTH: usize = 1024;

/// Where a block comes from.
#[derive(Clone, Copy, Debug)]
enum Source {
    /// Compliance of points of links, of one or of two: body and port.
    Own([Option<(u32, u8)>; 2]),
    /// What a link couples its two points with, from the first to the second or back.
    Mutual { body: u32, sign: f64, back: bool },
    /// Two joints at the same point of a body.
    Shared { body: u32, port: u8, sign: f64 },
    /// A joint at a hub.
    Hub { body: u32, sign: f64 },
    /// A hub.
    Stiffness(u32),
}

/// Where the blocks of an island come from.
#[derive(Clone, Debug)]
pub(crate) struct Net {
    nodes: Vec<Source>,
    edges: Vec<Source>,
    /// The first node and the first edge of the second half.
    middle: [usize; 2],
}

impl Dual {
    /// Finds the islands that are nets.
    pub(super) fn plan_nets(&mut self) {
        for island in 0..self.islands.len() {
            self.islands[island].net = self.plan_net(island);
        }
        for body in 0..self.starts.len() - 1 {
            let first = self.incidences[self.starts[body]..self.starts[body + 1]].first();
            let island = first.map(|at| self.island_of_joint(at.joint as usize));
            if island.is_some_and(|island| self.islands[island].net.is_none()) {
                self.unnetted.push(body as u32);
            }
        }
    }

    fn plan_net(&self, island: usize) -> Option<Net> {
        let found = &self.islands[island];
        let pattern = found.matrix.pattern();
        if found.joints.len() < WORTH || pattern.sizes().iter().any(|&size| size != 3) {
            return None;
        }
        let mut nodes = vec![Source::Own([None; 2]); pattern.nodes()];
        let mut edges: Vec<Option<Source>> = vec![None; pattern.edges().len()];
        for body in 0..self.starts.len() - 1 {
            let at_body = &self.incidences[self.starts[body]..self.starts[body + 1]];
            let here = |joint: u32| self.joints_place(joint as usize).0 == island;
            if !at_body.first().is_some_and(|at| here(at.joint)) {
                continue;
            }
            let edge = &self.edges[self.edge_starts[body]..self.edge_starts[body + 1]];
            if self.holds[body] != Hold::Points {
                return None;
            }
            let sign = |first: bool| if first { 1.0 } else { -1.0 };
            let label = body as u32;
            if let Some(hub) = self.hubs[body] {
                if hub.basis != Basis::Points(1) {
                    return None;
                }
                nodes[hub.node as usize] = Source::Stiffness(label);
                for (at, &edge) in at_body.iter().zip(edge) {
                    let (body, sign) = (label, sign(at.first));
                    set_once(&mut edges[edge as usize], Source::Hub { body, sign })?;
                }
                continue;
            }
            for at in at_body {
                let node = self.places[at.joint as usize].1 as usize;
                let Source::Own(places) = &mut nodes[node] else {
                    return None;
                };
                let free = places.iter_mut().find(|place| place.is_none())?;
                *free = Some((label, at.port));
            }
            let mut edge = edge.iter();
            for (k, i) in at_body.iter().enumerate() {
                for (j, &edge) in at_body[k + 1..].iter().zip(&mut edge) {
                    let sign = sign(i.first) * sign(j.first);
                    let node = |joint: u32| self.places[joint as usize].1;
                    // Edges run from the lower to the higher node, `mutual` from port 0 to 1.
                    let ordered = node(i.joint) < node(j.joint);
                    let (body, port) = (label, i.port);
                    let source = match i.port.cmp(&j.port) {
                        Ordering::Equal => Source::Shared { body, port, sign },
                        order => Source::Mutual {
                            body,
                            sign,
                            back: ordered != (order == Ordering::Less),
                        },
                    };
                    set_once(&mut edges[edge as usize], source)?;
                }
            }
        }
        let middle = pattern.nodes() / 2;
        let edge = pattern.edges().partition_point(|&(low, _)| low < middle);
        Some(Net {
            nodes,
            edges: edges.into_iter().collect::<Option<Vec<Source>>>()?,
            middle: [middle, edge],
        })
    }

    /// Assembles the nets.
    pub(super) fn assemble_nets(&mut self, work: &[NewtonBlock]) {
        let (ports, threads) = (&self.ports[..], self.threads);
        for island in &mut self.islands {
            let Some(net) = &island.net else { continue };
            let (nodes, edges) = island.matrix.values_mut().split_at_mut(9 * net.nodes.len());
            let [node, edge] = net.middle;
            let (nodes_a, nodes_b) = nodes.split_at_mut(9 * node);
            let (edges_a, edges_b) = edges.split_at_mut(9 * edge);
            let run = |sources: [&[Source]; 2], targets: [&mut [f64]; 2]| {
                for (sources, target) in sources.into_iter().zip(targets) {
                    for (source, block) in sources.iter().zip(target.chunks_exact_mut(9)) {
                        source.write(ports, work, block);
                    }
                }
            };
            both(
                threads,
                || run([&net.nodes[..node], &net.edges[..edge]], [nodes_a, edges_a]),
                || run([&net.nodes[node..], &net.edges[edge..]], [nodes_b, edges_b]),
            );
        }
    }
}

/// Writes down where a block comes from, if nothing is known of it.
fn set_once(place: &mut Option<Source>, source: Source) -> Option<()> {
    place.is_none().then(|| *place = Some(source))
}

impl Source {
    #[inline(always)]
    fn write(&self, ports: &[PortBlock], work: &[NewtonBlock], target: &mut [f64]) {
        let own = |body: u32, port: u8| -> M3 {
            let (block, lane) = place(body as usize);
            full(&gather(&ports[block].compliances.own[port as usize], lane))
        };
        let tau = |body: u32| {
            let (block, lane) = place(body as usize);
            work[block].inverse[15][lane]
        };
        match *self {
            Source::Own(places) => {
                target.fill(0.0);
                for (body, port) in places.into_iter().flatten() {
                    add_block(target, &own(body, port));
                }
            }
            Source::Mutual { body, sign, back } => {
                let (block, lane) = place(body as usize);
                let mutual: M3 = gather(&ports[block].compliances.mutual, lane);
                let mutual = if back { transpose(&mutual) } else { mutual };
                target.copy_from_slice(&mutual.map(|x| sign * x));
            }
            Source::Shared { body, port, sign } => {
                target.copy_from_slice(&own(body, port).map(|x| sign * x));
            }
            Source::Hub { body, sign } => {
                let tau = sign * tau(body);
                target.copy_from_slice(&[tau, 0.0, 0.0, 0.0, tau, 0.0, 0.0, 0.0, tau]);
            }
            Source::Stiffness(body) => write_stiffness::<3>(own(body, 0), tau(body), target),
        }
    }
}

fn add_block(target: &mut [f64], block: &M3) {
    for (t, v) in target.iter_mut().zip(block) {
        *t += v;
    }
}
