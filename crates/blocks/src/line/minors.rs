//! The elimination of one node of three rows.
//!
//! ```text
//! D̂ = D − carry,   D̂⁻¹ = adj D̂ / det D̂,   carry' = Bᵀ adj D̂ B / det D̂,   W = D̂⁻¹ B
//! ```
//!
//! A factorization divides three times, each time by what the last one left, and the next node waits
//! for that. Minors need one division, beside the products. They lose as many digits as D̂ has between
//! its largest and its smallest eigenvalue, as a factorization does in the worst case; a D̂ that has
//! lost more than eight is refused.

use crate::census::STEEP;
use crate::chain_kernel::{Block, Column, TINY, diagonal, subtract_lower};
use crate::lanes::Lane;

/// What one node leaves behind.
#[derive(Clone, Copy)]
pub(super) struct Step<L: Lane> {
    /// D̂⁻¹: xx, yx, yy, zx, zy, zz.
    inverse: [L; 6],
    /// W = D̂⁻¹ B, towards the next node.
    pub coupling: Block<3, L>,
}

impl<L: Lane> Step<L> {
    /// Room for a step.
    pub fn zero() -> Self {
        let zero = L::splat(0.0);
        Step {
            inverse: [zero; 6],
            coupling: [[zero; 3]; 3],
        }
    }

    /// `D̂⁻¹ x`.
    #[inline(always)]
    pub fn answer(&self, x: &Column<3, L>) -> Column<3, L> {
        let [xx, yx, yy, zx, zy, zz] = self.inverse;
        [[xx, yx, zx], [yx, yy, zy], [zx, zy, zz]].map(|row| combined(&row, x))
    }
}

/// What was found of all nodes so far.
pub(super) struct Found<L> {
    /// What the leading minors are above those of a node that is near to vanishing, at least.
    lowest: L,
    /// Not finite as soon as anything is not.
    sum: L,
}

impl<L: Lane> Found<L> {
    pub fn nothing() -> Found<L> {
        Found {
            lowest: L::splat(f64::MAX),
            sum: L::splat(0.0),
        }
    }

    /// Whether everything is finite and no pivot is smaller by a factor of [`STEEP`] than the
    /// diagonal that it came from. `minors` are the leading ones, of which pivots are the quotients.
    #[inline(always)]
    fn add(&mut self, scale: &Column<3, L>, minors: [L; 3]) {
        let [one, two, three] = minors;
        let above = |minor: L, scale: L, last: L| minor * L::splat(STEEP) - scale * last;
        let first = one * L::splat(STEEP) - scale[0];
        let lowest = first.minimum(self.lowest);
        let lowest = above(two, scale[1], one).minimum(lowest);
        self.lowest = above(three, scale[2], two).minimum(lowest);
        self.sum = self.sum + three;
    }

    pub fn is_safe(&self, lanes: usize) -> bool {
        (0..lanes).all(|w| self.sum.get(w).is_finite() && self.lowest.get(w) > 0.0)
    }
}

/// `x · y`.
#[inline(always)]
fn combined<L: Lane>(x: &Column<3, L>, y: &Column<3, L>) -> L {
    x[0] * y[0] + x[1] * y[1] + x[2] * y[2]
}

/// `a d − b c`.
#[inline(always)]
fn minor<L: Lane>(a: L, b: L, c: L, d: L) -> L {
    a * d - b * c
}

/// Eliminates one node: returns its step and the carry for the next. Lower triangles are read and
/// written of what is symmetric.
#[inline(always)]
pub(super) fn eliminate<L: Lane>(
    mut block: Block<3, L>,
    carry: &Block<3, L>,
    coupling: Block<3, L>,
    found: &mut Found<L>,
) -> (Step<L>, Block<3, L>) {
    let scale = diagonal(&block);
    subtract_lower(&mut block, carry);
    let [[xx, ..], [yx, yy, _], [zx, zy, zz]] = block;
    let adjugate = [
        minor(yy, zy, zy, zz),
        minor(zx, zz, yx, zy),
        minor(xx, zx, zx, zz),
        minor(yx, yy, zx, zy),
        minor(yx, xx, zy, zx),
        minor(xx, yx, yx, yy),
    ];
    let [axx, ayx, ayy, azx, azy, azz] = adjugate;
    let determinant = combined(&[xx, yx, zx], &[axx, ayx, azx]);
    found.add(&scale, [xx, azz, determinant]);
    let per = determinant.reciprocal_above(L::splat(0.0));
    let rows = [[axx, ayx, azx], [ayx, ayy, azy], [azx, azy, azz]];
    let columns: Block<3, L> =
        std::array::from_fn(|c| [coupling[0][c], coupling[1][c], coupling[2][c]]);
    // adj D̂ B by columns.
    let turned = columns.map(|column| rows.map(|row| combined(&row, &column)));
    let mut next = [[L::splat(0.0); 3]; 3];
    for i in 0..3 {
        for j in 0..i + 1 {
            let entry = combined(&columns[i], &turned[j]) * per;
            next[i][j] = if i == j { entry } else { entry.flush(TINY) };
        }
    }
    let step = Step {
        inverse: adjugate.map(|x| x * per),
        coupling: std::array::from_fn(|r| std::array::from_fn(|c| turned[c][r] * per)),
    };
    (step, next)
}
