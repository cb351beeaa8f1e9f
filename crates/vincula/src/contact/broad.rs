//! The broad phase: which boxes overlap, in time nearly linear in their number.
//!
//! Boxes are sorted into grids by size: the cells of the first are twice as long as the
//! smallest box, those of each next one twice as long again, and a box goes into the first
//! grid whose cells are not shorter than it. It is filed under the cell of its lower corner,
//! so within its grid it can only overlap boxes of neighbouring cells. Cells are sorted by
//! key with x running fastest: the cells x−1, x, x+1 of a neighbouring row are one interval
//! of keys, whose start only moves forward while the keys do. One sweep with five such
//! intervals finds all pairs of a grid, without a hash table. Boxes of coarser grids are
//! looked up by bisection.

use glam::DVec3;

use super::bounds::Bounds;

/// Cells along an axis, as bits of a key.
const BITS: u32 = 21;

/// Cells in use along an axis; a few at each end stay empty, so that neighbours exist.
const MOST_CELLS: f64 = ((1u64 << BITS) - 8) as f64;

/// A grid of at most this many boxes is searched from end to end.
const FEW: usize = 8;

/// Steps in keys to the neighbouring rows that come later.
const LATER_ROWS: [u64; 4] = {
    let (y, z) = (1 << BITS, 1 << (2 * BITS));
    [y, z - y, z, z + y]
};

/// A box in a grid.
#[derive(Clone, Copy, Debug)]
struct Entry {
    key: u64,
    index: u32,
    bounds: Bounds,
}

/// The boxes of about one size.
#[derive(Debug, Default)]
struct Grid {
    origin: DVec3,
    cell: f64,
    entries: Vec<Entry>,
}

/// Memory of the broad phase.
#[derive(Debug, Default)]
pub(crate) struct Broad {
    grids: Vec<Grid>,
}

impl Broad {
    /// Calls `visit(i, j)` with i < j once for each pair of the boxes that were filed that overlap;
    /// boxes without end take no part.
    pub fn pairs(&self, mut visit: impl FnMut(u32, u32)) {
        for (level, grid) in self.grids.iter().enumerate() {
            grid.pairs(&mut visit);
            for coarser in &self.grids[level + 1..] {
                grid.pairs_with(coarser, &mut visit);
            }
        }
    }

    /// Calls `visit(i, j)` with i < j for each box that was filed and meets this one, which was not.
    pub fn pairs_of(&self, index: u32, bounds: &Bounds, mut visit: impl FnMut(u32, u32)) {
        let one = Entry {
            key: 0,
            index,
            bounds: *bounds,
        };
        for grid in &self.grids {
            match grid.is_wide(bounds) {
                true => meet(&one, grid.entries.iter(), &mut visit),
                false => grid.pairs_of(&one, &mut visit),
            }
        }
    }

    /// Whether a box meets one of those that were filed.
    pub fn meets_any(&self, bounds: &Bounds) -> bool {
        self.grids.iter().any(|grid| grid.meets_any(bounds))
    }

    /// Sorts some of the boxes into grids.
    pub fn file(&mut self, bounds: &[Bounds], some: &[u32]) {
        let (smallest, all) = measure(some.iter().map(|index| &bounds[*index as usize]));
        let span = all.extent().max(0.0);
        let finest = (2.0 * smallest).max(span / MOST_CELLS);
        let finest = if finest > 0.0 && finest.is_finite() {
            finest
        } else {
            1.0
        };
        self.grids.iter_mut().for_each(|grid| grid.entries.clear());
        for &index in some {
            let bounds = &bounds[index as usize];
            if bounds.is_finite() {
                let level = self.level(bounds.extent(), finest);
                let grid = &mut self.grids[level];
                (grid.origin, grid.cell) = (all.low, finest * (1u64 << level) as f64);
                let [x, y, z] = grid.cell_of(bounds.low);
                grid.entries.push(Entry {
                    key: key(x, y, z),
                    index,
                    bounds: *bounds,
                });
            }
        }
        for grid in &mut self.grids {
            grid.entries.sort_unstable_by_key(|e| (e.key, e.index));
        }
    }

    /// The first grid whose cells are longer than `extent`, by more than rounding.
    fn level(&mut self, extent: f64, finest: f64) -> usize {
        let (mut level, mut cell) = (0, finest);
        while cell < 1.000_000_001 * extent && level < 63 {
            cell *= 2.0;
            level += 1;
        }
        while self.grids.len() <= level {
            self.grids.push(Grid::default());
        }
        level
    }
}

impl Grid {
    /// The cell of a point, counted from one before the first.
    fn cell_of(&self, point: DVec3) -> [u64; 3] {
        let cells = ((point - self.origin) / self.cell).max(DVec3::ZERO);
        cells
            .min(DVec3::splat(MOST_CELLS))
            .to_array()
            .map(|x| x as u64 + 2)
    }

    /// Pairs of boxes of this grid.
    fn pairs(&self, visit: &mut impl FnMut(u32, u32)) {
        let entries = &self.entries[..];
        let mut starts = [0; LATER_ROWS.len()];
        for (place, one) in entries.iter().enumerate() {
            let ahead = &entries[place + 1..];
            meet(
                one,
                ahead.iter().take_while(|e| e.key <= one.key + 1),
                visit,
            );
            for (start, step) in starts.iter_mut().zip(LATER_ROWS) {
                let row = one.key + step;
                while *start < entries.len() && entries[*start].key < row - 1 {
                    *start += 1;
                }
                let near = entries[*start..].iter();
                meet(one, near.take_while(|e| e.key <= row + 1), visit);
            }
        }
    }

