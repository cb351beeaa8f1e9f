//! A connected set of joints and the solver that serves it.

use std::sync::Arc;

use vincula_blocks::{
    BlockMatrix, Chain, Cholesky, CholeskyOptions, Dense, Factorization, Loops, Pattern,
    Refinement, Shape, Tree, plan as classify,
};

use super::linearize::JointRows;
use super::plan::{IslandPlan, SolverChoice};
use super::ports::{NO_PORT, PORTS, PortBlock};
use super::{Dual, DualFault, Incidence};
use crate::math::dispatch::Level;
use crate::math::lanes::{LANES, place, scatter};
use crate::model::Model;

/// One island of the dual system.
pub(crate) struct Island {
    /// Joints of the model, in the order of the nodes of the matrix.
    pub joints: Vec<usize>,
    pub matrix: BlockMatrix,
    solver: Box<dyn Factorization + Send>,
    refinement: Refinement,
    /// Whether the factorization may be inexact, so that refinement is worth its price.
    refine: bool,
    rhs: Vec<f64>,
    pub plan: IslandPlan,
}

impl Island {
    pub(super) fn factor(&mut self) -> Result<(), DualFault> {
        match self.solver.factor(&self.matrix) {
            Ok(report) => {
                self.refine =
                    report.dropped > 0 || report.shift > 0.0 || report.weakest_pivot < 1e-8;
                Ok(())
            }
            Err(source) => Err(DualFault {
                joint: self.joints[0],
                source,
            }),
        }
    }

    /// Solves for one right-hand side in the order of the island's rows.
    pub(super) fn answer(&mut self, rows: &mut [f64]) {
        // Lengths agree by construction, and `factor` came first: this cannot fail.
        let solved = if self.refine {
            let matrix = &self.matrix;
            let report = self.refinement.solve(self.solver.as_mut(), matrix, rows);
            report.map(|_| ())
        } else {
            self.solver.solve(rows)
        };
        debug_assert!(solved.is_ok());
    }

    pub(super) fn solve(&mut self, lambda: &mut [f64], offsets: &[usize]) {
        let mut row = 0;
        for &joint in &self.joints {
            let range = offsets[joint]..offsets[joint + 1];
            let n = range.len();
            self.rhs[row..row + n].copy_from_slice(&lambda[range]);
            row += n;
        }
        // Lengths agree by construction, and `factor` came first: these cannot fail.
        let solved = if self.refine {
            self.refinement
                .solve(self.solver.as_mut(), &self.matrix, &mut self.rhs)
                .map(|_| ())
        } else {
            self.solver.solve(&mut self.rhs)
        };
        debug_assert!(solved.is_ok());
        row = 0;
        for &joint in &self.joints {
            let range = offsets[joint]..offsets[joint + 1];
            let n = range.len();
            lambda[range].copy_from_slice(&self.rhs[row..row + n]);
            row += n;
        }
    }
}

impl Dual {
    /// Finds the islands of a model and chooses a solver for each.
    pub fn new(model: &Model, choice: SolverChoice, level: Level) -> Dual {
        let mut general = Vec::new();
        let mut joints: Vec<JointRows> = model
            .joints
            .iter()
            .map(|joint| JointRows::new(joint, &mut general))
            .collect();
        let mut incident = incidences(model);
        let ports = assign_ports(&mut incident, &mut joints);
        let mut starts = vec![0];
        let mut incidences = Vec::new();
        for at_body in &incident {
            incidences.extend_from_slice(at_body);
            starts.push(incidences.len());
        }
        let mut offsets = vec![0];
        for joint in &model.joints {
            offsets.push(offsets[offsets.len() - 1] + joint.dual_rows());
        }
        let mut dual = Dual {
            islands: Vec::new(),
            axes: Dual::axis_rows(model, &offsets),
            joints,
            general,
            ports,
            level,
            lambda: vec![0.0; offsets[model.joints.len()]],
            offsets,
            incidences,
            starts,
            edges: Vec::new(),
            edge_starts: vec![0],
            places: vec![(0, 0); model.joints.len()],
        };
        for joints in islands(model, &incident) {
            dual.add_island(model, &incident, joints, choice);
        }
        dual.index_edges();
        dual
    }

    fn add_island(
        &mut self,
        model: &Model,
        incident: &[Vec<Incidence>],
        joints: Vec<usize>,
        choice: SolverChoice,
    ) {
        let index = self.islands.len();
        for (node, &joint) in joints.iter().enumerate() {
            self.places[joint] = (index as u32, node as u32);
        }
        let sizes: Vec<usize> = joints
            .iter()
            .map(|&j| model.joints[j].dual_rows())
            .collect();
        let mut bodies: Vec<usize> = joints
            .iter()
            .flat_map(|&j| [model.joints[j].a.endpoint, model.joints[j].b.endpoint])
            .filter_map(|end| end.index())
            .collect();
        bodies.sort_unstable();
        bodies.dedup();
        let mut edges = Vec::new();
        for &body in &bodies {
            for (k, i) in incident[body].iter().enumerate() {
                for j in &incident[body][k + 1..] {
                    let (a, b) = (
                        self.places[i.joint as usize].1,
                        self.places[j.joint as usize].1,
                    );
                    edges.push((a.min(b) as usize, a.max(b) as usize));
                }
            }
        }
        let pattern = Pattern::new(&sizes, &edges)
            .expect("joints have one to six rows and never tie a body to itself");
        let (solver, plan) = choose(&pattern, choice, &bodies, &joints);
        self.islands.push(Island {
            matrix: BlockMatrix::zeros(&pattern),
            solver,
            refinement: Refinement::new(pattern.dimension()),
            refine: false,
            rhs: vec![0.0; pattern.dimension()],
            plan,
            joints,
        });
    }

