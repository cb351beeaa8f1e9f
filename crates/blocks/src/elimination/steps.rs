//! The steps of an elimination, one after the other.

use super::{Half, Load, Plan, Step};
use crate::MAX_BLOCK;
use crate::census::{Census, Pivots};
use crate::chain_kernel::TINY;
use crate::small::{self, Rule};

impl Plan {
    /// Finds the ranges that no load covers.
    pub fn find_holes(&mut self) {
        let inside = |load: &&Load| load.to.offset < self.schur_offset;
        let mut covered: Vec<[usize; 2]> = self
            .loads
            .iter()
            .filter(inside)
            .map(|load| {
                [
                    load.to.offset,
                    load.to.offset + load.shape[0] * load.shape[1],
                ]
            })
            .collect();
        covered.sort_unstable();
        covered.push([self.schur_offset; 2]);
        let mut end = 0;
        for [start, next] in covered {
            if start > end {
                self.holes.push([end, start]);
            }
            end = end.max(next);
        }
    }

    /// Copies the numbers of one half; those of the Schur complement are with the first.
    pub fn load(&self, half: &mut Half<'_>, source: &[f64], first: bool) {
        let end = half.start + half.factors.len();
        let place = |limit: usize| self.loads.partition_point(|load| load.to.offset < limit);
        // A hole may lie across the cut.
        for [from, to] in &self.holes {
            let (from, to) = ((*from).max(half.start), (*to).min(end));
            if from < to {
                half.factors[from - half.start..to - half.start].fill(0.0);
            }
        }
        for load in &self.loads[place(half.start)..place(end)] {
            load.copy(source, half.factors, half.start);
        }
        half.schur.fill(0.0);
        if first {
            for load in &self.loads[place(self.schur_offset)..] {
                load.copy(source, half.schur, self.schur_offset);
            }
        }
    }

    /// Eliminates the steps of one half.
    pub fn factor(&self, half: &mut Half<'_>, tolerance: f64) -> Census {
        let mut census = Census::default();
        for step in &self.steps[half.steps.clone()] {
            let rule = Rule {
                tolerance,
                sign: step.sign,
                shift: self.shift,
            };
            let found = self.eliminate(step, rule, half);
            census.add(step.node, found);
        }
        census
    }

    fn eliminate(&self, step: &Step, rule: Rule, half: &mut Half<'_>) -> Pivots {
        let n = step.size;
        let scale = &half.scales[step.row - half.row..step.row - half.row + n];
        let links = &self.links[step.links[0]..step.links[1]];
        let width: usize = links.iter().map(|link| link.size).sum();
        let end = step.offset + n * n + n * width;
        // Everything this node touches lies behind its own factors.
        let (own, later) = half.factors.split_at_mut(end - half.start);
        let (pivot, blocks) = own[step.offset - half.start..].split_at_mut(n * n);
        let found = small::factor(n, pivot, scale, rule);
        let scratch = &mut half.scratch[..blocks.len()];
        for (target, &value) in scratch.iter_mut().zip(&*blocks) {
            *target = flush(value);
        }
        let base = step.offset + n * n;
        for link in links {
            let range = link.offset - base..link.offset - base + n * link.size;
            small::solve_lower_block(n, link.size, pivot, &mut scratch[range.clone()]);
            small::scale_block(
                n,
                link.size,
                pivot,
                &scratch[range.clone()],
                &mut blocks[range],
            );
        }
        let mut targets = self.targets[step.first_update..].iter();
        for (i, first) in links.iter().enumerate() {
            for (second, target) in links[i..].iter().zip(&mut targets) {
                // The dense remainder keeps its lower triangle: rows of the later node.
                let (a, b) = if first.closure && self.dense {
                    (second, first)
                } else {
                    (first, second)
                };
                let g = &scratch[a.offset - base..];
                let h = &blocks[b.offset - base..];
                let block = match target.offset.checked_sub(self.schur_offset) {
                    Some(place) => &mut half.schur[place..],
                    None => &mut later[target.offset - end..],
                };
                small::subtract_product([n, a.size, b.size], g, h, block, target.stride);
            }
        }
        found
    }

