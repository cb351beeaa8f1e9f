//! Contacts eight at a time, for sweeps over thousands of them: between bodies without joints, or
//! those of mechanisms that touch with two bodies at most (`batch/couple.rs`).
//!
//! No two contacts of a batch touch the same body, so eight can be solved as one would be. The
//! contacts of one pair of bodies have the same lane in batches that follow each other, a run, in
//! which the bodies are at hand. Within the block W of a contact the normal row is eliminated once
//! and for all,
//!
//! ```text
//! W = [[1/k, wᵀ/k], [w/k, S + w wᵀ/k]],    Δ_t = −S⁻¹ (u_t − w u_n),    Δ_n = −k u_n − w·Δ_t
//! ```
//!
//! which gives the change of the force that sticks. Sliding is a direction of friction: with the
//! multiplier q of |u_t| = q |λ_t|, `(S + q) λ_t = r`. Steps of Newton's method from the q of the
//! last sweep find the direction d, and `λ_n = rest/(1 + μ w·d)` then closes the contact exactly,
//! so that what is left of q is an error of the direction, which dies out with the sweeps.

mod couple;
mod pack;
mod pucks;

use vincula_blocks::cone::solve_block;

use super::colours::Run;
use super::movers::FIXED;
use crate::kernel;
use crate::math::lanes::{LANES, Lane, gather, largest, scatter, sum};
use crate::math::small::*;
pub(super) use couple::Couple;
pub(super) use pack::{refresh, unpack};
pub(super) use pucks::{Moved, Puck, run_on, widen};

/// Eight contacts.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub(super) struct Batch {
    /// n, t₁, t₂.
    frame: [Lane; 9],
    /// From the centres to the contact, m.
    arms: [Lane; 6],
    /// Slip without the contact forces of this stage, m.
    free: [Lane; 3],
    /// Force along the frame, N.
    lambda: [Lane; 3],
    /// The force before the sweep, and the conjugate direction so far, N.
    start: [Lane; 3],
    along: [Lane; 3],
    mu: Lane,
    soft: [Lane; 2],
    /// k, w and S of the block, and 1/det S or zero.
    inverse: [Lane; 7],
    /// Which pucks. In a run those of the first batch count.
    at: [[u32; LANES]; 2],
    /// Their rows, or FIXED.
    row: [u32; LANES],
}

impl Batch {
    /// Contacts that are apart and push nothing.
    pub const EMPTY: Batch = {
        let mut batch = Batch {
            frame: [[0.0; LANES]; 9],
            arms: [[0.0; LANES]; 6],
            free: [[0.0; LANES]; 3],
            lambda: [[0.0; LANES]; 3],
            start: [[0.0; LANES]; 3],
            along: [[0.0; LANES]; 3],
            mu: [0.0; LANES],
            soft: [[0.0; LANES]; 2],
            inverse: [[0.0; LANES]; 7],
            at: [[0; LANES]; 2],
            row: [FIXED; LANES],
        };
        batch.free[0] = [1.0; LANES];
        batch.inverse[0] = [1.0; LANES];
        batch
    };
}

/// What a sweep did: the largest change of a force times its compliance, m, and the sum of the
/// squares of the changes, each times its compliance, J.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Change {
    pub largest: f64,
    pub square: f64,
}

kernel! {
    /// One pass over all batches, of which `runs` says how many follow each other with the same
    /// pucks; `couples` say how all pucks answer where joints hold some. Forces first go on by `beta` along
    /// the conjugate direction; the pucks must have done so already.
    pub(super) fn sweep(batches: &mut [Batch], runs: &[Run], couples: &[Couple], partners: &[u32], pucks: &mut [Puck], beta: f64) -> Change
        = sweep_all
}

#[inline(always)]
fn sweep_all(
    batches: &mut [Batch],
    runs: &[Run],
    couples: &[Couple],
    partners: &[u32],
    pucks: &mut [Puck],
    beta: f64,
) -> Change {
    let mut total = ([0.0; LANES], [0.0; LANES]);
    let mut left = batches;
    for run in runs {
        let (batches, others) = std::mem::take(&mut left).split_at_mut(run.depth as usize);
        left = others;
        match run.held {
            true => {
                let next = left.first();
                couple::sweep_run(batches, next, couples, partners, pucks, beta, &mut total);
            }
            false => sweep_run(batches, pucks, beta, &mut total),
        }
    }
    Change {
        largest: largest(&total.0),
        square: sum(&total.1),
    }
}

/// One pass over a run of loose bodies.
#[inline(always)]
fn sweep_run(run: &mut [Batch], pucks: &mut [Puck], beta: f64, total: &mut (Lane, Lane)) {
    let Some(at) = run.first().map(|batch| batch.at) else {
        return;
    };
    let mut sides = [[[0.0; LANES]; 13]; 2];
    for (side, at) in sides.iter_mut().zip(&at) {
        spread(pucks, at, side);
    }
    for batch in run {
        batch.visit(beta, &mut sides, total);
    }
    for lane in 0..LANES {
        let [a, b] = at.map(|at| at[lane] as usize);
        for k in 0..6 {
            pucks[a].moved[k] = sides[0][k][lane];
            pucks[b].moved[k] = sides[1][k][lane];
        }
    }
}

