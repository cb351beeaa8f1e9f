//! The dual system: `(J H⁻¹ Jᵀ) λ = C`, by island, by plan.
//!
//! A joint contributes a block row. Where it ties two points together (ball, hinge,
//! universal, fixed) its first three rows are that point, whose compliance has a closed
//! form; all other rows are kept as gradients in the body frame. Two joints are coupled
//! when they share a body, unless the body is a hub and an unknown itself (`hubs.rs`).

mod assemble;
mod axes;
pub(crate) mod axles;
mod border;
mod choose;
mod hubs;
mod island;
mod limits;
mod linearize;
mod net;
mod open;
mod passes;
mod path;
pub mod plan;
pub(crate) mod ports;
mod reach;
mod redundancy;
pub(crate) mod squares;
mod strand;
mod sweeps;
mod ties;
mod trial;
mod turning;

pub(crate) use axes::{ROUNDS, unwrap};
pub(crate) use passes::{Joints, larger};
pub(crate) use path::Path;
pub use plan::{IslandPlan, SolverChoice};
pub use redundancy::{AnalysisError, GAP_TOLERANCE, JointAnalysis, MOST_ROWS, RedundantJoint};
pub(crate) use strand::{AFTER, BEFORE};
pub(crate) use ties::MOST_TIES;

use vincula_blocks::FactorError;

use crate::integrate::Scheme;
use crate::integrate::newton::NewtonBlock;
use crate::math::dispatch::Level;
use crate::math::lanes::{gather, place, scatter};
use crate::math::small::*;
use crate::model::Model;
use axes::AxisRow;
use axles::Axles;
use border::Border;
use hubs::Hub;
use island::Island;
use linearize::{GeneralRow, JointRows, SideRows};
use open::Open;
use ports::{NO_PORT, PortBlock};
use squares::Squares;
use strand::Strand;
use trial::Asked;

/// One joint seen from a body: which joint, and whether the body is its first end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Incidence {
    joint: u32,
    first: bool,
    port: u8,
}

/// How joints hold a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hold {
    /// At points that have a port.
    Points,
    /// At such points, and by square rows that go with them.
    Axles,
    /// In any other way.
    Otherwise,
}

