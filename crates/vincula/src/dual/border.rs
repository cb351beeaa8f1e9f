//! Couplings as a border of the joint system.
//!
//! A coupling touches more than two bodies, so it is no node of the joint graph. With rows G
//! of the couplings beside the rows J of the joints, the dual system is
//!
//! ```text
//! ⎡ S   B ⎤ ⎡λ⎤   ⎡c⎤      S = J H⁻¹ Jᵀ,  B = J H⁻¹ Gᵀ,  D = G H⁻¹ Gᵀ
//! ⎣ Bᵀ  D ⎦ ⎣μ⎦ = ⎣d⎦
//! ```
//!
//! The islands solve with S as if there were no couplings; with Z = S⁻¹ B the couplings
//! remain: `(D − Bᵀ Z) μ = d − Bᵀ S⁻¹ c`, `λ = S⁻¹ c − Z μ`. This is how Baraff 1996 (section 7)
//! adds auxiliary constraints to an articulated body: the solvers of the islands never see
//! them, and each costs one solve of the islands it touches. Couplings of islands that hang
//! together are solved as one dense group; those of other islands do not know of each other.

use vincula_blocks::{BlockMatrix, Dense, Factorization, Pattern};

use super::assemble::point_response;
use super::island::Island;
use super::linearize::{GeneralRow, carried_before, carried_side, dot9};
use super::{Dual, DualFault, subtract, unwrap};
use crate::integrate::newton::NewtonBlock;
use crate::joint::rows::{Carried, Gradient};
use crate::joint::{Rule, Side, coordinate};
use crate::math::lanes::{gather, place};
use crate::math::small::*;
use crate::model::{Control, Model, State};

/// The rows of all couplings.
#[derive(Default)]
pub(crate) struct Border {
    rows: Vec<BorderRow>,
    groups: Vec<Group>,
    /// Rows of the joints; those of the couplings come after them.
    pub(super) first: usize,
    /// One number for each row of the joints.
    scratch: Vec<f64>,
}

/// One row of a coupling.
struct BorderRow {
    coupling: usize,
    part: usize,
    bodies: Vec<BodyRow>,
    /// Joints at its bodies: where the entries of B come from.
    touches: Vec<Touch>,
    /// Entries of B: row of a joint, value.
    column: Vec<(usize, f64)>,
    /// Factors of its terms in this step.
    factors: Vec<f64>,
    /// Coordinates of its terms at the start of the step.
    near: Vec<f64>,
    /// Frames of a velocity row at the start of the step.
    start: Option<[Carried; 2]>,
    /// Velocity that it asks for in this step.
    rate: f64,
    /// Displacement per unit of the sum, m/rad or 1.
    length: f64,
}

/// The gradient of a row for one body, body frame, with its response.
struct BodyRow {
    body: usize,
    world: Gradient,
    row: GeneralRow,
}

/// A joint at a body of the row.
struct Touch {
    /// Which of the row's bodies.
    slot: usize,
    joint: usize,
    first: bool,
    /// First of its entries in `column`.
    at: usize,
}

/// Couplings whose islands hang together.
struct Group {
    islands: Vec<usize>,
    /// Rows among `Border::rows`.
    rows: Vec<usize>,
    /// Rows of the joints of its islands.
    joint_rows: Vec<usize>,
    /// Z, a column for each row of the group.
    responses: Vec<Vec<f64>>,
    /// D, upper triangle, row-major.
    own: Vec<f64>,
    matrix: BlockMatrix,
    solver: Dense,
    side: Vec<f64>,
}

impl Border {
    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
}

impl BorderRow {
    fn new(model: &Model, coupling: usize, part: usize) -> BorderRow {
        let it = &model.couplings[coupling];
        let ends = it.ends(&model.joints);
        let mut bodies: Vec<usize> = ends.iter().filter_map(|e| e.endpoint.index()).collect();
        bodies.sort_unstable();
        bodies.dedup();
        let row = |body| BodyRow {
            body,
            world: Gradient::ZERO,
            row: GeneralRow::ZERO,
        };
        BorderRow {
            coupling,
            part,
            bodies: bodies.into_iter().map(row).collect(),
            touches: Vec::new(),
            column: Vec::new(),
            factors: it.terms().iter().map(|t| t.factor).collect(),
            near: vec![0.0; it.terms().len()],
            start: None,
            rate: it.rate(),
            length: it.length,
        }
    }

