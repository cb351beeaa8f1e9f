//! The dual system of serial mechanisms, block-tridiagonal: eight at a time, or one.

use std::ops::Range;

use vincula_blocks::braid::{self, BraidNode, Ends, Lace};

use super::shape::{Layout, Rows, SIZE, Shape};
use crate::kernel;
use crate::math::dispatch::Level;
use crate::math::lanes::LANES;

/// Joints of one mechanism that are eliminated, or substituted back, at a time from either end:
/// few enough that all of their blocks and bodies stay in the second cache.
const STRETCH: usize = 64;

/// Blocks that an end keeps: those of a stretch, and of those around it.
const KEPT: usize = STRETCH / LANES + 8;

/// Blocks and factors.
pub(super) struct Solver {
    /// Blocks of the dual system from the left end and from the right: of eight mechanisms all, from
    /// the left, and their factors take their place.
    halves: [Vec<BraidNode<SIZE>>; 2],
    /// The factors of one mechanism.
    lace: Option<Lace<SIZE>>,
    /// Number of blocks, and how many are of the left half.
    pub count: usize,
    pub split: usize,
    joints: usize,
}

/// What the blocks of a stretch are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// They are new.
    Eliminate,
    /// Another right-hand side.
    Substitute,
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

kernel! {
    fn eliminate_along(lace: &mut Lace<SIZE>, stretch: Range<usize>, nodes: &Ends<'_, SIZE>, rows: &mut [Rows]) = eliminate_lace
}

#[inline(always)]
fn eliminate_lace(
    lace: &mut Lace<SIZE>,
    stretch: Range<usize>,
    nodes: &Ends<'_, SIZE>,
    rows: &mut [Rows],
) {
    lace.eliminate(stretch, nodes, rows);
}

kernel! {
    fn go_in_along(lace: &mut Lace<SIZE>, stretch: Range<usize>, rows: &mut [Rows]) = go_in_lace
}

#[inline(always)]
fn go_in_lace(lace: &mut Lace<SIZE>, stretch: Range<usize>, rows: &mut [Rows]) {
    lace.go_in(stretch, rows);
}

kernel! {
    fn go_out_along(lace: &mut Lace<SIZE>, stretch: Range<usize>, rows: &mut [Rows]) = go_out_lace
}

#[inline(always)]
fn go_out_lace(lace: &mut Lace<SIZE>, stretch: Range<usize>, rows: &mut [Rows]) {
    lace.go_out(stretch, rows);
}

impl Solver {
    pub fn new(shape: &Shape) -> Solver {
        let (joints, count) = (shape.joints, shape.len());
        let room = |blocks: usize| vec![BraidNode::ZERO; blocks];
        match shape.layout {
            Layout::InLine => Solver {
                halves: [room(count.min(KEPT)), room(count.min(KEPT))],
                lace: Some(Lace::new(joints)),
                count,
                split: (joints - 1) / 2 / LANES + 1,
                joints,
            },
            Layout::Beside => Solver {
                halves: [room(count), Vec::new()],
                lace: None,
                count,
                split: count,
                joints,
            },
        }
    }

    /// Where the block of eight joints in the dual system is while it is of interest.
    pub fn node(&mut self, block: usize) -> &mut BraidNode<SIZE> {
        let half = &mut self.halves[usize::from(block >= self.split)];
        let place = block % half.len();
        &mut half[place]
    }

    /// The stretches of joints from the left end to the middle; their mirror images come along.
    pub fn stretches(&self) -> impl DoubleEndedIterator<Item = Range<usize>> + use<> {
        let pairs = self.lace.as_ref().map_or(0, Lace::pairs);
        let count = pairs.div_ceil(STRETCH).max(1);
        (0..count).map(move |k| k * STRETCH..((k + 1) * STRETCH).min(pairs))
    }

    /// The blocks of joints that have to be known for a stretch: those below the first number and
    /// those from the second on.
    pub fn needs(&self, stretch: &Range<usize>) -> [usize; 2] {
        let Some(lace) = &self.lace else {
            return [self.count; 2];
        };
        let last = (self.joints - 1).saturating_sub(stretch.end) / LANES;
        if stretch.end == lace.pairs() || last <= self.split {
            return [self.split; 2];
        }
        [stretch.end.div_ceil(LANES), last]
    }

    /// Whether the forces of a block of joints and of the next one are known once this and all
    /// later stretches are solved for.
    pub fn knows(&self, stretch: &Range<usize>, block: usize) -> bool {
        let last = (LANES * (block + 2)).min(self.joints) - 1;
        stretch.start == 0 || (LANES * block >= stretch.start && last < self.joints - stretch.start)
    }

    /// Goes from the ends to the middle, a stretch at a time.
    pub fn go_in(&mut self, level: Level, way: Way, stretch: Range<usize>, rows: &mut [Rows]) {
        let Some(lace) = &mut self.lace else { return };
        match way {
            Way::Substitute => go_in_along(level, lace, stretch, rows),
            Way::Eliminate => {
                let [left, right] = &self.halves;
                let nodes = Ends {
                    halves: [left, right],
                    split: self.split,
                };
                eliminate_along(level, lace, stretch, &nodes, rows);
            }
        }
    }

    /// Ends the factorization; false if a pivot came near to vanishing.
    pub fn finish(&mut self, level: Level) -> bool {
        let [left, right] = &mut self.halves;
        match &mut self.lace {
            Some(lace) => lace.eliminate_middle(&Ends {
                halves: [left, right],
                split: self.split,
            }),
            None => factor_beside(level, left),
        }
    }

    /// Solves for the middle; for eight mechanisms all of it.
    pub fn turn(&mut self, level: Level, rows: &mut [Rows]) {
        match &mut self.lace {
            Some(lace) => lace.turn(rows),
            None => solve_beside(level, &self.halves[0], rows),
        }
    }

    /// Goes back to the ends, a stretch at a time.
    pub fn go_out(&mut self, level: Level, stretch: Range<usize>, rows: &mut [Rows]) {
        if let Some(lace) = &mut self.lace {
            go_out_along(level, lace, stretch, rows);
        }
    }
}
