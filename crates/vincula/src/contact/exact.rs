//! Anticipation: contacts that feel each other, as one dense problem.
//!
//! `D = J H⁻¹Jᵀ − (J H⁻¹J_jᵀ) A⁻¹ (J_j H⁻¹Jᵀ)`: the response of the bodies with that of the
//! joints behind them already inside, from the 6×6 blocks of `movers.rs`. A group is a set of
//! contacts that share bodies or mechanisms; it is solved by `vincula_blocks::cone`. Where no joint
//! holds a body of the group, D is not written down: what bodies do is sparse
//! (`vincula_blocks::cone::linked`).

use vincula_blocks::cone::{ConeReport, Delassus, Linked, Splitting, Touch};

use super::movers::{ALONE, FIXED, Movers};
use super::rows::{Arm, ContactRow};
use super::stops::Stop;
use super::sweep::Violation;
use super::ways::{UnitWays, Ways};
use crate::math::small::plus_diagonal;
use crate::math::union::Union;

/// Residual at which sweeps cannot be expected to do better.
pub(super) const GOOD_ENOUGH: f64 = 1e-5;

/// Rows of a world at most whose groups are solved as dense problems.
pub(super) const FEW_ROWS: usize = 500;

/// What a step for a group of bodies without joints may cost, in products of blocks of six by six: of
/// any group, and of one that stands, such as a wall of a hundred bricks.
const MOST_LINKED: [usize; 2] = [5_000, 50_000];

/// Groups of contacts, found anew for every solve.
#[derive(Debug, Default)]
pub(crate) struct Groups {
    sets: Union,
    /// Contacts ordered by group, and where each group starts.
    order: Vec<u32>,
    starts: Vec<usize>,
    /// Which contacts have pushed or closed since this was forgotten.
    acted: Vec<bool>,
    problem: Delassus,
    splitting: Splitting,
    /// Groups of bodies, loose or in small mechanisms; these, and the place among them of each mover.
    linked: Linked,
    hands: Vec<Hand>,
    places: Vec<u32>,
    ways: Ways,
}

/// A loose body or a small mechanism that contacts push: its first body in the problem, and the ways in
/// which a mechanism moves.
#[derive(Clone, Copy, Debug)]
struct Hand {
    first: u32,
    ways: Option<UnitWays>,
}

/// Contacts of a group at most that are solved as a dense problem where all else failed.
const SMALL: usize = 100;
/// Violation of a group at most that is left where others carry far larger forces.
const ROUGH: f64 = 1e-2;

/// No place.
const NOWHERE: u32 = u32::MAX;

/// How a group is solved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// Gauss–Seidel with a Newton finish.
    Newton,
    /// Operator splitting.
    Splitting,
}

impl Groups {
    /// Forgets which contacts have pushed.
    pub fn forget(&mut self) {
        self.acted.clear();
    }

    /// Finds the groups among contacts that push or are about to, or did so before.
    pub fn find(&mut self, rows: &[ContactRow], stops: &[Stop], movers: &Movers) {
        self.sets.reset(movers.all.len());
        let acts = |row: &ContactRow| row.lambda[0] > 0.0 || row.slip(&movers.all)[0] < 0.0;
        self.acted.resize(rows.len(), false);
        for (row, acted) in rows.iter().zip(&mut self.acted) {
            *acted |= acts(row);
            if *acted && row.a.mover != FIXED && row.b.mover != FIXED {
                let [a, b] = [&row.a, &row.b].map(|arm| movers.root(arm.mover));
                self.sets.join(a, b);
            }
        }
        self.order.clear();
        let acting = (0..).zip(&self.acted).filter(|(_, acted)| **acted);
        self.order.extend(acting.map(|(k, _)| k));
        let acts = |stop: &Stop| stop.lambda > 0.0 || stop.gap(movers) < 0.0;
        let acting = (rows.len() as u32..).zip(stops);
        self.order
            .extend(acting.filter(|(_, stop)| acts(stop)).map(|(k, _)| k));
        let mut order = std::mem::take(&mut self.order);
        // No two have the same key, and a stable sort would need memory.
        order.sort_unstable_by_key(|k| (self.group_of(*k, rows, stops, movers), *k));
        self.starts.clear();
        let mut last = None;
        for (at, k) in order.iter().enumerate() {
            let group = self.group_of(*k, rows, stops, movers);
            if last != Some(group) {
                self.starts.push(at);
                last = Some(group);
            }
        }
        self.starts.push(order.len());
        self.order = order;
    }

