//! Impacts: Newton's restitution, one contact after the other.
//!
//! Balls in a row pass a blow on because it travels: each contact rebounds before the next one
//! feels it. So impacts are taken one by one, `u_n⁺ = −e u_n⁻` with friction by Coulomb's law,
//! and again, until no contact with restitution closes in faster than rest allows. What is
//! left is solved without restitution.
//!
//! A step notices an impact at its end. The speed at the moment of touching follows from that at
//! the start, u₀, the gap then, g₀, and the acceleration a of the approach:
//! `u² = u₀² + 2 a g₀`. With it a ball rebounds to e² of its height at any step.
//!
//! Newton's law with friction can gain energy in odd configurations. An impulse p changes the
//! energy by `p·(u⁻ + u⁺)/2`; where that is positive p is shortened until it is zero.

use vincula_blocks::cone::solve_block;

use super::movers::Movers;
use super::rows::ContactRow;
use crate::math::small::*;

/// Slowest approach that rebounds, m/s.
const SLOWEST: f64 = 1e-3;
/// Passes over the contacts at most. A blow needs one per contact it travels through.
const PASSES: usize = 200;

/// What is known of a contact's approach, for velocities times h.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Approach {
    /// Coefficient of restitution.
    pub restitution: f64,
    /// Normal velocity at the start of the step times h, m; negative when closing in.
    pub start: f64,
    /// Gap at the start, m.
    pub gap: f64,
}

/// Slowest rebound and closing speed at the moment of touching, both times h, m.
fn rebound(approach: &Approach, free: f64, h: f64) -> (f64, f64) {
    // a h² of the approach.
    let gained = (approach.start - free).max(0.0);
    let threshold = (1.5 * gained).max(SLOWEST * h);
    let touching = approach.start * approach.start + 2.0 * gained * approach.gap.max(0.0);
    (threshold, touching.sqrt())
}

/// Whether any contact rebounds in this step, given the slips without contact forces.
pub(crate) fn any(rows: &[ContactRow], approaches: &[Approach], movers: &Movers, h: f64) -> bool {
    rows.iter().zip(approaches).any(|(row, approach)| {
        let free = row.slip(&movers.all)[0];
        let (threshold, speed) = rebound(approach, free, h);
        approach.restitution > 0.0 && -free > threshold && speed > threshold
    })
}

/// Takes all impacts; λ of the rows gains their impulses. On entry no contact pushes.
pub(crate) fn take(
    rows: &mut [ContactRow],
    approaches: &[Approach],
    movers: &mut Movers,
    h: f64,
    hits: &mut Vec<(bool, f64)>,
) {
    hits.clear();
    hits.extend(rows.iter().map(|row| (false, row.slip(&movers.all)[0])));
    for _ in 0..PASSES {
        let mut quiet = true;
        for (k, approach) in approaches.iter().enumerate() {
            if approach.restitution <= 0.0 {
                continue;
            }
            let row = &mut rows[k];
            let before = row.slip(&movers.all);
            let (hit, free) = hits[k];
            let (threshold, speed) = rebound(approach, free, h);
            if -before[0] <= threshold {
                continue;
            }
            let closing = if hit || speed <= threshold {
                -before[0]
            } else {
                speed
            };
            let impulse = strike(row, &before, approach.restitution * closing);
            row.lambda = add(&row.lambda, &impulse);
            row.push(movers, &impulse);
            hits[k].0 = true;
            quiet = false;
        }
        if quiet {
            return;
        }
    }
}

/// The impulse after which the contact opens at the given slip.
fn strike(row: &ContactRow, before: &V3, opening: f64) -> V3 {
    let mut target = *before;
    target[0] -= opening;
    let impulse = solve_block(&row.w, &target, row.mu);
    let response = mul_vec(&row.w, &impulse);
    let (work, own) = (dot(&impulse, before), 0.5 * dot(&impulse, &response));
    if work + own > 0.0 && own > 0.0 {
        return scale(&impulse, -work / own);
    }
    impulse
}
