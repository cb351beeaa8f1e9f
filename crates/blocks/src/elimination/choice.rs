//! A few nodes: where right-hand sides have entries, and where their solutions are wanted.
//!
//! What a node gives goes to its later neighbours, from these to theirs, and so on; and a node's
//! solution needs those of the same ones. So the steps on these ways are all that a solve needs
//! (Gilbert's reach).

use super::{Elimination, Step};
use crate::threads::both;

/// The steps that matter.
#[derive(Clone, Debug, Default)]
pub(super) struct Choice {
    /// The step of each scalar row that is the first of an eliminated node.
    step_of: Vec<u32>,
    marked: Vec<bool>,
    /// Ascending.
    steps: Vec<u32>,
    /// How many of them are in the first half.
    first: usize,
    /// Numbers in their factors.
    stored: usize,
}

impl Elimination {
    /// Chooses the nodes whose first scalar rows these are. The rows of the sparse remainder that
    /// they lead to are added to `rest`.
    pub fn choose(&mut self, rows: impl Iterator<Item = usize>, rest: &mut Vec<usize>) {
        let (plan, choice) = (&self.plan, &mut self.choice);
        if choice.step_of.is_empty() {
            choice.step_of.resize(self.scales.len(), u32::MAX);
            for (index, step) in plan.steps.iter().enumerate() {
                choice.step_of[step.row] = index as u32;
            }
            choice.marked.resize(plan.steps.len(), false);
        }
        choice.marked.fill(false);
        let Choice {
            step_of, marked, ..
        } = choice;
        let mut mark = |row: usize| {
            if let Some(mark) = marked.get_mut(step_of[row] as usize) {
                *mark = true;
            }
        };
        rows.for_each(&mut mark);
        choice.steps.clear();
        choice.stored = 0;
        for (index, step) in plan.steps.iter().enumerate() {
            if !choice.marked[index] {
                continue;
            }
            choice.steps.push(index as u32);
            choice.stored += step.size * step.size;
            for link in &plan.links[step.links[0]..step.links[1]] {
                choice.stored += step.size * link.size;
                if link.closure {
                    rest.extend(link.row..link.row + link.size);
                } else {
                    choice.marked[choice.step_of[link.row] as usize] = true;
                }
            }
        }
        choice.first = choice
            .steps
            .partition_point(|&index| (index as usize) < self.cut.step);
    }

    /// Numbers in the factors of the chosen steps.
    pub fn stored_chosen(&self) -> usize {
        self.choice.stored
    }

    /// As `condense`, of the chosen steps.
    pub fn condense_chosen(
        &mut self,
        rhs: &mut [f64],
        rows: &[usize],
        rest: &mut [f64],
        threads: usize,
    ) {
        let (plan, values) = (&self.plan, &self.values);
        let [gift_a, gift_b] = &mut self.gifts;
        let (a, b) = self.choice.steps.split_at(self.choice.first);
        let (first, second) = rhs.split_at_mut(self.cut.row.min(rhs.len()));
        let middle = first.len();
        both(
            threads,
            || plan.give(values, named(&plan.steps, a), first, 0, gift_a),
            || plan.give(values, named(&plan.steps, b), second, middle, gift_b),
        );
        self.add_gifts(rhs, rows, rest);
    }

    /// As `expand`, of the chosen steps.
    pub fn expand_chosen(&self, rhs: &mut [f64], rows: &[usize], rest: &[f64], threads: usize) {
        let (plan, values) = (&self.plan, &self.values);
        for (value, &row) in rest.iter().zip(rows) {
            rhs[row] = *value;
        }
        let (a, b) = self.choice.steps.split_at(self.choice.first);
        let (first, second) = rhs.split_at_mut(self.cut.row.min(rhs.len()));
        let middle = first.len();
        both(
            threads,
            || plan.backward::<true>(values, named(&plan.steps, a), first, 0, rest),
            || plan.backward::<true>(values, named(&plan.steps, b), second, middle, rest),
        );
    }
}

/// The steps with these numbers.
fn named<'a>(steps: &'a [Step], numbers: &'a [u32]) -> impl DoubleEndedIterator<Item = &'a Step> {
    numbers.iter().map(|&index| &steps[index as usize])
}
