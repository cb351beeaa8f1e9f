//! Contacts whose matrix is too large to write down: `u = D λ + b` with D known by its products.
//!
//! Every block is asked, by `local.rs` and with L times its own compliance W, what it would do if the
//! others kept their λ, all of them at once; and they start from where the last two rounds point to
//! (Nesterov 1983; for contacts Mazhar et al. 2015):
//!
//! ```text
//! y = λ + β (λ − λ₋),   λ₊ = the law of Coulomb for u = L W (λ₊ − y) + (D y + b)
//! ```
//!
//! Without friction this is a projected gradient in the metric of W, and L W ≥ D along the step keeps
//! it from overshooting: L grows where it did not hold. The momentum β is at first what suits a few
//! hundred to one between the softest and the stiffest way to answer, and is dropped when it points
//! backwards (O'Donoghue and Candès 2015). At a fixed point Coulomb's law holds whatever W is. A round
//! costs one product. The violation falls like 1/k² at least, where sweeps take 1/k, because a chain
//! that lies on something answers a common push a thousand times less than one of a single link.

use super::block::{dot, minus, times};
use super::dense::{ConeReport, triple};
use super::local::{Local, begin};
use super::slides::Slides;
use super::violation;

/// A problem without its matrix.
#[derive(Clone, Copy, Debug)]
pub struct Products<'a> {
    /// What each block answers to its own λ, about, row-major; positive definite.
    pub own: &'a [[f64; 9]],
    /// Slip without λ.
    pub free: &'a [f64],
    /// D times the first guess.
    pub first: &'a [f64],
    /// Coefficients of friction.
    pub mu: &'a [f64],
    /// Error of a slip that does not matter, if the violation is below a thousandth.
    pub slack: f64,
}

/// λ and the slip u that it causes.
#[derive(Clone, Debug, Default)]
struct Iterate {
    lambda: Vec<f64>,
    slip: Vec<f64>,
}

impl Iterate {
    fn reset(&mut self, rows: usize) {
        for vector in [&mut self.lambda, &mut self.slip] {
            vector.clear();
            vector.resize(rows, 0.0);
        }
    }

    fn copy(&mut self, other: &Iterate) {
        self.lambda.copy_from_slice(&other.lambda);
        self.slip.copy_from_slice(&other.slip);
    }
}

/// Memory of the method, kept for reuse.
#[derive(Clone, Debug, Default)]
pub struct Accelerated {
    now: Iterate,
    before: Iterate,
    /// Where a round starts.
    ahead: Iterate,
    best: Iterate,
    /// L.
    bound: f64,
}

/// L at first, and what it is multiplied by: in a round, and at least where it does not suffice.
const BOUND: f64 = 3.0;
const LOOSEN: f64 = 0.99;
const TIGHTEN: f64 = 1.2;
/// β at least while rounds go on in one direction, and for how many rounds: problems that take
/// thousands are better left to the method.
const MOMENTUM: f64 = 0.92;
const BOLD: usize = 100;
/// Violation up to which the slack counts.
const ENOUGH: f64 = 1e-3;
/// Rounds between two looks at the violation.
const LOOK: usize = 3;

impl Accelerated {
    /// Solves to a relative violation with at most `limit` products; λ is the first guess and the
    /// answer. `product` writes D times its first argument to the second. Counts products as
    /// sweeps.
    pub fn solve(
        &mut self,
        problem: &Products<'_>,
        lambda: &mut [f64],
        product: &mut dyn FnMut(&[f64], &mut [f64]),
        tolerance: f64,
        limit: usize,
    ) -> ConeReport {
        for iterate in [
            &mut self.now,
            &mut self.before,
            &mut self.ahead,
            &mut self.best,
        ] {
            iterate.reset(lambda.len());
        }
        self.now.lambda.copy_from_slice(lambda);
        self.now.slip.copy_from_slice(problem.first);
        add_free(problem, &mut self.now);
        self.before.copy(&self.now);
        self.best.copy(&self.now);
        let mut report = ConeReport {
            sweeps: 1,
            newton: 0,
            residual: 0.0,
        };
        let mut enough;
        (report.residual, enough) = violation_of(problem, &self.now);
        self.bound = BOUND;
        let (mut momentum, mut forward) = (1.0f64, true);
        let mut round = 0;
        while report.residual > tolerance && !enough && report.sweeps < limit {
            let next = 0.5 * (1.0 + (1.0 + 4.0 * momentum * momentum).sqrt());
            let bold = forward && round < BOLD;
            let least = if bold { MOMENTUM } else { 0.0 };
            self.look_ahead(((momentum - 1.0) / next).max(least));
            // The iterate before the last one makes room.
            std::mem::swap(&mut self.now, &mut self.before);
            forward = self.advance(problem, product, &mut report.sweeps, limit);
            momentum = if forward { next } else { 1.0 };
            self.bound *= LOOSEN;
            round += 1;
            if round % LOOK == 0 || report.sweeps >= limit {
                let (off, slight) = violation_of(problem, &self.now);
                if off < report.residual {
                    (report.residual, enough) = (off, slight);
                    self.best.copy(&self.now);
                }
            }
        }
        lambda.copy_from_slice(&self.best.lambda);
        report
    }

