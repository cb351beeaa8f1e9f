//! Gradients of the joints at an iterate, in the frames the dual system needs.

use super::Dual;
use crate::integrate::newton::NewtonBlock;
use crate::joint::rows::{Carried, Gradient, RowKind};
use crate::joint::{Joint, Side};
use crate::math::lanes::{gather, place};
use crate::math::small::*;
use crate::model::Model;

/// Rows of a joint besides its point: at most a whole joint without one.
const MAX_GENERAL: usize = 5;

/// The gradient of one row and its response, for one body.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GeneralRow {
    /// With respect to A, body frame.
    pub a: M3,
    /// With respect to t, world.
    pub t: V3,
    /// H̄⁻¹ of `a`, body frame.
    pub response: M3,
}

impl GeneralRow {
    const ZERO: GeneralRow = GeneralRow {
        a: [0.0; 9],
        t: [0.0; 3],
        response: [0.0; 9],
    };
}

/// A joint as one of its bodies feels it.
#[derive(Clone, Debug)]
pub(crate) struct SideRows {
    /// +1 for the first end, −1 for the second: the sign of its point rows.
    pub sign: f64,
    /// Attachment point in the body, m.
    pub point: V3,
    /// The rows that are not the point.
    pub general: [GeneralRow; MAX_GENERAL],
    /// How many of them are used.
    pub count: usize,
}

/// A linearised joint.
#[derive(Clone, Debug)]
pub(crate) struct JointRows {
    /// Whether the first three rows tie two points together.
    pub points: bool,
    pub a: SideRows,
    pub b: SideRows,
}

impl JointRows {
    pub(super) fn new(joint: &Joint) -> JointRows {
        let points = matches!(joint.row_kinds().first(), Some(RowKind::Point(0)));
        let count = joint.rows() - if points { 3 } else { 0 };
        let side = |side: &Side, sign| SideRows {
            sign,
            point: side.point,
            general: [GeneralRow::ZERO; MAX_GENERAL],
            count,
        };
        JointRows {
            points,
            a: side(&joint.a, 1.0),
            b: side(&joint.b, -1.0),
        }
    }
}

impl SideRows {
    /// Adds the rate of every row from the motion of this body.
    pub(super) fn add_rate(&self, rot: &M3, rate: &M3, v: &V3, points: bool, out: &mut [f64]) {
        let mut first = 0;
        if points {
            let velocity = add(v, &mul_vec(rot, &mul_vec(rate, &self.point)));
            for k in 0..3 {
                out[k] += self.sign * velocity[k];
            }
            first = 3;
        }
        for (k, row) in self.general[..self.count].iter().enumerate() {
            out[first + k] += dot9(&row.a, rate) + dot(&row.t, v);
        }
    }

    /// `Jᵀλ`: load on A in the body frame, force in the world.
    pub(super) fn transpose_multiply(&self, rot: &M3, points: bool, lambda: &[f64]) -> (M3, V3) {
        let mut load = [0.0; 9];
        let mut thrust = [0.0; 3];
        let mut first = 0;
        if points {
            thrust = scale(&[lambda[0], lambda[1], lambda[2]], self.sign);
            let f = tmul_vec(rot, &thrust);
            for i in 0..3 {
                for j in 0..3 {
                    load[3 * i + j] = f[i] * self.point[j];
                }
            }
            first = 3;
        }
        for (row, l) in self.general[..self.count].iter().zip(&lambda[first..]) {
            load = axpy9(&load, *l, &row.a);
            thrust = axpy(&thrust, *l, &row.t);
        }
        (load, thrust)
    }
}

/// Inner product of two matrices.
#[inline(always)]
pub(crate) fn dot9(a: &M3, b: &M3) -> f64 {
    let mut s = 0.0;
    for k in 0..9 {
        s += a[k] * b[k];
    }
    s
}

/// The two frames of a joint, carried by the iterates of its bodies.
pub(super) fn carried(joint: &Joint, work: &[NewtonBlock]) -> (Carried, Carried) {
    (carried_side(&joint.a, work), carried_side(&joint.b, work))
}

fn carried_side(side: &Side, work: &[NewtonBlock]) -> Carried {
    match side.endpoint.index() {
        None => Joint::carried(side, &IDENTITY, &[0.0; 3]),
        Some(body) => {
            let (block, lane) = place(body);
            Joint::carried(
                side,
                &gather(&work[block].a, lane),
                &gather(&work[block].t, lane),
            )
        }
    }
}

impl Dual {
    /// Gradients and responses of every row that is not a point.
    pub(super) fn linearize(&mut self, model: &Model, work: &[NewtonBlock]) {
        for (rows, joint) in self.joints.iter_mut().zip(&model.joints) {
            if rows.a.count == 0 {
                continue;
            }
            let (a, b) = carried(joint, work);
            let first = if rows.points { 3 } else { 0 };
            for k in 0..rows.a.count {
                let row = joint.linearize(first + k, &a, &b);
                set_row(&mut rows.a.general[k], &row.a, &joint.a, work);
                set_row(&mut rows.b.general[k], &row.b, &joint.b, work);
            }
        }
    }
}

fn set_row(row: &mut GeneralRow, gradient: &Gradient, side: &Side, work: &[NewtonBlock]) {
    let Some(body) = side.endpoint.index() else {
        return;
    };
    let (block, lane) = place(body);
    let rot: M3 = gather(&work[block].rot, lane);
    row.a = tmul(&rot, &gradient.a);
    row.t = gradient.t;
    row.response = work[block].inverse_of(lane).solve(&row.a);
}