    /// Value of the row at the iterate, m: its violation, or how far it slipped beyond h c.
    fn value(&self, model: &Model, work: &[NewtonBlock], h: f64) -> f64 {
        let it = &model.couplings[self.coupling];
        let at = |side: &Side| carried_side(side, work);
        match &it.rule {
            Rule::Sum { terms, .. } | Rule::Rates { terms, .. } => {
                let velocity = it.is_velocity();
                let mut sum = match it.rule {
                    Rule::Sum { constant, .. } => -constant,
                    _ => -h * self.rate,
                };
                for ((term, k), near) in terms.iter().zip(&self.factors).zip(&self.near) {
                    let (joint, kind) = coordinate(&model.joints, term);
                    let x = unwrap(kind, kind.value(&at(&joint.a), &at(&joint.b)), *near);
                    sum += k * if velocity { x - near } else { x };
                }
                it.length * sum
            }
            Rule::Skate { ends, .. } | Rule::Roll { ends, .. } => match &self.start {
                Some(start) => {
                    let now = [at(&ends[0]), at(&ends[1])];
                    it.slip(self.part, start, &now) - h * self.rate
                }
                None => 0.0,
            },
        }
    }

    /// Gradients by body, in the world.
    fn linearize(&mut self, model: &Model, carried: impl Fn(&Side) -> Carried) {
        for it in &mut self.bodies {
            it.world = Gradient::ZERO;
        }
        let bodies = &mut self.bodies;
        model.couplings[self.coupling].linearize(
            &model.joints,
            &self.factors,
            self.part,
            carried,
            |side, gradient| {
                let index = side.endpoint.index();
                if let Some(it) = bodies.iter_mut().find(|it| Some(it.body) == index) {
                    it.world.add(gradient);
                }
            },
        );
    }

    /// `G_i H⁻¹ G_jᵀ` over the bodies that both rows touch.
    fn couple(&self, other: &BorderRow, work: &[NewtonBlock]) -> f64 {
        let mut sum = 0.0;
        for i in &self.bodies {
            for j in other.bodies.iter().filter(|j| j.body == i.body) {
                let (block, lane) = place(i.body);
                let light = work[block].inverse_of(lane).translation;
                sum += dot9(&i.row.a, &j.row.response) + light * dot(&i.row.t, &j.row.t);
            }
        }
        sum
    }

    /// `Bᵀ x`.
    fn dot(&self, x: &[f64]) -> f64 {
        self.column.iter().map(|(row, b)| b * x[*row]).sum()
    }
}

impl Dual {
    /// Finds the rows of all couplings and groups them; islands and places are known.
    pub(super) fn add_border(&mut self, model: &Model) {
        let joint_rows = *self.offsets.last().expect("one more than joints");
        let mut rows: Vec<BorderRow> = Vec::new();
        for (index, coupling) in model.couplings.iter().enumerate() {
            rows.extend((0..coupling.rows()).map(|part| BorderRow::new(model, index, part)));
        }
        for row in &mut rows {
            self.touch(row);
        }
        self.border = Border {
            groups: self.group(&rows),
            rows,
            first: joint_rows,
            scratch: vec![0.0; joint_rows],
        };
        if self.border.is_empty() {
            self.border.scratch.clear();
        }
    }

    /// Finds the joints at the bodies of a row.
    fn touch(&self, row: &mut BorderRow) {
        let mut known: Vec<(usize, usize)> = Vec::new();
        for (slot, it) in row.bodies.iter().enumerate() {
            for incidence in &self.incidences[self.starts[it.body]..self.starts[it.body + 1]] {
                let joint = incidence.joint as usize;
                let at = match known.iter().find(|(j, _)| *j == joint) {
                    Some((_, at)) => *at,
                    None => {
                        let at = row.column.len();
                        let rows = self.offsets[joint]..self.offsets[joint + 1];
                        row.column.extend(rows.map(|r| (r, 0.0)));
                        known.push((joint, at));
                        at
                    }
                };
                row.touches.push(Touch {
                    slot,
                    joint,
                    first: incidence.first,
                    at,
                });
            }
        }
    }

