//! What each command does.

use std::io::Write;

use serde_json::json;
use vincula::dual::{IslandPlan, SolverChoice};
use vincula::prelude::*;
use vincula_exchange::OutputDir;
use vincula_scenes::{Entry, Kind, Param, find, gallery as scenes};

use crate::args::RunArgs;
use crate::engine::{ContactWishes, Engine, describe_plan, kinds_of_islands};
use crate::fault::Fault;
use crate::interrupt::Interrupt;
use crate::output;
use crate::progress::Progress;
use crate::recording::Recording;
use crate::report::Report;
use crate::simulate::simulate;
use crate::table;

/// Prints to standard output; a reader that has gone away is no error.
pub(crate) fn say(text: &str) {
    let _ = std::io::stdout().lock().write_all(text.as_bytes());
}

pub(crate) fn borrowed(settings: &[(String, String)]) -> Vec<(&str, &str)> {
    settings
        .iter()
        .map(|(key, value)| (key.as_str(), value.as_str()))
        .collect()
}

/// Runs a scene.
pub fn run(request: &RunArgs) -> Result<(), Fault> {
    let entry = find(&request.scene)?;
    let scene = entry.build(&borrowed(&request.settings), request.seed)?;
    let mut engine = Engine::new(
        &scene,
        request.method,
        request.integrator,
        request.solver,
        ContactWishes {
            solver: request.contact,
            accuracy: request.contact_accuracy,
        },
        request.threads.unwrap_or(1) as usize,
        request.sleep,
    )?;
    let steps = request
        .steps
        .map_or_else(|| scene.steps(), |steps| steps as usize);
    // Opened before the work, so that a place that cannot be written is known at once.
    let directory = request.out.as_ref().map(OutputDir::create).transpose()?;
    let mut recording = directory.as_ref().map(|_| Recording::new(&scene, steps));
    let mut progress = Progress::new(steps, scene.h, request.quiet);
    let outcome = simulate(
        &scene,
        &mut engine,
        steps,
        recording.as_mut(),
        &mut progress,
        &Interrupt::watch(),
    );
    let mut report = Report::new(&scene, &engine, request, outcome);

    let failure = report.error.clone();
    let interrupted = (failure.is_none() && report.steps < steps)
        .then(|| format!("interrupted after {} of {steps} steps", report.steps));
    report.error = report.error.or_else(|| interrupted.clone());
    let mut written = None;
    if let (None, Some(directory), Some(recording)) = (&failure, directory, &recording) {
        if recording.stride > 1 {
            report.warnings.push(format!(
                "the trajectory holds one in {} steps, to fit in memory",
                recording.stride
            ));
        }
        let names = output::write_all(&directory, &scene, recording, &report, request.csv)?;
        directory.commit()?;
        let names = names.join(", ");
        written = request
            .out
            .as_ref()
            .map(|out| format!("{}: {names}", out.display()));
    }
    if request.json {
        say(&format!("{}\n", output::json_line(&report)?));
    } else if !request.quiet {
        say(&table::summary(entry, &report, written));
    }
    match failure {
        Some(why) => Err(Fault::Simulation(why)),
        None => interrupted.map_or(Ok(()), |why| Err(Fault::Interrupted(why))),
    }
}

/// Lists the scenes, or the parameters of one.
pub fn gallery(scene: Option<&str>, json: bool) -> Result<(), Fault> {
    let entries = match scene {
        Some(name) => std::slice::from_ref(find(name)?),
        None => scenes(),
    };
    if json {
        let list: Vec<_> = entries.iter().map(describe).collect();
        let text = if scene.is_some() {
            list[0].to_string()
        } else {
            json!(list).to_string()
        };
        say(&format!("{text}\n"));
        return Ok(());
    }
    if scene.is_some() {
        say(&parameters(&entries[0]));
        return Ok(());
    }
    for entry in entries {
        say(&format!(
            "{:<17} {:<14} {}\n",
            entry.name, entry.figure, entry.summary
        ));
    }
    say("\n`vincula gallery SCENE` shows its parameters, `vincula run SCENE` runs it.\n");
    Ok(())
}