    /// The group of a contact, or of a stop, which are numbered after them.
    fn group_of(&mut self, k: u32, rows: &[ContactRow], stops: &[Stop], movers: &Movers) -> u32 {
        let side = match rows.get(k as usize) {
            Some(row) => row.a.mover.min(row.b.mover),
            None => stops[k as usize - rows.len()].mover(),
        };
        self.sets.head(movers.root(side))
    }

    /// Solves every group of at most `few` contacts, or of at most `many` if all of them stand; and
    /// of bodies without joints where it does not cost too much. Returns the sum of the iterations, and whether every contact was in such a group and
    /// solved.
    pub fn solve(
        &mut self,
        rows: &mut [ContactRow],
        movers: &mut Movers,
        way: Way,
        tolerance: f64,
        [few, many]: [usize; 2],
    ) -> (usize, Option<f64>) {
        self.forget();
        self.find(rows, &[], movers);
        let (mut iterations, mut worst) = (0, Some(0.0f64));
        for group in 0..self.starts.len() - 1 {
            let range = self.starts[group]..self.starts[group + 1];
            let members = &self.order[range.clone()];
            let standing = members.iter().all(|k| rows[*k as usize].standing);
            let loose = members.iter().all(|k| rows[*k as usize].is_loose());
            let report = if way == Way::Newton && loose {
                self.link(range.clone(), rows, &[], movers);
                let most = if standing {
                    MOST_LINKED[1]
                } else {
                    MOST_LINKED[0]
                };
                (self.linked.plan() <= most).then(|| self.linked.solve(tolerance))
            } else if members.len() <= if standing { many } else { few } {
                Some(self.solve_group(range.clone(), rows, movers, way, tolerance))
            } else {
                None
            };
            let Some(report) = report else {
                worst = None;
                continue;
            };
            self.put(range, rows, &mut [], movers, |groups| {
                match way == Way::Newton && loose {
                    true => groups.linked.lambda(),
                    false => &groups.problem.lambda,
                }
            });
            iterations += report.sweeps + report.newton;
            worst = worst.map(|worst| worst.max(report.residual));
        }
        (iterations, worst)
    }

    /// Solves every group to a violation relative to the largest force of all, whatever it takes. Bodies
    /// must be loose or answer together with their mechanisms. Contacts that pushed in an earlier solve take
    /// part until that is forgotten: one that opens and closes by turns would join and part two groups for
    /// ever. Returns the sum of the iterations.
    pub fn settle(
        &mut self,
        rows: &mut [ContactRow],
        stops: &mut [Stop],
        movers: &mut Movers,
        accuracy: f64,
    ) -> usize {
        self.find(rows, stops, movers);
        let mut all = Violation::of(&*rows, movers);
        all.add_stops(&*stops, movers);
        let aim = accuracy * all.scale();
        let mut count = 0;
        for group in 0..self.starts.len() - 1 {
            let range = self.starts[group]..self.starts[group + 1];
            // Stops come after the contacts.
            let members = &self.order[range.clone()];
            let (touching, stopped) =
                members.split_at(members.partition_point(|k| (*k as usize) < rows.len()));
            let mut own = Violation::of(touching.iter().map(|k| &rows[*k as usize]), movers);
            let is_stopped = !stopped.is_empty();
            let stopped = stopped.iter().map(|k| &stops[*k as usize - rows.len()]);
            own.add_stops(stopped, movers);
            if own.worst <= aim {
                continue;
            }
            let tolerance = (aim / own.scale()).clamp(accuracy, ROUGH);
            self.link(range.clone(), rows, stops, movers);
            self.linked.plan();
            let report = self.linked.settle(tolerance);
            count += report.sweeps + report.newton;
            self.put(range.clone(), rows, stops, movers, |groups| {
                groups.linked.lambda()
            });
            if report.residual > tolerance && range.len() <= SMALL && !is_stopped {
                let dense = self.solve_group(range.clone(), rows, movers, Way::Newton, tolerance);
                count += dense.sweeps + dense.newton;
                if dense.residual < report.residual {
                    self.put(range, rows, stops, movers, |groups| &groups.problem.lambda);
                }
            }
        }
        count
    }

