//! Implicit Euler for jointed rigid bodies: Newton's method on the joints themselves, in
//! maximal coordinates with quaternions (the kind of method that He et al. 2026 compare with in
//! Fig. 12, after Maloisel et al. 2025).
//!
//! ```text
//! r = (balance of momentum) − J(q⁺)ᵀ λ = 0,    C(q⁺) = 0
//! ```
//!
//! The unknowns are the velocities at the end of the step and the impulses λ. One iteration
//! solves
//!
//! ```text
//! H δu − Jᵀ δλ = −r,    h J δu = −C,    H = M + h K,    K = −λ ∂²C/∂θ²
//! ```
//!
//! by eliminating δu. The angular part of δu is δθ/h, a turn of the body at the end of the step,
//! for that is what J and K act on; ω⁺ changes by what makes exp(h ω⁺) turn so
//! (`momentum.rs`). Bodies that turn by a radian in a step need this: with δω in the place of
//! δθ/h the iteration is of first order in h ω and gives up on fast nets.
//!
//! K is the stiffness that the impulses give to the rotation of each body, and H has the
//! symmetric part of what the turn of the inertia adds. Where H would lose its sign its
//! eigenvalues are made positive. That, and the part that is left out, change the speed of
//! convergence and not the solution. An iteration that would turn a body too far is shortened.

use glam::DMat3;
use vincula::body::rigid::RigidBody;
use vincula::model::{Control, Model, State};

use crate::articulation::Articulation;
use crate::contact::refuse_colliders;
use crate::momentum::{Implicit, arrive_all, change_velocity, damping, imbalance, step};
use crate::stiffness::{add_stiffness, rotational};
use crate::system::forces::gather_forces;
use crate::system::method::{refuse_foreign, refuse_limits};
use crate::system::rows::{Six, pack, unpack};
use crate::system::{Method, MethodError, MethodReport, Refusal, System};

const NAME: &str = "rigid-implicit";

/// How to iterate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RigidImplicitSettings {
    /// Iterations end when displacements change by less than this, m (rad for angles), and
    /// joints are violated by less.
    pub tolerance: f64,
    /// Iterations of a step at most.
    pub iterations: usize,
}

impl Default for RigidImplicitSettings {
    fn default() -> RigidImplicitSettings {
        RigidImplicitSettings {
            tolerance: 1e-10,
            iterations: 60,
        }
    }
}

/// The method with its memory.
pub struct RigidImplicit {
    settings: RigidImplicitSettings,
    system: System,
    joints: Articulation,
    start: Vec<RigidBody>,
    force: Vec<Six>,
    velocity: Vec<Six>,
    change: Vec<Six>,
    /// K of each body, N m s: that of impulses.
    stiffness: Vec<DMat3>,
    /// Inverse of the rotational part of H.
    inverse: Vec<DMat3>,
    /// Impulses of the joints, N s; kept from step to step as a first guess.
    impulse: Vec<f64>,
    offset: Vec<f64>,
    correction: Vec<f64>,
}

impl RigidImplicit {
    /// The method for a model at a state.
    pub fn new(
        model: &Model,
        state: &State,
        settings: RigidImplicitSettings,
    ) -> Result<RigidImplicit, Refusal> {
        refuse_foreign(NAME, model)?;
        refuse_limits(NAME, model)?;
        refuse_colliders(NAME, model)?;
        let system = System::new(model, state);
        let joints = Articulation::new(NAME, &system)?;
        let (bodies, rows) = (system.bodies.len(), joints.rows());
        Ok(RigidImplicit {
            settings,
            start: system.bodies.clone(),
            force: vec![[0.0; 6]; bodies],
            velocity: vec![[0.0; 6]; bodies],
            change: vec![[0.0; 6]; bodies],
            stiffness: vec![DMat3::ZERO; bodies],
            inverse: vec![DMat3::IDENTITY; bodies],
            impulse: vec![0.0; rows],
            offset: vec![0.0; rows],
            correction: vec![0.0; rows],
            system,
            joints,
        })
    }

