//! How a mechanism answers when something outside the joints moves one of its bodies.
//!
//! A body displaced by δ violates its rows by `J δ`; the joints answer with `λ = A⁻¹ J δ`, and
//! every body of the island moves by `−H⁻¹Jᵀλ` (the anticipation of Baraff 1996, section 8, in
//! affine coordinates). Contacts use it to feel the whole mechanism behind a body.

use vincula_blocks::MAX_BLOCK;

use super::Dual;
use super::assemble::{Response, couple};
use super::linearize::{GeneralRow, SideRows, dot9};
use crate::body::affine::Inverse;
use crate::contact::movers::increment;
use crate::integrate::newton::NewtonBlock;
use crate::math::lanes::{gather, place};
use crate::math::small::*;

/// Joints and rows at a body at most that `answer_of` looks at.
const MOST_JOINTS: usize = 6;
const MOST_OWN_ROWS: usize = 24;
const MOST_ENTRIES: usize = MOST_OWN_ROWS * MOST_OWN_ROWS;

impl Dual {
    /// The island of the joints at a body, and its number of rows.
    pub(crate) fn island_of(&self, body: usize) -> Option<(usize, usize)> {
        let island = self.island_at(body)?;
        Some((island, self.islands[island].plan.unknowns))
    }

    /// The island of the joints at a body.
    #[inline]
    pub(crate) fn island_at(&self, body: usize) -> Option<usize> {
        let end = *self.starts.get(body + 1)?;
        let incidence = self.incidences[self.starts[body]..end].first()?;
        Some(self.places[incidence.joint as usize].0 as usize)
    }

    /// Rows of an island that are looked at in this step.
    pub(crate) fn rows_in(&self, island: usize) -> usize {
        self.islands[island].matrix.pattern().dimension()
    }

    /// Calls `visit` with the island and the number of every row of every joint.
    pub(crate) fn for_each_row(&self, mut visit: impl FnMut(usize, usize)) {
        for joint in 0..self.joints.len() {
            let (island, _) = self.joints_place(joint);
            for row in self.offsets[joint]..self.offsets[joint + 1] {
                visit(island, row);
            }
        }
    }

    /// Calls `visit` with every row of the joints at a body, numbered as in its island: by how much
    /// a unit force (first three) or torque on the body, world, violates it if no joint answers.
    pub(crate) fn for_each_lever(
        &self,
        work: &[NewtonBlock],
        body: usize,
        mut visit: impl FnMut(usize, [f64; 6]),
    ) {
        let (block, lane) = place(body);
        let rot: M3 = gather(&work[block].rot, lane);
        let motions = unit_motions(&work[block].inverse_of(lane), &rot);
        for &incidence in &self.incidences[self.starts[body]..self.starts[body + 1]] {
            let joint = incidence.joint as usize;
            let (island, node) = self.joints_place(joint);
            let row = self.islands[island].matrix.pattern().row(node);
            let (side, points) = self.side(incidence);
            let general = side.rows(&self.general);
            let mut columns = [[0.0; MAX_BLOCK]; 6];
            for (axis, (column, (shift, p))) in columns.iter_mut().zip(&motions).enumerate() {
                match axis < 3 {
                    true => shift_side(side, points, general, shift, column),
                    false => reach_side(side, points, general, &rot, p, shift, column),
                }
            }
            for k in 0..self.rows_of(joint).len() {
                visit(row + k, std::array::from_fn(|axis| columns[axis][k]));
            }
        }
    }

    /// Overwrites six columns of rows of an island by the forces that answer them, N.
    pub(crate) fn answer_six(&mut self, island: usize, rows: &mut [[f64; 6]]) {
        self.islands[island].answer_six(rows);
    }

    /// Chooses the joints at these bodies of an island for `answer_chosen`.
    pub(crate) fn choose(&mut self, island: usize, bodies: impl Iterator<Item = usize>) {
        let Dual {
            islands,
            incidences,
            starts,
            places,
            ..
        } = self;
        let at_body = |body: usize| &incidences[starts[body]..starts[body + 1]];
        let joints = bodies.flat_map(at_body).map(|at| at.joint as usize);
        islands[island].choose(joints.map(|joint| places[joint].1 as usize));
    }