/// The dual system of a model, sized once.
pub struct Dual {
    islands: Vec<Island>,
    /// Linearised joints.
    joints: Vec<JointRows>,
    /// Coordinates along which something acts.
    axes: Vec<AxisRow>,
    /// Their rows that are not points.
    general: Vec<GeneralRow>,
    /// Those of them that keep axes square.
    squares: Squares,
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
    /// The bodies that are kept as unknowns.
    hubs: Vec<Option<Hub>>,
    /// How joints hold each body.
    holds: Vec<Hold>,
    /// Square rows of bodies that have little else.
    axles: Axles,
    /// Joints at a body that is held in another way than by ports and axles.
    loading: Vec<u32>,
    /// Points of the bodies, by block.
    ports: Vec<PortBlock>,
    level: Level,
    /// Threads at most.
    threads: usize,
    /// Rows of the couplings.
    border: Border,
    /// Of each island: whether its coordinates have changed what they do, and so how it answers.
    altered: Vec<bool>,
    /// Of each island: whether contacts may touch it in this step.
    touched: Vec<bool>,
    /// Bodies of islands that are no nets, and joints with gradients that are found one by one.
    unnetted: Vec<u32>,
    turning: Vec<u32>,
    /// A long chain, of which steps may leave out what nothing touches.
    strand: Option<Box<Strand>>,
    /// What trials of limits and friction ask, if that is not all.
    asked: Option<Asked>,
    /// Islands that are not closed yet, if closed ones wait for them; by how much each is open, m; and
    /// memory.
    open: Option<Open>,
    gaps: Vec<f64>,
    spare: Open,
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
        self.joints.is_empty() && self.border.is_empty()
    }

    /// Number of islands.
    pub fn islands(&self) -> usize {
        self.islands.len()
    }

    /// What solves each island, and why.
    pub fn plans(&self) -> impl Iterator<Item = &IslandPlan> {
        self.islands.iter().map(|i| &i.plan)
    }

    /// Whether some rows are not points: their gradients turn with the bodies.
    pub(crate) fn turns(&self) -> bool {
        !self.general.is_empty() || !self.border.is_empty()
    }

    /// Linearises every joint at the iterate, assembles and factors; `prepare` came before.
    pub(crate) fn factor(
        &mut self,
        model: &Model,
        work: &[NewtonBlock],
        scheme: &Scheme,
        projects: bool,
    ) -> Result<(), DualFault> {
        if self.is_empty() {
            return Ok(());
        }
        self.linearize(model, work, true, true);
        self.rest_spans();
        self.assemble(work);
        self.soften(work, scheme, projects);
        for island in &mut self.islands {
            island.factor()?;
        }
        self.factor_border(work)
    }

    /// The joint that is open the most and by how much, m, after `violation`.
    pub(crate) fn most_open(&self) -> (usize, f64) {
        let mut worst = (0, 0.0f64);
        for (index, rows) in self.joints.iter().enumerate() {
            let start = self.offsets[index];
            for value in &self.lambda[start..start + rows.constraints as usize] {
                if !(value.abs() <= worst.1) {
                    worst = (index, value.abs());
                }
            }
        }
        worst
    }

    /// `Σ |λ C|` over the constraints for these forces λ, N, where `violation` was asked for C,
    /// J.
    pub(crate) fn penalty(&self, forces: &[f64]) -> f64 {
        let mut sum = 0.0;
        for (rows, start) in self.joints.iter().zip(&self.offsets) {
            let range = *start..start + rows.constraints as usize;
            for (force, value) in forces[range.clone()].iter().zip(&self.lambda[range]) {
                sum += (force * value).abs();
            }
        }
        let border = self.border.first..;
        for (force, value) in forces[border.clone()].iter().zip(&self.lambda[border]) {
            sum += (force * value).abs();
        }
        sum
    }

    /// Starts a step: forces of all rows to begin with, N, for solvers that guess.
    pub(crate) fn start_forces(&mut self, forces: &[f64]) {
        for island in &mut self.islands {
            island.start(forces, &self.offsets);
        }
    }

    /// Solves for the multipliers of the current right-hand side.
    pub(crate) fn solve(&mut self) {
        if self.open.is_some() {
            return self.solve_open();
        }
        for island in &mut self.islands {
            island.solve(&mut self.lambda, &self.offsets);
        }
        self.solve_border();
    }

    /// Puts the constraint forces `−Jᵀλ` on the bodies; those at points wait for `put_loads`, and
    /// those of bodies with ports and axles alone are found there.
    pub(crate) fn load(&mut self, work: &mut [NewtonBlock]) {
        for index in self.loading.iter().map(|&joint| joint as usize) {
            if !self.is_open(index) {
                continue;
            }
            let rows = &self.joints[index];
            let lambda = &self.lambda[self.offsets[index]..self.offsets[index + 1]];
            for side in [&rows.a, &rows.b] {
                let other = |body: &usize| self.holds[*body] == Hold::Otherwise;
                let Some(body) = side.body().filter(other) else {
                    continue;
                };
                let (block, lane) = place(body);
                let n = &mut work[block];
                let mut rest = lambda;
                if rows.points {
                    let force = scale(&[lambda[0], lambda[1], lambda[2]], side.sign);
                    rest = &lambda[3..];
                    if side.port != NO_PORT {
                        let target = &mut self.ports[block].force[side.port as usize];
                        for k in 0..3 {
                            target[k][lane] += force[k];
                        }
                    } else {
                        let load = side.point_load(&gather(&n.rot, lane), &force);
                        subtract(n, lane, &load, &force);
                    }
                }
                if rest.is_empty() {
                    continue;
                }
                let mut load: M3 = gather(&n.load, lane);
                let mut thrust: V3 = gather(&n.thrust, lane);
                for (row, l) in side.rows(&self.general).iter().zip(rest) {
                    load = axpy9(&load, -l, &row.a);
                    thrust = axpy(&thrust, -l, &row.t);
                }
                scatter(&mut n.load, lane, &load);
                scatter(&mut n.thrust, lane, &thrust);
            }
        }
        self.load_border(work);
    }

    fn side(&self, incidence: Incidence) -> (&SideRows, bool) {
        let rows = &self.joints[incidence.joint as usize];
        let side = if incidence.first { &rows.a } else { &rows.b };
        (side, rows.points)
    }
}

/// Takes a load on A, body frame, and a force, world, away from a body.
fn subtract(n: &mut NewtonBlock, lane: usize, load: &M3, force: &V3) {
    let total = sub9(&gather(&n.load, lane), load);
    scatter(&mut n.load, lane, &total);
    let thrust = sub(&gather(&n.thrust, lane), force);
    scatter(&mut n.thrust, lane, &thrust);
}
