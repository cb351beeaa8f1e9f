//! Runs of contacts in which joints hold bodies: a push on one body moves another one too.

use super::{Batch, Puck, puck};
use crate::contact::movers::{FIXED, Movers};
use crate::math::lanes::{LANES, Lane, gather};
use crate::math::small::*;

/// One side of the eight pairs of a run: how the bodies and their partners answer to a push.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub(in crate::contact) struct Couple {
    /// Motion per wrench of the bodies themselves, which is symmetric: row by row from the diagonal.
    own: [Lane; 21],
    /// Motion of the partners per wrench on the bodies, row-major.
    mutual: [Lane; 36],
    /// The pucks of the partners; the first one where there is none.
    partner: [u32; LANES],
}

impl Couple {
    pub const NONE: Couple = Couple {
        own: [[0.0; LANES]; 21],
        mutual: [[0.0; LANES]; 36],
        partner: [0; LANES],
    };

    /// Takes a body into a lane that has none yet, if there is one.
    pub fn put(&mut self, lane: usize, mover: u32, movers: &Movers) {
        if mover == FIXED {
            return;
        }
        let own = movers.block(mover, mover);
        let upper = (0..6).flat_map(|i| (i..6).map(move |j| 6 * i + j));
        for (to, from) in self.own.iter_mut().zip(upper) {
            to[lane] = own[from];
        }
        if let Some(partner) = movers.partner(mover) {
            let mutual = movers.block(partner, mover);
            for (to, from) in self.mutual.iter_mut().zip(mutual) {
                to[lane] = from;
            }
            self.partner[lane] = puck(partner);
        }
    }

    /// Moves the bodies and their partners by a push at the arms.
    #[inline(always)]
    fn push(
        &self,
        pushes: &[Lane; 3],
        arms: [&Lane; 3],
        sign: f64,
        bodies: &mut [Lane; 6],
        partners: &mut [Lane; 6],
    ) {
        for lane in 0..LANES {
            let f = scale(&gather(pushes, lane), sign);
            let t = cross(&arms.map(|arm| arm[lane]), &f);
            let wrench = [f[0], f[1], f[2], t[0], t[1], t[2]];
            let own: [f64; 21] = gather(&self.own, lane);
            let mut moved = [0.0; 6];
            let mut at = 0;
            for i in 0..6 {
                moved[i] += own[at] * wrench[i];
                for j in i + 1..6 {
                    let entry = own[at + j - i];
                    moved[i] += entry * wrench[j];
                    moved[j] += entry * wrench[i];
                }
                at += 6 - i;
            }
            for i in 0..6 {
                bodies[i][lane] += moved[i];
                let row = |j: usize| self.mutual[6 * i + j][lane] * wrench[j];
                partners[i][lane] += (row(0) + row(1) + row(2)) + (row(3) + row(4) + row(5));
            }
        }
    }
}

/// One pass over a run.
#[inline(always)]
pub(super) fn sweep_run(
    run: &mut [Batch],
    couples: &[Couple; 2],
    pucks: &mut [Puck],
    beta: f64,
    total: &mut (Lane, Lane),
) {
    let Some(at) = run.first().map(|batch| batch.at) else {
        return;
    };
    let [mut a, mut b] = [0, 1].map(|side| spread(pucks, &at[side]));
    let [mut beside_a, mut beside_b] = [0, 1].map(|side| spread(pucks, &couples[side].partner));
    for batch in run {
        batch.run_on(beta);
        let slip = batch.slip(&a, &b);
        let pushes = batch.answer(&slip, total);
        let [x, y, z, u, v, w] = &batch.arms;
        couples[0].push(&pushes, [x, y, z], -1.0, &mut a, &mut beside_a);
        couples[1].push(&pushes, [u, v, w], 1.0, &mut b, &mut beside_b);
    }
    // Partners first: those that are none share a puck with what does not move.
    for (side, beside) in [beside_a, beside_b].iter().enumerate() {
        write(pucks, &couples[side].partner, beside);
    }
    for (at, moved) in at.iter().zip([&a, &b]) {
        write(pucks, at, moved);
    }
}

#[inline(always)]
fn spread(pucks: &[Puck], at: &[u32; LANES]) -> [Lane; 6] {
    let mut all = [[0.0; LANES]; 6];
    for lane in 0..LANES {
        let moved = &pucks[at[lane] as usize].moved;
        for k in 0..6 {
            all[k][lane] = moved[k];
        }
    }
    all
}

#[inline(always)]
fn write(pucks: &mut [Puck], at: &[u32; LANES], all: &[Lane; 6]) {
    for lane in 0..LANES {
        let moved = &mut pucks[at[lane] as usize].moved;
        for k in 0..6 {
            moved[k] = all[k][lane];
        }
    }
}
