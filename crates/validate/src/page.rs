//! The pages of the book that are written by the machine.

use std::fs;
use std::path::Path;

use vincula::prelude::Integrator;
use vincula_exchange::{Figure, Plot, Series, Style, write_atomic};

use crate::convergence::{self, Point, Study};
use crate::motion::Outcome;
use crate::row::{Row, markdown, markdown_table};

/// Writes the table of known motions.
pub fn write_table(folder: &Path, rows: &[Row]) -> Outcome<()> {
    let text = format!(
        "# Known motions\n\n\
         Written by `cargo xtask validate`. An error is the largest over the whole run; where the\n\
         reference is a number, the tolerance is the allowed distance from it.\n\n{}",
        markdown_table(rows)
    );
    fs::create_dir_all(folder)?;
    write_atomic(folder.join("table.md"), text.as_bytes())?;
    Ok(())
}

/// Writes the orders of convergence and their plots.
pub fn write_convergence(folder: &Path, studies: &[Study]) -> Outcome<()> {
    let cells: Vec<_> = studies.iter().map(Study::cells).collect();
    let mut text = format!(
        "# Orders of convergence\n\n\
         Written by `cargo xtask validate`. The error of a run is the largest angle (rad) between\n\
         its orientation and that of a rigid body integrated by Runge–Kutta at 10 µs; the order is\n\
         the least-squares slope of log error over log step, from 0.5 to 4 ms for methods of second\n\
         order and below 0.6 ms for those of first order, whose error at longer steps is too large\n\
         to be a power of the step. Bodies have a Young's modulus of 1e13 Pa here, so that the\n\
         strain of a real material does not hide the error of the method.\n\n{}\n",
        markdown(&convergence::HEADINGS, &cells)
    );
    for motion in ["pendulum", "heavy-top"] {
        let own: Vec<&Study> = studies.iter().filter(|s| s.motion == motion).collect();
        let name = format!("images/convergence-{motion}.svg");
        let path = folder.join(&name);
        fs::create_dir_all(path.parent().unwrap_or(folder))?;
        work_precision(motion, &own).write_svg(&path)?;
        let shown = motion.replace('-', " ");
        text.push_str(&format!(
            "![Error of the {shown} over step and over work]({name})\n\n"
        ));
    }
    text.push_str(
        "Left: error over step. Right: error over the wall time that one second of motion takes on\n\
         one core, best of eleven; the left end of a curve is the cheapest.\n",
    );
    write_atomic(folder.join("convergence.md"), text.as_bytes())?;
    Ok(())
}

/// Writes the same plots as PNG, for those who do not read the book.
pub fn write_pictures(folder: &Path, studies: &[Study]) -> Outcome<()> {
    fs::create_dir_all(folder)?;
    for motion in ["pendulum", "heavy-top"] {
        let own: Vec<&Study> = studies.iter().filter(|s| s.motion == motion).collect();
        let path = folder.join(format!("convergence-{motion}.png"));
        work_precision(motion, &own).write_png(path, 1600)?;
    }
    Ok(())
}

fn work_precision(motion: &str, studies: &[&Study]) -> Figure {
    let panel = |title: &str, x_label: &str, x: fn(&Point) -> f64| {
        let mut series = Vec::new();
        for study in studies {
            let points: Vec<_> = study.points.iter().map(|p| (x(p), p.error)).collect();
            let color = Some(color(study.integrator));
            series.push(Series {
                color,
                ..Series::new(study.integrator.name(), points.clone())
            });
            series.push(Series {
                color,
                ..Series::new("", points).style(Style::Markers)
            });
        }
        Plot {
            title: title.to_owned(),
            x_label: x_label.to_owned(),
            y_label: "largest error [rad]".to_owned(),
            series,
            x_log: true,
            y_log: true,
        }
    };
    Figure::new(format!("Convergence, {}", motion.replace('-', " "))).row(vec![
        panel("error over step", "step [s]", |p| p.h),
        panel(
            "error over work",
            "wall time per second of motion [s]",
            |p| p.work,
        ),
    ])
}

/// The colour of an integrator in every picture.
pub fn color(integrator: Integrator) -> [u8; 3] {
    match integrator {
        Integrator::Tempered => [0, 114, 178],
        Integrator::Rattle => [0, 158, 115],
        Integrator::LinearEuler => [213, 94, 0],
        Integrator::ImplicitEuler => [230, 159, 0],
        _ => [204, 121, 167],
    }
}
