//! Linear-time dynamics with Lagrange multipliers (Baraff 1996).
//!
//! ```text
//! [ M  −Jᵀ ] [ w ]   [ f ]            a = J_a w + c_a
//! [ −J   0 ] [ λ ] = [ c ]            equality: a = 0;  limit: a ≥ 0, μ ≥ 0, a μ = 0
//! ```
//!
//! The primary constraints J form a forest, and [`forest`] factors their matrix in linear
//! time. What closes a loop, acts on one body or on many, or has a sign is auxiliary:
//! constraint anticipation (section 8) finds its multipliers μ first, from a k×k system
//! that already knows how the primary constraints will answer, with one factorization and
//! k + 2 solves. [`anticipation`] builds that system, by columns or with the symmetric saving.
//!
//! The same solve serves three purposes, which differ in f and c only:
//!
//! | purpose | w | f | c |
//! |---|---|---|---|
//! | second order, dynamics | acceleration | forces | J̇ v |
//! | impulse | change of velocity | none | Ċ |
//! | first order, manipulation | displacement | pull | C |
//!
//! A step kicks by half, drifts, puts the pose back on the constraints (first order), kicks
//! by half, and projects the velocity (impulse). Stabilisation terms are not needed.

pub mod anticipation;
mod auxiliary;
pub mod factors;
pub mod forest;
mod manipulate;
mod primary;

use vincula::body::rigid::RigidBody;
use vincula::model::{Control, Model, State};

use crate::contact::{Contact, Detect, EngineContacts};
use crate::system::forces::gather_forces_of_spin;
use crate::system::method::{check_step, refuse_foreign};
use crate::system::rows::{Linear, Six, Velocity, unpack};
use crate::system::{Method, MethodError, MethodReport, Refusal, System, drift};
use anticipation::{Anticipation, Row, RowList, Sense, Way};
pub use auxiliary::Hold;
use auxiliary::{Touch, push_hold, push_limits, push_touch};
use factors::{Factors, MOST, Sides, Singular};
use forest::{Edge, Forest};
use manipulate::POSITION_TOLERANCE;
pub use primary::Gear;
use primary::{Primary, Purpose};

const NAME: &str = "baraff";
/// Most corrections of the pose in a step.
const CORRECTIONS: usize = 12;

/// Baraff's method on a rigid system.
pub struct Baraff {
    system: System,
    detector: EngineContacts,
    found: Vec<Contact>,
    touches: Vec<Touch>,
    gears: Vec<Gear>,
    holds: Vec<Hold>,
    /// Joints with limits.
    limited: Vec<usize>,
    factors: Factors,
    /// Joints and gears that found no place in the forest, linearised at the pose of the factors.
    loops: Vec<Linear>,
    auxiliary: RowList,
    anticipation: Anticipation,
    forces: Vec<Six>,
    /// w of the last solve, by body.
    motion: Vec<Six>,
    /// Velocities in the middle of the step.
    middle: Vec<Velocity>,
    /// The bodies before the step.
    before: Vec<RigidBody>,
    /// Whether the factors belong to the present pose.
    fresh: bool,
    /// Whether the next solve makes new factors.
    due: bool,
    solves: usize,
}

impl Baraff {
    /// Whether the method can take a model, and if not, which can.
    pub fn can_run(model: &Model) -> Result<(), Refusal> {
        refuse_foreign(NAME, model)?;
        let mut rough = model
            .colliders()
            .iter()
            .filter(|it| it.surface.friction > 0.0);
        match (rough.next(), rough.next()) {
            (Some(one), Some(other)) => Err(Refusal {
                method: NAME,
                reason: format!(
                    "'{}' and '{}' rub, and its contacts know no friction",
                    one.name, other.name
                ),
                instead: "--method tomcin, cline-pai or affine",
            }),
            _ => Ok(()),
        }
    }

    /// The method at a state of a model.
    pub fn new(model: &Model, state: &State) -> Result<Baraff, Refusal> {
        Baraff::with(model, state, Vec::new(), Vec::new())
    }

    /// The same with gears and holds besides the model's joints.
    pub fn with(
        model: &Model,
        state: &State,
        gears: Vec<Gear>,
        holds: Vec<Hold>,
    ) -> Result<Baraff, Refusal> {
        Baraff::can_run(model)?;
        let system = System::new(model, state);
        let joints = system.joints.iter().zip(&system.ends);
        let mut edges: Vec<Edge> = joints
            .map(|(joint, &ends)| Edge {
                ends,
                rows: joint.rows(),
            })
            .collect();
        edges.extend(gears.iter().map(|gear| Edge {
            ends: gear.bodies.map(|body| Some(body.index())),
            rows: 1,
        }));
        let bodies = system.bodies.len();
        let forest = Forest::new(bodies, &edges);
        let limits = |joint: &usize| {
            let axes = &system.joints[*joint].axes;
            axes.iter()
                .any(|it| it.law.limits.iter().any(|x| x.is_finite()))
        };
        Ok(Baraff {
            limited: (0..system.joints.len()).filter(limits).collect(),
            detector: EngineContacts::new(model),
            found: Vec::new(),
            touches: Vec::new(),
            loops: vec![Linear::EMPTY; forest.auxiliary().len()],
            auxiliary: RowList::default(),
            anticipation: Anticipation::default(),
            forces: vec![[0.0; 6]; bodies],
            motion: vec![[0.0; 6]; bodies],
            middle: vec![Velocity::default(); bodies],
            before: system.bodies.clone(),
            fresh: false,
            due: false,
            solves: 0,
            system,
            gears,
            holds,
            factors: Factors::new(forest),
        })
    }

