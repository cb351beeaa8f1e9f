//! The always sparse matrix of a forest of bodies and constraints, factored without fill.
//!
//! ```text
//! H = [ M  −Jᵀ ]
//!     [ −J   0 ]  =  L D Lᵀ
//! ```
//!
//! Baraff 1996, sections 6 and 7 and appendix A. Bodies and constraints are nodes of a forest;
//! ordered with children before parents, a block row of the upper triangle has its diagonal
//! block and one more, for the parent. Eliminating a node changes only the diagonal block of
//! its parent, so factoring and solving take time in proportion to the number of nodes.
//!
//! A body keeps a positive definite block, M plus what its subtrees add. A constraint starts
//! from zero and becomes negative definite when its child has been eliminated: hence no
//! constraint may be a leaf. The paper counts constraints of one body among the auxiliary
//! ones; here one of them per tree may be the root, where it has a child, so that a mechanism
//! on the ground needs no auxiliary rows.

/// What a node stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeKind {
    /// A body, by number: six rows.
    Body(usize),
    /// A constraint, by number: one to six rows.
    Constraint(usize),
}

/// One node. Nodes are numbered from the roots down, so a parent's number is smaller.
#[derive(Clone, Copy, Debug)]
pub struct Node {
    /// What it stands for.
    pub kind: NodeKind,
    /// Its parent.
    pub parent: Option<usize>,
    /// Rows.
    pub size: usize,
    /// Place of its diagonal block among the values; the block for the parent follows.
    block: usize,
    /// Place of its rows in vectors.
    pub row: usize,
}

/// A pairwise constraint as the ordering sees it.
#[derive(Clone, Copy, Debug)]
pub struct Edge {
    /// The two bodies; `None` is the world.
    pub ends: [Option<usize>; 2],
    /// Rows, one to six.
    pub rows: usize,
}

/// A forest with its factored matrix.
#[derive(Clone, Debug)]
pub struct Forest {
    nodes: Vec<Node>,
    /// The node of each body.
    body_nodes: Vec<usize>,
    /// Constraints that close loops, or hold a tree to the world a second time.
    auxiliary: Vec<usize>,
    /// Diagonal blocks and blocks for the parents, row-major, in the order of the nodes.
    values: Vec<f64>,
    rows: usize,
}

/// Pivots below this fraction of the diagonal entry count as zero.
const SINGULAR: f64 = 1e-13;

impl Forest {
    /// Chooses a spanning forest, constraints with many rows first, and orders it depth first
    /// from the constraints to the world, or from the first body of a tree that has none.
    pub fn new(bodies: usize, edges: &[Edge]) -> Forest {
        let mut forest = Forest {
            nodes: Vec::with_capacity(bodies + edges.len()),
            body_nodes: vec![usize::MAX; bodies],
            auxiliary: Vec::new(),
            values: Vec::new(),
            rows: 0,
        };
        let chosen = spanning_forest(bodies, edges);
        let around = neighbours(bodies, edges, &chosen);
        for (index, edge) in edges.iter().enumerate() {
            if let ([Some(body), None] | [None, Some(body)], true) = (edge.ends, chosen[index]) {
                let root = forest.add(NodeKind::Constraint(index), None, edge.rows);
                forest.grow(body, Some(root), edges, &around);
            }
        }
        for body in 0..bodies {
            if forest.body_nodes[body] == usize::MAX {
                forest.grow(body, None, edges, &around);
            }
        }
        forest.auxiliary = (0..edges.len()).filter(|&index| !chosen[index]).collect();
        forest
    }

    fn add(&mut self, kind: NodeKind, parent: Option<usize>, size: usize) -> usize {
        let width = parent.map_or(0, |p| self.nodes[p].size);
        self.nodes.push(Node {
            kind,
            parent,
            size,
            block: self.values.len(),
            row: self.rows,
        });
        let length = self.values.len() + size * (size + width);
        self.values.resize(length, 0.0);
        self.rows += size;
        if let NodeKind::Body(body) = kind {
            self.body_nodes[body] = self.nodes.len() - 1;
        }
        self.nodes.len() - 1
    }

    /// Adds a body and everything that hangs on it and has no node yet.
    fn grow(&mut self, body: usize, parent: Option<usize>, edges: &[Edge], around: &Around) {
        let mut path = vec![(body, 0)];
        self.add(NodeKind::Body(body), parent, 6);
        while let Some((body, next)) = path.last_mut() {
            let (body, list) = (*body, around.of(*body));
            let Some(&index) = list.get(*next) else {
                path.pop();
                continue;
            };
            *next += 1;
            let [a, b] = edges[index].ends;
            let other = if a == Some(body) { b } else { a };
            let Some(other) = other else { continue };
            if self.body_nodes[other] != usize::MAX {
                continue;
            }
            let above = Some(self.body_nodes[body]);
            let node = self.add(NodeKind::Constraint(index), above, edges[index].rows);
            self.add(NodeKind::Body(other), Some(node), 6);
            path.push((other, 0));
        }
    }

