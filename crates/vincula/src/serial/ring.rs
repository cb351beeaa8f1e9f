//! What is found of the bodies that a pass is at, in either half, and forgotten after it.

use super::shape::Found;

/// Blocks of a half that are remembered: more than a pass has visited on the left before it first
/// looks at the right.
pub(super) const KEPT: usize = 32;

/// The last blocks of both halves.
pub(super) struct Ring {
    found: Vec<Found>,
    kept: usize,
    count: usize,
    split: usize,
}

impl Ring {
    /// Of some blocks, of which those from `split` on are the right half.
    pub fn new(count: usize, split: usize) -> Ring {
        let kept = count.min(KEPT);
        Ring {
            found: vec![Found::NONE; 2 * kept],
            kept,
            count,
            split,
        }
    }

    /// Whether nothing is ever forgotten.
    pub fn keeps_all(&self) -> bool {
        self.kept == self.count
    }

    /// Where a block is while it is remembered.
    #[inline(always)]
    pub fn place(&self, block: usize) -> usize {
        usize::from(block >= self.split) * self.kept + block % self.kept
    }

    /// What was found of a block.
    pub fn of(&self, block: usize) -> &Found {
        &self.found[self.place(block)]
    }

    /// The same, to be found.
    pub fn of_mut(&mut self, block: usize) -> &mut Found {
        let place = self.place(block);
        &mut self.found[place]
    }

    /// A block, and the ones before and after it if there are any.
    #[inline(always)]
    pub fn around(&mut self, block: usize) -> (&mut Found, [Option<&Found>; 2]) {
        let own = self.place(block);
        let last = block.checked_sub(1).map(|last| self.place(last));
        let next = (block + 1 < self.count).then(|| self.place(block + 1));
        const APART: &str = "blocks beside each other have places of their own";
        let found = &mut self.found;
        match (last, next) {
            (Some(last), Some(next)) => {
                let [last, own, next] = found.get_disjoint_mut([last, own, next]).expect(APART);
                (own, [Some(last), Some(next)])
            }
            (Some(last), None) => {
                let [last, own] = found.get_disjoint_mut([last, own]).expect(APART);
                (own, [Some(last), None])
            }
            (None, Some(next)) => {
                let [own, next] = found.get_disjoint_mut([own, next]).expect(APART);
                (own, [None, Some(next)])
            }
            (None, None) => (&mut found[own], [None, None]),
        }
    }
}
