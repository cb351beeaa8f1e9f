//! Contacts coupled to the mechanisms they touch (Tomcin et al., section 7).
//!
//! A contact has three rows N (normal and two tangents). Appended to the factored system,
//!
//! ```text
//! [ A   B ] [ λ ]     A = J M⁻¹ Jᵀ,   B = J M⁻¹ Nᵀ,   E = N M⁻¹ Nᵀ
//! [ Bᵀ  E ] [ p ]
//! ```
//!
//! its block of the Schur complement is `G = E − Bᵀ A⁻¹ B`: how its own velocity answers an
//! impulse when all joints answer too. With `A = L D Lᵀ` and `Y = L⁻¹ B`, `G = E − Yᵀ D⁻¹ Y`
//! (their appendix C, derived here): one forward substitution for each row, with the factors
//! there are, and B has entries only for joints of the touched bodies. Products of the Y of
//! two contacts give their coupling, so the sweeps over the contacts, one at a time, work on
//! velocities of contacts alone; one back substitution at the end moves the bodies. Nothing
//! here needs G to be symmetric.

use glam::DVec3;
use vincula::body::rigid::RigidBody;
use vincula::contact::{ContactPoint, Contacts, detect};
use vincula::model::{Control, Model, State};
use vincula_blocks::{Factorization, Half};

use super::matrix::{SystemMatrix, rows_of};
use crate::system::rows::{Six, dot6, pack};
use crate::system::{MethodError, System, apply_inverse_mass, place_of};

/// A contact that closes during the step.
#[derive(Clone, Copy, Debug)]
struct Point {
    /// Its number among those found.
    number: usize,
    /// Whether it is closed at the end of the last preview.
    closed: bool,
    bodies: [Option<usize>; 2],
    /// Normal and tangents, for both bodies.
    rows: [[Six; 2]; 3],
    /// `M⁻¹` times the same.
    responses: [[Six; 2]; 3],
    /// Gap at the start of the step, m.
    gap: f64,
    /// Gap that is left at the end of the flight, m.
    left: f64,
    friction: f64,
    restitution: f64,
    /// Velocity of moved surfaces along the three directions, m/s.
    surface: [f64; 3],
}

/// Memory and state of the contact phases.
pub struct ContactPhase {
    needed: bool,
    found: Contacts,
    state: State,
    control: Control,
    points: Vec<Point>,
    active: usize,
    halves: Vec<Half<3>>,
    entries: Vec<(usize, [f64; 3])>,
    /// Whether G belongs to the points.
    prepared: bool,
    /// G, row-major, three rows for each point.
    matrix: Vec<f64>,
    /// Velocities of the contacts without impulses, m/s.
    free: Vec<f64>,
    impulses: Vec<f64>,
    increments: Vec<Six>,
    rhs: Vec<f64>,
}

/// What the sweeps ask of the normal velocity.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Pass {
    /// Rebound, or arrival on the surface.
    Impact,
    /// No more than the gap is closed.
    Rest,
    /// What is left of an overlap is opened; no friction.
    Position,
}

impl ContactPhase {
    /// Memory for a model.
    pub fn new(model: &Model) -> ContactPhase {
        ContactPhase {
            needed: !model.colliders().is_empty(),
            found: Contacts::new(),
            state: State::at_rest(model),
            control: Control::new(model),
            points: Vec::new(),
            active: 0,
            halves: Vec::new(),
            entries: Vec::new(),
            prepared: false,
            matrix: Vec::new(),
            free: Vec::new(),
            impulses: Vec::new(),
            increments: Vec::new(),
            rhs: Vec::new(),
        }
    }

    /// Deepest overlap at the start of the last step, m.
    pub fn penetration(&self) -> f64 {
        self.found.penetration()
    }

    /// Points that were closed in the last step.
    pub fn active(&self) -> usize {
        self.active
    }

    /// Points that took part in the last step, closed or not.
    pub fn points(&self) -> usize {
        self.points.len()
    }

    /// Says how many were.
    pub fn count(&mut self, active: usize) {
        self.active = active;
    }

    /// Finds the points that may touch during the step; false if there are none.
    pub fn detect(&mut self, model: &Model, system: &System, h: f64) -> bool {
        self.points.clear();
        self.prepared = false;
        self.active = 0;
        if self.needed {
            system.write_state(model, &mut self.state);
            detect(model, &self.state, &self.control, h, &mut self.found);
        }
        !self.found.points.is_empty()
    }

