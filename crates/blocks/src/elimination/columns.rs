//! Substitution for several right-hand sides at once.
//!
//! Each column gets the numbers, to the last bit, that it gets alone.

use super::steps::flush;
use super::{Elimination, Plan, Step};
use crate::MAX_BLOCK;

impl Elimination {
    /// Overwrites right-hand sides, one column each, by their solutions, where there are no closures.
    pub fn solve_columns<const N: usize>(&self, rhs: &mut [[f64; N]]) {
        let (plan, values) = (&self.plan, &self.values[..]);
        for step in &plan.steps {
            // Ball joints, hinges, and both with a coordinate on which something acts.
            match step.size {
                3 => plan.forward_columns::<N, 3>(step, values, rhs),
                4 => plan.forward_columns::<N, 4>(step, values, rhs),
                5 => plan.forward_columns::<N, 5>(step, values, rhs),
                6 => plan.forward_columns::<N, 6>(step, values, rhs),
                1 => plan.forward_columns::<N, 1>(step, values, rhs),
                _ => plan.forward_columns::<N, 2>(step, values, rhs),
            }
        }
        for step in plan.steps.iter().rev() {
            match step.size {
                3 => plan.backward_columns::<N, 3>(step, values, rhs),
                4 => plan.backward_columns::<N, 4>(step, values, rhs),
                5 => plan.backward_columns::<N, 5>(step, values, rhs),
                6 => plan.backward_columns::<N, 6>(step, values, rhs),
                1 => plan.backward_columns::<N, 1>(step, values, rhs),
                _ => plan.backward_columns::<N, 2>(step, values, rhs),
            }
        }
    }
}

const _: () = assert!(MAX_BLOCK == 6);

impl Plan {
    /// `z = L⁻¹ y`, and what it takes from the later neighbours, of a node with S rows.
    #[inline(always)]
    fn forward_columns<const N: usize, const S: usize>(
        &self,
        step: &Step,
        values: &[f64],
        rhs: &mut [[f64; N]],
    ) {
        let pivot = &values[step.offset..step.offset + S * S];
        let mut z = [[0.0; N]; S];
        for (target, value) in z.iter_mut().zip(&rhs[step.row..step.row + S]) {
            *target = value.map(flush);
        }
        // Most columns begin at one body.
        if z == [[0.0; N]; S] {
            rhs[step.row..step.row + S].copy_from_slice(&z);
            return;
        }
        for i in 1..S {
            for k in 0..i {
                let known = z[k];
                subtract(&mut z[i], pivot[i * S + k], &known);
            }
        }
        rhs[step.row..step.row + S].copy_from_slice(&z);
        for link in &self.links[step.links[0]..step.links[1]] {
            let block = &values[link.offset..link.offset + S * link.size];
            let target = &mut rhs[link.row..link.row + link.size];
            for (row, z) in block.chunks_exact(link.size).zip(&z) {
                for (target, b) in target.iter_mut().zip(row) {
                    subtract(target, *b, z);
                }
            }
        }
    }

    /// `x = L⁻ᵀ (Δ⁻¹ z − Σ H x)` of a node with S rows.
    #[inline(always)]
    fn backward_columns<const N: usize, const S: usize>(
        &self,
        step: &Step,
        values: &[f64],
        rhs: &mut [[f64; N]],
    ) {
        let pivot = &values[step.offset..step.offset + S * S];
        let mut x = [[0.0; N]; S];
        for (k, (target, value)) in x.iter_mut().zip(&rhs[step.row..]).enumerate() {
            *target = value.map(|value| value * pivot[k * S + k]);
        }
        for link in &self.links[step.links[0]..step.links[1]] {
            let block = &values[link.offset..link.offset + S * link.size];
            let known = &rhs[link.row..link.row + link.size];
            for (x, row) in x.iter_mut().zip(block.chunks_exact(link.size)) {
                let mut sum = [-0.0; N];
                for (b, known) in row.iter().zip(known) {
                    for (sum, known) in sum.iter_mut().zip(known) {
                        *sum += b * known;
                    }
                }
                x.iter_mut().zip(sum).for_each(|(x, sum)| *x -= sum);
            }
        }
        for i in (0..S).rev() {
            for k in i + 1..S {
                let known = x[k];
                subtract(&mut x[i], pivot[k * S + i], &known);
            }
        }
        for (target, value) in rhs[step.row..].iter_mut().zip(&x) {
            *target = value.map(flush);
        }
    }
}

/// `y ← y − l x`.
#[inline(always)]
fn subtract<const N: usize>(y: &mut [f64; N], l: f64, x: &[f64; N]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y -= l * x;
    }
}
