//! Rows of joints for rigid bodies: violation C, Jacobian J, and the bias J̇ v.
//!
//! With a body's velocity (v, ω), a lever r from its centre to its attachment point p, axes a
//! and b of the attachment frames, and d = p_b − p_a, the rows of [`RowKind`] become
//!
//! | row | C | J_a | J_b |
//! |---|---|---|---|
//! | point | e·(p_a − p_b) | (e, r_a × e) | (−e, −r_b × e) |
//! | square | ℓ a·b | (0, ℓ a × b) | (0, −ℓ a × b) |
//! | slide | a·d | (−a, a × (r_a + d)) | (a, r_b × a) |
//! | distance | (d·d − L²)/2L | −(d, r_a × d)/L | (d, r_b × d)/L |
//!
//! so that Ċ = J_a (v_a, ω_a) + J_b (v_b, ω_b). The second derivative is
//! C̈ = J_a (v̇_a, ω̇_a) + J_b (v̇_b, ω̇_b) + bias: the bias is C̈ of bodies that do not
//! accelerate, for which p̈ = ω × (ω × r) and ä = ω × (ω × a).

use glam::{DMat3, DVec3};
use vincula::joint::rows::{Gradient, RowKind};
use vincula::joint::{Joint, MAX_ROWS, Side};

/// A covector or vector of one body: three entries for v, three for ω.
pub type Six = [f64; 6];

/// Where a body is, as its joints see it.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// Centre of mass, m.
    pub x: DVec3,
    /// Rotation from the principal frame to the world.
    pub r: DMat3,
}

impl Place {
    /// The world itself.
    pub const WORLD: Place = Place {
        x: DVec3::ZERO,
        r: DMat3::IDENTITY,
    };
}

/// How a body moves.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Velocity {
    /// Of the centre of mass, m/s.
    pub v: DVec3,
    /// Angular, rad/s.
    pub omega: DVec3,
}

impl Velocity {
    /// As six numbers: v, then ω.
    #[inline]
    pub fn six(&self) -> Six {
        pack(self.v, self.omega)
    }
}

/// A joint linearised: its rows with both Jacobian blocks.
#[derive(Clone, Copy, Debug)]
pub struct Linear {
    /// Number of rows in use.
    pub rows: usize,
    /// Violations C, m.
    pub value: [f64; MAX_ROWS],
    /// Rows of the Jacobian for the first body and for the second: per v, per ω (m).
    pub sides: [[Six; MAX_ROWS]; 2],
}

impl Linear {
    /// No rows.
    pub const EMPTY: Linear = Linear {
        rows: 0,
        value: [0.0; MAX_ROWS],
        sides: [[[0.0; 6]; MAX_ROWS]; 2],
    };

    /// Ċ of one row, m/s.
    #[inline]
    pub fn rate(&self, row: usize, a: &Velocity, b: &Velocity) -> f64 {
        dot6(&self.sides[0][row], &a.six()) + dot6(&self.sides[1][row], &b.six())
    }
}

/// v, then ω.
#[inline]
pub fn pack(v: DVec3, omega: DVec3) -> Six {
    [v.x, v.y, v.z, omega.x, omega.y, omega.z]
}

/// The two halves of six numbers.
#[inline]
pub fn unpack(six: &Six) -> [DVec3; 2] {
    [
        DVec3::new(six[0], six[1], six[2]),
        DVec3::new(six[3], six[4], six[5]),
    ]
}

/// Product of two sixes.
#[inline]
pub fn dot6(a: &Six, b: &Six) -> f64 {
    let mut sum = 0.0;
    for k in 0..6 {
        sum += a[k] * b[k];
    }
    sum
}

/// One end of a joint in the world. Axes are turned only when a row asks for them.
#[derive(Clone, Copy)]
struct End<'a> {
    /// From the centre of mass to the attachment point, m.
    lever: DVec3,
    side: &'a Side,
    place: &'a Place,
}

