//! Contacts of a net, all at once: where every contact has one side on one net of ball joints, and the
//! other on something fixed.
//!
//! `vincula_blocks::cone::netted` says how. Here each contact finds what its body does alone and how it
//! hangs on the unknowns of the net.

use vincula_blocks::cone::{Block, ConeReport, Mark, Netted};

use super::movers::{FIXED, Movers, increment};
use super::rows::ContactRow;
use super::sides::Sides;
use crate::dual::{Dual, MOST_TIES};
use crate::integrate::newton::NewtonBlock;
use crate::math::lanes::{gather, place};
use crate::math::small::*;

/// Violation of the law, relative to the largest force, at which a solve ends.
const TOLERANCE: f64 = 1e-7;

/// Memory of the solver.
#[derive(Debug, Default)]
pub(crate) struct Nets {
    /// The problem of each island, if it is a net, once it was looked at.
    problems: Vec<Option<Option<Box<Netted>>>>,
    /// The island of the present problem.
    island: usize,
    /// Rows in the order of the problem, and their sides on the net.
    sides: Sides,
    /// Of each contact of a hub: B and how far the point of the hub goes, both per force along the
    /// frame.
    points: Vec<[V3; 6]>,
}

impl Nets {
    /// Makes the problem of some rows and the units they touch. False if it is of another kind.
    pub fn prepare(
        &mut self,
        rows: &[ContactRow],
        members: &[u32],
        units: &[u32],
        movers: &Movers,
        dual: &Dual,
        work: &[NewtonBlock],
    ) -> bool {
        let &[unit] = units else {
            return false;
        };
        let Some(island) = movers.chain_of(unit) else {
            return false;
        };
        self.island = island;
        if dual.is_short() && dual.strand_island() == Some(island) {
            return false;
        }
        self.problems.resize_with(dual.islands(), || None);
        let problem = self.problems[island]
            .get_or_insert_with(|| dual.mesh(island).map(|mesh| Box::new(Netted::new(mesh))));
        let Some(mut problem) = problem.take() else {
            return false;
        };
        let made = self.find_sides(rows, members) && {
            problem.clear();
            dual.read_mesh(island, &mut problem.mesh)
                && self.add_beads(&mut problem, rows, movers, dual, work)
        };
        self.problems[island] = Some(Some(problem));
        made
    }

    /// Solves the problem of the last `prepare`, for rows that are the same but for their slip
    /// and force.
    pub fn solve(&mut self, rows: &[ContactRow], movers: &Movers) -> ConeReport {
        let Some(Some(problem)) = &mut self.problems[self.island] else {
            return ConeReport::default();
        };
        for (k, row) in self.sides.rows(rows).enumerate() {
            problem.start(k, row.slip(&movers.all), row.lambda);
        }
        problem.solve(TOLERANCE)
    }

    /// The rows in the order of the problem, with their forces.
    pub fn answer(&self) -> impl Iterator<Item = (u32, V3)> + '_ {
        let problem = self.problems.get(self.island).and_then(Option::as_ref);
        let problem = problem.and_then(Option::as_ref);
        let lambda = problem.map_or(&[][..], |problem| problem.lambda());
        self.sides.with(lambda)
    }

    /// Finds the side of each contact that is on the net. False if both are.
    fn find_sides(&mut self, rows: &[ContactRow], members: &[u32]) -> bool {
        self.sides.clear();
        for &index in members {
            let row = &rows[index as usize];
            let second = row.a.mover == FIXED;
            let both = !second && row.b.mover != FIXED;
            if both || row.spins() {
                return false;
            }
            self.sides.add(index, row, second);
        }
        self.sides.sort();
        true
    }

    fn add_beads(
        &mut self,
        problem: &mut Netted,
        rows: &[ContactRow],
        movers: &Movers,
        dual: &Dual,
        work: &[NewtonBlock],
    ) -> bool {
        let mut first = 0;
        while let Some(bead) = self.sides.bead(first) {
            first = bead.end;
            if !self.add_bead(problem, bead, rows, movers, dual, work) {
                return false;
            }
        }
        true
    }

    /// Adds the body of a mover with its contacts.
    fn add_bead(
        &mut self,
        problem: &mut Netted,
        range: std::ops::Range<usize>,
        rows: &[ContactRow],
        movers: &Movers,
        dual: &Dual,
        work: &[NewtonBlock],
    ) -> bool {
        let mover = &movers.all[self.sides.mover(range.start) as usize];
        let body = mover.body as usize;
        let mut ties = [0; MOST_TIES];
        let Some(count) = dual.ties_of(body, &mut ties) else {
            return false;
        };
        if !problem.add_bead(&ties[..count]) {
            return false;
        }
        let (block, lane) = place(body);
        let rot: M3 = gather(&work[block].rot, lane);
        let inverse = work[block].inverse_of(lane);
        self.points.clear();
        for k in range.clone() {
            let (row, arm, sign) = self.sides.mine(k, rows);
            let mut reaches: [Block; MOST_TIES] = [[0.0; 9]; MOST_TIES];
            let mut points = [[0.0; 3]; 6];
            let lever = arm.lever(&row.frame);
            for i in 0..3 {
                let shift = scale(&row.frame[i], sign * mover.per_force);
                let p = increment(&inverse, &rot, &scale(&lever[i], sign));
                let mut at = [[0.0; 3]; MOST_TIES];
                if let Some(point) = dual.reach_ties(work, body, &p, &shift, &mut at) {
                    (points[i], points[3 + i]) = (at[0], point);
                }
                for (reach, at) in reaches.iter_mut().zip(&at) {
                    reach[3 * i..3 * i + 3].copy_from_slice(at);
                }
            }
            self.points.push(points);
            let mark = Mark {
                mu: row.mu,
                compliance: row.w[0] + row.w[4] + row.w[8],
            };
            problem.add_contact(mark, &reaches);
        }
        let sides = &self.sides;
        sides.fill_alone(mover, range, rows, &self.points, problem.own_mut());
        true
    }
}
