//! The pendulum of the README: five integrators against the exact motion, as an SVG.
//!
//! A rod falls from horizontal about a ball joint for 5 s in steps of 10 ms. The upper panel
//! shows its angle, the lower one how far each integrator is from the elliptic-integral
//! solution. Run it from the root: `cargo run -p vincula-exchange --example pendulum FILE`.

use std::error::Error;
use std::f64::consts::FRAC_PI_2;

use vincula::diagnostics::energy;
use vincula::prelude::*;
use vincula::reference::PhysicalPendulum;
use vincula_exchange::{Figure, Plot, Series, Style};

const STEP: f64 = 0.01;
const STEPS: usize = 500;
const GRAVITY: f64 = 9.81;

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1);
    let path = path.unwrap_or_else(|| "docs/src/images/pendulum.svg".into());
    let mut errors = Vec::new();
    let mut angles = Plot {
        y_label: "angle from below [rad]".into(),
        ..Plot::default()
    };
    println!(
        "{:<16}{:>16}{:>16}",
        "integrator", "max error [rad]", "energy"
    );
    for integrator in Integrator::ALL {
        let run = swing(integrator)?;
        let worst = run.error.iter().fold(0.0, |m: f64, (_, e)| m.max(*e));
        println!(
            "{:<16}{worst:>16.2e}{:>16.2e}",
            integrator.name(),
            run.energy
        );
        if integrator == Integrator::default() {
            assert!(worst < 0.01 && run.energy.abs() < 1e-3);
            angles.series.push(Series::new("exact", run.exact));
            let sparse: Vec<_> = run.angle.iter().copied().step_by(10).collect();
            let name = format!("{integrator}, h = 10 ms");
            angles
                .series
                .push(Series::new(name, sparse).style(Style::Markers));
        }
        errors.push(Series::new(integrator.name(), run.error));
    }
    let errors = Plot {
        x_label: "time [s]".into(),
        y_label: "error of the angle [rad]".into(),
        series: errors,
        y_log: true,
        ..Plot::default()
    };
    Figure::new("A rod falls from horizontal")
        .panel(angles)
        .panel(errors)
        .write_svg(path)?;
    Ok(())
}

/// Curves over time in seconds; the change of energy is relative to the depth of the fall.
#[derive(Default)]
struct Run {
    angle: Vec<(f64, f64)>,
    exact: Vec<(f64, f64)>,
    error: Vec<(f64, f64)>,
    energy: f64,
}

fn swing(integrator: Integrator) -> Result<Run, Box<dyn Error>> {
    let half_extents = DVec3::new(0.5, 0.05, 0.05);
    let mut builder = ModelBuilder::new();
    let shape = Shape::Box { half_extents };
    let rod = builder.body(BodyDef::new("rod", shape, 1000.0).at(DVec3::new(0.5, 0.0, 0.0)));
    builder.joint(JointDef::ball("pivot", World, rod, DVec3::ZERO));
    let model = builder.build()?;
    let mass = model.body(rod).mass.mass;
    let inertia = model
        .body(rod)
        .mass
        .inertia_tensor_about(DVec3::new(-0.5, 0.0, 0.0))
        .y_axis
        .y;
    let exact = PhysicalPendulum::new(mass, 0.5, inertia, GRAVITY, FRAC_PI_2)?;

    let mut state = model.initial_state();
    let mut work = Workspace::new(&model, Settings::with_integrator(integrator));
    let control = Control::new(&model);
    let start = energy(&model, &state).total();
    let mut run = Run::default();
    for _ in 0..STEPS {
        step(&model, &mut state, &control, &mut work, STEP)?;
        let center = state.center(rod);
        let (t, angle) = (state.time, center.x.atan2(-center.z));
        run.angle.push((t, angle));
        run.exact.push((t, exact.angle(t)));
        run.error.push((t, (angle - exact.angle(t)).abs()));
    }
    let depth = mass * GRAVITY * 0.5;
    run.energy = (energy(&model, &state).total() - start) / depth;
    Ok(run)
}
