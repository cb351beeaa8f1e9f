//! Joints as stiff springs: the penalty method, implicit.
//!
//! ```text
//! (balance of momentum) + h k J(q⁺)ᵀ C(q⁺) = 0
//! ```
//!
//! One iteration of Newton's method solves
//!
//! ```text
//! (H + h² k JᵀJ) δu = −r
//! ```
//!
//! with H the inertia and the stiffness that tense joints give to rotation (`stiffness.rs`),
//!
//! a symmetric, positive definite system with a block of six for each body and an edge for each
//! joint. The joints give way by λ/k: a stiffer spring is a better joint and a worse condition.
//! It is the approximation of joints that He et al. 2026 (sections 1 and 4) argue against.

use glam::DMat3;
use vincula::body::rigid::RigidBody;
use vincula::model::{Control, Model, State};
use vincula_blocks::{BlockMatrix, Factorization, Pattern, direct_solver};

use crate::contact::refuse_colliders;
use crate::momentum::{Implicit, arrive_all, change_velocity, damping, imbalance, step};
use crate::stiffness::{add_stiffness, rotational};
use crate::system::forces::gather_forces;
use crate::system::method::{refuse_foreign, refuse_limits};
use crate::system::rows::{Linear, Six, pack};
use crate::system::{Method, MethodError, MethodReport, Refusal, System};

const NAME: &str = "penalty";

/// How stiff, and how to iterate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PenaltySettings {
    /// Stiffness of every row of a joint, N/m.
    pub stiffness: f64,
    /// Iterations end when displacements change by less than this, m (rad for angles).
    pub tolerance: f64,
    /// Iterations of a step at most.
    pub iterations: usize,
}

impl Default for PenaltySettings {
    fn default() -> PenaltySettings {
        PenaltySettings {
            stiffness: 1e6,
            tolerance: 1e-9,
            iterations: 30,
        }
    }
}

/// The method with its memory.
pub struct Penalty {
    settings: PenaltySettings,
    system: System,
    linear: Vec<Linear>,
    /// The edge of each joint that has two bodies.
    edges: Vec<Option<usize>>,
    matrix: BlockMatrix,
    solver: Option<Box<dyn Factorization + Send>>,
    start: Vec<RigidBody>,
    force: Vec<Six>,
    velocity: Vec<Six>,
    residual: Vec<f64>,
    /// Impulses of the springs, N s.
    impulse: Vec<f64>,
    /// How they resist the turning of each body, N m s.
    turning: Vec<DMat3>,
}

impl Penalty {
    /// The method for a model at a state.
    pub fn new(
        model: &Model,
        state: &State,
        settings: PenaltySettings,
    ) -> Result<Penalty, Refusal> {
        refuse_foreign(NAME, model)?;
        refuse_limits(NAME, model)?;
        refuse_colliders(NAME, model)?;
        let refuse = |reason: String| Refusal {
            method: NAME,
            reason,
            instead: "--method affine",
        };
        if !(settings.stiffness > 0.0 && settings.stiffness.is_finite()) {
            let given = settings.stiffness;
            return Err(refuse(format!(
                "the stiffness of its springs is {given} N/m"
            )));
        }
        let system = System::new(model, state);
        let bodies = system.bodies.len();
        let pairs = |ends: &[Option<usize>; 2]| Some((ends[0]?, ends[1]?));
        let edges: Vec<_> = system.ends.iter().filter_map(pairs).collect();
        let pattern = Pattern::new(&vec![6; bodies], &edges).map_err(|e| refuse(e.to_string()))?;
        let solver = match bodies {
            0 => None,
            _ => Some(direct_solver(&pattern).map_err(|e| refuse(e.to_string()))?),
        };
        let edge = |ends: &[Option<usize>; 2]| {
            let (a, b) = pairs(ends)?;
            pattern.edge_index(a, b)
        };
        Ok(Penalty {
            settings,
            linear: vec![Linear::EMPTY; system.joints.len()],
            edges: system.ends.iter().map(edge).collect(),
            matrix: BlockMatrix::zeros(&pattern),
            solver,
            start: system.bodies.clone(),
            force: vec![[0.0; 6]; bodies],
            velocity: vec![[0.0; 6]; bodies],
            residual: vec![0.0; 6 * bodies],
            impulse: Vec::with_capacity(system.rows()),
            turning: vec![DMat3::ZERO; bodies],
            system,
        })
    }

