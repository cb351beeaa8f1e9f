//! Contacts of mechanisms too large for 6×6 blocks between all touched bodies.
//!
//! How forces at the contacts move everything is known by one solve with the factor of the joints:
//! the bodies move alone, the joints answer, the bodies move by that. This is a product with the
//! matrix D of `exact.rs`, at the cost of one solve however many contacts there are, and the method
//! of `vincula_blocks::cone::accelerated` needs nothing else of D but what each contact answers to
//! itself, about. For that only the joints at its own bodies answer. Groups that chains or a net
//! connect are solved at once instead (`strings.rs`, `nets.rs`), and, where an accuracy is asked for, a net
//! with mechanisms and bodies on it (`weave.rs`).

mod known;
mod reaches;

use vincula_blocks::cone::{Accelerated, ConeReport, Products, project};

use super::movers::{FIXED, Movers};
use super::nets::Nets;
use super::rows::ContactRow;
use super::strings::Strings;
use super::weave::Weave;
use crate::dual::Dual;
use crate::integrate::newton::NewtonBlock;
use crate::math::small::*;
use crate::math::union::Union;
use known::Known;
use reaches::Reaches;

/// Violation of the law, relative to the largest force, at which a solve ends that is not asked for
/// another.
const TOLERANCE: f64 = 1e-6;
/// The same for a solve of all at once, with which nothing else is tried.
const ENOUGH: f64 = 1e-5;
/// Products at most that lead to where a solve of all at once starts from, if it does not only follow a
/// small change; and then none. The violation at which they end.
const AHEAD: [usize; 2] = [20, 0];
const ABOUT: f64 = 1e-3;
/// Products that a large problem gets at least, and what they may cost in rows.
const FEWEST: usize = 30;
const ROWS: usize = 100_000;
/// Error of a gap or a sliding distance that does not matter, m.
const SLACK: f64 = 1e-5;

/// What a solve by products is to reach, and with how many of them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Effort {
    tolerance: f64,
    slack: f64,
    most: usize,
    /// Products of a group at most, times its contacts.
    rows: usize,
}

impl Effort {
    /// As good as so many products are, with what does not matter left over.
    pub fn within(most: usize) -> Effort {
        Effort {
            tolerance: TOLERANCE,
            slack: SLACK,
            most,
            rows: ROWS,
        }
    }

    /// To a violation of the law.
    pub fn to(tolerance: f64, most: usize) -> Effort {
        Effort {
            tolerance,
            slack: 0.0,
            most,
            rows: usize::MAX,
        }
    }
}

/// Memory of the solver.
#[derive(Debug, Default)]
pub(crate) struct Coupled {
    accelerated: Accelerated,
    own: Vec<M3>,
    free: Vec<f64>,
    mu: Vec<f64>,
    lambda: Vec<f64>,
    product: Vec<f64>,
    known: Known,
    /// Whether the forces of the rows are all that moved the bodies since these were made.
    holds_all: bool,
    /// Forces and torques on the movers, and how these move.
    wrench: Vec<[V3; 2]>,
    motion: Vec<[V3; 2]>,
    groups: Crowds,
    strings: Strings,
    nets: Nets,
    weave: Weave,
    /// Whether contacts are those of a net and of what touches it, solved at once.
    woven: bool,
    reaches: Reaches,
    /// What the last group that was looked at is.
    kind: Kind,
}

/// What connects the contacts of a group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Kind {
    Chains,
    Net,
    #[default]
    Other,
}

impl Coupled {
    /// New rows. Says whether their forces are all that moves the bodies from now on, or only what is
    /// beyond those that they start with.
    pub fn begin(&mut self, holds_all: bool) {
        self.holds_all = holds_all;
        self.known.forget();
    }

