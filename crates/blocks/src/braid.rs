//! Chains in lanes: eight of one length side by side, or one along them.
//!
//! The elimination of [`Chain`](crate::Chain), from both ends towards the middle. For eight chains
//! it is written as loops over lanes that know nothing of each other: the caller compiles them for
//! the vector instructions that it has found. Every lane does the same operations in the same order as a
//! [`Chain`](crate::Chain) of its own, so that the bits are the same. Rows that a chain does not
//! have are padded with a one on the diagonal.

use std::ops::Range;

use crate::PIVOT_TOLERANCE;
use crate::census::STEEP;
use crate::chain_kernel::{Block, Column, eliminate};
use crate::chain_kernel::{
    flush_column, scale_column, solve_lower, solve_upper, subtract_column, subtract_lower, times,
    transposed_times,
};
use crate::lanes::{Lane, Pair};
use crate::twisted::{Inward, Sides, Source, Twisted};

/// Chains in a braid.
pub const STRANDS: usize = 8;

/// One number of each chain.
pub type Strand = [f64; STRANDS];

/// A node of eight chains.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct BraidNode<const N: usize> {
    /// The block of the node; its lower triangle is read.
    pub diagonal: [[Strand; N]; N],
    /// The block towards the next node: rows of this one, columns of that one.
    pub coupling: [[Strand; N]; N],
}

impl<const N: usize> BraidNode<N> {
    /// All zero.
    pub const ZERO: Self = Self {
        diagonal: [[[0.0; STRANDS]; N]; N],
        coupling: [[[0.0; STRANDS]; N]; N],
    };
}

/// How many nodes are eliminated from the left, the last one not counted: that and those after
/// it are the right half.
#[inline(always)]
fn middle(nodes: usize) -> usize {
    nodes / 2
}

#[inline(always)]
fn block<const N: usize>(of: &[[Strand; N]; N], lane: usize) -> Block<N, f64> {
    let mut x = [[0.0; N]; N];
    for i in 0..N {
        for j in 0..N {
            x[i][j] = of[i][j][lane];
        }
    }
    x
}

#[inline(always)]
fn column<const N: usize>(of: &[Strand; N], lane: usize) -> Column<N, f64> {
    let mut x = [0.0; N];
    for k in 0..N {
        x[k] = of[k][lane];
    }
    x
}

#[inline(always)]
fn put<const N: usize>(into: &mut [Strand; N], lane: usize, x: &Column<N, f64>) {
    for k in 0..N {
        into[k][lane] = x[k];
    }
}

#[inline(always)]
fn put_block<const N: usize>(into: &mut [[Strand; N]; N], lane: usize, x: &Block<N, f64>) {
    for i in 0..N {
        put(&mut into[i], lane, &x[i]);
    }
}

/// What the pivots of each chain were: the steepest, the lowest inverse and the sum.
struct Found {
    steepest: Strand,
    lowest: Strand,
    sum: Strand,
}

impl Found {
    /// Whether everything is finite and no pivot came near to vanishing, as in a census.
    fn is_safe(&self) -> bool {
        (0..STRANDS).all(|lane| {
            self.sum[lane].is_finite() && self.lowest[lane] != 0.0 && self.steepest[lane] < STEEP
        })
    }
}

/// Eliminates one node of all chains: its factors take the place of its blocks, and what it
/// carries to the next that of `carry`.
#[inline(always)]
fn eliminate_node<const N: usize>(
    node: &mut BraidNode<N>,
    backwards: Option<&[[Strand; N]; N]>,
    carry: &mut [[Strand; N]; N],
    found: &mut Found,
) {
    if let Some(coupling) = backwards {
        for i in 0..N {
            for j in 0..N {
                node.coupling[i][j] = coupling[j][i];
            }
        }
    }
    for lane in 0..STRANDS {
        let towards = block(&node.coupling, lane);
        let own = block(&node.diagonal, lane);
        let (step, next, pivots) = eliminate(own, &block(carry, lane), towards, PIVOT_TOLERANCE);
        put_block(&mut node.diagonal, lane, &step.pivot);
        put_block(&mut node.coupling, lane, &step.coupling);
        put_block(carry, lane, &next);
        let [steepest, lowest, sum] = pivots.extremes();
        let most = found.steepest[lane];
        found.steepest[lane] = if steepest > most { steepest } else { most };
        let least = found.lowest[lane];
        found.lowest[lane] = if lowest < least { lowest } else { least };
        found.sum[lane] += sum;
    }
}

