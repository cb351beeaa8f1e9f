//! The linear system of a step: contacts are eliminated, the chain is factored.

use super::super::block::{Block, inverse, product, times};
use super::super::dense::triple;
use super::{Strung, add_to_nodes, at_nodes};

/// Products of one solve at most.
const PRODUCTS: usize = 40;

impl Strung {
    /// Makes `(Y + Z D) δ = r` ready to be solved, with Y and Z of each contact. False if it is
    /// singular.
    pub(super) fn prepare(&mut self, softs: &[Block], slopes: &[Block]) -> bool {
        self.loaded.copy(&self.line);
        self.solved.clear();
        self.gains.clear();
        let beads = 0..self.beads.len();
        beads
            .into_iter()
            .all(|bead| self.eliminate(bead, softs, slopes))
            && self.loaded.factor()
    }

    /// N and N Z B of a link, and what it leaves on the chain.
    fn eliminate(&mut self, index: usize, softs: &[Block], slopes: &[Block]) -> bool {
        let bead = self.beads[index];
        let size = 3 * bead.count;
        let start = self.solved.len();
        self.solved.resize(start + size * size, 0.0);
        // Y + Z S beside the identity.
        let width = 2 * size;
        self.scratch.clear();
        self.scratch.resize(size * width, 0.0);
        for k in 0..bead.count {
            let z = &slopes[bead.first + k];
            let y = &softs[bead.first + k];
            for r in 0..3 {
                let row = &mut self.scratch[(3 * k + r) * width..][..width];
                for q in 0..3 {
                    let own = &self.own[bead.own + (3 * k + q) * size..][..size];
                    for (x, s) in row.iter_mut().zip(own) {
                        *x += z[3 * r + q] * s;
                    }
                    row[3 * k + q] += y[3 * r + q];
                }
                row[size + 3 * k + r] = 1.0;
            }
        }
        if !invert(&mut self.scratch, size, &mut self.solved[start..]) {
            return false;
        }
        for k in 0..bead.count {
            let mut gain = [[0.0; 9]; 2];
            for l in 0..bead.count {
                let n: Block = std::array::from_fn(|e| {
                    self.solved[start + (3 * k + e / 3) * size + 3 * l + e % 3]
                });
                let nz = product(&n, &slopes[bead.first + l]);
                for (gain, reach) in gain.iter_mut().zip(&self.reaches[bead.first + l]) {
                    let part = product(&nz, reach);
                    for (g, p) in gain.iter_mut().zip(part) {
                        *g += p;
                    }
                }
            }
            self.gains.push(gain);
            let reach = &self.reaches[bead.first + k];
            let node = bead.node;
            subtract(&mut self.loaded.diagonal[node], &reach[0], &gain[0]);
            if node + 1 < self.line.len() {
                subtract(&mut self.loaded.upper[node], &reach[0], &gain[1]);
                subtract(&mut self.loaded.lower[node], &reach[1], &gain[0]);
                subtract(&mut self.loaded.diagonal[node + 1], &reach[1], &gain[1]);
            }
        }
        true
    }

    /// Overwrites r by δ, to a relative residual. Returns the products with R, or nothing if δ is
    /// not finite.
    pub(super) fn solve_linear(
        &mut self,
        slopes: &[Block],
        r: &mut [f64],
        rest: &mut dyn FnMut(&[f64], &mut [f64]),
        tolerance: f64,
    ) -> Option<usize> {
        let mut krylov = std::mem::take(&mut self.krylov);
        self.respond(r);
        let mut apply = |x: &[f64], y: &mut [f64]| {
            rest(x, y);
            for (k, z) in slopes.iter().enumerate() {
                let turned = times(z, &triple(y, k));
                y[3 * k..3 * k + 3].copy_from_slice(&turned);
            }
            self.respond(y);
        };
        let products = krylov.solve(r, &mut apply, tolerance, PRODUCTS);
        self.krylov = krylov;
        r.iter().all(|x| x.is_finite()).then_some(products)
    }

    /// Overwrites r by (Y + Z (S − B A⁻¹ Bᵀ))⁻¹ r.
    fn respond(&mut self, r: &mut [f64]) {
        self.nodes.fill(0.0);
        let mut at = 0;
        for bead in &self.beads {
            let size = 3 * bead.count;
            let here = &mut r[3 * bead.first..][..size];
            for i in 0..size {
                let row = &self.solved[at + i * size..][..size];
                self.moved[i] = row.iter().zip(here.iter()).map(|(n, r)| n * r).sum();
            }
            at += size * size;
            here.copy_from_slice(&self.moved[..size]);
            for k in bead.first..bead.first + bead.count {
                let y = triple(r, k);
                add_to_nodes(&mut self.nodes, bead.node, &self.reaches[k], &y);
            }
        }
        self.loaded.solve(&mut self.nodes[..3 * self.line.len()]);
        for bead in &self.beads {
            for k in bead.first..bead.first + bead.count {
                let more = at_nodes(&self.nodes, bead.node, &self.gains[k]);
                for i in 0..3 {
                    r[3 * k + i] += more[i];
                }
            }
        }
    }
}

/// a −= reachᵀ gain.
#[inline(always)]
fn subtract(a: &mut Block, reach: &Block, gain: &Block) {
    for i in 0..3 {
        for j in 0..3 {
            let sum = reach[i] * gain[j] + reach[3 + i] * gain[3 + j] + reach[6 + i] * gain[6 + j];
            a[3 * i + j] -= sum;
        }
    }
}

/// Gauss–Jordan with partial pivoting of a matrix beside the identity.
fn invert(a: &mut [f64], n: usize, out: &mut [f64]) -> bool {
    let width = 2 * n;
    if n == 3 {
        let block: Block = std::array::from_fn(|e| a[(e / 3) * width + e % 3]);
        let Some(found) = inverse(&block) else {
            return false;
        };
        out.copy_from_slice(&found);
        return true;
    }
    for k in 0..n {
        let size = |i: usize| a[i * width + k].abs();
        let best = (k..n).fold(k, |b, i| if size(i) > size(b) { i } else { b });
        let per_pivot = 1.0 / a[best * width + k];
        if !per_pivot.is_finite() {
            return false;
        }
        if best != k {
            for j in 0..width {
                a.swap(k * width + j, best * width + j);
            }
        }
        for j in 0..width {
            a[k * width + j] *= per_pivot;
        }
        for i in (0..n).filter(|i| *i != k) {
            let factor = a[i * width + k];
            if factor != 0.0 {
                for j in k..width {
                    a[i * width + j] -= factor * a[k * width + j];
                }
            }
        }
    }
    for (out, row) in out.chunks_exact_mut(n).zip(a.chunks_exact(width)) {
        out.copy_from_slice(&row[n..]);
    }
    true
}
