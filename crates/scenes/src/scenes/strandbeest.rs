//! Theo Jansen's walking machine: legs of his published proportions on a common crank shaft.
//!
//! The lengths are those he calls the holy numbers, here in centimetres. A crank of length m
//! turns in the frame; a and l place the fixed pivot of a leg. From the crank pin two rods lead
//! to the leg: j to the upper triangle (b, d, e), which turns about the pivot, and k to the end
//! of the lower link c, which turns about it too. The rod f ties the upper triangle to the
//! foot triangle (g, h, i), which hangs on the end of c.
//!
//! A leg has six bodies and nine hinges, 45 rows. Legs come in pairs, one on each side of the
//! shaft, and pairs follow each other at a third of a turn. The machine is dropped on the
//! ground, where its feet are spheres, with a multiple of its mass added to the frame.

use std::f64::consts::TAU;

use glam::{DQuat, DVec3};
use vincula::body::shape::Part;
use vincula::contact::{ColliderDef, Surface};
use vincula::prelude::*;

use super::linkage::{Linkage, along};
use crate::error::SceneError;
use crate::gallery::Entry;
use crate::param::Param;
use crate::scene::{Probe, Scene};
use crate::values::Values;

pub(super) const ENTRY: Entry = Entry {
    name: "strandbeest",
    summary: "A walking machine with many legs is dropped on the ground",
    figure: "Tomcin Fig. 6(b)",
    params: &[
        Param::step(0.02),
        Param::duration(5.0),
        Param::int("legs", 12, (2, 200), "number of legs; pairs share a crank"),
        Param::float("height", 0.4, (0.0, 10.0), "m", "height of the lowest foot"),
        Param::float(
            "load",
            0.0,
            (0.0, 1000.0),
            "",
            "mass added to the frame, as a multiple of all other mass",
        ),
        Param::float("friction", 0.6, (0.0, 10.0), "", "friction of the feet"),
        Param::float("density", 600.0, (1e-3, 1e6), "kg/m³", "density"),
        Param::gravity(),
        Param::float(
            "young",
            1e11,
            (1e3, 1e15),
            "Pa",
            "Young's modulus of the bodies",
        ),
    ],
    make,
};

/// Jansen's lengths, m.
const A: f64 = 0.380;
const B: f64 = 0.415;
const C: f64 = 0.393;
const D: f64 = 0.401;
const E: f64 = 0.558;
const F: f64 = 0.394;
const G: f64 = 0.367;
const H: f64 = 0.657;
const I: f64 = 0.490;
const J: f64 = 0.500;
const K: f64 = 0.619;
const L: f64 = 0.078;
const M: f64 = 0.150;

/// Edge of the square section of the bars, radius of the feet and distance of pairs, m.
const WIDTH: f64 = 0.02;
const FOOT: f64 = 0.03;
const PITCH: f64 = 0.12;

/// The points of a leg, in its plane.
struct Leg {
    pin: DVec3,
    pivot: DVec3,
    /// Where j meets the upper triangle, and where the upper triangle meets f.
    shoulder: DVec3,
    hip: DVec3,
    /// The end of c, and where f meets the foot triangle.
    knee: DVec3,
    heel: DVec3,
    foot: DVec3,
}

impl Leg {
    /// A leg on the side −1 or +1 at a turn of the crank, rad; the shaft is at the origin.
    fn new(side: f64, turn: f64) -> Leg {
        let pin = DVec3::new(turn.cos(), 0.0, turn.sin()) * M;
        let pivot = DVec3::new(side * A, 0.0, -L);
        let outwards = DVec3::X * side;
        let shoulder = meet((pin, J), (pivot, B), DVec3::Z);
        let hip = meet((shoulder, E), (pivot, D), outwards);
        let knee = meet((pin, K), (pivot, C), DVec3::NEG_Z);
        let heel = meet((hip, F), (knee, G), outwards);
        let foot = meet((heel, H), (knee, I), DVec3::NEG_Z);
        Leg {
            pin,
            pivot,
            shoulder,
            hip,
            knee,
            heel,
            foot,
        }
    }

    fn moved(&self, by: DVec3) -> Leg {
        Leg {
            pin: self.pin + by,
            pivot: self.pivot + by,
            shoulder: self.shoulder + by,
            hip: self.hip + by,
            knee: self.knee + by,
            heel: self.heel + by,
            foot: self.foot + by,
        }
    }
}

/// Where two circles in the plane y = 0 meet, each given by centre and radius; of the two
/// points, the one further along `towards`.
fn meet(first: (DVec3, f64), second: (DVec3, f64), towards: DVec3) -> DVec3 {
    let ((p, r), (q, s)) = (first, second);
    let d = (q - p).length();
    let u = (q - p) / d;
    let x = (d * d + r * r - s * s) / (2.0 * d);
    let y = (r * r - x * x).max(0.0).sqrt();
    let across = DVec3::new(-u.z, 0.0, u.x) * y;
    let points = [p + u * x + across, p + u * x - across];
    if points[0].dot(towards) > points[1].dot(towards) {
        points[0]
    } else {
        points[1]
    }
}

/// Square bars between points as one shape, about an origin.
fn bars(origin: DVec3, spans: &[[DVec3; 2]]) -> Shape {
    let part = |span: &[DVec3; 2]| {
        let length = (span[1] - span[0]).length();
        Part {
            translation: 0.5 * (span[0] + span[1]) - origin,
            rotation: along(span[1] - span[0]),
            shape: Shape::Box {
                half_extents: 0.5 * DVec3::new(length, WIDTH, WIDTH),
            },
            relative_density: None,
        }
    };
    Shape::Compound(spans.iter().map(part).collect())
}

