//! Two rods on hinges in a plane, against the equations of motion in closed form.
//!
//! With angles φ₁, φ₂ from hanging, moments of inertia I₁ about the upper pivot and I₂
//! about the lower rod's end, `c = m₂ L₁ d₂` and δ = φ₁ − φ₂, Lagrange gives
//!
//! ```text
//! (I₁ + m₂L₁²) φ₁″ + c cos δ φ₂″ = −c sin δ φ₂′² − (m₁d₁ + m₂L₁) g sin φ₁
//!        c cos δ φ₁″ +       I₂ φ₂″ =  c sin δ φ₁′² − m₂ d₂ g sin φ₂
//! ```
//!
//! solved here by the classical Runge–Kutta method. The motion is chaotic: small
//! differences grow, so the reference ends after a few seconds.

use glam::DVec3;
use vincula::prelude::*;

use super::linkage::Linkage;
use crate::error::SceneError;
use crate::gallery::Entry;
use crate::param::Param;
use crate::scene::{Probe, Scene};
use crate::values::Values;

pub(super) const ENTRY: Entry = Entry {
    name: "double-pendulum",
    summary: "Two rods on hinges swing, against the equations of motion",
    figure: "",
    params: &[
        Param::step(0.001),
        Param::duration(5.0),
        Param::float("first", 1.0, (0.1, 10.0), "m", "length of the upper rod"),
        Param::float("second", 0.7, (0.1, 10.0), "m", "length of the lower rod"),
        Param::float(
            "angle1",
            90.0,
            (-179.0, 179.0),
            "°",
            "upper angle from hanging",
        ),
        Param::float(
            "angle2",
            45.0,
            (-179.0, 179.0),
            "°",
            "lower angle from hanging",
        ),
        Param::float("density", 1000.0, (1e-3, 1e6), "kg/m³", "density"),
        Param::gravity(),
        Param::young(),
    ],
    make,
};

/// Edge of the square section of the rods, m.
const WIDTH: f64 = 0.05;
/// Step and span of the reference, s.
const FINE: f64 = 2e-4;
const SPAN: f64 = 5.0;

/// The coefficients of the equations of motion.
#[derive(Clone, Copy)]
struct Equations {
    /// `I₁ + m₂L₁²`, `I₂` and c, kg m².
    inertia: [f64; 2],
    coupling: f64,
    /// `(m₁d₁ + m₂L₁) g` and `m₂d₂ g`, N m.
    weight: [f64; 2],
}

/// φ₁, φ₂ and their rates.
type Motion = [f64; 4];

impl Equations {
    fn rate(&self, y: &Motion) -> Motion {
        let [p, q, u, w] = *y;
        let (sin, cos) = (p - q).sin_cos();
        let k = self.coupling * cos;
        let f = -self.coupling * sin * w * w - self.weight[0] * p.sin();
        let g = self.coupling * sin * u * u - self.weight[1] * q.sin();
        let [a, b] = self.inertia;
        let determinant = a * b - k * k;
        [
            u,
            w,
            (b * f - k * g) / determinant,
            (a * g - k * f) / determinant,
        ]
    }

    fn advance(&self, y: &Motion, h: f64) -> Motion {
        let move_by = |k: &Motion, h: f64| -> Motion { std::array::from_fn(|i| y[i] + h * k[i]) };
        let k1 = self.rate(y);
        let k2 = self.rate(&move_by(&k1, 0.5 * h));
        let k3 = self.rate(&move_by(&k2, 0.5 * h));
        let k4 = self.rate(&move_by(&k3, h));
        std::array::from_fn(|i| y[i] + h / 6.0 * (k1[i] + 2.0 * (k2[i] + k3[i]) + k4[i]))
    }

    /// The motion from rest at two angles, every `FINE` seconds.
    fn solve(&self, angles: [f64; 2], duration: f64) -> Vec<Motion> {
        let mut course = vec![[angles[0], angles[1], 0.0, 0.0]];
        let steps = (duration.min(SPAN) / FINE).ceil() as usize + 1;
        for k in 0..steps {
            course.push(self.advance(&course[k], FINE));
        }
        course
    }
}

/// One angle of a course at time t; not a number after its end.
fn read(course: &[Motion], which: usize, t: f64) -> f64 {
    let place = t / FINE;
    let k = place.floor() as usize;
    if k + 1 >= course.len() {
        return f64::NAN;
    }
    // Hermite's cubic between two samples.
    let (s, from, to) = (place - k as f64, &course[k], &course[k + 1]);
    let (y0, y1) = (from[which], to[which]);
    let (m0, m1) = (FINE * from[which + 2], FINE * to[which + 2]);
    let turn = 2.0 * (y0 - y1) + m0 + m1;
    let bend = 3.0 * (y1 - y0) - 2.0 * m0 - m1;
    y0 + s * (m0 + s * (bend + s * turn))
}

fn equations(model: &Model, rods: [BodyId; 2], lengths: [f64; 2], gravity: f64) -> Equations {
    let [one, two] = rods.map(|rod| model.body(rod).mass);
    let [d1, d2] = lengths.map(|length| 0.5 * length);
    let about_end = |inertia: f64, mass: f64, d: f64| inertia + mass * d * d;
    let carried = two.mass * lengths[0];
    Equations {
        inertia: [
            about_end(one.inertia().y, one.mass, d1) + carried * lengths[0],
            about_end(two.inertia().y, two.mass, d2),
        ],
        coupling: carried * d2,
        weight: [(one.mass * d1 + carried) * gravity, two.mass * d2 * gravity],
    }
}

fn make(values: &Values) -> Result<Scene, SceneError> {
    let lengths = ["first", "second"].map(|key| values.float(key));
    let angles = ["angle1", "angle2"].map(|key| values.float(key).to_radians());
    let reach = |k: usize| DVec3::new(angles[k].sin(), 0.0, -angles[k].cos()) * lengths[k];
    let elbow = reach(0);
    let mut rods = Linkage::new(values, values.float("density"));
    let upper = rods.rod("upper", [DVec3::ZERO, elbow], WIDTH);
    let lower = rods.rod("lower", [elbow, elbow + reach(1)], WIDTH);
    rods.join(JointDef::hinge(
        "pivot",
        World,
        upper,
        DVec3::ZERO,
        DVec3::Y,
    ));
    rods.join(JointDef::hinge("elbow", upper, lower, elbow, DVec3::Y));
    let scene = rods.scene(ENTRY.name, values)?;
    let exact = equations(
        &scene.model,
        [upper, lower],
        lengths,
        values.float("gravity"),
    );
    let course = std::sync::Arc::new(exact.solve(angles, values.float("duration")));
    let probe = |which: usize, name, label, rod| {
        let course = course.clone();
        // A rod points along its x axis; angles are compared on the nearest turn.
        let angle = move |view: &crate::scene::View| {
            let along = view.state.pose(view.model, rod).rotation * DVec3::X;
            along.x.atan2(-along.z)
        };
        Probe::new(name, label, "rad", angle).against(move |t| {
            let told = read(&course, which, t);
            told.sin().atan2(told.cos())
        })
    };
    let first = probe(0, "angle1", "upper angle from hanging", upper);
    let second = probe(1, "angle2", "lower angle from hanging", lower);
    Ok(scene.probe(first).probe(second))
}
