//! Linear-time dynamics with Lagrange multipliers (Baraff 1996).
//!
//! ```text
//! [ M  −Jᵀ ] [ w ]   [ f ]            a = J_a w + c_a
//! [ −J   0 ] [ λ ] = [ c ]            equality: a = 0;  limit: a ≥ 0, μ ≥ 0, a μ = 0
//! ```
//!
//! The primary constraints J form a forest, and [`forest`] factors their matrix in linear
//! time. What closes a loop, acts on one body or on many, or has a sign is auxiliary:
//! constraint anticipation (section 8) finds its multipliers μ first, from a k×k system
//! that already knows how the primary constraints will answer, with one factorization and
//! k + 2 solves. [`anticipation`] builds that system, by columns or with the symmetric saving.
//!
//! The same solve serves three purposes, which differ in f and c only:
//!
//! | purpose | w | f | c |
//! |---|---|---|---|
//! | second order, dynamics | acceleration | forces | J̇ v |
//! | impulse | change of velocity | none | Ċ |
//! | first order, manipulation | displacement | pull | C |
//!
//! A step kicks by half, drifts, puts the pose back on the constraints (first order), kicks
//! by half, and projects the velocity (impulse). Stabilisation terms are not needed.

pub mod anticipation;
pub mod forest;

use glam::{DMat3, DQuat, DVec3};
use vincula::body::rigid::RigidBody;
use vincula::joint::MAX_ROWS;
use vincula::joint::axis::{Axis, AxisKind};
use vincula::model::{BodyId, Control, Model, State};

use crate::system::forces::{coordinate, coordinate_at, gather_forces, gyroscopic};
use crate::system::method::{check_step, refuse_axis_friction};
use crate::system::rows::{Linear, Place, Six, Velocity, dot6, pack, unpack};
use crate::system::{Method, MethodError, MethodReport, Refusal, System, drift, place_of};
use anticipation::{Anticipation, Row, RowList, Sense, Way};
use forest::{Edge, Forest, NodeKind};

const NAME: &str = "baraff";
/// Violation at which the pose counts as on the constraints, m.
const POSITION_TOLERANCE: f64 = 1e-10;
/// Most corrections of the pose in a step.
const CORRECTIONS: usize = 12;
/// The same where somebody drags the bodies about, further than a step does.
const DRAG_CORRECTIONS: usize = 60;
/// A limit acts when its coordinate is this near, rad or m.
const NEAR: f64 = 1e-9;

/// A ratio of angular speeds, ω_a·u_a = ratio · ω_b·u_b: a nonholonomic constraint with one
/// row. The axes turn with their bodies, so its bias vanishes: ω·(ω × u) = 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gear {
    /// The two bodies.
    pub bodies: [BodyId; 2],
    /// An axis on each, in its principal frame.
    pub axes_body: [DVec3; 2],
    /// Turns of the first for one turn of the second.
    pub ratio: f64,
}

/// A constraint on one body or on many: auxiliary by nature.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Hold {
    /// A point of a body, in its principal frame, m, stays at a place of the world, m.
    Point {
        /// The body.
        body: BodyId,
        /// The point.
        point_body: DVec3,
        /// The place.
        target: DVec3,
    },
    /// The centre of mass of everything stays on a plane: normal · x = offset, m.
    Centroid {
        /// Unit normal of the plane.
        normal: DVec3,
        /// Its distance from the origin.
        offset: f64,
    },
}

/// What the right-hand sides are made of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Purpose {
    Dynamics,
    Impulse,
    Position,
}

/// Baraff's method on a rigid system.
#[derive(Clone, Debug)]
pub struct Baraff {
    system: System,
    gears: Vec<Gear>,
    holds: Vec<Hold>,
    forest: Forest,
    /// Joints, then gears, linearised at the pose of the factors.
    linear: Vec<Linear>,
    auxiliary: RowList,
    anticipation: Anticipation,
    forces: Vec<Six>,
    /// Right-hand side and solution, in the order of the nodes.
    x: Vec<f64>,
    /// w of the last solve, by body.
    motion: Vec<Six>,
    /// Velocities in the middle of the step.
    middle: Vec<Velocity>,
    /// The bodies before the step.
    before: Vec<RigidBody>,
    /// Whether the factors belong to the present pose.
    fresh: bool,
    solves: usize,
}

