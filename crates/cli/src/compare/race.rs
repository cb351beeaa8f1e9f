//! One method over a scene, watched: time, joint error, energy, overlap, place of the bodies.

use std::time::Instant;

use glam::DVec3;
use vincula::contact::{Contacts, detect};
use vincula::diagnostics::{energy, worst_gap};
use vincula::model::Control;
use vincula_scenes::{Scene, View};

use super::Contestant;
use crate::engine::{ContactWishes, Engine};

/// Looks at a run, at most.
const LOOKS: usize = 400;

/// When to stop.
pub(super) struct Limits {
    /// Steps.
    pub steps: usize,
    /// Time spent on stepping, s.
    pub seconds: f64,
}

/// What is seen at a time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Look {
    /// Time, s.
    pub time: f64,
    /// Largest violation of a joint, m.
    pub gap: f64,
    /// Change of the total energy since the start, J.
    pub energy: f64,
    /// Deepest overlap of two colliders, m.
    pub overlap: f64,
    /// Time spent on stepping so far, s.
    pub spent: f64,
}

/// A method over a scene.
pub(super) struct Track {
    /// Name of the method.
    pub name: &'static str,
    /// Steps made.
    pub steps: usize,
    /// Median duration of a step, s.
    pub step_time: f64,
    /// Mean number of iterations of a step.
    pub iterations: f64,
    /// What was seen.
    pub looks: Vec<Look>,
    /// Largest distance of a body's centre from where the first method has it, m, at the end
    /// of both.
    pub distance: Option<f64>,
    /// Why it did not start, or stopped early.
    pub trouble: Option<String>,
    centers: Vec<DVec3>,
}

impl Track {
    /// Whether it made a step at all.
    pub fn ran(&self) -> bool {
        self.steps > 0
    }

    /// The largest of something seen.
    pub fn most(&self, of: impl Fn(&Look) -> f64) -> f64 {
        self.looks.iter().map(of).fold(0.0, f64::max)
    }
}

/// Runs a method over a scene; `first` is the one that places are compared with.
pub(super) fn run(
    scene: &Scene,
    contestant: &Contestant,
    limits: &Limits,
    first: Option<&Track>,
) -> Track {
    let mut track = Track {
        name: contestant.name,
        steps: 0,
        step_time: f64::NAN,
        iterations: f64::NAN,
        looks: Vec::new(),
        distance: None,
        trouble: None,
        centers: Vec::new(),
    };
    match Engine::new(
        scene,
        contestant.method,
        contestant.integrator,
        None,
        ContactWishes::default(),
        1,
        false,
    ) {
        Err(fault) => track.trouble = Some(fault.to_string()),
        Ok(mut engine) => drive(scene, &mut engine, limits, &mut track),
    }
    if let Some(first) = first.filter(|first| first.steps == track.steps) {
        let pairs = first.centers.iter().zip(&track.centers);
        track.distance = Some(pairs.fold(0.0, |most: f64, (a, b)| most.max(a.distance(*b))));
    }
    track
}

fn drive(scene: &Scene, engine: &mut Engine, limits: &Limits, track: &mut Track) {
    let mut watch = Watch::new(scene);
    watch.look(&engine.view(scene), 0.0, track);
    let every = (limits.steps / LOOKS).max(1);
    let (mut durations, mut spent, mut iterations) = (Vec::new(), 0.0, 0);
    while track.steps < limits.steps {
        let start = Instant::now();
        let done = engine.advance(scene);
        let duration = start.elapsed().as_secs_f64();
        match done {
            Ok(advance) => iterations += advance.iterations,
            Err(why) => {
                track.trouble = Some(why);
                break;
            }
        }
        track.steps += 1;
        spent += duration;
        durations.push(duration);
        if track.steps.is_multiple_of(every) || track.steps == limits.steps {
            watch.look(&engine.view(scene), spent, track);
        }
        if spent > limits.seconds && track.steps < limits.steps {
            let time = track.steps as f64 * scene.h;
            track.trouble = Some(format!("stopped after {spent:.0} s at t = {time:.3} s"));
            break;
        }
    }
    durations.sort_by(f64::total_cmp);
    if let Some(median) = durations.get(durations.len() / 2) {
        track.step_time = *median;
        track.iterations = iterations as f64 / track.steps as f64;
    }
    let view = engine.view(scene);
    let center = |id| view.state.center(id);
    track.centers = scene.model.body_ids().map(center).collect();
}

/// Eyes that all methods are seen with.
struct Watch {
    contacts: Contacts,
    control: Control,
    start: Option<f64>,
}

impl Watch {
    fn new(scene: &Scene) -> Watch {
        Watch {
            contacts: Contacts::new(),
            control: Control::new(&scene.model),
            start: None,
        }
    }

    fn look(&mut self, view: &View, spent: f64, track: &mut Track) {
        let total = energy(view.model, view.state).total();
        let start = *self.start.get_or_insert(total);
        detect(
            view.model,
            view.state,
            &self.control,
            0.0,
            &mut self.contacts,
        );
        track.looks.push(Look {
            time: view.state.time,
            gap: worst_gap(view.model, view.state).0,
            energy: total - start,
            overlap: self.contacts.penetration(),
            spent,
        });
    }
}
