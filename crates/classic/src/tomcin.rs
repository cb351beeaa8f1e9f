//! Impulses from predicted joint states (Tomcin, Sibbing and Kobbelt).
//!
//! ```text
//! A Δp = −c(x^(l+1))/h,     u ← u + M⁻¹ Jᵀ Δp,     A = J M⁻¹ Jᵀ + ε_T ‖A‖₁ 1
//! ```
//!
//! Bodies fly freely between the times of the steps. At each time impulses are applied after
//! which a preview of the flight ends with every joint in place: modified Newton with one
//! factorization a step (their Eqs. 1 to 4). Redundant rows are harmless because of the shift
//! (section 4), bodies with many joints are split (section 5), and fill is kept low by
//! approximate minimum degree (section 6).
//!
//! **Velocity Verlet** (their appendix A, derived here). Let f be the external forces.
//!
//! ```text
//! u₊  = u  + h/2 M⁻¹ f(x) + M⁻¹ Jᵀ p,        c(x⁺) = 0 decides p
//! x⁺  = flight of length h from x with u₊ and constant angular momentum
//! u⁺  = u₊ + h/2 M⁻¹ f(x⁺) + M⁻¹ J(x⁺)ᵀ r,   J(x⁺) u⁺ = 0 decides r
//! ```
//!
//! The two halves mirror each other, so the step is of second order and energy does not
//! drift. Collisions are resolved with u, before the forces have acted, and contacts with u₊,
//! which is the distinction between impact and rest that needs no threshold. The factors at
//! x⁺ serve for r and for the p of the next step, so one factorization a step is enough.
//!
//! The flight keeps angular momentum L: `ω_½` at the turn `exp(h/2 ω)`, then
//! `R⁺ = exp(h ω_½) R` and `ω⁺ = R⁺ I⁻¹ R⁺ᵀ L`.

pub mod contact;
pub mod matrix;
pub mod split;

use glam::{DMat3, DQuat};
use vincula::body::rigid::RigidBody;
use vincula::joint::MAX_ROWS;
use vincula::model::{Control, Model, State};
use vincula_blocks::Factorization;

use crate::system::forces::gather_forces;
use crate::system::method::{check_conflict_since, check_step, refuse_foreign, refuse_limits};
use crate::system::rows::{Place, Six, pack, unpack, violations};
use crate::system::{Method, MethodError, MethodReport, Refusal, System};
use contact::{ContactPhase, Pass};
use matrix::SystemMatrix;
use split::{Parts, split_bodies};

const NAME: &str = "tomcin";

/// How the method works.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TomcinSettings {
    /// ε_T: the shift as a fraction of ‖A‖₁.
    pub regularization: f64,
    /// ε_P: violation at which the joint correction ends, m.
    pub tolerance: f64,
    /// Most iterations of the joint correction.
    pub iterations: usize,
    /// Whether bodies with many joints are split.
    pub splitting: bool,
    /// Sweeps over the contacts.
    pub sweeps: usize,
}

impl Default for TomcinSettings {
    fn default() -> Self {
        TomcinSettings {
            regularization: 1e-10,
            tolerance: 1e-9,
            iterations: 50,
            splitting: true,
            sweeps: 30,
        }
    }
}

/// The method on a rigid system.
pub struct Tomcin {
    system: System,
    settings: TomcinSettings,
    parts: Vec<Parts>,
    matrix: Option<SystemMatrix>,
    contacts: ContactPhase,
    /// Whether the factors belong to the present pose.
    fresh: bool,
    forces: Vec<Six>,
    /// u, by body.
    velocities: Vec<Six>,
    /// Where the flight ends, and the body's rotation at its start.
    preview: Vec<RigidBody>,
    /// The same for the first contact pass, whose velocities count.
    arrivals: Vec<RigidBody>,
    /// Velocities put aside.
    kept: Vec<Six>,
    /// What the joints added to the velocities in the collision phase.
    answers: Vec<Six>,
    /// Time for which the forces of the last step have still to act, s.
    owed: f64,
    rhs: Vec<f64>,
    before: Vec<RigidBody>,
}

impl Tomcin {
    /// Whether the method can take a model, and if not, which can.
    pub fn can_run(model: &Model) -> Result<(), Refusal> {
        refuse_foreign(NAME, model)?;
        refuse_limits(NAME, model)
    }

