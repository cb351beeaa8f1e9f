//! The way to the law through the inside of the cones (`interior.rs`).

use super::super::Triple;
use super::super::block::{IDENTITY, dot, times};
use super::super::dense::triple;
use super::super::interior::Pair;
use super::{Direct, Mark, Response};

/// Part of the way to the boundary that a step takes at most.
const NEARLY: f64 = 0.995;
/// Residual of a linear solve, relative: of one that only looks ahead, and of a step.
const LINEAR: [f64; 2] = [1e-2, 1e-5];

impl Direct {
    /// Moves the first guess inside the cones, so far in units of the mean force, or by one.
    pub(super) fn enter(&mut self, depth: f64) {
        let depth = depth.min(1.0);
        let count = self.marks.len().max(1) as f64;
        let sum: f64 = self.lambda.chunks_exact(3).map(|l| l[0]).sum();
        // Where nothing pushes yet, what would hold back the slip.
        let needed = |(k, mark): (usize, &Mark)| {
            let u = triple(&self.slip, k);
            tangential(&u).max(-u[0]) / mark.compliance
        };
        let need = self.marks.iter().enumerate().map(needed).sum::<f64>();
        let force = depth * (sum / count).max(need / count);
        self.pairs.clear();
        for (k, mark) in self.marks.iter().enumerate() {
            let (l, u) = (triple(&self.lambda, k), triple(&self.slip, k));
            let way = force * mark.compliance;
            let lifted = u[0] + mark.mu * tangential(&u);
            self.pairs.push(match mark.mu > 0.0 {
                true => Pair {
                    x: inside(&[mark.mu * l[0], l[1], l[2]], force),
                    y: inside(&[lifted / mark.mu, u[1], u[2]], way),
                },
                false => Pair {
                    x: [l[0].max(0.0) + force, 0.0, 0.0],
                    y: [u[0].max(0.0) + way, 0.0, 0.0],
                },
            });
        }
        self.take_forces();
    }

    /// λ of the pairs.
    fn take_forces(&mut self) {
        for (k, pair) in self.pairs.iter().enumerate() {
            let mu = self.marks[k].mu;
            self.lambda[3 * k] = if mu > 0.0 { pair.x[0] / mu } else { pair.x[0] };
            self.lambda[3 * k + 1] = pair.x[1];
            self.lambda[3 * k + 2] = pair.x[2];
        }
    }

    /// W² and E of each contact.
    fn scale(&mut self) -> bool {
        self.slopes.clear();
        self.softs.clear();
        self.scalings.clear();
        for (k, (pair, mark)) in self.pairs.iter().zip(&self.marks).enumerate() {
            let Some(scaling) = pair.scaling() else {
                return false;
            };
            let u = triple(&self.slip, k);
            let (mut z, mut y) = (IDENTITY, scaling.square);
            if mark.mu == 0.0 {
                (z[4], z[8]) = (0.0, 0.0);
                y = [y[0], 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
            } else {
                let unit = [mark.mu, 1.0, 1.0];
                y = std::array::from_fn(|e| unit[e / 3] * y[e] * unit[e % 3]);
                let sliding = tangential(&u);
                if sliding > 0.0 {
                    (z[1], z[2]) = (mark.mu * u[1] / sliding, mark.mu * u[2] / sliding);
                }
            }
            self.slopes.push(z);
            self.softs.push(y);
            self.scalings.push(scaling);
        }
        true
    }

    /// One step: first straight at the law, to see how far one comes, then with what was learned.
    /// Returns the part of it that was taken.
    pub(super) fn advance(&mut self, d: &mut dyn Response, products: &mut usize) -> Option<f64> {
        if !(self.scale() && d.prepare(&self.softs, &self.slopes)) {
            return None;
        }
        let count = self.pairs.len() as f64;
        let tau = self.pairs.iter().map(|p| dot(&p.x, &p.y)).sum::<f64>() / count;
        self.tried.clear();
        self.tried.resize(self.pairs.len(), Pair::default());
        self.try_step(None, d, products)?;
        let free = 1.0 - self.room();
        self.try_step(Some(free * free * free * tau), d, products)?;
        let part = (NEARLY * self.room()).min(1.0);
        for (pair, step) in self.pairs.iter_mut().zip(&self.tried) {
            for i in 0..3 {
                pair.x[i] += part * step.x[i];
                pair.y[i] += part * step.y[i];
            }
        }
        self.take_forces();
        Some(part)
    }

    /// The part of the step that stays inside all cones.
    fn room(&self) -> f64 {
        let rooms = self.pairs.iter().zip(&self.tried);
        rooms.fold(1.0, |least, (pair, step)| least.min(pair.room(step)))
    }

    /// The step towards x ∘ y = τ e, with what the last one tried bent; or without τ a look at
    /// what is straight ahead.
    fn try_step(
        &mut self,
        tau: Option<f64>,
        d: &mut dyn Response,
        products: &mut usize,
    ) -> Option<()> {
        let (tolerance, tau) = (LINEAR[usize::from(tau.is_some())], tau.unwrap_or(0.0));
        let mut delta = std::mem::take(&mut self.rhs);
        delta.clear();
        self.aims.clear();
        for (k, mark) in self.marks.iter().enumerate() {
            let (u, pair) = (triple(&self.slip, k), &self.pairs[k]);
            let aim = self.scalings[k].aim(tau, &self.tried[k]);
            self.aims.push(aim);
            if mark.mu == 0.0 {
                delta.extend([aim[0] + pair.y[0] - u[0], 0.0, 0.0]);
                continue;
            }
            let lifted = u[0] + mark.mu * tangential(&u);
            delta.push(mark.mu * (aim[0] + pair.y[0]) - lifted);
            delta.extend([aim[1] + pair.y[1] - u[1], aim[2] + pair.y[2] - u[2]]);
        }
        let solved = d.respond(&self.slopes, &mut delta, tolerance);
        for (k, mark) in self.marks.iter().enumerate() {
            let d = triple(&delta, k);
            let mu = if mark.mu > 0.0 { mark.mu } else { 1.0 };
            let x = [mu * d[0], d[1], d[2]];
            let aim = &self.aims[k];
            let taken = times(&self.scalings[k].square, &x);
            let mut y = [aim[0] - taken[0], aim[1] - taken[1], aim[2] - taken[2]];
            if mark.mu == 0.0 {
                (y[1], y[2]) = (0.0, 0.0);
            }
            self.tried[k] = Pair { x, y };
        }
        self.rhs = delta;
        *products += solved?;
        Some(())
    }
}

/// |u_t|.
fn tangential(u: &Triple) -> f64 {
    (u[1] * u[1] + u[2] * u[2]).sqrt()
}

/// A point of the round cone, farther inside by `more`.
fn inside(x: &Triple, more: f64) -> Triple {
    [x[0].max(tangential(x)) + more, x[1], x[2]]
}
