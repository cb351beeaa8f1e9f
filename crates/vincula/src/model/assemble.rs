//! Bringing bodies onto their joints by least motion.
//!
//! Among the poses q with C(q) = 0 the one nearest to the initial pose q₀ is wanted, where
//! near is weighted by mass: `Σ m |t − t₀|² + θᵀ I θ`. In weighted rigid displacements d from
//! q₀, a Gauss–Newton step from d takes the shortest vector z with `J z = J d − C` and moves
//! by z − d (`rigid.rs`). Where no z does, the nearest of least squares is taken, so that
//! redundant and contradictory joints need no special case.

use glam::DQuat;
use thiserror::Error;

use super::rigid::{RigidRow, overrun, rows, shortest, square_sum, times};
use super::{BodyId, Model, Pose, State};
use crate::diagnostics::{coupling_error, joint_gap};
use crate::math::small::*;
use crate::math::{to_mat, to_vec};

/// A joint that is farther open than this does not hold, m.
pub const GAP_TOLERANCE: f64 = 1e-9;
/// Gap at which the iteration is content, m.
const CONTENT: f64 = 1e-13;
/// Iterations at most.
const MOST_ITERATIONS: usize = 200;
/// Iterations that look back to the initial pose.
const LEAST_MOTION: usize = 20;
/// Less than this fraction of the sum of squares must be left, or progress is little.
const LITTLE: f64 = 0.999_999;
/// Most that a body turns in one iteration, rad.
const LONGEST_TURN: f64 = 0.4;

/// Bodies brought onto their joints.
#[derive(Clone, Debug)]
pub struct Assembly {
    /// The initial state with the poses that meet the joints.
    pub state: State,
    /// Largest violation before, m.
    pub before: f64,
    /// Largest violation that is left, m.
    pub gap: f64,
    /// Largest way of a centre of mass, m.
    pub moved: f64,
    /// Largest turn of a body, rad.
    pub turned: f64,
    /// Iterations that it took.
    pub iterations: usize,
}

/// Joints, limits and couplings that cannot be met together.
#[derive(Clone, Debug, Error, PartialEq)]
#[error("{}", told(.open))]
pub struct AssemblyError {
    /// Names and gaps, m, at the pose that meets them best; the worst first.
    pub open: Vec<(String, f64)>,
}

/// Names listed in a message.
const LISTED: usize = 8;

