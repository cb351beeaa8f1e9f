//! What every step of a run did: energy, joint gap, iterations and time, for the engine and for
//! the classic methods alike.

use std::time::Instant;

use vincula::diagnostics::{Energy, energy, worst_gap};
use vincula::prelude::*;
use vincula_classic::catalog;
use vincula_scenes::{Probe, Scene, View};

use crate::motion::{Outcome, find_probe, largest};

/// One step.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// Time at the end of the step, s.
    pub time: f64,
    /// Energy there, J.
    pub energy: Energy,
    /// Largest violation of a joint there, m.
    pub gap: f64,
    /// Iterations of the step.
    pub iterations: usize,
    /// Wall time of the step, ms.
    pub millis: f64,
    /// The watched probe; not a number if none is watched.
    pub probe: f64,
}

/// All steps of a run.
#[derive(Clone, Debug)]
pub struct Trace {
    /// The state at the start; no step led there.
    pub start: Sample,
    /// The steps, in order.
    pub samples: Vec<Sample>,
    /// Why the run ended before its time, if it did.
    pub stopped: Option<String>,
}

/// A run repeated `times` times, with the shortest time of each step.
pub fn repeat(times: usize, run: impl Fn() -> Outcome<Trace>) -> Outcome<Trace> {
    let mut trace = run()?;
    for _ in 1..times {
        trace = trace.with_times_of(&run()?);
    }
    Ok(trace)
}

/// What is advanced: the engine, or a classic method.
type Advance<'a> = dyn FnMut(&mut State) -> Outcome<usize> + 'a;

/// Runs a scene with the engine.
pub fn trace(scene: &Scene, settings: Settings, h: f64, duration: f64) -> Outcome<Trace> {
    trace_probe(scene, settings, None, h, duration)
}

/// The same, with a probe of the scene watched.
pub fn trace_probe(
    scene: &Scene,
    settings: Settings,
    probe: Option<&str>,
    h: f64,
    duration: f64,
) -> Outcome<Trace> {
    let model = &scene.model;
    let mut control = Control::new(model);
    let mut work = Workspace::new(model, settings);
    let mut advance = |state: &mut State| {
        scene.control(state, &mut control);
        Ok(step(model, state, &control, &mut work, h)?.iterations)
    };
    collect(scene, probe, steps(h, duration), &mut advance)
}

/// Runs a scene with a method of the catalogue.
pub fn trace_classic(
    scene: &Scene,
    method: &str,
    probe: Option<&str>,
    h: f64,
    duration: f64,
) -> Outcome<Trace> {
    let model = &scene.model;
    let entry = catalog::find(method).ok_or_else(|| format!("there is no method '{method}'"))?;
    let mut method = entry.make(model, &scene.state)?;
    let mut control = Control::new(model);
    let mut advance = |state: &mut State| {
        scene.control(state, &mut control);
        let report = method.step(model, &control, h)?;
        method.system().write_state(model, state);
        Ok(report.iterations)
    };
    collect(scene, probe, steps(h, duration), &mut advance)
}

fn steps(h: f64, duration: f64) -> usize {
    (duration / h).round().max(1.0) as usize
}

fn collect(
    scene: &Scene,
    probe: Option<&str>,
    steps: usize,
    advance: &mut Advance,
) -> Outcome<Trace> {
    let model = &scene.model;
    let probe = probe.map(|name| find_probe(scene, name)).transpose()?;
    let mut state = scene.state.clone();
    let mut trace = Trace {
        start: look(model, &state, probe),
        samples: Vec::with_capacity(steps),
        stopped: None,
    };
    for _ in 0..steps {
        let begin = Instant::now();
        match advance(&mut state) {
            Ok(iterations) => {
                let millis = 1e3 * begin.elapsed().as_secs_f64();
                let sample = look(model, &state, probe);
                trace.samples.push(Sample {
                    iterations,
                    millis,
                    ..sample
                });
            }
            Err(error) => {
                trace.stopped = Some(error.to_string());
                break;
            }
        }
    }
    Ok(trace)
}

fn look(model: &Model, state: &State, probe: Option<&Probe>) -> Sample {
    let view = View {
        model,
        state,
        pivot_force: None,
    };
    Sample {
        time: state.time,
        energy: energy(model, state),
        gap: worst_gap(model, state).0,
        iterations: 0,
        millis: f64::NAN,
        probe: probe.map_or(f64::NAN, |probe| probe.measure(&view)),
    }
}

impl Trace {
    /// Largest gap, m; not a number if the run ended early.
    pub fn gap(&self) -> f64 {
        self.over_all(|sample| sample.gap)
    }

    /// The most that the energy ever exceeded that of the start, J; not a number if the run
    /// ended early.
    pub fn gained(&self) -> f64 {
        self.over_all(|sample| (sample.energy.total() - self.start.energy.total()).max(0.0))
    }

    /// The most that the energy ever was away from that of the start, J.
    pub fn strayed(&self) -> f64 {
        self.over_all(|sample| sample.energy.total() - self.start.energy.total())
    }

    /// Largest kinetic energy, J.
    pub fn kinetic(&self) -> f64 {
        self.over_all(|sample| sample.energy.kinetic)
    }

    /// Largest size of the watched probe.
    pub fn probe(&self) -> f64 {
        self.over_all(|sample| sample.probe)
    }

    /// Iterations of a step, mean.
    pub fn iterations(&self) -> f64 {
        let total: usize = self.samples.iter().map(|sample| sample.iterations).sum();
        total as f64 / self.samples.len() as f64
    }

