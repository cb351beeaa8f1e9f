//! Rows that keep two axes square, eight joints at a time.
//!
//! Hinges, universal and fixed joints are a point and some of these rows,
//! `C = ℓ u·w` with `u = A_a ū` and `w = A_b w̄`. Their gradients `ℓ w ⊗ ū` and `ℓ u ⊗ w̄` are
//! all of one form, so that eight joints with the same number of them go through one kernel.

use super::Dual;
use super::linearize::{GeneralRow, JointRows, WORLD};
use crate::body::affine::Inverse;
use crate::integrate::Scheme;
use crate::integrate::newton::NewtonBlock;
use crate::integrate::tempered::Turning;
use crate::joint::Joint;
use crate::joint::rows::RowKind;
use crate::kernel;
use crate::math::dispatch::Level;
use crate::math::lanes::{LANES, Lane, gather, place, scatter};
use crate::math::small::*;
use crate::model::{Model, ParamBlock, State};

/// The axes of a row in the two bodies.
type Axes = [[Lane; 3]; 2];
/// A matrix at either end of eight joints.
type Ends = [[Lane; 9]; 2];

/// Up to eight joints with equally many square rows.
#[derive(Clone, Debug)]
struct Eight {
    /// Joints in use.
    used: usize,
    /// The bodies of either end.
    bodies: [[u32; LANES]; 2],
    /// The first of the rows, among the general rows of either end and in the dual system.
    general: [[u32; LANES]; 2],
    rows: [u32; LANES],
    length: Lane,
    axes: Vec<Axes>,
    /// Whether axles look after these joints (`axles.rs`), but for their turning.
    braced: bool,
}

/// All square rows of a model.
#[derive(Debug, Default)]
pub(super) struct Squares {
    eights: Vec<Eight>,
    /// The torque on each body of a block with such joints, body frame, N m.
    torques: Vec<(u32, [Lane; 3])>,
    /// Where the torque of a block is, or NONE.
    torque_of: Vec<u32>,
}

const NONE: u32 = u32::MAX;

/// Which of the general rows of a joint are square rows: they follow each other.
pub(super) fn square_rows(joint: &Joint, points: bool) -> (u8, u8) {
    let is_square = |row: &&RowKind| matches!(row, RowKind::Square(..));
    let skipped = if points { 3 } else { 0 };
    let kinds = &joint.row_kinds()[skipped..];
    let first = kinds.iter().take_while(|row| !is_square(row)).count();
    let count = kinds[first..].iter().take_while(is_square).count();
    (first as u8, count as u8)
}

impl Squares {
    /// Sorts the rows of a model; `offsets` is where the rows of each joint start.
    pub fn new(model: &Model, joints: &[JointRows], offsets: &[usize]) -> Squares {
        let mut squares = Squares {
            torque_of: vec![NONE; model.params.len()],
            ..Squares::default()
        };
        // Joints of one count, with axles and without, that are being gathered.
        let mut open: [[Option<usize>; 4]; 2] = [[None; 4]; 2];
        for (index, (joint, rows)) in model.joints.iter().zip(joints).enumerate() {
            let count = rows.squares.1 as usize;
            if count == 0 {
                continue;
            }
            let open = &mut open[usize::from(rows.is_braced())][count];
            let eight = *open.get_or_insert_with(|| {
                squares.eights.push(Eight::new(count, rows.is_braced()));
                squares.eights.len() - 1
            });
            let eight = &mut squares.eights[eight];
            eight.add(joint, rows, offsets[index]);
            if eight.used == LANES {
                *open = None;
            }
            for body in [rows.a.body(), rows.b.body()].into_iter().flatten() {
                let block = place(body).0;
                if squares.torque_of[block] == NONE {
                    squares.torque_of[block] = squares.torques.len() as u32;
                    squares.torques.push((block as u32, [[0.0; LANES]; 3]));
                }
            }
        }
        squares
    }
}

