//! A connected set of joints and the solver that serves it.

use vincula_blocks::{BlockMatrix, Refinement};

use super::axles::Axles;
use super::border::Border;
use super::choose::{Draft, Solver};
use super::linearize::{JointRows, SideRows};
use super::net::Net;
use super::open::Open;
use super::plan::{IslandPlan, SolverChoice};
use super::ports::{NO_PORT, PORTS, PortBlock};
use super::squares::Squares;
use super::{Dual, DualFault, Hold, Incidence};
use crate::math::dispatch::Level;
use crate::math::lanes::{LANES, place, scatter};
use crate::math::small::V3;
use crate::model::Model;

/// One island of the dual system.
pub(crate) struct Island {
    /// Joints of the model, in the order of the nodes of the matrix.
    pub joints: Vec<usize>,
    pub matrix: BlockMatrix,
    solver: Solver,
    refinement: Refinement,
    /// Whether the factorization may be inexact, so that refinement is worth its price.
    refine: bool,
    rhs: Vec<f64>,
    /// Nodes that were chosen.
    chosen: Vec<usize>,
    pub plan: IslandPlan,
    /// Where the blocks of the matrix come from, if all are three by three.
    pub net: Option<Net>,
}

impl Island {
    /// Joints, in the order of the nodes of a matrix, and what solves it.
    pub(super) fn new(
        joints: Vec<usize>,
        matrix: BlockMatrix,
        solver: Solver,
        plan: IslandPlan,
    ) -> Island {
        let rows = matrix.pattern().dimension();
        Island {
            joints,
            matrix,
            solver,
            refinement: Refinement::new(rows),
            refine: false,
            rhs: vec![0.0; rows],
            chosen: Vec::new(),
            plan,
            net: None,
        }
    }

