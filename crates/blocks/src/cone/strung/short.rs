//! A chain as those of its nodes feel it that contacts push.
//!
//! A contact that is apart does not push, and most are while a belt leaves a pulley. The nodes between
//! those that are held, as they may be pushed, are eliminated once for all steps of a solve,
//!
//! ```text
//! A_hh − A_hi A_ii⁻¹ A_ih
//! ```
//!
//! which couples neighbours only, and follow afterwards. What is held once stays so: contacts that let go
//! push for a step more, and some come back.

use super::Bead;
use super::rows::{
    Blocks, LANES, Lanes, NOTHING, Rows, first_three, inverse_of, product, take, times_turned,
    turned,
};

/// A node between two that are held: what of it is taken from the one before and from the next node, column
/// by column of what these make of it.
#[derive(Clone, Copy, Debug, Default)]
struct Inner {
    before: Rows,
    next: Rows,
}

/// A chain, shortened.
#[derive(Clone, Debug, Default)]
pub(super) struct Short {
    /// Whether a bead is held.
    held: Vec<bool>,
    /// The nodes that are held, and A of them.
    pub nodes: Vec<u32>,
    pub blocks: Blocks,
    /// Of each node of the chain, if it is not held.
    inner: Vec<Inner>,
    made: bool,
}

impl Short {
    /// Holds nothing of so many beads.
    pub fn clear(&mut self, beads: usize) {
        self.held.clear();
        self.held.resize(beads, false);
        self.made = false;
    }

    /// Whether a bead is held.
    pub fn holds(&self, bead: usize) -> bool {
        self.held[bead]
    }

    /// Holds a bead from now on.
    pub fn hold(&mut self, bead: usize) {
        self.made &= self.held[bead];
        self.held[bead] = true;
    }

    /// Whether all that is not held is eliminated.
    pub fn is_made(&self) -> bool {
        self.made
    }

    /// Eliminates what is not held, if that was not done. Says whether it had to, or nothing if a pivot
    /// vanishes.
    #[inline(always)]
    pub fn make(&mut self, chain: &Blocks, beads: &[Bead]) -> Option<bool> {
        if self.made {
            return Some(false);
        }
        self.find_nodes(chain.len(), beads);
        self.blocks.clear();
        self.inner.resize(chain.len(), Inner::default());
        let mut carried = NOTHING;
        let first = self.nodes.first().map_or(chain.len(), |n| *n as usize);
        // What lies before the first one goes with nothing.
        self.eliminate(chain, 0..first, &mut carried, None)?;
        for k in 0..self.nodes.len() {
            let at = self.nodes[k] as usize;
            let end = self.nodes.get(k + 1).map_or(chain.len(), |n| *n as usize);
            let mut own = chain.diagonal[at];
            own.iter_mut().zip(&carried).for_each(|(a, b)| take(a, b));
            let mut upper = chain.upper[at];
            carried = NOTHING;
            let ends = Some((&mut own, &mut upper));
            self.eliminate(chain, at + 1..end, &mut carried, ends)?;
            self.blocks.diagonal.push(own);
            self.blocks.upper.push(upper);
            self.blocks.lower.push(turned(&upper));
        }
        self.made = true;
        Some(true)
    }

    fn find_nodes(&mut self, count: usize, beads: &[Bead]) {
        self.nodes.clear();
        for (bead, _) in beads.iter().zip(&self.held).filter(|(_, held)| **held) {
            for node in [bead.node, bead.node + 1] {
                if node < count && self.nodes.last().is_none_or(|last| (*last as usize) < node) {
                    self.nodes.push(node as u32);
                }
            }
        }
    }

    /// Eliminates some nodes, one after the other: `carried` is what the next one loses by that, and `before`
    /// A of the node before them with itself and with the next one.
    #[inline(always)]
    fn eliminate(
        &mut self,
        chain: &Blocks,
        nodes: std::ops::Range<usize>,
        carried: &mut Rows,
        mut before: Option<(&mut Rows, &mut Rows)>,
    ) -> Option<()> {
        for node in nodes {
            let mut own = chain.diagonal[node];
            own.iter_mut().zip(&*carried).for_each(|(a, b)| take(a, b));
            let pivot = inverse_of(&own)?;
            let gain = product(&chain.lower[node], &pivot);
            *carried = product(&gain, &chain.upper[node]);
            let mut through = NOTHING;
            if let Some((own, upper)) = &mut before {
                through = product(upper, &pivot);
                let taken = product(&through, &turned(upper));
                own.iter_mut().zip(&taken).for_each(|(a, b)| take(a, b));
                **upper = product(&through, &chain.upper[node]).map(|row| row.map(|x| -x));
            }
            self.inner[node] = Inner {
                before: through,
                next: gain,
            };
        }
        Some(())
    }

    /// Finds how nodes that are not held move from how those do that are. There is room for one behind the
    /// last.
    #[inline(always)]
    pub fn follow(&self, values: &mut [Lanes]) {
        let mut end = self.inner.len();
        values[end] = [0.0; LANES];
        for at in self.nodes.iter().rev() {
            let at = *at as usize;
            let before = first_three(&values[at]);
            for node in (at + 1..end).rev() {
                let inner = &self.inner[node];
                let next = first_three(&values[node + 1]);
                let one = times_turned(&inner.before, &before);
                let two = times_turned(&inner.next, &next);
                values[node] = std::array::from_fn(|lane| -(one[lane] + two[lane]));
            }
            end = at;
        }
        for node in (0..end).rev() {
            let next = first_three(&values[node + 1]);
            values[node] = times_turned(&self.inner[node].next, &next).map(|x| -x);
        }
    }
}