    /// The nodes, parents before children.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The node of a body.
    pub fn body_node(&self, body: usize) -> usize {
        self.body_nodes[body]
    }

    /// The constraints that found no place in the forest.
    pub fn auxiliary(&self) -> &[usize] {
        &self.auxiliary
    }

    /// Rows of the matrix: six for each body, and those of the primary constraints.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The diagonal block of a node and its block for the parent, both row-major, to be
    /// filled before factoring.
    pub fn blocks_mut(&mut self, node: usize) -> (&mut [f64], &mut [f64]) {
        let it = self.nodes[node];
        let width = it.parent.map_or(0, |p| self.nodes[p].size);
        let length = it.size * (it.size + width);
        self.values[it.block..it.block + length].split_at_mut(it.size * it.size)
    }

    /// `sparsefactor`: H = L D Lᵀ. On failure, the constraint whose rows depend on each other.
    pub fn factor(&mut self) -> Result<(), NodeKind> {
        for index in (0..self.nodes.len()).rev() {
            let node = self.nodes[index];
            let sign = match node.kind {
                NodeKind::Body(_) => 1.0,
                NodeKind::Constraint(_) => -1.0,
            };
            let (above, own) = self.values.split_at_mut(node.block);
            let (width, up) = match node.parent {
                Some(p) => (self.nodes[p].size, &mut above[self.nodes[p].block..]),
                None => (0, &mut above[..0]),
            };
            if !eliminate_sized(node.size, width, sign, own, up) {
                return Err(node.kind);
            }
        }
        Ok(())
    }

    /// `sparsesolve`: overwrites a right-hand side, in the order of the nodes, by the solution.
    pub fn solve(&self, x: &mut [f64]) {
        for node in self.nodes.iter().rev() {
            if let Some(p) = node.parent {
                let parent = self.nodes[p];
                let (above, own) = x.split_at_mut(node.row);
                let coupling = &self.values[node.block + node.size * node.size..];
                push_up(
                    node.size,
                    parent.size,
                    coupling,
                    own,
                    &mut above[parent.row..],
                );
            }
        }
        for node in &self.nodes {
            let (above, own) = x.split_at_mut(node.row);
            self.divide(node, own);
            if let Some(p) = node.parent {
                let parent = self.nodes[p];
                let coupling = &self.values[node.block + node.size * node.size..];
                pull_down(node.size, parent.size, coupling, own, &above[parent.row..]);
            }
        }
    }

    /// Half of a solve for a right-hand side that is zero except at a few nodes: `y = L⁻¹ k`
    /// along the ways from those nodes to their roots. `path` receives the nodes, children
    /// first; `y` must be zero elsewhere and has six entries for each node of the path.
    pub fn solve_up(&self, path: &[usize], y: &mut [[f64; 6]], slots: &[usize]) {
        for (k, &index) in path.iter().enumerate() {
            let node = self.nodes[index];
            if let Some(p) = node.parent {
                let coupling = &self.values[node.block + node.size * node.size..];
                let own = y[k];
                push_up(
                    node.size,
                    self.nodes[p].size,
                    coupling,
                    &own,
                    &mut y[slots[p]],
                );
            }
        }
    }

    /// Overwrites the rows of a node by D⁻¹ times them.
    pub fn divide(&self, node: &Node, x: &mut [f64]) {
        let (n, d) = (node.size, &self.values[node.block..]);
        for i in 0..n {
            let mut sum = x[i];
            for k in 0..i {
                sum -= d[i * n + k] * x[k];
            }
            x[i] = sum * d[i * n + i];
        }
        for i in (0..n).rev() {
            let mut sum = x[i];
            for k in i + 1..n {
                sum -= d[k * n + i] * x[k];
            }
            x[i] = sum * d[i * n + i];
        }
        if matches!(node.kind, NodeKind::Constraint(_)) {
            x[..n].iter_mut().for_each(|value| *value = -*value);
        }
    }
}

/// The constraints of each body, in their order.
struct Around {
    starts: Vec<usize>,
    list: Vec<usize>,
}

impl Around {
    fn of(&self, body: usize) -> &[usize] {
        &self.list[self.starts[body]..self.starts[body + 1]]
    }
}

fn neighbours(bodies: usize, edges: &[Edge], chosen: &[bool]) -> Around {
    let tree = || edges.iter().enumerate().filter(|(index, _)| chosen[*index]);
    let mut starts = vec![0; bodies + 1];
    for body in tree().flat_map(|(_, edge)| edge.ends).flatten() {
        starts[body + 1] += 1;
    }
    for body in 0..bodies {
        starts[body + 1] += starts[body];
    }
    let (mut next, mut list) = (starts.clone(), vec![0; starts[bodies]]);
    for (index, edge) in tree() {
        for body in edge.ends.into_iter().flatten() {
            list[next[body]] = index;
            next[body] += 1;
        }
    }
    Around { starts, list }
}

