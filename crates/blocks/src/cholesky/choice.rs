//! Supernodes that a solve goes through: all, or those on the ways from a few rows to the root.

use super::Cholesky;
use super::forest::Forest;
use super::fronts::shape;
use super::halves::{TOP, parents};
use super::supernodes::Supernodes;

/// Some supernodes, ascending.
#[derive(Clone, Debug)]
pub(super) struct Ways {
    supernodes: Vec<u32>,
    /// Where those of each part begin, and the end.
    starts: [usize; TOP + 2],
    /// Numbers in their factors.
    pub stored: usize,
}

impl Ways {
    /// All of them.
    pub fn all(symbolic: &Supernodes, forest: &Forest) -> Ways {
        Ways {
            supernodes: (0..symbolic.n_supernodes() as u32).collect(),
            starts: forest.supernodes,
            stored: symbolic.len_val(),
        }
    }

    /// Those of one part.
    pub fn of(&self, part: usize) -> impl DoubleEndedIterator<Item = usize> {
        let range = self.starts[part]..self.starts[part + 1];
        self.supernodes[range].iter().map(|&s| s as usize)
    }
}

/// What it takes to choose rows.
#[derive(Clone, Debug)]
pub(super) struct Choice {
    pub ways: Ways,
    marked: Vec<bool>,
    /// The supernode of each row.
    supernode_of: Vec<u32>,
    parents: Vec<Option<usize>>,
}

impl Choice {
    /// Of nothing, for the rows in the order of elimination.
    pub fn new(symbolic: &Supernodes, forest: &Forest, rows: &[usize]) -> Choice {
        let count = symbolic.n_supernodes();
        let mut supernode_of = vec![0; rows.len()];
        for s in 0..count {
            for place in symbolic.supernode_begin()[s]..symbolic.supernode_end()[s] {
                supernode_of[rows[place]] = s as u32;
            }
        }
        Choice {
            ways: Ways::all(symbolic, forest),
            marked: vec![false; count],
            supernode_of,
            parents: parents(symbolic),
        }
    }
}

impl Cholesky {
    /// Chooses rows for `solve_chosen`.
    pub(crate) fn choose_rows(&mut self, rows: impl Iterator<Item = usize>) {
        let Choice {
            ways,
            marked,
            supernode_of,
            parents,
        } = &mut self.choice;
        marked.fill(false);
        for row in rows {
            let mut next = Some(supernode_of[row] as usize);
            while let Some(s) = next.filter(|&s| !marked[s]) {
                marked[s] = true;
                next = parents[s];
            }
        }
        ways.supernodes.clear();
        ways.stored = 0;
        for s in (0..marked.len()).filter(|&s| marked[s]) {
            let [width, below] = shape(&self.symbolic, s);
            ways.stored += width * (width + below);
            ways.supernodes.push(s as u32);
        }
        let start = |end: usize| ways.supernodes.partition_point(|&s| (s as usize) < end);
        ways.starts = self.forest.supernodes.map(start);
    }
}
