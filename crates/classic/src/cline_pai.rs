//! Time stepping of Anitescu and Potra with post-stabilization (Cline and Pai 2003).
//!
//! Impulses and the velocity at the end of the step are the unknowns (Eqs. 7 and 8):
//!
//! ```text
//! M (u⁺ − u) = h f + J_eᵀ λ_e + J_cᵀ λ_c + J_fᵀ λ_f
//! J_e u⁺ + α g_e = 0
//! J_c u⁺ + α g_c ≥ 0   ⊥   λ_c ≥ 0      and Coulomb's law with a polyhedral cone
//! p⁺ = p + h u⁺
//! ```
//!
//! J is that of the start of the step, so g drifts by h² in each. α = 0 lets it drift, α > 0 is
//! Baumgarte's remedy (Eq. 9 at the level of velocities). Post-stabilization moves the bodies
//! at the end of the step instead, by the least motion in the metric of the mass that closes
//! what is open and opens what overlaps (Eq. 15), without touching velocities:
//!
//! ```text
//! M dp = J_eᵀ λ_e + J_cᵀ λ_c,   g_e + J_e dp = 0,   g_c + J_c dp ≥ 0   ⊥   λ_c ≥ 0
//! ```
//!
//! Impacts are plastic. Limits of joints are contacts without friction.

use std::f64::consts::PI;

use glam::{DMat3, DVec3};
use vincula::body::rigid::RigidBody;
use vincula::model::{Control, Model, State};

use crate::articulation::{Articulation, add_scaled};
use crate::contact::{Contact, Detect, Limit, PairRow, find_limits};
use crate::push::Pushes;
use crate::system::forces::{gather_forces, gyroscopic};
use crate::system::method::{check_conflict, check_step, refuse_foreign};
use crate::system::rows::{Six, pack, unpack};
use crate::system::{
    Method, MethodError, MethodReport, Refusal, System, apply_inverse_mass, drift,
};

const NAME: &str = "cline-pai";

/// What is done against drift.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Stabilization {
    /// Nothing.
    None,
    /// A velocity of −α g is asked for, α in 1/s.
    Baumgarte(f64),
    /// A second problem moves the bodies after the step.
    Post,
}

/// How to step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClinePaiSettings {
    /// Against drift.
    pub stabilization: Stabilization,
    /// Directions of friction of a contact: even, at least four.
    pub directions: usize,
    /// Contacts and limits with a gap below this act, m (rad for angles).
    pub tolerance: f64,
    /// Post-stabilizations of a step at most; another one only follows when the last left
    /// more than the tolerance, as it may where bodies turn far.
    pub post_steps: usize,
}

impl Default for ClinePaiSettings {
    fn default() -> ClinePaiSettings {
        ClinePaiSettings {
            stabilization: Stabilization::Post,
            directions: 4,
            tolerance: 1e-5,
            post_steps: 5,
        }
    }
}

/// The method with its memory.
pub struct ClinePai {
    settings: ClinePaiSettings,
    system: System,
    joints: Articulation,
    detector: Box<dyn Detect>,
    contacts: Vec<Contact>,
    limits: Vec<Limit>,
    pushes: Pushes,
    before: Vec<RigidBody>,
    force: Vec<Six>,
    velocity: Vec<Six>,
    offset: Vec<f64>,
    lambda: Vec<f64>,
    /// Largest violation before the last post-stabilization, m.
    unstabilized: f64,
}

impl ClinePai {
    /// The method for a model at a state, with something that finds contacts.
    pub fn new(
        model: &Model,
        state: &State,
        settings: ClinePaiSettings,
        detector: Box<dyn Detect>,
    ) -> Result<ClinePai, Refusal> {
        refuse_foreign(NAME, model)?;
        let system = System::new(model, state);
        let joints = Articulation::new(NAME, &system)?;
        let (bodies, rows) = (system.bodies.len(), joints.rows());
        Ok(ClinePai {
            settings,
            before: system.bodies.clone(),
            force: vec![[0.0; 6]; bodies],
            velocity: vec![[0.0; 6]; bodies],
            offset: vec![0.0; rows],
            lambda: vec![0.0; rows],
            system,
            joints,
            detector,
            contacts: Vec::new(),
            limits: Vec::new(),
            pushes: Pushes::default(),
            unstabilized: 0.0,
        })
    }

    /// Contacts found last: after the motion with post-stabilization, else before it.
    pub fn contacts(&self) -> &[Contact] {
        &self.contacts
    }

    /// Largest violation of a joint before the last post-stabilization, m.
    pub fn violation_before(&self) -> f64 {
        self.unstabilized
    }

    fn advance(&mut self, model: &Model, control: &Control, h: f64) -> Result<usize, MethodError> {
        self.find(model, control, h);
        self.predict(model, control, h);
        self.joints.linearize(&self.system);
        self.joints.factor(&self.system)?;
        let alpha = match self.settings.stabilization {
            Stabilization::Baumgarte(alpha) => alpha,
            Stabilization::None | Stabilization::Post => 0.0,
        };
        let mut pivots = self.solve_velocity(alpha)?;
        self.move_bodies(h);
        self.unstabilized = self.system.worst_violation().0;
        if self.settings.stabilization == Stabilization::Post {
            pivots += self.stabilize(model, control, h)?;
            check_conflict(&self.system, self.unstabilized)?;
        }
        self.system.time += h;
        Ok(pivots)
    }

    fn find(&mut self, model: &Model, control: &Control, h: f64) {
        self.detector
            .detect(model, &self.system, control, h, &mut self.contacts);
        find_limits(&self.system, self.settings.tolerance, &mut self.limits);
    }