/// Which constraints make up a spanning forest (Kruskal). The world counts as a body, so that
/// a tree is held to it once.
fn spanning_forest(bodies: usize, edges: &[Edge]) -> Vec<bool> {
    let mut leaders: Vec<usize> = (0..=bodies).collect();
    let mut order: Vec<usize> = (0..edges.len()).collect();
    order.sort_by_key(|&index| std::cmp::Reverse(edges[index].rows));
    let mut chosen = vec![false; edges.len()];
    for index in order {
        let [a, b] = edges[index]
            .ends
            .map(|end| leader(&mut leaders, end.unwrap_or(bodies)));
        chosen[index] = a != b;
        leaders[a] = b;
    }
    chosen
}

/// The representative of a set, shortening the way to it.
fn leader(leaders: &mut [usize], mut member: usize) -> usize {
    while leaders[member] != member {
        leaders[member] = leaders[leaders[member]];
        member = leaders[member];
    }
    member
}

/// `x_parent −= (D⁻¹ B)ᵀ x`, where B couples a node to its parent.
#[inline]
fn push_up(n: usize, p: usize, coupling: &[f64], own: &[f64], parent: &mut [f64]) {
    for i in 0..n {
        let x = own[i];
        for (target, c) in parent[..p].iter_mut().zip(&coupling[i * p..i * p + p]) {
            *target -= c * x;
        }
    }
}

/// `x −= D⁻¹ B x_parent`.
#[inline]
fn pull_down(n: usize, p: usize, coupling: &[f64], own: &mut [f64], parent: &[f64]) {
    for i in 0..n {
        let row = &coupling[i * p..i * p + p];
        own[i] -= row
            .iter()
            .zip(&parent[..p])
            .map(|(c, x)| c * x)
            .sum::<f64>();
    }
}

/// Eliminates one node; see [`eliminate`]. The sizes become constants, so that the loops
/// unroll.
fn eliminate_sized(n: usize, p: usize, sign: f64, own: &mut [f64], parent: &mut [f64]) -> bool {
    macro_rules! pick {
        ($(($n:literal, $p:literal)),*) => {
            match (n, p) {
                $(($n, $p) => eliminate::<$n, $p>(sign, own, parent),)*
                _ => false,
            }
        };
    }
    pick!(
        (6, 0),
        (6, 1),
        (6, 2),
        (6, 3),
        (6, 4),
        (6, 5),
        (6, 6),
        (1, 0),
        (2, 0),
        (3, 0),
        (4, 0),
        (5, 0),
        (1, 6),
        (2, 6),
        (3, 6),
        (4, 6),
        (5, 6)
    )
}

/// Factors `sign · D = C Cᵀ` in place, the reciprocals of the diagonal of C stored, replaces
/// the coupling B by D⁻¹ B and subtracts Bᵀ D⁻¹ B from the parent. False if D is singular.
fn eliminate<const N: usize, const P: usize>(
    sign: f64,
    own: &mut [f64],
    parent: &mut [f64],
) -> bool {
    let (d, rest) = own.split_at_mut(N * N);
    let mut c = [[0.0; N]; N];
    for i in 0..N {
        for j in 0..=i {
            let mut sum = sign * d[i * N + j];
            for k in 0..j {
                sum -= c[i][k] * c[j][k];
            }
            if i == j {
                let least = SINGULAR * (sign * d[i * N + i]);
                if !(sum > least && sum > 0.0) {
                    return false;
                }
                c[i][i] = 1.0 / sum.sqrt();
            } else {
                c[i][j] = sum * c[j][j];
            }
        }
    }
    for i in 0..N {
        d[i * N..i * N + i + 1].copy_from_slice(&c[i][..i + 1]);
    }
    if P == 0 {
        return true;
    }
    // half = C⁻¹ B; then Bᵀ D⁻¹ B = sign halfᵀ half and D⁻¹ B = sign C⁻ᵀ half.
    let coupling = &mut rest[..N * P];
    let mut half = [[0.0; P]; N];
    for i in 0..N {
        let mut row = [0.0; P];
        row.copy_from_slice(&coupling[i * P..i * P + P]);
        for k in 0..i {
            for j in 0..P {
                row[j] -= c[i][k] * half[k][j];
            }
        }
        half[i] = row.map(|x| x * c[i][i]);
    }
    for i in 0..P {
        for j in 0..P {
            let mut sum = 0.0;
            for k in 0..N {
                sum += half[k][i] * half[k][j];
            }
            parent[i * P + j] -= sign * sum;
        }
    }
    for i in (0..N).rev() {
        let mut row = half[i];
        for k in i + 1..N {
            for j in 0..P {
                row[j] -= c[k][i] * half[k][j];
            }
        }
        half[i] = row.map(|x| x * c[i][i]);
        for j in 0..P {
            coupling[i * P + j] = sign * half[i][j];
        }
    }
    true
}

#[cfg(test)]
#[path = "forest_tests.rs"]
mod tests;