impl Baraff {
    /// Whether the method can take a model, and if not, which can.
    pub fn can_run(model: &Model) -> Result<(), Refusal> {
        refuse_axis_friction(NAME, model)
    }

    /// The method at a state of a model.
    pub fn new(model: &Model, state: &State) -> Result<Baraff, Refusal> {
        Baraff::with(model, state, Vec::new(), Vec::new())
    }

    /// The same with gears and holds besides the model's joints.
    pub fn with(
        model: &Model,
        state: &State,
        gears: Vec<Gear>,
        holds: Vec<Hold>,
    ) -> Result<Baraff, Refusal> {
        Baraff::can_run(model)?;
        let system = System::new(model, state);
        let joints = system.joints.iter().zip(&system.ends);
        let mut edges: Vec<Edge> = joints
            .map(|(joint, &ends)| Edge {
                ends,
                rows: joint.rows(),
            })
            .collect();
        edges.extend(gears.iter().map(|gear| Edge {
            ends: gear.bodies.map(|body| Some(body.index())),
            rows: 1,
        }));
        let bodies = system.bodies.len();
        let forest = Forest::new(bodies, &edges);
        Ok(Baraff {
            linear: vec![Linear::EMPTY; edges.len()],
            auxiliary: RowList::default(),
            anticipation: Anticipation::default(),
            forces: vec![[0.0; 6]; bodies],
            x: vec![0.0; forest.rows()],
            motion: vec![[0.0; 6]; bodies],
            middle: vec![Velocity::default(); bodies],
            before: system.bodies.clone(),
            fresh: false,
            solves: 0,
            system,
            gears,
            holds,
            forest,
        })
    }

    /// Where everything is, to be changed; the factors are made again.
    pub fn system_mut(&mut self) -> &mut System {
        self.fresh = false;
        &mut self.system
    }

    /// The holds, to be changed: their targets are what one drags with.
    pub fn holds_mut(&mut self) -> &mut [Hold] {
        &mut self.holds
    }

    /// How the matrix of the auxiliary rows is made; the cheaper way unless told otherwise.
    pub fn set_way(&mut self, way: Way) {
        self.anticipation.way = way;
    }

    /// The forest of primary constraints.
    pub fn forest(&self) -> &Forest {
        &self.forest
    }

    /// Accelerations of all bodies, (v̇, ω̇), under the forces of the moment.
    pub fn accelerations(
        &mut self,
        model: &Model,
        control: &Control,
    ) -> Result<&[Six], MethodError> {
        self.factor(model)?;
        self.gather(model, control);
        self.solve(model, Purpose::Dynamics)?;
        Ok(&self.motion)
    }

    /// First-order manipulation: moves the bodies, without inertia of motion, by the least
    /// displacement (in the metric of M) that brings every hold and joint to its place.
    /// Returns the largest violation left, m.
    pub fn manipulate(&mut self, model: &Model) -> Result<f64, MethodError> {
        self.before.clone_from(&self.system.bodies);
        let outcome = self.put_back(model, DRAG_CORRECTIONS);
        self.restore_if_failed(outcome)
    }

    /// Changes velocities by the least impulse after which joints and gears hold on the level
    /// of velocity.
    pub fn project_velocities(&mut self, model: &Model) -> Result<(), MethodError> {
        self.factor(model)?;
        self.forces.fill([0.0; 6]);
        self.solve(model, Purpose::Impulse)?;
        self.kick(1.0);
        Ok(())
    }

