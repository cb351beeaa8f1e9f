//! Coordinates of rotation that need both frames whole: rotation vector, swing and twist.
//!
//! The rotation vector φ is that of the rotations nearest to the two affine maps. With M the second
//! frame seen from the first, `φ = w θ/|w|`, `w = axial(M)`, `θ = atan2(|w|, (tr M − 1)/2)`. If the
//! frames turn by α and β, seen from the first, φ changes by
//!
//! ```text
//! dφ = J⁻¹ (β − α),   J⁻¹ = 1 − ½ [φ] + κ [φ]²,   κ = (1 − ½θ cot ½θ)/θ²
//! ```
//!
//! Swing is the angle between the z axes; twist is what is left of the rotation about z when the
//! frame is swung back the short way: `atan2(M₁₀ − M₀₁, M₀₀ + M₁₁)`, twice the angle of (w, z) of
//! the quaternion. Both are read off the affine maps as they are.

use super::rows::{Carried, Gradient, Row};
use crate::math::angle::atan2;
use crate::math::rotation::higham;
use crate::math::small::*;

/// Below this sine two axes count as parallel: the direction of swing is then arbitrary.
const PARALLEL: f64 = 1e-9;
/// Below this sine a rotation is small, and its vector is taken from a series.
const SMALL: f64 = 1e-4;

/// The rotation of one frame seen from another.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Relative {
    /// The rotation vector φ, rad.
    pub vector: V3,
    /// J⁻¹.
    pub slope: M3,
}

impl Relative {
    /// From M, which is a rotation but for what [`upright`] leaves.
    #[inline(always)]
    pub fn of(m: &M3) -> Relative {
        let w = axial(m);
        let s = dot(&w, &w).sqrt();
        let c = 0.5 * (m[0] + m[4] + m[8] - 1.0);
        let small = (s < SMALL) & (c > 0.5);
        let t = s / if c == 0.0 { 1.0 } else { c };
        let series = (1.0 - t * t / 3.0) / if c == 0.0 { 1.0 } else { c };
        let away = if s > PARALLEL { s } else { PARALLEL };
        let theta = atan2(away, c);
        let per_sine = if small { series } else { theta / away };
        let vector = scale(&w, per_sine);
        // cot ½θ = (1 + cos θ)/sin θ.
        let far = (1.0 - 0.5 * per_sine * (1.0 + c)) / (theta * theta);
        let kappa = if small { 1.0 / 12.0 } else { far };
        let mut slope = scale9(&outer(&vector, &vector), kappa);
        let rest = kappa * dot(&vector, &vector);
        for k in [0, 4, 8] {
            slope[k] += 1.0 - rest;
        }
        Relative {
            vector,
            slope: axpy9(&slope, -0.5, &skew_matrix(&vector)),
        }
    }
}

/// The rotation nearest to an affine map that is almost one: off by the square of its strain.
#[inline(always)]
pub(crate) fn upright(a: &M3) -> M3 {
    higham(a)
}

/// The axes of a frame as the columns of a rotation.
fn turned(frame: &Carried) -> M3 {
    let [x, y, z] = &frame.axes;
    upright(&[x[0], y[0], z[0], x[1], y[1], z[1], x[2], y[2], z[2]])
}

/// All coordinates of a ball joint: the rotation vector, swing and twist, rad.
pub(crate) fn of_ball(a: &Carried, b: &Carried) -> [f64; 5] {
    let [x, y, z] = Relative::of(&tmul(&turned(a), &turned(b))).vector;
    [x, y, z, swing(a, b), twist(a, b)]
}

/// Component k of the rotation vector, in the axes of the first frame, rad.
pub(super) fn rotation(k: usize, a: &Carried, b: &Carried) -> f64 {
    Relative::of(&tmul(&turned(a), &turned(b))).vector[k]
}

/// The same with its gradients: a torque about `l = Σ J⁻¹_ki aᵢ`, `½ [l] A` as a load on A.
pub(super) fn rotation_row(k: usize, a: &Carried, b: &Carried) -> Row {
    let axes = [turned(a), turned(b)];
    let relative = Relative::of(&tmul(&axes[0], &axes[1]));
    let slope = &relative.slope;
    let along = mul_vec(
        &axes[0],
        &[slope[3 * k], slope[3 * k + 1], slope[3 * k + 2]],
    );
    let mut row = Row {
        value: relative.vector[k],
        a: Gradient::ZERO,
        b: Gradient::ZERO,
    };
    for i in 0..3 {
        let column = |m: &M3| [m[i], m[3 + i], m[6 + i]];
        let pushed = |m: &M3, half: f64| scale(&cross(&along, &column(m)), half);
        row.a.add_outer(&pushed(&axes[0], -0.5), &a.axes_body[i]);
        row.b.add_outer(&pushed(&axes[1], 0.5), &b.axes_body[i]);
    }
    row
}

/// The second frame seen from the first, as the affine maps carry them.
fn matrix(a: &Carried, b: &Carried) -> M3 {
    let mut m = [0.0; 9];
    for i in 0..3 {
        for j in 0..3 {
            m[3 * i + j] = dot(&a.axes[i], &b.axes[j]);
        }
    }
    m
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
    atan2(dot(&across, &across).sqrt(), dot(&a.axes[2], &b.axes[2]))
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
        value: atan2(sine, cosine),
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
    atan2(m[3] - m[1], m[0] + m[4])
}

/// The same with its gradients.
pub(super) fn twist_row(a: &Carried, b: &Carried) -> Row {
    let m = matrix(a, b);
    let (s, c) = (m[3] - m[1], m[0] + m[4]);
    let r = 1.0 / (s * s + c * c).max(f64::MIN_POSITIVE);
    let g = [-s * r, -c * r, 0.0, c * r, -s * r, 0.0, 0.0, 0.0, 0.0];
    row_of(atan2(s, c), &g, a, b)
}