    /// Solves all rows with the joints inside, group by group. Movers end where the forces put them.
    /// Returns the products, counted as if all groups had been one.
    pub fn solve(
        &mut self,
        rows: &mut [ContactRow],
        movers: &mut Movers,
        dual: &mut Dual,
        work: &[NewtonBlock],
        effort: Effort,
        again: bool,
    ) -> usize {
        self.woven = false;
        if !again {
            self.known.forget();
        }
        self.groups.find(rows, movers);
        let one = self.groups.count() == 1;
        if one && !again {
            self.prepare(0, rows, movers, dual, work);
        }
        self.settle(movers, dual, one);
        let mut spent = 0;
        for group in 0..self.groups.count() {
            if !one {
                self.prepare(group, rows, movers, dual, work);
            }
            let count = self.groups.of(group).0.len();
            let (steps, enough) = self.solve_at_once(rows, movers, again);
            spent += count * steps;
            if !enough {
                // Where the forces so far put everything.
                if steps > 0 {
                    self.settle(movers, dual, false);
                }
                spent += count * self.solve_group(group, rows, movers, dual, effort);
            }
        }
        self.settle(movers, dual, one);
        spent.div_ceil(rows.len().max(1))
    }

    /// Solves the rows of a net and of what touches it, all at once. Returns the steps and products; or
    /// nothing if rows are of another kind, or where that led nowhere.
    pub fn solve_woven(
        &mut self,
        rows: &mut [ContactRow],
        movers: &mut Movers,
        dual: &mut Dual,
        work: &[NewtonBlock],
        again: bool,
    ) -> Option<usize> {
        if !again {
            self.woven = self.weave.prepare(rows, movers, dual, work);
        }
        if !self.woven {
            return None;
        }
        self.kind = Kind::Other;
        self.groups.find(rows, movers);
        self.settle(movers, dual, false);
        let ahead = Effort::to(ABOUT, AHEAD[usize::from(again)]);
        let spent = self.approach(rows, movers, dual, ahead);
        let report = self.solve_weave(rows, movers, dual);
        self.settle(movers, dual, false);
        self.woven = report.residual <= ENOUGH;
        self.woven.then_some(spent + report.newton)
    }

    /// Comes nearer to the law by products; returns how many.
    fn approach(
        &mut self,
        rows: &mut [ContactRow],
        movers: &mut Movers,
        dual: &mut Dual,
        effort: Effort,
    ) -> usize {
        if effort.most == 0 {
            return 0;
        }
        let mut most = 0;
        for group in 0..self.groups.count() {
            most = most.max(self.solve_group(group, rows, movers, dual, effort));
        }
        self.settle(movers, dual, false);
        most
    }

    /// Makes a group ready to be solved at once if chains or a net connect it.
    fn prepare(
        &mut self,
        group: usize,
        rows: &[ContactRow],
        movers: &Movers,
        dual: &Dual,
        work: &[NewtonBlock],
    ) {
        let (members, units) = self.groups.of(group);
        let (strings, nets) = (&mut self.strings, &mut self.nets);
        self.kind = if strings.prepare(rows, members, units, movers, dual, work) {
            Kind::Chains
        } else if nets.prepare(rows, members, units, movers, dual, work) {
            Kind::Net
        } else {
            Kind::Other
        };
    }

    /// Solves a group at once if it is ready for that. Returns the steps, and whether it is solved.
    fn solve_at_once(
        &mut self,
        rows: &mut [ContactRow],
        movers: &mut Movers,
        again: bool,
    ) -> (usize, bool) {
        let report = match self.kind {
            Kind::Chains => self.strings.solve(rows, movers, again),
            Kind::Net => self.nets.solve(rows, movers),
            Kind::Other => return (0, false),
        };
        let mut settle = |(index, force): (u32, V3)| {
            settle_on(&mut rows[index as usize], movers, &force);
        };
        match self.kind {
            Kind::Net => self.nets.answer().for_each(&mut settle),
            _ => self.strings.answer().for_each(&mut settle),
        }
        (report.newton, report.residual <= ENOUGH)
    }

