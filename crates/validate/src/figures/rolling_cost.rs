//! Fig. 2: what a step of a rolling cylinder costs, affine against rigid.
//!
//! All methods see the same floor: a damped spring with friction proportional to slip up to
//! 0.3 m/s, at the lowest point. Each repetition runs all of them in turn, so that a slow spell
//! of the machine slows them alike; what counts are ratios of medians. A step is a call on a
//! body in memory, as in an engine with many bodies.

use std::f64::consts::FRAC_PI_2;
use std::hint::black_box;
use std::time::Instant;

use glam::{DQuat, DVec3};
use vincula::body::rigid::{self, RigidBody, RigidError, Wrench};
use vincula::model::{Pose, Twist};
use vincula::prelude::{MassProperties, Material, Shape};
use vincula_classic::corotated::Corotated;
use vincula_classic::single::{PointForce, SingleBody, SingleError};
use vincula_classic::vanilla_abd::step_vanilla;
use vincula_exchange::{Figure, Plot, Series};

use super::Drawn;
use super::compare::GRID;
use crate::motion::Outcome;
use crate::row::align;

const RADIUS: f64 = 0.1;
const GRAVITY: f64 = 9.81;
/// Spring (N/m) and damper (N s/m) of the floor.
const SPRING: f64 = 2e4;
const DAMPER: f64 = 50.0;
const FRICTION: f64 = 0.5;
/// Square of the slip at which friction is full, m²/s².
const FULL_SLIP: f64 = 0.09;
const STEP: f64 = 0.01;
const STEPS: usize = 10_000;
const REPETITIONS: usize = 25;

const METHODS: [&str; 5] = [
    "co-rotated ABD, no polar",
    "co-rotated ABD, polar",
    "vanilla ABD",
    "explicit rigid",
    "implicit rigid",
];
/// The paper's times for 10,000 steps, ms.
const PAPER: [f64; 5] = [27.0, 34.0, 161.0, 32.0, 44.0];
const PLAIN: usize = 0;
const VANILLA: usize = 2;
const EXPLICIT: usize = 3;

/// A cylinder that rolls along x.
#[derive(Clone, Copy)]
struct Roller {
    single: SingleBody,
    rigid: RigidBody,
}

impl Roller {
    fn new() -> Outcome<Roller> {
        let shape = Shape::Cylinder {
            radius: RADIUS,
            half_length: 0.1,
        };
        let mass = MassProperties::from_shape(&shape, 1000.0)?;
        let rotation = DQuat::from_rotation_x(FRAC_PI_2);
        let pose = Pose {
            translation: DVec3::Z * RADIUS,
            rotation,
        };
        let twist = Twist {
            linear: DVec3::X,
            angular: DVec3::Y / RADIUS,
        };
        let single = SingleBody::new(Material::default().affine(&mass), pose, twist);
        let rigid = RigidBody {
            mass: mass.mass,
            inertia: mass.inertia(),
            x: pose.translation,
            q: rotation,
            v: twist.linear,
            omega: twist.angular,
        };
        Ok(Roller { single, rigid })
    }
}

/// The floor on a rigid body.
#[inline(always)]
fn floor_on_rigid(body: &RigidBody, _: f64) -> Wrench {
    let arm = DVec3::new(0.0, 0.0, -RADIUS);
    let slip = body.v + body.omega.cross(arm);
    let press = (SPRING * (RADIUS - body.x.z) - DAMPER * body.v.z).max(0.0);
    let size = (slip.x * slip.x + slip.y * slip.y).max(FULL_SLIP).sqrt();
    let grip = DVec3::new(-slip.x, -slip.y, 0.0) * (FRICTION * press / size);
    let force = grip + DVec3::Z * press;
    Wrench {
        force: force - DVec3::Z * (GRAVITY * body.mass),
        torque: arm.cross(force),
    }
}

/// The floor on an affine body that touches it at the material point whose image hangs
/// lowest, −r times the last row of the map.
#[inline(always)]
fn floor_on_affine(body: &SingleBody, row: [f64; 3]) -> PointForce {
    let point = [-RADIUS * row[0], -RADIUS * row[1], -RADIUS * row[2]];
    let slip = body.point_velocity(&point);
    let press = (SPRING * (RADIUS - body.t[2]) - DAMPER * body.v[2]).max(0.0);
    let size = (slip[0] * slip[0] + slip[1] * slip[1])
        .max(FULL_SLIP)
        .sqrt();
    let grip = FRICTION * press / size;
    PointForce {
        central: [0.0, 0.0, -GRAVITY * body.affine.mass],
        force: [-slip[0] * grip, -slip[1] * grip, press],
        point,
    }
}

#[inline(always)]
fn floor_now(body: &SingleBody) -> PointForce {
    floor_on_affine(body, [body.q[2][0], body.q[2][1], body.q[2][2]])
}