    /// Overwrites the rows of an island, which are zero but at the chosen joints, by the forces that
    /// answer them there, N.
    pub(crate) fn answer_chosen(&mut self, island: usize, rows: &mut [f64]) {
        self.islands[island].answer_chosen(rows);
    }

    /// What a body answers to a force and a torque on it when its own joints do and the bodies
    /// at their other ends are free: `S − B (J H⁻¹Jᵀ)⁻¹ Bᵀ` over these joints, 6×6. `plain` is S,
    /// the answer without joints.
    pub(crate) fn answer_of(
        &self,
        work: &[NewtonBlock],
        body: usize,
        plain: &[f64; 36],
    ) -> [f64; 36] {
        let at_body = &self.incidences[self.starts[body]..self.starts[body + 1]];
        let mut first = [0usize; MOST_JOINTS + 1];
        if at_body.len() > MOST_JOINTS {
            return *plain;
        }
        for (k, at) in at_body.iter().enumerate() {
            first[k + 1] = first[k] + self.joints[at.joint as usize].constraints as usize;
        }
        let rows = first[at_body.len()];
        if rows > MOST_OWN_ROWS {
            return *plain;
        }
        // The compiler unrolls what is of a known size.
        let taken = match rows {
            6 => self.taken_by_joints::<6, 36>(work, body, &first, 6),
            _ => self.taken_by_joints::<MOST_OWN_ROWS, MOST_ENTRIES>(work, body, &first, rows),
        };
        let Some(taken) = taken else {
            return *plain;
        };
        let mut block = std::array::from_fn(|k| plain[k] - taken[k]);
        // A body that its joints hold fast still has a trace of what it would do alone.
        for i in 0..6 {
            block[7 * i] += 1e-9 * plain[7 * i];
        }
        block
    }

    /// B (J H⁻¹Jᵀ)⁻¹ Bᵀ of `answer_of`, in room for so many rows and entries. Nothing if there is no inverse.
    #[inline(always)]
    fn taken_by_joints<const ROWS: usize, const ENTRIES: usize>(
        &self,
        work: &[NewtonBlock],
        body: usize,
        first: &[usize],
        rows: usize,
    ) -> Option<[f64; 36]> {
        let at_body = &self.incidences[self.starts[body]..self.starts[body + 1]];
        let mut matrix = [0.0; ENTRIES];
        self.own_matrix(work, body, first, &mut matrix);
        // Columns of B: the violation that a unit force or torque causes.
        let (block, lane) = place(body);
        let rot: M3 = gather(&work[block].rot, lane);
        let inverse = work[block].inverse_of(lane);
        let mut b = [[0.0; ROWS]; 6];
        let motions = unit_motions(&inverse, &rot);
        for (column, (shift, p)) in b.iter_mut().zip(&motions) {
            for (k, at) in at_body.iter().enumerate() {
                let (side, points) = self.side(*at);
                let out = &mut column[first[k]..first[k + 1]];
                reach_side(side, points, side.rows(&self.general), &rot, p, shift, out);
            }
        }
        if !forward(&mut matrix[..rows * rows], rows, &mut b) {
            return None;
        }
        Some(std::array::from_fn(|e| {
            let (i, j) = (e / 6, e % 6);
            (0..rows).map(|r| b[i][r] * b[j][r]).sum()
        }))
    }

    /// J H⁻¹Jᵀ over the joints at a body, row-major, with what the bodies at both ends answer.
    fn own_matrix(&self, work: &[NewtonBlock], body: usize, first: &[usize], matrix: &mut [f64]) {
        let at_body = &self.incidences[self.starts[body]..self.starts[body + 1]];
        let rows = first[at_body.len()];
        if rows == 6 && self.copy_own(body, matrix) {
            return;
        }
        let response = response_of(work, body);
        let mut add = |i: usize, j: usize, ends: [super::Incidence; 2], response: &Response| {
            let mut values = [0.0; 36];
            let [one, two] = [self.end(ends[0]), self.end(ends[1])];
            couple(&mut values, one, two, response, None);
            let width = self.rows_of(ends[1].joint as usize).len();
            for r in 0..first[i + 1] - first[i] {
                for c in 0..first[j + 1] - first[j] {
                    matrix[(first[i] + r) * rows + first[j] + c] += values[r * width + c];
                }
            }
        };
        for (i, one) in at_body.iter().enumerate() {
            for (j, two) in at_body.iter().enumerate() {
                add(i, j, [*one, *two], &response);
            }
            let other = super::Incidence {
                first: !one.first,
                ..*one
            };
            if let Some(neighbour) = self.side(other).0.body() {
                add(i, i, [other, other], &response_of(work, neighbour));
            }
        }
    }

