//! Models, random numbers and measures that several tests share.
#![allow(dead_code)] // Each test file is its own crate and uses a part of these.

use vincula::diagnostics::{energy, momentum};
use vincula::joint::JointKind;
use vincula::joint::axis::Spring;
use vincula::prelude::*;

/// Every kind of joint, with a distance of 0.4 m.
pub const KINDS: [JointKind; 10] = [
    JointKind::Ball,
    JointKind::Hinge,
    JointKind::Universal,
    JointKind::Prismatic,
    JointKind::Fixed,
    JointKind::Cylindrical,
    JointKind::Planar,
    JointKind::PointOnLine,
    JointKind::PointOnPlane,
    JointKind::Distance(0.4),
];

/// A repeatable stream of numbers (xorshift64*): tests that need no shrinking.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(
            seed.wrapping_mul(0x9E37_79B9_7F4A_7C15)
                .wrapping_add(0xD1B5_4A32_D192_ED03)
                | 1,
        )
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    /// Uniform in [low, high).
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Uniform below n.
    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    /// Each entry uniform in [−size, size).
    pub fn vector(&mut self, size: f64) -> DVec3 {
        DVec3::new(
            self.between(-size, size),
            self.between(-size, size),
            self.between(-size, size),
        )
    }

    /// A direction.
    pub fn direction(&mut self) -> DVec3 {
        self.vector(1.0).try_normalize().unwrap_or(DVec3::X)
    }
}

/// A link of 0.1 m along x, 20 mm thick.
pub fn link(name: String) -> BodyDef {
    let half_extents = DVec3::new(0.05, 0.01, 0.01);
    BodyDef::new(name, Shape::Box { half_extents }, 1000.0)
}

/// Links in a row from the origin along x, held by ball joints or by hinges about y.
pub fn chain(links: usize, hinged: bool) -> Model {
    let mut builder = ModelBuilder::new();
    let mut before = None;
    for k in 0..links {
        let start = DVec3::X * (0.1 * k as f64);
        let body = builder.body(link(format!("link {k}")).at(start + DVec3::X * 0.05));
        let name = format!("joint {k}");
        let joint = match (hinged, before) {
            (false, None) => JointDef::ball(name, World, body, start),
            (false, Some(before)) => JointDef::ball(name, before, body, start),
            (true, None) => JointDef::hinge(name, World, body, start, DVec3::Y),
            (true, Some(before)) => JointDef::hinge(name, before, body, start, DVec3::Y),
        };
        builder.joint(joint);
        before = Some(body);
    }
    builder.build().unwrap()
}

/// A binary tree of hinged links; the axes alternate between y and z.
pub fn hinge_tree(links: usize) -> Model {
    let mut builder = ModelBuilder::new();
    let mut bodies: Vec<(BodyId, DVec3)> = Vec::new();
    for k in 0..links {
        let start = if k == 0 {
            DVec3::ZERO
        } else {
            bodies[(k - 1) / 2].1
        };
        let side = if k % 2 == 0 { 0.03 } else { -0.03 };
        let center = start + DVec3::new(0.05, side, 0.0);
        let body = builder.body(link(format!("link {k}")).at(center));
        let axis = if k % 3 == 0 { DVec3::Y } else { DVec3::Z };
        let name = format!("joint {k}");
        builder.joint(if k == 0 {
            JointDef::hinge(name, World, body, start, axis)
        } else {
            JointDef::hinge(name, bodies[(k - 1) / 2].0, body, start, axis)
        });
        bodies.push((body, center + DVec3::X * 0.05));
    }
    builder.build().unwrap()
}

/// A tree of rods on ball joints, two at the tip of each.
pub fn ball_tree(links: usize) -> Model {
    sprung_tree(links, Spring::default())
}

/// The same with springs in the joints.
pub fn sprung_tree(links: usize, spring: Spring) -> Model {
    let mut builder = ModelBuilder::new();
    let mut bodies: Vec<(BodyId, DVec3)> = Vec::new();
    for k in 0..links {
        let start = if k == 0 {
            DVec3::ZERO
        } else {
            bodies[(k - 1) / 2].1
        };
        let turn = DQuat::from_rotation_z(0.7 * k as f64);
        let along = turn * (DVec3::X * 0.05);
        let body = builder.body(link(format!("link {k}")).at(start + along).turned(turn));
        let name = format!("joint {k}");
        let def = match k {
            0 => JointDef::ball(name, World, body, start),
            _ => JointDef::ball(name, bodies[(k - 1) / 2].0, body, start),
        };
        builder.joint(def.rotation_spring(spring));
        bodies.push((body, start + along * 2.0));
    }
    builder.build().unwrap()
}