    /// `−r`.
    fn balance(&mut self, h: f64) {
        let bodies = self.start.iter().zip(&self.system.bodies);
        for ((part, (start, end)), force) in self
            .residual
            .chunks_exact_mut(6)
            .zip(bodies)
            .zip(&self.force)
        {
            part.copy_from_slice(&imbalance(start, end, force, h).map(|x| -x));
        }
        for (linear, ends) in self.linear.iter().zip(&self.system.ends) {
            for (end, rows) in ends.iter().zip(&linear.sides) {
                let Some(body) = *end else { continue };
                for (row, value) in rows.iter().zip(linear.value).take(linear.rows) {
                    let push = -h * self.settings.stiffness * value;
                    for k in 0..6 {
                        self.residual[6 * body + k] += push * row[k];
                    }
                }
            }
        }
    }

    /// `H + h² k JᵀJ`.
    fn assemble(&mut self, h: f64) {
        self.matrix.clear();
        self.impulse.clear();
        for linear in &self.linear {
            let values = linear.value[..linear.rows].iter();
            let push = -h * self.settings.stiffness;
            self.impulse.extend(values.map(|value| push * value));
        }
        self.turning.fill(DMat3::ZERO);
        add_stiffness(&self.system, &self.impulse, &mut self.turning);
        for (node, body) in self.system.bodies.iter().enumerate() {
            let inertia = rotational(body, &(self.turning[node] * h), h);
            let block = self.matrix.diagonal_mut(node);
            for i in 0..3 {
                block[7 * i] = body.mass;
                for j in 0..3 {
                    block[6 * (3 + i) + 3 + j] = inertia.col(j)[i];
                }
            }
        }
        let weight = h * h * self.settings.stiffness;
        for ((linear, ends), edge) in self.linear.iter().zip(&self.system.ends).zip(&self.edges) {
            let sides = &linear.sides;
            for row in 0..linear.rows {
                for (end, side) in ends.iter().zip(sides) {
                    if let Some(body) = *end {
                        add_outer(
                            self.matrix.diagonal_mut(body),
                            weight,
                            &side[row],
                            &side[row],
                        );
                    }
                }
                if let Some(edge) = *edge {
                    // An edge's block has the rows of the smaller body.
                    let (first, second) = if ends[0] < ends[1] { (0, 1) } else { (1, 0) };
                    let block = self.matrix.edge_mut(edge);
                    add_outer(block, weight, &sides[first][row], &sides[second][row]);
                }
            }
        }
    }

    /// Solves and moves; the largest displacement that changed.
    fn correct(&mut self, h: f64) -> Result<f64, MethodError> {
        let fail = |reason: String| MethodError::Solver {
            method: NAME,
            reason,
        };
        if let Some(solver) = &mut self.solver {
            solver
                .factor_solve(&self.matrix, &mut self.residual)
                .map_err(|e| fail(e.to_string()))?;
        }
        let six = |part: &[f64]| -> Six { std::array::from_fn(|k| part[k]) };
        let share = damping(self.residual.chunks_exact(6).map(six), h);
        let mut moved = 0.0_f64;
        for (velocity, change) in self.velocity.iter_mut().zip(self.residual.chunks_exact(6)) {
            change_velocity(velocity, &six(change), share, h);
            for x in change {
                // A number that is not one must not look converged.
                moved = if x.is_nan() {
                    f64::INFINITY
                } else {
                    moved.max(h * x.abs())
                };
            }
        }
        Ok(moved)
    }
}

/// Adds `k a bᵀ` to a block of six by six.
fn add_outer(block: &mut [f64], k: f64, a: &Six, b: &Six) {
    for i in 0..6 {
        for j in 0..6 {
            block[6 * i + j] += k * a[i] * b[j];
        }
    }
}

impl Implicit for Penalty {
    fn parts(&mut self) -> (&mut System, &mut Vec<RigidBody>) {
        (&mut self.system, &mut self.start)
    }

    fn closes(&self) -> bool {
        false
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
            for (joint, linear) in self.linear.iter_mut().enumerate() {
                self.system.linearize(joint, linear);
            }
            self.balance(h);
            self.assemble(h);
            let moved = self.correct(h)?;
            if moved <= self.settings.tolerance {
                arrive_all(&mut self.system, &self.start, &self.velocity, h);
                return Ok((iteration, true));
            }
        }
        arrive_all(&mut self.system, &self.start, &self.velocity, h);
        Ok((self.settings.iterations, false))
    }
}

impl Method for Penalty {
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
    }

    fn plan(&self) -> String {
        format!(
            "joints as springs of {:e} N/m, implicit Euler, sparse blocks of six",
            self.settings.stiffness
        )
    }
}
