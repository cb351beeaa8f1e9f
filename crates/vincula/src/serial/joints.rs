//! Eight joints at a time: what they ask of the bodies before and after them, and what they tell
//! them. Each kernel is the arithmetic of the general step (`crate::dual`), lane by lane.

use vincula_blocks::braid::BraidNode;

use super::shape::{Eight, Layout, Rows, SIZE, Slot};
use crate::dual::axles::{Axes, AxleBlock, ROWS};
use crate::dual::larger;
use crate::kernel;
use crate::math::angle;
use crate::math::lanes::{LANES, Lane, gather, scatter};
use crate::math::small::*;

/// What the first ends of eight joints see of the bodies before them, of which those in `own` are
/// in the block of the joints.
#[inline(always)]
fn before<const LINE: bool>(last: &Lane, own: &Lane) -> Lane {
    if LINE {
        [
            last[7], own[0], own[1], own[2], own[3], own[4], own[5], own[6],
        ]
    } else {
        *last
    }
}

/// What eight bodies see of the joints after them.
#[inline(always)]
fn after<const LINE: bool>(own: &Lane, next: &Lane) -> Lane {
    if LINE {
        [
            own[1], own[2], own[3], own[4], own[5], own[6], own[7], next[0],
        ]
    } else {
        *next
    }
}

/// Vectors of the rows of three blocks of bodies that follow each other.
pub(super) type Neighbours<'a> = [&'a Axes; 3];