impl<'a> End<'a> {
    #[inline(always)]
    fn new(side: &'a Side, place: &'a Place) -> End<'a> {
        let lever = place.r * DVec3::from_array(side.point);
        End { lever, side, place }
    }

    /// An axis of the attachment frame in the world.
    #[inline(always)]
    fn axis(&self, index: usize) -> DVec3 {
        self.place.r * DVec3::from_array(self.side.axes[index])
    }

    /// The lever of the point one length farther along the z axis, m.
    #[inline(always)]
    fn far(&self, length: f64) -> DVec3 {
        self.lever + length * self.axis(2)
    }
}

/// A joint whose bodies are at known places.
pub struct Held<'a> {
    joint: &'a Joint,
    a: End<'a>,
    b: End<'a>,
    /// p_b − p_a, m.
    d: DVec3,
}

impl<'a> Held<'a> {
    /// The joint between bodies at these places.
    #[inline(always)]
    pub fn new(joint: &'a Joint, places: [&'a Place; 2]) -> Held<'a> {
        let (a, b) = (End::new(&joint.a, places[0]), End::new(&joint.b, places[1]));
        let d = places[1].x + b.lever - (places[0].x + a.lever);
        Held { joint, a, b, d }
    }

    /// Violations C, m; as many as the joint has rows.
    #[inline(always)]
    pub fn violations(&self, out: &mut [f64]) {
        for (value, kind) in out.iter_mut().zip(self.joint.row_kinds()) {
            *value = self.violation(*kind);
        }
    }

    #[inline(always)]
    fn violation(&self, kind: RowKind) -> f64 {
        let (a, b, d, length) = (&self.a, &self.b, self.d, self.joint.length);
        match kind {
            RowKind::Point(k) => -d[k],
            RowKind::Far(k) => -(d + length * (b.axis(2) - a.axis(2)))[k],
            RowKind::Square(i, j) => length * a.axis(i).dot(b.axis(j)),
            RowKind::Slide(i) => a.axis(i).dot(d),
            RowKind::Distance(l) => (d.dot(d) - l * l) / (2.0 * l),
        }
    }

    /// The rows of the Jacobian for both bodies: per v, per ω (m).
    #[inline(always)]
    pub fn jacobian(&self, out: &mut [[Six; MAX_ROWS]; 2]) {
        let (a, b, d, length) = (&self.a, &self.b, self.d, self.joint.length);
        for (row, kind) in self.joint.row_kinds().iter().enumerate().take(MAX_ROWS) {
            (out[0][row], out[1][row]) = match *kind {
                RowKind::Point(k) => {
                    let e = DVec3::AXES[k];
                    (pack(e, a.lever.cross(e)), pack(-e, e.cross(b.lever)))
                }
                RowKind::Far(k) => {
                    let e = DVec3::AXES[k];
                    let [far_a, far_b] = [a.far(length), b.far(length)];
                    (pack(e, far_a.cross(e)), pack(-e, e.cross(far_b)))
                }
                RowKind::Square(i, j) => {
                    let turn = length * a.axis(i).cross(b.axis(j));
                    (pack(DVec3::ZERO, turn), pack(DVec3::ZERO, -turn))
                }
                RowKind::Slide(i) => {
                    let axis = a.axis(i);
                    let first = pack(-axis, axis.cross(a.lever + d));
                    (first, pack(axis, b.lever.cross(axis)))
                }
                RowKind::Distance(l) => {
                    let u = d / l;
                    (pack(-u, u.cross(a.lever)), pack(u, b.lever.cross(u)))
                }
            };
        }
    }

    /// The rates Ċ = J v of the rows, m/s.
    #[inline(always)]
    pub fn rates(&self, rates: [&Velocity; 2], out: &mut [f64]) {
        let (a, b, d, length) = (&self.a, &self.b, self.d, self.joint.length);
        let [wa, wb] = [rates[0].omega, rates[1].omega];
        let d1 = rates[1].v + wb.cross(b.lever) - rates[0].v - wa.cross(a.lever);
        for (rate, kind) in out.iter_mut().zip(self.joint.row_kinds()) {
            *rate = match *kind {
                RowKind::Point(k) => -d1[k],
                RowKind::Far(k) => -(d1 + length * (wb.cross(b.axis(2)) - wa.cross(a.axis(2))))[k],
                RowKind::Square(i, j) => {
                    let (u, w) = (a.axis(i), b.axis(j));
                    length * (wa - wb).dot(u.cross(w))
                }
                RowKind::Slide(i) => {
                    let u = a.axis(i);
                    wa.cross(u).dot(d) + u.dot(d1)
                }
                RowKind::Distance(l) => d.dot(d1) / l,
            };
        }
    }

    /// The biases J̇ v of the rows, m/s².
    #[inline(always)]
    pub fn biases(&self, rates: [&Velocity; 2], out: &mut [f64]) {
        let (a, b, d, length) = (&self.a, &self.b, self.d, self.joint.length);
        let [wa, wb] = [rates[0].omega, rates[1].omega];
        let d1 = rates[1].v + wb.cross(b.lever) - rates[0].v - wa.cross(a.lever);
        let d2 = wb.cross(wb.cross(b.lever)) - wa.cross(wa.cross(a.lever));
        for (bias, kind) in out.iter_mut().zip(self.joint.row_kinds()) {
            *bias = match *kind {
                RowKind::Point(k) => -d2[k],
                RowKind::Far(k) => {
                    let turned = |w: DVec3, end: &End| w.cross(w.cross(end.axis(2)));
                    -(d2 + length * (turned(wb, b) - turned(wa, a)))[k]
                }
                RowKind::Square(i, j) => {
                    let (u, w) = (a.axis(i), b.axis(j));
                    let (u1, w1) = (wa.cross(u), wb.cross(w));
                    let (u2, w2) = (wa.cross(u1), wb.cross(w1));
                    length * (u2.dot(w) + 2.0 * u1.dot(w1) + u.dot(w2))
                }
                RowKind::Slide(i) => {
                    let u = a.axis(i);
                    let u1 = wa.cross(u);
                    wa.cross(u1).dot(d) + 2.0 * u1.dot(d1) + u.dot(d2)
                }
                RowKind::Distance(l) => (d1.dot(d1) + d.dot(d2)) / l,
            };
        }
    }
}

