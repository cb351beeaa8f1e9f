//! The linear system of a step: contacts are eliminated, and what is left is factored.

use super::super::bead::{fill, sort_out, step_apart};
use super::super::block::{Block, invert};
use super::super::dense::triple;
use super::{Bead, Woven, add_to_nodes, at_nodes};

impl Woven {
    /// Factors `Y + Z D` for Y and Z of each contact. False if it is singular.
    pub(super) fn load(&mut self, softs: &[Block], slopes: &[Block]) -> bool {
        self.fronts.unload();
        self.solved.clear();
        self.pushing.clear();
        self.alone.clear();
        self.gains.clear();
        self.gains.resize(self.reaches.len(), 0.0);
        let mut beads = 0..self.beads.len();
        beads.all(|bead| self.eliminate(bead, softs, slopes)) && self.fronts.factor_loaded()
    }

    /// N and N Z B of a bead, and what it leaves on the nodes.
    fn eliminate(&mut self, index: usize, softs: &[Block], slopes: &[Block]) -> bool {
        let first = self.pushing.len();
        let Bead {
            first: contact,
            count,
            ..
        } = self.beads[index];
        let (softs, all) = (&softs[contact..contact + count], slopes);
        let slopes = &all[contact..contact + count];
        if !sort_out(softs, slopes, &mut self.pushing, &mut self.alone) {
            return false;
        }
        let start = self.solved.len();
        let bead = &mut self.beads[index];
        (bead.pushing, bead.active) = (first, self.pushing.len() - first);
        bead.solved = start;
        let bead = *bead;
        let size = 3 * bead.active;
        self.solved.resize(start + size * size, 0.0);
        let (own, pushing) = (&self.own[bead.own..], &self.pushing[first..]);
        fill(&mut self.solved[start..], own, pushing, softs, slopes);
        if !invert(&mut self.solved[start..], size, &mut self.swaps) {
            return false;
        }
        self.find_gains(&bead, all);
        self.take_from_nodes(&bead);
        true
    }

    /// N Z B of a bead.
    fn find_gains(&mut self, bead: &Bead, slopes: &[Block]) {
        let (size, width) = (3 * bead.active, bead.width);
        let pushing = &self.pushing[bead.pushing..];
        for (j, l) in pushing.iter().map(|l| *l as usize).enumerate() {
            let z = &slopes[bead.first + l];
            self.pulled.clear();
            self.pulled.resize(3 * width, 0.0);
            let reach = &self.reaches[bead.reaches + 3 * l * width..][..3 * width];
            add_product(&mut self.pulled, z, reach, width);
            for (i, k) in pushing.iter().map(|k| *k as usize).enumerate() {
                let at = bead.solved + 3 * i * size + 3 * j;
                let n: Block = std::array::from_fn(|e| self.solved[at + e / 3 * size + e % 3]);
                let gain = &mut self.gains[bead.reaches + 3 * k * width..][..3 * width];
                add_product(gain, &n, &self.pulled, width);
            }
        }
    }

    /// Takes Bᵀ N Z B of a bead from the nodes.
    fn take_from_nodes(&mut self, bead: &Bead) {
        let width = bead.width;
        let ties = &self.ties[bead.ties..][..bead.sides];
        for k in &self.pushing[bead.pushing..] {
            let at = bead.reaches + 3 * *k as usize * width;
            let (reach, gain) = (&self.reaches[at..], &self.gains[at..]);
            let (mut row, mut spots) = (0, self.spots[bead.spots..].iter());
            for a in ties {
                let mut column = 0;
                for (b, spot) in ties.iter().zip(spots.by_ref()) {
                    let left = [0, 1, 2].map(|i| &reach[i * width + row..][..a.columns as usize]);
                    let right =
                        [0, 1, 2].map(|i| &gain[i * width + column..][..b.columns as usize]);
                    self.fronts.load(*spot, left, right);
                    column += b.columns as usize;
                }
                row += a.columns as usize;
            }
        }
    }

    /// Overwrites r by what the factors say of δ. Leaves x at the nodes.
    pub(super) fn solve_linear(&mut self, r: &mut [f64]) {
        self.nodes.fill(0.0);
        let mut alone = self.alone.iter();
        for bead in &self.beads {
            let here = &mut r[3 * bead.first..][..3 * bead.count];
            let pushing = &self.pushing[bead.pushing..][..bead.active];
            if bead.active < bead.count {
                let own = &self.own[bead.own..];
                step_apart(
                    here,
                    own,
                    pushing,
                    &self.old[1][bead.first..],
                    alone.by_ref(),
                );
            }
            let size = 3 * bead.active;
            self.moved.clear();
            for row in self.solved[bead.solved..][..size * size].chunks_exact(size.max(1)) {
                let mut sum = 0.0;
                for (n, k) in row.chunks_exact(3).zip(pushing) {
                    let r = triple(here, *k as usize);
                    sum += n[0] * r[0] + n[1] * r[1] + n[2] * r[2];
                }
                self.moved.push(sum);
            }
            for (k, found) in pushing.iter().zip(self.moved.chunks_exact(3)) {
                here[3 * *k as usize..][..3].copy_from_slice(found);
            }
            let ties = &self.ties[bead.ties..][..bead.sides];
            for k in 0..bead.count {
                let reach = &self.reaches[bead.reaches + 3 * k * bead.width..][..3 * bead.width];
                let x = triple(here, k);
                if x != [0.0; 3] {
                    add_to_nodes(&mut self.nodes, &self.fronts, ties, reach, &x);
                }
            }
        }
        self.fronts.solve(&mut self.nodes);
        for bead in &self.beads {
            let ties = &self.ties[bead.ties..][..bead.sides];
            for k in &self.pushing[bead.pushing..][..bead.active] {
                let k = *k as usize;
                let gain = &self.gains[bead.reaches + 3 * k * bead.width..][..3 * bead.width];
                let more = at_nodes(&self.nodes, &self.fronts, ties, gain);
                for (r, more) in r[3 * (bead.first + k)..].iter_mut().zip(more) {
                    *r += more;
                }
            }
        }
    }

    /// Writes D δ for the δ that `solve_linear` has found.
    pub(super) fn answer(&self, delta: &[f64], answer: &mut [f64]) {
        for bead in &self.beads {
            let size = 3 * bead.count;
            let here = &delta[3 * bead.first..][..size];
            let ties = &self.ties[bead.ties..][..bead.sides];
            for k in 0..bead.count {
                let reach = &self.reaches[bead.reaches + 3 * k * bead.width..][..3 * bead.width];
                let back = at_nodes(&self.nodes, &self.fronts, ties, reach);
                for i in 0..3 {
                    let own = &self.own[bead.own + (3 * k + i) * size..][..size];
                    let alone: f64 = own.iter().zip(here).map(|(s, l)| s * l).sum();
                    answer[3 * (bead.first + k) + i] = alone - back[i];
                }
            }
        }
    }
}

/// Adds a block times three rows to three rows.
fn add_product(target: &mut [f64], block: &Block, rows: &[f64], width: usize) {
    for (i, line) in target.chunks_exact_mut(width.max(1)).enumerate() {
        let b = &block[3 * i..3 * i + 3];
        for (j, x) in line.iter_mut().enumerate() {
            *x += b[0] * rows[j] + b[1] * rows[width + j] + b[2] * rows[2 * width + j];
        }
    }
}
