//! `bench --scenes`: the time of a step on scenes of the gallery, against what we want.
//!
//! Wanted times are for a quiet machine of the kind the engine was planned on. Steps are timed by turns
//! with work whose time there is known, and `calibrated` is divided by how much longer that took here.

use std::path::Path;
use std::time::Instant;

use vincula::prelude::*;

use super::yardstick::Yardstick;
use super::{median, name_of, wish, write_scenes};
use crate::motion::Outcome;
use crate::row::align;

/// A scene to be timed.
struct Case {
    scene: &'static str,
    settings: &'static [(&'static str, &'static str)],
    integrator: Integrator,
    threads: usize,
    steps: usize,
    /// Arms in the scene, whose share of the time is of interest; zero for other scenes.
    arms: usize,
    /// Time of a step that we want, ms; not a number where only the time is of interest.
    wanted: f64,
}

const fn case(
    scene: &'static str,
    settings: &'static [(&'static str, &'static str)],
    steps: usize,
    wanted: f64,
) -> Case {
    Case {
        scene,
        settings,
        integrator: Integrator::Tempered,
        threads: 1,
        steps,
        arms: 0,
        wanted,
    }
}

/// The same with the step of the paper.
const fn euler(case: Case) -> Case {
    Case {
        integrator: Integrator::LinearEuler,
        ..case
    }
}

const CASES: &[Case] = &[
    case("chain", &[("links", "1000")], 400, 0.1),
    euler(case("chain", &[("links", "1000")], 400, 0.1)),
    case("chain", &[("links", "1000"), ("joint", "hinge")], 200, 0.25),
    euler(case(
        "chain",
        &[("links", "1000"), ("joint", "hinge")],
        200,
        0.25,
    )),
    case("chain", &[("links", "10000")], 100, 1.0),
    euler(case("chain", &[("links", "10000")], 100, 1.0)),
    case("chain", &[("links", "100000")], 20, 10.0),
    case("heavy-chain", &[("h", "0.01")], 400, f64::NAN),
    case("tree", &[("links", "21000")], 20, 6.0),
    euler(case("tree", &[("links", "21000")], 20, 6.0)),
    case("tree", &[("links", "29000")], 20, 8.0),
    euler(case("tree", &[("links", "29000")], 20, 8.0)),
    case("net", &[], 200, 0.5),
    euler(case("net", &[], 200, 0.5)),
    case("net", &[("rows", "100"), ("columns", "100")], 10, 42.0),
    euler(case(
        "net",
        &[("rows", "100"), ("columns", "100")],
        10,
        42.0,
    )),
    Case {
        threads: 2,
        ..case("net", &[("rows", "100"), ("columns", "100")], 10, 26.0)
    },
    case("spider", &[("legs", "125")], 40, f64::NAN),
    case("spider", &[("legs", "500")], 20, f64::NAN),
    euler(case("spider", &[("legs", "125")], 40, f64::NAN)),
    euler(case("spider", &[("legs", "500")], 20, f64::NAN)),
    Case {
        arms: 1,
        ..case("arm7", &[], 2000, 0.003)
    },
    euler(Case {
        arms: 1,
        ..case("arm7", &[], 2000, 0.003)
    }),
    Case {
        arms: 1000,
        ..case("arm7", &[("copies", "1000")], 100, 1.5)
    },
    euler(Case {
        arms: 1000,
        ..case("arm7", &[("copies", "1000")], 100, 1.5)
    }),
    // Last: what is left of so much memory is in small pieces, and slow to get through.
    case("chain", &[("links", "1076748")], 6, 130.0),
    Case {
        threads: 2,
        ..case("chain", &[("links", "1076748")], 6, 81.0)
    },
    euler(case("chain", &[("links", "1076748")], 6, 130.0)),
    euler(Case {
        threads: 2,
        ..case("chain", &[("links", "1076748")], 6, 81.0)
    }),
];

/// What a case took.
struct Result {
    best: f64,
    median: f64,
    /// How many times longer than on the machine of the wanted times the fixed work took.
    slowness: f64,
    iterations: f64,
    residual: f64,
    bodies: usize,
}

