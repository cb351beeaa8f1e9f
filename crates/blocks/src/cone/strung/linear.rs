//! The linear system of a step: contacts are eliminated, the chain is factored.

use super::super::block::{Block, IDENTITY, inverse, invert, times};
use super::super::dense::triple;
use super::border::Pulls;
use super::rows::{LANES, NOTHING, add_product, add_turned, product, rows};
use super::{Bead, Strung, add_moved, add_to_nodes, at_nodes, take_moved};

impl Strung {
    /// Makes `(Y + Z D) δ = r` ready to be solved, with Y and Z of each contact. False if it is
    /// singular.
    #[inline(always)]
    pub(super) fn load(&mut self, softs: &[Block], slopes: &[Block]) -> bool {
        self.solved.resize(self.own.len(), 0.0);
        self.gains.resize(self.reaches.len(), [NOTHING; 2]);
        self.pulls.resize(self.sways.len(), NOTHING);
        self.idle.clear();
        if self.rides {
            return self.load_ride(softs, slopes);
        }
        self.loaded.copy(&self.alone);
        for bead in 0..self.beads.len() {
            match self.find_gains(bead, softs, slopes) {
                Some(true) => self.put_gains(bead),
                Some(false) => {}
                None => return false,
            }
        }
        let pulls = Pulls {
            idle: &self.idle,
            lots: &self.lots,
            reaches: &self.reaches,
            sways: &self.sways,
            pulls: &self.pulls,
            gains: &self.gains,
        };
        self.border.factor(&self.loaded, &self.beads, &pulls)
    }

    /// Finds N, N Z B and N Z V of a link. Says whether it pushes the chain, or nothing if N is not there.
    #[inline(always)]
    pub(super) fn find_gains(
        &mut self,
        index: usize,
        softs: &[Block],
        slopes: &[Block],
    ) -> Option<bool> {
        let bead = self.beads[index];
        let contacts = bead.first..bead.first + bead.count;
        let idle = slopes[contacts.clone()].iter().all(|z| *z == [0.0; 9]);
        self.idle.push(idle);
        if idle {
            let numbers = (bead.own..).step_by(9);
            let sound = softs[contacts]
                .iter()
                .zip(numbers)
                .all(|(y, at)| self.leave(at, y));
            return sound.then_some(false);
        }
        // The compiler unrolls what is of a known size.
        let sound = match bead.count {
            1 => self.eliminate_one(&bead, &softs[bead.first], &slopes[bead.first]),
            2 => self.eliminate_some(Bead { count: 2, ..bead }, softs, slopes),
            _ => self.eliminate_some(bead, softs, slopes),
        };
        sound.then_some(true)
    }

    /// Takes from the chain what the contacts of a link answer.
    #[inline(always)]
    fn put_gains(&mut self, index: usize) {
        let Bead {
            node, first, count, ..
        } = self.beads[index];
        for k in first..first + count {
            let ([a, b], [p, q]) = (&self.reaches[k], &self.gains[k]);
            add_turned(&mut self.loaded.diagonal[node], -1.0, a, p);
            if node + 1 < self.loaded.len() {
                add_turned(&mut self.loaded.upper[node], -1.0, a, q);
                add_turned(&mut self.loaded.lower[node], -1.0, b, p);
                add_turned(&mut self.loaded.diagonal[node + 1], -1.0, b, q);
            }
        }
    }

    /// N of a contact that is apart, which does not push the chain.
    #[inline(always)]
    fn leave(&mut self, at: usize, y: &Block) -> bool {
        // As Newton's method has it.
        let found = if *y == IDENTITY { Some(*y) } else { inverse(y) };
        if let (Some(found), Some(to)) = (&found, self.solved[at..].first_chunk_mut()) {
            *to = *found;
        }
        found.is_some()
    }

