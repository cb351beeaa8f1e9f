//! Bodies of one small mechanism, and how they answer together.

use super::{Mover, Movers};
use crate::math::small::*;

/// Displacement and rotation per force and torque, row-major.
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
    for row in 0..count {
        let at = cluster.offset as usize + row * count;
        let mut total = [[0.0; 3]; 2];
        for (block, [force, torque]) in blocks[at..at + count].iter().zip(&wrench[first..]) {
            // Most are only near.
            if [force, torque] == [&[0.0; 3]; 2] {
                continue;
            }
            let [shift, turn] = times_block(block, force, torque);
            total = [add(&total[0], &shift), add(&total[1], &turn)];
        }
        motion[first + row] = total;
    }
}

/// Displacement and rotation per force and torque of a mover without joints.
pub(super) fn alone_block(mover: &Mover) -> Block {
    let mut block = [0.0; 36];
    for i in 0..3 {
        block[7 * i] = mover.per_force;
        for j in 0..3 {
            block[6 * (3 + i) + 3 + j] = mover.per_torque[3 * i + j];
        }
    }
    block
}

#[inline(always)]
pub(super) fn times_block(block: &Block, force: &V3, torque: &V3) -> [V3; 2] {
    let row = |k: usize| {
        let b = &block[6 * k..6 * k + 6];
        (b[0] * force[0] + b[1] * force[1] + b[2] * force[2])
            + (b[3] * torque[0] + b[4] * torque[1] + b[5] * torque[2])
    };
    [[row(0), row(1), row(2)], [row(3), row(4), row(5)]]
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

/// How a block moves under three wrenches, if it is symmetric: its rows serve as columns.
#[inline(always)]
fn times_symmetric(block: &Block, wrenches: &[[f64; 6]; 3]) -> [[f64; 6]; 3] {
    let mut moved = [[0.0; 6]; 3];
    for (c, column) in block.chunks_exact(6).enumerate() {
        for (moved, wrench) in moved.iter_mut().zip(wrenches) {
            for k in 0..6 {
                moved[k] += column[k] * wrench[c];
            }
        }
    }
    moved
}