    fn index_edges(&mut self) {
        for body in 0..self.starts.len() - 1 {
            let at_body = &self.incidences[self.starts[body]..self.starts[body + 1]];
            for (k, i) in at_body.iter().enumerate() {
                for j in &at_body[k + 1..] {
                    let (island, a) = self.joints_place(i.joint as usize);
                    let (_, b) = self.joints_place(j.joint as usize);
                    let edge = self.islands[island].matrix.edge_index(a.min(b), a.max(b));
                    self.edges
                        .push(edge.expect("every pair at a body is an edge") as u32);
                }
            }
            self.edge_starts.push(self.edges.len());
        }
    }

    /// Island and node of a joint.
    pub(super) fn joints_place(&self, joint: usize) -> (usize, usize) {
        let (island, node) = self.places[joint];
        (island as usize, node as usize)
    }
}

/// The joints at each body.
fn incidences(model: &Model) -> Vec<Vec<Incidence>> {
    let mut at = vec![Vec::new(); model.bodies.len()];
    for (index, joint) in model.joints.iter().enumerate() {
        for (end, first) in [(joint.a.endpoint, true), (joint.b.endpoint, false)] {
            if let Some(body) = end.index() {
                at[body].push(Incidence {
                    joint: index as u32,
                    first,
                    port: NO_PORT,
                });
            }
        }
    }
    at
}

/// Gives the first points of every body to the kernels.
fn assign_ports(incident: &mut [Vec<Incidence>], joints: &mut [JointRows]) -> Vec<PortBlock> {
    let mut blocks = vec![PortBlock::NONE; incident.len().div_ceil(LANES)];
    for (body, at_body) in incident.iter_mut().enumerate() {
        let (block, lane) = place(body);
        let mut next = 0;
        for incidence in at_body.iter_mut() {
            let rows = &mut joints[incidence.joint as usize];
            if !rows.points || next == PORTS {
                continue;
            }
            let side = if incidence.first {
                &mut rows.a
            } else {
                &mut rows.b
            };
            side.port = next as u8;
            incidence.port = next as u8;
            scatter(&mut blocks[block].point[next], lane, &side.point);
            next += 1;
        }
    }
    blocks
}

/// Connected sets of joints, each ascending, ordered by their first joint.
fn islands(model: &Model, incident: &[Vec<Incidence>]) -> Vec<Vec<usize>> {
    let mut seen = vec![false; model.joints.len()];
    let mut found = Vec::new();
    for start in 0..model.joints.len() {
        if seen[start] {
            continue;
        }
        seen[start] = true;
        let mut island = vec![start];
        let mut next = 0;
        while next < island.len() {
            let joint = &model.joints[island[next]];
            next += 1;
            for body in [joint.a.endpoint, joint.b.endpoint]
                .iter()
                .filter_map(|e| e.index())
            {
                for other in &incident[body] {
                    let other = other.joint as usize;
                    if !seen[other] {
                        seen[other] = true;
                        island.push(other);
                    }
                }
            }
        }
        island.sort_unstable();
        found.push(island);
    }
    found
}

fn choose(
    pattern: &Arc<Pattern>,
    choice: SolverChoice,
    bodies: &[usize],
    joints: &[usize],
) -> (Box<dyn Factorization + Send>, IslandPlan) {
    let report = classify(pattern);
    let component = &report.components[0];
    let cholesky = || -> Box<dyn Factorization + Send> {
        Box::new(
            Cholesky::symbolic(pattern, &CholeskyOptions::default())
                .expect("a valid pattern has a symbolic factorization"),
        )
    };
    let (solver, name, why): (Box<dyn Factorization + Send>, _, _) =
        match (choice, &component.shape) {
            (SolverChoice::Dense, _) => (Box::new(Dense::symbolic(pattern)), "dense", "asked for"),
            (SolverChoice::Cholesky, _) => (cholesky(), "cholesky", "asked for"),
            (_, Shape::Path { order }) => match Chain::symbolic(pattern, order) {
                Ok(chain) => (
                    Box::new(chain),
                    "chain",
                    "every joint has at most two neighbours",
                ),
                Err(_) => (cholesky(), "cholesky", "the chain could not be ordered"),
            },
            (_, Shape::Tree) => match Tree::symbolic(pattern) {
                Ok(tree) => (
                    Box::new(tree),
                    "tree",
                    "elimination from the leaves makes no fill",
                ),
                Err(_) => (cholesky(), "cholesky", "the tree could not be ordered"),
            },
            (_, Shape::Loops { closures }) => match Loops::symbolic(pattern, closures.len()) {
                Ok(loops) => (
                    Box::new(loops),
                    "loops",
                    "a tree once a few joints are set aside",
                ),
                Err(_) => (cholesky(), "cholesky", "the loops could not be cut"),
            },
            (_, Shape::General) => (cholesky(), "cholesky", "many loops"),
        };
    let estimate = component.estimates.iter().find(|e| e.solver == name);
    let plan = IslandPlan {
        solver: name,
        why,
        bodies: bodies.len(),
        joints: joints.len(),
        unknowns: pattern.dimension(),
        factor_flops: estimate.map_or(f64::NAN, |e| e.factor_flops),
        stored: estimate.map_or(f64::NAN, |e| e.stored),
    };
    (solver, plan)
}