    /// The slip that the answer causes.
    pub fn slip(&self) -> &[f64] {
        &self.best.slip
    }

    /// y, and its slip, which is linear.
    fn look_ahead(&mut self, beta: f64) {
        let Accelerated {
            now, before, ahead, ..
        } = self;
        for (y, (a, b)) in ahead
            .lambda
            .iter_mut()
            .zip(now.lambda.iter().zip(&before.lambda))
        {
            *y = a + beta * (a - b);
        }
        for (y, (a, b)) in ahead.slip.iter_mut().zip(now.slip.iter().zip(&before.slip)) {
            *y = a + beta * (a - b);
        }
    }

    /// One round, from y to the next λ in `now`; `before` is the last one. Says whether it went on
    /// in the same direction.
    fn advance(
        &mut self,
        problem: &Products<'_>,
        product: &mut dyn FnMut(&[f64], &mut [f64]),
        count: &mut usize,
        limit: usize,
    ) -> bool {
        loop {
            self.ask(problem);
            slip(problem, &mut self.now, product);
            *count += 1;
            // Δᵀ D Δ against Δᵀ W Δ, and whether Δ points back.
            let (mut bent, mut own, mut back) = (0.0, 0.0, 0.0);
            for (k, w) in problem.own.iter().enumerate() {
                let at = |v: &[f64]| triple(v, k);
                let step = minus(&at(&self.now.lambda), &at(&self.ahead.lambda));
                let moved = minus(&at(&self.now.slip), &at(&self.ahead.slip));
                let whole = minus(&at(&self.now.lambda), &at(&self.before.lambda));
                let pushed = times(w, &step);
                bent += dot(&step, &moved);
                own += dot(&step, &pushed);
                back -= dot(&whole, &pushed);
            }
            if bent > self.bound * own * (1.0 + 1e-9) && own > 0.0 && *count < limit {
                self.bound = (1.01 * bent / own).max(TIGHTEN * self.bound);
                continue;
            }
            return !(back > 0.0);
        }
    }

    fn ask(&mut self, problem: &Products<'_>) {
        let mut slides = Slides::default();
        for (k, w) in problem.own.iter().enumerate() {
            let (y, u) = (triple(&self.ahead.lambda, k), triple(&self.ahead.slip, k));
            // Apart and without force, as most of what is only near.
            if u[0] >= 0.0 && y == [0.0; 3] {
                self.now.lambda[3 * k..3 * k + 3].fill(0.0);
                continue;
            }
            let w = w.map(|x| self.bound * x);
            let b = minus(&u, &times(&w, &y));
            let ratio = ((u[1] * u[1] + u[2] * u[2]) / (y[1] * y[1] + y[2] * y[2])).sqrt();
            let lambda = &mut self.now.lambda;
            match begin(&w, &b, problem.mu[k], ratio) {
                Local::Known(next) => lambda[3 * k..3 * k + 3].copy_from_slice(&next),
                Local::Slides(sliding) => slides.add(k, &sliding, lambda),
            }
        }
        slides.finish(&mut self.now.lambda);
    }
}

/// u = D λ + b.
fn slip(
    problem: &Products<'_>,
    iterate: &mut Iterate,
    product: &mut dyn FnMut(&[f64], &mut [f64]),
) {
    product(&iterate.lambda, &mut iterate.slip);
    add_free(problem, iterate);
}

fn add_free(problem: &Products<'_>, iterate: &mut Iterate) {
    for (u, b) in iterate.slip.iter_mut().zip(problem.free) {
        *u += b;
    }
}

