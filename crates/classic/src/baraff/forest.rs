//! Which constraints are primary, and the order in which bodies and constraints are eliminated.
//!
//! Baraff 1996, sections 6 and 7 and appendix A. Bodies and constraints are nodes of a forest.
//! Every constraint of the forest has exactly one body below it, so the two are kept together as
//! a [`Limb`]: a body with the constraint that it hangs by. Limbs are numbered depth first from
//! the roots, so a parent's number is smaller and a subtree is a range of numbers. Eliminated
//! from the last to the first, children come before parents.
//!
//! The paper counts constraints of one body among the auxiliary ones; here one of them per tree
//! may be the root, where it has a child, so that a mechanism on the ground needs no auxiliary
//! rows.

/// A pairwise constraint as the ordering sees it.
#[derive(Clone, Copy, Debug)]
pub struct Edge {
    /// The two bodies; `None` is the world.
    pub ends: [Option<usize>; 2],
    /// Rows, one to six.
    pub rows: usize,
}

/// Stands for no limb and no constraint.
const NONE: u32 = u32::MAX;

/// A body and the constraint it hangs by.
#[derive(Clone, Copy, Debug)]
pub struct Limb {
    body: u32,
    constraint: u32,
    parent: u32,
    children: u32,
    /// Place of its record among the factors.
    pub(super) start: u32,
    rows: u8,
    side: u8,
}

impl Limb {
    /// The body.
    #[inline]
    pub fn body(&self) -> usize {
        self.body as usize
    }

    /// The constraint; only the first body of a tree without ground has none.
    #[inline]
    pub fn constraint(&self) -> Option<usize> {
        (self.constraint != NONE).then_some(self.constraint as usize)
    }

    /// The limb at the other end of the constraint; none if that is the world.
    #[inline]
    pub fn parent(&self) -> Option<usize> {
        (self.parent != NONE).then_some(self.parent as usize)
    }

    /// Rows of the constraint.
    #[inline]
    pub fn rows(&self) -> usize {
        usize::from(self.rows)
    }

    /// Which end of the constraint the body is: 0 or 1.
    #[inline]
    pub fn side(&self) -> usize {
        usize::from(self.side)
    }

    /// How many limbs hang on the body.
    #[inline]
    pub fn children(&self) -> usize {
        self.children as usize
    }
}

/// A spanning forest of bodies and constraints, ordered depth first.
#[derive(Clone, Debug)]
pub struct Forest {
    limbs: Vec<Limb>,
    /// The limb of each body.
    of_body: Vec<u32>,
    /// Constraints that close loops, or hold a tree to the world a second time.
    auxiliary: Vec<usize>,
}

impl Forest {
    /// Chooses a spanning forest, constraints with many rows first, and orders it depth first
    /// from the constraints to the world, or from the first body of a tree that has none.
    pub fn new(bodies: usize, edges: &[Edge]) -> Forest {
        let mut forest = Forest {
            limbs: Vec::with_capacity(bodies),
            of_body: vec![NONE; bodies],
            auxiliary: Vec::new(),
        };
        let chosen = spanning_forest(bodies, edges);
        let around = neighbours(bodies, edges, &chosen);
        for (index, edge) in edges.iter().enumerate() {
            if let ([Some(body), None] | [None, Some(body)], true) = (edge.ends, chosen[index]) {
                forest.grow(body, Some(index), edges, &around);
            }
        }
        for body in 0..bodies {
            if forest.of_body[body] == NONE {
                forest.grow(body, None, edges, &around);
            }
        }
        forest.auxiliary = (0..edges.len()).filter(|&index| !chosen[index]).collect();
        forest
    }

    fn add(&mut self, body: usize, constraint: Option<usize>, parent: u32, edges: &[Edge]) {
        let edge = constraint.map(|index| edges[index]);
        let first = edge.is_some_and(|edge| edge.ends[0] == Some(body));
        if parent != NONE {
            self.limbs[parent as usize].children += 1;
        }
        self.of_body[body] = self.limbs.len() as u32;
        self.limbs.push(Limb {
            body: body as u32,
            constraint: constraint.map_or(NONE, |index| index as u32),
            parent,
            children: 0,
            start: 0,
            rows: edge.map_or(0, |edge| edge.rows as u8),
            side: u8::from(!first),
        });
    }

