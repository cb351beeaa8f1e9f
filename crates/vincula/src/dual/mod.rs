//! The dual system: `(J H⁻¹ Jᵀ) λ = C`, by island, by plan.
//!
//! A joint contributes a block row. Where it ties two points together (ball, hinge,
//! universal, fixed) its first three rows are that point, whose compliance has a closed
//! form; all other rows are kept as gradients in the body frame. Two joints are coupled
//! when they share a body, unless the body is a hub and an unknown itself (`hubs.rs`).

mod assemble;
mod axes;
mod axles;
mod border;
mod choose;
mod hubs;
mod island;
mod linearize;
pub mod plan;
pub(crate) mod ports;
mod reach;
mod redundancy;
mod squares;
mod sweeps;
mod turning;

pub(crate) use axes::{ROUNDS, unwrap};
pub use plan::{IslandPlan, SolverChoice};
pub use redundancy::{AnalysisError, GAP_TOLERANCE, JointAnalysis, MOST_ROWS, RedundantJoint};

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
use linearize::{GeneralRow, JointRows, SideRows, dot9};
use ports::{NO_PORT, PortBlock};
use squares::Squares;

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
    /// Points of the bodies, by block.
    ports: Vec<PortBlock>,
    level: Level,
    /// Rows of the couplings.
    border: Border,
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

    /// What the joints need to know of a block of bodies after its free solve: places and
    /// compliances of the points, while the block is at hand.
    pub(crate) fn prepare(&mut self, block: usize, n: &NewtonBlock) {
        if !self.is_empty() {
            ports::find_compliances(self.level, n, &mut self.ports[block]);
            ports::find_places(self.level, n, &mut self.ports[block]);
            self.axles.prepare(self.level, block, n);
        }
    }

    /// Compliances of the points of a block of bodies that has turned since its free solve.
    pub(crate) fn find_compliances(&mut self, block: usize, n: &NewtonBlock) {
        if !self.is_empty() {
            ports::find_compliances(self.level, n, &mut self.ports[block]);
        }
    }

    /// Places of the points of a block of bodies that has moved.
    pub(crate) fn find_places(&mut self, block: usize, n: &NewtonBlock) {
        if !self.is_empty() {
            ports::find_places(self.level, n, &mut self.ports[block]);
            self.axles.find_places(self.level, block, n);
        }
    }

    /// Velocities of the points of a block of bodies, for rates in the body frame.
    pub(crate) fn find_velocities(&mut self, block: usize, n: &NewtonBlock) {
        if !self.is_empty() {
            ports::find_velocities(self.level, n, &mut self.ports[block]);
            self.axles.find_velocities(self.level, block, n);
        }
    }

    /// Puts the forces that `load` found at points on a block of bodies.
    pub(crate) fn put_loads(&mut self, block: usize, n: &mut NewtonBlock) {
        if !self.is_empty() {
            let ports = &mut self.ports[block];
            ports::put_loads(self.level, ports, n);
            ports.force = PortBlock::NONE.force;
            self.axles.put_loads(self.level, block, n);
        }
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
        self.assemble(model, work);
        self.soften(work, scheme, projects);
        for island in &mut self.islands {
            island.factor()?;
        }
        self.factor_border(work)
    }

    /// Right-hand side: the violation C of every row at the iterate, whose places are known.
    /// Returns the largest, m.
    pub(crate) fn violation(&mut self, model: &Model, work: &[NewtonBlock], h: f64) -> f64 {
        if self.is_empty() {
            return 0.0;
        }
        let mut worst = 0.0f64;
        self.squares.measure(self.level, work, &mut self.lambda);
        self.axles.measure(&mut self.lambda);
        for index in 0..self.joints.len() {
            let rows = &self.joints[index];
            let range = self.offsets[index]..self.offsets[index + 1];
            let ported = rows.points && rows.a.ported() && rows.b.ported();
            if ported {
                let gap = sub(&self.place(&rows.a), &self.place(&rows.b));
                self.lambda[range.start..range.start + 3].copy_from_slice(&gap);
            }
            let first = if ported { 3 } else { 0 };
            let done = first + rows.squares.1 as usize;
            if rows.constraints as usize > done {
                let skipped = if rows.points { 3 } else { 0 };
                let joint = &model.joints[index];
                let (a, b) = linearize::carried(joint, work);
                for (row, kind) in joint.row_kinds().iter().enumerate().skip(first) {
                    if row >= skipped && rows.is_square(row - skipped) {
                        continue;
                    }
                    self.lambda[range.start + row] = kind.value(&a, &b, joint.length);
                }
            }
            let constraints = range.start..range.start + self.joints[index].constraints as usize;
            for value in &self.lambda[constraints] {
                worst = if value.abs() > worst || value.is_nan() {
                    value.abs()
                } else {
                    worst
                };
            }
        }
        let bordered = self.border_sides(model, work, h);
        worst.max(self.axis_sides(model, work, h)).max(bordered)
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

    /// Place or velocity of a ported end; the world's point is where it is, at rest.
    #[inline(always)]
    fn place(&self, side: &SideRows) -> V3 {
        match side.body() {
            None => side.point,
            Some(body) => {
                let (block, lane) = place(body);
                gather(&self.ports[block].place[side.port as usize], lane)
            }
        }
    }

    /// Right-hand side: h times the rate of every row, after `find_velocities`. Rates are in
    /// the body frame. Returns the largest of the constraints, m.
    pub(crate) fn drift(&mut self, work: &[NewtonBlock], h: f64) -> f64 {
        let mut worst = 0.0f64;
        for (index, rows) in self.joints.iter().enumerate() {
            let out = &mut self.lambda[self.offsets[index]..self.offsets[index + 1]];
            out.fill(0.0);
            for side in [&rows.a, &rows.b] {
                let Some(body) = side.body() else { continue };
                let (block, lane) = place(body);
                let n = &work[block];
                if rows.points {
                    let u = if side.port != NO_PORT {
                        gather(&self.ports[block].place[side.port as usize], lane)
                    } else {
                        let (rot, rate) = (gather(&n.rot, lane), gather(&n.w, lane));
                        side.point_velocity(&rot, &rate, &gather(&n.v, lane))
                    };
                    for k in 0..3 {
                        out[k] += h * side.sign * u[k];
                    }
                }
                if side.axle {
                    for k in 0..side.count as usize {
                        out[3 + k] += h * self.axles.rate(side, k, (block, lane));
                    }
                } else if side.count > 0 {
                    let rate: M3 = gather(&n.w, lane);
                    let v: V3 = gather(&n.v, lane);
                    let first = if rows.points { 3 } else { 0 };
                    for (k, row) in side.rows(&self.general).iter().enumerate() {
                        out[first + k] += h * (dot9(&row.a, &rate) + dot(&row.t, &v));
                    }
                }
            }
            for value in &out[..rows.constraints as usize] {
                worst = worst.max(value.abs());
            }
        }
        let bordered = self.border_rates(work, h);
        worst.max(self.rate_sides(h)).max(bordered)
    }

    /// Starts a step: forces of all rows to begin with, N, for solvers that guess.
    pub(crate) fn start_forces(&mut self, forces: &[f64]) {
        for island in &mut self.islands {
            island.start(forces, &self.offsets);
        }
    }

    /// Solves for the multipliers of the current right-hand side.
    pub(crate) fn solve(&mut self) {
        for island in &mut self.islands {
            island.solve(&mut self.lambda, &self.offsets);
        }
        self.solve_border();
    }

    /// Puts the constraint forces `−Jᵀλ` on the bodies; those at points wait for `put_loads`.
    pub(crate) fn load(&mut self, work: &mut [NewtonBlock]) {
        for (index, rows) in self.joints.iter().enumerate() {
            let lambda = &self.lambda[self.offsets[index]..self.offsets[index + 1]];
            for side in [&rows.a, &rows.b] {
                let Some(body) = side.body() else { continue };
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
                if side.axle {
                    for (k, l) in rest.iter().enumerate() {
                        self.axles.load(side, k, (block, lane), *l);
                    }
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