    /// H⁻¹ of the rotations at the present iterate.
    fn find_matrix(&mut self, h: f64) {
        self.stiffness.fill(DMat3::ZERO);
        add_stiffness(&self.system, &self.impulse, &mut self.stiffness);
        for ((body, k), inverse) in self
            .system
            .bodies
            .iter()
            .zip(&self.stiffness)
            .zip(&mut self.inverse)
        {
            // λ holds impulses, so one factor of h is in it already.
            *inverse = rotational(body, &(*k * h), h).inverse();
        }
    }

    /// One iteration; the largest displacement that it changed.
    fn correct(&mut self, h: f64) -> Result<f64, MethodError> {
        let bodies = self.start.iter().zip(&self.system.bodies);
        for ((change, (start, end)), force) in self.change.iter_mut().zip(bodies).zip(&self.force) {
            *change = imbalance(start, end, force, h).map(|x| -x);
        }
        self.joints.add_forces(&self.impulse, &mut self.change);
        for ((change, inverse), body) in self.change.iter_mut().zip(&self.inverse).zip(&self.start)
        {
            *change = apply(body.mass, inverse, change);
        }
        self.joints.violations(&mut self.offset);
        self.offset.iter_mut().for_each(|c| *c /= h);
        self.joints
            .project(&mut self.change, &self.offset, &mut self.correction)?;
        let share = damping(self.change.iter().copied(), h);
        for (impulse, change) in self.impulse.iter_mut().zip(&self.correction) {
            *impulse += share * change;
        }
        let mut moved = 0.0_f64;
        for (velocity, change) in self.velocity.iter_mut().zip(&self.change) {
            change_velocity(velocity, change, share, h);
            for x in change {
                moved = moved.max(h * x.abs());
                if x.is_nan() {
                    moved = f64::NAN;
                }
            }
        }
        Ok(moved)
    }
}

/// `H⁻¹ f` of one body.
fn apply(mass: f64, inverse: &DMat3, force: &Six) -> Six {
    let [f, torque] = unpack(force);
    pack(f / mass, *inverse * torque)
}

impl Implicit for RigidImplicit {
    fn parts(&mut self) -> (&mut System, &mut Vec<RigidBody>) {
        (&mut self.system, &mut self.start)
    }

    fn closes(&self) -> bool {
        true
    }

    fn iterate(
        &mut self,
        model: &Model,
        control: &Control,
        h: f64,
    ) -> Result<(usize, bool), MethodError> {
        gather_forces(model, &self.system, control, &mut self.force);
        for (velocity, body) in self.velocity.iter_mut().zip(&self.start) {
            *velocity = pack(body.v, body.omega);
        }
        for iteration in 1..=self.settings.iterations {
            arrive_all(&mut self.system, &self.start, &self.velocity, h);
            self.joints.linearize(&self.system);
            self.find_matrix(h);
            let inverse = &self.inverse;
            let bodies = &self.system.bodies;
            self.joints
                .factor_with(|body, f| apply(bodies[body].mass, &inverse[body], f))?;
            let moved = self.correct(h)?;
            if moved <= self.settings.tolerance {
                arrive_all(&mut self.system, &self.start, &self.velocity, h);
                let closed = self.system.worst_violation().0 <= self.settings.tolerance;
                if closed || moved == 0.0 {
                    return Ok((iteration, closed));
                }
            }
            if !moved.is_finite() {
                break;
            }
        }
        arrive_all(&mut self.system, &self.start, &self.velocity, h);
        Ok((self.settings.iterations, false))
    }

    fn forget(&mut self) {
        self.impulse.fill(0.0);
    }
}

impl Method for RigidImplicit {
    fn name(&self) -> &'static str {
        NAME
    }

    fn step(
        &mut self,
        model: &Model,
        control: &Control,
        h: f64,
    ) -> Result<MethodReport, MethodError> {
        step(self, model, control, h)
    }

    fn system(&self) -> &System {
        &self.system
    }

    fn reset(&mut self, model: &Model, state: &State) {
        self.system.read_state(model, state);
        self.impulse.fill(0.0);
    }

    fn plan(&self) -> String {
        "implicit Euler, Newton's method on the joints in maximal coordinates".to_owned()
    }
}
