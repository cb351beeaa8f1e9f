//! A sparse system of blocks of three that need not be symmetric, with couplings both ways or none.
//!
//! ```text
//! for node i in order, with later neighbours a, b, …:
//!     P_i = A_ii⁻¹,   G_a = A_ai P_i,   A_ab ← A_ab − G_a A_ib
//! forward   y_a ← y_a − G_a y_i          backward  x_i = P_i (y_i − Σ A_ib x_b)
//! ```
//!
//! Few nodes are *touched*: only there blocks change, right-hand sides are not zero and answers are
//! asked for. So only these and the nodes that their elimination leads to are *met* by a
//! factorization or a solve. All others are eliminated once.

use super::block::{Block, difference, inverse, minus, product, times, transposed};
use super::dense::triple;
use crate::dissection::{minimum_degree, nested_dissection};
use crate::matrix::{BlockMatrix, Pattern};
use crate::ordering::later_neighbours;
use crate::role::Role;

/// Blocks, and the factors of them once they were eliminated.
#[derive(Clone, Debug, Default)]
struct Blocks {
    /// A of each node with itself, or P.
    diagonal: Vec<Block>,
    /// A of each coupling, from the node that is eliminated first to the other, and back, or G.
    couplings: Vec<[Block; 2]>,
}

/// One node, by its place in the order of elimination.
#[derive(Clone, Copy, Debug)]
struct Column {
    /// Its couplings with later nodes.
    first: usize,
    end: usize,
    /// Where the couplings of these with each other start.
    targets: usize,
}

/// The system.
#[derive(Clone, Debug)]
pub struct Mesh {
    /// The place of each node in the order.
    places: Vec<u32>,
    columns: Vec<Column>,
    /// The later node of each coupling, ascending in a column.
    later: Vec<u32>,
    /// The coupling of each pair of later nodes of a column.
    targets: Vec<u32>,
    /// The coupling of each edge of the pattern, and whether the lower node is eliminated first.
    edges: Vec<(u32, bool)>,
    /// The system; the same without the nodes that are not met; and its factors.
    plain: Blocks,
    base: Blocks,
    factors: Blocks,
    loaded: Blocks,
    /// Whether a node is met, and those that are.
    is_met: Vec<bool>,
    met: Vec<u32>,
}

impl Mesh {
    /// The system of a pattern, if all its nodes have three rows and none has to wait.
    pub fn new(pattern: &Pattern) -> Option<Mesh> {
        let nodes = pattern.nodes();
        let fits = |node| pattern.size(node) == 3 && pattern.role(node) != Role::Waiting;
        if !(0..nodes).all(fits) {
            return None;
        }
        let work = |later: &Vec<Vec<usize>>| later.iter().map(|l| l.len() * l.len()).sum::<usize>();
        let orders = [minimum_degree(pattern), nested_dissection(pattern)];
        let planned = orders.map(|order| (later_neighbours(pattern, &order, nodes), order));
        let [one, two] = planned;
        let (later, order) = if work(&two.0) < work(&one.0) {
            two
        } else {
            one
        };
        Some(Mesh::planned(pattern, &order, &later))
    }

    fn planned(pattern: &Pattern, order: &[usize], structure: &[Vec<usize>]) -> Mesh {
        let mut places = vec![0; order.len()];
        for (place, &node) in order.iter().enumerate() {
            places[node] = place as u32;
        }
        let mut mesh = Mesh {
            places,
            columns: Vec::with_capacity(order.len()),
            later: Vec::new(),
            targets: Vec::new(),
            edges: Vec::new(),
            plain: Blocks::default(),
            base: Blocks::default(),
            factors: Blocks::default(),
            loaded: Blocks::default(),
            is_met: vec![false; order.len()],
            met: Vec::with_capacity(order.len()),
        };
        for later in structure {
            let first = mesh.later.len();
            mesh.later.extend(later.iter().map(|place| *place as u32));
            mesh.columns.push(Column {
                first,
                end: mesh.later.len(),
                targets: 0,
            });
        }
        for (place, later) in structure.iter().enumerate() {
            mesh.columns[place].targets = mesh.targets.len();
            for (k, &a) in later.iter().enumerate() {
                for &b in &later[k + 1..] {
                    let target = mesh.coupling(a as u32, b as u32);
                    mesh.targets.push(target.map_or(0, |t| t.0));
                }
            }
        }
        for &(low, high) in pattern.edges() {
            let found = mesh.coupling(mesh.places[low], mesh.places[high]);
            mesh.edges.push(found.unwrap_or_default());
        }
        let blocks = Blocks {
            diagonal: vec![[0.0; 9]; order.len()],
            couplings: vec![[[0.0; 9]; 2]; mesh.later.len()],
        };
        mesh.base = blocks.clone();
        mesh.factors = blocks.clone();
        mesh.loaded = blocks.clone();
        mesh.plain = blocks;
        mesh
    }

    /// Number of nodes.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether there is no node.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// The place of a node in the order.
    pub(super) fn place(&self, node: usize) -> u32 {
        self.places[node]
    }

    /// The coupling of two nodes by their places, and whether it is that from the first to the second.
    pub(super) fn coupling(&self, a: u32, b: u32) -> Option<(u32, bool)> {
        let column = self.columns[a.min(b) as usize];
        let later = &self.later[column.first..column.end];
        let at = later.binary_search(&a.max(b)).ok()?;
        Some(((column.first + at) as u32, a < b))
    }

