//! Runs a scene from start to end and watches it.

use std::time::Instant;

use vincula::diagnostics::energy;
use vincula::model::State;
use vincula_scenes::{Scene, View};

use crate::engine::Engine;
use crate::interrupt::Interrupt;
use crate::progress::Progress;
use crate::recording::Recording;
use crate::stopwatch::{StepTime, Stopwatch};

/// Bodies looked at for energy and probes in a run, at most: beyond, not every step is
/// looked at, lest watching takes longer than stepping.
const LOOKS: usize = 20_000_000;

/// What a run came to.
pub struct Outcome {
    /// Steps made.
    pub steps: usize,
    /// Simulated time, s.
    pub time: f64,
    /// Duration of a step.
    pub step_time: StepTime,
    /// Time from start to end with everything, s.
    pub wall: f64,
    /// Mean number of iterations of a step.
    pub iterations_mean: f64,
    /// Steps that did not reach their tolerance.
    pub unconverged: usize,
    /// Steps that were taken in parts.
    pub parted: usize,
    /// Largest violation of a joint at the end of a step, m.
    pub residual_max: f64,
    /// Most points of contact in a step.
    pub contacts: usize,
    /// Depth of the worst contact of all steps, m.
    pub penetration_max: f64,
    /// Largest violation of Coulomb's law, relative to the largest force of its step.
    pub contact_residual_max: f64,
    /// Energy at the start, at the end and its largest gain over the start, J.
    pub energy: [f64; 3],
    /// Largest kinetic energy, J: what a gain is to be measured by.
    pub kinetic_max: f64,
    /// Whether the last state is finite.
    pub finite: bool,
    /// Steps between two looks at energy and probes.
    pub look_every: usize,
    /// Last value of each probe.
    pub probe_ends: Vec<f64>,
    /// Largest distance of each probe from its reference.
    pub probe_errors: Vec<Option<f64>>,
    /// Why the run stopped early.
    pub error: Option<String>,
}

/// Looks at energy and probes.
struct Watch {
    start: f64,
    end: f64,
    most: f64,
    kinetic: f64,
    ends: Vec<f64>,
    errors: Vec<Option<f64>>,
}

impl Watch {
    fn new(scene: &Scene, view: &View) -> Watch {
        let start = energy(view.model, view.state).total();
        let errors = scene
            .probes
            .iter()
            .map(|p| p.has_reference().then_some(0.0))
            .collect();
        let ends = vec![f64::NAN; scene.probes.len()];
        let mut watch = Watch {
            start,
            end: start,
            most: start,
            kinetic: 0.0,
            ends,
            errors,
        };
        watch.look(scene, view);
        watch
    }

    fn look(&mut self, scene: &Scene, view: &View) {
        let now = energy(view.model, view.state);
        self.end = now.total();
        self.kinetic = self.kinetic.max(now.kinetic);
        self.most = self.most.max(self.end);
        let t = view.state.time;
        for (index, probe) in scene.probes.iter().enumerate() {
            let value = probe.measure(view);
            self.ends[index] = value;
            let meant = probe.time_meant(t, scene.h);
            if let (Some(worst), Some(exact)) = (&mut self.errors[index], probe.reference(meant)) {
                // A value that nobody knows yet (a force before the first step) is no error.
                *worst = worst.max((value - exact).abs());
            }
        }
    }
}

/// Runs `steps` steps, or fewer if that fails or is interrupted.
pub fn simulate(
    scene: &Scene,
    engine: &mut Engine,
    steps: usize,
    mut recording: Option<&mut Recording>,
    progress: &mut Progress,
    interrupt: &Interrupt,
) -> Outcome {
    let begin = Instant::now();
    let look_every = (steps.saturating_mul(scene.model.bodies().len()) / LOOKS).max(1);
    let mut stopwatch = Stopwatch::default();
    let mut watch = Watch::new(scene, &engine.view(scene));
    if let Some(recording) = recording.as_deref_mut() {
        recording.keep(scene, &engine.view(scene), 0);
    }
    let (mut done, mut iterations, mut unconverged, mut parted) = (0, 0, 0, 0);
    let (mut residual_max, mut error) = (0.0f64, None);
    let (mut contacts, mut penetration_max, mut contact_residual_max) = (0, 0.0f64, 0.0f64);
    let mut ended = steps == 0;
    while !ended {
        let start = Instant::now();
        let advance = match engine.advance(scene) {
            Ok(advance) => advance,
            Err(why) => {
                error = Some(why);
                break;
            }
        };
        stopwatch.add(start.elapsed());
        done += 1;
        iterations += advance.iterations;
        unconverged += usize::from(!advance.converged);
        parted += usize::from(advance.parted);
        residual_max = residual_max.max(advance.residual);
        contacts = contacts.max(advance.contacts);
        penetration_max = penetration_max.max(advance.penetration);
        contact_residual_max = contact_residual_max.max(advance.contact_residual);
        ended = done == steps || interrupt.came();
        if done % look_every == 0 || ended {
            watch.look(scene, &engine.view(scene));
        }
        if let Some(recording) = recording.as_deref_mut() {
            recording.keep(scene, &engine.view(scene), done);
        }
        progress.show(done);
    }
    progress.finish();
    let wall = begin.elapsed().as_secs_f64();
    let state = engine.view(scene).state;
    let (time, finite) = (state.time, is_finite(state));
    Outcome {
        steps: done,
        time,
        step_time: stopwatch.finish(engine, scene),
        wall,
        iterations_mean: iterations as f64 / done as f64,
        unconverged,
        parted,
        residual_max,
        contacts,
        penetration_max,
        contact_residual_max,
        energy: [watch.start, watch.end, watch.most - watch.start],
        kinetic_max: watch.kinetic,
        finite,
        look_every,
        probe_ends: watch.ends,
        probe_errors: watch.errors,
        error,
    }
}

fn is_finite(state: &State) -> bool {
    state.blocks().iter().all(|block| {
        let (place, motion) = (
            block.t.iter().chain(&block.a),
            block.v.iter().chain(&block.w),
        );
        place
            .chain(motion)
            .flatten()
            .all(|number| number.is_finite())
    })
}
