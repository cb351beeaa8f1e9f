//! Contacts of chains, all at once: where every contact has one side on a chain of ball joints.
//!
//! `vincula_blocks::cone::strung` says how. Here the chain is condensed to the joints of the links
//! that are touched, and each contact finds what its link does alone and at its two joints. The
//! other side of a contact may be fixed, a loose body, or part of a small mechanism, whose answer to
//! forces is a sum of squares, one for each way in which it moves: a pulley only turns.

use vincula_blocks::cone::strung::LANES;
use vincula_blocks::cone::{Block, ConeReport, Knot, Strung};

use super::movers::{FIXED, Movers, increment};
use super::rows::{Arm, ContactRow};
use super::sides::{Sides, alone};
use super::ways::{UnitWays, Ways};
use crate::dual::{Dual, Path};
use crate::integrate::newton::NewtonBlock;
use crate::math::lanes::{gather, place};
use crate::math::small::*;

/// Violation of the law, relative to the largest force, at which the first solve ends, after which links
/// turn and gaps change by more, and those after it.
const TOLERANCES: [f64; 2] = [2e-6, 3e-7];

/// Movers at most of a small mechanism beside the chain.
const MOST_MOVERS: usize = 4;

/// A unit that is no chain: the ways in which it moves, and the border of the first one.
#[derive(Clone, Copy, Debug)]
struct Other {
    first: u32,
    ways: UnitWays,
}

/// Memory of the solver.
#[derive(Debug, Default)]
pub(crate) struct Strings {
    /// The chain that each island is, if it is one, once it was looked at.
    paths: Vec<Option<Option<Path>>>,
    problem: Strung,
    /// Rows in the order of the problem, and their sides on the chain.
    sides: Sides,
    /// Touched joints of the chains by position, the nodes of the problem; and of each chain its
    /// unit and its first node.
    touched: Vec<u32>,
    chains: Vec<(u32, usize)>,
    others: Vec<Other>,
    ways: Ways,
    borders: Vec<u32>,
    answers: Vec<f64>,
}

