//! Baraff 1996: time for each constraint against their number, and the price of auxiliary
//! constraints against their number and against the size of the chain they are added to.

use vincula::prelude::*;
use vincula_classic::baraff::anticipation::Way;
use vincula_classic::baraff::{Baraff, Hold};
use vincula_exchange::{Figure, Plot, Series, Style};
use vincula_scenes::Scene;

use super::Drawn;
use crate::clock::Stopwatch;
use crate::motion::Outcome;

const COUNTS: [usize; 7] = [100, 300, 1_000, 3_000, 10_000, 30_000, 100_000];
/// Most that the time for a constraint may vary between these counts.
const SPREAD: f64 = 1.3;
/// A sample repeats a structure until it has solved this many constraints, so that samples of
/// all sizes take equally long and are disturbed equally often.
const SAMPLE: usize = 100_000;
/// Samples of each size. Sizes take turns, and the shortest sample of each counts.
const ROUNDS: usize = 30;

/// Points held on a chain, three auxiliary rows each, and links of the chain meanwhile.
const HOLDS: [usize; 5] = [2, 4, 8, 16, 32];
const LINKS: usize = 2_000;
/// Links of chains, and points held on them meanwhile.
const CHAINS: [usize; 5] = [500, 1_000, 2_000, 4_000, 8_000];
const HELD: usize = 8;
/// Most that a fitted power may differ from one.
const SLACK: f64 = 0.15;

/// A structure that is timed.
struct Timed {
    scene: Scene,
    baraff: Baraff,
    /// Constraints, and how often they are solved in a sample.
    count: usize,
    repeats: usize,
    /// The shortest sample so far, s of processor time for one solution.
    best: f64,
}

impl Timed {
    fn new(scene: Scene, baraff: Baraff) -> Timed {
        let count = scene.model.joints().len();
        Timed {
            repeats: SAMPLE.div_ceil(count),
            scene,
            baraff,
            count,
            best: f64::INFINITY,
        }
    }

    /// Computes all accelerations with new factors: forces, linearisation, `sparsefactor`,
    /// anticipation, `sparsesolve`.
    fn sample(&mut self, control: &Control) -> Outcome<()> {
        let watch = Stopwatch::start();
        for _ in 0..self.repeats {
            self.baraff.system_mut();
            self.baraff.accelerations(&self.scene.model, control)?;
        }
        let taken = watch.seconds() / self.repeats as f64;
        self.best = self.best.min(taken);
        Ok(())
    }
}

/// Times structures in turns.
fn race(timed: &mut [Timed], rounds: usize) -> Outcome<()> {
    let controls: Vec<Control> = timed
        .iter()
        .map(|it| Control::new(&it.scene.model))
        .collect();
    for _ in 0..rounds {
        for (it, control) in timed.iter_mut().zip(&controls) {
            it.sample(control)?;
        }
    }
    Ok(())
}

fn structure(count: usize) -> Outcome<Timed> {
    let text = count.to_string();
    let scene = vincula_scenes::build("baraff-structure", &[("constraints", &text)])?;
    let baraff = Baraff::new(&scene.model, &scene.state)?;
    Ok(Timed::new(scene, baraff))
}

/// A chain with this many points of links held in the world.
fn chain(links: usize, holds: usize, way: Way) -> Outcome<Timed> {
    let text = links.to_string();
    let scene = vincula_scenes::build("chain", &[("links", &text)])?;
    let held = (1..=holds).filter_map(|k| scene.model.body_ids().nth(k * links / holds - 1));
    let list = held
        .map(|body| Hold::Point {
            body,
            point_body: DVec3::ZERO,
            target: scene.state.center(body),
        })
        .collect();
    let mut baraff = Baraff::with(&scene.model, &scene.state, Vec::new(), list)?;
    baraff.set_way(way);
    let mut timed = Timed::new(scene, baraff);
    timed.repeats = timed.repeats.div_ceil(5 * holds.max(1));
    Ok(timed)
}

/// The power p of the best fit y ∝ xᵖ.
fn power(points: &[(f64, f64)]) -> f64 {
    let logs: Vec<_> = points.iter().map(|(x, y)| (x.ln(), y.ln())).collect();
    let n = logs.len() as f64;
    let mean = |f: fn(&(f64, f64)) -> f64| logs.iter().map(f).sum::<f64>() / n;
    let (x, y) = (mean(|p| p.0), mean(|p| p.1));
    let covariance: f64 = logs.iter().map(|p| (p.0 - x) * (p.1 - y)).sum();
    covariance / logs.iter().map(|p| (p.0 - x).powi(2)).sum::<f64>()
}

