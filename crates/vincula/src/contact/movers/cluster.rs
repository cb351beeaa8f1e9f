//! Bodies of one small mechanism, and how they answer together.

use super::{Mover, Movers};
use crate::kernel;
use crate::math::dispatch::detected;
use crate::math::small::*;

/// Displacement and rotation per force and torque, column by column.
pub(crate) type Block = [f64; 36];

/// Movers of one mechanism: consecutive, with a 6×6 block for every pair.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cluster {
    pub first: u32,
    pub count: u32,
    /// Where its blocks start.
    pub offset: u32,
    /// Its island of joints, and the rows of it.
    pub island: u32,
    pub rows: u32,
}

impl Cluster {
    /// Where the block of two of its movers is.
    pub fn at(&self, target: u32, source: u32) -> usize {
        let (row, column) = (target - self.first, source - self.first);
        (self.offset + row * self.count + column) as usize
    }
}

/// How the movers of a cluster move under a wrench on each.
pub(super) fn respond_cluster(
    cluster: &Cluster,
    blocks: &[Block],
    wrench: &[[V3; 2]],
    motion: &mut [[V3; 2]],
) {
    let (first, count) = (cluster.first as usize, cluster.count as usize);
    let blocks = &blocks[cluster.offset as usize..][..count * count];
    let range = first..first + count;
    respond_all(
        detected(),
        blocks,
        &wrench[range.clone()],
        &mut motion[range],
    );
}

kernel! {
    fn respond_all(blocks: &[Block], wrench: &[[V3; 2]], motion: &mut [[V3; 2]]) = respond_each
}

#[inline(always)]
fn respond_each(blocks: &[Block], wrench: &[[V3; 2]], motion: &mut [[V3; 2]]) {
    for (blocks, motion) in blocks.chunks_exact(wrench.len()).zip(motion) {
        let mut total = [0.0; 6];
        for (block, [force, torque]) in blocks.iter().zip(wrench) {
            // Most are only near.
            if [force, torque] == [&[0.0; 3]; 2] {
                continue;
            }
            let moved = times_columns(block, force, torque);
            for (total, moved) in total.iter_mut().zip(moved) {
                *total += moved;
            }
        }
        *motion = halves(&total);
    }
}

/// Displacement and rotation per force and torque of a mover without joints.
pub(super) fn alone_block(mover: &Mover) -> Block {
    let mut block = [0.0; 36];
    for i in 0..3 {
        block[7 * i] = mover.per_force;
        for j in 0..3 {
            block[6 * (3 + j) + 3 + i] = mover.per_torque[3 * i + j];
        }
    }
    block
}

#[inline(always)]
pub(super) fn times_block(block: &Block, force: &V3, torque: &V3) -> [V3; 2] {
    halves(&times_columns(block, force, torque))
}

#[inline(always)]
fn times_columns(block: &Block, f: &V3, t: &V3) -> [f64; 6] {
    let mut moved = [0.0; 6];
    for (k, moved) in moved.iter_mut().enumerate() {
        let b = |column: usize| block[6 * column + k];
        *moved =
            (b(0) * f[0] + b(1) * f[1] + b(2) * f[2]) + (b(3) * t[0] + b(4) * t[1] + b(5) * t[2]);
    }
    moved
}

/// The shift and the turn of six numbers.
#[inline(always)]
fn halves(x: &[f64; 6]) -> [V3; 2] {
    [[x[0], x[1], x[2]], [x[3], x[4], x[5]]]
}

impl Movers {
    /// How a mover moves under each of three forces and torques on it.
    #[inline(always)]
    pub fn answers(&self, mover: u32, wrenches: &[[f64; 6]; 3]) -> [[f64; 6]; 3] {
        let this = &self.all[mover as usize];
        let block = match self.clusters.get(this.cluster as usize) {
            Some(cluster) => Some(&self.blocks[cluster.at(mover, mover)]),
            None => self.own.get(mover as usize),
        };
        let alone;
        let block = match block {
            Some(block) => block,
            None => {
                alone = alone_block(this);
                &alone
            }
        };
        times_symmetric(block, wrenches)
    }
}

/// How a block moves under three wrenches, if it is symmetric: its columns serve as rows.
#[inline(always)]
fn times_symmetric(block: &Block, wrenches: &[[f64; 6]; 3]) -> [[f64; 6]; 3] {
    let mut moved = [[0.0; 6]; 3];
    for c in 0..6 {
        for (moved, wrench) in moved.iter_mut().zip(wrenches) {
            for k in 0..6 {
                moved[k] += block[6 * k + c] * wrench[c];
            }
        }
    }
    moved
}