    /// Rows that share an island or a body belong together.
    fn group(&self, rows: &[BorderRow]) -> Vec<Group> {
        let islands_of = |row: &BorderRow| -> Vec<usize> {
            let mut found: Vec<usize> = row
                .touches
                .iter()
                .map(|t| self.joints_place(t.joint).0)
                .collect();
            found.sort_unstable();
            found.dedup();
            found
        };
        let mut sets: Vec<(Vec<usize>, Vec<usize>, Vec<usize>)> = Vec::new();
        for (index, row) in rows.iter().enumerate() {
            let mut islands = islands_of(row);
            let mut bodies: Vec<usize> = row.bodies.iter().map(|b| b.body).collect();
            let mut members = vec![index];
            let meets = |set: &(Vec<usize>, Vec<usize>, Vec<usize>)| {
                set.0.iter().any(|i| islands.contains(i))
                    || set.1.iter().any(|b| bodies.contains(b))
            };
            let (joined, apart): (Vec<_>, Vec<_>) = sets.into_iter().partition(meets);
            sets = apart;
            for (i, b, m) in joined {
                islands.extend(i);
                bodies.extend(b);
                members.extend(m);
            }
            for list in [&mut islands, &mut bodies, &mut members] {
                list.sort_unstable();
                list.dedup();
            }
            sets.push((islands, bodies, members));
        }
        sets.sort_by_key(|set| set.2[0]);
        sets.into_iter()
            .map(|(islands, _, members)| Group::new(islands, members, &self.islands, &self.offsets))
            .collect()
    }

    /// Starts a step: where the coordinates and the bodies are, what the control asks for.
    pub(super) fn start_border(&mut self, model: &Model, state: &State, control: &Control) {
        let mut first = 0;
        for row in &mut self.border.rows {
            let it = &model.couplings[row.coupling];
            row.rate = control.rates[row.coupling];
            let terms = it.terms();
            for (k, term) in terms.iter().enumerate() {
                row.factors[k] = control.factors[first + k];
                let start = model.axis_starts[term.coordinate.joint.index()];
                row.near[k] = state.coordinates[start + term.coordinate.axis];
            }
            first += terms.len();
            if let Rule::Skate { ends, .. } | Rule::Roll { ends, .. } = &it.rule {
                row.start = Some([state.carried(&ends[0]), state.carried(&ends[1])]);
            }
        }
    }

    /// Gradients and responses at the iterate.
    pub(super) fn linearize_border(&mut self, model: &Model, work: &[NewtonBlock], moved: bool) {
        for row in &mut self.border.rows {
            row.linearize(model, |side| {
                if moved {
                    carried_before(side, work)
                } else {
                    carried_side(side, work)
                }
            });
            for it in &mut row.bodies {
                let (block, lane) = place(it.body);
                let n = &work[block];
                it.row.a = tmul(&gather(&n.rot, lane), &it.world.a);
                it.row.t = it.world.t;
                it.row.response = n.inverse_of(lane).solve(&it.row.a);
            }
        }
    }

    /// B and D, then Z and the factors; the islands are factored.
    pub(super) fn factor_border(&mut self, work: &[NewtonBlock]) -> Result<(), DualFault> {
        if self.border.is_empty() {
            return Ok(());
        }
        let mut border = std::mem::take(&mut self.border);
        for row in &mut border.rows {
            self.find_column(row, work);
        }
        for group in &mut border.groups {
            group.set_own(&border.rows, work);
        }
        self.border = border;
        self.refactor_border()
    }

