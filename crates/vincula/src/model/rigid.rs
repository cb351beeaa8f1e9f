//! The rows of joints and couplings for rigid bodies, and the shortest motion that meets them.
//!
//! A row's gradient is projected onto the six rigid displacements of each body, weighted by
//! the roots of mass and inertia, so that lengths of displacements are those of motion under
//! unit impulses. `shortest` is CGLS (Hestenes and Stiefel 1952): started at zero it gives
//! the shortest solution where there are many, and that of least squares where there is none.

use super::{BodyId, CouplingId, Model, State};
use crate::diagnostics::coupling_error;
use crate::joint::axis::Axis;
use crate::joint::rows::{Gradient, Row};
use crate::joint::{Joint, Rule, Side};
use crate::math::small::*;

/// One row in weighted rigid displacements.
pub(super) struct RigidRow {
    /// Body, and its six entries.
    entries: Vec<(usize, [f64; 6])>,
    /// Value with the weight of the row.
    pub value: f64,
}

/// Everything a row is read off: the model and the pose.
struct Reader<'a> {
    model: &'a Model,
    state: &'a State,
    rows: Vec<RigidRow>,
}

impl Reader<'_> {
    /// The gradient as a push on six weighted displacements: 1/√m per force, and in
    /// principal axes 1/√I per torque.
    fn push(&self, body: usize, gradient: &Gradient) -> [f64; 6] {
        let id = BodyId::new(body);
        let affine = self.model.affine(id);
        let n = mult(&gradient.a, &self.state.affine_map(id));
        let torque = [n[7] - n[5], n[2] - n[6], n[3] - n[1]];
        let torque = tmul_vec(&self.state.principal_rotation(id), &torque);
        let light = affine.mass.sqrt().recip();
        let mut push = [0.0; 6];
        for k in 0..3 {
            push[k] = light * gradient.t[k];
            push[3 + k] = affine.inverse_inertia[k].sqrt() * torque[k];
        }
        push
    }

    fn add(&mut self, value: f64, gradients: &[(&Side, Gradient)]) {
        let mut entries: Vec<(usize, [f64; 6])> = Vec::new();
        for (side, gradient) in gradients {
            let Some(body) = side.endpoint.index() else {
                continue;
            };
            let push = self.push(body, gradient);
            match entries.iter_mut().find(|(other, _)| *other == body) {
                Some((_, sum)) => (0..6).for_each(|k| sum[k] += push[k]),
                None => entries.push((body, push)),
            }
        }
        if entries.is_empty() {
            return;
        }
        // Gradients are about one per metre, so that this makes rows about one long whatever
        // the masses; it must not depend on the pose, or the least squares would move with it.
        let mass = |body: usize| self.model.affine(BodyId::new(body)).mass;
        let light: f64 = entries.iter().map(|(body, _)| mass(*body).recip()).sum();
        let weight = light.sqrt().recip();
        for entry in entries.iter_mut().flat_map(|(_, push)| push) {
            *entry *= weight;
        }
        let value = weight * value;
        self.rows.push(RigidRow { entries, value });
    }

    /// `stops` are the joint's coordinates, each with the limit that it must keep to, if any.
    fn add_joint(&mut self, joint: &Joint, stops: &[(f64, Option<f64>)]) {
        let (a, b) = (self.state.carried(&joint.a), self.state.carried(&joint.b));
        let pair = |row: Row| [(&joint.a, row.a), (&joint.b, row.b)];
        for kind in joint.row_kinds() {
            let row = kind.linearize(&a, &b, joint.length);
            self.add(row.value, &pair(row));
        }
        for (axis, (x, stop)) in joint.axes.iter().zip(stops) {
            if let Some(stop) = stop {
                self.add(x - stop, &pair(axis.kind.linearize(&a, &b)));
            }
        }
    }

    fn add_coupling(&mut self, index: usize) {
        let it = &self.model.couplings[index];
        let Rule::Sum { terms, .. } = &it.rule else {
            return;
        };
        let factors: Vec<f64> = terms.iter().map(|t| t.factor).collect();
        let mut gradients = Vec::new();
        let state = self.state;
        let at = |side: &Side| state.carried(side);
        it.linearize(&self.model.joints, &factors, 0, at, |side, gradient| {
            gradients.push((*side, *gradient));
        });
        let error = coupling_error(self.model, state, CouplingId::new(index));
        let pairs: Vec<(&Side, Gradient)> = gradients.iter().map(|(s, g)| (s, *g)).collect();
        self.add(it.length * error, &pairs);
    }
}

/// The limit that a coordinate is beyond.
pub(super) fn overrun(axis: &Axis, x: f64) -> Option<f64> {
    let [lower, upper] = axis.law.limits;
    match x {
        x if x < lower => Some(lower),
        x if x > upper => Some(upper),
        _ => None,
    }
}

