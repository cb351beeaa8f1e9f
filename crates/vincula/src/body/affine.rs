//! The affine body in principal axes: x = A x̄ + t, and its split Hessian.
//!
//! With second moments `s_j = ∫ρ x̄_j²`, volume V and Lamé parameters μ, λ, the matrix
//! `H̄ = c M + K̄ + K_g` of a body (He et al. 2026, Eq. 16, with c = 1/h² for implicit
//! Euler) falls apart in the body frame into
//!
//! - three 2×2 blocks for the pairs (A_ij, A_ji):
//!   `[[c s_j + Vμ + g, Vμ − g], [Vμ − g, c s_i + Vμ + g]]`,
//! - one 3×3 block for the diagonal of A: `c s_i + 2Vμ + Vλ` and `Vλ`,
//! - `c m` for each component of t.
//!
//! `g` is a quarter of the rotational stiffness that stress gives to the axis k normal
//! to the pair: for the first moment of stress `G = Vσ`, `K_k = max(0, G_ii + G_jj)`.
//! The determinant of a pair is written without cancellation, so it stays positive at
//! any stiffness.

use crate::math::small::*;

/// What mechanics needs to know of one affine body, in its principal frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Affine {
    /// Mass, kg.
    pub mass: f64,
    /// Second moments of mass s_x, s_y, s_z, kg m².
    pub second: V3,
    /// Volume times the shear modulus μ, N m.
    pub shear: f64,
    /// Volume times Lamé's λ, N m.
    pub bulk: f64,
    /// Reciprocals of the principal moments of inertia, 1/(kg m²): divisions are slow.
    pub inverse_inertia: V3,
}

impl Affine {
    /// A body of this mass, second moments, and volume times Lamé's μ and λ.
    pub fn new(mass: f64, second: V3, shear: f64, bulk: f64) -> Affine {
        let inverse_inertia = [
            1.0 / (second[1] + second[2]),
            1.0 / (second[0] + second[2]),
            1.0 / (second[0] + second[1]),
        ];
        Affine {
            mass,
            second,
            shear,
            bulk,
            inverse_inertia,
        }
    }

    /// Principal moments of inertia, kg m²: I_x = s_y + s_z and so on.
    #[inline(always)]
    pub fn inertia(&self) -> V3 {
        let s = &self.second;
        [s[1] + s[2], s[0] + s[2], s[0] + s[1]]
    }

    /// First moment of stress `Vσ = 2Vμ S + Vλ tr(S) I` for a strain S, N m (Eq. 15).
    #[inline(always)]
    pub fn stress(&self, strain: &S3) -> S3 {
        let two_mu = 2.0 * self.shear;
        let pressure = self.bulk * (strain[0] + strain[1] + strain[2]);
        [
            two_mu * strain[0] + pressure,
            two_mu * strain[1] + pressure,
            two_mu * strain[2] + pressure,
            two_mu * strain[3],
            two_mu * strain[4],
            two_mu * strain[5],
        ]
    }

    /// Elastic energy `½ S : Vσ(S)`, J.
    #[inline(always)]
    pub fn elastic_energy(&self, strain: &S3) -> f64 {
        let g = self.stress(strain);
        0.5 * (g[0] * strain[0] + g[1] * strain[1] + g[2] * strain[2])
            + g[3] * strain[3]
            + g[4] * strain[4]
            + g[5] * strain[5]
    }

    /// Body-frame angular momentum of the body-frame rate `B = RᵀȦ`, kg m²/s.
    #[inline(always)]
    pub fn angular_momentum(&self, rate: &M3) -> V3 {
        let s = &self.second;
        [
            rate[7] * s[1] - rate[5] * s[2],
            rate[2] * s[2] - rate[6] * s[0],
            rate[3] * s[0] - rate[1] * s[1],
        ]
    }

    /// Angular velocity of the rigid body that has the same angular momentum, rad/s.
    #[inline(always)]
    pub fn angular_velocity(&self, momentum: &V3) -> V3 {
        let i = &self.inverse_inertia;
        [momentum[0] * i[0], momentum[1] * i[1], momentum[2] * i[2]]
    }