    /// Adds a body and everything that hangs on it and has no limb yet.
    fn grow(&mut self, body: usize, root: Option<usize>, edges: &[Edge], around: &Around) {
        let mut path = vec![(body, 0)];
        self.add(body, root, NONE, edges);
        while let Some((body, next)) = path.last_mut() {
            let (body, list) = (*body, around.of(*body));
            let Some(&index) = list.get(*next) else {
                path.pop();
                continue;
            };
            *next += 1;
            let [a, b] = edges[index].ends;
            let other = if a == Some(body) { b } else { a };
            let Some(other) = other else { continue };
            if self.of_body[other] == NONE {
                self.add(other, Some(index), self.of_body[body], edges);
                path.push((other, 0));
            }
        }
    }

    /// The limbs, parents before children.
    #[inline]
    pub fn limbs(&self) -> &[Limb] {
        &self.limbs
    }

    pub(super) fn limbs_mut(&mut self) -> &mut [Limb] {
        &mut self.limbs
    }

    /// The limb of a body.
    #[inline]
    pub fn limb_of(&self, body: usize) -> usize {
        self.of_body[body] as usize
    }

    /// The constraints that found no place in the forest.
    pub fn auxiliary(&self) -> &[usize] {
        &self.auxiliary
    }

    /// Rows of the matrix: six for each body, and those of the primary constraints.
    pub fn rows(&self) -> usize {
        self.limbs.iter().map(|limb| 6 + limb.rows()).sum()
    }
}

/// The constraints of each body, in their order.
struct Around {
    starts: Vec<usize>,
    list: Vec<usize>,
}

impl Around {
    fn of(&self, body: usize) -> &[usize] {
        &self.list[self.starts[body]..self.starts[body + 1]]
    }
}

fn neighbours(bodies: usize, edges: &[Edge], chosen: &[bool]) -> Around {
    let tree = || edges.iter().enumerate().filter(|(index, _)| chosen[*index]);
    let mut starts = vec![0; bodies + 1];
    for body in tree().flat_map(|(_, edge)| edge.ends).flatten() {
        starts[body + 1] += 1;
    }
    for body in 0..bodies {
        starts[body + 1] += starts[body];
    }
    let (mut next, mut list) = (starts.clone(), vec![0; starts[bodies]]);
    for (index, edge) in tree() {
        for body in edge.ends.into_iter().flatten() {
            list[next[body]] = index;
            next[body] += 1;
        }
    }
    Around { starts, list }
}

/// Which constraints make up a spanning forest (Kruskal). The world counts as a body, so that
/// a tree is held to it once.
fn spanning_forest(bodies: usize, edges: &[Edge]) -> Vec<bool> {
    let mut leaders: Vec<usize> = (0..=bodies).collect();
    let mut order: Vec<usize> = (0..edges.len()).collect();
    order.sort_by_key(|&index| std::cmp::Reverse(edges[index].rows));
    let mut chosen = vec![false; edges.len()];
    for index in order {
        let [a, b] = edges[index]
            .ends
            .map(|end| leader(&mut leaders, end.unwrap_or(bodies)));
        chosen[index] = a != b && edges[index].rows > 0;
        if !chosen[index] {
            continue;
        }
        leaders[a] = b;
    }
    chosen
}

/// The representative of a set, shortening the way to it.
fn leader(leaders: &mut [usize], mut member: usize) -> usize {
    while leaders[member] != member {
        leaders[member] = leaders[leaders[member]];
        member = leaders[member];
    }
    member
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loops_and_second_holds_are_left_over_and_parents_come_first() {
        let edge = |a, b| Edge {
            ends: [a, b],
            rows: 3,
        };
        let edges = [
            edge(None, Some(0)),
            edge(Some(0), Some(1)),
            edge(Some(2), Some(1)),
            edge(Some(2), Some(0)),
            edge(Some(2), None),
            edge(Some(3), Some(4)),
        ];
        let forest = Forest::new(5, &edges);
        assert_eq!(forest.auxiliary(), [3, 4]);
        assert_eq!(forest.limbs().len(), 5);
        assert_eq!(forest.rows(), 5 * 6 + 4 * 3);
        for (index, limb) in forest.limbs().iter().enumerate() {
            assert!(limb.parent().is_none_or(|parent| parent < index));
            if let Some(constraint) = limb.constraint() {
                let end = edges[constraint].ends[limb.side()];
                assert_eq!(end, Some(limb.body()));
            }
        }
        let hanging: usize = forest.limbs().iter().map(Limb::children).sum();
        let roots = forest.limbs().iter().filter(|limb| limb.parent().is_none());
        assert_eq!(hanging + roots.count(), 5);
    }
}
