//! Which contacts can be solved at once: those that share no body.

use super::batch::Batch;
use super::movers::FIXED;
use super::rows::ContactRow;
use crate::math::lanes::LANES;

/// Contacts of loose bodies up to which there are no batches. So few can be solved as one dense
/// problem, and what sweeps find in the order of the contacts, from the ground up, is the better
/// start for it.
const FEW: usize = 160;

/// Which contacts can be solved together: each has the first colour that none of its bodies has.
#[derive(Debug, Default)]
pub(super) struct Colours {
    /// The colours that each mover has, as bits.
    taken: Vec<u128>,
    /// The colour of each row, or NONE.
    of: Vec<u8>,
    /// Where the next row of a colour goes, in lanes.
    next: Vec<usize>,
}

impl Colours {
    const NONE: u8 = u8::MAX;

    /// Colours all rows that batches take; returns how many lanes they need.
    pub fn find(&mut self, rows: &[ContactRow], movers: usize) -> usize {
        self.taken.clear();
        self.taken.resize(movers, 0);
        self.next.clear();
        self.of.clear();
        self.of.resize(rows.len(), Colours::NONE);
        if rows.iter().filter(|row| Batch::takes(row)).count() < FEW {
            return 0;
        }
        for (row, colour) in rows.iter().zip(&mut self.of) {
            if !Batch::takes(row) {
                continue;
            }
            let sides = [row.a.mover, row.b.mover].map(|m| (m != FIXED).then_some(m as usize));
            let seen = |side: &Option<usize>| side.map_or(0, |m| self.taken[m]);
            let first = (seen(&sides[0]) | seen(&sides[1])).trailing_ones();
            if first < u128::BITS {
                for mover in sides.into_iter().flatten() {
                    self.taken[mover] |= 1 << first;
                }
                *colour = first as u8;
                if self.next.len() <= first as usize {
                    self.next.resize(first as usize + 1, 0);
                }
                self.next[first as usize] += 1;
            }
        }
        // From how many there are to where they start, every colour in batches of its own.
        let mut start = 0;
        for next in &mut self.next {
            start += std::mem::replace(next, start).next_multiple_of(LANES);
        }
        start
    }

    /// The lane of a row; each row is asked for once, in order.
    pub fn place(&mut self, row: usize) -> Option<usize> {
        let colour = self.of[row];
        (colour != Colours::NONE).then(|| {
            let next = &mut self.next[colour as usize];
            *next += 1;
            *next - 1
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::sweep::tests::heap;
    use super::*;
    use crate::math::numbers::Numbers;

    #[test]
    fn no_two_contacts_of_a_batch_share_a_body() {
        let (movers, rows) = heap(&mut Numbers(3));
        let mut colours = Colours::default();
        colours.find(&rows, movers.all.len());
        let mut users = std::collections::BTreeSet::new();
        let mut places = std::collections::BTreeSet::new();
        for (index, row) in rows.iter().enumerate() {
            let Some(lane) = colours.place(index) else {
                continue;
            };
            let batch = lane / LANES;
            assert!(places.insert(lane));
            for mover in [row.a.mover, row.b.mover] {
                assert!(mover == FIXED || users.insert((batch, mover)));
            }
        }
        assert_eq!(places.len(), 240 - 27);
    }
}