    /// Pairs of a box of this grid and one of a coarser grid.
    fn pairs_with(&self, coarser: &Grid, visit: &mut impl FnMut(u32, u32)) {
        for one in &self.entries {
            match coarser.entries.len() <= FEW {
                true => meet(one, coarser.entries.iter(), visit),
                false => coarser.pairs_of(one, visit),
            }
        }
    }

    /// Whether it is less work to look at all boxes than at the rows that may hold one which meets this.
    fn is_wide(&self, bounds: &Bounds) -> bool {
        let count = self.entries.len();
        count <= FEW || self.rows(bounds).nth(count).is_some()
    }

    /// Pairs of a box of this grid and one that is not in it.
    fn pairs_of(&self, one: &Entry, visit: &mut impl FnMut(u32, u32)) {
        let all = &self.entries;
        for [from, to] in self.rows(&one.bounds) {
            let start = all.partition_point(|e| e.key < from);
            meet(one, all[start..].iter().take_while(|e| e.key <= to), visit);
        }
    }

    /// First and last key of each row of cells that may hold a box which meets this one.
    fn rows(&self, bounds: &Bounds) -> impl Iterator<Item = [u64; 2]> + use<> {
        let (low, high) = (self.cell_of(bounds.low), self.cell_of(bounds.high));
        (low[2] - 1..=high[2]).flat_map(move |z| {
            (low[1] - 1..=high[1]).map(move |y| [key(low[0] - 1, y, z), key(high[0], y, z)])
        })
    }

    /// Whether a box meets one of this grid.
    fn meets_any(&self, bounds: &Bounds) -> bool {
        let all = &self.entries;
        if self.is_wide(bounds) {
            return all.iter().any(|entry| entry.bounds.meets(bounds));
        }
        self.rows(bounds).any(|[from, to]| {
            let start = all.partition_point(|e| e.key < from);
            let mut row = all[start..].iter().take_while(|e| e.key <= to);
            row.any(|entry| entry.bounds.meets(bounds))
        })
    }
}

fn key(x: u64, y: u64, z: u64) -> u64 {
    x | y << BITS | z << (2 * BITS)
}

fn meet<'a>(
    one: &Entry,
    others: impl Iterator<Item = &'a Entry>,
    visit: &mut impl FnMut(u32, u32),
) {
    for other in others {
        if one.bounds.meets(&other.bounds) {
            visit(one.index.min(other.index), one.index.max(other.index));
        }
    }
}

/// The smallest extent of a box, and the box around all of them.
fn measure<'a>(bounds: impl Iterator<Item = &'a Bounds>) -> (f64, Bounds) {
    let nothing = (f64::INFINITY, Bounds::NOTHING);
    bounds
        .filter(|b| b.is_finite())
        .fold(nothing, |(smallest, all), b| {
            (smallest.min(b.extent()), all.union(b))
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::numbers::Numbers;

    fn found(bounds: &[Bounds]) -> Vec<(u32, u32)> {
        let mut pairs = Vec::new();
        let all: Vec<u32> = (0..bounds.len() as u32).collect();
        let mut filed = Broad::default();
        filed.file(bounds, &all);
        filed.pairs(|i, j| pairs.push((i, j)));
        pairs.sort_unstable();
        pairs
    }

    fn all_pairs(bounds: &[Bounds]) -> Vec<(u32, u32)> {
        let count = bounds.len() as u32;
        (0..count)
            .flat_map(|i| (i + 1..count).map(move |j| (i, j)))
            .filter(|&(i, j)| bounds[i as usize].meets(&bounds[j as usize]))
            .collect()
    }

    #[test]
    fn it_finds_what_asking_for_all_pairs_finds() {
        let mut numbers = Numbers(7);
        for (spread, sizes) in [(3.0, 1.0f64), (10.0, 30.0), (1e-3, 1e4), (1e4, 3.0)] {
            let bounds: Vec<Bounds> = (0..400)
                .map(|_| {
                    let low = 0.5 * spread * numbers.vector();
                    let size = sizes.powf(numbers.unit()) * 0.5 * (numbers.vector() + DVec3::ONE);
                    Bounds {
                        low,
                        high: low + size,
                    }
                })
                .collect();
            let expected = all_pairs(&bounds);
            assert_eq!(found(&bounds), expected, "spread {spread}, sizes {sizes}");
            // A third of them, asked for what meets the rest.
            let (some, rest) = bounds.split_at(133);
            let mut filed = Broad::default();
            filed.file(some, &(0..133).collect::<Vec<u32>>());
            for (index, asked) in (133..).zip(rest) {
                let met: Vec<(u32, u32)> = (0..133)
                    .filter(|i| some[*i as usize].meets(asked))
                    .map(|i| (i, index))
                    .collect();
                let mut pairs = Vec::new();
                filed.pairs_of(index, asked, |i, j| pairs.push((i, j)));
                pairs.sort_unstable();
                assert_eq!(pairs, met);
                assert_eq!(filed.meets_any(asked), !met.is_empty());
            }
        }
    }

    #[test]
    fn boxes_without_extent_or_in_one_place_are_found() {
        let point = Bounds {
            low: DVec3::ONE,
            high: DVec3::ONE,
        };
        assert_eq!(found(&[point; 3]), [(0, 1), (0, 2), (1, 2)]);
        assert_eq!(found(&[point, Bounds::EVERYTHING]), []);
        assert_eq!(found(&[]), []);
    }
}
