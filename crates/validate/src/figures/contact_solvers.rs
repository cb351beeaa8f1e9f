//! The contact solvers side by side: time of a step, violation of Coulomb's law and overlap, on
//! scenes of the gallery.
//!
//! Every solver runs the same steps of a scene from its start. One that needs too long is stopped,
//! and the table says after how many steps; one that fails is told with the time and the reason.
//! The overlap is measured on the shapes after a step, not on the rows that were solved.

use std::time::Instant;

use vincula::contact::{ContactSolver, Contacts, detect};
use vincula::prelude::*;
use vincula_exchange::{Figure, Plot, Series, Style};
use vincula_scenes::Scene;

use super::{Drawn, Table};
use crate::clock::Stopwatch;
use crate::motion::Outcome;
use crate::row::align;

/// Wall time that a solver has for a scene, s.
const PATIENCE: f64 = 25.0;
/// A violation below this is drawn as if it were this much, and an overlap (mm) likewise.
const FLOOR: f64 = 1e-12;

/// A scene, what is set, and how many steps are made at most.
struct Case {
    title: &'static str,
    scene: &'static str,
    settings: &'static [(&'static str, &'static str)],
    steps: usize,
}

const CASES: [Case; 7] = [
    Case {
        title: "ramp",
        scene: "ramp",
        settings: &[],
        steps: 200,
    },
    Case {
        title: "stack, 10 cubes, 1000:1",
        scene: "stack",
        settings: &[("n", "10"), ("mass_ratio", "1000")],
        steps: 200,
    },
    Case {
        title: "arch, 11 stones",
        scene: "arch",
        settings: &[],
        steps: 200,
    },
    Case {
        title: "rod-and-block, 20 ms",
        scene: "rod-and-block",
        settings: &[],
        steps: 200,
    },
    Case {
        title: "strandbeest",
        scene: "strandbeest",
        settings: &[],
        steps: 200,
    },
    Case {
        title: "net-on-cylinder, 6 × 6",
        scene: "net-on-cylinder",
        settings: &[("rows", "6"), ("columns", "6")],
        steps: 90,
    },
    Case {
        title: "pile, 100 boxes",
        scene: "pile",
        settings: &[("n", "100")],
        steps: 200,
    },
];

