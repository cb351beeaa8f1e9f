//! The sliding branch of `local.rs` for eight blocks at a time.
//!
//! One search for a root waits for its divisions; eight of them share the wait. Each takes the steps that
//! it would take alone, with the same numbers to the last bit: one that has ended stays where it is.

use super::local::{ON_CONE, STEPS, Sliding};
use crate::vectors::vectorized;

/// Blocks at a time.
const LANES: usize = 8;

type Lane = [f64; LANES];

/// Blocks that slide, until there are enough of them.
#[derive(Debug, Default)]
pub(super) struct Slides {
    count: usize,
    /// Which blocks they are.
    blocks: [usize; LANES],
    s: [Lane; 3],
    r: [Lane; 2],
    mu: Lane,
    rest: Lane,
    w: [Lane; 2],
    guess: Lane,
}

/// What a trial of the roots finds; see `local.rs`.
struct Trial {
    excess: Lane,
    slope: Lane,
    l: [Lane; 2],
    n: Lane,
    size: Lane,
}

vectorized! {
    fn search(slides: &Slides) -> [Lane; 3] = Slides::search
}

impl Slides {
    /// Adds a block. Those that are there are solved, into their λ, where these are enough.
    pub fn add(&mut self, block: usize, sliding: &Sliding, lambda: &mut [f64]) {
        let lane = self.count;
        self.blocks[lane] = block;
        self.set(lane, sliding);
        self.count += 1;
        if self.count == LANES {
            self.solve(lambda);
        }
    }

    fn set(&mut self, lane: usize, sliding: &Sliding) {
        for (all, one) in self.s.iter_mut().zip(sliding.s) {
            all[lane] = one;
        }
        for k in 0..2 {
            (self.r[k][lane], self.w[k][lane]) = (sliding.r[k], sliding.w[k]);
        }
        (self.mu[lane], self.rest[lane]) = (sliding.mu, sliding.rest);
        self.guess[lane] = sliding.guess;
    }

    /// Solves those that are left.
    pub fn finish(&mut self, lambda: &mut [f64]) {
        if self.count == 0 {
            return;
        }
        // Lanes without a block do what the first one does.
        let of = |lane: &Lane| lane[0];
        let first = Sliding {
            s: [0, 1, 2].map(|k| of(&self.s[k])),
            r: [0, 1].map(|k| of(&self.r[k])),
            mu: of(&self.mu),
            rest: of(&self.rest),
            w: [0, 1].map(|k| of(&self.w[k])),
            guess: of(&self.guess),
        };
        for lane in self.count..LANES {
            self.set(lane, &first);
        }
        self.solve(lambda);
    }

    fn solve(&mut self, lambda: &mut [f64]) {
        let found = search(self);
        for (lane, &block) in self.blocks[..self.count].iter().enumerate() {
            lambda[3 * block..3 * block + 3].copy_from_slice(&found.map(|x| x[lane]));
        }
        self.count = 0;
    }

    #[inline(always)]
    fn search(&self) -> [Lane; 3] {
        let mut q = [0.0; LANES];
        for i in 0..LANES {
            let own = self.s[0][i] + self.s[2][i];
            let known = self.guess[i] > 0.0 && self.guess[i].is_finite();
            q[i] = if known {
                self.guess[i]
            } else {
                own + f64::MIN_POSITIVE
            };
        }
        let (mut low, mut high) = ([0.0; LANES], [f64::INFINITY; LANES]);
        let mut best = self.try_roots(&q);
        for _ in 0..STEPS {
            let mut next = q;
            for i in 0..LANES {
                let (f, own) = (best.excess[i], self.s[0][i] + self.s[2][i]);
                low[i] = if f > 0.0 { q[i] } else { low[i] };
                high[i] = if f > 0.0 { high[i] } else { q[i] };
                let newton = q[i] - f / best.slope[i];
                let outside = if high[i] < f64::INFINITY {
                    0.5 * (low[i] + high[i])
                } else {
                    4.0 * q[i] + own
                };
                let inside = (newton > low[i]) & (newton < high[i]);
                let better = if inside { newton } else { outside };
                let ended = f.abs() <= ON_CONE * best.size[i];
                next[i] = if ended { q[i] } else { better };
            }
            if next == q {
                break;
            }
            q = next;
            best = self.try_roots(&q);
        }
        let mut found = [[0.0; LANES]; 3];
        for i in 0..LANES {
            // On the cone to the last bit.
            let (n, size) = (best.n[i].max(0.0), best.size[i]);
            let k = self.mu[i] * n / size;
            let k = if size > 0.0 { k } else { 0.0 };
            found[0][i] = n;
            found[1][i] = k * best.l[0][i];
            found[2][i] = k * best.l[1][i];
        }
        found
    }

    #[inline(always)]
    fn try_roots(&self, q: &Lane) -> Trial {
        let none = [0.0; LANES];
        let mut trial = Trial {
            excess: none,
            slope: none,
            l: [none; 2],
            n: none,
            size: none,
        };
        for i in 0..LANES {
            let one = Sliding {
                s: [self.s[0][i], self.s[1][i], self.s[2][i]],
                r: [self.r[0][i], self.r[1][i]],
                mu: self.mu[i],
                rest: self.rest[i],
                w: [self.w[0][i], self.w[1][i]],
                guess: 0.0,
            };
            let (excess, slope, l, n, size) = one.excess(q[i]);
            (trial.excess[i], trial.slope[i]) = (excess, slope);
            (trial.l[0][i], trial.l[1][i]) = (l[0], l[1]);
            (trial.n[i], trial.size[i]) = (n, size);
        }
        trial
    }
}

#[cfg(test)]
mod tests {
    use super::super::Triple;
    use super::super::local::{Local, begin};
    use super::super::tests::random;
    use super::*;

    #[test]
    fn many_blocks_find_what_each_finds_alone() {
        let mut seed = 3;
        for count in [1, 7, 8, 29, 400] {
            let (mut slides, mut slid) = (Slides::default(), 0);
            let (mut lambda, mut alone) = (vec![0.0; 3 * count], vec![0.0; 3 * count]);
            for block in 0..count {
                let g: [f64; 9] = std::array::from_fn(|_| random(&mut seed));
                let scale = 10f64.powf(3.0 * random(&mut seed));
                let w: [f64; 9] = std::array::from_fn(|e| {
                    let (i, j) = (e / 3, e % 3);
                    let sum: f64 = (0..3).map(|k| g[3 * i + k] * g[3 * j + k]).sum();
                    scale * (sum + if i == j { 1e-3 } else { 0.0 })
                });
                let b: Triple = std::array::from_fn(|_| random(&mut seed));
                let guess = (10.0 * random(&mut seed)).exp() - 0.1;
                let mu = 0.5 + 0.5 * random(&mut seed);
                let at = 3 * block..3 * block + 3;
                match begin(&w, &b, mu, guess) {
                    Local::Known(l) => {
                        lambda[at.clone()].copy_from_slice(&l);
                        alone[at].copy_from_slice(&l);
                    }
                    Local::Slides(sliding) => {
                        slid += 1;
                        alone[at].copy_from_slice(&sliding.solve());
                        slides.add(block, &sliding, &mut lambda);
                    }
                }
            }
            slides.finish(&mut lambda);
            assert_eq!(lambda, alone);
            assert!(count < 20 || slid > count / 8, "{slid} of {count}");
        }
    }
}
