//! The memory that steps need, sized once.

mod forces;

use crate::apart::Apart;
use crate::contact::Contacts;
use crate::contact::stage::Stage;
use crate::dual::Dual;
use crate::integrate::Integrator;
use crate::integrate::kicks::Kicks;
use crate::integrate::newton::{NewtonBlock, STRAIGHT};
use crate::joint::rows::RowKind;
use crate::math::dispatch::{Level, detected};
use crate::math::lanes::{Lane, place};
use crate::math::small::{M3, V3};
use crate::model::{MemoryBlock, Model, State, StateBlock};
use crate::serial::Serial;
use crate::settings::{Rule, Settings};
use crate::step::passive::Passive;
use crate::step::sleep::Sleep;
use crate::stream::Stream;
use crate::stream::runs::Runs;

/// Memory for stepping one model, sized once.
pub struct Workspace {
    pub(crate) settings: Settings,
    pub(crate) level: Level,
    pub(crate) newton: Vec<NewtonBlock>,
    /// The new state before it is committed.
    pub(crate) next: Vec<StateBlock>,
    /// Whether a joint holds a body of the block.
    pub(crate) jointed: Vec<bool>,
    /// Whether a contact touches a body of the block.
    pub(crate) touched: Vec<bool>,
    /// Whether the block takes the short path of touched bodies without joints.
    pub(crate) loose: Vec<bool>,
    /// What detection found, and how deep the worst of it was, m: some more may be found late.
    pub(crate) contacts: Contacts,
    pub(crate) inside: f64,
    /// What overlaps at the end of a step; half the thickness of each collider, and of the thinnest one, m.
    pub(crate) late: Contacts,
    /// Where the last attempt at a step started, which may have to be made again; only where
    /// something may touch. And whether the attempt at hand is one of these.
    pub(crate) past: Option<Box<State>>,
    pub(crate) keeps_past: bool,
    /// Where a step that is taken in parts starts; only where mechanisms may touch something.
    pub(crate) whole: Option<Box<State>>,
    pub(crate) thickness: Vec<f64>,
    pub(crate) thinnest: f64,
    /// From the centre of each body to the farthest point of its colliders, m, and whether it hardly
    /// moved in the step.
    pub(crate) girth: Vec<f64>,
    pub(crate) calm: Vec<bool>,
    /// Contacts as rows.
    pub(crate) stage: Stage,
    /// Blocks that may be strained a little in a step.
    pub(crate) spared: usize,
    /// Islands that an impact struck.
    pub(crate) struck: Vec<bool>,
    /// Length of the last step, s.
    pub(crate) last_h: f64,
    /// Places or rates of bodies in contact before the joints moved them.
    pub(crate) noted: Vec<(M3, V3)>,
    /// Iterates of bodies in contact, kept while it is tried what friction in joints can hold.
    pub(crate) kept: Vec<[M3; 2]>,
    pub(crate) kept_places: Vec<V3>,
    /// Memory of falling asleep.
    pub(crate) sleep: Sleep,
    /// Groups that touch, and what they gained.
    pub(crate) passive: Passive,
    /// For each island of joints: contact forces that lasted and all of them, N.
    pub(crate) lasting: Vec<[f64; 2]>,
    /// Blocks that need Newton's method in this step.
    pub(crate) active: Vec<usize>,
    /// What acts on the bodies beside joints and contacts.
    pub(crate) kicks: Kicks,
    pub(crate) dual: Dual,
    /// Loads of the joints at the start of the step; only for an iterated step.
    pub(crate) loads: Vec<MemoryBlock>,
    /// What the next step is to remember, before it is committed.
    pub(crate) memory: Vec<MemoryBlock>,
    /// Whether the new state is written down, and whether it is finite.
    pub(crate) is_written: bool,
    pub(crate) is_sound: bool,
    /// By how much each body was bent out of the straight line of its linear solve.
    pub(crate) bent: Vec<[Lane; 3]>,
    /// Whether the last linearisation was.
    pub(crate) was_bent: bool,
    /// How far rows are open at the end of the step, m, where Newton's iteration has measured it.
    pub(crate) measured: Option<f64>,
    /// Mean force of each row over the step, N.
    pub(crate) multipliers: Vec<f64>,
    /// Force of each row in the current Newton iteration, N.
    pub(crate) total: Vec<f64>,
    /// The end of a step, where the ground pushes; only when there is a ground.
    end: Option<State>,
    /// Whether every row is linear in the affine coordinates.
    pub(crate) linear: bool,
    /// The streamed step, for worlds of long chains.
    pub(crate) stream: Option<Stream>,
    /// The stretches of a long chain that no contact touches, and their blocks.
    pub(crate) runs: Option<Runs>,
    pub(crate) quiet: Vec<bool>,
    /// The step in lanes, for serial mechanisms.
    pub(crate) serial: Option<Serial>,
    /// The groups of a world that falls apart; then only they are stepped.
    pub(crate) apart: Option<Apart>,
    uniform: bool,
    plain: bool,
    /// The model that it is for.
    pub(crate) identity: u64,
}

impl Workspace {
    /// Sizes everything for a model.
    pub fn new(model: &Model, settings: Settings) -> Workspace {
        let stream = Stream::new(model, &settings);
        let apart = match stream {
            Some(_) => None,
            None => Apart::new(model, &settings),
        };
        let blocks = if apart.is_some() {
            0
        } else {
            model.params.len()
        };
        let serial = match (&stream, &apart) {
            (None, None) => Serial::new(model, &settings),
            _ => None,
        };
        Workspace {
            stream,
            serial,
            apart,
            ..Workspace::sized(model, settings, blocks)
        }
    }

