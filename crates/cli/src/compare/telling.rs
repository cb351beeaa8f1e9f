//! A comparison as a table and as JSON.

use serde_json::{Value, json};
use vincula_scenes::Scene;

use super::race::Track;

const HEADINGS: [&str; 8] = [
    "method",
    "ms a step",
    "iterations",
    "joint error m",
    "overlap m",
    "energy change J",
    "most gained J",
    "apart m",
];

/// The table for people; below it, who could not run and why.
pub(super) fn table(scene: &Scene, tracks: &[Track]) -> String {
    let mut rows = vec![HEADINGS.map(str::to_owned)];
    let touching = !scene.model.colliders().is_empty();
    let ran = tracks.iter().filter(|track| track.ran());
    rows.extend(ran.map(|track| row(track, touching)));
    let width = |column: usize| {
        let lengths = rows.iter().map(|row| row[column].chars().count());
        lengths.max().unwrap_or(0)
    };
    let widths: [usize; 8] = std::array::from_fn(width);
    let mut text = format!(
        "{}: {} bodies, {} joints, h = {} s\n",
        scene.name,
        scene.model.bodies().len(),
        scene.model.joints().len(),
        scene.h
    );
    for row in &rows {
        let mut line = format!("  {:<1$}", row[0], widths[0]);
        for (cell, width) in row.iter().zip(widths).skip(1) {
            line += &format!("  {cell:>width$}");
        }
        text += &format!("{}\n", line.trim_end());
    }
    if let Some(first) = tracks.iter().find(|track| track.ran()) {
        text += &format!("apart: from {} at the end\n", first.name);
    }
    if tracks.iter().any(|it| it.ran() && it.trouble.is_some()) {
        text += "* stopped early\n";
    }
    for track in tracks {
        if let Some(trouble) = &track.trouble {
            text += &format!("  {}: {trouble}\n", track.name);
        }
    }
    text
}

fn row(track: &Track, touching: bool) -> [String; 8] {
    let energy = track.looks.last().map_or(f64::NAN, |look| look.energy);
    [
        match track.trouble {
            None => track.name.to_owned(),
            Some(_) => format!("{} *", track.name),
        },
        format!("{:.4}", track.step_time * 1e3),
        format!("{:.1}", track.iterations),
        format!("{:.2e}", track.most(|look| look.gap)),
        match touching {
            true => format!("{:.2e}", track.most(|look| look.overlap)),
            false => "–".to_owned(),
        },
        format!("{energy:+.2e}"),
        format!("{:.2e}", track.most(|look| look.energy)),
        track
            .distance
            .map_or_else(|| "–".to_owned(), |apart| format!("{apart:.2e}")),
    ]
}

/// One object: the scene, and what each method came to.
pub(super) fn json(scene: &Scene, tracks: &[Track]) -> Value {
    let methods: Vec<Value> = tracks.iter().map(describe).collect();
    json!({
        "scene": scene.name,
        "bodies": scene.model.bodies().len(),
        "joints": scene.model.joints().len(),
        "h": scene.h,
        "methods": methods,
    })
}

fn describe(track: &Track) -> Value {
    let last = track.looks.last();
    json!({
        "name": track.name,
        "ran": track.ran(),
        "steps": track.steps,
        "ms_per_step": track.step_time * 1e3,
        "iterations_mean": track.iterations,
        "joint_error_max": track.ran().then(|| track.most(|look| look.gap)),
        "overlap_max": track.ran().then(|| track.most(|look| look.overlap)),
        "energy_change": last.map(|look| look.energy),
        "energy_gain_max": track.ran().then(|| track.most(|look| look.energy)),
        "distance": track.distance,
        "trouble": track.trouble,
    })
}