    /// Largest |ω_a·u_a − ratio ω_b·u_b| of a gear, rad/s.
    pub fn gear_error(&self) -> f64 {
        let rate = |gear: &Gear| {
            let row = gear_row(gear, &self.system);
            let [a, b] = gear.bodies.map(|id| self.system.velocity(Some(id.index())));
            (dot6(&row[0], &a.six()) + dot6(&row[1], &b.six())).abs()
        };
        self.gears.iter().map(rate).fold(0.0, f64::max)
    }

    fn advance(&mut self, model: &Model, control: &Control, h: f64) -> Result<f64, MethodError> {
        self.accelerations(model, control)?;
        self.kick(0.5 * h);
        for body in &mut self.system.bodies {
            drift(body, body.v, body.omega, h);
        }
        self.system.time += h;
        self.fresh = false;
        let residual = self.put_back(model, CORRECTIONS)?;
        self.factor(model)?;
        self.second_kick(model, control, h)?;
        self.forces.fill([0.0; 6]);
        self.solve(model, Purpose::Impulse)?;
        self.kick(1.0);
        match self.system.not_finite() {
            None => Ok(residual),
            Some(body) => Err(MethodError::NotFinite {
                body: model.bodies()[body].name.clone(),
            }),
        }
    }

    /// The half kick at the end of the step. Forces and biases depend on the velocity that is
    /// sought, so it is predicted once.
    fn second_kick(&mut self, model: &Model, control: &Control, h: f64) -> Result<(), MethodError> {
        for (body, middle) in self.middle.iter_mut().enumerate() {
            *middle = self.system.velocity(Some(body));
        }
        self.gather(model, control);
        self.solve(model, Purpose::Dynamics)?;
        self.kick(0.5 * h);
        self.gather(model, control);
        self.solve(model, Purpose::Dynamics)?;
        for (body, rate) in self.system.bodies.iter_mut().zip(&self.middle) {
            (body.v, body.omega) = (rate.v, rate.omega);
        }
        self.kick(0.5 * h);
        Ok(())
    }

    /// Brings the pose back to the constraints by modified Newton: while the violations shrink
    /// well, the factors of the first pose serve again.
    fn put_back(&mut self, model: &Model, most: usize) -> Result<f64, MethodError> {
        let mut last = 0.0;
        for _ in 0..most {
            let worst = self.position_error();
            if !(worst > POSITION_TOLERANCE) {
                return Ok(worst);
            }
            if worst > 0.1 * last {
                self.factor(model)?;
            }
            last = worst;
            self.forces.fill([0.0; 6]);
            self.solve(model, Purpose::Position)?;
            for (body, w) in self.system.bodies.iter_mut().zip(&self.motion) {
                let [shift, turn] = unpack(w);
                body.x += shift;
                body.q = (DQuat::from_scaled_axis(turn) * body.q).normalize();
            }
            self.fresh = false;
        }
        Ok(self.position_error())
    }

    /// Largest violation of joints, holds and limits, m or rad.
    fn position_error(&mut self) -> f64 {
        let mut worst = self.system.worst_violation().0;
        let mut list = std::mem::take(&mut self.auxiliary);
        list.clear();
        self.push_holds_and_limits(Purpose::Position, &mut list);
        for row in list.rows() {
            let miss = match row.sense {
                Sense::Equal => row.target.abs(),
                Sense::NotNegative => -row.target,
            };
            worst = worst.max(miss);
        }
        self.auxiliary = list;
        worst
    }

    fn gather(&mut self, model: &Model, control: &Control) {
        gather_forces(model, &self.system, control, &mut self.forces);
        for (force, body) in self.forces.iter_mut().zip(&self.system.bodies) {
            let [f, torque] = unpack(force);
            *force = pack(f, torque + gyroscopic(body));
        }
    }

    /// Adds `scale` times the last solution to the velocities.
    fn kick(&mut self, scale: f64) {
        for (body, w) in self.system.bodies.iter_mut().zip(&self.motion) {
            let [dv, domega] = unpack(w);
            body.v += dv * scale;
            body.omega += domega * scale;
        }
    }