/// Factors the chains in place; false if a pivot of one vanished or came near it, or if something
/// is not finite. The coupling of the last node must be zero.
#[inline(always)]
pub fn factor<const N: usize>(nodes: &mut [BraidNode<N>]) -> bool {
    let mut found = Found {
        steepest: [0.0; STRANDS],
        lowest: [f64::MAX; STRANDS],
        sum: [0.0; STRANDS],
    };
    let middle = middle(nodes.len());
    let (left, right) = nodes.split_at_mut(middle);
    let mut carry = [[[0.0; STRANDS]; N]; N];
    for node in left {
        eliminate_node(node, None, &mut carry, &mut found);
    }
    let Some((last, right)) = right.split_first_mut() else {
        return true;
    };
    let mut back = [[[0.0; STRANDS]; N]; N];
    for k in (0..right.len()).rev() {
        let (before, node) = right.split_at_mut(k);
        // The block between two nodes belongs to the one before, which is eliminated later.
        let coupling = &before.last().unwrap_or(&*last).coupling;
        eliminate_node(&mut node[0], Some(coupling), &mut back, &mut found);
    }
    for lane in 0..STRANDS {
        let negated = block(&carry, lane).map(|row| row.map(|x| -x));
        let mut sum = block(&back, lane);
        subtract_lower(&mut sum, &negated);
        put_block(&mut carry, lane, &sum);
    }
    last.coupling = [[[0.0; STRANDS]; N]; N];
    eliminate_node(last, None, &mut carry, &mut found);
    found.is_safe()
}

/// Overwrites the right-hand sides of all chains by their solutions.
#[inline(always)]
pub fn solve<const N: usize>(nodes: &[BraidNode<N>], rows: &mut [[Strand; N]]) {
    let (count, middle) = (nodes.len(), middle(nodes.len()));
    if count == 0 {
        return;
    }
    // Of an even number of nodes the one before the middle has no mirror image.
    let pairs = (count - 1) / 2;
    let [mut left, mut right] = [[[0.0; STRANDS]; N]; 2];
    for k in 0..middle {
        go_forward(&nodes[k], &mut rows[k], &mut left, k < pairs);
    }
    for k in (middle + 1..count).rev() {
        go_forward(&nodes[k], &mut rows[k], &mut right, true);
    }
    let mut next = [[0.0; STRANDS]; N];
    for lane in 0..STRANDS {
        let y = subtract_column(column(&rows[middle], lane), &column(&left, lane));
        let y = subtract_column(y, &column(&right, lane));
        let pivot = block(&nodes[middle].diagonal, lane);
        let x = solve_upper(&pivot, scale_column(&pivot, solve_lower(&pivot, y)));
        put(&mut rows[middle], lane, &x);
        put(&mut next, lane, &x);
    }
    let mut after = next;
    for k in (0..middle).rev() {
        go_back(&nodes[k], &mut rows[k], &mut after, k < pairs);
    }
    for k in middle + 1..count {
        go_back(&nodes[k], &mut rows[k], &mut next, true);
    }
}

/// One step of forward substitution.
#[inline(always)]
fn go_forward<const N: usize>(
    node: &BraidNode<N>,
    row: &mut [Strand; N],
    carry: &mut [Strand; N],
    flushes: bool,
) {
    for lane in 0..STRANDS {
        let y = subtract_column(column(row, lane), &column(carry, lane));
        let z = solve_lower(&block(&node.diagonal, lane), y);
        put(row, lane, &z);
        let along = transposed_times(&block(&node.coupling, lane), &z);
        let flushed = flush_column(along);
        put(carry, lane, if flushes { &flushed } else { &along });
    }
}

/// One step of backward substitution; `next` is the solution at the node before it on the way.
#[inline(always)]
fn go_back<const N: usize>(
    node: &BraidNode<N>,
    row: &mut [Strand; N],
    next: &mut [Strand; N],
    flushes: bool,
) {
    for lane in 0..STRANDS {
        let along = times(&block(&node.coupling, lane), &column(next, lane));
        let flushed = flush_column(along);
        let along = if flushes { flushed } else { along };
        let pivot = block(&node.diagonal, lane);
        let x = scale_column(&pivot, column(row, lane));
        let x = solve_upper(&pivot, subtract_column(x, &along));
        put(row, lane, &x);
        put(next, lane, &x);
    }
}

/// One chain along the lanes: node `8b + l` is in lane l of the b-th block.
///
/// The elimination and the bits of a [`Chain`](crate::Chain), without a matrix in between, and a
/// stretch at a time: what is known of nodes may be found just before they are eliminated, and
/// what their solution leads to may be done just after it. Stretches are ranges of the nodes that
/// have a mirror image, counted from the left end; their images come along.
pub struct Lace<const N: usize> {
    factors: Twisted<N>,
    inward: Inward<N>,
    /// The solution at the nodes that were solved for last.
    next: Column<N, Pair>,
}

