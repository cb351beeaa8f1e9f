//! Which contacts can be solved at once: those that share no body.
//!
//! The contacts of one pair of bodies are solved one after the other in the same lane. Pairs are
//! coloured in their order: each takes the first colour that none of its bodies, nor what answers
//! with them, has yet. Within a colour eight pairs with about as many contacts make a run, as many
//! batches as the first of them has contacts. Runs of loose bodies and those in which joints hold
//! some are apart.

use super::batch::Batch;
use super::movers::{FIXED, Movers};
use super::rows::ContactRow;
use crate::math::lanes::LANES;

/// Contacts of loose bodies up to which there are no batches. So few can be solved as one dense
/// problem, and what sweeps find in the order of the contacts, from the ground up, is the better
/// start for it.
const FEW: usize = 160;
/// Contacts of a pair at most; more make another pair of the same bodies.
const MOST: u64 = 15;

/// Gap, m, from which on a contact without force is left aside until it closes, where joints hold
/// bodies: sweeps are dear there.
const AWAY: f64 = 1e-4;

/// Batches that follow each other with the same bodies.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    pub depth: u32,
    pub held: bool,
}

/// Which contacts are solved together, and in which order.
#[derive(Debug, Default)]
pub(super) struct Colours {
    /// The colours that each mover has, or the first of those that answer together, as bits.
    taken: Vec<u128>,
    /// Of each pair, as bits: its colour, whether joints hold a body of it, by how many contacts it
    /// is short of the most, and which of the near rows is its first. So they are in the order in
    /// which they are solved.
    pairs: Vec<u64>,
    /// The row of each lane of the batches, or FIXED.
    pub order: Vec<u32>,
    /// Batches of each run, and whether joints hold a body of it.
    pub runs: Vec<Run>,
    /// Rows that no batch takes, ascending.
    pub rest: Vec<u32>,
    /// Rows that are so far from closing that they are left out, and all others.
    pub aside: Vec<u32>,
    near: Vec<u32>,
}

impl Colours {
    /// Deals all rows into batches, or leaves them over.
    pub fn find(&mut self, rows: &[ContactRow], movers: &Movers) {
        self.taken.clear();
        self.taken.resize(movers.all.len(), 0);
        self.rest.clear();
        self.pairs.clear();
        self.aside.clear();
        self.near.clear();
        let taken = rows.iter().filter(|row| Batch::takes(row, movers));
        if taken.take(FEW).count() < FEW {
            self.rest.extend(0..rows.len() as u32);
        } else {
            let held = movers.hold_mechanisms();
            for (index, row) in rows.iter().enumerate() {
                let to = if held && is_away(row, movers) {
                    &mut self.aside
                } else {
                    &mut self.near
                };
                to.push(index as u32);
            }
            self.colour(rows, movers);
        }
        self.order.clear();
        self.runs.clear();
        self.line_up();
    }

    /// Deals the rows that were left aside and are no longer far from closing into batches of their
    /// own, after all others.
    pub fn join(&mut self, rows: &[ContactRow], movers: &Movers) {
        self.taken.fill(0);
        self.pairs.clear();
        self.near.clear();
        let near = &mut self.near;
        self.aside.retain(|&index| {
            let away = is_away(&rows[index as usize], movers);
            if !away {
                near.push(index);
            }
            away
        });
        self.colour(rows, movers);
        self.rest.sort_unstable();
        self.line_up();
    }

    /// Finds the pairs and their colours.
    fn colour(&mut self, rows: &[ContactRow], movers: &Movers) {
        let sides = |row: &ContactRow| [row.a.mover, row.b.mover];
        let takes = |row: &ContactRow| Batch::takes(row, movers);
        let same = |p: &u32, q: &u32| {
            let (p, q) = (&rows[*p as usize], &rows[*q as usize]);
            sides(p) == sides(q) && takes(p) && takes(q)
        };
        let mut first = 0;
        let pairs = self.near.chunk_by(same);
        for pair in pairs.flat_map(|c| c.chunks(MOST as usize)) {
            let row = &rows[pair[0] as usize];
            let roots = sides(row).map(|m| match m {
                FIXED => FIXED,
                m => movers.root(m),
            });
            let seen = |m: u32| match m {
                FIXED => 0,
                m => self.taken[m as usize],
            };
            let colour = (seen(roots[0]) | seen(roots[1])).trailing_ones();
            let count = pair.len() as u32;
            if colour < u128::BITS && takes(row) {
                for root in roots.into_iter().filter(|m| *m != FIXED) {
                    self.taken[root as usize] |= 1 << colour;
                }
                let held = u64::from(!row.is_loose());
                let (colour, short) = (u64::from(colour), MOST - u64::from(count));
                self.pairs
                    .push(colour << 41 | held << 40 | short << 32 | u64::from(first));
            } else {
                self.rest.extend(pair);
            }
            first += count;
        }
    }

    /// Gives each pair its lane.
    fn line_up(&mut self) {
        self.pairs.sort_unstable();
        let count = |pair: u64| (MOST - (pair >> 32 & 0xff)) as usize;
        let alike = self.pairs.chunk_by(|p, q| p >> 40 == q >> 40);
        for run in alike.flat_map(|pairs| pairs.chunks(LANES)) {
            let (start, depth) = (self.order.len(), count(run[0]));
            self.runs.push(Run {
                depth: depth as u32,
                held: run[0] >> 40 & 1 == 1,
            });
            self.order.resize(start + LANES * depth, FIXED);
            for (lane, &pair) in run.iter().enumerate() {
                for k in 0..count(pair) {
                    let row = self.near[pair as u32 as usize + k];
                    self.order[start + LANES * k + lane] = row;
                }
            }
        }
    }
}

/// Whether a contact does not push and is far from closing.
fn is_away(row: &ContactRow, movers: &Movers) -> bool {
    row.lambda == [0.0; 3] && row.slip(&movers.all)[0] > AWAY
}

#[cfg(test)]
mod tests {
    use super::super::sweep::tests::heap;
    use super::*;
    use crate::math::numbers::Numbers;
    use std::collections::BTreeSet;

    #[test]
    fn no_two_contacts_of_a_run_share_a_body_but_those_of_a_pair() {
        let (movers, rows) = heap(&mut Numbers(3));
        let mut colours = Colours::default();
        colours.find(&rows, &movers);
        let mut batches = colours.order.chunks_exact(LANES);
        let mut places = BTreeSet::new();
        for run in &colours.runs {
            let mut users = [const { BTreeSet::new() }; LANES];
            for batch in batches.by_ref().take(run.depth as usize) {
                for (lane, &index) in batch.iter().enumerate().filter(|(_, k)| **k != FIXED) {
                    assert!(places.insert(index));
                    let row = &rows[index as usize];
                    let sides = [row.a.mover, row.b.mover].into_iter();
                    users[lane].extend(sides.filter(|m| *m != FIXED));
                }
            }
            let all: BTreeSet<u32> = users.iter().flatten().copied().collect();
            assert!(users.iter().all(|own| own.len() <= 2));
            assert_eq!(all.len(), users.iter().map(BTreeSet::len).sum::<usize>());
        }
        assert!(batches.next().is_none());
        assert_eq!((places.len(), colours.rest.len()), (240 - 27, 27));
    }
}
