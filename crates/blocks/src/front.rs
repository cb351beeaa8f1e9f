//! Which nodes to eliminate before the sparse factorization.
//!
//! A node with at most two remaining neighbours costs three small products and at most one
//! new coupling. Paths between hubs vanish in this way, and a net of rods becomes a net of
//! its nodes. Ties go to the lower node.

use crate::matrix::Pattern;
use crate::role::Role;

/// Remaining neighbours that a node of the front may have; the nodes of a body that is
/// kept count once.
const NEIGHBOURS: usize = 2;

/// The nodes to eliminate first, in order, and the others, ascending.
pub(crate) fn split_front(pattern: &Pattern) -> (Vec<usize>, Vec<usize>) {
    let nodes = pattern.nodes();
    let mut graph: Vec<Vec<usize>> = (0..nodes)
        .map(|node| {
            pattern
                .neighbours(node)
                .iter()
                .map(|&(other, _)| other)
                .collect()
        })
        .collect();
    let mut alive = vec![true; nodes];
    let mut front = Vec::new();
    let mut stack: Vec<usize> = (0..nodes).rev().collect();
    while let Some(node) = stack.pop() {
        // Displacements stay: what they leave behind is what the sparse solver is for.
        let stays = pattern.role(node) != Role::Positive;
        if !alive[node] || stays || distinct(pattern, &graph[node]) > NEIGHBOURS {
            continue;
        }
        alive[node] = false;
        front.push(node);
        let around = std::mem::take(&mut graph[node]);
        for &other in &around {
            graph[other].retain(|&n| n != node);
            for &second in &around {
                if second != other && !graph[other].contains(&second) {
                    graph[other].push(second);
                }
            }
        }
        stack.extend(around.iter().rev());
    }
    let rest = (0..nodes).filter(|&node| alive[node]).collect();
    (front, rest)
}

/// How many of the nodes there are, without those that belong to a body counted already.
fn distinct(pattern: &Pattern, nodes: &[usize]) -> usize {
    let negative = |node: usize| pattern.role(node) == Role::Negative;
    let counted = |k: usize| {
        let same =
            |&before: &usize| negative(before) && pattern.edge_index(before, nodes[k]).is_some();
        negative(nodes[k]) && nodes[..k].iter().any(same)
    };
    (0..nodes.len()).filter(|&k| !counted(k)).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_between_hubs_vanish() {
        // Hubs 4 and 5, joined by two paths of two joints each, and a loose end.
        let edges = [(4, 0), (0, 1), (1, 5), (4, 2), (2, 3), (3, 5), (5, 6)];
        let mut roles = vec![Role::Positive; 7];
        roles[4] = Role::Negative;
        roles[5] = Role::Negative;
        let pattern = Pattern::with_roles(&[3; 7], &edges, roles).unwrap();
        assert_eq!(split_front(&pattern), (vec![0, 1, 2, 3, 6], vec![4, 5]));
    }
}
