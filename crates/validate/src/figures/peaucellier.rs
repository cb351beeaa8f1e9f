//! Tomcin et al., Fig. 3(c): iterations of the joint correction and condition of the matrix
//! for several shifts, on a linkage with nine redundant rows.

use vincula::prelude::*;
use vincula_classic::system::Method;
use vincula_classic::tomcin::{Tomcin, TomcinSettings};
use vincula_exchange::{Figure, Plot, Series};

use super::Drawn;
use crate::motion::Outcome;

const SHIFTS: [f64; 6] = [1e-6, 1e-8, 1e-10, 1e-12, 1e-14, 1e-16];
const H: f64 = 0.03;
/// Steps of one swing to the singular pose and back.
const STEPS: usize = 100;
/// Nearest that the middles of the long bars may come to each other, m: near enough for a
/// condition of 1e7, and not so near that the error which the largest shift leaves (1e-9 m in
/// position) tips the linkage over the singular pose.
const NEAREST: f64 = 4e-3;
/// The same for shifts that leave smaller errors, and the condition that is reached then.
const NEARER: f64 = 5e-4;
const SMALL_SHIFTS: [f64; 4] = [1e-10, 1e-12, 1e-14, 1e-16];
const REACHED_NEARER: f64 = 5e8;
/// ε_P, m.
const TOLERANCE: f64 = 1e-9;
/// Condition that the swing is to reach.
const REACHED: f64 = 1e7;
/// Rows that only repeat others.
const REDUNDANT: usize = 9;

/// What is recorded at the end of a step.
struct Sample {
    time: f64,
    iterations: f64,
    /// λ_max/λ_min of the matrix without its shift, redundant rows left out.
    condition: f64,
    /// Distance between the middles of the two long bars, m: zero when the rhombus is flat.
    width: f64,
}

struct Swing {
    samples: Vec<Sample>,
    /// Largest violation at the end of a step, m.
    worst: f64,
}

impl Swing {
    /// Prints and returns the largest condition.
    fn tell(&self, shift: f64) -> f64 {
        let most = |f: fn(&Sample) -> f64| self.samples.iter().map(f).fold(0.0, f64::max);
        let (iterations, condition) = (most(|s| s.iterations), most(|s| s.condition));
        println!(
            "shift {shift:.0e}: at most {iterations} iterations, condition up to {condition:.1e}, \
             violation {:.1e} m",
            self.worst
        );
        condition
    }
}

fn swing(shift: f64, gravity: f64, with_condition: bool) -> Outcome<Swing> {
    let gravity = gravity.to_string();
    let settings = [("speed", "1.2"), ("gravity", gravity.as_str())];
    let scene = vincula_scenes::build("peaucellier", &settings)?;
    let model = &scene.model;
    let long = ["OA", "OC"].map(|name| model.find_body(name));
    let [Some(first), Some(second)] = long else {
        return Err("the linkage has no long bars".into());
    };
    let settings = TomcinSettings {
        regularization: shift,
        iterations: 500,
        ..TomcinSettings::default()
    };
    let mut method = Tomcin::new(model, &scene.state, settings)?;
    let control = Control::new(model);
    let mut out = Swing {
        samples: Vec::new(),
        worst: 0.0,
    };
    for _ in 0..STEPS {
        let report = method.step(model, &control, H)?;
        let bodies = &method.system().bodies;
        let condition = match (with_condition, method.matrix()) {
            (true, Some(it)) => condition(it.matrix().to_dense(), it.pattern().dimension()),
            _ => f64::NAN,
        };
        out.worst = out.worst.max(report.residual);
        out.samples.push(Sample {
            time: method.system().time,
            iterations: report.iterations as f64,
            condition,
            width: bodies[first.index()].x.distance(bodies[second.index()].x),
        });
    }
    Ok(out)
}

/// Whether the swing comes no nearer to the flat rhombus than it may, and turns back.
fn turns_back(gravity: f64, nearest: f64) -> Outcome<bool> {
    // A linkage that tips over is pulled apart, and the method says so.
    let Ok(swing) = swing(1e-10, gravity, false) else {
        return Ok(false);
    };
    let width = swing.samples.iter().map(|it| it.width);
    Ok(swing.worst < 1e-8 && width.fold(f64::INFINITY, f64::min) > nearest)
}