impl Strings {
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
        if !self.find_sides(rows, members, movers, dual) {
            return false;
        }
        self.problem.clear();
        self.problem.line.clear();
        self.chains.clear();
        self.touched.clear();
        self.others.clear();
        self.ways.clear();
        for &unit in units {
            let added = match movers.chain_of(unit) {
                Some(_) => self.add_chain(unit, movers, dual),
                None => self.add_ways(unit, movers),
            };
            if !added {
                return false;
            }
        }
        let mut first = 0;
        while let Some(bead) = self.sides.bead(first) {
            first = bead.end;
            if !self.add_bead(bead, rows, movers, dual, work) {
                return false;
            }
        }
        true
    }

    /// Solves the problem of the last `prepare`, for rows that are the same but for their slip
    /// and force; `again` says that links have turned under its forces already.
    pub fn solve(&mut self, rows: &[ContactRow], movers: &Movers, again: bool) -> ConeReport {
        for (k, row) in self.sides.rows(rows).enumerate() {
            self.problem.start(k, row.slip(&movers.all), row.lambda);
        }
        self.problem.solve(TOLERANCES[usize::from(again)])
    }

    /// The rows in the order of the problem, with their forces.
    pub fn answer(&self) -> impl Iterator<Item = (u32, V3)> + '_ {
        self.sides.with(self.problem.lambda())
    }

    /// Overwrites the rows of a unit, zero but at the joints of its touched links, by the forces there
    /// with the chain of the last `prepare`. False if it is none.
    pub fn respond(&mut self, unit: u32, island: usize, rows: &mut [f64]) -> bool {
        let (Some(range), Some(Some(path))) = (self.nodes(unit), &self.paths[island]) else {
            return false;
        };
        let row = |position: &u32| 3 * path.node(*position as usize);
        self.answers.clear();
        self.answers.resize(3 * self.touched.len(), 0.0);
        for (k, at) in range
            .clone()
            .zip(self.touched[range.clone()].iter().map(row))
        {
            self.answers[3 * k..3 * k + 3].copy_from_slice(&rows[at..at + 3]);
        }
        if !self.problem.respond_line(&mut self.answers) {
            return false;
        }
        for (k, at) in range.clone().zip(self.touched[range].iter().map(row)) {
            rows[at..at + 3].copy_from_slice(&self.answers[3 * k..3 * k + 3]);
        }
        true
    }

    /// The nodes of the problem on the chain of a unit.
    fn nodes(&self, unit: u32) -> Option<std::ops::Range<usize>> {
        let chain = self.chains.binary_search_by_key(&unit, |c| c.0).ok()?;
        let next = self.chains.get(chain + 1);
        Some(self.chains[chain].1..next.map_or(self.touched.len(), |c| c.1))
    }

    /// Finds the one side of each contact that is on a chain.
    fn find_sides(
        &mut self,
        rows: &[ContactRow],
        members: &[u32],
        movers: &Movers,
        dual: &Dual,
    ) -> bool {
        self.paths.resize(dual.islands(), None);
        self.sides.clear();
        for &index in members {
            let row = &rows[index as usize];
            let [a, b] = [&row.a, &row.b].map(|arm| match arm.mover {
                FIXED => None,
                mover => movers.chain_of(movers.unit_of(mover)),
            });
            let (island, second) = match (a, b) {
                (Some(island), None) => (island, false),
                (None, Some(island)) => (island, true),
                _ => return false,
            };
            let path = &mut self.paths[island];
            // A chain of which parts are left out is another one.
            if path
                .as_ref()
                .is_none_or(|path| !dual.is_path(island, path.as_ref()))
            {
                *path = Some(dual.path(island));
            }
            if path.iter().flatten().next().is_none() || row.spins() {
                return false;
            }
            self.sides.add(index, row, second);
        }
        self.sides.sort();
        true
    }

    /// Condenses the chain of a unit to the joints of its touched links.
    fn add_chain(&mut self, unit: u32, movers: &Movers, dual: &Dual) -> bool {
        let Some(island) = movers.chain_of(unit) else {
            return false;
        };
        let Some(Some(path)) = &self.paths[island] else {
            return false;
        };
        let base = self.touched.len();
        self.chains.push((unit, base));
        for mover in &movers.all[movers.unit(unit)] {
            let at = dual.positions_at(path, mover.body as usize);
            self.touched.extend(at);
        }
        let here = &mut self.touched[base..];
        here.sort_unstable();
        let mut kept = 1;
        for k in 1..here.len() {
            if here[k] != here[k - 1] {
                here[kept] = here[k];
                kept += 1;
            }
        }
        self.touched.truncate(base + kept);
        let blocks = |position: usize| dual.path_blocks(island, path, position);
        let line = &mut self.problem.line;
        line.condense(path.len(), &self.touched[base..], blocks)
    }

    /// Finds the ways in which a unit that is no chain moves.
    fn add_ways(&mut self, unit: u32, movers: &Movers) -> bool {
        if movers.unit(unit).len() > MOST_MOVERS {
            return false;
        }
        // Those of one unit are eliminated together.
        let next = self.others.last().map_or(0, |o| o.first + o.ways.count);
        let first = next.next_multiple_of(LANES as u32);
        let ways = self.ways.add(unit, movers);
        self.others.push(Other { first, ways });
        true
    }

    /// Adds the link of a mover with its contacts.
    fn add_bead(
        &mut self,
        range: std::ops::Range<usize>,
        rows: &[ContactRow],
        movers: &Movers,
        dual: &Dual,
        work: &[NewtonBlock],
    ) -> bool {
        let index = self.sides.mover(range.start);
        let mover = &movers.all[index as usize];
        let body = mover.body as usize;
        let unit = movers.unit_of(index);
        let Some((joints, swap)) = self.nodes_of(unit, body, movers, dual) else {
            return false;
        };
        let (block, lane) = place(body);
        let rot: M3 = gather(&work[block].rot, lane);
        let inverse = work[block].inverse_of(lane);
        self.find_borders(range.clone(), rows, movers);
        self.problem.add_bead(joints, &self.borders);
        for k in range.clone() {
            let (row, arm, sign) = self.sides.mine(k, rows);
            let mut reach: [Block; 2] = [[0.0; 9]; 2];
            let lever = arm.lever(&row.frame);
            for i in 0..3 {
                let shift = scale(&row.frame[i], sign * mover.per_force);
                let p = increment(&inverse, &rot, &scale(&lever[i], sign));
                let mut at = dual.reach_at(work, body, &p, &shift);
                if swap {
                    at.swap(0, 1);
                }
                for (reach, at) in reach.iter_mut().zip(&at) {
                    reach[3 * i..3 * i + 3].copy_from_slice(at);
                }
            }
            self.problem.add_knot(Knot {
                reach,
                mu: row.mu,
                compliance: row.w[0] + row.w[4] + row.w[8],
            });
            self.sway(k, rows, movers);
        }
        let size = 3 * range.len();
        for (k, l) in range
            .clone()
            .flat_map(|k| range.clone().map(move |l| (k, l)))
        {
            let s = alone(
                mover,
                self.sides.mine(k, rows),
                self.sides.mine(l, rows),
                k == l,
            );
            let own = self.problem.own_mut();
            let (r, c) = (3 * (k - range.start), 3 * (l - range.start));
            for i in 0..3 {
                own[(r + i) * size + c..][..3].copy_from_slice(&s[3 * i..3 * i + 3]);
            }
        }
        true
    }

    /// The ways of the other sides of some contacts.
    fn find_borders(
        &mut self,
        range: std::ops::Range<usize>,
        rows: &[ContactRow],
        movers: &Movers,
    ) {
        self.borders.clear();
        for k in range {
            let other = self.other_of(self.sides.other(k, rows).1, movers);
            if let Some(other) = other.filter(|other| !self.borders.contains(&other.first)) {
                let (first, count) = (other.first, other.ways.count);
                self.borders.extend(first..first + count);
            }
        }
    }

    /// How the ways of its other side move the last contact of the problem.
    fn sway(&mut self, k: usize, rows: &[ContactRow], movers: &Movers) {
        let (row, arm, sign) = self.sides.other(k, rows);
        let Some(other) = self.other_of(arm, movers) else {
            return;
        };
        for way in 0..other.ways.count {
            let sway = self.ways.sway(&other.ways, way, row, arm, sign);
            self.problem.set_sway(other.first + way, &sway);
        }
    }

    /// The unit of an arm that is on no chain, if it moves.
    fn other_of(&self, arm: &Arm, movers: &Movers) -> Option<Other> {
        if arm.mover == FIXED {
            return None;
        }
        let unit = movers.unit_of(arm.mover);
        let found = self.others.binary_search_by_key(&unit, |o| o.ways.unit);
        Some(self.others[found.ok()?]).filter(|other| other.ways.count > 0)
    }

    /// The first node of a link in the condensed chains, and whether its second joint is there.
    fn nodes_of(
        &self,
        unit: u32,
        body: usize,
        movers: &Movers,
        dual: &Dual,
    ) -> Option<(usize, bool)> {
        let island = movers.chain_of(unit)?;
        let path = self.paths[island].as_ref()?.as_ref()?;
        let nodes = self.nodes(unit)?;
        let mut at = dual.positions_at(path, body);
        let (first, second) = (at.next()?, at.next());
        if at.next().is_some() {
            return None;
        }
        let lower = second.map_or(first, |s| s.min(first));
        let place = self.touched[nodes.clone()].binary_search(&lower).ok()?;
        Some((nodes.start + place, second.is_some_and(|s| s < first)))
    }
}
