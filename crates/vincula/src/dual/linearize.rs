//! Gradients of the joints at an iterate, in the frames the dual system needs.

use super::Dual;
use super::ports::NO_PORT;
use super::squares::square_rows;
use crate::body::affine::Inverse;
use crate::integrate::newton::NewtonBlock;
use crate::joint::rows::{Carried, Gradient, RowKind};
use crate::joint::{Joint, Side};
use crate::math::lanes::{gather, place};
use crate::math::small::*;
use crate::model::Model;

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
    pub(super) const ZERO: GeneralRow = GeneralRow {
        a: [0.0; 9],
        t: [0.0; 3],
        response: [0.0; 9],
    };
}

/// The body of an end at the world.
pub(super) const WORLD: u32 = u32::MAX;

/// A joint as one of its bodies feels it. Small, because every pass reads all of them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SideRows {
    /// Attachment point in the body, m.
    pub point: V3,
    /// +1 for the first end, −1 for the second: the sign of its point rows.
    pub sign: f64,
    body: u32,
    /// The rows that are not the point: the first of them among `Dual::general`.
    pub general: u32,
    /// How many there are.
    pub count: u8,
    /// Port of the body that is this point.
    pub port: u8,
    /// Whether `axles.rs` looks after the rows that are not the point.
    pub axle: bool,
}

/// A linearised joint.
#[derive(Clone, Copy, Debug)]
pub(crate) struct JointRows {
    pub a: SideRows,
    pub b: SideRows,
    /// Whether the first three rows tie two points together.
    pub points: bool,
    /// Rows that are constraints; the others are laws along free coordinates.
    pub constraints: u8,
    /// The general rows that `squares.rs` looks after: the first, and how many.
    pub squares: (u8, u8),
}

impl JointRows {
    /// Makes room for the general rows of a joint.
    pub(super) fn new(joint: &Joint, general: &mut Vec<GeneralRow>) -> JointRows {
        let points = matches!(joint.row_kinds().first(), Some(RowKind::Point(0)));
        let count = joint.dual_rows() - if points { 3 } else { 0 };
        let mut side = |side: &Side, sign| {
            let first = general.len() as u32;
            general.resize(general.len() + count, GeneralRow::ZERO);
            SideRows {
                point: side.point,
                sign,
                body: side.endpoint.index().map_or(WORLD, |i| i as u32),
                general: first,
                count: count as u8,
                port: NO_PORT,
                axle: false,
            }
        };
        JointRows {
            a: side(&joint.a, 1.0),
            b: side(&joint.b, -1.0),
            points,
            constraints: joint.rows() as u8,
            squares: square_rows(joint, points),
        }
    }
}

impl JointRows {
    /// Whether nothing needs the gradients of its square rows.
    #[inline(always)]
    pub(super) fn is_braced(&self) -> bool {
        let braced = |side: &SideRows| side.axle || side.body == WORLD;
        (self.a.axle || self.b.axle) && braced(&self.a) && braced(&self.b)
    }

    /// Whether `squares.rs` looks after this general row.
    #[inline(always)]
    pub(super) fn is_square(&self, general: usize) -> bool {
        let (first, count) = self.squares;
        (first as usize..(first + count) as usize).contains(&general)
    }
}

impl SideRows {
    /// The body, if it is not the world.
    #[inline(always)]
    pub(super) fn body(&self) -> Option<usize> {
        (self.body != WORLD).then_some(self.body as usize)
    }

    /// Whether the kernels know where this end is.
    #[inline(always)]
    pub(super) fn ported(&self) -> bool {
        self.port != NO_PORT || self.body == WORLD
    }