    /// The method at a state of a model.
    pub fn new(model: &Model, state: &State, settings: TomcinSettings) -> Result<Tomcin, Refusal> {
        Tomcin::can_run(model)?;
        let mut system = System::new(model, state);
        let parts = if settings.splitting {
            split_bodies(model, &mut system)
        } else {
            Vec::new()
        };
        let matrix =
            SystemMatrix::new(&system, settings.regularization).map_err(|reason| Refusal {
                method: NAME,
                reason,
                instead: "--method affine",
            })?;
        let bodies = system.bodies.len();
        Ok(Tomcin {
            contacts: ContactPhase::new(model),
            fresh: false,
            forces: vec![[0.0; 6]; bodies],
            velocities: vec![[0.0; 6]; bodies],
            preview: system.bodies.clone(),
            arrivals: system.bodies.clone(),
            kept: vec![[0.0; 6]; bodies],
            answers: vec![[0.0; 6]; bodies],
            owed: 0.0,
            rhs: vec![0.0; system.rows()],
            before: system.bodies.clone(),
            system,
            settings,
            parts,
            matrix,
        })
    }

    /// The system matrix, if there are joints.
    pub fn matrix(&self) -> Option<&SystemMatrix> {
        self.matrix.as_ref()
    }

    /// The bodies that were split.
    pub fn parts(&self) -> &[Parts] {
        &self.parts
    }

    /// Where everything is, to be changed; the factors are made again. Parts of split bodies
    /// must be moved with them.
    pub fn system_mut(&mut self) -> &mut System {
        self.fresh = false;
        &mut self.system
    }

    /// Factors the system matrix at the present pose, unless that is done.
    pub fn factor(&mut self) -> Result<(), MethodError> {
        if self.fresh {
            return Ok(());
        }
        if let Some(matrix) = &mut self.matrix {
            let told = |reason| MethodError::Solver {
                method: NAME,
                reason: format!("{reason}; raise the regularization, or use --method affine"),
            };
            matrix.factor(&self.system).map_err(told)?;
        }
        self.fresh = true;
        Ok(())
    }

    fn advance(
        &mut self,
        model: &Model,
        control: &Control,
        h: f64,
    ) -> Result<MethodReport, MethodError> {
        self.factor()?;
        self.load_velocities();
        let near = self.contacts.detect(model, &self.system, h);
        let kick = 0.5 * h + self.owed;
        if near {
            self.collide(model, control, kick, h)?;
            self.kick(model, control, kick);
            self.answer_again();
        } else {
            self.kick(model, control, kick);
            self.correct_velocities()?;
        }
        let mut iterations = self.correct_joints(h)?;
        iterations += self.rest(h)?;
        self.system.time += h;
        self.fresh = false;
        self.factor()?;
        // Bodies at rest on something take the second half of the kick with the next one:
        // alone it would look like the beginning of a fall.
        if self.contacts.active() > 0 {
            self.owed = 0.5 * h;
        } else {
            self.owed = 0.0;
            self.kick(model, control, 0.5 * h);
            self.correct_velocities()?;
        }
        self.store_velocities();
        let residual = self.system.worst_violation().0;
        Ok(MethodReport {
            iterations,
            converged: residual <= 2.0 * self.settings.tolerance,
            residual,
        })
    }

    /// Collision phase: contacts of a preview with the forces in it, resolved with the
    /// velocities of before.
    fn collide(
        &mut self,
        model: &Model,
        control: &Control,
        kick: f64,
        h: f64,
    ) -> Result<(), MethodError> {
        self.kept.clone_from(&self.velocities);
        self.kick(model, control, kick);
        self.answers.clone_from(&self.velocities);
        self.correct_velocities()?;
        self.correct_joints(h)?;
        for (answer, u) in self.answers.iter_mut().zip(&self.velocities) {
            (0..6).for_each(|k| answer[k] = u[k] - answer[k]);
        }
        std::mem::swap(&mut self.kept, &mut self.velocities);
        if self.contacts.select(&self.system, &self.preview) {
            self.push(Pass::Impact, h)?;
        }
        Ok(())
    }

    /// Lets the joints answer the forces as they did in the collision phase: a start for the
    /// joint correction from which little is left to do.
    fn answer_again(&mut self) {
        for (u, answer) in self.velocities.iter_mut().zip(&self.answers) {
            (0..6).for_each(|k| u[k] += answer[k]);
        }
    }