    /// Linearises at the present pose and runs `sparsefactor`.
    fn factor(&mut self, model: &Model) -> Result<(), MethodError> {
        if self.fresh {
            return Ok(());
        }
        let joints = self.system.joints.len();
        for (index, linear) in self.linear.iter_mut().enumerate() {
            if index < joints {
                self.system.linearize(index, linear);
            } else {
                let [a, b] = gear_row(&self.gears[index - joints], &self.system);
                (linear.rows, linear.a[0], linear.b[0]) = (1, a, b);
            }
        }
        for index in 0..self.forest.nodes().len() {
            self.fill(index);
        }
        self.forest.factor().map_err(|kind| MethodError::Singular {
            method: NAME,
            culprit: culprit(model, kind),
            instead: "--method tomcin or affine",
        })?;
        self.fresh = true;
        Ok(())
    }

    /// Writes the blocks of one node: M and −Jᵀ for a body, 0 and −J for a constraint.
    fn fill(&mut self, index: usize) {
        let node = self.forest.nodes()[index];
        let parent = node.parent.map(|p| self.forest.nodes()[p].kind);
        let (system, linear) = (&self.system, &self.linear);
        let ends = |constraint: usize| match constraint.checked_sub(system.joints.len()) {
            None => system.ends[constraint],
            Some(gear) => self.gears[gear].bodies.map(|body| Some(body.index())),
        };
        let side = |constraint: usize, body: usize| {
            let rows = &linear[constraint];
            if ends(constraint)[0] == Some(body) {
                &rows.a
            } else {
                &rows.b
            }
        };
        let (diagonal, coupling) = self.forest.blocks_mut(index);
        diagonal.fill(0.0);
        match node.kind {
            NodeKind::Body(body) => {
                fill_mass(&system.bodies[body], diagonal);
                if let Some(NodeKind::Constraint(constraint)) = parent {
                    let (rows, width) = (side(constraint, body), linear[constraint].rows);
                    for i in 0..6 {
                        for j in 0..width {
                            coupling[i * width + j] = -rows[j][i];
                        }
                    }
                }
            }
            NodeKind::Constraint(constraint) => {
                if let Some(NodeKind::Body(body)) = parent {
                    let rows = side(constraint, body);
                    for i in 0..node.size {
                        for j in 0..6 {
                            coupling[i * 6 + j] = -rows[i][j];
                        }
                    }
                }
            }
        }
    }

    /// Constraint anticipation: w with primary and auxiliary constraints.
    fn solve(&mut self, model: &Model, purpose: Purpose) -> Result<(), MethodError> {
        self.list_auxiliary(purpose);
        self.solve_primary(purpose);
        if self.auxiliary.len() == 0 {
            return Ok(());
        }
        self.auxiliary.respond(&self.motion);
        let solves = self
            .anticipation
            .solve(&self.forest, &self.auxiliary)
            .map_err(|fault| fault.name(NAME, |row| self.row_name(model, row)))?;
        self.solves += solves;
        self.auxiliary
            .add_forces(&self.anticipation.multipliers, &mut self.forces);
        self.solve_primary(purpose);
        Ok(())
    }

    /// One `sparsesolve`, with the forces as they are.
    fn solve_primary(&mut self, purpose: Purpose) {
        for node in self.forest.nodes() {
            let rows = node.row..node.row + node.size;
            match node.kind {
                NodeKind::Body(body) => self.x[rows].copy_from_slice(&self.forces[body]),
                NodeKind::Constraint(constraint) => {
                    let c = target(&self.system, &self.gears, &self.linear, constraint, purpose);
                    self.x[rows].copy_from_slice(&c[..node.size]);
                }
            }
        }
        self.forest.solve(&mut self.x);
        for (body, w) in self.motion.iter_mut().enumerate() {
            let row = self.forest.nodes()[self.forest.body_node(body)].row;
            w.copy_from_slice(&self.x[row..row + 6]);
        }
        self.solves += 1;
    }

