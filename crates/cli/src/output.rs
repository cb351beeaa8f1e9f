//! The files of a run: trajectory, summary, plots and animation.

use vincula_exchange::{Column, NpzWriter, OutputDir, write_csv, write_json};
use vincula_scenes::Scene;

use crate::animation::animation;
use crate::fault::Fault;
use crate::plots::figures;
use crate::recording::Recording;
use crate::report::Report;

/// Width of the PNG plots, pixels.
const PNG_WIDTH: u32 = 1600;

/// The report as one line of JSON.
pub fn json_line(report: &Report) -> Result<String, Fault> {
    serde_json::to_string(report).map_err(|error| Fault::Output(error.into()))
}

/// Writes every file into the staged directory and returns their names.
pub fn write_all(
    directory: &OutputDir,
    scene: &Scene,
    recording: &Recording,
    report: &Report,
    csv: bool,
) -> Result<Vec<String>, Fault> {
    let mut names = vec!["summary.json".to_owned(), "trajectory.npz".to_owned()];
    write_json(directory.path("summary.json")?, report)?;
    write_npz(directory, scene, recording, report)?;
    if csv {
        names.push("trajectory.csv".to_owned());
        write_table(directory, scene, recording)?;
    }
    for (name, figure) in figures(scene, recording) {
        figure.write_svg(directory.path(format!("{name}.svg"))?)?;
        figure.write_png(directory.path(format!("{name}.png"))?, PNG_WIDTH)?;
        names.push(format!("{name}.svg"));
        names.push(format!("{name}.png"));
    }
    animation(scene, recording)?.write_glb(directory.path("animation.glb")?)?;
    names.push("animation.glb".to_owned());
    Ok(names)
}

fn write_npz(
    directory: &OutputDir,
    scene: &Scene,
    recording: &Recording,
    report: &Report,
) -> Result<(), Fault> {
    let (times, bodies) = (recording.time.len(), scene.model.bodies().len());
    let mut file = NpzWriter::create(directory.path("trajectory.npz")?)?;
    file.add_f64("time", &[times], &recording.time)?;
    file.add_f64("positions", &[times, bodies, 3], &recording.positions)?;
    file.add_f64("quaternions", &[times, bodies, 4], &recording.quaternions)?;
    file.add_f64("velocities", &[times, bodies, 3], &recording.velocities)?;
    file.add_f64(
        "angular_velocities",
        &[times, bodies, 3],
        &recording.angular_velocities,
    )?;
    let energies = ["kinetic_energy", "potential_energy", "elastic_energy"];
    for (index, name) in energies.into_iter().enumerate() {
        let values: Vec<f64> = recording.energies.iter().map(|e| e[index]).collect();
        file.add_f64(name, &[times], &values)?;
    }
    for (name, first) in [("linear_momentum", 0), ("angular_momentum", 3)] {
        let values: Vec<f64> = recording
            .momenta
            .iter()
            .flat_map(|m| m[first..first + 3].iter().copied())
            .collect();
        file.add_f64(name, &[times, 3], &values)?;
    }
    for (probe, values) in scene.probes.iter().zip(&recording.probes) {
        let key = format!("probe_{}", probe.name.replace('-', "_"));
        file.add_f64(&key, &[times], values)?;
        if probe.has_reference() {
            file.add_f64(
                &format!("{key}_reference"),
                &[times],
                &reference(scene, recording, probe),
            )?;
        }
    }
    let names: Vec<&str> = scene
        .model
        .bodies()
        .iter()
        .map(|body| body.name.as_str())
        .collect();
    file.add_texts("bodies", &names)?;
    file.add_text("summary", &json_line(report)?)?;
    Ok(file.finish()?)
}

/// The reference of a probe at the times that its recorded values speak of.
pub fn reference(scene: &Scene, recording: &Recording, probe: &vincula_scenes::Probe) -> Vec<f64> {
    let at = |t: &f64| {
        probe
            .reference(probe.time_meant(*t, scene.h))
            .unwrap_or(f64::NAN)
    };
    recording.time.iter().map(at).collect()
}

/// Name, unit and values of a column.
type Owned = (String, &'static str, Vec<f64>);

fn write_table(directory: &OutputDir, scene: &Scene, recording: &Recording) -> Result<(), Fault> {
    let mut columns: Vec<Owned> = vec![("time".to_owned(), "s", recording.time.clone())];
    for (probe, values) in scene.probes.iter().zip(&recording.probes) {
        columns.push((probe.name.to_owned(), probe.unit, values.clone()));
        if probe.has_reference() {
            let values = reference(scene, recording, probe);
            columns.push((format!("{}.reference", probe.name), probe.unit, values));
        }
    }
    for (index, name) in ["kinetic", "potential", "elastic"].into_iter().enumerate() {
        let values = recording.energies.iter().map(|e| e[index]).collect();
        columns.push((format!("energy.{name}"), "J", values));
    }
    for (index, name) in ["p.x", "p.y", "p.z", "L.x", "L.y", "L.z"]
        .into_iter()
        .enumerate()
    {
        let unit = if index < 3 { "kg m/s" } else { "kg m²/s" };
        columns.push((
            name.to_owned(),
            unit,
            recording.momenta.iter().map(|m| m[index]).collect(),
        ));
    }
    for (index, body) in scene.model.bodies().iter().enumerate() {
        columns.extend(body_columns(
            recording,
            index,
            scene.model.bodies().len(),
            &body.name,
        ));
    }
    let borrowed: Vec<Column> = columns
        .iter()
        .map(|(name, unit, values)| Column {
            name: name.as_str(),
            unit,
            values,
        })
        .collect();
    Ok(write_csv(directory.path("trajectory.csv")?, &borrowed)?)
}

fn body_columns(recording: &Recording, body: usize, bodies: usize, name: &str) -> Vec<Owned> {
    let pick = |from: &[f64], width: usize, part: usize| {
        from.iter()
            .skip(body * width + part)
            .step_by(bodies * width)
            .copied()
            .collect::<Vec<f64>>()
    };
    let mut columns = Vec::new();
    for (part, axis) in ["x", "y", "z"].into_iter().enumerate() {
        columns.push((
            format!("{name}.{axis}"),
            "m",
            pick(&recording.positions, 3, part),
        ));
    }
    for (part, axis) in ["qw", "qx", "qy", "qz"].into_iter().enumerate() {
        columns.push((
            format!("{name}.{axis}"),
            "",
            pick(&recording.quaternions, 4, part),
        ));
    }
    for (part, axis) in ["vx", "vy", "vz"].into_iter().enumerate() {
        columns.push((
            format!("{name}.{axis}"),
            "m/s",
            pick(&recording.velocities, 3, part),
        ));
    }
    for (part, axis) in ["wx", "wy", "wz"].into_iter().enumerate() {
        let values = pick(&recording.angular_velocities, 3, part);
        columns.push((format!("{name}.{axis}"), "rad/s", values));
    }
    columns
}
