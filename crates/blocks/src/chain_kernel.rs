//! Kernels on blocks of a fixed size `N`, on one or two independent chains at a time.
//!
//! The elimination of one node of a chain is
//!
//! ```text
//! D̂ = D − carry = L Δ Lᵀ      G = L⁻¹ B      carry' = Gᵀ Δ⁻¹ G
//! ```
//!
//! and a right-hand side r goes inwards and comes back as
//!
//! ```text
//! z = L⁻¹ (r − carry)      carry' = (Δ⁻¹ G)ᵀ z      x = L⁻ᵀ (Δ⁻¹ z − Δ⁻¹ G x')
//! ```
//!
//! The recurrence is a long line of dependent divisions, so one chain alone
//! leaves the processor idle. All kernels therefore work on lanes that know
//! nothing of each other; every lane does the same operations in the same order
//! however many there are, so results do not depend on it. No fused multiply-add is
//! used: the bits are the same on every processor.

use crate::census::{Census, Pivots};
use crate::lanes::{Lane, Pair};
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

/// An `N × N` block in each lane.
pub(crate) type Block<const N: usize, L> = [[L; N]; N];
/// `N` rows in each lane.
pub(crate) type Column<const N: usize, L> = [L; N];

/// The factors that one node leaves behind.
#[derive(Clone, Copy)]
pub(crate) struct Step<const N: usize, L: Lane> {
    /// `L` below the diagonal, `Δ⁻¹` on it.
    pub pivot: Block<N, L>,
    /// `Δ⁻¹ L⁻¹ B`, towards the next node.
    pub coupling: Block<N, L>,
}

impl<const N: usize, L: Lane> Step<N, L> {
    /// Room for a step.
    pub fn zero() -> Self {
        Self {
            pivot: [[L::splat(0.0); N]; N],
            coupling: [[L::splat(0.0); N]; N],
        }
    }
}

/// What the factorization of a block found in each lane.
#[derive(Clone, Copy)]
pub(crate) struct LanePivots<const N: usize, L> {
    pivots: Column<N, L>,
    inverses: Column<N, L>,
    scale: Column<N, L>,
    steepest: L,
    /// Zero as soon as one inverse is, which is rare.
    lowest_inverse: L,
    sum: L,
}

impl<const N: usize, L: Lane> LanePivots<N, L> {
    /// The largest quotient of a diagonal entry and its pivot, the lowest inverse and the sum of
    /// the pivots.
    #[inline(always)]
    pub fn extremes(&self) -> [L; 3] {
        [self.steepest, self.lowest_inverse, self.sum]
    }

    /// Enters lane `w` into the census as the block at `place`.
    #[inline(always)]
    pub fn enter(&self, w: usize, place: usize, census: &mut Census) {
        let mut found = Pivots {
            steepest: self.steepest.get(w),
            sum: self.sum.get(w),
            ..Pivots::default()
        };
        if self.lowest_inverse.get(w) == 0.0 {
            self.count_dropped(w, &mut found);
        }
        census.add(place, found);
    }

    #[cold]
    fn count_dropped(&self, w: usize, found: &mut Pivots) {
        found.dropped = self
            .inverses
            .iter()
            .filter(|inverse| inverse.get(w) == 0.0)
            .count();
        let pivots = self.pivots.iter().zip(&self.scale);
        found.negative = pivots.into_iter().any(|(pivot, scale)| {
            // Clearly so.
            pivot.get(w) + NEGATIVE * scale.get(w).abs() < 0.0
        });
    }
}

/// Factors the lower triangle of `a` in place; see `small::factor`.
#[inline(always)]
pub(crate) fn factor<const N: usize, L: Lane>(
    a: &mut Block<N, L>,
    scale: &Column<N, L>,
    tolerance: f64,
) -> LanePivots<N, L> {
    let zero = L::splat(0.0);
    let mut found = LanePivots {
        pivots: [zero; N],
        inverses: [zero; N],
        scale: *scale,
        steepest: zero,
        lowest_inverse: L::splat(f64::MAX),
        sum: zero,
    };
    let tolerance = L::splat(tolerance);
    unroll!(N, K => {
        let pivot = a[K][K];
        let inverse = pivot.reciprocal_above(tolerance * scale[K]);
        (found.pivots[K], found.inverses[K]) = (pivot, inverse);
        found.sum = found.sum + pivot;
        found.steepest = (scale[K] * inverse).maximum(found.steepest);
        found.lowest_inverse = inverse.minimum(found.lowest_inverse);
        a[K][K] = inverse;
        let mut column = [zero; N];
        for i in K + 1..N {
            column[i] = a[i][K];
            a[i][K] = a[i][K] * inverse;
        }
        unroll!(N, I => {
            for j in K + 1..(I + 1).max(K + 1) {
                a[I][j] = a[I][j] - a[I][K] * column[j];
            }
        });
    });
    found
}

/// `L⁻¹ B`.
#[inline(always)]
pub(crate) fn solve_lower_block<const N: usize, L: Lane>(
    pivot: &Block<N, L>,
    mut b: Block<N, L>,
) -> Block<N, L> {
    unroll!(N, I => {
        unroll!(I, K => {
            for c in 0..N {
                b[I][c] = b[I][c] - pivot[I][K] * b[K][c];
            }
        });
    });
    b
}

/// `Δ⁻¹ G`.
#[inline(always)]
pub(crate) fn scale_block<const N: usize, L: Lane>(
    pivot: &Block<N, L>,
    mut g: Block<N, L>,
) -> Block<N, L> {
    for i in 0..N {
        for c in 0..N {
            g[i][c] = pivot[i][i] * g[i][c];
        }
    }
    g
}