/// The weakest gravity, m/s², from which the swing turns back: the tuning of the paper, which
/// lets the linkage nearly reach a singular pose.
fn tuned_gravity(nearest: f64) -> Outcome<f64> {
    let (mut passes, mut back) = (5.0, 6.0);
    for _ in 0..30 {
        let middle = 0.5 * (passes + back);
        if turns_back(middle, nearest)? {
            back = middle;
        } else {
            passes = middle;
        }
    }
    Ok(back)
}

/// Largest eigenvalue over the smallest that does not vanish.
fn condition(mut a: Vec<f64>, n: usize) -> f64 {
    // Jacobi's rotations: slow, and accurate for small eigenvalues.
    for _ in 0..12 {
        for p in 0..n {
            for q in p + 1..n {
                rotate(&mut a, n, p, q);
            }
        }
    }
    let mut values: Vec<f64> = (0..n).map(|k| a[k * n + k].abs()).collect();
    values.sort_by(f64::total_cmp);
    values[n - 1] / values[REDUNDANT]
}

fn rotate(a: &mut [f64], n: usize, p: usize, q: usize) {
    let off = a[p * n + q];
    if off == 0.0 {
        return;
    }
    let theta = (a[q * n + q] - a[p * n + p]) / (2.0 * off);
    let t = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
    let c = 1.0 / (t * t + 1.0).sqrt();
    let s = t * c;
    for k in 0..n {
        let (x, y) = (a[k * n + p], a[k * n + q]);
        (a[k * n + p], a[k * n + q]) = (c * x - s * y, s * x + c * y);
    }
    for k in 0..n {
        let (x, y) = (a[p * n + k], a[q * n + k]);
        (a[p * n + k], a[q * n + k]) = (c * x - s * y, s * x + c * y);
    }
}

/// Nearer to the singular pose all small shifts still take the same few iterations.
fn small_shifts_do_not_matter() -> Outcome<bool> {
    let gravity = tuned_gravity(NEARER)?;
    println!("gravity {gravity:.6} m/s², nearer to the singular pose");
    let mut same = true;
    for shift in SMALL_SHIFTS {
        let it = swing(shift, gravity, true)?;
        let few = it.samples.iter().all(|s| s.iterations <= 10.0);
        same &= it.tell(shift) > REACHED_NEARER && it.worst < TOLERANCE && few;
    }
    Ok(same)
}

pub fn draw() -> Outcome<Drawn> {
    let gravity = tuned_gravity(NEAREST)?;
    println!("gravity {gravity:.6} m/s²");
    let (mut in_time, mut in_condition, mut holds) = (Vec::new(), Vec::new(), true);
    let (mut conditions, mut reached) = (Vec::new(), 0.0f64);
    for shift in SHIFTS {
        let it = swing(shift, gravity, true)?;
        reached = it.tell(shift);
        holds &= it.worst < TOLERANCE;
        let name = format!("ε_T = {shift:.0e}");
        let times: Vec<_> = (it.samples.iter())
            .map(|s| (s.time, s.iterations.max(1.0)))
            .collect();
        in_time.push(Series::new(name.clone(), times));
        // On the way to the singular pose, up to where the condition is worst.
        let summit = it.samples.iter().position(|s| s.condition == reached);
        let way = &it.samples[..=summit.unwrap_or(0)];
        let points: Vec<_> = (way.iter())
            .map(|s| (s.condition, s.iterations.max(1.0)))
            .collect();
        in_condition.push(Series::new(name, points));
        conditions = it.samples.iter().map(|s| (s.time, s.condition)).collect();
    }
    holds &= reached > REACHED && small_shifts_do_not_matter()?;
    let panel = |x_label: &str, y_label: &str, series, x_log| Plot {
        x_label: x_label.to_owned(),
        y_label: y_label.to_owned(),
        series,
        x_log,
        y_log: true,
        ..Plot::default()
    };
    let iterations = "iterations of a step";
    let figure =
        Figure::new("Linkage of Peaucellier, h = 30 ms (Tomcin et al., Fig. 3(c))").row(vec![
            panel("time [s]", iterations, in_time, false),
            panel(
                "time [s]",
                "condition λ_max/λ_min",
                vec![Series::new("", conditions)],
                false,
            ),
            panel(
                "condition, to the singular pose",
                iterations,
                in_condition,
                true,
            ),
        ]);
    Ok(Drawn::new(figure, holds))
}
