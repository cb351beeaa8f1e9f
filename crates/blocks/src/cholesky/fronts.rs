//! The numeric factorization: one dense front after the other, from the leaves to the roots.
//!
//! A supernode with its columns F, the rows R below and what its children c left to it is
//!
//! ```text
//! [S_FF    ]       [U_FF    ]   [L    ] [D    ] [Lᵀ  Gᵀ D⁻¹]
//! [S_RF  0 ] + Σ_c [U_RF U_RR] = [G D⁻¹] [   U'] [         ]        U' = Σ U_RR − G D⁻¹ Gᵀ
//! ```
//!
//! The columns lie in the factors; the update `U'` waits on a stack for the parent. What is
//! added, and in which order, follows from the tree alone, so halves of it may be worked off
//! one after the other or at the same time.

use super::forest::{Forest, Run};
use super::halves::TOP;
use super::supernodes::Supernodes;
use super::symbolic::ScalarMatrix;
use faer::dyn_stack::{MemBuffer, MemStack, StackReq};
use faer::linalg::cholesky::ldlt::factor::{
    LdltError, LdltRegularization, cholesky_in_place, cholesky_in_place_scratch,
};
use faer::linalg::matmul::triangular::{BlockStructure, matmul};
use faer::linalg::triangular_solve::solve_unit_lower_triangular_in_place;
use faer::{Accum, MatMut, MatRef, Par};

/// The numbers to factor and how to judge pivots.
#[derive(Clone, Copy)]
pub(super) struct Numbers<'a> {
    /// Values of the block matrix.
    pub values: &'a [f64],
    /// `T` in permuted order.
    pub scaling: &'a [f64],
    /// Expected signs of the pivots.
    pub signs: &'a [i8],
    /// Added to the diagonal: this, and this times `T²`.
    pub shift: [f64; 2],
    /// Pivots below this vanish,
    pub tolerance: f64,
    /// and become this.
    pub replacement: f64,
}

/// What the pivots of a part told.
#[derive(Clone, Copy, Debug)]
pub(super) struct Inspection {
    /// The weakest pivot and its permuted row.
    pub weakest: f64,
    pub weakest_row: Option<usize>,
    /// Pivots replaced, and the first such row.
    pub dropped: usize,
    pub dropped_row: Option<usize>,
    /// A row whose pivot is zero or not finite.
    pub broken_row: Option<usize>,
    /// Sum of the entries: not finite if one is not.
    pub sum: f64,
}

impl Inspection {
    pub const NOTHING: Inspection = Inspection {
        weakest: 1.0,
        weakest_row: None,
        dropped: 0,
        dropped_row: None,
        broken_row: None,
        sum: 0.0,
    };

    /// Adds what a later part told.
    pub fn merge(&mut self, later: &Inspection) {
        if later.weakest < self.weakest {
            (self.weakest, self.weakest_row) = (later.weakest, later.weakest_row);
        }
        self.dropped += later.dropped;
        self.dropped_row = self.dropped_row.or(later.dropped_row);
        self.broken_row = self.broken_row.or(later.broken_row);
        self.sum += later.sum;
    }

    fn look_at(&mut self, row: usize, pivot: f64, replacement: f64) {
        if pivot == replacement {
            self.dropped_row.get_or_insert(row);
        } else if pivot < self.weakest {
            (self.weakest, self.weakest_row) = (pivot, Some(row));
        }
    }
}

/// Memory of one part.
pub(super) struct Room {
    updates: [Vec<f64>; 2],
    /// `G` of the supernode at hand.
    product: Vec<f64>,
    memory: MemBuffer,
    pub found: Inspection,
}

impl Room {
    /// For one part of a forest; nothing if there is not enough memory.
    pub fn new(symbolic: &Supernodes, forest: &Forest, part: usize) -> Option<Room> {
        let (mut product, mut request) = (0, StackReq::empty());
        for s in forest.supernodes[part]..forest.supernodes[part + 1] {
            let [width, below] = shape(symbolic, s);
            product = product.max(width * below);
            let dense = cholesky_in_place_scratch::<f64>(width, Par::Seq, Default::default());
            request = request.or(dense);
        }
        Some(Room {
            updates: forest.stacks[part].map(|size| vec![0.0; size]),
            product: vec![0.0; product],
            memory: MemBuffer::try_new(request).ok()?,
            found: Inspection::NOTHING,
        })
    }
}

/// Columns of a supernode, and rows below them.
#[inline]
pub(super) fn shape(symbolic: &Supernodes, s: usize) -> [usize; 2] {
    let width = symbolic.supernode_end()[s] - symbolic.supernode_begin()[s];
    [width, symbolic.rows_below(s).len()]
}

/// What all parts read.
#[derive(Clone, Copy)]
pub(super) struct Job<'a> {
    pub symbolic: &'a Supernodes,
    pub forest: &'a Forest,
    pub scalar: &'a ScalarMatrix,
    pub numbers: Numbers<'a>,
}