    /// Finds the forces of the problem that `weave` was prepared for.
    fn solve_weave(
        &mut self,
        rows: &mut [ContactRow],
        movers: &mut Movers,
        dual: &mut Dual,
    ) -> ConeReport {
        let Coupled {
            weave,
            reaches,
            wrench,
            motion,
            groups,
            ..
        } = self;
        reaches.find(weave.order().map(|index| &rows[index as usize]));
        let units = &groups.units;
        weave.start(rows, movers);
        let mut multiply = |x: &[f64], y: &mut [f64]| {
            respond(reaches, units, (movers, dual), [wrench, motion], x, y);
        };
        let report = weave.solve(&mut multiply);
        for (index, force) in weave.answer() {
            settle_on(&mut rows[index as usize], movers, &force);
        }
        report
    }

    /// Whether the last solve was one of all contacts at once.
    pub fn is_direct(&self) -> bool {
        self.woven || (self.kind != Kind::Other && self.groups.count() == 1)
    }

    /// The same of contacts of chains.
    pub fn is_strung(&self) -> bool {
        self.is_direct() && self.kind == Kind::Chains
    }

    fn solve_group(
        &mut self,
        group: usize,
        rows: &mut [ContactRow],
        movers: &mut Movers,
        dual: &mut Dual,
        effort: Effort,
    ) -> usize {
        self.take(group, rows, movers);
        // Where bodies were told of nothing yet, and nothing but λ pushes.
        let untold = movers.all.iter().all(|m| m.base == [[0.0; 3]; 2]);
        let fresh = self.holds_all && untold && movers.spins.is_empty();
        let one = self.groups.count() == 1;
        let Coupled {
            accelerated,
            known,
            own,
            free,
            mu,
            lambda,
            product,
            reaches,
            wrench,
            motion,
            groups,
            ..
        } = self;
        let (members, units) = groups.of(group);
        let limit = effort.most.min((effort.rows / members.len()).max(FEWEST));
        reaches.find(members.iter().map(|&index| &rows[index as usize]));
        let mut multiply = |x: &[f64], y: &mut [f64]| {
            respond(reaches, units, (movers, dual), [wrench, motion], x, y);
        };
        // The slip holds D λ of the present λ already.
        if one && known.is_of(lambda) {
            product.copy_from_slice(&known.moved);
        } else if fresh {
            let bare = members.iter().flat_map(|&k| &rows[k as usize].free);
            for (d, (u, b)) in product.iter_mut().zip(free.iter().zip(bare)) {
                *d = u - b;
            }
        } else {
            multiply(lambda, product);
        }
        #[cfg(debug_assertions)]
        known::check(product, &mut |y: &mut [f64]| multiply(lambda, y), free);
        for (b, d) in free.iter_mut().zip(product.iter()) {
            *b -= d;
        }
        let problem = Products {
            own,
            free,
            first: product,
            mu,
            slack: effort.slack,
        };
        let tolerance = effort.tolerance;
        let report = accelerated.solve(&problem, lambda, &mut multiply, tolerance, limit);
        if one {
            known.keep(lambda, accelerated.slip(), free);
        }
        // One look may show that all is well.
        if report.sweeps > 1 {
            for (&index, l) in members.iter().zip(lambda.chunks_exact(3)) {
                settle_on(&mut rows[index as usize], movers, &[l[0], l[1], l[2]]);
            }
        }
        report.sweeps
    }

    /// Brings the movers that joints hold to where the forces put them that they have not been
    /// told of; by the condensed chains if these are all there is, `one` group.
    fn settle(&mut self, movers: &mut Movers, dual: &mut Dual, one: bool) {
        self.wrench.clear();
        self.wrench.extend(movers.all.iter().map(|m| m.untold));
        self.motion.clear();
        self.motion.resize(self.wrench.len(), [[0.0; 3]; 2]);
        let units = if movers.have_news() {
            movers.units()
        } else {
            0
        };
        for unit in 0..units as u32 {
            let answer = |island: usize, rows: &mut [f64]| {
                if !(one && self.kind == Kind::Chains && self.strings.respond(unit, island, rows)) {
                    dual.answer_chosen(island, rows);
                }
            };
            movers.respond_unit(unit, answer, &self.wrench, &mut self.motion);
        }
        for (mover, [shift, turn]) in movers.all.iter_mut().zip(&self.motion) {
            if !mover.loose {
                mover.shift = add(&mover.base[0], shift);
                mover.turn = add(&mover.base[1], turn);
            }
        }
    }

