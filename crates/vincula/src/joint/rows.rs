//! Constraint rows: what a joint equates, and its gradient.
//!
//! Every row is a polynomial of the affine coordinates of its two bodies, so its gradient
//! with respect to A is a sum of outer products `x ⊗ ȳ` of a world vector and a body
//! vector:
//!
//! | row | C | dC/dA_a | dC/dA_b |
//! |---|---|---|---|
//! | point | e·(p_a − p_b) | e ⊗ ȳ_a | −e ⊗ ȳ_b |
//! | far | e·(p_a + ℓ a − p_b − ℓ b) | e ⊗ (ȳ_a + ℓ ū) | −e ⊗ (ȳ_b + ℓ w̄) |
//! | square | ℓ a·b | ℓ b ⊗ ū | ℓ a ⊗ w̄ |
//! | slide | a·(p_b − p_a) | d ⊗ ū − a ⊗ ȳ_a | a ⊗ ȳ_b |
//! | distance | (d·d − L²)/2L | −d ⊗ ȳ_a / L | d ⊗ ȳ_b / L |
//!
//! with p = A ȳ + t, a = A_a ū, b = A_b w̄, d = p_b − p_a. The length ℓ makes every row a
//! displacement in metres.

use crate::math::small::*;

/// Gradient of one row with respect to one body, in the world: nine for A, three for t.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gradient {
    /// With respect to A, row-major.
    pub a: M3,
    /// With respect to t.
    pub t: V3,
}

impl Gradient {
    /// No dependence.
    pub const ZERO: Gradient = Gradient {
        a: [0.0; 9],
        t: [0.0; 3],
    };

    /// Adds another gradient.
    pub fn add(&mut self, other: &Gradient) {
        for (sum, x) in self.a.iter_mut().zip(&other.a) {
            *sum += x;
        }
        self.t = add(&self.t, &other.t);
    }

    /// Adds `k (before − after)`.
    #[inline(always)]
    pub fn add_difference(&mut self, k: f64, before: &Gradient, after: &Gradient) {
        self.a = axpy9(&self.a, k, &sub9(&before.a, &after.a));
        self.t = axpy(&self.t, k, &sub(&before.t, &after.t));
    }

    /// Adds `x ⊗ ȳ`.
    #[inline(always)]
    pub fn add_outer(&mut self, x: &V3, y: &V3) {
        for i in 0..3 {
            for j in 0..3 {
                self.a[3 * i + j] += x[i] * y[j];
            }
        }
    }

    /// Adds the gradient of `k e·p` for the point ȳ of the body.
    #[inline(always)]
    pub fn add_point(&mut self, k: f64, e: &V3, y: &V3) {
        let x = scale(e, k);
        self.add_outer(&x, y);
        self.t = add(&self.t, &x);
    }
}

/// One end of a joint as a row sees it: the attachment frame carried by the body.
#[derive(Clone, Copy, Debug)]
pub struct Carried {
    /// Attachment point in the body, m (in the world for the world).
    pub point_body: V3,
    /// Axes of the attachment frame in the body: x, y, z.
    pub axes_body: [V3; 3],
    /// Attachment point in the world, m.
    pub point: V3,
    /// Axes in the world (carried by A, so almost unit).
    pub axes: [V3; 3],
}

impl Carried {
    /// The frame carried by a body at (A, t).
    #[inline(always)]
    pub fn new(point_body: &V3, axes_body: &[V3; 3], a: &M3, t: &V3) -> Carried {
        Carried {
            point_body: *point_body,
            axes_body: *axes_body,
            point: add(&mul_vec(a, point_body), t),
            axes: [
                mul_vec(a, &axes_body[0]),
                mul_vec(a, &axes_body[1]),
                mul_vec(a, &axes_body[2]),
            ],
        }
    }
}

/// A row: its value in metres and its gradients with respect to the two bodies.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Value, m.
    pub value: f64,
    /// Gradient with respect to the first body.
    pub a: Gradient,
    /// Gradient with respect to the second body.
    pub b: Gradient,
}

impl Row {
    /// The same row in other units.
    pub(crate) fn scaled(mut self, k: f64) -> Row {
        self.value *= k;
        for side in [&mut self.a, &mut self.b] {
            side.a = side.a.map(|x| k * x);
            side.t = scale(&side.t, k);
        }
        self
    }
}

/// Kinds of rows. Numbers are axes of the attachment frames.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RowKind {
    /// The world component `0` of p_a − p_b.
    Point(usize),
    /// The same of the points one length farther along the z axes.
    Far(usize),
    /// Axis `0` of the first frame is square to axis `1` of the second.
    Square(usize, usize),
    /// p_b − p_a has no component along axis `0` of the first frame.
    Slide(usize),
    /// The distance of the two points is this many metres.
    Distance(f64),
}

