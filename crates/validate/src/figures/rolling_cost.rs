//! Fig. 2: what a step of a rolling cylinder costs, affine against rigid.
//!
//! All methods see the same floor: a damped spring with friction proportional to slip up to
//! 0.3 m/s, at the lowest point. Each repetition runs all of them in turn, so that a slow spell
//! of the machine slows them alike; what counts are ratios of medians.

use std::f64::consts::FRAC_PI_2;
use std::hint::black_box;
use std::time::Instant;

use glam::{DQuat, DVec3};
use vincula::body::rigid::{self, RigidBody, Wrench};
use vincula::model::{Pose, Twist};
use vincula::prelude::{MassProperties, Material, Shape};
use vincula_classic::corotated::Corotated;
use vincula_classic::single::{PointForce, SingleBody};
use vincula_classic::vanilla_abd::step_vanilla;
use vincula_exchange::{Figure, Plot, Series};

use super::Drawn;
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
fn floor_on_rigid(body: &RigidBody) -> Wrench {
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
    floor_on_affine(body, [body.a[6], body.a[7], body.a[8]])
}

/// An implicit step applies the force at its end: the lowest point there, not the one that
/// was lowest before and has turned up since, or the floor would drive the cylinder.
#[inline(always)]
fn floor_ahead(body: &SingleBody) -> PointForce {
    let ahead = |k: usize| body.a[k] + STEP * body.w[k];
    floor_on_affine(body, [ahead(6), ahead(7), ahead(8)])
}

/// Time (s) of all steps by one method, and speed and spin at the end.
fn run(method: usize, start: &Roller) -> Outcome<(f64, f64, f64)> {
    let mut roller = black_box(*start);
    let law = |body: &RigidBody, _: f64| floor_on_rigid(body);
    let matrix = Corotated::new(&roller.single, STEP)?;
    let clock = Instant::now();
    let (single, rigid) = (&mut roller.single, &mut roller.rigid);
    match method {
        0 => (0..STEPS).try_for_each(|_| matrix.step_normalised(single, &floor_now))?,
        1 => (0..STEPS).try_for_each(|_| matrix.step_polar(single, &floor_now))?,
        2 => (0..STEPS).try_for_each(|_| step_vanilla(single, &floor_ahead, STEP).map(drop))?,
        3 => (0..STEPS)
            .try_for_each(|k| rigid::step_symplectic(rigid, &law, k as f64 * STEP, STEP))?,
        _ => {
            (0..STEPS).try_for_each(|k| rigid::step_implicit(rigid, &law, k as f64 * STEP, STEP))?
        }
    }
    let time = clock.elapsed().as_secs_f64();
    let roller = black_box(roller);
    if method < 3 {
        let twist = roller.single.twist();
        return Ok((time, twist.linear.x, twist.angular.y));
    }
    Ok((time, roller.rigid.v.x, roller.rigid.omega.y))
}

pub fn draw() -> Outcome<Drawn> {
    let start = Roller::new()?;
    let mut times = vec![Vec::new(); METHODS.len()];
    let mut ends = [(0.0, 0.0); 5];
    for _ in 0..REPETITIONS {
        for method in 0..METHODS.len() {
            let (time, speed, spin) = run(method, &start)?;
            times[method].push(time * 1e9 / STEPS as f64);
            ends[method] = (speed, spin);
        }
    }
    let medians: Vec<f64> = times.iter().map(|t| median(t)).collect();
    print_table(&times, &medians, &ends);
    let holds = judge(&medians) & rolls(&ends);
    Ok(Drawn {
        figure: figure(&times, &medians),
        holds,
    })
}

/// Every method must still roll, or its time means nothing.
fn rolls(ends: &[(f64, f64)]) -> bool {
    let rolling = |&(speed, spin): &(f64, f64)| {
        (0.5..1.5).contains(&speed) && (speed - RADIUS * spin).abs() < 0.05 * speed
    };
    for (name, end) in METHODS.iter().zip(ends) {
        if !rolling(end) {
            println!(
                "{name}: does not roll at the end, v = {:.3} m/s, r ω = {:.3} m/s",
                end.0,
                RADIUS * end.1
            );
        }
    }
    ends.iter().all(rolling)
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}

fn print_table(times: &[Vec<f64>], medians: &[f64], ends: &[(f64, f64)]) {
    let headings = [
        "method",
        "median ns/step",
        "best ns/step",
        "/ explicit rigid",
        "paper",
        "v [m/s]",
        "r ω [m/s]",
    ];
    let rows: Vec<Vec<String>> = (0..METHODS.len())
        .map(|k| {
            let best = times[k].iter().copied().fold(f64::INFINITY, f64::min);
            vec![
                METHODS[k].to_owned(),
                format!("{:.1}", medians[k]),
                format!("{best:.1}"),
                format!("{:.2}", medians[k] / medians[EXPLICIT]),
                format!("{:.2}", PAPER[k] / PAPER[EXPLICIT]),
                format!("{:.4}", ends[k].0),
                format!("{:.4}", RADIUS * ends[k].1),
            ]
        })
        .collect();
    print!("{}", align(&headings, &rows));
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
            x_label: "method".to_owned(),
            y_label: "time per step [ns]".to_owned(),
            series: bars.collect(),
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