    /// Kinetic energy of the body-frame rate B and the velocity v: `½ m v² + ½ tr(B D Bᵀ)`, J.
    #[inline(always)]
    pub fn kinetic_energy(&self, rate: &M3, velocity: &V3) -> f64 {
        let s = &self.second;
        let mut rotational = 0.0;
        for i in 0..3 {
            for j in 0..3 {
                rotational += s[j] * rate[3 * i + j] * rate[3 * i + j];
            }
        }
        0.5 * (self.mass * dot(velocity, velocity) + rotational)
    }

    /// Rotational stiffness of the three axes under a stress moment G, N m/rad, never negative.
    #[inline(always)]
    pub fn geometric_stiffness(&self, stress: &S3) -> V3 {
        let g = stress;
        [
            (g[1] + g[2]).max(0.0),
            (g[0] + g[2]).max(0.0),
            (g[0] + g[1]).max(0.0),
        ]
    }

    /// The same with the negative stiffness of compression, as far as `c M + K̄ + K_g` keeps at
    /// least half of what it has without it.
    #[inline(always)]
    pub fn bounded_stiffness(&self, c: f64, stress: &S3) -> V3 {
        let (g, inertia) = (stress, self.inertia());
        let k = [g[1] + g[2], g[0] + g[2], g[0] + g[1]];
        let mut bounded = [0.0; 3];
        for axis in 0..3 {
            let i = c * inertia[axis];
            let least = -2.0 * i * self.shear / (i + 4.0 * self.shear);
            bounded[axis] = if k[axis] > least { k[axis] } else { least };
        }
        bounded
    }

    /// How strongly a load F on A turns the body about its axes, N m: the size of the torque
    /// and of the stiffness, tension or compression. A link that springs or hinges hold across its
    /// length has neither, since their torque and that of the forces at its ends cancel; what tells
    /// of its load are shears larger than the torque about the axis normal to them.
    #[inline(always)]
    pub fn load_stiffness(&self, load: &M3) -> V3 {
        let (g, half) = (sym(load), axial(load));
        let [x, y, z] = half.map(f64::abs);
        let hidden = |shear: f64, half: f64| (shear.abs() - half).max(0.0);
        let [xy, xz, yz] = [hidden(g[3], z), hidden(g[4], y), hidden(g[5], x)];
        [
            (g[1] + g[2]).abs() + (xy + xz) + 2.0 * x,
            (g[0] + g[2]).abs() + (xy + yz) + 2.0 * y,
            (g[0] + g[1]).abs() + (xz + yz) + 2.0 * z,
        ]
    }
}

/// The strain of A relative to the rotation R: `sym(RᵀA) − I`.
#[inline(always)]
pub fn strain(rotation: &M3, a: &M3) -> S3 {
    let mut s = sym(&tmul(rotation, a));
    s[0] -= 1.0;
    s[1] -= 1.0;
    s[2] -= 1.0;
    s
}

/// `H̄⁻¹`, entry by entry.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Inverse {
    /// Response of A_ij to a load on A_ij, for 01, 10, 02, 20, 12, 21.
    pub direct: [f64; 6],
    /// Response of A_ij to a load on A_ji, for the pairs 01, 02, 12.
    pub cross: [f64; 3],
    /// Inverse of the block of the diagonal of A.
    pub diagonal: S3,
    /// 1/(c m).
    pub translation: f64,
}