/// Largest violation of the law, relative to the largest λ, and whether it does not matter.
fn violation_of(problem: &Products<'_>, iterate: &Iterate) -> (f64, bool) {
    let (mut worst, mut largest, mut slip) = (0.0f64, 0.0f64, 0.0f64);
    for (k, w) in problem.own.iter().enumerate() {
        let (l, u) = (triple(&iterate.lambda, k), triple(&iterate.slip, k));
        let off = violation(&l, &u, problem.mu[k], w[0] + w[4] + w[8]);
        if !(off <= worst) {
            worst = off;
        }
        largest = l.iter().fold(largest, |m, x| m.max(x.abs()));
        slip = slip.max(off * (w[0] + w[4] + w[8]));
    }
    let relative = if worst == 0.0 {
        0.0
    } else {
        worst / largest.max(worst)
    };
    (relative, slip <= problem.slack && relative <= ENOUGH)
}

#[cfg(test)]
mod tests {
    use super::super::Delassus;
    use super::super::tests::random;
    use super::*;

    /// D = G Gᵀ with bodies of different weight, so that blocks feel each other.
    fn problem(seed: &mut u64, blocks: usize, columns: usize) -> Delassus {
        let mut dense = Delassus::default();
        dense.reset(blocks);
        let rows = 3 * blocks;
        let weight: Vec<f64> = (0..columns).map(|_| 10f64.powf(random(seed))).collect();
        let g: Vec<f64> = (0..rows * columns).map(|_| random(seed)).collect();
        for i in 0..rows {
            for j in 0..rows {
                let terms =
                    (0..columns).map(|k| weight[k] * g[i * columns + k] * g[j * columns + k]);
                dense.matrix[i * rows + j] = terms.sum();
            }
            dense.free[i] = random(seed);
        }
        // Compressive on the whole, so that a solution exists.
        let push: Vec<f64> = (0..rows)
            .map(|i| if i % 3 == 0 { 1.0 } else { 0.0 })
            .collect();
        for i in 0..rows {
            let row = &dense.matrix[i * rows..(i + 1) * rows];
            let pressed: f64 = row.iter().zip(&push).map(|(d, p)| d * p).sum();
            dense.free[i] -= pressed;
        }
        dense
            .mu
            .iter_mut()
            .for_each(|mu| *mu = 0.3 * (1.0 + random(seed)));
        dense
    }

    fn solve(dense: &Delassus, tolerance: f64) -> (Vec<f64>, ConeReport) {
        let blocks = dense.blocks();
        let rows = 3 * blocks;
        let own: Vec<[f64; 9]> = (0..blocks)
            .map(|k| std::array::from_fn(|e| dense.matrix[(3 * k + e / 3) * rows + 3 * k + e % 3]))
            .collect();
        let problem = Products {
            own: &own,
            free: &dense.free,
            first: &vec![0.0; rows],
            mu: &dense.mu,
            slack: 0.0,
        };
        let mut lambda = vec![0.0; rows];
        let mut product = |x: &[f64], y: &mut [f64]| {
            for (y, row) in y.iter_mut().zip(dense.matrix.chunks_exact(rows)) {
                *y = row.iter().zip(x).map(|(d, x)| d * x).sum();
            }
        };
        let report =
            Accelerated::default().solve(&problem, &mut lambda, &mut product, tolerance, 4000);
        (lambda, report)
    }

    #[test]
    fn it_finds_what_a_dense_solve_finds() {
        let mut seed = 11;
        for case in 0..40 {
            let mut dense = problem(&mut seed, 6 + case % 5, 60);
            let (lambda, report) = solve(&dense, 1e-9);
            assert!(report.residual <= 1e-9, "case {case}: {report:?}");
            dense.solve(1e-12, 200);
            let largest = dense.lambda.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
            for (found, expected) in lambda.iter().zip(&dense.lambda) {
                assert!((found - expected).abs() < 1e-6 * largest, "case {case}");
            }
        }
    }

    #[test]
    fn more_contacts_than_ways_to_move_do_not_stop_it() {
        let mut seed = 5;
        for case in 0..20 {
            let dense = problem(&mut seed, 12, 12);
            let (_, report) = solve(&dense, 1e-4);
            assert!(report.residual <= 1e-4, "case {case}: {report:?}");
        }
    }

    #[test]
    fn without_friction_it_only_pushes() {
        let mut seed = 3;
        let mut dense = problem(&mut seed, 9, 40);
        dense.mu.fill(0.0);
        let (lambda, report) = solve(&dense, 1e-10);
        assert!(report.residual <= 1e-10, "{report:?}");
        for l in lambda.chunks_exact(3) {
            assert!(l[0] >= 0.0 && l[1].abs() <= 1e-9 && l[2].abs() <= 1e-9);
        }
    }
}
