//! Which joint ties which points of a chain, and the numbers of the dual system from them.

use std::ops::Range;

use vincula_blocks::LineSource;

use super::record::Slot;
use crate::dual::ports::{PORTS, Points};
use crate::joint::JointKind;
use crate::math::lanes::{LANES, Lane, gather, place, scatter};
use crate::math::small::*;
use crate::model::Model;

/// No body, or no joint.
const NONE: u32 = u32::MAX;

/// One end of a joint: a port of a body, or a point of the world.
#[derive(Clone, Copy, Debug)]
struct End {
    body: u32,
    port: u32,
    world: V3,
}

/// A ball joint of a chain.
#[derive(Clone, Copy, Debug)]
struct Link {
    ends: [End; 2],
    /// The body that this joint and the next one have in common.
    shared: u32,
    /// Sign of their coupling.
    sign: f64,
}

/// The joint at each port of eight bodies.
#[derive(Clone, Debug)]
struct AtPorts {
    joint: [[u32; LANES]; PORTS],
    sign: [Lane; PORTS],
}

/// Chains of ball joints, the joints numbered along them.
pub(super) struct Links {
    links: Vec<Link>,
    at_ports: Vec<AtPorts>,
}

impl Links {
    /// The links of a model in which every joint is a plain ball joint, every block of bodies
    /// is held, and joints that share a body follow each other.
    pub fn find(model: &Model) -> Option<Links> {
        let rows = 3 * model.joints.len();
        let plain = model.dual_rows() == rows && model.rows() == rows;
        if model.joints.is_empty() || !plain {
            return None;
        }
        let mut at_body = vec![[(NONE, false); PORTS]; model.bodies.len()];
        let mut links = Vec::with_capacity(model.joints.len());
        for (index, joint) in model.joints.iter().enumerate() {
            if joint.kind != JointKind::Ball {
                return None;
            }
            let mut ends = [End {
                body: NONE,
                port: 0,
                world: [0.0; 3],
            }; 2];
            for (end, (side, first)) in ends.iter_mut().zip([(&joint.a, true), (&joint.b, false)]) {
                end.world = side.point;
                if let Some(body) = side.endpoint.index() {
                    let port = at_body[body].iter().position(|at| at.0 == NONE)?;
                    at_body[body][port] = (index as u32, first);
                    (end.body, end.port) = (body as u32, port as u32);
                }
            }
            links.push(Link {
                ends,
                shared: NONE,
                sign: 0.0,
            });
        }
        for (body, [first, second]) in at_body.iter().enumerate() {
            if second.0 == NONE {
                continue;
            }
            let link = &mut links[first.0 as usize];
            if second.0 != first.0 + 1 || link.shared != NONE {
                return None;
            }
            link.shared = body as u32;
            link.sign = if first.1 == second.1 { 1.0 } else { -1.0 };
        }
        let held = |lanes: &[[(u32, bool); PORTS]]| lanes.iter().any(|at| at[0].0 != NONE);
        if !at_body.chunks(LANES).all(held) {
            return None;
        }
        let at_ports = at_body.chunks(LANES).map(AtPorts::new).collect();
        Some(Links { links, at_ports })
    }

    /// Joints of each chain.
    pub fn chains(&self) -> Vec<Range<usize>> {
        let mut chains = Vec::new();
        let mut start = 0;
        for (index, link) in self.links.iter().enumerate() {
            if link.shared == NONE {
                chains.push(start..index + 1);
                start = index + 1;
            }
        }
        chains
    }

    /// Tells the blocks where their joints' points are.
    pub fn place_points(&self, model: &Model, slots: &mut [Slot]) {
        for (link, joint) in self.links.iter().zip(&model.joints) {
            for (end, side) in link.ends.iter().zip([&joint.a, &joint.b]) {
                if end.body != NONE {
                    let (block, lane) = place(end.body as usize);
                    let points = &mut slots[block].ports.point;
                    scatter(&mut points[end.port as usize], lane, &side.point);
                }
            }
        }
    }

    /// Puts the joint forces at the points of a block.
    #[inline(always)]
    pub fn put_forces(&self, block: usize, forces: &[[f64; 3]], at_points: &mut Points) {
        let at = &self.at_ports[block];
        for port in 0..PORTS {
            for lane in 0..LANES {
                let joint = at.joint[port][lane] as usize;
                let force = forces.get(joint).copied().unwrap_or([0.0; 3]);
                scatter(
                    &mut at_points[port],
                    lane,
                    &scale(&force, at.sign[port][lane]),
                );
            }
        }
    }