    /// Takes the values of a symmetric matrix with the pattern.
    pub fn read(&mut self, matrix: &BlockMatrix) {
        for (node, place) in self.places.iter().enumerate() {
            let values = matrix.diagonal(node);
            // Of a diagonal block the lower triangle counts.
            let at = |e: usize| 3 * (e / 3).max(e % 3) + (e / 3).min(e % 3);
            self.plain.diagonal[*place as usize] = std::array::from_fn(|e| values[at(e)]);
        }
        self.plain.couplings.fill([[0.0; 9]; 2]);
        for (edge, (coupling, ahead)) in self.edges.iter().enumerate() {
            let values = matrix.edge(edge);
            let block: Block = std::array::from_fn(|e| values[e]);
            self.plain.couplings[*coupling as usize] = match ahead {
                true => [block, transposed(&block)],
                false => [transposed(&block), block],
            };
        }
    }

    /// Factors the system for touched nodes, by their places. False if a pivot vanishes.
    pub(super) fn meet(&mut self, touched: impl Iterator<Item = u32>) -> bool {
        self.is_met.fill(false);
        for place in touched {
            self.is_met[place as usize] = true;
        }
        self.met.clear();
        for place in 0..self.columns.len() {
            let column = self.columns[place];
            if self.is_met[place] {
                self.met.push(place as u32);
                // What is left couples all of its later nodes, which are met with the first of them.
                if column.first < column.end {
                    self.is_met[self.later[column.first] as usize] = true;
                }
            }
        }
        let mut base = std::mem::take(&mut self.base);
        base.diagonal.copy_from_slice(&self.plain.diagonal);
        base.couplings.copy_from_slice(&self.plain.couplings);
        let mut unmet = (0..self.columns.len()).filter(|place| !self.is_met[*place]);
        let eliminated = unmet.all(|place| self.eliminate(place, &mut base));
        self.base = base;
        if !eliminated {
            return false;
        }
        let mut factors = std::mem::take(&mut self.factors);
        self.copy_met(&mut factors);
        let factored = self.factor(&mut factors);
        self.factors = factors;
        factored
    }

    /// Starts to load the touched nodes.
    pub(super) fn unload(&mut self) {
        let mut loaded = std::mem::take(&mut self.loaded);
        self.copy_met(&mut loaded);
        self.loaded = loaded;
    }

    /// Block of a touched node with itself, to be loaded.
    #[inline(always)]
    pub(super) fn own(&mut self, place: u32) -> &mut Block {
        &mut self.loaded.diagonal[place as usize]
    }

    /// Block of a coupling of touched nodes, as `coupling` gives it, to be loaded.
    #[inline(always)]
    pub(super) fn mutual(&mut self, (coupling, ahead): (u32, bool)) -> &mut Block {
        &mut self.loaded.couplings[coupling as usize][usize::from(!ahead)]
    }

    /// Factors what is loaded. False if a pivot vanishes.
    pub(super) fn factor_loaded(&mut self) -> bool {
        let mut loaded = std::mem::take(&mut self.loaded);
        let factored = self.factor(&mut loaded);
        self.loaded = loaded;
        factored
    }

    /// Solves with the factors of the system, or of the loaded one, for a right-hand side by places
    /// that is zero but at touched nodes. It is right, and to be read, only where nodes are met.
    pub(super) fn solve(&self, loaded: bool, x: &mut [f64]) {
        let factors = if loaded { &self.loaded } else { &self.factors };
        for &place in &self.met {
            let (column, y) = (self.columns[place as usize], triple(x, place as usize));
            for k in column.first..column.end {
                let a = self.later[k] as usize;
                let left = minus(&triple(x, a), &times(&factors.couplings[k][1], &y));
                x[3 * a..3 * a + 3].copy_from_slice(&left);
            }
        }
        for &place in self.met.iter().rev() {
            let (column, place) = (self.columns[place as usize], place as usize);
            let mut left = triple(x, place);
            for k in column.first..column.end {
                let b = triple(x, self.later[k] as usize);
                left = minus(&left, &times(&factors.couplings[k][0], &b));
            }
            let found = times(&factors.diagonal[place], &left);
            x[3 * place..3 * place + 3].copy_from_slice(&found);
        }
    }

    /// Sets a vector to zero where nodes are met.
    pub(super) fn clear(&self, x: &mut [f64]) {
        for &place in &self.met {
            x[3 * place as usize..][..3].fill(0.0);
        }
    }

    /// Copies what is left for the nodes that are met.
    fn copy_met(&self, target: &mut Blocks) {
        for &place in &self.met {
            let Column { first, end, .. } = self.columns[place as usize];
            target.diagonal[place as usize] = self.base.diagonal[place as usize];
            target.couplings[first..end].copy_from_slice(&self.base.couplings[first..end]);
        }
    }

    fn factor(&self, blocks: &mut Blocks) -> bool {
        self.met
            .iter()
            .all(|place| self.eliminate(*place as usize, blocks))
    }

    /// Eliminates one node. False if its pivot vanishes.
    fn eliminate(&self, place: usize, blocks: &mut Blocks) -> bool {
        let Column {
            first,
            end,
            mut targets,
        } = self.columns[place];
        let Some(pivot) = inverse(&blocks.diagonal[place]) else {
            return false;
        };
        blocks.diagonal[place] = pivot;
        for coupling in &mut blocks.couplings[first..end] {
            coupling[1] = product(&coupling[1], &pivot);
        }
        // Where they go to lies behind the couplings of this node.
        let (here, behind) = blocks.couplings.split_at_mut(end);
        for (k, [to, gain]) in here[first..].iter().enumerate() {
            let own = &mut blocks.diagonal[self.later[first + k] as usize];
            *own = difference(own, &product(gain, to));
            for [other_to, other_gain] in &here[first + k + 1..] {
                let [ahead, back] = &mut behind[self.targets[targets] as usize - end];
                *ahead = difference(ahead, &product(gain, other_to));
                *back = difference(back, &product(other_gain, to));
                targets += 1;
            }
        }
        true
    }
}