/// Violations of a joint at these places, m; as many as it has rows.
pub fn violations(joint: &Joint, a: &Place, b: &Place, out: &mut [f64]) {
    Held::new(joint, [a, b]).violations(out);
}

/// Violations and Jacobian of a joint whose bodies are at these places.
pub fn linearize(joint: &Joint, a: &Place, b: &Place, out: &mut Linear) {
    let held = Held::new(joint, [a, b]);
    out.rows = joint.rows();
    held.violations(&mut out.value);
    held.jacobian(&mut out.sides);
}

/// The biases J̇ v of the rows, m/s².
pub fn biases(joint: &Joint, places: [&Place; 2], rates: [&Velocity; 2], out: &mut [f64]) {
    Held::new(joint, places).biases(rates, out);
}

/// A gradient for affine coordinates, for rigid ones: with `δA = [δθ] A` the angular part is
/// the axial vector of `G Aᵀ`.
pub fn rigid_gradient(gradient: &Gradient, r: &DMat3) -> Six {
    let g = DMat3::from_cols_array(&gradient.a).transpose() * r.transpose();
    let axial = DVec3::new(
        g.y_axis.z - g.z_axis.y,
        g.z_axis.x - g.x_axis.z,
        g.x_axis.y - g.y_axis.x,
    );
    pack(DVec3::from_array(gradient.t), axial)
}

#[cfg(test)]
#[path = "rows_tests.rs"]
mod tests;
