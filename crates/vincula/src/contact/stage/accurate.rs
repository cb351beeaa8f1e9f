//! Contacts solved to an accuracy that the user asks for.

use super::*;

/// Products at most of a group of contacts, and of a step: where so many do not help, more of them do not
/// either.
const PRODUCTS: [usize; 2] = [3_000, 6_000];
/// Turns and steps at most of a round for bodies without joints (`Groups::settle`), and rounds, with
/// sweeps in between.
const TURNS: usize = 4_000;
const STEPS: usize = 100;
const ROUNDS: usize = 12;
/// Sweeps between two looks at the violation, and at most where nothing else serves.
const LOOK: usize = 50;
const SWEEPS: usize = 3_000;

impl Stage {
    /// Solves the rows of a net with mechanisms on it; returns the iterations, or nothing if they are
    /// others, or do not meet the law to a relative violation.
    pub(super) fn solve_woven(
        &mut self,
        accuracy: f64,
        dual: &mut Dual,
        work: &[NewtonBlock],
        again: bool,
    ) -> Option<usize> {
        if !self.movers.knows_own() {
            return None;
        }
        let Stage {
            rows,
            movers,
            coupled,
            ..
        } = self;
        let count = coupled.solve_woven(rows, movers, dual, work, again)?;
        (self.residual() <= accuracy).then_some(count)
    }

    /// Goes on with the rows of the present stage until they meet Coulomb's law to a relative
    /// violation; returns the iterations.
    pub(super) fn go_on(&mut self, accuracy: f64, dual: &mut Dual, work: &[NewtonBlock]) -> usize {
        if self.residual() <= accuracy {
            return 0;
        }
        let Stage {
            rows,
            movers,
            groups,
            sweeper,
            coupled,
            toiled,
            ..
        } = self;
        if movers.knows_own() {
            let [group, step] = PRODUCTS;
            let most = group.min(step.saturating_sub(*toiled));
            if most == 0 {
                return 0;
            }
            let effort = Effort::to(accuracy, most);
            let used = coupled.solve(rows, movers, dual, work, effort, true);
            *toiled += used;
            return used;
        }
        let linked = rows.iter().all(|r| r.is_loose() && !r.spins());
        let rounds = if linked { ROUNDS } else { SWEEPS / LOOK };
        let mut count = 0;
        for _ in 0..rounds {
            if linked {
                let report = groups.settle(rows, movers, accuracy, [TURNS, STEPS]);
                count += report.sweeps + report.newton;
                if sweep::residual(rows, movers) <= accuracy {
                    break;
                }
            }
            count += sweeper.solve(rows, movers, 0.0, LOOK).0;
            if sweep::residual(rows, movers) <= accuracy {
                break;
            }
        }
        count
    }
}
