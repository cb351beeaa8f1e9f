//! Two halves of the work that share nothing but the top of the tree.
//!
//! Subtrees of the elimination tree are independent of each other. Starting from the roots, the
//! heaviest subtree is opened again and again: its root joins the top and its children take its
//! place. What is left is dealt to two halves, the heaviest first, each to the half that has
//! less. Of all these divisions the one is taken whose top and larger half are the least work.
//! It depends on the pattern alone.

use super::supernodes::Supernodes;
use crate::matrix::Pattern;

/// The part behind the halves.
pub(super) const TOP: usize = 2;

/// Work from which on a factorization is divided.
const WORTH: f64 = 1e6;
/// Share of the work above which a division is of no use.
const LEAST_GAIN: f64 = 0.8;
/// What handling a supernode costs, in multiplications.
const OVERHEAD: f64 = 4000.0;
/// What a number of the factors costs in the solves that come after, in multiplications: these are
/// few, but wait for memory.
const READING: f64 = 50.0;
/// Subtrees at most that are opened.
const OPENED: usize = 200;

/// The supernode that takes up what each leaves: the one of the first row below it.
pub(super) fn parents(supernodes: &Supernodes) -> Vec<Option<usize>> {
    let count = supernodes.n_supernodes();
    let mut owner = vec![0; supernodes.nrows()];
    for s in 0..count {
        owner[supernodes.supernode_begin()[s]..supernodes.supernode_end()[s]].fill(s);
    }
    let first = |s: usize| supernodes.rows_below(s).first();
    (0..count)
        .map(|s| first(s).map(|&row| owner[row]))
        .collect()
}

/// Reorders the nodes: those of the two halves, then those of the top, each in the order they
/// had. Returns the new order and the rows of both halves, or nothing if it is not worth it.
pub(super) fn divide(
    pattern: &Pattern,
    order: &[usize],
    supernodes: &Supernodes,
) -> Option<(Vec<usize>, [usize; 2])> {
    let part = parts(supernodes)?;
    let (mut sorted, mut rows) = ([Vec::new(), Vec::new(), Vec::new()], [0; 3]);
    let (mut row, mut s) = (0, 0);
    for &node in order {
        while supernodes.supernode_end()[s] <= row {
            s += 1;
        }
        sorted[part[s]].push(node);
        rows[part[s]] += pattern.size(node);
        row += pattern.size(node);
    }
    Some((sorted.concat(), [rows[0], rows[1]]))
}

/// The part of each supernode.
fn parts(supernodes: &Supernodes) -> Option<Vec<usize>> {
    let parents = parents(supernodes);
    let count = parents.len();
    let own: Vec<f64> = (0..count).map(|s| work(supernodes, s)).collect();
    let mut subtree = own.clone();
    let mut children = vec![Vec::new(); count];
    let mut open = Vec::new();
    for s in 0..count {
        match parents[s] {
            Some(parent) => {
                subtree[parent] += subtree[s];
                children[parent].push(s);
            }
            None => open.push(s),
        }
    }
    let total: f64 = own.iter().sum();
    if total < WORTH {
        return None;
    }
    let mut best = (LEAST_GAIN * total, None);
    let mut top = 0.0;
    for _ in 0..OPENED {
        open.sort_by(|&a, &b| subtree[b].total_cmp(&subtree[a]).then(a.cmp(&b)));
        let (dealt, sums) = deal(&open, &subtree);
        let time = top + sums[0].max(sums[1]);
        if time < best.0 {
            best = (time, Some(dealt));
        }
        if top > best.0 || open.is_empty() {
            break;
        }
        let heaviest = open.remove(0);
        top += own[heaviest];
        open.extend(&children[heaviest]);
    }
    let dealt = best.1?;
    let mut part = vec![TOP; count];
    dealt.iter().for_each(|&(s, half)| part[s] = half);
    for s in (0..count).rev() {
        if let (TOP, Some(parent)) = (part[s], parents[s]) {
            part[s] = part[parent];
        }
    }
    Some(part)
}

/// Deals subtrees, the heaviest first, to the half that has less.
fn deal(open: &[usize], subtree: &[f64]) -> (Vec<(usize, usize)>, [f64; 2]) {
    let mut sums = [0.0; 2];
    let give = |&s: &usize| {
        let half = usize::from(sums[1] < sums[0]);
        sums[half] += subtree[s];
        (s, half)
    };
    let dealt = open.iter().map(give).collect();
    (dealt, sums)
}

/// What one supernode costs, in multiplications.
fn work(supernodes: &Supernodes, s: usize) -> f64 {
    let width = (supernodes.supernode_end()[s] - supernodes.supernode_begin()[s]) as f64;
    let below = supernodes.rows_below(s).len() as f64;
    let products = width * (width * width / 3.0 + width * below + below * below);
    OVERHEAD + products + READING * width * (width + below)
}
