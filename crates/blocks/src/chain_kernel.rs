//! Kernels on blocks of a fixed size `N`, on `W` independent chains at a time.
//!
//! The elimination of one node of a chain is
//!
//! ```text
//! D̂ = D − carry = L Δ Lᵀ      G = L⁻¹ B      carry' = Gᵀ Δ⁻¹ G      W = L⁻ᵀ Δ⁻¹ G = D̂⁻¹ B
//! ```
//!
//! The recurrence is a long line of dependent divisions, so one chain alone
//! leaves the processor idle. All kernels therefore work on `W` lanes that know
//! nothing of each other; every lane does the same operations in the same order
//! whatever `W` is, so results do not depend on it. No fused multiply-add is
//! used: the bits are the same on every processor.

use crate::census::{Census, Pivots};
use crate::matrix::{BlockMatrix, Pattern};
use crate::small::NEGATIVE;

/// Writes the body out for `$i = 0, 1, …` below `$n`. The compiler gives up on
/// unrolling triangular loops over blocks, and a loop left standing keeps the
/// block in memory instead of registers: a factor of two.
macro_rules! unroll {
    ($n:expr, $i:ident => $body:block) => {{
        unroll!(@ $n, 0, $i, $body);
        unroll!(@ $n, 1, $i, $body);
        unroll!(@ $n, 2, $i, $body);
        unroll!(@ $n, 3, $i, $body);
        unroll!(@ $n, 4, $i, $body);
        unroll!(@ $n, 5, $i, $body);
    }};
    (@ $n:expr, $k:literal, $i:ident, $body:block) => {
        if $k < $n {
            const $i: usize = $k;
            $body
        }
    };
}

/// An `N × N` block in each of `W` lanes.
pub(crate) type Block<const N: usize, const W: usize> = [[[f64; W]; N]; N];
/// `N` rows in each of `W` lanes.
pub(crate) type Column<const N: usize, const W: usize> = [[f64; W]; N];

/// The factors that one node leaves behind.
#[derive(Clone, Copy)]
pub(crate) struct Step<const N: usize, const W: usize> {
    /// `L` below the diagonal, `Δ⁻¹` on it.
    pub pivot: Block<N, W>,
    /// `D̂⁻¹ B`, towards the next node.
    pub coupling: Block<N, W>,
}

impl<const N: usize, const W: usize> Step<N, W> {
    pub const ZERO: Self = Self {
        pivot: [[[0.0; W]; N]; N],
        coupling: [[[0.0; W]; N]; N],
    };
}

/// What the factorization of `W` blocks found, before anybody looks at it.
#[derive(Clone, Copy)]
pub(crate) struct LanePivots<const N: usize, const W: usize> {
    pivots: Column<N, W>,
    scale: Column<N, W>,
    steepest: [f64; W],
    /// Zero as soon as one inverse is, which is rare.
    lowest_inverse: [f64; W],
    sum: [f64; W],
    tolerance: f64,
}

impl<const N: usize, const W: usize> LanePivots<N, W> {
    /// Enters lane `w` into the census as the block at `place`.
    #[inline(always)]
    pub fn enter(&self, w: usize, place: usize, census: &mut Census) {
        let mut found = Pivots {
            steepest: self.steepest[w],
            sum: self.sum[w],
            ..Pivots::default()
        };
        if self.lowest_inverse[w] == 0.0 {
            self.count_dropped(w, &mut found);
        }
        census.add(place, found);
    }

    #[cold]
    fn count_dropped(&self, w: usize, found: &mut Pivots) {
        for k in 0..N {
            let (pivot, scale) = (self.pivots[k][w], self.scale[k][w]);
            let keep = pivot > self.tolerance * scale;
            found.dropped += usize::from(!keep);
            found.negative |= pivot < -NEGATIVE * scale.abs();
        }
    }
}

/// Factors the lower triangle of `a` in place; see `small::factor`.
#[inline(always)]
pub(crate) fn factor<const N: usize, const W: usize>(
    a: &mut Block<N, W>,
    scale: &Column<N, W>,
    tolerance: f64,
) -> LanePivots<N, W> {
    let mut found = LanePivots {
        pivots: [[0.0; W]; N],
        scale: *scale,
        steepest: [0.0; W],
        lowest_inverse: [f64::MAX; W],
        sum: [0.0; W],
        tolerance,
    };
    unroll!(N, K => {
        let pivot = a[K][K];
        found.pivots[K] = pivot;
        let inverse: [f64; W] = std::array::from_fn(|w| {
            if pivot[w] > tolerance * scale[K][w] { 1.0 / pivot[w] } else { 0.0 }
        });
        for w in 0..W {
            found.sum[w] += pivot[w];
            let steepness = scale[K][w] * inverse[w];
            found.steepest[w] = if steepness > found.steepest[w] { steepness } else { found.steepest[w] };
            let lowest = found.lowest_inverse[w];
            found.lowest_inverse[w] = if inverse[w] < lowest { inverse[w] } else { lowest };
        }
        a[K][K] = inverse;
        let mut column = [[0.0; W]; N];
        for i in K + 1..N {
            column[i] = a[i][K];
            a[i][K] = multiply(a[i][K], inverse);
        }
        unroll!(N, I => {
            for j in K + 1..(I + 1).max(K + 1) {
                a[I][j] = subtract(a[I][j], multiply(a[I][K], column[j]));
            }
        });
    });
    found
}