/// Eight pucks: displacement and rotation, and how they answer.
type Pucks = [Lane; 13];

#[inline(always)]
fn spread(pucks: &[Puck], at: &[u32; LANES], all: &mut Pucks) {
    for lane in 0..LANES {
        let p = &pucks[at[lane] as usize];
        for k in 0..6 {
            all[k][lane] = p.moved[k];
            all[7 + k][lane] = p.per_torque[k];
        }
        all[6][lane] = p.per_force;
    }
}

impl Batch {
    /// Solves the contacts and moves the pucks of both sides.
    #[inline(always)]
    fn visit(&mut self, beta: f64, sides: &mut [Pucks; 2], total: &mut (Lane, Lane)) {
        self.run_on(beta);
        let slip = self.slip(&sides[0], &sides[1]);
        let pushes = self.answer(&slip, total);
        self.push(&pushes, sides);
    }

    /// Takes the forces of Coulomb's law at this slip. Returns by what they push, world, N.
    #[inline(always)]
    fn answer(&mut self, slip: &[Lane; 3], total: &mut (Lane, Lane)) -> [Lane; 3] {
        let mut next = [[0.0; LANES]; 3];
        let slides = self.stick(slip, &mut next);
        if slides.iter().any(|s| *s > 0.0) {
            self.slide(slip, &slides, &mut next);
        }
        let mut pushes = [[0.0; LANES]; 3];
        for lane in 0..LANES {
            let (new, old): (V3, V3) = (gather(&next, lane), gather(&self.lambda, lane));
            let c = sub(&new, &old);
            let size = c[0].abs().max(c[1].abs()).max(c[2].abs());
            let per_normal = 1.0 / self.inverse[0][lane];
            total.0[lane] = total.0[lane].max(size * per_normal);
            total.1[lane] += dot(&c, &c) * per_normal;
            for i in 0..3 {
                pushes[i][lane] = self.frame[i][lane] * c[0]
                    + self.frame[3 + i][lane] * c[1]
                    + self.frame[6 + i][lane] * c[2];
            }
        }
        self.lambda = next;
        pushes
    }

    #[inline(always)]
    fn run_on(&mut self, beta: f64) {
        for k in 0..3 {
            for lane in 0..LANES {
                let step = beta * self.along[k][lane];
                self.along[k][lane] = step + (self.lambda[k][lane] - self.start[k][lane]);
                self.lambda[k][lane] += step;
                self.start[k][lane] = self.lambda[k][lane];
            }
        }
    }

    /// The slip as it is now, m.
    #[inline(always)]
    fn slip<const N: usize>(&self, a: &[Lane; N], b: &[Lane; N]) -> [Lane; 3] {
        let mut slip = [[0.0; LANES]; 3];
        for lane in 0..LANES {
            let p: [f64; N] = gather(a, lane);
            let q: [f64; N] = gather(b, lane);
            let r: [f64; 6] = gather(&self.arms, lane);
            let one = cross(&[p[3], p[4], p[5]], &[r[0], r[1], r[2]]);
            let two = cross(&[q[3], q[4], q[5]], &[r[3], r[4], r[5]]);
            let d = [0, 1, 2].map(|k| (q[k] - p[k]) + (two[k] - one[k]));
            for k in 0..3 {
                let f = |i: usize| self.frame[3 * k + i][lane];
                slip[k][lane] = self.free[k][lane] + (f(0) * d[0] + f(1) * d[1] + f(2) * d[2]);
            }
            for k in 0..3 {
                slip[k][lane] += self.soft[k.min(1)][lane] * self.lambda[k][lane];
            }
        }
        slip
    }

    /// Writes the forces of contacts that stick or are apart; says which do neither.
    #[inline(always)]
    fn stick(&self, slip: &[Lane; 3], next: &mut [Lane; 3]) -> Lane {
        let mut slides = [0.0; LANES];
        for lane in 0..LANES {
            let [normal, wx, wy, sx, sxy, sy, per_det] = gather(&self.inverse, lane);
            let [n, x, y] = gather(&self.lambda, lane);
            let u: V3 = gather(slip, lane);
            let r = [u[0] * wx - u[1], u[0] * wy - u[2]];
            let dx = (sy * r[0] - sxy * r[1]) * per_det;
            let dy = (sx * r[1] - sxy * r[0]) * per_det;
            let stuck = [n - (u[0] * normal + wx * dx + wy * dy), x + dx, y + dy];
            let bound = self.mu[lane] * stuck[0];
            let pull = stuck[1] * stuck[1] + stuck[2] * stuck[2];
            let holds = per_det > 0.0 && stuck[0] >= 0.0 && pull <= bound * bound;
            // The normal force that closes it without friction.
            let apart = n + wx * x + wy * y - u[0] * normal <= 0.0;
            for k in 0..3 {
                next[k][lane] = if holds && !apart { stuck[k] } else { 0.0 };
            }
            slides[lane] = if holds || apart { 0.0 } else { 1.0 };
        }
        slides
    }

