//! How steps are made.

use crate::contact::ContactSolver;
use crate::dual::SolverChoice;
use crate::integrate::{Integrator, Tempering};
use crate::math::dispatch::{Level, detected};
use crate::math::lanes::LANES;

/// How steps are made. The defaults need no tuning.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// The time integrator.
    pub integrator: Integrator,
    /// Which solver serves the joints.
    pub solver: SolverChoice,
    /// When a tempered step is linearised again. One linear solve takes a rotation for linear
    /// and stretches the body; this is the energy of that stretch over the inertial energy of
    /// the rotation, or over a hundredth of the kinetic energy of the body if that is more, at
    /// most.
    pub stretch_tolerance: f64,
    /// Violation of a nonlinear row that is corrected with the same factor, m.
    pub residual_tolerance: f64,
    /// Newton iterations at most.
    pub iteration_limit: usize,
    /// Equal parts at most that a step is taken in when it cannot be solved as a whole well, and eight
    /// times as many when it can not at all; 1 refuses it.
    pub part_limit: usize,
    /// Threads at most; results do not depend on it. Worlds too small to gain use one.
    pub threads: usize,
    /// Which solver serves the contacts.
    pub contact_solver: ContactSolver,
    /// Violation of Coulomb's law, relative to the largest force, at which exact contact
    /// solvers stop.
    pub cone_tolerance: f64,
    /// Displacement per sweep over the contacts below which sweeping stops, m.
    pub contact_tolerance: f64,
    /// Sweeps over the contacts at most, in each stage.
    pub sweep_limit: usize,
    /// Violation of Coulomb's law, relative to the largest force, that every step is solved to,
    /// whatever it takes within reason; a step that ends with more says so in
    /// [`StepReport::contact_residual`](crate::step::StepReport::contact_residual). None is 1e-6
    /// for up to 300 contacts of loose bodies, 64 where joints hold some and 2,000 of loose bodies that stand,
    /// which is soon reached; where
    /// there are more it spends what is mostly enough, which in large piles leaves up to a few per cent.
    pub contact_accuracy: Option<f64>,
    /// Whether loose bodies that lie still together fall asleep: they are neither looked at nor
    /// moved until something touches them. Off by default.
    pub sleeping: bool,
    /// Whether what touches or hangs together, without restitution and drives, is kept from gaining energy in a
    /// world with colliders: what a step of `tempered` or `rattle` adds to the energy of bodies that hang
    /// together by contacts and joints is taken out of their relative motion. On by default.
    pub passive: bool,
    /// Vector instructions; the best available by default.
    pub level: Level,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            integrator: Integrator::default(),
            solver: SolverChoice::default(),
            stretch_tolerance: 1.0,
            residual_tolerance: 1e-11,
            iteration_limit: 50,
            part_limit: 8,
            threads: 1,
            contact_solver: ContactSolver::Automatic,
            cone_tolerance: 1e-9,
            contact_tolerance: 1e-10,
            sweep_limit: 200,
            contact_accuracy: None,
            sleeping: false,
            passive: true,
            level: detected(),
        }
    }
}

/// When to stop iterating.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rule {
    /// Change of an entry of A that is small enough whatever it causes.
    pub update: f64,
    /// The same where a chain runs over something.
    pub running: f64,
    /// Change of an entry of A that is small enough if it causes no more than `stretch`.
    pub rotation: f64,
    /// Energy of stretch over inertial energy.
    pub stretch: f64,
    pub residual: f64,
    pub limit: usize,
    /// Blocks of bodies that may be strained a little all the same.
    pub spared: usize,
}

/// How the last increment strains a block of bodies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Strain {
    /// No more than it may.
    None,
    /// Not so much that it would matter in a few links of a large mechanism.
    Little,
    Much,
}

/// How many times more than others spared bodies may turn, and stretch.
const SPARED_TURN: f64 = 2.0;
const SPARED_STRETCH: f64 = 20.0;
/// Blocks of a mechanism of which one may be spared, and bodies from which on it is a large one.
const PER_SPARED: usize = 24;
const LARGE: usize = 8192;

impl Rule {
    /// The rule where a chain runs over something.
    pub fn of_running(self) -> Rule {
        Rule {
            update: self.running,
            ..self
        }
    }

    /// How a block is strained that changes by this much.
    #[inline(always)]
    pub fn judge(&self, update: f64, stretch: impl FnOnce() -> f64) -> Strain {
        if update <= self.update {
            return Strain::None;
        }
        if !(update <= SPARED_TURN * self.rotation) {
            return Strain::Much;
        }
        let stretch = stretch();
        if update <= self.rotation && stretch <= self.stretch {
            Strain::None
        } else if stretch <= SPARED_STRETCH * self.stretch {
            Strain::Little
        } else {
            Strain::Much
        }
    }
}

impl Settings {
    /// The defaults with another integrator.
    pub fn with_integrator(integrator: Integrator) -> Settings {
        Settings {
            integrator,
            ..Settings::default()
        }
    }

    pub(crate) fn tempering(&self) -> Tempering {
        match self.integrator {
            Integrator::Rattle => Tempering::OFF,
            _ => Tempering::SMOOTH,
        }
    }

    pub(crate) fn iteration(&self) -> Rule {
        let (update, running, rotation) = match self.integrator {
            Integrator::Tempered => (1e-4, 1e-4, 0.025),
            // The update of the paper's step is the whole motion of the step. Links that a pulley takes
            // along turn far in every step: one linear solve keeps their spin, more would take it away.
            Integrator::LinearEuler => (0.2, 0.5, 0.0),
            Integrator::Rattle | Integrator::ImplicitEuler | Integrator::Bdf2 => {
                (1e-11, 1e-11, 0.0)
            }
        };
        Rule {
            update,
            running,
            rotation,
            stretch: self.stretch_tolerance,
            residual: self.residual_tolerance,
            limit: self.iteration_limit,
            spared: 0,
        }
    }

    /// How many blocks are spared if this many bodies make up so many mechanisms. Integrators that
    /// iterate to the end spare none, and `linear-euler` bears too much stretch already.
    pub(crate) fn spared(&self, bodies: usize, mechanisms: usize) -> usize {
        let each = bodies / mechanisms.max(1);
        match self.integrator {
            Integrator::Tempered if each >= LARGE => each / (LANES * PER_SPARED),
            _ => 0,
        }
    }
}