/// A square net of rods tied by ball joints at its nodes, held at two corners.
pub fn ball_net(cells: usize) -> Model {
    let mut builder = ModelBuilder::new();
    let node = |row: usize, column: usize| DVec3::new(0.1 * column as f64, 0.1 * row as f64, 0.0);
    let mut at_node: Vec<(DVec3, BodyId)> = Vec::new();
    let mut count = 0;
    for row in 0..=cells {
        for column in 0..=cells {
            for (down, right) in [(0, 1), (1, 0)] {
                if row + down > cells || column + right > cells {
                    continue;
                }
                let (from, to) = (node(row, column), node(row + down, column + right));
                let turn = if down == 1 {
                    DQuat::from_rotation_z(std::f64::consts::FRAC_PI_2)
                } else {
                    DQuat::IDENTITY
                };
                let rod = link(format!("rod {count}"))
                    .at(0.5 * (from + to))
                    .turned(turn);
                let rod = builder.body(rod);
                count += 1;
                for end in [from, to] {
                    let hub = at_node.iter().find(|(p, _)| p.distance(end) < 1e-9);
                    match hub.map(|(_, body)| *body) {
                        Some(hub) => {
                            let name = format!("joint {count} {end}");
                            builder.joint(JointDef::ball(name, hub, rod, end));
                        }
                        None => at_node.push((end, rod)),
                    }
                }
            }
        }
    }
    for (k, corner) in [node(0, 0), node(0, cells)].into_iter().enumerate() {
        let hub = at_node
            .iter()
            .find(|(p, _)| p.distance(corner) < 1e-9)
            .unwrap()
            .1;
        builder.joint(JointDef::ball(format!("corner {k}"), World, hub, corner));
    }
    builder.build().unwrap()
}

/// Spinning boxes that nothing holds.
pub fn free_boxes(count: usize) -> Model {
    let mut builder = ModelBuilder::new();
    let mut random = Random::new(7);
    for k in 0..count {
        let half_extents = DVec3::new(0.1, 0.07, 0.04);
        let body = BodyDef::new(format!("box {k}"), Shape::Box { half_extents }, 800.0)
            .at(DVec3::X * k as f64)
            .moving(random.vector(1.0), random.vector(5.0));
        builder.body(body);
    }
    builder.build().unwrap()
}

/// A joint of any kind between two ends, at a point, with an axis.
pub fn joint_of(
    name: &str,
    kind: JointKind,
    a: impl Into<vincula::model::Endpoint>,
    b: impl Into<vincula::model::Endpoint>,
    point: DVec3,
    axis: DVec3,
) -> JointDef {
    match kind {
        JointKind::Universal => {
            let second = axis.normalize().any_orthonormal_vector();
            JointDef::universal(name, a, b, point, [axis, second])
        }
        JointKind::Distance(length) => {
            let half = 0.5 * length * axis.normalize();
            JointDef::distance(name, a, b, [point - half, point + half])
        }
        _ => JointDef::new(name, kind, a, b, point, axis),
    }
}

/// Kinetic, potential and elastic energy together, J.
pub fn total_energy(model: &Model, state: &State) -> f64 {
    energy(model, state).total()
}

/// Linear and angular momentum as six numbers.
pub fn six_momenta(model: &Model, state: &State) -> [DVec3; 2] {
    let m = momentum(model, state);
    [m.linear, m.angular]
}

/// Every number of the motion, in order.
pub fn numbers(state: &State) -> impl Iterator<Item = f64> + '_ {
    state
        .blocks()
        .iter()
        .zip(state.memory())
        .flat_map(|(b, m)| {
            let first = b.t.iter().chain(&b.a).chain(&b.v);
            first.chain(&b.w).chain(&m.load).flatten().copied()
        })
}

/// FNV-1a over the bits of the motion.
pub fn hash(state: &State) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for number in numbers(state).chain([state.time]) {
        for byte in number.to_bits().to_le_bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    hash
}

/// Makes steps of length h; panics on the first error.
pub fn run(model: &Model, state: &mut State, work: &mut Workspace, h: f64, steps: usize) {
    let control = Control::new(model);
    for k in 0..steps {
        step(model, state, &control, work, h).unwrap_or_else(|e| panic!("step {k}: {e}"));
    }
}
