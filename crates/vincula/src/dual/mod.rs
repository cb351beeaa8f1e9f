//! The dual system: `(J H⁻¹ Jᵀ) λ = C`, by island, by plan.
//!
//! A joint contributes a block row. Where it ties two points together (ball, hinge,
//! universal, fixed) its first three rows are that point, whose compliance has a closed
//! form; all other rows are kept as gradients in the body frame. Two joints are coupled
//! when they share a body.

mod assemble;
mod island;
mod linearize;
pub mod plan;

pub use plan::{IslandPlan, SolverChoice};

use vincula_blocks::FactorError;

use crate::integrate::newton::NewtonBlock;
use crate::math::lanes::{gather, place, scatter};
use crate::math::small::*;
use crate::model::Model;
use island::Island;
use linearize::{JointRows, SideRows};

/// One joint seen from a body: which joint, and whether the body is its first end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Incidence {
    joint: u32,
    first: bool,
}

/// The dual system of a model, sized once.
pub struct Dual {
    islands: Vec<Island>,
    /// Linearised joints.
    joints: Vec<JointRows>,
    /// First row of each joint among the rows of the model.
    offsets: Vec<usize>,
    /// Joints at each body: `incidences[starts[b]..starts[b + 1]]`.
    incidences: Vec<Incidence>,
    starts: Vec<usize>,
    /// For each pair of incidences of a body, the edge of the island's matrix.
    edges: Vec<u32>,
    edge_starts: Vec<usize>,
    /// Island and node of each joint.
    places: Vec<(u32, u32)>,
    /// Right-hand side, then solution, one per row of the model.
    pub(crate) lambda: Vec<f64>,
}

/// Why the dual system could not be factored.
#[derive(Debug)]
pub(crate) struct DualFault {
    /// A joint of the island.
    pub joint: usize,
    /// What the solver said.
    pub source: FactorError,
}

impl Dual {
    /// Whether there is nothing to solve.
    pub fn is_empty(&self) -> bool {
        self.joints.is_empty()
    }

    /// Number of islands.
    pub fn islands(&self) -> usize {
        self.islands.len()
    }

    /// What solves each island, and why.
    pub fn plans(&self) -> impl Iterator<Item = &IslandPlan> {
        self.islands.iter().map(|i| &i.plan)
    }

    /// Linearises every joint at the iterate, assembles and factors.
    pub(crate) fn factor(&mut self, model: &Model, work: &[NewtonBlock]) -> Result<(), DualFault> {
        self.linearize(model, work);
        self.assemble(model, work);
        for island in &mut self.islands {
            island.factor()?;
        }
        Ok(())
    }

    /// Right-hand side: the violation C of every row at the iterate. Returns the largest, m.
    pub(crate) fn violation(&mut self, model: &Model, work: &[NewtonBlock]) -> f64 {
        let mut worst = 0.0f64;
        for (index, joint) in model.joints.iter().enumerate() {
            let (a, b) = linearize::carried(joint, work);
            for (row, kind) in joint.row_kinds().iter().enumerate() {
                let value = kind.value(&a, &b, joint.length);
                self.lambda[self.offsets[index] + row] = value;
                worst = if value.abs() > worst || value.is_nan() {
                    value.abs()
                } else {
                    worst
                };
            }
        }
        worst
    }

    /// Right-hand side: h times the rate of every row. Rates are in the body frame.
    pub(crate) fn drift(&mut self, model: &Model, work: &[NewtonBlock], h: f64) {
        for (index, joint) in model.joints.iter().enumerate() {
            let rows = &self.joints[index];
            let out = &mut self.lambda[self.offsets[index]..self.offsets[index + 1]];
            out.fill(0.0);
            for (side, endpoint) in [(&rows.a, joint.a.endpoint), (&rows.b, joint.b.endpoint)] {
                let Some(body) = endpoint.index() else {
                    continue;
                };
                let (block, lane) = place(body);
                let n = &work[block];
                let rate: M3 = gather(&n.w, lane);
                let v: V3 = gather(&n.v, lane);
                let rot: M3 = gather(&n.rot, lane);
                side.add_rate(&rot, &rate, &v, rows.points, out);
            }
            out.iter_mut().for_each(|x| *x *= h);
        }
    }

    /// Solves for the multipliers of the current right-hand side.
    pub(crate) fn solve(&mut self) {
        for island in &mut self.islands {
            island.solve(&mut self.lambda, &self.offsets);
        }
    }

    /// Puts the constraint forces `−Jᵀλ` on the bodies.
    pub(crate) fn load(&self, model: &Model, work: &mut [NewtonBlock]) {
        for (index, joint) in model.joints.iter().enumerate() {
            let rows = &self.joints[index];
            let lambda = &self.lambda[self.offsets[index]..self.offsets[index + 1]];
            for (side, endpoint) in [(&rows.a, joint.a.endpoint), (&rows.b, joint.b.endpoint)] {
                let Some(body) = endpoint.index() else {
                    continue;
                };
                let (block, lane) = place(body);
                let n = &mut work[block];
                let rot: M3 = gather(&n.rot, lane);
                let (load, thrust) = side.transpose_multiply(&rot, rows.points, lambda);
                let total = sub9(&gather(&n.load, lane), &load);
                scatter(&mut n.load, lane, &total);
                let thrust = sub(&gather(&n.thrust, lane), &thrust);
                scatter(&mut n.thrust, lane, &thrust);
            }
        }
    }

    fn side(&self, incidence: Incidence) -> (&SideRows, bool) {
        let rows = &self.joints[incidence.joint as usize];
        let side = if incidence.first { &rows.a } else { &rows.b };
        (side, rows.points)
    }
}
