//! Which joint ties which points of a chain, and the numbers of the dual system from them.

use std::ops::Range;

use vincula_blocks::Line;

use super::kinds::Kinds;
use super::record::{Slot, WINDOW};
use crate::dual::ports::{NO_POINTS, PORTS, Points};
use crate::joint::JointKind;
use crate::math::lanes::{LANES, gather, place, scatter};
use crate::math::small::*;
use crate::model::Model;

/// No body, or no joint.
const NONE: u32 = u32::MAX;
/// Marks an end that is a point of the world.
const WORLD: u32 = 1 << 31;

/// One end of a joint: twice the body and its port, or the number of a point of the world.
#[derive(Clone, Copy, Debug)]
struct End(u32);

/// Where an end is.
enum Spot {
    World(usize),
    Port {
        block: usize,
        lane: usize,
        port: usize,
    },
}

impl End {
    #[inline(always)]
    fn spot(self) -> Spot {
        if self.0 & WORLD != 0 {
            return Spot::World((self.0 & !WORLD) as usize);
        }
        let (block, lane) = place((self.0 >> 1) as usize);
        let port = (self.0 & 1) as usize;
        Spot::Port { block, lane, port }
    }
}

/// A ball joint of a chain. Small, since every step reads all of them.
#[derive(Clone, Copy, Debug)]
struct Link {
    ends: [End; 2],
    /// The body that this joint and the next one have in common.
    shared: u32,
    /// Sign of their coupling.
    sign: f32,
}

/// The joint at each port of eight bodies, and the sign of its force.
#[derive(Clone, Debug)]
struct AtPorts {
    joint: [[u32; LANES]; PORTS],
    sign: [[i8; LANES]; PORTS],
}

/// Chains of ball joints, bodies and joints numbered along them.
pub(super) struct Links {
    links: Vec<Link>,
    /// Points of the world, m.
    worlds: Vec<V3>,
    at_ports: Vec<AtPorts>,
    /// The blocks of the bodies of each joint: the higher one.
    blocks: Vec<u32>,
    /// The first joint whose higher block is this one, and the end of the last.
    joints: Vec<u32>,
}

/// The joints of a body, by port, and whether it is their first end.
type AtBody = [(u32, bool); PORTS];

impl Links {
    /// The links of a model in which every joint is a plain ball joint, every block of bodies
    /// is held, and joints that share a body, and bodies that share a joint, follow each other;
    /// and the constants of its blocks.
    pub fn find(model: &Model) -> Option<(Links, Kinds)> {
        let rows = 3 * model.joints.len();
        let plain = model.dual_rows() == rows && model.rows() == rows;
        if model.joints.is_empty() || !plain || model.bodies.len() >= WORLD as usize / 2 {
            return None;
        }
        let mut at_body = vec![[(NONE, false); PORTS]; model.bodies.len()];
        let mut links = Links {
            links: Vec::with_capacity(model.joints.len()),
            worlds: Vec::new(),
            at_ports: Vec::new(),
            blocks: Vec::with_capacity(model.joints.len()),
            joints: Vec::new(),
        };
        let mut points = vec![NO_POINTS; model.params.len()];
        for (index, joint) in model.joints.iter().enumerate() {
            if joint.kind != JointKind::Ball {
                return None;
            }
            let mut ends = [End(WORLD); 2];
            let mut at = [usize::MAX, 0];
            for (end, (side, first)) in ends.iter_mut().zip([(&joint.a, true), (&joint.b, false)]) {
                let Some(body) = side.endpoint.index() else {
                    *end = End(WORLD | links.worlds.len() as u32);
                    links.worlds.push(side.point);
                    continue;
                };
                let port = at_body[body].iter().position(|at| at.0 == NONE)?;
                at_body[body][port] = (index as u32, first);
                *end = End((2 * body + port) as u32);
                let (block, lane) = place(body);
                scatter(&mut points[block][port], lane, &side.point);
                at = [at[0].min(block), at[1].max(block)];
            }
            let behind = links
                .blocks
                .last()
                .is_some_and(|last| at[1] < *last as usize);
            if behind || at[1] > at[0] + 1 {
                return None;
            }
            links.blocks.push(at[1] as u32);
            links.links.push(Link {
                ends,
                shared: NONE,
                sign: 0.0,
            });
        }
        links.share_bodies(&at_body)?;
        links.at_ports = at_body.chunks(LANES).map(AtPorts::new).collect();
        links.find_joints(model.params.len());
        Some((links, Kinds::find(model, &points)))
    }

    /// Tells every joint the body that it shares with the next one.
    fn share_bodies(&mut self, at_body: &[AtBody]) -> Option<()> {
        for (body, [first, second]) in at_body.iter().enumerate() {
            if second.0 == NONE {
                continue;
            }
            let link = &mut self.links[first.0 as usize];
            if second.0 != first.0 + 1 || link.shared != NONE {
                return None;
            }
            link.shared = body as u32;
            link.sign = if first.1 == second.1 { 1.0 } else { -1.0 };
        }
        let held = |lanes: &[AtBody]| lanes.iter().any(|at| at[0].0 != NONE);
        at_body.chunks(LANES).all(held).then_some(())
    }