impl Job<'_> {
    /// Factors one part; the top needs the rooms of both halves.
    pub fn factor_part(
        &self,
        part: usize,
        factors: &mut [f64],
        room: &mut Room,
        halves: Option<[&Room; TOP]>,
    ) {
        room.found = Inspection::NOTHING;
        let mut rest = factors;
        for s in self.forest.supernodes[part]..self.forest.supernodes[part + 1] {
            let [width, below] = shape(self.symbolic, s);
            let (panel, after) = rest.split_at_mut(width * (width + below));
            rest = after;
            self.load(s, panel, room);
            self.take_up(s, panel, room, halves, Phase::Columns);
            if let Err(row) = self.eliminate(s, panel, room) {
                room.found.broken_row = Some(row);
                return;
            }
            self.take_up(s, panel, room, halves, Phase::Rows);
        }
    }

    /// Writes the scaled entries of the columns.
    fn load(&self, s: usize, panel: &mut [f64], room: &mut Room) {
        let [width, below] = shape(self.symbolic, s);
        let (begin, height) = (self.symbolic.supernode_begin()[s], width + below);
        let Numbers {
            values,
            scaling,
            signs,
            shift,
            ..
        } = self.numbers;
        panel.fill(0.0);
        let mut sum = 0.0;
        for (k, column) in panel.chunks_exact_mut(height).enumerate() {
            let scale = scaling[begin + k];
            for entry in self.scalar.column(begin + k) {
                let value = values[entry.source as usize] * scale * scaling[entry.row as usize];
                sum += value;
                column[entry.place as usize] = value;
            }
            column[k] += f64::from(signs[begin + k]) * (shift[0] + shift[1] * scale * scale);
        }
        room.found.sum += sum;
    }

    /// Adds what the children left, to the columns or to the update.
    fn take_up(
        &self,
        s: usize,
        panel: &mut [f64],
        room: &mut Room,
        halves: Option<[&Room; TOP]>,
        phase: Phase,
    ) {
        let [width, below] = shape(self.symbolic, s);
        let own = self.forest.updates[s];
        let [even, odd] = &mut room.updates;
        let (mine, theirs) = if own.stack == 0 {
            (even, odd)
        } else {
            (odd, even)
        };
        for &child in self.forest.children(s) {
            let left = self.forest.updates[child];
            let stack: &[f64] = match halves {
                Some(rooms) if left.part != own.part => &rooms[left.part].updates[left.stack],
                _ => theirs,
            };
            let runs = self.forest.runs(child);
            let split = runs.partition_point(|run| run.to < width);
            let height = self.symbolic.rows_below(child).len();
            let update = &stack[left.offset..left.offset + height * height];
            match phase {
                Phase::Columns => add(update, height, runs, 0..split, panel, [width + below, 0]),
                Phase::Rows => {
                    let target = &mut mine[own.offset..own.offset + below * below];
                    add(
                        update,
                        height,
                        runs,
                        split..runs.len(),
                        target,
                        [below, width],
                    );
                }
            }
        }
    }

    /// Factors the columns and forms their part of the update, or names a broken row.
    fn eliminate(&self, s: usize, panel: &mut [f64], room: &mut Room) -> Result<(), usize> {
        let [width, below] = shape(self.symbolic, s);
        let begin = self.symbolic.supernode_begin()[s];
        let height = width + below;
        let columns = MatMut::from_column_major_slice_mut(&mut *panel, height, width);
        let (mut triangle, mut bottom) = columns.split_at_row_mut(width);
        let regularization = LdltRegularization {
            dynamic_regularization_signs: Some(&self.numbers.signs[begin..begin + width]),
            dynamic_regularization_delta: self.numbers.replacement,
            dynamic_regularization_epsilon: self.numbers.tolerance,
        };
        let stack = MemStack::new(&mut room.memory);
        let done = cholesky_in_place(
            triangle.as_mut(),
            regularization,
            Par::Seq,
            stack,
            Default::default(),
        );
        match done {
            Ok(info) => room.found.dropped += info.dynamic_regularization_count,
            Err(LdltError::ZeroPivot { index }) => return Err(begin + index),
        }
        solve_unit_lower_triangular_in_place(
            triangle.as_ref(),
            bottom.as_mut().transpose_mut(),
            Par::Seq,
        );
        let product = &mut room.product[..width * below];
        for k in 0..width {
            let pivot = panel[k * height + k];
            room.found
                .look_at(begin + k, pivot.abs(), self.numbers.replacement);
            let inverse = 1.0 / pivot;
            let column = &mut panel[k * height + width..(k + 1) * height];
            for (kept, entry) in product[k * below..].iter_mut().zip(column) {
                *kept = *entry;
                *entry *= inverse;
            }
        }
        if below > 0 {
            let own = self.forest.updates[s];
            let update = &mut room.updates[own.stack][own.offset..own.offset + below * below];
            let columns = MatRef::from_column_major_slice(&*panel, height, width);
            matmul(
                MatMut::from_column_major_slice_mut(update, below, below),
                BlockStructure::TriangularLower,
                Accum::Replace,
                columns.split_at_row(width).1,
                BlockStructure::Rectangular,
                MatRef::from_column_major_slice(&*product, below, width).transpose(),
                BlockStructure::Rectangular,
                -1.0,
                Par::Seq,
            );
        }
        Ok(())
    }
}

/// Which entries of an update are added.
#[derive(Clone, Copy)]
enum Phase {
    /// Those in columns of the parent.
    Columns,
    /// Those it hands on.
    Rows,
}

/// Adds the columns of an update that belong to `chosen` runs to a target whose columns are
/// `stride` apart and whose first row and column is `skipped` of the front.
fn add(
    update: &[f64],
    height: usize,
    runs: &[Run],
    chosen: std::ops::Range<usize>,
    target: &mut [f64],
    [stride, skipped]: [usize; 2],
) {
    for index in chosen {
        let run = runs[index];
        for k in 0..run.length {
            let source = &update[(run.from + k) * height..(run.from + k + 1) * height];
            let start = (run.to - skipped + k) * stride;
            let column = &mut target[start..start + stride];
            let own = column[run.to - skipped + k..].iter_mut();
            let values = &source[run.from + k..run.from + run.length];
            own.zip(values).for_each(|(target, value)| *target += value);
            for run in &runs[index + 1..] {
                let place = run.to - skipped;
                let values = &source[run.from..run.from + run.length];
                column[place..place + run.length]
                    .iter_mut()
                    .zip(values)
                    .for_each(|(target, value)| *target += value);
            }
        }
    }
}