impl<const N: usize> Lace<N> {
    /// Room for the factors of a chain.
    pub fn new(nodes: usize) -> Self {
        Self {
            factors: Twisted::new(nodes),
            inward: Inward::start(),
            next: [Pair::splat(0.0); N],
        }
    }

    /// Number of nodes that have a mirror image to their right.
    pub fn pairs(&self) -> usize {
        self.factors.pairs()
    }

    /// Factors a stretch and substitutes forward in it, from the ends to the middle.
    #[inline(always)]
    pub fn eliminate(
        &mut self,
        range: Range<usize>,
        nodes: &Ends<'_, N>,
        rows: &mut [[Strand; N]],
    ) {
        if range.start == 0 {
            self.inward = Inward::start();
        }
        self.factors.eliminate::<true>(
            range,
            nodes,
            &mut Along(rows),
            PIVOT_TOLERANCE,
            &mut self.inward,
        );
    }

    /// Factors the middle, after all stretches; false if a pivot vanished or came near it, or if
    /// something is not finite.
    pub fn eliminate_middle(&mut self, nodes: &Ends<'_, N>) -> bool {
        self.factors
            .factor_middle(nodes, PIVOT_TOLERANCE, &mut self.inward);
        self.inward.census.is_safe()
    }

    /// Substitutes forward in a stretch for another right-hand side.
    #[inline(always)]
    pub fn go_in(&mut self, range: Range<usize>, rows: &mut [[Strand; N]]) {
        if range.start == 0 {
            self.inward.rows = [Pair::splat(0.0); N];
        }
        self.factors
            .go_in(range, &mut Along(rows), &mut self.inward.rows);
    }

    /// Solves for the middle.
    pub fn turn(&mut self, rows: &mut [[Strand; N]]) {
        self.next = self
            .factors
            .solve_middle(&mut Along(rows), &self.inward.rows);
    }

    /// Substitutes back in a stretch, from the middle to the ends.
    #[inline(always)]
    pub fn go_out(&mut self, range: Range<usize>, rows: &mut [[Strand; N]]) {
        self.factors.go_out(range, &mut Along(rows), &mut self.next);
    }
}

/// Blocks of nodes of both halves of a chain, each as many as are of interest at a time: block b
/// is at its remainder.
pub struct Ends<'a, const N: usize> {
    /// The blocks below `split` and the others.
    pub halves: [&'a [BraidNode<N>]; 2],
    /// The first block of the right half.
    pub split: usize,
}

impl<const N: usize> Ends<'_, N> {
    #[inline(always)]
    fn node(&self, p: usize) -> (&BraidNode<N>, usize) {
        let b = p / STRANDS;
        let half = self.halves[usize::from(b >= self.split)];
        (&half[b % half.len()], p % STRANDS)
    }
}

impl<const N: usize> Source<N> for Ends<'_, N> {
    #[inline(always)]
    fn diagonal(&self, p: usize) -> Block<N, f64> {
        let (node, lane) = self.node(p);
        block(&node.diagonal, lane)
    }

    #[inline(always)]
    fn coupling(&self, p: usize) -> Block<N, f64> {
        let (node, lane) = self.node(p);
        block(&node.coupling, lane)
    }
}

/// What lies along the lanes.
struct Along<T>(T);

impl<const N: usize> Sides<N> for Along<&mut [[Strand; N]]> {
    #[inline(always)]
    fn read(&self, p: usize) -> Column<N, f64> {
        column(&self.0[p / STRANDS], p % STRANDS)
    }

    #[inline(always)]
    fn write(&mut self, p: usize, x: &Column<N, f64>) {
        put(&mut self.0[p / STRANDS], p % STRANDS, x);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BlockMatrix, Chain, Factorization, Pattern};

    /// A number in [-1, 1] that looks random.
    fn noise(seed: usize) -> f64 {
        (12.9898 * seed as f64 + 0.5).sin()
    }

