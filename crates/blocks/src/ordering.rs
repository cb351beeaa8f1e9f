//! What kind of graph is it, in which order should it be eliminated, and what
//! will that cost?
//!
//! Everything here looks at the pattern only, is done once, and is
//! deterministic: ties go to the lower node.

use crate::dissection::minimum_degree;
use crate::matrix::Pattern;
use crate::role::Role;
use std::fmt;
use std::sync::Arc;

/// Nodes with more remaining neighbours than this are not searched for cliques:
/// a supernodal factorization handles such hubs better.
pub const MAX_CLIQUE: usize = 48;

/// Beyond this many closures a sparse Cholesky factorization is the better way.
pub const MAX_CLOSURES: usize = 24;

/// The connected components, each ascending, ordered by their first node.
pub fn components(pattern: &Pattern) -> Vec<Vec<usize>> {
    let mut seen = vec![false; pattern.nodes()];
    let mut found = Vec::new();
    for seed in 0..pattern.nodes() {
        if seen[seed] {
            continue;
        }
        seen[seed] = true;
        let mut component = vec![seed];
        let mut next = 0;
        while next < component.len() {
            for &(node, _) in pattern.neighbours(component[next]) {
                if !seen[node] {
                    seen[node] = true;
                    component.push(node);
                }
            }
            next += 1;
        }
        component.sort_unstable();
        found.push(component);
    }
    found
}

/// An order in which every edge joins neighbours, if the graph is a path or a
/// collection of paths.
pub fn path_order(pattern: &Pattern) -> Option<Vec<usize>> {
    let nodes = pattern.nodes();
    let mut seen = vec![false; nodes];
    let mut order = Vec::with_capacity(nodes);
    for start in 0..nodes {
        if seen[start] || pattern.neighbours(start).len() > 1 {
            continue;
        }
        let mut current = Some(start);
        while let Some(node) = current {
            if pattern.neighbours(node).len() > 2 {
                return None;
            }
            seen[node] = true;
            order.push(node);
            current = pattern
                .neighbours(node)
                .iter()
                .map(|&(other, _)| other)
                .find(|&other| !seen[other]);
        }
    }
    // Nodes that were never reached lie on closed rings.
    (order.len() == nodes).then_some(order)
}

/// An elimination order and the nodes that had to be set aside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SimplicialOrder {
    /// Nodes to eliminate, first to last; apart from couplings with closures
    /// no new ones arise.
    pub order: Vec<usize>,
    /// Nodes to keep until the end. If there are more than the limit, the
    /// search was given up.
    pub closures: Vec<usize>,
}

/// Eliminates nodes whose remaining neighbours are all coupled with each other,
/// and sets a node aside whenever there is none left: the one with the most
/// remaining neighbours, since it lies on the most loops. Waiting nodes wait, and
/// negative nodes are never set aside, so that what remains is semidefinite.
pub fn simplicial_order(
    pattern: &Pattern,
    max_closures: usize,
    max_clique: usize,
) -> SimplicialOrder {
    let nodes = pattern.nodes();
    let mut search = Search {
        pattern,
        alive: vec![true; nodes],
        max_clique,
        clique: Vec::new(),
    };
    let mut found = SimplicialOrder {
        order: Vec::with_capacity(nodes),
        closures: Vec::new(),
    };
    // A stack, lowest node on top, walks along branches and keeps memory local.
    let mut stack: Vec<usize> = (0..nodes).rev().collect();
    loop {
        while let Some(node) = stack.pop() {
            if search.is_simplicial(node) {
                search.alive[node] = false;
                found.order.push(node);
                stack.extend(search.clique.iter().rev());
            }
        }
        let Some(hub) = search.largest_hub() else {
            return found;
        };
        found.closures.push(hub);
        if found.closures.len() > max_closures {
            return found;
        }
        search.alive[hub] = false;
        let neighbours = pattern.neighbours(hub).iter().rev().map(|&(node, _)| node);
        stack.extend(neighbours.filter(|&node| search.alive[node]));
    }
}

struct Search<'a> {
    pattern: &'a Pattern,
    alive: Vec<bool>,
    max_clique: usize,
    clique: Vec<usize>,
}