    /// Entries of B for one row.
    fn find_column(&self, row: &mut BorderRow, work: &[NewtonBlock]) {
        row.column.iter_mut().for_each(|(_, value)| *value = 0.0);
        for touch in &row.touches {
            let it = &row.bodies[touch.slot];
            let (block, lane) = place(it.body);
            let inverse = work[block].inverse_of(lane);
            let rows = &self.joints[touch.joint];
            let side = if touch.first { &rows.a } else { &rows.b };
            let mut at = touch.at;
            if rows.points {
                let rot: M3 = gather(&work[block].rot, lane);
                let u = point_response(&rot, &inverse, &side.point, &it.row);
                for value in u {
                    row.column[at].1 += side.sign * value;
                    at += 1;
                }
            }
            for general in side.rows(&self.general) {
                row.column[at].1 += dot9(&general.a, &it.row.response)
                    + inverse.translation * dot(&general.t, &it.row.t);
                at += 1;
            }
        }
    }

    /// Z and the factors, for B and D as they are.
    pub(super) fn refactor_border(&mut self) -> Result<(), DualFault> {
        let Border {
            rows,
            groups,
            scratch,
            ..
        } = &mut self.border;
        for group in groups {
            for (&row, response) in group.rows.iter().zip(&mut group.responses) {
                for (at, value) in &rows[row].column {
                    scratch[*at] = *value;
                }
                for &island in &group.islands {
                    self.islands[island].solve(scratch, &self.offsets);
                }
                for (z, &at) in response.iter_mut().zip(&group.joint_rows) {
                    *z = scratch[at];
                    scratch[at] = 0.0;
                }
            }
            group.factor(rows, scratch).map_err(|source| DualFault {
                joint: rows[group.rows[0]].touches.first().map_or(0, |t| t.joint),
                source,
            })?;
        }
        Ok(())
    }

    /// Completes a solution: `lambda` holds S⁻¹ c, and d in the rows of the couplings.
    pub(super) fn solve_border(&mut self) {
        let Border {
            rows,
            groups,
            first,
            ..
        } = &mut self.border;
        for group in groups {
            for (side, &row) in group.side.iter_mut().zip(&group.rows) {
                *side = self.lambda[*first + row] - rows[row].dot(&self.lambda);
            }
            // The length agrees by construction, and the factors are there.
            let solved = group.solver.solve(&mut group.side);
            debug_assert!(solved.is_ok());
            for ((mu, &row), response) in group.side.iter().zip(&group.rows).zip(&group.responses) {
                self.lambda[*first + row] = *mu;
                for (z, &at) in response.iter().zip(&group.joint_rows) {
                    self.lambda[at] -= z * mu;
                }
            }
        }
    }

    /// Right-hand sides of the couplings; returns the largest, m.
    pub(super) fn border_sides(&mut self, model: &Model, work: &[NewtonBlock], h: f64) -> f64 {
        let first = self.border.first;
        let mut worst = 0.0f64;
        for (k, row) in self.border.rows.iter().enumerate() {
            let value = row.value(model, work, h);
            self.lambda[first + k] = value;
            worst = if value.abs() > worst || value.is_nan() {
                value.abs()
            } else {
                worst
            };
        }
        worst
    }

    /// Right-hand sides in the velocity projection: h times the rates that are wrong.
    pub(super) fn border_rates(&mut self, work: &[NewtonBlock], h: f64) -> f64 {
        let first = self.border.first;
        let mut worst = 0.0f64;
        for (k, row) in self.border.rows.iter().enumerate() {
            let mut rate = -row.length * row.rate;
            for it in &row.bodies {
                let (block, lane) = place(it.body);
                let (w, v): (M3, V3) = (gather(&work[block].w, lane), gather(&work[block].v, lane));
                rate += dot9(&it.row.a, &w) + dot(&it.row.t, &v);
            }
            self.lambda[first + k] = h * rate;
            worst = worst.max((h * rate).abs());
        }
        worst
    }