/// What auxiliary rows cost beyond a chain without them, ms, for pairs of links and points held.
fn extra(cases: &[(usize, usize)], way: Way) -> Outcome<Vec<f64>> {
    let mut timed = Vec::new();
    for &(links, holds) in cases {
        timed.push(chain(links, holds, way)?);
        timed.push(chain(links, 0, way)?);
    }
    race(&mut timed, ROUNDS / 3)?;
    let pairs = timed.chunks_exact(2);
    Ok(pairs.map(|it| 1e3 * (it[0].best - it[1].best)).collect())
}

fn primary_panel() -> Outcome<(Plot, bool)> {
    let mut timed = Vec::new();
    for count in COUNTS {
        timed.push(structure(count)?);
    }
    race(&mut timed, ROUNDS)?;
    let points: Vec<(f64, f64)> = timed
        .iter()
        .map(|it| (it.count as f64, 1e6 * it.best / it.count as f64))
        .collect();
    for (count, each) in &points {
        println!("{count:>7} constraints: {each:.3} µs each");
    }
    let times = || points.iter().map(|(_, each)| *each);
    let spread = times().fold(0.0, f64::max) / times().fold(f64::INFINITY, f64::min);
    println!("largest over smallest: {spread:.2} (promised: {SPREAD})");
    let floor = vec![(COUNTS[0] as f64, 0.0), (COUNTS[6] as f64, 0.0)];
    let plot = Plot {
        title: "branching structure".to_owned(),
        x_label: "constraints".to_owned(),
        y_label: "time for each [µs]".to_owned(),
        series: vec![
            Series::new("", points.clone()),
            Series::new("", points).style(Style::Markers),
            Series {
                color: Some(super::compare::GRID),
                ..Series::new("", floor)
            },
        ],
        x_log: true,
        ..Plot::default()
    };
    Ok((plot, spread <= SPREAD))
}

/// Two panels: against k and against n.
fn auxiliary_panels() -> Outcome<([Plot; 2], bool)> {
    let rows: Vec<_> = HOLDS.iter().map(|&holds| (LINKS, holds)).collect();
    let sizes: Vec<_> = CHAINS.iter().map(|&links| (links, HELD)).collect();
    let (mut by_rows, mut by_size, mut holds) = (Vec::new(), Vec::new(), true);
    for (way, name) in [(Way::Columns, "by columns"), (Way::Symmetric, "symmetric")] {
        let taken = extra(&rows, way)?;
        let k = HOLDS.iter().map(|&holds| 3.0 * holds as f64);
        let in_k: Vec<_> = k.zip(taken).collect();
        let n = CHAINS.iter().map(|&links| links as f64);
        let in_n: Vec<_> = n.zip(extra(&sizes, way)?).collect();
        for (k, ms) in &in_k {
            println!("{k:>4} auxiliary rows on {LINKS} links, {name}: {ms:.3} ms more");
        }
        for (n, ms) in &in_n {
            let k = 3 * HELD;
            println!("{k:>4} auxiliary rows on {n} links, {name}: {ms:.3} ms more");
        }
        let powers = [power(&in_k), power(&in_n)];
        println!("{name}: k^{:.2} n^{:.2}", powers[0], powers[1]);
        // O(k n) is promised of whole columns. On a chain all ways to the root are shared, so
        // that the products of the saving approach k² n.
        if way == Way::Columns {
            holds &= powers.iter().all(|power| (power - 1.0).abs() < SLACK);
        }
        by_rows.push(Series::new(format!("{name}: k^{:.2}", powers[0]), in_k));
        by_size.push(Series::new(format!("{name}: n^{:.2}", powers[1]), in_n));
    }
    let panel = |title: String, x_label: &str, series| Plot {
        title,
        x_label: x_label.to_owned(),
        y_label: "added time [ms]".to_owned(),
        series,
        x_log: true,
        y_log: true,
    };
    let panels = [
        panel(
            format!("chain of {LINKS} links"),
            "auxiliary rows k",
            by_rows,
        ),
        panel(format!("k = {} on a chain", 3 * HELD), "links n", by_size),
    ];
    Ok((panels, holds))
}

pub fn draw() -> Outcome<Drawn> {
    let (primary, flat) = primary_panel()?;
    let ([in_k, in_n], linear) = auxiliary_panels()?;
    let figure =
        Figure::new("Linear time with multipliers (Baraff 1996)").row(vec![primary, in_k, in_n]);
    Ok(Drawn {
        figure,
        holds: flat && linear,
        table: None,
    })
}