    /// Loops, holds and limits as rows.
    fn list_auxiliary(&mut self, purpose: Purpose) {
        let mut list = std::mem::take(&mut self.auxiliary);
        list.clear();
        for &constraint in self.forest.auxiliary() {
            let linear = &self.linear[constraint];
            let c = target(&self.system, &self.gears, &self.linear, constraint, purpose);
            let ends = match constraint.checked_sub(self.system.joints.len()) {
                None => self.system.ends[constraint],
                Some(gear) => self.gears[gear].bodies.map(|body| Some(body.index())),
            };
            for row in 0..linear.rows {
                list.push(Sense::Equal, c[row], constraint);
                for (body, side) in ends.into_iter().zip([&linear.a, &linear.b]) {
                    if let Some(body) = body {
                        list.term(body, side[row]);
                    }
                }
            }
        }
        self.push_holds_and_limits(purpose, &mut list);
        self.auxiliary = list;
    }

    /// Rows of holds, and of the limits that are reached.
    fn push_holds_and_limits(&self, purpose: Purpose, list: &mut RowList) {
        for (index, hold) in self.holds.iter().enumerate() {
            push_hold(&self.system, hold, purpose, self.linear.len() + index, list);
        }
        for joint in 0..self.system.joints.len() {
            for axis in &self.system.joints[joint].axes {
                push_limits(&self.system, joint, axis, purpose, list);
            }
        }
    }

    fn row_name(&self, model: &Model, row: &Row) -> String {
        if row.source < self.linear.len() {
            culprit(model, NodeKind::Constraint(row.source))
        } else {
            format!("hold {}", row.source - self.linear.len())
        }
    }

    fn restore_if_failed(&mut self, outcome: Result<f64, MethodError>) -> Result<f64, MethodError> {
        if outcome.is_err() {
            self.system.bodies.clone_from(&self.before);
            self.fresh = false;
        }
        outcome
    }
}

impl Method for Baraff {
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
        self.solves = 0;
        let time = self.system.time;
        let outcome = self.advance(model, control, h);
        let residual = self.restore_if_failed(outcome);
        if residual.is_err() {
            self.system.time = time;
        }
        let residual = residual?;
        Ok(MethodReport {
            iterations: self.solves,
            converged: residual <= POSITION_TOLERANCE,
            residual,
        })
    }

    fn system(&self) -> &System {
        &self.system
    }

    fn reset(&mut self, model: &Model, state: &State) {
        self.system.read_state(model, state);
        self.fresh = false;
    }

    fn plan(&self) -> String {
        let auxiliary = self.forest.auxiliary();
        let count = self.linear.len() - auxiliary.len();
        if auxiliary.is_empty() && self.holds.is_empty() {
            return format!("sparse factors of {count} primary constraints");
        }
        format!(
            "sparse factors of {count} primary constraints, {} auxiliary by anticipation",
            auxiliary.len() + self.holds.len()
        )
    }
}

/// c of a joint or gear.
fn target(
    system: &System,
    gears: &[Gear],
    linear: &[Linear],
    constraint: usize,
    purpose: Purpose,
) -> [f64; MAX_ROWS] {
    let mut out = [0.0; MAX_ROWS];
    let gear = constraint.checked_sub(system.joints.len());
    match (purpose, gear) {
        (Purpose::Dynamics, None) => return system.biases(constraint),
        (Purpose::Position, None) => return system.violations(constraint),
        (Purpose::Dynamics | Purpose::Position, Some(_)) => return out,
        (Purpose::Impulse, _) => {}
    }
    let ends = match gear {
        None => system.ends[constraint],
        Some(gear) => gears[gear].bodies.map(|body| Some(body.index())),
    };
    let [a, b] = ends.map(|body| system.velocity(body));
    for (row, value) in out[..linear[constraint].rows].iter_mut().enumerate() {
        *value = linear[constraint].rate(row, &a, &b);
    }
    out
}

fn gear_row(gear: &Gear, system: &System) -> [Six; 2] {
    let turned = |k: usize| system.bodies[gear.bodies[k].index()].q * gear.axes_body[k];
    [
        pack(DVec3::ZERO, turned(0)),
        pack(DVec3::ZERO, -gear.ratio * turned(1)),
    ]
}

