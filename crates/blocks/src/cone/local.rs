//! One block, exactly: `u = W λ + b` with Coulomb's law.
//!
//! Apart if b_n ≥ 0. Sticking if `−W⁻¹b` lies in the cone. Else sliding: `u_n = 0` and
//! `u_t = −s λ_t` with s ≥ 0, that is `(W + diag(0, s, s)) λ = −b` and `|λ_t| = μ λ_n`, one
//! equation for s. With the normal row eliminated, `(S + s) λ_t = r`.

use super::Triple;

/// The impulse of one block of compliance `w` (row-major, symmetric, positive definite) whose
/// slip without impulse is `b`.
#[inline]
pub fn solve_block(w: &[f64; 9], b: &Triple, mu: f64) -> Triple {
    solve_block_near(w, b, mu, 0.0)
}

/// The same, for a block that is expected to slide with |u_t| = `ratio` |λ_t|; zero when nothing
/// is known. The guess saves time only.
#[inline]
pub fn solve_block_near(w: &[f64; 9], b: &Triple, mu: f64, ratio: f64) -> Triple {
    match begin(w, b, mu, ratio) {
        Local::Known(lambda) => lambda,
        Local::Slides(sliding) => sliding.solve(),
    }
}

/// What is known of a block without a search.
pub(super) enum Local {
    /// Its impulse.
    Known(Triple),
    /// That it slides.
    Slides(Sliding),
}

/// A block that slides: `(S + s) λ_t = r`.
pub(super) struct Sliding {
    /// S: first, mixed and second entry.
    pub s: [f64; 3],
    pub r: [f64; 2],
    pub mu: f64,
    /// The normal impulse without friction, and what friction takes from it.
    pub rest: f64,
    pub w: [f64; 2],
    /// An idea of the root.
    pub guess: f64,
}

/// Whether a block is apart, sticks or slides.
#[inline(always)]
pub(super) fn begin(w: &[f64; 9], b: &Triple, mu: f64, ratio: f64) -> Local {
    if b[0] >= 0.0 {
        return Local::Known([0.0; 3]);
    }
    let normal = 1.0 / w[0];
    if mu <= 0.0 {
        return Local::Known([-b[0] * normal, 0.0, 0.0]);
    }
    // S = W_tt − w wᵀ/W_nn and r = −b_t + w b_n/W_nn.
    let (wx, wy) = (w[1] * normal, w[2] * normal);
    let s = [w[4] - w[1] * wx, w[5] - w[1] * wy, w[8] - w[2] * wy];
    let r = [b[0] * wx - b[1], b[0] * wy - b[2]];
    let pressure = |x: f64, y: f64| -(b[0] * normal + wx * x + wy * y);
    let det = s[0] * s[2] - s[1] * s[1];
    if det > 0.0 {
        let (x, y) = (
            (s[2] * r[0] - s[1] * r[1]) / det,
            (s[0] * r[1] - s[1] * r[0]) / det,
        );
        let n = pressure(x, y);
        if n >= 0.0 && x * x + y * y <= mu * mu * n * n {
            return Local::Known([n, x, y]);
        }
    }
    Local::Slides(Sliding {
        s,
        r,
        mu,
        rest: -b[0] * normal,
        w: [wx, wy],
        guess: ratio,
    })
}

/// Steps of the root search; Newton's method takes two or three from a good guess, halving at
/// most all of them.
pub(super) const STEPS: usize = 80;
/// Excess of friction over the cone, relative to it, at which the search ends.
pub(super) const ON_CONE: f64 = 1e-14;