    /// A braid of diagonally dominant chains, and the matrix of each.
    fn braid<const N: usize>(count: usize) -> (Vec<BraidNode<N>>, Vec<BlockMatrix>) {
        let edges: Vec<_> = (1..count).map(|k| (k - 1, k)).collect();
        let pattern = Pattern::new(&vec![N; count], &edges).unwrap();
        let mut matrices = vec![BlockMatrix::zeros(&pattern); STRANDS];
        let mut nodes = vec![BraidNode::<N>::ZERO; count];
        for (lane, matrix) in matrices.iter_mut().enumerate() {
            for (p, node) in nodes.iter_mut().enumerate() {
                for i in 0..N {
                    for j in 0..N {
                        let seed = ((p * STRANDS + lane) * N + i.max(j)) * N + i.min(j);
                        let own = if i == j { 4.0 * N as f64 } else { noise(seed) };
                        node.diagonal[i][j][lane] = own;
                        matrix.diagonal_mut(p)[i * N + j] = own;
                        if p + 1 < count {
                            let along = noise(7 * seed + i + 3 * j + 1);
                            node.coupling[i][j][lane] = along;
                            matrix.edge_mut(p)[i * N + j] = along;
                        }
                    }
                }
            }
        }
        (nodes, matrices)
    }

    fn compare<const N: usize>(count: usize) {
        let (mut nodes, matrices) = braid::<N>(count);
        assert!(factor(&mut nodes));
        let mut rows = vec![[[0.0; STRANDS]; N]; count];
        for (p, row) in rows.iter_mut().enumerate() {
            for (k, row) in row.iter_mut().enumerate() {
                *row = std::array::from_fn(|lane| noise(p * 64 + k * 8 + lane));
            }
        }
        let right = rows.clone();
        solve(&nodes, &mut rows);
        let order: Vec<usize> = (0..count).collect();
        for (lane, matrix) in matrices.iter().enumerate() {
            let mut chain = Chain::symbolic(matrix.pattern(), &order).unwrap();
            chain.factor(matrix).unwrap();
            let flat = |rows: &[[Strand; N]]| -> Vec<f64> {
                rows.iter().flatten().map(|row| row[lane]).collect()
            };
            let mut x = flat(&right);
            chain.solve(&mut x).unwrap();
            assert_eq!(flat(&rows), x, "{count} nodes of {N}, lane {lane}");
        }
    }

    #[test]
    fn along_the_lanes_has_the_bits_of_a_chain() {
        for count in [1, 2, 3, 7, 8, 9, 20] {
            let (nodes, matrices) = braid::<5>(count);
            let mut along = vec![BraidNode::<5>::ZERO; count.div_ceil(STRANDS)];
            let mut rows = vec![[[0.0; STRANDS]; 5]; along.len()];
            for p in 0..count {
                let (at, lane) = (&mut along[p / STRANDS], p % STRANDS);
                put_block(&mut at.diagonal, lane, &block(&nodes[p].diagonal, 2));
                put_block(&mut at.coupling, lane, &block(&nodes[p].coupling, 2));
                for k in 0..5 {
                    rows[p / STRANDS][k][lane] = noise(5 * p + k);
                }
            }
            let mut second = rows.clone();
            let mut lace = Lace::new(count);
            // A ring as long as the chain: every block keeps its place.
            let split = along.len() / 2;
            let nodes = Ends {
                halves: [&along, &along],
                split,
            };
            let pairs = lace.pairs();
            let stretches = [0..pairs / 3, pairs / 3..pairs];
            for stretch in stretches.clone() {
                lace.eliminate(stretch, &nodes, &mut rows);
            }
            assert!(lace.eliminate_middle(&nodes));
            for (again, rows) in [(false, &mut rows), (true, &mut second)] {
                for stretch in stretches.iter().filter(|_| again) {
                    lace.go_in(stretch.clone(), rows);
                }
                lace.turn(rows);
                for stretch in stretches.iter().rev() {
                    lace.go_out(stretch.clone(), rows);
                }
            }
            let order: Vec<usize> = (0..count).collect();
            let mut chain = Chain::symbolic(matrices[2].pattern(), &order).unwrap();
            chain.factor(&matrices[2]).unwrap();
            let mut x: Vec<f64> = (0..5 * count).map(noise).collect();
            chain.solve(&mut x).unwrap();
            for (p, x) in x.chunks(5).enumerate() {
                assert_eq!(column(&rows[p / STRANDS], p % STRANDS), x);
                assert_eq!(column(&second[p / STRANDS], p % STRANDS), x);
            }
        }
    }

    #[test]
    fn has_the_bits_of_eight_chains() {
        for count in [1, 2, 3, 4, 7, 8] {
            compare::<3>(count);
            compare::<5>(count);
        }
    }

    #[test]
    fn says_when_a_pivot_vanishes_or_is_no_number() {
        for value in [0.0, f64::NAN, -1.0] {
            let (mut nodes, _) = braid::<5>(3);
            for k in 0..5 {
                nodes[1].diagonal[3][k][6] = value;
                nodes[1].diagonal[k][3][6] = value;
            }
            assert!(!factor(&mut nodes), "{value}");
        }
        assert!(factor::<5>(&mut []));
    }
}