impl Eight {
    fn new(count: usize, braced: bool) -> Eight {
        Eight {
            used: 0,
            bodies: [[WORLD; LANES]; 2],
            general: [[0; LANES]; 2],
            rows: [0; LANES],
            length: [0.0; LANES],
            axes: vec![[[[0.0; LANES]; 3]; 2]; count],
            braced,
        }
    }

    fn add(&mut self, joint: &Joint, rows: &JointRows, offset: usize) {
        let lane = self.used;
        self.used += 1;
        let (first, count) = (rows.squares.0 as usize, rows.squares.1 as usize);
        let skipped = if rows.points { 3 } else { 0 };
        for (end, side) in [&rows.a, &rows.b].into_iter().enumerate() {
            self.bodies[end][lane] = side.body().map_or(WORLD, |body| body as u32);
            self.general[end][lane] = side.general + first as u32;
        }
        self.rows[lane] = (offset + skipped + first) as u32;
        self.length[lane] = joint.length;
        let kinds = &joint.row_kinds()[skipped + first..][..count];
        for (axes, kind) in self.axes.iter_mut().zip(kinds) {
            if let RowKind::Square(i, j) = kind {
                scatter(&mut axes[0], lane, &joint.a.axes[*i]);
                scatter(&mut axes[1], lane, &joint.b.axes[*j]);
            }
        }
    }

    /// Gathers numbers of the bodies at either end, which `blocks` has; those of the world are
    /// given.
    #[inline(always)]
    fn gather<'a, const N: usize>(
        &self,
        world: &[f64; N],
        blocks: impl Fn(usize) -> &'a [Lane; N],
        ends: &mut [[Lane; N]; 2],
    ) {
        for (end, bodies) in ends.iter_mut().zip(&self.bodies) {
            let (first, lane) = place(bodies[0] as usize);
            let in_line = |k: usize| bodies[k] == bodies[0].wrapping_add(k as u32);
            if lane == 0 && bodies[0] != WORLD && (1..LANES).all(in_line) {
                *end = *blocks(first);
                continue;
            }
            for lane in 0..LANES {
                if bodies[lane] == WORLD {
                    scatter(end, lane, world);
                } else {
                    let (block, at) = place(bodies[lane] as usize);
                    scatter(end, lane, &gather(blocks(block), at));
                }
            }
        }
    }
}

/// Room for a matrix at either end.
const NO_ENDS: Ends = [[[0.0; LANES]; 9]; 2];

/// Gradients of one row of eight joints, and their responses.
struct Gradients {
    a: Ends,
    response: Ends,
}

kernel! {
    /// A before the free solve moved it.
    fn go_back(rot: &Ends, p: &Ends, a: &mut Ends) = go_back_lanes
}

#[inline(always)]
fn go_back_lanes(rot: &Ends, p: &Ends, a: &mut Ends) {
    for end in 0..2 {
        for lane in 0..LANES {
            let moved = mul(&gather(&rot[end], lane), &gather(&p[end], lane));
            let before = sub9(&gather(&a[end], lane), &moved);
            scatter(&mut a[end], lane, &before);
        }
    }
}

kernel! {
    /// Gradients of a row in the body frames.
    fn find_gradients(axes: &Axes, length: &Lane, a: &Ends, rot: &Ends, out: &mut Ends) = find_gradients_lanes
}

#[inline(always)]
fn find_gradients_lanes(axes: &Axes, length: &Lane, a: &Ends, rot: &Ends, out: &mut Ends) {
    for lane in 0..LANES {
        let [own_a, own_b]: [V3; 2] = [gather(&axes[0], lane), gather(&axes[1], lane)];
        let u = mul_vec(&gather(&a[0], lane), &own_a);
        let w = mul_vec(&gather(&a[1], lane), &own_b);
        let x = scale(&tmul_vec(&gather(&rot[0], lane), &w), length[lane]);
        let y = scale(&tmul_vec(&gather(&rot[1], lane), &u), length[lane]);
        scatter(&mut out[0], lane, &outer(&x, &own_a));
        scatter(&mut out[1], lane, &outer(&y, &own_b));
    }
}