    pub(super) fn factor(&mut self) -> Result<(), DualFault> {
        let factored = match &mut self.solver {
            Solver::Direct(solver) => solver.factor(&self.matrix),
            Solver::Sweeps(sweeps) => sweeps.factor(&self.matrix),
        };
        match factored {
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

    pub(super) fn solve(&mut self, lambda: &mut [f64], offsets: &[usize]) {
        let mut row = 0;
        self.for_each_run(offsets, |range, rhs| {
            let n = range.len();
            rhs[row..row + n].copy_from_slice(&lambda[range]);
            row += n;
        });
        // No load from outside acts on hubs: their free motion is in the violation already.
        self.rhs[row..].fill(0.0);
        let mut rows = std::mem::take(&mut self.rhs);
        self.answer(&mut rows);
        self.rhs = rows;
        row = 0;
        self.for_each_run(offsets, |range, rhs| {
            let n = range.len();
            lambda[range].copy_from_slice(&rhs[row..row + n]);
            row += n;
        });
    }

    /// The rows of the model that are rows of the island one after the other: of all joints, if
    /// these have consecutive numbers, else of one joint after the other.
    fn for_each_run(
        &mut self,
        offsets: &[usize],
        mut run: impl FnMut(std::ops::Range<usize>, &mut [f64]),
    ) {
        match self.joints[..] {
            [first, .., last] if last - first + 1 == self.joints.len() => {
                run(offsets[first]..offsets[last + 1], &mut self.rhs);
            }
            _ => {
                for &joint in &self.joints {
                    run(offsets[joint]..offsets[joint + 1], &mut self.rhs);
                }
            }
        }
    }
}

impl Island {
    /// Solves for one right-hand side in the order of the island's rows.
    pub(super) fn answer(&mut self, rows: &mut [f64]) {
        // Lengths agree by construction, and `factor` came first: this cannot fail.
        let matrix = &self.matrix;
        let solved = match &mut self.solver {
            Solver::Direct(solver) if self.refine => {
                let report = self.refinement.solve(solver.as_mut(), matrix, rows);
                report.map(|_| ())
            }
            Solver::Direct(solver) => solver.solve(rows),
            Solver::Sweeps(sweeps) => {
                sweeps.solve(matrix, rows);
                Ok(())
            }
        };
        debug_assert!(solved.is_ok());
    }

    /// Whether the factors of the matrix are exact but for rounding.
    pub(super) fn is_regular(&self) -> bool {
        matches!(self.solver, Solver::Direct(_)) && !self.refine
    }

    /// Solves for six right-hand sides, one column each.
    pub(super) fn answer_six(&mut self, rows: &mut [[f64; 6]]) {
        if let (Solver::Direct(solver), false) = (&mut self.solver, self.refine) {
            let solved = solver.solve_six(rows, &mut self.rhs);
            debug_assert!(solved.is_ok());
            return;
        }
        let mut column = std::mem::take(&mut self.rhs);
        for k in 0..6 {
            column
                .iter_mut()
                .zip(&*rows)
                .for_each(|(x, row)| *x = row[k]);
            self.answer(&mut column);
            rows.iter_mut()
                .zip(&column)
                .for_each(|(row, x)| row[k] = *x);
        }
        self.rhs = column;
    }

    /// Chooses nodes for `answer_chosen`.
    pub(super) fn choose(&mut self, nodes: impl Iterator<Item = usize>) {
        self.chosen.clear();
        self.chosen.extend(nodes);
        if let Solver::Direct(solver) = &mut self.solver {
            solver.choose(&self.chosen);
        }
    }

    /// As `answer` for rows that are zero but at the chosen nodes; right only there.
    pub(super) fn answer_chosen(&mut self, rows: &mut [f64]) {
        match &mut self.solver {
            Solver::Direct(solver) if !self.refine => {
                let solved = solver.solve_chosen(rows);
                debug_assert!(solved.is_ok());
            }
            _ => self.answer(rows),
        }
    }

    /// The first guess of an iterative solver: forces of all rows of the model, N.
    pub(super) fn start(&mut self, forces: &[f64], offsets: &[usize]) {
        if let Solver::Sweeps(sweeps) = &mut self.solver {
            let ranges = self.joints.iter().map(|&j| offsets[j]..offsets[j + 1]);
            sweeps.start(ranges.flat_map(|range| forces[range].iter().copied()));
        }
    }
}

impl Dual {
    /// Finds the islands of a model and chooses a solver for each; passes and solvers of large
    /// islands use up to `threads` threads.
    pub fn new(model: &Model, choice: SolverChoice, level: Level, threads: usize) -> Dual {
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
            squares: Squares::default(),
            axles: Axles::default(),
            ports,
            level,
            threads,
            lambda: vec![0.0; model.dual_rows()],
            border: Border::default(),
            altered: Vec::new(),
            touched: Vec::new(),
            unnetted: Vec::new(),
            turning: Vec::new(),
            strand: None,
            asked: None,
            open: None,
            gaps: Vec::new(),
            spare: Open::default(),
            offsets,
            incidences,
            starts,
            edges: Vec::new(),
            edge_starts: vec![0],
            places: vec![(0, 0); model.joints.len()],
            hubs: vec![None; incident.len()],
            holds: Vec::new(),
            loading: Vec::new(),
        };
        dual.holds = (0..incident.len())
            .map(|body| match dual.is_simple(body) {
                true => Hold::Points,
                false => Hold::Otherwise,
            })
            .collect();
        for joints in islands(model, &incident) {
            dual.add_island(model, joints, choice);
        }
        (dual.touched, dual.altered) = (
            vec![false; dual.islands.len()],
            vec![false; dual.islands.len()],
        );
        dual.index_edges();
        dual.axles = Axles::new(&mut dual, model);
        let other = |side: &SideRows| {
            let body = side.body();
            body.is_some_and(|body| dual.holds[body] == Hold::Otherwise)
        };
        let joints = (0u32..).zip(&dual.joints);
        let loading = joints.filter(|(_, rows)| other(&rows.a) || other(&rows.b));
        dual.loading = loading.map(|j| j.0).collect();
        dual.squares = Squares::new(model, &dual.joints, &dual.offsets);
        let turns = |rows: &JointRows| rows.a.count != rows.squares.1;
        let joints = (0u32..).zip(&dual.joints);
        dual.turning = joints.filter(|j| turns(j.1)).map(|j| j.0).collect();
        dual.plan_nets();
        dual.add_border(model);
        dual.strand = dual.find_strand().map(Box::new);
        dual.asked = dual.find_asked();
        dual
    }

    fn add_island(&mut self, model: &Model, joints: Vec<usize>, choice: SolverChoice) {
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
        let draft = Draft {
            joints: &joints,
            bodies: &bodies,
            sizes,
        };
        let decision = self.decide(&draft, choice);
        self.place_hubs(index, joints.len(), &decision.hubs);
        let matrix = BlockMatrix::zeros(&decision.pattern);
        let island = Island::new(joints, matrix, decision.solver, decision.plan);
        self.islands.push(island);
    }

    /// Whether all joints of a body are points that have a port.
    fn is_simple(&self, body: usize) -> bool {
        let at_body = &self.incidences[self.starts[body]..self.starts[body + 1]];
        let simple = |&at: &Incidence| at.port != NO_PORT && self.side(at).0.count == 0;
        at_body.iter().all(simple)
    }

    /// The edges of each body: one a pair of joints, or one a joint and node of the hub.
    fn index_edges(&mut self) {
        for body in 0..self.starts.len() - 1 {
            let at_body = &self.incidences[self.starts[body]..self.starts[body + 1]];
            for (k, i) in at_body.iter().enumerate() {
                let (island, a) = self.joints_place(i.joint as usize);
                let matrix = &self.islands[island].matrix;
                if let Some(hub) = self.hubs[body] {
                    for half in 0..hub.basis.sizes().len() {
                        let edge = matrix.edge_index(a, hub.node as usize + half);
                        let edge = edge.expect("every joint of a hub is an edge");
                        self.edges.push(edge as u32);
                    }
                    continue;
                }
                for j in &at_body[k + 1..] {
                    let (_, b) = self.joints_place(j.joint as usize);
                    let edge = matrix.edge_index(a.min(b), a.max(b));
                    self.edges
                        .push(edge.expect("every pair at a body is an edge") as u32);
                }
            }
            self.edge_starts.push(self.edges.len());
        }
    }

    /// The island of a joint.
    pub(crate) fn island_of_joint(&self, joint: usize) -> usize {
        self.places[joint].0 as usize
    }

    /// The rows of a joint among all rows.
    pub(crate) fn rows_of(&self, joint: usize) -> std::ops::Range<usize> {
        self.offsets[joint]..self.offsets[joint + 1]
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

/// Points nearer than this are one, m: rounding of the anchors of joints that meet.
const SAME_POINT: f64 = 1e-12;

/// Gives the first points of every body to the kernels. Joints at one point share a port.
fn assign_ports(incident: &mut [Vec<Incidence>], joints: &mut [JointRows]) -> Vec<PortBlock> {
    let mut blocks = vec![PortBlock::NONE; incident.len().div_ceil(LANES)];
    for (body, at_body) in incident.iter_mut().enumerate() {
        let (block, lane) = place(body);
        let mut found: Vec<V3> = Vec::with_capacity(PORTS);
        for incidence in at_body.iter_mut() {
            let rows = &mut joints[incidence.joint as usize];
            if !rows.points {
                continue;
            }
            let side = if incidence.first {
                &mut rows.a
            } else {
                &mut rows.b
            };
            let same = |p: &V3| (0..3).all(|k| (p[k] - side.point[k]).abs() <= SAME_POINT);
            let port = match found.iter().position(same) {
                Some(port) => port,
                None if found.len() == PORTS => continue,
                None => {
                    scatter(&mut blocks[block].point[found.len()], lane, &side.point);
                    found.push(side.point);
                    found.len() - 1
                }
            };
            side.point = found[port];
            side.port = port as u8;
            incidence.port = port as u8;
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
