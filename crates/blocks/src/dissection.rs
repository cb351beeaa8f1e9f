//! Orders that keep the fill of a general graph small.
//!
//! Approximate minimum degree (Amestoy, Davis and Duff) is the workhorse.
//! Nested dissection (George) cuts the graph at a thin level of a breadth-first
//! search, orders the two sides first and the cut last, and repeats: on
//! grid-like nets its fill grows as `n log n`.

use crate::matrix::Pattern;
use crate::ordering::components;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::sparse::SymbolicSparseColMat;
use faer::sparse::linalg::amd;

/// Parts of this size or smaller are not cut further.
const LEAF: usize = 8;

/// Approximate minimum degree order of the nodes.
pub fn minimum_degree(pattern: &Pattern) -> Vec<usize> {
    let nodes = pattern.nodes();
    let natural = || (0..nodes).collect();
    let mut starts = Vec::with_capacity(nodes + 1);
    let mut indices = Vec::new();
    starts.push(0);
    for node in 0..nodes {
        indices.extend(
            pattern
                .neighbours(node)
                .iter()
                .map(|&(other, _)| other)
                .filter(|&other| other < node),
        );
        indices.push(node);
        starts.push(indices.len());
    }
    let entries = indices.len();
    let upper = SymbolicSparseColMat::new_checked(nodes, nodes, starts, None, indices);
    let (mut order, mut inverse) = (vec![0; nodes], vec![0; nodes]);
    let request = amd::order_scratch::<usize>(nodes, entries);
    let Ok(mut memory) = MemBuffer::try_new(request) else {
        return natural();
    };
    let stack = MemStack::new(&mut memory);
    match amd::order(
        &mut order,
        &mut inverse,
        upper.as_ref(),
        Default::default(),
        stack,
    ) {
        Ok(_) => order,
        Err(_) => natural(),
    }
}

/// Nested dissection order of the nodes.
pub fn nested_dissection(pattern: &Pattern) -> Vec<usize> {
    let mut cutter = Cutter {
        pattern,
        part: vec![0; pattern.nodes()],
        level: vec![0; pattern.nodes()],
        parts: 0,
    };
    let mut reversed = Vec::with_capacity(pattern.nodes());
    // Cuts come last in the order, so the order is built from its end.
    let mut stack = components(pattern);
    while let Some(nodes) = stack.pop() {
        if nodes.len() <= LEAF {
            reversed.extend(nodes.iter().rev());
            continue;
        }
        let (cut, rest) = cutter.cut(&nodes);
        reversed.extend(cut.iter().rev());
        stack.extend(rest);
    }
    reversed.reverse();
    reversed
}

struct Cutter<'a> {
    pattern: &'a Pattern,
    /// The part that a node belongs to at the moment.
    part: Vec<usize>,
    /// Distance from the seed of the last search.
    level: Vec<usize>,
    parts: usize,
}

impl Cutter<'_> {
    /// Splits connected nodes into a cut and the components that it leaves.
    fn cut(&mut self, nodes: &[usize]) -> (Vec<usize>, Vec<Vec<usize>>) {
        let part = self.new_part(nodes);
        // Searching twice from the far end gives long and thin levels.
        let mut reached = self.search(nodes[0], part);
        for _ in 0..2 {
            let far = reached.last().copied().unwrap_or(nodes[0]);
            let part = self.new_part(nodes);
            reached = self.search(far, part);
        }
        let level = self.thin_level(&reached);
        let is_cut =
            |node: usize| self.level[node] == level && self.touches_next(node, level, &reached);
        let cut: Vec<usize> = reached
            .iter()
            .copied()
            .filter(|&node| is_cut(node))
            .collect();
        let rest: Vec<usize> = reached
            .iter()
            .copied()
            .filter(|&node| !is_cut(node))
            .collect();
        let part = self.new_part(&rest);
        let mut pieces = Vec::new();
        for &seed in &rest {
            if self.part[seed] == part {
                pieces.push(self.search(seed, part));
            }
        }
        (cut, pieces)
    }

    fn new_part(&mut self, nodes: &[usize]) -> usize {
        self.parts += 1;
        for &node in nodes {
            self.part[node] = self.parts;
        }
        self.parts
    }

    /// Breadth-first search inside a part; takes the nodes out of the part.
    fn search(&mut self, seed: usize, part: usize) -> Vec<usize> {
        self.part[seed] = 0;
        self.level[seed] = 0;
        let mut reached = vec![seed];
        let mut next = 0;
        while next < reached.len() {
            let node = reached[next];
            for &(other, _) in self.pattern.neighbours(node) {
                if self.part[other] == part {
                    self.part[other] = 0;
                    self.level[other] = self.level[node] + 1;
                    reached.push(other);
                }
            }
            next += 1;
        }
        reached
    }

    /// The level between 25 % and 75 % of the nodes that is thinnest, for what it cuts off: the
    /// nodes of the level over the square root of those of the smaller side.
    fn thin_level(&self, reached: &[usize]) -> usize {
        let count = reached.len();
        let low = self.level[reached[count / 4]];
        let high = self.level[reached[count - 1 - count / 4]];
        let cost = |level: usize| {
            let start = reached.partition_point(|&node| self.level[node] < level);
            let end = reached.partition_point(|&node| self.level[node] <= level);
            let side = start.min(count - end) + 1;
            (end - start) as f64 / (side as f64).sqrt()
        };
        let costs = (low..=high).map(|level| (cost(level), level));
        let best = costs.min_by(|a, b| a.0.total_cmp(&b.0));
        best.map_or(low, |(_, level)| level)
    }

    fn touches_next(&self, node: usize, level: usize, reached: &[usize]) -> bool {
        // At the last level there is nothing beyond; then all of it is the cut.
        let last = reached.last().is_none_or(|&node| self.level[node] == level);
        last || self
            .pattern
            .neighbours(node)
            .iter()
            .any(|&(other, _)| self.level[other] == level + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ordering::estimate_order;

    #[test]
    fn both_orders_are_permutations_and_beat_the_natural_one() {
        let n = 30;
        let mut edges = Vec::new();
        for i in 0..n {
            for j in 0..n - 1 {
                edges.push((i * n + j, i * n + j + 1));
                edges.push((j * n + i, (j + 1) * n + i));
            }
        }
        let pattern = Pattern::new(&vec![3; n * n], &edges).unwrap();
        let natural: Vec<usize> = (0..n * n).collect();
        let cost = |order: &[usize]| estimate_order("", &pattern, order).factor_flops;
        for order in [minimum_degree(&pattern), nested_dissection(&pattern)] {
            let mut sorted = order.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, natural);
            assert!(cost(&order) < 0.5 * cost(&natural));
        }
    }
}