#[inline(always)]
fn multiply<const W: usize>(a: [f64; W], b: [f64; W]) -> [f64; W] {
    std::array::from_fn(|w| a[w] * b[w])
}

#[inline(always)]
fn add<const W: usize>(a: [f64; W], b: [f64; W]) -> [f64; W] {
    std::array::from_fn(|w| a[w] + b[w])
}

#[inline(always)]
fn subtract<const W: usize>(a: [f64; W], b: [f64; W]) -> [f64; W] {
    std::array::from_fn(|w| a[w] - b[w])
}

/// `L⁻¹ B`.
#[inline(always)]
pub(crate) fn solve_lower_block<const N: usize, const W: usize>(
    pivot: &Block<N, W>,
    mut b: Block<N, W>,
) -> Block<N, W> {
    unroll!(N, I => {
        unroll!(I, K => {
            for c in 0..N {
                b[I][c] = subtract(b[I][c], multiply(pivot[I][K], b[K][c]));
            }
        });
    });
    b
}

/// `Δ⁻¹ G`.
#[inline(always)]
pub(crate) fn scale_block<const N: usize, const W: usize>(
    pivot: &Block<N, W>,
    mut g: Block<N, W>,
) -> Block<N, W> {
    for i in 0..N {
        for c in 0..N {
            g[i][c] = multiply(pivot[i][i], g[i][c]);
        }
    }
    g
}

/// `L⁻ᵀ H`.
#[inline(always)]
pub(crate) fn solve_upper_block<const N: usize, const W: usize>(
    pivot: &Block<N, W>,
    mut h: Block<N, W>,
) -> Block<N, W> {
    unroll!(N, STEP => {
        unroll!(STEP, BELOW => {
            let (i, k) = (N - 1 - STEP, N - 1 - BELOW);
            for c in 0..N {
                h[i][c] = subtract(h[i][c], multiply(pivot[k][i], h[k][c]));
            }
        });
    });
    h
}

/// The lower triangle of `Gᵀ H`, where it is symmetric; all of it if `FULL`.
#[inline(always)]
pub(crate) fn inner_product<const N: usize, const W: usize, const FULL: bool>(
    g: &Block<N, W>,
    h: &Block<N, W>,
) -> Block<N, W> {
    let mut product = [[[0.0; W]; N]; N];
    unroll!(N, I => {
        let end = if FULL { N } else { I + 1 };
        unroll!(end, J => {
            let mut sum = multiply(g[0][I], h[0][J]);
            for k in 1..N {
                sum = add(sum, multiply(g[k][I], h[k][J]));
            }
            product[I][J] = sum;
        });
    });
    product
}

/// `A − B`, lower triangle.
#[inline(always)]
pub(crate) fn subtract_lower<const N: usize, const W: usize>(a: &mut Block<N, W>, b: &Block<N, W>) {
    for i in 0..N {
        for j in 0..=i {
            a[i][j] = subtract(a[i][j], b[i][j]);
        }
    }
}

/// The diagonal.
#[inline(always)]
pub(crate) fn diagonal<const N: usize, const W: usize>(a: &Block<N, W>) -> Column<N, W> {
    std::array::from_fn(|k| a[k][k])
}

/// Eliminates one node: returns its step, the carry for the next and the pivots.
#[inline(always)]
pub(crate) fn eliminate<const N: usize, const W: usize>(
    mut block: Block<N, W>,
    carry: &Block<N, W>,
    coupling: Block<N, W>,
    tolerance: f64,
) -> (Step<N, W>, Block<N, W>, LanePivots<N, W>) {
    let scale = diagonal(&block);
    subtract_lower(&mut block, carry);
    let found = factor(&mut block, &scale, tolerance);
    let g = solve_lower_block(&block, coupling);
    let h = scale_block(&block, g);
    let carry = inner_product::<N, W, false>(&g, &h);
    let step = Step {
        pivot: block,
        coupling: solve_upper_block(&block, h),
    };
    (step, carry, found)
}

/// Magnitudes below this become zero. Influence decays exponentially along a
/// chain; left alone it would end in subnormal numbers, which are a hundred
/// times slower than others.
pub(crate) const TINY: f64 = 1e-150;

/// `x` without tiny entries.
#[inline(always)]
pub(crate) fn flush_column<const N: usize, const W: usize>(x: Column<N, W>) -> Column<N, W> {
    std::array::from_fn(|k| {
        std::array::from_fn(|w| if x[k][w].abs() < TINY { 0.0 } else { x[k][w] })
    })
}

/// `x − y`.
#[inline(always)]
pub(crate) fn subtract_column<const N: usize, const W: usize>(
    x: Column<N, W>,
    y: &Column<N, W>,
) -> Column<N, W> {
    std::array::from_fn(|k| subtract(x[k], y[k]))
}