/// The rows at a state, with limits as rows where `stops` has one for a coordinate.
pub(super) fn rows(model: &Model, state: &State, stops: &[Option<f64>]) -> Vec<RigidRow> {
    let mut reader = Reader {
        model,
        state,
        rows: Vec::new(),
    };
    for (joint, first) in model.joints.iter().zip(&model.axis_starts) {
        let range = *first..first + joint.axes.len();
        let values = state.coordinates[range.clone()].iter().copied();
        let stops: Vec<_> = values.zip(stops[range].iter().copied()).collect();
        reader.add_joint(joint, &stops);
    }
    for index in 0..model.couplings.len() {
        reader.add_coupling(index);
    }
    reader.rows
}

pub(super) fn times(rows: &[RigidRow], z: &[f64], out: &mut [f64]) {
    for (row, y) in rows.iter().zip(out) {
        let product = |(body, push): &(usize, [f64; 6])| -> f64 {
            (0..6).map(|k| push[k] * z[6 * body + k]).sum()
        };
        *y = row.entries.iter().map(product).sum();
    }
}

fn times_transposed(rows: &[RigidRow], y: &[f64], out: &mut [f64]) {
    out.fill(0.0);
    for (row, y) in rows.iter().zip(y) {
        for (body, push) in &row.entries {
            for k in 0..6 {
                out[6 * body + k] += push[k] * y;
            }
        }
    }
}

pub(super) fn square(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum()
}

/// The shortest z that makes `J z` come nearest to `side`.
pub(super) fn shortest(rows: &[RigidRow], mut side: Vec<f64>, unknowns: usize) -> Vec<f64> {
    let mut z = vec![0.0; unknowns];
    let mut s = vec![0.0; unknowns];
    times_transposed(rows, &side, &mut s);
    let (mut p, mut q) = (s.clone(), vec![0.0; rows.len()]);
    let first = square(&s);
    let mut gamma = first;
    let limit = 4 * rows.len().min(unknowns) + 50;
    for _ in 0..limit {
        if !(gamma > 1e-30 * first) {
            break;
        }
        times(rows, &p, &mut q);
        let alpha = gamma / square(&q);
        if !alpha.is_finite() {
            break;
        }
        (0..unknowns).for_each(|k| z[k] += alpha * p[k]);
        (0..rows.len()).for_each(|k| side[k] -= alpha * q[k]);
        times_transposed(rows, &side, &mut s);
        let next = square(&s);
        (0..unknowns).for_each(|k| p[k] = s[k] + next / gamma * p[k]);
        gamma = next;
    }
    z
}

pub(super) fn square_sum(rows: &[RigidRow]) -> f64 {
    rows.iter().map(|row| row.value * row.value).sum()
}

/// Whether a row is no combination of others: the motion that it asks for and
/// that the others forbid is not all of it.
fn is_new(rows: &[RigidRow], row: &RigidRow, unknowns: usize) -> bool {
    let mut g = vec![0.0; unknowns];
    times_transposed(std::slice::from_ref(row), &[1.0], &mut g);
    let mut side = vec![0.0; rows.len()];
    times(rows, &g, &mut side);
    // The shortest z with J z = J g is the part of g that the other rows see.
    let seen = shortest(rows, side, unknowns);
    let left: f64 = g.iter().zip(&seen).map(|(g, z)| (g - z) * (g - z)).sum();
    left > 1e-12 * g.iter().map(|g| g * g).sum::<f64>()
}

impl Model {
    /// Couplings, position and velocity level, that say something the joints and the
    /// couplings before them do not: how many freedoms of rigid bodies they take.
    pub(crate) fn coupling_rank(&self, state: &State) -> usize {
        if self.couplings.is_empty() {
            return 0;
        }
        let mut reader = Reader {
            model: self,
            state,
            rows: Vec::new(),
        };
        for joint in &self.joints {
            // Coordinates of none: limits take no freedom.
            reader.add_joint(joint, &[]);
        }
        let mut rank = 0;
        let unknowns = 6 * self.bodies.len();
        for it in &self.couplings {
            let factors: Vec<f64> = it.terms().iter().map(|t| t.factor).collect();
            for part in 0..it.rows() {
                let known = reader.rows.len();
                let mut gradients = Vec::new();
                let at = |side: &Side| state.carried(side);
                it.linearize(&self.joints, &factors, part, at, |side, gradient| {
                    gradients.push((*side, *gradient));
                });
                let pairs: Vec<(&Side, Gradient)> =
                    gradients.iter().map(|(s, g)| (s, *g)).collect();
                reader.add(0.0, &pairs);
                if reader.rows.len() == known {
                    continue;
                }
                let row = reader.rows.pop().expect("it was added");
                if is_new(&reader.rows, &row, unknowns) {
                    rank += 1;
                    reader.rows.push(row);
                }
            }
        }
        rank
    }
}
