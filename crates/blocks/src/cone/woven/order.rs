//! An order in which nodes of several rows are eliminated, and which of them go together.
//!
//! The node with the fewest rows coupled to it goes first, ties by number. Nodes that follow each other
//! and are coupled to the same later ones are eliminated as one *front*; small ones join the next
//! although that stores some zeros.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Rows of a front up to which it may join the one after it, and the part of the numbers stored then
/// that may be zeros.
const SMALL: usize = 24;
const ZEROS: f64 = 0.2;

/// Nodes that are eliminated together.
#[derive(Clone, Debug, Default)]
pub(super) struct Group {
    /// The nodes, then the later ones that they are coupled with, in the order of elimination.
    pub nodes: Vec<u32>,
    pub later: Vec<u32>,
    /// The group of the first later node.
    pub parent: Option<usize>,
}

/// Groups in the order of elimination, for nodes with so many rows each, and couplings.
pub(super) fn groups(widths: &[u32], couplings: &[[u32; 2]]) -> Vec<Group> {
    let (order, mut later) = eliminate(widths, couplings);
    let mut place = vec![0; order.len()];
    for (at, &node) in order.iter().enumerate() {
        place[node as usize] = at as u32;
    }
    for list in &mut later {
        list.sort_unstable_by_key(|node| place[*node as usize]);
    }
    join(widths, &order, later, &place)
}

/// The order, and the later nodes that each is coupled with, by its place.
fn eliminate(widths: &[u32], couplings: &[[u32; 2]]) -> (Vec<u32>, Vec<Vec<u32>>) {
    let nodes = widths.len();
    let mut around: Vec<Vec<u32>> = vec![Vec::new(); nodes];
    for &[a, b] in couplings.iter().filter(|[a, b]| a != b) {
        around[a as usize].push(b);
        around[b as usize].push(a);
    }
    for list in &mut around {
        list.sort_unstable();
        list.dedup();
    }
    let rows = |list: &[u32]| list.iter().map(|n| widths[*n as usize]).sum::<u32>();
    let mut degree: Vec<u32> = around.iter().map(|list| rows(list)).collect();
    let entries = degree
        .iter()
        .enumerate()
        .map(|(n, d)| Reverse((*d, n as u32)));
    let mut queue: BinaryHeap<Reverse<(u32, u32)>> = entries.collect();
    let mut gone = vec![false; nodes];
    let (mut order, mut later) = (Vec::with_capacity(nodes), Vec::with_capacity(nodes));
    let mut joined = Vec::new();
    while let Some(Reverse((d, node))) = queue.pop() {
        if gone[node as usize] || degree[node as usize] != d {
            continue;
        }
        gone[node as usize] = true;
        let mine = std::mem::take(&mut around[node as usize]);
        for &other in &mine {
            let theirs = &mut around[other as usize];
            merge(&mine, theirs, [node, other], &mut joined);
            std::mem::swap(theirs, &mut joined);
            let now = rows(theirs);
            if std::mem::replace(&mut degree[other as usize], now) != now {
                queue.push(Reverse((now, other)));
            }
        }
        order.push(node);
        later.push(mine);
    }
    (order, later)
}

/// Writes the union of two ascending lists without two nodes.
fn merge(mine: &[u32], theirs: &[u32], without: [u32; 2], joined: &mut Vec<u32>) {
    joined.clear();
    let (mut i, mut j) = (0, 0);
    while i < mine.len() || j < theirs.len() {
        let (a, b) = (mine.get(i).copied(), theirs.get(j).copied());
        let next = a.unwrap_or(u32::MAX).min(b.unwrap_or(u32::MAX));
        i += usize::from(a == Some(next));
        j += usize::from(b == Some(next));
        if !without.contains(&next) {
            joined.push(next);
        }
    }
}

/// Joins each node, or what has joined it, with the first node after it that it is coupled with, where
/// that stores few zeros.
fn join(widths: &[u32], order: &[u32], later: Vec<Vec<u32>>, place: &[u32]) -> Vec<Group> {
    let rows = |list: &[u32]| {
        list.iter()
            .map(|n| widths[*n as usize] as usize)
            .sum::<usize>()
    };
    // Of the last node of each group, by place: the nodes that have joined it, and zeros among them.
    let mut members: Vec<Vec<u32>> = order.iter().map(|node| vec![*node]).collect();
    let mut zeros = vec![0usize; order.len()];
    let mut joins = vec![false; order.len()];
    for at in 0..order.len() {
        let Some(&next) = later[at].first() else {
            continue;
        };
        let parent = place[next as usize] as usize;
        let (mine, theirs) = (rows(&members[at]), rows(&members[parent]));
        let (below, after) = (rows(&later[at]), rows(&later[parent]));
        let missing = theirs + after - below.min(theirs + after);
        let stored = (mine + theirs) * (mine + theirs + 2 * after);
        let more = zeros[at] + zeros[parent] + 2 * mine * missing;
        let few = (more as f64) <= ZEROS * stored as f64;
        if missing == 0 || (few && mine <= SMALL) {
            joins[at] = true;
            zeros[parent] = more;
            let mut all = std::mem::take(&mut members[at]);
            all.append(&mut members[parent]);
            members[parent] = all;
        }
    }
    let mut group_of = vec![0; order.len()];
    let mut groups: Vec<Group> = Vec::new();
    for at in (0..order.len()).filter(|at| !joins[*at]) {
        for &node in &members[at] {
            group_of[place[node as usize] as usize] = groups.len();
        }
        let mut nodes = std::mem::take(&mut members[at]);
        nodes.sort_unstable_by_key(|node| place[*node as usize]);
        groups.push(Group {
            nodes,
            later: later[at].clone(),
            parent: None,
        });
    }
    for group in &mut groups {
        let first = group.later.first();
        group.parent = first.map(|node| group_of[place[*node as usize] as usize]);
    }
    groups
}