    /// Takes the points that are closed at the end of a flight; false if there are none.
    /// Points taken before in this step stay, so that G can be used again.
    pub fn select(&mut self, system: &System, preview: &[RigidBody]) -> bool {
        self.active = 0;
        let mut known = 0;
        for (number, contact) in self.found.points.iter().enumerate() {
            let left = gap(contact, preview);
            while self.points.get(known).is_some_and(|p| p.number < number) {
                known += 1;
            }
            let place = self.points.get_mut(known).filter(|p| p.number == number);
            match place {
                Some(point) => (point.left, point.closed) = (left, left <= 0.0),
                None if left <= 0.0 => {
                    let point = Point::new(contact, number, system, left);
                    self.points.insert(known, point);
                    self.prepared = false;
                }
                None => {}
            }
            self.active += usize::from(left <= 0.0);
        }
        self.active > 0
    }

    /// Builds G with the factors there are, unless that is done.
    pub fn prepare(&mut self, matrix: Option<&mut SystemMatrix>) -> Result<(), MethodError> {
        if self.prepared {
            return Ok(());
        }
        self.prepared = true;
        let (count, rows) = (self.points.len(), 3 * self.points.len());
        self.matrix.clear();
        self.matrix.resize(rows * rows, 0.0);
        for i in 0..rows {
            for j in 0..rows {
                self.matrix[i * rows + j] = self.direct(i, j);
            }
        }
        let Some(matrix) = matrix else {
            return Ok(());
        };
        if self.halves.len() < count {
            self.halves.resize_with(count, Half::default);
        }
        for (point, half) in self.points.iter().zip(&mut self.halves) {
            couple(point, matrix, &mut self.entries);
            let reach = &mut matrix.reach;
            matrix
                .cholesky
                .solve_half(&self.entries, reach, half)
                .map_err(super::told)?;
        }
        for i in 0..count {
            for j in 0..=i {
                let joints = matrix
                    .cholesky
                    .half_product(&self.halves[i], &self.halves[j]);
                for (a, line) in joints.iter().enumerate() {
                    for (b, value) in line.iter().enumerate() {
                        self.matrix[(3 * i + a) * rows + 3 * j + b] -= value;
                        if i != j {
                            self.matrix[(3 * j + b) * rows + 3 * i + a] -= value;
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// An entry of E.
    fn direct(&self, i: usize, j: usize) -> f64 {
        let (a, b) = (&self.points[i / 3], &self.points[j / 3]);
        let mut sum = 0.0;
        for (k, body) in a.bodies.iter().enumerate() {
            for (l, other) in b.bodies.iter().enumerate() {
                if body.is_some() && body == other {
                    sum += dot6(&a.rows[i % 3][k], &b.responses[j % 3][l]);
                }
            }
        }
        sum
    }

    /// Sweeps over the contacts, one at a time, until their impulses settle.
    pub fn sweep(&mut self, pass: Pass, velocities: &[Six], h: f64, sweeps: usize) {
        self.measure(velocities);
        self.impulses.clear();
        self.impulses.resize(3 * self.points.len(), 0.0);
        for _ in 0..sweeps {
            let mut change = 0.0f64;
            let mut size = 0.0f64;
            for index in 0..self.points.len() {
                if !self.points[index].closed {
                    continue;
                }
                change = change.max(self.resolve(index, pass, h));
                size = size.max(self.impulses[3 * index].abs());
            }
            if change <= 1e-10 * size {
                return;
            }
        }
    }

    /// Velocities of the contacts as the bodies move now.
    fn measure(&mut self, velocities: &[Six]) {
        self.free.clear();
        for point in &self.points {
            for row in 0..3 {
                let side = |k: usize| {
                    point.bodies[k].map_or(0.0, |b| dot6(&point.rows[row][k], &velocities[b]))
                };
                self.free.push(side(0) + side(1) + point.surface[row]);
            }
        }
    }

    /// One contact; returns how much its impulse changed, N s.
    fn resolve(&mut self, index: usize, pass: Pass, h: f64) -> f64 {
        let point = &self.points[index];
        let base = 3 * index;
        let least = match pass {
            Pass::Impact if point.restitution > 0.0 && self.free[base] < 0.0 => {
                -point.restitution * self.free[base]
            }
            Pass::Impact | Pass::Rest => -point.gap.max(0.0) / h,
            Pass::Position => self.free[base] - point.left / h,
        };
        let friction = if pass == Pass::Position {
            0.0
        } else {
            point.friction
        };
        let before = [0, 1, 2].map(|k| self.impulses[base + k]);
        let rate = self.rate(base) - least;
        let own = self.entry(base, base);
        self.impulses[base] = (before[0] - rate / own).max(0.0);
        if friction > 0.0 {
            self.rub(base, friction);
        }
        (0..3).fold(0.0, |m: f64, k| {
            m.max((self.impulses[base + k] - before[k]).abs())
        })
    }

    /// Friction: against the slip, within Coulomb's disc.
    fn rub(&mut self, base: usize, friction: f64) {
        let [a, b] = [base + 1, base + 2];
        let own = self.entry(a, a).max(self.entry(b, b)) + self.entry(a, b).abs();
        let slip = [self.rate(a), self.rate(b)];
        let mut p = [
            self.impulses[a] - slip[0] / own,
            self.impulses[b] - slip[1] / own,
        ];
        let most = friction * self.impulses[base];
        let size = p[0].hypot(p[1]);
        if size > most {
            p = p.map(|x| x * (most / size));
        }
        (self.impulses[a], self.impulses[b]) = (p[0], p[1]);
    }

    fn entry(&self, i: usize, j: usize) -> f64 {
        self.matrix[i * self.impulses.len() + j]
    }

    fn rate(&self, row: usize) -> f64 {
        let n = self.impulses.len();
        let answers = self.matrix[row * n..row * n + n].iter().zip(&self.impulses);
        self.free[row] + answers.map(|(g, p)| g * p).sum::<f64>()
    }

    /// Moves the bodies by the impulses and the answer of the joints.
    pub fn apply(
        &mut self,
        system: &System,
        matrix: Option<&mut SystemMatrix>,
        velocities: &mut [Six],
    ) -> Result<(), MethodError> {
        self.increments.clear();
        self.increments.resize(velocities.len(), [0.0; 6]);
        for (index, point) in self.points.iter().enumerate() {
            for row in 0..3 {
                let p = self.impulses[3 * index + row];
                for (body, response) in point.bodies.iter().zip(&point.responses[row]) {
                    if let Some(body) = body {
                        (0..6).for_each(|k| self.increments[*body][k] += p * response[k]);
                    }
                }
            }
        }
        if let Some(matrix) = matrix {
            self.rhs.resize(matrix.pattern().dimension(), 0.0);
            matrix.rates(system, &self.increments, &mut self.rhs);
            self.rhs.iter_mut().for_each(|x| *x = -*x);
            matrix.cholesky.solve(&mut self.rhs).map_err(super::told)?;
            matrix.apply(system, &self.rhs, velocities);
        }
        for (u, more) in velocities.iter_mut().zip(&self.increments) {
            (0..6).for_each(|k| u[k] += more[k]);
        }
        Ok(())
    }
}

impl Point {
    fn new(contact: &ContactPoint, number: usize, system: &System, left: f64) -> Point {
        let normal = DVec3::from_array(contact.normal);
        let [s, t] = [
            normal.any_orthonormal_pair().0,
            normal.any_orthonormal_pair().1,
        ];
        let bodies = [contact.a, contact.b].map(|body| body.map(|id| id.index()));
        let directions = [normal, s, t];
        let mut point = Point {
            number,
            closed: true,
            bodies,
            rows: [[[0.0; 6]; 2]; 3],
            responses: [[[0.0; 6]; 2]; 3],
            gap: contact.gap,
            left,
            friction: contact.friction,
            restitution: contact.restitution,
            surface: directions.map(|d| d.dot(DVec3::from_array(contact.surface_velocity))),
        };
        for (side, anchor) in [contact.anchor_a, contact.anchor_b].into_iter().enumerate() {
            let Some(body) = bodies[side] else { continue };
            let place = place_of(&system.bodies[body]);
            let lever = place.r * DVec3::from_array(anchor);
            let sign = if side == 0 { -1.0 } else { 1.0 };
            for (row, direction) in directions.iter().enumerate() {
                let d = sign * *direction;
                let gradient = pack(d, lever.cross(d));
                point.rows[row][side] = gradient;
                point.responses[row][side] =
                    apply_inverse_mass(&system.bodies[body], &place.r, &gradient);
            }
        }
        point
    }
}

/// n · (x_b − x_a) at the end of a flight, m.
fn gap(contact: &ContactPoint, preview: &[RigidBody]) -> f64 {
    let end = |body: Option<vincula::model::BodyId>, anchor: [f64; 3]| {
        let anchor = DVec3::from_array(anchor);
        body.map_or(anchor, |id| preview[id.index()].point(anchor))
    };
    let apart = end(contact.b, contact.anchor_b) - end(contact.a, contact.anchor_a);
    DVec3::from_array(contact.normal).dot(apart)
}

/// The entries of B for a contact.
fn couple(point: &Point, matrix: &SystemMatrix, entries: &mut Vec<(usize, [f64; 3])>) {
    entries.clear();
    for (side, body) in point.bodies.iter().enumerate() {
        let Some(body) = body else { continue };
        for &(joint, joint_side) in matrix.joints_of(*body) {
            let linear = &matrix.linear[joint];
            let first = matrix.pattern().row(joint);
            let gradients = &rows_of(linear, joint_side)[..linear.rows];
            for (k, gradient) in gradients.iter().enumerate() {
                let values = [0, 1, 2].map(|row| dot6(gradient, &point.responses[row][side]));
                entries.push((first + k, values));
            }
        }
    }
}