/// The lower triangle of `Gᵀ H`, where it is symmetric; all of it if `FULL`.
#[inline(always)]
pub(crate) fn inner_product<const N: usize, L: Lane, const FULL: bool>(
    g: &Block<N, L>,
    h: &Block<N, L>,
) -> Block<N, L> {
    let mut product = [[L::splat(0.0); N]; N];
    unroll!(N, I => {
        let end = if FULL { N } else { I + 1 };
        unroll!(end, J => {
            let mut sum = g[0][I] * h[0][J];
            for k in 1..N {
                sum = sum + g[k][I] * h[k][J];
            }
            product[I][J] = sum;
        });
    });
    product
}

/// `A − B`, lower triangle.
#[inline(always)]
pub(crate) fn subtract_lower<const N: usize, L: Lane>(a: &mut Block<N, L>, b: &Block<N, L>) {
    unroll!(N, I => {
        for j in 0..I + 1 {
            a[I][j] = a[I][j] - b[I][j];
        }
    });
}

/// The diagonal.
#[inline(always)]
pub(crate) fn diagonal<const N: usize, L: Lane>(a: &Block<N, L>) -> Column<N, L> {
    let mut d = [L::splat(0.0); N];
    for k in 0..N {
        d[k] = a[k][k];
    }
    d
}

/// Eliminates one node: returns its step, the carry for the next and the pivots.
#[inline(always)]
pub(crate) fn eliminate<const N: usize, L: Lane>(
    mut block: Block<N, L>,
    carry: &Block<N, L>,
    coupling: Block<N, L>,
    tolerance: f64,
) -> (Step<N, L>, Block<N, L>, LanePivots<N, L>) {
    let scale = diagonal(&block);
    subtract_lower(&mut block, carry);
    let found = factor(&mut block, &scale, tolerance);
    let g = solve_lower_block(&block, coupling);
    let h = scale_block(&block, g);
    let mut carry = inner_product::<N, L, false>(&g, &h);
    for (i, row) in carry.iter_mut().enumerate() {
        for entry in &mut row[..i] {
            *entry = entry.flush(TINY);
        }
    }
    let step = Step {
        pivot: block,
        coupling: h,
    };
    (step, carry, found)
}

/// Magnitudes below this become zero. Influence decays exponentially along a
/// chain; left alone it would end in subnormal numbers, which are a hundred
/// times slower than others. Fourth powers of what is left are still far from them.
pub(crate) const TINY: f64 = 1e-60;

/// `x` without tiny entries.
#[inline(always)]
pub(crate) fn flush_column<const N: usize, L: Lane>(x: Column<N, L>) -> Column<N, L> {
    x.map(|value| value.flush(TINY))
}

/// `x − y`.
#[inline(always)]
pub(crate) fn subtract_column<const N: usize, L: Lane>(
    x: Column<N, L>,
    y: &Column<N, L>,
) -> Column<N, L> {
    std::array::from_fn(|k| x[k] - y[k])
}

/// `Bᵀ x`.
#[inline(always)]
pub(crate) fn transposed_times<const N: usize, L: Lane>(
    b: &Block<N, L>,
    x: &Column<N, L>,
) -> Column<N, L> {
    let mut y = std::array::from_fn(|c| b[0][c] * x[0]);
    for k in 1..N {
        for c in 0..N {
            y[c] = y[c] + b[k][c] * x[k];
        }
    }
    y
}

/// `B x`. The last rows of x come first, since a solution is known from there.
#[inline(always)]
pub(crate) fn times<const N: usize, L: Lane>(b: &Block<N, L>, x: &Column<N, L>) -> Column<N, L> {
    std::array::from_fn(|k| {
        let mut sum = b[k][N - 1] * x[N - 1];
        for c in (0..N - 1).rev() {
            sum = sum + b[k][c] * x[c];
        }
        sum
    })
}

/// `L⁻¹ x`.
#[inline(always)]
pub(crate) fn solve_lower<const N: usize, L: Lane>(
    pivot: &Block<N, L>,
    mut x: Column<N, L>,
) -> Column<N, L> {
    unroll!(N, I => {
        unroll!(I, K => {
            x[I] = x[I] - pivot[I][K] * x[K];
        });
    });
    x
}

/// `L⁻ᵀ x`.
#[inline(always)]
pub(crate) fn solve_upper<const N: usize, L: Lane>(
    pivot: &Block<N, L>,
    mut x: Column<N, L>,
) -> Column<N, L> {
    unroll!(N, STEP => {
        unroll!(STEP, BELOW => {
            let (i, k) = (N - 1 - STEP, N - 1 - BELOW);
            x[i] = x[i] - pivot[k][i] * x[k];
        });
    });
    x
}

/// `Δ⁻¹ x`.
#[inline(always)]
pub(crate) fn scale_column<const N: usize, L: Lane>(
    pivot: &Block<N, L>,
    mut x: Column<N, L>,
) -> Column<N, L> {
    for k in 0..N {
        x[k] = x[k] * pivot[k][k];
    }
    x
}

/// Picks one lane.
#[inline(always)]
pub(crate) fn lane<const N: usize, L: Lane>(a: &Block<N, L>, w: usize) -> Block<N, f64> {
    std::array::from_fn(|i| std::array::from_fn(|j| a[i][j].get(w)))
}

/// `Aᵀ`.
#[inline(always)]
pub(crate) fn transpose<const N: usize>(a: &Block<N, f64>) -> Block<N, f64> {
    std::array::from_fn(|i| std::array::from_fn(|j| a[j][i]))
}

/// Joins two single lanes.
#[inline(always)]
pub(crate) fn pair<const N: usize>(a: &Block<N, f64>, b: &Block<N, f64>) -> Block<N, Pair> {
    std::array::from_fn(|i| std::array::from_fn(|j| Pair::new(a[i][j], b[i][j])))
}