    /// Writes the forces of those that slide.
    #[inline(always)]
    fn slide(&self, slip: &[Lane; 3], slides: &Lane, next: &mut [Lane; 3]) {
        let mut lost = [0.0; LANES];
        for lane in 0..LANES {
            let [normal, wx, wy, sx, sxy, sy, _] = gather(&self.inverse, lane);
            let [n, x, y] = gather(&self.lambda, lane);
            let (u, mu): (V3, f64) = (gather(slip, lane), self.mu[lane]);
            let rest = n + wx * x + wy * y - u[0] * normal;
            let r = [
                u[0] * wx - u[1] + sx * x + sxy * y,
                u[0] * wy - u[2] + sxy * x + sy * y,
            ];
            // (S + q)⁻¹ but for its determinant.
            let adjoint = |q: f64, r: &[f64; 2]| {
                let (xx, yy) = (sx + q, sy + q);
                [yy * r[0] - sxy * r[1], xx * r[1] - sxy * r[0]]
            };
            let guess = ((u[1] * u[1] + u[2] * u[2]) / (x * x + y * y)).sqrt();
            let known = guess > 0.0 && guess < f64::MAX;
            let mut q = if known { guess } else { sx + sy };
            for _ in 0..STEPS {
                let k = 1.0 / ((sx + q) * (sy + q) - sxy * sxy);
                let l = adjoint(q, &r).map(|x| x * k);
                let d = adjoint(q, &l).map(|x| x * k);
                let size = (l[0] * l[0] + l[1] * l[1]).sqrt();
                let bound = mu * (rest - wx * l[0] - wy * l[1]);
                // The slope of |λ_t| − μ λ_n in q, times |λ_t|.
                let fall = l[0] * d[0] + l[1] * d[1] + size * mu * (wx * d[0] + wy * d[1]);
                // 1/|λ_t| is nearly straight in q, |λ_t| is not (Moré and Sorensen 1983).
                let bend = (size / bound).clamp(0.5, 4.0);
                let newton = q + (size - bound) * size / fall * bend;
                q = if newton > 0.1 * q && newton < 10.0 * q {
                    newton
                } else if size > bound {
                    10.0 * q
                } else {
                    0.1 * q
                };
            }
            // Only the direction counts, and the length of it cancels.
            let d = adjoint(q, &r);
            let size = (d[0] * d[0] + d[1] * d[1]).sqrt();
            let share = size + mu * (wx * d[0] + wy * d[1]);
            let force = rest / share;
            let found = [force * size, mu * force * d[0], mu * force * d[1]];
            let sound = share > LEAST_SHARE * size && size > f64::MIN_POSITIVE;
            for k in 0..3 {
                next[k][lane] = if slides[lane] > 0.0 {
                    found[k]
                } else {
                    next[k][lane]
                };
            }
            lost[lane] = if sound { 0.0 } else { slides[lane] };
        }
        for lane in (0..LANES).filter(|lane| lost[*lane] > 0.0) {
            scatter(next, lane, &self.search(slip, lane));
        }
    }

    /// The force of one contact, whatever it takes.
    #[cold]
    fn search(&self, slip: &[Lane; 3], lane: usize) -> V3 {
        let [normal, x, y, sx, sxy, sy, _] = gather(&self.inverse, lane);
        let own = 1.0 / normal;
        let w = [
            own,
            x * own,
            y * own,
            x * own,
            sx + x * x * own,
            sxy + x * y * own,
            y * own,
            sxy + x * y * own,
            sy + y * y * own,
        ];
        let (u, lambda): (V3, V3) = (gather(slip, lane), gather(&self.lambda, lane));
        solve_block(&w, &sub(&u, &mul_vec(&w, &lambda)), self.mu[lane])
    }

    /// Moves the pucks of both sides.
    #[inline(always)]
    fn push(&self, pushes: &[Lane; 3], sides: &mut [Pucks; 2]) {
        for lane in 0..LANES {
            let f: V3 = gather(pushes, lane);
            let r: [f64; 6] = gather(&self.arms, lane);
            for (side, sign) in [(0, -1.0), (1, 1.0)] {
                let p: [f64; 13] = gather(&sides[side], lane);
                let arm = [r[3 * side], r[3 * side + 1], r[3 * side + 2]];
                let t = scale(&cross(&arm, &f), sign);
                let shift = sign * p[6];
                let turn = [
                    p[7] * t[0] + p[8] * t[1] + p[9] * t[2],
                    p[8] * t[0] + p[10] * t[1] + p[11] * t[2],
                    p[9] * t[0] + p[11] * t[1] + p[12] * t[2],
                ];
                for k in 0..3 {
                    sides[side][k][lane] = p[k] + shift * f[k];
                    sides[side][3 + k][lane] = p[3 + k] + turn[k];
                }
            }
        }
    }
}

/// Steps of Newton's method for the direction of friction.
const STEPS: usize = 1;
/// λ_n over the force without friction, inverse, below which a contact is searched for in full.
const LEAST_SHARE: f64 = 0.1;