    /// Wall time of a step, ms: half of the steps took less.
    pub fn median_millis(&self) -> f64 {
        let mut times: Vec<f64> = self.samples.iter().map(|sample| sample.millis).collect();
        times.sort_by(f64::total_cmp);
        times.get(times.len() / 2).copied().unwrap_or(f64::NAN)
    }

    /// Wall time of the fastest step, ms: what a quiet machine might take for an easy step.
    pub fn best_millis(&self) -> f64 {
        let times = self.samples.iter().map(|sample| sample.millis);
        times.fold(f64::INFINITY, f64::min)
    }

    /// The same run once more: each step took no longer than in either. A machine that others
    /// use too tells the truth only now and then.
    pub fn with_times_of(mut self, again: &Trace) -> Trace {
        for (sample, other) in self.samples.iter_mut().zip(&again.samples) {
            sample.millis = sample.millis.min(other.millis);
        }
        self
    }

    /// A quantity of the state over time, from the start.
    pub fn curve(&self, of: impl Fn(&Sample) -> f64) -> Vec<(f64, f64)> {
        let states = std::iter::once(&self.start).chain(&self.samples);
        states.map(|s| (s.time, of(s))).collect()
    }

    /// A quantity of the steps over time.
    pub fn step_curve(&self, of: impl Fn(&Sample) -> f64) -> Vec<(f64, f64)> {
        self.samples.iter().map(|s| (s.time, of(s))).collect()
    }

    /// A quantity over time, as means over spells of about `width` seconds.
    pub fn mean_curve(&self, width: f64, of: impl Fn(&Sample) -> f64) -> Vec<(f64, f64)> {
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        self.spells(width, of, mean)
    }

    /// A quantity over time, as its largest value in spells of about `width` seconds.
    pub fn most_curve(&self, width: f64, of: impl Fn(&Sample) -> f64) -> Vec<(f64, f64)> {
        self.spells(width, of, |values| largest(values.iter().copied()))
    }

    fn spells(
        &self,
        width: f64,
        of: impl Fn(&Sample) -> f64,
        join: impl Fn(&[f64]) -> f64,
    ) -> Vec<(f64, f64)> {
        let h = self.samples.first().map_or(width, |sample| sample.time);
        let count = (width / h).round().max(1.0) as usize;
        let each = |spell: &[Sample]| {
            let values: Vec<f64> = spell.iter().map(&of).collect();
            let middle = 0.5 * (spell[0].time + spell[spell.len() - 1].time);
            (middle, join(&values))
        };
        self.samples.chunks(count).map(each).collect()
    }

    fn over_all(&self, of: impl Fn(&Sample) -> f64) -> f64 {
        match self.stopped {
            None => largest(self.samples.iter().map(of)),
            Some(_) => f64::NAN,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pendulum() -> Scene {
        vincula_scenes::build("pendulum", &[]).unwrap()
    }

    #[test]
    fn the_engine_and_a_classic_method_are_read_alike() {
        let scene = pendulum();
        let ours = trace_probe(&scene, Settings::default(), Some("angle"), 1e-3, 0.1).unwrap();
        let theirs = trace_classic(&scene, "rigid-implicit", Some("angle"), 1e-3, 0.1).unwrap();
        assert_eq!((ours.samples.len(), theirs.samples.len()), (100, 100));
        let (a, b) = (ours.samples[99], theirs.samples[99]);
        assert!((a.time - b.time).abs() < 1e-12);
        assert!(
            (a.probe - b.probe).abs() < 2e-2,
            "{} and {}",
            a.probe,
            b.probe
        );
        assert!(ours.gap() < 1e-12 && ours.iterations() >= 1.0 && ours.median_millis() > 0.0);
        assert!(ours.strayed() < 1e-2 * ours.kinetic());
        let angles = ours.curve(|sample| sample.probe);
        assert_eq!((angles.len(), angles[0].0), (101, 0.0));
        assert_eq!(ours.step_curve(|sample| sample.millis).len(), 100);
    }

    #[test]
    fn of_two_runs_each_step_keeps_the_shorter_time() {
        let mut first = trace(&pendulum(), Settings::default(), 1e-2, 0.03).unwrap();
        let mut second = first.clone();
        for (k, millis) in [1.0, 5.0, 2.0].into_iter().enumerate() {
            first.samples[k].millis = millis;
            second.samples[k].millis = 3.0;
        }
        let both = first.with_times_of(&second);
        let times: Vec<f64> = both.samples.iter().map(|sample| sample.millis).collect();
        assert_eq!(times, [1.0, 3.0, 2.0]);
        assert_eq!((both.median_millis(), both.best_millis()), (2.0, 1.0));
    }

    #[test]
    fn a_run_that_ends_early_has_no_largest_gap() {
        let mut trace = trace(&pendulum(), Settings::default(), 1e-2, 0.1).unwrap();
        assert!(trace.gap().is_finite());
        trace.stopped = Some("it broke".to_owned());
        assert!(trace.gap().is_nan() && trace.gained().is_nan());
    }

    #[test]
    fn spells_join_the_steps_they_span() {
        let trace = trace(&pendulum(), Settings::default(), 1e-2, 0.1).unwrap();
        let index = |sample: &Sample| (sample.time * 1e2).round();
        let means: Vec<f64> = trace.mean_curve(0.05, index).iter().map(|p| p.1).collect();
        let most: Vec<f64> = trace.most_curve(0.05, index).iter().map(|p| p.1).collect();
        assert_eq!((means, most), (vec![3.0, 8.0], vec![5.0, 10.0]));
    }
}
