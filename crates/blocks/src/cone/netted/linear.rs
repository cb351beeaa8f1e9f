//! The linear system of a step: contacts are eliminated, the net is factored.

use super::super::block::{Block, invert, product, subtract};
use super::super::dense::triple;
use super::{Bead, Netted, add_to_nodes, at_nodes};

impl Netted {
    /// Makes `(Y + Z D) δ = r` ready to be solved, with Y and Z of each contact. False if it is
    /// singular.
    pub(super) fn load(&mut self, softs: &[Block], slopes: &[Block]) -> bool {
        self.mesh.unload();
        self.solved.clear();
        self.gains.clear();
        self.gains.resize(self.reaches.len(), [0.0; 9]);
        let mut beads = 0..self.beads.len();
        beads.all(|bead| self.eliminate(bead, softs, slopes)) && self.mesh.factor_loaded()
    }

    /// N and N Z B of a link, and what it leaves on the net.
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
        for l in 0..bead.count {
            let z = &slopes[bead.first + l];
            // What is apart does not push the net.
            if *z == [0.0; 9] {
                continue;
            }
            for side in 0..bead.sides {
                let pushed = product(z, &self.reaches[bead.reaches + l * bead.sides + side]);
                for k in 0..bead.count {
                    let n: Block = std::array::from_fn(|e| {
                        self.solved[start + (3 * k + e / 3) * size + 3 * l + e % 3]
                    });
                    let gain = &mut self.gains[bead.reaches + k * bead.sides + side];
                    for (g, p) in gain.iter_mut().zip(product(&n, &pushed)) {
                        *g += p;
                    }
                }
            }
        }
        self.take_from_net(&bead);
        true
    }

    /// Takes Bᵀ N Z B of a link from the net.
    fn take_from_net(&mut self, bead: &Bead) {
        for k in 0..bead.count {
            let at = bead.reaches + k * bead.sides;
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
    pub(super) fn solve_linear(&mut self, r: &mut [f64]) {
        self.mesh.clear(&mut self.nodes);
        let mut at = 0;
        for bead in &self.beads {
            let size = 3 * bead.count;
            let here = &mut r[3 * bead.first..][..size];
            self.moved.clear();
            for row in self.solved[at..at + size * size].chunks_exact(size) {
                let sum = row.iter().zip(here.iter()).map(|(n, r)| n * r).sum();
                self.moved.push(sum);
            }
            here.copy_from_slice(&self.moved);
            at += size * size;
            let ties = &self.ties[bead.ties..][..bead.sides];
            for k in 0..bead.count {
                let reaches = &self.reaches[bead.reaches + k * bead.sides..];
                add_to_nodes(&mut self.nodes, ties, reaches, &triple(here, k));
            }
        }
        self.mesh.solve(true, &mut self.nodes);
        for bead in &self.beads {
            let ties = &self.ties[bead.ties..][..bead.sides];
            for k in 0..bead.count {
                let gains = &self.gains[bead.reaches + k * bead.sides..];
                let more = at_nodes(&self.nodes, ties, gains);
                for (r, more) in r[3 * (bead.first + k)..].iter_mut().zip(more) {
                    *r += more;
                }
            }
        }
    }
}