fn fill_mass(body: &RigidBody, block: &mut [f64]) {
    let inertia: DMat3 = body.inertia_world();
    for i in 0..3 {
        block[i * 7] = body.mass;
        for j in 0..3 {
            block[(3 + i) * 6 + 3 + j] = inertia.col(j)[i];
        }
    }
}

fn push_hold(system: &System, hold: &Hold, purpose: Purpose, source: usize, list: &mut RowList) {
    match hold {
        Hold::Point {
            body,
            point_body,
            target,
        } => {
            let index = body.index();
            let it = &system.bodies[index];
            let lever = it.q * *point_body;
            let c = match purpose {
                Purpose::Dynamics => it.omega.cross(it.omega.cross(lever)),
                Purpose::Impulse => it.v + it.omega.cross(lever),
                Purpose::Position => it.x + lever - *target,
            };
            for k in 0..3 {
                list.push(Sense::Equal, c[k], source);
                list.term(index, pack(DVec3::AXES[k], lever.cross(DVec3::AXES[k])));
            }
        }
        Hold::Centroid { normal, offset } => {
            let mass: f64 = system.bodies.iter().map(|body| body.mass).sum();
            let mean = |f: fn(&RigidBody) -> DVec3| {
                let sum: DVec3 = system.bodies.iter().map(|b| b.mass * f(b)).sum();
                sum.dot(*normal) / mass
            };
            let c = match purpose {
                Purpose::Dynamics => 0.0,
                Purpose::Impulse => mean(|b| b.v),
                Purpose::Position => mean(|b| b.x) - offset,
            };
            list.push(Sense::Equal, c, source);
            for (index, body) in system.bodies.iter().enumerate() {
                list.term(index, pack(*normal * (body.mass / mass), DVec3::ZERO));
            }
        }
    }
}

/// Limits of one free coordinate: rows for those that are reached.
fn push_limits(system: &System, joint: usize, axis: &Axis, purpose: Purpose, list: &mut RowList) {
    let [lower, upper] = axis.law.limits;
    if !(lower.is_finite() || upper.is_finite()) {
        return;
    }
    let it = coordinate(system, joint, axis.kind);
    for (sign, room) in [(1.0, it.value - lower), (-1.0, upper - it.value)] {
        let rate = sign * it.rate;
        let resting = room <= NEAR && rate <= NEAR;
        let c = match purpose {
            Purpose::Dynamics if resting => sign * coordinate_bias(system, joint, axis.kind),
            Purpose::Impulse if room <= NEAR => rate,
            Purpose::Position if room <= 0.0 => room,
            _ => continue,
        };
        list.push(Sense::NotNegative, c, joint);
        for (body, gradient) in system.ends[joint].into_iter().zip(it.gradients) {
            if let Some(body) = body {
                list.term(body, gradient.map(|x| sign * x));
            }
        }
    }
}

/// The bias of a free coordinate: how its rate changes along an unaccelerated motion.
fn coordinate_bias(system: &System, joint: usize, kind: AxisKind) -> f64 {
    let t = 1e-6;
    let rates = system.ends[joint].map(|body| system.velocity(body));
    let rate = |t: f64| {
        let places = system.ends[joint].map(|body| {
            body.map_or(Place::WORLD, |body| {
                let mut moved = system.bodies[body];
                let Velocity { v, omega } = system.velocity(Some(body));
                drift(&mut moved, v, omega, t);
                place_of(&moved)
            })
        });
        coordinate_at(&system.joints[joint], kind, places, rates).rate
    };
    (rate(t) - rate(-t)) / (2.0 * t)
}

fn culprit(model: &Model, kind: NodeKind) -> String {
    match kind {
        NodeKind::Body(body) => model.bodies()[body].name.clone(),
        NodeKind::Constraint(index) => match model.joints().get(index) {
            Some(joint) => joint.name.clone(),
            None => format!("gear {}", index - model.joints().len()),
        },
    }
}
