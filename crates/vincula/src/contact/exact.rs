//! Anticipation: contacts that feel each other, as one dense problem.
//!
//! `D = J H⁻¹Jᵀ − (J H⁻¹J_jᵀ) A⁻¹ (J_j H⁻¹Jᵀ)`: the response of the bodies with that of the
//! joints behind them already inside, from the 6×6 blocks of `movers.rs`. A group is a set of
//! contacts that share bodies or mechanisms; it is solved by `vincula_blocks::cone`. Where no joint
//! holds a body of the group, D is not written down: what bodies do is sparse
//! (`vincula_blocks::cone::linked`).

use vincula_blocks::cone::{ConeReport, Delassus, Splitting};

use super::kept::Kept;
use super::linking::Links;
use super::movers::{FIXED, Movers};
use super::rows::ContactRow;
use super::sweep::Violation;
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
    /// The forces that came nearest to the law.
    pub best: Kept,
    problem: Delassus,
    splitting: Splitting,
    /// Groups of bodies, loose or in small mechanisms, and those of which most are pairs.
    linked: Links<6>,
    paired: Links<12>,
}

/// Contacts of a group at most that are solved as a dense problem where all else failed.
const SMALL: usize = 100;
/// Violation of a group at most that is left where others carry far larger forces.
const ROUGH: f64 = 1e-2;

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
    pub fn find(&mut self, rows: &[ContactRow], movers: &Movers) {
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
        let mut order = std::mem::take(&mut self.order);
        // No two have the same key, and a stable sort would need memory.
        order.sort_unstable_by_key(|k| (self.group_of(&rows[*k as usize], movers), *k));
        self.starts.clear();
        let mut last = None;
        for (at, k) in order.iter().enumerate() {
            let group = self.group_of(&rows[*k as usize], movers);
            if last != Some(group) {
                self.starts.push(at);
                last = Some(group);
            }
        }
        self.starts.push(order.len());
        self.order = order;
    }

    fn group_of(&mut self, row: &ContactRow, movers: &Movers) -> u32 {
        let side = if row.a.mover == FIXED {
            row.b.mover
        } else {
            row.a.mover
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
        self.find(rows, movers);
        let (mut iterations, mut worst) = (0, Some(0.0f64));
        for group in 0..self.starts.len() - 1 {
            let range = self.starts[group]..self.starts[group + 1];
            let members = &self.order[range.clone()];
            let standing = members.iter().all(|k| rows[*k as usize].standing);
            let loose = members.iter().all(|k| rows[*k as usize].is_loose());
            let report = if way == Way::Newton && loose {
                let problem = self.linked.load(members, rows, movers);
                let most = if standing {
                    MOST_LINKED[1]
                } else {
                    MOST_LINKED[0]
                };
                (problem.plan() <= most).then(|| problem.solve(tolerance))
            } else if members.len() <= if standing { many } else { few } {
                Some(self.solve_group(range.clone(), rows, movers, way, tolerance))
            } else {
                None
            };
            let Some(report) = report else {
                worst = None;
                continue;
            };
            iterations += report.sweeps + report.newton;
            worst = worst.map(|worst| worst.max(report.residual));
            let linked = way == Way::Newton && loose;
            if report.residual <= tolerance || self.is_nearer(&range, rows, movers, &report, linked)
            {
                self.put(range, rows, movers, |groups| groups.found(linked));
            }
        }
        (iterations, worst)
    }

    /// Solves every group to a violation relative to the largest force of all, whatever it takes. Bodies
    /// must be loose or answer together with their mechanisms. Contacts that pushed in an earlier solve take
    /// part until that is forgotten: one that opens and closes by turns would join and part two groups for
    /// ever. Returns the sum of the iterations.
    pub fn settle(&mut self, rows: &mut [ContactRow], movers: &mut Movers, accuracy: f64) -> usize {
        self.find(rows, movers);
        let aim = accuracy * Violation::of(&*rows, movers).scale();
        let mut count = 0;
        for group in 0..self.starts.len() - 1 {
            let range = self.starts[group]..self.starts[group + 1];
            let members = self.order[range.clone()].iter().map(|k| &rows[*k as usize]);
            let own = Violation::of(members, movers);
            if own.worst <= aim {
                continue;
            }
            let tolerance = (aim / own.scale()).clamp(accuracy, ROUGH);
            let members = &self.order[range.clone()];
            let pairs = are_pairs(members, rows, movers);
            let report = match pairs {
                true => self.paired.settle(members, rows, movers, tolerance),
                false => self.linked.settle(members, rows, movers, tolerance),
            };
            count += report.sweeps + report.newton;
            self.put(range.clone(), rows, movers, |groups| match pairs {
                true => groups.paired.lambda(),
                false => groups.linked.lambda(),
            });
            if report.residual > tolerance && range.len() <= SMALL {
                let dense = self.solve_group(range.clone(), rows, movers, Way::Newton, tolerance);
                count += dense.sweeps + dense.newton;
                if dense.residual < report.residual {
                    self.put(range, rows, movers, |groups| &groups.problem.lambda);
                }
            }
        }
        count
    }

    /// The forces that were found for a group.
    fn found(&self, linked: bool) -> &[f64] {
        match linked {
            true => self.linked.lambda(),
            false => &self.problem.lambda,
        }
    }

    /// Whether forces that were found for a group violate the law by less than those that it has, in newtons:
    /// forces that ran away leave little beside them.
    fn is_nearer(
        &self,
        range: &std::ops::Range<usize>,
        rows: &[ContactRow],
        movers: &Movers,
        report: &ConeReport,
        linked: bool,
    ) -> bool {
        let members = self.order[range.clone()].iter().map(|k| &rows[*k as usize]);
        let largest = self
            .found(linked)
            .iter()
            .fold(0.0, |m: f64, x| m.max(x.abs()));
        report.residual * largest <= Violation::of(members, movers).worst
    }

    /// Tells the rows of a group their forces.
    fn put(
        &self,
        range: std::ops::Range<usize>,
        rows: &mut [ContactRow],
        movers: &mut Movers,
        forces: impl FnOnce(&Groups) -> &[f64],
    ) {
        for (&k, l) in self.order[range].iter().zip(forces(self).chunks_exact(3)) {
            rows[k as usize].take(movers, [l[0], l[1], l[2]]);
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
}

/// Whether most of what contacts push are mechanisms of which they push several bodies.
fn are_pairs(members: &[u32], rows: &[ContactRow], movers: &Movers) -> bool {
    let (mut several, mut all) = (0, 0);
    for row in members.iter().map(|k| &rows[*k as usize]) {
        for arm in [&row.a, &row.b].into_iter().filter(|a| a.mover != FIXED) {
            all += 1;
            several += usize::from(movers.together_with(arm.mover).len() > 1);
        }
    }
    2 * several > all
}