    /// Where everything is, to be changed; the factors are made again.
    pub fn system_mut(&mut self) -> &mut System {
        self.fresh = false;
        &mut self.system
    }

    /// The holds, to be changed: their targets are what one drags with.
    pub fn holds_mut(&mut self) -> &mut [Hold] {
        &mut self.holds
    }

    /// How the matrix of the auxiliary rows is made; the cheaper way unless told otherwise.
    pub fn set_way(&mut self, way: Way) {
        self.anticipation.way = way;
    }

    /// The forest of primary constraints.
    pub fn forest(&self) -> &Forest {
        self.factors.forest()
    }

    /// Accelerations of all bodies, (v̇, ω̇), under the forces of the moment.
    pub fn accelerations(
        &mut self,
        model: &Model,
        control: &Control,
    ) -> Result<&[Six], MethodError> {
        self.factor();
        self.gather(model, control);
        self.solve(model, Purpose::Dynamics)?;
        Ok(&self.motion)
    }

    /// Changes velocities by the least impulse after which joints and gears hold on the level
    /// of velocity.
    pub fn project_velocities(&mut self, model: &Model) -> Result<(), MethodError> {
        self.factor();
        self.forces.fill([0.0; 6]);
        self.solve(model, Purpose::Impulse)?;
        self.kick(1.0);
        Ok(())
    }

    /// Largest |ω_a·u_a − ratio ω_b·u_b| of a gear, rad/s.
    pub fn gear_error(&self) -> f64 {
        let rate = |gear: &Gear| gear.rate(&self.system).abs();
        self.gears.iter().map(rate).fold(0.0, f64::max)
    }

    fn advance(&mut self, model: &Model, control: &Control, h: f64) -> Result<f64, MethodError> {
        self.detect(model, control, h);
        self.accelerations(model, control)?;
        self.kick(0.5 * h);
        for body in &mut self.system.bodies {
            drift(body, body.v, body.omega, h);
        }
        self.system.time += h;
        self.fresh = false;
        let residual = self.put_back(model, CORRECTIONS)?;
        self.factor();
        self.second_kick(model, control, h)?;
        self.forces.fill([0.0; 6]);
        self.solve(model, Purpose::Impulse)?;
        self.kick(1.0);
        self.system.check_finite(model)?;
        Ok(residual)
    }

    /// Finds the points that may touch during the step.
    fn detect(&mut self, model: &Model, control: &Control, h: f64) {
        let found = &mut self.found;
        self.detector.detect(model, &self.system, control, h, found);
        self.touches.clear();
        let touches = found.iter().map(|it| Touch::new(it, &self.system));
        self.touches.extend(touches);
    }

    /// The half kick at the end of the step. Forces and biases depend on the velocity that is
    /// sought, so it is predicted once.
    fn second_kick(&mut self, model: &Model, control: &Control, h: f64) -> Result<(), MethodError> {
        for (body, middle) in self.middle.iter_mut().enumerate() {
            *middle = self.system.velocity(Some(body));
        }
        self.gather(model, control);
        self.solve(model, Purpose::Dynamics)?;
        self.kick(0.5 * h);
        self.gather(model, control);
        self.solve(model, Purpose::Dynamics)?;
        for (body, rate) in self.system.bodies.iter_mut().zip(&self.middle) {
            (body.v, body.omega) = (rate.v, rate.omega);
        }
        self.kick(0.5 * h);
        Ok(())
    }

    fn gather(&mut self, model: &Model, control: &Control) {
        gather_forces_of_spin(model, &self.system, control, &mut self.forces);
    }

    /// Adds `scale` times the last solution to the velocities.
    fn kick(&mut self, scale: f64) {
        for (body, w) in self.system.bodies.iter_mut().zip(&self.motion) {
            let [dv, domega] = unpack(w);
            body.v += dv * scale;
            body.omega += domega * scale;
        }
    }

    /// Asks for factors at the present pose; the next solve makes them, in the same pass.
    fn factor(&mut self) {
        if self.fresh {
            return;
        }
        let it = primary(&self.system, &self.gears, &self.forces, Purpose::Position);
        let auxiliary = self.factors.forest().auxiliary();
        for (constraint, linear) in auxiliary.iter().zip(&mut self.loops) {
            it.linearize(*constraint, linear);
        }
        (self.fresh, self.due) = (true, true);
    }

