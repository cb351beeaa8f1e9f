//! The linear system of a step: contacts are eliminated, the net is factored.

use super::super::bead::{fill, sort_out, step_apart};
use super::super::block::{Block, invert, product, subtract};
use super::super::dense::triple;
use super::{Bead, Netted, add_to_nodes, at_nodes};

impl Netted {
    /// Makes `(Y + Z D) δ = r` ready to be solved, with Y and Z of each contact. False if it is
    /// singular.
    pub(super) fn load(&mut self, softs: &[Block], slopes: &[Block]) -> bool {
        self.mesh.unload();
        self.solved.clear();
        self.pushing.clear();
        self.alone.clear();
        self.gains.clear();
        self.gains.resize(self.reaches.len(), [0.0; 9]);
        let mut beads = 0..self.beads.len();
        beads.all(|bead| self.eliminate(bead, softs, slopes)) && self.mesh.factor_loaded()
    }

    /// N and N Z B of a link, and what it leaves on the net.
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
        let bead = &mut self.beads[index];
        (bead.pushing, bead.active) = (first, self.pushing.len() - first);
        let bead = *bead;
        let size = 3 * bead.active;
        let start = self.solved.len();
        self.solved.resize(start + size * size, 0.0);
        let (own, pushing) = (&self.own[bead.own..], &self.pushing[first..]);
        fill(&mut self.solved[start..], own, pushing, softs, slopes);
        if !invert(&mut self.solved[start..], size, &mut self.swaps) {
            return false;
        }
        self.find_gains(&bead, start, all);
        self.take_from_net(&bead);
        true
    }

    /// N Z B of a link.
    fn find_gains(&mut self, bead: &Bead, start: usize, slopes: &[Block]) {
        let size = 3 * bead.active;
        let pushing = &self.pushing[bead.pushing..];
        for (j, l) in pushing.iter().map(|l| *l as usize).enumerate() {
            let z = &slopes[bead.first + l];
            for side in 0..bead.sides {
                let pushed = product(z, &self.reaches[bead.reaches + l * bead.sides + side]);
                for (i, k) in pushing.iter().map(|k| *k as usize).enumerate() {
                    let at = start + 3 * i * size + 3 * j;
                    let n: Block = std::array::from_fn(|e| self.solved[at + e / 3 * size + e % 3]);
                    let gain = &mut self.gains[bead.reaches + k * bead.sides + side];
                    for (g, p) in gain.iter_mut().zip(product(&n, &pushed)) {
                        *g += p;
                    }
                }
            }
        }
    }

    /// Takes Bᵀ N Z B of a link from the net.
    fn take_from_net(&mut self, bead: &Bead) {
        for k in &self.pushing[bead.pushing..] {
            let at = bead.reaches + *k as usize * bead.sides;
            let (reaches, gains) = (&self.reaches[at..], &self.gains[at..]);
            let mut pair = bead.pairs;
            for i in 0..bead.sides {
                let place = self.ties[bead.ties + i];
                subtract(self.mesh.own(place), &reaches[i], &gains[i]);
                for j in i + 1..bead.sides {
                    let (coupling, ahead) = self.pairs[pair];
                    let there = self.mesh.mutual((coupling, ahead));
                    subtract(there, &reaches[i], &gains[j]);
                    let back = self.mesh.mutual((coupling, !ahead));
                    subtract(back, &reaches[j], &gains[i]);
                    pair += 1;
                }
            }
        }
    }

    /// Overwrites r by δ.
    pub(super) fn solve_linear(&mut self, slopes: &[Block], r: &mut [f64]) {
        self.mesh.clear(&mut self.nodes);
        let (mut at, mut alone) = (0, self.alone.iter());
        for bead in &self.beads {
            let here = &mut r[3 * bead.first..][..3 * bead.count];
            let pushing = &self.pushing[bead.pushing..][..bead.active];
            if bead.active < bead.count {
                let own = &self.own[bead.own..];
                step_apart(here, own, pushing, &slopes[bead.first..], alone.by_ref());
            }
            let size = 3 * bead.active;
            self.moved.clear();
            for row in self.solved[at..at + size * size].chunks_exact(size.max(1)) {
                let mut sum = 0.0;
                for (n, k) in row.chunks_exact(3).zip(pushing) {
                    let r = triple(here, *k as usize);
                    sum += n[0] * r[0] + n[1] * r[1] + n[2] * r[2];
                }
                self.moved.push(sum);
            }
            at += size * size;
            for (k, found) in pushing.iter().zip(self.moved.chunks_exact(3)) {
                here[3 * *k as usize..][..3].copy_from_slice(found);
            }
            let ties = &self.ties[bead.ties..][..bead.sides];
            for k in 0..bead.count {
                let reaches = &self.reaches[bead.reaches + k * bead.sides..];
                add_to_nodes(&mut self.nodes, ties, reaches, &triple(here, k));
            }
        }
        self.mesh.solve(true, &mut self.nodes);
        for bead in &self.beads {
            let ties = &self.ties[bead.ties..][..bead.sides];
            for k in &self.pushing[bead.pushing..][..bead.active] {
                let k = *k as usize;
                let gains = &self.gains[bead.reaches + k * bead.sides..];
                let more = at_nodes(&self.nodes, ties, gains);
                for (r, more) in r[3 * (bead.first + k)..].iter_mut().zip(more) {
                    *r += more;
                }
            }
        }
    }
}
