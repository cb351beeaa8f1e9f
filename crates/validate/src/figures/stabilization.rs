//! Cline and Pai's Figs. 3 to 7: how far the joints of a chain of six links come apart without
//! stabilization, with Baumgarte's, and with post-stabilization.

use vincula::prelude::*;
use vincula_classic::cline_pai::{ClinePai, ClinePaiSettings, Stabilization};
use vincula_classic::contact::NoContacts;
use vincula_classic::system::Method;
use vincula_exchange::{Figure, Plot, Series};
use vincula_scenes::Scene;

use super::Drawn;
use crate::motion::Outcome;

/// Violation of the joints over time, mm: before and after stabilization.
struct Drift {
    before: Vec<(f64, f64)>,
    after: Vec<(f64, f64)>,
    /// Mean bend of the velocity of the last link from step to step, m/s.
    jitter: f64,
}

impl Drift {
    fn worst(&self) -> f64 {
        self.after.iter().fold(0.0, |most, point| point.1.max(most))
    }
}

fn drift(scene: &Scene, stabilization: Stabilization) -> Outcome<Drift> {
    let settings = ClinePaiSettings {
        stabilization,
        ..ClinePaiSettings::default()
    };
    let detector = Box::new(NoContacts);
    let mut method = ClinePai::new(&scene.model, &scene.state, settings, detector)?;
    let control = Control::new(&scene.model);
    let (mut before, mut after, mut velocities) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..scene.steps() {
        let report = method.step(&scene.model, &control, scene.h)?;
        let time = method.system().time;
        before.push((time, 1e3 * method.violation_before()));
        after.push((time, 1e3 * report.residual));
        velocities.extend(method.system().bodies.last().map(|body| body.v));
    }
    let bends = velocities
        .windows(3)
        .map(|v| (v[2] - 2.0 * v[1] + v[0]).length());
    let jitter = bends.sum::<f64>() / velocities.len() as f64;
    Ok(Drift {
        before,
        after,
        jitter,
    })
}

fn panel(title: &str, series: Vec<Series>) -> Plot {
    Plot {
        title: title.to_owned(),
        x_label: "time [s]".to_owned(),
        y_label: "largest joint error [mm]".to_owned(),
        series,
        ..Plot::default()
    }
}

pub fn draw() -> Outcome<Drawn> {
    let scene = vincula_scenes::build("six-link-chain", &[])?;
    let none = drift(&scene, Stabilization::None)?;
    let [slow, fast, rough] =
        [50.0, 200.0, 2000.0].map(|a| drift(&scene, Stabilization::Baumgarte(a)));
    let (slow, fast, rough) = (slow?, fast?, rough?);
    let post = drift(&scene, Stabilization::Post)?;
    for (name, drift) in [
        ("none", &none),
        ("Baumgarte 50", &slow),
        ("Baumgarte 200", &fast),
        ("Baumgarte 2000", &rough),
        ("post", &post),
    ] {
        let (worst, jitter) = (drift.worst(), drift.jitter);
        println!("  {name:<14} {worst:9.4} mm at most, jitter {jitter:.3} m/s");
    }
    let holds = (15.0..25.0).contains(&none.worst())
        && slow.worst() < 6.0
        && fast.worst() < 3.0
        && rough.jitter > 5.0 * fast.jitter
        && post.worst() <= 0.01;
    let close = post.after.clone();
    let figure = Figure::new("Six links, h = 1 ms: joint error (Cline and Pai, Figs. 3 to 7)")
        .row(vec![
            panel("no stabilization", vec![Series::new("", none.after)]),
            panel(
                "Baumgarte",
                vec![
                    Series::new("50 1/s", slow.after),
                    Series::new("200 1/s", fast.after),
                ],
            ),
        ])
        .row(vec![
            panel("Baumgarte, 2000 1/s", vec![Series::new("", rough.after)]),
            panel(
                "post-stabilization",
                vec![
                    Series::new("before", post.before),
                    Series::new("after", post.after),
                ],
            ),
        ])
        .panel(panel(
            "after post-stabilization",
            vec![Series::new("", close)],
        ));
    Ok(Drawn::new(figure, holds))
}
