//! How long contacts and joints take turns within a stage.
//!
//! After each turn they are *off* by some length: what the joints moved contacts by since these were solved.

use super::Workspace;
use crate::contact::stage::Care;

/// Turns at most, by how much care contacts get.
const TURNS: [usize; 3] = [4, 2, 2];
/// More of them where contacts made limits or friction of joints change what they do.
const MORE_TURNS: usize = 4;
/// The same where an accuracy is asked for: a turn may take only a quarter of the disagreement.
const ACCURATE_TURNS: usize = 40;
/// Turns of the second stage at most after which contacts and joints disagree more than before.
pub(super) const ASTRAY: usize = 4;
/// What a turn must leave of the disagreement at most to be a good one, and how many others are taken.
const HALF: f64 = 0.5;
const STUCK: usize = 3;
/// Two disagreements that are the same, relative, and turns at most after which they come again.
const SAME: f64 = 0.03;
const PERIOD: usize = 6;
/// What a turn must leave of the disagreement at most for another one to be taken.
const CONTRACTION: f64 = 0.3;
/// Disagreement of joints and the contacts of large mechanisms that is none, m, and the same in
/// crowds.
const AGREEMENT: [f64; 2] = [1e-6, 1e-5];
/// Violation of the law, relative to the largest force, that contacts that are few, and those of large
/// mechanisms that are solved all at once, may be left with where they and the joints agree.
const LAWFUL: [f64; 2] = [1e-7, 9e-7];

/// By how much contacts and joints disagreed after the turns of a stage so far.
pub(super) struct Course {
    /// The last ones, m, the latest first.
    offs: [f64; 2 * PERIOD],
    /// How many turns left too much.
    poor: usize,
}

impl Default for Course {
    fn default() -> Self {
        Course {
            offs: [f64::INFINITY; 2 * PERIOD],
            poor: 0,
        }
    }
}

impl Course {
    /// Adds a turn.
    pub fn note(&mut self, off: f64) {
        self.poor += usize::from(!(off <= HALF * self.offs[0]));
        self.offs.rotate_right(1);
        self.offs[0] = off;
    }

    /// Whether too many turns did little.
    pub fn is_stuck(&self) -> bool {
        self.poor > STUCK
    }

    /// Whether disagreements come again and again, and the last is the least of them: limits that open and
    /// close by turns would do so for ever.
    pub fn swings(&self) -> bool {
        let offs = &self.offs;
        let same = |a: f64, b: f64| (a - b).abs() <= SAME * a;
        let again = |period: usize| (0..period).all(|k| same(offs[k], offs[k + period]));
        let least = |period: usize| offs[..period].iter().all(|off| offs[0] <= *off);
        (2..=PERIOD).any(|period| least(period) && again(period))
    }
}

/// Whether a turn took enough of a disagreement for another one to be taken.
pub(super) fn contracts(before: f64, after: f64) -> bool {
    after < CONTRACTION * before
}

/// Turns at most, where joints may have changed what they do.
pub(super) fn most(work: &Workspace, changed: bool) -> usize {
    let most = match work.accuracy() {
        Some(_) => ACCURATE_TURNS,
        None => usual(work),
    };
    most + if changed { MORE_TURNS } else { 0 }
}

/// The same where no accuracy is asked for.
pub(super) fn usual(work: &Workspace) -> usize {
    let kind = if work.stage.is_direct() {
        Care::Exact
    } else {
        work.stage.care()
    };
    TURNS[kind as usize]
}

/// Whether contacts meet the law as well as is asked for.
pub(super) fn is_accurate(work: &Workspace) -> bool {
    work.is_enough(|| work.stage.residual())
}

/// Whether contacts and joints agree that were `off` by so much, m. Where contacts of large mechanisms
/// are solved all at once, it is enough that the law is met where the joints have moved them to.
pub(super) fn agrees(work: &Workspace, off: f64) -> bool {
    let (care, direct) = (work.stage.care(), work.stage.is_direct());
    let lawful = |most: f64| work.stage.residual() <= most;
    let agree = match care {
        Care::Exact => off <= work.settings.contact_tolerance && lawful(LAWFUL[0]),
        _ if direct => lawful(LAWFUL[1]),
        Care::Good => off <= AGREEMENT[0],
        Care::Crowd => off <= AGREEMENT[1],
    };
    agree && is_accurate(work)
}

impl Workspace {
    /// The violation of the law that the contacts of this step are solved to, if to one.
    pub(super) fn accuracy(&self) -> Option<f64> {
        self.stage.accuracy(&self.settings)
    }

    /// Whether contacts that violate the law by `residual` meet it as well as they are to.
    pub(super) fn is_enough(&self, residual: impl FnOnce() -> f64) -> bool {
        let gave_up = self.stage.gave_up(&self.settings);
        gave_up || self.accuracy().is_none_or(|most| residual() <= most)
    }
}