impl Search<'_> {
    /// Whether the remaining neighbours form a clique; leaves them in `clique`.
    fn is_simplicial(&mut self, node: usize) -> bool {
        if !self.alive[node] || !self.has_pivot(node) {
            return false;
        }
        self.clique.clear();
        for &(other, _) in self.pattern.neighbours(node) {
            if self.alive[other] {
                self.clique.push(other);
            }
            if self.clique.len() > self.max_clique {
                return false;
            }
        }
        let clique = &self.clique;
        let coupled = |(k, &a): (usize, &usize)| {
            clique[k + 1..]
                .iter()
                .all(|&b| self.pattern.edge_index(a, b).is_some())
        };
        clique.iter().enumerate().all(coupled)
    }

    /// Whether a waiting node has waited long enough: one of its groups of negative nodes
    /// is gone.
    fn has_pivot(&self, node: usize) -> bool {
        let gone = |&(other, _): &(usize, usize)| {
            self.pattern.role(other) == Role::Negative && !self.alive[other]
        };
        let group_gone = |at: &(usize, usize)| {
            let group = self.pattern.neighbours(at.0).iter();
            let mut group = group.filter(|&&(n, _)| self.pattern.role(n) == Role::Negative);
            gone(at) && group.all(gone)
        };
        self.pattern.role(node) != Role::Waiting
            || self.pattern.neighbours(node).iter().any(group_gone)
    }

    fn largest_hub(&self) -> Option<usize> {
        let degree = |node: usize| {
            self.pattern
                .neighbours(node)
                .iter()
                .filter(|&&(other, _)| self.alive[other])
                .count()
        };
        let alive = (0..self.alive.len())
            .filter(|&node| self.alive[node] && self.pattern.role(node) != Role::Negative);
        alive
            .map(|node| (degree(node), node))
            .reduce(|best, new| if new.0 > best.0 { new } else { best })
            .map(|b| b.1)
    }
}

/// For each of the first `eliminated` positions of `order`, the later positions
/// it is coupled with when its turn comes, ascending, fill included.
pub(crate) fn later_neighbours(
    pattern: &Pattern,
    order: &[usize],
    eliminated: usize,
) -> Vec<Vec<usize>> {
    let mut position = vec![0; order.len()];
    for (p, &node) in order.iter().enumerate() {
        position[node] = p;
    }
    let mut structure: Vec<Vec<usize>> = vec![Vec::new(); eliminated];
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); eliminated];
    for p in 0..eliminated {
        let neighbours = pattern
            .neighbours(order[p])
            .iter()
            .map(|&(node, _)| position[node]);
        let mut later: Vec<usize> = neighbours.filter(|&q| q > p).collect();
        for &child in &children[p] {
            later.extend(structure[child].iter().copied().filter(|&q| q > p));
        }
        later.sort_unstable();
        later.dedup();
        if let Some(&parent) = later.first()
            && parent < eliminated
        {
            children[parent].push(p);
        }
        structure[p] = later;
    }
    structure
}

/// Work and memory of a solver, estimated from the pattern.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The solver.
    pub solver: &'static str,
    /// Multiplications and additions of one factorization.
    pub factor_flops: f64,
    /// The same for one solution.
    pub solve_flops: f64,
    /// Numbers that the factors hold.
    pub stored: f64,
}

/// The cost of eliminating all nodes in the given order.
pub(crate) fn estimate_order(solver: &'static str, pattern: &Pattern, order: &[usize]) -> Estimate {
    let structure = later_neighbours(pattern, order, order.len());
    let mut estimate = Estimate {
        solver,
        factor_flops: 0.0,
        solve_flops: 0.0,
        stored: 0.0,
    };
    for (p, later) in structure.iter().enumerate() {
        let n = pattern.size(order[p]) as f64;
        let m = later.iter().map(|&q| pattern.size(order[q])).sum::<usize>() as f64;
        let stored = n * (n + 1.0) / 2.0 + n * m;
        estimate.stored += stored;
        estimate.solve_flops += 4.0 * stored;
        estimate.factor_flops += n * n * n / 3.0 + n * n * m + n * m * m;
    }
    estimate
}

fn estimate_dense(rows: f64) -> Estimate {
    Estimate {
        solver: "dense",
        factor_flops: rows * rows * rows / 3.0,
        solve_flops: 2.0 * rows * rows,
        stored: rows * rows,
    }
}

/// What a connected part of the graph looks like. Nodes are those of the whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Every node has at most two neighbours and there is no ring.
    Path {
        /// From end to end.
        order: Vec<usize>,
    },
    /// A tree, or cliques joined like one: elimination makes no fill.
    Tree,
    /// The same, once a few nodes are set aside.
    Loops {
        /// The nodes to set aside.
        closures: Vec<usize>,
    },
    /// Anything else.
    General,
}

/// A connected component, its shape, and what solving it would cost.
#[derive(Clone, Debug, PartialEq)]
pub struct Component {
    /// Its nodes, ascending.
    pub nodes: Vec<usize>,
    /// Its scalar rows.
    pub rows: usize,
    /// Its shape.
    pub shape: Shape,
    /// The cost of each solver that could serve it, the preferred one first.
    pub estimates: Vec<Estimate>,
}

/// The components of a pattern, each with its shape.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The components, ordered by their first node.
    pub components: Vec<Component>,
}

/// Classifies a pattern component by component.
pub fn plan(pattern: &Arc<Pattern>) -> Plan {
    let found = components(pattern);
    if found.len() == 1 {
        let nodes = found.into_iter().next().unwrap_or_default();
        return Plan {
            components: vec![plan_component(pattern, nodes)],
        };
    }
    let parts = found.into_iter().filter_map(|nodes| {
        // Components name each node once, so that restricting cannot fail.
        let part = pattern.restrict(&nodes).ok()?;
        Some(plan_component(&part, nodes))
    });
    Plan {
        components: parts.collect(),
    }
}