impl Sliding {
    /// |λ_t| − μ λ_n and its slope for (S + q) λ_t = r; λ_t, λ_n and |λ_t|.
    #[inline(always)]
    pub fn excess(&self, q: f64) -> (f64, f64, [f64; 2], f64, f64) {
        let Sliding { s, r, mu, w, .. } = self;
        let (xx, yy) = (s[0] + q, s[2] + q);
        let k = 1.0 / (xx * yy - s[1] * s[1]).max(f64::MIN_POSITIVE);
        let l = [(yy * r[0] - s[1] * r[1]) * k, (xx * r[1] - s[1] * r[0]) * k];
        // −∂λ_t/∂q.
        let d = [(yy * l[0] - s[1] * l[1]) * k, (xx * l[1] - s[1] * l[0]) * k];
        let size = (l[0] * l[0] + l[1] * l[1]).sqrt();
        let n = self.rest - w[0] * l[0] - w[1] * l[1];
        let fall = -(l[0] * d[0] + l[1] * d[1]) / size.max(f64::MIN_POSITIVE);
        let slope = fall - mu * (w[0] * d[0] + w[1] * d[1]);
        (size - mu * n, slope, l, n, size)
    }

    /// Searches for the root.
    pub fn solve(&self) -> Triple {
        let own = self.s[0] + self.s[2];
        let (mut low, mut high) = (0.0, f64::INFINITY);
        let mut q = if self.guess > 0.0 && self.guess.is_finite() {
            self.guess
        } else {
            own + f64::MIN_POSITIVE
        };
        let mut best = self.excess(q);
        for _ in 0..STEPS {
            let (f, slope, _, _, size) = best;
            if f > 0.0 {
                low = q;
            } else {
                high = q;
            }
            if f.abs() <= ON_CONE * size {
                break;
            }
            let newton = q - f / slope;
            let next = if newton > low && newton < high {
                newton
            } else if high < f64::INFINITY {
                0.5 * (low + high)
            } else {
                4.0 * q + own
            };
            if next == q {
                break;
            }
            q = next;
            best = self.excess(q);
        }
        let (_, _, l, n, size) = best;
        // On the cone to the last bit.
        let n = n.max(0.0);
        let k = if size > 0.0 { self.mu * n / size } else { 0.0 };
        [n, k * l[0], k * l[1]]
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::random;
    use super::super::violation;
    use super::*;

    /// G Gᵀ of a random G, with rows of very different size.
    fn compliance(seed: &mut u64) -> [f64; 9] {
        let scale = [
            1.0,
            10f64.powf(2.0 * random(seed)),
            10f64.powf(2.0 * random(seed)),
        ];
        let g: Vec<f64> = (0..12).map(|k| scale[k / 4] * random(seed)).collect();
        let mut w = [0.0; 9];
        for i in 0..3 {
            for j in 0..3 {
                w[3 * i + j] = (0..4).map(|k| g[4 * i + k] * g[4 * j + k]).sum();
            }
            w[4 * i] += 1e-6;
        }
        w
    }

    #[test]
    fn a_block_obeys_coulombs_law() {
        let mut seed = 7;
        let mut seen = [0; 3];
        for _ in 0..5000 {
            let w = compliance(&mut seed);
            let b = [random(&mut seed), random(&mut seed), random(&mut seed)];
            let mu = random(&mut seed).abs() * 1.5;
            let l = solve_block(&w, &b, mu);
            let mut u = b;
            for i in 0..3 {
                for j in 0..3 {
                    u[i] += w[3 * i + j] * l[j];
                }
            }
            let trace = w[0] + w[4] + w[8];
            let size = l.iter().map(|x| x.abs()).sum::<f64>() + 1.0 / trace;
            let off = violation(&l, &u, mu, trace) / size;
            assert!(off < 1e-9, "{off:e} for {w:?} {b:?} {mu}");
            let t = (l[1] * l[1] + l[2] * l[2]).sqrt();
            let state = if l[0] == 0.0 {
                0
            } else if t < mu * l[0] * (1.0 - 1e-9) {
                1
            } else {
                2
            };
            seen[state] += 1;
        }
        assert!(seen.iter().all(|n| *n > 300), "{seen:?}");
    }
}
