//! A scene ready to run: a model, how to step it, and what is worth watching.

use glam::DVec3;
use vincula::diagnostics::reaction_force;
use vincula::prelude::*;

/// What a probe sees.
pub struct View<'a> {
    /// The model.
    pub model: &'a Model,
    /// The state after a step.
    pub state: &'a State,
    /// Force of the only pivot on its body, N, where a method other than the engine's own
    /// step computed it.
    pub pivot_force: Option<DVec3>,
}

impl View<'_> {
    /// Force of a joint on its second body, N; not a number where nobody knows it.
    pub fn reaction(&self, joint: JointId) -> DVec3 {
        if self.state.time == 0.0 {
            return DVec3::NAN;
        }
        self.pivot_force
            .or_else(|| reaction_force(self.model, self.state, joint))
            .unwrap_or(DVec3::NAN)
    }
}

/// What a probe's value speaks of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Timing {
    /// The instant of the state.
    #[default]
    Instant,
    /// The mean over the step that led to the state.
    StepMean,
}

type Measure = Box<dyn Fn(&View) -> f64 + Send + Sync>;
type Curve = Box<dyn Fn(f64) -> f64 + Send + Sync>;
type Drive = Box<dyn Fn(&Model, &State, &mut Control) + Send + Sync>;

/// A number worth recording over time.
pub struct Probe {
    /// Name of files and arrays.
    pub name: &'static str,
    /// What it is, for the axis of a plot.
    pub label: &'static str,
    /// Its unit; empty for pure numbers.
    pub unit: &'static str,
    /// Whether it speaks of an instant or of a step.
    pub timing: Timing,
    measure: Measure,
    reference: Option<Curve>,
}

impl Probe {
    /// A probe without a reference.
    pub fn new(
        name: &'static str,
        label: &'static str,
        unit: &'static str,
        measure: impl Fn(&View) -> f64 + Send + Sync + 'static,
    ) -> Probe {
        let measure = Box::new(measure);
        Probe {
            name,
            label,
            unit,
            timing: Timing::Instant,
            measure,
            reference: None,
        }
    }

    /// The same probe with the value that physics expects at each time, s.
    pub fn against(mut self, curve: impl Fn(f64) -> f64 + Send + Sync + 'static) -> Probe {
        self.reference = Some(Box::new(curve));
        self
    }

    /// The same probe, whose value is the mean over the last step.
    pub fn step_mean(mut self) -> Probe {
        self.timing = Timing::StepMean;
        self
    }

    /// Its value at a state.
    pub fn measure(&self, view: &View) -> f64 {
        (self.measure)(view)
    }

    /// Its value according to the reference at time `t`, s.
    pub fn reference(&self, t: f64) -> Option<f64> {
        self.reference.as_ref().map(|curve| curve(t))
    }

    /// Whether it has a reference.
    pub fn has_reference(&self) -> bool {
        self.reference.is_some()
    }

    /// The time, s, that a value read at time `t` after a step of `h` speaks of.
    pub fn time_meant(&self, t: f64, h: f64) -> f64 {
        match self.timing {
            Timing::Instant => t,
            Timing::StepMean => (t - 0.5 * h).max(0.0),
        }
    }
}

/// A scene ready to run.
pub struct Scene {
    /// Name in the gallery.
    pub name: &'static str,
    /// Bodies and joints.
    pub model: Model,
    /// The state at time zero.
    pub state: State,
    /// Time step, s.
    pub h: f64,
    /// Time to simulate, s.
    pub duration: f64,
    /// The integrator this scene is meant for.
    pub integrator: Integrator,
    /// What is worth watching.
    pub probes: Vec<Probe>,
    drive: Option<Drive>,
}

impl Scene {
    /// A scene at the initial state of its model, with the default integrator.
    pub fn new(name: &'static str, model: Model, h: f64, duration: f64) -> Scene {
        let state = model.initial_state();
        let integrator = Integrator::default();
        Scene {
            name,
            model,
            state,
            h,
            duration,
            integrator,
            probes: Vec::new(),
            drive: None,
        }
    }

    /// The same scene with one more probe.
    pub fn probe(mut self, probe: Probe) -> Scene {
        self.probes.push(probe);
        self
    }

    /// The same scene, driven from outside: called before each step with a clear control.
    pub fn driven(
        mut self,
        drive: impl Fn(&Model, &State, &mut Control) + Send + Sync + 'static,
    ) -> Scene {
        self.drive = Some(Box::new(drive));
        self
    }

    /// Whether something acts from outside.
    pub fn is_driven(&self) -> bool {
        self.drive.is_some()
    }

    /// Sets what acts from outside during the next step.
    pub fn control(&self, state: &State, control: &mut Control) {
        if let Some(drive) = &self.drive {
            control.clear();
            drive(&self.model, state, control);
        }
    }

    /// Number of steps of length `h` that make up the duration, at least one.
    pub fn steps(&self) -> usize {
        (self.duration / self.h).round().max(1.0) as usize
    }
}