    /// Forward substitution of some steps. The rows of `rhs` begin with `start`; what closures
    /// get goes to `rest` if they are `APART`.
    pub fn forward<'a, const APART: bool>(
        &self,
        values: &[f64],
        steps: impl Iterator<Item = &'a Step>,
        rhs: &mut [f64],
        start: usize,
        rest: &mut [f64],
    ) {
        for step in steps {
            // Points have three rows.
            match step.size {
                3 => self.forward_step::<APART>((step, 3), values, rhs, start, rest),
                n => self.forward_step::<APART>((step, n), values, rhs, start, rest),
            }
        }
    }

    #[inline(always)]
    fn forward_step<const APART: bool>(
        &self,
        (step, n): (&Step, usize),
        values: &[f64],
        rhs: &mut [f64],
        start: usize,
        rest: &mut [f64],
    ) {
        let row = step.row - start;
        let pivot = &values[step.offset..step.offset + n * n];
        let mut z = [0.0; MAX_BLOCK];
        for (target, &value) in z.iter_mut().zip(&rhs[row..row + n]) {
            *target = flush(value);
        }
        small::solve_lower(n, pivot, &mut z);
        for (target, &value) in rhs[row..row + n].iter_mut().zip(&z) {
            *target = value;
        }
        for link in &self.links[step.links[0]..step.links[1]] {
            let block = &values[link.offset..link.offset + n * link.size];
            let target = if APART && link.closure {
                &mut rest[link.row..]
            } else {
                &mut rhs[link.row - start..]
            };
            small::subtract_transposed(n, link.size, block, &z, target);
        }
    }

    /// Backward substitution of some steps; see `forward`.
    pub fn backward<'a, const APART: bool>(
        &self,
        values: &[f64],
        steps: impl DoubleEndedIterator<Item = &'a Step>,
        rhs: &mut [f64],
        start: usize,
        rest: &[f64],
    ) {
        for step in steps.rev() {
            match step.size {
                3 => self.backward_step::<APART>((step, 3), values, rhs, start, rest),
                n => self.backward_step::<APART>((step, n), values, rhs, start, rest),
            }
        }
    }

    #[inline(always)]
    fn backward_step<const APART: bool>(
        &self,
        (step, n): (&Step, usize),
        values: &[f64],
        rhs: &mut [f64],
        start: usize,
        rest: &[f64],
    ) {
        let row = step.row - start;
        let pivot = &values[step.offset..step.offset + n * n];
        let mut x = [0.0; MAX_BLOCK];
        for (target, &value) in x.iter_mut().zip(&rhs[row..row + n]) {
            *target = value;
        }
        small::scale_by_inverse(n, pivot, &mut x);
        for link in &self.links[step.links[0]..step.links[1]] {
            let block = &values[link.offset..link.offset + n * link.size];
            let known = if APART && link.closure {
                &rest[link.row..]
            } else {
                &rhs[link.row - start..]
            };
            small::subtract_forward(n, link.size, block, known, &mut x);
        }
        small::solve_upper(n, pivot, &mut x);
        for (target, &value) in rhs[row..].iter_mut().zip(&x[..n]) {
            *target = flush(value);
        }
    }
}

impl Load {
    /// Copies the block to where it goes, among numbers that begin with `start`.
    fn copy(&self, source: &[f64], values: &mut [f64], start: usize) {
        let [rows, columns] = self.shape;
        let block = &source[self.from..self.from + rows * columns];
        let (first, stride) = (self.to.offset - start, self.to.stride);
        // Points have three rows; copying nine numbers need not call anything.
        if let ([3, 3], 3, Ok(block)) = (self.shape, stride, <&[f64; 9]>::try_from(block)) {
            let turned = [0, 3, 6, 1, 4, 7, 2, 5, 8].map(|k| block[k]);
            let copy = if self.transposed { &turned } else { block };
            for (target, value) in values[first..first + 9].iter_mut().zip(copy) {
                *target = *value;
            }
        } else if self.transposed {
            for (i, row) in block.chunks_exact(columns).enumerate() {
                for (j, value) in row.iter().enumerate() {
                    values[first + j * stride + i] = *value;
                }
            }
        } else if stride == columns {
            values[first..first + block.len()].copy_from_slice(block);
        } else {
            for (i, row) in block.chunks_exact(columns).enumerate() {
                let place = first + i * stride;
                values[place..place + columns].copy_from_slice(row);
            }
        }
    }
}

/// Influence that has decayed to nothing must not end in slow subnormal numbers.
#[inline(always)]
pub(super) fn flush(value: f64) -> f64 {
    if value.abs() < TINY { 0.0 } else { value }
}
