//! Contacts solved to an accuracy: one that the user asks for, the usual one where they are few or stand, or
//! one that keeps them from being too deep.

use super::solve::can_be_linked;
use super::*;

/// Products at most of a group of contacts, and of a step: where so many do not help, more of them do not
/// either.
const PRODUCTS: [usize; 2] = [3_000, 6_000];
/// Rounds at most for bodies and small mechanisms (`Groups::settle`), and those that may leave more than
/// half of the violation.
const ROUNDS: usize = 12;
const PATIENCE: usize = 3;
/// Sweeps between two looks at the violation, and at most where nothing else serves.
const LOOK: usize = 50;
const SWEEPS: usize = 3_000;

/// What a solve leaves of the violation where joints are closed after it, and that it leaves at most.
const LEFT: f64 = 0.05;
const ROUGH: f64 = 1e-3;

/// Contacts at most that are solved to an accuracy although none is asked for, which then costs next to
/// nothing, and that accuracy. Where joints hold bodies, more than MANY_HELD are not.
const FEW: usize = 300;
const USUAL: f64 = 1e-6;
/// Times that they may fail to come to it in all parts of a step: more tries take long and fail too.
const MISSES: usize = 4;
/// The accuracy to which contacts of loose bodies are solved that would be left too deep, at first, and what
/// it is multiplied by where that was not enough.
const INSISTED: f64 = 1e-3;
const FINER: f64 = 0.1;

/// What was done towards an accuracy in a step.
#[derive(Debug, Default)]
pub(super) struct Toil {
    /// Products in this part of it.
    products: usize,
    /// How often contacts that are solved to the usual accuracy did not come to it in all parts, and whether
    /// they are given up in this one.
    misses: usize,
    gave_up: bool,
    /// The accuracy to which the rest of the part is solved, where contacts were left too deep.
    insisted: Option<f64>,
}

impl Toil {
    /// A new step.
    pub fn forgive(&mut self) {
        self.misses = 0;
    }

    /// A new part of it.
    pub fn begin(&mut self) {
        self.products = 0;
        self.gave_up = self.misses >= MISSES;
        self.insisted = None;
    }

    fn miss(&mut self) {
        self.misses += 1;
        self.gave_up = true;
    }
}

impl Stage {
    /// The violation of the law, relative to the largest force, that contacts are solved to: the one that is
    /// asked for, or the usual one where they are few and answered for by blocks, or all stand.
    pub fn accuracy(&self, settings: &Settings) -> Option<f64> {
        if settings.contact_accuracy.is_some() {
            return settings.contact_accuracy;
        }
        let chooses = settings.contact_solver == ContactSolver::Automatic;
        let usual = chooses && self.has_begun() && (self.has_few() || self.stands());
        match usual {
            true => Some(USUAL),
            false => self.toil.insisted,
        }
    }

    /// Whether contacts of loose bodies that are too deep can be solved to a higher accuracy although none is
    /// asked for: for the rest of the step they are.
    pub fn insist(&mut self, settings: &Settings) -> bool {
        let next = match self.toil.insisted {
            None => INSISTED,
            Some(last) => FINER * last,
        };
        let may = settings.contact_solver == ContactSolver::Automatic
            && settings.contact_accuracy.is_none()
            && !self.toil.gave_up
            && next >= 0.5 * USUAL
            && self.rows.len() <= MOST_STANDING
            && self.rows.iter().all(|row| row.is_loose() && !row.spins());
        if may {
            self.toil.insisted = Some(next);
        }
        may
    }

    /// Whether more care would do nothing for loose bodies whose contacts are not at the accuracy that is usual.
    pub fn gave_up(&self, settings: &Settings) -> bool {
        self.toil.gave_up && settings.contact_accuracy.is_none() && !self.movers.hold_mechanisms()
    }

    fn has_few(&self) -> bool {
        self.links.len() <= FEW && !self.movers.knows_own()
    }

    /// Whether all bodies stand that the rows of the present stage touch, without joints.
    fn stands(&self) -> bool {
        can_be_linked(&self.rows) && !self.rows.iter().any(ContactRow::spins)
    }

    /// The violation that a solve is to end with: joints that are closed after it make a new one.
    pub(super) fn aim(&self, accuracy: f64) -> f64 {
        match self.movers.hold_mechanisms() {
            true => accuracy.max((LEFT * self.residual()).min(ROUGH)),
            false => accuracy,
        }
    }

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
    pub(super) fn go_on(
        &mut self,
        settings: &Settings,
        accuracy: f64,
        dual: &mut Dual,
        work: &[NewtonBlock],
    ) -> usize {
        // What failed in a step is likely to do so again, and takes long.
        let asked = settings.contact_accuracy.is_some();
        if self.residual() <= accuracy || (!asked && self.toil.gave_up) {
            return 0;
        }
        let Stage {
            rows,
            movers,
            groups,
            sweeper,
            coupled,
            toil,
            ..
        } = self;
        if movers.knows_own() {
            let [group, step] = PRODUCTS;
            let most = group.min(step.saturating_sub(toil.products));
            if most == 0 {
                return 0;
            }
            let effort = Effort::to(accuracy, most);
            let used = coupled.solve(rows, movers, dual, work, effort, true);
            toil.products += used;
            return used;
        }
        if movers.answer_together() && !rows.iter().any(ContactRow::spins) {
            let (count, left) = settle_groups(accuracy, rows, movers, groups, sweeper);
            if !asked && left > accuracy {
                toil.miss();
            }
            return count;
        }
        let mut count = 0;
        for _ in 0..SWEEPS / LOOK {
            count += sweeper.solve(rows, movers, 0.0, LOOK).0;
            if sweep::residual(rows, movers) <= accuracy {
                break;
            }
        }
        count
    }
}

/// Solves groups of contacts by themselves until all meet the law: what they do closes contacts that were
/// open. Where that leads nowhere, sweeps find another start. Ends with the forces that came nearest; returns
/// the iterations and what is left of the violation.
fn settle_groups(
    accuracy: f64,
    rows: &mut [ContactRow],
    movers: &mut Movers,
    groups: &mut Groups,
    sweeper: &mut Sweeper,
) -> (usize, f64) {
    let (mut count, mut patience) = (0, PATIENCE);
    // In newtons: where forces run away, what is left is little beside them.
    let (mut before, mut least) = (f64::INFINITY, Violation::of(&*rows, movers).worst);
    groups.forget();
    groups.best.keep(rows, movers);
    for _ in 0..ROUNDS {
        count += groups.settle(rows, movers, accuracy);
        let violation = Violation::of(&*rows, movers);
        let left = violation.relative();
        if violation.worst < least {
            least = violation.worst;
            groups.best.keep(rows, movers);
        }
        if left <= accuracy {
            return (count, left);
        }
        if !(left <= 0.5 * before) {
            patience -= 1;
            if patience == 0 {
                break;
            }
            count += sweeper.solve(rows, movers, 0.0, LOOK).0;
        }
        before = left;
    }
    groups.best.take(rows, movers);
    (count, sweep::residual(rows, movers))
}