/// An implicit step applies the force at its end: the lowest point there, not the one that
/// was lowest before and has turned up since, or the floor would drive the cylinder. For a
/// steady turn by θ the rows of the map follow `r⁺ = 2 cos θ r − r⁻`.
#[inline(always)]
fn floor_ahead(body: &SingleBody) -> PointForce {
    let now = [body.q[2][0], body.q[2][1], body.q[2][2]];
    let past: [f64; 3] = std::array::from_fn(|k| now[k] - STEP * body.rate[2][k]);
    let dot = |x: &[f64; 3], y: &[f64; 3]| x[0] * y[0] + x[1] * y[1] + x[2] * y[2];
    let twice = 2.0 * dot(&now, &past) / dot(&now, &now);
    floor_on_affine(body, std::array::from_fn(|k| twice * now[k] - past[k]))
}

/// How the steps follow each other.
#[derive(Clone, Copy, PartialEq)]
enum Flow {
    /// Each step is a call on a body in memory, as in an engine with many bodies.
    Called,
    /// The compiler merges all steps of the one body into one loop.
    Merged,
}

#[inline(never)]
fn call_plain(body: &mut SingleBody, matrix: &Corotated) -> Result<(), SingleError> {
    matrix.step_normalised(body, &floor_now)
}

#[inline(never)]
fn call_polar(body: &mut SingleBody, matrix: &Corotated) -> Result<(), SingleError> {
    matrix.step_polar(body, &floor_now)
}

#[inline(never)]
fn call_vanilla(body: &mut SingleBody) -> Result<(), SingleError> {
    step_vanilla(body, &floor_ahead, STEP).map(drop)
}

#[inline(never)]
fn call_explicit(body: &mut RigidBody) -> Result<(), RigidError> {
    rigid::step_symplectic(body, &floor_on_rigid, 0.0, STEP)
}

#[inline(never)]
fn call_implicit(body: &mut RigidBody) -> Result<(), RigidError> {
    rigid::step_implicit(body, &floor_on_rigid, 0.0, STEP)
}

/// All steps of an affine method.
fn advance_affine(method: usize, flow: Flow, b: &mut SingleBody) -> Result<(), SingleError> {
    let matrix = black_box(Corotated::new(b, STEP)?);
    let mut steps = 0..STEPS;
    // A law of its own type for each loop: a step used once is one the compiler inlines.
    let now = |b: &SingleBody| floor_now(b);
    let ahead = |b: &SingleBody| floor_ahead(b);
    match (method, flow) {
        (0, Flow::Called) => steps.try_for_each(|_| call_plain(b, &matrix)),
        (0, Flow::Merged) => steps.try_for_each(|_| matrix.step_normalised(b, &now)),
        (1, Flow::Called) => steps.try_for_each(|_| call_polar(b, &matrix)),
        (1, Flow::Merged) => steps.try_for_each(|_| matrix.step_polar(b, &now)),
        (_, Flow::Called) => steps.try_for_each(|_| call_vanilla(b)),
        (_, Flow::Merged) => steps.try_for_each(|_| step_vanilla(b, &ahead, STEP).map(drop)),
    }
}

/// All steps of a rigid method.
fn advance_rigid(method: usize, flow: Flow, b: &mut RigidBody) -> Result<(), RigidError> {
    let mut steps = 0..STEPS;
    let law = |b: &RigidBody, t: f64| floor_on_rigid(b, t);
    match (method, flow) {
        (EXPLICIT, Flow::Called) => steps.try_for_each(|_| call_explicit(b)),
        (EXPLICIT, Flow::Merged) => {
            steps.try_for_each(|_| rigid::step_symplectic(b, &law, 0.0, STEP))
        }
        (_, Flow::Called) => steps.try_for_each(|_| call_implicit(b)),
        (_, Flow::Merged) => steps.try_for_each(|_| rigid::step_implicit(b, &law, 0.0, STEP)),
    }
}

/// Time (s) of all steps by one method, and speed and spin at the end.
fn run(method: usize, start: &Roller, flow: Flow) -> Outcome<(f64, f64, f64)> {
    let mut roller = black_box(*start);
    let clock = Instant::now();
    if method < EXPLICIT {
        advance_affine(method, flow, &mut roller.single)?;
        let time = clock.elapsed().as_secs_f64();
        let twist = roller.single.twist();
        return Ok((time, twist.linear.x, twist.angular.y));
    }
    advance_rigid(method, flow, &mut roller.rigid)?;
    let time = clock.elapsed().as_secs_f64();
    Ok((time, roller.rigid.v.x, roller.rigid.omega.y))
}