    #[inline(always)]
    fn eliminate_some(&mut self, bead: Bead, softs: &[Block], slopes: &[Block]) -> bool {
        let size = 3 * bead.count;
        let solved = &mut self.solved[bead.own..][..size * size];
        let sides = if self.rides { 0 } else { bead.sides };
        self.pulls[bead.sways..][..sides * bead.count].fill(NOTHING);
        solved.fill(0.0);
        // Y + Z S.
        for k in 0..bead.count {
            let z = &slopes[bead.first + k];
            let y = &softs[bead.first + k];
            for r in 0..3 {
                let row = &mut solved[(3 * k + r) * size..][..size];
                for q in 0..3 {
                    let own = &self.own[bead.own + (3 * k + q) * size..][..size];
                    for (x, s) in row.iter_mut().zip(own) {
                        *x += z[3 * r + q] * s;
                    }
                    row[3 * k + q] += y[3 * r + q];
                }
            }
        }
        if !invert(solved, size, &mut self.swaps) {
            return false;
        }
        for k in 0..bead.count {
            let mut gain = [NOTHING; 2];
            let pulls = bead.sways + k * bead.sides;
            for l in 0..bead.count {
                let n: Block =
                    std::array::from_fn(|e| solved[(3 * k + e / 3) * size + 3 * l + e % 3]);
                let nz = product(&rows(&n), &rows(&slopes[bead.first + l]));
                for (gain, reach) in gain.iter_mut().zip(&self.reaches[bead.first + l]) {
                    add_product(gain, &nz, reach);
                }
                for side in 0..sides {
                    let sway = &self.sways[bead.sways + l * bead.sides + side];
                    add_product(&mut self.pulls[pulls + side], &nz, sway);
                }
            }
            self.gains[bead.first + k] = gain;
        }
        true
    }

    /// The same for a link with one contact, which most have.
    #[inline(always)]
    fn eliminate_one(&mut self, bead: &Bead, y: &Block, z: &Block) -> bool {
        let Some(own) = self.own[bead.own..].first_chunk::<9>() else {
            return false;
        };
        let z = rows(z);
        let loaded = product(&z, &rows(own));
        let Some(n) = inverse(&std::array::from_fn(|e| loaded[e / 3][e % 3] + y[e])) else {
            return false;
        };
        self.solved[bead.own..][..9].copy_from_slice(&n);
        let nz = product(&rows(&n), &z);
        if !self.rides {
            for at in bead.sways..bead.sways + bead.sides {
                self.pulls[at] = product(&nz, &self.sways[at]);
            }
        }
        let [one, two] = &self.reaches[bead.first];
        self.gains[bead.first] = [product(&nz, one), product(&nz, two)];
        true
    }

    /// Overwrites r by N r of each link.
    #[inline(always)]
    pub(super) fn step_alone(&mut self, r: &mut [f64]) {
        for (bead, idle) in self.beads.iter().zip(&self.idle) {
            let size = 3 * bead.count;
            let here = &mut r[3 * bead.first..][..size];
            let solved = &self.solved[bead.own..][..size * size];
            if *idle || bead.count == 1 {
                let alone = solved.as_chunks::<9>().0;
                let here = here.as_chunks_mut::<3>().0.iter_mut();
                for (here, n) in here.zip(alone).filter(|(here, _)| **here != [0.0; 3]) {
                    *here = times(n, here);
                }
            } else {
                for (row, moved) in solved.chunks_exact(size).zip(&mut self.moved) {
                    *moved = row.iter().zip(here.iter()).map(|(n, r)| n * r).sum();
                }
                here.copy_from_slice(&self.moved[..size]);
            }
        }
    }

    /// Overwrites r by δ of the system that was loaded.
    #[inline(always)]
    pub(super) fn solve_linear(&mut self, r: &mut [f64]) {
        if self.rides {
            return self.solve_ride(r);
        }
        self.step_alone(r);
        self.nodes.fill(0.0);
        let values = self.border.values();
        values.fill([0.0; LANES]);
        for bead in &self.beads {
            for k in 0..bead.count {
                let y = triple(r, bead.first + k);
                if y == [0.0; 3] {
                    continue;
                }
                add_to_nodes(
                    &mut self.nodes,
                    bead.node,
                    &self.reaches[bead.first + k],
                    &y,
                );
                for side in 0..bead.sides {
                    let sway = &self.sways[bead.sways + k * bead.sides + side];
                    add_moved(&mut values[self.lots[bead.lots + side] as usize], sway, &y);
                }
            }
        }
        self.border.solve(&self.loaded, &mut self.nodes);
        let values = self.border.values();
        let pushing = self
            .beads
            .iter()
            .zip(&self.idle)
            .filter(|(_, idle)| !**idle);
        for (bead, _) in pushing {
            for k in 0..bead.count {
                let contact = bead.first + k;
                let mut more = at_nodes(&self.nodes, bead.node, &self.gains[contact]);
                for side in 0..bead.sides {
                    let pull = &self.pulls[bead.sways + k * bead.sides + side];
                    let value = &values[self.lots[bead.lots + side] as usize];
                    take_moved(&mut more, pull, value);
                }
                for i in 0..3 {
                    r[3 * contact + i] += more[i];
                }
            }
        }
    }
}