    /// Tells the rows of a group their forces.
    fn put(
        &self,
        range: std::ops::Range<usize>,
        rows: &mut [ContactRow],
        stops: &mut [Stop],
        movers: &mut Movers,
        forces: impl FnOnce(&Groups) -> &[f64],
    ) {
        for (&k, l) in self.order[range].iter().zip(forces(self).chunks_exact(3)) {
            let k = k as usize;
            match k < rows.len() {
                true => rows[k].take(movers, [l[0], l[1], l[2]]),
                false => stops[k - rows.len()].take(movers, l[0]),
            }
        }
    }

    fn solve_group(
        &mut self,
        range: std::ops::Range<usize>,
        rows: &mut [ContactRow],
        movers: &mut Movers,
        way: Way,
        tolerance: f64,
    ) -> ConeReport {
        let members = &self.order[range];
        let (n, size) = (members.len(), 3 * members.len());
        let problem = &mut self.problem;
        problem.reset(n);
        for (i, &k) in members.iter().enumerate() {
            let row = &rows[k as usize];
            for (j, &l) in members.iter().enumerate().take(i + 1) {
                let mut w = row.coupling(&rows[l as usize], movers);
                if i == j {
                    w = plus_diagonal(&w, row.soft[0], row.soft[1]);
                }
                for r in 0..3 {
                    for c in 0..3 {
                        problem.matrix[(3 * i + r) * size + 3 * j + c] = w[3 * r + c];
                        problem.matrix[(3 * j + c) * size + 3 * i + r] = w[3 * r + c];
                    }
                }
            }
            problem.mu[i] = row.mu;
            problem.lambda[3 * i..3 * i + 3].copy_from_slice(&row.lambda);
        }
        // The slip holds D λ of the present λ already.
        for (i, &k) in members.iter().enumerate() {
            let u = rows[k as usize].slip(&movers.all);
            for r in 0..3 {
                let d = &problem.matrix[(3 * i + r) * size..][..size];
                let pushed: f64 = d.iter().zip(&problem.lambda).map(|(d, l)| d * l).sum();
                problem.free[3 * i + r] = u[r] - pushed;
            }
        }
        match way {
            Way::Newton => problem.solve(tolerance, 8),
            Way::Splitting => self.splitting.solve(problem, tolerance, 2000),
        }
    }

    /// Makes the problem of a group of bodies that are loose, or answer together with their mechanisms.
    fn link(
        &mut self,
        range: std::ops::Range<usize>,
        rows: &[ContactRow],
        stops: &[Stop],
        movers: &Movers,
    ) {
        self.linked.clear();
        self.hands.clear();
        self.ways.clear();
        self.places.resize(movers.all.len(), NOWHERE);
        for place in range.clone() {
            let k = self.order[place] as usize;
            let Some(row) = rows.get(k) else {
                self.link_stop(&stops[k - rows.len()], movers);
                continue;
            };
            let touch = Touch {
                soft: row.soft,
                mu: row.mu,
                compliance: row.w[0] + row.w[4] + row.w[8],
            };
            self.linked
                .add_touch(touch, row.slip(&movers.all), row.lambda);
            for (arm, sign) in [(&row.a, -1.0), (&row.b, 1.0)] {
                if arm.mover != FIXED {
                    let hand = self.hand_of(arm.mover, movers);
                    self.reach(hand, row, arm, sign);
                }
            }
        }
        for &k in &self.order[range] {
            let sides = match rows.get(k as usize) {
                Some(row) => [row.a.mover, row.b.mover],
                None => stops[k as usize - rows.len()].movers,
            };
            for mover in sides.into_iter().filter(|mover| *mover != FIXED) {
                self.places[together(mover, movers)].fill(NOWHERE);
            }
        }
    }