/// `part` is the pattern of `nodes` alone.
fn plan_component(part: &Pattern, nodes: Vec<usize>) -> Component {
    let (shape, estimate) = shape_of(part, &nodes);
    let mut estimates: Vec<Estimate> = estimate.into_iter().collect();
    if estimates.is_empty() || part.dimension() < 100_000 {
        estimates.push(estimate_order("cholesky", part, &minimum_degree(part)));
    }
    estimates.push(estimate_dense(part.dimension() as f64));
    Component {
        rows: part.dimension(),
        nodes,
        shape,
        estimates,
    }
}

fn shape_of(part: &Pattern, nodes: &[usize]) -> (Shape, Option<Estimate>) {
    if let Some(order) = path_order(part) {
        let estimate = estimate_order("chain", part, &order);
        return (
            Shape::Path {
                order: order.iter().map(|&p| nodes[p]).collect(),
            },
            Some(estimate),
        );
    }
    let found = simplicial_order(part, MAX_CLOSURES, MAX_CLIQUE);
    let few = found.closures.len() <= MAX_CLOSURES && found.closures.len() * 4 <= part.nodes();
    if !found.closures.is_empty() && !few {
        return (Shape::General, None);
    }
    let all: Vec<usize> = found.order.iter().chain(&found.closures).copied().collect();
    if found.closures.is_empty() {
        return (Shape::Tree, Some(estimate_order("tree", part, &all)));
    }
    let estimate = estimate_order("loops", part, &all);
    (
        Shape::Loops {
            closures: found.closures.iter().map(|&p| nodes[p]).collect(),
        },
        Some(estimate),
    )
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Shape::Path { .. } => write!(f, "path"),
            Shape::Tree => write!(f, "tree"),
            Shape::Loops { closures } => write!(f, "tree with {} closures", closures.len()),
            Shape::General => write!(f, "general graph"),
        }
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for component in &self.components {
            let first = component.nodes.first().copied().unwrap_or(0);
            writeln!(
                f,
                "{} of {} nodes, {} rows, from node {first}",
                component.shape,
                component.nodes.len(),
                component.rows
            )?;
            for cost in &component.estimates {
                writeln!(
                    f,
                    "    {:<9} factor {:.1e} flops, solve {:.1e} flops, {:.1e} numbers stored",
                    cost.solver, cost.factor_flops, cost.solve_flops, cost.stored
                )?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(nodes: usize, edges: &[(usize, usize)]) -> Arc<Pattern> {
        Pattern::new(&vec![3; nodes], edges).unwrap()
    }

    #[test]
    fn a_shuffled_path_is_found() {
        let path = pattern(4, &[(2, 0), (0, 3), (3, 1)]);
        assert_eq!(path_order(&path), Some(vec![1, 3, 0, 2]));
        let ring = pattern(3, &[(0, 1), (1, 2), (2, 0)]);
        assert_eq!(path_order(&ring), None);
        assert_eq!(path_order(&pattern(2, &[])), Some(vec![0, 1]));
    }

    #[test]
    fn shapes_are_told_apart() {
        let star_of_cliques = pattern(6, &[(0, 1), (1, 2), (0, 2), (2, 3), (3, 4), (2, 4), (4, 5)]);
        assert_eq!(plan(&star_of_cliques).components[0].shape, Shape::Tree);
        let ring: Vec<_> = (0..8).map(|k| (k, (k + 1) % 8)).collect();
        let shape = &plan(&pattern(8, &ring)).components[0].shape;
        assert_eq!(*shape, Shape::Loops { closures: vec![0] });
        let apart = plan(&pattern(5, &[(0, 3), (1, 4)]));
        assert_eq!(apart.components.len(), 3);
        assert_eq!(apart.components[1].shape, Shape::Path { order: vec![1, 4] });
        assert!(
            apart
                .to_string()
                .contains("path of 2 nodes, 6 rows, from node 1")
        );
    }

    #[test]
    fn a_grid_is_general() {
        let n = 12;
        let at = |i: usize, j: usize| i * n + j;
        let mut edges = Vec::new();
        for i in 0..n {
            for j in 0..n - 1 {
                edges.push((at(i, j), at(i, j + 1)));
                edges.push((at(j, i), at(j + 1, i)));
            }
        }
        assert_eq!(
            plan(&pattern(n * n, &edges)).components[0].shape,
            Shape::General
        );
    }

    #[test]
    fn eliminating_a_ring_fills_one_edge_a_node() {
        let ring: Vec<_> = (0..5).map(|k| (k, (k + 1) % 5)).collect();
        let order = [0, 1, 2, 3, 4];
        let structure = later_neighbours(&pattern(5, &ring), &order, 5);
        assert_eq!(
            structure,
            vec![vec![1, 4], vec![2, 4], vec![3, 4], vec![4], vec![]]
        );
    }
}
