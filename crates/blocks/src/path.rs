//! Where the blocks of a path lie in a matrix, and how to read them.

use crate::chain_kernel::{Block, Column, transpose};
use crate::matrix::{BlockMatrix, Pattern};

/// Where the blocks of the positions of a path lie. Blocks smaller than `N` are
/// padded with an identity, so one fixed size serves mixed chains.
pub(crate) struct Layout {
    order: Vec<usize>,
    natural: bool,
    uniform: bool,
    places: Vec<Place>,
    edge_base: usize,
}

#[derive(Clone, Copy)]
struct Place {
    diagonal: usize,
    row: usize,
    size: usize,
    /// Offset of the block to the next position, if there is an edge.
    edge: Option<usize>,
    /// The edge block has the rows of the next position.
    flipped: bool,
    next_size: usize,
}

impl Layout {
    /// The layout of a path that has been checked to be one.
    pub fn new(pattern: &Pattern, order: Vec<usize>) -> Self {
        let nodes = pattern.nodes();
        let full = pattern.edges().len() + 1 == nodes;
        let natural = full && order.iter().enumerate().all(|(p, &node)| p == node);
        let uniform = pattern.sizes().windows(2).all(|pair| pair[0] == pair[1]);
        let natural = natural && uniform;
        let tabled = if natural { 0 } else { nodes };
        let places = (0..tabled)
            .map(|p| Place::new(pattern, &order, p))
            .collect();
        let edge_base = if nodes > 0 {
            pattern.diagonal_offset(nodes - 1) + pattern.size(nodes - 1).pow(2)
        } else {
            0
        };
        Self {
            order,
            natural,
            uniform,
            places,
            edge_base,
        }
    }

    /// Whether the nodes are numbered along the path and all of one size, so
    /// that no table is needed. The methods below take this as `NATURAL`: a
    /// constant, so that the loops over long chains hold no branch for it.
    pub fn natural(&self) -> bool {
        self.natural
    }

    /// Number of positions.
    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// The node at a position.
    pub fn node(&self, position: usize) -> usize {
        self.order[position]
    }

    /// The diagonal block of a position.
    #[inline(always)]
    pub fn diagonal<const N: usize, const NATURAL: bool>(
        &self,
        matrix: &BlockMatrix,
        p: usize,
    ) -> Block<N, f64> {
        let values = matrix.values();
        if NATURAL {
            return load::<N>(&values[p * N * N..(p + 1) * N * N]);
        }
        let place = &self.places[p];
        let block = &values[place.diagonal..place.diagonal + place.size * place.size];
        if self.uniform {
            load::<N>(block)
        } else {
            load_padded::<N>(block, [place.size, place.size], 1.0)
        }
    }

    /// The block between `p` and `p + 1`: rows of `p`, columns of `p + 1`.
    #[inline(always)]
    pub fn coupling<const N: usize, const NATURAL: bool>(
        &self,
        matrix: &BlockMatrix,
        p: usize,
    ) -> Block<N, f64> {
        let values = matrix.values();
        if NATURAL {
            let start = self.edge_base + p * N * N;
            return load::<N>(&values[start..start + N * N]);
        }
        let place = &self.places[p];
        let Some(start) = place.edge else {
            return [[0.0; N]; N];
        };
        let block = &values[start..start + place.size * place.next_size];
        let shape = if place.flipped {
            [place.next_size, place.size]
        } else {
            [place.size, place.next_size]
        };
        let loaded = if self.uniform {
            load::<N>(block)
        } else {
            load_padded::<N>(block, shape, 0.0)
        };
        if place.flipped {
            transpose(&loaded)
        } else {
            loaded
        }
    }

    /// The right-hand side at a position.
    #[inline(always)]
    pub fn read<const N: usize, const NATURAL: bool>(
        &self,
        rhs: &[f64],
        p: usize,
    ) -> Column<N, f64> {
        if NATURAL {
            let rows = &rhs[p * N..(p + 1) * N];
            return std::array::from_fn(|k| rows[k]);
        }
        let place = &self.places[p];
        let rows = &rhs[place.row..place.row + place.size];
        std::array::from_fn(|k| if k < rows.len() { rows[k] } else { 0.0 })
    }

    /// Writes the right-hand side at a position.
    #[inline(always)]
    pub fn write<const N: usize, const NATURAL: bool>(
        &self,
        rhs: &mut [f64],
        p: usize,
        x: &Column<N, f64>,
    ) {
        if NATURAL {
            return rhs[p * N..(p + 1) * N].copy_from_slice(x);
        }
        let place = &self.places[p];
        for (target, x) in rhs[place.row..place.row + place.size].iter_mut().zip(x) {
            *target = *x;
        }
    }
}

impl Place {
    fn new(pattern: &Pattern, order: &[usize], p: usize) -> Self {
        let node = order[p];
        let next = order.get(p + 1).copied();
        let edge = next.and_then(|next| pattern.edge_index(node, next));
        Self {
            diagonal: pattern.diagonal_offset(node),
            row: pattern.row(node),
            size: pattern.size(node),
            edge: edge.map(|edge| pattern.edge_offset(edge)),
            flipped: next.is_some_and(|next| next < node),
            next_size: next.map_or(0, |next| pattern.size(next)),
        }
    }
}

#[inline(always)]
fn load<const N: usize>(block: &[f64]) -> Block<N, f64> {
    let block = &block[..N * N];
    std::array::from_fn(|i| std::array::from_fn(|j| block[i * N + j]))
}

#[inline(always)]
fn load_padded<const N: usize>(block: &[f64], [n, m]: [usize; 2], diagonal: f64) -> Block<N, f64> {
    std::array::from_fn(|i| {
        std::array::from_fn(|j| {
            let inside = i < n && j < m;
            if inside {
                block[i * m + j]
            } else if i == j {
                diagonal
            } else {
                0.0
            }
        })
    })
}
