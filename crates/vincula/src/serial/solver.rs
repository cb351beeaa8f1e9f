//! The dual system of serial mechanisms, block-tridiagonal: eight at a time, or one.

use vincula_blocks::braid::{self, BraidNode, Lace};

use super::shape::{Layout, Rows, SIZE, Shape};
use crate::kernel;
use crate::math::dispatch::Level;

/// Blocks and factors.
pub(super) struct Solver {
    /// The blocks of eight joints; for eight mechanisms their factors take their place.
    pub nodes: Vec<BraidNode<SIZE>>,
    /// The factors of one mechanism.
    lace: Option<Lace<SIZE>>,
}

kernel! {
    fn factor_beside(nodes: &mut [BraidNode<SIZE>]) -> bool = factor_lanes
}

#[inline(always)]
fn factor_lanes(nodes: &mut [BraidNode<SIZE>]) -> bool {
    braid::factor(nodes)
}

kernel! {
    fn solve_beside(nodes: &[BraidNode<SIZE>], rows: &mut [Rows]) = solve_lanes
}

#[inline(always)]
fn solve_lanes(nodes: &[BraidNode<SIZE>], rows: &mut [Rows]) {
    braid::solve(nodes, rows);
}

impl Solver {
    pub fn new(shape: &Shape) -> Solver {
        let joints: usize = shape.eights.iter().map(|eight| eight.used).sum();
        Solver {
            nodes: vec![BraidNode::ZERO; shape.eights.len()],
            lace: (shape.layout == Layout::InLine).then(|| Lace::new(joints)),
        }
    }

    /// Factors and solves for the first right-hand side; false if a pivot came near to vanishing.
    pub fn factor_solve(&mut self, level: Level, rows: &mut [Rows]) -> bool {
        if let Some(lace) = &mut self.lace {
            // A recurrence on two numbers at a time: wider instructions do not help it.
            return lace.factor_solve(&self.nodes, rows);
        }
        let safe = factor_beside(level, &mut self.nodes);
        if safe {
            solve_beside(level, &self.nodes, rows);
        }
        safe
    }

    /// Solves for another one.
    pub fn solve(&self, level: Level, rows: &mut [Rows]) {
        match &self.lace {
            Some(lace) => lace.solve(rows),
            None => solve_beside(level, &self.nodes, rows),
        }
    }
}
