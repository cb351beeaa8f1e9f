//! `bench --contacts`: scenes of contact for as long as is asked of them: the time of a step, how well joints
//! and contacts hold, and whether energy appears.

use std::path::Path;
use std::time::Instant;

use vincula::contact::{Contacts, detect};
use vincula::diagnostics::energy;
use vincula::prelude::*;

use super::yardstick::Yardstick;
use super::{median, name_of, wish, write_scenes};
use crate::motion::Outcome;
use crate::row::align;

/// A scene to be run.
struct Case {
    scene: &'static str,
    settings: &'static [(&'static str, &'static str)],
    integrator: Integrator,
    steps: usize,
    /// Time of a step that we want, ms, and what may overlap, mm; not a number where nothing is wanted.
    wanted: f64,
    allowed: f64,
}

const fn case(
    scene: &'static str,
    settings: &'static [(&'static str, &'static str)],
    steps: usize,
    [wanted, allowed]: [f64; 2],
) -> Case {
    Case {
        scene,
        settings,
        integrator: Integrator::Tempered,
        steps,
        wanted,
        allowed,
    }
}

/// The same with the step of the paper.
const fn euler(case: Case) -> Case {
    Case {
        integrator: Integrator::LinearEuler,
        ..case
    }
}

const NONE: f64 = f64::NAN;

/// What may overlap is 1 % of the thinnest body, and 1e-4 of a box of a stack.
const CASES: &[Case] = &[
    case(
        "stack",
        &[("n", "10"), ("mass_ratio", "1000")],
        6000,
        [NONE, 0.1],
    ),
    case(
        "stack",
        &[("n", "30"), ("mass_ratio", "1")],
        6000,
        [NONE, 0.1],
    ),
    case("rod-and-block", &[("h", "0.002")], 10000, [NONE; 2]),
    case("rod-and-block", &[("h", "0.02")], 1000, [NONE; 2]),
    case("rod-and-block", &[("h", "0.25")], 80, [NONE; 2]),
    case("net-on-cylinder", &[], 600, [NONE, 0.5]),
    case("pulley", &[], 600, [1.0, NONE]),
    euler(case("pulley", &[], 600, [1.0, NONE])),
    case("falling-joints", &[], 2000, [27.0, 0.8]),
    euler(case("falling-joints", &[], 2000, [27.0, 0.8])),
    case("ragdolls", &[], 4000, [8.5, 0.5]),
    euler(case("ragdolls", &[], 4000, [8.5, 0.5])),
    case("pulley", &[("links", "1076748")], 20, [450.0, NONE]),
];

/// Steps between two looks at the fixed work, about.
const TURN: usize = 40;

/// Runs every case, or those of one scene, and prints a table; unless quick or of one scene, writes it
/// under `benchmarks`.
pub fn run(root: &Path, quick: bool, only: Option<&str>) -> Outcome<bool> {
    let header = [
        "scene",
        "integrator",
        "steps",
        "median ms",
        "p95 ms",
        "calibrated ms",
        "wanted ms",
        "iterations",
        "contacts",
        "gap m",
        "overlap mm",
        "allowed mm",
        "residual",
        "gain J",
    ];
    let mut yardstick = Yardstick::new()?;
    let mut rows = Vec::new();
    let wanted = |case: &&Case| only.is_none_or(|name| name == case.scene);
    for case in CASES.iter().filter(wanted) {
        let steps = if quick {
            case.steps.min(20)
        } else {
            case.steps
        };
        let row = run_case(case, steps, &mut yardstick)?;
        println!("{}", row.join("  "));
        rows.push(row);
    }
    if rows.is_empty() {
        let mut names: Vec<_> = CASES.iter().map(|case| case.scene).collect();
        names.dedup();
        return Err(format!("no such scene is run here; there are {}", names.join(", ")).into());
    }
    println!("\n{}", align(&header, &rows));
    println!(
        "calibrated: the median over what fixed work between the steps took against a quiet machine"
    );
    println!(
        "overlap: seen by fresh detection after each step; gain: the most energy above that of the start, drives included"
    );
    if !quick && only.is_none() {
        write_scenes(
            root,
            "contacts",
            "one thread, default settings but for the integrator",
            &header,
            &rows,
        )?;
    }
    Ok(true)
}

fn run_case(case: &Case, steps: usize, yardstick: &mut Yardstick) -> Outcome<Vec<String>> {
    let scene = vincula_scenes::build(case.scene, case.settings)?;
    let model = &scene.model;
    let settings = Settings::with_integrator(case.integrator);
    let mut work = Workspace::new(model, settings);
    let (mut state, mut control) = (scene.state.clone(), Control::new(model));
    let (mut seen, mut times) = (Contacts::new(), Vec::new());
    let (mut iterations, mut contacts) = (0, 0);
    let (mut gap, mut overlap, mut residual, mut gain) = (0.0f64, 0.0f64, 0.0f64, 0.0f64);
    let first = energy(model, &state).total();
    for index in 0..steps {
        if index % TURN == 0 {
            yardstick.lay()?;
        }
        scene.control(&state, &mut control);
        let start = Instant::now();
        let report = step(model, &mut state, &control, &mut work, scene.h)?;
        times.push(start.elapsed().as_secs_f64() * 1e3);
        iterations += report.iterations;
        contacts = contacts.max(report.contacts);
        gap = gap.max(report.residual);
        residual = residual.max(report.contact_residual);
        detect(model, &state, &control, scene.h, &mut seen);
        overlap = overlap.max(seen.penetration());
        gain = gain.max(energy(model, &state).total() - first);
    }
    times.sort_by(f64::total_cmp);
    let late = times[times.len() * 95 / 100];
    let typical = median(times);
    Ok(vec![
        name_of(case.scene, case.settings),
        case.integrator.to_string(),
        steps.to_string(),
        format!("{typical:.3}"),
        format!("{late:.3}"),
        format!("{:.3}", typical / yardstick.slowness()),
        wish(case.wanted),
        format!("{:.2}", iterations as f64 / steps as f64),
        contacts.to_string(),
        format!("{gap:.1e}"),
        format!("{:.4}", 1e3 * overlap),
        wish(case.allowed),
        format!("{residual:.1e}"),
        format!("{gain:.1e}"),
    ])
}