    fn take(&mut self, group: usize, rows: &[ContactRow], movers: &Movers) {
        let (members, _) = self.groups.of(group);
        let members = members.iter().map(|&index| &rows[index as usize]);
        self.own.clear();
        self.mu.clear();
        self.lambda.clear();
        self.free.clear();
        for row in members {
            self.own.push(row.w);
            self.mu.push(row.mu);
            self.lambda.extend(row.lambda);
            self.free.extend(row.slip(&movers.all));
        }
        self.product.clear();
        self.product.resize(self.free.len(), 0.0);
    }
}

/// Gives a contact the force that was found, as far as the cone allows.
fn settle_on(row: &mut ContactRow, movers: &mut Movers, force: &V3) {
    let next = project(force, row.mu);
    let change = sub(&next, &row.lambda);
    if change != [0.0; 3] {
        row.lambda = next;
        row.push(movers, &change);
    }
}

/// Contacts that may feel each other: those of bodies and mechanisms that contacts connect.
#[derive(Debug, Default)]
struct Crowds {
    sets: Union,
    /// Rows and units in the order of their groups, and where each group starts.
    rows: Vec<u32>,
    units: Vec<u32>,
    starts: Vec<[usize; 2]>,
}

impl Crowds {
    fn find(&mut self, rows: &[ContactRow], movers: &Movers) {
        self.sets.reset(movers.units());
        for row in rows {
            if row.a.mover != FIXED && row.b.mover != FIXED {
                let [a, b] = [&row.a, &row.b].map(|arm| movers.unit_of(arm.mover));
                self.sets.join(a, b);
            }
        }
        let head = self.sets.heads();
        let group = |index: &u32| {
            let row = &rows[*index as usize];
            let side = row.a.mover.min(row.b.mover);
            head[movers.unit_of(side) as usize]
        };
        self.rows.clear();
        self.rows.extend(0..rows.len() as u32);
        self.rows
            .sort_unstable_by_key(|index| (group(index), *index));
        self.units.clear();
        self.units.extend(0..head.len() as u32);
        self.units
            .sort_unstable_by_key(|unit| (head[*unit as usize], *unit));
        self.starts.clear();
        let mut unit = 0;
        for (at, index) in self.rows.iter().enumerate() {
            let here = group(index);
            if at > 0 && group(&self.rows[at - 1]) == here {
                continue;
            }
            while head[self.units[unit] as usize] < here {
                unit += 1;
            }
            self.starts.push([at, unit]);
        }
        self.starts.push([self.rows.len(), self.units.len()]);
    }

    fn count(&self) -> usize {
        self.starts.len() - 1
    }

    /// The rows and the units of a group.
    fn of(&self, group: usize) -> (&[u32], &[u32]) {
        let ([row, unit], [row_end, unit_end]) = (self.starts[group], self.starts[group + 1]);
        (&self.rows[row..row_end], &self.units[unit..unit_end])
    }
}

/// Writes how far the contacts of some units move under forces x, the joints inside.
fn respond(
    reaches: &Reaches,
    units: &[u32],
    (movers, dual): (&mut Movers, &mut Dual),
    [wrench, motion]: [&mut Vec<[V3; 2]>; 2],
    x: &[f64],
    y: &mut [f64],
) {
    for &unit in units {
        wrench[movers.unit(unit)].fill([[0.0; 3]; 2]);
    }
    reaches.load(x, wrench);
    for &unit in units {
        let answer = |island: usize, rows: &mut [f64]| dual.answer_chosen(island, rows);
        movers.respond_unit(unit, answer, wrench, motion);
    }
    reaches.read(x, motion, y);
}
