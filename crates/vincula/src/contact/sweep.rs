//! Block Gauss–Seidel over contacts with the motion of the bodies (Moreau and Jean's NSCD).
//!
//! For one contact after the other: the slip without its own force, `u − W λ`; the exact force
//! of Coulomb's law for it (`vincula_blocks::cone`); the bodies are moved by the change. A sweep
//! needs neither a matrix nor the graph, so it serves piles of thousands.

use vincula_blocks::cone::{solve_block, violation};

use super::movers::Movers;
use super::rows::{ContactRow, Spin};
use crate::math::small::*;

/// One pass over all contacts; returns the largest change of a force times its compliance, m.
pub(crate) fn sweep(rows: &mut [ContactRow], movers: &mut Movers, reverse: bool) -> f64 {
    let mut moved = 0.0f64;
    let count = rows.len();
    for k in 0..count {
        let row = &mut rows[if reverse { count - 1 - k } else { k }];
        let u = row.slip(&movers.all);
        // Apart and without force: nothing to do, as for most of what is only near.
        if u[0] >= 0.0 && row.lambda == [0.0; 3] {
            continue;
        }
        let b = sub(&u, &mul_vec(&row.w, &row.lambda));
        let next = solve_block(&row.w, &b, row.mu);
        let change = sub(&next, &row.lambda);
        if change != [0.0; 3] {
            row.lambda = next;
            row.push(movers, &change);
            let size = change[0].abs().max(change[1].abs()).max(change[2].abs());
            moved = moved.max(size * row.w[0]);
        }
        if row.spin.is_some() {
            moved = moved.max(resist(row, movers));
        }
    }
    moved
}

/// Rolling and torsional friction of one contact, within the force that it has. Returns how far
/// it moved, as a length.
fn resist(row: &mut ContactRow, movers: &mut Movers) -> f64 {
    let Some(spin) = row.spin else { return 0.0 };
    let next = resisted(&spin, &row.relative_turn(&movers.all), row.lambda[0]);
    let change = sub(&next, &spin.torque);
    row.twist(movers, &change);
    row.spin = Some(Spin {
        torque: next,
        ..spin
    });
    let reach = spin.torsional.max(spin.rolling);
    let size = change[0].abs().max(change[1].abs()).max(change[2].abs());
    if reach > 0.0 {
        size / reach * row.w[0]
    } else {
        0.0
    }
}

/// The torques that a projected step towards no rotation gives.
fn resisted(spin: &Spin, turned: &V3, force: f64) -> V3 {
    let rate = add(&spin.free, turned);
    let bound = spin.torsional * force;
    let twist = (spin.torque[0] - rate[0] / spin.compliance[0]).clamp(-bound, bound);
    let mut roll = [
        spin.torque[1] - rate[1] / spin.compliance[1],
        spin.torque[2] - rate[2] / spin.compliance[1],
    ];
    let size = (roll[0] * roll[0] + roll[1] * roll[1]).sqrt();
    let bound = spin.rolling * force;
    if size > bound {
        roll = roll.map(|x| x * bound / size);
    }
    [twist, roll[0], roll[1]]
}

/// The largest violation of Coulomb's law, relative to the largest force.
pub(crate) fn residual(rows: &[ContactRow], movers: &Movers) -> f64 {
    let (mut worst, mut largest) = (0.0f64, 0.0f64);
    for row in rows {
        let u = row.slip(&movers.all);
        let trace = row.w[0] + row.w[4] + row.w[8];
        worst = worst.max(violation(&row.lambda, &u, row.mu, trace));
        largest = largest.max(dot(&row.lambda, &row.lambda));
    }
    if worst == 0.0 {
        return 0.0;
    }
    worst / largest.sqrt().max(worst)
}

/// Sweeps until the bodies move by less than `tolerance` (m), at most `limit` times. Returns the
/// sweeps, and whether they were enough.
pub(crate) fn solve(
    rows: &mut [ContactRow],
    movers: &mut Movers,
    tolerance: f64,
    limit: usize,
) -> (usize, bool) {
    for k in 0..limit {
        let moved = sweep(rows, movers, k % 2 == 1);
        if moved <= tolerance {
            return (k + 1, true);
        }
    }
    (limit, false)
}
