//! Operator splitting: by turns a linear solve and the cone (ADMM).
//!
//! With λ = z, z in the cone, and the metric S of the blocks' own compliances,
//!
//! ```text
//! (D + ρ S) λ = ρ S (z − w) − b − s,   z = Π(λ + w),   w ← w + λ − z,   s = μ |u_t| e_n
//! ```
//!
//! One Cholesky factorization serves all iterations until ρ changes. ρ follows the ratio of
//! the two residuals (Boyd et al. 2011, 3.4.1); s is De Saxcé's correction, brought up to date
//! every time.

use super::dense::{ConeReport, Delassus, triple};
use super::project;

/// Iterations between two looks at the residuals.
const LOOK: usize = 10;

/// Memory of the splitting.
#[derive(Clone, Debug, Default)]
pub struct Splitting {
    factor: Vec<f64>,
    z: Vec<f64>,
    w: Vec<f64>,
    before: Vec<f64>,
    rhs: Vec<f64>,
    metric: Vec<f64>,
}

impl Splitting {
    /// Solves to a relative violation with at most `limit` iterations; the answer is in
    /// `problem.lambda`. Counts iterations as sweeps and factorizations as Newton steps.
    pub fn solve(&mut self, problem: &mut Delassus, tolerance: f64, limit: usize) -> ConeReport {
        let blocks = problem.blocks();
        self.start(problem);
        let mut report = ConeReport::default();
        let mut rho = 1.0;
        problem.find_slip();
        report.residual = problem.residual();
        if report.residual <= tolerance || !self.factor(problem, rho) {
            return report;
        }
        report.newton = 1;
        while report.sweeps < limit {
            self.iterate(problem, rho);
            report.sweeps += 1;
            if report.sweeps % LOOK != 0 {
                continue;
            }
            let (primal, dual) = self.residuals(blocks, rho);
            problem.lambda.copy_from_slice(&self.z);
            problem.find_slip();
            report.residual = problem.residual();
            if report.residual <= tolerance {
                break;
            }
            let ratio = (primal / dual.max(f64::MIN_POSITIVE))
                .sqrt()
                .clamp(0.1, 10.0);
            if !(0.3..=3.0).contains(&ratio) {
                rho *= ratio;
                self.w.iter_mut().for_each(|w| *w /= ratio);
                if !self.factor(problem, rho) {
                    break;
                }
                report.newton += 1;
            }
        }
        problem.lambda.copy_from_slice(&self.z);
        problem.find_slip();
        report.residual = problem.residual();
        report
    }

    fn start(&mut self, problem: &Delassus) {
        let rows = 3 * problem.blocks();
        self.metric.clear();
        self.metric
            .extend((0..rows).map(|i| problem.compliance(i / 3) / 3.0));
        self.z.clear();
        self.z.extend_from_slice(&problem.lambda);
        // A guess of w from the slip would be as good; zero is safe.
        self.w.clear();
        self.w.resize(rows, 0.0);
        self.rhs.clear();
        self.rhs.resize(rows, 0.0);
        self.before.clear();
        self.before.resize(rows, 0.0);
    }

    /// Cholesky of D + ρ S, lower triangle, row by row.
    fn factor(&mut self, problem: &Delassus, rho: f64) -> bool {
        let n = 3 * problem.blocks();
        self.factor.clear();
        self.factor.extend_from_slice(&problem.matrix);
        for i in 0..n {
            self.factor[i * (n + 1)] += rho * self.metric[i];
            for j in 0..=i {
                let (head, tail) = self.factor.split_at(i * n);
                let row = if j < i {
                    &head[j * n..j * n + j]
                } else {
                    &tail[..j]
                };
                let sum: f64 = row.iter().zip(&tail[..j]).map(|(a, b)| a * b).sum();
                let value = self.factor[i * n + j] - sum;
                self.factor[i * n + j] = if j < i {
                    value / self.factor[j * (n + 1)]
                } else if value > 0.0 {
                    value.sqrt()
                } else {
                    return false;
                };
            }
        }
        true
    }

    fn iterate(&mut self, problem: &mut Delassus, rho: f64) {
        let n = self.rhs.len();
        for i in 0..n {
            self.rhs[i] = rho * self.metric[i] * (self.z[i] - self.w[i]) - problem.free[i];
        }
        for k in 0..problem.blocks() {
            let u = triple(&problem.slip, k);
            self.rhs[3 * k] -= problem.mu[k] * (u[1] * u[1] + u[2] * u[2]).sqrt();
        }
        self.back_solve(n);
        self.before.copy_from_slice(&self.z);
        for k in 0..problem.blocks() {
            let mut y = triple(&self.rhs, k);
            for i in 0..3 {
                y[i] += self.w[3 * k + i];
            }
            let z = project(&y, problem.mu[k]);
            for i in 0..3 {
                self.z[3 * k + i] = z[i];
                self.w[3 * k + i] = y[i] - z[i];
            }
        }
        problem.lambda.copy_from_slice(&self.rhs);
        problem.find_slip();
    }

    fn back_solve(&mut self, n: usize) {
        for i in 0..n {
            let row = &self.factor[i * n..i * n + i];
            let sum: f64 = row.iter().zip(&self.rhs[..i]).map(|(l, x)| l * x).sum();
            self.rhs[i] = (self.rhs[i] - sum) / self.factor[i * (n + 1)];
        }
        for i in (0..n).rev() {
            self.rhs[i] /= self.factor[i * (n + 1)];
            let x = self.rhs[i];
            let (head, _) = self.rhs.split_at_mut(i);
            for (y, l) in head.iter_mut().zip(&self.factor[i * n..i * n + i]) {
                *y -= l * x;
            }
        }
    }

    /// Sizes of λ − z and of ρ times the change of z, in the metric.
    fn residuals(&self, blocks: usize, rho: f64) -> (f64, f64) {
        let (mut primal, mut dual) = (0.0, 0.0);
        for i in 0..3 * blocks {
            let s = self.metric[i];
            primal += s * (self.rhs[i] - self.z[i]).powi(2);
            dual += s * (rho * (self.z[i] - self.before[i])).powi(2);
        }
        (primal.sqrt(), dual.sqrt())
    }
}
