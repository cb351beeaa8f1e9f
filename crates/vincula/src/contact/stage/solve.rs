//! Which solver takes the rows of a stage.

use super::*;

/// Violation, relative to the largest force, that is better met by steps than by sweeps.
const NEAR: f64 = 1e-4;

impl Stage {
    /// Solves the rows of the present stage, which may be solved but for a small change; returns
    /// the iterations.
    pub fn solve(
        &mut self,
        settings: &Settings,
        dual: &mut Dual,
        work: &[NewtonBlock],
        again: bool,
    ) -> usize {
        let Some(accuracy) = self.accuracy(settings) else {
            return self.solve_within(settings, dual, work, again);
        };
        if let Some(count) = self.solve_woven(accuracy, dual, work, again) {
            return count;
        }
        let aim = self.aim(accuracy);
        // Sweeps lead away from forces that nearly meet the law.
        if settings.contact_accuracy.is_some() && self.nearly_meets(aim) {
            return self.go_on(settings, aim, dual, work);
        }
        self.solve_within(settings, dual, work, again) + self.go_on(settings, aim, dual, work)
    }

    /// Whether the forces that a crowd of loose bodies starts with hardly violate the law, or by no more
    /// than is aimed at.
    fn nearly_meets(&self, aim: f64) -> bool {
        is_crowd(self.rows.len())
            && self.rows.iter().all(|row| row.is_loose() && !row.spins())
            && self.residual() <= aim.max(NEAR)
    }

    /// The same, as well as it can be done for what steps are usually allowed to cost.
    fn solve_within(
        &mut self,
        settings: &Settings,
        dual: &mut Dual,
        work: &[NewtonBlock],
        again: bool,
    ) -> usize {
        let (swept, left) = (self.care() == Care::Crowd, self.left());
        let share = SHARES[usize::from(again)];
        let Stage {
            rows,
            movers,
            groups,
            sweeper,
            coupled,
            spent,
            ..
        } = self;
        if movers.knows_own() {
            let used = coupled.solve(
                rows,
                movers,
                dual,
                work,
                Effort::within((left / share).max(LEAST)),
                again,
            );
            *spent += used;
            return used;
        }
        // At rest the forces of the last step are those of this one. The residual says nothing of
        // rolling and torsional friction.
        let spins = |rows: &[ContactRow]| rows.iter().any(|row| row.spins());
        let exact = settings.contact_solver != ContactSolver::GaussSeidel;
        // Looking at all of a crowd is as dear as sweeping it.
        let crowd = is_crowd(rows.len()) && !(exact && can_be_linked(rows));
        let looks = exact && !crowd && !spins(rows);
        // Of many contacts that lean on each other rounding leaves more.
        let left = [10.0, 100.0][usize::from(is_crowd(rows.len()))] * settings.cone_tolerance;
        let solved = |rows: &[ContactRow], movers: &Movers| sweep::residual(rows, movers) <= left;
        if looks && solved(rows, movers) {
            return 0;
        }
        if swept {
            let most = SWEEPS[usize::from(again)];
            return sweeper.solve_until(rows, movers, STILL, most).0;
        }
        let affordable = MOST_ROWS_SWEPT / rows.len().max(1);
        let affordable = if again {
            (affordable / 4).max(2)
        } else {
            affordable.max(FEWEST_SWEEPS)
        };
        let (tolerance, limit) = (
            settings.contact_tolerance,
            settings.sweep_limit.min(affordable),
        );
        let way = match settings.contact_solver {
            ContactSolver::Splitting => Way::Splitting,
            _ => Way::Newton,
        };
        let (first, most) = match settings.contact_solver {
            _ if spins(rows) => (limit, [0; 2]),
            ContactSolver::Automatic if crowd => (limit, [0; 2]),
            ContactSolver::Automatic => (FIRST_SWEEPS.min(limit), [FEW_DENSE, MOST_DENSE]),
            ContactSolver::GaussSeidel | ContactSolver::Penalty => (limit, [0; 2]),
            // Sweeps guess who sticks, slides and is apart.
            ContactSolver::Anticipation | ContactSolver::Splitting => {
                (FIRST_SWEEPS.min(limit), [usize::MAX; 2])
            }
        };
        let (mut count, mut enough) = sweeper.solve(rows, movers, tolerance, first);
        // A length says little where forces are small.
        enough &= !looks || solved(rows, movers);
        if !enough && most[0] > 0 {
            // A contact that was left aside as open may close by what the others did.
            for _ in 0..ASIDE {
                let (iterations, worst) =
                    groups.solve(rows, movers, way, settings.cone_tolerance, most);
                count += iterations;
                let left = sweep::residual(rows, movers);
                enough = worst.is_some() && left <= settings.cone_tolerance.max(GOOD_ENOUGH);
                if worst.is_none_or(|worst| left <= settings.cone_tolerance.max(2.0 * worst)) {
                    break;
                }
            }
            enough |= settings.contact_solver != ContactSolver::Automatic;
        }
        if !enough && first < limit {
            count += sweeper.solve(rows, movers, tolerance, limit - first).0;
        }
        count
    }
}

/// Whether contacts are those of bodies without joints that stand, and not too many to be solved at
/// once.
pub(super) fn can_be_linked(rows: &[ContactRow]) -> bool {
    rows.len() <= MOST_STANDING && rows.iter().all(|row| row.standing && row.is_loose())
}
