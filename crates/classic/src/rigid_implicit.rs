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
//! by eliminating δu. K is the stiffness that the impulses give to the rotation of each body; where it would make H lose its sign it is left out.
//! That and the dependence of M on the rotation change the speed of convergence and not the
//! solution. An iteration that would turn a body too far is shortened.

use glam::{DMat3, DVec3};
use vincula::body::rigid::RigidBody;
use vincula::joint::rows::RowKind;
use vincula::model::{Control, Model, State};

use crate::articulation::{Articulation, add_scaled};
use crate::contact::refuse_colliders;
use crate::momentum::{arrive, damping, imbalance};
use crate::system::forces::gather_forces;
use crate::system::method::{check_step, refuse_axis_friction, refuse_limits};
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
        refuse_axis_friction(NAME, model)?;
        refuse_limits(NAME, model)?;
        refuse_colliders(NAME, model)?;
        let system = System::new(model, state);
        let joints = Articulation::new(NAME, &system).map_err(|error| Refusal {
            method: NAME,
            reason: error.to_string(),
            instead: "--method affine",
        })?;
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

    /// Iterates; the number of iterations and whether they converged.
    fn advance(
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
            self.place(h);
            self.joints.linearize(&self.system);
            self.find_matrix(h);
            let inverse = &self.inverse;
            let bodies = &self.system.bodies;
            self.joints
                .factor_with(|body, f| apply(bodies[body].mass, &inverse[body], f))?;
            let moved = self.correct(h)?;
            if moved <= self.settings.tolerance {
                self.place(h);
                let closed = self.system.worst_violation().0 <= self.settings.tolerance;
                if closed || moved == 0.0 {
                    return Ok((iteration, closed));
                }
            }
            if !moved.is_finite() {
                break;
            }
        }
        self.place(h);
        Ok((self.settings.iterations, false))
    }

    fn place(&mut self, h: f64) {
        for ((body, start), velocity) in self
            .system
            .bodies
            .iter_mut()
            .zip(&self.start)
            .zip(&self.velocity)
        {
            *body = arrive(start, velocity, h);
        }
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
            let r = DMat3::from_quat(body.q);
            let inertia = r * DMat3::from_diagonal(body.inertia) * r.transpose();
            // λ holds impulses, so one factor of h is in it already.
            let full = inertia + *k * h;
            let keeps_sign = is_definite(&(full - inertia * 0.1));
            *inverse = if keeps_sign { full } else { inertia }.inverse();
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
            add_scaled(velocity, share, change);
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

/// Whether a symmetric matrix is positive definite.
fn is_definite(m: &DMat3) -> bool {
    let minor = m.x_axis.x * m.y_axis.y - m.y_axis.x * m.x_axis.y;
    m.x_axis.x > 0.0 && minor > 0.0 && m.determinant() > 0.0
}

/// Adds `K = −λ ∂²C/∂θ²` of every row to its two bodies, the other one held.
fn add_stiffness(system: &System, impulse: &[f64], out: &mut [DMat3]) {
    let mut row = 0;
    for (joint, ends) in system.joints.iter().zip(&system.ends) {
        let places = ends.map(|end| system.place(end));
        let levers = [
            places[0].r * DVec3::from_array(joint.a.point),
            places[1].r * DVec3::from_array(joint.b.point),
        ];
        let axes = [&joint.a, &joint.b].map(|side| side.axes.map(DVec3::from_array));
        let axis = |side: usize, k: usize| places[side].r * axes[side][k];
        // From each centre to the other attachment point.
        let (near, far) = (places[0].x + levers[0], places[1].x + levers[1]);
        let reach = [far - places[0].x, near - places[1].x];
        for kind in joint.row_kinds() {
            let lambda = impulse[row];
            row += 1;
            let [a, b] = match *kind {
                RowKind::Point(k) => {
                    let f = DVec3::AXES[k] * lambda;
                    [turning(levers[0], f), turning(levers[1], -f)]
                }
                RowKind::Far(k) => {
                    let f = DVec3::AXES[k] * lambda;
                    let far = |side: usize| levers[side] + joint.length * axis(side, 2);
                    [turning(far(0), f), turning(far(1), -f)]
                }
                RowKind::Square(i, j) => {
                    let (a, b) = (axis(0, i), axis(1, j));
                    let l = joint.length * lambda;
                    [turning(a, b * l), turning(b, a * l)]
                }
                RowKind::Slide(i) => {
                    let a = axis(0, i) * lambda;
                    [turning(a, reach[0]), turning(levers[1], a)]
                }
                RowKind::Distance(l) => {
                    let k = -lambda / l;
                    [0, 1].map(|side| turning(levers[side], reach[side] * k))
                }
            };
            for (end, part) in ends.iter().zip([a, b]) {
                if let Some(body) = *end {
                    out[body] += part;
                }
            }
        }
    }
}

/// `(f·r) 1 − sym(r fᵀ)`: how a turning lever r under a constant force f resists.
fn turning(r: DVec3, f: DVec3) -> DMat3 {
    let outer = DMat3::from_cols(r * f.x, r * f.y, r * f.z);
    DMat3::from_diagonal(DVec3::splat(f.dot(r))) - (outer + outer.transpose()) * 0.5
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
        check_step(h)?;
        self.start.clone_from(&self.system.bodies);
        let done = self.advance(model, control, h);
        let done = done.and_then(|found| self.system.check_finite(model).map(|()| found));
        match done {
            Ok((iterations, converged)) => {
                self.system.time += h;
                Ok(MethodReport {
                    iterations,
                    converged,
                    residual: self.system.worst_violation().0,
                })
            }
            Err(error) => {
                self.system.bodies.clone_from(&self.start);
                self.impulse.fill(0.0);
                Err(error)
            }
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use glam::DQuat;
    use vincula::joint::JointKind;
    use vincula::prelude::*;

    #[test]
    fn stiffness_is_minus_the_second_derivative_of_the_rows_along_a_rotation() {
        for kind in [
            JointKind::Ball,
            JointKind::Hinge,
            JointKind::Prismatic,
            JointKind::Fixed,
            JointKind::Planar,
            JointKind::Distance(0.8),
        ] {
            let model = pair(kind);
            let mut system = System::new(&model, &model.initial_state());
            let impulse: Vec<f64> = (0..system.rows()).map(|k| 1.0 + 0.3 * k as f64).collect();
            let mut stiffness = [DMat3::ZERO; 2];
            add_stiffness(&system, &impulse, &mut stiffness);
            let omega = DVec3::new(0.4, -0.9, 0.6);
            for body in 0..2 {
                let rest = system.bodies.clone();
                system.bodies[0].omega = DVec3::ZERO;
                system.bodies[1].omega = DVec3::ZERO;
                system.bodies[body].omega = omega;
                system.bodies.iter_mut().for_each(|b| b.v = DVec3::ZERO);
                let bias = system.biases(0);
                let exact: f64 = impulse.iter().zip(bias).map(|(l, c)| -l * c).sum();
                let ours = omega.dot(stiffness[body] * omega);
                assert!(
                    (ours - exact).abs() < 1e-12,
                    "{kind:?} {body}: {ours} {exact}"
                );
                system.bodies = rest;
            }
        }
    }

    /// Two bodies with a joint that is badly violated, so that no term vanishes by chance.
    fn pair(kind: JointKind) -> Model {
        let mut builder = ModelBuilder::new();
        let shape = Shape::Box {
            half_extents: DVec3::new(0.5, 0.2, 0.1),
        };
        let a = builder.body(BodyDef::new("a", shape.clone(), 1000.0));
        let turn = DQuat::from_rotation_x(0.8) * DQuat::from_rotation_z(0.3);
        let b = builder.body(
            BodyDef::new("b", shape, 700.0)
                .turned(turn)
                .at(DVec3::new(0.9, 0.3, -0.4)),
        );
        let frame = |t: DVec3, angle: f64| Pose {
            translation: t,
            rotation: DQuat::from_rotation_y(angle),
        };
        let frames = [
            frame(DVec3::new(0.4, -0.1, 0.2), 0.7),
            frame(DVec3::new(-0.2, 0.3, 0.1), 1.1),
        ];
        builder.joint(JointDef::with_frames("j", kind, a, b, frames));
        builder.build().expect("a model")
    }
}