    /// Its rows among all general rows.
    #[inline(always)]
    pub(super) fn rows<'a>(&self, general: &'a [GeneralRow]) -> &'a [GeneralRow] {
        &general[self.general as usize..self.general as usize + self.count as usize]
    }

    /// Velocity of the point, world.
    pub(super) fn point_velocity(&self, rot: &M3, rate: &M3, v: &V3) -> V3 {
        add(v, &mul_vec(rot, &mul_vec(rate, &self.point)))
    }

    /// Load of a force at the point, body frame.
    pub(super) fn point_load(&self, rot: &M3, force: &V3) -> M3 {
        let f = tmul_vec(rot, force);
        let mut load = [0.0; 9];
        for i in 0..3 {
            for j in 0..3 {
                load[3 * i + j] = f[i] * self.point[j];
            }
        }
        load
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

pub(super) fn carried_side(side: &Side, work: &[NewtonBlock]) -> Carried {
    let t = side.endpoint.index().map_or([0.0; 3], |body| {
        let (block, lane) = place(body);
        gather(&work[block].t, lane)
    });
    Joint::carried(side, &map_of(side, work), &t)
}

/// The map A of the body of a side; the world's is one.
pub(super) fn map_of(side: &Side, work: &[NewtonBlock]) -> M3 {
    side.endpoint.index().map_or(IDENTITY, |body| {
        let (block, lane) = place(body);
        gather(&work[block].a, lane)
    })
}

/// The same where the bodies were before the free solve moved them: the step equation is
/// linearised there.
pub(super) fn carried_before(side: &Side, work: &[NewtonBlock]) -> Carried {
    match side.endpoint.index() {
        None => carried_side(side, work),
        Some(body) => {
            let (block, lane) = place(body);
            let n = &work[block];
            let moved = mul(&gather(&n.rot, lane), &gather(&n.p, lane));
            let a = sub9(&gather(&n.a, lane), &moved);
            Joint::carried(side, &a, &gather(&n.t, lane))
        }
    }
}

impl Dual {
    /// Gradients of every row that is not a point, and their responses if a matrix is about to
    /// be assembled (`responds`). `moved` when the free solve has moved the bodies since the
    /// step equation was linearised.
    pub(super) fn linearize(
        &mut self,
        model: &Model,
        work: &[NewtonBlock],
        moved: bool,
        responds: bool,
    ) {
        self.linearize_border(model, work, moved);
        if self.general.is_empty() {
            return;
        }
        self.squares
            .linearize(self.level, work, moved, responds, &mut self.general);
        self.axles.exchange(work, moved, &mut self.ports);
        if responds {
            self.axles.respond(self.level, work, &mut self.ports);
        }
        for &index in &self.turning {
            let (rows, joint) = (&self.joints[index as usize], &model.joints[index as usize]);
            let (a, b) = if moved {
                (
                    carried_before(&joint.a, work),
                    carried_before(&joint.b, work),
                )
            } else {
                carried(joint, work)
            };
            let first = if rows.points { 3 } else { 0 };
            let frames = [Frame::of(&rows.a, work), Frame::of(&rows.b, work)];
            for k in (0..rows.a.count as usize).filter(|k| !rows.is_square(*k)) {
                let row = joint.linearize(first + k, &a, &b);
                let sides = [(&rows.a, &row.a), (&rows.b, &row.b)];
                for ((side, gradient), frame) in sides.into_iter().zip(&frames) {
                    if let Some(frame) = frame {
                        let row = &mut self.general[side.general as usize + k];
                        frame.set_row(row, gradient, responds);
                    }
                }
            }
        }
    }
}

/// What a body makes of a gradient.
struct Frame {
    rot: M3,
    inverse: Inverse,
}

impl Frame {
    #[inline(always)]
    fn of(side: &SideRows, work: &[NewtonBlock]) -> Option<Frame> {
        let (block, lane) = place(side.body()?);
        let n = &work[block];
        Some(Frame {
            rot: gather(&n.rot, lane),
            inverse: n.inverse_of(lane),
        })
    }

    #[inline(always)]
    fn set_row(&self, row: &mut GeneralRow, gradient: &Gradient, responds: bool) {
        row.a = tmul(&self.rot, &gradient.a);
        row.t = gradient.t;
        if responds {
            row.response = self.inverse.solve(&row.a);
        }
    }
}