/// Times every case, prints a table and, unless quick, writes it under `benchmarks`.
pub fn run(root: &Path, quick: bool) -> Outcome<bool> {
    let header = [
        "scene",
        "bodies",
        "integrator",
        "threads",
        "median ms",
        "best ms",
        "calibrated ms",
        "wanted ms",
        "µs per arm",
        "iterations",
        "gap m",
    ];
    let mut rows = Vec::new();
    let (mut yardstick, mut pace) = (Yardstick::new()?, Vec::new());
    for case in CASES {
        let steps = if quick {
            case.steps.min(20)
        } else {
            case.steps
        };
        let result = measure(case, steps, &mut yardstick)?;
        pace.push(result.slowness);
        let row = cells(case, &result);
        println!("{}", row.join("  "));
        rows.push(row);
    }
    println!("\n{}", align(&header, &rows));
    let (least, most) = (
        pace.iter().copied().fold(f64::INFINITY, f64::min),
        pace.iter().copied().fold(0.0, f64::max),
    );
    let note = format!(
        "sparse Cholesky of a 100 x 100 grid by faer, between the steps: {least:.2} to {most:.2} \
         times what it took where the wanted times were measured, {:.2} at the median",
        median(pace)
    );
    println!("{note}");
    if !quick {
        write_scenes(
            root,
            "scenes",
            &format!("ms a step; {note}"),
            &header,
            &rows,
        )?;
    }
    Ok(true)
}

/// Turns that the steps of a case and the fixed work take.
const TURNS: usize = 5;

fn measure(case: &Case, steps: usize, yardstick: &mut Yardstick) -> Outcome<Result> {
    let scene = vincula_scenes::build(case.scene, case.settings)?;
    let settings = Settings {
        threads: case.threads,
        ..Settings::with_integrator(case.integrator)
    };
    let mut work = Workspace::new(&scene.model, settings);
    let control = Control::new(&scene.model);
    let mut state = scene.state.clone();
    let (mut times, mut iterations, mut residual) = (Vec::new(), 0, 0.0f64);
    for _ in 0..TURNS {
        yardstick.lay()?;
        // The first step of a turn only warms the cache.
        for index in 0..=steps.div_ceil(TURNS) {
            let start = Instant::now();
            let report = step(&scene.model, &mut state, &control, &mut work, scene.h)?;
            if index > 0 {
                times.push(start.elapsed().as_secs_f64() * 1e3);
                iterations += report.iterations;
                residual = residual.max(report.residual);
            }
        }
    }
    Ok(Result {
        best: times.iter().copied().fold(f64::INFINITY, f64::min),
        iterations: iterations as f64 / times.len() as f64,
        median: median(times),
        slowness: yardstick.slowness(),
        residual,
        bodies: scene.model.bodies().len(),
    })
}

/// Median time of a step for each arm, µs.
fn per_arm(case: &Case, result: &Result) -> String {
    match case.arms {
        0 => "-".to_owned(),
        arms => format!("{:.2}", 1e3 * result.median / arms as f64),
    }
}

fn cells(case: &Case, result: &Result) -> Vec<String> {
    vec![
        name_of(case.scene, case.settings),
        result.bodies.to_string(),
        case.integrator.to_string(),
        case.threads.to_string(),
        format!("{:.4}", result.median),
        format!("{:.4}", result.best),
        format!("{:.4}", result.median / result.slowness),
        wish(case.wanted),
        per_arm(case, result),
        format!("{:.2}", result.iterations),
        format!("{:.1e}", result.residual),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arms_are_as_many_as_the_scene_has() {
        for case in CASES.iter().filter(|case| case.scene == "arm7") {
            let scene = vincula_scenes::build(case.scene, case.settings).unwrap();
            assert_eq!(scene.model.bodies().len(), 7 * case.arms);
        }
    }

    #[test]
    fn an_arm_is_told_its_share_of_the_time() {
        let result = Result {
            best: 1.0,
            median: 1.5,
            slowness: 1.0,
            iterations: 1.0,
            residual: 0.0,
            bodies: 7000,
        };
        let told = |arms| {
            per_arm(
                &Case {
                    arms,
                    ..case("arm7", &[], 1, 1.0)
                },
                &result,
            )
        };
        assert_eq!((told(1000), told(0)), ("1.50".to_owned(), "-".to_owned()));
    }
}
