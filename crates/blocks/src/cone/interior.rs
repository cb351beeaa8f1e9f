//! One contact as an interior point method sees it.
//!
//! With x = (μ λ_n, λ_t) and y = (ũ_n/μ, ũ_t), ũ = u + μ|u_t| n, Coulomb's law says that x and y lie
//! in the round cone L = { |·_t| ≤ ·_n } and x·y = 0, that is `x ∘ y = 0` with the product
//! `x ∘ y = (x·y, x_n y_t + y_n x_t)`. Inside the cone there is a symmetric W with `W x = W⁻¹ y = v`
//! (Nesterov and Todd 1997), and a step towards `x ∘ y = τ e` is
//!
//! ```text
//! dy = W r − W² dx,   v ∘ r = τ e − v ∘ v
//! ```
//!
//! Without friction the cone is a half line and the same holds for numbers.

use super::Triple;
use super::block::{Block, dot, times};

/// The pair of a contact, both inside the cone.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pair {
    pub x: Triple,
    pub y: Triple,
}

/// W, W² and v of a pair.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Scaling {
    w: Block,
    inverse: Block,
    pub square: Block,
    pub point: Triple,
}

/// x_n² − |x_t|².
#[inline(always)]
fn determinant(x: &Triple) -> f64 {
    let t = (x[1] * x[1] + x[2] * x[2]).sqrt();
    (x[0] - t) * (x[0] + t)
}

impl Pair {
    /// The scaling, if the pair is well inside the cone.
    pub fn scaling(&self) -> Option<Scaling> {
        let (dx, dy) = (determinant(&self.x), determinant(&self.y));
        if !(dx > 0.0 && dy > 0.0) {
            return None;
        }
        let (rx, ry) = (dx.sqrt(), dy.sqrt());
        let x = self.x.map(|v| v / rx);
        let y = self.y.map(|v| v / ry);
        let gamma = (0.5 * (1.0 + dot(&x, &y))).sqrt();
        let half = 0.5 / gamma;
        let p = [
            half * (y[0] + x[0]),
            half * (y[1] - x[1]),
            half * (y[2] - x[2]),
        ];
        let beta = (ry / rx).sqrt();
        let k = 1.0 / (1.0 + p[0]);
        let root = |sign: f64, b: f64| -> Block {
            let (q, r) = (sign * p[1], sign * p[2]);
            let inner = [
                1.0 + p[1] * p[1] * k,
                p[1] * p[2] * k,
                1.0 + p[2] * p[2] * k,
            ];
            [p[0], q, r, q, inner[0], inner[1], r, inner[1], inner[2]].map(|v| v * b)
        };
        let (w, inverse) = (root(1.0, beta), root(-1.0, 1.0 / beta));
        let mut square: Block = std::array::from_fn(|e| 2.0 * p[e / 3] * p[e % 3]);
        for (e, j) in [(0, 1.0), (4, -1.0), (8, -1.0)] {
            square[e] -= j;
        }
        let square = square.map(|v| v * beta * beta);
        let point = times(&w, &self.x);
        let finite = square.iter().chain(&point).all(|v| v.is_finite());
        finite.then_some(Scaling {
            w,
            inverse,
            square,
            point,
        })
    }

    /// The largest part of a step, at most one, that stays inside the cone.
    pub fn room(&self, step: &Pair) -> f64 {
        longest(&self.x, &step.x).min(longest(&self.y, &step.y))
    }
}

impl Scaling {
    /// W r for `v ∘ r = τ e − v ∘ v − (W⁻¹ dy) ∘ (W dx)`, the last term from a step that was tried.
    pub fn aim(&self, tau: f64, tried: &Pair) -> Triple {
        let v = &self.point;
        let mut goal = jordan(v, v).map(|x| -x);
        let bent = jordan(&times(&self.inverse, &tried.y), &times(&self.w, &tried.x));
        for (g, b) in goal.iter_mut().zip(bent) {
            *g -= b;
        }
        goal[0] += tau;
        times(&self.w, &divide(v, &goal))
    }
}

/// a ∘ b.
#[inline(always)]
fn jordan(a: &Triple, b: &Triple) -> Triple {
    [
        dot(a, b),
        a[0] * b[1] + b[0] * a[1],
        a[0] * b[2] + b[0] * a[2],
    ]
}

/// The r with v ∘ r = g.
#[inline(always)]
fn divide(v: &Triple, g: &Triple) -> Triple {
    let det = determinant(v).max(f64::MIN_POSITIVE);
    let along = v[1] * g[1] + v[2] * g[2];
    let first = (v[0] * g[0] - along) / det;
    [
        first,
        (g[1] - v[1] * first) / v[0],
        (g[2] - v[2] * first) / v[0],
    ]
}

/// The largest a ≤ 1 with x + a d in the cone, for an x in it.
fn longest(x: &Triple, d: &Triple) -> f64 {
    // |x_t + a d_t|² = (x_n + a d_n)².
    let a = determinant(d);
    let b = x[0] * d[0] - x[1] * d[1] - x[2] * d[2];
    let c = determinant(x).max(0.0);
    let mut most = if d[0] < 0.0 {
        -x[0] / d[0]
    } else {
        f64::INFINITY
    };
    let under = b * b - a * c;
    if under >= 0.0 {
        let root = under.sqrt();
        // c / (−b ± root) are the zeros of a s² + 2 b s + c.
        for q in [-b + root, -b - root] {
            if q > 0.0 {
                most = most.min(c / q);
            }
        }
    }
    most.min(1.0)
}
