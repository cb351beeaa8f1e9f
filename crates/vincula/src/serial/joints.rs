//! Eight joints at a time: how far they are open, how they drift, the angles of hinges, and their
//! blocks in the dual system.

use vincula_blocks::braid::BraidNode;

use super::shape::{Eight, Found, NO_ROWS, Rows, SIZE};
use crate::dual::axles::{Among, AtPorts, ROWS};
use crate::dual::ports::Compliances;
use crate::kernel;
use crate::math::angle;
use crate::math::lanes::{LANES, Lane, each, gather, largest, sum};
use crate::math::small::*;

/// What the first ends of eight joints see of the bodies before them, of which those in `own` are
/// in the block of the joints.
#[inline(always)]
pub(super) fn before<const LINE: bool>(last: &Lane, own: &Lane) -> Lane {
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
pub(super) fn after<const LINE: bool>(own: &Lane, next: &Lane) -> Lane {
    if LINE {
        [
            own[1], own[2], own[3], own[4], own[5], own[6], own[7], next[0],
        ]
    } else {
        *next
    }
}

kernel! {
    /// How far eight joints are open; returns the largest gap, m.
    pub(super) fn find_gaps<LINE>(last: &Found, own: &Found, eight: &Eight, rows: &mut Rows) -> f64 = find_gaps_lanes
}

/// Violation of the rows of eight joints, m; returns the largest.
#[inline(always)]
pub(super) fn find_gaps_lanes<const LINE: bool>(
    last: &Found,
    own: &Found,
    eight: &Eight,
    rows: &mut Rows,
) -> f64 {
    let mut open = NO_ROWS;
    for k in 0..3 {
        let a = before::<LINE>(&last.place[1][k], &own.place[1][k]);
        open[k] = each(|lane| a[lane] - own.place[0][k][lane]);
    }
    for k in 0..ROWS {
        let (far, near, w) = (&last.world[ROWS + k], &own.world[ROWS + k], &own.world[k]);
        let x = before::<LINE>(&far[0], &near[0]);
        let y = before::<LINE>(&far[1], &near[1]);
        let z = before::<LINE>(&far[2], &near[2]);
        open[3 + k] = each(|lane| {
            let along = x[lane] * w[0][lane] + y[lane] * w[1][lane] + z[lane] * w[2][lane];
            eight.length[lane] * along
        });
    }
    keep_used(eight, &open, rows)
}

kernel! {
    /// How eight joints drift in a step of h seconds; returns the largest drift, m.
    pub(super) fn find_drifts<LINE>(last: &Found, own: &Found, eight: &Eight, h: f64, rows: &mut Rows) -> f64 = find_drifts_lanes
}

/// h times the rate of the rows of eight joints, m; returns the largest.
#[inline(always)]
fn find_drifts_lanes<const LINE: bool>(
    last: &Found,
    own: &Found,
    eight: &Eight,
    h: f64,
    rows: &mut Rows,
) -> f64 {
    let mut drift = NO_ROWS;
    for k in 0..3 {
        let a = before::<LINE>(&last.velocity[1][k], &own.velocity[1][k]);
        drift[k] = each(|lane| h * (a[lane] - own.velocity[0][k][lane]));
    }
    for k in 0..ROWS {
        let a = before::<LINE>(&last.rate[ROWS + k], &own.rate[ROWS + k]);
        drift[3 + k] = each(|lane| h * (a[lane] + own.rate[k][lane]));
    }
    keep_used(eight, &drift, rows)
}

/// Writes the rows of the joints that are there, zero for others; returns the largest, or what is
/// not a number if one is not finite.
#[inline(always)]
fn keep_used(eight: &Eight, all: &Rows, rows: &mut Rows) -> f64 {
    let (mut most, mut zero) = (NOTHING, NOTHING);
    for k in 0..SIZE {
        let used = each(|lane| all[k][lane] * eight.in_use[lane]);
        most = each(|lane| {
            let size = used[lane].abs();
            if size > most[lane] { size } else { most[lane] }
        });
        zero = each(|lane| zero[lane] + 0.0 * used[lane].abs());
        rows[k] = used;
    }
    largest(&most) + sum(&zero)
}

kernel! {
    /// Angles of eight hinges between the maps of the bodies before them, of which those in `own`
    /// are in their block, and their own bodies; near what the angles were, rad.
    pub(super) fn find_angles<LINE>(last: &[Lane; 9], own: &[Lane; 9], eight: &Eight, angles: &mut Lane) = find_angles_lanes
}

#[inline(always)]
fn find_angles_lanes<const LINE: bool>(
    last: &[Lane; 9],
    own: &[Lane; 9],
    eight: &Eight,
    angles: &mut Lane,
) {
    let mut map = [[0.0; LANES]; 9];
    for k in 0..9 {
        map[k] = before::<LINE>(&last[k], &own[k]);
    }
    for lane in 0..LANES {
        let (a, b): (M3, M3) = (gather(&map, lane), gather(own, lane));
        let x = mul_vec(&b, &gather(&eight.angle[2], lane));
        let cosine = dot(&mul_vec(&a, &gather(&eight.angle[0], lane)), &x);
        let sine = dot(&mul_vec(&a, &gather(&eight.angle[1], lane)), &x);
        angles[lane] = angle::unwrap(angle::atan2(sine, cosine), angles[lane]);
    }
}

/// How eight bodies give way to their joints.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(super) struct Response {
    pub compliances: Compliances,
    pub points: AtPorts,
    pub among: Among,
}

