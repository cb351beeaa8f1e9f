//! The linkage of Peaucellier and Lipkin: seven bars that draw a straight line.
//!
//! Two long bars OA, OC and a rhombus ABCD invert the point B in a circle about O:
//! `OB · OD = L² − s²`. A crank QB with QB = OQ = r keeps B on a circle through O, whose
//! inverse is a line: D stays at the depth `(L² − s²) / 2r` below O. The linkage hangs and
//! swings; it is planar, so in space nine of its fifty rows are redundant.

use glam::DVec3;
use vincula::prelude::*;

use super::linkage::{Linkage, with_rates};
use crate::error::SceneError;
use crate::gallery::Entry;
use crate::param::Param;
use crate::scene::{Probe, Scene};
use crate::values::Values;

pub(super) const ENTRY: Entry = Entry {
    name: "peaucellier",
    summary: "Seven bars on ten hinges draw a straight line",
    figure: "",
    params: &[
        Param::step(0.001),
        Param::duration(10.0),
        Param::float(
            "speed",
            0.8,
            (-1.2, 1.2),
            "m/s",
            "speed of the drawing point at the start",
        ),
        // Carbon fibre: at 1 GPa the bars give way by tens of micrometres.
        Param::float("density", 1600.0, (1e-3, 1e6), "kg/m³", "density"),
        Param::gravity(),
        Param::float(
            "young",
            2e11,
            (1e3, 1e15),
            "Pa",
            "Young's modulus of the bodies",
        ),
    ],
    make,
};

/// Length of OA and OC, of the sides of the rhombus, and of the crank, m.
const LONG: f64 = 0.6;
const SIDE: f64 = 0.25;
const CRANK: f64 = 0.22;
/// `OB · OD`, m².
const POWER: f64 = LONG * LONG - SIDE * SIDE;
/// Edge of the square section of the bars, m.
const WIDTH: f64 = 0.02;
const O: DVec3 = DVec3::ZERO;
const Q: DVec3 = DVec3::new(0.0, 0.0, -CRANK);

/// A, B, C and D when OB leans by `lean` from straight down.
fn corners(lean: f64) -> [DVec3; 4] {
    let down = DVec3::new(lean.sin(), 0.0, -lean.cos());
    let aside = DVec3::new(lean.cos(), 0.0, lean.sin());
    let near = 2.0 * CRANK * lean.cos();
    let far = POWER / near;
    let middle = 0.5 * (near + far);
    let half_width = (LONG * LONG - middle * middle).sqrt();
    [
        down * middle + aside * half_width,
        down * near,
        down * middle - aside * half_width,
        down * far,
    ]
}

fn make(values: &Values) -> Result<Scene, SceneError> {
    let depth = POWER / (2.0 * CRANK);
    // D = (depth tan lean, 0, −depth): hanging, its speed is depth times the rate of lean.
    let ([a, b, c, d], [va, vb, vc, vd]) = with_rates(corners, 0.0, values.float("speed") / depth);
    let rest = DVec3::ZERO;
    let mut bars = Linkage::new(values, values.float("density"));
    let mut bar = |name: &str, from: (DVec3, DVec3), to: (DVec3, DVec3)| {
        bars.moving_rod(name, [from.0, to.0], [from.1, to.1], WIDTH)
    };
    let oa = bar("OA", (O, rest), (a, va));
    let oc = bar("OC", (O, rest), (c, vc));
    let ab = bar("AB", (a, va), (b, vb));
    let bc = bar("BC", (b, vb), (c, vc));
    let cd = bar("CD", (c, vc), (d, vd));
    let da = bar("DA", (d, vd), (a, va));
    let qb = bar("QB", (Q, rest), (b, vb));
    bars.join(JointDef::hinge("O-OA", World, oa, O, DVec3::Y));
    bars.join(JointDef::hinge("O-OC", World, oc, O, DVec3::Y));
    bars.join(JointDef::hinge("Q-QB", World, qb, Q, DVec3::Y));
    for (name, first, second, at) in [
        ("A-OA-AB", oa, ab, a),
        ("A-OA-DA", oa, da, a),
        ("C-OC-BC", oc, bc, c),
        ("C-OC-CD", oc, cd, c),
        ("B-QB-AB", qb, ab, b),
        ("B-QB-BC", qb, bc, b),
        ("D-CD-DA", cd, da, d),
    ] {
        bars.join(JointDef::hinge(name, first, second, at, DVec3::Y));
    }
    // D is the first end of DA.
    let drawn = move |view: &crate::scene::View| {
        let pose = view.state.pose(view.model, da);
        pose.point(DVec3::X * (-0.5 * SIDE))
    };
    Ok(bars
        .scene(ENTRY.name, values)?
        .probe(Probe::new(
            "x",
            "the drawing point along the line",
            "m",
            move |view| drawn(view).x,
        ))
        .probe(
            Probe::new(
                "deviation",
                "the drawing point off the line",
                "m",
                move |view| drawn(view).z + depth,
            )
            .against(|_| 0.0),
        ))
}