/// `Bᵀ x`.
#[inline(always)]
pub(crate) fn transposed_times<const N: usize, const W: usize>(
    b: &Block<N, W>,
    x: &Column<N, W>,
) -> Column<N, W> {
    let mut y = std::array::from_fn(|c| multiply(b[0][c], x[0]));
    for k in 1..N {
        for c in 0..N {
            y[c] = add(y[c], multiply(b[k][c], x[k]));
        }
    }
    y
}

/// `B x`.
#[inline(always)]
pub(crate) fn times<const N: usize, const W: usize>(
    b: &Block<N, W>,
    x: &Column<N, W>,
) -> Column<N, W> {
    std::array::from_fn(|k| {
        let mut sum = multiply(b[k][0], x[0]);
        for c in 1..N {
            sum = add(sum, multiply(b[k][c], x[c]));
        }
        sum
    })
}

/// `D̂⁻¹ x`.
#[inline(always)]
pub(crate) fn solve_pivot<const N: usize, const W: usize>(
    pivot: &Block<N, W>,
    mut x: Column<N, W>,
) -> Column<N, W> {
    unroll!(N, I => {
        for k in 0..I {
            x[I] = subtract(x[I], multiply(pivot[I][k], x[k]));
        }
    });
    for k in 0..N {
        x[k] = multiply(x[k], pivot[k][k]);
    }
    unroll!(N, STEP => {
        let i = N - 1 - STEP;
        for k in i + 1..N {
            x[i] = subtract(x[i], multiply(pivot[k][i], x[k]));
        }
    });
    x
}

/// Picks one lane.
#[inline(always)]
pub(crate) fn lane<const N: usize, const W: usize>(a: &Block<N, W>, w: usize) -> Block<N, 1> {
    std::array::from_fn(|i| std::array::from_fn(|j| [a[i][j][w]]))
}

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
        let places = (0..nodes).map(|p| Place::new(pattern, &order, p)).collect();
        let full = pattern.edges().len() + 1 == nodes;
        let natural = full && order.iter().enumerate().all(|(p, &node)| p == node);
        let uniform = pattern.sizes().windows(2).all(|pair| pair[0] == pair[1]);
        let natural = natural && uniform;
        let edge_base = if nodes > 0 {
            pattern.diagonal_offset(nodes - 1) + pattern.size(nodes - 1).pow(2)
        } else {
            0
        };
        Self {
            order,
            natural,
            uniform,
            places: if natural { Vec::new() } else { places },
            edge_base,
        }
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
    pub fn diagonal<const N: usize>(&self, matrix: &BlockMatrix, p: usize) -> Block<N, 1> {
        let values = matrix.values();
        if self.natural {
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
    pub fn coupling<const N: usize>(&self, matrix: &BlockMatrix, p: usize) -> Block<N, 1> {
        let values = matrix.values();
        if self.natural {
            let start = self.edge_base + p * N * N;
            return load::<N>(&values[start..start + N * N]);
        }
        let place = &self.places[p];
        let Some(start) = place.edge else {
            return [[[0.0]; N]; N];
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
    pub fn read<const N: usize>(&self, rhs: &[f64], p: usize) -> Column<N, 1> {
        if self.natural {
            let rows = &rhs[p * N..(p + 1) * N];
            return std::array::from_fn(|k| [rows[k]]);
        }
        let place = &self.places[p];
        let rows = &rhs[place.row..place.row + place.size];
        std::array::from_fn(|k| [if k < rows.len() { rows[k] } else { 0.0 }])
    }

    /// Writes the right-hand side at a position.
    #[inline(always)]
    pub fn write<const N: usize>(&self, rhs: &mut [f64], p: usize, x: &Column<N, 1>) {
        if self.natural {
            let rows = &mut rhs[p * N..(p + 1) * N];
            for k in 0..N {
                rows[k] = x[k][0];
            }
            return;
        }
        let place = &self.places[p];
        for (target, x) in rhs[place.row..place.row + place.size].iter_mut().zip(x) {
            *target = x[0];
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
fn load<const N: usize>(block: &[f64]) -> Block<N, 1> {
    let block = &block[..N * N];
    std::array::from_fn(|i| std::array::from_fn(|j| [block[i * N + j]]))
}

#[inline(always)]
fn load_padded<const N: usize>(block: &[f64], [n, m]: [usize; 2], diagonal: f64) -> Block<N, 1> {
    std::array::from_fn(|i| {
        std::array::from_fn(|j| {
            let inside = i < n && j < m;
            [if inside {
                block[i * m + j]
            } else if i == j {
                diagonal
            } else {
                0.0
            }]
        })
    })
}

/// `Aᵀ`.
#[inline(always)]
pub(crate) fn transpose<const N: usize>(a: &Block<N, 1>) -> Block<N, 1> {
    std::array::from_fn(|i| std::array::from_fn(|j| a[j][i]))
}

/// Joins two single lanes.
#[inline(always)]
pub(crate) fn pair<const N: usize>(a: &Block<N, 1>, b: &Block<N, 1>) -> Block<N, 2> {
    std::array::from_fn(|i| std::array::from_fn(|j| [a[i][j][0], b[i][j][0]]))
}