impl Response {
    /// Of the world.
    pub const NONE: Response = Response {
        compliances: Compliances::NONE,
        points: [[[[0.0; LANES]; 3]; 2]; 2 * ROWS],
        among: [[[0.0; LANES]; 2 * ROWS]; 2 * ROWS],
    };
}

const NOTHING: Lane = [0.0; LANES];

#[inline(always)]
fn plus(a: &Lane, b: &Lane) -> Lane {
    each(|lane| a[lane] + b[lane])
}

#[inline(always)]
fn minus(a: &Lane, b: &Lane) -> Lane {
    each(|lane| a[lane] - b[lane])
}

/// Place of an entry of a symmetric 3×3 matrix among six.
const ENTRY: [[usize; 3]; 3] = [[0, 3, 4], [3, 1, 5], [4, 5, 2]];

/// The blocks of eight joints in the dual system: with themselves and with the next ones.
#[inline(always)]
pub(super) fn assemble<const LINE: bool>(
    last: &Response,
    own: &Response,
    eight: &Eight,
    node: &mut BraidNode<SIZE>,
) {
    for r in 0..3 {
        for c in 0..=r {
            let at = ENTRY[r][c];
            let a = before::<LINE>(&last.compliances.own[1][at], &own.compliances.own[1][at]);
            node.diagonal[r][c] = plus(&a, &own.compliances.own[0][at]);
        }
        for c in 0..3 {
            node.coupling[r][c] = minus(&NOTHING, &own.compliances.mutual[3 * r + c]);
        }
        for c in 0..ROWS {
            node.coupling[r][3 + c] = minus(&NOTHING, &own.points[ROWS + c][0][r]);
        }
    }
    for r in 0..ROWS {
        let of_row = ROWS + r;
        for c in 0..3 {
            let a = before::<LINE>(&last.points[of_row][1][c], &own.points[of_row][1][c]);
            node.diagonal[3 + r][c] = minus(&a, &own.points[r][0][c]);
            node.coupling[3 + r][c] = own.points[r][1][c];
        }
        for c in 0..=r {
            let a = before::<LINE>(&last.among[of_row][ROWS + c], &own.among[of_row][ROWS + c]);
            node.diagonal[3 + r][3 + c] = plus(&a, &own.among[r][c]);
        }
        for c in 0..ROWS {
            node.coupling[3 + r][3 + c] = own.among[r][ROWS + c];
        }
        node.diagonal[3 + r][3 + r] = plus(&node.diagonal[3 + r][3 + r], &eight.pad[r]);
    }
}