    /// The same for a link of a chain of ball joints, whose matrix is made of just that. False for
    /// another body.
    fn copy_own(&self, body: usize, matrix: &mut [f64]) -> bool {
        let at_body = &self.incidences[self.starts[body]..self.starts[body + 1]];
        let [one, two] = at_body else { return false };
        let [(island, i), (_, j)] = [one, two].map(|at| self.joints_place(at.joint as usize));
        let whole = &self.islands[island].matrix;
        let pattern = whole.pattern();
        if !self.is_line(island) || pattern.size(i) != 3 || pattern.size(j) != 3 {
            return false;
        }
        let Some(edge) = whole.edge_index(i, j) else {
            return false;
        };
        let (edge, own) = (whole.edge(edge), [whole.diagonal(i), whole.diagonal(j)]);
        for (r, c) in (0..3).flat_map(|r| (0..3).map(move |c| (r, c))) {
            // Edges are stored from the lower to the higher node.
            let between = edge[if i < j { 3 * r + c } else { 3 * c + r }];
            matrix[6 * r + c] = own[0][3 * r + c];
            matrix[6 * (3 + r) + 3 + c] = own[1][3 * r + c];
            matrix[6 * r + 3 + c] = between;
            matrix[6 * (3 + c) + r] = between;
        }
        true
    }
}

/// Displacement and increment P of A of a body under a unit force (first three) or torque, world,
/// if it had no joints.
fn unit_motions(inverse: &Inverse, rot: &M3) -> [(V3, M3); 6] {
    let mut motions = [([0.0; 3], [0.0; 9]); 6];
    for axis in 0..3 {
        let mut unit = [0.0; 3];
        unit[axis] = 1.0;
        motions[axis].0[axis] = inverse.translation;
        motions[3 + axis].1 = increment(inverse, rot, &unit);
    }
    motions
}

/// Adds `J δ` of one end of a joint to its rows, as many as there is room for.
#[inline(always)]
pub(super) fn reach_side(
    side: &SideRows,
    points: bool,
    general: &[GeneralRow],
    rot: &M3,
    p: &M3,
    shift: &V3,
    rows: &mut [f64],
) {
    let mut first = 0;
    if points {
        let moved = add(shift, &mul_vec(rot, &mul_vec(p, &side.point)));
        for k in 0..3 {
            rows[k] += side.sign * moved[k];
        }
        first = 3;
    }
    for (row, general) in rows[first..].iter_mut().zip(general) {
        *row += dot9(&general.a, p) + dot(&general.t, shift);
    }
}

/// The same where the body is only shifted.
#[inline(always)]
fn shift_side(side: &SideRows, points: bool, general: &[GeneralRow], shift: &V3, rows: &mut [f64]) {
    let mut first = 0;
    if points {
        for k in 0..3 {
            rows[k] += side.sign * shift[k];
        }
        first = 3;
    }
    for (row, general) in rows[first..].iter_mut().zip(general) {
        *row += dot(&general.t, shift);
    }
}

fn response_of(work: &[NewtonBlock], body: usize) -> Response {
    let (block, lane) = place(body);
    Response {
        rot: gather(&work[block].rot, lane),
        inverse: work[block].inverse_of(lane),
    }
}

/// Cholesky of a small matrix, and the forward half of the solve for six right-hand sides. False
/// if it is not positive definite.
#[inline(always)]
fn forward<const ROWS: usize>(a: &mut [f64], n: usize, b: &mut [[f64; ROWS]; 6]) -> bool {
    for i in 0..n {
        for j in 0..=i {
            let sum: f64 = (0..j).map(|k| a[i * n + k] * a[j * n + k]).sum();
            let value = a[i * n + j] - sum;
            a[i * n + j] = if j < i {
                value / a[j * (n + 1)]
            } else if value > 1e-12 * a[i * (n + 1)] {
                value.sqrt()
            } else {
                return false;
            };
        }
        for column in b.iter_mut() {
            let sum: f64 = (0..i).map(|k| a[i * n + k] * column[k]).sum();
            column[i] = (column[i] - sum) / a[i * (n + 1)];
        }
    }
    true
}
