//! The tree of supernodes as the numeric factorization walks through it.

use super::halves::{TOP, parents};
use super::supernodes::Supernodes;

/// Rows of a supernode that lie next to each other in the front of its parent too.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    pub from: usize,
    pub to: usize,
    pub length: usize,
}

/// What a supernode leaves to its parent, and where that is kept until then.
#[derive(Clone, Copy, Debug)]
pub(super) struct Update {
    pub part: usize,
    /// Even and odd depths of the tree have a stack each, so that a supernode never writes
    /// where it reads.
    pub stack: usize,
    pub offset: usize,
}

/// The tree, its parts and the memory plan.
#[derive(Clone, Debug)]
pub(super) struct Forest {
    /// Where the supernodes, the permuted rows and the factors of each part begin, and the end.
    pub supernodes: [usize; 4],
    pub rows: [usize; 4],
    pub factors: [usize; 4],
    children: Vec<Vec<usize>>,
    runs: Vec<Vec<Run>>,
    pub updates: Vec<Update>,
    /// Numbers in the stacks of each part.
    pub stacks: [[usize; 2]; 3],
    /// Rows below each supernode as its part counts them: own rows first, then those of the top.
    local: Vec<u32>,
    local_starts: Vec<usize>,
}

impl Forest {
    /// For supernodes whose first rows are those of two halves.
    pub fn new(symbolic: &Supernodes, halves: [usize; 2]) -> Forest {
        let count = symbolic.n_supernodes();
        let (begin, end) = (symbolic.supernode_begin(), symbolic.supernode_end());
        let first = end[..count].partition_point(|&row| row <= halves[0]);
        let second = end[..count].partition_point(|&row| row <= halves[0] + halves[1]);
        let supernodes = [0, first, second.max(first), count];
        let row = |s: usize| {
            if s < count {
                begin[s]
            } else {
                symbolic.nrows()
            }
        };
        let value = |s: usize| match s < count {
            true => symbolic.col_ptr_for_val()[s],
            false => symbolic.len_val(),
        };
        let mut forest = Forest {
            supernodes,
            rows: supernodes.map(row),
            factors: supernodes.map(value),
            children: vec![Vec::new(); count],
            runs: Vec::with_capacity(count),
            updates: Vec::with_capacity(count),
            stacks: [[0; 2]; 3],
            local: Vec::new(),
            local_starts: vec![0],
        };
        let parents = parents(symbolic);
        for (s, parent) in parents.iter().enumerate() {
            if let Some(parent) = parent {
                forest.children[*parent].push(s);
            }
            forest.runs.push(runs(symbolic, s, *parent));
            forest.place_rows(symbolic, s);
        }
        forest.plan_updates(symbolic, &parents);
        forest
    }

    /// The part of a supernode.
    pub fn part(&self, s: usize) -> usize {
        (0..TOP)
            .find(|&part| s < self.supernodes[part + 1])
            .unwrap_or(TOP)
    }

    /// The supernodes whose parent this is, ascending.
    pub fn children(&self, s: usize) -> &[usize] {
        &self.children[s]
    }

    /// Where the rows below a supernode lie in the front of its parent.
    pub fn runs(&self, s: usize) -> &[Run] {
        &self.runs[s]
    }

    /// The rows below a supernode as its part counts them.
    #[inline]
    pub fn local_rows(&self, s: usize) -> &[u32] {
        &self.local[self.local_starts[s]..self.local_starts[s + 1]]
    }

    fn place_rows(&mut self, symbolic: &Supernodes, s: usize) {
        let part = self.part(s);
        let (start, end, top) = (self.rows[part], self.rows[part + 1], self.rows[TOP]);
        let place = |&row: &usize| match row < end {
            true => (row - start) as u32,
            false => (row - top + end - start) as u32,
        };
        self.local.extend(symbolic.rows_below(s).iter().map(place));
        self.local_starts.push(self.local.len());
    }

    /// Gives every update a place. Memory is free again once the parent has read it, unless the
    /// parent is in another part.
    fn plan_updates(&mut self, symbolic: &Supernodes, parents: &[Option<usize>]) {
        let count = parents.len();
        let mut depth = vec![0; count];
        for s in (0..count).rev() {
            depth[s] = parents[s].map_or(0, |parent| depth[parent] + 1);
        }
        let mut live: [[Vec<usize>; 2]; 3] = Default::default();
        let mut done = vec![false; count];
        let size = |s: usize| symbolic.rows_below(s).len().pow(2);
        for s in 0..count {
            let (part, stack) = (self.part(s), depth[s] % 2);
            let top = live[part][stack].last();
            let offset = top.map_or(0, |&t: &usize| self.updates[t].offset + size(t));
            self.updates.push(Update {
                part,
                stack,
                offset,
            });
            live[part][stack].push(s);
            let most = &mut self.stacks[part][stack];
            *most = (*most).max(offset + size(s));
            let inside = |&&child: &&usize| self.part(child) == part;
            self.children[s]
                .iter()
                .filter(inside)
                .for_each(|&child| done[child] = true);
            let others = &mut live[part][1 - stack];
            while others.last().is_some_and(|&t| done[t]) {
                others.pop();
            }
        }
    }
}

/// Matches the rows below a supernode with the front of its parent. No run crosses from the
/// columns of the parent to the rows below them.
fn runs(symbolic: &Supernodes, s: usize, parent: Option<usize>) -> Vec<Run> {
    let Some(parent) = parent else {
        return Vec::new();
    };
    let begin = symbolic.supernode_begin()[parent];
    let width = symbolic.supernode_end()[parent] - begin;
    let (rows, above) = (symbolic.rows_below(s), symbolic.rows_below(parent));
    let mut found: Vec<Run> = Vec::new();
    let mut next = 0;
    for (from, &row) in rows.iter().enumerate() {
        let to = if row < begin + width {
            row - begin
        } else {
            next += above[next..].partition_point(|&other| other < row);
            width + next
        };
        match found.last_mut() {
            Some(run) if to == run.to + run.length && to != width => run.length += 1,
            _ => found.push(Run {
                from,
                to,
                length: 1,
            }),
        }
    }
    found
}
