//! Random chains, trees, rings and nets of stiff, light rods at long steps: every step
//! succeeds, and the joints stay closed.
//!
//! Rods of 0.01 to 1 m, E from 1e7 to 1e11 Pa, steps from 1 ms to 1/30 s, one rod in eight up
//! to a thousand times as heavy as the others. Mechanisms whose own weight would strain a rod
//! by more than a thousandth are left out.

mod common;

use common::{Random, numbers};
use std::f64::consts::{PI, TAU};
use vincula::diagnostics::worst_gap;
use vincula::prelude::*;

/// What all rods of a mechanism share.
struct Rods {
    builder: ModelBuilder,
    length: f64,
    width: f64,
    young: f64,
    heavy: f64,
    named: usize,
    mass: f64,
}

fn decades(random: &mut Random, low: f64, high: f64) -> f64 {
    random.between(low.ln(), high.ln()).exp()
}

impl Rods {
    fn new(random: &mut Random, shortest: f64) -> Rods {
        let length = decades(random, shortest, 1.0);
        Rods {
            builder: ModelBuilder::new(),
            length,
            width: length * random.between(0.05, 0.3),
            young: decades(random, 1e7, 1e11),
            heavy: decades(random, 1.0, 1000.0),
            named: 0,
            mass: 0.0,
        }
    }

    fn name(&mut self) -> String {
        self.named += 1;
        format!("part {}", self.named)
    }

    fn rod(&mut self, random: &mut Random, from: DVec3, to: DVec3) -> BodyId {
        let span = to - from;
        let ratio = if random.below(8) == 0 {
            self.heavy
        } else {
            1.0
        };
        let half_extents = 0.5 * DVec3::new(span.length(), self.width, self.width);
        let mass = ratio * 1000.0 * span.length() * self.width * self.width;
        self.mass += mass;
        let rod = BodyDef::new(self.name(), Shape::Box { half_extents }, 1000.0).mass(mass);
        let turn = DQuat::from_rotation_arc(DVec3::X, span.normalize());
        let rod = rod.at(0.5 * (from + to)).turned(turn);
        self.builder
            .body(rod.material(Material::with_young(self.young)))
    }

    fn node(&mut self, at: DVec3) -> BodyId {
        let shape = Shape::Sphere { radius: self.width };
        self.mass += 4000.0 / 3.0 * PI * self.width.powi(3);
        let node = BodyDef::new(self.name(), shape, 1000.0).at(at);
        self.builder
            .body(node.material(Material::with_young(self.young)))
    }

    fn tie(&mut self, a: Option<BodyId>, b: BodyId, at: DVec3) {
        let name = self.name();
        self.builder.joint(match a {
            None => JointDef::ball(name, World, b, at),
            Some(a) => JointDef::ball(name, a, b, at),
        });
    }
}

fn grow(random: &mut Random, rods: &mut Rods, branching: bool) {
    let mut made: Vec<(BodyId, DVec3)> = Vec::new();
    for k in 0..3 + random.below(40) {
        let parent = match (k, branching) {
            (0, _) => None,
            (_, false) => Some(made[k - 1]),
            (_, true) => Some(made[random.below(k)]),
        };
        let from = parent.map_or(DVec3::ZERO, |p| p.1);
        let to = from + rods.length * random.direction();
        let rod = rods.rod(random, from, to);
        rods.tie(parent.map(|p| p.0), rod, from);
        made.push((rod, to));
    }
}

fn close_ring(random: &mut Random, rods: &mut Rods) {
    let links = 3 + random.below(30);
    let radius = 0.5 * rods.length / (PI / links as f64).sin();
    let tilt = DQuat::from_scaled_axis(random.direction() * 2.0);
    let at = |k: usize| {
        let (sin, cos) = (TAU * k as f64 / links as f64).sin_cos();
        tilt * DVec3::new(radius * cos, radius * sin, 0.0)
    };
    let bodies: Vec<BodyId> = (0..links)
        .map(|k| rods.rod(random, at(k), at(k + 1)))
        .collect();
    for k in 0..links {
        rods.tie(Some(bodies[k]), bodies[(k + 1) % links], at(k + 1));
    }
    rods.tie(None, bodies[0], at(0));
}

fn knot(random: &mut Random, rods: &mut Rods) {
    let (rows, columns) = (2 + random.below(5), 1 + random.below(5));
    let tilt = DQuat::from_scaled_axis(random.direction() * random.between(0.0, 2.0));
    let length = rods.length;
    let at = |i: usize, j: usize| tilt * (DVec3::new(i as f64, j as f64, 0.0) * length);
    let nodes: Vec<BodyId> = (0..rows * columns)
        .map(|k| rods.node(at(k / columns, k % columns)))
        .collect();
    for j in 0..columns {
        rods.tie(None, nodes[j], at(0, j));
    }
    for (i, j) in (0..rows).flat_map(|i| (0..columns).map(move |j| (i, j))) {
        for (k, l) in [(i, j + 1), (i + 1, j)] {
            if k < rows && l < columns {
                let rod = rods.rod(random, at(i, j), at(k, l));
                rods.tie(Some(nodes[i * columns + j]), rod, at(i, j));
                rods.tie(Some(nodes[k * columns + l]), rod, at(k, l));
            }
        }
    }
}

/// Makes 100 steps of every mechanism that is stiff enough to carry itself.
fn shake(seeds: u64, shortest: f64, make: impl Fn(&mut Random, &mut Rods)) {
    let mut tried = 0;
    for seed in 0..seeds {
        let mut random = Random::new(seed);
        let h = decades(&mut random, 1e-3, 1.0 / 30.0);
        let mut rods = Rods::new(&mut random, shortest);
        make(&mut random, &mut rods);
        if rods.mass * 9.81 > 1e-3 * rods.young * rods.width * rods.width {
            continue;
        }
        tried += 1;
        let model = rods.builder.build().expect("a model");
        let mut state = model.initial_state();
        let mut work = Workspace::new(&model, Settings::default());
        let control = Control::new(&model);
        for k in 0..100 {
            let report = step(&model, &mut state, &control, &mut work, h);
            assert!(report.is_ok(), "seed {seed}, step {k}: {report:?}");
            assert!(numbers(&state).all(f64::is_finite), "seed {seed}, step {k}");
            let gap = worst_gap(&model, &state).0;
            assert!(gap <= 1e-9, "seed {seed}, step {k}: gap {gap:.1e} m");
        }
    }
    assert!(tried >= seeds / 3, "only {tried} of {seeds} were tried");
}

#[test]
fn chains_stay_closed() {
    shake(120, 0.01, |random, rods| grow(random, rods, false));
}

#[test]
fn trees_stay_closed() {
    shake(120, 0.01, |random, rods| grow(random, rods, true));
}

#[test]
fn rings_stay_closed() {
    shake(120, 0.01, close_ring);
}

#[test]
fn nets_stay_closed() {
    shake(120, 0.1, knot);
}