fn told(open: &[(String, f64)]) -> String {
    let names: Vec<String> = open
        .iter()
        .take(LISTED)
        .map(|(name, gap)| format!("'{name}' stays {gap:.3e} m apart"))
        .collect();
    let more = match open.len().saturating_sub(LISTED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let names = names.join(", ");
    format!("no pose meets all joints: {names}{more}; check lengths and attachment points")
}

/// Everything that is open at a state: joints with their limits, and couplings, m.
fn gaps(model: &Model, state: &State) -> Vec<(String, f64)> {
    let joints = model.joint_ids().map(|id| {
        let joint = model.joint(id);
        let first = model.axis_starts[id.index()];
        let beyond = joint.axes.iter().enumerate().map(|(k, axis)| {
            let unit = if axis.kind.is_angle() {
                joint.length
            } else {
                1.0
            };
            let x = state.coordinates[first + k];
            overrun(axis, x).map_or(0.0, |stop| unit * (x - stop).abs())
        });
        let gap = beyond.fold(joint_gap(model, state, id), f64::max);
        (joint.name.clone(), gap)
    });
    let couplings = model.coupling_ids().filter_map(|id| {
        let it = model.coupling(id);
        let gap = it.length * coupling_error(model, state, id).abs();
        (!it.is_velocity()).then(|| (it.name.clone(), gap))
    });
    joints.chain(couplings).collect()
}

fn worst(gaps: &[(String, f64)]) -> f64 {
    gaps.iter()
        .fold(0.0, |w, (_, g)| if *g > w || g.is_nan() { *g } else { w })
}

/// Weighted displacement of a body from one state to another.
fn displacement(model: &Model, from: &State, to: &State, body: BodyId) -> [f64; 6] {
    let affine = model.affine(body);
    let way = to.center(body) - from.center(body);
    let turn = tmul(&from.principal_rotation(body), &to.principal_rotation(body));
    let turn = DQuat::from_mat3(&to_mat(&turn)).to_scaled_axis().to_array();
    let mut d = [0.0; 6];
    for k in 0..3 {
        d[k] = affine.mass.sqrt() * way[k];
        d[3 + k] = turn[k] / affine.inverse_inertia[k].sqrt();
    }
    d
}

/// The state with every body moved by a fraction of weighted displacements.
fn moved(model: &Model, state: &State, step: &[f64], fraction: f64) -> State {
    let mut next = state.clone();
    for id in model.body_ids() {
        let affine = model.affine(id);
        let d = &step[6 * id.index()..6 * id.index() + 6];
        if d.iter().all(|x| *x == 0.0) {
            continue;
        }
        let way = to_vec(&[d[0], d[1], d[2]]) * (fraction / affine.mass.sqrt());
        let turn = [0, 1, 2].map(|k: usize| fraction * affine.inverse_inertia[k].sqrt() * d[3 + k]);
        let principal = Pose {
            translation: state.center(id) + way,
            rotation: DQuat::from_mat3(&to_mat(&state.principal_rotation(id)))
                * DQuat::from_scaled_axis(to_vec(&turn)),
        };
        let shape = model.body(id).principal().inverse();
        next.set_pose(model, id, principal.compose(&shape));
    }
    next.measure_coordinates(model);
    next
}

/// The longest turn of a step, rad.
fn longest_turn(model: &Model, step: &[f64]) -> f64 {
    model
        .body_ids()
        .map(|id| {
            let inverse = model.affine(id).inverse_inertia;
            let turn = |k: usize| inverse[k].sqrt() * step[6 * id.index() + 3 + k];
            (0..3).map(|k| turn(k).powi(2)).sum::<f64>().sqrt()
        })
        .fold(0.0, f64::max)
}

impl Model {
    /// Brings the initial poses onto the joints, the couplings and the limits by the least
    /// motion, weighted by mass. Velocities stay as they are given.
    pub fn assemble(&self) -> Result<Assembly, AssemblyError> {
        let start = self.initial_state();
        let before = worst(&gaps(self, &start));
        let mut search = Search {
            model: self,
            stops: vec![None; self.coordinates()],
            state: start.clone(),
        };
        let (mut iterations, mut gap) = (0, before);
        while gap > CONTENT && iterations < MOST_ITERATIONS {
            // The way back to the start matters while there is a way to go. Later it would
            // only disturb: logarithms of large turns do not add up.
            let from = (iterations < LEAST_MOTION).then_some(&start);
            let slow = !search.advance(from);
            iterations += 1;
            gap = worst(&gaps(self, &search.state));
            if slow && iterations > LEAST_MOTION {
                break;
            }
        }
        self.finish_assembly(&start, search.state, before, iterations)
    }

    fn finish_assembly(
        &self,
        start: &State,
        state: State,
        before: f64,
        iterations: usize,
    ) -> Result<Assembly, AssemblyError> {
        let mut open = gaps(self, &state);
        let gap = worst(&open);
        if !(gap <= GAP_TOLERANCE) {
            open.retain(|(_, gap)| !(*gap <= GAP_TOLERANCE));
            open.sort_by(|a, b| b.1.total_cmp(&a.1));
            return Err(AssemblyError { open });
        }
        let mut assembly = Assembly {
            before,
            gap,
            moved: 0.0,
            turned: 0.0,
            iterations,
            state,
        };
        for id in self.body_ids() {
            let way = assembly.state.center(id) - start.center(id);
            let (from, to) = (start.pose(self, id), assembly.state.pose(self, id));
            assembly.moved = assembly.moved.max(way.length());
            let turn = from.rotation.angle_between(to.rotation);
            assembly.turned = assembly.turned.max(turn);
        }
        Ok(assembly)
    }
}

/// A pose on its way to the joints.
struct Search<'a> {
    model: &'a Model,
    state: State,
    /// Limits that a coordinate was found beyond: it is kept at them from then on.
    stops: Vec<Option<f64>>,
}

impl Search<'_> {
    /// One iteration; false when it makes little progress.
    fn advance(&mut self, from: Option<&State>) -> bool {
        self.find_stops();
        let rows = rows(self.model, &self.state, &self.stops);
        let step = self.step(from, &rows);
        let mut fraction = (LONGEST_TURN / longest_turn(self.model, &step)).min(1.0);
        let open = square_sum(&rows);
        for _ in 0..12 {
            let next = moved(self.model, &self.state, &step, fraction);
            let reached = square_sum(&self::rows(self.model, &next, &self.stops));
            if reached < open {
                self.state = next;
                return reached < LITTLE * open;
            }
            fraction *= 0.5;
        }
        false
    }

    fn find_stops(&mut self) {
        let axes = self.model.joints.iter().flat_map(|joint| &joint.axes);
        for (k, axis) in axes.enumerate() {
            let stop = overrun(axis, self.state.coordinates[k]);
            self.stops[k] = self.stops[k].or(stop);
        }
    }

    /// The way to the shortest solution of the rows, seen from the start if it is given, else
    /// from where the bodies are.
    fn step(&self, from: Option<&State>, rows: &[RigidRow]) -> Vec<f64> {
        let unknowns = 6 * self.model.bodies.len();
        let mut d = vec![0.0; unknowns];
        if let Some(start) = from {
            for id in self.model.body_ids() {
                let at = 6 * id.index();
                let way = displacement(self.model, start, &self.state, id);
                d[at..at + 6].copy_from_slice(&way);
            }
        }
        let mut side = vec![0.0; rows.len()];
        times(rows, &d, &mut side);
        side.iter_mut()
            .zip(rows)
            .for_each(|(y, row)| *y -= row.value);
        let mut z = shortest(rows, side, unknowns);
        z.iter_mut().zip(&d).for_each(|(z, d)| *z -= d);
        z
    }
}