    /// Constraint anticipation: w with primary and auxiliary constraints.
    fn solve(&mut self, model: &Model, purpose: Purpose) -> Result<(), MethodError> {
        self.solve_primary(model, purpose)?;
        self.list_auxiliary(purpose);
        if self.auxiliary.len() == 0 {
            return Ok(());
        }
        self.auxiliary.respond(&self.motion);
        let solves = self
            .anticipation
            .solve(&mut self.factors, &self.auxiliary)
            .map_err(|fault| fault.name(NAME, |row| self.row_name(model, row)))?;
        self.solves += solves;
        self.auxiliary
            .add_forces(&self.anticipation.multipliers, &mut self.forces);
        self.solve_primary(model, purpose)
    }

    /// One `sparsesolve` with the forces as they are, after `sparsefactor` where that is due.
    fn solve_primary(&mut self, model: &Model, purpose: Purpose) -> Result<(), MethodError> {
        let entries = primary(&self.system, &self.gears, &self.forces, purpose);
        if self.due {
            if let Err(singular) = self.factors.factor(&entries) {
                self.fresh = false;
                return Err(MethodError::Singular {
                    method: NAME,
                    culprit: culprit(model, singular),
                    instead: "--method tomcin or affine",
                });
            }
            self.due = false;
        } else {
            self.factors.load(&entries);
        }
        self.factors.finish(&mut self.motion);
        self.solves += 1;
        Ok(())
    }

    /// Loops, holds and limits as rows.
    fn list_auxiliary(&mut self, purpose: Purpose) {
        let mut list = std::mem::take(&mut self.auxiliary);
        list.clear();
        let it = primary(&self.system, &self.gears, &self.forces, purpose);
        let loops = self.factors.forest().auxiliary().iter().zip(&self.loops);
        for (&constraint, linear) in loops {
            let mut c = [0.0; MOST];
            it.target(constraint, &mut c);
            for row in 0..linear.rows {
                list.push(Sense::Equal, c[row], constraint);
                for (body, side) in it.ends(constraint).into_iter().zip(&linear.sides) {
                    if let Some(body) = body {
                        list.term(body, side[row]);
                    }
                }
            }
        }
        self.push_holds_and_limits(purpose, &mut list);
        self.auxiliary = list;
    }

    /// Rows of holds, and of the limits that are reached.
    fn push_holds_and_limits(&self, purpose: Purpose, list: &mut RowList) {
        for (index, hold) in self.holds.iter().enumerate() {
            push_hold(
                &self.system,
                hold,
                purpose,
                self.constraints() + index,
                list,
            );
        }
        for &joint in &self.limited {
            for axis in &self.system.joints[joint].axes {
                push_limits(&self.system, joint, axis, purpose, list);
            }
        }
        for touch in &self.touches {
            let source = self.constraints() + self.holds.len();
            push_touch(&self.system, touch, purpose, source, list);
        }
    }

    /// Joints and gears.
    fn constraints(&self) -> usize {
        self.system.joints.len() + self.gears.len()
    }

    fn row_name(&self, model: &Model, row: &Row) -> String {
        if row.source < self.constraints() {
            culprit(model, Singular::Constraint(row.source))
        } else {
            match row.source - self.constraints() {
                hold if hold < self.holds.len() => format!("hold {hold}"),
                _ => "a contact".to_owned(),
            }
        }
    }

    fn restore_if_failed(&mut self, outcome: Result<f64, MethodError>) -> Result<f64, MethodError> {
        if outcome.is_err() {
            self.system.bodies.clone_from(&self.before);
            self.fresh = false;
        }
        outcome
    }
}

impl Method for Baraff {
    fn name(&self) -> &'static str {
        NAME
    }

    fn step(
        &mut self,
        model: &Model,
        control: &Control,
        h: f64,
    ) -> Result<MethodReport, MethodError> {
        check_step(h)?;
        self.before.clone_from(&self.system.bodies);
        self.solves = 0;
        let time = self.system.time;
        let outcome = self.advance(model, control, h);
        let residual = self.restore_if_failed(outcome);
        if residual.is_err() {
            self.system.time = time;
        }
        let residual = residual?;
        Ok(MethodReport {
            iterations: self.solves,
            converged: residual <= POSITION_TOLERANCE,
            residual,
        })
    }

    fn system(&self) -> &System {
        &self.system
    }

    fn reset(&mut self, model: &Model, state: &State) {
        self.system.read_state(model, state);
        self.fresh = false;
    }

    fn plan(&self) -> String {
        let auxiliary = self.forest().auxiliary();
        let count = self.constraints() - auxiliary.len();
        if auxiliary.is_empty() && self.holds.is_empty() {
            return format!("sparse factors of {count} primary constraints");
        }
        format!(
            "sparse factors of {count} primary constraints, {} auxiliary by anticipation",
            auxiliary.len() + self.holds.len()
        )
    }
}

fn primary<'a>(
    system: &'a System,
    gears: &'a [Gear],
    forces: &'a [Six],
    purpose: Purpose,
) -> Primary<'a> {
    Primary {
        system,
        gears,
        forces,
        purpose,
    }
}

fn culprit(model: &Model, which: Singular) -> String {
    match which {
        Singular::Body(body) => model.bodies()[body].name.clone(),
        Singular::Constraint(index) => match model.joints().get(index) {
            Some(joint) => joint.name.clone(),
            None => format!("gear {}", index - model.joints().len()),
        },
    }
}