kernel! {
    /// H̄⁻¹ of eight gradients.
    fn find_responses(inverse: &[Lane; 16], a: &[Lane; 9], out: &mut [Lane; 9]) = find_responses_lanes
}

#[inline(always)]
fn find_responses_lanes(inverse: &[Lane; 16], a: &[Lane; 9], out: &mut [Lane; 9]) {
    for lane in 0..LANES {
        let inverse = Inverse::from_numbers(&gather(inverse, lane));
        scatter(out, lane, &inverse.solve(&gather(a, lane)));
    }
}

kernel! {
    /// Values of a row, m.
    fn find_values(axes: &Axes, length: &Lane, a: &Ends, out: &mut Lane) = find_values_lanes
}

#[inline(always)]
fn find_values_lanes(axes: &Axes, length: &Lane, a: &Ends, out: &mut Lane) {
    for lane in 0..LANES {
        let u = mul_vec(&gather(&a[0], lane), &gather(&axes[0], lane));
        let w = mul_vec(&gather(&a[1], lane), &gather(&axes[1], lane));
        out[lane] = length[lane] * dot(&u, &w);
    }
}

kernel! {
    /// The torques, body frames, that a row with the given forces loses at either end while the
    /// maps go from `before` to `after`.
    fn add_torques(axes: &Axes, force: &Lane, before: &Ends, after: &Ends, rot: &Ends, out: &mut [[Lane; 3]; 2]) = add_torques_lanes
}

#[inline(always)]
fn add_torques_lanes(
    axes: &Axes,
    force: &Lane,
    before: &Ends,
    after: &Ends,
    rot: &Ends,
    out: &mut [[Lane; 3]; 2],
) {
    for lane in 0..LANES {
        let own: [V3; 2] = [gather(&axes[0], lane), gather(&axes[1], lane)];
        for end in 0..2 {
            let other = 1 - end;
            let was = mul_vec(&gather(&before[other], lane), &own[other]);
            let is = mul_vec(&gather(&after[other], lane), &own[other]);
            let turned = scale(&sub(&was, &is), -force[lane]);
            let local = tmul_vec(&gather(&rot[end], lane), &turned);
            let torque = scale(&axial(&outer(&local, &own[end])), 2.0);
            let sum: V3 = gather(&out[end], lane);
            scatter(&mut out[end], lane, &add(&sum, &torque));
        }
    }
}

kernel! {
    /// Adds torques to the loads from outside the dual system.
    fn add_loads(params: &ParamBlock, scheme: &Scheme, torque: &[Lane; 3], n: &mut NewtonBlock) = add_loads_lanes
}

#[inline(always)]
fn add_loads_lanes(params: &ParamBlock, scheme: &Scheme, torque: &[Lane; 3], n: &mut NewtonBlock) {
    for lane in 0..LANES {
        let affine = params.affine(lane);
        let turning = Turning::new(&affine, scheme, &gather(&n.held, lane));
        let load = turning.load(&affine, scheme, &gather(torque, lane));
        let force: M3 = gather(&n.force, lane);
        let load = mul(&gather(&n.rot, lane), &load);
        scatter(&mut n.force, lane, &axpy9(&force, 1.0, &load));
    }
}