impl Inverse {
    /// Inverts `c M + K̄ + K_g`; `geometric` is the stiffness of each axis that is to be
    /// treated implicitly, N m/rad.
    #[inline(always)]
    pub fn new(body: &Affine, c: f64, geometric: &V3) -> Inverse {
        let s = [c * body.second[0], c * body.second[1], c * body.second[2]];
        let mu = body.shear;
        let determinant = |i: usize, j: usize| {
            let g = 0.25 * geometric[3 - i - j];
            s[i] * s[j] + (s[i] + s[j]) * (mu + g) + 4.0 * mu * g
        };
        let per = reciprocals(&[determinant(0, 1), determinant(0, 2), determinant(1, 2)]);
        let pair = |i: usize, j: usize, per: f64| {
            let g = 0.25 * geometric[3 - i - j];
            [(s[i] + mu + g) * per, (s[j] + mu + g) * per, (g - mu) * per]
        };
        let [p01, p10, q01] = pair(0, 1, per[0]);
        let [p02, p20, q02] = pair(0, 2, per[1]);
        let [p12, p21, q12] = pair(1, 2, per[2]);
        let (diagonal, translation) = invert_rest(&s, 2.0 * mu, body.bulk, c * body.mass);
        Inverse {
            direct: [p01, p10, p02, p20, p12, p21],
            cross: [q01, q02, q12],
            diagonal,
            translation,
        }
    }

    /// From sixteen numbers: six direct, three cross, six diagonal, one translation.
    #[inline(always)]
    pub fn from_numbers(x: &[f64; 16]) -> Inverse {
        Inverse {
            direct: [x[0], x[1], x[2], x[3], x[4], x[5]],
            cross: [x[6], x[7], x[8]],
            diagonal: [x[9], x[10], x[11], x[12], x[13], x[14]],
            translation: x[15],
        }
    }

    /// `H̄⁻¹ F` for a load F on A, body frame.
    #[inline(always)]
    pub fn solve(&self, f: &M3) -> M3 {
        let (p, q, d) = (&self.direct, &self.cross, &self.diagonal);
        [
            d[0] * f[0] + d[3] * f[4] + d[4] * f[8],
            p[0] * f[1] + q[0] * f[3],
            p[2] * f[2] + q[1] * f[6],
            p[1] * f[3] + q[0] * f[1],
            d[3] * f[0] + d[1] * f[4] + d[5] * f[8],
            p[4] * f[5] + q[2] * f[7],
            p[3] * f[6] + q[1] * f[2],
            p[5] * f[7] + q[2] * f[5],
            d[4] * f[0] + d[5] * f[4] + d[2] * f[8],
        ]
    }

    /// `J̄_a H̄⁻¹ J̄_bᵀ`: displacement of the point a of the body under a force at the point
    /// b, body frame, m/N.
    #[inline(always)]
    pub fn compliance(&self, a: &V3, b: &V3) -> M3 {
        let (p, q, d, t) = (&self.direct, &self.cross, &self.diagonal, self.translation);
        [
            a[0] * d[0] * b[0] + a[1] * p[0] * b[1] + a[2] * p[2] * b[2] + t,
            a[0] * d[3] * b[1] + a[1] * q[0] * b[0],
            a[0] * d[4] * b[2] + a[2] * q[1] * b[0],
            a[1] * d[3] * b[0] + a[0] * q[0] * b[1],
            a[1] * d[1] * b[1] + a[0] * p[1] * b[0] + a[2] * p[4] * b[2] + t,
            a[1] * d[5] * b[2] + a[2] * q[2] * b[1],
            a[2] * d[4] * b[0] + a[0] * q[1] * b[2],
            a[2] * d[5] * b[1] + a[1] * q[2] * b[2],
            a[2] * d[2] * b[2] + a[0] * p[3] * b[0] + a[1] * p[5] * b[1] + t,
        ]
    }

    /// The diagonal of the compliance: all of it for points on one principal axis.
    #[inline(always)]
    pub fn straight_compliance(&self, a: &V3, b: &V3) -> V3 {
        let (p, d, t) = (&self.direct, &self.diagonal, self.translation);
        let [x, y, z] = times(a, b);
        [
            d[0] * x + p[0] * y + p[2] * z + t,
            p[1] * x + d[1] * y + p[4] * z + t,
            p[3] * x + p[5] * y + d[2] * z + t,
        ]
    }
}