    /// `u + h M⁻¹ f`.
    fn predict(&mut self, model: &Model, control: &Control, h: f64) {
        gather_forces(model, &self.system, control, &mut self.force);
        for ((body, force), velocity) in self
            .system
            .bodies
            .iter()
            .zip(&mut self.force)
            .zip(&mut self.velocity)
        {
            add_scaled(force, 1.0, &pack(DVec3::ZERO, gyroscopic(body)));
            *velocity = pack(body.v, body.omega);
            let rotation = DMat3::from_quat(body.q);
            add_scaled(velocity, h, &apply_inverse_mass(body, &rotation, force));
        }
    }

    /// The velocity at the end of the step.
    fn solve_velocity(&mut self, alpha: f64) -> Result<usize, MethodError> {
        self.joints.violations(&mut self.offset);
        self.offset.iter_mut().for_each(|g| *g *= alpha);
        self.joints
            .project(&mut self.velocity, &self.offset, &mut self.lambda)?;
        self.pushes.clear(self.settings.directions);
        for contact in &self.contacts {
            if contact.gap > self.settings.tolerance {
                continue;
            }
            let row = contact.row(&self.system, contact.normal);
            self.pushes.add(row, alpha * contact.gap);
            if contact.friction > 0.0 {
                let (system, count) = (&self.system, self.settings.directions);
                let tangents = tangents(system, contact, &self.velocity, count);
                self.pushes.add_friction(contact.friction, tangents);
            }
        }
        for limit in &self.limits {
            self.pushes.add(limit.row, alpha * limit.gap);
        }
        self.push()
    }

    fn push(&mut self) -> Result<usize, MethodError> {
        if self.pushes.is_empty() {
            return Ok(0);
        }
        self.pushes
            .solve(NAME, &self.system, &mut self.joints, &mut self.velocity)
    }

    fn move_bodies(&mut self, h: f64) {
        for (body, velocity) in self.system.bodies.iter_mut().zip(&self.velocity) {
            let [v, omega] = unpack(velocity);
            (body.v, body.omega) = (v, omega);
            drift(body, v, omega, h);
        }
    }

    /// Moves the bodies, and not their velocities, so that joints hold and nothing overlaps.
    fn stabilize(
        &mut self,
        model: &Model,
        control: &Control,
        h: f64,
    ) -> Result<usize, MethodError> {
        let mut pivots = 0;
        for round in 0..self.settings.post_steps {
            self.find(model, control, h);
            if round > 0 && self.is_stable() {
                break;
            }
            self.joints.linearize(&self.system);
            self.joints.factor(&self.system)?;
            pivots += self.solve_displacement()?;
            for (body, motion) in self.system.bodies.iter_mut().zip(&self.velocity) {
                let [v, omega] = unpack(motion);
                drift(body, v, omega, 1.0);
            }
        }
        Ok(pivots)
    }

    /// Whether all constraints hold to the tolerance.
    fn is_stable(&self) -> bool {
        let gaps = self.contacts.iter().map(|contact| contact.gap);
        let mut all = gaps.chain(self.limits.iter().map(|limit| limit.gap));
        self.system.worst_violation().0 <= self.settings.tolerance
            && all.all(|gap| gap >= -self.settings.tolerance)
    }

    fn solve_displacement(&mut self) -> Result<usize, MethodError> {
        self.velocity.fill([0.0; 6]);
        self.joints.violations(&mut self.offset);
        self.joints
            .project(&mut self.velocity, &self.offset, &mut self.lambda)?;
        self.pushes.clear(self.settings.directions);
        for contact in &self.contacts {
            let row = PairRow {
                offset: 0.0,
                ..contact.row(&self.system, contact.normal)
            };
            self.pushes.add(row, contact.gap);
        }
        for limit in &self.limits {
            self.pushes.add(limit.row, limit.gap);
        }
        self.push()
    }
}

/// Half of the directions of friction of a contact. The first is that of the slip that there
/// would be without contacts, so that a sliding body is held back along its path; the slip at
/// the start of the step would do for fast slip only, and turns about when it is slow.
fn tangents<'a>(
    system: &'a System,
    contact: &'a Contact,
    velocity: &[Six],
    directions: usize,
) -> impl Iterator<Item = PairRow> + use<'a> {
    let slip = contact.slip(system, velocity);
    let across = || contact.normal.any_orthonormal_vector();
    let first = slip.try_normalize().unwrap_or_else(across);
    let second = contact.normal.cross(first);
    (0..directions / 2).map(move |k| {
        let angle = 2.0 * PI * k as f64 / directions as f64;
        contact.row(system, first * angle.cos() + second * angle.sin())
    })
}

impl Method for ClinePai {
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
        let done = self.advance(model, control, h);
        let done = done.and_then(|found| self.system.check_finite(model).map(|()| found));
        match done {
            Ok(pivots) => Ok(MethodReport {
                iterations: 1 + pivots,
                converged: true,
                residual: self.system.worst_violation().0,
            }),
            Err(error) => {
                self.system.bodies.clone_from(&self.before);
                self.system.time = time;
                Err(error)
            }
        }
    }

    fn system(&self) -> &System {
        &self.system
    }

    fn reset(&mut self, model: &Model, state: &State) {
        self.system.read_state(model, state);
    }

    fn plan(&self) -> String {
        let against = match self.settings.stabilization {
            Stabilization::None => "no stabilization".to_owned(),
            Stabilization::Baumgarte(alpha) => format!("Baumgarte's stabilization, {alpha} 1/s"),
            Stabilization::Post => "post-stabilization".to_owned(),
        };
        format!("joints eliminated, contacts by Lemke's algorithm, {against}")
    }
}