    /// Contact phase. First pass: velocities at which nothing closes further than it may.
    /// Second pass: what still overlaps is moved apart, without a change of velocity. Ends
    /// with the bodies where the flight takes them.
    fn rest(&mut self, h: f64) -> Result<usize, MethodError> {
        let mut iterations = 0;
        if self.contacts.select(&self.system, &self.preview) {
            self.push(Pass::Rest, h)?;
            iterations += self.correct_joints(h)?;
        }
        self.arrivals.clone_from(&self.preview);
        let active = self.contacts.active();
        if active > 0 && self.contacts.select(&self.system, &self.preview) {
            self.kept.clone_from(&self.velocities);
            self.push(Pass::Position, h)?;
            iterations += self.correct_joints(h)?;
            std::mem::swap(&mut self.kept, &mut self.velocities);
        }
        self.system.bodies.copy_from_slice(&self.preview);
        for (u, body) in self.velocities.iter_mut().zip(&self.arrivals) {
            *u = pack(body.v, body.omega);
        }
        self.contacts.count(active);
        Ok(iterations)
    }

    fn push(&mut self, pass: Pass, h: f64) -> Result<(), MethodError> {
        self.contacts.prepare(self.matrix.as_mut())?;
        let sweeps = self.settings.sweeps;
        self.contacts.sweep(pass, &self.velocities, h, sweeps);
        let matrix = self.matrix.as_mut();
        self.contacts
            .apply(&self.system, matrix, &mut self.velocities)
    }

    /// Changes velocities by the least impulse after which no joint opens.
    pub fn project_velocities(&mut self) -> Result<(), MethodError> {
        self.factor()?;
        self.load_velocities();
        self.correct_velocities()?;
        self.store_velocities();
        Ok(())
    }

    /// Contact points that took part in the last step.
    pub fn contact_points(&self) -> usize {
        self.contacts.points()
    }

    /// Deepest overlap at the start of the last step, m.
    pub fn penetration(&self) -> f64 {
        self.contacts.penetration()
    }

    fn load_velocities(&mut self) {
        for (u, body) in self.velocities.iter_mut().zip(&self.system.bodies) {
            *u = pack(body.v, body.omega);
        }
    }

    fn store_velocities(&mut self) {
        for (u, body) in self.velocities.iter().zip(&mut self.system.bodies) {
            [body.v, body.omega] = unpack(u);
        }
    }

    /// `u += t M⁻¹ f`. No gyroscopic torque: the flight keeps angular momentum.
    fn kick(&mut self, model: &Model, control: &Control, t: f64) {
        gather_forces(model, &self.system, control, &mut self.forces);
        share_forces(&mut self.forces, &self.parts, &self.system, model);
        for (index, (u, force)) in self.velocities.iter_mut().zip(&self.forces).enumerate() {
            let body = &self.system.bodies[index];
            let r = DMat3::from_quat(body.q);
            let answer = crate::system::apply_inverse_mass(body, &r, force);
            (0..6).for_each(|k| u[k] += t * answer[k]);
        }
    }

    /// One solve after which no joint opens at this instant: A p = −J u.
    fn correct_velocities(&mut self) -> Result<(), MethodError> {
        let Some(matrix) = &mut self.matrix else {
            return Ok(());
        };
        matrix.rates(&self.system, &self.velocities, &mut self.rhs);
        self.rhs.iter_mut().for_each(|x| *x = -*x);
        matrix.cholesky.solve(&mut self.rhs).map_err(told)?;
        matrix.apply(&self.system, &self.rhs, &mut self.velocities);
        Ok(())
    }

    /// The joint correction: impulses after which the flight ends with the joints in place.
    /// Returns the number of solves.
    fn correct_joints(&mut self, h: f64) -> Result<usize, MethodError> {
        for iteration in 0..self.settings.iterations {
            fly(&self.system.bodies, &self.velocities, h, &mut self.preview);
            let Some(matrix) = &mut self.matrix else {
                return Ok(0);
            };
            let worst = preview_violations(&self.system, &self.preview, matrix, &mut self.rhs);
            if !worst.is_finite() {
                return Err(self.not_finite());
            }
            if worst < self.settings.tolerance {
                return Ok(iteration);
            }
            self.rhs.iter_mut().for_each(|x| *x /= -h);
            matrix.cholesky.solve(&mut self.rhs).map_err(told)?;
            matrix.apply(&self.system, &self.rhs, &mut self.velocities);
        }
        fly(&self.system.bodies, &self.velocities, h, &mut self.preview);
        Ok(self.settings.iterations)
    }