    /// The same for a world that is stepped as a whole.
    pub(crate) fn whole(model: &Model, settings: Settings) -> Workspace {
        let stream = Stream::new(model, &settings);
        let serial = match stream {
            Some(_) => None,
            None => Serial::new(model, &settings),
        };
        Workspace {
            stream,
            serial,
            ..Workspace::sized(model, settings, model.params.len())
        }
    }

    /// Room for the unknowns of this many blocks of bodies.
    fn sized(model: &Model, settings: Settings, blocks: usize) -> Workspace {
        let linear = model
            .joints
            .iter()
            .flat_map(|j| j.row_kinds())
            .all(|row| matches!(row, RowKind::Point(_) | RowKind::Far(_)))
            && model.dual_rows() == model.rows();
        let uniform = model.ground.is_none()
            && model.bodies.iter().all(|b| {
                b.gravity_scale == 1.0
                    && b.damping == Default::default()
                    && b.drag == Default::default()
            });
        let mut jointed = vec![false; model.params.len()];
        for joint in &model.joints {
            for body in [joint.a.endpoint, joint.b.endpoint]
                .iter()
                .filter_map(|e| e.index())
            {
                jointed[place(body).0] = true;
            }
        }
        for coupling in &model.couplings {
            for end in coupling.ends(&model.joints) {
                if let Some(body) = end.endpoint.index() {
                    jointed[place(body).0] = true;
                }
            }
        }
        let level = if settings.level.available() {
            settings.level
        } else {
            detected()
        };
        let dual = Dual::new(model, settings.solver, level, settings.threads);
        let touching = !model.collision.colliders.is_empty();
        let held = touching && !model.joints.is_empty();
        let rest = || Box::new(State::at_rest(model));
        let spared = settings.spared(model.bodies.len(), model.mechanisms());
        Workspace {
            settings,
            spared,
            level,
            newton: vec![NewtonBlock::ZERO; blocks],
            next: vec![StateBlock::REST; blocks],
            jointed,
            touched: vec![false; model.params.len()],
            loose: vec![false; model.params.len()],
            contacts: Contacts::new(),
            inside: 0.0,
            late: Contacts::new(),
            past: touching.then(rest),
            keeps_past: false,
            whole: held.then(rest),
            thickness: Vec::new(),
            thinnest: f64::INFINITY,
            girth: Vec::new(),
            calm: Vec::new(),
            stage: Stage::new(model.bodies.len()),
            noted: Vec::new(),
            sleep: Sleep::default(),
            passive: Passive::new(model),
            kept: Vec::new(),
            kept_places: Vec::new(),
            lasting: Vec::new(),
            last_h: 1.0,
            active: Vec::with_capacity(model.params.len()),
            kicks: Kicks::none(model.params.len()),
            struck: vec![false; dual.islands()],
            runs: Runs::new(model, &dual, &settings),
            quiet: vec![false; model.params.len()],
            dual,
            loads: vec![
                MemoryBlock::NONE;
                if settings.integrator == Integrator::Rattle {
                    model.params.len()
                } else {
                    0
                }
            ],
            multipliers: vec![0.0; model.dual_rows()],
            total: vec![0.0; model.dual_rows()],
            memory: vec![MemoryBlock::NONE; blocks],
            is_written: false,
            is_sound: true,
            bent: vec![STRAIGHT; blocks],
            was_bent: false,
            measured: None,
            end: model.ground.is_some().then(|| State::at_rest(model)),
            linear,
            stream: None,
            serial: None,
            apart: None,
            uniform,
            plain: false,
            identity: model.identity,
        }
    }

    /// The settings it was made with.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Threads that steps run on.
    pub fn threads(&self) -> usize {
        let whole = match self.serial {
            Some(_) => 1,
            None => self.block_threads(self.newton.len()),
        };
        let apart = self.apart.as_ref().map_or(whole, Apart::threads);
        self.stream.as_ref().map_or(apart, Stream::threads)
    }

    /// The dual system: its islands and plans.
    pub fn dual(&self) -> &Dual {
        &self.dual
    }

    /// Whether rows that are constraints of joints are all there is.
    pub(crate) fn moves_only_joints(&self, model: &Model) -> bool {
        let bare = model.couplings.is_empty() && self.contacts.points.is_empty();
        bare && !self.dual.has_axes()
    }

    /// Applies the forces that the dual system was solved for, up to `Joints::put_loads`.
    pub(crate) fn apply_dual(&mut self, first: bool) {
        self.dual.keep_axes();
        if first {
            self.total.copy_from_slice(&self.dual.lambda);
        } else {
            self.total
                .iter_mut()
                .zip(&self.dual.lambda)
                .for_each(|(t, l)| *t += l);
        }
        self.dual.load_spans(&self.total);
        self.dual.load(&mut self.newton);
    }

    /// The forces of the last iteration are those of the step.
    pub(crate) fn keep_multipliers(&mut self) {
        self.multipliers.copy_from_slice(&self.total);
    }

    /// The mean over the step of the two halves of a tempered step.
    pub(crate) fn average_multipliers(&mut self) {
        for (m, l) in self.multipliers.iter_mut().zip(&self.total) {
            *m = 0.5 * (*m + l);
        }
    }

    /// When to stop iterating.
    pub(crate) fn rule(&self) -> Rule {
        Rule {
            spared: self.spared,
            ..self.settings.iteration()
        }
    }

    /// Whether nothing but uniform gravity acts in this step.
    pub(crate) fn is_plain(&self) -> bool {
        self.plain
    }

    /// Whether a block can be solved for its free motion as soon as it is predicted: no forces
    /// that turn are to be added, and no contacts to be looked at, in between.
    pub(crate) fn solves_ahead(&self) -> bool {
        !self.dual.turns() && self.contacts.points.is_empty()
    }
}