impl RowKind {
    /// Value of the row, m.
    pub fn value(self, a: &Carried, b: &Carried, length: f64) -> f64 {
        match self {
            RowKind::Point(k) => a.point[k] - b.point[k],
            RowKind::Far(k) => {
                a.point[k] + length * a.axes[2][k] - b.point[k] - length * b.axes[2][k]
            }
            RowKind::Square(i, j) => length * dot(&a.axes[i], &b.axes[j]),
            RowKind::Slide(i) => dot(&a.axes[i], &sub(&b.point, &a.point)),
            RowKind::Distance(l) => {
                let d = sub(&b.point, &a.point);
                (dot(&d, &d) - l * l) / (2.0 * l)
            }
        }
    }

    /// Value and gradients.
    pub fn linearize(self, a: &Carried, b: &Carried, length: f64) -> Row {
        let mut row = Row {
            value: self.value(a, b, length),
            a: Gradient::ZERO,
            b: Gradient::ZERO,
        };
        match self {
            RowKind::Point(k) => {
                let mut e = [0.0; 3];
                e[k] = 1.0;
                row.a.add_point(1.0, &e, &a.point_body);
                row.b.add_point(-1.0, &e, &b.point_body);
            }
            RowKind::Far(k) => {
                let mut e = [0.0; 3];
                e[k] = 1.0;
                let far = |side: &Carried| axpy(&side.point_body, length, &side.axes_body[2]);
                row.a.add_point(1.0, &e, &far(a));
                row.b.add_point(-1.0, &e, &far(b));
            }
            RowKind::Square(i, j) => {
                row.a.add_outer(&scale(&b.axes[j], length), &a.axes_body[i]);
                row.b.add_outer(&scale(&a.axes[i], length), &b.axes_body[j]);
            }
            RowKind::Slide(i) => {
                let d = sub(&b.point, &a.point);
                row.a.add_outer(&d, &a.axes_body[i]);
                row.a.add_point(-1.0, &a.axes[i], &a.point_body);
                row.b.add_point(1.0, &a.axes[i], &b.point_body);
            }
            RowKind::Distance(l) => {
                let d = sub(&b.point, &a.point);
                row.a.add_point(-1.0 / l, &d, &a.point_body);
                row.b.add_point(1.0 / l, &d, &b.point_body);
            }
        }
        row
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::rotation::exp;

    const KINDS: [RowKind; 8] = [
        RowKind::Far(1),
        RowKind::Point(0),
        RowKind::Point(2),
        RowKind::Square(0, 2),
        RowKind::Square(1, 1),
        RowKind::Slide(0),
        RowKind::Slide(2),
        RowKind::Distance(0.7),
    ];

    struct Pair {
        points: [V3; 2],
        axes: [[V3; 3]; 2],
        maps: [M3; 2],
        places: [V3; 2],
    }

    impl Pair {
        fn new() -> Pair {
            let axes = |r: M3| [[r[0], r[3], r[6]], [r[1], r[4], r[7]], [r[2], r[5], r[8]]];
            Pair {
                points: [[0.3, -0.2, 0.5], [-0.4, 0.1, 0.25]],
                axes: [
                    axes(exp::<false>(&[0.1, 0.5, -1.0])),
                    axes(exp::<false>(&[-0.6, 0.2, 0.9])),
                ],
                maps: [
                    exp::<false>(&[1.0, 0.3, 0.2]),
                    exp::<false>(&[-0.5, 2.0, 0.1]),
                ],
                places: [[0.1, 0.2, 0.3], [-0.5, 0.4, 0.6]],
            }
        }

        fn carried(&self, k: usize) -> Carried {
            Carried::new(
                &self.points[k],
                &self.axes[k],
                &self.maps[k],
                &self.places[k],
            )
        }
    }

    #[test]
    fn every_gradient_matches_finite_differences() {
        let step = 1e-6;
        for kind in KINDS {
            let row = kind.linearize(&Pair::new().carried(0), &Pair::new().carried(1), 0.5);
            for body in 0..2 {
                let gradient = if body == 0 { row.a } else { row.b };
                for k in 0..12 {
                    let value = |delta: f64| {
                        let mut pair = Pair::new();
                        if k < 9 {
                            pair.maps[body][k] += delta;
                        } else {
                            pair.places[body][k - 9] += delta;
                        }
                        kind.value(&pair.carried(0), &pair.carried(1), 0.5)
                    };
                    let slope = (value(step) - value(-step)) / (2.0 * step);
                    let exact = if k < 9 {
                        gradient.a[k]
                    } else {
                        gradient.t[k - 9]
                    };
                    assert!(
                        (slope - exact).abs() < 1e-9,
                        "{kind:?} body {body} entry {k}"
                    );
                }
            }
        }
    }
}