    /// Right-hand side of the velocity solve: h times the rate at which each joint opens.
    pub fn write_drifts(&self, slots: &[Slot], h: f64, out: &mut [[f64; 3]]) {
        for (link, out) in self.links.iter().zip(out) {
            let mut drift = [0.0; 3];
            for (end, sign) in link.ends.iter().zip([1.0, -1.0]) {
                if end.body != NONE {
                    let (block, lane) = place(end.body as usize);
                    let u: V3 = gather(&slots[block].rates[end.port as usize], lane);
                    for k in 0..3 {
                        drift[k] += h * sign * u[k];
                    }
                }
            }
            *out = drift;
        }
    }
}

impl AtPorts {
    fn new(lanes: &[[(u32, bool); PORTS]]) -> AtPorts {
        let mut at = AtPorts {
            joint: [[NONE; LANES]; PORTS],
            sign: [[0.0; LANES]; PORTS],
        };
        for (lane, ports) in lanes.iter().enumerate() {
            for (port, (joint, first)) in ports.iter().enumerate() {
                at.joint[port][lane] = *joint;
                at.sign[port][lane] = if *first { 1.0 } else { -1.0 };
            }
        }
        at
    }
}

/// The dual system of the links, read off the points of the bodies.
pub(super) struct Nodes<'a> {
    links: &'a [Link],
    slots: &'a [Slot],
}

impl<'a> Nodes<'a> {
    pub fn new(links: &'a Links, slots: &'a [Slot]) -> Nodes<'a> {
        Nodes {
            links: &links.links,
            slots,
        }
    }

    /// The part of one chain.
    pub fn of(&self, chain: &Range<usize>) -> Nodes<'a> {
        Nodes {
            links: &self.links[chain.clone()],
            slots: self.slots,
        }
    }

    /// Right-hand side of the position solve: how far each joint is open, m.
    pub fn write_gaps(&self, out: &mut [[f64; 3]]) {
        for (node, out) in out.iter_mut().enumerate() {
            *out = self.gap(node);
        }
    }

    #[inline(always)]
    fn gap(&self, node: usize) -> V3 {
        let [a, b] = &self.links[node].ends;
        sub(&self.place(a), &self.place(b))
    }

    #[inline(always)]
    fn place(&self, end: &End) -> V3 {
        if end.body == NONE {
            return end.world;
        }
        let (block, lane) = place(end.body as usize);
        gather(&self.slots[block].ports.place[end.port as usize], lane)
    }
}

/// The widest gap of all joints, component by component, m.
pub(super) fn worst_gap(nodes: &Nodes) -> f64 {
    let mut worst = [0.0f64; 3];
    for node in 0..nodes.links.len() {
        let gap = nodes.gap(node);
        for k in 0..3 {
            worst[k] = worst[k].max(gap[k].abs());
        }
    }
    worst[0].max(worst[1]).max(worst[2])
}

impl LineSource for Nodes<'_> {
    #[inline(always)]
    fn diagonal(&self, node: usize) -> [[f64; 3]; 3] {
        let mut sum = [0.0; 6];
        for end in &self.links[node].ends {
            if end.body != NONE {
                let (block, lane) = place(end.body as usize);
                let own: S3 = gather(&self.slots[block].ports.own[end.port as usize], lane);
                for k in 0..6 {
                    sum[k] += own[k];
                }
            }
        }
        [
            [sum[0], sum[3], sum[4]],
            [sum[3], sum[1], sum[5]],
            [sum[4], sum[5], sum[2]],
        ]
    }

    #[inline(always)]
    fn coupling(&self, node: usize) -> [[f64; 3]; 3] {
        let link = &self.links[node];
        if link.shared == NONE {
            return [[0.0; 3]; 3];
        }
        let (block, lane) = place(link.shared as usize);
        let m: M3 = gather(&self.slots[block].ports.mutual, lane);
        let s = link.sign;
        [
            [s * m[0], s * m[1], s * m[2]],
            [s * m[3], s * m[4], s * m[5]],
            [s * m[6], s * m[7], s * m[8]],
        ]
    }
}