    /// Puts the forces of the couplings on the bodies.
    pub(super) fn load_border(&self, work: &mut [NewtonBlock]) {
        for (k, row) in self.border.rows.iter().enumerate() {
            let mu = self.lambda[self.border.first + k];
            for it in &row.bodies {
                let (block, lane) = place(it.body);
                let load = it.row.a.map(|x| mu * x);
                subtract(&mut work[block], lane, &load, &scale(&it.row.t, mu));
            }
        }
    }

    /// Hands out the gradients of the rows at a state: for each body of each row its force and
    /// its gradient.
    pub(super) fn border_at(
        &mut self,
        model: &Model,
        state: &State,
        forces: &[f64],
        mut add: impl FnMut(usize, f64, &Gradient),
    ) {
        let first = self.border.first;
        for (k, row) in self.border.rows.iter_mut().enumerate() {
            let force = forces[first + k];
            if force == 0.0 {
                continue;
            }
            row.linearize(model, |side| state.carried(side));
            for it in &row.bodies {
                add(it.body, force, &it.world);
            }
        }
    }

    /// Hands out what turns with the bodies: for each body of each row its force, the
    /// gradient at the start of the step and the one at the iterate.
    pub(super) fn turn_border(
        &mut self,
        model: &Model,
        state: &State,
        forces: &[f64],
        work: &mut [NewtonBlock],
        mut add: impl FnMut(usize, f64, &Gradient, &Gradient, &mut [NewtonBlock]),
    ) {
        let first = self.border.first;
        for (k, row) in self.border.rows.iter_mut().enumerate() {
            let force = forces[first + k];
            if force == 0.0 {
                continue;
            }
            row.linearize(model, |side| state.carried(side));
            for it in &mut row.bodies {
                // Kept in the world frame until the second gradient is known.
                it.row.a = it.world.a;
                it.row.t = it.world.t;
            }
            row.linearize(model, |side| carried_side(side, work));
            for it in &row.bodies {
                let before = Gradient {
                    a: it.row.a,
                    t: it.row.t,
                };
                add(it.body, force, &before, &it.world, work);
            }
        }
    }
}

impl Group {
    fn new(islands: Vec<usize>, rows: Vec<usize>, all: &[Island], offsets: &[usize]) -> Group {
        let joint_rows: Vec<usize> = islands
            .iter()
            .flat_map(|&i| &all[i].joints)
            .flat_map(|&joint| offsets[joint]..offsets[joint + 1])
            .collect();
        let n = rows.len();
        let pairs: Vec<(usize, usize)> = (0..n)
            .flat_map(|i| (i + 1..n).map(move |j| (i, j)))
            .collect();
        let pattern = Pattern::new(&vec![1; n], &pairs).expect("single rows, each pair once");
        Group {
            responses: vec![vec![0.0; joint_rows.len()]; n],
            matrix: BlockMatrix::zeros(&pattern),
            solver: Dense::symbolic(&pattern),
            side: vec![0.0; n],
            own: vec![0.0; n * n],
            islands,
            rows,
            joint_rows,
        }
    }

    /// Finds D.
    fn set_own(&mut self, rows: &[BorderRow], work: &[NewtonBlock]) {
        let n = self.rows.len();
        for i in 0..n {
            for j in i..n {
                self.own[n * i + j] = rows[self.rows[i]].couple(&rows[self.rows[j]], work);
            }
        }
    }

    /// Factors D − Bᵀ Z.
    fn factor(
        &mut self,
        rows: &[BorderRow],
        scratch: &mut [f64],
    ) -> Result<(), vincula_blocks::FactorError> {
        let n = self.rows.len();
        for j in 0..n {
            for (z, &at) in self.responses[j].iter().zip(&self.joint_rows) {
                scratch[at] = *z;
            }
            for i in 0..=j {
                let entry = self.own[n * i + j] - rows[self.rows[i]].dot(scratch);
                if i == j {
                    self.matrix.diagonal_mut(i)[0] = entry;
                } else if let Some(edge) = self.matrix.edge_index(i, j) {
                    self.matrix.edge_mut(edge)[0] = entry;
                }
            }
            for &at in &self.joint_rows {
                scratch[at] = 0.0;
            }
        }
        self.solver.factor(&self.matrix).map(|_| ())
    }
}