    /// Adds a stop to the problem, as a contact without friction.
    fn link_stop(&mut self, stop: &Stop, movers: &Movers) {
        let touch = Touch {
            soft: [0.0; 2],
            mu: 0.0,
            compliance: stop.compliance,
        };
        let (gap, force) = ([stop.gap(movers), 0.0, 0.0], [stop.lambda, 0.0, 0.0]);
        self.linked.add_touch(touch, gap, force);
        for (mover, by) in stop.sides() {
            let Hand { first, ways } = self.hand_of(mover, movers);
            let Some(ways) = ways else {
                let [[x, y, z], [a, b, c]] = *by;
                let none = [0.0; 6];
                self.linked
                    .add_reach(first, [[x, y, z, a, b, c], none, none]);
                continue;
            };
            for six in 0..ways.count.div_ceil(6) {
                let mut gradient = [[0.0; 6]; 3];
                for way in 6 * six..ways.count.min(6 * six + 6) {
                    gradient[0][way as usize % 6] = self.ways.opening(&ways, way, mover, by);
                }
                self.linked.add_reach(first + six, gradient);
            }
        }
    }

    /// What a mover belongs to, which becomes part of the problem if it is none yet.
    fn hand_of(&mut self, mover: u32, movers: &Movers) -> Hand {
        if let Some(hand) = self.hands.get(self.places[mover as usize] as usize) {
            return *hand;
        }
        let (first, place) = (self.linked.bodies(), self.hands.len() as u32);
        self.places[together(mover, movers)].fill(place);
        let body = &movers.all[mover as usize];
        let ways = if body.cluster == ALONE {
            self.linked.add_body(body.per_force, body.per_torque);
            None
        } else {
            let ways = self.ways.add(movers.unit_of(mover), movers);
            for _ in 0..ways.count.div_ceil(6) {
                self.linked.add_ways();
            }
            Some(ways)
        };
        self.hands.push(Hand { first, ways });
        Hand { first, ways }
    }

    /// Tells what moves one side of the last contact.
    fn reach(&mut self, hand: Hand, row: &ContactRow, arm: &Arm, sign: f64) {
        let Some(ways) = &hand.ways else {
            let lever = arm.lever(&row.frame);
            let gradient = [0, 1, 2].map(|i| {
                let ([x, y, z], [a, b, c]) = (row.frame[i], lever[i]);
                [x, y, z, a, b, c].map(|v| sign * v)
            });
            self.linked.add_reach(hand.first, gradient);
            return;
        };
        for six in 0..ways.count.div_ceil(6) {
            let mut gradient = [[0.0; 6]; 3];
            for way in 6 * six..ways.count.min(6 * six + 6) {
                let sway = self.ways.sway(ways, way, row, arm, sign);
                for (axis, moved) in gradient.iter_mut().zip(sway) {
                    axis[way as usize % 6] = moved;
                }
            }
            self.linked.add_reach(hand.first + six, gradient);
        }
    }
}

/// The movers that answer together with one.
fn together(mover: u32, movers: &Movers) -> std::ops::Range<usize> {
    match movers.all[mover as usize].cluster {
        ALONE => mover as usize..mover as usize + 1,
        _ => movers.unit(movers.unit_of(mover)),
    }
}