fn parameters(entry: &Entry) -> String {
    let mut text = format!("{}: {}\n", entry.name, entry.summary);
    if !entry.figure.is_empty() {
        text += &format!("Reproduces {}.\n", entry.figure);
    }
    let rows: Vec<[String; 4]> = entry.params.iter().map(row).collect();
    let width = |column: usize| {
        rows.iter()
            .map(|row| row[column].chars().count())
            .max()
            .unwrap_or(0)
    };
    let (key, default, range) = (width(0), width(1).max(7), width(2).max(5));
    text += &format!(
        "\n  {:key$}  {:default$}  {:range$}  meaning\n",
        "key", "default", "range"
    );
    for [k, d, r, help] in &rows {
        text += &format!("  {k:key$}  {d:default$}  {r:range$}  {help}\n");
    }
    text += &format!("\nExample: vincula run {} --set h=0.002\n", entry.name);
    text
}

fn row(param: &Param) -> [String; 4] {
    let unit = if param.unit.is_empty() {
        String::new()
    } else {
        format!(" {}", param.unit)
    };
    [
        param.key.to_owned(),
        format!("{}{unit}", param.default_text()),
        format!("{}{unit}", param.range_text()),
        param.help.to_owned(),
    ]
}

fn describe(entry: &Entry) -> serde_json::Value {
    let params: Vec<_> = entry.params.iter().map(describe_param).collect();
    json!({
        "name": entry.name, "summary": entry.summary, "figure": entry.figure, "params": params,
    })
}

fn describe_param(param: &Param) -> serde_json::Value {
    let mut told = json!({ "key": param.key, "unit": param.unit, "help": param.help });
    let (kind, default, range) = match param.kind {
        Kind::Float {
            default,
            least,
            most,
        } => ("float", json!(default), json!([least, most])),
        Kind::Int {
            default,
            least,
            most,
        } => ("int", json!(default), json!([least, most])),
        Kind::Bool { default } => ("bool", json!(default), json!([false, true])),
        Kind::Choice { default, words } => ("choice", json!(default), json!(words)),
    };
    told["kind"] = kind.into();
    told["default"] = default;
    told["range"] = range;
    told
}

/// Tells which solver serves the joints of a scene, what it costs, and why.
pub fn plan(
    name: &str,
    settings: &[(String, String)],
    solver: SolverChoice,
    json: bool,
) -> Result<(), Fault> {
    let scene = find(name)?.build(&borrowed(settings), 0)?;
    let settings = Settings {
        solver,
        ..Settings::default()
    };
    let work = Workspace::new(&scene.model, settings);
    let (bodies, joints) = (scene.model.bodies().len(), scene.model.joints().len());
    let (rows, islands) = (scene.model.rows(), work.dual().islands());
    if json {
        let kinds: Vec<_> = kinds_of_islands(&work)
            .iter()
            .map(|(plan, count)| describe_island(plan, *count))
            .collect();
        let told = json!({
            "scene": name, "bodies": bodies, "joints": joints, "rows": rows,
            "islands": islands, "kinds": kinds,
        });
        say(&format!("{told}\n"));
        return Ok(());
    }
    say(&format!(
        "{name}: {bodies} bodies, {joints} joints with {rows} rows, {islands} islands\n"
    ));
    for part in describe_plan(&work).split("; ") {
        say(&format!("  {part}\n"));
    }
    Ok(())
}

fn describe_island(plan: &IslandPlan, count: usize) -> serde_json::Value {
    json!({
        "count": count, "solver": plan.solver, "why": plan.why, "bodies": plan.bodies,
        "joints": plan.joints, "hubs": plan.hubs, "unknowns": plan.unknowns,
        "factor_flops": plan.factor_flops, "stored": plan.stored,
    })
}