/// What one solver did on one scene.
struct Run {
    title: &'static str,
    solver: ContactSolver,
    steps: usize,
    /// Processor time of a step, ms.
    median: f64,
    slowest: f64,
    /// Contact points of a step, mean.
    points: f64,
    /// Violation of Coulomb's law: median over steps with contacts, and the largest.
    residual: f64,
    worst_residual: f64,
    /// Deepest overlap of the shapes, mm.
    overlap: f64,
    /// Largest opening of a joint, m.
    gap: f64,
    verdict: String,
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

fn run(case: &Case, scene: &Scene, solver: ContactSolver) -> Run {
    let settings = Settings {
        contact_solver: solver,
        ..Settings::with_integrator(scene.integrator)
    };
    let model = &scene.model;
    let mut work = Workspace::new(model, settings);
    let (mut control, mut state) = (Control::new(model), scene.state.clone());
    let mut contacts = Contacts::new();
    let (mut times, mut residuals) = (Vec::new(), Vec::new());
    let (mut points, mut overlap, mut gap) = (0usize, 0.0f64, 0.0f64);
    let (begin, mut verdict) = (Instant::now(), "yes".to_owned());
    for _ in 0..case.steps {
        scene.control(&state, &mut control);
        let watch = Stopwatch::start();
        let report = match step(model, &mut state, &control, &mut work, scene.h) {
            Ok(report) => report,
            Err(error) => {
                verdict = format!("fails at {:.2} s: {error}", state.time);
                break;
            }
        };
        times.push(1e3 * watch.seconds());
        if report.contacts > 0 {
            residuals.push(report.contact_residual);
        }
        points += report.contacts;
        gap = gap.max(report.residual);
        detect(model, &state, &control, 0.0, &mut contacts);
        overlap = overlap.max(1e3 * contacts.penetration());
        if begin.elapsed().as_secs_f64() > PATIENCE && times.len() < case.steps {
            verdict = "too slow".to_owned();
            break;
        }
    }
    let steps = times.len();
    Run {
        title: case.title,
        solver,
        steps,
        slowest: times.iter().copied().fold(0.0, f64::max),
        median: median(&mut times),
        points: points as f64 / steps.max(1) as f64,
        worst_residual: residuals.iter().copied().fold(0.0, f64::max),
        residual: median(&mut residuals),
        overlap,
        gap,
        verdict,
    }
}

const HEADINGS: [&str; 11] = [
    "scene",
    "solver",
    "steps",
    "points",
    "median ms",
    "slowest ms",
    "residual, median",
    "residual, worst",
    "overlap mm",
    "joint gap m",
    "finished",
];

impl Run {
    fn cells(&self) -> Vec<String> {
        vec![
            self.title.to_owned(),
            self.solver.to_string(),
            self.steps.to_string(),
            format!("{:.0}", self.points),
            format!("{:.3}", self.median),
            format!("{:.2}", self.slowest),
            format!("{:.1e}", self.residual),
            format!("{:.1e}", self.worst_residual),
            format!("{:.1e}", self.overlap),
            format!("{:.0e}", self.gap),
            self.verdict.clone(),
        ]
    }
}

pub fn draw() -> Outcome<Drawn> {
    let mut runs = Vec::new();
    for case in &CASES {
        let scene = vincula_scenes::build(case.scene, case.settings)?;
        for solver in ContactSolver::ALL {
            let run = run(case, &scene, solver);
            println!("{}", run.cells().join("  "));
            runs.push(run);
        }
    }
    let rows: Vec<Vec<String>> = runs.iter().map(Run::cells).collect();
    println!("\n{}", align(&HEADINGS, &rows));
    let holds = runs.iter().filter(|run| is_default(run)).all(is_promised);
    Ok(Drawn {
        figure: figure(&runs),
        holds,
        table: Some(Table {
            title: "Contact solvers",
            note: NOTE,
            headings: HEADINGS.map(str::to_owned).to_vec(),
            rows,
        }),
    })
}

fn is_default(run: &Run) -> bool {
    run.solver == ContactSolver::Automatic
}

/// The default finishes every scene with closed joints.
fn is_promised(run: &Run) -> bool {
    let holds = run.verdict == "yes" && run.gap <= 1e-6;
    if !holds {
        println!("{}: the default does not hold", run.title);
    }
    holds
}

const NOTE: &str = "\
Written by `cargo xtask figures contact-solvers --book`. Every solver makes the same steps of a\n\
scene from its start; after 25 s it is stopped and counts as too slow. Times are processor time on\n\
one thread of the machine that wrote the table. The residual is the violation of Coulomb's law\n\
(complementarity and cone at once, zero exactly where it holds) over the largest force, at the\n\
median over the steps with contacts and at its worst; `penalty` is measured against the law of its\n\
springs. The overlap is that of the shapes after a step, and counts what the law does not see:\n\
points that detection did not report.\n";

fn figure(runs: &[Run]) -> Figure {
    let mut x_label = "scene:".to_owned();
    for (k, case) in CASES.iter().enumerate() {
        let comma = if k > 0 { "," } else { "" };
        x_label.push_str(&format!("{comma} {} {}", k + 1, case.scene));
    }
    let panel = |title: &str, y_label: &str, value: fn(&Run) -> f64| Plot {
        title: title.to_owned(),
        x_label: x_label.clone(),
        y_label: y_label.to_owned(),
        series: ContactSolver::ALL
            .iter()
            .map(|&solver| series(runs, solver, value))
            .collect(),
        y_log: true,
        ..Plot::default()
    };
    Figure::new("Contact solvers")
        .panel(panel("time", "median time of a step [ms]", |r| r.median))
        .panel(panel(
            "violation of Coulomb's law",
            "median residual",
            |r| r.residual.max(FLOOR),
        ))
        .panel(panel("overlap", "deepest overlap [mm]", |r| {
            r.overlap.max(FLOOR)
        }))
}

/// One solver's values, side by side with the others'.
fn series(runs: &[Run], solver: ContactSolver, value: fn(&Run) -> f64) -> Series {
    let place = ContactSolver::ALL.iter().position(|s| *s == solver);
    let aside = 0.1 * (place.unwrap_or(0) as f64 - 2.0);
    let own = runs.iter().filter(|run| run.solver == solver).enumerate();
    let points: Vec<(f64, f64)> = own
        .map(|(k, run)| (k as f64 + 1.0 + aside, value(run)))
        .filter(|(_, y)| y.is_finite())
        .collect();
    Series::new(solver.name(), points).style(Style::Markers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scenes_exist_and_every_solver_makes_steps() {
        for case in &CASES {
            vincula_scenes::build(case.scene, case.settings).unwrap();
        }
        let scene = vincula_scenes::build("ramp", &[]).unwrap();
        for solver in ContactSolver::ALL {
            let short = Case {
                steps: 5,
                ..CASES[0]
            };
            let run = run(&short, &scene, solver);
            assert_eq!((run.steps, run.verdict.as_str()), (5, "yes"), "{solver}");
            assert!(run.points == 4.0 && run.residual < 1e-6, "{solver}");
        }
    }

    #[test]
    fn a_scene_that_fails_is_told() {
        let mut scene = vincula_scenes::build("ramp", &[]).unwrap();
        scene.h = f64::NAN;
        let run = run(&CASES[0], &scene, ContactSolver::Penalty);
        assert!(
            run.verdict.starts_with("fails at 0.00 s"),
            "{}",
            run.verdict
        );
        assert!(!is_promised(&run));
    }
}
