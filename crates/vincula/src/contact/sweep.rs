//! Block Gauss–Seidel over contacts with the motion of the bodies (Moreau and Jean's NSCD).
//!
//! For one contact after the other: the slip without its own force, `u − W λ`; the exact force
//! of Coulomb's law for it (`vincula_blocks::cone`); the bodies are moved by the change. A sweep
//! needs neither a matrix nor the graph, so it serves piles of thousands.

use vincula_blocks::cone::{solve_block, violation};

use super::movers::Movers;
use super::quick::{self, Quick};
use super::rows::{ContactRow, Spin};
use crate::math::small::*;

/// One pass over all contacts; returns the largest change of a force times its compliance, m.
#[cfg(test)]
pub(crate) fn sweep(rows: &mut [ContactRow], movers: &mut Movers, reverse: bool) -> f64 {
    let count = rows.len();
    (0..count).fold(0.0, |moved: f64, k| {
        let row = &mut rows[if reverse { count - 1 - k } else { k }];
        moved.max(visit(row, movers))
    })
}

/// Solves one contact; returns the change of its force times its compliance, m.
fn visit(row: &mut ContactRow, movers: &mut Movers) -> f64 {
    let mut moved = 0.0f64;
    let u = row.slip(&movers.all);
    // Apart and without force: nothing to do, as for most of what is only near.
    if u[0] >= 0.0 && row.lambda == [0.0; 3] {
        return 0.0;
    }
    let b = sub(&u, &mul_vec(&row.w, &row.lambda));
    let next = solve_block(&row.w, &b, row.mu);
    let change = sub(&next, &row.lambda);
    if change != [0.0; 3] {
        row.lambda = next;
        row.push(movers, &change);
        let size = change[0].abs().max(change[1].abs()).max(change[2].abs());
        moved = size * row.w[0];
    }
    if row.spin.is_some() {
        moved = moved.max(resist(row, movers));
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

/// Contacts sorted by how they are swept: those of loose bodies packed, the others as they are.
#[derive(Debug, Default)]
pub(crate) struct Sweeper {
    quick: Vec<Quick>,
    rest: Vec<u32>,
    /// Of the rest.
    trails: Vec<Trail>,
}

/// The force of a contact before a sweep, and the conjugate direction so far, N.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Trail {
    pub start: V3,
    along: V3,
}

impl Trail {
    pub fn new(lambda: &V3) -> Trail {
        Trail {
            start: *lambda,
            along: [0.0; 3],
        }
    }

    /// How far to go beyond the force of the last sweep; the direction is brought up to date.
    #[inline(always)]
    pub fn next(&mut self, lambda: &V3, beta: f64) -> V3 {
        let step = scale(&self.along, beta);
        self.along = add(&step, &sub(lambda, &self.start));
        step
    }
}

impl Sweeper {
    /// Sweeps until the bodies move by less than `tolerance` (m), at most `limit` times. Returns
    /// the sweeps, and whether they were enough.
    pub fn solve(
        &mut self,
        rows: &mut [ContactRow],
        movers: &mut Movers,
        tolerance: f64,
        limit: usize,
    ) -> (usize, bool) {
        if limit == 0 {
            return (0, false);
        }
        self.sort(rows);
        let mut found = (limit, false);
        let mut before = f64::INFINITY;
        for k in 0..limit {
            if self.sweep(rows, movers, false) <= tolerance {
                found = (k + 1, true);
                break;
            }
            if k + 1 < limit {
                before = self.run_on(rows, movers, before);
            }
        }
        self.quick.iter().for_each(|quick| quick.unpack(rows));
        found
    }

    /// Takes the change of the last sweep as a gradient and goes on along the conjugate
    /// direction, as long as changes become smaller. Returns the square of the change, J.
    fn run_on(&mut self, rows: &mut [ContactRow], movers: &mut Movers, before: f64) -> f64 {
        let quick = self.quick.iter().map(Quick::changed).sum::<f64>();
        let rest = self.rest.iter().zip(&self.trails);
        let rest: f64 = rest
            .map(|(&index, trail)| {
                let row = &rows[index as usize];
                let g = sub(&row.lambda, &trail.start);
                row.w[0] * dot(&g, &g)
            })
            .sum();
        let now = quick + rest;
        let beta = now / before;
        let beta = if beta <= 1.0 { beta } else { 0.0 };
        for quick in &mut self.quick {
            quick.run_on(&mut movers.all, beta);
        }
        for (&index, trail) in self.rest.iter().zip(&mut self.trails) {
            let row = &mut rows[index as usize];
            let step = trail.next(&row.lambda, beta);
            if step != [0.0; 3] {
                row.lambda = add(&row.lambda, &step);
                row.push(movers, &step);
            }
            trail.start = row.lambda;
        }
        now
    }

    fn sort(&mut self, rows: &[ContactRow]) {
        self.quick.clear();
        self.rest.clear();
        self.trails.clear();
        for (index, row) in rows.iter().enumerate() {
            match Quick::pack(row, index) {
                Some(quick) => self.quick.push(quick),
                None => {
                    self.rest.push(index as u32);
                    self.trails.push(Trail::new(&row.lambda));
                }
            }
        }
    }

    fn sweep(&mut self, rows: &mut [ContactRow], movers: &mut Movers, reverse: bool) -> f64 {
        let mut moved = 0.0;
        if !reverse {
            moved = quick::sweep(&mut self.quick, &mut movers.all, reverse);
        }
        let count = self.rest.len();
        for k in 0..count {
            let index = self.rest[if reverse { count - 1 - k } else { k }];
            let row = &mut rows[index as usize];
            moved = f64::max(moved, visit(row, movers));
        }
        if reverse {
            moved = moved.max(quick::sweep(&mut self.quick, &mut movers.all, reverse));
        }
        moved
    }
}