impl Squares {
    /// Gradients of all rows, and their responses if asked for; see `Dual::linearize`.
    pub fn linearize(
        &self,
        level: Level,
        work: &[NewtonBlock],
        moved: bool,
        responds: bool,
        general: &mut [GeneralRow],
    ) {
        let mut row = Gradients {
            a: NO_ENDS,
            response: NO_ENDS,
        };
        let (mut rot, mut a, mut p) = (NO_ENDS, NO_ENDS, NO_ENDS);
        let mut inverse = [[[0.0; LANES]; 16]; 2];
        for eight in self.eights.iter().filter(|eight| !eight.braced) {
            eight.gather(&IDENTITY, |block| &work[block].rot, &mut rot);
            eight.gather(&IDENTITY, |block| &work[block].a, &mut a);
            if moved {
                eight.gather(&[0.0; 9], |block| &work[block].p, &mut p);
                go_back(level, &rot, &p, &mut a);
            }
            if responds {
                eight.gather(&[0.0; 16], |block| &work[block].inverse, &mut inverse);
            }
            for (k, axes) in eight.axes.iter().enumerate() {
                find_gradients(level, axes, &eight.length, &a, &rot, &mut row.a);
                if responds {
                    for end in 0..2 {
                        find_responses(level, &inverse[end], &row.a[end], &mut row.response[end]);
                    }
                }
                eight.keep(k, &row, responds, general);
            }
        }
    }

    /// Values of all rows at the iterate, m.
    pub fn measure(&self, level: Level, work: &[NewtonBlock], rows: &mut [f64]) {
        let (mut values, mut a) = ([0.0; LANES], NO_ENDS);
        for eight in self.eights.iter().filter(|eight| !eight.braced) {
            eight.gather(&IDENTITY, |block| &work[block].a, &mut a);
            for (k, axes) in eight.axes.iter().enumerate() {
                find_values(level, axes, &eight.length, &a, &mut values);
                for lane in 0..eight.used {
                    rows[eight.rows[lane] as usize + k] = values[lane];
                }
            }
        }
    }
}

impl Eight {
    /// Puts the gradients of row k where the dual system reads them.
    #[inline(always)]
    fn keep(&self, k: usize, row: &Gradients, responds: bool, general: &mut [GeneralRow]) {
        for end in 0..2 {
            for lane in 0..self.used {
                let target = &mut general[self.general[end][lane] as usize + k];
                target.a = gather(&row.a[end], lane);
                if responds {
                    target.response = gather(&row.response[end], lane);
                }
            }
        }
    }
}

impl Dual {
    /// The part of `add_turning_loads` of square rows, for the given forces of all rows, N.
    pub(super) fn turn_squares(
        &mut self,
        model: &Model,
        state: &State,
        scheme: &Scheme,
        forces: &[f64],
        work: &mut [NewtonBlock],
    ) {
        let Squares {
            eights,
            torques,
            torque_of,
        } = &mut self.squares;
        for (_, torque) in torques.iter_mut() {
            *torque = [[0.0; LANES]; 3];
        }
        let (mut before, mut after, mut rot) = (NO_ENDS, NO_ENDS, NO_ENDS);
        for eight in eights.iter() {
            eight.gather(&IDENTITY, |block| &state.blocks[block].a, &mut before);
            eight.gather(&IDENTITY, |block| &work[block].a, &mut after);
            eight.gather(&IDENTITY, |block| &work[block].rot, &mut rot);
            let mut lost = [[[0.0; LANES]; 3]; 2];
            for (k, axes) in eight.axes.iter().enumerate() {
                let mut force = [0.0; LANES];
                for lane in 0..eight.used {
                    force[lane] = eight.length[lane] * forces[eight.rows[lane] as usize + k];
                }
                add_torques(self.level, axes, &force, &before, &after, &rot, &mut lost);
            }
            for (end, bodies) in eight.bodies.iter().enumerate() {
                for lane in (0..eight.used).filter(|lane| bodies[*lane] != WORLD) {
                    let (block, at) = place(bodies[lane] as usize);
                    let torque = &mut torques[torque_of[block] as usize].1;
                    let sum = add(&gather(torque, at), &gather(&lost[end], lane));
                    scatter(torque, at, &sum);
                }
            }
        }
        for (block, torque) in torques.iter() {
            let block = *block as usize;
            let params = &model.params[block];
            add_loads(self.level, params, scheme, torque, &mut work[block]);
        }
    }
}