/// Inverse of `diag(s_i + two_mu) + bulk·1·1ᵀ` by Sherman–Morrison, and of a number: with one
/// division, since divisions are slow.
#[inline(always)]
fn invert_rest(s: &V3, two_mu: f64, bulk: f64, number: f64) -> (S3, f64) {
    let d = s.map(|s| s + two_mu);
    let minors = [d[1] * d[2], d[0] * d[2], d[0] * d[1]];
    let product = d[0] * minors[0];
    let whole = product + bulk * (minors[0] + minors[1] + minors[2]);
    let [per_product, per_whole, translation] = reciprocals(&[product, whole, number]);
    let r = scale(&minors, per_product);
    let k = bulk * product * per_whole;
    let diagonal = [
        r[0] - k * r[0] * r[0],
        r[1] - k * r[1] * r[1],
        r[2] - k * r[2] * r[2],
        -k * r[0] * r[1],
        -k * r[0] * r[2],
        -k * r[1] * r[2],
    ];
    (diagonal, translation)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body() -> Affine {
        Affine::new(2.0, [0.3, 0.05, 0.01], 40.0, 25.0)
    }

    /// The matrix of section 1 of the theory, written down entry by entry.
    fn dense(b: &Affine, c: f64, geometric: &V3) -> [[f64; 9]; 9] {
        let mut h = [[0.0; 9]; 9];
        for i in 0..3 {
            for j in 0..3 {
                let row = 3 * i + j;
                h[row][row] += c * b.second[j] + b.shear;
                h[row][3 * j + i] += b.shear;
                if i != j {
                    let g = 0.25 * geometric[3 - i - j];
                    h[row][row] += g;
                    h[row][3 * j + i] -= g;
                }
            }
            for k in 0..3 {
                h[4 * i][4 * k] += b.bulk;
            }
        }
        h
    }

    #[test]
    fn the_split_inverse_solves_the_dense_system() {
        let (b, geometric) = (body(), [3.0, 0.0, 700.0]);
        let inverse = Inverse::new(&b, 1e4, &geometric);
        let f = [0.3, -1.0, 2.0, 0.7, 0.1, -0.4, 5.0, 0.2, 1.1];
        let x = inverse.solve(&f);
        let h = dense(&b, 1e4, &geometric);
        for row in 0..9 {
            let product: f64 = (0..9).map(|k| h[row][k] * x[k]).sum();
            assert!((product - f[row]).abs() < 1e-12, "row {row}");
        }
    }

    #[test]
    fn compliance_is_the_displacement_of_a_point_under_a_force() {
        let inverse = Inverse::new(&body(), 1e4, &[1.0, 2.0, 3.0]);
        let (a, b, force) = ([0.1, -0.5, 0.3], [-0.7, 0.2, 0.4], [1.0, -2.0, 0.5]);
        let mut load = [0.0; 9];
        for i in 0..3 {
            for j in 0..3 {
                load[3 * i + j] = force[i] * b[j];
            }
        }
        let p = inverse.solve(&load);
        let expected = axpy(&mul_vec(&p, &a), inverse.translation, &force);
        let compliance = inverse.compliance(&a, &b);
        let found = mul_vec(&compliance, &force);
        assert!(sub(&expected, &found).iter().all(|d| d.abs() < 1e-16));
        let diagonal = inverse.straight_compliance(&a, &b);
        for k in 0..3 {
            assert!((diagonal[k] - compliance[4 * k]).abs() < 1e-16);
        }
    }

    #[test]
    fn stress_is_the_gradient_of_elastic_energy() {
        let b = body();
        let s = [0.01, -0.02, 0.015, 0.004, -0.006, 0.003];
        let g = b.stress(&s);
        for k in 0..6 {
            let step = 1e-6;
            let (mut up, mut down) = (s, s);
            up[k] += step;
            down[k] -= step;
            let slope = (b.elastic_energy(&up) - b.elastic_energy(&down)) / (2.0 * step);
            let doubled = if k < 3 { g[k] } else { 2.0 * g[k] };
            assert!((slope - doubled).abs() < 1e-8, "component {k}");
        }
    }
}
