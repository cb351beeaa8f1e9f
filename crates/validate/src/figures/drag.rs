//! Baraff 1996, first-order use: a figure of fifty bodies is dragged by the hand along a path,
//! and what a frame of that takes.

use std::f64::consts::TAU;
use std::time::Instant;

use vincula::prelude::*;
use vincula_classic::baraff::{Baraff, Hold};
use vincula_classic::system::Method;
use vincula_exchange::{Figure, Plot, Series};

use super::Drawn;
use crate::motion::Outcome;

const FRAMES: usize = 240;
/// A frame at 60 Hz, ms.
const FRAME: f64 = 1e3 / 60.0;

/// Where the pointer goes: a figure of eight around where the hand was, m.
fn pointer(start: DVec3, frame: usize) -> DVec3 {
    let turn = TAU * frame as f64 / FRAMES as f64;
    start
        + DVec3::new(
            0.15 * turn.sin(),
            -0.1 * (1.0 - turn.cos()),
            0.2 * (2.0 * turn).sin(),
        )
}

pub fn draw() -> Outcome<Drawn> {
    let scene = vincula_scenes::build("figure", &[])?;
    let body = scene.model.find_body("left-palm").ok_or("no hand")?;
    let start = scene.state.center(body);
    let hold = |target| Hold::Point {
        body,
        point_body: DVec3::ZERO,
        target,
    };
    let holds = vec![hold(start)];
    let mut baraff = Baraff::with(&scene.model, &scene.state, Vec::new(), holds)?;
    let (mut hand, mut aim, mut times) = (Vec::new(), Vec::new(), Vec::new());
    let (mut miss, mut gap) = (0.0f64, 0.0f64);
    for frame in 1..=FRAMES {
        let target = pointer(start, frame);
        baraff.holds_mut()[0] = hold(target);
        let begin = Instant::now();
        baraff.manipulate(&scene.model)?;
        times.push((frame as f64, 1e3 * begin.elapsed().as_secs_f64()));
        let place = baraff.system().bodies[body.index()].x;
        miss = miss.max((place - target).length());
        gap = gap.max(baraff.system().worst_violation().0);
        hand.push((place.x, place.z));
        aim.push((target.x, target.z));
    }
    let slowest = times.iter().map(|(_, time)| *time).fold(0.0, f64::max);
    println!(
        "{} bodies, slowest frame {slowest:.2} ms, hand off by {miss:.1e} m, joints by {gap:.1e} m",
        scene.model.bodies().len()
    );
    let kept = slowest < FRAME && miss < 1e-9 && gap < 1e-9;
    let figure =
        Figure::new("Dragging a figure of fifty bodies by the hand (Baraff 1996)").row(vec![
            Plot {
                x_label: "x [m]".to_owned(),
                y_label: "z [m]".to_owned(),
                series: vec![
                    Series::new("pointer", aim),
                    Series::new("hand", hand).style(vincula_exchange::Style::Dotted),
                ],
                ..Plot::default()
            },
            Plot {
                x_label: "frame".to_owned(),
                y_label: "time [ms]".to_owned(),
                series: vec![Series::new("", times)],
                ..Plot::default()
            },
        ]);
    Ok(Drawn {
        figure,
        holds: kept,
        table: None,
    })
}