    fn find_joints(&mut self, blocks: usize) {
        let starts = |block: usize| self.blocks.partition_point(|b| (*b as usize) < block) as u32;
        self.joints = (0..=blocks).map(starts).collect();
    }

    /// Joints in all.
    pub fn count(&self) -> usize {
        self.links.len()
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

    /// Whether the bodies of joints that are looked at together fit a window.
    pub fn fits(&self, chain: &Range<usize>) -> bool {
        let ends = chain.clone().map(|k| (k + Line::WINDOW).min(chain.end));
        let mut windows = chain.clone().zip(ends);
        windows.all(|(start, end)| self.blocks_of(&(start..end)).len() <= WINDOW)
    }

    /// The blocks of the bodies of some joints.
    pub fn blocks_of(&self, joints: &Range<usize>) -> Range<usize> {
        let first = self.blocks[joints.start] as usize;
        let lower = |end: &End| matches!(end.spot(), Spot::Port { block, .. } if block < first);
        let back = self.links[joints.start].ends.iter().any(lower);
        first - usize::from(back)..self.blocks[joints.end - 1] as usize + 1
    }

    /// The joints whose bodies are all known as soon as this block is, in the order of blocks.
    #[inline(always)]
    pub fn joints_of(&self, block: usize) -> Range<usize> {
        self.joints[block] as usize..self.joints[block + 1] as usize
    }

    /// Puts the joint forces at the points of a block.
    #[inline(always)]
    pub fn put_forces(&self, block: usize, forces: &[[f64; 3]], at_points: &mut Points) {
        let at = &self.at_ports[block];
        for port in 0..PORTS {
            for lane in 0..LANES {
                let joint = at.joint[port][lane] as usize;
                let force = forces.get(joint).copied().unwrap_or([0.0; 3]);
                let sign = f64::from(at.sign[port][lane]);
                scatter(&mut at_points[port], lane, &scale(&force, sign));
            }
        }
    }
}

impl AtPorts {
    fn new(lanes: &[AtBody]) -> AtPorts {
        let mut at = AtPorts {
            joint: [[NONE; LANES]; PORTS],
            sign: [[0; LANES]; PORTS],
        };
        for (lane, ports) in lanes.iter().enumerate() {
            for (port, (joint, first)) in ports.iter().enumerate() {
                at.joint[port][lane] = *joint;
                at.sign[port][lane] = if *first { 1 } else { -1 };
            }
        }
        at
    }
}

/// The numbers of the joints, read off the slots of their bodies.
impl Links {
    /// How far a joint is open, m. Points of the world are where they are times `world`.
    #[inline(always)]
    pub fn gap<'a>(&self, joint: usize, world: f64, slot: impl Fn(usize) -> &'a Slot) -> V3 {
        let place = |end: End| match end.spot() {
            Spot::World(point) => scale(&self.worlds[point], world),
            Spot::Port { block, lane, port } => gather(&slot(block).ports.place[port], lane),
        };
        let [a, b] = self.links[joint].ends;
        sub(&place(a), &place(b))
    }

    /// h times the rate at which a joint opens, m.
    #[inline(always)]
    pub fn drift<'a>(&self, joint: usize, h: f64, slot: impl Fn(usize) -> &'a Slot) -> V3 {
        let mut drift = [0.0; 3];
        for (end, sign) in self.links[joint].ends.into_iter().zip([1.0, -1.0]) {
            if let Spot::Port { block, lane, port } = end.spot() {
                let u: V3 = gather(&slot(block).rates[port], lane);
                for k in 0..3 {
                    drift[k] += h * sign * u[k];
                }
            }
        }
        drift
    }

    /// Diagonal block of the dual system, m/N.
    #[inline(always)]
    pub fn diagonal<'a>(&self, joint: usize, slot: impl Fn(usize) -> &'a Slot) -> [[f64; 3]; 3] {
        let mut sum = [0.0; 6];
        for end in self.links[joint].ends {
            if let Spot::Port { block, lane, port } = end.spot() {
                let own: S3 = gather(&slot(block).ports.own[port], lane);
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

    /// The block between a joint and the next one, m/N.
    #[inline(always)]
    pub fn coupling<'a>(&self, joint: usize, slot: impl Fn(usize) -> &'a Slot) -> [[f64; 3]; 3] {
        let link = &self.links[joint];
        if link.shared == NONE {
            return [[0.0; 3]; 3];
        }
        let (block, lane) = place(link.shared as usize);
        let m: M3 = gather(&slot(block).ports.mutual, lane);
        let s = f64::from(link.sign);
        [
            [s * m[0], s * m[1], s * m[2]],
            [s * m[3], s * m[4], s * m[5]],
            [s * m[6], s * m[7], s * m[8]],
        ]
    }
}