pub fn draw() -> Outcome<Drawn> {
    let start = Roller::new()?;
    let mut times = vec![Vec::new(); METHODS.len()];
    let mut merged = vec![Vec::new(); METHODS.len()];
    let mut ends = [(0.0, 0.0); 5];
    for _ in 0..REPETITIONS {
        for method in 0..METHODS.len() {
            let (time, speed, spin) = run(method, &start, Flow::Called)?;
            times[method].push(time * 1e9 / STEPS as f64);
            ends[method] = (speed, spin);
            let (time, ..) = run(method, &start, Flow::Merged)?;
            merged[method].push(time * 1e9 / STEPS as f64);
        }
    }
    let medians: Vec<f64> = times.iter().map(|t| median(t)).collect();
    let loops: Vec<f64> = merged.iter().map(|t| median(t)).collect();
    print_table(&medians, &loops, &ends);
    let holds = judge(&medians) & rolls(&ends);
    Ok(Drawn {
        figure: figure(&times, &medians),
        holds,
        table: None,
    })
}

/// Every method must still roll, or its time means nothing. It may have lost speed: implicit
/// Euler does.
fn rolls(ends: &[(f64, f64)]) -> bool {
    let rolling = |&(speed, spin): &(f64, f64)| {
        (0.05..1.05).contains(&speed) && (speed - RADIUS * spin).abs() < 0.02 * speed
    };
    for (name, end) in METHODS.iter().zip(ends).filter(|(_, end)| !rolling(end)) {
        let surface = RADIUS * end.1;
        println!(
            "{name}: does not roll, v = {:.3} m/s and r ω = {surface:.3} m/s",
            end.0
        );
    }
    ends.iter().all(rolling)
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}

fn print_table(medians: &[f64], loops: &[f64], ends: &[(f64, f64)]) {
    let headings = [
        "method",
        "ns/step",
        "ratio",
        "paper's ratio",
        "merged ns/step",
        "merged ratio",
        "v [m/s]",
        "r ω [m/s]",
    ];
    let rows: Vec<Vec<String>> = (0..METHODS.len())
        .map(|k| {
            vec![
                METHODS[k].to_owned(),
                format!("{:.1}", medians[k]),
                format!("{:.2}", medians[k] / medians[EXPLICIT]),
                format!("{:.2}", PAPER[k] / PAPER[EXPLICIT]),
                format!("{:.1}", loops[k]),
                format!("{:.2}", loops[k] / loops[EXPLICIT]),
                format!("{:.4}", ends[k].0),
                format!("{:.4}", RADIUS * ends[k].1),
            ]
        })
        .collect();
    print!("{}", align(&headings, &rows));
    println!(
        "medians of {REPETITIONS} interleaved repetitions; ratios to explicit rigid; merged: all steps of"
    );
    println!("the one body inlined into one loop, where its mass and inertia are constants");
}

/// The two ratios that are promised.
fn judge(medians: &[f64]) -> bool {
    let cheap = medians[PLAIN] / medians[EXPLICIT];
    let slow = medians[VANILLA] / medians[PLAIN];
    let word = |holds: bool| if holds { "pass" } else { "FAIL" };
    println!(
        "no polar / explicit rigid = {cheap:.2}, at most 0.85: {}",
        word(cheap <= 0.85)
    );
    println!(
        "vanilla / no polar = {slow:.2}, at least 4: {}",
        word(slow >= 4.0)
    );
    cheap <= 0.85 && slow >= 4.0
}

fn figure(times: &[Vec<f64>], medians: &[f64]) -> Figure {
    let bars = (0..METHODS.len()).map(|k| bar(METHODS[k], k as f64, medians[k]));
    let ground = Series {
        color: Some(GRID),
        ..Series::new("", vec![(-0.7, 0.0), (4.7, 0.0)])
    };
    let lines = (0..METHODS.len()).map(|k| {
        let points = times[k].iter().enumerate();
        Series::new(
            METHODS[k],
            points.map(|(i, t)| (i as f64, *t)).collect::<Vec<_>>(),
        )
    });
    Figure::new("Rolling cylinder, 10,000 steps of 10 ms (Fig. 2)").row(vec![
        Plot {
            title: "median".to_owned(),
            x_label: "method, in the order of the legend".to_owned(),
            y_label: "time per step [ns]".to_owned(),
            series: bars.chain([ground]).collect(),
            ..Plot::default()
        },
        Plot {
            title: "every repetition".to_owned(),
            x_label: "repetition".to_owned(),
            y_label: "time per step [ns]".to_owned(),
            series: lines.collect(),
            y_log: true,
            ..Plot::default()
        },
    ])
}

/// A bar as a line that goes up and down densely.
fn bar(name: &str, at: f64, height: f64) -> Series {
    let strokes = 400;
    let points: Vec<(f64, f64)> = (0..=2 * strokes)
        .map(|k| {
            let x = at - 0.4 + 0.8 * (k / 2) as f64 / strokes as f64;
            (x, if (k / 2 + k) % 2 == 0 { 0.0 } else { height })
        })
        .collect();
    Series::new(name, points)
}
