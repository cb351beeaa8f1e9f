//! Coordinates of rotation that need both frames whole: rotation vector, swing and twist.
//!
//! With M = [aᵢ·bⱼ], the second frame seen from the first, the rotation vector is
//! `φ = w θ/|w|`, `w = axial(M)`, `θ = atan2(|w|, (tr M − 1)/2)`. Swing is the angle between
//! the z axes; twist is what is left of the rotation about z when the frame is swung back
//! the short way: `atan2(M₁₀ − M₀₁, M₀₀ + M₁₁)`, twice the angle of (w, z) of the quaternion.

use super::rows::{Carried, Gradient, Row};
use crate::math::small::*;

/// Below this sine two axes count as parallel: the direction of swing is then arbitrary.
const PARALLEL: f64 = 1e-9;
/// Below this sine a rotation is small, and its vector is taken from a series.
const SMALL: f64 = 1e-4;

fn matrix(a: &Carried, b: &Carried) -> M3 {
    let mut m = [0.0; 9];
    for i in 0..3 {
        for j in 0..3 {
            m[3 * i + j] = dot(&a.axes[i], &b.axes[j]);
        }
    }
    m
}

/// θ/s, its derivative by s over s, and its derivative by c, for θ = atan2(s, c).
fn stretch(s: f64, c: f64) -> [f64; 3] {
    let r = 1.0 / (s * s + c * c).max(f64::MIN_POSITIVE);
    if s < SMALL && c > 0.5 {
        let t = s / c;
        let f = (1.0 - t * t / 3.0) / c;
        return [f, (-2.0 / 3.0 + 0.8 * t * t) / (c * c * c), -r];
    }
    let s = s.max(PARALLEL);
    let theta = f64::atan2(s, c);
    [theta / s, (c * r - theta / s) / (s * s), -r]
}

/// Component k of the rotation vector, in the axes of the first frame, rad.
pub(super) fn rotation(k: usize, a: &Carried, b: &Carried) -> f64 {
    let m = matrix(a, b);
    let w = axial(&m);
    let c = 0.5 * (m[0] + m[4] + m[8] - 1.0);
    stretch(dot(&w, &w).sqrt(), c)[0] * w[k]
}

/// The same with its gradients.
pub(super) fn rotation_row(k: usize, a: &Carried, b: &Carried) -> Row {
    let m = matrix(a, b);
    let w = axial(&m);
    let c = 0.5 * (m[0] + m[4] + m[8] - 1.0);
    let [f, by_s, by_c] = stretch(dot(&w, &w).sqrt(), c);
    // d(f w_k) = f dw_k + w_k (by_s w·dw + by_c dc); w·dw = Σ of the skew part of dM.
    let mut along = scale(&w, w[k] * by_s);
    along[k] += f;
    let mut g = skew_matrix(&scale(&along, 0.5));
    for i in [0, 4, 8] {
        g[i] += 0.5 * w[k] * by_c;
    }
    row_of(f * w[k], &g, a, b)
}

/// A row whose gradient by M is g.
fn row_of(value: f64, g: &M3, a: &Carried, b: &Carried) -> Row {
    let mut row = Row {
        value,
        a: Gradient::ZERO,
        b: Gradient::ZERO,
    };
    for i in 0..3 {
        for j in 0..3 {
            let k = g[3 * i + j];
            row.a.add_outer(&scale(&b.axes[j], k), &a.axes_body[i]);
            row.b.add_outer(&scale(&a.axes[i], k), &b.axes_body[j]);
        }
    }
    row
}

/// The angle between the z axes, rad, from 0 to π.
pub(super) fn swing(a: &Carried, b: &Carried) -> f64 {
    let across = cross(&a.axes[2], &b.axes[2]);
    f64::atan2(dot(&across, &across).sqrt(), dot(&a.axes[2], &b.axes[2]))
}

/// The same with its gradients: −(b̂ − cos θ â)/(|a| sin θ) by a, and likewise by b.
pub(super) fn swing_row(a: &Carried, b: &Carried) -> Row {
    let lengths = [&a.axes[2], &b.axes[2]].map(|x| dot(x, x).sqrt());
    let unit_a = scale(&a.axes[2], 1.0 / lengths[0]);
    let unit_b = scale(&b.axes[2], 1.0 / lengths[1]);
    let cosine = dot(&unit_a, &unit_b);
    let across = cross(&unit_a, &unit_b);
    let sine = dot(&across, &across).sqrt();
    let (towards_b, towards_a) = if sine > PARALLEL {
        (
            scale(&axpy(&unit_b, -cosine, &unit_a), 1.0 / sine),
            scale(&axpy(&unit_a, -cosine, &unit_b), 1.0 / sine),
        )
    } else {
        (a.axes[0], scale(&a.axes[0], -1.0))
    };
    let mut row = Row {
        value: f64::atan2(sine, cosine),
        a: Gradient::ZERO,
        b: Gradient::ZERO,
    };
    let by_a = scale(&towards_b, -1.0 / lengths[0]);
    row.a.add_outer(&by_a, &a.axes_body[2]);
    let by_b = scale(&towards_a, -1.0 / lengths[1]);
    row.b.add_outer(&by_b, &b.axes_body[2]);
    row
}

/// The rotation about z that is left without the swing, rad, between −π and π.
pub(super) fn twist(a: &Carried, b: &Carried) -> f64 {
    let m = matrix(a, b);
    f64::atan2(m[3] - m[1], m[0] + m[4])
}

/// The same with its gradients.
pub(super) fn twist_row(a: &Carried, b: &Carried) -> Row {
    let m = matrix(a, b);
    let (s, c) = (m[3] - m[1], m[0] + m[4]);
    let r = 1.0 / (s * s + c * c).max(f64::MIN_POSITIVE);
    let g = [-s * r, -c * r, 0.0, c * r, -s * r, 0.0, 0.0, 0.0, 0.0];
    row_of(f64::atan2(s, c), &g, a, b)
}