/// Adds a leg and the hinges within it, and to crank and frame.
fn add_leg(beest: &mut Linkage, values: &Values, name: &str, leg: &Leg, body: [BodyId; 2]) {
    let density = values.float("density");
    let [frame, crank] = body;
    let upper = [
        [leg.pivot, leg.shoulder],
        [leg.pivot, leg.hip],
        [leg.shoulder, leg.hip],
    ];
    let lower = [
        [leg.knee, leg.heel],
        [leg.heel, leg.foot],
        [leg.knee, leg.foot],
    ];
    let mut triangle = |part: &str, origin: DVec3, spans: &[[DVec3; 2]]| {
        let shape = bars(origin, spans);
        beest.add(BodyDef::new(format!("{name}-{part}"), shape, density).at(origin))
    };
    let upper = triangle("upper", leg.pivot, &upper);
    let shank = triangle("shank", leg.knee, &lower);
    let rod_j = beest.rod(format!("{name}-j"), [leg.pin, leg.shoulder], WIDTH);
    let rod_k = beest.rod(format!("{name}-k"), [leg.pin, leg.knee], WIDTH);
    let rod_c = beest.rod(format!("{name}-c"), [leg.pivot, leg.knee], WIDTH);
    let rod_f = beest.rod(format!("{name}-f"), [leg.hip, leg.heel], WIDTH);
    let hinges = [
        ("pin-j", crank, rod_j, leg.pin),
        ("pin-k", crank, rod_k, leg.pin),
        ("shoulder", rod_j, upper, leg.shoulder),
        ("pivot", frame, upper, leg.pivot),
        ("pivot-c", frame, rod_c, leg.pivot),
        ("knee", rod_c, rod_k, leg.knee),
        ("knee-shank", rod_c, shank, leg.knee),
        ("hip", upper, rod_f, leg.hip),
        ("heel", rod_f, shank, leg.heel),
    ];
    for (joint, a, b, point) in hinges {
        beest.join(JointDef::hinge(
            format!("{name}-{joint}"),
            a,
            b,
            point,
            DVec3::Y,
        ));
    }
    let sphere = Shape::Sphere { radius: FOOT };
    beest.builder.collider(
        ColliderDef::new(format!("{name}-foot"), shank, sphere)
            .at(leg.foot - leg.knee)
            .surface(Surface::with_friction(values.float("friction"))),
    );
}

fn make(values: &Values) -> Result<Scene, SceneError> {
    let count = values.int("legs");
    let density = values.float("density");
    let legs: Vec<Leg> = (0..count)
        .map(|leg| {
            let side = if leg % 2 == 0 { -1.0 } else { 1.0 };
            Leg::new(side, TAU * ((leg / 2) as f64 / 3.0 + 0.02))
        })
        .collect();
    let lowest = legs
        .iter()
        .map(|leg| leg.foot.z)
        .fold(f64::INFINITY, f64::min);
    let lift = DVec3::Z * (values.float("height") + FOOT - lowest);
    let mut beest = Linkage::new(values, density);
    let width = PITCH * (count.div_ceil(2) + 1) as f64;
    let middle = lift + DVec3::Y * (0.5 * width - PITCH);
    let place = |leg: usize| lift + DVec3::Y * (PITCH * (leg / 2) as f64);
    // The mass of the rest must be known before the frame can be made a multiple of it.
    let rest = mass_of_rest(values, &legs);
    let shape = Shape::Box {
        half_extents: DVec3::new(A, 0.5 * width, 0.5 * WIDTH),
    };
    let empty = density * 2.0 * A * width * WIDTH;
    let mass = empty + values.float("load") * (rest + empty);
    let frame = beest.add(BodyDef::new("frame", shape, density).mass(mass).at(middle));
    let shaft = Shape::Cylinder {
        radius: M,
        half_length: 0.5 * width,
    };
    // A hollow shaft with its cranks: a cylinder of a tenth of the density.
    let crank = beest.add(
        BodyDef::new("crank", shaft, 0.1 * density)
            .at(middle)
            .turned(DQuat::from_rotation_x(0.25 * TAU)),
    );
    beest.join(JointDef::hinge("shaft", frame, crank, middle, DVec3::Y));
    for (index, leg) in legs.iter().enumerate() {
        let leg = leg.moved(place(index));
        add_leg(
            &mut beest,
            values,
            &format!("leg-{index}"),
            &leg,
            [frame, crank],
        );
    }
    let surface = Surface::with_friction(values.float("friction"));
    beest
        .builder
        .collider(ColliderDef::ground("ground", 0.0).surface(surface));
    Ok(beest.scene(ENTRY.name, values)?.probe(Probe::new(
        "frame-height",
        "height of the frame",
        "m",
        move |view| view.state.center(frame).z,
    )))
}

/// Mass of the legs and of the shaft, kg.
fn mass_of_rest(values: &Values, legs: &[Leg]) -> f64 {
    let density = values.float("density");
    let section = WIDTH * WIDTH * density;
    let lengths = B + D + E + G + H + I + J + K + C + F;
    let width = PITCH * (legs.len().div_ceil(2) + 1) as f64;
    let shaft = 0.1 * density * 0.5 * TAU * M * M * width;
    section * lengths * legs.len() as f64 + shaft
}