    fn not_finite(&self) -> MethodError {
        let bad = self.preview.iter().position(|body| !body.x.is_finite());
        MethodError::NotFinite {
            body: format!("number {}", bad.unwrap_or(0)),
        }
    }
}

impl Method for Tomcin {
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
        let time = self.system.time;
        let outcome = self.advance(model, control, h);
        let outcome = outcome.and_then(|found| self.system.check_finite(model).map(|()| found));
        let outcome = match outcome {
            Ok(report) if !report.converged => {
                check_conflict_since(&mut self.system, &mut self.before).and(outcome)
            }
            _ => outcome,
        };
        if outcome.is_err() {
            self.system.bodies.clone_from(&self.before);
            self.system.time = time;
            self.fresh = false;
        }
        outcome
    }

    fn system(&self) -> &System {
        &self.system
    }

    fn reset(&mut self, model: &Model, state: &State) {
        let masses: Vec<_> = self
            .system
            .bodies
            .iter()
            .map(|b| (b.mass, b.inertia))
            .collect();
        self.system.read_state(model, state);
        for parts in &self.parts {
            let body = self.system.bodies[parts.body];
            self.system.bodies[parts.others.clone()].fill(body);
        }
        for (body, (mass, inertia)) in self.system.bodies.iter_mut().zip(masses) {
            (body.mass, body.inertia) = (mass, inertia);
        }
        self.owed = 0.0;
        self.fresh = false;
    }

    fn plan(&self) -> String {
        match &self.matrix {
            None => "no joints to solve".to_owned(),
            Some(matrix) => format!(
                "shifted sparse Cholesky of {} rows, minimum degree; {} bodies split into {} parts",
                matrix.pattern().dimension(),
                self.parts.len(),
                self.parts.iter().map(|p| p.others.len() + 1).sum::<usize>()
            ),
        }
    }
}

fn told(error: vincula_blocks::SolveError) -> MethodError {
    MethodError::Solver {
        method: NAME,
        reason: error.to_string(),
    }
}

/// Forces on a body that was split act on all its parts alike. Weight was gathered with the
/// mass of the first part, so what is missing is put right first.
fn share_forces(forces: &mut [Six], parts: &[Parts], system: &System, model: &Model) {
    for it in parts {
        let count = (it.others.len() + 1) as f64;
        let def = &model.bodies()[it.body];
        let weight = model.gravity() * (system.bodies[it.body].mass * def.gravity_scale);
        let [force, torque] = unpack(&forces[it.body]);
        let other = (force - weight) / count;
        let share = pack(weight + other, torque / count);
        forces[it.body] = share;
        forces[it.others.clone()].fill(share);
    }
}

/// Free flight of every body for a time h with velocities u.
fn fly(bodies: &[RigidBody], velocities: &[Six], h: f64, out: &mut [RigidBody]) {
    for ((body, u), end) in bodies.iter().zip(velocities).zip(out) {
        let [v, omega] = unpack(u);
        let spin = |q: DQuat| {
            let r = DMat3::from_quat(q);
            move |l| r * (r.mul_transpose_vec3(l) / body.inertia)
        };
        let r = DMat3::from_quat(body.q);
        let l = r * (body.inertia * r.mul_transpose_vec3(omega));
        let middle = spin(DQuat::from_scaled_axis(omega * (0.5 * h)) * body.q)(l);
        end.x = body.x + v * h;
        end.q = (DQuat::from_scaled_axis(middle * h) * body.q).normalize();
        end.v = v;
        end.omega = spin(end.q)(l);
        (end.mass, end.inertia) = (body.mass, body.inertia);
    }
}

/// Violations at the end of the flight, and the largest.
fn preview_violations(
    system: &System,
    preview: &[RigidBody],
    matrix: &SystemMatrix,
    out: &mut [f64],
) -> f64 {
    let place =
        |body: Option<usize>| body.map_or(Place::WORLD, |b| crate::system::place_of(&preview[b]));
    let mut worst = 0.0f64;
    for (index, joint) in system.joints.iter().enumerate() {
        let [a, b] = system.ends[index].map(place);
        let mut values = [0.0; MAX_ROWS];
        violations(joint, &a, &b, &mut values);
        let first = matrix.pattern().row(index);
        out[first..first + joint.rows()].copy_from_slice(&values[..joint.rows()]);
        for value in values {
            worst = if value.is_finite() {
                worst.max(value.abs())
            } else {
                f64::NAN
            };
            if worst.is_nan() {
                return worst;
            }
        }
    }
    worst
}