kernel! {
    /// Tells eight bodies a vector of the other body of each row, times the length of its joint.
    pub(super) fn exchange(layout: Layout, from: Neighbours<'_>, lengths: [&Lane; 2], other: &mut Axes) = exchange_lanes
}

#[inline(always)]
fn exchange_lanes(layout: Layout, from: Neighbours<'_>, lengths: [&Lane; 2], other: &mut Axes) {
    match layout {
        Layout::InLine => exchange_in::<true>(from, lengths, other),
        Layout::Beside => exchange_in::<false>(from, lengths, other),
    }
}

#[inline(always)]
fn exchange_in<const LINE: bool>(
    [last, own, next]: Neighbours<'_>,
    [length, next_length]: [&Lane; 2],
    other: &mut Axes,
) {
    let next_length = after::<LINE>(length, next_length);
    for k in 0..ROWS {
        for i in 0..3 {
            let a = before::<LINE>(&last[ROWS + k][i], &own[ROWS + k][i]);
            let b = after::<LINE>(&own[k][i], &next[k][i]);
            for lane in 0..LANES {
                other[k][i][lane] = a[lane] * length[lane];
                other[ROWS + k][i][lane] = b[lane] * next_length[lane];
            }
        }
    }
}

kernel! {
    /// How far axes have turned back from the maps `after` to the maps `before`, world.
    pub(super) fn find_lost(own: &Axes, before: &[Lane; 9], after: &[Lane; 9], lost: &mut Axes) = find_lost_lanes
}

#[inline(always)]
fn find_lost_lanes(own: &Axes, before: &[Lane; 9], after: &[Lane; 9], lost: &mut Axes) {
    for lane in 0..LANES {
        let (was, is): (M3, M3) = (gather(before, lane), gather(after, lane));
        for (own, lost) in own.iter().zip(lost.iter_mut()) {
            let own: V3 = gather(own, lane);
            scatter(lost, lane, &sub(&mul_vec(&was, &own), &mul_vec(&is, &own)));
        }
    }
}

kernel! {
    /// The torques, body frame, that rows with these forces lose while the axes that `other` has
    /// turn by that much.
    pub(super) fn find_torques(own: &Axes, other: &Axes, force: &[Lane; 2 * ROWS], rot: &[Lane; 9], torque: &mut [Lane; 3]) = find_torques_lanes
}

#[inline(always)]
fn find_torques_lanes(
    own: &Axes,
    other: &Axes,
    force: &[Lane; 2 * ROWS],
    rot: &[Lane; 9],
    torque: &mut [Lane; 3],
) {
    for lane in 0..LANES {
        let rot: M3 = gather(rot, lane);
        let mut sum = [0.0; 3];
        for port in 0..2 {
            let mut lost = [0.0; 3];
            for k in port * ROWS..(port + 1) * ROWS {
                let turned = scale(&gather(&other[k], lane), -force[k][lane]);
                let local = tmul_vec(&rot, &turned);
                let more = scale(&axial(&outer(&local, &gather(&own[k], lane))), 2.0);
                lost = add(&lost, &more);
            }
            sum = add(&sum, &lost);
        }
        scatter(torque, lane, &sum);
    }
}

/// Forces of the square rows before and after eight bodies.
pub(super) fn port_forces(
    layout: Layout,
    own: &[Lane; ROWS],
    next: &[Lane; ROWS],
) -> [Lane; 2 * ROWS] {
    let mut force = [[0.0; LANES]; 2 * ROWS];
    for k in 0..ROWS {
        force[k] = own[k];
        force[ROWS + k] = match layout {
            Layout::InLine => after::<true>(&own[k], &next[k]),
            Layout::Beside => after::<false>(&own[k], &next[k]),
        };
    }
    force
}

kernel! {
    /// Tells the bodies the forces of the joints before and after them.
    pub(super) fn put_forces(layout: Layout, own: &Rows, next: &Rows, slot: &mut Slot) = put_forces_lanes
}

#[inline(always)]
fn put_forces_lanes(layout: Layout, own: &Rows, next: &Rows, slot: &mut Slot) {
    match layout {
        Layout::InLine => put_forces_in::<true>(own, next, slot),
        Layout::Beside => put_forces_in::<false>(own, next, slot),
    }
}

#[inline(always)]
fn put_forces_in<const LINE: bool>(own: &Rows, next: &Rows, slot: &mut Slot) {
    for k in 0..3 {
        for lane in 0..LANES {
            slot.ports.force[0][k][lane] = 0.0 - own[k][lane];
        }
        slot.ports.force[1][k] = after::<LINE>(&own[k], &next[k]);
    }
    for k in 0..ROWS {
        slot.axles.force[k] = own[3 + k];
        slot.axles.force[ROWS + k] = after::<LINE>(&own[3 + k], &next[3 + k]);
    }
}

kernel! {
    /// Violation of the rows of eight joints, m; returns the largest.
    pub(super) fn find_gaps(layout: Layout, last: &Slot, own: &Slot, eight: &Eight, rows: &mut Rows) -> f64 = find_gaps_lanes
}

#[inline(always)]
fn find_gaps_lanes(layout: Layout, last: &Slot, own: &Slot, eight: &Eight, rows: &mut Rows) -> f64 {
    match layout {
        Layout::InLine => find_gaps_in::<true>(last, own, &eight.length, rows),
        Layout::Beside => find_gaps_in::<false>(last, own, &eight.length, rows),
    }
    keep_used(eight, rows)
}

#[inline(always)]
fn find_gaps_in<const LINE: bool>(last: &Slot, own: &Slot, length: &Lane, rows: &mut Rows) {
    for k in 0..3 {
        let a = before::<LINE>(&last.ports.place[1][k], &own.ports.place[1][k]);
        for lane in 0..LANES {
            rows[k][lane] = a[lane] - own.ports.place[0][k][lane];
        }
    }
    for k in 0..ROWS {
        let (far, near, w) = (
            &last.axles.world[ROWS + k],
            &own.axles.world,
            &own.axles.world[k],
        );
        let x = before::<LINE>(&far[0], &near[ROWS + k][0]);
        let y = before::<LINE>(&far[1], &near[ROWS + k][1]);
        let z = before::<LINE>(&far[2], &near[ROWS + k][2]);
        for lane in 0..LANES {
            let along = x[lane] * w[0][lane] + y[lane] * w[1][lane] + z[lane] * w[2][lane];
            rows[3 + k][lane] = length[lane] * along;
        }
    }
}

kernel! {
    /// h times the rate of the rows of eight joints, m; returns the largest.
    pub(super) fn find_drifts(layout: Layout, last: &Slot, own: &Slot, eight: &Eight, h: f64, rows: &mut Rows) -> f64 = find_drifts_lanes
}

#[inline(always)]
fn find_drifts_lanes(
    layout: Layout,
    last: &Slot,
    own: &Slot,
    eight: &Eight,
    h: f64,
    rows: &mut Rows,
) -> f64 {
    match layout {
        Layout::InLine => find_drifts_in::<true>(last, own, h, rows),
        Layout::Beside => find_drifts_in::<false>(last, own, h, rows),
    }
    keep_used(eight, rows)
}

#[inline(always)]
fn find_drifts_in<const LINE: bool>(last: &Slot, own: &Slot, h: f64, rows: &mut Rows) {
    for k in 0..3 {
        let a = before::<LINE>(&last.ports.place[1][k], &own.ports.place[1][k]);
        for lane in 0..LANES {
            rows[k][lane] = h * a[lane] + -h * own.ports.place[0][k][lane];
        }
    }
    for k in 0..ROWS {
        // The rate moves to the next lane, which takes less than moving both vectors.
        let a = before::<LINE>(&rates(&last.axles, ROWS + k), &rates(&own.axles, ROWS + k));
        let b = rates(&own.axles, k);
        for lane in 0..LANES {
            rows[3 + k][lane] = h * a[lane] + h * b[lane];
        }
    }
}

/// Rates of a row by the motion of eight bodies, m/s.
#[inline(always)]
fn rates(axles: &AxleBlock, k: usize) -> Lane {
    let (told, moving) = (&axles.other[k], &axles.moving[k]);
    let mut rate = [0.0; LANES];
    for lane in 0..LANES {
        rate[lane] = told[0][lane] * moving[0][lane]
            + told[1][lane] * moving[1][lane]
            + told[2][lane] * moving[2][lane];
    }
    rate
}

/// Clears the rows of joints that are not there; returns the largest of the others.
#[inline(always)]
fn keep_used(eight: &Eight, rows: &mut Rows) -> f64 {
    let mut worst = [0.0; LANES];
    for row in rows.iter_mut() {
        for lane in 0..LANES {
            row[lane] = if lane < eight.used { row[lane] } else { 0.0 };
            worst[lane] = larger(row[lane].abs(), worst[lane]);
        }
    }
    let [a, b, c, d] = [0, 1, 2, 3].map(|k| larger(worst[k], worst[k + 4]));
    larger(larger(a, b), larger(c, d))
}

kernel! {
    /// Angles of eight hinges between the maps of the bodies before them, of which those in `own`
    /// are in their block, and their own bodies; near what the angles were, rad.
    pub(super) fn find_angles(layout: Layout, last: &[Lane; 9], own: &[Lane; 9], eight: &Eight, angles: &mut Lane) = find_angles_lanes
}

#[inline(always)]
fn find_angles_lanes(
    layout: Layout,
    last: &[Lane; 9],
    own: &[Lane; 9],
    eight: &Eight,
    angles: &mut Lane,
) {
    let mut map = [[0.0; LANES]; 9];
    for k in 0..9 {
        map[k] = match layout {
            Layout::InLine => before::<true>(&last[k], &own[k]),
            Layout::Beside => before::<false>(&last[k], &own[k]),
        };
    }
    for lane in 0..LANES {
        let (a, b): (M3, M3) = (gather(&map, lane), gather(own, lane));
        let x = mul_vec(&b, &gather(&eight.angle[2], lane));
        let cosine = dot(&mul_vec(&a, &gather(&eight.angle[0], lane)), &x);
        let sine = dot(&mul_vec(&a, &gather(&eight.angle[1], lane)), &x);
        angles[lane] = angle::unwrap(angle::atan2(sine, cosine), angles[lane]);
    }
}

kernel! {
    /// The blocks of eight joints in the dual system: with themselves and with the next ones.
    pub(super) fn assemble(layout: Layout, last: &Slot, own: &Slot, eight: &Eight, node: &mut BraidNode<SIZE>) = assemble_lanes
}

#[inline(always)]
fn assemble_lanes(
    layout: Layout,
    last: &Slot,
    own: &Slot,
    eight: &Eight,
    node: &mut BraidNode<SIZE>,
) {
    match layout {
        Layout::InLine => assemble_in::<true>(last, own, eight, node),
        Layout::Beside => assemble_in::<false>(last, own, eight, node),
    }
}

/// Place of an entry of a symmetric 3×3 matrix among six.
const ENTRY: [[usize; 3]; 3] = [[0, 3, 4], [3, 1, 5], [4, 5, 2]];

#[inline(always)]
fn assemble_in<const LINE: bool>(
    last: &Slot,
    own: &Slot,
    eight: &Eight,
    node: &mut BraidNode<SIZE>,
) {
    let plus = |a: &Lane, b: &Lane| -> Lane { std::array::from_fn(|lane| a[lane] + b[lane]) };
    let minus = |a: &Lane, b: &Lane| -> Lane { std::array::from_fn(|lane| a[lane] - b[lane]) };
    for r in 0..3 {
        for c in 0..=r {
            let at = ENTRY[r][c];
            let a = before::<LINE>(
                &last.ports.compliances.own[1][at],
                &own.ports.compliances.own[1][at],
            );
            node.diagonal[r][c] = plus(&a, &own.ports.compliances.own[0][at]);
        }
        for c in 0..3 {
            node.coupling[r][c] = own.ports.compliances.mutual[3 * r + c].map(|x| -x);
        }
        for c in 0..ROWS {
            node.coupling[r][3 + c] = own.axles.points[ROWS + c][0][r].map(|x| -x);
        }
    }
    for r in 0..ROWS {
        let of_row = ROWS + r;
        for c in 0..3 {
            let a = before::<LINE>(
                &last.axles.points[of_row][1][c],
                &own.axles.points[of_row][1][c],
            );
            node.diagonal[3 + r][c] = minus(&a, &own.axles.points[r][0][c]);
            node.coupling[3 + r][c] = own.axles.points[r][1][c];
        }
        for c in 0..=r {
            let a = before::<LINE>(
                &last.axles.among[of_row][ROWS + c],
                &own.axles.among[of_row][ROWS + c],
            );
            node.diagonal[3 + r][3 + c] = plus(&a, &own.axles.among[r][c]);
        }
        for c in 0..ROWS {
            node.coupling[3 + r][3 + c] = own.axles.among[r][ROWS + c];
        }
        node.diagonal[3 + r][3 + r] = plus(&node.diagonal[3 + r][3 + r], &eight.pad[r]);
    }
}
