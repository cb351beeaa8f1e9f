//! What a run came to, as JSON. The fields up to `seed` are fixed for ever.

use serde::Serialize;
use vincula_scenes::{Probe, Scene};

use crate::args::RunArgs;
use crate::engine::Engine;
use crate::simulate::Outcome;
use crate::stopwatch::StepTime;

/// Gain of energy, as a fraction of the largest kinetic energy, that deserves a warning.
const SUSPECT_GAIN: f64 = 0.05;
/// The same as a fraction of the energy at the start: what stands still settles by nanometres.
const SETTLING: f64 = 1e-8;

/// Energies, J.
#[derive(Debug, Serialize)]
pub struct EnergyReport {
    /// At the start.
    pub start: f64,
    /// At the end.
    pub end: f64,
    /// Largest gain over the start.
    pub max_gain: f64,
}

/// A probe at the end of a run.
#[derive(Debug, Serialize)]
pub struct ProbeReport {
    /// Its name.
    pub name: &'static str,
    /// Its unit.
    pub unit: &'static str,
    /// Its last value.
    pub end: f64,
    /// Its largest distance from the reference, where there is one.
    pub max_error: Option<f64>,
}

/// One run. Numbers that are not finite become null.
#[derive(Debug, Serialize)]
pub struct Report {
    pub scene: &'static str,
    pub bodies: usize,
    pub joints: usize,
    pub rows: usize,
    pub contacts: usize,
    /// Step length, s.
    pub h: f64,
    /// Steps made.
    pub steps: usize,
    pub ms_per_step: StepTime,
    pub iterations_mean: f64,
    /// Largest violation of a joint, m.
    pub residual_max: f64,
    pub energy: EnergyReport,
    /// Whether the last state is finite.
    pub finite: bool,
    /// What solves the joints, and why.
    pub plan: String,
    pub seed: u64,
    pub method: &'static str,
    pub integrator: &'static str,
    /// Threads in use.
    pub threads: u32,
    /// Vector instructions in use.
    pub level: &'static str,
    /// Simulated time, s.
    pub time: f64,
    /// Time from start to end, with watching and recording, s.
    pub wall_s: f64,
    /// Step length over the median duration of a step.
    pub real_time_factor: f64,
    /// Depth of the worst contact, m.
    pub penetration_max: f64,
    /// Largest violation of Coulomb's law, relative to the largest contact force.
    pub contact_residual_max: f64,
    pub probes: Vec<ProbeReport>,
    pub warnings: Vec<String>,
    /// Why the run stopped early.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl Report {
    /// Puts everything together.
    pub fn new(scene: &Scene, engine: &Engine, request: &RunArgs, outcome: Outcome) -> Report {
        let model = &scene.model;
        let [start, end, max_gain] = outcome.energy;
        Report {
            scene: scene.name,
            bodies: model.bodies().len(),
            joints: model.joints().len(),
            rows: model.rows(),
            contacts: outcome.contacts,
            h: scene.h,
            steps: outcome.steps,
            ms_per_step: outcome.step_time,
            iterations_mean: outcome.iterations_mean,
            residual_max: outcome.residual_max,
            energy: EnergyReport {
                start,
                end,
                max_gain,
            },
            finite: outcome.finite,
            plan: engine.plan(),
            seed: request.seed,
            method: request.method.name(),
            integrator: engine.integrator(),
            threads: engine.threads() as u32,
            level: engine.level(),
            time: outcome.time,
            wall_s: outcome.wall,
            real_time_factor: scene.h / (1e-3 * outcome.step_time.median),
            penetration_max: outcome.penetration_max,
            contact_residual_max: outcome.contact_residual_max,
            warnings: warnings(request, scene, engine, &outcome),
            probes: probes(&scene.probes, &outcome),
            error: outcome.error,
        }
    }
}

fn probes(probes: &[Probe], outcome: &Outcome) -> Vec<ProbeReport> {
    let results = outcome.probe_ends.iter().zip(&outcome.probe_errors);
    let report = |(probe, (end, error)): (&Probe, (&f64, &Option<f64>))| ProbeReport {
        name: probe.name,
        unit: probe.unit,
        end: *end,
        max_error: *error,
    };
    probes.iter().zip(results).map(report).collect()
}

fn warnings(request: &RunArgs, scene: &Scene, engine: &Engine, outcome: &Outcome) -> Vec<String> {
    let mut warnings = Vec::new();
    let used = engine.threads();
    if let Some(threads) = request.threads.filter(|threads| *threads as usize > used) {
        warnings.push(format!(
            "asked for {threads} threads; this scene is stepped on {used}"
        ));
    }
    if outcome.unconverged > 0 {
        warnings.push(format!(
            "{} of {} steps stopped at the iteration limit; take a smaller h",
            outcome.unconverged, outcome.steps
        ));
    }
    if outcome.parted > 0 {
        warnings.push(format!(
            "{} of {} steps were taken in parts; a smaller h may be faster",
            outcome.parted, outcome.steps
        ));
    }
    let gain = outcome.energy[2];
    let least = (SUSPECT_GAIN * outcome.kinetic_max).max(SETTLING * outcome.energy[0].abs());
    if !scene.is_driven() && gain > least {
        warnings.push(format!(
            "energy grew by {gain:.3e} J with nothing to feed it; take a smaller h"
        ));
    }
    if outcome.look_every > 1 {
        warnings.push(format!(
            "energy and probes were read every {} steps",
            outcome.look_every
        ));
    }
    warnings
}
